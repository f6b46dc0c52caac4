//! Renames a skill in configuration files of agents: permission rules and switches, and paths in
//! the manifests of plugins.
//!
//! A rule that keeps the old name would forbid nothing, so these edits are certain. The rest of the
//! text stays as it is. This module does not read files; the caller does.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use skills_agents::plugin;
use skills_agents::profile::{RootBase, SettingsItem, SettingsSource, agents};
use skills_discovery::permission::{RulePrecedence, is_granted, matches_wildcard, may_match};
use skills_syntax::config_tree::{Node, Syntax, SyntaxError, parse};
use skills_syntax::edit::Edit;
use skills_syntax::path::AbsPath;
use skills_syntax::quote::double_quote_scalar;
use skills_syntax::text::{LineColumn, LineIndex, Span, slug};

use crate::moves::{Move, Moves};
use crate::rename::Renaming;

/// Settings that name skills.
const NAMING: [SettingsItem; 7] = [
    SettingsItem::PermissionLists,
    SettingsItem::PermissionMap,
    SettingsItem::SkillOverrides,
    SettingsItem::DisabledSkills,
    SettingsItem::DisabledNames,
    SettingsItem::DisabledSlugs,
    SettingsItem::SkillPatterns,
];

/// Returns the configuration files of all agents in a worktree that may name skills: the path
/// relative to a directory, the syntax, and a setting that the file has.
fn naming_files() -> impl Iterator<Item = (&'static str, Syntax, SettingsItem)> {
    let rules = agents().flat_map(|it| &it.settings).filter(|it| {
        it.source == SettingsSource::File && matches!(it.base, RootBase::Ancestors { .. })
    });
    rules.flat_map(|rule| {
        let items = NAMING.into_iter().filter(|it| rule.reads.contains(it));
        // Markdown files of agents are not edited.
        let paths = rule.relative.iter().filter(|it| !it.contains('*'));
        paths.flat_map(move |path| items.clone().map(|it| (&**path, rule.syntax, it)))
    })
}

/// Manifests of plugins, relative to the directory of a plugin or a marketplace.
const MANIFESTS: [&str; 2] = [plugin::MANIFEST, ".claude-plugin/marketplace.json"];

/// Keys of a plugin whose values are paths.
const PATH_KEYS: [&str; 7] =
    ["skills", "commands", "agents", "hooks", "mcpServers", "lspServers", "outputStyles"];

/// Returns true if manifests list the files of a directory with this name.
pub fn is_plugin_directory(name: &OsStr) -> bool {
    PATH_KEYS.iter().any(|it| name == *it)
}

/// Returns the configuration files that may name a skill: those in the directories above it up to a
/// `top`, and those of each top itself.
pub fn config_files(skill: &AbsPath, tops: &[AbsPath]) -> Vec<AbsPath> {
    let dirs = dirs_above([skill], tops);
    let files: BTreeSet<&str> = naming_files().map(|it| it.0).collect();
    dirs.iter().flat_map(|dir| files.iter().map(|it| dir.child(it))).collect()
}

/// Returns the directory that a configuration file is for.
pub fn config_project(file: &AbsPath) -> Option<AbsPath> {
    let (relative, ..) = naming_files().find(|it| file.ends_with(it.0))?;
    file.ancestors().nth(relative.split('/').count())
}

/// Returns the manifests of plugins that may contain paths to moved files, in the same directories.
pub fn manifests(moves: &Moves, tops: &[AbsPath]) -> Vec<AbsPath> {
    let dirs = dirs_above(moves.all().iter().map(|it| &it.old), tops);
    dirs.iter().flat_map(|dir| MANIFESTS.map(|it| dir.child(it))).collect()
}

/// Returns the tops, and the directories above the paths up to a top.
fn dirs_above<'a>(
    paths: impl IntoIterator<Item = &'a AbsPath>,
    tops: &[AbsPath],
) -> BTreeSet<AbsPath> {
    let above = paths.into_iter().flat_map(|it| it.ancestors().skip(1));
    let is_within = |dir: &AbsPath| tops.iter().any(|top| dir.starts_with(top));
    above.filter(is_within).chain(tops.iter().cloned()).collect()
}

