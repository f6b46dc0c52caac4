//! `[profiles.NAME]`: what a user writes about profiles, from TOML to drafts.
//!
//! The keys are the rows of [`RULES`], those of a root ([`ROOT_KEYS`]) and a few more
//! ([`PROFILE_KEYS`]). What a draft means is [`crate::profile::Profiles::with`]'s to say; here each
//! value gets its place and its form.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::read::{Reader, nearest, shown};
use crate::profile::{
    Base, CHECKS, DepthDraft, Draft, DraftSetting, Links, Profiles, RULES, RootDraft, Rule,
    RuleKind, Scope, Setting, Stop, Text, WalkDraft, Worded, check_of, requirement,
};

/// A key of a profile besides the rules, or of a root.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) doc: &'static str,
    pub(super) kind: PartKind,
}

/// What such a key takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum PartKind {
    /// Any text.
    Text,
    /// One of these words.
    Word(fn() -> Vec<&'static str>),
    YesNo,
    /// A text or a list of texts.
    Names,
    /// A number of levels, or `any`.
    Depth,
    /// A list of tables with the keys of a root.
    Roots,
    /// A table with those keys of a root that say how it is walked.
    Walk,
}

/// The keys of a profile that are no rules.
pub(super) const PROFILE_KEYS: &[Part] = &[
    Part {
        name: "base",
        doc: "The profile it is made from: all that is not said is as there.\n\nA built-in profile has none; what is written about it changes that profile.",
        kind: PartKind::Text,
    },
    Part { name: "agent", doc: "What to call the agent in sentences.", kind: PartKind::Text },
    Part {
        name: "roots",
        doc: "Where it looks, in scan order, in place of all roots of the base.",
        kind: PartKind::Roots,
    },
    Part { name: "roots_first", doc: "Roots before those of the base.", kind: PartKind::Roots },
    Part { name: "roots_last", doc: "Roots behind those of the base.", kind: PartKind::Roots },
    Part {
        name: "without_roots",
        doc: "Roots of the base that are left out: `.claude/skills` wherever it is, `~/.claude/skills` below home alone.",
        kind: PartKind::Names,
    },
    Part {
        name: "every_root",
        doc: "How every root is walked, those of the base too.",
        kind: PartKind::Walk,
    },
];

/// How many of [`ROOT_KEYS`], from the end, say how a root is walked.
pub(super) const WALK_KEYS: usize = 8;

/// The keys of a root.
pub(super) const ROOT_KEYS: &[Part] = &[
    Part {
        name: "base",
        doc: "Where it starts: `home`, `project` (the working directory and what is above it), `added` (each directory of `--add-dir`), an absolute path, or `$NAME` for the directory that a variable names.",
        kind: PartKind::Text,
    },
    Part {
        name: "relative",
        doc: "The path below that, or several in scan order.",
        kind: PartKind::Names,
    },
    Part {
        name: "below_home",
        doc: "With `$NAME`: the path below home that counts where the variable is not set; without it there is no such root then.",
        kind: PartKind::Text,
    },
    Part {
        name: "stop",
        doc: "With `project`: the last directory on the way up; `worktree` where none is written.",
        kind: PartKind::Word(Stop::words),
    },
    Part {
        name: "scope",
        doc: "What its skills are called; by the base where none is written.",
        kind: PartKind::Word(Scope::words),
    },
    Part {
        name: "switched_off_by",
        doc: "Variables that take it out when they are `1` or `true`.",
        kind: PartKind::Names,
    },
    Part {
        name: "depth",
        doc: "How many directories below the root a skill may be.",
        kind: PartKind::Depth,
    },
    Part {
        name: "root_skill",
        doc: "Whether a SKILL.md in the root itself counts.",
        kind: PartKind::YesNo,
    },
    Part {
        name: "hidden",
        doc: "Whether directories whose names begin with a dot are searched.",
        kind: PartKind::YesNo,
    },
    Part {
        name: "skipped",
        doc: "Names of directories that are never searched.",
        kind: PartKind::Names,
    },
    Part {
        name: "reserved",
        doc: "Names directly below the root that are not searched.",
        kind: PartKind::Names,
    },
    Part {
        name: "skills_in_skills",
        doc: "Whether a skill's directory is searched for more skills.",
        kind: PartKind::YesNo,
    },
    Part {
        name: "links",
        doc: "Which symbolic links to directories are followed.",
        kind: PartKind::Word(Links::words),
    },
    Part {
        name: "file_links",
        doc: "Whether a SKILL.md may be a symbolic link.",
        kind: PartKind::YesNo,
    },
];

