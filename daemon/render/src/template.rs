//! Texts of agents whose formats are data of the profile table
//! ([`PromptTemplate`](skills_agents::profile::template::PromptTemplate)): fills in their words.

use std::borrow::Cow;

use serde_json::Value;
use skills_agents::profile::Scope;
use skills_agents::profile::template::EscapeRule;

use super::xml;

/// Replaces each `{word}` that has a value. The values are not searched.
pub(super) fn fill<'v>(template: &str, value: impl Fn(&str) -> Option<Cow<'v, str>>) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let found = after.split_once('}').and_then(|(word, end)| Some((value(word)?, end)));
        if let Some((filled, end)) = found {
            text.push_str(&filled);
            rest = end;
        } else {
            text.push('{');
            rest = after;
        }
    }
    text + rest
}

pub(super) fn escape(rule: EscapeRule, text: &str) -> Cow<'_, str> {
    match rule {
        EscapeRule::Never => text.into(),
        EscapeRule::Tags => xml::escape(text).into(),
        EscapeRule::Json => {
            let text = Value::from(text).to_string();
            text[1..text.len() - 1].to_owned().into()
        }
        EscapeRule::Xml => xml::escape(text).replace('"', "&quot;").replace('\'', "&apos;").into(),
        EscapeRule::Html => xml::escape(text).replace('"', "&quot;").replace('\'', "&#x27;").into(),
    }
}

/// Returns the agent's word for a scope.
pub(super) fn scope_word(scopes: &'static [(Scope, &'static str)], scope: Scope) -> &'static str {
    let scope = if scope == Scope::Nested { Scope::Project } else { scope };
    let found = scopes.iter().find(|(it, _)| *it == scope);
    found.or(scopes.last()).map_or("", |(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filled_value_is_not_searched_and_unknown_words_stay() {
        let value = |word: &str| match word {
            "name" => Some(Cow::Borrowed("{body}")),
            "body" => Some("B {name}".into()),
            _ => None,
        };
        assert_eq!(
            fill("<{name}> {body} {other} { {name", value),
            "<{body}> B {name} {other} { {name"
        );
    }
}
