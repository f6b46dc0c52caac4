//! [`WriteTrees`]: watches of the directories in which automatic sessions follow writes.
//!
//! A tree is every directory below a session's directory that git does not ignore or that contained
//! a tracked file when the session began. Directories up
//! to a limit are watched. In a git worktree, the files of further directories are compared with
//! the time of the last comparison instead.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::ops::Bound;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use skills_discovery::discover::Repository;
use skills_platform::lock::lock;
use skills_syntax::path::AbsPath;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::files::ignored::{Git, IgnoreOptions, walk};
use crate::health::Health;
use crate::watch::backend::WatchScope;
use crate::watch::backend::watch_limit;
use crate::watch::service::WatchService;
use crate::watch::subscription::Subscription;
use crate::watch::writes::{MAX_PENDING, Writes};

/// Maximum number of directories of a tree that are compared instead of watched.
const MAX_COMPARED: usize = 65_536;

/// Minimum time between two comparisons.
const COMPARE_EVERY: Duration = Duration::from_secs(2);

/// Time before a comparison whose changes it reports again. File systems round times.
const OVERLAP: Duration = Duration::from_millis(20);

/// Minimum time between two searches for removed directories.
const PRUNE_EVERY: Duration = Duration::from_secs(10);

/// The trees of all automatic sessions; cheap to clone.
#[derive(Clone, Default)]
pub struct WriteTrees(Arc<TreesState>);

#[derive(Default)]
struct TreesState {
    writes: Writes,
    watch: WatchService,
    trees: Mutex<BTreeMap<AbsPath, Arc<FollowedTree>>>,
    added: Notify,
}

/// A tree with its figures, which are read while the tree is walked.
struct FollowedTree {
    /// Physical path of the session's directory.
    top: PathBuf,
    tree: Mutex<WriteTree>,
    figures: Mutex<Figures>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    watched: usize,
    compared: usize,
    /// True if some directories are neither watched nor compared.
    is_partial: bool,
    /// Time of the next comparison, if there is something to compare.
    due: Option<Instant>,
}

/// Inode and time of creation, if the file system has it. Inodes are used again.
type DirIdentity = (u64, Option<SystemTime>);

/// The directories below one session's directory.
struct WriteTree {
    top: PathBuf,
    in_git: bool,
    limit: usize,
    subscription: Option<Subscription>,
    /// Watched directories with their identities.
    watched: BTreeMap<PathBuf, DirIdentity>,
    /// Directories with tracked files that ignore rules exclude.
    forced: BTreeSet<PathBuf>,
    /// Compared directories with their identities.
    compared: BTreeMap<PathBuf, DirIdentity>,
    is_partial: bool,
    /// Start of the last comparison.
    compared_at: SystemTime,
    compare_next: Instant,
    prune_next: Instant,
}

impl WriteTrees {
    pub(crate) fn new(writes: Writes, watch: WatchService) -> Self {
        Self(Arc::new(TreesState { writes, watch, ..TreesState::default() }))
    }

