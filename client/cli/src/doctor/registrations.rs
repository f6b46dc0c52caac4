//! Checks of the registrations with agents, and of the program that they start.

use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use skills_protocol::wire::{InstallPart, Registration, RegistrationState};

use crate::agent_config::environment::InstallEnvironment;
use crate::doctor::finding::DoctorProblem;
use crate::install::registration::registrations;
use crate::install::units::installed_service;
use crate::style::{self, paint};
use crate::terminal::Terminal;
use crate::text::{hang, plain};

/// Checks the registrations, and returns them.
pub(super) fn check(findings: &mut Vec<DoctorProblem>) -> Vec<Registration> {
    // Without HOME no agent has settings; another check reports it.
    let Ok(environment) = InstallEnvironment::read() else { return Vec::new() };
    findings.extend(other_program(&environment));
    findings.extend(missing_program_of_service(&environment));
    let found = registrations(&environment);
    for (path, it) in &found {
        // One finding about an unreadable file is enough.
        let is_unreadable = it.state == RegistrationState::Unreadable;
        if !(is_unreadable && findings.iter().any(|it| it.is_at(path))) {
            findings.extend(problem(it).map(|it| it.at(path)));
        }
    }
    found.into_iter().map(|(_, it)| it).collect()
}

/// Reports a program of the same name that comes first in PATH.
fn other_program(environment: &InstallEnvironment) -> Option<DoctorProblem> {
    let first = environment.first_in_path().filter(|_| !environment.on_path)?;
    let file = |path: &Path| path.metadata().map(|it| (it.dev(), it.ino())).ok();
    if file(&first) == file(&environment.program) {
        return None;
    }
    let message = "another `skillsd` comes first in PATH, so agents and shells start that one";
    let hint = format!("Remove it, or put `{}` before it.", environment.program.display());
    Some(DoctorProblem::warning("path-shadowed", message, hint).at(first))
}

/// Reports a service of the user whose program does not exist. It also hides the one of a package.
fn missing_program_of_service(environment: &InstallEnvironment) -> Option<DoctorProblem> {
    let (path, program) = installed_service(environment).filter(|(_, it)| !it.is_file())?;
    let message = format!("the service runs `{}`, which does not exist", program.display());
    let hint = "Run `skillsd install --only units`. If it keeps the file, remove the file first.";
    Some(DoctorProblem::warning("registration-broken", message, hint).at(path))
}

fn problem(registration: &Registration) -> Option<DoctorProblem> {
    use RegistrationState::{Absent, Broken, Changed, Current, Incomplete, Unreadable};
    let what = subject(registration);
    let install = install(registration);
    Some(match registration.state {
        Current | Changed | Absent => return None,
        Broken => {
            let program = registration.program.as_deref().unwrap_or_default();
            let run = if registration.part == InstallPart::Mcp { "runs" } else { "run" };
            let message = format!("the {what} {run} `{program}`, which does not exist");
            let hint =
                format!("Correct the program there, or remove the entries and run {install}.");
            DoctorProblem::warning("registration-broken", message, hint)
        }
        Incomplete if registration.part == InstallPart::Mcp => {
            let message =
                format!("the {what} has no `--profile`, so it may list another agent's skills");
            let hint = format!("Remove the entry, then run {install}.");
            DoctorProblem::warning("registration-stale", message, hint)
        }
        Incomplete => {
            let message = format!("the {what} are incomplete or of another version");
            DoctorProblem::warning("registration-stale", message, format!("Run {install}."))
        }
        Unreadable => {
            let message = format!("the file of the {what} cannot be read");
            let hint = "Correct its syntax or its permissions.";
            DoctorProblem::warning("registration-unreadable", message, hint)
        }
    })
}

fn subject(registration: &Registration) -> String {
    let part = match registration.part {
        InstallPart::Units => "units",
        InstallPart::Hooks => "hooks",
        InstallPart::Mcp => "MCP server",
    };
    format!("{} {part}", registration.agent)
}

fn install(registration: &Registration) -> String {
    let only = if registration.part == InstallPart::Mcp { " --only mcp" } else { "" };
    format!("`skillsd install --agent {}{only}`", registration.profile)
}

/// Writes a line for each registration. Agents with skills need no MCP server, so one that is
/// missing or not known is left out.
pub(super) fn push(registrations: &[Registration], terminal: &Terminal, text: &mut String) {
    for it in registrations {
        let path = terminal.path(&it.path, it.path_encoding);
        let what = plain(&subject(it));
        let (mark, words) = match it.state {
            RegistrationState::Absent | RegistrationState::Unreadable
                if it.part == InstallPart::Mcp =>
            {
                continue;
            }
            RegistrationState::Absent => {
                (paint(style::FAINT, "○"), format!("not registered: {what}; run {}", install(it)))
            }
            RegistrationState::Current => {
                (paint(style::GOOD, "●"), format!("registered: {what} in {path}"))
            }
            RegistrationState::Changed => (
                paint(style::GOOD, "●"),
                format!("registered, in a form of your own: {what} in {path}"),
            ),
            RegistrationState::Unreadable => (
                paint(style::BAD, "●"),
                format!("cannot tell whether {what} is set up: {path} is unreadable"),
            ),
            RegistrationState::Broken | RegistrationState::Incomplete => {
                (paint(style::BAD, "●"), format!("registered, but {}: {what} in {path}", it.state))
            }
        };
        let _ = writeln!(text, "{}", hang(&format!("{mark} "), &words, terminal.width));
    }
}
