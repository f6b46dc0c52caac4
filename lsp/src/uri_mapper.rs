//! Maps URIs between the client's form and percent-encoded form.
//!
//! Some clients send paths in URIs without encoding spaces, brackets or letters outside ASCII.
//! Inside the server all URIs are percent-encoded. [`UriMapper`] rewrites messages in both
//! directions, because the client identifies a document by its own form.
//!
//! Workspace folders whose URI cannot be parsed are dropped, so that the valid ones are still
//! served.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Mutex;

use serde_json::{Map, Value};
use skills_platform::lock::lock;
use tower_lsp::ls_types::Uri;
use tower_lsp::ls_types::notification::{DidChangeWorkspaceFolders, Notification as _};
use tower_lsp::ls_types::request::{Initialize, Request as _};

/// The keys of URIs in LSP messages.
const URI_KEYS: [&str; 7] =
    ["uri", "rootUri", "oldUri", "newUri", "baseUri", "scopeUri", "targetUri"];

/// The maximum number of mappings kept. Further URIs are returned in encoded form.
const MAX_MAPPINGS: usize = 10_000;

/// Percent-encoded URIs, with the client's form of each.
#[derive(Debug, Default)]
pub(crate) struct UriMapper(Mutex<HashMap<String, String>>);

impl UriMapper {
    /// Encodes the URIs in a message from the client.
    pub(crate) fn map_incoming(&self, message: &mut Value) {
        let Some(message) = message.as_object_mut() else { return };
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
        let Some(params) = message.get_mut("params") else { return };
        self.normalize(params);
        if method == Initialize::METHOD {
            retain_valid_folders(params.get_mut("workspaceFolders"));
            if let Some(root) = params.get_mut("rootUri").filter(|it| !is_uri_or_null(it)) {
                warn(root);
                *root = Value::Null;
            }
        } else if method == DidChangeWorkspaceFolders::METHOD {
            retain_valid_folders(params.pointer_mut("/event/added"));
            retain_valid_folders(params.pointer_mut("/event/removed"));
        }
    }

    /// Restores the client's form of the URIs in a message to the client.
    pub(crate) fn map_outgoing(&self, message: &mut Value) {
        restore(message, &lock(&self.0));
    }

    /// Returns true if any URI of the client needed encoding.
    pub(crate) fn has_mappings(&self) -> bool {
        !lock(&self.0).is_empty()
    }

    fn normalize(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match value {
                        Value::String(uri) if URI_KEYS.contains(&key.as_str()) => {
                            self.normalize_uri(uri);
                        }
                        value => self.normalize(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|it| self.normalize(it)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn normalize_uri(&self, uri: &mut String) {
        if uri.parse::<Uri>().is_ok() {
            return;
        }
        let encoded = percent_encode(uri);
        if encoded.parse::<Uri>().is_err() {
            return;
        }
        let own = std::mem::replace(uri, encoded.clone());
        let mut mappings = lock(&self.0);
        if mappings.len() < MAX_MAPPINGS {
            mappings.insert(encoded, own);
        }
    }
}

/// Restores the client's URIs in values, and in the keys of edits by URI.
fn restore(value: &mut Value, mappings: &HashMap<String, String>) {
    match value {
        Value::String(text) => {
            if let Some(own) = mappings.get(text) {
                text.clone_from(own);
            }
        }
        Value::Object(fields) => {
            fields.values_mut().for_each(|it| restore(it, mappings));
            if fields.keys().any(|it| mappings.contains_key(it)) {
                let spelled = |key: String| mappings.get(&key).cloned().unwrap_or(key);
                let all: Map<String, Value> = std::mem::take(fields)
                    .into_iter()
                    .map(|(key, value)| (spelled(key), value))
                    .collect();
                *fields = all;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|it| restore(it, mappings)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Percent-encodes the bytes that a URI may not contain.
fn percent_encode(uri: &str) -> String {
    let mut encoded = String::with_capacity(uri.len() + 16);
    let bytes = uri.as_bytes();
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

/// Drops folders without a valid URI.
fn retain_valid_folders(folders: Option<&mut Value>) {
    let Some(folders) = folders.and_then(Value::as_array_mut) else { return };
    folders.retain_mut(|it| {
        let is_folder = it.get("uri").is_some_and(|it| it.is_string() && is_uri_or_null(it));
        if !is_folder {
            warn(it);
            return false;
        }
        // The server does not use the folder's name.
        if let Some(folder) = it.as_object_mut() {
            folder.entry("name").or_insert_with(|| Value::from(""));
        }
        true
    });
}

fn is_uri_or_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(it) => it.parse::<Uri>().is_ok(),
        _ => false,
    }
}

fn warn(folder: &Value) {
    tracing::warn!(%folder, "ignored a workspace folder without a valid URI");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn uris_are_percent_encoded_and_restored() {
        for (own, inside) in [
            ("file:///w/[a] b/{c|d}/é\"", "file:///w/%5Ba%5D%20b/%7Bc%7Cd%7D/%C3%A9%22"),
            ("file:///w/100%/%41 b", "file:///w/100%25/%41%20b"),
        ] {
            let uris = UriMapper::default();
            let mut message = json!({"method": "x", "params": {"textDocument": {"uri": own}}});
            uris.map_incoming(&mut message);
            assert_eq!(message["params"]["textDocument"]["uri"], inside);
            let mut answer = json!({"uri": inside, "changes": {inside: []}, "text": "é"});
            uris.map_outgoing(&mut answer);
            assert_eq!(answer, json!({"uri": own, "changes": {own: []}, "text": "é"}));
        }
    }

    #[test]
    fn valid_uris_are_unchanged() {
        let uris = UriMapper::default();
        let before =
            json!({"method": "x", "params": {"uri": "file:///w/%5ba%5D", "text": "[a] b"}});
        let mut message = before.clone();
        uris.map_incoming(&mut message);
        assert_eq!(message, before);
        assert!(!uris.has_mappings());
    }

    #[test]
    fn folders_without_a_valid_uri_are_dropped() {
        let folders = json!([{"uri": "", "name": "a"}, {"name": "b"}, 3, {"uri": "file:///w/[c]"}]);
        let mut message = json!({"method": "initialize",
            "params": {"rootUri": 3, "workspaceFolders": folders}});
        UriMapper::default().map_incoming(&mut message);
        let kept = json!([{"uri": "file:///w/%5Bc%5D", "name": ""}]);
        assert_eq!(message["params"], json!({"rootUri": null, "workspaceFolders": kept}));
    }
}
