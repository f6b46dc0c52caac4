//! The skill record ([`SkillRecord`]): one parsed SKILL.md, before any agent's rules apply.
//!
//! The index keeps one record for each file. A record holds no body: only the fields that discovery
//! needs, the text up to the body (for the rest of the frontmatter), and located diagnostics. The
//! fields are skillsd's own per-key reading; [`crate::loaders`] computes each agent's.

mod portable;

use std::cell::OnceCell;
use std::sync::Arc;

use skills_syntax::diagnostic::{Diagnostic, ProblemCode, Severity};
use skills_syntax::parse::{
    Closing, Document, Frontmatter, Keys, OpeningKind, ScalarStyle, ValueKind, find,
    parse_block_with, parse_with, split_with,
};
use skills_syntax::text::{Decoded, LineColumn, LineIndex, Span, decode};

use crate::fields::{FieldValue, Fields};
use crate::{fence, field_table, listing};

/// The keys of the field table, for the parser's recovery.
const KEYS: Keys = Keys {
    is_field: |key| !matches!(field_table::classify_key(key), field_table::KeyKind::Unknown),
    is_prose: |key| key == field_table::DESCRIPTION.key || key == field_table::WHEN_TO_USE.key,
};

/// Parses the text of a SKILL.md. Recovery recognises the keys of the field table.
pub fn parse(text: &str) -> Document {
    parse_with(text, KEYS)
}

/// Parses the content between the first and the last line of a text.
pub(crate) fn parse_block(text: &str, content: Span) -> Document {
    parse_block_with(text, content, KEYS)
}

/// Returns the content of the frontmatter, without reading it, and the body.
pub(crate) fn split(text: &str) -> (Option<Span>, Span) {
    split_with(text, KEYS)
}

/// A diagnostic with line and column, for records that keep no text.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedDiagnostic {
    pub diagnostic: Diagnostic,
    pub start: LineColumn,
    pub end: LineColumn,
}

/// The text and position of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordField {
    /// The value as text; empty for a null. Shared by readers that use it unchanged.
    pub text: Arc<str>,
    /// The start of the value; for a missing value, the end of its key.
    pub at: LineColumn,
    /// True for a list or a map, which no agent reads as text.
    pub structured: bool,
    /// The scalar style; `None` for a null, a list or a map. Libraries type plain scalars
    /// differently.
    pub style: Option<ScalarStyle>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FrontmatterState {
    /// The file has no frontmatter.
    Absent,
    /// The file has frontmatter, but not between a first line `---` and a later one, where agents
    /// expect it.
    Undelimited {
        /// The fault.
        message: &'static str,
        /// The position of the fault.
        at: LineColumn,
    },
    /// The whole block is valid YAML.
    Strict,
    /// The block is not valid YAML; its keys were read one by one.
    Broken {
        /// The YAML parser's first error.
        message: Box<str>,
        /// The position of the error.
        at: LineColumn,
    },
}

/// Facts about the file that are not in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// The file's size in bytes.
    pub size: u64,
    /// True if only the first part of the file was read.
    pub truncated: bool,
    /// The hash of the bytes that were read (BLAKE3, 32 bytes).
    pub hash: [u8; 32],
}

/// Facts that decoding found about a text's bytes; the default for text from an editor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecodeFacts {
    /// True if the file began with a byte order mark.
    pub bom: bool,
    /// The first replacement of invalid UTF-8.
    pub invalid_utf8: Option<Span>,
}

/// One parsed SKILL.md.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillRecord {
    pub facts: FileFacts,
    /// The text up to the body: delimiters and frontmatter, without a byte order mark. Extends to
    /// the end of the longest frontmatter that any agent recognises.
    pub head: Box<str>,
    /// True if all agents find the same frontmatter and read the same values in it.
    pub portable: bool,
    pub yaml: FrontmatterState,
    /// The `name` field.
    pub name: Option<RecordField>,
    /// The `description` field.
    pub description: Option<RecordField>,
    /// The globs of `paths`, split; empty when the skill is not conditional.
    pub paths: Box<[Box<str>]>,
    /// `disable-model-invocation`.
    pub disable_model_invocation: bool,
    /// `user-invocable`.
    pub user_invocable: bool,
    /// The first line after `head` that is not blank, trimmed.
    pub first_body_line: Option<Box<str>>,
    /// The first lines of the body that are neither blank nor headings, if `description` is missing
    /// or empty; see [`DescriptionRule::ElseBodyLines`](crate::profile::DescriptionRule).
    pub body_lines: Option<Box<str>>,
    /// The text of the first heading of the body.
    pub first_heading: Option<Box<str>>,
    /// True if the file begins with a byte order mark.
    pub bom: bool,
    /// True if the text up to the body contains CRLF line ends.
    pub crlf: bool,
    /// The position of the first invalid UTF-8.
    pub invalid_utf8: Option<LineColumn>,
    /// Diagnostics in text order.
    pub findings: Box<[LocatedDiagnostic]>,
}

