//! `yaml/*`: whether agents see a frontmatter at all, and read in it what is written.
//!
//! The parser finds what is wrong; here it is said who minds. A finding that makes some agent
//! drop the file is an error, one that all repair a warning.

mod encoding;
mod mend;

use skills_agents::field_table::{
    Agent, CLAUDE_CHANGES, CODEX, CORPUS, GEMINI, OPENCODE, PLUGIN, SPECIFICATION, YAML, fields,
};
use skills_agents::loaders::LoadVerdict;
use skills_agents::profile::Profile;
use skills_syntax::diagnostic::{Diagnostic, Severity};
use skills_syntax::parse::{Closing, Entry, Frontmatter, Opening, ScalarStyle, ValueKind};
use skills_syntax::quote;
use skills_syntax::text::Span;

use super::audience::{act, names};
use super::rule::Rule;
use super::subject::Cx;
use super::{Finding, find};

const READERS: &[&skills_agents::field_table::Citation] =
    &[&YAML, &OPENCODE, &CODEX, &GEMINI, &PLUGIN, &CORPUS];

const fn error(
    id: &'static str,
    what: &'static str,
    why: &'static str,
    repair: &'static str,
    failing: &'static str,
    passing: &'static str,
) -> Rule {
    Rule::new(id, Severity::Error, what, why, repair).sources(READERS).texts(failing, passing)
}

const WELL: &str = "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n";
const DROPPED: &str = "A YAML library refuses the whole block. Some agents then drop the skill without a word, others guess what was meant.";

