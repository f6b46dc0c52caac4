//! Reading the texts of a worktree without following links that lead out of it.
//!
//! The rule is that of [`skills_discovery::discover`] for links to files; here it is applied to the file
//! that was opened, so that a link which is exchanged meanwhile leads nowhere else.

use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skills_agents::command;
use skills_agents::references::is_instruction_file;
use skills_syntax::path::AbsPath;

use super::is_skill;
use crate::files::disk;
use crate::files::disk::{File, ReadError};
use crate::views::view::View;

/// The texts that may be read as seen from one worktree.
pub(super) struct Fenced<'a> {
    top: Option<&'a AbsPath>,
    /// The same without links on the way.
    real_top: Option<PathBuf>,
    views: &'a [Arc<View>],
}

impl<'a> Fenced<'a> {
    pub(super) fn new(top: Option<&'a AbsPath>, views: &'a [Arc<View>]) -> Self {
        let real_top = top.and_then(|it| it.canonicalize().ok());
        Self { top, real_top, views }
    }

    /// Reads at most `limit` bytes of a file.
    ///
    /// # Errors
    /// The file cannot be read, or a link leads to it that is not followed.
    pub(super) fn read(&self, path: &AbsPath, limit: u64) -> Result<File, ReadError> {
        let opened = disk::open(path)?;
        let is_below = self.top.is_some_and(|it| path.starts_with(&**it));
        if is_below && let Some(real) = real(&opened, path) {
            let is_inside = self.real_top.as_ref().is_some_and(|it| real.starts_with(it));
            let is_text = !is_link_to_other(path, &real);
            if !(is_inside && is_text || self.is_read(path, &real)) {
                return Err(ReadError::Outside(real));
            }
        }
        disk::read_opened(opened, limit)
    }

    /// Returns true if an agent's view reads the file, or a view reads the skill that it belongs to.
    fn is_read(&self, path: &AbsPath, real: &Path) -> bool {
        let candidates = self.views.iter().flat_map(|it| &it.resolution.candidates);
        let mut read = candidates.filter(|it| it.file.is_some());
        read.any(|it| {
            let dir = it.dir();
            let is_of = !it.is_command() && path.starts_with(&*dir);
            it.path == *path && (it.path.canonicalize().is_ok_and(|it| it == real))
                || is_of && dir.canonicalize().is_ok_and(|it| real.starts_with(it))
        })
    }
}

/// Reads a file unless it is a link that leads out of `top`, which is the worktree of the file.
///
/// # Errors
/// The file cannot be read, or a link leads to it that is not followed.
pub fn read_fenced(path: &AbsPath, top: Option<&AbsPath>, limit: u64) -> Result<File, ReadError> {
    Fenced::new(top, &[]).read(path, limit)
}

/// Returns true if a skill or command is a link to something other than a Markdown file.
fn is_link_to_other(path: &AbsPath, real: &Path) -> bool {
    let is_skill = is_skill(path) || command::is_command(path) && !is_instruction_file(path);
    is_skill && !real.extension().is_some_and(|it| it.eq_ignore_ascii_case("md"))
}

/// Returns where an open file is, without links on the way.
fn real(opened: &std::fs::File, path: &Path) -> Option<PathBuf> {
    let link = format!("/proc/self/fd/{}", opened.as_raw_fd());
    std::fs::read_link(link).or_else(|_| path.canonicalize()).ok()
}
