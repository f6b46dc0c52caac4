//! `--no-daemon`: the same server within this process, over pairs of connected sockets.
//!
//! A command asks once and goes, so nothing is watched for it ([`connect`]). What stays ([`InProcessServer`])
//! watches as the daemon does, and tells of changes.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use skills_client::blocking::Stream;
use skills_client::directory;
use skills_client::environment::{cache_directory, config_file, socket_location};
use skills_engine::sessions::store::Store;
use skills_engine::watch::notify_watcher;
use skills_engine::{Engine, Options};
use tokio::runtime::{self, Handle};

use crate::lifecycle::config_notify;
use crate::lifecycle::serve::{LAST_WORK, boot_id, own_environment, sessions};
use crate::lifecycle::settings::Settings;
use crate::rpc::events::Bus;
use crate::rpc::server::Server;
use crate::service::Service;

/// Returns a service over an engine of this process, which watches where there is a place for
/// its cookies.
fn service(boot_id: String, cookies: Option<PathBuf>) -> io::Result<(Engine, Arc<Service>)> {
    let settings = Settings::load(config_file());
    let bus = Arc::<Bus>::default();
    let news = Arc::clone(&bus);
    let engine = Engine::start(Options {
        listener: Some(Box::new(move |update| news.view_changed(update))),
        hints: cookies.map(notify_watcher::recommended),
        read_limit: settings.user().read_limit,
        cache: cache_directory(),
        ..Options::new(boot_id.clone())
    })
    .map_err(io::Error::other)?;
    let (kept, environment) = (engine.clone(), own_environment());
    let service = Service::new(kept, bus, boot_id, None, environment, settings, sessions());
    Ok((engine, service))
}

/// Runs a server on a thread of its own and returns a connection to it.
pub(crate) fn connect() -> io::Result<Box<dyn Stream>> {
    let (ours, theirs) = UnixStream::pair()?;
    theirs.set_nonblocking(true)?;
    let (engine, service) = service(boot_id(), None)?;
    let server = Server::over(&service);
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let thread = thread::Builder::new().name("serve".to_owned()).spawn(move || {
        runtime.block_on(async {
            match tokio::net::UnixStream::from_std(theirs) {
                Ok(stream) => server.serve_consent(stream).await,
                // The other end sees that this one is closed.
                Err(error) => tracing::error!(%error, "failed to serve within this process"),
            }
            service.sessions.store().finish().await;
        });
        // A look at a disk that does not answer is left behind.
        runtime.shutdown_timeout(LAST_WORK);
        // What it has started ends before the process does.
        engine.stop();
    })?;
    Ok(Box::new(Local { stream: ours, thread: Some(thread) }))
}

/// The connection, which ends together with the server at its other end.
struct Local {
    stream: UnixStream,
    thread: Option<JoinHandle<()>>,
}

impl Read for Local {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }
}

impl Write for Local {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        // It fails when the other end is gone already.
        let _ = self.stream.shutdown(Shutdown::Both);
        if let Some(thread) = self.thread.take() {
            // A panic in there has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}

/// A server within a process that stays: it watches, and takes any number of connections.
#[derive(Clone)]
pub(crate) struct InProcessServer {
    engine: Engine,
    store: Store,
    server: Arc<Server>,
    service: Arc<Service>,
    /// Whether what others write is taken up.
    is_followed: Arc<AtomicBool>,
    cookies: Option<PathBuf>,
}

impl InProcessServer {
    /// Starts it.
    pub(crate) fn start() -> io::Result<Self> {
        let boot_id = boot_id();
        let cookies = place_for_cookies(&boot_id);
        if cookies.is_none() {
            tracing::warn!("there is no runtime directory, and so nothing is watched");
        }
        let (engine, service) = service(boot_id, cookies.clone())?;
        let server = Server::over(&service);
        let store = service.sessions.store().clone();
        Ok(Self { engine, store, server, service, is_followed: Arc::default(), cookies })
    }

    /// Returns a new connection to it. Must be called within a runtime. It may grant: only this
    /// process has it.
    pub(crate) fn connect(&self) -> io::Result<UnixStream> {
        let (ours, theirs) = UnixStream::pair()?;
        theirs.set_nonblocking(true)?;
        let theirs = tokio::net::UnixStream::from_std(theirs)?;
        Handle::current().spawn(self.server.serve_consent(theirs));
        if !self.is_followed.swap(true, Ordering::Relaxed) {
            Handle::current().spawn(config_notify::keep(Arc::clone(&self.service)));
        }
        Ok(ours)
    }

    /// Ends it, with what it has started. Waits, and so is no work for a runtime's own threads.
    pub(crate) fn stop(self) {
        self.engine.stop();
        self.store.finish_blocking();
        if let Some(cookies) = self.cookies {
            // An empty directory that stays harms nobody.
            let _ = std::fs::remove_dir_all(cookies);
        }
    }
}

/// A server within this process that is started when it is needed.
#[derive(Default)]
pub(crate) struct FallbackServer(OnceLock<Option<InProcessServer>>);

impl FallbackServer {
    /// Returns a new connection to it, and starts it where it does not run. Waits. Must be called
    /// within a runtime.
    pub(crate) fn connect(&self) -> io::Result<UnixStream> {
        let start = || {
            let failed =
                |error: &io::Error| tracing::error!(%error, "skills cannot be indexed here");
            InProcessServer::start().inspect_err(failed).ok()
        };
        let own = self.0.get_or_init(start).as_ref();
        own.ok_or_else(|| io::ErrorKind::NotConnected.into()).and_then(InProcessServer::connect)
    }

    /// Ends it, if it was started. Waits.
    pub(crate) fn stop(&self) {
        if let Some(Some(own)) = self.0.get() {
            own.clone().stop();
        }
    }
}

/// Returns a directory of this run's own beside the socket, never in a repository.
fn place_for_cookies(boot_id: &str) -> Option<PathBuf> {
    let location = socket_location().ok()?;
    directory::prepare(&location).ok()?;
    Some(location.directory().join(format!("own.cookies.{boot_id}")))
}
