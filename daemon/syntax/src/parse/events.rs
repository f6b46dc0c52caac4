//! Converts the YAML library's events into the spanned tree. Only this file uses the library.
//!
//! It reads one piece of text strictly, and maps events to [`Builder`] calls and errors to
//! [`YamlError`], so that the library can be replaced.

use granit_parser::{
    ErrorKind, Event, Options, Parser, ScalarStyle as Style, Span as Mark, StructureStyle, options,
};

use crate::parse::annotations::Annotations;
use crate::parse::builder::{Builder, Collection, MAX_DEPTH, Scalar};
use crate::parse::error::{YamlError, YamlErrorKind};
use crate::parse::piece::Piece;
use crate::parse::tree::{ScalarStyle, Value};
use crate::text::Span;

/// Reads the piece of `text` at `span` as one YAML document; `None` if it is empty.
///
/// On an error `notes` is unchanged.
pub(super) fn read(
    text: &str,
    span: Span,
    notes: &mut Annotations,
) -> Result<Option<Value>, YamlError> {
    let savepoint = notes.savepoint();
    let piece = Piece::new(text, span);
    let mut builder = Builder::new(piece, notes);
    for event in Parser::new_from_str_with_options(span.slice(text), library_options()) {
        let outcome = match event {
            Ok((event, mark)) => build(&mut builder, event, &mark, piece),
            Err(error) => {
                let offset = piece.offset(error.marker().byte_offset().unwrap_or_default());
                let found = piece.slice(piece.visible(offset));
                Err(builder.error(kind_of(error.kind(), found), offset))
            }
        };
        if let Err(error) = outcome {
            notes.roll_back(savepoint);
            return Err(error);
        }
    }
    Ok(builder.finish())
}

fn library_options() -> Options {
    options! {
        disallow_directives: true,
        emit_unresolved_aliases: true,
        emit_anchor_events: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
        // Already bounded by the input size.
        max_buffered_comment_events: usize::MAX,
    }
}

fn build(
    builder: &mut Builder<'_, '_>,
    event: Event<'_>,
    mark: &Mark,
    piece: Piece<'_>,
) -> Result<(), YamlError> {
    let span = locate(mark, piece);
    match event {
        Event::DocumentStart(..) => builder.document(span)?,
        Event::Comment(..) => builder.comment(span),
        Event::Anchor(id, name) => builder.anchor(id, &name, span),
        Event::Alias(id) => builder.alias(id, span),
        Event::UnresolvedAlias(name) => builder.unresolved_alias(&name, span),
        Event::Scalar(text, style, _, tag) => {
            let custom = tag.is_some_and(|tag| !tag.is_yaml_core_schema());
            let tag = mark.tag_span().filter(|_| custom).map(|tag| locate(&tag, piece));
            builder.scalar(Scalar { text, style: style_of(style), span, tag });
        }
        Event::SequenceStart(style, ..) => {
            builder.open(Collection::Sequence { flow: style == StructureStyle::Flow }, span)?;
        }
        Event::MappingStart(style, ..) => {
            builder.open(Collection::Mapping { flow: style == StructureStyle::Flow }, span)?;
        }
        Event::SequenceEnd | Event::MappingEnd => builder.close(span),
        // Other document-level events, including those of future library versions.
        _ => {}
    }
    Ok(())
}

fn locate(mark: &Mark, piece: Piece<'_>) -> Span {
    let range = mark.byte_range().unwrap_or_default();
    Span::new(piece.start() + range.start, piece.start() + range.end)
}

fn style_of(style: Style) -> ScalarStyle {
    match style {
        Style::Plain => ScalarStyle::Plain,
        Style::SingleQuoted => ScalarStyle::SingleQuoted,
        Style::DoubleQuoted => ScalarStyle::DoubleQuoted,
        Style::Literal => ScalarStyle::Literal,
        Style::Folded => ScalarStyle::Folded,
    }
}

