//! The result of a call, already in the form the wire wants.
//!
//! Owns the one way a result travels from a handler to a connection: as raw JSON, shared
//! or not, in the extensions of the response. jsonrpsee would copy and parse every result
//! once more, which for a list of a thousand skills costs more than all the rest.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use skills_protocol::error::RpcError;

/// What a handler returns.
pub(crate) type Outcome = Result<Answer, RpcError>;

/// A result as JSON text; cloning shares it.
#[derive(Clone, Debug)]
pub(crate) struct Answer(Arc<RawValue>);

impl Answer {
    /// Serialises a result.
    pub(crate) fn new<T: Serialize>(result: &T) -> Outcome {
        match to_raw_value(result) {
            Ok(json) => Ok(Self(json.into())),
            Err(error) => {
                tracing::error!(%error, "a result has no JSON");
                Err(RpcError::internal("the result could not be written as JSON"))
            }
        }
    }

    /// Returns the JSON text.
    pub(crate) fn json(&self) -> &str {
        self.0.get()
    }
}

impl AsRef<[u8]> for Answer {
    fn as_ref(&self) -> &[u8] {
        self.json().as_bytes()
    }
}
