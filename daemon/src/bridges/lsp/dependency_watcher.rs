//! `DependencyWatcher`: watches the directories and files that an editor's open documents depend
//! on, and the configuration. Editors choose what they watch, and none reports all of it.
//!
//! Watches are bounded by the documents: a skill's directory, those of the files it refers to, and
//! the base directories of its globs with at most [`MAX_GLOB_DIRS`] directories below each. Ignored
//! files (git) are skipped. An event means only that something may have changed; the caller then
//! creates a new watcher, since a watched path may now be a different file.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::inotify::{Event, WatchFlags};
use skills_discovery::discover::REPOSITORY_FILE;
use skills_engine::files::inspect;
use skills_lsp::{OnChange, WatchTarget};
use skills_syntax::path::AbsPath;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::lifecycle::inotify_queue::InotifyQueue;

/// Events that add, remove, replace or modify a directory entry.
const EVENTS: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// Debounce interval before the callback runs.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// Maximum number of directories watched below a glob's base directory.
const MAX_GLOB_DIRS: usize = 1024;

/// The entries of a directory whose events are reported.
enum Names {
    All,
    Some(BTreeSet<OsString>),
}

/// Watches a set of directories until an event in one of them.
struct DependencyWatcher {
    queue: InotifyQueue,
    names: HashMap<i32, Names>,
}

/// Calls `on_change` once the watches are set and after every change. Runs until it is aborted.
pub(super) async fn watch(
    targets: Vec<WatchTarget>,
    configuration: Option<PathBuf>,
    on_change: OnChange,
) {
    loop {
        let (of, file) = (targets.clone(), configuration.clone());
        // A directory on a network file system may not answer.
        let armed = spawn_blocking(move || DependencyWatcher::arm(&of, file.as_deref())).await;
        let heard = match armed.map_err(io::Error::from).flatten() {
            Ok(watcher) => {
                on_change();
                watcher.wait_for_change().await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = heard {
            tracing::info!(%error, "not watching files that open documents depend on");
            return;
        }
        sleep(DEBOUNCE).await;
    }
}

impl DependencyWatcher {
    fn arm(targets: &[WatchTarget], configuration: Option<&Path>) -> io::Result<Self> {
        let mut watcher = Self { queue: InotifyQueue::new()?, names: HashMap::new() };
        if let Some(file) = configuration {
            watcher.file(file);
        }
        for it in targets {
            match it {
                WatchTarget::Configuration(place) => {
                    let top = top(place);
                    watcher.file(&top.join(REPOSITORY_FILE));
                    watcher.file(&top.join(".gitignore"));
                }
                WatchTarget::File(path) => watcher.file(path),
                WatchTarget::Directory(dir) => watcher.directory(dir),
                WatchTarget::Glob { root, dir, is_recursive } => {
                    let top = top(root);
                    watcher.directory(&top.join(dir));
                    if *is_recursive {
                        for dir in inspect::directories(&top, dir, MAX_GLOB_DIRS) {
                            watcher.add(&dir, None);
                        }
                    }
                }
            }
        }
        Ok(watcher)
    }

    /// Watches a path, or its nearest missing ancestor.
    fn file(&mut self, path: &Path) {
        let mut below = path;
        while let (Some(dir), Some(name)) = (below.parent(), below.file_name()) {
            if self.add(dir, Some(name)) {
                return;
            }
            below = dir;
        }
    }

    fn directory(&mut self, dir: &Path) {
        if !self.add(dir, None) {
            self.file(dir);
        }
    }

    /// Watches one entry of a directory, or all of them. Returns false if it is not a directory.
    fn add(&mut self, dir: &Path, name: Option<&OsStr>) -> bool {
        let Ok(watch) = self.queue.add(dir, EVENTS) else { return false };
        let names = self.names.entry(watch).or_insert_with(|| Names::Some(BTreeSet::new()));
        match (names, name) {
            (Names::Some(names), Some(name)) => drop(names.insert(name.to_owned())),
            (names @ Names::Some(_), None) => *names = Names::All,
            (Names::All, _) => {}
        }
        true
    }

    /// Waits for a relevant event.
    async fn wait_for_change(self) -> io::Result<()> {
        let mut is_relevant = false;
        while !is_relevant {
            self.queue.next(|event| is_relevant |= self.matters(event)).await?;
        }
        Ok(())
    }

    fn matters(&self, event: &Event<'_>) -> bool {
        let name = event.file_name().map(|it| OsStr::from_bytes(it.to_bytes()));
        match (self.names.get(&event.wd()), name) {
            (Some(Names::Some(names)), Some(name)) => names.contains(name),
            // The directory itself, any entry of it, or a queue overflow.
            (Some(Names::All), Some(_)) | (_, None) => true,
            (None, Some(_)) => false,
        }
    }
}

/// Returns the top of the worktree that contains `place`, or `place` itself.
fn top(place: &AbsPath) -> AbsPath {
    inspect::worktree_top(place).unwrap_or_else(|| place.clone())
}

#[cfg(test)]
mod tests {
    use std::fs;

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
        let armed = || DependencyWatcher::arm(&targets, None).unwrap();
        let told = async |watcher: DependencyWatcher| {
            timeout(Duration::from_secs(30), watcher.wait_for_change())
                .await
                .expect("the change is reported")
                .unwrap();
        };
        let watcher = armed();
        fs::write(top.join("other.txt"), "x").unwrap();
        fs::write(top.join("a/other.txt"), "x").unwrap();
        let mut waiting = Box::pin(watcher.wait_for_change());
        assert!(timeout(DEBOUNCE, &mut waiting).await.is_err(), "unrelated files are ignored");
        fs::create_dir(top.join("a/scripts")).unwrap();
        waiting.await.unwrap();
        for change in [
            (|top| fs::write(top.join("a/scripts/x.py"), "x")) as fn(&AbsPath) -> io::Result<()>,
            |top| fs::remove_file(top.join("a/scripts/x.py")),
            |top| fs::create_dir(top.join("src")),
            |top| fs::write(top.join("src/b.zz"), "x"),
            |top| fs::create_dir(top.join("src/c")),
            |top| fs::write(top.join("src/c/d.zz"), "x"),
            |top| fs::write(top.join(REPOSITORY_FILE), ""),
        ] {
            let watcher = armed();
            change(&top).unwrap();
            told(watcher).await;
        }
    }
}
