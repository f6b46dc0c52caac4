//! A source for tests: it answers with what it was told, takes its time, and counts its calls.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use skills_agents::references::TextSearch;
use skills_discovery::discover::Entry;
use skills_lint::{Facts, Look};
use skills_lsp::{Answer, Backend, DocumentLocation, Nothing, OnChange, WalkOptions, WatchTarget};
use skills_protocol::wire::{CheckResult, PathMatches, RuleLevel, SkillReference, SnapshotResult};
use skills_syntax::path::AbsPath;

/// A source that knows what it was told.
#[derive(Default)]
pub(crate) struct Told {
    /// How long a snapshot takes.
    pub(crate) delay: Duration,
    /// The skills that are seen from each place: directory below it, and name.
    pub(crate) places: BTreeMap<&'static str, &'static [(&'static str, &'static str)]>,
    /// The files that name skills, with their texts.
    pub(crate) speakers: Mutex<BTreeMap<&'static str, String>>,
    /// How often it was asked for references.
    pub(crate) asked: Mutex<usize>,
    /// The files of the worktree and beside the skill, if anybody knows them; a glob is the name of
    /// one of them.
    pub(crate) files: Mutex<Option<BTreeSet<&'static str>>>,
    /// What lies beside a skill, by its path from there, for whoever asks for that once it is known
    /// that something else is missing.
    pub(crate) beside: &'static [&'static str],
    /// What a walk has found last, which counts until one is made anew.
    pub(crate) walked: Mutex<Option<BTreeSet<&'static str>>>,
    /// How often a worktree was walked.
    pub(crate) walks: Mutex<usize>,
    /// The skill in which every check of a place finds something, where anybody answers.
    pub(crate) unsound: Mutex<Option<&'static str>>,
    /// The user's own profiles, as TOML.
    pub(crate) own: Mutex<String>,
    /// The profiles that the last snapshot was of.
    pub(crate) profiles: Mutex<Vec<String>>,
    /// Whoever follows a place.
    pub(crate) bells: Mutex<Vec<OnChange>>,
    /// What is watched.
    pub(crate) nearby: Mutex<Vec<WatchTarget>>,
    /// The tops of worktrees that are known.
    pub(crate) tops: Vec<&'static str>,
    /// Counts the bells, each of which is rung for a change.
    pub(crate) clock: Mutex<u64>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Told {
    /// Says that every place may have changed.
    pub(crate) fn ring(&self) {
        *lock(&self.clock) += 1;
        for bell in lock(&self.bells).iter() {
            bell();
        }
    }

    /// Says which files there are from now on.
    pub(crate) fn keep(&self, files: &[&'static str]) {
        *lock(&self.files) = Some(files.iter().copied().collect());
    }

    /// Returns how often a worktree was walked.
    pub(crate) fn n_walks(&self) -> usize {
        *lock(&self.walks)
    }

    /// Returns how often it was asked for references.
    pub(crate) fn n_asked(&self) -> usize {
        *lock(&self.asked)
    }

    fn view(&self, place: &AbsPath) -> Option<SnapshotResult> {
        let place = place.to_str()?;
        let skills: Vec<(String, &str)> = self
            .places
            .get(place)?
            .iter()
            .map(|(dir, name)| (format!("{place}/.claude/skills/{dir}/SKILL.md"), *name))
            .collect();
        let files = skills.iter().map(|(path, name)| {
            json!({"path": path, "name": name, "description": "Use it.", "paths": [], "hash": null})
        });
        let ranked = skills.iter().enumerate().map(|(turn, (_, name))| {
            json!({"skill": turn, "name": name, "description": 7, "state": "active",
                "reason": null, "turn": turn, "winner": null})
        });
        let snapshot = json!({
            "clock": lock(&self.clock).to_string(),
            "fresh": true,
            "worktree": place,
            "ownProfiles": *lock(&self.own),
            "skills": files.collect::<Value>(),
            "profiles": [{"profile": "claude-code", "unique": true, "skills": ranked.collect::<Value>()}],
        });
        Some(serde_json::from_value(snapshot).expect("it is a snapshot"))
    }
}

/// Where the page about the rules is.
pub(crate) const RULES_PAGE: &str = "file:///cache/rules.md";

impl Backend for Told {
    fn rules_page(&self) -> Answer<String> {
        Box::pin(std::future::ready(Some(RULES_PAGE.to_owned())))
    }

    fn follow(&self, _: &AbsPath, _: &[String], bell: OnChange) -> Box<dyn Any + Send> {
        lock(&self.bells).push(bell);
        Box::new(())
    }

    fn watch(&self, nearby: Vec<WatchTarget>, bell: OnChange) -> Box<dyn Any + Send> {
        *lock(&self.nearby) = nearby;
        lock(&self.bells).push(bell);
        Box::new(())
    }

    fn snapshot(
        &self,
        at: AbsPath,
        by: Vec<String>,
        since: Option<String>,
    ) -> Answer<SnapshotResult> {
        // Nobody answers for a profile that there is not.
        let own = lock(&self.own).clone();
        let is_known =
            by.iter().all(|it| it == "claude-code" || it == "codex" || own.contains(&**it));
        *lock(&self.profiles) = by;
        let answer = self.view(&at).filter(|_| is_known).map(|mut it| {
            // By its content, as the daemon's clock tells of all that is in it.
            it.clock = serde_json::to_string(&it).expect("it is JSON");
            it.fresh = since.as_ref() != Some(&it.clock);
            it
        });
        let delay = self.delay;
        Box::pin(async move {
            tokio::time::sleep(delay).await;
            answer
        })
    }

    fn matches(
        &self,
        at: AbsPath,
        globs: Vec<String>,
        to: WalkOptions,
    ) -> Answer<Vec<PathMatches>> {
        let Some(files) = lock(&self.files).clone() else { return Nothing.matches(at, globs, to) };
        let mut walked = lock(&self.walked);
        if to.anew || walked.is_none() {
            *walked = Some(files);
            *lock(&self.walks) += 1;
        }
        let files = walked.clone().unwrap_or_default();
        let matches = globs.into_iter().map(|pattern| PathMatches {
            count: Some(u64::from(files.contains(&*pattern))),
            files: files.iter().filter(|it| **it == pattern).map(|it| (*it).to_owned()).collect(),
            pattern,
        });
        Box::pin(std::future::ready(Some(matches.collect())))
    }

    fn references(&self, _: AbsPath, name: Option<String>) -> Answer<Vec<SkillReference>> {
        *lock(&self.asked) += 1;
        let at = json!({"line": 1, "column": 1, "offset": 0});
        let speakers = lock(&self.speakers);
        let found = speakers.keys().map(|path| {
            json!({"name": name.clone().unwrap_or_default(), "path": path, "form": "called",
                "range": {"start": at, "end": at}})
        });
        let found = serde_json::from_value(found.collect()).expect("they are references");
        Box::pin(std::future::ready(Some(found)))
    }

    fn check(&self, place: AbsPath, by: Vec<String>, of: Vec<RuleLevel>) -> Answer<CheckResult> {
        let Some(path) = *lock(&self.unsound) else { return Nothing.check(place, by, of) };
        let at = json!({"line": 1, "column": 1, "offset": 0});
        let finding = json!({"code": "name/case", "href": "https://example.org/", "severity": "error",
            "message": "It is.", "help": null, "range": {"start": at, "end": at}, "related": [], "fixes": []});
        let files = json!([{"path": path, "findings": [finding]}]);
        let checked = json!({"clock": "1", "checked": 1, "files": files});
        let checked = serde_json::from_value(checked).expect("it is what a check finds");
        Box::pin(std::future::ready(Some(checked)))
    }

    fn facts(&self, path: AbsPath, looks: Vec<String>) -> Answer<Facts> {
        let Some(files) = lock(&self.files).clone() else { return Nothing.facts(path, looks) };
        let look = |it: String| {
            let is_there = files.contains(&*it);
            let found = if is_there {
                Look::File { executable: false, script: false }
            } else if self.beside.iter().any(|file| file.starts_with(&format!("{it}/"))) {
                Look::Directory
            } else {
                Look::Missing
            };
            (it, Some(found))
        };
        let looks = looks.into_iter().map(look).collect();
        let mut beside = self.beside.iter().map(|it| (*it).to_owned()).peekable();
        let files = beside.peek().is_some().then(|| beside.collect());
        Box::pin(std::future::ready(Some(Facts { looks, files, ..Facts::default() })))
    }

    fn entries(&self, paths: Vec<AbsPath>) -> Answer<Vec<Option<Entry>>> {
        let dir = |place: &str, dir: &str| format!("{place}/.claude/skills/{dir}");
        let dirs: Vec<String> = self
            .places
            .iter()
            .flat_map(|(place, skills)| skills.iter().map(|it| dir(place, it.0)))
            .collect();
        let entry = |it: AbsPath| {
            // Each is what it is by no other way.
            let is_there = dirs.iter().any(|dir| it.starts_with(dir));
            is_there.then_some(Entry { id: None, is_link: false })
        };
        Box::pin(std::future::ready(Some(paths.into_iter().map(entry).collect())))
    }

    fn whereabouts(&self, paths: Vec<AbsPath>) -> Answer<Vec<DocumentLocation>> {
        let whereabouts = |it: &AbsPath| {
            let tops = self.tops.iter().filter(|top| it.starts_with(top));
            let top = tops.max_by_key(|it| it.len());
            let worktree = top.and_then(|it| AbsPath::new(Path::new(it)).ok());
            DocumentLocation { worktree, ..DocumentLocation::default() }
        };
        Box::pin(std::future::ready(Some(paths.iter().map(whereabouts).collect())))
    }

    fn texts(&self, _: TextSearch) -> Answer<Vec<AbsPath>> {
        let paths: Vec<_> =
            lock(&self.speakers).keys().filter_map(|it| AbsPath::new(Path::new(it)).ok()).collect();
        Box::pin(std::future::ready(Some(paths)))
    }

    fn read(&self, path: AbsPath) -> Answer<String> {
        let text = path.to_str().and_then(|it| lock(&self.speakers).get(it).cloned());
        Box::pin(std::future::ready(text))
    }

    fn make_executable(&self, path: AbsPath, relative: String) -> Answer<()> {
        Nothing.make_executable(path, relative)
    }

    fn converse(&self, name: String) {
        Nothing.converse(name);
    }

    fn touch(&self, place: AbsPath, path: AbsPath) -> Answer<()> {
        Nothing.touch(place, path)
    }
}
