//! The rows' configuration files: which each agent reads, in which order, and for what.
//!
//! Kept beside the table because they are long; evidence is that of the row unless it says
//! otherwise.

use skills_syntax::config_tree::Syntax;

use super::{Base, Broken, Reads, SettingsRule, Stop, Switch, Text};

fn rule(base: Base, relative: &[&'static str], syntax: Syntax, reads: &[Reads]) -> SettingsRule {
    SettingsRule {
        base,
        relative: relative.iter().map(|it| Text::Borrowed(it)).collect(),
        nearest_first: false,
        syntax,
        reads: reads.to_vec(),
        broken: Broken::Ignores,
        needs_trust: false,
        switches: Vec::new(),
    }
}

fn variable(name: &'static str, below_home: &'static str) -> Base {
    Base::Variable { name: name.into(), below_home: below_home.into() }
}

/// Later files override earlier ones: the user's own, `$OPENCODE_CONFIG`, the worktree's from
/// the outermost down, then what lies in the configuration directories.
pub(super) fn opencode() -> Vec<SettingsRule> {
    let reads = [Reads::SkillPaths, Reads::SkillUrls, Reads::PermissionMap];
    // Source: comments and commas behind the last item are taken, anything else ends the start.
    let rule = |base: Base, relative: &[&'static str]| SettingsRule {
        broken: Broken::Refuses,
        ..rule(base, relative, Syntax::JsonLoose, &reads)
    };
    let project = |rule: SettingsRule| SettingsRule {
        switches: vec![Switch {
            variable: "OPENCODE_DISABLE_PROJECT_CONFIG".into(),
            relative: None,
        }],
        ..rule
    };
    let upwards = || Base::Ancestors { stop: Stop::WorktreeElseFilesystem };
    let own = ["opencode.jsonc", "opencode.json"];
    let below = [".opencode/opencode.jsonc", ".opencode/opencode.json"];
    vec![
        rule(
            variable("XDG_CONFIG_HOME", ".config"),
            &["opencode/config.json", "opencode/opencode.json", "opencode/opencode.jsonc"],
        ),
        rule(Base::IfSet { name: "OPENCODE_CONFIG".into() }, &[""]),
        project(rule(upwards(), &own[..1])),
        project(rule(upwards(), &own[1..])),
        project(SettingsRule { nearest_first: true, ..rule(upwards(), &below) }),
        rule(Base::Home, &below),
        rule(Base::IfSet { name: "OPENCODE_CONFIG_DIR".into() }, &own),
    ]
}

/// Source: of all layers of the configuration only the user's own switches skills.
pub(super) fn codex() -> Vec<SettingsRule> {
    vec![SettingsRule {
        broken: Broken::Refuses,
        ..rule(
            variable("CODEX_HOME", ".codex"),
            &["config.toml"],
            Syntax::Toml,
            &[Reads::SkillsConfig],
        )
    }]
}

/// What is switched off in one file is off; trust decides whether the worktree's file is read.
pub(super) fn gemini_cli() -> Vec<SettingsRule> {
    let home = || variable("GEMINI_CLI_HOME", "");
    let json = Syntax::JsonWithComments;
    let reads = [Reads::FolderTrust, Reads::DisabledSkills];
    let rule = |base: Base, relative: &[&'static str], reads: &[Reads]| SettingsRule {
        broken: Broken::Refuses,
        ..rule(base, relative, json, reads)
    };
    vec![
        rule(
            Base::Absolute("/etc/gemini-cli".into()),
            &["system-defaults.json", "settings.json"],
            &reads,
        ),
        rule(home(), &[".gemini/settings.json"], &reads),
        rule(home(), &[".gemini/trustedFolders.json"], &[Reads::TrustedFolders]),
        SettingsRule {
            needs_trust: true,
            ..rule(
                Base::Ancestors { stop: Stop::Cwd },
                &[".gemini/settings.json"],
                &[Reads::DisabledSkills],
            )
        },
    ]
}

/// The user's, the project's, the project's local, the managed one: each overrides those
/// before it. Documentation; the project's are those of the working directory itself.
pub(super) fn claude_code() -> Vec<SettingsRule> {
    let reads = [
        Reads::SkillOverrides,
        Reads::PermissionLists,
        Reads::BundledSwitch,
        Reads::EnabledPlugins,
    ];
    let own = reads.into_iter().chain([Reads::PluginConfigs]).collect::<Vec<_>>();
    let rule = |base: Base, relative: &[&'static str], reads: &[Reads]| {
        rule(base, relative, Syntax::Json, reads)
    };
    vec![
        rule(variable("CLAUDE_CONFIG_DIR", ".claude"), &["settings.json"], &own),
        rule(
            Base::Ancestors { stop: Stop::Cwd },
            &[".claude/settings.json", ".claude/settings.local.json"],
            &reads,
        ),
        rule(Base::Absolute("/etc/claude-code".into()), &["managed-settings.json"], &own),
    ]
}
