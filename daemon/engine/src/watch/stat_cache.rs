//! [`StatCache`]: proves that files have not changed since their last `stat`, for the few files
//! that every call checks and that rarely change.
//!
//! Checking a file costs a system call with a path to walk; checking the watch costs one call for
//! all files. The kernel queues an event before the causing call returns, so an empty queue proves
//! that no finished change is missing. Files whose changes may go unreported are never proved
//! valid: links on the way, files with several names, directories that cannot be watched, file
//! systems with other writers. Writes through a memory map are not reported; neither configuration
//! editors nor SQLite's log use them. There is no thread.
//! thread.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Lookups before a watch is created; one-shot commands make too few to pay for one.
const FEW: u32 = 16;

/// Maximum number of watched directories; beyond it all are dropped together.
const MANY: usize = 256;

/// Token that proves a cached stat is still valid. The default is never valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Validity(Option<u64>);

/// Counter of reported changes at some time; the default matches no [`Validity`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generation(Option<u64>);

impl Validity {
    /// Returns true if nothing happened near the file between the stat and that generation.
    pub fn holds(self, heard: Generation) -> bool {
        self.0.is_some() && self.0 == heard.0
    }
}

/// Cache of watches on the directories above files.
#[derive(Debug, Default)]
pub struct StatCache(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Number of watch requests, up to [`FEW`].
    asked: u32,
    /// Final count of earlier watches; counts are never reused.
    counted: u64,
    watch: Option<imp::Watch>,
}

