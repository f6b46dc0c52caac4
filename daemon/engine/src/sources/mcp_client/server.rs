//! Lifecycle of one MCP server: start on demand, requests, restart after a crash, stop when idle.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ContentBlock, GetPromptRequestParams, GetPromptResult, PaginatedRequestParams, Role,
};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::{ClientHandler, RoleClient, ServiceError, ServiceExt};
use skills_config::McpServer;
use skills_discovery::discover::{Prompt, PromptArgument};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::sources::mcp_client::meter::{ExceededLimit, Meter};
use crate::sources::mcp_client::process::Process;
use crate::sources::mcp_client::prompt::{
    PromptAnswer, PromptContent, PromptError, PromptMessage, doubt, skills,
};
use crate::sources::mcp_client::state::Shared;
use crate::sources::source_limits::{
    MCP_PAGES, MCP_PENALTY, MCP_PROMPTS, MCP_RELIST_PAUSE, MCP_REQUESTS,
};
use crate::sources::source_status::SourcePhase;

/// Delay of the first restart after a failure; doubled by each further failure.
const FIRST_RETRY: Duration = Duration::from_secs(1);

/// Maximum delay between two starts.
const LAST_RETRY: Duration = Duration::from_mins(5);

/// Maximum time between the end of a process's output and its exit.
const EXIT_DELAY: Duration = Duration::from_millis(200);

/// Timeouts of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ServerTimeouts {
    pub(super) timeout: Duration,
    pub(super) idle: Duration,
}

/// Requests to a server's task.
pub(super) enum Ask {
    /// Start the server and list its prompts.
    Want,
    /// Request a prompt.
    Get {
        prompt: String,
        arguments: BTreeMap<String, String>,
        reply: oneshot::Sender<Result<PromptAnswer, PromptError>>,
    },
}

/// Manages one server until all senders are gone.
pub(super) async fn keep(
    shared: Arc<Shared>,
    name: String,
    spec: McpServer,
    bounds: ServerTimeouts,
    mut asks: UnboundedReceiver<Ask>,
) {
    let requests = Arc::new(Semaphore::new(MCP_REQUESTS));
    let keeper = Keeper { shared, name, spec, bounds, requests };
    let mut failures = 0;
    let mut waiting = None;
    loop {
        let ask = match waiting.take() {
            Some(ask) => ask,
            None => match asks.recv().await {
                Some(ask) => ask,
                None => return,
            },
        };
        let running = match keeper.start().await {
            Ok(running) => running,
            Err(why) => {
                failures += 1;
                keeper.failed(&why);
                keeper.refuse(ask, &why.text);
                match keeper.wait_for_retry(failures, &why, &mut asks).await {
                    Some(ask) => waiting = Some(ask),
                    None => return,
                }
                continue;
            }
        };
        let since = Instant::now();
        match keeper.run(running, ask, &mut asks).await {
            End::Idle => {
                failures = 0;
                keeper.shared.change(&keeper.name, |it| it.phase = SourcePhase::Idle);
            }
            End::Closed => return,
            End::Crashed(why) => {
                // A long run resets the count of failures.
                failures = if since.elapsed() > LAST_RETRY { 1 } else { failures + 1 };
                keeper.failed(&why);
                match keeper.wait_for_retry(failures, &why, &mut asks).await {
                    Some(ask) => waiting = Some(ask),
                    None => return,
                }
            }
        }
    }
}

/// Reason why a server stopped.
enum End {
    /// Unused for the configured time.
    Idle,
    /// All senders are gone.
    Closed,
    /// Exited, violated the protocol, or exceeded a limit.
    Crashed(Failure),
}

/// Failure of a server.
#[derive(Clone, Debug)]
struct Failure {
    /// A sentence fragment that follows the server's name.
    text: String,
    /// True if the server was ended for exceeding a limit.
    is_over_limit: bool,
}

impl Failure {
    /// Returns the exceeded limit, or else the given reason.
    fn new(meter: &Meter, why: impl FnOnce() -> String) -> Self {
        match meter.excess() {
            Some(excess) => excess.into(),
            None => Self { text: why(), is_over_limit: false },
        }
    }
}

impl From<ExceededLimit> for Failure {
    fn from(excess: ExceededLimit) -> Self {
        Self { text: format!("{excess}, and was stopped"), is_over_limit: true }
    }
}

/// A server after the handshake.
struct Running {
    client: RunningService<RoleClient, NotificationHandler>,
    process: Process,
    changed: Arc<Notify>,
}

/// Handler of the server's notifications.
struct NotificationHandler {
    changed: Arc<Notify>,
}

impl ClientHandler for NotificationHandler {
    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}

struct Keeper {
    shared: Arc<Shared>,
    name: String,
    spec: McpServer,
    bounds: ServerTimeouts,
    /// Limits concurrent prompt requests.
    requests: Arc<Semaphore>,
}

