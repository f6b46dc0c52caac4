//! Claude Code's plugins: which are installed, which are on, and where their skills are.
//!
//! What is installed stands in `installed_plugins.json`, in two versions; where a marketplace
//! keeps its files in `known_marketplaces.json`; which skills a plugin has in the marketplace's
//! list, in the plugin's own manifest, or simply in its `skills` directory. Each of these files
//! is consulted like a configuration file, with what it decides and where.

use std::collections::BTreeMap;
use std::sync::Arc;

use skills_agents::profile::{OnBrokenSettings, PluginRule, RootContent};
use skills_syntax::config_tree::{Node, Syntax};
use skills_syntax::path::{AbsPath, check_component};

use super::owner::Owners;
use super::roots::variable;
use super::settings::{About, Enabled, Settings};
use super::tree::{ItemKind, Place, TextFile, Tree};
use super::{DiscoveryContext, Owner};
use crate::permission::Source;

/// A plugin that skills belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin {
    /// Its name.
    pub name: String,
    /// Its name and its marketplace's, as settings call it: `name@market`.
    pub key: String,
    /// Its directory: what skills know as `${CLAUDE_PLUGIN_ROOT}`.
    pub root: AbsPath,
    /// Where it keeps what outlives an update: `${CLAUDE_PLUGIN_DATA}`.
    pub data: Option<AbsPath>,
    /// What the user has set for it, or else its own defaults, as `${user_config.X}`; nothing that
    /// its manifest calls sensitive.
    pub config: BTreeMap<String, String>,
}

/// A directory or file of a plugin.
#[derive(Clone, Debug)]
pub(super) struct Holding {
    pub(super) path: AbsPath,
    pub(super) seeks: RootContent,
    pub(super) form: Form,
    /// Why it is not looked at.
    pub(super) off: Option<String>,
    pub(super) plugin: Arc<Plugin>,
    pub(super) owner: Owner,
    /// The place that trust in it is given to, where that is not its own: the worktree that
    /// switches it on.
    pub(super) place: Option<AbsPath>,
}

/// How a path of a plugin is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A directory of skills or commands, as every plugin may have one.
    Holder,
    /// A path that the manifest names: as `Holder`, or a skill or command itself.
    Named,
    /// A skill's directory.
    Skill,
}

/// Finds the plugins of a site.
pub(super) fn find(
    ctx: &DiscoveryContext,
    rule: &PluginRule,
    owners: &Owners<'_>,
    tree: &dyn Tree,
    settings: &mut Settings,
) -> Vec<Holding> {
    let Some(home) = home(ctx, rule) else { return Vec::new() };
    let declared = owners.variable_owner(rule.variable.as_deref(), ".claude", &home);
    let found = Vec::new();
    let mut finder = Finder { ctx, rule, owners, tree, settings, home, declared, found };
    if rule.cache {
        finder.cache();
    }
    finder.installed();
    finder.found
}

/// Returns Claude Code's directory of plugins.
fn home(ctx: &DiscoveryContext, rule: &PluginRule) -> Option<AbsPath> {
    let named = rule.variable.as_ref().and_then(|it| variable(ctx, it).ok());
    let home = named.or_else(|| Some(variable(ctx, "HOME").ok()?.child(".claude")))?;
    Some(home.child("plugins"))
}

/// Finds what a directory in a directory of skills holds that is a plugin by its manifest. The
/// directory of skills belongs to `declared`.
pub(super) fn beside_skills(
    ctx: &DiscoveryContext,
    rule: &PluginRule,
    dir: &AbsPath,
    declared: Owner,
    owners: &Owners<'_>,
    tree: &dyn Tree,
    settings: &mut Settings,
) -> Vec<Holding> {
    let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (home, found) = (dir.clone(), Vec::new());
    let mut finder = Finder { ctx, rule, owners, tree, settings, home, declared, found };
    if finder.document(&dir.child(MANIFEST)).is_none() {
        return Vec::new();
    }
    finder.plugin(&name, "skills-dir", dir, None, true);
    finder.found
}

/// Where a plugin says what it is.
pub(super) const MANIFEST: &str = ".claude-plugin/plugin.json";

