//! Any text by its path: as the editor has it, else as the disk does.
//!
//! What handlers of several files work on: where a skill is named, what it means, and the texts
//! themselves with their lines.

use std::collections::BTreeSet;
use std::sync::Arc;

use skills_core::command;
use skills_core::path::AbsPath;
use skills_core::references::{
    Bases, Link, Reference, has_names, has_paths, linked, links, links_at, steps,
};
use skills_core::text::Span;
use tower_lsp::ls_types::{Location, Range, Uri};

use crate::document::Document;
use crate::known::{Overlaid, Skill, path};
use crate::session::{Revision, Session};
use crate::settings::Encoding;
use crate::to_proto;

/// The texts of a client and of the disk.
#[derive(Clone, Copy)]
pub(crate) struct Texts<'a> {
    pub(crate) session: &'a Session,
}

/// A file that names a skill.
pub(crate) struct Speaker {
    pub(crate) path: AbsPath,
    pub(crate) document: Arc<Document>,
    /// Whether the editor has it open.
    pub(crate) is_open: bool,
    /// Where it names the skill.
    pub(crate) references: Vec<Reference>,
    /// Where its paths name the skill's directory.
    pub(crate) links: Vec<Reference>,
}

impl Speaker {
    /// Looks for a skill in a text with the eyes of its own place; nothing for one without a path.
    fn new(
        document: &Arc<Document>,
        meant: &Meant,
        eyes: &Overlaid,
        is_open: bool,
    ) -> Option<Self> {
        let path = document.path()?.clone();
        let mut references = Vec::new();
        if meant.is_spoken_of_in(&path) {
            references.extend_from_slice(document.references());
            references.retain(|it| meant.is_named(&it.name, eyes));
        }
        let dirs = meant.directories();
        let links = linked(document.text(), document.parsed(), &eyes.bases(&path), |it| {
            dirs.contains(it).then_some(&*meant.skill.name)
        });
        Some(Self { path, document: Arc::clone(document), is_open, references, links })
    }

    /// Returns where it speaks of the skill, in the order of the text.
    pub(crate) fn locations(&self, encoding: Encoding) -> impl Iterator<Item = Location> {
        let Self { document, references, links, .. } = self;
        let mut spans: Vec<Span> = references.iter().chain(links).map(|it| it.span).collect();
        spans.sort();
        spans.into_iter().map(move |it| {
            let range = to_proto::range(document, it, encoding);
            Location::new(document.uri().clone(), range)
        })
    }
}

/// A skill with the names by which it may be spoken of.
pub(crate) struct Meant {
    pub(crate) skill: Skill,
    /// What is seen from where it was found.
    pub(crate) overlaid: Arc<Overlaid>,
}

impl Meant {
    /// Returns the directories that lead to the skill; none for a command.
    pub(crate) fn directories(&self) -> Vec<AbsPath> {
        if command::is_command(&self.skill.path) {
            return Vec::new();
        }
        let ways = self.overlaid.ways(&self.skill.path);
        ways.into_iter().filter_map(AbsPath::parent).collect()
    }

    /// Whether a name in a text at a path may mean this skill. What a user tells every agent is said
    /// in all worktrees: a name there is not one worktree's.
    fn is_spoken_of_in(&self, text: &AbsPath) -> bool {
        let is_within =
            |it: &AbsPath| self.overlaid.top.as_ref().is_some_and(|top| it.starts_with(top));
        has_names(text) && (is_within(text) || !is_within(&self.skill.path))
    }

    /// Whether a name means this skill where `eyes` see.
    fn is_named(&self, name: &str, eyes: &Overlaid) -> bool {
        eyes.meant(name).is_some_and(|it| it.is_file_of(&self.skill))
    }
}

