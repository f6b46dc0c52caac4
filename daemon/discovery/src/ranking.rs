//! [`Ranking`]: the skills an agent finds, with the state that depends on their texts.
//!
//! A [`Resolution`] needs the disk. Editors need less: the names that skills claim, the order of
//! the claims, and the winners. A [`Ranking`] can be sent over the wire, and [`Ranking::overlaid`]
//! recomputes it for unsaved buffers. The rules of `index/*` use rankings only, so that the editor
//! and `skillsd check` agree. [`RankTable`] is the part of a ranking that is expensive to compute
//! and small to keep.

mod unsaved;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::ops::Range;
use std::sync::Arc;

use skills_agents::field_table::{Agent, CLAUDE_MAX_DESCRIPTION};
use skills_agents::loaders::{LoadOutcome, load_as, load_command_as};
use skills_agents::profile::{Profile, RootBase};
use skills_agents::skill::SkillRecord;
use skills_syntax::path::AbsPath;

use crate::activate::is_restriction;
use crate::discover::{
    Candidate, DiscoveryContext, ListingLimits, Resolution, RootOutcome, SearchRoot, SkillState,
    claim_order,
};

/// The skills that one agent finds.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The agent's rules.
    pub profile: Arc<Profile>,
    /// True if the agent keeps one skill per name.
    pub unique: bool,
    /// Limits of the agent's skill listing.
    pub limits: ListingSize,
    /// Every file found, in scan order.
    pub skills: Vec<Ranked>,
    /// The search roots on the disk, in scan order.
    pub roots: Vec<RankedRoot>,
}

/// Limits of an agent's skill listing in characters, under its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListingSize {
    /// Maximum length of the listing; `None` without a limit.
    pub budget: Option<usize>,
    /// Maximum length of a description.
    pub longest: usize,
}

/// A directory that an agent searches for skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedRoot {
    /// Its path; it may not exist.
    pub path: AbsPath,
    /// Its row among the roots of the profile.
    pub rule: usize,
    /// The files found in it, as a range of [`Ranking::skills`].
    pub skills: Range<usize>,
    /// True if its skills are held back until the user trusts it.
    pub awaits_trust: bool,
}

/// One skill that an agent finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranked {
    /// Its file, as reached.
    pub path: AbsPath,
    /// The name as the agent reads it, including the prefix.
    pub name: String,
    /// The part of the name in front of its own name: `plugin:`.
    pub prefix: String,
    /// Number of characters of the description that the agent reads; `None` without a description,
    /// and if settings limit the skill to its name.
    pub description: Option<usize>,
    /// True if settings limit the skill to its name.
    pub name_only: bool,
    /// State of the skill.
    pub state: SkillState,
    /// Reason for the state.
    pub reason: Option<String>,
    /// Position in the order in which skills claim names; lower claims first.
    pub claim_position: usize,
    /// The skill that wins its name, as an index into [`Ranking::skills`].
    pub winner: Option<usize>,
    /// True if the winner is the same file by another path.
    pub same_file: bool,
}

/// Ranking data of each candidate of a resolution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankTable {
    /// True if the agent keeps one skill per name.
    pub unique: bool,
    /// One entry per candidate, in the order of the candidates.
    pub ranks: Box<[Rank]>,
}

/// Ranking data of one candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Length of the name's prefix in bytes.
    prefix: usize,
    /// Position in the order of claims.
    claim_position: u32,
    /// The candidate that wins the name.
    winner: Option<u32>,
    /// True if the winner is the same file by another path.
    same_file: bool,
}

impl RankTable {
    /// Computes the table for a resolution.
    pub fn compute(ctx: &DiscoveryContext, resolution: &Resolution) -> Self {
        let candidates = &resolution.candidates;
        let order = claim_order(ctx, resolution);
        let mut claim_positions = vec![0; candidates.len()];
        for (claim_position, index) in (0..).zip(order.iter().flatten()) {
            claim_positions[*index] = claim_position;
        }
        let claims = candidates.iter().zip(claim_positions);
        Self {
            unique: order.is_some(),
            ranks: claims
                .map(|(it, claim_position)| rank(ctx, candidates, it, claim_position))
                .collect(),
        }
    }
}

impl Rank {
    /// Combines the data with its candidate.
    pub fn ranked(self, candidate: &Candidate) -> Ranked {
        Ranked {
            path: candidate.path.clone(),
            name: candidate.name.clone(),
            prefix: candidate.name[..self.prefix].to_owned(),
            description: candidate
                .description
                .as_deref()
                .filter(|_| !candidate.name_only)
                .map(|it| it.chars().count()),
            name_only: candidate.name_only,
            state: candidate.state,
            reason: candidate.reason.as_ref().map(|it| it.message.clone()),
            claim_position: self.claim_position as usize,
            winner: self.winner.map(|it| it as usize),
            same_file: self.same_file,
        }
    }
}

