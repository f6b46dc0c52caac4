//! What is known of the disk: the places that the editor works in, and what was asked about.
//!
//! Filled by [`crate::errands`] and read by whoever answers. What may be out of date is fetched
//! again; what was known stays until then, so that nothing flickers.

mod belonging;
mod nearby;

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use skills_agents::profile::DEFAULT_PROFILES;
use skills_discovery::levels::Level;
use skills_lint::{ENOUGH, Facts};
use skills_syntax::path::AbsPath;

use crate::analysis::{AnalysisContext, Globbed, Needs};
use crate::backend::{DocumentLocation, WalkOptions};
use crate::snapshot::{Buffer, OverlaySnapshot, WorkspaceSnapshot};

/// How many files a glob names to whoever hovers over it.
const FEW: u32 = 5;

/// What the user asks of the editor's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AllEditorSettings {
    /// Whose agents count; those of the configuration when there are none.
    pub(crate) profiles: Vec<String>,
    /// How much rules matter.
    pub(crate) levels: Vec<EditorSettings>,
}

/// How much a rule, or a family of rules, is to matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EditorSettings {
    /// In which files; all where nothing is said.
    pub(crate) glob: Option<String>,
    pub(crate) rule: String,
    pub(crate) level: Level,
}

/// All that is known of the disk.
#[derive(Debug, Default)]
pub(crate) struct WorkspaceState {
    places: Vec<Place>,
    /// By the skill's file.
    facts: BTreeMap<AbsPath, Beside>,
    /// Where the open texts are, as far as that was asked.
    whereabouts: BTreeMap<AbsPath, DocumentLocation>,
    pub(crate) wishes: AllEditorSettings,
    /// Counts every change of what is known.
    pub(crate) generation: u64,
}

/// A directory that an agent would work in.
struct Place {
    root: AbsPath,
    /// Whether the editor named it; else a text that is open lies there.
    is_folder: bool,
    known: Option<Arc<WorkspaceSnapshot>>,
    /// The profiles wished for that there are not, until a snapshot knows them.
    unknown: BTreeSet<String>,
    /// Whether what is known may be out of date.
    is_due: bool,
    /// Whether it is asked for whole then.
    is_whole: bool,
    /// Whether it was asked about once, and what came of that is known.
    is_answered: bool,
    /// Whether a walk of before does not count any more.
    walks_anew: bool,
    globs: Arc<BTreeMap<String, Globbed>>,
    wanted_globs: BTreeSet<String>,
    /// The files of globs that somebody completes; let go of when they may be others.
    listings: Arc<BTreeMap<String, Globbed>>,
    wanted_listings: BTreeSet<String>,
    /// The last that was made, and of which texts.
    overlaid: Option<(Vec<Buffer>, Arc<OverlaySnapshot>)>,
    follow: Option<Box<dyn Any + Send>>,
    /// The profiles that are followed.
    followed: Vec<String>,
}

/// What lies beside one skill.
#[derive(Debug, Default)]
struct Beside {
    facts: Option<Arc<Facts>>,
    /// What was asked about it, ever.
    looks: BTreeSet<String>,
    is_due: bool,
}

/// Something to be fetched.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fetch {
    /// Where texts are that were opened.
    DocumentLocation {
        paths: Vec<AbsPath>,
    },
    /// What is seen from a place, which is followed from then on.
    Snapshot {
        place: AbsPath,
        profiles: Vec<String>,
        since: Option<String>,
        /// The profiles to follow; none where the place is followed already.
        follow: Option<Vec<String>>,
    },
    Facts {
        path: AbsPath,
        looks: Vec<String>,
    },
    Globs {
        place: AbsPath,
        globs: Vec<String>,
        extent: WalkOptions,
    },
    /// The files of globs that somebody completes.
    Listings {
        place: AbsPath,
        globs: Vec<String>,
        extent: WalkOptions,
    },
}

