//! Location of the user's global ignore file: git's `core.excludesFile`.
//!
//! The `ignore` crate locates it too, but reads git's configuration files without a limit on their
//! kind or size. Here they are read like ignore files: regular files of a bounded size. `include`
//! directives are not followed.

use std::env;
use std::path::{Path, PathBuf};

use skills_syntax::git_config::last_value;

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
    let value = last_value(text, "core", "excludesFile")?.into_text()?;
    match value.strip_prefix("~/") {
        Some(rest) => Some(home?.join(rest)),
        None => Some(value.into()),
    }
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
        check("[core]\n\texcludesfile = /a # mine\n", Some("/a"));
        check("[core]\nexcludesFile = ~/c\n", Some("/h/c"));
        check("[core]\neditor = vi \\\nexcludesFile = /a\n", None);
    }
}
