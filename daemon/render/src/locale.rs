//! Compares names like JavaScript's `localeCompare`.
//!
//! Implements the root order of Unicode's collation for characters that occur in names: white space
//! and punctuation, then digits, then letters. Letters are compared first without case and accents,
//! then by accents, then lower case before upper case. Letters of other scripts follow by code
//! point.

use std::cmp::Ordering;

/// Punctuation in the order of the collation's root.
const PUNCTUATION: &str = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Accented Latin letters, with the base letter that they sort as.
const MARKED: [(char, &str); 16] = [
    ('a', "àáâãäåāăą"),
    ('c', "çćĉċč"),
    ('d', "ďđ"),
    ('e', "èéêëēĕėęě"),
    ('g', "ĝğġģ"),
    ('h', "ĥħ"),
    ('i', "ìíîïĩīĭį"),
    ('j', "ĵ"),
    ('l', "ĺļľł"),
    ('n', "ñńņň"),
    ('o', "òóôõöøōŏő"),
    ('r', "ŕŗř"),
    ('s', "śŝşš"),
    ('t', "ţťŧ"),
    ('u', "ùúûüũūŭůűų"),
    ('z', "źżž"),
];

/// Compares two names.
pub fn compare(a: &str, b: &str) -> Ordering {
    let by = |key: fn(&Weight) -> u32| {
        let keys = |text: &str| text.chars().map(|it| key(&weight(it))).collect::<Vec<_>>();
        keys(a).cmp(&keys(b))
    };
    // Names with equal weights are compared by code point.
    by(|it| it.base).then_with(|| by(|it| it.mark)).then_with(|| by(|it| it.case)).then(a.cmp(b))
}

struct Weight {
    base: u32,
    mark: u32,
    case: u32,
}

fn weight(c: char) -> Weight {
    const DIGITS: u32 = 1000;
    const LETTERS: u32 = 2000;
    let case = u32::from(c.is_uppercase());
    let lower = c.to_lowercase().next().unwrap_or(c);
    if c.is_whitespace() {
        return Weight { base: 1, mark: 0, case };
    }
    if let Some(at) = PUNCTUATION.find(c) {
        return Weight { base: 2 + at as u32, mark: 0, case };
    }
    if let Some(digit) = c.to_digit(10) {
        return Weight { base: DIGITS + digit, mark: 0, case };
    }
    if lower.is_ascii_lowercase() {
        return Weight { base: LETTERS + u32::from(lower), mark: 0, case };
    }
    let marked = MARKED.iter().find_map(|(base, marked)| Some((*base, marked.find(lower)?)));
    match marked {
        Some((base, at)) => Weight { base: LETTERS + u32::from(base), mark: 1 + at as u32, case },
        None => Weight { base: LETTERS + u32::from(lower), mark: 0, case },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_in_locale_order() {
        let mut names = ["b", "B", "a-b", "ab", "a_b", "A", "a", "ä", "2", "10", "z", "é", "f", ""];
        names.sort_by(|a, b| compare(a, b));
        assert_eq!(
            names,
            ["", "10", "2", "a", "A", "ä", "a_b", "a-b", "ab", "b", "B", "é", "f", "z"]
        );
    }
}
