//! The types of `skills/load` and `skills/run`.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::path::PathEncoding;
use crate::wire::Health;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;

word_enum! {
    /// How a loaded skill is written.
    LoadFormat {
        /// As opencode's skill tool gives it; by the user, as its slash commands do.
        Opencode = "opencode",
        /// The same with `file://` URLs, as the founding documents describe it.
        OpencodeFounding = "opencode@founding",
        /// As Claude Code gives it: arguments and variables put in, commands found.
        Claude = "claude",
        /// The same with `${ARG1}`-style arguments, as the founding documents describe it.
        ClaudeFounding = "claude@founding",
        /// As the open standard's client guide describes it.
        AgentSkills = "agentskills",
        /// As Codex gives a skill that is named explicitly: the whole file.
        Codex = "codex",
        /// As Gemini CLI activates it, with the tree of the directory.
        Gemini = "gemini",
        /// As the plugin opencode-agent-skills gives it.
        Plugin = "plugin",
        /// The body as it stands in the file.
        Raw = "raw",
    }
}

word_enum! {
    /// Who asks for a skill.
    By {
        /// The model, through its tool.
        Model = "model",
        /// The user, by its name.
        User = "user",
    }
}

word_enum! {
    /// What becomes of commands in a body.
    Shell {
        /// They are given back in `commands`, for the caller to run under its own rules.
        List = "list",
        /// A sentence stands in their place.
        None = "none",
        /// The daemon runs them, where the configuration allows it and the skill is trusted.
        Execute = "execute",
    }
}

/// What a command in a body gave.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShellResult {
    /// The command's `id`.
    pub id: String,
    /// What stands in its place: most often its output.
    pub output: String,
}

skills_params! {
    /// Which skill to load, and how: one of `name` and `path`.
    LoadParams {
        /// The skill's name, as the agent knows it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Its SKILL.md or its directory, absolute.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The arguments, one raw text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        args: Option<String>,
        /// Who asks; the model when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<By>,
        /// How it is written; as the profile's agent does when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<LoadFormat>,
        /// What becomes of commands in the body; `list` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shell: Option<Shell>,
        /// What the commands of an earlier answer gave.
        #[serde(
            default,
            skip_serializing_if = "Vec::is_empty",
            deserialize_with = "crate::wire::null_is_default"
        )]
        shell_results: Vec<ShellResult>,
        /// The model in use; one that the skill asks for in its place keeps its `[1m]`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// How much the model in use thinks, for `${CLAUDE_EFFORT}`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effort: Option<String>,
        /// What the user has set for the skill's plugin, for `${user_config.X}`.
        #[serde(
            default,
            skip_serializing_if = "BTreeMap::is_empty",
            deserialize_with = "crate::wire::null_is_default"
        )]
        user_config: BTreeMap<String, String>,
        /// Whether to wait for the user's answer where a rule wants one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait: Option<bool>,
    }
}

/// A loaded skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadResult {
    /// The view's clock.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// How it is written.
    pub format: LoadFormat,
    /// A few words for a person.
    pub title: String,
    /// What the model reads.
    pub output: String,
    /// What to apply besides.
    pub metadata: LoadMetadata,
    /// The files that `output` names: absolute, or beneath the skill's directory.
    pub files: Vec<String>,
    /// The commands to run; call again with what they gave as `shellResults`.
    pub commands: Vec<ShellCommand>,
    /// What is odd about the skill, as sentences.
    pub warnings: Vec<String>,
    /// The file's content, `blake3:` and hexadecimal digits.
    pub hash: String,
}

/// A command in a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShellCommand {
    /// Names it in `shellResults`.
    pub id: String,
    /// The command, with the arguments put in.
    pub command: String,
    /// The shell that it is written for.
    pub shell: String,
}

word_enum! {
    /// Where a skill runs.
    LoadStatus {
        /// In the conversation.
        Inline = "inline",
        /// In a subagent of its own.
        Forked = "forked",
    }
}

/// What an agent applies for a loaded skill. What the format's agent does not know is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LoadMetadata {
    /// The skill's name.
    pub name: String,
    /// Its directory, absolute.
    pub dir: String,
    /// How `dir` is written; absent when it is plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// True; Claude Code's results have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// Where it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<LoadStatus>,
    /// The command that stands for it, without `/`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_name: Option<String>,
    /// Tools that may be used without asking.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    /// Tools that are taken away.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disallowed_tools: Vec<String>,
    /// The model to use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How much it thinks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// `fork`, where the skill asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The type of subagent, where it runs in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Names that subagent; another one for each load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Whether that subagent runs in the background.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<bool>,
    /// What is said to the model, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompt_messages: Vec<PromptMessage>,
    /// The hooks to register, as they are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Value>,
}

/// A message to the model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PromptMessage {
    /// Who says it: `user`.
    pub role: String,
    /// What is said.
    pub content: String,
}

skills_params! {
    /// Which script of a skill to run.
    RunParams {
        /// The skill's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Its SKILL.md or its directory, absolute, in place of the name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The script's path beneath the skill's directory.
        relative: String,
        /// Its arguments, one by one.
        #[serde(
            default,
            skip_serializing_if = "Vec::is_empty",
            deserialize_with = "crate::wire::null_is_default"
        )]
        args: Vec<String>,
        /// How long it may take, in milliseconds; at most what the configuration allows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
        /// Whether to wait for the user's answer where a rule wants one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait: Option<bool>,
    }
}

/// What a script gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunResult {
    /// The view's clock.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// What it exited with; null when a signal ended it.
    pub exit_code: Option<i32>,
    /// What it printed; bytes that are not UTF-8 are replaced.
    pub stdout: String,
    /// What it complained about, in the same way.
    pub stderr: String,
    /// Whether it printed more than is kept.
    pub truncated: bool,
}
