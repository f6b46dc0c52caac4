//! Facts of a report ([`ReportFacts`]), made from the daemon's answers.
//!
//! Every text that a repository may have written is escaped here for display, as on a terminal.
//! Escaping for HTML is up to [`super::page`]. Paths are relative to the worktree, or begin with
//! `~/`. All lists are sorted, so that equal answers make an equal report.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use skills_protocol::path::{PathEncoding, decode, encode, encoding_of};
use skills_protocol::wire::{
    CatalogResult, CheckFinding, CheckResult, CheckedFile, Entry, ListResult, Scope, Severity,
    SkillReference, SnapshotResult, State,
};

use super::graph::{Graph, GraphNode};
use crate::check::source::{Excerpt, excerpt, lines};
use crate::heading;
use crate::listing_costs::{ListingCosts, cut_mark};
use crate::terminal::Terminal;
use crate::text::{plain, plain_exact};

/// Maximum number of characters of a source line.
const MAX_EXCERPT: usize = 160;

/// The daemon's answers, and what they do not contain.
pub(super) struct Answers {
    pub(super) snapshot: SnapshotResult,
    pub(super) agents: Vec<AgentAnswers>,
    pub(super) check: CheckResult,
    pub(super) references: Vec<SkillReference>,
    /// Size of each SKILL.md in bytes, by its path on the wire.
    pub(super) sizes: BTreeMap<String, u64>,
    /// Text of each file with findings, by its path on the wire.
    pub(super) sources: BTreeMap<String, String>,
    /// Number of files with findings that are too large to be read.
    pub(super) n_unread: u64,
}

pub(super) struct AgentAnswers {
    pub(super) profile: String,
    pub(super) list: ListResult,
    /// `None` if the listing exceeds a message.
    pub(super) listing: Option<CatalogResult>,
    pub(super) costs: ListingCosts,
}

/// Everything that the page shows.
pub(super) struct ReportFacts {
    /// Directory name of the worktree.
    pub(super) worktree: String,
    pub(super) date: Option<String>,
    pub(super) agents: Vec<AgentFacts>,
    pub(super) skills: Vec<SkillFacts>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) conflicts: Vec<Conflict>,
    /// Number of skills and commands that were checked.
    pub(super) n_checked: u64,
    pub(super) findings: Vec<FindingFacts>,
    /// Number of files whose lines are left out.
    pub(super) n_unread: u64,
    pub(super) references: Vec<ReferenceFacts>,
    pub(super) graph: Graph,
}

/// One agent: how many skills its model gets, and the size of its listing.
pub(super) struct AgentFacts {
    pub(super) name: String,
    pub(super) profile: String,
    /// Note on a profile whose rules were not measured.
    pub(super) caveat: Option<&'static str>,
    pub(super) n_listed: usize,
    pub(super) n_waiting: usize,
    pub(super) n_left_out: usize,
    pub(super) listing: Option<ListingFacts>,
}

pub(super) struct ListingFacts {
    pub(super) chars: usize,
    pub(super) tokens: u64,
    pub(super) shortened: u64,
    pub(super) omitted: u64,
}

/// A skill: one name and one file.
pub(super) struct SkillFacts {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) scope: Scope,
    pub(super) description: Option<String>,
    /// State for each agent, in the order of the agents; `None` if the agent does not find it.
    pub(super) states: Vec<Option<State>>,
    /// Mark of each agent whose listing does not show the skill whole.
    pub(super) marks: Vec<Option<&'static str>>,
    /// Number of characters in the largest listing; `None` if no listing has the skill.
    pub(super) n_chars: Option<u64>,
    /// Size of the file; `None` for a skill without a file.
    pub(super) n_bytes: Option<u64>,
}

pub(super) struct LeftOut {
    pub(super) skill: usize,
    pub(super) state: State,
    pub(super) reason: String,
    pub(super) agents: Vec<String>,
}

