//! The row of Continue.

use crate::fence::Fence;
use crate::profile::row::{all_provided, one_level, present, root, texts, usual, variable};
use crate::profile::{
    AncestorStop, DescriptionRule, DuplicatePolicy, EncodingPolicy, LinkPolicy, OutputFormat,
    Profile, RootBase, Scope, WalkRule, prompts,
};

const DEVIATIONS: &str = "\
| The list has the order in which the files were read. | That of directories and names. | The agent's order differs between runs. |
| Skills are listed in the order in which their reads end. | In the order of names. | The order differs between runs. |
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
        output: OutputFormat::Template(&prompts::continue_dev::PROMPTS),
        ..usual("continue", "Continue", "1.5.47")
    }
}
