//! What is made from the table of rules: its reference page.

use crate::catalog::stale;
use crate::tree::none;

#[test]
fn the_reference_of_the_rules_is_up_to_date() {
    let write = std::env::var_os("CI").is_none();
    let findings: Vec<_> =
        stale("docs/rules.md", &skills_lint::page(), write).into_iter().collect();
    none(&findings);
}

#[test]
fn each_rule_has_a_section_under_its_anchor() {
    let page = skills_lint::page();
    for rule in skills_lint::rules() {
        assert_eq!(page.matches(&format!("\n### {}\n", rule.id)).count(), 1, "{}", rule.id);
        assert!(page.contains(&format!("(#{})", rule.anchor())), "{}", rule.id);
        assert_eq!(rule.address("file:///r.md"), format!("file:///r.md#{}", rule.anchor()));
    }
}
