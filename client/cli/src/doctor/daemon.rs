//! Checks of the daemon: connection, version, other daemons on the same socket, and its health
//! messages.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Pid;
use skills_protocol::method::{ServerStatus, SkillsExplain, SkillsList, TrustGet};
use skills_protocol::socket::SocketLocation;
use skills_protocol::wire::{
    Entry, Health, Include, ListParams, Outcome, ServerInfo, State, StatusParams, StepKind,
    TrustGetParams, TrustGetResult,
};

use crate::agent_config::environment::InstallEnvironment;
use crate::call_context::CallContext;
use crate::context::CommandContext;
use crate::doctor::finding::DoctorProblem;
use crate::doctor::repair::DoctorRepair;
use crate::failure::CommandError;
use crate::heading;
use crate::install::units::installed_service;
use crate::server_connection::{NEXT_VERSION, ServerConnection, VERSION, version_hint};
use crate::text::plain;
use skills_client::directory::shell_word;
use skills_client::spawn::connect;
use skills_client::{ClientError, peer};

/// Time limit for an answer. A healthy daemon answers `initialize` within a millisecond.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of invalid skills that a hint names.
const MAX_CHECKED: usize = 3;

pub(super) struct RunningDaemon {
    pub(super) info: ServerInfo,
    process: Option<Pid>,
    server: ServerConnection,
}

/// Connects to the daemon and checks its version and its consent socket.
pub(super) fn connect_and_check(
    location: &SocketLocation,
    findings: &mut Vec<DoctorProblem>,
) -> Option<RunningDaemon> {
    match connect(location, TIMEOUT).and_then(initialize) {
        Ok(daemon) => {
            let theirs = &daemon.info.version;
            if theirs != VERSION {
                let message =
                    format!("the daemon is skillsd {theirs}, but this program is {VERSION}");
                findings.push(DoctorProblem::warning(
                    "daemon-version",
                    message,
                    hint(daemon.process),
                ));
            }
            let consent = location.consent_path();
            if UnixStream::connect(&consent).is_err() {
                let message = "the daemon does not listen on its consent socket";
                let finding = DoctorProblem::warning("no-consent-socket", message, NEXT_VERSION);
                findings.push(finding.at(&consent));
            }
            Some(daemon)
        }
        Err(error) => {
            findings.extend(connect_finding(location, &error));
            None
        }
    }
}

/// Returns the hint for a daemon of another version.
fn hint(daemon: Option<Pid>) -> &'static str {
    let environment = InstallEnvironment::read().ok();
    let is_other = |it: &InstallEnvironment| {
        installed_service(it).is_some_and(|(_, service)| {
            service.canonicalize().ok() != it.program.canonicalize().ok()
        })
    };
    if environment.as_ref().is_some_and(is_other) {
        "Run `skillsd install --only units`, so that the service starts this version, then `skillsd stop`."
    } else {
        version_hint(daemon)
    }
}

fn initialize(stream: UnixStream) -> Result<RunningDaemon, ClientError> {
    let process = peer::daemon(&peer::credentials(&stream)?);
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let mut server = ServerConnection::over(Box::new(stream))?;
    let info = server.initialize_result()?.server_info.clone();
    Ok(RunningDaemon { info, process, server })
}

