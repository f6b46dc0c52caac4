//! One word of a command ([`Word`]): its characters, which of them are quoted, and unknown parts.

/// Placeholder for text that is only known at run time.
const UNKNOWN: char = '\0';

/// Maximum number of words from one brace expansion.
const MAX_EXPANSION: usize = 64;

/// Maximum number of characters that are copied for one brace expansion.
const MAX_EXPANSION_CHARS: usize = 1 << 20;

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
    /// Returns a word that is only known at run time, but for its start.
    pub(super) fn starting_with(start: &str) -> Word {
        let mut word = Word::default();
        word.push_quoted(start);
        word.push_unknown();
        word
    }

    /// Adds text without special characters.
    pub(super) fn push_quoted(&mut self, text: &str) {
        self.chars.extend(text.chars().map(|c| Char { c, quoted: true }));
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

    /// Adds an unknown part.
    pub(super) fn push_unknown(&mut self) {
        self.chars.push(Char { c: UNKNOWN, quoted: true });
    }

    /// Adds another word; the result is unknown if it would be too long, as with `a=$a$a`.
    pub(super) fn push(&mut self, word: &Word) {
        if self.chars.len() + word.chars.len() <= MAX_WORD {
            self.chars.extend(&word.chars);
        } else {
            self.push_unknown();
        }
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

    /// Returns the word without its first `n` characters.
    pub(super) fn without(&self, n: usize) -> Word {
        Word { chars: self.chars.iter().skip(n).copied().collect() }
    }

    /// Returns the word with a dash before it, unless it begins with one.
    pub(super) fn with_dash(&self) -> Word {
        let mut word = Word::default();
        word.push_quoted(if self.start().starts_with('-') { "" } else { "-" });
        word.chars.extend(&self.chars);
        word
    }

    /// Splits the word at the first `mark`, which is dropped.
    pub(super) fn split(&self, mark: char) -> Option<(Word, Word)> {
        let at = self.chars.iter().position(|char| char.c == mark)?;
        let before = Word { chars: self.chars[..at].to_vec() };
        Some((before, self.without(at + 1)))
    }

    /// Returns the parts of a path, without empty ones.
    pub(super) fn components(&self) -> Vec<Word> {
        let parts = self.chars.split(|it| it.c == '/').filter(|it| !it.is_empty());
        parts.map(|it| Word { chars: it.to_vec() }).collect()
    }

    /// Returns the words of the brace expansion, only the first ones if there are too many.
    pub(super) fn expanded(self) -> Vec<Word> {
        let mut chars_left = MAX_EXPANSION_CHARS;
        let mut done = Vec::new();
        let mut open = vec![self];
        while let Some(word) = open.pop() {
            let length = word.chars.len().max(1);
            let limit = (MAX_EXPANSION - done.len() - open.len()).min(chars_left / length);
            match word.braces(limit) {
                Some(words) => {
                    chars_left -= words.len() * length;
                    open.extend(words.into_iter().rev());
                }
                None => done.push(word),
            }
        }
        done
    }

    // Expands the first `a{b,c}d` to at most `limit` words.
    fn braces(&self, limit: usize) -> Option<Vec<Word>> {
        // Each open brace with the commas after it.
        let mut open: Vec<Vec<usize>> = Vec::new();
        let mut first: Option<Vec<usize>> = None;
        for (at, char) in self.chars.iter().enumerate().filter(|(_, char)| !char.quoted) {
            match char.c {
                '{' => open.push(vec![at]),
                ',' => open.last_mut().into_iter().for_each(|cuts| cuts.push(at)),
                '}' => {
                    let Some(mut cuts) = open.pop().filter(|cuts| cuts.len() > 1) else { continue };
                    cuts.push(at);
                    first = first.filter(|it| it[0] < cuts[0]).or(Some(cuts));
                    if open.is_empty() {
                        break;
                    }
                }
                _ => {}
            }
        }
        let cuts = first?;
        let (before, after) = (&self.chars[..cuts[0]], &self.chars[*cuts.last()? + 1..]);
        let with = |cut: &[usize]| {
            let chosen = &self.chars[cut[0] + 1..cut[1]];
            Word { chars: [before, chosen, after].concat() }
        };
        Some(cuts.windows(2).take(limit).map(with).collect())
    }

    /// Returns the path, or the directory before the first unknown part or wildcard.
    pub(super) fn path(&self) -> Option<String> {
        let cut = self.chars.iter().position(|it| it.c == UNKNOWN || it.is_wildcard());
        let text = |chars: &[Char]| chars.iter().map(|char| char.c).collect::<String>();
        let path = match cut {
            None => text(&self.chars),
            Some(cut) => match self.chars[..cut].iter().rposition(|char| char.c == '/') {
                Some(slash) => text(&self.chars[..=slash]),
                // `*.rs` is in the working directory; `$x.rs` can be anywhere.
                None => (self.chars[cut].c != UNKNOWN).then(|| ".".to_owned())?,
            },
        };
        let is_path = !path.is_empty() && path != "-" && !is_url(&path);
        is_path.then_some(path)
    }

    /// Returns the word as a glob, with a backslash before each literal special character; `None`
    /// without wildcards, or if a part is unknown.
    pub(super) fn glob(&self) -> Option<String> {
        if self.text().is_none() || !self.chars.iter().any(|it| it.is_wildcard()) {
            return None;
        }
        let mut glob = String::new();
        for it in &self.chars {
            // Braces are expanded before.
            if "\\{}".contains(it.c) || (it.quoted && "*?[]!^-".contains(it.c)) {
                glob.push('\\');
            }
            glob.push(it.c);
        }
        Some(glob)
    }

    /// Returns whether the word looks like a path, for commands with unknown operands.
    pub(super) fn looks_like_path(&self) -> bool {
        let text = self.start();
        if text.starts_with('-') || is_url(&text) || text.contains(['\n', '(', '=', ';', '@', ' '])
        {
            return false;
        }
        let name = text.rsplit('/').next().unwrap_or_default();
        let has_extension = name.rsplit_once('.').is_some_and(|(stem, extension)| {
            let is_word = extension.chars().all(|c| c.is_ascii_alphanumeric());
            let starts = extension.starts_with(|c: char| c.is_ascii_alphabetic());
            !stem.is_empty() && is_word && starts && extension.len() <= 8
        });
        has_extension || (text.contains('/') && text.len() > 1)
    }
}

impl Char {
    fn is_wildcard(self) -> bool {
        !self.quoted && "*?[".contains(self.c)
    }
}

fn is_url(text: &str) -> bool {
    text.contains("://") || text.starts_with("git@")
}