pub(super) static RULES: [Rule; 23] = [
    error(
        "yaml/no-frontmatter",
        "The file has no frontmatter.",
        "Without a name and a description most agents do not take the file for a skill.",
        "Start the file with `---`, lines of `name:` and `description:`, and `---`.",
        "# PDF\n\nReads PDF files.\n",
        WELL,
    )
    .whole_file()
    .sources(&[&SPECIFICATION]),
    error(
        "yaml/unclosed-frontmatter",
        "The frontmatter is not closed by a line of `---`.",
        "Agents look for two such lines and find no fields otherwise.",
        "Add a line of `---` after the last key.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n\n# PDF\n\nRead the file.\n",
        WELL,
    )
    .fixable()
    .whole_file()
    .sources(&[&SPECIFICATION]),
    error(
        "yaml/missing-opening",
        "The fields have no line of `---` above them.",
        "Agents take the fields for the body then.",
        "Add a first line of `---`.",
        "name: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
        WELL,
    )
    .fixable()
    .whole_file()
    .sources(&[&SPECIFICATION]),
    error(
        "yaml/text-before-frontmatter",
        "Something stands before the opening line of `---`.",
        "Agents want it to be the first line, and most do not even skip a blank one.",
        "Make `---` the first line of the file.",
        "\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
        WELL,
    )
    .fixable()
    .whole_file()
    .sources(&[&SPECIFICATION, &GEMINI, &OPENCODE]),
    error(
        "yaml/odd-closing",
        "The frontmatter is closed by something else than `---`.",
        "`----`, `...` or an indented `---` end the frontmatter for some agents and not for others.",
        "Close it with a line that is exactly `---`.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n...\nRead the file.\n",
        WELL,
    )
    .fixable()
    .sources(&[&SPECIFICATION]),
    error(
        "yaml/syntax",
        "The frontmatter is not valid YAML.",
        DROPPED,
        "Correct the line, or put the value in quotes.",
        "---\nname: pdf\ndescription: \"Reads PDF files. Use when asked.\nlicense: MIT\n---\nRead the file.\n",
        WELL,
    ),
    error(
        "yaml/duplicate-key",
        "A key is there twice.",
        "JavaScript and Rust libraries refuse the block; Python's takes the last of the two.",
        "Keep one of them.",
        "---\nname: pdf\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
        WELL,
    )
    .fixable(),
    error(
        "yaml/tab-indentation",
        "A line is indented with a tab.",
        "YAML knows only spaces as indentation.",
        "Indent with spaces.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nmetadata:\n\tauthor: me\n---\nRead the file.\n",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nmetadata:\n  author: me\n---\nRead the file.\n",
    )
    .fixable(),
    error(
        "yaml/unquoted-colon",
        "A value without quotes holds `: `.",
        "It is the most frequent fault of all: YAML takes what stands before the colon for a key and refuses the block.",
        "Put the whole value in quotes.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when: asked about one.\n---\nRead the file.\n",
        "---\nname: pdf\ndescription: \"Reads PDF files. Use when: asked about one.\"\n---\nRead the file.\n",
    )
    .fixable(),
    Rule::new(
        "yaml/comment-cuts-value",
        Severity::Warning,
        "A ` #` ends a value that is meant to go on.",
        "What stands behind it is a comment: no agent sees it, and none says so.",
        "Put the whole value in quotes, or the comment on a line of its own.",
    )
    .fixable()
    .sources(READERS)
    .texts(
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about issue #12 or a file.\n---\nRead the file.\n",
        "---\nname: pdf\ndescription: \"Reads PDF files. Use when asked about issue #12 or a file.\"\n---\nRead the file.\n",
    ),
    error(
        "yaml/unquoted-start",
        "A value without quotes starts with a character that means something in YAML.",
        "`[`, `{`, `@`, `*`, `&`, `!`, `%` and the backtick start lists, maps, aliases, anchors, tags and directives, or are reserved.",
        "Put the whole value in quotes.",
        "---\nname: pdf\ndescription: \"Reads PDF files. Use when asked about one.\"\nargument-hint: [file] [page]\n---\nRead $ARGUMENTS.\n",
        "---\nname: pdf\ndescription: \"Reads PDF files. Use when asked about one.\"\nargument-hint: \"[file] [page]\"\n---\nRead $ARGUMENTS.\n",
    )
    .fixable(),
    Rule::new(
        "yaml/flow-value",
        Severity::Information,
        "A text in brackets is a list or a map to YAML.",
        "Claude Code shows a list in brackets as it is written since 2.1.47; older versions and other readers get a list where they want a text.",
        "Put the whole value in quotes.",
    )
    .fixable()
    .agents(&[Agent::ClaudeCode, Agent::VsCode])
    .sources(&[&CLAUDE_CHANGES, &CORPUS])
    .texts(
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nargument-hint: [file]\n---\nRead $ARGUMENTS.\n",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nargument-hint: \"[file]\"\n---\nRead $ARGUMENTS.\n",
    ),
    Rule::new(
        "yaml/ambiguous-scalar",
        Severity::Hint,
        "A value is a number, a date or a boolean to some readers and a text to others.",
        "`yes` and `on` are booleans in YAML 1.1 and texts in 1.2; `1_000`, `1:30` and dates differ from library to library, and `1.10` becomes 1.1.",
        "Put the value in quotes.",
    )
    .fixable()
    .sources(READERS)
    .texts(
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nmetadata:\n  version: 1.10\n---\nRead the file.\n",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nmetadata:\n  version: \"1.10\"\n---\nRead the file.\n",
    ),
    Rule::new(
        "yaml/alias",
        Severity::Warning,
        "The frontmatter uses an anchor and an alias.",
        "Agents with a simple reader see `*name` and not the value that it stands for.",
        "Write the value out.",
    )
    .sources(READERS)
    .texts(
        "---\nname: &n pdf\ndescription: Reads PDF files. Use when asked about one.\nlicense: *n\n---\nRead the file.\n",
        WELL,
    ),
    error(
        "yaml/recursive-alias",
        "An alias stands for a value that it is part of.",
        DROPPED,
        "Write the value out.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nmetadata: &m\n  self: *m\n---\nRead the file.\n",
        WELL,
    ),
    error(
        "yaml/unindented-continuation",
        "A value goes on in a line that is not indented.",
        DROPPED,
        "Indent every line of the value after its first.",
        "---\nname: pdf\ndescription: Reads PDF files.\nUse when asked about one.\n---\nRead the file.\n",
        WELL,
    )
    .fixable(),
    error(
        "yaml/control-character",
        "The frontmatter holds a character that YAML does not allow.",
        DROPPED,
        "Remove the character.",
        "---\nname: pdf\ndescription: Reads PDF\u{8} files. Use when asked about one.\n---\nRead the file.\n",
        WELL,
    )
    .fixable(),
    error(
        "yaml/not-a-mapping",
        "The frontmatter holds no `key: value` lines.",
        "Agents find no name and no description in it.",
        "Write lines of `name: …` and `description: …`.",
        "---\n- pdf\n---\nRead the file.\n",
        WELL,
    )
    .whole_file(),
    error(
        "yaml/too-deep",
        "Lists and maps are nested too deep, or aliases stand for very much.",
        "Readers have limits, and a frontmatter that reaches them is a mistake or an attack. Of aliases that stand for more than a megabyte none is followed here.",
        "Nest fewer lists and mappings, and write out what many aliases stand for.",
        concat!(
            "---\nname: pdf\ndescription: Reads PDF files. Use when asked.\nmetadata: ",
            "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
            "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",            "\n---\nRead the file.\n",
        ),
        WELL,
    ),
    error(
        "yaml/not-utf8",
        "The file is not UTF-8.",
        "Some agents drop a file whose bytes they cannot read, others show `\u{FFFD}` in their place.",
        "Save the file as UTF-8.",
        "---\nname: pdf\ndescription: Reads PDF files in a caf\u{FFFD}. Use when asked about one.\n---\nRead the file.\n",
        WELL,
    )
    .whole_file(),
    Rule::new(
        "yaml/byte-order-mark",
        Severity::Hint,
        "The file begins with a byte order mark.",
        "It is invisible, and agents that do not skip it find no `---` in the first line and drop the skill.",
        "Save the file as UTF-8 without a byte order mark.",
    )
    .fixable()
    .whole_file()
    .sources(&[&CODEX, &GEMINI, &PLUGIN])
    .texts("\u{FEFF}---\nname: pdf\ndescription: Reads PDF files. Use when asked.\n---\nRead the file.\n", WELL),
    Rule::new(
        "yaml/crlf",
        Severity::Hint,
        "The frontmatter has CRLF line ends.",
        "An agent that looks for `---` and a line feed finds no frontmatter and drops the skill.",
        "Save the file with LF line ends.",
    )
    .fixable()
    .whole_file()
    .agents(&[Agent::OpenCodeAgentSkills])
    .sources(&[&PLUGIN])
    .texts("---\r\nname: pdf\r\ndescription: Reads PDF files. Use when asked.\r\n---\r\nRead the file.\r\n", WELL),
    Rule::new(
        "yaml/lone-cr",
        Severity::Hint,
        "A line ends with a carriage return alone.",
        "YAML and editors take it for a line end. Codex, Gemini CLI and opencode look for a line of `---` and a line feed: where these lines end so, they find no frontmatter and drop the skill.",
        "Save the file with LF line ends.",
    )
    .fixable()
    .whole_file()
    .sources(&[&YAML, &OPENCODE, &CODEX, &GEMINI, &PLUGIN])
    .texts("---\rname: pdf\rdescription: Reads PDF files. Use when asked.\r---\rRead the file.\r", WELL),
];

