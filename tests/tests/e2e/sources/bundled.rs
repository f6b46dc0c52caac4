//! The skills bundled with skillsd.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use skills_testkit::Home;

use super::{names, only_source, start_with};
use crate::configuration::configure;
use crate::support::{run_json, stdout};

const CONFIG: &str = "bundled.profiles = [\"agentskills\", \"opencode\", \"codex\", \"gemini-cli\", \"claude-code\", \"opencode-agent-skills\"]\n";

const THREE: [&str; 3] = ["debug-skills", "migrate-command", "writing-skills"];

#[test]
fn bundled_skills_are_off_until_configured() {
    let (mut live, top) = start_with("");
    assert_eq!(names(&mut live, &top, "agentskills"), ["own"]);
    configure(&live.home, CONFIG);
    for profile in
        ["agentskills", "claude-code", "opencode", "codex", "gemini-cli", "opencode-agent-skills"]
    {
        let names = names(&mut live, &top, profile);
        for name in THREE {
            assert!(names.iter().any(|it| it == name), "{profile}: {names:?}");
        }
    }
    configure(&live.home, "");
    assert_eq!(names(&mut live, &top, "agentskills"), ["own"]);
}

#[test]
fn bundled_skills_are_written_on_first_use() {
    let (mut live, top) = start_with(CONFIG);
    let cache = live.home.cache_dir().join("skillsd/bundled");
    assert_eq!(names(&mut live, &top, "agentskills"), ["own", THREE[0], THREE[1], THREE[2]]);
    assert!(!cache.exists(), "listing writes nothing");
    let params = json!({"cwd": top, "name": "writing-skills", "relative": "references/fields.md"});
    let read = live.wire.call("skills/read", &params);
    assert!(read["content"].as_str().expect("a text").starts_with("# Fields of a SKILL.md\n"));
    let entry = live.wire.call("skills/get", &json!({"cwd": top, "name": "writing-skills"}));
    let path = entry["path"].as_str().expect("a path");
    let text = fs::read_to_string(path).expect("it is a file now");
    assert!(text.starts_with("---\nname: writing-skills\n"), "{text}");
    assert_eq!(entry["scope"], "bundled");
    assert_eq!(entry["trusted"], true);
    let mode = fs::metadata(&cache).expect("it was made").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let resources =
        live.wire.call("skills/resources", &json!({"cwd": top, "name": "writing-skills"}));
    assert_eq!(resources["resources"][0]["relative"], "references/fields.md");
    let source = only_source(&mut live);
    assert_eq!((&source["scope"], &source["skills"]), (&json!("bundled"), &json!(3)));
}

#[test]
fn bundled_skill_is_loaded_with_its_files() {
    let (mut live, top) = start_with(CONFIG);
    let params = json!({"cwd": top, "name": "writing-skills"});
    let loaded = live.wire.call("skills/load", &params);
    let output = loaded["output"].as_str().expect("a text");
    assert!(output.contains("  <file>references/fields.md</file>\n"), "{output}");
    assert_eq!(loaded["files"][0], "references/fields.md");
}

#[test]
fn user_skill_shadows_a_bundled_skill() {
    let (mut live, top) = start_with(CONFIG);
    let own = "---\nname: debug-skills\ndescription: Mine.\n---\nMine.\n";
    for dir in [".agents/skills", ".claude/skills", ".opencode/skills", ".gemini/skills"] {
        let dir = top.join(dir).join("debug-skills");
        fs::create_dir_all(&dir).expect("it can be made");
        fs::write(dir.join("SKILL.md"), own).expect("it can be written");
    }
    live.wire.grant("trust/set", &json!({"dir": top, "trusted": true}));
    for profile in ["agentskills", "claude-code", "opencode", "gemini-cli", "opencode-agent-skills"]
    {
        let all = live.list_all(&top, profile);
        let of_name: Vec<_> = all.iter().filter(|it| it["name"] == "debug-skills").collect();
        let active: Vec<_> = of_name.iter().filter(|it| it["state"] == "active").collect();
        assert_eq!(active.len(), 1, "{profile}: {of_name:?}");
        assert!(active.iter().all(|it| it["scope"] != "bundled"), "{profile}: {active:?}");
        let bundled = of_name.iter().find(|it| it["scope"] == "bundled").expect("it is there");
        assert_eq!(bundled["state"], "shadowed", "{profile}");
    }
}

