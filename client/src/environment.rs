//! What a client reads from its own environment, in one place.
//!
//! Reads variables, the user's id and one directory's owner; decides nothing. The rules are the
//! protocol's: [`skills_protocol::socket::choose`] and [`skills_protocol::env::DISCOVERY`].

use std::env;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;

use skills_protocol::env::{DISCOVERY, SKILLSD_SOCKET, XDG_RUNTIME_DIR};
use skills_protocol::socket::{self, SocketEnvironment, SocketError, SocketLocation};

/// Returns where the daemon of this user and this environment listens.
pub fn socket_location() -> Result<SocketLocation, SocketError> {
    let uid = rustix::process::getuid().as_raw();
    let run_user = std::fs::symlink_metadata(socket::run_user(uid));
    socket::choose(&SocketEnvironment {
        skillsd_socket: env::var_os(SKILLSD_SOCKET),
        xdg_runtime_dir: env::var_os(XDG_RUNTIME_DIR),
        uid,
        run_user_is_ours: run_user.is_ok_and(|found| found.is_dir() && found.uid() == uid),
    })
}

/// Returns the variables that discovery depends on, those that are set.
pub fn discovery() -> Vec<(&'static str, OsString)> {
    DISCOVERY.iter().filter_map(|name| Some((*name, env::var_os(name)?))).collect()
}
