//! Edit of one SKILL.md that removes the fault for which an agent drops it, as a sentence.
//!
//! Every edit is tried on the text: only one after which the agent loads the skill is suggested.

use std::borrow::Cow;

use skills_agents::loaders::{LoadRule, load_as};
use skills_agents::profile::Profile;
use skills_agents::skill::{FileFacts, SkillRecord};
use skills_syntax::parse::{Closing, Document, Entry, Frontmatter, ValueKind};
use skills_syntax::path::AbsPath;
use skills_syntax::quote::{double_quote_scalar, quote_unless_text};
use skills_syntax::text::{LineIndex, slug};

use super::super::reason_rule::ReasonRule;
use super::super::{Candidate, Reason};

/// Description that an edit adds; the user replaces it.
const DESCRIPTION: &str = "description: What it does, and when to use it.";

/// Longest line that a suggestion repeats.
const LONGEST: usize = 120;

/// Change of whole lines, which count from 1.
#[derive(Clone, Debug, PartialEq)]
enum LineEdit {
    /// Adds lines before a line.
    Insert(usize, Vec<String>),
    /// Replaces a line.
    Write(usize, String),
    /// Removes the lines from the first to the last.
    Remove(usize, usize),
}

/// Returns the sentence for the edit that makes the agent load the file; none if there is no
/// simple one.
pub(super) fn suggest(profile: &Profile, candidate: &Candidate, reason: &Reason) -> Option<String> {
    let record = candidate.record()?;
    let dir = candidate.dir();
    let directory = dir.file_name().unwrap_or_default().to_string_lossy();
    let text = HeadText::new(record, profile, &directory);
    let edits = match reason.rule {
        ReasonRule::Load(LoadRule::FrontmatterRequired) => vec![text.frontmatter()],
        ReasonRule::Load(LoadRule::FrontmatterDelimited) => text.delimiters(),
        ReasonRule::Load(LoadRule::YamlValid) => text.quoted(reason.at?.line as usize),
        ReasonRule::Load(LoadRule::NameRequired) => {
            vec![text.field("name", &text.name(&directory))?]
        }
        ReasonRule::Load(LoadRule::NameLength | LoadRule::NameForm) => {
            let name = text.name(&candidate.name);
            vec![text.field("name", &name)?]
        }
        ReasonRule::Load(
            LoadRule::DescriptionRequired
            | LoadRule::DescriptionListed
            | LoadRule::DescriptionText
            | LoadRule::DescriptionLength,
        )
        | ReasonRule::DescriptionPlugin => vec![text.description()?],
        ReasonRule::Load(LoadRule::FieldType) => text.retyped(reason.at?.line as usize),
        ReasonRule::ModelInvocation => vec![text.without("disable-model-invocation")?],
        _ => return None,
    };
    let edit = edits.into_iter().find(|it| text.is_right(it))?;
    edit.sentence(&candidate.path)
}

/// Returns the words for the lines of a field, such as `line 4` or `lines 4 to 6`.
pub(super) fn field_lines(record: &SkillRecord, key: &str) -> Option<String> {
    let document = record.document();
    let entry = document.frontmatter.as_ref()?.get(key)?;
    let (first, last) = lines_of(&record.head, entry);
    Some(line_words(first, last))
}

fn line_words(first: usize, last: usize) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first} to {last}") }
}

fn lines_of(head: &str, entry: &Entry) -> (usize, usize) {
    let index = LineIndex::new(head);
    let line = |offset| index.display(head, offset).0 as usize;
    let text = entry.span.slice(head).trim_end();
    (line(entry.span.start), line(entry.span.start + text.len()))
}

impl LineEdit {
    fn apply(&self, text: &str) -> String {
        let mut lines: Vec<Cow<'_, str>> = text.split('\n').map(Cow::Borrowed).collect();
        let place = |line: usize| line.saturating_sub(1).min(lines.len());
        match self {
            Self::Insert(line, added) => {
                let at = place(*line);
                lines.splice(at..at, added.iter().map(|it| Cow::Borrowed(&**it)));
            }
            Self::Write(line, new) => {
                let at = place(*line);
                lines.splice(at..(at + 1).min(lines.len()), [Cow::Borrowed(&**new)]);
            }
            Self::Remove(first, last) => {
                let range = place(*first)..place(last + 1);
                lines.drain(range);
            }
        }
        lines.join("\n")
    }

