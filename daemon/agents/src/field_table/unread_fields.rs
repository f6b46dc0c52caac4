//! Fields that many files have and no agent reads. They belong under `metadata`.

use super::citations::CORPUS;
use super::{Citation, Field, FieldStatus, METADATA, Safety, Shape};

static SOURCES: [&Citation; 1] = [&CORPUS];

/// Creates an unread field. Its presence still requires approval: only fields known to be harmless
/// to an agent are safe.
const fn unread(
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

pub(super) static VERSION: Field = unread("version", "The skill's version.", &["\"1.0\""]);
pub(super) static AUTHOR: Field = unread("author", "Who wrote the skill.", &["example-org"]);
pub(super) static TAGS: Field =
    unread("tags", "Words to find the skill by, for people.", &["[pdf, forms]"]);
pub(super) static KEYWORDS: Field =
    unread("keywords", "Words to find the skill by, for people.", &["[pdf, forms]"]);
pub(super) static CATEGORY: Field =
    unread("category", "What kind of skill it is, for people.", &["documents"]);
pub(super) static HOMEPAGE: Field =
    unread("homepage", "Where to read more about the skill.", &["https://example.org/pdf"]);
pub(super) static SOURCE: Field =
    unread("source", "Where the skill was taken from.", &["https://example.org/skills"]);
