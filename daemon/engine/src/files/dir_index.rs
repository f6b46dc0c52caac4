//! Directory index: cached directories by physical path, and the lookups they answer.
//!
//! A [`DirNode`] is one watched directory. It caches answers only: lookups of single names
//! (`probes`), the directory's listing (`listing`), its SKILL.md (`files`) and agents'
//! configuration files (`texts`). Only requested answers are cached, so watches and memory follow
//! the paths that profiles read, not the size of a worktree.
//!
//! Invariant: a node is armed before it is read, and a hint invalidates a node's answers until they
//! are read again. A node's path contains no symbolic link; [`DirIndex::locate`] resolves a path to
//! its physical path by probes, so that every link on the way is watched as well.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::ops::Bound;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use skills_discovery::discover::{
    Fault, FaultKind, FileId, ItemKind, Listing, PathStatus, SkillFile, TextFile,
};

use crate::disk::{EntryKind, Stat};
use crate::files::name_map::NameMap;
use crate::watch::backend::WatchScope;

/// Maximum number of symbolic links followed for one path, as on Linux.
const MAX_LINKS: usize = 40;

/// Identifies a node; ids are never reused.
pub(crate) type NodeId = u32;

/// Physical path of a node, shared by all owners.
pub(crate) type NodePath = Arc<OsStr>;

/// All nodes, by path. A clone shares them, and a later change copies what it changes.
#[derive(Clone, Default)]
pub(crate) struct DirIndex {
    /// Keyed by physical path. Byte order keeps the nodes below a directory together.
    nodes: Arc<BTreeMap<NodePath, Arc<DirNode>>>,
    next: NodeId,
}

/// Cached answers and watch state of one directory.
#[derive(Clone)]
pub(crate) struct DirNode {
    pub(crate) id: NodeId,
    pub(crate) watch: WatchState,
    /// Scope of the watch when it was last armed.
    pub(crate) scope: WatchScope,
    /// Identity of the directory when it was last armed.
    pub(crate) armed_as: Option<FileId>,
    /// State of the directory when it was last read.
    pub(crate) seen: Option<ReadStat>,
    pub(crate) probes: NameMap<Probe>,
    pub(crate) listing: Option<Result<Arc<Listing>, Fault>>,
    pub(crate) files: NameMap<FileState<SkillFile>>,
    pub(crate) texts: NameMap<FileState<Arc<TextFile>>>,
}

/// Watch state of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatchState {
    /// Not armed yet, disarmed, or missing when it was armed. Armed and swept on next use.
    Unarmed,
    /// All changes are reported.
    Armed,
    /// Watched, but changes made by other machines on this kind of file system are not reported.
    /// Swept as well.
    PartlyWatched(&'static str),
    /// Not watched: the limit on watches is reached. Swept instead.
    OverLimit,
    /// Not watched: the operating system refused. Swept instead.
    Refused,
}

/// A file's metadata when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadStat {
    pub(crate) stat: Stat,
    /// True if the file changed so shortly before the read that a later change may carry the same
    /// timestamp.
    pub(crate) racy: bool,
}

/// Kind of the entry at a name in a directory; links are not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    Missing,
    Directory { owner: u32 },
    File,
    Special(&'static str),
    Link(PathBuf),
    Fault(Fault),
}

/// Result of the last read of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileState<T> {
    pub(crate) seen: Option<ReadStat>,
    pub(crate) result: Result<T, Fault>,
}

/// An answer that was requested and is not cached.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// Kind of the entry at a path, links followed.
    Look(PathBuf),
    /// Listing of a directory.
    List(OsString),
    /// Content of a SKILL.md.
    Read { dir: OsString, name: OsString },
    /// Content of a configuration file.
    Text { dir: OsString, name: OsString },
}

/// A physical path, and the kind of entry there.
pub(crate) struct Located {
    pub(crate) path: OsString,
    pub(crate) place: PathStatus,
}

/// A name in a directory that has not been probed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unknown {
    pub(crate) dir: OsString,
    pub(crate) name: OsString,
}

