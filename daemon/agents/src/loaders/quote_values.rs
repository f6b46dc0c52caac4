//! The `quote` strategy: quotes problematic one-line values, then parses the block again.
//!
//! The criteria differ. Claude Code quotes every value with a special character, including valid
//! lists and block headers. Codex quotes values that contain `: ` or start like a list, a map, `@`
//! or a backtick without being valid YAML. The open standard's client guide recommends quoting only
//! values that YAML would misread. OpenClaw does so for `description` alone.

use skills_syntax::edit::{Edit, apply};
use skills_syntax::text::Span;

use super::dialect::parse_strict;
use crate::fence::line_spans;
use crate::profile::Quoting;
use crate::yaml_library::YamlLibrary;

/// Quotes the values that `quoting` considers problematic. Returns `None` if there are none.
pub fn quote_values(content: &str, quoting: Quoting) -> Option<String> {
    let edits = quoting_edits(content, quoting);
    (!edits.is_empty()).then(|| apply(content, &edits))
}

/// Returns the edits of [`quote_values`], in text order.
pub(super) fn quoting_edits(content: &str, quoting: Quoting) -> Vec<Edit> {
    match quoting {
        Quoting::ClaudeCode => {
            top_level(content, |_, value| value.contains(": ") || value.contains(SPECIAL))
        }
        Quoting::ClientGuide => {
            top_level(content, |_, value| !is_valid_yaml_value(value, YamlLibrary::Ours))
        }
        Quoting::Description => top_level(content, |key, value| {
            key == "description" && !is_valid_yaml_value(value, YamlLibrary::NpmYaml)
        }),
        Quoting::Codex => codex(content),
    }
}

/// Characters for which Claude Code quotes a value.
const SPECIAL: [char; 13] = ['{', '}', '[', ']', '*', '&', '#', '!', '|', '>', '%', '@', '`'];

/// Quotes the values of lines `key: value` at column 0 that `wanted` accepts.
fn top_level(content: &str, wanted: impl Fn(&str, &str) -> bool) -> Vec<Edit> {
    let changes = line_spans(content).filter_map(|line| {
        let text = line.slice(content);
        let key = text.find(|it: char| !it.is_ascii_alphabetic() && it != '_' && it != '-')?;
        let (key, after) = text.split_at(key);
        let after = after.strip_prefix(':').filter(|_| !key.is_empty())?;
        let value = after.trim_start();
        if value.is_empty() || value.len() == after.len() || is_quoted(value) || !wanted(key, value)
        {
            return None;
        }
        let span = Span::new(line.end - value.len(), line.end);
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
        Some(Edit { span, text: format!("\"{escaped}\"") })
    });
    changes.collect()
}

/// Returns whether a value starts and ends with the same quote.
fn is_quoted(value: &str) -> bool {
    ['"', '\''].iter().any(|quote| value.starts_with(*quote) && value.ends_with(*quote))
}

/// Returns whether a value after a key is valid YAML without quotes.
fn is_valid_yaml_value(value: &str, library: YamlLibrary) -> bool {
    parse_strict(&format!("k: {value}\n"), library).is_ok_and(|it| it.len() == 1)
}

fn codex(content: &str) -> Vec<Edit> {
    let mut changes = Vec::new();
    // Indentation of the block header; lines of the block are deeper.
    let mut block: Option<usize> = None;
    for line in line_spans(content) {
        let text = line.slice(content);
        let indent = text.bytes().take_while(|it| *it == b' ').count();
        if let Some(header) = block {
            if text.trim().is_empty() || indent > header {
                continue;
            }
            block = None;
        }
        let Some((key, after)) = text.split_once(':') else { continue };
        if key.trim().is_empty() || !after.starts_with(char::is_whitespace) {
            continue;
        }
        let value = without_comment(after.trim_start());
        match value.chars().next() {
            None | Some('\'' | '"') => {}
            Some('|' | '>') => block = Some(indent),
            Some(first) => {
                let like_flow = matches!(first, '[' | '{' | '@' | '`');
                if has_colon(value)
                    || (like_flow && !is_valid_yaml_value(value, YamlLibrary::NpmYaml))
                {
                    let start = line.end - after.trim_start().len();
                    let text = format!("'{}'", value.replace('\'', "''"));
                    changes.push(Edit { span: Span::new(start, start + value.len()), text });
                }
            }
        }
    }
    changes
}