impl ListingSize {
    /// Returns the limits of an agent with these settings.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "the budget is small and the share at most 1"
    )]
    pub fn from_profile(profile: &Profile, settings: ListingLimits) -> Self {
        let usual = profile.reader.and_then(Agent::listing_budget);
        // The setting replaces 1 % of the context.
        let budget = |it: usize| match settings.fraction {
            Some(share) => ((it as f64 * share * 100.0) as usize).max(1),
            None => it,
        };
        Self {
            budget: usual.map(budget),
            longest: settings.longest.unwrap_or(CLAUDE_MAX_DESCRIPTION),
        }
    }
}

impl Ranking {
    /// Computes the ranking of a resolution.
    pub fn of(ctx: &DiscoveryContext, resolution: &Resolution) -> Self {
        let RankTable { unique, ranks } = RankTable::compute(ctx, resolution);
        let skills = ranks.iter().zip(&resolution.candidates);
        Self {
            profile: Arc::clone(&ctx.profile),
            unique,
            limits: ListingSize::from_profile(&ctx.profile, resolution.listing),
            skills: skills.map(|(rank, candidate)| rank.ranked(candidate)).collect(),
            roots: roots(ctx, resolution),
        }
    }

    /// Returns the ranking that results if each of these files has the given text.
    ///
    /// A file found by several paths has the same text for each, unless another text is given for
    /// one of them. Files that the agent did not find are ignored; see [`Ranking::with`].
    #[must_use]
    pub fn overlaid<'a>(
        &self,
        texts: impl IntoIterator<Item = (&'a AbsPath, &'a SkillRecord)>,
    ) -> Self {
        // Hashes paths as bytes; hashing by component is slower.
        let texts: HashMap<&OsStr, &SkillRecord> =
            texts.into_iter().map(|(path, record)| (path.as_os_str(), record)).collect();
        let own = |it: &Ranked| texts.get(it.path.as_os_str()).copied();
        let mut by_file: HashMap<usize, &SkillRecord> = HashMap::new();
        for (index, skill) in self.skills.iter().enumerate() {
            let first = self.first_path_of(index);
            if let Some(record) =
                own(skill).filter(|_| first == index || !by_file.contains_key(&first))
            {
                by_file.insert(first, record);
            }
        }
        let mut ranking = self.clone();
        let mut changed = false;
        for (index, skill) in ranking.skills.iter_mut().enumerate() {
            let by_another_way = || by_file.get(&self.first_path_of(index)).copied();
            if let Some(record) = own(skill).or_else(by_another_way) {
                let root = self.roots.iter().find(|it| it.skills.contains(&index));
                let awaits_trust = root.is_some_and(|it| it.awaits_trust);
                let before = (skill.name.clone(), skill.claims());
                skill.apply_text(&self.profile, record, awaits_trust);
                changed |= before != (skill.name.clone(), skill.claims());
            }
        }
        if changed {
            ranking.resolve_names();
        }
        ranking
    }

    /// Returns the skill that represents a file: the first path at which it was found.
    fn first_path_of(&self, index: usize) -> usize {
        let skill = &self.skills[index];
        skill.winner.filter(|_| skill.same_file).unwrap_or(index)
    }

    /// Returns the skills that the agent shows its model.
    pub fn listed(&self) -> impl Iterator<Item = &Ranked> {
        self.skills.iter().filter(|it| it.state.is_listed())
    }

    /// Recomputes the winner of each name.
    fn resolve_names(&mut self) {
        if !self.unique {
            return;
        }
        let mut order: Vec<usize> = (0..self.skills.len()).collect();
        order.sort_by_key(|it| self.skills[*it].claim_position);
        let mut winners: HashMap<String, usize> = HashMap::new();
        for index in order {
            let skill = &mut self.skills[index];
            if skill.same_file {
                continue;
            }
            skill.winner = None;
            if skill.state == SkillState::Shadowed {
                // Nothing but its name shadowed it, so it is active without the conflict.
                skill.state = SkillState::Active;
                skill.reason = None;
            }
            if !skill.claims() {
                continue;
            }
            let winner = *winners.entry(skill.name.clone()).or_insert(index);
            if winner != index {
                skill.winner = Some(winner);
                skill.state = SkillState::Shadowed;
                skill.reason = None;
            }
        }
    }
}

