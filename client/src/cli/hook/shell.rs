//! Which files a shell command names, and what it does with them.
//!
//! Agents read, search and write through their shell as much as through tools of their own. The
//! text is parsed by a real grammar (tree-sitter's for bash), so that quoting, pipelines, here-documents
//! and nested commands are what they are to the shell; [`table`] says what the operands of some
//! hundred commands mean. Nothing is looked up: a path is what the text says, made absolute.
//! Where the text does not say (an unknown variable, a glob), the directory before it counts, or
//! nothing. It never fails; a command that cannot be understood names no files.

mod apply;
mod git;
mod table;
mod walk;
mod word;

use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use tree_sitter::{ParseOptions, Parser, Tree};

/// What is done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::cli) enum Op {
    /// It is read.
    Read,
    /// It is written, removed or renamed.
    Write,
    /// It is searched or listed.
    Search,
    /// It is run.
    Exec,
}

/// A file that is named, absolute, and what is done with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Touched {
    pub(in crate::cli) path: PathBuf,
    pub(in crate::cli) op: Op,
}

/// Where a command runs.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Place {
    /// The directory that relative paths begin at.
    pub(in crate::cli) cwd: PathBuf,
    /// The top of the worktree, where git's `REV:path` begins.
    pub(in crate::cli) top: PathBuf,
    /// What `~` stands for.
    pub(in crate::cli) home: Option<PathBuf>,
}

/// A longer text is no command that anybody wrote; its beginning is looked at.
const LONGEST: usize = 256 * 1024;

/// How much may be parsed for one command: an agent waits for us.
///
/// Plain text ends long before the steps do, so that its answer is the same on every machine; time is
/// for what makes single steps slow, such as a thousand here-documents on one line. It is this
/// thread's own, so that a busy machine changes no answer.
#[derive(Debug)]
struct Budget {
    steps: usize,
    end: Duration,
}

impl Budget {
    fn new() -> Budget {
        Budget { steps: 4_000, end: worked() + Duration::from_secs(1) }
    }

    fn spend(&mut self) -> ControlFlow<()> {
        self.steps = self.steps.saturating_sub(1);
        let goes_on = self.steps > 0 && worked() < self.end;
        if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Returns for how long this thread has worked.
fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    Duration::from_secs(seconds.unwrap_or_default())
        + Duration::from_nanos(nanoseconds.unwrap_or_default())
}

/// How many files of one command are told.
const MOST: usize = 512;

/// Returns the files that `command` names, each once, in the order in which they come.
pub(in crate::cli) fn files(command: &str, place: &Place) -> Vec<Touched> {
    let mut walk = walk::Walk::new(place);
    walk.text(command);
    let mut files: Vec<Touched> = Vec::new();
    for touched in walk.found {
        if files.len() < MOST && !files.contains(&touched) {
            files.push(touched);
        }
    }
    files
}

/// Returns the paths that `command` names, for the fuzz target and the replay of its seeds.
#[cfg(feature = "invariants")]
pub fn shell_files(command: &str, cwd: &Path, top: &Path, home: &Path) -> Vec<PathBuf> {
    let home = Some(home.to_owned());
    let place = Place { cwd: cwd.to_owned(), top: top.to_owned(), home };
    files(command, &place).into_iter().map(|it| it.path).collect()
}

/// Returns the files that a patch in the form of `apply_patch` changes.
pub(in crate::cli) fn patched(patch: &str, cwd: &Path) -> Vec<Touched> {
    const HEADS: [&str; 4] =
        ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let lines = patch.lines().filter_map(|line| {
        let path = HEADS.iter().find_map(|head| line.strip_prefix(head))?;
        Some(Touched { path: absolute(cwd, path.trim())?, op: Op::Write })
    });
    lines.take(MOST).collect()
}

/// Makes `path` absolute and takes `.` and `..` out, by name alone.
pub(in crate::cli) fn absolute(cwd: &Path, path: &str) -> Option<PathBuf> {
    let mut settled = PathBuf::new();
    for part in cwd.join(path).components() {
        match part {
            Component::ParentDir => {
                settled.pop();
            }
            Component::CurDir => {}
            part => settled.push(part),
        }
    }
    // Devices and the kernel's own files are nobody's skills.
    let is_file = settled.is_absolute() && !path.is_empty() && !path.contains('\0');
    (is_file && !settled.starts_with("/dev") && !settled.starts_with("/proc")).then_some(settled)
}

/// Parses a command; `None` when the budget does not suffice.
fn parse(text: &str, budget: &mut Budget) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut step = |_: &_| budget.spend();
    let options = ParseOptions::new().progress_callback(&mut step);
    let bytes = text.as_bytes();
    let mut read = |at: usize, _| bytes.get(at..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(options))
}

/// Returns the beginning of a text that is too long, up to a whole character.
fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST)]
}

#[cfg(test)]
mod tests;
