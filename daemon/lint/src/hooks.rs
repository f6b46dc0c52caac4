//! Rules `hooks/*`: problems with hooks, each shown at the offending key or value.

use std::collections::{BTreeSet, HashSet};

use skills_agents::field_table::hooks::{
    COMMON, EVENTS, GROUP, HookEvent, KINDS, MatcherSubject, closest_name, find_event, find_key,
    find_kind, infer_handler_kind,
};
use skills_agents::field_table::tools::{agent_tools, tools};
use skills_agents::field_table::{Agent, CLAUDE_HOOKS, Citation, HOOKS};
use skills_agents::fields::{FieldValue, HookGroup, HookHandler, SpannedText};
use skills_agents::hooks::{check_limits, is_expression, matches_any, shorten_matcher, words};
use skills_syntax::diagnostic::{Diagnostic, Severity};
use skills_syntax::edit::Edit;
use skills_syntax::text::Span;
use skills_syntax::{quote, suggest};

use super::finding::Finding;
use super::finding::Tag;
use super::rule::{Family, Rule};
use super::rule_id::RuleId;
use super::subject::Cx;

const SOURCES: &[&Citation] = &[&CLAUDE_HOOKS];

const PASSING: &str = "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: ./check.sh\n---\nRead the file.\n";

/// Values that most rules of this family share.
const FAMILY: Family = Family {
    severity: Severity::Error,
    whole_file: false,
    agents: &[Agent::ClaudeCode],
    sources: SOURCES,
    passing: PASSING,
};

pub(super) static EVENT: Rule = FAMILY.rule(
    RuleId::HooksEvent,
    "The hook event is unknown.",
    "The hooks below the event never run.",
    "Write the event's exact name.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nhooks:\n  PreTooluse:\n    - hooks:\n        - type: command\n          command: ./check.sh\n---\nRead the file.\n",
)
.fixable();

pub(super) static MATCHER: Rule = FAMILY.rule(
    RuleId::HooksMatcher,
    "The matcher matches no tool, or is not a valid regular expression.",
    "Claude Code compares the names of tools exactly, and reads any other matcher as a regular expression. A permission rule such as `Bash(git:*)` is neither. Hooks whose matcher matches nothing never run.",
    "Write the exact names of tools, separated by `|`. Close each group and bracket of an expression.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nhooks:\n  PreToolUse:\n    - matcher: bash\n      hooks:\n        - type: command\n          command: ./check.sh\n---\nRead the file.\n",
)
.fixable();

pub(super) static IGNORED_MATCHER: Rule = FAMILY.rule(
    RuleId::HooksIgnoredMatcher,
    "The hook event does not support a matcher.",
    "The agent ignores the matcher; the hooks run every time.",
    "Remove the matcher.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nhooks:\n  Stop:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: ./check.sh\n---\nRead the file.\n",
)
.severity(Severity::Hint)
.fixable();

pub(super) static MISSING_KEY: Rule = FAMILY.rule(
    RuleId::HooksMissingKey,
    "A required key of a hook is missing or empty.",
    "The hook does not run.",
    "Add the key.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n---\nRead the file.\n",
);

pub(super) static KIND: Rule = FAMILY.rule(
    RuleId::HooksKind,
    "The hook type is unknown.",
    "The hook does not run.",
    "Write `command`, `prompt`, `agent`, `http` or another supported type.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nhooks:\n  PreToolUse:\n    - hooks:\n        - type: comand\n          command: ./check.sh\n---\nRead the file.\n",
)
.fixable();

pub(super) static KEY: Rule = FAMILY.rule(
    RuleId::HooksKey,
    "The hook key is unknown.",
    "The key has no effect.",
    "Correct the key's spelling, or remove the key.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nhooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: ./check.sh\n          timout: 5\n---\nRead the file.\n",
)
.severity(Severity::Warning)
.fixable();

