//! The places: the socket and its directory, and the directory of state and logs.
//!
//! What is unsafe is judged where it is refused, in [`directory`]; here it gets its name.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use skills_protocol::socket::{SocketLocation, SocketSource};

use crate::doctor::finding::Finding;
use crate::doctor::repair::{Repair, SET_ASIDE};
use crate::text::series;
use skills_client::directory::{self, DirectoryError};
use skills_client::environment::state_directory;

/// Looks at the socket and its directory.
pub(super) fn look(location: &SocketLocation, findings: &mut Vec<Finding>) {
    if location.source() == SocketSource::Tmp {
        let message = "there is no runtime directory, and the socket is in `/tmp`";
        let hint = "Set XDG_RUNTIME_DIR, or SKILLSD_SOCKET to a path in a directory of yours.";
        findings.push(Finding::warning("no-runtime-directory", message, hint));
    }
    match fs::symlink_metadata(location.directory()) {
        // Made by the first command that needs it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Ok(_) | Err(_) => {}
    }
    if let Err(error) = directory::verify(location) {
        findings.push(directory_finding(location, &error));
    }
    look_at_socket(location.path(), findings);
    look_at_socket(&location.consent_path(), findings);
}

fn directory_finding(location: &SocketLocation, error: &DirectoryError) -> Finding {
    let (code, path) = match error {
        DirectoryError::Make { path, .. } | DirectoryError::Examine { path, .. } => {
            ("directory-unreadable", path)
        }
        DirectoryError::NotADirectory { path } => ("directory-not-one", path),
        DirectoryError::ForeignOwner { path, .. } => ("directory-foreign", path),
        DirectoryError::OpenToOthers { path, .. } => ("directory-open", path),
    };
    let hint = error.hint().unwrap_or_else(|| "Give yourself access to it.".to_owned());
    let finding = Finding::error(code, error.to_string(), hint);
    let is_open = matches!(error, DirectoryError::OpenToOthers { .. });
    // Not its parent, which others may have reason to use; and none that the user chose.
    if is_open && path == location.directory() && location.source() != SocketSource::Variable {
        return finding.with_repair(Repair::Close { path: path.clone() });
    }
    finding
}

fn look_at_socket(path: &Path, findings: &mut Vec<Finding>) {
    let Ok(found) = fs::symlink_metadata(path) else { return };
    let us = rustix::process::getuid().as_raw();
    if !found.file_type().is_socket() {
        let message = "what lies in the place of the socket is none";
        let hint = format!("Move `{}` away.", path.display());
        findings.push(Finding::error("socket-not-one", message, hint).at(path));
    } else if found.uid() != us {
        let message = format!("the socket belongs to user {}, not to you", found.uid());
        let hint = "Set SKILLSD_SOCKET to a path in a directory of yours.";
        findings.push(Finding::error("socket-foreign", message, hint).at(path));
    } else if found.mode() & 0o077 != 0 {
        let message = format!("the socket has mode {:04o}", found.mode() & 0o7777);
        let hint = format!("Run `chmod go-rwx {}`.", path.display());
        let repair = Repair::Close { path: path.to_owned() };
        findings.push(Finding::warning("socket-open", message, hint).at(path).with_repair(repair));
    }
}

/// Looks at the directory of state and logs.
pub(super) fn look_at_state(findings: &mut Vec<Finding>) {
    let Some(path) = state_directory() else {
        let message = "neither XDG_STATE_HOME nor HOME says where the log belongs";
        let hint = "Set HOME.";
        return findings.push(Finding::warning("no-state-directory", message, hint));
    };
    // Made by the first daemon that logs.
    let Ok(found) = fs::symlink_metadata(&path) else { return };
    findings.extend(state_finding(&path, &found).map(|it| it.at(&path)));
    findings.extend(set_aside(&path));
}

/// Returns a finding for each store of sessions that was damaged and set aside: with what SQLite had
/// put beside it, it may be three files.
fn set_aside(state: &Path) -> Vec<Finding> {
    let mut stores: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in fs::read_dir(state).into_iter().flatten().flatten().map(|it| it.path()) {
        let Some(name) = path.file_name().and_then(OsStr::to_str) else { continue };
        if name.contains(SET_ASIDE) {
            let store = ["-wal", "-shm"].iter().find_map(|it| name.strip_suffix(it));
            stores.entry(store.unwrap_or(name).to_owned()).or_default().push(path);
        }
    }
    let finding = |mut paths: Vec<PathBuf>| {
        // The store itself is the first, where it is there.
        paths.sort();
        let message = "what sessions had done was damaged and set aside";
        let named: Vec<_> = paths.iter().map(|it| format!("`{}`", it.display())).collect();
        let them = if paths.len() == 1 { "it" } else { "them" };
        let hint = format!("Remove {} when you do not need {them}.", series(&named));
        let finding = Finding::warning("store-aside", message, hint).at(&paths[0]);
        finding.with_repair(Repair::RemoveAside { paths })
    };
    stores.into_values().map(finding).collect()
}

fn state_finding(path: &Path, found: &fs::Metadata) -> Option<Finding> {
    let us = rustix::process::getuid().as_raw();
    let shown = path.display();
    if fs::metadata(path).is_ok_and(|it| !it.is_dir()) {
        let hint = format!("Move `{shown}` away.");
        return Some(Finding::warning("state-not-one", "the state directory is none", hint));
    }
    if found.uid() != us {
        let message = format!("the state directory belongs to user {}, not to you", found.uid());
        let hint = "Set XDG_STATE_HOME to a directory of yours.";
        return Some(Finding::warning("state-foreign", message, hint));
    }
    if found.mode() & 0o300 != 0o300 {
        let hint = format!("Run `chmod u+rwx {shown}`.");
        let message = "the state directory cannot be written to, and so there is no log";
        return Some(Finding::warning("state-unwritable", message, hint));
    }
    if found.mode() & 0o077 != 0 && !found.file_type().is_symlink() {
        let message = format!("the state directory has mode {:04o}", found.mode() & 0o7777);
        let repair = Repair::Close { path: path.to_owned() };
        let hint = format!("Run `chmod go-rwx {shown}`.");
        return Some(Finding::warning("state-open", message, hint).with_repair(repair));
    }
    None
}