/// Owner of the old names of a renamed skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldNames {
    /// Only the renamed skill has them.
    Own,
    /// Another skill has one of them too.
    Shared,
}

/// The changes of a configuration file that go with a rename.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigChanges {
    /// The edits, in text order.
    pub edits: Vec<Edit>,
    /// Sentences about patterns that match either the old or the new name. They stay, because they
    /// may be meant for other skills.
    pub notes: Vec<String>,
}

/// Returns the changes of the configuration file at `path`. `names` are the skill's old names. If
/// another skill has one of them too, its rules stay, and the new name gets the same.
/// An error says why the file cannot be edited.
pub fn config_changes(
    renaming: &Renaming<'_>,
    names: &[String],
    sharing: OldNames,
    path: &AbsPath,
    text: &str,
) -> Result<ConfigChanges, String> {
    let files: Vec<_> = naming_files().filter(|it| path.ends_with(it.0)).collect();
    let reads = |item: SettingsItem| files.iter().any(|it| it.2 == item);
    let is_toml = files.iter().any(|it| it.1 == Syntax::Toml);
    let words = slug(text);
    let is_named = |name: &String| {
        let slug = slug(name);
        text.contains(&**name) || !slug.is_empty() && words.contains(&slug)
    };
    let may_name = names.iter().any(is_named) || text.contains("\\u");
    if !may_name && !text.contains(WILDCARDS) && !is_toml {
        return Ok(ConfigChanges::default());
    }
    let root = match parse(text, if is_toml { Syntax::Toml } else { Syntax::JsonLoose }) {
        Ok(root) => root,
        Err(_) if !may_name => return Ok(ConfigChanges::default()),
        Err(error) => return Err(broken(path, "the skill", &error)),
    };
    let mut edits = ConfigEdits {
        renaming,
        names,
        is_shared: sharing == OldNames::Shared,
        path,
        text,
        changes: ConfigChanges::default(),
    };
    for action in ["allow", "deny", "ask"] {
        for rule in root.at_path(&["permissions", action]).map(Node::items).unwrap_or_default() {
            edits.rule(rule, action == "allow");
        }
    }
    if reads(SettingsItem::DisabledSkills) {
        edits.list(root.at_path(&["skills", "disabled"]), str::to_lowercase);
    }
    if reads(SettingsItem::DisabledNames) {
        edits.list(root.get("disabledSkills"), str::to_owned);
    }
    if reads(SettingsItem::DisabledSlugs) {
        edits.list(root.get("disabledSkills"), slug);
    }
    if reads(SettingsItem::SkillPatterns) {
        for key in ["enabled_skills", "disabled_skills"] {
            edits.patterns(root.get(key));
        }
    }
    let agents =
        ["agent", "mode"].into_iter().filter_map(|it| root.get(it)).flat_map(Node::entries);
    let maps = std::iter::once(&root).chain(agents.map(|it| &it.node));
    let mut maps = maps.map(|it| it.at_path(&["permission", "skill"]));
    let matches =
        |pattern: &str, name: &str| is_granted(RulePrecedence::LastMatch, [pattern], name);
    // Switches have no patterns.
    edits
        .keys(root.get("skillOverrides"), |_, _| false)
        .and_then(|()| maps.try_for_each(|it| edits.keys(it, matches)))
        .map_err(|why| format!("`{}:{why}", path.display()))?;
    let mut changes = edits.changes;
    changes.edits.sort_by_key(|it| it.span);
    Ok(changes)
}

/// Returns the reason why a file that may name something cannot be edited.
fn broken(path: &AbsPath, what: &str, error: &SyntaxError) -> String {
    let (LineColumn { line, column }, path) = (error.at, path.display());
    let message = &error.message;
    format!("`{path}:{line}:{column}` may name {what} but is {message}; correct it first")
}

