//! The `strict` strategy: parses the whole block as the agent's YAML library does.
//!
//! skillsd parses YAML 1.2 with its own parser. Rules in this module, each stated once, cover the
//! input on which another library differs: duplicate keys, tags, escapes, quoted text that
//! continues at column 0, tabs. They were found by comparing all libraries on 36,000 real
//! frontmatters; a corpus test checks them.

use skills_syntax::diagnostic::ProblemCode;
use skills_syntax::edit::Edit;
use skills_syntax::parse::YamlErrorKind;
use skills_syntax::text::Span;

use super::bun;
use super::mapping::{LINE_SEPARATORS, Mapping};
use super::parsed_block::LastBlock;
use crate::fence::line_spans;
use crate::yaml_library::YamlLibrary;

/// The error with which a library refuses a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct YamlRefusal {
    /// The error, as a sentence fragment.
    pub message: String,
    /// The offset in bytes, from the start of the content between the `---` lines.
    pub offset: usize,
}

/// The lines put around the content for parsing.
const OPENING: &str = "---\n";
const CLOSING: &str = "---\n";

/// Spaces inserted before a line that continues at column 0 and has to be deeper than its parent.
const DEEP_INDENT: usize = 64;

/// Limit on the edits in one block that adapt input to our parser.
const MAX_COMPATIBILITY_EDITS: usize = 64;

/// Parses a whole block as `library` does.
pub fn parse_strict(content: &str, library: YamlLibrary) -> Result<Mapping, YamlRefusal> {
    parse_strict_after(&LastBlock::default(), content, library)
}

/// Like [`parse_strict`], but does not parse the text of the last block again.
pub(super) fn parse_strict_after(
    last: &LastBlock,
    content: &str,
    library: YamlLibrary,
) -> Result<Mapping, YamlRefusal> {
    let first = match read(last, content, library) {
        Ok(mapping) => return Ok(mapping),
        Err(refused) => refused,
    };
    // Report the error in the original text, not in an edited one.
    let refusal = YamlRefusal { message: first.message, offset: first.offset };
    let is_stand_in = |it: &str| library == YamlLibrary::Bun && it.contains(bun::is_stand_in);
    let is_ambiguous = is_stand_in(content);
    let mut content = content.to_owned();
    let mut place = first.kind.map(|kind| (kind, first.offset));
    for _ in 0..MAX_COMPATIBILITY_EDITS {
        let Some((kind, offset)) = place else { break };
        let Some(change) = compatibility_edit(&content, library, kind, offset) else { break };
        if is_ambiguous && is_stand_in(&change.text) {
            break;
        }
        content.replace_range(change.span.range(), &change.text);
        match read(last, &content, library) {
            Ok(mapping) => {
                let has_stand_ins = !is_ambiguous && is_stand_in(&content);
                return Ok(Mapping { has_stand_ins, ..mapping });
            }
            Err(refused) => place = refused.kind.map(|kind| (kind, refused.offset)),
        }
    }
    Err(refusal)
}

/// A refusal, with our parser's error kind if our parser refused.
struct ParseFailure {
    kind: Option<YamlErrorKind>,
    message: String,
    offset: usize,
}

impl ParseFailure {
    fn new(message: impl Into<String>, offset: usize) -> Self {
        Self { kind: None, message: message.into(), offset }
    }
}

fn read(last: &LastBlock, content: &str, library: YamlLibrary) -> Result<Mapping, ParseFailure> {
    let newline = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
    let text = format!("{OPENING}{content}{newline}{CLOSING}");
    let offset = |at: usize| at.saturating_sub(OPENING.len()).min(content.len());
    let end = text.len() - CLOSING.len();
    // A mark of a document's end before the first key ends an empty document.
    let first = line_spans(content).find(|it| !is_blank_or_comment(it.slice(content)));
    if let Some(mark) = first.filter(|it| it.slice(content).trim_end() == "...") {
        return Err(ParseFailure::new("a second YAML document", mark.start));
    }
    let block = last.parse(text, Span::new(OPENING.len(), end));
    let document = &block.document;
    let Some(frontmatter) = document.frontmatter.as_ref() else {
        return Err(ParseFailure::new("nothing to read", 0));
    };
    if let Err(error) = &frontmatter.strict {
        return Err(ParseFailure {
            kind: Some(error.kind),
            message: error.message.clone(),
            offset: offset(error.span.start),
        });
    }
    let is_map = document.diagnostics.iter().all(|it| it.code != ProblemCode::NotAMapping);
    if !is_map
        && matches!(
            library,
            YamlLibrary::SerdeYaml
                | YamlLibrary::NpmYamlAsText
                | YamlLibrary::NpmYamlAsJson
                | YamlLibrary::PyYaml
        )
    {
        return Err(ParseFailure::new("it is not a map of keys to values", 0));
    }
    let mapping = Mapping { library, block, is_map, has_stand_ins: false };
    match mapping.library_error() {
        Some((message, span)) => Err(ParseFailure::new(message, offset(span.start))),
        None => Ok(mapping),
    }
}

