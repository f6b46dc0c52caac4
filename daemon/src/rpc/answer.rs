//! The result of a call, already in the form the wire wants.
//!
//! Owns the one way a result travels from a handler to a connection: as JSON text, shared
//! or not, in the extensions of the response. jsonrpsee would copy and parse every result
//! once more, which for a list of a thousand skills costs more than all the rest.

use bytes::Bytes;
use serde::Serialize;
use skills_protocol::error::RpcError;

/// What a handler returns.
pub(crate) type Outcome = Result<Answer, RpcError>;

/// A result as JSON text on one line; cloning shares it.
#[derive(Clone, Debug)]
pub(crate) struct Answer(Bytes);

impl Answer {
    /// Serialises a result.
    pub(crate) fn new<T: Serialize>(result: &T) -> Outcome {
        // Most results of one skill or one status fit.
        Self::with_capacity(result, 1024)
    }

    /// Serialises a result that is known to be about so many bytes long.
    pub(crate) fn with_capacity<T: Serialize>(result: &T, capacity: usize) -> Outcome {
        let mut text = Vec::with_capacity(capacity);
        match serde_json::to_writer(&mut text, result) {
            Ok(()) => {
                // Answers are kept, and what was guessed too much would be kept with them.
                if text.capacity() - text.len() > text.len() / 4 {
                    text.shrink_to_fit();
                }
                Ok(Self(text.into()))
            }
            Err(error) => {
                tracing::error!(%error, "a result has no JSON");
                Err(RpcError::internal("the result could not be written as JSON"))
            }
        }
    }

    /// Returns the JSON text.
    pub(crate) fn into_text(self) -> Bytes {
        self.0
    }

    /// Returns how long the JSON text is.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
