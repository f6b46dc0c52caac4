//! Search roots: computes the paths of a profile's rows on this machine and walks them in the
//! agent's order.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use skills_agents::profile::{
    AncestorStop, BuiltInSkill, DisableSwitch, LinkedWorktrees, Profile, Provider, RootBase,
    RootContent, RootRule, Scope,
};
use skills_syntax::path::AbsPath;

use super::owner::Owners;
use super::plugins::{self, PluginPath};
use super::provided::{ProvidedContents, ProvidedRoot};
use super::settings::Settings;
use super::tree::Tree;
use super::walk::Walker;
use super::{
    DiscoveryContext, Environment, Owner, RootOutcome, SearchRoot, SettingsValue, Worktree,
    built_in, extensions, trust,
};
use crate::remote::Address;

/// Path of a root, or a path for messages together with the reason why the root is not searched.
pub(super) type RootPath = Result<AbsPath, (AbsPath, String)>;

/// Walks the roots of the context's profile in scan order.
pub(super) fn search(
    ctx: &DiscoveryContext,
    worktree: &Worktree,
    owners: &Owners<'_>,
    settings: &mut Settings,
    walker: &mut Walker<'_>,
    tree: &dyn Tree,
) -> Vec<SearchRoot> {
    let addresses = settings.addresses();
    let mut search = Search { ctx, owners, settings, walker, tree, roots: Vec::new() };
    let mut plugins: Option<Vec<PluginPath>> = None;
    for (index, rule) in ctx.profile.roots.iter().enumerate() {
        let mut places: Vec<RootLocation> = match &rule.base {
            RootBase::Provided(provider) => {
                search.provided(*provider, index, &addresses);
                continue;
            }
            RootBase::BuiltIn(skills) => {
                search.built_in(skills, index);
                continue;
            }
            RootBase::Plugins(of) => {
                let find = || plugins::find(ctx, of, owners, tree, search.settings);
                let all = plugins.get_or_insert_with(find).iter();
                all.filter(|it| it.root_content == rule.root_content)
                    .map(RootLocation::held)
                    .collect()
            }
            RootBase::Extensions(of) => {
                extensions::find(ctx, of, &rule.relative, owners, tree, search.settings)
            }
            RootBase::Settings => {
                let settings = &*search.settings;
                let located = |it: &SettingsValue| {
                    let declared = settings.owner_of(&it.source.file);
                    let paths = root_paths(ctx, rule, worktree, std::slice::from_ref(it));
                    paths.into_iter().map(move |path| {
                        let owner = path.as_ref().ok().map(|it| owners.at(declared, it));
                        RootLocation::at(path, owner)
                    })
                };
                settings.paths.iter().flat_map(located).collect()
            }
            _ => {
                let paths = root_paths(ctx, rule, worktree, &[]);
                paths.into_iter().map(|path| RootLocation::at(path, None)).collect()
            }
        };
        // Popped from the end, so that a plugin is searched right after the root that contains it.
        places.reverse();
        while let Some(place) = places.pop() {
            search.walk(place, index);
            places.extend(search.plugins_in_last_root().into_iter().rev());
        }
    }
    search.roots
}

struct Search<'a, 'b> {
    ctx: &'a DiscoveryContext,
    owners: &'a Owners<'a>,
    settings: &'a mut Settings,
    walker: &'a mut Walker<'b>,
    tree: &'a dyn Tree,
    roots: Vec<SearchRoot>,
}

impl Search<'_, '_> {
    /// Adds the roots that a provider supplies for the row at `index`.
    fn provided(&mut self, provider: Provider, index: usize, addresses: &[Address]) {
        for provided in self.tree.provided(provider, &self.ctx.profile.id, addresses) {
            self.add_provided(provided, index);
        }
    }

    /// Adds the skills built into the agent's program.
    fn built_in(&mut self, skills: &[BuiltInSkill], index: usize) {
        self.add_provided(built_in::provided(&self.ctx.profile, skills), index);
    }

    fn add_provided(&mut self, provided: ProvidedRoot, index: usize) {
        let rule = &self.ctx.profile.roots[index];
        let off = self.settings.bundled_off.as_ref().filter(|_| rule.scope == Scope::Bundled);
        let why = off.map(|it| format!("`{}:{}` switches it off", it.file.display(), it.at.line));
        let provided = match why {
            Some(why) => ProvidedRoot { stock: ProvidedContents::Awaited(why), ..provided },
            None => provided,
        };
        let root = self.walker.provided(provided, rule, self.roots.len());
        self.roots.push(SearchRoot { rule: index, ..root });
    }

