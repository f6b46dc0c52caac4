//! Facts about the disk that discovery uses: files, directories, and the faults of both.

use std::ffi::OsString;
use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use skills_agents::profile::WalkBudget;
use skills_agents::skill::SkillRecord;
use skills_syntax::config_tree::{self, Node, Syntax, SyntaxError};
use skills_syntax::path::AbsPath;
use skills_syntax::quote::quote_word;
use skills_syntax::text::decode;

use super::reason_rule::ReasonRule;

/// Identity of a file or directory; equal for all paths that lead to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// Device number.
    pub device: u64,
    /// Inode number on that device.
    pub inode: u64,
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}:{:x}", self.device, self.inode)
    }
}

impl FromStr for FileId {
    type Err = ParseIntError;

    /// Parses the `Display` form: two hexadecimal numbers separated by a colon.
    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        let (device, inode) = text.split_once(':').unwrap_or((text, ""));
        let number = |it| u64::from_str_radix(it, 16);
        Ok(Self { device: number(device)?, inode: number(inode)? })
    }
}

/// Directory entry at a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The file or directory it leads to; `None` for a dangling link.
    pub id: Option<FileId>,
    /// True if the entry itself is a symbolic link.
    pub is_link: bool,
    /// True if it is a file with several hard links.
    pub has_hard_links: bool,
}

/// Type of the file at a path, with symbolic links followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStatus {
    /// Nothing exists at the path.
    Missing,
    /// A directory.
    Directory {
        /// True if it belongs to neither the user nor root.
        foreign: bool,
    },
    /// A regular file.
    File,
    /// A named pipe, socket or device; holds that word.
    Special(&'static str),
    /// The path could not be examined, or a link on the way is dangling.
    Fault(Fault),
}

/// Reason why a file or directory could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Kind of fault.
    pub kind: FaultKind,
    /// More detail: a link's target, or the operating system's message. May be empty.
    pub detail: String,
}

impl From<FaultKind> for Fault {
    fn from(kind: FaultKind) -> Self {
        Self { kind, detail: String::new() }
    }
}

/// Kind of [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// A dangling symbolic link.
    Dangling,
    /// Symbolic links form a loop.
    Loop,
    /// Permission to read the file was denied.
    Denied,
    /// Permission to read the directory was denied.
    Shut,
    /// A directory where a file is expected.
    IsDirectory,
    /// A file where a directory is expected.
    NotDirectory,
    /// A named pipe, socket or device.
    Special,
    /// The file kept changing while it was read.
    Changing,
    /// The file disappeared between listing and reading.
    Vanished,
    /// The file is larger than the limit for its kind.
    TooLarge,
    /// The path is longer than the operating system allows.
    TooLong,
    /// Any other error of the operating system, possibly temporary.
    Io,
    /// The source that provides it is not available.
    Unavailable,
    /// A link to a file that must not be read.
    Outside,
    /// A link to a directory that is followed once the worktree is trusted.
    LinkWaits,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let detail = &self.detail;
        match self.kind {
            FaultKind::Dangling => write!(f, "is a dangling symbolic link to `{detail}`"),
            FaultKind::Loop => write!(f, "is part of a loop of symbolic links"),
            FaultKind::Denied => write!(f, "cannot be read: permission denied"),
            FaultKind::Shut => {
                write!(f, "is a directory that cannot be read: permission denied")
            }
            FaultKind::IsDirectory => write!(f, "is a directory, not a file"),
            FaultKind::NotDirectory => write!(f, "is not a directory"),
            FaultKind::Special => write!(f, "is a {detail}, not a regular file"),
            FaultKind::Changing => write!(f, "kept changing while it was read"),
            FaultKind::Vanished => write!(f, "disappeared while it was read"),
            FaultKind::TooLarge => write!(f, "is too large: {detail}"),
            FaultKind::TooLong => write!(f, "has a path that is too long"),
            FaultKind::Io => write!(f, "could not be read: {detail}"),
            FaultKind::Unavailable => write!(f, "is not available: {detail}"),
            FaultKind::Outside => write!(f, "is a link to {detail}"),
            FaultKind::LinkWaits => {
                write!(f, "is a link to `{detail}`, which is followed once the worktree is trusted")
            }
        }
    }
}

impl Fault {
    /// Returns the rule that decided.
    pub const fn rule(&self) -> ReasonRule {
        match self.kind {
            FaultKind::Outside => ReasonRule::LinkOutside,
            FaultKind::LinkWaits => ReasonRule::LinkUntrusted,
            _ => ReasonRule::FileReadable,
        }
    }

