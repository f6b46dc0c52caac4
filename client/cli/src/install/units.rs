//! Units of the service manager: systemd's, or launchd's on macOS, and the manager itself
//! ([`Manager`]).
//!
//! The text is that of `systemd/`, with the program's path replaced.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use skills_protocol::wire::InstallPart;

use crate::agent_config::environment::InstallEnvironment;
use crate::agent_config::file;
use crate::install::launchd;
use crate::install::record::{Record, Trace};
use crate::install::target::{TargetContent, TargetFile};

const SERVICE: &str = include_str!("../../../../systemd/skillsd.service");
const SOCKET: &str = include_str!("../../../../systemd/skillsd.socket");

/// Placeholder of the program in the service.
const PROGRAM: &str = "%h/.cargo/bin/skillsd";

/// Directories below `/` in which distribution packages install units.
const PACKAGED: [&str; 2] = ["usr/lib/systemd/user", "lib/systemd/user"];

/// Program of a distribution package, below `/`.
const PACKAGED_PROGRAM: &str = "usr/bin/skillsd";

pub(super) const OWNER: &str = "systemd";

const SOCKET_UNIT: &str = "skillsd.socket";
const SERVICE_UNIT: &str = "skillsd.service";

/// Command that enables the units, for the user if no manager runs now.
pub(super) const ENABLE: &str = "systemctl --user enable --now skillsd.socket";

/// Command that disables the units.
pub(super) const DISABLE: &str = "systemctl --user disable --now skillsd.socket";

/// Returns the unit files, or adds to `left_out` why there are none. Fails if the manager cannot
/// start a program at this path.
pub(super) fn target_files(
    environment: &InstallEnvironment,
    left_out: &mut Vec<String>,
) -> Result<Vec<TargetFile>, String> {
    if has_launchd(environment) {
        check_path(environment, "launchd", "a control character", char::is_control)?;
        return Ok(vec![launchd::target_file(environment)]);
    }
    if environment.which("systemctl").is_none() {
        left_out.push(
            "systemd is not installed, so no units are installed. Commands start the daemon when they need it."
                .to_owned(),
        );
        return Ok(Vec::new());
    }
    if packaged_socket(environment).is_some() {
        return Ok(Vec::new());
    }
    // In quotes or not, it refuses these in the path of an executable.
    let refused = "a quote, a backslash, a control character";
    check_path(environment, OWNER, refused, |c| c.is_control() || "\"'\\".contains(c))?;
    let unit = |name: &str, text: String| TargetFile {
        part: InstallPart::Units,
        owner: OWNER,
        path: user_unit(environment, name),
        content: TargetContent::Whole(text),
        note: None,
    };
    let service = SERVICE.replace(PROGRAM, &unit_word(environment));
    Ok(vec![unit(SOCKET_UNIT, SOCKET.to_owned()), unit(SERVICE_UNIT, service)])
}

/// Fails if the program's path is no text, or has a character that a manager refuses; `refused`
/// lists these characters.
fn check_path(
    environment: &InstallEnvironment,
    manager: &str,
    refused: &str,
    is_refused: fn(char) -> bool,
) -> Result<(), String> {
    let program = &environment.program;
    if program.to_str().is_some_and(|it| !it.contains(is_refused)) {
        return Ok(());
    }
    Err(format!(
        "{manager} cannot start `{}`: the path has {refused} or invalid UTF-8. Move skillsd to another directory.",
        program.display()
    ))
}

/// Returns the path of a unit that this program installs.
fn user_unit(environment: &InstallEnvironment, name: &str) -> PathBuf {
    environment.config.join("systemd/user").join(name)
}

/// Returns the socket unit of the distribution package that the program belongs to.
pub(super) fn packaged_socket(environment: &InstallEnvironment) -> Option<PathBuf> {
    let root = environment.program.strip_prefix("/").ok()?;
    // Tests install the package below a directory.
    let is_system = root == Path::new(PACKAGED_PROGRAM) || cfg!(debug_assertions);
    if !is_system || !root.ends_with(PACKAGED_PROGRAM) || environment.which("systemctl").is_none() {
        return None;
    }
    let root = environment.program.ancestors().nth(3)?;
    let mut dirs = PACKAGED.iter().map(|it| root.join(it));
    let dir = dirs.find(|it| it.join(SERVICE_UNIT).is_file())?;
    Some(dir.join(SOCKET_UNIT))
}

