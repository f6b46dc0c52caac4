//! Generates the protocol reference from the method table, the documentation of the wire types, and
//! the real program's answer to an example of each call on a small worktree.
//!
//! Values that differ between runs (clocks, ids, sizes) are replaced by fixed ones.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};
use skills_agents::profile::template::PromptTemplate;
use skills_agents::profile::{self, Keyword, OutputFormat};
use skills_protocol::PROTOCOL_VERSION;
use skills_protocol::method::{CancelRequest, EventsEvent, METHODS, Method, Notification as _};
use skills_render::prompt_listing::ListingFormat;
use skills_testkit::fixture::lay_out;
use skills_testkit::{Daemon, Framing, Home, Wire};

use crate::frontmatter::stale;
use crate::tree::{none, rust_sources};

const PAGE: &str = "docs/protocol.md";

const WORKTREE: &str = "//- /.agents/skills/commit/SKILL.md
---
name: commit
description: Writes a commit message. Use it before each commit.
---
Look at the staged changes first.
//- /.agents/skills/commit/references/style.md
One line, then why.
//- /.claude/skills/changelog/SKILL.md
---
name: changelog
---
//- /packages/web/.claude/skills/component/SKILL.md
---
description: Builds a component.
paths: src/**/*.tsx, packages/*/src/**/*.tsx
---
";

const SCRIPT: &str = "//- /.config/skillsd/config.toml
[run]
scripts = true
//- /.agents/skills/tidy/SKILL.md
---
name: tidy
description: Tidies up.
---
//- /.agents/skills/tidy/count mode=0755
#!/bin/sh
echo \"counted to $1\"
";

/// Returns the parameters of a method's example; a null `cwd` is replaced by the worktree.
fn example(method: &str) -> Option<Value> {
    Some(match method {
        "initialize" => json!({
            "clientInfo": {"name": "example", "version": "1.0"},
            "protocolVersion": PROTOCOL_VERSION,
        }),
        "server/status" | "server/shutdown" | "worktree/list" | "session/list"
        | "permission/pending" => json!({}),
        "server/sync" | "worktree/open" | "worktree/close" | "skills/list" | "skills/dirs"
        | "skills/usage" | "profiles/detect" => {
            json!({"cwd": null})
        }
        "skills/load" => json!({"name": "commit", "args": "now", "cwd": null}),
        "skills/run" => json!({"name": "tidy", "relative": "count", "args": ["1"], "cwd": null}),
        "catalog/render" => json!({"format": "claude", "contextTokens": 200_000, "cwd": null}),
        "catalog/budget" => json!({"profile": "claude-code", "cwd": null}),
        "catalog/tool" => json!({"style": "claude", "cwd": null}),
        "skills/get" | "skills/resources" | "skills/references" => {
            json!({"name": "commit", "cwd": null})
        }
        "skills/search" => json!({"query": "message for my staged changes", "cwd": null}),
        "skills/explain" => json!({"name": "changelog", "cwd": null}),
        "events/subscribe" => json!({"kinds": ["skills/changed"], "cwd": null}),
        "events/unsubscribe" => json!({"subscription": "1"}),
        "skills/check" => json!({"paths": [], "cwd": null}),
        "rules/describe" => json!({"rules": ["yaml/unquoted-colon"]}),
        "index/snapshot" => json!({"profiles": ["agentskills"], "cwd": null}),
        "paths/match" => json!({"patterns": ["*.md"], "limit": 2, "cwd": null}),
        "skills/read" => json!({"name": "commit", "relative": "references/style.md", "cwd": null}),
        "permission/check" | "permission/request" => {
            json!({"permission": "skill", "patterns": ["commit"], "cwd": null})
        }
        "permission/reply" => json!({"id": "", "reply": "once"}),
        "permission/granted" | "trust/get" => json!({"cwd": null}),
        "permission/revoke" => {
            json!({"permission": "skill", "pattern": "commit", "cwd": null})
        }
        "hooks/match" => {
            json!({"session": "5f0c", "event": "PreToolUse", "tool": "Bash"})
        }
        "hooks/done" => json!({"id": "h-1", "ok": true}),
        "trust/set" => json!({"dir": "", "trusted": true}),
        "session/open" => {
            json!({"session": "5f0c", "cwd": null, "profile": "claude-code"})
        }
        "session/touch" => {
            json!({"session": "5f0c", "paths": [], "op": "read"})
        }
        "session/compacted" | "session/agentEnd" => json!({"session": "5f0c", "agent": "reviewer"}),
        "session/get" | "session/close" | "session/invoked" | "session/news" => {
            json!({"session": "5f0c"})
        }
        _ => return None,
    })
}

