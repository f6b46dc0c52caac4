//! MCP servers as skill sources: processes that are started when a list needs their prompts.
//!
//!
//! [`Mcp`] is the event loop's side and answers from memory. One thread with its own small runtime
//! manages the servers ([`keeper`]), because a server that hangs, crashes or sends garbage must
//! block neither the event loop nor a connection. The last prompts of a server stay listed while it
//! is down. Only the user's configuration names servers, never a repository's.

mod keeper;
mod meter;
mod process;
mod server;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use skills_agents::listing::{has_injection, one_line};
use skills_agents::profile::Provider;
use skills_discovery::discover::{
    Prompt, ProvidedContents, ProvidedRoot, ProvidedSkill, server_path,
};
use skills_syntax::invisible_chars;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::sources::change_notifier::ChangeNotifier;
use crate::sources::mcp_client::keeper::Order;
use crate::sources::source_set::{McpOptions, SourcePhase, SourceStatus};
use crate::views::view::Health;

/// Result of a prompt request.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptAnswer {
    /// The server's description.
    pub description: Option<String>,
    /// The messages, in order.
    pub messages: Vec<PromptMessage>,
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptMessage {
    /// True for the assistant's role.
    pub assistant: bool,
    /// The content.
    pub content: PromptContent,
}

/// Content of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum PromptContent {
    /// Text.
    Text(String),
    /// Any other content as its protocol JSON: an image, audio, a resource.
    Other(serde_json::Value),
}

/// Reasons why a prompt request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// The path is not a prompt of a configured server.
    #[error("there is no MCP server for it")]
    Unknown,
    /// The server cannot be reached.
    #[error("the MCP server `{server}` is not available: {why}")]
    Unavailable {
        /// Name of the server.
        server: String,
        /// The reason.
        why: String,
    },
    /// The server returned an error, most often for a missing argument.
    #[error("the MCP server `{server}` refused: {why}")]
    Refused {
        /// Name of the server.
        server: String,
        /// The server's message.
        why: String,
    },
    /// The request timed out.
    #[error("the MCP server `{server}` took longer than it may")]
    TimedOut {
        /// Name of the server.
        server: String,
    },
}

/// All configured servers.
pub(crate) struct Mcp {
    shared: Arc<Shared>,
    keeper: Option<(UnboundedSender<Order>, JoinHandle<()>)>,
    options: Option<McpOptions>,
}

/// State shared by the event loop and the servers' thread.
pub(crate) struct Shared {
    notifier: Arc<ChangeNotifier>,
    servers: Mutex<BTreeMap<String, Server>>,
    /// Time of the last use, in seconds since `epoch`.
    used: AtomicU64,
    epoch: Instant,
}

/// State of one server.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Server {
    pub(crate) phase: SourcePhase,
    /// Its last prompts; none before the first list.
    pub(crate) prompts: Option<Arc<[ProvidedSkill]>>,
    /// Description of its failure.
    pub(crate) error: Option<String>,
    /// True if the server was ended for exceeding a limit.
    pub(crate) is_over_limit: bool,
    /// Suspicious content in its prompts, as a sentence fragment.
    pub(crate) doubt: Option<String>,
}

