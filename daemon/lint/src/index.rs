//! `index/*`: where a skill lies, and what becomes of it among the others.

use std::collections::HashMap;
use std::path::Path;

use skills_agents::field_table::{
    Agent, CLAUDE_SKILLS, CODEX, Citation, GEMINI, GIT_IGNORE, OPENCODE, PLUGIN, SPECIFICATION,
};
use skills_agents::profile::{LinkPolicy, Profile};
use skills_discovery::discover::{Fault, State, shown};
use skills_discovery::ranking::Ranked;
use skills_syntax::diagnostic::Severity;
use skills_syntax::path::AbsPath;
use skills_syntax::text::Span;

use super::audience::{act, depth_below_root, names};
use super::company::{MOST_NAMED, length_in_list};
use super::rule::Rule;
use super::subject::Cx;
use super::{Finding, found};

const SOURCES: &[&Citation] =
    &[&SPECIFICATION, &CLAUDE_SKILLS, &OPENCODE, &CODEX, &GEMINI, &PLUGIN];

const WELL: &str = "//- /w/.claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n";

const fn rule(
    id: &'static str,
    severity: Severity,
    what: &'static str,
    why: &'static str,
    repair: &'static str,
    failing: &'static str,
) -> Rule {
    let rule = Rule::new(id, severity, what, why, repair);
    rule.whole_file().sources(SOURCES).texts(failing, WELL)
}

pub(super) static RULES: [Rule; 9] = [
    rule(
        "index/shadowed",
        Severity::Warning,
        "Another skill of the same name wins.",
        "The agent shows the other one, and this one never runs.",
        "Rename one of the two, or remove one.",
        "//- /w/.claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n//- /w/.agents/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads other PDF files. Use when asked.\n---\nRead.\n",
    ),
    rule(
        "index/shadowing",
        Severity::Information,
        "The skill wins over another of the same name.",
        "The other one never runs. That may be meant: a project's skill over the user's.",
        "Rename one of the two where both are wanted.",
        "//- /w/.agents/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n//- /w/.claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads other PDF files. Use when asked.\n---\nRead.\n",
    ),
    rule(
        "index/duplicate",
        Severity::Warning,
        "Another skill beside it has the same name.",
        "Agents keep one of them, and which one differs from agent to agent.",
        "Rename one of them.",
        "//- /w/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n//- /w/skills/other/SKILL.md\n---\nname: pdf\ndescription: Reads other PDF files. Use when asked.\n---\nRead.\n",
    ),
    rule(
        "index/too-deep",
        Severity::Warning,
        "The skill lies deeper than an agent looks.",
        "Each agent goes down so many directories below its own; what is deeper does not exist for it, which is an error. Most look no further than a skill. What lies within another skill may be meant for whoever reads that one, and is a warning.",
        "Move the skill's directory up.",
        "//- /w/.claude/skills/group/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
    ),
    rule(
        "index/misplaced",
        Severity::Warning,
        "The skill lies where an agent does not look.",
        "A SKILL.md directly in the directory of skills is passed over, and so is a file there that is called `skill.md`: errors. In a hidden directory, or in one that an agent never enters, it may lie on purpose: a warning.",
        "Put it at `skills/NAME/SKILL.md`.",
        "//- /w/.claude/skills/SKILL.md\n---\nname: skills\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
    ),
    rule(
        "index/git-ignored",
        Severity::Information,
        "Git ignores the skill.",
        "It stays on this machine, and agents that keep to `.gitignore` do not find it.",
        "Take it out of `.gitignore`, or move it to your home directory.",
        "//- /w/.gitignore\n.claude\n//- /w/.claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
    )
    .sources(&[&GIT_IGNORE]),
    rule(
        "index/link",
        Severity::Information,
        "A symbolic link leads out of the directory of skills, or the SKILL.md is one.",
        "Some agents do not follow it, and another machine may not have what it leads to. A SKILL.md that is a link does not exist for Codex, which is an error.",
        "Copy the skill, or check that every agent in use follows links.",
        "//- /w/.claude/skills/pdf -> /opt/pdf\n//- /w/.claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
    ),
    rule(
        "index/unreadable",
        Severity::Error,
        "The file, or the directory that it lies in, cannot be read.",
        "It is a directory, a pipe or a device, a symbolic link that leads nowhere, or may not be read; no agent shows the skill.",
        "Put a regular file in its place, or give yourself permission to read it.",
        "//- /w/.claude/skills/pdf/SKILL.md fifo\n",
    ),
    rule(
        "index/budget",
        Severity::Information,
        "The agent's list of skills is over its budget.",
        "Claude Code shortens the descriptions used least, then leaves them out; Codex cuts all of them.",
        "Shorten descriptions, or hide skills from the model that only users start.",
        "//- /w/.claude/skills/pdf/SKILL.md budget\n---\nname: pdf\ndescription: Reads PDF files, their text, tables, forms, pictures, notes, outlines and fonts, turns them into other files, joins and cuts them, and draws what is on a page. Use when asked about a PDF file, a form, a scan or a page of one.\n---\nRead the file.\n",
    ),
];

