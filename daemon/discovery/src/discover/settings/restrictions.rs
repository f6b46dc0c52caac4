//! Restrictions in Claude Code's settings files: rules about the shell, and switches that keep
//! skills, hooks and plugins from being used.
//!
//! A switch of managed settings counts only there and cannot be undone by another file. A switch
//! that any file may set only makes stricter, so it needs no trust.

use skills_syntax::config_tree::Node;
use skills_syntax::path::AbsPath;

use super::decisions::SettingsDecisions;
use super::marketplaces::MarketplaceSource;
use crate::discover::owner::Owner;
use crate::permission::{
    Action, Author, MAX_RULES, Restrictions, Rule, SHELL_TOOL, SourceLocation, Switch, names_tool,
};

/// Adds the restrictions of one file.
pub(super) fn apply(document: &Node, file: &AbsPath, settings: &mut SettingsDecisions) {
    shell_rules(document, file, settings);
    let is_managed = settings.owner_of(file) == Owner::Managed;
    let switch = |key: &'static str, is_on: fn(&Node) -> bool| {
        let node = document.get(key).filter(|it| is_on(it))?;
        Some(Switch { key, source: SourceLocation { file: file.clone(), at: node.at } })
    };
    let is_true = |it: &Node| it.flag() == Some(true);
    let managed = |key, is_on| switch(key, is_on).filter(|_| is_managed);
    let all_off = switch("disableAllHooks", is_true);
    let found = Restrictions {
        shell: Vec::new(),
        no_shell: switch("disableSkillShellExecution", is_true),
        no_hooks: all_off.clone().filter(|_| is_managed),
        managed_hooks: managed("allowManagedHooksOnly", is_true).or(all_off),
        managed_rules: managed("allowManagedPermissionRulesOnly", is_true),
        plugin_skills: managed(PLUGIN_ONLY, |it| locks(it, "skills")),
        plugin_hooks: managed(PLUGIN_ONLY, |it| locks(it, "hooks")),
        no_local_plugins: managed("strictKnownMarketplaces", |it| !names_skills_dir(it))
            .or(managed("blockedMarketplaces", names_skills_dir)),
    };
    if is_managed {
        let list = |key| Some((switch(key, |_| true)?, sources(document.get(key)?)));
        let known = &mut settings.marketplaces;
        known.allowed = list("strictKnownMarketplaces").or(known.allowed.take());
        known.blocked = list("blockedMarketplaces").or(known.blocked.take());
    }
    let all = &mut settings.restrictions;
    let mut told = Vec::new();
    for (known, found) in [
        (&mut all.no_shell, found.no_shell),
        (&mut all.no_hooks, found.no_hooks),
        (&mut all.managed_hooks, found.managed_hooks),
        (&mut all.managed_rules, found.managed_rules),
        (&mut all.plugin_skills, found.plugin_skills),
        (&mut all.plugin_hooks, found.plugin_hooks),
        (&mut all.no_local_plugins, found.no_local_plugins),
    ] {
        told.extend(found.clone());
        // The last file is the managed one.
        *known = found.or(known.take());
    }
    for it in told {
        settings.note_once(&it.source, &format!("`{}` restricts skills", it.key));
    }
}

const PLUGIN_ONLY: &str = "strictPluginOnlyCustomization";

/// Returns whether the value of `strictPluginOnlyCustomization` locks a surface. Measured: a text
/// locks all; other types lock nothing.
fn locks(value: &Node, surface: &str) -> bool {
    value.flag() == Some(true)
        || value.text().is_some()
        || value.items().iter().any(|it| it.text() == Some(surface))
}

fn sources(list: &Node) -> Vec<MarketplaceSource> {
    list.items().iter().map(MarketplaceSource::new).collect()
}

/// Returns whether a list of marketplaces contains the one of the directories of skills.
fn names_skills_dir(list: &Node) -> bool {
    let is_it = |it: &Node| it.get("source").and_then(Node::text) == Some("skills-dir");
    list.items().iter().any(is_it)
}

/// Adds the rules that deny or ask before a shell command. Rules that allow have no effect on
/// skillsd, which asks for more than the agent does.
fn shell_rules(document: &Node, file: &AbsPath, settings: &mut SettingsDecisions) {
    for action in [Action::Deny, Action::Ask] {
        let list = document.at_path(&["permissions", action.name()]).map(Node::items);
        for item in list.unwrap_or_default() {
            let Some(text) = item.text().map(str::trim) else { continue };
            let text = if names_tool(text, SHELL_TOOL) { SHELL_TOOL } else { text };
            let rest = text.strip_prefix(SHELL_TOOL);
            if !rest.is_some_and(|it| it.is_empty() || it.starts_with('(')) {
                continue;
            }
            let source = SourceLocation { file: file.clone(), at: item.at };
            let all = &mut settings.restrictions.shell;
            // A rule over the limit applies to every command.
            // Counted for each file: no file takes the place of another's rules.
            let of_file = all.iter().filter(|it| it.source.file == *file).count();
            let (is_over, author) = (of_file >= MAX_RULES, Author::Agent);
            let pattern = if is_over { SHELL_TOOL } else { text };
            let rule = Rule { author, agent: None, pattern: pattern.into(), action, source };
            let is_known = |it: &Rule| {
                it.action == action && &*it.pattern == SHELL_TOOL && it.source.file == *file
            };
            if !(is_over && all.iter().any(is_known)) {
                all.push(rule);
            }
        }
    }
}

/// Drops the rules of other files if only those of managed settings count.
pub(super) fn finish(settings: &mut SettingsDecisions) {
    if settings.restrictions.managed_rules.is_none() {
        return;
    }
    let keeps = |settings: &SettingsDecisions, it: &Rule| {
        settings.owner_of(&it.source.file) == Owner::Managed
    };
    let rules = std::mem::take(&mut settings.rules);
    settings.rules = rules.into_iter().filter(|it| keeps(settings, it)).collect();
    let shell = std::mem::take(&mut settings.restrictions.shell);
    settings.restrictions.shell = shell.into_iter().filter(|it| keeps(settings, it)).collect();
}
