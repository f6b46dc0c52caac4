//! `skillsd watch`: prints changes of the skill list until interrupted.
//!
//! Keeps the list of all skills up to date by differences, and prints a line per change, or with
//! `--json` the wire results. After the daemon exits, it connects to the next one and prints the
//! changes in between.

mod lines;

use std::collections::BTreeMap;

use clap::Args;
use serde_json::value::{RawValue, to_raw_value};
use skills_client::ClientError;
use skills_client::client::Client;
use skills_client::environment;
use skills_client::pages::Pages;
use skills_client::spawn::StartOptions;
use skills_client::subscription::{Subscription, SubscriptionEvent};
use skills_protocol::method::{Request as _, SkillsList};
use skills_protocol::wire::{Entry, Event, EventKind, Health, Include, ListParams, ListResult};

use crate::call_context::{CallContext, SessionFlag};
use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::heading;
use crate::server_connection::ServerConnection;

#[derive(Debug, Clone, Args)]
pub struct WatchArgs {
    #[command(flatten)]
    session: SessionFlag,
}

pub(super) fn run(cx: &CommandContext<'_>, args: &WatchArgs) -> Result<Exit, CommandError> {
    if cx.global.no_daemon {
        return Err(
            CommandError::usage("`watch` needs the daemon").with_hint("Leave out `--no-daemon`.")
        );
    }
    let context =
        CallContext::from_args(cx.global, None)?.single_profile()?.with_session(&args.session);
    // Reports an incompatible protocol at once.
    let mut server = ServerConnection::open_following(cx, "watch")?;
    server.initialize_result()?;
    heading::print_choice(cx, &mut server, &context);
    let client =
        Client::new(StartOptions::new(environment::socket_location().map_err(ClientError::from)?)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(ClientError::from)?;
    runtime.block_on(follow(cx, &context, client))?;
    Ok(Exit::Fine)
}

async fn follow(
    cx: &CommandContext<'_>,
    context: &CallContext,
    client: Client,
) -> Result<(), CommandError> {
    let mut subscription = Subscription::new(client.clone(), context.params());
    let mut watched =
        WatchedList { cx, context, client, clock: None, skills: None, health: Vec::new() };
    loop {
        let is_read = match subscription.next().await? {
            SubscriptionEvent::Begun(_) => watched.begin().await?,
            SubscriptionEvent::Event(event) => watched.take(&event).await?,
        };
        if !is_read {
            return Ok(());
        }
    }
}

/// The list of skills by path, as of `clock`.
struct WatchedList<'a> {
    cx: &'a CommandContext<'a>,
    context: &'a CallContext,
    client: Client,
    clock: Option<String>,
    /// `None` before the first list.
    skills: Option<BTreeMap<String, Entry>>,
    health: Vec<Health>,
}

impl WatchedList<'_> {
    /// Fetches changes from before the subscription. Returns false if the output is closed.
    async fn begin(&mut self) -> Result<bool, CommandError> {
        if self.skills.is_some() && !self.cx.global.json {
            self.cx.terminal.print_while_read(&lines::reconnected())?;
        }
        self.update().await
    }

    async fn take(&mut self, event: &Event) -> Result<bool, CommandError> {
        match event.kind {
            EventKind::SkillsChanged | EventKind::HealthChanged => self.update().await,
            // The change of the skill itself is printed instead.
            EventKind::SkillsInvalid | EventKind::DiagnosticsChanged if !self.cx.global.json => {
                Ok(true)
            }
            EventKind::SkillsInvalid
            | EventKind::DiagnosticsChanged
            | EventKind::SessionChanged
            | EventKind::PermissionAsked
            | EventKind::PermissionReplied => {
                let text = if self.cx.global.json {
                    let text = serde_json::to_string(event);
                    let form = |source| ClientError::Form { method: "events/event", source };
                    format!("{}\n", text.map_err(form)?)
                } else {
                    lines::event(event)
                };
                self.cx.terminal.print_while_read(&text)
            }
        }
    }

    async fn update(&mut self) -> Result<bool, CommandError> {
        let params = ListParams {
            include: vec![Include::All],
            since: self.clock.clone(),
            ..self.context.params()
        };
        let (result, raw) = self.fetch_pages(params).await?;
        let mut is_read = true;
        let is_news = result.fresh
            || !(result.skills.is_empty() && result.removed.is_empty())
            || result.health != self.health;
        if self.cx.global.json && is_news {
            is_read = self.cx.terminal.print_while_read(&format!("{raw}\n"))?;
        }
        let first = self.skills.is_none();
        let skills = self.skills.get_or_insert_default();
        let mut text = String::new();
        if result.fresh {
            // Only the differences of a complete list are printed.
            let new = result.skills.into_iter().map(|it| (it.path.clone(), it)).collect();
            text += &if first {
                lines::beginning(self.cx.terminal, self.context, &new)
            } else {
                lines::differences(self.cx.terminal, skills, &new)
            };
            *skills = new;
        } else {
            for gone in &result.removed {
                let old = skills.remove(&gone.path);
                text += &lines::change(self.cx.terminal, old.as_ref(), None);
            }
            for new in result.skills {
                let old = skills.insert(new.path.clone(), new.clone());
                text += &lines::change(self.cx.terminal, old.as_ref(), Some(&new));
            }
        }
        if result.health != self.health {
            text += &lines::health(self.cx.terminal, &result.health);
            self.health = result.health;
        }
        self.clock = Some(result.clock);
        if !self.cx.global.json && !text.is_empty() {
            is_read = self.cx.terminal.print_while_read(&text)?;
        }
        Ok(is_read)
    }

    /// Fetches a list, parsed and as raw JSON, with its pages joined.
    async fn fetch_pages(
        &self,
        params: ListParams,
    ) -> Result<(ListResult, Box<RawValue>), ClientError> {
        let form = |source| ClientError::Form { method: SkillsList::METHOD, source };
        let mut pages = Pages::<SkillsList>::new(params);
        loop {
            let is_first = pages.params().cursor.is_none();
            let answer = self.client.call_text::<SkillsList>(pages.params()).await;
            let mut text = None;
            let answer = answer.and_then(|raw| {
                let page = serde_json::from_str(raw.get()).map_err(form)?;
                text = Some(raw);
                Ok(page)
            });
            if let Some(whole) = pages.take(answer)? {
                let text = match text.filter(|_| is_first) {
                    Some(text) => text,
                    None => to_raw_value(&whole).map_err(form)?,
                };
                return Ok((whole, text));
            }
        }
    }
}
