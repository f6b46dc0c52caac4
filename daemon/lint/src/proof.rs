//! Proving a fix before it is offered: it is made on the text, and the text read before and after.
//!
//! What a fix of the frontmatter must not do: change the meaning of anything but what was found,
//! leave a library with more to refuse than before, or leave the finding where it is. One that
//! does is not offered, whoever wrote its edits. Fixes that lie in the body change nothing that is
//! parsed. What a fix uncovers in a frontmatter that nobody saw before is no harm of it.
//!
//! To prove a fix takes reading the whole frontmatter. So each is proven alone that somebody is
//! shown, of so many as fit a bound; and where all are to be made, those of very many findings are
//! proven together ([`together`]).

mod change;
mod together;

use std::collections::HashMap;

use skills_agents::skill::{DecodeFacts, FileFacts, SkillRecord, parse};
use skills_syntax::diagnostic::Severity;
use skills_syntax::edit::apply;
use skills_syntax::parse::{Closing, Opening};

use super::finding::{Finding, Fix, Offer};
use super::subject::{Cx, Subject};
use super::{NoFs, Settings, found_in, gravest};
use change::Change;

pub(super) use together::keep_together;

/// How long a text is of which a fix is proven alone. The longest real frontmatter has a third of it.
const MOST_READ: usize = 64 * 1024;

/// How much text all fixes of a file together are checked in, by all rules.
const MOST_CHECKED: usize = 256 * 1024;

/// How much text all fixes of a file together are read in. Beyond it none is offered: what is mended
/// first makes room for the others.
const MOST_PARSED: usize = 1024 * 1024;

/// Takes the fixes back that do not hold what they promise, and those of findings that nobody is
/// shown. What was a choice stays one.
pub(super) fn keep_proven(cx: &Cx<'_>, settings: &Settings<'_>, findings: &mut [Finding]) {
    let mut proof = Proof::new(cx, settings);
    let shown = gravest(findings);
    for (index, finding) in findings.iter_mut().enumerate() {
        let is_shown = shown.as_ref().is_none_or(|it| it.contains(&index));
        let was_choice = finding.fixes.len() > 1;
        let mut fixes = std::mem::take(&mut finding.fixes);
        fixes.retain(|fix| {
            proof.is_in_body(fix) || is_shown && proof.holds(finding, fix, !was_choice)
        });
        if was_choice && fixes.len() == 1 {
            finding.offers.extend(fixes.drain(..).map(Offer::Draft));
        }
        finding.fixes = fixes;
        let mut offers = std::mem::take(&mut finding.offers);
        offers.retain(|offer| match offer {
            Offer::Draft(fix) => {
                proof.is_in_body(fix) || is_shown && proof.holds(finding, fix, false)
            }
            Offer::MakeExecutable(_)
            | Offer::RenameDirectory(_)
            | Offer::RenameSkill(_)
            | Offer::RemoveMark => true,
        });
        finding.offers = offers;
    }
}

struct Proof<'c, 'a> {
    cx: &'c Cx<'a>,
    settings: &'c Settings<'c>,
    /// What all rules find in the text up to the body.
    head: Option<Tally>,
    n_parsed: usize,
    n_checked: usize,
}

impl<'c, 'a> Proof<'c, 'a> {
    fn new(cx: &'c Cx<'a>, settings: &'c Settings<'c>) -> Self {
        Self { cx, settings, head: None, n_parsed: 0, n_checked: 0 }
    }

    /// Whether all agents see the frontmatter where it is.
    fn is_closed(&self) -> bool {
        let frontmatter = self.cx.document.frontmatter.as_ref();
        frontmatter
            .is_some_and(|it| it.opening == Opening::FirstLine && it.closing == Closing::Dashes)
    }

    /// Whether a fix changes nothing that is parsed.
    fn is_in_body(&self, fix: &Fix) -> bool {
        let body = self.cx.document.body.start;
        self.cx.document.frontmatter.is_none()
            || self.is_closed() && fix.edits.iter().all(|it| it.span.start >= body)
    }

    /// Whether a fix changes the frontmatter alone.
    fn is_in_head(&self, fix: &Fix) -> bool {
        let body = self.cx.document.body.start;
        self.is_closed() && fix.edits.iter().all(|it| it.span.end <= body)
    }

