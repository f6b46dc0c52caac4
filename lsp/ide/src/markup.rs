//! Texts of skills inside Markdown, escaped so that an editor shows them as they are written.

use std::fmt::Write as _;

use skills_syntax::invisible_chars;

/// Returns a text as one line of Markdown without links, images, HTML and headings.
///
/// Invisible and control characters are shown by their code points. Only characters that could have
/// a meaning are escaped, because some editors show the source.
pub fn escape(text: &str) -> String {
    let text = text.trim();
    let mut hidden = invisible_chars::runs(text).into_iter().peekable();
    let mut shown = String::with_capacity(text.len());
    let mut before = ' ';
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let after = letters.peek().map_or(' ', |it| it.1);
        let is_markup = match letter {
            '\\' | '`' | '*' | '[' | ']' | '<' | '&' | '~' | '|' => true,
            '_' => !before.is_alphanumeric() || !after.is_alphanumeric(),
            // The beginning of a heading, a quotation, a list or a rule.
            '#' | '>' | '-' | '+' | '=' => at == 0,
            _ => false,
        };
        while hidden.next_if(|it| it.bytes.end <= at).is_some() {}
        if hidden.peek().is_some_and(|it| it.bytes.start <= at) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "(U+{:04X})", u32::from(letter));
        } else if letter.is_whitespace() {
            if !before.is_whitespace() {
                shown.push(' ');
            }
        } else {
            if is_markup {
                shown.push('\\');
            }
            shown.push(letter);
        }
        before = letter;
    }
    shown
}

/// Returns a text as inline code, whatever backticks it contains.
pub fn inline_code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text) + 1);
    let text = text.replace(['\n', '\r'], " ");
    // A space separates the text's own backtick from the fence, and is not shown.
    let gap = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{gap}{text}{gap}{fence}")
}

/// Returns a text as a code block, whatever fences it contains.
pub fn code_block(text: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    format!("{fence}text\n{text}\n{fence}\n")
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|it| it != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_of_a_description_is_escaped() {
        let check = |text: &str, expected: &str| assert_eq!(escape(text), expected, "{text:?}");
        check("Reads PDF files, e.g. a_b-c (1.5) #3.", "Reads PDF files, e.g. a_b-c (1.5) #3.");
        check("![t](https://e.example/t.png)", "!\\[t\\](https://e.example/t.png)");
        check("a\n\n# H\n\n- active: codex\n```x", "a # H - active: codex \\`\\`\\`x");
        check("# H", "\\# H");
        check("<img src=x> &lt; *b* _i_", "\\<img src=x> \\&lt; \\*b\\* \\_i\\_");
        check("a\u{202E}b\u{1B}[31m", "a(U+202E)b(U+001B)\\[31m");
        check("  é\t日本  ", "é 日本");
    }

    #[test]
    fn code_contains_any_backticks() {
        assert_eq!(inline_code("a.md"), "`a.md`");
        assert_eq!(inline_code("a`b"), "``a`b``");
        assert_eq!(inline_code("``"), "``` `` ```");
        assert_eq!(code_block("a\n```\nb"), "````text\na\n```\nb\n````\n");
    }
}