/// The deepest that a walk of a user's own may be bound to.
pub(super) const DEEPEST: u64 = 64;

/// The word for a walk without a bound.
pub(super) const ANY_DEPTH: &str = "any";

/// Reads the table `profiles`.
pub(super) fn read(reader: &mut Reader<'_>, table: &DeTable<'_>) -> Profiles {
    let mut drafts = Vec::new();
    for (name, value) in table {
        let at = name.span().start;
        if let Some(hint) = unfit(name.get_ref()) {
            reader.problem(
                at,
                format!("`{}` cannot be a profile's name", name.get_ref()),
                Some(hint),
            );
            continue;
        }
        match value.get_ref() {
            DeValue::Table(inner) => drafts.push(draft(reader, name.get_ref(), at, inner)),
            other => {
                let message =
                    format!("`profiles.{}` is a table, not {}", name.get_ref(), shown(other));
                let hint = format!("Write `[profiles.{}]` on a line of its own.", name.get_ref());
                reader.problem(value.span().start, message, Some(hint));
            }
        }
    }
    let (profiles, faults) = Profiles::with(&drafts, &|at| format!("line {}", reader.line(at)));
    for fault in faults {
        reader.problem(fault.at, fault.message, fault.hint);
    }
    profiles
}

/// Returns why a name is none for a profile.
fn unfit(name: &str) -> Option<String> {
    if crate::profile::find(name).is_some() {
        return None;
    }
    let fits = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || "-_.".contains(it);
    if name == "all" {
        return Some("`all` stands for every profile.".to_owned());
    }
    let is_name = !name.is_empty() && name.chars().all(fits);
    (!is_name).then(|| "Use small letters, digits, `-`, `_` and `.`.".to_owned())
}

fn draft(reader: &mut Reader<'_>, id: &str, at: usize, table: &DeTable<'_>) -> Draft {
    let mut draft = Draft {
        id: id.to_owned(),
        at,
        base: None,
        agent: None,
        settings: Vec::new(),
        roots: None,
        roots_first: Vec::new(),
        roots_last: Vec::new(),
        without_roots: Vec::new(),
        every_root: WalkDraft::default(),
    };
    for (key, value) in table {
        let at = key.span().start;
        match &**key.get_ref() {
            "base" => draft.base = text(reader, key, value).map(|it| (it, value.span().start)),
            "agent" => draft.agent = text(reader, key, value),
            "roots" => draft.roots = Some(roots(reader, key, value)),
            "roots_first" => draft.roots_first = roots(reader, key, value),
            "roots_last" => draft.roots_last = roots(reader, key, value),
            "without_roots" => draft.without_roots = list(reader, key, value),
            "every_root" => draft.every_root = every_root(reader, key, value),
            name => match Rule::named(name) {
                Some(rule) => {
                    if let Some(setting) = setting(reader, rule, value) {
                        draft.settings.push(DraftSetting { rule, setting, at });
                    }
                }
                None => unknown(reader, key, &profile_keys(), "profile"),
            },
        }
    }
    draft
}

/// Returns the keys of a profile.
pub(super) fn profile_keys() -> Vec<&'static str> {
    let rules = RULES.iter().map(|it| it.name).filter(|it| *it != "roots");
    PROFILE_KEYS.iter().map(|it| it.name).chain(rules).collect()
}

type Key<'a> = Spanned<std::borrow::Cow<'a, str>>;

fn unknown(reader: &mut Reader<'_>, key: &Key<'_>, among: &[&'static str], of: &str) {
    let name = key.get_ref();
    let hint = match nearest(name, among) {
        Some(near) => format!("Did you mean `{near}`?"),
        None => format!("There are `{}`.", among.join("`, `")),
    };
    reader.problem(key.span().start, format!("a {of} has no key `{name}`"), Some(hint));
}

fn misfit(reader: &mut Reader<'_>, key: &str, what: &str, value: &Spanned<DeValue<'_>>) {
    let message = format!("`{key}` is {what}, not {}", shown(value.get_ref()));
    reader.problem(value.span().start, message, None);
}

fn text(reader: &mut Reader<'_>, key: &Key<'_>, value: &Spanned<DeValue<'_>>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) if !text.trim().is_empty() => Some(text.to_string()),
        DeValue::String(_) => {
            reader.problem(value.span().start, format!("`{}` is empty", key.get_ref()), None);
            None
        }
        _ => {
            misfit(reader, key.get_ref(), "a text", value);
            None
        }
    }
}

