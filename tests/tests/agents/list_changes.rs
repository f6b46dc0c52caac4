//! Changes of skills while an agent runs: which agents list them by themselves (`lists_changes` in
//! the profiles), and what our hook tells the models of the others.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use skills_agents::profile;
use skills_testkit::model::ModelRequest;
use skills_testkit::wait::within;
use skills_testkit::{Home, Model, Turn};

use crate::agent_fixture::{Agent, AgentFixture, CLAUDE_ENVIRONMENT, claude_code};

/// Maximum number of prompts until an agent has seen a change.
const PROMPTS: usize = 40;

/// Time limit for one answer.
const TIMEOUT: Duration = Duration::from_mins(1);

fn lists_changes(id: &str) -> bool {
    profile::find(id).unwrap().lists_changes
}

/// Runs an agent that adds a skill and loads it, with our hooks registered.
#[track_caller]
fn told_by_the_hook(agent: Agent, dir: &str, shell: &str, load: &str, refused: &str) {
    let tree = format!(
        "//- /proj/{dir}/first/SKILL.md\n---\nname: first\ndescription: First.\n---\nBody.\n"
    );
    let Some(fixture) = AgentFixture::set(agent, &tree, Vec::new()) else { return };
    let fixture = fixture.with_known_model();
    let add = format!(
        "mkdir -p {dir}/later && printf -- '---\\nname: later\\ndescription: Later.\\n---\\nBody.\\n' > {dir}/later/SKILL.md"
    );
    let run = |command: &str| {
        Turn::call(shell, json!({"command": command, "description": "Adds a skill"}))
    };
    fixture.model.follow(vec![
        run(&add),
        run("true"),
        Turn::call(load, json!({"name": "later"})),
        Turn::say("Done."),
    ]);
    fixture.register();
    // Puts `skillsd` on the agent's path.
    fixture.manage(&["--version"]);
    fixture.run("Do it.");

    let texts: Vec<_> = fixture.model.turns().iter().map(ModelRequest::text).collect();
    let file = fixture.cwd().join(dir).join("later/SKILL.md");
    let news = format!("- later: Later. (new; file: {})", file.display());
    assert!(texts[1].contains(&news), "{agent:?} was not told: {}", texts[1]);
    assert_eq!(texts[3].matches(&news).count(), 1, "{agent:?} was told again");
    assert!(texts[3].contains(refused), "{agent:?} loaded the skill: {}", texts[3]);
    assert!(!lists_changes(agent.name()));
}

#[test]
fn opencode_refuses_an_added_skill_and_is_told_its_file() {
    told_by_the_hook(
        Agent::OpenCode,
        ".opencode/skills",
        "bash",
        "skill",
        r#"Skill "later" not found"#,
    );
}

#[test]
fn gemini_refuses_an_added_skill_and_is_told_its_file() {
    told_by_the_hook(
        Agent::GeminiCli,
        ".gemini/skills",
        "run_shell_command",
        "activate_skill",
        "later",
    );
}

/// An agent that takes prompts on its standard input.
struct RunningAgent {
    child: Child,
}

impl RunningAgent {
    fn start(mut command: Command) -> Self {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        Self { child: child.spawn().unwrap() }
    }

    fn write(&mut self, message: &Value) {
        let stdin = self.child.stdin.as_mut().unwrap();
        writeln!(stdin, "{message}").unwrap();
        stdin.flush().unwrap();
    }

    /// Sends prompts until a request contains `text`.
    #[track_caller]
    fn prompt_until(&mut self, model: &Model, text: &str, prompt: &Value) {
        for _ in 0..PROMPTS {
            let n_turns = model.turns().len();
            self.write(prompt);
            let answered = within(TIMEOUT, || model.turns().get(n_turns).map(ModelRequest::text));
            if answered.expect("the agent takes the prompt").contains(text) {
                return;
            }
            // The agent takes the next prompt after the answer, and notices a change in its time.
            std::thread::sleep(Duration::from_millis(500));
        }
        panic!("no request contains `{text}`");
    }
}

impl Drop for RunningAgent {
    fn drop(&mut self) {
        // It may have exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn answers() -> Vec<Turn> {
    vec![Turn::say("Done."); 3 * PROMPTS]
}

fn write_skill(home: &Home, dir: &str, description: &str) {
    let dir = home.work().join("proj").join(dir).join("later");
    fs::create_dir_all(&dir).unwrap();
    let text = format!("---\nname: later\ndescription: {description}\n---\nBody.\n");
    fs::write(dir.join("SKILL.md"), text).unwrap();
}

#[test]
fn claude_code_lists_added_and_changed_skills_by_itself() {
    let Some(program) = claude_code() else { return };
    let home = Home::new();
    let top = home.worktree("proj", "");
    home.lay_out("//- /proj/.claude/skills/first/SKILL.md\n---\ndescription: First.\n---\nBody.\n");
    let model = Model::start(answers());
    let mut command = home.command(program);
    command.envs(CLAUDE_ENVIRONMENT).env("ANTHROPIC_BASE_URL", model.url()).current_dir(top);
    command.args(["-p", "--output-format", "stream-json", "--verbose"]);
    command.args(["--input-format", "stream-json"]);
    let mut agent = RunningAgent::start(command);
    let message = json!({"role": "user", "content": "Go."});
    let prompt = json!({"type": "user", "message": message});
    agent.prompt_until(&model, "- first: First.", &prompt);
    write_skill(&home, ".claude/skills", "Later.");
    agent.prompt_until(&model, "- later: Later.", &prompt);
    write_skill(&home, ".claude/skills", "Changed.");
    agent.prompt_until(&model, "- later: Changed.", &prompt);
    assert!(lists_changes("claude-code"));
}

#[test]
fn codex_lists_added_and_changed_skills_by_itself() {
    let tree = "//- /proj/.agents/skills/first/SKILL.md\n---\nname: first\ndescription: First.\n---\nBody.\n";
    let Some(fixture) = AgentFixture::set(Agent::Codex, tree, answers()) else { return };
    let mut command = fixture.command();
    command.arg("app-server");
    let mut agent = RunningAgent::start(command);
    let mut lines = BufReader::new(agent.child.stdout.take().unwrap()).lines();
    let mut answer = |id: u64| {
        let messages =
            lines.by_ref().map(|it| serde_json::from_str::<Value>(&it.unwrap()).unwrap());
        messages.into_iter().find(|it| it["id"] == id && it.get("method").is_none()).unwrap()
    };
    let info = json!({"name": "test", "title": "Test", "version": "1"});
    agent.write(&json!({"id": 1, "method": "initialize", "params": {"clientInfo": info}}));
    answer(1);
    agent.write(&json!({"method": "initialized"}));
    agent.write(&json!({"id": 2, "method": "thread/start", "params": {"cwd": fixture.cwd()}}));
    let thread = answer(2)["result"]["thread"]["id"].clone();
    // Reads what the agent sends, which would otherwise block it.
    std::thread::spawn(move || lines.for_each(drop));
    let input = json!([{"type": "text", "text": "Go."}]);
    let params = json!({"threadId": thread, "input": input});
    let prompt = json!({"id": 3, "method": "turn/start", "params": params});
    agent.prompt_until(&fixture.model, "- first: First.", &prompt);
    write_skill(&fixture.home, ".agents/skills", "Later.");
    agent.prompt_until(&fixture.model, "- later: Later.", &prompt);
    write_skill(&fixture.home, ".agents/skills", "Changed.");
    agent.prompt_until(&fixture.model, "- later: Changed.", &prompt);
    assert!(lists_changes("codex"));
}
