//! `skillsd serve`: the daemon from start to exit.
//!
//! Claims the socket, starts the engine, listens and announces it. On shutdown it releases the
//! socket, finishes the calls in flight and exits. It stays in the foreground; the process that
//! started it owns it.

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
use skills_engine::sessions::registry::Sessions;
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
use crate::bridges::lsp::served::LspSocket;
use crate::lifecycle::config_notify;
use crate::lifecycle::log;
use crate::lifecycle::settings::Settings;
use crate::lifecycle::shutdown_monitor::ShutdownMonitor;
use crate::lifecycle::watchdog;
use crate::rpc::events::Bus;
use crate::rpc::server::{Rights, Server, drain};
use crate::rpc::socket::{ClaimError, Endpoint, HandedOver, Listeners};
use crate::service::Service;

/// File name of the session store.
const SESSIONS: &str = "sessions.db";

/// Size of the blocking pool, for disk access and child processes. With the threads of heavy calls,
/// the engine and the store, the daemon has at most 32.
const MAX_BLOCKING_THREADS: usize = 14;

/// Time that work on the blocking pool may continue after everything else has ended.
pub(crate) const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Options of `skillsd serve`.
#[derive(Debug, Clone)]
pub(crate) struct ServeOptions {
    /// True if a client started the daemon, and exits once it listens.
    pub(crate) spawned: bool,
    /// Log filter; takes precedence over the variable and the configuration.
    pub(crate) log: Option<String>,
}

/// An error that keeps the daemon from serving.
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

/// Runs the daemon until it shuts down.
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
    // Must come first: it changes the environment, which is unsound with other threads running.
    let mut sockets = ListenFd::from_env();
    let main = sockets.take_unix_listener(0).map_err(ServeError::HandedOver)?;
    // A systemd unit of an older version passes one or two sockets.
    let for_editors = sockets.take_unix_listener(1).ok().flatten();
    let consent = sockets.take_unix_listener(2).ok().flatten();
    if options.spawned {
        // Fails if we lead a process group already. Then we are out of the client's group anyway.
        let _ = rustix::process::setsid();
    }
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let settings = Settings::load(config_file());
    log::init(options.log.as_deref(), &settings.user(), options.spawned);
    for health in settings.health(None) {
        tracing::warn!(path = ?health.path, "configuration: {}", health.message);
    }
    let location = environment::socket_location()?;
    // The lock comes before anything that two daemons must not both do.
    let mut endpoint = Endpoint::claim(&location, HandedOver { main, consent })?;
    let editors = LspSocket::take(&location, for_editors);
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
    let listeners = endpoint.take_listeners().expect("not taken yet");
    let life = Life { location: &location, service: &service, spawned: options.spawned };
    let result = runtime.block_on(life.live(&mut endpoint, listeners, editors));
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    engine.stop();
    // A failure does no harm: the next daemon removes them.
    let _ = std::fs::remove_dir_all(cookies);
    result.map_err(ServeError::Start)?;
    tracing::info!("ended");
    Ok(if service.has_failed() { Exit::Bug } else { Exit::Fine })
}

/// Returns a cookie directory for this run alone, and removes those left by killed daemons. A
/// daemon that lost its socket must not remove its successor's.
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
            // An empty directory left behind does no harm.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    location.directory().join(name(&format!(".cookies.{boot_id}")))
}

fn runtime() -> io::Result<Runtime> {
    runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .thread_name("serve")
        .enable_all()
        .build()
}

/// Returns a unique id of this run: no two processes of a user share process id and nanosecond.
pub(crate) fn boot_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", now.as_nanos(), std::process::id())
}

/// Returns the session store in the state directory; without such a directory, sessions end with
/// this process.
pub(crate) fn sessions() -> Sessions {
    let path = environment::state_directory().map(|it| it.join(SESSIONS));
    Sessions::new(Store::new(path))
}

/// Returns this process's values of the environment variables that discovery depends on.
pub(crate) fn own_environment() -> skills_discovery::discover::Environment {
    environment::discovery().into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The parts of the running daemon.
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
        editors: Option<LspSocket>,
    ) -> io::Result<()> {
        listeners.main.set_nonblocking(true)?;
        listeners.consent.set_nonblocking(true)?;
        let listener = UnixListener::from_std(listeners.main)?;
        let consent = UnixListener::from_std(listeners.consent)?;
        let server = Server::over(self.service);
        watch_signals(self.service.closing.clone(), self.spawned)?;
        let monitor = ShutdownMonitor {
            service: Arc::clone(self.service),
            server: Arc::clone(&server),
            socket_identity: endpoint.socket_identity(),
            spawned: self.spawned,
        };
        tokio::spawn(monitor.run());
        tokio::spawn(auto_touch::run(Arc::clone(self.service)));
        tokio::spawn(config_notify::run(Arc::clone(self.service)));
        let editors = editors.map(|it| tokio::spawn(it.serve(Arc::clone(self.service))));
        self.tell_ready();
        if let Some(limit) = sd_notify::watchdog_enabled() {
            tokio::spawn(watchdog::run(Arc::clone(self.service), limit));
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
            // It has removed its socket by then, and logged its failures.
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
            tracing::warn!(%error, "failed to notify the service manager of readiness");
        }
        if self.spawned {
            // The client that waits for it may be gone.
            let _ = writeln!(io::stdout(), "{READY}");
            if let Err(error) = close_standard_streams() {
                tracing::warn!(%error, "failed to close standard input and output");
            }
        }
    }
}

/// Redirects standard input and output to `/dev/null`: the client that started us sees end of file,
/// and no other file gets their descriptors.
fn close_standard_streams() -> io::Result<()> {
    let nothing = File::options().read(true).write(true).open(Path::new("/dev/null"))?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok(())
}

/// Shuts the daemon down on a signal. Must be called within the runtime.
fn watch_signals(closing: CancellationToken, spawned: bool) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => break,
                _ = interrupt.recv() => break,
                // The client's terminal was closed, which must not end a daemon that it started.
                _ = hang_up.recv() => if !spawned { break },
            }
        }
        tracing::info!("shutting down after a signal");
        closing.cancel();
    });
    Ok(())
}
