//! The row of Mistral Vibe.

use crate::fence::Fence;
use crate::profile::row::{all_provided, one_level, present, root, texts, usual, variable};
use crate::profile::{
    AncestorStop, DuplicatePolicy, NameCheck, NameRule, OutputFormat, Profile, Requirement,
    RootBase, Scope, WalkRule, prompts,
};
use crate::yaml_library::YamlLibrary;

const DEVIATIONS: &str = "\
| The list has the order of the file system. | That of names. | The order of a file system differs between machines. |
| Skills of a folder that the user does not trust are not loaded. | They are listed. | Its list of trusted folders is not read. |
| Of two skills with one name in a directory, the first in the order of the file system is listed. | The first in the order of names. | The order of a file system differs between machines. |
| Its bundled skills, its registry, `skill_paths`, `enabled_skills`, `disabled_skills` and `agents/openai.yaml` count. | They are not read. | Only directories and files are measured. |
";

/// Mistral Vibe 3.0.3: run, and its source.
pub(super) fn profile() -> Profile {
    // `skills/<name>/SKILL.md` and nothing deeper.
    let walk = WalkRule { hidden: true, repeats: true, ..one_level() };
    let project = RootBase::Ancestors { stop: AncestorStop::Cwd };
    let roots = [
        root(project, &[".vibe/skills", ".agents/skills"], Scope::Project, &walk),
        root(variable("VIBE_HOME", ".vibe"), &["skills"], Scope::User, &walk),
        root(RootBase::Home, &[".agents/skills"], Scope::User, &walk),
    ];
    let usual = usual("mistral-vibe", "Mistral Vibe", "3.0.3");
    Profile {
        deviations: DEVIATIONS,
        own: ".vibe/skills".into(),
        environment: texts(&["HOME", "VIBE_HOME"]),
        presence: Some(present(("VIBE_HOME", ".vibe", ""), "vibe", &[".vibe"])),
        roots: roots.into_iter().chain(all_provided()).collect(),
        name: NameRule { check: NameCheck::Standard, ..usual.name },
        requires: vec![
            Requirement::DescriptionAtMost(1024),
            Requirement::TextOrNull("license".into()),
            Requirement::TextOrNull("compatibility".into()),
        ],
        fence: Fence::DashRuns,
        library: YamlLibrary::PyYaml,
        // Source: of two with one name in a directory, the first in the file system's order wins.
        duplicates: DuplicatePolicy::FirstWins,
        hides_from_model: true,
        output: OutputFormat::Template(&prompts::mistral_vibe::PROMPTS),
        ..usual
    }
}
