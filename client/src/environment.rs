//! Environment of a client: socket location, discovery variables and base directories.
//!
//! Reads variables, the user id and the owner of one directory, and decides nothing. The rules are
//! in the protocol: [`skills_protocol::socket::choose`] and [`skills_protocol::env::DISCOVERY`].

use std::env;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use skills_protocol::bounds::ENVIRONMENT_VALUE_BYTES;
use skills_protocol::env::{
    DISCOVERY, HOME, PATH, SKILLSD_SOCKET, XDG_CACHE_HOME, XDG_CONFIG_HOME, XDG_RUNTIME_DIR,
    XDG_STATE_HOME,
};
use skills_protocol::socket::{self, SocketEnvironment, SocketError, SocketLocation};

/// Returns the socket location for this user and this environment.
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

/// Returns the variables that discovery and the choice of the profile depend on, without those that
/// are unset, and without values that the daemon refuses for their length: a whole configuration in
/// a variable must not make every call fail.
pub fn discovery() -> Vec<(&'static str, OsString)> {
    DISCOVERY.iter().chain([&PATH]).filter_map(|name| Some((*name, value(name)?))).collect()
}

/// Returns the value of a variable; `None` if it is unset, or longer than the daemon accepts.
pub fn value(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|it| it.len() <= ENVIRONMENT_VALUE_BYTES)
}

/// Returns the path of the user's configuration file, which may not exist; `None` without a home.
pub fn config_file() -> Option<PathBuf> {
    let base = base(env::var_os(XDG_CONFIG_HOME), env::var_os(HOME), ".config")?;
    Some(base.join("skillsd/config.toml"))
}

/// Returns the directory of the daemon's state and logs; `None` without a home.
pub fn state_directory() -> Option<PathBuf> {
    let base = base(env::var_os(XDG_STATE_HOME), env::var_os(HOME), ".local/state")?;
    Some(base.join("skillsd"))
}

/// Returns the directory of cached data that can be fetched again; `None` without a home.
pub fn cache_directory() -> Option<PathBuf> {
    let base = base(env::var_os(XDG_CACHE_HOME), env::var_os(HOME), ".cache")?;
    Some(base.join("skillsd"))
}

// The XDG specification requires to ignore relative paths in its variables.
fn base(xdg: Option<OsString>, home: Option<OsString>, below_home: &str) -> Option<PathBuf> {
    let absolute = |it: OsString| Some(PathBuf::from(it)).filter(|it| it.is_absolute());
    xdg.and_then(absolute).or_else(|| Some(home.and_then(absolute)?.join(below_home)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(xdg: Option<&str>, home: Option<&str>, expected: Option<&str>) {
        let found = base(xdg.map(Into::into), home.map(Into::into), ".local/state");
        assert_eq!(found, expected.map(PathBuf::from));
    }

    #[test]
    fn xdg_base_directory_falls_back_to_home() {
        check(Some("/state"), Some("/home/u"), Some("/state"));
        check(None, Some("/home/u"), Some("/home/u/.local/state"));
        check(Some("relative"), Some("/home/u"), Some("/home/u/.local/state"));
        check(Some(""), Some(""), None);
        check(None, None, None);
    }
}
