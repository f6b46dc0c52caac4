//! Proving a fix before it is offered: it is made on the text, and the text read before and after.
//!
//! What a fix of the frontmatter must not do: change the meaning of anything but what was found,
//! leave a library with more to refuse than before, or leave the finding where it is. One that
//! does is not offered, whoever wrote its edits. Fixes that lie in the body change nothing that is
//! parsed. What a fix uncovers in a frontmatter that nobody saw before is no harm of it.

use super::finding::{Edit, Finding, Fix, Offer, apply};
use super::subject::{Cx, Subject};
use super::{Nowhere, Settings, found_in};
use crate::catalog::{self, Known, Standing};
use crate::diagnostic::{Diagnostic, Severity};
use crate::parse::{
    Closing, Document, Entry, Frontmatter, Opening, ScalarStyle, Value, ValueKind, find, parse,
};
use crate::skill::{FileFacts, Origin, SkillRecord};

/// How long a text is of which a fix is proven. The longest real frontmatter has a third of it.
const MOST_READ: usize = 64 * 1024;

/// How much text all fixes of a file together are checked in, by all rules.
const MOST_CHECKED: usize = 256 * 1024;

/// How much text all fixes of a file together are read in. Beyond it none is offered: what is mended
/// first makes room for the others.
const MOST_PARSED: usize = 1024 * 1024;

