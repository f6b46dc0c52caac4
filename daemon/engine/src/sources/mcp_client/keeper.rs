//! The thread that manages the MCP servers: one task per server, and the orders to them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use skills_config::McpServer;
use tokio::runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::sources::mcp_client::prompt::{PromptAnswer, PromptError};
use crate::sources::mcp_client::server;
use crate::sources::mcp_client::server::{Ask, ServerTimeouts};
use crate::sources::mcp_client::state::Shared;
use crate::sources::source_config::McpOptions;

/// Timeout for all servers to end, after which the runtime kills them.
const EXIT_TIMEOUT: Duration = Duration::from_secs(3);

/// Orders to the thread.
pub(super) enum KeeperOrder {
    /// Apply a configuration.
    Configure(McpOptions),
    /// Start the servers that are not running.
    Want,
    /// Request a prompt.
    Get {
        server: String,
        prompt: String,
        arguments: BTreeMap<String, String>,
        reply: oneshot::Sender<Result<PromptAnswer, PromptError>>,
    },
    /// End all servers.
    Stop,
}

/// A server's task, and the configuration that it was started with.
struct ServerTask {
    made_for: (McpServer, ServerTimeouts),
    asks: UnboundedSender<Ask>,
    handle: JoinHandle<()>,
}

/// Manages servers until a stop order.
pub(super) fn keep(
    shared: &Arc<Shared>,
    options: McpOptions,
    orders: UnboundedReceiver<KeeperOrder>,
) {
    match runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(run(shared, options, orders)),
        Err(error) => tracing::error!(%error, "cannot start MCP servers"),
    }
}

async fn run(
    shared: &Arc<Shared>,
    options: McpOptions,
    mut orders: UnboundedReceiver<KeeperOrder>,
) {
    let mut tasks = BTreeMap::new();
    configure(shared, &mut tasks, options).await;
    while let Some(order) = orders.recv().await {
        match order {
            KeeperOrder::Configure(options) => configure(shared, &mut tasks, options).await,
            KeeperOrder::Want => {
                for task in tasks.values() {
                    // A task that has ended has reported it.
                    let _ = task.asks.send(Ask::Want);
                }
            }
            KeeperOrder::Get { server, prompt, arguments, reply } => match tasks.get(&server) {
                Some(task) => {
                    // If the task has ended, the caller sees a closed channel.
                    let _ = task.asks.send(Ask::Get { prompt, arguments, reply });
                }
                None => {
                    // The caller may have hung up.
                    let _ = reply.send(Err(PromptError::Unknown));
                }
            },
            KeeperOrder::Stop => break,
        }
    }
    end(std::mem::take(&mut tasks).into_values().collect()).await;
}

async fn configure(
    shared: &Arc<Shared>,
    tasks: &mut BTreeMap<String, ServerTask>,
    options: McpOptions,
) {
    let McpOptions { servers, timeout, idle, .. } = options;
    let bounds = ServerTimeouts { timeout, idle };
    let made_for = |name: &str| Some((servers.get(name)?.clone(), bounds));
    let old = std::mem::take(tasks);
    let (kept, gone): (BTreeMap<_, _>, BTreeMap<_, _>) =
        old.into_iter().partition(|(name, task)| made_for(name).as_ref() == Some(&task.made_for));
    *tasks = kept;
    end(gone.into_values().collect()).await;
    for (name, spec) in &servers {
        if tasks.contains_key(name) {
            continue;
        }
        let (asks, receiver) = unbounded_channel();
        let task = server::keep(Arc::clone(shared), name.clone(), spec.clone(), bounds, receiver);
        let handle = tokio::spawn(task);
        // This thread is started only when a view needs the servers.
        let _ = asks.send(Ask::Want);
        tasks.insert(name.clone(), ServerTask { made_for: (spec.clone(), bounds), asks, handle });
    }
}

async fn end(tasks: Vec<ServerTask>) {
    let tasks: Vec<_> = tasks.into_iter().map(|it| it.handle).collect();
    // Each task ends when its senders are gone.
    let all = async {
        for task in tasks {
            // The panic hook has reported a panic of that task.
            let _ = task.await;
        }
    };
    if timeout(EXIT_TIMEOUT, all).await.is_err() {
        tracing::warn!("an MCP server did not exit in time");
    }
}
