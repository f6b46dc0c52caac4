//! Agent of launchd, the service manager of macOS: its property list, and the commands of
//! `launchctl`.
//!
//! The text is that of `packaging/launchd/`, with the program's path replaced.

use std::path::{Path, PathBuf};

use skills_protocol::wire::InstallPart;

use crate::agent_config::environment::InstallEnvironment;
use crate::install::target::{TargetContent, TargetFile};

const AGENT: &str = include_str!("../../../../packaging/launchd/skillsd.plist");

/// Placeholder of the program in the property list.
const PROGRAM: &str = "/opt/homebrew/bin/skillsd";

const OWNER: &str = "launchd";

const LABEL: &str = "skillsd";

/// Returns the property list of the agent.
pub(super) fn target_file(environment: &InstallEnvironment) -> TargetFile {
    let program = environment.program.display().to_string();
    let program = program.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    TargetFile {
        part: InstallPart::Units,
        owner: OWNER,
        path: agent_path(&environment.home),
        content: TargetContent::Whole(AGENT.replace(PROGRAM, &program)),
        note: None,
    }
}

/// Returns the arguments of `launchctl` that start the agent now and at each login, after it was
/// unloaded.
pub(super) fn load(home: &Path) -> Vec<String> {
    vec!["bootstrap".to_owned(), domain(), agent_path(home).display().to_string()]
}

/// Returns the arguments of `launchctl` that stop the agent.
pub(super) fn unload() -> Vec<String> {
    vec!["bootout".to_owned(), format!("{}/{LABEL}", domain())]
}

/// Returns the arguments of `launchctl` that fail without a session of the user.
pub(super) fn probe() -> Vec<String> {
    vec!["print".to_owned(), domain()]
}

/// Returns the program of a property list.
pub(super) fn program(agent: &str, _home: &Path) -> Option<String> {
    let (_, arguments) = agent.split_once("<key>ProgramArguments</key>")?;
    let (program, _) = arguments.split_once("<string>")?.1.split_once("</string>")?;
    Some(program.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}

pub(super) fn agent_path(home: &Path) -> PathBuf {
    home.join("Library/LaunchAgents").join(format!("{LABEL}.plist"))
}

fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn property_list_contains_the_placeholder_once() {
        assert_eq!(AGENT.matches(PROGRAM).count(), 1);
        assert_eq!(program(AGENT, Path::new("/")).as_deref(), Some(PROGRAM));
    }
}