    /// Follows writes below a directory, with at most `limit` watches: every later write is
    /// reported by [`Writes::next`] or [`Self::compare`]. `worktree` is the top of the directory's
    /// git worktree, with its repository. Blocks on the disk.
    pub fn follow(&self, dir: &AbsPath, limit: usize, worktree: Option<&(AbsPath, Repository)>) {
        self.0.writes.follow(dir);
        let top = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_path_buf());
        // The index and other programs of the user need watches too.
        let share = watch_limit().map_or(usize::MAX, |it| usize::try_from(it / 4).unwrap_or(limit));
        let others = self.all().iter().map(|it| lock(&it.figures).watched).sum();
        let now = Instant::now();
        let tree = WriteTree {
            in_git: top.ancestors().any(|it| it.join(".git").exists()),
            limit: limit.min(share.saturating_sub(others)),
            subscription: self.0.watch.subscribe(),
            watched: BTreeMap::new(),
            forced: BTreeSet::new(),
            compared: BTreeMap::new(),
            is_partial: false,
            compared_at: SystemTime::now(),
            compare_next: now + COMPARE_EVERY,
            prune_next: now + PRUNE_EVERY,
            top: top.clone(),
        };
        let followed = FollowedTree { tree: Mutex::new(tree), top, figures: Mutex::default() };
        let tracked = worktree.map(|(top, it)| tracked_dirs(top, it)).unwrap_or_default();
        followed.change(|it| {
            it.add(&[it.top.clone()].into());
            it.force(tracked);
            Vec::new()
        });
        lock(&self.0.trees).insert(dir.clone(), Arc::new(followed));
        self.0.writes.mark_covered(dir);
        self.0.added.notify_one();
    }

    /// Stops following the directories for which `used` returns false.
    pub fn retain(&self, used: impl Fn(&AbsPath) -> bool) {
        self.0.writes.retain(&used);
        lock(&self.0.trees).retain(|dir, _| used(dir));
    }

    /// Returns the files among written paths, and the files in new directories, which are followed
    /// from now on; at most [`MAX_PENDING`]. A path may have been removed, or may be reported under
    /// its directory's former name. Blocks on the disk.
    pub fn files(&self, written: BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        let (mut files, mut dirs) = (BTreeSet::new(), BTreeSet::new());
        for path in written {
            match path.symlink_metadata() {
                Ok(found) if found.is_dir() => dirs.insert(path),
                Ok(_) => files.insert(path),
                Err(_) => false,
            };
        }
        if !dirs.is_empty() {
            for it in self.all() {
                let own = dirs.iter().filter(|dir| dir.starts_with(&it.top)).cloned().collect();
                files.extend(it.change(|it| it.add(&own)));
            }
        }
        files.into_iter().take(MAX_PENDING).collect()
    }

    /// Waits until directories that are not watched are to be compared.
    pub async fn until_due(&self) {
        loop {
            let next = self.all().iter().filter_map(|it| lock(&it.figures).due).min();
            tokio::select! {
                () = async { sleep_until(next.unwrap_or_else(Instant::now)).await }, if next.is_some() => return,
                () = self.0.added.notified() => {}
            }
        }
    }

    /// Compares the directories that are not watched, and returns their changed files, at most
    /// [`MAX_PENDING`]. Blocks on the disk.
    pub fn compare(&self) -> BTreeSet<PathBuf> {
        let now = Instant::now();
        let mut due = self.all();
        due.retain(|it| lock(&it.figures).due.is_some_and(|it| it <= now));
        let files = due.iter().flat_map(|it| it.change(WriteTree::compare));
        files.take(MAX_PENDING).collect()
    }

    /// Returns the problem of following writes below a directory, if there is one.
    pub fn health(&self, dir: &AbsPath) -> Option<Health> {
        let followed = lock(&self.0.trees).get(dir).cloned()?;
        let Figures { watched, compared, is_partial, .. } = *lock(&followed.figures);
        let others = match (compared, is_partial) {
            (0, false) => return None,
            (0, true) => "writes in the others are not seen".to_owned(),
            (n, false) => format!("it compares {n} others every few seconds"),
            (n, true) => {
                format!("it compares {n} others every few seconds; writes in the rest are not seen")
            }
        };
        Some(Health {
            code: "auto-watch",
            message: format!(
                "skillsd watches {watched} directories for the automatic session; {others}"
            ),
            hint: "Raise `sessions.auto_directories`, or ignore generated directories in `.gitignore`.",
            path: Some(dir.as_os_str().to_owned()),
        })
    }

    fn all(&self) -> Vec<Arc<FollowedTree>> {
        lock(&self.0.trees).values().cloned().collect()
    }
}

