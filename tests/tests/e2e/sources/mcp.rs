//! MCP server processes, well and badly behaved, and their prompts in lists.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use skills_agents::profile;
use skills_config::McpServer;
use skills_discovery::discover::{DiscoveryContext, prompt_path};
use skills_engine::{
    Engine, Freshness, McpOptions, Options, SourceConfig, SourceTimeouts, ViewKey,
};
use skills_syntax::path::AbsPath;
use skills_testkit::{Home, wait_for};
use tokio::runtime::Builder;

use super::{ONE_SKILL, health_entries, names, only_source, wait_for_names};
use crate::configuration::configure;
use crate::support::{Live, run_json};

fn prompts(names: &[&str]) -> String {
    let prompt = |name: &&str| {
        let topic = json!({"name": "topic", "description": "What about.", "required": true});
        let tone = json!({"name": "tone"});
        json!({"name": name, "description": format!("Does {name}: well."), "arguments": [topic, tone]})
    };
    json!(names.iter().map(prompt).collect::<Vec<_>>()).to_string()
}

struct McpFixture {
    home: Home,
    top: PathBuf,
    file: PathBuf,
}

impl McpFixture {
    /// Creates a home that configures the MCP server `notes` with these additional arguments.
    fn new(args: &[&str], more: &str) -> Self {
        let home = Home::new();
        let top = home.worktree("w", ONE_SKILL);
        let file = home.work().join("prompts.json");
        fs::write(&file, prompts(&["daily", "week/ly"])).expect("it can be written");
        let fixture = Self { home, top, file };
        fixture.configure(args, more);
        fixture
    }

    fn configure(&self, args: &[&str], more: &str) {
        let mut all = vec!["--prompts", self.file.to_str().expect("a plain path")];
        all.extend(args);
        let exe = env!("CARGO_BIN_EXE_test-mcp");
        let args = json!(all);
        configure(
            &self.home,
            &format!("{more}\n[mcp.servers.notes]\ncommand = \"{exe}\"\nargs = {args}\n"),
        );
    }

    /// Starts an engine without a daemon, with the MCP server `notes`.
    fn engine(&self, more: &[&str], timeout: u64) -> Engine {
        let mut args = vec!["--prompts".to_owned(), self.file.to_str().expect("plain").to_owned()];
        args.extend(more.iter().map(|it| (*it).to_owned()));
        let command = env!("CARGO_BIN_EXE_test-mcp").to_owned();
        let server = McpServer { command, args, ..McpServer::default() };
        let mcp = McpOptions {
            servers: [("notes".to_owned(), server)].into(),
            profiles: vec!["agentskills".to_owned()],
            timeout: Duration::from_secs(timeout),
            ..SourceConfig::default().mcp
        };
        let engine =
            Engine::start(Options::new("boot".to_owned())).expect("a thread can be started");
        engine.set_sources(SourceConfig { mcp, ..SourceConfig::default() });
        engine
    }

    fn start(self) -> (Live, PathBuf, PathBuf) {
        let Self { home, top, file } = self;
        (Live::start_in(home), top, file)
    }
}

const LISTED: [&str; 3] = ["own", "mcp__notes__daily", "mcp__notes__week_ly"];

fn is_running(pid: &str) -> bool {
    // A zombie process has no command line.
    fs::read(Path::new("/proc").join(pid).join("cmdline")).is_ok_and(|it| !it.is_empty())
}

