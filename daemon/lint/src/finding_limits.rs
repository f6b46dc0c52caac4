//! Limits the number of findings shown for one text.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::fs_context::FsContext;
use super::settings::Settings;
use super::skillsd::TOO_MANY;
use super::subject::{Cx, Subject};
use super::suppress;

/// Maximum number of findings shown for one text.
pub const MAX_SHOWN: usize = 100;

/// Keeps the [`MAX_SHOWN`] most severe findings and appends one that counts the others.
/// Suppressions and levels apply to that one too.
pub fn limit_findings(
    mut findings: Vec<Finding>,
    subject: &Subject<'_>,
    settings: &Settings<'_>,
    fs: &dyn FsContext,
) -> Vec<Finding> {
    let Some(kept) = most_severe(&findings) else { return findings };
    let more = findings.len() - MAX_SHOWN;
    let first = (0..findings.len()).find(|it| !kept.contains(it)).unwrap_or_default();
    let at = findings[first].diagnostic.span;
    let mut index = 0;
    findings.retain(|_| {
        index += 1;
        kept.contains(&(index - 1))
    });
    let mut notice =
        vec![Finding::new(&TOO_MANY, at, format!("{more} more findings are not shown"))];
    let cx = Cx::new(subject, &settings.profiles, fs);
    suppress::apply(&suppress::suppressions(&cx), &mut notice);
    settings.apply_levels(subject.path, &mut notice);
    findings.extend(notice);
    findings
}

/// Returns the indices of the findings to show, or `None` if all are shown.
pub(super) fn most_severe(findings: &[Finding]) -> Option<BTreeSet<usize>> {
    if findings.len() <= MAX_SHOWN {
        return None;
    }
    let mut most_severe: Vec<usize> = (0..findings.len()).collect();
    most_severe.sort_by_key(|&index| findings[index].diagnostic.severity);
    Some(most_severe[..MAX_SHOWN].iter().copied().collect())
}
