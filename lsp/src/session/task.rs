//! [`Task`]: a request that runs in the background.

use skills_syntax::path::AbsPath;
use tower_lsp::ls_types::{Location, WorkspaceEdit};

use crate::options::SettingsProblem;
use crate::workspace::Fetch;

/// A request to the backend or the client that runs in the background.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Register file watchers with the client, and request its settings.
    Startup,
    /// Register file watchers for the current workspace folders.
    UpdateWatchers,
    /// Request the client's settings.
    FetchSettings,
    /// Ask the client to refresh what it shows.
    Refresh,
    /// Ask the client to open a document at a location.
    Show(Location),
    /// Ask the client to apply a chosen edit.
    Apply {
        title: String,
        edit: Box<WorkspaceEdit>,
    },
    /// Show a warning to the user.
    Warn(String),
    /// Show a problem in the settings to the user.
    ReportProblem(SettingsProblem),
    /// Report that the user opened or saved files.
    Touch {
        root: AbsPath,
        paths: Vec<AbsPath>,
    },
    Fetch(Fetch),
}
