//! [`WatchService`]: the one reader of changes on the disk, for everything in a process.
//!
//! Its backend has one queue. The directory index gets hints; files that calls depend on are proved
//! unchanged by a [`Stamp`]; tasks that wait for changes have a [`Subscription`].

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use skills_platform::lock::lock;

use crate::watch::backend::{ArmError, StartWatch, Subscriber, WatchBackend, WatchScope};
use crate::watch::file_watch::FileWatch;
use crate::watch::hints::HintQueue;
use crate::watch::stamp::Stamp;
use crate::watch::subscription::{FileArms, Subscription};

/// Handle to the watches of a process; cheap to clone. The default watches nothing.
#[derive(Clone, Default)]
pub struct WatchService(Option<Arc<Running>>);

struct Running {
    backend: Arc<dyn WatchBackend>,
    arms: Arc<FileArms>,
    files: Mutex<FileWatch>,
}

impl WatchService {
    /// Starts a service whose events go to `queue`.
    ///
    /// # Errors
    /// The system has no more watchers for this user, or none at all.
    pub fn start(start: StartWatch, queue: HintQueue) -> io::Result<Self> {
        let routes = queue.routes().clone();
        let backend = start(queue)?;
        let arms = Arc::new(FileArms::new(Arc::clone(&backend), routes));
        let files = Mutex::new(FileWatch::new(&arms));
        Ok(Self(Some(Arc::new(Running { backend, arms, files }))))
    }

    /// Reads pending events and returns the stamp of now; the default if changes may be unread.
    pub fn now(&self) -> Stamp {
        match &self.0 {
            Some(it) if it.backend.drain() => lock(&it.files).stamp(),
            Some(_) | None => Stamp::default(),
        }
    }

    /// Watches these names in a directory and every directory above it. Returns the stamp of
    /// now; the default if changes there may go unreported. Call it before the `stat` that the
    /// stamp is for.
    pub fn watch(&self, dir: &Path, names: &[&OsStr]) -> Stamp {
        let Some(it) = &self.0 else { return Stamp::default() };
        let mut files = lock(&it.files);
        if !it.backend.drain() {
            return Stamp::default();
        }
        let stamp = files.stamp();
        if files.covers(dir, names) { stamp } else { Stamp::default() }
    }

    /// Returns a subscription without paths; none if nothing is watched.
    pub fn subscribe(&self) -> Option<Subscription> {
        self.0.as_ref().map(|it| Subscription::new(&it.arms, 0))
    }

    pub(crate) fn is_watching(&self) -> bool {
        self.0.is_some()
    }

    /// Puts pending events into the queue. Returns true if it then has all earlier changes.
    pub(crate) fn drain(&self) -> bool {
        self.0.as_ref().is_some_and(|it| it.backend.drain())
    }

    /// Watches a directory of the index.
    pub(crate) fn arm(&self, path: &Path, scope: WatchScope) -> Option<Result<(), ArmError>> {
        self.0.as_ref().map(|it| it.backend.arm(path, scope, Subscriber::Index))
    }

    /// Stops watching a directory of the index.
    pub(crate) fn disarm(&self, path: &Path) {
        if let Some(it) = &self.0 {
            it.backend.disarm(path, Subscriber::Index);
        }
    }

