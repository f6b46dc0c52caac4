//! Where a skill lies: who passes it over, and whether that may be meant.

use crate::testing::World;

const TEXT: &str = "---\nname: pdf\ndescription: Reads. Use when asked.\n---\nRead.\n";

#[track_caller]
fn check(paths: &[&str], expected: &[&str]) {
    let files: Vec<String> = paths.iter().map(|it| format!("//- {it}\n{TEXT}")).collect();
    let found = World::new(&files.concat()).check();
    let placing = ["index/too-deep", "index/misplaced"];
    let told: Vec<String> = found
        .iter()
        .filter(|it| placing.contains(&it.rule.id))
        .map(|it| format!("{:?} {}: {}", it.diagnostic.severity, it.rule.id, it.diagnostic.message))
        .collect();
    assert_eq!(told, expected);
}

#[test]
fn what_an_agent_never_meets_is_an_error() {
    check(
        &["/w/.claude/skills/group/pdf/SKILL.md"],
        &["Error index/too-deep: `skills/group/pdf/SKILL.md`: Claude Code looks one level deep"],
    );
    // Gemini CLI and opencode take it.
    let root = "Error index/misplaced: clients of the standard pass over `w/.gemini/skills/SKILL.md`: it lies directly in the directory of skills";
    check(&["/w/.gemini/skills/SKILL.md", "/w/.gemini/skills/pdf/SKILL.md"], &[root]);
    let case = "Error index/misplaced: clients of the standard, Claude Code and opencode pass over `skill.md`: the file is called `SKILL.md`";
    check(&["/w/.claude/skills/pdf/skill.md"], &[case]);
    check(
        &["/w/.agents/skills/a/b/c/d/e/f/pdf/SKILL.md"],
        &[
            "Error index/too-deep: `e/f/pdf/SKILL.md`: clients of the standard look 6 levels deep",
            "Error index/too-deep: `e/f/pdf/SKILL.md`: Codex looks 6 levels deep",
            "Error index/too-deep: `e/f/pdf/SKILL.md`: Gemini CLI looks one level deep",
        ],
    );
}

#[test]
fn what_may_lie_there_on_purpose_is_a_warning() {
    let within =
        "Warning index/too-deep: `docx/parts/pdf/SKILL.md`: Claude Code looks one level deep";
    let parts = "/w/.claude/skills/docx/parts/pdf/SKILL.md";
    let inner = "Warning index/too-deep: `docx/parts/pdf/SKILL.md`: clients of the standard do not look within the skill in `docx`";
    check(&[parts, "/w/.claude/skills/docx/SKILL.md"], &[within, inner]);
    // A skill beside the others is none that they lie within.
    let error = within.replace("Warning", "Error");
    check(&[parts, "/w/.claude/skills/SKILL.md"], &[&error]);
    check(&[parts, "/w/.claude/skills/docx/other/SKILL.md"], &[&error]);
    let hidden = "Warning index/misplaced: clients of the standard and Claude Code pass over `skills/.old/pdf/SKILL.md`: it lies in a hidden directory";
    check(&["/w/.claude/skills/.old/pdf/SKILL.md"], &[hidden]);
    let text = "Warning index/misplaced: clients of the standard, Claude Code, opencode, Codex and Gemini CLI pass over `skill.md`: the file is called `SKILL.md`";
    check(&["/w/docs/skill.md"], &[text]);
}

#[test]
fn what_lies_within_a_skill_is_told_for_those_who_stop_there() {
    let skill = "/w/.agents/skills/k/m/SKILL.md";
    let deep = "Warning index/too-deep: `skills/k/m/SKILL.md`: Gemini CLI looks one level deep";
    let inner = "Warning index/too-deep: `skills/k/m/SKILL.md`: clients of the standard do not look within the skill in `k`";
    check(&[skill, "/w/.agents/skills/k/SKILL.md"], &[deep, inner]);
    check(&["/w/.agents/skills/k/SKILL.md", skill], &[]);
    check(&[skill, "/w/.agents/skills/SKILL.md"], &[&deep.replace("Warning", "Error")]);
}

#[test]
fn what_a_plugin_leads_to_is_not_too_deep() {
    let pdf = "/w/.claude/skills/tools/skills/pdf/SKILL.md";
    let deep =
        "Error index/too-deep: `tools/skills/pdf/SKILL.md`: Claude Code looks one level deep";
    check(&[pdf], &[deep]);
    let plugin = "/w/.claude/skills/tools/.claude-plugin/plugin.json";
    let fixture = format!("//- {pdf}\n{TEXT}//- {plugin}\n{{\"name\": \"tools\"}}\n");
    let found = World::new(&fixture).check();
    assert!(found.iter().all(|it| it.rule.id != "index/too-deep"), "{found:#?}");
}
