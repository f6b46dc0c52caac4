//! Making the edits that a check offers.
//!
//! A file is written whole beside itself and put in its place, so that nobody reads half of it; a
//! file that has changed since it was checked is left alone.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use skills_protocol::path::decode;
use skills_protocol::wire::{CheckEdit, CheckResult, FixAll};

use super::source;
use crate::cli::failure::CommandError;

/// Makes the edits that the fixes with one right answer come to. Returns how many fixes that is.
pub(super) fn mend(result: &CheckResult) -> Result<u64, CommandError> {
    let mut n_made = 0;
    for file in &result.files {
        let Some(FixAll { edits, made }) = &file.fix_all else { continue };
        let path = decode(&file.path, file.path_encoding)
            .map_err(|error| CommandError::finding(error.to_string()))?;
        let failed = |error: std::io::Error| {
            CommandError::finding(format!("failed to mend `{}`", path.display()))
                .because(error.to_string())
                .with_hint("Check the permissions of the file and its directory.")
        };
        let bytes = source::read(&path).map_err(failed)?;
        let Some(mended) = applied(&bytes, edits) else { continue };
        if mended != bytes {
            write(&path, &mended).map_err(failed)?;
            n_made += made;
        }
    }
    Ok(n_made)
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

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    // Through a link to the file itself: the link stays one.
    let path = path.canonicalize()?;
    let dir = path.parent().unwrap_or(Path::new("/"));
    let beside = dir.join(format!(".skillsd-mend-{}", std::process::id()));
    let outcome = (|| {
        let mut file = fs::File::create_new(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::set_permissions(&beside, fs::metadata(&path)?.permissions())?;
        fs::rename(&beside, &path)
    })();
    if outcome.is_err() {
        // What is left of the attempt; the error that led here is the one to tell.
        let _ = fs::remove_file(&beside);
    }
    outcome
}
