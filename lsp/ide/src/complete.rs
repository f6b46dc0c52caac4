//! Completion of keys, values, tools, hook events, variables and whole files.

use skills_agents::field_table::hooks::{COMMON, GROUP, HookKey, KINDS, find_event, find_kind};
use skills_agents::field_table::tools::{Tool, tools};
use skills_agents::field_table::variables::{VARIABLES, Variable, find_variable};
use skills_agents::field_table::{
    self, AGENT, ALLOWED_TOOLS, Agent, DISALLOWED_TOOLS, Field, Shape,
};
use skills_agents::tool_names::ToolNames;
use skills_syntax::markdown::Body;
use skills_syntax::parse::{Document, Entry, Line, Value, ValueKind, lines, rest_of, split_key};
use skills_syntax::quote::quote_unless_text;
use skills_syntax::text::Span;

use super::keys::{KeyForm, escape_snippet, keys};
use super::patterns::{ToolPattern, agents, pattern, patterns};
use super::quote_value::{leading_space, other_items, quote_suggestions};
use super::suggestion::{Suggestion, SuggestionKind};
use super::{arguments, describe};
use crate::cursor_context::{CursorContext, InsertStyle, context_at};
use crate::mention::{TypedName, call_argument, is_fenced};

/// The suggestions at a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The span replaced by a suggestion: the word under the cursor.
    pub span: Span,
    /// The suggestions, most likely first.
    pub items: Vec<Suggestion>,
}

/// The kind of file being edited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind<'a> {
    /// A skill, with the name of its directory if known.
    Skill(Option<&'a str>),
    /// A command, named after its file.
    Command,
}

/// Returns true if [`complete`] can suggest some of the [`ToolNames`] at `offset`.
pub fn can_name_tool(text: &str, document: &Document, body: &Body, offset: usize) -> bool {
    let offset = text.floor_char_boundary(offset);
    match context_at(text, document, offset) {
        CursorContext::Value { path, .. } => match path[..] {
            [key] => is_tools(key) || key == AGENT.key,
            ["hooks", .., "matcher"] => true,
            _ => false,
        },
        CursorContext::Other => {
            mcp_word(text, document, body, offset).is_some()
                || agent_argument(text, document, body, offset).is_some()
        }
        CursorContext::Empty | CursorContext::Key { .. } | CursorContext::Variable { .. } => false,
    }
}

/// Returns the suggestions at `offset`, or `None` if there are none. Takes the parsed body; `names`
/// are the tools and agents that are known besides those of the field table.
pub fn complete(
    text: &str,
    document: &Document,
    body: &Body,
    offset: usize,
    file_kind: FileKind<'_>,
    names: &ToolNames,
) -> Option<Completion> {
    let offset = text.floor_char_boundary(offset);
    let directory = match file_kind {
        FileKind::Skill(directory) => directory,
        FileKind::Command => None,
    };
    let (span, items) = match context_at(text, document, offset) {
        CursorContext::Empty => {
            let start = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
            let whole = match file_kind {
                FileKind::Skill(directory) => skill(directory),
                FileKind::Command => command(),
            };
            (Span::new(start, text.len()), vec![whole])
        }
        CursorContext::Key { path, word, has_colon, in_flow } => {
            let form = KeyForm { has_colon, in_flow };
            let beside = if in_flow { Vec::new() } else { keys_beside(text, document, word) };
            let is_written = |key: &str| {
                let entries = siblings(document, &path, word, in_flow).iter();
                entries.filter(|it| !it.key.span.covers(word)).any(|it| it.key.text == key)
                    || beside.contains(&key)
            };
            let keys = keys(&path, &is_written, form, directory);
            let gap = leading_space(text, word);
            (word, keys.into_iter().map(|it| it.prefixed(gap)).collect())
        }
        CursorContext::Value { path, word, style, is_alone } => {
            let others = other_items(text, document, &path, word);
            if let Some(ToolPattern { tool, inner, is_closed }) = pattern(text, &path, word, offset)
            {
                let close = if is_closed { "" } else { ")" };
                let item = |(pattern, detail): &(String, String)| Suggestion {
                    text: format!("{pattern}{close}"),
                    ..value(pattern, detail)
                };
                let mut patterns = patterns(tool, text, body, names);
                patterns.retain(|(it, _)| !others.contains(&format!("{tool}({it})")));
                let is_writable = style != InsertStyle::Outside;
                (inner, patterns.iter().filter(|_| is_writable).map(item).collect())
            } else {
                let mut values = values(&path, word.slice(text), is_alone, directory, names);
                values.retain(|it| !others.contains(&it.text));
                (word, quote_suggestions(values, &path, text, word, style))
            }
        }
        CursorContext::Variable { word } => {
            (word, variables(arguments::suggestions(text, document, body)))
        }
        CursorContext::Other => match agent_argument(text, document, body, offset) {
            Some(TypedName { span, close }) => {
                let agents = agents(names);
                let item = |(name, about): &(String, String)| Suggestion {
                    text: format!("{name}{close}"),
                    ..value(name, about)
                };
                (span, agents.iter().map(item).collect())
            }
            None => (mcp_word(text, document, body, offset)?, mcp_items(names)),
        },
    };
    (!items.is_empty()).then_some(Completion { span, items })
}