impl Texts<'_> {
    /// Returns the text at a path, and whether it is open.
    pub(crate) async fn document(self, path: &AbsPath) -> Option<(Arc<Document>, bool)> {
        if let Some(document) = self.session.document_at(path) {
            return Some((document, true));
        }
        Some((self.read(path).await?, false))
    }

    /// Returns the text at a path as it is on the disk.
    async fn read(self, path: &AbsPath) -> Option<Arc<Document>> {
        let text = self.session.source().read(path.clone()).await?;
        let uri = Uri::from_file_path(&**path)?;
        Some(Arc::new(Document::new(uri, 0, Revision::default(), text)))
    }

    /// Returns the skill that stands at an offset of a text: a reference to it, or its own name.
    pub(crate) fn meant_at(self, document: &Document, offset: usize) -> Option<(Meant, Span)> {
        let overlaid = self.session.place(document)?;
        if let Some(reference) = skills_core::references::at(document.references(), offset) {
            let skill = overlaid.meant(&reference.name)?.clone();
            return Some((Meant { skill, overlaid }, reference.span));
        }
        let own = document.path()?;
        if let Some((span, skill)) = linked_at(document, offset, &overlaid) {
            let skill = skill.clone();
            return Some((Meant { skill, overlaid }, span));
        }
        let entry = document.parsed().frontmatter.as_ref()?.get("name")?;
        let is_there = entry.span.start <= offset && offset <= entry.span.end;
        let skill = overlaid.at(own).filter(|_| is_there)?.clone();
        Some((Meant { skill, overlaid }, entry.value.span))
    }

    /// Returns the skill that a text is.
    pub(crate) fn meant_by(self, document: &Document) -> Option<Meant> {
        let overlaid = self.session.place(document)?;
        let skill = overlaid.at(document.path()?)?.clone();
        Some(Meant { skill, overlaid })
    }

    /// Returns where the skill that a text is is named elsewhere.
    pub(crate) async fn users(self, document: &Document) -> Option<Vec<Location>> {
        let encoding = self.session.settings().encoding;
        let meant = self.meant_by(document)?;
        let closed = match self.session.users(&meant.skill) {
            Ok(known) => known,
            Err(doubts) => {
                let found = self.closed_users(&meant).await?;
                self.session.keep_users(&meant.skill, Arc::clone(&found), doubts);
                found
            }
        };
        let open = self.session.documents();
        let is_closed = |it: &&Arc<Document>| !open.iter().any(|open| open.path() == it.path());
        let closed = closed.iter().filter(is_closed).map(|it| self.speaker(it, &meant, false));
        let open = open.iter().filter(|it| it.path().is_some_and(is_text));
        let open = open.map(|it| self.speaker(it, &meant, true));
        let speakers = closed.chain(open).flatten();
        let mut others: Vec<_> = speakers.filter(|it| it.path != meant.skill.path).collect();
        others.sort_by(|a, b| a.path.cmp(&b.path));
        Some(others.iter().flat_map(|it| it.locations(encoding)).collect())
    }

    /// Returns the texts that name a skill or lead into its directory, as they are on the disk;
    /// none where nobody can say.
    async fn closed_users(self, meant: &Meant) -> Option<Arc<[Arc<Document>]>> {
        let skill = &meant.skill;
        let mut names = vec![Some(skill.name.clone())];
        let own = skill.path.parent_name().filter(|it| *it != skill.name);
        names.extend(own.map(|it| Some(it.to_owned())));
        let paths = self.naming(meant, &names).await?;
        let mut users = Vec::new();
        for path in paths {
            users.extend(self.read(&path).await);
        }
        Some(users.into())
    }

    /// Returns the files that name a skill or lead into its directory, sorted by path; none where
    /// nobody can say what the closed ones are.
    pub(crate) async fn speakers(self, meant: &Meant) -> Option<Vec<Speaker>> {
        let mut paths = self.naming(meant, &[None]).await?;
        // What is typed but not saved counts as well.
        let open = self.session.documents();
        let speaking = open.iter().filter_map(|it| it.path()).filter(|it| is_text(it));
        paths.extend(speaking.cloned());
        paths.insert(meant.skill.path.clone());
        let mut speakers = Vec::new();
        for path in paths {
            let Some((document, is_open)) = self.document(&path).await else { continue };
            speakers.extend(self.speaker(&document, meant, is_open));
        }
        Some(speakers)
    }

    /// Returns the files on the disk that name one of these skills, or any where none is said, in
    /// each worktree from which the skill is seen: the user's own are named in all of them.
    async fn naming(self, meant: &Meant, names: &[Option<String>]) -> Option<BTreeSet<AbsPath>> {
        let mut paths = BTreeSet::new();
        for (place, _) in self.session.places_seeing(&meant.skill.path) {
            for name in names {
                let found = self.session.source().references(place.clone(), name.clone()).await?;
                paths.extend(found.iter().filter_map(|it| path(&it.path, it.path_encoding)));
            }
        }
        Some(paths)
    }

    /// Looks for a skill in a text. The same name means another skill in another folder, so each
    /// text is read from the place that it belongs to; one that belongs to none, from where the
    /// skill was found.
    fn speaker(self, document: &Arc<Document>, meant: &Meant, is_open: bool) -> Option<Speaker> {
        let own = self.session.place(document);
        Speaker::new(document, meant, own.as_ref().unwrap_or(&meant.overlaid), is_open)
    }

    /// Returns where the paths of a text that speaks of a skill start.
    pub(crate) fn bases(self, speaker: &Speaker, meant: &Meant) -> Bases {
        let place = self.session.place(&speaker.document);
        place.as_ref().unwrap_or(&meant.overlaid).bases(&speaker.path)
    }

    /// Returns where the skill at a path begins: its name, else its first line.
    pub(crate) async fn location(self, path: &AbsPath) -> Option<Location> {
        let encoding = self.session.settings().encoding;
        let (document, _) = self.document(path).await?;
        let name = document.parsed().frontmatter.as_ref().and_then(|it| it.get("name"));
        let range = name
            .map_or_else(Range::default, |it| to_proto::range(&document, it.value.span, encoding));
        Some(Location::new(document.uri().clone(), range))
    }
}

/// Returns the skill that is meant at an offset of a path, and where its directory is named: where the
/// directory's name stands, or anywhere in a path that leads to the skill and no further.
fn linked_at<'a>(
    document: &Document,
    offset: usize,
    overlaid: &'a Overlaid,
) -> Option<(Span, &'a Skill)> {
    let bases = overlaid.bases(document.path()?);
    let meant = |link: &Link, base: &AbsPath| {
        let target = base.towards(&link.path);
        let passed = steps(link, document.text(), base);
        let named = passed.iter().rev().find_map(|it| {
            let skill = overlaid.at(&it.reached.child("SKILL.md"))?;
            let is_here = it.span.start <= offset && offset <= it.span.end;
            let leads = target == skill.path || target == it.reached;
            (is_here || leads).then_some((it.span, skill))
        });
        // Its own file is named without its directory.
        named.or_else(|| overlaid.at(&target).map(|it| (link.span, it)))
    };
    let links = links_at(links(document.text(), document.parsed()), offset);
    links.iter().find_map(|link| bases.starts(link.start).iter().find_map(|it| meant(link, it)))
}

/// Whether skills may be named or led to in a file.
pub(crate) fn is_text(path: &AbsPath) -> bool {
    has_names(path) || has_paths(path)
}
