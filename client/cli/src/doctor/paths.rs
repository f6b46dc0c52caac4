//! Checks of the socket, its directory, and the directory of state and logs.
//!
//! The rules for a safe directory are in [`directory`], which also refuses unsafe ones; this module
//! turns its errors into findings.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use skills_client::directory::{self, DirectoryError};
use skills_client::environment::state_directory;
use skills_protocol::socket::{SocketLocation, SocketSource};
use skills_syntax::quote::quote_word;
use skills_syntax::text::join_and;

use crate::doctor::finding::DoctorProblem;
use crate::doctor::repair::{DoctorRepair, SET_ASIDE};

pub(super) fn check_socket(location: &SocketLocation, findings: &mut Vec<DoctorProblem>) {
    if location.source() == SocketSource::Tmp {
        let message = "there is no runtime directory, so the socket is in `/tmp`";
        let hint = "Set XDG_RUNTIME_DIR, or SKILLSD_SOCKET to a path in a directory that you own.";
        findings.push(DoctorProblem::warning("no-runtime-directory", message, hint));
    }
    match fs::symlink_metadata(location.directory()) {
        // The first command that needs the directory creates it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            findings.extend(existing_parent(location.directory()).and_then(unwritable));
            return;
        }
        Ok(found) if found.is_dir() => findings.extend(unwritable(location.directory())),
        Ok(_) | Err(_) => {}
    }
    if let Err(error) = directory::verify(location) {
        findings.push(directory_finding(location, &error));
    }
    check_socket_file(location.path(), findings);
    check_socket_file(&location.consent_path(), findings);
}

/// Returns the directory that exists nearest above a path.
fn existing_parent(path: &Path) -> Option<&Path> {
    path.ancestors().skip(1).find(|it| it.exists())
}

/// Returns whether no file can be created in a directory.
fn is_unwritable(dir: &Path) -> bool {
    use rustix::fs::{Access, access};
    let us = rustix::process::getuid().as_raw();
    // The check of access always succeeds for root.
    let is_closed = |it: fs::Metadata| it.uid() == us && it.mode() & 0o300 != 0o300 && it.is_dir();
    access(dir, Access::WRITE_OK | Access::EXEC_OK).is_err()
        || fs::metadata(dir).is_ok_and(is_closed)
}

/// Reports a directory of the socket in which no file can be created.
fn unwritable(dir: &Path) -> Option<DoctorProblem> {
    let message = "the socket's directory is not writable, so no daemon can be started";
    let hint = format!(
        "Run `chmod u+rwx {}`, or set SKILLSD_SOCKET to a path in a directory that you own.",
        quote_word(&dir.display().to_string())
    );
    let finding = || DoctorProblem::error("directory-unwritable", message, hint).at(dir);
    is_unwritable(dir).then(finding)
}

fn directory_finding(location: &SocketLocation, error: &DirectoryError) -> DoctorProblem {
    let (code, path) = match error {
        DirectoryError::Make { path, .. } | DirectoryError::Examine { path, .. } => {
            ("directory-unreadable", path)
        }
        DirectoryError::NotADirectory { path } => ("directory-not-one", path),
        DirectoryError::ForeignOwner { path, .. } => ("directory-foreign", path),
        DirectoryError::OpenToOthers { path, .. } => ("directory-open", path),
    };
    let hint =
        error.hint().unwrap_or_else(|| "Change its permissions so that you can use it.".to_owned());
    let finding = DoctorProblem::error(code, error.to_string(), hint);
    let is_open = matches!(error, DirectoryError::OpenToOthers { .. });
    // Not for the parent directory, which others may use, and not for a directory that the user
    // chose.
    if is_open && path == location.directory() && location.source() != SocketSource::Variable {
        return finding.with_repair(DoctorRepair::Close { path: path.clone() });
    }
    finding
}

