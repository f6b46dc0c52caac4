//! `skillsd mcp` with the official Rust MCP client: tools, resources, prompts and notifications.

pub(crate) mod client;
mod client_requests;

use std::fs;

use serde_json::{Value, json};
use skills_testkit::daemon::listener;
use skills_testkit::{Home, fixture, wait_for};

use self::client::{Agent, ToolOutput};
use crate::configuration::configure;

const SHOP: &str = "\
//- /.agents/skills/pdf/SKILL.md
---
name: pdf
description: Reads and fills PDF forms.
---
# PDF

Read reference/forms.md first.
//- /.agents/skills/pdf/reference/forms.md
Forms have fields.
//- /.agents/skills/pdf/seal.png bytes
\\x89PNG\\xff\\x00
//- /.agents/skills/deploy/SKILL.md
---
name: deploy
description: Brings a build to a server.
---
Deploy $ARGUMENTS.
//- /.agents/skills/broken/SKILL.md
---
name: broken
---
No description.
";

/// Both modes: through the daemon, and in process.
const WAYS: [&[&str]; 2] = [&[], &["--no-daemon"]];

#[tokio::test(flavor = "multi_thread")]
async fn mcp_tools_list_search_read_and_load_skills() {
    for way in WAYS {
        let home = Home::new();
        let top = home.worktree("shop", SHOP);
        let agent = Agent::start(&home, &top, way).await;
        let info = agent.info();
        assert_eq!(info["serverInfo"]["name"], "skillsd");
        assert_eq!(info["capabilities"]["tools"]["listChanged"], true);
        let tools = agent.tools().await;
        let names: Vec<_> = tools.iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["skill", "search_skills", "read_skill_file", "explain_skill"]);
        for tool in &tools {
            assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
            jsonschema::meta::validate(&tool["inputSchema"]).unwrap();
        }
        let skill = &tools[0];
        assert_eq!(skill["inputSchema"]["properties"]["name"]["enum"], json!(["deploy", "pdf"]));
        let described = skill["description"].as_str().unwrap();
        assert!(
            described.ends_with(
                "\n- deploy: Brings a build to a server.\n- pdf: Reads and fills PDF forms."
            ),
            "{described}"
        );

        let loaded = agent.call("skill", json!({"name": "pdf"})).await;
        let ToolOutput::Text(text) = &loaded else { panic!("{loaded:?}") };
        assert!(text.starts_with("<skill_content name=\"pdf\">\n# PDF"), "{text}");
        assert!(text.contains("<file>reference/forms.md</file>"), "{text}");

        let found = agent.call("search_skills", json!({"query": "fill a form"})).await;
        assert_eq!(found, ToolOutput::Text("- pdf: Reads and fills PDF forms.".into()));
        let file = json!({"name": "pdf", "path": "reference/forms.md"});
        assert_eq!(
            agent.call("read_skill_file", file).await,
            ToolOutput::Text("Forms have fields.\n".into())
        );
        let part = json!({"name": "pdf", "path": "reference/forms.md", "length": 5, "offset": 6});
        assert_eq!(
            agent.call("read_skill_file", part).await,
            ToolOutput::Text(
                "have \nTruncated: the file has 19 bytes. Continue with `offset` 11.".into()
            )
        );
        assert_eq!(
            agent.call("read_skill_file", json!({"name": "pdf"})).await,
            ToolOutput::Text("reference/forms.md (19 bytes)\nseal.png (7 bytes)".into())
        );
        let explained = agent.call("explain_skill", json!({"name": "broken"})).await;
        let ToolOutput::Text(text) = &explained else { panic!("{explained:?}") };
        assert!(text.contains("description") && text.contains("broken/SKILL.md"), "{text}");
        agent.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_tool_errors_say_what_to_do() {
    let home = Home::new();
    let top = home.worktree("shop", SHOP);
    let agent = Agent::start(&home, &top, &[]).await;
    let failed = |said: ToolOutput| match said {
        ToolOutput::Error(text) => text,
        ToolOutput::Text(text) => panic!("it was given: {text}"),
    };
    let unknown = failed(agent.call("skill", json!({"name": "pfd"})).await);
    assert_eq!(unknown, "there is no skill `pfd`. Did you mean `pdf`?");
    let outside = json!({"name": "pdf", "path": "../deploy/SKILL.md"});
    let outside = failed(agent.call("read_skill_file", outside).await);
    assert!(outside.contains("`../deploy/SKILL.md`"), "{outside}");
    let bad = failed(agent.call("skill", json!({"nam": "pdf"})).await);
    assert!(bad.starts_with("invalid arguments: unknown field `nam`"), "{bad}");
    let error = agent.call_fails("skills", json!({})).await;
    assert!(error.contains("unknown tool `skills`; the tools are skill, "), "{error}");
    agent.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_resources_are_the_skill_files() {
    let home = Home::new();
    let top = home.worktree("shop", SHOP);
    let agent = Agent::start(&home, &top, &[]).await;
    let listed = agent.resources().await;
    let uris: Vec<_> = listed.iter().map(|it| it["uri"].as_str().unwrap()).collect();
    assert_eq!(uris, ["skill://deploy/SKILL.md", "skill://pdf/SKILL.md"]);
    assert_eq!(listed[1]["description"], "Reads and fills PDF forms.");
    assert_eq!(agent.templates().await, ["skill://{name}/{+path}"]);

    let read = agent.read("skill://pdf/SKILL.md").await.unwrap();
    assert_eq!(read["mimeType"], "text/markdown");
    assert!(read["text"].as_str().unwrap().starts_with("---\nname: pdf\n"), "{read}");
    let read = agent.read("skill://pdf/seal.png").await.unwrap();
    assert_eq!((&read["mimeType"], &read["blob"]), (&json!("image/png"), &json!("iVBOR/8ACg==")));
    for uri in ["skill://pdf/gone.md", "skill://nobody/SKILL.md", "file:///etc/passwd"] {
        let error = agent.read(uri).await.unwrap_err();
        assert!(error.contains("-32002"), "{uri}: {error}");
    }
    let error = agent.read("skill://pdf/..%2Fdeploy%2FSKILL.md").await.unwrap_err();
    assert!(error.contains("-32602"), "{error}");
    agent.end().await;
}

const CLAUDE: &str = "\
//- /.claude/skills/fix/SKILL.md
---
description: Fixes an issue.
arguments: [issue, branch]
argument-hint: ISSUE [BRANCH]
disable-model-invocation: true
---
Fix $issue on `$branch`.
//- /.claude/skills/state/SKILL.md
---
description: Says how things are.
user-invocable: false
---
Now: !`touch ran; echo ran`
";

#[tokio::test(flavor = "multi_thread")]
async fn user_invocable_skills_are_mcp_prompts_with_arguments() {
    let home = Home::new();
    let top = home.worktree("shop", CLAUDE);
    let agent = Agent::start(&home, &top, &["--profile", "claude-code"]).await;
    let tools = agent.tools().await;
    let model = &tools[0]["inputSchema"]["properties"]["name"]["enum"];
    assert_eq!(model, &json!(["state"]));
    let prompts = agent.prompts().await;
    assert_eq!(prompts.len(), 1, "{prompts:?}");
    assert_eq!(prompts[0]["name"], "fix");
    let arguments = prompts[0]["arguments"].as_array().unwrap();
    let names: Vec<_> = arguments.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["issue", "branch", "arguments"]);
    assert_eq!(arguments[2]["description"], "As typed after the skill's name: ISSUE [BRANCH]");

    let given = json!({"issue": "the first one", "branch": "main"});
    let text = agent.prompt("fix", given).await.unwrap();
    assert!(text.ends_with("\n\nFix the first one on `main`.\n"), "{text}");
    let text = agent.prompt("fix", json!({"branch": "main"})).await.unwrap();
    assert!(text.ends_with("\n\nFix  on `main`.\n"), "{text}");
    let text = agent.prompt("fix", json!({"branch": "main", "brnch": "x"})).await.unwrap();
    assert!(text.contains("`fix` has no argument `brnch`"), "{text}");
    let text = agent.prompt("fix", json!({"arguments": "'a b' c"})).await.unwrap();
    assert!(text.ends_with("\n\nFix a b on `c`.\n"), "{text}");
    let error = agent.prompt("state", json!({})).await.unwrap_err();
    assert!(error.contains("a user may not invoke the skill `state`"), "{error}");
    let error = agent.prompt("nobody", json!({})).await.unwrap_err();
    assert!(error.contains("-32602"), "{error}");
    agent.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_never_runs_commands_in_skills() {
    let home = Home::new();
    home.lay_out(&CLAUDE.replace("//- /", "//- /home/"));
    let top = home.worktree("shop", "//- /src dir\n");
    configure(&home, "[run]\nshell = true\n");
    let list = Agent::start(&home, &top, &["--profile", "claude-code"]).await;
    let said = list.call("skill", json!({"name": "state"})).await;
    let ToolOutput::Text(text) = &said else { panic!("{said:?}") };
    assert!(text.contains("Now: !`touch ran; echo ran`"), "{text}");
    assert!(text.contains("They have not been run."), "{text}");
    assert!(text.ends_with("```bash\ntouch ran; echo ran\n```"), "{text}");
    list.end().await;
    let none = Agent::start(&home, &top, &["--profile", "claude-code", "--shell", "none"]).await;
    let said = none.call("skill", json!({"name": "state"})).await;
    let ToolOutput::Text(text) = &said else { panic!("{said:?}") };
    assert!(text.ends_with("Now: [shell command execution disabled by policy]\n"), "{text}");
    none.end().await;
    for dir in [&top, home.path(), &home.path().join(".claude/skills/state")] {
        assert!(!dir.join("ran").exists(), "it was run in {}", dir.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_list_changes_are_notified_and_listed() {
    for way in WAYS {
        let home = Home::new();
        let top = home.worktree("shop", SHOP);
        let agent = Agent::start(&home, &top, way).await;
        agent.tools().await;
        agent.quiet().await;
        fixture::write_skill(&top.join(".agents/skills/new"), "new", "Comes later.");
        agent.told().await;
        assert_eq!(skill_enum(&agent).await, ["deploy", "new", "pdf"]);
        fs::remove_dir_all(top.join(".agents/skills/pdf")).unwrap();
        wait_until_listed(&agent, &["deploy", "new"]).await;
        agent.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_2026_client_receives_list_changes() {
    let home = Home::new();
    let top = home.worktree("shop", SHOP);
    let agent = Agent::discover(&home, &top, &[]).await;
    assert_eq!(skill_enum(&agent).await, ["deploy", "pdf"]);
    let mut heard = agent.listen().await;
    fixture::write_skill(&top.join(".agents/skills/new"), "new", "Comes later.");
    for _ in 0..3 {
        heard.next().await;
    }
    assert_eq!(skill_enum(&agent).await, ["deploy", "new", "pdf"]);
    let said = agent.call("skill", json!({"name": "new"})).await;
    assert!(matches!(&said, ToolOutput::Text(text) if text.contains("# new")), "{said:?}");
    agent.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_client_survives_daemon_kills() {
    let home = Home::new();
    let top = home.worktree("shop", SHOP);
    let agent = Agent::start(&home, &top, &[]).await;
    assert_eq!(skill_enum(&agent).await, ["deploy", "pdf"]);
    for nth in 0..3 {
        let pid = listener(&home.socket()).expect("the client has started one");
        skills_testkit::daemon::kill(pid);
        let said = agent.call("skill", json!({"name": "pdf"})).await;
        assert!(matches!(&said, ToolOutput::Text(_)), "{nth}: {said:?}");
        assert_ne!(listener(&home.socket()), Some(pid));
        // Existing subscriptions survive the restart.
        agent.quiet().await;
        let name = format!("new{nth}");
        fixture::write_skill(&top.join(".agents/skills").join(&name), &name, "Comes later.");
        agent.told().await;
        assert!(skill_enum(&agent).await.contains(&name));
    }
    agent.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_without_a_daemon_leaves_no_files() {
    let home = Home::new();
    let top = home.worktree("shop", SHOP);
    let agent = Agent::start(&home, &top, &["--no-daemon"]).await;
    assert_eq!(skill_enum(&agent).await, ["deploy", "pdf"]);
    assert_eq!(listener(&home.socket()), None);
    agent.end().await;
    // No files are left behind.
    let left = fs::read_dir(home.runtime_dir().join("skillsd")).unwrap();
    let left: Vec<_> = left.map(|it| it.unwrap().file_name()).collect();
    assert!(left.iter().all(|it| !it.to_string_lossy().contains("cookies")), "{left:?}");
}

#[test]
fn mcp_stdout_carries_only_protocol_messages() {
    let home = Home::new();
    let top = home.worktree("shop", SHOP);
    let mut command = home.command(crate::support::exe());
    command.arg("mcp").current_dir(&top).env("SKILLSD_LOG", "trace");
    let input = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        "\n",
    );
    let output = client::talk(command, input, 2);
    let lines: Vec<Value> = output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no message: {line}")))
        .collect();
    assert_eq!(lines[0]["result"]["protocolVersion"], "2025-06-18");
    assert!(lines.iter().any(|it| it["id"] == 2 && it["result"]["tools"].is_array()));
    wait_for("the log", || {
        let files = fs::read_dir(home.state_dir().join("skillsd")).ok()?;
        let text: String =
            files.filter_map(|it| fs::read_to_string(it.ok()?.path()).ok()).collect();
        text.contains("a client has initialized").then_some(())
    });
}

/// The messages that begin a conversation.
const GREETING: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"greeting","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
);

/// Sends lines after the greeting, and returns the answers to them.
fn answers(lines: &[String]) -> Vec<Value> {
    let home = Home::new();
    let top = home.worktree("shop", SHOP);
    let mut command = home.command(crate::support::exe());
    command.arg("mcp").current_dir(&top);
    let input = format!("{GREETING}{}\n", lines.join("\n"));
    let output = client::talk(command, &input, lines.len() + 1);
    let all = output.lines().map(|it| serde_json::from_str::<Value>(it).expect("a message"));
    all.filter(|it| it["id"] != "greeting" && it.get("method").is_none()).collect()
}

#[test]
fn mcp_parameters_of_a_wrong_form_are_refused_as_such() {
    let requests = [
        ("tools/call", json!({"arguments": {}})),
        ("tools/call", json!({"name": "skill", "arguments": "x"})),
        ("prompts/get", json!({})),
        ("resources/read", json!({"uri": 5})),
        ("completion/complete", json!({})),
        ("initialize", json!({})),
        ("tools/unknown", json!({})),
    ];
    let request = |(id, (method, params)): (usize, &(&str, Value))| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    };
    let lines: Vec<_> = requests.iter().enumerate().map(request).collect();
    let found = answers(&lines);
    assert_eq!(found.len(), requests.len());
    for answer in found {
        let expected = if answer["id"] == requests.len() - 1 { -32601 } else { -32602 };
        assert_eq!(answer["error"]["code"], expected, "{answer}");
    }
}

#[test]
fn mcp_lines_that_are_no_messages_and_unknown_cursors_are_refused() {
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(17 << 20));
    let cursor =
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"cursor": "zz"}});
    let lines =
        ["{bad".to_owned(), r#"{"id":3,"method":"ping"}"#.to_owned(), long, cursor.to_string()];
    let mut found: Vec<_> = answers(&lines)
        .into_iter()
        .map(|it| (it["id"].clone(), it["error"]["code"].as_i64().expect("an error")))
        .collect();
    found.sort_by_key(|it| it.0.to_string());
    let expected =
        [(json!(2), -32602), (json!(3), -32600), (Value::Null, -32700), (Value::Null, -32600)];
    assert_eq!(found, expected);
}

#[test]
fn mcp_without_a_client_or_with_all_profiles_exits() {
    let home = Home::new();
    let top = home.worktree("shop", SHOP);
    let mut command = home.command(crate::support::exe());
    command.arg("mcp").current_dir(&top);
    assert_eq!(client::talk(command, "", 0), "");
    let output = crate::support::run(&home, &top, &["mcp", "--profile", "all"]);
    assert_eq!(output.status.code(), Some(2));
    let said = crate::support::stderr(&output);
    assert!(
        said.contains(
            "only `list`, `explain`, `check`, `report` and `budget` accept several profiles"
        ),
        "{said}"
    );
}

async fn skill_enum(agent: &Agent) -> Vec<String> {
    let tools = agent.tools().await;
    let names = &tools[0]["inputSchema"]["properties"]["name"]["enum"];
    let names = names.as_array().into_iter().flatten();
    names.map(|it| it.as_str().expect("a name").to_owned()).collect()
}

async fn wait_until_listed(agent: &Agent, names: &[&str]) {
    // Several changes may be reported one by one.
    while skill_enum(agent).await != names {
        agent.told().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_text_of_a_description_is_removed_wherever_skills_are_listed() {
    let home = Home::new();
    let hidden = "\u{E0068}\u{E0069}\u{202E}\u{2066}\u{200B}";
    let skill = format!(
        "//- /.agents/skills/a/SKILL.md\n---\nname: a\ndescription: Reads{hidden} it.\n---\n"
    );
    let top = home.worktree("w", &skill);
    let agent = Agent::start(&home, &top, &[]).await;
    let ToolOutput::Text(found) = agent.call("search_skills", json!({"query": "a"})).await else {
        panic!("an error")
    };
    let lists = [
        agent.tools().await[0].to_string(),
        agent.resources().await[0].to_string(),
        agent.prompts().await[0].to_string(),
        found,
    ];
    for list in lists {
        let is_hidden = |it: char| hidden.contains(it);
        assert!(list.contains("Reads") && !list.contains(is_hidden), "{list}");
    }
    agent.end().await;
}
