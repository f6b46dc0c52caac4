//! Explains why a path or name is not found.

use std::ffi::OsStr;

use skills_agents::profile::{LinkPolicy, LinkedWorktrees, NestedRule, RootRule};
use skills_syntax::path::AbsPath;
use skills_syntax::text::LineColumn;

use super::super::candidate::SKILL_FILE;
use super::super::{RootOutcome, SearchRoot, SkipReason, SkippedEntry};
use super::explanation::{Query, Verdict};
use super::inquiry::Inquiry;
use super::near_miss::{IgnoreRule, NearMiss, NearMissKind};

/// Suggested action for a root that leads to a directory that is never searched.
pub(super) const OUT_OF_BOUNDS: &str = "Change it to a directory of skills.";

/// Reason why a path is not a skill of the agent.
#[derive(Clone, Debug)]
pub(super) struct Absence {
    /// Stable name of the rule that decided.
    pub(super) rule: &'static str,
    /// Reason, as a sentence fragment.
    pub(super) why: String,
    /// Suggested action, as a sentence.
    pub(super) next: String,
    /// File and position that cause it.
    pub(super) place: Option<(AbsPath, LineColumn)>,
}

impl Absence {
    fn new(rule: &'static str, why: String, next: impl Into<String>) -> Self {
        Self { rule, why, next: next.into(), place: None }
    }
}

