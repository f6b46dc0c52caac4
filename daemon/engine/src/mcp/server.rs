//! One MCP server over time: started when needed, asked, started again after a crash, ended
//! when nobody needs it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ContentBlock, GetPromptRequestParams, GetPromptResult, Role};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::{ClientHandler, RoleClient, ServiceError, ServiceExt};
use skills_core::config::McpServer;
use skills_core::resolve::{Prompt, PromptArgument};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout};

use crate::mcp::process::Process;
use crate::mcp::{PromptAnswer, PromptContent, PromptError, PromptMessage, Shared, skills};
use crate::provide::Phase;

/// How long after a failure it is started again; each further failure doubles it.
const FIRST_RETRY: Duration = Duration::from_secs(1);

/// The longest time between two starts.
const LAST_RETRY: Duration = Duration::from_mins(5);

/// How long the end of a process may come after the end of its output.
const MOMENT: Duration = Duration::from_millis(200);

/// How many prompts of one server are listed.
const MOST: usize = 1000;

/// How long a server may take, and how long it may be unused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) timeout: Duration,
    pub(super) idle: Duration,
}

/// What a server's task is asked.
pub(super) enum Ask {
    /// Somebody needs the list.
    Want,
    /// Somebody wants a prompt.
    Get {
        prompt: String,
        arguments: BTreeMap<String, String>,
        reply: oneshot::Sender<Result<PromptAnswer, PromptError>>,
    },
}

/// Keeps one server until nobody can ask any more.
pub(super) async fn keep(
    shared: Arc<Shared>,
    name: String,
    spec: McpServer,
    bounds: Bounds,
    mut asks: UnboundedReceiver<Ask>,
) {
    let keeper = Keeper { shared, name, spec, bounds };
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
                keeper.refuse(ask, &why);
                match keeper.rest(failures, &why, &mut asks).await {
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
                keeper.shared.change(&keeper.name, |it| it.phase = Phase::Idle);
            }
            End::Closed => return,
            End::Crashed(why) => {
                // One that ran for a while has recovered from what was before.
                failures = if since.elapsed() > LAST_RETRY { 1 } else { failures + 1 };
                keeper.failed(&why);
                match keeper.rest(failures, &why, &mut asks).await {
                    Some(ask) => waiting = Some(ask),
                    None => return,
                }
            }
        }
    }
}

/// Why a server does not run any more.
enum End {
    /// Nobody needs it.
    Idle,
    /// Nobody can ask any more.
    Closed,
    /// It has ended by itself, or does not keep to the protocol.
    Crashed(String),
}

/// A server that has been greeted.
struct Running {
    client: RunningService<RoleClient, Handler>,
    process: Process,
    changed: Arc<Notify>,
}

/// Hears what a server tells by itself.
struct Handler {
    changed: Arc<Notify>,
}

impl ClientHandler for Handler {
    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}

struct Keeper {
    shared: Arc<Shared>,
    name: String,
    spec: McpServer,
    bounds: Bounds,
}

impl Keeper {
    async fn start(&self) -> Result<Running, String> {
        self.shared.change(&self.name, |it| it.phase = Phase::Starting);
        let (mut process, stdout, stdin) =
            Process::start(&self.spec).map_err(|error| format!("could not be started: {error}"))?;
        let changed = Arc::new(Notify::new());
        let handler = Handler { changed: Arc::clone(&changed) };
        let greeted = tokio::select! {
            greeted = timeout(self.bounds.timeout, handler.serve((stdout, stdin))) => greeted,
            status = process.ended() => {
                let why = ended(status.map(|it| it.to_string()), &process);
                process.end().await;
                return Err(why);
            }
        };
        let why = match greeted {
            Ok(Ok(client)) => return Ok(Running { client, process, changed }),
            // A connection that ends is most often a server that did.
            Ok(Err(_)) if let Ok(status) = timeout(MOMENT, process.ended()).await => {
                let why = ended(status.map(|it| it.to_string()), &process);
                process.end().await;
                return Err(why);
            }
            Ok(Err(error)) => {
                let error = error.to_string();
                format!("does not speak the protocol: {}", shortened(&error))
            }
            Err(_) => "did not answer in time".to_owned(),
        };
        let why = format!("{why}{}", process.last_words());
        process.end().await;
        Err(why)
    }

