//! The form in which the model sees skills: descriptions that do not fit the agent's listing are
//! marked in `list`, `explain`, `catalog` and `budget`, and `check` reports them once per agent.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_testkit::Home;

use crate::support::{run, run_json, stderr, stdout};

/// A home with `number` skills of Claude Code, with descriptions of `length` characters.
fn home(number: usize, length: usize) -> (Home, PathBuf) {
    let home = Home::new();
    let mut tree = String::new();
    for nth in 0..number {
        let description: String = "Use when asked. ".chars().cycle().take(length).collect();
        let _ = write!(
            tree,
            "//- /.claude/skills/skill-{nth:02}/SKILL.md\n---\nname: skill-{nth:02}\ndescription: {}\n---\nBody.\n",
            description.trim_end()
        );
    }
    let top = home.worktree("w", &tree);
    (home, top)
}

const CLAUDE: [&str; 2] = ["--profile", "claude-code"];

/// Runs a command for Claude Code and returns its standard output.
fn out(home: &Home, top: &Path, args: &[&str]) -> String {
    stdout(&run(home, top, &[args, &CLAUDE[..]].concat()))
}

#[test]
fn description_that_does_not_fit_is_marked_everywhere() {
    // 20 lines of 512 characters and 19 line ends exceed 8,000 characters by five descriptions.
    let (home, top) = home(20, 500);
    let budget = run_json(&home, &top, &["budget", CLAUDE[0], CLAUDE[1]]);
    assert_eq!(budget["budget"]["unit"], "characters");
    assert_eq!(budget["budget"]["limit"], 8000);
    assert!(budget["budget"]["used"].as_u64().expect("a number") <= 8000, "{budget}");
    let skills = budget["skills"].as_array().expect("a list");
    let named: Vec<&Value> = skills.iter().filter(|it| it["shown"] == "name").collect();
    let n_named = named.len();
    assert!((1..20).contains(&n_named), "{budget}");
    let last = "skill-19";
    assert_eq!(named[n_named - 1]["name"], last);

    let list = out(&home, &top, &["list"]);
    assert_eq!(list.matches("(name only, no room)").count(), n_named, "{list}");
    let explain = out(&home, &top, &["explain", last]);
    let verdict = format!(
        "✓ Claude Code lists `{last}` by name only: its description did not fit; {n_named} of 20 did not; the listing is limited to 8,000 characters.\n"
    );
    assert!(explain.contains(&verdict), "{explain}");
    assert!(
        explain.contains("\nNext: Shorten the descriptions of `skill-00`, `skill-01` and 4 more; `skillsd budget` shows the longest.\n"),
        "{explain}"
    );
    assert!(out(&home, &top, &["explain", "skill-00"]).contains("✓ Claude Code shows `skill-00`"));
    let catalog = run(&home, &top, &["catalog", CLAUDE[0], CLAUDE[1]]);
    let shown = stdout(&catalog).lines().filter(|it| !it.contains(": ")).count();
    assert_eq!(shown, n_named);
    let note =
        format!("note: name only, no room: `{}`", named[0]["name"].as_str().expect("a text"));
    assert!(stderr(&catalog).contains(&note), "{}", stderr(&catalog));
    let checked = run_json(&home, &top, &["check", CLAUDE[0], CLAUDE[1]]);
    assert_eq!(checked.to_string().matches("index/budget").count(), 1, "once per agent");

    let text = out(&home, &top, &["budget"]);
    assert!(text.contains(&format!("{n_named} of 20 skills: listed by name only")), "{text}");
    assert!(text.contains("Shorten first: `skill-00` ("), "{text}");
    // 8,000 characters for 20 entries.
    assert!(text.contains(". An equal share has 400 characters.\n"), "{text}");
}