/// Two files that claim one name.
pub(super) struct Conflict {
    pub(super) name: String,
    pub(super) kind: ConflictKind,
    pub(super) first: String,
    pub(super) second: String,
    pub(super) agents: Vec<String>,
}

/// Effect of two files with one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ConflictKind {
    /// The first file hides the second.
    Hidden,
    /// Both paths lead to the same file.
    SameFile,
    /// The model gets both.
    BothShown,
}

pub(super) struct FindingFacts {
    pub(super) severity: Severity,
    pub(super) rule: String,
    pub(super) place: String,
    pub(super) message: String,
    pub(super) help: Option<String>,
    pub(super) agents: Vec<String>,
    /// Number and text of the source line.
    pub(super) source: Option<(u32, Excerpt)>,
}

pub(super) struct ReferenceFacts {
    pub(super) from: String,
    pub(super) place: String,
    pub(super) form: &'static str,
    pub(super) to: String,
    /// The skill, if exactly one file has the name.
    pub(super) skill: Option<usize>,
}

/// Collects the facts of the answers.
pub(super) fn collect(answers: &Answers, date: Option<&str>, terminal: &Terminal) -> ReportFacts {
    let paths = ShownPaths::new(&answers.snapshot, terminal);
    let table = SkillTable::new(answers, &paths);
    let name = paths.worktree.file_name().unwrap_or(paths.worktree.as_os_str());
    let (references, graph) = references(answers, &table, &paths);
    ReportFacts {
        worktree: plain_exact(&name.to_string_lossy()),
        date: date.map(plain),
        agents: answers.agents.iter().map(|it| agent(it, &answers.check)).collect(),
        left_out: left_out(answers, &table, &paths),
        conflicts: conflicts(answers, &paths),
        n_checked: answers.check.checked,
        n_unread: answers.n_unread,
        findings: answers.check.files.iter().flat_map(|it| findings(it, answers, &paths)).collect(),
        references,
        graph,
        skills: table.skills,
    }
}

/// Shows paths and sentences of this worktree.
struct ShownPaths<'a> {
    worktree: PathBuf,
    terminal: &'a Terminal,
}

impl<'a> ShownPaths<'a> {
    fn new(snapshot: &SnapshotResult, terminal: &'a Terminal) -> Self {
        let path = &snapshot.worktree;
        Self { worktree: decode(path, snapshot.path_encoding).unwrap_or(path.into()), terminal }
    }

    fn path(&self, path: &str, encoding: Option<PathEncoding>) -> String {
        let local = decode(path, encoding).ok();
        match local.as_deref().and_then(|it| it.strip_prefix(&self.worktree).ok()) {
            Some(below) if below == Path::new("") => ".".to_owned(),
            Some(below) => plain_exact(&encode(below, encoding_of([below]))),
            None => self.terminal.path(path, encoding),
        }
    }

    fn prose(&self, text: &str) -> String {
        self.terminal.prose_from(&self.worktree, text)
    }
}

/// The skills of all agents, sorted by name and path.
struct SkillTable<'a> {
    skills: Vec<SkillFacts>,
    by_key: BTreeMap<(&'a str, &'a str), usize>,
    // Name of the skill of each file and, with a slash at its end, of each directory.
    by_path: BTreeMap<&'a str, &'a str>,
}

