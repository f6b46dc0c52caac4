//! Rules `tools/*`: problems in `allowed-tools` and `disallowed-tools`.

use std::collections::HashSet;

use skills_agents::field_table::tools::{Tool, agent_tools, find_tool, tools};
use skills_agents::field_table::{
    ALLOWED_TOOLS, Agent, CLAUDE_PERMISSIONS, CLAUDE_SKILLS, DISALLOWED_TOOLS, Field, SPECIFICATION,
};
use skills_agents::fields::SpannedText;
use skills_syntax::diagnostic::Severity;
use skills_syntax::edit::Edit;
use skills_syntax::parse::{ScalarStyle, ValueKind};
use skills_syntax::suggest;
use skills_syntax::text::Span;

use super::agent_name;
use super::finding::Finding;
use super::rule::Rule;
use super::rule_id::RuleId;
use super::subject::Cx;

const PASSING: &str = "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nallowed-tools: Read Bash(pdftotext:*)\n---\nRead the file.\n";

pub(super) static UNKNOWN: Rule = Rule::new(
    RuleId::ToolsUnknown,
    Severity::Information,
    "No agent has a tool with this name.",
    "An unknown tool grants nothing; the agent still asks for permission.",
    "Write the tool's exact name.",
)
.fixable()
.agents(&[Agent::ClaudeCode])
.sources(&[&CLAUDE_PERMISSIONS])
.texts(
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nallowed-tools: Raed\n---\nRead the file.\n",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nallowed-tools: Read\n---\nRead the file.\n",
);

pub(super) static RENAMED: Rule = Rule::new(
    RuleId::ToolsRenamed,
    Severity::Hint,
    "The tool has a new name.",
    "Only some versions still accept the old name.",
    "Use the new name.",
)
.fixable()
.agents(&[Agent::ClaudeCode])
.sources(&[&CLAUDE_PERMISSIONS])
.texts(
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nallowed-tools: MultiEdit\n---\nRead the file.\n",
    PASSING,
);

pub(super) static PATTERN: Rule = Rule::new(
    RuleId::ToolsPattern,
    Severity::Warning,
    "The pattern after a tool's name is malformed.",
    "The permission rule matches nothing, and may swallow the tools after it. A colon is special only in `:*` at the end.",
    "Close the parenthesis, and write a pattern inside.",
)
.fixable()
.sources(&[&CLAUDE_PERMISSIONS])
.texts(
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nallowed-tools: Read Bash(git:*\n---\nRead the file.\n",
    PASSING,
);

pub(super) static SEPARATOR: Rule = Rule::new(
    RuleId::ToolsSeparator,
    Severity::Information,
    "Tools are separated by commas.",
    "The specification separates tools by spaces; a client that follows it reads `Read,` as the tool's name.",
    "Separate tools only by spaces; Claude Code also splits there.",
)
.fixable()
.agents(&[Agent::AgentSkills])
.sources(&[&SPECIFICATION, &CLAUDE_SKILLS])
.texts(
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nallowed-tools: Read, Grep\n---\nRead the file.\n",
    PASSING,
);

pub(super) static MCP: Rule = Rule::new(
    RuleId::ToolsMcp,
    Severity::Warning,
    "An MCP tool is not written as `mcp__server__tool`.",
    "Two underscores separate the parts; any other form matches no tool.",
    "Write `mcp__server` for all tools of a server, or `mcp__server__tool` for one.",
)
.agents(&[Agent::ClaudeCode])
.sources(&[&CLAUDE_PERMISSIONS])
.texts(
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nallowed-tools: mcp:files:read\n---\nRead the file.\n",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nallowed-tools: mcp__files__read\n---\nRead the file.\n",
)
.fixable();

/// Minimum similarity of a name to a tool's name.
const MIN_SIMILARITY: f64 = 0.75;

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    if !cx.applies_to(&[Agent::ClaudeCode, Agent::AgentSkills]) {
        return;
    }
    for field in [&ALLOWED_TOOLS, &DISALLOWED_TOOLS] {
        let items = cx.items(field);
        let names: HashSet<&str> = items.iter().map(|it| it.text.trim()).collect();
        for item in &items {
            let finding = joined_tools(cx, field, item).or_else(|| check_tool(cx, item, &names));
            out.extend(finding);
        }
    }
    check_separators(cx, &ALLOWED_TOOLS, out);
}