    /// Walks one root of the row at `index`.
    fn walk(&mut self, RootLocation { path, declared, held, origin }: RootLocation, index: usize) {
        let rule = &self.ctx.profile.roots[index];
        let walker = &mut *self.walker;
        let (start, root) = (walker.candidates.len(), self.roots.len());
        let named = path.as_ref().unwrap_or_else(|it| &it.0);
        let owner = match (&held, declared) {
            (Some(held), _) => held.owner,
            (None, Some(declared)) => declared,
            // A root without a path has nothing to trust.
            (None, None) if path.is_err() => Owner::Repository,
            (None, None) => self.owners.base_owner(&rule.base, named),
        };
        let base = match &held {
            Some(held) => held.plugin.root.clone(),
            None => base_of(rule, named),
        };
        let (path, (outcome, skips)) = match path {
            Err((path, why)) => (path, (RootOutcome::NoBase(why), Vec::new())),
            Ok(path) => {
                walker.set_link_targets(&path, owner.is_own(), &base);
                let found = match (&held, rule.root_content) {
                    (Some(held), _) => {
                        walker.plugin(&path, held.form, held.root_content, rule, root)
                    }
                    (None, RootContent::Skills) => walker.root(&path, &rule.walk, root),
                    (None, RootContent::Commands) => walker.commands(&path, &rule.walk, root),
                };
                (path, found)
            }
        };
        let candidates = start..walker.candidates.len();
        let scope = match &held {
            Some(held) if held.root_content == RootContent::Commands => Scope::Command,
            Some(_) => Scope::Plugin,
            None => rule.scope,
        };
        self.roots.push(SearchRoot {
            path,
            rule: index,
            scope,
            owner,
            label: rule.label.clone(),
            trust_path: held.as_ref().and_then(|it| it.trust_path.clone()),
            plugin: held.map(|it| it.plugin),
            outcome,
            candidates,
            skips,
            origin,
            trust_decision: None,
            is_held_back: false,
        });
    }

    /// Returns the plugins found in the root that was walked last.
    fn plugins_in_last_root(&mut self) -> Vec<RootLocation> {
        let dirs = self.walker.take_plugins();
        let Some(rule) = self.ctx.profile.plugins_beside_skills() else { return Vec::new() };
        let holder = self.roots.last().map_or(Owner::Repository, |it| it.owner);
        let (ctx, owners, tree) = (self.ctx, self.owners, self.tree);
        let mut found = Vec::new();
        for dir in dirs {
            let settings = &mut *self.settings;
            found.extend(plugins::in_skill_directory(
                ctx, rule, &dir, holder, owners, tree, settings,
            ));
        }
        found.iter().map(RootLocation::held).collect()
    }
}

/// One root of a row, before it is walked.
pub(super) struct RootLocation {
    pub(super) path: RootPath,
    /// Owner of the file that declares the path; `None` if the profile's row declares it.
    pub(super) declared: Option<Owner>,
    /// The plugin path, if the root belongs to a plugin.
    pub(super) held: Option<PluginPath>,
    /// Description of its source if that is not the row; otherwise empty.
    pub(super) origin: String,
}

impl RootLocation {
    fn at(path: RootPath, declared: Option<Owner>) -> Self {
        Self { path, declared, held: None, origin: String::new() }
    }

    fn held(held: &PluginPath) -> Self {
        let path = match &held.off {
            None => Ok(held.path.clone()),
            Some(why) => Err((held.path.clone(), why.clone())),
        };
        Self { path, declared: None, held: Some(held.clone()), origin: String::new() }
    }
}

/// Returns the paths of a row. `paths` are the directories named in the agent's settings files.
pub(super) fn root_paths(
    ctx: &DiscoveryContext,
    rule: &RootRule,
    worktree: &Worktree,
    paths: &[SettingsValue],
) -> Vec<RootPath> {
    let found = match &rule.base {
        RootBase::Settings => paths.iter().map(|it| setting_path(ctx, &it.text)).collect(),
        other => {
            let mut found = bases(ctx, other, worktree);
            if let RootBase::Ancestors { .. } = other {
                through_main(&ctx.profile, worktree, &mut found);
            }
            found
        }
    };
    let off = |relative: &str| switched_off(ctx, &rule.switches, relative);
    let below = |base: RootPath, relative: &str| match (base, off(relative)) {
        (Ok(base), None) => Ok(base.child(relative)),
        (Ok(base), Some(why)) => Err((base.child(relative), why)),
        (Err((path, why)), _) => Err((path.child(relative), why)),
    };
    found
        .into_iter()
        .flat_map(|base| rule.relative.iter().map(move |it| below(base.clone(), it)))
        .collect()
}

/// For a linked worktree, adds the same directories of the main worktree if the profile reads them.
fn through_main(profile: &Profile, worktree: &Worktree, found: &mut Vec<RootPath>) {
    let Some(main) = worktree.repository.main() else { return };
    if profile.linked_worktrees != LinkedWorktrees::WithMain {
        return;
    }
    let within = |it: &AbsPath| it.strip_prefix(&worktree.top).ok().map(|it| main.child(it));
    let others: Vec<_> = found.iter().flatten().filter_map(within).map(Ok).collect();
    // The nearer directory wins: it comes first, or last if the last one wins.
    let at = if profile.duplicates.last_wins() { 0 } else { found.len() };
    found.splice(at..at, others);
}

