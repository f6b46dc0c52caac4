//! The daemon: whether it answers, what it is, whether there are others, and what it sees.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use skills_protocol::method::{ServerStatus, SkillsExplain, TrustGet};
use skills_protocol::socket::SocketLocation;
use skills_protocol::wire::{
    ExplainParams, Health, Outcome, ServerInfo, StatusParams, StepKind, TrustGetParams,
    TrustGetResult,
};

use crate::context::CommandContext;
use crate::doctor::finding::Finding;
use crate::doctor::repair::Repair;
use crate::failure::CommandError;
use crate::link::{Link, NEXT_VERSION, VERSION};
use crate::place::Place;
use skills_client::ClientError;
use skills_client::spawn::connect;

/// How long an answer may take here. A daemon that is well introduces itself in a millisecond.
const PATIENCE: Duration = Duration::from_secs(5);

/// A daemon that has introduced itself.
pub(super) struct Answering {
    pub(super) info: ServerInfo,
    link: Link,
}

/// Asks the daemon who it is.
pub(super) fn ask(location: &SocketLocation, findings: &mut Vec<Finding>) -> Option<Answering> {
    match connect(location, PATIENCE).and_then(introduced) {
        Ok(answering) => {
            let theirs = &answering.info.version;
            if theirs != VERSION {
                let message = format!("the daemon is skillsd {theirs}, this program {VERSION}");
                findings.push(Finding::warning("daemon-version", message, NEXT_VERSION));
            }
            let consent = location.consent_path();
            if UnixStream::connect(&consent).is_err() {
                let message = "the daemon does not listen where consent is given";
                let finding = Finding::warning("no-consent-socket", message, NEXT_VERSION);
                findings.push(finding.at(&consent));
            }
            Some(answering)
        }
        Err(error) => {
            findings.extend(why_not(location, &error));
            None
        }
    }
}

fn introduced(stream: UnixStream) -> Result<Answering, ClientError> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut link = Link::over(Box::new(stream))?;
    let info = link.server()?.server_info.clone();
    Ok(Answering { info, link })
}

fn why_not(location: &SocketLocation, error: &ClientError) -> Option<Finding> {
    let path = location.path();
    let hint = error.hint().unwrap_or_else(|| "Run `skillsd serve` to see why.".to_owned());
    let finding = match error {
        ClientError::NotRunning { .. } if path.symlink_metadata().is_err() => return None,
        ClientError::NotRunning { .. } if is_socket(path) => {
            let repair =
                Repair::RemoveSocket { socket: path.to_owned(), lock: location.daemon_lock() };
            let hint = "Nothing needs to be done: the next command takes its place.";
            let message = "nobody listens at the socket: the daemon was killed";
            Finding::warning("socket-stale", message, hint).with_repair(repair)
        }
        // What lies there instead has been named.
        ClientError::NotRunning { .. } => return None,
        ClientError::Connect { .. } if !is_socket(path) => return None,
        ClientError::ForeignPeer { .. } => {
            Finding::error("daemon-foreign", error.to_string(), hint)
        }
        ClientError::Version { .. } => Finding::error("protocol-version", error.to_string(), hint),
        ClientError::Silent { .. } => {
            let waited = PATIENCE.as_secs();
            let message = format!("the daemon accepts and has not answered for {waited} s");
            let hint = "Run `skillsd logs` to see what it does; `skillsd stop` ends it also when it hangs.";
            Finding::error("daemon-silent", message, hint)
        }
        ClientError::Connect { .. } => {
            Finding::error("socket-closed", "the socket does not let us in", hint)
        }
        _ => Finding::error("daemon-unclear", error.to_string(), hint),
    };
    Some(finding.at(path))
}

fn is_socket(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.symlink_metadata().is_ok_and(|found| found.file_type().is_socket())
}

/// Looks for more daemons than one: each holds the lock, and one whose directory was removed
/// holds a lock that nobody else sees.
pub(super) fn look_for_others(location: &SocketLocation, findings: &mut Vec<Finding>) {
    let holders = holders(&location.daemon_lock());
    if holders.len() < 2 {
        return;
    }
    let pids: Vec<_> = holders.iter().map(ToString::to_string).collect();
    let message = format!("{} daemons run for this socket: {}", pids.len(), pids.join(", "));
    let hint = "Those that cannot be reached end within seconds; `kill` one that stays, and run `skillsd status` to see which is reached.";
    findings.push(Finding::warning("daemons-many", message, hint).at(location.path()));
}

