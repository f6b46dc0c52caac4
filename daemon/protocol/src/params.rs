//! Parameters of a call: from JSON text to a method's type.
//!
//! Every refusal names the parameter. A parameter that no method has is refused by all methods,
//! because a misspelled one would change the answer unnoticed. A method ignores the parameters of
//! other methods, so that a client can send one set to all, and those in [`OTHERS`].

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_ignored::Path;
use serde_json::Value;

use crate::error::{RpcError, shortened};
use crate::{bounds, shape};

/// Parameters that are ignored: those that libraries for LSP and MCP add on their own, and members
/// of the objects in which a client describes itself.
const OTHERS: &[&str] = &[
    "_meta",
    "capabilities",
    "clientInfo",
    "initializationOptions",
    "locale",
    "partialResultToken",
    "processId",
    "rootPath",
    "rootUri",
    "trace",
    "workDoneToken",
    "workspaceFolders",
];

/// Parses the parameters of a method. Absent parameters, `null` and an empty list are an empty
/// object. `names` returns the parameters of all methods.
pub(crate) fn parse<P: DeserializeOwned>(
    params: Option<&str>,
    names: &BTreeSet<&str>,
) -> Result<P, RpcError> {
    let text = match params.map(str::trim) {
        // The dispatcher passes an empty list for absent parameters.
        None | Some("" | "null" | "[]") => "{}",
        Some(text) => text,
    };
    if text.starts_with('[') {
        return Err(RpcError::invalid_params("the parameters are a list, not an object")
            .with_hint("Send the parameters as an object with named fields."));
    }
    bounds::check(text)?;
    let mut unknown = None;
    let mut reader = serde_json::Deserializer::from_str(text);
    // One type for all methods, so that the reader's code is compiled once.
    let mut on_ignored: &mut dyn FnMut(Path<'_>) = &mut |path| {
        let path = segments(&path);
        let first = path.first().map_or("", String::as_str);
        if !OTHERS.contains(&first) && !path.last().is_some_and(|it| names.contains(&**it)) {
            unknown.get_or_insert(path);
        }
    };
    let parsed: Result<P, _> =
        deserialize_erased(&mut <dyn erased_serde::Deserializer<'_>>::erase(
            serde_ignored::Deserializer::new(&mut reader, &mut on_ignored),
        ));
    match (unknown, parsed) {
        (Some(path), _) => Err(unknown_parameter(&path, shape::fields::<P>())),
        (None, Ok(parsed)) if reader.end().is_ok() => Ok(parsed),
        (None, _) => Err(invalid(text, |reader| deserialize_erased::<P>(reader).err())),
    }
}

/// Deserializes through a trait object, so that a type's code is compiled once for all readers.
fn deserialize_erased<P: DeserializeOwned>(
    reader: &mut dyn erased_serde::Deserializer<'_>,
) -> Result<P, erased_serde::Error> {
    erased_serde::deserialize(reader)
}

/// Returns the names and `[index]`es that lead to a value.
fn segments(path: &Path<'_>) -> Vec<String> {
    let (parent, own) = match path {
        Path::Root => return Vec::new(),
        Path::Map { parent, key } => (parent, Some(key.clone())),
        Path::Seq { parent, index } => (parent, Some(format!("[{index}]"))),
        Path::Some { parent }
        | Path::NewtypeStruct { parent }
        | Path::NewtypeVariant { parent } => (parent, None),
    };
    let mut segments = segments(parent);
    segments.extend(own);
    segments
}

fn unknown_parameter(path: &[String], names: &[&str]) -> RpcError {
    let shown = path.join(".").replace(".[", "[");
    let path_text = format!("params.{}", shortened(&shown));
    let name = path.last().map_or("", String::as_str);
    let near = names.iter().map(|it| (distance(name, it), *it)).min();
    let hint = match near {
        Some((distance, near)) if path.len() == 1 && 3 * distance <= near.len() => {
            format!("Did you mean `{near}`?")
        }
        _ => "docs/protocol.md lists the parameters of each method.".to_owned(),
    };
    RpcError::invalid_params(format!("{path_text}: there is no such parameter"))
        .with_param(path_text)
        .with_hint(hint)
}

