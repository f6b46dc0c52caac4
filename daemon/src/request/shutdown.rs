//! [`Shutdown`]: the end of the daemon, on request or because its engine has failed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use skills_engine::EngineError;
use skills_protocol::error::RpcError;
use tokio_util::sync::CancellationToken;

/// The end of the daemon; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shutdown {
    pub(crate) closing: CancellationToken,
    /// Set when the engine has failed and the daemon must exit.
    failed: Arc<AtomicBool>,
}

impl Shutdown {
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Converts an engine failure to an RPC error and shuts the daemon down, so that the next one
    /// starts with a working engine.
    pub(crate) fn engine_failed(&self, error: &EngineError) -> RpcError {
        if !self.closing.is_cancelled() {
            tracing::error!(%error, "exiting: the engine has failed");
            self.failed.store(true, Ordering::Relaxed);
            self.closing.cancel();
        }
        RpcError::internal(error.to_string()).with_hint("Retry: the next call starts a new daemon.")
    }
}
