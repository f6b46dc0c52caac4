//! The types of `catalog/render` and `catalog/tool`.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wire::Health;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;
use crate::wire::load::LoadFormat;

word_enum! {
    /// How a catalog is written; a profile's name is its agent's own way.
    CatalogFormat {
        /// Tags, indented, all values escaped: the open standard's.
        Xml = "xml",
        /// A list in Markdown.
        Markdown = "markdown",
        /// One line for each skill, within a hundredth of the context: Claude Code's.
        Claude = "claude",
        /// The same as the founding documents describe it, between `<system-reminder>` tags.
        ClaudeFounding = "claude@founding",
        /// A table of roots and short paths, within two hundredths of the context: Codex's.
        Codex = "codex",
        /// Gemini CLI's part of the system prompt.
        Gemini = "gemini",
        /// That of the plugin opencode-agent-skills.
        Plugin = "plugin",
        /// That of the open standard's reference tool.
        SkillsRef = "skills-ref",
        /// A JSON array of names, descriptions and locations.
        Json = "json",
        /// opencode's part of the system prompt.
        Opencode = "opencode",
        /// The same with `file://` URLs, as the founding documents describe it.
        OpencodeFounding = "opencode@founding",
        /// As `xml`.
        AgentSkills = "agentskills",
        /// As `claude`.
        ClaudeCode = "claude-code",
        /// As `claude@founding`.
        ClaudeCodeFounding = "claude-code@founding",
        /// As `gemini`.
        GeminiCli = "gemini-cli",
        /// As `plugin`.
        OpencodeAgentSkills = "opencode-agent-skills",
    }
}

skills_params! {
    /// What catalog to write.
    CatalogParams {
        /// How it is written; as the profile's agent does when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<CatalogFormat>,
        /// The model's context in tokens, of which some agents give their catalog a part.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_tokens: Option<u64>,
        /// The room in characters, in place of the agent's own rule.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget_chars: Option<u64>,
        /// Whether only skills are named that this session's agent has not been told of. A session
        /// that is not there is opened. Whatever is rendered for a session is told then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only_new: Option<bool>,
        /// Which skills are named: those in whose name or description this expression is found, in
        /// which `*` is anything; all when absent. With the format `plugin` the text is what that
        /// plugin answers a search with, also for an empty one: each skill with where it is from
        /// and its scripts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        query: Option<String>,
        /// Whether the agent's own sentence stands in place of an empty text, where it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        empty_text: Option<bool>,
    }
}

/// A catalog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogResult {
    /// The view's clock.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// What goes into the prompt; empty when there are no skills.
    pub text: String,
    /// How many skills it names.
    pub count: u64,
    /// How many there are to name, told before or not.
    pub skill_count: u64,
    /// Whether none of them was told before.
    pub is_initial: bool,
    /// How many descriptions are not whole for want of room.
    pub shortened: u64,
    /// How many skills are not named for want of room.
    pub omitted: u64,
    /// How many tokens `text` has, roughly: a quarter of its bytes.
    pub tokens: u64,
}

skills_params! {
    /// Whose tool to describe.
    ToolParams {
        /// Whose way; that of the profile's agent when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        style: Option<LoadFormat>,
        /// The model's context in tokens, of which some agents give the list a part.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_tokens: Option<u64>,
        /// The room for the list in characters, in place of the agent's own rule.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget_chars: Option<u64>,
    }
}

/// The tool that loads a skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The view's clock.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The tool; null when there are no skills.
    pub tool: Option<SkillTool>,
}

/// A tool as model providers take it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillTool {
    /// The name that the agent gives it.
    pub name: String,
    /// What the model is told about it.
    pub description: String,
    /// The JSON Schema of its parameters; the skills' names are an enum in it.
    pub input_schema: Value,
}