    /// Sends a cookie for the index; false if nothing is watched.
    pub(crate) fn cookie(&self, ticket: u64) -> bool {
        let Some(it) = &self.0 else { return false };
        let sent = it.backend.cookie(ticket);
        sent.inspect_err(|error| tracing::warn!(%error, "no cookie")).is_ok()
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use std::time::Duration;

    use tempfile::TempDir;
    use tokio::time::timeout;

    use super::*;
    use crate::watch::inotify::inotify;

    /// Returns a service and a directory without links on the way.
    fn service() -> (WatchService, PathBuf, TempDir) {
        let service = WatchService::start(inotify(), HintQueue::new(|| {})).unwrap();
        let top = TempDir::new().unwrap();
        (service, top.path().canonicalize().unwrap(), top)
    }

    /// Returns an answer that does not depend on whether the watcher's thread is reading.
    fn certain(ask: impl Fn() -> Stamp) -> Stamp {
        loop {
            let stamp = ask();
            if stamp != Stamp::default() {
                return stamp;
            }
        }
    }

    fn now(service: &WatchService) -> Stamp {
        certain(|| service.now())
    }

    fn watch(service: &WatchService, dir: &Path, name: &str) -> Stamp {
        certain(|| service.watch(dir, &[OsStr::new(name)]))
    }

    #[test]
    fn replacing_or_writing_a_file_invalidates_its_stamp() {
        let (service, top, _guard) = service();
        let dir = top.join("a/b");
        let file = dir.join("f");
        let renamed = dir.with_file_name("c");
        let steps: [(&str, &dyn Fn()); 9] = [
            ("its directory is created", &|| fs::create_dir_all(&dir).unwrap()),
            ("it is created", &|| fs::write(&file, "1").unwrap()),
            ("it is written in place", &|| fs::write(&file, "2").unwrap()),
            ("it is replaced", &|| {
                fs::write(dir.join("g"), "3").unwrap();
                fs::rename(dir.join("g"), &file).unwrap();
            }),
            ("its directory is moved", &|| fs::rename(&dir, &renamed).unwrap()),
            ("another directory is created", &|| fs::create_dir(&dir).unwrap()),
            ("it is created there", &|| fs::write(&file, "4").unwrap()),
            ("the directory above is replaced", &|| {
                fs::rename(dir.parent().unwrap(), top.join("z")).unwrap();
                fs::create_dir_all(&dir).unwrap();
            }),
            ("it is created once more", &|| fs::write(&file, "5").unwrap()),
        ];
        for (what, step) in steps {
            let stamp = watch(&service, &dir, "f");
            assert!(stamp.holds(now(&service)), "nothing has happened before {what}");
            step();
            assert!(!stamp.holds(service.now()), "{what}");
        }
        let stamp = watch(&service, &dir, "f");
        fs::write(dir.join("other"), "").unwrap();
        assert!(stamp.holds(now(&service)), "a file beside it does not matter");
    }

    #[test]
    fn directory_stays_watched_when_it_is_a_parent_of_another() {
        let (service, dir, _guard) = service();
        fs::create_dir(dir.join("below")).unwrap();
        fs::write(dir.join("f"), "1").unwrap();
        watch(&service, &dir, "f");
        watch(&service, &dir.join("below"), "f");
        let stamp = watch(&service, &dir, "f");
        assert!(stamp.holds(now(&service)), "nothing has happened");
        fs::write(dir.join("f"), "2").unwrap();
        assert!(!stamp.holds(service.now()), "it is written");
    }

    #[test]
    fn second_name_in_a_watched_directory_is_covered() {
        let (service, dir, _guard) = service();
        for name in ["f", "g"] {
            fs::write(dir.join(name), "1").unwrap();
            let stamp = watch(&service, &dir, name);
            assert!(stamp.holds(now(&service)), "nothing has happened to {name}");
        }
        for name in ["g", "f"] {
            let stamp = watch(&service, &dir, name);
            fs::write(dir.join(name), "2").unwrap();
            assert!(!stamp.holds(service.now()), "{name} is written");
        }
    }

    #[test]
    fn files_with_unreported_changes_are_never_valid() {
        let (service, top, _guard) = service();
        let refused = |dir: &Path| {
            now(&service);
            assert_eq!(service.watch(dir, &[OsStr::new("f")]), Stamp::default(), "{dir:?}");
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
        watch(&service, &top.join("real"), "f");
        refused(Path::new("/proc/self"));
    }

    #[test]
    fn many_directories_reset_the_watches_and_no_backend_proves_nothing() {
        let (service, top, _guard) = service();
        let first = watch(&service, &top, "f");
        assert!(first.holds(now(&service)));
        for number in 0..=256 {
            watch(&service, &top.join(number.to_string()), "f");
        }
        assert!(!first.holds(now(&service)));
        let none = WatchService::default();
        assert!(!none.watch(&top, &[OsStr::new("f")]).holds(none.now()));
    }

    #[tokio::test]
    async fn missing_file_is_reported_when_created_written_and_removed() {
        let (service, dir, _guard) = service();
        let file = dir.join("a/f");
        let steps: [&dyn Fn(); 4] = [
            &|| fs::create_dir(dir.join("a")).unwrap(),
            &|| fs::write(&file, "1").unwrap(),
            &|| fs::write(&file, "2").unwrap(),
            &|| fs::remove_file(&file).unwrap(),
        ];
        for step in steps {
            let mut watched = service.subscribe().unwrap();
            watched.watch_file(&file);
            step();
            timeout(Duration::from_secs(10), watched.changed()).await.unwrap();
        }
        // Writes to a sibling are ignored.
        let beside = dir.join("a/log");
        let mut watched = service.subscribe().unwrap();
        watched.watch_file(&file);
        fs::write(&beside, "more").unwrap();
        assert!(timeout(Duration::from_millis(20), watched.changed()).await.is_err());
    }

    #[tokio::test]
    async fn linked_file_is_reported_when_its_target_is_written() {
        let (service, dir, _guard) = service();
        fs::create_dir(dir.join("dotfiles")).unwrap();
        fs::write(dir.join("dotfiles/f"), "1").unwrap();
        symlink(dir.join("dotfiles/f"), dir.join("f")).unwrap();
        let mut watched = service.subscribe().unwrap();
        watched.watch_file(&dir.join("f"));
        fs::write(dir.join("dotfiles/f"), "2").unwrap();
        let replaces = timeout(Duration::from_secs(10), watched.changed()).await.unwrap();
        assert!(!replaces, "a write keeps the watches");
        fs::remove_file(dir.join("f")).unwrap();
        assert!(timeout(Duration::from_secs(10), watched.changed()).await.unwrap());
    }

    #[tokio::test]
    async fn removed_entry_is_reported_once() {
        let (service, dir, _guard) = service();
        fs::write(dir.join("f"), "").unwrap();
        let mut watched = service.subscribe().unwrap();
        assert!(watched.watch_entries(&dir, WatchScope::Names));
        assert!(timeout(Duration::from_millis(20), watched.changed()).await.is_err());
        fs::remove_file(dir.join("f")).unwrap();
        timeout(Duration::from_secs(10), watched.changed()).await.unwrap();
        assert!(timeout(Duration::from_millis(20), watched.changed()).await.is_err());
    }
}
