//! Parses JSON with the leniency of the agent that reads the file.

use jsonc_parser::ast::Value as Json;
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::node::{Entry, Node, Value};
use super::source::{Locator, Syntax, SyntaxError};

pub(super) fn parse(locator: &Locator<'_>, syntax: Syntax) -> Result<Node, SyntaxError> {
    let loose = syntax == Syntax::JsonLoose;
    if loose && locator.text.is_empty() {
        // The agent takes an empty file for a missing one.
        return Ok(Node { at: locator.position(0), value: Value::Map(Vec::new()) });
    }
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
    let collect = CollectOptions { tokens: loose, ..CollectOptions::default() };
    let parsed = parse_to_ast(locator.text, &collect, &options).map_err(|error| {
        let message = error.kind().to_string();
        let mut letters = message.chars();
        let first = letters.next().map(|it| it.to_ascii_lowercase()).into_iter();
        let message: String = first.chain(letters).collect();
        locator.error(error.range().start, format!("not JSON: {message}"))
    })?;
    if let Some(comma) = parsed.tokens.as_ref().and_then(|it| lone_comma(it)) {
        return Err(
            locator.error(comma, "not JSON: a value is missing before the comma".to_owned())
        );
    }
    let value =
        parsed.value.ok_or_else(|| locator.error(0, "not JSON: the file is empty".to_owned()))?;
    Ok(node(locator, value))
}

/// Returns the position of a comma that follows no value, which the parser accepts together with
/// trailing commas.
fn lone_comma(tokens: &[TokenAndRange<'_>]) -> Option<usize> {
    let opens = |it: &Token<'_>| matches!(it, Token::OpenBrace | Token::OpenBracket | Token::Comma);
    let mut pairs = tokens.windows(2);
    let lone = pairs.find(|it| opens(&it[0].token) && it[1].token == Token::Comma)?;
    Some(lone[1].range.start)
}

// Recursion is bounded by the parser's depth limit.
fn node(locator: &Locator<'_>, json: Json<'_>) -> Node {
    let at = locator.position(json.range().start);
    let value = match json {
        Json::NullKeyword(_) => Value::Null,
        Json::BooleanLit(it) => Value::Flag(it.value),
        Json::NumberLit(it) => Value::Other(it.value.into()),
        Json::StringLit(it) => Value::Text(it.value.into()),
        Json::Array(it) => {
            Value::List(it.elements.into_iter().map(|it| node(locator, it)).collect())
        }
        Json::Object(it) => {
            let entry = |it: jsonc_parser::ast::ObjectProp<'_>| Entry {
                at: locator.position(it.name.range().start),
                key: it.name.into_string().into(),
                node: node(locator, it.value),
            };
            Value::Map(it.properties.into_iter().map(entry).collect())
        }
    };
    Node { at, value }
}