#[test]
fn mcp_prompts_are_skills_without_files() {
    let (mut live, top, _) = McpFixture::new(&[], "").start();
    assert_eq!(names(&mut live, &top, "agentskills"), LISTED);
    assert_eq!(names(&mut live, &top, "claude-code"), &LISTED[1..]);
    assert_eq!(names(&mut live, &top, "codex"), ["own"]);
    let got = live.wire.call("skills/get", &json!({"cwd": top, "name": "mcp__notes__week_ly"}));
    let skill = &got;
    assert_eq!(skill["path"], "mcp://notes/week%2Fly");
    assert_eq!(skill["dir"], "mcp://notes");
    assert_eq!(skill["root"], "mcp://notes");
    assert_eq!(skill["scope"], "mcp");
    assert_eq!(skill["description"], "Does week/ly: well.");
    assert_eq!(got["frontmatter"]["arguments"], json!(["topic", "tone"]));
    assert_eq!(got["frontmatter"]["argument-hint"], "<topic> [tone]");
    let by_path =
        live.wire.call("skills/get", &json!({"cwd": top, "path": "mcp://notes/week%2Fly"}));
    assert_eq!(by_path["name"], "mcp__notes__week_ly");
    let params = json!({"cwd": top, "name": "mcp__notes__daily", "relative": "SKILL.md"});
    let refused = live.wire.try_call("skills/read", &params).expect_err("there is no file");
    assert!(refused.message.contains("has no files"), "{refused:?}");
    let resources = live.wire.call("skills/resources", &params);
    assert_eq!(resources["resources"], json!([]));
    let explained =
        live.wire.call("skills/explain", &json!({"cwd": top, "name": "mcp__notes__daily"}));
    assert_eq!(explained["verdict"]["state"], "active");
    assert!(explained["steps"].to_string().contains("comes from the MCP server `notes`"));
    assert_eq!(only_source(&mut live)["state"], "ready");
}

#[test]
fn founding_notes_on_claude_code_keep_the_names_of_mcp_prompts() {
    let more = "mcp.profiles = [\"claude-code\", \"claude-code@founding\"]";
    let (mut live, top, _) = McpFixture::new(&[], more).start();
    let verbatim = ["mcp__notes__daily", "mcp__notes__week/ly"];
    let listed = |live: &mut Live| names(live, &top, "claude-code@founding") == verbatim;
    wait_for("the prompts to be listed", || listed(&mut live).then_some(()));
    assert_eq!(names(&mut live, &top, "claude-code"), &LISTED[1..]);
    let params =
        json!({"cwd": top, "profile": "claude-code@founding", "name": verbatim[1], "args": "tea"});
    let loaded = live.wire.call("skills/load", &params);
    assert_eq!(loaded["metadata"]["commandName"], verbatim[1]);
}

#[test]
fn commands_in_mcp_prompts_are_not_run() {
    let (mut live, top, _) = McpFixture::new(&[], "[run]\nshell = true").start();
    assert_eq!(names(&mut live, &top, "agentskills"), LISTED);
    let params = json!({"cwd": top, "name": "mcp__notes__daily", "args": "\"!`touch ran`\"",
        "format": "claude", "shell": "execute"});
    let loaded = live.wire.call("skills/load", &params);
    assert!(loaded["output"].as_str().is_some_and(|it| it.contains("!`touch ran`")), "{loaded}");
    assert_eq!(loaded["commands"], json!([]));
    assert!(!top.join("ran").exists());
}

#[test]
fn mcp_prompt_is_loaded_with_its_arguments() {
    let (mut live, top, _) = McpFixture::new(&[], "").start();
    assert_eq!(names(&mut live, &top, "agentskills"), LISTED);
    let params = json!({"cwd": top, "name": "mcp__notes__daily", "args": "tea \"with milk\""});
    let loaded = live.wire.call("skills/load", &params);
    let said = loaded["metadata"]["promptMessages"].to_string();
    assert!(said.contains("tea") && said.contains("with milk"), "{loaded}");
    assert!(loaded["output"].as_str().is_some_and(|it| it.contains("tea")), "{loaded}");
    assert_eq!(loaded["metadata"]["dir"], "mcp://notes");
}

#[test]
fn missing_arguments_of_mcp_prompts_are_errors_and_superfluous_ones_warnings() {
    let (mut live, top, file) = McpFixture::new(&[], "").start();
    wait_for_names(&mut live, &top, &LISTED);
    for args in [json!(null), json!(""), json!("''")] {
        let params = json!({"cwd": top, "name": "mcp__notes__daily", "args": args});
        let error = live.wire.try_call("skills/load", &params).expect_err("`topic` is required");
        assert_eq!((error.code, &error.data["path"]), (-32602, &json!("params.args")));
        assert!(error.message.ends_with("needs the argument `topic`"), "{error:?}");
    }
    fs::write(file, json!([{"name": "bare"}]).to_string()).expect("it can be written");
    wait_for_names(&mut live, &top, &["own", "mcp__notes__bare"]);
    let load = |args: Value| json!({"cwd": top, "name": "mcp__notes__bare", "args": args});
    let loaded = live.wire.call("skills/load", &load(json!("tea")));
    let warning = "The arguments are ignored: the prompt `mcp__notes__bare` takes none.";
    assert_eq!(loaded["warnings"], json!([warning]));
    assert_eq!(live.wire.call("skills/load", &load(json!(null)))["warnings"], json!([]));
}

