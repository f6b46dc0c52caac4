//! The rule table's rows for `yaml/*`.

use skills_agents::field_table::{
    Agent, CLAUDE_CHANGES, CODEX, CORPUS, Citation, GEMINI, OPENCODE, PLUGIN, SPECIFICATION, YAML,
};
use skills_syntax::diagnostic::{ProblemCode, Severity};

use crate::rule::{Family, PASSING, Rule};
use crate::rule_id::RuleId;

const READERS: &[&Citation] = &[&YAML, &OPENCODE, &CODEX, &GEMINI, &PLUGIN, &CORPUS];

const REJECTED: &str = "YAML parsers reject the whole frontmatter. Some agents then drop the skill silently; others guess the meaning.";

/// Values that most rules of this family share.
const FAMILY: Family = Family {
    severity: Severity::Error,
    whole_file: false,
    agents: &[],
    sources: READERS,
    passing: PASSING,
};

/// Returns the rule that reports a problem of the parser; `None` for the problems that other
/// checks report, and for notes about limits.
pub(crate) fn rule_of(code: ProblemCode) -> Option<&'static Rule> {
    Some(match code {
        ProblemCode::NoFrontmatter => &NO_FRONTMATTER,
        ProblemCode::UnclosedFrontmatter => &UNCLOSED_FRONTMATTER,
        ProblemCode::MissingOpening => &MISSING_OPENING,
        ProblemCode::TextBeforeFrontmatter => &TEXT_BEFORE_FRONTMATTER,
        ProblemCode::OddClosing => &ODD_CLOSING,
        ProblemCode::Syntax => &SYNTAX,
        ProblemCode::DuplicateKey => &DUPLICATE_KEY,
        ProblemCode::TabIndentation => &TAB_INDENTATION,
        ProblemCode::UnquotedColon => &UNQUOTED_COLON,
        ProblemCode::CommentCutsValue => &COMMENT_CUTS_VALUE,
        ProblemCode::UnquotedStart => &UNQUOTED_START,
        ProblemCode::RecursiveAlias => &RECURSIVE_ALIAS,
        ProblemCode::UnindentedContinuation => &UNINDENTED_CONTINUATION,
        ProblemCode::ControlCharacter => &CONTROL_CHARACTER,
        ProblemCode::NotAMapping => &NOT_A_MAPPING,
        ProblemCode::TooDeep => &TOO_DEEP,
        ProblemCode::FrontmatterCode => &FRONTMATTER_CODE,
        ProblemCode::TooLarge
        | ProblemCode::TooMany
        | ProblemCode::NotUtf8
        | ProblemCode::BodyTooLarge
        | ProblemCode::ListingInjection => return None,
    })
}

pub(crate) static NO_FRONTMATTER: Rule = FAMILY
    .rule(
        RuleId::YamlNoFrontmatter,
        "The file has no frontmatter.",
        "Most agents do not load a file without a name and a description as a skill.",
        "Start the file with `---`, then `name:` and `description:` lines, then `---`.",
        "# PDF\n\nReads PDF files.\n",
    )
    .whole_file()
    .sources(&[&SPECIFICATION]);

pub(crate) static UNCLOSED_FRONTMATTER: Rule = FAMILY.rule(
    RuleId::YamlUnclosedFrontmatter,
    "The frontmatter has no closing `---` line.",
    "Agents read fields only between two `---` lines.",
    "Add a `---` line after the last key.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n\n# PDF\n\nRead the file.\n",
)
.fixable()
.whole_file()
.sources(&[&SPECIFICATION]);

pub(crate) static MISSING_OPENING: Rule = FAMILY
    .rule(
        RuleId::YamlMissingOpening,
        "The fields have no `---` line above them.",
        "Agents read the fields as part of the body.",
        "Add a `---` line above the fields.",
        "name: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
    )
    .fixable()
    .whole_file()
    .sources(&[&SPECIFICATION]);

pub(crate) static TEXT_BEFORE_FRONTMATTER: Rule = FAMILY.rule(
    RuleId::YamlTextBeforeFrontmatter,
    "There is text before the opening `---` line.",
    "Agents expect `---` on the first line. Most do not even skip a blank line.",
    "Make `---` the first line of the file.",
    "\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
)
.fixable()
.whole_file()
.sources(&[&SPECIFICATION, &GEMINI, &OPENCODE]);

pub(crate) static ODD_CLOSING: Rule = FAMILY.rule(
    RuleId::YamlOddClosing,
    "The closing line of the frontmatter is not exactly `---`.",
    "`----`, `...` or an indented `---` end the frontmatter only for some agents, and `--` for none.",
    "Close the frontmatter with a line that is exactly `---`.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n...\nRead the file.\n",
)
.fixable()
.sources(&[&SPECIFICATION]);

