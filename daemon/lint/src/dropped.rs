//! Rule `index/dropped`: a fault for which an agent drops the skill and that no other rule reports.
//!
//! The agents' loaders and discovery decide, as they do in an explanation, so that a check never
//! passes a skill that `explain` calls dropped.

use std::collections::BTreeMap;

use skills_agents::field_table::{CODEX, GEMINI, OPENCODE, SPECIFICATION};
use skills_agents::loaders::{LoadRule, Remark};
use skills_agents::profile::Profile;
use skills_syntax::diagnostic::Severity;
use skills_syntax::text::{LineColumn, Span};

use super::affected_agents::with_verb;
use super::finding::Finding;
use super::rule::Rule;
use super::rule_id::RuleId;
use super::subject::Cx;
use super::yaml::encoding::keeps_mark;

pub(super) static DROPPED: Rule = Rule::new(
    RuleId::IndexDropped,
    Severity::Error,
    "An agent drops the skill for a fault that no other rule reports.",
    "The agent reads the file by rules of its own, does not list the skill, and seldom says why.",
    "Correct the place that the message names; `skillsd explain` suggests an edit.",
)
.sources(&[&SPECIFICATION, &CODEX, &GEMINI, &OPENCODE])
.texts(
    "//- /w/.qwen/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n--- \nRead the file.\n",
    "//- /w/.qwen/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
);

/// Adds an error for each agent that drops the file and has no error among `found`.
pub(super) fn check(cx: &Cx<'_>, found: &mut Vec<Finding>) {
    if cx.is_command || cx.is_unlisted() || keeps_mark(cx) {
        return;
    }
    let is_reported = |profile: &Profile| {
        let errors = found.iter().filter(|it| it.diagnostic.severity == Severity::Error);
        errors.into_iter().any(|it| it.profiles.iter().any(|id| *id == *profile.id))
    };
    // A fault makes one finding, whichever agents it affects.
    let mut faults: BTreeMap<(Span, &str), (&Remark, Vec<&Profile>)> = BTreeMap::new();
    for (profile, reading) in cx.readings() {
        let fault = reading.dropped.as_ref().filter(|_| cx.may_be_dropped_by(profile));
        let Some(fault) = fault else { continue };
        // Without a directory of its own, a skill has no name to differ from.
        let is_nameless = fault.rule == LoadRule::NameForm && cx.directory.is_empty();
        if is_nameless || is_reported(profile) {
            continue;
        }
        let key = (span_of(cx, fault), &*fault.message);
        faults.entry(key).or_insert((fault, Vec::new())).1.push(profile);
    }
    let mut drops: BTreeMap<&str, (&str, Vec<&Profile>)> = BTreeMap::new();
    if cx.fs.fault().is_none() {
        for drop in cx.fs.drops() {
            let new = cx.profiles_where(|profile, reading| {
                *profile.id == *drop.profile && reading.dropped.is_none() && !is_reported(profile)
            });
            let (_, them) = drops.entry(&drop.message).or_insert((&drop.next, Vec::new()));
            // An agent can drop a file twice for the same reason.
            for profile in new {
                if them.iter().all(|it| it.id != profile.id) {
                    them.push(profile);
                }
            }
        }
    }
    drops.retain(|_, (_, them)| !them.is_empty());
    for (message, (next, them)) in drops {
        let message = format!("{} this skill: {message}", with_verb(&them, "drops", "drop"));
        found.push(Finding::new(&DROPPED, cx.opening(), message).about(&them).help(next));
    }
    for ((span, message), (fault, them)) in faults {
        let message = format!("{} this skill: {message}", with_verb(&them, "drops", "drop"));
        found.push(Finding::new(&DROPPED, span, message).about(&them).help(&fault.next));
    }
}

/// Returns the text from a fault's position to the end of its line.
fn span_of(cx: &Cx<'_>, fault: &Remark) -> Span {
    let LineColumn { line, column } = fault.at.unwrap_or(LineColumn { line: 1, column: 1 });
    let start = cx.offset(line, column);
    let end = cx.line(start).end;
    let written = Span::new(start, end).slice(cx.text).trim_end();
    if written.is_empty() { cx.line(start) } else { Span::new(start, start + written.len()) }
}

#[cfg(test)]
mod tests {
    use skills_agents::loaders::load_as;
    use skills_agents::profile::{Profile, builtin};
    use skills_agents::skill::{DecodeFacts, FileFacts, SkillRecord};

    use super::*;
    use crate::testing::{Fixture, record};
    use crate::{DiscoveryDrop, FsContext, NoFs, Settings, Subject, rules};

    fn check_as(profile: &Profile, text: &str) -> Vec<Finding> {
        let settings = Settings { profiles: vec![profile], ..Settings::default() };
        Fixture::new(text).check_with(&settings)
    }

