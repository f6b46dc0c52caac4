//! The row of Factory Droid, and the texts about skills that it gives its model.

use crate::fence::Fence;
use crate::profile::row::{all_provided, present, root, usual};
use crate::profile::{
    AncestorStop, DescriptionRule, EncodingPolicy, LoadStrategy, NameCheck, NameRule, OutputFormat,
    Profile, FieldForm, Requirement, RootBase, Scope, WalkRule, settings,
};
use crate::profile::template::{
    BlanksRule, ListingLimit, ListingTemplate, LoadTemplate, Overflow, PromptTemplate, ToolTemplate,
};
use crate::yaml_library::YamlLibrary;

const OWN: [&str; 3] = [".factory/skills", ".agents/skills", ".agent/skills"];

const DEVIATIONS: &str = "\
| A skill that is dropped for its fields still shadows a later one of its name. | It shadows none. | The later one would vanish for a fault in another file. |
| Skills with one name in a directory are in the order of the user's language. | They are in the order of bytes. | The order differs between machines. |
| A `disabledSkills` with an item that is no text keeps it from starting. | The item is ignored, with a note. | The settings file has the fault, not the skills. |
| Its built-in skills and its plugins add skills. | They are not listed. | Only directories, files and settings are measured. |
| Its own skills take room in the list; with fewer of them there is more. | The room of all of them is taken. | Which ones are switched off is not read. |
| Its model can load a skill with `disable-model-invocation`. | It cannot. | The skill's author refused it. |
";

/// Factory Droid 0.215.0: run, and the text of its program.
pub(super) fn profile() -> Profile {
    let walk = WalkRule { hidden: true, ..WalkRule::plain() };
    let project = RootBase::Ancestors { stop: AncestorStop::Worktree };
    let roots = [
        root(project, &OWN, Scope::Project, &walk),
        root(RootBase::Home, &OWN, Scope::User, &walk),
    ];
    let usual = usual("droid", "Factory Droid", "0.215.0");
    Profile {
        deviations: DEVIATIONS,
        own: ".factory/skills".into(),
        presence: Some(present(("HOME", "", ".factory"), "droid", &[".factory"])),
        settings: settings::droid(),
        roots: roots.into_iter().chain(all_provided()).collect(),
        name: NameRule { check: NameCheck::AsciiLowerCase, ..usual.name },
        description: DescriptionRule::Present,
        one_line: true,
        requires: vec![
            Requirement::Body,
            FieldForm::TextOnly.of("license"),
            FieldForm::TextOnly.of("compatibility"),
            FieldForm::TextOrTexts.of("allowed-tools"),
            FieldForm::TextOrTexts.of("tools"),
            FieldForm::Flag.of("enabled"),
            FieldForm::OffIfFalse.of("enabled"),
            FieldForm::Flag.of("user-invocable"),
            FieldForm::Flag.of("disable-model-invocation"),
        ],
        fence: Fence::PrefixRest,
        library: YamlLibrary::JsYaml4,
        load_strategies: vec![LoadStrategy::Strict, LoadStrategy::AnyLines],
        bom: EncodingPolicy::Drop,
        hides_from_model: true,
        output: OutputFormat::Template(&PROMPTS),
        ..usual
    }
}

/// The texts of Factory Droid 0.215.0: recorded.
pub(super) static PROMPTS: PromptTemplate = PromptTemplate {
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