impl DirIndex {
    pub(crate) fn get(&self, path: &OsStr) -> Option<&DirNode> {
        self.nodes.get(path).map(|it| &**it)
    }

    pub(crate) fn get_mut(&mut self, path: &OsStr) -> Option<&mut DirNode> {
        // Looked up first: a change of shared nodes copies the map.
        self.nodes.contains_key(path).then(|| self.nodes_mut().get_mut(path).map(Arc::make_mut))?
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&NodePath, &DirNode)> {
        self.nodes.iter().map(|(path, it)| (path, &**it))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&NodePath, &mut DirNode)> {
        self.nodes_mut().iter_mut().map(|(path, it)| (path, Arc::make_mut(it)))
    }

    fn nodes_mut(&mut self) -> &mut BTreeMap<NodePath, Arc<DirNode>> {
        Arc::make_mut(&mut self.nodes)
    }

    /// Returns true if none of these nodes answers otherwise than when `before` was cloned.
    pub(crate) fn is_unchanged_since(
        &self,
        before: &Self,
        depends: impl Fn(NodeId) -> bool,
    ) -> bool {
        if Arc::ptr_eq(&self.nodes, &before.nodes) {
            return true;
        }
        let mut now = self.nodes.iter().peekable();
        // Both are sorted by path.
        before.nodes.iter().all(|(path, node)| {
            while now.next_if(|(it, _)| *it < path).is_some() {}
            let is_same = |now: &Arc<DirNode>| Arc::ptr_eq(now, node) || now.answers_like(node);
            !depends(node.id) || now.peek().is_some_and(|(it, now)| *it == path && is_same(now))
        })
    }

    /// Adds an unarmed node without answers, unless the node exists.
    pub(crate) fn ensure(&mut self, path: &OsStr) -> &mut DirNode {
        let next = &mut self.next;
        let node = Arc::make_mut(&mut self.nodes).entry(path.into()).or_insert_with(|| {
            *next += 1;
            Arc::new(DirNode {
                id: *next,
                watch: WatchState::Unarmed,
                scope: WatchScope::Names,
                armed_as: None,
                seen: None,
                probes: NameMap::default(),
                listing: None,
                files: NameMap::default(),
                texts: NameMap::default(),
            })
        });
        Arc::make_mut(node)
    }

    pub(crate) fn path_of(&self, path: &OsStr) -> Option<NodePath> {
        self.nodes.get_key_value(path).map(|(path, _)| Arc::clone(path))
    }

    pub(crate) fn remove_tree(&mut self, path: &OsStr) -> Vec<(NodePath, Arc<DirNode>)> {
        let paths = self.tree(path).into_iter();
        let nodes = self.nodes_mut();
        paths.filter_map(|path| nodes.remove_entry(&path)).collect()
    }

    /// Removes the nodes for which `keep` returns false, and returns them.
    pub(crate) fn retain(
        &mut self,
        keep: impl Fn(&DirNode) -> bool,
    ) -> Vec<(NodePath, Arc<DirNode>)> {
        self.nodes_mut().extract_if(.., |_, it| !keep(it)).collect()
    }

    pub(crate) fn tree(&self, path: &OsStr) -> Vec<NodePath> {
        let (from, to) = below(path);
        let below = (Bound::Included(&*from), Bound::Excluded(&*to));
        let below = self.nodes.range::<OsStr, _>(below).map(|(it, _)| Arc::clone(it));
        self.path_of(path).into_iter().chain(below).collect()
    }

