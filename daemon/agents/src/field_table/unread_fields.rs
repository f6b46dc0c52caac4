//! Fields that many files have and no agent reads: they belong under `metadata`.

use super::citations::CORPUS;
use super::{Citation, Field, FieldStatus, METADATA, Safety, Shape};

static SOURCES: [&Citation; 1] = [&CORPUS];

/// A field that nobody reads. It does nothing, and still asks: only what is known to be
/// harmless to an agent is safe.
const fn inert(
    key: &'static str,
    summary: &'static str,
    example: &'static [&'static str],
) -> Field {
    Field {
        key,
        shape: Shape::Any,
        summary,
        details: "",
        default: None,
        values: &[],
        keys: &[],
        readers: &[],
        safety: Safety::Asks,
        misspellings: &[],
        standing: FieldStatus::Unread { belongs_under: METADATA.key },
        examples: example,
        sources: &SOURCES,
    }
}

pub(super) static VERSION: Field = inert("version", "The skill's version.", &["\"1.0\""]);
pub(super) static AUTHOR: Field = inert("author", "Who wrote the skill.", &["example-org"]);
pub(super) static TAGS: Field =
    inert("tags", "Words to find the skill by, for people.", &["[pdf, forms]"]);
pub(super) static KEYWORDS: Field =
    inert("keywords", "Words to find the skill by, for people.", &["[pdf, forms]"]);
pub(super) static CATEGORY: Field =
    inert("category", "What kind of skill it is, for people.", &["documents"]);
pub(super) static HOMEPAGE: Field =
    inert("homepage", "Where to read more about the skill.", &["https://example.org/pdf"]);
pub(super) static SOURCE: Field =
    inert("source", "Where the skill was taken from.", &["https://example.org/skills"]);
