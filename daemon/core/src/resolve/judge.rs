//! Judging one file by a profile: would this agent load it, and as what?

use std::ffi::OsStr;

use super::walk::Met;
use super::{Candidate, Reason, SkillFile, State};
use crate::path::AbsPath;
use crate::profile::{DescriptionRule, Encoding, NameCheck, NameSource, Profile, Rung, Unreadable};
use crate::skill::{Field, SkillRecord, Spot, Yaml};

/// Judges a file. Who wins its name is settled later, when all are known.
pub(super) fn judge(profile: &Profile, met: Met) -> Candidate {
    let Met { path, root, file } = met;
    let directory = directory_name(&path);
    let blank = |name: String| Candidate {
        name,
        description: None,
        path,
        root,
        file: None,
        state: State::Active,
        reason: None,
        notes: Vec::new(),
    };
    match file {
        Err(fault) => Candidate {
            state: State::Invalid,
            reason: Some(reason("file/readable", format!("SKILL.md {fault}"), None, fault.next())),
            ..blank(directory)
        },
        Ok(file) => {
            let reading = Reading::of(profile, &file.record, &directory);
            let (state, reason) = reading.verdict(profile, &file);
            Candidate {
                description: reading.description,
                notes: reading.notes,
                state,
                reason,
                file: Some(file),
                ..blank(reading.name)
            }
        }
    }
}

fn directory_name(path: &AbsPath) -> String {
    let dir = path.parent();
    let name = dir.as_ref().and_then(|it| it.file_name()).unwrap_or(OsStr::new("/"));
    name.to_string_lossy().into_owned()
}

/// Where a fault is shown that has no place of its own in the file.
const START: Option<Spot> = Some(Spot { line: 1, column: 1 });

/// How a profile's agent reads one file.
struct Reading {
    name: String,
    description: Option<String>,
    /// The first fault for which the agent drops the file.
    dropped: Option<Reason>,
    notes: Vec<Reason>,
}

impl Reading {
    fn of(profile: &Profile, record: &SkillRecord, directory: &str) -> Self {
        let mut reading =
            Self { name: String::new(), description: None, dropped: None, notes: Vec::new() };
        reading.encoding(profile, record);
        reading.size(record);
        if record.yaml == Yaml::Absent {
            reading.without_frontmatter(profile);
            directory.clone_into(&mut reading.name);
            reading.take_description(profile, record, false);
            return reading;
        }
        let has_fields = reading.yaml(profile, record);
        reading.take_name(profile, record.name.as_ref().filter(|_| has_fields), directory);
        reading.take_description(profile, record, has_fields);
        reading
    }

    /// The first fault for which the agent drops the file decides; the others are told too.
    fn drop_for(
        &mut self,
        rule: &'static str,
        message: impl Into<String>,
        at: Option<Spot>,
        next: &str,
    ) {
        let fault = reason(rule, message.into(), at.or(START), next);
        match self.dropped {
            None => self.dropped = Some(fault),
            Some(_) => self.notes.push(fault),
        }
    }

    /// A file without frontmatter has one fault, not one for each missing field.
    fn without_frontmatter(&mut self, profile: &Profile) {
        if profile.description == DescriptionRule::Required {
            self.drop_for(
                "frontmatter/required",
                "the file has no frontmatter",
                START,
                "Begin the file with a line `---`, then `name:` and `description:`, then `---`.",
            );
        }
    }

    fn encoding(&mut self, profile: &Profile, record: &SkillRecord) {
        if let Some(at) = record.invalid_utf8
            && profile.bad_utf8 == Encoding::Drop
        {
            self.drop_for(
                "encoding/utf8",
                "the file is not UTF-8",
                Some(at),
                "Save the file as UTF-8.",
            );
        }
        if record.bom && profile.bom == Encoding::Drop {
            self.drop_for(
                "encoding/bom",
                "the file begins with a byte order mark",
                START,
                "Save the file without a byte order mark.",
            );
        }
        if record.crlf && profile.crlf == Encoding::Drop {
            self.drop_for(
                "encoding/crlf",
                "the frontmatter has CRLF line ends",
                START,
                "Save the file with LF line ends.",
            );
        }
    }

    /// Settles whether the agent gets the fields at all.
    fn yaml(&mut self, profile: &Profile, record: &SkillRecord) -> bool {
        let (message, at) = match &record.yaml {
            Yaml::Absent => return false,
            Yaml::Strict => return true,
            Yaml::Undelimited { message, at } => {
                return self.undelimited(profile, message, *at);
            }
            Yaml::Broken { message, at } => (message, at),
        };
        let repaired = profile.ladder.iter().any(|it| matches!(it, Rung::Quote | Rung::PerKey));
        let next = "Fix the YAML; quoting the value is usually enough.";
        if repaired {
            let message = format!("the frontmatter is not valid YAML: {message}; read key by key");
            self.notes.push(reason("yaml/valid", message, Some(*at), next));
            return true;
        }
        match profile.unreadable_yaml {
            Unreadable::Drop => {
                let message = format!("the frontmatter is not valid YAML: {message}");
                self.drop_for("yaml/valid", message, Some(*at), next);
                // Our own reading, to tell people which skill this is.
                true
            }
            Unreadable::EmptyMetadata => false,
        }
    }

