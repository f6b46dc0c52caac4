//! `skillsd hook AGENT`: an agent's hook, which reports the files that its tools use as touches.
//!
//! Reads the hook's JSON from standard input, calls the daemon, and answers in the agent's own
//! format with text for the model. The agent waits for this process and may interpret its exit
//! code, so every error is only a line on standard error: the exit code is 0, standard output stays
//! empty, and the process always ends in time.

pub(crate) mod agents;
mod payload;
mod session;
mod shell;
mod skill_text;

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
use crate::terminal::Terminal;
use agents::{HookAgent, HookEventKind, ReplyFormat, agent};
use payload::Payload;
use session::AgentSession;
#[cfg(feature = "invariants")]
pub use shell::shell_files;

/// Time limit for the whole hook. The hook files that we install allow slightly more.
const TIMEOUT: Duration = Duration::from_secs(4);

/// Maximum size of the input in bytes; tool results may contain whole files.
const LONGEST: u64 = 64 * 1024 * 1024;

#[derive(Debug, Clone, Args)]
pub struct HookArgs {
    /// The agent: claude-code, codex, gemini-cli, opencode, cline, copilot-cli, droid, kilo or
    /// qwen-code
    // No list of values for the parser: an error of it would end with 2, which to some agents means
    // that the tool must not run.
    #[arg(value_name = "AGENT", required = false, default_value = "", hide_default_value = true)]
    agent: String,
}

pub(super) fn run(cx: &CommandContext<'_>, args: &HookArgs) -> Exit {
    let (sender, receiver) = mpsc::channel();
    let (global, name) = (cx.global.clone(), args.agent.clone());
    // On a thread, so that a blocked call cannot delay the exit; the thread ends with the process.
    thread::spawn(move || {
        // The receiver is gone after the time limit.
        let _ = sender.send(answer(&global, &name));
    });
    match receiver.recv_timeout(TIMEOUT) {
        Ok(Ok(Some(text))) => {
            // An agent that has exited needs no answer.
            let _ = cx.terminal.print(&format!("{text}\n"));
        }
        Ok(Ok(None)) => {}
        Ok(Err(error)) => cx.terminal.print_error(&error),
        Err(_) => {
            let message = format!("the daemon did not answer within {} s", TIMEOUT.as_secs());
            let error = CommandError::usage(message)
                .with_hint("Run `skillsd doctor` to find problems of the daemon.");
            cx.terminal.print_error(&error);
        }
    }
    Exit::Fine
}

fn answer(global: &GlobalArgs, name: &str) -> Result<Option<String>, CommandError> {
    let agent = agent(name).ok_or_else(|| {
        CommandError::usage(format!("unknown agent `{name}`"))
            .with_hint(format!("Use one of: {}.", agents::names().join(", ")))
    })?;
    if io::stdin().is_terminal() {
        return Err(CommandError::usage(
            "`hook` reads an agent's JSON from standard input, not from a terminal",
        )
        .with_hint("Agents run this command; `skillsd install` registers it with them."));
    }
    let mut text = Vec::new();
    let read = io::stdin().take(LONGEST).read_to_end(&mut text);
    read.map_err(|error| unreadable(agent, &error.to_string()))?;
    let payload: Payload =
        serde_json::from_slice(&text).map_err(|error| unreadable(agent, &error.to_string()))?;
    let payload = payload.flattened(agent);
    let Some(event) = payload.event(agent) else { return Ok(None) };
    let text = report(global, agent, event, &payload)?;
    Ok(text.and_then(|text| reply(agent, &payload.hook_event_name, &text)))
}

fn unreadable(agent: &HookAgent, cause: &str) -> CommandError {
    CommandError::usage(format!("standard input is not hook input of {}", agent.name))
        .because(cause)
}

/// Reports an event to the daemon, and returns the text for the model.
fn report(
    global: &GlobalArgs,
    agent: &HookAgent,
    event: HookEventKind,
    payload: &Payload,
) -> Result<Option<String>, CommandError> {
    let mut session = AgentSession::from_payload(global, agent, payload)?;
    if event == HookEventKind::Start || !agent.reports_starts() {
        Terminal::detect(global).print_health(&session.replace_older_daemon());
    }
    match event {
        HookEventKind::Start => session.start().map(|()| None),
        HookEventKind::End => session.close().map(|()| None),
        HookEventKind::AgentEnd => session.agent_end().map(|()| None),
        HookEventKind::Compacted | HookEventKind::CompactedManually => session.compacted(),
        HookEventKind::Tool => {
            let files = payload.files(agent, session.dirs());
            session.touch(&files)
        }
    }
}

fn reply(agent: &HookAgent, event: &str, text: &str) -> Option<String> {
    match agent.reply {
        ReplyFormat::Plain => Some(json!({"additionalContext": text}).to_string()),
        ReplyFormat::Context => Some(json!({"context": text}).to_string()),
        ReplyFormat::HookSpecific(_) => agent.reply.is_accepted(event).then(|| {
            let output = json!({"hookEventName": event, "additionalContext": text});
            json!({"hookSpecificOutput": output}).to_string()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reply_has_the_format_of_the_agent() {
        let reply = |name: &str, event: &str| reply(agent(name).expect("known"), event, "Text.");
        assert_eq!(
            reply("claude-code", "PostToolUse").as_deref(),
            Some(
                r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"Text."}}"#
            )
        );
        assert_eq!(reply("claude-code", "PostCompact"), None);
        assert_eq!(reply("gemini-cli", "BeforeTool"), None);
        assert_eq!(
            reply("opencode", "tool.execute.after").as_deref(),
            Some(r#"{"additionalContext":"Text."}"#)
        );
        assert_eq!(
            reply("copilot-cli", "PostToolUse").as_deref(),
            Some(r#"{"additionalContext":"Text."}"#)
        );
        assert_eq!(reply("droid", "SessionEnd"), None);
    }
}
