//! Verification of many fixes at once: applies all of them and parses the result.
//!
//! If verification fails, each half is tried, down to the failing fix. The time grows with the
//! text, not with the number of fixes.

use skills_agents::skill::parse;
use skills_syntax::edit::{Edit, apply};

use super::FixVerifier;
use super::change::FixedText;
use crate::finding::{Finding, Fix};
use crate::fix_loop::DisjointFixes;
use crate::settings::Settings;
use crate::subject::Cx;

/// Maximum number of verification runs; each failing fix costs several.
const MAX_TRIES: usize = 24;

/// Keeps the findings with a single fix whose fixes pass verification together.
pub(crate) fn keep_jointly_verified(
    cx: &Cx<'_>,
    settings: &Settings<'_>,
    findings: &mut Vec<Finding>,
) {
    let mut proof = FixVerifier::new(cx, settings);
    findings.retain(|it| it.fixes.len() == 1);
    let mut is_kept: Vec<bool> = Vec::with_capacity(findings.len());
    let mut left = Vec::new();
    for (index, finding) in findings.iter().enumerate() {
        let fix = &finding.fixes[0];
        let is_in_body = proof.is_in_body(fix);
        let is_tried = !is_in_body && proof.is_in_head(fix);
        if is_tried {
            left.push(index);
        }
        is_kept.push(is_in_body || !is_tried && proof.passes(finding, fix, true));
    }
    let mut trial = Trial { proof, findings, proven: Vec::new(), n_tries: 0 };
    while !left.is_empty() && trial.n_tries < MAX_TRIES {
        // Fixes that touch a chosen one are tried after it fails, or else in the next round on the
        // changed text.
        let mut chosen = DisjointFixes::default();
        for index in &trial.proven {
            chosen.take(trial.fix(*index));
        }
        let batch: Vec<usize> =
            left.iter().copied().filter(|it| chosen.take(trial.fix(*it))).collect();
        if batch.is_empty() {
            break;
        }
        left.retain(|it| batch.binary_search(it).is_err());
        let proven = trial.proven_of(&batch);
        trial.proven.extend(proven);
        trial.proven.sort_unstable();
    }
    for index in std::mem::take(&mut trial.proven) {
        is_kept[index] = true;
    }
    let mut is_kept = is_kept.into_iter();
    findings.retain(|_| is_kept.next().unwrap_or(false));
}

struct Trial<'t, 'c, 'a> {
    proof: FixVerifier<'c, 'a>,
    findings: &'t [Finding],
    /// Indices of the findings whose fixes pass together.
    proven: Vec<usize>,
    n_tries: usize,
}

impl<'t> Trial<'t, '_, '_> {
    fn fix(&self, index: usize) -> &'t Fix {
        &self.findings[index].fixes[0]
    }

    /// Returns the part of a batch that passes together with the verified fixes.
    fn proven_of(&mut self, batch: &[usize]) -> Vec<usize> {
        if batch.is_empty() || self.n_tries >= MAX_TRIES {
            return Vec::new();
        }
        self.n_tries += 1;
        if self.batch_passes(batch) {
            return batch.to_vec();
        }
        let (first, second) = batch.split_at(batch.len() / 2);
        if first.is_empty() {
            return Vec::new();
        }
        // The second half is tried together with the passing part of the first.
        let first = self.proven_of(first);
        let n_before = self.proven.len();
        self.proven.extend(&first);
        let second = self.proven_of(second);
        self.proven.truncate(n_before);
        [first, second].concat()
    }

    /// Returns whether a batch passes verification together with the verified fixes.
    fn batch_passes(&mut self, batch: &[usize]) -> bool {
        let all = || self.proven.iter().chain(batch);
        let edits: Vec<Edit> = all().flat_map(|it| self.fix(*it).edits.iter().cloned()).collect();
        let fixed: Vec<&Finding> = all().map(|it| &self.findings[*it]).collect();
        let text = self.proof.head();
        let document = self.proof.cx.document;
        let after_text = apply(text, &edits);
        let after = parse(&after_text);
        let change = FixedText::new(text, &after_text, &fixed, &edits);
        change.keeps_words(document, &edits)
            && change.keeps_frontmatter(document, &after)
            && !change.refuses_more(document, &after)
            && self.proof.is_fixed(&fixed, &after_text)
    }
}
