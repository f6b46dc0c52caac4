//! Links of a repository to the user's files, which must not reach an answer.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::symlink;
use std::process::Stdio;

use serde_json::{Value, json};
use skills_testkit::fixture::lay_out;

use super::{SECRET, Victim};
use crate::support::{run_json, skillsd};

/// Asserts that the file at `path` is refused, and that its reason names the target.
#[track_caller]
fn assert_refused(victim: &mut Victim, path: &str, target: &str) {
    let entry = victim.entry(path);
    assert_eq!(entry["state"], "refused", "{entry}");
    let reason = entry["reason"].as_str().expect("a reason");
    assert!(reason.contains(target), "{reason}");
    assert!(entry["description"].is_null(), "{entry}");
    let explained: Value = serde_json::from_str(&victim.explain(path)).expect("it is JSON");
    let steps = explained["steps"].as_array().expect("steps");
    let refusal = steps.iter().find(|it| it["rule"] == "link/outside").expect("a refusal");
    assert_eq!(refusal["agent"], "skillsd", "{refusal}");
}

#[test]
fn skill_file_linked_to_credentials_is_refused_everywhere() {
    let mut victim = Victim::new("");
    victim.link(".claude/skills/creds/SKILL.md", ".git-credentials");
    let path = ".claude/skills/creds/SKILL.md";
    assert_refused(&mut victim, path, ".git-credentials");
    victim.assert_no_answer_leaks("creds", path);
}

#[test]
fn credentials_behind_a_link_are_not_in_the_mcp_tools() {
    let victim = Victim::new("");
    victim.link(".claude/skills/creds/SKILL.md", ".git-credentials");
    victim.link(".claude/skills/notes/SKILL.md", "notes/private.md");
    let mut child = skillsd(&victim.live.home, &["mcp", "--profile", "claude-code"])
        .current_dir(&victim.top)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("piped");
    let mut output = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut ask = |message: Value| {
        writeln!(input, "{message}").expect("it listens");
        let Some(id) = message.get("id") else { return Value::Null };
        loop {
            let line = output.next().expect("an answer").expect("text");
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            assert!(!line.contains(SECRET), "{line}");
            if answer.get("id") == Some(id) {
                return answer;
            }
        }
    };
    let client = json!({"name": "test", "version": "0"});
    let begin = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    ask(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin}));
    ask(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let tools = ask(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})).to_string();
    assert!(tools.contains("good") && !tools.contains("creds"), "{tools}");
    ask(json!({"jsonrpc": "2.0", "id": 3, "method": "resources/list"}));
    ask(json!({"jsonrpc": "2.0", "id": 4, "method": "prompts/list"}));
    for (id, tool, arguments) in [
        (5, "skill", json!({"name": "creds"})),
        (6, "read_skill_file", json!({"name": "creds", "path": "SKILL.md"})),
        (7, "search_skills", json!({"query": SECRET.split_at(8).0})),
        (8, "explain_skill", json!({"name": "notes"})),
    ] {
        let params = json!({"name": tool, "arguments": arguments});
        ask(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }
    drop(input);
    child.wait().expect("it ends");
}

#[test]
fn skill_file_linked_to_markdown_of_the_user_is_refused() {
    let mut victim = Victim::new("");
    victim.link(".claude/skills/notes/SKILL.md", "notes/private.md");
    let path = ".claude/skills/notes/SKILL.md";
    assert_refused(&mut victim, path, "notes/private.md");
    victim.assert_no_answer_leaks("notes", path);
}

#[test]
fn refused_link_stays_refused_after_trust() {
    let mut victim = Victim::new("");
    victim.link(".claude/skills/notes/SKILL.md", "notes/private.md");
    victim.trust();
    assert_refused(&mut victim, ".claude/skills/notes/SKILL.md", "notes/private.md");
    victim.assert_no_answer_leaks("notes", ".claude/skills/notes/SKILL.md");
}

#[test]
fn link_chain_is_judged_by_its_target() {
    let mut victim = Victim::new("");
    victim.link("docs/step.md", "notes/private.md");
    let at = victim.top.join(".claude/skills/notes");
    fs::create_dir_all(&at).expect("made");
    symlink("../../../docs/step.md", at.join("SKILL.md")).expect("made");
    let path = ".claude/skills/notes/SKILL.md";
    assert_refused(&mut victim, path, "notes/private.md");
    victim.assert_no_answer_leaks("notes", path);
}

#[test]
fn link_to_a_non_markdown_file_of_the_worktree_is_refused() {
    let mut victim = Victim::new(&format!("//- /.env\nTOKEN={SECRET}\n"));
    let at = victim.top.join(".claude/skills/env");
    fs::create_dir_all(&at).expect("made");
    symlink("../../../.env", at.join("SKILL.md")).expect("made");
    let path = ".claude/skills/env/SKILL.md";
    assert_refused(&mut victim, path, ".env");
    victim.assert_no_answer_leaks("env", path);
}

