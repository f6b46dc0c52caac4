//! `--no-daemon`: the same server within this process, over a pair of connected sockets.
//!
//! Nothing is watched: the process asks once and goes, and reads the disk when it asks.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;

use skills_client::blocking::Stream;
use skills_client::environment::config_file;
use skills_engine::{Engine, Options};
use tokio::runtime;

use crate::serve::{boot_id, own_environment};
use crate::server::Server;
use crate::service::Service;
use crate::settings::Settings;

/// Runs a server on a thread of its own and returns a connection to it.
pub(crate) fn connect() -> io::Result<Box<dyn Stream>> {
    let (ours, theirs) = UnixStream::pair()?;
    theirs.set_nonblocking(true)?;
    let boot_id = boot_id();
    let settings = Settings::load(config_file());
    let read_limit = settings.user().read_limit;
    let engine = Engine::start(Options { read_limit, ..Options::new(boot_id.clone()) })
        .map_err(io::Error::other)?;
    let service = Service::new(engine, Arc::default(), boot_id, None, own_environment(), settings);
    let server = Server::over(&service);
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    thread::Builder::new().name("serve".to_owned()).spawn(move || {
        runtime.block_on(async {
            match tokio::net::UnixStream::from_std(theirs) {
                Ok(stream) => server.serve_stream(stream).await,
                // The other end sees that this one is closed.
                Err(error) => tracing::error!(%error, "failed to serve within this process"),
            }
        });
    })?;
    Ok(Box::new(ours))
}
