//! All rules, family by family.

use std::sync::LazyLock;

use super::rule::Rule;
use super::{
    body, command, description, field, hooks, index, name, paths, reference, security, skillsd,
    tools, yaml,
};

/// All rules, in the order of the reference page.
pub(super) static RULES: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
    let families: [&'static [Rule]; 13] = [
        &yaml::RULES,
        &name::RULES,
        &description::RULES,
        &field::RULES,
        &tools::RULES,
        &paths::RULES,
        &hooks::RULES,
        &body::RULES,
        &security::RULES,
        &index::RULES,
        &reference::RULES,
        &command::RULES,
        &skillsd::RULES,
    ];
    families.into_iter().flatten().collect()
});
