//! Reader for the search roots of a profile and for how they are walked.

use skills_agents::profile::{
    AncestorStop, DepthDraft, Keyword, LinkPolicy, RootBase, RootDraft, Scope, Text, WalkDraft,
};
use toml::de::{DeTable, DeValue};

use super::super::reader::ConfigReader;
use super::key::ProfileKeyKind::{self, Depth, Strings, Word, YesNo};
use super::key::{ProfileKey, key};
use super::value::{Setting, below, variables};

/// Number of keys at the end of [`ROOT_KEYS`] that control how a root is walked.
const WALK_KEYS: usize = 8;

pub const ROOT_KEYS: &[ProfileKey] = &[
    key(
        "base",
        "Start of the search root: `home`, `project` (the working directory and its ancestors), `added` (each directory of `--add-dir`), an absolute path, or `$NAME` for the directory in a variable.",
        ProfileKeyKind::Text,
    ),
    key("relative", "Path below the base, or several paths in scan order.", Strings),
    key(
        "below_home",
        "With `$NAME`: path below the home directory to use if the variable is not set. Without this key, an unset variable removes the root.",
        ProfileKeyKind::Text,
    ),
    key(
        "stop",
        "With `project`: the last ancestor to search; default `worktree`.",
        Word(AncestorStop::keywords),
    ),
    key(
        "scope",
        "Scope of the skills; by default it follows from the base.",
        Word(Scope::keywords),
    ),
    key("switched_off_by", "Variables that disable the root if set to `1` or `true`.", Strings),
    key("depth", "Maximum number of directories between the root and a skill.", Depth),
    key("root_skill", "Accept a SKILL.md in the root itself.", YesNo),
    key("hidden", "Search directories whose names start with a dot.", YesNo),
    key("skipped", "Names of directories to skip at any depth.", Strings),
    key("reserved", "Names of directories to skip directly below the root.", Strings),
    key("skills_in_skills", "Search a skill's directory for more skills.", YesNo),
    key("links", "Symbolic links to directories that are followed.", Word(LinkPolicy::keywords)),
    key("file_links", "Accept a SKILL.md that is a symbolic link.", YesNo),
];

/// Returns the keys of a root that control how it is walked.
pub fn walk_keys() -> &'static [ProfileKey] {
    &ROOT_KEYS[ROOT_KEYS.len() - WALK_KEYS..]
}

/// Maximum depth that a profile can set.
pub const DEEPEST: u64 = 64;

/// Keyword for unlimited depth.
pub const ANY_DEPTH: &str = "any";

pub(super) fn roots(reader: &mut ConfigReader<'_>, setting: Setting<'_>) -> Vec<RootDraft> {
    let tables = setting.tables(reader);
    tables.into_iter().filter_map(|(table, at)| root(reader, at, table)).collect()
}

pub(super) fn every_root(reader: &mut ConfigReader<'_>, setting: Setting<'_>) -> WalkDraft {
    let mut walk = WalkDraft::default();
    let DeValue::Table(table) = setting.value else {
        setting.error(reader, "a table");
        return walk;
    };
    for setting in table.iter().map(Setting::new) {
        if !walk_key(reader, &mut walk, setting) {
            let keys = walk_keys().iter().map(|it| it.name);
            setting.unknown(reader, &keys.collect::<Vec<_>>(), "walk");
        }
    }
    walk
}

/// Reads a key that controls how a root is walked. Returns false for other keys.
fn walk_key(reader: &mut ConfigReader<'_>, walk: &mut WalkDraft, setting: Setting<'_>) -> bool {
    match setting.key {
        "depth" => walk.depth = depth(reader, setting),
        "root_skill" => walk.root_skill = setting.yes_no(reader),
        "hidden" => walk.hidden = setting.yes_no(reader),
        "skipped" => walk.skipped = Some(setting.names(reader)),
        "reserved" => walk.reserved = Some(setting.names(reader)),
        "skills_in_skills" => walk.into_skills = setting.yes_no(reader),
        "links" => walk.directory_links = setting.keyword(reader),
        "file_links" => walk.file_links = setting.yes_no(reader),
        _ => return false,
    }
    true
}

