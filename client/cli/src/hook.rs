//! `skillsd hook AGENT`: an agent's hook, which turns what its tools do into touches.
//!
//! Reads the hook's JSON on standard input, asks the daemon, and answers in the agent's own form what
//! the model is to hear. An agent waits for this process and may take its exit code for a verdict, so
//! whatever goes wrong is a line on standard error and nothing else: it ends with 0 and says nothing
//! on standard output, and it ends in time.

mod agents;
mod conversation;
mod payload;
mod shell;
mod tell;

use std::io::{self, IsTerminal as _, Read as _};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::global::GlobalArgs;
use agents::{Agent, Event, Reply, agent};
use conversation::Conversation;
use payload::Payload;
#[cfg(feature = "invariants")]
pub use shell::shell_files;

/// How long an agent is kept waiting. The files that we register allow it a little more.
const PATIENCE: Duration = Duration::from_secs(4);

/// The longest input; tools answer with whole files.
const LONGEST: u64 = 64 * 1024 * 1024;

/// Arguments of `skillsd hook`.
#[derive(Debug, Clone, Args)]
pub struct HookArgs {
    /// The agent: claude-code, codex, gemini-cli or opencode
    // No list of values for the parser: an error of it would end with 2, which to some agents means
    // that the tool must not run.
    #[arg(value_name = "AGENT", required = false, default_value = "", hide_default_value = true)]
    agent: String,
}

pub(super) fn run(cx: &CommandContext<'_>, args: &HookArgs) -> Exit {
    let (sender, receiver) = mpsc::channel();
    let (global, name) = (cx.global.clone(), args.agent.clone());
    // A thread, so that nothing it waits for keeps this process: it ends with the process.
    thread::spawn(move || {
        // Nobody listens any more when it comes too late.
        let _ = sender.send(answer(&global, &name));
    });
    match receiver.recv_timeout(PATIENCE) {
        Ok(Ok(Some(text))) => {
            // An agent that has gone needs no answer.
            let _ = cx.terminal.print(&format!("{text}\n"));
        }
        Ok(Ok(None)) => {}
        Ok(Err(error)) => cx.terminal.print_error(&error),
        Err(_) => {
            let message = format!("nothing was known after {} s", PATIENCE.as_secs());
            let error = CommandError::usage(message)
                .with_hint("`skillsd doctor` looks for what is wrong with the daemon.");
            cx.terminal.print_error(&error);
        }
    }
    Exit::Fine
}

fn answer(global: &GlobalArgs, name: &str) -> Result<Option<String>, CommandError> {
    let agent = agent(name).ok_or_else(|| {
        CommandError::usage(format!("`{name}` is no agent whose hooks are known"))
            .with_hint(format!("Name one of: {}.", agents::names().join(", ")))
    })?;
    if io::stdin().is_terminal() {
        return Err(CommandError::usage("the hook's JSON is read on standard input")
            .with_hint("Agents run this command; the manual says how to register it."));
    }
    let mut text = Vec::new();
    let read = io::stdin().take(LONGEST).read_to_end(&mut text);
    read.map_err(|error| unreadable(agent, &error.to_string()))?;
    let payload: Payload =
        serde_json::from_slice(&text).map_err(|error| unreadable(agent, &error.to_string()))?;
    let Some(event) = payload.event(agent) else { return Ok(None) };
    let said = happened(global, agent, event, &payload)?;
    Ok(said.and_then(|text| reply(agent, &payload.hook_event_name, &text)))
}

fn unreadable(agent: &Agent, cause: &str) -> CommandError {
    CommandError::usage(format!("standard input is no hook input of {}", agent.name)).because(cause)
}

/// Tells the daemon what happened, and returns what the model is to hear.
fn happened(
    global: &GlobalArgs,
    agent: &Agent,
    event: Event,
    payload: &Payload,
) -> Result<Option<String>, CommandError> {
    let mut talk = Conversation::of(global, agent, payload)?;
    match event {
        Event::Start => talk.open().map(|()| None),
        Event::End => talk.close().map(|()| None),
        Event::AgentEnd => talk.agent_end().map(|()| None),
        Event::Compacted | Event::CompactedByHand => talk.compacted(),
        Event::Tool => {
            let files = payload.files(agent, talk.place());
            if files.is_empty() { Ok(None) } else { talk.touch(&files) }
        }
    }
}

fn reply(agent: &Agent, event: &str, text: &str) -> Option<String> {
    match agent.reply {
        Reply::Plain => Some(json!({"additionalContext": text}).to_string()),
        Reply::HookSpecific(events) => events.contains(&event).then(|| {
            let output = json!({"hookEventName": event, "additionalContext": text});
            json!({"hookSpecificOutput": output}).to_string()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_is_answered_in_its_own_form() {
        let reply = |name: &str, event: &str| reply(agent(name).expect("known"), event, "Hear.");
        assert_eq!(
            reply("claude-code", "PostToolUse").as_deref(),
            Some(
                r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"Hear."}}"#
            )
        );
        assert_eq!(reply("claude-code", "PostCompact"), None);
        assert_eq!(reply("gemini-cli", "BeforeTool"), None);
        assert_eq!(
            reply("opencode", "tool.execute.after").as_deref(),
            Some(r#"{"additionalContext":"Hear."}"#)
        );
    }
}
