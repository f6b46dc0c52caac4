//! The forest kept true to the disk: arm, read, and take back on hints.
//!
//! Whoever asks for what is not known ([`Ground::fulfil`]) gets it armed first and read second,
//! so that no change falls between. Hints mark nodes ([`Ground::mark`]); marked nodes are armed
//! again where their watch may be lost and read again ([`Ground::refresh`]), parents before
//! children. Where watching is not to be had, nodes are compared with the disk by their file
//! times ([`Ground::sweep`]), which opens nothing and so makes no events of its own.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use skills_core::resolve::{
    Fault, FaultKind, FileId, Item, Listing, SkillFile, TEXT_LIMIT, TextFile,
};
use skills_core::skill::FileFacts;

use crate::disk::{Disk, Kind, ReadError, Stat, content_hash, is_skill_name};
use crate::forest::{FileState, Forest, Need, Node, Probe, Seen, Serial, Watch, join, parent};
use crate::hints::{ArmError, HintSource, Hints, Inbox};
use crate::mounts::Mounts;
use crate::names::Names;
use crate::pool;
use crate::records::Records;

/// How often the disk was asked, by what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Directories read.
    pub listed: Causes,
    /// Files read and parsed.
    pub read: Causes,
    /// Names looked up.
    pub probed: u64,
    /// Nodes compared with the disk by their times.
    pub swept: u64,
    /// How often hints were lost and everything was looked at again.
    pub lost: u64,
}

/// How often something was read, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes([u64; Cause::ALL.len()]);

/// Why something is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// It was asked for and not known.
    Opened,
    /// The watcher said that something changed there.
    Changed,
    /// It was compared with the disk, and differed or might.
    Swept,
    /// As before, because hints were lost or something was mounted.
    Lost,
    /// Something else than the disk changed: how much is read, or what can be watched.
    Limits,
}

impl Cause {
    /// All causes, in the order of their declaration.
    pub const ALL: [Self; 5] = [Self::Opened, Self::Changed, Self::Swept, Self::Lost, Self::Limits];

    /// Returns the word for it in a status.
    pub fn name(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Changed => "changed",
            Self::Swept => "swept",
            Self::Lost => "lost",
            Self::Limits => "limits",
        }
    }
}

impl Causes {
    /// Returns how often in all.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns how often for each cause that there was.
    pub fn iter(&self) -> impl Iterator<Item = (Cause, u64)> {
        Cause::ALL.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }

    fn count(&mut self, cause: Cause) {
        self.0[cause as usize] += 1;
    }
}

/// The disk side of the engine.
pub(crate) struct Ground {
    pub(crate) forest: Forest,
    pub(crate) counters: Counters,
    disk: Arc<dyn Disk>,
    source: Option<Box<dyn HintSource>>,
    inbox: Inbox,
    us: u32,
    read_limit: u64,
    /// Which nodes are the same directory, reached through bind mounts.
    same: HashMap<FileId, Vec<OsString>>,
    /// The nodes whose answers may be out of date. Parents sort before their children, so that
    /// what a parent lost is not read in vain.
    dirty: BTreeMap<OsString, Cause>,
    /// Whether a watch was given up since the last refresh.
    freed: bool,
    /// Whether there may be nodes that are not watched.
    deaf: bool,
    /// The devices that were met, and the kind of those whose changes are not all told.
    doubts: HashMap<u64, Option<&'static str>>,
    mounts: Mounts,
    records: Arc<Records>,
}

/// What a directory job found: its listing, and its SKILL.md where that is a regular file.
struct Listed {
    listing: Result<(Seen, Arc<Listing>), Fault>,
    skill: Option<FileState<SkillFile>>,
}

