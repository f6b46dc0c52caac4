//! Finds the Markdown files of skills that their SKILL.md links to. A check reads them for the
//! names of other skills.

use std::collections::BTreeSet;

use skills_agents::references::{LinkBase, is_history, links};
use skills_lint::is_sample;
use skills_syntax::path::AbsPath;

use super::InspectedFile;
use crate::files::skill_file::is_skill_file;

/// Maximum number of files of one skill.
const MAX_FILES: usize = 64;

/// Extensions of the files.
const MARKDOWN: [&str; 3] = ["md", "mdx", "markdown"];

/// Returns the Markdown files below the directories of skills that their texts link to or name by
/// their paths. Samples and texts about the past are left out.
pub(super) fn linked_texts(sources: &[InspectedFile]) -> BTreeSet<AbsPath> {
    let skills = sources.iter().filter(|it| is_skill_file(&it.path) && it.is_whole());
    skills.flat_map(linked_from).collect()
}

fn linked_from(skill: &InspectedFile) -> impl Iterator<Item = AbsPath> {
    let dir = skill.path.parent().unwrap_or_else(|| skill.path.clone());
    let found = links(&skill.text, &skill.document).into_iter();
    let found = found.filter(|it| matches!(it.start, LinkBase::Text | LinkBase::Skill));
    let targets: BTreeSet<AbsPath> = found.map(|it| dir.join_lexically(&it.path)).collect();
    let is_linked = move |it: &AbsPath| {
        let Ok(below) = it.strip_prefix(&*dir) else { return false };
        let is_markdown = below.extension().and_then(|it| it.to_str());
        is_markdown.is_some_and(|it| MARKDOWN.contains(&it))
            && !is_skill_file(below)
            && !is_history(below)
            && !below.to_str().is_none_or(is_sample)
            && it.is_file()
    };
    targets.into_iter().filter(is_linked).take(MAX_FILES)
}
