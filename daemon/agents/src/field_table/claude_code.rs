//! The fields that Claude Code adds to the standard, some of which VS Code reads too.

use super::citations::{
    CLAUDE_CHANGES, CLAUDE_HOOKS, CLAUDE_SKILLS, COPILOT, CORPUS, QWEN, VS_CODE,
};
use super::{
    Agent, CLAUDE_MAX_DESCRIPTION, Coercion, Field, FieldReader, NamedValue, OnViolation, Safety,
    Separators, Shape, TextLimit,
};
use crate::yaml_library::YamlLibrary;

/// Creates a value that every reader of the field knows.
const fn value(name: &'static str, summary: &'static str) -> NamedValue {
    NamedValue { name, summary, since: None }
}

/// `when_to_use`.
pub static WHEN_TO_USE: Field = Field {
    key: "when_to_use",
    shape: Shape::Text,
    summary: "More on when to use the skill: phrases and requests that should trigger it.",
    details: "The listing appends it to the description and cuts both together. \
              It is the only key with underscores.",
    readers: &[
        FieldReader::new(Agent::ClaudeCode, Coercion::Text).limit(TextLimit {
            min: 0,
            max: Some(CLAUDE_MAX_DESCRIPTION),
            pattern: None,
            breach: OnViolation::Cut,
        }),
        FieldReader::new(Agent::QwenCode, Coercion::OptionalString(YamlLibrary::NpmYamlAsText)),
    ],
    safety: Safety::Safe,
    examples: &["When the user asks for a release, a tag or a change log."],
    sources: &[&CLAUDE_SKILLS, &CLAUDE_CHANGES, &QWEN],
    ..Field::USUAL
};

/// `disallowed-tools`.
pub static DISALLOWED_TOOLS: Field = Field {
    key: "disallowed-tools",
    shape: Shape::Words(Separators::CommasAndBlanks),
    summary: "Tools that the model cannot use while the skill is active.",
    details: "The restriction ends with the user's next message.",
    default: Some("none"),
    readers: &[FieldReader::new(Agent::ClaudeCode, Coercion::Words(Separators::CommasAndBlanks))
        .since("2.1.152")],
    safety: Safety::Safe,
    examples: &["AskUserQuestion", "[Write, Edit]"],
    sources: &[&CLAUDE_SKILLS, &CLAUDE_CHANGES],
    ..Field::USUAL
};

/// `argument-hint`.
pub static ARGUMENT_HINT: Field = Field {
    key: "argument-hint",
    shape: Shape::Spelling,
    summary: "The arguments to type after the skill's name, shown during completion.",
    details: "Quote it if it begins with a bracket: `[a] [b]` without quotes is not valid YAML.",
    readers: &[
        FieldReader::new(Agent::ClaudeCode, Coercion::Spelling)
            .note("In commands since 1.0.54; in brackets without quotes since 2.1.47."),
        FieldReader::new(Agent::VsCode, Coercion::Text),
        FieldReader::new(Agent::CopilotCli, Coercion::OptionalString(YamlLibrary::SerdeYamlValue)),
        FieldReader::new(Agent::QwenCode, Coercion::OptionalString(YamlLibrary::NpmYamlAsText)),
    ],
    safety: Safety::Safe,
    examples: &["\"[issue-number]\"", "\"[filename] [format]\""],
    sources: &[&CLAUDE_SKILLS, &CLAUDE_CHANGES, &VS_CODE, &COPILOT, &QWEN],
    ..Field::USUAL
};

/// `arguments`.
pub static ARGUMENTS: Field = Field {
    key: "arguments",
    shape: Shape::Words(Separators::Blanks),
    summary: "Names of the positional arguments, for `$name` in the body.",
    details: "The first name is the first argument, and so on.",
    readers: &[FieldReader::new(Agent::ClaudeCode, Coercion::Words(Separators::Blanks))],
    safety: Safety::Safe,
    examples: &["issue branch", "[issue, branch]"],
    sources: &[&CLAUDE_SKILLS],
    ..Field::USUAL
};

/// `disable-model-invocation`.
pub static DISABLE_MODEL_INVOCATION: Field = Field {
    key: "disable-model-invocation",
    shape: Shape::Switch,
    summary: "Lets only the user start the skill, not the model.",
    details: "Set it for work with side effects: deploying, committing, sending. \
              The description is then not shown to the model.",
    default: Some("false"),
    readers: &[
        FieldReader::new(Agent::AgentSkills, Coercion::Switch).ours(),
        FieldReader::new(Agent::ClaudeCode, Coercion::Switch),
        FieldReader::new(Agent::VsCode, Coercion::Boolean),
        FieldReader::new(Agent::CopilotCli, Coercion::BooleanOnly)
            .note("A value of another type, also none, drops the skill."),
        FieldReader::new(Agent::QwenCode, Coercion::BooleanWord),
    ],
    safety: Safety::Safe,
    misspellings: &["disable_model_invocation"],
    examples: &["true"],
    sources: &[&CLAUDE_SKILLS, &VS_CODE, &COPILOT, &QWEN],
    ..Field::USUAL
};

