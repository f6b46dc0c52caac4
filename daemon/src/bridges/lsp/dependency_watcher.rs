//! Word of the directories that the open texts of an editor depend on, and of the configuration: what
//! an editor watches is for it to choose, and none tells of all.
//!
//! Bounded by what the texts refer to: the directory of a skill, those of the files that it names,
//! and where its globs begin, with so many of the directories below as a glob may reach into; what
//! git ignores is not followed. It says only that something may have changed, and its owner arms a
//! new one then, since what is watched may be another one.

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

use crate::lifecycle::inotify_queue::Queue;

/// What makes an entry of a directory another one, or changes what it is.
const ASKED: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// How long is waited for more of the same before the bell is rung.
const SETTLING: Duration = Duration::from_millis(100);

/// How many directories are watched below the one where the files of a glob begin.
const MOST_BELOW: usize = 1024;

/// Which entries of a directory matter.
enum Names {
    All,
    Some(BTreeSet<OsString>),
}

/// Watches some directories, until something has happened in one of them.
struct Vicinity {
    queue: Queue,
    names: HashMap<i32, Names>,
}

/// Rings whenever something may have changed, and once when it is watched, for ever.
pub(super) async fn heed(
    targets: Vec<WatchTarget>,
    configuration: Option<PathBuf>,
    on_change: OnChange,
) {
    loop {
        let (of, file) = (targets.clone(), configuration.clone());
        // A directory on a server may not answer.
        let armed = spawn_blocking(move || Vicinity::arm(&of, file.as_deref())).await;
        let heard = match armed.map_err(io::Error::from).flatten() {
            Ok(vicinity) => {
                on_change();
                vicinity.stir().await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = heard {
            tracing::info!(%error, "what lies beside open texts is not watched");
            return;
        }
        sleep(SETTLING).await;
    }
}

impl Vicinity {
    fn arm(targets: &[WatchTarget], configuration: Option<&Path>) -> io::Result<Self> {
        let mut vicinity = Self { queue: Queue::new()?, names: HashMap::new() };
        if let Some(file) = configuration {
            vicinity.file(file);
        }
        for it in targets {
            match it {
                WatchTarget::Configuration(place) => {
                    let top = top(place);
                    vicinity.file(&top.join(REPOSITORY_FILE));
                    vicinity.file(&top.join(".gitignore"));
                }
                WatchTarget::File(path) => vicinity.file(path),
                WatchTarget::Directory(dir) => vicinity.directory(dir),
                WatchTarget::Glob { root, dir, is_recursive } => {
                    let top = top(root);
                    vicinity.directory(&top.join(dir));
                    if *is_recursive {
                        for dir in inspect::directories(&top, dir, MOST_BELOW) {
                            vicinity.add(&dir, None);
                        }
                    }
                }
            }
        }
        Ok(vicinity)
    }

    /// Watches what is at a path, or the first directory on the way that is not there.
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

    /// Watches one entry of a directory, or all. Returns whether it is one.
    fn add(&mut self, dir: &Path, name: Option<&OsStr>) -> bool {
        let Ok(watch) = self.queue.add(dir, ASKED) else { return false };
        let names = self.names.entry(watch).or_insert_with(|| Names::Some(BTreeSet::new()));
        match (names, name) {
            (Names::Some(names), Some(name)) => drop(names.insert(name.to_owned())),
            (names @ Names::Some(_), None) => *names = Names::All,
            (Names::All, _) => {}
        }
        true
    }

    /// Waits until something has happened that matters.
    async fn stir(self) -> io::Result<()> {
        let mut is_stirred = false;
        while !is_stirred {
            self.queue.next(|event| is_stirred |= self.matters(event)).await?;
        }
        Ok(())
    }

    fn matters(&self, event: &Event<'_>) -> bool {
        let name = event.file_name().map(|it| OsStr::from_bytes(it.to_bytes()));
        match (self.names.get(&event.wd()), name) {
            (Some(Names::Some(names)), Some(name)) => names.contains(name),
            // The directory itself, all of it, or more than there was room for.
            (Some(Names::All), Some(_)) | (_, None) => true,
            (None, Some(_)) => false,
        }
    }
}

/// Returns the top of the worktree that a place is in; the place, where it is in none.
fn top(place: &AbsPath) -> AbsPath {
    inspect::worktree_top(place).unwrap_or_else(|| place.clone())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn what_an_open_text_refers_to_is_told_and_nothing_else() {
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
        let armed = || Vicinity::arm(&targets, None).unwrap();
        let told = async |vicinity: Vicinity| {
            timeout(Duration::from_secs(30), vicinity.stir()).await.expect("it is told").unwrap();
        };
        let vicinity = armed();
        fs::write(top.join("other.txt"), "x").unwrap();
        fs::write(top.join("a/other.txt"), "x").unwrap();
        let mut stirring = Box::pin(vicinity.stir());
        assert!(timeout(SETTLING, &mut stirring).await.is_err(), "these are no business of it");
        fs::create_dir(top.join("a/scripts")).unwrap();
        stirring.await.unwrap();
        for change in [
            (|top| fs::write(top.join("a/scripts/x.py"), "x")) as fn(&AbsPath) -> io::Result<()>,
            |top| fs::remove_file(top.join("a/scripts/x.py")),
            |top| fs::create_dir(top.join("src")),
            |top| fs::write(top.join("src/b.zz"), "x"),
            |top| fs::create_dir(top.join("src/c")),
            |top| fs::write(top.join("src/c/d.zz"), "x"),
            |top| fs::write(top.join(REPOSITORY_FILE), ""),
        ] {
            let vicinity = armed();
            change(&top).unwrap();
            told(vicinity).await;
        }
    }
}