/// How many characters Claude Code's list may have where the window is the usual one; Codex has
/// the same where it does not know the window.
const BUDGET: usize = 8000;

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let span = place(cx);
    placement(cx, span, out);
    if cx.surroundings.is_git_ignored() == Some(true) {
        out.push(found("index/git-ignored", span, "git ignores this skill"));
    }
    link(cx, span, out);
    linked_file(cx, span, out);
    precedence(cx, span, out);
    budget(cx, span, out);
    duplicates(cx, span, out);
}

/// Says that a file cannot be read, at its beginning.
pub(super) fn unreadable(cx: &Cx<'_>, fault: &Fault, out: &mut Vec<Finding>) {
    let name = cx.path.and_then(|it| it.file_name()).unwrap_or("SKILL.md".as_ref());
    let message = format!("{} {fault}", name.to_string_lossy());
    out.push(found("index/unreadable", Span::default(), message).help(fault.next()));
}

/// What is about the skill as such is shown at its name.
fn place(cx: &Cx<'_>) -> Span {
    let value = cx.entry("name").map(|it| it.value.span).filter(|it| !it.is_empty());
    value.unwrap_or_else(|| cx.opening())
}

fn placement(cx: &Cx<'_>, span: Span, out: &mut Vec<Finding>) {
    let Some(path) = cx.path else { return };
    let shown: Vec<_> = path.iter().rev().take(4).filter_map(|it| it.to_str()).collect();
    let shown = shown.into_iter().rev().collect::<Vec<_>>().join("/");
    let mut deep: Vec<(&Profile, u16)> = Vec::new();
    let mut root: Vec<&Profile> = Vec::new();
    let mut hidden: Vec<&Profile> = Vec::new();
    let mut kept: Vec<&Profile> = Vec::new();
    let mut inner: Vec<(&Profile, AbsPath)> = Vec::new();
    // An agent may meet it all the same, as where a plugin or a setting leads to it.
    for profile in cx.profiles().into_iter().filter(|it| !cx.company().is_met(it, path)) {
        let Some((depth, rule, at)) = depth_below_root(profile, path) else { continue };
        let walk = &rule.walk;
        let below = below(path, &at);
        let first = below.first().map(String::as_str).unwrap_or_default();
        // What may be meant comes before what cannot be.
        if depth == 0 && !walk.root_skill {
            root.push(profile);
        } else if !walk.hidden && below.iter().any(|it| it.starts_with('.')) {
            hidden.push(profile);
        } else if walk.reserved.iter().any(|it| it == first)
            || below.iter().any(|it| walk.skipped.iter().any(|skipped| skipped == it))
        {
            kept.push(profile);
        } else if walk.max_depth.is_some_and(|it| depth > usize::from(it)) {
            deep.extend(walk.max_depth.map(|it| (profile, it)));
        } else if !walk.into_skills {
            inner.extend(skill_around(cx, path, depth).map(|it| (profile, it)));
        }
    }
    let is_meant = !deep.is_empty() && is_within_skill(cx, path);
    let dropped = if is_meant { Severity::Warning } else { Severity::Error };
    for (profile, levels) in &deep {
        let levels = match levels {
            1 => "one level deep".to_owned(),
            it => format!("{it} levels deep"),
        };
        let who = act(&[*profile], "looks", "look");
        let message = format!("`{shown}`: {who} {levels}");
        out.push(found("index/too-deep", span, message).severity(dropped).about(&[*profile]));
    }
    while let Some((_, around)) = inner.first().cloned() {
        let (them, others) = inner.into_iter().partition::<Vec<_>, _>(|it| it.1 == around);
        inner = others;
        let them: Vec<&Profile> = them.into_iter().map(|it| it.0).collect();
        let who = act(&them, "does", "do");
        let name = around.file_name().unwrap_or_default().to_string_lossy();
        let message = format!("`{shown}`: {who} not look within the skill in `{name}`");
        let finding = found("index/too-deep", span, message).about(&them);
        out.push(finding.related(&around.child("SKILL.md"), "the skill that it lies within"));
    }
    let mut misplaced = |them: &[&Profile], what: &str, severity| {
        if !them.is_empty() {
            let who = act(them, "passes", "pass");
            let message = format!("{who} over `{shown}`: {what}");
            out.push(found("index/misplaced", span, message).severity(severity).about(them));
        }
    };
    misplaced(&root, "it lies directly in the directory of skills", Severity::Error);
    // Both may be meant: what is put away, and what came with a package.
    misplaced(&hidden, "it lies in a hidden directory", Severity::Warning);
    misplaced(&kept, "it lies in a directory that is never entered", Severity::Warning);
    let wrong = path.file_name().and_then(|it| it.to_str()).filter(|it| *it != "SKILL.md");
    if let Some(name) = wrong.filter(|it| it.eq_ignore_ascii_case("SKILL.md")) {
        let message = format!(
            "{} over `{name}`: the file is called `SKILL.md`",
            act(&cx.profiles(), "passes", "pass")
        );
        // Elsewhere it may be a text about something that is called so.
        let is_skill = cx.profiles().iter().any(|it| depth_below_root(it, path).is_some());
        let severity = if is_skill { Severity::Error } else { Severity::Warning };
        let finding = found("index/misplaced", span, message).severity(severity);
        let finding = finding.about(&cx.profiles());
        out.push(finding.help("Rename the file to `SKILL.md`."));
    }
}

