//! Values that most rules of the family share.

use skills_agents::field_table::{Agent, CLAUDE_HOOKS, Citation};
use skills_syntax::diagnostic::Severity;

use crate::rule::Family;

const SOURCES: &[&Citation] = &[&CLAUDE_HOOKS];

const PASSING: &str = "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: ./check.sh\n---\nRead the file.\n";

/// Values that most rules of this family share.
pub(super) const FAMILY: Family = Family {
    severity: Severity::Error,
    whole_file: false,
    agents: &[Agent::ClaudeCode],
    sources: SOURCES,
    passing: PASSING,
};
