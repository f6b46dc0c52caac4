//! `description/*`: all that a model sees of a skill before it decides.

use skills_agents::field_table::{
    AUTHORING, Agent, CLAUDE_SKILLS, CODEX, DESCRIPTION, GEMINI, NAME, OPENCODE, PLUGIN,
    SPECIFICATION, WHEN_TO_USE,
};
use skills_agents::profile::DescriptionRule;
use skills_agents::scalar::YamlType;
use skills_agents::yaml_library::YamlLibrary;
use skills_syntax::diagnostic::Severity;
use skills_syntax::edit::Edit;
use skills_syntax::parse::{Closing, Entry, Frontmatter, ScalarStyle, Value, ValueKind};
use skills_syntax::quote;
use skills_syntax::text::Span;

use super::audience::act;
use super::rule::Rule;
use super::subject::Cx;
use super::{Finding, Fix, Offer, found};

const WELL: &str = "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n";

pub(super) static RULES: [Rule; 9] = [
    Rule::new(
        "description/missing",
        Severity::Warning,
        "The skill has no description.",
        "It is all that a model sees before it chooses a skill. Most agents drop a skill without one.",
        "Add a `description:` that says what the skill does and when to use it.",
    )
    .choosable()
    .whole_file()
    .sources(&[&SPECIFICATION, &CODEX, &GEMINI, &OPENCODE])
    .texts("---\nname: pdf\n---\nRead the file.\n", WELL),
    Rule::new(
        "description/empty",
        Severity::Warning,
        "The description is empty.",
        "An empty description is a missing one to most agents.",
        "Say what the skill does and when to use it.",
    )
    .sources(&[&SPECIFICATION, &CODEX])
    .texts("---\nname: pdf\ndescription: \"\"\n---\nRead the file.\n", WELL),
    Rule::new(
        "description/type",
        Severity::Warning,
        "The description is not a text.",
        "A number, a boolean, a list or a map is no string in YAML, and an agent that wants one drops the skill.",
        "Put the description in quotes.",
    )
    .fixable()
    .sources(&[&OPENCODE, &PLUGIN])
    .texts("---\nname: pdf\ndescription: 42\n---\nRead the file.\n", WELL),
    Rule::new(
        "description/length",
        Severity::Warning,
        "The description is longer than 1,024 characters.",
        "The standard allows no more, and Codex shows its model 1,021 of them and `...`.",
        "Move what a model need not know before it chooses into the body.",
    )
    .sources(&[&SPECIFICATION, &CODEX])
    .texts(LONG, WELL),
    Rule::new(
        "description/listing",
        Severity::Warning,
        "Description and `when_to_use` are cut in Claude Code's list.",
        "The list shows 1,536 characters of both together; what stands behind never reaches the model.",
        "Say the words first that a user would say, and shorten the rest.",
    )
    .agents(&[Agent::ClaudeCode])
    .sources(&[&CLAUDE_SKILLS])
    .texts(LISTED, WELL),
    Rule::new(
        "description/markup",
        Severity::Information,
        "The description holds a tag in angle brackets.",
        "Agents list descriptions inside tags of their own without escaping them, and Claude's apps refuse to upload such a skill.",
        "Write it without angle brackets.",
    )
    .sources(&[&AUTHORING, &OPENCODE])
    .texts(
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about a <file>report</file>.\n---\nRead the file.\n",
        WELL,
    ),
    Rule::new(
        "description/when",
        Severity::Hint,
        "The description does not say when to use the skill.",
        "A model chooses by it: what the skill does alone leaves it to guess.",
        "Add a sentence such as `Use when …`.",
    )
    .sources(&[&AUTHORING])
    .texts("---\nname: pdf\ndescription: PDF reader.\n---\nRead the file.\n", WELL),
    Rule::new(
        "description/unwritten",
        Severity::Warning,
        "The description is still to be written.",
        "A model that reads `[TODO: …]` in its list does not choose the skill; the scripts that come with Codex and Gemini CLI for making skills refuse to pack one.",
        "Say what the skill does and when to use it.",
    )
    .sources(&[&CODEX, &GEMINI])
    .texts(
        "---\nname: pdf\ndescription: \"[TODO: what it does and when to use it]\"\n---\nRead the file.\n",
        WELL,
    ),
    Rule::new(
        "description/person",
        Severity::Hint,
        "The description speaks in the first person.",
        "It is put into a system prompt, where `I` is the model itself.",
        "Write in the third person: `Reads …`, not `I read …`.",
    )
    .sources(&[&AUTHORING])
    .texts(
        "---\nname: pdf\ndescription: I can read PDF files. Use when asked about one.\n---\nRead the file.\n",
        WELL,
    ),
];

