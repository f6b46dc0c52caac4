//! What an agent hands to its hook, read into what happened: which event, in which session, to which files.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::agents::{Agent, Event, Input};
use super::shell::{CommandDirs, Op, Touched, absolute, files, patched};

/// A hook's input. What one agent leaves out another has; all of it is checked where it is used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload {
    pub(super) session_id: Option<String>,
    pub(super) hook_event_name: String,
    pub(super) cwd: Option<PathBuf>,
    /// The agent inside the conversation that acts; absent for the main one.
    pub(super) agent_id: Option<String>,
    tool_name: String,
    tool_input: Value,
    source: Value,
    trigger: Value,
}

/// Names of inputs that hold a path in tools that are not known.
const PATHS: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "absolute_path",
    "relative_path",
    "notebook_path",
    "dir_path",
    "directory",
    "uri",
    "source",
    "destination",
];

/// What a tool does, by a word in its name, where the tool is not known.
const DEEDS: &[(&[&str], Op)] = &[
    (
        &[
            "write", "edit", "create", "delete", "remove", "move", "rename", "patch", "replace",
            "insert",
        ],
        Op::Write,
    ),
    (&["search", "grep", "find", "list", "glob", "tree"], Op::Search),
];

/// Words in the names of tools that run a shell.
const SHELLS: &[&str] = &["bash", "shell", "terminal", "exec", "run_command", "run_cmd"];

impl Payload {
    /// Returns what happened; `None` for an event that means nothing to us.
    pub(super) fn event(&self, agent: &Agent) -> Option<Event> {
        let events = agent.events.iter();
        let (_, event) = events.into_iter().find(|(name, _)| *name == self.hook_event_name)?;
        match event {
            Event::Start if self.source == "compact" => Some(Event::Compacted),
            Event::CompactedByHand if self.trigger != "manual" => None,
            Event::CompactedByHand => Some(Event::Compacted),
            Event::End if self.agent_id.is_some() => Some(Event::AgentEnd),
            event => Some(*event),
        }
    }

    /// Returns the files that the tool was given, and what it does with them.
    pub(super) fn files(&self, agent: &Agent, place: &CommandDirs) -> Vec<Touched> {
        let Value::Object(fields) = &self.tool_input else {
            // A tool of plain text takes a patch.
            return self.tool_input.as_str().map_or_else(Vec::new, |it| patched(it, &place.cwd));
        };
        let known = agent.tools.iter().find(|(name, _)| *name == self.tool_name);
        let found = match known {
            Some((_, inputs)) => inputs.iter().flat_map(|it| read(*it, fields, place)).collect(),
            None => self.guessed(fields, place),
        };
        let mut files: Vec<Touched> = Vec::new();
        for touched in found {
            if !files.contains(&touched) {
                files.push(touched);
            }
        }
        files
    }

    fn guessed(&self, fields: &Map<String, Value>, place: &CommandDirs) -> Vec<Touched> {
        let name = self.tool_name.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        if has(SHELLS) {
            let commands = ["command", "cmd", "script"].into_iter();
            return commands.flat_map(|it| read(Input::Shell(it, "cwd"), fields, place)).collect();
        }
        let op = DEEDS.iter().find(|(words, _)| has(words)).map_or(Op::Read, |(_, op)| *op);
        PATHS.iter().flat_map(|field| read(Input::Path(field, op), fields, place)).collect()
    }
}

