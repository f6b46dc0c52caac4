//! Subscriptions of the directories and files that an editor's open documents depend
//! on, and the configuration. Editors choose what they watch, and none reports all of it.
//!
//! Watches are bounded by the documents: a skill's directory, those of the files it refers to, and
//! the base directories of its globs with at most [`MAX_GLOB_DIRS`] directories below each. Ignored
//! files (git) are skipped. An event means only that something may have changed; the targets are
//! then watched again, since a watched path may now be a different file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use skills_discovery::discover::REPOSITORY_FILE;
use skills_engine::inspect;
use skills_engine::watch::backend::WatchScope;
use skills_engine::watch::service::WatchService;
use skills_engine::watch::subscription::Subscription;
use skills_lsp::{OnChange, WatchTarget};
use skills_syntax::path::AbsPath;
use tokio::time::sleep;

use crate::rpc::tasks::run_blocking;

/// Debounce interval before the callback runs.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// Maximum number of directories watched below a glob's base directory.
const MAX_GLOB_DIRS: usize = 1024;

/// The targets of an editor, and the service that watches them.
pub(super) struct DependencyWatcher {
    pub(super) service: WatchService,
    pub(super) targets: Vec<WatchTarget>,
    pub(super) configuration: Option<PathBuf>,
}

impl DependencyWatcher {
    /// Watches the targets as they are now; `None` without a watch service.
    pub(super) async fn arm(&self) -> Option<Subscription> {
        let Some(watch) = self.service.subscribe() else {
            tracing::info!("not watching files that open documents depend on");
            return None;
        };
        let (targets, file) = (self.targets.clone(), self.configuration.clone());
        // A directory on a network file system may not answer.
        run_blocking(move || arm(watch, &targets, file.as_deref())).await.ok()
    }

    /// Calls `on_change` after every change. Runs until it is aborted.
    pub(super) async fn watch(self, mut watch: Subscription, on_change: OnChange) {
        loop {
            watch.changed().await;
            sleep(DEBOUNCE).await;
            let Some(next) = self.arm().await else { return };
            watch = next;
            // After the targets are watched again, so that no later change is missed.
            on_change();
        }
    }
}

/// Watches what documents depend on.
fn arm(
    mut watch: Subscription,
    targets: &[WatchTarget],
    configuration: Option<&Path>,
) -> Subscription {
    let file = |watch: &mut Subscription, path: &Path| watch.watch_entry(path, WatchScope::Saves);
    let directory = |watch: &mut Subscription, dir: &Path| {
        if !watch.watch_entries(dir, WatchScope::Saves) {
            file(watch, dir);
        }
    };
    if let Some(path) = configuration {
        file(&mut watch, path);
    }
    for it in targets {
        match it {
            WatchTarget::Configuration(dir) => {
                let top = top(dir);
                file(&mut watch, &top.join(REPOSITORY_FILE));
                file(&mut watch, &top.join(".gitignore"));
            }
            WatchTarget::File(path) => file(&mut watch, path),
            WatchTarget::Directory(dir) => directory(&mut watch, dir),
            WatchTarget::Glob { root, dir, is_recursive } => {
                let top = top(root);
                directory(&mut watch, &top.join(dir));
                if *is_recursive {
                    for dir in inspect::directories(&top, dir, MAX_GLOB_DIRS) {
                        watch.watch_entries(&dir, WatchScope::Saves);
                    }
                }
            }
        }
    }
    watch
}

/// Returns the top of the worktree that contains `dir`, or `dir` itself.
fn top(dir: &AbsPath) -> AbsPath {
    inspect::worktree_top(dir).unwrap_or_else(|| dir.clone())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io;

    use skills_engine::watch::hints::HintQueue;
    use skills_engine::watch::notify_watcher::recommended;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn only_dependencies_of_open_documents_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let top = AbsPath::new(dir.path()).unwrap();
        for made in [".git", "a"] {
            fs::create_dir(top.join(made)).unwrap();
        }
        let targets = [
            WatchTarget::File(top.join_lexically("a/scripts/x.py")),
            WatchTarget::Configuration(top.join_lexically("a")),
            WatchTarget::Glob { root: top.clone(), dir: "src".to_owned(), is_recursive: true },
        ];
        let cookies = tempfile::tempdir().unwrap();
        let start = recommended(cookies.path().join("cookies"));
        let service = WatchService::start(start, HintQueue::new(|| {})).unwrap();
        let armed = || arm(service.subscribe().unwrap(), &targets, None);
        let told = async |mut watcher: Subscription| {
            timeout(Duration::from_secs(30), watcher.changed())
                .await
                .expect("the change is reported");
        };
        let mut watcher = armed();
        fs::write(top.join("other.txt"), "x").unwrap();
        fs::write(top.join("a/other.txt"), "x").unwrap();
        let mut waiting = Box::pin(watcher.changed());
        assert!(timeout(DEBOUNCE, &mut waiting).await.is_err(), "unrelated files are ignored");
        fs::create_dir(top.join("a/scripts")).unwrap();
        waiting.await;
        for change in [
            (|top| fs::write(top.join("a/scripts/x.py"), "x")) as fn(&AbsPath) -> io::Result<()>,
            |top| fs::remove_file(top.join("a/scripts/x.py")),
            |top| fs::create_dir(top.join("src")),
            |top| fs::write(top.join("src/b.zz"), "x"),
            |top| fs::create_dir(top.join("src/c")),
            |top| fs::write(top.join("src/c/d.zz"), "x"),
            |top| fs::rename(top.join("a/scripts"), top.join("elsewhere")),
            |top| fs::write(top.join(REPOSITORY_FILE), ""),
        ] {
            let watcher = armed();
            change(&top).unwrap();
            told(watcher).await;
        }
    }
}