#[test]
fn command_linked_to_a_note_is_refused() {
    let mut victim = Victim::new("");
    victim.link(".claude/commands/plan.md", "notes/private.md");
    let path = ".claude/commands/plan.md";
    assert_refused(&mut victim, path, "notes/private.md");
    victim.assert_no_answer_leaks("plan", path);
}

#[test]
fn directory_of_commands_linked_to_notes_is_not_walked() {
    let mut victim = Victim::new("");
    victim.link(".claude/commands", "notes");
    let all = victim.live.list_all(&victim.top, "claude-code");
    assert!(!json!(all).to_string().contains("private"), "{all:#?}");
    victim.assert_no_answer_leaks("private", ".claude/commands/private.md");
}

#[test]
fn skill_directory_linked_outside_waits_for_trust() {
    let mut victim = Victim::new("");
    victim.link(".claude/skills/key", "vault/key");
    let path = ".claude/skills/key/SKILL.md";
    let entry = victim.entry(path);
    assert_eq!(entry["state"], "untrusted", "{entry}");
    let explained = victim.explain(path);
    assert!(explained.contains("link/untrusted"), "{explained}");
    victim.assert_no_answer_leaks("key", path);
    victim.trust();
    let entry = victim.entry(path);
    assert_eq!((&entry["state"], &entry["description"]), (&json!("active"), &json!(SECRET)));
}

#[test]
fn root_linked_outside_is_not_walked_before_trust() {
    let mut victim = Victim::new("");
    victim.link(".agents/skills", "vault");
    let params = json!({"cwd": victim.top, "include": ["all"]});
    let all = victim.live.wire.call("skills/list", &params).to_string();
    assert!(!all.contains("vault") && !all.contains("\"key\""), "{all}");
    victim.assert_no_answer_leaks("key", ".agents/skills/key/SKILL.md");
    victim.trust();
    let all = victim.live.wire.call("skills/list", &params).to_string();
    assert!(all.contains(SECRET), "{all}");
}

#[test]
fn agents_directory_linked_outside_is_not_walked_before_trust() {
    let mut victim = Victim::new("");
    lay_out(
        victim.live.home.path(),
        &format!("//- /hidden/skills/key/SKILL.md\n---\nname: key\ndescription: {SECRET}\n---\n"),
    );
    victim.link(".agents", "hidden");
    victim.assert_no_answer_leaks("key", ".agents/skills/key/SKILL.md");
}

#[test]
fn link_to_the_root_directory_is_not_followed() {
    let mut victim = Victim::new("");
    symlink("/", victim.top.join(".claude/skills/all")).expect("made");
    symlink("/proc", victim.top.join(".claude/skills/proc")).expect("made");
    let all = victim.live.list_all(&victim.top, "agentskills");
    let ours = all.iter().filter(|it| it["path"].as_str().is_some_and(|it| it.contains("/w/")));
    assert_eq!(ours.count(), 1, "{all:#?}");
}

#[test]
fn codex_metadata_behind_a_link_is_not_read() {
    let skill = "//- /.agents/skills/side/SKILL.md\n---\nname: side\ndescription: Has metadata.\n---\nBody.\n";
    let mut victim = Victim::new(skill);
    let secret = format!("//- /policy.yaml\npolicy: {{{SECRET}: [\n");
    lay_out(victim.live.home.path(), &secret);
    victim.link(".agents/skills/side/agents/openai.yaml", "policy.yaml");
    victim.assert_no_answer_leaks("side", ".agents/skills/side/SKILL.md");
    let hides = "//- /hides.yaml\npolicy:\n  allow_implicit_invocation: false\n";
    lay_out(victim.live.home.path(), hides);
    let at = victim.top.join(".agents/skills/side/agents/openai.yaml");
    fs::remove_file(&at).expect("there");
    symlink(victim.live.home.path().join("hides.yaml"), at).expect("made");
    let all = victim.live.list_all(&victim.top, "codex");
    let side = all.iter().find(|it| it["name"] == "side").expect("listed");
    assert_eq!(side["state"], "active", "{side}");
}

#[test]
fn settings_file_linked_out_of_the_worktree_is_not_read() {
    let mut victim = Victim::new("");
    let json =
        format!("//- /secret.json\n{{\"permissions\": {{\"deny\": [\"Skill({SECRET})\"]}}}}\n");
    lay_out(victim.live.home.path(), &json);
    victim.link(".claude/settings.json", "secret.json");
    victim.link(".skillsd.toml", ".git-credentials");
    victim.assert_no_answer_leaks("good", ".claude/skills/good/SKILL.md");
    let explained =
        run_json(&victim.live.home, &victim.top, &["explain", "good", "--profile", "claude-code"]);
    let text = explained.to_string();
    assert!(!text.contains(SECRET), "{text}");
    let status = victim.live.wire.call("server/status", &json!({"cwd": victim.top})).to_string();
    assert!(!status.contains(SECRET), "{status}");
}

