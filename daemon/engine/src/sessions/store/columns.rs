//! Conversion of paths and damaged texts to and from SQLite column values.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rusqlite::types::{FromSqlError, Type};
use rusqlite::{Result, Row};
use skills_syntax::path::AbsPath;

pub(super) fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

pub(super) fn path_of(row: &Row<'_>, column: usize) -> Result<PathBuf> {
    Ok(PathBuf::from(OsString::from_vec(row.get(column)?)))
}

pub(super) fn abs_path_of(row: &Row<'_>, column: usize) -> Result<AbsPath> {
    let path = path_of(row, column)?;
    AbsPath::new(&path).map_err(|error| {
        let error = FromSqlError::Other(Box::new(error));
        rusqlite::Error::FromSqlConversionFailure(column, Type::Blob, Box::new(error))
    })
}

/// Returns a text that may not be valid UTF-8.
pub(super) fn text_of(row: &Row<'_>, column: usize) -> Result<String> {
    let value = row.get_ref(column)?;
    let bytes = value.as_bytes_or_null().ok().flatten().unwrap_or_default();
    Ok(String::from_utf8_lossy(bytes).into_owned())
}