    /// Returns the edit as a sentence; none if its text cannot be quoted in one.
    fn sentence(&self, path: &AbsPath) -> Option<String> {
        let path = path.display();
        let is_plain = |it: &String| {
            it.len() <= LONGEST && !it.contains('`') && !it.chars().any(char::is_control)
        };
        Some(match self {
            Self::Insert(line, added) if added.iter().all(is_plain) => {
                let added: Vec<_> = added.iter().map(|it| format!("`{it}`")).collect();
                format!("Insert {} before line {line} of `{path}`.", added.join(", "))
            }
            Self::Write(line, text) if is_plain(text) => {
                format!("Write `{text}` in line {line} of `{path}`.")
            }
            Self::Remove(first, last) => {
                format!("Remove {} of `{path}`.", line_words(*first, *last))
            }
            Self::Insert(..) | Self::Write(..) => return None,
        })
    }
}

/// Text of a file up to its body, with what an edit of it needs.
struct HeadText<'a> {
    record: &'a SkillRecord,
    document: Document,
    profile: &'a Profile,
    directory: &'a str,
}

impl<'a> HeadText<'a> {
    fn new(record: &'a SkillRecord, profile: &'a Profile, directory: &'a str) -> Self {
        Self { record, document: record.document(), profile, directory }
    }

    /// Returns true if the agent lists the skill after the edit.
    fn is_right(&self, edit: &LineEdit) -> bool {
        let body = self.record.first_body_line.as_deref().unwrap_or_default();
        let text = format!("{}{body}\n", edit.apply(&self.record.head));
        let facts = FileFacts { size: text.len() as u64, truncated: false, hash: [0; 32] };
        let record = SkillRecord::read(text.as_bytes(), facts);
        let loaded = load_as(self.profile, &record, self.directory);
        let is_hidden = self.profile.hides_from_model && record.disable_model_invocation;
        loaded.dropped.is_none() && loaded.unlisted.is_none() && !is_hidden
    }

    fn frontmatter_block(&self) -> Option<&Frontmatter> {
        self.document.frontmatter.as_ref()
    }

    fn line(&self, number: usize) -> Option<&str> {
        self.record.head.split('\n').nth(number.checked_sub(1)?)
    }

    /// Returns the form of a name that every agent accepts.
    fn name(&self, name: &str) -> String {
        let mut form = slug(name);
        form.truncate(64);
        match form.trim_end_matches('-') {
            "" => self.directory.to_owned(),
            form => form.to_owned(),
        }
    }

    fn frontmatter(&self) -> LineEdit {
        let name = quote_unless_text(&self.name(self.directory));
        let lines = ["---", &format!("name: {name}"), DESCRIPTION, "---"].map(str::to_owned);
        LineEdit::Insert(1, lines.into())
    }

    /// Returns the edits that may delimit the frontmatter.
    fn delimiters(&self) -> Vec<LineEdit> {
        let Some(block) = self.frontmatter_block() else { return Vec::new() };
        let fence = || vec!["---".to_owned()];
        let index = LineIndex::new(&self.record.head);
        let line = |offset| index.display(&self.record.head, offset).0 as usize;
        let last = block.entries.last().map(|it| lines_of(&self.record.head, it).1);
        let before = line(block.open.start);
        let write = |line| LineEdit::Write(line, "---".to_owned());
        let is_padded = self.line(before).is_some_and(|it| it.trim() == "---");
        let opening = is_padded.then(|| write(before));
        // A glued closing line has text after the dashes, which a replacement would lose.
        let closing = block.close.filter(|_| block.closing != Closing::Glued);
        let closing = closing.map(|it| write(line(it.start)));
        let blank = self.record.head[..block.open.start].trim().is_empty() && before > 1;
        let inserted = last.map(|it| LineEdit::Insert(it + 1, fence()));
        let removed = blank.then(|| LineEdit::Remove(1, before - 1));
        let edits = [opening, closing, inserted, removed, Some(LineEdit::Insert(1, fence()))];
        edits.into_iter().flatten().collect()
    }

