//! Finds similar names for did-you-mean suggestions.
//!
//! Similarity is the normalized Damerau–Levenshtein distance; a swap of two letters is one edit.
//! The caller chooses the threshold.

/// Returns the candidates in `among` whose similarity to `name` is at least `bar` (0 to 1), most
/// similar first, then alphabetically, without duplicates.
pub fn nearest<'a>(name: &str, among: impl IntoIterator<Item = &'a str>, bar: f64) -> Vec<&'a str> {
    nearest_of(name, &mut among.into_iter(), bar)
}

// Not generic, so that its sort is compiled once.
fn nearest_of<'a>(name: &str, among: &mut dyn Iterator<Item = &'a str>, bar: f64) -> Vec<&'a str> {
    let length = letters(name);
    // Names of very different length or letters cannot reach the threshold; skipping them avoids
    // quadratic time.
    let may_be = |it: &&str| {
        let other = letters(it);
        let longer = length.max(other);
        length.min(other) >= bar * longer
            && f64::from(least_errors(name, it)) <= (1.0 - bar) * longer + 1e-9
    };
    let scored =
        among.filter(may_be).map(|it| (strsim::normalized_damerau_levenshtein(it, name), it));
    let mut alike: Vec<_> = scored.filter(|(score, _)| *score >= bar).collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    alike.dedup();
    alike.into_iter().map(|(_, it)| it).collect()
}

/// Returns a lower bound of the typing errors between two words: the letters of one that the other
/// lacks.
fn least_errors(word: &str, other: &str) -> u32 {
    const KINDS: usize = 64;
    // Letters that share a counter only lower the bound.
    let kind = |it: char| it as usize % KINDS;
    let mut counts = [0_i32; KINDS];
    word.chars().for_each(|it| counts[kind(it)] += 1);
    other.chars().for_each(|it| counts[kind(it)] -= 1);
    let sum_of = |is: fn(i32) -> bool| {
        counts.iter().filter(|it| is(**it)).map(|it| it.unsigned_abs()).sum::<u32>()
    };
    sum_of(i32::is_positive).max(sum_of(i32::is_negative))
}

/// Returns the number of typing errors between two words: letters inserted, left out, changed or
/// swapped.
pub fn n_errors(word: &str, meant: &str) -> usize {
    strsim::damerau_levenshtein(word, meant)
}

/// Returns whether two words differ only in case, or in hyphens, underscores and spaces.
pub fn differs_in_form(word: &str, meant: &str) -> bool {
    let plain = |it: &str| it.to_lowercase().replace(['_', ' '], "-");
    plain(word) == plain(meant)
}

/// Returns whether two words differ only by two neighbouring letters in the other order, or in
/// form.
pub fn is_swapped(word: &str, meant: &str) -> bool {
    let sorted = |it: &str| {
        let mut letters: Vec<_> = it.chars().collect();
        letters.sort_unstable();
        letters
    };
    let swapped = || sorted(word) == sorted(meant) && n_errors(word, meant) == 1;
    differs_in_form(word, meant) || word.len() > 3 && swapped()
}

/// Returns whether a word is another one with a typing error, and not a word of its own that is
/// similar by chance: short words differ by swapped letters only, and numbers are equal.
pub fn is_misspelling(word: &str, meant: &str) -> bool {
    const ONE_ERROR: usize = 5;
    const TWO_ERRORS: usize = 10;
    let shorter = word.chars().count().min(meant.chars().count());
    let allowed = match shorter {
        TWO_ERRORS.. => 2,
        ONE_ERROR.. => 1,
        _ => 0,
    };
    is_swapped(word, meant) || has_same_digits(word, meant) && n_errors(word, meant) <= allowed
}

/// Returns whether two words contain the same digits in the same order: with others, both may be
/// right.
pub fn has_same_digits(word: &str, other: &str) -> bool {
    let digits = |it| str::bytes(it).filter(u8::is_ascii_digit);
    digits(word).eq(digits(other))
}

/// A single typing error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slip {
    /// Two neighbouring letters are swapped.
    Swapped,
    /// A letter is typed twice.
    Doubled,
    LeftOut,
    /// A letter is replaced by one beside it on the keyboard.
    BesideKey,
}

