//! Loading skills over the socket and with the command line.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use skills_testkit::Framing;

use crate::support::{Live, run, run_json, stderr, stdout};

const SKILLS: &str = "//- /.claude/skills/greet/SKILL.md
---
description: Greets.
arguments: who
allowed-tools: Read
---
Greet $who from ${CLAUDE_PROJECT_DIR}.

- !`git log -1`
//- /.claude/skills/greet/names.txt
Ann
";

#[test]
fn load_substitutes_arguments() {
    let live = Live::start();
    let top = live.home.worktree("w", SKILLS);
    let args = ["load", "greet", "the whole world", "--by", "user", "--profile", "claude-code"];
    let output = run(&live.home, &top, &args);
    let expected = "Base directory for this skill: $WORK/w/.claude/skills/greet\n\n\
                    Greet the whole world from $WORK/w.\n\n- !`git log -1`\n";
    assert_eq!(live.home.redact(&stdout(&output)), expected, "{}", stderr(&output));
    assert!(stderr(&output).contains("The agent must run a command of this skill"));
    let json = run_json(&live.home, &top, &args);
    assert_eq!(json["commands"][0]["command"], "git log -1");
    assert_eq!(json["metadata"]["allowedTools"], json!(["Read"]));
    let local = run_json(&live.home, &top, &[&args[..], &["--no-daemon"]].concat());
    assert_eq!((&local["output"], &local["commands"]), (&json["output"], &json["commands"]));
}

#[test]
fn command_line_loads_a_skill_named_as_a_slash_command() {
    let live = Live::start();
    let skills =
        "//- /.claude/skills/greet/SKILL.md\n---\nname: greet\ndescription: Greets.\n---\nHello.\n";
    let top = live.home.worktree("w", skills);
    for profile in ["claude-code", "claude-code@founding", "agentskills", "opencode"] {
        let load = |name| run(&live.home, &top, &["load", name, "--profile", profile]);
        let named = load("greet");
        assert!(named.status.success(), "{profile}: {}", stderr(&named));
        for name in ["/greet", " /greet ", "\t/greet\n"] {
            assert_eq!(stdout(&load(name)), stdout(&named), "{profile} {name:?}");
        }
        assert_eq!(load("/gree").status.code(), Some(1), "{profile}");
    }
}

#[test]
fn show_and_load_give_no_word_that_check_calls_ignored() {
    let live = Live::start();
    let skills = "//- /.claude/skills/a/SKILL.md\n---\ndescription: Does it. Use when asked.\neffort: ultra\nshell: fish\nmodel: HAIKU\ncontext: banana\nversion: 1.10\n---\nDo it.\n";
    let top = live.home.worktree("w", skills);
    let profile = ["--profile", "claude-code"];
    let check = stdout(&run(&live.home, &top, &[&["check"], &profile[..]].concat()));
    for key in ["effort", "shell", "context"] {
        assert!(check.contains(&format!("ignores `{key}`")), "{check}");
    }
    assert!(!check.contains("`version`"), "{check}");
    let shown = run_json(&live.home, &top, &[&["show", "a"], &profile[..]].concat());
    assert_eq!(
        shown["frontmatter"],
        json!({"description": "Does it. Use when asked.", "model": "haiku", "version": "1.10"})
    );
    let shown = stdout(&run(&live.home, &top, &[&["show", "a"], &profile[..]].concat()));
    assert!(!shown.contains("ultra") && shown.contains("ignored"), "{shown}");
    // A skill whose only other field is `version` needs no approval.
    let loaded = run_json(&live.home, &top, &[&["load", "a"], &profile[..]].concat());
    let metadata = &loaded["metadata"];
    assert_eq!((&metadata["effort"], &metadata["context"]), (&Value::Null, &Value::Null));
    assert_eq!(metadata["model"], "haiku");
}

#[test]
fn skill_tool_has_the_description_of_its_variant() {
    let mut live = Live::start();
    let long = "word ".repeat(100);
    let skills = format!("//- /.claude/skills/a/SKILL.md\n---\ndescription: {long}\n---\nDo it.\n");
    let top = live.home.worktree("w", &skills);
    let mut tool = |profile: &str| {
        live.wire.call("catalog/tool", &json!({"cwd": top, "profile": profile}))["tool"].take()
    };
    let plain = tool("claude-code");
    let text = plain["description"].as_str().unwrap();
    assert!(
        text.starts_with("Invoke a skill.\n\n") && text.ends_with("calling again.\n"),
        "{text}"
    );
    let founding = tool("claude-code@founding");
    let text = founding["description"].as_str().unwrap();
    let ends = "- Do not invoke a skill that is already running\n";
    assert!(text.starts_with("Execute a skill within the main conversation\n"), "{text}");
    assert!(text.ends_with(ends), "{text}");
    for tool in [plain, founding] {
        assert_eq!(tool["inputSchema"]["properties"]["skill"]["enum"], json!(["a"]));
    }
    let params = json!({"cwd": top, "profile": "claude-code@founding"});
    let listing = live.wire.call("catalog/render", &params)["text"].take();
    let line = listing.as_str().unwrap().lines().find(|it| it.starts_with("- a: ")).unwrap();
    assert_eq!(line.chars().count(), "- a: ".len() + 250);
}