/// Returns the changes of the plugin manifest at `path` that keep its paths valid. An error says
/// why the file cannot be edited.
pub fn manifest_changes(
    moves: &Moves,
    path: &AbsPath,
    text: &str,
) -> Result<ConfigChanges, String> {
    let is_named = |it: &Move| {
        let name = it.old.file_name().unwrap_or_default().to_string_lossy();
        // Whole components of paths only.
        text.match_indices(&*name).any(|(at, _)| {
            text[..at].ends_with(['/', '"']) && text[at + name.len()..].starts_with(['/', '"'])
        })
    };
    let Some(plugin) = path.parent().and_then(|it| it.parent()) else {
        return Ok(ConfigChanges::default());
    };
    if !moves.all().iter().any(is_named) && !text.contains("\\u") {
        return Ok(ConfigChanges::default());
    }
    let root =
        parse(text, Syntax::JsonLoose).map_err(|error| broken(path, "a moved path", &error))?;
    let mut edits = Vec::new();
    let mut add_paths = |entry: &Node, base: &AbsPath| {
        for node in PATH_KEYS.iter().filter_map(|it| entry.get(it)) {
            for item in std::slice::from_ref(node).iter().chain(node.items()) {
                let Some(written) = item.text() else { continue };
                let new = moved_path(moves, base, written);
                edits.extend(new.map(|it| replacement(text, item.at, written, &it)));
            }
        }
    };
    add_paths(&root, &plugin);
    let plugins = root.get("plugins").map(Node::items).unwrap_or_default();
    for entry in plugins {
        match entry.get("source").map(Node::text) {
            None => add_paths(entry, &plugin),
            Some(Some(source)) => add_paths(entry, &plugin.join_lexically(source)),
            // The files of this plugin are elsewhere.
            Some(None) => {}
        }
    }
    for source in plugins.iter().filter_map(|it| it.get("source")) {
        let Some(written) = source.text() else { continue };
        let new = moved_path(moves, &plugin, written);
        edits.extend(new.map(|it| replacement(text, source.at, written, &it)));
    }
    edits.sort_by_key(|it| it.span);
    Ok(ConfigChanges { edits, notes: Vec::new() })
}

/// Returns the new form of a path below a base directory; none if it stays the same, or leads out
/// of that directory.
fn moved_path(moves: &Moves, base: &AbsPath, written: &str) -> Option<String> {
    let old = base.join_lexically(written);
    let new = moves.new_path(&old)?;
    let new_base = moves.new_path(base);
    let below = new.strip_prefix(&**new_base.as_ref().unwrap_or(base)).ok()?;
    let becomes_skill = new.ends_with("SKILL.md") && !old.ends_with("SKILL.md");
    if becomes_skill || old.strip_prefix(&**base) == Ok(below) {
        return None;
    }
    let start = if written.starts_with("./") { "./" } else { "" };
    let end = if written.ends_with('/') { "/" } else { "" };
    Some(format!("{start}{}{end}", below.to_str()?))
}

/// Characters that make a name a pattern.
const WILDCARDS: [char; 2] = ['*', '?'];

struct ConfigEdits<'a> {
    renaming: &'a Renaming<'a>,
    names: &'a [String],
    is_shared: bool,
    path: &'a AbsPath,
    text: &'a str,
    changes: ConfigChanges,
}

