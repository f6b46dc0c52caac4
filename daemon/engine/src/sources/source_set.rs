//! [`Sources`]: the configured external sources and their state.
//!
//! Owned by the event loop; answers discovery from memory. Fetches and servers run on their own
//! threads, which announce changes with [`Event::SourceChanged`](crate::views::event::Event);
//! dependent views are then resolved again. A fetched registry is a directory like any other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use skills_agents::profile::Provider;
use skills_discovery::discover::{ProvidedContents, ProvidedRoot, ProvidedSkill};
use skills_discovery::remote::Address;
use skills_syntax::path::AbsPath;

use crate::health::Health;
use crate::sources::bundled;
use crate::sources::change_notifier::ChangeNotifier;
use crate::sources::fetching::Fetching;
use crate::sources::mcp_client::{Mcp, McpRoots};
use crate::sources::registries::{Remote, RemoteRoots};
use crate::sources::source_config::SourceConfig;
use crate::sources::source_status::{SourcePhase, SourceStatus};
use crate::sources::source_uses::SourceDependencies;

/// External sources, owned by the event loop.
pub(crate) struct Sources {
    provided: ProvidedSources,
    pub(crate) remote: Remote,
    pub(crate) mcp: Mcp,
}

/// Roots of the sources, for discovery on any thread. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ProvidedSources {
    config: Arc<SourceConfig>,
    cache: Option<Arc<Path>>,
    bundled: Arc<OnceLock<Option<ProvidedRoot>>>,
    remote: RemoteRoots,
    mcp: McpRoots,
}

impl Sources {
    pub(crate) fn new(cache: Option<PathBuf>, notifier: &Arc<ChangeNotifier>) -> Self {
        let remote = Remote::new(cache.clone(), Arc::clone(notifier));
        let mcp = Mcp::new(Arc::clone(notifier));
        let provided = ProvidedSources {
            config: Arc::default(),
            bundled: Arc::default(),
            remote: remote.roots(),
            mcp: mcp.roots(),
            cache: cache.map(Arc::from),
        };
        Self { provided, remote, mcp }
    }

    /// Returns the roots of the sources.
    pub(crate) fn provided(&self) -> &ProvidedSources {
        &self.provided
    }

    /// Applies a configuration. Returns whether it differs from the last one.
    pub(crate) fn configure(&mut self, config: SourceConfig) -> bool {
        let provided = &mut self.provided;
        if *provided.config == config {
            return false;
        }
        self.remote.configure(&config.remote);
        self.mcp.configure(&config.mcp);
        provided.bundled = Arc::default();
        provided.config = Arc::new(config);
        true
    }

    /// Starts the sources that a view depends on.
    pub(crate) fn want(&mut self, uses: &SourceDependencies) {
        for address in &uses.remote {
            self.remote.want(address);
        }
        if uses.mcp {
            self.mcp.want();
        }
    }

    /// Drops the registries that are neither configured nor in `used`. Returns whether there were
    /// any.
    pub(crate) fn retain_registries(&self, used: &BTreeSet<&Address>) -> bool {
        let configured = &self.provided.config.remote.addresses;
        self.remote.retain(|it| used.contains(it) || configured.contains(it))
    }

    /// Returns the sources of a view that are being fetched for the first time.
    pub(crate) fn fetching(&self, uses: &SourceDependencies) -> Fetching {
        Fetching {
            registries: uses.remote.iter().filter_map(|it| self.remote.fetching(it)).collect(),
            servers: if uses.mcp { self.mcp.fetching() } else { Vec::new() },
        }
    }

    /// Stops the sources' threads.
    pub(crate) fn stop(&mut self) {
        self.remote.stop();
        self.mcp.stop();
    }

    /// Returns the problems of the sources that a view depends on.
    pub(crate) fn health(&self, uses: &SourceDependencies) -> Vec<Health> {
        let remote = uses.remote.iter().flat_map(|it| self.remote.health(it));
        let mcp = if uses.mcp { self.mcp.health() } else { Vec::new() };
        remote.chain(mcp).collect()
    }

    /// Returns the status of all sources.
    pub(crate) fn status(&self) -> Vec<SourceStatus> {
        let mut status = Vec::new();
        if !self.provided.config.bundled.is_empty()
            && let Some(ProvidedRoot { path, contents: ProvidedContents::Skills(skills), .. }) =
                self.provided.bundled()
        {
            status.push(SourceStatus {
                provider: Provider::Bundled,
                name: "skillsd".to_owned(),
                phase: SourcePhase::Ready,
                skills: skills.len(),
                message: None,
                path: Some(path.clone()),
            });
        }
        status.extend(self.remote.status());
        status.extend(self.mcp.status());
        status
    }
}

impl ProvidedSources {
    /// Returns a provider's roots for a profile, and records the sources they depend on.
    pub(crate) fn roots(
        &self,
        provider: Provider,
        profile: &str,
        addresses: &[Address],
        uses: &mut SourceDependencies,
    ) -> Vec<ProvidedRoot> {
        match provider {
            Provider::Bundled if lists(&self.config.bundled, profile) => {
                self.bundled().into_iter().cloned().collect()
            }
            Provider::Mcp if lists(&self.config.mcp.profiles, profile) => {
                let servers = self.mcp.all();
                uses.mcp |= !servers.is_empty();
                servers
            }
            Provider::Remote => {
                let configured = lists(&self.config.remote.profiles, profile);
                let own = self.config.remote.addresses.iter().filter(|_| configured);
                let mut met = BTreeSet::new();
                let all = own.chain(addresses).filter(|it| met.insert((*it).clone()));
                let roots = all.map(|it| self.remote.get(it)).collect();
                uses.remote.extend(met);
                roots
            }
            Provider::Bundled | Provider::Mcp => Vec::new(),
        }
    }

    fn bundled(&self) -> Option<&ProvidedRoot> {
        let bundled = self.bundled.get_or_init(|| {
            let path = AbsPath::new(&bundled::directory(self.cache.as_deref()?)).ok()?;
            let skills: Arc<[ProvidedSkill]> =
                bundled::skills(&path, &self.config.bundled_disabled);
            let origin = "the skills that come with skillsd".to_owned();
            Some(ProvidedRoot { path, origin, contents: ProvidedContents::Skills(skills) })
        });
        bundled.as_ref()
    }
}

/// Returns true if the list contains a profile, or the agent of a variant.
fn lists(profiles: &[String], profile: &str) -> bool {
    let agent = profile.split('@').next().unwrap_or(profile);
    profiles.iter().any(|it| it == profile || it == agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_list_matches_variants_by_agent() {
        let profiles = ["claude-code".to_owned()];
        assert!(lists(&profiles, "claude-code") && lists(&profiles, "claude-code@founding"));
        assert!(!lists(&profiles, "claude") && !lists(&profiles, "codex"));
    }
}