const LONG: &str = concat!(
    "---\nname: pdf\ndescription: Use when asked. ",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "012345678901234567890123456789\n---\nRead the file.\n"
);

const LISTED: &str = concat!(
    "---\nname: pdf\ndescription: Use when asked. ",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "\nwhen_to_use: ",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "\n---\nRead the file.\n"
);

const MAX: usize = 1024;
const MAX_LISTED: usize = 1536;

/// What a description says that is not written yet.
const DRAFT: &str = "What it does. Use it when …";

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let Some(frontmatter) = cx.delimited() else { return };
    if frontmatter.closing != Closing::Dashes || !cx.has_room_for_fields() {
        return;
    }
    let Some(entry) = cx.entry(DESCRIPTION.key) else {
        // A command has its first line.
        if cx.is_command {
            return;
        }
        let finding = missing(cx, "description/missing", cx.opening(), "`description` is missing");
        out.push(finding.offer(Offer::Draft(draft(cx, frontmatter))));
        return;
    };
    let value = frontmatter.resolve(&entry.value);
    let what = YamlType::of(value, YamlLibrary::JsYaml3);
    match value.as_str() {
        _ if what == YamlType::Null => {
            out.push(missing(cx, "description/empty", entry.key.span, "`description` is empty"));
        }
        Some(text) if text.trim().is_empty() => {
            out.push(missing(cx, "description/empty", entry.value.span, "`description` is empty"));
        }
        text => {
            if what != YamlType::Text {
                out.push(not_text(cx, entry, what));
            }
            if let Some(text) = text {
                length(cx, &entry.value, text, out);
                wording(cx, &entry.value, text, out);
            }
        }
    }
}

/// Returns the edit that puts a description behind the name, for its author to write.
fn draft(cx: &Cx<'_>, frontmatter: &Frontmatter) -> Fix {
    let line = format!("description: {DRAFT}");
    let edits = match frontmatter.get(NAME.key).filter(|_| !cx.is_in_braces()) {
        Some(name) => {
            let span = Span::empty(cx.lines_of(name).end);
            vec![Edit { span, text: format!("{line}{}", cx.line_break()) }]
        }
        None => cx.put_first(&line).into_iter().collect(),
    };
    Fix { title: "Add a description".to_owned(), edits }
}

fn missing(cx: &Cx<'_>, id: &'static str, span: Span, what: &str) -> Finding {
    let dropped = cx.droppers(&["description/required", "description/text"]);
    let unlisted = cx.those(|_, it| it.unlisted.is_some());
    let guessed = cx.those(|it, _| {
        matches!(
            it.description,
            DescriptionRule::ElseFirstBodyLine | DescriptionRule::ElseFirstHeading
        )
    });
    let told = (dropped.as_slice(), unlisted.as_slice(), guessed.as_slice());
    let (about, severity, message) = match told {
        ([], [], []) => (&[][..], Severity::Warning, what.to_owned()),
        ([], [], guessed) => {
            let who = act(guessed, "takes", "take");
            (guessed, Severity::Warning, format!("{what}; {who} the first line of the body"))
        }
        ([], hidden, _) => {
            let who = act(hidden, "does not list", "do not list");
            (hidden, Severity::Warning, format!("{who} this skill: {what}"))
        }
        (dropped, _, _) => {
            let who = act(dropped, "drops", "drop");
            (dropped, Severity::Error, format!("{who} this skill: {what}"))
        }
    };
    found(id, span, message).severity(severity).about(about)
}

