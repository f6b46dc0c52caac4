//! The row of pi.

use crate::fence::Fence;
use crate::profile::row::{all_provided, present, root, texts, usual, variable};
use crate::profile::{
    AncestorStop, NameRule, NameSource, OutputFormat, Profile, RootBase, Scope, WalkRule, prompts,
};

const DEVIATIONS: &str = "\
| Markdown files in `.pi/skills`, and below a directory in `.agents/skills`, are skills too. | They are not listed. | The files and scripts of such a skill would be all files beside it. |
| Files and directories that a `.gitignore`, `.ignore` or `.fdignore` in a directory of skills names are skipped. | They are listed. | Only files of skills are read. |
| Skills of a project that the user does not approve are not loaded; 0.74.2 asks for no approval, and drops files with a byte order mark. | They are listed. | Its list of approved projects is not read. |
| `skills` in its settings, its packages and its extensions add and remove skills. | They are not read. | Only directories and files are measured. |
| Its model loads a skill by reading the file. | `load` gives what `/skill:NAME` gives, to the model too. | The agent has no tool for skills. |
";

/// pi 0.87.1: run, and its source.
pub(super) fn profile() -> Profile {
    let walk = WalkRule {
        root_skill: true,
        root_stops: true,
        skipped: texts(&["node_modules"]),
        ..WalkRule::plain()
    };
    let project = |stop| RootBase::Ancestors { stop };
    let roots = [
        root(project(AncestorStop::Cwd), &[".pi/skills"], Scope::Project, &walk),
        root(
            project(AncestorStop::WorktreeElseFilesystem),
            &[".agents/skills"],
            Scope::Project,
            &walk,
        ),
        root(variable("PI_CODING_AGENT_DIR", ".pi/agent"), &["skills"], Scope::User, &walk),
        root(RootBase::Home, &[".agents/skills"], Scope::User, &walk),
    ];
    let usual = usual("pi", "pi", "0.87.1");
    Profile {
        deviations: DEVIATIONS,
        own: ".pi/skills".into(),
        environment: texts(&["HOME", "PI_CODING_AGENT_DIR"]),
        // Other programs have the same name.
        presence: Some(present(("PI_CODING_AGENT_DIR", ".pi/agent", ""), "", &[".pi"])),
        roots: roots.into_iter().chain(all_provided()).collect(),
        name: NameRule { source: NameSource::FieldElseDirectory, ..usual.name },
        fence: Fence::AnyOpening,
        hides_from_model: true,
        output: OutputFormat::Template(&prompts::pi::PROMPTS),
        ..usual
    }
}
