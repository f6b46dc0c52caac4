//! MCP servers as skill sources: processes that are started when a list needs their prompts.
//!
//! [`Mcp`] is the event loop's side and answers from memory. One thread with its own small runtime
//! manages the servers ([`keeper`]), because a server that hangs, crashes or sends garbage must
//! block neither the event loop nor a connection. The last prompts of a server stay listed while it
//! is down. Only the user's configuration names servers, never a repository's.

mod keeper;
mod meter;
mod process;
pub(crate) mod prompt;
mod server;
mod state;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use skills_agents::profile::Provider;
use skills_discovery::discover::{ProvidedContents, ProvidedRoot, server_path};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::health::Health;
use crate::sources::change_notifier::ChangeNotifier;
use crate::sources::mcp_client::keeper::KeeperOrder;
use crate::sources::mcp_client::prompt::{PromptAnswer, PromptError};
use crate::sources::mcp_client::state::Shared;
use crate::sources::source_config::McpOptions;
use crate::sources::source_status::{SourcePhase, SourceStatus};

/// All configured servers.
pub(crate) struct Mcp {
    shared: Arc<Shared>,
    keeper: Option<(UnboundedSender<KeeperOrder>, JoinHandle<()>)>,
    options: Option<McpOptions>,
}

/// The servers as roots, on any thread. Cheap to clone.
#[derive(Clone)]
pub(crate) struct McpRoots(Arc<Shared>);

impl McpRoots {
    /// Returns each server as a root.
    pub(crate) fn all(&self) -> Vec<ProvidedRoot> {
        let servers = self.0.lock();
        let roots = servers.iter().map(|(name, server)| ProvidedRoot {
            path: server_path(name),
            origin: format!("the MCP server `{name}`"),
            contents: match (&server.prompts, &server.error) {
                (Some(prompts), _) => ProvidedContents::Skills(Arc::clone(prompts)),
                (None, Some(error)) => ProvidedContents::Failed(error.clone()),
                (None, None) => ProvidedContents::NotReady("is being started".to_owned()),
            },
        });
        roots.collect()
    }
}

impl Mcp {
    pub(crate) fn new(notifier: Arc<ChangeNotifier>) -> Self {
        Self { shared: Arc::new(Shared::new(notifier)), keeper: None, options: None }
    }

    pub(crate) fn roots(&self) -> McpRoots {
        McpRoots(Arc::clone(&self.shared))
    }

    /// Applies a configuration. Servers with an unchanged configuration keep running.
    pub(crate) fn configure(&mut self, options: &McpOptions) {
        {
            let before = self.options.as_ref().map(|it| &it.servers);
            let mut servers = self.shared.lock();
            servers.retain(|name, _| {
                options
                    .servers
                    .get(name)
                    .is_some_and(|it| before.and_then(|it| it.get(name)) == Some(it))
            });
            for name in options.servers.keys() {
                servers.entry(name.clone()).or_default();
            }
        }
        self.options = Some(options.clone());
        if let Some((orders, _)) = &self.keeper {
            // The thread ends together with the engine.
            let _ = orders.send(KeeperOrder::Configure(options.clone()));
        }
    }

    /// Starts the servers that are not running, because a view needs their prompts.
    pub(crate) fn want(&mut self) {
        self.shared.touch();
        if self.keeper.is_none() {
            self.start_keeper();
        }
        if !self.shared.begin() {
            return;
        }
        if let Some((orders, _)) = &self.keeper {
            // Its task may have ended.
            let _ = orders.send(KeeperOrder::Want);
        }
        self.shared.notifier.tell();
    }

    fn start_keeper(&mut self) {
        let Some(options) = self.options.clone().filter(|it| !it.servers.is_empty()) else {
            return;
        };
        let (orders, receiver) = unbounded_channel();
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new()
            .name("mcp".into())
            .spawn(move || keeper::keep(&shared, options, receiver));
        match thread {
            Ok(thread) => self.keeper = Some((orders, thread)),
            Err(error) => tracing::warn!(%error, "cannot start MCP servers"),
        }
    }

    /// Requests a prompt from a server.
    pub(crate) fn get(
        &mut self,
        server: String,
        prompt: String,
        arguments: BTreeMap<String, String>,
        reply: oneshot::Sender<Result<PromptAnswer, PromptError>>,
    ) {
        self.shared.touch();
        if self.keeper.is_none() {
            self.start_keeper();
        }
        match &self.keeper {
            Some((orders, _)) => {
                let order = KeeperOrder::Get { server, prompt, arguments, reply };
                // If the thread has ended, the caller sees a closed channel.
                let _ = orders.send(order);
            }
            None => {
                // The caller may have hung up.
                let _ = reply.send(Err(PromptError::Unknown));
            }
        }
    }

    /// Returns a health entry for each server that is starting and has no prompts yet.
    pub(crate) fn fetching(&self) -> Vec<Health> {
        let servers = self.shared.lock();
        let starting = servers
            .iter()
            .filter(|(_, it)| it.phase == SourcePhase::Starting && it.prompts.is_none());
        let entry = |name: &String| Health {
            code: "fetching",
            message: format!("the MCP server `{name}` is still starting; its prompts are missing"),
            hint: "List the skills again; `skillsd status` shows the state.",
            path: None,
        };
        starting.map(|(name, _)| entry(name)).collect()
    }

    pub(crate) fn health(&self) -> Vec<Health> {
        let servers = self.shared.lock();
        let failed = servers.iter().filter_map(|(name, it)| Some((name, it, it.error.as_ref()?)));
        let health = failed.map(|(name, it, error)| Health {
            code: "mcp",
            message: format!(
                "the MCP server `{name}` {error}{}",
                if it.prompts.is_some() { "; its last prompts stay listed" } else { "" }
            ),
            hint: if it.is_over_limit {
                "skillsd restarts it after five minutes; fix it, or remove it from `mcp.servers`."
            } else {
                "skillsd restarts it automatically; check its `command` in `mcp.servers`."
            },
            path: None,
        });
        let doubts = servers.iter().filter_map(|(name, it)| Some((name, it.doubt.as_ref()?)));
        let doubts = doubts.map(|(name, doubt)| Health {
            code: "mcp-prompt",
            message: format!("the MCP server `{name}` {doubt}"),
            hint: "Report it to the server's maintainer, or remove the server from `mcp.servers`.",
            path: None,
        });
        health.chain(doubts).collect()
    }

    pub(crate) fn status(&self) -> Vec<SourceStatus> {
        let servers = self.shared.lock();
        let status = servers.iter().map(|(name, it)| SourceStatus {
            provider: Provider::Mcp,
            name: name.clone(),
            phase: it.phase,
            skills: it.prompts.as_ref().map_or(0, |it| it.len()),
            message: it.error.clone(),
            path: None,
        });
        status.collect()
    }

    /// Stops the servers and waits for their thread.
    pub(crate) fn stop(&mut self) {
        if let Some((orders, thread)) = self.keeper.take() {
            // The thread also ends when all senders are gone.
            let _ = orders.send(KeeperOrder::Stop);
            drop(orders);
            // The panic hook has reported a panic of that thread.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Mcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mcp").field("options", &self.options).finish_non_exhaustive()
    }
}
