//! What is known of the disk around the texts of a client, and what is to be done about it.
//!
//! The other half of [`Session`]: answers from what is known at once, notes what is missing, and
//! hands out one errand after the other to [`crate::errands`], the only one that waits for anybody.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use skills_agents::references::is_referencing_file;
use skills_lint::Facts;
use skills_syntax::path::AbsPath;
use tokio::time::{Instant, timeout, timeout_at};
use tower_lsp::ls_types::{Location, WorkspaceEdit};

use super::Session;
use crate::analysis::{AnalysisContext, Globbed};
use crate::backend::{DocumentLocation, WatchTarget};
use crate::document::Document;
use crate::options::Complaint;
use crate::session::rescan::RescanThrottle;
use crate::settings::Features;
use crate::snapshot::{OverlaySnapshot, Skill, WorkspaceSnapshot};
use crate::workspace::{AllEditorSettings, Fetch, WorkspaceState};

/// How long an answer waits for what it asks of the disk; then it says what is known.
const PATIENCE: Duration = Duration::from_millis(500);

/// What is known of the disk, and what is to be done about it.
#[derive(Debug, Default)]
pub(super) struct Outside {
    pub(super) world: WorkspaceState,
    errands: VecDeque<Task>,
    /// Whether an errand was handed out and is not done.
    is_under_way: bool,
    lookout: RescanThrottle,
    /// The closed texts that name a skill that is open, by its file, for whoever asks at each
    /// keystroke. Let go of when a text is closed, and when anything on the disk may have changed.
    users: BTreeMap<AbsPath, Users>,
    /// Counts the times they were let go of.
    doubts: u64,
    /// What of the disk is watched, and what ends that.
    nearby: Vec<WatchTarget>,
    watch: Watch,
}

/// Watches as long as it is there.
#[derive(Default)]
struct Watch(Option<Box<dyn Any + Send>>);

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watch").field(&self.0.is_some()).finish()
    }
}

/// The closed texts that name a skill.
#[derive(Debug)]
struct Users {
    /// The name that they were looked for by.
    name: String,
    texts: Arc<[Arc<Document>]>,
}

/// Something to be done with the source or the client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Ask the client to watch files, and for its settings.
    Greet,
    /// Ask the client to watch other directories than before.
    Watch,
    /// Ask the client for its settings.
    Configure,
    /// Ask the client to ask anew for what it shows.
    Refresh,
    /// Ask the client to open a text at a place.
    Show(Location),
    /// Ask the client to make an edit that was chosen.
    Apply {
        title: String,
        edit: Box<WorkspaceEdit>,
    },
    /// Tell the user what is wrong with the settings.
    Complain(Complaint),
    /// Tell that the user works on a file.
    Touch {
        place: AbsPath,
        path: AbsPath,
    },
    Fetch(Fetch),
}

impl Outside {
    fn forget_users(&mut self) {
        self.users.clear();
        self.doubts += 1;
    }

    fn is_at_rest(&self) -> bool {
        !self.is_under_way
            && self.errands.is_empty()
            && !self.world.is_wanting()
            && !self.lookout.is_time()
    }
}

impl Session {
    /// Calls `with` on what is known around a text. What it could not be told is fetched.
    pub(crate) fn with_scene<R>(
        &self,
        document: &Document,
        with: impl FnOnce(&AnalysisContext) -> R,
    ) -> R {
        let buffers = self.buffers();
        let mut scene = self.outside().world.scene(document.path(), &buffers);
        scene.rules_page.clone_from(&self.rules_page);
        let result = with(&scene);
        let is_wanting = scene.is_answered && !scene.needs.borrow().is_empty();
        if is_wanting && self.outside().world.want(&scene) {
            self.errand_bell.notify_one();
        }
        result
    }