/// Maps the library's error kind; `found` is the character at the error.
fn kind_of(kind: &ErrorKind, found: &str) -> YamlErrorKind {
    use YamlErrorKind as Ours;
    match kind {
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => Ours::UnquotedColon,
        ErrorKind::UnexpectedCharacter { character } if character.is_control() => {
            Ours::ControlCharacter(*character)
        }
        ErrorKind::UnexpectedCharacter { character } => Ours::ReservedStart(*character),
        ErrorKind::UnknownAnchor => Ours::UnknownAlias,
        ErrorKind::MissingAnchorOrAliasName => Ours::MissingAnchorName,
        ErrorKind::UndeclaredTagHandle
        | ErrorKind::ExpectedTagBang
        | ErrorKind::InvalidGlobalTagCharacter
        | ErrorKind::InvalidTagTerminator
        | ErrorKind::MissingTagUri
        | ErrorKind::UnclosedVerbatimTag
        | ErrorKind::InvalidTagEscape
        | ErrorKind::InvalidTagUtf8LeadingByte
        | ErrorKind::InvalidTagUtf8TrailingByte
        | ErrorKind::InvalidTagUtf8 => Ours::BadTag,
        ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => {
            Ours::UnclosedQuote
        }
        ErrorKind::InvalidQuotedScalarIndent => Ours::UnindentedContinuation,
        ErrorKind::InvalidTrailingSingleQuotedScalar
        | ErrorKind::InvalidTrailingDoubleQuotedScalar => Ours::TextAfterQuote,
        ErrorKind::UnknownQuotedScalarEscape
        | ErrorKind::InvalidQuotedScalarHexEscape
        | ErrorKind::InvalidLowSurrogateHexEscape
        | ErrorKind::InvalidLowSurrogate
        | ErrorKind::MissingLowSurrogate
        | ErrorKind::UnpairedLowSurrogate
        | ErrorKind::InvalidUnicodeEscape => Ours::BadEscape,
        ErrorKind::UnclosedFlowCollection { open } => Ours::UnclosedBracket(*open),
        ErrorKind::UnexpectedEofFlowSequence => Ours::UnclosedBracket('['),
        ErrorKind::UnexpectedEofFlowMapping | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            Ours::UnclosedBracket('{')
        }
        ErrorKind::MisplacedFlowCollectionEnd | ErrorKind::MismatchedFlowCollectionEnd { .. } => {
            Ours::StrayBracket
        }
        ErrorKind::ExpectedFlowMappingSeparator
        | ErrorKind::ExpectedFlowSequenceSeparator
        | ErrorKind::BlockEntryInFlowCollection
        | ErrorKind::FlowMappingValueAdjacentCollection => Ours::BracketItem,
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar
        | ErrorKind::InvalidBlockEntryWhitespace
        | ErrorKind::InvalidMappingValueWhitespace => Ours::TabIndentation,
        ErrorKind::InvalidBlockScalarHeader | ErrorKind::ZeroBlockScalarIndent => Ours::BlockHeader,
        ErrorKind::BlockSequenceEntryNotAllowed
        | ErrorKind::PlainScalarStartsWithDashFlowIndicator => Ours::DashOnKeyLine,
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => Ours::MissingColon,
        ErrorKind::InvalidIndentation
        | ErrorKind::InvalidFlowScalarIndent
        | ErrorKind::InvalidBlockScalarIndent
        | ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry => Ours::Indentation,
        ErrorKind::CommentInterceptedScalar | ErrorKind::CommentNotSeparated => Ours::CommentInside,
        ErrorKind::RecursionLimitExceeded => Ours::TooDeep,
        ErrorKind::DirectiveDisallowed => Ours::Directive,
        ErrorKind::BomInsideDocument => Ours::ByteOrderMark,
        _ if found == "," => Ours::ReservedStart(','),
        _ => Ours::Other,
    }
}

#[cfg(test)]
mod tests;
