//! Checks of single TOML values, and the [`ValueError`] of a value that fails one.

use skills_syntax::suggest;
use toml::de::DeValue;

/// The reason why a value does not fit its key.
pub(super) struct ValueError {
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

pub(super) fn word(words: &[&str], value: &DeValue<'_>) -> Result<String, ValueError> {
    let all = words.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    let DeValue::String(text) = value else {
        let message = format!("must be a string, not {}", type_name(value));
        return Err(ValueError { message, hint: Some(format!("Use one of {all}.")) });
    };
    if words.contains(&&**text) {
        return Ok(text.clone().into_owned());
    }
    let hint = match nearest(text, words) {
        Some(near) => format!("Did you mean `{near}`?"),
        None => format!("Use one of {all}."),
    };
    Err(ValueError { message: format!("cannot be `{text}`"), hint: Some(hint) })
}

pub(super) fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Returns the word in `among` that is most similar to `name`.
pub(super) fn nearest<'a>(name: &str, among: &[&'a str]) -> Option<&'a str> {
    // Less similar words are unrelated.
    const MIN_SIMILARITY: f64 = 0.75;
    suggest::nearest(name, among.iter().copied(), MIN_SIMILARITY).first().copied()
}