/// Returns the name of a subagent that is being typed in `Agent(…)` of the body.
fn agent_argument(
    text: &str,
    document: &Document,
    body: &Body,
    offset: usize,
) -> Option<TypedName> {
    let typed = call_argument(text, body, "Agent", offset)?;
    (typed.span.start >= document.body.start).then_some(typed)
}

/// Returns the span of a tool of an MCP server that is being typed in the body, outside of fences.
fn mcp_word(text: &str, document: &Document, body: &Body, offset: usize) -> Option<Span> {
    let is_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    let start = text[..offset].trim_end_matches(is_name).len();
    let is_begun = start >= document.body.start && text[start..offset].starts_with("mcp_");
    let behind = &text[offset..];
    let end = offset + (behind.len() - behind.trim_start_matches(is_name).len());
    (is_begun && !is_fenced(body, offset)).then(|| Span::new(start, end))
}

fn mcp_items(names: &ToolNames) -> Vec<Suggestion> {
    names.mcp().map(|it| Suggestion { kind: SuggestionKind::Tool, ..value(&it, "MCP") }).collect()
}

/// Returns the entries beside a key below `path`. Only paths of at most one key identify a mapping;
/// a flow mapping is found by the position of the key.
fn siblings<'d>(document: &'d Document, path: &[&str], word: Span, in_flow: bool) -> &'d [Entry] {
    let Some(frontmatter) = &document.frontmatter else { return &[] };
    match path {
        [] => &frontmatter.entries,
        [key] => frontmatter.get(key).and_then(|it| it.value.entries()).unwrap_or_default(),
        [key, ..] if in_flow => {
            frontmatter.get(key).and_then(|it| mapping_at(&it.value, word)).unwrap_or_default()
        }
        _ => &[],
    }
}

/// Returns the entries of the innermost mapping around `word`.
fn mapping_at(value: &Value, word: Span) -> Option<&[Entry]> {
    if !value.span.covers(word) {
        return None;
    }
    match &value.kind {
        ValueKind::Mapping { entries, .. } => {
            let inner = entries.iter().find_map(|it| mapping_at(&it.value, word));
            inner.or(Some(entries))
        }
        ValueKind::Sequence { items, .. } => items.iter().find_map(|it| mapping_at(it, word)),
        _ => None,
    }
}

