//! Types of `catalog/render`, `catalog/budget` and `catalog/tool`.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::path::PathEncoding;
use crate::wire::Health;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;
use crate::wire::load::LoadFormat;

/// Format of a skill listing. A profile's name selects its agent's format.
pub type CatalogFormat = String;

skills_params! {
    /// The listing to render.
    CatalogParams {
        /// Format of the listing; the profile's own format if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<CatalogFormat>,
        /// The model's context window in tokens; some agents limit their listing to a share of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_tokens: Option<u64>,
        /// Limit of the listing in characters; replaces the agent's own limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget_chars: Option<u64>,
        /// True to include only skills not yet announced to this session's agent. Opens the session
        /// if it does not exist. Every skill rendered for a session counts as announced.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only_new: Option<bool>,
        /// Includes only skills whose name or description contains this expression, in which `*`
        /// matches any text; all skills if absent. With the format `plugin` the text is that
        /// plugin's answer to a search, also for an empty query: each skill with its source and its
        /// scripts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        query: Option<String>,
        /// True to return the agent's own sentence instead of an empty text, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        empty_text: Option<bool>,
    }
}

/// A rendered skill listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogResult {
    /// Clock of the view.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// Text for the prompt; empty if there are no skills.
    pub text: String,
    /// Number of skills in the text.
    pub count: u64,
    /// Number of skills that could be listed, announced before or not.
    pub skill_count: u64,
    /// True if none of the skills was announced before.
    pub is_initial: bool,
    /// Number of descriptions shortened to fit the limit.
    pub shortened: u64,
    /// Number of skills omitted to fit the limit.
    pub omitted: u64,
    /// Approximate number of tokens in `text`: a quarter of its bytes.
    pub tokens: u64,
}

skills_params! {
    /// The listing whose costs to return.
    BudgetParams {
        /// Format of the listing; the profile's own format if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<CatalogFormat>,
        /// The model's context window in tokens; some agents limit their listing to a share of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_tokens: Option<u64>,
        /// Limit of the listing in characters; replaces the agent's own limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget_chars: Option<u64>,
        /// True to return only the skills that the listing does not show whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only_cut: Option<bool>,
    }
}

/// Costs of a skill listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetResult {
    /// Clock of the view.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The profile.
    pub profile: String,
    /// The agent's name.
    pub agent: String,
    /// Number of skills in the listing, and of those that it leaves out.
    pub count: u64,
    /// Characters of the whole text.
    pub characters: u64,
    /// Tokens of the whole text, by the agent's estimate or, if that is unknown, a quarter of its
    /// bytes.
    pub tokens: u64,
    /// The agent's limit; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<ListingBudget>,
    /// The skills, in the order of the list.
    pub skills: Vec<SkillCost>,
    /// True if the agent's own listing is not known, so that another agent's form and limits stand
    /// in for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_assumed: bool,
}

/// The limit of a listing, and how much of it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListingBudget {
    /// Unit of both numbers.
    pub unit: BudgetUnit,
    /// The limit.
    pub limit: u64,
    /// The part that the entries use.
    pub used: u64,
}

word_enum! {
    /// Unit of a listing's limit.
    BudgetUnit {
        /// Characters.
        Characters = "characters",
        /// Tokens, by the agent's estimate.
        Tokens = "tokens",
    }
}

word_enum! {
    /// Form in which a listing shows a skill.
    ListedForm {
        /// With its whole description.
        Whole = "whole",
        /// With a part of its description, because the rest did not fit.
        Shortened = "shortened",
        /// By its name, because the description did not fit.
        Name = "name",
        /// By its name, because the agent's settings say so.
        NameOnly = "name-only",
        /// Not at all, because the name did not fit either.
        Omitted = "omitted",
    }
}

/// Cost of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillCost {
    /// Name of the skill.
    pub name: String,
    /// The SKILL.md, absolute.
    pub path: String,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Form in which the listing shows it.
    pub shown: ListedForm,
    /// Characters of its entry as shown.
    pub characters: u64,
    /// Characters of its entry if nothing were cut.
    pub whole_characters: u64,
    /// Tokens of its entry as shown.
    pub tokens: u64,
    /// Tokens that its text adds when it is loaded, a quarter of its bytes; absent if only the
    /// agent has the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded_tokens: Option<u64>,
}

skills_params! {
    /// The tool to describe.
    ToolParams {
        /// Format of the tool; the profile's own format if absent. `raw` lists the skills in the
        /// description, one line each, within a limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        style: Option<LoadFormat>,
        /// The model's context window in tokens; some agents limit their listing to a share of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_tokens: Option<u64>,
        /// Limit of the listing in characters; replaces the agent's own limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget_chars: Option<u64>,
    }
}

/// Description of the tool that loads a skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// Clock of the view.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The tool; null if it is disabled, or there are no skills (except for `opencode@founding`).
    pub tool: Option<SkillTool>,
    /// All tools for skills of an agent that registers several, with its own descriptions, in its
    /// order; empty for an agent with one tool.
    #[serde(default)]
    pub tools: Vec<SkillTool>,
}

/// A tool definition as model providers accept it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillTool {
    /// Name of the tool in the agent.
    pub name: String,
    /// Description for the model.
    pub description: String,
    /// JSON Schema of the parameters; contains the skills' names as an enum.
    pub input_schema: Value,
}
