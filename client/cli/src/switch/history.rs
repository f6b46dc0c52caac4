//! Record of the changes of `enable`, `disable` and `link` ([`History`]), a file in the state
//! directory, so that the inverse command restores the bytes.
//!
//! Keeps of each changed file only the bytes that were replaced and a hash, because settings may
//! contain secrets.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::agent::{Setting, SwitchTo};
use crate::agent_config::file;
use crate::agent_config::state_record::{self, RecordedPath};

const NAME: &str = "switches.json";

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct History {
    #[serde(default)]
    switches: Vec<Switched>,
    #[serde(default)]
    links: Vec<Linked>,
    /// Content of the file when it was read; `None` if there was no file.
    #[serde(skip)]
    read: Option<String>,
}

/// One change of a settings file, in the order in which they were made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Switched {
    file: RecordedPath,
    pub(crate) name: String,
    /// The skill's setting after the change.
    pub(super) setting: Setting,
    /// Byte offset of the change.
    start: usize,
    removed: String,
    inserted: String,
    /// Hash of the file after the change.
    after: String,
    /// True if the file did not exist before.
    created: bool,
    /// Directories that were created for the file, outermost first.
    dirs: Vec<RecordedPath>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Linked {
    link: RecordedPath,
    /// Directories that were created for the link, outermost first.
    dirs: Vec<RecordedPath>,
}

/// A file without an earlier change.
#[derive(Debug)]
pub(crate) struct Undone {
    /// Content; `None` if the file is to be removed.
    pub(crate) text: Option<String>,
    /// Directories to remove if they are empty, innermost first.
    pub(crate) dirs: Vec<PathBuf>,
    pub(crate) history: History,
}

impl Switched {
    /// Returns the record of a change that has not been made yet.
    pub(super) fn new(
        path: &Path,
        name: &str,
        setting: Setting,
        before: Option<&str>,
        after: &str,
    ) -> Self {
        let old = before.unwrap_or_default();
        let same = |pair: &(char, char)| pair.0 == pair.1;
        let start: usize =
            old.chars().zip(after.chars()).take_while(same).map(|(it, _)| it.len_utf8()).sum();
        let (old, new) = (&old[start..], &after[start..]);
        let pairs = old.chars().rev().zip(new.chars().rev());
        let end: usize = pairs.take_while(same).map(|(it, _)| it.len_utf8()).sum();
        Self {
            file: RecordedPath::new(path),
            name: name.to_owned(),
            setting,
            start,
            removed: old[..old.len() - end].to_owned(),
            inserted: new[..new.len() - end].to_owned(),
            after: hash(after),
            created: before.is_none(),
            dirs: Vec::new(),
        }
    }

    /// Returns the content before the change, empty for a missing file; `None` if the change is not
    /// in `text`. Other parts of a file may have changed since.
    fn reverse(&self, text: &str) -> Option<String> {
        let start = if hash(text) == self.after {
            self.start
        } else {
            let mut found = text.match_indices(&*self.inserted).map(|(at, _)| at);
            let is_certain = !self.created && self.inserted.contains(&self.name);
            let start = found.next().filter(|_| is_certain)?;
            found.next().is_none().then_some(start)?
        };
        let rest = text.get(start..)?.strip_prefix(&*self.inserted)?;
        Some([&text[..start], &self.removed, rest].concat())
    }
}

impl History {
    /// Reads the record; returns an empty one if there is no file.
    pub(crate) fn read(state: &Path) -> io::Result<Self> {
        match file::read(&state.join(NAME))? {
            Some(text) => Ok(Self { read: Some(text.clone()), ..serde_json::from_str(&text)? }),
            None => Ok(Self::default()),
        }
    }

    /// Writes the record, or removes the file if the record is empty. Fails if another command
    /// changed the file since it was read.
    pub(crate) fn write(&self, state: &Path) -> io::Result<()> {
        if file::read(&state.join(NAME))? != self.read {
            return Err(io::Error::other("another command changed it; run this one again"));
        }
        let is_empty = self.switches.is_empty() && self.links.is_empty();
        state_record::write(state, NAME, (!is_empty).then_some(self))
    }

    /// Adds a change, with the directories that were created for its file.
    pub(crate) fn keep(&mut self, mut switched: Switched, dirs: &[PathBuf]) {
        switched.dirs = RecordedPath::all(dirs);
        self.switches.push(switched);
    }

    /// Removes the changes of a skill in a file; returns whether one of them created the file.
    pub(crate) fn forget(&mut self, path: &Path, name: &str) -> bool {
        let is_it = |it: &Switched| it.name == name && it.file.path().as_deref() == Some(path);
        let is_created = self.switches.iter().any(|it| is_it(it) && it.created);
        self.switches.retain(|it| !is_it(it));
        is_created
    }

