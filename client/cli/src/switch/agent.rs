//! Settings of each agent that switch a skill on and off ([`SwitchAgent`]): the file and the edit.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use globset::Glob;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skills_protocol::env::{COPILOT_HOME, QODER_CONFIG_DIR, QWEN_HOME};
use skills_syntax::text::slug;

use crate::agent_config::document;
use crate::agent_config::environment::InstallEnvironment;
use crate::agent_config::item::{ConfigDocument, ConfigEntry, EditError, FileFormat};

/// State that a command switches a skill to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SwitchTo {
    Enabled,
    Disabled,
}

impl SwitchTo {
    /// Returns the state as an adjective.
    pub(super) fn state(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
        }
    }
}

/// Agent with a setting for single skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SwitchAgent {
    ClaudeCode,
    Codex,
    GeminiCli,
    Opencode,
    CopilotCli,
    Droid,
    Kilo,
    Qoder,
    QwenCode,
}

/// Owner of a settings file, as named by `--scope`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SettingsScope {
    User,
    Project,
    Local,
}

/// State of a skill in one settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Setting {
    Off,
    /// Switched on, against a weaker file.
    On,
    Unset,
}

impl SwitchAgent {
    /// Returns the agent of a profile or of its variant.
    pub(super) fn of(profile: &str) -> Option<Self> {
        let base = profile.split_once('@').map_or(profile, |(base, _)| base);
        match base {
            "claude-code" => Some(Self::ClaudeCode),
            "codex" => Some(Self::Codex),
            "gemini-cli" => Some(Self::GeminiCli),
            "opencode" => Some(Self::Opencode),
            "copilot-cli" => Some(Self::CopilotCli),
            "droid" => Some(Self::Droid),
            "kilo" => Some(Self::Kilo),
            "qoder" => Some(Self::Qoder),
            "qwen-code" => Some(Self::QwenCode),
            _ => None,
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::GeminiCli => "Gemini CLI",
            Self::Opencode => "opencode",
            Self::CopilotCli => "Copilot CLI",
            Self::Droid => "Factory Droid",
            Self::Kilo => "Kilo",
            Self::Qoder => "Qoder",
            Self::QwenCode => "Qwen Code",
        }
    }

    /// Returns the key of the setting, for messages.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::ClaudeCode => "skillOverrides",
            Self::Codex => "skills.config",
            Self::GeminiCli | Self::Qoder | Self::QwenCode => "skills.disabled",
            Self::Opencode | Self::Kilo => "permission.skill",
            Self::CopilotCli | Self::Droid => "disabledSkills",
        }
    }

    /// Returns true if the names in the setting are patterns, the last of which counts.
    pub(super) fn has_patterns(self) -> bool {
        matches!(self, Self::Opencode | Self::Kilo)
    }

    /// Returns true if one file is enough to switch a skill off, whatever the others say.
    pub(super) fn merges_disabled_lists(self) -> bool {
        matches!(self, Self::GeminiCli | Self::Droid | Self::Qoder | Self::QwenCode)
    }

    /// Returns true if only the user's settings switch its skills.
    pub(super) fn is_user_only(self) -> bool {
        matches!(self, Self::Codex | Self::CopilotCli)
    }

    pub(super) fn format(self) -> FileFormat {
        if self == Self::Codex { FileFormat::Toml } else { FileFormat::Json }
    }

    /// Returns the settings file to change; `None` if the agent has none for the scope. `top` is
    /// the worktree's top.
    pub(super) fn file(
        self,
        scope: SettingsScope,
        environment: &InstallEnvironment,
        cwd: &Path,
        top: &Path,
    ) -> Option<PathBuf> {
        use SettingsScope::{Local, Project, User};
        match (self, scope) {
            (Self::ClaudeCode, User) => Some(environment.claude_dir().join("settings.json")),
            (Self::ClaudeCode, Project) => Some(cwd.join(".claude/settings.json")),
            (Self::ClaudeCode, Local) => Some(cwd.join(".claude/settings.local.json")),
            (Self::Codex, User) => Some(environment.codex.join("config.toml")),
            (Self::GeminiCli, User) => Some(environment.gemini.join(".gemini/settings.json")),
            (Self::GeminiCli, Project) => Some(cwd.join(".gemini/settings.json")),
            (Self::Opencode, User) => {
                Some(preferred(&environment.config.join("opencode"), &OPENCODE_FILES))
            }
            (Self::Kilo, User) => Some(preferred(&environment.config.join("kilo"), &KILO_FILES)),
            (Self::Opencode, Project) => Some(nearest(cwd, top, &OPENCODE_FILES)),
            (Self::Kilo, Project) => Some(nearest(cwd, top, &KILO_FILES)),
            (Self::CopilotCli, User) => {
                Some(environment.directory_of(COPILOT_HOME, ".copilot").join("settings.json"))
            }
            (Self::Droid, User) => Some(environment.home.join(".factory/settings.json")),
            (Self::Droid, Project) => Some(top.join(".factory/settings.json")),
            (Self::Qoder, User) => {
                Some(environment.directory_of(QODER_CONFIG_DIR, ".qoder").join("settings.json"))
            }
            (Self::Qoder, Project) => Some(cwd.join(".qoder/settings.json")),
            (Self::Qoder, Local) => Some(cwd.join(".qoder/settings.local.json")),
            (Self::QwenCode, User) => {
                Some(environment.directory_of(QWEN_HOME, ".qwen").join("settings.json"))
            }
            (Self::QwenCode, Project) => Some(cwd.join(".qwen/settings.json")),
            (Self::Codex | Self::CopilotCli, Project | Local)
            | (
                Self::GeminiCli | Self::Opencode | Self::Kilo | Self::QwenCode | Self::Droid,
                // The list of Factory Droid's local file would replace that of the project's.
                Local,
            ) => None,
        }
    }

    /// Returns whether a text is well formed; an empty one is.
    pub(super) fn parses(self, text: &str) -> bool {
        text.trim().is_empty() || document::parse(self.format(), text).is_ok()
    }

    /// Returns the text with the skill in this state. `is_path` tells whether a path in the
    /// settings is that of the skill.
    pub(super) fn edit(
        self,
        text: Option<&str>,
        name: &str,
        setting: Setting,
        is_path: &dyn Fn(&str) -> bool,
    ) -> Result<String, EditError> {
        let mut document = document::parse_or_new(self.format(), text)?;
        let document = &mut *document;
        match self {
            Self::ClaudeCode => edit_overrides(document, name, setting)?,
            Self::Codex => edit_config(document, name, setting, is_path)?,
            Self::GeminiCli | Self::Qoder | Self::QwenCode => {
                let lower = |it: &str| it.to_lowercase();
                edit_disabled(document, &["skills", "disabled"], name, setting, &lower)?;
            }
            Self::CopilotCli => {
                edit_disabled(document, &["disabledSkills"], name, setting, &str::to_owned)?;
            }
            Self::Droid => {
                edit_disabled(document, &["disabledSkills"], name, setting, &slug)?;
            }
            Self::Opencode | Self::Kilo => edit_permission(document, name, setting)?,
        }
        Ok(document.text())
    }
}

