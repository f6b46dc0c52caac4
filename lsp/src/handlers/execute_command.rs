//! `workspace/executeCommand`: what a client has us do when the user chooses something that is no
//! edit.
//!
//! Nothing is waited for here that the client has to answer: it may be waiting for this.

use serde::{Deserialize, Serialize};
use skills_syntax::path::AbsPath;
use tower_lsp::jsonrpc::Error;
use tower_lsp::ls_types::{Command, ExecuteCommandParams, Location, Uri, WorkspaceEdit};

use crate::document::Document;
use crate::from_proto;
use crate::session::{Session, Task};

/// Opens a place in the client.
const OPEN: &str = "skillsd.open";

/// Makes a file of a skill executable.
const MAKE_EXECUTABLE: &str = "skillsd.makeExecutable";

/// Has the client make an edit: for clients that take no actions with edits in them.
const APPLY_EDIT: &str = "skillsd.applyEdit";

/// The commands that a client may have executed.
pub(crate) const COMMANDS: [&str; 3] = [OPEN, MAKE_EXECUTABLE, APPLY_EDIT];

/// Returns the command that opens a place.
pub(crate) fn open(title: String, place: &Location) -> Command {
    Command { title, command: OPEN.to_owned(), arguments: Some(vec![serde_json::json!(place)]) }
}

/// Returns the command that makes a file of the skill executable whose SKILL.md is `skill`.
pub(crate) fn make_executable(title: String, skill: &Uri, relative: &str) -> Command {
    let argument = serde_json::json!({"skill": skill, "file": relative});
    Command { title, command: MAKE_EXECUTABLE.to_owned(), arguments: Some(vec![argument]) }
}

/// An edit that was offered for a text.
#[derive(Serialize, Deserialize)]
struct Offered {
    title: String,
    /// The text, and the version that it was offered for.
    text: Uri,
    version: i32,
    edit: WorkspaceEdit,
}

/// Returns the command that makes an edit which is offered for a text as it is now.
pub(crate) fn apply_edit(title: String, document: &Document, edit: &WorkspaceEdit) -> Command {
    let (text, version) = (document.uri().clone(), document.version());
    let offered = Offered { title: title.clone(), text, version, edit: edit.clone() };
    let arguments = Some(vec![serde_json::json!(offered)]);
    Command { title, command: APPLY_EDIT.to_owned(), arguments }
}

/// Does what a command says.
pub(crate) async fn execute_command(
    session: &Session,
    params: ExecuteCommandParams,
) -> Result<(), Error> {
    let ExecuteCommandParams { command, mut arguments, .. } = params;
    let refused = |why: String| Err(Error { message: why.into(), ..Error::invalid_params("") });
    let Some(argument) = arguments.pop() else {
        return refused(format!("`{command}` is called without its argument"));
    };
    match &*command {
        OPEN => match serde_json::from_value::<Location>(argument) {
            Ok(place) => {
                session.send(Task::Show(place));
                Ok(())
            }
            Err(error) => refused(format!("the argument of `{command}` is no place: {error}")),
        },
        MAKE_EXECUTABLE => {
            let Some((skill, file)) = script(&argument) else {
                return refused(format!("the argument of `{command}` is `{{skill, file}}`"));
            };
            match session.source().make_executable(skill, file.clone()).await {
                Some(()) => {
                    session.doubt_all();
                    Ok(())
                }
                None => {
                    refused(format!("`{file}` could not be made executable; run `chmod +x` on it"))
                }
            }
        }
        APPLY_EDIT => match serde_json::from_value::<Offered>(argument) {
            Ok(Offered { title, text, version, edit }) => {
                // Its places are those of that version.
                let now = session.document(text.as_str()).map(|it| it.version());
                if now != Some(version) {
                    return refused(format!("the text has changed since `{title}` was offered"));
                }
                session.send(Task::Apply { title, edit: Box::new(edit) });
                Ok(())
            }
            Err(error) => refused(format!("the argument of `{command}` is no edit: {error}")),
        },
        other => refused(format!("there is no command `{other}`")),
    }
}

fn script(argument: &serde_json::Value) -> Option<(AbsPath, String)> {
    let skill: Uri = argument.get("skill")?.as_str()?.parse().ok()?;
    Some((from_proto::path(&skill)?, argument.get("file")?.as_str()?.to_owned()))
}
