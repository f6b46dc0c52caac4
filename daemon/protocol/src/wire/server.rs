//! The types of `initialize`, `server/*` and `$/cancelRequest`.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::limits::Limits;
use crate::message::RequestId;
use crate::path::PathEncoding;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;
use crate::wire::{Health, Scope, Worktree};

/// Who the client is and what it brings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InitializeParams {
    /// The client's name and version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_info: Option<ClientInfo>,
    /// The protocol version that the client was written for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// What the client can do; none are defined yet.
    #[serde(deserialize_with = "crate::wire::null_is_default")]
    pub capabilities: Map<String, Value>,
    /// The variables that discovery depends on, for every later call on this connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<BTreeMap<String, String>>,
    /// How the values of `environment` are written; absent when they are plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
}

/// A client's name and version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientInfo {
    /// The program's name.
    pub name: String,
    /// The program's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// Who the server is and what it offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    /// The server's name and version.
    pub server_info: ServerInfo,
    /// The protocol version that the server speaks.
    pub protocol_version: String,
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// The bounds that the server holds its clients to.
    pub limits: Limits,
    /// Names this run of the daemon; clocks of another one are not comparable.
    pub boot_id: String,
}

/// The server's name and version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerInfo {
    /// `skillsd`.
    pub name: String,
    /// The program's version.
    pub version: String,
}

/// What the server can do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServerCapabilities {
    /// The names of the methods that it answers.
    pub methods: Vec<String>,
    /// The names of the profiles that it knows, the default first.
    pub profiles: Vec<String>,
}

/// `server/status` takes no parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusParams {}

/// How the daemon is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusResult {
    /// The program's version.
    pub version: String,
    /// The protocol version that it speaks.
    pub protocol_version: String,
    /// The process's id.
    pub pid: u32,
    /// How long it has been running, in whole seconds.
    pub uptime: u64,
    /// Its resident memory in bytes; null where the system does not tell.
    pub rss: Option<u64>,
    /// How many directories it watches.
    pub watches: Watches,
    /// How many connections are open, this one included.
    pub connections: u32,
    /// The open worktrees.
    pub worktrees: Vec<Worktree>,
    /// How often each layer was rebuilt since the start, and why.
    pub rebuilds: Rebuilds,
    /// How what is found in no directory of an agent is: bundled skills, catalogs, MCP servers.
    #[serde(default)]
    pub sources: Vec<SourceStatus>,
    /// Names this run of the daemon.
    pub boot_id: String,
    /// The socket it listens on; null when it serves within another process.
    pub socket: Option<String>,
    /// How `socket` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// The user's configuration; null where there is no place for one.
    #[serde(default)]
    pub config: Option<ConfigStatus>,
    /// How often agents did what.
    #[serde(default)]
    pub actions: Actions,
    /// Counts of heavy calls.
    #[serde(default)]
    pub heavy_calls: HeavyCallCounts,
    /// How many directories the user trusts.
    #[serde(default)]
    pub trusted: u64,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// How often agents did what, since the daemon's start. Nothing of it leaves the machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Actions {
    /// Skills that were loaded.
    pub invocations: u64,
    /// Those, by where they run: `inline` or `fork`.
    pub contexts: BTreeMap<String, u64>,
    /// Those, by who started them: `model`, `agent` (a model inside a named agent) or `user`.
    pub triggers: BTreeMap<String, u64>,
    /// Names that came with a `/` before them.
    pub slash_prefixed: u64,
    /// Changes of lists, by cause: `discovered` and `activated` by a touch, `disk` by anything else.
    pub changes: BTreeMap<String, u64>,
    /// Descriptions that a catalog had no room for in full.
    pub descriptions_shortened: u64,
    /// Questions whether something may be done, by what came of them: `asked`, `once`, `always`,
    /// `reject`, `timeout`, and `denied` by a rule.
    pub permissions: BTreeMap<String, u64>,
    /// Skills from which something was not run or loaded because it is not trusted.
    pub untrusted: u64,
    /// Commands in bodies that were run.
    pub commands_run: u64,
    /// Scripts that were run.
    pub scripts_run: u64,
    /// Hooks that were registered.
    pub hooks_registered: u64,
    /// Hooks that were given to agents to run.
    pub hooks_matched: u64,
}

/// Counts of heavy calls: checks, references, snapshots, matches of patterns and
/// first searches. Two run at a time, of different connections; the others wait in turns by
/// connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HeavyCallCounts {
    /// Calls that run now.
    pub running: u64,
    /// Calls that wait for their turn.
    pub waiting: u64,
    /// Calls begun since the daemon's start.
    pub begun: u64,
    /// Calls whose client cancelled or hung up before their end.
    pub cancelled: u64,
}

/// A source of skills that is no directory of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceStatus {
    /// What its skills are called in lists: `bundled`, `remote` or `mcp`.
    pub scope: Scope,
    /// The catalog's address, or the server's name in the configuration.
    pub name: String,
    /// How it is.
    pub state: SourceState,
    /// How many skills it has.
    pub skills: u64,
    /// What is wrong; null where nothing is.
    pub message: Option<String>,
    /// Where its files are, or would be; null where it has none.
    pub path: Option<String>,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
}

word_enum! {
    /// How a source is.
    SourceState {
        /// Nobody needs it now.
        Idle = "idle",
        /// It is being started or fetched for the first time.
        Starting = "starting",
        /// It is well.
        Ready = "ready",
        /// It cannot be reached; what it had before is used.
        Stale = "stale",
        /// It cannot be reached, and nothing is there.
        Failed = "failed",
    }
}

/// The user's configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigStatus {
    /// Where it is, or would be.
    pub path: String,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Whether it counts.
    pub state: ConfigState,
}

/// Whether a configuration file counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ConfigState {
    /// There is none, and the defaults count.
    Absent,
    /// It counts as it is.
    Good,
    /// It has mistakes, which `health` names; what counted before does, or of a first file what is right in it.
    Broken,
}

/// How many directories are watched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watches {
    /// Watches in use by this daemon.
    pub used: u64,
    /// The system's limit for this user; null where it has none or does not tell.
    pub limit: Option<u64>,
}

/// How often each layer was rebuilt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rebuilds {
    /// Files parsed.
    pub files: LayerRebuilds,
    /// Roots scanned.
    pub roots: LayerRebuilds,
    /// Views resolved.
    pub views: LayerRebuilds,
}

/// How often one layer was rebuilt, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LayerRebuilds {
    /// How often in all.
    pub count: u64,
    /// How often for each cause.
    pub causes: BTreeMap<String, u64>,
}

skills_params! {
    /// What to wait for: the worktree of `cwd`, or everything when there is none.
    SyncParams {}
}

/// The point in time that is now visible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncResult {
    /// The clock after the sync.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// `server/shutdown` takes no parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShutdownParams {}

/// Which daemon is stopping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShutdownResult {
    /// The process's id.
    pub pid: u32,
    /// The run that ends.
    pub boot_id: String,
}

/// Which request to cancel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelParams {
    /// The request's id, on the same connection.
    pub id: RequestId,
}
