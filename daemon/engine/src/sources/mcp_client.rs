//! MCP servers: processes that are started when a list needs their prompts.
//!
//! [`Mcp`] is the engine's side and answers from memory. The servers are kept by one thread with
//! a small runtime of its own ([`keeper`]), because a server that hangs, crashes or prints
//! rubbish must hold up neither the engine nor a connection; what a server said last stays listed
//! while it is away. Only the user's configuration names servers, never a repository's.

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
use crate::sources::source_set::{McpOptions, Phase, SourceStatus};
use crate::views::view::Health;

/// What a prompt came to.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptAnswer {
    /// What the server says it is.
    pub description: Option<String>,
    /// The messages, in their order.
    pub messages: Vec<PromptMessage>,
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptMessage {
    /// Whether it is meant to be the model's own.
    pub assistant: bool,
    /// What it holds.
    pub content: PromptContent,
}

/// What a message holds.
#[derive(Clone, Debug, PartialEq)]
pub enum PromptContent {
    /// Text.
    Text(String),
    /// Anything else, as the protocol writes it: an image, a sound, a resource.
    Other(serde_json::Value),
}

/// Why a prompt could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// The path stands for no prompt of a configured server.
    #[error("there is no MCP server for it")]
    Unknown,
    /// The server cannot be reached.
    #[error("the MCP server `{server}` is not available: {why}")]
    Unavailable {
        /// Its name.
        server: String,
        /// Why.
        why: String,
    },
    /// The server refused: most often an argument is missing.
    #[error("the MCP server `{server}` refused: {why}")]
    Refused {
        /// Its name.
        server: String,
        /// What it said.
        why: String,
    },
    /// It took longer than it may.
    #[error("the MCP server `{server}` took longer than it may")]
    TimedOut {
        /// Its name.
        server: String,
    },
}

/// All servers.
pub(crate) struct Mcp {
    shared: Arc<Shared>,
    keeper: Option<(UnboundedSender<Order>, JoinHandle<()>)>,
    options: Option<McpOptions>,
}

/// What the keeper tells the engine.
pub(crate) struct Shared {
    news: Arc<ChangeNotifier>,
    servers: Mutex<BTreeMap<String, Server>>,
    /// When somebody last needed them: seconds since `epoch`.
    used: AtomicU64,
    epoch: Instant,
}

/// One server, as it is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Server {
    pub(crate) phase: Phase,
    /// What it said last; none before it said anything.
    pub(crate) prompts: Option<Arc<[ProvidedSkill]>>,
    /// What is wrong.
    pub(crate) error: Option<String>,
    /// Set where the server was ended for going over a limit.
    pub(crate) is_over_limit: bool,
    /// Doubt about its prompts, as a sentence fragment.
    pub(crate) doubt: Option<String>,
}

impl Mcp {
    pub(crate) fn new(news: Arc<ChangeNotifier>) -> Self {
        let shared = Shared {
            news,
            servers: Mutex::default(),
            used: AtomicU64::new(0),
            epoch: Instant::now(),
        };
        Self { shared: Arc::new(shared), keeper: None, options: None }
    }

    /// Takes up a configuration. Servers that it does not change go on.
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
            // It ends when the engine does.
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

    /// Somebody needs the prompts: starts the servers that are not running.
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
        self.shared.news.tell();
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
            Err(error) => tracing::warn!(%error, "no MCP server can be started"),
        }
    }

    /// Asks a server for a prompt.
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
                // Whoever asked hears that nobody answers.
                let _ = orders.send(order);
            }
            None => {
                // Whoever asked may be gone.
                let _ = reply.send(Err(PromptError::Unknown));
            }
        }
    }

    /// Whether a server is being started of which nothing is known yet.
    pub(crate) fn is_awaited(&self) -> bool {
        let servers = self.shared.lock();
        servers.values().any(|it| it.phase == Phase::Starting && it.prompts.is_none())
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

    /// Ends the servers and waits for it.
    pub(crate) fn stop(&mut self) {
        if let Some((orders, thread)) = self.keeper.take() {
            // It ends also when nobody is left to send.
            let _ = orders.send(Order::Stop);
            drop(orders);
            // A panic in there has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Server>> {
        // Nothing is left half done under this lock.
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that somebody needs the servers.
    pub(crate) fn touch(&self) {
        self.used.store(self.epoch.elapsed().as_secs(), Ordering::Relaxed);
    }

    /// Returns for how long nobody has needed them.
    pub(crate) fn unused(&self) -> std::time::Duration {
        let used = std::time::Duration::from_secs(self.used.load(Ordering::Relaxed));
        self.epoch.elapsed().saturating_sub(used)
    }

    /// Marks idle servers as being started. Returns whether there were any.
    fn begin(&self) -> bool {
        let mut any = false;
        for server in self.lock().values_mut().filter(|it| it.phase == Phase::Idle) {
            server.phase = Phase::Starting;
            any = true;
        }
        any
    }

    /// Changes what is known of a server, and tells the engine where that is something new.
    fn change(&self, name: &str, change: impl FnOnce(&mut Server)) {
        let is_new = {
            let mut servers = self.lock();
            let Some(server) = servers.get_mut(name) else { return };
            let before = server.clone();
            change(server);
            *server != before
        };
        if is_new {
            self.news.tell();
        }
    }
}

/// Returns what in the names and descriptions of prompts hides from a person or forges a list.
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
