//! What a rule has found, and how it can be mended: edits of the text, in our own terms.

use skills_agents::profile::Profile;
use skills_syntax::diagnostic::{Diagnostic, Severity};
use skills_syntax::edit::Edit;
use skills_syntax::path::AbsPath;
use skills_syntax::text::Span;

use crate::Rule;

/// What a rule has found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// What is wrong, where, and how much it matters.
    pub diagnostic: Diagnostic,
    /// How it can be mended, the best way first. One that is alone is the right answer.
    pub fixes: Vec<Fix>,
    /// How else it can be mended, which nobody does unasked.
    pub offers: Vec<Offer>,
    /// Other files that it has to do with.
    pub related: Vec<Related>,
    /// How an editor may show it.
    pub tag: Option<Tag>,
    /// The active profiles whose agents do what it says, by their ids; none where it is about the file
    /// for whoever reads it.
    pub profiles: Vec<String>,
}

/// One way to mend a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// What it does, as an imperative without a full stop.
    pub title: String,
    /// The edits, none of which touches another.
    pub edits: Vec<Edit>,
}

/// A way to mend a finding that is the user's to choose: it does something to files, or leaves
/// something to be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Offer {
    /// An edit that says too little as it is, or that another one may be meant in place of.
    Draft(Fix),
    /// To make a file executable; its path from the skill's directory.
    MakeExecutable(String),
    /// To give the skill's directory this name.
    RenameDirectory(String),
    /// To give the skill this name, which its directory has already: others speak of it by the old.
    RenameSkill(String),
    /// To take the byte order mark away that stands before the text.
    RemoveMark,
}

impl Offer {
    /// Returns what it does, as an imperative without a full stop.
    pub fn title(&self) -> String {
        match self {
            Self::Draft(fix) => fix.title.clone(),
            Self::MakeExecutable(path) => format!("Make `{path}` executable"),
            Self::RenameDirectory(name) => format!("Rename the directory to `{name}`"),
            Self::RenameSkill(name) => format!("Rename the skill to `{name}`"),
            Self::RemoveMark => "Remove the byte order mark".to_owned(),
        }
    }
}

/// A place in another file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Related {
    /// The file.
    pub path: AbsPath,
    /// What it has to do with the finding.
    pub message: String,
}

/// How an editor may show a finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tag {
    /// As something that could be left out.
    Unnecessary,
    /// As something that there is better.
    Deprecated,
}

impl Finding {
    pub(super) fn new(rule: &'static Rule, span: Span, message: impl Into<String>) -> Self {
        let diagnostic = Diagnostic {
            code: rule.id,
            severity: rule.severity,
            span,
            message: message.into(),
            help: Some(rule.repair.to_owned()),
        };
        let (fixes, offers, related, profiles) = Default::default();
        Self { rule, diagnostic, fixes, offers, related, tag: None, profiles }
    }

    pub(super) fn severity(mut self, severity: Severity) -> Self {
        self.diagnostic.severity = severity;
        self
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.diagnostic.help = Some(help.into());
        self
    }

    pub(super) fn tag(mut self, tag: Tag) -> Self {
        self.tag = Some(tag);
        self
    }

    /// Says whose agents do what it says.
    pub(super) fn about(mut self, profiles: &[&Profile]) -> Self {
        self.profiles = profiles.iter().map(|it| it.id.to_string()).collect();
        self
    }

    pub(super) fn related(mut self, path: &AbsPath, message: impl Into<String>) -> Self {
        self.related.push(Related { path: path.clone(), message: message.into() });
        self
    }

    /// Adds a fix of one edit.
    pub(super) fn fix(self, title: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        self.fix_all(title, vec![Edit { span, text: text.into() }])
    }

    /// Adds a fix, unless it has no edits.
    pub(super) fn fix_all(mut self, title: impl Into<String>, edits: Vec<Edit>) -> Self {
        if !edits.is_empty() {
            self.fixes.push(Fix { title: title.into(), edits });
        }
        self
    }

    /// Adds a fix of one edit that is for a person to choose.
    pub(super) fn draft(
        self,
        title: impl Into<String>,
        span: Span,
        text: impl Into<String>,
    ) -> Self {
        let edits = vec![Edit { span, text: text.into() }];
        self.offer(Offer::Draft(Fix { title: title.into(), edits }))
    }

    pub(super) fn offer(mut self, offer: Offer) -> Self {
        self.offers.push(offer);
        self
    }

    /// Turns fixes that are no right answers into ways to choose from.
    pub(super) fn unsure(mut self) -> Self {
        self.offers.extend(self.fixes.drain(..).map(Offer::Draft));
        self
    }

    /// Adds what was probably meant: to the message, and as a fix.
    pub(super) fn meant(mut self, span: Span, meant: &str) -> Self {
        self.diagnostic.message = format!("{}; did you mean `{meant}`?", self.diagnostic.message);
        self.fix(format!("Write `{meant}`"), span, meant)
    }

    /// Returns the fix that can be applied without asking, where there is one right answer.
    pub fn only_fix(&self) -> Option<&Fix> {
        match self.fixes.as_slice() {
            [fix] => Some(fix),
            _ => None,
        }
    }
}
