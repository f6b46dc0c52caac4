//! The row of Hermes Agent.

use crate::fence::Fence;
use crate::profile::row::{all_provided, present, root, texts, usual, variable};
use crate::profile::{
    DescriptionRule, EmptyNameRule, EncodingPolicy, LoadStrategy, NameRule, NameSource, Profile,
    Scope, WalkRule, settings,
};
use crate::yaml_library::YamlLibrary;

const DEVIATIONS: &str = "\
| Only the first 4,000 characters of a file are read for its fields, and names are cut at 64. | The whole file is read, and names are whole. | The agent loads the skill by its directory too. |
| A description that is a list or a map is shown as Python writes it. | The skill is dropped. | No reader expects such a text. |
| `references`, `templates`, `assets` and `scripts` beside a SKILL.md are not searched. | They are. | No profile tells directories of a skill from others. |
| `platforms` and `environments` hide a skill on other systems. | It is listed. | These fields are Hermes' own. |
| In the prompt's list `skills.disabled` also counts names of directories, and `skills.platform_disabled` counts for one messenger. | Only names of skills in `skills.disabled` count. | The list of the tool `skills_list` is reproduced. |
| `skills.external_dirs` and its plugins add skills. | They are not read. | Only directories and files are measured. |
| The list in the prompt has categories, and descriptions cut at 60 characters; it also names files that the tool `skills_list` leaves out. | The list and loaded skills have the standard's form. | Only discovery and loading are measured. |
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
        ..usual
    }
}