/// Whether the skill lies within another one, which may lead to it.
fn is_within_skill(cx: &Cx<'_>, path: &AbsPath) -> bool {
    let depth = |it| depth_below_root(it, path).map_or(0, |(depth, ..)| depth);
    let depth = cx.profiles().into_iter().map(depth).max().unwrap_or_default();
    skill_around(cx, path, depth).is_some()
}

/// Returns the directory of the skill that another one lies within, so many directories below the
/// directory of skills, which is none itself: the outermost, at which an agent stops.
fn skill_around(cx: &Cx<'_>, path: &AbsPath, depth: usize) -> Option<AbsPath> {
    let dir = path.parent()?;
    let above = dir.ancestors().skip(1).take(depth.saturating_sub(1));
    above.filter(|it| cx.company().holds(it)).last()
}

/// Returns the directories between a root and the file.
fn below(path: &Path, root: &str) -> Vec<String> {
    let Some(parent) = path.parent() else { return Vec::new() };
    let parts: Vec<String> = parent.iter().map(|it| it.to_string_lossy().into_owned()).collect();
    let root: Vec<&str> = root.split('/').collect();
    let at = (0..parts.len()).rev().find(|&at| {
        parts[at..].len() >= root.len()
            && parts[at..at + root.len()].iter().zip(&root).all(|(a, b)| a == b)
    });
    at.map(|at| parts[at + root.len()..].to_vec()).unwrap_or_default()
}

fn link(cx: &Cx<'_>, span: Span, out: &mut Vec<Finding>) {
    let Some(target) = cx.surroundings.link_target() else { return };
    let refusing = cx
        .those(|it, _| it.roots.iter().all(|root| root.walk.directory_links == LinkPolicy::Never));
    let shown = target.display();
    let message = match refusing.as_slice() {
        [] => format!("a link leads to `{shown}`, outside the directory of skills"),
        them => format!("{} the link to `{shown}`", act(them, "does not follow", "do not follow")),
    };
    let finding = found("index/link", span, message).about(&refusing);
    out.push(finding.related(target, "where the skill really is"));
}

/// A SKILL.md that is a link itself, which some agents pass over wherever it leads.
fn linked_file(cx: &Cx<'_>, span: Span, out: &mut Vec<Finding>) {
    let (Some(path), Some(target)) = (cx.path, cx.surroundings.file_target()) else { return };
    let passes = |profile: &Profile| {
        let root = depth_below_root(profile, path);
        root.is_some_and(|(_, rule, _)| !rule.walk.file_links)
            && !cx.company().is_met(profile, path)
    };
    let passing = cx.those(|it, _| passes(it));
    if passing.is_empty() {
        return;
    }
    let who = act(&passing, "drops", "drop");
    let message =
        format!("{who} this skill: the file is a symbolic link to `{}`", target.display());
    let finding = found("index/link", span, message).severity(Severity::Error).about(&passing);
    let finding = finding.help("Put a copy in its place, or link the directory.");
    out.push(finding.related(target, "the file that is linked"));
}