    fn head(&self) -> &'c str {
        &self.cx.text[..self.cx.document.body.start]
    }

    /// Whether one fix, which is not of the body, holds what it promises.
    fn holds(&mut self, finding: &Finding, fix: &Fix, is_only: bool) -> bool {
        let in_head = self.is_in_head(fix);
        let text = if in_head { self.head() } else { self.cx.text };
        if text.len() > MOST_READ {
            // What mends a long file as a whole is worth more than its proof.
            return !in_head;
        }
        self.n_parsed += text.len();
        if self.n_parsed > MOST_PARSED {
            return false;
        }
        let mended = apply(text, &fix.edits);
        let after = parse(&mended);
        let document = self.cx.document;
        let findings = [finding];
        let change = Change::new(text, &mended, &findings, &fix.edits);
        let keeps = change.keeps_frontmatter(document, &after)
            && (in_head || change.keeps_body(document, &after))
            && (hides(finding) || !change.refuses_more(document, &after));
        if !keeps || !in_head || !is_only {
            return keeps;
        }
        self.n_checked += mended.len();
        self.n_checked > MOST_CHECKED || self.is_mended(&findings, &mended)
    }

    /// Whether all rules together find as many less in the mended text as was mended, and no fault
    /// that was not there.
    fn is_mended(&mut self, findings: &[&Finding], mended: &str) -> bool {
        let before = self.head.take().unwrap_or_else(|| self.checked(self.head()));
        let after = self.checked(mended);
        let mut n_mended: HashMap<&str, usize> = HashMap::new();
        for finding in findings {
            *n_mended.entry(finding.rule.id).or_default() += 1;
        }
        // Of a rule that needs to know more than the text nothing was found before either.
        let is_gone = n_mended.iter().all(|(id, n_mended)| {
            let n_before = before.of_rule(id).all;
            n_before == 0
                || after.of_rule(id).all <= n_before.saturating_sub(*n_mended)
                || before.n_left_out > 0 && after.n_left_out + n_mended <= before.n_left_out
        });
        // A name that is a text now is asked what names are asked, and the body is left out here.
        let is_new = |(id, count): (&&str, &Count)| {
            let family = id.split_once('/').map_or(*id, |(family, _)| family);
            !matches!(family, "name" | "description" | "body")
                && count.errors > before.of_rule(id).errors
        };
        let is_mended = is_gone && !after.counts.iter().any(is_new);
        self.head = Some(before);
        is_mended
    }

    /// Returns what all rules find in a text of which nothing else is known.
    fn checked(&self, text: &str) -> Tally {
        let document = parse(text);
        let facts = FileFacts { size: text.len() as u64, truncated: false, hash: [0; 32] };
        // Some editors keep the mark in the text.
        let has_mark = |it: &str| it.starts_with('\u{FEFF}');
        let bom = self.cx.record.bom && has_mark(text) == has_mark(self.cx.text);
        let origin = DecodeFacts { bom, invalid_utf8: None };
        let record = SkillRecord::from_document(text, &document, facts, origin);
        let subject = Subject { text, document: &document, record: &record, path: self.cx.path };
        let found = found_in(&Cx::new(&subject, &self.settings.profiles, &NoFs));
        Tally::of(&found, document.n_left_out)
    }
}

/// How often a rule has found something.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    all: usize,
    errors: usize,
}

/// How often each rule has found something in a text.
#[derive(Debug)]
struct Tally {
    counts: HashMap<&'static str, Count>,
    /// How much more the parser has found.
    n_left_out: usize,
}

impl Tally {
    fn of(found: &[Finding], n_left_out: usize) -> Self {
        let mut counts: HashMap<&'static str, Count> = HashMap::new();
        for finding in found {
            let count = counts.entry(finding.rule.id).or_default();
            count.all += 1;
            count.errors += usize::from(finding.diagnostic.severity == Severity::Error);
        }
        Self { counts, n_left_out }
    }

    fn of_rule(&self, id: &str) -> Count {
        self.counts.get(id).copied().unwrap_or_default()
    }
}

/// Whether what is wrong hid the frontmatter from agents, and all that is wrong in it.
fn hides(finding: &Finding) -> bool {
    matches!(
        finding.rule.id,
        "yaml/unclosed-frontmatter"
            | "yaml/missing-opening"
            | "yaml/text-before-frontmatter"
            | "yaml/odd-closing"
    )
}