fn depth(reader: &mut ConfigReader<'_>, setting: Setting<'_>) -> Option<DepthDraft> {
    let fits = match setting.value {
        DeValue::String(text) if text == ANY_DEPTH => return Some(DepthDraft::Any),
        DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    };
    let levels = fits.filter(|it| (1..=DEEPEST).contains(it)).and_then(|it| u16::try_from(it).ok());
    if levels.is_none() {
        let message = format!("`depth` must be a number from 1 to {DEEPEST}, or `\"{ANY_DEPTH}\"`");
        reader.problem(setting.at, message, None);
    }
    levels.map(DepthDraft::Levels)
}

fn root(reader: &mut ConfigReader<'_>, at: usize, table: &DeTable<'_>) -> Option<RootDraft> {
    let mut base = None;
    let mut below_home = None;
    let mut stop: Option<(AncestorStop, usize)> = None;
    let mut root = RootDraft {
        base: RootBase::Home,
        relative: Vec::new(),
        scope: None,
        switches: Vec::new(),
        walk: WalkDraft::default(),
    };
    for setting in table.iter().map(Setting::new) {
        match setting.key {
            "base" => base = setting.text(reader).map(|it| (it, setting.at)),
            "relative" => {
                let found = setting.list(reader);
                root.relative = below(reader, found).into_iter().map(Text::Owned).collect();
            }
            "below_home" => {
                let found = setting.list(reader);
                below_home = below(reader, found).into_iter().next().map(|it| (it, setting.at));
            }
            "stop" => stop = setting.keyword(reader).map(|it| (it, setting.at)),
            "scope" => root.scope = setting.keyword(reader),
            "switched_off_by" => {
                let found = setting.list(reader);
                root.switches = variables(reader, found).into_iter().map(Text::Owned).collect();
            }
            _ if walk_key(reader, &mut root.walk, setting) => {}
            _ => {
                let keys: Vec<_> = ROOT_KEYS.iter().map(|it| it.name).collect();
                setting.unknown(reader, &keys, "root");
            }
        }
    }
    if !table.contains_key("relative") {
        let hint = "Add for example `relative = \".agents/skills\"`.".to_owned();
        reader.problem(at, "a root has no `relative`".to_owned(), Some(hint));
    }
    let Some((base, base_at)) = base else {
        if !table.contains_key("base") {
            let hint = "Add for example `base = \"home\"`.".to_owned();
            reader.problem(at, "a root has no `base`".to_owned(), Some(hint));
        }
        return None;
    };
    root.base =
        base_of(reader, &base, base_at, below_home.clone().map(|it| it.0), stop.map(|it| it.0))?;
    if let (Some((_, at)), false) = (stop, matches!(root.base, RootBase::Ancestors { .. })) {
        reader.problem(at, "`stop` requires the base `project`".to_owned(), None);
    }
    if let (Some((_, at)), false) = (below_home, matches!(root.base, RootBase::Variable { .. })) {
        reader.problem(at, "`below_home` requires a base `$NAME`".to_owned(), None);
    }
    Some(root)
}

fn base_of(
    reader: &mut ConfigReader<'_>,
    base: &str,
    at: usize,
    below_home: Option<String>,
    stop: Option<AncestorStop>,
) -> Option<RootBase> {
    if let Some(name) = base.strip_prefix('$') {
        let name = variables(reader, vec![(name.to_owned(), at)]).pop()?.into();
        return Some(match below_home {
            Some(path) => RootBase::Variable { name, below_home: path.into() },
            None => RootBase::IfSet { name },
        });
    }
    match base {
        "home" => Some(RootBase::Home),
        "project" => Some(RootBase::Ancestors { stop: stop.unwrap_or(AncestorStop::Worktree) }),
        "added" => Some(RootBase::Additional),
        path if path.starts_with('/') && !path.split('/').any(|it| it == "..") => {
            Some(RootBase::Absolute(path.to_owned().into()))
        }
        _ => {
            let hint = "Use `home`, `project`, `added`, an absolute path or `$NAME`.".to_owned();
            reader.problem(at, format!("`base` cannot be `{base}`"), Some(hint));
            None
        }
    }
}