fn precedence(cx: &Cx<'_>, span: Span, out: &mut Vec<Finding>) {
    let Some(path) = cx.path else { return };
    // The same two files are one finding, whoever keeps which.
    let (mut lost, mut won) = (Rivals::default(), Rivals::default());
    for place in cx.company().places(path) {
        let profile = &*place.ranking.profile;
        place.winners().for_each(|it| lost.add(it, profile));
        place.losers().for_each(|it| won.add(it, profile));
    }
    for (winner, profiles) in lost.all {
        let shown = shown(&winner.path);
        let message = format!(
            "{} `{}` in `{shown}` in its place",
            act(&profiles, "shows", "show"),
            winner.name
        );
        let finding = found("index/shadowed", span, message).about(&profiles);
        out.push(finding.related(&winner.path, "the skill that wins"));
    }
    let (named, others) = won.all.split_at(won.all.len().min(MOST_NAMED));
    for (loser, profiles) in named {
        let shown = shown(&loser.path);
        let message = format!("{} this skill and not `{shown}`", act(profiles, "shows", "show"));
        let finding = found("index/shadowing", span, message).about(profiles);
        out.push(finding.related(&loser.path, "the skill that loses"));
    }
    if !others.is_empty() {
        let mut profiles: Vec<&Profile> = Vec::new();
        for profile in others.iter().flat_map(|(_, profiles)| profiles) {
            if profiles.iter().all(|it| it.id != profile.id) {
                profiles.push(profile);
            }
        }
        let who = act(&profiles, "shows", "show");
        let message = format!("{who} this skill and not {} more of its name", others.len());
        let finding = found("index/shadowing", span, message).about(&profiles);
        out.push(finding.help("`skillsd list --all` shows which; rename those that are wanted."));
    }
}

/// The skills that win over one, or lose to it, each with the agents that say so.
#[derive(Default)]
struct Rivals<'a> {
    all: Vec<(&'a Ranked, Vec<&'a Profile>)>,
    at: HashMap<&'a AbsPath, usize>,
}

impl<'a> Rivals<'a> {
    fn add(&mut self, other: &'a Ranked, profile: &'a Profile) {
        let index = *self.at.entry(&other.path).or_insert(self.all.len());
        match self.all.get_mut(index) {
            Some((_, profiles)) => profiles.push(profile),
            None => self.all.push((other, vec![profile])),
        }
    }
}

/// Two skills of one name whose directories lie side by side.
fn duplicates(cx: &Cx<'_>, span: Span, out: &mut Vec<Finding>) {
    let (Some(path), Some(name)) = (cx.path, cx.record.name.as_ref()) else { return };
    let is_told = |it: &Ranked| it.state == State::Shadowed;
    if cx.company().places(path).flat_map(|it| it.skills()).any(is_told) {
        return;
    }
    let mut twins = cx.company().twins(path, &name.text).filter(|it| !cx.is_itself(it));
    for other in twins.by_ref().take(MOST_NAMED) {
        let dir = other.path.parent_name().unwrap_or_default();
        let message = format!("the skill in `{dir}` beside it is called `{}` as well", other.name);
        out.push(found("index/duplicate", span, message).related(&other.path, "the other skill"));
    }
    let more = twins.count();
    if more > 0 {
        let message = format!("{more} more skills beside it are called `{}` as well", name.text);
        out.push(found("index/duplicate", span, message));
    }
}

fn budget(cx: &Cx<'_>, span: Span, out: &mut Vec<Finding>) {
    let Some(path) = cx.path else { return };
    for place in cx.company().places(path) {
        let profile = &*place.ranking.profile;
        if !matches!(Agent::from_profile_id(&profile.id), Some(Agent::ClaudeCode | Agent::Codex)) {
            continue;
        }
        let Some(own) = place.skills().find(|it| it.state.is_listed()) else { continue };
        let (n_listed, total) = place.list();
        if total <= BUDGET {
            continue;
        }
        // The longest are worth shortening: those that alone take more than their share.
        let own = length_in_list(own);
        if own * n_listed > BUDGET {
            let message = format!(
                "{} has {total} characters of skills to list and room for {BUDGET}; {own} are of this one",
                names(&[profile])
            );
            out.push(found("index/budget", span, message).about(&[profile]));
        }
    }
}
