//! YAML events into the spanned tree: the only file that knows the YAML library.
//!
//! It reads one piece of the text, strictly, and translates what the library says into calls of
//! the [`Builder`] and errors of our own. Another library could be put behind it.

use granit_parser::{
    ErrorKind, Event, Options, Parser, ScalarStyle as Style, Span as Mark, StructureStyle, options,
};

use crate::parse::builder::{Builder, Collection, MAX_DEPTH, Scalar};
use crate::parse::error::{YamlError, YamlErrorKind};
use crate::parse::notes::Notes;
use crate::parse::piece::Piece;
use crate::parse::tree::{ScalarStyle, Value};
use crate::text::Span;

/// Reads the piece of `text` at `span` as one YAML document; nothing when it is empty.
///
/// On an error `notes` is as it was before.
pub(super) fn read(text: &str, span: Span, notes: &mut Notes) -> Result<Option<Value>, YamlError> {
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
            notes.go_back(savepoint);
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
        // The size of the input bounds it already.
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
        Event::UnresolvedAlias(name) => builder.unresolved(&name, span),
        Event::Scalar(text, style, _, tag) => {
            let custom = tag.is_some_and(|tag| !tag.is_yaml_core_schema());
            let tag = mark.tag_span().filter(|_| custom).map(|tag| locate(&tag, piece));
            builder.scalar(Scalar { text, style: style_of(style), span, tag });
        }
        Event::SequenceStart(style, ..) => {
            builder.open(Collection::Sequence, style == StructureStyle::Flow, span)?;
        }
        Event::MappingStart(style, ..) => {
            builder.open(Collection::Mapping, style == StructureStyle::Flow, span)?;
        }
        Event::SequenceEnd | Event::MappingEnd => builder.close(span),
        // The other events around documents; the library may grow more, of the same sort.
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

/// Translates the library's error; `found` is the character it is at.
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
mod tests {
    use crate::parse::render::check_yaml as check;
    use expect_test::expect;

    #[test]
    fn scalars_are_text_whatever_they_look_like() {
        check(
            "a: yes\nb: 1.0\nc: 2026-04-27\nd: 01789692905\ne: n\nf: 0x79\n",
            expect![[r#"
            a = "yes"
            b = "1.0"
            c = "2026-04-27"
            d = "01789692905"
            e = "n"
            f = "0x79"
        "#]],
        );
    }

    #[test]
    fn nulls_are_where_a_value_would_be() {
        check(
            "a:\nb: ~\nc: null\nd: Null # x\ne:   \nf: ''\ng: nul\n",
            expect![[r##"
            a = null ""
            b = null "~"
            c = null "null"
            d = null "Null"
            e = null ""
            f = single ""
            g = "nul"
            comment 5:9 "# x"
        "##]],
        );
    }

    #[test]
    fn every_style_is_kept() {
        check(
            "a: 'it''s'\nb: \"x\\ty\"\nc: |\n  one\n  two\n\nd: >-\n  one\n  two\ne: |+\n  x\n\n",
            expect![[r#"
            a = single "it's" from "'it''s'"
            b = double "x\ty" from "\"x\\ty\""
            c = literal "one\ntwo\n" from "|\n  one\n  two"
            d = folded "one two" from ">-\n  one\n  two"
            e = literal "x\n\n" from "|+\n  x"
        "#]],
        );
    }

    #[test]
    fn the_header_of_a_block_is_in_its_span() {
        check(
            "a: # note > x\n  |  # c\n  text\nb:\n- |-\n  x\n- - >\n    y\n",
            expect![[r##"
            a = literal "text\n" from "|  # c\n  text"
            b = list
              - literal "x" from "|-\n  x"
              - list
                - folded "y\n" from ">\n    y"
            comment 2:4 "# note > x"
            comment 3:6 "# c"
        "##]],
        );
        check(
            "a: &x !t |\n  text\nb: >\nc: d\n",
            expect![[r#"
            a = literal "text\n" from "|\n  text"
            b = folded "" from ">"
            c = "d"
            anchor x = 2:10 "|\n  text"
            Warning yaml/unquoted-start 2:4 "&": `&` starts the name of an anchor here, not text
        "#]],
        );
    }

    #[test]
    fn lines_are_folded() {
        check(
            "a: one\n  two\n\n  three\nb: \"x\n  y\"\nc:\n  - long\n    item\n",
            expect![[r#"
            a = "one two\nthree" from "one\n  two\n\n  three"
            b = double "x y" from "\"x\n  y\""
            c = list
              - "long item" from "long\n    item"
        "#]],
        );
    }

    #[test]
    fn lists_and_mappings_nest() {
        check(
            "a:\n- x\n-\n- - y\n  - z\nb:\n  c:\n    d: [e, {f: g}, h: i]\n  j: {k, l: }\n",
            expect![[r#"
            a = list
              - "x"
              - null ""
              - list
                - "y"
                - "z"
            b = mapping
              c = mapping
                d = [e, {f: g}, h: i]
                  - "e"
                  - {f: g}
                    f = "g"
                  - h: i
                    h = "i"
              j = {k, l: }
                k = null ""
                l = null ""
        "#]],
        );
    }

    #[test]
    fn a_flow_list_may_hold_bare_pairs() {
        check(
            "a: [b: c, \"d\": e]\n",
            expect![[r#"
            a = [b: c, "d": e]
              - b: c
                b = "c"
              - "d": e
                d from "\"d\"" = "e"
        "#]],
        );
    }

    #[test]
    fn a_json_frontmatter_is_a_mapping() {
        check(
            "{\"name\": \"a\", \"tags\": [\"b\"]}\n",
            expect![[r#"
            name from "\"name\"" = double "a"
            tags from "\"tags\"" = ["b"]
              - double "b"
        "#]],
        );
    }

    #[test]
    fn surrogate_pairs_are_one_character() {
        check(
            "m: {\"e\":\"\\ud83d\\udc26\"}\n",
            expect![[r#"
            m = {"e":"\ud83d\udc26"}
              e from "\"e\"" = double "🐦" from "\"\\ud83d\\udc26\""
        "#]],
        );
    }

    #[test]
    fn tags_are_text_unless_they_are_of_the_core() {
        check(
            "a: !important use it\nb: !!str 5\nc: !x\nd: !<y> [z]\n",
            expect![[r#"
            a = "!important use it"
            b = "5"
            c = "!x"
            d = [z]
              - "z"
            Warning yaml/unquoted-start 2:4 "!": `!` starts a tag here, not text
            Warning yaml/unquoted-start 4:4 "!": `!` starts a tag here, not text
        "#]],
        );
    }

    #[test]
    fn aliases_are_recorded_and_not_expanded() {
        check(
            "a: &x [b]\nc: *x\nd: &y\n  e: *x\nf: &z g\n<<: *y\n",
            expect![[r#"
            a = [b]
              - "b"
            c = *x -> Some("&x")
            d = mapping
              e = *x -> Some("&x")
            f = "g"
            << = *y -> Some("&y")
            anchor x = 2:7 "[b]"
            anchor y = 5:3 "e: *x"
            anchor z = 6:7 "g"
            Warning yaml/unquoted-start 6:4 "&": `&` starts the name of an anchor here, not text
        "#]],
        );
        check(
            "a: &x\n  b: *x\n",
            expect![[r#"
            a = mapping
              b = *x -> Some("&x")
            anchor x = 3:3 "b: *x"
            Error yaml/recursive-alias 3:6 "*x": the alias stands for a value that it is part of
        "#]],
        );
        check(
            "a: &x 1\nb: &x 2\nc: *x\n",
            expect![[r#"
            a = "1"
            b = "2"
            c = *x -> Some("&x")
            anchor x = 2:7 "1"
            anchor x = 3:7 "2"
        "#]],
        );
    }

    #[test]
    fn an_alias_without_an_anchor_is_text() {
        check(
            "paths:\n  - **/*.rs\n  - ok\n",
            expect![[r#"
            paths ~ list
              - "**/*.rs"
              - "ok"
            not YAML 3:5 "**/*.rs": `*` refers to a name that no `&` defines
            Error yaml/unquoted-start 3:5 "*": `*` starts the name of an alias here, not text
        "#]],
        );
    }

    #[test]
    fn keys_may_be_anything() {
        check(
            "2024: a\n'on': b\n\"x y\": c\nDisplay Name: d\nふ: e\n[l]: f\n",
            expect![[r#"
            2024 = "a"
            on from "'on'" = "b"
            x y from "\"x y\"" = "c"
            Display Name = "d"
            ふ = "e"
            [l] = "f"
        "#]],
        );
    }

    #[test]
    fn tabs_after_a_colon_are_fine() {
        check(
            "a:\tb\nc: \t d\n",
            expect![[r#"
            a = "b"
            c = "d"
        "#]],
        );
    }

    #[test]
    fn a_closing_bracket_need_not_be_indented() {
        check(
            "a: [\n  b\n]\nc: {\n  d: e\n}\n",
            expect![[r#"
            a = [
              b
            ]
              - "b"
            c = {
              d: e
            }
              d = "e"
        "#]],
        );
    }

    #[test]
    fn all_keys_may_be_indented_alike() {
        check(
            " name: a\n description: b\n",
            expect![[r#"
            name = "a"
            description = "b"
        "#]],
        );
    }

    #[test]
    fn what_is_no_mapping_is_said_to_be_none() {
        check(
            "just text\n",
            expect![[r#"
            Error yaml/not-a-mapping 2:1 "just text": the frontmatter holds no `key: value` lines
        "#]],
        );
        check(
            "- a\n- b\n",
            expect![[r#"
            Error yaml/not-a-mapping 2:1 "- a\n- b": the frontmatter holds no `key: value` lines
        "#]],
        );
        check(
            "descr\n",
            expect![[r#"
            Error yaml/not-a-mapping 2:1 "descr": the frontmatter holds no `key: value` lines
        "#]],
        );
    }

    #[test]
    fn depth_is_bounded() {
        let deep = |levels: usize| {
            format!("---\na: {}{}\nb: c\n---\n", "[".repeat(levels), "]".repeat(levels))
        };
        assert!(crate::parse::parse(&deep(crate::parse::MAX_DEPTH - 1)).diagnostics.is_empty());
        let document = crate::parse::parse(&deep(crate::parse::MAX_DEPTH));
        assert_eq!(document.diagnostics.len(), 1);
        assert_eq!(document.diagnostics[0].code, "yaml/too-deep");
        assert_eq!(document.frontmatter.unwrap().get("b").unwrap().value.as_str(), Some("c"));
    }

    #[test]
    fn directives_and_further_documents_are_refused() {
        check(
            "%YAML 1.2\na: b\n",
            expect![[r#"
            a = "b"
            not YAML 2:1 "%": a `%` directive
            Error yaml/syntax 2:1 "%YAML 1.2": neither a key nor part of a value
        "#]],
        );
        check(
            "a: b\n--- !x\nc: d\n",
            expect![[r#"
            a = "b"
            c = "d"
            not YAML 3:1 "---": a second YAML document
            Error yaml/syntax 3:1 "--- !x": neither a key nor part of a value
        "#]],
        );
    }
}
