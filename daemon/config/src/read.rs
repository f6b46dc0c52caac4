//! Parser for configuration files: converts TOML to [`Config`](crate::Config) and collects all
//! problems.
//!
//! Every problem has a position and, if possible, a suggestion. One pass finds all problems; the
//! caller decides whether to use a file that has any.

use skills_discovery::remote::{Address, redact};
use skills_syntax::text::{LineIndex, decode};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::key::{ConfigKey, ConfigSource, ValueKind};
use super::reader::{ConfigReader, KnownNames, Parsed};
use super::table::{ConfigValue, KEYS};
use super::value::{ValueError, nearest, type_name, word};
use super::{levels, permissions, profiles, server};

/// Reads a configuration file without checking names of rules.
pub fn read(bytes: &[u8], source: ConfigSource) -> Parsed {
    read_with_names(bytes, source, KnownNames::default())
}

/// Reads a configuration file and checks its names.
pub fn read_with_names(bytes: &[u8], source: ConfigSource, names: KnownNames<'_>) -> Parsed {
    let decoded = decode(bytes);
    let text = &*decoded.text;
    let mut reader = ConfigReader {
        text,
        lines: LineIndex::new(text),
        source,
        rules: names.rules,
        own: names.profiles.to_vec(),
        parsed: Parsed::default(),
    };
    if let Some(span) = decoded.invalid_utf8 {
        reader.problem(span.start, "the file is not valid UTF-8".to_owned(), None);
        reader.hide_rule(span.start);
        return reader.parsed;
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let at = error.span().map_or(0, |span| span.start);
        reader.problem(at, syntax_message(error.message()), None);
        reader.hide_rule(at);
    }
    let n_syntax = reader.parsed.problems.len();
    if let (ConfigSource::User, Some(DeValue::Table(own))) =
        (source, table.get_ref().get("profiles").map(Spanned::get_ref))
    {
        reader.own = own.keys().map(|it| it.get_ref().to_string()).collect();
    }
    read_table(&mut reader, "", table.get_ref());
    if source == ConfigSource::Repository {
        hide_misplaced_rules(&mut reader, "", table.get_ref());
    }
    if n_syntax > 0 {
        // In invalid TOML, other problems would only be consequences of the first.
        reader.parsed.problems.truncate(n_syntax);
    }
    let mut parsed = reader.parsed;
    parsed.problems.sort_by_key(|it| (it.line, it.column));
    parsed
}

// Puts the message on one line, like other problems.
fn syntax_message(message: &str) -> String {
    let words: Vec<_> = message.split_whitespace().collect();
    format!("invalid TOML: {}", words.join(" "))
}

/// Table of the permission rules.
const PERMISSION: &str = "permission";

/// Records rules in other tables than that of the permission rules: keys that name it, and values
/// that are actions.
fn hide_misplaced_rules(reader: &mut ConfigReader<'_>, prefix: &str, table: &DeTable<'_>) {
    let names_rules = |key: &str| nearest(&key.to_ascii_lowercase(), &[PERMISSION]).is_some();
    let is_action = |it: &str| ["deny", "ask"].iter().any(|action| it.eq_ignore_ascii_case(action));
    for (key, value) in table {
        let name = format!("{prefix}{}", key.get_ref());
        if name == PERMISSION {
            continue;
        }
        if names_rules(key.get_ref()) || value.get_ref().as_str().is_some_and(is_action) {
            reader.hide_rule(key.span().start);
        }
        if let DeValue::Table(inner) = value.get_ref() {
            hide_misplaced_rules(reader, &format!("{name}."), inner);
        }
    }
}

fn read_table(reader: &mut ConfigReader<'_>, prefix: &str, table: &DeTable<'_>) {
    for (key, value) in table {
        let name = format!("{prefix}{}", key.get_ref());
        let is_table = KEYS.iter().any(|it| it.name.starts_with(&format!("{name}.")));
        match (KEYS.iter().find(|it| it.name == name), value.get_ref()) {
            (Some(row), _) => read_key(reader, row, key.span().start, value),
            (None, DeValue::Table(inner)) if is_table => {
                read_table(reader, &format!("{name}."), inner);
            }
            (None, _) if is_table => {
                let message =
                    format!("`{name}` must be a table, not {}", type_name(value.get_ref()));
                reader.problem(value.span().start, message, Some(keys_of(&name)));
                if name == PERMISSION {
                    reader.hide_rule(value.span().start);
                }
            }
            (None, _) => {
                let message = format!("unknown key `{name}`");
                let suggestion = suggestion(reader, &name);
                let may_be_rules = suggestion.as_ref().is_some_and(|it| it.contains(PERMISSION))
                    || name.starts_with(PERMISSION)
                    || nearest(&name, &[PERMISSION]).is_some();
                reader.problem(key.span().start, message, suggestion);
                if may_be_rules {
                    reader.hide_rule(key.span().start);
                }
            }
        }
    }
}

