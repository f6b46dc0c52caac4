//! The texts about skills of Factory Droid.

use crate::profile::template::{
    BlanksRule, ListingLimit, ListingTemplate, LoadTemplate, Overflow, PromptTemplate, ToolTemplate,
};

/// The texts of Factory Droid 0.215.0: recorded.
pub(crate) static PROMPTS: PromptTemplate = PromptTemplate {
    id: "droid",
    listing: ListingTemplate {
        head: "Available skills (invoke by exact name when its description matches the request):
",
        entry: "{name}: {description}",
        no_description: "No description provided",
        blanks: BlanksRule::Collapsed,
        longest: Some((1024, "…")),
        limit: Some(ListingLimit {
            characters: 15_000,
            counts_last_break: false,
            per_100_tokens: Some(6),
            built_in: 5_276,
            overflow: Overflow::NameOnly("{name}"),
        }),
        ..ListingTemplate::USUAL
    },
    load: Some(LoadTemplate {
        text: r#"Skill "{name}" is now active.

<skill name="{name}" filePath="{path}">
{body}
</skill>"#,
        ..LoadTemplate::USUAL
    }),
    tool: Some(ToolTemplate {
        name: "Skill",
        description: "Activate one skill by exact name from the latest system reminder. Use a relevant skill proactively, but never invent a name or reactivate an active skill.",
        parameter: "skill",
        schema: r#"{
  "type": "object",
  "properties": {
    "skill": {
      "type": "string",
      "description": "The skill name to execute"
    }
  },
  "required": [
    "skill"
  ],
  "additionalProperties": false,
  "$schema": "http://json-schema.org/draft-07/schema#"
}"#,
    }),
};
