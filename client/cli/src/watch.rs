//! `skillsd watch`: what changes, as it changes, until somebody has seen enough.
//!
//! Keeps the list of all skills by differences, and prints what became of each: a line for a
//! person, or the wire's results one after the other. A daemon that goes away is followed to the
//! next, and what happened in between is told as well.

mod lines;

use std::collections::BTreeMap;

use clap::Args;
use serde_json::value::{RawValue, to_raw_value};
use skills_protocol::method::{Request as _, SkillsList};
use skills_protocol::wire::{
    Entry, Event, EventKind, Health, Include, ListParams, ListResult, SubscribeParams,
};

use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::link::Link;
use crate::place::{Place, SessionFlag};
use skills_client::ClientError;
use skills_client::client::Client;
use skills_client::environment;
use skills_client::pages::Pages;
use skills_client::spawn::StartOptions;
use skills_client::subscription::{Heard, Subscription};

/// Arguments of `skillsd watch`.
#[derive(Debug, Clone, Args)]
pub struct WatchArgs {
    #[command(flatten)]
    session: SessionFlag,
}

pub(super) fn run(cx: &CommandContext<'_>, args: &WatchArgs) -> Result<Exit, CommandError> {
    if cx.global.no_daemon {
        return Err(CommandError::usage("`watch` needs the daemon, which does the watching")
            .with_hint("Leave out `--no-daemon`."));
    }
    let place = Place::of(cx.global, None)?.single_profile()?.seen_by(&args.session);
    // Says so now when the daemon speaks another protocol.
    Link::open(cx)?.server()?;
    let client =
        Client::new(StartOptions::new(environment::socket_location().map_err(ClientError::from)?)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(ClientError::from)?;
    runtime.block_on(follow(cx, &place, client))?;
    Ok(Exit::Fine)
}

async fn follow(
    cx: &CommandContext<'_>,
    place: &Place,
    client: Client,
) -> Result<(), CommandError> {
    let mut params = SubscribeParams::default();
    place.fill(&mut params, None);
    let mut subscription = Subscription::new(client.clone(), params);
    let mut watched = Watched { cx, place, client, clock: None, skills: None, health: Vec::new() };
    loop {
        let is_read = match subscription.next().await? {
            Heard::Begun(_) => watched.begin().await?,
            Heard::Event(event) => watched.take(&event).await?,
        };
        if !is_read {
            return Ok(());
        }
    }
}

/// The list as it is known, by path.
struct Watched<'a> {
    cx: &'a CommandContext<'a>,
    place: &'a Place,
    client: Client,
    clock: Option<String>,
    /// None before the first list.
    skills: Option<BTreeMap<String, Entry>>,
    health: Vec<Health>,
}

impl Watched<'_> {
    /// Catches up with what happened while nobody listened. Returns whether somebody reads on.
    async fn begin(&mut self) -> Result<bool, CommandError> {
        if self.skills.is_some() && !self.cx.global.json {
            self.cx.terminal.print_while_read(&lines::again())?;
        }
        self.update().await
    }

    async fn take(&mut self, event: &Event) -> Result<bool, CommandError> {
        match event.kind {
            EventKind::SkillsChanged | EventKind::HealthChanged => self.update().await,
            // The change of the skill says as much, and where.
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

    /// Asks what changed, and prints it.
    async fn update(&mut self) -> Result<bool, CommandError> {
        let mut params = ListParams {
            include: vec![Include::All],
            since: self.clock.clone(),
            ..ListParams::default()
        };
        self.place.fill(&mut params, None);
        let (result, raw) = self.ask(params).await?;
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
            // Of a whole list only what differs from what is known is told.
            let new = result.skills.into_iter().map(|it| (it.path.clone(), it)).collect();
            text += &if first {
                lines::beginning(self.cx.terminal, self.place, &new)
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

    /// Asks for a list and returns it, also as it came; where it came in pages, all of them as one.
    async fn ask(&self, params: ListParams) -> Result<(ListResult, Box<RawValue>), ClientError> {
        let form = |source| ClientError::Form { method: SkillsList::METHOD, source };
        let mut pages = Pages::<SkillsList>::of(params);
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
