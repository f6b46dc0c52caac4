//! Reader for the search roots of a profile and for how they are walked.

use skills_agents::profile::{
    AncestorStop, DepthDraft, Keyword, LinkPolicy, RootBase, RootDraft, Scope, Text, WalkDraft,
};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::reader::ConfigReader;
use super::key::{ProfileKey, ProfileKeyKind};
use super::value::{Key, below, error, keyword, list, names, text, unknown, variables, yes_no};

/// Number of keys at the end of [`ROOT_KEYS`] that control how a root is walked.
const WALK_KEYS: usize = 8;

pub const ROOT_KEYS: &[ProfileKey] = &[
    ProfileKey {
        name: "base",
        doc: "Start of the search root: `home`, `project` (the working directory and its ancestors), `added` (each directory of `--add-dir`), an absolute path, or `$NAME` for the directory in a variable.",
        kind: ProfileKeyKind::Text,
    },
    ProfileKey {
        name: "relative",
        doc: "Path below the base, or several paths in scan order.",
        kind: ProfileKeyKind::Strings,
    },
    ProfileKey {
        name: "below_home",
        doc: "With `$NAME`: path below the home directory to use if the variable is not set. Without this key, an unset variable removes the root.",
        kind: ProfileKeyKind::Text,
    },
    ProfileKey {
        name: "stop",
        doc: "With `project`: the last ancestor to search; default `worktree`.",
        kind: ProfileKeyKind::Word(AncestorStop::keywords),
    },
    ProfileKey {
        name: "scope",
        doc: "Scope of the skills; by default it follows from the base.",
        kind: ProfileKeyKind::Word(Scope::keywords),
    },
    ProfileKey {
        name: "switched_off_by",
        doc: "Variables that disable the root if set to `1` or `true`.",
        kind: ProfileKeyKind::Strings,
    },
    ProfileKey {
        name: "depth",
        doc: "Maximum number of directories between the root and a skill.",
        kind: ProfileKeyKind::Depth,
    },
    ProfileKey {
        name: "root_skill",
        doc: "Accept a SKILL.md in the root itself.",
        kind: ProfileKeyKind::YesNo,
    },
    ProfileKey {
        name: "hidden",
        doc: "Search directories whose names start with a dot.",
        kind: ProfileKeyKind::YesNo,
    },
    ProfileKey {
        name: "skipped",
        doc: "Names of directories to skip at any depth.",
        kind: ProfileKeyKind::Strings,
    },
    ProfileKey {
        name: "reserved",
        doc: "Names of directories to skip directly below the root.",
        kind: ProfileKeyKind::Strings,
    },
    ProfileKey {
        name: "skills_in_skills",
        doc: "Search a skill's directory for more skills.",
        kind: ProfileKeyKind::YesNo,
    },
    ProfileKey {
        name: "links",
        doc: "Symbolic links to directories that are followed.",
        kind: ProfileKeyKind::Word(LinkPolicy::keywords),
    },
    ProfileKey {
        name: "file_links",
        doc: "Accept a SKILL.md that is a symbolic link.",
        kind: ProfileKeyKind::YesNo,
    },
];

/// Returns the keys of a root that control how it is walked.
pub fn walk_keys() -> &'static [ProfileKey] {
    &ROOT_KEYS[ROOT_KEYS.len() - WALK_KEYS..]
}

/// Maximum depth that a profile can set.
pub const DEEPEST: u64 = 64;

/// Keyword for unlimited depth.
pub const ANY_DEPTH: &str = "any";

pub(super) fn roots(
    reader: &mut ConfigReader<'_>,
    key: &Key<'_>,
    value: &Spanned<DeValue<'_>>,
) -> Vec<RootDraft> {
    let DeValue::Array(items) = value.get_ref() else {
        error(reader, key.get_ref(), "a list of tables", value);
        return Vec::new();
    };
    let mut roots = Vec::new();
    for item in items {
        match item.get_ref() {
            DeValue::Table(table) => roots.extend(root(reader, item.span().start, table)),
            _ => error(reader, key.get_ref(), "a list of tables", item),
        }
    }
    roots
}

pub(super) fn every_root(
    reader: &mut ConfigReader<'_>,
    key: &Key<'_>,
    value: &Spanned<DeValue<'_>>,
) -> WalkDraft {
    let mut walk = WalkDraft::default();
    let DeValue::Table(table) = value.get_ref() else {
        error(reader, key.get_ref(), "a table", value);
        return walk;
    };
    for (key, value) in table {
        if !walk_key(reader, &mut walk, key, value) {
            let keys = walk_keys().iter().map(|it| it.name);
            unknown(reader, key, &keys.collect::<Vec<_>>(), "walk");
        }
    }
    walk
}

/// Reads a key that controls how a root is walked. Returns false for other keys.
fn walk_key(
    reader: &mut ConfigReader<'_>,
    walk: &mut WalkDraft,
    key: &Key<'_>,
    value: &Spanned<DeValue<'_>>,
) -> bool {
    let name = &**key.get_ref();
    match name {
        "depth" => walk.depth = depth(reader, value),
        "root_skill" => walk.root_skill = yes_no(reader, name, value),
        "hidden" => walk.hidden = yes_no(reader, name, value),
        "skipped" => walk.skipped = Some(names(reader, key, value)),
        "reserved" => walk.reserved = Some(names(reader, key, value)),
        "skills_in_skills" => walk.into_skills = yes_no(reader, name, value),
        "links" => walk.directory_links = keyword(reader, key, value),
        "file_links" => walk.file_links = yes_no(reader, name, value),
        _ => return false,
    }
    true
}

fn depth(reader: &mut ConfigReader<'_>, value: &Spanned<DeValue<'_>>) -> Option<DepthDraft> {
    let fits = match value.get_ref() {
        DeValue::String(text) if text == ANY_DEPTH => return Some(DepthDraft::Any),
        DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    };
    let levels = fits.filter(|it| (1..=DEEPEST).contains(it)).and_then(|it| u16::try_from(it).ok());
    if levels.is_none() {
        let message = format!("`depth` must be a number from 1 to {DEEPEST}, or `\"{ANY_DEPTH}\"`");
        reader.problem(value.span().start, message, None);
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
    for (key, value) in table {
        match &**key.get_ref() {
            "base" => base = text(reader, key, value).map(|it| (it, value.span().start)),
            "relative" => {
                let found = list(reader, key, value);
                root.relative = below(reader, found).into_iter().map(Text::Owned).collect();
            }
            "below_home" => {
                let found = list(reader, key, value);
                let path = below(reader, found).into_iter().next();
                below_home = path.map(|it| (it, value.span().start));
            }
            "stop" => stop = keyword(reader, key, value).map(|it| (it, value.span().start)),
            "scope" => root.scope = keyword(reader, key, value),
            "switched_off_by" => {
                let found = list(reader, key, value);
                root.switches = variables(reader, found).into_iter().map(Text::Owned).collect();
            }
            _ if walk_key(reader, &mut root.walk, key, value) => {}
            _ => {
                let keys: Vec<_> = ROOT_KEYS.iter().map(|it| it.name).collect();
                unknown(reader, key, &keys, "root");
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