    /// Resolves a path to its physical path and kind of entry. Calls `visit` with the id of every
    /// node that the answer depends on.
    pub(crate) fn locate(
        &self,
        path: &Path,
        uid: u32,
        visit: &mut dyn FnMut(NodeId),
    ) -> Result<Located, Unknown> {
        let mut links = LinkWalk::default();
        let mut physical = OsString::from("/");
        let mut place = PathStatus::Directory { foreign: false };
        let mut todo: Vec<OsString> = components(path).rev().collect();
        while let Some(name) = todo.pop() {
            if name == ".." {
                physical = OsString::from(parent(&physical));
                place = PathStatus::Directory { foreign: false };
                continue;
            }
            if !matches!(place, PathStatus::Directory { .. }) {
                // A path below a file.
                place = PathStatus::Missing;
                break;
            }
            match self.probe(&physical, &name, visit)? {
                Probe::Missing => {
                    place = links.status_of_missing(todo.len());
                    break;
                }
                Probe::Fault(fault) => {
                    place = PathStatus::Fault(fault.clone());
                    break;
                }
                Probe::Directory { owner } => {
                    place = PathStatus::Directory { foreign: *owner != uid && *owner != 0 };
                }
                Probe::File => place = PathStatus::File,
                Probe::Special(word) => place = PathStatus::Special(word),
                Probe::Link(target) => {
                    links.enter(target, todo.len());
                    if links.n > MAX_LINKS {
                        place = PathStatus::Fault(FaultKind::Loop.into());
                        break;
                    }
                    if target.is_absolute() {
                        physical = OsString::from("/");
                    }
                    todo.extend(components(target).rev());
                    place = PathStatus::Directory { foreign: false };
                    continue;
                }
            }
            physical = join(&physical, &name);
        }
        Ok(Located { path: physical, place })
    }

    fn probe(
        &self,
        dir: &OsStr,
        name: &OsStr,
        visit: &mut dyn FnMut(NodeId),
    ) -> Result<&Probe, Unknown> {
        let unknown = || Unknown { dir: dir.to_owned(), name: name.to_owned() };
        let node = self.nodes.get(dir).ok_or_else(unknown)?;
        visit(node.id);
        node.probes.get(name).ok_or_else(unknown)
    }

    /// Returns the physical path of the directory at `path`, which must be a directory.
    pub(crate) fn directory(
        &self,
        path: &Path,
        uid: u32,
        visit: &mut dyn FnMut(NodeId),
    ) -> Result<OsString, Unknown> {
        let text = path.as_os_str();
        if self.nodes.contains_key(text) || self.listed(path, ItemKind::Directory, visit) {
            return Ok(text.to_owned());
        }
        self.locate(path, uid, visit).map(|it| it.path)
    }

    /// Returns true if the parent's cached listing contains `path` as an entry of this kind.
    pub(crate) fn listed(
        &self,
        path: &Path,
        kind: ItemKind,
        visit: &mut dyn FnMut(NodeId),
    ) -> bool {
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else { return false };
        let Some(node) = self.nodes.get(dir.as_os_str()) else { return false };
        visit(node.id);
        let Some(Ok(listing)) = &node.listing else { return false };
        let found = listing.items.binary_search_by(|it| it.name.as_os_str().cmp(name));
        found.is_ok_and(|it| listing.items[it].kind == kind)
    }
}

/// Links on the way to a path. `left` is the number of components that are still to be resolved.
#[derive(Default)]
struct LinkWalk<'a> {
    n: usize,
    last_target: Option<&'a Path>,
    /// The walk is inside a link's target while at least this many components are left.
    target_until: Option<usize>,
}

impl<'a> LinkWalk<'a> {
    fn enter(&mut self, target: &'a Path, left: usize) {
        self.n += 1;
        self.last_target = Some(target);
        self.target_until = self.target_until.filter(|it| left >= *it).or(Some(left));
    }

    fn status_of_missing(&self, left: usize) -> PathStatus {
        let target = self.last_target.filter(|_| self.target_until.is_some_and(|it| left >= it));
        target.map_or(PathStatus::Missing, dangling)
    }
}

impl DirNode {
    /// Returns true if it is the same node with equal answers.
    fn answers_like(&self, other: &Self) -> bool {
        self.id == other.id
            && self.probes == other.probes
            && self.listing == other.listing
            && results(&self.files).eq(results(&other.files))
            && results(&self.texts).eq(results(&other.texts))
    }

