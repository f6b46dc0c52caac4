//! Discovery of skill directories near touched paths.
//!
//! A path is resolved both as named and with links resolved, so that neither a working directory
//! reached by a link nor a link inside it hides a directory. The path need not exist. The search
//! goes up from its directory and ends below the working directory; at each level it checks the
//! agent's skill directories, with two system calls for an existing one and one for a missing one
//! ([`TouchDirCache`]). Directories that git ignores are left out.

mod levels;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use skills_discovery::discover::Repository;
use skills_platform::open_file::resolve;
use skills_syntax::path::AbsPath;

use crate::disk::{Disk, EntryKind, RealDisk};
use crate::files::ignored::Git;

pub use levels::TouchDirCache;

#[derive(Clone, Debug)]
pub struct Search {
    pub cwd: AbsPath,
    /// Top of the git worktree; none if ignore rules do not apply.
    pub worktree: Option<AbsPath>,
    /// Location of the worktree's repository, with its ignore rules and index.
    pub repository: Repository,
    /// Relative paths of skill directories to check at each level.
    pub relative: Vec<PathBuf>,
    /// Directories discovered before; their ignore rules are not checked again.
    pub known: Vec<AbsPath>,
    pub touched: Vec<AbsPath>,
    pub levels: TouchDirCache,
}

#[derive(Clone, Debug, Default)]
pub struct TouchedRoots {
    /// Skill directories above the touched paths, each once.
    pub roots: Vec<AbsPath>,
    /// Touched paths with their location relative to the working directory. Paths outside of it are
    /// omitted.
    pub places: Vec<(AbsPath, PathBuf)>,
    /// Skill directories above the touched paths that git ignores.
    pub ignored: Vec<AbsPath>,
}

/// Searches for skill directories near touched paths. Reads the disk.
pub fn discover(search: &Search) -> TouchedRoots {
    discover_on(&RealDisk, search)
}

fn discover_on(disk: &dyn Disk, search: &Search) -> TouchedRoots {
    let mut found = TouchedRoots::default();
    let mut seen = HashSet::new();
    let mut git = None;
    let cwd = resolve(&search.cwd).map(|(path, _)| path);
    for path in &search.touched {
        let (real, is_dir) = real_of_nearest(path);
        let as_named = path.strip_prefix(&search.cwd).ok();
        let as_is = cwd.as_ref().and_then(|cwd| real.strip_prefix(cwd).ok());
        let mut before = None;
        for relative in [as_named, as_is].into_iter().flatten() {
            if relative.as_os_str().is_empty() || before == Some(relative) {
                continue;
            }
            before = Some(relative);
            found.places.push((path.clone(), relative.to_owned()));
            let below = if is_dir { relative } else { relative.parent().unwrap_or(relative) };
            climb(disk, search, below, &mut seen, &mut git, &mut found);
        }
    }
    found
}

/// Checks for skill directories from a directory below the working directory up to it. Reads the
/// ignore rules into `git` only if there is one.
fn climb(
    disk: &dyn Disk,
    search: &Search,
    below: &Path,
    seen: &mut HashSet<PathBuf>,
    git: &mut Option<Git>,
    found: &mut TouchedRoots,
) {
    if search.relative.is_empty() || below.components().any(|it| it.as_os_str() == ".git") {
        return;
    }
    for level in below.ancestors().filter(|it| !it.as_os_str().is_empty()) {
        if !seen.insert(level.to_owned()) {
            // All levels above were visited as well.
            return;
        }
        let dir = search.cwd.child(level);
        let contents = search.levels.contents(disk, &dir);
        for relative in search.relative.iter().filter(|it| contents.may_have(it)) {
            let root = dir.child(relative);
            if !is_directory(disk, &root) {
                continue;
            }
            let mut ignores = |top: &AbsPath| {
                git.get_or_insert_with(|| Git::new(top, &search.repository)).ignores(&dir)
            };
            if !search.known.contains(&root) && search.worktree.as_ref().is_some_and(&mut ignores) {
                found.ignored.push(root);
            } else {
                found.roots.push(root);
            }
        }
    }
}

fn is_directory(disk: &dyn Disk, path: &Path) -> bool {
    match disk.stat(path).map(|it| it.kind) {
        Ok(EntryKind::Directory) => true,
        Ok(EntryKind::Link) => fs::metadata(path).is_ok_and(|it| it.is_dir()),
        Ok(EntryKind::File | EntryKind::Special(_)) | Err(_) => false,
    }
}

