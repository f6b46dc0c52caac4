//! What fixes do to a frontmatter: everything that they are not about has to be there as it was.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use skills_agents::field_table::{self, FieldStatus, KeyKind};
use skills_syntax::diagnostic::{Diagnostic, Severity};
use skills_syntax::edit::Edit;
use skills_syntax::parse::{
    Closing, Document, Entry, Frontmatter, Opening, ScalarStyle, Value, ValueKind,
};
use skills_syntax::text::{Span, line_end};

use crate::Finding;

/// How many levels of a value are compared: deeper ones count as another value.
const MOST_LEVELS: usize = 64;

/// A text before and after fixes.
pub(super) struct Change<'a> {
    before: &'a str,
    after: &'a str,
    /// What is mended.
    findings: &'a [&'a Finding],
    /// Where it was edited, in the order of the text.
    edited: Vec<Span>,
}

impl<'a> Change<'a> {
    pub(super) fn new(
        before: &'a str,
        after: &'a str,
        findings: &'a [&'a Finding],
        edits: &[Edit],
    ) -> Self {
        let mut edited: Vec<Span> = edits.iter().map(|it| it.span).collect();
        edited.sort_unstable();
        Self { before, after, findings, edited }
    }

    /// Whether the frontmatter says the same of all that is not mended.
    pub(super) fn keeps_frontmatter(&self, before: &Document, after: &Document) -> bool {
        let (Some(before), Some(after)) = (&before.frontmatter, &after.frontmatter) else {
            return false;
        };
        let promises = [
            |it: &Frontmatter| it.opening == Opening::FirstLine,
            |it: &Frontmatter| it.closing == Closing::Dashes,
            |it: &Frontmatter| it.strict.is_ok(),
        ];
        if promises.iter().any(|holds| holds(before) && !holds(after)) {
            return false;
        }
        // What a library refuses is read as it may be meant; a fix may show that better.
        let most_new = if before.strict.is_ok() { self.findings.len() } else { usize::MAX };
        let (old, new) = (&before.entries, &after.entries);
        self.keep((before, old), (after, new), self.findings, most_new)
    }

    /// Whether entries that are not what was found are there as they were.
    fn keep(
        &self,
        (in_before, before): (&Frontmatter, &[Entry]),
        (in_after, after): (&Frontmatter, &[Entry]),
        findings: &[&Finding],
        most_new: usize,
    ) -> bool {
        let found = self.found(before, findings);
        let mut left = Left::new(after);
        let moved = OnceCell::new();
        for (_, entry) in before.iter().enumerate().filter(|(at, _)| !found.contains_key(at)) {
            let is_same = |it: &Entry| self.same(in_before, entry, in_after, it);
            if left.take(&entry.key.text, is_same).is_some() {
                continue;
            }
            // What nobody reads where it stands may get a place of its own.
            let moved = moved.get_or_init(|| below_new_keys(before, after));
            let moved = moved.get(&*entry.key.text).into_iter().flatten();
            if !is_unread(entry) || !moved.copied().any(is_same) {
                return false;
            }
        }
        for (at, findings) in found {
            let entry = &before[at];
            let Some(now) = left.take(&entry.key.text, |_| true) else { continue };
            if let (Some(old), Some(new)) = (entry.value.entries(), now.value.entries())
                && !self.keep((in_before, old), (in_after, new), &findings, usize::MAX)
            {
                return false;
            }
        }
        left.count <= most_new
    }

    /// Returns the entries that are what was found, each with what was found there: a finding lies
    /// on it or, beside all, in its lines.
    fn found<'f>(
        &self,
        all: &[Entry],
        findings: &[&'f Finding],
    ) -> BTreeMap<usize, Vec<&'f Finding>> {
        let mut found: BTreeMap<usize, Vec<&Finding>> = BTreeMap::new();
        for finding in findings {
            let at = finding.diagnostic.span;
            // They stand one behind the other.
            let first = all.partition_point(|it| it.span.end <= at.start);
            let next = all.partition_point(|it| it.span.start < at.end.max(at.start + 1));
            let (from, to) = if first < next {
                (first, next)
            } else {
                let next = all.partition_point(|it| it.span.start <= at.start);
                (all.partition_point(|it| self.line_end(it) < at.start), next)
            };
            for index in from..to {
                found.entry(index).or_default().push(finding);
            }
        }
        found
    }

    /// Returns where the last line of an entry ends.
    fn line_end(&self, entry: &Entry) -> usize {
        line_end(self.before, entry.span.end).unwrap_or(self.before.len())
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
        let first = self.edited.partition_point(|it| it.end < before.span.start);
        if self.edited.get(first).is_none_or(|it| it.start > before.span.end + 2) {
            return false;
        }
        // What was guessed because YAML refuses it may read otherwise where it is mended.
        if before.recovered {
            return true;
        }
        // Where nothing is written, something may be.
        let is_unwritten = before.value.is_null() && before.value.span.is_empty();
        let old = if is_unwritten { Some(&[][..]) } else { before.value.entries() };
        let (Some(old), Some(new)) = (old, after.value.entries()) else { return false };
        let n_new = new.len().saturating_sub(old.len());
        let mut new = new.iter();
        (1..=self.findings.len()).contains(&n_new)
            && old.iter().all(|it| {
                new.any(|now| {
                    now.key.text == it.key.text
                        && is_same(in_before, &it.value, in_after, &now.value, MOST_LEVELS)
                })
            })
    }

    /// Whether the body is the same, but for the blank lines that it begins with.
    pub(super) fn keeps_body(&self, before: &Document, after: &Document) -> bool {
        if self.edited.iter().any(|it| it.end > before.body.start) {
            return true;
        }
        before.body.slice(self.before).trim_start() == after.body.slice(self.after).trim_start()
    }

    /// Whether the parser has more to say than before, or what it was to say no more.
    pub(super) fn refuses_more(&self, before: &Document, after: &Document) -> bool {
        let (old, new) = (errors(before), errors(after));
        let count = |of: &HashMap<&str, usize>, code: &str| of.get(code).copied().unwrap_or(0);
        let mut mended: HashMap<&str, usize> = HashMap::new();
        for finding in self.findings {
            if count(&old, finding.rule.id) > 0 {
                *mended.entry(finding.rule.id).or_default() += 1;
            }
        }
        if before.n_left_out > 0 {
            // Of which kind those are that are not told is not known.
            let n_all = |it: &Document| it.diagnostics.len() + it.n_left_out;
            return n_all(after) + mended.values().sum::<usize>() > n_all(before);
        }
        let stays = |(code, n_mended): (&&str, &usize)| {
            count(&new, code) > count(&old, code).saturating_sub(*n_mended)
        };
        mended.iter().any(stays) || new.iter().any(|(code, it)| *it > count(&old, code))
    }
}