fn not_text(cx: &Cx<'_>, entry: &Entry, what: YamlType) -> Finding {
    let dropped = cx.droppers(&["description/required", "description/text"]);
    let message = format!("`description` is {}, not a text", what.name());
    let (severity, message) = match dropped.as_slice() {
        [] => (Severity::Warning, message),
        them => (Severity::Error, format!("{} this skill: {message}", act(them, "drops", "drop"))),
    };
    let span = entry.value.span;
    let finding = found("description/type", span, message).severity(severity).about(&dropped);
    match what {
        YamlType::List | YamlType::Map | YamlType::Alias => finding,
        _ => finding.fix(
            "Quote the description",
            span,
            quote::double_quote_scalar(span.slice(cx.text)),
        ),
    }
}

fn length(cx: &Cx<'_>, value: &Value, text: &str, out: &mut Vec<Finding>) {
    let length = text.trim().chars().count();
    if length > MAX {
        let cut = cx.those(|it, _| &*it.id == "codex");
        let who = match cut.as_slice() {
            [] => String::new(),
            them => format!("; {} 1,021 of them", act(them, "shows", "show")),
        };
        let message =
            format!("the description has {length} characters, the standard allows 1,024{who}");
        out.push(found("description/length", beyond(cx, value, text, MAX), message));
    }
    if !cx.concerns(Agent::ClaudeCode) {
        return;
    }
    let more = cx.fields.and_then(|it| it.text(&WHEN_TO_USE)).unwrap_or_default();
    let more_length = more.trim().chars().count();
    if length + more_length > MAX_LISTED {
        let (value, text, from) = match cx.entry(WHEN_TO_USE.key) {
            Some(entry) if length <= MAX_LISTED => (&entry.value, &*more, MAX_LISTED - length),
            _ => (value, text, MAX_LISTED),
        };
        let total = length + more_length;
        let message = format!("Claude Code's list shows 1,536 of these {total} characters");
        out.push(found("description/listing", beyond(cx, value, text, from), message));
    }
}

/// Returns what of a value lies behind so many characters; the whole of it where its text is not
/// its source.
fn beyond(cx: &Cx<'_>, value: &Value, text: &str, count: usize) -> Span {
    let quotes = match value.kind {
        ValueKind::Scalar { style: ScalarStyle::Plain, .. } => 0,
        ValueKind::Scalar {
            style: ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted, ..
        } => 1,
        _ => return cx.line(value.span.start).within(value.span),
    };
    let inner = Span::new(value.span.start + quotes, value.span.end.saturating_sub(quotes));
    if inner.slice(cx.text) != text {
        return cx.line(value.span.start).within(value.span);
    }
    let at = text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
    Span::new(inner.start + at, inner.end)
}

fn wording(cx: &Cx<'_>, value: &Value, text: &str, out: &mut Vec<Finding>) {
    let begins = text.trim_start();
    if text.contains("[TODO:") || begins.starts_with("[TODO") || begins.starts_with("TODO:") {
        let span = cx.line(value.span.start).within(value.span);
        out.push(found("description/unwritten", span, "the description is still to be written"));
        return;
    }
    if let Some((start, end)) = tag(text) {
        let span = place(cx, value, &text[start..end]);
        let message = format!("`{}` is markup to whoever lists it", &text[start..end]);
        out.push(found("description/markup", span, message));
    }
    let letters = text.chars().filter(|it| it.is_alphabetic()).count();
    let latin = text.chars().filter(char::is_ascii_alphabetic).count();
    // The words are those of languages in Latin letters.
    if latin * 10 < letters * 9 {
        return;
    }
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|it: char| !it.is_alphanumeric() && it != '\'')
        .filter(|it| !it.is_empty())
        .collect();
    // A command is chosen by a user, who reads it in a menu.
    let says_when = |it: &&str| WHEN.contains(it) || WHEN_ELSEWHERE.contains(it);
    if !cx.is_command && !words.iter().any(says_when) {
        let span = cx.line(value.span.start).within(value.span);
        out.push(found(
            "description/when",
            span,
            "the description does not say when to use the skill",
        ));
    }
    if let Some(word) = first_person(text) {
        let span = place(cx, value, word);
        out.push(found(
            "description/person",
            span,
            format!("`{word}` is the model itself in a prompt"),
        ));
    }
}

