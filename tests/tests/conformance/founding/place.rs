//! Files and calls of one row: a home directory, a worktree, and a connection to a daemon.

use std::fs;

use serde_json::{Value, json};
use skills_testkit::{Daemon, Framing, Home, RpcError, Wire, wait_for};

const EXE: &str = env!("CARGO_BIN_EXE_test-skillsd");

/// Prompts of the MCP server.
const PROMPTS: &str = r#"[{"name": "Daily notes", "description": "Writes notes.",
    "arguments": [{"name": "topic", "required": true}]}]"#;

/// A configuration with the MCP server `my notes` and the bundled skills.
pub(super) const EVERY_SOURCE: &str = r#"
bundled.profiles = ["claude-code", "claude-code@founding"]
[mcp]
profiles = ["claude-code", "claude-code@founding"]
[mcp.servers."my notes"]
command = "$MCP"
args = ["--prompts", "$HOME/prompts.json"]
"#;

/// A daemon in a home of its own, shared by the rows that need no configuration.
pub(super) struct Service {
    daemon: Daemon,
    home: Home,
}

impl Service {
    /// Starts a daemon with this configuration, in which `$HOME` and `$MCP` stand for the home
    /// directory and the MCP server of the test kit.
    pub(super) fn start(config: &str) -> Self {
        let home = Home::new();
        fs::write(home.path().join("prompts.json"), PROMPTS).expect("a file can be written");
        let user = home.path().to_str().expect("a temporary directory has a plain name");
        let config = config.replace("$HOME", user).replace("$MCP", env!("CARGO_BIN_EXE_test-mcp"));
        let dir = home.config_dir().join("skillsd");
        fs::create_dir_all(&dir).expect("a directory can be made");
        fs::write(dir.join("config.toml"), config).expect("a file can be written");
        let daemon = Daemon::start(&home, EXE);
        Self { daemon, home }
    }
}

/// The files of one row, below its daemon's home directory `home` and its worktree `w`, and calls
/// about them.
pub(super) struct Place<'a> {
    service: &'a Service,
    /// A daemon of this row's own.
    own: Option<Service>,
    wire: Wire,
    id: String,
    pub(super) profile: &'static str,
    /// Parameters of every call.
    params: Value,
}

impl<'a> Place<'a> {
    pub(super) fn new(service: &'a Service, id: &str, profile: &'static str) -> Self {
        let wire = service.daemon.connect(Framing::Header);
        let mut place =
            Self { service, own: None, wire, id: id.to_owned(), profile, params: json!({}) };
        place.clear_home();
        place.enter();
        place
    }

    /// Gives the row a daemon of its own with this configuration.
    pub(super) fn configure(&mut self, config: &str) {
        let own = Service::start(config);
        self.wire = own.daemon.connect(Framing::Header);
        self.own = Some(own);
        self.enter();
    }

    /// Gives the row a daemon with bundled skills and the prompts of an MCP server.
    #[track_caller]
    pub(super) fn every_source(&mut self) {
        self.configure(EVERY_SOURCE);
        wait_for("the prompts of the server", || {
            self.entries().iter().any(|it| it["scope"] == "mcp").then_some(())
        });
    }

    /// Makes the worktree and passes it to every later call.
    fn enter(&mut self) {
        fs::create_dir_all(self.path("w/.git")).expect("a directory can be made");
        self.set("cwd", json!(self.path("w")));
    }

    /// Removes the files that earlier rows have laid out in the home directory.
    fn clear_home(&self) {
        for dir in ["home", "home/.config"] {
            let entries = fs::read_dir(self.path(dir)).expect("it is there").flatten();
            let is_ours = |name: &str| [".config", ".local", ".cache", "skillsd"].contains(&name);
            for entry in entries.filter(|it| !it.file_name().to_str().is_some_and(is_ours)) {
                if entry.path().is_dir() && !entry.path().is_symlink() {
                    fs::remove_dir_all(entry.path()).expect("it can be removed");
                } else {
                    fs::remove_file(entry.path()).expect("it can be removed");
                }
            }
        }
    }

    fn home(&self) -> &Home {
        &self.own.as_ref().unwrap_or(self.service).home
    }

    /// Returns a path below `home` or `w`.
    pub(super) fn path(&self, relative: &str) -> String {
        let (top, below) = relative.split_once('/').unwrap_or((relative, ""));
        let top = match top {
            "home" => self.home().path().to_owned(),
            "w" => self.home().work().join(&self.id),
            other => panic!("`{other}` is neither `home` nor `w`"),
        };
        let path = top.join(below);
        let path = path.to_str().expect("a temporary directory has a plain name");
        path.trim_end_matches('/').to_owned()
    }

