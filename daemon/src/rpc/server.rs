//! [`Server`]: accepts connections and enforces the limits over all of them.
//!
//! A connection of another user is dropped before any byte of it is read.

use std::future::Future;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt};
use jsonrpsee::Methods;
use skills_protocol::error::RpcError;
use skills_protocol::frame::Framing;
use skills_protocol::limits::Limits;
use skills_protocol::method::{Initialize, Request, ServerShutdown, ServerStatus};
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::rpc::connection::{ClientStream, Connection};
use crate::rpc::dispatch::{Reply, refusing};
use crate::rpc::outbox::Outbox;
use crate::rpc::peer::ClientPeer;

/// Time for calls in flight to finish when the daemon exits.
const DRAIN: Duration = Duration::from_secs(5);

/// Pause after a failed accept, which means that descriptors or memory are short.
const ACCEPT_REST: Duration = Duration::from_millis(100);

/// Number of connections beyond the limit that may only ask for status or stop the daemon.
const SPARE: u32 = 8;

/// Methods that connections beyond the limit may call.
const SPARE_METHODS: [&str; 3] = [Initialize::METHOD, ServerStatus::METHOD, ServerShutdown::METHOD];

/// Maximum lifetime of a connection beyond the limit.
const SPARE_TIME: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rights {
    /// May query; cannot grant anything.
    Ask,
    /// May also answer for the user.
    Grant,
}

/// State shared by all connections.
pub(crate) struct Server {
    methods: Methods,
    /// Returns the current limits; called for every new connection.
    limits: Box<dyn Fn() -> Limits + Send + Sync>,
    closing: CancellationToken,
    open: Arc<AtomicU32>,
    served: AtomicUsize,
}

impl Server {
    /// Creates a server that serves until `closing` and counts its connections in `open`.
    pub(crate) fn new(
        methods: Methods,
        limits: impl Fn() -> Limits + Send + Sync + 'static,
        closing: CancellationToken,
        open: Arc<AtomicU32>,
    ) -> Arc<Self> {
        let limits = Box::new(limits);
        Arc::new(Self { methods, limits, closing, open, served: AtomicUsize::new(0) })
    }

    pub(crate) fn served(&self) -> usize {
        self.served.load(Ordering::Relaxed)
    }

    /// Serves one stream until either side ends it.
    pub(crate) fn serve_stream<S: ClientStream>(
        &self,
        stream: S,
    ) -> impl Future<Output = ()> + Send + use<S> {
        self.serve_with(stream, self.methods.clone(), Rights::Ask)
    }

    /// Serves one stream that may answer for the user, until either side ends it.
    pub(crate) fn serve_consent<S: ClientStream>(
        &self,
        stream: S,
    ) -> impl Future<Output = ()> + Send + use<S> {
        self.serve_with(stream, self.methods.clone(), Rights::Grant)
    }

    fn serve_with<S: ClientStream>(
        &self,
        stream: S,
        methods: Methods,
        rights: Rights,
    ) -> impl Future<Output = ()> + Send + use<S> {
        let id = self.served.fetch_add(1, Ordering::Relaxed) + 1;
        let peer = Arc::new(match rights {
            Rights::Ask => ClientPeer::new(id),
            Rights::Grant => ClientPeer::granting(id),
        });
        let connection = Connection::new(stream, methods, (self.limits)(), peer, &self.closing);
        let open = Open::count(&self.open);
        async move {
            let _open = open;
            if let Err(error) = connection.run().await {
                tracing::debug!(connection = id, %error, "connection lost");
            }
        }
    }

