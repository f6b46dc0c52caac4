//! Rule levels: which rules apply, at which severity and in which files.
//!
//! The narrowest entry wins: a rule's id before its family, and a family before `*`. Entries for
//! some files win over entries for all files, and the later of two globs wins. The repository's
//! file wins over the user's.

use skills_agents::hooks::shorten_matcher;
use skills_discovery::levels::{self, Level, is_glob};
use toml::de::{DeTable, DeValue};

use super::value::{ValueError, nearest, type_name, word};

/// Levels by rule id, by family (`family/*`) or for all rules (`*`), the broadest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleLevels(pub(super) Vec<(String, Level)>);

/// Levels by glob, in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathLevels(pub(super) Vec<(String, RuleLevels)>);

/// Returns the patterns that match these rules: `*`, families and ids.
pub fn rule_patterns(rules: &[&str]) -> Vec<String> {
    let family = |it: &&str| format!("{}/*", it.split('/').next().unwrap_or_default());
    let mut families: Vec<String> = rules.iter().map(family).collect();
    families.dedup();
    let ids = rules.iter().map(|it| (*it).to_owned());
    ["*".to_owned()].into_iter().chain(families).chain(ids).collect()
}

/// Reads a table of rules. Any mistake is returned with its offset; the caller then ignores the
/// table. Accepts any name if `known` is `None`.
pub(super) fn read_rules(
    table: &DeTable<'_>,
    known: Option<&[&str]>,
) -> (RuleLevels, Vec<(usize, ValueError)>) {
    let mut rows = Vec::new();
    let mut errors = Vec::new();
    for (name, value) in table {
        let written = &**name.get_ref();
        if let Some(known) = known
            && !known.iter().any(|it| levels::names(written, it))
        {
            errors.push((name.span().start, unknown(written, known)));
            continue;
        }
        match word(&Level::WORDS, value.get_ref()).map(|it| Level::read(&it)) {
            Ok(level) => rows.extend(level.map(|it| (written.to_owned(), it))),
            Err(error) => {
                let message = format!("has a level for `{written}` that {}", error.message);
                errors.push((value.span().start, ValueError { message, ..error }));
            }
        }
    }
    rows.sort_by_key(|(rule, _)| breadth(rule));
    (RuleLevels(rows), errors)
}

/// Maximum number of globs in one file.
const MAX_GLOBS: usize = 256;

/// Reads a table of globs, each with a table of rules.
pub(super) fn read_paths(
    table: &DeTable<'_>,
    known: Option<&[&str]>,
) -> (PathLevels, Vec<(usize, ValueError)>) {
    let mut rows: Vec<(usize, String, RuleLevels)> = Vec::new();
    let mut errors = Vec::new();
    for (nth, (glob, value)) in table.into_iter().enumerate() {
        if nth == MAX_GLOBS {
            let message = format!("has {} globs; the maximum is {MAX_GLOBS}", table.len());
            errors.push((glob.span().start, ValueError { message, hint: None }));
            break;
        }
        let (at, written) = (glob.span().start, &**glob.get_ref());
        if !is_glob(written) {
            let message = format!("contains the invalid glob `{}`", shorten_matcher(written));
            let hint =
                Some("Close all brackets and braces, and use fewer than 1,024 bytes.".to_owned());
            errors.push((at, ValueError { message, hint }));
            continue;
        }
        let DeValue::Table(rules) = value.get_ref() else {
            let message = format!("has {} for `{written}`", type_name(value.get_ref()));
            let hint = Some("Write a table of rules and levels.".to_owned());
            errors.push((value.span().start, ValueError { message, hint }));
            continue;
        };
        let (levels, wrong) = read_rules(rules, known);
        errors.extend(wrong);
        rows.push((at, written.to_owned(), levels));
    }
    rows.sort_by_key(|it| it.0);
    (PathLevels(rows.into_iter().map(|(_, glob, levels)| (glob, levels)).collect()), errors)
}