    /// Replaces `$HOME` and `$W` by the directories.
    pub(super) fn expand(&self, text: &str) -> String {
        text.replace("$HOME", &self.path("home")).replace("$W", &self.path("w"))
    }

    /// Lays out files below `/home/` and `/w/`; `$HOME` and `$W` stand for the directories.
    #[track_caller]
    pub(super) fn files(&self, text: &str) {
        let place = format!("//- /{}/", self.id);
        self.home().lay_out(&self.expand(text).replace("//- /w/", &place));
    }

    /// Writes a skill into a directory, with more lines of frontmatter and a body.
    #[track_caller]
    pub(super) fn skill(&self, dir: &str, more: &str, body: &str) {
        let name = dir.rsplit('/').next().unwrap_or(dir);
        self.files(&format!(
            "//- /{dir}/SKILL.md\n---\nname: {name}\ndescription: Does {name}.\n{more}---\n{body}"
        ));
    }

    /// Writes small skills.
    #[track_caller]
    pub(super) fn skills(&self, dirs: &[&str]) {
        for dir in dirs {
            self.skill(dir, "", &format!("Body of {dir}.\n"));
        }
    }

    /// Sets a parameter of every later call.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.params[name] = value;
    }

    /// Sets an environment variable of every later call.
    pub(super) fn variable(&mut self, name: &str, value: &str) {
        let value = self.expand(value);
        if self.params.get("environment").is_none() {
            let home = self.home();
            let own = json!({"HOME": home.path(), "XDG_CONFIG_HOME": home.config_dir()});
            self.set("environment", own);
        }
        self.params["environment"][name] = json!(value);
    }

    /// Makes later calls those of a session.
    pub(super) fn session(&mut self) {
        self.set("session", json!(self.id));
        self.call("session/open", json!({}));
    }

    /// Trusts the worktree.
    pub(super) fn trust(&self) {
        self.wire.grant("trust/set", &json!({"dir": self.path("w"), "trusted": true}));
    }

    fn with_context(&self, mut params: Value) -> Value {
        for (name, value) in self.params.as_object().expect("it is an object") {
            if params.get(name).is_none() {
                params[name] = value.clone();
            }
        }
        if params.get("profile").is_none() {
            params["profile"] = json!(self.profile);
        }
        params
    }

    /// Calls a method and returns its result, with `$HOME` and `$W` for the directories.
    #[track_caller]
    pub(super) fn call(&mut self, method: &str, params: Value) -> Value {
        let params = self.with_context(params);
        let result = self.wire.call(method, &params);
        let text = result.to_string().replace(&self.path("w"), "$W");
        let text = text.replace(&self.path("home"), "$HOME");
        serde_json::from_str(&text).expect("it was JSON")
    }

    /// Calls a method that must fail.
    #[track_caller]
    pub(super) fn refusal(&mut self, method: &str, params: Value) -> RpcError {
        let params = self.with_context(params);
        match self.wire.try_call(method, &params) {
            Err(error) => error,
            Ok(result) => panic!("`{method}` with {params} succeeds: {result}"),
        }
    }

    /// Replies to the permission request `id` as the user.
    #[track_caller]
    pub(super) fn reply(&self, id: &Value, reply: &str) -> Value {
        self.wire.grant("permission/reply", &json!({"id": id, "reply": reply}))
    }

    /// Returns the entries of the list in every state, without those of skillsd itself.
    #[track_caller]
    pub(super) fn entries(&mut self) -> Vec<Value> {
        let list = self.call("skills/list", json!({"include": ["all"]}));
        list["skills"].as_array().expect("a list").clone()
    }

    /// Returns the entry with this name, the active one if there are several.
    #[track_caller]
    pub(super) fn entry(&mut self, name: &str) -> Value {
        let entries = self.entries();
        let is_found = |it: &&Value| it["name"] == name;
        let wins = entries.iter().filter(is_found).find(|it| it["state"] == "active");
        let found = wins.or_else(|| entries.iter().find(is_found));
        found.unwrap_or_else(|| panic!("no entry `{name}`: {entries:#?}")).clone()
    }

    /// Asserts the names of the default list, in order.
    #[track_caller]
    pub(super) fn lists(&mut self, names: &str) {
        let list = self.call("skills/list", json!({}));
        assert_eq!(joined(&list["skills"], "name"), names, "{list:#}");
    }

    /// Asserts the directories of the default list, in order.
    #[track_caller]
    pub(super) fn lists_dirs(&mut self, dirs: &str) {
        let list = self.call("skills/list", json!({}));
        assert_eq!(joined(&list["skills"], "dir"), dirs, "{list:#}");
    }

    /// Asserts the state of a skill.
    #[track_caller]
    pub(super) fn state(&mut self, name: &str, state: &str) {
        let entry = self.entry(name);
        assert_eq!(entry["state"], state, "{entry:#}");
    }

    /// Asserts the description of a skill.
    #[track_caller]
    pub(super) fn description(&mut self, name: &str, description: &str) {
        let entry = self.entry(name);
        assert_eq!(entry["description"], description, "{entry:#}");
    }

    /// Loads a skill as the user and returns the result.
    #[track_caller]
    pub(super) fn load(&mut self, name: &str, args: &str) -> Value {
        let args = if args.is_empty() { Value::Null } else { json!(args) };
        self.call("skills/load", json!({"name": name, "args": args, "by": "user"}))
    }

    /// Asserts the text of a loaded skill.
    #[track_caller]
    pub(super) fn loads(&mut self, name: &str, args: &str, text: &str) {
        let loaded = self.load(name, args);
        assert_eq!(loaded["output"], text, "{loaded:#}");
    }

    /// Asserts one part of a loaded skill's metadata.
    #[track_caller]
    pub(super) fn metadata(&mut self, name: &str, key: &str, value: impl Into<Value>) {
        let loaded = self.load(name, "");
        assert_eq!(loaded["metadata"][key], value.into(), "{loaded:#}");
    }

    /// Loads a skill as the model, which needs no question.
    #[track_caller]
    pub(super) fn invoke(&mut self, name: &str) -> Value {
        self.call("skills/load", json!({"name": name}))
    }

    /// Asserts the number of the agent's own error when the model loads a skill.
    #[track_caller]
    pub(super) fn fails(&mut self, name: &str, error_code: u8) {
        let error = self.refusal("skills/load", json!({"name": name}));
        assert_eq!(error.data["errorCode"], error_code, "{error}");
    }

    /// Returns the listing for the prompt.
    #[track_caller]
    pub(super) fn listing(&mut self, params: Value) -> String {
        self.call("catalog/render", params)["text"].as_str().expect("a text").to_owned()
    }

    /// Returns the tool.
    #[track_caller]
    pub(super) fn tool(&mut self) -> Value {
        self.call("catalog/tool", json!({}))["tool"].clone()
    }

    /// Reports touched files of the worktree and returns the names that this activated.
    #[track_caller]
    pub(super) fn touch(&mut self, paths: &[&str]) -> String {
        let paths: Vec<_> = paths.iter().map(|it| self.path(&format!("w/{it}"))).collect();
        joined(&self.call("session/touch", json!({"paths": paths}))["activated"], "name")
    }

    /// Returns the decision about loading a skill: `allow`, `ask` or `deny`.
    #[track_caller]
    pub(super) fn decision(&mut self, name: &str) -> String {
        let params = json!({"permission": "skill", "patterns": [name]});
        let answer = self.call("permission/check", params);
        answer["action"].as_str().expect("a decision").to_owned()
    }

    /// Writes the user's settings of Claude Code.
    #[track_caller]
    pub(super) fn settings(&self, settings: &Value) {
        self.files(&format!("//- /home/.claude/settings.json\n{settings}\n"));
    }

    /// Runs git in the worktree.
    #[track_caller]
    pub(super) fn git(&self, args: &[&str]) {
        self.home().git(self.path("w").as_ref(), args);
    }

    /// Runs `skillsd` in the worktree and returns its output and its messages.
    pub(super) fn run(&self, args: &[&str]) -> String {
        let mut command = self.home().command(EXE);
        let output = command.args(args).current_dir(self.path("w")).output();
        let output = output.expect("our program can be run");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }

    /// Returns the counters of the daemon.
    pub(super) fn actions(&mut self) -> Value {
        self.wire.call("server/status", &json!({}))["actions"].clone()
    }

    /// Returns the log of the daemon.
    pub(super) fn log(&self) -> String {
        let log = self.own.as_ref().unwrap_or(self.service).daemon.log();
        log.replace(&self.path("w"), "$W").replace(&self.path("home"), "$HOME")
    }
}

/// Returns a text of each entry, separated by blanks.
pub(super) fn joined(entries: &Value, key: &str) -> String {
    let entries = entries.as_array().expect("a list");
    entries.iter().filter_map(|it| it[key].as_str()).collect::<Vec<_>>().join(" ")
}