/// `user-invocable`.
pub static USER_INVOCABLE: Field = Field {
    key: "user-invocable",
    shape: Shape::Switch,
    summary: "Shows the skill in the user's command menu.",
    details: "Set it to `false` for background knowledge; the model can still use the skill.",
    default: Some("true"),
    readers: &[
        FieldReader::new(Agent::AgentSkills, Coercion::Switch).ours(),
        FieldReader::new(Agent::ClaudeCode, Coercion::Switch).since("2.1.0"),
        FieldReader::new(Agent::VsCode, Coercion::Boolean),
        FieldReader::new(Agent::CopilotCli, Coercion::BooleanOnly)
            .note("A value of another type, also none, drops the skill."),
        FieldReader::new(Agent::QwenCode, Coercion::BooleanWord),
    ],
    safety: Safety::Safe,
    misspellings: &["user-invokable", "user_invocable"],
    examples: &["false"],
    sources: &[&CLAUDE_SKILLS, &CLAUDE_CHANGES, &VS_CODE, &COPILOT, &QWEN, &CORPUS],
    ..Field::USUAL
};

/// `model`.
pub static MODEL: Field = Field {
    key: "model",
    shape: Shape::Choice { open: true, integer: false },
    summary: "The model that runs the skill's turn: an alias, a full id, or `inherit`.",
    details: "An alias selects the current model of a family; a full id selects exactly one model.",
    default: Some("the session's model"),
    values: &[
        value("sonnet", "The current Sonnet."),
        value("opus", "The current Opus."),
        value("haiku", "The current Haiku."),
        value("fable", "The current Fable."),
        value("inherit", "The session's model."),
    ],
    readers: &[
        FieldReader::new(Agent::ClaudeCode, Coercion::Choice).note("In commands since 1.0.57."),
        FieldReader::new(Agent::QwenCode, Coercion::OptionalString(YamlLibrary::NpmYamlAsText))
            .note("A value of another type drops the skill."),
    ],
    safety: Safety::Safe,
    examples: &["haiku", "inherit"],
    sources: &[&CLAUDE_SKILLS, &CLAUDE_CHANGES, &QWEN],
    ..Field::USUAL
};

/// `effort`.
pub static EFFORT: Field = Field {
    key: "effort",
    shape: Shape::Choice { open: false, integer: true },
    summary: "The model's effort while the skill runs.",
    details: "An integer is read too, but is not documented.",
    default: Some("the session's level"),
    values: &[
        value("low", "The lowest level."),
        value("medium", "Between `low` and `high`."),
        value("high", "Above `medium`."),
        NamedValue {
            name: "xhigh",
            summary: "Between `high` and `max`; models that do not have it use `high`.",
            since: Some("2.1.111"),
        },
        value("max", "The highest level."),
    ],
    readers: &[FieldReader::new(Agent::ClaudeCode, Coercion::ChoiceOrInteger).since("2.1.80")],
    safety: Safety::Safe,
    examples: &["low", "high"],
    sources: &[&CLAUDE_SKILLS, &CLAUDE_CHANGES],
    ..Field::USUAL
};

/// The value of `context` that starts a subagent.
const FORK: &str = "fork";

/// The values of `context` that spell out its default.
const INLINE: [&str; 2] = ["inline", "inherit"];

/// `context`.
pub static CONTEXT: Field = Field {
    key: "context",
    shape: Shape::Choice { open: false, integer: false },
    summary: "The context in which the skill runs: the session's, or that of a new subagent.",
    details: "A subagent gets the body as its task and sees nothing of the session; only its result is returned.",
    default: Some("in the session"),
    values: &[
        value(FORK, "Runs the skill in a subagent with its own context."),
        value(INLINE[0], "Runs the skill in the session, as without the field."),
        value(INLINE[1], "Runs the skill in the session, as without the field."),
    ],
    readers: &[
        FieldReader::new(Agent::ClaudeCode, Coercion::Choice)
            .since("2.1.0")
            .note("In skills of plugins since 2.1.101."),
        FieldReader::new(Agent::VsCode, Coercion::Choice)
            .note("Experimental; needs the setting `github.copilot.chat.skillTool.enabled`."),
    ],
    safety: Safety::AsksFor(&[FORK]),
    examples: &["fork"],
    sources: &[&CLAUDE_SKILLS, &CLAUDE_CHANGES, &VS_CODE, &CORPUS],
    ..Field::USUAL
};