    /// Texts that agents drop for reasons of their own.
    fn dropped_texts() -> Vec<String> {
        let lines = [
            "description: \"\\ud83d\\udcc4 Reads PDF files. Use when asked.\"",
            "description: Reads. Use when asked.\nlicense: 3",
            "description: Reads. Use when asked.\ncompatibility: 3",
            "description: Reads. Use when asked.\nuser-invocable: \"yes\"",
            "description: Reads. Use when asked.\ndisable-model-invocation: 1",
            "description: Reads. Use when asked.\nallowed-tools: 3",
            "description: Reads. Use when asked.\nlicense: !foo MIT",
            "description: [a, b]",
        ];
        let texts = lines.map(|it| format!("---\nname: pdf\n{it}\n---\nRead the file.\n"));
        let long =
            format!("---\nname: pdf\ndescription: Use it. {}\n---\nRead.\n", "x".repeat(1030));
        let whole = [
            "--- \nname: pdf\ndescription: Reads. Use when asked.\n---\nRead.\n",
            "---\t\nname: pdf\ndescription: Reads. Use when asked.\n---\nRead.\n",
            "---\nname: pdf\ndescription: Reads. Use when asked.\n--- \nRead.\n",
            "---\n  name: pdf\n  description: Reads: Use when asked.\n---\nRead.\n",
            "---\nname: 12\ndescription: Reads. Use when asked.\n---\nRead.\n",
            "---\nname: Other\ndescription: Reads. Use when asked.\n---\nRead.\n",
            "---\nname: other\ndescription: Reads. Use when asked.\n---\nRead.\n",
            "---\n",
            &long,
        ];
        texts.into_iter().chain(whole.map(str::to_owned)).collect()
    }

    #[test]
    fn every_skill_that_an_agent_drops_has_an_error_about_the_agent() {
        let examples = rules().iter().map(|it| it.failing.to_owned());
        let examples = examples.filter(|it| !it.starts_with("//- "));
        let mut missed = Vec::new();
        for text in dropped_texts().into_iter().chain(examples) {
            let record = record(&text).1;
            for profile in builtin() {
                let outcome = load_as(profile, &record, "pdf");
                let found = check_as(profile, &text);
                let is_reported = found.iter().any(|it| {
                    it.diagnostic.severity == Severity::Error
                        && it.profiles.iter().any(|id| *id == *profile.id)
                });
                if outcome.dropped.is_some() && !is_reported {
                    let why = outcome.dropped.map(|it| it.message);
                    missed.push(format!("{}: {text:?}\n  {why:?} {found:#?}", profile.id));
                }
            }
        }
        assert!(missed.is_empty(), "{} missed\n{}", missed.len(), missed.join("\n"));
    }

    #[test]
    fn byte_order_mark_that_an_editor_keeps_is_no_fault() {
        let text = "\u{FEFF}---\nname: pdf\ndescription: Reads. Use when asked.\n---\nRead.\n";
        let document = skills_agents::skill::parse(text);
        let facts = FileFacts { size: text.len() as u64, truncated: false, hash: [0; 32] };
        let origin = DecodeFacts { bom: true, ..DecodeFacts::default() };
        let record = SkillRecord::from_document(text, &document, facts, origin);
        let subject =
            Subject { text, document: &document, record: &record, path: None, parts: None };
        let found = crate::check(&subject, &Settings::default(), &NoFs);
        assert!(found.iter().all(|it| it.rule.id != RuleId::IndexDropped), "{found:#?}");
    }

    #[test]
    fn agent_that_drops_a_file_twice_for_one_reason_is_named_once() {
        struct Drops([DiscoveryDrop; 2]);
        impl FsContext for Drops {
            fn drops(&self) -> &[DiscoveryDrop] {
                &self.0
            }
        }
        let text = "---\nname: pdf\ndescription: Reads. Use when asked.\n---\nRead.\n";
        let (document, record) = (skills_agents::skill::parse(text), record(text).1);
        let subject =
            Subject { text, document: &document, record: &record, path: None, parts: None };
        let drop = DiscoveryDrop {
            profile: "claude-code".to_owned(),
            message: "it is too deep".to_owned(),
            next: "Move it.".to_owned(),
        };
        let fs = Drops([drop.clone(), drop]);
        let found = crate::check(&subject, &Settings::default(), &fs);
        let found = found.iter().filter(|it| it.rule.id == RuleId::IndexDropped);
        let messages: Vec<_> = found.map(|it| &*it.diagnostic.message).collect();
        assert_eq!(messages, ["Claude Code drops this skill: it is too deep"]);
    }

    #[test]
    fn message_and_span_are_those_of_the_loader() {
        let profile = skills_agents::profile::find("qwen-code").unwrap();
        let text = "---\nname: pdf\ndescription: Reads. Use when asked.\n--- \nRead.\n";
        let found = check_as(profile, text);
        let finding = found.iter().find(|it| it.rule.id == RuleId::IndexDropped).unwrap();
        assert_eq!(
            finding.diagnostic.message,
            "Qwen Code drops this skill: the frontmatter is not closed by a line `---`, which this agent requires"
        );
        assert_eq!(finding.diagnostic.span, Span::new(0, 3));
    }
}