impl WorkspaceState {
    /// Takes up a place.
    pub(crate) fn add(&mut self, root: AbsPath, is_folder: bool) {
        self.forget_overlaid();
        match self.places.iter_mut().find(|it| it.root == root) {
            Some(place) => place.is_folder |= is_folder,
            None => self.places.push(Place {
                root,
                is_folder,
                known: None,
                unknown: BTreeSet::new(),
                is_due: true,
                is_whole: true,
                is_answered: false,
                // A walk of before is another session's.
                walks_anew: true,
                globs: Arc::default(),
                wanted_globs: BTreeSet::new(),
                listings: Arc::default(),
                wanted_listings: BTreeSet::new(),
                overlaid: None,
                follow: None,
                followed: Vec::new(),
            }),
        }
    }

    /// Lets go of a place that the editor named.
    pub(crate) fn remove(&mut self, root: &AbsPath) {
        self.places.retain(|it| it.root != *root);
        self.forget_overlaid();
        self.generation += 1;
    }

    /// Returns the roots that the editor named.
    pub(crate) fn folders(&self) -> Vec<AbsPath> {
        self.places.iter().filter(|it| it.is_folder).map(|it| it.root.clone()).collect()
    }

    /// Whether every place has answered once.
    pub(crate) fn is_settled(&self) -> bool {
        self.places.iter().all(|it| it.is_answered)
    }

    /// Returns what is known around a text. `buffers` are the open texts that are skills.
    pub(crate) fn scene(&mut self, path: Option<&AbsPath>, buffers: &[Buffer]) -> AnalysisContext {
        let generation = self.generation;
        let mut scene =
            AnalysisContext { path: path.cloned(), generation, ..AnalysisContext::default() };
        let Some(path) = path else { return scene };
        let beside = self.facts.get(path);
        scene.facts = beside.and_then(|it| it.facts.clone());
        let Some(root) = self.place_of(path) else { return scene };
        let Some(index) = self.places.iter().position(|it| it.root == root) else {
            return scene;
        };
        let place = &self.places[index];
        scene.place = Some(root);
        scene.is_answered = true;
        scene.globs = Arc::clone(&place.globs);
        scene.listings = Arc::clone(&place.listings);
        scene.overlaid = self.overlaid(index, buffers);
        scene
    }

    /// Returns what is known of each place, with the open texts over it.
    pub(crate) fn all(&mut self, buffers: &[Buffer]) -> Vec<(AbsPath, Arc<OverlaySnapshot>)> {
        let all = 0..self.places.len();
        all.map(|it| (self.places[it].root.clone(), self.overlaid(it, buffers))).collect()
    }

    /// Takes up what a scene could not answer. Returns whether something is new in it.
    pub(crate) fn want(&mut self, scene: &AnalysisContext) -> bool {
        let Needs { facts, looks, globs, listings } = &*scene.needs.borrow();
        let mut is_new = false;
        if let Some(path) = &scene.path
            && (*facts || !looks.is_empty())
        {
            let beside = self.facts.entry(path.clone()).or_default();
            let n_looks = beside.looks.len();
            beside.looks.extend(looks.iter().cloned());
            if beside.looks.len() > n_looks || (beside.facts.is_none() && !beside.is_due) {
                beside.is_due = true;
                is_new = true;
            }
        }
        let place = self.places.iter_mut().find(|it| Some(&it.root) == scene.place.as_ref());
        if let Some(place) = place {
            for glob in globs {
                is_new |= place.wanted_globs.insert(glob.clone());
            }
            for glob in listings {
                is_new |= place.wanted_listings.insert(glob.clone());
            }
        }
        is_new
    }

    /// Says that everything known of a place may be out of date.
    pub(crate) fn doubt(&mut self, root: &AbsPath) {
        for place in self.places.iter_mut().filter(|it| it.root == *root) {
            place.is_due = true;
        }
    }

    /// Says that everything may be out of date, files outside of the index too.
    pub(crate) fn doubt_all(&mut self) {
        self.doubt_places();
        self.doubt_files();
    }