impl Ground {
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        source: Option<Box<dyn HintSource>>,
        inbox: Inbox,
        us: u32,
        read_limit: u64,
    ) -> Self {
        let forest = Forest::default();
        let counters = Counters::default();
        Self {
            forest,
            counters,
            disk,
            source,
            inbox,
            us,
            read_limit,
            same: HashMap::new(),
            dirty: BTreeMap::new(),
            freed: false,
            deaf: false,
            doubts: HashMap::new(),
            mounts: Mounts::open(),
            records: Arc::default(),
        }
    }

    /// Whether there is a source of hints.
    pub(crate) fn hears(&self) -> bool {
        self.source.is_some()
    }

    /// Whether there may be directories that are not watched.
    pub(crate) fn is_deaf(&self) -> bool {
        self.deaf
    }

    /// Places a cookie; false when there is no source of hints that could bring it back.
    pub(crate) fn cookie(&mut self, ticket: u64) -> bool {
        let Some(source) = &mut self.source else { return false };
        source.cookie(ticket).inspect_err(|error| tracing::warn!(%error, "no cookie")).is_ok()
    }

    /// Looks at everything again where something was mounted or unmounted since the last time.
    pub(crate) fn follow_mounts(&mut self) {
        if self.mounts.have_changed() {
            // A device may come back as another one.
            self.doubts.clear();
            self.sweep_for(Cause::Lost, |_| true);
        }
    }

    /// Sets how much of a SKILL.md is read; those for which it matters are read again.
    pub(crate) fn set_read_limit(&mut self, limit: u64) {
        let least = limit.min(self.read_limit);
        if std::mem::replace(&mut self.read_limit, limit) == limit {
            return;
        }
        for (path, node) in self.forest.iter_mut() {
            for state in node.files.values_mut() {
                if state.seen.is_some_and(|it| it.stat.size > least) {
                    state.seen = None;
                    self.dirty.entry(path.clone()).or_insert(Cause::Limits);
                }
            }
        }
    }

    /// Finds out what was asked for.
    pub(crate) fn fulfil(&mut self, mut needs: Vec<Need>) {
        needs.sort();
        needs.dedup();
        let mut lists = Vec::new();
        let mut reads = Vec::new();
        let mut texts = Vec::new();
        for need in needs {
            match need {
                Need::Look(path) => self.look(&path),
                Need::List(dir) => lists.push(dir),
                Need::Read { dir, name } => reads.push((dir, name)),
                Need::Text { dir, name } => texts.push((dir, name)),
            }
        }
        self.list(&lists);
        self.read(&reads);
        self.read_texts(texts);
    }

    /// Probes its way along a path until what stands there is known.
    fn look(&mut self, path: &Path) {
        while let Err(unknown) = self.forest.locate(path, self.us, &mut |_| {}) {
            self.arm(&unknown.dir);
            self.widen_interest(&unknown.dir, &unknown.name);
            let probe = self.probe(&unknown.dir, &unknown.name);
            if let Some(node) = self.forest.get_mut(&unknown.dir) {
                node.probes.insert(unknown.name, probe);
            }
        }
    }

    /// Lets hints about a name through, before the name is read: a hint that is dropped in
    /// between would be a change that nobody ever sees.
    fn widen_interest(&self, dir: &OsStr, name: &OsStr) {
        let Some(node) = self.forest.get(dir) else { return };
        let names = node.interest().map(|mut names| {
            names.insert(name.to_owned());
            names
        });
        self.inbox.set_interest(Path::new(dir), names);
    }

    fn probe(&mut self, dir: &OsStr, name: &OsStr) -> Probe {
        self.counters.probed += 1;
        let path = join(dir, name);
        let path = Path::new(&path);
        match self.disk.stat(path) {
            Ok(stat) => match stat.kind {
                Kind::Directory => Probe::Directory { owner: stat.owner },
                Kind::File => Probe::File,
                Kind::Special(word) => Probe::Special(word),
                Kind::Link => match self.disk.target(path) {
                    Ok(target) => Probe::Link(target),
                    Err(error) => missing_or(&error),
                },
            },
            Err(error) => missing_or(&error),
        }
    }

    /// Makes sure that a directory is a node and under watch.
    fn arm(&mut self, path: &OsStr) {
        let node = self.forest.ensure(path);
        if node.watch != Watch::Unarmed {
            return;
        }
        node.watch = match &mut self.source {
            None => Watch::Refused,
            Some(source) => match source.arm(Path::new(path)) {
                Ok(()) => Watch::Armed,
                // Whoever saw it go has been told, and will say so.
                Err(ArmError::Missing) => Watch::Unarmed,
                Err(ArmError::Limit) => Watch::OverLimit,
                Err(ArmError::Io(error)) => {
                    tracing::debug!(path = %Path::new(path).display(), %error, "not watched");
                    Watch::Refused
                }
            },
        };
        let seen = self.disk.stat(Path::new(path)).ok().map(Seen::now);
        let now = seen.map(|it| it.stat.id);
        if let Some(id) = now.filter(|_| node.watch == Watch::Armed) {
            let disk = &*self.disk;
            let doubt = self.doubts.entry(id.device);
            if let Some(kind) = *doubt.or_insert_with(|| disk.doubt(Path::new(path))) {
                node.watch = Watch::Doubtful(kind);
            }
        }
        self.deaf |= node.deaf();
        let before = std::mem::replace(&mut node.armed_as, now);
        if node.seen.is_none() {
            // What is read from now on is compared with this.
            node.seen = seen;
        }
        if let Some(id) = before.filter(|it| Some(*it) != now) {
            self.part(id, path);
        }
        if let Some(id) = now {
            let paths = self.same.entry(id).or_insert_with(|| Vec::with_capacity(1));
            if !paths.iter().any(|it| it == path) {
                paths.push(path.to_owned());
            }
        }
    }

    fn list(&mut self, dirs: &[OsString]) {
        let (disk, limit) = (Arc::clone(&self.disk), self.read_limit);
        let records = Arc::clone(&self.records);
        let arm = |dir: &OsString| {
            self.arm(dir);
            self.inbox.set_interest(Path::new(dir), None);
        };
        let found = pool::map_after(dirs, arm, |dir| list_directory(&*disk, &records, dir, limit));
        for (dir, listed) in dirs.iter().zip(found) {
            self.counters.listed.count(Cause::Opened);
            if listed.skill.is_some() {
                self.counters.read.count(Cause::Opened);
            }
            if let Some(node) = self.forest.get_mut(dir) {
                node.take_listing(listed);
            }
        }
    }

    fn read(&mut self, files: &[(OsString, OsString)]) {
        let (disk, limit) = (Arc::clone(&self.disk), self.read_limit);
        let records = Arc::clone(&self.records);
        let arm = |(dir, name): &(OsString, OsString)| {
            self.arm(dir);
            self.widen_interest(dir, name);
        };
        let found = pool::map_after(files, arm, |(dir, name)| {
            read_skill(&*disk, &records, (dir, name), limit)
        });
        for ((dir, name), state) in files.iter().zip(found) {
            self.counters.read.count(Cause::Opened);
            if let Some(node) = self.forest.get_mut(dir) {
                node.files.insert(name.clone(), state);
            }
        }
    }

    /// Reads configuration files: there are few, so that threads would cost more than they save.
    fn read_texts(&mut self, files: Vec<(OsString, OsString)>) {
        for (dir, name) in files {
            self.arm(&dir);
            self.widen_interest(&dir, &name);
            let state = read_text(&*self.disk, &dir, &name);
            self.counters.read.count(Cause::Opened);
            if let Some(node) = self.forest.get_mut(&dir) {
                node.texts.insert(name, state);
            }
        }
    }

    /// Marks what hints speak of.
    pub(crate) fn mark(&mut self, hints: &Hints) {
        if hints.lost {
            self.counters.lost += 1;
            self.forest.iter_mut().for_each(|(_, it)| it.unarm());
            self.sweep_for(Cause::Lost, |_| true);
        }
        for path in &hints.replaced {
            for below in self.forest.tree(path.as_os_str()) {
                self.mark_one(&below, true);
            }
            self.mark_one(parent(path.as_os_str()), false);
        }
        for path in &hints.changed {
            self.mark_one(path.as_os_str(), false);
            self.mark_one(parent(path.as_os_str()), false);
        }
    }

    /// Marks a node, and those that are the same directory and so share its watch.
    fn mark_one(&mut self, path: &OsStr, replaced: bool) {
        let Some(node) = self.forest.get(path) else { return };
        let same = node.seen.and_then(|it| self.same.get(&it.stat.id));
        let others = same.into_iter().flatten().map(OsString::as_os_str);
        for path in others.chain([path]) {
            if let Some(node) = self.forest.get_mut(path) {
                self.dirty.entry(path.to_owned()).or_insert(Cause::Changed);
                // What was refused may be allowed now.
                if replaced || node.watch == Watch::Refused {
                    node.unarm();
                }
            }
        }
    }

    /// Compares nodes that are not watched with the disk, those that `which` chooses.
    pub(crate) fn sweep_deaf(&mut self, which: impl Fn(&Node) -> bool) {
        if self.deaf {
            self.sweep(|it| it.deaf() && which(it));
            self.deaf = self.forest.iter().any(|(_, it)| it.deaf());
        }
    }

    /// Compares nodes with the disk without opening anything; marks those that differ.
    pub(crate) fn sweep(&mut self, which: impl Fn(&Node) -> bool) {
        self.sweep_for(Cause::Swept, which);
    }

    fn sweep_for(&mut self, cause: Cause, which: impl Fn(&Node) -> bool) {
        let chosen = self.forest.iter().filter(|(_, it)| which(it));
        for path in chosen.map(|(path, _)| path.clone()).collect::<Vec<_>>() {
            self.counters.swept += 1;
            // Armed before it is compared: a change after this makes a hint.
            self.arm(&path);
            let now = self.disk.stat(Path::new(&path)).ok();
            let Some(node) = self.forest.get_mut(&path) else { continue };
            if now.map(|it| it.id) != node.seen.map(|it| it.stat.id) {
                node.unarm();
            }
            let holds = |seen: Option<Seen>, now: Option<Stat>| matches!((seen, now), (Some(seen), Some(now)) if seen.holds(&now));
            let disk = &*self.disk;
            let file_holds = |(name, seen): (&OsString, Option<Seen>)| {
                holds(seen, disk.stat(Path::new(&join(&path, name))).ok())
            };
            let differs = {
                let files = node.files.iter().map(|(name, it)| (name, it.seen));
                let texts = node.texts.iter().map(|(name, it)| (name, it.seen));
                node.watch == Watch::Unarmed
                    || !holds(node.seen, now)
                    || !files.chain(texts).all(file_holds)
            };
            if differs {
                if node.watch == Watch::Refused {
                    node.unarm();
                }
                self.dirty.entry(path).or_insert(cause);
            }
        }
    }

    /// Reads every marked node again. Returns the numbers of those whose answers changed.
    pub(crate) fn refresh(&mut self) -> Vec<Serial> {
        if std::mem::take(&mut self.freed) && self.deaf {
            // There may be room now for those that were over the limit.
            for (path, node) in self.forest.iter_mut() {
                if node.watch == Watch::OverLimit {
                    node.unarm();
                    self.dirty.entry(path.clone()).or_insert(Cause::Limits);
                }
            }
        }
        let mut changed = Vec::new();
        while let Some((path, cause)) = self.dirty.pop_first() {
            if self.refresh_one(&path, cause) == Some(true)
                && let Some(node) = self.forest.get(&path)
            {
                changed.push(node.serial);
            }
        }
        changed
    }

    /// Reads one node again. Returns whether its answers changed; none when it is gone.
    fn refresh_one(&mut self, path: &OsStr, cause: Cause) -> Option<bool> {
        self.forest.get(path)?;
        self.arm(path);
        let stat = self.disk.stat(Path::new(path)).ok().map(Seen::now);
        let names: Vec<_> = self.forest.get(path)?.probes.names().cloned().collect();
        let probes: Names<_> =
            names.into_iter().map(|name| (name.clone(), self.probe(path, &name))).collect();
        let node = self.forest.get_mut(path)?;
        node.seen = stat;
        let directories: BTreeSet<OsString> =
            node.directories().into_iter().map(OsStr::to_owned).collect();
        let mut changed = node.probes != probes;
        node.probes = probes;
        if node.listing.is_some() {
            self.counters.listed.count(cause);
            let listed = list_entries(&*self.disk, path);
            changed |= node.listing.as_ref() != Some(&listed.clone().map(|it| it.1));
            if let Ok((seen, _)) = &listed {
                node.seen = Some(*seen);
            }
            node.listing = Some(listed.map(|it| it.1));
        }
        let texts = std::mem::take(&mut node.texts);
        for (name, old) in std::mem::take(&mut node.files) {
            let (limit, records) = (self.read_limit, Arc::clone(&self.records));
            let read = |disk: &dyn Disk, old: &_| {
                read_skill(disk, &records, (path, &name), limit).or_keep(old)
            };
            let state = self.recheck((path, &name), cause, old, read);
            changed |= state.1;
            if let Some(state) = state.0 {
                self.forest.get_mut(path)?.files.insert(name, state);
            }
        }
        for (name, old) in texts {
            let read = |disk: &dyn Disk, _: &_| read_text(disk, path, &name);
            let state = self.recheck((path, &name), cause, old, read);
            changed |= state.1;
            if let Some(state) = state.0 {
                self.forest.get_mut(path)?.texts.insert(name, state);
            }
        }
        let still = self.forest.get(path)?.directories();
        let lost: Vec<_> =
            directories.iter().filter(|it| !still.contains(it.as_os_str())).cloned().collect();
        for name in lost {
            self.forget_tree(&join(path, &name));
        }
        Some(changed)
    }

    /// Returns a file's state as it is now, and whether it changed; no state when it is gone.
    fn recheck<T: PartialEq>(
        &mut self,
        (dir, name): (&OsStr, &OsStr),
        cause: Cause,
        old: FileState<T>,
        read: impl FnOnce(&dyn Disk, &FileState<T>) -> FileState<T>,
    ) -> (Option<FileState<T>>, bool) {
        let path = join(dir, name);
        match self.disk.stat(Path::new(&path)) {
            Ok(now) if old.seen.is_some_and(|it| it.holds(&now)) => (Some(old), false),
            Ok(now) if now.kind == Kind::File => {
                self.counters.read.count(cause);
                let new = read(&*self.disk, &old);
                let changed = new.result != old.result;
                (Some(new), changed)
            }
            Ok(_) | Err(_) => (None, true),
        }
    }

    fn forget_tree(&mut self, path: &OsStr) {
        let gone = self.forest.remove_tree(path);
        self.forget(gone);
    }

    /// Removes the nodes that nobody uses.
    pub(crate) fn retain(&mut self, used: &HashSet<Serial>) {
        let gone = self.forest.retain(|it| used.contains(&it.serial));
        self.forget(gone);
    }

    fn forget(&mut self, gone: Vec<(OsString, Node)>) {
        for (path, node) in gone {
            if let Some(source) = &mut self.source {
                source.disarm(Path::new(&path));
                self.freed = true;
            }
            self.inbox.set_interest(Path::new(&path), None);
            if let Some(id) = node.armed_as {
                self.part(id, &path);
            }
        }
    }

    /// A path is no longer one of those that reach a directory.
    fn part(&mut self, id: FileId, path: &OsStr) {
        let Some(paths) = self.same.get_mut(&id) else { return };
        paths.retain(|it| it != path);
        // A source may have shared one watch between them: what is left is armed again.
        for path in paths.iter() {
            if let Some(node) = self.forest.get_mut(path) {
                node.unarm();
                self.dirty.entry(path.clone()).or_insert(Cause::Changed);
            }
        }
        if paths.is_empty() {
            self.same.remove(&id);
        }
    }
}

