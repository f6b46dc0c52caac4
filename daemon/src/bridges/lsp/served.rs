//! The language server on the daemon's LSP socket, for editors that connect to a socket.
//!
//! Each connection has its own server and documents, over the daemon's snapshots. Peer checks and
//! connection limits are those of the main socket.
//!
//! Analysis of a long document takes time, and the daemon's workers are shared. Each connection
//! therefore has its own thread and runtime, so that an editor only waits for its own documents.

use std::fs;
use std::io;
use std::os::unix::net::UnixListener as StdListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use futures_util::FutureExt;
use skills_engine::watch::service::WatchService;
use skills_lsp::Backend;
use skills_protocol::socket::SocketLocation;
use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::{self, Handle};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::backend::LspBackend;
use super::backend_calls::BackendMode;
use crate::lifecycle::daemon::Daemon;
use crate::rpc::server::{Open, Server, is_ours};
use crate::rpc::socket;

/// Pause after a failed accept; the usual cause is that no descriptor is left.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

pub(crate) struct LspSocket {
    listener: StdListener,
    /// The socket file to remove at exit; none if the service manager created it.
    socket_file: Option<PathBuf>,
}

impl LspSocket {
    /// Takes over the service manager's socket, or creates one beside the daemon's, whose lock this
    /// process holds. On failure the daemon runs without it.
    pub(crate) fn take(
        location: &SocketLocation,
        handed_over: Option<StdListener>,
    ) -> Option<Self> {
        if let Some(listener) = handed_over {
            return Some(Self { listener, socket_file: None });
        }
        let path = location.lsp_path();
        match socket::listen(&path) {
            Ok((listener, _)) => Some(Self { listener, socket_file: Some(path) }),
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(
                    error,
                    "cannot create the LSP socket; editors can still run `skillsd lsp`"
                );
                None
            }
        }
    }

    /// Serves editors until the daemon shuts down.
    pub(crate) async fn serve(self, daemon: Daemon) -> io::Result<()> {
        self.listener.set_nonblocking(true)?;
        let listener = UnixListener::from_std(self.listener)?;
        let server = daemon.uncounted_server();
        let watch = daemon.parts.resolver.engine.watch().clone();
        let uid = rustix::process::getuid().as_raw();
        let mut tasks = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                biased;
                () = daemon.closing().cancelled() => break,
                accepted = listener.accept() => accepted,
                Some(_) = tasks.join_next() => continue,
            };
            match accepted {
                Ok((stream, _)) if is_ours(&stream, uid) => {
                    let limit = daemon.parts.resolver.settings.limits().connections;
                    if daemon.parts.server.open.load(Ordering::Relaxed) >= limit {
                        // LSP has no message for this; the editor reports that the server is gone.
                        tracing::warn!(limit, "refused an editor: too many connections");
                        continue;
                    }
                    let open = Open::count(&daemon.parts.server.open);
                    let closing = daemon.closing().clone();
                    let (server, watch) = (Arc::clone(&server), watch.clone());
                    tasks.spawn(serve_editor(stream, server, watch, closing, open).boxed());
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%error, "failed to accept an editor");
                    sleep(RETRY_PAUSE).await;
                }
            }
        }
        if let Some(path) = self.socket_file {
            // It may already be removed, with its directory.
            let _ = fs::remove_file(path);
        }
        Ok(())
    }
}

/// Serves one editor until it disconnects or the daemon shuts down.
async fn serve_editor(
    stream: UnixStream,
    server: Arc<Server>,
    watch: WatchService,
    closing: CancellationToken,
    open: Open,
) {
    let daemon = Handle::current();
    // Dropping the sender signals the end, also after a panic.
    let (ending, ended) = oneshot::channel::<()>();
    let serve = move || {
        let _ending = ending;
        if let Err(error) =
            serve_on_thread(stream, BackendMode::Served(server, daemon, watch), &closing)
        {
            tracing::warn!(%error, "failed to serve an editor");
        }
        drop(open);
    };
    match thread::Builder::new().name("editor".to_owned()).spawn(serve) {
        Ok(_) => drop(ended.await),
        Err(error) => tracing::warn!(%error, "failed to start a thread for an editor"),
    }
}

/// Maximum number of blocking threads per editor.
const MAX_BLOCKING_THREADS: usize = 4;

/// Serves one editor on this thread. Its calls to the daemon run on the daemon's workers.
fn serve_on_thread(
    stream: UnixStream,
    backend_mode: BackendMode,
    closing: &CancellationToken,
) -> io::Result<()> {
    let stream = stream.into_std()?;
    let runtime = runtime::Builder::new_current_thread()
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let (input, output) = UnixStream::from_std(stream)?.into_split();
        let backend = Arc::new(LspBackend::new(backend_mode));
        let serving = skills_lsp::serve(input, output, Arc::clone(&backend) as Arc<dyn Backend>);
        if closing.run_until_cancelled(serving).await.is_some() {
            backend.close().await;
        }
        Ok(())
    });
    // Disk access may hang, so it is not joined.
    runtime.shutdown_background();
    served
}
