//! `workspace/executeCommand`: the server's commands.
//!
//! A command never waits for the client, because the client may be waiting for its result.

use serde::{Deserialize, Serialize};
use skills_syntax::path::AbsPath;
use tower_lsp::jsonrpc::Error;
use tower_lsp::ls_types::{Command, ExecuteCommandParams, Location, Uri, WorkspaceEdit};

use crate::document::Document;
use crate::session::{Session, Task};

/// Opens a location in the client.
const OPEN: &str = "skillsd.open";

/// Makes a file of a skill executable.
const MAKE_EXECUTABLE: &str = "skillsd.makeExecutable";

/// Applies an edit, for clients that accept only commands as code actions.
const APPLY_EDIT: &str = "skillsd.applyEdit";

/// The commands that a client can execute.
pub(crate) const COMMANDS: [&str; 3] = [OPEN, MAKE_EXECUTABLE, APPLY_EDIT];

/// Returns the command that opens a location.
pub(crate) fn open(title: String, location: &Location) -> Command {
    Command { title, command: OPEN.to_owned(), arguments: Some(vec![serde_json::json!(location)]) }
}

/// Returns the command that makes a file executable; `skill` is the URI of its SKILL.md.
pub(crate) fn make_executable(title: String, skill: &Uri, relative: &str) -> Command {
    let argument = serde_json::json!({"skill": skill, "file": relative});
    Command { title, command: MAKE_EXECUTABLE.to_owned(), arguments: Some(vec![argument]) }
}

/// An edit offered for a document.
#[derive(Serialize, Deserialize)]
struct OfferedEdit {
    title: String,
    /// The document, and the version for which the edit was offered.
    text: Uri,
    version: Option<i32>,
    edit: WorkspaceEdit,
}

/// Returns the command that applies an edit to the current version of a document.
pub(crate) fn apply_edit(title: String, document: &Document, edit: &WorkspaceEdit) -> Command {
    let (text, version) = (document.uri().clone(), document.version());
    let offered = OfferedEdit { title: title.clone(), text, version, edit: edit.clone() };
    let arguments = Some(vec![serde_json::json!(offered)]);
    Command { title, command: APPLY_EDIT.to_owned(), arguments }
}

/// Executes a command.
pub(crate) async fn execute_command(
    session: &Session,
    params: ExecuteCommandParams,
) -> Result<(), Error> {
    let ExecuteCommandParams { command, mut arguments, .. } = params;
    let refused = |why: String| Err(Error { message: why.into(), ..Error::invalid_params("") });
    let Some(argument) = arguments.pop() else {
        return refused(format!("`{command}` needs an argument"));
    };
    match &*command {
        OPEN => match serde_json::from_value::<Location>(argument) {
            Ok(location) => {
                session.send(Task::Show(location));
                Ok(())
            }
            Err(error) => {
                refused(format!("the argument of `{command}` is not a location: {error}"))
            }
        },
        MAKE_EXECUTABLE => {
            let Some((skill, file)) = script(&argument) else {
                return refused(format!("the argument of `{command}` must be `{{skill, file}}`"));
            };
            match session.backend().make_executable(skill, file.clone()).await {
                Some(()) => {
                    session.invalidate_all();
                    Ok(())
                }
                None => refused(format!("cannot make `{file}` executable; run `chmod +x` on it")),
            }
        }
        APPLY_EDIT => match serde_json::from_value::<OfferedEdit>(argument) {
            Ok(OfferedEdit { title, text, version, edit }) => {
                // The edit's positions refer to that version.
                let now = session.document(text.as_str()).map(|it| it.version());
                if now != Some(version) {
                    return refused(format!(
                        "the document has changed since `{title}` was offered; try again"
                    ));
                }
                session.send(Task::Apply { title, edit: Box::new(edit) });
                Ok(())
            }
            Err(error) => refused(format!("the argument of `{command}` is not an edit: {error}")),
        },
        other => refused(format!("unknown command `{other}`")),
    }
}

fn script(argument: &serde_json::Value) -> Option<(AbsPath, String)> {
    let skill: Uri = argument.get("skill")?.as_str()?.parse().ok()?;
    Some((crate::document::file_path(&skill)?, argument.get("file")?.as_str()?.to_owned()))
}