impl Node {
    fn take_listing(&mut self, listed: Listed) {
        if let Some(skill) = listed.skill {
            self.files.insert("SKILL.md".into(), skill);
        }
        if let Ok((seen, _)) = &listed.listing {
            self.seen = Some(*seen);
        }
        self.listing = Some(listed.listing.map(|it| it.1));
    }
}

impl FileState<SkillFile> {
    /// Keeps the last good reading, marked stale, when this one failed for a passing reason.
    fn or_keep(self, old: &Self) -> Self {
        match (&self.result, &old.result) {
            (Err(fault), Ok(good)) if matches!(fault.kind, FaultKind::Changing | FaultKind::Io) => {
                let stale = SkillFile { stale: Some(fault.clone()), ..good.clone() };
                Self { seen: None, result: Ok(stale) }
            }
            _ => self,
        }
    }
}

fn list_directory(disk: &dyn Disk, records: &Records, dir: &OsStr, limit: u64) -> Listed {
    let listing = list_entries(disk, dir);
    let name = OsStr::new("SKILL.md");
    let has_skill = |listing: &Listing| {
        listing.items.iter().any(|it| it.name == name && it.kind == Kind::File.into())
    };
    let skill = match &listing {
        Ok((_, listing)) if has_skill(listing) => {
            Some(read_skill(disk, records, (dir, name), limit))
        }
        Ok(_) | Err(_) => None,
    };
    Listed { listing, skill }
}

