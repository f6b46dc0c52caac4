//! Model API formats: OpenAI chat completions and responses, Anthropic messages, and Gemini.

use serde_json::{Value, json};

use super::request::ModelRequest;
use super::turn::Turn;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// A model API format, recognised by the request path.
#[derive(Debug, Clone, Copy)]
pub(super) enum Dialect {
    /// `…/chat/completions`.
    Chat,
    /// `…/responses`.
    Responses,
    /// `…/messages`.
    Messages,
    /// `…:generateContent` and `…:streamGenerateContent`.
    Gemini,
}

impl Dialect {
    /// Returns the format of a request path, or `None` if it does not ask for generation.
    pub(super) fn of(path: &str) -> Option<Dialect> {
        let path = path.split('?').next().unwrap_or_default();
        if path.ends_with("/chat/completions") {
            Some(Dialect::Chat)
        } else if path.ends_with("/responses") {
            Some(Dialect::Responses)
        } else if path.ends_with("/messages") {
            Some(Dialect::Messages)
        } else if path.ends_with("enerateContent") {
            Some(Dialect::Gemini)
        } else {
            None
        }
    }

    /// Returns the names of the tools that a request offers.
    pub(super) fn tools(self, body: &Value) -> Vec<String> {
        let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        let name = |tool: &Value| tool["name"].as_str().map(str::to_owned);
        match self {
            Dialect::Chat => tools.iter().filter_map(|tool| name(&tool["function"])).collect(),
            Dialect::Responses | Dialect::Messages => tools.iter().filter_map(name).collect(),
            Dialect::Gemini => {
                let declared = tools.iter().filter_map(|t| t["functionDeclarations"].as_array());
                declared.flatten().filter_map(name).collect()
            }
        }
    }

    /// Returns the answer to `request`: its media type and its body.
    pub(super) fn answer(
        self,
        request: &ModelRequest,
        turn: &Turn,
        nth: usize,
    ) -> (&'static str, String) {
        match self {
            Dialect::Chat if request.body["stream"] == true => (EVENTS, chat_events(turn, nth)),
            Dialect::Chat => (JSON, chat(turn, nth).to_string()),
            Dialect::Responses => (EVENTS, responses(turn, nth)),
            Dialect::Messages => (EVENTS, messages(turn, nth)),
            Dialect::Gemini => {
                let wants_json = request.body["generationConfig"]["responseMimeType"] == JSON;
                let said = if wants_json { &Turn::say("{}") } else { turn };
                let answer = gemini(said);
                if request.path.contains("stream") {
                    (EVENTS, format!("data: {answer}\n\n"))
                } else {
                    (JSON, answer.to_string())
                }
            }
        }
    }
}

/// Returns the message of a turn, and the reason for its end.
fn chat_message(turn: &Turn, nth: usize) -> (Value, &'static str) {
    match turn {
        Turn::Say(words) => (json!({"role": "assistant", "content": words}), "stop"),
        Turn::Call(tool, _) | Turn::Write(tool, _) => {
            let function = json!({"name": tool, "arguments": arguments(turn)});
            let call =
                json!({"index": 0, "id": call_id(nth), "type": "function", "function": function});
            (json!({"role": "assistant", "tool_calls": [call]}), "tool_calls")
        }
    }
}

fn chat_events(turn: &Turn, nth: usize) -> String {
    let (delta, reason) = chat_message(turn, nth);
    let chunk = |choice: Value, usage: Value| {
        let chunk = json!({"id": "c", "object": "chat.completion.chunk", "created": 0,
            "model": "scripted", "choices": [choice], "usage": usage});
        format!("data: {chunk}\n\n")
    };
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
    [
        chunk(json!({"index": 0, "delta": delta, "finish_reason": null}), Value::Null),
        chunk(json!({"index": 0, "delta": {}, "finish_reason": reason}), usage),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat()
}

fn chat(turn: &Turn, nth: usize) -> Value {
    let (message, reason) = chat_message(turn, nth);
    json!({"id": "c", "object": "chat.completion", "created": 0, "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})
}

fn responses(turn: &Turn, nth: usize) -> String {
    let id = format!("r{nth}");
    let item = match turn {
        Turn::Say(words) => json!({"type": "message", "role": "assistant", "id": format!("m{nth}"),
            "content": [{"type": "output_text", "text": words}]}),
        Turn::Call(tool, _) => json!({"type": "function_call", "call_id": call_id(nth),
            "name": tool, "arguments": arguments(turn)}),
        Turn::Write(tool, input) => json!({"type": "custom_tool_call", "call_id": call_id(nth),
            "name": tool, "input": input}),
    };
    let usage = json!({"input_tokens": 1, "input_tokens_details": null, "output_tokens": 1,
        "output_tokens_details": null, "total_tokens": 2});
    let events = [
        json!({"type": "response.created", "response": {"id": id}}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {"id": id, "usage": usage}}),
    ];
    let events = events.map(|event| {
        let kind = event["type"].as_str().unwrap_or_default();
        format!("event: {kind}\ndata: {event}\n\n")
    });
    events.concat()
}

fn messages(turn: &Turn, nth: usize) -> String {
    let (start, delta, reason) = match turn {
        Turn::Say(words) => (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": words}),
            "end_turn",
        ),
        Turn::Call(tool, _) | Turn::Write(tool, _) => (
            json!({"type": "tool_use", "id": call_id(nth), "name": tool, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": arguments(turn)}),
            "tool_use",
        ),
    };
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let message = json!({"id": format!("m{nth}"), "type": "message", "role": "assistant",
        "model": "scripted", "content": [], "stop_reason": null, "usage": usage});
    let events = [
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": start}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}),
        json!({"type": "message_stop"}),
    ];
    let event = |it: &Value| {
        let kind = it["type"].as_str().unwrap_or_default();
        format!("event: {kind}\ndata: {it}\n\n")
    };
    events.iter().map(event).collect()
}

fn gemini(turn: &Turn) -> Value {
    let part = match turn {
        Turn::Say(words) => json!({"text": words}),
        Turn::Call(tool, arguments) => json!({"functionCall": {"name": tool, "args": arguments}}),
        Turn::Write(tool, input) => {
            json!({"functionCall": {"name": tool, "args": {"input": input}}})
        }
    };
    let content = json!({"role": "model", "parts": [part]});
    json!({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": "scripted"})
}

fn arguments(turn: &Turn) -> String {
    match turn {
        Turn::Call(_, arguments) => arguments.to_string(),
        Turn::Write(_, input) => json!({"input": input}).to_string(),
        Turn::Say(_) => String::new(),
    }
}

fn call_id(nth: usize) -> String {
    format!("call_{nth}")
}
