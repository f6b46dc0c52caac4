//! Walk over a command's syntax tree ([`Walk`]): the commands, their directories and their words.
//!
//! Directories and variables follow the shell: `cd` affects later commands within its subshell,
//! substitution or pipeline stage. All branches and loop bodies are assumed to run.

use std::collections::HashMap;
use std::path::PathBuf;

use tree_sitter::Node;

use super::grammar::{Budget, parse, shortened};
use super::touched::{CommandDirs, Found, absolute, patched};
use super::wildcards::escaped;
use super::word::Word;

/// Maximum depth of nested commands and nodes.
const DEEPEST: usize = 150;

/// Maximum number of visited nodes, which bounds loops over many words.
const NODES: usize = 200_000;

/// Maximum number of values that are tried for a loop variable.
const MAX_LOOP_VALUES: usize = 32;

/// Working directory and variables at one point of the command.
#[derive(Debug, Clone)]
struct ShellState {
    /// `None` after a `cd` to an unknown directory.
    cwd: Option<PathBuf>,
    previous_dirs: Vec<Option<PathBuf>>,
    variables: HashMap<String, Word>,
}

/// Walk over one command, with the files found so far.
pub(super) struct Walk<'a> {
    pub(super) dirs: &'a CommandDirs,
    pub(super) found: Vec<Found>,
    state: ShellState,
    depth: usize,
    nodes_left: usize,
    budget: Budget,
    /// True if the command reads the output of another.
    is_piped: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(dirs: &'a CommandDirs) -> Walk<'a> {
        let state = ShellState {
            cwd: Some(dirs.cwd.clone()),
            previous_dirs: Vec::new(),
            variables: HashMap::new(),
        };
        Walk {
            dirs,
            found: Vec::new(),
            state,
            depth: 0,
            nodes_left: NODES,
            budget: Budget::new(),
            is_piped: false,
        }
    }

    /// Analyses a command given as text.
    pub(super) fn text(&mut self, text: &str) {
        let text = shortened(text);
        if let Some(tree) = parse(text, &mut self.budget) {
            self.with_depth(12, |walk| walk.statement(tree.root_node(), text, None));
        }
    }

    /// Analyses a command that runs in a subshell.
    pub(super) fn in_subshell(&mut self, run: impl FnOnce(&mut Self)) {
        let state = self.state.clone();
        run(self);
        self.state = state;
    }

    fn with_depth(&mut self, levels: usize, run: impl FnOnce(&mut Self)) {
        if self.depth + levels <= DEEPEST && self.nodes_left > 0 {
            self.depth += levels;
            self.nodes_left -= 1;
            run(self);
            self.depth -= levels;
        }
    }

    /// Records a path relative to the current directory.
    pub(super) fn touch(&mut self, word: &Word) {
        let Some(path) = word.path(self.dirs.home.as_deref()) else { return };
        self.touch_text(if path.is_empty() { "." } else { &path });
        let pattern = word.pattern(self.dirs.home.as_deref());
        let cwd = self.state.cwd.as_deref().map(escaped);
        self.found.extend(pattern.and_then(|it| match cwd {
            _ if it.starts_with('/') => Some(Found::Pattern(it)),
            Some(cwd) => Some(Found::Pattern(format!("{}/{it}", cwd?))),
            None => None,
        }));
    }

    /// Returns whether the command reads the output of another.
    pub(super) fn is_piped(&self) -> bool {
        self.is_piped
    }

    /// Records a path given as text.
    pub(super) fn touch_text(&mut self, path: &str) {
        let path = match &self.state.cwd {
            Some(cwd) => absolute(cwd, path),
            None if path.starts_with('/') => absolute(&self.dirs.cwd, path),
            None => None,
        };
        self.found.extend(path.map(Found::Path));
    }

    /// Records a path relative to the top of the worktree.
    pub(super) fn touch_from_top(&mut self, path: &str) {
        let path = absolute(&self.dirs.top, path);
        self.found.extend(path.map(Found::Path));
    }

    /// Changes the directory; `None` if the new one is unknown.
    pub(super) fn change_directory(&mut self, word: Option<&Word>) {
        let text = word.and_then(|word| word.path(self.dirs.home.as_deref()));
        let is_whole = word.is_some_and(|word| word.text().is_some());
        let cwd = self.state.cwd.as_deref().unwrap_or(&self.dirs.cwd);
        let is_relative = text.as_deref().is_some_and(|text| !text.starts_with('/'));
        let is_known = is_whole && !(is_relative && self.state.cwd.is_none());
        let to = text.filter(|_| is_known).and_then(|text| absolute(cwd, &text));
        let from = std::mem::replace(&mut self.state.cwd, to);
        self.state.previous_dirs.push(from);
    }

    /// Changes to the user's home directory.
    pub(super) fn go_home(&mut self) {
        let from = std::mem::replace(&mut self.state.cwd, self.dirs.home.clone());
        self.state.previous_dirs.push(from);
    }

    /// Changes back to the previous directory.
    pub(super) fn go_back(&mut self) {
        if let Some(cwd) = self.state.previous_dirs.pop() {
            self.state.cwd = cwd;
        }
    }

    /// Records the files of a patch, relative to the current directory.
    pub(super) fn patch(&mut self, patch: &str) {
        if let Some(cwd) = self.state.cwd.clone() {
            self.found.extend(patched(patch, &cwd).into_iter().map(Found::Path));
        }
    }

    fn children(&mut self, node: Node<'_>, text: &str) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.statement(child, text, None);
        }
    }

    /// Analyses a node; `document` is its here-document.
    fn statement(&mut self, node: Node<'_>, text: &str, document: Option<&str>) {
        self.with_depth(1, |walk| walk.kind(node, text, document));
    }

    fn kind(&mut self, node: Node<'_>, text: &str, document: Option<&str>) {
        match node.kind() {
            "command" => self.command(node, text, document),
            "pipeline" => {
                let mut cursor = node.walk();
                let parts: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
                let last = parts.len().saturating_sub(1);
                for (nth, part) in parts.into_iter().enumerate() {
                    // In `cat <<E | sh`, the first part reads the document, and the last part may
                    // get it through the pipe.
                    let document = document.filter(|_| nth == 0 || nth == last);
                    let was_piped = self.is_piped;
                    self.is_piped = was_piped || nth > 0;
                    self.in_subshell(|walk| walk.statement(part, text, document));
                    self.is_piped = was_piped;
                }
            }
            "subshell"
            | "command_substitution"
            | "process_substitution"
            | "function_definition" => self.in_subshell(|walk| walk.children(node, text)),
            "redirected_statement" => self.redirected(node, text),
            "file_redirect" => self.redirect(node, text),
            "variable_assignment" => self.assign(node, text),
            "for_statement" => self.for_loop(node, text),
            "declaration_command" => self.declaration(node, text),
            "test_command" => self.test(node, text),
            "case_statement" => {
                // The patterns are not words of a command.
                let mut cursor = node.walk();
                let items = node.named_children(&mut cursor).filter(|it| it.kind() == "case_item");
                for item in items {
                    let mut cursor = item.walk();
                    let value = item.child_by_field_name("value");
                    for child in item.named_children(&mut cursor).filter(|it| Some(*it) != value) {
                        self.statement(child, text, None);
                    }
                }
            }
            _ => self.children(node, text),
        }
    }

    fn command(&mut self, node: Node<'_>, text: &str, document: Option<&str>) {
        let mut words = Vec::new();
        let mut cursor = node.walk();
        let mut literal = None;
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "file_redirect" => self.redirect(child, text),
                "herestring_redirect" => {
                    self.children(child, text);
                    literal = child.named_child(0).and_then(|it| self.word(it, text).text());
                }
                // Set for this command only. Later commands see it too, which does no harm here.
                "variable_assignment" => self.assign(child, text),
                "command_name" => {
                    let name = child.named_child(0).unwrap_or(child);
                    self.inner(child, text);
                    words.push(self.word(name, text));
                }
                _ => {
                    self.inner(child, text);
                    words.extend(self.word(child, text).expanded());
                }
            }
        }
        self.run(&words, literal.as_deref().or(document));
    }

    fn redirected(&mut self, node: Node<'_>, text: &str) {
        let body = node.child_by_field_name("body");
        let mut cursor = node.walk();
        let others: Vec<Node<'_>> =
            node.named_children(&mut cursor).filter(|child| Some(*child) != body).collect();
        let mut document = None;
        for other in &others {
            if other.kind() == "heredoc_redirect" {
                let mut cursor = other.walk();
                let body = other.named_children(&mut cursor).find(|it| it.kind() == "heredoc_body");
                document = body.and_then(|body| text.get(body.byte_range()));
            }
        }
        // Redirections apply before the command changes the directory.
        let redirects = others.iter().filter(|it| it.kind() == "file_redirect");
        for redirect in redirects {
            self.redirect(*redirect, text);
        }
        if let Some(body) = body {
            self.statement(body, text, document);
        }
        for other in others.iter().filter(|it| it.kind() != "file_redirect") {
            self.heredoc(*other, text, document);
        }
    }

    // Text after `<<E` on the same line belongs to the command: words, redirections, a pipeline.
    fn heredoc(&mut self, node: Node<'_>, text: &str, document: Option<&str>) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "heredoc_body" => self.in_subshell(|walk| walk.children(child, text)),
                "pipeline" => self.statement(child, text, document),
                _ => self.statement(child, text, None),
            }
        }
    }

    fn redirect(&mut self, node: Node<'_>, text: &str) {
        let mut cursor = node.walk();
        let signs = node.children(&mut cursor).filter(|child| !child.is_named());
        let sign: String = signs.map(|sign| sign.kind()).collect();
        let mut cursor = node.walk();
        let Some(to) = node.children_by_field_name("destination", &mut cursor).next() else {
            return;
        };
        self.inner(to, text);
        let word = self.word(to, text);
        let is_descriptor = sign.ends_with('&') && word.start().bytes().all(|b| b.is_ascii_digit());
        if !is_descriptor && !sign.is_empty() {
            self.touch(&word);
        }
    }

    fn assign(&mut self, node: Node<'_>, text: &str) {
        let name = node.child_by_field_name("name").map(|name| slice(name, text).to_owned());
        let value = node.child_by_field_name("value");
        if let Some(value) = value {
            self.inner(value, text);
        }
        let mut word = Word::default();
        if let Some(value) = value {
            word = self.word(value, text);
            if value.kind() == "array" {
                word = Word::default();
                word.push_unknown();
            }
        }
        // `a+=b` appends to the current value.
        let adds = value.is_some_and(|value| {
            name.as_ref().is_some_and(|name| {
                text.get(node.start_byte() + name.len()..value.start_byte()) == Some("+=")
            })
        });
        if let Some(name) = name {
            if adds {
                let mut before = self.state.variables.remove(&name).unwrap_or_default();
                before.push(&word);
                word = before;
            }
            self.state.variables.insert(name, word);
        }
    }

    fn for_loop(&mut self, node: Node<'_>, text: &str) {
        let name = node.child_by_field_name("variable").map(|it| slice(it, text).to_owned());
        let mut cursor = node.walk();
        let values: Vec<Node<'_>> = node.children_by_field_name("value", &mut cursor).collect();
        let mut words = Vec::new();
        for value in values {
            self.inner(value, text);
            words.extend(self.word(value, text).expanded());
        }
        let (Some(name), Some(body)) = (name, node.child_by_field_name("body")) else { return };
        for word in words.into_iter().take(MAX_LOOP_VALUES) {
            self.state.variables.insert(name.clone(), word);
            self.statement(body, text, None);
        }
    }

    fn declaration(&mut self, node: Node<'_>, text: &str) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => self.assign(child, text),
                _ => self.inner(child, text),
            }
        }
    }

    // `[ -f path ]`, `[[ a -nt b ]]`.
    fn test(&mut self, node: Node<'_>, text: &str) {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            let mut cursor = node.walk();
            let operator = node.child_by_field_name("operator").map(|it| slice(it, text));
            let is_of_file = |operator: &str| match node.kind() {
                "unary_expression" => is_file_test(operator),
                "binary_expression" => matches!(operator, "-nt" | "-ot" | "-ef"),
                _ => false,
            };
            let is_of_file = operator.is_some_and(is_of_file);
            let first = open.len();
            for child in node.named_children(&mut cursor) {
                match child.kind() {
                    "unary_expression" | "binary_expression" | "parenthesized_expression" => {
                        open.push(child);
                    }
                    "test_operator" => {}
                    _ => {
                        self.inner(child, text);
                        if is_of_file {
                            let word = self.word(child, text);
                            self.touch(&word);
                        }
                    }
                }
            }
            // The stack pops the last element first.
            open[first..].reverse();
        }
    }

    // Analyses command substitutions within a word.
    fn inner(&mut self, node: Node<'_>, text: &str) {
        self.with_depth(1, |walk| match node.kind() {
            "command_substitution" | "process_substitution" => walk.statement(node, text, None),
            _ => {
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor) {
                    walk.inner(child, text);
                }
            }
        });
    }

    /// Returns a word without quotes and with known variables expanded.
    fn word(&self, node: Node<'_>, text: &str) -> Word {
        let mut word = Word::default();
        self.fill(&mut word, node, text, self.depth);
        word
    }

    fn fill(&self, word: &mut Word, node: Node<'_>, text: &str, depth: usize) {
        if depth > DEEPEST {
            word.push_unknown();
            return;
        }
        let own = slice(node, text);
        match node.kind() {
            "word" | "number" | "variable_name" | "regex" | "extglob_pattern"
                if node.named_child_count() == 0 =>
            {
                word.push_bare(own);
            }
            "raw_string" => word.push_quoted(own.trim_matches('\'')),
            "ansi_c_string" => {
                let inside = own.trim_start_matches('$').trim_matches('\'');
                word.push_quoted(&inside.replace("\\n", "\n").replace("\\t", "\t"));
            }
            "string" => self.fill_string(word, node, text, depth),
            "translated_string" | "concatenation" => {
                self.fill_parts(word, node, text, depth);
            }
            "brace_expression" => word.push_unknown(),
            "simple_expansion" => self.fill_variable(word, own.trim_start_matches('$')),
            "expansion" => {
                let inside = own.strip_prefix("${").and_then(|own| own.strip_suffix('}'));
                let is_name = |name: &&str| {
                    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                };
                match inside.filter(is_name) {
                    Some(name) => self.fill_variable(word, name),
                    None => word.push_unknown(),
                }
            }
            "command_substitution" => {
                match (own.trim_matches(['$', '(', ')', '`', ' ']), &self.state.cwd) {
                    ("pwd", Some(cwd)) => word.push_quoted(&cwd.to_string_lossy()),
                    ("git rev-parse --show-toplevel", _) => {
                        word.push_quoted(&self.dirs.top.to_string_lossy());
                    }
                    _ => word.push_unknown(),
                }
            }
            _ if node.named_child_count() == 0 => word.push_bare(own),
            _ => word.push_unknown(),
        }
    }

    // The syntax tree does not contain spaces between the parts of a string.
    fn fill_string(&self, word: &mut Word, node: Node<'_>, text: &str, depth: usize) {
        let range = node.byte_range();
        let mut at = range.start + 1;
        let end = range.end.saturating_sub(usize::from(slice(node, text).ends_with('"'))).max(at);
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor).filter(|it| it.kind() != "string_content") {
            word.push_in_quotes(text.get(at..child.start_byte()).unwrap_or_default());
            let mut inner = Word::default();
            self.fill(&mut inner, child, text, depth + 1);
            // The value of a variable is not special within quotes.
            match inner.text() {
                Some(text) => word.push_quoted(&text),
                None => word.push_unknown(),
            }
            at = child.end_byte();
        }
        word.push_in_quotes(text.get(at..end).unwrap_or_default());
    }

    fn fill_parts(&self, word: &mut Word, node: Node<'_>, text: &str, depth: usize) {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            if child.is_named() {
                self.fill(word, child, text, depth + 1);
            } else {
                word.push_bare(slice(child, text));
            }
        }
    }

    fn fill_variable(&self, word: &mut Word, name: &str) {
        match (self.state.variables.get(name), name) {
            (Some(value), _) => word.push(value),
            (None, "PWD") if self.state.cwd.is_some() => {
                let cwd = self.state.cwd.as_deref().unwrap_or(&self.dirs.cwd);
                word.push_quoted(&cwd.to_string_lossy());
            }
            (None, "HOME") if self.dirs.home.is_some() => {
                let home = self.dirs.home.as_deref().unwrap_or(&self.dirs.cwd);
                word.push_quoted(&home.to_string_lossy());
            }
            (None, _) => word.push_unknown(),
        }
    }
}

/// Returns whether `operator` is a file test.
pub(super) fn is_file_test(operator: &str) -> bool {
    operator.len() == 2
        && operator.starts_with('-')
        && "abcdefghkprsuwxLNOSG".contains(&operator[1..])
}

fn slice<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}