/// A wire struct or enum, parsed from its source.
#[derive(Debug, PartialEq)]
struct Type {
    name: String,
    doc: String,
    members: Vec<Member>,
    /// True if it includes the parameters of every call about skills.
    has_place: bool,
}

/// A field of a struct, or a value of an enum.
#[derive(Debug, PartialEq)]
struct Member {
    name: String,
    /// The type in Rust; empty for an enum value.
    ty: String,
    doc: String,
    /// The end of the type's JSON form: what the field may be in its place.
    absence: &'static str,
}

impl Member {
    fn new(name: String, ty: &str, doc: String) -> Self {
        Self { name, ty: ty.to_owned(), doc, absence: "" }
    }

    /// Returns the JSON form of the field's type in parentheses, after a space; empty for an enum
    /// value.
    fn json_form(&self, named: &mut BTreeSet<String>) -> String {
        if self.ty.is_empty() {
            return String::new();
        }
        let form = json_type(&self.ty, named);
        // An optional type says so itself.
        let absence = if self.ty.starts_with("Option<") { "" } else { self.absence };
        format!(" ({form}{absence})")
    }
}

/// Parses the types of a source file. Purely lexical, and relies on rustfmt's layout.
fn types(source: &str) -> Vec<Type> {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut types = Vec::new();
    let mut open: Option<Type> = None;
    let (mut doc, mut in_attribute, mut has_place) = (String::new(), false, false);
    let (mut renamed, mut absence) = (None, "");
    for line in source.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("#[serde(rename = \"") {
            renamed = name.strip_suffix("\")]").map(str::to_owned);
        }
        if in_attribute || line.starts_with("#[") {
            if line.contains("null_is_default") {
                absence = ", or null or absent";
            } else if line.contains("skip_serializing_if") && absence.is_empty() {
                absence = ", or absent";
            }
            in_attribute = !line.ends_with(']');
            continue;
        }
        if let Some(text) = line.strip_prefix("///") {
            let _ = write!(doc, "{}{}", if doc.is_empty() { "" } else { " " }, text.trim());
            continue;
        }
        let docs = std::mem::take(&mut doc);
        if let Some((name, _)) = line.strip_prefix("pub type ").and_then(|it| it.split_once(" = "))
        {
            let name = name.to_owned();
            types.push(Type { name, doc: docs, members: Vec::new(), has_place: false });
            continue;
        }
        match &mut open {
            Some(found) if line.starts_with('}') => {
                found.members.retain(|it| !it.name.is_empty());
                types.extend(open.take());
            }
            Some(found) => {
                let (renamed, absence) = (renamed.take(), std::mem::take(&mut absence));
                found.members.extend(member(line, docs).map(|it| Member {
                    name: renamed.unwrap_or(it.name),
                    absence,
                    ..it
                }));
            }
            None => {
                has_place = line.starts_with("skills_params!") || (has_place && line != "}");
                let head = line.trim_start_matches("pub struct ").trim_start_matches("pub enum ");
                let Some((name, rest)) = head.split_once(" {") else { continue };
                let name = name.split('<').next().unwrap_or_default();
                let is_name = name.starts_with(char::is_uppercase) && name != "Self";
                if is_name && name.chars().all(char::is_alphanumeric) && !docs.is_empty() {
                    let name = name.to_owned();
                    let found = Type { name, doc: docs, members: Vec::new(), has_place };
                    if rest.starts_with('}') {
                        types.push(found);
                    } else {
                        open = Some(found);
                    }
                }
            }
        }
    }
    types
}