/// Returns the keys of the block mapping in which `word` is written, except its own line. They are
/// found by their column, because a mapping in which a key is being typed is rarely valid YAML.
fn keys_beside<'t>(text: &'t str, document: &Document, word: Span) -> Vec<&'t str> {
    let Some(content) = document.frontmatter.as_ref().map(|it| it.content) else {
        return Vec::new();
    };
    let all: Vec<Line> = lines(&text[..content.end], content.start).collect();
    let own = all.partition_point(|it| it.next <= word.start);
    let first = all.get(own).map_or(content.end, |it| it.first);
    let column = word.start - first;
    let mut found = Vec::new();
    if !all.get(own).is_some_and(|it| it.is_item(text)) {
        for line in all[..own].iter().rev() {
            let line = MappingLine::read(text, line, column);
            found.extend(line.key());
            if matches!(line, MappingLine::First(_) | MappingLine::Outside) {
                break;
            }
        }
    }
    for line in all.iter().skip(own + 1) {
        // The first key of an item after the word belongs to the next mapping.
        let line = MappingLine::read(text, line, column);
        if matches!(line, MappingLine::First(_) | MappingLine::Outside) {
            break;
        }
        found.extend(line.key());
    }
    found
}

/// A line beside a key, by its role in the key's block mapping.
enum MappingLine<'t> {
    /// A key behind the dash of a list item, which starts a mapping; `None` if it is no valid key.
    First(Option<&'t str>),
    /// Another key of a mapping; `None` if it is no valid key.
    Key(Option<&'t str>),
    /// A blank line, a comment, or a line within a value.
    Within,
    /// A line of a mapping further out.
    Outside,
}

impl<'t> MappingLine<'t> {
    /// Reads a line. `column` is that of the mapping's keys.
    fn read(text: &'t str, line: &Line, column: usize) -> Self {
        if line.is_blank() || line.is_comment(text) {
            return Self::Within;
        }
        let mut rest = *line;
        while rest.is_item(text) {
            rest = rest_of(text, rest, rest.start + 1);
        }
        if rest.indent == column {
            let key = split_key(text, rest).map(|it| it.key.slice(text));
            let key = key.map(|it| it.trim_matches(['"', '\'']));
            return if rest.start > line.start { Self::First(key) } else { Self::Key(key) };
        }
        if line.indent >= column { Self::Within } else { Self::Outside }
    }

    fn key(&self) -> Option<&'t str> {
        match self {
            Self::First(key) | Self::Key(key) => *key,
            Self::Within | Self::Outside => None,
        }
    }
}

/// Returns the Markdown documentation of a suggestion, for clients that resolve items lazily.
pub fn documentation(kind: SuggestionKind, label: &str) -> Option<String> {
    match kind {
        SuggestionKind::Field => field_table::find(label).map(describe::field),
        SuggestionKind::Tool => {
            let mut told: Vec<_> =
                tools().iter().filter(|it| it.name == label).map(describe::tool).collect();
            told.dedup();
            let known = (!told.is_empty()).then(|| told.join("\n\n"));
            known.or_else(|| describe::mcp_tool(label))
        }
        SuggestionKind::Event => find_event(label).map(describe::event),
        SuggestionKind::Key => find_hook_key(label).map(describe::key),
        SuggestionKind::Variable => {
            let known = find_variable(label.trim_matches(['$', '{', '}'])).map(describe::variable);
            known.or_else(|| arguments::documentation(label))
        }
        SuggestionKind::Value => find_kind(label).map(describe::kind),
        SuggestionKind::File | SuggestionKind::Path => None,
    }
}

/// Returns the key of a group of hooks, or of any hook, with this name.
fn find_hook_key(name: &str) -> Option<&'static HookKey> {
    GROUP.iter().chain(&COMMON).find(|it| it.name == name)
}

fn command() -> Suggestion {
    let whole = |description: &str, hint: &str, body: &str| {
        format!("---\ndescription: {description}\nargument-hint: \"{hint}\"\n---\n\n{body}\n")
    };
    Suggestion {
        label: "command".to_owned(),
        kind: SuggestionKind::File,
        detail: "A new command".to_owned(),
        text: whole("What it does.", "[file]", "What to do with $ARGUMENTS, step by step."),
        snippet: Some(whole(
            "${1:What it does.}",
            "${2:[file]}",
            "${3:What to do with} \\$ARGUMENTS.$0",
        )),
    }
}

