//! Units of the service manager: systemd's, or launchd's on macOS, and the manager itself
//! ([`Manager`]).
//!
//! The text is that of `systemd/`, with the program's path replaced.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use skills_protocol::wire::InstallPart;

use crate::agent_config::environment::InstallEnvironment;
use crate::install::launchd;
use crate::install::target::{TargetContent, TargetFile};

const SERVICE: &str = include_str!("../../../../systemd/skillsd.service");
const SOCKET: &str = include_str!("../../../../systemd/skillsd.socket");

/// Placeholder of the program in the service.
const PROGRAM: &str = "%h/.cargo/bin/skillsd";

/// Directories in which distribution packages install units.
const PACKAGED: [&str; 2] = ["/usr/lib/systemd/user", "/lib/systemd/user"];

pub(super) const OWNER: &str = "systemd";

const SOCKET_UNIT: &str = "skillsd.socket";
const SERVICE_UNIT: &str = "skillsd.service";

/// Command for the user if no manager runs now.
const LATER: &str = "systemctl --user enable --now skillsd.socket";

/// Returns the unit files, or adds to `left_out` why there are none. Fails if the manager cannot
/// start a program at this path.
pub(super) fn target_files(
    environment: &InstallEnvironment,
    left_out: &mut Vec<String>,
) -> Result<Vec<TargetFile>, String> {
    if has_launchd(environment) {
        check_path(environment, "launchd", char::is_control)?;
        return Ok(vec![launchd::target_file(environment)]);
    }
    if environment.which("systemctl").is_none() {
        left_out.push(
            "systemd is not installed, so no units are installed. Commands start the daemon when they need it."
                .to_owned(),
        );
        return Ok(Vec::new());
    }
    if is_packaged(&environment.program) {
        return Ok(Vec::new());
    }
    // In quotes or not, it refuses these in the path of an executable.
    check_path(environment, OWNER, |c| c.is_control() || "\"'\\".contains(c))?;
    let dir = environment.config.join("systemd/user");
    let unit = |name: &str, text: String| TargetFile {
        part: InstallPart::Units,
        owner: OWNER,
        path: dir.join(name),
        content: TargetContent::Whole(text),
        note: None,
    };
    let service = SERVICE.replace(PROGRAM, &unit_word(environment));
    Ok(vec![unit(SOCKET_UNIT, SOCKET.to_owned()), unit(SERVICE_UNIT, service)])
}

/// Fails if the program's path is no text, or has a character that a manager refuses.
fn check_path(
    environment: &InstallEnvironment,
    manager: &str,
    is_refused: fn(char) -> bool,
) -> Result<(), String> {
    let program = &environment.program;
    if program.to_str().is_some_and(|it| !it.contains(is_refused)) {
        return Ok(());
    }
    Err(format!(
        "{manager} cannot start `{}`: the path has a quote, a backslash or an unusual character. Move skillsd to another directory.",
        program.display()
    ))
}

/// Returns whether the program belongs to a package that includes the units.
fn is_packaged(program: &Path) -> bool {
    program == Path::new("/usr/bin/skillsd")
        && PACKAGED.iter().any(|dir| Path::new(dir).join(SERVICE_UNIT).is_file())
}

// systemd expands `%` specifiers, and splits at spaces outside of quotes. It expands no variables in
// the path of an executable, and keeps `$$` there.
fn unit_word(environment: &InstallEnvironment) -> String {
    if environment.program == environment.home.join(".cargo/bin/skillsd") {
        return PROGRAM.to_owned();
    }
    let path = environment.program.display().to_string().replace('%', "%%");
    let is_plain = |c: char| !c.is_whitespace() && c != ';';
    if path.chars().all(is_plain) { path } else { format!("\"{path}\"") }
}

/// Returns whether launchd manages the user's services.
fn has_launchd(environment: &InstallEnvironment) -> bool {
    environment.which("systemctl").is_none() && environment.which("launchctl").is_some()
}

/// The running service manager of the user.
pub(super) enum Manager {
    /// The path of `systemctl`.
    Systemd(PathBuf),
    /// The path of `launchctl`, and the user's home directory.
    Launchd(PathBuf, PathBuf),
}

impl Manager {
    /// Returns the manager, or adds to `left_out` that none runs.
    pub(super) fn find(
        environment: &InstallEnvironment,
        left_out: &mut Vec<String>,
    ) -> Option<Self> {
        if has_launchd(environment) {
            let manager = Self::Launchd(environment.which("launchctl")?, environment.home.clone());
            if manager.run(&launchd::probe()).is_ok() {
                return Some(manager);
            }
            left_out.push(
                "No session of launchd is running, so the agent starts at your next login."
                    .to_owned(),
            );
            return None;
        }
        let manager = Self::Systemd(environment.which("systemctl")?);
        if manager.run(&["show-environment"]).is_ok() {
            return Some(manager);
        }
        left_out.push(format!(
            "No systemd user manager is running, so the units are not enabled. Run `{LATER}` in a user session."
        ));
        None
    }

    /// Starts the service now and at each login.
    pub(super) fn enable(&self) -> Result<(), String> {
        if let Self::Launchd(_, home) = self {
            // Fails if the agent is not loaded.
            let _ = self.run(&launchd::unload());
            return self.run(&launchd::load(home));
        }
        self.run(&["daemon-reload"])?;
        self.run(&["enable", "--now", SOCKET_UNIT])
    }

    pub(super) fn disable(&self) -> Result<(), String> {
        if let Self::Launchd(..) = self {
            return self.run(&launchd::unload());
        }
        self.run(&["disable", "--now", SOCKET_UNIT])?;
        self.run(&["stop", SERVICE_UNIT])
    }

    /// Reloads the manager after units were removed.
    pub(super) fn reload(&self) -> Result<(), String> {
        match self {
            Self::Systemd(_) => self.run(&["daemon-reload"]),
            Self::Launchd(..) => Ok(()),
        }
    }

    fn run(&self, arguments: &[impl AsRef<str>]) -> Result<(), String> {
        let (program, options): (_, &[&str]) = match self {
            Self::Systemd(systemctl) => (systemctl, &["--user"]),
            Self::Launchd(launchctl, _) => (launchctl, &[]),
        };
        let mut words = options.to_vec();
        words.extend(arguments.iter().map(AsRef::as_ref));
        match Command::new(program).args(&words).stdin(Stdio::null()).output() {
            Ok(Output { status, .. }) if status.success() => Ok(()),
            Ok(Output { status, stderr, .. }) => {
                let output = String::from_utf8_lossy(&stderr);
                let output = output.lines().next().unwrap_or_default();
                let name = program.file_name().unwrap_or_default().to_string_lossy();
                Err(format!("`{name} {}` ended with {status}: {output}", words.join(" ")))
            }
            Err(error) => Err(format!("failed to run `{}`: {error}", program.display())),
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