    /// Calls `with` on what is known around a text and, where it asks for what is not known yet,
    /// again when that was fetched: for whoever asks once and does not come back.
    ///
    /// What is fetched may lead to further questions, as a file that is not there to those of a name
    /// like it: until none is left, or it has taken too long.
    pub(crate) async fn in_scene<R>(
        &self,
        document: &Document,
        with: impl Fn(&AnalysisContext) -> R,
    ) -> R {
        let until = Instant::now() + PATIENCE;
        let mut asked = None;
        loop {
            let look = |it: &AnalysisContext| (with(it), it.needs.borrow().clone());
            let (result, needs) = self.with_scene(document, look);
            // What nobody answers is asked once.
            if needs.is_empty() || asked.as_ref() == Some(&needs) {
                return result;
            }
            asked = Some(needs);
            if timeout_at(until, self.rest()).await.is_err() {
                return result;
            }
        }
    }

    /// Says that files outside of the index may be others by now: they are looked up again, but not
    /// at every word.
    pub(crate) fn look_again(&self) {
        self.outside().lookout.doubt();
        self.errand_bell.notify_one();
    }

    /// The same for a client that cannot be told of what comes of it later: waits for it.
    pub(crate) async fn looked_again(&self) {
        self.look_again();
        if !self.settings().refreshes.diagnostics {
            // What is known by then has to do.
            let _ = timeout(PATIENCE, self.rest()).await;
        }
    }

    /// Says how long a walk of a worktree took.
    pub(crate) fn walked(&self, took: Duration) {
        self.outside().lookout.walked(took);
    }

    /// Waits until nothing is to be fetched any more.
    async fn rest(&self) {
        loop {
            let news = self.news.notified();
            if self.outside().is_at_rest() {
                return;
            }
            news.await;
        }
    }

    /// Returns what is seen from the place that a text belongs to.
    pub(crate) fn place(&self, document: &Document) -> Option<Arc<OverlaySnapshot>> {
        let buffers = self.buffers();
        let scene = self.outside().world.scene(document.path(), &buffers);
        scene.place.is_some().then_some(scene.overlaid)
    }

    /// Returns the places from which a skill is seen, the one that it belongs to first.
    pub(crate) fn places_seeing(&self, skill: &AbsPath) -> Vec<(AbsPath, Arc<OverlaySnapshot>)> {
        let mut places = self.all_places();
        places.retain(|(_, it)| it.at(skill).is_some());
        let own = self.outside().world.place_of(skill);
        places.sort_by_key(|(place, _)| Some(place) != own.as_ref());
        places
    }

    /// Returns what is seen from each place.
    pub(crate) fn all_places(&self) -> Vec<(AbsPath, Arc<OverlaySnapshot>)> {
        let buffers = self.buffers();
        self.outside().world.all(&buffers)
    }

    /// Returns the directories that the client works in.
    pub(crate) fn folders(&self) -> Vec<AbsPath> {
        self.outside().world.folders()
    }

    /// Takes directories up that the client works in.
    pub(crate) fn add_folders(&self, folders: impl IntoIterator<Item = AbsPath>) {
        let mut outside = self.outside();
        for folder in folders {
            outside.world.add(folder, true);
        }
        drop(outside);
        self.errand_bell.notify_one();
    }

    /// Lets directories go that the client works in no more.
    pub(crate) fn remove_folders(&self, folders: impl IntoIterator<Item = AbsPath>) {
        let mut outside = self.outside();
        for folder in folders {
            outside.world.remove(&folder);
        }
        outside.forget_users();
        drop(outside);
        self.errand_bell.notify_one();
        self.tell_anew();
    }

    /// Returns the closed texts that name a skill, where they are known, and what to hand in with
    /// them when they are not.
    pub(crate) fn users(&self, skill: &Skill) -> Result<Arc<[Arc<Document>]>, u64> {
        let outside = self.outside();
        let known = outside.users.get(&skill.path).filter(|it| it.name == skill.name);
        known.map(|it| Arc::clone(&it.texts)).ok_or(outside.doubts)
    }

    /// Keeps the closed texts that name a skill, unless the disk may have changed since or the skill
    /// is not open any more.
    pub(crate) fn keep_users(&self, skill: &Skill, texts: Arc<[Arc<Document>]>, doubts: u64) {
        let is_open = self.document_at(&skill.path).is_some();
        let mut outside = self.outside();
        if is_open && outside.doubts == doubts {
            outside.users.insert(skill.path.clone(), Users { name: skill.name.clone(), texts });
        }
    }

