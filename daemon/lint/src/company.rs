//! The skills that can be seen together, found by what rules ask for.
//!
//! A rule is asked about each skill of a place. One that went through all the others each time would
//! take hours where there are thousands, so whoever checks a place makes this once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::LazyLock;

use skills_agents::command;
use skills_agents::profile::Profile;
use skills_discovery::discover::{FileId, State, is_built_in};
use skills_discovery::ranking::{Ranked, Ranking};
use skills_syntax::path::AbsPath;

/// How many of the skills that a finding has to do with are named, each by a finding of its own; the
/// others are counted.
pub(super) const MOST_NAMED: usize = 5;

/// A skill beside the one that is checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Neighbour {
    /// Its name: that of its frontmatter, else of its directory.
    pub name: String,
    /// Its SKILL.md.
    pub path: AbsPath,
    /// Which file that is; none where it is not known.
    pub file: Option<FileId>,
}

/// All skills that can be seen together, and what each active profile makes of them.
#[derive(Debug, Default)]
pub struct SkillSet {
    neighbours: Vec<Neighbour>,
    rankings: Vec<Ranking>,
    /// Which of the neighbours lies at a path.
    at: HashMap<AbsPath, usize>,
    /// Those of a name.
    named: BTreeMap<String, Vec<usize>>,
    /// Those in directories of a name.
    in_directories: BTreeMap<String, Vec<usize>>,
    /// What agents call the skills, and all else that they call so.
    called: HashSet<String>,
    /// Those of one name whose directories lie side by side, where no agent tells them apart.
    twins: HashMap<(AbsPath, String), Vec<usize>>,
    /// Of each ranking what is asked of it.
    standings: Vec<Standing>,
}

/// What is asked of a ranking.
#[derive(Debug)]
struct Standing {
    /// The skills at a path.
    at: HashMap<AbsPath, Vec<usize>>,
    /// The skills that one wins over; one file by two ways loses nothing.
    losers: HashMap<usize, Vec<usize>>,
    /// How many skills the agent lists.
    n_listed: usize,
    /// How many characters its list has.
    n_characters: usize,
}

impl SkillSet {
    /// Returns what is known of these skills. Those that are no neighbours are left out: what is built
    /// into an agent, which no text leads to, and commands.
    pub fn new(mut neighbours: Vec<Neighbour>, rankings: Vec<Ranking>) -> Self {
        neighbours.retain(|it| !is_built_in(&it.path) && !command::is_command(&it.path));
        let standings: Vec<Standing> = rankings.iter().map(Standing::of).collect();
        let mut company = Self { standings, ..Self::default() };
        let told = shadowed(&rankings);
        for (index, neighbour) in neighbours.iter().enumerate() {
            let Neighbour { name, path, .. } = neighbour;
            company.at.insert(path.clone(), index);
            company.named.entry(name.clone()).or_default().push(index);
            if let Some(dir) = path.parent_name() {
                company.in_directories.entry(dir.to_owned()).or_default().push(index);
            }
            let above = path.parent().and_then(|it| it.parent());
            if let Some(above) = above.filter(|_| !name.is_empty() && !told.contains(path)) {
                company.twins.entry((above, name.clone())).or_default().push(index);
            }
        }
        let skills = rankings.iter().flat_map(|it| &it.skills);
        company.called = skills.map(|it| it.name.clone()).collect();
        Self { neighbours, rankings, ..company }
    }

