//! Suggestions for unknown commands: by meaning, or else by spelling.

use clap::error::{ContextKind, ContextValue};

/// Words that people try, by the command that does what they mean.
pub(super) const MEANINGS: &[(&str, &[&str])] = &[
    ("list", &["all", "index", "ls", "skills"]),
    ("explain", &["debug", "diagnose", "where", "which", "why"]),
    ("show", &["cat", "describe", "get", "info", "inspect", "view"]),
    ("search", &["find", "grep", "lookup", "query"]),
    ("load", &["exec", "invoke", "print", "read", "render", "run", "use"]),
    ("catalog", &["listing", "prompt", "tools"]),
    ("check", &["audit", "fix", "fmt", "format", "lint", "test", "validate", "verify"]),
    ("new", &["add", "create", "generate", "init", "make", "scaffold"]),
    ("session", &["sessions"]),
    ("permission", &["allow", "approve", "deny", "grant", "permissions", "revoke"]),
    ("trust", &["untrust"]),
    ("status", &["health", "ps", "state"]),
    ("watch", &["follow", "monitor", "subscribe"]),
    ("logs", &["journal", "log", "tail"]),
    ("sync", &["refresh", "reindex", "reload", "rescan", "update"]),
    ("serve", &["daemon", "server", "start"]),
    ("stop", &["exit", "kill", "quit", "restart", "shutdown"]),
    ("install", &["register", "setup"]),
    ("uninstall", &["delete", "remove", "rm", "unregister"]),
    ("completions", &["complete", "completion"]),
    ("man", &["docs", "manual"]),
];

/// Sets the suggestion in an error about an unknown command: the command that does what the word
/// means, or else the one with the most similar name.
pub(super) fn suggest(error: &mut clap::Error) {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return;
    };
    let word = word.to_lowercase();
    let by_meaning = MEANINGS.iter().find(|(_, words)| words.contains(&&*word));
    let suggestion = by_meaning.map(|(command, _)| (*command).to_owned()).or_else(|| {
        match error.get(ContextKind::SuggestedSubcommand)? {
            // In the order of their similarity, the most similar last.
            ContextValue::Strings(names) => names.last().cloned(),
            ContextValue::String(name) => Some(name.clone()),
            _ => None,
        }
    });
    if let Some(suggestion) = suggestion {
        let value = ContextValue::Strings(vec![suggestion]);
        error.insert(ContextKind::SuggestedSubcommand, value);
    }
}
