//! The row of Kilo, which began as a copy of opencode.

use crate::field_table::Agent;
use crate::profile::row::{built_in, present, provided, root, switch, texts, variable};
use crate::profile::{
    AncestorStop, Profile, Provider, RootBase, RootRule, Scope, WalkRule, settings,
};

const OWN: [&str; 4] = [".kilocode/skill", ".kilocode/skills", ".kilo/skill", ".kilo/skills"];

const DEVIATIONS: &str = "\
| A link to a directory above it is followed in a circle, until the system refuses the path. | A directory is not searched below itself. | The paths add no skill, and two such links in one directory never end. |
";

/// Kilo 7.7.9: run. The rules for files are those of opencode.
pub(super) fn profile() -> Profile {
    let walk = WalkRule {
        root_skill: true,
        into_skills: true,
        repeats: true,
        // Measured: in a project no link out of it is followed.
        confined: true,
        ..WalkRule::plain()
    };
    let external = WalkRule { hidden: true, ..walk.clone() };
    let outside = |base, scope, walk: &WalkRule| RootRule {
        switches: vec![
            switch("KILO_DISABLE_EXTERNAL_SKILLS", None),
            switch("KILO_DISABLE_CLAUDE_CODE", Some(".claude/skills")),
            switch("KILO_DISABLE_CLAUDE_CODE_SKILLS", Some(".claude/skills")),
        ],
        ..root(base, &[".claude/skills", ".agents/skills"], scope, walk)
    };
    let upwards = |stop| RootBase::Ancestors { stop };
    Profile {
        deviations: DEVIATIONS,
        id: Agent::Kilo.id().into(),
        reader: Some(Agent::Kilo),
        agent: Agent::Kilo.name().into(),
        version: Agent::Kilo.version().into(),
        own: ".kilo/skills".into(),
        environment: texts(&[
            "HOME",
            "XDG_CONFIG_HOME",
            "KILO_CONFIG",
            "KILO_CONFIG_CONTENT",
            "KILO_CONFIG_DIR",
            "KILO_DISABLE_EXTERNAL_SKILLS",
            "KILO_DISABLE_CLAUDE_CODE",
            "KILO_DISABLE_CLAUDE_CODE_SKILLS",
            "KILO_DISABLE_PROJECT_CONFIG",
            "KILO_PERMISSION",
        ]),
        run_variable: Some("KILO".into()),
        fork_of: Some("opencode".into()),
        presence: Some(present(
            ("XDG_CONFIG_HOME", ".config", "kilo"),
            "kilo",
            &[".kilo", ".kilocode", "kilo.json", "kilo.jsonc"],
        )),
        settings: settings::kilo(),
        roots: vec![
            built_in(&[(
                "kilo-config",
                "Guide for Kilo configuration: config paths, kilo.json fields, commands, agents, skills, permissions, MCPs, providers, TUI settings, plus Agent Manager worktree setup/run scripts, workflows, and state. Use for Kilo config questions, locating loaded config, changing settings, or Agent Manager questions about run/setup scripts, worktree setup/workflows, apply/merge/PR/conflicts, missing sessions/worktrees, and agent-manager.json recovery.",
            )]),
            provided(Provider::Bundled),
            provided(Provider::Mcp),
            outside(RootBase::Home, Scope::User, &external),
            outside(upwards(AncestorStop::Worktree), Scope::Project, &external),
            root(
                variable("XDG_CONFIG_HOME", ".config"),
                &["kilo/skill", "kilo/skills"],
                Scope::User,
                &walk,
            ),
            RootRule {
                switches: vec![switch("KILO_DISABLE_PROJECT_CONFIG", None)],
                ..root(upwards(AncestorStop::WorktreeElseFilesystem), &OWN, Scope::Project, &walk)
            },
            root(RootBase::Home, &OWN, Scope::User, &walk),
            root(
                RootBase::IfSet { name: "KILO_CONFIG_DIR".into() },
                &["skill", "skills"],
                Scope::User,
                &walk,
            ),
            root(RootBase::Settings, &[""], Scope::Additional, &walk),
            RootRule {
                walk: WalkRule { into_skills: true, ..WalkRule::plain() },
                ..provided(Provider::Remote)
            },
        ],
        ..super::opencode()
    }
}