impl<'a> Inquiry<'a> {
    /// Explains why nothing is found. For a name, it describes the first near miss that exists.
    pub(super) fn absence(&self) -> (Verdict, Option<Absence>, Vec<(usize, &'a SkippedEntry)>) {
        match self.query {
            Query::Path(path) => {
                let skips = self.skips(&[]);
                let absence = self.why_not(path, self.around.met.first(), &skips);
                let (agent, shown) = (self.agent, path.display());
                let summary = format!("{agent} finds no skill at `{shown}`: {}.", absence.why);
                (verdict(summary, &absence), Some(absence), skips)
            }
            Query::Name(name) => self.name_absence(name),
        }
    }

    fn name_absence(
        &self,
        name: &str,
    ) -> (Verdict, Option<Absence>, Vec<(usize, &'a SkippedEntry)>) {
        let agent = self.agent;
        let skips = self.skips(&[]);
        let is_named =
            |it: &SkippedEntry| !it.reason.is_of_the_root() && !it.reason.is_over_budget();
        let passed = skips.iter().find(|(_, it)| is_named(it));
        if let Some((root, skip)) = passed {
            let absence = self.passed_over(*root, skip);
            let shown = skip.path.display();
            let summary = format!("{agent} skips `{shown}`: {}.", absence.why);
            return (verdict(summary, &absence), Some(absence), skips);
        }
        for stray in &self.around.met {
            let of_path = Inquiry { query: Query::Path(&stray.path), ..*self };
            // The directory has another name, under which the skill is found.
            if !of_path.matched().is_empty() {
                continue;
            }
            let skips = of_path.skips(&[]);
            let absence = self.why_not(&stray.path, Some(stray), &skips);
            let shown = stray.path.display();
            let summary = format!(
                "{agent} finds no skill called `{name}`. There is `{shown}`, but {}.",
                absence.why
            );
            let skips = skips.iter().filter_map(|(root, skip)| {
                let skips = &self.resolution.roots[*root].skips;
                Some((*root, skips.iter().find(|it| it == skip)?))
            });
            return (verdict(summary, &absence), Some(absence), skips.collect());
        }
        let next = match self.resolution.nearest(name).first() {
            Some(near) => format!("Did you mean `{near}`?"),
            None => match self.own_place() {
                Some(place) => format!(
                    "Create `{}/{name}/{SKILL_FILE}`, or pass the path of the SKILL.md that you expect.",
                    place.display()
                ),
                None => "Pass the path of its SKILL.md.".to_owned(),
            },
        };
        let summary = format!("{agent} finds no skill called `{name}`.");
        (Verdict { state: None, summary, next: Some(next) }, None, skips)
    }

    fn why_not(
        &self,
        path: &AbsPath,
        stray: Option<&NearMiss>,
        skips: &[(usize, &SkippedEntry)],
    ) -> Absence {
        if let Some((root, skip)) = skips.iter().find(|(_, it)| !it.reason.is_of_the_root()) {
            return self.passed_over(*root, skip);
        }
        let thing = stray.map(|it| &it.thing);
        if let Some(NearMissKind::Nothing(alike)) = thing {
            return nothing(path, alike.as_ref());
        }
        if let Some(absence) = self.within_skill(path, stray) {
            return absence;
        }
        let covers = |it: &&SearchRoot| path.starts_with(&*it.path);
        let covering = || self.resolution.roots.iter().filter(covers);
        let off = covering().find_map(|it| match &it.outcome {
            RootOutcome::NoBase(why) => Some((it, why)),
            _ => None,
        });
        if let Some(root) =
            covering().find(|it| matches!(it.outcome, RootOutcome::Walked | RootOutcome::Pending))
        {
            return not_a_skill(path, root, thing);
        }
        if let Some((root, why)) = covering().find_map(|it| match &it.outcome {
            RootOutcome::OutOfBounds(why) => Some((it, why)),
            _ => None,
        }) {
            let why = format!("`{}` is not searched: {why}", root.path.display());
            return Absence::new("root/bounds", why, OUT_OF_BOUNDS);
        }
        if let Some((root, why)) = off {
            return switched_off(root, why);
        }
        if let Some((root, fault)) = covering().find_map(|it| match &it.outcome {
            RootOutcome::Fault(fault) => Some((it, fault)),
            _ => None,
        }) {
            let why = format!("`{}` {fault}", root.path.display());
            return Absence::new("root/readable", why, fault.next());
        }
        let found = self.nested(path, stray).or_else(|| self.explain_other_worktree(path, stray));
        found.unwrap_or_else(|| self.misplaced(path, thing))
    }

    /// Explains that the path is inside another skill, below which the agent does not search.
    fn within_skill(&self, path: &AbsPath, stray: Option<&NearMiss>) -> Option<Absence> {
        let inner = stray?.skill.as_ref().filter(|it| path.starts_with(&***it))?;
        let outer = self.resolution.candidates.iter().find(|it| {
            let (dir, root) = (it.dir(), &self.resolution.roots[it.root]);
            let stops = self.rule(root).is_some_and(|it| !it.walk.into_skills);
            stops && !it.is_command() && dir != *inner && inner.starts_with(&*dir)
        })?;
        let why = format!(
            "it is inside the skill `{}`, and skills are not searched for further skills",
            outer.name
        );
        let name = inner.file_name().unwrap_or_default();
        let target = self.resolution.roots[outer.root].path.child(name);
        let next = format!("Move the directory to `{}`.", target.display());
        Some(Absence::new("walk/within-skill", why, next))
    }

    fn passed_over(&self, root: usize, skip: &SkippedEntry) -> Absence {
        let root = &self.resolution.roots[root];
        Absence::new(skip.reason.rule(), skip.reason.message(), skip.next(root))
    }

    /// Explains that the path belongs to another worktree.
    fn explain_other_worktree(&self, path: &AbsPath, stray: Option<&NearMiss>) -> Option<Absence> {
        let (agent, here) = (self.ctx.profile.object(), &self.resolution.worktree);
        if let Some(main) = self.resolution.repository.main()
            && path.starts_with(&**main)
            && !path.starts_with(&**here)
        {
            let (main, here_shown) = (main.display(), here.display());
            let but = match self.ctx.profile.linked_worktrees {
                LinkedWorktrees::MainIfMissing => ", unless the directory is missing there",
                LinkedWorktrees::Alone | LinkedWorktrees::WithMain => "",
            };
            let why = format!(
                "it belongs to the main worktree `{main}`; in the linked worktree `{here_shown}`, {agent} reads only the linked one{but}"
            );
            let next = format!(
                "Commit it and merge it into the branch of `{here_shown}`, or copy its directory there."
            );
            return Some(Absence::new("worktree/linked", why, next));
        }
        let other = stray?.worktree.as_ref().filter(|it| *it != here)?;
        // A path below this worktree may be in a submodule, which is worth its own message. A home
        // directory that is in git is not.
        if path.starts_with(&**here) && !other.starts_with(&**here) {
            return None;
        }
        if here.starts_with(&**other) {
            return None;
        }
        let (other_shown, here) = (other.display(), here.display());
        let why = format!(
            "it belongs to the worktree `{other_shown}`; {agent} reads only the one of the working directory, `{here}`"
        );
        let next =
            format!("Work in `{other_shown}`, or copy the skill's directory to this worktree.");
        Some(Absence::new("worktree/other", why, next))
    }

    /// Explains when a path below the working directory that is in no root yet is searched.
    fn nested(&self, path: &AbsPath, stray: Option<&NearMiss>) -> Option<Absence> {
        let NestedRule::OnTouch { relative, walk, skip_git_ignored, .. } = &self.ctx.profile.nested
        else {
            return None;
        };
        let cwd = &self.ctx.cwd;
        let above = path.ancestors().take_while(|it| it != cwd && it.starts_with(&**cwd));
        let root = |dir: &AbsPath| {
            relative.iter().map(|it| dir.child(&**it)).find(|it| path.starts_with(&**it))
        };
        let (dir, root) =
            above.filter(|dir| dir != path).find_map(|dir| root(&dir).map(|root| (dir, root)))?;
        if let Some(absence) = unfit(path, &root, walk.max_depth, stray) {
            return Some(absence);
        }
        let agent = self.ctx.profile.object();
        let ignored = stray.and_then(|it| it.ignored.as_ref()).filter(|_| *skip_git_ignored);
        if let Some(IgnoreRule { dir, file, line, pattern }) = ignored {
            let why = format!(
                "git ignores `{}` (`{}:{line}` has `{pattern}`), and {agent} skips ignored directories below the working directory",
                dir.display(),
                file.display()
            );
            let next = format!("Remove that line, or work in `{}`.", dir.display());
            let place = Some((file.clone(), LineColumn { line: *line, column: 1 }));
            return Some(Absence { place, ..Absence::new("nested/ignored", why, next) });
        }
        let dir = dir.display();
        Some(Absence::new(
            "nested/touched",
            format!(
                "it is below the working directory; {agent} searches there once a file near it is touched"
            ),
            format!("Let the agent read or edit a file in `{dir}`, or start it there."),
        ))
    }

    fn misplaced(&self, path: &AbsPath, thing: Option<&NearMissKind>) -> Absence {
        let (rule, agent) = ("roots/searched", self.ctx.profile.object());
        let nowhere = format!("in none of the directories that {agent} searches");
        let why = format!("it is {nowhere}");
        let is_skill_file = path.file_name() == Some(OsStr::new(SKILL_FILE));
        // Only a skill's directory can be moved into a root.
        let dir = match thing {
            Some(NearMissKind::Directory(None)) => {
                let why = format!("it is a directory without a {SKILL_FILE}, {nowhere}");
                let next = format!(
                    "Ask for a skill's name or the path of its {SKILL_FILE}, or run `skillsd explain --cwd {}` to see what {agent} finds in that directory.",
                    path.display()
                );
                return Absence::new(rule, why, next);
            }
            Some(NearMissKind::File) if !is_skill_file => {
                let why = format!("it is not a {SKILL_FILE}, and it is {nowhere}");
                let next = format!("Ask for a skill's name or the path of its {SKILL_FILE}.");
                return Absence::new(rule, why, next);
            }
            Some(NearMissKind::Directory(Some(_))) => Some(path.clone()),
            _ if is_skill_file => path.parent(),
            _ => None,
        };
        let name = dir.as_ref().and_then(|it| it.file_name()).unwrap_or(OsStr::new("<name>"));
        let next = match self.own_place() {
            Some(place) => {
                let target = place.child(name);
                let link = if self.follows_links(&place) { ", or link it there" } else { "" };
                format!("Move the skill's directory to `{}`{link}.", target.display())
            }
            None => "Configure a root for this profile.".to_owned(),
        };
        Absence::new(rule, why, next)
    }

    /// Returns the root in which a skill of this project belongs.
    fn own_place(&self) -> Option<AbsPath> {
        let roots = &self.resolution.roots;
        let is_own = |it: &&SearchRoot| it.path.starts_with(&*self.resolution.worktree);
        let of_skills =
            |it: &&SearchRoot| self.rule(it).is_some_and(RootRule::has_skill_directories);
        let found = roots.iter().filter(of_skills).find(is_own);
        found.or_else(|| roots.iter().find(of_skills)).map(|it| it.path.clone())
    }

    fn follows_links(&self, place: &AbsPath) -> bool {
        let root = self.resolution.roots.iter().find(|it| it.path == *place);
        let rule = root.and_then(|it| self.rule(it));
        rule.is_some_and(|it| it.walk.directory_links != LinkPolicy::Never)
    }

    fn rule(&self, root: &SearchRoot) -> Option<&RootRule> {
        self.ctx.profile.roots.get(root.rule)
    }
}

fn verdict(summary: String, absence: &Absence) -> Verdict {
    Verdict { state: None, summary, next: Some(absence.next.clone()) }
}

fn nothing(path: &AbsPath, alike: Option<&AbsPath>) -> Absence {
    let Some(alike) = alike else {
        let next = "Check the path; `skillsd list` shows all skills.";
        return Absence::new("path/exists", "the path does not exist".to_owned(), next);
    };
    let is_file = path.file_name().is_some_and(|it| it.eq_ignore_ascii_case(SKILL_FILE));
    if is_file && alike.file_name().is_some_and(|it| it != SKILL_FILE) {
        return wrong_case(alike);
    }
    let why = format!("the path does not exist, but `{}` does", alike.display());
    Absence::new("path/exists", why, format!("Did you mean `{}`?", alike.display()))
}

fn wrong_case(path: &AbsPath) -> Absence {
    let why = format!("`{}` must be called `{SKILL_FILE}`, in capitals", path.display());
    let next = format!("Rename the file to `{SKILL_FILE}`.");
    Absence::new("file/name", why, next)
}

fn switched_off(root: &SearchRoot, why: &str) -> Absence {
    if let Some(extension) = root.origin.strip_prefix("the extension ") {
        let name = extension.trim_matches('`');
        let next = format!("Repair it, or enable it with `gemini extensions enable {name}`.");
        return Absence::new(
            "extension/enabled",
            format!("its extension is not used: {why}"),
            next,
        );
    }
    let Some(plugin) = &root.plugin else {
        let next = "Set the variable, or remove the switch, and restart the agent.";
        let why = format!("`{}` is not searched: {why}", root.path.display());
        return Absence::new("root/known", why, next);
    };
    let next = format!(
        "Set `{}` to `true` in the `enabledPlugins` of a settings file of the agent.",
        plugin.key
    );
    Absence::new("plugin/enabled", format!("its plugin is off: {why}"), next)
}

/// Explains why a path in a directory that is searched later is no skill then either.
fn unfit(
    path: &AbsPath,
    root: &AbsPath,
    max_depth: Option<u16>,
    stray: Option<&NearMiss>,
) -> Option<Absence> {
    let is_skill_file = |it: &OsStr| it.eq_ignore_ascii_case(SKILL_FILE);
    let is_file = path.file_name().is_some_and(is_skill_file);
    let file = match stray.map(|it| &it.thing) {
        Some(NearMissKind::Directory(Some(name))) => path.child(name),
        _ if is_file => path.clone(),
        _ => return None,
    };
    if file.file_name() != Some(OsStr::new(SKILL_FILE)) {
        return Some(wrong_case(&file));
    }
    let dir = file.parent()?;
    let max = max_depth?;
    let depth = dir.strip_prefix(root).ok()?.components().count();
    (depth > usize::from(max)).then(|| {
        let reason = SkipReason::TooDeep(max);
        let target = root.child(dir.file_name().unwrap_or_default());
        let next = format!("Move the directory to `{}`.", target.display());
        Absence::new(reason.rule(), reason.message(), next)
    })
}

/// Explains why an entry of a searched root is not a skill.
fn not_a_skill(path: &AbsPath, root: &SearchRoot, thing: Option<&NearMissKind>) -> Absence {
    let (rule, shown) = ("file/there", path.display());
    match thing {
        Some(NearMissKind::File) => Absence::new(
            rule,
            format!(
                "it is a file that belongs to no skill; a skill is a directory with a {SKILL_FILE}"
            ),
            match path.file_stem().filter(|_| path.extension() == Some(OsStr::new("md"))) {
                Some(stem) => {
                    format!("Move it to `{}/{SKILL_FILE}`.", root.path.child(stem).display())
                }
                None => "Move it into the directory of a skill.".to_owned(),
            },
        ),
        Some(NearMissKind::Directory(Some(name))) if name != SKILL_FILE => {
            wrong_case(&path.child(name))
        }
        Some(NearMissKind::Directory(_)) if *path != root.path => Absence::new(
            rule,
            format!("the directory has no {SKILL_FILE}, and none is below it"),
            format!("Write `{shown}/{SKILL_FILE}`."),
        ),
        _ => Absence::new(
            rule,
            format!(
                "`{}` is searched, but there is no {SKILL_FILE} at this path",
                root.path.display()
            ),
            format!("Check the spelling: the file must be called `{SKILL_FILE}`."),
        ),
    }
}
