//! First line of a list: the agents whose list it is, and the reason for them.

use serde_json::Value;
use serde_json::value::RawValue;
use skills_client::ClientError;
use skills_protocol::PROFILES;
use skills_protocol::method::{ProfilesDetect, SessionList};
use skills_protocol::wire::{DetectResult, Evidence, SessionListParams};
use skills_syntax::text::join_and;

use crate::call_context::CallContext;
use crate::context::CommandContext;
use crate::server_connection::ServerConnection;
use crate::style::{self, paint};
use crate::terminal::Terminal;
use crate::text::{join_or_stack, plain, wrap};

/// Returns the profile of a command's calls.
pub(crate) fn detect(
    server: &mut ServerConnection,
    context: &CallContext,
) -> Result<DetectResult, ClientError> {
    server.call::<ProfilesDetect>(&context.params())
}

/// Returns the profiles that `--profile` selects.
pub(crate) fn selected(
    server: &mut ServerConnection,
    context: &CallContext,
) -> Result<Vec<String>, ClientError> {
    let available = server.initialize_result()?.capabilities.profiles.clone();
    let present = if context.selects_present() {
        detect(server, &context.without_profile())?.present
    } else {
        Vec::new()
    };
    let present: Vec<_> = present.into_iter().map(|it| it.profile).collect();
    Ok(context.selected_profiles(&available, &present))
}

/// Returns the results of several profiles as one JSON object on a line, each as raw JSON.
pub(crate) fn by_profile(results: &[(String, Box<RawValue>)]) -> String {
    let name = |name: &String| Value::from(name.as_str());
    let fields = results.iter().map(|(profile, result)| format!("{}:{result}", name(profile)));
    format!("{{{}}}\n", fields.collect::<Vec<_>>().join(","))
}

/// Returns the profiles of the agents that are present, if there are several.
pub(crate) fn several(detected: &DetectResult) -> Option<Vec<String>> {
    let profiles = detected.present.iter().map(|it| it.profile.clone());
    (detected.present.len() > 1).then(|| profiles.collect())
}

/// Returns the name of a profile's agent, with the profile's own name if that is another and not in
/// the agent's already.
pub(crate) fn agent_name(profile: &str, agent: &str) -> String {
    let is_agents = PROFILES.contains(&profile) && !profile.contains('@');
    let (agent, profile) = (plain(agent), plain(profile));
    let is_named = is_agents || agent.ends_with(&format!("(`{profile}`)"));
    if is_named { agent } else { format!("{agent} ({profile})") }
}

/// Mark of a profile whose rules are documented, not measured.
pub(crate) const UNMEASURED: &str = "*";

/// Returns the note on a profile whose rules were not measured.
pub(crate) const fn caveat(confidence: Option<Evidence>) -> Option<&'static str> {
    match confidence {
        Some(Evidence::Documentation) => Some("documented, not measured"),
        Some(Evidence::Source) => Some("from its source, not measured"),
        Some(Evidence::Running | Evidence::Standard | Evidence::Configuration) | None => None,
    }
}

/// Returns the name of a profile's agent, with a note if its rules were not measured.
pub(crate) fn labelled(profile: &str, agent: &str, confidence: Option<Evidence>) -> String {
    let name = agent_name(profile, agent);
    match caveat(confidence) {
        Some(caveat) => format!("{name} ({caveat})"),
        None => name,
    }
}

/// Returns the first line of one agent's list; `counted` is its number of entries.
pub(crate) fn render_one(
    detected: &DetectResult,
    counted: Option<String>,
    terminal: &Terminal,
) -> String {
    let name = labelled(&detected.profile, &detected.agent, detected.confidence);
    render(&[name], counted, detected.reason.as_deref(), terminal)
}

/// Returns the agent of a text and the reason for it, for a note beside the text.
pub(crate) fn note(detected: &DetectResult, terminal: &Terminal) -> String {
    let whose = format!("as {}", labelled(&detected.profile, &detected.agent, detected.confidence));
    let reason = detected.reason.as_deref().map(|it| terminal.prose(it));
    [Some(whose), reason].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Prints a note beside the output of a command that needs one agent, if it is the first of several
/// that are present.
pub(crate) fn print_choice(
    cx: &CommandContext<'_>,
    server: &mut ServerConnection,
    context: &CallContext,
) {
    if cx.global.json || context.profile.is_some() {
        return;
    }
    // The command itself reports an error of the server.
    if let Ok(detected) = detect(server, context)
        && several(&detected).is_some()
    {
        cx.terminal.print_notes(&[note(&detected, cx.terminal)]);
    }
}

/// Removes a session that is not open from a command's calls, and prints a note about it. Some calls
/// would open it.
pub(crate) fn drop_missing_session(
    cx: &CommandContext<'_>,
    server: &mut ServerConnection,
    context: &mut CallContext,
) {
    let Some(session) = context.session() else {
        return;
    };
    // The command itself reports an error of the server.
    if let Ok(open) = server.call::<SessionList>(&SessionListParams {})
        && open.sessions.iter().all(|it| it.session != session)
    {
        cx.terminal.print_notes(&[format!(
            "session `{}` is not open, so its skills are left out; `skillsd session list` lists the open sessions",
            plain(session)
        )]);
        context.leave_session();
    }
}

/// Returns the first line of a list for all agents that are present.
pub(crate) fn render_present(
    detected: &DetectResult,
    counted: Option<String>,
    terminal: &Terminal,
) -> String {
    let present = &detected.present;
    let names = present.iter().map(|it| labelled(&it.profile, &it.agent, it.confidence));
    let signs = present.iter().map(|it| it.sign.clone());
    let reason = format!("detected: {}", first_few(signs).join(", "));
    render(&first_few(names), counted, Some(&reason), terminal)
}

/// Number of agents up to which the first line of a list names all.
const MOST_NAMED: usize = 5;

/// Returns the texts if there are few, or else the first three and the number of others.
pub(crate) fn first_few(texts: impl ExactSizeIterator<Item = String>) -> Vec<String> {
    let n_named = if texts.len() > MOST_NAMED { 3 } else { MOST_NAMED };
    let n_more = texts.len().saturating_sub(n_named);
    let more = (n_more > 0).then(|| format!("{n_more} more"));
    texts.take(n_named).chain(more).collect()
}

/// Returns the first line of a list for the agents of these names, with a line break.
pub(crate) fn render(
    names: &[String],
    counted: Option<String>,
    reason: Option<&str>,
    terminal: &Terminal,
) -> String {
    let whose = format!("as {}", join_and(names));
    let reason = reason.map(|it| terminal.prose(it));
    let parts: Vec<_> = [Some(whose), counted, reason].into_iter().flatten().collect();
    let lines = join_or_stack(&parts, terminal.width);
    let lines = lines.lines().flat_map(|it| wrap(it, terminal.width));
    lines.map(|line| paint(style::HEADING, line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_that_differs_from_its_agent_is_named_once() {
        assert_eq!(agent_name("codex", "Codex"), "Codex");
        assert_eq!(agent_name("codex@founding", "Codex"), "Codex (codex@founding)");
        assert_eq!(agent_name("house", "House"), "House (house)");
        assert_eq!(agent_name("house", "Codex (`house`)"), "Codex (`house`)");
    }
}