impl SkillRecord {
    /// Reads a record from a file's bytes. Never fails: unreadable input becomes a diagnostic.
    pub fn read(bytes: &[u8], facts: FileFacts) -> Self {
        let decoded = decode(bytes);
        let document = parse(&decoded.text);
        let Decoded { text, invalid_utf8, bom } = decoded;
        Self::from_document(&text, &document, facts, DecodeFacts { bom, invalid_utf8 })
    }

    /// Makes the record of a text that is already decoded and parsed.
    pub fn from_document(
        text: &str,
        document: &Document,
        facts: FileFacts,
        origin: DecodeFacts,
    ) -> Self {
        let DecodeFacts { bom, invalid_utf8 } = origin;
        let positions = PositionMapper::new(text, document.body.start);
        let head = fence::longest_head(text, document.body.start);
        let mut findings: Vec<_> = document
            .diagnostics
            .iter()
            .map(|it| positions.finding(it.clone()))
            .chain(invalid_utf8.map(|span| positions.finding(not_utf8(span))))
            .chain(facts.truncated.then(|| positions.finding(too_large(text.len(), facts.size))))
            .collect();
        let fields = document.frontmatter.as_ref().map(|it| Fields::new(it, text));
        let frontmatter = document.frontmatter.as_ref();
        // The other skills are not known here; `check`, which knows them, may report more, and errors.
        let forged = frontmatter.map(|it| listing::injections(text, it, |_| false));
        findings.extend(forged.into_iter().flatten().map(|it| positions.finding(it)));
        findings.sort_by_key(|it| it.diagnostic.span.start);
        let field = |it| positions.field(fields?, frontmatter?, it);
        let flag = |it, default| fields.and_then(|fields| fields.switch(it)).unwrap_or(default);
        let paths = fields.map(|it| it.list(&field_table::PATHS)).unwrap_or_default();
        Self {
            facts,
            head: head.into(),
            portable: portable::is_portable(text, document),
            yaml: positions.yaml(document),
            name: field(&field_table::NAME),
            description: field(&field_table::DESCRIPTION),
            paths: paths.into_iter().map(|it| it.text.into()).collect(),
            disable_model_invocation: flag(&field_table::DISABLE_MODEL_INVOCATION, false),
            user_invocable: fields.is_none_or(|it| {
                it.entry(&field_table::USER_INVOCABLE).is_none()
                    || it.switch(&field_table::USER_INVOCABLE) == Some(true)
            }),
            first_body_line: first_line(&text[head.len()..]).map(Into::into),
            body_lines: match field(&field_table::DESCRIPTION) {
                Some(it) if !it.text.is_empty() => None,
                _ => Some(body_lines(&text[head.len()..])),
            },
            first_heading: first_heading(document.body.slice(text)),
            bom,
            crlf: head.contains("\r\n"),
            invalid_utf8: invalid_utf8.map(|it| positions.line_column(it.start)),
            findings: findings.into(),
        }
    }

    /// Parses the frontmatter again, with the range of every key and value.
    ///
    /// The index keeps text instead of syntax trees: parsing takes microseconds and is rarely
    /// needed.
    pub fn document(&self) -> Document {
        parse(&self.head)
    }

