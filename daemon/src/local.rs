//! `--no-daemon`: the same server within this process, over a pair of connected sockets.
//!
//! Nothing is watched: the process asks once and goes, and reads the disk when it asks.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use skills_client::blocking::Stream;
use skills_client::environment::{cache_directory, config_file};
use skills_engine::{Engine, Options};
use tokio::runtime;

use crate::serve::{boot_id, own_environment, sessions};
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
    let engine = Engine::start(Options {
        read_limit,
        cache: cache_directory(),
        ..Options::new(boot_id.clone())
    })
    .map_err(io::Error::other)?;
    let (kept, bus, environment) = (engine.clone(), Arc::default(), own_environment());
    let service = Service::new(kept, bus, boot_id, None, environment, settings, sessions());
    let server = Server::over(&service);
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let thread = thread::Builder::new().name("serve".to_owned()).spawn(move || {
        runtime.block_on(async {
            match tokio::net::UnixStream::from_std(theirs) {
                Ok(stream) => server.serve_stream(stream).await,
                // The other end sees that this one is closed.
                Err(error) => tracing::error!(%error, "failed to serve within this process"),
            }
        });
        // What it has started ends before the process does.
        engine.stop();
    })?;
    Ok(Box::new(Local { stream: ours, thread: Some(thread) }))
}

/// The connection, which ends together with the server at its other end.
struct Local {
    stream: UnixStream,
    thread: Option<JoinHandle<()>>,
}

impl Read for Local {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }
}

impl Write for Local {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        // It fails when the other end is gone already.
        let _ = self.stream.shutdown(Shutdown::Both);
        if let Some(thread) = self.thread.take() {
            // A panic in there has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}