impl Keeper {
    async fn start(&self) -> Result<Running, Failure> {
        self.shared.change(&self.name, |it| it.phase = SourcePhase::Starting);
        let (mut process, stdout, stdin) = Process::start(&self.spec).map_err(|error| Failure {
            text: format!("could not be started: {error}"),
            is_over_limit: false,
        })?;
        let meter = process.meter();
        let changed = Arc::new(Notify::new());
        let handler = NotificationHandler { changed: Arc::clone(&changed) };
        let greeted = tokio::select! {
            greeted = timeout(self.bounds.timeout, handler.serve((stdout, stdin))) => greeted,
            status = process.ended() => {
                let why = Failure::new(&meter, || {
                    ended(status.map(|it| it.to_string()), &process)
                });
                process.end().await;
                return Err(why);
            }
            excess = meter.wait_for_excess() => {
                process.end().await;
                return Err(excess.into());
            }
        };
        let why = match greeted {
            Ok(Ok(client)) => return Ok(Running { client, process, changed }),
            // A closed connection usually means that the server exited.
            Ok(Err(_)) if let Ok(status) = timeout(EXIT_DELAY, process.ended()).await => {
                let why = Failure::new(&meter, || ended(status.map(|it| it.to_string()), &process));
                process.end().await;
                return Err(why);
            }
            Ok(Err(error)) => {
                let error = error.to_string();
                format!("does not speak MCP: {}", shortened(&error))
            }
            Err(_) => "did not answer in time".to_owned(),
        };
        let why = Failure::new(&meter, || format!("{why}{}", process.last_words()));
        process.end().await;
        Err(why)
    }

    /// Serves a running server until it ends or is no longer needed.
    async fn run(&self, running: Running, first: Ask, asks: &mut UnboundedReceiver<Ask>) -> End {
        let Running { mut client, mut process, changed } = running;
        let end = self.follow(&client, &mut process, &changed, first, asks).await;
        // Closing its input tells the server to exit.
        let _ = client.close_with_timeout(Duration::from_millis(200)).await;
        drop(client);
        process.end().await;
        end
    }

    async fn follow(
        &self,
        client: &RunningService<RoleClient, NotificationHandler>,
        process: &mut Process,
        changed: &Notify,
        first: Ask,
        asks: &mut UnboundedReceiver<Ask>,
    ) -> End {
        let meter = process.meter();
        if let Err(why) = self.list(client, &meter).await {
            let why = Failure::new(&meter, || format!("{why}{}", process.last_words()));
            self.refuse(first, &why.text);
            return End::Crashed(why);
        }
        self.serve(client, first);
        loop {
            let idle = Instant::now() + self.bounds.idle.saturating_sub(self.shared.unused());
            tokio::select! {
                ask = asks.recv() => match ask {
                    None => return End::Closed,
                    Some(ask) => self.serve(client, ask),
                },
                () = changed.notified() => {
                    if let Err(why) = self.list(client, &meter).await {
                        return End::Crashed(Failure::new(&meter, || why));
                    }
                    // Merges further changes during the pause.
                    sleep(MCP_RELIST_PAUSE).await;
                }
                excess = meter.wait_for_excess() => return End::Crashed(excess.into()),
                status = process.ended() => {
                    return End::Crashed(Failure::new(&meter, || {
                        ended(status.map(|it| it.to_string()), process)
                    }));
                }
                () = sleep_until(idle) => {
                    if self.shared.unused() >= self.bounds.idle {
                        return End::Idle;
                    }
                }
            }
            if client.is_closed() {
                return End::Crashed(Failure::new(&meter, || {
                    format!("closed the connection{}", process.last_words())
                }));
            }
        }
    }

    /// Lists the prompts and publishes them.
    async fn list(
        &self,
        client: &RunningService<RoleClient, NotificationHandler>,
        meter: &Meter,
    ) -> Result<(), String> {
        let offers = client.peer().peer_info().is_some_and(|it| it.capabilities.prompts.is_some());
        let listed = if offers {
            match timeout(self.bounds.timeout, list_pages(client, meter)).await {
                Ok(Ok(listed)) => listed,
                Ok(Err(error)) => {
                    return Err(format!(
                        "does not list prompts: {}",
                        shortened(&error.to_string())
                    ));
                }
                Err(_) => return Err("did not list its prompts in time".to_owned()),
            }
        } else {
            Vec::new()
        };
        let prompts: Vec<_> = listed.into_iter().map(|it| self.prompt(it)).collect();
        let doubt = doubt(&prompts);
        let prompts = skills(&prompts);
        self.shared.change(&self.name, |it| {
            it.phase = SourcePhase::Ready;
            it.error = None;
            it.is_over_limit = false;
            it.doubt = doubt;
            it.prompts = Some(prompts);
        });
        Ok(())
    }

