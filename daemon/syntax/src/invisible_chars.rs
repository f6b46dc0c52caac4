//! Finds characters that are invisible to people but read by models, or that control a terminal.

use std::ops::Range;

/// A run of invisible or control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub bytes: Range<usize>,
    pub first: char,
    /// The number of its characters.
    pub count: usize,
}

/// Returns the runs of invisible and control characters in a text.
///
/// Characters that affect the rendering of their neighbours are excluded: joiners in emoji and in
/// scripts that join letters, variation selectors after an emoji or ideograph, direction marks in a
/// text with right-to-left letters, and zero-width spaces in scripts that write no other ones.
pub fn runs(text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let Some(first) = find_byte(text, 0, may_begin) else { return runs };
    let context = ScriptContext::of(text);
    let (mut before, mut end) = (' ', 0);
    let mut next = Some(first);
    while let Some(start) = next {
        before = text[end..start].chars().next_back().unwrap_or(before);
        let mut letters = text[start..].char_indices().map(|(at, it)| (start + at, it)).peekable();
        let Some((_, letter)) = letters.next() else { break };
        end = start + letter.len_utf8();
        let joins = is_joiner(letter) && parts_a_word(before, &text[start..]);
        let breaks = letter == '\u{200B}' && breaks_words(before, &text[start..]);
        if breaks || !context.is_hidden(before, letter) && !joins {
            before = letter;
            next = find_byte(text, end, may_begin);
            continue;
        }
        let mut run = Run { bytes: start..end, first: letter, count: 1 };
        let is_more = |it: char| if joins { is_joiner(it) } else { context.is_hidden(letter, it) };
        while let Some((at, next)) = letters.next_if(|(_, it)| is_more(*it)) {
            run.bytes.end = at + next.len_utf8();
            run.count += 1;
        }
        end = run.bytes.end;
        next = find_byte(text, end, may_begin);
        if !(before == '\u{1F3F4}' && is_flag(&text[run.bytes.clone()])) {
            runs.push(run);
        }
    }
    runs
}

/// Returns the offset of the first byte at or after `start` that `is_meant` accepts.
fn find_byte(text: &str, start: usize, is_meant: impl Fn(u8) -> bool) -> Option<usize> {
    const BLOCK: usize = 64;
    let bytes = text.as_bytes().get(start..)?;
    if is_meant(*bytes.first()?) {
        return Some(start);
    }
    // Reads all bytes of a block, which is faster than to stop at the first.
    let is_in = |it: &[u8]| it.iter().fold(false, |found, it| found | is_meant(*it));
    let (nth, block) = bytes.chunks(BLOCK).enumerate().find(|(_, it)| is_in(it))?;
    Some(start + nth * BLOCK + block.iter().position(|it| is_meant(*it))?)
}

/// Returns whether a byte can start an invisible or control character.
fn may_begin(byte: u8) -> bool {
    matches!(byte, 0xC2 | 0xCD | 0xD8 | 0xE1 | 0xE2 | 0xE3 | 0xEF | 0xF3)
        || is_ascii_control(char::from(byte))
}

/// Returns whether a character is one of ASCII's control characters, except white space.
fn is_ascii_control(letter: char) -> bool {
    matches!(letter, '\0'..='\u{8}' | '\u{E}'..='\u{1F}' | '\u{7F}')
}

/// The scripts of a text that make some of the characters legitimate.
struct ScriptContext {
    runs_from_right: bool,
    has_braille: bool,
    has_jamo: bool,
}

impl ScriptContext {
    fn of(text: &str) -> Self {
        let mut context = Self { runs_from_right: false, has_braille: false, has_jamo: false };
        let mut end = 0;
        while let Some(start) = find_byte(text, end, |it| !it.is_ascii()) {
            let letters = text[start..].chars().take_while(|it| !it.is_ascii());
            end = start + letters.map(|it| context.note(it)).sum::<usize>();
        }
        context
    }

    /// Notes the letter's script, and returns its length in bytes.
    fn note(&mut self, letter: char) -> usize {
        match letter {
            // The Arabic letter mark is not a letter.
            '\u{61C}' => {}
            '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' => {
                self.runs_from_right = true;
            }
            '\u{2801}'..='\u{28FF}' => self.has_braille = true,
            '\u{1100}'..='\u{115E}' | '\u{1161}'..='\u{11FF}' => self.has_jamo = true,
            _ => {}
        }
        letter.len_utf8()
    }

    fn is_hidden(&self, before: char, letter: char) -> bool {
        match letter {
            '\u{61C}' | '\u{200E}' | '\u{200F}' => !self.runs_from_right,
            '\u{2800}' => !self.has_braille,
            '\u{115F}' | '\u{1160}' => !self.has_jamo,
            '\u{180B}'..='\u{180F}' => !matches!(before, '\u{1820}'..='\u{18AA}'),
            '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' => !varies(before, letter),
            _ => is_always_hidden(letter),
        }
    }
}