fn holders(lock: &Path) -> BTreeSet<u32> {
    let real = lock.parent().and_then(|dir| dir.canonicalize().ok());
    let real = real.zip(lock.file_name()).map(|(dir, name)| dir.join(name));
    let is_lock = |target: &Path| {
        let bytes = target.as_os_str().as_bytes();
        // What the kernel writes behind the name of a removed file.
        let bytes = bytes.strip_suffix(b" (deleted)").unwrap_or(bytes);
        let is = |path: &Path| path.as_os_str().as_bytes() == bytes;
        is(lock) || real.as_deref().is_some_and(is)
    };
    let holds = |process: &PathBuf| {
        // Those of others cannot be read, and are none of ours.
        let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        files.filter_map(|file| fs::read_link(file.path()).ok()).any(|target| is_lock(&target))
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten().map(|it| it.path());
    let pid = |process: PathBuf| process.file_name()?.to_str()?.parse().ok();
    let us = std::process::id();
    processes.filter(holds).filter_map(pid).filter(|pid| *pid != us).collect()
}

/// Asks a server, the daemon or one within this process, for what is unwell where it looks, and
/// for what is trusted there.
pub(super) fn look_from_inside(
    cx: &CommandContext<'_>,
    answering: Option<&mut Answering>,
    findings: &mut Vec<Finding>,
) -> Result<Option<TrustGetResult>, CommandError> {
    let place = Place::of(cx.global, None)?;
    let mut local;
    let link = if let Some(answering) = answering {
        &mut answering.link
    } else {
        local = Link::local(cx.binary.local)?;
        &mut local
    };
    let looked = look_with(link, &place, findings).and_then(|()| trust(link, &place));
    Ok(match looked {
        Ok(trust) => Some(trust),
        Err(error) => {
            let hint = error.hint().unwrap_or_else(|| "Run `skillsd logs` to see why.".to_owned());
            let message = format!("what it sees could not be asked: {error}");
            findings.push(Finding::error("daemon-unclear", message, hint));
            None
        }
    })
}

fn trust(link: &mut Link, place: &Place) -> Result<TrustGetResult, ClientError> {
    let mut place = place.clone();
    if place.wants_several_profiles() {
        place.profile = None;
    }
    let mut params = TrustGetParams { waiting: Some(true), ..TrustGetParams::default() };
    place.fill(&mut params, None);
    link.call::<TrustGet>(&params)
}

fn look_with(
    link: &mut Link,
    place: &Place,
    findings: &mut Vec<Finding>,
) -> Result<(), ClientError> {
    let mut unwell: Vec<Health> = Vec::new();
    let mut add = |more: Vec<Health>| {
        for health in more {
            if !unwell.contains(&health) {
                unwell.push(health);
            }
        }
    };
    let mut unreadable = BTreeSet::new();
    let mut places = Vec::new();
    if place.profile.is_none() || place.wants_several_profiles() {
        // Without a profile it is the worktree's own configuration that is asked.
        let mut unnamed = place.clone();
        unnamed.profile = None;
        places.push(unnamed);
        let profiles = place.several(&link.server()?.capabilities.profiles);
        places.extend(profiles.iter().map(|profile| place.with_profile(profile)));
    } else {
        places.push(place.clone());
    }
    for place in places {
        let mut params = ExplainParams::default();
        place.fill(&mut params, None);
        let result = link.call::<SkillsExplain>(&params)?;
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
    let status = link.call::<ServerStatus>(&StatusParams {})?;
    add(status.health);
    status.worktrees.into_iter().for_each(|worktree| add(worktree.health));
    findings.extend(unwell.iter().map(Finding::of_health));
    Ok(())
}

fn root_finding(
    root: String,
    path_encoding: Option<skills_protocol::path::PathEncoding>,
    reason: Option<String>,
) -> Finding {
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    Finding::of_health(&Health {
        code: "root-unreadable".to_owned(),
        message: format!("skills are looked for in a directory that cannot be read{reason}"),
        hint: Some("Give yourself access to it, or remove it.".to_owned()),
        path: Some(root),
        path_encoding,
    })
}
