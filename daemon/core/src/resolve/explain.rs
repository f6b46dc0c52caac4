//! Explaining: why a skill is there, or why it is not.
//!
//! A resolution keeps what was considered and why; this turns it round for one question, by
//! name or by path. Steps come in the order in which discovery takes them: a root, the
//! candidates below it that bear on the question, and the rules that decided about each.

mod difference;

use super::{
    Candidate, Consultation, Consulted, Note, Reason, Resolution, Root, RootOutcome, Site, Skip,
    SkipReason, State,
};
use crate::ladder::verdicts;
use crate::path::AbsPath;
use crate::profile::{Difference, Nested};
use crate::skill::Spot;

/// What somebody wants explained.
#[derive(Clone, Copy, Debug)]
pub enum Query<'a> {
    /// Every candidate of that name; directory names count too.
    Name(&'a str),
    /// A SKILL.md, a skill's directory, or anything below or above one.
    Path(&'a AbsPath),
}

/// The answer, and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The answer in short.
    pub verdict: Verdict,
    /// The candidate it is about, as an index into [`Resolution::candidates`].
    pub candidate: Option<usize>,
    /// How it came about.
    pub steps: Vec<Step>,
}

/// The answer in short.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What became of the skill; none when there is no such skill.
    pub state: Option<State>,
    /// A sentence for a person.
    pub summary: String,
    /// What to do, as a sentence.
    pub next: Option<String>,
}

/// One step of an explanation.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it is about.
    pub kind: StepKind,
    /// What came of it, as a sentence fragment.
    pub reason: Option<String>,
    /// The place in the file, where there is one.
    pub at: Option<Spot>,
    /// The file, where it is not the candidate's.
    pub file: Option<AbsPath>,
    /// What to do, as a sentence.
    pub next: Option<String>,
}

/// What a step is about.
#[derive(Clone, Debug, PartialEq)]
pub enum StepKind {
    /// A configuration file of the agent: its index in [`Resolution::settings`].
    Settings(usize),
    /// A root: its index in [`Resolution::roots`].
    Root(usize),
    /// A candidate: its index in [`Resolution::candidates`].
    Candidate(usize),
    /// Something passed over below a root.
    Skip(AbsPath),
    /// A rule applied to a candidate.
    Rule {
        /// The candidate's index.
        candidate: usize,
        /// The rule's stable name.
        rule: &'static str,
        /// Whether the rule keeps the skill from the model.
        decisive: bool,
    },
    /// A rule in which the profile differs from its base, with the candidate for which that
    /// mattered; none where a whole place is explained.
    Difference {
        /// The candidate's index.
        candidate: Option<usize>,
        /// The rule's name in [`crate::profile::RULES`].
        rule: &'static str,
    },
}

/// Returns a step for each rule in which the site's profile differs from its base.
pub fn differences(site: &Site) -> Vec<Step> {
    let all = site.profile.differences.iter();
    all.map(|it| difference_step(site, None, it)).collect()
}

fn difference_step(site: &Site, candidate: Option<usize>, it: &Difference) -> Step {
    Step {
        kind: StepKind::Difference { candidate, rule: it.rule },
        reason: Some(difference::sentence(&site.profile, it)),
        at: None,
        file: None,
        next: None,
    }
}

/// Explains one skill of a resolution.
pub fn explain(site: &Site, resolution: &Resolution, query: Query<'_>) -> Explanation {
    let profile = &*site.profile.id;
    let inquiry = Inquiry { agent: site.profile.subject(), profile, site, resolution, query };
    let matched: Vec<usize> = inquiry.matched();
    let skips: Vec<(usize, &Skip)> = inquiry.skips(&matched);
    // The winner answers the question; without one the first candidate does.
    let candidate = matched
        .iter()
        .copied()
        .find(|it| resolution.candidates[*it].state.is_listed())
        .or_else(|| matched.iter().copied().min_by_key(|it| rank(&resolution.candidates[*it])));
    let is_passed_over = |it: &&Skip| !matches!(it.reason, SkipReason::TooMany(..));
    let verdict = match candidate {
        Some(index) => inquiry.about(&resolution.candidates[index]),
        None => inquiry.nothing(skips.iter().map(|(_, it)| *it).find(is_passed_over)),
    };
    Explanation { verdict, candidate, steps: inquiry.steps(&matched, &skips) }
}

fn rank(candidate: &Candidate) -> usize {
    State::ALL.iter().position(|it| *it == candidate.state).unwrap_or(usize::MAX)
}

