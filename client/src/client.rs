//! Long-lived client ([`Client`]): connects on first use, and again after the daemon has exited.
//!
//! The daemon may be stopped, killed or replaced at any time; the next call finds or starts another
//! one. Sessions are durable, but subscriptions belong to a connection and have to be made again,
//! which [`crate::subscription`] does.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use skills_protocol::PROTOCOL_VERSION;
use skills_protocol::method::{Initialize, Request};
use skills_protocol::socket::SocketLocation;
use skills_protocol::wire::{ClientInfo, InitializeParams};
use tokio::sync::Mutex;

use crate::ClientError;
use crate::connection::Connection;
use crate::error::{check_version, params_json, parse};
use crate::fallback::Fallback;
use crate::spawn::{DEADLINE, StartOptions, connect, connect_consent, connect_or_start, pauses};

/// Calls the daemon that is running at the time of each call. Clones share the connection.
///
/// ```no_run
/// use skills_client::client::Client;
/// use skills_client::spawn::StartOptions;
/// use skills_protocol::method::SkillsList;
/// use skills_protocol::wire::ListParams;
///
/// # async fn example() -> Result<(), skills_client::ClientError> {
/// let client = Client::new(StartOptions::for_program("skillsd")?).with_name("my-agent", "1.0");
/// let params = ListParams { cwd: Some("/home/me/shop".to_owned()), ..ListParams::default() };
/// for skill in client.call::<SkillsList>(&params).await?.skills {
///     println!("{}", skill.name);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    connector: Arc<Connector>,
    info: Option<Arc<ClientInfo>>,
    timeout: Option<Duration>,
    fallback: Option<Arc<Fallback>>,
    // A tokio lock: it is held while connecting, and other callers wait for that connection.
    connection: Arc<Mutex<Option<Connection>>>,
}

/// Method of obtaining a connection.
enum Connector {
    /// Connects to the running daemon, or starts one.
    Start(StartOptions),
    /// Connects to the running daemon only.
    Find(SocketLocation),
    /// Connects to the consent socket of a daemon that runs or is started.
    Consent(StartOptions),
    /// Calls a function of the creator of the client.
    Given(Box<dyn Fn() -> io::Result<UnixStream> + Send + Sync>),
}

impl Connector {
    /// Returns the daemon's location, if this connects to a daemon.
    fn location(&self) -> Option<&SocketLocation> {
        match self {
            Self::Start(options) | Self::Consent(options) => Some(&options.location),
            Self::Find(location) => Some(location),
            Self::Given(_) => None,
        }
    }
}

impl Client {
    /// Returns a client that starts the daemon when none runs. It has not connected yet.
    pub fn new(options: StartOptions) -> Self {
        Self::with_connector(Connector::Start(options))
    }

    /// Returns a client of the consent socket, for a program that has asked its user: its calls may
    /// grant. Starts the daemon when none runs.
    pub fn for_consent(options: StartOptions) -> Self {
        Self::with_connector(Connector::Consent(options))
    }

    /// Returns a client of the running daemon, which never starts one.
    pub fn running(location: SocketLocation) -> Self {
        Self::with_connector(Connector::Find(location))
    }

    /// Returns a client over connections that `connect` makes, for example to a server within this
    /// process or through a tunnel. `connect` is called whenever a connection is needed.
    pub fn over(connect: impl Fn() -> io::Result<UnixStream> + Send + Sync + 'static) -> Self {
        Self::with_connector(Connector::Given(Box::new(connect)))
    }

    fn with_connector(connector: Connector) -> Self {
        let (info, timeout, fallback) = (None, None, None);
        Self { connector: Arc::new(connector), info, timeout, fallback, connection: Arc::default() }
    }

    /// Returns the client with a name, which it sends in `initialize` on each new connection. A
    /// daemon with an incompatible protocol is refused then.
    #[must_use]
    pub fn with_name(self, name: &str, version: &str) -> Self {
        let info = ClientInfo { name: name.to_owned(), version: Some(version.to_owned()) };
        Self { info: Some(Arc::new(info)), ..self }
    }

    /// Returns the client with a time limit for each call, including connecting and starting.
    /// Without a limit, a call waits as long as the connection is open.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Returns the client with a server to use once the daemon hangs.
    #[must_use]
    pub fn with_fallback(self, fallback: Arc<Fallback>) -> Self {
        Self { fallback: Some(fallback), ..self }
    }

    /// Calls a method. Replaces a broken connection and repeats the call if the method is
    /// repeatable. Dropping the future cancels the call.
    ///
    /// The methods are the types of [`skills_protocol::method`], one for each row of the table.
    pub async fn call<M: Request>(&self, params: &M::Params) -> Result<M::Result, ClientError> {
        parse::<M>(&self.call_text::<M>(params).await?)
    }

