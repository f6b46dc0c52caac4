//! Table-driven tests of permissions: rules, a skill, its frontmatter, and the expected decision.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use skills_agents::profile;
use skills_agents::skill::parse;
use skills_syntax::path::AbsPath;
use skills_syntax::text::LineColumn;

use super::{
    Action, Author, DecisionReason, Properties, Rule, RulePrecedence, SkillRequest, SourceLocation,
    decide, is_granted,
};

const CASES: &str = include_str!("tests/cases.txt");

fn rule(line: u32, written: &str) -> Rule {
    let (author, agent, rest) = match written.split_once(": ") {
        Some(("user", rest)) => (Author::User, None, rest),
        Some(("repository", rest)) => (Author::Repository, None, rest),
        Some((agent, rest)) => (Author::Agent, Some(agent.into()), rest),
        None => (Author::Agent, None, written),
    };
    let (action, pattern) = rest.split_once(' ').unwrap();
    let file = AbsPath::new("/w/opencode.json".as_ref()).unwrap();
    let source = SourceLocation { file, at: LineColumn { line, column: 1 } };
    Rule { author, agent, pattern: pattern.into(), action: Action::parse(action).unwrap(), source }
}

fn properties(keys: &str) -> Properties {
    if keys.is_empty() {
        return Properties::Safe;
    }
    let text = format!("---\n{}\n---\nbody\n", keys.replace("; ", "\n"));
    Properties::of(&parse(&text), &text)
}

/// Returns the decision in the notation of the table.
fn answer(rules: &str, skill: &str, keys: &str) -> String {
    let (precedence, rules) = match rules.strip_prefix("claude") {
        Some(rest) => (RulePrecedence::DenyFirst, rest.trim()),
        None => (RulePrecedence::LastMatch, rules),
    };
    let written = rules.split("; ").filter(|it| !it.is_empty());
    let rules: Vec<_> = (1..).zip(written).map(|(line, it)| rule(line, it)).collect();
    let (skill, agent) = match skill.split_once(" @") {
        Some((skill, agent)) => (skill, Some(agent)),
        None => (skill, None),
    };
    let properties = properties(keys);
    let request = SkillRequest { name: skill, agent, properties: &properties };
    let decision = decide(precedence, &rules, &request);
    assert_eq!(
        decision.rule().map(|it| it.action),
        match decision.reason {
            DecisionReason::Rule(_) | DecisionReason::ToolDisabled(_) => Some(decision.action),
            _ => None,
        }
    );
    let action = decision.action.name();
    let mut said = match &decision.reason {
        DecisionReason::Rule(rule) => format!("{action} by {}", rule.source.at.line),
        DecisionReason::ToolDisabled(rule) => format!("off by {}", rule.source.at.line),
        DecisionReason::Harmless => format!("{action}: harmless"),
        DecisionReason::Concern(key) => format!("{action} for {}", key.as_deref().unwrap_or("?")),
        DecisionReason::NoRule => format!("{action}: no rule"),
    };
    if decision.action == Action::Ask {
        let _ = write!(said, ": {}", decision.suggestions.join(", "));
    } else {
        assert!(decision.suggestions.is_empty());
    }
    said.trim_end().to_owned()
}

#[test]
fn decisions_match_the_table() {
    let mut counted = BTreeMap::<_, usize>::new();
    let mut heading = "";
    let mut wrong = String::new();
    for line in CASES.lines().filter(|it| !it.is_empty()) {
        if line.starts_with('#') {
            continue;
        }
        if let Some(text) = line.strip_prefix("== ") {
            heading = text;
            continue;
        }
        let columns: Vec<_> = line.split('|').map(str::trim).collect();
        let &[rules, skill, keys, expected] = &columns[..] else { panic!("`{line}`") };
        let said = answer(rules, skill, keys);
        if said != expected {
            let _ = writeln!(wrong, "{line}\n    but it is `{said}`");
        }
        *counted.entry(heading).or_default() += 1;
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(counted.values().sum::<usize>() >= 100, "{counted:?}");
    assert!(counted.len() == 6 && counted.values().all(|it| *it >= 15), "{counted:?}");
}

#[test]
fn granted_pattern_uses_the_agents_syntax() {
    let granted = |precedence, pattern: &str, name: &str| is_granted(precedence, [pattern], name);
    assert!(granted(RulePrecedence::DenyFirst, "deploy *", "deploy-prod"));
    assert!(granted(RulePrecedence::DenyFirst, "deploy", "/deploy"));
    assert!(!granted(RulePrecedence::DenyFirst, "*-prod", "deploy-prod"), "it allows too much");
    assert!(!granted(RulePrecedence::DenyFirst, "deploy", "web:deploy"), "another skill");
    assert!(granted(RulePrecedence::LastMatch, "*-prod", "deploy-prod"));
    assert!(!granted(RulePrecedence::LastMatch, "deploy", "deployer"));
}

#[test]
fn pattern_with_many_stars_matches_in_polynomial_time() {
    let pattern = "*a".repeat(500);
    let name = "a".repeat(5_000) + "b";
    let said = answer(&format!("deny {pattern}"), &name, "");
    assert_eq!(said, "allow: no rule");
}

#[test]
fn only_claude_code_profiles_deny_first() {
    let first = profile::builtin()
        .iter()
        .filter(|it| RulePrecedence::from_profile(it) == RulePrecedence::DenyFirst);
    let ids: Vec<_> = first.map(|it| &*it.id).collect();
    assert_eq!(ids, ["claude-code", "claude-code@founding"]);
}

#[test]
fn unreadable_frontmatter_requires_approval() {
    let request = SkillRequest { name: "a", agent: None, properties: &Properties::Unknown };
    let decision = decide(RulePrecedence::DenyFirst, &[], &request);
    assert_eq!((decision.action, decision.reason), (Action::Ask, DecisionReason::Concern(None)));
}