fn connect_finding(location: &SocketLocation, error: &ClientError) -> Option<DoctorProblem> {
    let path = location.path();
    let hint = error.hint().unwrap_or_else(|| "Run `skillsd serve` to see why.".to_owned());
    let finding = match error {
        ClientError::NotRunning { .. } if path.symlink_metadata().is_err() => return None,
        ClientError::NotRunning { .. } if is_socket(path) => {
            let repair = DoctorRepair::RemoveSocket {
                socket: path.to_owned(),
                lock: location.daemon_lock(),
            };
            let hint = "Nothing needs to be done: the next command replaces it.";
            let message = "no process listens on the socket: the daemon was killed";
            DoctorProblem::warning("socket-stale", message, hint).with_repair(repair)
        }
        // `paths` reports a file that is not a socket.
        ClientError::NotRunning { .. } => return None,
        ClientError::Connect { .. } if !is_socket(path) => return None,
        ClientError::ForeignPeer { .. } => {
            DoctorProblem::error("daemon-foreign", error.to_string(), hint)
        }
        ClientError::Version { .. } => {
            DoctorProblem::error("protocol-version", error.to_string(), hint)
        }
        ClientError::Silent { .. } => {
            let waited = TIMEOUT.as_secs();
            let message =
                format!("the daemon accepts connections but has not answered for {waited} s");
            let hint = "Run `skillsd logs` to see what it does, or `skillsd stop` to end it.";
            DoctorProblem::error("daemon-silent", message, hint)
        }
        ClientError::Connect { .. } => {
            DoctorProblem::error("socket-closed", "connecting to the socket is not permitted", hint)
        }
        _ => DoctorProblem::error("daemon-unclear", error.to_string(), hint),
    };
    Some(finding.at(path))
}

fn is_socket(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.symlink_metadata().is_ok_and(|found| found.file_type().is_socket())
}

/// Checks for more than one daemon: each holds the lock, and a daemon whose directory was removed
/// holds a lock file that other daemons do not see.
pub(super) fn check_other_daemons(location: &SocketLocation, findings: &mut Vec<DoctorProblem>) {
    let holders = holders(&location.daemon_lock());
    if holders.len() < 2 {
        return;
    }
    let pids: Vec<_> = holders.iter().map(ToString::to_string).collect();
    let message = format!("{} daemons run for this socket: {}", pids.len(), pids.join(", "));
    let hint = "Unreachable daemons exit within seconds. Run `skillsd status` to see which one answers, and `kill` the others.";
    findings.push(DoctorProblem::warning("daemons-many", message, hint).at(location.path()));
}

