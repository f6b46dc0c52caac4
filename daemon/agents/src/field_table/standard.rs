//! The fields of the open standard, with each agent's reading.

use super::citations::{
    CLAUDE_CHANGES, CLAUDE_SKILLS, CODEX, COPILOT, CORPUS, GEMINI, KILO, OPENCODE, PLUGIN, QWEN,
    SPECIFICATION, VS_CODE,
};
use super::{
    Agent, Coercion, Field, FieldReader, MapKey, OnMissing, OnViolation, Safety, Separators, Shape,
    TextLimit,
};
use crate::yaml_library::YamlLibrary;

/// Lower-case letters, digits and single hyphens between them.
const KEBAB_CASE: &str = "^[a-z0-9]+(-[a-z0-9]+)*$";

/// `name`.
pub static NAME: Field = Field {
    key: "name",
    shape: Shape::Text,
    summary: "The skill's name, the same as that of its directory.",
    details: "Lower-case letters, digits and single hyphens, at most 64 characters. \
              Claude Code invokes a skill by its directory's name and shows this one as a label.",
    readers: &[
        FieldReader::new(Agent::AgentSkills, Coercion::Text)
            .absent(OnMissing::Dropped)
            .limit(TextLimit {
                min: 1,
                max: Some(64),
                pattern: Some(KEBAB_CASE),
                breach: OnViolation::Warned,
            })
            .note("Must equal the directory's name; another name causes a warning."),
        FieldReader::new(Agent::ClaudeCode, Coercion::Text)
            .since("2.0.20")
            .absent(OnMissing::Else("the directory's name"))
            .note("A label; numbers are read as text since 2.1.47."),
        FieldReader::new(Agent::OpenCode, Coercion::String(YamlLibrary::JsYaml3))
            .absent(OnMissing::Dropped)
            .note("Any string, even an empty one."),
        FieldReader::new(Agent::OpenCodeAgentSkills, Coercion::String(YamlLibrary::NpmYaml))
            .absent(OnMissing::Dropped)
            .limit(TextLimit {
                min: 1,
                max: None,
                pattern: Some(r"^[\p{Ll}\p{N}-]+$"),
                breach: OnViolation::Dropped,
            }),
        FieldReader::new(Agent::Codex, Coercion::Text)
            .absent(OnMissing::Else("the directory's name"))
            .limit(TextLimit {
                min: 1,
                max: Some(64),
                pattern: None,
                breach: OnViolation::Dropped,
            }),
        FieldReader::new(Agent::GeminiCli, Coercion::Text)
            .absent(OnMissing::Dropped)
            .limit(TextLimit {
                min: 0,
                max: None,
                pattern: Some(r#"^[^:\\/<>*?"|]*$"#),
                breach: OnViolation::Replaced,
            })
            .note("Each character that a file name cannot have becomes `-`."),
        FieldReader::new(Agent::VsCode, Coercion::Text)
            .absent(OnMissing::Required)
            .limit(TextLimit {
                min: 1,
                max: Some(64),
                pattern: Some("^[a-z0-9-]+$"),
                breach: OnViolation::Dropped,
            })
            .note("Must equal the directory's name."),
        FieldReader::new(Agent::CopilotCli, Coercion::String(YamlLibrary::SerdeYamlValue))
            .absent(OnMissing::Else("the directory's name"))
            .limit(TextLimit {
                min: 1,
                max: Some(64),
                pattern: Some("^[A-Za-z0-9][A-Za-z0-9_.: -]*$"),
                breach: OnViolation::Dropped,
            })
            .note("A space becomes `-`."),
        FieldReader::new(Agent::QwenCode, Coercion::Text).absent(OnMissing::Dropped).limit(
            TextLimit {
                min: 1,
                max: None,
                pattern: Some(r"^[\p{L}\p{N}_.:-]+$"),
                breach: OnViolation::Dropped,
            },
        ),
        FieldReader::new(Agent::Kilo, Coercion::String(YamlLibrary::NpmYaml))
            .absent(OnMissing::Dropped),
    ],
    safety: Safety::Safe,
    misspellings: &["Name"],
    examples: &["pdf-processing", "code-review"],
    sources: &[
        &SPECIFICATION, &CLAUDE_SKILLS, &CLAUDE_CHANGES, &OPENCODE, &PLUGIN, &CODEX, &GEMINI,
        &VS_CODE, &COPILOT, &QWEN, &KILO,
    ],
    ..Field::USUAL
};

/// Maximum length of a description and `when_to_use` together in Claude Code's listing. Longer ones
/// are cut.
pub const CLAUDE_MAX_DESCRIPTION: usize = 1536;

/// `description`.
pub static DESCRIPTION: Field = Field {
    key: "description",
    shape: Shape::Text,
    summary: "The skill's purpose and when to use it; the model sees only this before it loads the skill.",
    details: "At most 1,024 characters. \
              Start with the words that a user would say; listings cut the end. \
              Quote it if it contains a colon and a space.",
    readers: &[
        FieldReader::new(Agent::AgentSkills, Coercion::Text).absent(OnMissing::Dropped).limit(
            TextLimit { min: 1, max: Some(1024), pattern: None, breach: OnViolation::Warned },
        ),
        FieldReader::new(Agent::ClaudeCode, Coercion::Text)
            .since("2.0.20")
            .absent(OnMissing::Else("the first line of the body that is not blank"))
            .limit(TextLimit {
                min: 0,
                max: Some(CLAUDE_MAX_DESCRIPTION),
                pattern: None,
                breach: OnViolation::Cut,
            })
            .note(
                "The listing shows 1,536 characters of it and `when_to_use` together (250 from \
                 2.1.86 to 2.1.104).",
            ),
        FieldReader::new(Agent::OpenCode, Coercion::String(YamlLibrary::JsYaml3))
            .absent(OnMissing::Else("loaded, but not listed for the model")),
        FieldReader::new(Agent::OpenCodeAgentSkills, Coercion::String(YamlLibrary::NpmYaml))
            .absent(OnMissing::Dropped)
            .limit(TextLimit { min: 1, max: None, pattern: None, breach: OnViolation::Dropped }),
        FieldReader::new(Agent::Codex, Coercion::Text)
            .absent(OnMissing::Dropped)
            .limit(TextLimit { min: 1, max: Some(1024), pattern: None, breach: OnViolation::Cut }),
        FieldReader::new(Agent::GeminiCli, Coercion::Text)
            .absent(OnMissing::Dropped)
            .note("An empty one is accepted."),
        FieldReader::new(Agent::VsCode, Coercion::Text).absent(OnMissing::Required).limit(
            TextLimit { min: 1, max: Some(1024), pattern: None, breach: OnViolation::Unstated },
        ),
        FieldReader::new(Agent::CopilotCli, Coercion::String(YamlLibrary::SerdeYamlValue))
            .absent(OnMissing::Else("the first lines of the body"))
            .limit(TextLimit {
                min: 0,
                max: Some(1024),
                pattern: None,
                breach: OnViolation::Dropped,
            }),
        FieldReader::new(Agent::QwenCode, Coercion::Text)
            .absent(OnMissing::Dropped)
            .limit(TextLimit { min: 1, max: None, pattern: None, breach: OnViolation::Dropped }),
        FieldReader::new(Agent::Kilo, Coercion::String(YamlLibrary::NpmYaml)),
    ],
    safety: Safety::Safe,
    examples: &["Extracts text and tables from PDF files. Use when a user mentions PDFs or forms."],
    sources: &[
        &SPECIFICATION, &CLAUDE_SKILLS, &CLAUDE_CHANGES, &OPENCODE, &PLUGIN, &CODEX, &GEMINI,
        &VS_CODE, &COPILOT, &QWEN, &KILO,
    ],
    ..Field::USUAL
};

/// `license`.
pub static LICENSE: Field = Field {
    key: "license",
    shape: Shape::Text,
    summary: "The skill's licence: its name, or the name of a file in the skill.",
    readers: &[
        FieldReader::new(Agent::AgentSkills, Coercion::Text),
        FieldReader::new(Agent::OpenCodeAgentSkills, Coercion::String(YamlLibrary::NpmYaml))
            .note("Not used; a value that is not a string drops the skill."),
    ],
    safety: Safety::Safe,
    examples: &["Apache-2.0", "Proprietary. LICENSE.txt has complete terms"],
    sources: &[&SPECIFICATION, &PLUGIN],
    ..Field::USUAL
};

/// `compatibility`.
pub static COMPATIBILITY: Field = Field {
    key: "compatibility",
    shape: Shape::Text,
    summary: "Requirements on the environment: a product, system packages, network access.",
    details: "At most 500 characters. Most skills need none.",
    readers: &[FieldReader::new(Agent::AgentSkills, Coercion::Text).limit(TextLimit {
        min: 1,
        max: Some(500),
        pattern: None,
        breach: OnViolation::Warned,
    })],
    safety: Safety::Safe,
    examples: &["Requires git, docker, jq and access to the internet"],
    sources: &[&SPECIFICATION],
    ..Field::USUAL
};

/// The key of `metadata` that Codex reads.
const SHORT_DESCRIPTION: &str = "short-description";

/// `metadata`.
pub static METADATA: Field = Field {
    key: "metadata",
    shape: Shape::TextMap,
    summary: "A map from text to text for everything that the standard does not define.",
    details: "Quote versions: `1.10` without quotes is a number to some readers.",
    keys: &[
        MapKey {
            name: SHORT_DESCRIPTION,
            summary: "A short form of the description for people.",
            shape: Shape::Text,
            agents: &[Agent::Codex],
        },
        MapKey {
            name: "namespace",
            summary: "A prefix: the skill can also be loaded as `namespace:name`.",
            shape: Shape::Text,
            agents: &[Agent::OpenCodeAgentSkills],
        },
        MapKey {
            name: "openclaw",
            summary: "OpenClaw's own settings, usually as JSON in one line.",
            shape: Shape::Any,
            agents: &[],
        },
        MapKey {
            name: "version",
            summary: "The skill's version, in quotes.",
            shape: Shape::Text,
            agents: &[],
        },
        MapKey { name: "author", summary: "The skill's author.", shape: Shape::Text, agents: &[] },
    ],
    readers: &[
        FieldReader::new(Agent::AgentSkills, Coercion::TextMap),
        FieldReader::new(Agent::OpenCodeAgentSkills, Coercion::StringMap(YamlLibrary::NpmYaml))
            .note("A value that is not a string drops the skill."),
        FieldReader::new(Agent::Codex, Coercion::TextMapOf(&[SHORT_DESCRIPTION]))
            .note("Only `short-description` is read."),
    ],
    safety: Safety::Safe,
    examples: &["{ author: example-org, version: \"1.0\" }"],
    sources: &[&SPECIFICATION, &PLUGIN, &CODEX, &CORPUS],
    ..Field::USUAL
};

/// `allowed-tools`.
pub static ALLOWED_TOOLS: Field = Field {
    key: "allowed-tools",
    shape: Shape::Words(Separators::CommasAndBlanks),
    summary: "Tools that the skill may use without asking.",
    details: "It grants and does not restrict: other tools stay available and ask as usual. \
              The standard calls the field experimental. \
              Only words separated by spaces are read the same way by the standard and by Claude Code; \
              the opencode-agent-skills plugin takes a list and nothing else.",
    default: Some("none"),
    readers: &[
        FieldReader::new(Agent::AgentSkills, Coercion::Words(Separators::Blanks)),
        FieldReader::new(Agent::ClaudeCode, Coercion::Words(Separators::CommasAndBlanks))
            .since("2.0.20")
            .note("A YAML list since 2.1.0."),
        FieldReader::new(Agent::OpenCodeAgentSkills, Coercion::ListOnly(YamlLibrary::NpmYaml))
            .note("Not used; text, which is the standard's form, drops the skill."),
        FieldReader::new(
            Agent::CopilotCli,
            Coercion::StringWords(Separators::CommasAndBlanks, YamlLibrary::SerdeYamlValue),
        )
        .note("A value or an item of another type drops the skill."),
    ],
    safety: Safety::AsksIfFilled,
    misspellings: &["allowed_tools", "allowedTools"],
    examples: &["Bash(git:*) Bash(jq:*) Read", "[Read, Grep, Glob]"],
    sources: &[&SPECIFICATION, &CLAUDE_SKILLS, &CLAUDE_CHANGES, &PLUGIN, &COPILOT],
    ..Field::USUAL
};
