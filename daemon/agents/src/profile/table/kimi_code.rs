//! The row of Kimi Code.

use crate::fence::Fence;
use crate::profile::row::{all_provided, present, root, texts, usual, variable};
use crate::profile::{AncestorStop, OutputFormat, Profile, RootBase, Scope, WalkRule, prompts};
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
        output: OutputFormat::Template(&prompts::kimi_code::PROMPTS),
        ..usual
    }
}
