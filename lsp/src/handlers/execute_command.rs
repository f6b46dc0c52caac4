//! `workspace/executeCommand`: what a client has us do when the user chooses something that is no
//! edit.
//!
//! Nothing is waited for here that the client has to answer: it may be waiting for this.

use skills_core::path::AbsPath;
use tower_lsp::jsonrpc::Error;
use tower_lsp::ls_types::{Command, ExecuteCommandParams, Location, Uri};

use crate::from_proto;
use crate::session::{Errand, Session};

/// Opens a place in the client.
const OPEN: &str = "skillsd.open";

/// Makes a file of a skill executable.
const MAKE_EXECUTABLE: &str = "skillsd.makeExecutable";

/// The commands that a client may have executed.
pub(crate) const COMMANDS: [&str; 2] = [OPEN, MAKE_EXECUTABLE];

/// Returns the command that opens a place.
pub(crate) fn open(title: String, place: &Location) -> Command {
    Command { title, command: OPEN.to_owned(), arguments: Some(vec![serde_json::json!(place)]) }
}

/// Returns the command that makes a file of the skill executable whose SKILL.md is `skill`.
pub(crate) fn make_executable(title: String, skill: &Uri, relative: &str) -> Command {
    let argument = serde_json::json!({"skill": skill, "file": relative});
    Command { title, command: MAKE_EXECUTABLE.to_owned(), arguments: Some(vec![argument]) }
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
                session.send(Errand::Show(place));
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
        other => refused(format!("there is no command `{other}`")),
    }
}

fn script(argument: &serde_json::Value) -> Option<(AbsPath, String)> {
    let skill: Uri = argument.get("skill")?.as_str()?.parse().ok()?;
    Some((from_proto::path(&skill)?, argument.get("file")?.as_str()?.to_owned()))
}