#[test]
fn costs_of_a_listing_that_fits_have_no_marks() {
    let (home, top) = home(2, 100);
    let budget = run_json(&home, &top, &["budget", CLAUDE[0], CLAUDE[1]]);
    let skills = budget["skills"].as_array().expect("a list");
    assert!(skills.iter().all(|it| it["shown"] == "whole"), "{budget}");
    // `- skill-00: `, the description and the line end; a token is four characters.
    assert_eq!(skills[0]["characters"], 112);
    assert_eq!(skills[0]["tokens"], 28);
    assert_eq!(skills[0]["loadedTokens"], 2);
    let tokens = out(&home, &top, &["list", "--tokens"]);
    assert!(tokens.contains("  skill-00  28 tokens  Use when"), "{tokens}");
    assert!(!out(&home, &top, &["list"]).contains("name only"));
    assert!(!out(&home, &top, &["budget"]).contains("Shorten first"));
}

#[test]
fn codex_counts_tokens_and_shortens_all_descriptions() {
    let home = Home::new();
    let mut tree = String::new();
    for nth in 0..60 {
        let description = "d".repeat(900);
        let _ = write!(
            tree,
            "//- /.agents/skills/s{nth:02}/SKILL.md\n---\nname: s{nth:02}\ndescription: {description}\n---\nBody.\n"
        );
    }
    let top = home.worktree("w", &tree);
    let budget = run_json(&home, &top, &["budget", "--profile", "codex"]);
    assert_eq!(budget["budget"]["unit"], "tokens");
    assert_eq!(budget["budget"]["limit"], 5440);
    let skills = budget["skills"].as_array().expect("a list");
    assert!(skills.iter().all(|it| it["shown"] == "shortened"), "{budget}");
    assert_eq!(skills.len(), 60, "5,440 tokens are 90 for each");
    let text = stdout(&run(&home, &top, &["budget", "--profile", "codex"]));
    assert!(text.contains(". An equal share has 90 tokens.\n"), "{text}");
    let wide = run_json(&home, &top, &["budget", "--profile", "codex", "--context", "2000000"]);
    assert!(wide["skills"].as_array().expect("a list").iter().all(|it| it["shown"] == "whole"));
}

#[test]
fn skill_that_settings_limit_to_its_name_is_marked() {
    let (home, top) = home(2, 50);
    home.lay_out(
        "//- /w/.claude/settings.json\n{\"skillOverrides\": {\"skill-01\": \"name-only\"}}\n",
    );
    let list = out(&home, &top, &["list"]);
    assert_eq!(list.matches("(name only)").count(), 1, "{list}");
    let explain = out(&home, &top, &["explain", "skill-01"]);
    assert!(
        explain
            .contains("✓ Claude Code lists `skill-01` by name only, because its settings say so.")
    );
    let matrix = stdout(&run(&home, &top, &["list", "--profile", "claude-code,codex"]));
    assert!(matrix.contains("skill-01  ◐ "), "{matrix}");
    home.lay_out(
        "//- /w/.claude/skills/manual/SKILL.md\n---\nname: manual\ndescription: x\ndisable-model-invocation: true\n---\nb\n",
    );
    let notes = stderr(&run(&home, &top, &[&["catalog"], &CLAUDE[..]].concat()));
    assert!(notes.contains("note: name only: `skill-01`.\nnote: hidden: `manual`."), "{notes}");
}

#[test]
fn check_reports_the_listing_at_the_longest_skill_of_the_project() {
    let (home, top) = home(20, 450);
    home.lay_out(&format!(
        "//- /home/.claude/skills/long/SKILL.md\n---\nname: long\ndescription: {}\n---\nb\n",
        "x".repeat(900)
    ));
    let text = out(&home, &top, &["check"]);
    assert_eq!(text.matches("index/budget").count(), 1, "{text}");
    assert!(text.contains("over the budget of 8,000, so at least 4 descriptions are dropped"));
    for (setting, is_over) in [
        ("\"skillListingMaxDescChars\": 300", false),
        ("\"skillListingBudgetFraction\": 0.5", false),
        ("\"skillListingBudgetFraction\": 0.005", true),
    ] {
        home.lay_out(&format!("//- /home/.claude/settings.json\n{{{setting}}}\n"));
        let text = out(&home, &top, &["check"]);
        assert_eq!(text.contains("over the budget of"), is_over, "{setting}: {text}");
        assert_eq!(text.contains("over the budget of 4,000"), is_over, "{setting}: {text}");
    }
}

