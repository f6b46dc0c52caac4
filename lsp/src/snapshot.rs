//! What is known of one place: the skills that agents see there, with the open texts over them.
//!
//! [`WorkspaceSnapshot`] is a snapshot as it came from the source, in core's terms. [`OverlaySnapshot`] is the same
//! with what the editor holds in the place of what the disk says; agents always see the disk,
//! editors see their buffers. Both never change.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use skills_agents::command;
use skills_agents::profile::ProfileSet;
use skills_agents::references::LinkBases;
use skills_agents::skill::SkillRecord;
use skills_discovery::discover::{FileId, State, is_built_in, path_of};
use skills_discovery::levels::{Level, Levels};
use skills_discovery::ranking::{Ranked, RankedRoot, Ranking};
use skills_lint::{Neighbour, SkillSet};
use skills_protocol::path::{PathEncoding, decode_absolute};
use skills_protocol::wire;
use skills_syntax::path::AbsPath;

use crate::workspace::EditorSettings;

/// A snapshot in core's terms.
#[derive(Debug, Default)]
pub(crate) struct WorkspaceSnapshot {
    /// For asking what has changed since.
    pub(crate) clock: String,
    /// The names of all profiles, the user's own among them.
    pub(crate) profiles: Vec<String>,
    /// The profiles that count.
    pub(crate) counting: Vec<String>,
    /// What the user has made of profiles.
    pub(crate) own_profiles: Option<String>,
    /// Sorted by path.
    pub(crate) skills: Vec<Skill>,
    pub(crate) rankings: Vec<Ranking>,
    pub(crate) levels: Levels,
    /// The top of the worktree around the place.
    pub(crate) top: Option<AbsPath>,
    /// The user's home directory.
    pub(crate) home: Option<AbsPath>,
}

/// One skill as it is for whoever reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skill {
    pub(crate) path: AbsPath,
    /// Which file it is; none where that is not known.
    pub(crate) file: Option<FileId>,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
}

impl Skill {
    /// Whether both are one file, by its path or by another way to it.
    pub(crate) fn is_file_of(&self, other: &Self) -> bool {
        self.path == other.path || (self.file.is_some() && self.file == other.file)
    }
}

/// An open text that is a skill.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    pub(crate) path: AbsPath,
    pub(crate) record: Arc<SkillRecord>,
}

impl PartialEq for Buffer {
    /// Whether both say the same as far as other skills can notice.
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
            && (Arc::ptr_eq(&self.record, &other.record)
                || (self.record.head == other.record.head
                    && self.record.first_body_line == other.record.first_body_line))
    }
}

/// What is known of a place, with the open texts over it.
#[derive(Debug, Default)]
pub(crate) struct OverlaySnapshot {
    pub(crate) skills: Vec<Skill>,
    /// The same as rules see them, and what agents make of them.
    pub(crate) company: SkillSet,
    pub(crate) levels: Levels,
    pub(crate) top: Option<AbsPath>,
    pub(crate) home: Option<AbsPath>,
}

/// Returns the names of all profiles, the user's own among them.
pub(crate) fn profiles(snapshot: &wire::SnapshotResult) -> Vec<String> {
    names(&named(snapshot))
}

fn names(profiles: &ProfileSet) -> Vec<String> {
    profiles.all().iter().map(|it| it.id.to_string()).collect()
}

fn named(snapshot: &wire::SnapshotResult) -> ProfileSet {
    let own = snapshot.own_profiles.as_deref().unwrap_or_default();
    skills_config::read(own.as_bytes(), skills_config::Source::User).config.profiles
}

impl WorkspaceSnapshot {
    /// Reads a snapshot. `levels` are the editor's own, which count before the configuration's.
    pub(crate) fn read(snapshot: wire::SnapshotResult, own: &[EditorSettings]) -> Self {
        let paths: Vec<Option<AbsPath>> =
            snapshot.skills.iter().map(|it| path(&it.path, it.path_encoding)).collect();
        let top = path(&snapshot.worktree, snapshot.path_encoding);
        let home = snapshot.home.as_ref().and_then(|it| path(it, snapshot.path_encoding));
        let mut levels = Levels::default();
        let mut set = |glob: Option<&str>, rule: &str, level| match (glob, &top) {
            (None, _) => levels.set(rule, level),
            (Some(glob), Some(top)) => levels.set_for(top, glob, rule, level),
            (Some(_), None) => {}
        };
        for row in &snapshot.levels {
            if let Some(level) = Level::read(&row.level) {
                set(row.glob.as_deref(), &row.rule, level);
            }
        }
        for it in own {
            set(it.glob.as_deref(), &it.rule, it.level);
        }
        let profiles = named(&snapshot);
        let ranking = |it| ranking(it, &profiles, &paths);
        let rankings = snapshot.profiles.iter().filter_map(ranking).collect();
        // What is built into an agent is ranked with the others, and nothing that a text leads to.
        let skill = |(it, path): (wire::SnapshotSkill, &Option<AbsPath>)| {
            let path = path.clone().filter(|it| !is_built_in(it))?;
            let file = it.file.and_then(|it| it.parse().ok());
            let name = command::name(&path).unwrap_or(it.name);
            Some(Skill { path, file, name, description: it.description })
        };
        let mut skills: Vec<_> =
            snapshot.skills.into_iter().zip(&paths).filter_map(skill).collect();
        skills.sort_by(|a, b| a.path.cmp(&b.path));
        Self {
            clock: snapshot.clock,
            profiles: names(&profiles),
            counting: snapshot.profiles.into_iter().map(|it| it.profile).collect(),
            own_profiles: snapshot.own_profiles,
            skills,
            rankings,
            levels,
            top,
            home,
        }
    }