pub(super) static TYPE: Rule = FAMILY.rule(
    RuleId::HooksType,
    "A value in `hooks` has the wrong type.",
    "The hooks that use the value do not run.",
    "Write a value of the expected type.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nhooks:\n  PreToolUse: ./check.sh\n---\nRead the file.\n",
);

pub(super) static VARIABLE: Rule = FAMILY.rule(
    RuleId::HooksVariable,
    "A hook's command uses `CLAUDE_SKILL_DIR`, which Claude Code does not set for hooks.",
    "The variable is empty, so the path begins at the root directory. Claude Code replaces it only in the body and in `allowed-tools`; a skill's hooks get the directory as `CLAUDE_PLUGIN_ROOT`.",
    "Write `${CLAUDE_PLUGIN_ROOT}`.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: '\"${CLAUDE_SKILL_DIR}\"/check.sh'\n---\nRead the file.\n",
)
.severity(Severity::Warning)
.passing("---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: '\"${CLAUDE_PLUGIN_ROOT}\"/check.sh'\n---\nRead the file.\n")
.fixable();

pub(super) static UNQUOTED: Rule = FAMILY.rule(
    RuleId::HooksUnquoted,
    "A directory in a hook's command is not in quotes.",
    "If the directory's path contains a space, the shell splits it and the hook fails.",
    "Put the variable in double quotes.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: $CLAUDE_PROJECT_DIR/check.sh\n---\nRead the file.\n",
)
.severity(Severity::Hint)
.fixable();

/// Variables with the path of a directory that Claude Code sets for a hook.
const DIRECTORIES: [&str; 2] = ["CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT"];

/// Minimum similarity of a word in a matcher to a tool's name.
const MIN_SIMILARITY: f64 = 0.75;

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let (Some(fields), true) = (cx.fields, cx.applies_to(TYPE.agents)) else { return };
    let Some(outcome) = fields.read(&HOOKS) else { return };
    for fault in &outcome.faults {
        let message = format!("found {} instead of {}", fault.found.name(), fault.expected);
        let span = cx.line(fault.span.start).within(fault.span);
        out.push(Finding::new(&TYPE, span, message));
    }
    if let Some(entries) = fields.entry(&HOOKS).and_then(|it| it.value.entries()) {
        for entry in entries {
            let item = SpannedText { text: entry.key.text.clone(), span: entry.key.span };
            if find_event(&item.text).is_none() {
                let names = EVENTS.iter().map(|it| it.name);
                let taken = |name: &str| entries.iter().any(|it| it.key.text == name);
                let message = format!("unknown hook event `{}`", item.text);
                out.push(suggest_name(
                    Finding::new(&EVENT, item.span, message),
                    &item,
                    names,
                    taken,
                ));
            }
        }
    }
    let Some(FieldValue::Hooks(groups)) = outcome.value else { return };
    let mut expressions = BTreeSet::new();
    for group in &groups {
        self::check_group(cx, group, &mut expressions, out);
    }
}

