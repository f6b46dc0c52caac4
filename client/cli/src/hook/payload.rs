//! Hook input ([`Payload`]): the event, the session and the touched files.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use skills_protocol::bounds;

use super::agents::{HookAgent, HookEventKind, Input};
use super::shell::{CommandDirs, MAX_FILES, absolute, files, patched};

/// Input of a hook. Agents send different fields, so each field is optional and checked when it is
/// used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload {
    session_id: Option<String>,
    /// Id of the session or subagent that started this subagent. With Copilot CLI, a subagent has a
    /// session id of its own.
    parent_agent_id: Option<String>,
    pub(super) hook_event_name: String,
    pub(super) cwd: Option<PathBuf>,
    /// Id of the subagent; absent for the main agent.
    pub(super) agent_id: Option<String>,
    tool_name: String,
    tool_input: Value,
    /// Present after the tool has run.
    tool_response: Value,
    source: Value,
    trigger: Value,
    // Members of Cline's payload, which has the tool in an object. Other agents use some of these
    // names for values of other types.
    #[serde(rename = "hookName")]
    hook_name: Value,
    #[serde(rename = "sessionContext")]
    session_context: Value,
    #[serde(rename = "workspaceRoots")]
    workspace_roots: Value,
    tool_result: Value,
}

/// Input fields that contain paths, for unknown tools.
const PATHS: &[&str] = &[
    "file_path", "filePath", "path", "paths", "file", "files", "filename", "absolute_path",
    "relative_path", "notebook_path", "dir_path", "directory", "uri", "source", "destination",
];

/// Words in the names of tools that run shell commands.
const SHELLS: &[&str] = &["bash", "shell", "terminal", "exec", "run_command", "run_cmd"];

impl Payload {
    /// Moves the members of a payload with the tool in an object to those of the other agents.
    pub(super) fn flattened(mut self, agent: &HookAgent) -> Self {
        let text = |it: &Value| it.as_str().map(str::to_owned);
        let Some(name) = text(&self.hook_name).filter(|_| agent.has_tool_object) else {
            return self;
        };
        self.hook_event_name = name;
        self.session_id = text(&self.session_context["rootSessionId"]);
        // The main agent has an id too, but no parent.
        self.agent_id = self.agent_id.filter(|_| self.parent_agent_id.is_some());
        self.parent_agent_id = None;
        self.cwd = text(&self.workspace_roots[0]).map(Into::into);
        self.tool_name = text(&self.tool_result["name"]).unwrap_or_default();
        self.tool_input = self.tool_result.get_mut("input").map(Value::take).unwrap_or_default();
        self
    }

    /// Returns the id of the session.
    pub(super) fn session(&self) -> Option<&str> {
        let id = self.parent_agent_id.as_deref().or(self.session_id.as_deref());
        id.filter(|it| !it.is_empty())
    }

    /// Returns the event; `None` for an event without meaning for us.
    pub(super) fn event(&self, agent: &HookAgent) -> Option<HookEventKind> {
        let events = agent.events.iter();
        let (_, event) = events.into_iter().find(|(name, _)| *name == self.hook_event_name)?;
        match event {
            HookEventKind::Start if self.source == "compact" => Some(HookEventKind::Compacted),
            HookEventKind::CompactedManually if self.trigger != "manual" => None,
            HookEventKind::CompactedManually => Some(HookEventKind::Compacted),
            HookEventKind::End if self.agent_id.is_some() => Some(HookEventKind::AgentEnd),
            event => Some(*event),
        }
    }

    /// Returns the files that the tool uses.
    pub(super) fn files(&self, agent: &HookAgent, dirs: &CommandDirs) -> Vec<PathBuf> {
        let Value::Object(fields) = &self.tool_input else {
            // A tool with a plain text input takes a patch.
            return self.tool_input.as_str().map_or_else(Vec::new, |it| patched(it, &dirs.cwd));
        };
        let known = agent.tools.iter().find(|(name, _)| *name == self.tool_name);
        let found = match known {
            Some((_, inputs)) => {
                let found = inputs.iter().flat_map(|it| read(*it, fields, dirs));
                found.chain(self.found_files(fields, dirs)).collect()
            }
            None => self.guess_files(fields, dirs),
        };
        let mut files: Vec<PathBuf> = Vec::new();
        for path in found {
            // The daemon refuses a whole call for one path out of bounds.
            if !files.contains(&path) && bounds::allows_path(&path) {
                files.push(path);
            }
        }
        files
    }

