//! Blocking disk work on tokio's blocking pool.

use skills_protocol::error::RpcError;
use tokio::task::spawn_blocking;

/// Runs `work` on the blocking pool, so that it delays no other call.
///
/// # Errors
/// Those of `work`; an internal error if it panics.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    // One type for all closures, so that tokio's task is compiled once for each result.
    let work: Box<dyn FnOnce() -> Result<T, RpcError> + Send> = Box::new(work);
    spawn_blocking(work).await.unwrap_or_else(|error| {
        tracing::error!(%error, "blocking work panicked");
        Err(crate::rpc::refusal::panicked())
    })
}
