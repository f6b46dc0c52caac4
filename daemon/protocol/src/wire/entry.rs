//! A skill in a list, in the form that every result uses.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;

/// A skill as the profile's agent reads it, with its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "independent facts with names of their own")]
pub struct Entry {
    /// Name as the agent reads it; for an `invalid` skill as skillsd reads it, or else the
    /// directory's name.
    pub name: String,
    /// Description as the agent reads it; null if none, or if `require_trust` is set and the skill
    /// is not trusted. Its `paths` and `namespace` are empty then.
    pub description: Option<String>,
    /// The SKILL.md, absolute, as reached.
    pub path: String,
    /// Directory of the skill.
    pub dir: String,
    /// Encoding of `path`, `dir` and `root`; absent if they are plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Kind of source that the skill comes from.
    pub scope: Scope,
    /// The root that contains it.
    pub root: String,
    /// State of the skill.
    pub state: State,
    /// Reason for the state, a sentence with file, line and column if known; null for an active
    /// skill.
    pub reason: Option<String>,
    /// Glob patterns that make it conditional; empty if it has none.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Name that the agent displays instead of `name`, if it has one.
    pub label: Option<String>,
    /// Prefix that the agent puts before the name, if it has one.
    pub namespace: Option<String>,
    /// True if the model may invoke it. False for a skill built into the agent, whose text only the
    /// agent can provide; the `path` of such a skill starts with `builtin://`.
    pub model_invocable: bool,
    /// True if the user may invoke it.
    pub user_invocable: bool,
    /// True if the user trusts the worktree that contains it.
    pub trusted: bool,
    /// Hash of the file, `blake3:` and hexadecimal digits; null if it could not be read.
    pub hash: Option<String>,
    /// Number of findings about it.
    pub diagnostics: DiagnosticCounts,
    /// True if this is the last good version of a file that is currently broken.
    pub stale: bool,
}

impl Entry {
    /// Returns true if the skill is built into the profile's agent, which alone has its text.
    pub fn is_built_in(&self) -> bool {
        self.path.starts_with("builtin://")
    }
}

/// Number of findings about a skill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DiagnosticCounts {
    /// Findings that make an agent drop the skill or a part of it.
    pub error: u32,
    /// Findings that agents tolerate.
    pub warning: u32,
}

macro_rules! word_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$variant_meta])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// All values, in the order of the reference.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the word used on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

pub(crate) use word_enum;

word_enum! {
    /// Kind of source that a skill comes from.
    Scope {
        /// A directory managed by the machine's administrator.
        Managed = "managed",
        /// The user's home directory.
        User = "user",
        /// The worktree, in or above the working directory.
        Project = "project",
        /// The worktree, below the working directory.
        Nested = "nested",
        /// A directory added by the caller.
        Additional = "additional",
        /// A plugin of the agent.
        Plugin = "plugin",
        /// Built into the agent, or bundled with skillsd.
        Bundled = "bundled",
        /// A registry.
        Remote = "remote",
        /// A prompt of an MCP server.
        Mcp = "mcp",
        /// A command file.
        Command = "command",
    }
}

word_enum! {
    /// State of a skill in a view. If several apply, the first in this order counts: refused,
    /// invalid, ignored, shadowed, denied, hidden, untrusted, activated, conditional, active.
    State {
        /// Shown to the model.
        Active = "active",
        /// Has `paths`, and no touched file matches them yet.
        Conditional = "conditional",
        /// Has `paths`, and a file touched in this session matches them.
        Activated = "activated",
        /// Another skill with the same name wins.
        Shadowed = "shadowed",
        /// The agent drops it.
        Invalid = "invalid",
        /// Not shown to the model.
        Hidden = "hidden",
        /// Denied by a permission rule.
        Denied = "denied",
        /// The profile or the configuration requires trust, and the worktree is not trusted.
        Untrusted = "untrusted",
        /// Switched off by settings.
        Ignored = "ignored",
        /// A link to a file that must not be read.
        Refused = "refused",
    }
}

impl State {
    /// Returns true if a list without `include` contains it, because the model sees it.
    pub const fn is_listed(self) -> bool {
        matches!(self, Self::Active | Self::Activated)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn entry_serializes_with_the_protocols_names() {
        let entry = Entry {
            name: "commit".into(),
            description: Some("…".into()),
            path: "/w/.claude/skills/commit/SKILL.md".into(),
            dir: "/w/.claude/skills/commit".into(),
            path_encoding: None,
            scope: Scope::Project,
            root: "/w/.claude/skills".into(),
            state: State::Active,
            reason: None,
            paths: vec!["src/**/*.rs".into()],
            label: None,
            namespace: None,
            model_invocable: true,
            user_invocable: true,
            trusted: true,
            hash: Some("blake3:…".into()),
            diagnostics: DiagnosticCounts { error: 0, warning: 1 },
            stale: false,
        };
        let text = serde_json::to_string(&entry).expect("JSON");
        assert_eq!(serde_json::from_str::<Entry>(&text).expect("and back"), entry);
        expect![[r#"{"name":"commit","description":"…","path":"/w/.claude/skills/commit/SKILL.md","dir":"/w/.claude/skills/commit","scope":"project","root":"/w/.claude/skills","state":"active","reason":null,"paths":["src/**/*.rs"],"label":null,"namespace":null,"modelInvocable":true,"userInvocable":true,"trusted":true,"hash":"blake3:…","diagnostics":{"error":0,"warning":1},"stale":false}"#]].assert_eq(&text);
    }

    #[test]
    fn state_and_scope_words_are_equal_in_text_and_json() {
        for state in State::ALL {
            let json = serde_json::to_string(state).expect("JSON");
            assert_eq!(json, format!("\"{state}\""));
        }
        for scope in Scope::ALL {
            let json = serde_json::to_string(scope).expect("JSON");
            assert_eq!(json, format!("\"{scope}\""));
        }
    }
}