impl Ranked {
    /// Returns true if it takes its name when no other skill claims it first.
    fn claims(&self) -> bool {
        !self.same_file && !self.state.is_out() && self.state != SkillState::Untrusted
    }

    /// Updates name, description and state from the file's new text.
    fn apply_text(&mut self, profile: &Profile, record: &SkillRecord, awaits_trust: bool) {
        let reading = load_by_path(profile, record, &self.path);
        self.name = format!("{}{}", self.prefix, reading.name);
        let description = reading.description.as_deref().filter(|_| !self.name_only);
        self.description = description.map(|it| it.chars().count());
        if self.same_file || matches!(self.state, SkillState::Ignored | SkillState::Refused) {
            return;
        }
        let state = match self.state {
            _ if reading.dropped.is_some() => SkillState::Invalid,
            _ if awaits_trust => SkillState::Untrusted,
            _ if reading.unlisted.is_some()
                || (profile.hides_from_model && record.disable_model_invocation) =>
            {
                SkillState::Hidden
            }
            SkillState::Activated | SkillState::Untrusted | SkillState::Denied => self.state,
            _ if profile.conditional && is_restriction(record.paths.iter().map(|it| &**it)) => {
                SkillState::Conditional
            }
            // Stays shadowed until names are resolved again.
            SkillState::Shadowed => SkillState::Shadowed,
            SkillState::Active
            | SkillState::Conditional
            | SkillState::Invalid
            | SkillState::Hidden
            | SkillState::Ignored
            | SkillState::Refused => SkillState::Active,
        };
        if state != self.state {
            self.reason = reading.dropped.or(reading.unlisted).map(|it| it.message);
            self.state = state;
        }
    }
}

/// Returns the roots on the disk in which a new file would be found by the root's own rule.
pub fn roots(ctx: &DiscoveryContext, resolution: &Resolution) -> Vec<RankedRoot> {
    resolution.roots.iter().filter_map(|it| root(&ctx.profile, it)).collect()
}

fn root(profile: &Profile, root: &SearchRoot) -> Option<RankedRoot> {
    let is_walked = matches!(root.outcome, RootOutcome::Walked | RootOutcome::Missing);
    let is_plain = is_walked && root.plugin.is_none() && root.origin.is_empty();
    let rule = profile.roots.get(root.rule).filter(|_| is_plain)?;
    if matches!(rule.base, RootBase::Provided(_) | RootBase::BuiltIn(_)) {
        return None;
    }
    let (path, skills) = (root.path.clone(), root.candidates.clone());
    let awaits_trust = root.awaits_trust || root.trust_reason.is_some();
    Some(RankedRoot { path, rule: root.rule, skills, awaits_trust })
}

fn rank(
    ctx: &DiscoveryContext,
    candidates: &[Candidate],
    candidate: &Candidate,
    claim_position: u32,
) -> Rank {
    let base = candidate.record().map(|it| load_by_path(&ctx.profile, it, &candidate.path).name);
    let prefix = base.and_then(|it| candidate.name.strip_suffix(&*it).map(str::len));
    let lost = candidate.reason.as_ref().filter(|_| candidate.state == SkillState::Shadowed);
    let winner = lost.and_then(|it| it.winner);
    let file = |it: &Candidate| it.file.as_ref().map(|it| it.id);
    let won_by = winner.and_then(|it| file(candidates.get(it)?));
    Rank {
        prefix: prefix.unwrap_or_default(),
        claim_position,
        winner: winner.map(|it| it as u32),
        // The reason for losing does not matter.
        same_file: won_by.is_some() && won_by == file(candidate),
    }
}

/// Loads a skill, or a command if the file's name is another one.
fn load_by_path(profile: &Profile, record: &SkillRecord, path: &AbsPath) -> LoadOutcome {
    let load = if is_command(path) { load_command_as } else { load_as };
    load(profile, record, &name_from_path(path))
}

fn is_command(path: &AbsPath) -> bool {
    path.file_name().is_some_and(|it| !it.eq_ignore_ascii_case("SKILL.md"))
}

