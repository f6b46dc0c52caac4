//! Coverage: a rule exists for every kind of problem that the linter must find.

use crate::rules;

/// Kinds of problems, each with its rule.
const PROBLEMS: &[(&str, &str)] = &[
    ("no frontmatter", "yaml/no-frontmatter"),
    ("unclosed frontmatter", "yaml/unclosed-frontmatter"),
    ("text before it", "yaml/text-before-frontmatter"),
    ("syntax error", "yaml/syntax"),
    ("duplicate key", "yaml/duplicate-key"),
    ("tab indentation", "yaml/tab-indentation"),
    ("unquoted colon", "yaml/unquoted-colon"),
    ("unquoted comment", "yaml/comment-cuts-value"),
    ("leading special character", "yaml/unquoted-start"),
    ("flow value that reads as something else", "yaml/flow-value"),
    ("surprises between YAML 1.1 and 1.2", "yaml/ambiguous-scalar"),
    ("anchors and aliases", "yaml/alias"),
    ("not UTF-8", "yaml/not-utf8"),
    ("byte order mark", "yaml/byte-order-mark"),
    ("carriage return alone", "yaml/lone-cr"),
    ("missing name", "name/missing"),
    ("charset of the name", "name/charset"),
    ("length of the name", "name/length"),
    ("hyphens of the name", "name/hyphens"),
    ("name differs from the directory", "name/directory"),
    ("reserved words", "name/reserved"),
    ("name looks like another skill's", "name/similar"),
    ("case-only difference", "name/case"),
    ("missing description", "description/missing"),
    ("empty description", "description/empty"),
    ("description over 1,024", "description/length"),
    ("description over the listing's limit", "description/listing"),
    ("angle brackets", "description/markup"),
    ("not saying when to use", "description/when"),
    ("first person", "description/person"),
    ("description that is not written yet", "description/unwritten"),
    ("unknown field", "field/unknown"),
    ("near misses", "field/misspelled"),
    ("field read only by agents not in use", "field/unread"),
    ("wrong type", "field/type"),
    ("bad enum value", "field/value"),
    ("deprecated", "field/deprecated"),
    ("contradictory", "field/contradiction"),
    ("unknown tool", "tools/unknown"),
    ("malformed pattern", "tools/pattern"),
    ("separators", "tools/separator"),
    ("MCP tool form", "tools/mcp"),
    ("invalid glob", "paths/glob"),
    ("matches nothing", "paths/nothing"),
    ("matches everything", "paths/everything"),
    ("absolute or ..", "paths/absolute"),
    ("backslashes", "paths/backslash"),
    ("brace forms", "paths/braces"),
    ("negation that can never apply", "paths/negation"),
    ("unknown event", "hooks/event"),
    ("bad matcher", "hooks/matcher"),
    ("missing command", "hooks/missing-key"),
    ("unknown type", "hooks/kind"),
    ("nested errors", "hooks/type"),
    ("variable that hooks do not get", "hooks/variable"),
    ("directory without quotes", "hooks/unquoted"),
    ("over 500 lines or 5,000 tokens", "body/long"),
    ("empty body", "body/empty"),
    ("broken relative link", "body/broken-link"),
    ("broken path in backticks", "body/broken-path"),
    ("file escapes the directory", "body/escape"),
    ("script not executable", "body/not-executable"),
    ("unreferenced file", "body/unreferenced-file"),
    ("unbalanced fences", "body/unclosed-fence"),
    ("merge conflict", "body/conflict-marker"),
    ("anchor without heading", "body/broken-anchor"),
    ("unbalanced tags", "body/unbalanced-tag"),
    ("references of an editor", "body/editor-reference"),
    ("body cut off", "body/unfinished"),
    ("arguments beside no hint", "body/no-hint"),
    ("unknown variable", "body/unknown-variable"),
    ("command that an agent will not run", "body/command-not-run"),
    ("currency", "body/currency"),
    ("number behind a dollar in code", "body/code-argument"),
    ("hidden Unicode", "security/hidden-unicode"),
    ("secrets", "security/secret"),
    ("curl to shell", "security/pipe-to-shell"),
    ("absolute home paths", "security/home-path"),
    ("shadowed", "index/shadowed"),
    ("shadowing", "index/shadowing"),
    ("duplicate within a root", "index/duplicate"),
    ("too deep", "index/too-deep"),
    ("misplaced", "index/misplaced"),
    ("git-ignored", "index/git-ignored"),
    ("symbolic link leaves the root", "index/link"),
    ("over the listing budget", "index/budget"),
    ("unknown skill", "ref/unknown"),
    ("name of a command", "command/name"),
    ("fields of a command", "command/name-field"),
    ("command shadowed by a skill", "command/shadowed"),
];

#[test]
fn every_kind_of_problem_has_a_rule() {
    for (problem, id) in PROBLEMS {
        assert!(rules().iter().any(|it| it.id.as_str() == *id), "{problem}: {id}");
    }
    for family in rules().iter().map(|it| it.family()) {
        let wanted =
            PROBLEMS.iter().filter(|(_, id)| id.starts_with(&format!("{family}/"))).count();
        let there = rules().iter().filter(|it| it.family() == family).count();
        assert!(there >= wanted, "{family}: {there} rules for {wanted} kinds of problems");
    }
}

#[test]
fn rule_rows_are_complete() {
    for (at, rule) in rules().iter().enumerate() {
        let id = rule.id.as_str();
        let (family, name) = id.split_once('/').unwrap();
        let is_kebab = |it: &str| it.chars().all(|it| matches!(it, 'a'..='z' | '0'..='9' | '-'));
        assert!(is_kebab(family) && is_kebab(name), "{id}");
        assert!(!rules()[..at].iter().any(|it| it.id.as_str() == id), "{id} twice");
        for text in [rule.problem, rule.consequence, rule.remedy] {
            assert!(text.ends_with('.') && !text.contains("  "), "{id}: {text}");
        }
        assert!(!rule.failing.is_empty() && !rule.passing.is_empty(), "{id}");
        assert!(family == "skillsd" || !rule.sources.is_empty(), "{id}: no source");
    }
}
