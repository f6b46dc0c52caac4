//! One request that an agent sent to a model.

use serde_json::Value;

/// A request received from an agent.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// The path, with its query.
    pub path: String,
    /// The body, or null if there was none.
    pub body: Value,
    /// True if it was answered from the script.
    pub is_turn: bool,
}

impl ModelRequest {
    /// Returns all text in the body, string after string, with line breaks as they are.
    pub fn text(&self) -> String {
        let mut text = String::new();
        collect(&self.body, &mut text);
        text
    }
}

fn collect(value: &Value, text: &mut String) {
    match value {
        Value::String(string) => {
            text.push_str(string);
            text.push('\n');
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, text)),
        Value::Object(fields) => fields.values().for_each(|value| collect(value, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
