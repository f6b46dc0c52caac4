//! Skills denied by a permission rule: listed as denied with the rule's location, and hidden from
//! the model.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::configuration::configure;
use crate::hooks::hook_output;
use crate::support::{Live, entries, entry, is_built_in, run, stderr, stdout};

const SKILLS: &str = "//- /.git/HEAD
ref: refs/heads/main
//- /opencode.json
{
  \"permission\": { \"skill\": { \"internal-*\": \"deny\" } },
  \"agent\": { \"plan\": { \"permission\": { \"skill\": { \"deploy\": \"deny\" } } } }
}
//- /.agents/skills/internal-notes/SKILL.md
---
name: internal-notes
description: Notes about quarks that nobody may see.
---
Quarks.
//- /.agents/skills/internal-notes/notes.md
More quarks.
//- /.agents/skills/deploy/SKILL.md
---
name: deploy
description: Deploys quarks.
---
Push.
";

fn states(live: &mut Live, top: &Path, more: &Value) -> Vec<String> {
    let mut params = json!({"cwd": top, "profile": "opencode", "include": ["all"]});
    for (name, value) in more.as_object().expect("an object") {
        params[name] = value.clone();
    }
    let list = live.wire.call("skills/list", &params);
    let mut all: Vec<_> = entries(&list)
        .iter()
        .filter(|it| !is_built_in(it))
        .map(|it| format!("{} {}", it["name"], it["state"]).replace('"', ""))
        .collect();
    all.sort();
    all
}

#[test]
fn denied_skill_inside_another_is_not_read_by_its_name() {
    let mut live = Live::start();
    let top = live.home.worktree(
        "w",
        "//- /opencode.json\n{\"permission\": {\"skill\": {\"child\": \"deny\"}}}\n\
         //- /.opencode/skill/parent/SKILL.md\n---\nname: parent\ndescription: d\n---\n\
         //- /.opencode/skill/parent/child/SKILL.md\n---\nname: child\ndescription: d\n---\n\
         //- /.opencode/skill/parent/child/more.md\nno\n\
         //- /.opencode/skill/parent/link.md link=child/more.md\n\
         //- /.opencode/skill/parent/more.md\nyes\n",
    );
    let read = |live: &mut Live, relative: &str| {
        let params =
            json!({"cwd": top, "profile": "opencode", "name": "parent", "relative": relative});
        live.wire.try_call("skills/read", &params)
    };
    assert_eq!(read(&mut live, "more.md").expect("its own file")["content"], "yes\n");
    for denied in ["child/SKILL.md", "child/more.md", "child/../child/more.md", "link.md"] {
        let error = read(&mut live, denied).expect_err(denied);
        assert_eq!(error.code, -32002, "{denied}: {error}");
    }
    let run =
        json!({"cwd": top, "profile": "opencode", "name": "parent", "relative": "child/x.sh"});
    let error = live.wire.try_call("skills/run", &run).expect_err("denied");
    assert_eq!(error.code, -32002, "{error}");
}

#[test]
fn denied_skill_is_listed_as_denied_and_hidden_from_the_model() {
    let mut live = Live::start();
    let top = live.home.worktree("w", SKILLS);
    let at = |more: Value| {
        let mut params = json!({"cwd": top, "profile": "opencode"});
        for (name, value) in more.as_object().expect("an object") {
            params[name] = value.clone();
        }
        params
    };
    let all = live.list_all(&top, "opencode");
    let denied = entry(&all, "internal-notes/SKILL.md");
    assert_eq!(denied["state"], "denied");
    let reason = denied["reason"].as_str().expect("a reason");
    let place = format!("({}:2:30)", top.join("opencode.json").display());
    assert!(reason.contains("the rule `internal-*` denies it") && reason.ends_with(&place));
    let listed = live.wire.call("skills/list", &at(json!({})));
    assert_eq!(crate::support::listed(&listed).len(), 1, "{listed}");
    // No output for the model names the skill or reveals its content.
    for (method, more) in [
        ("skills/search", json!({"query": "quarks"})),
        ("catalog/render", json!({})),
        ("catalog/tool", json!({})),
        ("catalog/budget", json!({})),
        ("skills/dirs", json!({})),
        ("skills/list", json!({})),
    ] {
        let said = live.wire.call(method, &at(more)).to_string();
        assert!(said.contains("deploy") && !said.contains("internal-notes"), "{method}: {said}");
    }
    let missing = live.wire.try_call("skills/load", &at(json!({"name": "internal-note"})));
    let missing = missing.expect_err("no skill has this name");
    assert_eq!(missing.code, -32001);
    let told = format!("{missing}").replace("internal-note\"", "");
    assert!(!told.contains("internal-notes"), "{missing}");
    for (method, more) in [
        ("skills/load", json!({"name": "internal-notes"})),
        ("skills/load", json!({"path": top.join(".agents/skills/internal-notes")})),
        ("skills/resources", json!({"name": "internal-notes"})),
        ("skills/read", json!({"name": "internal-notes", "relative": "notes.md"})),
    ] {
        let error = live.wire.try_call(method, &at(more)).expect_err("it is denied");
        assert_eq!((error.code, &error.data["rule"]["source"]["line"]), (-32002, &json!(2)));
        assert_eq!(error.data["rule"]["pattern"], "internal-*", "{method}");
    }
    let explained = live.wire.call("skills/explain", &at(json!({"name": "internal-notes"})));
    assert_eq!(explained["verdict"]["state"], "denied");
    let summary = explained["verdict"]["summary"].as_str().expect("a sentence");
    assert!(summary.contains("may not use `internal-notes`") && summary.contains(":2:30"));
    let rule = explained["steps"].as_array().expect("steps").iter();
    let mut rule = rule.filter(|it| it["rule"] == "permission/denied");
    assert!(rule.any(|it| it["line"] == 2 && it["outcome"] == "dropped"), "{explained}");
    let status = live.wire.call("server/status", &json!({}));
    assert_eq!(status["worktrees"][0]["skills"]["denied"], 1, "{status}");
}

