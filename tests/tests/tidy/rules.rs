//! The reference page generated from the rule table.

use crate::frontmatter::stale;
use crate::tree::none;

#[test]
fn rule_reference_is_up_to_date() {
    let write = std::env::var_os("CI").is_none();
    let findings: Vec<_> =
        stale("docs/rules.md", &skills_lint::page(), write).into_iter().collect();
    none(&findings);
}

#[test]
fn every_rule_has_a_section_and_anchor() {
    let page = skills_lint::page();
    for rule in skills_lint::rules() {
        assert_eq!(page.matches(&format!("\n### {}\n", rule.id)).count(), 1, "{}", rule.id);
        assert!(page.contains(&format!("(#{})", rule.anchor())), "{}", rule.id);
        assert_eq!(rule.address("file:///r.md"), format!("file:///r.md#{}", rule.anchor()));
    }
}
