//! The protocol between skillsd and its clients.
//!
//! Defines the names (methods, fields, error codes, environment variables, socket paths), the wire
//! types and the framing codec. Server and client both use this crate, and the protocol reference
//! is generated from [`method::METHODS`]. It opens no socket or file and reads no environment
//! variable; values that depend on the machine are passed in. Invariant: names are added, never
//! reused with another meaning; a client ignores fields that it does not know, and the server
//! refuses parameters that it does not know.

pub mod bounds;
pub mod env;
pub mod error;
pub mod frame;
pub mod limits;
pub mod message;
pub mod method;
pub mod own_directory;
mod params;
pub mod path;
mod profiles;
mod shape;
pub mod socket;
pub mod wire;

pub use profiles::PROFILES;

/// Version of the protocol, `major.minor`.
///
/// The major is part of the socket's file name and changes when a name changes its meaning. The
/// minor grows with every addition, so that a client can tell whether a method exists.
pub const PROTOCOL_VERSION: &str = "1.0";

/// Profile of a call that names none.
pub const DEFAULT_PROFILE: &str = "agentskills";

/// The profiles that are compared with `--profile all`, besides those of the agents that are
/// present and the user's own.
pub const WIDELY_USED: [&str; 6] =
    [DEFAULT_PROFILE, "claude-code", "opencode", "opencode-agent-skills", "codex", "gemini-cli"];

/// Returns the directories of a built-in profile's own skills.
pub fn own_directory(profile: &str) -> Option<&'static own_directory::OwnDirectory> {
    let mut all = profiles::OWN_DIRECTORIES.iter();
    all.find(|it| it.0 == profile).map(|it| &it.1)
}

/// Returns true if a client and a server with these protocol versions can work together.
///
/// They can if the majors are equal; a version that does not parse is never compatible.
pub fn compatible(ours: &str, theirs: &str) -> bool {
    match (major(ours), major(theirs)) {
        (Some(ours), Some(theirs)) => ours == theirs,
        _ => false,
    }
}

fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compatible_when_the_majors_agree() {
        assert!(compatible("1.0", "1.7"));
        assert!(!compatible("1.0", "2.0"));
        assert!(!compatible("1.0", ""));
        assert!(!compatible("x", "x"));
    }
}