/// Returns how often the parser refuses something, by what it calls that.
fn errors(of: &Document) -> HashMap<&str, usize> {
    let mut errors: HashMap<&str, usize> = HashMap::new();
    let is_error = |it: &&Diagnostic| it.severity == Severity::Error;
    for diagnostic in of.diagnostics.iter().filter(is_error) {
        *errors.entry(diagnostic.code).or_default() += 1;
    }
    errors
}

/// Whether no agent reads a key of the first level.
fn is_unread(entry: &Entry) -> bool {
    match field_table::classify_key(&entry.key.text) {
        KeyKind::Field(field) => field.standing != FieldStatus::Read,
        KeyKind::Misspelled(_) => false,
        KeyKind::Unknown => true,
    }
}

/// Returns what lies below keys that were not there before, by its own keys.
fn below_new_keys<'e>(before: &[Entry], after: &'e [Entry]) -> HashMap<&'e str, Vec<&'e Entry>> {
    let old: HashSet<&str> = before.iter().map(|it| &*it.key.text).collect();
    let new = after.iter().filter(|it| !old.contains(&*it.key.text));
    let mut below: HashMap<&str, Vec<&Entry>> = HashMap::new();
    for entry in new.filter_map(|it| it.value.entries()).flatten() {
        below.entry(&entry.key.text).or_default().push(entry);
    }
    below
}

/// Entries, of which those are taken that are found again: as a rule one after the other.
struct Left<'e> {
    entries: &'e [Entry],
    by_key: HashMap<&'e str, Vec<usize>>,
    count: usize,
}

impl<'e> Left<'e> {
    fn new(entries: &'e [Entry]) -> Self {
        let mut by_key: HashMap<&str, Vec<usize>> = HashMap::new();
        // The first of a key is the last of its list, from which it is taken.
        for (at, entry) in entries.iter().enumerate().rev() {
            by_key.entry(&entry.key.text).or_default().push(at);
        }
        Self { entries, by_key, count: entries.len() }
    }

    /// Takes the first entry of a key for which `is` holds.
    fn take(&mut self, key: &str, is: impl Fn(&Entry) -> bool) -> Option<&'e Entry> {
        let of_key = self.by_key.get_mut(key)?;
        let at = of_key.iter().rposition(|it| is(&self.entries[*it]))?;
        self.count -= 1;
        self.entries.get(of_key.remove(at))
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