fn yes_no(reader: &mut Reader<'_>, key: &str, value: &Spanned<DeValue<'_>>) -> Option<bool> {
    if let DeValue::Boolean(yes) = value.get_ref() {
        return Some(*yes);
    }
    misfit(reader, key, "true or false", value);
    None
}

fn word(
    reader: &mut Reader<'_>,
    key: &str,
    words: &[&'static str],
    value: &Spanned<DeValue<'_>>,
) -> Option<String> {
    let DeValue::String(text) = value.get_ref() else {
        misfit(reader, key, "a text", value);
        return None;
    };
    if words.contains(&&**text) {
        return Some(text.to_string());
    }
    let hint = match nearest(text, words) {
        Some(near) => format!("Did you mean `{near}`?"),
        None => format!("It is one of `{}`.", words.join("`, `")),
    };
    reader.problem(value.span().start, format!("`{key}` cannot be `{text}`"), Some(hint));
    None
}

fn worded<T: Worded>(
    reader: &mut Reader<'_>,
    key: &Key<'_>,
    value: &Spanned<DeValue<'_>>,
) -> Option<T> {
    T::of_word(&word(reader, key.get_ref(), &T::words(), value)?)
}

/// Returns a text or a list of texts, each with its place.
fn list(
    reader: &mut Reader<'_>,
    key: &Key<'_>,
    value: &Spanned<DeValue<'_>>,
) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    match value.get_ref() {
        DeValue::String(text) => found.push((text.to_string(), value.span().start)),
        DeValue::Array(items) => {
            for item in items {
                match item.get_ref() {
                    DeValue::String(text) => found.push((text.to_string(), item.span().start)),
                    _ => misfit(reader, key.get_ref(), "a list of texts", item),
                }
            }
        }
        _ => misfit(reader, key.get_ref(), "a list of texts", value),
    }
    found
}

fn names(reader: &mut Reader<'_>, key: &Key<'_>, value: &Spanned<DeValue<'_>>) -> Vec<Text> {
    list(reader, key, value).into_iter().map(|(it, _)| Text::Owned(it)).collect()
}

/// Returns the names of variables, without those that can be none.
fn variables(reader: &mut Reader<'_>, found: Vec<(String, usize)>) -> Vec<String> {
    let mut names = Vec::new();
    for (name, at) in found {
        let fits = |it: char| it.is_ascii_alphanumeric() || it == '_';
        if name.is_empty() || !name.chars().all(fits) {
            // A pattern would carry keys and tokens.
            let hint = "Name each variable in full, without `$` and `*`.".to_owned();
            reader.problem(at, format!("`{name}` is no variable's name"), Some(hint));
        } else {
            names.push(name);
        }
    }
    names
}

/// Returns paths below a base, without those that can be none.
fn below(reader: &mut Reader<'_>, found: Vec<(String, usize)>) -> Vec<String> {
    let mut paths = Vec::new();
    for (path, at) in found {
        let climbs = path.split('/').any(|it| it == "..");
        if path.is_empty() || path.starts_with(['/', '~']) || climbs {
            let hint = "Write a path below the base, without `..`.".to_owned();
            reader.problem(at, format!("`{path}` is no path below a base"), Some(hint));
        } else {
            paths.push(path.trim_end_matches('/').trim_start_matches("./").to_owned());
        }
    }
    paths
}