fn read_key(
    reader: &mut ConfigReader<'_>,
    row: &ConfigKey,
    at: usize,
    value: &Spanned<DeValue<'_>>,
) {
    if reader.source == ConfigSource::Repository && !row.repository {
        let message = format!("a repository cannot set `{}`", row.name);
        let hint = "Set it in your own `config.toml`.".to_owned();
        return reader.problem(at, message, Some(hint));
    }
    let errors = match (row.kind, value.get_ref()) {
        (
            ValueKind::Choices(_) | ValueKind::Profiles | ValueKind::Addresses,
            DeValue::Array(items),
        ) => read_list(reader, row, items.iter()),
        (ValueKind::Servers, DeValue::Table(table)) => {
            let (servers, errors) = server::read(table);
            reader.set_if_valid(row, ConfigValue::Servers(servers), errors)
        }
        (ValueKind::Rules, DeValue::Table(table)) => {
            let (rules, errors) = levels::read_rules(table, reader.rules);
            reader.set_if_valid(row, ConfigValue::Rules(rules), errors)
        }
        (ValueKind::Paths, DeValue::Table(table)) => {
            let (paths, errors) = levels::read_paths(table, reader.rules);
            reader.set_if_valid(row, ConfigValue::Paths(paths), errors)
        }
        (ValueKind::Permissions, DeValue::Table(table)) => {
            let (rules, errors) = permissions::read(reader, row, table);
            reader.parsed.config.set(row.name, ConfigValue::Permissions(rules));
            if let Some(at) = permissions::unknown_action(table) {
                reader.hide_rule(at);
            }
            errors
        }
        (ValueKind::CustomProfiles, DeValue::Table(own)) => {
            let own = profiles::read(reader, own);
            reader.parsed.config.set(row.name, ConfigValue::CustomProfiles(own));
            Vec::new()
        }
        (kind, one) => match scalar(kind, &accepted_words(reader, kind), one) {
            Ok(scalar) => reader.set_if_valid(row, scalar, Vec::new()),
            Err(error) => {
                if kind == ValueKind::Permissions {
                    reader.hide_rule(value.span().start);
                }
                vec![(value.span().start, error)]
            }
        },
    };
    for (at, ValueError { message, hint }) in errors {
        reader.problem(at, format!("`{}` {message}", row.name), hint);
    }
}