    /// Returns the edits that may make a line valid YAML by quotes.
    fn quoted(&self, line: usize) -> Vec<LineEdit> {
        let Some(text) = self.line(line) else { return Vec::new() };
        let Some((key, value)) = text.split_once(": ") else { return Vec::new() };
        let value = value.trim();
        let open = value.chars().next().filter(|it| matches!(it, '"' | '\''));
        if let Some(joined) = with_joined_surrogates(value).filter(|_| open == Some('"')) {
            return vec![LineEdit::Write(line, format!("{key}: {joined}"))];
        }
        let is_open = |quote: &char| value.len() == 1 || !value.ends_with(*quote);
        let closed = open.filter(is_open);
        let closed =
            closed.map(|quote| LineEdit::Write(line, format!("{}{quote}", text.trim_end())));
        let inner = open.map_or(value, |quote| value.trim_matches(quote));
        let whole = LineEdit::Write(line, format!("{key}: {}", double_quote_scalar(inner)));
        closed.into_iter().chain([whole]).collect()
    }

    /// Returns the edit that sets a field of one line.
    fn field(&self, key: &str, value: &str) -> Option<LineEdit> {
        self.set(key, format!("{key}: {}", quote_unless_text(value)))
    }

    fn set(&self, key: &str, text: String) -> Option<LineEdit> {
        let block = self.frontmatter_block()?;
        let head = &self.record.head;
        if let Some(entry) = block.get(key) {
            let (first, last) = lines_of(head, entry);
            return (first == last).then_some(LineEdit::Write(first, text));
        }
        // A description follows the name.
        let name = block.get("name").map(|it| lines_of(head, it).1);
        let index = LineIndex::new(head);
        let top = index.display(head, block.open.start).0 as usize;
        Some(LineEdit::Insert(name.unwrap_or(top) + 1, vec![text]))
    }

    fn description(&self) -> Option<LineEdit> {
        self.set("description", DESCRIPTION.to_owned())
    }

    fn without(&self, key: &str) -> Option<LineEdit> {
        let (first, last) = lines_of(&self.record.head, self.frontmatter_block()?.get(key)?);
        Some(LineEdit::Remove(first, last))
    }

    /// Returns the edits that may give the value in a line the type that the agent expects.
    fn retyped(&self, line: usize) -> Vec<LineEdit> {
        let entries = self.frontmatter_block().map(|it| &*it.entries).unwrap_or_default();
        let entry = entries.iter().find(|it| lines_of(&self.record.head, it) == (line, line));
        let list = entry.and_then(|it| match &it.value.kind {
            ValueKind::Scalar { text, .. } => {
                let items: Vec<_> = items(text).into_iter().map(quote_unless_text).collect();
                Some(LineEdit::Write(line, format!("{}: [{}]", it.key.text, items.join(", "))))
            }
            _ => None,
        });
        let is_untrue = entry.and_then(|it| it.value.as_str()).is_some_and(|it| {
            matches!(&*it.to_ascii_lowercase(), "0" | "n" | "no" | "off" | "false")
        });
        let flag =
            |value| entry.map(|it| LineEdit::Write(line, format!("{}: {value}", it.key.text)));
        let flags = [flag(!is_untrue), flag(is_untrue)].into_iter().flatten();
        self.quoted(line).into_iter().chain(list).chain(flags).collect()
    }
}

/// Returns a text in double quotes with one character for each pair of escaped surrogates, which
/// some libraries refuse; none if it has no pair.
fn with_joined_surrogates(written: &str) -> Option<String> {
    let unit = |at: usize| {
        let digits = written.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let character = |at: usize| {
        let pair = [unit(at)?, unit(at + 6)?];
        let character = char::decode_utf16(pair).next()?.ok()?;
        (character.len_utf16() == pair.len()).then_some(character)
    };
    let (mut joined, mut at) = (String::new(), 0);
    while let Some(letter) = written[at..].chars().next() {
        if let Some(character) = character(at) {
            joined.push(character);
            at += 12;
            continue;
        }
        // A backslash escapes the one behind it.
        let n_bytes = if written[at..].starts_with("\\\\") { 2 } else { letter.len_utf8() };
        joined.push_str(&written[at..at + n_bytes]);
        at += n_bytes;
    }
    (joined != written).then_some(joined)
}

/// Splits a list written as one text at commas or blanks outside of parentheses.
fn items(text: &str) -> Vec<&str> {
    let separator = if text.contains(',') { ',' } else { ' ' };
    let mut depth = 0_usize;
    let parts = text.split(|it: char| {
        match it {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        it == separator && depth == 0
    });
    parts.map(str::trim).filter(|it| !it.is_empty()).collect()
}
