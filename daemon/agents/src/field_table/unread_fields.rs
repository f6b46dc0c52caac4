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
        safety: Safety::Asks,
        standing: FieldStatus::Unread { belongs_under: METADATA.key },
        examples: example,
        sources: &SOURCES,
        ..Field::USUAL
    }
}

pub(super) static AUTHOR: Field = unread("author", "The skill's author.", &["example-org"]);
pub(super) static TAGS: Field =
    unread("tags", "Words by which people find the skill.", &["[pdf, forms]"]);
pub(super) static KEYWORDS: Field =
    unread("keywords", "Words by which people find the skill.", &["[pdf, forms]"]);
pub(super) static CATEGORY: Field =
    unread("category", "The skill's category, for people.", &["documents"]);
pub(super) static HOMEPAGE: Field =
    unread("homepage", "The address of a page about the skill.", &["https://example.org/pdf"]);
pub(super) static SOURCE: Field =
    unread("source", "The origin of the skill.", &["https://example.org/skills"]);