struct Inquiry<'a> {
    agent: &'a str,
    profile: &'a str,
    site: &'a Site,
    resolution: &'a Resolution,
    query: Query<'a>,
}

impl Inquiry<'_> {
    fn matched(&self) -> Vec<usize> {
        let candidates = self.resolution.candidates.iter().enumerate();
        candidates.filter(|(_, it)| self.matches(it)).map(|(index, _)| index).collect()
    }

    fn matches(&self, candidate: &Candidate) -> bool {
        match self.query {
            Query::Name(name) => {
                let field = candidate.record().and_then(|it| it.name.as_ref());
                candidate.name == name
                    || field.is_some_and(|it| &*it.text == name)
                    || candidate.own_name().is_some_and(|it| it == name)
            }
            Query::Path(path) if candidate.is_command() => *path == candidate.path,
            Query::Path(path) => path.starts_with(&*candidate.dir()),
        }
    }

    /// What was passed over and bears on the question, with its root's index.
    fn skips(&self, matched: &[usize]) -> Vec<(usize, &Skip)> {
        let roots = self.resolution.roots.iter().enumerate();
        roots
            .flat_map(|(index, root)| root.skips.iter().map(move |skip| (index, skip)))
            .filter(|(_, skip)| match self.query {
                Query::Name(name) => {
                    let parent = skip.path.parent();
                    let names =
                        [skip.path.file_name(), parent.as_ref().and_then(|it| it.file_name())];
                    names.into_iter().flatten().any(|it| it == name)
                }
                Query::Path(path) => {
                    path.starts_with(&*skip.path)
                        || (matched.is_empty() && skip.path.starts_with(&**path))
                }
            })
            .collect()
    }

    fn about(&self, candidate: &Candidate) -> Verdict {
        let Candidate { name, state, .. } = candidate;
        let agent = self.agent;
        let why = candidate.reason.as_ref().map(|it| it.message.as_str()).unwrap_or_default();
        let summary = match state {
            State::Active => format!("{agent} shows `{name}` to its model."),
            State::Activated => format!("{agent} shows `{name}` to its model: {why}."),
            State::Conditional => format!("{agent} does not show `{name}` yet: it {why}."),
            State::Shadowed => format!("{agent} does not use this `{name}`: {why}."),
            State::Hidden => format!("{agent} does not show `{name}` to its model: {why}."),
            State::Untrusted => format!("{agent} does not take `{name}` yet: {why}."),
            State::Denied => {
                format!("{agent} may not use `{name}`: {why}{}.", place(candidate.reason.as_ref()))
            }
            State::Ignored => format!("{agent} leaves `{name}` out: {why}."),
            State::Invalid => format!("{agent} drops `{name}`: {why}."),
        };
        Verdict {
            state: Some(*state),
            summary,
            next: candidate.reason.as_ref().map(|it| it.next.clone()),
        }
    }

    fn nothing(&self, skip: Option<&Skip>) -> Verdict {
        let agent = self.agent;
        if let Some(skip) = skip {
            let path = skip.path.display();
            return Verdict {
                state: None,
                summary: format!("{agent} passes over `{path}`: {}.", skip.reason.message()),
                next: Some(skip.reason.next()),
            };
        }
        let (summary, next) = match self.query {
            Query::Name(name) => (
                format!("{agent} finds no skill called `{name}`."),
                match self.resolution.nearest(name).first() {
                    Some(near) => format!("Did you mean `{near}`?"),
                    None => {
                        "Ask with the path of its SKILL.md to learn why it is not found.".to_owned()
                    }
                },
            ),
            Query::Path(path) => self.uncovered(path),
        };
        Verdict { state: None, summary, next: Some(next) }
    }

    fn uncovered(&self, path: &AbsPath) -> (String, String) {
        let agent = self.agent;
        let shown = path.display();
        let covers = |root: &&Root| path.starts_with(&*root.path);
        if let Some(root) = self.resolution.roots.iter().find(covers) {
            let root_path = root.path.display();
            return match &root.outcome {
                RootOutcome::Walked | RootOutcome::Pending => (
                    format!(
                        "{agent} searches `{root_path}`, but there is no SKILL.md at `{shown}`."
                    ),
                    "Check the spelling: the file must be called `SKILL.md`.".to_owned(),
                ),
                RootOutcome::Missing => {
                    (format!("there is nothing at `{root_path}`."), "Check the path.".to_owned())
                }
                RootOutcome::Fault(fault) => {
                    (format!("`{root_path}` {fault}."), fault.next().to_owned())
                }
                RootOutcome::NoBase(why) => {
                    let next = match &root.plugin {
                        Some(plugin) => format!(
                            "Set `{}` to `true` in the `enabledPlugins` of a settings file.",
                            plugin.key
                        ),
                        None => "Set it.".to_owned(),
                    };
                    (format!("`{root_path}` is not searched: {why}."), next)
                }
            };
        }
        if let Some(found) = self.nested(path) {
            return found;
        }
        let project =
            self.resolution.roots.iter().find(|it| it.path.starts_with(&*self.resolution.worktree));
        let next = match project.or(self.resolution.roots.first()) {
            Some(root) => format!("Move the skill's directory to `{}`.", root.path.display()),
            None => "Configure a root for this profile.".to_owned(),
        };
        (format!("{agent} does not look in `{shown}`: it is below none of its roots."), next)
    }

    /// Says when a path below the working directory is looked at that is in no root yet.
    fn nested(&self, path: &AbsPath) -> Option<(String, String)> {
        let Nested::OnTouch { relative, .. } = &self.site.profile.nested else { return None };
        let cwd = &self.site.cwd;
        let above = path.ancestors().take_while(|it| it != cwd && it.starts_with(&**cwd));
        let dir = above
            .filter(|dir| dir != path)
            .find(|dir| relative.iter().any(|it| path.starts_with(dir.child(&**it))))?;
        let (agent, shown, dir) = (self.agent, path.display(), dir.display());
        Some((
            format!("{agent} does not look in `{shown}` yet: it is below the working directory."),
            format!("Touch a file in `{dir}` in a session, or work there."),
        ))
    }

    fn steps(&self, matched: &[usize], skips: &[(usize, &Skip)]) -> Vec<Step> {
        let mut steps = self.resolution.settings_steps();
        for (index, root) in self.resolution.roots.iter().enumerate() {
            steps.push(root_step(index, root));
            for (_, skip) in skips.iter().filter(|(it, _)| *it == index) {
                steps.push(Step {
                    kind: StepKind::Skip(skip.path.clone()),
                    reason: Some(skip.reason.message()),
                    at: None,
                    file: None,
                    next: Some(skip.reason.next()),
                });
            }
            for candidate in matched.iter().filter(|it| root.candidates.contains(it)) {
                self.candidate_steps(*candidate, &mut steps);
            }
        }
        steps
    }

    fn candidate_steps(&self, index: usize, steps: &mut Vec<Step>) {
        let candidate = &self.resolution.candidates[index];
        steps.push(Step {
            kind: StepKind::Candidate(index),
            reason: None,
            at: None,
            file: None,
            next: None,
        });
        let rule = |decisive: bool, reason: &Reason| Step {
            kind: StepKind::Rule { candidate: index, rule: reason.rule, decisive },
            reason: Some(reason.message.clone()),
            at: reason.at,
            file: reason.file.clone(),
            next: Some(reason.next.clone()),
        };
        steps.extend(candidate.notes.iter().map(|it| rule(false, it)));
        steps.extend(candidate.reason.iter().map(|it| rule(true, it)));
        let mattering = difference::mattering(self.site, self.resolution, index);
        steps.extend(mattering.into_iter().map(|it| difference_step(self.site, Some(index), it)));
        if candidate.state != State::Invalid {
            self.others(index, steps);
        }
    }

    /// Tells which other agents drop a file that this one takes: a skill that is there for one
    /// and not for the next is what people ask about most.
    fn others(&self, index: usize, steps: &mut Vec<Step>) {
        let candidate = &self.resolution.candidates[index];
        // No other agent looks for commands as if they were skills.
        let Some(record) = candidate.record().filter(|_| !candidate.is_command()) else { return };
        let dir = candidate.dir();
        let directory = dir.file_name().unwrap_or_default().to_string_lossy();
        for (profile, reading) in verdicts(record, &directory) {
            let sentence = reading.sentence(profile.subject());
            if let Some(fault) = reading.dropped.filter(|_| *profile.id != *self.profile) {
                steps.push(Step {
                    kind: StepKind::Rule {
                        candidate: index,
                        rule: "agents/other",
                        decisive: false,
                    },
                    reason: sentence.map(|it| it.trim_end_matches('.').to_owned()),
                    at: fault.at,
                    file: None,
                    next: Some(fault.next),
                });
            }
        }
    }
}