/// Reports an item that names several tools: no agent splits list items, or splits at `;` or at
/// full-width marks.
fn joined_tools(cx: &Cx<'_>, field: &'static Field, item: &SpannedText) -> Option<Finding> {
    const WIDE: [char; 3] = ['，', '、', '；'];
    let text = item.text.trim();
    let wide = text.find(WIDE).filter(|at| !text[..*at].contains('('));
    let separators: &[char] = if wide.is_some() { &WIDE } else { &[' ', ',', ';', '|'] };
    let names = text.split(separators).map(str::trim).filter(|it| !it.is_empty());
    let names: Vec<&str> = names.collect();
    let is_tool = |it: &&str| find_tool(Agent::ClaudeCode, it).is_some();
    if names.is_empty() || wide.is_none() && (names.len() < 2 || !names.iter().all(is_tool)) {
        return None;
    }
    let message = format!("agents read `{text}` as the name of one tool, which does not exist");
    let rule = if wide.is_some() { &SEPARATOR } else { &UNKNOWN };
    let finding = Finding::new(rule, item.span, message).severity(Severity::Warning);
    let help = match wide.and_then(|at| text[at..].chars().next()) {
        Some(mark) => format!("Write a space instead of `{mark}`."),
        None => "Separate the tools like the others in this list.".to_owned(),
    };
    let finding = finding.help(help);
    if item.span.slice(cx.text).trim_matches(['"', '\'']) != text {
        return Some(finding);
    }
    let value = &cx.entry(field.key)?.value.kind;
    let separator = match value {
        ValueKind::Sequence { flow: true, .. } => ", ".to_owned(),
        ValueKind::Sequence { flow: false, .. } => {
            let indent = Span::new(cx.line(item.span.start).start, item.span.start);
            format!("{}{}", cx.line_break(), indent.slice(cx.text))
        }
        _ => " ".to_owned(),
    };
    Some(finding.fix("Separate the tools", item.span, names.join(&separator)))
}

fn check_tool(cx: &Cx<'_>, item: &SpannedText, all: &HashSet<&str>) -> Option<Finding> {
    let text = item.text.trim();
    if let Some(finding) = check_pattern(cx, item) {
        return Some(finding);
    }
    let name = text.split_once('(').map_or(text, |(name, _)| name);
    // In a quoted value with escapes, source and text differ, and the whole item is shown.
    let exact = item.span.slice(cx.text).find(name).map(|at| item.span.start + at);
    let span = exact.map_or(item.span, |at| Span::new(at, at + name.len()));
    if name.starts_with("mcp") && name.len() > 3 && !name.as_bytes()[3].is_ascii_alphanumeric() {
        // Other agents write the names of these tools in other ways.
        return cx.applies_to(MCP.agents).then(|| check_mcp(name, span))?;
    }
    if let ("Agent" | "Task", Some(inner)) = (name, text.strip_suffix(')'))
        && let Some((_, agent)) = inner.split_once('(')
        && let Some(at) = item.span.slice(cx.text).find(agent)
    {
        let start = item.span.start + at;
        let span = Span::new(start, start + agent.len());
        return agent_name::check(cx, &PATTERN, agent, span);
    }
    if name == "*" || find_tool(Agent::ClaudeCode, name).is_some_and(|it| it.renamed_to.is_none()) {
        return None;
    }
    let former = find_tool(Agent::ClaudeCode, name);
    if let Some((former, now)) = former.and_then(|it| Some((it, it.renamed_to?))) {
        return check_renamed((name, span), former, now, all);
    }
    check_unknown(cx, name, span, all)
}

