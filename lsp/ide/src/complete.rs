//! Completion of keys, values, tools, hook events, variables and whole files.

use skills_agents::field_table::hooks::{COMMON, GROUP, HookKey, KINDS, find_event, find_kind};
use skills_agents::field_table::tools::{Tool, tools};
use skills_agents::field_table::variables::{VARIABLES, Variable, find_variable};
use skills_agents::field_table::{self, ALLOWED_TOOLS, Agent, DISALLOWED_TOOLS, Field, Shape};
use skills_agents::skill::parse;
use skills_syntax::parse::{Document, Entry};
use skills_syntax::text::Span;

use super::keys::{KeyForm, escape_snippet, keys};
use super::patterns::{ToolPattern, pattern, patterns};
use super::quote_value::{leading_space, other_items, quote_suggestions};
use super::suggestion::{Suggestion, SuggestionKind};
use super::{arguments, describe};
use crate::cursor_context::{CursorContext, InsertStyle, context_at};

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

/// Returns the suggestions at `offset`, or `None` if there are none.
pub fn complete(text: &str, offset: usize, written: FileKind<'_>) -> Option<Completion> {
    let offset = text.floor_char_boundary(offset);
    let directory = match written {
        FileKind::Skill(directory) => directory,
        FileKind::Command => None,
    };
    let document = parse(text);
    let (span, items) = match context_at(text, &document, offset) {
        CursorContext::Empty => {
            let start = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
            let whole = match written {
                FileKind::Skill(directory) => skill(directory),
                FileKind::Command => command(),
            };
            (Span::new(start, text.len()), vec![whole])
        }
        CursorContext::Key { path, word, has_colon, in_flow } => {
            let form = KeyForm { has_colon, in_flow };
            let written = |key: &str| {
                let entries = siblings(&document, &path).iter();
                entries.filter(|it| !it.key.span.covers(word)).any(|it| it.key.text == key)
            };
            let keys = keys(&path, &written, form, directory);
            let gap = leading_space(text, word);
            (word, keys.into_iter().map(|it| it.prefixed(gap)).collect())
        }
        CursorContext::Value { path, word, style, is_alone } => {
            let others = other_items(text, &document, &path, word);
            if let Some(ToolPattern { tool, inner, is_closed }) = pattern(text, &path, word, offset)
            {
                let close = if is_closed { "" } else { ")" };
                let item = |(pattern, detail): &(String, &str)| Suggestion {
                    text: format!("{pattern}{close}"),
                    ..value(pattern, detail)
                };
                let mut patterns = patterns(tool, text, &document);
                patterns.retain(|(it, _)| !others.contains(&format!("{tool}({it})")));
                let is_writable = style != InsertStyle::Outside;
                (inner, patterns.iter().filter(|_| is_writable).map(item).collect())
            } else {
                let mut values = values(&path, word.slice(text), is_alone, directory);
                values.retain(|it| !others.contains(&it.text));
                (word, quote_suggestions(values, text, word, style))
            }
        }
        CursorContext::Variable { word } => {
            (word, variables(arguments::suggestions(text, &document)))
        }
        CursorContext::Other => return None,
    };
    (!items.is_empty()).then_some(Completion { span, items })
}

/// Returns the siblings of a key below `path`. Only paths of at most one key identify a mapping.
fn siblings<'d>(document: &'d Document, path: &[&str]) -> &'d [Entry] {
    let Some(frontmatter) = &document.frontmatter else { return &[] };
    match path {
        [] => &frontmatter.entries,
        [key] => frontmatter.get(key).and_then(|it| it.value.entries()).unwrap_or_default(),
        _ => &[],
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
            (!told.is_empty()).then(|| told.join("\n\n"))
        }
        SuggestionKind::Event => find_event(label).map(describe::event),
        SuggestionKind::Key => [&GROUP[..], &COMMON[..]].concat_find(label).map(describe::key),
        SuggestionKind::Variable => {
            let known = find_variable(label.trim_matches(['$', '{', '}'])).map(describe::variable);
            known.or_else(|| arguments::documentation(label))
        }
        SuggestionKind::Value => find_kind(label).map(describe::kind),
        SuggestionKind::File | SuggestionKind::Path => None,
    }
}

/// Finds a key by its name in several lists.
trait ConcatFind {
    fn concat_find(&self, name: &str) -> Option<&'static HookKey>;
}

impl ConcatFind for [&'static [HookKey]; 2] {
    fn concat_find(&self, name: &str) -> Option<&'static HookKey> {
        self.iter().flat_map(|it| it.iter()).find(|it| it.name == name)
    }
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
    let name = directory.unwrap_or("my-skill");
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

fn values(path: &[&str], word: &str, is_alone: bool, directory: Option<&str>) -> Vec<Suggestion> {
    let is_tools = |key: &str| [ALLOWED_TOOLS.key, DISALLOWED_TOOLS.key].contains(&key);
    match path {
        // These values are a single word.
        [key] if !is_alone && !is_tools(key) => Vec::new(),
        ["hooks", .., "type"] if !is_alone => Vec::new(),
        ["hooks", event, .., "matcher"] => {
            let matchers = find_event(event).map_or(&[][..], |it| it.matchers);
            matchers.iter().map(|it| value(it, "")).collect()
        }
        ["hooks", .., "type"] => KINDS.iter().map(|it| value(it.name, it.summary)).collect(),
        [key] => {
            let Some(field) = field_table::find(key) else { return Vec::new() };
            if is_tools(key) {
                // A tool with a pattern is complete.
                return if word.contains('(') { Vec::new() } else { tool_items(field) };
            }
            match (field.shape, directory) {
                (Shape::Switch, _) => ["true", "false"].map(|it| value(it, "")).into(),
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

/// Returns the current tools of the agents that read the field, without duplicate names.
fn tool_items(field: &Field) -> Vec<Suggestion> {
    let reads = |agent: Agent| field.reader(agent).is_some();
    let mut items: Vec<Suggestion> = Vec::new();
    for tool in tools().iter().filter(|it| it.renamed_to.is_none() && reads(it.agent)) {
        if items.iter().any(|it| it.label == tool.name) {
            continue;
        }
        items.push(tool_item(tool));
    }
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
