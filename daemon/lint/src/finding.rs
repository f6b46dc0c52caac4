//! [`Finding`]: the result of a rule, with its fixes as text edits.

use skills_agents::profile::Profile;
use skills_syntax::diagnostic::{Diagnostic, Severity};
use skills_syntax::edit::Edit;
use skills_syntax::path::AbsPath;
use skills_syntax::text::Span;

use crate::{Rule, RuleId};

/// A rule's result for one place in a text.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule that reported the finding.
    pub rule: &'static Rule,
    /// Message, location and severity.
    pub diagnostic: Diagnostic<RuleId>,
    /// Fixes, the best first. A single fix is unambiguous and can be applied without asking.
    pub fixes: Vec<Fix>,
    /// Further remedies, applied only when the user chooses them.
    pub offers: Vec<Offer>,
    /// Locations in other files that explain the finding.
    pub related: Vec<Related>,
    /// Hint for how editors render the finding.
    pub tag: Option<Tag>,
    /// Ids of the active profiles whose agents behave as the message says. Empty if the finding
    /// concerns the file itself.
    pub profiles: Vec<String>,
}

/// A set of text edits that removes a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// Title, in the imperative, without a full stop.
    pub title: String,
    /// Text edits that do not overlap.
    pub edits: Vec<Edit>,
}

/// A remedy that the user has to choose: it changes more than the text, or its text needs
/// completion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Offer {
    /// A text edit that is incomplete or one of several possible ones.
    Draft(Fix),
    /// Makes a file executable; the path is relative to the skill's directory.
    MakeExecutable(String),
    /// Creates an empty file of the skill; the path is relative to its directory.
    CreateFile(String),
    /// Renames the skill's directory.
    RenameDirectory(String),
    /// Renames the skill to its directory's name, and updates references to the old name.
    RenameSkill(String),
    /// Removes the byte order mark at the start of the file.
    RemoveMark,
}

impl Offer {
    /// Returns the title, in the imperative, without a full stop.
    pub fn title(&self) -> String {
        match self {
            Self::Draft(fix) => fix.title.clone(),
            Self::MakeExecutable(path) => format!("Make `{path}` executable"),
            Self::CreateFile(path) => format!("Create `{path}`"),
            Self::RenameDirectory(name) => format!("Rename the directory to `{name}`"),
            Self::RenameSkill(name) => format!("Rename the skill to `{name}`"),
            Self::RemoveMark => "Remove the byte order mark".to_owned(),
        }
    }
}

/// A location in another file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Related {
    pub path: AbsPath,
    /// Relation to the finding.
    pub message: String,
}

/// Hint for how editors render a finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tag {
    /// Faded out: the text can be removed.
    Unnecessary,
    /// Struck through: there is a newer form.
    Deprecated,
}

impl Finding {
    pub(super) fn new(rule: &'static Rule, span: Span, message: impl Into<String>) -> Self {
        let diagnostic = Diagnostic {
            code: rule.id,
            severity: rule.severity,
            span,
            message: message.into(),
            help: Some(rule.remedy.to_owned()),
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

    /// Sets the profiles whose agents behave as the message says.
    pub(super) fn about(mut self, profiles: &[&Profile]) -> Self {
        self.profiles = profiles.iter().map(|it| it.id.to_string()).collect();
        self
    }

    pub(super) fn related(mut self, path: &AbsPath, message: impl Into<String>) -> Self {
        self.related.push(Related { path: path.clone(), message: message.into() });
        self
    }

    pub(super) fn fix(self, title: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        self.fix_all(title, vec![Edit { span, text: text.into() }])
    }

    /// Adds a fix with these edits; does nothing if there are none.
    pub(super) fn fix_all(mut self, title: impl Into<String>, edits: Vec<Edit>) -> Self {
        if !edits.is_empty() {
            self.fixes.push(Fix { title: title.into(), edits });
        }
        self
    }

    /// Adds a draft with one edit, for the user to choose.
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

    /// Turns all fixes into drafts, for the user to choose.
    pub(super) fn into_drafts(mut self) -> Self {
        self.offers.extend(self.fixes.drain(..).map(Offer::Draft));
        self
    }

    /// Adds the suggestion to the message and as a fix.
    pub(super) fn suggest(self, span: Span, suggestion: &str) -> Self {
        let finding = self.ask(suggestion);
        finding.fix(format!("Change to `{suggestion}`"), span, suggestion)
    }

    pub(super) fn suggest_draft(self, span: Span, suggestion: &str) -> Self {
        let finding = self.ask(suggestion);
        finding.draft(format!("Change to `{suggestion}`"), span, suggestion)
    }

    fn ask(mut self, suggestion: &str) -> Self {
        self.diagnostic.message =
            format!("{}; did you mean `{suggestion}`?", self.diagnostic.message);
        self
    }

    /// Returns the unambiguous fix, which can be applied without asking.
    pub fn only_fix(&self) -> Option<&Fix> {
        match self.fixes.as_slice() {
            [fix] => Some(fix),
            _ => None,
        }
    }
}
