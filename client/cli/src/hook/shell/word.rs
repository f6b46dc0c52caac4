//! One word of a command ([`Word`]): its characters, which of them are quoted, and unknown parts.

/// Placeholder for text that is only known at run time.
const UNKNOWN: char = '\0';

/// Maximum length of a word that variables give; the system's limit on paths.
const MAX_WORD: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Char {
    c: char,
    quoted: bool,
}

/// A word after removal of quotes and expansion of known variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Word {
    chars: Vec<Char>,
}

impl Word {
    /// Returns a word that is only known at run time.
    pub(super) fn unknown() -> Word {
        Word::quoted(&UNKNOWN.to_string())
    }

    /// Returns a word without special characters.
    pub(super) fn quoted(text: &str) -> Word {
        Word { chars: text.chars().map(|c| Char { c, quoted: true }).collect() }
    }

    /// Adds unquoted text: a backslash quotes the next character.
    pub(super) fn push_bare(&mut self, text: &str) {
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                // A backslash before a line break continues the line.
                '\\' => match chars.next() {
                    Some('\n') | None => {}
                    Some(c) => self.chars.push(Char { c, quoted: true }),
                },
                c => self.chars.push(Char { c, quoted: false }),
            }
        }
    }

    /// Adds text between double quotes, where a backslash only escapes a few characters.
    pub(super) fn push_in_quotes(&mut self, text: &str) {
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let escaped = chars.next_if(|next| c == '\\' && "$`\"\\\n".contains(*next));
            if escaped != Some('\n') {
                self.chars.push(Char { c: escaped.unwrap_or(c), quoted: true });
            }
        }
    }

    /// Adds another word; the result is unknown if it would be too long, as with `a=$a$a`.
    pub(super) fn push(&mut self, word: Word) {
        let fits = self.chars.len() + word.chars.len() <= MAX_WORD;
        self.chars.extend(if fits { word.chars } else { Word::unknown().chars });
    }

    /// Returns whether nothing has been added.
    pub(super) fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }

    /// Returns the text; `None` if a part of it is unknown.
    pub(super) fn text(&self) -> Option<String> {
        let is_known = self.chars.iter().all(|char| char.c != UNKNOWN);
        is_known.then(|| self.start())
    }

    /// Returns the text up to the first unknown part.
    pub(super) fn start(&self) -> String {
        self.chars.iter().map(|char| char.c).take_while(|c| *c != UNKNOWN).collect()
    }

    /// Splits the word at the first `mark`, which is dropped.
    pub(super) fn split(&self, mark: char) -> Option<(Word, Word)> {
        let at = self.chars.iter().position(|char| char.c == mark)?;
        let word = |chars: &[Char]| Word { chars: chars.to_vec() };
        Some((word(&self.chars[..at]), word(&self.chars[at + 1..])))
    }

    /// Returns the parts of a path, without empty ones.
    pub(super) fn components(&self) -> Vec<Word> {
        let parts = self.chars.split(|it| it.c == '/').filter(|it| !it.is_empty());
        parts.map(|it| Word { chars: it.to_vec() }).collect()
    }

    /// Returns the path, or the directory before the first unknown part or wildcard.
    pub(super) fn path(&self) -> Option<String> {
        let cut = self.chars.iter().position(|it| it.c == UNKNOWN || it.is_wildcard());
        let end = match cut {
            None => self.chars.len(),
            Some(cut) => {
                self.chars[..cut].iter().rposition(|it| it.c == '/').map_or(0, |it| it + 1)
            }
        };
        let path: String = self.chars[..end].iter().map(|it| it.c).collect();
        match cut.filter(|_| end == 0) {
            // `*.rs` is in the working directory; `$x.rs` can be anywhere.
            Some(cut) => (self.chars[cut].c != UNKNOWN).then(|| ".".to_owned()),
            None => Some(path).filter(|it| !it.is_empty() && it != "-" && !it.contains("://")),
        }
    }

    /// Returns the word as a glob, with a backslash before each literal special character; `None`
    /// without wildcards, or if a part is unknown.
    pub(super) fn glob(&self) -> Option<String> {
        if self.text().is_none() || !self.chars.iter().any(|it| it.is_wildcard()) {
            return None;
        }
        let mut glob = String::new();
        for it in &self.chars {
            if it.c == '\\' || (it.quoted && "*?[]!^-{},".contains(it.c)) {
                glob.push('\\');
            }
            glob.push(it.c);
        }
        Some(glob)
    }

    pub(super) fn is_option(&self) -> bool {
        self.chars.len() > 1 && self.chars[0].c == '-'
    }

    /// Returns whether the word has the form of a path with a directory.
    pub(super) fn looks_like_path(&self) -> bool {
        let is_plain = |c: char| !c.is_whitespace() && !"()=;:@*?[]^$|\\".contains(c);
        let text = self.start();
        text.len() > 1 && text.contains('/') && !self.is_option() && text.chars().all(is_plain)
    }
}

impl Char {
    fn is_wildcard(self) -> bool {
        !self.quoted && "*?[{".contains(self.c)
    }
}