#[test]
fn second_load_call_inserts_shell_results() {
    let mut live = Live::start();
    let top = live.home.worktree("w", SKILLS);
    let mut params = json!({"cwd": top, "profile": "claude-code", "name": "/greet"});
    // Claude Code asks before it loads a skill with `allowed-tools`, once for both calls.
    let asked = live.wire.try_call("skills/load", &params).expect_err("the user is asked");
    let once = json!({"id": asked.data["requestId"], "reply": "once"});
    live.wire.grant("permission/reply", &once);
    let first = live.wire.call("skills/load", &params);
    let id = first["commands"][0]["id"].clone();
    params["shellResults"] = json!([{"id": id, "output": "!`rm -rf` $who"}]);
    let second = live.wire.call("skills/load", &params);
    assert!(second["output"].as_str().is_some_and(|it| it.ends_with("- !`rm -rf` $who\n")));
    assert_eq!(second["commands"], json!([]));
    assert_eq!(live.wire.try_call("skills/load", &params).expect_err("asked again").code, -32003);
}

#[test]
fn load_and_catalog_accept_format_names() {
    let live = Live::start();
    let top = live.home.worktree("w", SKILLS);
    let output = run(&live.home, &top, &["catalog", "--profile", "claude-code"]);
    assert_eq!(stdout(&output), "- greet: Greets.\n");
    assert!(stderr(&output).contains("1 skill, about 4 tokens."), "{}", stderr(&output));
    let format = ["catalog", "--profile", "claude-code", "--format", "markdown"];
    let output = run(&live.home, &top, &format);
    assert_eq!(stdout(&output), "## Available Skills\n- **greet**: Greets.\n");
    let output = run(&live.home, &top, &["load", "greet", "--format", "nope"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let output = run(&live.home, &top, &["load", "nope", "--profile", "claude-code"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}

/// Rewrites a skill whose frontmatter and body contain the same version number, again and again.
#[test]
fn load_never_mixes_two_versions_of_a_file() {
    let live = Live::start();
    let top = live.home.worktree("w", "");
    let dir = top.join(".claude/skills/v");
    fs::create_dir_all(&dir).expect("it can be made");
    let text = |version: u32| {
        let filling = "x".repeat(version as usize % 7 * 3000);
        format!("---\ndescription: d\nmodel: m{version}\n---\nm{version} {filling}\n")
    };
    // Writes in place, so that a reader may see half of it, and by rename, as most editors do.
    let write = |version: u32| {
        let path = dir.join("SKILL.md");
        if version.is_multiple_of(2) {
            return fs::write(path, text(version));
        }
        let new = dir.join("new");
        fs::write(&new, text(version)).and_then(|()| fs::rename(new, path))
    };
    write(0).expect("it can be written");
    let is_done = AtomicBool::new(false);
    let mut wire = live.daemon.connect(Framing::Header);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for version in 1..400 {
                write(version).expect("it can be written");
            }
            is_done.store(true, Ordering::Relaxed);
        });
        let mut n_loaded = 0;
        while !is_done.load(Ordering::Relaxed) || n_loaded == 0 {
            let params = json!({"cwd": top, "profile": "claude-code", "name": "v"});
            // A file that is empty between opening and writing counts as a version.
            let Ok(loaded) = wire.try_call("skills/load", &params) else { continue };
            let Value::String(model) = &loaded["metadata"]["model"] else { continue };
            let output = loaded["output"].as_str().expect("a text");
            let body = output.split_once("\n\n").map_or("", |(_, body)| body);
            assert!(body.starts_with(&format!("{model} ")), "{model} with {}", &body[..20]);
            n_loaded += 1;
        }
    });
    let params = json!({"cwd": top, "profile": "claude-code", "name": "v"});
    let last = wire.call("skills/load", &params);
    assert_eq!(last["metadata"]["model"], "m399");
}

#[test]
fn load_of_a_denied_skill_names_the_rule() {
    let mut live = Live::start();
    let top = live.home.worktree("w", SKILLS);
    let params = json!({"cwd": top, "profile": "claude-code", "name": "greet", "by": "user"});
    live.wire.call("skills/load", &params);
    let settings = top.join(".claude/settings.json");
    fs::write(&settings, "{\n  \"permissions\": {\n    \"deny\": [\"Skill(greet)\"]\n  }\n}\n")
        .unwrap();
    let error = live.wire.try_call("skills/load", &params).expect_err("it is denied");
    assert_eq!(error.code, -32002, "{error}");
    let rule = &error.data["rule"];
    assert_eq!((&rule["action"], &rule["source"]["line"]), (&json!("deny"), &json!(3)), "{error}");
    fs::remove_file(&settings).unwrap();
    live.wire.call("skills/load", &params);
}

