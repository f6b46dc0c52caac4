//! Renames a skill in configuration files of agents: permission rules, switches and plugin paths.
//!
//! A rule that keeps the old name would forbid nothing, so these edits are certain. The rest of the
//! text stays as it is. This module does not read files; the caller does.

use skills_discovery::permission::{RulePrecedence, is_granted, may_match};
use skills_syntax::config_tree::{Node, Syntax, parse};
use skills_syntax::edit::Edit;
use skills_syntax::path::AbsPath;
use skills_syntax::quote::double_quote_scalar;
use skills_syntax::text::{LineColumn, LineIndex, Span};

use crate::moves::Move;
use crate::rename::Renaming;

/// Configuration files that may name skills, relative to a directory.
const CONFIG_FILES: [&str; 8] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude-plugin/plugin.json",
    ".claude-plugin/marketplace.json",
    "opencode.json",
    "opencode.jsonc",
    ".opencode/opencode.json",
    ".opencode/opencode.jsonc",
];

/// Returns the configuration files that may name a skill: those in the directories above it up to a
/// `top`, and those of each top itself.
pub fn config_files(skill: &AbsPath, tops: &[AbsPath]) -> Vec<AbsPath> {
    let mut dirs: Vec<AbsPath> = tops.to_vec();
    for dir in skill.ancestors().skip(1) {
        let is_within = tops.iter().any(|top| dir != *top && dir.starts_with(top));
        dirs.extend(Some(dir).filter(|_| is_within));
    }
    dirs.sort();
    dirs.dedup();
    dirs.iter().flat_map(|dir| CONFIG_FILES.map(|it| dir.child(it))).collect()
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
    let may_name = names.iter().any(|it| text.contains(&**it)) || text.contains("\\u");
    if !may_name && !text.contains(WILDCARDS) {
        return Ok(ConfigChanges::default());
    }
    let root = match parse(text, Syntax::JsonLoose) {
        Ok(root) => root,
        Err(_) if !may_name => return Ok(ConfigChanges::default()),
        Err(error) => {
            let LineColumn { line, column } = error.at;
            let path = path.display();
            return Err(format!(
                "`{path}:{line}:{column}` may name the skill but is {}; correct it first",
                error.message
            ));
        }
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
    let agents = root.get("agent").map(Node::entries).unwrap_or_default().iter();
    let maps = std::iter::once(&root).chain(agents.map(|it| &it.node));
    let mut maps = maps.map(|it| it.at_path(&["permission", "skill"]));
    let matches =
        |pattern: &str, name: &str| is_granted(RulePrecedence::LastMatch, [pattern], name);
    // Switches have no patterns.
    edits
        .keys(root.get("skillOverrides"), |_, _| false)
        .and_then(|()| maps.try_for_each(|it| edits.keys(it, matches)))
        .map_err(|why| format!("`{}:{why}", path.display()))?;
    if let Some(plugin) = path.parent().filter(|it| it.ends_with(".claude-plugin")) {
        let plugin = plugin.parent().unwrap_or(plugin);
        edits.paths(&root, std::slice::from_ref(&plugin));
        for entry in root.get("plugins").map(Node::items).unwrap_or_default() {
            let source = entry.get("source").and_then(Node::text);
            let source = source.map(|it| plugin.join_lexically(it));
            edits.paths(entry, &[source.unwrap_or_else(|| plugin.clone()), plugin.clone()]);
        }
    }
    let mut changes = edits.changes;
    changes.edits.sort_by_key(|it| it.span);
    Ok(changes)
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
    /// Returns the span to rename in a text that is an old name, or `/` and one. The name of a plugin
    /// before the skill's stays; that of another plugin is another skill's.
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
            let new = replaced(written, span, self.renaming.new);
            self.insert(rule.at, format!("{}, ", double_quote_scalar(&new)));
        } else {
            self.replace(rule.at, written, span);
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
            let new = replaced(&entry.key, span, self.renaming.new);
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
            let new = replaced(old, self.name_in(old)?, self.renaming.new);
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

    /// Paths of a plugin's `skills` that lead to the renamed directory from one of the `bases`. Only
    /// their last component changes.
    fn paths(&mut self, plugin: &Node, bases: &[AbsPath]) {
        let stays_beside = |it: &Move| it.old.parent() == it.new.parent();
        let Some(moved) = self.renaming.file_move().filter(stays_beside) else { return };
        for key in ["skills", "commands"] {
            let Some(node) = plugin.get(key) else { continue };
            for item in std::slice::from_ref(node).iter().chain(node.items()) {
                let Some(written) = item.text() else { continue };
                let Some(name) = moved.old.file_name().and_then(|it| it.to_str()) else { continue };
                let path = written.trim_end_matches('/');
                if !bases.iter().any(|it| it.join_lexically(path) == moved.old) {
                    continue;
                }
                let (Some(head), Some(new)) =
                    (path.strip_suffix(name), moved.new.file_name().and_then(|it| it.to_str()))
                else {
                    continue;
                };
                self.replace_with(item.at, written, Span::new(head.len(), path.len()), new);
            }
        }
    }

    fn replace(&mut self, at: LineColumn, written: &str, span: Span) {
        self.replace_with(at, written, span, self.renaming.new);
    }

    /// Replaces a part of the string at a position. `written` is its value.
    fn replace_with(&mut self, at: LineColumn, written: &str, span: Span, new: &str) {
        let start = offset(self.text, at);
        let rest = &self.text[(start + 1).min(self.text.len())..];
        self.changes.edits.push(if rest.starts_with(written) {
            let span = Span::new(start + 1 + span.start, start + 1 + span.end);
            Edit { span, text: new.to_owned() }
        } else {
            // The string contains escapes.
            let span_of_string = Span::new(start, string_end(self.text, start));
            let text = double_quote_scalar(&replaced(written, span, new));
            Edit { span: span_of_string, text }
        });
    }

    fn insert(&mut self, at: LineColumn, text: String) {
        self.changes.edits.push(Edit { span: Span::empty(offset(self.text, at)), text });
    }
}

fn replaced(written: &str, span: Span, new: &str) -> String {
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
        let plugin = path("/w/skills/aa-bb/SKILL.md");
        let skill = if file.contains("-plugin") { &plugin } else { &skill };
        let renaming = Renaming::new(skill, "cc");
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
    fn rules_of_a_shared_name_stay_and_the_new_name_gets_the_same() {
        check(
            "/w/.claude/settings.json",
            OldNames::Shared,
            "{\"permissions\": {\"deny\": [\"Skill(aa-bb)\"]}, \"skillOverrides\": {\"aa-bb\": \"off\"}}",
            "{\"permissions\": {\"deny\": [\"Skill(cc)\", \"Skill(aa-bb)\"]}, \"skillOverrides\": {\"cc\": \"off\", \"aa-bb\": \"off\"}}",
        );
    }

    #[test]
    fn paths_of_a_plugin_get_the_new_directory() {
        check(
            "/w/.claude-plugin/plugin.json",
            OldNames::Own,
            "{\"skills\": [\"./skills/aa-bb\", \"./skills/aa-bb/\", \"./other/aa-bb\"]}",
            "{\"skills\": [\"./skills/cc\", \"./skills/cc/\", \"./other/aa-bb\"]}",
        );
        check(
            "/w/.claude-plugin/marketplace.json",
            OldNames::Own,
            "{\"plugins\": [{\"source\": \"./\", \"skills\": [\"./skills/aa-bb\"]}]}",
            "{\"plugins\": [{\"source\": \"./\", \"skills\": [\"./skills/cc\"]}]}",
        );
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
        assert_eq!(notes(file, "{\"permissions\": {\"deny\": [\"Skill(aa-*)\"}"), [""; 0]);
    }

    #[test]
    fn configuration_is_searched_up_to_the_top() {
        let files = config_files(&path("/w/a/.claude/skills/x/SKILL.md"), &[path("/w")]);
        let has = |it: &str| files.contains(&path(it));
        assert!(has("/w/.claude/settings.json") && has("/w/a/.claude/settings.local.json"));
        assert!(has("/w/opencode.json") && !has("/.claude/settings.json"));
    }
}