    /// Accepts connections until the daemon exits. Returns the tasks of the connections still open.
    pub(crate) async fn accept(&self, listener: &UnixListener, rights: Rights) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        let uid = rustix::process::getuid().as_raw();
        loop {
            let accepted = tokio::select! {
                biased;
                () = self.closing.cancelled() => return tasks,
                accepted = listener.accept() => accepted,
                Some(_) = tasks.join_next() => continue,
            };
            match accepted {
                Ok((stream, _)) => self.admit(stream, uid, rights, &mut tasks),
                Err(error) => {
                    tracing::warn!(%error, "failed to accept a connection");
                    sleep(ACCEPT_REST).await;
                }
            }
        }
    }

    fn admit(&self, stream: UnixStream, uid: u32, rights: Rights, tasks: &mut JoinSet<()>) {
        if !is_ours(&stream, uid) {
            return;
        }
        let limit = (self.limits)().connections;
        let open = self.open.load(Ordering::Relaxed);
        // Leaves room for the user's answers when agents hold every connection.
        let own = if rights == Rights::Grant { 2 * SPARE } else { 0 };
        if open < limit + own {
            tasks.spawn(self.serve_with(stream, self.methods.clone(), rights).boxed());
            return;
        }
        tracing::warn!(limit, "connection over the limit refused");
        let error = RpcError::too_many_connections(limit);
        if open - limit < SPARE {
            let methods = refusing(&self.methods, &SPARE_METHODS, &error);
            let serving = self.serve_with(stream, methods, Rights::Ask);
            // The client has its error; the slot is needed for others.
            tasks.spawn(async move { drop(timeout(SPARE_TIME, serving).await) }.boxed());
        } else {
            tasks.spawn(refuse(stream, error).boxed());
        }
    }
}

/// Returns true if the connection belongs to this user. Logs connections of others.
pub(crate) fn is_ours(stream: &UnixStream, uid: u32) -> bool {
    match stream.peer_cred() {
        Ok(peer) if peer.uid() == uid => true,
        Ok(peer) => {
            tracing::warn!(uid = peer.uid(), "connection of another user refused");
            false
        }
        Err(error) => {
            tracing::warn!(%error, "connection of an unknown user refused");
            false
        }
    }
}

/// Waits up to [`DRAIN`] for connections to end.
pub(crate) async fn drain(mut tasks: JoinSet<()>) {
    let all = async { while tasks.join_next().await.is_some() {} };
    if timeout(DRAIN, all).await.is_err() {
        tracing::warn!(connections = tasks.len(), "calls were still running and are cancelled");
    }
}

/// Sends an error without reading the peer's request or waiting for it to read.
async fn refuse(mut stream: UnixStream, error: RpcError) {
    let mut outbox = Outbox::default();
    outbox.push(Framing::ContentLength, Reply::error(None, error));
    // Fails if the peer does not read; the connection is dropped either way.
    let _ = timeout(ACCEPT_REST, std::future::poll_fn(|cx| outbox.poll_write_out(&mut stream, cx)))
        .await;
    let _ = stream.shutdown().await;
}

/// Counts a connection until it is dropped.
pub(crate) struct Open(Arc<AtomicU32>);

impl Open {
    pub(crate) fn count(open: &Arc<AtomicU32>) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(open))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ClientStream for UnixStream {
    fn hang_up(&self) -> BoxFuture<'static, ()> {
        // A duplicate descriptor has its own readiness, so the stream's stays untouched.
        let fd = self.as_fd().try_clone_to_owned();
        async move {
            if let Err(error) = wait_for_hang_up(fd).await {
                tracing::debug!(%error, "cannot watch for a hang-up of the peer");
                std::future::pending::<()>().await;
            }
        }
        .boxed()
    }
}

