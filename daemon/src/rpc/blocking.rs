//! Work that waits for the disk, off the threads that serve.

use skills_protocol::error::RpcError;
use tokio::task::spawn_blocking;

/// Runs work that waits for the disk where it keeps no call from its turn.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    spawn_blocking(work).await.unwrap_or_else(|error| {
        tracing::error!(%error, "reading files failed");
        Err(crate::rpc::refusal::panicked())
    })
}
