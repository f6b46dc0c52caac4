//! Registrations of skillsd with agents, as `doctor` shows them ([`Registration`]): whether each file
//! has our entries, and whether the program in them exists.

use std::path::{Path, PathBuf};

use serde_json::Value;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{InstallPart, Registration, RegistrationState};

use crate::agent_config::document::ConfigDocument;
use crate::agent_config::environment::InstallEnvironment;
use crate::agent_config::file;
use crate::agent_config::item::{ConfigEntry, FileFormat, Presence};
use crate::install::agents;
use crate::install::target::{TargetContent, TargetFile};

/// Returns the registrations of each agent that is set up or installed.
pub(crate) fn registrations(environment: &InstallEnvironment) -> Vec<(PathBuf, Registration)> {
    let agents = agents::all(environment).into_iter();
    let present =
        agents.filter(|it| has_settings(&it.place) || environment.which(it.program).is_some());
    let targets =
        present.flat_map(|agent| agent.targets.into_iter().map(move |it| (agent.title, it)));
    targets.map(|(title, it)| (it.path.clone(), registration(environment, title, &it))).collect()
}

/// Returns whether a directory holds more than skills, which other programs write too.
fn has_settings(dir: &Path) -> bool {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|it| it.file_name()).any(|it| it != "skills")
}

fn registration(
    environment: &InstallEnvironment,
    agent: &str,
    target: &TargetFile,
) -> Registration {
    let path_encoding = encoding_of([&*target.path]);
    let (state, program) = state(environment, target);
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
    target: &TargetFile,
) -> (RegistrationState, Option<String>) {
    use RegistrationState::{Absent, Changed, Current, Unreadable};
    let text = match file::read(&target.path) {
        Ok(Some(text)) => text,
        Ok(None) => return (Absent, None),
        Err(_) => return (Unreadable, None),
    };
    match &target.content {
        TargetContent::Whole(wanted) if text == *wanted => (Current, None),
        TargetContent::Whole(_) => (Changed, None),
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
    let Ok(document) = ConfigDocument::parse(form, text) else {
        // An empty file registers nothing.
        return (if text.trim().is_empty() { Absent } else { Unreadable }, None);
    };
    let presences: Vec<_> = items.iter().map(|it| document.presence(it)).collect();
    let has = |wanted| presences.contains(&wanted);
    if !has(Presence::Same) && !has(Presence::Other) {
        return (Absent, None);
    }
    let missing = items.iter().flat_map(|it| programs(&document, it)).find(|it| {
        let path = Path::new(it);
        if path.is_absolute() { !path.is_file() } else { environment.which(it).is_none() }
    });
    let names_profile = |it: &ConfigEntry| {
        value(&document, it).is_some_and(|it| it.to_string().contains("\"--profile\""))
    };
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

/// Returns the value of an item in the document, or the list that contains it.
fn value(document: &ConfigDocument, item: &ConfigEntry) -> Option<Value> {
    let at: Vec<_> = item.at.iter().chain(&item.key).cloned().collect();
    document.value(&at)
}

/// Returns the programs that an entry runs.
fn programs(document: &ConfigDocument, item: &ConfigEntry) -> Vec<String> {
    let Some(value) = value(document, item) else { return Vec::new() };
    if item.key.is_some() {
        let command = &value["command"];
        let program = command.as_str().or_else(|| command.get(0)?.as_str());
        return program.map(str::to_owned).into_iter().collect();
    }
    let mut lines = Vec::new();
    push_texts(&value, &mut lines);
    let ours = lines.iter().filter_map(|it| it.split_once(&item.mark));
    let word = |it: &str| it.trim().trim_matches('\'').replace(r"'\''", "'");
    // A line may set variables first, so that the program is not alone.
    ours.map(|(program, _)| word(program)).filter(|it| !it.contains('=')).collect()
}

fn push_texts<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|it| push_texts(it, texts)),
        Value::Object(members) => members.values().for_each(|it| push_texts(it, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