impl Mcp {
    pub(crate) fn new(notifier: Arc<ChangeNotifier>) -> Self {
        let shared = Shared {
            notifier,
            servers: Mutex::default(),
            used: AtomicU64::new(0),
            epoch: Instant::now(),
        };
        Self { shared: Arc::new(shared), keeper: None, options: None }
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
            let _ = orders.send(Order::Configure(options.clone()));
        }
    }

    /// Returns each server as a root.
    pub(crate) fn provided(&self) -> Vec<ProvidedRoot> {
        let servers = self.shared.lock();
        let provided = servers.iter().map(|(name, server)| ProvidedRoot {
            path: server_path(name),
            origin: format!("the MCP server `{name}`"),
            stock: match (&server.prompts, &server.error) {
                (Some(prompts), _) => ProvidedContents::Skills(Arc::clone(prompts)),
                (None, Some(error)) => ProvidedContents::Failed(error.clone()),
                (None, None) => ProvidedContents::Awaited("is being started".to_owned()),
            },
        });
        provided.collect()
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
            // As above.
            let _ = orders.send(Order::Want);
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
                let order = Order::Get { server, prompt, arguments, reply };
                // If the thread has ended, the caller sees a closed channel.
                let _ = orders.send(order);
            }
            None => {
                // The caller may have hung up.
                let _ = reply.send(Err(PromptError::Unknown));
            }
        }
    }

    /// Returns true if a server is starting and has no prompts yet.
    pub(crate) fn is_fetching(&self) -> bool {
        let servers = self.shared.lock();
        servers.values().any(|it| it.phase == SourcePhase::Starting && it.prompts.is_none())
    }

    pub(crate) fn health(&self) -> Vec<Health> {
        let servers = self.shared.lock();
        let failed = servers.iter().filter_map(|(name, it)| Some((name, it, it.error.as_ref()?)));
        let health = failed.map(|(name, it, error)| Health {
            code: "mcp",
            message: format!(
                "the MCP server `{name}` {error}{}",
                if it.prompts.is_some() { "; the prompts it had are listed" } else { "" }
            ),
            hint: if it.is_over_limit {
                "It is started again after five minutes; repair it, or remove it from `mcp.servers`."
            } else {
                "It is started again by itself; check its `command` in `mcp.servers`."
            },
            path: None,
        });
        let doubts = servers.iter().filter_map(|(name, it)| Some((name, it.doubt.as_ref()?)));
        let doubts = doubts.map(|(name, doubt)| Health {
            code: "mcp-prompt",
            message: format!("the MCP server `{name}` {doubt}"),
            hint: "Tell whoever keeps the server, or remove it from `mcp.servers`.",
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
            let _ = orders.send(Order::Stop);
            drop(orders);
            // The panic hook has reported a panic of that thread.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Server>> {
        // Each update under this lock is complete before anything can panic.
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a use of the servers.
    pub(crate) fn touch(&self) {
        self.used.store(self.epoch.elapsed().as_secs(), Ordering::Relaxed);
    }

    /// Returns the time since the last use.
    pub(crate) fn unused(&self) -> std::time::Duration {
        let used = std::time::Duration::from_secs(self.used.load(Ordering::Relaxed));
        self.epoch.elapsed().saturating_sub(used)
    }

    /// Marks idle servers as starting. Returns whether there were any.
    fn begin(&self) -> bool {
        let mut any = false;
        for server in self.lock().values_mut().filter(|it| it.phase == SourcePhase::Idle) {
            server.phase = SourcePhase::Starting;
            any = true;
        }
        any
    }

    /// Changes the state of a server, and announces it if it differs.
    fn change(&self, name: &str, change: impl FnOnce(&mut Server)) {
        let is_new = {
            let mut servers = self.lock();
            let Some(server) = servers.get_mut(name) else { return };
            let before = server.clone();
            change(server);
            *server != before
        };
        if is_new {
            self.notifier.tell();
        }
    }
}

/// Describes prompts whose names or descriptions contain invisible characters or forged listings.
fn doubt(prompts: &[Prompt]) -> Option<String> {
    let is_doubtful = |it: &&Prompt| {
        let arguments = it.arguments.iter();
        let arguments = arguments.flat_map(|it| [Some(&it.name), it.description.as_ref()]);
        let mut texts = [Some(&it.name), it.description.as_ref()].into_iter().chain(arguments);
        texts.any(|it| {
            it.is_some_and(|it| !invisible_chars::runs(it).is_empty() || has_injection(it))
        })
    };
    let doubtful: Vec<_> = prompts.iter().filter(is_doubtful).collect();
    let name: String = one_line(&doubtful.first()?.name).chars().take(64).collect();
    let count = doubtful.len();
    Some(format!(
        "has {count} prompts with characters that nobody sees or texts that forge a list, the first `{name}`"
    ))
}

/// Returns prompts as skills.
fn skills(prompts: &[Prompt]) -> Arc<[ProvidedSkill]> {
    let hash = |bytes: &[u8]| *blake3::hash(bytes).as_bytes();
    prompts.iter().map(|it| it.to_skill(hash)).collect()
}

impl fmt::Debug for Mcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mcp").field("options", &self.options).finish_non_exhaustive()
    }
}