impl FollowedTree {
    /// Changes the tree and updates its figures.
    fn change(&self, change: impl FnOnce(&mut WriteTree) -> Vec<PathBuf>) -> Vec<PathBuf> {
        let mut tree = lock(&self.tree);
        let files = change(&mut tree);
        *lock(&self.figures) = Figures {
            watched: tree.watched.len(),
            compared: tree.compared.len(),
            is_partial: tree.is_partial,
            due: (!tree.compared.is_empty()).then_some(tree.compare_next),
        };
        files
    }
}

impl WriteTree {
    /// Follows directories and those below them that git does not ignore. Returns the files of
    /// those that are new.
    fn add(&mut self, dirs: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
        if dirs.is_empty() {
            return Vec::new();
        }
        let now = Instant::now();
        if self.watched.len() >= self.limit && self.prune_next <= now {
            self.watched.retain(|it, _| it.is_dir());
            self.prune_next = now + PRUNE_EVERY;
        }
        let wanted = dirs.clone();
        // Begins at the top, where the ignore rules for the directories may be.
        let keeps = move |it: &ignore::DirEntry| {
            it.file_name() != ".git"
                && (is_below(&wanted, it.path()) || is_above(&wanted, it.path()))
        };
        let options = IgnoreOptions { names: &[], within_git: true };
        let (mut files, mut new) = (Vec::new(), BTreeSet::new());
        let mut found = walk(&self.top, options, keeps);
        for entry in found.same_file_system(true).build().filter_map(Result::ok) {
            let is_dir = entry.file_type().is_some_and(|it| it.is_dir());
            if !is_below(dirs, entry.path()) {
                continue;
            }
            if !is_dir {
                let is_new = entry.path().parent().is_some_and(|it| new.contains(it));
                if is_new && files.len() < MAX_PENDING {
                    files.push(entry.into_path());
                }
                continue;
            }
            let Ok(found) = entry.metadata() else { continue };
            let identity = (found.ino(), found.created().ok());
            let path = entry.into_path();
            let known = self.watched.get(&path).or_else(|| self.compared.get(&path));
            if known != Some(&identity) {
                new.insert(path.clone());
            }
            if !self.take(path, identity) {
                self.is_partial = true;
                break;
            }
        }
        let forced = self.forced.iter().filter(|it| is_below(dirs, it));
        for path in forced.cloned().collect::<Vec<_>>() {
            files.extend(self.take_forced(&path));
        }
        files.truncate(MAX_PENDING);
        files
    }

    /// Follows those of the tracked directories that the ignore rules exclude.
    fn force(&mut self, mut tracked: BTreeSet<PathBuf>) {
        tracked.retain(|it| {
            it.starts_with(&self.top)
                && !self.watched.contains_key(it)
                && !self.compared.contains_key(it)
        });
        for path in &tracked {
            self.take_forced(path);
        }
        self.forced = tracked;
    }

    /// Follows a directory that the ignore rules exclude, if it exists. Returns its files if it is
    /// new.
    fn take_forced(&mut self, dir: &Path) -> Vec<PathBuf> {
        let Ok(found) = dir.symlink_metadata() else { return Vec::new() };
        // The index is the repository's: a path in it may lead out of the tree.
        if !found.is_dir() || !dir.canonicalize().is_ok_and(|it| it == *dir) {
            return Vec::new();
        }
        let identity = (found.ino(), found.created().ok());
        let known = self.watched.get(dir).or_else(|| self.compared.get(dir));
        let is_known = known == Some(&identity);
        if !self.take(dir.to_owned(), identity) {
            self.is_partial = true;
        }
        let entries = (!is_known).then(|| fs::read_dir(dir).ok()).flatten();
        let files = entries.into_iter().flatten().filter_map(Result::ok);
        let is_file = |it: &fs::DirEntry| it.file_type().is_ok_and(|it| !it.is_dir());
        files.filter(is_file).take(MAX_PENDING).map(|it| it.path()).collect()
    }

