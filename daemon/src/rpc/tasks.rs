//! Tasks: futures that run by themselves, and blocking disk work on tokio's blocking pool.
//!
//! tokio compiles dozens of functions for each type of task. These have one type each, which
//! shortens the build.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use skills_platform::lock::lock;
use skills_protocol::error::RpcError;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};

/// Starts a task for a future.
pub(crate) fn spawn(future: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(future.boxed())
}

/// Runs `work` on the blocking pool, so that it delays no other call.
///
/// # Errors
/// Those of `work`; an internal error if it panics.
pub(crate) async fn run_fallible_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    run_blocking(work).await.unwrap_or_else(|error| {
        tracing::error!(%error, "blocking work panicked");
        Err(crate::rpc::refusal::panicked())
    })
}

/// Runs `work` on the blocking pool.
///
/// # Errors
/// If it panics, or the runtime ends before it begins.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    let result = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&result);
    let work: Box<dyn FnOnce() + Send> = Box::new(move || *lock(&slot) = Some(work()));
    spawn_blocking(work).await?;
    let result = lock(&result).take();
    Ok(result.expect("the finished work has put it there"))
}
