//! The rule table: the rules of all families.

use std::sync::LazyLock;

use super::rule::Rule;
use super::rule_id::RuleId;
use super::{
    body, command, description, field, hooks, index, name, paths, reference, security, skillsd,
    tools, yaml,
};

/// All rules, in the order of the reference page.
pub(super) static RULES: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
    let families: [&[&'static Rule]; 13] = [
        &yaml::rules::RULES,
        &name::RULES,
        &description::RULES,
        &field::RULES,
        &tools::RULES,
        &paths::RULES,
        &hooks::RULES,
        &body::rules::RULES,
        &security::RULES,
        &index::RULES,
        &reference::RULES,
        &command::RULES,
        &skillsd::RULES,
    ];
    families.into_iter().flatten().copied().collect()
});

/// Returns all rules, family by family.
pub fn rules() -> &'static [&'static Rule] {
    &RULES
}

/// Returns the ids of all rules, family by family.
pub fn ids() -> Vec<&'static str> {
    RULES.iter().map(|it| it.id.as_str()).collect()
}

/// Returns the rule with this id.
pub fn find(id: RuleId) -> Option<&'static Rule> {
    RULES.iter().copied().find(|it| it.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_id_has_one_row_and_one_text() {
        let rows: Vec<RuleId> = RULES.iter().map(|it| it.id).collect();
        assert_eq!(rows, RuleId::ALL);
        for id in RuleId::ALL {
            assert_eq!(id.as_str().parse(), Ok(*id));
        }
    }
}
