//! Types of `session/*`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::null::null_is_default;
use crate::path::PathEncoding;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;
use crate::wire::{Entry, Health};

skills_params! {
    /// The session to open: `session`, or a new one if absent.
    SessionOpenParams {
        /// True to count files that are written below the session's directory as touched, whichever
        /// program writes them, except in directories that git ignores. Skills of a worktree are
        /// activated this way only if the user trusts it. A later call may not include them for a
        /// moment after the write, whatever its freshness. Unchanged if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        auto: Option<bool>,
    }
}

skills_params! {
    /// The session to return: `session`.
    SessionGetParams {}
}

skills_params! {
    /// The session to close: `session`.
    SessionCloseParams {}
}

/// `session/list` takes no parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionListParams {}

word_enum! {
    /// Operation on a file.
    TouchOp {
        /// Read.
        Read = "read",
        /// Written or removed.
        Write = "write",
        /// Searched, or found by a search.
        Search = "search",
        /// Named in a command that was run.
        Exec = "exec",
    }
}

skills_params! {
    /// The files that `session` has touched. Opens the session in `cwd` if it does not exist.
    SessionTouchParams {
        /// Files or directories, absolute; they may no longer exist.
        #[serde(default, deserialize_with = "null_is_default")]
        paths: Vec<String>,
        /// Operation on the files. It is accepted and has no effect yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        op: Option<TouchOp>,
        /// True for an agent that searches no nested directories itself: adds the directories and
        /// the activation of `agentskills`, under the agent's own settings and trust. Its list does
        /// not change.
        #[serde(default, deserialize_with = "null_is_default")]
        extended: bool,
    }
}

skills_params! {
    /// The agent whose loaded skills to return: `agent` in `session`; the main agent without
    /// `agent`.
    SessionInvokedParams {}
}

skills_params! {
    /// The agent whose chat was shortened: `agent` in `session`.
    SessionCompactedParams {}
}

skills_params! {
    /// The session whose agent gets the news: `session`, which must be open. Its own directory
    /// counts, not `cwd`. `profile` is the agent's, if that of the session differs.
    SessionNewsParams {
        /// True if the agent has just read its skills: the current list is the one that it knows.
        #[serde(default, deserialize_with = "null_is_default")]
        restart: bool,
    }
}

skills_params! {
    /// The agent inside `session` that has ended: `agent`.
    SessionAgentEndParams {}
}

/// A session with its stored state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionResult {
    /// Clock of the session's view.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// Id of the session.
    pub session: String,
    /// True if this call created it.
    pub is_new: bool,
    /// Directory in which it was opened, absolute.
    pub cwd: String,
    /// Additional directories whose skills are included, absolute.
    #[serde(default)]
    pub additional_dirs: Vec<String>,
    /// Skill directories discovered by touching files, the deepest first. At most 64 are kept;
    /// beyond that the one not touched for the longest time is dropped, and discovered again by the
    /// next touch near it.
    #[serde(default)]
    pub discovered: Vec<String>,
    /// Encoding of the paths in this object; absent if they are plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Profile whose rules apply.
    pub profile: String,
    /// True if changed files count as touched.
    pub auto: bool,
    /// Time of creation, in milliseconds since 1970.
    pub created: u64,
    /// Time of the last use, in milliseconds since 1970, accurate to a minute.
    pub used: u64,
    /// Skills activated by touching files.
    #[serde(default)]
    pub activated: Vec<SessionSkill>,
    /// Skills announced to each agent.
    #[serde(default)]
    pub announced: Vec<AgentSkills>,
    /// Skills loaded by each agent.
    #[serde(default)]
    pub invoked: Vec<AgentSkills>,
}

/// An activated skill and the match that activated it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSkill {
    /// Its SKILL.md, absolute.
    pub path: String,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// The match that activated it.
    pub matched: Matched,
}

/// A pattern, and the file that it matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Matched {
    /// The pattern as written in the skill.
    pub pattern: String,
    /// The file, absolute.
    pub path: String,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
}

/// Skills of one agent in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentSkills {
    /// Name of the agent; null for the main agent.
    pub agent: Option<String>,
    /// The SKILL.md of each skill, absolute, in the order in which they were added.
    pub paths: Vec<String>,
    /// Encoding of `paths`; absent if all are plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
}

/// Result of closing a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionCloseResult {
    /// Id of the session.
    pub session: String,
    /// True if the session existed.
    pub closed: bool,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// The stored sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionListResult {
    /// The sessions, the most recently used first.
    pub sessions: Vec<SessionSummary>,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// Summary of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    /// Id of the session.
    pub session: String,
    /// Directory in which it was opened, absolute.
    pub cwd: String,
    /// Encoding of `cwd`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Profile whose rules apply.
    pub profile: String,
    /// True if changed files count as touched.
    pub auto: bool,
    /// Time of creation, in milliseconds since 1970.
    pub created: u64,
    /// Time of the last use, in milliseconds since 1970, accurate to a minute.
    pub used: u64,
    /// Number of activated skills.
    pub activated: u64,
    /// Number of discovered skill directories.
    pub discovered: u64,
    /// Number of skills loaded by its agents.
    pub invoked: u64,
}