    /// Says that what is seen from every place may be out of date.
    pub(crate) fn doubt_places(&mut self) {
        for place in &mut self.places {
            place.is_due = true;
        }
    }

    /// Says that files outside of the index may be others: what lies beside skills, and what globs
    /// match.
    pub(crate) fn doubt_files(&mut self) {
        for place in &mut self.places {
            place.wanted_globs.extend(place.globs.keys().cloned());
        }
        self.forget_listings();
        for beside in self.facts.values_mut() {
            beside.is_due = true;
        }
    }

    /// Lets go of what was listed for who completes; whoever asks next has it walked for.
    pub(crate) fn forget_listings(&mut self) {
        for place in &mut self.places {
            place.listings = Arc::default();
            place.walks_anew = true;
        }
    }

    /// Takes other wishes up. Returns whether they differ.
    pub(crate) fn wish(&mut self, wishes: AllEditorSettings) -> bool {
        if self.wishes == wishes {
            return false;
        }
        self.wishes = wishes;
        for place in &mut self.places {
            // The wishes are part of what is known.
            place.known = None;
            place.overlaid = None;
            place.unknown.clear();
            place.begin_anew();
            place.is_answered = false;
        }
        true
    }

    /// Returns the profiles that count at a place: those wished for that there are.
    pub(crate) fn profiles(&self, root: &AbsPath) -> Vec<String> {
        let place = self.places.iter().find(|it| it.root == *root);
        place.map_or_else(|| self.wishes.profiles.clone(), |it| it.profiles(&self.wishes))
    }

    /// Takes up which profiles there are not at a place; it is asked for the others then.
    pub(crate) fn take_unknown(&mut self, root: &AbsPath, unknown: Vec<String>) {
        if let Some(place) = self.places.iter_mut().find(|it| it.root == *root) {
            place.unknown.extend(unknown);
            place.begin_anew();
        }
    }

    /// Forgets what lies beside a text that is closed.
    pub(crate) fn forget(&mut self, path: &AbsPath) {
        self.facts.remove(path);
        self.whereabouts.remove(path);
    }

    /// Lets go of places that no open text lies in any more.
    pub(crate) fn keep_places(&mut self, is_used: impl Fn(&AbsPath) -> bool) {
        self.places.retain(|it| it.is_folder || is_used(&it.root));
        self.forget_overlaid();
    }

    /// Returns whether something is to be fetched.
    pub(crate) fn is_wanting(&self) -> bool {
        let wants =
            |it: &Place| it.is_due || !it.wanted_globs.is_empty() || !it.wanted_listings.is_empty();
        self.places.iter().any(wants) || self.facts.values().any(|it| it.is_due)
    }

    /// Returns what is to be fetched, and counts it as under way.
    pub(crate) fn fetches(&mut self) -> Vec<Fetch> {
        let mut fetches = Vec::new();
        for place in &mut self.places {
            if std::mem::take(&mut place.is_due) {
                // Whole, where what is known may be of other profiles.
                let is_whole = std::mem::take(&mut place.is_whole);
                let since = place.known.as_ref().filter(|_| !is_whole);
                let profiles = place.profiles(&self.wishes);
                if place.follow.is_none() {
                    place.followed = match (&profiles[..], &place.known) {
                        ([], Some(known)) => known.counting.clone(),
                        ([], None) => DEFAULT_PROFILES.map(str::to_owned).to_vec(),
                        (named, _) => named.to_vec(),
                    };
                }
                fetches.push(Fetch::Snapshot {
                    place: place.root.clone(),
                    profiles,
                    since: since.map(|it| it.clock.clone()),
                    follow: place.follow.is_none().then(|| place.followed.clone()),
                });
            }
            if !place.wanted_globs.is_empty() {
                let globs = std::mem::take(&mut place.wanted_globs).into_iter().collect();
                let anew = std::mem::take(&mut place.walks_anew);
                let extent = WalkOptions { most: FEW, anew };
                fetches.push(Fetch::Globs { place: place.root.clone(), globs, extent });
            }
            if !place.wanted_listings.is_empty() {
                let globs = std::mem::take(&mut place.wanted_listings).into_iter().collect();
                // The walk of the globs before, where there was one.
                let anew = std::mem::take(&mut place.walks_anew);
                let extent = WalkOptions { most: ENOUGH, anew };
                fetches.push(Fetch::Listings { place: place.root.clone(), globs, extent });
            }
        }
        for (path, beside) in &mut self.facts {
            if std::mem::take(&mut beside.is_due) {
                let looks = beside.looks.iter().cloned().collect();
                fetches.push(Fetch::Facts { path: path.clone(), looks });
            }
        }
        fetches
    }