impl StatCache {
    /// Returns the cache of this process: inotify instances per user are few.
    pub fn shared() -> &'static Self {
        static CACHE: OnceLock<StatCache> = OnceLock::new();
        CACHE.get_or_init(Self::default)
    }

    /// Reads pending events and returns the current generation.
    pub fn hear(&self) -> Generation {
        Generation(self.lock().watch.as_mut().map(imp::Watch::hear))
    }

    /// Watches a directory, and all directories above it, for changes of these names. Call it
    /// before the stat that the returned token is for.
    pub fn watch(&self, dir: &Path, names: &[&OsStr]) -> Validity {
        let mut state = self.lock();
        if state.asked < FEW {
            state.asked += 1;
            return Validity::default();
        }
        if let Some(full) = state.watch.take_if(|it| it.len() >= MANY) {
            state.counted = full.count();
        }
        if state.watch.is_none() {
            state.watch = imp::Watch::new(state.counted + 1);
        }
        let Some(watch) = &mut state.watch else { return Validity::default() };
        let count = watch.hear();
        Validity(watch.covers(dir, names).then_some(count))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is consistent between any two system calls.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use std::collections::HashMap;
    use std::ffi::{OsStr, OsString};
    use std::fmt;
    use std::fs::{self, File};
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::{Component, Path, PathBuf};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
    use rustix::io::{Errno, ioctl_fionread};

    use crate::files::disk::{Disk, RealDisk};

    /// Events watched in each directory on the way to a file.
    const WAY: WatchFlags = WatchFlags::ATTRIB
        .union(WatchFlags::CREATE)
        .union(WatchFlags::DELETE)
        .union(WatchFlags::MOVE)
        .union(WatchFlags::DELETE_SELF)
        .union(WatchFlags::MOVE_SELF)
        .union(WatchFlags::ONLYDIR)
        .union(WatchFlags::DONT_FOLLOW)
        // Extends an existing watch of the same directory.
        .union(WatchFlags::MASK_ADD);

    /// Events watched in the file's own directory. Writes to files in directories further up, such
    /// as a log in the home directory, are not watched.
    const PLACE: WatchFlags = WAY.union(WatchFlags::MODIFY);

    const BUFFER: usize = 4096;

    /// Minimum size of an event, in bytes.
    const EVENT: u64 = 16;

    /// One watched directory.
    struct Watched {
        /// Value of [`Watch::ways`] when it was armed.
        ways: u64,
        /// Names in it that matter.
        names: Vec<OsString>,
        /// True if every change on the way to it is reported.
        is_reported: bool,
    }

    /// The watches of one inotify descriptor.
    pub(crate) struct Watch {
        queue: OwnedFd,
        /// Signals mounts, which no watch on a directory reports.
        mounts: File,
        /// Names that matter in each directory.
        names: HashMap<i32, Vec<OsString>>,
        /// Number of changes.
        count: u64,
        /// Number of changes other than to a file's content.
        ways: u64,
        /// Watched directories.
        dirs: HashMap<PathBuf, Watched>,
    }

    impl Watch {
        /// Returns a watch that counts from `count`; none if the system has no more instances.
        pub(crate) fn new(count: u64) -> Option<Self> {
            let queue = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
            let mounts = File::open("/proc/self/mountinfo").ok()?;
            let (names, dirs) = (HashMap::new(), HashMap::new());
            let mut watch = Self { queue, mounts, names, count, ways: 0, dirs };
            // Clears the signal for existing mounts.
            watch.hear();
            Some(watch)
        }

        pub(crate) fn len(&self) -> usize {
            self.dirs.len()
        }

        pub(crate) fn count(&self) -> u64 {
            self.count
        }

        #[cfg(test)]
        pub(crate) fn queued(&self) -> u64 {
            ioctl_fionread(&self.queue).unwrap()
        }

        /// Reads pending events and returns the number of changes so far.
        pub(crate) fn hear(&mut self) -> u64 {
            let mut fds = [
                PollFd::new(&self.queue, PollFlags::IN),
                PollFd::new(&self.mounts, PollFlags::PRI),
            ];
            match poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
                Ok(0) => {}
                Ok(_) => {
                    let events = !fds[0].revents().is_empty();
                    if fds[1].revents().intersects(PollFlags::PRI | PollFlags::ERR) {
                        self.changed(true);
                    }
                    if events {
                        self.read();
                    }
                }
                Err(_) => self.changed(true),
            }
            self.count
        }

        fn changed(&mut self, way: bool) {
            self.count += 1;
            self.ways += u64::from(way);
        }

        fn read(&mut self) {
            let mut buffer = [MaybeUninit::uninit(); BUFFER];
            let mut reader = Reader::new(&self.queue, &mut buffer);
            let (mut has_changed, mut way) = (false, false);
            // Upper bound on the pending events; events arriving meanwhile may have no end.
            let mut left = ioctl_fionread(&self.queue).map_or(0, |it| it / EVENT);
            while left > 0 {
                match reader.next() {
                    Ok(event) => {
                        left -= 1;
                        let name = event.file_name().map(|it| OsStr::from_bytes(it.to_bytes()));
                        let known = self.names.get(&event.wd());
                        let matters = match (name, known) {
                            (Some(name), Some(known)) => known.iter().any(|it| it == name),
                            // An event of the directory itself, or lost events.
                            (None, _) => true,
                            (Some(_), None) => false,
                        };
                        has_changed |= matters;
                        way |= matters && event.events() != ReadFlags::MODIFY;
                        if event.events().contains(ReadFlags::IGNORED) {
                            self.names.remove(&event.wd());
                        }
                    }
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => break,
                    Err(_) => {
                        (has_changed, way) = (true, true);
                        break;
                    }
                }
            }
            if has_changed {
                self.changed(way);
            }
        }

        /// Watches each directory on the way, the topmost first, so that a replacement meanwhile is
        /// reported. Returns true if every change there is reported.
        pub(crate) fn covers(&mut self, dir: &Path, names: &[&OsStr]) -> bool {
            let before = self.dirs.remove(dir).filter(|it| it.ways == self.ways);
            let watched = match before {
                Some(it) if names.iter().all(|name| it.names.iter().any(|known| known == name)) => {
                    it
                }
                before => {
                    // Keeps the names that other callers requested.
                    let mut all = before.map(|it| it.names).unwrap_or_default();
                    all.extend(names.iter().map(|it| (*it).to_owned()));
                    let is_reported = self.arm(dir, names);
                    Watched { ways: self.ways, names: all, is_reported }
                }
            };
            let is_reported = watched.is_reported;
            self.dirs.insert(dir.to_owned(), watched);
            is_reported
                && names.iter().all(|name| match fs::symlink_metadata(dir.join(name)) {
                    Ok(found) => found.is_file() && found.nlink() == 1,
                    Err(error) => error.kind() == std::io::ErrorKind::NotFound,
                })
        }

        fn arm(&mut self, dir: &Path, names: &[&OsStr]) -> bool {
            let mut at = PathBuf::new();
            let mut parts = dir.components().peekable();
            while let Some(part) = parts.next() {
                at.push(part);
                let asked = if parts.peek().is_some() { WAY } else { PLACE };
                let watch = match add_watch(&self.queue, &at, asked) {
                    Ok(watch) => watch,
                    // The parent's watch reports its creation.
                    Err(Errno::NOENT) => return true,
                    // A link, or a directory that may not be watched.
                    Err(_) => return false,
                };
                if RealDisk.partly_watched_fs(&at).is_some() {
                    return false;
                }
                let known = self.names.entry(watch).or_default();
                let below = match parts.peek() {
                    Some(Component::Normal(name)) => vec![name.to_os_string()],
                    Some(_) => return false,
                    None => names.iter().map(|it| (*it).to_owned()).collect(),
                };
                for name in below {
                    if !known.contains(&name) {
                        known.push(name);
                    }
                }
            }
            true
        }
    }

    impl fmt::Debug for Watch {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("Watch").field("count", &self.count).finish_non_exhaustive()
        }
    }
}