    /// Lets go of what is known of a text that was closed. `open` are those that are not.
    pub(super) fn let_go(&self, closed: Option<&AbsPath>, open: &[AbsPath]) {
        let mut outside = self.outside();
        if let Some(path) = closed {
            outside.world.forget(path);
        }
        outside.world.keep_places(|root| open.iter().any(|it| it.starts_with(root)));
        outside.forget_users();
    }

    /// Returns what of the disk is to be watched from now on; nothing where that is what is.
    pub(crate) fn nearby(&self) -> Option<Vec<WatchTarget>> {
        let mut outside = self.outside();
        let nearby = outside.world.nearby();
        let is_new = nearby != outside.nearby;
        outside.nearby.clone_from(&nearby);
        is_new.then_some(nearby)
    }

    /// Keeps that watched, in the place of what was.
    pub(crate) fn take_watch(&self, watch: Box<dyn Any + Send>) {
        let before = self.outside().watch.0.replace(watch);
        // Its end may do anything, and not under the lock.
        drop(before);
    }

    /// Has something done with the source or the client.
    pub(crate) fn send(&self, errand: Task) {
        self.outside().errands.push_back(errand);
        self.errand_bell.notify_one();
    }

    /// Says that what is seen from a place may have changed.
    pub(crate) fn doubt(&self, place: &AbsPath) {
        let mut outside = self.outside();
        outside.world.doubt(place);
        outside.forget_users();
        drop(outside);
        self.errand_bell.notify_one();
    }

    /// Says that the client has seen files come or go of which only whether they are there counts,
    /// as those that a build makes: no text names a skill for that.
    pub(crate) fn doubt_listed(&self) {
        let mut outside = self.outside();
        outside.world.forget_listings();
        outside.lookout.doubt();
        drop(outside);
        self.errand_bell.notify_one();
    }

    /// Says that the client has seen files come, change or go that speak of skills or belong to one.
    pub(crate) fn doubt_seen(&self) {
        let mut outside = self.outside();
        outside.world.doubt_places();
        outside.world.forget_listings();
        outside.forget_users();
        // There may be thousands of such notes.
        outside.lookout.doubt();
        drop(outside);
        self.errand_bell.notify_one();
    }

    /// Says that anything on the disk may have changed.
    pub(crate) fn doubt_all(&self) {
        let mut outside = self.outside();
        outside.world.doubt_all();
        outside.forget_users();
        drop(outside);
        self.errand_bell.notify_one();
    }

    pub(crate) fn wishes(&self) -> AllEditorSettings {
        self.outside().world.wishes.clone()
    }

    /// Returns the profiles that count at a place: those wished for that there are.
    pub(crate) fn profiles(&self, place: &AbsPath) -> Vec<String> {
        self.outside().world.profiles(place)
    }

    /// Says that there are no such profiles at a place, as long as it does not show others.
    pub(crate) fn take_unknown(&self, place: &AbsPath, unknown: Vec<String>) {
        self.outside().world.take_unknown(place, unknown);
        self.errand_bell.notify_one();
    }

    /// Takes up what the user asks of the editor's settings.
    pub(crate) fn wish(&self, wishes: AllEditorSettings, features: Features) {
        let before = std::mem::replace(&mut self.lock().settings.features, features);
        if self.outside().world.wish(wishes) {
            self.errand_bell.notify_one();
        } else if before != features {
            self.send(Task::Refresh);
        }
    }

    /// Counts what was learnt of the disk.
    pub(crate) fn generation(&self) -> u64 {
        self.outside().world.generation
    }

    pub(crate) fn take_follow(&self, place: &AbsPath, follow: Box<dyn Any + Send>) {
        self.outside().world.take_follow(place, follow);
    }

