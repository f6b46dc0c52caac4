//! The disk as the resolver sees it: questions with answers that may not be known yet.
//!
//! The resolver is pure, so it asks a [`Tree`]. An answer of `None` means "not known yet": the
//! tree notes the question, the resolver leaves that part out and says that its result is not
//! complete, the engine fetches what was asked, and the resolver runs again. A tree answers
//! the same question in the same way until the disk changes.

use std::ffi::OsString;
use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use skills_agents::profile::{Provider, WalkBudget};
use skills_agents::skill::SkillRecord;
use skills_syntax::config_tree::{self, Node, Syntax, SyntaxError};
use skills_syntax::path::AbsPath;
use skills_syntax::text::decode;

use super::policy::Policy;
use super::provided::Provided;
use crate::permission::SkillRule;
use crate::remote::Address;

/// The identity of a file or directory: what two paths share when they reach the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// The device's number.
    pub device: u64,
    /// The inode's number on that device.
    pub inode: u64,
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}:{:x}", self.device, self.inode)
    }
}

impl FromStr for FileId {
    type Err = ParseIntError;

    /// Reads what was written: two hexadecimal numbers with a colon between.
    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        let (device, inode) = text.split_once(':').unwrap_or((text, ""));
        let number = |it| u64::from_str_radix(it, 16);
        Ok(Self { device: number(device)?, inode: number(inode)? })
    }
}

/// The file system entry at a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Which file or directory it leads to; none for a link that leads nowhere.
    pub id: Option<FileId>,
    /// True if it is a link itself.
    pub is_link: bool,
}

/// What stands at a path once symbolic links are followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nothing.
    Missing,
    /// A directory.
    Directory {
        /// Whether it belongs to neither the user nor root.
        foreign: bool,
    },
    /// A regular file.
    File,
    /// A named pipe, socket or device: the word for it.
    Special(&'static str),
    /// It could not be looked at, or a link on the way leads nowhere.
    Fault(Fault),
}

/// Why something on the disk could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind of trouble.
    pub kind: FaultKind,
    /// More about it: a link's target, the operating system's words. May be empty.
    pub detail: String,
}

/// The kinds of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// A symbolic link leads to nothing.
    Dangling,
    /// Symbolic links lead round in a circle.
    Loop,
    /// Permission was denied.
    Denied,
    /// It is a directory that may not be read.
    Shut,
    /// It is a directory and should be a file.
    IsDirectory,
    /// It is a file and should be a directory.
    NotDirectory,
    /// It is a named pipe, a socket or a device.
    Special,
    /// It kept changing while it was read.
    Changing,
    /// It went away between being seen and being read.
    Vanished,
    /// It is larger than what is read of its kind.
    TooLarge,
    /// Its path is longer than the operating system takes.
    TooLong,
    /// Any other failure of the operating system, which may pass.
    Io,
    /// What should provide it does not.
    Unavailable,
    /// It is a link that leads to a file that must not be read.
    Outside,
    /// It is a link to a directory that is followed once the worktree is trusted.
    LinkWaits,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let detail = &self.detail;
        match self.kind {
            FaultKind::Dangling => write!(f, "is a symbolic link to nothing: `{detail}`"),
            FaultKind::Loop => write!(f, "is a symbolic link that leads round in a circle"),
            FaultKind::Denied => write!(f, "may not be read: permission denied"),
            FaultKind::Shut => {
                write!(f, "is a directory that may not be read: permission denied")
            }
            FaultKind::IsDirectory => write!(f, "is a directory, not a file"),
            FaultKind::NotDirectory => write!(f, "is not a directory"),
            FaultKind::Special => write!(f, "is a {detail}, not a regular file"),
            FaultKind::Changing => write!(f, "kept changing while it was read"),
            FaultKind::Vanished => write!(f, "went away while it was read"),
            FaultKind::TooLarge => write!(f, "is too large: {detail}"),
            FaultKind::TooLong => write!(f, "has a path that is too long to be read"),
            FaultKind::Io => write!(f, "could not be read: {detail}"),
            FaultKind::Unavailable => write!(f, "is not available: {detail}"),
            FaultKind::Outside => write!(f, "is a link to {detail}"),
            FaultKind::LinkWaits => {
                write!(f, "is a link to `{detail}`, which counts once the worktree is trusted")
            }
        }
    }
}