/// Returns the path with links resolved, and whether it is a directory. For a missing path,
/// resolves the nearest existing parent and appends the rest.
fn real_of_nearest(path: &AbsPath) -> (PathBuf, bool) {
    for (index, above) in path.ancestors().enumerate() {
        if let Some((real, is_dir)) = resolve(&above) {
            let rest = path.strip_prefix(&above).unwrap_or(Path::new(""));
            return if index == 0 { (real, is_dir) } else { (real.join(rest), false) };
        }
    }
    (path.to_path_buf(), false)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use super::*;
    use crate::disk::{Directory, File, ReadError, Stat};

    const PLACES: [&str; 8] = [
        ".agents/skills", ".claude/skills", ".opencode/skills", ".opencode/skill", ".codex/skills",
        ".gemini/skills", ".github/skills", ".cursor/skills",
    ];

    /// Disk that counts its calls.
    #[derive(Default)]
    struct Counting {
        n_stats: AtomicUsize,
        n_lists: AtomicUsize,
        /// True to simulate timestamps of whole seconds and directories of equal size.
        is_coarse: bool,
    }

    impl Counting {
        fn told(&self, stat: Stat) -> Stat {
            if !self.is_coarse {
                return stat;
            }
            let whole = |(seconds, _): (i64, i64)| (seconds, 0);
            let (modified, changed) = (whole(stat.modified), whole(stat.changed));
            Stat { modified, changed, size: 4096, ..stat }
        }
    }

    impl Disk for Counting {
        fn stat(&self, path: &Path) -> io::Result<Stat> {
            self.n_stats.fetch_add(1, Ordering::Relaxed);
            Ok(self.told(RealDisk.stat(path)?))
        }

        fn target(&self, path: &Path) -> io::Result<PathBuf> {
            RealDisk.target(path)
        }

        fn list(&self, path: &Path) -> io::Result<Directory> {
            self.n_lists.fetch_add(1, Ordering::Relaxed);
            let listed = RealDisk.list(path)?;
            Ok(Directory { stat: self.told(listed.stat), ..listed })
        }

        fn read(&self, path: &Path, limit: u64) -> Result<File, ReadError> {
            RealDisk.read(path, limit)
        }

        fn partly_watched_fs(&self, path: &Path) -> Option<&'static str> {
            RealDisk.partly_watched_fs(path)
        }
    }

    /// Returns a search for a touched file `n_levels` directories deep.
    fn search(top: &Path, n_levels: usize) -> Search {
        let file = (0..n_levels).fold(top.to_owned(), |dir, it| dir.join(format!("d{it}")));
        fs::create_dir_all(&file).unwrap();
        fs::write(file.join("a.txt"), "").unwrap();
        Search {
            cwd: AbsPath::new(top).unwrap(),
            worktree: None,
            repository: Repository::None,
            relative: PLACES.map(PathBuf::from).into(),
            known: Vec::new(),
            touched: vec![AbsPath::new(&file.join("a.txt")).unwrap()],
            levels: TouchDirCache::default(),
        }
    }

    fn roots(found: TouchedRoots) -> Vec<PathBuf> {
        found.roots.into_iter().map(AbsPath::into_path_buf).collect()
    }

    #[test]
    fn level_costs_at_most_two_system_calls() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        let search = search(&top, 20);
        let expected = [top.join("d0/d1/.claude/skills"), top.join("d0/.agents/skills")];
        for root in &expected {
            fs::create_dir_all(root).unwrap();
        }
        let touch = || {
            let disk = Counting::default();
            assert_eq!(roots(discover_on(&disk, &search)), expected);
            (disk.n_stats.into_inner(), disk.n_lists.into_inner())
        };
        // One call per level, and one per existing directory.
        assert_eq!(touch(), (20 + 2, 20));
        // A directory changed a moment ago could change again unnoticed, so it is listed until it
        // cannot.
        let end = Instant::now() + Duration::from_secs(20);
        while touch() != (20 + 2, 0) {
            assert!(Instant::now() < end, "the levels are not remembered");
        }
        // The next touch notices additions and removals.
        let new = top.join("d0/d1/d2/.opencode/skill");
        fs::create_dir_all(&new).unwrap();
        assert!(roots(discover(&search)).contains(&new));
        fs::remove_dir_all(top.join("d0/.agents")).unwrap();
        assert_eq!(roots(discover(&search)), [new, expected[0].clone()]);
    }

    #[test]
    fn new_directory_is_found_with_whole_second_timestamps() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        let search = search(&top, 1);
        let disk = Counting { is_coarse: true, ..Counting::default() };
        for (n_made, place) in PLACES.iter().enumerate() {
            // Away from the start of a second, where successive changes can be told apart anyway.
            std::thread::sleep(Duration::from_millis(25));
            let found = discover_on(&disk, &search).roots.len();
            assert_eq!(found, n_made, "before {place} is made");
            fs::create_dir_all(top.join("d0").join(place)).unwrap();
        }
        assert_eq!(discover_on(&disk, &search).roots.len(), PLACES.len());
        // In the end the directory is cached here too.
        let end = Instant::now() + Duration::from_secs(20);
        let lists = || {
            let before = disk.n_lists.load(Ordering::Relaxed);
            discover_on(&disk, &search);
            disk.n_lists.load(Ordering::Relaxed) - before
        };
        while lists() > 0 {
            assert!(Instant::now() < end, "the level is not remembered");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn links_and_undotted_roots_are_discovered() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        let mut search = search(&top, 2);
        search.relative = vec!["skills".into(), ".claude/skills".into()];
        fs::create_dir_all(top.join("d0/skills")).unwrap();
        fs::create_dir_all(top.join("elsewhere/skills")).unwrap();
        std::os::unix::fs::symlink("../../elsewhere", top.join("d0/d1/.claude")).unwrap();
        let expected = [top.join("d0/d1/.claude/skills"), top.join("d0/skills")];
        assert_eq!(roots(discover(&search)), expected);
    }
}
