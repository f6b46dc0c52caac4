//! Location of the user's global ignore file: git's `core.excludesFile`.
//!
//! The `ignore` crate locates it too, but reads git's configuration files without a limit on their
//! kind or size. Here they are read like ignore files: regular files of a bounded size. `include`
//! directives are not followed.

use std::env;
use std::path::{Path, PathBuf};

use super::patterns::{Links, text};

/// Returns the path of the user's ignore file, which may not exist.
pub(crate) fn excludes_file() -> Option<PathBuf> {
    let home = home();
    let mut said = config_files().into_iter().filter_map(|it| text(&it, Links::Followed));
    said.find_map(|it| parse_excludes_file(&it, home.as_deref()))
        .or_else(|| Some(xdg_config(home.as_deref())?.join("git/ignore")))
}

fn home() -> Option<PathBuf> {
    env::home_dir().filter(|it| it.is_absolute())
}

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from)
}

fn xdg_config(home: Option<&Path>) -> Option<PathBuf> {
    variable("XDG_CONFIG_HOME").or_else(|| Some(home?.join(".config")))
}

/// Returns the git configuration files that can name the user's ignore file, which may not exist,
/// the strongest first.
pub(crate) fn config_files() -> Vec<PathBuf> {
    let home = home();
    let xdg = xdg_config(home.as_deref());
    // `GIT_CONFIG_GLOBAL` replaces both files of the user.
    let users: Vec<PathBuf> = variable("GIT_CONFIG_GLOBAL").map_or_else(
        || {
            let own = home.iter().map(|it| it.join(".gitconfig"));
            own.chain(xdg.iter().map(|it| it.join("git/config"))).collect()
        },
        |file| vec![file],
    );
    let systems = variable("GIT_CONFIG_SYSTEM").unwrap_or_else(|| "/etc/gitconfig".into());
    users.into_iter().chain([systems]).collect()
}

/// Returns the value of `core.excludesFile` in a git configuration; the last one wins.
fn parse_excludes_file(text: &str, home: Option<&Path>) -> Option<PathBuf> {
    let mut is_core = false;
    let mut value = None;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let mut line = line.trim();
        // A key may follow its section header on one line.
        if let Some((section, rest)) = line.strip_prefix('[').and_then(|it| it.split_once(']')) {
            is_core = section.trim().eq_ignore_ascii_case("core");
            line = rest.trim_start();
        }
        if let Some((key, said)) = line.split_once('=')
            && is_core
            && key.trim().eq_ignore_ascii_case("excludesFile")
        {
            value = Some(unquoted(said));
        }
    }
    let value = value.filter(|it| !it.is_empty())?;
    match value.strip_prefix("~/") {
        Some(rest) => Some(home?.join(rest)),
        None => Some(value.into()),
    }
}

/// Returns a value without quotes and trailing comment.
fn unquoted(value: &str) -> String {
    let mut unquoted = String::new();
    let mut is_quoted = false;
    let mut letters = value.trim().chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '\\' => unquoted.extend(letters.next()),
            '#' | ';' if !is_quoted => break,
            _ => unquoted.push(letter),
        }
    }
    unquoted.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(parse_excludes_file(text, Some(Path::new("/h"))), expected.map(PathBuf::from));
    }

    #[test]
    fn excludes_file_is_parsed_like_git() {
        check("", None);
        check("[user]\n\texcludesFile = /a\n", None);
        check("[core]\n\texcludesfile = /a # mine\n", Some("/a"));
        check("[CORE] ExcludesFile=\"/with blank #1\"\n", Some("/with blank #1"));
        check(
            "[core]\nexcludesFile = /a\n[user]\nname = b\n[core]\nexcludesFile = ~/c\n",
            Some("/h/c"),
        );
        check("[core \"x\"]\nexcludesFile = /a\n[core]\neditor = vi\n", None);
        check("[core]\nexcludesFile =\n", None);
    }
}
