//! Any text by its path: as the editor has it, else as the disk does.
//!
//! What handlers of several files work on: where a skill is named, what it means, and the texts
//! themselves with their lines.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skills_agents::references::{
    Link, LinkBases, Reference, has_names, has_paths, links, links_at, path_references, path_steps,
};
use skills_discovery::discover::FileId;
use skills_ide::rename::RenameKind;
use skills_syntax::path::AbsPath;
use skills_syntax::text::Span;
use tower_lsp::ls_types::{Location, Range, Uri};

use crate::document::Document;
use crate::session::{Revision, Session};
use crate::settings::Encoding;
use crate::snapshot::{OverlaySnapshot, Skill, path};
use crate::to_proto;

/// The texts of a client and of the disk.
#[derive(Clone, Copy)]
pub(crate) struct Texts<'a> {
    pub(crate) session: &'a Session,
}

/// Which file a text is, by whatever path it is reached.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Identity {
    File(FileId),
    /// It is not on the disk, or nobody can say.
    Path(AbsPath),
}

/// A file that names a skill.
pub(crate) struct ReferencingFile {
    pub(crate) path: AbsPath,
    pub(crate) identity: Identity,
    /// Whether it is the skill's own file.
    pub(crate) is_own: bool,
    pub(crate) document: Arc<Document>,
    /// Whether the editor has it open.
    pub(crate) is_open: bool,
    /// Where it names the skill.
    pub(crate) references: Vec<Reference>,
    /// Where its paths name the skill's directory, or the command's file.
    pub(crate) links: Vec<Reference>,
}

impl ReferencingFile {
    /// Looks for a skill in a text with the eyes of its own place; nothing for one without a path.
    fn new(document: Arc<Document>, text: Found, meant: &Meant, eyes: &OverlaySnapshot) -> Self {
        let Found { path, identity, is_own, is_open } = text;
        let mut references = Vec::new();
        if meant.is_spoken_of_in(&path) {
            references.extend_from_slice(document.references());
            references.retain(|it| meant.is_named(&it.name, eyes));
        }
        let links = path_references(document.text(), document.parsed(), &eyes.bases(&path), |it| {
            meant.places.contains(it).then_some(&*meant.skill.name)
        });
        Self { path, identity, is_own, document, is_open, references, links }
    }

    /// Returns where it speaks of the skill, in the order of the text.
    pub(crate) fn locations(&self, encoding: Encoding) -> impl Iterator<Item = Location> {
        let Self { document, references, links, .. } = self;
        let mut spans: Vec<Span> = references.iter().chain(links).map(|it| it.span).collect();
        spans.sort();
        // A name that is a path as well is found as both.
        spans.dedup_by(|it, before| it.start < before.end);
        spans.into_iter().map(move |it| {
            let range = to_proto::range(document, it, encoding);
            Location::new(document.uri().clone(), range)
        })
    }
}

/// A text that is looked at, by one of the ways to it.
struct Found {
    path: AbsPath,
    identity: Identity,
    is_own: bool,
    is_open: bool,
}

/// A skill with the names by which it may be spoken of.
pub(crate) struct Meant {
    pub(crate) skill: Skill,
    /// What is seen from where it was found.
    pub(crate) overlaid: Arc<OverlaySnapshot>,
    /// All ways to its file, the one by which it was found first.
    pub(crate) ways: Vec<AbsPath>,
    /// What its name stands for in paths: the directories that lead to it, or a command's file.
    pub(crate) places: Vec<AbsPath>,
}

impl Meant {
    /// Whether a name in a text at a path may mean this skill. What a user tells every agent is said
    /// in all worktrees: a name there is not one worktree's.
    fn is_spoken_of_in(&self, text: &AbsPath) -> bool {
        let is_within =
            |it: &AbsPath| self.overlaid.top.as_ref().is_some_and(|top| it.starts_with(top));
        has_names(text) && (is_within(text) || !is_within(&self.skill.path))
    }

    /// Whether a name means this skill where `eyes` see.
    fn is_named(&self, name: &str, eyes: &OverlaySnapshot) -> bool {
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
        if let Some(reference) =
            skills_agents::references::reference_at(document.references(), offset)
        {
            let skill = overlaid.meant(&reference.name)?.clone();
            return Some((self.meant(skill, overlaid), reference.span));
        }
        let own = document.path()?;
        if let Some((span, skill)) = linked_at(document, offset, &overlaid) {
            let skill = skill.clone();
            return Some((self.meant(skill, overlaid), span));
        }
        let entry = document.parsed().frontmatter.as_ref()?.get("name")?;
        let is_there = entry.span.start <= offset && offset <= entry.span.end;
        let skill = overlaid.at(own).filter(|_| is_there)?.clone();
        Some((self.meant(skill, overlaid), entry.value.span))
    }

    /// Returns a skill with all ways to it, from wherever it is seen.
    pub(crate) fn meant(self, skill: Skill, overlaid: Arc<OverlaySnapshot>) -> Meant {
        let mut ways = vec![skill.path.clone()];
        for (_, place) in self.session.all_places() {
            for other in place.skills.iter().filter(|it| it.is_file_of(&skill)) {
                if !ways.contains(&other.path) {
                    ways.push(other.path.clone());
                }
            }
        }
        let place = |it: &AbsPath| match RenameKind::of(it) {
            RenameKind::Skill => it.parent(),
            RenameKind::Command | RenameKind::Conversion => Some(it.clone()),
        };
        Meant { places: ways.iter().filter_map(place).collect(), skill, overlaid, ways }
    }

