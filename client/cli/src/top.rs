//! `skillsd top`: a live view of the daemon, its worktrees, its agents' conversations, and what
//! happens in them.
//!
//! Draws anew when the daemon tells of something, when a key is pressed or the window changes its
//! size, and each second for the times and for what the daemon does not tell of: that a worktree was
//! opened or closed. The terminal is as it was afterwards, whatever ends the view.

mod known;
mod picture;

use std::io::{self, IsTerminal as _};
use std::thread;
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event as Input, KeyCode, KeyEventKind, KeyModifiers};
use skills_protocol::wire::SubscribeParams;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::link::Link;
use known::Known;
use picture::Picture;
use skills_client::ClientError;
use skills_client::client::Client;
use skills_client::environment;
use skills_client::spawn::StartOptions;
use skills_client::subscription::{Heard, Subscription};

/// How often the view is written anew when nothing is heard.
const SECOND: Duration = Duration::from_secs(1);

/// What can happen.
enum Event {
    /// The daemon has told of something, or cannot be followed any more.
    Heard(Result<Heard, ClientError>),
    /// A key, or another size of the window.
    Input(Input),
    /// Keys cannot be read any more.
    Deaf(io::Error),
}

pub(super) fn run(cx: &CommandContext<'_>) -> Result<Exit, CommandError> {
    if cx.global.json {
        return Err(CommandError::usage("`top` is a view for a person")
            .with_hint("Run `skillsd watch --json` or `skillsd status --json`."));
    }
    if cx.global.no_daemon {
        return Err(CommandError::usage("`top` shows the daemon, and `--no-daemon` has none")
            .with_hint("Leave out `--no-daemon`."));
    }
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(CommandError::usage("`top` needs a terminal")
            .with_hint("Run `skillsd status` for a look, or `skillsd watch` for lines."));
    }
    // Says so now when the daemon speaks another protocol.
    Link::open(cx)?.server()?;
    let client =
        Client::new(StartOptions::new(environment::socket_location().map_err(ClientError::from)?)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(ClientError::from)?;
    let picture = Picture { terminal: cx.terminal, colored: cx.terminal.is_colored() };
    let failed = |error: io::Error| {
        CommandError::finding("the terminal cannot be drawn on").because(error.to_string())
    };
    let mut screen = ratatui::try_init().map_err(failed)?;
    let outcome = runtime.block_on(follow(&mut screen, &picture, client));
    // Before anything is said about the outcome.
    let restored = ratatui::try_restore().map_err(failed);
    // The thread that reads keys waits for one; it ends with the process.
    runtime.shutdown_background();
    outcome?;
    restored?;
    Ok(Exit::Fine)
}

async fn follow(
    screen: &mut DefaultTerminal,
    picture: &Picture<'_>,
    client: Client,
) -> Result<(), CommandError> {
    let mut known = Known::new(client.clone());
    let mut happenings = listen(client);
    loop {
        let drawn = screen
            .draw(|frame| frame.render_widget(picture.of(&known, frame.area()), frame.area()));
        drawn.map_err(|error| CommandError::output(&error))?;
        let Ok(happening) = timeout(SECOND, happenings.recv()).await else {
            // Where nobody answers, the subscription says so, and keys are not kept waiting.
            let _ = timeout(SECOND, known.update()).await;
            continue;
        };
        match happening {
            Some(Event::Heard(heard)) => known.hear(&heard?).await?,
            Some(Event::Input(input)) if ends(&input) => return Ok(()),
            Some(Event::Input(input)) if is_key(&input, 'r') => known.update().await?,
            // A window of another size is drawn anew, whatever the key was.
            Some(Event::Input(_)) => {}
            Some(Event::Deaf(error)) => return Err(CommandError::output(&error)),
            None => return Ok(()),
        }
    }
}

fn listen(client: Client) -> UnboundedReceiver<Event> {
    let (sender, happenings) = unbounded_channel();
    let keys = sender.clone();
    thread::spawn(move || read_keys(&keys));
    tokio::spawn(async move {
        let mut subscription = Subscription::new(client, SubscribeParams::default());
        loop {
            let heard = subscription.next().await;
            let is_last = heard.is_err();
            // Nobody listens any more when the view has been closed.
            if sender.send(Event::Heard(heard)).is_err() || is_last {
                return;
            }
        }
    });
    happenings
}

fn read_keys(sender: &UnboundedSender<Event>) {
    loop {
        let (happening, is_last) = match event::read() {
            Ok(input) => (Event::Input(input), false),
            Err(error) => (Event::Deaf(error), true),
        };
        if sender.send(happening).is_err() || is_last {
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
