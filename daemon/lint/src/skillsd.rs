//! Rules `skillsd/*`: problems with suppression comments and with the list of findings.

use skills_syntax::diagnostic::Severity;

use super::rule::{PASSING, Rule};
use super::rule_id::RuleId;

pub(super) static UNKNOWN_RULE: Rule = Rule::new(
    RuleId::SkillsdUnknownRule,
    Severity::Warning,
    "A comment suppresses an unknown rule.",
    "The comment has no effect, and the finding is still shown.",
    "Write the id of a rule, or `family/*`.",
)
.texts(
    "---\n# skillsd-ignore: name/no-such\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
    "---\n# skillsd-ignore: name/directory\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
);

pub(super) static TOO_MANY: Rule = Rule::new(
    RuleId::SkillsdTooMany,
    Severity::Information,
    "The file has more findings than are shown.",
    "skillsd shows at most 100 findings of one file.",
    "Fix the findings shown; the others then appear.",
)
.whole_file()
.texts("(a file with 101 findings)", PASSING);