fn skill(directory: Option<&str>) -> Suggestion {
    let name = &quote_unless_text(directory.unwrap_or("my-skill"));
    let whole = |name: &str, description: &str, body: &str| {
        format!("---\nname: {name}\ndescription: {description}\n---\n\n{body}\n")
    };
    Suggestion {
        label: "SKILL.md".to_owned(),
        kind: SuggestionKind::File,
        detail: "A new skill".to_owned(),
        text: whole(name, "What it does. Use it when …", "What to do, step by step."),
        snippet: Some(whole(
            &format!("${{1:{}}}", escape_snippet(name)),
            "${2:What it does.} Use it when ${3:the user asks for it}.",
            "$0",
        )),
    }
}

fn is_tools(key: &str) -> bool {
    [ALLOWED_TOOLS.key, DISALLOWED_TOOLS.key].contains(&key)
}

fn values(
    path: &[&str],
    word: &str,
    is_alone: bool,
    directory: Option<&str>,
    names: &ToolNames,
) -> Vec<Suggestion> {
    match path {
        // These values are a single word.
        [key] if !is_alone && !is_tools(key) => Vec::new(),
        ["hooks", .., "type"] if !is_alone => Vec::new(),
        ["hooks", event, .., "matcher"] => {
            let matchers = find_event(event).map_or(&[][..], |it| it.matchers);
            let mut items: Vec<_> = matchers.iter().map(|it| value(it, "")).collect();
            if matchers.iter().any(|it| it.starts_with("mcp__")) {
                items.extend(mcp_items(names));
            }
            items
        }
        ["hooks", .., "type"] => KINDS.iter().map(|it| value(it.name, it.summary)).collect(),
        [key] => {
            let Some(field) = field_table::find(key) else { return Vec::new() };
            if is_tools(key) {
                // A tool with a pattern is complete.
                return if word.contains('(') { Vec::new() } else { tool_items(field, names) };
            }
            match (field.shape, directory) {
                (Shape::Switch, _) => ["true", "false"].map(|it| value(it, "")).into(),
                _ if field.key == AGENT.key => {
                    agents(names).iter().map(|(name, about)| value(name, about)).collect()
                }
                _ if !field.values.is_empty() => {
                    field.values.iter().map(|it| value(it.name, it.summary)).collect()
                }
                _ if field.key == "name" => {
                    directory.map(|it| value(it, "the directory's name")).into_iter().collect()
                }
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

fn value(text: &str, detail: &str) -> Suggestion {
    Suggestion {
        label: text.to_owned(),
        kind: SuggestionKind::Value,
        detail: detail.to_owned(),
        text: text.to_owned(),
        snippet: None,
    }
}

/// Returns the current tools of the agents that read the field, without duplicate names, then those
/// of MCP servers.
fn tool_items(field: &Field, names: &ToolNames) -> Vec<Suggestion> {
    let reads = |agent: Agent| field.reader(agent).is_some();
    let mut items: Vec<Suggestion> = Vec::new();
    for tool in tools().iter().filter(|it| it.renamed_to.is_none() && reads(it.agent)) {
        if items.iter().any(|it| it.label == tool.name) {
            continue;
        }
        items.push(tool_item(tool));
    }
    items.extend(mcp_items(names));
    items
}

fn tool_item(tool: &Tool) -> Suggestion {
    Suggestion {
        label: tool.name.to_owned(),
        kind: SuggestionKind::Tool,
        detail: tool.agent.name().to_owned(),
        text: tool.name.to_owned(),
        snippet: None,
    }
}

/// Returns the variables: `$ARGUMENTS`, then single arguments, then the others.
fn variables(arguments: Vec<Suggestion>) -> Vec<Suggestion> {
    let item = |it: &Variable| {
        let text = describe::variable_syntax(it);
        let detail = it.summary.to_owned();
        Suggestion {
            label: text.clone(),
            kind: SuggestionKind::Variable,
            detail,
            text,
            snippet: None,
        }
    };
    let (all, others): (Vec<_>, Vec<_>) = VARIABLES.iter().partition(|it| !it.braces);
    let all = all.into_iter().map(item);
    all.chain(arguments).chain(others.into_iter().map(item)).collect()
}
