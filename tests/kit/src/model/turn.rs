//! One step of the script of a model.

use serde_json::Value;

/// One step of the script.
#[derive(Debug, Clone)]
pub enum Turn {
    /// Calls a tool of the agent with these arguments.
    Call(String, Value),
    /// Calls a tool whose input is plain text and no JSON.
    Write(String, String),
    /// Answers with this text, which ends the turn.
    Say(String),
}

impl Turn {
    /// Returns a call of `tool`.
    pub fn call(tool: &str, arguments: Value) -> Turn {
        Turn::Call(tool.to_owned(), arguments)
    }

    /// Returns a call of `tool` with plain text.
    pub fn write(tool: &str, input: &str) -> Turn {
        Turn::Write(tool.to_owned(), input.to_owned())
    }

    /// Returns a text answer.
    pub fn say(words: &str) -> Turn {
        Turn::Say(words.to_owned())
    }

    pub(super) fn tool(&self) -> Option<&str> {
        match self {
            Turn::Call(tool, _) | Turn::Write(tool, _) => Some(tool),
            Turn::Say(_) => None,
        }
    }
}
