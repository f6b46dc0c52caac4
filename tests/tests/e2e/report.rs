//! `skillsd report`: the page about a worktree, where it is written, and what it replaces.

use std::fs;
use std::path::Path;

use serde_json::Value;
use skills_testkit::Home;
use skills_testkit::daemon::listener;

use crate::support::{run, run_json, stderr, stdout};

/// Skills of several agents: a shadowed name, a broken file, a conditional skill, and files that
/// refer to skills.
const TREE: &str = "//- /.agents/skills/deploy/SKILL.md\n---\nname: deploy\ndescription: Ships to staging. Use when asked to ship.\n---\nRun `/test` first.\n\
     //- /.claude/skills/deploy/SKILL.md\n---\nname: deploy\ndescription: Ships to production. Use when asked.\n---\nAfter `/test`.\n\
     //- /.claude/skills/test/SKILL.md\n---\nname: test\ndescription: Runs the tests. Use before a release.\npaths: 'src/**'\n---\nBody.\n\
     //- /.claude/skills/broken/SKILL.md\n# Broken\n\
     //- /.opencode/skills/deploy/SKILL.md\n---\nname: deploy\ndescription: Ships by itself. Use when asked.\n---\nBody.\n\
     //- /CLAUDE.md\nUse the `deploy` skill.\n";

fn page(home: &Home, top: &Path, args: &[&str]) -> String {
    let output = run(home, top, &[&["report", "--output", "-"], args].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

/// Returns the section of a page with this id.
fn section<'a>(page: &'a str, id: &str) -> &'a str {
    let start = page.split(&format!("<h2 id=\"{id}\">")).nth(1).expect("the section");
    start.split("</section>").next().expect("its end")
}

fn n_rows(section: &str) -> usize {
    section.matches("<tr").count().saturating_sub(1)
}

#[test]
fn report_covers_every_skill_of_every_agent() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let page = page(&home, &top, &[]);
    let lists = run_json(&home, &top, &["list", "--all", "--profile", "all"]);
    let mut skills: Vec<(&Value, &Value)> = Vec::new();
    for (profile, list) in lists.as_object().expect("a list for each profile") {
        assert!(page.contains(&format!(">{profile}</th>")), "{profile}");
        for it in list["skills"].as_array().expect("a list") {
            let key = (&it["name"], &it["path"]);
            if !skills.contains(&key) {
                skills.push(key);
            }
        }
    }
    assert_eq!(n_rows(section(&page, "skills")), skills.len());
    let reasons = section(&page, "left-out");
    assert!(reasons.contains("no frontmatter") && reasons.contains("src/**"), "{reasons}");
    let conflicts = section(&page, "conflicts");
    assert!(conflicts.contains(">.claude/skills/deploy/SKILL.md<"), "{conflicts}");
    let findings = section(&page, "findings");
    assert!(findings.contains(">.claude/skills/broken/SKILL.md:1:1<"), "{findings}");
    assert!(findings.contains("<mark># Broken</mark>"), "{findings}");
    let references = section(&page, "references");
    assert!(references.contains(">CLAUDE.md:1<") && references.contains("<svg"), "{references}");
    assert!(!page.contains(top.to_str().expect("plain")), "a path is absolute");
}

#[test]
fn report_covers_only_the_selected_agents() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let page = page(&home, &top, &["--profile", "codex,claude-code"]);
    assert_eq!(n_rows(section(&page, "agents")), 2);
    let place = |agent: &str| page.find(agent).expect("the agent is on the page");
    assert!(place(">codex<") < place(">claude-code<"));
}

#[test]
fn equal_skills_make_an_equal_report() {
    let home = Home::new();
    let (one, two) = (home.worktree("a/shop", TREE), home.worktree("b/shop", TREE));
    assert_eq!(page(&home, &one, &[]), page(&home, &two, &[]));
    let dated = page(&home, &one, &["--date", "2026-02-03"]);
    assert!(dated.contains(" · 2026-02-03</p>"));
    assert_eq!(dated.replace(" · 2026-02-03", ""), page(&home, &one, &[]));
}

