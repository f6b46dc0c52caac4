//! One SKILL.md as a record: what its text says, before any agent's rules are applied.
//!
//! The record is what the index keeps for each file, so it holds no body: the fields that
//! discovery needs, the text up to the body (for everything else the frontmatter says), and
//! the findings with their places. It is our own per-key reading; whether an agent would read
//! the file the same way is for `skills_discovery::discover` to say.

mod portable;

use std::sync::Arc;

use skills_syntax::diagnostic::{Diagnostic, Severity};
use skills_syntax::parse::{
    Closing, Document, Frontmatter, Keys, Opening, ScalarStyle, ValueKind, parse_with,
};
use skills_syntax::text::{Decoded, LineColumn, LineIndex, Span, decode};

use crate::fields::{FieldValue, Fields};
use crate::{fence, field_table, listing};

/// The keys of the catalog.
const KEYS: Keys = Keys {
    is_field: |key| !matches!(field_table::classify_key(key), field_table::KeyKind::Unknown),
    is_prose: |key| key == field_table::DESCRIPTION.key || key == field_table::WHEN_TO_USE.key,
};

/// Parses the text of a SKILL.md, in which the fields of the catalog are known.
pub fn parse(text: &str) -> Document {
    parse_with(text, KEYS)
}

/// A diagnostic with its places counted out, for records that keep no text.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedDiagnostic {
    /// What was found.
    pub diagnostic: Diagnostic,
    /// Where it begins.
    pub start: LineColumn,
    /// Where it ends.
    pub end: LineColumn,
}

/// A field's text and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordField {
    /// The value as text; empty for a null. Whoever reads it as it stands shares it.
    pub text: Arc<str>,
    /// Where the value begins; for a missing value, where its key ends.
    pub at: LineColumn,
    /// Whether the value is a list or a map, which no agent reads as text.
    pub structured: bool,
    /// How the text is written; none for a null, a list or a map. Libraries differ in what they
    /// take for text without quotes.
    pub style: Option<ScalarStyle>,
}

/// How the frontmatter stands as YAML.
#[derive(Clone, Debug, PartialEq)]
pub enum FrontmatterState {
    /// There is no frontmatter.
    Absent,
    /// There is something like frontmatter, but not where agents look: between a first line
    /// `---` and a later one.
    Undelimited {
        /// What is missing or in the way.
        message: &'static str,
        /// Where.
        at: LineColumn,
    },
    /// The whole block is valid YAML.
    Strict,
    /// The block is not valid YAML; its keys were read one by one.
    Broken {
        /// What the YAML parser said first.
        message: Box<str>,
        /// Where.
        at: LineColumn,
    },
}

/// Facts about the file that the text alone does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// The file's size in bytes.
    pub size: u64,
    /// Whether only the first part of the file was read.
    pub truncated: bool,
    /// The hash of the bytes that were read (BLAKE3, 32 bytes).
    pub hash: [u8; 32],
}

/// What decoding has found out about the bytes of a text; nothing for a text out of an editor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecodeFacts {
    /// Whether a byte order mark came first.
    pub bom: bool,
    /// The first place that stands for bytes that were not UTF-8.
    pub invalid_utf8: Option<Span>,
}

/// What one SKILL.md says.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillRecord {
    /// Facts about the file.
    pub facts: FileFacts,
    /// The text up to the body: delimiters and frontmatter, without a byte order mark. Where an
    /// agent sees the end of the frontmatter later than we do, up to there.
    pub head: Box<str>,
    /// Whether all agents see the same frontmatter and read the same in it.
    pub portable: bool,
    /// How the frontmatter stands as YAML.
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
    /// The first line of the body that is not blank, trimmed.
    pub first_body_line: Option<Box<str>>,
    /// The text of the first heading of the body.
    pub first_heading: Option<Box<str>>,
    /// Whether the file begins with a byte order mark.
    pub bom: bool,
    /// Whether the text up to the body holds CRLF line ends.
    pub crlf: bool,
    /// Where the first bytes stand that are not UTF-8.
    pub invalid_utf8: Option<LineColumn>,
    /// What was found wrong or doubtful, in the order of the text.
    pub findings: Box<[LocatedDiagnostic]>,
}

impl SkillRecord {
    /// Reads a record from a file's bytes. Never fails: what cannot be read is a finding.
    pub fn read(bytes: &[u8], facts: FileFacts) -> Self {
        let decoded = decode(bytes);
        let document = parse(&decoded.text);
        let Decoded { text, invalid_utf8, bom } = decoded;
        Self::from_document(&text, &document, facts, DecodeFacts { bom, invalid_utf8 })
    }