    /// Keeps a place followed.
    pub(crate) fn take_follow(&mut self, root: &AbsPath, follow: Box<dyn Any + Send>) {
        if let Some(place) = self.places.iter_mut().find(|it| it.root == *root) {
            place.follow = Some(follow);
        }
    }

    /// Says that a place was asked about, whatever came of it.
    pub(crate) fn take_answer(&mut self, root: &AbsPath) {
        if let Some(place) = self.places.iter_mut().find(|it| it.root == *root) {
            place.is_answered = true;
        }
    }

    /// Takes up what is seen from a place.
    pub(crate) fn take_known(&mut self, root: &AbsPath, known: WorkspaceSnapshot) {
        if let Some(place) = self.places.iter_mut().find(|it| it.root == *root) {
            if place.unknown.iter().any(|it| known.profiles.contains(it)) {
                place.unknown.retain(|it| !known.profiles.contains(it));
                place.begin_anew();
            }
            // What is followed is what others have made of the profiles, or are other ones.
            let is_other =
                place.known.as_ref().is_some_and(|it| it.own_profiles != known.own_profiles);
            if is_other || self.wishes.profiles.is_empty() && place.followed != known.counting {
                place.follow_anew();
            }
            place.known = Some(Arc::new(known));
            self.forget_overlaid();
            self.generation += 1;
        }
    }

    /// Takes up what lies beside a skill.
    pub(crate) fn take_facts(&mut self, path: &AbsPath, facts: Facts) {
        let Some(beside) = self.facts.get_mut(path) else { return };
        if beside.facts.as_deref() != Some(&facts) {
            beside.facts = Some(Arc::new(facts));
            self.generation += 1;
        }
    }

    /// Takes up what globs match.
    pub(crate) fn take_globs(&mut self, root: &AbsPath, found: Vec<(String, Globbed)>) {
        let Some(place) = self.places.iter_mut().find(|it| it.root == *root) else { return };
        let mut globs = BTreeMap::clone(&place.globs);
        globs.extend(found);
        if globs != *place.globs {
            place.globs = Arc::new(globs);
            self.generation += 1;
        }
    }

    /// Takes up the files of globs that somebody completes. Nothing that is shown follows from it.
    pub(crate) fn take_listings(&mut self, root: &AbsPath, found: Vec<(String, Globbed)>) {
        if let Some(place) = self.places.iter_mut().find(|it| it.root == *root) {
            Arc::make_mut(&mut place.listings).extend(found);
        }
    }
}

impl Place {
    fn profiles(&self, wishes: &AllEditorSettings) -> Vec<String> {
        let wished = wishes.profiles.iter();
        wished.filter(|it| !self.unknown.contains(*it)).cloned().collect()
    }

    /// Has the place asked for whole and followed anew, because other profiles count.
    fn begin_anew(&mut self) {
        self.follow_anew();
        self.is_whole = true;
    }

    /// Has the place followed anew, because what is known is of other profiles than what is followed.
    fn follow_anew(&mut self) {
        self.follow = None;
        self.is_due = true;
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").field("root", &self.root).finish_non_exhaustive()
    }
}
