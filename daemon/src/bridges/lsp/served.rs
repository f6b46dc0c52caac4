//! The language server on the daemon's second socket, for editors that connect to one.
//!
//! Each connection has a server with texts of its own, over the daemon's snapshots. Who may come,
//! and how many, is as on the first socket.
//!
//! What is said of a long text takes its time, and the daemon's workers are for all. So each
//! connection has a thread of its own, with a runtime on it: an editor waits for its own texts alone.

use std::fs;
use std::io;
use std::os::unix::net::UnixListener as StdListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use skills_lsp::Backend;
use skills_protocol::socket::SocketLocation;
use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::{self, Handle};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::link::{BackendMode, Link};
use crate::rpc::server::{Open, Server, is_ours};
use crate::rpc::socket;
use crate::service::Service;

/// How long it rests after a failure to accept, which is most often that no descriptor is left.
const REST: Duration = Duration::from_millis(100);

/// The socket that editors connect to.
pub(crate) struct Place {
    listener: StdListener,
    /// The file to remove at the end; none where the service manager made it.
    made: Option<PathBuf>,
}

impl Place {
    /// Takes over the socket of the service manager, or makes one beside the daemon's, whose lock
    /// this process holds. Without it the daemon serves agents all the same.
    pub(crate) fn take(
        location: &SocketLocation,
        handed_over: Option<StdListener>,
    ) -> Option<Self> {
        if let Some(listener) = handed_over {
            return Some(Self { listener, made: None });
        }
        let path = location.lsp_path();
        match socket::listen(&path) {
            Ok((listener, _)) => Some(Self { listener, made: Some(path) }),
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "editors cannot connect; `skillsd lsp` serves them");
                None
            }
        }
    }

    /// Serves editors until the daemon ends.
    pub(crate) async fn serve(self, service: Arc<Service>) -> io::Result<()> {
        self.listener.set_nonblocking(true)?;
        let listener = UnixListener::from_std(self.listener)?;
        let server = Server::uncounted(&service);
        let uid = rustix::process::getuid().as_raw();
        let mut tasks = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                biased;
                () = service.closing.cancelled() => break,
                accepted = listener.accept() => accepted,
                Some(_) = tasks.join_next() => continue,
            };
            match accepted {
                Ok((stream, _)) if is_ours(&stream, uid) => {
                    let limit = service.settings.limits().connections;
                    if service.open.load(Ordering::Relaxed) >= limit {
                        // It has no words for that; an editor tells that its server has gone.
                        tracing::warn!(limit, "an editor over the limit of connections is refused");
                        continue;
                    }
                    let open = Open::count(&service.open);
                    let closing = service.closing.clone();
                    tasks.spawn(one(stream, Arc::clone(&server), closing, open));
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%error, "failed to accept an editor");
                    sleep(REST).await;
                }
            }
        }
        if let Some(path) = self.made {
            // It may be gone with its directory.
            let _ = fs::remove_file(path);
        }
        Ok(())
    }
}

/// Serves one editor until it goes, or the daemon does.
async fn one(stream: UnixStream, server: Arc<Server>, closing: CancellationToken, open: Open) {
    let daemon = Handle::current();
    // Who waits is told by its end, also where that is a panic.
    let (ending, ended) = oneshot::channel::<()>();
    let serve = move || {
        let _ending = ending;
        if let Err(error) = alone(stream, server, daemon, &closing) {
            tracing::warn!(%error, "failed to serve an editor");
        }
        drop(open);
    };
    match thread::Builder::new().name("editor".to_owned()).spawn(serve) {
        Ok(_) => drop(ended.await),
        Err(error) => tracing::warn!(%error, "there is no thread to serve an editor on"),
    }
}

/// Threads of one editor that wait for the disk at a time.
const MOST_BLOCKING: usize = 4;

/// Serves one editor on this thread. What it asks of the daemon is answered by that one's workers.
fn alone(
    stream: UnixStream,
    server: Arc<Server>,
    daemon: Handle,
    closing: &CancellationToken,
) -> io::Result<()> {
    let stream = stream.into_std()?;
    let runtime = runtime::Builder::new_current_thread()
        .max_blocking_threads(MOST_BLOCKING)
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let (input, output) = UnixStream::from_std(stream)?.into_split();
        let link = Arc::new(Link::new(BackendMode::Served(server, daemon)));
        let serving = skills_lsp::serve(input, output, Arc::clone(&link) as Arc<dyn Backend>);
        if closing.run_until_cancelled(serving).await.is_some() {
            link.close().await;
        }
        Ok(())
    });
    // A look at the disk may hang, and then nobody waits for it.
    runtime.shutdown_background();
    served
}
