//! Conversion of single values to the wire: paths, hashes, states, scopes, severities, health.

use std::fmt::Write;
use std::path::Path;

use skills_agents::profile;
use skills_discovery::discover::{SkillState, address_of};
use skills_engine::Health;
use skills_protocol::path::{PathEncoding, encode, encode_os, encoding_of};
use skills_protocol::wire;
use skills_syntax::diagnostic::Severity;
use skills_syntax::path::AbsPath;

/// Returns a path as text, or the address (`mcp://…`) of an entry that is not a file.
pub(crate) fn path(path: &AbsPath, encoding: Option<PathEncoding>) -> String {
    address_of(path).unwrap_or_else(|| encode(path, encoding))
}

pub(crate) fn hash(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(7 + 2 * bytes.len());
    text.push_str("blake3:");
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

pub(crate) fn state(state: SkillState) -> wire::State {
    match state {
        SkillState::Active => wire::State::Active,
        SkillState::Conditional => wire::State::Conditional,
        SkillState::Activated => wire::State::Activated,
        SkillState::Shadowed => wire::State::Shadowed,
        SkillState::Invalid => wire::State::Invalid,
        SkillState::Refused => wire::State::Refused,
        SkillState::Hidden => wire::State::Hidden,
        SkillState::Denied => wire::State::Denied,
        SkillState::Untrusted => wire::State::Untrusted,
        SkillState::Ignored => wire::State::Ignored,
    }
}

pub(super) fn scope(scope: profile::Scope) -> wire::Scope {
    match scope {
        profile::Scope::Managed => wire::Scope::Managed,
        profile::Scope::User => wire::Scope::User,
        profile::Scope::Project => wire::Scope::Project,
        profile::Scope::Nested => wire::Scope::Nested,
        profile::Scope::Additional => wire::Scope::Additional,
        profile::Scope::Bundled => wire::Scope::Bundled,
        profile::Scope::Remote => wire::Scope::Remote,
        profile::Scope::Mcp => wire::Scope::Mcp,
        profile::Scope::Plugin => wire::Scope::Plugin,
        profile::Scope::Command => wire::Scope::Command,
    }
}

pub(super) fn severity(severity: Severity) -> wire::Severity {
    match severity {
        Severity::Error => wire::Severity::Error,
        Severity::Warning => wire::Severity::Warning,
        Severity::Information => wire::Severity::Info,
        Severity::Hint => wire::Severity::Hint,
    }
}

pub(crate) fn health(health: &[Health]) -> Vec<wire::Health> {
    let convert = |it: &Health| {
        let path = it.path.as_deref();
        let encoding = encoding_of(path.map(Path::new));
        wire::Health {
            code: it.code.to_owned(),
            message: it.message.clone(),
            hint: (!it.hint.is_empty()).then(|| it.hint.to_owned()),
            path: path.map(|path| encode_os(path, encoding)),
            path_encoding: encoding,
        }
    };
    health.iter().map(convert).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_has_an_algorithm_prefix_and_is_hexadecimal() {
        assert_eq!(hash(&[0x0f, 0xa0]), "blake3:0fa0");
    }
}