#[test]
fn report_replaces_reports_only() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let file = top.join("skillsd-report.html");
    let output = run(&home, &top, &["report"]);
    assert_eq!(stdout(&output).lines().count(), 1, "{}", stdout(&output));
    let written = fs::read_to_string(&file).expect("it was written");
    assert_eq!(written, page(&home, &top, &[]));
    let output = run(&home, &top, &["report", "--date", "today"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_ne!(fs::read_to_string(&file).expect("it was replaced"), written);

    fs::write(&file, "<!DOCTYPE html><html>mine</html>").expect("written");
    let output = run(&home, &top, &["report"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("is not a report of skillsd"), "{}", stderr(&output));
    assert!(fs::read_to_string(&file).expect("kept").contains("mine"));
    assert!(run(&home, &top, &["report", "--force"]).status.success());
    assert_eq!(fs::read_to_string(&file).expect("replaced"), written);
}

#[test]
fn report_starts_no_daemon_and_names_a_missing_directory() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    assert!(!page(&home, &top, &[]).is_empty());
    assert_eq!(listener(&home.socket()), None, "`report` starts no daemon");
    let output = run(&home, &top, &["report", "--output", "no/such/dir.html"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("failed to write"), "{}", stderr(&output));
    let output = run(&home, &top, &["report", "--output", ".claude"]);
    assert!(stderr(&output).contains("is not a regular file"), "{}", stderr(&output));
}

#[test]
fn report_of_home_directory_needs_its_name() {
    let home = Home::new();
    let output = run(&home, home.path(), &["report", "--output", "-"]);
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    let said = stderr(&output);
    assert!(said.contains("`skillsd report` would search everything below `~`"), "{said}");
    assert!(said.contains("`skillsd report --cwd ~`"), "{said}");
    let named = run(&home, home.path(), &["report", "--output", "-", "--cwd", "."]);
    assert!(named.status.success(), "{}", stderr(&named));

    // The worktree decides, not the directory within it.
    fs::create_dir(home.path().join(".git")).expect("made");
    fs::create_dir(home.path().join("sub")).expect("made");
    let output = run(&home, &home.path().join("sub"), &["report", "--cwd", "."]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn report_leaves_out_lines_of_large_files_and_says_so() {
    let home = Home::new();
    let filler = "word ".repeat(60 * 1024);
    let tree = format!("//- /.claude/skills/large/SKILL.md\nNo frontmatter.\n{filler}\n{TREE}");
    let top = home.worktree("w", &tree);
    let page = page(&home, &top, &[]);
    let findings = section(&page, "findings");
    assert!(findings.contains(">.claude/skills/large/SKILL.md:1:1<"), "{findings}");
    assert!(!findings.contains("<mark>No frontmatter.</mark>"), "{findings}");
    assert!(findings.contains("<mark># Broken</mark>"), "{findings}");
    assert!(findings.contains("The lines of 1 file are left out, because of their size."));
}

#[test]
fn report_counts_the_cost_of_a_skill_as_budget_does() {
    let home = Home::new();
    let long = "word ".repeat(300);
    let skill = |nth: usize| {
        format!(
            "//- /.claude/skills/skill-{nth}/SKILL.md\n---\ndescription: é {long}\n---\nBody.\n"
        )
    };
    let top = home.worktree("w", &(1..8).map(skill).collect::<String>());
    let profile = ["--profile", "claude-code"];
    let page = page(&home, &top, &profile);
    let budget = run_json(&home, &top, &[&["budget"], &profile[..]].concat());
    let skills = budget["skills"].as_array().expect("a list");
    let rows: Vec<&str> = section(&page, "skills").split("<tr").collect();
    for it in skills {
        let name = it["name"].as_str().expect("a name");
        let row = rows.iter().find(|row| row.contains(&format!("data-key=\"{name}\"")));
        let row = row.expect("a row for each skill");
        assert!(row.contains(&format!("data-key=\"{}\">", it["characters"])), "{row}");
        assert_eq!(row.contains("name only, no room"), it["shown"] == "name", "{row}");
    }
    assert!(skills.iter().any(|it| it["shown"] == "name"), "{budget}");
}

#[test]
fn report_as_json_is_a_usage_error() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let output = run(&home, &top, &["report", "--json"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("`report` writes HTML, not JSON"), "{}", stderr(&output));
    assert!(!top.join("skillsd-report.html").exists());
}

#[test]
fn report_does_not_call_a_pipe_too_large() {
    let home = Home::new();
    let top = home.worktree("w", &format!("//- /.claude/skills/pipe/SKILL.md fifo\n{TREE}"));
    let page = page(&home, &top, &[]);
    assert!(page.contains("named pipe"), "{}", section(&page, "left-out"));
    assert!(!page.contains("because of their size"), "{}", section(&page, "findings"));
}
