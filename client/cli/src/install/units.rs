//! The units of systemd's user manager: their text, and the manager itself.
//!
//! The text is that of `systemd/`; only the program's path is put in.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use skills_protocol::wire::InstallPart;

use crate::install::surroundings::Surroundings;
use crate::install::wanted::{Content, Wanted};

const SERVICE: &str = include_str!("../../../../systemd/skillsd.service");
const SOCKET: &str = include_str!("../../../../systemd/skillsd.socket");

/// The program in the service's text.
const PROGRAM: &str = "%h/.cargo/bin/skillsd";

/// Where a package of the system puts the units.
const PACKAGED: [&str; 2] = ["/usr/lib/systemd/user", "/lib/systemd/user"];

const SOCKET_UNIT: &str = "skillsd.socket";
const SERVICE_UNIT: &str = "skillsd.service";

/// What a person does where no manager runs now.
const LATER: &str = "systemctl --user enable --now skillsd.socket";

/// Returns what is wanted of the units, or says why nothing is.
pub(super) fn wanted(around: &Surroundings, left_out: &mut Vec<String>) -> Vec<Wanted> {
    if around.which("systemctl").is_none() {
        left_out.push(
            "systemd is not there, so no units are installed: the first command that needs the daemon starts it."
                .to_owned(),
        );
        return Vec::new();
    }
    if is_packaged(&around.program) {
        return Vec::new();
    }
    let dir = around.config.join("systemd/user");
    let unit = |name: &str, text: String| Wanted {
        part: InstallPart::Units,
        owner: "systemd",
        path: dir.join(name),
        content: Content::Whole(text),
        note: None,
    };
    let service = SERVICE.replace(PROGRAM, &unit_word(around));
    vec![unit(SOCKET_UNIT, SOCKET.to_owned()), unit(SERVICE_UNIT, service)]
}

/// Tells whether the program came with a package that has brought its units.
fn is_packaged(program: &Path) -> bool {
    program == Path::new("/usr/bin/skillsd")
        && PACKAGED.iter().any(|dir| Path::new(dir).join(SERVICE_UNIT).is_file())
}

// Systemd reads `%` as a specifier, and quotes and backslashes as a shell does.
fn unit_word(around: &Surroundings) -> String {
    if around.program == around.home.join(".cargo/bin/skillsd") {
        return PROGRAM.to_owned();
    }
    let path = around.program.display().to_string().replace('%', "%%");
    let is_plain = |c: char| !c.is_whitespace() && !"\"'\\;$".contains(c);
    if path.chars().all(is_plain) {
        return path;
    }
    let path = path.replace('\\', r"\\").replace('"', "\\\"").replace('$', "$$");
    format!("\"{path}\"")
}

/// Systemd's manager of this user, where one runs.
pub(super) struct Manager {
    systemctl: PathBuf,
}

impl Manager {
    /// Finds the manager, or says that none runs.
    pub(super) fn find(around: &Surroundings, left_out: &mut Vec<String>) -> Option<Self> {
        let manager = Self { systemctl: around.which("systemctl")? };
        if manager.run(&["show-environment"]).is_ok() {
            return Some(manager);
        }
        left_out.push(format!(
            "No user manager of systemd runs here, so nothing was started or enabled; run `{LATER}` where one does."
        ));
        None
    }

    /// Takes the units into account and listens in the daemon's place.
    pub(super) fn enable(&self) -> Result<(), String> {
        self.run(&["daemon-reload"])?;
        self.run(&["enable", "--now", SOCKET_UNIT])
    }

    /// Ends what runs of the units and listens no more.
    pub(super) fn disable(&self) -> Result<(), String> {
        self.run(&["disable", "--now", SOCKET_UNIT])?;
        self.run(&["stop", SERVICE_UNIT])
    }

    /// Takes into account that the units have gone.
    pub(super) fn reload(&self) -> Result<(), String> {
        self.run(&["daemon-reload"])
    }

    fn run(&self, arguments: &[&str]) -> Result<(), String> {
        let mut command = Command::new(&self.systemctl);
        command.arg("--user").args(arguments).stdin(Stdio::null());
        match command.output() {
            Ok(Output { status, .. }) if status.success() => Ok(()),
            Ok(Output { status, stderr, .. }) => {
                let said = String::from_utf8_lossy(&stderr);
                let said = said.lines().next().unwrap_or_default();
                let arguments = arguments.join(" ");
                Err(format!("`systemctl --user {arguments}` ended with {status}: {said}"))
            }
            Err(error) => Err(format!("`{}` cannot be run: {error}", self.systemctl.display())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_service_names_the_program_as_it_is_looked_for() {
        assert_eq!(SERVICE.matches(PROGRAM).count(), 1);
    }
}