impl ConfigEdits<'_> {
    /// Returns the span to rename in a text that is an old name, or `/` and one. The name of a
    /// plugin before the skill's stays; that of another plugin is another skill's.
    fn name_in(&self, written: &str) -> Option<Span> {
        let name = written.strip_prefix('/').unwrap_or(written);
        self.names.iter().find(|it| **it == name)?;
        let is_end = |it: &&String| {
            name.strip_suffix(&***it).is_some_and(|it| it.is_empty() || it.ends_with(':'))
        };
        let shortest = self.names.iter().filter(is_end).map(String::len).min()?;
        Some(Span::new(written.len() - shortest, written.len()))
    }

    /// `Skill(name)`. One with `*` also matches longer names, so it stays beside the new one.
    fn rule(&mut self, rule: &Node, allows: bool) {
        let Some(written) = rule.text() else { return };
        let Some(inner) = written.trim_start().strip_prefix("Skill(") else { return };
        let start = written.len() - inner.trim_start().len();
        let inner = inner.trim_start();
        let end = inner.find([' ', ')', '*']).unwrap_or(inner.len());
        let Some(span) = self.name_in(inner[..end].trim_end_matches(':')) else {
            let pattern = inner.split(')').next().unwrap_or_default();
            return self.note_pattern(rule.at, pattern, |pattern, name| {
                if allows {
                    is_granted(RulePrecedence::DenyFirst, [pattern], name)
                } else {
                    pattern.contains('*') && may_match(pattern, name)
                }
            });
        };
        let span = Span::new(start + span.start, start + span.end);
        if self.is_shared || inner[end..].contains('*') {
            let new = replace_span(written, span, self.renaming.new);
            self.insert(rule.at, format!("{}, ", double_quote_scalar(&new)));
        } else {
            self.replace(rule.at, written, span);
        }
    }

    /// A list of names, of which those that `fold` makes equal are the same.
    fn list(&mut self, list: Option<&Node>, fold: impl Fn(&str) -> String) {
        for item in list.map(Node::items).unwrap_or_default() {
            let Some(written) = item.text() else { continue };
            let is_written = |it: &&String| fold(it) == fold(written);
            let old = self.names.iter().find(is_written);
            let new =
                old.and_then(|it| Some(replace_span(it, self.name_in(it)?, self.renaming.new)));
            let Some(new) = new else { continue };
            if self.is_shared {
                self.insert(item.at, format!("{}, ", double_quote_scalar(&new)));
            } else {
                self.changes.edits.push(replacement(self.text, item.at, written, &new));
            }
        }
    }

    /// A list of names and of patterns, in any case.
    fn patterns(&mut self, list: Option<&Node>) {
        self.list(list, |it| it.trim().to_lowercase());
        for item in list.map(Node::items).unwrap_or_default() {
            let Some(pattern) = item.text().map(str::trim) else { continue };
            if pattern.starts_with("re:") || pattern.contains('[') {
                let (LineColumn { line, column }, path) = (item.at, self.path.display());
                let what = format!("may match `{}`", self.renaming.new);
                self.changes.notes.push(format!("`{pattern}` in `{path}:{line}:{column}` {what}"));
                continue;
            }
            self.note_pattern(item.at, pattern, |pattern, name| {
                matches_wildcard(&pattern.to_lowercase(), &name.to_lowercase())
            });
        }
    }

    /// Keys that are names. An error says that the new name is a key already.
    fn keys(
        &mut self,
        map: Option<&Node>,
        matches: impl Fn(&str, &str) -> bool,
    ) -> Result<(), String> {
        let entries = map.map(Node::entries).unwrap_or_default();
        for entry in entries {
            let Some(span) = self.name_in(&entry.key) else {
                self.note_pattern(entry.at, &entry.key, &matches);
                continue;
            };
            let new = replace_span(&entry.key, span, self.renaming.new);
            if let Some(taken) = entries.iter().find(|it| *it.key == *new) {
                let LineColumn { line, column } = taken.at;
                return Err(format!("{line}:{column}` already sets `{new}`; remove it first"));
            }
            if !self.is_shared {
                self.replace(entry.at, &entry.key, span);
            } else if let Some(value) = entry.node.plain() {
                let value = entry.node.text().map_or(value.clone(), double_quote_scalar);
                self.insert(entry.at, format!("{}: {value}, ", double_quote_scalar(&new)));
            }
        }
        Ok(())
    }

    /// Notes a pattern that the renamed skill leaves or enters by one of its names.
    fn note_pattern(
        &mut self,
        at: LineColumn,
        pattern: &str,
        matches: impl Fn(&str, &str) -> bool,
    ) {
        if !pattern.contains(WILDCARDS) {
            return;
        }
        let what = self.names.iter().find_map(|old| {
            let new = replace_span(old, self.name_in(old)?, self.renaming.new);
            match (matches(pattern, old), matches(pattern, &new)) {
                (true, false) => Some(format!("matches `{old}` but not `{new}`")),
                (false, true) => Some(format!("matches `{new}` but not the old name")),
                (true, true) | (false, false) => None,
            }
        });
        let Some(what) = what else { return };
        let (LineColumn { line, column }, path) = (at, self.path.display());
        self.changes.notes.push(format!("`{pattern}` in `{path}:{line}:{column}` {what}"));
    }

    /// Replaces an old name in the string at a position. `written` is its value.
    fn replace(&mut self, at: LineColumn, written: &str, span: Span) {
        let new = replace_span(written, span, self.renaming.new);
        self.changes.edits.push(replacement(self.text, at, written, &new));
    }

    fn insert(&mut self, at: LineColumn, text: String) {
        self.changes.edits.push(Edit { span: Span::empty(offset(self.text, at)), text });
    }
}