/// Reports a name that is no tool of Claude Code.
fn check_unknown(cx: &Cx<'_>, name: &str, span: Span, all: &HashSet<&str>) -> Option<Finding> {
    let other = tools().iter().find(|it| it.name == name && it.agent != Agent::ClaudeCode);
    let names: Vec<&str> = agent_tools(Agent::ClaudeCode)
        .filter(|it| it.renamed_to.is_none())
        .map(|it| it.name)
        .collect();
    let folded = names.iter().copied().find(|it| it.eq_ignore_ascii_case(name));
    let near = folded.or_else(|| suggest::nearest(name, names, MIN_SIMILARITY).first().copied());
    // Other agents write tool names in lower case; such a name alone is not a typing error.
    let is_word = name.chars().next().is_some_and(|it| it.is_ascii_uppercase());
    match (near, other) {
        (Some(near), None) if is_word || folded.is_some() => {
            let message = format!("unknown tool `{name}`; did you mean `{near}`?");
            let finding = Finding::new(&UNKNOWN, span, message).severity(Severity::Warning);
            Some(if all.contains(near) {
                finding.help(twice(near))
            } else {
                finding.fix(format!("Change to `{near}`"), span, near)
            })
        }
        (_, Some(other)) if cx.applies_to(&[Agent::ClaudeCode]) => {
            let whose = other.agent.name();
            let message = match folded {
                Some(own) => {
                    format!("Claude Code calls the tool `{own}`; `{name}` is {whose}'s name")
                }
                None => format!("`{name}` is a tool of {whose}, not of Claude Code"),
            };
            let finding = Finding::new(&UNKNOWN, span, message).severity(Severity::Hint);
            Some(match folded {
                Some(own) if all.contains(own) => finding.help(twice(own)),
                Some(own) => finding.fix(format!("Change to `{own}`"), span, own),
                None => finding,
            })
        }
        (_, None) if cx.applies_to(&[Agent::ClaudeCode]) => {
            let message = format!("unknown tool `{name}`");
            Some(Finding::new(&UNKNOWN, span, message).severity(Severity::Hint))
        }
        (_, Some(_) | None) => None,
    }
}

/// Returns the help for a tool that is in the list by its other name too.
fn twice(name: &str) -> String {
    format!("The list also has `{name}`; remove this one.")
}

fn check_renamed(
    (name, span): (&str, Span),
    former: &Tool,
    now: &'static str,
    all: &HashSet<&str>,
) -> Option<Finding> {
    // Every version accepts the original name of subagents.
    if name == "Task" {
        return None;
    }
    let finding = Finding::new(&RENAMED, span, format!("the tool `{name}` is now called `{now}`"));
    let title = format!("Rename the tool to `{now}`");
    Some(if all.contains(now) {
        finding.help(twice(now))
    } else if former.replacement_is_broader {
        finding.draft(title, span, now)
    } else {
        finding.fix(title, span, now)
    })
}

fn check_pattern(cx: &Cx<'_>, item: &SpannedText) -> Option<Finding> {
    let text = item.text.trim();
    let open = text.find('(');
    let what = match open {
        None if text.contains(')') => "unmatched `)`",
        None => return None,
        Some(0) => "missing tool name before `(`",
        Some(at) => {
            let depth = text[at..].chars().fold(0_i32, |depth, it| match it {
                '(' => depth + 1,
                ')' => depth - 1,
                _ => depth,
            });
            if depth > 0 {
                "unclosed `(`"
            } else if depth < 0 {
                "unmatched `)`"
            } else if text.ends_with("()") || text[at + 1..].trim_end_matches(')').trim().is_empty()
            {
                "empty parentheses"
            } else if !text.ends_with(')') {
                "text after `)`"
            } else {
                return check_colon(cx, item, at);
            }
        }
    };
    let finding = Finding::new(&PATTERN, item.span, format!("{what} in `{text}`"));
    let last_line = !item.span.slice(cx.text).contains(['\n', ' ', ',', '"', '\'']);
    // Removing the parenthesis allows more than the unfinished pattern would.
    if let (true, Some(name)) = (last_line, text.strip_suffix('(')) {
        let at = item.span.start + name.len();
        return Some(finding.draft("Remove the parenthesis", Span::new(at, item.span.end), ""));
    }
    if what.starts_with("unclosed") && last_line {
        return Some(finding.fix("Close the parenthesis", Span::empty(item.span.end), ")"));
    }
    if let (true, Some(at), true) = (what.starts_with("empty"), open, item.span.len() == text.len())
    {
        let span = Span::new(item.span.start + at, item.span.end);
        return Some(finding.draft("Remove the parentheses", span, ""));
    }
    Some(finding)
}

