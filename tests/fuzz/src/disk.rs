//! An in-memory file system that implements the discovery's `Tree`.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use skills_agents::profile;
use skills_agents::skill::{FileFacts, SkillRecord};
use skills_discovery::discover::{
    DiscoveryContext, Fault, FaultKind, FileId, ItemKind, ListedItem, Listing, PathStatus,
    Resolution, SkillFile, TextFile, Tree, discover,
};
use skills_syntax::path::AbsPath;

/// The SKILL.md of every skill in a layout.
const SKILL: &str = "---\nname: n\ndescription: d\n---\nbody\n";

/// An entry of the file system. Link targets are absolute.
#[derive(Debug)]
enum FsEntry {
    Directory,
    File(String),
    Link(PathBuf),
}

/// A file system of directories, text files and links, all owned by the user.
#[derive(Debug, Default)]
pub struct Disk {
    entries: BTreeMap<PathBuf, FsEntry>,
}

impl Disk {
    /// Returns a file system with a home, a git worktree, and a skill in each and outside of both.
    pub fn new() -> Self {
        let mut disk = Self::default();
        disk.directory("/w/.git");
        disk.skill("/home/u/.claude/skills/mine");
        disk.skill("/w/.claude/skills/theirs");
        disk.skill("/w/vendor/skills/vendored");
        disk.skill("/outside/skills/elsewhere");
        disk
    }

    /// Adds a directory and its parents.
    pub fn directory(&mut self, path: &str) {
        for dir in Path::new(path).ancestors() {
            self.entries.entry(dir.to_owned()).or_insert(FsEntry::Directory);
        }
    }

    /// Adds a file and its parent directories.
    pub fn file(&mut self, path: &str, text: &str) {
        let above = Path::new(path).parent().and_then(Path::to_str).unwrap_or("/");
        self.directory(above);
        self.entries.insert(path.into(), FsEntry::File(text.to_owned()));
    }

    /// Adds a symbolic link to an absolute path.
    pub fn link(&mut self, path: &str, target: &str) {
        self.file(path, "");
        self.entries.insert(path.into(), FsEntry::Link(target.into()));
    }

    /// Adds a directory with a SKILL.md.
    pub fn skill(&mut self, dir: &str) {
        self.file(&format!("{dir}/SKILL.md"), SKILL);
    }

    /// Removes the entry at a path.
    pub fn remove(&mut self, path: &str) {
        self.entries.remove(Path::new(path));
    }

    /// Runs discovery for a working directory with a built-in profile, and asserts the invariants
    /// of every result.
    ///
    /// # Panics
    ///
    /// Panics if an invariant does not hold.
    pub fn resolve(&self, profile: &str, cwd: &str) -> Resolution {
        let ctx = DiscoveryContext {
            profile: Arc::clone(profile::find(profile).expect("a built-in profile")),
            cwd: AbsPath::new(cwd.as_ref()).expect("an absolute path"),
            additional: Vec::new(),
            environment: [("HOME".to_owned(), "/home/u".into())].into(),
            overlay: Arc::default(),
            agent: None,
        };
        let resolution = discover(&ctx, self);
        assert!(resolution.complete, "the disk answers everything");
        for root in &resolution.roots {
            assert!(is_plain(&root.path), "{root:?}");
            assert!(root.candidates.end <= resolution.candidates.len(), "{root:?}");
            if root.is_own() {
                let place = self.canonical(&root.path).expect("it answers");
                assert!(!place.starts_with("/w"), "a root in the worktree is the user's: {root:?}");
            }
        }
        for candidate in &resolution.candidates {
            assert!(is_plain(&candidate.path), "{candidate:?}");
            assert!(candidate.root < resolution.roots.len(), "{candidate:?}");
        }
        for file in &resolution.settings {
            let Ok(place) = self.physical(&file.path) else { continue };
            let Some(FsEntry::File(text)) = self.entries.get(&place) else { continue };
            for note in &file.notes {
                super::assert_place(text, note.at.line, note.at.column);
            }
        }
        resolution
    }

