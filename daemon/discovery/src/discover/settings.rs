//! An agent's own settings files: which were read, and what they decide about skills.
//!
//! [`read`] applies a profile's [`SettingsRule`]s in order and collects decisions, each with its
//! file and position. A broken file or an unusable value is reported as a note, never as an error,
//! and does not affect other files.

mod bounds;
mod file_trust;
mod merge;
mod rules;
mod switch;
mod trust;

use std::collections::BTreeMap;
use std::sync::Arc;

use skills_agents::profile::{OnBrokenSettings, RootBase, SettingsItem, SettingsRule};
use skills_syntax::config_tree::{Node, Syntax, SyntaxError};
use skills_syntax::path::AbsPath;
use skills_syntax::text::LineColumn;

use super::links::{self, settings_tops};
use super::owner::Owners;
use super::plugins::{KEY, check_key};
use super::roots::{bases, setting_path, switched_off};
use super::tree::{Fault, FaultKind, PathStatus, TextFile, Tree};
use super::{DiscoveryContext, RootOutcome, SearchRoot, Worktree};
use crate::permission::{Rule, SourceLocation};
use crate::remote::Address;
use file_trust::FileTrust;
use switch::SkillOverride;

pub(super) use file_trust::PluginState;
pub(super) use switch::apply;

/// One settings file that discovery tried to read.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsFile {
    /// Path of the file.
    pub path: AbsPath,
    /// Result of reading it.
    pub outcome: SettingsOutcome,
    /// Decisions and problems, in file order.
    pub notes: Vec<SettingsNote>,
}

/// Result of reading a settings file.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsOutcome {
    /// The file does not exist.
    Missing,
    /// The file was read.
    Read,
    /// The file exists but is not valid.
    Broken(SyntaxError, OnBrokenSettings),
    /// The file exists but cannot be read.
    Fault(Fault, OnBrokenSettings),
    /// The file is not read, for this reason.
    Off(String),
    /// The tree could not answer yet.
    Pending,
}

/// One decision or problem in a settings file.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsNote {
    /// Position in the file.
    pub at: LineColumn,
    /// Description, as a sentence fragment.
    pub message: String,
    /// Suggested action, as a sentence; only for problems.
    pub next: Option<String>,
    /// The skills it affects.
    pub about: NoteScope,
}

/// The skills that a note affects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoteScope {
    /// No particular skills.
    Any,
    /// Skills whose name matches a pattern.
    Names(Box<str>),
    /// The skill at a path, or the skills below it.
    Path(AbsPath),
    /// Skills of a plugin, by its key.
    Plugin(Box<str>),
}

impl SettingsFile {
    /// Returns the problems of the file, each as a sentence fragment with file, line and column if
    /// known.
    pub fn problems(&self) -> Vec<String> {
        let path = self.path.display();
        let shown = |at: LineColumn| format!("`{path}:{}:{}`", at.line, at.column);
        let effect = |broken: OnBrokenSettings| match broken {
            OnBrokenSettings::Refuses => "the agent does not start",
            OnBrokenSettings::Ignores => "the agent ignores it",
        };
        match &self.outcome {
            SettingsOutcome::Broken(flaw, broken) => {
                vec![format!("{} is {}; {}", shown(flaw.at), flaw.message, effect(*broken))]
            }
            SettingsOutcome::Fault(fault, _) if fault.kind == FaultKind::Outside => {
                vec![format!("`{path}` {fault}; skillsd does not read it")]
            }
            SettingsOutcome::Fault(fault, broken) => {
                vec![format!("`{path}` {fault}; {}", effect(*broken))]
            }
            SettingsOutcome::Missing
            | SettingsOutcome::Read
            | SettingsOutcome::Off(_)
            | SettingsOutcome::Pending => {
                let wrong = self.notes.iter().filter(|it| it.next.is_some());
                wrong.map(|it| format!("{}: {}", shown(it.at), it.message)).collect()
            }
        }
    }
}

/// A value in a settings file, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsValue {
    /// The value as written: a path, a URL or a plugin key.
    pub text: Box<str>,
    /// Position of the value.
    pub source: SourceLocation,
}