fn is_blank_or_comment(line: &str) -> bool {
    line.trim_start().is_empty() || line.trim_start().starts_with('#')
}

/// Returns an edit after which our parser reads what `library` reads at `offset`.
fn compatibility_edit(
    content: &str,
    library: YamlLibrary,
    kind: YamlErrorKind,
    offset: usize,
) -> Option<Edit> {
    let line = content[..offset].rfind('\n').map_or(0, |at| at + 1);
    let js = matches!(library, YamlLibrary::JsYaml3 | YamlLibrary::JsYaml4);
    let replace = |start: usize, length: usize, text: &str| {
        Some(Edit { span: Span::new(start, start + length), text: text.to_owned() })
    };
    match kind {
        // libyaml and js-yaml let quoted text continue at column 0. Folding drops the inserted
        // spaces.
        // The error of a quote that is never closed is where it opens.
        YamlErrorKind::UnindentedContinuation
            if (js || library.is_libyaml()) && content[line..offset].trim().is_empty() =>
        {
            replace(line, 0, &" ".repeat(DEEP_INDENT))
        }
        // libyaml and js-yaml let a comment follow the closing quote without a space.
        YamlErrorKind::CommentInside
            if (js || library.is_libyaml())
                && content[offset..].starts_with('#')
                && content[..offset].ends_with(['"', '\'']) =>
        {
            replace(offset, 0, " ")
        }
        // js-yaml 3 ignores tabs in the indentation.
        YamlErrorKind::TabIndentation if library == YamlLibrary::JsYaml3 => {
            let blanks = content[line..].bytes().take_while(|it| matches!(it, b' ' | b'\t'));
            let n_blanks = blanks.count();
            let tab = content[line..line + n_blanks].find('\t')?;
            replace(line + tab, n_blanks - tab, "")
        }
        // In quoted text every library but ours accepts a tab as white space.
        YamlErrorKind::TabIndentation if is_in_quotes(content, line) => {
            replace(line, 0, &" ".repeat(DEEP_INDENT))
        }
        // js-yaml 3 reads `key: [a] other: b` and `key: "a" other: b` as two keys. js-yaml 4 does
        // so after quoted text whose last line is at column 0.
        YamlErrorKind::TextAfterBracket | YamlErrorKind::TextAfterQuote
            if library == YamlLibrary::JsYaml3
                || js && content[line..].starts_with(&" ".repeat(DEEP_INDENT)) =>
        {
            let indent = content[line..].bytes().take_while(|it| *it == b' ').count() % DEEP_INDENT;
            replace(offset, 0, &format!("\n{}", " ".repeat(indent)))
        }
        // These libraries treat a byte order mark inside the text as an ordinary character.
        YamlErrorKind::ByteOrderMark
            if js || library.is_libyaml() || library == YamlLibrary::Bun =>
        {
            let mark = offset + content[offset..].find('\u{FEFF}')?;
            replace(mark, '\u{FEFF}'.len_utf8(), "")
        }
        // libyaml ends the value at a line separator, so that a key may follow it.
        YamlErrorKind::UnquotedColon if library.is_libyaml() => {
            let at = line + content[line..offset].rfind(LINE_SEPARATORS)?;
            replace(at, content[at..].chars().next()?.len_utf8(), "\n")
        }
        YamlErrorKind::ControlCharacter(found)
            if matches!(
                library,
                YamlLibrary::NpmYaml | YamlLibrary::NpmYamlAsText | YamlLibrary::NpmYamlAsJson
            ) =>
        {
            let at = offset + content[offset..].find(found)?;
            replace(at, found.len_utf8(), "\u{FFFD}")
        }
        _ if library == YamlLibrary::Bun => bun::stand_in_edit(content, kind, offset),
        _ => None,
    }
}

/// Returns whether a line is inside a quoted value that starts on the line of a key at column 0.
fn is_in_quotes(content: &str, line: usize) -> bool {
    let before = &content[..line];
    let at_start = |it: &Span| !it.slice(before).starts_with([' ', '\t']) && !it.is_empty();
    let Some(key) = line_spans(before).filter(at_start).last() else { return false };
    let Some((_, value)) = before[key.start..].split_once(": ") else { return false };
    let value = value.trim_start();
    let Some(quote @ ('"' | '\'')) = value.chars().next() else { return false };
    let mut escaped = false;
    let mut open = true;
    for found in value[1..].chars() {
        match found {
            '\\' if quote == '"' && !escaped => {
                escaped = true;
                continue;
            }
            _ if found == quote && !escaped => open = !open,
            _ => {}
        }
        escaped = false;
    }
    open
}
