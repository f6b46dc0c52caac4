//! Reading a file as one agent does: its rungs, then what it asks of a name and a description.

use std::sync::Arc;

use super::dialect::{Library, Mapping, Refusal, Typed, strict};
use super::{Fence, Kind, Quoting, block, kind, lines, quote};
use crate::parse::{Closing, Document, Opening, ScalarStyle};
use crate::profile::{
    self, DescriptionRule, Empty, Encoding, NameCheck, NameForm, NameSource, Profile, Rung,
    Scalars, Unreadable,
};
use crate::skill::{Field, SkillRecord, Spot, Yaml};
use crate::text::LineIndex;

/// What an agent makes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is read as it is.
    Accepted,
    /// It is read after a repair: the rung that made it.
    Repaired(Rung),
    /// Its body is loaded, and what its frontmatter says is lost.
    WithoutFields,
    /// It is dropped.
    Dropped,
}

/// Something to say about a file, as one agent sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The rule it is about, by its stable name.
    pub rule: &'static str,
    /// What is the matter, as a sentence fragment.
    pub message: String,
    /// Where in the file.
    pub at: Option<Spot>,
    /// What a person can do, as a sentence.
    pub next: String,
}

/// A file as one agent reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// What becomes of it.
    pub verdict: Verdict,
    /// The name; our own reading where the file is dropped.
    pub name: String,
    /// The description; our own reading where the file is dropped.
    pub description: Option<String>,
    /// The first fault for which the agent drops the file.
    pub dropped: Option<Remark>,
    /// Why the agent does not show the skill to its model although it loads it.
    pub unlisted: Option<Remark>,
    /// Repairs and oddities, and faults after the first.
    pub notes: Vec<Remark>,
}

impl Reading {
    /// Returns what becomes of the file as a sentence, where that is more than being read.
    pub fn sentence(&self, subject: &str) -> Option<String> {
        match (&self.dropped, self.verdict) {
            (Some(fault), _) => Some(format!("{subject} drops this file: {}.", fault.message)),
            (None, Verdict::Repaired(rung)) => {
                Some(format!("{subject} repairs this file: {}.", repair_of(rung)))
            }
            (None, Verdict::WithoutFields) => {
                Some(format!("{subject} loads the body of this file without its fields."))
            }
            (None, Verdict::Accepted | Verdict::Dropped) => None,
        }
    }
}

/// Returns what each built-in profile makes of a file in a directory of that name.
///
/// It is made when it is asked for: a healthy file costs nothing, any other some microseconds.
pub fn verdicts(record: &SkillRecord, directory: &str) -> Vec<(&'static Arc<Profile>, Reading)> {
    profile::builtin().iter().map(|it| (it, read_as(it, record, directory))).collect()
}

/// Reads a file by a profile's rules. `directory` is the name of the directory that holds it.
pub fn read_as(profile: &Profile, record: &SkillRecord, directory: &str) -> Reading {
    let mut reader = Reader {
        profile,
        record,
        rung: Some(Rung::Strict),
        body: record.head.len(),
        reading: Reading {
            verdict: Verdict::Accepted,
            name: String::new(),
            description: None,
            dropped: None,
            unlisted: None,
            notes: Vec::new(),
        },
    };
    reader.encoding();
    reader.size();
    match reader.values() {
        None => {
            reader.without_frontmatter();
            directory.clone_into(&mut reader.reading.name);
            reader.take_description(None, true);
        }
        Some(values) => {
            reader.take_name(values.name, directory);
            reader.take_description(values.description, false);
            if !values.foreign {
                reader.requirements(values.mapping.as_ref());
            }
        }
    }
    reader.finish()
}

