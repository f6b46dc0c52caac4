//! Registrations of skillsd with agents, as `doctor` shows them ([`Registration`]): whether each
//! file has our entries, and whether the program in them exists.

use std::path::{Path, PathBuf};

use serde_json::Value;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{InstallPart, Registration, RegistrationState};

use crate::agent_config::command;
use crate::agent_config::document;
use crate::agent_config::environment::InstallEnvironment;
use crate::agent_config::file;
use crate::agent_config::item::{ConfigDocument, ConfigEntry, FileFormat, Presence};
use crate::install::agents;
use crate::install::record::Record;
use crate::install::target::{TargetContent, TargetFile};
use skills_client::directory::shell_word;

/// Text before the program in opencode's plugin.
const PLUGIN_START: &str = "SKILLSD_PROGRAM || ";

/// Returns the registrations of each agent that is set up or installed.
pub(crate) fn registrations(environment: &InstallEnvironment) -> Vec<(PathBuf, Registration)> {
    // Without a readable record, a file of an older version counts as the user's own.
    let record = Record::read(&environment.state).unwrap_or_default();
    let agents = agents::all(environment).into_iter();
    let present = agents.filter(|it| has_settings(&it.place) || it.has_program(environment));
    let targets =
        present.flat_map(|agent| agent.targets.into_iter().map(move |it| (agent.title, it)));
    let found = targets
        .map(|(title, it)| (it.path.clone(), registration(environment, &record, title, &it)));
    found.collect()
}

/// Returns whether a directory holds more than skills, which other programs write too.
fn has_settings(dir: &Path) -> bool {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|it| it.file_name()).any(|it| it != "skills")
}

fn registration(
    environment: &InstallEnvironment,
    record: &Record,
    agent: &str,
    target: &TargetFile,
) -> Registration {
    let path_encoding = encoding_of([&*target.path]);
    let (state, program) = state(environment, record, target);
    Registration {
        agent: agent.to_owned(),
        profile: target.owner.to_owned(),
        part: target.part,
        path: encode(&target.path, path_encoding),
        path_encoding,
        state,
        program,
    }
}

/// Returns the state of a target, and the program that is registered but missing.
fn state(
    environment: &InstallEnvironment,
    record: &Record,
    target: &TargetFile,
) -> (RegistrationState, Option<String>) {
    use RegistrationState::{Absent, Broken, Changed, Current, Incomplete, Unreadable};
    let text = match file::read(&target.path) {
        Ok(Some(text)) => text,
        Ok(None) => return (Absent, None),
        Err(_) => return (Unreadable, None),
    };
    match &target.content {
        TargetContent::Whole(wanted) => {
            let (program, rest) = split_program(&text);
            let missing = program.filter(|it| is_missing(environment, it));
            let trace = record.of(&target.path, target.part);
            let is_ours = trace.is_some_and(|it| it.text.as_ref() == Some(&text));
            let state = if missing.is_some() {
                Broken
            } else if text == *wanted {
                Current
            } else if is_ours && rest != split_program(wanted).1 {
                // Another version of skillsd wrote it.
                Incomplete
            } else if !text.contains("skillsd") {
                // Another program's file of the same name.
                Absent
            } else {
                Changed
            };
            (state, missing)
        }
        TargetContent::Items { form, items } => {
            entries_state(environment, &text, *form, items, target.part)
        }
    }
}

fn entries_state(
    environment: &InstallEnvironment,
    text: &str,
    form: FileFormat,
    items: &[ConfigEntry],
    part: InstallPart,
) -> (RegistrationState, Option<String>) {
    use RegistrationState::{Absent, Broken, Changed, Current, Incomplete, Unreadable};
    let Ok(document) = document::parse(form, text) else {
        // An empty file registers nothing.
        return (if text.trim().is_empty() { Absent } else { Unreadable }, None);
    };
    let presences: Vec<_> = items.iter().map(|it| document.presence(it)).collect();
    let has = |wanted| presences.contains(&wanted);
    if !has(Presence::Same) && !has(Presence::Other) {
        return (Absent, None);
    }
    let mut programs = items.iter().flat_map(|it| programs(&*document, it));
    let missing = programs.find(|it| is_missing(environment, it));
    let names_profile = |it: &ConfigEntry| value(&*document, it).is_some_and(|it| has_profile(&it));
    let state = if missing.is_some() {
        Broken
    } else if has(Presence::Absent) || part == InstallPart::Mcp && !items.iter().all(names_profile)
    {
        Incomplete
    } else if has(Presence::Other) {
        Changed
    } else {
        Current
    };
    (state, missing)
}

fn has_profile(value: &Value) -> bool {
    let text = value.to_string();
    text.contains("\"--profile\"") || text.contains("\"--profile=")
}

fn is_missing(environment: &InstallEnvironment, program: &str) -> bool {
    let path = Path::new(program);
    if path.is_absolute() { !path.is_file() } else { environment.which(program).is_none() }
}

/// Returns whether a program is a plain name or absolute path. Agents may replace parts of other
/// words, and resolve other paths from a directory that is not known here.
fn is_plain(program: &str) -> bool {
    let is_replaced = |c: char| c.is_control() || "$`{}%~*?".contains(c);
    let is_known = program.starts_with('/') || !program.contains('/');
    !program.is_empty() && is_known && !program.contains(is_replaced)
}

