//! What is provided besides the disk: by which configuration, and what became of it.
//!
//! [`Sources`] belongs to the engine's thread and answers the resolver from memory. What takes
//! time (fetching, talking to servers) happens on threads of its own; each says with
//! [`Event::Provided`](crate::run::Event) that something is new, and the views that use it are
//! resolved again. A catalog that was fetched is a directory like any other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use skills_agents::profile::Provider;
use skills_config::McpServer;
use skills_discovery::discover::{ProvidedContents, ProvidedRoot, ProvidedSkill};
use skills_discovery::remote::Address;
use skills_syntax::path::AbsPath;

use crate::sources::bundled;
use crate::sources::change_notifier::ChangeNotifier;
use crate::sources::mcp_client::Mcp;
use crate::sources::registries::Remote;
use crate::views::view::Health;

/// What the configuration says about skills that are in none of an agent's directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceConfig {
    /// The profiles that list the bundled skills.
    pub bundled: Vec<String>,
    /// Catalogs.
    pub remote: RemoteOptions,
    /// MCP servers.
    pub mcp: McpOptions,
}

/// Which catalogs are fetched, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteOptions {
    /// Those of the user's configuration.
    pub addresses: Vec<Address>,
    /// The profiles that list them.
    pub profiles: Vec<String>,
    /// How often they are asked whether they have changed.
    pub interval: Duration,
    /// Whether they may be fetched without encryption from other machines.
    pub unencrypted: bool,
}

/// Which MCP servers are asked, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpOptions {
    /// The servers by name.
    pub servers: BTreeMap<String, McpServer>,
    /// The profiles that list their prompts.
    pub profiles: Vec<String>,
    /// How long one may take to start, and to answer.
    pub timeout: Duration,
    /// After how long without use one is stopped.
    pub idle: Duration,
}

impl Default for SourceConfig {
    /// Nothing is provided.
    fn default() -> Self {
        let remote = RemoteOptions {
            addresses: Vec::new(),
            profiles: Vec::new(),
            interval: Duration::from_hours(1),
            unencrypted: false,
        };
        let mcp = McpOptions {
            servers: BTreeMap::new(),
            profiles: Vec::new(),
            timeout: Duration::from_secs(10),
            idle: Duration::from_mins(10),
        };
        Self { bundled: Vec::new(), remote, mcp }
    }
}

/// What a view uses of what is provided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    /// Catalogs.
    pub(crate) remote: BTreeSet<Address>,
    /// The prompts of the MCP servers.
    pub(crate) mcp: bool,
}

impl Uses {
    /// Whether anything is used that changes by itself.
    pub(crate) fn any(&self) -> bool {
        self.mcp || !self.remote.is_empty()
    }
}

/// How a source is, for `status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceStatus {
    /// Who provides.
    pub provider: Provider,
    /// The catalog's address, or the server's name in the configuration.
    pub name: String,
    /// How it is.
    pub phase: Phase,
    /// How many skills it has.
    pub skills: usize,
    /// More about it: what is wrong, as a sentence fragment.
    pub message: Option<String>,
    /// Where its files are, where it has files.
    pub path: Option<AbsPath>,
}

/// How a source is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nobody has needed it yet, or not for a while.
    #[default]
    Idle,
    /// It is being started or fetched, and nothing is there yet.
    Starting,
    /// It is well.
    Ready,
    /// It could not be reached; what it had before is used.
    Stale,
    /// It could not be reached, and nothing is there.
    Failed,
}

/// What is provided, as the engine's thread holds it.
pub(crate) struct Sources {
    provision: SourceConfig,
    cache: Option<PathBuf>,
    bundled: OnceLock<Option<ProvidedRoot>>,
    pub(crate) remote: Remote,
    pub(crate) mcp: Mcp,
}

impl Sources {
    pub(crate) fn new(cache: Option<PathBuf>, news: &Arc<ChangeNotifier>) -> Self {
        Self {
            provision: SourceConfig::default(),
            bundled: OnceLock::new(),
            remote: Remote::new(cache.clone(), Arc::clone(news)),
            mcp: Mcp::new(Arc::clone(news)),
            cache,
        }
    }

