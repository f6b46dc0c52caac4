//! Making the edits that a check offers.
//!
//! A file that is not what was checked any more is left alone: whoever has saved it meanwhile keeps
//! what was saved. It is looked at when the mended text lies ready beside it, so that what is left
//! is the moment in which one file takes the place of the other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use skills_protocol::path::{decode, encode, encoding_of};
use skills_protocol::wire::{CheckEdit, CheckResult, FixAll, UnmendedFile};

use super::source;
use crate::cli::failure::CommandError;
use crate::cli::replace::replace;

/// What has become of the files that were to be mended.
#[derive(Debug, Default)]
pub(super) struct Mended {
    /// How many fixes were made.
    pub(super) n_made: u64,
    /// The files that were changed by somebody else meanwhile, and as what each was checked.
    left_alone: BTreeMap<PathBuf, PathBuf>,
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
    let bytes = source::read(path)?;
    let mended = applied(&bytes, edits).filter(|_| hash.is_none_or(|it| it == hash_of(&bytes)));
    let Some(mended) = mended else { return Ok(Outcome::Changed) };
    if mended == bytes {
        return Ok(Outcome::Same);
    }
    let is_replaced = replace(path, &mended, || Ok(source::read(path)? == bytes))?;
    Ok(if is_replaced { Outcome::Mended } else { Outcome::Changed })
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