impl Resolution {
    /// Returns what each configuration file says: a step for each place in it that bears on
    /// skills, one for a file that says nothing or is not there.
    pub fn settings_steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (index, file) in self.settings.iter().enumerate() {
            settings_steps(index, file, &mut steps);
        }
        steps
    }
}

/// Tells what a configuration file decides; of one that is not there only that.
fn settings_steps(index: usize, file: &Consulted, steps: &mut Vec<Step>) {
    let step = |at, reason, next| Step {
        kind: StepKind::Settings(index),
        reason,
        at,
        file: Some(file.path.clone()),
        next,
    };
    match &file.outcome {
        Consultation::Missing => steps.push(step(None, Some("does not exist".to_owned()), None)),
        Consultation::Pending => steps.push(step(None, Some("is not known yet".to_owned()), None)),
        Consultation::Off(why) => steps.push(step(None, Some(format!("is not read: {why}")), None)),
        Consultation::Fault(fault, _) => {
            steps.push(step(None, Some(fault.to_string()), Some(fault.next().to_owned())));
        }
        Consultation::Broken(flaw, _) => {
            let next = "Mend the file; what it says does not count until then.".to_owned();
            steps.push(step(Some(flaw.at), Some(flaw.message.clone()), Some(next)));
        }
        Consultation::Read if file.notes.is_empty() => {
            steps.push(step(None, Some("says nothing about skills".to_owned()), None));
        }
        Consultation::Read => {
            let note = |it: &Note| step(Some(it.at), Some(it.message.clone()), it.next.clone());
            steps.extend(file.notes.iter().map(note));
        }
    }
}