fn check_group<'a>(
    cx: &Cx<'_>,
    group: &'a HookGroup,
    expressions: &mut BTreeSet<&'a str>,
    out: &mut Vec<Finding>,
) {
    let event = find_event(&group.event.text);
    if let Some(matcher) = group.matcher.as_ref().filter(|it| !it.text.is_empty() && it.text != "*")
    {
        if event.is_some_and(|it| it.matches == MatcherSubject::Nothing) {
            let message = format!("the event `{}` does not support a matcher", group.event.text);
            let finding = Finding::new(&IGNORED_MATCHER, matcher.span, message);
            let finding = finding.tag(Tag::Unnecessary);
            out.push(match key_and_value(cx, matcher.span) {
                Some(span) => finding.fix("Remove the matcher", span, ""),
                None => finding,
            });
        } else if let Err(what) = check_limits(&matcher.text, expressions) {
            let is_of_tools = event.and_then(HookEvent::subject) == Some("tool_name");
            // A permission rule, such as `Write(src/**)`, may be no valid expression.
            if !is_of_tools || !check_permission_rules(cx, matcher, out) {
                let text = shorten_matcher(&matcher.text);
                let message = format!("`{text}` matches nothing: {what}");
                out.push(Finding::new(&MATCHER, matcher.span, message));
            }
        } else {
            match event.and_then(|it| Some((it.subject()?, it.matchers))) {
                Some(("tool_name", _)) => check_tools(cx, matcher, out),
                // Users name agents, servers, commands and files.
                Some(("agent_type" | "mcp_server_name" | "command_name" | "file_path", _)) => {}
                Some((_, known)) if !is_expression(&matcher.text) => {
                    check_words(cx, matcher, known, "nothing", out);
                }
                Some(_) | None => {}
            }
        }
    }
    if !group.has_hooks {
        let first = cx.line(group.span.start).within(group.span);
        let finding = Finding::new(&MISSING_KEY, first, "this group has no `hooks` list");
        out.push(finding.help(
            "Add a `hooks:` list beside `matcher:`, with one entry and its `type` for each hook.",
        ));
    }
    for key in &group.others {
        // The finding about missing `hooks` covers keys that belong into that list.
        if !group.has_hooks && KINDS.iter().any(|kind| find_key(Some(kind), &key.text).is_some()) {
            continue;
        }
        let message = format!("unknown key `{}` in a group of hooks", key.text);
        let taken = |name: &str| match name {
            "hooks" => group.has_hooks,
            _ => group.matcher.is_some(),
        };
        let names = GROUP.iter().map(|it| it.name);
        out.push(suggest_name(Finding::new(&KEY, key.span, message), key, names, taken));
    }
    for handler in &group.handlers {
        self::check_handler(cx, handler, out);
    }
}

/// Maximum number of different words of a matcher that are compared.
const MAX_WORDS: usize = 64;

/// Subject of a message about a matcher of tools.
const NO_TOOL: &str = "no tool";

/// Returns the span of a part of a matcher; `None` if the source has escapes or the part twice.
fn span_in(cx: &Cx<'_>, matcher: &SpannedText, part: &str) -> Option<Span> {
    let written = matcher.span.slice(cx.text);
    let mut places = written.match_indices(part).map(|(at, _)| matcher.span.start + at);
    let at = places.next().filter(|_| places.next().is_none())?;
    Some(Span::new(at, at + part.len()))
}

fn tool_names() -> impl Iterator<Item = &'static str> {
    agent_tools(Agent::ClaudeCode).map(|it| it.name)
}

/// Reports the names in a matcher that nearly equal a tool's, permission rules, and expressions that
/// match tools only in another case.
fn check_tools(cx: &Cx<'_>, matcher: &SpannedText, out: &mut Vec<Finding>) {
    let text = matcher.text.as_str();
    check_mcp(cx, matcher, out);
    if !is_expression(text) {
        check_others(cx, matcher, out);
        check_words(cx, matcher, &tool_names().collect::<Vec<_>>(), NO_TOOL, out);
        return;
    }
    if check_permission_rules(cx, matcher, out) {
        return;
    }
    if let Some((what, meant)) = misread_expression(text) {
        let message = format!("`{}` matches no tool: {what}", shorten_matcher(text));
        let finding = Finding::new(&MATCHER, matcher.span, message).severity(Severity::Warning);
        out.push(match span_in(cx, matcher, text) {
            Some(span) => finding.draft(format!("Change to `{meant}`"), span, meant),
            None => finding,
        });
    } else if is_simple(text) && !matches_any(text, tool_names()) {
        check_case(cx, matcher, out);
    }
}

