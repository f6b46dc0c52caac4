//! One word of a command ([`Word`]): its characters, which of them are quoted, and unknown parts.

use std::path::Path;

/// Placeholder for text that is only known at run time.
const UNKNOWN: char = '\0';

/// Maximum number of words from one brace expansion.
const MAX_EXPANSION: usize = 64;

/// Maximum length of a word with brace expansion; longer words are not expanded.
const MAX_EXPANDED_WORD: usize = 4096;

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
            match escaped {
                Some('\n') => {}
                Some(c) => self.chars.push(Char { c, quoted: true }),
                None => self.chars.push(Char { c, quoted: true }),
            }
        }
    }

    /// Adds an unknown part.
    pub(super) fn push_unknown(&mut self) {
        self.chars.push(Char { c: UNKNOWN, quoted: true });
    }

    /// Adds another word.
    pub(super) fn push(&mut self, word: &Word) {
        self.chars.extend(&word.chars);
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

    /// Splits the word at the first `mark`, which is dropped.
    pub(super) fn split(&self, mark: char) -> Option<(Word, Word)> {
        let at = self.chars.iter().position(|char| char.c == mark)?;
        let before = Word { chars: self.chars[..at].to_vec() };
        Some((before, self.without(at + 1)))
    }

    /// Returns the words of the brace expansion.
    pub(super) fn expanded(self) -> Vec<Word> {
        let mut done = Vec::new();
        let mut open = vec![self];
        while let Some(word) = open.pop() {
            match word.braces() {
                Some(words) if done.len() + open.len() + words.len() <= MAX_EXPANSION => {
                    open.extend(words.into_iter().rev());
                }
                _ => done.push(word),
            }
        }
        done
    }

    // Expands the first `a{b,c}d`.
    fn braces(&self) -> Option<Vec<Word>> {
        if self.chars.len() > MAX_EXPANDED_WORD {
            return None;
        }
        let is = |at: usize, c: char| self.chars[at] == Char { c, quoted: false };
        for start in (0..self.chars.len()).filter(|at| is(*at, '{')) {
            let mut depth = 0;
            let mut cuts = vec![start];
            for at in start..self.chars.len() {
                if is(at, '{') {
                    depth += 1;
                } else if is(at, ',') && depth == 1 {
                    cuts.push(at);
                } else if is(at, '}') {
                    depth -= 1;
                    if depth == 0 {
                        cuts.push(at);
                        break;
                    }
                }
            }
            if depth == 0 && cuts.len() > 2 {
                let end = cuts[cuts.len() - 1];
                let with = |cut: &[usize]| {
                    let parts = [
                        &self.chars[..start],
                        &self.chars[cut[0] + 1..cut[1]],
                        &self.chars[end + 1..],
                    ];
                    Word { chars: parts.concat() }
                };
                return Some(cuts.windows(2).map(with).collect());
            }
        }
        None
    }

    /// Returns the path, or the directory before the first unknown part or wildcard; empty for the
    /// working directory.
    pub(super) fn path(&self, home: Option<&Path>) -> Option<String> {
        let bare = |char: &Char, set: &str| !char.quoted && set.contains(char.c);
        let unknown = self.chars.iter().position(|char| char.c == UNKNOWN);
        let glob = self.chars.iter().position(|char| bare(char, "*?["));
        let cut = unknown.into_iter().chain(glob).min();
        let mut text: String = match cut {
            None => self.chars.iter().map(|char| char.c).collect(),
            Some(cut) => {
                let slash = self.chars[..cut].iter().rposition(|char| char.c == '/');
                match slash {
                    Some(slash) => self.chars[..=slash].iter().map(|char| char.c).collect(),
                    // `*.rs` is in the working directory; `$x.rs` can be anywhere.
                    None if glob == Some(cut) => return Some(String::new()),
                    None => return None,
                }
            }
        };
        if self.chars.first().is_some_and(|char| bare(char, "~")) {
            let rest = text[1..].to_owned();
            if !rest.is_empty() && !rest.starts_with('/') {
                // Another user's home.
                return None;
            }
            text = format!("{}{rest}", home?.to_str()?);
        }
        let is_path = !text.is_empty() && text != "-" && !is_url(&text);
        is_path.then_some(text)
    }

    /// Returns a path with wildcards, with a backslash before each literal special character;
    /// `None` without wildcards, or if a part is unknown.
    pub(super) fn pattern(&self, home: Option<&Path>) -> Option<String> {
        let is_wildcard = |it: &Char| !it.quoted && "*?[".contains(it.c);
        let is_known = self.chars.iter().all(|it| it.c != UNKNOWN);
        if !is_known || !self.chars.iter().any(is_wildcard) || is_url(&self.start()) {
            return None;
        }
        let mut pattern = String::new();
        let mut push = |it: &Char| {
            // Braces are expanded before.
            if "\\{}".contains(it.c) || (it.quoted && "*?[]!^-".contains(it.c)) {
                pattern.push('\\');
            }
            pattern.push(it.c);
        };
        let mut chars = self.chars.as_slice();
        if let [Char { c: '~', quoted: false }, rest @ ..] = chars {
            if rest.first()?.c != '/' {
                // Another user's home.
                return None;
            }
            for c in home?.to_str()?.chars() {
                push(&Char { c, quoted: true });
            }
            chars = rest;
        }
        chars.iter().for_each(push);
        Some(pattern)
    }

    /// Returns whether the word looks like a path, for commands with unknown operands.
    pub(super) fn looks_like_path(&self) -> bool {
        let text = self.start();
        if text.starts_with('-') || is_url(&text) || text.contains(['\n', '(', '=', ';', '@']) {
            return false;
        }
        let name = text.rsplit('/').next().unwrap_or_default();
        let extension = name.rsplit_once('.').map(|(stem, extension)| (stem.len(), extension));
        let has_extension = extension.is_some_and(|(stem, extension)| {
            let is_word = extension.chars().all(|c| c.is_ascii_alphanumeric());
            let starts = extension.starts_with(|c: char| c.is_ascii_alphabetic());
            stem > 0 && is_word && starts && extension.len() <= 8
        });
        let has_directory = text.contains('/') && !text.contains(' ') && text.len() > 1;
        (has_extension && !text.contains(' ')) || has_directory
    }
}

fn is_url(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    let is_scheme = |scheme: &str| {
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
    };
    scheme.is_some_and(is_scheme) || text.starts_with("git@")
}
