//! Splits the words of one command into options, their values and operands.

use super::table::{CommandRow, has};
use super::word::Word;

/// Options and operands of one command.
#[derive(Default)]
pub(super) struct ParsedOperands {
    /// Options that were given, as the row names them.
    pub(super) given: Vec<String>,
    /// Paths that are values of options.
    pub(super) paths: Vec<Word>,
    /// The directory to which the command changes first.
    pub(super) directory: Option<Word>,
    pub(super) operands: Vec<Word>,
    /// Number of operands before `--`.
    pub(super) before_dashes: Option<usize>,
}

impl ParsedOperands {
    /// Returns true if one of the options in `list` was given.
    pub(super) fn is_given(&self, list: &str) -> bool {
        self.given.iter().any(|option| has(list, option))
    }

    /// Records an option with its value.
    fn take(&mut self, row: &CommandRow, name: String, value: Option<Word>) {
        if has(row.dirs, &name) {
            self.directory.clone_from(&value);
        }
        self.paths.extend(value.filter(|_| has(row.paths, &name) || has(row.dirs, &name)));
        self.given.push(name);
    }
}

/// Splits `words` by the options that `row` lists.
pub(super) fn parse(row: &CommandRow, words: &[Word]) -> ParsedOperands {
    let mut parsed = ParsedOperands::default();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let text = word.start();
        if parsed.before_dashes.is_some() || !text.starts_with('-') || text.len() < 2 {
            parsed.operands.push(word.clone());
            continue;
        }
        if text == "--" {
            parsed.before_dashes = Some(parsed.operands.len());
            continue;
        }
        // `--name=value`, and `-name value` for programs whose long options have one dash.
        let (name, value) = match word.split('=').filter(|_| text.contains('=')) {
            Some((name, value)) => (name.start(), Some(value)),
            None => (text.clone(), None),
        };
        let is_whole = text.starts_with("--") || row.is_valued(&name);
        if is_whole {
            let value = value.or_else(|| {
                let next = words.get(at).filter(|_| row.is_valued(&name)).cloned();
                at += usize::from(next.is_some());
                next
            });
            parsed.take(row, name, value);
            continue;
        }
        // `-abc`, where an option may take the rest of the word or the next word as its value.
        for (nth, (byte, letter)) in text.char_indices().enumerate().skip(1) {
            let name = format!("-{letter}");
            if !row.is_valued(&name) {
                parsed.given.push(name);
                // `-i.bak`.
                if text[byte + letter.len_utf8()..].starts_with('.') {
                    break;
                }
                continue;
            }
            let rest = word.without(nth + 1);
            let value = if rest.start().is_empty() && rest.text().is_some() {
                at += 1;
                words.get(at - 1).cloned()
            } else {
                Some(rest)
            };
            parsed.take(row, name, value);
            break;
        }
    }
    parsed
}