pub(crate) static SYNTAX: Rule = FAMILY.rule(
    RuleId::YamlSyntax,
    "The frontmatter is not valid YAML.",
    REJECTED,
    "Correct the line, or quote the value.",
    "---\nname: pdf\ndescription: \"Reads PDF files. Use when asked.\nlicense: MIT\n---\nRead the file.\n",
)
.passing("---\nname: pdf\ndescription: \"Reads PDF files. Use when asked.\"\nlicense: MIT\n---\nRead the file.\n")
.fixable();

pub(crate) static DUPLICATE_KEY: Rule = FAMILY.rule(
    RuleId::YamlDuplicateKey,
    "A key occurs twice.",
    "JavaScript and Rust parsers reject the frontmatter; Python's parser uses the last value.",
    "Keep one of the two.",
    "---\nname: pdf\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
)
.fixable();

pub(crate) static TAB_INDENTATION: Rule = FAMILY.rule(
    RuleId::YamlTabIndentation,
    "A line is indented with a tab.",
    "YAML allows only spaces as indentation.",
    "Indent with spaces.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nmetadata:\n\tauthor: me\n---\nRead the file.\n",
)
.passing("---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nmetadata:\n  author: me\n---\nRead the file.\n")
.fixable();

pub(crate) static UNQUOTED_COLON: Rule = FAMILY.rule(
    RuleId::YamlUnquotedColon,
    "An unquoted value contains `: `.",
    "YAML reads the text before the colon as a key and rejects the frontmatter. This is the most frequent mistake.",
    "Quote the whole value.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when: asked about one.\n---\nRead the file.\n",
)
.passing("---\nname: pdf\ndescription: \"Reads PDF files. Use when: asked about one.\"\n---\nRead the file.\n")
.fixable();

pub(crate) static COMMENT_CUTS_VALUE: Rule = Rule::new(
    RuleId::YamlCommentCutsValue,
    Severity::Warning,
    "A ` #` cuts off the rest of a value.",
    "YAML reads the text after ` #` as a comment. No agent sees that text, and none reports it.",
    "Quote the whole value, or move the comment to its own line.",
)
.fixable()
.sources(READERS)
.texts(
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about issue #12 or a file.\n---\nRead the file.\n",
    "---\nname: pdf\ndescription: \"Reads PDF files. Use when asked about issue #12 or a file.\"\n---\nRead the file.\n",
);

pub(crate) static UNQUOTED_START: Rule = FAMILY.rule(
    RuleId::YamlUnquotedStart,
    "An unquoted value starts with a special character of YAML.",
    "`[`, `{`, `@`, `*`, `&`, `!`, `%` and the backtick start lists, maps, aliases, anchors, tags and directives, or are reserved.",
    "Quote the whole value.",
    "---\nname: pdf\ndescription: \"Reads PDF files. Use when asked about one.\"\nargument-hint: [file] [page]\n---\nRead $ARGUMENTS.\n",
)
.passing("---\nname: pdf\ndescription: \"Reads PDF files. Use when asked about one.\"\nargument-hint: \"[file] [page]\"\n---\nRead $ARGUMENTS.\n")
.fixable();

pub(crate) static FLOW_VALUE: Rule = Rule::new(
    RuleId::YamlFlowValue,
    Severity::Information,
    "An unquoted value in brackets is a list or a map in YAML.",
    "Since 2.1.47, Claude Code shows a list in brackets as written. Older versions and other agents get a list instead of a string.",
    "Quote the whole value.",
)
.fixable()
.agents(&[Agent::ClaudeCode, Agent::VsCode])
.sources(&[&CLAUDE_CHANGES, &CORPUS])
.texts(
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nargument-hint: [file]\n---\nRead $ARGUMENTS.\n",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nargument-hint: \"[file]\"\n---\nRead $ARGUMENTS.\n",
);

pub(crate) static AMBIGUOUS_SCALAR: Rule = Rule::new(
    RuleId::YamlAmbiguousScalar,
    Severity::Hint,
    "Some parsers read a value as a string, others as a number, date or boolean.",
    "`yes` and `on` are booleans in YAML 1.1 and strings in YAML 1.2. Parsers differ in `1_000`, `1:30` and dates, and `1.10` becomes 1.1.",
    "Quote the value.",
)
.fixable()
.sources(READERS)
.texts(
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nmetadata:\n  version: 1.10\n---\nRead the file.\n",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nmetadata:\n  version: \"1.10\"\n---\nRead the file.\n",
);

pub(crate) static ALIAS: Rule = Rule::new(
    RuleId::YamlAlias,
    Severity::Warning,
    "The frontmatter uses a YAML alias.",
    "Agents with a simple parser see `*name` instead of its value.",
    "Replace the alias with its value.",
)
.sources(READERS)
.texts(
    "---\nname: &n pdf\ndescription: Reads PDF files. Use when asked about one.\nlicense: *n\n---\nRead the file.\n",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nlicense: pdf\n---\nRead the file.\n",
);

