//! A skill in a list: the one shape that every answer uses for it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;

/// A skill as the profile's agent reads it, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "independent facts with names of their own")]
pub struct Entry {
    /// The name as the agent reads it; for an `invalid` skill our own reading, at worst the
    /// directory's name.
    pub name: String,
    /// The description as the agent reads it; null when there is none.
    pub description: Option<String>,
    /// The SKILL.md, absolute, as reached.
    pub path: String,
    /// The skill's directory.
    pub dir: String,
    /// How `path`, `dir` and `root` are written; absent when they are plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// What kind of place it comes from.
    pub scope: Scope,
    /// The root under which it was found.
    pub root: String,
    /// What became of it.
    pub state: State,
    /// Why it is in that state, a sentence with file, line and column where there are any; null
    /// for an active skill.
    pub reason: Option<String>,
    /// The glob patterns that make it conditional; empty when it has none.
    #[serde(default)]
    pub paths: Vec<String>,
    /// The name that the agent shows in place of `name`, where it has one.
    pub label: Option<String>,
    /// The namespace that the agent puts before the name, where it has one.
    pub namespace: Option<String>,
    /// Whether the model may invoke it. Not so for what is built into the agent, which is the
    /// agent's alone to hand out: its `path` begins with `builtin://`.
    pub model_invocable: bool,
    /// Whether the user may invoke it.
    pub user_invocable: bool,
    /// Whether the user trusts the worktree that it comes from.
    pub trusted: bool,
    /// The file's content, `blake3:` and hexadecimal digits; null when it could not be read.
    pub hash: Option<String>,
    /// How many findings there are about it.
    pub diagnostics: DiagnosticCounts,
    /// Whether this is the last good version of a file that is broken right now.
    pub stale: bool,
}

impl Entry {
    /// Returns whether it is built into the profile's agent, which alone has its text.
    pub fn is_built_in(&self) -> bool {
        self.path.starts_with("builtin://")
    }
}

/// How many findings there are about a skill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DiagnosticCounts {
    /// Findings for which an agent drops the skill or a part of it.
    pub error: u32,
    /// Findings that an agent passes over.
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
            /// Every value, in the order of the reference.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the word on the wire.
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
    /// What kind of place a skill comes from.
    Scope {
        /// Set by the machine's administrator.
        Managed = "managed",
        /// The user's home.
        User = "user",
        /// The worktree, at or above the working directory.
        Project = "project",
        /// The worktree, below the working directory.
        Nested = "nested",
        /// A directory that the caller added.
        Additional = "additional",
        /// A plugin of the agent.
        Plugin = "plugin",
        /// Part of the agent.
        Bundled = "bundled",
        /// A remote source.
        Remote = "remote",
        /// A prompt of an MCP server.
        Mcp = "mcp",
        /// A command file.
        Command = "command",
    }
}

word_enum! {
    /// The state of a skill in a view. If several apply, the first in this order counts: refused,
    /// invalid, ignored, shadowed, denied, hidden, untrusted, activated, conditional, active.
    State {
        /// The model sees it.
        Active = "active",
        /// It has `paths`, none of which was touched yet.
        Conditional = "conditional",
        /// One of its `paths` was touched in this session.
        Activated = "activated",
        /// Another skill of the same name wins.
        Shadowed = "shadowed",
        /// The agent would drop it.
        Invalid = "invalid",
        /// Not for the model.
        Hidden = "hidden",
        /// A permission rule denies it.
        Denied = "denied",
        /// The profile or the configuration demands trust, and the worktree has none.
        Untrusted = "untrusted",
        /// Switched off by settings.
        Ignored = "ignored",
        /// A link leads to a file that must not be read.
        Refused = "refused",
    }
}

impl State {
    /// Returns whether a default list shows it: the model of the profile's agent sees it.
    pub const fn is_listed(self) -> bool {
        matches!(self, Self::Active | Self::Activated)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn an_entry_has_the_names_of_the_protocol() {
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
    fn words_are_the_same_in_text_and_json() {
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