const OPENCODE_FILES: [&str; 2] = ["opencode.jsonc", "opencode.json"];
const KILO_FILES: [&str; 2] = ["kilo.jsonc", "kilo.json"];

/// Returns the first of the files that exists from `cwd` up to `top`, else the last one in `top`.
fn nearest(cwd: &Path, top: &Path, names: &[&str; 2]) -> PathBuf {
    let dirs = cwd.ancestors().take_while(|it| it.starts_with(top));
    let mut files = dirs.flat_map(|dir| names.map(|name| dir.join(name)));
    files.find(|it| it.exists()).unwrap_or_else(|| top.join(names[1]))
}

/// Returns the first of the files that exists, else the last one.
fn preferred(dir: &Path, names: &[&str; 2]) -> PathBuf {
    let first = dir.join(names[0]);
    if first.is_file() { first } else { dir.join(names[1]) }
}

fn path(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|it| (*it).to_owned()).collect()
}

/// Claude Code: `"skillOverrides": {"NAME": "off"}`.
fn edit_overrides(
    document: &mut dyn ConfigDocument,
    name: &str,
    setting: Setting,
) -> Result<(), EditError> {
    let at = ["skillOverrides"];
    let value = match setting {
        Setting::Off => json!("off"),
        Setting::On => json!("on"),
        Setting::Unset => {
            remove_property(document, &at, name);
            return Ok(());
        }
    };
    if !document.replace(&path(&at), name, &value) {
        document.add(&ConfigEntry::property(&at, name, value))?;
    }
    Ok(())
}

/// Removes a property, and the objects that are empty without it.
fn remove_property(document: &mut dyn ConfigDocument, at: &[&str], name: &str) {
    let Some(value) = document.value(&path(&[at, &[name]].concat())) else { return };
    document.remove(&ConfigEntry::property(at, name, value));
    prune(document, at);
}

fn prune(document: &mut dyn ConfigDocument, at: &[&str]) {
    let made: Vec<_> = (1..=at.len()).map(|length| path(&at[..length])).collect();
    document.prune(&made);
}