#[test]
fn bundled_skills_are_the_same_without_a_daemon() {
    let home = Home::new();
    configure(&home, CONFIG);
    let top = home.worktree("w", super::ONE_SKILL);
    let list = |args: &[&str]| run_json(&home, &top, args)["skills"].clone();
    assert_eq!(list(&["list"]), list(&["list", "--no-daemon"]));
    let explained = crate::support::run(&home, &top, &["explain", "debug-skills"]);
    let text = stdout(&explained);
    assert!(text.contains("comes from the skills that come with skillsd"), "{text}");
    let shown = run_json(&home, &top, &["show", "debug-skills", "--no-daemon"]);
    assert!(Path::new(shown["path"].as_str().expect("a path")).is_file());
}

#[test]
fn agent_built_in_skills_are_listed_but_not_loadable() {
    let (mut live, top) = start_with("");
    let mut hidden = |profile: &str| {
        let params = json!({"cwd": top, "profile": profile, "include": ["hidden"]});
        let all = crate::support::entries(&live.wire.call("skills/list", &params));
        let names = all.iter().filter(|it| it["state"] == "hidden").map(|it| it["name"].clone());
        names.collect::<Value>()
    };
    assert_eq!(hidden("opencode"), json!(["customize-opencode"]));
    assert_eq!(hidden("gemini-cli"), json!(["antigravity-support", "skill-creator"]));
    assert_eq!(hidden("opencode@founding"), json!([]));
    assert_eq!(names(&mut live, &top, "opencode"), ["own"]);
    let by = |value: Value| {
        let mut params = json!({"cwd": top, "profile": "opencode"});
        params.as_object_mut().expect("a map").extend(value.as_object().expect("a map").clone());
        params
    };
    let named = by(json!({"name": "customize-opencode"}));
    let entry = live.wire.call("skills/get", &named);
    let expected = json!(["bundled", "builtin://opencode/customize-opencode", false, null]);
    assert_eq!(
        json!([entry["scope"], entry["path"], entry["modelInvocable"], entry["hash"]]),
        expected
    );
    let addressed = by(json!({"path": entry["path"]}));
    assert_eq!(live.wire.call("skills/get", &addressed)["name"], "customize-opencode");
    let refused = live.wire.try_call("skills/load", &named).expect_err("it is refused");
    assert_eq!(refused.code, -32009);
    assert_eq!(
        refused.message,
        "`customize-opencode` is built into opencode; only opencode has its text"
    );
    let resources = live.wire.call("skills/resources", &named);
    assert_eq!(resources["resources"], json!([]));
    assert_eq!(
        live.wire.call("skills/dirs", &by(json!({})))["dirs"].as_array().map(Vec::len),
        Some(1)
    );
    // Every skill in the listing can be loaded.
    let catalog = live.wire.call("catalog/render", &by(json!({})));
    let text = catalog["text"].as_str().expect("a text");
    assert!(text.contains("own") && !text.contains("customize-opencode"), "{text}");
    let explained = crate::support::run(
        &live.home,
        &top,
        &["explain", "customize-opencode", "--profile", "opencode"],
    );
    let text = stdout(&explained);
    assert!(text.contains("it is built into opencode"), "{text}");
    assert!(text.contains("comes from the program of opencode 1.18.33"), "{text}");

    let dir = top.join(".opencode/skills/mine");
    fs::create_dir_all(&dir).expect("it can be made");
    let own = "---\nname: customize-opencode\ndescription: Mine.\n---\nMine.\n";
    fs::write(dir.join("SKILL.md"), own).expect("it can be written");
    let loaded = live.wire.call("skills/load", &named);
    assert!(loaded["output"].as_str().expect("a text").contains("Mine."), "{loaded}");
}
