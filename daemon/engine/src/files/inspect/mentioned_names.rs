//! [`MentionedNames`]: the names in the texts of a worktree that may mean skills.
//!
//! A check asks for them only if it would rename a skill; they are then collected once.

use std::collections::HashSet;
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

/// Maximum number of words of a name in a sentence.
const MAX_WORDS: usize = 6;

/// The mentioned names.
pub(super) struct MentionedNames<'a> {
    views: &'a [Arc<View>],
    /// The checked files and the skills of all agents.
    skills: Vec<AbsPath>,
    cancel: &'a Cancel,
    names: OnceLock<HashSet<String>>,
}

impl<'a> MentionedNames<'a> {
    pub(super) fn new(views: &'a [Arc<View>], skills: Vec<AbsPath>, cancel: &'a Cancel) -> Self {
        Self { views, skills, cancel, names: OnceLock::new() }
    }

    /// Returns whether a text mentions a name. Blocks on the disk.
    pub(super) fn contain(&self, name: &str) -> bool {
        self.names.get_or_init(|| self.collect()).contains(name)
    }

    fn collect(&self) -> HashSet<String> {
        let Self { views, cancel, .. } = *self;
        let top = views.first().map(|it| &it.resolution.worktree);
        let index = TextIndex::new(0);
        let home = home(views);
        let texts =
            texts(&index, top, self.skills.clone(), home.as_ref(), cancel).unwrap_or_default();
        let texts: Vec<_> = texts.into_iter().filter(|(path, _)| has_names(path)).collect();
        let fenced = Fenced::new(top, views);
        let names = in_parallel(&texts, cancel, |(path, stat)| {
            let indexed = index.text(&fenced, path, stat, READ_LIMIT)?;
            Some(names_in(&indexed.text))
        });
        names.unwrap_or_default().into_iter().flatten().flatten().collect()
    }
}

/// Returns the names in a text, also those that no agent allows.
fn names_in(text: &str) -> HashSet<String> {
    let document = parse(text);
    let body = Body::new(text, document.body);
    let mut names = HashSet::new();
    for reference in references_in(text, &document, &body) {
        names.extend(without_plugin(&reference.name).map(str::to_owned));
        names.insert(reference.name);
    }
    let codes = body.codes.iter().map(|it| it.slice(text).trim_start_matches(['/', '$']));
    names.extend(codes.map(str::to_owned));
    let prose = document.body.slice(text);
    names.extend(prose.lines().flat_map(|it| it.split('"').skip(1).step_by(2)).map(str::to_owned));
    for (at, _) in text.match_indices(" skill") {
        let line = text[..at].rsplit('\n').next().unwrap_or_default();
        let starts = line.rmatch_indices(' ').map(|(at, _)| at + 1).chain([0]);
        names.extend(starts.take(MAX_WORDS).map(|start| line[start..].to_owned()));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_form_are_mentioned() {
        let names = names_in(
            "---\nname: own_name\ndescription: Use when asked.\n---\nUse `PDF Reader`, \"Form Filler\" or /data_sync.\nThe JS Lint skill helps.\n",
        );
        for name in ["PDF Reader", "Form Filler", "data_sync", "JS Lint"] {
            assert!(names.contains(name), "{name} {names:?}");
        }
        assert!(!names.contains("own_name"));
    }
}