fn setting(
    reader: &mut Reader<'_>,
    rule: &'static Rule,
    value: &Spanned<DeValue<'_>>,
) -> Option<Setting> {
    let key = Spanned::new(value.span(), rule.name.into());
    match rule.kind {
        RuleKind::Word(words) => word(reader, rule.name, &words(), value).map(Setting::Word),
        RuleKind::YesNo => yes_no(reader, rule.name, value).map(Setting::YesNo),
        RuleKind::Words(words) => {
            let DeValue::Array(items) = value.get_ref() else {
                misfit(reader, rule.name, "a list of texts", value);
                return None;
            };
            let words = words();
            let all = items.iter().filter_map(|it| word(reader, rule.name, &words, it));
            Some(Setting::List(all.collect()))
        }
        RuleKind::Names => {
            let found = list(reader, &key, value);
            let of_variables = rule.name != "nested";
            let names = if of_variables { variables(reader, found) } else { below(reader, found) };
            Some(Setting::List(names))
        }
        RuleKind::Check => match value.get_ref() {
            DeValue::String(text) if check_of(text).is_some() => {
                Some(Setting::Word(text.to_string()))
            }
            DeValue::String(text) => {
                let hint =
                    format!("It is one of `{}`, or `at-most-64` for example.", CHECKS.join("`, `"));
                let message = format!("`{}` cannot be `{text}`", rule.name);
                reader.problem(value.span().start, message, Some(hint));
                None
            }
            _ => {
                misfit(reader, rule.name, "a text", value);
                None
            }
        },
        RuleKind::Requirements => {
            let found = list(reader, &key, value);
            for (text, at) in found.iter().filter(|(it, _)| requirement(it).is_none()) {
                let hint = "For example `body`, `text:license` or `map-of-texts:metadata`.";
                reader.problem(*at, format!("`{text}` is no requirement"), Some(hint.to_owned()));
            }
            Some(Setting::List(found.into_iter().map(|(it, _)| it).collect()))
        }
        // A key of its own.
        RuleKind::Roots => None,
    }
}

fn roots(reader: &mut Reader<'_>, key: &Key<'_>, value: &Spanned<DeValue<'_>>) -> Vec<RootDraft> {
    let DeValue::Array(items) = value.get_ref() else {
        misfit(reader, key.get_ref(), "a list of tables", value);
        return Vec::new();
    };
    let mut roots = Vec::new();
    for item in items {
        match item.get_ref() {
            DeValue::Table(table) => roots.extend(root(reader, item.span().start, table)),
            _ => misfit(reader, key.get_ref(), "a list of tables", item),
        }
    }
    roots
}

fn every_root(reader: &mut Reader<'_>, key: &Key<'_>, value: &Spanned<DeValue<'_>>) -> WalkDraft {
    let mut walk = WalkDraft::default();
    let DeValue::Table(table) = value.get_ref() else {
        misfit(reader, key.get_ref(), "a table", value);
        return walk;
    };
    for (key, value) in table {
        if !walk_key(reader, &mut walk, key, value) {
            let keys = ROOT_KEYS[ROOT_KEYS.len() - WALK_KEYS..].iter().map(|it| it.name);
            unknown(reader, key, &keys.collect::<Vec<_>>(), "walk");
        }
    }
    walk
}

/// Takes up a key that says how a root is walked. Returns whether it is one.
fn walk_key(
    reader: &mut Reader<'_>,
    walk: &mut WalkDraft,
    key: &Key<'_>,
    value: &Spanned<DeValue<'_>>,
) -> bool {
    let name = &**key.get_ref();
    match name {
        "depth" => walk.depth = depth(reader, value),
        "root_skill" => walk.root_skill = yes_no(reader, name, value),
        "hidden" => walk.hidden = yes_no(reader, name, value),
        "skipped" => walk.skipped = Some(names(reader, key, value)),
        "reserved" => walk.reserved = Some(names(reader, key, value)),
        "skills_in_skills" => walk.into_skills = yes_no(reader, name, value),
        "links" => walk.directory_links = worded(reader, key, value),
        "file_links" => walk.file_links = yes_no(reader, name, value),
        _ => return false,
    }
    true
}

fn depth(reader: &mut Reader<'_>, value: &Spanned<DeValue<'_>>) -> Option<DepthDraft> {
    let fits = match value.get_ref() {
        DeValue::String(text) if text == ANY_DEPTH => return Some(DepthDraft::Any),
        DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    };
    let levels = fits.filter(|it| (1..=DEEPEST).contains(it)).and_then(|it| u16::try_from(it).ok());
    if levels.is_none() {
        let message = format!("`depth` is a number from 1 to {DEEPEST}, or `\"{ANY_DEPTH}\"`");
        reader.problem(value.span().start, message, None);
    }
    levels.map(DepthDraft::Levels)
}