/// Reports the permission rules in a matcher, and returns whether there are any.
fn check_permission_rules(cx: &Cx<'_>, matcher: &SpannedText, out: &mut Vec<Finding>) -> bool {
    let text = matcher.text.as_str();
    let rules = alternatives(text).filter_map(|it| Some((it, permission_rule(it)?)));
    // Each is compiled.
    let rules = rules.take(MAX_RULES).filter(|(part, _)| !matches_any(part, tool_names()));
    let rules: Vec<_> = rules.collect();
    for (part, name) in &rules {
        let shown = shorten_matcher(part);
        let message =
            format!("`{shown}` matches no tool; a matcher takes names, not permission rules");
        let help = format!("Write `{name}`, and put `if: \"{shown}\"` into the hook.");
        let span = span_in(cx, matcher, part);
        let shown_at = if *part == text { matcher.span } else { span.unwrap_or(matcher.span) };
        let finding = Finding::new(&MATCHER, shown_at, message).help(help);
        out.push(match span {
            Some(span) => finding.draft(format!("Change to `{name}`"), span, *name),
            None => finding,
        });
    }
    !rules.is_empty()
}

/// Returns the fault of an expression that lists tools and matches none, and its correct form:
/// `Edit/Write`, `!Bash`.
fn misread_expression(text: &str) -> Option<(&'static str, String)> {
    let are_tools = |names: &[&str]| names.iter().all(|it| tool_names().any(|name| name == *it));
    if let Some(excluded) = text.strip_prefix('!') {
        let names: Vec<&str> = words(excluded).take(MAX_WORDS).collect();
        let meant = format!("^(?!(?:{})$).*", names.join("|"));
        return are_tools(&names).then_some(("`!` is read as part of the name", meant));
    }
    let names: Vec<&str> =
        text.split(['/', '+', '&', ';']).map(str::trim).take(MAX_WORDS).collect();
    let is_list = names.len() > 1 && are_tools(&names);
    is_list.then(|| ("only `|` and `,` separate names", names.join("|")))
}

/// Reports the parts of a matcher for MCP tools that lack the two underscores: `mcp_github`.
fn check_mcp(cx: &Cx<'_>, matcher: &SpannedText, out: &mut Vec<Finding>) {
    let parts = alternatives(&matcher.text).flat_map(|it| it.split(',')).map(str::trim);
    for part in parts.take(MAX_WORDS) {
        let name = part.trim_start_matches(['^', '(']);
        let Some(rest) =
            name.strip_prefix("mcp").and_then(|it| it.strip_prefix(['_', '-', ':', '/']))
        else {
            continue;
        };
        if !rest.starts_with(|it: char| it.is_ascii_alphanumeric()) {
            continue;
        }
        let shown = shorten_matcher(part);
        let message =
            format!("`{shown}` matches no tool; MCP tools are called `mcp__server__tool`");
        let help = "Write two underscores after `mcp` and after the server's name.";
        let finding = Finding::new(&MATCHER, matcher.span, message).severity(Severity::Warning);
        let finding = finding.help(help);
        let meant = format!("mcp__{rest}");
        out.push(match span_in(cx, matcher, name) {
            Some(span) => {
                let finding = finding.draft(format!("Change to `{meant}`"), span, meant);
                Finding { diagnostic: Diagnostic { span, ..finding.diagnostic }, ..finding }
            }
            None => finding,
        });
    }
}

/// Reports the words of a matcher that are tools of another agent, or that another event matches.
fn check_others(cx: &Cx<'_>, matcher: &SpannedText, out: &mut Vec<Finding>) {
    let is_own = |word: &str| tool_names().any(|it| it.eq_ignore_ascii_case(word));
    let mut seen = HashSet::new();
    for word in words(&matcher.text).filter(|it| it.len() > 1 && !is_own(it)).take(MAX_WORDS) {
        if !seen.insert(word) {
            continue;
        }
        let event = EVENTS.iter().find(|it| it.matchers.contains(&word));
        let tool = tools().iter().find(|it| it.name == word);
        let what = match (event, tool) {
            (Some(event), _) => format!("it belongs to the event `{}`", event.name),
            (None, Some(tool)) => format!("it is a tool of {}", tool.agent.name()),
            (None, None) => continue,
        };
        let message = format!("no tool of Claude Code is called `{word}`; {what}");
        let span = span_in(cx, matcher, word).unwrap_or(matcher.span);
        // Beside a tool of Claude Code, the word can be for an agent that reads the hooks too.
        let is_beside = words(&matcher.text).any(is_own);
        let severity = if is_beside { Severity::Hint } else { Severity::Warning };
        out.push(Finding::new(&MATCHER, span, message).severity(severity));
    }
}