    /// Takes up what is seen from a place, and where the open texts are by now: at once, since what
    /// is seen no more may be gone.
    pub(crate) fn take_known(
        &self,
        place: &AbsPath,
        known: Option<WorkspaceSnapshot>,
        found: Vec<(AbsPath, DocumentLocation)>,
    ) {
        let mut outside = self.outside();
        outside.world.take_whereabouts(found);
        let Some(known) = known else { return };
        outside.world.take_known(place, known);
        // A place may see a skill now that it did not see before.
        outside.forget_users();
    }

    pub(crate) fn take_whereabouts(&self, found: Vec<(AbsPath, DocumentLocation)>) {
        self.outside().world.take_whereabouts(found);
    }

    /// Returns the open texts that skills are spoken of in.
    pub(crate) fn speaking(&self) -> Vec<AbsPath> {
        let open = self.documents();
        open.iter()
            .filter_map(|it| it.path())
            .filter(|it| is_referencing_file(it))
            .cloned()
            .collect()
    }

    pub(crate) fn take_answer(&self, place: &AbsPath) {
        self.outside().world.take_answer(place);
    }

    pub(crate) fn take_facts(&self, path: &AbsPath, facts: Facts) {
        self.outside().world.take_facts(path, facts);
    }

    pub(crate) fn take_listings(&self, place: &AbsPath, found: Vec<(String, Globbed)>) {
        self.outside().world.take_listings(place, found);
    }

    pub(crate) fn take_globs(&self, place: &AbsPath, found: Vec<(String, Globbed)>) {
        self.outside().world.take_globs(place, found);
    }

    /// Says that an errand is done: whoever waits for what is known looks again.
    pub(crate) fn errand_done(&self) {
        self.outside().is_under_way = false;
        self.news.notify_waiters();
    }

    /// Waits until every place has answered once.
    pub(crate) async fn settled(&self) {
        loop {
            let news = self.news.notified();
            if self.is_settled() {
                return;
            }
            news.await;
        }
    }

    fn is_settled(&self) -> bool {
        let open = self.speaking();
        let Outside { world, .. } = &*self.outside();
        let is_home = |it: &AbsPath| world.is_located(it) && world.place_of(it).is_some();
        world.is_settled() && open.iter().all(is_home)
    }

    /// Waits for the next errand; nothing when none will come any more.
    pub(crate) async fn next_errand(&self) -> Option<Task> {
        loop {
            if self.lock().finished {
                return None;
            }
            if let Some(errand) = self.errand() {
                return Some(errand);
            }
            let ring = self.errand_bell.notified();
            let wakes = self.outside().lookout.wakes();
            match wakes {
                // Whichever comes first: both are looked at again.
                Some(at) => {
                    let _ = timeout_at(at, ring).await;
                }
                None => ring.await,
            }
        }
    }

    /// Returns what is to be done next. First what is seen, then what was opened: a touch needs to
    /// know its place.
    pub(crate) fn errand(&self) -> Option<Task> {
        let open = self.speaking();
        let mut outside = self.outside();
        let Outside { world, errands, is_under_way, lookout, .. } = &mut *outside;
        if lookout.look() {
            world.doubt_files();
        }
        let paths: Vec<_> = open.iter().filter(|it| !world.is_located(it)).cloned().collect();
        if errands.is_empty() && !paths.is_empty() {
            errands.push_back(Task::Fetch(Fetch::DocumentLocation { paths }));
        }
        if errands.is_empty() {
            errands.extend(world.fetches().into_iter().map(Task::Fetch));
        }
        if errands.is_empty() && world.is_settled() {
            // A text that no place sees makes one of its own.
            for path in &open {
                if world.place_of(path).is_none() {
                    world.add(path.parent().unwrap_or_else(|| path.clone()), false);
                }
            }
            errands.extend(world.fetches().into_iter().map(Task::Fetch));
        }
        if let Some(errand) = errands.pop_front() {
            *is_under_way = true;
            return Some(errand);
        }
        drop(outside);
        loop {
            let path = self.lock().touched.pop()?;
            if let Some(place) = self.outside().world.place_of(&path) {
                return Some(Task::Touch { place, path });
            }
        }
    }

    pub(super) fn outside(&self) -> MutexGuard<'_, Outside> {
        // Whoever panicked with the lock held left nothing half changed.
        self.outside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
