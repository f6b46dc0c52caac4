//! Addresses as the client spells them, where that is not how addresses are spelled.
//!
//! Some clients write what a path holds as it is: blanks, brackets, letters beyond ASCII. Inside,
//! all addresses are percent-encoded; a client is answered in its own letters, since it knows a
//! text by them. So messages are respelled on their way in and out, and nothing else knows of it.
//! What is no address however it is read is left out where others stand beside it: one bad folder
//! is no reason to serve none.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use tower_lsp::ls_types::Uri;
use tower_lsp::ls_types::notification::{DidChangeWorkspaceFolders, Notification as _};
use tower_lsp::ls_types::request::{Initialize, Request as _};

/// The keys under which the protocol has addresses.
const KEYS: [&str; 7] = ["uri", "rootUri", "oldUri", "newUri", "baseUri", "scopeUri", "targetUri"];

/// How many spellings are kept; who has more texts open is not served better by us.
const MOST: usize = 10_000;

/// What a client has spelled in its own way: by how it is spelled inside.
#[derive(Debug, Default)]
pub(crate) struct UriMapper(Mutex<HashMap<String, String>>);

impl UriMapper {
    /// Respells a message of the client.
    pub(crate) fn take_in(&self, message: &mut Value) {
        let Some(message) = message.as_object_mut() else { return };
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
        let Some(params) = message.get_mut("params") else { return };
        self.encode(params);
        if method == Initialize::METHOD {
            keep_folders(params.get_mut("workspaceFolders"));
            if let Some(root) = params.get_mut("rootUri").filter(|it| !is_address(it)) {
                warn(root);
                *root = Value::Null;
            }
        } else if method == DidChangeWorkspaceFolders::METHOD {
            keep_folders(params.pointer_mut("/event/added"));
            keep_folders(params.pointer_mut("/event/removed"));
        }
    }

    /// Respells a message to the client.
    pub(crate) fn put_out(&self, message: &mut Value) {
        decode(message, &self.known());
    }

    /// Whether the client has spelled anything in its own way.
    pub(crate) fn is_own(&self) -> bool {
        !self.known().is_empty()
    }

    fn encode(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match value {
                        Value::String(address) if KEYS.contains(&key.as_str()) => {
                            self.encode_one(address);
                        }
                        value => self.encode(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|it| self.encode(it)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn encode_one(&self, address: &mut String) {
        if address.parse::<Uri>().is_ok() {
            return;
        }
        let encoded = encoded(address);
        if encoded.parse::<Uri>().is_err() {
            return;
        }
        let own = std::mem::replace(address, encoded.clone());
        let mut known = self.known();
        if known.len() < MOST {
            known.insert(encoded, own);
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, String>> {
        // One entry is put in at a time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts the client's own spelling in the place of ours: in values, and in keys of edits by address.
fn decode(value: &mut Value, known: &HashMap<String, String>) {
    match value {
        Value::String(text) => {
            if let Some(own) = known.get(text) {
                text.clone_from(own);
            }
        }
        Value::Object(fields) => {
            fields.values_mut().for_each(|it| decode(it, known));
            if fields.keys().any(|it| known.contains_key(it)) {
                let spelled = |key: String| known.get(&key).cloned().unwrap_or(key);
                let all: Map<String, Value> = std::mem::take(fields)
                    .into_iter()
                    .map(|(key, value)| (spelled(key), value))
                    .collect();
                *fields = all;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|it| decode(it, known)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Percent-encodes what cannot stand in an address as it is.
fn encoded(address: &str) -> String {
    let mut encoded = String::with_capacity(address.len() + 16);
    let bytes = address.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let is_hex = |it: &u8| it.is_ascii_hexdigit();
        let stands = match byte {
            b'%' => bytes.get(at + 1..at + 3).is_some_and(|it| it.iter().all(is_hex)),
            it => it.is_ascii_alphanumeric() || b"-._~:/?#@!$&'()*+,;=".contains(&it),
        };
        if stands {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Leaves out the folders that have no address.
fn keep_folders(folders: Option<&mut Value>) {
    let Some(folders) = folders.and_then(Value::as_array_mut) else { return };
    folders.retain_mut(|it| {
        let is_folder = it.get("uri").is_some_and(|it| it.is_string() && is_address(it));
        if !is_folder {
            warn(it);
            return false;
        }
        // Nothing of ours depends on what it is called.
        if let Some(folder) = it.as_object_mut() {
            folder.entry("name").or_insert_with(|| Value::from(""));
        }
        true
    });
}

fn is_address(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(it) => it.parse::<Uri>().is_ok(),
        _ => false,
    }
}

fn warn(folder: &Value) {
    tracing::warn!(%folder, "a folder is left out: it has no address that can be read");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_address_is_spelled_inside_as_the_standard_wants_it() {
        for (own, inside) in [
            ("file:///w/[a] b/{c|d}/é\"", "file:///w/%5Ba%5D%20b/%7Bc%7Cd%7D/%C3%A9%22"),
            ("file:///w/100%/%41 b", "file:///w/100%25/%41%20b"),
        ] {
            let spelling = UriMapper::default();
            let mut message = json!({"method": "x", "params": {"textDocument": {"uri": own}}});
            spelling.take_in(&mut message);
            assert_eq!(message["params"]["textDocument"]["uri"], inside);
            let mut answer = json!({"uri": inside, "changes": {inside: []}, "text": "é"});
            spelling.put_out(&mut answer);
            assert_eq!(answer, json!({"uri": own, "changes": {own: []}, "text": "é"}));
        }
    }

    #[test]
    fn what_is_spelled_well_stays_as_it_is() {
        let spelling = UriMapper::default();
        let before =
            json!({"method": "x", "params": {"uri": "file:///w/%5ba%5D", "text": "[a] b"}});
        let mut message = before.clone();
        spelling.take_in(&mut message);
        assert_eq!(message, before);
        assert!(!spelling.is_own());
    }

    #[test]
    fn folders_without_an_address_are_left_out() {
        let folders = json!([{"uri": "", "name": "a"}, {"name": "b"}, 3, {"uri": "file:///w/[c]"}]);
        let mut message = json!({"method": "initialize",
            "params": {"rootUri": 3, "workspaceFolders": folders}});
        UriMapper::default().take_in(&mut message);
        let kept = json!([{"uri": "file:///w/%5Bc%5D", "name": ""}]);
        assert_eq!(message["params"], json!({"rootUri": null, "workspaceFolders": kept}));
    }
}