/// Returns the parts of an expression between the `|` outside groups and brackets.
fn alternatives(expression: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    expression.split(move |it: char| {
        match it {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        it == '|' && depth == 0
    })
}

/// Maximum number of permission rules in one matcher that are reported.
const MAX_RULES: usize = 2;

/// Returns the tool of a permission rule such as `Bash(git:*)`.
fn permission_rule(part: &str) -> Option<&str> {
    let (name, _) = part.strip_suffix(')')?.split_once('(')?;
    tool_names().any(|it| it == name).then_some(name)
}

/// Returns whether an expression is short and has no class of characters, whose automaton is large.
fn is_simple(expression: &str) -> bool {
    const MAX_LEN: usize = 64;
    let is_known = |it: char| it.is_ascii_alphanumeric() || "_^$|().*+?:- ".contains(it);
    expression.len() <= MAX_LEN && expression.chars().all(is_known)
}

/// Reports an expression that matches no tool, but does in another case: `^bash$`.
fn check_case(cx: &Cx<'_>, matcher: &SpannedText, out: &mut Vec<Finding>) {
    let text = matcher.text.as_str();
    let folded = format!("(?i){text}");
    let lower = text.to_ascii_lowercase();
    let names = tool_names().filter(|it| lower.contains(&it.to_ascii_lowercase()));
    let meant: Vec<&str> = names.filter(|it| matches_any(&folded, std::iter::once(*it))).collect();
    let Some(first) = meant.first() else { return };
    let shown = shorten_matcher(text);
    let message = format!("`{shown}` matches no tool; did you mean `{first}`?");
    let finding = Finding::new(&MATCHER, matcher.span, message).severity(Severity::Warning);
    let mut fixed = String::new();
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    for part in text.split_inclusive(|it| !is_part(it)) {
        let word = part.trim_end_matches(|it| !is_part(it));
        let name = meant.iter().find(|it| it.eq_ignore_ascii_case(word));
        fixed.push_str(name.copied().unwrap_or(word));
        fixed.push_str(&part[word.len()..]);
    }
    let is_whole = meant.iter().all(|it| matches_any(&fixed, std::iter::once(*it)));
    let span = span_in(cx, matcher, text);
    out.push(match span.filter(|_| is_whole) {
        Some(span) => finding.fix(format!("Change to `{}`", shorten_matcher(&fixed)), span, fixed),
        None => finding,
    });
}

/// Reports names in a matcher without an expression that nearly equal one of those that can match,
/// and names that are separated only by spaces. `nothing` is the subject of the message.
fn check_words(
    cx: &Cx<'_>,
    matcher: &SpannedText,
    names: &[&'static str],
    nothing: &str,
    out: &mut Vec<Finding>,
) {
    let text = matcher.text.as_str();
    let mut found = HashSet::new();
    for word in words(text).filter(|it| it.len() > 1 && !it.starts_with("mcp")) {
        if names.contains(&word) || !found.insert(word) {
            continue;
        }
        if found.len() > MAX_WORDS {
            break;
        }
        // A word that is also part of another one has no certain place.
        let span = span_in(cx, matcher, word);
        let shown_at = span.unwrap_or(matcher.span);
        let mut parts = word.split(' ').filter(|it| !it.is_empty());
        if word.contains(' ') && parts.all(|it| names.contains(&it)) {
            let message = format!("{nothing} is called `{word}`; separate the names by `|`");
            let finding = Finding::new(&MATCHER, shown_at, message).severity(Severity::Warning);
            let separated = word.split_whitespace().collect::<Vec<_>>().join("|");
            out.push(match span {
                Some(span) => finding.fix("Separate the names", span, separated),
                None => finding,
            });
            continue;
        }
        let folded = names.iter().copied().find(|it| it.eq_ignore_ascii_case(word));
        // Tools in lower case are those of other agents.
        let is_name = nothing != NO_TOOL || word.starts_with(|it: char| it.is_ascii_uppercase());
        let near =
            || suggest::nearest(word, names.iter().copied(), MIN_SIMILARITY).first().copied();
        let Some(meant) = folded.or_else(|| is_name.then(near).flatten()) else { continue };
        let message = format!("{nothing} is called `{word}`; did you mean `{meant}`?");
        let finding = Finding::new(&MATCHER, shown_at, message);
        let finding = finding.severity(Severity::Warning);
        let finding = finding.help("Write the exact names, separated by `|`.");
        let is_there = words(text).any(|it| it == meant);
        out.push(match span.filter(|_| !is_there) {
            Some(span) => finding.fix(format!("Change to `{meant}`"), span, meant),
            None => finding,
        });
    }
}

/// Reports directories in a shell command that are not set or not in quotes.
fn check_command(cx: &Cx<'_>, handler: &HookHandler, out: &mut Vec<Finding>) {
    const UNSET: &str = "CLAUDE_SKILL_DIR";
    let Some(command) = handler.text("command") else { return };
    let written = command.span.slice(cx.text);
    let at_variable = |(at, _): &(usize, &str)| written[..*at].ends_with(['$', '{']);
    let places: Vec<usize> =
        written.match_indices(UNSET).filter(at_variable).map(|(at, _)| at).collect();
    if let Some(first) = places.first() {
        let place = |at: usize| {
            let start = command.span.start + at;
            Span::new(start, start + UNSET.len())
        };
        let message = format!("Claude Code does not set `{UNSET}` in hooks");
        let text = "CLAUDE_PLUGIN_ROOT".to_owned();
        let edits = places.iter().map(|it| Edit { span: place(*it), text: text.clone() });
        let finding = Finding::new(&VARIABLE, place(*first), message)
            .fix_all("Change to `CLAUDE_PLUGIN_ROOT`", edits.collect());
        // A command that tests the path or has another one is written for several agents.
        let has_fallback = ["||", "[ -", "test -", ":-"].iter().any(|it| written.contains(it));
        let is_fallback = |it: Finding| it.severity(Severity::Hint).into_drafts();
        out.push(if has_fallback { is_fallback(finding) } else { finding });
        return;
    }
    let is_shell =
        handler.settings.iter().all(|(name, _)| name.text != "args" && name.text != "shell");
    let Some((start, quoted)) = quote_directories(&command.text).filter(|_| is_shell) else {
        return;
    };
    let variable = &command.text[start..];
    let end = variable.find(['/', ' ', ';']).unwrap_or(variable.len());
    let variable = &variable[..end];
    let at = written.find(variable).map(|at| command.span.start + at);
    let span = at.map_or(command.span, |at| Span::new(at, at + variable.len()));
    let message =
        format!("`{variable}` is not in quotes; a path with a space ends the command there");
    let finding = Finding::new(&UNQUOTED, span, message);
    let is_line = !written.contains(['\n', '\r', '\\']);
    out.push(if is_line {
        finding.fix("Put the variable in quotes", command.span, quote::quote_scalar(&quoted))
    } else {
        finding
    });
}

/// Returns the start of the first of [`DIRECTORIES`] outside quotes at the start of a word, and the
/// command with all of them in quotes.
fn quote_directories(command: &str) -> Option<(usize, String)> {
    let (mut first, mut quoted) = (None, String::new());
    let (mut at, mut inside) = (0, None);
    let mut word = WordPosition { start: 0, may_assign: true, is_case: false };
    let is_start = |it: &str| it.is_empty() || it.ends_with([' ', '=', ';', '(', '&', '|']);
    while let Some(next) = command[at..].chars().next() {
        let rest = &command[at..];
        let variable = DIRECTORIES.iter().find_map(|name| {
            let plain = rest.strip_prefix('$')?;
            let name_length = match plain.strip_prefix('{') {
                Some(it) if it.starts_with(name) && it[name.len()..].starts_with('}') => {
                    name.len() + 2
                }
                None if plain.starts_with(name) => name.len(),
                Some(_) | None => return None,
            };
            let ends =
                !plain[name_length..].starts_with(|it: char| it.is_alphanumeric() || it == '_');
            ends.then_some(name_length + 1)
        });
        match (inside, next) {
            (None, '"' | '\'') => inside = Some(next),
            (Some(mark), _) if mark == next => inside = None,
            _ => {}
        }
        if inside.is_none() {
            word.advance(command, at, next);
        }
        let is_split =
            inside.is_none() && is_start(&command[..at]) && !word.assigns(&command[..at]);
        if let Some(length) = variable.filter(|_| is_split) {
            first = first.or(Some(at));
            quoted.push('"');
            quoted.push_str(&rest[..length]);
            quoted.push('"');
            at += length;
        } else {
            quoted.push(next);
            at += next.len_utf8();
        }
    }
    first.map(|it| (it, quoted))
}

/// The position of a word of a shell command.
struct WordPosition {
    start: usize,
    /// True if an assignment is possible: at the start of a command, and after other assignments.
    may_assign: bool,
    /// True after `case`, whose patterns end with `)`.
    is_case: bool,
}

impl WordPosition {
    /// Follows the letter at `at`, which is outside quotes.
    fn advance(&mut self, command: &str, at: usize, letter: char) {
        /// Words that assignments can follow.
        const BEFORE: [&str; 14] = [
            "export", "readonly", "local", "declare", "if", "then", "elif", "else", "do", "while",
            "until", "time", "{", "!",
        ];
        let word = &command[self.start..at];
        if matches!(letter, ';' | '&' | '|' | '(' | '\n') || letter == ')' && self.is_case {
            self.may_assign = true;
        } else if letter.is_whitespace() {
            let is_assignment = word.split_once('=').is_some_and(|(it, _)| is_variable(it));
            self.is_case |= self.may_assign && word == "case";
            self.may_assign &= word.is_empty() || is_assignment || BEFORE.contains(&word);
        } else {
            return;
        }
        self.start = at + letter.len_utf8();
    }

    /// Returns whether the value of an assignment starts at the end of `before`; the shell does not
    /// split it.
    fn assigns(&self, before: &str) -> bool {
        let name = before.get(self.start..).and_then(|it| it.strip_suffix('='));
        self.may_assign && name.is_some_and(is_variable)
    }
}

fn is_variable(name: &str) -> bool {
    let name = name.strip_suffix('+').unwrap_or(name);
    name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
        && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
}

fn check_handler(cx: &Cx<'_>, handler: &HookHandler, out: &mut Vec<Finding>) {
    check_command(cx, handler, out);
    let first = cx.line(handler.span.start).within(handler.span);
    match &handler.kind {
        None => out.push(without_kind(cx, handler, first)),
        Some(kind) if find_kind(&kind.text).is_none() => {
            let names = KINDS.iter().map(|it| it.name);
            let message = format!("unknown hook type `{}`", kind.text);
            out.push(suggest_name(Finding::new(&KIND, kind.span, message), kind, names, |_| false));
        }
        Some(_) => {}
    }
    // An unknown type does not hide other problems of the hook.
    let there = || handler.settings.iter().map(|(name, _)| name).chain(&handler.mistyped);
    let written = handler.kind.as_ref().map(|it| &*it.text);
    let known = infer_handler_kind(written, there().map(|it| &*it.text));
    let own = known.map(|it| it.keys).unwrap_or_default();
    let what = match known {
        Some(kind) => format!("a hook of type `{}`", kind.name),
        None => "a hook".to_owned(),
    };
    for key in own.iter().filter(|it| it.required) {
        if !there().any(|name| name.text == key.name) {
            let message = format!("{what} requires `{}`", key.name);
            let help = format!("Add `{}:`. {}", key.name, key.summary);
            out.push(Finding::new(&MISSING_KEY, first, message).help(help));
        } else if let Some(value) = handler.text(key.name).filter(|it| it.text.trim().is_empty()) {
            let message = format!("`{}` is empty in {what}", key.name);
            let help = format!("Write a value after `{}:`. {}", key.name, key.summary);
            out.push(Finding::new(&MISSING_KEY, value.span, message).help(help));
        }
    }
    // If the type is unknown, the keys of all types are candidates.
    let all = KINDS.iter().flat_map(|it| it.keys).filter(|_| known.is_none());
    let keys = COMMON.iter().chain(own).chain(all);
    let written: HashSet<&str> = there().map(|it| it.text.as_str()).collect();
    for (name, _) in &handler.settings {
        if keys.clone().any(|it| it.name == name.text) {
            continue;
        }
        let message = format!("unknown key `{}` in {what}", name.text);
        let taken = |name: &str| written.contains(name);
        let names = keys.clone().map(|it| it.name);
        out.push(suggest_name(Finding::new(&KEY, name.span, message), name, names, taken));
    }
}

/// Reports a hook without a type.
fn without_kind(cx: &Cx<'_>, handler: &HookHandler, first: Span) -> Finding {
    let finding = Finding::new(&MISSING_KEY, first, "the hook has no `type`");
    let finding = finding.help("Add `type: command`.");
    let start = handler.span.start;
    let before = Span::new(cx.line(start).start, start).slice(cx.text);
    // A hook with a command is a command hook; others are ambiguous.
    let is_clear =
        handler.text("command").is_some() && before.chars().all(|it| matches!(it, ' ' | '-'));
    if !is_clear {
        return finding;
    }
    let indent = " ".repeat(before.len());
    let text = format!("type: command{}{indent}", cx.line_break());
    finding.fix("Add `type: command`", Span::empty(start), text)
}

/// Returns the span to delete to remove a value with its key: the whole line, or the text up to the
/// next key if a dash precedes this one.
fn key_and_value(cx: &Cx<'_>, value: Span) -> Option<Span> {
    let line = cx.line(value.start);
    let before = Span::new(line.start, value.start).slice(cx.text);
    let key = before.rfind("matcher")?;
    let lead = &before[..key];
    let next = skills_syntax::text::after_line_end(cx.text, line.end);
    if value.end > line.end || !Span::new(value.end, line.end).slice(cx.text).trim().is_empty() {
        return None;
    }
    if lead.trim().is_empty() {
        return Some(Span::new(line.start, next));
    }
    let below = cx.line(next).slice(cx.text);
    let indent = below.len() - below.trim_start_matches(' ').len();
    (lead.trim() == "-" && indent == lead.len()).then(|| Span::new(line.start + key, next + indent))
}

/// Suggests a similar name; adds a fix unless the same map already has that name.
fn suggest_name(
    finding: Finding,
    item: &SpannedText,
    names: impl Iterator<Item = &'static str> + Clone,
    taken: impl Fn(&str) -> bool,
) -> Finding {
    match closest_name(&item.text, names) {
        Some(meant) if taken(meant) => {
            finding.help(format!("`{meant}` exists too; remove one of the two."))
        }
        Some(meant) => finding.suggest(item.span, meant),
        None => finding,
    }
}

/// Returns the commands of all hooks, for the `security` rules.
pub(super) fn commands(cx: &Cx<'_>) -> Vec<(String, Span)> {
    let Some(FieldValue::Hooks(groups)) =
        cx.fields.and_then(|it| it.read(&HOOKS)).and_then(|it| it.value)
    else {
        return Vec::new();
    };
    let handlers = groups.iter().flat_map(|it| &it.handlers);
    handlers.filter_map(|it| it.text("command")).map(|it| (it.text.clone(), it.span)).collect()
}