async fn wait_for_hang_up(fd: io::Result<OwnedFd>) -> io::Result<()> {
    let stream = UnixStream::from_std(fd?.into())?;
    loop {
        if stream.ready(Interest::WRITABLE).await?.is_write_closed() {
            return Ok(());
        }
        // Clears the readiness, so that the next turn waits for a change.
        let _: io::Result<()> =
            stream.try_io(Interest::WRITABLE, || Err(io::ErrorKind::WouldBlock.into()));
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::io::{Read, Write};
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixStream as BlockingStream;
    use std::path::PathBuf;
    use std::sync::atomic::AtomicBool;

    use rustix::process::Uid;
    use rustix::thread::set_thread_res_uid;
    use skills_protocol::method::ServerSync;
    use skills_protocol::wire::{StatusParams, SyncParams};
    use tempfile::TempDir;
    use tokio::io::AsyncReadExt;
    use tokio::task::{JoinHandle, spawn_blocking};
    use tokio::time::Instant;

    use super::*;
    use crate::needs_root::left_out;
    use crate::rpc::answer::{Answer, Outcome};
    use crate::rpc::dispatch::{MethodCall, register};

    #[derive(Default)]
    struct Bench {
        begun: AtomicBool,
        given_up: AtomicBool,
    }

    struct GivesUp(Arc<Bench>);

    impl Drop for GivesUp {
        fn drop(&mut self) {
            self.0.given_up.store(true, Ordering::SeqCst);
        }
    }

    async fn immediate(_: MethodCall<Bench, StatusParams>) -> Outcome {
        Answer::new(&"status")
    }

    async fn endless(call: MethodCall<Bench, SyncParams>) -> Outcome {
        let bench = call.parts;
        let _gives_up = GivesUp(bench);
        std::future::pending().await
    }

    async fn slow(call: MethodCall<Bench, SyncParams>) -> Outcome {
        let bench = call.parts;
        bench.begun.store(true, Ordering::SeqCst);
        sleep(Duration::from_millis(20)).await;
        Answer::new(&"sync")
    }

    /// A server at a socket that every user can reach, so that only its own check refuses others.
    struct Rig {
        top: TempDir,
        bench: Arc<Bench>,
        server: Arc<Server>,
        accepting: JoinHandle<JoinSet<()>>,
    }

    fn rig_with(limits: Limits, register_sync: fn(&mut Methods, &Arc<Bench>)) -> Rig {
        let top = TempDir::new().unwrap();
        fs::set_permissions(top.path(), Permissions::from_mode(0o755)).unwrap();
        let listener = UnixListener::bind(top.path().join("sock")).unwrap();
        fs::set_permissions(top.path().join("sock"), Permissions::from_mode(0o666)).unwrap();
        let bench = Arc::new(Bench::default());
        let mut methods = Methods::new();
        register::<ServerStatus, _, _, _>(&mut methods, &bench, immediate);
        register_sync(&mut methods, &bench);
        let server = Server::new(methods, move || limits, CancellationToken::new(), Arc::default());
        let accepting = tokio::spawn({
            let server = Arc::clone(&server);
            async move { server.accept(&listener, Rights::Ask).await }
        });
        Rig { top, bench, server, accepting }
    }

    fn rig() -> Rig {
        rig_with(Limits::default(), |methods, bench| {
            register::<ServerSync, _, _, _>(methods, bench, endless);
        })
    }

    impl Rig {
        fn socket(&self) -> PathBuf {
            self.top.path().join("sock")
        }

        async fn connect(&self) -> UnixStream {
            UnixStream::connect(self.socket()).await.unwrap()
        }

        fn open(&self) -> u32 {
            self.server.open.load(Ordering::Relaxed)
        }
    }

    async fn call(stream: &mut UnixStream, method: &str) {
        let call = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\"}}\n");
        stream.write_all(call.as_bytes()).await.unwrap();
    }

    async fn hear(stream: &mut UnixStream) -> String {
        let mut buffer = vec![0; 1000];
        let length = stream.read(&mut buffer).await.unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }

    /// Waits for a condition, for a bounded time.
    async fn until(condition: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while !condition() {
            assert!(Instant::now() < deadline, "the condition never held");
            sleep(Duration::from_millis(1)).await;
        }
    }

    #[tokio::test]
    async fn connection_over_the_limit_is_told_why() {
        let rig = rig_with(Limits { connections: 2, ..Limits::default() }, |methods, bench| {
            register::<ServerSync, _, _, _>(methods, bench, slow);
        });
        let mut first = rig.connect().await;
        call(&mut first, "server/status").await;
        assert!(hear(&mut first).await.contains("status"));
        let mut second = rig.connect().await;
        call(&mut second, "server/status").await;
        assert!(hear(&mut second).await.contains("status"));
        // Only status calls have room left.
        let mut spare = Vec::new();
        for _ in 0..SPARE {
            spare.push(rig.connect().await);
        }
        until(|| rig.open() == 2 + SPARE).await;
        call(&mut spare[0], "server/status").await;
        assert!(hear(&mut spare[0]).await.contains("\"result\":\"status\""));
        call(&mut spare[0], "server/sync").await;
        let heard = hear(&mut spare[0]).await;
        assert!(heard.contains("\"id\":1") && heard.contains("\"code\":-32010"), "{heard}");
        let mut last = rig.connect().await;
        let mut heard = String::new();
        last.read_to_string(&mut heard).await.unwrap();
        assert!(heard.starts_with("Content-Length: "), "{heard}");
        assert!(heard.contains("skillsd already serves 2 connections"), "{heard}");
        drop(spare);
        until(|| rig.open() == 2).await;
        drop(first);
        until(|| rig.open() == 1).await;
        let mut fourth = rig.connect().await;
        call(&mut fourth, "server/status").await;
        assert!(hear(&mut fourth).await.contains("status"));
    }

    #[tokio::test]
    async fn connection_of_another_user_is_dropped_unread() {
        if !rustix::process::getuid().is_root() {
            left_out("connection_of_another_user_is_dropped_unread");
            return;
        }
        let rig = rig();
        let socket = rig.socket();
        let foreign = move || {
            let nobody = Uid::from_raw(65_534);
            // Changes this thread only, which ends afterwards.
            set_thread_res_uid(nobody, nobody, nobody).unwrap();
            let mut stream = BlockingStream::connect(socket).unwrap();
            // Fails if the connection is dropped already, as expected.
            let _ =
                stream.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/status\"}\n");
            let mut heard = String::new();
            let _ = stream.read_to_string(&mut heard);
            heard
        };
        let heard = spawn_blocking(|| std::thread::spawn(foreign).join().unwrap()).await.unwrap();
        assert_eq!(heard, "");
        let mut own = rig.connect().await;
        call(&mut own, "server/status").await;
        assert!(hear(&mut own).await.contains("status"));
    }

    #[tokio::test]
    async fn call_is_given_up_when_its_client_hangs_up() {
        let rig = rig();
        let mut stream = rig.connect().await;
        call(&mut stream, "server/sync").await;
        call(&mut stream, "server/status").await;
        assert!(hear(&mut stream).await.contains("status"));
        assert!(!rig.bench.given_up.load(Ordering::SeqCst));
        drop(stream);
        until(|| rig.bench.given_up.load(Ordering::SeqCst) && rig.open() == 0).await;
    }

    #[tokio::test]
    async fn call_goes_on_when_its_client_has_only_said_all() {
        let rig = rig_with(Limits::default(), |methods, bench| {
            register::<ServerSync, _, _, _>(methods, bench, slow);
        });
        let mut stream = rig.connect().await;
        call(&mut stream, "server/sync").await;
        stream.shutdown().await.unwrap();
        let mut heard = String::new();
        stream.read_to_string(&mut heard).await.unwrap();
        assert_eq!(heard, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"sync\"}\n");
    }

    #[tokio::test]
    async fn drain_waits_for_answers() {
        let rig = rig_with(Limits::default(), |methods, bench| {
            register::<ServerSync, _, _, _>(methods, bench, slow);
        });
        let mut idle = rig.connect().await;
        let mut busy = rig.connect().await;
        call(&mut busy, "server/sync").await;
        until(|| rig.open() == 2 && rig.bench.begun.load(Ordering::SeqCst)).await;
        rig.server.closing.cancel();
        drain(rig.accepting.await.unwrap()).await;
        assert!(hear(&mut busy).await.contains("sync"));
        assert_eq!(hear(&mut idle).await, "");
        assert_eq!(rig.server.open.load(Ordering::Relaxed), 0);
    }
}
