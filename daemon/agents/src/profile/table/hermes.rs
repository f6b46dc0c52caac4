//! The row of Hermes Agent, and the texts about skills that it gives its model.

use crate::fence::Fence;
use crate::profile::row::{all_provided, present, root, texts, usual, variable};
use crate::profile::template::{
    ArgumentsTemplate, BlanksRule, EscapeRule, FileGroup, FileGroups, FilesTemplate, ListingOrder,
    ListingTemplate, LoadTemplate, PromptTemplate, ToolTemplate,
};
use crate::profile::{
    DescriptionRule, EmptyNameRule, EncodingPolicy, LoadStrategy, NameRule, NameSource,
    OutputFormat, Profile, Scope, WalkRule, settings,
};
use crate::yaml_library::YamlLibrary;

const DEVIATIONS: &str = "\
| Only the first 4,000 characters of a file are read for its fields, and names are cut at 64. | The whole file is read, and names are whole. | The agent loads the skill by its directory too. |
| A description that is a list or a map is shown as Python writes it. | The skill is dropped. | No reader expects such a text. |
| `references`, `templates`, `assets` and `scripts` beside a SKILL.md are not searched. | They are. | No profile tells directories of a skill from others. |
| `platforms` and `environments` hide a skill on other systems. | It is listed. | These fields are Hermes' own. |
| In the prompt's list `skills.disabled` also counts names of directories, and `skills.platform_disabled` counts for one messenger. | Only names of skills in `skills.disabled` count. | The list of the tool `skills_list` is reproduced. |
| `skills.external_dirs` and its plugins add skills. | They are not read. | Only directories and files are measured. |
| The list in the prompt also names files that the tool `skills_list` leaves out, and several skills of one name in different categories. | It has those of `skills_list`. | Each skill has one state. |
| In the prompt and in a loaded skill a description is that of the field alone; in the prompt, quotes around it are removed. | If the field is missing, the first line of the body is the description, as in `skills_list`. | Each skill has one description. |
| A category with a `DESCRIPTION.md` shows its description; some categories show only names when it works on code. | No category has a description, and all skills have theirs. | Only files of skills are read. |
| A loaded skill repeats the fields `tags`, `related_skills`, `compatibility`, `metadata` and those of required variables and files as JSON, and says which are missing. | These members are empty or left out. | The text of the file, which follows, has the fields. |
| A link to a file beside the skill is listed wherever it leads, and files are in the order of the file system. | Links that lead out of the skill are left out, and names are sorted. | The order of a file system differs between machines. |
";

/// Hermes Agent 0.19.0: its own listing function run, and its source.
pub(super) fn profile() -> Profile {
    let skipped = [
        ".git",
        ".github",
        ".hub",
        ".archive",
        ".venv",
        "venv",
        "node_modules",
        "site-packages",
        "__pycache__",
        ".tox",
        ".nox",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
    ];
    let walk = WalkRule {
        root_skill: true,
        into_skills: true,
        hidden: true,
        by_path: true,
        repeats: true,
        skipped: texts(&skipped),
        ..WalkRule::plain()
    };
    let user = root(variable("HERMES_HOME", ".hermes"), &["skills"], Scope::User, &walk);
    let usual = usual("hermes", "Hermes Agent", "0.19.0");
    Profile {
        deviations: DEVIATIONS,
        own: "".into(),
        environment: texts(&["HOME", "HERMES_HOME"]),
        // A JavaScript engine has a program of the same name.
        presence: Some(present(("HERMES_HOME", ".hermes", ""), "", &[])),
        roots: [user].into_iter().chain(all_provided()).collect(),
        settings: settings::hermes(),
        name: NameRule {
            source: NameSource::FieldIfPresent,
            empty: EmptyNameRule::Kept,
            ..usual.name
        },
        description: DescriptionRule::ElseBodyLine,
        fence: Fence::BlankClosed,
        library: YamlLibrary::PyYaml,
        load_strategies: vec![LoadStrategy::Strict, LoadStrategy::ColonLines],
        bad_utf8: EncodingPolicy::Drop,
        output: OutputFormat::Template(&PROMPTS),
        ..usual
    }
}