fn root(reader: &mut Reader<'_>, at: usize, table: &DeTable<'_>) -> Option<RootDraft> {
    let mut base = None;
    let mut below_home = None;
    let mut stop: Option<(Stop, usize)> = None;
    let mut root = RootDraft {
        base: Base::Home,
        relative: Vec::new(),
        scope: None,
        switches: Vec::new(),
        walk: WalkDraft::default(),
    };
    for (key, value) in table {
        match &**key.get_ref() {
            "base" => base = text(reader, key, value).map(|it| (it, value.span().start)),
            "relative" => {
                let found = list(reader, key, value);
                root.relative = below(reader, found).into_iter().map(Text::Owned).collect();
            }
            "below_home" => {
                let found = list(reader, key, value);
                let path = below(reader, found).into_iter().next();
                below_home = path.map(|it| (it, value.span().start));
            }
            "stop" => stop = worded(reader, key, value).map(|it| (it, value.span().start)),
            "scope" => root.scope = worded(reader, key, value),
            "switched_off_by" => {
                let found = list(reader, key, value);
                root.switches = variables(reader, found).into_iter().map(Text::Owned).collect();
            }
            _ if walk_key(reader, &mut root.walk, key, value) => {}
            _ => {
                let keys: Vec<_> = ROOT_KEYS.iter().map(|it| it.name).collect();
                unknown(reader, key, &keys, "root");
            }
        }
    }
    if !table.contains_key("relative") {
        let hint = "Write for example `relative = \".agents/skills\"`.".to_owned();
        reader.problem(at, "a root has no `relative`".to_owned(), Some(hint));
    }
    let Some((base, base_at)) = base else {
        if !table.contains_key("base") {
            let hint = "Write for example `base = \"home\"`.".to_owned();
            reader.problem(at, "a root has no `base`".to_owned(), Some(hint));
        }
        return None;
    };
    root.base =
        base_of(reader, &base, base_at, below_home.clone().map(|it| it.0), stop.map(|it| it.0))?;
    if let (Some((_, at)), false) = (stop, matches!(root.base, Base::Ancestors { .. })) {
        reader.problem(at, "`stop` counts with the base `project` alone".to_owned(), None);
    }
    if let (Some((_, at)), false) = (below_home, matches!(root.base, Base::Variable { .. })) {
        reader.problem(at, "`below_home` counts with the base `$NAME` alone".to_owned(), None);
    }
    Some(root)
}

