//! The rules' examples: each failing one has its finding, each passing one has none, and the fixes
//! work.

use std::collections::HashSet;

use skills_agents::profile;
use skills_agents::skill::{DecodeFacts, FileFacts, SkillRecord};
use skills_syntax::edit::{Edit, apply};

use crate::testing::Fixture;
use crate::{Finding, Fix, Offer, Settings, rules};

/// Returns the failing example of a rule, or a generated text if the example is a description.
fn failing(rule: &crate::Rule) -> String {
    let head = "---\nname: pdf\ndescription: Reads PDF files. Use when asked.\n---\n";
    match rule.id.as_str() {
        "body/long" => format!("{head}{}", "line\n".repeat(501)),
        "body/too-large" | "skillsd/too-many" => head.to_owned(),
        _ => rule.failing.to_owned(),
    }
}

fn all_profiles() -> Settings<'static> {
    let profiles = profile::builtin().iter().map(|it| &**it).collect();
    Settings { profiles, ..Settings::default() }
}

/// Returns whether `skillsd check --fix` fixes the finding.
fn is_fixed(finding: &Finding) -> bool {
    finding.only_fix().is_some() || finding.offers.contains(&Offer::RemoveMark)
}

fn ids(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|it| it.rule.id.as_str()).collect()
}

