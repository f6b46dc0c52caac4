//! What is wanted of one file, before anybody has looked at it.

use std::path::PathBuf;

use skills_protocol::wire::InstallPart;

use crate::install::item::{Form, Item};

/// What is wanted of one file.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// For which part.
    pub(super) part: InstallPart,
    /// Whose file it is.
    pub(super) owner: &'static str,
    /// The file.
    pub(super) path: PathBuf,
    /// What is to be in it.
    pub(super) content: Content,
    /// What the user is told when it is put in.
    pub(super) note: Option<&'static str>,
}

/// What is to be in a file.
#[derive(Debug, Clone)]
pub(super) enum Content {
    /// The whole of it: the file is ours alone.
    Whole(String),
    /// Some things in a file that is somebody else's.
    Items {
        /// The language it is written in.
        form: Form,
        /// What is put into it.
        items: Vec<Item>,
    },
}
