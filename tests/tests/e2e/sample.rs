//! The sample worktree shown in the README.

use serde_json::json;
use skills_testkit::Home;

use crate::support::{
    Live, PROFILES, assert_same, entry, listed, oracle, run, run_json, sample, stdout,
};

/// Copies the sample to its own worktree; in place it would be part of this repository.
fn copy_sample(home: &Home) -> std::path::PathBuf {
    let top = home.worktree("sample", "//- /README.md\nA small monorepo.\n");
    let status = home.command("cp").arg("-R").arg(sample().join(".")).arg(&top).status();
    assert!(status.expect("cp can be run").success());
    top
}

#[test]
fn sample_lists_equal_the_plain_reader() {
    let home = Home::new();
    let top = copy_sample(&home);
    for cwd in [top.clone(), top.join("packages/web"), top.join("packages/web/src/components")] {
        for profile in PROFILES {
            let result = run_json(&home, &cwd, &["list", "--profile", profile]);
            let expected = oracle(&home, &cwd, profile);
            assert!(expected.len() >= 3, "{expected:?}");
            assert_same(&listed(&result), &expected, &cwd, profile);
        }
    }
}

#[test]
fn sample_skills_left_out_have_reasons() {
    let mut live = Live::start();
    let top = copy_sample(&live.home);
    let all = live.list_all(&top, "agentskills");
    let state = |suffix: &str| {
        let entry = entry(&all, suffix);
        (entry["state"].as_str().unwrap_or_default(), entry["reason"].as_str().unwrap_or_default())
    };
    assert_eq!(state(".agents/skills/commit/SKILL.md").0, "active");
    assert_eq!(state(".agents/skills/api-changes/SKILL.md").0, "active");
    assert_eq!(state(".agents/skills/database-migration/SKILL.md").0, "conditional");

    let (shadowed, reason) = state(".claude/skills/commit/SKILL.md");
    assert_eq!(shadowed, "shadowed");
    assert!(reason.contains(".agents/skills/commit"), "{reason}");

    let (invalid, reason) = state(".claude/skills/changelog/SKILL.md");
    assert_eq!(invalid, "invalid");
    assert!(reason.contains("description"), "{reason}");
}

#[test]
fn unquoted_colon_is_found_on_its_line() {
    let mut live = Live::start();
    let top = copy_sample(&live.home);
    let got = live.wire.call("skills/get", &json!({"cwd": top, "name": "api-changes"}));
    let text = got.to_string();
    let description = got["description"].as_str().unwrap_or_default();
    assert!(description.ends_with("working tree."), "{text}");
    let diagnostics = got["findings"].as_array().expect("a list of findings");
    let line = |finding: &serde_json::Value| finding["range"]["start"]["line"].as_u64();
    assert!(diagnostics.iter().any(|finding| line(finding) == Some(3)), "{text}");
}

#[test]
fn explain_says_why_a_skill_is_missing() {
    let home = Home::new();
    let top = copy_sample(&home);
    let output = run(&home, &top, &["explain", "changelog"]);
    let text = home.redact(&stdout(&output));
    assert!(text.contains("description"), "{text}");
    assert!(text.contains("─ .claude/skills"), "{text}");
    assert!(text.contains("changelog/SKILL.md"), "{text}");
}

#[test]
fn search_finds_skills_by_name_and_description() {
    let mut live = Live::start();
    let top = copy_sample(&live.home);
    let mut names = |params: serde_json::Value| {
        let result = live.wire.call("skills/search", &params);
        let skills = result["skills"].as_array().expect("a list of skills").clone();
        skills
            .iter()
            .map(|it| it["name"].as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(json!({"cwd": top, "query": "comit"}))[0], "commit");
    assert_eq!(names(json!({"cwd": top, "query": "message for staged changes"}))[0], "commit");
    let conditional = "database-migration".to_owned();
    let query = "database migration";
    assert!(!names(json!({"cwd": top, "query": query})).contains(&conditional));
    let with_conditional = json!({"cwd": top, "query": query, "include": ["conditional"]});
    assert_eq!(names(with_conditional)[0], conditional);

    for (params, hint) in [
        (json!({"cwd": top, "query": " "}), "Send a name or a few words"),
        (json!({"cwd": top, "query": "x", "limit": 0}), "1 to 100"),
        (json!({"cwd": top, "query": "x".repeat(1_001)}), "Send less"),
    ] {
        let error = live.wire.try_call("skills/search", &params).expect_err("it is refused");
        assert_eq!(error.code, -32602, "{error}");
        assert!(error.data["hint"].as_str().is_some_and(|it| it.contains(hint)), "{error}");
    }
}

#[test]
fn search_command_prints_matches() {
    let home = Home::new();
    let top = copy_sample(&home);
    let text = stdout(&run(&home, &top, &["search", "message", "for", "staged", "changes"]));
    assert!(text.contains("by default\n\n✓ commit"), "{text}");
    let none = stdout(&run(&home, &top, &["search", "zebra crossing"]));
    assert!(none.contains("No skill matches `zebra crossing`"), "{none}");
    let invalid = stdout(&run(&home, &top, &["search", "changelog", "--profile", "agentskills"]));
    assert!(invalid.contains("No skill matches `changelog`"), "{invalid}");
    assert!(
        invalid.contains("; see `skillsd explain changelog --profile agentskills`"),
        "{invalid}"
    );
}
