//! Proving many fixes at once, as they are made when all are: the text is read with all of them.
//!
//! Where it does not hold what they promise, halves are tried, down to the one that is to blame. So
//! the time that it takes grows as the text does, however many fixes there are.

use skills_agents::skill::parse;
use skills_syntax::edit::{Edit, apply};

use super::change::Change;
use super::{Proof, Settings};
use crate::finding::{Finding, Fix};
use crate::settle::Chosen;
use crate::subject::Cx;

/// How often the text is read with some of the fixes: each that is to blame costs some readings.
const MOST_TRIES: usize = 24;

/// Keeps the findings with one right answer whose fixes hold together what each promises.
pub(crate) fn keep_together(cx: &Cx<'_>, settings: &Settings<'_>, findings: &mut Vec<Finding>) {
    let mut proof = Proof::new(cx, settings);
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
        is_kept.push(is_in_body || !is_tried && proof.holds(finding, fix, true));
    }
    let mut trial = Trial { proof, findings, proven: Vec::new(), n_tries: 0 };
    while !left.is_empty() && trial.n_tries < MOST_TRIES {
        // Those that touch others are tried when these have failed; otherwise they wait until the
        // text is another one.
        let mut chosen = Chosen::default();
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
    proof: Proof<'c, 'a>,
    findings: &'t [Finding],
    /// Those whose fixes hold together.
    proven: Vec<usize>,
    n_tries: usize,
}

impl<'t> Trial<'t, '_, '_> {
    fn fix(&self, index: usize) -> &'t Fix {
        &self.findings[index].fixes[0]
    }

    /// Returns those of some fixes that hold together, and with those that are proven.
    fn proven_of(&mut self, batch: &[usize]) -> Vec<usize> {
        if batch.is_empty() || self.n_tries >= MOST_TRIES {
            return Vec::new();
        }
        self.n_tries += 1;
        if self.hold(batch) {
            return batch.to_vec();
        }
        let (first, second) = batch.split_at(batch.len() / 2);
        if first.is_empty() {
            return Vec::new();
        }
        // The second half is tried on top of what the first has left.
        let first = self.proven_of(first);
        let n_before = self.proven.len();
        self.proven.extend(&first);
        let second = self.proven_of(second);
        self.proven.truncate(n_before);
        [first, second].concat()
    }

    /// Whether some fixes hold what they promise, made together with those that are proven.
    fn hold(&mut self, batch: &[usize]) -> bool {
        let all = || self.proven.iter().chain(batch);
        let edits: Vec<Edit> = all().flat_map(|it| self.fix(*it).edits.iter().cloned()).collect();
        let mended: Vec<&Finding> = all().map(|it| &self.findings[*it]).collect();
        let text = self.proof.head();
        let document = self.proof.cx.document;
        let after_text = apply(text, &edits);
        let after = parse(&after_text);
        let change = Change::new(text, &after_text, &mended, &edits);
        change.keeps_frontmatter(document, &after)
            && !change.refuses_more(document, &after)
            && self.proof.is_mended(&mended, &after_text)
    }
}