/// `agent`.
pub static AGENT: Field = Field {
    key: "agent",
    shape: Shape::Choice { open: true, integer: false },
    summary: "The type of subagent that runs the skill; needs `context: fork`.",
    details: "A built-in type or one of your own.",
    default: Some("general-purpose"),
    values: &[
        value("general-purpose", "The default."),
        NamedValue {
            name: "Explore",
            summary: "Searches a code base without filling the session's context.",
            since: Some("2.0.17"),
        },
        NamedValue { name: "Plan", summary: "The subagent of plan mode.", since: Some("2.0.28") },
    ],
    readers: &[FieldReader::new(Agent::ClaudeCode, Coercion::Choice)
        .since("2.1.0")
        .note("In skills of plugins since 2.1.101.")],
    safety: Safety::Safe,
    examples: &["Explore"],
    sources: &[&CLAUDE_SKILLS, &CLAUDE_CHANGES],
    ..Field::USUAL
};

/// `background`.
pub static BACKGROUND: Field = Field {
    key: "background",
    shape: Shape::Switch,
    summary: "Runs a forked skill in the background; needs `context: fork`.",
    details: "Set it to `false` if the turn must wait for the result.",
    default: Some("true"),
    readers: &[FieldReader::new(Agent::ClaudeCode, Coercion::Switch).since("2.1.218")],
    safety: Safety::Safe,
    examples: &["false"],
    sources: &[&CLAUDE_SKILLS],
    ..Field::USUAL
};

/// `paths`.
pub static PATHS: Field = Field {
    key: "paths",
    shape: Shape::Globs,
    summary: "Globs of the files that the skill is for; it is listed once a matching file is touched.",
    details: "They match like lines of a `.gitignore`, relative to the directory in which the session started, with three differences: \
              case does not matter, a final `/**` is removed first (so that `src/**` matches `src` at any depth), and brackets cannot be negated. \
              `**` restricts nothing. \
              An empty value restricts nothing. \
              A comma separates globs, except inside braces.",
    default: Some("no restriction"),
    readers: &[
        FieldReader::new(Agent::AgentSkills, Coercion::Words(Separators::CommasOutsideBraces))
            .ours(),
        FieldReader::new(Agent::ClaudeCode, Coercion::Words(Separators::CommasOutsideBraces))
            .note("A YAML list since 2.1.84."),
        FieldReader::new(Agent::VsCode, Coercion::Words(Separators::CommasOutsideBraces))
            .note("The table in its documentation does not list the field."),
        FieldReader::new(Agent::QwenCode, Coercion::List).note("A text drops the skill."),
    ],
    safety: Safety::Safe,
    examples: &["src/**/*.{ts,tsx}, docs/", "[\"src/api/**\", \"*.sql\"]"],
    sources: &[&CLAUDE_SKILLS, &CLAUDE_CHANGES, &QWEN],
    ..Field::USUAL
};

/// `hooks`.
pub static HOOKS: Field = Field {
    key: "hooks",
    shape: Shape::Hooks,
    summary: "Commands and checks that run at events while the skill is active.",
    details: "A map from events to lists of groups, each with a `matcher` and its `hooks`.",
    default: Some("none"),
    readers: &[
        FieldReader::new(Agent::ClaudeCode, Coercion::Hooks)
            .since("2.1.0")
            .note("In skills of plugins since 2.1.94."),
        FieldReader::new(Agent::QwenCode, Coercion::Hooks),
    ],
    safety: Safety::Asks,
    examples: &[
        "{ PreToolUse: [{ matcher: Bash, hooks: [{ type: command, command: ./check.sh }] }] }",
    ],
    sources: &[&CLAUDE_SKILLS, &CLAUDE_HOOKS, &CLAUDE_CHANGES, &QWEN],
    ..Field::USUAL
};

/// `shell`.
pub static SHELL: Field = Field {
    key: "shell",
    shape: Shape::Choice { open: false, integer: false },
    summary: "The shell that runs the commands in the body.",
    details: "Commands are written as `` !`…` `` and in code blocks opened with `!`.",
    default: Some("bash"),
    values: &[
        value("bash", "Bash."),
        value("powershell", "PowerShell; needs `CLAUDE_CODE_USE_POWERSHELL_TOOL=1`."),
    ],
    readers: &[FieldReader::new(Agent::ClaudeCode, Coercion::Choice)],
    safety: Safety::Safe,
    examples: &["powershell"],
    sources: &[&CLAUDE_SKILLS],
    ..Field::USUAL
};

/// `version`.
pub static VERSION: Field = Field {
    key: "version",
    shape: Shape::Text,
    summary: "The skill's version, for people.",
    details: "It changes nothing. Other agents expect it under `metadata`.",
    readers: &[FieldReader::new(Agent::ClaudeCode, Coercion::Text)],
    safety: Safety::Safe,
    examples: &["\"1.0\""],
    sources: &[&CORPUS],
    ..Field::USUAL
};
