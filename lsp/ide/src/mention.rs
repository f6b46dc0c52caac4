//! Finds the skill name being typed at the cursor.

use skills_agents::references::is_letter;
use skills_syntax::markdown::Body;
use skills_syntax::parse::Document;
use skills_syntax::text::Span;

use crate::cursor_context::{CursorContext, InsertStyle, context_at};
use crate::patterns::{ToolPattern, pattern};

/// A skill's name that is being typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypedName {
    /// Span of the name.
    pub span: Span,
    /// The text to insert after it: `)` in an unclosed `Skill(`.
    pub close: &'static str,
}

/// Returns the name being typed where a skill may be mentioned: after `/` or `$` in the body
/// outside fences, as an item of `skills:`, or in `Skill(…)` of the body or a list of tools. Takes the
/// parsed body.
pub fn name_at(text: &str, document: &Document, body: &Body, offset: usize) -> Option<TypedName> {
    let offset = text.floor_char_boundary(offset);
    let is_name = |it: char| is_letter(it) || it == ':';
    let start = text[..offset].trim_end_matches(is_name).len();
    let behind = &text[offset..];
    let end = offset + (behind.len() - behind.trim_start_matches(is_name).len());
    let word = TypedName { span: Span::new(start, end), close: "" };
    let is_body = document
        .frontmatter
        .as_ref()
        .is_none_or(|it| it.close.map_or(it.content.end < start, |close| close.end <= start));
    if !is_body {
        return match context_at(text, document, offset) {
            CursorContext::Value { path, style, .. }
                if path == ["skills"] && style != InsertStyle::Outside =>
            {
                Some(word)
            }
            CursorContext::Value { path, word: item, .. } => {
                let ToolPattern { tool, is_closed, .. } = pattern(text, &path, item, offset)?;
                let is_first = start == item.start + tool.len() + 1;
                let close = if is_closed { "" } else { ")" };
                (tool == "Skill" && is_first).then_some(TypedName { close, ..word })
            }
            _ => None,
        };
    }
    if let Some(argument) = call_argument(text, body, "Skill", offset) {
        return Some(argument);
    }
    let before = text[..start].strip_suffix(['/', '$'])?;
    let opens =
        before.chars().next_back().is_none_or(|it| it.is_whitespace() || "`(\"'".contains(it));
    (opens && !is_fenced(body, offset)).then_some(word)
}

/// Returns the name being typed as the first argument of a call in the body, outside of fences:
/// `Skill(name` or `Skill("name`.
pub(super) fn call_argument(
    text: &str,
    body: &Body,
    tool: &str,
    offset: usize,
) -> Option<TypedName> {
    let is_name = |it: char| is_letter(it) || it == ':';
    let start = text[..offset].trim_end_matches(is_name).len();
    let behind = &text[offset..];
    let end = offset + (behind.len() - behind.trim_start_matches(is_name).len());
    let before = &text[..start];
    let call = before.strip_suffix(['"', '\'']).unwrap_or(before);
    let outside = call.strip_suffix('(')?.strip_suffix(tool)?;
    let is_call = !outside.ends_with(|it: char| it.is_alphanumeric() || it == '_');
    let close = match (&before[call.len()..], text[end..].chars().next()) {
        (_, Some(')' | '"' | '\'' | ',')) => "",
        ("\"", _) => "\")",
        ("'", _) => "')",
        _ => ")",
    };
    let typed = TypedName { span: Span::new(start, end), close };
    (is_call && !is_fenced(body, offset)).then_some(typed)
}

/// Returns true if an offset is in the value of `skills:`, a field of agents.
pub fn is_in_skills_list(text: &str, document: &Document, offset: usize) -> bool {
    let offset = text.floor_char_boundary(offset);
    let context = context_at(text, document, offset);
    matches!(context, CursorContext::Value { path, .. } if path == ["skills"])
}

/// Returns whether an offset is in a fenced code block of the body.
pub(super) fn is_fenced(body: &Body, offset: usize) -> bool {
    body.fences.iter().any(|it| it.content.start <= offset && offset <= it.content.end)
}

#[cfg(test)]
mod tests {
    use skills_agents::skill::parse;

    use super::*;

    #[track_caller]
    fn check_typed(text: &str, expected: Option<&str>) {
        check_closed(text, expected.map(|it| (it, "")));
    }

    #[track_caller]
    fn check_closed(text: &str, expected: Option<(&str, &str)>) {
        let offset = text.find("<CURSOR>").unwrap();
        let text = text.replace("<CURSOR>", "");
        let document = parse(&text);
        let body = Body::new(&text, document.body);
        let typed = name_at(&text, &document, &body, offset);
        assert_eq!(typed.map(|it| (it.span.slice(&text), it.close)), expected, "{text:?}");
    }

    #[test]
    fn skill_name_is_found_after_a_slash_or_dollar_and_in_the_skills_list() {
        check_typed("---\nname: a\n---\nUse /<CURSOR>", Some(""));
        check_typed("---\nname: a\n---\nUse `/rel<CURSOR>ease` now", Some("release"));
        check_typed("no frontmatter $pd<CURSOR>", Some("pd"));
        check_typed("---\nskills: [pdf, re<CURSOR>]\n---\n", Some("re"));
        check_typed("---\nskills:\n  - <CURSOR>\n---\n", Some(""));
        check_typed("---\nskills:\n  - a\n  - b<CURSOR>\n---\n", Some("b"));
        check_typed("---\nname: a\n---\nsee src/<CURSOR>", None);
        check_typed("---\nname: a/<CURSOR>\n---\n", None);
        check_typed("---\npaths:\n  - b<CURSOR>\n---\n", None);
        check_typed("---\nallowed-tools: Read, Skill(re<CURSOR>)\n---\n", Some("re"));
        check_typed("---\nallowed-tools: [Skill(re<CURSOR> *), Read]\n---\n", Some("re"));
        check_closed("---\nallowed-tools:\n  - Skill(<CURSOR>\n---\n", Some(("", ")")));
        check_closed("---\nallowed-tools: [Skill(re<CURSOR>, Read]\n---\n", Some(("re", ")")));
        check_closed("---\nallowed-tools: Skill(<CURSOR> Read(x)\n---\n", Some(("", ")")));
        check_typed("---\nallowed-tools: Skill(a re<CURSOR>)\n---\n", None);
        check_typed("---\nallowed-tools: Bash(re<CURSOR>)\n---\n", None);
        check_typed("---\nname: a\n---\nand/<CURSOR>or", None);
        check_typed("---\nname: a\n---\n```sh\nls /<CURSOR>\n```\n", None);
        check_typed("---\nname: a\n---\n```sh\nls\n```\n/<CURSOR>\n", Some(""));
        check_typed("---\nname: a\n---\nCall `Skill(re<CURSOR>)`.\n", Some("re"));
        check_closed("---\nname: a\n---\nCall Skill(<CURSOR>\n", Some(("", ")")));
        check_closed("---\nname: a\n---\nCall `Skill(\"re<CURSOR>`\n", Some(("re", "\")")));
        check_typed("---\nname: a\n---\nCall MySkill(re<CURSOR>)\n", None);
        check_typed("---\nname: a\n---\n```py\nSkill(re<CURSOR>)\n```\n", None);
    }
}
