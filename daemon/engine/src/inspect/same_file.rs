//! Findings of a file that is checked under several paths, through symbolic links: each is reported
//! once.

use std::collections::BTreeMap;

use skills_discovery::discover::FileId;
use skills_lint::Finding;
use skills_syntax::path::AbsPath;

/// Removes the findings that a file has under its real path too, or under the first of its paths.
/// Findings about the place or about further agents stay. `files` has the path and the identity of
/// each file, and `found` its findings.
pub(super) fn merge(files: &[(&AbsPath, Option<FileId>)], found: &mut [&mut Vec<Finding>]) {
    let mut groups: BTreeMap<FileId, Vec<usize>> = BTreeMap::new();
    for (at, (_, file)) in files.iter().enumerate() {
        if let Some(file) = file {
            groups.entry(*file).or_default().push(at);
        }
    }
    for group in groups.into_values().filter(|it| it.len() > 1) {
        let is_real = |at: &&usize| {
            let path = files[**at].0;
            path.canonicalize().is_ok_and(|it| it == **path)
        };
        let first = *group.iter().find(is_real).unwrap_or(&group[0]);
        let told = found[first].clone();
        for at in group.into_iter().filter(|at| *at != first) {
            found[at].retain(|it| !told.iter().any(|other| is_covered(it, other)));
        }
    }
}

/// Returns whether another finding says the same, as severely, about the same agents and perhaps
/// more.
fn is_covered(finding: &Finding, other: &Finding) -> bool {
    let (mine, its) = (&finding.diagnostic, &other.diagnostic);
    // `Codex drops this skill: the file has no frontmatter`
    let what = |it: &str| it.split_once(" this skill: ").map(|(_, what)| what.to_owned());
    let is_same = what(&mine.message).is_some_and(|it| what(&its.message).as_ref() == Some(&it));
    let is_included = finding.profiles.iter().all(|it| other.profiles.contains(it));
    finding.rule.id == other.rule.id
        && mine.span == its.span
        && its.severity <= mine.severity
        && is_included
        && (mine.message == its.message || is_same)
}
