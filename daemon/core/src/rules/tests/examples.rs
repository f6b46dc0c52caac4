//! The texts in the rows: one that fails and one that passes, and what the fix makes of them.

use super::world::World;
use crate::profile;
use crate::rules::{self, Finding, Settings, apply, rules};
use crate::skill::{FileFacts, Origin, SkillRecord};

/// Returns the failing text of a rule; of one whose text is described, a text made for it.
fn failing(rule: &rules::Rule) -> String {
    let head = "---\nname: pdf\ndescription: Reads PDF files. Use when asked.\n---\n";
    match rule.id {
        "body/long" => format!("{head}{}", "line\n".repeat(501)),
        "body/too-large" | "skillsd/too-many" => head.to_owned(),
        _ => rule.failing.to_owned(),
    }
}

fn all_profiles() -> Settings<'static> {
    let profiles = profile::builtin().iter().map(|it| &**it).collect();
    Settings { profiles, ..Settings::default() }
}

fn ids(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|it| it.rule.id).collect()
}

#[test]
fn each_rule_finds_its_failing_text_and_nothing_in_the_other() {
    let mut wrong = Vec::new();
    for rule in rules() {
        let found = World::new(&failing(rule)).check_with(&all_profiles());
        let needs_more = matches!(rule.id, "body/too-large" | "skillsd/too-many");
        if !needs_more && !found.iter().any(|it| it.rule.id == rule.id) {
            wrong.push(format!("{} is not found: {:?}", rule.id, ids(&found)));
        }
        if rule.fixable
            && !needs_more
            && !found.iter().any(|it| it.rule.id == rule.id && it.only_fix().is_some())
        {
            wrong.push(format!("{} has no fix", rule.id));
        }
        let found = World::new(rule.passing).check_with(&all_profiles());
        let gravest: Vec<_> = found
            .iter()
            .filter(|it| it.rule.id == rule.id)
            .map(|it| &it.diagnostic.message)
            .collect();
        if !gravest.is_empty() {
            wrong.push(format!("{} in the passing text: {gravest:?}", rule.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_failing_text_has_few_other_findings() {
    for rule in rules() {
        let found = World::new(&failing(rule)).check();
        let other = found.iter().filter(|it| it.rule.id != rule.id);
        let other: Vec<_> = other.map(|it| it.rule.id).collect();
        assert!(other.len() <= 3, "{}: {other:?}", rule.id);
    }
}

#[test]
fn each_fix_removes_its_finding_and_adds_none() {
    let mut wrong = Vec::new();
    for rule in rules() {
        let world = World::new(&failing(rule));
        let text = world.text();
        let found = world.check_with(&all_profiles());
        for finding in &found {
            for fix in &finding.fixes {
                let id = finding.rule.id;
                let mended = apply(&text, &fix.edits);
                let after =
                    World::new(&failing(rule)).with_text(&mended).check_with(&all_profiles());
                let count = |all: &[Finding]| all.iter().filter(|it| it.rule.id == id).count();
                if count(&after) >= count(&found) {
                    wrong.push(format!(
                        "{id} (in {}) is still there after `{}`:\n{mended}",
                        rule.id, fix.title
                    ));
                }
                let before = ids(&found);
                for new in ids(&after).into_iter().filter(|it| !before.contains(it)) {
                    wrong.push(format!("{id}: the fix `{}` adds {new}:\n{mended}", fix.title));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_that_was_read_in_part_is_told() {
    let text = "---\nname: pdf\ndescription: Reads. Use when asked.\n---\nRead.\n";
    let document = crate::parse::parse(text);
    let facts = FileFacts { size: 1 << 30, truncated: true, hash: [0; 32] };
    let record = SkillRecord::of(text, &document, facts, Origin::default());
    let subject = rules::Subject { text, document: &document, record: &record, path: None };
    let found = rules::check(&subject, &Settings::default(), &rules::Nowhere);
    assert_eq!(ids(&found), ["body/too-large"]);
}

#[test]
fn of_many_findings_a_hundred_are_shown() {
    let keys: Vec<String> = (0..150).map(|it| format!("unknown{it}: x\n")).collect();
    let keys = keys.concat();
    let text = format!("---\n{keys}name: pdf\nname: b\ndescription: Use it.\n---\nRead.\n");
    let found = World::new(&text).check();
    let n_found = found.len();
    let shown = rules::shown(found);
    assert_eq!(shown.len(), rules::MAX_SHOWN + 1);
    assert!(shown.iter().any(|it| it.rule.id == "yaml/duplicate-key"));
    let last = &shown[rules::MAX_SHOWN];
    assert_eq!(last.rule.id, "skillsd/too-many");
    assert!(last.diagnostic.message.starts_with(&format!("{}", n_found - 100)));
}