/// Decisions of all settings files.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) consulted: Vec<SettingsFile>,
    /// Owner and trust of each file that was read.
    file_trusts: Vec<FileTrust>,
    pub(super) paths: Vec<SettingsValue>,
    pub(super) urls: Vec<SettingsValue>,
    pub(super) rules: Vec<Rule>,
    switched: Vec<SkillOverride>,
    /// The plugins named, and whether each is enabled; the last entry for a plugin counts.
    pub(super) plugins: Vec<(SettingsValue, bool)>,
    /// Plugin options by plugin and name; the last value counts.
    pub(super) plugin_options: BTreeMap<String, BTreeMap<String, String>>,
    /// The setting that switches off the agent's bundled skills.
    pub(super) bundled_off: Option<SourceLocation>,
    /// True if the working directory is trusted, with the setting that decides.
    pub(super) trusted: Option<(bool, SourceLocation)>,
    /// The file that lists trusted directories, if the agent has one.
    pub(super) trust_file: Option<AbsPath>,
    /// Hash of the text of the worktree's `.skillsd.toml`, if it exists.
    pub(super) own_file: Option<u64>,
    /// Worktrees whose files must not be links that lead out of them.
    pub(super) tops: Vec<AbsPath>,
    pub(super) complete: bool,
}

impl Settings {
    /// Reads a file on behalf of another file, and adds it to the files consulted.
    pub(super) fn consult(
        &mut self,
        tree: &dyn Tree,
        path: &AbsPath,
        syntax: Syntax,
        broken: OnBrokenSettings,
    ) -> Option<Arc<TextFile>> {
        let (outcome, text) = match tree.look(path) {
            None => (SettingsOutcome::Pending, None),
            // A directory at this path is not meant as a settings file.
            Some(PathStatus::Missing | PathStatus::Directory { .. }) => {
                (SettingsOutcome::Missing, None)
            }
            Some(PathStatus::Fault(fault)) => (SettingsOutcome::Fault(fault, broken), None),
            Some(PathStatus::File | PathStatus::Special(_)) => {
                match links::text(tree, &self.tops, path) {
                    None => (SettingsOutcome::Pending, None),
                    Some(Err(fault)) => (SettingsOutcome::Fault(fault, broken), None),
                    Some(Ok(text)) => match text.document(syntax) {
                        Err(flaw) => (SettingsOutcome::Broken(flaw.clone(), broken), None),
                        Ok(_) => (SettingsOutcome::Read, Some(text)),
                    },
                }
            }
        };
        self.complete &= outcome != SettingsOutcome::Pending;
        if !self.consulted.iter().any(|it| it.path == *path) {
            self.consulted.push(SettingsFile { path: path.clone(), outcome, notes: Vec::new() });
        }
        text
    }

    /// Returns the registry URLs; adds a note for each invalid one.
    pub(super) fn addresses(&mut self) -> Vec<Address> {
        let mut addresses = Vec::new();
        for it in self.urls.clone() {
            match Address::parse(&it.text) {
                Ok(address) => addresses.push(address),
                Err(error) => {
                    let message = format!("`{}` is not the URL of a registry: it {error}", it.text);
                    let next = "Write it as `https://host/path`.".to_owned();
                    self.note(&it.source, message, Some(next));
                }
            }
        }
        addresses
    }

    /// Adds a note for each named directory that does not exist.
    pub(super) fn missing_paths(&mut self, ctx: &DiscoveryContext, roots: &[SearchRoot]) {
        for it in self.paths.clone() {
            let path = setting_path(ctx, &it.text).unwrap_or_else(|(path, _)| path);
            let missing =
                |root: &&SearchRoot| root.outcome == RootOutcome::Missing && root.path == path;
            if roots.iter().any(|root| missing(&root)) {
                let message =
                    format!("`skills.paths` names `{}`, which does not exist", path.display());
                let next = "Create the directory, or remove the entry.".to_owned();
                self.note(&it.source, message, Some(next));
            }
        }
    }

    /// Adds a note that affects no particular skill.
    pub(super) fn note(&mut self, source: &SourceLocation, message: String, next: Option<String>) {
        let about = NoteScope::Any;
        self.add(source, SettingsNote { at: source.at, message, next, about });
    }

    /// Adds a note, unless the file already has an equal one.
    fn note_once(&mut self, source: &SourceLocation, message: &str) {
        let file = self.consulted.iter().find(|it| it.path == source.file);
        let is_same = |it: &SettingsNote| it.at == source.at && it.message == message;
        if !file.is_some_and(|it| it.notes.iter().any(is_same)) {
            self.note(source, message.to_owned(), None);
        }
    }

    /// Adds a note about some skills.
    pub(super) fn note_about(
        &mut self,
        source: &SourceLocation,
        about: NoteScope,
        message: String,
    ) {
        self.add(source, SettingsNote { at: source.at, message, next: None, about });
    }

    fn add(&mut self, source: &SourceLocation, note: SettingsNote) {
        if let Some(file) = self.consulted.iter_mut().find(|it| it.path == source.file) {
            file.notes.push(note);
        }
    }
}