    /// Returns the files in the result of a search: Claude Code's Glob and Grep.
    fn found_files(&self, fields: &Map<String, Value>, dirs: &CommandDirs) -> Vec<PathBuf> {
        let is_search = matches!(&*self.tool_name, "Glob" | "Grep");
        let Some(result) = self.tool_response.as_object().filter(|_| is_search) else {
            return Vec::new();
        };
        // The lines of a search in one file are bare text, without the file's name.
        let searched = texts(fields, "path").first().and_then(|it| path(&dirs.cwd, it));
        let is_one_file = searched.is_some_and(|it| it.is_file());
        let content = if is_one_file { Vec::new() } else { texts(result, "content") };
        let lines = content.into_iter().flat_map(str::lines);
        let names = texts(result, "filenames").into_iter();
        let names = names.chain(lines.filter_map(file_of_line));
        names.filter_map(|it| path(&dirs.cwd, it)).take(MAX_FILES).collect()
    }

    fn guess_files(&self, fields: &Map<String, Value>, dirs: &CommandDirs) -> Vec<PathBuf> {
        let name = self.tool_name.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        if has(SHELLS) {
            let commands = ["command", "cmd", "script"].into_iter();
            return commands.flat_map(|it| read(Input::Shell(it, "cwd"), fields, dirs)).collect();
        }
        PATHS.iter().flat_map(|field| read(Input::Path(field), fields, dirs)).collect()
    }
}

/// Returns the file in a line `FILE:NUMBER:TEXT` of a search result.
fn file_of_line(line: &str) -> Option<&str> {
    let mut parts = line.splitn(3, ':');
    let (file, number) = (parts.next()?, parts.next()?);
    let is_number = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
    (is_number && parts.next().is_some() && !file.is_empty()).then_some(file)
}

