//! Lint rules for SKILL.md files, commands and instruction files: the rule table and the engine
//! that runs it.
//!
//! [`check`] is pure. It takes a text with its syntax tree and record, the active profiles, and an
//! [`FsContext`] that answers questions about the file system. The language server and `skillsd
//! check` show its findings and add none. A finding's severity follows from how the active
//! profiles' agents load the file ([`skills_agents::loaders`]).
//!
//! Reading order: [`Rule`], [`Finding`], [`FsContext`], [`Subject`], then one file for each rule
//! family.

mod affected_agents;
mod body;
mod command;
mod description;
mod field;
mod finding;
mod fix_loop;
mod fs_context;
mod hooks;
mod index;
mod name;
mod page;
mod paths;
mod reference;
mod rule;
mod security;
mod skill_set;
mod skillsd;
mod subject;
mod suppress;
mod table;
mod tools;
mod verify_fix;
mod yaml;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use skills_agents::profile::{self, DEFAULT_PROFILES, Profile};
use skills_agents::references::is_instruction_file;
use skills_discovery::levels::{Level, Levels};
use skills_syntax::path::AbsPath;
use skills_syntax::text::Span;

use subject::Cx;

pub use body::{is_amount, unreferenced_files};
pub use finding::{Finding, Fix, Offer, Related, Tag};
pub use fix_loop::{FixResult, apply_fixes};
pub use fs_context::{FsContext, MAX_MATCHES, NoFs, PathKind, SkillDirFacts};
pub use page::{example, page, section};
pub use rule::Rule;
pub use skill_set::{Neighbour, SkillSet};
pub use subject::Subject;
pub use suppress::is_known;

/// Maximum number of findings shown for one text.
pub const MAX_SHOWN: usize = 100;

/// The profiles and rule levels that a text is checked with.
#[derive(Clone, Debug)]
pub struct Settings<'a> {
    /// The active profiles.
    pub profiles: Vec<&'a Profile>,
    /// Severities that the configuration sets, by rule and path.
    pub levels: Levels,
}

impl Default for Settings<'static> {
    fn default() -> Self {
        let profiles = DEFAULT_PROFILES.iter().filter_map(|it| profile::find(it));
        Self { profiles: profiles.map(|it| &**it).collect(), levels: Levels::default() }
    }
}

impl Settings<'_> {
    /// Applies the configured levels to the findings of the file at `path`. Removes findings at
    /// level `off`.
    fn apply_levels(&self, path: Option<&AbsPath>, findings: &mut Vec<Finding>) {
        findings.retain_mut(|finding| match self.levels.level(finding.rule.id, path) {
            Some(Level::Off) => false,
            Some(Level::As(severity)) => {
                finding.diagnostic.severity = severity;
                true
            }
            None => true,
        });
    }
}

/// Returns all rules, family by family.
pub fn rules() -> &'static [&'static Rule] {
    &table::RULES
}

/// Returns the ids of all rules, family by family.
pub fn ids() -> Vec<&'static str> {
    table::RULES.iter().map(|it| it.id).collect()
}

/// Returns the rule with this id.
pub fn find(id: &str) -> Option<&'static Rule> {
    table::RULES.iter().copied().find(|it| it.id == id)
}

/// Returns the findings of a text, in text order. All rules check skills and commands; in
/// instruction files such as `CLAUDE.md` only references to skills are checked. A finding that
/// [`shown`] would leave out carries no fix of the frontmatter.
pub fn check(subject: &Subject<'_>, settings: &Settings<'_>, fs: &dyn FsContext) -> Vec<Finding> {
    let cx = Cx::new(subject, &settings.profiles, fs);
    let mut found = unverified(&cx, settings);
    verify_fix::discard_failing_fixes(&cx, settings, &mut found);
    found
}

/// Returns the findings of a text for a caller that applies every unambiguous fix. Up to
/// [`MAX_SHOWN`] findings, the result is that of [`check`]. Beyond that, it holds only the findings
/// whose fixes can be applied together.
pub fn check_for_fixing(
    subject: &Subject<'_>,
    settings: &Settings<'_>,
    fs: &dyn FsContext,
) -> Vec<Finding> {
    let cx = Cx::new(subject, &settings.profiles, fs);
    let mut found = unverified(&cx, settings);
    if found.len() > MAX_SHOWN {
        verify_fix::keep_jointly_verified(&cx, settings, &mut found);
    } else {
        verify_fix::discard_failing_fixes(&cx, settings, &mut found);
    }
    found
}

/// Returns the findings of a text, in text order. Their fixes are not verified.
fn unverified(cx: &Cx<'_>, settings: &Settings<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(fault) = cx.fs.fault() {
        // An unreadable file has no known text, so no other rule can run.
        index::report_unreadable(cx, fault, &mut found);
        settings.apply_levels(cx.path, &mut found);
        return found;
    }
    found.extend(run_rules(cx));
    let suppressions = suppress::suppressions(cx);
    suppress::apply(&suppressions, &mut found);
    for (name, span) in suppress::unknown(&suppressions) {
        found.push(self::new_finding(
            "skillsd/unknown-rule",
            *span,
            format!("unknown rule `{name}` in a suppression comment"),
        ));
    }
    for finding in &mut found {
        cx.attribute(finding);
    }
    settings.apply_levels(cx.path, &mut found);
    found.sort_by_key(|it| (it.diagnostic.span, it.diagnostic.severity));
    found
}

/// Returns the findings of all rules, before suppressions and levels apply.
fn run_rules(cx: &Cx<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    if cx.path.is_some_and(|it| is_instruction_file(it)) {
        // Rules about skills do not apply to the rest of an instruction file.
        reference::check_links(cx, &mut found);
    } else {
        yaml::check(cx, &mut found);
        if cx.is_command {
            command::check(cx, &mut found);
        } else {
            name::check(cx, &mut found);
            index::check(cx, &mut found);
        }
        description::check(cx, &mut found);
        field::check(cx, &mut found);
        tools::check(cx, &mut found);
        paths::check(cx, &mut found);
        hooks::check(cx, &mut found);
        body::check(cx, &mut found);
        security::check(cx, &mut found);
    }
    reference::check(cx, &mut found);
    found
}

/// Keeps the [`MAX_SHOWN`] most severe findings and appends one that counts the others.
/// Suppressions and levels apply to that one too.
pub fn shown(
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
        vec![new_finding("skillsd/too-many", at, format!("{more} more findings are not shown"))];
    let cx = Cx::new(subject, &settings.profiles, fs);
    suppress::apply(&suppress::suppressions(&cx), &mut notice);
    settings.apply_levels(subject.path, &mut notice);
    findings.extend(notice);
    findings
}

/// Returns the indices of the findings to show, or `None` if all are shown.
fn most_severe(findings: &[Finding]) -> Option<BTreeSet<usize>> {
    if findings.len() <= MAX_SHOWN {
        return None;
    }
    let mut most_severe: Vec<usize> = (0..findings.len()).collect();
    most_severe.sort_by_key(|&index| findings[index].diagnostic.severity);
    Some(most_severe[..MAX_SHOWN].iter().copied().collect())
}

fn new_finding(id: &'static str, span: Span, message: impl Into<String>) -> Finding {
    Finding::new(
        find(id).expect("the id is in the rule table; a test runs each rule"),
        span,
        message,
    )
}
