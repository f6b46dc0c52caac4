//! Registers file watchers with the client, for files outside the index.
//!
//! Skill files and files near them are watched everywhere, for every change. Globs and links can
//! refer to any file of a worktree, but only its existence matters: below the workspace folders,
//! creation and deletion are watched if the client supports relative patterns.

use tower_lsp::Client;
use tower_lsp::ls_types::{
    DidChangeWatchedFilesRegistrationOptions, FileSystemWatcher, GlobPattern, OneOf, Registration,
    RelativePattern, Unregistration, Uri, WatchKind,
};

use crate::session::Session;
use crate::settings::Settings;
use crate::watched_files::WATCHED;

const METHOD: &str = "workspace/didChangeWatchedFiles";

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