    /// Returns the company of a text of which nothing else is known.
    pub fn none() -> &'static Self {
        static NONE: LazyLock<SkillSet> = LazyLock::new(SkillSet::default);
        &NONE
    }

    /// Returns the other skills that can be seen together with the one that is checked.
    pub fn neighbours(&self) -> &[Neighbour] {
        &self.neighbours
    }

    /// Returns what each active profile makes of the place.
    pub fn rankings(&self) -> &[Ranking] {
        &self.rankings
    }

    /// Returns the skill whose file is at a path.
    pub(super) fn at(&self, path: &AbsPath) -> Option<&Neighbour> {
        self.at.get(path).map(|it| &self.neighbours[*it])
    }

    /// Whether a skill lies in a directory itself.
    pub(super) fn holds(&self, dir: &Path) -> bool {
        AbsPath::new(&dir.join("SKILL.md")).is_ok_and(|it| self.at.contains_key(&it))
    }

    /// Returns what the skills are called, each name once.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.named.keys().map(String::as_str)
    }

    /// Returns the skills of a name.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = &Neighbour> {
        self.named.get(name).into_iter().flatten().map(|it| &self.neighbours[*it])
    }

    /// Whether a name means something to an agent: a skill, by its own name or its directory's, a
    /// command, or what is built in.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.named.contains_key(name)
            || self.in_directories.contains_key(name)
            || self.called.contains(name)
    }

    /// Returns the skills in directories of a name.
    pub(super) fn in_directory(&self, name: &str) -> impl Iterator<Item = &Neighbour> {
        let them = self.in_directories.get(name).into_iter().flatten();
        them.map(|it| &self.neighbours[*it])
    }

    /// Returns the names of all skills' directories, each once.
    pub(super) fn directories(&self) -> impl Iterator<Item = &str> {
        self.in_directories.keys().map(String::as_str)
    }

    /// Returns the skills of that name in the directory in which the skill's own one lies, unless an
    /// agent tells which of them counts; itself may be among them.
    pub(super) fn twins(&self, path: &AbsPath, name: &str) -> impl Iterator<Item = &Neighbour> {
        let above = path.parent().and_then(|it| it.parent());
        let them = above.and_then(|it| self.twins.get(&(it, name.to_owned())));
        them.into_iter().flatten().map(|it| &self.neighbours[*it])
    }

    /// Returns what each agent makes of the skill at a path that meets it.
    pub(super) fn places(&self, path: &AbsPath) -> impl Iterator<Item = Place<'_>> {
        let all = self.rankings.iter().zip(&self.standings);
        all.filter_map(move |(ranking, standing)| {
            Some(Place { ranking, standing, indices: standing.at.get(path)? })
        })
    }

    /// Whether an agent meets the skill at a path.
    pub(super) fn is_met(&self, profile: &Profile, path: &AbsPath) -> bool {
        self.places(path).any(|it| it.ranking.profile.id == profile.id)
    }
}

/// Returns the skills that an agent says another one of its name wins over.
fn shadowed(rankings: &[Ranking]) -> HashSet<&AbsPath> {
    let skills = rankings.iter().flat_map(|it| &it.skills);
    skills.filter(|it| it.state == State::Shadowed).map(|it| &it.path).collect()
}

impl Standing {
    fn of(ranking: &Ranking) -> Self {
        let mut at: HashMap<AbsPath, Vec<usize>> = HashMap::new();
        let mut losers: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, skill) in ranking.skills.iter().enumerate() {
            at.entry(skill.path.clone()).or_default().push(index);
            if let Some(winner) = skill.winner.filter(|_| !skill.same_file) {
                losers.entry(winner).or_default().push(index);
            }
        }
        let n_listed = ranking.listed().count();
        let n_characters = ranking.listed().map(length_in_list).sum();
        Self { at, losers, n_listed, n_characters }
    }
}

/// A skill among those that an agent finds.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) ranking: &'a Ranking,
    standing: &'a Standing,
    /// Under which numbers it is there: one file may be met by one path twice.
    indices: &'a [usize],
}

impl<'a> Place<'a> {
    /// Returns what the agent makes of it.
    pub(super) fn skills(&self) -> impl Iterator<Item = &'a Ranked> + use<'a> {
        let ranking = self.ranking;
        self.indices.iter().map(|it| &ranking.skills[*it])
    }

    /// Returns the skills that win over it.
    pub(super) fn winners(&self) -> impl Iterator<Item = &'a Ranked> + use<'a> {
        let ranking = self.ranking;
        let of = |it: &'a Ranked| {
            let winner = it.winner.filter(|_| !it.same_file).and_then(|it| ranking.skills.get(it));
            winner.filter(|winner| winner.path != it.path)
        };
        self.skills().filter_map(of)
    }

    /// Returns the skills that it wins over.
    pub(super) fn losers(&self) -> impl Iterator<Item = &'a Ranked> + use<'a> {
        let Self { ranking, standing, indices } = *self;
        let own = indices.first().map(|it| &ranking.skills[*it].path);
        let them = indices.iter().filter_map(|it| standing.losers.get(it)).flatten();
        them.map(|it| &ranking.skills[*it]).filter(move |it| Some(&it.path) != own)
    }

    /// Returns how many skills the agent lists, and how many characters that takes.
    pub(super) fn list(&self) -> (usize, usize) {
        (self.standing.n_listed, self.standing.n_characters)
    }
}

/// Returns how many characters a skill takes in an agent's list.
pub(super) fn length_in_list(skill: &Ranked) -> usize {
    skill.name.chars().count() + skill.description.unwrap_or_default().min(1536) + 5
}