fn check_socket_file(path: &Path, findings: &mut Vec<DoctorProblem>) {
    let Ok(found) = fs::symlink_metadata(path) else { return };
    let us = rustix::process::getuid().as_raw();
    if !found.file_type().is_socket() {
        let message = "the file at the socket's path is not a socket";
        let hint = format!("Move `{}` away.", path.display());
        findings.push(DoctorProblem::error("socket-not-one", message, hint).at(path));
    } else if found.uid() != us {
        let message = format!("the socket belongs to user {}, not to you", found.uid());
        let hint = "Set SKILLSD_SOCKET to a path in a directory that you own.";
        findings.push(DoctorProblem::error("socket-foreign", message, hint).at(path));
    } else if found.mode() & 0o077 != 0 {
        let message = format!("the socket has mode {:04o}", found.mode() & 0o7777);
        let hint = format!("Run `chmod go-rwx {}`.", quote_word(&path.display().to_string()));
        let repair = DoctorRepair::Close { path: path.to_owned() };
        findings.push(
            DoctorProblem::warning("socket-open", message, hint).at(path).with_repair(repair),
        );
    }
}

pub(super) fn check_state_directory(findings: &mut Vec<DoctorProblem>) {
    let Some(path) = state_directory() else {
        let message = "there is no state directory: neither XDG_STATE_HOME nor HOME is set";
        let hint = "Set HOME.";
        return findings.push(DoctorProblem::warning("no-state-directory", message, hint));
    };
    // The first daemon that logs creates the directory.
    let Ok(found) = fs::symlink_metadata(&path) else {
        let parent = existing_parent(&path).filter(|it| is_unwritable(it));
        let message = "the state directory cannot be created, so there is no log";
        return findings.extend(parent.map(|it| state_unwritable(it, message).at(it)));
    };
    findings.extend(state_finding(&path, &found).map(|it| it.at(&path)));
    findings.extend(damaged_stores(&path));
}

/// Returns a finding for each damaged session store that the daemon has set aside. A store consists
/// of up to three files, with those of SQLite.
fn damaged_stores(state: &Path) -> Vec<DoctorProblem> {
    let mut stores: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in fs::read_dir(state).into_iter().flatten().flatten().map(|it| it.path()) {
        let Some(name) = path.file_name().and_then(OsStr::to_str) else { continue };
        if name.contains(SET_ASIDE) {
            let store = ["-wal", "-shm"].iter().find_map(|it| name.strip_suffix(it));
            stores.entry(store.unwrap_or(name).to_owned()).or_default().push(path);
        }
    }
    let finding = |mut paths: Vec<PathBuf>| {
        // The database file sorts first, if it exists.
        paths.sort();
        let message = "the session store was damaged and set aside";
        let with_name: Vec<_> = paths.iter().map(|it| format!("`{}`", it.display())).collect();
        let them = if paths.len() == 1 { "it" } else { "them" };
        let hint = format!("Remove {} if you do not need {them}.", join_and(&with_name));
        let finding = DoctorProblem::warning("store-aside", message, hint).at(&paths[0]);
        finding.with_repair(DoctorRepair::RemoveAside { paths })
    };
    stores.into_values().map(finding).collect()
}

fn state_finding(path: &Path, found: &fs::Metadata) -> Option<DoctorProblem> {
    let us = rustix::process::getuid().as_raw();
    let shown = path.display();
    if fs::metadata(path).is_ok_and(|it| !it.is_dir()) {
        let hint = format!("Move `{shown}` away.");
        return Some(DoctorProblem::warning(
            "state-not-one",
            "the state directory's path is not a directory",
            hint,
        ));
    }
    if found.uid() != us {
        let message = format!("the state directory belongs to user {}, not to you", found.uid());
        let hint = "Set XDG_STATE_HOME to a directory that you own.";
        return Some(DoctorProblem::warning("state-foreign", message, hint));
    }
    if is_unwritable(path) {
        let message = "the state directory is not writable, so there is no log";
        return Some(state_unwritable(path, message));
    }
    if found.mode() & 0o077 != 0 && !found.file_type().is_symlink() {
        let message = format!("the state directory has mode {:04o}", found.mode() & 0o7777);
        let repair = DoctorRepair::Close { path: path.to_owned() };
        let hint = format!("Run `chmod go-rwx {}`.", quote_word(&path.display().to_string()));
        return Some(DoctorProblem::warning("state-open", message, hint).with_repair(repair));
    }
    None
}

fn state_unwritable(dir: &Path, message: &str) -> DoctorProblem {
    let hint = format!(
        "Run `chmod u+rwx {}`, or set XDG_STATE_HOME to a directory that you own.",
        quote_word(&dir.display().to_string())
    );
    DoctorProblem::warning("state-unwritable", message, hint)
}
