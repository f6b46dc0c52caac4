//! `skillsd serve`: the daemon's life from its start to its exit.
//!
//! The order is: claim the place, start the engine, listen, say so; then, when told to end, let
//! go of the place, answer what has begun, and end. It stays in the foreground; whoever started
//! it owns the process.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use listenfd::ListenFd;
use rustix::fs::Mode;
use sd_notify::NotifyState;
use skills_cli::exit::Exit;
use skills_client::environment::{self, cache_directory, config_file};
use skills_client::spawn::READY;
use skills_engine::sessions::session::Sessions;
use skills_engine::sessions::store::Store;
use skills_engine::watch::notify_watcher;
use skills_engine::{Engine, EngineError, Options};
use skills_protocol::socket::{SocketError, SocketLocation};
use tokio::net::UnixListener;
use tokio::runtime::{self, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::access::sealed_copy;
use crate::api::auto_touch;
use crate::bridges::lsp::served::Place;
use crate::lifecycle::config_notify;
use crate::lifecycle::log;
use crate::lifecycle::settings::Settings;
use crate::lifecycle::shutdown_monitor::ShutdownMonitor;
use crate::lifecycle::watchdog;
use crate::rpc::events::Bus;
use crate::rpc::server::{Rights, Server, drain};
use crate::rpc::socket::{ClaimError, Endpoint, HandedOver, Listeners};
use crate::service::Service;

/// What the file of the conversations is called.
const SESSIONS: &str = "sessions.db";

/// Threads that wait for the disk or a program at a time. With those of heavy calls, of the
/// engine and of the store the daemon has 32 at most.
const MOST_BLOCKING: usize = 14;

/// How long work on the blocking pool may go on after everything else has ended.
pub(crate) const LAST_WORK: Duration = Duration::from_secs(1);

/// How the daemon is run.
#[derive(Debug, Clone)]
pub(crate) struct ServeOptions {
    /// Whether a client started it, waits until it listens, and goes.
    pub(crate) spawned: bool,
    /// How much is logged, before what variable and configuration say.
    pub(crate) log: Option<String>,
}

/// Why the daemon cannot serve.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error(transparent)]
    Location(#[from] SocketError),
    #[error(transparent)]
    Claim(#[from] ClaimError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("failed to take over the socket of the service manager")]
    HandedOver(#[source] io::Error),
    #[error("failed to start")]
    Start(#[source] io::Error),
}

impl ServeError {
    fn exit(&self) -> Exit {
        match self {
            Self::Claim(ClaimError::AlreadyRunning { .. }) => Exit::Findings,
            Self::Location(_)
            | Self::Claim(_)
            | Self::Engine(_)
            | Self::HandedOver(_)
            | Self::Start(_) => Exit::NoDaemon,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Claim(error) => error.hint(),
            Self::Location(_) => Some(
                "Set SKILLSD_SOCKET to a short absolute path in a directory that you own."
                    .to_owned(),
            ),
            Self::Engine(_) | Self::HandedOver(_) | Self::Start(_) => None,
        }
    }
}

/// Runs the daemon until it is told to end.
pub(crate) fn run(options: &ServeOptions) -> ExitCode {
    let exit = serve(options).unwrap_or_else(|error| {
        let hint = error.hint();
        let exit = error.exit();
        log::print_error(&error, hint.as_deref());
        exit
    });
    exit.into()
}

fn serve(options: &ServeOptions) -> Result<Exit, ServeError> {
    // First of all: it changes the environment, which no other thread may see happen.
    let mut sockets = ListenFd::from_env();
    let main = sockets.take_unix_listener(0).map_err(ServeError::HandedOver)?;
    // A unit of an older version lists one or two sockets.
    let for_editors = sockets.take_unix_listener(1).ok().flatten();
    let consent = sockets.take_unix_listener(2).ok().flatten();
    if options.spawned {
        // It fails for the leader of a process group, which whoever started us made us then;
        // out of that one's group we are all the same.
        let _ = rustix::process::setsid();
    }
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let settings = Settings::load(config_file());
    log::init(options.log.as_deref(), &settings.user(), options.spawned);
    for unwell in settings.health(None) {
        tracing::warn!(path = ?unwell.path, "configuration: {}", unwell.message);
    }
    let location = environment::socket_location()?;
    // The lock comes before anything that two daemons would do twice.
    let mut endpoint = Endpoint::claim(&location, HandedOver { main, consent })?;
    let editors = Place::take(&location, for_editors);
    sealed_copy::remove_stale(location.directory());
    let boot_id = boot_id();
    let cookies = cookie_directory(&location, &boot_id);
    let bus = Arc::<Bus>::default();
    let news = Arc::clone(&bus);
    let engine = Engine::start(Options {
        listener: Some(Box::new(move |update| news.view_changed(update))),
        hints: Some(notify_watcher::recommended(cookies.clone())),
        read_limit: settings.user().read_limit,
        cache: cache_directory(),
        ..Options::new(boot_id.clone())
    })?;
    let socket = Some(location.path().to_owned());
    let sessions = sessions();
    sessions.store().look();
    let (ours, environment) = (engine.clone(), own_environment());
    let service = Service::new(ours, bus, boot_id, socket, environment, settings, sessions);
    let runtime = runtime().map_err(ServeError::Start)?;
    let listeners = endpoint.take_listeners().expect("nobody has taken them since they were made");
    let life = Life { location: &location, service: &service, spawned: options.spawned };
    let result = runtime.block_on(life.live(&mut endpoint, listeners, editors));
    runtime.shutdown_timeout(LAST_WORK);
    engine.stop();
    // Without them it is as well; the next daemon makes them anew.
    let _ = std::fs::remove_dir_all(cookies);
    result.map_err(ServeError::Start)?;
    tracing::info!("ended");
    Ok(if service.has_failed() { Exit::Bug } else { Exit::Fine })
}

/// Returns a directory for this run alone. One that lost its place must not remove its
/// successor's, and what a killed one left is removed by the next.
fn cookie_directory(location: &SocketLocation, boot_id: &str) -> PathBuf {
    let lock = location.daemon_lock();
    let name = |suffix: &str| {
        let mut name = lock.file_stem().unwrap_or_default().to_owned();
        name.push(suffix);
        name
    };
    let mark = name(".cookies.");
    for entry in std::fs::read_dir(location.directory()).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(mark.as_encoded_bytes()) {
            // One that stays is empty and harms nobody.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    location.directory().join(name(&format!(".cookies.{boot_id}")))
}

fn runtime() -> io::Result<Runtime> {
    runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(MOST_BLOCKING)
        .thread_name("serve")
        .enable_all()
        .build()
}

/// Names this run: no two of one user begin in the same nanosecond with the same process id.
pub(crate) fn boot_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", now.as_nanos(), std::process::id())
}

/// Returns the conversations that are kept in the state directory; without one they end with
/// this process.
pub(crate) fn sessions() -> Sessions {
    let path = environment::state_directory().map(|it| it.join(SESSIONS));
    Sessions::new(Store::new(path))
}

/// Returns the variables that discovery depends on, as this process sees them.
pub(crate) fn own_environment() -> crate::rpc::peer::Environment {
    environment::discovery().into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What the running daemon is made of.
struct Life<'a> {
    location: &'a SocketLocation,
    service: &'a Arc<Service>,
    spawned: bool,
}

impl Life<'_> {
    async fn live(
        &self,
        endpoint: &mut Endpoint,
        listeners: Listeners,
        editors: Option<Place>,
    ) -> io::Result<()> {
        listeners.main.set_nonblocking(true)?;
        listeners.consent.set_nonblocking(true)?;
        let listener = UnixListener::from_std(listeners.main)?;
        let consent = UnixListener::from_std(listeners.consent)?;
        let server = Server::over(self.service);
        watch_signals(self.service.closing.clone(), self.spawned)?;
        let vigil = ShutdownMonitor {
            service: Arc::clone(self.service),
            server: Arc::clone(&server),
            socket_identity: endpoint.socket_identity(),
            spawned: self.spawned,
        };
        tokio::spawn(vigil.keep());
        tokio::spawn(auto_touch::keep(Arc::clone(self.service)));
        tokio::spawn(config_notify::keep(Arc::clone(self.service)));
        let editors = editors.map(|it| tokio::spawn(it.serve(Arc::clone(self.service))));
        self.tell_ready();
        if let Some(limit) = sd_notify::watchdog_enabled() {
            tokio::spawn(watchdog::keep(Arc::clone(self.service), limit));
        }
        let (asking, granting) = tokio::join!(
            server.accept(&listener, Rights::Ask),
            server.accept(&consent, Rights::Grant),
        );
        // Fails without a service manager.
        let _ = sd_notify::notify(&[NotifyState::Stopping]);
        endpoint.retire();
        drop((listener, consent));
        if let Some(editors) = editors {
            // It has removed its socket then; what it could not do is logged.
            let _ = editors.await;
        }
        tokio::join!(drain(asking), drain(granting));
        self.service.sessions.store().finish().await;
        Ok(())
    }

    fn tell_ready(&self) {
        if self.spawned {
            log::move_to_state_directory();
        }
        tracing::info!(socket = %self.location.path().display(), pid = std::process::id(), "listening");
        if let Err(error) = sd_notify::notify(&[NotifyState::Ready]) {
            tracing::warn!(%error, "failed to tell the service manager that it is ready");
        }
        if self.spawned {
            // Whoever waits for it may be gone.
            let _ = writeln!(io::stdout(), "{READY}");
            if let Err(error) = close_standard_streams() {
                tracing::warn!(%error, "failed to let go of standard input and output");
            }
        }
    }
}

/// Puts nothing in the place of standard input and output, so that the client that started us
/// sees their end, and nothing else is opened under their numbers.
fn close_standard_streams() -> io::Result<()> {
    let nothing = File::options().read(true).write(true).open(Path::new("/dev/null"))?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok(())
}

/// Ends the daemon in order when it is told to. Must be called within the runtime.
fn watch_signals(closing: CancellationToken, spawned: bool) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => break,
                _ = interrupt.recv() => break,
                // The terminal of whoever started us is closed, which is not meant for us.
                _ = hang_up.recv() => if !spawned { break },
            }
        }
        tracing::info!("told to end by a signal");
        closing.cancel();
    });
    Ok(())
}
