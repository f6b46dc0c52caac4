//! `--no-daemon`: the same server within this process, over pairs of connected sockets.
//!
//! [`connect`] serves one command and watches nothing. [`InProcessServer`] serves a long-lived
//! process: it watches as the daemon does, and sends notifications.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use skills_client::blocking::Stream;
use skills_client::directory;
use skills_client::environment::{config_file, socket_location};
use tokio::runtime;

use crate::lifecycle::config_notify;
use crate::lifecycle::daemon::{Daemon, SHUTDOWN_TIMEOUT, boot_id, own_environment};
use crate::request::settings::Settings;
use crate::rpc::server::Server;
use crate::rpc::tasks::spawn;

/// Starts a daemon in this process. Watches for changes if there is a directory for the watcher's
/// cookies.
fn start(boot_id: String, cookies: Option<PathBuf>) -> io::Result<Daemon> {
    let settings = Settings::load(config_file());
    Daemon::start(boot_id, None, settings, cookies, own_environment()).map_err(io::Error::other)
}

/// Runs a server on a thread of its own and returns a connection to it.
pub(crate) fn connect() -> io::Result<Box<dyn Stream>> {
    let (ours, theirs) = UnixStream::pair()?;
    theirs.set_nonblocking(true)?;
    let daemon = start(boot_id(), None)?;
    let server = daemon.server();
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let thread = thread::Builder::new().name("serve".to_owned()).spawn(move || {
        runtime.block_on(async {
            match tokio::net::UnixStream::from_std(theirs) {
                Ok(stream) => server.serve_consent(stream).await,
                // The client sees the closed connection.
                Err(error) => tracing::error!(%error, "failed to serve within this process"),
            }
            daemon.parts.resolver.sessions.store().finish().await;
        });
        // Abandons disk access that does not answer.
        runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
        // Processes that the engine has started end before this process does.
        daemon.parts.resolver.engine.stop();
    })?;
    Ok(Box::new(InProcessStream { stream: ours, thread: Some(thread) }))
}

/// A connection that shuts down its server when it is dropped.
struct InProcessStream {
    stream: UnixStream,
    thread: Option<JoinHandle<()>>,
}

impl Read for InProcessStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }
}

impl Write for InProcessStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl Drop for InProcessStream {
    fn drop(&mut self) {
        // Fails if the other end is already closed.
        let _ = self.stream.shutdown(Shutdown::Both);
        if let Some(thread) = self.thread.take() {
            // The panic hook has reported any panic of the thread.
            let _ = thread.join();
        }
    }
}

/// A server within a long-lived process: it watches for changes and takes any number of
/// connections.
#[derive(Clone)]
pub(crate) struct InProcessServer {
    daemon: Daemon,
    server: Arc<Server>,
    /// True once the task that applies external writes runs.
    is_followed: Arc<AtomicBool>,
    cookies: Option<PathBuf>,
}

impl InProcessServer {
    pub(crate) fn start() -> io::Result<Self> {
        let boot_id = boot_id();
        let cookies = place_for_cookies(&boot_id);
        if cookies.is_none() {
            tracing::warn!("no runtime directory; changes on disk are not watched");
        }
        let daemon = start(boot_id, cookies.clone())?;
        let server = daemon.server();
        Ok(Self { daemon, server, is_followed: Arc::default(), cookies })
    }

    /// Opens a connection with the right to grant, because only this process has it. Must be called
    /// within a runtime.
    pub(crate) fn connect(&self) -> io::Result<UnixStream> {
        let (ours, theirs) = UnixStream::pair()?;
        theirs.set_nonblocking(true)?;
        let theirs = tokio::net::UnixStream::from_std(theirs)?;
        spawn(self.server.serve_consent(theirs));
        if !self.is_followed.swap(true, Ordering::Relaxed) {
            spawn(config_notify::run(Arc::clone(&self.daemon.parts.resolver)));
        }
        Ok(ours)
    }

    /// Stops the engine with its child processes and closes the store. Blocks, so it must not run
    /// on a runtime's worker.
    pub(crate) fn stop(self) {
        let resolver = &self.daemon.parts.resolver;
        resolver.engine.stop();
        resolver.sessions.store().finish_blocking();
        if let Some(cookies) = self.cookies {
            // An empty directory left behind does no harm.
            let _ = std::fs::remove_dir_all(cookies);
        }
    }
}

/// A server within this process, started on first use.
#[derive(Default)]
pub(crate) struct FallbackServer(OnceLock<Option<InProcessServer>>);

impl FallbackServer {
    /// Opens a connection, and starts the server if it does not run. Blocks. Must be called within
    /// a runtime.
    pub(crate) fn connect(&self) -> io::Result<UnixStream> {
        let start = || {
            let failed = |error: &io::Error| tracing::error!(%error, "failed to start an index in this process");
            InProcessServer::start().inspect_err(failed).ok()
        };
        let own = self.0.get_or_init(start).as_ref();
        own.ok_or_else(|| io::ErrorKind::NotConnected.into()).and_then(InProcessServer::connect)
    }

    /// Stops the server if it was started. Blocks.
    pub(crate) fn stop(&self) {
        if let Some(Some(own)) = self.0.get() {
            own.clone().stop();
        }
    }
}

/// Returns a directory beside the socket for this run, never one in a repository.
fn place_for_cookies(boot_id: &str) -> Option<PathBuf> {
    let location = socket_location().ok()?;
    directory::prepare(&location).ok()?;
    Some(location.directory().join(format!("own.cookies.{boot_id}")))
}