#[test]
fn claude_code_lists_a_denied_skill_in_both_variants() {
    let mut live = Live::start();
    // The agent does not read `.skillsd.toml`.
    let skills = "//- /.claude/settings.json\n{\"permissions\": {\"deny\": [\"Skill(secret)\"]}}\n//- /.claude/skills/secret/SKILL.md\n---\ndescription: Hides.\n---\nHide.\n//- /.skillsd.toml\npermission.skill = { ours = \"deny\" }\n//- /.claude/skills/ours/SKILL.md\n---\ndescription: Hides.\n---\nHide.\n";
    let top = live.home.worktree("w", skills);
    for profile in ["claude-code", "claude-code@founding"] {
        for name in ["secret", "ours"] {
            let params = json!({"cwd": top, "profile": profile, "name": name});
            let error = live.wire.try_call("skills/load", &params).expect_err("it is denied");
            assert_eq!(error.code, -32002, "{profile}");
            let params = json!({"cwd": top, "profile": profile});
            let listing = live.wire.call("catalog/render", &params);
            let text = listing["text"].as_str().expect("a text");
            assert!(text.contains(&format!("- {name}: Hides.")), "{profile}: {text}");
        }
    }
}

#[test]
fn denied_skill_that_waits_for_a_file_is_neither_listed_nor_loaded() {
    let mut live = Live::start();
    let skills = "//- /.claude/settings.json\n{\"permissions\": {\"deny\": [\"Skill(secret)\"]}}\n//- /.claude/skills/secret/SKILL.md\n---\ndescription: Hides.\npaths: src/**\n---\nHide.\n//- /.claude/skills/secret/notes.md\nMore.\n";
    let top = live.home.worktree("w", skills);
    let mut at = json!({"cwd": top, "profile": "claude-code"});
    let listing = live.wire.call("catalog/render", &at);
    assert!(!listing["text"].as_str().expect("a text").contains("secret"), "{listing}");
    let list = live.wire.call("skills/list", &at);
    assert!(!list.to_string().contains("Hides."), "{list}");
    at["name"] = json!("secret");
    // The agent knows no skill of this name before a matching file is touched.
    for (method, code) in
        [("skills/load", -32001), ("skills/resources", -32002), ("skills/read", -32002)]
    {
        if method == "skills/read" {
            at["relative"] = json!("notes.md");
        }
        let error = live.wire.try_call(method, &at).expect_err("it is denied");
        assert_eq!(error.code, code, "{method}: {error}");
    }
    let file = top.join("src/a");
    let touch = json!({"cwd": top, "profile": "claude-code", "session": "s", "paths": [file]});
    let touched = live.wire.call("session/touch", &touch);
    assert_eq!(touched["activated"], json!([]), "{touched}");
    let event = json!({"session_id": "hooked", "cwd": top, "hook_event_name": "PostToolUse",
        "tool_name": "Read", "tool_input": {"file_path": file}});
    assert_eq!(hook_output(&live.home, "claude-code", &event.to_string()), "");
}

#[test]
fn touch_does_not_report_a_denied_skill_of_a_discovered_directory() {
    let mut live = Live::start();
    let skill = |name: &str| {
        format!(
            "//- /pkg/.claude/skills/{name}/SKILL.md\n---\ndescription: Quarks.\npaths: src/**\n---\nBody.\n"
        )
    };
    let deny = "//- /.claude/settings.json\n{\"permissions\": {\"deny\": [\"Skill(secret)\"]}}\n";
    let top = live.home.worktree("w", &(skill("secret") + &skill("open") + deny));
    for profile in ["claude-code", "claude-code@founding"] {
        let params = json!({"cwd": top, "profile": profile, "session": profile, "paths": [top.join("pkg/a")]});
        let touched = live.wire.call("session/touch", &params);
        let found = touched["discovered"].to_string();
        assert!(found.contains("open"), "{profile}: {touched}");
        assert!(!found.contains("secret"), "{profile}: {touched}");
    }
}

