//! The row of OpenHands.

use crate::fence::Fence;
use crate::profile::row::{all_provided, one_level, present, root, usual};
use crate::profile::{
    AncestorStop, DescriptionRule, EncodingPolicy, NameCheck, NameRule, NameSource, Profile,
    Requirement, RootBase, ScalarRule, Scope, WalkRule,
};
use crate::yaml_library::YamlLibrary;

const DIRECTORIES: [&str; 3] = [".agents/skills", ".openhands/skills", ".openhands/microagents"];

const DEVIATIONS: &str = "\
| A file that is not UTF-8, or whose description, license or compatibility is no text, drops all skills of its directory of skills. | It drops that skill alone. | The other skills would vanish for a fault in another file. |
| Markdown files in a directory of skills are skills too, and so are `AGENTS.md`, `.cursorrules`, `CLAUDE.md` and `GEMINI.md`; they win over a directory with their name. | They are not listed. | The files and scripts of such a skill would be all files beside it. |
| Frontmatter may be JSON or TOML. | It is not read. | Nobody was seen to use it. |
| A skill whose frontmatter is a list is loaded without fields; one whose `allowed-tools` is a map, or with a malformed `.mcp.json`, `triggers`, `inputs` or `metadata`, is dropped. | The former is dropped, the latter is loaded. | No other agent has these rules. |
| A byte order mark is part of the description that is taken from the body. | It is taken out. | It is invisible, and no part of the text. |
| Its public skills, its plugins and `~/.openhands/skills/installed` add skills. | They are not listed. | Only directories and files are measured. |
| The list cuts descriptions at 1,024 characters. | The list and loaded skills have the standard's form. | Only discovery and loading are measured. |
";

/// OpenHands 1.16.0 with its SDK 1.21.0: its own loading functions run, and its source.
pub(super) fn profile() -> Profile {
    // `skills/<name>/SKILL.md` and nothing deeper.
    let walk = WalkRule { hidden: true, repeats: true, ..one_level() };
    let project = RootBase::Ancestors { stop: AncestorStop::CwdAndTop };
    let roots = [
        root(project, &DIRECTORIES, Scope::Project, &walk),
        root(RootBase::Home, &DIRECTORIES, Scope::User, &walk),
    ];
    let usual = usual("openhands", "OpenHands", "1.16.0");
    Profile {
        deviations: DEVIATIONS,
        presence: Some(present(("HOME", "", ".openhands"), "openhands", &[".openhands"])),
        roots: roots.into_iter().chain(all_provided()).collect(),
        name: NameRule {
            source: NameSource::FieldIfPresent,
            scalars: ScalarRule::Text,
            check: NameCheck::StandardDirectory,
            ..usual.name
        },
        description: DescriptionRule::ElseBodyLine,
        requires: vec![
            Requirement::TextOrNull("description".into()),
            Requirement::TextOrNull("license".into()),
            Requirement::TextOrNull("compatibility".into()),
        ],
        fence: Fence::DashRuns,
        library: YamlLibrary::PyYaml,
        bad_utf8: EncodingPolicy::Drop,
        bom: EncodingPolicy::AsBody,
        ..usual
    }
}