/// Whether every library and every rule for the `---` lines sees the same in a text, so that
/// name and description can be judged from the record alone. In doubt it is not.
pub(crate) fn is_uniform(text: &str, document: &Document) -> bool {
    let Some(frontmatter) = &document.frontmatter else { return false };
    let content = frontmatter.content.slice(text);
    let plain_fences = frontmatter.opening == Opening::FirstLine
        && frontmatter.closing == Closing::Dashes
        && text.starts_with("---\n")
        && text[frontmatter.content.end..].starts_with("---\n");
    // Tabs, carriage returns, controls, other line ends, byte order marks.
    let odd = |it: char| match it {
        '\n' => false,
        '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}' => true,
        _ => it.is_control(),
    };
    let tagged =
        |before: &str| content.match_indices('!').any(|(at, _)| content[..at].ends_with(before));
    plain_fences
        && frontmatter.strict.is_ok()
        && !frontmatter.entries.is_empty()
        && frontmatter.anchors.is_empty()
        && frontmatter.get("<<").is_none()
        && !content.contains("\n---")
        && !content.starts_with("---")
        && !content.lines().any(|it| it.trim() == "---")
        && !content.contains(odd)
        && !content.contains("\\u")
        && ![" ", "[", "{", ","].into_iter().any(tagged)
        && document.diagnostics.iter().all(|it| it.code != "yaml/duplicate-key")
}

/// Name, description and the rest, as some rung gave them.
struct Values {
    name: Option<Typed>,
    description: Option<Typed>,
    /// The whole block, where a library read it.
    mapping: Option<Mapping>,
    /// Whether this is our own reading, since the agent has none.
    foreign: bool,
}

struct Reader<'a> {
    profile: &'a Profile,
    record: &'a SkillRecord,
    /// The one that gave the fields; none when they are lost.
    rung: Option<Rung>,
    /// Where the body starts, for this agent.
    body: usize,
    reading: Reading,
}

/// Where a fault is shown that has no place of its own in the file.
const START: Spot = Spot { line: 1, column: 1 };

const FIX_YAML: &str = "Fix the YAML; quoting the value is usually enough.";