#[test]
fn subagent_permission_rules_apply() {
    let mut live = Live::start();
    let top = live.home.worktree("w", SKILLS);
    let all = ["deploy active", "internal-notes denied"];
    let plan = ["deploy denied", "internal-notes denied"];
    assert_eq!(states(&mut live, &top, &json!({})), all);
    assert_eq!(states(&mut live, &top, &json!({"agent": "plan"})), plan);
    assert_eq!(states(&mut live, &top, &json!({"agent": "build"})), all);
    let load =
        |agent: &str| json!({"cwd": top, "profile": "opencode", "name": "deploy", "agent": agent});
    live.wire.call("skills/load", &load("build"));
    let error = live.wire.try_call("skills/load", &load("plan")).expect_err("it is denied");
    assert_eq!((error.code, &error.data["rule"]["source"]["line"]), (-32002, &json!(3)));
    let tool = json!({"cwd": top, "profile": "opencode", "agent": "plan"});
    assert_eq!(live.wire.call("catalog/tool", &tool)["tool"], Value::Null);
    // A subagent without its own rules shares the default view.
    let status = live.wire.call("server/status", &json!({}));
    assert_eq!(status["worktrees"][0]["views"], 2, "{status}");
}

#[test]
fn permission_rules_of_user_and_repository_apply_to_every_profile() {
    let mut live = Live::start();
    let top = live.home.worktree("w", SKILLS);
    let state = |live: &mut Live, profile: &str| {
        let all = live.list_all(&top, profile);
        entry(&all, "deploy/SKILL.md")["state"].as_str().expect("a state").to_owned()
    };
    assert_eq!(state(&mut live, "codex"), "active");
    let subscription = json!({"cwd": top, "profile": "codex", "kinds": ["skills/changed"]});
    live.wire.call("events/subscribe", &subscription);
    configure(&live.home, "[permission.skill]\n\"dep*\" = \"deny\"\n");
    for profile in ["codex", "opencode", "agentskills"] {
        assert_eq!(state(&mut live, profile), "denied", "{profile}");
    }
    let told = live.wire.note();
    assert_eq!(told["params"]["result"]["kind"], "skills/changed", "subscribers are notified");
    configure(&live.home, "[permission.skill]\n\"dep*\" = \"deny\"\n\"deploy\" = \"allow\"\n");
    assert_eq!(state(&mut live, "codex"), "active");
    fs::write(top.join(".skillsd.toml"), "[permission.skill]\n\"*\" = \"deny\"\n")
        .expect("written");
    assert_eq!(state(&mut live, "codex"), "denied", "a repository may be stricter");
    // It cannot be more permissive; the attempt is reported with its location.
    configure(&live.home, "[permission.skill]\n\"dep*\" = \"deny\"\n");
    fs::write(top.join(".skillsd.toml"), "[permission.skill]\n\"deploy\" = \"allow\"\n")
        .expect("written");
    assert_eq!(state(&mut live, "codex"), "denied");
    let listed = run(&live.home, &top, &["list"]);
    let said = stdout(&listed) + &stderr(&listed);
    let expected = "`permission.skill` cannot allow `deploy`: a repository can only ask or deny";
    assert!(said.contains(expected) && said.contains("line 2, column 12"), "{said}");
    let explained = run(&live.home, &top, &["explain", "deploy", "--profile", "codex"]);
    let said = stdout(&explained);
    assert!(said.contains("skillsd does not offer `deploy`: the rule `dep*` denies it"), "{said}");
}

#[test]
fn mistake_in_a_repository_file_keeps_its_denied_skill_from_being_loaded() {
    let live = Live::start();
    let top = live.home.worktree("w", SKILLS);
    let load = || {
        let loaded = run(&live.home, &top, &["load", "deploy", "--profile", "codex"]);
        (loaded.status.code(), stdout(&loaded) + &stderr(&loaded))
    };
    let file = top.join(".skillsd.toml");
    for text in [
        "[permission]\nskill = { deploy = \"deny\" }\n",
        "[permission\nskill = { deploy = \"deny\" }\n",
        "[permission]\nskill = { deploy = \"denny\" }\n",
        "[permision]\nskill = { deploy = \"deny\" }\n",
    ] {
        fs::write(&file, text).expect("written");
        let (code, said) = load();
        assert_ne!(code, Some(0), "{text}: {said}");
        assert!(!said.contains("Push."), "{text}: {said}");
    }
    // An earlier approval does not cover what a hidden rule may deny.
    let pending = stdout(&run(&live.home, &top, &["permission", "pending", "--json"]));
    let pending: Value = serde_json::from_str(&pending).expect("JSON");
    let id = pending["requests"][0]["id"].as_str().expect("an id").to_owned();
    live.wire.grant("permission/reply", &json!({"id": id, "reply": "always"}));
    // The reply counts once, for the call that it answers.
    load();
    let (code, said) = load();
    assert_ne!(code, Some(0), "{said}");
    fs::write(&file, b"[permission.skill]\n\"depl\xF6y\" = \"deny\"\n").expect("written");
    let (code, said) = load();
    assert_ne!(code, Some(0), "{said}");
    fs::write(&file, "[check.rulez]\nx = 1\n").expect("written");
    let (code, said) = load();
    assert_eq!(code, Some(0), "a mistake in another key hides no rule: {said}");
}
