//! The row of Kimi Code, and the texts about skills that it gives its model.

use crate::fence::Fence;
use crate::profile::row::{all_provided, present, root, texts, usual, variable};
use crate::profile::{AncestorStop, OutputFormat, Profile, RootBase, Scope, WalkRule};
use crate::profile::template::{
    ArgumentsTemplate, BlanksRule, EscapeRule, ListingOrder, ListingTemplate, LoadTemplate,
    PromptTemplate, ToolTemplate,
};
use crate::yaml_library::YamlLibrary;

const DEVIATIONS: &str = "\
| Markdown files in a directory of skills are skills too. | They are not listed. | The files and scripts of such a skill would be all files beside it. |
| Names that differ only in capitals are one name; white space around a name is taken off. | They are two names. | A rule of a profile would have to compare names differently. |
| A skill with `has-sub-skill` names the skills below it `parent.name`; one with a `type` other than `prompt`, `inline`, `flow` or `reference` is dropped. | Neither is read. | These fields are Kimi Code's own. |
| Its built-in skills, its plugins and `extraSkillDirs` add skills. | They are not listed. | Only directories and files are measured. |
| Arguments and the skill's directory are filled into a body one after the other, and a filled-in value is searched again. | It is not. | An argument must not become a placeholder. |
";

/// Kimi Code 2.1.0: run, and its source.
pub(super) fn profile() -> Profile {
    let walk = WalkRule {
        max_depth: Some(9),
        skipped: texts(&["node_modules"]),
        shallow: true,
        level_first: true,
        repeats: true,
        ..WalkRule::plain()
    };
    let project = RootBase::Ancestors { stop: AncestorStop::WorktreeTop };
    let roots = [
        root(project, &[".kimi-code/skills", ".agents/skills"], Scope::Project, &walk),
        root(variable("KIMI_CODE_HOME", ".kimi-code"), &["skills"], Scope::User, &walk),
        root(RootBase::Home, &[".agents/skills"], Scope::User, &walk),
    ];
    let usual = usual("kimi-code", "Kimi Code", "2.1.0");
    Profile {
        deviations: DEVIATIONS,
        own: ".kimi-code/skills".into(),
        environment: texts(&["HOME", "KIMI_CODE_HOME"]),
        // The older kimi-cli has a program of the same name.
        presence: Some(present(("KIMI_CODE_HOME", ".kimi-code", ""), "", &[".kimi-code"])),
        roots: roots.into_iter().chain(all_provided()).collect(),
        fence: Fence::TrimmedText,
        library: YamlLibrary::JsYaml4,
        hides_from_model: true,
        output: OutputFormat::Template(&PROMPTS),
        ..usual
    }
}

/// The texts of Kimi Code 2.1.0: recorded.
pub(super) static PROMPTS: PromptTemplate = PromptTemplate {
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
