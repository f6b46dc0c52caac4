//! Tests of the table of one profile.

use std::sync::LazyLock;

use expect_test::{Expect, expect};
use skills_protocol::wire::{ListedForm, Outcome, Step, StepKind, Verdict};

use super::*;
use crate::tests::sample::{detected, in_state, list, shop, skill, terminal, uncolored};

static DETECTED: LazyLock<DetectResult> = LazyLock::new(detected);
static NO_COSTS: ListingCosts = ListingCosts::new();

fn options(all: bool) -> TableOptions<'static> {
    let cwd = Path::new("/home/ann/shop");
    TableOptions {
        all,
        tokens: false,
        costs: &NO_COSTS,
        detected: &DETECTED,
        cwd,
        in_checkout: false,
    }
}

#[track_caller]
fn check(result: &ListResult, all: bool, width: Option<usize>, expected: &Expect) {
    let text = uncolored(&render(result, &[], &options(all), &terminal(width)));
    // Paths stay whole, so that they can be copied.
    let lines = text.lines().filter(|line| !line.contains('/'));
    let widest = lines.map(super::width).max().unwrap_or(0);
    assert!(width.is_none_or(|width| widest <= width), "{widest} columns");
    expected.assert_eq(&text);
}

#[test]
fn skills_are_grouped_by_root_and_cut_to_the_width() {
    check(
        &shop(),
        false,
        Some(72),
        &expect![[r#"
            as Claude Code · 3 skills · detected: CLAUDECODE is set

            .agents/skills  project
              commit         Writes a commit message in the house style.
              accessibility  Checks a page against WCAG 2.2 and says w…  (1 warning)

            ~/.agents/skills  user
              pdf            Fills, splits and merges PDF files…  (broken right now)

            3 not shown: 1 conditional, 1 shadowed, 1 invalid · skillsd list --all
        "#]],
    );
}

#[test]
fn pipe_gets_full_descriptions() {
    check(
        &shop(),
        false,
        None,
        &expect![[r#"
            as Claude Code · 3 skills · detected: CLAUDECODE is set

            .agents/skills  project
              commit         Writes a commit message in the house style.
              accessibility  Checks a page against WCAG 2.2 and says what to change.  (1 warning)

            ~/.agents/skills  user
              pdf            Fills, splits and merges PDF files. Use it for every form that a customer sends.  (broken right now)

            3 not shown: 1 conditional, 1 shadowed, 1 invalid · skillsd list --all
        "#]],
    );
}

#[test]
fn all_adds_state_and_reason() {
    check(
        &shop(),
        true,
        Some(72),
        &expect![[r#"
            as Claude Code · 3 skills · detected: CLAUDECODE is set

            .agents/skills  project
              commit              active       Writes a commit message in the house…
              accessibility       active       Checks a page against W…  (1 warning)
              database-migration  conditional  Writes a migration and its way back.
                no file that matches `migrations/**` was touched yet

            .claude/skills  project
              commit              shadowed     Writes a commit message.
                `.agents/skills/commit/SKILL.md` has the same name and comes first
              changelog           invalid      (no description)
                `description` is missing (SKILL.md:1:1)

            ~/.agents/skills  user
              pdf                 active       Fills, splits an…  (broken right now)
        "#]],
    );
}

#[test]
fn narrow_table_puts_descriptions_on_their_own_lines() {
    check(
        &shop(),
        true,
        Some(50),
        &expect![[r#"
            as Claude Code
            3 skills
            detected: CLAUDECODE is set

            .agents/skills  project
              commit              active
                Writes a commit message in the house style.
              accessibility       active
                Checks a page against WCAG 2.2 a…  (1 warning)
              database-migration  conditional
                Writes a migration and its way back.
                no file that matches `migrations/**` was
                touched yet

            .claude/skills  project
              commit              shadowed
                Writes a commit message.
                `.agents/skills/commit/SKILL.md` has the same
                name and comes first
              changelog           invalid
                (no description)
                `description` is missing (SKILL.md:1:1)

            ~/.agents/skills  user
              pdf                 active
                Fills, splits and merges…  (broken right now)
        "#]],
    );
}

#[test]
fn long_name_does_not_widen_the_column() {
    let skills = vec![skill("a", "Short."), skill(&"n".repeat(64), "Long.")];
    check(
        &list(skills),
        false,
        None,
        &expect![[r#"
            as Claude Code · 2 skills · detected: CLAUDECODE is set

            .agents/skills  project
              a                                 Short.
              nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn  Long.
        "#]],
    );
}

#[test]
fn control_characters_are_escaped() {
    let hostile = skill("x\u{1b}]0;gone\u{7}", "line one\n\n\u{1b}[2Jline two \u{202e}abc");
    check(
        &list(vec![hostile]),
        false,
        None,
        &expect![[r#"
            as Claude Code · 1 skill · detected: CLAUDECODE is set

            .agents/skills  project
              x\u{1b}]0;gone\u{7}  line one \u{1b}[2Jline two \u{202e}abc
        "#]],
    );
}

#[test]
fn empty_list_shows_searched_roots_and_next_commands() {
    let root = |path: &str, outcome, found| Step {
        root: Some(path.into()),
        found,
        ..Step::new(StepKind::Root, outcome)
    };
    let explained = ExplainResult {
        clock: "c".into(),
        health: Vec::new(),
        name: None,
        path: None,
        path_encoding: None,
        profile: "agentskills".into(),
        confidence: None,
        verdict: Verdict { state: None, summary: "no skills".into(), next: None },
        steps: vec![
            root("/home/ann/shop/.agents/skills", Outcome::Searched, Some(0)),
            root("/home/ann/shop/.claude/skills", Outcome::Missing, None),
            root("/home/ann/shop/.codex/skills", Outcome::Missing, None),
            root("/home/ann/.agents/skills", Outcome::Unreadable, None),
        ],
    };
    let options = TableOptions { in_checkout: true, ..options(false) };
    let text =
        uncolored(&render_none(&list(Vec::new()), &explained, &options, &terminal(Some(72))));
    expect![[r#"
        No skill for Claude Code in ~/shop · detected: CLAUDECODE is set

        Searched
          ~/shop/.agents/skills  no skills
          do not exist: ~/shop/.claude/skills, ~/shop/.codex/skills
          ~/.agents/skills       cannot be read

        Next
          skillsd explain NAME                      explains why an agent does not see a skill
          cargo run -- list tests/samples/worktree  lists a sample
    "#]]
    .assert_eq(&text);
}

#[test]
fn empty_list_counts_skills_that_are_not_shown() {
    let skills = vec![in_state(skill("a", "A."), State::Invalid, "no description")];
    let explained = ExplainResult {
        clock: "c".into(),
        health: Vec::new(),
        name: None,
        path: None,
        path_encoding: None,
        profile: "agentskills".into(),
        confidence: None,
        verdict: Verdict { state: None, summary: "no skills".into(), next: None },
        steps: Vec::new(),
    };
    let text = render_none(&list(skills), &explained, &options(false), &terminal(Some(72)));
    expect![[r#"
        No skill for Claude Code in ~/shop · 1 not shown: 1 invalid · detected: CLAUDECODE is set

        Next
          skillsd list --all    also lists skills that are not shown, with reasons
          skillsd explain NAME  explains why an agent does not see a skill
    "#]]
    .assert_eq(&uncolored(&text));
}

#[test]
fn all_shows_rows_when_no_skill_is_visible() {
    let skills = vec![in_state(skill("a", "A."), State::Ignored, "switched off in settings")];
    check(
        &list(skills),
        true,
        Some(60),
        &expect![[r#"
            .agents/skills  project
              a  ignored  A.
                switched off in settings
        "#]],
    );
}

#[test]
fn cut_descriptions_are_marked_and_tokens_are_a_column() {
    let result = list(vec![skill("a", "Writes."), skill("bb", "Reads.")]);
    let cost = |name: &str, shown, tokens| {
        let path = format!("/home/ann/shop/.agents/skills/{name}/SKILL.md");
        let key = (path.clone(), name.to_owned());
        let (characters, whole_characters, loaded_tokens) = (4, 40, Some(9));
        let (name, path_encoding) = (name.to_owned(), None);
        let cost = SkillCost {
            name,
            path,
            path_encoding,
            shown,
            characters,
            whole_characters,
            tokens,
            loaded_tokens,
        };
        (key, cost)
    };
    let costs = [cost("a", ListedForm::Name, 1), cost("bb", ListedForm::Whole, 24)].into();
    let options = TableOptions { tokens: true, costs: &costs, ..options(false) };
    expect![[r#"
        as Claude Code · 2 skills · detected: CLAUDECODE is set

        .agents/skills  project
          a     1 token  Writes.  (name only, no room)
          bb  24 tokens  Reads.

        1 not shown whole · skillsd budget
    "#]]
    .assert_eq(&uncolored(&render(&result, &[], &options, &terminal(Some(72)))));
}
