//! Fix verification on random frontmatters.
//!
//! An independent YAML library checks the effect of each fix.

use proptest::prelude::*;
use serde_yaml::{Mapping, Value};
use skills_agents::skill::parse;
use skills_syntax::edit::apply;
use skills_syntax::parse::MAX_DIAGNOSTICS;
use skills_syntax::text::Span;

use crate::run_rules::run_rules;
use crate::subject::{Cx, Subject};
use crate::testing::{Fixture, record};
use crate::verify_fix::batch::keep_jointly_verified;
use crate::yaml::rules::AMBIGUOUS_SCALAR;
use crate::{Finding, MAX_SHOWN, NoFs, Offer, Settings, apply_fixes};

/// Valid and invalid entries, as written on a line or in braces.
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

/// Returns the fields of a text as `serde_yaml` reads them, or `None` if it rejects the text.
fn fields(text: &str) -> Option<Mapping> {
    let content = text.strip_prefix("---\n")?.split_once("---\n")?.0;
    match serde_yaml::from_str(content).ok()? {
        Value::Mapping(fields) => Some(fields),
        Value::Null => Some(Mapping::new()),
        _ => None,
    }
}

/// Returns the key of the entry that a finding is on or after.
fn key_of(text: &str, finding: &Finding) -> Option<String> {
    let frontmatter = parse(text).frontmatter?;
    let at = finding.diagnostic.span;
    let entry = frontmatter.entries.iter().rfind(|it| it.span.start <= at.start)?;
    Some(entry.key.text.clone())
}

proptest! {
    // Each case is checked again after every fix.
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn fixes_keep_unrelated_fields_of_random_frontmatters(text in document()) {
        let found = Fixture::new("").with_text(&text).check();
        for finding in &found {
            let drafts = finding.offers.iter().filter_map(|it| match it {
                Offer::Draft(fix) => Some(fix),
                _ => None,
            });
            for fix in finding.fixes.iter().chain(drafts) {
                let fixed = apply(&text, &fix.edits);
                let after = Fixture::new("").with_text(&fixed).check();
                let count = |all: &[Finding]| {
                    all.iter().filter(|it| it.rule.id.as_str() == finding.rule.id.as_str()).count()
                };
                // One of two duplicate keys remains.
                let most = count(&found) - usize::from(finding.only_fix().is_some());
                prop_assert!(count(&after) <= most, "{}: {fixed}", fix.title);
                let Some(before) = fields(&text) else { continue };
                let Some(now) = fields(&fixed) else {
                    return Err(TestCaseError::fail(format!("{}: {fixed}", fix.title)));
                };
                let key = key_of(&text, finding);
                for (name, value) in &before {
                    let name = name.as_str().unwrap_or_default();
                    let is_its_own = key.as_deref() == Some(name);
                    let is_grown = name == "metadata" && fix.title.starts_with("Move");
                    prop_assert!(
                        is_its_own || is_grown || now.get(name) == Some(value),
                        "{} changes {name}: {fixed}", fix.title
                    );
                }
                prop_assert!(now.len() <= before.len() + 1, "{}: {fixed}", fix.title);
            }
        }
    }
}

#[test]
fn long_text_offers_only_verified_fixes() {
    let tools = vec!["Raed"; 9000].join(", ");
    let text = format!(
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nallowed-tools: {tools}\n---\nb\n"
    );
    let found = Fixture::new("").with_text(&text).check();
    let n_fixed = found.iter().filter(|it| !it.fixes.is_empty()).count();
    assert!(n_fixed > 0 && n_fixed < found.len(), "{n_fixed} of {}", found.len());
}

#[test]
fn fix_loop_applies_more_fixes_than_are_shown() {
    let twice = "license: MIT\n".repeat(2 * MAX_DIAGNOSTICS);
    let tools = ["Raed"; 2 * MAX_SHOWN].join(" ");
    let text = format!(
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n{twice}allowed-tools: {tools}\n---\nb\n"
    );
    let findings = Fixture::new("").with_text(&text).check();
    let with_fix = findings.iter().filter(|it| !it.fixes.is_empty()).count();
    assert!(
        findings.len() > 2 * MAX_SHOWN && with_fix <= MAX_SHOWN,
        "{with_fix} of {}",
        findings.len()
    );
    let run_fix_loop =
        apply_fixes(&text, findings, |text| Fixture::new("").with_text(text).check_for_fixing());
    let tools = ["Read"; 2 * MAX_SHOWN].join(" ");
    assert_eq!(
        run_fix_loop.text,
        format!(
            "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nlicense: MIT\nallowed-tools: {tools}\n---\nb\n"
        )
    );
    assert_eq!(run_fix_loop.n_made, 2 * MAX_DIAGNOSTICS - 1 + 2 * MAX_SHOWN);
}

#[test]
fn breaking_fix_is_left_out_of_a_batch() {
    let keys: Vec<String> = (0..40).map(|it| format!("  k{it}: 1.10\n")).collect();
    let keys = keys.concat();
    let head =
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nlicense: MIT\n";
    let text = format!("{head}metadata:\n{keys}---\nb\n");
    let (text, record) = record(&text);
    let document = parse(&text);
    let subject =
        Subject { text: &text, document: &document, record: &record, path: None, parts: None };
    let settings = Settings::default();
    let cx = Cx::new(&subject, &settings.profiles, &NoFs);
    let mut findings = run_rules(&cx);
    findings.retain(|it| it.rule.id.as_str() == "yaml/ambiguous-scalar");
    assert_eq!(findings.len(), 40);
    // The finding is on one line, and its fix changes another.
    let license = text.find("license").unwrap();
    let span = Span::new(license, license + "license: MIT\n".len());
    let at = findings[17].diagnostic.span;
    findings[17] = Finding::new(&AMBIGUOUS_SCALAR, at, "no").fix("Remove the license", span, "");
    keep_jointly_verified(&cx, &settings, &mut findings);
    assert_eq!(findings.len(), 39);
    assert!(findings.iter().all(|it| it.fixes[0].title == "Quote the value"));
}

#[test]
fn fix_that_loses_words_outside_its_value_is_discarded() {
    let check = |text: &str, removed: &str, is_kept: bool| {
        let (text, record) = record(text);
        let document = parse(&text);
        let subject =
            Subject { text: &text, document: &document, record: &record, path: None, parts: None };
        let settings = Settings::default();
        let cx = Cx::new(&subject, &settings.profiles, &NoFs);
        let at = text.find(removed).unwrap();
        let span = Span::new(at, at + removed.len());
        let finding = Finding::new(&AMBIGUOUS_SCALAR, span, "no").fix("Change", span, "1");
        let mut findings = [finding];
        crate::verify_fix::discard_failing_fixes(&cx, &settings, &mut findings);
        assert_eq!(findings[0].fixes.len() == 1, is_kept, "{text}");
    };
    // The value is guessed, and its second line is a field.
    check(
        "---\nname: \"pdf\"\n  description: Reads.\n---\nb\n",
        "\"pdf\"\n  description: Reads.",
        false,
    );
    check(
        "---\nlicense: 1.10 # asked by Anna\nname: pdf\n---\nb\n",
        "1.10 # asked by Anna\n",
        false,
    );
    check("---\nlicense: 1.10 # asked by Anna\nname: pdf\n---\nb\n", "1.10", true);
}
