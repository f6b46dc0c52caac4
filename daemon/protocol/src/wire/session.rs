//! The types of `session/*`: what one agent conversation has touched, found and loaded.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;
use crate::wire::{Entry, Health};

skills_params! {
    /// Which conversation to open: `session`, or a new one where that is absent.
    SessionOpenParams {
        /// Whether files that are written in watched directories below its directory count as
        /// touched, whoever writes them. What comes with a worktree activates that way only where
        /// the user trusts it. Stays as it is when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        auto: Option<bool>,
    }
}

skills_params! {
    /// Which conversation to tell about: `session`.
    SessionGetParams {}
}

skills_params! {
    /// Which conversation has ended: `session`.
    SessionCloseParams {}
}

/// `session/list` takes no parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionListParams {}

word_enum! {
    /// What was done with a file.
    TouchOp {
        /// It was read.
        Read = "read",
        /// It was written, or removed.
        Write = "write",
        /// It was searched, or found.
        Search = "search",
        /// It was named in a command that was run.
        Exec = "exec",
    }
}

skills_params! {
    /// Which files `session` has touched. A session that is not known is opened, in `cwd`.
    SessionTouchParams {
        /// The files or directories, absolute; they need not be there any more.
        #[serde(default, deserialize_with = "crate::wire::null_is_default")]
        paths: Vec<String>,
        /// What was done with them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        op: Option<TouchOp>,
    }
}

skills_params! {
    /// Whose loaded skills to give: those of `agent` in `session`; without `agent`, of the main one.
    SessionInvokedParams {}
}

skills_params! {
    /// Whose conversation was shortened: that of `agent` in `session`.
    SessionCompactedParams {}
}

skills_params! {
    /// Which agent inside `session` has ended: `agent`.
    SessionAgentEndParams {}
}

/// A conversation and all that is kept of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionResult {
    /// The clock of what the conversation sees.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// Its id.
    pub session: String,
    /// Whether this call made it.
    pub is_new: bool,
    /// The directory it began in, absolute.
    pub cwd: String,
    /// Directories whose skills count as well, absolute.
    #[serde(default)]
    pub additional_dirs: Vec<String>,
    /// Skill directories that were found by touching files, the deepest first. At most 64: of more,
    /// the one that nothing was touched near for longest goes, and is found again by the next touch
    /// near it.
    #[serde(default)]
    pub discovered: Vec<String>,
    /// How the paths beside this are written; absent when they are plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Whose rules apply.
    pub profile: String,
    /// Whether files that change count as touched.
    pub auto: bool,
    /// When it was made, in milliseconds since 1970.
    pub created: u64,
    /// When it was last used, likewise; within a minute.
    pub used: u64,
    /// The skills that touching files has activated.
    #[serde(default)]
    pub activated: Vec<SessionSkill>,
    /// What each agent has been told there is.
    #[serde(default)]
    pub announced: Vec<AgentSkills>,
    /// What each agent has loaded.
    #[serde(default)]
    pub invoked: Vec<AgentSkills>,
}

/// A skill that was activated, and by what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSkill {
    /// Its SKILL.md, absolute.
    pub path: String,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// What activated it.
    pub matched: Matched,
}

/// A pattern, and the file that it matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Matched {
    /// The pattern as the skill has it.
    pub pattern: String,
    /// The file, absolute.
    pub path: String,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
}

/// Skills of one agent inside a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentSkills {
    /// The agent's name; null for the main one.
    pub agent: Option<String>,
    /// Each SKILL.md, absolute, in the order in which it came.
    pub paths: Vec<String>,
    /// How `paths` are written; absent when all are plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
}

/// What became of a conversation that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionCloseResult {
    /// Its id.
    pub session: String,
    /// Whether there was one.
    pub closed: bool,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// The conversations that are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionListResult {
    /// The one used last is first.
    pub sessions: Vec<SessionSummary>,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// A conversation in a few words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    /// Its id.
    pub session: String,
    /// The directory it began in, absolute.
    pub cwd: String,
    /// How `cwd` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Whose rules apply.
    pub profile: String,
    /// Whether files that change count as touched.
    pub auto: bool,
    /// When it was made, in milliseconds since 1970.
    pub created: u64,
    /// When it was last used, likewise; within a minute.
    pub used: u64,
    /// How many skills were activated.
    pub activated: u64,
    /// How many skill directories were found.
    pub discovered: u64,
    /// How many skills its agents have loaded.
    pub invoked: u64,
}

/// What touching files brought: only what is new to the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionTouchResult {
    /// The clock of what the conversation sees now.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The session's id.
    pub session: String,
    /// The skills that are activated now and were not before.
    pub activated: Vec<ActivatedSkill>,
    /// The skill directories that were found now, the deepest first.
    pub discovered: Vec<Discovered>,
}

/// A skill that was activated, and by what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivatedSkill {
    /// The skill as a list shows it; its fields stand beside these.
    #[serde(flatten)]
    pub skill: Entry,
    /// What activated it.
    pub matched: Matched,
}

/// A skill directory that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Discovered {
    /// The directory, absolute.
    pub dir: String,
    /// How `dir` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Its skills that the agent shows its model now, or will when a file is touched.
    pub skills: Vec<Entry>,
}

/// A skill that a model has loaded, with what it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvokedSkill {
    /// The name it was loaded by.
    pub name: String,
    /// Its SKILL.md, absolute.
    pub path: String,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// The arguments it was loaded with; null when there were none.
    pub args: Option<String>,
    /// What the model was given.
    pub body: String,
    /// Whether `body` was cut to what is given again.
    pub truncated: bool,
    /// When it was loaded, in milliseconds since 1970.
    pub at: u64,
}

/// What an agent has loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionInvokedResult {
    /// The clock of what the conversation sees.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The session's id.
    pub session: String,
    /// The agent; null for the main one.
    pub agent: Option<String>,
    /// The skills, the one loaded last at the end. One that was loaded twice stands here once.
    pub skills: Vec<InvokedSkill>,
}

/// What an agent needs after its conversation was shortened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionCompactedResult {
    /// The clock of what the conversation sees.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The session's id.
    pub session: String,
    /// The agent; null for the main one.
    pub agent: Option<String>,
    /// The skills to give it again, the one loaded last at the end.
    pub skills: Vec<InvokedSkill>,
    /// The names of those that count as not loaded any more.
    pub forgotten: Vec<String>,
    /// Whether the list of skills is to be given to it again.
    pub list_again: bool,
}

/// What was kept for an agent that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionAgentEndResult {
    /// The session's id.
    pub session: String,
    /// The agent; null for the main one.
    pub agent: Option<String>,
    /// The names of the skills that it had loaded.
    pub forgotten: Vec<String>,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_stands_beside_what_activated_it() {
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
    fn paths_may_be_null_and_ops_are_words() {
        let params: SessionTouchParams =
            serde_json::from_str(r#"{"paths":null,"op":"search"}"#).expect("fits");
        assert_eq!((params.paths.len(), params.op), (0, Some(TouchOp::Search)));
    }
}
