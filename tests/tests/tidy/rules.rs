//! The reference page generated from the rule table.

use crate::code::literals;
use crate::frontmatter::stale;
use crate::tree::{Source, none, rust_sources};

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

/// Returns the lines of rules that spell the id of a profile.
fn spelled_agents(sources: &[Source]) -> Vec<String> {
    let is_rule = |path: &str| path.starts_with("daemon/lint/src/") && !path.contains("/tests");
    let mut findings = Vec::new();
    for source in sources.iter().filter(|it| is_rule(&it.path)) {
        let code = source.text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        // Names of users in home directories.
        let is_user =
            |it: &str| ["vscode", "pi"].contains(&it) && source.path.ends_with("/security.rs");
        for (before, text) in literals(code).into_iter().filter(|it| !is_user(it.1)) {
            if skills_agents::profile::find(text).is_some() {
                let line = before.lines().count();
                findings.push(format!("{}:{line}: a rule spells the id `{text}`", source.path));
            }
        }
    }
    findings
}

#[test]
fn rules_take_facts_about_agents_from_the_tables() {
    none(&spelled_agents(&rust_sources()));
}

#[test]
fn rule_that_spells_an_agent_id_is_reported() {
    let source = |path: &str| {
        Source {
        path: path.to_owned(),
        text: "fn check() {\n    it.id == \"codex\" || name == \"a codex\";\n}\n#[cfg(test)]\nmod tests { \"codex\" }\n".to_owned(),
    }
    };
    let findings =
        spelled_agents(&[source("daemon/lint/src/a.rs"), source("daemon/agents/src/a.rs")]);
    assert_eq!(findings, ["daemon/lint/src/a.rs:2: a rule spells the id `codex`"]);
}