/// Returns the units of ours that hide those of the package, as recorded, and adds to `left_out`
/// the files of others that do.
pub(super) fn hiding_units(
    environment: &InstallEnvironment,
    record: &Record,
    left_out: &mut Vec<String>,
) -> Vec<Trace> {
    let mut ours = Vec::new();
    for name in [SERVICE_UNIT, SOCKET_UNIT] {
        let path = user_unit(environment, name);
        // An unreadable file is no unit to systemd either.
        let Ok(Some(text)) = file::read(&path) else { continue };
        match record.of(&path, InstallPart::Units) {
            Some(trace) if trace.text.as_ref() == Some(&text) => ours.push(trace.clone()),
            Some(_) | None => left_out.push(format!(
                "`{}` is used in place of the package's unit. Remove it if that is not your intention.",
                path.display()
            )),
        }
    }
    ours
}

/// Returns the installed service and its program, if the path of that is known.
pub(crate) fn installed_service(environment: &InstallEnvironment) -> Option<(PathBuf, PathBuf)> {
    let (path, read): (_, fn(&str, &Path) -> Option<String>) = if has_launchd(environment) {
        (launchd::agent_path(&environment.home), launchd::program)
    } else {
        (user_unit(environment, SERVICE_UNIT), service_program)
    };
    let text = file::read(&path).ok()??;
    let program = read(&text, &environment.home).map(PathBuf::from);
    Some((path, program.filter(|it| it.is_absolute())?))
}

/// Returns the program of a service, if it has no specifiers but `%h` and `%%`.
fn service_program(service: &str, home: &Path) -> Option<String> {
    let line = service.lines().find_map(|it| it.strip_prefix("ExecStart="))?;
    let line = line.trim_start_matches([' ', '-', '@', ':', '+', '!']);
    let word = match line.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => line.split_whitespace().next()?,
    };
    let mut parts = word.split('%');
    let mut program = parts.next()?.to_owned();
    while let Some(part) = parts.next() {
        if let Some(rest) = part.strip_prefix('h') {
            program = program + home.to_str()? + rest;
        } else if part.is_empty() {
            program = program + "%" + parts.next()?;
        } else {
            return None;
        }
    }
    Some(program)
}

// systemd expands `%` specifiers, and splits at spaces outside of quotes. It expands no variables
// in the path of an executable, and keeps `$$` there.
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
            "No systemd user manager is running, so the units are not enabled. Run `{ENABLE}` in a user session."
        ));
        None
    }

    /// Returns whether the user's manager runs.
    pub(super) fn is_running(environment: &InstallEnvironment) -> bool {
        Self::find(environment, &mut Vec::new()).is_some()
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

    /// Returns whether systemd listens now and after each login.
    pub(super) fn is_enabled(&self) -> bool {
        ["is-enabled", "is-active"].iter().all(|it| self.run(&[it, SOCKET_UNIT]).is_ok())
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

    #[test]
    fn program_of_a_service_is_read_as_systemd_reads_it() {
        let program = |line: &str| {
            service_program(&format!("[Service]\nExecStart={line}\n"), Path::new("/home/me"))
        };
        assert_eq!(
            service_program(SERVICE, Path::new("/h")).as_deref(),
            Some("/h/.cargo/bin/skillsd")
        );
        assert_eq!(program("-/opt/skillsd serve").as_deref(), Some("/opt/skillsd"));
        assert_eq!(program("\"/a b/%%h/skillsd\" serve").as_deref(), Some("/a b/%h/skillsd"));
        assert_eq!(program("%h/100%%/skillsd serve").as_deref(), Some("/home/me/100%/skillsd"));
        assert_eq!(program("/opt/%i/skillsd serve"), None);
        assert_eq!(service_program("[Service]\n", Path::new("/h")), None);
    }
}
