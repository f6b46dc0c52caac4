//! Renders the tool definition with which an agent lets its model load skills.

use std::collections::HashSet;

use serde_json::{Value as Json, json};
use skills_agents::profile::OutputFormat;
use skills_agents::profile::template::PromptTemplate;

use super::prompt_listing::template as listing_template;
use super::prompt_listing::{
    ListedSkill, ListingBudget, ListingFormat, OneLineTexts, PromptListing, markdown, write_listing,
};
use super::template;

/// A tool definition for model providers.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The tool's name in the agent.
    pub name: &'static str,
    pub description: String,
    /// The JSON Schema of the parameters; the skills' names are an enum in it.
    pub schema: Json,
    /// The number of skills whose descriptions are shortened.
    pub n_shortened: usize,
}

const USE: &str = "Loads a skill: instructions for a kind of task, with the files that belong to them. Call it when a task matches the description of a skill, before you begin, and follow what it gives.";

/// opencode 1.18.33's tool description; the list of skills is in its system prompt.
const OPENCODE: &str = "Load a specialized skill when the task at hand matches one of the skills listed in the system prompt.

Use this tool to inject the skill's instructions and resources into current conversation. The output may contain detailed workflow guidance as well as references to scripts, files, etc in the same directory as the skill.

The skill name must match one of the skills listed in your system prompt.
";

/// The tool description in the founding documents, before the list.
const OPENCODE_FOUNDING: &str = "Load a specialized skill that provides domain-specific instructions and workflows.

When you recognize that a task matches one of the available skills listed below, use this tool to load the full skill instructions.

The skill will inject detailed instructions, workflows, and access to bundled resources (scripts, references, templates) into the conversation context.

Tool output includes a `<skill_content name=\"...\">` block with the loaded content.

The following skills provide specialized sets of instructions for particular tasks
Invoke this tool to load a skill when a task matches one of the available skills listed below:

";

/// The tool description in the founding documents, if there are no skills.
const OPENCODE_FOUNDING_NONE: &str = "No skills are currently available.";

/// Claude Code 2.1.330's tool description; the list of skills is in its messages.
const CLAUDE: &str = "Invoke a skill.

A skill is a packaged set of instructions the user or project has set up for a particular kind of task (deploy steps, a review checklist, a repo-specific workflow). Available skills appear in a listing from the system with one-line descriptions. When the task at hand is one a listed skill covers, call this tool first — the skill's instructions load into the turn for you to follow in place of your default approach; some skills instead run in a subagent and return the finished result. A skill that runs in the background returns only the agent's name — its result arrives later as a task notification, so don't wait on it or invoke it again in the meantime. Users may also ask for one by name (`/<name>`, or \"slash command\"); that's a request to invoke it.

- `skill`: exact name from the listing, no leading slash. Plugin skills use `plugin:skill`. Directory-scoped skills are listed with a path prefix (`apps/web:deploy`); when both scoped and unscoped variants of a name exist, pick the one whose directory contains the files you're working on (most specific wins; unscoped otherwise).
- `args`: optional arguments to pass through.

Only names from the listing (or that the user typed explicitly) are valid. Built-in CLI commands (`/help`, `/clear`, …) aren't skills. If a `<command-name>` block is already present this turn, the skill is loaded — follow it directly rather than calling again.
";

/// Claude Code's tool description in the founding documents.
const CLAUDE_FOUNDING: &str = "Execute a skill within the main conversation

When users ask you to perform tasks, check if any of the available skills match.

How to invoke:
- Use this tool with the skill name and optional arguments
- Examples:
  - skill: \"pdf\"
  - skill: \"commit\", args: \"-m 'Fix bug'\"

Important:
- Available skills are listed in system-reminder messages
- When a skill matches, invoke BEFORE generating any other response
- NEVER mention a skill without calling this tool
- Do not invoke a skill that is already running
";

/// Gemini CLI 0.61.0's tool description, after the names.
const GEMINI: &str = "Returns the skill's instructions wrapped in `<activated_skill>` tags. These provide specialized guidance for the current task. Use this when you identify a task that matches a skill's description. ONLY use names exactly as they appear in the `<available_skills>` section.";

