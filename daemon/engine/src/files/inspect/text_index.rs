//! [`TextIndex`]: texts that may mention skills, with their mentions.
//!
//! Each lookup compares the metadata of files and directories with those of the last read. The index
//! is therefore right without watches, which many worktrees have too many directories for, and only
//! a changed file is read again. It belongs to the daemon, so that all editors and the command line
//! share it.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use skills_agents::references::{Link, Reference, has_names, links, references};
use skills_agents::skill::parse;
use skills_syntax::path::AbsPath;
use skills_syntax::text::decode;

use super::fenced::Fenced;
use super::parallel::in_parallel;
use crate::cancel::Cancel;
use crate::files::dir_index::Seen;
use crate::files::disk::{Stat, stat_target};
use crate::files::ignored::excludes_file;

/// Maximum number of worktrees whose paths are cached.
const MOST_LISTINGS: usize = 4;

/// Names of the ignore files that apply to texts.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// Texts with their mentions, by worktree and path.
pub struct TextIndex {
    /// Maximum size of the texts, in bytes.
    most_bytes: usize,
    texts: Mutex<Texts>,
    /// By the top of the worktree.
    listings: Mutex<HashMap<Option<AbsPath>, Arc<Listing>>>,
}

/// The paths of the texts in a worktree and in skills.
struct Listing {
    /// The skills whose directories were listed.
    skills: BTreeSet<AbsPath>,
    /// The listed directories and the ignore files that apply; none for a file that was missing.
    seen: Vec<(PathBuf, Option<Seen>)>,
    /// The user's ignore file for all repositories.
    global: Option<PathBuf>,
    paths: Arc<Vec<AbsPath>>,
}

impl Listing {
    fn is_valid(&self, skills: &BTreeSet<AbsPath>, cancel: &Cancel) -> bool {
        let is_same = |(path, seen): &(PathBuf, Option<Seen>)| match (seen, stat_target(path)) {
            (Some(seen), Ok(now)) => seen.holds(&now),
            (seen, now) => seen.is_none() && now.is_err(),
        };
        self.skills == *skills
            && self.global == excludes_file()
            && in_parallel(&self.seen, cancel, is_same)
                .is_some_and(|it| it.into_iter().all(|it| it))
    }
}

#[derive(Default)]
struct Texts {
    /// The top of the worktree is a part of the key, because it decides which links are followed.
    all: HashMap<(Option<AbsPath>, AbsPath), (Seen, Arc<IndexedText>)>,
    n_bytes: usize,
}

/// A text with its possible mentions of skills.
pub(super) struct IndexedText {
    pub(super) text: Arc<str>,
    pub(super) bom: bool,
    is_whole: bool,
    mentions: OnceLock<Mentions>,
}

/// The possible mentions of skills in a text.
pub(super) struct Mentions {
    /// References by name; empty for a file that is not searched for names.
    pub(super) references: Vec<Reference>,
    pub(super) links: Vec<Link>,
}

impl IndexedText {
    /// Returns the mentions, which are searched on first use. `path` is the text's own.
    pub(super) fn mentions(&self, path: &AbsPath) -> &Mentions {
        self.mentions.get_or_init(|| {
            let document = parse(&self.text);
            let named = has_names(path).then(|| references(&self.text, &document));
            let links = links(&self.text, &document);
            Mentions { references: named.unwrap_or_default(), links }
        })
    }
}

impl TextIndex {
    /// Creates an index whose texts have at most this size in bytes.
    pub fn new(most_bytes: usize) -> Self {
        Self { most_bytes, texts: Mutex::default(), listings: Mutex::default() }
    }

    /// Returns the text of a file, without a byte order mark; none if it cannot be read or is longer
    /// than `limit`. Blocks on the disk.
    pub fn read(&self, path: &AbsPath, limit: u64) -> Option<Arc<str>> {
        let stat = stat_target(path).ok()?;
        let text = self.text(&Fenced::new(None, &[]), path, &stat, limit)?;
        text.is_whole.then(|| Arc::clone(&text.text))
    }

    /// Returns a text, which is read and parsed if it is unknown or has changed; none if it cannot
    /// be read. `stat` is its metadata.
    pub(super) fn text(
        &self,
        fenced: &Fenced<'_>,
        path: &AbsPath,
        stat: &Stat,
        limit: u64,
    ) -> Option<Arc<IndexedText>> {
        let key = (fenced.top().cloned(), path.clone());
        if let Some((seen, known)) = self.lock().all.get(&key)
            && seen.holds(stat)
        {
            return Some(Arc::clone(known));
        }
        let at = SystemTime::now();
        let read = fenced.read_any(path, limit).ok();
        let new = read.map(|(file, is_inside)| {
            let decoded = decode(&file.bytes);
            let text = IndexedText {
                text: decoded.text.into(),
                bom: decoded.bom,
                is_whole: !file.truncated,
                mentions: OnceLock::new(),
            };
            (Arc::new(text), Seen::at(at, file.stat), is_inside)
        });
        let mut texts = self.lock();
        if let Some((_, old)) = texts.all.remove(&key) {
            texts.n_bytes -= old.text.len();
        }
        let (text, seen, is_inside) = new?;
        // The views decide about a file outside of the worktree, so it is not cached.
        if is_inside && text.text.len() <= self.most_bytes {
            if texts.n_bytes + text.text.len() > self.most_bytes {
                *texts = Texts::default();
            }
            texts.n_bytes += text.text.len();
            texts.all.insert(key, (seen, Arc::clone(&text)));
        }
        Some(text)
    }

