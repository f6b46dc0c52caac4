//! Parameters common to all calls about skills: working directory, profile, session and freshness.
//!
//! [`skills_params!`] repeats them as fields of each parameter struct, because serde's messages for
//! flattened structs are imprecise, and converts them to a [`Context`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;

/// Required freshness of a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Freshness {
    /// The latest snapshot, without waiting.
    Cached,
    /// Includes every change on the disk that finished before the call.
    #[default]
    Synced,
    /// As `synced`, after comparing every known file with the disk.
    Verified,
}

/// Parameters common to all calls about skills.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    /// Working directory of the agent, absolute; determines the worktree.
    pub cwd: Option<String>,
    /// Profile whose rules apply, for example `claude-code`; if absent, the one that
    /// `profiles/detect` returns.
    pub profile: Option<String>,
    /// Id of the agent's session; its directory and profile are inherited.
    pub session: Option<String>,
    /// Name of the agent inside the session.
    pub agent: Option<String>,
    /// Required freshness; `synced` if absent.
    pub freshness: Option<Freshness>,
    /// Additional directories whose skills are included, absolute.
    pub additional_dirs: Vec<String>,
    /// Variables that discovery depends on; the connection's or the daemon's own if absent.
    pub environment: Option<BTreeMap<String, String>>,
    /// Encoding of the paths and of the values of `environment` in these parameters.
    pub path_encoding: Option<PathEncoding>,
}

/// Parameters that contain a [`Context`].
pub trait Contextual {
    /// Moves the common parameters out and leaves them empty.
    fn take_context(&mut self) -> Context;
    /// Replaces the common parameters.
    fn set_context(&mut self, context: Context);
}

/// Declares a parameter struct with the common parameters and its own.
macro_rules! skills_params {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $ty,)*
            /// Working directory of the agent, absolute; determines the worktree.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub cwd: Option<String>,
            /// Profile whose rules apply, for example `claude-code`; if absent, the one that
            /// `profiles/detect` returns.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub profile: Option<String>,
            /// Id of the agent's session; its directory and profile are inherited.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub session: Option<String>,
            /// Name of the agent inside the session.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub agent: Option<String>,
            /// Required freshness; `synced` if absent.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub freshness: Option<crate::wire::Freshness>,
            /// Additional directories whose skills are included, absolute.
            #[serde(default, deserialize_with = "crate::wire::null::null_is_default")]
            #[serde(skip_serializing_if = "Vec::is_empty")]
            pub additional_dirs: Vec<String>,
            /// Variables that discovery depends on; the connection's or the daemon's own if absent.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub environment: Option<std::collections::BTreeMap<String, String>>,
            /// Encoding of the paths and of the values of `environment` in these parameters.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub path_encoding: Option<crate::path::PathEncoding>,
        }

        impl crate::wire::Contextual for $name {
            fn take_context(&mut self) -> crate::wire::Context {
                crate::wire::Context {
                    cwd: self.cwd.take(),
                    profile: self.profile.take(),
                    session: self.session.take(),
                    agent: self.agent.take(),
                    freshness: self.freshness.take(),
                    additional_dirs: std::mem::take(&mut self.additional_dirs),
                    environment: self.environment.take(),
                    path_encoding: self.path_encoding,
                }
            }

            fn set_context(&mut self, context: crate::wire::Context) {
                self.cwd = context.cwd;
                self.profile = context.profile;
                self.session = context.session;
                self.agent = context.agent;
                self.freshness = context.freshness;
                self.additional_dirs = context.additional_dirs;
                self.environment = context.environment;
                self.path_encoding = context.path_encoding;
            }
        }
    };
}

pub(crate) use skills_params;