    /// Returns the same skill with the ways to it that the disk alone knows: of a file that no agent
    /// sees and the editor has open, nobody has said yet which one it is.
    pub(crate) async fn identified(self, meant: &Meant) -> Meant {
        let (mut skill, overlaid) = (meant.skill.clone(), Arc::clone(&meant.overlaid));
        if skill.file.is_none() {
            let entries = self.session.source().entries(vec![skill.path.clone()]).await;
            skill.file = entries.and_then(|it| it.first().copied().flatten()?.id);
        }
        self.meant(skill, overlaid)
    }

    /// Returns each of these texts by one path: by one at which it is open, else by one that is
    /// `preferred`, else by the first.
    pub(crate) async fn each_once(
        self,
        paths: BTreeSet<AbsPath>,
        preferred: impl Fn(&AbsPath) -> bool,
    ) -> BTreeMap<Identity, AbsPath> {
        let paths: Vec<AbsPath> = paths.into_iter().collect();
        let entries = self.session.source().entries(paths.clone()).await.unwrap_or_default();
        let ids = entries.into_iter().map(|it| it?.id).chain(std::iter::repeat(None));
        let rank = |it: &AbsPath| (self.session.document_at(it).is_none(), !preferred(it));
        let mut each: BTreeMap<Identity, AbsPath> = BTreeMap::new();
        for (path, id) in paths.into_iter().zip(ids) {
            let identity = id.map_or_else(|| Identity::Path(path.clone()), Identity::File);
            match each.get_mut(&identity) {
                Some(kept) if rank(kept) <= rank(&path) => {}
                Some(kept) => *kept = path,
                None => {
                    each.insert(identity, path);
                }
            }
        }
        each
    }

    /// Returns the skill that a text is.
    pub(crate) fn meant_by(self, document: &Document) -> Option<Meant> {
        let overlaid = self.session.place(document)?;
        let skill = overlaid.at(document.path()?)?.clone();
        Some(self.meant(skill, overlaid))
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
        let paths = closed.iter().filter_map(|it| it.path().cloned()).collect();
        let mut speakers = Vec::new();
        for text in self.found(paths, &meant).await.into_iter().filter(|it| !it.is_own) {
            let read = || closed.iter().find(|it| it.path() == Some(&text.path)).cloned();
            if let Some(document) = self.session.document_at(&text.path).or_else(read) {
                speakers.push(self.speaker(document, text, &meant));
            }
        }
        Some(speakers.iter().flat_map(|it| it.locations(encoding)).collect())
    }

    /// Returns the texts that name a skill or lead into its directory, as they are on the disk;
    /// none where nobody can say.
    async fn closed_users(self, meant: &Meant) -> Option<Arc<[Arc<Document>]>> {
        let skill = &meant.skill;
        let mut names = vec![Some(skill.name.clone())];
        let is_skill = RenameKind::of(&skill.path) == RenameKind::Skill;
        let own = skill.path.parent_name().filter(|it| is_skill && *it != skill.name);
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
    pub(crate) async fn speakers(self, meant: &Meant) -> Option<Vec<ReferencingFile>> {
        let paths = self.naming(meant, &[None]).await?;
        let mut speakers = Vec::new();
        for text in self.found(paths, meant).await {
            if let Some((document, _)) = self.document(&text.path).await {
                speakers.push(self.speaker(document, text, meant));
            }
        }
        Some(speakers)
    }

    /// Returns these texts, the open ones and the skill's own, each once, sorted by path.
    async fn found(self, mut paths: BTreeSet<AbsPath>, meant: &Meant) -> Vec<Found> {
        // What is typed but not saved counts as well.
        let open = self.session.documents();
        let speaking = open.iter().filter_map(|it| it.path()).filter(|it| is_text(it));
        paths.extend(speaking.cloned());
        paths.insert(meant.skill.path.clone());
        let each = self.each_once(paths, |it| *it == meant.skill.path).await;
        let found = |(identity, path): (Identity, AbsPath)| {
            let is_own = meant.ways.contains(&path)
                || meant.skill.file.is_some_and(|it| identity == Identity::File(it));
            let is_open = self.session.document_at(&path).is_some();
            Found { path, identity, is_own, is_open }
        };
        let mut found: Vec<Found> = each.into_iter().map(found).collect();
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found
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
    fn speaker(self, document: Arc<Document>, text: Found, meant: &Meant) -> ReferencingFile {
        let own = self.session.place(&document);
        ReferencingFile::new(document, text, meant, own.as_ref().unwrap_or(&meant.overlaid))
    }

    /// Returns where the paths of a text that speaks of a skill start.
    pub(crate) fn bases(self, speaker: &ReferencingFile, meant: &Meant) -> LinkBases {
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
    overlaid: &'a OverlaySnapshot,
) -> Option<(Span, &'a Skill)> {
    let bases = overlaid.bases(document.path()?);
    let meant = |link: &Link, base: &AbsPath| {
        let target = base.join_lexically(&link.path);
        let passed = path_steps(link, document.text(), base);
        let named = passed.iter().rev().find_map(|it| {
            let skill = overlaid.at(&it.reached.child("SKILL.md"))?;
            let is_here = it.span.start <= offset && offset <= it.span.end;
            let leads = target == skill.path || target == it.reached;
            (is_here || leads).then_some((it.span, skill))
        });
        let own = || {
            let skill = overlaid.at(&target)?;
            // Its own file is named without its directory; a command by its file.
            let is_command = RenameKind::of(&target) == RenameKind::Command;
            let name = passed.last().filter(|_| is_command);
            Some((name.map_or(link.span, |it| it.span), skill))
        };
        named.or_else(own)
    };
    let links = links_at(links(document.text(), document.parsed()), offset);
    links.iter().find_map(|link| bases.candidates(link.start).iter().find_map(|it| meant(link, it)))
}

/// Whether skills may be named or led to in a file.
pub(crate) fn is_text(path: &AbsPath) -> bool {
    has_names(path) || has_paths(path)
}