/// What the ladder calls faults that lie in the YAML or its fences.
const FAULTS: [&str; 3] = ["yaml/valid", "frontmatter/required", "frontmatter/delimited"];

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let consequences = Consequences::new(cx, cx.droppers(&FAULTS));
    // A command may be a body and nothing else.
    let is_body = cx.is_command && cx.frontmatter().is_none();
    for diagnostic in cx.document.diagnostics.iter().filter(|_| !is_body) {
        let told = if diagnostic.code == "yaml/not-a-mapping" {
            // Where no field can be read, what agents miss is a field.
            let dropped = cx.those(|_, it| it.verdict == LoadVerdict::Dropped);
            Consequences::new(cx, dropped).finding(cx, diagnostic)
        } else {
            consequences.finding(cx, diagnostic)
        };
        out.extend(told);
    }
    encoding::check(cx, out);
    let Some(frontmatter) = cx.frontmatter() else { return };
    aliases(frontmatter, &consequences, out);
    sooner(cx, frontmatter, out);
    // What was read as text because YAML refused it has its finding.
    for entry in frontmatter.entries.iter().filter(|it| !it.recovered) {
        flow_value(cx, entry, out);
        ambiguous(cx, entry, out);
    }
}

/// Lines that end the frontmatter for some agents, before the one that ends it for all.
fn sooner(cx: &Cx<'_>, frontmatter: &Frontmatter, out: &mut Vec<Finding>) {
    if cx.record.portable || frontmatter.closing != Closing::Dashes {
        return;
    }
    let mut ends: Vec<(usize, Vec<&Profile>)> = Vec::new();
    for (profile, reading) in &cx.readings {
        let Ok(fenced) = profile.fence.find(cx.text) else { continue };
        let end = fenced.content.end;
        if end >= frontmatter.content.end || reading.verdict == LoadVerdict::Dropped {
            continue;
        }
        match ends.iter_mut().find(|(it, _)| *it == end) {
            Some((_, them)) => them.push(profile),
            None => ends.push((end, vec![profile])),
        }
    }
    for (end, them) in ends {
        let Some(rule) = find("yaml/odd-closing") else { return };
        let line = cx.line(end);
        let blanks = line.len() - line.slice(cx.text).trim_start().len();
        let span = Span::new(line.start + blanks, line.end);
        let who = act(&them, "ends", "end");
        let message = format!("{who} the frontmatter at this line; what follows is the body to it");
        let finding = Finding::new(rule, span, message).severity(Severity::Warning).about(&them);
        out.push(finding.help("Begin the line with something else than dashes."));
    }
}

