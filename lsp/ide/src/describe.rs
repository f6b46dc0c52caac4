//! Renders entries of the field table as Markdown.

use std::fmt::Write as _;

use skills_agents::field_table::hooks::{HandlerKind, HookEvent, HookKey, MatcherSubject};
use skills_agents::field_table::tools::Tool;
use skills_agents::field_table::variables::Variable;
use skills_agents::field_table::{Field, FieldStatus, NamedValue, Safety};

pub(super) fn field(field: &Field) -> String {
    let mut text = format!("**`{}`**: {}", field.key, field.summary);
    if !field.details.is_empty() {
        let _ = write!(text, " {}", field.details);
    }
    text.push('\n');
    match field.standing {
        FieldStatus::Unread { belongs_under } => {
            let _ = write!(
                text,
                "\nNo agent reads this field here; it belongs under `{belongs_under}`.\n"
            );
        }
        FieldStatus::Read => {
            let _ = write!(text, "\nRead by {}.\n", readers(field));
        }
    }
    if let Some(default) = field.default {
        let _ = write!(text, "\nDefault: {default}.\n");
    }
    if !field.values.is_empty() {
        text.push('\n');
        for it in field.values {
            let _ = writeln!(text, "- {}", word(it));
        }
    }
    if let [first, ..] = field.examples {
        let _ = write!(text, "\n```yaml\n{}: {first}\n```\n", field.key);
    }
    if matches!(field.safety, Safety::Asks | Safety::AsksIfFilled) {
        text.push_str("\nClaude Code asks before it runs a skill with this field.\n");
    }
    let sources: Vec<_> = field.sources.iter().map(|it| it.title).collect();
    let _ = write!(text, "\n*{}*\n", sources.join("; "));
    text
}

/// Returns the agents that read a field, with their minimum version if known.
pub(super) fn readers(field: &Field) -> String {
    let readers = field.readers.iter().map(|it| match it.since {
        Some(since) => format!("{} since {since}", it.agent.name()),
        None => it.agent.name().to_owned(),
    });
    readers.collect::<Vec<_>>().join(", ")
}

pub(super) fn word(word: &NamedValue) -> String {
    let since = word.since.map(|it| format!(" Since {it}.")).unwrap_or_default();
    format!("`{}`: {}{since}", word.name, word.summary)
}

pub(super) fn tool(tool: &Tool) -> String {
    let mut text = format!("**`{}`** of {}: {}", tool.name, tool.agent.name(), tool.summary);
    if let Some(now) = tool.renamed_to {
        let _ = write!(text, " Renamed to `{now}`.");
    }
    if !tool.pattern.is_empty() {
        let _ = write!(text, "\n\nIn parentheses: {}.", tool.pattern);
    }
    text
}

pub(super) fn event(event: &HookEvent) -> String {
    let since = event.since.map(|it| format!(" Since {it}.")).unwrap_or_default();
    let matcher = match event.matches {
        MatcherSubject::With(what) => format!("\n\nIts matcher is compared with {what}."),
        MatcherSubject::Nothing => "\n\nIt takes no matcher.".to_owned(),
        MatcherSubject::Unstated => String::new(),
    };
    format!("**`{}`**: {}{since}{matcher}", event.name, event.summary)
}

pub(super) fn kind(kind: &HandlerKind) -> String {
    let since = kind.since.map(|it| format!(" Since {it}.")).unwrap_or_default();
    format!(
        "**`type: {}`**: {}{since} Default timeout: {} seconds.",
        kind.name, kind.summary, kind.timeout
    )
}

pub(super) fn key(key: &HookKey) -> String {
    let needed = if key.required { " Required." } else { "" };
    let since = key.since.map(|it| format!(" Since {it}.")).unwrap_or_default();
    format!("**`{}`**: {}{needed}{since}", key.name, key.summary)
}

pub(super) fn variable(variable: &Variable) -> String {
    let agents: Vec<_> = variable.agents.iter().map(|it| it.name()).collect();
    format!(
        "**`{}`**: {} Replaced by {}.",
        variable_syntax(variable),
        variable.summary,
        agents.join(", ")
    )
}

/// Returns the syntax of a variable in the body.
pub(super) fn variable_syntax(variable: &Variable) -> String {
    if variable.braces { format!("${{{}}}", variable.name) } else { format!("${}", variable.name) }
}

/// Describes a tool of an MCP server by its name, `mcp__server__tool`, or all tools of a server.
pub(super) fn mcp_tool(name: &str) -> Option<String> {
    let name = name.strip_prefix("mcp__")?;
    Some(match name.split_once("__") {
        Some((server, tool)) => format!("The tool `{tool}` of the MCP server `{server}`."),
        None => format!("All tools of the MCP server `{name}`."),
    })
}
