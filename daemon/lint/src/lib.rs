//! What is wrong with a SKILL.md: one table of rules, and the engine that applies them.
//!
//! [`check`] is pure: a text with its tree and record, the profiles whose agents matter, and the
//! [`FsContext`] that the caller answers for. Whoever shows findings (the language server,
//! `skillsd check`) shows these and adds none. How grave a finding is follows from what the
//! active profiles' agents do with the file, which is for [`skills_agents::loaders`] to say.
//!
//! Read it in this order: a rule, a finding with its fixes, what is asked of the world, the
//! subject; then one file for each family.

mod rule;

mod finding;

mod company;

mod surroundings;

mod subject;

mod audience;

mod suppress;

mod proof;

mod settle;

mod yaml;

mod name;

mod description;

mod field;

mod tools;

mod paths;

mod hooks;

mod body;

mod security;

mod index;

mod reference;

mod command;

mod own;

mod table;

mod page;

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

pub use body::{is_amount, unnamed};
pub use company::{Neighbour, SkillSet};
pub use finding::{Finding, Fix, Offer, Related, Tag};
pub use page::{example, page, section};
pub use rule::Rule;
pub use settle::{Settled, settle};
pub use subject::Subject;
pub use suppress::is_known;
pub use surroundings::{ENOUGH, Facts, FsContext, Look, NoFs};

/// How many findings of one text are worth showing.
pub const MAX_SHOWN: usize = 100;

/// By whose rules a text is checked.
#[derive(Clone, Debug)]
pub struct Settings<'a> {
    /// The profiles whose agents count.
    pub profiles: Vec<&'a Profile>,
    /// How much each rule matters, where somebody has decided.
    pub levels: Levels,
}

impl Default for Settings<'static> {
    fn default() -> Self {
        let profiles = DEFAULT_PROFILES.iter().filter_map(|it| profile::find(it));
        Self { profiles: profiles.map(|it| &**it).collect(), levels: Levels::default() }
    }
}

impl Settings<'_> {
    /// Gives findings in a file the severities that have been decided, and drops those that are off.
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

/// Returns the rule of that id.
pub fn find(id: &str) -> Option<&'static Rule> {
    table::RULES.iter().copied().find(|it| it.id == id)
}

/// Returns what is wrong with a text, in its order: of a skill or a command all that is known, of
/// instructions for agents what they say of skills. Findings that are not [`shown`] have no fixes of
/// the frontmatter.
pub fn check(
    subject: &Subject<'_>,
    settings: &Settings<'_>,
    surroundings: &dyn FsContext,
) -> Vec<Finding> {
    let cx = Cx::new(subject, &settings.profiles, surroundings);
    let mut found = unproven(&cx, settings);
    proof::keep_proven(&cx, settings, &mut found);
    found
}

/// Returns what is wrong with a text for whoever makes all fixes that have one right answer: what
/// [`check`] does or, where there are more findings than are [`shown`], all of those whose fixes hold
/// when they are made together.
pub fn check_to_mend(
    subject: &Subject<'_>,
    settings: &Settings<'_>,
    surroundings: &dyn FsContext,
) -> Vec<Finding> {
    let cx = Cx::new(subject, &settings.profiles, surroundings);
    let mut found = unproven(&cx, settings);
    if found.len() > MAX_SHOWN {
        proof::keep_together(&cx, settings, &mut found);
    } else {
        proof::keep_proven(&cx, settings, &mut found);
    }
    found
}

/// Returns what is wrong with a text, in its order, with fixes that nobody has tried.
fn unproven(cx: &Cx<'_>, settings: &Settings<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(fault) = cx.surroundings.fault() {
        // Of what it would say nothing is known.
        index::unreadable(cx, fault, &mut found);
        settings.apply_levels(cx.path, &mut found);
        return found;
    }
    found.extend(found_in(cx));
    let suppressions = suppress::suppressions(cx);
    suppress::apply(&suppressions, &mut found);
    for (name, span) in suppress::unknown(&suppressions) {
        found.push(self::found(
            "skillsd/unknown-rule",
            *span,
            format!("there is no rule `{name}`"),
        ));
    }
    for finding in &mut found {
        cx.attribute(finding);
    }
    settings.apply_levels(cx.path, &mut found);
    found.sort_by_key(|it| (it.diagnostic.span, it.diagnostic.severity));
    found
}

/// Returns what the rules find, whoever wants to see it.
fn found_in(cx: &Cx<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    if cx.path.is_some_and(|it| is_instruction_file(it)) {
        // What else they say is the user's own business.
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

/// Returns the gravest findings of a text where there are too many to show, with one that says how
/// many others there are, unless that one is not wanted.
pub fn shown(
    mut findings: Vec<Finding>,
    subject: &Subject<'_>,
    settings: &Settings<'_>,
    surroundings: &dyn FsContext,
) -> Vec<Finding> {
    let Some(kept) = gravest(&findings) else { return findings };
    let more = findings.len() - MAX_SHOWN;
    let first = (0..findings.len()).find(|it| !kept.contains(it)).unwrap_or_default();
    let at = findings[first].diagnostic.span;
    let mut index = 0;
    findings.retain(|_| {
        index += 1;
        kept.contains(&(index - 1))
    });
    let mut notice =
        vec![found("skillsd/too-many", at, format!("{more} more findings are not shown"))];
    let cx = Cx::new(subject, &settings.profiles, surroundings);
    suppress::apply(&suppress::suppressions(&cx), &mut notice);
    settings.apply_levels(subject.path, &mut notice);
    findings.extend(notice);
    findings
}

/// Returns which findings are shown, where those are not all.
fn gravest(findings: &[Finding]) -> Option<BTreeSet<usize>> {
    if findings.len() <= MAX_SHOWN {
        return None;
    }
    let mut gravest: Vec<usize> = (0..findings.len()).collect();
    gravest.sort_by_key(|&index| findings[index].diagnostic.severity);
    Some(gravest[..MAX_SHOWN].iter().copied().collect())
}

fn found(id: &'static str, span: Span, message: impl Into<String>) -> Finding {
    Finding::new(
        find(id).expect("rules find by ids of the table; a test runs each of them"),
        span,
        message,
    )
}