    /// Resolves all links of a path, or returns the fault on the way.
    fn physical(&self, path: &Path) -> Result<PathBuf, PathStatus> {
        let fault = |kind| PathStatus::Fault(Fault { kind, detail: path.display().to_string() });
        let mut at = PathBuf::from("/");
        let mut todo: Vec<PathBuf> = names(path);
        let mut links = 0;
        while let Some(name) = todo.pop() {
            let next = at.join(&name);
            match self.entries.get(&next) {
                None if links > 0 => return Err(fault(FaultKind::Dangling)),
                None => return Err(PathStatus::Missing),
                Some(FsEntry::Link(_)) if links == 40 => return Err(fault(FaultKind::Loop)),
                Some(FsEntry::Link(target)) => {
                    links += 1;
                    at = PathBuf::from("/");
                    todo.extend(names(target));
                }
                Some(FsEntry::File(_) | FsEntry::Directory) => at = next,
            }
        }
        Ok(at)
    }

    fn id(&self, path: &Path) -> FileId {
        FileId { device: 1, inode: self.entries.range(..path.to_owned()).count() as u64 }
    }
}

/// Returns the components of a path, last one first.
fn names(path: &Path) -> Vec<PathBuf> {
    let names = path.components().filter(|it| matches!(it, Component::Normal(_)));
    names.map(|it| PathBuf::from(it.as_os_str())).rev().collect()
}

/// Returns whether a path is absolute, without `.` and `..`.
fn is_plain(path: &Path) -> bool {
    path.is_absolute() && !path.components().any(|it| it == Component::ParentDir)
}

impl Tree for Disk {
    fn look(&self, path: &AbsPath) -> Option<PathStatus> {
        Some(match self.physical(path) {
            Err(place) => place,
            Ok(physical) => match self.entries.get(&physical) {
                Some(FsEntry::File(_)) => PathStatus::File,
                _ => PathStatus::Directory { foreign: false },
            },
        })
    }

    fn list(&self, path: &AbsPath) -> Option<Result<Arc<Listing>, Fault>> {
        let Ok(physical) = self.physical(path) else {
            return Some(Err(Fault { kind: FaultKind::Vanished, detail: String::new() }));
        };
        if let Some(FsEntry::File(_)) = self.entries.get(&physical) {
            return Some(Err(Fault { kind: FaultKind::NotDirectory, detail: String::new() }));
        }
        let children = self.entries.iter().filter(|(it, _)| it.parent() == Some(&physical));
        let items: Box<[ListedItem]> = children
            .map(|(path, entry)| ListedItem {
                name: path.file_name().unwrap_or_default().to_owned(),
                kind: match entry {
                    FsEntry::Directory => ItemKind::Directory,
                    FsEntry::File(_) => ItemKind::File,
                    FsEntry::Link(_) => ItemKind::Link,
                },
            })
            .collect();
        Some(Ok(Arc::new(Listing { id: self.id(&physical), entries: items.len(), items })))
    }

    fn canonical(&self, path: &AbsPath) -> Option<AbsPath> {
        let physical = self.physical(path).unwrap_or_else(|_| path.to_path_buf());
        AbsPath::new(&physical).ok()
    }

    fn read(&self, path: &AbsPath) -> Option<Result<SkillFile, Fault>> {
        let physical = self.physical(path).unwrap_or_default();
        let Some(FsEntry::File(text)) = self.entries.get(&physical) else {
            return Some(Err(Fault { kind: FaultKind::Vanished, detail: String::new() }));
        };
        let facts = FileFacts { size: text.len() as u64, truncated: false, hash: [0; 32] };
        let record = Arc::new(SkillRecord::read(text.as_bytes(), facts));
        Some(Ok(SkillFile { id: self.id(&physical), directory: None, record, stale: None }))
    }

    fn text(&self, path: &AbsPath) -> Option<Result<Arc<TextFile>, Fault>> {
        let physical = self.physical(path).unwrap_or_default();
        Some(match self.entries.get(&physical) {
            Some(FsEntry::File(text)) => Ok(Arc::new(TextFile::new(text.as_bytes()))),
            _ => Err(Fault { kind: FaultKind::Vanished, detail: String::new() }),
        })
    }
}