impl Reader<'_> {
    fn finish(mut self) -> Reading {
        self.reading.verdict = match (&self.reading.dropped, self.rung) {
            (Some(_), _) => Verdict::Dropped,
            (None, None) => Verdict::WithoutFields,
            (None, Some(Rung::Strict)) => Verdict::Accepted,
            (None, Some(rung)) => Verdict::Repaired(rung),
        };
        self.reading
    }

    /// The first fault for which the agent drops the file decides; the others are told too.
    fn drop_for(
        &mut self,
        rule: &'static str,
        message: impl Into<String>,
        at: Option<Spot>,
        next: &str,
    ) {
        let remark = remark(rule, message, at.or(Some(START)), next);
        match self.reading.dropped {
            None => self.reading.dropped = Some(remark),
            Some(_) => self.reading.notes.push(remark),
        }
    }

    fn note(&mut self, rule: &'static str, message: impl Into<String>, at: Spot, next: &str) {
        self.reading.notes.push(remark(rule, message, Some(at), next));
    }

    fn encoding(&mut self) {
        if let Some(at) = self.record.invalid_utf8
            && self.profile.bad_utf8 == Encoding::Drop
        {
            let next = "Save the file as UTF-8.";
            self.drop_for("encoding/utf8", "the file is not UTF-8", Some(at), next);
        }
        if self.record.bom && self.profile.bom == Encoding::Drop {
            self.drop_for(
                "encoding/bom",
                "the file begins with a byte order mark",
                None,
                "Save the file without a byte order mark.",
            );
        }
        if self.record.crlf && self.profile.crlf == Encoding::Drop {
            self.drop_for(
                "encoding/crlf",
                "the frontmatter has CRLF line ends",
                None,
                "Save the file with LF line ends.",
            );
        }
    }

    fn size(&mut self) {
        if self.record.facts.truncated {
            let size = self.record.facts.size;
            self.note(
                "file/size",
                format!("the file is too large ({size} bytes) and was read in part"),
                START,
                "Move long material to files under `references/` that are read on demand.",
            );
        }
    }

    /// Whether a file without any field is dropped.
    fn needs_fields(&self) -> bool {
        self.profile.description.drops_missing() || self.profile.name.source == NameSource::Field
    }

    /// A file without frontmatter has one fault, not one for each missing field.
    fn without_frontmatter(&mut self) {
        if self.needs_fields() {
            self.drop_for(
                "frontmatter/required",
                "the file has no frontmatter",
                None,
                "Begin the file with a line `---`, then `name:` and `description:`, then `---`.",
            );
        }
    }

    /// Returns the fields as the agent gets them; nothing when there is no frontmatter at all.
    fn values(&mut self) -> Option<Values> {
        if let Some(values) = self.at_once() {
            return Some(values);
        }
        if self.profile.fence != Fence::FirstLine {
            return match self.profile.fence.find(&self.record.head) {
                Ok(fenced) => {
                    self.body = fenced.body;
                    Some(self.climb(fenced.content.slice(&self.record.head), fenced.content.start))
                }
                Err(_) if self.record.yaml == Yaml::Absent => None,
                Err(unfenced) => {
                    let at = spot(&self.record.head, unfenced.offset);
                    Some(self.unfenced(unfenced.message, at))
                }
            };
        }
        match &self.record.yaml {
            Yaml::Absent => None,
            Yaml::Undelimited { message, at } => Some(self.unfenced(message, *at)),
            Yaml::Strict | Yaml::Broken { .. } => {
                let content = self.record.document().frontmatter?.content;
                Some(self.climb(content.slice(&self.record.head), content.start))
            }
        }
    }

    /// Takes the fields from the record where nobody's reading differs from ours.
    fn at_once(&self) -> Option<Values> {
        let asks = |key: &str| self.record.head.contains(key);
        let alike = self.record.uniform
            && self.profile.ladder.first() == Some(&Rung::Strict)
            && !self.profile.requires.iter().filter_map(|it| it.key()).any(asks);
        if !alike {
            return None;
        }
        let values = self.fields(false);
        let structured = [&values.name, &values.description]
            .into_iter()
            .flatten()
            .any(|it| matches!(it.kind, Kind::List | Kind::Map));
        (!structured && !self.wants_lines(&values, 0)).then_some(values)
    }

    /// Our own reading, key by key, typed by the agent's library.
    fn fields(&self, foreign: bool) -> Values {
        let library = self.profile.library;
        let typed = |field: &Option<Field>| field.as_ref().map(|it| type_of(it, library));
        Values {
            name: typed(&self.record.name),
            description: typed(&self.record.description),
            mapping: None,
            foreign,
        }
    }

    /// Whether a later rung reads by line what the library does not give as text.
    fn wants_lines(&self, values: &Values, rung: usize) -> bool {
        let is_text = |it: &Option<Typed>| it.as_ref().is_some_and(|it| it.kind == Kind::Text);
        let later = self.profile.ladder.get(rung + 1..).unwrap_or_default();
        later.contains(&Rung::Lines) && !(is_text(&values.name) && is_text(&values.description))
    }

    /// No agent that was run reads fields that are not where it looks for them.
    fn unfenced(&mut self, message: &str, at: Spot) -> Values {
        let next = "Put a line `---` first in the file, and another one behind the last field.";
        if self.needs_fields() {
            self.drop_for("frontmatter/delimited", message, Some(at), next);
            // Our own reading, to tell people which skill this is.
            return self.fields(true);
        }
        self.note("frontmatter/delimited", message, at, next);
        self.rung = None;
        Values { name: None, description: None, mapping: None, foreign: false }
    }

    /// Tries the rungs; `start` is where the content is in the file.
    fn climb(&mut self, content: &str, start: usize) -> Values {
        let mut refused: Option<Refusal> = None;
        // What the library gave, when only a later rung could give more.
        let mut unsatisfying = None;
        for (index, rung) in self.profile.ladder.iter().enumerate() {
            let read = match self.rung(*rung, content) {
                None => continue,
                Some(Err(refusal)) => {
                    refused.get_or_insert(refusal);
                    continue;
                }
                Some(Ok(values)) => values,
            };
            if self.wants_lines(&read, index) {
                unsatisfying = Some(read);
                continue;
            }
            self.rung = Some(*rung);
            self.tell(*rung, refused.as_ref(), start, unsatisfying.as_ref());
            return read;
        }
        if let Some(values) = unsatisfying {
            return values;
        }
        let refusal = refused.unwrap_or(Refusal { message: "nothing to read".into(), offset: 0 });
        let at = spot(&self.record.head, start + refusal.offset);
        let message = format!("the frontmatter is not valid YAML: {}", refusal.message);
        match self.profile.unreadable_yaml {
            Unreadable::Drop => {
                self.drop_for("yaml/valid", message, Some(at), FIX_YAML);
                self.fields(true)
            }
            Unreadable::EmptyMetadata => {
                let message = format!("{message}; the body is loaded without it");
                self.note("yaml/valid", message, at, FIX_YAML);
                self.rung = None;
                Values { name: None, description: None, mapping: None, foreign: false }
            }
        }
    }

    /// Says what was repaired.
    fn tell(
        &mut self,
        rung: Rung,
        refused: Option<&Refusal>,
        start: usize,
        before: Option<&Values>,
    ) {
        if rung == Rung::Strict {
            return;
        }
        let repair = repair_of(rung);
        if let Some(refusal) = refused {
            let at = spot(&self.record.head, start + refusal.offset);
            let why = &refusal.message;
            let message = format!("the frontmatter is not valid YAML: {why}; {repair}");
            self.note("yaml/valid", message, at, FIX_YAML);
        } else if let Some(values) = before {
            let fields = [("name", &values.name), ("description", &values.description)];
            for (key, typed) in fields {
                if let Some(typed) = typed.as_ref().filter(|it| it.kind != Kind::Text) {
                    let message = format!("`{key}` is {}, not text; {repair}", typed.kind.name());
                    let at = self.place(key);
                    self.note("yaml/text", message, at, "Put the value in quotes.");
                }
            }
        }
    }

    /// Reads by one rung; nothing when it does not apply.
    fn rung(&self, rung: Rung, content: &str) -> Option<Result<Values, Refusal>> {
        let library = self.profile.library;
        let whole = |content: &str| strict(content, library).map(Values::of);
        match rung {
            Rung::Strict => Some(whole(content)),
            Rung::Quote(quoting) => Some(whole(&quote(content, quoting)?.text)),
            Rung::Block => Some(whole(&block(content)?.text)),
            Rung::Lines => {
                let rescue = lines(content);
                let text = |(text, _): (String, _)| Some(Typed { kind: Kind::Text, text });
                let (name, description) = (text(rescue.name?), text(rescue.description?));
                Some(Ok(Values { name, description, mapping: None, foreign: false }))
            }
            Rung::PerKey => Some(Ok(self.fields(false))),
        }
    }

    /// Where the value of a key stands.
    fn place(&self, key: &str) -> Spot {
        let field = match key {
            "name" => &self.record.name,
            _ => &self.record.description,
        };
        field.as_ref().map_or(START, |it| it.at)
    }

    /// Returns a value as text, or what is wrong with it.
    fn text(&self, key: &str, typed: Option<Typed>) -> Result<String, String> {
        let Some(typed) = typed else { return Err(format!("the frontmatter has no `{key}`")) };
        let refuses = self.profile.name.scalars == Scalars::Refuse;
        match typed.kind {
            Kind::Null => return Err(format!("`{key}` is empty")),
            Kind::List | Kind::Map => return Err(format!("`{key}` is a list or a map, not text")),
            Kind::Boolean | Kind::Number | Kind::Date if refuses => {
                return Err(format!("`{key}` is {}, not text", typed.kind.name()));
            }
            Kind::Boolean | Kind::Number | Kind::Date | Kind::Text => {}
        }
        if self.profile.one_line {
            return Ok(typed.text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        Ok(typed.text)
    }

    fn take_name(&mut self, typed: Option<Typed>, directory: &str) {
        let rule = &self.profile.name;
        if rule.source == NameSource::Directory {
            directory.clone_into(&mut self.reading.name);
            return;
        }
        let text = match self.text("name", typed) {
            Ok(text) if text.is_empty() && rule.empty == Empty::Missing => {
                Err("`name` is empty".to_owned())
            }
            other => other,
        };
        let at = self.record.name.as_ref().map(|it| it.at);
        let form = rule.form;
        let found = match text {
            Ok(text) => Some(in_form(&text, form)),
            Err(what) => {
                if rule.source == NameSource::Field {
                    let next = format!("Add `name: {directory}` to the frontmatter.");
                    self.drop_for("name/required", what, at, &next);
                }
                None
            }
        };
        if let Some(name) = &found {
            self.check_name(name, directory, at.unwrap_or(START));
        }
        self.reading.name = found.unwrap_or_else(|| directory.to_owned());
    }

    fn check_name(&mut self, name: &str, directory: &str, at: Spot) {
        let length = name.chars().count();
        match self.profile.name.check {
            NameCheck::AtMost(max) if length > max => {
                let message = format!("the name is {length} characters long, {max} are allowed");
                self.drop_for("name/length", message, Some(at), "Give the skill a shorter name.");
            }
            NameCheck::Any | NameCheck::AtMost(_) => {}
            NameCheck::LowerCase => {
                let fits = |it: char| it.is_lowercase() || it.is_numeric() || it == '-';
                if !name.chars().all(fits) {
                    let message =
                        format!("the name `{name}` holds more than small letters, digits and `-`");
                    let next = "Rename the skill.";
                    self.drop_for("name/form", message, Some(at), next);
                }
            }
            NameCheck::StandardWarn => self.check_standard_name(name, directory, at),
        }
    }

    fn check_standard_name(&mut self, name: &str, directory: &str, at: Spot) {
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
            self.note("name/standard", message, at, &next);
        }
    }

    /// `told` is set where the file's one fault has been said already.
    fn take_description(&mut self, typed: Option<Typed>, told: bool) {
        use DescriptionRule as Rule;
        let rule = self.profile.description;
        let missing = typed.is_none();
        let text = self.text("description", typed).and_then(|text| {
            let empty = match rule {
                Rule::Present | Rule::ElseUnlisted => false,
                Rule::NotEmpty => text.is_empty(),
                Rule::Required | Rule::ElseFirstBodyLine | Rule::ElseFirstHeading => {
                    text.trim().is_empty()
                }
            };
            if empty { Err("`description` is empty".to_owned()) } else { Ok(text) }
        });
        let at = self.record.description.as_ref().map(|it| it.at);
        let next = "Add a `description:` that says what the skill does and when to use it.";
        let what = match text {
            Ok(text) => {
                self.reading.description = Some(text);
                return;
            }
            Err(what) => what,
        };
        match rule {
            Rule::Required | Rule::NotEmpty | Rule::Present => {
                if !told {
                    self.drop_for("description/required", what, at, next);
                }
            }
            Rule::ElseUnlisted if missing => {
                self.reading.unlisted = Some(remark("description/listed", what, at, next));
            }
            Rule::ElseUnlisted => self.drop_for("description/text", what, at, next),
            Rule::ElseFirstBodyLine => {
                self.reading.description = self.record.first_body_line.as_deref().map(Into::into);
            }
            Rule::ElseFirstHeading => {
                let heading = self.record.first_heading.as_deref();
                let text = heading.unwrap_or(&self.reading.name).to_owned();
                self.reading.description = Some(text);
            }
        }
    }

    fn requirements(&mut self, mapping: Option<&Mapping>) {
        let head = self.record.head.len();
        let has_body = self.body < head || self.record.facts.size > head as u64;
        for requirement in &self.profile.requires {
            if let Some(it) = requirement.breach(mapping, has_body) {
                self.drop_for(it.rule, it.message, it.at, &it.next);
            }
        }
    }
}