    /// Calls a method like [`Self::call`] and returns its result as raw JSON.
    pub async fn call_text<M: Request>(
        &self,
        params: &M::Params,
    ) -> Result<Box<RawValue>, ClientError> {
        let attempts = self.attempt(M::METHOD, M::REPEATABLE, params_json::<M>(params)?);
        let Some(after) = self.timeout else { return attempts.await };
        tokio::time::timeout(after, attempts)
            .await
            .unwrap_or(Err(ClientError::TimedOut { method: M::METHOD, after }))
    }

    async fn attempt(
        &self,
        method: &'static str,
        is_repeatable: bool,
        params: Box<RawValue>,
    ) -> Result<Box<RawValue>, ClientError> {
        let mut pauses = pauses();
        loop {
            let outcome = match self.connection().await {
                Ok(connection) => connection.call_json(method, &params).await,
                // No request was sent yet, so any method may be tried again.
                Err(error) if error.is_broken_connection() => match pauses.next() {
                    Some(pause) => {
                        tokio::time::sleep(pause).await;
                        continue;
                    }
                    None => return Err(error),
                },
                Err(error) => return Err(error),
            };
            let again =
                is_repeatable && outcome.as_ref().is_err_and(ClientError::is_broken_connection);
            match pauses.next().filter(|_| again) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return outcome,
            }
        }
    }

    /// Returns the open connection, and connects first if there is no open one.
    pub async fn connection(&self) -> Result<Connection, ClientError> {
        let mut slot = self.connection.lock().await;
        if let Some(connection) = slot.as_ref().filter(|connection| !connection.is_closed()) {
            return Ok(connection.clone());
        }
        let connector = Arc::clone(&self.connector);
        let needed = self.fallback.clone().filter(|it| it.is_needed());
        let is_daemon = needed.is_none();
        // Blocking: starting a daemon waits for locks and a child process.
        let opened = tokio::task::spawn_blocking(move || match (needed, &*connector) {
            (Some(fallback), _) => fallback.connect().map_err(ClientError::Io),
            (None, Connector::Start(options)) => connect_or_start(options),
            (None, Connector::Consent(options)) => connect_consent(options),
            (None, Connector::Find(location)) => connect(location, DEADLINE),
            (None, Connector::Given(connect)) => connect().map_err(ClientError::Io),
        });
        let stream = opened.await.map_err(io::Error::from)??;
        stream.set_nonblocking(true)?;
        let connection = Connection::new(tokio::net::UnixStream::from_std(stream)?);
        let location = self.connector.location().filter(|_| is_daemon);
        if let Some((fallback, location)) = self.fallback.clone().zip(location) {
            tokio::spawn(fallback.watch_over(connection.monitor(), location.clone()));
        }
        if let Some(info) = &self.info {
            introduce(&connection, info).await?;
        }
        *slot = Some(connection.clone());
        Ok(connection)
    }
}

async fn introduce(connection: &Connection, info: &ClientInfo) -> Result<(), ClientError> {
    let params = InitializeParams {
        client_info: Some(info.clone()),
        protocol_version: Some(PROTOCOL_VERSION.to_owned()),
        ..InitializeParams::default()
    };
    check_version(&connection.call::<Initialize>(&params).await?.protocol_version)
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

    // Accepts connections, closes the first two after their request, and answers on the others.
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
    async fn repeatable_call_is_retried_on_a_new_connection() {
        let top = TempDir::new().expect("made");
        let client = Client::new(flaky(&top));
        let result = client.call::<ServerSync>(&SyncParams::default()).await;
        assert_eq!(result.expect("the third time").clock, "c");
    }

    #[tokio::test]
    async fn call_times_out_when_server_is_silent() {
        let top = TempDir::new().expect("made");
        let socket = top.path().join("s.sock");
        let listener = UnixListener::bind(&socket).expect("bound");
        let client = Client::over(move || UnixStream::connect(&socket));
        let client = client.with_name("test", "1").with_timeout(Duration::from_millis(20));
        let error = client.call::<ServerSync>(&SyncParams::default()).await;
        assert!(
            matches!(error, Err(ClientError::TimedOut { method: "server/sync", .. })),
            "{error:?}"
        );
        drop(listener);
    }

    #[tokio::test]
    async fn client_of_a_running_daemon_starts_none() {
        let top = TempDir::new().expect("made");
        let skillsd_socket = Some(top.path().join("s.sock").into());
        let environment = SocketEnvironment { skillsd_socket, ..SocketEnvironment::default() };
        let client = Client::running(choose(&environment).expect("absolute"));
        let error = client.call::<ServerSync>(&SyncParams::default()).await;
        assert!(matches!(error, Err(ClientError::NotRunning { .. })), "{error:?}");
    }

    #[tokio::test]
    async fn non_repeatable_call_is_not_retried() {
        let top = TempDir::new().expect("made");
        let client = Client::new(flaky(&top));
        let error = client.call::<ServerShutdown>(&ShutdownParams {}).await;
        assert!(matches!(error, Err(ClientError::Closed)), "{error:?}");
    }
}