/// A list of names that are off, such as `"skills": {"disabled": ["NAME"]}` of Gemini CLI. Names
/// with the same `form` are equal.
fn edit_disabled(
    document: &mut dyn ConfigDocument,
    at: &[&str],
    name: &str,
    setting: Setting,
    form: &dyn Fn(&str) -> String,
) -> Result<(), EditError> {
    let listed = document.value(&path(at));
    let listed = listed.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
    let is_it = |it: &Value| it.as_str().is_some_and(|it| form(it) == form(name));
    if setting != Setting::Off {
        for it in listed.into_iter().filter(is_it) {
            document.remove(&ConfigEntry::element(at, it, ""));
        }
        prune(document, at);
    } else if !listed.iter().any(is_it) {
        document.add(&ConfigEntry::element(at, json!(name), ""))?;
    }
    Ok(())
}

/// Codex: a table `[[skills.config]]` with `name = "NAME"` and `enabled = false`.
fn edit_config(
    document: &mut dyn ConfigDocument,
    name: &str,
    setting: Setting,
    is_path: &dyn Fn(&str) -> bool,
) -> Result<(), EditError> {
    let at = ["skills", "config"];
    let listed = document.value(&path(&at));
    let listed = listed.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
    let is_it = |it: &Value| {
        let text = |key| it.get(key).and_then(Value::as_str);
        text("name").is_some_and(|it| it.trim() == name) || text("path").is_some_and(is_path)
    };
    // Codex uses the last matching entry; removes entries with the opposite `enabled`.
    let is_opposite = |it: &Value| it.get("enabled") == Some(&json!(setting == Setting::Off));
    for it in listed.into_iter().filter(|it| is_it(it) && is_opposite(it)) {
        document.remove(&ConfigEntry::element(&at, it, ""));
    }
    if setting == Setting::Off {
        let value = json!({"name": name, "enabled": false});
        document.add(&ConfigEntry::element(&at, value, ""))?;
    } else {
        prune(document, &at);
    }
    Ok(())
}

/// opencode and Kilo: `"permission": {"skill": {"NAME": "deny"}}`. The last matching pattern
/// counts, so the entry comes last.
fn edit_permission(
    document: &mut dyn ConfigDocument,
    name: &str,
    setting: Setting,
) -> Result<(), EditError> {
    let at = ["permission", "skill"];
    let skill = document.value(&path(&at));
    let permission = document.value(&path(&at[..1]));
    let action = match setting {
        Setting::Off => "deny",
        Setting::Unset if !permission.as_ref().is_some_and(|it| is_denied_by_others(it, name)) => {
            remove_property(document, &at, name);
            return Ok(());
        }
        Setting::On | Setting::Unset => "allow",
    };
    if let Some(Value::String(all)) = permission {
        let value = json!({"*": all, "skill": {name: action}});
        document.replace(&[], "permission", &value);
        return Ok(());
    }
    if let Some(Value::String(all)) = skill {
        document.replace(&path(&at[..1]), "skill", &json!({"*": all, name: action}));
        return Ok(());
    }
    if let Some(old) = document.value(&path(&[&at[..], &[name]].concat())) {
        document.remove(&ConfigEntry::property(&at, name, old));
    }
    document.add(&ConfigEntry::property(&at, name, json!(action)))?;
    Ok(())
}

/// Returns whether `permission` denies a skill that has no entry of its own in it.
fn is_denied_by_others(permission: &Value, name: &str) -> bool {
    let skills = |value: &Value| match value.as_object() {
        Some(patterns) => {
            let mut others = patterns.iter().filter(|(it, _)| *it != name && matches(it, name));
            others.next_back().map(|(_, it)| it == "deny")
        }
        None => Some(value == "deny"),
    };
    let Some(tools) = permission.as_object() else { return permission == "deny" };
    let mut tools = tools.iter().rev().filter(|(it, _)| matches(it, "skill"));
    tools.find_map(|(_, it)| skills(it)).unwrap_or(false)
}

