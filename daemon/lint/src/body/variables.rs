//! What agents replace in a body: arguments, variables, commands.

use skills_agents::field_table::variables::{SHELL_VARIABLES, VARIABLES, find_variable};
use skills_agents::field_table::{ARGUMENT_HINT, ARGUMENTS, Agent};
use skills_syntax::suggest;
use skills_syntax::text::Span;

use super::super::audience::act;
use super::super::subject::Cx;
use super::super::{Finding, found};

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    if cx.concerns(Agent::ClaudeCode) {
        variables(cx, out);
        hint(cx, out);
    }
    if cx.concerns(Agent::ClaudeCode) || cx.concerns(Agent::OpenCode) {
        currency(cx, out);
        in_code(cx, out);
    }
    command(cx, out);
    if cx.concerns(Agent::ClaudeCode) {
        glued(cx, out);
    }
}

fn variables(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let body = cx.document.body;
    let written = body.slice(cx.text);
    for (at, _) in written.match_indices("${CLAUDE_") {
        let rest = &written[at + 2..];
        let length =
            rest.bytes().take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
        let name = &rest[..length];
        let shells = SHELL_VARIABLES.contains(&name) || name.starts_with("CLAUDE_CODE_");
        if !rest[length..].starts_with('}') || shells || find_variable(name).is_some() {
            continue;
        }
        let names = VARIABLES.iter().filter(|it| it.braces).map(|it| it.name);
        let Some(meant) = suggest::nearest(name, names, 0.8).first().copied() else { continue };
        let start = body.start + at + 2;
        let span = Span::new(start, start + length);
        let message = format!("there is no variable `{name}`; did you mean `{meant}`?");
        let finding = found("body/unknown-variable", span, message);
        out.push(finding.fix(format!("Write `{meant}`"), span, meant));
    }
}

/// Returns where the body first uses its arguments as a whole.
fn arguments(cx: &Cx<'_>) -> Option<Span> {
    const WORD: &str = "$ARGUMENTS";
    let body = cx.document.body;
    let written = body.slice(cx.text);
    let free = |at: &usize| {
        !written[..*at].ends_with('\\')
            && !written[at + WORD.len()..].starts_with(|it: char| it.is_alphanumeric() || it == '_')
    };
    let at = written.match_indices(WORD).map(|(at, _)| at).find(free)?;
    Some(Span::new(body.start + at, body.start + at + WORD.len()))
}

fn hint(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let says = [&ARGUMENT_HINT, &ARGUMENTS].into_iter().any(|it| cx.entry(it.key).is_some());
    if says {
        return;
    }
    if let Some(span) = arguments(cx) {
        let message = "the menu does not say what to type here: there is no `argument-hint`";
        out.push(found("body/no-hint", span, message));
    }
}

/// Whether the skill says that it takes arguments.
fn takes_arguments(cx: &Cx<'_>) -> bool {
    arguments(cx).is_some()
        || [&ARGUMENT_HINT, &ARGUMENTS].into_iter().any(|it| cx.entry(it.key).is_some())
}

/// `$1` of a program in a block of code: an argument of the skill to whoever replaces those. Where
/// the skill takes arguments it may be one, except in a program of awk; a command is there to.
fn in_code(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let may_be_meant = cx.is_command || takes_arguments(cx);
    let fences = cx.body().fences.iter().filter(|it| it.info.slice(cx.text) != "!");
    let lines = fences.flat_map(|fence| {
        let mut at = fence.content.start;
        fence.content.slice(cx.text).split_inclusive('\n').map(move |line| {
            at += line.len();
            (at - line.len(), line)
        })
    });
    let mut places = lines.flat_map(|(start, line)| {
        let from = if may_be_meant { line.find("awk ") } else { Some(0) };
        let told = move |it: &Span| from.is_some_and(|from| from <= it.start);
        numbers(line).filter(told).map(move |it| it.moved(start))
    });
    let Some(first) = places.next() else { return };
    let more = match places.count() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let who = cx.those(|it, _| {
        matches!(Agent::from_profile_id(&it.id), Some(Agent::ClaudeCode | Agent::OpenCode))
    });
    let replaces = act(&who, "replaces", "replace");
    let message = format!(
        "called with enough arguments, {replaces} `{}` in this code by one{more}",
        first.slice(cx.text)
    );
    out.push(found("body/code-argument", first, message).about(&who));
}

/// Returns where `$` stands before one digit alone.
fn numbers(line: &str) -> impl Iterator<Item = Span> {
    line.match_indices('$').filter_map(|(at, _)| {
        let behind = line[at + 1..].trim_start_matches(|it: char| it.is_ascii_digit());
        let end = line.len() - behind.len();
        let is_argument = end - at == 2
            && !line[..at].ends_with(['\\', '$'])
            && !behind.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '_');
        is_argument.then(|| Span::new(at, end))
    })
}