    /// Returns the position of a key in the frontmatter; with `inner`, that of the key in its map
    /// or of the item in its list (from 1), if it is there.
    pub fn key_position(&self, key: &str, inner: Option<&str>) -> Option<LineColumn> {
        let frontmatter = self.document().frontmatter?;
        let entry = find(&frontmatter.entries, key)?;
        let value = frontmatter.resolve(&entry.value);
        let within = inner.and_then(|inner| match (value.entries(), value.items()) {
            (Some(entries), _) => Some(find(entries, inner)?.key.span),
            (None, Some(items)) => {
                Some(items.get(inner.parse::<usize>().ok()?.checked_sub(1)?)?.span)
            }
            (None, None) => None,
        });
        let at = within.unwrap_or(entry.key.span).start;
        Some(PositionMapper::new(&self.head, self.head.len()).line_column(at))
    }
}

/// Converts offsets in one text to positions.
struct PositionMapper<'a> {
    text: &'a str,
    /// The start of the text to which almost all offsets belong, and its lines.
    head: &'a str,
    lines: LineIndex,
    /// The lines of the whole text, for the other offsets.
    all_lines: OnceCell<LineIndex>,
}

impl<'a> PositionMapper<'a> {
    fn new(text: &'a str, end_of_head: usize) -> Self {
        let head = &text[..text.floor_char_boundary(end_of_head)];
        Self { text, head, lines: LineIndex::new(head), all_lines: OnceCell::new() }
    }

    fn line_column(&self, offset: usize) -> LineColumn {
        let (line, column) = if offset < self.head.len() {
            self.lines.display(self.head, offset)
        } else {
            self.all_lines.get_or_init(|| LineIndex::new(self.text)).display(self.text, offset)
        };
        LineColumn { line, column }
    }

    fn finding(&self, diagnostic: Diagnostic) -> LocatedDiagnostic {
        let Span { start, end } = diagnostic.span;
        LocatedDiagnostic { diagnostic, start: self.line_column(start), end: self.line_column(end) }
    }

    fn field(
        &self,
        fields: Fields<'_>,
        frontmatter: &Frontmatter,
        field: &field_table::Field,
    ) -> Option<RecordField> {
        let entry = fields.entry(field)?;
        let outcome = fields.read(field)?;
        let text = match outcome.value {
            Some(FieldValue::Text(item)) => item.text,
            _ => String::new(),
        };
        let at =
            if entry.value.span.is_empty() { entry.key.span.end } else { entry.value.span.start };
        let style = match &frontmatter.resolve(&entry.value).kind {
            ValueKind::Scalar { style, .. } => Some(*style),
            ValueKind::Null
            | ValueKind::Sequence { .. }
            | ValueKind::Mapping { .. }
            | ValueKind::Alias { .. } => None,
        };
        let structured = !outcome.faults.is_empty();
        Some(RecordField { structured, style, text: text.into(), at: self.line_column(at) })
    }

    fn yaml(&self, document: &Document) -> FrontmatterState {
        let Some(frontmatter) = &document.frontmatter else { return FrontmatterState::Absent };
        let undelimited = |message, offset| FrontmatterState::Undelimited {
            message,
            at: self.line_column(offset),
        };
        match (frontmatter.opening, frontmatter.closing) {
            (OpeningKind::Later, _) => {
                return undelimited("there is text before the frontmatter", frontmatter.open.start);
            }
            (OpeningKind::Missing, _) => {
                return undelimited("the frontmatter has no `---` line before it", 0);
            }
            (_, Closing::Missing | Closing::Dots | Closing::Mistyped) => {
                return undelimited(
                    "the frontmatter is not closed by a `---` line",
                    frontmatter.open.start,
                );
            }
            (
                OpeningKind::FirstLine,
                Closing::Dashes | Closing::LongDashes | Closing::Glued | Closing::Indented,
            ) => {}
        }
        match &frontmatter.strict {
            Ok(()) => FrontmatterState::Strict,
            Err(error) => FrontmatterState::Broken {
                message: error.message.as_str().into(),
                at: self.line_column(error.span.start),
            },
        }
    }
}

/// Returns the first three lines that are neither blank nor headings, at most 1,024 characters.
pub(crate) fn body_lines(text: &str) -> Box<str> {
    let lines = text.lines().map(str::trim).filter(is_text_line);
    let joined = lines.take(3).collect::<Vec<_>>().join("\n");
    joined.chars().take(1024).collect::<String>().into()
}

/// Returns true for a trimmed line that is neither blank nor a heading.
pub(crate) fn is_text_line(line: &&str) -> bool {
    !line.is_empty() && !line.starts_with('#')
}

