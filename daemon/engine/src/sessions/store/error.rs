//! Errors of the store.

use rusqlite::ErrorCode;

#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{0}")]
    Failed(String),
    /// The file's content cannot be read.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// The thread has ended.
    #[error("the session store has stopped")]
    Ended,
    /// The disk did not answer in time.
    #[error("the disk of the session store does not respond")]
    Silent,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange};
        use rusqlite::Error::{InvalidColumnType, Utf8Error};
        let is_row = matches!(
            error,
            FromSqlConversionFailure(..)
                | IntegralValueOutOfRange(..)
                | InvalidColumnType(..)
                | Utf8Error(..)
        );
        if is_row || is_corrupt(&error) {
            return Self::Damaged(error.to_string());
        }
        Self::Failed(error.to_string())
    }
}

/// Returns true if the file itself is damaged, not only a row.
pub(super) fn is_corrupt(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}
