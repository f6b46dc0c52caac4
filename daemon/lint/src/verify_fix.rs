//! Fix verification: applies each fix to the text, parses the result and discards fixes that fail.
//!
//! A fix of the frontmatter must not change the meaning of other entries, remove words of the
//! author elsewhere, add parser errors or leave its finding in place. Fixes in the body need no
//! verification, because they change nothing that is parsed. Findings uncovered in a frontmatter
//! that agents could not see before do not count against a fix.
//!
//! Verifying a fix parses the whole frontmatter. Fixes of shown findings are verified one by one
//! within a limit; if all fixes are applied at once, those of very many findings are verified
//! together ([`batch`]).

pub(super) mod batch;
mod change;

use std::collections::HashMap;

use skills_agents::skill::{DecodeFacts, FileFacts, SkillRecord, parse};
use skills_syntax::diagnostic::Severity;
use skills_syntax::edit::apply;
use skills_syntax::parse::{Closing, OpeningKind};

use super::finding::{Finding, Fix, Offer};
use super::finding_limits::most_severe;
use super::fs_context::NoFs;
use super::rule_id::RuleId;
use super::run_rules::run_rules;
use super::settings::Settings;
use super::subject::{Cx, Subject};
use change::FixedText;

/// Maximum length in bytes of a text whose fixes are verified one by one. The longest real
/// frontmatter has a third of it.
const MAX_TEXT_LEN: usize = 64 * 1024;

/// Maximum number of bytes that all rules check again for the fixes of one file.
const MAX_CHECKED_BYTES: usize = 256 * 1024;

/// Maximum number of bytes parsed for the fixes of one file. Further fixes are not offered;
/// applying the first ones makes room for them.
const MAX_PARSED_BYTES: usize = 1024 * 1024;

/// Discards the fixes that fail verification and those of findings that are not shown. If one of
/// several alternatives remains, it becomes a draft.
pub(super) fn discard_failing_fixes(
    cx: &Cx<'_>,
    settings: &Settings<'_>,
    findings: &mut [Finding],
) {
    let mut verifier = FixVerifier::new(cx, settings);
    let shown = most_severe(findings);
    for (index, finding) in findings.iter_mut().enumerate() {
        let is_shown = shown.as_ref().is_none_or(|it| it.contains(&index));
        verifier.discard_failing(finding, is_shown);
    }
}

/// Returns the wanted findings without the fixes that [`discard_failing_fixes`] discards.
pub(super) fn verify_fixes(
    cx: &Cx<'_>,
    settings: &Settings<'_>,
    findings: &[Finding],
    is_wanted: impl Fn(&Finding) -> bool,
) -> Vec<Finding> {
    let mut verifier = FixVerifier::new(cx, settings);
    let shown = most_severe(findings);
    let wanted = findings.iter().enumerate().filter(|(_, it)| is_wanted(it));
    let verified = wanted.map(|(index, finding)| {
        let mut finding = finding.clone();
        let is_shown = shown.as_ref().is_none_or(|it| it.contains(&index));
        verifier.discard_failing(&mut finding, is_shown);
        finding
    });
    verified.collect()
}

struct FixVerifier<'c, 'a> {
    cx: &'c Cx<'a>,
    settings: &'c Settings<'c>,
    /// Number of findings per rule in the text before the body; computed on first use.
    head: Option<RuleCounts>,
    n_parsed: usize,
    n_checked: usize,
}

impl<'c, 'a> FixVerifier<'c, 'a> {
    fn new(cx: &'c Cx<'a>, settings: &'c Settings<'c>) -> Self {
        Self { cx, settings, head: None, n_parsed: 0, n_checked: 0 }
    }

    /// Discards the fixes of a finding that fail verification, and those of the frontmatter if the
    /// finding is not shown.
    fn discard_failing(&mut self, finding: &mut Finding, is_shown: bool) {
        let was_choice = finding.fixes.len() > 1;
        let mut fixes = std::mem::take(&mut finding.fixes);
        fixes.retain(|fix| {
            self.is_in_body(fix) || is_shown && self.passes(finding, fix, !was_choice)
        });
        if was_choice && fixes.len() == 1 {
            finding.offers.extend(fixes.drain(..).map(Offer::Draft));
        }
        finding.fixes = fixes;
        let mut offers = std::mem::take(&mut finding.offers);
        offers.retain(|offer| match offer {
            Offer::Draft(fix) => {
                self.is_in_body(fix) || is_shown && self.passes(finding, fix, false)
            }
            Offer::MakeExecutable(_)
            | Offer::CreateFile(_)
            | Offer::RenameDirectory(_)
            | Offer::RenameSkill(_)
            | Offer::RemoveMark => true,
        });
        finding.offers = offers;
    }

    /// Returns whether all agents recognise the frontmatter.
    fn is_closed(&self) -> bool {
        let frontmatter = self.cx.document.frontmatter.as_ref();
        frontmatter
            .is_some_and(|it| it.opening == OpeningKind::FirstLine && it.closing == Closing::Dashes)
    }

