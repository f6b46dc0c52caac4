//! `skillsd top`: a live view of the daemon, its worktrees, its sessions and their events.
//!
//! Draws after each event of the daemon, each key and each resize, and every second for durations
//! and for changes without an event, such as a worktree that is opened or closed. Restores the
//! terminal on every exit.

mod render;
mod screen;
mod state;

use std::io::{self, IsTerminal as _};
use std::thread;
use std::time::Duration;

use crossterm::event::{self, Event as Input, KeyCode, KeyEventKind, KeyModifiers};
use skills_client::ClientError;
use skills_client::client::Client;
use skills_client::environment;
use skills_client::spawn::StartOptions;
use skills_client::subscription::{Subscription, SubscriptionEvent};
use skills_protocol::wire::SubscribeParams;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::server_connection::ServerConnection;
use render::Renderer;
use screen::Screen;
use state::TopState;

/// Interval of redraws without an event.
const REDRAW: Duration = Duration::from_secs(1);

/// Event that the view reacts to.
enum TopEvent {
    /// Message of the subscription, or its final error.
    Subscription(Box<Result<SubscriptionEvent, ClientError>>),
    /// A key or a resize.
    Input(Input),
    /// Reading keys failed.
    InputError(io::Error),
}

pub(super) fn run(cx: &CommandContext<'_>) -> Result<Exit, CommandError> {
    if cx.global.json {
        return Err(CommandError::usage("`top` has no JSON output")
            .with_hint("Run `skillsd watch --json` or `skillsd status --json`."));
    }
    if cx.global.no_daemon {
        return Err(
            CommandError::usage("`top` needs the daemon").with_hint("Leave out `--no-daemon`.")
        );
    }
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(CommandError::usage("`top` needs a terminal")
            .with_hint("Run `skillsd status` or `skillsd watch` instead."));
    }
    // Reports an incompatible protocol at once.
    ServerConnection::open_following(cx, "top")?.initialize_result()?;
    let client =
        Client::new(StartOptions::new(environment::socket_location().map_err(ClientError::from)?)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(ClientError::from)?;
    let renderer = Renderer { terminal: cx.terminal, colored: cx.terminal.is_colored() };
    let failed = |error: io::Error| {
        CommandError::finding("failed to draw on the terminal").because(error.to_string())
    };
    // `follow` restores the terminal before any error is printed.
    let screen = Screen::open().map_err(failed)?;
    let outcome = runtime.block_on(follow(screen, &renderer, client));
    // The thread that reads keys blocks until the process ends.
    runtime.shutdown_background();
    outcome?;
    Ok(Exit::Fine)
}

async fn follow(
    mut screen: Screen,
    renderer: &Renderer<'_>,
    client: Client,
) -> Result<(), CommandError> {
    let mut state = TopState::new(client.clone());
    let mut events = listen(client);
    loop {
        let drawn = screen.draw(|columns, rows| renderer.frame(&state, columns, rows));
        drawn.map_err(|error| CommandError::output(&error))?;
        let Ok(event) = timeout(REDRAW, events.recv()).await else {
            // If the daemon does not answer, the subscription reports it; keys must not wait for
            // it.
            let _ = timeout(REDRAW, state.update()).await;
            continue;
        };
        match event {
            Some(TopEvent::Subscription(message)) => state.apply(&(*message)?).await?,
            Some(TopEvent::Input(input)) if ends(&input) => return Ok(()),
            Some(TopEvent::Input(input)) if is_key(&input, 'r') => state.update().await?,
            // A resize is drawn in the next iteration, like any other input.
            Some(TopEvent::Input(_)) => {}
            Some(TopEvent::InputError(error)) => return Err(CommandError::output(&error)),
            None => return Ok(()),
        }
    }
}

fn listen(client: Client) -> UnboundedReceiver<TopEvent> {
    let (sender, events) = unbounded_channel();
    let keys = sender.clone();
    thread::spawn(move || read_keys(&keys));
    tokio::spawn(async move {
        let mut subscription = Subscription::new(client, SubscribeParams::default());
        loop {
            let message = subscription.next().await;
            let is_last = message.is_err();
            // The receiver is gone after the view was closed.
            if sender.send(TopEvent::Subscription(Box::new(message))).is_err() || is_last {
                return;
            }
        }
    });
    events
}

fn read_keys(sender: &UnboundedSender<TopEvent>) {
    loop {
        let (event, is_last) = match event::read() {
            Ok(input) => (TopEvent::Input(input), false),
            Err(error) => (TopEvent::InputError(error), true),
        };
        if sender.send(event).is_err() || is_last {
            return;
        }
    }
}

fn ends(input: &Input) -> bool {
    let is_interrupt = matches!(input, Input::Key(key)
        if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL));
    is_interrupt
        || is_key(input, 'q')
        || matches!(input, Input::Key(key) if key.code == KeyCode::Esc)
}

fn is_key(input: &Input, wanted: char) -> bool {
    matches!(input, Input::Key(key)
        if key.code == KeyCode::Char(wanted) && key.kind == KeyEventKind::Press)
}