/// Returns a skill's name by its path: the directory's name, or the file's stem for a command.
fn name_from_path(path: &AbsPath) -> String {
    let dir = path.parent();
    let name = if is_command(path) {
        path.file_stem()
    } else {
        dir.as_ref().and_then(|it| it.file_name())
    };
    name.map_or_else(|| "/".to_owned(), |it| it.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use expect_test::{Expect, expect};
    use skills_agents::profile;
    use skills_agents::skill::FileFacts;

    use super::*;
    use crate::discover::discover;
    use crate::discover::memory::MemoryTree;

    const WORLD: &str = "//- /w/.git dir\n//- /home/me dir\n\
        //- /w/.agents/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: One.\n---\nb\n\
        //- /w/.claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Two.\n---\nb\n\
        //- /w/.claude/skills/doc/SKILL.md\n---\nname: doc\ndescription: Three.\n---\nb\n\
        //- /w/.claude/skills/bad/SKILL.md\nno frontmatter\n\
        //- /home/me/.claude/skills/doc/SKILL.md\n---\nname: doc\ndescription: Four.\n---\nb\n";

    fn ranking(profile: &str) -> Ranking {
        ranking_of(profile, WORLD)
    }

    fn ranking_of(profile: &str, world: &str) -> Ranking {
        let ctx = DiscoveryContext {
            profile: Arc::clone(profile::find(profile).unwrap()),
            cwd: AbsPath::new(Path::new("/w")).unwrap(),
            additional: Vec::new(),
            environment: [("HOME".to_owned(), "/home/me".into())].into(),
            overlay: Arc::default(),
            agent: None,
        };
        Ranking::of(&ctx, &discover(&ctx, &MemoryTree::new(world)))
    }

    fn shown(ranking: &Ranking) -> String {
        let line = |it: &Ranked| {
            let winner = it.winner.map(|it| format!(" < {}", ranking.skills[it].path.display()));
            format!(
                "{} {} {}{}\n",
                it.path.display(),
                it.name,
                it.state.name(),
                winner.unwrap_or_default()
            )
        };
        ranking.skills.iter().map(line).collect()
    }

    fn record(text: &str) -> SkillRecord {
        let facts = FileFacts { size: text.len() as u64, truncated: false, hash: [0; 32] };
        SkillRecord::read(text.as_bytes(), facts)
    }

    #[track_caller]
    fn check(profile: &str, path: &str, text: &str, expected: &Expect) {
        let path = AbsPath::new(Path::new(path)).unwrap();
        expected.assert_eq(&shown(&ranking(profile).overlaid([(&path, &record(text))])));
    }

    #[test]
    fn skill_limited_to_its_name_has_no_description_in_an_editor_either() {
        let settings = "//- /home/me/.claude/settings.json\n\
            {\"skillOverrides\": {\"doc\": \"name-only\"}}\n";
        let ranking = ranking_of("claude-code", &format!("{WORLD}{settings}"));
        let doc = |it: &Ranking| it.skills.iter().find(|it| it.name == "doc").unwrap().clone();
        assert_eq!(doc(&ranking).description, None);
        let text = record("---\nname: doc\ndescription: Opened.\n---\nb\n");
        assert_eq!(doc(&ranking.overlaid([(&doc(&ranking).path, &text)])).description, None);
    }

    #[test]
    fn settings_change_the_limits_of_the_listing() {
        let settings = "//- /home/me/.claude/settings.json\n\
            {\"skillListingMaxDescChars\": 300, \"skillListingBudgetFraction\": 0.5}\n";
        let limits = ranking_of("claude-code", &format!("{WORLD}{settings}")).limits;
        assert_eq!(limits, ListingSize { budget: Some(400_000), longest: 300 });
        let usual = ListingSize { budget: Some(8000), longest: 1536 };
        assert_eq!(ranking("claude-code").limits, usual);
        assert_eq!(ranking("opencode").limits.budget, None);
    }

    #[test]
    fn overlaid_text_applies_to_every_path_of_a_file() {
        let mut ranking = ranking("claude-code");
        let at = |ranking: &Ranking, path: &str| {
            ranking.skills.iter().position(|it| it.path.ends_with(path)).unwrap()
        };
        let [first, other] = ["w/.claude/skills/doc/SKILL.md", "me/.claude/skills/doc/SKILL.md"]
            .map(|it| at(&ranking, it));
        ranking.skills[other].same_file = true;
        ranking.skills[other].winner = Some(first);
        let path = ranking.skills[other].path.clone();
        let text = record("---\nname: doc\ndescription: Five letters.\n---\nb\n");
        let overlaid = ranking.overlaid([(&path, &text)]);
        assert_eq!(overlaid.skills[first].description, Some(13));
        assert_eq!(overlaid.skills[other].description, Some(13));
        // Each path has its own text.
        let longer = record("---\nname: doc\ndescription: Some more letters.\n---\nb\n");
        let own = ranking.skills[first].path.clone();
        let overlaid = ranking.overlaid([(&path, &text), (&own, &longer)]);
        assert_eq!(overlaid.skills[first].description, Some(18));
        assert_eq!(overlaid.skills[other].description, Some(13));
    }

    #[test]
    fn resolving_names_again_changes_nothing() {
        for profile in profile::agents() {
            let settled = ranking(&profile.id);
            let mut again = settled.clone();
            again.resolve_names();
            assert_eq!(shown(&again), shown(&settled), "{}", profile.id);
        }
    }

    #[test]
    fn unsaved_name_change_moves_the_claim() {
        check(
            "agentskills",
            "/w/.claude/skills/doc/SKILL.md",
            "---\nname: pdf\ndescription: Three.\n---\n",
            &expect![[r#"
                /w/.agents/skills/pdf/SKILL.md pdf active
                /w/.claude/skills/bad/SKILL.md bad invalid
                /w/.claude/skills/doc/SKILL.md pdf shadowed < /w/.agents/skills/pdf/SKILL.md
                /w/.claude/skills/pdf/SKILL.md pdf shadowed < /w/.agents/skills/pdf/SKILL.md
                /home/me/.claude/skills/doc/SKILL.md doc active
            "#]],
        );
    }

    #[test]
    fn last_skill_wins_for_opencode() {
        check(
            "opencode",
            "/w/.agents/skills/pdf/SKILL.md",
            "---\nname: doc\ndescription: One.\n---\n",
            &expect![[r#"
                /builtin:/opencode/customize-opencode customize-opencode hidden
                /home/me/.claude/skills/doc/SKILL.md doc shadowed < /w/.agents/skills/pdf/SKILL.md
                /w/.claude/skills/bad/SKILL.md bad invalid
                /w/.claude/skills/doc/SKILL.md doc shadowed < /w/.agents/skills/pdf/SKILL.md
                /w/.claude/skills/pdf/SKILL.md pdf active
                /w/.agents/skills/pdf/SKILL.md doc active
            "#]],
        );
    }

    #[test]
    fn unsaved_file_ranks_where_the_agent_would_find_it() {
        let text = "---\nname: pdf\ndescription: Five.\n---\nb\n";
        for profile in profile::agents() {
            for file in [
                "/w/.agents/skills/pdf/SKILL.md",
                "/w/.agents/skills/abc/SKILL.md",
                "/w/.claude/skills/zzz/SKILL.md",
                "/w/.claude/skills/deep/er/SKILL.md",
                "/w/.claude/skills/pdf/in/SKILL.md",
                "/w/.gemini/skills/new/SKILL.md",
                "/w/.opencode/skill/new/SKILL.md",
                "/w/.codex/skills/.hidden/SKILL.md",
                "/w/.claude/skills/SKILL.md",
                "/w/.claude/commands/fix/bug.md",
                "/w/.claude/commands/pdf.md",
                "/home/me/.claude/skills/new/SKILL.md",
                "/elsewhere/new/SKILL.md",
            ] {
                // A SKILL.md that hides the root's other skills does so when it is saved.
                let hides = profile.roots.iter().any(|it| it.walk.root_stops);
                if hides && file.ends_with("/skills/SKILL.md") {
                    continue;
                }
                let without = WORLD.replace(
                    &format!("//- {file}\n---\nname: pdf\ndescription: One.\n---\nb\n"),
                    "",
                );
                let path = AbsPath::new(Path::new(file)).unwrap();
                let unsaved = ranking_of(&profile.id, &without).with([&path]);
                let unsaved = unsaved.overlaid([(&path, &record(text))]);
                let saved = ranking_of(&profile.id, &format!("{without}//- {file}\n{text}"));
                assert_eq!(shown(&unsaved), shown(&saved), "{} {file}", profile.id);
                let claim_positions =
                    |it: &Ranking| it.skills.iter().map(|it| it.claim_position).collect::<Vec<_>>();
                assert_eq!(
                    claim_positions(&unsaved),
                    claim_positions(&saved),
                    "{} {file}",
                    profile.id
                );
                assert_eq!(unsaved.roots, saved.roots, "{} {file}", profile.id);
            }
        }
    }

    #[test]
    fn repaired_file_claims_its_name() {
        check(
            "agentskills",
            "/w/.claude/skills/bad/SKILL.md",
            "---\nname: doc\ndescription: Bad.\n---\n",
            &expect![[r#"
                /w/.agents/skills/pdf/SKILL.md pdf active
                /w/.claude/skills/bad/SKILL.md doc active
                /w/.claude/skills/doc/SKILL.md doc shadowed < /w/.claude/skills/bad/SKILL.md
                /w/.claude/skills/pdf/SKILL.md pdf shadowed < /w/.agents/skills/pdf/SKILL.md
                /home/me/.claude/skills/doc/SKILL.md doc shadowed < /w/.claude/skills/bad/SKILL.md
            "#]],
        );
    }
}
