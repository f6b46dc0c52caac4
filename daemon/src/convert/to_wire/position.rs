//! Conversion of byte offsets to positions on the wire.

use skills_agents::skill::SkillRecord;
use skills_protocol::wire;
use skills_syntax::text::{LineIndex, Span};

pub(crate) struct PositionConverter<'a> {
    pub(crate) head: &'a str,
    pub(crate) index: LineIndex,
    /// Number of bytes in the file before the head.
    pub(crate) before: u64,
}

impl<'a> PositionConverter<'a> {
    pub(crate) fn new(record: &'a SkillRecord) -> Self {
        Self {
            head: &record.head,
            index: LineIndex::new(&record.head),
            before: bytes_before_head(record),
        }
    }

    pub(crate) fn range(&self, span: Span) -> wire::Range {
        wire::Range { start: self.position(span.start), end: self.position(span.end) }
    }

    fn position(&self, offset: usize) -> wire::Position {
        let (line, column) = self.index.display(self.head, offset);
        wire::Position { line, column, offset: self.before + offset as u64 }
    }
}

/// Offsets in a file include the byte order mark; a record's text does not.
pub(super) fn bytes_before_head(record: &SkillRecord) -> u64 {
    if record.bom { '\u{FEFF}'.len_utf8() as u64 } else { 0 }
}