    /// Makes the record of a text that is decoded and parsed already.
    pub fn from_document(
        text: &str,
        document: &Document,
        facts: FileFacts,
        origin: DecodeFacts,
    ) -> Self {
        let DecodeFacts { bom, invalid_utf8 } = origin;
        let index = LineIndex::new(text);
        let spots = PositionMapper { text, index: &index };
        let head = &text[..document.body.start.max(fence::longest_head(text))];
        let mut findings: Vec<_> = document
            .diagnostics
            .iter()
            .map(|it| spots.finding(it.clone()))
            .chain(invalid_utf8.map(|span| spots.finding(not_utf8(span))))
            .chain(facts.truncated.then(|| spots.finding(too_large(text.len(), facts.size))))
            .collect();
        let fields = document.frontmatter.as_ref().map(|it| Fields::new(it, text));
        let forged = fields.map(listing::injections).unwrap_or_default();
        findings.extend(forged.into_iter().map(|it| spots.finding(it)));
        findings.sort_by_key(|it| it.diagnostic.span.start);
        let frontmatter = document.frontmatter.as_ref();
        let field = |it| spots.field(fields?, frontmatter?, it);
        let flag = |it, default| fields.and_then(|fields| fields.switch(it)).unwrap_or(default);
        let paths = fields.map(|it| it.list(&field_table::PATHS)).unwrap_or_default();
        Self {
            facts,
            head: head.into(),
            portable: portable::is_portable(text, document),
            yaml: spots.yaml(document),
            name: field(&field_table::NAME),
            description: field(&field_table::DESCRIPTION),
            paths: paths.into_iter().map(|it| it.text.into()).collect(),
            disable_model_invocation: flag(&field_table::DISABLE_MODEL_INVOCATION, false),
            user_invocable: flag(&field_table::USER_INVOCABLE, true),
            first_body_line: first_line(document.body.slice(text)),
            first_heading: first_heading(document.body.slice(text)),
            bom,
            crlf: head.contains("\r\n"),
            invalid_utf8: invalid_utf8.map(|it| spots.spot(it.start)),
            findings: findings.into(),
        }
    }

    /// Parses the frontmatter again, with the ranges of every key and value.
    ///
    /// The index keeps text, not trees: parsing takes microseconds and is asked for rarely.
    pub fn document(&self) -> Document {
        parse(&self.head)
    }

    /// Returns where a key of the frontmatter is written.
    pub fn key_position(&self, key: &str) -> Option<LineColumn> {
        let document = self.document();
        let entry = document.frontmatter?.entries.into_iter().find(|it| it.key.text == key)?;
        let index = LineIndex::new(&self.head);
        Some(PositionMapper { text: &self.head, index: &index }.spot(entry.key.span.start))
    }
}

/// Counts places in one text.
struct PositionMapper<'a> {
    text: &'a str,
    index: &'a LineIndex,
}

impl PositionMapper<'_> {
    fn spot(&self, offset: usize) -> LineColumn {
        let (line, column) = self.index.display(self.text, offset);
        LineColumn { line, column }
    }

    fn finding(&self, diagnostic: Diagnostic) -> LocatedDiagnostic {
        let Span { start, end } = diagnostic.span;
        LocatedDiagnostic { diagnostic, start: self.spot(start), end: self.spot(end) }
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
        Some(RecordField { structured, style, text: text.into(), at: self.spot(at) })
    }

    fn yaml(&self, document: &Document) -> FrontmatterState {
        let Some(frontmatter) = &document.frontmatter else { return FrontmatterState::Absent };
        let undelimited =
            |message, offset| FrontmatterState::Undelimited { message, at: self.spot(offset) };
        match (frontmatter.opening, frontmatter.closing) {
            (Opening::Later, _) => {
                return undelimited("there is text before the frontmatter", frontmatter.open.start);
            }
            (Opening::Missing, _) => {
                return undelimited("the frontmatter has no `---` line before it", 0);
            }
            (_, Closing::Missing | Closing::Dots) => {
                return undelimited(
                    "the frontmatter is not closed by a `---` line",
                    frontmatter.open.start,
                );
            }
            (
                Opening::FirstLine,
                Closing::Dashes | Closing::LongDashes | Closing::Glued | Closing::Indented,
            ) => {}
        }
        match &frontmatter.strict {
            Ok(()) => FrontmatterState::Strict,
            Err(error) => FrontmatterState::Broken {
                message: error.message.as_str().into(),
                at: self.spot(error.span.start),
            },
        }
    }
}

fn first_line(body: &str) -> Option<Box<str>> {
    body.lines().map(str::trim).find(|it| !it.is_empty()).map(Into::into)
}

/// Returns the text of the first heading: behind one to six `#` and a blank.
fn first_heading(body: &str) -> Option<Box<str>> {
    let text = |line: &'_ str| {
        let behind = line.trim_start_matches('#');
        let level = line.len() - behind.len();
        ((1..=6).contains(&level) && behind.starts_with([' ', '\t'])).then(|| behind.trim().into())
    };
    body.lines().find_map(text)
}

fn not_utf8(span: Span) -> Diagnostic {
    Diagnostic {
        code: "yaml/not-utf8",
        severity: Severity::Error,
        span,
        message: "the file is not UTF-8 from here on".into(),
        help: Some("Save the file as UTF-8; some agents drop it as it is.".into()),
    }
}

fn too_large(read: usize, size: u64) -> Diagnostic {
    Diagnostic {
        code: "body/too-large",
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
    fn fields_carry_the_place_where_they_stand() {
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
    fn a_broken_block_still_gives_its_fields_and_says_where_it_broke() {
        let record = read("---\nname: a\ndescription: Use when: asked\n---\nbody\n");
        assert_eq!(&*record.description.unwrap().text, "Use when: asked");
        let FrontmatterState::Broken { at, .. } = record.yaml else { panic!("{:?}", record.yaml) };
        assert_eq!(at.line, 3);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_located() {
        let bytes = b"---\nname: a\ndescription: caf\xe9\n---\n";
        let facts = FileFacts { size: bytes.len() as u64, truncated: false, hash: [0; 32] };
        let record = SkillRecord::read(bytes, facts);
        assert_eq!(record.invalid_utf8, Some(LineColumn { line: 3, column: 17 }));
        assert!(record.findings.iter().any(|it| it.diagnostic.code == "yaml/not-utf8"));
    }

    #[test]
    fn switches_are_read_in_all_their_spellings() {
        let record =
            read("---\nname: a\ndisable-model-invocation: yes\nuser-invocable: off\n---\n");
        assert!(record.disable_model_invocation);
        assert!(!record.user_invocable);
    }
}
