//! Update of one registry: fetches its index, then new and changed skills.
//!
//! A cached skill without a version is never fetched again; one with a version when that changes. A
//! skill that cannot be fetched completely stays as it was, or is left out. A new state becomes
//! visible only when it is complete.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use skills_discovery::remote::{Address, Index, IndexError, RegistrySkill, read};

use crate::sources::registries::fetch::{FetchError, Fetched, Fetcher};
use crate::sources::registries::store::{CachedSkill, RegistryCache, RegistryState, Stage};
use crate::sources::source_config::PlainHttp;
use crate::sources::source_limits::{FILE_BYTES, INDEX_BYTES, UPDATE_BYTES, UPDATE_TIME};

/// Result of an update.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UpdateOutcome {
    pub(crate) skills: usize,
    /// Reasons why skills are left out or kept at an older version, as sentence fragments.
    pub(crate) refused: Vec<String>,
    /// True if every available skill was fetched.
    pub(crate) complete: bool,
}

/// Reasons why nothing was updated.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpdateError {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("its `index.json` is invalid: {0}")]
    Index(#[source] IndexError),
    #[error("failed to write the cache: {0}")]
    Cache(#[from] io::Error),
    #[error("another process is fetching it")]
    Busy,
    #[error("skillsd is shutting down")]
    Stopping,
}

/// Updates a registry.
pub(crate) fn update(
    store: &RegistryCache,
    address: &Address,
    plain_http: PlainHttp,
    stopping: &AtomicBool,
) -> Result<UpdateOutcome, UpdateError> {
    let fetcher = Fetcher::new(address, plain_http, Instant::now() + UPDATE_TIME)?;
    let _claim = store.claim(address)?.ok_or(UpdateError::Busy)?;
    let before = store.state();
    let (whole, damaged): (Vec<_>, Vec<_>) =
        before.iter().flat_map(|it| it.skills.iter().cloned()).partition(|it| store.is_whole(it));
    let before = before.unwrap_or_default();
    // The index must be read in full to repair damaged skills.
    let etag = before.etag.as_deref().filter(|_| damaged.is_empty());
    let (bytes, etag) = match fetcher.get("index.json", etag, INDEX_BYTES)? {
        Fetched::Unchanged => {
            return Ok(UpdateOutcome { skills: whole.len(), refused: Vec::new(), complete: true });
        }
        Fetched::New { bytes, etag } => (bytes, etag),
    };
    let Index { skills: offers, refused } = read(&bytes).map_err(UpdateError::Index)?;
    let mut update = RegistryUpdate {
        fetcher,
        stage: store.stage()?,
        whole,
        stopping,
        left: UPDATE_BYTES,
        // Without the ETag the index is read again next time, so that refusals are reported again.
        tag: etag.filter(|_| refused.is_empty()),
        refused,
        complete: true,
        next: Vec::new(),
    };
    for offer in offers {
        update.take(&offer)?;
    }
    let RegistryUpdate { stage, next, refused, complete, tag, .. } = update;
    let state = RegistryState { etag: tag, skills: next };
    let outcome = UpdateOutcome { skills: state.skills.len(), refused, complete };
    if store.has_copy() && damaged.is_empty() && state.skills == before.skills {
        if state.etag != before.etag {
            store.retag(&state)?;
        }
    } else {
        store.publish(stage, &state)?;
    }
    Ok(outcome)
}

struct RegistryUpdate<'a> {
    fetcher: Fetcher,
    stage: Stage,
    /// Undamaged skills of the published state.
    whole: Vec<CachedSkill>,
    stopping: &'a AtomicBool,
    /// Number of bytes that may still be fetched.
    left: u64,
    /// New ETag of the index; none if it must be read again.
    tag: Option<String>,
    refused: Vec<String>,
    complete: bool,
    next: Vec<CachedSkill>,
}

impl RegistryUpdate<'_> {
    fn take(&mut self, offer: &RegistrySkill) -> Result<(), UpdateError> {
        let kept = self.whole.iter().find(|it| it.name == offer.name).cloned();
        if let Some(kept) = &kept
            && (offer.version.is_none() || offer.version == kept.version)
        {
            self.stage.keep(kept)?;
            self.next.push(kept.clone());
            return Ok(());
        }
        match self.fetch(offer) {
            Ok(new) => self.next.push(new),
            Err(Trouble::Stop(error)) => return Err(error),
            Err(Trouble::Skill(why)) => {
                self.stage.forget(&offer.name);
                if self.stage.has(&offer.name) {
                    return Err(io::Error::other("a part of a skill cannot be removed").into());
                }
                // Dropping the ETag makes the next update try this skill again.
                (self.complete, self.tag) = (false, None);
                let name = &offer.name;
                if let Some(kept) = kept {
                    self.stage.keep(&kept)?;
                    self.next.push(kept);
                    self.refused.push(format!("`{name}` keeps its previous version: {why}"));
                } else {
                    self.refused.push(format!("`{name}` is left out: {why}"));
                }
            }
        }
        Ok(())
    }

    fn fetch(&mut self, offer: &RegistrySkill) -> Result<CachedSkill, Trouble> {
        let RegistrySkill { name, files, version } = offer;
        let mut kept =
            CachedSkill { name: name.clone(), version: version.clone(), files: Vec::new() };
        for file in files {
            if self.stopping.load(Ordering::Relaxed) {
                return Err(Trouble::Stop(UpdateError::Stopping));
            }
            let limit = FILE_BYTES.min(self.left);
            let fetched = self.fetcher.get(&format!("{name}/{file}"), None, limit);
            let bytes = match fetched.map_err(|it| Trouble::Skill(it.to_string()))? {
                Fetched::New { bytes, .. } => bytes,
                // Never sent without an ETag.
                Fetched::Unchanged => continue,
            };
            self.left -= bytes.len() as u64;
            if file == "SKILL.md" && !looks_like_a_skill(&bytes) {
                let why = "its SKILL.md does not begin with `---`";
                return Err(Trouble::Skill(why.to_owned()));
            }
            let hash =
                self.stage.write(name, file, &bytes).map_err(|it| Trouble::Stop(it.into()))?;
            kept.files.push((file.clone(), hash));
        }
        Ok(kept)
    }
}

/// Reason why a skill was not fetched.
enum Trouble {
    /// Only this skill is affected.
    Skill(String),
    /// The update cannot continue.
    Stop(UpdateError),
}

fn looks_like_a_skill(bytes: &[u8]) -> bool {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes).starts_with(b"---")
}
