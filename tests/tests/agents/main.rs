//! Real agents with a scripted model: their listings of skills, and our hooks.
//!
//! The agents come from npm and are found in `SKILLSD_AGENTS`; `tests/agents/install` installs
//! them. Without them a local run skips these tests with a message, and a run under `CI=true`
//! fails.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests: they say what they left out, and what is missing fails them"
)]

mod agent_fixture;
mod agent_trees;
mod catalogs;
mod claude;
mod claude_frontmatter;
mod claude_paths;
mod claude_plugins;
mod claude_slash;
mod claude_trees;
mod detection;
mod fixture_tree;
mod hooks;
mod list_changes;
mod listing_agents;
mod opencode_slash;
mod recorded_lists;
mod recorded_prompts;
mod registrations;