/// Reports a colon after the program in a pattern of Bash, which only `:*` at the end may have.
fn check_colon(cx: &Cx<'_>, item: &SpannedText, open: usize) -> Option<Finding> {
    let (name, pattern) = item.text.trim().split_at(open);
    let pattern = pattern.strip_prefix('(')?.strip_suffix(')')?.trim();
    let commands = pattern.strip_suffix(":*").unwrap_or(pattern);
    let program = commands.split_whitespace().next()?;
    let is_name = |it: &str| {
        it.len() > 1 && it.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(&it))
    };
    let parts = program.split_once(':');
    let (first, rest) =
        parts.filter(|(first, rest)| is_name(first) && !rest.starts_with(['/', '\\']))?;
    if name != "Bash" || !cx.applies_to(&[Agent::ClaudeCode]) {
        return None;
    }
    let message = format!("Claude Code matches the colon after `{first}` literally");
    let help = "Write a space instead of the colon: only `:*` at the end of a pattern is special.";
    let finding = Finding::new(&PATTERN, item.span, message).help(help);
    let written = item.span.slice(cx.text);
    let Some(at) = written.find(&format!("{first}:")).map(|it| item.span.start + it + first.len())
    else {
        return Some(finding);
    };
    let blank = if rest.is_empty() { "" } else { " " };
    Some(finding.draft("Replace the colon by a space", Span::new(at, at + 1), blank))
}

fn check_mcp(name: &str, span: Span) -> Option<Finding> {
    let fits = |it: &str| {
        !it.is_empty() && it.chars().all(|it| it.is_ascii_alphanumeric() || "_-*.".contains(it))
    };
    if name.strip_prefix("mcp__").is_some_and(fits) {
        return None;
    }
    let message = format!("`{name}` does not have the form `mcp__server__tool`");
    let finding = Finding::new(&MCP, span, message);
    // With another separator the intended name is clear; a single underscore can be part of a name.
    let parts: Vec<&str> = name.split([':', '.', '/']).collect();
    let is_clear = (2..=3).contains(&parts.len())
        && parts[0] == "mcp"
        && parts.iter().all(|it| !it.is_empty() && fits(it));
    Some(if is_clear {
        let meant = parts.join("__");
        finding.fix(format!("Change to `{meant}`"), span, meant)
    } else {
        finding
    })
}

fn check_separators(cx: &Cx<'_>, field: &'static Field, out: &mut Vec<Finding>) {
    let (Some(fields), true) = (cx.fields, cx.applies_to(SEPARATOR.agents)) else { return };
    let Some(entry) = fields.entry(field) else { return };
    let ValueKind::Scalar { style, .. } = &entry.value.kind else { return };
    let items = cx.items(field);
    let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
    let mut edits = Vec::new();
    for pair in items.windows(2) {
        let between = Span::new(pair[0].span.end, pair[1].span.start);
        if between.slice(cx.text).contains(',') {
            edits.push(Edit { span: between, text: " ".to_owned() });
        }
    }
    // Only a trailing comma or a closing quote can follow the last item.
    if let Some(last) = items.last() {
        let behind = Span::new(last.span.end, entry.value.span.end);
        let written = behind.slice(cx.text);
        if let Some(rest) = written.trim_start().strip_prefix(',') {
            let kept = rest.trim_start_matches([',', ' ', '\t']).len();
            edits.push(Edit {
                span: Span::new(behind.start, behind.end - kept),
                text: String::new(),
            });
        }
    }
    let (Some(first), false) = (edits.first().map(|it| it.span), is_block) else { return };
    let comma = first
        .slice(cx.text)
        .find(',')
        .map_or(first, |at| Span::new(first.start + at, first.start + at + 1));
    let message = "Agent Skills clients split this list at spaces, so the comma becomes part of the tool name";
    out.push(
        Finding::new(&SEPARATOR, comma, message).fix_all("Separate the tools by spaces", edits),
    );
}