impl<'a> SkillTable<'a> {
    fn new(answers: &'a Answers, paths: &ShownPaths<'_>) -> Self {
        let mut entries: BTreeMap<(&str, &str), Vec<(usize, &Entry)>> = BTreeMap::new();
        for (column, agent) in answers.agents.iter().enumerate() {
            for entry in &agent.list.skills {
                entries.entry((&entry.name, &entry.path)).or_default().push((column, entry));
            }
        }
        let mut by_path = BTreeMap::new();
        for (name, path) in entries.keys() {
            by_path.entry(*path).or_insert(*name);
            if let Some(dir) = path.strip_suffix("SKILL.md").filter(|it| it.ends_with('/')) {
                by_path.insert(dir, *name);
            }
        }
        let by_key = entries.keys().enumerate().map(|(nth, key)| (*key, nth)).collect();
        let skill = |((name, path), entries): (&(&str, &str), &Vec<(usize, &Entry)>)| {
            let key = ((*path).to_owned(), (*name).to_owned());
            let costs = || answers.agents.iter().map(|it| it.costs.get(&key));
            let first = entries[0].1;
            let description = entries.iter().find_map(|(_, it)| it.description.as_deref());
            let mut states: Vec<Option<State>> = vec![None; answers.agents.len()];
            for (column, entry) in entries {
                // If an agent lists the same name and file twice, the visible one counts.
                if states[*column].is_none_or(|it| !it.is_listed()) {
                    states[*column] = Some(entry.state);
                }
            }
            SkillFacts {
                name: plain(&first.name),
                path: paths.path(&first.path, first.path_encoding),
                scope: first.scope,
                description: description.map(plain),
                states,
                marks: costs().map(|it| cut_mark(it?.shown)).collect(),
                n_chars: costs().flatten().map(|it| it.characters).max(),
                n_bytes: answers.sizes.get(*path).copied(),
            }
        };
        Self { skills: entries.iter().map(skill).collect(), by_key, by_path }
    }

    /// Returns the name of the skill of a file, or else of the nearest directory above it.
    fn containing(&self, file: &str) -> Option<&'a str> {
        let dirs = file.rmatch_indices('/').map(|(at, _)| &file[..=at]);
        std::iter::once(file).chain(dirs).find_map(|it| self.by_path.get(it).copied())
    }

    /// Returns the skill of this name, if only one file has it.
    fn only(&self, name: &str) -> Option<usize> {
        let mut named = self.by_key.range((name, "")..).take_while(|((it, _), _)| *it == name);
        named.next().filter(|_| named.next().is_none()).map(|(_, nth)| *nth)
    }
}

fn agent(answers: &AgentAnswers, check: &CheckResult) -> AgentFacts {
    let skills = &answers.list.skills;
    let count = |is: fn(State) -> bool| skills.iter().filter(|it| is(it.state)).count();
    let n_listed = count(State::is_listed);
    let n_waiting = count(|it| it == State::Conditional);
    let named = check.profiles.iter().find(|it| it.profile == answers.profile);
    AgentFacts {
        name: plain(named.map_or(&answers.profile, |it| &it.agent)),
        profile: profile_name(check, &answers.profile),
        caveat: named.and_then(|it| heading::caveat(it.confidence)),
        n_listed,
        n_waiting,
        n_left_out: skills.len() - n_listed - n_waiting,
        listing: answers.listing.as_ref().map(|it| ListingFacts {
            chars: it.text.chars().count(),
            tokens: it.tokens,
            shortened: it.shortened,
            omitted: it.omitted,
        }),
    }
}

/// Returns the name of a profile, with a mark if its rules were not measured.
fn profile_name(check: &CheckResult, profile: &str) -> String {
    let found = check.profiles.iter().find(|it| it.profile == profile);
    let caveat = found.and_then(|it| heading::caveat(it.confidence));
    plain(profile) + caveat.map_or("", |_| heading::UNMEASURED)
}

fn left_out(answers: &Answers, table: &SkillTable<'_>, paths: &ShownPaths<'_>) -> Vec<LeftOut> {
    let mut found: BTreeMap<(usize, State, String), Vec<String>> = BTreeMap::new();
    for agent in &answers.agents {
        for entry in agent.list.skills.iter().filter(|it| !it.state.is_listed()) {
            let skill = table.by_key[&(entry.name.as_str(), entry.path.as_str())];
            let reason = paths.prose(entry.reason.as_deref().unwrap_or_default());
            let agents = found.entry((skill, entry.state, reason)).or_default();
            push_new(agents, profile_name(&answers.check, &agent.profile));
        }
    }
    let row = |((skill, state, reason), agents)| LeftOut { skill, state, reason, agents };
    found.into_iter().map(row).collect()
}

