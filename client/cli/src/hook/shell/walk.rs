//! Walk over a command's syntax tree ([`Walk`]), with the state of the shell at each point.
//!
//! Directories and variables follow the shell: `cd` affects later commands within its subshell,
//! substitution or pipeline stage. All branches are assumed to run, and a loop runs once for each
//! value of its variable.

mod operands;

use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use tree_sitter::Node;

use super::grammar::{Budget, parse, shortened};
use super::lookup::Lookup;
use super::touched::{CommandDirs, MAX_FILES};
use super::word::Word;

/// Maximum depth of nested commands and nodes.
const DEEPEST: usize = 150;

/// Maximum number of visited nodes, which bounds variables that are run as commands.
const NODES: usize = 200_000;

/// Working directory and variables at one point of the command.
#[derive(Debug, Clone, Default)]
struct ShellState {
    /// Empty after a `cd` to an unknown directory.
    cwd: PathBuf,
    previous_dirs: Vec<PathBuf>,
    variables: HashMap<String, Word>,
}

/// Walk over one command, with the files found so far.
pub(super) struct Walk<'a> {
    dirs: &'a CommandDirs,
    pub(super) files: Vec<PathBuf>,
    state: ShellState,
    lookup: Lookup,
    budget: Budget,
    depth: usize,
    nodes_left: usize,
    /// Text that the command reads from a here-document.
    input: Option<Rc<str>>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(dirs: &'a CommandDirs) -> Walk<'a> {
        let mut state = ShellState { cwd: dirs.cwd.clone(), ..ShellState::default() };
        let home = dirs.home.as_ref().map(|it| Word::quoted(&it.to_string_lossy()));
        let home = home.unwrap_or_else(Word::unknown);
        state.variables.extend([("HOME".to_owned(), home), ("PWD".to_owned(), Word::quoted("."))]);
        Walk {
            dirs,
            files: Vec::new(),
            state,
            lookup: Lookup::default(),
            budget: Budget::new(),
            depth: 0,
            nodes_left: NODES,
            input: None,
        }
    }

    /// Analyses a command given as text.
    pub(super) fn text(&mut self, text: &str) {
        let text = shortened(text);
        if let Some(tree) = parse(text, &mut self.budget) {
            self.with_depth(12, |walk| walk.statement(tree.root_node(), text));
        }
    }

    fn in_subshell(&mut self, run: impl FnOnce(&mut Self)) {
        let state = self.state.clone();
        run(self);
        self.state = state;
    }

    /// Changes the directory; `None` for an unknown one.
    fn change_directory(&mut self, dir: Option<PathBuf>) {
        let from = std::mem::replace(&mut self.state.cwd, dir.unwrap_or_default());
        self.state.previous_dirs.push(from);
    }

    /// Changes back to the previous directory.
    fn go_back(&mut self) {
        if let Some(cwd) = self.state.previous_dirs.pop() {
            self.state.cwd = cwd;
        }
    }

    fn with_depth(&mut self, levels: usize, run: impl FnOnce(&mut Self)) {
        if self.depth + levels <= DEEPEST && self.nodes_left > 0 {
            self.depth += levels;
            self.nodes_left -= 1;
            run(self);
            self.depth -= levels;
        }
    }

    fn statement(&mut self, node: Node<'_>, text: &str) {
        self.with_depth(1, |walk| match node.kind() {
            "command" => walk.command(node, text),
            "pipeline" => {
                for part in named_children(node) {
                    walk.in_subshell(|walk| walk.statement(part, text));
                }
            }
            "subshell"
            | "command_substitution"
            | "process_substitution"
            | "function_definition"
            | "heredoc_body" => walk.in_subshell(|walk| walk.children(node, text)),
            "redirected_statement" => walk.redirected(node, text),
            "file_redirect" => walk.redirect(node, text),
            "variable_assignment" => walk.assign(node, text),
            "for_statement" => walk.for_loop(node, text),
            "unary_expression" | "binary_expression" => walk.test(node, text),
            _ => walk.children(node, text),
        });
    }

    fn children(&mut self, node: Node<'_>, text: &str) {
        for child in named_children(node) {
            self.statement(child, text);
        }
    }

    fn command(&mut self, node: Node<'_>, text: &str) {
        let mut words = Vec::new();
        for child in named_children(node) {
            // An assignment is for this command only. Later commands see it too, which does no harm
            // here.
            self.statement(child, text);
            match child.kind() {
                "file_redirect" | "variable_assignment" | "herestring_redirect" => {}
                "command_name" => {
                    words.push(self.word(child.named_child(0).unwrap_or(child), text));
                }
                _ => words.push(self.word(child, text)),
            }
        }
        self.run(&words);
    }

    fn redirected(&mut self, node: Node<'_>, text: &str) {
        let (mut redirects, mut others): (Vec<_>, Vec<_>) =
            named_children(node).into_iter().partition(|it| it.kind() == "file_redirect");
        let mut parts = others.iter().flat_map(|it| named_children(*it));
        let document = parts.find(|it| it.kind() == "heredoc_body");
        let input = self.input.clone();
        if let Some(document) = document {
            self.input = Some(slice(document, text).into());
        }
        // Redirections apply before the command changes the directory, but after `cd a &&`.
        if others.first().is_some_and(|it| it.kind() == "list") {
            std::mem::swap(&mut redirects, &mut others);
        }
        for part in redirects.into_iter().chain(others) {
            self.statement(part, text);
        }
        self.input = input;
    }

    fn redirect(&mut self, node: Node<'_>, text: &str) {
        let Some(to) = node.child_by_field_name("destination") else { return };
        self.statement(to, text);
        let word = self.word(to, text);
        // `2>&1`.
        if !word.start().bytes().all(|b| b.is_ascii_digit()) {
            let path = self.path(&word);
            self.extend(path);
        }
    }

    fn assign(&mut self, node: Node<'_>, text: &str) {
        let Some(name) = node.child_by_field_name("name") else { return };
        let mut word = Word::default();
        // `a+=b` appends to the current value.
        if name.next_sibling().is_some_and(|it| it.kind() == "+=") {
            word = self.variable(slice(name, text));
        }
        if let Some(value) = node.child_by_field_name("value") {
            self.statement(value, text);
            word.push(self.word(value, text));
        }
        self.state.variables.insert(slice(name, text).to_owned(), word);
    }

    fn for_loop(&mut self, node: Node<'_>, text: &str) {
        let mut cursor = node.walk();
        let values: Vec<_> = node.children_by_field_name("value", &mut cursor).collect();
        let mut words = Vec::new();
        for value in values {
            self.statement(value, text);
            words.push(self.word(value, text));
        }
        // `for x; do`: the arguments of the script.
        if words.is_empty() {
            words.push(Word::unknown());
        }
        let name = node.child_by_field_name("variable").map(|it| slice(it, text));
        let (Some(name), Some(body)) = (name, node.child_by_field_name("body")) else { return };
        for word in words {
            if self.nodes_left == 0 || self.files.len() >= MAX_FILES {
                break;
            }
            self.state.variables.insert(name.to_owned(), word);
            self.statement(body, text);
        }
    }

    // `[ -f path ]`, `[[ path -nt path ]]`.
    fn test(&mut self, node: Node<'_>, text: &str) {
        self.children(node, text);
        for operand in named_children(node) {
            let word = self.word(operand, text);
            self.touch_if_path(&word);
        }
    }

    /// Returns a word without quotes and with known variables expanded.
    fn word(&self, node: Node<'_>, text: &str) -> Word {
        let mut word = Word::default();
        self.fill(&mut word, node, text, self.depth);
        word
    }

    fn fill(&self, word: &mut Word, node: Node<'_>, text: &str, depth: usize) {
        let own = slice(node, text);
        let is_leaf = node.named_child_count() == 0;
        match node.kind() {
            _ if depth > DEEPEST => word.push(Word::unknown()),
            "word" if is_leaf && word.is_empty() && own.starts_with('~') => {
                // `~name` is another user's home.
                let name =
                    if own[1..].is_empty() || own[1..].starts_with('/') { "HOME" } else { "" };
                word.push(self.variable(name));
                word.push_bare(&own[1..]);
            }
            "raw_string" => word.push(Word::quoted(own.trim_matches('\''))),
            "ansi_c_string" => {
                let inside = own.trim_start_matches('$').trim_matches('\'');
                word.push(Word::quoted(&inside.replace("\\n", "\n").replace("\\t", "\t")));
            }
            "string" | "concatenation" => {
                // The tree does not contain spaces between the parts of a string.
                let is_string = node.kind() == "string";
                let push = if is_string { Word::push_in_quotes } else { Word::push_bare };
                let mut at = node.start_byte() + usize::from(is_string);
                let end = node.end_byte() - usize::from(is_string && own.ends_with('"'));
                for child in named_children(node).iter().filter(|it| it.kind() != "string_content")
                {
                    push(word, text.get(at..child.start_byte()).unwrap_or_default());
                    self.fill(word, *child, text, depth + 1);
                    at = child.end_byte();
                }
                push(word, text.get(at..end).unwrap_or_default());
            }
            "simple_expansion" | "expansion" => {
                let name = own.strip_prefix("${").and_then(|own| own.strip_suffix('}'));
                word.push(self.variable(name.unwrap_or_else(|| own.trim_start_matches('$'))));
            }
            "command_substitution" => match own.trim_matches(['$', '(', ')', '`', ' ']) {
                "pwd" => word.push(self.variable("PWD")),
                "git rev-parse --show-toplevel" => {
                    word.push(Word::quoted(&self.dirs.top.to_string_lossy()));
                }
                _ => word.push(Word::unknown()),
            },
            _ if is_leaf => word.push_bare(own),
            _ => word.push(Word::unknown()),
        }
    }

    fn variable(&self, name: &str) -> Word {
        self.state.variables.get(name).cloned().unwrap_or_else(Word::unknown)
    }
}

fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).collect()
}

fn slice<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}
