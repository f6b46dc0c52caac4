//! JSON, as strict as the agent that reads it.

use jsonc_parser::ast::Value as Json;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::{Entry, Node, Places, Syntax, SyntaxError, Value};

/// Parses JSON.
pub(super) fn parse(places: &Places<'_>, syntax: Syntax) -> Result<Node, SyntaxError> {
    let loose = syntax == Syntax::JsonLoose;
    let options = ParseOptions {
        allow_comments: syntax != Syntax::Json,
        allow_trailing_commas: loose,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed =
        parse_to_ast(places.text, &CollectOptions::default(), &options).map_err(|error| {
            let message = error.kind().to_string();
            let mut letters = message.chars();
            let first = letters.next().map(|it| it.to_ascii_lowercase()).into_iter();
            let message: String = first.chain(letters).collect();
            places.flaw(error.range().start, format!("not JSON: {message}"))
        })?;
    let value = parsed.value.ok_or_else(|| places.flaw(0, "not JSON: it is empty".to_owned()))?;
    Ok(node(places, value))
}

// As deep as the parser allows, which is not deep.
fn node(places: &Places<'_>, json: Json<'_>) -> Node {
    let at = places.spot(json.range().start);
    let value = match json {
        Json::NullKeyword(_) => Value::Null,
        Json::BooleanLit(it) => Value::Flag(it.value),
        Json::NumberLit(it) => Value::Other(it.value.into()),
        Json::StringLit(it) => Value::Text(it.value.into()),
        Json::Array(it) => {
            Value::List(it.elements.into_iter().map(|it| node(places, it)).collect())
        }
        Json::Object(it) => {
            let entry = |it: jsonc_parser::ast::ObjectProp<'_>| Entry {
                at: places.spot(it.name.range().start),
                key: it.name.into_string().into(),
                node: node(places, it.value),
            };
            Value::Map(it.properties.into_iter().map(entry).collect())
        }
    };
    Node { at, value }
}