fn breadth(rule: &str) -> u8 {
    match rule {
        "*" => 0,
        family if family.ends_with('*') => 1,
        _ => 2,
    }
}

fn unknown(written: &str, known: &[&str]) -> ValueError {
    let patterns = rule_patterns(known);
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    let family = format!("{written}/*");
    let near = if patterns.contains(&&*family) {
        Some(family.as_str())
    } else {
        nearest(written, &patterns)
    };
    let hint = near.map_or_else(
        || "See docs/rules.md for all rules.".to_owned(),
        |it| format!("Did you mean `{it}`?"),
    );
    ValueError { message: format!("contains the unknown rule `{written}`"), hint: Some(hint) }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::{ConfigSource, KnownNames, read_with_names};

    #[track_caller]
    fn check(text: &str, expected: &Expect) {
        let rules = ["yaml/alias", "body/empty", "name/missing"];
        let names = KnownNames { rules: Some(&rules), profiles: &[] };
        let parsed = read_with_names(text.as_bytes(), ConfigSource::Repository, names);
        let lines = parsed.problems.iter().map(|it| {
            let hint = it.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
            format!("{}:{}: {}{hint}\n", it.line, it.column, it.message)
        });
        let rules = parsed.config.check_rules.0.iter().map(|(it, to)| format!("{it} {to:?}\n"));
        let paths = parsed.config.check_paths.0.iter();
        let paths = paths.map(|(glob, rules)| format!("{glob} {:?}\n", rules.0));
        expected.assert_eq(&lines.chain(rules).chain(paths).collect::<String>());
    }

    #[test]
    fn rule_levels_are_sorted_by_breadth() {
        check(
            "[check.rules]\n\"yaml/alias\" = \"error\"\n\"*\" = \"hint\"\n\"yaml/*\" = \"off\"\n",
            &expect![[r#"
                * As(Hint)
                yaml/* Off
                yaml/alias As(Error)
            "#]],
        );
        check(
            "[check.paths.\"b/**\"]\n\"*\" = \"off\"\n[check.paths.\"a/**\"]\n\"name/*\" = \"warning\"\n",
            &expect![[r#"
                b/** [("*", Off)]
                a/** [("name/*", As(Warning))]
            "#]],
        );
    }

    #[test]
    fn mistakes_are_reported_at_their_position() {
        check(
            "[check]\nprofiles = [\"codx\"]\nrules = { yaml = \"off\", \"yaml/alais\" = \"off\", \"body/empty\" = \"quiet\" }\n[check.paths]\n\"a[\" = {}\nb = 3\n\"c\" = { \"x/y\" = \"off\" }\n",
            &expect![[r#"
                2:13: `check.profiles` cannot be `codx` (Did you mean `codex`?)
                3:11: `check.rules` contains the unknown rule `yaml` (Did you mean `yaml/*`?)
                3:25: `check.rules` contains the unknown rule `yaml/alais` (Did you mean `yaml/alias`?)
                3:62: `check.rules` has a level for `body/empty` that cannot be `quiet` (Use one of `off`, `hint`, `information`, `warning`, `error`.)
                5:1: `check.paths` contains the invalid glob `a[` (Close all brackets and braces, and use fewer than 1,024 bytes.)
                6:5: `check.paths` has an integer for `b` (Write a table of rules and levels.)
                7:9: `check.paths` contains the unknown rule `x/y` (See docs/rules.md for all rules.)
            "#]],
        );
        check(
            "check.rules = 3\ncheck.paths = true\n",
            &expect![[r#"
                1:15: `check.rules` must be a table of rules and levels, not an integer (Write `[check.rules]` and below it `"family/rule" = "off"`.)
                2:15: `check.paths` must be a table of globs, not a boolean (Write `[check.paths."GLOB"]` and below it `"family/rule" = "off"`.)
            "#]],
        );
    }
}
