//! The texts about skills of Kimi Code.

use crate::profile::Scope;
use crate::profile::template::{
    ArgumentsTemplate, BlanksRule, EscapeRule, ListingOrder, ListingTemplate, LoadTemplate,
    PromptTemplate, ToolTemplate,
};

/// The texts of Kimi Code 2.1.0: recorded.
pub(crate) static PROMPTS: PromptTemplate = PromptTemplate {
    id: "kimi-code",
    listing: ListingTemplate {
        head: "DISREGARD any earlier skill listings. Current available skills:
",
        entry: "- {name}: {description}{when}
  Path: {path}",
        order: ListingOrder::ByName,
        heading: "### {scope}\n",
        scopes: &[(Scope::Project, "Project"), (Scope::User, "User")],
        when_to_use: "\n  When to use: {when}",
        blanks: BlanksRule::Trimmed,
        longest: Some((250, "...")),
        ..ListingTemplate::USUAL
    },
    load: Some(LoadTemplate {
        text: r#"Skill tool loaded instructions for this request. Follow them.

<skill-loaded name="{name}" trigger="model-tool" source="{scope}" dir="{dir}" args="{arguments}">
{body}
</skill-loaded>"#,
        scopes: &[(Scope::Project, "project"), (Scope::User, "user")],
        escape: EscapeRule::Xml,
        arguments: ArgumentsTemplate::Placeholders { dir: "${KIMI_SKILL_DIR}" },
        ..LoadTemplate::USUAL
    }),
    tool: Some(ToolTemplate {
        name: "Skill",
        description: "Invoke a registered skill from the current skill listing. BLOCKING REQUIREMENT: when a skill from the listing matches the user's request, you MUST call this tool (not free-form text). Do not re-invoke a skill to repeat work already done: if a `<skill-loaded>` block for it with the same `args` is already present in the conversation, follow those instructions directly instead of calling the tool again. Do call the tool again when you need the skill with different arguments — the loaded block was expanded with the earlier `args` and will not reflect new inputs.",
        parameter: "skill",
        schema: r#"{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "properties": {
    "skill": {
      "type": "string",
      "description": "The exact name of the skill to invoke, spelled as it appears in the current skill listing (e.g. \"commit\", \"pdf\")."
    },
    "args": {
      "description": "Optional argument string for the skill, written like a command line (e.g. `-m \"fix bug\"`, `123`, a file path). It is split on whitespace (quotes group a token) and expanded into the skill's placeholders ($NAME, $1, $ARGUMENTS); if the skill body has no placeholders, the whole string is still appended as a trailing `ARGUMENTS:` line. Omit it only when there is nothing to pass.",
      "type": "string"
    }
  },
  "required": [
    "skill"
  ],
  "additionalProperties": false
}"#,
    }),
};