/// Returns the texts of a field, which may be a list.
fn texts<'a>(fields: &'a Map<String, Value>, name: &str) -> Vec<&'a str> {
    match fields.get(name) {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn read(input: Input, fields: &Map<String, Value>, place: &CommandDirs) -> Vec<Touched> {
    match input {
        Input::Path(field, op) => {
            let paths = texts(fields, field).into_iter().filter_map(|text| path(&place.cwd, text));
            paths.map(|path| Touched { path, op }).collect()
        }
        Input::Pattern(field, dir) => {
            let dir = texts(fields, dir).first().and_then(|dir| path(&place.cwd, dir));
            let dir = dir.unwrap_or_else(|| place.cwd.clone());
            let before = texts(fields, field).into_iter().filter_map(|pattern| {
                let end = pattern.find(['*', '?', '[', '{', '!']).unwrap_or(pattern.len());
                // A pattern without a wildcard is a path.
                let end = if end == pattern.len() { end } else { pattern[..end].rfind('/')? };
                path(&dir, &pattern[..end])
            });
            before.map(|path| Touched { path, op: Op::Search }).collect()
        }
        Input::Shell(field, dir) => {
            let cwd = texts(fields, dir).first().and_then(|dir| path(&place.cwd, dir));
            let place =
                CommandDirs { cwd: cwd.unwrap_or_else(|| place.cwd.clone()), ..place.clone() };
            match texts(fields, field).as_slice() {
                // `["bash", "-lc", "…"]`: a list of words is no text to be parsed again.
                [shell, flag, text] if flag.starts_with('-') && shell.ends_with("sh") => {
                    files(text, &place)
                }
                words => files(&words.join(" "), &place),
            }
        }
        Input::Patch(field) => {
            texts(fields, field).iter().flat_map(|patch| patched(patch, &place.cwd)).collect()
        }
    }
}

fn path(cwd: &Path, text: &str) -> Option<PathBuf> {
    let text = text.strip_prefix("file://").unwrap_or(text);
    let is_path = !text.contains(['\n', '\0']) && !text.contains("://") && text.len() < 4096;
    absolute(cwd, text).filter(|_| is_path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::agents::agent;
    use super::*;

    #[track_caller]
    fn check(name: &str, payload: &Value, expected: &[&str]) {
        let payload: Payload = serde_json::from_value(payload.clone()).expect("fits");
        let place = CommandDirs { cwd: "/w".into(), top: "/w".into(), home: None };
        let files = payload.files(agent(name).expect("known"), &place);
        let shown: Vec<String> =
            files.iter().map(|it| format!("{:?} {}", it.op, it.path.display())).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn tools_that_are_not_known_are_read_by_their_inputs() {
        let mcp = |tool: &str, input: Value| json!({"tool_name": tool, "tool_input": input});
        let read = mcp("mcp__fs__read_text_file", json!({"path": "a.txt", "head": 3}));
        check("claude-code", &read, &["Read /w/a.txt"]);
        let edit = mcp("mcp_fs_edit_file", json!({"file": "file:///x/b.txt", "edits": [{}]}));
        check("gemini-cli", &edit, &["Write /x/b.txt"]);
        let many = mcp("mcp__fs__read_multiple_files", json!({"paths": ["a", "b", 3]}));
        check("codex", &many, &["Read /w/a", "Read /w/b"]);
        let shell = mcp("mcp__box__run_shell", json!({"command": "cat a.txt", "cwd": "sub"}));
        check("opencode", &shell, &["Read /w/sub/a.txt"]);
        let fetch = mcp("WebFetch", json!({"url": "https://example.org/a", "path": "http://x/y"}));
        check("claude-code", &fetch, &[]);
    }

    #[test]
    fn patterns_count_as_the_directory_before_them() {
        let glob = |input: Value| json!({"tool_name": "Glob", "tool_input": input});
        check("claude-code", &glob(json!({"pattern": "src/**/*.rs"})), &["Search /w/src"]);
        check("claude-code", &glob(json!({"pattern": "*.rs", "path": "/x"})), &["Search /x"]);
        check(
            "claude-code",
            &glob(json!({"pattern": "a/b*", "path": "x"})),
            &["Search /w/x", "Search /w/x/a"],
        );
        check("claude-code", &glob(json!({"pattern": "*"})), &[]);
    }

    #[test]
    fn a_list_of_words_is_a_command_too() {
        let words = json!({"tool_name": "Bash", "tool_input":
            {"command": ["bash", "-lc", "cd a && cat b"]}});
        check("codex", &words, &["Search /w/a", "Read /w/a/b"]);
        let words = json!({"tool_name": "Bash", "tool_input": {"command": ["cat", "b"]}});
        check("codex", &words, &["Read /w/b"]);
    }

    #[test]
    fn events_mean_what_they_say() {
        let event = |name: &str, payload: Value| {
            let payload: Payload = serde_json::from_value(payload).expect("fits");
            payload.event(agent(name).expect("known"))
        };
        let start = |source: &str| json!({"hook_event_name": "SessionStart", "source": source});
        assert_eq!(event("claude-code", start("startup")), Some(Event::Start));
        assert_eq!(event("claude-code", start("compact")), Some(Event::Compacted));
        let compress =
            |trigger: &str| json!({"hook_event_name": "PreCompress", "trigger": trigger});
        assert_eq!(event("gemini-cli", compress("auto")), None);
        assert_eq!(event("gemini-cli", compress("manual")), Some(Event::Compacted));
        let gone = json!({"hook_event_name": "session.deleted", "agent_id": "a"});
        assert_eq!(event("opencode", gone), Some(Event::AgentEnd));
        assert_eq!(event("codex", json!({"hook_event_name": "Stop"})), None);
    }
}
