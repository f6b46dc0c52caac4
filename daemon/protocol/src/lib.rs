//! The contract between skillsd and everything that talks to it.
//!
//! Owns the names (methods, fields, error codes, environment variables, socket paths), the wire
//! types, and the framing codec. Server and client are both written against this crate, and the
//! protocol reference is generated from [`method::METHODS`].
//! It deliberately opens nothing: no socket, no file, no environment variable. What depends on the
//! machine is passed in.
//! Invariant: names are added, never repurposed; a field that a peer does not know is ignored.

pub mod bounds;
pub mod env;
pub mod error;
pub mod frame;
pub mod limits;
pub mod message;
pub mod method;
pub mod path;
pub mod socket;
pub mod wire;

#[cfg(test)]
mod shape;

/// The protocol's version, `major.minor`.
///
/// The major is also in the socket's file name; it changes when a name changes its meaning. The
/// minor grows with every addition, so that a client can tell whether a method may exist.
pub const PROTOCOL_VERSION: &str = "1.0";

/// The profile that applies when a call names none.
pub const DEFAULT_PROFILE: &str = "agentskills";

/// The names of the profiles that every daemon knows, the variants last. A user may have more.
pub const PROFILES: &[&str] = &[
    DEFAULT_PROFILE,
    "claude-code",
    "opencode",
    "opencode-agent-skills",
    "codex",
    "gemini-cli",
    "claude-code@founding",
    "opencode@founding",
];

/// Returns whether a client and a server with these protocol versions can work together.
///
/// They can when the majors are equal; a version that does not parse is never compatible.
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