    /// Returns the names whose hints matter to this directory; none means all names.
    pub(crate) fn interest(&self) -> Option<BTreeSet<OsString>> {
        let names =
            self.probes.names().chain(self.files.names()).chain(self.texts.names()).cloned();
        self.listing.is_none().then(|| names.collect())
    }

    /// Returns the smallest watch scope that covers the cached answers.
    pub(crate) fn min_scope(&self) -> WatchScope {
        let reads = self.files.names().chain(self.texts.names()).next().is_some();
        if reads { WatchScope::Everything } else { WatchScope::Names }
    }

    /// Marks the watch as lost; the directory is armed before its next read.
    pub(crate) fn unarm(&mut self) {
        self.watch = WatchState::Unarmed;
    }

    /// Returns true if some changes are not reported, so that the disk must be compared.
    pub(crate) fn needs_sweep(&self) -> bool {
        self.watch != WatchState::Armed || self.has_failed()
    }

    /// Returns true if an answer failed with an I/O error, for example because no descriptor was
    /// left. No event reports recovery, so the read is retried.
    pub(crate) fn has_failed(&self) -> bool {
        let failed = |it: &Fault| it.kind == FaultKind::Io;
        let is_stale = |it: &SkillFile| it.stale.as_ref().is_some_and(failed);
        matches!(&self.listing, Some(Err(fault)) if failed(fault))
            || self.probes.iter().any(|(_, it)| matches!(it, Probe::Fault(it) if failed(it)))
            || self.files.iter().any(|(_, it)| it.result.as_ref().map_or_else(failed, is_stale))
            || self.texts.iter().any(|(_, it)| it.result.as_ref().is_err_and(failed))
    }

    /// Returns true if the node has any answer.
    pub(crate) fn knows_something(&self) -> bool {
        let mut names = self.probes.names().chain(self.files.names()).chain(self.texts.names());
        self.listing.is_some() || names.next().is_some()
    }

    pub(crate) fn directories(&self) -> BTreeSet<&OsStr> {
        let probed = self.probes.iter().filter(|(_, it)| matches!(it, Probe::Directory { .. }));
        let listed = self.listing.iter().flatten().flat_map(|it| it.items.iter());
        probed
            .map(|(name, _)| name.as_os_str())
            .chain(listed.filter(|it| it.kind == ItemKind::Directory).map(|it| it.name.as_os_str()))
            .collect()
    }
}

/// Returns the results of reading files, without the metadata that tells whether to read again.
fn results<T>(
    files: &NameMap<FileState<T>>,
) -> impl Iterator<Item = (&OsString, &Result<T, Fault>)> {
    files.iter().map(|(name, it)| (name, &it.result))
}

/// A change this close to the read, in nanoseconds, may share its timestamp with a later change:
/// file times advance with the kernel's clock tick, 10 ms at the slowest.
const RACY_NANOS: i128 = 20_000_000;

/// Same limit for file systems with timestamps of one or two seconds, such as FAT.
const RACY_NANOS_OF_SECONDS: i128 = 2_000_000_000 + RACY_NANOS;

impl ReadStat {
    /// Returns the state found by a read that started at `at`. A time taken after the read would
    /// accept a file that can still change within the same tick.
    pub(crate) fn after_read_started(at: SystemTime, stat: Stat) -> Self {
        let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let at = since.as_nanos().cast_signed();
        let nanos = |(s, n): (i64, i64)| i128::from(s) * 1_000_000_000 + i128::from(n);
        let latest = nanos(stat.modified).max(nanos(stat.changed));
        // Programs can set a file's mtime but not its ctime: a ctime of whole seconds means that
        // the file system has no finer timestamps.
        let near = if stat.changed.1 == 0 { RACY_NANOS_OF_SECONDS } else { RACY_NANOS };
        Self { stat, racy: at - latest < near }
    }

    /// Returns true if a file with metadata `stat` certainly has the content that was read.
    pub(crate) fn is_unchanged(&self, stat: &Stat) -> bool {
        !self.racy && self.stat == *stat
    }
}

