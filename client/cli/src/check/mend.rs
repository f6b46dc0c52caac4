//! Making the edits that a check offers.
//!
//! A file that is not what was checked any more is left alone: whoever has saved it meanwhile keeps
//! what was saved. It is looked at when the mended text lies ready beside it, so that what is left
//! is the moment in which one file takes the place of the other.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use skills_protocol::path::{decode, encode, encoding_of};
use skills_protocol::wire::{CheckEdit, CheckResult, FixAll, UnmendedFile};

use super::source;
use crate::failure::CommandError;
use crate::replace::replace;

/// What has become of the files that were to be mended.
#[derive(Debug, Default)]
pub(super) struct Mended {
    /// How many fixes were made.
    pub(super) n_made: u64,
    /// The files that were changed by somebody else meanwhile, and as what each was checked.
    left_alone: BTreeMap<PathBuf, PathBuf>,
    /// The files to which a link leads out of the worktree, and where to.
    outside: BTreeMap<PathBuf, PathBuf>,
}

impl Mended {
    /// Makes the edits that the fixes with one right answer come to. Returns whether there were any.
    ///
    /// Who writes a file while it is mended is not done with it: it is left alone from then on. A
    /// file that is reached by several ways is mended by the first of them.
    pub(super) fn mend(&mut self, result: &CheckResult) -> Result<bool, CommandError> {
        let before = self.n_made;
        let mut met = BTreeSet::new();
        for file in &result.files {
            let Some(FixAll { edits, made }) = &file.fix_all else { continue };
            let path = decode(&file.path, file.path_encoding)
                .map_err(|error| CommandError::finding(error.to_string()))?;
            let failed = |error: std::io::Error| {
                CommandError::finding(format!("failed to mend `{}`", path.display()))
                    .because(error.to_string())
                    .with_hint("Check the permissions of the file and its directory.")
            };
            // Through a link to the file itself: the link stays one.
            let target = path.canonicalize().map_err(failed)?;
            if leads_out(&path, &target) {
                self.outside.insert(path, target);
                continue;
            }
            if self.left_alone.contains_key(&target) || !met.insert(target.clone()) {
                continue;
            }
            match mend_file(&target, file.hash.as_deref(), edits).map_err(failed)? {
                Outcome::Mended => self.n_made += made,
                Outcome::Same => {}
                Outcome::Changed => _ = self.left_alone.insert(target, path),
            }
        }
        Ok(self.n_made > before)
    }

    /// Says of each file that lies outside of the worktree why it is left as it is.
    pub(super) fn outside(&self) -> impl Iterator<Item = String> + '_ {
        self.outside.iter().map(|(path, target)| {
            let (path, target) = (path.display(), target.display());
            format!("`{path}` is not fixed: it is a link to `{target}`, outside of the worktree")
        })
    }

    /// Returns the files that were left alone, as the wire names them.
    pub(super) fn left_alone(&self) -> Vec<UnmendedFile> {
        let named = |path: &PathBuf| {
            let encoding = encoding_of([&**path]);
            UnmendedFile { path: encode(path, encoding), path_encoding: encoding }
        };
        self.left_alone.values().map(named).collect()
    }
}

/// What has become of a file.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// It is mended.
    Mended,
    /// There was nothing to do.
    Same,
    /// It is another than the one that was checked.
    Changed,
}

/// Mends a file whose content has that hash; none comes from a server that gives none. The path leads
/// through no link.
fn mend_file(path: &Path, hash: Option<&str>, edits: &[CheckEdit]) -> std::io::Result<Outcome> {
    let Some((_directory, path)) = pinned(path)? else { return Ok(Outcome::Changed) };
    let path = &*path;
    let bytes = source::read(path)?;
    let mended = applied(&bytes, edits).filter(|_| hash.is_none_or(|it| it == hash_of(&bytes)));
    let Some(mended) = mended else { return Ok(Outcome::Changed) };
    if mended == bytes {
        return Ok(Outcome::Same);
    }
    let is_replaced = replace(path, &mended, || Ok(source::read(path)? == bytes))?;
    Ok(if is_replaced { Outcome::Mended } else { Outcome::Changed })
}

