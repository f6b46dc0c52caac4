//! Bounds on single parameters: the maximum length of a path, an id, a query or a list.
//!
//! They are checked here only, before a method parses its parameters, so that no handler sees a
//! value over its bound. A parameter's name determines its bound. Invariant: the numbers equal
//! those of [`Limits`](crate::limits::Limits) in the result of `initialize`.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::error::RpcError;
use crate::message::RequestId;

/// Maximum bytes in a path: Linux's `PATH_MAX`.
pub const PATH_BYTES: usize = 4096;

/// Maximum components in a path. Discovery searches every ancestor of a working directory, so the
/// cost of a path grows with the square of its depth.
pub const PATH_COMPONENTS: usize = 128;

/// Maximum bytes in an id (of a session, an agent, a subscription, a request) and in a profile's
/// name.
pub const ID_BYTES: usize = 256;

/// Maximum characters in a query or in a skill's name.
pub const QUERY_CHARACTERS: usize = 1000;

/// Maximum items in a list, and variables in `environment`.
pub const LIST_ITEMS: usize = 1000;

/// Maximum bytes in the value of one variable in `environment`.
pub const ENVIRONMENT_VALUE_BYTES: usize = 32 * 1024;

/// Kind of bound that applies to a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    Path,
    Id,
    Query,
    /// A map of variables.
    Environment,
    /// The value of one variable.
    Variable,
    /// The encoding of the paths in the same object.
    Encoding,
    /// A string or an object without a bound of its own; lists in it are bounded.
    Other,
    /// JSON of a third party that the protocol only passes on.
    Foreign,
}

impl Bound {
    fn of(name: &str) -> Self {
        match name {
            "cwd" | "path" | "dir" | "relative" | "paths" | "additionalDirs" => Self::Path,
            "session" | "agent" | "subscription" | "id" | "profile" | "profiles" => Self::Id,
            "query" | "name" => Self::Query,
            "environment" => Self::Environment,
            "pathEncoding" => Self::Encoding,
            "payload" | "metadata" | "userConfig" | "capabilities" => Self::Foreign,
            _ => Self::Other,
        }
    }

    /// Returns the bound of a string, its unit, and a noun for the string.
    fn text_bound(self) -> Option<(usize, &'static str, &'static str)> {
        match self {
            Self::Path => Some((PATH_BYTES, "bytes", "a path")),
            Self::Id => Some((ID_BYTES, "bytes", "an id")),
            Self::Query => Some((QUERY_CHARACTERS, "characters", "a query or name")),
            Self::Variable => Some((ENVIRONMENT_VALUE_BYTES, "bytes", "a variable")),
            Self::Environment | Self::Encoding | Self::Other | Self::Foreign => None,
        }
    }
}

/// A parameter over its bound.
struct Excess {
    /// Path of the parameter, such as `params.cwd`.
    path: String,
    what: &'static str,
    unit: &'static str,
    limit: usize,
    /// Length as written.
    plain: usize,
    /// Length with each `%XX` counted as one byte.
    decoded: usize,
}

impl Excess {
    fn error(&self, length: usize) -> RpcError {
        let Self { path, what, unit, limit, .. } = self;
        RpcError::invalid_params(format!(
            "`{path}` has {length} {unit}; the limit for {what} is {limit}"
        ))
        .with_path(path, *limit as u64)
        .with_hint("Send less; `initialize` returns the limits.")
    }
}

/// Violations found in the parameters of one call.
#[derive(Default)]
struct BoundViolations {
    /// The first violation. Candidates that depend on the path encoding precede it.
    excess: Vec<Excess>,
    is_percent: bool,
}

impl BoundViolations {
    fn is_settled(&self) -> bool {
        self.excess.last().is_some_and(|it| it.decoded > it.limit)
    }
}

/// Returns whether a call may contain the path.
pub fn allows_path(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    bytes.len() <= PATH_BYTES && components(bytes) <= PATH_COMPONENTS
}

fn components(path: &[u8]) -> usize {
    path.split(|it| *it == b'/').filter(|it| !it.is_empty()).count()
}