/// Returns the directory that a root's relative path starts from.
fn base_of(rule: &RootRule, path: &AbsPath) -> AbsPath {
    let below = rule.relative.iter().find(|it| !it.is_empty() && path.ends_with(&***it));
    let count = below.map_or(0, |it| Path::new(&**it).components().count());
    path.ancestors().nth(count).unwrap_or_else(|| path.clone())
}

/// Returns the directories that relative paths start from; none for bases with their own search.
pub(super) fn bases(ctx: &DiscoveryContext, base: &RootBase, worktree: &Worktree) -> Vec<RootPath> {
    match base {
        RootBase::Home => vec![variable(ctx, "HOME").map_err(|why| no_base("~", why))],
        RootBase::Variable { name, below_home } => vec![
            variable(ctx, name)
                .or_else(|_| variable(ctx, "HOME").map(|home| home.child(below_home.as_ref())))
                .map_err(|why| no_base("~", why)),
        ],
        RootBase::IfSet { name } => {
            let named = ctx.environment.get(&**name).filter(|it| !it.is_empty());
            named
                .map(|_| variable(ctx, name).map_err(|why| no_base("~", why)))
                .into_iter()
                .collect()
        }
        RootBase::Absolute(path) => vec![
            AbsPath::new(path.as_ref().as_ref()).map_err(|error| no_base(path, error.to_string())),
        ],
        RootBase::Additional => ctx.additional.iter().cloned().map(Ok).collect(),
        RootBase::Ancestors { stop } => {
            let found = ancestors(ctx, &worktree.top, worktree.in_git, *stop);
            found.into_iter().map(Ok).collect()
        }
        RootBase::Settings
        | RootBase::Plugins(_)
        | RootBase::Extensions(_)
        | RootBase::Provided(_)
        | RootBase::BuiltIn(_) => Vec::new(),
    }
}

/// Returns the directory that a setting names: `~/` is the home directory, other relative paths
/// start at the working directory.
pub(super) fn setting_path(ctx: &DiscoveryContext, text: &str) -> RootPath {
    match text.strip_prefix("~/") {
        Some(rest) => match variable(ctx, "HOME") {
            Ok(home) => Ok(home.join_lexically(rest)),
            Err(why) => Err(no_base(text, why)),
        },
        None => Ok(ctx.cwd.join_lexically(text)),
    }
}

/// Returns the reason if a variable switches the path off.
pub(super) fn switched_off(
    ctx: &DiscoveryContext,
    switches: &[DisableSwitch],
    relative: &str,
) -> Option<String> {
    let is_on = |it: &&DisableSwitch| trust::is_on(ctx, &it.variable);
    let matches_wildcard =
        |it: &&DisableSwitch| it.relative.as_ref().is_none_or(|it| it == relative);
    let switch = switches.iter().filter(matches_wildcard).find(is_on)?;
    Some(format!("`{}` switches it off", switch.variable))
}

fn ancestors(
    ctx: &DiscoveryContext,
    worktree: &AbsPath,
    in_git: bool,
    stop: AncestorStop,
) -> Vec<AbsPath> {
    let cwd = &ctx.cwd;
    let last = match stop {
        AncestorStop::Cwd => cwd.clone(),
        AncestorStop::Worktree => worktree.clone(),
        AncestorStop::WorktreeElseFilesystem if in_git => worktree.clone(),
        AncestorStop::Home => {
            let home = variable(ctx, "HOME").ok();
            return cwd.ancestors().take_while(|it| Some(it) != home.as_ref()).collect();
        }
        AncestorStop::WorktreeElseFilesystem | AncestorStop::Filesystem => {
            cwd.ancestors().last().unwrap_or_else(|| cwd.clone())
        }
    };
    cwd.ancestors().take_while(|it| it.starts_with(&last)).collect()
}

pub(super) fn variable(ctx: &DiscoveryContext, name: &str) -> Result<AbsPath, String> {
    value(&ctx.environment, name)
}

/// Returns the path that a variable of an environment names.
pub(super) fn value(environment: &Environment, name: &str) -> Result<AbsPath, String> {
    let value = environment.get(name).map_or(OsStr::new(""), OsString::as_os_str);
    if value.is_empty() {
        return Err(format!("`{name}` is not set"));
    }
    AbsPath::new(value.as_ref()).map_err(|error| format!("`{name}`: {error}"))
}

/// Returns a placeholder path for a root without a base, so that `explain` can name it.
fn no_base(shown: &str, why: String) -> (AbsPath, String) {
    let path = PathBuf::from("/").join(shown);
    let path = AbsPath::new(&path).unwrap_or_else(|_| {
        AbsPath::new("/".as_ref()).expect("the root directory is an absolute path")
    });
    (path, why)
}
