//! [`TrackedTree`]: the directory index as discovery's tree; records missing answers and
//! dependencies.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::sync::Arc;

use skills_agents::profile::Provider;
use skills_discovery::discover::{
    Fault, ItemKind, Listing, PathStatus, Policy, ProvidedRoot, SkillFile, TextFile, Tree,
};
use skills_discovery::permission::SkillRules;
use skills_discovery::remote::Address;
use skills_syntax::path::AbsPath;
use skills_syntax::text::{LineColumn, LineIndex};

use crate::files::dir_index::{DirIndex, Need, NodeId, parent};
use crate::sources::source_set::ProvidedSources;
use crate::sources::source_uses::SourceDependencies;

/// Input of discovery: the index and the sources at one moment. Cheap to clone.
#[derive(Clone)]
pub(crate) struct DiscoveryInput {
    pub(crate) dir_index: DirIndex,
    pub(crate) uid: u32,
    pub(crate) sources: ProvidedSources,
    pub(crate) policy: Arc<Policy>,
}

/// Answers from the directory index and records missing answers and visited nodes.
pub(crate) struct TrackedTree<'a> {
    input: &'a DiscoveryInput,
    /// Number of visits after which no question is answered.
    limit: usize,
    notes: RefCell<DiscoveryRecords>,
}

/// Records of one discovery run.
#[derive(Default)]
pub(crate) struct DiscoveryRecords {
    /// Missing answers.
    pub(crate) needs: Vec<Need>,
    /// Nodes that the answers depend on, with repetitions.
    pub(crate) visited: Vec<NodeId>,
    /// External sources that the answers depend on.
    pub(crate) uses: SourceDependencies,
}

impl DiscoveryRecords {
    /// Returns the number of questions, a measure of the time that the run took.
    pub(crate) fn n_visits(&self) -> usize {
        self.visited.len().max(self.needs.len())
    }
}

impl<'a> TrackedTree<'a> {
    pub(crate) fn new(input: &'a DiscoveryInput, limit: usize) -> Self {
        Self { input, limit, notes: RefCell::default() }
    }

    pub(crate) fn into_notes(self) -> DiscoveryRecords {
        self.notes.into_inner()
    }

    /// Runs `ask` with a recorder of visited nodes; records the need if the answer is missing.
    fn answer<T>(&self, ask: impl FnOnce(&mut dyn FnMut(NodeId)) -> Result<T, Need>) -> Option<T> {
        let mut notes = self.notes.borrow_mut();
        if notes.n_visits() >= self.limit {
            return None;
        }
        let DiscoveryRecords { needs, visited, .. } = &mut *notes;
        match ask(&mut |id| visited.push(id)) {
            Ok(answer) => Some(answer),
            Err(need) => {
                needs.push(need);
                None
            }
        }
    }
}

impl Tree for TrackedTree<'_> {
    fn look(&self, path: &AbsPath) -> Option<PathStatus> {
        self.answer(|visit| match self.input.dir_index.locate(path, self.input.uid, visit) {
            Ok(located) => Ok(located.place),
            Err(_) => Err(look(path)),
        })
    }

    fn list(&self, path: &AbsPath) -> Option<Result<Arc<Listing>, Fault>> {
        self.answer(|visit| {
            let physical = self
                .input
                .dir_index
                .directory(path, self.input.uid, visit)
                .map_err(|_| look(path))?;
            let node = self.input.dir_index.get(&physical);
            if let Some(node) = node {
                visit(node.id);
            }
            node.and_then(|it| it.listing.clone()).ok_or(Need::List(physical))
        })
    }

    fn canonical(&self, path: &AbsPath) -> Option<AbsPath> {
        let located = self.answer(|visit| {
            self.input.dir_index.locate(path, self.input.uid, visit).map_err(|_| look(path))
        })?;
        // A physical path is absolute and has no dot components.
        AbsPath::new(located.path.as_ref()).ok()
    }

    fn read(&self, path: &AbsPath) -> Option<Result<SkillFile, Fault>> {
        self.answer(|visit| {
            // Usually a file listed in a physical directory, sometimes a link to one.
            let physical = if self.input.dir_index.listed(path, ItemKind::File, visit) {
                path.as_os_str().to_owned()
            } else {
                self.input
                    .dir_index
                    .locate(path, self.input.uid, visit)
                    .map_err(|_| look(path))?
                    .path
            };
            let dir = parent(&physical);
            let name = file_name(&physical);
            let node = self.input.dir_index.get(dir);
            if let Some(node) = node {
                visit(node.id);
            }
            let state = node.and_then(|it| it.files.get(name));
            let need = || Need::Read { dir: dir.to_owned(), name: name.to_owned() };
            state.map(|it| it.result.clone()).ok_or_else(need)
        })
    }

    fn text(&self, path: &AbsPath) -> Option<Result<Arc<TextFile>, Fault>> {
        self.answer(|visit| {
            let located =
                self.input.dir_index.locate(path, self.input.uid, visit).map_err(|_| look(path))?;
            let dir = parent(&located.path);
            let name = file_name(&located.path);
            let node = self.input.dir_index.get(dir);
            if let Some(node) = node {
                visit(node.id);
            }
            let state = node.and_then(|it| it.texts.get(name));
            let need = || Need::Text { dir: dir.to_owned(), name: name.to_owned() };
            state.map(|it| it.result.clone()).ok_or_else(need)
        })
    }

    fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.input.policy)
    }

    fn skill_rules(&self, text: &str) -> SkillRules {
        let parsed = skills_config::read(text.as_bytes(), skills_config::ConfigSource::Repository);
        // A pattern that is not valid UTF-8 was decoded with replacement characters.
        let replaced = text.find('\u{FFFD}').map(|at| {
            let (line, column) = LineIndex::new(text).display(text, at);
            LineColumn { line, column }
        });
        let rules = parsed.config.permission_skill;
        let hidden_rule = parsed.hidden_rule.or(replaced);
        SkillRules { rules, hidden_rule }
    }

    fn provided(
        &self,
        provider: Provider,
        profile: &str,
        addresses: &[Address],
    ) -> Vec<ProvidedRoot> {
        let mut notes = self.notes.borrow_mut();
        self.input.sources.roots(provider, profile, addresses, &mut notes.uses)
    }
}

fn look(path: &AbsPath) -> Need {
    Need::Look(path.to_path_buf())
}

fn file_name(path: &OsStr) -> &OsStr {
    std::path::Path::new(path).file_name().unwrap_or(path)
}