const OPENCODE: &str = "//- /.git/HEAD
ref: refs/heads/main
//- /.agents/skills/b/SKILL.md
---
name: alpha
description: First.
---
Do $ARGUMENTS.
//- /.opencode/skill/a/SKILL.md
---
name: Beta
description: Second.
---
Other.
//- /.opencode/skill/z/SKILL.md
---
name: alpha
description: Third.
---
Third $1.
";

#[test]
fn opencode_command_loads_the_skill_and_ends_in_the_output_of_the_tool_in_founding_notes() {
    let mut live = Live::start();
    let top = live.home.worktree("w", OPENCODE);
    let mut load = |profile: &str, name: &str, by: &str| {
        let params = json!({"cwd": top, "profile": profile, "name": name, "by": by, "args": "x"});
        let loaded = live.wire.call("skills/load", &params);
        loaded["output"].as_str().expect("text").to_owned()
    };
    assert_eq!(load("opencode", "/alpha", "user"), load("opencode", "alpha", "user"));
    assert!(load("opencode", "/alpha", "user").starts_with("Third x."));
    let founding = load("opencode@founding", "/alpha", "user");
    assert_eq!(founding, load("opencode@founding", "alpha", "model"));
    assert!(founding.starts_with("<skill_content name=\"alpha\">\n# Skill: alpha\n\nThird $1."));
}

#[test]
fn founding_notes_on_opencode_keep_the_order_of_the_registry() {
    let mut live = Live::start();
    let top = live.home.worktree("w", OPENCODE);
    let at = |more: Value| {
        let mut params = json!({"cwd": top, "profile": "opencode@founding"});
        params.as_object_mut().expect("an object").extend(more.as_object().expect("one").clone());
        params
    };
    let tool = live.wire.call("catalog/tool", &at(json!({})))["tool"].clone();
    let text = tool["description"].as_str().expect("text");
    assert!(text.starts_with("Load a specialized skill that provides domain-specific"), "{text}");
    let list = "\n\n## Available Skills\n- **alpha**: Third.\n- **Beta**: Second.";
    assert!(text.ends_with(list), "{text}");
    let listed = live.wire.call("catalog/render", &at(json!({})));
    let text = listed["text"].as_str().expect("text");
    assert!(text.find("alpha") < text.find("Beta"), "{text}");
    let missing = live.wire.try_call("skills/load", &at(json!({"name": "x"}))).expect_err("none");
    assert_eq!(missing.message, "Skill \"x\" not found. Available skills: alpha, Beta");
    // Without skills the tool stays; without the tool there is no word about skills.
    let empty = live.home.worktree("empty", "//- /.git/HEAD\nref: refs/heads/main\n");
    let none = json!({"cwd": empty, "profile": "opencode@founding", "emptyText": true});
    let tool =
        live.wire.call("catalog/tool", &json!({"cwd": empty, "profile": "opencode@founding"}));
    assert_eq!(tool["tool"]["description"], "No skills are currently available.");
    let text = live.wire.call("catalog/render", &none)["text"].clone();
    assert!(text.as_str().expect("text").ends_with("<available_skills>\n</available_skills>"));
    fs::write(empty.join("opencode.json"), r#"{"permission": {"skill": "deny"}}"#)
        .expect("written");
    assert_eq!(live.wire.call("catalog/render", &none)["text"], "");
    let tool =
        live.wire.call("catalog/tool", &json!({"cwd": empty, "profile": "opencode@founding"}));
    assert_eq!(tool["tool"], Value::Null);
}

#[test]
fn duplicate_name_is_a_warning_in_health_list_show_check_and_log_for_opencode() {
    let mut live = Live::start();
    let top = live.home.worktree("w", OPENCODE);
    for profile in ["opencode", "opencode@founding"] {
        let at = json!({"cwd": top, "profile": profile});
        let health = live.wire.call("skills/list", &at)["health"].clone();
        let message = health[0]["message"].as_str().expect("text");
        assert_eq!(health[0]["code"], "duplicate", "{health}");
        assert!(message.contains("skills/b/SKILL.md"), "{message}");
        assert!(message.contains("skill/z/SKILL.md"), "{message}");
        for command in [&["list"][..], &["show", "alpha"], &["check"]] {
            let output = run(&live.home, &top, &[command, &["--profile", profile]].concat());
            let said = stdout(&output) + &stderr(&output);
            assert!(said.contains("two skills are named `alpha`"), "{command:?}: {said}");
        }
    }
}
