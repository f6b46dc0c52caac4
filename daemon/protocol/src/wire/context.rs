//! The parameters that every call about skills accepts: where, for whom, how fresh.
//!
//! [`skills_params!`] repeats them as fields of each parameter struct, which keeps serde's messages
//! precise (a flattened struct would not), and ties them together again as [`Context`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;

/// How current an answer has to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Freshness {
    /// The latest snapshot, at once.
    Cached,
    /// Everything that finished on the disk before the call is visible.
    #[default]
    Synced,
    /// As `synced`, after checking every known file against the disk.
    Verified,
}

/// Where a call happens and whose rules apply: the parameters common to all calls about skills.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    /// Where the agent works, absolute; the worktree is found from it.
    pub cwd: Option<String>,
    /// Whose rules apply, for example `claude-code`; `agentskills` when absent.
    pub profile: Option<String>,
    /// The agent conversation's id; its directory and profile are inherited.
    pub session: Option<String>,
    /// The agent's name inside the session.
    pub agent: Option<String>,
    /// How current the answer has to be; `synced` when absent.
    pub freshness: Option<Freshness>,
    /// Further directories whose skills count, absolute.
    pub additional_dirs: Vec<String>,
    /// The variables that discovery depends on; the connection's or the daemon's own when absent.
    pub environment: Option<BTreeMap<String, String>>,
    /// How the paths and the values of `environment` in these parameters are written.
    pub path_encoding: Option<PathEncoding>,
}

/// Parameters that contain a [`Context`].
pub trait Contextual {
    /// Moves the common parameters out, leaving them empty.
    fn take_context(&mut self) -> Context;
    /// Replaces the common parameters.
    fn set_context(&mut self, context: Context);
}

/// Declares a parameter struct that has the common parameters besides its own.
macro_rules! skills_params {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $ty,)*
            /// Where the agent works, absolute; the worktree is found from it.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub cwd: Option<String>,
            /// Whose rules apply, for example `claude-code`; `agentskills` when absent.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub profile: Option<String>,
            /// The agent conversation's id; its directory and profile are inherited.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub session: Option<String>,
            /// The agent's name inside the session.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub agent: Option<String>,
            /// How current the answer has to be; `synced` when absent.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub freshness: Option<crate::wire::Freshness>,
            /// Further directories whose skills count, absolute.
            #[serde(
                default,
                skip_serializing_if = "Vec::is_empty",
                deserialize_with = "crate::wire::null_is_default"
            )]
            pub additional_dirs: Vec<String>,
            /// The variables that discovery depends on; the connection's or the daemon's own when
            /// absent.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub environment: Option<std::collections::BTreeMap<String, String>>,
            /// How the paths and the values of `environment` in these parameters are written.
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
