//! Claude Code on a laid-out tree, and our own view of the same tree.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};
use skills_agents::profile;
use skills_discovery::discover::{DiscoveryContext, Policy, TrustDecisions};
use skills_engine::{Engine, Freshness, Options, View, ViewKey};
use skills_syntax::path::AbsPath;
use skills_testkit::model::ModelRequest;
use skills_testkit::{Daemon, Framing, Home, Model, Turn, Wire};

use crate::agent_fixture::{CLAUDE_ENVIRONMENT, finish};

#[derive(Clone)]
pub(crate) enum Entry {
    Dir,
    File(String),
    /// A link to a path below the top.
    Link(String),
}

/// Lays out entries and the working directory below `top`, with `$TOP` in a file replaced.
/// Conflicting entries are skipped, because only the disk counts.
pub(crate) fn lay_out(entries: &[(String, Entry)], cwd: &str, top: &Path) {
    for (path, entry) in entries {
        let path = top.join(path);
        let _ = fs::create_dir_all(path.parent().unwrap());
        let _ = match entry {
            Entry::Dir => fs::create_dir_all(&path),
            Entry::File(text) => fs::write(&path, text.replace("$TOP", top.to_str().unwrap())),
            Entry::Link(target) => symlink(top.join(target), &path),
        };
    }
    fs::create_dir_all(top.join(cwd)).unwrap();
}

/// A random tree; `$TOP` in a file stands for its directory.
#[derive(Clone)]
pub(crate) struct Tree {
    pub(crate) entries: Vec<(String, Entry)>,
    pub(crate) home: &'static str,
    pub(crate) cwd: String,
    pub(crate) has_config_dir: bool,
    pub(crate) additional: Vec<&'static str>,
    /// A model with a context of 200,000 tokens instead of 1,000,000.
    pub(crate) is_model_small: bool,
}

impl Tree {
    /// Returns a tree with the working directory `w` and the usual settings.
    pub(crate) fn plain(entries: Vec<(String, Entry)>) -> Self {
        let (cwd, additional) = ("w".to_owned(), Vec::new());
        let (has_config_dir, is_model_small) = (false, false);
        Self { entries, home: "h", cwd, has_config_dir, additional, is_model_small }
    }

    pub(crate) fn lay_out(&self, top: &Path) {
        lay_out(&self.entries, &self.cwd, top);
    }

    pub(crate) fn environment(&self, top: &Path) -> BTreeMap<String, OsString> {
        let mut environment = BTreeMap::from([("HOME".to_owned(), top.join(self.home).into())]);
        if self.has_config_dir {
            environment.insert("CLAUDE_CONFIG_DIR".to_owned(), top.join("cfg").into());
        }
        environment
    }

    pub(crate) fn shown(&self) -> String {
        let mut text = format!(
            "HOME is /{}, the working directory /{}, own directory {}, added {:?}\n",
            self.home, self.cwd, self.has_config_dir, self.additional
        );
        for (path, entry) in &self.entries {
            let _ = match entry {
                Entry::Dir => writeln!(text, "//- /{path} dir"),
                Entry::File(it) if it.len() > 1000 => writeln!(text, "//- /{path}\n(large)"),
                Entry::File(it) => writeln!(text, "//- /{path}\n{}", it.trim_end()),
                Entry::Link(target) => writeln!(text, "//- /{path} link=/{target}"),
            };
        }
        text
    }

    /// Returns every tree with one entry less.
    pub(crate) fn smaller(&self) -> impl Iterator<Item = Self> + '_ {
        (0..self.entries.len()).map(|left_out| {
            let mut tree = self.clone();
            tree.entries.remove(left_out);
            tree
        })
    }
}

/// One engine for all trees; each tree has its own directory.
pub(crate) struct Ours {
    pub(crate) engine: Engine,
    runtime: tokio::runtime::Runtime,
}

impl Ours {
    pub(crate) fn new() -> Self {
        let engine = Engine::start(Options::new("claude trees".to_owned())).unwrap();
        // The agent obeys a repository's settings and follows its links without trust.
        let trusts = TrustDecisions::new([(AbsPath::new(Path::new("/")).unwrap(), true)]);
        engine.set_policy(Policy { trusts, ..Policy::default() });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Self { engine, runtime }
    }

    pub(crate) fn view(&self, tree: &Tree, top: &Path) -> Arc<View> {
        let profile = Arc::clone(profile::find("claude-code").unwrap());
        let abs = |it: &Path| AbsPath::new(it).unwrap();
        let cwd = abs(&top.join(&tree.cwd));
        let environment = tree.environment(top);
        let additional: Vec<_> = tree.additional.iter().map(|it| abs(&top.join(it))).collect();
        let key = ViewKey {
            cwd: cwd.clone(),
            profile: profile.key(),
            environment: environment.clone(),
            additional: additional.clone(),
            overlay: Arc::default(),
            agent: None,
        };
        let (overlay, agent) = (Arc::default(), None);
        let ctx = DiscoveryContext { profile, cwd, additional, environment, overlay, agent };
        self.runtime.block_on(self.engine.view(key, || ctx, Freshness::Synced)).unwrap()
    }
}

/// Our daemon, which answers for trees as the agent's user would ask it.
pub(crate) struct OurDaemon {
    _home: Home,
    daemon: Daemon,
    wire: Wire,
}

impl OurDaemon {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts the daemon of the user whose home directory this is.
    pub(crate) fn start_with_home(dir: &Path) -> Self {
        Self::start_with(&[("HOME", dir)])
    }