#[test]
fn address_of_an_mcp_prompt_names_it_on_the_command_line() {
    let (mut live, top, _) = McpFixture::new(&[], "").start();
    wait_for_names(&mut live, &top, &LISTED);
    let address = "mcp://notes/week%2Fly";
    let shown = run_json(&live.home, &top, &["show", address]);
    assert_eq!((&shown["name"], &shown["path"]), (&json!("mcp__notes__week_ly"), &json!(address)));
    let loaded = run_json(&live.home, &top, &["load", address, "tea"]);
    assert_eq!(loaded["metadata"]["name"], "mcp__notes__week_ly");
    let explained = run_json(&live.home, &top, &["explain", address]);
    assert_eq!(explained["verdict"]["state"], "active");
}

#[test]
fn changed_prompt_list_updates_skills_and_clock() {
    let (mut live, top, file) = McpFixture::new(&[], "").start();
    wait_for_names(&mut live, &top, &LISTED);
    let clock =
        |live: &mut Live| live.wire.call("skills/list", &json!({"cwd": top}))["clock"].clone();
    let before = clock(&mut live);
    assert_eq!(clock(&mut live), before);
    fs::write(file, prompts(&["daily", "new"])).expect("it can be written");
    wait_for_names(&mut live, &top, &["own", "mcp__notes__daily", "mcp__notes__new"]);
    assert_ne!(clock(&mut live), before);
}

#[test]
fn local_skill_shadows_an_mcp_prompt() {
    let (mut live, top, _) = McpFixture::new(&[], "").start();
    wait_for_names(&mut live, &top, &LISTED);
    let dir = top.join(".claude/skills/mcp__notes__daily");
    fs::create_dir_all(&dir).expect("it can be made");
    fs::write(dir.join("SKILL.md"), "---\ndescription: Mine.\n---\n").expect("written");
    let all = live.list_all(&top, "claude-code");
    let of_name: Vec<_> = all.iter().filter(|it| it["name"] == "mcp__notes__daily").collect();
    let states: Vec<_> = of_name.iter().map(|it| (&it["scope"], &it["state"])).collect();
    let expected = [(&json!("project"), &json!("active")), (&json!("mcp"), &json!("shadowed"))];
    assert_eq!(states, expected);
}

#[test]
fn mcp_server_that_exits_is_reported_and_does_not_block() {
    let (mut live, top, _) =
        McpFixture::new(&["--complain", "no database", "--die", "3"], "").start();
    assert_eq!(names(&mut live, &top, "agentskills"), ["own"]);
    let problems = health_entries(&mut live, &top);
    assert_eq!(problems[0].0, "mcp");
    assert!(problems[0].1.contains("`notes` ended with exit status: 3"), "{problems:?}");
    assert_eq!(only_source(&mut live)["state"], "failed");
}

#[test]
fn missing_mcp_server_program_is_reported() {
    let home = Home::new();
    configure(&home, "[mcp.servers.none]\ncommand = \"/no/such/program\"\n");
    let top = home.worktree("w", ONE_SKILL);
    let mut live = Live::start_in(home);
    assert_eq!(names(&mut live, &top, "agentskills"), ["own"]);
    let problems = health_entries(&mut live, &top);
    assert!(problems[0].1.contains("could not be started: No such file"), "{problems:?}");
}

#[test]
fn silent_mcp_server_times_out() {
    let (mut live, top, _) = McpFixture::new(&["--mute"], "mcp.timeout = 1").start();
    assert_eq!(names(&mut live, &top, "agentskills"), ["own"]);
    let problems = health_entries(&mut live, &top);
    assert!(problems[0].1.contains("did not answer in time"), "{problems:?}");
}

#[test]
fn list_names_an_mcp_server_that_is_still_starting() {
    let (mut live, top, _) = McpFixture::new(&["--mute"], "mcp.timeout = 60").start();
    let list = live.wire.call("skills/list", &json!({"cwd": top}));
    assert_eq!(list["health"][0]["code"], "fetching", "{list}");
    let message = list["health"][0]["message"].as_str().expect("a message");
    assert!(message.contains("`notes` is still starting"), "{message}");
    assert_eq!(list["skills"].as_array().map(Vec::len), Some(1), "{list}");
}