    /// Returns the suggested action for a directory, as a sentence.
    pub fn next_for_directory(&self, dir: &AbsPath) -> String {
        match self.kind {
            FaultKind::Denied | FaultKind::Shut => {
                format!("Run `chmod u+rx {}`.", quote_word(&dir.display().to_string()))
            }
            _ => self.next().to_owned(),
        }
    }

    /// Returns the suggested action, as a sentence.
    pub fn next(&self) -> &'static str {
        match self.kind {
            FaultKind::Dangling => "Recreate the link's target, or remove the link.",
            FaultKind::Loop => "Remove one of the links in the loop.",
            FaultKind::Denied => "Give yourself read permission with `chmod u+r`.",
            FaultKind::Shut => {
                "Give yourself permission to read and enter the directory with `chmod u+rx`."
            }
            FaultKind::IsDirectory => {
                "Rename the directory, and put a regular file named SKILL.md in its place."
            }
            FaultKind::NotDirectory => "Replace the file by a directory.",
            FaultKind::Special => "Replace it by a regular file.",
            FaultKind::Changing => "skillsd reads it again once it stops changing.",
            FaultKind::Vanished => "List the skills again.",
            FaultKind::TooLarge => "Make it smaller.",
            FaultKind::TooLong => "Shorten its name, or move it to a shorter path.",
            FaultKind::Io => "Check the file system that holds it.",
            FaultKind::Unavailable => "Run `skillsd status` to see the state of its source.",
            FaultKind::Outside => "Replace the link by a copy of the file.",
            FaultKind::LinkWaits => {
                "Review the target and run `skillsd trust` in the worktree, or remove the link."
            }
        }
    }
}

/// Entries of one directory that discovery reads, sorted by name.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Identity of the directory.
    pub id: FileId,
    /// Sub-directories, symbolic links, Markdown files, and entries named SKILL.md in any case. In
    /// directories whose names end in `.d`, also JSON files.
    pub items: Box<[ListedItem]>,
    /// Total number of entries, including those not in `items`.
    pub entries: usize,
}

/// Ignores the number of entries, so that unrelated files do not make a listing differ.
impl PartialEq for Listing {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
            && self.items == other.items
            && self.is_too_large() == other.is_too_large()
    }
}

impl Eq for Listing {}

impl Listing {
    /// Returns true if the directory has more entries than the limit; `items` is empty then.
    pub fn is_too_large(&self) -> bool {
        self.entries > WalkBudget::DEFAULT.entries
    }
}

/// One directory entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedItem {
    /// Its name.
    pub name: OsString,
    /// Its type, without following links.
    pub kind: ItemKind,
}

/// Type of a directory entry, without following links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A named pipe, socket or device; holds that word.
    Special(&'static str),
}

/// A skill file that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillFile {
    /// Identity of the file, with links followed.
    pub id: FileId,
    /// Identity of the directory it was read from; `None` if unknown.
    pub directory: Option<FileId>,
    /// The parsed text.
    pub record: Arc<SkillRecord>,
    /// Set if this is the last good version, kept because reading a newer one failed.
    pub stale: Option<Fault>,
}

/// Maximum size of an agent's settings file: 1 MiB.
pub const TEXT_LIMIT: u64 = 1024 * 1024;

/// Text of an agent's settings file.
///
/// Parsed on first use and cached, because every discovery reads the file and it rarely changes.
/// Two agents may reach one file by links and parse it with different syntaxes.
#[derive(Debug)]
pub struct TextFile {
    text: Box<str>,
    /// Result of parsing with each syntax, in the order of [`Syntax`].
    documents: [OnceLock<Box<Result<Node, SyntaxError>>>; Syntax::COUNT],
}

impl TextFile {
    /// Decodes a file's bytes; invalid UTF-8 is replaced.
    pub fn new(bytes: &[u8]) -> Self {
        Self { text: decode(bytes).text.as_str().into(), documents: Default::default() }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the parsed document for a syntax.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_settings_file_is_parsed_by_each_syntax() {
        let file = TextFile::new(b"{\"a\": 1, /* c */}");
        for _ in 0..2 {
            assert!(file.document(Syntax::JsonLoose).is_ok());
            assert!(file.document(Syntax::Json).is_err());
        }
    }
}
