//! What somebody meant who wrote a name that there is not.
//!
//! Names are compared letter by letter; a pair of swapped letters is one slip. How alike is alike
//! enough depends on who asks, and is theirs to say.

/// Returns those of `among` that are at least as like to `name` as `bar` says, from 0 for nothing
/// in common to 1 for the same; the most alike first, then by the alphabet, each once.
pub fn nearest<'a>(name: &str, among: impl IntoIterator<Item = &'a str>, bar: f64) -> Vec<&'a str> {
    let length = letters(name);
    // What is much longer or shorter is not alike, whatever it says; long names cost their square.
    let may_be = |it: &&str| {
        let other = letters(it);
        length.min(other) >= bar * length.max(other)
    };
    let scored = among
        .into_iter()
        .filter(may_be)
        .map(|it| (strsim::normalized_damerau_levenshtein(it, name), it));
    let mut alike: Vec<_> = scored.filter(|(score, _)| *score >= bar).collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    alike.dedup();
    alike.into_iter().map(|(_, it)| it).collect()
}

fn letters(name: &str) -> f64 {
    f64::from(u32::try_from(name.chars().count()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_alike_come_first_and_once() {
        let among = ["comet", "commit", "review", "commits", "commit"];
        assert_eq!(nearest("comit", among, 0.6), ["commit", "comet", "commits"]);
        assert_eq!(nearest("comit", among, 0.8), ["commit", "comet"]);
        assert_eq!(nearest("zzz", among, 0.6), [""; 0]);
    }

    #[test]
    fn equally_alike_are_in_the_order_of_the_alphabet() {
        assert_eq!(nearest("godo", ["good", "gold", "goda"], 0.5), ["goda", "good", "gold"]);
    }
}
