//! [`MentionSearch`]: searches the texts of a worktree for the name of a skill.
//!
//! A check asks only about a skill that it would rename; the texts are then read once.

use std::sync::{Arc, OnceLock};

use skills_agents::references::{has_names, references_in, without_plugin};
use skills_agents::skill::parse;
use skills_syntax::markdown::Body;
use skills_syntax::path::AbsPath;

use super::fenced::Fenced;
use super::parallel::in_parallel;
use super::reference_search::{READ_LIMIT, home, texts};
use super::text_index::TextIndex;
use crate::cancel::Cancel;
use crate::views::view::View;

/// A search for mentions of names, which reads the texts on first use.
pub(super) struct MentionSearch<'a> {
    views: &'a [Arc<View>],
    /// The checked files and the skills of all agents.
    skills: Vec<AbsPath>,
    cancel: &'a Cancel,
    texts: OnceLock<Vec<Arc<str>>>,
}

impl<'a> MentionSearch<'a> {
    pub(super) fn new(views: &'a [Arc<View>], skills: Vec<AbsPath>, cancel: &'a Cancel) -> Self {
        Self { views, skills, cancel, texts: OnceLock::new() }
    }

    /// Returns whether a text mentions a name, except a skill of that name. Blocks on the disk.
    pub(super) fn is_mentioned(&self, name: &str) -> bool {
        self.texts.get_or_init(|| self.read()).iter().any(|it| mentions(it, name))
    }

    fn read(&self) -> Vec<Arc<str>> {
        let Self { views, cancel, .. } = *self;
        let top = views.first().map(|it| &it.resolution.worktree);
        let index = TextIndex::new(0);
        let home = home(views);
        let texts =
            texts(&index, top, self.skills.clone(), home.as_ref(), cancel).unwrap_or_default();
        let texts: Vec<_> = texts.into_iter().filter(|(path, _)| has_names(path)).collect();
        let fenced = Fenced::new(top, views);
        let texts = in_parallel(&texts, cancel, |(path, stat)| {
            let indexed = index.text(&fenced, path, stat, READ_LIMIT)?;
            Some(Arc::clone(&indexed.text))
        });
        texts.unwrap_or_default().into_iter().flatten().collect()
    }
}

/// Returns whether a text mentions a name, also one that no agent allows. A single word without
/// digits or marks can have another meaning; it counts only as a reference to a skill.
fn mentions(text: &str, name: &str) -> bool {
    if !has_word(text, name) {
        return false;
    }
    let document = parse(text);
    let own = document.frontmatter.as_ref().and_then(|it| it.get("name"));
    if own.is_some_and(|it| it.value.as_str() == Some(name)) {
        // The skill itself, or a copy of it.
        return false;
    }
    if !name.chars().all(char::is_alphabetic) {
        return true;
    }
    let body = Body::new(text, document.body);
    let is_code = |it: &str| it.trim_start_matches(['/', '$']) == name;
    let references = references_in(text, &document, &body);
    references.iter().any(|it| it.name == name || without_plugin(&it.name) == Some(name))
        || body.codes.iter().any(|it| is_code(it.slice(text)))
}

/// Returns whether a text contains a name between other characters than those of names.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_');
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_form_are_mentioned() {
        for text in [
            "Use the skill PDF Reader.",
            "Use **PDF Reader**.",
            "Call Skill(PDF Reader).",
            "---\nskills: ['PDF Reader']\n---\n",
        ] {
            assert!(mentions(text, "PDF Reader"), "{text}");
        }
        assert!(mentions("Then /data_sync.", "data_sync"));
        assert!(mentions("Use the `Lint` skill.", "Lint"));
        for (text, name) in [
            ("---\nname: data_sync\ndescription: d\n---\nThe data_sync skill.\n", "data_sync"),
            ("Use metadata_sync and data_sync_all.", "data_sync"),
            ("Reads a PDF.", "PDF"),
        ] {
            assert!(!mentions(text, name), "{text}");
        }
    }
}