/// Returns the number of letters to insert, remove or replace, without case.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    // Every parameter name is shorter; comparing more letters cannot help.
    for (i, x) in a.to_lowercase().chars().take(64).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// Returns the error for parameters that do not have the method's type, into which `read` tries to
/// deserialize them.
fn invalid(
    text: &str,
    read: fn(&mut dyn erased_serde::Deserializer<'_>) -> Option<erased_serde::Error>,
) -> RpcError {
    let mut reader = serde_json::Deserializer::from_str(text);
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(&mut reader, &mut track);
    let Some(error) = read(&mut <dyn erased_serde::Deserializer<'_>>::erase(tracked)) else {
        return RpcError::invalid_params("the parameters are not one JSON object");
    };
    let error_path = track.path();
    let mut path = match error_path.to_string() {
        root if root == "." => "params".to_owned(),
        path => format!("params.{}", shortened(&path)),
    };
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(&*message, |it| it.0);
    if let Some(name) = message.strip_prefix("missing field `").and_then(|it| it.strip_suffix('`'))
    {
        path = format!("{path}.{name}");
        return RpcError::invalid_params(format!("{path}: {message}")).with_param(path);
    }
    let is_duplicate = message.starts_with("duplicate field");
    let found = value_at(text, &error_path).filter(|_| !is_duplicate);
    let found = found.map(|it| shown_value(&it));
    let expected = message.rsplit_once(", expected ").map(|it| plain(it.1));
    let message = match (expected, found) {
        // serde_json says only `expected value` for a value of an enum that is not a string.
        (None, Some(found)) if message == "expected value" => {
            format!("{path}: expected a string, got {found}")
        }
        (Some(expected), Some(found)) => format!("{path}: expected {expected}, got {found}"),
        (None, Some(found)) => format!("{path}: {message}, got {found}"),
        (_, None) => format!("{path}: {message}"),
    };
    RpcError::invalid_params(message).with_param(path)
}

fn value_at(text: &str, path: &serde_path_to_error::Path) -> Option<Value> {
    use serde_path_to_error::Segment;
    let mut value = Value::deserialize(&mut serde_json::Deserializer::from_str(text)).ok()?;
    for segment in path {
        value = match segment {
            Segment::Map { key } => value.get_mut(key)?.take(),
            Segment::Seq { index } => value.get_mut(index)?.take(),
            Segment::Enum { .. } | Segment::Unknown => return Some(value),
        };
    }
    Some(value)
}

fn shown_value(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::String(text) => format!("`{}`", shortened(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Returns serde's name of a type in JSON's words.
fn plain(expected: &str) -> String {
    match expected {
        "a sequence" => "a list".to_owned(),
        "a map" => "an object".to_owned(),
        "u8" => format!("a whole number from 0 to {}", u8::MAX),
        "u16" => format!("a whole number from 0 to {}", u16::MAX),
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "u64" | "usize" => "a whole number from 0".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "an integer".to_owned(),
        _ if expected.starts_with("struct ") => "an object".to_owned(),
        _ => expected.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::method::{Initialize, Request, ServerStatus, SkillsList, SkillsLoad, SkillsRead};

    #[track_caller]
    fn check<M: Request>(params: &str, expected: &Expect) {
        let error = M::parse_params(Some(params)).err().expect("the parameters are refused");
        let data = error.data.unwrap_or_default();
        let path = data.path.unwrap_or_default();
        let hint = data.hint.unwrap_or_default();
        expected.assert_eq(&format!("{} [{path}] {hint}", error.message));
    }

    #[test]
    fn value_of_the_wrong_type_is_named_with_its_path() {
        check::<SkillsList>(
            r#"{"cwd": 5}"#,
            &expect![
                "params.cwd: expected a string, got 5 [params.cwd] The parameters of each method are in docs/protocol.md."
            ],
        );
        check::<SkillsList>(
            r#"{"cwd": "/w", "additionalDirs": ["/a", {}]}"#,
            &expect![
                "params.additionalDirs[1]: expected a string, got an object [params.additionalDirs[1]] The parameters of each method are in docs/protocol.md."
            ],
        );
        check::<SkillsList>(
            r#"{"environment": {"HOME": [1]}}"#,
            &expect![
                "params.environment.HOME: expected a string, got a list [params.environment.HOME] The parameters of each method are in docs/protocol.md."
            ],
        );
        check::<SkillsList>(
            r#"{"include": "all"}"#,
            &expect![
                "params.include: expected a list, got `all` [params.include] The parameters of each method are in docs/protocol.md."
            ],
        );
        check::<SkillsList>(
            r#"{"limit": -1}"#,
            &expect![
                "params.limit: expected a whole number from 0 to 4294967295, got -1 [params.limit] The parameters of each method are in docs/protocol.md."
            ],
        );
        check::<SkillsList>(
            r#"{"freshness": "soon"}"#,
            &expect![
                "params.freshness: expected one of `cached`, `synced`, `verified`, got `soon` [params.freshness] The parameters of each method are in docs/protocol.md."
            ],
        );
        check::<SkillsList>(
            r#"{"freshness": 5}"#,
            &expect![
                "params.freshness: expected a string, got 5 [params.freshness] The parameters of each method are in docs/protocol.md."
            ],
        );
        check::<SkillsList>(
            r#"{"cwd": "/w", "cwd": "/v"}"#,
            &expect![
                "params: duplicate field `cwd` [params] The parameters of each method are in docs/protocol.md."
            ],
        );
        check::<SkillsRead>(
            "{}",
            &expect![
                "params.relative: missing field `relative` [params.relative] The parameters of each method are in docs/protocol.md."
            ],
        );
        let long = format!(r#"{{"limit": "{}"}}"#, "x".repeat(2000));
        check::<SkillsList>(
            &long,
            &expect![
                "params.limit: expected a whole number from 0 to 4294967295, got `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` [params.limit] The parameters of each method are in docs/protocol.md."
            ],
        );
    }

    #[test]
    fn unknown_parameter_is_refused_with_the_nearest_name() {
        check::<SkillsList>(
            r#"{"cwd": "/w", "profle": "codex"}"#,
            &expect![
                "params.profle: there is no such parameter [params.profle] Did you mean `profile`?"
            ],
        );
        check::<SkillsList>(
            r#"{"additional_dirs": []}"#,
            &expect![
                "params.additional_dirs: there is no such parameter [params.additional_dirs] Did you mean `additionalDirs`?"
            ],
        );
        check::<ServerStatus>(
            r#"{"everything": true}"#,
            &expect![
                "params.everything: there is no such parameter [params.everything] docs/protocol.md lists the parameters of each method."
            ],
        );
        check::<SkillsLoad>(
            r#"{"name": "a", "shellResults": [{"ouput": ""}]}"#,
            &expect![
                "params.shellResults[0].ouput: there is no such parameter [params.shellResults[0].ouput] docs/protocol.md lists the parameters of each method."
            ],
        );
        check::<SkillsLoad>(
            r#"{"nam": "a"}"#,
            &expect!["params.nam: there is no such parameter [params.nam] Did you mean `name`?"],
        );
    }

    #[test]
    fn parameters_of_other_methods_and_other_protocols_are_ignored() {
        let status = r#"{"cwd": "/w", "profile": "codex", "query": "x", "_meta": {"x": 1}}"#;
        assert!(ServerStatus::parse_params(Some(status)).is_ok());
        let initialize = r#"{"processId": 1, "rootUri": null, "clientInfo": {"name": "x", "version": "1", "title": "X"}, "capabilities": {"x": {}}}"#;
        assert!(Initialize::parse_params(Some(initialize)).is_ok());
    }
}
