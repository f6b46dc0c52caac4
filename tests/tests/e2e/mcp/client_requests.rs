//! Requests from the server to its client (roots, elicitation), and completion of arguments.

use std::path::Path;

use rmcp::model::{ElicitResult, ElicitationAction, Reference};
use serde_json::json;
use skills_testkit::{Home, fixture};

use super::client::{self, Agent, ToolOutput};
use super::{SHOP, skill_enum, wait_until_listed};

#[tokio::test(flavor = "multi_thread")]
async fn mcp_roots_select_the_worktrees() {
    let home = Home::new();
    let [one, two] = ["one", "two"].map(|name| {
        let skill = format!(
            "//- /.agents/skills/{name}/SKILL.md\n{}",
            fixture::skill_text(name, "Is there.")
        );
        home.worktree(name, &skill)
    });
    let elsewhere = home.worktree("elsewhere", "//- /src dir\n");
    let agent = Agent::rooted(&home, &elsewhere, &[], &[&one]).await;
    assert_eq!(skill_enum(&agent).await, ["one"]);
    agent.set_roots(&[&two, &one]).await;
    wait_until_listed(&agent, &["two", "one"]).await;
    agent.set_roots(&[&two]).await;
    wait_until_listed(&agent, &["two"]).await;
    agent.set_roots(&[Path::new("/nowhere/at/all")]).await;
    wait_until_listed(&agent, &[]).await;
    agent.end().await;
    // A `--cwd` on the command line takes precedence over roots.
    let cwd = ["--cwd", two.to_str().unwrap()];
    let agent = Agent::rooted(&home, &elsewhere, &cwd, &[&one]).await;
    assert_eq!(skill_enum(&agent).await, ["two"]);
    agent.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_roots_apply_from_the_first_call_without_initialize() {
    let home = Home::new();
    let top = home.worktree("shop", SHOP);
    let elsewhere = home.worktree("elsewhere", "//- /src dir\n");
    for nth in 0..3 {
        let agent = Agent::discover_rooted(&home, &elsewhere, &[&top]).await;
        assert_eq!(skill_enum(&agent).await, [""; 0], "it was started elsewhere");
        let mut heard = agent.listen().await;
        // Whichever call comes first already uses the roots.
        match nth {
            0 => {
                let said = agent.call("skill", json!({"name": "pdf"})).await;
                assert!(
                    matches!(&said, ToolOutput::Text(text) if text.contains("# PDF")),
                    "{said:?}"
                );
            }
            1 => {
                let read = agent.read("skill://pdf/SKILL.md").await.unwrap();
                assert_eq!(read["mimeType"], "text/markdown");
            }
            _ => {
                let text = agent.prompt("deploy", json!({"arguments": "now"})).await.unwrap();
                assert!(text.contains("Deploy"), "{text}");
            }
        }
        for _ in 0..3 {
            heard.next().await;
        }
        assert_eq!(skill_enum(&agent).await, ["deploy", "pdf"]);
        let said = agent.call("read_skill_file", json!({"name": "pdf"})).await;
        assert!(matches!(said, ToolOutput::Text(_)), "the client is not asked twice: {said:?}");
        agent.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_elicitation_asks_before_a_skill_is_loaded() {
    let text = "---\ndescription: Deploys.\nallowed-tools: Bash\n---\nDeploy.\n";
    let accept = |answer: &str| {
        ElicitResult::new(ElicitationAction::Accept).with_content(json!({"answer": answer}))
    };
    for is_present in [false, true] {
        let home = Home::new();
        let top = home.worktree("shop", &format!("//- /.claude/skills/deploy/SKILL.md\n{text}"));
        let answers = vec![
            ElicitResult::new(ElicitationAction::Cancel),
            ElicitResult::new(ElicitationAction::Decline),
            accept("reject"),
            accept("once"),
            accept("always"),
        ];
        let agent = Agent::answering(&home, &top, is_present, answers).await;
        let load = async || agent.call("skill", json!({"name": "deploy"})).await;
        // A cancelled elicitation is not an answer; the approval stays pending.
        let cancelled = load().await;
        assert!(matches!(&cancelled, ToolOutput::Error(it) if it.contains("permission reply")));
        for _ in 0..2 {
            let refused = load().await;
            let no = "the user refused the use of `deploy`";
            assert!(matches!(&refused, ToolOutput::Error(it) if it.contains(no)), "{refused:?}");
        }
        // After `always` the user is not asked again.
        for _ in 0..3 {
            let loaded = load().await;
            assert!(
                matches!(&loaded, ToolOutput::Text(it) if it.ends_with("Deploy.\n")),
                "{loaded:?}"
            );
        }
        agent.end().await;
    }
}

#[test]
fn mcp_elicitation_without_an_answer_in_time_is_refused() {
    let home = Home::new();
    crate::configuration::configure(
        &home,
        "[permission]\ntimeout = 1\n[permission.skill]\npdf = \"ask\"\n",
    );
    let top = home.worktree("shop", SHOP);
    let mut command = home.command(crate::support::exe());
    command.arg("mcp").current_dir(&top);
    let input = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"skill","arguments":{"name":"pdf"}}}"#,
        "\n",
    );
    // The greeting, the question, its withdrawal and the refusal.
    let output = client::talk(command, input, 4);
    assert!(output.contains("elicitation/create"), "{output}");
    assert!(output.contains("notifications/cancelled"), "{output}");
    assert!(output.contains("The user did not answer in time"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_completion_offers_argument_values_and_files() {
    let home = Home::new();
    let task = "//- /.agents/skills/task/SKILL.md\n---\nname: task\ndescription: Keeps tasks.\narguments: [what, item]\nargument-hint: \"[add|remove] <item>\"\n---\nDo $what.\n";
    let top = home.worktree("shop", &format!("{SHOP}{task}"));
    let agent = Agent::start(&home, &top, &[]).await;
    assert!(agent.info()["capabilities"]["completions"].is_object());
    let prompt = || Reference::for_prompt("task");
    assert_eq!(agent.offered(prompt(), ("what", ""), &[]).await, ["add", "remove"]);
    assert_eq!(agent.offered(prompt(), ("what", "r"), &[]).await, ["remove"]);
    assert_eq!(agent.offered(prompt(), ("arguments", "a"), &[]).await, ["add"]);
    let file = || Reference::for_resource("skill://{name}/{+path}");
    assert_eq!(agent.offered(file(), ("name", "p"), &[]).await, ["pdf"]);
    let of_pdf = [("name", "pdf")];
    let all = ["SKILL.md", "reference/forms.md", "seal.png"];
    assert_eq!(agent.offered(file(), ("path", ""), &of_pdf).await, all);
    assert_eq!(agent.offered(file(), ("path", "ref"), &of_pdf).await, ["reference/forms.md"]);
    agent.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_refusal_names_the_command_that_answers_it() {
    let home = Home::new();
    let text = "---\ndescription: Deploys.\nallowed-tools: Bash\n---\nDeploy.\n";
    let top = home.worktree("shop", &format!("//- /.claude/skills/deploy/SKILL.md\n{text}"));
    let agent = Agent::start(&home, &top, &["--profile", "claude-code"]).await;
    let asked = agent.call("skill", json!({"name": "deploy"})).await;
    let ToolOutput::Error(text) = &asked else { panic!("{asked:?}") };
    // The model asks the user, and is not offered `always`.
    assert!(text.contains("Only the user can approve") && !text.contains("always"), "{text}");
    let file = || json!({"name": "deploy", "path": "SKILL.md"});
    let unread = agent.call("read_skill_file", file()).await;
    assert!(matches!(&unread, ToolOutput::Error(it) if it.contains("Only the user")), "{unread:?}");
    let error = agent.read("skill://deploy/SKILL.md").await.unwrap_err();
    assert!(error.contains("Only the user can approve"), "{error}");
    let (_, reply) = text.split_once("`skillsd permission reply ").expect("how it is answered");
    let (id, _) = reply.split_once(" once`").expect("an answer");
    let args = ["permission", "reply", id, "once"];
    let (code, said) = crate::support::run_at_terminal(&home, &top, &args, "y");
    assert_eq!(code, Some(0), "{said}");
    let loaded = agent.call("skill", json!({"name": "deploy"})).await;
    assert!(matches!(&loaded, ToolOutput::Text(text) if text.ends_with("Deploy.\n")), "{loaded:?}");
    // Access to the skill includes its files.
    let read = agent.call("read_skill_file", file()).await;
    assert!(matches!(&read, ToolOutput::Text(text) if text.ends_with("Deploy.\n")), "{read:?}");
    agent.read("skill://deploy/SKILL.md").await.unwrap();
    agent.end().await;
}