fn list_entries(disk: &dyn Disk, dir: &OsStr) -> Result<(Seen, Arc<Listing>), Fault> {
    let directory = disk.list(Path::new(dir)).map_err(|error| fault(&error))?;
    let mut items: Vec<Item> = directory
        .entries
        .into_iter()
        .filter(|(name, kind)| {
            matches!(kind, Kind::Directory | Kind::Link)
                || is_skill_name(name)
                || (*kind == Kind::File && name.as_bytes().ends_with(b".md"))
        })
        .map(|(name, kind)| Item { name, kind: kind.into() })
        .collect();
    items.sort_by(|a, b| a.name.cmp(&b.name));
    let seen = Seen::now(directory.stat);
    Ok((seen, Arc::new(Listing { id: directory.stat.id, items: items.into() })))
}

fn read_skill(
    disk: &dyn Disk,
    records: &Records,
    (dir, name): (&OsStr, &OsStr),
    limit: u64,
) -> FileState<SkillFile> {
    match disk.read(Path::new(&join(dir, name)), limit) {
        Ok(file) => {
            let facts = FileFacts {
                size: file.stat.size,
                truncated: file.truncated,
                hash: content_hash(&file.bytes),
            };
            let record = records.of(&file.bytes, facts);
            let result = Ok(SkillFile { id: file.stat.id, record, stale: None });
            FileState { seen: Some(Seen::now(file.stat)), result }
        }
        Err(error) => FileState { seen: None, result: Err(read_fault(&error)) },
    }
}

