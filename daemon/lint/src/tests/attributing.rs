//! Whose agents a finding is about: those whose names are in its message, and no others.

use crate::audience::name_of;
use crate::testing::World;
use crate::{Settings, rules};

/// Rules that name an agent beside what they say to all: what one does besides, and who alone reads
/// what is of no use to the others.
const BESIDE: [&str; 2] = ["description/length", "field/unread"];

#[test]
fn a_finding_tells_of_the_agents_that_its_message_names() {
    let settings = Settings::default();
    let mut n_told = 0;
    let mut wrong = Vec::new();
    for rule in rules() {
        let findings = World::new(rule.failing).check().into_iter();
        for finding in findings.filter(|it| !BESIDE.contains(&it.rule.id)) {
            let message = &finding.diagnostic.message;
            n_told += finding.profiles.len();
            for profile in &settings.profiles {
                let is_named = message.contains(name_of(profile));
                let is_told = finding.profiles.iter().any(|it| **it == *profile.id);
                let is_of_rule = !finding.rule.agents.is_empty();
                if is_named && !is_told || is_told && !is_named && !is_of_rule {
                    wrong.push(format!("{} {}: {message}", finding.rule.id, profile.id));
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(n_told > 50, "{n_told}");
}