    /// Whether a file is a skill that is seen.
    pub(crate) fn sees(&self, path: &AbsPath) -> bool {
        self.skills.binary_search_by(|it| it.path.cmp(path)).is_ok()
    }

    /// Returns what is known with these texts over it: those that are seen from the place, or would
    /// be if they were saved, and those that belong there. Of an open text `is_there` says whether
    /// the disk has it.
    pub(crate) fn overlaid(
        &self,
        buffers: &[Buffer],
        is_own: impl Fn(&AbsPath) -> bool,
        is_there: impl Fn(&AbsPath) -> bool,
    ) -> OverlaySnapshot {
        let paths = buffers.iter().map(|it| &it.path);
        let unsaved: HashSet<&AbsPath> = paths.filter(|it| !is_there(it)).collect();
        let texts = || buffers.iter().map(|it| (&it.path, &*it.record));
        let rankings = self.rankings.iter();
        let rankings: Vec<Ranking> =
            rankings.map(|it| it.with(unsaved.iter().copied()).overlaid(texts())).collect();
        let met = rankings.iter().flat_map(|it| &it.skills).map(|it| &it.path);
        let met: HashSet<&AbsPath> = met.filter(|it| unsaved.contains(it)).collect();
        let is_seen = |it: &AbsPath| self.sees(it) || met.contains(it) || is_own(it);
        let buffers: Vec<Buffer> = buffers.iter().filter(|it| is_seen(&it.path)).cloned().collect();
        let mut skills: BTreeMap<&AbsPath, Skill> =
            self.skills.iter().map(|it| (&it.path, it.clone())).collect();
        for Buffer { path, record } in &buffers {
            let (name, description) = said(path, record);
            let file = skills.get(path).and_then(|it| it.file);
            skills.insert(path, Skill { path: path.clone(), file, name, description });
        }
        follow(&mut skills, &buffers);
        let skills: Vec<Skill> = skills.into_values().collect();
        let neighbours = skills
            .iter()
            .map(|it| Neighbour { name: it.name.clone(), path: it.path.clone(), file: it.file })
            .collect();
        let company = SkillSet::new(neighbours, rankings);
        let (levels, top, home) = (self.levels.clone(), self.top.clone(), self.home.clone());
        OverlaySnapshot { skills, company, levels, top, home }
    }
}

/// Has files say what stands in the open text of the same file by another way.
fn follow(skills: &mut BTreeMap<&AbsPath, Skill>, buffers: &[Buffer]) {
    let mut open: HashMap<FileId, &Buffer> = HashMap::new();
    for buffer in buffers {
        if let Some(file) = skills.get(&buffer.path).and_then(|it| it.file) {
            open.entry(file).or_insert(buffer);
        }
    }
    for skill in skills.values_mut() {
        let Some(buffer) = skill.file.and_then(|it| open.get(&it)) else { continue };
        // One that is open itself says what its own text does.
        if buffers.iter().all(|it| it.path != skill.path) {
            (skill.name, skill.description) = said(&skill.path, &buffer.record);
        }
    }
}

/// Returns what the skill at a path is called and how it describes itself: by its name, else by its
/// directory; a command by where it lies, whatever it says.
fn said(path: &AbsPath, record: &SkillRecord) -> (String, Option<String>) {
    let text = |it: &skills_agents::skill::RecordField| it.text.to_string();
    let written = record.name.as_ref().map(text).filter(|it| !it.is_empty());
    let stem = path.file_stem().filter(|_| !path.ends_with("SKILL.md"));
    let own = stem.and_then(|it| it.to_str()).or_else(|| path.parent_name());
    let name = command::name(path).or(written).or_else(|| own.map(str::to_owned));
    (name.unwrap_or_default(), record.description.as_ref().map(text))
}