    fn prompt(&self, prompt: rmcp::model::Prompt) -> Prompt {
        let arguments = prompt.arguments.unwrap_or_default().into_iter();
        Prompt {
            server: self.name.clone(),
            name: prompt.name,
            description: prompt.description.or(prompt.title),
            arguments: arguments
                .map(|it| PromptArgument {
                    name: it.name,
                    description: it.description.or(it.title),
                    required: it.required.unwrap_or_default(),
                })
                .collect(),
        }
    }

    /// Handles one request, in a new task if the server is involved.
    fn serve(&self, client: &RunningService<RoleClient, NotificationHandler>, ask: Ask) {
        let Ask::Get { prompt, arguments, reply } = ask else { return };
        let (peer, bound, server) = (client.peer().clone(), self.bounds.timeout, self.name.clone());
        let arguments = arguments.into_iter().map(|(name, it)| (name, it.into())).collect();
        let params = GetPromptRequestParams::new(prompt).with_arguments(arguments);
        let Ok(permit) = Arc::clone(&self.requests).try_acquire_owned() else {
            let why = format!("{MCP_REQUESTS} requests for prompts are already running");
            // The caller may have hung up.
            let _ = reply.send(Err(PromptError::Unavailable { server, why }));
            return;
        };
        tokio::spawn(async move {
            let _permit = permit;
            let answer = match timeout(bound, peer.get_prompt(params)).await {
                Ok(Ok(result)) => Ok(answer(result)),
                Ok(Err(ServiceError::McpError(error))) => {
                    Err(PromptError::Refused { server, why: shortened(&error.message) })
                }
                Ok(Err(error)) => {
                    Err(PromptError::Unavailable { server, why: shortened(&error.to_string()) })
                }
                Err(_) => Err(PromptError::TimedOut { server }),
            };
            // The caller may have hung up.
            let _ = reply.send(answer);
        });
    }

    fn refuse(&self, ask: Ask, why: &str) {
        if let Ask::Get { reply, .. } = ask {
            let server = self.name.clone();
            // The caller may have hung up.
            let _ = reply.send(Err(PromptError::Unavailable { server, why: why.to_owned() }));
        }
    }

    fn failed(&self, why: &Failure) {
        tracing::info!(server = self.name, why = why.text, "MCP server failed");
        self.shared.change(&self.name, |it| {
            it.phase = if it.prompts.is_some() { SourcePhase::Stale } else { SourcePhase::Failed };
            it.error = Some(why.text.clone());
            it.is_over_limit = why.is_over_limit;
        });
    }

    /// Waits until the server may be restarted. Returns the next request; none when all senders are
    /// gone.
    async fn wait_for_retry(
        &self,
        failures: u32,
        why: &Failure,
        asks: &mut UnboundedReceiver<Ask>,
    ) -> Option<Ask> {
        let wait = FIRST_RETRY.saturating_mul(1 << (failures - 1).min(16)).min(LAST_RETRY);
        let wait = if why.is_over_limit { MCP_PENALTY } else { wait };
        let until = Instant::now() + wait;
        loop {
            tokio::select! {
                ask = asks.recv() => self.refuse(ask?, &why.text),
                () = sleep_until(until) => break,
            }
        }
        if self.shared.unused() < self.bounds.idle {
            return Some(Ask::Want);
        }
        // Unused for the configured time: the next use starts it again.
        self.shared.change(&self.name, |it| it.phase = SourcePhase::Idle);
        asks.recv().await
    }
}

/// Returns the prompts on all pages of a list. A server with too many is marked as over its limit.
async fn list_pages(
    client: &RunningService<RoleClient, NotificationHandler>,
    meter: &Meter,
) -> Result<Vec<rmcp::model::Prompt>, ServiceError> {
    let mut prompts = Vec::new();
    let mut cursor = None;
    for _ in 0..MCP_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let page = client.list_prompts(Some(params)).await?;
        prompts.extend(page.prompts);
        if prompts.len() > MCP_PROMPTS {
            meter.record_excess(ExceededLimit::Prompts);
            return Err(ServiceError::TransportClosed);
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(prompts);
        }
    }
    meter.record_excess(ExceededLimit::Pages);
    Err(ServiceError::TransportClosed)
}

fn ended(status: std::io::Result<String>, process: &Process) -> String {
    let status = status.unwrap_or_else(|error| error.to_string());
    format!("ended with {status}{}", process.last_words())
}

fn answer(result: GetPromptResult) -> PromptAnswer {
    let messages = result.messages.into_iter().map(|it| PromptMessage {
        assistant: it.role == Role::Assistant,
        content: match it.content {
            ContentBlock::Text(text) => PromptContent::Text(text.text),
            other => PromptContent::Other(serde_json::to_value(&other).unwrap_or_default()),
        },
    });
    PromptAnswer { description: result.description, messages: messages.collect() }
}

/// Returns the beginning of a text on one line.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 200;
    let line: Vec<_> = text.split_whitespace().collect();
    let line = line.join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
