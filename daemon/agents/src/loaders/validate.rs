//! Validates name, description and required fields by an agent's rules.

use skills_syntax::text::LineColumn;

use super::mapping::{Mapping, TypedValue};
use super::outcome::{LoadRule, RecordLoader, START, remark};
use crate::claude_text::line_description;
use crate::fence::Fence;
use crate::profile::{
    DescriptionRule, EmptyNameRule, NameCheck, NameForm, NameSource, Requirement, ScalarRule,
};
use crate::scalar::YamlType;
use crate::skill::{body_lines, first_line, is_text_line};
use crate::yaml_library::YamlLibrary;

const ADD_DESCRIPTION: &str =
    "Add a `description:` that says what the skill does and when to use it.";

impl RecordLoader<'_> {
    /// Returns a value as text, or a description of the fault.
    fn text(&self, key: &str, typed: Option<TypedValue>) -> Result<String, String> {
        let Some(typed) = typed else { return Err(format!("the frontmatter has no `{key}`")) };
        let refuses = self.needs_text || self.profile.name.scalars == ScalarRule::Refuse;
        let as_json = self.profile.library == YamlLibrary::NpmYamlAsJson;
        match typed.kind {
            YamlType::Null | YamlType::List | YamlType::Map
                if as_json && !typed.text.is_empty() => {}
            YamlType::Null => return Err(format!("`{key}` is empty")),
            YamlType::List if self.profile.library == YamlLibrary::NpmYamlAsText => {}
            YamlType::List | YamlType::Map => {
                return Err(format!("`{key}` is a list or a map, not text"));
            }
            YamlType::Boolean | YamlType::Number | YamlType::Date if refuses => {
                return Err(format!("`{key}` is {}, not text", typed.kind.name()));
            }
            YamlType::Boolean
            | YamlType::Number
            | YamlType::Date
            | YamlType::Text
            | YamlType::Alias => {}
        }
        if self.profile.one_line {
            return Ok(typed.text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        Ok(typed.text)
    }

    pub(super) fn validate_name(&mut self, typed: Option<TypedValue>, directory: &str) {
        let rule = &self.profile.name;
        if rule.source == NameSource::Directory {
            directory.clone_into(&mut self.reading.name);
            return;
        }
        let is_present = typed.is_some();
        let text = match self.text("name", typed) {
            Ok(text) if text.is_empty() && rule.empty == EmptyNameRule::Missing => {
                Err("`name` is empty".to_owned())
            }
            other => other,
        };
        let at = self.record.name.as_ref().map(|it| it.at);
        let form = rule.form;
        let found = match text {
            Ok(text) => Some(in_form(&text, form)),
            Err(what) => {
                let drops = match rule.source {
                    NameSource::Field => true,
                    NameSource::FieldIfPresent => is_present,
                    NameSource::FieldElseDirectory | NameSource::Directory => false,
                };
                if drops {
                    let next = format!("Add `name: {directory}` to the frontmatter.");
                    self.drop_skill(LoadRule::NameRequired, what, at, &next);
                }
                None
            }
        };
        let stands_in = rule.source == NameSource::FieldIfPresent && !is_present;
        let found = found.or_else(|| stands_in.then(|| in_form(directory, form)));
        if let Some(name) = &found {
            self.check_name(name, directory, at.unwrap_or(START));
        }
        self.reading.name = found.unwrap_or_else(|| directory.to_owned());
    }

    fn check_name(&mut self, name: &str, directory: &str, at: LineColumn) {
        match self.profile.name.check {
            NameCheck::AtMost(max) if name.chars().count() > max => {
                let length = name.chars().count();
                let message =
                    format!("the name has {length} characters; at most {max} are allowed");
                let next = "Give the skill a shorter name.";
                self.drop_skill(LoadRule::NameLength, message, Some(at), next);
            }
            NameCheck::StandardWarn => self.check_standard_name(name, directory, at),
            check => {
                let Some(fault) = form_fault(check, name, directory) else { return };
                let message = format!("the name `{name}` {fault}");
                let next = match check {
                    NameCheck::StandardDirectory => {
                        format!("Rename the skill or its directory (`{directory}`).")
                    }
                    _ => "Rename the skill.".to_owned(),
                };
                self.drop_skill(LoadRule::NameForm, message, Some(at), &next);
            }
        }
    }

    fn check_standard_name(&mut self, name: &str, directory: &str, at: LineColumn) {
        if let Some(fault) = form_fault(NameCheck::StandardDirectory, name, directory) {
            let message = format!("the name `{name}` {fault}, which the standard does not allow");
            let next = format!("Rename the skill or its directory (`{directory}`).");
            self.note(LoadRule::NameStandard, message, at, &next);
        }
    }

    pub(super) fn validate_description(&mut self, typed: Option<TypedValue>) {
        if let Some(fault) = self.read_description(typed) {
            let at = self.record.description.as_ref().map(|it| it.at);
            self.drop_skill(LoadRule::DescriptionRequired, fault, at, ADD_DESCRIPTION);
        }
    }

    /// Replaces the description of a file without frontmatter, whose fault is reported already.
    pub(super) fn replace_missing_description(&mut self) {
        self.read_description(None);
    }

    /// Reads the description, or what the agent takes in its place. Returns the fault if the agent
    /// takes nothing.
    fn read_description(&mut self, typed: Option<TypedValue>) -> Option<String> {
        use DescriptionRule as Rule;
        let rule = self.profile.description;
        let missing = typed.is_none();
        let is_empty = typed.as_ref().is_none_or(|it| match it.kind {
            YamlType::Null => true,
            YamlType::Text => it.text.is_empty(),
            _ => false,
        });
        let text = self.text("description", typed).and_then(|text| {
            if rule.counts_as_empty(&text) {
                Err("`description` is empty".to_owned())
            } else {
                Ok(text)
            }
        });
        let what = match text {
            Ok(mut text) => {
                if self.loses_last_break(&text) {
                    text.pop();
                }
                self.reading.description = Some(text);
                return None;
            }
            Err(what) => what,
        };
        let at = self.record.description.as_ref().map(|it| it.at);
        match rule {
            Rule::Required | Rule::NotEmpty | Rule::Present => return Some(what),
            Rule::Optional => {}
            Rule::ElseUnlisted if missing => {
                self.reading.unlisted =
                    Some(remark(LoadRule::DescriptionListed, what, at, ADD_DESCRIPTION));
            }
            Rule::ElseBodyLines if missing => {
                // The agent's body may begin inside the record's head.
                let head = &self.record.head[self.body..];
                let rest = self.record.body_lines.as_deref().unwrap_or_default();
                let lines = body_lines(&format!("{head}\n{rest}"));
                self.reading.description = Some(lines.replace('\n', " "));
            }
            Rule::ElseBodyLine if is_empty => {
                let head = self.record.head[self.body..].lines().map(str::trim);
                let line = head.into_iter().find(is_text_line);
                let body = self.record.body_lines.as_deref();
                let line = line.or(body.and_then(|it| it.lines().next()));
                self.reading.description = Some(line.unwrap_or_default().to_owned());
            }
            Rule::ElseUnlisted | Rule::ElseBodyLines | Rule::ElseBodyLine => {
                self.drop_skill(LoadRule::DescriptionText, what, at, ADD_DESCRIPTION);
            }
            Rule::ElseFirstBodyLine | Rule::BlankElseFirstBodyLine => {
                let line = first_line(&self.record.head[self.body..]);
                let line = line.or(self.record.first_body_line.as_deref());
                self.reading.description = line.map(line_description);
            }
            Rule::ElseFirstHeading => {
                let heading = self.record.first_heading.as_deref();
                let text = heading.unwrap_or(&self.reading.name).to_owned();
                self.reading.description = Some(text);
            }
        }
        None
    }

    /// Returns whether the agent's library reads the description without its last line break: the
    /// text that Copilot CLI hands to it ends before that break (measured).
    fn loses_last_break(&self, text: &str) -> bool {
        if self.profile.fence != Fence::Alone || !text.ends_with('\n') {
            return false;
        }
        let head = &self.record.head;
        let Ok(fenced) = self.profile.fence.find(head) else { return false };
        let content = fenced.content.slice(head);
        let content = content.strip_suffix('\n').unwrap_or(content);
        let content = content.strip_suffix('\r').unwrap_or(content);
        let document = self.record.document();
        let last = document.frontmatter.as_ref().and_then(|it| it.entries.last());
        let Some(last) = last.filter(|it| it.key.text == "description") else { return false };
        let header = last.value.span.slice(head).lines().next().unwrap_or_default();
        header.starts_with(['|', '>']) && (header.contains('+') || !content.ends_with('\n'))
    }

    pub(super) fn check_requirements(&mut self, mapping: Option<&Mapping>) {
        let head = self.record.head.len();
        let has_body = self.body < head || self.record.facts.size > head as u64;
        let has_text = first_line(&self.record.head[self.body..]).is_some()
            || self.record.first_body_line.is_some();
        let description = self.reading.description.clone();
        let description = description.as_deref();
        for requirement in &self.profile.requires {
            let is_empty = match requirement {
                Requirement::Body => !has_body,
                Requirement::BodyText => !has_text,
                Requirement::Content => !self.has_frontmatter && !has_text,
                _ => false,
            };
            if is_empty {
                let next = "Write what the skill does below the frontmatter.";
                self.drop_skill(LoadRule::BodyRequired, "the body is empty", None, next);
            } else if let Some(it) = requirement.violation(mapping, self.record, description) {
                self.drop_skill(it.rule, it.message, it.at, &it.next);
            }
        }
        let switches = self.profile.requires.iter().filter_map(Requirement::switch);
        for (key, off) in switches {
            let value = mapping.and_then(|it| it.typed(key));
            let Some(value) = value.filter(|it| it.kind == YamlType::Boolean) else { continue };
            if value.text.eq_ignore_ascii_case(&off.to_string()) {
                let message = format!("`{key}: {off}` switches it off");
                let at = self.record.key_position(key, None);
                let next = format!("Remove `{key}` from the frontmatter.");
                self.reading.unlisted = Some(remark(LoadRule::FieldOff, message, at, &next));
            }
            break;
        }
    }
}

impl DescriptionRule {
    /// Returns whether the agent treats this description as missing.
    fn counts_as_empty(self, text: &str) -> bool {
        match self {
            Self::Present | Self::ElseUnlisted | Self::ElseBodyLines => false,
            Self::NotEmpty | Self::BlankElseFirstBodyLine | Self::ElseBodyLine => text.is_empty(),
            Self::Required | Self::Optional | Self::ElseFirstBodyLine | Self::ElseFirstHeading => {
                text.trim().is_empty()
            }
        }
    }
}

fn in_form(name: &str, form: NameForm) -> String {
    match form {
        NameForm::AsWritten => name.to_owned(),
        NameForm::Hyphens => {
            let words = name.trim().split(' ').filter(|it| !it.is_empty());
            words.collect::<Vec<_>>().join("-")
        }
        NameForm::FileName => name.replace([':', '\\', '/', '<', '>', '*', '?', '"', '|'], "-"),
    }
}

/// Returns how a name differs from the form that a check asks for, as a sentence fragment.
fn form_fault(check: NameCheck, name: &str, directory: &str) -> Option<&'static str> {
    let (is_valid, fault) = match check {
        // Discovery checks the name with its prefix.
        NameCheck::Any | NameCheck::AtMost(_) | NameCheck::Visible | NameCheck::StandardWarn => {
            return None;
        }
        NameCheck::LowerCase => (
            name.chars().all(|it| it.is_lowercase() || it.is_numeric() || it == '-'),
            "may contain only lower-case letters, digits and `-`",
        ),
        NameCheck::AsciiLowerCase => (
            name.chars().all(|it| matches!(it, 'a'..='z' | '0'..='9' | '-'))
                && name.chars().any(|it| it != '-'),
            "may contain only `a-z`, `0-9` and `-`, and not `-` alone",
        ),
        NameCheck::AsciiLabel => (
            name.len() <= 64
                && name.starts_with(|it: char| it.is_ascii_alphanumeric())
                && name.chars().all(|it| it.is_ascii_alphanumeric() || "-_.:".contains(it)),
            "must be at most 64 ASCII letters, digits, `-`, `_`, `.` and `:`, beginning with a letter or digit",
        ),
        NameCheck::Word => (
            name.chars().all(|it| it.is_alphanumeric() || "-_.:".contains(it)),
            "may contain only letters, digits, `-`, `_`, `.` and `:`",
        ),
        NameCheck::Standard => return standard_fault(name),
        NameCheck::StandardDirectory => {
            let differs = (name != directory).then_some("differs from its directory's name");
            return standard_fault(name).or(differs);
        }
    };
    (!is_valid).then_some(fault)
}

/// Returns the fault of a name that has not the open standard's form, as a sentence fragment.
fn standard_fault(name: &str) -> Option<&'static str> {
    if name.chars().count() > 64 {
        Some("is longer than 64 characters")
    } else if !name.chars().all(|it| matches!(it, 'a'..='z' | '0'..='9' | '-')) {
        Some("contains characters other than `a-z`, `0-9` and `-`")
    } else if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        Some("begins or ends with a hyphen, or doubles one")
    } else {
        None
    }
}
