//! The characters that Claude Code takes out of texts for its model, and the names it refuses.
//!
//! Measured with 2.1.330: terminal sequences disappear, each run of invisible characters becomes a
//! space, and `<` and `>` are escaped. Emoji and joined letters keep the invisible characters that
//! they consist of.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;
use std::sync::LazyLock;

use regex::Regex;

/// The maximum length of a name, and of a label beside it, in UTF-16 units.
const LONGEST_NAME: usize = 256;

/// The signs that join the consonants around them; a joiner after one is visible in its effect.
const VIRAMAS: &str = "\u{94D}\u{9CD}\u{A4D}\u{ACD}\u{B4D}\u{BCD}\u{C4D}\u{CCD}\u{D4D}\u{DCA}\u{E3A}\u{F84}\u{1039}\u{103A}\u{17D2}\u{1B44}\u{1BAB}\u{A806}\u{A8C4}\u{A953}\u{A9C0}\u{AAF6}\u{ABED}";

const JOINER: &str = "\u{200D}";
const NON_JOINER: &str = "\u{200C}";

/// Emoji sequences, or a run of invisible characters in the group `hidden`.
static HIDDEN: LazyLock<Regex> = LazyLock::new(|| {
    let one = r"(?:\p{Emoji_Modifier_Base}\p{Emoji_Modifier}|\p{Emoji_Presentation}|[\p{Emoji}--[0-9#*\p{Emoji_Presentation}]]\x{FE0F})";
    let flag = r"\x{1F3F4}[\x{E0020}-\x{E007E}]+\x{E007F}";
    let keycap = r"[0-9#*]\x{FE0F}\x{20E3}";
    let hidden = r"(?P<hidden>[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\x{2800}]+)";
    let pattern = format!(r"{keycap}|{flag}|{one}(?:\x{{200D}}{one})*|{hidden}");
    Regex::new(&pattern).expect("the pattern is regular")
});

static JOINED_LETTER: LazyLock<Regex> = LazyLock::new(|| {
    let letters = r"^[[\p{Arabic}\p{Syriac}\p{Nko}\p{Mongolian}]&&\p{L}]$";
    Regex::new(letters).expect("the pattern is regular")
});

static LABEL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[\p{L}\p{M}\p{N}_.:-]+$").expect("the pattern is regular"));

/// Returns a text as the agent's model sees it.
pub fn shown(text: &str) -> String {
    let text = without_sequences(text);
    without_hidden(&text).replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns a text without the white space around it, as JavaScript's `trim` does.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_blank)
}

/// Returns a text without the white space before it, by JavaScript's rules.
pub fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_blank)
}

fn is_blank(letter: char) -> bool {
    (letter.is_whitespace() && letter != '\u{85}') || letter == '\u{FEFF}'
}

/// Returns the first line of a body as a description: without the marks of a heading, and at most
/// 100 UTF-16 units long.
pub fn line_description(line: &str) -> String {
    let line = trim(line);
    let text = line.trim_start_matches('#');
    let is_heading = text.len() < line.len() && text.starts_with(char::is_whitespace);
    let text = if is_heading { trim(text) } else { line };
    let units: Vec<u16> = text.encode_utf16().collect();
    if units.len() <= 100 {
        return text.to_owned();
    }
    // The agent shows half a character as a space.
    let kept = char::decode_utf16(units.into_iter().take(97)).map(|it| it.unwrap_or(' '));
    kept.chain("...".chars()).collect()
}

/// Returns whether the agent offers a skill of this name, or loads one by such a `name` field.
pub fn is_name(name: &str) -> bool {
    let is_blank = |it: Option<char>| it.is_none_or(char::is_whitespace);
    let mut before = None;
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        let is_allowed = match letter {
            // Both stand alone between words.
            ' ' | ':' => !is_blank(before) && !is_blank(next),
            '<' | '>' => false,
            other => !other.is_whitespace(),
        };
        if !is_allowed {
            return false;
        }
        before = Some(letter);
    }
    let is_short = name.encode_utf16().count() <= LONGEST_NAME;
    is_short && !name.is_empty() && without_sequences(name) == without_hidden(name)
}

/// Returns whether the agent shows a skill's `name` field beside its name.
pub fn is_label(text: &str) -> bool {
    LABEL.is_match(text) && is_name(text)
}

fn without_hidden(text: &str) -> Cow<'_, str> {
    if text.is_ascii() && !text.bytes().any(|it| it.is_ascii_control()) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    for found in HIDDEN.captures_iter(text) {
        let Some(hidden) = found.name("hidden") else { continue };
        if !is_joining(&text[..hidden.start()], hidden.as_str(), &text[hidden.end()..]) {
            shown.push_str(&text[at..hidden.start()]);
            shown.push(' ');
            at = hidden.end();
        }
    }
    shown.push_str(&text[at..]);
    shown.into()
}

/// Returns whether an invisible character changes how the letters around it are written.
fn is_joining(before: &str, hidden: &str, after: &str) -> bool {
    let is_joined =
        |it: Option<char>| it.is_some_and(|it| JOINED_LETTER.is_match(it.encode_utf8(&mut [0; 4])));
    let last = before.chars().next_back();
    let is_after_virama = last.is_some_and(|it| VIRAMAS.contains(it));
    match hidden {
        JOINER => is_after_virama,
        NON_JOINER => is_after_virama || (is_joined(last) && is_joined(after.chars().next())),
        _ => false,
    }
}