    /// Watches or compares a directory. Returns false if it does neither.
    fn take(&mut self, dir: PathBuf, identity: DirIdentity) -> bool {
        if self.watched.contains_key(&dir) || self.watched.len() < self.limit {
            let arm = self.subscription.as_mut().map(|it| it.arm(&dir, WatchScope::Saves));
            if matches!(arm, Some(Ok(()))) {
                self.compared.remove(&dir);
                self.watched.insert(dir, identity);
                return true;
            }
        }
        if self.in_git && self.compared.len() < MAX_COMPARED {
            self.compared.insert(dir, identity);
            return true;
        }
        false
    }

    /// Returns the files of compared directories that have changed since the last comparison.
    fn compare(&mut self) -> Vec<PathBuf> {
        let (start, clock) = (Instant::now(), SystemTime::now());
        let since = self.compared_at - OVERLAP;
        let (mut files, mut dirs) = (Vec::new(), BTreeSet::new());
        self.compared.retain(|dir, _| {
            let entries = match fs::read_dir(dir) {
                Ok(entries) => entries,
                Err(error) => return !is_gone(&error),
            };
            for entry in entries.filter_map(Result::ok) {
                let Ok(found) = entry.metadata() else { continue };
                if changed_at(&found) < since {
                    continue;
                }
                if found.is_dir() {
                    dirs.insert(entry.path());
                } else if files.len() < MAX_PENDING {
                    files.push(entry.path());
                }
            }
            true
        });
        dirs.retain(|it| !self.watched.contains_key(it) && !self.compared.contains_key(it));
        files.extend(self.add(&dirs));
        self.compared_at = clock;
        // A large tree takes at most a twentieth of one core.
        self.compare_next = Instant::now() + COMPARE_EVERY.max(start.elapsed() * 20);
        files
    }
}

/// Returns the physical paths of a worktree's directories with tracked files.
fn tracked_dirs(top: &AbsPath, repository: &Repository) -> BTreeSet<PathBuf> {
    let physical = fs::canonicalize(top).unwrap_or_else(|_| top.to_path_buf());
    let tracked = Git::new(top, repository).tracked_dirs();
    tracked.iter().map(|it| physical.join(it)).collect()
}

/// Returns whether a path is one of these directories or below one.
fn is_below(dirs: &BTreeSet<PathBuf>, path: &Path) -> bool {
    path.ancestors().any(|it| dirs.contains(it))
}

