//! Static analysis of patterns: builds sample paths from their own parts and matches them with the
//! same [`Matcher`] that a touch uses.
//!
//! Samples prove nothing in general, so a result is reported only if all of them agree, and none if
//! there would be too many.

use std::path::Path;

use super::matcher::Matcher;
use super::pattern::{self, Pattern, Segment};

/// Maximum number of sample paths for one pattern.
const MAX_SAMPLE_PATHS: usize = 4000;

/// Returns true if a pattern matches every file.
pub fn matches_all(pattern: &str) -> bool {
    const PATHS: [&str; 6] = ["Makefile", ".env", "a.ts", "src/a.b.c", "x/y/z/Q 7", "0/é"];
    if !pattern::is_restriction([pattern]) {
        return true;
    }
    let matcher = Matcher::new([[pattern]]);
    PATHS.iter().all(|it| !matcher.matches(Path::new(it)).is_empty())
}

/// Returns the pattern because of which the negated pattern at `at` excludes nothing; `None` if it
/// does exclude something or the samples do not tell.
pub fn overruling_pattern(patterns: &[&str], at: usize) -> Option<usize> {
    let all = Matcher::new([patterns.iter().copied()]);
    let others = patterns.iter().enumerate().filter(|(index, _)| *index != at);
    let rest = Matcher::new([others.map(|(_, it)| *it)]);
    let mut overruling_pattern = None;
    for path in samples(patterns, at)? {
        let path = Path::new(&path);
        if rest.matches(path).is_empty() {
            continue;
        }
        overruling_pattern = overruling_pattern.or(Some(all.matches(path).first()?.pattern));
    }
    overruling_pattern
}

/// Returns paths that a pattern matches, varied by the parts of all patterns.
fn samples(patterns: &[&str], at: usize) -> Option<Vec<String>> {
    let read = |text: &str| pattern::read(text).unwrap_or_default();
    let others = patterns.iter().enumerate().filter(|(index, _)| *index != at);
    let others: Vec<Pattern> =
        others.flat_map(|(_, it)| read(it)).filter(|it| !it.negated).collect();
    let mut names: Vec<String> = Vec::new();
    let mut ways: Vec<Vec<String>> = vec![Vec::new(), vec!["x".to_owned()]];
    for other in &others {
        let mut way = Vec::new();
        for segment in other.segments.iter().filter(|it| **it != Segment::Any) {
            let name = segment.samples(&["x"]).into_iter().next()?;
            names.push(name.clone());
            way.push(name);
            ways.push(way.clone());
        }
    }
    let mut fills: Vec<&str> = vec!["x", ""];
    fills.extend(names.iter().map(String::as_str));
    let mut samples = Vec::new();
    for pattern in read(patterns[at]) {
        let mut heads: Vec<Vec<String>> = vec![Vec::new()];
        for segment in &pattern.segments {
            let next: Vec<Vec<String>> = match segment {
                Segment::Any => ways.clone(),
                other => other.samples(&fills).into_iter().map(|it| vec![it]).collect(),
            };
            if next.is_empty() || heads.len() * next.len() > MAX_SAMPLE_PATHS {
                return None;
            }
            let longer = |head: &Vec<String>| {
                let head = head.clone();
                next.iter().map(move |it| [&head[..], &it[..]].concat()).collect::<Vec<_>>()
            };
            heads = heads.iter().flat_map(longer).collect();
        }
        for head in heads {
            let path = head.join("/");
            samples.push(format!("{path}/x"));
            if !pattern.only_below {
                samples.push(path);
            }
        }
    }
    Some(samples)
}

impl Segment {
    /// Returns names that match, with each of `fills` in place of wildcards.
    fn samples(&self, fills: &[&str]) -> Vec<String> {
        let mut samples: Vec<String> = match self {
            Self::Any => Vec::new(),
            Self::One => fills.iter().map(|it| (*it).to_owned()).collect(),
            Self::Literal(name) => vec![name.to_string()],
            Self::Suffix(suffix) => {
                let own = fills.iter().map(|it| format!("{it}{suffix}"));
                own.chain(
                    fills.iter().filter(|it| it.ends_with(&**suffix)).map(|it| (*it).to_owned()),
                )
                .collect()
            }
            Self::Glob(glob) => {
                let own = fills.iter().filter_map(|it| glob.sample(it));
                let others = fills.iter().filter(|it| glob.matches(it.as_bytes()));
                own.chain(others.map(|it| (*it).to_owned())).collect()
            }
        };
        samples.retain(|it| !it.is_empty() && it != "." && it != "..");
        samples.sort_unstable();
        samples.dedup();
        samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_that_matches_every_file_is_detected() {
        for pattern in ["*", "**", "**/*", "**/**", "/**", "{*,a}"] {
            assert!(matches_all(pattern), "{pattern}");
        }
        for pattern in ["*.*", ".", "./**", "**/", "*/", "src/**", "[a.]*", "**/*.*"] {
            assert!(!matches_all(pattern), "{pattern}");
        }
    }

    #[test]
    fn negation_inside_matching_directory_excludes_nothing() {
        for (patterns, by) in [
            (&["src/", "!src/a.ts"][..], Some(0)),
            (&["src", "!src/a.ts"], Some(0)),
            (&["src/**", "!src/gen/**"], Some(0)),
            (&["src/**", "!src/gen/"], Some(0)),
            (&["*.ts", "src/*", "!src/gen/*.ts"], Some(1)),
            (&["src/*.ts", "!src/a.ts", "src/a.*"], Some(2)),
            (&["src/", "!src"], None),
            (&["src/**", "!src/gen"], Some(0)),
            (&["src/*", "!src/a"], None),
            (&["src/**", "!**/*.md"], Some(0)),
            (&["src/**/*.ts", "!src/gen/**"], None),
            (&["src/", "*.ts", "!a*"], None),
            (&["*.ts", "!*.d.ts"], None),
            (&["a*", "!ab?"], None),
            (&["src/", "[Qq]*.ts", "!*.ts"], None),
            (&["docs/*.md", "!src/a.ts"], None),
        ] {
            let at = patterns.iter().rposition(|it| it.starts_with('!')).unwrap_or_default();
            assert_eq!(overruling_pattern(patterns, at), by, "{patterns:?}");
        }
    }
}