/// Checks the parameters of a call, given as JSON text.
pub(crate) fn check(params: &str) -> Result<(), RpcError> {
    // Too short to violate any bound.
    if params.len() <= ID_BYTES {
        return Ok(());
    }
    let mut found = BoundViolations::default();
    let mut deserializer = serde_json::Deserializer::from_str(params);
    let check = Check { found: &mut found, bound: Bound::Other, place: &Place::Params };
    let walked = check.deserialize(&mut deserializer);
    let length = |it: &Excess| if found.is_percent { it.decoded } else { it.plain };
    match found.excess.iter().find(|it| length(it) > it.limit) {
        Some(excess) => Err(excess.error(length(excess))),
        // The walk stopped early, so some values are unchecked.
        None => {
            walked.map_err(|error| RpcError::invalid_params(format!("invalid parameters: {error}")))
        }
    }
}

/// Checks a request's id, which is stored until the request ends.
pub fn check_id(id: &RequestId) -> Result<(), RpcError> {
    let length = match id {
        RequestId::Number(_) => 0,
        RequestId::Text(text) => text.len(),
    };
    let (limit, unit, what) = (ID_BYTES, "bytes", "an id");
    let excess =
        Excess { path: "id".to_owned(), what, unit, limit, plain: length, decoded: length };
    if length > limit { Err(excess.error(length)) } else { Ok(()) }
}

/// Path of a value in the parameters, for messages.
enum Place<'a> {
    Params,
    Field(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An unknown name may be as long as the message.
        const SHOWN: usize = 64;
        match self {
            Self::Params => f.write_str("params"),
            Self::Field(of, name) => {
                of.fmt(f)?;
                f.write_str(".")?;
                name.chars().take(SHOWN).try_for_each(|it| fmt::Write::write_char(f, it))
            }
            Self::Item(of, index) => write!(f, "{of}[{index}]"),
        }
    }
}

/// Walks one value and records violations of its bound.
struct Check<'f, 'p> {
    found: &'f mut BoundViolations,
    bound: Bound,
    place: &'p Place<'p>,
}

impl Check<'_, '_> {
    fn note(&mut self, what: &'static str, unit: &'static str, limit: usize, lengths: [usize; 2]) {
        let [plain, decoded] = lengths;
        if plain > limit && !self.found.is_settled() {
            let path = self.place.to_string();
            self.found.excess.push(Excess { path, what, unit, limit, plain, decoded });
        }
    }
}