impl From<EntryKind> for ItemKind {
    fn from(kind: EntryKind) -> Self {
        match kind {
            EntryKind::Directory => Self::Directory,
            EntryKind::File => Self::File,
            EntryKind::Link => Self::Link,
            EntryKind::Special(word) => Self::Special(word),
        }
    }
}

fn dangling(target: &Path) -> PathStatus {
    // The target as stored in the link, because that is the text the user has to fix.
    PathStatus::Fault(Fault { kind: FaultKind::Dangling, detail: target.display().to_string() })
}

fn components(path: impl AsRef<Path>) -> std::vec::IntoIter<OsString> {
    let all: Vec<_> = path
        .as_ref()
        .components()
        .filter_map(|it| match it {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .collect();
    all.into_iter()
}

pub(crate) fn join(dir: &OsStr, name: &OsStr) -> OsString {
    let mut path = Vec::with_capacity(dir.len() + 1 + name.len());
    path.extend_from_slice(dir.as_bytes());
    if !path.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend_from_slice(name.as_bytes());
    OsString::from_vec(path)
}

/// Returns the directory that holds `path`; the root directory holds itself.
pub(crate) fn parent(path: &OsStr) -> &OsStr {
    Path::new(path).parent().map_or(path, Path::as_os_str)
}

/// Returns the bounds of the keys below `path`: from `path/` to `path0`, as `0` follows `/`.
fn below(path: &OsStr) -> (OsString, OsString) {
    let mut from = path.as_bytes().to_vec();
    if from.ends_with(b"/") {
        from.pop();
    }
    let mut to = from.clone();
    from.push(b'/');
    to.push(b'/' + 1);
    (OsString::from_vec(from), OsString::from_vec(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir_index(paths: &[&str]) -> DirIndex {
        let mut dir_index = DirIndex::default();
        for path in paths {
            dir_index.ensure(OsStr::new(path));
        }
        dir_index
    }

    #[test]
    fn tree_contains_descendants_but_not_sibling_prefixes() {
        let dir_index = dir_index(&["/a", "/a-b", "/a/b", "/a/b/c", "/a0", "/b"]);
        let below = dir_index.tree(OsStr::new("/a"));
        assert_eq!(below, ["/a", "/a/b", "/a/b/c"].map(|it| NodePath::from(OsStr::new(it))));
        assert_eq!(dir_index.tree(OsStr::new("/")).len(), 6);
    }

    #[test]
    fn locate_follows_links_and_detects_loops() {
        let mut dir_index = dir_index(&["/", "/a"]);
        let mut probe = |dir: &str, name: &str, probe| {
            dir_index.get_mut(OsStr::new(dir)).unwrap().probes.insert(name.into(), probe);
        };
        probe("/", "l", Probe::Link("a/../a".into()));
        probe("/", "a", Probe::Directory { owner: 0 });
        probe("/a", "f", Probe::File);
        probe("/a", "me", Probe::Link("me".into()));
        probe("/a", "gone", Probe::Link("/l/none".into()));
        probe("/a", "none", Probe::Missing);
        probe("/a", "d", Probe::Link("/a".into()));
        let locate = |path: &str| {
            dir_index.locate(Path::new(path), 1, &mut |_| {}).map(|it| (it.path, it.place))
        };
        assert_eq!(locate("/l/f"), Ok(("/a/f".into(), PathStatus::File)));
        assert_eq!(locate("/a/f/x"), Ok(("/a/f".into(), PathStatus::Missing)));
        assert!(
            matches!(locate("/a/me"), Ok((_, PathStatus::Fault(it))) if it.kind == FaultKind::Loop)
        );
        assert!(
            matches!(locate("/a/gone"), Ok((_, PathStatus::Fault(it))) if it.kind == FaultKind::Dangling)
        );
        assert_eq!(locate("/a/d/none"), Ok(("/a".into(), PathStatus::Missing)));
        assert_eq!(locate("/b"), Err(Unknown { dir: "/".into(), name: "b".into() }));
    }
}