/// Reads a list of words or URLs.
fn read_list<'v>(
    reader: &mut ConfigReader<'_>,
    row: &ConfigKey,
    items: impl Iterator<Item = &'v Spanned<DeValue<'v>>>,
) -> Vec<(usize, ValueError)> {
    let (mut words, mut addresses, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for item in items {
        let read = match row.kind {
            ValueKind::Addresses => address(item.get_ref()).map(|it| addresses.push(it)),
            _ => word(&accepted_words(reader, row.kind), item.get_ref()).map(|it| words.push(it)),
        };
        errors.extend(read.err().map(|error| (item.span().start, error)));
    }
    let list = match row.kind {
        ValueKind::Addresses => ConfigValue::Addresses(addresses),
        _ => ConfigValue::Words(words),
    };
    reader.set_if_valid(row, list, errors)
}

/// Returns the words that a key accepts in this file.
fn accepted_words<'a>(reader: &'a ConfigReader<'_>, kind: ValueKind) -> Vec<&'a str> {
    let own =
        reader.own.iter().filter(|_| matches!(kind, ValueKind::Profile | ValueKind::Profiles));
    let mut words = kind.words();
    words.extend(own.map(String::as_str));
    words.dedup();
    words
}

/// Returns a suggestion for an unknown key.
fn suggestion(reader: &ConfigReader<'_>, name: &str) -> Option<String> {
    let may = |key: &&ConfigKey| key.repository || reader.source == ConfigSource::User;
    let names: Vec<_> = KEYS.iter().filter(may).map(|it| it.name).collect();
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    // Suggests `daemon.idle_exit` for `idle_exit`, and `log.level` for `log.levle`.
    let whole = nearest(name, &names);
    let found = whole.or_else(|| {
        let lasts: Vec<_> = names.iter().map(|it| last(it)).collect();
        let lasts: Vec<_> = lasts.iter().map(String::as_str).collect();
        let near = nearest(&last(name), &lasts)?;
        names.iter().copied().find(|it| last(it) == near)
    });
    found.map(|it| format!("Did you mean `{it}`?"))
}

fn scalar(kind: ValueKind, words: &[&str], value: &DeValue<'_>) -> Result<ConfigValue, ValueError> {
    let wrong_type = |wanted: &str, hint: &str| {
        let message = format!("must be {wanted}, not {}", type_name(value));
        Err(ValueError { message, hint: Some(hint.to_owned()) })
    };
    match kind {
        ValueKind::Choice(_) | ValueKind::Profile => word(words, value).map(ConfigValue::Word),
        ValueKind::Choices(_) | ValueKind::Profiles | ValueKind::Addresses => {
            wrong_type("a list", "Write it between `[` and `]`.")
        }
        ValueKind::Servers => {
            wrong_type("a table of servers", "Write `[mcp.servers.NAME]` and below it `command`.")
        }
        ValueKind::CustomProfiles => {
            wrong_type("a table of profiles", "Write `[profiles.NAME]` and below it `base`.")
        }
        ValueKind::Rules => wrong_type(
            "a table of rules and levels",
            "Write `[check.rules]` and below it `\"family/rule\" = \"off\"`.",
        ),
        ValueKind::Paths => wrong_type(
            "a table of globs",
            "Write `[check.paths.\"GLOB\"]` and below it `\"family/rule\" = \"off\"`.",
        ),
        ValueKind::Permissions => wrong_type(
            "a table of rules",
            "Write `[permission.skill]` and below it `\"NAME\" = \"deny\"`.",
        ),
        ValueKind::Switch => switch(value),
        ValueKind::Number { min, max, unit } => number(min, max, unit, value),
    }
}

fn switch(value: &DeValue<'_>) -> Result<ConfigValue, ValueError> {
    match value {
        DeValue::Boolean(on) => Ok(ConfigValue::Switch(*on)),
        other => {
            let message = format!("must be `true` or `false`, not {}", type_name(other));
            Err(ValueError { message, hint: None })
        }
    }
}

fn address(value: &DeValue<'_>) -> Result<Address, ValueError> {
    let DeValue::String(text) = value else {
        let message = format!("contains {} instead of a URL", type_name(value));
        return Err(ValueError { message, hint: None });
    };
    Address::parse(text).map_err(|error| ValueError {
        message: format!("contains `{}`, which {error}", redact(text)),
        hint: Some("Write it as `https://example.org/skills`.".to_owned()),
    })
}

fn number(min: u64, max: u64, unit: &str, value: &DeValue<'_>) -> Result<ConfigValue, ValueError> {
    let DeValue::Integer(integer) = value else {
        let message = format!("must be a whole number of {unit}, not {}", type_name(value));
        return Err(ValueError { message, hint: None });
    };
    let number = i128::from_str_radix(integer.as_str(), integer.radix()).ok();
    match number.and_then(|it| u64::try_from(it).ok()).filter(|it| (min..=max).contains(it)) {
        Some(number) => Ok(ConfigValue::Number(number)),
        None => Err(ValueError {
            message: format!("cannot be {}", integer.as_str()),
            hint: Some(format!("Use a value from {min} to {max} {unit}.")),
        }),
    }
}

fn keys_of(table: &str) -> String {
    let prefix = format!("{table}.");
    let names = KEYS.iter().filter_map(|it| it.name.strip_prefix(&prefix));
    let names: Vec<_> = names.map(|it| format!("`{it}`")).collect();
    format!("Write `[{table}]` on its own line, and below it {}.", names.join(", "))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::Config;

    #[track_caller]
    fn check(text: &str, source: ConfigSource, expected: &Expect) {
        let parsed = read(text.as_bytes(), source);
        let lines = parsed.problems.iter().map(|it| {
            let hint = it.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
            format!("{}:{}: {}{hint}\n", it.line, it.column, it.message)
        });
        expected.assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn empty_file_is_the_default() {
        let parsed = read(b"# nothing\n", ConfigSource::User);
        assert_eq!(parsed, Parsed::default());
    }

    #[test]
    fn tables_and_dotted_keys_are_equal() {
        let expected = Config {
            log_level: Some("debug".to_owned()),
            idle_exit: Some(0),
            connections: 0x40,
            profile: Some("claude-code".to_owned()),
            ..Config::default()
        };
        let text = "profile = \"claude-code\"\nlog.level = \"debug\"\n[daemon]\nidle_exit = 0\n[limits]\nconnections = 0x40\n";
        let parsed = read(text.as_bytes(), ConfigSource::User);
        assert_eq!(parsed, Parsed { config: expected, ..Parsed::default() });
    }

    #[test]
    fn mistake_that_may_hide_a_permission_rule_has_its_place() {
        let hidden = |text: &str| {
            let parsed = read(text.as_bytes(), ConfigSource::Repository);
            assert!(!parsed.problems.is_empty(), "{text}");
            parsed.hidden_rule.map(|it| (it.line, it.column))
        };
        for (text, place) in [
            ("[permission\nskill = { a = \"deny\" }\n", Some((1, 12))),
            ("[permission.skill]\na = \"deny\"\nb = \"denny\"\n", Some((3, 5))),
            ("[permission.skill]\na = [\"deny\"]\n", Some((2, 5))),
            ("permission = \"deny\"\n", Some((1, 14))),
            ("permission.skill = \"deny\"\n", Some((1, 20))),
            ("[permission.skills]\na = \"deny\"\n", Some((1, 13))),
            ("[permision.skill]\na = \"deny\"\n", Some((1, 2))),
            ("[PERMISSION.skill]\na = \"deny\"\n", Some((1, 2))),
            ("[check]\npermission.skill.a = \"deny\"\n", Some((2, 1))),
            ("[check.rules]\npermission.skill.a = \"deny\"\n", Some((2, 1))),
            ("[skills]\na = \"Deny\"\n", Some((1, 2))),
            ("[others]\na = \"Deny\"\n", Some((2, 1))),
            ("profile = \"codexx\"\n", None),
            ("[permission.skill]\na = \"allow\"\n", None),
            ("[check.rulez]\nx = 1\n", None),
        ] {
            assert_eq!(hidden(text), place, "{text}");
        }
        assert!(read(b"a = \"\xff\"", ConfigSource::Repository).hidden_rule.is_some());
    }

    #[test]
    fn unknown_keys_are_reported_with_a_suggestion() {
        check(
            "porfile = \"codex\"\n\n[log]\nlevle = \"debug\"\n[limits]\nconections = 1\n[else]\nx = 1\n",
            ConfigSource::User,
            &expect![[r#"
                1:1: unknown key `porfile` (Did you mean `profile`?)
                4:1: unknown key `log.levle` (Did you mean `log.level`?)
                6:1: unknown key `limits.conections` (Did you mean `limits.connections`?)
                7:2: unknown key `else`
            "#]],
        );
        check(
            "idle_exit = 5\n",
            ConfigSource::User,
            &expect![[r#"
                1:1: unknown key `idle_exit` (Did you mean `daemon.idle_exit`?)
            "#]],
        );
    }

    #[test]
    fn wrong_values_are_reported_at_their_position() {
        check(
            "profile = \"claude-cod\"\nread_limit = 10\nlog = 3\nrun.shell = 1\n[daemon]\nidle_exit = \"1h\"\n[limits]\nconnections = -1\nrequests_in_flight = 99999999999999999999\n",
            ConfigSource::User,
            &expect![[r#"
                1:11: `profile` cannot be `claude-cod` (Did you mean `claude-code`?)
                2:14: `read_limit` cannot be 10 (Use a value from 1024 to 67108864 bytes.)
                3:7: `log` must be a table, not an integer (Write `[log]` on its own line, and below it `level`.)
                4:13: `run.shell` must be `true` or `false`, not an integer
                6:13: `daemon.idle_exit` must be a whole number of seconds, not a string
                8:15: `limits.connections` cannot be -1 (Use a value from 4 to 65536 connections.)
                9:22: `limits.requests_in_flight` cannot be 99999999999999999999 (Use a value from 1 to 4096 requests.)
            "#]],
        );
    }

    #[test]
    fn invalid_toml_is_reported_at_its_position() {
        check(
            "profile = \n",
            ConfigSource::User,
            &expect![[r#"
                1:11: invalid TOML: string values must be quoted, expected literal string
            "#]],
        );
        check(
            "a = 1\na = 2\n",
            ConfigSource::User,
            &expect![[r#"
                2:1: invalid TOML: duplicate key
            "#]],
        );
        let parsed = read(b"profile = \"\xff\"\n", ConfigSource::User);
        assert_eq!(parsed.problems[0].message, "the file is not valid UTF-8");
        assert_eq!((parsed.problems[0].line, parsed.problems[0].column), (1, 12));
    }

    #[test]
    fn repository_cannot_set_user_keys() {
        check(
            "profile = \"claude-code\"\n[daemon]\nidle_exit = 1\n[limits]\nconnection = 1\n",
            ConfigSource::Repository,
            &expect![[r#"
                3:1: a repository cannot set `daemon.idle_exit` (Set it in your own `config.toml`.)
                5:1: unknown key `limits.connection`
            "#]],
        );
    }

    #[test]
    fn other_keys_keep_their_values_despite_a_problem() {
        let parsed = read(b"nope = 1\nread_limit = 2048\n", ConfigSource::User);
        assert_eq!((parsed.config.read_limit, parsed.problems.len()), (2048, 1));
    }
}
