//! Namespaces: the prefix of a skill's name, from its plugin, its directories or its metadata.

use skills_agents::profile::{Profile, RootBase, Scope};
use skills_agents::scalar::{YamlType, plain_scalar_type};
use skills_agents::skill::RecordField;
use skills_agents::yaml_library::YamlLibrary;
use skills_syntax::parse::{ScalarStyle, ValueKind};
use skills_syntax::path::AbsPath;

use super::{Candidate, SearchRoot};

/// Sets a candidate's namespace. `within` holds a command's directories below its root.
pub(super) fn apply(
    profile: &Profile,
    root: &SearchRoot,
    within: Option<Vec<String>>,
    candidate: &mut Candidate,
) {
    let prefixed = match profile.roots.get(root.rule).map(|it| &it.base) {
        Some(RootBase::Plugins(rule)) => rule.prefixed,
        // A plugin in a directory of skills, including roots that have no row in the profile.
        _ => root.plugin.is_some(),
    };
    let plugin = root.plugin.as_ref().filter(|_| prefixed).map(|it| it.name.clone());
    let is_plugins = plugin.is_some();
    let between = within.or_else(|| is_plugins.then(|| between(&root.path, candidate)));
    let parts: Vec<String> = plugin.into_iter().chain(between.unwrap_or_default()).collect();
    if parts.is_empty() {
        candidate.namespace =
            profile.namespace.as_ref().and_then(|key| metadata_text(candidate, key));
        return;
    }
    let namespace = parts.join(":");
    if is_plugins && !candidate.is_command() && root.scope == Scope::Plugin {
        if let Some(name) = own_name(profile, root, candidate) {
            candidate.name = name;
        }
        candidate.name = plain(&candidate.name);
    }
    candidate.name = format!("{namespace}:{}", candidate.name);
    candidate.namespace = Some(namespace);
}

/// Returns the `name` of a skill that a path of a plugin leads to directly: measured, Claude Code
/// uses it instead of the directory's name.
fn own_name(profile: &Profile, root: &SearchRoot, candidate: &Candidate) -> Option<String> {
    let rule = profile.plugins_beside_skills()?;
    let field = candidate.record()?.name.as_ref().filter(|it| is_text(it, profile.library))?;
    let is_direct = root.path == candidate.dir() && rule.manifest.iter().any(|it| it == "skills");
    let plugin = root.plugin.as_ref().filter(|_| is_direct && !field.text.is_empty())?;
    let text = field.text.strip_prefix(&*plugin.name).and_then(|it| it.strip_prefix(':'));
    Some(text.unwrap_or(&field.text).to_owned())
}

/// Returns whether a field is a string for `library`.
fn is_text(field: &RecordField, library: YamlLibrary) -> bool {
    let is_text = || match field.style? {
        ScalarStyle::Plain => Some(plain_scalar_type(&field.text, library) == YamlType::Text),
        _ => Some(true),
    };
    !field.structured && is_text() == Some(true)
}

/// Replaces what Claude Code replaces in the names of plugins' skills: each UTF-16 unit other than
/// ASCII letters, digits, `_` and `-`.
fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let part = |c: char| if is_plain(c) { c.to_string() } else { "-".repeat(c.len_utf16()) };
    name.chars().map(part).collect()
}

/// Returns the directories between a root and the skill's own directory.
fn between(root: &AbsPath, candidate: &Candidate) -> Vec<String> {
    let dir = candidate.dir();
    let parents = dir.parent();
    let relative = parents.as_ref().and_then(|it| it.strip_prefix(&**root).ok());
    let parts = relative.map(|it| it.iter().map(|part| part.to_string_lossy().into_owned()));
    parts.map(Iterator::collect).unwrap_or_default()
}

/// Returns the text of a key in the file's `metadata`.
fn metadata_text(candidate: &Candidate, key: &str) -> Option<String> {
    let record = candidate.record().filter(|it| it.head.contains(key))?;
    let document = record.document();
    let frontmatter = document.frontmatter.as_ref()?;
    let metadata = frontmatter.entries.iter().find(|it| it.key.text == "metadata")?;
    let ValueKind::Mapping { entries, .. } = &frontmatter.resolve(&metadata.value).kind else {
        return None;
    };
    let entry = entries.iter().find(|it| it.key.text == key)?;
    match &frontmatter.resolve(&entry.value).kind {
        ValueKind::Scalar { text, .. } => Some(text.clone()),
        ValueKind::Null
        | ValueKind::Sequence { .. }
        | ValueKind::Mapping { .. }
        | ValueKind::Alias { .. } => None,
    }
}
