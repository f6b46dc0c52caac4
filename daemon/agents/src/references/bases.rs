//! Where the paths of a text start, and what they pass on their way.
//!
//! A path that begins with a name is read from the text's directory by whoever follows links, and
//! from the top of the worktree by agents, which run their commands there. Which of both is meant
//! is known by what it meets: the first of them that leads to something that is asked about counts.

use skills_syntax::path::AbsPath;
use skills_syntax::text::Span;

use super::link::{Link, LinkBase};

/// Where the paths of one text start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkBases {
    /// The directory of the text.
    pub text: AbsPath,
    /// The directory of the skill that the text is of, where it is of one.
    pub skill: Option<AbsPath>,
    /// The top of the worktree around it.
    pub top: Option<AbsPath>,
    /// The user's home directory.
    pub home: Option<AbsPath>,
}

/// A name on the way of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathStep {
    /// Where the name stands.
    pub span: Span,
    /// What is reached with it.
    pub reached: AbsPath,
}

impl LinkBases {
    /// Returns where the paths of the text at `path` start. What lies outside of the worktree of
    /// `top` is not read from there.
    pub fn for_file(path: &AbsPath, top: Option<&AbsPath>, home: Option<&AbsPath>) -> Self {
        let text = path.parent().unwrap_or_else(|| path.clone());
        let top = top.filter(|it| text.starts_with(it)).cloned();
        Self { text, skill: None, top, home: home.cloned() }
    }

    /// Says of which skill the text is, by that skill's directory.
    #[must_use]
    pub fn with_skill(self, skill: Option<AbsPath>) -> Self {
        Self { skill, ..self }
    }

    /// Returns where a path may start, the likeliest first.
    pub fn candidates(&self, start: LinkBase) -> Vec<AbsPath> {
        let text = Some(self.text.clone());
        let starts = match start {
            LinkBase::Text if self.top.as_ref() == Some(&self.text) => [text, None],
            LinkBase::Text => [text, self.top.clone()],
            LinkBase::Top => [self.top.clone(), None],
            LinkBase::Skill => [self.skill.clone().or(text), None],
            LinkBase::Home => [self.home.clone(), None],
            LinkBase::Root => [Some(self.text.join_lexically("/")), self.top.clone()],
        };
        starts.into_iter().flatten().collect()
    }

    /// Returns where a link leads, each way to read it.
    pub fn targets(&self, link: &Link) -> Vec<AbsPath> {
        self.candidates(link.start).iter().map(|it| it.join_lexically(&link.path)).collect()
    }
}

/// Returns the names of a path that starts at `base`, and what is reached with each.
pub fn path_steps(link: &Link, text: &str, base: &AbsPath) -> Vec<PathStep> {
    let mut at = link.names.start;
    let mut reached = base.clone();
    let mut steps = Vec::new();
    for written in link.names.slice(text).split('/') {
        let span = Span::new(at, at + written.len());
        at = span.end + 1;
        let name = skills_syntax::markdown::percent_decode(written);
        reached = reached.join_lexically(&name);
        if !matches!(&*name, "" | "." | "..") {
            steps.push(PathStep { span, reached: reached.clone() });
        }
    }
    steps
}