/// Returns the processes that hold a daemon's lock; none where the system does not tell.
pub(crate) fn holders(lock: &Path) -> BTreeSet<u32> {
    let real = lock.parent().and_then(|dir| dir.canonicalize().ok());
    let real = real.zip(lock.file_name()).map(|(dir, name)| dir.join(name));
    let is_lock = |target: &Path| {
        let bytes = target.as_os_str().as_bytes();
        // Suffix that the kernel appends to the name of a removed file.
        let bytes = bytes.strip_suffix(b" (deleted)").unwrap_or(bytes);
        let is = |path: &Path| path.as_os_str().as_bytes() == bytes;
        is(lock) || real.as_deref().is_some_and(is)
    };
    let holds = |process: &PathBuf| {
        // Processes of other users cannot be read, and are not our daemons.
        let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        files.filter_map(|file| fs::read_link(file.path()).ok()).any(|target| is_lock(&target))
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten().map(|it| it.path());
    let pid = |process: PathBuf| process.file_name()?.to_str()?.parse().ok();
    let us = std::process::id();
    processes.filter(holds).filter_map(pid).filter(|pid| *pid != us).collect()
}

/// Asks a server (the daemon, or one within this process) for health messages, unreadable search
/// roots and trust.
pub(super) fn check_from_server(
    cx: &CommandContext<'_>,
    daemon: Option<&mut RunningDaemon>,
    findings: &mut Vec<DoctorProblem>,
) -> Result<Option<TrustGetResult>, CommandError> {
    let context = CallContext::from_args(cx.global, None)?;
    let mut local;
    let server = if let Some(daemon) = daemon {
        &mut daemon.server
    } else {
        local = ServerConnection::local(cx.binary.local)?;
        &mut local
    };
    let checked = check_views(server, &context, findings).and_then(|()| trust(server, &context));
    Ok(match checked {
        Ok(trust) => Some(trust),
        Err(error) => {
            let hint = error.hint().unwrap_or_else(|| "Run `skillsd logs` to see why.".to_owned());
            let message = format!("the server failed to report its state: {error}");
            findings.push(DoctorProblem::error("daemon-unclear", message, hint));
            None
        }
    })
}

fn trust(
    server: &mut ServerConnection,
    context: &CallContext,
) -> Result<TrustGetResult, ClientError> {
    let mut context = context.clone();
    if context.wants_several_profiles() {
        context.profile = None;
    }
    server.call::<TrustGet>(&TrustGetParams { waiting: Some(true), ..context.params() })
}

fn check_views(
    server: &mut ServerConnection,
    context: &CallContext,
    findings: &mut Vec<DoctorProblem>,
) -> Result<(), ClientError> {
    let mut problems: Vec<Health> = Vec::new();
    let mut add = |more: Vec<Health>| {
        for health in more {
            if !problems.contains(&health) {
                problems.push(health);
            }
        }
    };
    let mut unreadable = BTreeSet::new();
    let mut places = Vec::new();
    if context.profile.is_none() || context.wants_several_profiles() {
        // Without a profile, the worktree's own configuration selects it.
        let mut unnamed = context.clone();
        unnamed.profile = None;
        places.push(unnamed);
        let profiles = match &context.profile {
            Some(_) => heading::selected(server, context)?,
            None => heading::several(&heading::detect(server, context)?).unwrap_or_default(),
        };
        places.extend(profiles.iter().map(|profile| context.with_profile(profile)));
    } else {
        places.push(context.clone());
    }
    findings.extend(invalid_skills(server, &places[0])?);
    for context in places {
        let result = server.call::<SkillsExplain>(&context.params())?;
        add(result.health);
        for step in result.steps {
            let is_root = step.kind == StepKind::Root && step.outcome == Outcome::Unreadable;
            if let Some(root) = step.root.filter(|_| is_root)
                && unreadable.insert(root.clone())
            {
                findings.push(root_finding(root, step.path_encoding, step.reason));
            }
        }
    }
    let status = server.call::<ServerStatus>(&StatusParams {})?;
    add(status.health);
    // Duplicates of agents that are not present, or of other directories, are no problem here.
    let is_here = |it: &Health| it.code != "duplicate";
    for worktree in status.worktrees {
        add(worktree.health.into_iter().filter(is_here).collect());
    }
    findings.extend(problems.iter().map(DoctorProblem::from_health));
    Ok(())
}

/// Reports the invalid skills of the agent that commands answer for.
fn invalid_skills(
    server: &mut ServerConnection,
    context: &CallContext,
) -> Result<Option<DoctorProblem>, ClientError> {
    let params = ListParams { include: vec![Include::All], ..context.params() };
    let mut skills = server.call_whole::<SkillsList>(params)?.skills;
    skills.retain(|it| it.state == State::Invalid);
    let Some(first) = skills.first() else { return Ok(None) };
    let (name, n_more) = (plain(&first.name), skills.len() - 1);
    let message = match n_more {
        0 => format!("the skill `{name}` is invalid"),
        _ => format!("the skill `{name}` is invalid, and {n_more} more are"),
    };
    // A check of the working directory leaves out the skills above it.
    let is_below = |it: &Entry| Path::new(&it.path).starts_with(&context.cwd);
    let n_named = if skills.iter().all(is_below) { 0 } else { MAX_CHECKED };
    let paths = skills.iter().take(n_named).map(|it| format!(" {}", shell_word(&it.path)));
    let paths: Vec<_> = paths.collect();
    let hint = format!("Run `skillsd check{}` to see why.", paths.concat());
    Ok(Some(DoctorProblem::warning("skills-invalid", message, hint)))
}

fn root_finding(
    root: String,
    path_encoding: Option<skills_protocol::path::PathEncoding>,
    reason: Option<String>,
) -> DoctorProblem {
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    DoctorProblem::from_health(&Health {
        code: "root-unreadable".to_owned(),
        message: format!("failed to read a search root{reason}"),
        hint: Some("Change its permissions so that you can read it, or remove it.".to_owned()),
        path: Some(root),
        path_encoding,
    })
}