pub(crate) static RECURSIVE_ALIAS: Rule = FAMILY.rule(
    RuleId::YamlRecursiveAlias,
    "An alias refers to a value that contains the alias.",
    REJECTED,
    "Write a text in place of the alias.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nmetadata: &m\n  self: *m\n---\nRead the file.\n",
)
.passing("---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nmetadata:\n  self: pdf\n---\nRead the file.\n");

pub(crate) static UNINDENTED_CONTINUATION: Rule = FAMILY.rule(
    RuleId::YamlUnindentedContinuation,
    "A continuation line of a value is not indented.",
    REJECTED,
    "Indent every line of the value after the first.",
    "---\nname: pdf\ndescription: Reads PDF files.\nUse when asked about one.\n---\nRead the file.\n",
)
.fixable();

pub(crate) static CONTROL_CHARACTER: Rule = FAMILY.rule(
    RuleId::YamlControlCharacter,
    "The frontmatter contains a character that YAML does not allow.",
    REJECTED,
    "Remove the character.",
    "---\nname: pdf\ndescription: Reads PDF\u{1} files. Use when asked about one.\n---\nRead the file.\n",
)
.fixable();

pub(crate) static NOT_A_MAPPING: Rule = FAMILY
    .rule(
        RuleId::YamlNotAMapping,
        "The frontmatter has no `key: value` lines.",
        "Agents find no name and no description.",
        "Write `name: …` and `description: …` lines.",
        "---\nname：pdf\ndescription：Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
    )
    .fixable()
    .whole_file();

pub(crate) static TOO_DEEP: Rule = FAMILY.rule(
    RuleId::YamlTooDeep,
    "Lists and maps are nested too deeply, or aliases expand to too much text.",
    "Parsers have limits; a frontmatter that reaches them is a mistake or an attack. skillsd follows no alias if aliases expand to more than a megabyte.",
    "Nest fewer lists and maps, and replace aliases with their values.",
    concat!(
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked.\nmetadata: ",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
        "\n---\nRead the file.\n",
    ),
);

pub(crate) static NOT_UTF8: Rule = FAMILY.rule(
    RuleId::YamlNotUtf8,
    "The file is not valid UTF-8.",
    "Some agents drop the file; others show `\u{FFFD}` instead of the invalid bytes.",
    "Save the file as UTF-8.",
    "---\nname: pdf\ndescription: Reads PDF files in a caf\u{FFFD}. Use when asked about one.\n---\nRead the file.\n",
)
.whole_file();

pub(crate) static BYTE_ORDER_MARK: Rule = Rule::new(
    RuleId::YamlByteOrderMark,
    Severity::Hint,
    "The file starts with a byte order mark.",
    "The mark is invisible. Agents that do not skip it find no `---` on the first line and drop the skill.",
    "Save the file as UTF-8 without a byte order mark.",
)
.fixable()
.whole_file()
.sources(&[&CODEX, &GEMINI, &PLUGIN])
.texts("\u{FEFF}---\nname: pdf\ndescription: Reads PDF files. Use when asked.\n---\nRead the file.\n", PASSING);

pub(crate) static CRLF: Rule = Rule::new(
    RuleId::YamlCrlf,
    Severity::Hint,
    "The frontmatter has CRLF line endings.",
    "An agent that looks for `---` and a line feed finds no frontmatter and drops the skill.",
    "Save the file with LF line endings.",
)
.fixable()
.whole_file()
.agents(&[Agent::OpenCodeAgentSkills])
.sources(&[&PLUGIN])
.texts("---\r\nname: pdf\r\ndescription: Reads PDF files. Use when asked.\r\n---\r\nRead the file.\r\n", PASSING);

pub(crate) static LONE_CR: Rule = Rule::new(
    RuleId::YamlLoneCr,
    Severity::Hint,
    "A line ends with a carriage return alone.",
    "YAML and editors accept it as a line ending. Codex, Gemini CLI and opencode need a line feed after `---`. Without it they find no frontmatter and drop the skill.",
    "Save the file with LF line endings.",
)
.fixable()
.whole_file()
.sources(&[&YAML, &OPENCODE, &CODEX, &GEMINI, &PLUGIN])
.texts("---\rname: pdf\rdescription: Reads PDF files. Use when asked.\r---\rRead the file.\r", PASSING);

/// A security rule that the parser reports, because the file has no frontmatter in YAML.
pub(crate) static FRONTMATTER_CODE: Rule = Rule::new(
    RuleId::SecurityFrontmatterCode,
    Severity::Error,
    "The frontmatter is a program or JSON.",
    "opencode runs JavaScript after `---js` or `---javascript` when it lists skills, before anyone has chosen the skill. It loads JSON after `---json`, where no other agent sees a skill. Other agents drop it.",
    "Remove the skill if you do not trust its code; write the fields in YAML between lines of `---`.",
)
.whole_file()
.sources(&[&OPENCODE])
.texts(
    "---js\n{name: \"pdf\", description: \"Reads PDF files. Use when asked about one.\"}\n---\nRead the file.\n",
    PASSING,
);