/// Returns where a reason is written, for the end of a sentence.
fn place(reason: Option<&Reason>) -> String {
    match reason.and_then(|it| it.file.as_ref().zip(it.at)) {
        Some((file, at)) => format!(" (`{}:{}:{}`)", file.display(), at.line, at.column),
        None => String::new(),
    }
}

fn root_step(index: usize, root: &Root) -> Step {
    let (reason, next) = match &root.outcome {
        RootOutcome::Missing => (Some("does not exist".to_owned()), None),
        RootOutcome::Pending => (Some("is not known yet".to_owned()), None),
        RootOutcome::Walked => {
            ((!root.origin.is_empty()).then(|| format!("comes from {}", root.origin)), None)
        }
        RootOutcome::Fault(fault) => (Some(fault.to_string()), Some(fault.next().to_owned())),
        RootOutcome::NoBase(why) => (Some(why.clone()), None),
    };
    Step { kind: StepKind::Root(index), reason, at: None, file: None, next }
}

impl SkipReason {
    /// Returns why something was passed over, as a sentence fragment.
    pub fn message(&self) -> String {
        match self {
            Self::Hidden => "directories whose names begin with a dot are not searched".into(),
            Self::SkippedName => "directories of this name are never searched".into(),
            Self::ReservedName => "the agent keeps this directory name for itself".into(),
            Self::TooDeep(max) => {
                let levels = if *max == 1 { "level" } else { "levels" };
                format!("the agent looks {max} {levels} below the root, and this is deeper")
            }
            Self::Link => "the agent does not follow this symbolic link".into(),
            Self::RootSkill => {
                "a SKILL.md directly in the root is not a skill; a skill is a directory of its own"
                    .into()
            }
            Self::WrongCase => "the file must be called `SKILL.md`, in capitals".into(),
            Self::TooMany(max, found) => format!(
                "the agent reads {max} directories of a root without a word about more, and there are {found}: some of the skills listed here it may not load"
            ),
            Self::SameDirectory(path) => {
                format!(
                    "it is the same directory as `{}`, which was searched already",
                    path.display()
                )
            }
            Self::Fault(fault) => format!("it {fault}"),
        }
    }

    /// Returns what a person can do about it, as a sentence.
    pub fn next(&self) -> String {
        match self {
            Self::Hidden => "Rename the directory so that it does not begin with a dot.".into(),
            Self::SkippedName | Self::ReservedName => "Rename the directory.".into(),
            Self::TooDeep(_) => "Move the skill's directory up, nearer to the root.".into(),
            Self::Link => "Replace the link by the directory itself.".into(),
            Self::RootSkill => "Move the file into a directory of its own below the root.".into(),
            Self::WrongCase => "Rename the file to `SKILL.md`.".into(),
            Self::TooMany(..) => {
                "Keep the root small: move what holds no skills elsewhere, or split the root."
                    .into()
            }
            Self::SameDirectory(_) => {
                "Nothing needs to be done: its skills are listed once.".into()
            }
            Self::Fault(fault) => fault.next().into(),
        }
    }
}
