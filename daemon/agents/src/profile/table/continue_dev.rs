//! The row of Continue, and the texts about skills that it gives its model.

use crate::fence::Fence;
use crate::profile::row::{all_provided, one_level, present, root, texts, usual, variable};
use crate::profile::{
    AncestorStop, DescriptionRule, DuplicatePolicy, EncodingPolicy, LinkPolicy, OutputFormat,
    Profile, RootBase, Scope, WalkRule,
};
use crate::profile::template::{
    FilePaths, FilesTemplate, ListingOrder, ListingTemplate, LoadTemplate, PromptTemplate,
    ToolTemplate,
};

const DEVIATIONS: &str = "\
| The list has the order in which the files were read. | That of directories and names. | The agent's order differs between runs. |
| Two links to one SKILL.md are two skills. | They are one skill. | A file counts once in every profile. |
| A loaded skill names all its files. | It names 100, with a warning. | A list of any length fills the model's context. |
";

/// Continue CLI 1.5.47: run, and its source.
pub(super) fn profile() -> Profile {
    // `skills/<name>/SKILL.md` and nothing deeper.
    let walk =
        WalkRule { hidden: true, repeats: true, directory_links: LinkPolicy::Never, ..one_level() };
    let project = RootBase::Ancestors { stop: AncestorStop::Cwd };
    let roots = [
        root(project, &[".continue/skills", ".claude/skills"], Scope::Project, &walk),
        root(variable("CONTINUE_GLOBAL_DIR", ".continue"), &["skills"], Scope::User, &walk),
    ];
    Profile {
        deviations: DEVIATIONS,
        own: ".continue/skills".into(),
        environment: texts(&["HOME", "CONTINUE_GLOBAL_DIR"]),
        presence: Some(present(("CONTINUE_GLOBAL_DIR", ".continue", ""), "cn", &[".continue"])),
        roots: roots.into_iter().chain(all_provided()).collect(),
        description: DescriptionRule::NotEmpty,
        fence: Fence::AnyTwo,
        duplicates: DuplicatePolicy::KeepAll,
        bom: EncodingPolicy::Drop,
        output: OutputFormat::Template(&PROMPTS),
        ..usual("continue", "Continue", "1.5.47")
    }
}

/// The texts of Continue 1.5.47: recorded.
pub(super) static PROMPTS: PromptTemplate = PromptTemplate {
    id: "continue",
    listing: ListingTemplate {
        entry: "
name: {name}
description: {description}
",
        separator: ",",
        ..ListingTemplate::USUAL
    },
    load: Some(LoadTemplate {
        text: "<skill_name>{name}</skill_name>
<skill_description>{description}</skill_description>
<skill_content>{body}</skill_content>{files}",
        files: Some(FilesTemplate {
            head: "\n<skill_files>",
            separator: ",",
            tail: "</skill_files>\n<other_instructions>Use the read file tool to access skill files as needed.</other_instructions>",
            paths: FilePaths::BelowCwd,
            order: ListingOrder::ByName,
            ..FilesTemplate::USUAL
        }),
        ..LoadTemplate::USUAL
    }),
    tool: Some(ToolTemplate {
        name: "Skills",
        description: "Use this tool to read the content of a skill by its name. Skills contain detailed instructions for specific tasks. The skill name should match one of the available skills listed below:
{listing}",
        parameter: "skill_name",
        schema: r#"{
  "type": "object",
  "required": [
    "skill_name"
  ],
  "properties": {
    "skill_name": {
      "type": "string",
      "description": "The name of the skill to read. This should match the name from the available skills."
    }
  }
}"#,
    }),
};