    /// Returns the file without the last change of a skill, if that was the inverse of `to` and
    /// the change is still there as it was made. `redo` makes a later change again.
    pub(crate) fn undo(
        &self,
        path: &Path,
        current: Option<&str>,
        name: &str,
        to: SwitchTo,
        redo: impl Fn(Option<&str>, &Switched) -> Option<String>,
    ) -> Option<Undone> {
        let is_of_file = |it: &Switched| it.file.path().as_deref() == Some(path);
        let (of_file, others): (Vec<_>, Vec<_>) =
            self.switches.iter().cloned().partition(is_of_file);
        let nth = of_file.iter().rposition(|it| it.name == name)?;
        if (of_file[nth].setting != Setting::Off) == (to == SwitchTo::Enabled) {
            return None;
        }
        let mut text = current.map(str::to_owned);
        for it in of_file[nth..].iter().rev() {
            let before = it.reverse(text.as_deref()?)?;
            text = (!it.created).then_some(before);
        }
        let mut kept = of_file[..nth].to_vec();
        let mut dirs = of_file[nth].dirs.clone();
        for it in &of_file[nth + 1..] {
            let new = redo(text.as_deref(), it)?;
            let mut again = Switched::new(path, &it.name, it.setting, text.as_deref(), &new);
            again.dirs = std::mem::take(&mut dirs);
            again.dirs.extend(it.dirs.iter().cloned());
            kept.push(again);
            text = Some(new);
        }
        let dirs = dirs.iter().rev().filter_map(RecordedPath::path).collect();
        let switches = others.into_iter().chain(kept).collect();
        let history = Self { switches, links: self.links.clone(), read: self.read.clone() };
        Some(Undone { text, dirs, history })
    }

    /// Adds a symlink, with the directories that were created for it.
    pub(crate) fn keep_link(&mut self, link: &Path, dirs: &[PathBuf]) {
        self.forget_link(link);
        self.links.push(Linked { link: RecordedPath::new(link), dirs: RecordedPath::all(dirs) });
    }

    pub(crate) fn has_link(&self, link: &Path) -> bool {
        self.links.iter().any(|it| it.link.path().as_deref() == Some(link))
    }

    /// Removes a symlink, and returns the directories to remove if they are empty, innermost first.
    /// Another link in one of them inherits them.
    pub(crate) fn forget_link(&mut self, link: &Path) -> Vec<PathBuf> {
        let known = self.links.iter().position(|it| it.link.path().as_deref() == Some(link));
        let Some(removed) = known.map(|nth| self.links.remove(nth)) else { return Vec::new() };
        let dir = link.parent();
        let is_beside = |it: &&mut Linked| it.link.path().as_deref().and_then(Path::parent) == dir;
        if let Some(other) = self.links.iter_mut().find(is_beside) {
            other.dirs.splice(..0, removed.dirs);
            return Vec::new();
        }
        removed.dirs.iter().rev().filter_map(RecordedPath::path).collect()
    }
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn changes_are_undone_in_any_order() {
        let line = |text: Option<&str>, it: &Switched| {
            Some(format!("{}{}\n", text.unwrap_or_default(), it.name))
        };
        let path = Path::new("/f");
        let mut history = History::default();
        let mut text: Option<String> = None;
        for name in ["a", "b", "c"] {
            let new = format!("{}{name}\n", text.as_deref().unwrap_or_default());
            let dirs = if name == "a" { vec![PathBuf::from("/d")] } else { Vec::new() };
            history.keep(Switched::new(path, name, Setting::Off, text.as_deref(), &new), &dirs);
            text = Some(new);
        }
        assert!(history.undo(path, Some("x"), "b", SwitchTo::Enabled, line).is_none());
        assert!(history.undo(path, text.as_deref(), "b", SwitchTo::Disabled, line).is_none());
        for (name, left) in [("a", Some("b\nc\n")), ("c", Some("b\n")), ("b", None)] {
            let undone = history
                .undo(path, text.as_deref(), name, SwitchTo::Enabled, line)
                .expect("it was recorded");
            assert_eq!(undone.text.as_deref(), left);
            assert_eq!(undone.dirs.is_empty(), name != "b");
            (history, text) = (undone.history, undone.text);
        }
        assert!(history.switches.is_empty());
    }

    #[test]
    fn record_is_closed_to_others_and_not_overwritten_after_a_change_by_another_command() {
        let top = tempfile::TempDir::new().expect("made");
        let state = top.path().join("state");
        let switched = |name| Switched::new(Path::new("/f"), name, Setting::Off, None, name);
        let mut first = History::read(&state).expect("no file is an empty record");
        let mut second = History::read(&state).expect("no file is an empty record");
        first.keep(switched("a"), &[]);
        first.write(&state).expect("nobody else wrote it");
        let mode = std::fs::metadata(&state).expect("created").permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "the daemon's logs come here too");
        second.keep(switched("b"), &[]);
        second.write(&state).expect_err("the first command wrote it");
        let kept = History::read(&state).expect("it was written");
        assert_eq!(kept.switches.len(), 1);
        assert_eq!(kept.switches[0].name, "a");
    }

    #[test]
    fn other_parts_of_the_file_may_change_before_a_change_is_undone() {
        let path = Path::new("/f");
        let mut history = History::default();
        history.keep(Switched::new(path, "pdf", Setting::Off, Some("a\nz\n"), "a\n-pdf\nz\n"), &[]);
        let none = |_: Option<&str>, _: &Switched| None;
        let undo = |text| {
            history.undo(path, Some(text), "pdf", SwitchTo::Enabled, none).and_then(|it| it.text)
        };
        assert_eq!(undo("new\na\n-pdf\nz\n").as_deref(), Some("new\na\nz\n"));
        assert_eq!(undo("a\n-pdf\n-pdf\nz\n"), None);
        assert_eq!(undo("a\nz\n"), None);
    }
}
