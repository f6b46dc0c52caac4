//! Conversion of findings and rule descriptions to the wire.
//!
//! `page` is the URL of the rules page, if there is one.

use skills_agents::profile::Profile;
use skills_engine::inspect::{Checked, FixResult};
use skills_lint::Rule;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire;
use skills_syntax::edit;
use skills_syntax::text::LineIndex;

use super::position::PositionConverter;
use super::value::{hash, severity};

pub(crate) fn profile_name(profile: &Profile) -> wire::ProfileName {
    let confidence = Some(super::evidence(profile.confidence()));
    let (profile, agent) = (profile.id.to_string(), profile.agent.to_string());
    wire::ProfileName { profile, agent, confidence }
}

pub(crate) fn checked_file(checked: &Checked, page: Option<&str>) -> wire::CheckedFile {
    let places = PositionConverter {
        head: &checked.text,
        index: LineIndex::new(&checked.text),
        before: if checked.bom { '\u{FEFF}'.len_utf8() as u64 } else { 0 },
    };
    let encoding = encoding_of([&*checked.path]);
    wire::CheckedFile {
        path: encode(&checked.path, encoding),
        path_encoding: encoding,
        hash: checked.hash.as_ref().map(|it| hash(it)),
        findings: checked.findings.iter().map(|it| check_finding(it, page, &places)).collect(),
        fix_all: checked.fix_result.as_ref().map(|it| fix_all(it, &places)),
    }
}

fn fix_all(fix_result: &FixResult, places: &PositionConverter<'_>) -> wire::FixAll {
    let mark = fix_result.removes_mark.then(|| without_mark(places));
    let edits = fix_result.edits.iter().map(|it| check_edit(it, places));
    wire::FixAll { edits: mark.into_iter().chain(edits).collect(), made: fix_result.n_made as u64 }
}

fn check_edit(edit: &edit::Edit, places: &PositionConverter<'_>) -> wire::CheckEdit {
    wire::CheckEdit { range: places.range(edit.span), new_text: edit.text.clone() }
}

/// Returns the edit that removes the byte order mark.
fn without_mark(places: &PositionConverter<'_>) -> wire::CheckEdit {
    let at = |offset| wire::Position { line: 1, column: 1, offset };
    let range = wire::Range { start: at(0), end: at(places.before) };
    wire::CheckEdit { range, new_text: String::new() }
}

fn check_finding(
    finding: &skills_lint::Finding,
    page: Option<&str>,
    places: &PositionConverter<'_>,
) -> wire::CheckFinding {
    let found = &finding.diagnostic;
    let related = |it: &skills_lint::Related| {
        let encoding = encoding_of([&*it.path]);
        let message = it.message.clone();
        wire::RelatedFile { path: encode(&it.path, encoding), path_encoding: encoding, message }
    };
    // The only offer that edits the file and has a single right result.
    let mark = |it: &skills_lint::Offer| {
        (*it == skills_lint::Offer::RemoveMark)
            .then(|| wire::CheckFix { title: it.title(), edits: vec![without_mark(places)] })
    };
    let fix = |it: &skills_lint::Fix| wire::CheckFix {
        title: it.title.clone(),
        edits: it.edits.iter().map(|it| check_edit(it, places)).collect(),
    };
    wire::CheckFinding {
        code: found.code.as_str().to_owned(),
        href: page.map(|it| finding.rule.address(it)),
        severity: severity(found.severity),
        message: found.message.clone(),
        help: found.help.clone(),
        profiles: finding.profiles.clone(),
        range: places.range(found.span),
        tag: finding.tag.map(|it| match it {
            skills_lint::Tag::Unnecessary => wire::FindingTag::Unnecessary,
            skills_lint::Tag::Deprecated => wire::FindingTag::Deprecated,
        }),
        related: finding.related.iter().map(related).collect(),
        fixes: finding
            .fixes
            .iter()
            .map(fix)
            .chain(finding.offers.iter().filter_map(mark))
            .collect(),
    }
}

pub(crate) fn rule(rule: &Rule, page: Option<&str>) -> wire::RuleDescription {
    let source = |it: &skills_agents::field_table::Citation| wire::RuleReference {
        title: it.title.to_owned(),
        address: Some(it.address.to_owned()).filter(|it| !it.is_empty()),
        version: it.version.to_owned(),
    };
    wire::RuleDescription {
        rule: rule.id.as_str().to_owned(),
        href: page.map(|it| rule.address(it)),
        severity: severity(rule.severity),
        what: rule.problem.to_owned(),
        why: rule.consequence.to_owned(),
        repair: rule.remedy.to_owned(),
        fixable: rule.fixable,
        choosable: rule.choosable,
        agents: rule.agents.iter().map(|it| it.name().to_owned()).collect(),
        sources: rule.sources.iter().map(|it| source(it)).collect(),
        since: rule.since.to_owned(),
        failing: skills_lint::example(rule.failing),
        passing: skills_lint::example(rule.passing),
        markdown: skills_lint::section(rule),
    }
}
