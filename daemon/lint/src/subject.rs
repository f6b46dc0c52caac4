//! What is checked, by whose rules, and what all rules ask about it.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use skills_agents::command;
use skills_agents::field_table::{Agent, Field};
use skills_agents::fields::{Fields, SpannedText};
use skills_agents::loaders::{LoadOutcome, LoadVerdict, load_as};
use skills_agents::profile::Profile;
use skills_agents::skill::SkillRecord;
use skills_discovery::discover::FileId;
use skills_syntax::edit::Edit;
use skills_syntax::markdown::Body;
use skills_syntax::parse::{Document, Entry, Frontmatter};
use skills_syntax::path::AbsPath;
use skills_syntax::text::Span;

use super::audience;
use super::company::{Neighbour, SkillSet};
use super::finding::Finding;
use super::surroundings::FsContext;

/// One SKILL.md, read.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The text, without a byte order mark.
    pub text: &'a str,
    /// The text as a tree.
    pub document: &'a Document,
    /// The text as a record.
    pub record: &'a SkillRecord,
    /// Where it lies, when that is known.
    pub path: Option<&'a AbsPath>,
}

impl<'a> Subject<'a> {
    /// Returns the name of the skill's directory; empty when it is not known.
    pub fn directory(&self) -> &'a str {
        let parent = self.path.and_then(|it| it.parent_name());
        parent.unwrap_or_default()
    }
}

/// All that a rule may ask.
pub(super) struct Cx<'a> {
    pub(super) text: &'a str,
    pub(super) document: &'a Document,
    pub(super) record: &'a SkillRecord,
    pub(super) path: Option<&'a AbsPath>,
    /// The name of the skill's directory; empty when it is not known or says nothing.
    pub(super) directory: &'a str,
    /// Whether the file is a command: it has no directory of its own, and may say nothing.
    pub(super) is_command: bool,
    pub(super) fields: Option<Fields<'a>>,
    /// The active profiles that look where the file lies, and what each makes of it.
    pub(super) readings: Vec<(&'a Profile, LoadOutcome)>,
    pub(super) surroundings: &'a dyn FsContext,
    body: OnceCell<Body>,
    /// Where lines end: many places may lie on one long line, and each asks for it.
    breaks: OnceCell<Vec<usize>>,
    /// The entries of the top level by their keys, of duplicates the last.
    by_key: OnceCell<HashMap<&'a str, &'a Entry>>,
    /// The keys in `metadata`.
    in_metadata: OnceCell<HashSet<&'a str>>,
    /// Where the inside of a frontmatter begins that is one map in braces.
    braces: OnceCell<Option<usize>>,
    /// Which file it is, where that is known.
    file: OnceCell<Option<FileId>>,
}

impl<'a> Cx<'a> {
    pub(super) fn new(
        subject: &Subject<'a>,
        active: &[&'a Profile],
        surroundings: &'a dyn FsContext,
    ) -> Self {
        let path: Option<&Path> = subject.path.map(|it| &**it);
        let is_command = path.is_some_and(command::is_command);
        let is_nameless = is_command || surroundings.is_top();
        let directory = if is_nameless { "" } else { subject.directory() };
        let concerned = if is_command {
            // The others do not look there.
            let reads = |it: &&Profile| Agent::from_profile_id(&it.id) == Some(Agent::ClaudeCode);
            active.iter().copied().filter(reads).collect()
        } else {
            audience::concerned(active, path)
        };
        let read = |it| (it, load_as(it, subject.record, subject.directory()));
        Self {
            text: subject.text,
            document: subject.document,
            record: subject.record,
            path: subject.path,
            directory,
            is_command,
            fields: subject.document.frontmatter.as_ref().map(|it| Fields::new(it, subject.text)),
            readings: concerned.into_iter().map(read).collect(),
            surroundings,
            body: OnceCell::new(),
            breaks: OnceCell::new(),
            by_key: OnceCell::new(),
            in_metadata: OnceCell::new(),
            braces: OnceCell::new(),
            file: OnceCell::new(),
        }
    }

    pub(super) fn frontmatter(&self) -> Option<&'a Frontmatter> {
        self.document.frontmatter.as_ref()
    }

