//! The texts in the rows: one that fails and one that passes, and what the fix makes of them.

use std::collections::HashSet;

use skills_agents::profile;
use skills_agents::skill::{DecodeFacts, FileFacts, SkillRecord};
use skills_syntax::edit::{Edit, apply};

use crate::testing::World;
use crate::{Finding, Fix, Offer, Settings, rules};

/// Returns the failing text of a rule; of one whose text is described, a text made for it.
fn failing(rule: &crate::Rule) -> String {
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

/// Whether `skillsd check --fix` mends it.
fn is_mended(finding: &Finding) -> bool {
    finding.only_fix().is_some() || finding.offers.contains(&Offer::RemoveMark)
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
            && !found.iter().any(|it| it.rule.id == rule.id && is_mended(it))
        {
            wrong.push(format!("{} has no fix", rule.id));
        }
        let own: Vec<_> = found.iter().filter(|it| it.rule.id == rule.id).collect();
        let is_offered = |it: &Finding| !it.fixes.is_empty() || !it.offers.is_empty();
        if own.iter().any(|it| is_offered(it)) && !rule.fixable && !rule.choosable {
            wrong.push(format!("{} has a fix, and its row says nothing of it", rule.id));
        }
        let chooses = own.iter().any(|it| is_offered(it) && !is_mended(it));
        if rule.choosable && !chooses {
            wrong.push(format!("{} has nothing to choose from", rule.id));
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

/// Returns each way to mend a finding with the world as it is then, and as it is when the same is
/// done once more.
fn mended(finding: &Finding, failing: &str) -> Vec<(String, World, World)> {
    let text = World::new(failing).text();
    let edited = |fix: &Fix| {
        let mended = apply(&text, &fix.edits);
        let world = || World::new(failing).with_text(&mended);
        // The same fix is not offered a second time, or it changes nothing.
        let same = |it: &Finding| {
            it.rule.id == finding.rule.id && it.diagnostic.span == finding.diagnostic.span
        };
        let after = world().check_with(&all_profiles());
        let again = after.iter().filter(|it| same(it)).flat_map(|it| &it.fixes);
        let twice = again
            .filter(|it| it.title == fix.title)
            .fold(mended.clone(), |text, it| apply(&text, &it.edits));
        (fix.title.clone(), world(), World::new(failing).with_text(&twice))
    };
    let named = |offer: &Offer| match offer {
        // Nobody else speaks of it here.
        Offer::RenameSkill(name) => {
            vec![Edit { span: finding.diagnostic.span, text: name.clone() }]
        }
        _ => Vec::new(),
    };
    let offered = |offer: &Offer| {
        let made = || match offer {
            Offer::Draft(fix) => World::new(failing).with_text(&apply(&text, &fix.edits)),
            Offer::RemoveMark => World::new(failing).with_text(&text),
            Offer::MakeExecutable(path) => World::new(failing).with_executable(path),
            Offer::RenameDirectory(name) => World::new(failing).with_directory(name),
            Offer::RenameSkill(_) => World::new(failing).with_text(&apply(&text, &named(offer))),
        };
        let twice = match offer {
            Offer::MakeExecutable(path) => made().with_executable(path),
            Offer::RenameDirectory(name) => made().with_directory(name),
            Offer::Draft(_) | Offer::RemoveMark | Offer::RenameSkill(_) => made(),
        };
        (offer.title(), made(), twice)
    };
    finding.fixes.iter().map(edited).chain(finding.offers.iter().map(offered)).collect()
}

#[test]
fn each_fix_removes_its_finding_and_adds_none() {
    let mut wrong = Vec::new();
    let mut offered = HashSet::new();
    for rule in rules() {
        let failing = failing(rule);
        let found = World::new(&failing).check_with(&all_profiles());
        for finding in &found {
            offered.extend(finding.offers.iter().map(std::mem::discriminant));
            for (title, world, again) in mended(finding, &failing) {
                let id = finding.rule.id;
                let after = world.check_with(&all_profiles());
                let count = |all: &[Finding]| all.iter().filter(|it| it.rule.id == id).count();
                let text = world.text();
                if count(&after) >= count(&found) {
                    wrong.push(format!("{id} (in {}) stays after `{title}`:\n{text}", rule.id));
                }
                let before = ids(&found);
                for new in ids(&after).into_iter().filter(|it| !before.contains(it)) {
                    wrong.push(format!("{id}: the fix `{title}` adds {new}:\n{text}"));
                }
                if again.text() != text || ids(&again.check_with(&all_profiles())) != ids(&after) {
                    wrong.push(format!("{id}: `{title}` twice is not `{title}` once:\n{text}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(offered.len(), 5, "each kind of offer is tried");
}

#[test]
fn a_file_that_was_read_in_part_is_told() {
    let text = "---\nname: pdf\ndescription: Reads. Use when asked.\n---\nRead.\n";
    let document = skills_agents::skill::parse(text);
    let facts = FileFacts { size: 1 << 30, truncated: true, hash: [0; 32] };
    let record = SkillRecord::from_document(text, &document, facts, DecodeFacts::default());
    let subject = crate::Subject { text, document: &document, record: &record, path: None };
    let found = crate::check(&subject, &Settings::default(), &crate::NoFs);
    assert_eq!(ids(&found), ["body/too-large"]);
}

#[test]
fn of_many_findings_a_hundred_are_shown() {
    let keys: Vec<String> = (0..150).map(|it| format!("unknown{it}: x\n")).collect();
    let keys = keys.concat();
    let text = format!("---\n{keys}name: pdf\nname: b\ndescription: Use it.\n---\nRead.\n");
    let n_found = World::new(&text).check().len();
    let shown = World::new(&text).shown(&Settings::default());
    assert_eq!(shown.len(), crate::MAX_SHOWN + 1);
    assert!(shown.iter().any(|it| it.rule.id == "yaml/duplicate-key"));
    let last = &shown[crate::MAX_SHOWN];
    assert_eq!(last.rule.id, "skillsd/too-many");
    assert!(last.diagnostic.message.starts_with(&format!("{}", n_found - 100)));
}
