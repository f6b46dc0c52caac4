//! Options of `skillsd check` that change its scope or its output.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use skills_testkit::Home;

use crate::support::{run, run_at_terminal, run_json, stderr, stdout};

const TREE: &str = "//- /.agents/skills/a/SKILL.md\n---\nname: a\ndescription: Use when: asked\nmetadata:\n  version: 1.10\n---\nBody.\n\
     //- /.agents/skills/b/SKILL.md\n---\nname: b\ndescription: Use when: asked\nlicence: MIT\n---\nSee [x](references/x.md).\n\
     //- /.agents/skills/c/SKILL.md\n---\nname: c\ndescription: [\n---\nBody.\n";

fn fixture() -> (Home, PathBuf) {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    (home, top)
}

#[test]
fn check_with_errors_only_reports_and_fails_for_errors_alone() {
    let (home, top) = fixture();
    let all = stdout(&run(&home, &top, &["check"]));
    assert!(all.contains("error[") && all.contains("warning["), "{all}");
    let output = run(&home, &top, &["check", "--errors-only"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("error[yaml/") && !text.contains("warning"), "{text}");
    let text = "---\nname: b\ndescription: Use when asked.\nlicence: MIT\n---\nB.\n";
    for name in ["a", "b", "c"] {
        let text = text.replace("name: b", &format!("name: {name}"));
        fs::write(top.join(format!(".agents/skills/{name}/SKILL.md")), text).expect("written");
    }
    assert_eq!(run(&home, &top, &["check"]).status.code(), Some(1));
    let output = run(&home, &top, &["check", "--errors-only"]);
    assert_eq!((output.status.code(), stdout(&output).contains("no findings")), (Some(0), true));
}

#[test]
fn check_with_summary_counts_findings_per_rule() {
    let (home, top) = fixture();
    let text = stdout(&run(&home, &top, &["check", "--summary"]));
    let colon = text.lines().find(|it| it.contains("yaml/unquoted-colon")).expect("counted");
    assert_eq!(colon.split_whitespace().collect::<Vec<_>>()[..2], ["2", "warning"], "{text}");
    assert!(colon.ends_with("in 2 files"), "{text}");
    assert!(!text.contains("SKILL.md"), "{text}");
    let output = run(&home, &top, &["check", "--summary", "--json"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn diff_of_fixes_changes_no_file() {
    let (home, top) = fixture();
    let file = top.join(".agents/skills/a/SKILL.md");
    let before = fs::read_to_string(&file).expect("there");
    let output = run(&home, &top, &["check", "--fix", "--diff"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(".agents/skills/a/SKILL.md\n"), "{text}");
    assert!(text.contains("  -description: Use when: asked\n"), "{text}");
    assert!(text.contains("  +description: \"Use when: asked\"\n"), "{text}");
    assert!(text.ends_with("2 files would be changed\n"), "{text}");
    assert_eq!(fs::read_to_string(&file).expect("there"), before);
    run(&home, &top, &["check", "--fix"]);
    assert_eq!(run(&home, &top, &["check", "--fix", "--diff"]).status.code(), Some(0));
}

#[test]
fn fix_renames_no_skill_that_texts_mention() {
    let skill = |name: &str, body: &str| {
        format!("---\nname: {name}\ndescription: Syncs data. Use when asked to.\n---\n{body}\n")
    };
    let home = Home::new();
    let mentioned = skill("data_sync", "Sync the data.");
    let tree = format!(
        "//- /.claude/skills/data-sync/SKILL.md\n{mentioned}//- /.claude/skills/fill-form/SKILL.md\n{}//- /CLAUDE.md\nUse /data_sync.\n",
        skill("Fill Form", "Fill the form."),
    );
    let top = home.worktree("w", &tree);
    let output = stdout(&run(&home, &top, &["--no-daemon", "--json", "check", "--fix"]));
    assert!(output.contains("may mention the old name"), "{output}");
    let read =
        |dir: &str| fs::read_to_string(top.join(".claude/skills").join(dir).join("SKILL.md"));
    assert_eq!(read("data-sync").expect("it is there"), mentioned);
    assert_eq!(read("fill-form").expect("it is there"), skill("fill-form", "Fill the form."));
}

#[test]
fn fix_leaves_hints_to_the_user() {
    let (home, top) = fixture();
    let hint = stdout(&run(&home, &top, &["check"]));
    assert!(hint.contains("hint[yaml/ambiguous-scalar]"), "{hint}");
    run(&home, &top, &["check", "--fix"]);
    let text = fs::read_to_string(top.join(".agents/skills/a/SKILL.md")).expect("there");
    assert!(text.contains("version: 1.10\n") && text.contains("\"Use when: asked\""), "{text}");
    // The level of a rule is the user's choice.
    let config = "[check.rules]\n\"yaml/ambiguous-scalar\" = \"warning\"\n";
    fs::write(top.join(".skillsd.toml"), config).expect("written");
    run(&home, &top, &["check", "--fix"]);
    let text = fs::read_to_string(top.join(".agents/skills/a/SKILL.md")).expect("there");
    assert!(text.contains("version: \"1.10\"\n"), "{text}");
    // A byte order mark is a hint too, unless an agent drops the file for it.
    let marked = "\u{FEFF}---\nname: a\ndescription: Use when asked.\n---\nRead.\n";
    fs::write(top.join(".agents/skills/a/SKILL.md"), marked).expect("written");
    for (profile, expected) in [("agentskills", marked), ("codex", &marked[3..])] {
        run(&home, &top, &["check", "--fix", "--profile", profile]);
        let text = fs::read_to_string(top.join(".agents/skills/a/SKILL.md")).expect("there");
        assert_eq!(text, expected, "{profile}");
    }
}

#[test]
fn check_reports_a_broken_configuration_in_every_format() {
    let home = Home::new();
    let top = home.worktree(
        "w",
        "//- /.agents/skills/a/SKILL.md\n---\nname: a\ndescription: Use when asked.\n---\nBody.\n\
         //- /.skillsd.toml\nprofile = \"codex\"\n[check\n",
    );
    for (format, expected) in [
        ("human", ".skillsd.toml:2:7: error[config] "),
        ("github", "::error file=.skillsd.toml,line=2,col=7,"),
        ("json", "\"code\":\"config\""),
        ("sarif", "\"ruleId\": \"config\""),
    ] {
        let output = run(&home, &top, &["check", "--format", format]);
        let text = stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{text}{}", stderr(&output));
        assert!(text.contains(expected), "{text}");
        assert!(!stderr(&output).contains(".skillsd.toml"), "{}", stderr(&output));
    }
    // An empty file has no mistake.
    fs::write(top.join(".skillsd.toml"), "").expect("written");
    assert_eq!(run(&home, &top, &["check"]).status.code(), Some(0));
}

#[test]
fn check_of_the_home_directory_asks_first() {
    let (home, _) = fixture();
    let dir = home.path();
    let output = run(&home, dir, &["check"]);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.contains("would search everything below `~`"), "{text}");
    assert!(text.contains("skillsd check ."), "{text}");
    let root = run(&home, std::path::Path::new("/"), &["check"]);
    assert_eq!(root.status.code(), Some(2), "{}", stderr(&root));
    let (code, shown) = run_at_terminal(&home, dir, &["check"], "n");
    assert_ne!(code, Some(0));
    assert!(shown.contains("Nothing was checked"), "{shown}");
    assert_eq!(run(&home, dir, &["check", "."]).status.code(), Some(0));
}

#[test]
fn globs_match_from_the_working_directory_like_touched_files() {
    let home = Home::new();
    let skill = "//- /.claude/skills/lib/SKILL.md\n---\nname: lib\ndescription: d\npaths: /src/*.rs\n---\nb\n";
    let top = home.worktree("w", &format!("{skill}//- /sub/src/a.rs\n//\n"));
    let sub = top.join("sub");
    let has_finding = |cwd: &Path| {
        let skill = top.join(".claude/skills/lib").display().to_string();
        let args = ["check", &*skill, "--profile", "claude-code"];
        run_json(&home, cwd, &args).to_string().contains("paths/nothing")
    };
    let activates = |cwd: &Path, session: &str| {
        let file = sub.join("src/a.rs").display().to_string();
        let args = ["touch", &*file, "--session", session, "--profile", "claude-code"];
        run_json(&home, cwd, &args)["activated"] != json!([])
    };
    assert!(activates(&sub, "sub") && !has_finding(&sub));
    assert!(!activates(&top, "top") && has_finding(&top));
}