/// Returns the text of a word of a shell command, if it is plain or in the quotes of [`shell_word`].
fn unquoted(word: &str) -> Option<String> {
    let is_literal = |it: &str| it.chars().all(|c| c.is_alphanumeric() || "/._-+,@:".contains(c));
    if is_literal(word) {
        return Some(word.to_owned());
    }
    let text = word.strip_prefix('\'')?.strip_suffix('\'')?.replace(r"'\''", "'");
    (is_literal(&text) || shell_word(&text) == word).then_some(text)
}

/// Returns the program that opencode's plugin runs, if it is plain, and the text around it.
fn split_program(text: &str) -> (Option<String>, (&str, &str)) {
    let parts = text
        .split_once(PLUGIN_START)
        .and_then(|(before, rest)| Some((before, rest.split_once('\n')?)));
    let Some((before, (program, after))) = parts else { return (None, (text, "")) };
    let program = serde_json::from_str(program).ok();
    (program.filter(|it: &String| is_plain(it)), (before, after))
}

fn value(document: &dyn ConfigDocument, item: &ConfigEntry) -> Option<Value> {
    let at: Vec<_> = item.at.iter().chain(&item.key).cloned().collect();
    document.value(&at)
}

/// Returns the programs that an entry runs, as far as they are plain words.
fn programs(document: &dyn ConfigDocument, item: &ConfigEntry) -> Vec<String> {
    let Some(value) = value(document, item) else { return Vec::new() };
    if item.key.is_some() {
        let program = command::server_words(&value).into_iter().next();
        return program.filter(|it| is_plain(it)).map(str::to_owned).into_iter().collect();
    }
    let elements = value.as_array().into_iter().flatten();
    let lines = elements.flat_map(|it| command::own_lines(it, &item.mark));
    let word = |line: &str| unquoted(line.split_once(&item.mark)?.0.trim());
    lines.filter_map(word).filter(|it| is_plain(it)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn programs_in(item: &ConfigEntry, text: &Value) -> Vec<String> {
        let document = document::parse(FileFormat::Json, &text.to_string()).expect("JSON");
        programs(&*document, item)
    }

    #[test]
    fn only_plain_programs_are_judged() {
        let hook = ConfigEntry::element(&["hooks", "Stop"], json!({}), "hook codex");
        let hooked = |line: &str| {
            programs_in(&hook, &json!({"hooks": {"Stop": [{"hooks": [{"command": line}]}]}}))
        };
        assert_eq!(hooked("skillsd hook codex"), ["skillsd"]);
        assert_eq!(hooked("/opt/skillsd hook codex --verbose"), ["/opt/skillsd"]);
        assert_eq!(hooked("'/opt/skillsd' hook codex"), ["/opt/skillsd"]);
        assert_eq!(hooked("'/opt/my tools/skillsd' hook codex"), ["/opt/my tools/skillsd"]);
        assert_eq!(hooked(r"'/opt/it'\''s/skillsd' hook codex"), ["/opt/it's/skillsd"]);
        for line in [
            "~/bin/skillsd hook codex",
            "$HOME/bin/skillsd hook codex",
            "'$HOME/skillsd' hook codex",
            "\"/opt/skillsd\" hook codex",
            "./skillsd hook codex",
            "bin/skillsd hook codex",
            "skillsd --timeout 5 hook codex",
            "exec skillsd hook codex",
            "A=b skillsd hook codex",
            "sh -c 'skillsd hook codex'",
            "/opt/my-hook codex",
            " hook codex",
        ] {
            assert!(hooked(line).is_empty(), "{line}");
        }
        let server = ConfigEntry::property(&["servers"], "skills", json!({}));
        let started = |command: &str| {
            programs_in(&server, &json!({"servers": {"skills": {"command": command}}}))
        };
        assert_eq!(started("/opt/skillsd"), ["/opt/skillsd"]);
        assert!(started("${HOME}/skillsd").is_empty() && started("./skillsd").is_empty());
        for transport in [json!("stdio"), json!({"command": "/opt/skillsd"})] {
            let text = json!({"transport": transport, "command": "/opt/skillsd"});
            let text = json!({"servers": {"skills": text}});
            assert_eq!(programs_in(&server, &text), ["/opt/skillsd"]);
        }
    }

    #[test]
    fn profile_is_one_argument_or_two() {
        assert!(has_profile(&json!({"args": ["mcp", "--profile=codex"]})));
        assert!(has_profile(&json!({"args": ["mcp", "--profile", "codex"]})));
        assert!(!has_profile(&json!({"args": ["mcp"]})));
    }

    #[test]
    fn program_of_a_plugin_is_split_off() {
        let plugin = |program: &str| format!("a\nconst P = env.SKILLSD_PROGRAM || {program}\nb\n");
        let (one, other) = (plugin("\"skillsd\""), plugin("\"/opt/skillsd\""));
        let (program, rest) = split_program(&other);
        assert_eq!(program.as_deref(), Some("/opt/skillsd"));
        assert_eq!(rest, split_program(&one).1);
        assert_eq!(split_program("b\n"), (None, ("b\n", "")));
    }
}