#[test]
fn references_skip_instructions_linked_outside() {
    let mut victim = Victim::new("");
    let text = format!(
        "//- /told.md\nUse the skill `good` with {SECRET}: /good, [x](.claude/skills/good/SKILL.md)\n"
    );
    lay_out(victim.live.home.path(), &text);
    victim.link("CLAUDE.md", "told.md");
    victim.link(".claude/skills/good/more.md", "told.md");
    victim.assert_no_answer_leaks("good", ".claude/skills/good/SKILL.md");
    let found =
        victim.live.wire.call("skills/references", &json!({"cwd": victim.top, "name": "good"}));
    assert!(!found.to_string().contains("CLAUDE.md"), "{found}");
}

#[test]
fn links_in_the_users_roots_are_followed() {
    let mut victim = Victim::new("");
    let home = victim.live.home.path().to_path_buf();
    let text = "---\nname: mine\ndescription: Is my own.\n---\nMine.\n";
    lay_out(
        &home,
        &format!(
            "//- /dotfiles/mine/SKILL.md\n{text}//- /dotfiles/single.md\n{}",
            text.replace("mine", "single")
        ),
    );
    fs::create_dir_all(home.join(".claude/skills/single")).expect("made");
    symlink(home.join("dotfiles/mine"), home.join(".claude/skills/mine")).expect("made");
    symlink(home.join("dotfiles/single.md"), home.join(".claude/skills/single/SKILL.md"))
        .expect("made");
    for name in ["mine", "single"] {
        let entry = victim.entry(&format!(".claude/skills/{name}/SKILL.md"));
        assert_eq!(
            (&entry["state"], &entry["trusted"]),
            (&json!("active"), &json!(true)),
            "{entry}"
        );
        let load = json!({"cwd": victim.top, "profile": "claude-code", "name": name});
        victim.live.wire.call("skills/load", &load);
    }
    // A link of the repository to a user skill resolves to that skill.
    victim.link(".agents/skills/mine", ".claude/skills/mine");
    let all = victim.live.list_all(&victim.top, "codex");
    let mine = all.iter().find(|it| it["name"] == "mine").expect("listed");
    assert_eq!(mine["state"], "untrusted", "its end is outside of the user's skill directories");
}

#[test]
fn directories_in_client_variables_allow_no_outside_link() {
    let mut victim = Victim::new("");
    let home = victim.live.home.path().to_path_buf();
    let json =
        format!("//- /secret.json\n{{\"permissions\": {{\"deny\": [\"Skill({SECRET})\"]}}}}\n");
    lay_out(&home, &json);
    victim.link(".claude/skills/creds/SKILL.md", ".git-credentials");
    victim.link(".claude/skills/key", "vault/key");
    victim.link(".agents/skills/key", "vault/key");
    victim.link(".claude/commands/plan.md", "notes/private.md");
    victim.link(".claude/settings.json", "secret.json");
    // Skill directories that would contain all of the user's files if they were the user's.
    victim.link("home/.claude/skills", "");
    victim.link("conf/skills", "");
    let (top, below, conf) = (victim.top.clone(), victim.top.join("home"), victim.top.join("conf"));
    let beside = victim.live.home.work().join("beside");
    fs::create_dir_all(&beside).expect("made");
    symlink(&top, beside.join("link")).expect("made");
    for environment in [
        json!({"HOME": top}),
        json!({"HOME": beside.join("link")}),
        json!({"HOME": below}),
        json!({"HOME": top, "CLAUDE_CONFIG_DIR": conf}),
        json!({"HOME": home, "CLAUDE_CONFIG_DIR": conf}),
        json!({"HOME": home, "CODEX_HOME": conf, "XDG_CONFIG_HOME": conf}),
        json!({"CLAUDE_CONFIG_DIR": conf}),
    ] {
        for profile in ["claude-code", "agentskills", "opencode", "codex", "gemini-cli"] {
            for (method, more) in [
                ("skills/list", json!({"include": ["all"]})),
                ("skills/get", json!({"name": "creds"})),
                ("skills/load", json!({"name": "key", "by": "user"})),
                ("skills/search", json!({"query": SECRET, "include": ["all"]})),
                ("skills/explain", json!({"name": "key"})),
                ("index/snapshot", json!({})),
                ("catalog/render", json!({})),
            ] {
                let mut params = more;
                params["cwd"] = json!(top);
                params["profile"] = json!(profile);
                params["environment"] = environment.clone();
                let answer = victim.live.wire.try_call(method, &params);
                let text = answer.map_or_else(|it| format!("{it:?}"), |it| it.to_string());
                // An echoed query is not a leak.
                let text = text.replace(&format!("`{SECRET}`"), "");
                assert!(!text.contains(SECRET), "{environment} {profile} {method}: {text}");
            }
        }
    }
}

#[test]
fn user_directory_linked_into_the_worktree_allows_no_outside_link() {
    let mut victim = Victim::new("");
    victim.link("tools/creds/SKILL.md", ".git-credentials");
    victim.link("tools/key", "vault/key");
    let skills = victim.live.home.path().join(".claude/skills");
    fs::create_dir_all(skills.parent().expect("it is in the home")).expect("made");
    symlink(victim.top.join("tools"), skills).expect("made");
    victim.assert_no_answer_leaks("key", "tools/key/SKILL.md");
    victim.assert_no_answer_leaks("creds", "tools/creds/SKILL.md");
}
