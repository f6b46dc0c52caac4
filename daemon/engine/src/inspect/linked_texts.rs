//! Finds the Markdown files of skills that their SKILL.md links to. A check reads them for the
//! names of other skills.

use std::collections::BTreeSet;

use skills_agents::references::{LinkBase, is_history, is_markdown, links};
use skills_lint::is_sample;
use skills_syntax::parse::Document;
use skills_syntax::path::AbsPath;

use crate::files::skill_file::is_skill_file;

/// Maximum number of files of one skill.
const MAX_FILES: usize = 64;

/// Returns the Markdown files below the directory of a skill that its text links to or names by
/// their paths. Samples and texts about the past are left out.
pub(super) fn linked_texts(
    skill: &AbsPath,
    text: &str,
    document: &Document,
) -> impl Iterator<Item = AbsPath> + use<> {
    let dir = skill.parent().unwrap_or_else(|| skill.clone());
    let found = links(text, document).into_iter();
    let found = found.filter(|it| matches!(it.base, LinkBase::Text | LinkBase::Skill));
    let targets: BTreeSet<AbsPath> = found.map(|it| dir.join_lexically(&it.path)).collect();
    let is_linked = move |it: &AbsPath| {
        let Ok(below) = it.strip_prefix(&*dir) else { return false };
        is_markdown(below)
            && !is_skill_file(below)
            && !is_history(below)
            && !below.to_str().is_none_or(is_sample)
            && it.is_file()
    };
    targets.into_iter().filter(is_linked).take(MAX_FILES)
}
