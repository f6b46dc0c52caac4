//! Units of systemd's user manager, and the manager itself ([`Manager`]).
//!
//! The text is that of `systemd/`, with the program's path replaced.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use skills_protocol::wire::InstallPart;

use crate::agent_config::environment::InstallEnvironment;
use crate::install::target::{TargetContent, TargetFile};

const SERVICE: &str = include_str!("../../../../systemd/skillsd.service");
const SOCKET: &str = include_str!("../../../../systemd/skillsd.socket");

/// Placeholder of the program in the service.
const PROGRAM: &str = "%h/.cargo/bin/skillsd";

/// Directories in which distribution packages install units.
const PACKAGED: [&str; 2] = ["/usr/lib/systemd/user", "/lib/systemd/user"];

/// Owner of the units.
pub(super) const OWNER: &str = "systemd";

const SOCKET_UNIT: &str = "skillsd.socket";
const SERVICE_UNIT: &str = "skillsd.service";

/// Command for the user if no manager runs now.
const LATER: &str = "systemctl --user enable --now skillsd.socket";

/// Returns the unit files, or adds to `left_out` why there are none.
pub(super) fn target_files(
    environment: &InstallEnvironment,
    left_out: &mut Vec<String>,
) -> Vec<TargetFile> {
    if environment.which("systemctl").is_none() {
        left_out.push(
            "systemd is not installed, so no units are installed. Commands start the daemon when they need it."
                .to_owned(),
        );
        return Vec::new();
    }
    if is_packaged(&environment.program) {
        return Vec::new();
    }
    let dir = environment.config.join("systemd/user");
    let unit = |name: &str, text: String| TargetFile {
        part: InstallPart::Units,
        owner: OWNER,
        path: dir.join(name),
        content: TargetContent::Whole(text),
        note: None,
    };
    let service = SERVICE.replace(PROGRAM, &unit_word(environment));
    vec![unit(SOCKET_UNIT, SOCKET.to_owned()), unit(SERVICE_UNIT, service)]
}

/// Returns whether the program belongs to a package that includes the units.
fn is_packaged(program: &Path) -> bool {
    program == Path::new("/usr/bin/skillsd")
        && PACKAGED.iter().any(|dir| Path::new(dir).join(SERVICE_UNIT).is_file())
}

// systemd expands `%` specifiers, and interprets quotes and backslashes like a shell.
fn unit_word(environment: &InstallEnvironment) -> String {
    if environment.program == environment.home.join(".cargo/bin/skillsd") {
        return PROGRAM.to_owned();
    }
    let path = environment.program.display().to_string().replace('%', "%%");
    let is_plain = |c: char| !c.is_whitespace() && !"\"'\\;$".contains(c);
    if path.chars().all(is_plain) {
        return path;
    }
    let path = path.replace('\\', r"\\").replace('"', "\\\"").replace('$', "$$");
    format!("\"{path}\"")
}

/// The running user manager of systemd.
pub(super) struct Manager {
    systemctl: PathBuf,
}

impl Manager {
    /// Returns the manager, or adds to `left_out` that none runs.
    pub(super) fn find(
        environment: &InstallEnvironment,
        left_out: &mut Vec<String>,
    ) -> Option<Self> {
        let manager = Self { systemctl: environment.which("systemctl")? };
        if manager.run(&["show-environment"]).is_ok() {
            return Some(manager);
        }
        left_out.push(format!(
            "No systemd user manager is running, so the units are not enabled. Run `{LATER}` in a user session."
        ));
        None
    }

    /// Reloads systemd and enables the socket unit.
    pub(super) fn enable(&self) -> Result<(), String> {
        self.run(&["daemon-reload"])?;
        self.run(&["enable", "--now", SOCKET_UNIT])
    }

    /// Disables the socket unit and stops the service.
    pub(super) fn disable(&self) -> Result<(), String> {
        self.run(&["disable", "--now", SOCKET_UNIT])?;
        self.run(&["stop", SERVICE_UNIT])
    }

    /// Reloads systemd after units were removed.
    pub(super) fn reload(&self) -> Result<(), String> {
        self.run(&["daemon-reload"])
    }

    fn run(&self, arguments: &[&str]) -> Result<(), String> {
        let mut command = Command::new(&self.systemctl);
        command.arg("--user").args(arguments).stdin(Stdio::null());
        match command.output() {
            Ok(Output { status, .. }) if status.success() => Ok(()),
            Ok(Output { status, stderr, .. }) => {
                let output = String::from_utf8_lossy(&stderr);
                let output = output.lines().next().unwrap_or_default();
                let arguments = arguments.join(" ");
                Err(format!("`systemctl --user {arguments}` ended with {status}: {output}"))
            }
            Err(error) => Err(format!("failed to run `{}`: {error}", self.systemctl.display())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_contains_the_placeholder_once() {
        assert_eq!(SERVICE.matches(PROGRAM).count(), 1);
    }
}