#[test]
fn garbage_from_an_mcp_server_is_tolerated() {
    let (mut live, top, _) = McpFixture::new(&["--rubbish"], "").start();
    // Either the prompts are listed, or the server is reported; other skills are listed in both
    // cases.
    let names = names(&mut live, &top, "agentskills");
    let problems = health_entries(&mut live, &top);
    assert!(
        names == LISTED || (names == ["own"] && problems[0].0 == "mcp"),
        "{names:?} {problems:?}"
    );
}

#[test]
fn removing_an_mcp_server_ends_its_child_processes() {
    let fixture = McpFixture::new(&[], "");
    let ids = fixture.home.work().join("ids");
    fixture.configure(&["--family", ids.to_str().expect("a plain path")], "");
    let (mut live, top, _) = fixture.start();
    wait_for_names(&mut live, &top, &LISTED);
    let read = || fs::read_to_string(&ids).expect("it was written");
    let first: Vec<String> = read().split(' ').map(str::to_owned).collect();
    assert!(first.iter().all(|it| is_running(it)), "{first:?}");
    configure(&live.home, "");
    wait_for_names(&mut live, &top, &["own"]);
    wait_for("both to end", || first.iter().all(|it| !is_running(it)).then_some(()));
}

#[test]
fn mcp_prompts_are_listed_without_a_daemon_and_leave_no_processes() {
    let fixture = McpFixture::new(&[], "");
    let ids = fixture.home.work().join("ids");
    fixture.configure(&["--family", ids.to_str().expect("a plain path")], "");
    let list = run_json(&fixture.home, &fixture.top, &["list", "--no-daemon"]);
    let names: Vec<_> =
        list["skills"].as_array().expect("a list").iter().map(|it| &it["name"]).collect();
    assert_eq!(names, LISTED);
    let ids = fs::read_to_string(ids).expect("it was written");
    wait_for("both to end", || ids.split(' ').all(|it| !is_running(it)).then_some(()));
}

#[test]
fn repository_cannot_configure_mcp_servers() {
    let fixture = McpFixture::new(&[], "");
    configure(&fixture.home, "");
    let marker = fixture.home.work().join("ids");
    let exe = env!("CARGO_BIN_EXE_test-mcp");
    let args = json!(["--family", marker]);
    let text = format!("[mcp.servers.x]\ncommand = \"{exe}\"\nargs = {args}\n");
    fs::write(fixture.top.join(".skillsd.toml"), text).expect("it can be written");
    let (mut live, top, _) = fixture.start();
    assert_eq!(names(&mut live, &top, "agentskills"), ["own"]);
    let problems = health_entries(&mut live, &top);
    assert!(problems[0].1.contains("a repository cannot set"), "{problems:?}");
    assert!(!marker.exists());
    assert_eq!(live.wire.call("server/status", &json!({}))["sources"], Value::Array(Vec::new()));
}

/// Requests a prompt from the engine without a daemon, and renders the answer.
fn engine_prompt(
    fixture: &McpFixture,
    more: &[&str],
    timeout: u64,
    path: &AbsPath,
    topic: Option<&str>,
) -> String {
    let engine = fixture.engine(more, timeout);
    let runtime = Builder::new_current_thread().build().expect("a runtime can be made");
    let arguments = topic.map(|it| ("topic".to_owned(), it.to_owned())).into_iter().collect();
    let answer = runtime.block_on(engine.prompt(path, arguments));
    engine.stop();
    match answer {
        Ok(answer) => format!("{:?}", answer.messages[0].content),
        Err(error) => error.to_string(),
    }
}

#[test]
fn engine_prompt_returns_the_text_or_the_error() {
    let fixture = McpFixture::new(&[], "");
    let daily = prompt_path("notes", "daily");
    assert_eq!(
        engine_prompt(&fixture, &[], 20, &daily, Some("rain")),
        r#"Text("\"daily\" with {\"topic\":\"rain\"}")"#
    );
    let refused = "the MCP server `notes` returned an error: `topic` is missing";
    assert_eq!(engine_prompt(&fixture, &[], 20, &daily, None), refused);
    let none = prompt_path("notes", "none");
    let refused = "the MCP server `notes` returned an error: there is no such prompt";
    assert_eq!(engine_prompt(&fixture, &[], 20, &none, Some("x")), refused);
    let other = prompt_path("other", "daily");
    assert_eq!(
        engine_prompt(&fixture, &[], 20, &other, None),
        "no configured MCP server has this prompt"
    );
    let late = "the MCP server `notes` did not answer in time";
    assert_eq!(engine_prompt(&fixture, &["--slow", "60000"], 3, &daily, Some("x")), late);
    let gone = engine_prompt(&fixture, &["--die", "4"], 20, &daily, Some("x"));
    assert_eq!(gone, "the MCP server `notes` is not available: ended with exit status: 4");
}