/// The form of a plugin's key, for people.
pub(super) const KEY: &str = "Write names without slashes, as `plugin@marketplace`.";

/// The owner of a manifest's paths, for people.
const PLUGIN: &str = "the plugin";

/// Where a marketplace says what it offers.
const MARKETPLACE: &str = ".claude-plugin/marketplace.json";

struct Finder<'a> {
    ctx: &'a DiscoveryContext,
    rule: &'a PluginRule,
    owners: &'a Owners<'a>,
    tree: &'a dyn Tree,
    settings: &'a mut Settings,
    /// Claude Code's directory of plugins, or the plugin in a directory of skills.
    home: AbsPath,
    /// The owner of that directory.
    declared: Owner,
    found: Vec<Holding>,
}

/// What a marketplace says of a plugin.
struct Offer {
    /// The plugin's directory in the marketplace's own.
    root: AbsPath,
    /// The directories of its skills, where they are listed.
    skills: Option<Vec<AbsPath>>,
}

impl Finder<'_> {
    fn document(&mut self, path: &AbsPath) -> Option<Arc<TextFile>> {
        self.settings.consult(self.tree, path, Syntax::Json, OnBrokenSettings::Ignores)
    }

    fn is_directory(&mut self, path: &AbsPath) -> bool {
        let place = self.tree.look(path);
        self.settings.complete &= place.is_some();
        matches!(place, Some(Place::Directory { .. }))
    }

    /// Returns the sub-directories of a directory, links not followed.
    fn directories(&mut self, path: &AbsPath) -> Vec<AbsPath> {
        if !self.is_directory(path) {
            return Vec::new();
        }
        match self.tree.list(path) {
            None => {
                self.settings.complete = false;
                Vec::new()
            }
            Some(Err(_)) => Vec::new(),
            Some(Ok(listing)) => {
                let items = listing.items.iter().filter(|it| it.kind == ItemKind::Directory);
                items.map(|it| path.child(&it.name)).collect()
            }
        }
    }

    fn hold(&mut self, path: AbsPath, seeks: RootContent, form: Form, plugin: &Arc<Plugin>) {
        if self.found.iter().any(|it| it.path == path && it.seeks == seeks) {
            return;
        }
        let plugin = Arc::clone(plugin);
        let owner = self.owners.below(&self.home, self.declared, &plugin.root);
        self.found.push(Holding { path, seeks, form, off: None, plugin, owner, place: None });
    }

    /// Takes what lies in the cache, whether it is installed or not.
    fn cache(&mut self) {
        for first in self.directories(&self.home.child("cache")) {
            self.cached("", &first);
            for plugin in self.directories(&first) {
                let market = first.file_name().unwrap_or_default().to_string_lossy().into_owned();
                for version in self.directories(&plugin) {
                    self.cached(&market, &version);
                }
            }
        }
    }

    fn cached(&mut self, market: &str, root: &AbsPath) {
        let skills = root.child("skills");
        if !self.is_directory(&skills) {
            return;
        }
        let named = if market.is_empty() { Some(root.clone()) } else { root.parent() };
        let name = named.and_then(|it| Some(it.file_name()?.to_string_lossy().into_owned()));
        let name = name.unwrap_or_default();
        let key = format!("{name}@{market}");
        let plugin = self.described(name, key, root, None);
        self.hold(skills, RootContent::Skills, Form::Holder, &Arc::new(plugin));
    }

    fn installed(&mut self) {
        let path = self.home.child("installed_plugins.json");
        let text = self.document(&path);
        let mut seen = Vec::new();
        if let Some(Ok(document)) = text.as_ref().map(|it| it.document(Syntax::Json)) {
            for entry in document.get("plugins").map(Node::entries).unwrap_or_default() {
                let source = Source { file: path.clone(), at: entry.at };
                // Version 1 has one record for each plugin, version 2 a list of them.
                let one = std::slice::from_ref(&entry.node);
                let records = if entry.node.items().is_empty() { one } else { entry.node.items() };
                let is_list = !entry.node.items().is_empty();
                let Some((name, market)) = entry.key.rsplit_once('@').filter(|it| !it.0.is_empty())
                else {
                    let message = format!("`{}` names no marketplace", entry.key);
                    let next = "Write it as `plugin@marketplace`.".to_owned();
                    self.settings.note(&source, message, Some(next));
                    continue;
                };
                if let Err(why) = check_key(&entry.key) {
                    self.settings.note(&source, why, Some(KEY.to_owned()));
                    continue;
                }
                seen.push(entry.key.to_string());
                for record in records {
                    self.record(name, market, record, is_list, &source);
                }
            }
        }
        if self.rule.enabled_only {
            self.enabled_in_cache(&seen);
        }
    }

    fn record(&mut self, name: &str, market: &str, record: &Node, is_list: bool, source: &Source) {
        let text = |key| record.get(key).and_then(Node::text);
        if matches!(text("scope"), Some("project" | "local"))
            && let Some(project) = text("projectPath")
            && !self.ctx.cwd.starts_with(project)
        {
            let message = format!("`{name}@{market}` is installed for `{project}` only");
            let about = About::Plugin(format!("{name}@{market}").into());
            return self.settings.note_about(source, about, message);
        }
        let path = text("installPath").and_then(|it| AbsPath::new(it.as_ref()).ok());
        let path = path.filter(|it| self.may_name("installPath", it, source));
        let installed = path.filter(|it| self.is_directory(it));
        let offer = self.offer(name, market, is_list.then_some(installed.as_ref()).flatten());
        let root = match (installed, &offer) {
            (Some(path), _) if is_list => path,
            (_, Some(offer)) => offer.root.clone(),
            (Some(path), None) => path,
            (None, None) => {
                let message =
                    format!("`{name}@{market}` is installed, but its directory is not there");
                let next = "Install the plugin again, or remove the entry.".to_owned();
                return self.settings.note(source, message, Some(next));
            }
        };
        let about = About::Plugin(format!("{name}@{market}").into());
        let message = format!("`{name}@{market}` is at `{}`", root.display());
        self.settings.note_about(source, about, message);
        self.plugin(name, market, &root, offer, false);
    }

    /// Returns what the marketplace says; `installed` is the plugin's own copy.
    fn offer(&mut self, name: &str, market: &str, installed: Option<&AbsPath>) -> Option<Offer> {
        let known = self.home.child("known_marketplaces.json");
        let location = self.document(&known).and_then(|it| {
            let document = it.document(Syntax::Json).ok()?;
            let node = document.at_path(&[market, "installLocation"])?;
            let location = AbsPath::new(node.text()?.as_ref()).ok()?;
            let source = Source { file: known.clone(), at: node.at };
            self.may_name("installLocation", &location, &source).then_some(location)
        });
        let dir = location.unwrap_or_else(|| self.home.child("marketplaces").child(market));
        let path = dir.child(MARKETPLACE);
        let text = self.document(&path)?;
        let document = text.document(Syntax::Json).ok()?;
        let plugins = document.get("plugins")?.items();
        let plugin = plugins.iter().find(|it| it.get("name").and_then(Node::text) == Some(name))?;
        let root = match plugin.get("source").and_then(|it| Some((it.at, it.text()?))) {
            None => dir.clone(),
            Some((at, text)) => {
                let source = Source { file: path.clone(), at };
                self.within("source", text, &dir, "the marketplace", &source)?
            }
        };
        let root = installed.cloned().unwrap_or(root);
        let listed = plugin.get("skills").map(|it| (it, texts_of(it)));
        let skills = listed.map(|(node, texts)| {
            let source = Source { file: path.clone(), at: node.at };
            let message = format!("`{name}` offers {}", texts.join(", "));
            let about = About::Plugin(format!("{name}@{market}").into());
            self.settings.note_about(&source, about, message);
            let texts = texts.iter();
            texts.filter_map(|it| self.within("skills", it, &root, PLUGIN, &source)).collect()
        });
        Some(Offer { root, skills })
    }

    /// Takes up a plugin: what is listed for it, or what its manifest and its directory say.
    fn plugin(&mut self, name: &str, market: &str, root: &AbsPath, offer: Option<Offer>, on: bool) {
        let key = format!("{name}@{market}");
        let (off, place) = self.standing(&key, on);
        let by_repository = place.is_some();
        // A plugin in another worktree is that worktree's.
        let is_beside = self.owners.is_beneath(root, &self.home);
        let place = place.filter(|_| is_beside || !self.owners.is_in_any_worktree(root));
        let manifest_path = root.child(MANIFEST);
        let reads_manifest = !self.rule.manifest.is_empty();
        let manifest = reads_manifest.then(|| self.document(&manifest_path)).flatten();
        let document = manifest.as_ref().and_then(|it| it.document(Syntax::Json).ok());
        let own = document.and_then(|it| it.get("name")).and_then(|it| Some((it.at, it.text()?)));
        let own = own.filter(|(_, it)| !it.is_empty());
        let own = own.filter(|(at, it)| match check_component(it) {
            Ok(()) => true,
            Err(why) => {
                let source = Source { file: manifest_path.clone(), at: *at };
                let message = format!("the plugin's name `{it}` {why}; `{name}` counts");
                self.settings.note(&source, message, Some(KEY.to_owned()));
                false
            }
        });
        let name = own.map_or(name, |(_, it)| it).to_owned();
        let plugin = Arc::new(self.described(name, key, root, document));
        let first = self.found.len();
        match offer.and_then(|it| it.skills) {
            Some(skills) => {
                for skill in skills {
                    self.hold(skill, RootContent::Skills, Form::Skill, &plugin);
                }
            }
            None => self.hold(root.child("skills"), RootContent::Skills, Form::Holder, &plugin),
        }
        if reads_manifest {
            self.hold(root.child("commands"), RootContent::Commands, Form::Holder, &plugin);
        }
        for key in document.map(|_| self.rule.manifest.clone()).unwrap_or_default() {
            let Some(entry) = document.and_then(|it| it.entry(&key)) else { continue };
            let source = Source { file: manifest_path.clone(), at: entry.at };
            let seeks = if key == "commands" { RootContent::Commands } else { RootContent::Skills };
            for text in texts_of(&entry.node) {
                let Some(path) = self.within(&key, &text, root, PLUGIN, &source) else { continue };
                let about = About::Plugin(plugin.key.as_str().into());
                self.settings.note_about(&source, about, format!("`{key}` names `{text}`"));
                self.hold(path, seeks, Form::Named, &plugin);
            }
        }
        for it in &mut self.found[first..] {
            it.off.clone_from(&off);
            if by_repository {
                it.owner = Owner::Repository;
                it.place.clone_from(&place);
            }
        }
    }

    /// Returns where a path leads that a manifest or a marketplace names, if it stays in what owns
    /// it, links on the way included.
    fn within(
        &mut self,
        key: &str,
        text: &str,
        dir: &AbsPath,
        owner: &str,
        source: &Source,
    ) -> Option<AbsPath> {
        let path = dir.join_lexically(text);
        if !text.contains(['\\', '\0']) && self.owners.is_beneath(&path, dir) {
            return Some(path);
        }
        let message = format!("`{key}` leads out of {owner}: `{text}`");
        let next = format!("Write a path below {owner}, as `./skills`.");
        self.settings.note(source, message, Some(next));
        None
    }

    /// Returns whether a file beside the plugins may name a directory. The user's files may name
    /// any directory, a repository's files only one beside them.
    fn may_name(&mut self, key: &str, path: &AbsPath, source: &Source) -> bool {
        if self.declared.is_own() || self.owners.is_beneath(path, &self.home) {
            return true;
        }
        let message =
            format!("`{key}` leads out of the repository's plugins: `{}`", path.display());
        let next = "Install the plugin into your own directory of plugins.".to_owned();
        self.settings.note(source, message, Some(next));
        false
    }

    /// Returns a plugin with what its skills may ask for.
    fn described(
        &self,
        name: String,
        key: String,
        root: &AbsPath,
        manifest: Option<&Node>,
    ) -> Plugin {
        let declared = manifest.and_then(|it| it.get("userConfig")).map(Node::entries);
        let declared = declared.unwrap_or_default();
        let is_sensitive = |name: &str| {
            let of = declared.iter().find(|it| &*it.key == name);
            of.and_then(|it| it.node.get("sensitive")?.flag()).unwrap_or_default()
        };
        let defaults = declared
            .iter()
            .filter_map(|it| Some((it.key.to_string(), it.node.get("default")?.plain()?)));
        let mut config: BTreeMap<_, _> = defaults.collect();
        config.extend(self.settings.plugin_options.get(&key).cloned().unwrap_or_default());
        config.retain(|name, _| !is_sensitive(name));
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let id: String = key.chars().map(plain).collect();
        let data = home(self.ctx, self.rule).map(|it| it.child("data").child(&id));
        Plugin { name, key, root: root.clone(), data, config }
    }

    /// Returns why a plugin does not count, and the place that trust in it is given to where a
    /// repository switches it on. `on` is what holds where no file says.
    fn standing(&self, key: &str, on: bool) -> (Option<String>, Option<AbsPath>) {
        if !self.rule.enabled_only {
            return (None, None);
        }
        let at = |source: &Source| {
            let (file, at) = (source.file.display(), source.at);
            format!("`{file}:{}:{}`", at.line, at.column)
        };
        match self.settings.enabled(key, on) {
            Enabled::Yes => (None, None),
            Enabled::ByRepository(source) => (None, Some(self.owners.place(&source.file))),
            Enabled::Unsaid => {
                (Some(format!("no settings file has `{key}` in its `enabledPlugins`")), None)
            }
            Enabled::No(source) => (Some(format!("{} switches `{key}` off", at(source))), None),
            Enabled::Waits(source) => {
                let until = self.settings.until_trusted(&source.file).unwrap_or_default();
                (Some(format!("{} switches `{key}` on{until}", at(source))), None)
            }
        }
    }

    /// Takes plugins that are on and in the cache, though nothing says that they are installed.
    fn enabled_in_cache(&mut self, seen: &[String]) {
        let enabled = self.settings.plugins.iter().map(|(it, _)| it.clone());
        let mut keys: Vec<_> = enabled.filter(|it| !seen.contains(&it.text.to_string())).collect();
        keys.dedup_by(|a, b| a.text == b.text);
        for named in keys {
            let Some((name, market)) = named.text.rsplit_once('@') else { continue };
            let is_on = matches!(
                self.settings.enabled(&named.text, false),
                Enabled::Yes | Enabled::ByRepository(_)
            );
            if market == "skills-dir" || !is_on {
                continue;
            }
            let cache = self.home.child("cache");
            let versions = self.directories(&cache.child(market).child(name));
            let latest = versions.into_iter().max_by_key(version_of);
            let plain = cache.child(name);
            let root = match latest {
                Some(root) => root,
                None if self.is_directory(&plain.child("skills")) => plain,
                None => {
                    let message = format!("`{}` is on, but not installed", named.text);
                    let next = "Install the plugin, or remove the entry.".to_owned();
                    self.settings.note(&named.source, message, Some(next));
                    continue;
                }
            };
            if !self.owners.is_beneath(&root, &cache) {
                let message = format!("`{}` leads out of the cache of plugins", named.text);
                let next = "Remove the link from the cache, and install the plugin again.";
                self.settings.note(&named.source, message, Some(next.to_owned()));
                continue;
            }
            self.plugin(name, market, &root, None, false);
        }
    }
}

/// Checks a plugin's key, `name@market`: both become directories in the cache of plugins.
pub(super) fn check_key(key: &str) -> Result<(), String> {
    let (name, market) = key.rsplit_once('@').unwrap_or((key, "-"));
    for (what, text) in [("name", name), ("marketplace", market)] {
        check_component(text).map_err(|why| format!("the {what} of the plugin `{key}` {why}"))?;
    }
    Ok(())
}

/// Returns a text, or the texts of a list.
fn texts_of(node: &Node) -> Vec<String> {
    let items = if node.text().is_some() { std::slice::from_ref(node) } else { node.items() };
    items.iter().filter_map(Node::text).map(str::to_owned).collect()
}

/// Returns what orders versions: their numbers, then their names.
fn version_of(path: &AbsPath) -> (Vec<u64>, String) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let numbers = name.split(|it: char| !it.is_ascii_digit()).filter_map(|it| it.parse().ok());
    (numbers.collect(), name)
}