/// Result of a touch, with the additions to the session only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionTouchResult {
    /// Clock of the session's view after the touch.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// Id of the session.
    pub session: String,
    /// Skills activated by this touch.
    pub activated: Vec<ActivatedSkill>,
    /// Skill directories discovered by this touch, the deepest first.
    pub discovered: Vec<Discovered>,
    /// Paths that were left out, with the reason for each; the others count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedPath>,
}

/// A path that a touch has left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefusedPath {
    /// The path as sent.
    pub path: String,
    /// The reason.
    pub message: String,
}

/// An activated skill and the match that activated it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivatedSkill {
    /// The skill as in a list; its fields are part of this object.
    #[serde(flatten)]
    pub skill: Entry,
    /// The match that activated it.
    pub matched: Matched,
}

/// A discovered skill directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Discovered {
    /// The directory, absolute.
    pub dir: String,
    /// Encoding of `dir`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Its skills that the model sees now, or will see after a file is touched.
    pub skills: Vec<Entry>,
}

/// A skill loaded by a model, with the text it received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvokedSkill {
    /// Name by which it was loaded.
    pub name: String,
    /// Its SKILL.md, absolute.
    pub path: String,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Arguments with which it was loaded; null if there were none.
    pub args: Option<String>,
    /// Text that the model received.
    pub body: String,
    /// True if `body` is shortened to the part that is returned again.
    pub truncated: bool,
    /// Time of loading, in milliseconds since 1970.
    pub at: u64,
}

/// Skills loaded by an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionInvokedResult {
    /// Clock of the session's view.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// Id of the session.
    pub session: String,
    /// Name of the agent; null for the main agent.
    pub agent: Option<String>,
    /// The skills, the most recently loaded last. A skill loaded twice is listed once.
    pub skills: Vec<InvokedSkill>,
}

/// Skills to return to an agent after its chat was shortened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionCompactedResult {
    /// Clock of the session's view.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// Id of the session.
    pub session: String,
    /// Name of the agent; null for the main agent.
    pub agent: Option<String>,
    /// Skills to pass to the agent again, the most recently loaded last.
    pub skills: Vec<InvokedSkill>,
    /// Names of the skills that no longer count as loaded.
    pub forgotten: Vec<String>,
    /// True if the skill listing should be passed to the agent again.
    pub list_again: bool,
}

/// Changes of an agent's list of skills since the session's last call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionNewsResult {
    /// Clock of the agent's list.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// Id of the session.
    pub session: String,
    /// Added skills, at most 50.
    pub added: Vec<Entry>,
    /// Skills whose file, place or description changed, at most 50.
    pub changed: Vec<Entry>,
    /// Names of the skills that are no longer in the list, at most 50.
    pub removed: Vec<String>,
    /// Number of changes that the lists leave out.
    pub more: u64,
}

/// Result of ending an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionAgentEndResult {
    /// Id of the session.
    pub session: String,
    /// Name of the agent; null for the main agent.
    pub agent: Option<String>,
    /// Names of the skills that the agent had loaded.
    pub forgotten: Vec<String>,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activated_skill_flattens_its_entry() {
        let text = r#"{"name":"pdf","description":null,"path":"/w/pdf/SKILL.md","dir":"/w/pdf",
            "scope":"nested","root":"/w","state":"activated","reason":null,"paths":["*.pdf"],
            "label":null,"namespace":null,"modelInvocable":true,"userInvocable":true,
            "trusted":false,"hash":null,"diagnostics":{"error":0,"warning":0},"stale":false,
            "matched":{"pattern":"*.pdf","path":"/w/a.pdf"}}"#;
        let skill: ActivatedSkill = serde_json::from_str(text).expect("complete");
        assert_eq!((&*skill.skill.name, &*skill.matched.pattern), ("pdf", "*.pdf"));
        let written = serde_json::to_value(&skill).expect("plain");
        assert_eq!(written["matched"]["path"], "/w/a.pdf");
        assert_eq!(written["name"], "pdf");
    }

    #[test]
    fn touch_paths_may_be_null() {
        let params: SessionTouchParams =
            serde_json::from_str(r#"{"paths":null,"op":"search"}"#).expect("fits");
        assert_eq!((params.paths.len(), params.op), (0, Some(TouchOp::Search)));
    }
}
