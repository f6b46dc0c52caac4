//! The agent that runs a command, by the variables that agents set for their commands.

use super::builtin::agents;
use super::definition::Profile;

/// Returns the agent that runs the caller, with its variable; `is_set` tells which variables the
/// caller has. If an agent runs another one, both variables are set, and the first agent of the
/// table counts; a fork sets both variables itself, and counts before the agent that it began as.
pub fn running_agent(is_set: impl Fn(&str) -> bool) -> Option<(&'static Profile, &'static str)> {
    let running = || {
        agents().filter_map(|profile| {
            let variable = profile.run_variable.as_deref()?;
            is_set(variable).then_some((&**profile, variable))
        })
    };
    let first = running().next()?;
    let fork = running().find(|(profile, _)| profile.fork_of.as_ref() == Some(&first.0.id));
    Some(fork.unwrap_or(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_is_recognised_by_its_variable() {
        let found = |name: &str| running_agent(|it| it == name).map(|it| &*it.0.id);
        assert_eq!(found("CLAUDECODE"), Some("claude-code"));
        assert_eq!(found("CODEX_THREAD_ID"), Some("codex"));
        assert_eq!(found("GEMINI_CLI"), Some("gemini-cli"));
        assert_eq!(found("OPENCODE"), Some("opencode"));
        assert_eq!(found("COPILOT_CLI"), Some("copilot-cli"));
        assert_eq!(found("QWEN_CODE"), Some("qwen-code"));
        assert_eq!(found("PATH"), None);
    }

    #[test]
    fn fork_counts_before_the_agent_whose_variable_it_sets_too() {
        let found = |names: &[&str]| running_agent(|it| names.contains(&it)).map(|it| &*it.0.id);
        assert_eq!(found(&["KILO", "OPENCODE"]), Some("kilo"));
        assert_eq!(found(&["OPENCODE"]), Some("opencode"));
        assert_eq!(found(&["KILO", "OPENCODE", "CLAUDECODE"]), Some("claude-code"));
    }
}
