//! `initialize` and `server/*`: identity, status, sync and shutdown of the daemon.

mod resident_memory;

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join_all;
use skills_engine::{Causes, Status};
use skills_protocol::PROTOCOL_VERSION;
use skills_protocol::method::METHODS;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{
    Actions, Contextual, InitializeParams, InitializeResult, LayerRebuilds, Rebuilds,
    ServerCapabilities, ServerInfo, ShutdownParams, ShutdownResult, StatusParams, StatusResult,
    SyncParams, SyncResult, Watches,
};
use tokio::time::{sleep, timeout};

use crate::access::programs::UntrustedDirs;
use crate::api::parts::ServerParts;
use crate::convert::{from_wire, to_wire};
use crate::request::RequestContext;
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::dispatch::MethodCall;
use crate::rpc::tasks::run_fallible_blocking;

const NAME: &str = "skillsd";

/// Polling interval and timeout for waiting calls to be cancelled.
const CANCEL_POLL: Duration = Duration::from_millis(2);
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) async fn initialize(call: MethodCall<ServerParts, InitializeParams>) -> Outcome {
    let MethodCall { parts, peer, params } = call;
    if let Some(client) = &params.client_info {
        tracing::debug!(name = client.name, version = client.version, "client introduced itself");
    }
    if let Some(environment) = params.environment {
        peer.introduce(from_wire::environment(environment, params.path_encoding)?);
    }
    Answer::new(&InitializeResult {
        server_info: ServerInfo { name: NAME.to_owned(), version: VERSION.to_owned() },
        protocol_version: PROTOCOL_VERSION.to_owned(),
        capabilities: ServerCapabilities {
            methods: METHODS.iter().map(|it| it.name.to_owned()).collect(),
            profiles: to_wire::profile_names(&parts.resolver.settings.user()),
        },
        limits: parts.resolver.settings.limits(),
        boot_id: parts.access.boot_id.clone(),
    })
}

pub(crate) async fn status(call: MethodCall<ServerParts, StatusParams>) -> Outcome {
    let MethodCall { parts, .. } = call;
    let now = parts.resolver.refresh_settings().await;
    let status = parts
        .resolver
        .engine
        .status()
        .await
        .map_err(|error| parts.resolver.shutdown.engine_failed(&error))?;
    // Concurrently, so that a file system that does not answer delays the call only once.
    let files = status.worktrees.iter().map(|it| parts.resolver.read_repository(&it.path, now));
    join_all(files).await;
    let socket = parts.socket.as_deref();
    let encoding = encoding_of(socket);
    let mut config_health = parts.resolver.settings.health(None);
    config_health.extend(parts.resolver.sessions.store().health());
    let config = parts.resolver.settings.user();
    if config.run_scripts || config.run_shell {
        let home = parts.access.home.clone();
        let found = run_fallible_blocking(move || {
            Ok(UntrustedDirs::new(&[], home.as_deref()).search_path())
        });
        config_health.extend(found.await?.health());
    }
    Answer::new(&StatusResult {
        version: VERSION.to_owned(),
        protocol_version: PROTOCOL_VERSION.to_owned(),
        pid: std::process::id(),
        uptime: parts.started.elapsed().as_secs(),
        rss: resident_memory::resident(),
        watches: Watches { used: status.watches as u64, limit: status.watch_limit },
        connections: parts.open.load(Ordering::Relaxed),
        worktrees: status.worktrees.iter().map(to_wire::worktree).collect(),
        rebuilds: rebuilds(&status),
        sources: status.sources.iter().map(to_wire::source).collect(),
        boot_id: parts.access.boot_id.clone(),
        socket: socket.map(|socket| encode(socket, encoding)),
        path_encoding: encoding,
        config: parts.resolver.settings.status(),
        actions: actions(&parts),
        heavy_calls: parts.heavy.counts(),
        trusted: parts.resolver.trusts.decisions().await.iter().filter(|it| it.1).count() as u64,
        health: to_wire::health(&config_health),
    })
}

fn actions(parts: &ServerParts) -> Actions {
    let mut actions = parts.access.counters.now();
    let n_changes = parts.resolver.bus.n_changes();
    if n_changes > 0 {
        actions.changes.insert("disk".to_owned(), n_changes);
    }
    actions
}

fn rebuilds(status: &Status) -> Rebuilds {
    let causes = [("opened", status.rebuilds.opened), ("changed", status.rebuilds.changed)];
    let causes = causes.into_iter().filter(|(_, count)| *count > 0);
    let layer = |of: &Causes| LayerRebuilds {
        count: of.total(),
        causes: of.iter().map(|(cause, count)| (cause.name().to_owned(), count)).collect(),
    };
    Rebuilds {
        files: layer(&status.counters.read),
        roots: layer(&status.counters.listed),
        views: LayerRebuilds {
            count: status.rebuilds.total(),
            causes: causes.map(|(cause, count)| (cause.to_owned(), count)).collect(),
        },
    }
}

pub(crate) async fn sync(call: MethodCall<ServerParts, SyncParams>) -> Outcome {
    let MethodCall { parts, peer, mut params } = call;
    let context = params.take_context();
    if context.cwd.is_none() {
        let clock = parts
            .resolver
            .engine
            .sync()
            .await
            .map_err(|error| parts.resolver.shutdown.engine_failed(&error))?;
        parts.resolver.refresh_settings().await;
        let health = to_wire::health(&parts.resolver.settings.health(None));
        return Answer::new(&SyncResult { clock, health });
    }
    let RequestContext { view, .. } = parts.resolver.resolve(&peer, context).await?;
    Answer::new(&SyncResult { clock: view.clock.clone(), health: to_wire::health(&view.health) })
}

pub(crate) async fn shutdown(call: MethodCall<ServerParts, ShutdownParams>) -> Outcome {
    let MethodCall { parts, .. } = call;
    tracing::info!("asked to stop");
    // Calls in flight are still answered. Calls that wait for approval are cancelled first, before
    // this call is answered.
    parts.resolver.shutdown.closing.cancel();
    let all_told = async {
        while parts.access.queue.is_waited_for() {
            sleep(CANCEL_POLL).await;
        }
    };
    // A client that does not read gets its answer later.
    let _ = timeout(CANCEL_TIMEOUT, all_told).await;
    Answer::new(&ShutdownResult { pid: std::process::id(), boot_id: parts.access.boot_id.clone() })
}
