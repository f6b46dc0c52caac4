//! Splits the words of one command into options, their values and operands.

use super::table::{Row, has};
use super::touched::Op;
use super::word::Word;

/// Options and operands of one command.
pub(super) struct Parsed {
    /// Options that were given, as the row names them.
    pub(super) given: Vec<String>,
    /// Paths that are values of options.
    pub(super) paths: Vec<(Word, Op, String)>,
    pub(super) operands: Vec<Word>,
    /// Number of operands before `--`.
    pub(super) before_dashes: Option<usize>,
}

impl Parsed {
    /// Returns true if one of the options in `list` was given.
    pub(super) fn is_given(&self, list: &str) -> bool {
        self.given.iter().any(|option| has(list, option))
    }
}

/// Splits `words` by the options that `row` lists.
pub(super) fn parse(row: &Row, words: &[Word]) -> Parsed {
    let mut parsed =
        Parsed { given: Vec::new(), paths: Vec::new(), operands: Vec::new(), before_dashes: None };
    let path = |name: &str| row.paths.iter().find(|(of, _)| *of == name).map(|(_, op)| *op);
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
        let is_whole = text.starts_with("--") || has(row.valued, &name) || path(&name).is_some();
        if is_whole {
            let is_valued = has(row.valued, &name) || path(&name).is_some();
            let value = value.or_else(|| {
                let next = words.get(at).filter(|_| is_valued).cloned();
                at += usize::from(next.is_some());
                next
            });
            if let (Some(op), Some(value)) = (path(&name), value) {
                parsed.paths.push((value, op, name.clone()));
            }
            parsed.given.push(name);
            continue;
        }
        // `-abc`, where an option may take the rest of the word or the next word as its value.
        for (nth, (byte, letter)) in text.char_indices().enumerate().skip(1) {
            let name = format!("-{letter}");
            let is_valued = has(row.valued, &name) || path(&name).is_some();
            parsed.given.push(name.clone());
            if !is_valued
                && has(row.writes, &name)
                && text[byte + letter.len_utf8()..].starts_with('.')
            {
                // `-i.bak`.
                break;
            }
            if !is_valued {
                continue;
            }
            let rest = word.without(nth + 1);
            let value = if rest.start().is_empty() && rest.text().is_some() {
                at += 1;
                words.get(at - 1).cloned()
            } else {
                Some(rest)
            };
            if let (Some(op), Some(value)) = (path(&name), value) {
                parsed.paths.push((value, op, name));
            }
            break;
        }
    }
    parsed
}
