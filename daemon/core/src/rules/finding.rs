//! What a rule has found, and how it can be mended: edits of the text, in our own terms.

use crate::diagnostic::{Diagnostic, Severity};
use crate::path::AbsPath;
use crate::profile::Profile;
use crate::rules::Rule;
use crate::text::Span;

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

/// A stretch of the text and what to put in its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// What is replaced; empty to insert.
    pub span: Span,
    /// What stands there then.
    pub text: String,
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

/// Returns `text` with the edits made. One that touches another before it is left out.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut sorted: Vec<_> = edits.iter().collect();
    sorted.sort_by_key(|it| (it.span.start, it.span.end));
    let mut done = String::with_capacity(text.len());
    let mut at = 0;
    for edit in sorted {
        let (Some(kept), true) = (text.get(at..edit.span.start), edit.span.end <= text.len())
        else {
            continue;
        };
        done.push_str(kept);
        done.push_str(&edit.text);
        at = edit.span.end;
    }
    done.push_str(text.get(at..).unwrap_or_default());
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(start: usize, end: usize, text: &str) -> Edit {
        Edit { span: Span::new(start, end), text: text.to_owned() }
    }

    #[test]
    fn edits_are_made_in_the_order_of_the_text() {
        assert_eq!(apply("abc", &[edit(2, 3, "C"), edit(0, 0, ">"), edit(1, 2, "")]), ">aC");
        assert_eq!(apply("é", &[edit(2, 2, "!")]), "é!");
    }

    #[test]
    fn edits_that_touch_others_or_lie_outside_are_left_out() {
        assert_eq!(apply("abc", &[edit(0, 2, "x"), edit(1, 3, "y")]), "xc");
        assert_eq!(apply("abc", &[edit(2, 9, "x")]), "abc");
        assert_eq!(apply("é", &[edit(1, 2, "x")]), "é");
    }
}