fn member(line: &str, doc: String) -> Option<Member> {
    let line = line.trim_start_matches("pub ").trim_end_matches(',');
    if let Some((_, word)) = line.split_once(" = ") {
        return Some(Member::new(word.trim_matches('"').to_owned(), "", doc));
    }
    match line.split_once(": ") {
        Some((name, ty)) => Some(Member::new(camel(name), ty, doc)),
        None if line.starts_with(char::is_uppercase) => {
            let (first, rest) = line.split_at(1);
            Some(Member::new(first.to_lowercase() + rest, "", doc))
        }
        None => None,
    }
}

fn camel(name: &str) -> String {
    let mut words = name.trim_start_matches("r#").split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (head, rest) = word.split_at(word.len().min(1));
        name + &head.to_uppercase() + rest
    })
}

/// Returns the JSON form of a type, and adds the wire types that it refers to.
fn json_type(ty: &str, named: &mut BTreeSet<String>) -> String {
    let inside = |name: &str| ty.strip_prefix(name)?.strip_prefix('<')?.strip_suffix('>');
    if let Some(inner) = inside("Option") {
        return format!("{}, or null or absent", json_type(inner, named));
    }
    if let Some(inner) = inside("Vec") {
        return format!("list of {}", json_type(inner, named));
    }
    if let Some(inner) = inside("Box") {
        return json_type(inner, named);
    }
    if let Some(inner) = inside("BTreeMap") {
        let value = inner.split_once(", ").map_or("", |(_, value)| value);
        return format!("object of {}", json_type(value, named));
    }
    match ty {
        "String" | "RequestId" => "text".to_owned(),
        "bool" => "true or false".to_owned(),
        "u16" | "u32" | "u64" | "i32" | "i64" | "f32" | "f64" => "number".to_owned(),
        "Value" => "any value".to_owned(),
        // List elements are type parameters, so that they can be passed on as text.
        "S" | "E" | "T" => json_type("Entry", named),
        "F" => json_type("CheckedFile", named),
        "R" => json_type("SkillReference", named),
        "SkillCounts" => format!("object with a number for each {}", json_type("State", named)),
        _ if ty.starts_with("Map<") => "object".to_owned(),
        _ => {
            let name = ty.rsplit("::").next().unwrap_or(ty);
            let name = name.split('<').next().unwrap_or(name);
            named.insert(name.to_owned());
            format!("[{name}](#{})", name.to_lowercase())
        }
    }
}

fn push_members(found: &Type, named: &mut BTreeSet<String>, text: &mut String) {
    for member in &found.members {
        let (name, form) = (&member.name, member.json_form(named));
        let _ = writeln!(text, "- `{name}`{form}: {}", member.doc);
    }
}

