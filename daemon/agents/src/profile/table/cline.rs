//! The row of Cline.

use crate::fence::Fence;
use crate::profile::row::{all_provided, one_level, present, root, texts, usual, variable};
use crate::profile::{
    AncestorStop, DescriptionRule, DuplicatePolicy, NameRule, NameSource, OutputFormat, Profile,
    Requirement, RootBase, Scope, WalkRule, prompts,
};

const DEVIATIONS: &str = "\
| The list has the order in which the files were read. | That of directories and names. | The agent's order differs between runs. |
| Names that differ only in capitals are one name; white space around a name is taken off. | They are two names. | A rule of a profile would have to compare names differently. |
| Of two skills with one name in a directory, the last in the order of the file system is listed. | The last in the order of names. | The order of a file system differs between machines. |
| Its settings switch skills off. | They are not read. | Only fields, directories and files are measured. |
| Its plugins and `.cline/*/managed.json` add skills. | They are not listed. | Only directories and files are measured. |
";

/// Cline CLI 3.0.65: run, and its source.
pub(super) fn profile() -> Profile {
    // `skills/<name>/SKILL.md` and nothing deeper, and a SKILL.md in the root itself.
    let walk = WalkRule {
        root_skill: true,
        into_skills: true,
        hidden: true,
        repeats: true,
        ..one_level()
    };
    let project = RootBase::Ancestors { stop: AncestorStop::WorktreeTop };
    let own = [".clinerules/skills", ".cline/skills", ".agents/skills"];
    // The last wins.
    let roots = [
        root(project, &own, Scope::Project, &walk),
        root(variable("CLINE_DIR", ".cline"), &["skills"], Scope::User, &walk),
        root(RootBase::Home, &[".agents/skills"], Scope::User, &walk),
    ];
    let usual = usual("cline", "Cline", "3.0.65");
    Profile {
        deviations: DEVIATIONS,
        own: ".cline/skills".into(),
        environment: texts(&["HOME", "CLINE_DIR"]),
        presence: Some(present(("CLINE_DIR", ".cline", ""), "cline", &[".cline", ".clinerules"])),
        roots: all_provided().into_iter().rev().chain(roots).collect(),
        name: NameRule { source: NameSource::FieldElseDirectory, ..usual.name },
        description: DescriptionRule::Optional,
        requires: vec![
            Requirement::BodyText,
            Requirement::TextOrNull("name".into()),
            Requirement::TextOrNull("description".into()),
            Requirement::OffIfTrue("disabled".into()),
            Requirement::OffIfFalse("enabled".into()),
        ],
        fence: Fence::PrefixRest,
        duplicates: DuplicatePolicy::LastWins,
        output: OutputFormat::Template(&prompts::cline::PROMPTS),
        ..usual
    }
}
