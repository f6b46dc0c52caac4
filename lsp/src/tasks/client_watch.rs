//! Registers file watchers with the client, for files outside the index.
//!
//! Skill files and files near them are watched everywhere, for every change. Globs and links can
//! refer to any file of a worktree, but only its existence matters: below the workspace folders,
//! creation and deletion are watched if the client supports relative patterns.

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

/// Globs of files whose content can change findings: skills and files near them, agents' files, and
/// configuration.
const WATCHED: [&str; 6] = [
    "**/SKILL.md",
    "**/{CLAUDE,CLAUDE.local,AGENTS,AGENTS.override,GEMINI}.md",
    "**/{skills,skill}/**",
    "**/.{claude,agents,opencode,codex,gemini}/**",
    "**/.skillsd.toml",
    "**/.gitignore",
];

/// The directories in [`WATCHED`]; every file below them is relevant.
const DIRECTORIES: [&str; 7] =
    ["skills", "skill", ".claude", ".agents", ".opencode", ".codex", ".gemini"];

/// Returns true if the content of a file can change findings, not only its existence: files in
/// [`WATCHED`], and other files that mention skills.
pub(crate) fn is_relevant(path: &Path) -> bool {
    let is_configuration =
        path.file_name().is_some_and(|it| it == ".skillsd.toml" || it == ".gitignore");
    let is_below = || path.iter().any(|it| DIRECTORIES.iter().any(|directory| it == *directory));
    is_configuration || is_below() || is_referencing_file(path)
}

/// Ids of the two registrations.
const FILES: &str = "skillsd-files";
const FOLDERS: &str = "skillsd-folders";

/// Registers file watchers, if the client supports that.
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
        tracing::debug!(%error, "the client did not register file watchers");
    }
}

/// Registers watchers for the current workspace folders.
pub(super) async fn follow(session: &Session, client: &Client) {
    let Settings { registers_watchers, watches_below, .. } = session.settings();
    if !(registers_watchers && watches_below) {
        return;
    }
    let before = Unregistration { id: FOLDERS.to_owned(), method: METHOD.to_owned() };
    let update = async {
        client.unregister_capability(vec![before]).await?;
        client.register_capability(vec![registration(FOLDERS, below(session))]).await
    };
    if let Err(error) = update.await {
        tracing::debug!(%error, "the client did not update its file watchers");
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
    fn build_outputs_are_not_relevant() {
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
            assert_eq!(is_relevant(Path::new(path)), expected, "{path}");
        }
    }
}