fn base_of(
    reader: &mut Reader<'_>,
    base: &str,
    at: usize,
    below_home: Option<String>,
    stop: Option<Stop>,
) -> Option<Base> {
    if let Some(name) = base.strip_prefix('$') {
        let name = variables(reader, vec![(name.to_owned(), at)]).pop()?.into();
        return Some(match below_home {
            Some(path) => Base::Variable { name, below_home: path.into() },
            None => Base::IfSet { name },
        });
    }
    match base {
        "home" => Some(Base::Home),
        "project" => Some(Base::Ancestors { stop: stop.unwrap_or(Stop::Worktree) }),
        "added" => Some(Base::Additional),
        path if path.starts_with('/') && !path.split('/').any(|it| it == "..") => {
            Some(Base::Absolute(path.to_owned().into()))
        }
        _ => {
            let hint = "It is `home`, `project`, `added`, an absolute path or `$NAME`.".to_owned();
            reader.problem(at, format!("`base` cannot be `{base}`"), Some(hint));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::profile_page::EXAMPLE;
    use super::super::{Source, read as read_config};
    use super::*;
    use crate::profile::{Duplicates, Profile, builtin};

    fn profiles(text: &str) -> Profiles {
        let parsed = read_config(text.as_bytes(), Source::User);
        assert_eq!(parsed.problems, [], "{text}");
        parsed.config.profiles
    }

    #[track_caller]
    fn check(text: &str, expected: &Expect) {
        let parsed = read_config(text.as_bytes(), Source::User);
        let lines = parsed.problems.iter().map(|it| {
            let hint = it.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
            format!("{}:{}: {}{hint}\n", it.line, it.column, it.message)
        });
        expected.assert_eq(&lines.collect::<String>());
    }

    fn differences(profile: &Profile) -> String {
        let line = |it: &crate::profile::Difference| {
            format!("{}: {} -> {} ({})\n", it.rule, it.base, it.here, it.source)
        };
        profile.differences.iter().map(line).collect()
    }

    #[test]
    fn the_example_is_what_it_says() {
        let profiles = profiles(EXAMPLE);
        let house = profiles.find("house").unwrap();
        expect![[r#"
            roots: /etc/claude-code/.claude/skills (managed; 1 level, not synced), $CLAUDE_CONFIG_DIR/skills, else ~/.claude/skills (user; 1 level, not synced), .claude/skills up to the worktree's top (project; 1 level, not synced), .claude/skills in each added directory (additional; 1 level, not synced) -> /etc/claude-code/.claude/skills (managed; 3 levels, not synced), .claude/skills up to the worktree's top (project; 3 levels, not synced), .claude/skills in each added directory (additional; 3 levels, not synced), ~/house/skills (user; 3 levels, hidden directories, not synced) (Your configuration, line 4.)
            duplicates: first-wins -> last-wins (Your configuration, line 6.)
        "#]]
        .assert_eq(&differences(house));
        assert_eq!(house.duplicates, Duplicates::LastWins);
        assert_eq!(house.subject(), "Claude Code (`house`)");
        let opencode = profiles.find("opencode").unwrap();
        assert_eq!(
            differences(opencode),
            "description: else-unlisted -> required (Your configuration, line 2.)\n"
        );
        assert_eq!(opencode.subject(), "opencode");
        assert_eq!(profiles.all().len(), builtin().len() + 1);
        assert_eq!(profiles.find("codex"), crate::profile::find("codex"));
    }

    #[test]
    fn another_content_has_another_key_and_the_same_one_the_same() {
        let key = |text: &str| profiles(text).find("opencode").unwrap().key();
        assert_eq!(key(""), "opencode");
        let one = key("[profiles.opencode]\nduplicates = \"first-wins\"\n");
        assert!(one.starts_with("opencode#"), "{one}");
        assert_eq!(one, key("[profiles.opencode]\nduplicates = \"first-wins\"\n# later\n"));
        assert_ne!(one, key("[profiles.opencode]\nduplicates = \"keep-all\"\n"));
    }

    #[test]
    fn a_base_may_be_ones_own_or_changed() {
        let text = "[profiles.b]\nbase = \"a\"\nconditional = true\n[profiles.a]\nbase = \"opencode\"\n[profiles.opencode]\npaths = \"canonical\"\n";
        let profiles = profiles(text);
        let b = profiles.find("b").unwrap();
        assert_eq!(b.paths, crate::profile::Paths::Canonical);
        assert_eq!(differences(b), "conditional: no -> yes (Your configuration, line 3.)\n");
        assert!(b.base.as_ref().is_some_and(|it| it.id == "a"));
    }

    #[test]
    fn variables_of_roots_are_in_the_key_of_a_view() {
        let profiles = profiles(
            "[profiles.a]\nbase = \"gemini-cli\"\ntrust_variables = [\"TRUST_ME\"]\nroots = [{ base = \"$MY_SKILLS\", relative = \"x\", switched_off_by = \"NO_X\" }]\n",
        );
        let environment = &profiles.find("a").unwrap().environment;
        for name in ["MY_SKILLS", "NO_X", "TRUST_ME"] {
            assert!(environment.iter().any(|it| it == name), "{name}");
        }
    }

    #[test]
    fn every_rule_can_be_set_to_what_another_agent_does() {
        for agent in crate::profile::agents() {
            for rule in RULES.iter().filter(|it| it.name != "roots") {
                let lines = (rule.lines)(agent);
                let value = match rule.kind {
                    RuleKind::YesNo | RuleKind::Word(_) | RuleKind::Check if lines.is_empty() => {
                        continue;
                    }
                    RuleKind::YesNo => (lines[0] == "yes").to_string(),
                    RuleKind::Word(_) | RuleKind::Check => format!("{:?}", lines[0]),
                    RuleKind::Words(_)
                    | RuleKind::Names
                    | RuleKind::Requirements
                    | RuleKind::Roots => format!("{lines:?}"),
                };
                // One that has nested roots and trust, so that no rule is ruled out.
                let text = format!(
                    "[profiles.x]\nbase = \"agentskills\"\n{}{} = {value}\n",
                    if rule.name == "trust_variables" { "requires_trust = true\n" } else { "" },
                    rule.name
                );
                if rule.name == "trust_variables" && lines.is_empty() {
                    continue;
                }
                let profiles = profiles(&text);
                let found = (rule.lines)(profiles.find("x").unwrap());
                match rule.name {
                    // Those of the roots are added.
                    "environment" => {
                        assert!(lines.iter().all(|it| found.contains(it)), "{text}");
                    }
                    _ => assert_eq!(found, lines, "{text}"),
                }
            }
        }
    }

    #[test]
    fn mistakes_are_told_where_they_stand() {
        check(
            "[profiles.a]\nduplicates = \"last-win\"\n[profiles.b]\nbase = \"opencod\"\nduplicate = \"x\"\n[profiles.codex]\nbase = \"opencode\"\n[profiles.all]\nbase = \"codex\"\n[profiles]\n\"A b\" = {}\n",
            &expect![[r#"
                1:11: the profile `a` has no `base` (Add a line `base = "agentskills"`, or the agent it is like.)
                2:14: `duplicates` cannot be `last-win` (Did you mean `last-wins`?)
                4:8: there is no profile `opencod` (Did you mean `opencode`?)
                5:1: a profile has no key `duplicate` (Did you mean `duplicates`?)
                7:8: `codex` is built in, and its base cannot be changed (Choose a name of your own for a profile with another base.)
                8:11: `all` cannot be a profile's name (`all` stands for every profile.)
                11:1: `A b` cannot be a profile's name (Use small letters, digits, `-`, `_` and `.`.)
            "#]],
        );
    }

    #[test]
    fn circles_are_told_once() {
        check(
            "[profiles.a]\nbase = \"c\"\n[profiles.b]\nbase = \"a\"\n[profiles.c]\nbase = \"b\"\n[profiles.self]\nbase = \"self\"\n",
            &expect![[r#"
                4:8: profiles are made from each other: `a` from `c` from `b` from `a` (Give one of them a built-in profile as its base.)
                8:8: profiles are made from each other: `self` from `self` (Give one of them a built-in profile as its base.)
            "#]],
        );
    }

    #[test]
    fn mistakes_in_roots_are_told_where_they_stand() {
        check(
            "[profiles.a]\nbase = \"codex\"\nwithout_roots = [\"~/.agent/skills\", \".codex/skills\"]\nevery_root = { deep = 3, depth = 0 }\nroots_last = [\n  { base = \"hom\", relative = \"x\" },\n  { relative = \"../x\" },\n  { base = \"home\" },\n  { base = \"$A*\", relative = \"x\" },\n  { base = \"home\", relative = \"x\", stop = \"cwd\", scope = \"mine\", links = 3 },\n]\nnested_taken = \"wins\"\n",
            &expect![[r#"
                3:18: `~/.agent/skills` is no root of `codex` (Did you mean `~/.agents/skills`?)
                4:16: a walk has no key `deep` (There are `depth`, `root_skill`, `hidden`, `skipped`, `reserved`, `skills_in_skills`, `links`, `file_links`.)
                4:34: `depth` is a number from 1 to 64, or `"any"`
                6:12: `base` cannot be `hom` (It is `home`, `project`, `added`, an absolute path or `$NAME`.)
                7:3: a root has no `base` (Write for example `base = "home"`.)
                7:16: `../x` is no path below a base (Write a path below the base, without `..`.)
                8:3: a root has no `relative` (Write for example `relative = ".agents/skills"`.)
                9:12: `A*` is no variable's name (Name each variable in full, without `$` and `*`.)
                10:43: `stop` counts with the base `project` alone
                10:58: `scope` cannot be `mine` (It is one of `managed`, `user`, `project`, `nested`, `additional`, `bundled`, `remote`, `mcp`, `plugin`, `command`.)
                10:74: `links` is a text, not a whole number
                12:1: `nested_taken` decides nothing here: `nested` names no directory
            "#]],
        );
    }

    #[test]
    fn the_default_profile_may_be_ones_own_and_a_repository_has_none() {
        profiles("profile = \"mine\"\n[profiles.mine]\nbase = \"codex\"\n");
        check(
            "profile = \"mien\"\n[profiles.mine]\nbase = \"codex\"\n",
            &expect![[r#"
                1:11: `profile` cannot be `mien` (Did you mean `mine`?)
            "#]],
        );
        let parsed = read_config(b"[profiles.mine]\nbase = \"codex\"\n", Source::Repository);
        assert_eq!(parsed.problems.len(), 1);
    }
}