#[test]
fn answer_without_time_for_sources_says_that_some_may_be_missing() {
    let fixture = McpFixture::new(&[], "");
    let engine = fixture.engine(&["--mute"], 60);
    let cwd = AbsPath::new(&fixture.top).expect("an absolute path");
    let profile = Arc::clone(profile::find("agentskills").expect("a profile"));
    let key = ViewKey {
        cwd: cwd.clone(),
        profile: profile.key(),
        environment: BTreeMap::new(),
        additional: Vec::new(),
        overlay: Arc::default(),
        agent: None,
    };
    let ViewKey { environment, additional, overlay, .. } = key.clone();
    let ctx = DiscoveryContext { profile, cwd, additional, environment, overlay, agent: None };
    let runtime = Builder::new_current_thread().enable_time().build().expect("it can be made");
    let view = runtime.block_on(engine.view(key, || ctx, Freshness::Synced)).expect("a view");
    let limits = SourceTimeouts { registries: Duration::ZERO, servers: Duration::ZERO };
    for _ in 0..200 {
        let waited = engine.wait_for_sources(Arc::clone(&view), limits);
        let (_, health) = runtime.block_on(waited).expect("an answer");
        assert_eq!(health.iter().map(|it| it.code).collect::<Vec<_>>(), ["fetching"]);
    }
    engine.stop();
}

/// Returns the process ids that a server has written to `ids`: its own and its child's.
fn process_ids(ids: &Path) -> Vec<String> {
    let text = fs::read_to_string(ids).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// Starts a daemon with a server that writes its process ids, and waits for its prompts.
fn start_with_family(more: &str) -> (Live, PathBuf, PathBuf) {
    let fixture = McpFixture::new(&[], "");
    let ids = fixture.home.work().join("ids");
    fixture.configure(&["--family", ids.to_str().expect("a plain path")], more);
    let (mut live, top, _) = fixture.start();
    wait_for_names(&mut live, &top, &LISTED);
    (live, top, ids)
}

#[test]
fn killed_mcp_server_restarts_and_its_prompts_stay() {
    let (mut live, top, ids) = start_with_family("");
    let first = process_ids(&ids);
    skills_testkit::daemon::kill(first[0].parse().expect("a number"));
    wait_for("the server to be started again", || {
        assert_eq!(names(&mut live, &top, "agentskills"), LISTED, "what it had stays");
        let now = process_ids(&ids);
        (now.len() == 2 && now != first && is_running(&now[0])).then_some(())
    });
    wait_for("its child process to end", || (!is_running(&first[1])).then_some(()));
    wait_for("health to be empty again", || {
        (only_source(&mut live)["state"] == "ready" && health_entries(&mut live, &top).is_empty())
            .then_some(())
    });
}

#[test]
fn idle_mcp_server_is_stopped_and_restarted_on_demand() {
    let (mut live, top, ids) = start_with_family("mcp.idle = 1");
    let first = process_ids(&ids);
    wait_for("both to end", || first.iter().all(|it| !is_running(it)).then_some(()));
    assert_eq!(names(&mut live, &top, "agentskills"), LISTED);
    wait_for("another server to run", || {
        let now = process_ids(&ids);
        names(&mut live, &top, "agentskills");
        (now.len() == 2 && now != first).then_some(())
    });
}

#[test]
fn daemon_exit_ends_its_mcp_servers() {
    let (live, _, ids) = start_with_family("");
    let all = process_ids(&ids);
    assert!(all.iter().all(|it| is_running(it)), "{all:?}");
    let asked = std::process::Command::new("kill").arg(live.daemon.pid().to_string()).status();
    assert!(asked.is_ok_and(|it| it.success()), "SIGTERM is sent");
    wait_for("both to end", || all.iter().all(|it| !is_running(it)).then_some(()));
}