/// Returns the edit that replaces the string at a position, whose value is `written`.
fn replacement(text: &str, at: LineColumn, written: &str, new: &str) -> Edit {
    let start = offset(text, at);
    let rest = &text[(start + 1).min(text.len())..];
    // Otherwise a string contains escapes.
    if rest.starts_with(written) && double_quote_scalar(new) == format!("\"{new}\"") {
        let span = Span::new(start + 1, start + 1 + written.len());
        return Edit { span, text: new.to_owned() };
    }
    Edit { span: Span::new(start, string_end(text, start)), text: double_quote_scalar(new) }
}

fn replace_span(written: &str, span: Span, new: &str) -> String {
    format!("{}{new}{}", &written[..span.start], &written[span.end..])
}

/// Returns the offset of a position for people.
fn offset(text: &str, at: LineColumn) -> usize {
    let Some(line) = LineIndex::new(text).line(at.line.saturating_sub(1)) else {
        return text.len();
    };
    let letters = line.slice(text).char_indices();
    let column = letters.map(|(at, _)| at).nth(at.column.saturating_sub(1) as usize);
    line.start + column.unwrap_or(line.len())
}

/// Returns the offset after the JSON string at an offset.
fn string_end(text: &str, start: usize) -> usize {
    let mut is_escaped = true;
    for (at, letter) in text[start..].char_indices() {
        match letter {
            '"' if !is_escaped => return start + at + 1,
            '\\' if !is_escaped => is_escaped = true,
            _ => is_escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use skills_syntax::edit::apply;

    use super::*;

    fn path(text: &str) -> AbsPath {
        AbsPath::new(Path::new(text)).unwrap()
    }

    #[track_caller]
    fn check(file: &str, sharing: OldNames, text: &str, expected: &str) {
        let skill = path("/w/.claude/skills/aa-bb/SKILL.md");
        let renaming = Renaming::new(&skill, "cc");
        let names = ["aa-bb".to_owned()];
        let changes = config_changes(&renaming, &names, sharing, &path(file), text).unwrap();
        assert_eq!(apply(text, &changes.edits), expected);
    }

    #[test]
    fn permission_rules_and_switches_get_the_new_name() {
        check(
            "/w/.claude/settings.json",
            OldNames::Own,
            "{ \"é\": 1, // é\n\t\"permissions\": {\"deny\": [\"Skill(aa-bb)\",\"Skill(aa-bb *)\" , \"Skill(p:aa-bb)\", \"Skill(aa-bb-cc)\"],\n  \"ask\": [\"Skill(aa\\u002dbb)\", \"Bash(aa-bb)\"]}, \"skillOverrides\": { \"aa-bb\" : \"off\", \"aa\": \"on\" },}\r\n",
            "{ \"é\": 1, // é\n\t\"permissions\": {\"deny\": [\"Skill(cc)\",\"Skill(cc *)\", \"Skill(aa-bb *)\" , \"Skill(p:aa-bb)\", \"Skill(aa-bb-cc)\"],\n  \"ask\": [\"Skill(cc)\", \"Bash(aa-bb)\"]}, \"skillOverrides\": { \"cc\" : \"off\", \"aa\": \"on\" },}\r\n",
        );
        check(
            "/w/opencode.json",
            OldNames::Own,
            "{\"permission\": {\"skill\": {\"aa-bb\": \"deny\", \"*\": \"ask\"}}}",
            "{\"permission\": {\"skill\": {\"cc\": \"deny\", \"*\": \"ask\"}}}",
        );
    }

    #[test]
    fn names_that_any_agent_switches_off_get_the_new_name() {
        let disabled = "{\"skills\": {\"disabled\": [\"AA-bb\", \"aa\"]}}";
        let off = disabled.replace("AA-bb", "cc");
        for file in [".gemini/settings.json", ".qwen/settings.json", ".qoder/settings.local.json"] {
            check(&format!("/w/{file}"), OldNames::Own, disabled, &off);
        }
        check("/w/.claude/settings.json", OldNames::Own, disabled, disabled);
        let both = disabled.replace("\"AA-bb\"", "\"cc\", \"AA-bb\"");
        check("/w/.gemini/settings.json", OldNames::Shared, disabled, &both);
        let slugs = "{\"disabledSkills\": [\"Aa bb\"]} // é";
        let off = slugs.replace("Aa bb", "cc");
        check("/w/.factory/settings.local.json", OldNames::Own, slugs, &off);
        for (file, key) in [("kilo.json", "agent"), (".kilo/kilo.jsonc", "mode")] {
            let denied = "{\"permission\": {\"skill\": {\"aa-bb\": \"deny\"}}, \"KEY\": {\"x\": {\"permission\": {\"skill\": {\"aa-bb\": \"ask\"}}}}}";
            let denied = denied.replace("KEY", key);
            check(&format!("/w/{file}"), OldNames::Own, &denied, &denied.replace("aa-bb", "cc"));
        }
        let toml = "disabled_skills = ['aa-BB', \"x\"]\n";
        check("/w/.vibe/config.toml", OldNames::Own, toml, &toml.replace("aa-BB", "cc"));
    }

    #[test]
    fn rules_of_a_shared_name_stay_and_the_new_name_gets_the_same() {
        check(
            "/w/.claude/settings.json",
            OldNames::Shared,
            "{\"permissions\": {\"deny\": [\"Skill(aa-bb)\"]}, \"skillOverrides\": {\"aa-bb\": \"off\"}}",
            "{\"permissions\": {\"deny\": [\"Skill(cc)\", \"Skill(aa-bb)\"]}, \"skillOverrides\": {\"cc\": \"off\", \"aa-bb\": \"off\"}}",
        );
    }

    #[test]
    fn paths_of_a_plugin_follow_moved_directories() {
        #[track_caller]
        fn check(file: &str, moves: &[(&str, &str)], text: &str, expected: &str) {
            let moves = moves.iter().map(|(old, new)| Move { old: path(old), new: path(new) });
            let changes = manifest_changes(&Moves::new(moves), &path(file), text).unwrap();
            assert_eq!(apply(text, &changes.edits), expected);
        }
        let (plugin, market) =
            ("/w/.claude-plugin/plugin.json", "/w/.claude-plugin/marketplace.json");
        let skill = [("/w/skills/aa-bb", "/w/skills/cc")];
        check(
            plugin,
            &skill,
            "{\"skills\": [\"./skills/aa-bb\", \"./skills/aa-bb/\", \"./other/aa-bb\", \"./skills/aa\\u002dbb\"]}",
            "{\"skills\": [\"./skills/cc\", \"./skills/cc/\", \"./other/aa-bb\", \"./skills/cc\"]}",
        );
        check(
            market,
            &skill,
            "{\"plugins\": [{\"source\": \"./\", \"skills\": [\"./skills/aa-bb\"]}]}",
            "{\"plugins\": [{\"source\": \"./\", \"skills\": [\"./skills/cc\"]}]}",
        );
        let parent = [("/w/skills", "/w/more/\"all\"")];
        check(
            plugin,
            &parent,
            "{\"skills\": \"./skills/\", \"agents\": [\"skills/a.md\", \"./agents\"], \"name\": \"skills\"}",
            "{\"skills\": \"./more/\\\"all\\\"/\", \"agents\": [\"more/\\\"all\\\"/a.md\", \"./agents\"], \"name\": \"skills\"}",
        );
        let sources = "{\"plugins\": [{\"source\": \"./p/one\", \"skills\": [\"./skills\"]}, {\"source\": {\"repo\": \"p\"}}]}";
        let moved = [("/w/p", "/w/q"), ("/w/p/one/skills", "/w/q/one/all")];
        let expected = sources.replace("./p/one", "./q/one").replace("./skills", "./all");
        check(market, &moved, sources, &expected);
        // Paths of another plugin, here or elsewhere.
        let others = "{\"plugins\": [{\"source\": \"./p/one\", \"skills\": [\"./skills\"]}, {\"source\": {\"source\": \"github\"}, \"skills\": [\"./skills\"]}]}";
        check(market, &[("/w/skills", "/w/all")], others, others);
        // A path that leads out of the plugin is none, and a command that becomes a skill is no
        // path of `commands`.
        for other in [("/w/skills", "/v/skills"), ("/w/skills/a.md", "/w/skills/a/SKILL.md")] {
            let text = "{\"skills\": \"./skills/\", \"commands\": \"./skills/a.md\"}";
            check(plugin, &[other], text, text);
        }
        let moves = Moves::new([Move { old: path("/w/skills"), new: path("/w/all") }]);
        let why = manifest_changes(&moves, &path(plugin), "{\"skills\": \"./skills\"").unwrap_err();
        assert!(why.starts_with("`/w/.claude-plugin/plugin.json:1:"), "{why}");
    }

    #[test]
    fn broken_configuration_is_an_error_with_its_position() {
        let skill = path("/w/.claude/skills/aa-bb/SKILL.md");
        let renaming = Renaming::new(&skill, "cc");
        let file = path("/w/.claude/settings.json");
        let names = ["aa-bb".to_owned()];
        let edits = |text: &str| {
            config_changes(&renaming, &names, OldNames::Own, &file, text).map(|it| it.edits)
        };
        let why = edits("{\"permissions\": {\"deny\": [\"Skill(aa-bb)\"}").unwrap_err();
        assert!(why.starts_with("`/w/.claude/settings.json:1:"), "{why}");
        assert!(why.ends_with("; correct it first"), "{why}");
        assert_eq!(edits("{\"permissions\": {"), Ok(Vec::new()));
    }

    #[test]
    fn key_with_the_new_name_is_an_error_and_only_the_skills_own_plugin_is_renamed() {
        let skill = path("/w/skills/aa-bb/SKILL.md");
        let renaming = Renaming::new(&skill, "cc");
        let file = path("/w/.claude/settings.json");
        let names = ["aa-bb", "p:aa-bb"].map(str::to_owned);
        let edits = |text: &str| {
            config_changes(&renaming, &names, OldNames::Own, &file, text).map(|it| it.edits)
        };
        let why = edits("{\"skillOverrides\": {\"aa-bb\": \"off\", \"cc\": \"on\"}}").unwrap_err();
        assert_eq!(why, "`/w/.claude/settings.json:1:37` already sets `cc`; remove it first");
        let text = "{\"permissions\": {\"deny\": [\"Skill(p:aa-bb)\", \"Skill(q:aa-bb)\"]}}";
        let fixed = apply(text, &edits(text).unwrap());
        assert_eq!(fixed, text.replace("p:aa-bb", "p:cc"));
    }

    #[test]
    fn pattern_that_the_skill_leaves_or_enters_is_noted_and_stays() {
        let skill = path("/w/.claude/skills/aa-bb/SKILL.md");
        let renaming = Renaming::new(&skill, "cc-bb");
        let notes = |file: &str, text: &str| {
            let names = ["aa-bb", "p:aa-bb"].map(str::to_owned);
            let changes =
                config_changes(&renaming, &names, OldNames::Own, &path(file), text).unwrap();
            assert_eq!(changes.edits, [], "{text}");
            changes.notes
        };
        let file = "/w/.claude/settings.json";
        let rules = |rule: &str| format!("{{\"permissions\": {{\"deny\": [\"{rule}\"]}}}}");
        let left = "`aa-*` in `/w/.claude/settings.json:1:27` matches `aa-bb` but not `cc-bb`";
        assert_eq!(notes(file, &rules("Skill(aa-*)")), [left]);
        let entered =
            "`cc-*` in `/w/.claude/settings.json:1:27` matches `cc-bb` but not the old name";
        assert_eq!(notes(file, &rules("Skill(cc-*)")), [entered]);
        for rule in
            ["Skill(*-bb)", "Skill(*)", "Skill(dd-*)", "Bash(aa-*)", "Skill(p:*)", "Skill(a?-bb)"]
        {
            assert_eq!(notes(file, &rules(rule)), [""; 0], "{rule}");
        }
        let plugin =
            "`p:a*` in `/w/.claude/settings.json:1:27` matches `p:aa-bb` but not `p:cc-bb`";
        assert_eq!(notes(file, &rules("Skill(p:a*)")), [plugin]);
        // A star matches nothing in a rule that allows, except at the end of `name:*` and `name *`.
        let allow = |rule: &str| rules(rule).replace("deny", "allow");
        for rule in ["Skill(aa-*)", "Skill(a*-bb)", "Skill(*)", "Skill(p:*)"] {
            assert_eq!(notes(file, &allow(rule)), [""; 0], "{rule}");
        }
        let prefix = "`aa:*` in `/w/.claude/settings.json:1:28` matches `aa-bb` but not `cc-bb`";
        assert_eq!(notes(file, &allow("Skill(aa:*)")), [prefix]);
        let keys = "{\"permission\": {\"skill\": {\"*\": \"ask\", \"a?-bb\": \"deny\"}}}";
        let left = "`a?-bb` in `/w/opencode.json:1:39` matches `aa-bb` but not `cc-bb`";
        assert_eq!(notes("/w/opencode.json", keys), [left]);
        assert_eq!(notes(file, "{\"skillOverrides\": {\"aa-*\": \"off\"}}"), [""; 0]);
        let toml = "disabled_skills = [\"AA-*\", \"*-bb\", \"re:a.*\"]";
        let left = [
            "`re:a.*` in `/w/.vibe/config.toml:1:36` may match `cc-bb`",
            "`AA-*` in `/w/.vibe/config.toml:1:20` matches `aa-bb` but not `cc-bb`",
        ];
        assert_eq!(notes("/w/.vibe/config.toml", toml), [left[1], left[0]]);
        assert_eq!(notes(file, "{\"permissions\": {\"deny\": [\"Skill(aa-*)\"}"), [""; 0]);
    }

    #[test]
    fn configuration_is_searched_up_to_the_top() {
        let files = config_files(&path("/w/a/.claude/skills/x/SKILL.md"), &[path("/w")]);
        let has = |it: &str| files.contains(&path(it));
        assert!(has("/w/.claude/settings.json") && has("/w/a/.claude/settings.local.json"));
        assert!(has("/w/opencode.json") && has("/w/.gemini/settings.json"));
        assert!(!has("/.gemini/settings.json") && !has("/.claude/settings.json"));
    }
}
