//! `skillsd serve`: the daemon from start to exit.
//!
//! Claims the socket, starts the engine, listens and announces it. On shutdown it releases the
//! socket, finishes the calls in flight and exits. It stays in the foreground; the process that
//! started it owns it.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use listenfd::ListenFd;
use rustix::fs::Mode;
use sd_notify::NotifyState;
use skills_cli::exit::Exit;
use skills_client::environment::{self, config_file};
use skills_client::spawn::READY;
use skills_engine::EngineError;
use skills_platform::descriptors::{close_inherited, raise_limit};
use skills_protocol::socket::{SocketError, SocketLocation};
use tokio::net::UnixListener;
use tokio::runtime::{self, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::access::sealed_copy;
use crate::api::auto_touch;
use crate::api::parts::Parts;
use crate::bridges::lsp::served::LspSocket;
use crate::lifecycle::config_notify;
use crate::lifecycle::daemon::{
    Daemon, SHUTDOWN_TIMEOUT, boot_id, environment_of_spawned, own_environment,
};
use crate::lifecycle::shutdown_monitor::ShutdownMonitor;
use crate::lifecycle::watchdog;
use crate::log;
use crate::log::LogTarget;
use crate::request::settings::Settings;
use crate::rpc::server::{Rights, drain};
use crate::rpc::socket::{ClaimError, Endpoint, HandedOver, Listeners};
use crate::rpc::tasks::spawn;

/// Size of the blocking pool, for disk access and child processes. With the threads of heavy calls,
/// the engine and the store, the daemon has at most 32.
const MAX_BLOCKING_THREADS: usize = 12;

#[derive(Debug, Clone)]
pub(crate) struct ServeOptions {
    /// True if a client started the daemon, and exits once it listens.
    pub(crate) spawned: bool,
    /// Takes precedence over the variable and the configuration.
    pub(crate) log: Option<String>,
}

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
    let taken = [&main, &for_editors, &consent];
    close_inherited(&taken.map(|it| it.as_ref().map_or(-1, AsRawFd::as_raw_fd)));
    raise_limit();
    if options.spawned {
        // Fails if we lead a process group already. Then we are out of the client's group anyway.
        let _ = rustix::process::setsid();
    }
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let settings = Settings::load(config_file());
    let in_files = options.spawned || log::is_discarded();
    let target = if in_files { LogTarget::Files } else { LogTarget::StandardError };
    log::init(options.log.as_deref(), &settings.user(), target);
    for health in settings.health(None) {
        tracing::warn!(path = ?health.path, "configuration: {}", health.message);
    }
    let (asked, limit) = (settings.user().connections, settings.limits().connections);
    if u64::from(limit) < asked {
        tracing::warn!(
            "`limits.connections` is {asked}, but the limit of open files allows only {limit}; raise it with `ulimit -Hn`"
        );
    }
    let location = environment::socket_location()?;
    // The lock comes before anything that two daemons must not both do.
    let mut endpoint = Endpoint::claim(&location, HandedOver { main, consent })?;
    let editors = LspSocket::take(&location, for_editors);
    sealed_copy::remove_stale(location.directory());
    let boot_id = boot_id();
    let cookies = cookie_directory(&location, &boot_id);
    let socket = Some(location.path().to_owned());
    let environment = if options.spawned { environment_of_spawned() } else { own_environment() };
    let daemon = Daemon::start(boot_id, socket, settings, Some(cookies.clone()), environment)?;
    let resolver = &daemon.parts.resolver;
    resolver.sessions.store().open_existing();
    let runtime = runtime().map_err(ServeError::Start)?;
    let listeners = endpoint.take_listeners().expect("not taken yet");
    let life = Life { location: &location, daemon: &daemon, spawned: options.spawned, target };
    let result = runtime.block_on(life.live(&mut endpoint, listeners, editors));
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    resolver.engine.stop();
    // A failure does no harm: the next daemon removes them.
    let _ = std::fs::remove_dir_all(cookies);
    result.map_err(ServeError::Start)?;
    tracing::info!("ended");
    Ok(if resolver.shutdown.has_failed() { Exit::Bug } else { Exit::Fine })
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

struct Life<'a> {
    location: &'a SocketLocation,
    daemon: &'a Daemon,
    spawned: bool,
    target: LogTarget,
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
        let Parts { resolver, sessions, .. } = &self.daemon.parts;
        let server = self.daemon.server();
        watch_signals(self.daemon.closing().clone(), self.spawned)?;
        let monitor = ShutdownMonitor {
            daemon: self.daemon.clone(),
            server: Arc::clone(&server),
            socket_identity: endpoint.socket_identity(),
            spawned: self.spawned,
        };
        spawn(monitor.run());
        spawn(auto_touch::run(Arc::clone(sessions)));
        spawn(config_notify::run(Arc::clone(resolver)));
        let editors = editors.map(|it| {
            let serving = it.serve(self.daemon.clone());
            spawn(async move {
                if let Err(error) = serving.await {
                    tracing::warn!(%error, "cannot serve editors");
                }
            })
        });
        self.tell_ready();
        if let Some(limit) = sd_notify::watchdog_enabled() {
            spawn(watchdog::run(Arc::clone(resolver), limit));
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
        resolver.sessions.store().finish().await;
        Ok(())
    }

    fn tell_ready(&self) {
        if self.target == LogTarget::Files {
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
    spawn(async move {
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