/// Returns whether a file lies outside of the git worktree that it is reached in.
fn leads_out(path: &Path, target: &Path) -> bool {
    let top = path.ancestors().skip(1).find(|it| it.join(".git").symlink_metadata().is_ok());
    let real = top.map(Path::canonicalize);
    real.is_some_and(|top| top.map_or(true, |top| !target.starts_with(top)))
}

/// Opens the directory of a file, and returns a path of the file that stays in this directory
/// whatever its own path becomes; none where a link has come into the way.
fn pinned(path: &Path) -> std::io::Result<Option<(OwnedFd, PathBuf)>> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = rustix::fs::open(parent, flags, Mode::empty())?;
    let open = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
    match open.read_link() {
        Ok(real) if real == parent => Ok(Some((directory, open.join(name)))),
        Ok(_) => Ok(None),
        // Without such a directory of open files, its path has to do.
        Err(_) => Ok(Some((directory, path.to_owned()))),
    }
}

/// Returns the hash of a content as the wire has it.
fn hash_of(bytes: &[u8]) -> String {
    format!("blake3:{}", blake3::hash(bytes).to_hex())
}

/// Returns the bytes with the edits made; nothing when one lies outside.
fn applied(bytes: &[u8], edits: &[CheckEdit]) -> Option<Vec<u8>> {
    let mut mended = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for edit in edits {
        let (start, end) = (edit.range.start.offset as usize, edit.range.end.offset as usize);
        mended.extend_from_slice(bytes.get(at..start)?);
        mended.extend_from_slice(edit.new_text.as_bytes());
        at = end;
    }
    mended.extend_from_slice(bytes.get(at..)?);
    Some(mended)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    const CHECKED: &str = "one\n";

    /// Mends a file that holds `now`, after it was checked as [`CHECKED`].
    #[track_caller]
    fn check(now: &str, hash: Option<&str>, expected: &str, n_left: usize) {
        let top = tempfile::TempDir::new().expect("made");
        let file = top.path().join("SKILL.md");
        fs::write(&file, now).expect("written");
        let at = |offset: u64| json!({"line": 1, "column": offset + 1, "offset": offset});
        let edit = json!({"range": {"start": at(0), "end": at(3)}, "newText": "1"});
        let result = json!({"clock": "", "checked": 1, "files": [{
            "path": file, "findings": [], "hash": hash, "fixAll": {"edits": [edit], "made": 1}}]});
        let result: CheckResult = serde_json::from_value(result).expect("a result");
        let mut mended = Mended::default();
        let is_mended = mended.mend(&result).expect("it can be read");
        assert_eq!(fs::read_to_string(&file).expect("there"), expected);
        assert_eq!((is_mended, mended.left_alone().len()), (n_left == 0, n_left));
        // What was left alone once stays so, though it be as it was.
        fs::write(&file, CHECKED).expect("written");
        mended.mend(&result).expect("it can be read");
        let expected = if n_left > 0 { CHECKED } else { "1\n" };
        assert_eq!(fs::read_to_string(&file).expect("there"), expected);
    }

    #[test]
    fn what_is_as_it_was_checked_is_mended() {
        check(CHECKED, Some(&hash_of(CHECKED.as_bytes())), "1\n", 0);
        check(CHECKED, None, "1\n", 0);
    }

    #[test]
    fn what_was_saved_meanwhile_is_left_alone() {
        let hash = hash_of(CHECKED.as_bytes());
        check("One\n", Some(&hash), "One\n", 1);
        check("one\nmore\n", Some(&hash), "one\nmore\n", 1);
        check("", Some(&hash), "", 1);
        check("", None, "", 1);
    }
}
