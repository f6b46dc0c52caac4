//! [`ListedSkill`]: a skill in a prompt listing, and its texts reduced to one line.

use std::path::Path;

use skills_agents::listing::one_line;
use skills_agents::profile::Scope;

use crate::xml::escape;

/// A skill in a prompt listing.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedSkill<'a> {
    pub name: &'a str,
    /// Its other name, which Claude Code shows behind the name.
    pub label: Option<String>,
    /// Its description; empty if missing.
    pub description: &'a str,
    /// The places it is for, which Claude Code adds to the description.
    pub note: Option<String>,
    /// Its `when_to_use` field.
    pub when_to_use: Option<String>,
    /// Its SKILL.md.
    pub path: &'a Path,
    /// The home directory, for paths with `~`.
    pub home: Option<&'a Path>,
    /// The search root that contains it.
    pub root: &'a Path,
    /// The root and the path that the agent shows, if it shows others.
    pub shown: Option<(&'a Path, &'a Path)>,
    /// The scope of that root.
    pub scope: Scope,
    pub is_bundled: bool,
    /// The score of its recorded uses; a higher one keeps its description longer.
    pub use_score: f64,
}

impl<'a> ListedSkill<'a> {
    /// Returns the root and the path that the agent shows.
    pub(super) fn place(&self) -> (&'a Path, &'a Path) {
        self.shown.unwrap_or((self.root, self.path))
    }
}

/// The texts of skills, each reduced to one line.
pub(crate) struct OneLineTexts(Vec<[String; 3]>);

impl OneLineTexts {
    pub(crate) fn of(skills: &[ListedSkill<'_>]) -> Self {
        let one = |it: &ListedSkill<'_>| {
            let when = it.when_to_use.as_deref().unwrap_or_default();
            [it.name, it.description, when].map(one_line)
        };
        Self(skills.iter().map(one).collect())
    }

    /// Escapes tags in the texts.
    pub(crate) fn escaped(self) -> Self {
        Self(self.0.into_iter().map(|it| it.map(|it| escape(&it))).collect())
    }

    /// Returns the skills with these texts.
    pub(crate) fn listed<'a>(&'a self, skills: &[ListedSkill<'a>]) -> Vec<ListedSkill<'a>> {
        let one =
            |(it, [name, description, when]): (&ListedSkill<'a>, &'a [String; 3])| ListedSkill {
                name,
                description,
                when_to_use: it.when_to_use.as_ref().map(|_| when.clone()),
                ..it.clone()
            };
        skills.iter().zip(&self.0).map(one).collect()
    }
}