/// Reads the settings files of the context's agent.
pub(super) fn read(
    ctx: &DiscoveryContext,
    worktree: &Worktree,
    owners: &Owners<'_>,
    tree: &dyn Tree,
) -> Settings {
    let tops = settings_tops(owners, worktree);
    let settings = Settings { tops, complete: true, ..Settings::default() };
    let mut reader =
        Reader { ctx, owners, tree, settings, merged: merge::MergedPermissions::default() };
    for rule in &ctx.profile.settings {
        reader.rule(rule, worktree);
    }
    reader.merged.finish(&mut reader.settings);
    reader.settings
}

struct Reader<'a> {
    ctx: &'a DiscoveryContext,
    owners: &'a Owners<'a>,
    tree: &'a dyn Tree,
    settings: Settings,
    merged: merge::MergedPermissions,
}

impl Reader<'_> {
    fn rule(&mut self, rule: &SettingsRule, worktree: &Worktree) {
        let mut found = bases(self.ctx, &rule.base, worktree);
        if matches!(rule.base, RootBase::Ancestors { .. }) && !rule.nearest_first {
            found.reverse();
        }
        let off = switched_off(self.ctx, &rule.switches, "");
        let off = off.or_else(|| self.untrusted().filter(|_| rule.needs_trust));
        for base in found {
            for relative in &rule.relative {
                let (path, off) = match &base {
                    Ok(base) => (base.child(&**relative), off.clone()),
                    Err((path, why)) => (path.child(&**relative), Some(why.clone())),
                };
                if rule.reads.contains(&SettingsItem::TrustedFolders) {
                    self.settings.trust_file = Some(path.clone());
                }
                match off {
                    Some(why) => self.settings.consulted.push(SettingsFile {
                        path,
                        outcome: SettingsOutcome::Off(why),
                        notes: Vec::new(),
                    }),
                    None => self.file(&path, rule),
                }
            }
        }
    }

    fn untrusted(&self) -> Option<String> {
        let (trusted, source) = self.settings.trusted.as_ref()?;
        let file = source.file.display();
        (!trusted).then(|| format!("`{file}` does not trust the working directory"))
    }

    fn file(&mut self, path: &AbsPath, rule: &SettingsRule) {
        // A variable may name a file that is read anyway; the later read counts.
        self.settings.consulted.retain(|it| it.path != *path);
        let text = self.settings.consult(self.tree, path, rule.syntax, rule.broken);
        if let Some(Ok(document)) = text.as_ref().map(|it| it.document(rule.syntax)) {
            self.settings.judge(path, &rule.base, self.ctx.profile.subject(), self.owners);
            for reads in &rule.reads {
                self.take(*reads, document, path);
            }
        }
    }

    fn take(&mut self, reads: SettingsItem, document: &Node, file: &AbsPath) {
        match reads {
            SettingsItem::SkillPaths => self.paths(document, file),
            SettingsItem::SkillUrls => self.urls(document, file),
            SettingsItem::PermissionMap => self.merged.take(document, file, &mut self.settings),
            SettingsItem::PermissionLists => rules::take(document, file, &mut self.settings),
            SettingsItem::SkillOverrides => switch::overrides(document, file, &mut self.settings),
            SettingsItem::DisabledSkills => switch::disabled(document, file, &mut self.settings),
            SettingsItem::SkillsConfig => {
                let home = self.ctx.environment.get("HOME");
                switch::config(document, file, home, self.tree, &mut self.settings);
            }
            SettingsItem::BundledSwitch => {
                if let Some(node) = document.get("disableBundledSkills") {
                    let source = SourceLocation { file: file.clone(), at: node.at };
                    let off = node.flag() == Some(true);
                    let word = if off { "off" } else { "on" };
                    let stays = self.settings.bundled_off.as_ref();
                    let stays = stays.is_some_and(|it| self.settings.may_loosen(&it.file));
                    let stays = stays && !self.settings.may_loosen(file);
                    let until = self.settings.until_trusted(file).filter(|_| stays && !off);
                    let until = until.unwrap_or_default();
                    let message =
                        format!("`disableBundledSkills`: the agent's own skills are {word}{until}");
                    self.settings.note(&source, message, None);
                    if !stays {
                        self.settings.bundled_off = off.then_some(source);
                    }
                }
            }
            SettingsItem::EnabledPlugins => self.plugins(document, file),
            SettingsItem::PluginConfigs => self.plugin_configs(document, file),
            SettingsItem::FolderTrust => trust::asked(document, file, &mut self.settings),
            SettingsItem::TrustedFolders => {
                trust::folders(document, file, &self.ctx.cwd, self.tree, &mut self.settings);
            }
        }
    }

    /// Applies a file's list of directories, which replaces earlier ones. A repository's list may
    /// name directories of the worktree; other directories need trust.
    fn paths(&mut self, document: &Node, file: &AbsPath) {
        let Some(mut list) = self.texts(document, &["skills", "paths"], file) else { return };
        let until = self.settings.until_trusted(file);
        let n_named = list.len();
        list.retain(|it| {
            let path = setting_path(self.ctx, &it.text).unwrap_or_else(|(path, _)| path);
            let waits = until.as_ref().filter(|_| !self.owners.is_in_worktree(&path));
            let waits_shown = waits.map_or("", String::as_str);
            let message = format!("`skills.paths` names `{}`{waits_shown}", it.text);
            let is_taken = waits.is_none();
            self.settings.note_about(&it.source, NoteScope::Path(path), message);
            is_taken
        });
        if n_named == 0 || !list.is_empty() {
            self.settings.paths = list;
        }
    }

    /// Applies a file's list of registries, which replaces earlier ones. A repository's list needs
    /// trust.
    fn urls(&mut self, document: &Node, file: &AbsPath) {
        let Some(list) = self.texts(document, &["skills", "urls"], file) else { return };
        let until = self.settings.until_trusted(file);
        for it in &list {
            let waits = until.as_deref().unwrap_or_default();
            let message = format!("`skills.urls` names `{}`{waits}", it.text);
            self.settings.note(&it.source, message, None);
        }
        if until.is_none() || list.is_empty() {
            self.settings.urls = list;
        }
    }

    /// Returns a list of strings, if the key is present.
    fn texts(
        &mut self,
        document: &Node,
        keys: &[&str],
        file: &AbsPath,
    ) -> Option<Vec<SettingsValue>> {
        let node = document.at_path(keys)?;
        let shown = keys.join(".");
        let source = |at| SourceLocation { file: file.clone(), at };
        let mut named = Vec::new();
        if !matches!(node.value, skills_syntax::config_tree::Value::List(_)) {
            let message = format!("`{shown}` must be a list of strings, not {}", node.kind());
            let next = "Write it as `[\"…\"]`.".to_owned();
            self.settings.note(&source(node.at), message, Some(next));
            return None;
        }
        for item in node.items() {
            if let Some(text) = item.text() {
                named.push(SettingsValue { text: text.into(), source: source(item.at) });
                continue;
            }
            let message = format!("`{shown}` must be a list of strings; this is {}", item.kind());
            let next = "Put it into quotes, or remove it.".to_owned();
            self.settings.note(&source(item.at), message, Some(next));
        }
        Some(named)
    }

    fn plugins(&mut self, document: &Node, file: &AbsPath) {
        for entry in document.get("enabledPlugins").map(Node::entries).unwrap_or_default() {
            let source = SourceLocation { file: file.clone(), at: entry.at };
            // A list of versions enables the plugin as well.
            let on = entry.node.flag().unwrap_or_else(|| !entry.node.items().is_empty());
            if let Err(why) = check_key(&entry.key) {
                self.settings.note(&source, why, Some(KEY.to_owned()));
                continue;
            }
            let word = if on { "on" } else { "off" };
            let about = NoteScope::Plugin(entry.key.clone());
            let until = self.settings.until_trusted(file).filter(|_| on).unwrap_or_default();
            let message = format!("plugin `{}` is {word}{until}", entry.key);
            self.settings.note_about(&source, about, message);
            self.settings.plugins.push((SettingsValue { text: entry.key.clone(), source }, on));
        }
    }

    fn plugin_configs(&mut self, document: &Node, file: &AbsPath) {
        for entry in document.get("pluginConfigs").map(Node::entries).unwrap_or_default() {
            let options = entry.node.get("options").map(Node::entries).unwrap_or_default();
            let names: Vec<_> = options.iter().map(|it| format!("`{}`", it.key)).collect();
            if names.is_empty() {
                continue;
            }
            // The values are private to the user, so only the names are shown.
            let source = SourceLocation { file: file.clone(), at: entry.at };
            let until = self.settings.until_trusted(file);
            let waits = until.as_deref().unwrap_or_default();
            let message = format!("plugin `{}` is given {}{waits}", entry.key, names.join(", "));
            self.settings.note(&source, message, None);
            if until.is_some() {
                continue;
            }
            let kept = self.settings.plugin_options.entry(entry.key.to_string()).or_default();
            kept.extend(
                options.iter().filter_map(|it| Some((it.key.to_string(), it.node.plain()?))),
            );
        }
    }
}