/// Returns the strings of a field, which may be a list.
fn texts<'a>(fields: &'a Map<String, Value>, name: &str) -> Vec<&'a str> {
    match fields.get(name) {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn read(input: Input, fields: &Map<String, Value>, dirs: &CommandDirs) -> Vec<PathBuf> {
    match input {
        Input::Path(field) => {
            texts(fields, field).into_iter().filter_map(|text| path(&dirs.cwd, text)).collect()
        }
        Input::Files(field) => {
            let list = fields.get(field).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(|it| path(&dirs.cwd, it.get("path")?.as_str()?)).collect()
        }
        Input::Commands(field) => {
            texts(fields, field).into_iter().flat_map(|it| files(it, dirs)).collect()
        }
        Input::Pattern(field, dir) => {
            let dir = texts(fields, dir).first().and_then(|dir| path(&dirs.cwd, dir));
            let dir = dir.unwrap_or_else(|| dirs.cwd.clone());
            let before = |pattern: &str| {
                let end = pattern.find(['*', '?', '[', '{', '!']).unwrap_or(pattern.len());
                // A pattern without a wildcard is a path.
                let end = if end == pattern.len() { end } else { pattern[..end].rfind('/')? };
                path(&dir, &pattern[..end])
            };
            texts(fields, field).into_iter().filter_map(before).collect()
        }
        Input::Shell(field, dir) => {
            let cwd = texts(fields, dir).first().and_then(|dir| path(&dirs.cwd, dir));
            let dirs = CommandDirs { cwd: cwd.unwrap_or_else(|| dirs.cwd.clone()), ..dirs.clone() };
            match texts(fields, field).as_slice() {
                // `["bash", "-lc", "…"]`: the script is the last element. Other lists are joined to
                // one command.
                [shell, flag, text] if flag.starts_with('-') && shell.ends_with("sh") => {
                    files(text, &dirs)
                }
                words => files(&words.join(" "), &dirs),
            }
        }
        Input::Patch(field) => {
            texts(fields, field).iter().flat_map(|patch| patched(patch, &dirs.cwd)).collect()
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
        let dirs = CommandDirs { cwd: "/w".into(), top: "/w".into(), home: None };
        let files = payload.files(agent(name).expect("known"), &dirs);
        let shown: Vec<String> = files.iter().map(|it| it.display().to_string()).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn tool_of_cline_is_read_from_its_object() {
        let text = json!({"hookName": "tool_result", "taskId": "t", "agent_id": "a",
            "parent_agent_id": null, "sessionContext": {"rootSessionId": "s"},
            "workspaceRoots": ["/w"], "tool_result": {"name": "read_files",
            "input": {"files": [{"path": "a.txt", "start_line": 1}, {"path": "/x/b"}]}}});
        let payload: Payload = serde_json::from_value(text).expect("fits");
        let agent = agent("cline").expect("known");
        let payload = payload.flattened(agent);
        assert_eq!((payload.session(), &payload.agent_id), (Some("s"), &None));
        assert_eq!(payload.cwd, Some("/w".into()));
        assert_eq!(payload.event(agent), Some(HookEventKind::Tool));
        let dirs = CommandDirs { cwd: "/w".into(), top: "/w".into(), home: None };
        let files = payload.files(agent, &dirs);
        assert_eq!(files, [PathBuf::from("/w/a.txt"), "/x/b".into()]);
        let commands = json!({"tool_name": "run_commands",
            "tool_input": {"commands": ["cat c.txt", "cat d/e.txt"]}});
        check("cline", &commands, &["/w/c.txt", "/w/d/e.txt"]);
    }

    #[test]
    fn payload_of_another_agent_with_a_member_of_cline_keeps_its_session() {
        let text = json!({"session_id": "s", "hook_event_name": "PostToolUse", "cwd": "/w",
            "hookName": "tool_result", "tool_name": "Read", "tool_input": {"file_path": "a"}});
        let payload: Payload = serde_json::from_value(text).expect("fits");
        let agent = agent("claude-code").expect("known");
        let payload = payload.flattened(agent);
        assert_eq!((payload.session(), &payload.cwd), (Some("s"), &Some("/w".into())));
        assert_eq!(payload.event(agent), Some(HookEventKind::Tool));
    }

    #[test]
    fn unknown_tool_is_read_by_its_input_fields() {
        let mcp = |tool: &str, input: Value| json!({"tool_name": tool, "tool_input": input});
        let read = mcp("mcp__fs__read_text_file", json!({"path": "a.txt", "head": 3}));
        check("claude-code", &read, &["/w/a.txt"]);
        let edit = mcp("mcp_fs_edit_file", json!({"file": "file:///x/b.txt", "edits": [{}]}));
        check("gemini-cli", &edit, &["/x/b.txt"]);
        let many = mcp("mcp__fs__read_multiple_files", json!({"paths": ["a", "b", 3]}));
        check("codex", &many, &["/w/a", "/w/b"]);
        let shell = mcp("mcp__box__run_shell", json!({"command": "cat a.txt", "cwd": "sub"}));
        check("opencode", &shell, &["/w/sub/a.txt"]);
        let fetch = mcp("WebFetch", json!({"url": "https://example.org/a", "path": "http://x/y"}));
        check("claude-code", &fetch, &[]);
    }

    #[test]
    fn pattern_touches_the_directory_before_its_wildcard() {
        let glob = |input: Value| json!({"tool_name": "Glob", "tool_input": input});
        check("claude-code", &glob(json!({"pattern": "src/**/*.rs"})), &["/w/src"]);
        check("claude-code", &glob(json!({"pattern": "*.rs", "path": "/x"})), &["/x"]);
        check("claude-code", &glob(json!({"pattern": "a/b*", "path": "x"})), &["/w/x", "/w/x/a"]);
        check("claude-code", &glob(json!({"pattern": "*"})), &[]);
    }

    #[test]
    fn files_in_search_results_are_touched() {
        let after = |tool: &str, input: Value, response: Value| json!({"tool_name": tool, "tool_input": input, "tool_response": response});
        let found = json!({"filenames": ["/w/src/a.rs", "docs/b.md"], "numFiles": 2});
        let glob = after("Glob", json!({"pattern": "**/*"}), found.clone());
        check("claude-code", &glob, &["/w/src/a.rs", "/w/docs/b.md"]);
        let grep = after("Grep", json!({"pattern": "x", "path": "src"}), found.clone());
        check("claude-code", &grep, &["/w/src", "/w/src/a.rs", "/w/docs/b.md"]);
        let lines = "src/a.rs:3:let x: u8 = 1;\nsrc/a.rs:9:x\n--\n7:a line\nno match";
        let content = json!({"mode": "content", "filenames": [], "content": lines});
        check("claude-code", &after("Grep", json!({"pattern": "x"}), content), &["/w/src/a.rs"]);
        // A search in one file prints its text alone.
        let dir = tempfile::tempdir().expect("made");
        let file = dir.path().join("log.txt");
        std::fs::write(&file, "").expect("written");
        let text = json!({"mode": "content", "filenames": [], "content": "src/a.rs:3:x"});
        let grep = after("Grep", json!({"pattern": "x", "path": file}), text);
        check("claude-code", &grep, &[file.to_str().expect("text")]);
        let many: Vec<_> = (0..2 * MAX_FILES).map(|it| format!("f{it}")).collect();
        let payload = after("Glob", json!({"pattern": "*"}), json!({"filenames": many}));
        let payload: Payload = serde_json::from_value(payload).expect("fits");
        let dirs = CommandDirs { cwd: "/w".into(), top: "/w".into(), home: None };
        let files = payload.files(agent("claude-code").expect("known"), &dirs);
        assert_eq!(files.len(), MAX_FILES);
        // Other tools return text.
        let read = after("Read", json!({"file_path": "a"}), found);
        check("claude-code", &read, &["/w/a"]);
    }

    #[test]
    fn edits_of_several_places_and_of_notebooks_touch_their_file() {
        let edit =
            json!({"file_path": "/w/a.rs", "edits": [{"old_string": "b", "new_string": "c"}]});
        check("claude-code", &json!({"tool_name": "MultiEdit", "tool_input": edit}), &["/w/a.rs"]);
        let edit = json!({"notebook_path": "n.ipynb", "cell_id": "1", "new_source": "x"});
        let edit = json!({"tool_name": "NotebookEdit", "tool_input": edit});
        check("claude-code", &edit, &["/w/n.ipynb"]);
    }

    #[test]
    fn path_out_of_bounds_is_no_touched_file() {
        let (long, deep) = (format!("/{}", "x/".repeat(2500)), format!("/{}", "d/".repeat(129)));
        let found = json!({"filenames": [long, deep, "a"]});
        let payload =
            json!({"tool_name": "Glob", "tool_input": {"pattern": "*"}, "tool_response": found});
        check("claude-code", &payload, &["/w/a"]);
    }

    #[test]
    fn list_of_words_is_a_command() {
        let words = json!({"tool_name": "Bash", "tool_input":
            {"command": ["bash", "-lc", "cd a && cat b"]}});
        check("codex", &words, &["/w/a", "/w/a/b"]);
        let words = json!({"tool_name": "Bash", "tool_input": {"command": ["cat", "b"]}});
        check("codex", &words, &["/w/b"]);
    }

    #[test]
    fn events_are_mapped_per_agent() {
        let event = |name: &str, payload: Value| {
            let payload: Payload = serde_json::from_value(payload).expect("fits");
            payload.event(agent(name).expect("known"))
        };
        let start = |source: &str| json!({"hook_event_name": "SessionStart", "source": source});
        assert_eq!(event("claude-code", start("startup")), Some(HookEventKind::Start));
        assert_eq!(event("claude-code", start("compact")), Some(HookEventKind::Compacted));
        let compress =
            |trigger: &str| json!({"hook_event_name": "PreCompress", "trigger": trigger});
        assert_eq!(event("gemini-cli", compress("auto")), None);
        assert_eq!(event("gemini-cli", compress("manual")), Some(HookEventKind::Compacted));
        let gone = json!({"hook_event_name": "session.deleted", "agent_id": "a"});
        assert_eq!(event("opencode", gone), Some(HookEventKind::AgentEnd));
        assert_eq!(event("codex", json!({"hook_event_name": "Stop"})), None);
    }
}