/// Amounts of money, in a skill that takes arguments: without any, nothing is replaced.
///
/// The backslash before an amount is read by Claude Code alone: to opencode it is a letter, and what
/// stands behind it an argument all the same.
fn currency(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    if !takes_arguments(cx) {
        return;
    }
    let escapes = cx.concerns(Agent::ClaudeCode);
    let is_escape_to_all = !cx.concerns(Agent::OpenCode);
    for prose in &cx.body().prose {
        let written = prose.slice(cx.text);
        for (at, _) in written.match_indices('$') {
            let rest = &written[at + 1..];
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0
                || written[..at].ends_with(['\\', '$'])
                || !is_amount(written, Span::new(at, at + 1 + digits))
            {
                continue;
            }
            let start = prose.start + at;
            let span = Span::new(start, start + 1 + digits);
            let message =
                format!("`{}` is an argument, not an amount of money", span.slice(cx.text));
            let finding = found("body/currency", span, message);
            let title = "Put a backslash before it";
            out.push(match (escapes, is_escape_to_all) {
                (true, true) => finding.fix(title, Span::empty(start), "\\"),
                (true, false) => finding
                    .help("Write the amount without `$`: opencode knows no escape.")
                    .draft(title, Span::empty(start), "\\"),
                (false, _) => {
                    finding.help("Write the amount without `$`, for example as `5 dollars`.")
                }
            });
        }
    }
}

/// Whether `$` and digits at a place of a text are an amount of money.
pub fn is_amount(text: &str, place: Span) -> bool {
    is_money(&text[place.start + 1..place.end], &text[place.end..])
        || is_a_price(&text[..place.start])
}

/// Whether the words before say that money is meant.
fn is_a_price(before: &str) -> bool {
    const WORDS: [&str; 14] = [
        "costs", "cost", "price", "priced", "pay", "pays", "paid", "fee", "spend", "spends",
        "charge", "charges", "worth", "budget",
    ];
    const BETWEEN: [&str; 12] =
        ["is", "of", "at", "about", "only", "just", "a", "an", "than", "more", "less", "to"];
    // The word stands near: of a line of a megabyte not all is looked at for each place.
    const NEAR: usize = 200;
    let near = &before[before.ceil_char_boundary(before.len().saturating_sub(NEAR))..];
    let line = near.rsplit('\n').next().unwrap_or_default();
    let word = line.split_whitespace().rev().find(|it| !BETWEEN.contains(it));
    line.ends_with(' ')
        && word.is_some_and(|it| WORDS.iter().any(|word| word.eq_ignore_ascii_case(it)))
}

fn is_money(digits: &str, behind: &str) -> bool {
    const WORDS: [&str; 9] =
        [" a ", " per ", " an ", "/mo", "/month", "/year", " million", " billion", " USD"];
    let decimal = |it: char| {
        behind.strip_prefix(it).is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()))
    };
    let unit = behind.starts_with(['k', 'K', 'M', 'B'])
        && !behind[1..].starts_with(|it: char| it.is_alphanumeric());
    digits.len() > 1
        || decimal('.')
        || decimal(',')
        || unit
        || WORDS.iter().any(|it| behind.starts_with(it))
}

/// A command that is to be replaced by its output: `` !`…` `` at the start of a line or behind a
/// blank, and a block opened with `!`.
fn command(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let Some((span, _)) = commands(cx).into_iter().next() else { return };
    let silent = cx.those(|it, _| {
        !matches!(
            Agent::from_profile_id(&it.id),
            Some(Agent::ClaudeCode | Agent::OpenCode | Agent::AgentSkills)
        )
    });
    if silent.is_empty() {
        return;
    }
    let who = act(&silent, "shows", "show");
    let message = format!("{who} the command and not its output");
    out.push(found("body/command-not-run", span, message).about(&silent));
}

/// Commands that Claude Code does not run, because what stands before their `!` is no blank.
fn glued(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    for code in &cx.body().codes {
        let Some(before) = cx.text[..code.start].strip_suffix("!`") else { continue };
        // Behind a word it ends a sentence.
        if before.ends_with(['=', ':', '(', '[', '"', '\'']) {
            let span = Span::new(code.start - 2, code.end + 1);
            let message = "Claude Code does not run this command: there is no blank before its `!`";
            out.push(found("body/command-not-run", span, message));
        }
    }
}

/// Returns the commands in the body that an agent runs by itself: where each is shown, and where it
/// is written.
pub(crate) fn commands(cx: &Cx<'_>) -> Vec<(Span, Span)> {
    let body = cx.body();
    let mut commands = Vec::new();
    for code in &body.codes {
        let before = &cx.text[..code.start];
        let Some(before) = before.strip_suffix("!`") else { continue };
        if before.is_empty() || before.ends_with(char::is_whitespace) {
            commands.push((Span::new(code.start - 2, code.end + 1), *code));
        }
    }
    for fence in body.fences.iter().filter(|it| it.info.slice(cx.text) == "!") {
        commands.push((fence.open, fence.content));
    }
    commands.sort_by_key(|(span, _)| *span);
    commands
}