    /// Takes up a configuration. Returns whether it is another one.
    pub(crate) fn configure(&mut self, provision: SourceConfig) -> bool {
        if self.provision == provision {
            return false;
        }
        self.remote.configure(&provision.remote);
        self.mcp.configure(&provision.mcp);
        self.provision = provision;
        true
    }

    /// Answers the resolver, and notes what the answer depends on.
    pub(crate) fn provided(
        &self,
        provider: Provider,
        profile: &str,
        addresses: &[Address],
        uses: &mut Uses,
    ) -> Vec<ProvidedRoot> {
        match provider {
            Provider::Bundled if lists(&self.provision.bundled, profile) => {
                let bundled = self.bundled.get_or_init(|| self.bundled());
                bundled.iter().cloned().collect()
            }
            Provider::Mcp if lists(&self.provision.mcp.profiles, profile) => {
                let servers = self.mcp.provided();
                uses.mcp |= !servers.is_empty();
                servers
            }
            Provider::Remote => {
                let configured = lists(&self.provision.remote.profiles, profile);
                let own = self.provision.remote.addresses.iter().filter(|_| configured);
                let mut met = BTreeSet::new();
                let all = own.chain(addresses).filter(|it| met.insert((*it).clone()));
                let provided = all.map(|it| self.remote.provided(it)).collect();
                uses.remote.extend(met);
                provided
            }
            Provider::Bundled | Provider::Mcp => Vec::new(),
        }
    }

    fn bundled(&self) -> Option<ProvidedRoot> {
        let path = AbsPath::new(&bundled::directory(self.cache.as_deref()?)).ok()?;
        let skills: Arc<[ProvidedSkill]> = bundled::skills(&path);
        let origin = "the skills that come with skillsd".to_owned();
        Some(ProvidedRoot { path, origin, stock: ProvidedContents::Skills(skills) })
    }

    /// Sets going what a view uses.
    pub(crate) fn want(&mut self, uses: &Uses) {
        for address in &uses.remote {
            self.remote.want(address);
        }
        if uses.mcp {
            self.mcp.want();
        }
    }

    /// Whether anything that a view uses is on its way for the first time.
    pub(crate) fn are_awaited(&self, uses: &Uses) -> bool {
        uses.remote.iter().any(|it| self.remote.is_awaited(it))
            || (uses.mcp && self.mcp.is_awaited())
    }

    /// Ends what runs beside the engine.
    pub(crate) fn stop(&mut self) {
        self.remote.stop();
        self.mcp.stop();
    }

    /// Returns what is not well with what a view uses.
    pub(crate) fn health(&self, uses: &Uses) -> Vec<Health> {
        let remote = uses.remote.iter().flat_map(|it| self.remote.health(it));
        let mcp = if uses.mcp { self.mcp.health() } else { Vec::new() };
        remote.chain(mcp).collect()
    }

    /// Returns how all sources are.
    pub(crate) fn status(&self) -> Vec<SourceStatus> {
        let mut status = Vec::new();
        if !self.provision.bundled.is_empty()
            && let Some(ProvidedRoot { path, stock: ProvidedContents::Skills(skills), .. }) =
                self.bundled.get_or_init(|| self.bundled())
        {
            status.push(SourceStatus {
                provider: Provider::Bundled,
                name: "skillsd".to_owned(),
                phase: Phase::Ready,
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

/// Whether one of these profiles is meant: a variant by its own name or its agent's.
fn lists(profiles: &[String], profile: &str) -> bool {
    let agent = profile.split('@').next().unwrap_or(profile);
    profiles.iter().any(|it| it == profile || it == agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_meant_by_its_agent() {
        let profiles = ["claude-code".to_owned()];
        assert!(lists(&profiles, "claude-code") && lists(&profiles, "claude-code@founding"));
        assert!(!lists(&profiles, "claude") && !lists(&profiles, "codex"));
    }
}
