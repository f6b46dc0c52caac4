//! [`Answer`]: the result of a call as serialised JSON.
//!
//! Handlers pass their results to the connection as JSON text in the extensions of jsonrpsee's
//! response. jsonrpsee itself would copy and parse each result again, which costs more than the
//! rest of the call for a list of a thousand skills.

use bytes::Bytes;
use serde::Serialize;
use skills_protocol::error::RpcError;

/// The result of a handler.
pub(crate) type Outcome = Result<Answer, RpcError>;

/// A result as JSON text on one line; cloning shares it.
#[derive(Clone, Debug)]
pub(crate) struct Answer(Bytes);

impl Answer {
    pub(crate) fn new<T: Serialize>(result: &T) -> Outcome {
        // Fits most results about one skill or one status.
        Self::with_capacity(result, 1024)
    }

    pub(crate) fn with_capacity<T: Serialize>(result: &T, capacity: usize) -> Outcome {
        let mut text = Vec::with_capacity(capacity);
        match serde_json::to_writer(&mut text, result) {
            Ok(()) => {
                // Answers are cached, so unused capacity would stay allocated.
                if text.capacity() - text.len() > text.len() / 4 {
                    text.shrink_to_fit();
                }
                Ok(Self(text.into()))
            }
            Err(error) => {
                tracing::error!(%error, "failed to serialise a result");
                Err(RpcError::internal("the result could not be written as JSON"))
            }
        }
    }

    pub(crate) fn from_text(text: Bytes) -> Self {
        Self(text)
    }

    pub(crate) fn into_text(self) -> Bytes {
        self.0
    }

    /// Returns the length of the JSON text in bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