impl Fault {
    /// Returns the rule that decided, by its stable name.
    pub const fn rule(&self) -> &'static str {
        match self.kind {
            FaultKind::Outside => "link/outside",
            FaultKind::LinkWaits => "link/untrusted",
            _ => "file/readable",
        }
    }

    /// Returns what a person can do about it, as a sentence.
    pub fn next(&self) -> &'static str {
        match self.kind {
            FaultKind::Dangling => "Recreate the link's target, or remove the link.",
            FaultKind::Loop => "Remove one of the links in the circle.",
            FaultKind::Denied => "Give yourself read permission with `chmod u+r`.",
            FaultKind::Shut => {
                "Give yourself permission to read and enter the directory with `chmod u+rx`."
            }
            FaultKind::IsDirectory => {
                "Rename the directory, and put a regular file named SKILL.md in its place."
            }
            FaultKind::NotDirectory => "Replace the file by a directory.",
            FaultKind::Special => "Replace it by a regular file.",
            FaultKind::Changing => "It is read again as soon as it is left alone.",
            FaultKind::Vanished => "Ask again; the list follows the disk.",
            FaultKind::TooLarge => "Make it smaller.",
            FaultKind::TooLong => "Shorten its name, or move it to a shorter path.",
            FaultKind::Io => "Check the file system that holds it.",
            FaultKind::Unavailable => "Run `skillsd status` to see how its source is.",
            FaultKind::Outside => "Replace the link by the file itself.",
            FaultKind::LinkWaits => {
                "Look at the target and run `skillsd trust` in the worktree, or remove the link."
            }
        }
    }
}

/// The entries of one directory that discovery may care about, sorted by name.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The directory's identity.
    pub id: FileId,
    /// Sub-directories, symbolic links, Markdown files, and whatever is called SKILL.md in any
    /// case.
    pub items: Box<[Item]>,
    /// How many entries there are in all, those too that are not among the items.
    pub entries: usize,
}

/// One file more or less that discovery does not care about makes no other listing.
impl PartialEq for Listing {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
            && self.items == other.items
            && self.is_too_large() == other.is_too_large()
    }
}

impl Eq for Listing {}

impl Listing {
    /// Returns whether there are more entries than one directory may have; no items are kept then.
    pub fn is_too_large(&self) -> bool {
        self.entries > WalkBudget::DEFAULT.entries
    }
}

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its name.
    pub name: OsString,
    /// What it is, links not followed.
    pub kind: ItemKind,
}

/// What a directory entry is, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A named pipe, socket or device: the word for it.
    Special(&'static str),
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillFile {
    /// The file's identity, links followed.
    pub id: FileId,
    /// The directory that it was read in; none where that is not known.
    pub directory: Option<FileId>,
    /// What it says.
    pub record: Arc<SkillRecord>,
    /// Set when the last good reading is kept because a newer one failed.
    pub stale: Option<Fault>,
}

/// How large a configuration file of an agent may be, in bytes: 1 MiB.
pub const TEXT_LIMIT: u64 = 1024 * 1024;

/// A configuration file of an agent, as it was read.
///
/// What it says is parsed when it is first asked for and kept: the same file is asked for at
/// every resolution, and changes rarely. Two agents may come to one file by links, each with a syntax
/// of its own.
#[derive(Debug)]
pub struct TextFile {
    text: Box<str>,
    /// What each syntax makes of it, in the order of [`Syntax`].
    documents: [OnceLock<Box<Result<Node, SyntaxError>>>; Syntax::COUNT],
}

impl TextFile {
    /// Takes a file's bytes; what is not UTF-8 is replaced.
    pub fn new(bytes: &[u8]) -> Self {
        Self { text: decode(bytes).text.as_str().into(), documents: Default::default() }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the file as a tree, by this syntax.
    pub fn document(&self, syntax: Syntax) -> Result<&Node, &SyntaxError> {
        let document = &self.documents[syntax as usize];
        document.get_or_init(|| Box::new(config_tree::parse(&self.text, syntax))).as_ref().as_ref()
    }
}

impl PartialEq for TextFile {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// The questions the resolver asks. `None`: not known yet.
pub trait Tree {
    /// What stands at `path`, symbolic links followed on the whole way?
    fn look(&self, path: &AbsPath) -> Option<Place>;

    /// What does the directory at `path` hold?
    fn list(&self, path: &AbsPath) -> Option<Result<Arc<Listing>, Fault>>;

    /// Which path leads to `path` without symbolic links on the way?
    fn canonical(&self, path: &AbsPath) -> Option<AbsPath>;

    /// What does the SKILL.md or command file at `path` say?
    fn read(&self, path: &AbsPath) -> Option<Result<SkillFile, Fault>>;

    /// What does the small text file at `path` say? For files that [`Tree::look`] found to be
    /// there, of at most [`TEXT_LIMIT`] bytes.
    fn text(&self, path: &AbsPath) -> Option<Result<Arc<TextFile>, Fault>>;

    /// What has the user decided, besides what agents' files say?
    fn policy(&self) -> Arc<Policy> {
        Arc::default()
    }

    /// Returns the rules about skills in the text of a repository's own configuration file, without
    /// those that have mistakes.
    fn skill_rules(&self, _text: &str) -> Vec<SkillRule> {
        Vec::new()
    }

    /// Which roots does a provider have for this profile, in their order? `addresses` are the
    /// catalogs that the agent's own configuration names, besides those of the user's.
    fn provided(&self, _: Provider, _profile: &str, _addresses: &[Address]) -> Vec<Provided> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_reads_a_shared_file_by_its_own_syntax() {
        let file = TextFile::new(b"{\"a\": 1, /* c */}");
        for _ in 0..2 {
            assert!(file.document(Syntax::JsonLoose).is_ok());
            assert!(file.document(Syntax::Json).is_err());
        }
    }
}
