//! Reader of the table `mcp.servers`.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::value::{ValueError, nearest, type_name};

/// Command that starts an MCP server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpServer {
    /// Program: a path, or a name to search in `PATH`.
    pub command: String,
    pub args: Vec<String>,
    /// Environment variables, in addition to the few that every program needs.
    pub env: BTreeMap<String, String>,
}

/// Keys of an MCP server, each with its description.
pub const SERVER_KEYS: [(&str, &str); 3] = [
    ("command", "The program: a path, or a name to search in `PATH`."),
    ("args", "Arguments of the program."),
    ("env", "Environment variables, in addition to the few that every program needs."),
];

/// Reads the table. Any mistake is returned with its offset; the caller then ignores the table.
pub(super) fn read(table: &DeTable<'_>) -> (BTreeMap<String, McpServer>, Vec<(usize, ValueError)>) {
    let mut servers = BTreeMap::new();
    let mut errors = Vec::new();
    for (name, value) in table {
        let DeValue::Table(keys) = value.get_ref() else {
            let message =
                format!("has an entry `{}` that is {}", name.get_ref(), type_name(value.get_ref()));
            let hint = Some("Write a table with a `command`.".to_owned());
            errors.push((value.span().start, ValueError { message, hint }));
            continue;
        };
        let server = read_server(name.get_ref(), keys, &mut errors);
        if server.command.is_empty() && !keys.iter().any(|(it, _)| it.get_ref() == "command") {
            let message = format!("has no `command` for `{}`", name.get_ref());
            let hint = Some("Add `command` with the program to start.".to_owned());
            errors.push((name.span().start, ValueError { message, hint }));
        }
        servers.insert(name.get_ref().clone().into_owned(), server);
    }
    (servers, errors)
}

fn read_server(name: &str, keys: &DeTable<'_>, errors: &mut Vec<(usize, ValueError)>) -> McpServer {
    let mut server = McpServer::default();
    for (key, value) in keys {
        let at = value.span().start;
        let wrong = |what: &str| ValueError {
            message: format!("has a value for `{}` of `{name}` that is not {what}", key.get_ref()),
            hint: None,
        };
        let read = match (&**key.get_ref(), value.get_ref()) {
            ("command", DeValue::String(text)) if !text.is_empty() => {
                server.command = text.clone().into_owned();
                Ok(())
            }
            ("command", _) => Err((at, wrong("a non-empty string"))),
            ("args", DeValue::Array(items)) => items
                .iter()
                .map(|it| text(it).ok_or_else(|| (it.span().start, wrong("a list of strings"))))
                .collect::<Result<_, _>>()
                .map(|args| server.args = args),
            ("args", _) => Err((at, wrong("a list of strings"))),
            ("env", DeValue::Table(items)) => items
                .iter()
                .map(|(name, it)| match text(it) {
                    Some(text) => Ok((name.get_ref().clone().into_owned(), text)),
                    None => Err((it.span().start, wrong("a table of strings"))),
                })
                .collect::<Result<_, _>>()
                .map(|env| server.env = env),
            ("env", _) => Err((at, wrong("a table of strings"))),
            (unknown, _) => {
                let near = nearest(unknown, &SERVER_KEYS.map(|(name, _)| name));
                let message = format!("has the unknown key `{unknown}` for `{name}`");
                let hint = near.map_or_else(
                    || format!("Use {}.", keys_listed()),
                    |it| format!("Did you mean `{it}`?"),
                );
                Err((key.span().start, ValueError { message, hint: Some(hint) }))
            }
        };
        errors.extend(read.err());
    }
    server
}

fn keys_listed() -> String {
    SERVER_KEYS.map(|(name, _)| format!("`{name}`")).join(", ")
}

fn text(value: &Spanned<DeValue<'_>>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.clone().into_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::{ConfigSource, read};

    #[track_caller]
    fn check(text: &str, expected: &Expect) {
        let parsed = read(text.as_bytes(), ConfigSource::User);
        let lines = parsed.problems.iter().map(|it| {
            let hint = it.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
            format!("{}:{}: {}{hint}\n", it.line, it.column, it.message)
        });
        let servers = parsed
            .config
            .mcp_servers
            .iter()
            .map(|(name, it)| format!("{name}: {} {:?} {:?}\n", it.command, it.args, it.env));
        expected.assert_eq(&lines.chain(servers).collect::<String>());
    }

    #[test]
    fn servers_are_read_from_their_tables() {
        check(
            "[mcp.servers.notes]\ncommand = \"notes\"\nargs = [\"-x\"]\n[mcp.servers.notes.env]\nA = \"b\"\n[mcp.servers.\"two words\"]\ncommand = \"/bin/b\"\n",
            &expect![[r#"
                notes: notes ["-x"] {"A": "b"}
                two words: /bin/b [] {}
            "#]],
        );
    }

    #[test]
    fn mistakes_in_servers_are_reported_at_their_position() {
        check(
            "[mcp.servers.a]\ncomand = \"x\"\n[mcp.servers.b]\ncommand = \"\"\nargs = [1]\nenv = 2\n[mcp.servers]\nc = 3\n",
            &expect![[r#"
                1:14: `mcp.servers` has no `command` for `a` (Add `command` with the program to start.)
                2:1: `mcp.servers` has the unknown key `comand` for `a` (Did you mean `command`?)
                4:11: `mcp.servers` has a value for `command` of `b` that is not a non-empty string
                5:9: `mcp.servers` has a value for `args` of `b` that is not a list of strings
                6:7: `mcp.servers` has a value for `env` of `b` that is not a table of strings
                8:5: `mcp.servers` has an entry `c` that is an integer (Write a table with a `command`.)
            "#]],
        );
        check(
            "mcp.servers = 3\n[remote]\nurls = [\"ftp://x\", 3]\n[bundled]\nprofiles = [\"codx\"]\n",
            &expect![[r#"
                1:15: `mcp.servers` must be a table of servers, not an integer (Write `[mcp.servers.NAME]` and below it `command`.)
                3:9: `remote.urls` contains `ftp://x`, which begins with neither `https://` nor `http://` (Write it as `https://example.org/skills`.)
                3:20: `remote.urls` contains an integer instead of a URL
                5:13: `bundled.profiles` cannot be `codx` (Did you mean `codex`?)
            "#]],
        );
    }
}
