//! What the client is asked to watch, so that it tells of files that the index knows nothing of.
//!
//! Skills and what lies beside them wherever they are, at every change. Globs and links speak of any
//! file of a worktree, but only of whether it is there: below the client's folders what comes and
//! goes counts, where the client can be told that.

use std::path::Path;

use skills_agents::references::is_referencing_file;
use tower_lsp::Client;
use tower_lsp::ls_types::{
    DidChangeWatchedFilesRegistrationOptions, FileSystemWatcher, GlobPattern, OneOf, Registration,
    RelativePattern, Unregistration, Uri, WatchKind,
};

use crate::session::Session;
use crate::settings::Settings;

const METHOD: &str = "workspace/didChangeWatchedFiles";

/// The files whose changes may change what is said: skills and what lies beside them, agents'
/// files, and configurations.
const WATCHED: [&str; 6] = [
    "**/SKILL.md",
    "**/{CLAUDE,CLAUDE.local,AGENTS,AGENTS.override,GEMINI}.md",
    "**/{skills,skill}/**",
    "**/.{claude,agents,opencode,codex,gemini}/**",
    "**/.skillsd.toml",
    "**/.gitignore",
];

/// The directories of [`WATCHED`], all of whose files count.
const DIRECTORIES: [&str; 7] =
    ["skills", "skill", ".claude", ".agents", ".opencode", ".codex", ".gemini"];

/// Returns whether a change of a file may change what is said, and not only whether it is there:
/// one of [`WATCHED`], or another text that speaks of skills.
pub(crate) fn is_ours(path: &Path) -> bool {
    let is_configuration =
        path.file_name().is_some_and(|it| it == ".skillsd.toml" || it == ".gitignore");
    let is_below = || path.iter().any(|it| DIRECTORIES.iter().any(|directory| it == *directory));
    is_configuration || is_below() || is_referencing_file(path)
}

/// What each of the two registrations is called.
const FILES: &str = "skillsd-files";
const FOLDERS: &str = "skillsd-folders";

/// Asks the client to watch, where it can be asked.
pub(super) async fn register(session: &Session, client: &Client) {
    let Settings { registers_watchers, watches_below, .. } = session.settings();
    if !registers_watchers {
        return;
    }
    let watcher = |glob: &str| FileSystemWatcher {
        glob_pattern: GlobPattern::String(glob.to_owned()),
        kind: None,
    };
    let mut registrations = vec![registration(FILES, WATCHED.map(watcher).to_vec())];
    if watches_below {
        registrations.push(registration(FOLDERS, below(session)));
    }
    if let Err(error) = client.register_capability(registrations).await {
        tracing::debug!(%error, "the client does not watch files");
    }
}

/// Asks the client to watch below the folders that there are now.
pub(super) async fn follow(session: &Session, client: &Client) {
    let Settings { registers_watchers, watches_below, .. } = session.settings();
    if !(registers_watchers && watches_below) {
        return;
    }
    let before = Unregistration { id: FOLDERS.to_owned(), method: METHOD.to_owned() };
    let asked = async {
        client.unregister_capability(vec![before]).await?;
        client.register_capability(vec![registration(FOLDERS, below(session))]).await
    };
    if let Err(error) = asked.await {
        tracing::debug!(%error, "the client does not watch other folders");
    }
}

fn below(session: &Session) -> Vec<FileSystemWatcher> {
    let folders = session.folders();
    let watcher = |base: Uri| FileSystemWatcher {
        glob_pattern: GlobPattern::Relative(RelativePattern {
            base_uri: OneOf::Right(base),
            pattern: "**/*".to_owned(),
        }),
        kind: Some(WatchKind::Create | WatchKind::Delete),
    };
    folders.iter().filter_map(|it| Uri::from_file_path(&**it)).map(watcher).collect()
}

fn registration(id: &str, watchers: Vec<FileSystemWatcher>) -> Registration {
    let options = DidChangeWatchedFilesRegistrationOptions { watchers };
    Registration {
        id: id.to_owned(),
        method: METHOD.to_owned(),
        register_options: serde_json::to_value(options).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_build_makes_is_not_ours() {
        for (path, expected) in [
            ("/w/.claude/skills/pdf/scripts/a.py", true),
            ("/w/tools/skill", true),
            ("/w/.codex/config.toml", true),
            ("/w/a/AGENTS.md", true),
            ("/w/opencode/agents/a.md", true),
            ("/w/a/.gitignore", true),
            ("/w/.skillsd.toml", true),
            ("/w/target/debug/deps/skills-1.o", false),
            ("/w/dist/README.md", false),
        ] {
            assert_eq!(is_ours(Path::new(path)), expected, "{path}");
        }
    }
}