/// Without inotify nothing is ever proved valid.
#[cfg(not(target_os = "linux"))]
mod imp {
    use std::ffi::OsStr;
    use std::path::Path;

    #[derive(Debug)]
    pub(crate) enum Watch {}

    impl Watch {
        pub(crate) fn new(_: u64) -> Option<Self> {
            None
        }

        pub(crate) fn len(&self) -> usize {
            match *self {}
        }

        pub(crate) fn count(&self) -> u64 {
            match *self {}
        }

        pub(crate) fn hear(&mut self) -> u64 {
            match *self {}
        }

        pub(crate) fn covers(&mut self, _: &Path, _: &[&OsStr]) -> bool {
            match *self {}
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    /// Returns a cache past its first lookups, and a directory without links on the way.
    fn cache() -> (StatCache, TempDir) {
        let cache = StatCache::default();
        cache.lock().asked = FEW;
        (cache, TempDir::new().unwrap())
    }

    #[test]
    fn replacing_or_writing_a_file_invalidates_its_stat() {
        let (cache, top) = cache();
        let dir = top.path().canonicalize().unwrap().join("a/b");
        let file = dir.join("f");
        let renamed = dir.with_file_name("c");
        let steps: [(&str, &dyn Fn()); 9] = [
            ("its directory comes", &|| fs::create_dir_all(&dir).unwrap()),
            ("it comes", &|| fs::write(&file, "1").unwrap()),
            ("it is written in place", &|| fs::write(&file, "2").unwrap()),
            ("it is replaced", &|| {
                fs::write(dir.join("g"), "3").unwrap();
                fs::rename(dir.join("g"), &file).unwrap();
            }),
            ("its directory goes", &|| fs::rename(&dir, &renamed).unwrap()),
            ("another directory comes", &|| fs::create_dir(&dir).unwrap()),
            ("it comes there", &|| fs::write(&file, "4").unwrap()),
            ("the one above is replaced", &|| {
                fs::rename(dir.parent().unwrap(), dir.ancestors().nth(2).unwrap().join("z"))
                    .unwrap();
                fs::create_dir_all(&dir).unwrap();
            }),
            ("it comes once more", &|| fs::write(&file, "5").unwrap()),
        ];
        for (what, step) in steps {
            let vouch = cache.watch(&dir, &[OsStr::new("f")]);
            assert!(vouch.holds(cache.hear()), "nothing has happened before {what}");
            step();
            assert!(!vouch.holds(cache.hear()), "{what}");
        }
        let vouch = cache.watch(&dir, &[OsStr::new("f")]);
        fs::write(dir.join("other"), "").unwrap();
        assert!(vouch.holds(cache.hear()), "what happens beside it is nobody's business");
    }

    #[test]
    fn directory_stays_watched_when_it_is_a_parent_of_another() {
        let (cache, top) = cache();
        let dir = top.path().canonicalize().unwrap();
        fs::create_dir(dir.join("below")).unwrap();
        fs::write(dir.join("f"), "1").unwrap();
        cache.watch(&dir, &[OsStr::new("f")]);
        cache.watch(&dir.join("below"), &[OsStr::new("f")]);
        let vouch = cache.watch(&dir, &[OsStr::new("f")]);
        assert!(vouch.holds(cache.hear()), "nothing has happened");
        fs::write(dir.join("f"), "2").unwrap();
        assert!(!vouch.holds(cache.hear()), "it is written");
    }

    #[test]
    fn writes_in_parent_directories_cause_no_events() {
        let (cache, top) = cache();
        let dir = top.path().canonicalize().unwrap();
        fs::create_dir(dir.join("below")).unwrap();
        fs::write(dir.join("log"), "1").unwrap();
        cache.watch(&dir.join("below"), &[OsStr::new("f")]);
        cache.hear();
        fs::write(dir.join("log"), "2").unwrap();
        let state = cache.lock();
        assert_eq!(state.watch.as_ref().unwrap().queued(), 0);
    }

    #[test]
    fn second_name_in_a_watched_directory_is_covered() {
        let (cache, top) = cache();
        let dir = top.path().canonicalize().unwrap();
        for name in ["f", "g"] {
            fs::write(dir.join(name), "1").unwrap();
            let vouch = cache.watch(&dir, &[OsStr::new(name)]);
            assert!(vouch.holds(cache.hear()), "nothing has happened to {name}");
        }
        for name in ["g", "f"] {
            let vouch = cache.watch(&dir, &[OsStr::new(name)]);
            fs::write(dir.join(name), "2").unwrap();
            assert!(!vouch.holds(cache.hear()), "{name} is written");
        }
    }

    #[test]
    fn files_with_unreported_changes_are_never_valid() {
        let (cache, top) = cache();
        let top = top.path().canonicalize().unwrap();
        let refused = |dir: &Path| {
            assert_eq!(cache.watch(dir, &[OsStr::new("f")]), Validity::default(), "{dir:?}");
        };
        for name in ["linked", "real", "twice", "away"] {
            fs::create_dir(top.join(name)).unwrap();
        }
        fs::write(top.join("away/f"), "").unwrap();
        symlink(top.join("away/f"), top.join("linked/f")).unwrap();
        refused(&top.join("linked"));
        fs::hard_link(top.join("away/f"), top.join("twice/f")).unwrap();
        refused(&top.join("twice"));
        symlink(top.join("real"), top.join("way")).unwrap();
        refused(&top.join("way"));
        assert_ne!(cache.watch(&top.join("real"), &[OsStr::new("f")]), Validity::default());
        refused(Path::new("/proc/self"));
    }

    #[test]
    fn few_lookups_create_no_watch_and_many_files_reset_it() {
        let (_, top) = cache();
        let cache = StatCache::default();
        let top = top.path().canonicalize().unwrap();
        for _ in 0..FEW {
            assert_eq!(cache.watch(&top, &[OsStr::new("f")]), Validity::default());
        }
        let first = cache.watch(&top, &[OsStr::new("f")]);
        assert!(first.holds(cache.hear()));
        for nth in 0..=MANY {
            cache.watch(&top.join(nth.to_string()), &[OsStr::new("f")]);
        }
        assert!(!first.holds(cache.hear()));
        assert!(cache.lock().watch.as_ref().unwrap().len() <= MANY);
    }
}