    /// Returns the frontmatter where agents see one: behind a first line `---`, and closed.
    pub(super) fn delimited(&self) -> Option<&'a Frontmatter> {
        use skills_syntax::parse::{Closing, Opening};
        self.frontmatter()
            .filter(|it| it.opening == Opening::FirstLine && it.closing != Closing::Missing)
    }

    /// Whether the frontmatter has fields, or nothing at all that could stand in their place.
    pub(super) fn has_room_for_fields(&self) -> bool {
        self.frontmatter().is_some_and(|it| {
            let mut lines = it.content.slice(self.text).lines().map(str::trim);
            !it.entries.is_empty() || lines.all(|it| it.is_empty() || it.starts_with('#'))
        })
    }

    pub(super) fn entry(&self, key: &str) -> Option<&'a Entry> {
        let by_key = self.by_key.get_or_init(|| {
            let entries = self.frontmatter().map(|it| it.entries.as_slice()).unwrap_or_default();
            entries.iter().map(|it| (it.key.text.as_str(), it)).collect()
        });
        by_key.get(key).copied()
    }

    /// Returns whether `metadata` holds a key.
    pub(super) fn is_in_metadata(&self, key: &str) -> bool {
        let keys = self.in_metadata.get_or_init(|| {
            let entries = self.entry("metadata").and_then(|it| it.value.entries());
            entries.unwrap_or_default().iter().map(|it| it.key.text.as_str()).collect()
        });
        keys.contains(key)
    }

    /// Returns the items of a list; none of one whose bracket or quote is not closed: it is still
    /// being written, and read as a text until then.
    pub(super) fn items(&self, field: &'static Field) -> Vec<SpannedText> {
        let Some(fields) = self.fields else { return Vec::new() };
        let is_torn = fields.entry(field).is_some_and(|it| {
            let written = it.value.span.slice(self.text);
            it.recovered && written.starts_with(['[', '{', '"', '\''])
        });
        if is_torn { Vec::new() } else { fields.list(field) }
    }

    /// Returns the profiles that the file concerns.
    pub(super) fn profiles(&self) -> Vec<&'a Profile> {
        self.readings.iter().map(|(profile, _)| *profile).collect()
    }

    /// Returns the skills that can be seen together with this one.
    pub(super) fn company(&self) -> &'a SkillSet {
        self.surroundings.company()
    }

    /// Whether a neighbour is the file itself, by its path or by another way to it.
    pub(super) fn is_itself(&self, other: &Neighbour) -> bool {
        let own = self.file.get_or_init(|| self.company().at(self.path?)?.file);
        (own.is_some() && *own == other.file) || self.path == Some(&other.path)
    }

    /// Returns whether the file concerns that agent.
    pub(super) fn concerns(&self, agent: Agent) -> bool {
        audience::includes(&self.profiles(), agent)
    }

    /// Says of what a rule of certain agents has found whose agents it is about.
    pub(super) fn attribute(&self, finding: &mut Finding) {
        let agents = finding.rule.agents;
        if finding.profiles.is_empty() && !agents.is_empty() {
            let is_ours = |it: &&Profile| {
                Agent::from_profile_id(&it.id).is_some_and(|it| agents.contains(&it))
            };
            let ours = self.profiles().into_iter().filter(is_ours);
            finding.profiles = ours.map(|it| it.id.to_string()).collect();
        }
    }

    /// Returns those of the profiles for which `is` holds.
    pub(super) fn those(&self, is: impl Fn(&Profile, &LoadOutcome) -> bool) -> Vec<&'a Profile> {
        let them = self.readings.iter().filter(|(profile, reading)| is(profile, reading));
        them.map(|(profile, _)| *profile).collect()
    }

    /// Returns the profiles that drop the file for one of these faults.
    pub(super) fn droppers(&self, faults: &[&str]) -> Vec<&'a Profile> {
        self.those(|_, reading| {
            let told = reading.dropped.iter().chain(&reading.notes);
            reading.verdict == LoadVerdict::Dropped
                && told.into_iter().any(|it| faults.contains(&it.rule))
        })
    }

    /// Returns the body, cut into its parts.
    pub(super) fn body(&self) -> &Body {
        self.body.get_or_init(|| Body::new(self.text, self.document.body))
    }

    /// Returns where something is shown that the frontmatter does not have: its opening line.
    pub(super) fn opening(&self) -> Span {
        self.frontmatter().map_or(Span::default(), |it| it.open)
    }

    /// Returns the line of `offset`, without its end.
    pub(super) fn line(&self, offset: usize) -> Span {
        let breaks = self
            .breaks
            .get_or_init(|| self.text.match_indices(['\n', '\r']).map(|(at, _)| at).collect());
        let next = breaks.partition_point(|it| *it < offset);
        let start = next.checked_sub(1).map_or(0, |it| breaks[it] + 1);
        Span::new(start, breaks.get(next).copied().unwrap_or(self.text.len()))
    }

    /// Returns the line end that the text uses.
    pub(super) fn line_break(&self) -> &'static str {
        if self.record.crlf { "\r\n" } else { "\n" }
    }

    /// Returns the indices of all lines of an entry, from the start of its key to behind its last
    /// line end.
    pub(super) fn lines_of(&self, entry: &Entry) -> Span {
        let last = self.line(entry.span.end.max(entry.span.start));
        Span::new(
            self.line(entry.span.start).start,
            skills_syntax::text::after_line_end(self.text, last.end),
        )
    }

    fn braces(&self) -> Option<usize> {
        *self.braces.get_or_init(|| self.find_braces())
    }

    fn find_braces(&self) -> Option<usize> {
        let frontmatter = self.frontmatter()?;
        let first = frontmatter.entries.first()?.span.start;
        let before = Span::new(frontmatter.content.start, first).slice(self.text);
        let written = before.trim_end();
        // A comment above may hold one.
        let is_brace = written.rsplit('\n').next().is_some_and(|it| it.trim() == "{");
        is_brace.then(|| frontmatter.content.start + written.len())
    }

    /// Returns the edit that puts a line of `key: value` first in the frontmatter.
    pub(super) fn put_first(&self, line: &str) -> Option<Edit> {
        let start = self.frontmatter()?.content.start;
        Some(match self.braces() {
            Some(at) => Edit { span: Span::empty(at), text: format!("{line}, ") },
            None => Edit { span: Span::empty(start), text: format!("{line}{}", self.line_break()) },
        })
    }

    /// Returns the edit that puts a line of `key: value` before an entry of the top level.
    pub(super) fn put_before(&self, entry: &Entry, line: &str) -> Edit {
        if self.braces().is_some() {
            return Edit { span: Span::empty(entry.span.start), text: format!("{line}, ") };
        }
        let start = self.line(entry.span.start).start;
        Edit { span: Span::empty(start), text: format!("{line}{}", self.line_break()) }
    }

    /// Returns what goes with an entry of the top level that is removed: its lines or, in braces,
    /// the comma beside it.
    pub(super) fn removal(&self, entry: &Entry) -> Span {
        let entries = self.frontmatter().map(|it| it.entries.as_slice()).unwrap_or_default();
        if self.braces().is_none() {
            return self.lines_of(entry);
        }
        // They stand one behind the other.
        let before = entries.partition_point(|it| it.span.end <= entry.span.start);
        let next = entries.partition_point(|it| it.span.start < entry.span.end);
        match (entries[..before].last(), entries.get(next)) {
            (Some(before), _) => Span::new(before.span.end, entry.span.end),
            (None, Some(next)) => Span::new(entry.span.start, next.span.start),
            (None, None) => entry.span,
        }
    }

    /// Whether the frontmatter is one map in braces.
    pub(super) fn is_in_braces(&self) -> bool {
        self.braces().is_some()
    }
}
