//! Reads messages that break the protocol in known ways: lone surrogates, and numbers outside their
//! range.
//!
//! A message that is dropped would leave the server with another text than the editor. Repairs are
//! logged; U+FFFD stands for a lone surrogate, which keeps positions in UTF-16 valid. Changes whose
//! text or range would be guessed are marked, see [`ChangeFault`].

use serde_json::Value;
use tower_lsp::ls_types::Uri;

/// The member of the parameters of a message that had invalid text.
const INVALID_TEXT: &str = "skillsd/invalidText";

/// Parses a message. Lone surrogates and invalid UTF-8 become U+FFFD.
pub(crate) fn parse(bytes: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(bytes).or_else(|error| {
        let text = String::from_utf8_lossy(bytes);
        let mut message: Value =
            serde_json::from_str(&replace_lone_surrogates(&text)).map_err(|_| error)?;
        tracing::warn!("received text that is not valid Unicode; replaced the invalid characters");
        if let Some(params) = message.get_mut("params").and_then(Value::as_object_mut) {
            params.insert(INVALID_TEXT.to_owned(), true.into());
        }
        Ok(message)
    })
}

/// A violation of LSP in the parameters of a document notification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ChangeFault {
    /// A part of the text is replaced by invalid text, which may be half of a character whose other
    /// half follows.
    Text,
    /// A position is negative or no whole number, or a range ends before it starts.
    Position,
}

/// Returns the violation in a change after which the text is unknown. Changes before a whole text
/// do not count.
pub(crate) fn change_fault(params: &Value) -> Option<ChangeFault> {
    let has_invalid_text = params.get(INVALID_TEXT).is_some();
    let changes = params["contentChanges"].as_array()?;
    let part = |it| Some((it, Value::get(it, "range").filter(|it| !it.is_null())?));
    changes.iter().rev().map_while(part).find_map(|(change, range)| {
        let place = ["start", "end"].map(|edge| {
            ["line", "character"].map(|key| range[edge][key].as_f64().unwrap_or_default())
        });
        let is_valid = |it: &f64| *it >= 0.0 && it.fract() == 0.0;
        if !place.iter().flatten().all(is_valid) || place[0] > place[1] {
            return Some(ChangeFault::Position);
        }
        let is_invalid = change["text"].as_str().is_some_and(|it| it.contains('\u{FFFD}'));
        (has_invalid_text && is_invalid).then_some(ChangeFault::Text)
    })
}

/// Returns the path of the first parameter that LSP does not allow: a URI that is none, or a
/// position that is no whole number.
pub(crate) fn invalid_param(params: &Value) -> Option<String> {
    let is_position = |it: &Value| it.as_u64().is_some_and(|it| u32::try_from(it).is_ok());
    let is_uri = |it: &Value| it.as_str().is_none_or(|it| it.parse::<Uri>().is_ok());
    let within = |key: &str, value| Some(format!("{key}.{}", invalid_param(value)?));
    match params {
        Value::Object(fields) => fields.iter().find_map(|(key, value)| match &**key {
            "uri" => (!is_uri(value)).then(|| key.clone()),
            "line" | "character" => (!is_position(value)).then(|| key.clone()),
            _ => within(key, value),
        }),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, it)| within(&index.to_string(), it))
        }
        _ => None,
    }
}

/// Replaces escapes of surrogates that have no partner. Takes the JSON text.
fn replace_lone_surrogates(text: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        replaced.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match unit(rest) {
            Some(0xD800..=0xDBFF) if matches!(unit(&rest[6..]), Some(0xDC00..=0xDFFF)) => 12,
            Some(0xD800..=0xDFFF) => {
                replaced.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            // The backslash and the character that it escapes.
            _ => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        replaced.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    replaced + rest
}

/// Returns the UTF-16 code unit of the escape at the start of a text.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

/// Stands for a version that is missing or that LSP does not allow.
pub(crate) const NO_VERSION: i32 = i32::MIN;

/// Clamps the positions of a notification to the numbers that LSP allows, and replaces any other
/// version by [`NO_VERSION`].
pub(crate) fn clamp_numbers(params: &mut Value) {
    match params {
        Value::Object(fields) => {
            for (key, value) in fields {
                match &**key {
                    "version" => replace_invalid_version(value),
                    "line" | "character" => clamp(key, value, (0.0, f64::from(u32::MAX))),
                    _ => clamp_numbers(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(clamp_numbers),
        _ => {}
    }
}

fn replace_invalid_version(value: &mut Value) {
    let is_whole = value.as_f64().is_some_and(|it| it.fract() == 0.0);
    let whole = value.as_f64().filter(|_| is_whole).map(|it| it as i64);
    let version = whole.and_then(|it| i32::try_from(it).ok()).unwrap_or(NO_VERSION);
    if value.as_i64() != Some(version.into()) {
        tracing::warn!(%value, "received a version that is no valid number");
        *value = version.into();
    }
}

fn clamp(key: &str, value: &mut Value, (least, most): (f64, f64)) {
    let clamped = match value.as_f64() {
        Some(number) => number.clamp(least, most).round() as i64,
        None => return,
    };
    if value.as_i64() != Some(clamped) {
        tracing::warn!(%value, used = clamped, "received a {key} that is no valid number");
        *value = clamped.into();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        for (written, expected) in [
            (r#""a\ud83d""#, "a\u{FFFD}"),
            (r#""\udd80\ud83db""#, "\u{FFFD}\u{FFFD}b"),
            (r#""\ud83e\udd80 \ud83e""#, "🦀 \u{FFFD}"),
            (r#""\\ud83d \u00e9\ud83d""#, "\\ud83d é\u{FFFD}"),
        ] {
            assert_eq!(parse(written.as_bytes()).unwrap(), json!(expected), "{written}");
        }
        assert_eq!(parse(b"\"a\xED\xA0\xBD\"").unwrap(), json!("a\u{FFFD}\u{FFFD}\u{FFFD}"));
        assert!(parse(br#"{"a": \ud83d"#).is_err());
        assert!(parse(br#""\ud83"#).is_err());
    }

    #[test]
    fn invalid_uri_or_position_is_named_by_its_path() {
        let uri = "file:///a/SKILL.md";
        for (params, expected) in [
            (json!({"textDocument": {"uri": "a b"}}), Some("textDocument.uri")),
            (json!({"position": {"line": 1, "character": -1}}), Some("position.character")),
            (json!({"ranges": [{"start": {"line": 0.5}}]}), Some("ranges.0.start.line")),
            (json!({"textDocument": {"uri": uri}, "position": {"line": 1}}), None),
        ] {
            assert_eq!(invalid_param(&params).as_deref(), expected, "{params}");
        }
    }

    #[test]
    fn numbers_are_clamped_and_text_is_kept() {
        let mut params = json!({"textDocument": {"version": null, "text": "version"}, "contentChanges": [
            {"range": {"start": {"line": -1, "character": 1.5e300}, "end": {"line": 3, "character": 4}}}]});
        clamp_numbers(&mut params);
        assert_eq!(params["textDocument"], json!({"version": NO_VERSION, "text": "version"}));
        assert_eq!(
            params["contentChanges"][0]["range"],
            json!({
            "start": {"line": 0, "character": u32::MAX}, "end": {"line": 3, "character": 4}})
        );
        let mut params = json!({"version": 1_u64 << 40});
        clamp_numbers(&mut params);
        assert_eq!(params, json!({"version": NO_VERSION}));
    }
}
