//! A client that stays: connects when it is first needed, and again after the daemon has gone.
//!
//! The daemon may be stopped, killed or replaced at any time, and the next call finds or starts
//! another one. What it knew of this connection is lost with it: sessions are durable, but
//! subscriptions have to be made again, which [`crate::subscription`] does.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use skills_protocol::method::{Initialize, Request};
use skills_protocol::socket::SocketLocation;
use skills_protocol::wire::{ClientInfo, InitializeParams};
use skills_protocol::{PROTOCOL_VERSION, compatible};
use tokio::sync::Mutex;

use crate::ClientError;
use crate::connection::Connection;
use crate::fallback::Fallback;
use crate::spawn::{DEADLINE, StartOptions, connect, connect_consent, connect_or_start, pauses};

/// Calls the daemon, whichever is running. Clones share the connection.
///
/// ```no_run
/// use skills_client::client::Client;
/// use skills_client::spawn::StartOptions;
/// use skills_protocol::method::SkillsList;
/// use skills_protocol::wire::ListParams;
///
/// # async fn example() -> Result<(), skills_client::ClientError> {
/// let client = Client::new(StartOptions::of("skillsd")?).named("my-agent", "1.0");
/// let params = ListParams { cwd: Some("/home/me/shop".to_owned()), ..ListParams::default() };
/// for skill in client.call::<SkillsList>(&params).await?.skills {
///     println!("{}", skill.name);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    way: Arc<Way>,
    info: Option<Arc<ClientInfo>>,
    patience: Option<Duration>,
    stand_in: Option<Arc<Fallback>>,
    // A tokio lock: whoever connects holds it, and the others wait for that connection.
    connection: Arc<Mutex<Option<Connection>>>,
}

/// How a connection is had.
enum Way {
    /// From the daemon that runs, or from one that is started.
    Start(StartOptions),
    /// From the daemon that runs.
    Find(SocketLocation),
    /// From the daemon that runs or is started, at the socket that answers what grants.
    Consent(StartOptions),
    /// From whoever made the client.
    Given(Box<dyn Fn() -> io::Result<UnixStream> + Send + Sync>),
}

impl Way {
    /// Returns where the daemon listens, where that is who is connected to.
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
        Self::by(Way::Start(options))
    }

    /// Returns a client that answers in the user's place, for a program that has asked its user:
    /// its calls may grant. It starts the daemon when none runs.
    pub fn consenting(options: StartOptions) -> Self {
        Self::by(Way::Consent(options))
    }

    /// Returns a client of the daemon that runs, which starts none.
    pub fn running(location: SocketLocation) -> Self {
        Self::by(Way::Find(location))
    }

    /// Returns a client over connections of the caller's own making: to a server within this
    /// process, or through a tunnel. It is asked for one whenever there is none.
    pub fn over(connect: impl Fn() -> io::Result<UnixStream> + Send + Sync + 'static) -> Self {
        Self::by(Way::Given(Box::new(connect)))
    }

    fn by(way: Way) -> Self {
        let (info, patience, stand_in) = (None, None, None);
        Self { way: Arc::new(way), info, patience, stand_in, connection: Arc::default() }
    }

    /// Returns the client with a name, under which it introduces itself on each new connection.
    /// A daemon of another protocol is refused then.
    #[must_use]
    pub fn named(self, name: &str, version: &str) -> Self {
        let info = ClientInfo { name: name.to_owned(), version: Some(version.to_owned()) };
        Self { info: Some(Arc::new(info)), ..self }
    }

    /// Returns the client with a limit on how long a call may take, connecting and starting
    /// included. Without one a call waits as long as the connection holds.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience: Some(patience), ..self }
    }

    /// Returns the client with somebody who answers once the daemon is there and answers nothing.
    #[must_use]
    pub fn with_stand_in(self, stand_in: Arc<Fallback>) -> Self {
        Self { stand_in: Some(stand_in), ..self }
    }

    /// Calls a method. A connection that breaks is replaced, and a call that may be repeated is.
    /// Dropping the future cancels the call.
    ///
    /// The methods are the types of [`skills_protocol::method`], one for each row of the table.
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
        let Some(after) = self.patience else { return self.attempt::<M>(params).await };
        tokio::time::timeout(after, self.attempt::<M>(params))
            .await
            .unwrap_or(Err(ClientError::TimedOut { method: M::METHOD, after }))
    }

    async fn attempt<M: Request>(&self, params: &M::Params) -> Result<Box<RawValue>, ClientError> {
        let mut pauses = pauses();
        loop {
            let outcome = match self.connection().await {
                Ok(connection) => connection.call_text::<M>(params).await,
                // Nothing was asked yet, so that anything may be asked again.
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
        let way = Arc::clone(&self.way);
        let needed = self.stand_in.clone().filter(|it| it.is_needed());
        let is_daemon = needed.is_none();
        // Starting a daemon waits on locks and a child.
        let opened = tokio::task::spawn_blocking(move || match (needed, &*way) {
            (Some(stand_in), _) => stand_in.connect().map_err(ClientError::Io),
            (None, Way::Start(options)) => connect_or_start(options),
            (None, Way::Consent(options)) => connect_consent(options),
            (None, Way::Find(location)) => connect(location, DEADLINE),
            (None, Way::Given(connect)) => connect().map_err(ClientError::Io),
        });
        let stream = opened.await.map_err(io::Error::from)??;
        stream.set_nonblocking(true)?;
        let connection = Connection::new(tokio::net::UnixStream::from_std(stream)?);
        let location = self.way.location().filter(|_| is_daemon);
        if let Some((stand_in, location)) = self.stand_in.clone().zip(location) {
            tokio::spawn(stand_in.watch_over(connection.pulse(), location.clone()));
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
    let theirs = connection.call::<Initialize>(&params).await?.protocol_version;
    if compatible(PROTOCOL_VERSION, &theirs) {
        return Ok(());
    }
    Err(ClientError::Version { ours: PROTOCOL_VERSION.to_owned(), theirs })
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
    async fn who_listens_and_never_answers_is_given_up() {
        let top = TempDir::new().expect("made");
        let socket = top.path().join("s.sock");
        let listener = UnixListener::bind(&socket).expect("bound");
        let client = Client::over(move || UnixStream::connect(&socket));
        let client = client.named("test", "1").with_patience(Duration::from_millis(20));
        let error = client.call::<ServerSync>(&SyncParams::default()).await;
        assert!(
            matches!(error, Err(ClientError::TimedOut { method: "server/sync", .. })),
            "{error:?}"
        );
        drop(listener);
    }

    #[tokio::test]
    async fn a_client_of_a_running_daemon_starts_none() {
        let top = TempDir::new().expect("made");
        let skillsd_socket = Some(top.path().join("s.sock").into());
        let environment = SocketEnvironment { skillsd_socket, ..SocketEnvironment::default() };
        let client = Client::running(choose(&environment).expect("absolute"));
        let error = client.call::<ServerSync>(&SyncParams::default()).await;
        assert!(matches!(error, Err(ClientError::NotRunning { .. })), "{error:?}");
    }

    #[tokio::test]
    async fn what_may_not_be_repeated_is_not() {
        let top = TempDir::new().expect("made");
        let client = Client::new(flaky(&top));
        let error = client.call::<ServerShutdown>(&ShutdownParams {}).await;
        assert!(matches!(error, Err(ClientError::Closed)), "{error:?}");
    }
}