/// Words of those who say when, for whom or for what.
const WHEN: [&str; 40] = [
    "when",
    "whenever",
    "use",
    "used",
    "using",
    "uses",
    "if",
    "for",
    "before",
    "after",
    "during",
    "while",
    "trigger",
    "triggers",
    "triggered",
    "invoke",
    "invoked",
    "asks",
    "asked",
    "ask",
    "mentions",
    "mention",
    "needs",
    "need",
    "wants",
    "want",
    "request",
    "requests",
    "requested",
    "activate",
    "activates",
    "applies",
    "apply",
    "load",
    "helps",
    "help",
    "required",
    "auto",
    "always",
    "where",
];

/// The same in languages other than English that are written with few other letters, as far as they
/// are no English words.
const WHEN_ELSEWHERE: [&str; 43] = [
    "wenn",
    "sobald",
    "verwende",
    "verwenden",
    "verwendet",
    "nutze",
    "nutzen",
    "einsetzen",
    "quand",
    "lorsque",
    "lorsqu'on",
    "lorsqu'il",
    "utilise",
    "utiliser",
    "utilisez",
    "utilisé",
    "utilisée",
    "cuando",
    "usar",
    "usa",
    "utilice",
    "utilizar",
    "quando",
    "usare",
    "utilizza",
    "utilizzare",
    "wanneer",
    "gebruik",
    "gebruiken",
    "gebruikt",
    "gdy",
    "kiedy",
    "użyj",
    "używaj",
    "när",
    "använd",
    "når",
    "brug",
    "bruk",
    "käytä",
    "kun",
    "kullan",
    "kullanın",
];

/// Returns `I can`, `I read` and their like at the start of a sentence.
fn first_person(text: &str) -> Option<&str> {
    const STARTS: [&str; 10] = [
        "I can", "I will", "I help", "I am", "I'm", "I'll", "We can", "We will", "We help",
        "My job",
    ];
    let known = |rest: &str| {
        let is_whole = |it: &&str| {
            rest.strip_prefix(*it).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        };
        STARTS.into_iter().find(is_whole).map(str::len)
    };
    let trimmed = text.trim_start();
    let mut sentences = std::iter::once(trimmed)
        .chain(text.match_indices(". ").map(|(at, _)| text[at + 2..].trim_start()));
    sentences.find_map(|rest| Some(&rest[..known(rest).or_else(|| acting(rest))?]))
}

/// Returns how long `I read` and its like are at the start of a sentence.
fn acting(sentence: &str) -> Option<usize> {
    let rest = ["I ", "We "].into_iter().find_map(|it| sentence.strip_prefix(it))?;
    let length = rest.bytes().take_while(u8::is_ascii_lowercase).count();
    // These are words of users, which descriptions quote.
    let is_users = matches!(&rest[..length], "want" | "need");
    let is_word = length > 1 && !rest[length..].starts_with(char::is_alphanumeric);
    (is_word && !is_users).then_some(sentence.len() - rest.len() + length)
}

/// Returns the first tag: `<name>`, `</name>` or `<name attribute="…">`.
fn tag(text: &str) -> Option<(usize, usize)> {
    text.match_indices('<').find_map(|(start, _)| {
        let rest = &text[start + 1..];
        let name = rest.strip_prefix('/').unwrap_or(rest);
        let end = rest.find(['>', '<', '\n'])?;
        let fits =
            name.starts_with(|it: char| it.is_ascii_alphabetic()) && rest[end..].starts_with('>');
        fits.then_some((start, start + 1 + end + 1))
    })
}

/// Returns where a part of a value is written; the value's first line when it is not as it is.
fn place(cx: &Cx<'_>, value: &Value, part: &str) -> Span {
    let written = value.span.slice(cx.text);
    match written.find(part) {
        Some(at) => Span::new(value.span.start + at, value.span.start + at + part.len()),
        None => cx.line(value.span.start).within(value.span),
    }
}