/// What the active profiles do about the frontmatter.
struct Consequences<'a> {
    dropped: Vec<&'a Profile>,
    emptied: Vec<&'a Profile>,
    repaired: Vec<&'a Profile>,
}

impl<'a> Consequences<'a> {
    fn new(cx: &Cx<'a>, dropped: Vec<&'a Profile>) -> Self {
        Self {
            dropped,
            emptied: cx.those(|_, it| it.verdict == LoadVerdict::WithoutFields),
            repaired: cx.those(|_, it| matches!(it.verdict, LoadVerdict::Repaired(_))),
        }
    }

    /// Turns what the parser has found into a finding; nothing for what is no rule of its own.
    fn finding(&self, cx: &Cx<'_>, found: &Diagnostic) -> Option<Finding> {
        let rule = find(found.code)?;
        let message = match found.severity {
            Severity::Error => self.told(&found.message),
            Severity::Warning | Severity::Information | Severity::Hint => found.message.clone(),
        };
        let severity = match found.severity {
            Severity::Error if self.dropped.is_empty() && self.emptied.is_empty() => {
                Severity::Warning
            }
            other => other,
        };
        let mut finding = Finding::new(rule, found.span, message).severity(severity);
        if found.severity == Severity::Error {
            finding = finding.about(&self.concerned());
        }
        if let Some(help) = &found.help {
            finding = finding.help(help);
        }
        Some(mend::mend(cx, finding))
    }

    /// Returns the profiles that a sentence of [`Self::told`] speaks of.
    fn concerned(&self) -> Vec<&'a Profile> {
        let minds: Vec<_> = self.dropped.iter().chain(&self.emptied).copied().collect();
        if minds.is_empty() { self.repaired.clone() } else { minds }
    }

    fn told(&self, message: &str) -> String {
        let who = match (self.dropped.as_slice(), self.emptied.as_slice()) {
            ([], []) if self.repaired.is_empty() => return message.to_owned(),
            ([], []) => {
                let who = act(&self.repaired, "has", "have");
                return format!("{message}; {who} to guess what is meant");
            }
            ([], emptied) => act(emptied, "loads", "load") + " this skill without its fields",
            (dropped, []) => act(dropped, "drops", "drop") + " this skill",
            (dropped, emptied) => format!(
                "{} this skill and {} it without its fields",
                act(dropped, "drops", "drop"),
                act(emptied, "loads", "load")
            ),
        };
        format!("{who}: {message}")
    }
}

fn aliases(frontmatter: &Frontmatter, consequences: &Consequences<'_>, out: &mut Vec<Finding>) {
    let Some(rule) = find("yaml/alias") else { return };
    for alias in &frontmatter.aliases {
        let message = match consequences.dropped.as_slice() {
            [] => "an alias is not the value it stands for to every reader".to_owned(),
            them => format!("{} may see the alias in place of its value", names(them)),
        };
        out.push(Finding::new(rule, *alias, message).about(&consequences.dropped));
    }
}

