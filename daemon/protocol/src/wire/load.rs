//! Types of `skills/load` and `skills/run`.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::null::null_is_default;
use crate::path::PathEncoding;
use crate::wire::Health;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;

/// Format of a loaded skill. A profile's name selects its agent's format; a result has the format's
/// own word.
pub type LoadFormat = String;

word_enum! {
    /// Origin of a request for a skill.
    By {
        /// The model, through its tool.
        Model = "model",
        /// The user, by the skill's name.
        User = "user",
    }
}

word_enum! {
    /// Treatment of commands in a body.
    Shell {
        /// Returned in `commands`, for the caller to run under its own rules.
        List = "list",
        /// Replaced by a sentence.
        None = "none",
        /// Run by the daemon, if the configuration allows it and the skill is trusted.
        Execute = "execute",
    }
}

/// Output of a command in a body.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShellResult {
    /// The command's `id`.
    pub id: String,
    /// Text that replaces the command, usually its output.
    pub output: String,
}

skills_params! {
    /// The skill to load, by `name` or `path`, and its format.
    LoadParams {
        /// Name of the skill in the agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Its SKILL.md or its directory, absolute.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The arguments as one string.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        args: Option<String>,
        /// Origin of the request; the model if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<By>,
        /// Format of the output; the profile's own format if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<LoadFormat>,
        /// Treatment of commands in the body; `list` if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shell: Option<Shell>,
        /// Outputs of the commands of an earlier response.
        #[serde(default, deserialize_with = "null_is_default")]
        #[serde(skip_serializing_if = "Vec::is_empty")]
        shell_results: Vec<ShellResult>,
        /// The current model. If it has the suffix `[1m]`, a model that the skill selects gets the
        /// suffix too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Reasoning effort of the current model, for `${CLAUDE_EFFORT}`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effort: Option<String>,
        /// The user's options for the skill's plugin, for `${user_config.X}`.
        #[serde(default, deserialize_with = "null_is_default")]
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        user_config: BTreeMap<String, String>,
        /// True to wait for the user's approval if a rule requires it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait: Option<bool>,
    }
}

/// A loaded skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadResult {
    /// Clock of the view.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// Format of the output.
    pub format: LoadFormat,
    /// Short title for users.
    pub title: String,
    /// Text for the model.
    pub output: String,
    /// Settings for the agent to apply.
    pub metadata: LoadMetadata,
    /// Files that `output` names: absolute, or relative to the skill's directory.
    pub files: Vec<String>,
    /// Commands to run; call again with their outputs as `shellResults`.
    pub commands: Vec<ShellCommand>,
    /// Warnings about the skill, as sentences.
    pub warnings: Vec<String>,
    /// Hash of the file, `blake3:` and hexadecimal digits.
    pub hash: String,
}

/// A command in a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShellCommand {
    /// Id of the command, for `shellResults`.
    pub id: String,
    /// The command, with arguments substituted.
    pub command: String,
    /// The shell that it is written for.
    pub shell: String,
}

word_enum! {
    /// Place in which a skill runs.
    LoadStatus {
        /// In the current session.
        Inline = "inline",
        /// In a separate subagent.
        Forked = "forked",
    }
}

/// Settings that an agent applies for a loaded skill. Settings that the format's agent does not
/// have are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LoadMetadata {
    /// Name of the skill.
    pub name: String,
    /// Directory of the skill, absolute.
    pub dir: String,
    /// Encoding of `dir`; absent if it is plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Always true; part of Claude Code's results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// Place in which it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<LoadStatus>,
    /// The equivalent command, without `/`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_name: Option<String>,
    /// Tools that may be used without approval.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    /// Tools that are not available.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disallowed_tools: Vec<String>,
    /// The model to use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Reasoning effort of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// `fork`, if the skill requests it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Type of the subagent, if it runs in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Id of that subagent; different for each load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// True if that subagent runs in the background.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<bool>,
    /// Messages to the model, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompt_messages: Vec<PromptMessage>,
    /// Hooks to register, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Value>,
}

/// A message to the model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PromptMessage {
    /// Role of the author: `user`.
    pub role: String,
    /// Text of the message.
    pub content: String,
}

skills_params! {
    /// The script to run.
    RunParams {
        /// Name of the skill.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Its SKILL.md or its directory, absolute; an alternative to `name`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// Path of the script, relative to the skill's directory.
        relative: String,
        /// Arguments of the script.
        #[serde(default, deserialize_with = "null_is_default")]
        #[serde(skip_serializing_if = "Vec::is_empty")]
        args: Vec<String>,
        /// Time limit in milliseconds; at most the limit of the configuration.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
        /// True to wait for the user's approval if a rule requires it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait: Option<bool>,
    }
}

/// Result of a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunResult {
    /// Clock of the view.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// Exit code; null if a signal ended it.
    pub exit_code: Option<i32>,
    /// Standard output; invalid UTF-8 is replaced.
    pub stdout: String,
    /// Standard error; invalid UTF-8 is replaced.
    pub stderr: String,
    /// True if the output exceeds the limit and was shortened.
    pub truncated: bool,
}