/// Returns whether a pattern with the wildcards `*` and `?` matches a name.
fn matches(pattern: &str, name: &str) -> bool {
    let glob = globset::escape(pattern).replace("[*]", "*").replace("[?]", "?");
    Glob::new(&glob).is_ok_and(|it| it.compile_matcher().is_match(name))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(agent: SwitchAgent, text: Option<&str>, setting: Setting, expected: &Expect) {
        let edited = agent.edit(text, "pdf", setting, &|it| it == "/s/pdf/SKILL.md");
        expected.assert_eq(&edited.unwrap_or_else(|error| format!("{error:?}")));
    }

    #[test]
    fn skill_is_switched_off_and_the_rest_is_kept() {
        let claude = "{\n  \"model\": \"opus\",\n  \"skillOverrides\": {\"a\": \"off\", \"pdf\": \"name-only\"}\n}\n";
        check(
            SwitchAgent::ClaudeCode,
            Some(claude),
            Setting::Off,
            &expect![[r#"
                {
                  "model": "opus",
                  "skillOverrides": {"a": "off", "pdf": "off"}
                }
            "#]],
        );
        check(
            SwitchAgent::GeminiCli,
            Some("{\n  // Dark.\n  \"theme\": \"x\",\n  \"skills\": {\"disabled\": [\"a\"]}\n}\n"),
            Setting::Off,
            &expect![[r#"
                {
                  // Dark.
                  "theme": "x",
                  "skills": {"disabled": ["a", "pdf"]}
                }
            "#]],
        );
        check(
            SwitchAgent::Codex,
            Some("model = \"x\" # why\n\n[[skills.config]]\nname = \"a\"\nenabled = false\n"),
            Setting::Off,
            &expect![[r#"
                model = "x" # why

                [[skills.config]]
                name = "a"
                enabled = false

                [[skills.config]]
                name = "pdf"
                enabled = false
            "#]],
        );
        check(
            SwitchAgent::Opencode,
            Some("{\n  \"permission\": {\"edit\": \"ask\", \"skill\": \"ask\"} // mine\n}\n"),
            Setting::Off,
            &expect![[r#"
                {
                  "permission": {"edit": "ask", "skill": {
                      "*": "ask",
                      "pdf": "deny"
                    }} // mine
                }
            "#]],
        );
    }

    #[test]
    fn missing_file_is_created_with_the_setting_only() {
        let claude = expect![[r#"
            {
              "skillOverrides": {
                "pdf": "off"
              }
            }
        "#]];
        check(SwitchAgent::ClaudeCode, None, Setting::Off, &claude);
        let codex = expect![[r#"
            [[skills.config]]
            name = "pdf"
            enabled = false
        "#]];
        check(SwitchAgent::Codex, Some(""), Setting::Off, &codex);
    }

    #[test]
    fn skill_is_switched_on_by_removing_what_switches_it_off() {
        check(
            SwitchAgent::GeminiCli,
            Some("{\"skills\": {\"disabled\": [\"PDF\"]}, \"theme\": 1}"),
            Setting::Unset,
            &expect![[r#"{ "theme": 1}"#]],
        );
        check(
            SwitchAgent::Codex,
            Some("[[skills.config]]\npath = \"/s/pdf/SKILL.md\"\nenabled = false\n"),
            Setting::Unset,
            &expect![""],
        );
        check(
            SwitchAgent::Opencode,
            Some("{\"permission\": {\"skill\": {\"pdf\": \"deny\", \"p*\": \"deny\"}}}"),
            Setting::Unset,
            &expect![[r#"
                {"permission": {"skill": {
                      "p*": "deny",
                      "pdf": "allow"
                    }}}"#]],
        );
    }

    #[test]
    fn skill_that_a_pattern_asks_about_is_enabled_by_removing_its_entry() {
        for (text, expected) in [
            (r#"{"*": "ask", "pdf": "deny"}"#, r#"{"*": "ask"}"#),
            (r#"{"x-*": "deny", "pdf": "deny"}"#, r#"{"x-*": "deny"}"#),
            (r#"{"*": "deny", "p?f": "ask", "pdf": "deny"}"#, r#"{"*": "deny", "p?f": "ask"}"#),
        ] {
            let whole = |it: &str| format!("{{\"permission\": {{\"skill\": {it}}}}}");
            let edited =
                SwitchAgent::Opencode.edit(Some(&whole(text)), "pdf", Setting::Unset, &|_| false);
            assert_eq!(edited.expect("edited"), whole(expected));
        }
    }

    #[test]
    fn skill_is_allowed_beside_a_setting_that_denies_all() {
        for text in [
            r#"{"permission": {"skill": "deny"}}"#,
            r#"{"permission": "deny"}"#,
            r#"{"permission": {"*": "deny"}}"#,
        ] {
            let edited = SwitchAgent::Kilo.edit(Some(text), "pdf", Setting::Unset, &|_| false);
            let edited: Value = serde_json::from_str(&edited.expect("edited")).expect("JSON");
            assert_eq!(edited["permission"]["skill"]["pdf"], "allow", "{text}: {edited}");
        }
    }

    #[test]
    fn only_well_formed_texts_are_restored() {
        assert!(SwitchAgent::GeminiCli.parses("{\"skills\": {\"disabled\": []}}"));
        assert!(!SwitchAgent::GeminiCli.parses("{\"skills\": {\"disabled\": [, \"x\"]}}"));
        assert!(SwitchAgent::Codex.parses("") && !SwitchAgent::Codex.parses("a = ["));
    }

    #[test]
    fn setting_of_another_kind_is_refused() {
        check(
            SwitchAgent::ClaudeCode,
            Some("{\"skillOverrides\": []}"),
            Setting::Off,
            &expect![[
                r#"EditError { message: "`skillOverrides` is not an object", place: None }"#
            ]],
        );
    }
}