    /// Returns whether a fix changes only the body, which is not parsed.
    fn is_in_body(&self, fix: &Fix) -> bool {
        let body = self.cx.document.body.start;
        self.cx.document.frontmatter.is_none()
            || self.is_closed() && fix.edits.iter().all(|it| it.span.start >= body)
    }

    /// Returns whether a fix changes only the frontmatter.
    fn is_in_head(&self, fix: &Fix) -> bool {
        let body = self.cx.document.body.start;
        self.is_closed() && fix.edits.iter().all(|it| it.span.end <= body)
    }

    fn head(&self) -> &'c str {
        &self.cx.text[..self.cx.document.body.start]
    }

    /// Returns whether a fix outside the body passes verification. `is_only` is true for a
    /// finding's single fix, which must also remove the finding.
    fn passes(&mut self, finding: &Finding, fix: &Fix, is_only: bool) -> bool {
        let in_head = self.is_in_head(fix);
        let text = if in_head { self.head() } else { self.cx.text };
        if text.len() > MAX_TEXT_LEN {
            // A long text is not parsed again; a fix that restores the frontmatter is offered
            // unverified.
            return !in_head;
        }
        self.n_parsed += text.len();
        if self.n_parsed > MAX_PARSED_BYTES {
            return false;
        }
        let fixed = apply(text, &fix.edits);
        let after = parse(&fixed);
        let document = self.cx.document;
        let findings = [finding];
        let change =
            FixedText::new(text, &fixed, &findings, &fix.edits).chosen_by_the_user(!is_only);
        let keeps = change.keeps_words(document, &fix.edits)
            && change.keeps_frontmatter(document, &after)
            && (in_head || change.keeps_body(document, &after))
            && (hides(finding) || !change.refuses_more(document, &after));
        if !keeps || !in_head || !is_only {
            return keeps;
        }
        self.n_checked += fixed.len();
        self.n_checked > MAX_CHECKED_BYTES || self.is_fixed(&findings, &fixed)
    }

    /// Returns whether the fixed text has fewer findings of each fixed rule, as many as were fixed,
    /// and no new errors.
    fn is_fixed(&mut self, findings: &[&Finding], fixed: &str) -> bool {
        let before = self.head.take().unwrap_or_else(|| self.checked(self.head()));
        let after = self.checked(fixed);
        let mut n_fixed: HashMap<RuleId, usize> = HashMap::new();
        for finding in findings {
            *n_fixed.entry(finding.rule.id).or_default() += 1;
        }
        // A rule that needs more than the text has no findings here, before or after.
        let is_gone = n_fixed.iter().all(|(&id, n_fixed)| {
            let n_before = before.count_of(id).all;
            n_before == 0
                || after.count_of(id).all <= n_before.saturating_sub(*n_fixed)
                || before.n_left_out > 0 && after.n_left_out + n_fixed <= before.n_left_out
        });
        // A name that becomes a string is checked by more rules, and the body is missing here.
        let is_new = |(&id, count): (&RuleId, &Count)| {
            !matches!(id.family(), "name" | "description" | "body")
                && count.errors > before.count_of(id).errors
        };
        let is_fixed = is_gone && !after.counts.iter().any(is_new);
        self.head = Some(before);
        is_fixed
    }

    /// Counts the findings of all rules in a text, without file-system facts.
    fn checked(&self, text: &str) -> RuleCounts {
        let document = parse(text);
        let facts = FileFacts { size: text.len() as u64, truncated: false, hash: [0; 32] };
        // Some editors keep the byte order mark in the text.
        let has_mark = |it: &str| it.starts_with('\u{FEFF}');
        let bom = self.cx.record.bom && has_mark(text) == has_mark(self.cx.text);
        let origin = DecodeFacts { bom, invalid_utf8: None };
        let record = SkillRecord::from_document(text, &document, facts, origin);
        let subject =
            Subject { text, document: &document, record: &record, path: self.cx.path, parts: None };
        let found = run_rules(&Cx::new(&subject, &self.settings.profiles, &NoFs));
        RuleCounts::of(&found, document.n_left_out)
    }
}

/// Number of findings of one rule.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    all: usize,
    errors: usize,
}

/// Number of findings per rule.
#[derive(Debug)]
struct RuleCounts {
    counts: HashMap<RuleId, Count>,
    /// Number of parser diagnostics that were left out.
    n_left_out: usize,
}

impl RuleCounts {
    fn of(found: &[Finding], n_left_out: usize) -> Self {
        let mut counts: HashMap<RuleId, Count> = HashMap::new();
        for finding in found {
            let count = counts.entry(finding.rule.id).or_default();
            count.all += 1;
            count.errors += usize::from(finding.diagnostic.severity == Severity::Error);
        }
        Self { counts, n_left_out }
    }

    fn count_of(&self, id: RuleId) -> Count {
        self.counts.get(&id).copied().unwrap_or_default()
    }
}

/// Returns whether the problem hid the frontmatter, with all its other problems, from agents.
fn hides(finding: &Finding) -> bool {
    matches!(
        finding.rule.id,
        RuleId::YamlUnclosedFrontmatter
            | RuleId::YamlMissingOpening
            | RuleId::YamlTextBeforeFrontmatter
            | RuleId::YamlOddClosing
    )
}