impl<'de> DeserializeSeed<'de> for Check<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.bound {
            Bound::Foreign => IgnoredAny::deserialize(deserializer).map(drop),
            _ => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Check<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(mut self, text: &str) -> Result<(), E> {
        let Some((limit, unit, what)) = self.bound.text_bound() else {
            let is_ours = matches!(self.place, Place::Field(Place::Params, _));
            if self.bound == Bound::Encoding && is_ours {
                self.found.is_percent = text == "percent";
            }
            return Ok(());
        };
        let lengths = match self.bound {
            Bound::Query => [text.chars().count(); 2],
            Bound::Path | Bound::Variable => {
                let n_escapes = text.bytes().filter(|it| *it == b'%').count();
                [text.len(), text.len().saturating_sub(2 * n_escapes)]
            }
            _ => [text.len(); 2],
        };
        self.note(what, unit, limit, lengths);
        if self.bound == Bound::Path {
            self.note("a path", "components", PATH_COMPONENTS, [components(text.as_bytes()); 2]);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        let mut count = 0;
        loop {
            let place = Place::Item(self.place, count);
            let item = Check { found: self.found, bound: self.bound, place: &place };
            if items.next_element_seed(item)?.is_none() {
                break;
            }
            count += 1;
        }
        self.note("a list", "items", LIST_ITEMS, [count; 2]);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
        let is_environment = self.bound == Bound::Environment;
        let mut count = 0;
        while let Some(Name(name)) = fields.next_key()? {
            count += 1;
            let place = Place::Field(self.place, &name);
            let bound = if is_environment { Bound::Variable } else { Bound::of(&name) };
            if is_environment {
                let mut of_name = Check { found: self.found, bound, place: &place };
                of_name.note("a variable's name", "bytes", ID_BYTES, [name.len(); 2]);
            }
            fields.next_value_seed(Check { found: self.found, bound, place: &place })?;
        }
        if is_environment {
            self.note("`environment`", "variables", LIST_ITEMS, [count; 2]);
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// A string that is borrowed if it contains no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn refused(params: &Value) -> (String, String) {
        let error = check(&params.to_string()).expect_err("it is over a bound");
        assert_eq!(error.code, crate::error::INVALID_PARAMS);
        (error.data.and_then(|it| it.path).expect("the parameter is named"), error.message)
    }

    #[track_caller]
    fn passes(params: &Value) {
        assert_eq!(check(&params.to_string()), Ok(()));
    }

    #[test]
    fn parameters_over_a_bound_are_refused_by_name() {
        let text = |length: usize| "ä".repeat(length / 2) + &"x".repeat(length % 2);
        let list = |length: usize| vec!["/w"; length];
        for (name, most) in [("cwd", 4096), ("session", 256), ("id", 256)] {
            passes(&json!({"pad": text(300), name: text(most)}));
            let (path, message) = refused(&json!({"pad": text(300), name: text(most + 1)}));
            assert_eq!(path, format!("params.{name}"));
            assert!(message.contains(&format!("{} bytes", most + 1)), "{message}");
        }
        passes(&json!({"cwd": "/a".repeat(128)}));
        let (path, message) = refused(&json!({"cwd": "/a".repeat(129)}));
        assert_eq!(path, "params.cwd");
        assert!(message.contains("129 components"), "{message}");
        passes(&json!({"query": "ä".repeat(1000)}));
        assert_eq!(refused(&json!({"query": "ä".repeat(1001)})).0, "params.query");
        passes(&json!({"paths": list(1000)}));
        assert_eq!(refused(&json!({"paths": list(1001)})).0, "params.paths");
        assert_eq!(refused(&json!({"unknown": list(1001)})).0, "params.unknown");
        assert_eq!(refused(&json!({"paths": ["/w", text(5000)]})).0, "params.paths[1]");
    }

    #[test]
    fn environment_names_values_and_count_are_bounded() {
        passes(&json!({"environment": {"HOME": "x".repeat(32 * 1024)}}));
        let long = json!({"environment": {"HOME": "x".repeat(32 * 1024 + 1)}});
        assert_eq!(refused(&long).0, "params.environment.HOME");
        let name = "N".repeat(257);
        let named = json!({"environment": {name.clone(): ""}});
        assert_eq!(refused(&named).0, format!("params.environment.{}", &name[..64]));
        let many: serde_json::Map<_, _> = (0..1001).map(|it| (it.to_string(), json!(""))).collect();
        assert_eq!(refused(&json!({"environment": many})).0, "params.environment");
    }

    #[test]
    fn percent_escape_counts_as_one_byte() {
        let path = "%FF".repeat(4096);
        passes(&json!({"cwd": path, "pathEncoding": "percent"}));
        assert_eq!(refused(&json!({"cwd": path})).0, "params.cwd");
        let longer = format!("{path}%FF");
        let both = json!({"cwd": path, "dir": longer, "pathEncoding": "percent"});
        assert_eq!(refused(&both).0, "params.dir");
    }

    #[test]
    fn third_party_json_is_not_bounded() {
        passes(&json!({"payload": {"path": "x".repeat(9000), "list": vec![1; 2000]}}));
        passes(&json!({"args": "x".repeat(9000), "message": "x".repeat(9000)}));
    }

    #[test]
    fn deep_nesting_before_a_parameter_is_refused() {
        let nested = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let cwd = "x".repeat(5000);
        for text in [
            format!(r#"{{"unknown":{nested},"cwd":"{cwd}"}}"#),
            format!(r#"{{"pathEncoding":5,"cwd":"{cwd}"}}"#),
            format!(r#"{{"pathEncoding":"percent","cwd":"{cwd}"}}"#),
        ] {
            assert!(check(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn request_ids_are_bounded() {
        assert_eq!(check_id(&RequestId::Text("x".repeat(256))), Ok(()));
        let error = check_id(&RequestId::Text("x".repeat(257))).expect_err("too long");
        assert_eq!(error.data.and_then(|it| it.path).as_deref(), Some("id"));
    }
}