/// Returns the tool definition in an agent's format, or `None` if the agent offers none without
/// skills.
pub fn tool(
    format: OutputFormat,
    skills: &[ListedSkill<'_>],
    room: &ListingBudget,
) -> Option<Tool> {
    if skills.is_empty() && format != OutputFormat::OpencodeFounding {
        return None;
    }
    let mut n_shortened = 0;
    let mut list = |format, lead: &str| {
        // The plugin's list keeps the plugin's own format; other lists are embedded in our text and
        // need escaping.
        let lines;
        let skills = if format == ListingFormat::Claude {
            lines = OneLineTexts::of(skills).escaped();
            &*lines.listed(skills)
        } else {
            skills
        };
        let PromptListing { text, n_shortened: n, .. } = write_listing(format, skills, room);
        n_shortened = n;
        format!("{USE}\n\n{lead}{text}")
    };
    let (name, description) = match format {
        OutputFormat::Opencode => ("skill", OPENCODE.to_owned()),
        OutputFormat::OpencodeFounding if skills.is_empty() => {
            ("skill", OPENCODE_FOUNDING_NONE.to_owned())
        }
        OutputFormat::OpencodeFounding => {
            ("skill", format!("{OPENCODE_FOUNDING}{}", markdown(skills)))
        }
        OutputFormat::Claude => ("Skill", CLAUDE.to_owned()),
        OutputFormat::ClaudeFounding => ("Skill", CLAUDE_FOUNDING.to_owned()),
        OutputFormat::Gemini => {
            let names = names(skills).join("', '");
            let activates = "Activates a specialized agent skill by name";
            ("activate_skill", format!("{activates} (Available: '{names}'). {GEMINI}"))
        }
        OutputFormat::Plugin => ("use_skill", list(ListingFormat::Plugin, "")),
        OutputFormat::Raw => ("skill", list(ListingFormat::Claude, "Available skills:\n")),
        OutputFormat::AgentSkills
        | OutputFormat::Codex
        | OutputFormat::Template(PromptTemplate { tool: None, .. }) => {
            ("skill", list(ListingFormat::Xml, ""))
        }
        OutputFormat::Template(PromptTemplate { tool: Some(tool), listing, .. }) => {
            let description = template::fill(tool.description, |word| {
                let listing =
                    || listing_template::listing(listing, skills, room).render().text.into();
                (word == "listing").then(listing)
            });
            (tool.name, description)
        }
    };
    Some(Tool { name, description, schema: schema(format, skills), n_shortened })
}

/// Returns the tools of an agent that registers several: the four of opencode-agent-skills 0.7.0,
/// also without skills.
pub fn registered_tools(format: OutputFormat) -> Option<Vec<Tool>> {
    let text = |description: &str| json!({"type": "string", "description": description});
    let tool = |name, description: &str, required: &[&str], properties: Json| Tool {
        name,
        description: description.to_owned(),
        schema: json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}),
        n_shortened: 0,
    };
    let skill = text("Name of the skill");
    let tools = vec![
        tool(
            "get_available_skills",
            "Get available skills with their descriptions. Optionally filter by query.",
            &[],
            json!({"query": text("Search query to filter skills (matches name and description)")}),
        ),
        tool(
            "read_skill_file",
            "Read a supporting file from a skill's directory (docs, examples, configs).",
            &["skill", "filename"],
            json!({"skill": skill, "filename": text("File to read, relative to skill directory (e.g., 'anthropic-best-practices.md', 'scripts/helper.sh')")}),
        ),
        tool(
            "run_skill_script",
            "Execute a script from a skill's directory. Scripts are run with the skill directory as CWD.",
            &["skill", "script"],
            json!({
                "skill": skill,
                "script": text("Relative path to the script (e.g., 'build.sh', 'tools/deploy.sh')"),
                "arguments": {"type": "array", "items": {"type": "string"}, "description": "Arguments to pass to the script"},
            }),
        ),
        tool(
            "use_skill",
            "Load a skill's SKILL.md content into context. Skills contain proven workflows, techniques, and patterns.",
            &["skill"],
            json!({"skill": text("Name of the skill (e.g., 'brainstorming', 'project:my-skill', 'user:my-skill')")}),
        ),
    ];
    (format == OutputFormat::Plugin).then_some(tools)
}

/// Returns the names in the agent's order, without duplicates: Codex keeps several skills of one
/// name.
fn names<'a>(skills: &[ListedSkill<'a>]) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    skills.iter().map(|it| it.name).filter(|it| seen.insert(*it)).collect()
}

fn schema(format: OutputFormat, skills: &[ListedSkill<'_>]) -> Json {
    let names = names(skills);
    let name = |description: &str| match &names[..] {
        [] => json!({"type": "string", "description": description}),
        names => json!({"type": "string", "enum": names, "description": description}),
    };
    let object = |parameter: &str, properties: Json| json!({"type": "object", "properties": properties, "required": [parameter], "additionalProperties": false});
    match format {
        // As recorded from the agent, plus the enum of names.
        OutputFormat::Opencode | OutputFormat::OpencodeFounding => json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"name": name("The name of the skill from available_skills")},
            "required": ["name"],
        }),
        OutputFormat::Gemini => {
            let properties = json!({"name": name("The name of the skill to activate.")});
            let mut schema = object("name", properties);
            schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
            schema
        }
        // As recorded from the agent, plus the enum of names.
        OutputFormat::Claude => {
            let args = json!({"type": "string", "description": "Optional arguments for the skill"});
            let skill =
                name("The name of a skill from the available-skills list. Do not guess names.");
            let mut schema = object("skill", json!({"skill": skill, "args": args}));
            schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
            schema
        }
        OutputFormat::ClaudeFounding => {
            let args = json!({"type": "string", "description": "Arguments for the skill, where it takes any."});
            object("skill", json!({"skill": name("The name of the skill."), "args": args}))
        }
        OutputFormat::Plugin => object("skill", json!({"skill": name("The name of the skill.")})),
        // As recorded from the agent, plus the enum of names.
        OutputFormat::Template(PromptTemplate { tool: Some(tool), .. }) => {
            let mut schema: Json = serde_json::from_str(tool.schema).unwrap_or_default();
            if !names.is_empty() {
                schema["properties"][tool.parameter]["enum"] = json!(names);
            }
            schema
        }
        OutputFormat::AgentSkills
        | OutputFormat::Codex
        | OutputFormat::Raw
        | OutputFormat::Template(PromptTemplate { tool: None, .. }) => {
            object("name", json!({"name": name("The name of the skill.")}))
        }
    }
}