/// Removes terminal control sequences.
fn without_sequences(text: &str) -> Cow<'_, str> {
    let is_start =
        |it: char| matches!(it, '\u{1B}' | '\u{90}' | '\u{98}' | '\u{9B}' | '\u{9D}'..='\u{9F}');
    if !text.contains(is_start) {
        return text.into();
    }
    let mut kept = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1B}' => skip_escape(&mut letters),
            '\u{9B}' => skip_control(&mut letters),
            '\u{9D}' => skip_string(&mut letters, true),
            _ if is_start(letter) => skip_string(&mut letters, false),
            _ => kept.push(letter),
        }
    }
    kept.into()
}

/// Skips what follows an escape character.
fn skip_escape(letters: &mut Peekable<Chars<'_>>) {
    match letters.peek() {
        Some('[') => {
            letters.next();
            skip_control(letters);
        }
        Some(kind @ (']' | 'P' | 'X' | '^' | '_')) => {
            let is_command = *kind == ']';
            letters.next();
            skip_string(letters, is_command);
        }
        _ => {
            while letters.next_if(|it| matches!(it, ' '..='/')).is_some() {}
            letters.next_if(|it| matches!(it, '0'..='~'));
        }
    }
}

/// Skips parameters up to the final character of a control sequence.
fn skip_control(letters: &mut Peekable<Chars<'_>>) {
    while letters.next_if(|it| matches!(it, ' '..='?')).is_some() {}
    letters.next_if(|it| matches!(it, '@'..='~'));
}

/// Skips a string up to its terminator; a command may also end with a bell.
fn skip_string(letters: &mut Peekable<Chars<'_>>, is_command: bool) {
    while let Some(letter) = letters.next() {
        let is_end = match letter {
            '\u{9C}' => true,
            '\u{7}' => is_command,
            '\u{1B}' => letters.next_if_eq(&'\\').is_some(),
            _ => false,
        };
        if is_end {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts as 2.1.330 listed them.
    #[test]
    fn texts_are_shown_as_measured() {
        for (text, expected) in [
            ("a   b", "a   b"),
            ("a\tb\r\nc", "a b c"),
            ("a \n b", "a   b"),
            ("a\n\n- b: c", "a - b: c"),
            ("a\u{A0}b\u{3000}", "a\u{A0}b\u{3000}"),
            ("a\u{200B}b\u{2800}c\u{3164}d", "a b c d"),
            ("a&b &lt; <x>", "a&b &lt; &lt;x&gt;"),
            ("\u{1B}[31mred\u{1B}[0m x", "red x"),
            ("a\u{1B}]8;;http://x\u{7}link\u{1B}]8;;\u{7}b", "alinkb"),
            ("a\u{1B}[1;2", "a"),
            ("a\u{9B}31mb\u{8F}c", "ab c"),
            ("a\u{1B}(Bc\u{1B}", "ac"),
            ("a\u{1B}Xxx\u{7}b", "a"),
            ("a\u{90}abc\u{9C}d", "ad"),
            ("❤\u{FE0F} ❤\u{FE0E}", "❤\u{FE0F} ❤ "),
            ("1\u{FE0F}\u{20E3} 1\u{FE0F}", "1\u{FE0F}\u{20E3} 1 "),
            ("👩\u{200D}👧 👩\u{200D}a", "👩\u{200D}👧 👩 a"),
            ("👩🏽\u{200D}🚒🏳\u{FE0F}\u{200D}🌈", "👩🏽\u{200D}🚒🏳\u{FE0F}\u{200D}🌈"),
            ("→\u{FE0F}👩\u{FE0F}", "→ 👩 "),
            ("क\u{94D}\u{200D}ष न\u{200D}म", "क\u{94D}\u{200D}ष न म"),
            ("ل\u{200C}ا a\u{200C}b א\u{200F}ב", "ل\u{200C}ا a b א ב"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn names_are_refused_as_measured() {
        for name in
            ["a:b", "a::b", "a b", "a\\b", "e\u{301}", "(x)", "❤\u{FE0F}", "-", "a.", "x:😀"]
        {
            assert!(is_name(name), "{name:?}");
        }
        let refused = [
            "a<b", "a>", "a\tb", "a\u{200B}b", "x: y", "x:", "x :y", ":x", " a", "a ", "a  b", "",
            "a\u{A0}b", "a\u{2003}b", "\u{2800}x", "a\u{FE0F}b", "::",
        ];
        for name in refused {
            assert!(!is_name(name), "{name:?}");
        }
        assert!(is_name(&"漢".repeat(256)) && !is_name(&"a".repeat(257)));
    }

    #[test]
    fn first_lines_are_described_as_measured() {
        for (line, expected) in [
            ("## A b", "A b"),
            ("#A", "#A"),
            ("# ", "#"),
            (" #\tA # ", "A #"),
            ("* item", "* item"),
        ] {
            assert_eq!(line_description(line), expected);
        }
        assert_eq!(line_description(&"x".repeat(101)), format!("{}...", "x".repeat(97)));
        assert_eq!(line_description(&"😀".repeat(80)), format!("{} ...", "😀".repeat(48)));
        assert_eq!(line_description(&"é".repeat(100)), "é".repeat(100));
    }

    #[test]
    fn labels_have_letters_digits_and_few_signs() {
        for label in ["Label", "é", "x:y", "x_y.z-1", "日本", "-a", "a..b"] {
            assert!(is_label(label), "{label:?}");
        }
        for label in ["a b", "a/b", "🙂", "<b>", "q'q", "a@b", "", "$a"] {
            assert!(!is_label(label), "{label:?}");
        }
    }
}
