//! The rows' configuration files: which each agent reads, in which order, and for what.
//!
//! Kept beside the table because they are long; evidence is that of the row unless it says
//! otherwise.

use skills_syntax::config_tree::Syntax;

use super::{
    AncestorStop, DisableSwitch, OnBrokenSettings, RootBase, SettingsItem, SettingsRule, Text,
};

fn rule(
    base: RootBase,
    relative: &[&'static str],
    syntax: Syntax,
    reads: &[SettingsItem],
) -> SettingsRule {
    SettingsRule {
        base,
        relative: relative.iter().map(|it| Text::Borrowed(it)).collect(),
        nearest_first: false,
        syntax,
        reads: reads.to_vec(),
        broken: OnBrokenSettings::Ignores,
        needs_trust: false,
        switches: Vec::new(),
    }
}

fn variable(name: &'static str, below_home: &'static str) -> RootBase {
    RootBase::Variable { name: name.into(), below_home: below_home.into() }
}

/// Later files override earlier ones: the user's own, `$OPENCODE_CONFIG`, the worktree's from
/// the outermost down, then what lies in the configuration directories.
pub(super) fn opencode() -> Vec<SettingsRule> {
    let reads = [SettingsItem::SkillPaths, SettingsItem::SkillUrls, SettingsItem::PermissionMap];
    // Source: comments and commas behind the last item are taken, anything else ends the start.
    let rule = |base: RootBase, relative: &[&'static str]| SettingsRule {
        broken: OnBrokenSettings::Refuses,
        ..rule(base, relative, Syntax::JsonLoose, &reads)
    };
    let project = |rule: SettingsRule| SettingsRule {
        switches: vec![DisableSwitch {
            variable: "OPENCODE_DISABLE_PROJECT_CONFIG".into(),
            relative: None,
        }],
        ..rule
    };
    let upwards = || RootBase::Ancestors { stop: AncestorStop::WorktreeElseFilesystem };
    let own = ["opencode.jsonc", "opencode.json"];
    let below = [".opencode/opencode.jsonc", ".opencode/opencode.json"];
    vec![
        rule(
            variable("XDG_CONFIG_HOME", ".config"),
            &["opencode/config.json", "opencode/opencode.json", "opencode/opencode.jsonc"],
        ),
        rule(RootBase::IfSet { name: "OPENCODE_CONFIG".into() }, &[""]),
        project(rule(upwards(), &own[..1])),
        project(rule(upwards(), &own[1..])),
        project(SettingsRule { nearest_first: true, ..rule(upwards(), &below) }),
        rule(RootBase::Home, &below),
        rule(RootBase::IfSet { name: "OPENCODE_CONFIG_DIR".into() }, &own),
    ]
}

/// Source: of all layers of the configuration only the user's own switches skills.
pub(super) fn codex() -> Vec<SettingsRule> {
    vec![SettingsRule {
        broken: OnBrokenSettings::Refuses,
        ..rule(
            variable("CODEX_HOME", ".codex"),
            &["config.toml"],
            Syntax::Toml,
            &[SettingsItem::SkillsConfig],
        )
    }]
}

/// What is switched off in one file is off; trust decides whether the worktree's file is read.
pub(super) fn gemini_cli() -> Vec<SettingsRule> {
    let home = || variable("GEMINI_CLI_HOME", "");
    let json = Syntax::JsonWithComments;
    let reads = [SettingsItem::FolderTrust, SettingsItem::DisabledSkills];
    let rule = |base: RootBase, relative: &[&'static str], reads: &[SettingsItem]| SettingsRule {
        broken: OnBrokenSettings::Refuses,
        ..rule(base, relative, json, reads)
    };
    vec![
        rule(
            RootBase::Absolute("/etc/gemini-cli".into()),
            &["system-defaults.json", "settings.json"],
            &reads,
        ),
        rule(home(), &[".gemini/settings.json"], &reads),
        rule(home(), &[".gemini/trustedFolders.json"], &[SettingsItem::TrustedFolders]),
        SettingsRule {
            needs_trust: true,
            ..rule(
                RootBase::Ancestors { stop: AncestorStop::Cwd },
                &[".gemini/settings.json"],
                &[SettingsItem::DisabledSkills],
            )
        },
    ]
}

/// The user's, the project's, the project's local, the managed one: each overrides those
/// before it. Documentation; the project's are those of the working directory itself.
pub(super) fn claude_code() -> Vec<SettingsRule> {
    let reads = [
        SettingsItem::SkillOverrides,
        SettingsItem::PermissionLists,
        SettingsItem::BundledSwitch,
        SettingsItem::EnabledPlugins,
    ];
    let own = reads.into_iter().chain([SettingsItem::PluginConfigs]).collect::<Vec<_>>();
    let rule = |base: RootBase, relative: &[&'static str], reads: &[SettingsItem]| {
        rule(base, relative, Syntax::Json, reads)
    };
    vec![
        rule(variable("CLAUDE_CONFIG_DIR", ".claude"), &["settings.json"], &own),
        rule(
            RootBase::Ancestors { stop: AncestorStop::Cwd },
            &[".claude/settings.json", ".claude/settings.local.json"],
            &reads,
        ),
        rule(RootBase::Absolute("/etc/claude-code".into()), &["managed-settings.json"], &own),
    ]
}