fn read_text(disk: &dyn Disk, dir: &OsStr, name: &OsStr) -> FileState<Arc<TextFile>> {
    match disk.read(Path::new(&join(dir, name)), TEXT_LIMIT) {
        Ok(file) if file.truncated => {
            let detail =
                format!("{} bytes, of which at most {TEXT_LIMIT} are read", file.stat.size);
            let fault = Fault { kind: FaultKind::TooLarge, detail };
            FileState { seen: Some(Seen::now(file.stat)), result: Err(fault) }
        }
        Ok(file) => {
            let text = Arc::new(TextFile::new(&file.bytes));
            FileState { seen: Some(Seen::now(file.stat)), result: Ok(text) }
        }
        Err(error) => FileState { seen: None, result: Err(read_fault(&error)) },
    }
}

fn read_fault(error: &ReadError) -> Fault {
    match error {
        ReadError::NotRegular(Kind::Directory) => {
            Fault { kind: FaultKind::IsDirectory, detail: String::new() }
        }
        ReadError::NotRegular(Kind::Special(word)) => {
            Fault { kind: FaultKind::Special, detail: (*word).to_owned() }
        }
        ReadError::NotRegular(Kind::File | Kind::Link) | ReadError::Changing => {
            Fault { kind: FaultKind::Changing, detail: String::new() }
        }
        ReadError::Io(error) => fault(error),
    }
}

fn fault(error: &io::Error) -> Fault {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => FaultKind::Vanished,
        io::ErrorKind::PermissionDenied => FaultKind::Denied,
        io::ErrorKind::NotADirectory => FaultKind::NotDirectory,
        _ if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => FaultKind::Loop,
        _ => FaultKind::Io,
    };
    let detail = if kind == FaultKind::Io { error.to_string() } else { String::new() };
    Fault { kind, detail }
}

fn missing_or(error: &io::Error) -> Probe {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Probe::Missing,
        _ => Probe::Fault(fault(error)),
    }
}