/// The texts of Hermes Agent 0.19.0: recorded.
pub(super) static PROMPTS: PromptTemplate = PromptTemplate {
    id: "hermes",
    listing: ListingTemplate {
        head: "## Skills (mandatory)
Before replying, scan the skills below. If a skill matches or is even partially relevant to your task, you MUST load it with skill_view(name) and follow its instructions. Err on the side of loading — it is always better to have context you don't need than to miss critical steps, pitfalls, or established workflows. Skills contain specialized knowledge — API endpoints, tool-specific commands, and proven workflows that outperform general-purpose approaches. Load the skill even if you think you could handle the task with basic tools like web_search or terminal. Skills also encode the user's preferred approach, conventions, and quality standards for tasks like code review, planning, and testing — load them even for tasks you already know how to do, because the skill defines how it should be done here.
Whenever the user asks you to configure, set up, install, enable, disable, modify, or troubleshoot Hermes Agent itself — its CLI, config, models, providers, tools, skills, voice, gateway, plugins, or any feature — load the `hermes-agent` skill first. It has the actual commands (e.g. `hermes config set …`, `hermes tools`, `hermes setup`) so you don't have to guess or invent workarounds.
If a skill has issues, fix it with skill_manage(action='patch').
After difficult/iterative tasks, offer to save as a skill. If a skill you loaded was missing steps, had wrong commands, or needed pitfalls you discovered, update it before finishing.

<available_skills>
",
        entry: "    - {name}: {description}",
        empty: ": {description}",
        tail: "
</available_skills>

Only proceed without loading a skill if genuinely none are relevant to the task.",
        order: ListingOrder::ByCategory,
        heading: "  {category}:\n",
        blanks: BlanksRule::Trimmed,
        longest: Some((60, "...")),
        ..ListingTemplate::USUAL
    },
    load: Some(LoadTemplate {
        text: r#"{"success": true, "name": "{name}", "description": "{description}", "tags": [], "related_skills": [], "content": "{text}", "path": "{below}", "skill_dir": "{dir}", "linked_files": {files}, "required_environment_variables": [], "required_commands": [], "missing_required_environment_variables": [], "missing_credential_files": [], "missing_required_commands": [], "setup_needed": false, "setup_skipped": false, "readiness_status": "available"}"#,
        escape: EscapeRule::Json,
        files: Some(FilesTemplate {
            head: "{",
            separator: "\", \"",
            tail: r#"}, "usage_hint": "To view linked files, call skill_view(name, file_path) where file_path is e.g. 'references/api.md' or 'assets/config.yaml'""#,
            none: r#"null, "usage_hint": null"#,
            groups: Some(&FILES),
            ..FilesTemplate::USUAL
        }),
        arguments: ArgumentsTemplate::Directory("${HERMES_SKILL_DIR}"),
        ..LoadTemplate::USUAL
    }),
    tool: Some(ToolTemplate {
        name: "skill_view",
        description: "Skills allow for loading information about specific tasks and workflows, as well as scripts and templates. Load a skill's full content or access its linked files (references, templates, scripts). First call returns SKILL.md content plus a 'linked_files' dict showing available references/templates/scripts. To access those, call again with file_path parameter.",
        parameter: "name",
        schema: r#"{
  "type": "object",
  "properties": {
    "name": {
      "type": "string",
      "description": "The skill name (use skills_list to see available skills). For plugin-provided skills, use the qualified form 'plugin:skill' (e.g. 'superpowers:writing-plans')."
    },
    "file_path": {
      "type": "string",
      "description": "OPTIONAL: Path to a linked file within the skill (e.g., 'references/api.md', 'templates/config.yaml', 'scripts/validate.py'). Omit to get the main SKILL.md content."
    }
  },
  "required": [
    "name"
  ]
}"#,
    }),
};

/// Source: the files beside a skill that its text names.
static FILES: FileGroups = FileGroups {
    entry: r#""{group}": ["{files}"]"#,
    separator: ", ",
    groups: &[
        FileGroup { dir: "references", deep: false, endings: &[".md"] },
        FileGroup {
            dir: "templates",
            deep: true,
            endings: &[".md", ".py", ".yaml", ".yml", ".json", ".tex", ".sh"],
        },
        FileGroup { dir: "assets", deep: true, endings: &[] },
        FileGroup {
            dir: "scripts",
            deep: false,
            endings: &[".py", ".sh", ".bash", ".js", ".ts", ".rb"],
        },
    ],
};