    /// No agent that was run reads fields that are not between two `---` lines from the first
    /// line on (opencode 1.18.33, Codex 0.169.0: measured).
    fn undelimited(&mut self, profile: &Profile, message: &str, at: Spot) -> bool {
        let next = "Put a line `---` first in the file, and another one behind the last field.";
        let drops = profile.description == DescriptionRule::Required;
        if drops {
            self.drop_for("frontmatter/delimited", message, Some(at), next);
        } else {
            self.notes.push(reason("frontmatter/delimited", message.into(), Some(at), next));
        }
        // Where the agent drops the file, our own reading tells people which skill this is.
        drops
    }

    fn size(&mut self, record: &SkillRecord) {
        if record.facts.truncated {
            let message =
                format!("the file is too large ({} bytes) and was read in part", record.facts.size);
            let next = "Move long material to files under `references/` that are read on demand.";
            self.notes.push(reason("file/size", message, START, next));
        }
    }

    fn take_name(&mut self, profile: &Profile, field: Option<&Field>, directory: &str) {
        let named = field.filter(|it| !it.structured && !it.text.is_empty());
        let text = named.map(|it| it.text.to_string());
        match profile.name.source {
            NameSource::Directory => {
                directory.clone_into(&mut self.name);
                return;
            }
            NameSource::FieldElseDirectory => {
                self.name = text.unwrap_or_else(|| directory.to_owned());
            }
            NameSource::Field => {
                if text.is_none() {
                    let what = describe_missing(field, "name");
                    let next = format!("Add `name: {directory}` to the frontmatter.");
                    self.drop_for("name/required", what, field.map(|it| it.at), &next);
                }
                self.name = text.unwrap_or_else(|| directory.to_owned());
            }
        }
        if let (NameCheck::StandardWarn, Some(field)) = (profile.name.check, named) {
            self.check_standard_name(field, directory);
        }
    }

    fn check_standard_name(&mut self, field: &Field, directory: &str) {
        let name = &*field.text;
        let fault = if name.chars().count() > 64 {
            Some("is longer than 64 characters")
        } else if !name.chars().all(|it| matches!(it, 'a'..='z' | '0'..='9' | '-')) {
            Some("holds characters other than `a-z`, `0-9` and `-`")
        } else if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
            Some("begins or ends with a hyphen, or doubles one")
        } else if name != directory {
            Some("differs from its directory's name")
        } else {
            None
        };
        if let Some(fault) = fault {
            let message = format!("the name `{name}` {fault}, which the standard does not allow");
            let next = format!("Rename the skill or its directory (`{directory}`).");
            self.notes.push(reason("name/standard", message, Some(field.at), &next));
        }
    }

    fn take_description(&mut self, profile: &Profile, record: &SkillRecord, has_fields: bool) {
        let field = record.description.as_ref().filter(|_| has_fields);
        let text = field
            .filter(|it| !it.structured && !it.text.trim().is_empty())
            .map(|it| it.text.to_string());
        self.description = match profile.description {
            DescriptionRule::Required => {
                if text.is_none() && record.yaml != Yaml::Absent {
                    let what = describe_missing(field, "description");
                    let next =
                        "Add a `description:` that says what the skill does and when to use it.";
                    self.drop_for("description/required", what, field.map(|it| it.at), next);
                }
                text
            }
            DescriptionRule::ElseFirstBodyLine => {
                text.or_else(|| record.first_body_line.as_deref().map(str::to_owned))
            }
        };
    }

    fn verdict(&self, profile: &Profile, file: &SkillFile) -> (State, Option<Reason>) {
        let record = &file.record;
        if let Some(dropped) = &self.dropped {
            return (State::Invalid, Some(dropped.clone()));
        }
        if profile.hides_from_model && record.disable_model_invocation {
            let message = "`disable-model-invocation` keeps it from the model";
            let next = "Remove `disable-model-invocation` to let the model use it.";
            return (State::Hidden, Some(reason("model-invocation", message.into(), None, next)));
        }
        if profile.conditional && !record.paths.is_empty() {
            let globs: Vec<_> = record.paths.iter().map(|it| format!("`{it}`")).collect();
            let message =
                format!("waits until a file is touched that matches {}", globs.join(", "));
            let next = "Touch a matching file, or remove `paths` to have it always.";
            return (State::Conditional, Some(reason("paths", message, None, next)));
        }
        (State::Active, None)
    }
}

fn describe_missing(field: Option<&Field>, key: &str) -> String {
    match field {
        None => format!("the frontmatter has no `{key}`"),
        Some(it) if it.structured => format!("`{key}` is a list or a map, not text"),
        Some(_) => format!("`{key}` is empty"),
    }
}

fn reason(rule: &'static str, message: String, at: Option<Spot>, next: &str) -> Reason {
    Reason { rule, message, at, next: next.to_owned(), winner: None }
}