fn is_always_hidden(letter: char) -> bool {
    is_ascii_control(letter)
        || matches!(letter,
        // Control characters, except a line end of YAML.
        '\u{80}'..='\u{84}' | '\u{86}'..='\u{9F}'
        // Soft hyphen, grapheme joiner, invisible Khmer vowels.
        | '\u{AD}' | '\u{34F}' | '\u{17B4}' | '\u{17B5}'
        // Zero-width characters; direction overrides and isolates; fillers.
        | '\u{200B}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
        | '\u{FEFF}' | '\u{FFA0}'
        // Interlinear annotations; tags.
        | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// Returns whether a variation selector affects the character before it.
fn varies(before: char, selector: char) -> bool {
    let is_ideograph = matches!(before,
        '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}');
    match selector {
        '\u{FE0E}' | '\u{FE0F}' => matches!(before,
            '0'..='9' | '#' | '*' | '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}'
            | '\u{2100}'..='\u{27BF}' | '\u{2900}'..='\u{2BFF}' | '\u{3030}' | '\u{303D}'
            | '\u{3297}' | '\u{3299}' | '\u{1F000}'..='\u{1FAFF}'),
        '\u{FE00}'..='\u{FE0D}' => {
            is_ideograph
                || matches!(before, '\u{1000}'..='\u{109F}' | '\u{2190}'..='\u{22FF}' | '\u{2A00}'..='\u{2AFF}')
        }
        _ => is_ideograph,
    }
}

/// Returns whether tags spell the flag of England, Scotland or Wales.
fn is_flag(tags: &str) -> bool {
    let plain = |it: char| char::from_u32(u32::from(it).saturating_sub(0xE0000));
    let spelled: Option<String> = tags.chars().map(plain).collect();
    matches!(spelled.as_deref(), Some("gbeng\u{7F}" | "gbsct\u{7F}" | "gbwls\u{7F}"))
}

/// Returns whether a character is a joiner or non-joiner.
fn is_joiner(letter: char) -> bool {
    matches!(letter, '\u{200C}' | '\u{200D}')
}

/// Returns whether a zero-width space ends a word of a script without spaces between words, such as
/// Khmer.
fn breaks_words(before: char, rest: &str) -> bool {
    let is_letter = |it: char| matches!(it, '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}');
    // Punctuation and words of other scripts can stand on one side, but not a second one.
    let after = rest.chars().nth(1);
    after != Some('\u{200B}') && (is_letter(before) || after.is_some_and(is_letter))
}

/// Returns whether joiners stand between two letters of a script without joining.
fn parts_a_word(before: char, joiners: &str) -> bool {
    let is_latin = |it: char| it.is_ascii_digit() || it.is_alphabetic() && it < '\u{250}';
    is_latin(before) && joiners.trim_start_matches(is_joiner).starts_with(is_latin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, counts: &[usize]) {
        let found: Vec<_> = runs(text).iter().map(|it| it.count).collect();
        assert_eq!(found, counts, "{text:?}");
    }

    #[test]
    fn invisible_characters_are_found() {
        for hidden in [
            "\0", "\u{8}", "\u{1B}", "\u{7F}", "\u{9B}", "\u{AD}", "\u{34F}", "\u{61C}",
            "\u{115F}", "\u{1160}", "\u{17B4}", "\u{180E}", "\u{200B}", "\u{200E}", "\u{200F}",
            "\u{202E}", "\u{2060}", "\u{2066}", "\u{206A}", "\u{2800}", "\u{3164}", "\u{FE00}",
            "\u{FE0F}", "\u{FEFF}", "\u{FFA0}", "\u{FFF9}", "\u{E0041}", "\u{E0100}", "\u{E01EF}",
        ] {
            check(&format!("read{hidden}me"), &[1]);
            check(&format!("read {hidden}{hidden} me"), &[2]);
        }
        check("x\u{200D}\u{200C}y", &[2]);
        check("\u{1781}\u{200B}\u{200B}\u{1798}", &[2]);
        check("\u{1F3F4}\u{E0068}\u{E0069}\u{E007F}", &[3]);
        check("\u{2764}\u{FE0F}\u{FE0F}\u{FE01}", &[2]);
        check("\u{8FBB}\u{E0100}\u{E0101}", &[1]);
    }

    #[test]
    fn selector_after_a_long_text_applies_to_its_last_character() {
        let long = "plain \u{E4}".repeat(100);
        check(&format!("{long}x\u{FE0F}{long}1\u{FE0F}{long}\u{200B}"), &[1, 1]);
        let found = runs(&format!("{long}\u{AD}"));
        assert_eq!(found[0].bytes, long.len()..long.len() + 2);
    }

    #[test]
    fn legitimate_format_characters_are_ignored() {
        for ordinary in [
            "a\tb\r\nc\u{B}\u{C}\u{85}",
            "plain \u{1F468}\u{200D}\u{1F469} \u{E4}",
            "\u{2764}\u{FE0F} \u{26A0}\u{FE0F} \u{2139}\u{FE0F} 1\u{FE0F}\u{20E3} \u{A9}\u{FE0F}",
            "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
            "\u{8FBB}\u{E0100} \u{FA19}\u{FE00}",
            "\u{645}\u{6CC}\u{200C}\u{62E} \u{200F}(a)",
            "\u{915}\u{94D}\u{200D}\u{937}",
            "\u{28FF}\u{2800}\u{28FF}",
            "\u{1820}\u{180B}",
            "\u{D55C}\u{AE00}",
            "\u{1781}\u{17D2}\u{200B}\u{1798}",
            "\u{E44}\u{E17}\u{E22}\u{200B}\u{E44}",
            "\u{E82}\u{200B}\u{E82} \u{1000}\u{200B}(\u{1000})",
        ] {
            check(ordinary, &[]);
        }
    }
}