impl Values {
    fn of(mapping: Mapping) -> Self {
        Self {
            name: mapping.typed("name"),
            description: mapping.typed("description"),
            mapping: Some(mapping),
            foreign: false,
        }
    }
}

/// Returns what a field of the record is to a library.
fn type_of(field: &Field, library: Library) -> Typed {
    let found = match field.style {
        _ if field.structured => Kind::List,
        None => Kind::Null,
        Some(ScalarStyle::Plain) => kind(&field.text, library),
        Some(_) => Kind::Text,
    };
    Typed { kind: found, text: field.text.to_string() }
}

fn in_form(name: &str, form: NameForm) -> String {
    match form {
        NameForm::AsWritten => name.to_owned(),
        NameForm::FileName => name.replace([':', '\\', '/', '<', '>', '*', '?', '"', '|'], "-"),
    }
}

/// What a rung does, as a sentence fragment.
fn repair_of(rung: Rung) -> &'static str {
    match rung {
        Rung::Strict => "read as it is",
        Rung::Quote(Quoting::ClaudeCode) => "read with every special value in quotes",
        Rung::Quote(Quoting::Codex | Quoting::ClientGuide) => {
            "read with problematic values in quotes"
        }
        Rung::Block => "read with values that hold a colon as blocks",
        Rung::Lines => "name and description are read by line",
        Rung::PerKey => "read key by key",
    }
}

fn remark(rule: &'static str, message: impl Into<String>, at: Option<Spot>, next: &str) -> Remark {
    Remark { rule, message: message.into(), at, next: next.to_owned() }
}

/// Counts out a place in the head of a file.
fn spot(head: &str, offset: usize) -> Spot {
    let (line, column) = LineIndex::new(head).display(head, offset);
    Spot { line, column }
}