fn flow_value(cx: &Cx<'_>, entry: &Entry, out: &mut Vec<Finding>) {
    let is_text = |it: &&&skills_agents::field_table::Field| {
        use skills_agents::field_table::Shape;
        it.key == entry.key.text && matches!(it.shape, Shape::Spelling)
    };
    let (Some(_), Some(rule)) = (fields().iter().find(is_text), find("yaml/flow-value")) else {
        return;
    };
    let what = match &entry.value.kind {
        ValueKind::Sequence { flow: true, .. } => "a list",
        ValueKind::Mapping { flow: true, .. } => "a map",
        _ => return,
    };
    let span = entry.value.span;
    let written = span.slice(cx.text);
    if written.contains(['\n', '\r']) {
        return;
    }
    let message = format!("`{written}` without quotes is {what} to YAML");
    let finding = Finding::new(rule, span, message);
    out.push(finding.fix("Quote the value", span, quote::quote_scalar(written)));
}

/// Looks at plain values that libraries read differently. Fields with a type of their own are for
/// the rules about fields.
fn ambiguous(cx: &Cx<'_>, entry: &Entry, out: &mut Vec<Finding>) {
    let typed = skills_agents::field_table::find(&entry.key.text).is_some_and(|it| {
        use skills_agents::field_table::Shape;
        matches!(it.shape, Shape::Switch | Shape::Choice { .. } | Shape::Hooks)
            || matches!(it.key, "name" | "description")
    });
    if typed {
        return;
    }
    let mut values = vec![&entry.value];
    while let Some(value) = values.pop() {
        match &value.kind {
            ValueKind::Scalar { style: ScalarStyle::Plain, text } => {
                if let (Some(what), Some(rule)) = (surprise(text), find("yaml/ambiguous-scalar")) {
                    let message =
                        format!("`{text}` is {what} to some readers and a text to others");
                    let finding = Finding::new(rule, value.span, message);
                    out.push(finding.fix(
                        "Quote the value",
                        value.span,
                        quote::double_quote_scalar(text),
                    ));
                }
            }
            ValueKind::Sequence { items, .. } => values.extend(items),
            ValueKind::Mapping { entries, .. } => values.extend(entries.iter().map(|it| &it.value)),
            ValueKind::Scalar { .. } | ValueKind::Null | ValueKind::Alias { .. } => {}
        }
    }
    let _ = cx;
}

/// Returns what else than a text a plain scalar is, to some library.
fn surprise(text: &str) -> Option<&'static str> {
    let digits = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    match text {
        "yes" | "Yes" | "YES" | "no" | "No" | "NO" | "on" | "On" | "ON" | "off" | "Off" | "OFF"
        | "y" | "Y" | "n" | "N" => return Some("a boolean"),
        _ => {}
    }
    let parts: Vec<&str> = text.split('-').collect();
    if let [year, month, day] = parts[..]
        && year.len() == 4
        && [year, month, day].into_iter().all(digits)
        && month.len() <= 2
        && day.len() <= 2
    {
        return Some("a date");
    }
    if let Some((whole, fraction)) = text.split_once('.')
        && digits(whole)
        && digits(fraction)
        && fraction.ends_with('0')
    {
        return Some("a number that loses its last digit");
    }
    if text.contains('_')
        && text.bytes().all(|it| it.is_ascii_digit() || it == b'_')
        && text.bytes().next().is_some_and(|it| it.is_ascii_digit())
    {
        return Some("a number");
    }
    if text.contains(':') && text.split(':').all(|it| digits(it) && it.len() <= 2) {
        return Some("a number in base 60");
    }
    (text.len() > 1 && text.starts_with('0') && digits(text)).then_some("a number in base 8")
}

/// Returns whether agents see the frontmatter where it is.
pub(super) fn is_delimited(frontmatter: &Frontmatter) -> bool {
    frontmatter.opening == Opening::FirstLine && frontmatter.closing != Closing::Missing
}