    /// Returns the paths of the texts in a worktree and in these skills, if no listed directory and
    /// no ignore file has changed since.
    pub(super) fn listing(
        &self,
        top: Option<&AbsPath>,
        skills: &BTreeSet<AbsPath>,
        cancel: &Cancel,
    ) -> Option<Arc<Vec<AbsPath>>> {
        let known = self.listings().get(&top.cloned()).cloned()?;
        known.is_valid(skills, cancel).then(|| Arc::clone(&known.paths))
    }

    /// Stores the paths of the texts, which were listed after `at`.
    pub(super) fn set_listing(
        &self,
        top: Option<&AbsPath>,
        at: SystemTime,
        skills: BTreeSet<AbsPath>,
        dirs: Vec<PathBuf>,
        paths: Arc<Vec<AbsPath>>,
    ) {
        // The ignore file of a linked worktree's repository is elsewhere.
        if self.most_bytes == 0 || top.is_some_and(|it| !it.child(".git").is_dir()) {
            return;
        }
        let global = excludes_file();
        let mut seen = HashMap::new();
        let mut add = |path: PathBuf, may_miss: bool| {
            let found = stat_target(&path).ok().map(|stat| Seen::at(at, stat));
            if found.is_some() || may_miss {
                seen.insert(path, found);
            }
        };
        // A new ignore file changes its directory, except above the worktree.
        let above = top.into_iter().flat_map(|it| it.ancestors().skip(1));
        for dir in above {
            for name in IGNORE_FILES {
                add(dir.join(name), true);
            }
        }
        for dir in dirs {
            for name in IGNORE_FILES {
                add(dir.join(name), false);
            }
            if dir.join(".git").symlink_metadata().is_ok() {
                add(dir.join(".git/info/exclude"), true);
            }
            add(dir, true);
        }
        if let Some(global) = &global {
            add(global.clone(), true);
        }
        let listing = Listing { skills, seen: seen.into_iter().collect(), global, paths };
        let mut listings = self.listings();
        if listings.len() >= MOST_LISTINGS {
            listings.clear();
        }
        listings.insert(top.cloned(), Arc::new(listing));
    }

    fn listings(&self) -> MutexGuard<'_, HashMap<Option<AbsPath>, Arc<Listing>>> {
        // Each entry is inserted in one step, so a panic leaves the map consistent.
        self.listings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Texts> {
        // No code that can panic runs between the changes of the map and of its size.
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;

    #[test]
    fn text_is_read_again_only_after_a_change() {
        let temp = tempfile::tempdir().unwrap();
        let path = AbsPath::new(temp.path()).unwrap().child("CLAUDE.md");
        fs::write(&path, "Use /pdf.\n").unwrap();
        let index = TextIndex::new(1024);
        let read = || index.read(&path, 64).unwrap();
        let first = read();
        // A file that has just changed is read until its times tell a later change.
        let mut last = Arc::clone(&first);
        loop {
            let next = read();
            assert_eq!(next, first);
            if Arc::ptr_eq(&next, &last) {
                break;
            }
            last = next;
            std::thread::sleep(Duration::from_millis(5));
        }
        fs::write(&path, "Use /xls.\n").unwrap();
        assert_eq!(&*read(), "Use /xls.\n");
        fs::write(&path, "x".repeat(65)).unwrap();
        assert_eq!(index.read(&path, 64), None);
        fs::remove_file(&path).unwrap();
        assert_eq!(index.read(&path, 64), None);
    }

    #[test]
    fn paths_are_listed_again_after_a_change_of_a_directory_or_an_ignore_file() {
        let temp = tempfile::tempdir().unwrap();
        let top = AbsPath::new(&temp.path().canonicalize().unwrap()).unwrap();
        let dir = top.child("a");
        fs::create_dir_all(top.child(".git")).unwrap();
        fs::create_dir(&dir).unwrap();
        fs::write(dir.child(".gitignore"), "b\n").unwrap();
        let index = TextIndex::new(1);
        let (skills, cancel) = (BTreeSet::new(), Cancel::default());
        let is_known = || index.listing(Some(&top), &skills, &cancel).is_some();
        let store = || {
            // Directories that have just changed are not trusted.
            loop {
                let dirs = vec![top.to_path_buf(), dir.to_path_buf()];
                let at = SystemTime::now();
                index.set_listing(Some(&top), at, skills.clone(), dirs, Arc::default());
                if is_known() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        };
        store();
        fs::write(dir.child(".gitignore"), "c\n").unwrap();
        assert!(!is_known());
        store();
        fs::write(dir.child("new.md"), "").unwrap();
        assert!(!is_known());
        store();
        fs::create_dir(top.child(".git/info")).unwrap();
        fs::write(top.child(".git/info/exclude"), "a\n").unwrap();
        assert!(!is_known());
        store();
        let other = BTreeSet::from([dir.child("SKILL.md")]);
        assert!(index.listing(Some(&top), &other, &cancel).is_none());
    }

    #[test]
    fn index_keeps_at_most_its_size() {
        let temp = tempfile::tempdir().unwrap();
        let dir = AbsPath::new(temp.path()).unwrap();
        let index = TextIndex::new(100);
        for name in ["a.md", "b.md", "c.md"] {
            fs::write(dir.child(name), "x".repeat(40)).unwrap();
            index.read(&dir.child(name), 1024).unwrap();
            assert!(index.lock().n_bytes <= 80);
        }
        let texts = index.lock();
        assert_eq!((texts.all.len(), texts.n_bytes), (1, 40));
    }
}
