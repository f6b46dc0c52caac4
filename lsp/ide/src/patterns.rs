//! Completion of permission patterns in the parentheses after a tool: commands, paths, hosts.

use skills_agents::field_table::{AGENT, ALLOWED_TOOLS, DISALLOWED_TOOLS};
use skills_agents::tool_names::ToolNames;
use skills_syntax::markdown::Body;
use skills_syntax::text::Span;

/// Programs that skills are often allowed to run.
const USUAL: [&str; 9] =
    ["git", "gh", "npm run", "npx", "python3", "node", "make", "cargo", "docker"];

/// Maximum number of programs taken from the body.
const MAX_PROGRAMS: usize = 50;

/// The parentheses after a tool name.
pub(super) struct ToolPattern<'t> {
    pub(super) tool: &'t str,
    /// The text between the parentheses.
    pub(super) inner: Span,
    pub(super) is_closed: bool,
}

/// Returns the tool pattern around `offset`, if it is inside parentheses.
pub(super) fn pattern<'t>(
    text: &'t str,
    path: &[&str],
    word: Span,
    offset: usize,
) -> Option<ToolPattern<'t>> {
    if ![&[ALLOWED_TOOLS.key][..], &[DISALLOWED_TOOLS.key]].contains(&path) {
        return None;
    }
    let (tool, _) = text.get(word.start..offset)?.split_once('(')?;
    let start = word.start + tool.len() + 1;
    let written = Span::new(start, word.end).slice(text);
    let close = written.find(')');
    let inner = Span::new(start, start + close.unwrap_or(written.len()));
    let tool = &text[word.start..start - 1];
    (offset <= inner.end).then_some(ToolPattern { tool, inner, is_closed: close.is_some() })
}

/// Returns patterns for `tool`, each with a short description; programs used in the body come
/// first.
pub(super) fn patterns(
    tool: &str,
    text: &str,
    body: &Body,
    names: &ToolNames,
) -> Vec<(String, String)> {
    match tool {
        "Bash" | "PowerShell" => {
            let own = programs(text, body);
            let usual = USUAL.iter().filter(|it| !own.iter().any(|own| own == *it));
            let usual: Vec<_> = usual.map(|it| (format!("{it} *"), String::new())).collect();
            let own = own.iter().map(|it| (format!("{it} *"), "used in the body".to_owned()));
            own.chain(usual).collect()
        }
        "Read" | "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => PATHS
            .iter()
            .map(|(pattern, about)| ((*pattern).to_owned(), (*about).to_owned()))
            .collect(),
        "Agent" | "Task" => agents(names),
        "WebFetch" => vec![("domain:example.com".to_owned(), "one host".to_owned())],
        _ => Vec::new(),
    }
}

/// Patterns of paths, each with a short description.
const PATHS: [(&str, &str); 5] = [
    ("./**", "all files below the working directory"),
    ("src/**", "all files in a directory"),
    ("**/*.md", "all files with an extension"),
    ("~/**", "all files in your home directory"),
    ("//tmp/**", "absolute paths start with two slashes"),
];

/// Returns the agents, each with its description: the user's own, then those that the agent has.
/// One's own replaces another with its name.
pub(super) fn agents(names: &ToolNames) -> Vec<(String, String)> {
    let own = names.agents.iter().map(|(name, about)| (name.clone(), about.clone()));
    let known = AGENT.values.iter().filter(|it| !names.agents.contains_key(it.name));
    own.chain(known.map(|it| (it.name.to_owned(), it.summary.to_owned()))).collect()
}

/// Returns the programs that shell blocks of the body run, without duplicates, in order of
/// appearance.
fn programs(text: &str, body: &Body) -> Vec<String> {
    let is_shell = |info: &str| {
        let word = info.split([' ', '{']).next().unwrap_or_default();
        matches!(word, "" | "sh" | "bash" | "zsh" | "shell" | "console")
    };
    let blocks = body.fences.iter().filter(|it| is_shell(it.info.slice(text)));
    let mut programs: Vec<String> = Vec::new();
    for line in blocks.flat_map(|it| it.content.slice(text).lines()) {
        let command = line.trim_start().trim_start_matches("$ ");
        let program = command.split_whitespace().next().unwrap_or_default();
        let is_program = program.starts_with(|it: char| it.is_ascii_alphabetic() || it == '.')
            && program.chars().all(|it| it.is_ascii_alphanumeric() || "._-/".contains(it));
        // Indented lines continue a command or are nested in another one.
        if is_program && !line.starts_with([' ', '\t']) && !programs.iter().any(|it| it == program)
        {
            programs.push(program.to_owned());
        }
        if programs.len() == MAX_PROGRAMS {
            break;
        }
    }
    programs
}
