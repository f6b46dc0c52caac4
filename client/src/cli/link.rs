//! One command's connection: to the daemon, or to a server within this process.
//!
//! The introduction goes out together with the first call, so checking the versions costs no
//! round trip. Nothing after this file knows which of the two servers answers.

use serde_json::value::RawValue;
use skills_protocol::method::{Initialize, Request};
use skills_protocol::wire::{ClientInfo, InitializeParams, InitializeResult};
use skills_protocol::{PROTOCOL_VERSION, compatible};

use crate::blocking::{BlockingConnection, Sent, Stream, limit_patience};
use crate::cli::{Cx, Local};
use crate::spawn::{StartOptions, connect, connect_or_start};
use crate::{ClientError, environment};

/// A connection that introduces itself.
pub(super) struct Link {
    connection: BlockingConnection<Box<dyn Stream>>,
    introduction: Introduction,
}

enum Introduction {
    Sent(Sent),
    Done(Box<InitializeResult>),
    // Taken while it is being answered; stays when that failed.
    Failed,
}

impl Link {
    /// Connects as the flags say, starting the daemon when there is none.
    pub(super) fn open(cx: &Cx<'_>) -> Result<Self, ClientError> {
        if cx.global.no_daemon {
            return Self::local(cx.local);
        }
        let location = environment::socket_location()?;
        let stream = connect_or_start(&StartOptions::new(location)?)?;
        limit_patience(&stream)?;
        Self::over(Box::new(stream))
    }

    /// Connects to the daemon that runs; starts none.
    pub(super) fn open_running() -> Result<Self, ClientError> {
        let stream = connect(&environment::socket_location()?)?;
        limit_patience(&stream)?;
        Self::over(Box::new(stream))
    }

    fn local(local: Local<'_>) -> Result<Self, ClientError> {
        Self::over(local()?)
    }

    /// Introduces this program over a stream.
    pub(super) fn over(stream: Box<dyn Stream>) -> Result<Self, ClientError> {
        let mut connection = BlockingConnection::new(stream);
        let client_info = ClientInfo {
            name: "skillsd".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        };
        let sent = connection.send::<Initialize>(&InitializeParams {
            client_info: Some(client_info),
            protocol_version: Some(PROTOCOL_VERSION.to_owned()),
            ..InitializeParams::default()
        })?;
        Ok(Self { connection, introduction: Introduction::Sent(sent) })
    }

    /// Calls a method and returns its result.
    pub(super) fn call<M: Request>(
        &mut self,
        params: &M::Params,
    ) -> Result<M::Result, ClientError> {
        let result = self.call_text::<M>(params)?;
        serde_json::from_str(result.get())
            .map_err(|source| ClientError::Form { method: M::METHOD, source })
    }

    /// Calls a method and returns its result as it came.
    pub(super) fn call_text<M: Request>(
        &mut self,
        params: &M::Params,
    ) -> Result<Box<RawValue>, ClientError> {
        let sent = self.connection.send::<M>(params)?;
        self.server()?;
        self.connection.receive_text(sent)
    }

    /// Returns what the server said about itself.
    pub(super) fn server(&mut self) -> Result<&InitializeResult, ClientError> {
        self.introduction = match std::mem::replace(&mut self.introduction, Introduction::Failed) {
            Introduction::Sent(sent) => {
                Introduction::Done(Box::new(checked(self.connection.receive::<Initialize>(sent)?)?))
            }
            done => done,
        };
        match &self.introduction {
            Introduction::Done(result) => Ok(result),
            Introduction::Sent(_) | Introduction::Failed => Err(ClientError::Closed),
        }
    }

    /// Waits until the server has closed the connection.
    pub(super) fn wait_for_end(&mut self) -> Result<(), ClientError> {
        self.connection.wait_for_end()
    }
}

fn checked(result: InitializeResult) -> Result<InitializeResult, ClientError> {
    if compatible(PROTOCOL_VERSION, &result.protocol_version) {
        return Ok(result);
    }
    let ours = PROTOCOL_VERSION.to_owned();
    Err(ClientError::Version { ours, theirs: result.protocol_version })
}
