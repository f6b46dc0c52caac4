//! Frontmatters put together at random, and every fix that is offered for them.
//!
//! What a fix may touch is judged with another YAML library than the one that reads the texts.

use proptest::prelude::*;
use serde_yaml::{Mapping, Value};
use skills_agents::skill::parse;
use skills_syntax::edit::apply;
use skills_syntax::parse::MAX_DIAGNOSTICS;
use skills_syntax::text::Span;

use crate::proof::keep_together;
use crate::subject::{Cx, Subject};
use crate::testing::{World, record};
use crate::{Finding, MAX_SHOWN, NoFs, Offer, Settings, found, found_in, settle};

/// Entries, healthy and not, as they are written in a line of a block or in braces.
const ENTRIES: [&str; 16] = [
    "name: pdf",
    "name: 123",
    "description: Use when asked",
    "license: MIT",
    "license: MIT",
    "priority: 1",
    "xyz: &a 1",
    "author: *a",
    "allowed-tools: [Raed, Read Write]",
    "allowed_tools: [Read]",
    "mode: agent",
    "effort: hihg",
    "agent: Explore",
    "paths: [\"page{1..3}.pdf\", src]",
    "metadata: {a: 1.10, b: yes}",
    "argument-hint: [file]",
];

fn document() -> impl Strategy<Value = String> {
    let entries = proptest::collection::vec(proptest::sample::select(&ENTRIES[..]), 1..7);
    (entries, 0..4_u8).prop_map(|(entries, form)| {
        let content = match form {
            0 => format!("{{{}}}\n", entries.join(", ")),
            1 => format!("{{\n  {}\n}}\n", entries.join(",\n  ")),
            2 => format!("{}\n", entries.join(" # a remark\n")),
            _ => format!("{}\n", entries.join("\n")),
        };
        format!("---\n{content}---\nRead.\n")
    })
}

/// Returns the fields of a text as the other library reads them; nothing where it refuses them.
fn fields(text: &str) -> Option<Mapping> {
    let content = text.strip_prefix("---\n")?.split_once("---\n")?.0;
    match serde_yaml::from_str(content).ok()? {
        Value::Mapping(fields) => Some(fields),
        Value::Null => Some(Mapping::new()),
        _ => None,
    }
}

/// Returns the key of the entry on which a finding lies, or behind which.
fn key_of(text: &str, finding: &Finding) -> Option<String> {
    let frontmatter = parse(text).frontmatter?;
    let at = finding.diagnostic.span;
    let entry = frontmatter.entries.iter().rfind(|it| it.span.start <= at.start)?;
    Some(entry.key.text.clone())
}

proptest! {
    // Each of them is checked again after every fix.
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn random_frontmatters_keep_what_a_fix_is_not_about(text in document()) {
        let found = World::new("").with_text(&text).check();
        for finding in &found {
            let drafts = finding.offers.iter().filter_map(|it| match it {
                Offer::Draft(fix) => Some(fix),
                _ => None,
            });
            for fix in finding.fixes.iter().chain(drafts) {
                let mended = apply(&text, &fix.edits);
                let after = World::new("").with_text(&mended).check();
                let count = |all: &[Finding]| {
                    all.iter().filter(|it| it.rule.id == finding.rule.id).count()
                };
                // Of a key that is there twice one is left.
                let most = count(&found) - usize::from(finding.only_fix().is_some());
                prop_assert!(count(&after) <= most, "{}: {mended}", fix.title);
                let Some(before) = fields(&text) else { continue };
                let Some(now) = fields(&mended) else {
                    return Err(TestCaseError::fail(format!("{}: {mended}", fix.title)));
                };
                let key = key_of(&text, finding);
                for (name, value) in &before {
                    let name = name.as_str().unwrap_or_default();
                    let is_its_own = key.as_deref() == Some(name);
                    let is_grown = name == "metadata" && fix.title.starts_with("Move");
                    prop_assert!(
                        is_its_own || is_grown || now.get(name) == Some(value),
                        "{} changes {name}: {mended}", fix.title
                    );
                }
                prop_assert!(now.len() <= before.len() + 1, "{}: {mended}", fix.title);
            }
        }
    }
}

#[test]
fn of_very_many_fixes_in_a_long_text_those_are_offered_that_are_proven() {
    let tools = vec!["Raed"; 9000].join(", ");
    let text = format!(
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nallowed-tools: {tools}\n---\nb\n"
    );
    let found = World::new("").with_text(&text).check();
    let n_fixed = found.iter().filter(|it| !it.fixes.is_empty()).count();
    assert!(n_fixed > 0 && n_fixed < found.len(), "{n_fixed} of {}", found.len());
}

#[test]
fn very_many_fixes_are_made_to_the_end_and_few_are_shown() {
    let twice = "license: MIT\n".repeat(2 * MAX_DIAGNOSTICS);
    let tools = ["Raed"; 2 * MAX_SHOWN].join(" ");
    let text = format!(
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n{twice}allowed-tools: {tools}\n---\nb\n"
    );
    let findings = World::new("").with_text(&text).check();
    let with_fix = findings.iter().filter(|it| !it.fixes.is_empty()).count();
    assert!(
        findings.len() > 2 * MAX_SHOWN && with_fix <= MAX_SHOWN,
        "{with_fix} of {}",
        findings.len()
    );
    let settled = settle(&text, findings, |text| World::new("").with_text(text).check_to_mend());
    let tools = ["Read"; 2 * MAX_SHOWN].join(" ");
    assert_eq!(
        settled.text,
        format!(
            "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nlicense: MIT\nallowed-tools: {tools}\n---\nb\n"
        )
    );
    assert_eq!(settled.n_made, 2 * MAX_DIAGNOSTICS - 1 + 2 * MAX_SHOWN);
}

#[test]
fn a_fix_that_breaks_something_is_left_out_of_many() {
    let keys: Vec<String> = (0..40).map(|it| format!("  k{it}: 1.10\n")).collect();
    let keys = keys.concat();
    let head =
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nlicense: MIT\n";
    let text = format!("{head}metadata:\n{keys}---\nb\n");
    let (text, record) = record(&text);
    let document = parse(&text);
    let subject = Subject { text: &text, document: &document, record: &record, path: None };
    let settings = Settings::default();
    let cx = Cx::new(&subject, &settings.profiles, &NoFs);
    let mut findings = found_in(&cx);
    findings.retain(|it| it.rule.id == "yaml/ambiguous-scalar");
    assert_eq!(findings.len(), 40);
    // What is found is on one line, and what is done to another one.
    let license = text.find("license").unwrap();
    let span = Span::new(license, license + "license: MIT\n".len());
    let at = findings[17].diagnostic.span;
    findings[17] = found("yaml/ambiguous-scalar", at, "no").fix("Remove the license", span, "");
    keep_together(&cx, &settings, &mut findings);
    assert_eq!(findings.len(), 39);
    assert!(findings.iter().all(|it| it.fixes[0].title == "Quote the value"));
}
