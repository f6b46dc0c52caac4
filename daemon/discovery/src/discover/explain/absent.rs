//! Explains why a path or name is not found.

use std::ffi::OsStr;
use std::fmt::Write as _;

use skills_agents::profile::{
    LinkPolicy, LinkedWorktrees, NameCheck, NestedRule, RootRule, Scope, agents,
};
use skills_syntax::path::AbsPath;
use skills_syntax::quote::{quote_word, skill_command};
use skills_syntax::text::LineColumn;

use super::super::candidate::SKILL_FILE;
use super::super::context::variable;
use super::super::evaluate::{evaluate, refuse_name};
use super::super::reason_rule::ReasonRule;
use super::super::walker::FoundFile;
use super::super::{
    Candidate, NoteScope, Reason, RootOutcome, SearchRoot, SettingsFile, SettingsNote, SkillFile,
    SkillState, SkipReason, SkippedEntry, denied,
};
use super::absence::{Absence, OUT_OF_BOUNDS, not_a_skill, nothing, unfit, wrong_case};
use super::explanation::{Query, Verdict};
use super::inquiry::Inquiry;
use super::near_miss::{IgnoreRule, NearMiss, NearMissKind, places};

impl<'a> Inquiry<'a> {
    /// Explains why nothing is found. For a name, it describes the first near miss that exists.
    pub(super) fn absence(&self) -> (Verdict, Option<Absence>, Vec<(usize, &'a SkippedEntry)>) {
        match self.query {
            Query::Path(path) => {
                let skips = self.skips(&[]);
                let absence = self.why_not(path, self.around.paths.first(), &skips);
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
        for stray in &self.around.paths {
            let of_path = Inquiry { query: Query::Path(&stray.path), ..*self };
            // The directory has another name, under which the skill is found.
            if !of_path.matched().is_empty() {
                continue;
            }
            let skips = of_path.skips(&[]);
            let absence = of_path.why_not(&stray.path, Some(stray), &skips);
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
        let profile = self.profile;
        let similar = self.around.similar.as_ref();
        let nearest = self.resolution.nearest(name).first().copied();
        let next = match (nearest.or(similar.map(|it| &**it)), self.own_place()) {
            (Some(near), _) => {
                let command = skill_command("explain", near, &format!("--profile {profile}"));
                format!("Did you mean `{near}`? Run `{command}`.")
            }
            (None, _) if let Some((root, skip)) = self.skill_in_root() => {
                let (summary, absence) = self.move_from_root(name, root, skip);
                return (verdict(summary, &absence), Some(absence), skips);
            }
            (None, Some(_)) if self.is_agent() && is_word(name) => format!(
                "Run `skillsd new {name} --profile {profile}`, or run `skillsd explain` with the path of the SKILL.md that you expect."
            ),
            (None, Some(place)) => format!(
                "Create `{}/{name}/{SKILL_FILE}`, or run `skillsd explain` with the path of the SKILL.md that you expect.",
                place.display()
            ),
            (None, None) => "Run `skillsd explain` with the path of its SKILL.md.".to_owned(),
        };
        let summary = format!("{agent} finds no skill called `{name}`.");
        (Verdict { state: None, summary, next: Some(next) }, None, skips)
    }

    /// Returns the summary and the advice for a SKILL.md directly in a root.
    fn move_from_root(&self, name: &str, root: usize, skip: &SkippedEntry) -> (String, Absence) {
        let absence = self.passed_over(root, skip);
        let (agent, shown, why) = (self.agent, skip.path.display(), &absence.why);
        let target = self.resolution.roots[root].path.child(name).child(SKILL_FILE);
        let next = format!("Move `{shown}` to `{}`.", target.display());
        let summary =
            format!("{agent} finds no skill called `{name}`. There is `{shown}`, but {why}.");
        (summary, Absence { next, ..absence })
    }

    /// Returns the first SKILL.md directly in a root, which has no name of its own.
    fn skill_in_root(&self) -> Option<(usize, &'a SkippedEntry)> {
        let mut roots = self.resolution.roots.iter().enumerate();
        roots.find_map(|(index, root)| {
            let skip = root.skips.iter().find(|it| matches!(it.reason, SkipReason::RootSkill))?;
            Some((index, skip))
        })
    }

    /// Returns true for the profile of an agent, not one of the user.
    fn is_agent(&self) -> bool {
        agents().any(|it| it.id == self.ctx.profile.id)
    }

    fn why_not(
        &self,
        path: &AbsPath,
        stray: Option<&NearMiss>,
        skips: &[(usize, &SkippedEntry)],
    ) -> Absence {
        if let Some((root, skip)) = skips.iter().find(|(_, it)| !it.reason.is_of_the_root()) {
            let is_above = skip.path != *path && skip.path.starts_with(&**path);
            let is_group = stray.is_some_and(|it| it.thing == NearMissKind::Directory(None));
            if (is_above || is_group) && matches!(skip.reason, SkipReason::TooDeep(_)) {
                return self.too_deep_below(*root, skip);
            }
            return self.passed_over(*root, skip);
        }
        let thing = stray.map(|it| &it.thing);
        if let Some(NearMissKind::Nothing(alike)) = thing {
            return nothing(path, alike.as_ref(), self.profile);
        }
        if let Some(absence) = self.within_skill(path, stray) {
            return absence;
        }
        let covers = |it: &&SearchRoot| path.starts_with(&*it.path);
        let covering = || self.resolution.roots.iter().filter(covers);
        let off = covering().find_map(|it| match &it.outcome {
            RootOutcome::NotSearched(why) => Some((it, why)),
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
            return Absence::new(ReasonRule::RootBounds, why, OUT_OF_BOUNDS);
        }
        if let Some((root, why)) = off {
            return self.switched_off(root, why);
        }
        if let Some((root, fault)) = covering().find_map(|it| match &it.outcome {
            RootOutcome::Fault(fault) => Some((it, fault)),
            _ => None,
        }) {
            let why = format!("`{}` {fault}", root.path.display());
            return Absence::new(
                ReasonRule::RootReadable,
                why,
                fault.next_for_directory(&root.path),
            );
        }
        let found = self.nested(path, stray).or_else(|| self.explain_other_worktree(path, stray));
        found.unwrap_or_else(|| self.misplaced(path, stray))
    }

    fn switched_off(&self, root: &SearchRoot, why: &str) -> Absence {
        if let Some(extension) = root.origin.strip_prefix("the extension ") {
            let name = quote_word(extension.trim_matches('`'));
            let next = format!("Repair it, or enable it with `gemini extensions enable {name}`.");
            return Absence::new(
                ReasonRule::ExtensionEnabled,
                format!("its extension is not used: {why}"),
                next,
            );
        }
        let Some(plugin) = &root.plugin else {
            let next = "Set the variable, or remove the switch, and restart the agent.";
            let why = format!("`{}` is not searched: {why}", root.path.display());
            return Absence::new(ReasonRule::RootKnown, why, next);
        };
        let says =
            |it: &SettingsNote| matches!(&it.about, NoteScope::Plugin(key) if **key == *plugin.key);
        let mut notes = self.resolution.settings.iter().flat_map(|it| &it.notes);
        if let Some(next) = notes.find(|it| it.next.is_some() && says(it)) {
            let next = next.next.clone().unwrap_or_default();
            let why = format!("the agent drops its plugin: {why}");
            return Absence::new(ReasonRule::PluginEnabled, why, next);
        }
        let is_settings = |it: &&SettingsFile| {
            let name = it.path.file_name().unwrap_or_default();
            name.as_encoded_bytes().starts_with(b"settings")
        };
        let mut files = self.resolution.settings.iter().rev().filter(is_settings);
        let file = files.find(|it| it.notes.iter().any(says));
        let next = match file {
            Some(file) => format!(
                "Set `{}` to `true` in `enabledPlugins` of `{}`.",
                plugin.key,
                file.path.display()
            ),
            None => format!("Run `claude plugin enable {}`.", quote_word(&plugin.key)),
        };
        Absence::new(ReasonRule::PluginEnabled, format!("its plugin is off: {why}"), next)
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
        let next = format!("Move `{}` to `{}`.", inner.display(), target.display());
        Some(Absence::new(ReasonRule::WalkWithinSkill, why, next))
    }

    fn passed_over(&self, root: usize, skip: &SkippedEntry) -> Absence {
        let root = &self.resolution.roots[root];
        let next = match (&skip.reason, self.query) {
            // The skill may lie further below than the entry that was skipped.
            (SkipReason::TooDeep(_), Query::Path(path)) => {
                let is_file = path.file_name() == Some(OsStr::new(SKILL_FILE));
                let dir = path.parent().filter(|_| is_file).unwrap_or_else(|| path.clone());
                let target = root.path.child(dir.file_name().unwrap_or_default());
                format!("Move `{}` to `{}`.", dir.display(), target.display())
            }
            _ => skip.suggested_action(root),
        };
        Absence::new(skip.reason.rule(), skip.reason.message(), next)
    }

    /// Explains that only directories below the path may be skills, and that they are too deep.
    fn too_deep_below(&self, root: usize, skip: &SkippedEntry) -> Absence {
        let root = self.resolution.roots[root].path.display();
        let why = skip.reason.message().replacen("this", &format!("`{}`", skip.path.display()), 1);
        let next = format!("Move the directories that hold a {SKILL_FILE} to `{root}`.");
        Absence::new(skip.reason.rule(), why, next)
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
            return Some(Absence::new(ReasonRule::WorktreeLinked, why, next));
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
        Some(Absence::new(ReasonRule::WorktreeOther, why, next))
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
            let next = format!(
                "Start the agent in `{}`, or remove line {line} of `{}` and touch a file there.",
                dir.display(),
                file.display()
            );
            let place = Some((file.clone(), LineColumn { line: *line, column: 1 }));
            return Some(Absence { place, ..Absence::new(ReasonRule::NestedIgnored, why, next) });
        }
        let dir = dir.display();
        Some(Absence::new(
            ReasonRule::NestedTouched,
            format!(
                "it is below the working directory; {agent} searches there once a file near it is touched"
            ),
            format!("Start the agent in `{dir}`, or let it read or edit a file there."),
        ))
    }

    fn misplaced(&self, path: &AbsPath, stray: Option<&NearMiss>) -> Absence {
        let thing = stray.map(|it| &it.thing);
        let (rule, agent) = (ReasonRule::RootsSearched, self.ctx.profile.object());
        let nowhere = format!("in none of the directories that {agent} searches");
        let why = format!("it is {nowhere}");
        let is_skill_file = path.file_name() == Some(OsStr::new(SKILL_FILE));
        // Only a skill's directory can be moved into a root.
        let dir = match thing {
            Some(NearMissKind::Directory(None)) => {
                let why = format!("it is a directory without a {SKILL_FILE}, {nowhere}");
                let next = format!(
                    "Ask for a skill's name or the path of its {SKILL_FILE}, or run `skillsd explain --cwd {}` to see what {agent} finds in that directory.",
                    quote_word(&path.display().to_string())
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
        let next = if let Some(place) = self.own_place() {
            let target = place.child(name);
            match dir {
                Some(dir) => self.next_steps_to(&dir, &place, stray),
                None => format!("Write `{}`.", target.child(SKILL_FILE).display()),
            }
        } else {
            let profile = self.profile;
            format!(
                "Add a directory to `roots` of `[profiles.{profile}]` in skillsd's configuration."
            )
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

    /// Returns the steps after which the agent finds a skill directory, as sentences: what the
    /// agent needs to load it, then a link, a copy or a move to the root `place`.
    fn next_steps_to(&self, dir: &AbsPath, place: &AbsPath, stray: Option<&NearMiss>) -> String {
        let name = dir.file_name().unwrap_or_default();
        let (from, to) = (dir.display(), place.child(name));
        if let Some(other) = self.resolution.candidates.iter().find(|it| {
            it.own_name().is_some_and(|it| it == name) || it.name == name.to_string_lossy()
        }) {
            let (agent, other) = (self.ctx.profile.subject(), other.path.display());
            return format!("Rename `{from}`: {agent} has another skill of this name, `{other}`.");
        }
        let file = stray.and_then(|it| it.file.as_ref());
        let written = match stray.map(|it| &it.thing) {
            Some(NearMissKind::Directory(Some(written))) => &**written,
            _ => OsStr::new(SKILL_FILE),
        };
        let renamed = (written != SKILL_FILE).then(|| wrong_case(&dir.child(written)).next);
        let mut steps = Vec::from_iter(renamed);
        let mut enabling = None;
        let root = self.resolution.roots.iter().position(|it| it.path == *place);
        if let Some((root, file)) = root.zip(file) {
            let candidate = self.linked(dir, root, file);
            let reason = candidate.reason.as_deref();
            // The author may keep a skill from the model, or let it wait for a file.
            let is_kept =
                |it: &&Reason| matches!(it.rule, ReasonRule::ModelInvocation | ReasonRule::Paths);
            let reason = reason.filter(|it| !is_kept(it));
            steps.extend(reason.map(|it| self.next_step(&candidate, it)));
            let mut listed = [Candidate { state: SkillState::Active, ..candidate }];
            denied::apply(self.ctx, &self.resolution.permissions, &mut listed);
            let [candidate] = listed;
            if candidate.state == SkillState::Denied {
                enabling = candidate.reason.map(|it| it.next);
            }
            let awaits_trust = self.resolution.roots[root].awaits_trust;
            if awaits_trust && dir.starts_with(&*self.resolution.worktree) {
                let top = quote_word(&self.resolution.worktree.display().to_string());
                steps.push(format!("Run `skillsd trust {top}`."));
            }
        }
        steps.push(match (self.is_shared(dir), self.can_link(dir, place, stray)) {
            (true, true) => {
                let dir = quote_word(&from.to_string());
                format!("Run `skillsd link {dir} --to {}`.", self.profile)
            }
            (true, false) if self.is_agent() => format!("Copy `{from}` to `{}`.", to.display()),
            _ => format!("Move `{from}` to `{}`.", to.display()),
        });
        steps.extend(enabling);
        let mut text = steps.remove(0);
        for step in steps {
            let mut letters = step.chars();
            let first = letters.next().map(|it| it.to_lowercase().to_string()).unwrap_or_default();
            let _ = write!(text, " Then {first}{}", letters.as_str());
        }
        text
    }

    /// Returns the candidate that a skill directory would be in a root.
    fn linked(&self, dir: &AbsPath, root: usize, file: &SkillFile) -> Candidate {
        let found = FoundFile::new(dir.child(SKILL_FILE), root, Ok(file.clone()));
        let found = FoundFile { directory: file.directory, ..found };
        let scope = self.resolution.roots[root].scope;
        let mut candidate = evaluate(self.ctx, scope, found);
        if self.ctx.profile.name.check == NameCheck::Visible {
            refuse_name(&mut candidate);
        }
        candidate
    }

    /// Returns true if other agents find the skill's directory: moving it would take it from them.
    fn is_shared(&self, dir: &AbsPath) -> bool {
        let Some(parent) = dir.parent() else { return false };
        let relatives = || agents().flat_map(|it| &it.roots).flat_map(|it| &it.relative);
        // Agents may find a nested directory of this name too.
        let is_nested = parent.starts_with(&*self.resolution.worktree)
            && relatives().any(|it| it.contains('/') && parent.ends_with(&**it));
        is_nested || places(self.ctx, self.resolution).contains(&parent)
    }

    /// Returns true if `skillsd link` makes a link that the agent follows.
    fn can_link(&self, dir: &AbsPath, place: &AbsPath, stray: Option<&NearMiss>) -> bool {
        // The link of a user's skill is in the agent's directory of the user.
        let has_user = || self.ctx.profile.roots.iter().any(|it| it.scope == Scope::User);
        let is_below_home = || variable(self.ctx, "HOME").is_ok_and(|it| dir.starts_with(&*it));
        let is_inside =
            dir.starts_with(&*self.resolution.worktree) || has_user() && is_below_home();
        let is_readable = stray.is_none_or(|it| it.file.is_some());
        self.is_agent() && self.follows_links(place) && is_inside && is_readable
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

/// Returns true if every agent accepts the text as a name.
fn is_word(text: &str) -> bool {
    let is_letter = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
    !text.starts_with('-') && !text.ends_with('-') && text.chars().all(is_letter)
}

fn verdict(summary: String, absence: &Absence) -> Verdict {
    Verdict { state: None, summary, next: Some(absence.next.clone()) }
}