    fn start_with(variables: &[(&str, &Path)]) -> Self {
        let home = Home::new();
        let daemon = Daemon::start_with(&home, env!("CARGO_BIN_EXE_test-skillsd"), variables);
        let wire = daemon.connect(Framing::Header);
        Self { _home: home, daemon, wire }
    }

    /// Trusts a directory, because the agent follows a repository's links and settings without.
    pub(crate) fn trust(&self, top: &Path) {
        let mut wire = self.daemon.connect_consent(Framing::Header);
        wire.call("trust/set", &json!({"dir": top, "trusted": true}));
    }

    /// Calls a method for a tree with the agent's profile.
    pub(crate) fn call(&mut self, method: &str, tree: &Tree, top: &Path, params: Value) -> Value {
        let additional: Vec<_> = tree.additional.iter().map(|it| top.join(it)).collect();
        let environment: BTreeMap<_, _> = tree
            .environment(top)
            .into_iter()
            .map(|(name, value)| (name, value.into_string().unwrap()))
            .collect();
        let mut all = json!({"cwd": top.join(&tree.cwd), "profile": "claude-code",
            "additionalDirs": additional, "environment": environment});
        let Value::Object(params) = params else { panic!("parameters are an object: {params}") };
        all.as_object_mut().unwrap().extend(params);
        self.wire.try_call(method, &all).unwrap_or_else(|error| json!({"error": error.to_string()}))
    }
}

/// Heading of the agent's list of skills.
const HEADER: &str = "The following skills are available for use with the Skill tool:\n\n";

/// One conversation of the agent.
pub(crate) struct Run {
    /// The first message of its output.
    pub(crate) init: Value,
    /// The requests that the script answered.
    pub(crate) turns: Vec<ModelRequest>,
}

/// Runs the agent on a tree, with a model that follows `script`.
#[track_caller]
pub(crate) fn run(program: &Path, tree: &Tree, top: &Path, prompt: &str, script: Vec<Turn>) -> Run {
    let ask = |command: &mut Command| {
        command.args(["--", prompt]).stdin(Stdio::null());
    };
    run_asked(program, tree, top, script, ask)
}

/// Runs the agent with several prompts in one conversation.
#[track_caller]
pub(crate) fn run_prompts(
    program: &Path,
    tree: &Tree,
    top: &Path,
    prompts: &[String],
    script: Vec<Turn>,
) -> Run {
    let message = |it: &String| {
        let message = json!({"role": "user", "content": it});
        format!("{}\n", json!({"type": "user", "message": message}))
    };
    let path = top.join("prompts.jsonl");
    fs::write(&path, prompts.iter().map(message).collect::<String>()).unwrap();
    let ask = |command: &mut Command| {
        command.args(["--input-format", "stream-json"]).stdin(fs::File::open(&path).unwrap());
    };
    run_asked(program, tree, top, script, ask)
}

#[track_caller]
fn run_asked(
    program: &Path,
    tree: &Tree,
    top: &Path,
    script: Vec<Turn>,
    ask: impl FnOnce(&mut Command),
) -> Run {
    let model = Model::start(script);
    let mut command = Command::new(program);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.envs(tree.environment(top)).env("ANTHROPIC_BASE_URL", model.url());
    command.envs(CLAUDE_ENVIRONMENT).current_dir(top.join(&tree.cwd));
    command.args(["-p", "--output-format", "stream-json", "--verbose", "--settings"]);
    command.arg(
        json!({"disableBundledSkills": true, "permissions": {"allow": ["Skill"]},
            "skillOverrides": {"doctor": "off", "plugin-authoring": "off"}})
        .to_string(),
    );
    if tree.is_model_small {
        command.args(["--model", "claude-haiku-4-5"]);
    }
    if !tree.additional.is_empty() {
        command.arg("--add-dir").args(tree.additional.iter().map(|it| top.join(it)));
    }
    ask(&mut command);
    let output = finish(&mut command);
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok());
    let init = messages.into_iter().find(|it| it["subtype"] == "init");
    let init = init.unwrap_or_else(|| panic!("{text}\n{output:?}"));
    assert!(model.left().is_empty(), "the agent ended before {:?}\n{text}", model.left());
    Run { init, turns: model.turns() }
}

/// Returns the last list of skills in a request, without its heading; empty if it has none.
pub(crate) fn listing(asked: &ModelRequest) -> String {
    let text = asked.text();
    let listing = text.rsplit_once(HEADER).map_or("", |it| it.1);
    let listing = listing.split("\n\n").next().unwrap_or_default();
    listing
        .split("\n</system-reminder>")
        .next()
        .unwrap_or_default()
        .trim_end_matches('\n')
        .to_owned()
}

/// Returns what the agent handed out for the last tool call in a request: the text behind its
/// result, or else the result, which is an error.
pub(crate) fn handed_out(asked: &ModelRequest) -> Result<String, String> {
    let messages = asked.body["messages"].as_array().unwrap();
    let is_result = |it: &Value| it["type"] == "tool_result";
    let parts = messages.iter().rev().filter_map(|it| it["content"].as_array());
    let parts = parts.into_iter().find(|it| it.iter().any(is_result)).expect("a result");
    let result = parts.iter().find(|it| is_result(it)).unwrap();
    // The agent divides a text before a reminder.
    let texts: Vec<_> = parts.iter().filter_map(|it| it["text"].as_str()).collect();
    if texts.is_empty() || result["is_error"] == true {
        Err(result["content"].to_string())
    } else {
        Ok(texts.join("\n"))
    }
}
