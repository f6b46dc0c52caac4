//! Types of `initialize`, `server/*` and `$/cancelRequest`.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::null::null_is_default;
use crate::limits::Limits;
use crate::message::RequestId;
use crate::path::PathEncoding;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;
use crate::wire::{Health, Scope, Worktree};

/// Information about the client.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InitializeParams {
    /// Name and version of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_info: Option<ClientInfo>,
    /// Protocol version that the client was written for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// Capabilities of the client; none are defined yet.
    #[serde(deserialize_with = "null_is_default")]
    pub capabilities: Map<String, Value>,
    /// Variables that discovery depends on, for all later calls on this connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<BTreeMap<String, String>>,
    /// Encoding of the values of `environment`; absent if they are plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
}

/// Name and version of a client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientInfo {
    /// Name of the program.
    pub name: String,
    /// Version of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// Information about the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    /// Name and version of the server.
    pub server_info: ServerInfo,
    /// Protocol version of the server.
    pub protocol_version: String,
    /// Capabilities of the server.
    pub capabilities: ServerCapabilities,
    /// Limits that the server applies to its clients.
    pub limits: Limits,
    /// Id of this run of the daemon; clocks of another run are not comparable.
    pub boot_id: String,
}

/// Name and version of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerInfo {
    /// Always `skillsd`.
    pub name: String,
    /// Version of the program.
    pub version: String,
}

/// Capabilities of the server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServerCapabilities {
    /// Names of the supported methods.
    pub methods: Vec<String>,
    /// Names of the known profiles, the default first.
    pub profiles: Vec<String>,
}

/// `server/status` takes no parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusParams {}

/// State of the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusResult {
    /// Version of the program.
    pub version: String,
    /// Protocol version of the daemon.
    pub protocol_version: String,
    /// Process id.
    pub pid: u32,
    /// Time since the start, in whole seconds.
    pub uptime: u64,
    /// Resident memory in bytes; null if the system does not provide it.
    pub rss: Option<u64>,
    /// Number of watched directories.
    pub watches: Watches,
    /// Number of open connections, including this one.
    pub connections: u32,
    /// The open worktrees.
    pub worktrees: Vec<Worktree>,
    /// Number of rebuilds of each layer since the start, by cause.
    pub rebuilds: Rebuilds,
    /// State of the sources outside the agents' directories: bundled skills, registries, MCP
    /// servers.
    #[serde(default)]
    pub sources: Vec<SourceStatus>,
    /// Id of this run of the daemon.
    pub boot_id: String,
    /// Path of the socket; null if the server runs inside another process.
    pub socket: Option<String>,
    /// Encoding of `socket`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// The user's configuration; null if it has no location.
    #[serde(default)]
    pub config: Option<ConfigStatus>,
    /// Counts of agents' actions.
    #[serde(default)]
    pub actions: Actions,
    /// Counts of heavy calls.
    #[serde(default)]
    pub heavy_calls: HeavyCallCounts,
    /// Number of directories that the user trusts.
    #[serde(default)]
    pub trusted: u64,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// Counts of agents' actions since the daemon's start. They are never sent anywhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Actions {
    /// Skills loaded.
    pub invocations: u64,
    /// Skills loaded, by place of execution: `inline` or `fork`.
    pub contexts: BTreeMap<String, u64>,
    /// Skills loaded, by origin: `model`, `agent` (a model inside a named agent) or `user`.
    pub triggers: BTreeMap<String, u64>,
    /// Skills loaded by a name with a leading `/`.
    pub slash_prefixed: u64,
    /// Changes of lists, by cause: `discovered` and `activated` by a touch, `disk` for other
    /// changes.
    pub changes: BTreeMap<String, u64>,
    /// Descriptions shortened to fit the limit of a skill listing.
    pub descriptions_shortened: u64,
    /// Permission decisions, by result: `asked`, `once`, `always`, `reject`, `timeout`, and
    /// `denied` or `allowed` by a rule.
    pub permissions: BTreeMap<String, u64>,
    /// Skills with something that was not run or loaded because they are not trusted.
    pub untrusted: u64,
    /// Commands in bodies that were run.
    pub commands_run: u64,
    /// Scripts that were run.
    pub scripts_run: u64,
    /// Hooks registered.
    pub hooks_registered: u64,
    /// Hooks returned to agents to run.
    pub hooks_matched: u64,
}

/// Counts of heavy calls: checks, references, snapshots, prompt listings, pattern matches, first
/// searches, and reads of files for trust and hooks. At most two run at a time, for different
/// connections; the others wait, with connections taking turns. Calls on the consent socket wait
/// only for each other, and so do calls of `hooks/match`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HeavyCallCounts {
    /// Calls running now.
    pub running: u64,
    /// Calls waiting to run.
    pub waiting: u64,
    /// Calls started since the daemon's start.
    pub begun: u64,
    /// Calls that ended early because the client cancelled them or closed the connection.
    pub cancelled: u64,
}

/// A source of skills outside the agents' directories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceStatus {
    /// Scope of its skills in lists: `bundled`, `remote` or `mcp`.
    pub scope: Scope,
    /// URL of the registry, or name of the server in the configuration.
    pub name: String,
    /// State of the source.
    pub state: SourceState,
    /// Number of its skills.
    pub skills: u64,
    /// Description of the problem, or of a first fetch that still runs; null if none.
    pub message: Option<String>,
    /// Directory of its files, which may not exist; null if it has none.
    pub path: Option<String>,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
}

word_enum! {
    /// State of a source.
    SourceState {
        /// Not in use.
        Idle = "idle",
        /// Being started, or fetched for the first time.
        Starting = "starting",
        /// Available.
        Ready = "ready",
        /// Unavailable; its previous skills are used.
        Stale = "stale",
        /// Unavailable, and without previous skills.
        Failed = "failed",
    }
}

/// The user's configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigStatus {
    /// Its path; the file may not exist.
    pub path: String,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// State of the file.
    pub state: ConfigState,
}

/// State of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ConfigState {
    /// Missing; the defaults apply.
    Absent,
    /// Valid and applied.
    Good,
    /// Has errors, which are in `health`. The last valid version applies; for a file that was never
    /// valid, its correct parts.
    Broken,
}

/// Number of watched directories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watches {
    /// Watches of this daemon.
    pub used: u64,
    /// The system's limit for this user; null if it has none or does not provide it.
    pub limit: Option<u64>,
}

/// Number of rebuilds of each layer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rebuilds {
    /// Files parsed.
    pub files: LayerRebuilds,
    /// Roots scanned.
    pub roots: LayerRebuilds,
    /// Views computed.
    pub views: LayerRebuilds,
}

/// Number of rebuilds of one layer, by cause.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LayerRebuilds {
    /// Total number.
    pub count: u64,
    /// Number for each cause.
    pub causes: BTreeMap<String, u64>,
}

skills_params! {
    /// The directory to synchronise: the worktree of `cwd`, or everything without `cwd`.
    SyncParams {}
}

/// Result of a synchronisation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncResult {
    /// Clock after the synchronisation.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// `server/shutdown` takes no parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShutdownParams {}

/// The daemon that is stopping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShutdownResult {
    /// Process id.
    pub pid: u32,
    /// Id of the run that ends.
    pub boot_id: String,
}

/// The request to cancel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelParams {
    /// Id of the request, on the same connection.
    pub id: RequestId,
}