#[test]
fn each_rule_reports_its_failing_example_only() {
    let mut wrong = Vec::new();
    for rule in rules() {
        let found = Fixture::new(&failing(rule)).check_with(&all_profiles());
        let needs_more = matches!(rule.id.as_str(), "body/too-large" | "skillsd/too-many");
        if !needs_more && !found.iter().any(|it| it.rule.id.as_str() == rule.id.as_str()) {
            wrong.push(format!("{} is not found: {:?}", rule.id.as_str(), ids(&found)));
        }
        if rule.fixable
            && !needs_more
            && !found.iter().any(|it| it.rule.id.as_str() == rule.id.as_str() && is_fixed(it))
        {
            wrong.push(format!("{} has no fix", rule.id.as_str()));
        }
        let own: Vec<_> =
            found.iter().filter(|it| it.rule.id.as_str() == rule.id.as_str()).collect();
        let is_offered = |it: &Finding| !it.fixes.is_empty() || !it.offers.is_empty();
        if own.iter().any(|it| is_offered(it)) && !rule.fixable && !rule.choosable {
            wrong.push(format!("{} has a fix, and its row says nothing of it", rule.id.as_str()));
        }
        let chooses = own.iter().any(|it| is_offered(it) && !is_fixed(it));
        if rule.choosable && !chooses {
            wrong.push(format!("{} has nothing to choose from", rule.id.as_str()));
        }
        let found = Fixture::new(rule.passing).check_with(&all_profiles());
        let most_severe: Vec<_> = found
            .iter()
            .filter(|it| it.rule.id.as_str() == rule.id.as_str())
            .map(|it| &it.diagnostic.message)
            .collect();
        if !most_severe.is_empty() {
            wrong.push(format!("{} in the passing text: {most_severe:?}", rule.id.as_str()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn passing_example_is_the_fixed_failing_one() {
    use crate::body::rules::{BROKEN_PATH, MISSING_SCRIPT};
    for rule in [&crate::hooks::VARIABLE, &BROKEN_PATH, &MISSING_SCRIPT, &crate::tools::UNKNOWN] {
        let found = Fixture::new(rule.failing).check();
        let finding = found.iter().find(|it| it.rule.id == rule.id).expect("it is found");
        let fix = finding.only_fix().expect("it has one fix");
        let fixed = apply(&Fixture::new(rule.failing).text(), &fix.edits);
        assert_eq!(fixed, Fixture::new(rule.passing).text(), "{}", rule.id.as_str());
    }
}

#[test]
fn failing_examples_have_at_most_three_other_findings() {
    for rule in rules() {
        let found = Fixture::new(&failing(rule)).check();
        let other = found.iter().filter(|it| it.rule.id.as_str() != rule.id.as_str());
        let other: Vec<_> = other.map(|it| it.rule.id.as_str()).collect();
        assert!(other.len() <= 3, "{}: {other:?}", rule.id.as_str());
    }
}

/// Returns each remedy of a finding with the fixture after applying it once and after applying it
/// twice.
fn fixed(finding: &Finding, failing: &str) -> Vec<(String, Fixture, Fixture)> {
    let text = Fixture::new(failing).text();
    let edited = |fix: &Fix| {
        let fixed = apply(&text, &fix.edits);
        let world = || Fixture::new(failing).with_text(&fixed);
        // After a fix, the same fix is not offered again, or changes nothing.
        let same = |it: &Finding| {
            it.rule.id.as_str() == finding.rule.id.as_str()
                && it.diagnostic.span == finding.diagnostic.span
        };
        let after = world().check_with(&all_profiles());
        let again = after.iter().filter(|it| same(it)).flat_map(|it| &it.fixes);
        let twice = again
            .filter(|it| it.title == fix.title)
            .fold(fixed.clone(), |text, it| apply(&text, &it.edits));
        (fix.title.clone(), world(), Fixture::new(failing).with_text(&twice))
    };
    let named = |offer: &Offer| match offer {
        // No other file in the fixture refers to the skill.
        Offer::RenameSkill(name) => {
            vec![Edit { span: finding.diagnostic.span, text: name.clone() }]
        }
        _ => Vec::new(),
    };
    let offered = |offer: &Offer| {
        let made = || match offer {
            Offer::Draft(fix) => Fixture::new(failing).with_text(&apply(&text, &fix.edits)),
            Offer::RemoveMark => Fixture::new(failing).with_text(&text),
            Offer::MakeExecutable(path) => Fixture::new(failing).with_executable(path),
            Offer::CreateFile(path) => Fixture::new(failing).with_file(path),
            Offer::RenameDirectory(name) => Fixture::new(failing).with_directory(name),
            Offer::RenameSkill(_) => Fixture::new(failing).with_text(&apply(&text, &named(offer))),
        };
        let twice = match offer {
            Offer::MakeExecutable(path) => made().with_executable(path),
            Offer::RenameDirectory(name) => made().with_directory(name),
            Offer::Draft(_) | Offer::RemoveMark | Offer::CreateFile(_) | Offer::RenameSkill(_) => {
                made()
            }
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
        let found = Fixture::new(&failing).check_with(&all_profiles());
        for finding in &found {
            offered.extend(finding.offers.iter().map(std::mem::discriminant));
            for (title, world, again) in fixed(finding, &failing) {
                let id = finding.rule.id.as_str();
                let after = world.check_with(&all_profiles());
                let count =
                    |all: &[Finding]| all.iter().filter(|it| it.rule.id.as_str() == id).count();
                let text = world.text();
                if count(&after) >= count(&found) {
                    wrong.push(format!(
                        "{id} (in {}) stays after `{title}`:\n{text}",
                        rule.id.as_str()
                    ));
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
    assert_eq!(offered.len(), 6, "each kind of offer is tried");
}

#[test]
fn truncated_file_is_reported() {
    let text = "---\nname: pdf\ndescription: Reads. Use when asked.\n---\nRead.\n";
    let document = skills_agents::skill::parse(text);
    let facts = FileFacts { size: 1 << 30, truncated: true, hash: [0; 32] };
    let record = SkillRecord::from_document(text, &document, facts, DecodeFacts::default());
    let subject =
        crate::Subject { text, document: &document, record: &record, path: None, parts: None };
    let found = crate::check(&subject, &Settings::default(), &crate::NoFs);
    assert_eq!(ids(&found), ["body/too-large"]);
}

#[test]
fn at_most_100_findings_are_shown() {
    let keys: Vec<String> = (0..150).map(|it| format!("unknown{it}: x\n")).collect();
    let keys = keys.concat();
    let text = format!("---\n{keys}name: pdf\nname: b\ndescription: Use it.\n---\nRead.\n");
    let n_found = Fixture::new(&text).check().len();
    let shown = Fixture::new(&text).shown(&Settings::default());
    assert_eq!(shown.len(), crate::MAX_SHOWN + 1);
    assert!(shown.iter().any(|it| it.rule.id.as_str() == "yaml/duplicate-key"));
    let last = &shown[crate::MAX_SHOWN];
    assert_eq!(last.rule.id.as_str(), "skillsd/too-many");
    assert!(last.diagnostic.message.starts_with(&format!("{}", n_found - 100)));
}