/// Returns the typing error that makes `meant` into `word`; `None` for equal words and for other
/// differences.
pub fn slip(word: &str, meant: &str) -> Option<Slip> {
    let (word, meant) = (word.as_bytes(), meant.as_bytes());
    let at = word.iter().zip(meant).take_while(|(a, b)| a == b).count();
    let (rest, other) = (&word[at..], &meant[at..]);
    match (rest, other) {
        ([a, b, rest @ ..], [c, d, other @ ..]) if (a, b) == (d, c) && rest == other => {
            Some(Slip::Swapped)
        }
        ([a, rest @ ..], [b, other @ ..]) if rest == other => {
            are_beside(*a, *b).then_some(Slip::BesideKey)
        }
        // The second of two equal letters differs first.
        ([a, rest @ ..], other) if rest == other && at > 0 && word[at - 1] == *a => {
            Some(Slip::Doubled)
        }
        (rest, [_, other @ ..]) if rest == other => Some(Slip::LeftOut),
        _ => None,
    }
}

/// Returns whether two letters are neighbours in a row of the keyboard.
fn are_beside(one: u8, other: u8) -> bool {
    const ROWS: [&[u8]; 3] = [b"qwertyuiop", b"asdfghjkl", b"zxcvbnm"];
    let pair = |it: &[u8]| it == [one, other] || it == [other, one];
    ROWS.iter().any(|it| it.windows(2).any(pair))
}

/// Minimum number of letters of a part; shorter ones are in too many names.
const PART: usize = 3;

/// Returns the candidates in `among` that contain `name`, or are contained in it, in any case:
/// first those that begin with it, then the ones nearest in length, then alphabetically, without
/// duplicates.
pub fn containing<'a>(name: &str, among: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let mut found: Vec<_> = among
        .into_iter()
        .filter(|it| wanted.len().min(it.len()) >= PART)
        .filter_map(|it| {
            let other = it.to_lowercase();
            let is_part = other.contains(&wanted) || wanted.contains(&other);
            is_part.then_some((!other.starts_with(&wanted), wanted.len().abs_diff(other.len()), it))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, _, it)| it).collect()
}

fn letters(name: &str) -> f64 {
    f64::from(u32::try_from(name.chars().count()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_similar_names_come_first_without_duplicates() {
        let among = ["comet", "commit", "review", "commits", "commit"];
        assert_eq!(nearest("comit", among, 0.6), ["commit", "comet", "commits"]);
        assert_eq!(nearest("comit", among, 0.8), ["commit", "comet"]);
        assert_eq!(nearest("zzz", among, 0.6), [""; 0]);
    }

    #[test]
    fn bound_is_never_above_the_errors() {
        let words =
            ["", "a", "godo", "good", "allowed-tools", "alowed-tols", "tools", "éclair", "日本"];
        for (word, other) in words.iter().flat_map(|a| words.map(|b| (*a, b))) {
            assert!(least_errors(word, other) as usize <= n_errors(word, other), "{word} {other}");
        }
        assert_eq!(least_errors("good", "godo"), 0);
        assert_eq!(least_errors("unknown", "model"), 6);
    }

    #[test]
    fn slips_are_told_by_kind() {
        for (word, slip_kind) in [
            ("onte", Some(Slip::Swapped)),
            ("noet", Some(Slip::Swapped)),
            ("nnote", Some(Slip::Doubled)),
            ("notee", Some(Slip::Doubled)),
            ("nte", Some(Slip::LeftOut)),
            ("bote", Some(Slip::BesideKey)),
            ("note", None),
            ("ote", Some(Slip::LeftOut)),
            ("not", Some(Slip::LeftOut)),
            ("no", None),
            ("vote", None),
            ("notes", None),
            ("ntoee", None),
            ("", None),
        ] {
            assert_eq!(slip(word, "note"), slip_kind, "{word}");
        }
        assert_eq!(slip("docs", "docx"), None);
    }

    #[test]
    fn words_that_are_similar_by_chance_are_no_misspellings() {
        for (word, meant) in
            [("raed", "read"), ("Form_fields", "form-fields"), ("refernce", "reference")]
        {
            assert!(is_misspelling(word, meant), "{word} {meant}");
        }
        for (word, meant) in
            [("up", "rm"), ("test", "rest"), ("push", "pull"), ("gone", "go"), ("page-1", "page-2")]
        {
            assert!(!is_misspelling(word, meant), "{word} {meant}");
        }
    }

    #[test]
    fn names_with_a_given_part_begin_with_those_that_start_with_it() {
        let among = ["git", "git-helper", "my-git", "digits", "helper", "gi"];
        assert_eq!(containing("GIT", among), ["git", "git-helper", "digits", "my-git"]);
        assert_eq!(containing("git-helpers", among), ["git-helper", "helper", "git"]);
        assert_eq!(containing("gi", among), [""; 0]);
    }

    #[test]
    fn equally_similar_names_are_sorted_alphabetically() {
        assert_eq!(nearest("godo", ["good", "gold", "goda"], 0.5), ["goda", "good", "gold"]);
    }
}
