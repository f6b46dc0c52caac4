//! A client that stays: connects when it is first needed, and again after the daemon has gone.
//!
//! The daemon may be stopped, killed or replaced at any time, and the next call finds or starts
//! another one. What it knew of this connection is lost with it: sessions are durable, but
//! subscriptions have to be made again, which [`crate::subscription`] does.

use std::sync::Arc;

use serde_json::value::RawValue;
use skills_protocol::method::Request;
use tokio::sync::Mutex;

use crate::ClientError;
use crate::connection::Connection;
use crate::spawn::{StartOptions, connect_or_start, pauses};

/// Calls the daemon, whichever is running. Clones share the connection.
#[derive(Clone)]
pub struct Client {
    options: Arc<StartOptions>,
    // A tokio lock: whoever connects holds it, and the others wait for that connection.
    connection: Arc<Mutex<Option<Connection>>>,
}

impl Client {
    /// Returns a client that has not connected yet.
    pub fn new(options: StartOptions) -> Self {
        Self { options: Arc::new(options), connection: Arc::default() }
    }

    /// Calls a method. A connection that breaks is replaced, and a call that may be repeated is.
    pub async fn call<M: Request>(&self, params: &M::Params) -> Result<M::Result, ClientError> {
        let result = self.call_text::<M>(params).await?;
        serde_json::from_str(result.get())
            .map_err(|source| ClientError::Form { method: M::METHOD, source })
    }

    /// Calls a method in the same way and returns its result as it came.
    pub async fn call_text<M: Request>(
        &self,
        params: &M::Params,
    ) -> Result<Box<RawValue>, ClientError> {
        let mut pauses = pauses();
        loop {
            let outcome = self.connection().await?.call_text::<M>(params).await;
            let again =
                M::REPEATABLE && outcome.as_ref().is_err_and(ClientError::is_broken_connection);
            match pauses.next().filter(|_| again) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return outcome,
            }
        }
    }

    /// Returns the living connection, made now if there is none.
    pub async fn connection(&self) -> Result<Connection, ClientError> {
        let mut slot = self.connection.lock().await;
        if let Some(connection) = slot.as_ref().filter(|connection| !connection.is_closed()) {
            return Ok(connection.clone());
        }
        let options = Arc::clone(&self.options);
        // Starting a daemon waits on locks and a child.
        let started = tokio::task::spawn_blocking(move || connect_or_start(&options));
        let stream = started.await.map_err(std::io::Error::from)??;
        stream.set_nonblocking(true)?;
        let connection = Connection::new(tokio::net::UnixStream::from_std(stream)?);
        *slot = Some(connection.clone());
        Ok(connection)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixListener;
    use std::thread;

    use skills_protocol::method::{ServerShutdown, ServerSync};
    use skills_protocol::socket::{SocketEnvironment, choose};
    use skills_protocol::wire::{ShutdownParams, SyncParams};
    use tempfile::TempDir;

    use super::*;

    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"clock":"c"}}"#;

    // Listens; hangs up on the first two connections after their request, and answers on the others.
    fn flaky(top: &TempDir) -> StartOptions {
        let skillsd_socket = Some(top.path().join("s.sock").into());
        let environment = SocketEnvironment { skillsd_socket, ..SocketEnvironment::default() };
        let location = choose(&environment).expect("absolute");
        let listener = UnixListener::bind(location.path()).expect("bound");
        thread::spawn(move || {
            for (nth, stream) in listener.incoming().enumerate() {
                let mut stream = stream.expect("accepted");
                let mut request = [0; 4096];
                let read = stream.read(&mut request).expect("a request");
                if nth > 1 && read > 0 {
                    let answer = format!("Content-Length: {}\r\n\r\n{ANSWER}", ANSWER.len());
                    stream.write_all(answer.as_bytes()).expect("the client reads");
                }
            }
        });
        let mut options = StartOptions::new(location).expect("this program");
        options.program = "/bin/false".into();
        options
    }

    #[tokio::test]
    async fn a_broken_call_is_made_again_on_a_new_connection() {
        let top = TempDir::new().expect("made");
        let client = Client::new(flaky(&top));
        let result = client.call::<ServerSync>(&SyncParams::default()).await;
        assert_eq!(result.expect("the third time").clock, "c");
    }

    #[tokio::test]
    async fn what_may_not_be_repeated_is_not() {
        let top = TempDir::new().expect("made");
        let client = Client::new(flaky(&top));
        let error = client.call::<ServerShutdown>(&ShutdownParams {}).await;
        assert!(matches!(error, Err(ClientError::Closed)), "{error:?}");
    }
}