/// Returns the first line that is not blank, trimmed.
pub(crate) fn first_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|it| !it.is_empty())
}

/// Returns the text of the first heading of level one, outside fenced code.
fn first_heading(body: &str) -> Option<Box<str>> {
    let mut fence: Option<&str> = None;
    for line in body.lines() {
        let text = line.trim_start();
        let length = text.len() - text.trim_start_matches(['`', '~']).len();
        let mark = &text[..length];
        match fence {
            Some(open) => {
                let closes = mark.starts_with(open) && text.trim_end().len() == length;
                fence = fence.filter(|_| !closes);
            }
            None if mark.starts_with("```") || mark.starts_with("~~~") => fence = Some(mark),
            None => {
                let heading = line.strip_prefix('#').filter(|it| it.starts_with([' ', '\t']));
                if let Some(heading) = heading {
                    return Some(heading.trim().into());
                }
            }
        }
    }
    None
}

fn not_utf8(span: Span) -> Diagnostic {
    Diagnostic {
        code: ProblemCode::NotUtf8,
        severity: Severity::Error,
        span,
        message: "the file is not UTF-8 from here on".into(),
        help: Some("Save the file as UTF-8; otherwise some agents drop it.".into()),
    }
}

fn too_large(read: usize, size: u64) -> Diagnostic {
    Diagnostic {
        code: ProblemCode::BodyTooLarge,
        severity: Severity::Warning,
        span: Span::new(read, read),
        message: format!("only the first {read} of {size} bytes were read"),
        help: Some(
            "Move long material to files under `references/` that are read on demand.".into(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> SkillRecord {
        let facts = FileFacts { size: text.len() as u64, truncated: false, hash: [0; 32] };
        SkillRecord::read(text.as_bytes(), facts)
    }

    #[test]
    fn fields_carry_their_positions() {
        let record =
            read("---\nname: a\ndescription: é b\npaths: src/*.{rs,toml}, docs/\n---\n\n# T\n");
        let description = record.description.unwrap();
        assert_eq!(&*description.text, "é b");
        assert_eq!(description.at, LineColumn { line: 3, column: 14 });
        assert_eq!(record.paths.len(), 2);
        assert_eq!(record.first_body_line.as_deref(), Some("# T"));
        assert_eq!(record.yaml, FrontmatterState::Strict);
    }

    #[test]
    fn broken_block_yields_fields_and_error_position() {
        let record = read("---\nname: a\ndescription: Use when: asked\n---\nbody\n");
        assert_eq!(&*record.description.unwrap().text, "Use when: asked");
        let FrontmatterState::Broken { at, .. } = record.yaml else { panic!("{:?}", record.yaml) };
        assert_eq!(at.line, 3);
    }

    #[test]
    fn invalid_utf8_is_located() {
        let bytes = b"---\nname: a\ndescription: caf\xe9\n---\n";
        let facts = FileFacts { size: bytes.len() as u64, truncated: false, hash: [0; 32] };
        let record = SkillRecord::read(bytes, facts);
        assert_eq!(record.invalid_utf8, Some(LineColumn { line: 3, column: 17 }));
        assert!(record.findings.iter().any(|it| it.diagnostic.code == ProblemCode::NotUtf8));
    }

    #[test]
    fn first_heading_has_level_one_and_is_outside_code() {
        for (body, expected) in [
            ("# A\n", Some("A")),
            ("text\n## B\n# A\n", Some("A")),
            ("## B\n### C\n", None),
            ("```sh\n# comment\n```\n# A\n", Some("A")),
            ("~~~~\n# x\n~~~\n# y\n~~~~\n# A\n", Some("A")),
            ("```\n# never closed\n", None),
            ("#no\n#\ttab\n", Some("tab")),
        ] {
            let record = read(&format!("---\nname: a\n---\n{body}"));
            assert_eq!(record.first_heading.as_deref(), expected, "{body}");
        }
    }

    #[test]
    fn switches_accept_yes_and_off() {
        let record =
            read("---\nname: a\ndisable-model-invocation: yes\nuser-invocable: off\n---\n");
        assert!(record.disable_model_invocation);
        assert!(!record.user_invocable);
    }
}