impl OverlaySnapshot {
    fn rankings(&self) -> &[Ranking] {
        self.company.rankings()
    }

    /// Returns the skill that a name means: the one that wins it where an agent decides, else any
    /// of that name or in a directory of it.
    pub(crate) fn meant(&self, name: &str) -> Option<&Skill> {
        let wins =
            |it: &&Ranked| it.name == name && it.winner.is_none() && it.state != State::Invalid;
        let winner = self.rankings().iter().find_map(|it| it.skills.iter().find(wins));
        let by_name = || self.skills.iter().find(|it| it.name == name);
        let by_directory = || self.skills.iter().find(|it| it.path.parent_name() == Some(name));
        match winner {
            Some(winner) => self.at(&winner.path),
            None => by_name().or_else(by_directory),
        }
    }

    /// Returns the skill whose file is at a path.
    pub(crate) fn at(&self, path: &AbsPath) -> Option<&Skill> {
        let index = self.skills.binary_search_by(|it| it.path.cmp(path)).ok()?;
        self.skills.get(index)
    }

    /// Returns the skill in whose directory a path is, or that directory itself: the innermost.
    pub(crate) fn around(&self, path: &AbsPath) -> Option<&Skill> {
        path.ancestors().find_map(|it| self.at(&it.child("SKILL.md")))
    }

    /// Returns the skills that some agent calls by a name, each with that agent.
    pub(crate) fn called<'a>(
        &'a self,
        name: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a AbsPath)> {
        self.rankings().iter().flat_map(move |it| {
            let them = it.skills.iter().filter(move |it| it.name.eq_ignore_ascii_case(name));
            them.map(|skill| (&*it.profile.agent, &skill.path))
        })
    }

    /// Returns where the paths of a text start.
    pub(crate) fn bases(&self, text: &AbsPath) -> LinkBases {
        let skill = self.around(text).and_then(|it| it.path.parent());
        LinkBases::for_file(text, self.top.as_ref(), self.home.as_ref()).with_skill(skill)
    }

    /// Returns what each profile makes of the skill at a path.
    pub(crate) fn places(&self, path: &AbsPath) -> impl Iterator<Item = (&Ranking, &Ranked)> {
        let find = move |it: &'_ Ranking| it.skills.iter().position(|skill| skill.path == *path);
        self.rankings().iter().filter_map(move |it| Some((it, it.skills.get(find(it)?)?)))
    }
}

/// Reads a path, or the address of what is no file.
pub(crate) fn path(text: &str, encoding: Option<PathEncoding>) -> Option<AbsPath> {
    path_of(text).or_else(|| AbsPath::new(&decode_absolute(text, encoding).ok()?).ok())
}

/// Reads what a profile makes of the skills; nothing of one whose rules are not known here.
fn ranking(
    profile: &wire::SnapshotProfile,
    profiles: &ProfileSet,
    paths: &[Option<AbsPath>],
) -> Option<Ranking> {
    let rules = profiles.find(&profile.profile)?;
    let skills = profile.skills.iter().map(|it| {
        Some(Ranked {
            path: paths.get(it.skill as usize)?.clone()?,
            name: it.name.clone(),
            prefix: it.prefix.clone(),
            description: it.description.map(|it| it as usize),
            state: state(it.state),
            reason: it.reason.clone(),
            turn: it.turn as usize,
            winner: it.winner.map(|it| it as usize),
            same_file: it.same_file,
        })
    });
    // One that is left out would move the numbers of the others.
    let skills: Option<Vec<Ranked>> = skills.collect();
    let roots = profile.roots.iter().filter_map(|it| {
        let first = it.first as usize;
        let skills = first..first + it.count as usize;
        let is_whole = skills.end <= profile.skills.len();
        let path = path(&it.path, it.path_encoding).filter(|_| is_whole)?;
        Some(RankedRoot { path, rule: it.rule as usize, skills })
    });
    let (profile, unique) = (Arc::clone(rules), profile.unique);
    Some(Ranking { profile, unique, skills: skills?, roots: roots.collect() })
}

fn state(state: wire::State) -> State {
    match state {
        wire::State::Active => State::Active,
        wire::State::Conditional => State::Conditional,
        wire::State::Activated => State::Activated,
        wire::State::Shadowed => State::Shadowed,
        wire::State::Invalid => State::Invalid,
        wire::State::Refused => State::Refused,
        wire::State::Hidden => State::Hidden,
        wire::State::Untrusted => State::Untrusted,
        // Both are switched off by what the user has configured.
        wire::State::Denied | wire::State::Ignored => State::Ignored,
    }
}