/// Returns a value without its comment: a `#` at the start or after white space. Trailing white
/// space is removed.
fn without_comment(value: &str) -> &str {
    let starts = |at: &usize| value[..*at].chars().next_back().is_none_or(char::is_whitespace);
    let comment = value.match_indices('#').map(|(at, _)| at).find(starts);
    value[..comment.unwrap_or(value.len())].trim_end()
}

fn has_colon(value: &str) -> bool {
    value.match_indices(':').any(|(at, _)| value[at + 1..].starts_with(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(quoting: Quoting, content: &str, expected: Option<&str>) {
        assert_eq!(quote_values(content, quoting).as_deref(), expected, "{content:?}");
        for edit in quoting_edits(content, quoting) {
            assert!(!edit.span.slice(content).is_empty());
        }
    }

    #[test]
    fn value_with_colon_is_quoted_by_all_three() {
        let content = "name: a\ndescription: Use when: asked\n";
        for quoting in [Quoting::ClaudeCode, Quoting::ClientGuide] {
            check(quoting, content, Some("name: a\ndescription: \"Use when: asked\"\n"));
        }
        check(Quoting::Codex, content, Some("name: a\ndescription: 'Use when: asked'\n"));
    }

    #[test]
    fn claude_code_quotes_valid_values_too() {
        let content = "a: [x]\nb: |\n  y\nc: plain\nd: \"q: r\"\ne1: x: y\n f: x: y\ng:\n";
        let quoted = "a: \"[x]\"\nb: \"|\"\n  y\nc: plain\nd: \"q: r\"\ne1: x: y\n f: x: y\ng:\n";
        check(Quoting::ClaudeCode, content, Some(quoted));
    }

    #[test]
    fn client_guide_leaves_valid_values_unquoted() {
        check(Quoting::ClientGuide, "a: [x]\nb: |\n  y\nc: \"q: r\"\nd: x # y\n", None);
        let content = "a: [x] y\nb: @x\nc: **x**\nd: \"x\" y\ne: {a\nf: - x\ng: %x\n";
        let quoted = concat!(
            "a: \"[x] y\"\nb: \"@x\"\nc: \"**x**\"\nd: \"\\\"x\\\" y\"\ne: \"{a\"\n",
            "f: \"- x\"\ng: \"%x\"\n"
        );
        check(Quoting::ClientGuide, content, Some(quoted));
    }

    #[test]
    fn codex_does_not_quote_percent_or_star() {
        let content = "a: %x\nb: *x\nc: @x\nd: {a\ne: [x]\nf: `x`\ng: \"x\n";
        let quoted = "a: %x\nb: *x\nc: '@x'\nd: '{a'\ne: [x]\nf: '`x`'\ng: \"x\n";
        check(Quoting::Codex, content, Some(quoted));
    }

    #[test]
    fn codex_quotes_nested_lines_and_skips_blocks_and_comments() {
        let content = "m:\n  a: it's: b # c: d\nb: |\n  x: y: z\nc: >-\n\n  x: y: z\nd: e:f\n";
        let quoted = "m:\n  a: 'it''s: b' # c: d\nb: |\n  x: y: z\nc: >-\n\n  x: y: z\nd: e:f\n";
        check(Quoting::Codex, content, Some(quoted));
    }

    #[test]
    fn crlf_line_ends_are_preserved() {
        check(Quoting::ClaudeCode, "a: b: c\r\nd: e\r\n", Some("a: \"b: c\"\r\nd: e\r\n"));
        check(Quoting::Codex, "a: b: c\r\n", Some("a: 'b: c'\r\n"));
    }
}
