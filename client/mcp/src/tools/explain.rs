//! `explain_skill`: explains why a skill is available or missing.

use std::fmt::Write as _;

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};
use skills_agents::listing::visible_line;
use skills_protocol::method::SkillsExplain;
use skills_protocol::wire::{ExplainParams, ExplainResult, Outcome, Step, StepKind};
use skills_render::escape;

use super::definition::{ToolResult, arguments, object, text};
use crate::context::{McpContext, error_text};

pub(super) const DESCRIPTION: &str = "Explains why a skill is available or not: which directories were searched, what was found, which agent's rule excluded it, and what to do. Use it when the user expects a skill that is not listed.";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExplainArguments {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    path: Option<String>,
}

pub(super) fn schema() -> Value {
    let properties = json!({
        "name": {"type": "string", "description": "The name of the skill."},
        "path": {"type": "string", "description": "Absolute path of its SKILL.md or its directory, instead of the name."},
    });
    object(&properties, &[])
}

pub(super) async fn explain(mcp: &McpContext, given: Option<JsonObject>) -> ToolResult {
    let ExplainArguments { name, path } = arguments(given)?;
    let explained = match path {
        Some(path) => {
            let params = |path| ExplainParams { path: Some(path), ..ExplainParams::default() };
            mcp.ask_about::<SkillsExplain>(&path, params).await
        }
        None => mcp.ask::<SkillsExplain>(ExplainParams { name, ..ExplainParams::default() }).await,
    };
    Ok(text(lines(&explained.map_err(|error| error_text(&error))?)))
}

/// Formats an explanation as lines: the verdict, the next step, and the steps with a result.
fn lines(explained: &ExplainResult) -> String {
    let ExplainResult { verdict, profile, steps, .. } = explained;
    let mut said = format!("{} (by the rules of {profile})\n", verdict.summary);
    if let Some(next) = &verdict.next {
        said.extend([next, "\n"]);
    }
    for step in steps.iter().filter(|it| it.outcome != Outcome::Missing) {
        // Writing to a string cannot fail.
        let _ = writeln!(said, "{}", line(step));
    }
    said
}

fn line(step: &Step) -> String {
    let indent = match step.kind {
        StepKind::Settings | StepKind::Root => "",
        StepKind::Candidate => "  ",
        StepKind::Rule => "    ",
    };
    let what = match step.kind {
        StepKind::Settings => step.file.as_deref(),
        StepKind::Root => step.root.as_deref(),
        StepKind::Candidate => step.path.as_deref(),
        StepKind::Rule => step.rule.as_deref(),
    };
    let mut line = format!("- {}: {}", what.unwrap_or_default(), step.outcome);
    if let (StepKind::Root, Some(found)) = (step.kind, step.found) {
        // Writing to a string cannot fail.
        let _ = write!(line, ", {found} found");
    }
    for more in [&step.reason, &step.next].into_iter().flatten() {
        line.extend(["; ", more]);
    }
    // The indent is ours; the rest may contain text from files.
    format!("{indent}{}", escape(&visible_line(&line)).trim_start())
}