fn conflicts(answers: &Answers, paths: &ShownPaths<'_>) -> Vec<Conflict> {
    let snapshot = &answers.snapshot;
    let mut found: BTreeMap<(String, ConflictKind, String, String), Vec<String>> = BTreeMap::new();
    for profile in &snapshot.profiles {
        let path = |nth: usize| {
            let file = &snapshot.skills[profile.skills[nth].skill as usize];
            paths.path(&file.path, file.path_encoding)
        };
        let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
        for (nth, place) in profile.skills.iter().enumerate() {
            let (first, kind) = match place.winner {
                Some(winner) if place.same_file => (winner as usize, ConflictKind::SameFile),
                Some(winner) => (winner as usize, ConflictKind::Hidden),
                None if place.state.is_listed() => {
                    let first = *shown.entry(&place.name).or_insert(nth);
                    (first, ConflictKind::BothShown)
                }
                None => continue,
            };
            if first != nth {
                let key = (plain(&place.name), kind, path(first), path(nth));
                let name = profile_name(&answers.check, &profile.profile);
                push_new(found.entry(key).or_default(), name);
            }
        }
    }
    let row =
        |((name, kind, first, second), agents)| Conflict { name, kind, first, second, agents };
    found.into_iter().map(row).collect()
}

fn findings(file: &CheckedFile, answers: &Answers, paths: &ShownPaths<'_>) -> Vec<FindingFacts> {
    let path = paths.path(&file.path, file.path_encoding);
    let lines = answers.sources.get(&file.path).map(|it| lines(it)).unwrap_or_default();
    let finding = |it: &CheckFinding| {
        let start = it.range.start;
        let line = excerpt(&lines, it.range, MAX_EXCERPT);
        FindingFacts {
            severity: it.severity,
            rule: plain(&it.code),
            place: format!("{path}:{}:{}", start.line, start.column),
            message: paths.prose(&it.message),
            help: it.help.as_deref().map(|it| paths.prose(it)),
            agents: it.profiles.iter().map(|it| profile_name(&answers.check, it)).collect(),
            source: line.map(|it| (start.line, it)),
        }
    };
    file.findings.iter().map(finding).collect()
}

fn references(
    answers: &Answers,
    table: &SkillTable<'_>,
    paths: &ShownPaths<'_>,
) -> (Vec<ReferenceFacts>, Graph) {
    let mut rows = Vec::new();
    let mut edges: BTreeSet<(GraphNode, GraphNode)> = BTreeSet::new();
    for reference in &answers.references {
        let file = paths.path(&reference.path, reference.path_encoding);
        let from = match table.containing(&reference.path) {
            Some(name) => GraphNode { label: plain(name), is_skill: true },
            None => GraphNode { label: file.clone(), is_skill: false },
        };
        let to = GraphNode { label: plain(&reference.name), is_skill: true };
        if from == to {
            continue;
        }
        rows.push(ReferenceFacts {
            from: from.label.clone(),
            place: format!("{file}:{}", reference.range.start.line),
            form: form(&reference.form),
            to: to.label.clone(),
            skill: table.only(&reference.name),
        });
        edges.insert((from, to));
    }
    (rows, Graph::new(&edges))
}

/// Returns the description of a reference's form.
fn form(word: &str) -> &'static str {
    match word {
        "listed" => "in the field `skills`",
        "allowed" => "in a list of tools",
        "mentioned" => "by name",
        "called" => "as a call in code",
        "spoken" => "as a call in prose",
        "linked" => "by a path",
        "named" => "by its name",
        _ => "in the text",
    }
}

fn push_new(list: &mut Vec<String>, item: String) {
    if !list.contains(&item) {
        list.push(item);
    }
}