/// Returns whether one of these directories is below a path.
fn is_above(dirs: &BTreeSet<PathBuf>, path: &Path) -> bool {
    let next = dirs.range::<Path, _>((Bound::Included(path), Bound::Unbounded)).next();
    next.is_some_and(|it| it.starts_with(path))
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns the time of the last change of a file's content or attributes.
fn changed_at(found: &fs::Metadata) -> SystemTime {
    let nanos = u64::try_from(found.ctime_nsec()).unwrap_or(0);
    let seconds = u64::try_from(found.ctime()).unwrap_or(0);
    UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_nanos(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::ignored::index_file;
    use crate::watch::hints::HintQueue;
    use crate::watch::notify_watcher::{portable, recommended};

    /// Returns followed trees, the session's directory, and the guard of the disk.
    fn followed(limit: usize, is_portable: bool) -> (WriteTrees, AbsPath, tempfile::TempDir) {
        let guard = tempfile::tempdir().unwrap();
        let root = guard.path().canonicalize().unwrap();
        let top = root.join("w");
        for dir in [".git", "src/deep/er", "target/debug", "docs"] {
            fs::create_dir_all(top.join(dir)).unwrap();
        }
        fs::write(top.join(".gitignore"), "target/\n").unwrap();
        let queue = HintQueue::new(|| {});
        let writes = queue.writes().clone();
        let start = if is_portable { portable } else { recommended };
        let watch = WatchService::start(start(root.join("cookies")), queue).unwrap();
        let trees = WriteTrees::new(writes, watch);
        let top = AbsPath::new(&top).unwrap();
        fs::create_dir_all(top.join("target/forced")).unwrap();
        let outside = root.join("outside");
        fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, top.join("target/link")).unwrap();
        let tracked = index_file(2, 20, &["target/forced/f", "target/link/f"], None);
        fs::write(top.join(".git/index"), tracked).unwrap();
        // Sessions may be in a directory that a link leads to.
        let linked = root.join("linked");
        std::os::unix::fs::symlink(&top, &linked).unwrap();
        let worktree = (AbsPath::new(&linked).unwrap(), Repository::Own);
        trees.follow(&top, limit, Some(&worktree));
        (trees, top, guard)
    }

    /// Waits until the trees report a file.
    async fn reports(trees: &WriteTrees, file: &Path) {
        loop {
            let files = tokio::select! {
                written = trees.0.writes.next() => trees.files(written),
                () = trees.until_due() => trees.compare(),
            };
            if files.contains(file) {
                return;
            }
        }
    }

    async fn every_write_is_reported(limit: usize, is_portable: bool) {
        let (trees, top, _guard) = followed(limit, is_portable);
        for file in
            ["a", "src/deep/er/b", "new/below/c", "new/below/d", ".github/e", "target/forced/f"]
        {
            let file = top.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "x").unwrap();
            tokio::time::timeout(Duration::from_mins(1), reports(&trees, &file))
                .await
                .unwrap_or_else(|_| panic!("{} is not reported", file.display()));
        }
    }

    #[tokio::test]
    async fn write_in_any_directory_is_reported() {
        every_write_is_reported(100, false).await;
    }

    #[tokio::test]
    async fn write_in_any_directory_is_reported_with_notify() {
        every_write_is_reported(100, true).await;
    }

    #[tokio::test]
    async fn write_beyond_the_limit_is_reported_by_comparison() {
        every_write_is_reported(2, false).await;
    }

    #[tokio::test]
    async fn write_in_an_ignored_directory_is_not_reported() {
        let (trees, top, _guard) = followed(100, false);
        fs::write(top.join("target/debug/x"), "x").unwrap();
        fs::write(top.join("target/link/x"), "x").unwrap();
        fs::create_dir_all(top.join("docs/target/new")).unwrap();
        fs::write(top.join("docs/target/new/y"), "y").unwrap();
        fs::write(top.join("docs/z"), "z").unwrap();
        let mut files = BTreeSet::new();
        while !files.contains(&top.join("docs/z")) {
            files.extend(trees.files(trees.0.writes.next().await));
        }
        assert_eq!(files, [top.join("docs/z")].into());
    }

    #[tokio::test]
    async fn files_of_a_known_directory_are_not_reported_again() {
        let (trees, top, _guard) = followed(100, false);
        fs::write(top.join("src/old"), "x").unwrap();
        reports(&trees, &top.join("src/old")).await;
        assert_eq!(trees.files([top.join("src")].into()), BTreeSet::new());
        fs::remove_dir_all(top.join("src")).unwrap();
        fs::create_dir(top.join("src")).unwrap();
        fs::write(top.join("src/new"), "x").unwrap();
        assert!(trees.files([top.join("src")].into()).contains(&top.join("src/new")));
    }

    #[tokio::test]
    async fn health_reports_directories_beyond_the_limit() {
        let (trees, top, _guard) = followed(2, false);
        let health = trees.health(&top).unwrap();
        assert_eq!(health.code, "auto-watch");
        assert!(health.message.contains("watches 2 directories"), "{health:?}");
        assert!(health.message.contains("compares 5 others"), "{health:?}");
        let (trees, top, _guard) = followed(100, false);
        assert_eq!(trees.health(&top), None);
        trees.retain(|_| false);
        assert!(lock(&trees.0.trees).is_empty() && !trees.0.writes.follows(&top));
    }
}
