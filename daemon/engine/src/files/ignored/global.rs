//! Where the user's own file of patterns is, for all repositories: git's `core.excludesFile`.
//!
//! The `ignore` crate finds it too, and reads the files of git's configuration whatever they are
//! and to their end. They are read here as files of patterns are: regular ones of a bounded size.
//! What they include is not looked at.

use std::env;
use std::path::{Path, PathBuf};

use super::patterns::{Links, text};

/// Returns where the user's own patterns are, whether or not a file is there.
pub(super) fn excludes_file() -> Option<PathBuf> {
    let home = env::home_dir().filter(|it| it.is_absolute());
    let variable = |name| env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let xdg = variable("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
    // The strongest first. The variable stands for both files of the user's.
    let users = variable("GIT_CONFIG_GLOBAL").map_or_else(
        || {
            let own = home.iter().map(|it| it.join(".gitconfig"));
            own.chain(xdg.iter().map(|it| it.join("git/config"))).collect()
        },
        |file| vec![file],
    );
    let systems = variable("GIT_CONFIG_SYSTEM").unwrap_or_else(|| "/etc/gitconfig".into());
    let files = users.into_iter().chain([systems]);
    let mut said = files.filter_map(|it| text(&it, Links::Followed));
    said.find_map(|it| named(&it, home.as_deref())).or_else(|| Some(xdg?.join("git/ignore")))
}

/// Returns the file that a text of git's configuration names; the last word counts.
fn named(text: &str, home: Option<&Path>) -> Option<PathBuf> {
    let mut is_core = false;
    let mut value = None;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let mut line = line.trim();
        // A key may follow its section on one line.
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

/// Returns a value without its quotes and without the comment behind it.
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
        assert_eq!(named(text, Some(Path::new("/h"))), expected.map(PathBuf::from));
    }

    #[test]
    fn the_file_is_the_one_that_git_reads() {
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