/// Takes the fixes back that do not hold what they promise. What was a choice stays one.
pub(super) fn keep_proven(cx: &Cx<'_>, settings: &Settings<'_>, findings: &mut [Finding]) {
    let mut proof = Proof { cx, settings, head: None, n_parsed: 0, n_checked: 0 };
    for finding in findings {
        let was_choice = finding.fixes.len() > 1;
        let mut fixes = std::mem::take(&mut finding.fixes);
        fixes.retain(|fix| proof.holds(finding, fix, !was_choice));
        if was_choice && fixes.len() == 1 {
            finding.offers.extend(fixes.drain(..).map(Offer::Draft));
        }
        finding.fixes = fixes;
        let mut offers = std::mem::take(&mut finding.offers);
        offers.retain(|offer| match offer {
            Offer::Draft(fix) => proof.holds(finding, fix, false),
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
    head: Option<Vec<Finding>>,
    n_parsed: usize,
    n_checked: usize,
}

impl Proof<'_, '_> {
    fn holds(&mut self, finding: &Finding, fix: &Fix, is_only: bool) -> bool {
        let document = self.cx.document;
        let Some(before) = &document.frontmatter else { return true };
        let body = document.body.start;
        let is_closed = before.opening == Opening::FirstLine && before.closing == Closing::Dashes;
        if is_closed && fix.edits.iter().all(|it| it.span.start >= body) {
            return true;
        }
        let in_head = is_closed && fix.edits.iter().all(|it| it.span.end <= body);
        let text = if in_head { &self.cx.text[..body] } else { self.cx.text };
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
        let change = Change { before: text, after: &mended, finding, edits: &fix.edits };
        change.keeps_frontmatter(before, after.frontmatter.as_ref())
            && (in_head || change.keeps_body(document, &after))
            && (hides(finding) || !change.refuses_more(document, &after))
            && (!in_head || !is_only || self.is_mended(finding, &mended))
    }

    /// Whether all rules together find less in the mended text, and no fault that was not there.
    fn is_mended(&mut self, finding: &Finding, mended: &str) -> bool {
        self.n_checked += mended.len();
        if self.n_checked > MOST_CHECKED {
            return true;
        }
        let before = self.head.take().unwrap_or_else(|| {
            let head = &self.cx.text[..self.cx.document.body.start];
            self.checked(head)
        });
        let after = self.checked(mended);
        let count = |all: &[Finding], id: &str| all.iter().filter(|it| it.rule.id == id).count();
        let n_errors = |all: &[Finding], id: &str| {
            let is_error = |it: &&Finding| it.diagnostic.severity == Severity::Error;
            all.iter().filter(is_error).filter(|it| it.rule.id == id).count()
        };
        // A name that is a text now is asked what names are asked, and the body is left out here.
        let is_new = |it: &Finding| {
            let id = it.rule.id;
            let is_other = matches!(it.rule.family(), "name" | "description" | "body");
            !is_other && n_errors(&after, id) > n_errors(&before, id)
        };
        let n_before = count(&before, finding.rule.id);
        let is_gone = n_before == 0 || count(&after, finding.rule.id) < n_before;
        let is_mended = is_gone && !after.iter().any(is_new);
        self.head = Some(before);
        is_mended
    }

    /// Returns what all rules find in a text of which nothing else is known.
    fn checked(&self, text: &str) -> Vec<Finding> {
        let document = parse(text);
        let facts = FileFacts { size: text.len() as u64, truncated: false, hash: [0; 32] };
        // Some editors keep the mark in the text.
        let has_mark = |it: &str| it.starts_with('\u{FEFF}');
        let bom = self.cx.record.bom && has_mark(text) == has_mark(self.cx.text);
        let origin = Origin { bom, invalid_utf8: None };
        let record = SkillRecord::of(text, &document, facts, origin);
        let subject = Subject { text, document: &document, record: &record, path: self.cx.path };
        found_in(&Cx::new(&subject, &self.settings.profiles, &Nowhere))
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

/// A text before and after a fix.
struct Change<'a> {
    before: &'a str,
    after: &'a str,
    finding: &'a Finding,
    edits: &'a [Edit],
}

/// Whether no agent reads a key of the first level.
fn is_unread(entry: &Entry) -> bool {
    match catalog::recognise(&entry.key.text) {
        Known::Field(field) => field.standing != Standing::Read,
        Known::Misspelled(_) => false,
        Known::Unknown => true,
    }
}

/// How many levels of a value are compared: deeper ones count as another value.
const MOST_LEVELS: usize = 64;

impl Change<'_> {
    fn keeps_frontmatter(&self, before: &Frontmatter, after: Option<&Frontmatter>) -> bool {
        let Some(after) = after else { return false };
        let promises = [
            |it: &Frontmatter| it.opening == Opening::FirstLine,
            |it: &Frontmatter| it.closing == Closing::Dashes,
            |it: &Frontmatter| it.strict.is_ok(),
        ];
        if promises.iter().any(|holds| holds(before) && !holds(after)) {
            return false;
        }
        // What a library refuses is read as it may be meant; a fix may show that better.
        let most_new = if before.strict.is_ok() { 1 } else { usize::MAX };
        self.keep(before, &before.entries, after, &after.entries, most_new)
    }

    /// Whether entries that are not what was found are there as they were.
    fn keep(
        &self,
        in_before: &Frontmatter,
        before: &[Entry],
        in_after: &Frontmatter,
        after: &[Entry],
        most_new: usize,
    ) -> bool {
        let mut left: Vec<&Entry> = after.iter().collect();
        let (found, others): (Vec<_>, Vec<_>) =
            before.iter().partition(|it| self.is_found(before, it));
        for entry in others {
            let is_same = |it: &&Entry| {
                it.key.text == entry.key.text && self.same(in_before, entry, in_after, it)
            };
            match left.iter().position(is_same) {
                Some(at) => _ = left.remove(at),
                // What nobody reads where it stands may get a place of its own.
                None if is_unread(entry) => {
                    let is_new = |it: &&Entry| find(before, &it.key.text).is_none();
                    let entries = after.iter().filter(is_new).filter_map(|it| it.value.entries());
                    if !entries.flatten().any(|it| is_same(&it)) {
                        return false;
                    }
                }
                None => return false,
            }
        }
        for entry in found {
            let Some(at) = left.iter().position(|it| it.key.text == entry.key.text) else {
                continue;
            };
            let now = left.remove(at);
            if let (Some(before), Some(after)) = (entry.value.entries(), now.value.entries())
                && !self.keep(in_before, before, in_after, after, usize::MAX)
            {
                return false;
            }
        }
        left.len() <= most_new
    }

    /// Whether an entry is what was found: the finding lies on it or, beside all, in its lines.
    fn is_found(&self, all: &[Entry], entry: &Entry) -> bool {
        let at = self.finding.diagnostic.span;
        let meets = |it: &Entry| it.span.start < at.end.max(at.start + 1) && at.start < it.span.end;
        if all.iter().any(meets) {
            return meets(entry);
        }
        let line_end = self.before[entry.span.end..].find(['\n', '\r']);
        let end = line_end.map_or(self.before.len(), |it| entry.span.end + it);
        entry.span.start <= at.start && at.start <= end
    }

    /// Whether an entry is as it was, or a map into which an edit has put something.
    fn same(
        &self,
        in_before: &Frontmatter,
        before: &Entry,
        in_after: &Frontmatter,
        after: &Entry,
    ) -> bool {
        if is_same(in_before, &before.value, in_after, &after.value, MOST_LEVELS) {
            return true;
        }
        let touches =
            |it: &Edit| before.span.start <= it.span.end && it.span.start <= before.span.end + 2;
        if !self.edits.iter().any(touches) {
            return false;
        }
        // What was guessed because YAML refuses it may read otherwise where it is mended.
        if before.recovered {
            return true;
        }
        let old = match &before.value {
            // Where nothing is written, something may be.
            it if it.is_null() && it.span.is_empty() => &[][..],
            it => match it.entries() {
                Some(entries) => entries,
                None => return false,
            },
        };
        let Some(new) = after.value.entries() else { return false };
        new.len() == old.len() + 1
            && old.iter().all(|it| {
                let is_same = |now: &&Entry| {
                    now.key.text == it.key.text
                        && is_same(in_before, &it.value, in_after, &now.value, MOST_LEVELS)
                };
                new.iter().find(is_same).is_some()
            })
    }

    /// Whether the body is the same, but for the blank lines that it begins with.
    fn keeps_body(&self, before: &Document, after: &Document) -> bool {
        if self.edits.iter().any(|it| it.span.end > before.body.start) {
            return true;
        }
        before.body.slice(self.before).trim_start() == after.body.slice(self.after).trim_start()
    }

    /// Whether the parser has more to say than before, or what it was to say no more.
    fn refuses_more(&self, before: &Document, after: &Document) -> bool {
        let n_errors = |of: &Document, code: &str| {
            let is_error = |it: &&Diagnostic| it.severity == Severity::Error && it.code == code;
            of.diagnostics.iter().filter(is_error).count()
        };
        let id = self.finding.rule.id;
        let stays = n_errors(before, id) > 0 && n_errors(after, id) >= n_errors(before, id);
        let is_more = |it: &Diagnostic| n_errors(after, it.code) > n_errors(before, it.code);
        stays || after.diagnostics.iter().any(is_more)
    }
}

/// Whether two values are the same, of an alias what it stands for.
fn is_same(
    in_before: &Frontmatter,
    before: &Value,
    in_after: &Frontmatter,
    after: &Value,
    levels: usize,
) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return false };
    match (&before.kind, &after.kind) {
        (ValueKind::Null, ValueKind::Null) => true,
        (
            ValueKind::Scalar { style: old, text: before },
            ValueKind::Scalar { style: new, text: after },
        ) => {
            let is_plain = |it: &ScalarStyle| *it == ScalarStyle::Plain;
            // A line end is one, however it is written.
            is_plain(old) == is_plain(new)
                && before.replace("\r\n", "\n") == after.replace("\r\n", "\n")
        }
        (ValueKind::Sequence { items: before, .. }, ValueKind::Sequence { items: after, .. }) => {
            before.len() == after.len()
                && before
                    .iter()
                    .zip(after)
                    .all(|(old, new)| is_same(in_before, old, in_after, new, levels))
        }
        (ValueKind::Mapping { entries: before, .. }, ValueKind::Mapping { entries: after, .. }) => {
            before.len() == after.len()
                && before.iter().zip(after).all(|(old, new)| {
                    old.key.text == new.key.text
                        && is_same(in_before, &old.value, in_after, &new.value, levels)
                })
        }
        (ValueKind::Alias { target: old }, ValueKind::Alias { target: new }) => {
            // Lists and maps are compared where they stand: one may hold its own alias.
            old.is_some() == new.is_some()
                && in_before.resolve(before).as_str() == in_after.resolve(after).as_str()
        }
        _ => false,
    }
}
