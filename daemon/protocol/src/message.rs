//! JSON-RPC 2.0 messages as a client writes and reads them.
//!
//! The server uses its dispatcher's types for the same JSON. Results stay unparsed ([`RawValue`]),
//! so that a caller that only forwards them does not parse them.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::error::RpcError;

/// Value of every message's `jsonrpc` field.
pub const JSONRPC: &str = "2.0";

/// Id of a request: a number or a string, returned in its response.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RequestId {
    /// An integer.
    Number(i64),
    /// A string.
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

/// A request, or a notification if it has no id.
#[derive(Debug, Serialize)]
pub struct Call<'a, P: ?Sized> {
    /// Always [`JSONRPC`].
    pub jsonrpc: &'static str,
    /// Id returned in the response; a notification has none and gets no response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<RequestId>,
    /// The method's name.
    pub method: &'a str,
    /// The parameters, always an object.
    pub params: &'a P,
}

impl<'a, P: ?Sized> Call<'a, P> {
    /// Returns a request.
    pub fn request(id: RequestId, method: &'a str, params: &'a P) -> Self {
        Self { jsonrpc: JSONRPC, id: Some(id), method, params }
    }

    /// Returns a notification.
    pub fn notification(method: &'a str, params: &'a P) -> Self {
        Self { jsonrpc: JSONRPC, id: None, method, params }
    }
}

/// A message from the server: a response (no `method`) or a notification (no `id`).
#[derive(Debug, Deserialize)]
pub struct Incoming {
    /// Id of the request; null if the server could not read it.
    #[serde(default)]
    pub id: Option<RequestId>,
    /// The notification's name.
    #[serde(default)]
    pub method: Option<String>,
    /// The notification's parameters.
    #[serde(default)]
    pub params: Option<Box<RawValue>>,
    /// The result if the call succeeded; may be JSON null.
    #[serde(default, deserialize_with = "present")]
    pub result: Option<Box<RawValue>>,
    /// The error if the call failed.
    #[serde(default)]
    pub error: Option<RpcError>,
}

// A null result is a result; only an absent field means none.
fn present<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::deserialize(d).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_ids_keep_their_type() {
        for text in ["1", "-7", r#""abc""#] {
            let id: RequestId = serde_json::from_str(text).expect("an id");
            assert_eq!(serde_json::to_string(&id).expect("JSON"), text);
        }
        assert!(serde_json::from_str::<RequestId>("1.5").is_err());
        assert!(serde_json::from_str::<RequestId>("18446744073709551615").is_err());
    }

    #[test]
    fn null_result_is_a_result() {
        let answer: Incoming = serde_json::from_str(r#"{"id":1,"result":null}"#).expect("one");
        assert_eq!(answer.result.as_deref().map(RawValue::get), Some("null"));
        let note: Incoming = serde_json::from_str(r#"{"method":"x"}"#).expect("one");
        assert!(note.result.is_none() && note.id.is_none());
    }

    #[test]
    fn call_serializes_as_json_rpc() {
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
