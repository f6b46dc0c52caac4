//! `initialize` and `server/*`: identity, status, sync and shutdown of the daemon.

use std::sync::Arc;
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

use crate::api::{from_wire, to_wire};
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::peer::Peer;
use crate::service::Service;

/// Name of the program.
const NAME: &str = "skillsd";

/// Polling interval and timeout for waiting calls to be cancelled.
const CANCEL_POLL: Duration = Duration::from_millis(2);
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) async fn initialize(
    service: Arc<Service>,
    peer: Arc<Peer>,
    params: InitializeParams,
) -> Outcome {
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
            profiles: to_wire::profile_names(&service.settings.user()),
        },
        limits: service.settings.limits(),
        boot_id: service.boot_id.clone(),
    })
}

pub(crate) async fn status(service: Arc<Service>, _: Arc<Peer>, _: StatusParams) -> Outcome {
    let heard = service.refresh_settings().await;
    let status = service.engine.status().await.map_err(|error| service.engine_failed(&error))?;
    // Concurrently, so that a file system that does not answer delays the call only once.
    let files = status.worktrees.iter().map(|it| service.settings.repository(&it.path, heard));
    join_all(files).await;
    let socket = service.socket.as_deref();
    let encoding = encoding_of(socket);
    let mut config_health = service.settings.health(None);
    config_health.extend(service.sessions.store().health());
    Answer::new(&StatusResult {
        version: VERSION.to_owned(),
        protocol_version: PROTOCOL_VERSION.to_owned(),
        pid: std::process::id(),
        uptime: service.started.elapsed().as_secs(),
        rss: service.memory.resident(),
        watches: Watches { used: status.watches as u64, limit: status.watch_limit },
        connections: service.open.load(Ordering::Relaxed),
        worktrees: status.worktrees.iter().map(to_wire::worktree).collect(),
        rebuilds: rebuilds(&status),
        sources: status.sources.iter().map(to_wire::source).collect(),
        boot_id: service.boot_id.clone(),
        socket: socket.map(|socket| encode(socket, encoding)),
        path_encoding: encoding,
        config: service.settings.status(),
        actions: actions(&service),
        heavy_calls: service.heavy.counts(),
        trusted: service.trusts().await.iter().filter(|it| it.1).count() as u64,
        health: to_wire::health(&config_health),
    })
}

fn actions(service: &Service) -> Actions {
    let mut actions = service.counters.now();
    let n_changes = service.bus.n_changes();
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

pub(crate) async fn sync(
    service: Arc<Service>,
    peer: Arc<Peer>,
    mut params: SyncParams,
) -> Outcome {
    let context = params.take_context();
    if context.cwd.is_none() {
        let clock = service.engine.sync().await.map_err(|error| service.engine_failed(&error))?;
        service.refresh_settings().await;
        let health = to_wire::health(&service.settings.health(None));
        return Answer::new(&SyncResult { clock, health });
    }
    let view = service.view(&peer, context).await?;
    Answer::new(&SyncResult { clock: view.clock.clone(), health: to_wire::health(&view.health) })
}

pub(crate) async fn shutdown(service: Arc<Service>, _: Arc<Peer>, _: ShutdownParams) -> Outcome {
    tracing::info!("asked to stop");
    // Calls in flight are still answered. Calls that wait for approval are cancelled first, before
    // this call is answered.
    service.closing.cancel();
    let all_told = async {
        while service.requests.is_waited_for() {
            sleep(CANCEL_POLL).await;
        }
    };
    // A client that does not read gets its answer later.
    let _ = timeout(CANCEL_TIMEOUT, all_told).await;
    Answer::new(&ShutdownResult { pid: std::process::id(), boot_id: service.boot_id.clone() })
}
