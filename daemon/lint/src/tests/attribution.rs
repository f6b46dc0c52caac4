//! Attribution: a finding's profiles are those that its message names.

use crate::affected_agents::name_of;
use crate::testing::Fixture;
use crate::{Settings, rules};

/// Rules whose message mentions an agent beside the ones that the finding is about.
const BESIDE: [&str; 2] = ["description/length", "field/unread"];

#[test]
fn finding_profiles_match_the_agents_named_in_its_message() {
    let settings = Settings::default();
    let mut n_told = 0;
    let mut wrong = Vec::new();
    for rule in rules() {
        let findings = Fixture::new(rule.failing).check().into_iter();
        for finding in findings.filter(|it| !BESIDE.contains(&it.rule.id.as_str())) {
            let message = &finding.diagnostic.message;
            n_told += finding.profiles.len();
            for profile in &settings.profiles {
                let is_named = message.contains(name_of(profile));
                let is_told = finding.profiles.iter().any(|it| **it == *profile.id);
                let is_of_rule = !finding.rule.agents.is_empty();
                // A message names at most three agents.
                let is_cut = message.contains(" more");
                if is_named && !is_told || is_told && !is_named && !is_of_rule && !is_cut {
                    wrong.push(format!("{} {}: {message}", finding.rule.id.as_str(), profile.id));
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(n_told > 50, "{n_told}");
}
