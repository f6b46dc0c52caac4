//! The loaded text, permissions and safety: statements 128 to 135.

use serde_json::json;

use super::super::{Row, kept, works};

pub(super) const ROWS: &[Row] = &[
    works(128, "The tool's output has a title, the text and the skill's directory.", |it| {
        it.skill("w/.agents/skills/a", "", "Do it.\n");
        let loaded = it.invoke("a");
        assert_eq!(loaded["title"], "Loaded skill: a");
        assert_eq!(
            loaded["output"],
            "<skill_content name=\"a\">\nDo it.\n\nSkill directory: $W/.agents/skills/a\nRelative paths in this skill are relative to the skill directory.\n</skill_content>"
        );
        assert_eq!(loaded["metadata"], json!({"name": "a", "dir": "$W/.agents/skills/a"}));
    }),
    works(129, "One engine decides about permissions of every kind.", |it| {
        it.configure("[permission]\nskill = { \"*\" = \"deny\" }\n");
        for (kind, action) in [("skill", "deny"), ("bash", "ask"), ("edit", "ask")] {
            let params = json!({"permission": kind, "patterns": ["ls"]});
            let answer = it.call("permission/check", params);
            assert_eq!(answer["action"], action, "{answer:#}");
        }
    })
    .deviates(
        "rules are about skills; `bash` and other kinds always ask, as the agent has rules of its own for them",
    ),
    works(130, "A request has its kind, its patterns and what an `always` allows.", |it| {
        it.skills(&["w/.agents/skills/a"]);
        it.restrict("a", "ask");
        let error = it.refusal("skills/load", json!({"name": "a"}));
        let requests = it.call("permission/pending", json!({}))["requests"].clone();
        let requests = requests.as_array().expect("a list");
        let request = requests.iter().find(|it| it["id"] == error.data["requestId"]);
        let request = request.expect("it waits");
        assert_eq!(request["permission"], "skill");
        assert_eq!((&request["patterns"], &request["always"]), (&json!(["a"]), &json!(["a"])));
        it.reply(&request["id"], "always");
        it.invoke("a");
        it.invoke("a");
    }),
    works(131, "Rules have wildcards, and the last one that matches decides.", |it| {
        it.configure(
            "[permission]\nskill = { \"*\" = \"deny\", \"git-*\" = \"allow\", \"git-push\" = \"ask\" }\n",
        );
        for (name, action) in [("other", "deny"), ("git-log", "allow"), ("git-push", "ask")] {
            assert_eq!(it.decision(name), action, "{name}");
        }
    }),
    kept(
        132,
        "Clients are told of requests by events, and any of them may reply.",
        "tests/tests/e2e/permissions.rs",
        "waiting_load_is_answered_by_any_client_with_events",
    ),
    works(133, "Discovery gives no text of a skill to the model.", |it| {
        it.skill("w/.agents/skills/a", "", "Do it.\n");
        for method in ["skills/list", "skills/get", "catalog/render", "catalog/tool"] {
            let answer = it.call(method, json!({"name": "a"})).to_string();
            assert!(answer.contains("Does a.") && !answer.contains("Do it."), "{answer}");
        }
    }),
    works(134, "What a skill says to run is still subject to trust and permission.", |it| {
        it.configure("[run]\nscripts = true\n");
        it.skill("w/.agents/skills/a", "", "Run scripts/run.\n");
        it.files("//- /w/.agents/skills/a/scripts/run mode=0755\n#!/bin/sh\necho ran\n");
        let params = json!({"name": "a", "relative": "scripts/run"});
        assert_eq!(it.refusal("skills/run", params.clone()).code, -32004);
        it.trust();
        assert_eq!(it.call("skills/run", params.clone())["stdout"], "ran\n");
        it.restrict("a", "ask");
        assert_eq!(it.refusal("skills/run", params).code, -32003);
    }),
    works(135, "Order, links and places of other agents are settings.", |it| {
        it.configure(
            "[profiles.agentskills]\nduplicates = \"last-wins\"\nwithout_roots = [\".claude/skills\"]\nevery_root = { links = \"never\", hidden = true }\n",
        );
        it.skills(&["w/.agents/skills/a", "home/.agents/skills/a", "w/.claude/skills/b"]);
        it.skills(&["w/elsewhere/c", "w/.agents/skills/.x/d"]);
        it.files("//- /w/.agents/skills/c link=../../elsewhere/c\n");
        assert_eq!(it.entry("a")["dir"], "$HOME/.agents/skills/a");
        let list = it.call("skills/list", json!({}))["skills"].clone();
        let mut names: Vec<_> =
            list.as_array().expect("a list").iter().filter_map(|it| it["name"].as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["a", "d"]);
    }),
];
