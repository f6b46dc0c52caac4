//! The JSON-RPC 2.0 envelopes, as a client writes and reads them.
//!
//! The server has its dispatcher's own; both are the same text. Results stay unparsed
//! ([`RawValue`]) so that a caller that only passes them on does not pay for them.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::error::RpcError;

/// The value of every message's `jsonrpc` member.
pub const JSONRPC: &str = "2.0";

/// A request's id: a number or a string, echoed in its answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RequestId {
    /// A whole number.
    Number(i64),
    /// Any text.
    Text(String),
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => s.serialize_i64(*number),
            Self::Text(text) => s.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct IdVisitor;

        impl Visitor<'_> for IdVisitor {
            type Value = RequestId;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a request id: a whole number or a string")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<RequestId, E> {
                Ok(RequestId::Number(number))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<RequestId, E> {
                i64::try_from(number)
                    .map(RequestId::Number)
                    .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(number), &self))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<RequestId, E> {
                Ok(RequestId::Text(text.to_owned()))
            }
        }

        d.deserialize_any(IdVisitor)
    }
}

/// A request, or a notification when it has no id.
#[derive(Debug, Serialize)]
pub struct Call<'a, P> {
    /// Always [`JSONRPC`].
    pub jsonrpc: &'static str,
    /// What the answer will echo; a notification has none and gets no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<RequestId>,
    /// The method's name.
    pub method: &'a str,
    /// The parameters: always an object.
    pub params: &'a P,
}

impl<'a, P> Call<'a, P> {
    /// Returns a request.
    pub fn request(id: RequestId, method: &'a str, params: &'a P) -> Self {
        Self { jsonrpc: JSONRPC, id: Some(id), method, params }
    }

    /// Returns a notification.
    pub fn notification(method: &'a str, params: &'a P) -> Self {
        Self { jsonrpc: JSONRPC, id: None, method, params }
    }
}

/// Anything that a server sends: an answer (no `method`) or a notification (no `id`).
#[derive(Debug, Deserialize)]
pub struct Incoming {
    /// The id of the request that this answers; null when the server could not read it.
    #[serde(default)]
    pub id: Option<RequestId>,
    /// The notification's name.
    #[serde(default)]
    pub method: Option<String>,
    /// The notification's parameters.
    #[serde(default)]
    pub params: Option<Box<RawValue>>,
    /// The answer, when the call succeeded; it may be a JSON null.
    #[serde(default, deserialize_with = "present")]
    pub result: Option<Box<RawValue>>,
    /// The answer, when it did not.
    #[serde(default)]
    pub error: Option<RpcError>,
}

// A result of null is an answer; only a missing one is none.
fn present<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::deserialize(d).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_keep_their_kind() {
        for text in ["1", "-7", r#""abc""#] {
            let id: RequestId = serde_json::from_str(text).expect("an id");
            assert_eq!(serde_json::to_string(&id).expect("JSON"), text);
        }
        assert!(serde_json::from_str::<RequestId>("1.5").is_err());
        assert!(serde_json::from_str::<RequestId>("18446744073709551615").is_err());
    }

    #[test]
    fn a_null_result_is_an_answer() {
        let answer: Incoming = serde_json::from_str(r#"{"id":1,"result":null}"#).expect("one");
        assert_eq!(answer.result.as_deref().map(RawValue::get), Some("null"));
        let note: Incoming = serde_json::from_str(r#"{"method":"x"}"#).expect("one");
        assert!(note.result.is_none() && note.id.is_none());
    }

    #[test]
    fn a_call_is_a_json_rpc_message() {
        let params = serde_json::json!({});
        let call = Call::request(RequestId::Number(1), "server/status", &params);
        assert_eq!(
            serde_json::to_string(&call).expect("JSON"),
            r#"{"jsonrpc":"2.0","id":1,"method":"server/status","params":{}}"#
        );
        let params = serde_json::json!({"id": 1});
        let note = Call::notification("$/cancelRequest", &params);
        assert_eq!(
            serde_json::to_string(&note).expect("JSON"),
            r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#
        );
    }
}