#[test]
fn tokens_are_a_column_of_each_agent() {
    let (home, top) = home(2, 100);
    let args = ["list", "--tokens", "--profile", "claude-code,opencode"];
    let text = stdout(&run(&home, &top, &args));
    let row = text.lines().find(|it| it.starts_with("skill-00 ")).expect("a row");
    assert!(row.starts_with("skill-00  ✓ ✓ 28 "), "{text}");
    let json = run(&home, &top, &[&args[..2], &["--json"]].concat());
    assert_eq!(json.status.code(), Some(2), "{}", stderr(&json));
}

#[test]
fn agents_without_a_limit_have_costs_only() {
    let (home, top) = home(1, 100);
    for profile in ["gemini-cli", "opencode", "agentskills", "opencode-agent-skills"] {
        let budget = run_json(&home, &top, &["budget", "--profile", profile]);
        assert_eq!(budget.get("budget"), None, "{profile}");
        for skill in budget["skills"].as_array().expect("a list") {
            assert_eq!(skill["shown"], json!("whole"), "{profile}");
            assert!(skill["tokens"].as_u64().expect("a number") > 20, "{profile}");
        }
    }
}

#[test]
fn budget_of_several_profiles_prints_each_health_line_once() {
    let home = Home::new();
    let skill = |dir: &str| {
        format!(
            "//- /{dir}/skills/deploy/SKILL.md\n---\nname: deploy\ndescription: Ships.\n---\nBody.\n"
        )
    };
    let top = home.worktree("w", &(skill(".agents") + &skill(".opencode")));
    let one = stderr(&run(&home, &top, &["budget", "--profile", "opencode"]));
    assert_eq!(one.matches("two skills are named `deploy`").count(), 1, "{one}");
    let several = stderr(&run(&home, &top, &["budget", "--profile", "opencode,codex"]));
    assert_eq!(several.matches("two skills are named `deploy`").count(), 1, "{several}");
}

#[test]
fn tokens_of_list_catalog_and_budget_are_equal() {
    let home = Home::new();
    let top = home.worktree("w", "");
    let tree = "//- /home/.claude/skills/wide/SKILL.md\n---\nname: wide\ndescription: 部署到生产环境。Use when asked to déployer.\n---\nBody.\n";
    home.lay_out(&(tree.to_owned() + &tree.replace(".claude", ".agents")));
    for profile in ["claude-code", "codex", "gemini-cli", "opencode", "agentskills"] {
        let args = |command: &'static str| [command, "--profile", profile];
        let budget = run_json(&home, &top, &args("budget"));
        let catalog = run_json(&home, &top, &args("catalog"));
        assert_eq!(catalog["tokens"], budget["tokens"], "{profile}");
        let table = stdout(&run(&home, &top, &["list", "--tokens", "--profile", profile]));
        let skills = budget["skills"].as_array().expect("a list").iter();
        let wide = skills.filter(|it| it["name"] == "wide");
        let tokens = wide.map(|it| it["tokens"].to_string()).next().expect("the skill is listed");
        let row = table.lines().find(|it| it.contains("wide")).expect("the skill has a row");
        assert!(row.split_whitespace().any(|it| it == tokens), "{profile}: {tokens} in {row}");
    }
}

#[test]
fn list_of_all_skills_does_not_count_those_that_it_shows() {
    let home = Home::new();
    let tree = "//- /.claude/skills/hidden/SKILL.md\n---\ndescription: x\ndisable-model-invocation: true\n---\nBody.\n";
    let top = home.worktree("w", tree);
    assert!(out(&home, &top, &["list"]).contains("1 not shown: 1 hidden"));
    let all = out(&home, &top, &["list", "--all"]);
    assert!(all.contains("hidden") && !all.contains("not shown"), "{all}");
}