    /// Serves a running server until it or the need for it ends.
    async fn run(&self, running: Running, first: Ask, asks: &mut UnboundedReceiver<Ask>) -> End {
        let Running { mut client, mut process, changed } = running;
        let end = self.follow(&client, &mut process, &changed, first, asks).await;
        // The end of its input tells it to go.
        let _ = client.close_with_timeout(Duration::from_millis(200)).await;
        drop(client);
        process.end().await;
        end
    }

    async fn follow(
        &self,
        client: &RunningService<RoleClient, Handler>,
        process: &mut Process,
        changed: &Notify,
        first: Ask,
        asks: &mut UnboundedReceiver<Ask>,
    ) -> End {
        if let Err(why) = self.list(client).await {
            let why = format!("{why}{}", process.last_words());
            self.refuse(first, &why);
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
                    if let Err(why) = self.list(client).await {
                        return End::Crashed(why);
                    }
                }
                status = process.ended() => {
                    return End::Crashed(ended(status.map(|it| it.to_string()), process));
                }
                () = sleep_until(idle) => {
                    if self.shared.unused() >= self.bounds.idle {
                        return End::Idle;
                    }
                }
            }
            if client.is_closed() {
                return End::Crashed(format!("ended the connection{}", process.last_words()));
            }
        }
    }

    /// Asks for the prompts and makes them known.
    async fn list(&self, client: &RunningService<RoleClient, Handler>) -> Result<(), String> {
        let offers = client.peer().peer_info().is_some_and(|it| it.capabilities.prompts.is_some());
        let listed = if offers {
            match timeout(self.bounds.timeout, client.list_all_prompts()).await {
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
        let prompts: Vec<_> = listed.into_iter().take(MOST).map(|it| self.prompt(it)).collect();
        let prompts = skills(&prompts);
        self.shared.change(&self.name, |it| {
            it.phase = Phase::Ready;
            it.error = None;
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

    /// Answers one ask, on a task of its own where that takes the server.
    fn serve(&self, client: &RunningService<RoleClient, Handler>, ask: Ask) {
        let Ask::Get { prompt, arguments, reply } = ask else { return };
        let (peer, bound, server) = (client.peer().clone(), self.bounds.timeout, self.name.clone());
        let arguments = arguments.into_iter().map(|(name, it)| (name, it.into())).collect();
        let params = GetPromptRequestParams::new(prompt).with_arguments(arguments);
        tokio::spawn(async move {
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
            // Whoever asked may be gone.
            let _ = reply.send(answer);
        });
    }

    fn refuse(&self, ask: Ask, why: &str) {
        if let Ask::Get { reply, .. } = ask {
            let server = self.name.clone();
            // As above.
            let _ = reply.send(Err(PromptError::Unavailable { server, why: why.to_owned() }));
        }
    }

    fn failed(&self, why: &str) {
        tracing::info!(server = self.name, why, "MCP server failed");
        self.shared.change(&self.name, |it| {
            it.phase = if it.prompts.is_some() { Phase::Stale } else { Phase::Failed };
            it.error = Some(why.to_owned());
        });
    }

    /// Waits until it may be started again. Returns what is to be done then; none when nobody
    /// can ask any more.
    async fn rest(
        &self,
        failures: u32,
        why: &str,
        asks: &mut UnboundedReceiver<Ask>,
    ) -> Option<Ask> {
        let wait = FIRST_RETRY.saturating_mul(1 << (failures - 1).min(16)).min(LAST_RETRY);
        let until = Instant::now() + wait;
        loop {
            tokio::select! {
                ask = asks.recv() => self.refuse(ask?, why),
                () = sleep_until(until) => break,
            }
        }
        if self.shared.unused() < self.bounds.idle {
            return Some(Ask::Want);
        }
        // Nobody has needed it for so long: whoever does starts it again.
        self.shared.change(&self.name, |it| it.phase = Phase::Idle);
        asks.recv().await
    }
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

/// Returns the beginning of what a library or a server says, on one line.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 200;
    let line: Vec<_> = text.split_whitespace().collect();
    let line = line.join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