/// Replaces values that differ between runs.
fn normalize(value: &mut Value, home: &Home) {
    match value {
        Value::String(text) => {
            *text = home.redact(text).replace("$WORK/w", "/home/ann/shop");
            *text = text.replace("$RUN", "/run/user/1000").replace("$HOME", "/home/ann");
        }
        Value::Array(items) => items.iter_mut().for_each(|it| normalize(it, home)),
        Value::Object(members) => {
            for (name, value) in members.iter_mut() {
                match name.as_str() {
                    "clock" if value.is_string() => *value = json!("18c0-1:1:7:2"),
                    "bootId" => *value = json!("18c0-1"),
                    "id" if value.as_str().is_some_and(|it| it.contains('-')) => {
                        *value = json!("18c0-1");
                    }
                    // A path contains a slash; without one the value is a device and inode.
                    "file" if value.as_str().is_some_and(|it| !it.contains('/')) => {
                        *value = json!("fe00:a281fe");
                    }
                    "pid" => *value = json!(4711),
                    "uptime" => *value = json!(3600),
                    // The listing's use of its limit is no time.
                    "budget" => {}
                    "created" | "used" | "at" | "expires" if value.is_u64() => {
                        *value = json!(1_795_268_700_000_u64);
                    }
                    "rss" => *value = json!(20_000_000),
                    "version" => *value = json!("0.1.0"),
                    "watches" => *value = json!({"used": 12, "limit": 65_536}),
                    // The previous connection may still be closing; as a limit the number is
                    // larger.
                    "connections" if value.as_u64().is_some_and(|it| it < 4) => *value = json!(1),
                    "rebuilds" => {
                        let layer = |count| json!({"count": count, "causes": {}});
                        let views = json!({"count": 1, "causes": {"opened": 1}});
                        *value = json!({"files": layer(2), "roots": layer(9), "views": views});
                    }
                    _ => normalize(value, home),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn push_example(method: &Method, wire: &mut Wire, home: &Home, text: &mut String) {
    let name = method.name;
    let mut params =
        example(name).unwrap_or_else(|| panic!("`{name}` has no example in `{}`", file!()));
    if params.get("cwd").is_some() {
        params["cwd"] = json!(home.work().join("w"));
    }
    if name == "session/touch" {
        params["paths"] = json!([home.work().join("w/packages/web/src/price.tsx")]);
    }
    if (name.starts_with("session/") && name != "session/open") || name == "hooks/match" {
        // The previous example may have closed the session.
        let mut open = example("session/open").expect("it is above");
        open["cwd"] = json!(home.work().join("w"));
        wire.call("session/open", &open);
    }
    if name == "trust/set" {
        params["dir"] = json!(home.work().join("w"));
    }
    if matches!(name, "permission/reply" | "permission/pending") {
        params = create_approval(name, wire, home, params);
    }
    if name == "worktree/list" {
        // The previous example has closed the only worktree.
        wire.call("worktree/open", &json!({"cwd": home.work().join("w")}));
    }
    if name == "skills/run" {
        // Scripts run only if enabled by the user, here for a user skill.
        lay_out(home.path(), SCRIPT);
        wire.call("server/sync", &json!({}));
    }
    let mut result =
        if method.grants { wire.grant(name, &params) } else { wire.call(name, &params) };
    let rules = home.work().join("w/.skillsd.toml");
    if rules.exists() {
        std::fs::remove_file(rules).expect("it can be removed");
    }
    normalize(&mut params, home);
    normalize(&mut result, home);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": name, "params": params});
    let result = serde_json::to_string_pretty(&result).expect("JSON can be written");
    let _ = write!(text, "\n```json\n{call}\n```\n\nResult:\n\n```json\n{result}\n```\n");
}

/// The words of formats that are not data of an agent's file: of a load, of a listing, or of both.
const FORMATS: &[(&str, &str, &str)] = &[
    ("xml", "", "The open standard's format: indented tags with escaped values."),
    ("markdown", "", "A Markdown list."),
    ("skills-ref", "", "The format of the open standard's reference tool."),
    ("json", "", "A JSON array of names, descriptions and locations."),
    (
        "opencode",
        "As opencode's skill tool returns it; for the user, as its slash commands do.",
        "opencode's section of the system prompt.",
    ),
    (
        "opencode@founding",
        "As `opencode`, with `file://` URLs, as the founding documents describe it.",
        "As `opencode`, with `file://` URLs, as the founding documents describe it.",
    ),
    (
        "claude",
        "As Claude Code loads it: arguments and variables substituted, commands found.",
        "Claude Code's format: one line per skill, limited to 1 % of the context.",
    ),
    (
        "claude@founding",
        "As `claude`, with `${ARG1}`-style arguments, as the founding documents describe it.",
        "As `claude`, between `<system-reminder>` tags, as the founding documents describe it.",
    ),
    ("agentskills", "As the open standard's client guide describes it.", "As `xml`."),
    (
        "codex",
        "As Codex loads an explicitly named skill: the complete file.",
        "Codex's format: a table of roots and short paths, limited to 2 % of the context.",
    ),
    (
        "gemini",
        "As Gemini CLI activates it, with a listing of the directory tree.",
        "Gemini CLI's section of the system prompt.",
    ),
    (
        "plugin",
        "As the plugin opencode-agent-skills returns it.",
        "The format of the plugin opencode-agent-skills.",
    ),
    ("raw", "The body of the file, unchanged.", ""),
];

/// Returns the words of a load's format, with their meanings.
fn load_formats() -> Vec<Member> {
    let words = OutputFormat::keywords().into_iter().map(|word| {
        let doc = match template(word) {
            None => described(word).1.to_owned(),
            Some((agent, PromptTemplate { load: None, .. })) => {
                format!("As `agentskills`: {agent}'s model reads the file.")
            }
            Some((agent, _)) => format!("As {agent} loads it."),
        };
        (word, doc)
    });
    with_profiles(words.collect())
}

/// Returns the words of a listing's format, with their meanings.
fn listing_formats() -> Vec<Member> {
    let words = ListingFormat::words().into_iter().map(|word| {
        let doc = match template(word) {
            None => described(word).2.to_owned(),
            Some((agent, it)) => match &it.listing.limit {
                None => format!("{agent}'s format."),
                Some(limit) => {
                    format!("{agent}'s format, limited to {} characters.", limit.characters)
                }
            },
        };
        (word, doc)
    });
    with_profiles(words.collect())
}

/// Returns the agent whose file has the format of this word.
fn template(word: &str) -> Option<(&'static str, &'static PromptTemplate)> {
    profile::agents().find_map(|it| match it.output {
        OutputFormat::Template(template) if template.id == word => Some((&*it.agent, template)),
        _ => None,
    })
}

fn described(word: &str) -> &'static (&'static str, &'static str, &'static str) {
    let found = FORMATS.iter().find(|it| it.0 == word);
    found.unwrap_or_else(|| panic!("the format `{word}` has no description in `{}`", file!()))
}

/// Adds the names of profiles that have another profile's format.
fn with_profiles(mut words: Vec<(&'static str, String)>) -> Vec<Member> {
    for profile in profile::builtin() {
        if !words.iter().any(|it| it.0 == &*profile.id) {
            words.push((&profile.id, format!("As `{}`.", profile.output.keyword())));
        }
    }
    words.into_iter().map(|(word, doc)| Member::new(word.to_owned(), "", doc)).collect()
}

/// Creates a pending approval for the example, and returns the parameters.
fn create_approval(name: &str, wire: &mut Wire, home: &Home, mut params: Value) -> Value {
    let top = home.work().join("w");
    std::fs::write(top.join(".skillsd.toml"), "[permission.skill]\ncommit = \"ask\"\n")
        .expect("it can be written");
    let load = json!({"cwd": top, "name": "commit"});
    // The previous example's reply covers one call.
    let error = (0..2).find_map(|_| wire.try_call("skills/load", &load).err());
    let error = error.expect("the user is asked");
    if name == "permission/reply" {
        params["id"] = error.data["requestId"].clone();
    }
    params
}

fn page() -> String {
    let home = Home::new();
    home.worktree("w", WORKTREE);
    // As if an editor had been served.
    let rules = format!("//- /skillsd/rules-{}.md\n# Rules\n", env!("CARGO_PKG_VERSION"));
    lay_out(&home.cache_dir(), &rules);
    let start = || Daemon::start(&home, env!("CARGO_BIN_EXE_test-skillsd"));
    let mut daemon = start();
    let wire_sources = rust_sources().into_iter().filter(|source| {
        let path = source.path.strip_prefix("daemon/protocol/src/").unwrap_or_default();
        path.starts_with("wire/") || matches!(path, "limits.rs" | "path.rs" | "error.rs")
    });
    let mut types: Vec<Type> = wire_sources.flat_map(|source| types(&source.text)).collect();
    for (name, words) in [("LoadFormat", load_formats()), ("CatalogFormat", listing_formats())] {
        let format = types.iter_mut().find(|it| it.name == name).expect("it is in `wire/`");
        format.members = words;
    }
    let find = |name: &str| types.iter().find(|it| it.name == name);
    let mut named = BTreeSet::new();
    let mut text = HEAD.replace("{version}", PROTOCOL_VERSION);
    text.push_str("\n## Parameters of every call about skills\n\n");
    push_members(find("Context").expect("it is there"), &mut named, &mut text);
    text.push_str("\n## Methods\n");
    for method in METHODS {
        let _ = write!(text, "\n### `{}`\n\n{}\n", method.name, method.doc);
        let params = find(method.params).expect("its source is in `wire/`");
        if params.has_place || !params.members.is_empty() {
            text.push_str("\nParameters:\n\n");
            push_members(params, &mut named, &mut text);
            if params.has_place {
                text.push_str("- those of every call about skills\n");
            }
        }
        text.push_str("\nResult:\n\n");
        push_members(find(method.result).expect("as above"), &mut named, &mut text);
        push_example(method, &mut daemon.connect(Framing::Lines), &home, &mut text);
        if method.name == "server/shutdown" {
            assert_eq!(daemon.wait(), Some(0));
            daemon = start();
        }
    }
    text.push_str("\n## Notifications\n");
    for (name, params, doc) in NOTIFICATIONS {
        let _ = write!(text, "\n### `{name}`\n\n{doc}\n\n");
        push_members(find(params).expect("as above"), &mut named, &mut text);
    }
    text.push_str("\n## Errors\n\n");
    push_members(find("RpcError").expect("it is there"), &mut named, &mut text);
    text.push_str("\nThe codes:\n\n");
    let sources = rust_sources();
    let errors = sources.iter().find(|it| it.path == "daemon/protocol/src/error.rs");
    push_codes(&errors.expect("it has the codes").text, &mut text);
    text.push_str("\n## Types\n");
    let mut done = BTreeSet::new();
    while let Some(name) = named.difference(&done).next().cloned() {
        let found = find(&name).unwrap_or_else(|| panic!("`{name}` is in no file of the wire"));
        let _ = write!(text, "\n### {name}\n\n{}\n\n", found.doc);
        push_members(found, &mut named, &mut text);
        done.insert(name);
    }
    text
}

/// The notifications: each with its parameters and documentation.
const NOTIFICATIONS: [(&str, &str, &str); 2] = [
    (
        CancelRequest::METHOD,
        "CancelParams",
        "Cancels a running request of the same connection. The request is answered with -32800, unless it has finished. An unknown id is ignored.",
    ),
    (
        EventsEvent::METHOD,
        "EventParams",
        "Sent by the daemon for an event of a subscription. At most one event per subscription and kind is waiting to be sent; a newer one replaces it, so that a client that does not read costs nothing. Request the content, for example with `skills/list` and `since`.",
    ),
];

fn push_codes(source: &str, text: &mut String) {
    let mut doc = String::new();
    for line in source.lines() {
        if let Some(more) = line.strip_prefix("/// ") {
            doc = format!("{doc}{}{more}", if doc.is_empty() { "" } else { " " });
            continue;
        }
        let doc = std::mem::take(&mut doc);
        let code = line.strip_prefix("pub const ").and_then(|it| it.split_once(": i32 = "));
        if let Some((_, code)) = code {
            let _ = writeln!(text, "- {}: {doc}", code.trim_end_matches(';'));
        }
    }
}

const HEAD: &str = "# Protocol

<!-- Generated from the method table, the wire types and a running daemon; a test rewrites it. -->

Version {version}.
JSON-RPC 2.0 over a Unix socket: `$SKILLSD_SOCKET`, else `$XDG_RUNTIME_DIR/skillsd/v1.sock`, else `/run/user/<uid>/skillsd/v1.sock`, else `/tmp/skillsd-<uid>/v1.sock`.
Messages are framed as in the Language Server Protocol (`Content-Length: N`, an empty line, N bytes).
A connection that starts with `{` uses one message per line in both directions; blanks and a byte order mark before it are skipped.
Any method may be called first.
Methods that grant something on the user's behalf (`trust/set`, `permission/reply`) need a second socket next to the first, `v1-consent.sock`.
Its name is the first socket's name with `-consent.sock` instead of `.sock`.
It accepts all methods; on the first socket the granting methods fail with -32003.
Give a sandboxed agent only the first socket.
Names may be added but never change their meaning; ignore unknown fields of results.
A parameter that no method has is refused with -32602 by every method, also inside objects.
A daemon of an older version therefore refuses a parameter that a newer version has added: compare the `protocolVersion` that `initialize` returns, and leave such a parameter out.
A method ignores the parameters of other methods, and those that libraries for LSP and MCP add (`_meta`, `processId`, `rootUri`, `trace`, `workDoneToken` and the like).
An invalid parameter is named in the message and in `data.path`, for example `params.cwd: expected a string, got 5`.
Ids, names and queries are limited as `initialize` says, and messages repeat at most 64 characters of them.
The examples are a daemon's answers for a small worktree; clocks, ids and sizes are placeholders.
";

#[test]
fn protocol_reference_is_up_to_date() {
    let write = std::env::var_os("CI").is_none();
    none(&stale(PAGE, &page(), write).into_iter().collect::<Vec<_>>());
}

#[test]
fn wire_types_are_parsed_from_source() {
    let source = "skills_params! {\n    /// What.\n    AParams {\n        /// One\n        /// thing.\n        #[serde(\n            default,\n            skip_serializing_if = \"Option::is_none\"\n        )]\n        one_thing: Option<u32>,\n    }\n}\n\n/// B.\npub struct B {\n    /// C.\n    #[serde(skip_serializing_if = \"Vec::is_empty\")]\n    pub c: Vec<D>,\n    /// F.\n    pub f: Vec<D>,\n    /// G.\n    #[serde(default, deserialize_with = \"null_is_default\")]\n    #[serde(skip_serializing_if = \"Vec::is_empty\")]\n    pub g: Vec<D>,\n}\nimpl B {\n    fn f() {}\n}\nword_enum! {\n    /// D.\n    D {\n        /// E.\n        Eee = \"eee\",\n    }\n}\n";
    let types = types(source);
    let names: Vec<_> = types.iter().map(|it| (it.name.as_str(), it.has_place)).collect();
    assert_eq!(names, [("AParams", true), ("B", false), ("D", false)]);
    let Member { name, ty, doc, .. } = &types[0].members[0];
    assert_eq!(
        (name.as_str(), ty.as_str(), doc.as_str()),
        ("oneThing", "Option<u32>", "One thing.")
    );
    assert_eq!(types[2].members[0].name, "eee");
    let mut named = BTreeSet::new();
    let mut form = |at: usize, nth: usize| types[at].members[nth].json_form(&mut named);
    assert_eq!(form(0, 0), " (number, or null or absent)");
    assert_eq!(form(1, 0), " (list of [D](#d), or absent)");
    assert_eq!(form(1, 1), " (list of [D](#d))");
    assert_eq!(form(1, 2), " (list of [D](#d), or null or absent)");
    assert_eq!(json_type("Option<Vec<D>>", &mut named), "list of [D](#d), or null or absent");
    assert_eq!(named.len(), 1);
}
