//! Rules `yaml/*`: problems with the frontmatter's delimiters, YAML syntax and encoding.
//!
//! The parser reports the problems; this module adds their consequences. A problem that makes an
//! agent drop the file is an error. If all agents repair it, it is a warning.

mod encoding;
mod fix;

use skills_agents::field_table::{
    Agent, CLAUDE_CHANGES, CODEX, CORPUS, GEMINI, OPENCODE, PLUGIN, SPECIFICATION, YAML, fields,
};
use skills_agents::loaders::LoadVerdict;
use skills_agents::profile::Profile;
use skills_syntax::diagnostic::{Diagnostic, Severity};
use skills_syntax::parse::{Closing, Entry, Frontmatter, Opening, ScalarStyle, ValueKind};
use skills_syntax::quote;
use skills_syntax::text::Span;

use super::affected_agents::{names, with_verb};
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

const PASSING: &str = "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n";
const REJECTED: &str = "YAML parsers reject the whole frontmatter. Some agents then drop the skill silently; others guess the meaning.";

pub(super) static RULES: [Rule; 23] = [
    error(
        "yaml/no-frontmatter",
        "The file has no frontmatter.",
        "Most agents do not load a file without a name and a description as a skill.",
        "Start the file with `---`, then `name:` and `description:` lines, then `---`.",
        "# PDF\n\nReads PDF files.\n",
        PASSING,
    )
    .whole_file()
    .sources(&[&SPECIFICATION]),
    error(
        "yaml/unclosed-frontmatter",
        "The frontmatter has no closing `---` line.",
        "Agents read fields only between two `---` lines.",
        "Add a `---` line after the last key.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n\n# PDF\n\nRead the file.\n",
        PASSING,
    )
    .fixable()
    .whole_file()
    .sources(&[&SPECIFICATION]),
    error(
        "yaml/missing-opening",
        "The fields have no `---` line above them.",
        "Agents read the fields as part of the body.",
        "Add a `---` line above the fields.",
        "name: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
        PASSING,
    )
    .fixable()
    .whole_file()
    .sources(&[&SPECIFICATION]),
    error(
        "yaml/text-before-frontmatter",
        "There is text before the opening `---` line.",
        "Agents expect `---` on the first line. Most do not even skip a blank line.",
        "Make `---` the first line of the file.",
        "\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
        PASSING,
    )
    .fixable()
    .whole_file()
    .sources(&[&SPECIFICATION, &GEMINI, &OPENCODE]),
    error(
        "yaml/odd-closing",
        "The closing line of the frontmatter is not exactly `---`.",
        "`----`, `...` or an indented `---` end the frontmatter only for some agents.",
        "Close the frontmatter with a line that is exactly `---`.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n...\nRead the file.\n",
        PASSING,
    )
    .fixable()
    .sources(&[&SPECIFICATION]),
    error(
        "yaml/syntax",
        "The frontmatter is not valid YAML.",
        REJECTED,
        "Correct the line, or quote the value.",
        "---\nname: pdf\ndescription: \"Reads PDF files. Use when asked.\nlicense: MIT\n---\nRead the file.\n",
        PASSING,
    ),
    error(
        "yaml/duplicate-key",
        "A key occurs twice.",
        "JavaScript and Rust parsers reject the frontmatter; Python's parser uses the last value.",
        "Keep one of the two.",
        "---\nname: pdf\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
        PASSING,
    )
    .fixable(),
    error(
        "yaml/tab-indentation",
        "A line is indented with a tab.",
        "YAML allows only spaces as indentation.",
        "Indent with spaces.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nmetadata:\n\tauthor: me\n---\nRead the file.\n",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nmetadata:\n  author: me\n---\nRead the file.\n",
    )
    .fixable(),
    error(
        "yaml/unquoted-colon",
        "An unquoted value contains `: `.",
        "YAML reads the text before the colon as a key and rejects the frontmatter. This is the most frequent mistake.",
        "Quote the whole value.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when: asked about one.\n---\nRead the file.\n",
        "---\nname: pdf\ndescription: \"Reads PDF files. Use when: asked about one.\"\n---\nRead the file.\n",
    )
    .fixable(),
    Rule::new(
        "yaml/comment-cuts-value",
        Severity::Warning,
        "A ` #` cuts off the rest of a value.",
        "YAML reads the text after ` #` as a comment. No agent sees that text, and none reports it.",
        "Quote the whole value, or move the comment to its own line.",
    )
    .fixable()
    .sources(READERS)
    .texts(
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about issue #12 or a file.\n---\nRead the file.\n",
        "---\nname: pdf\ndescription: \"Reads PDF files. Use when asked about issue #12 or a file.\"\n---\nRead the file.\n",
    ),
    error(
        "yaml/unquoted-start",
        "An unquoted value starts with a special character of YAML.",
        "`[`, `{`, `@`, `*`, `&`, `!`, `%` and the backtick start lists, maps, aliases, anchors, tags and directives, or are reserved.",
        "Quote the whole value.",
        "---\nname: pdf\ndescription: \"Reads PDF files. Use when asked about one.\"\nargument-hint: [file] [page]\n---\nRead $ARGUMENTS.\n",
        "---\nname: pdf\ndescription: \"Reads PDF files. Use when asked about one.\"\nargument-hint: \"[file] [page]\"\n---\nRead $ARGUMENTS.\n",
    )
    .fixable(),
    Rule::new(
        "yaml/flow-value",
        Severity::Information,
        "An unquoted value in brackets is a list or a map in YAML.",
        "Since 2.1.47, Claude Code shows a list in brackets as written. Older versions and other agents get a list instead of a string.",
        "Quote the whole value.",
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
        "Some parsers read a value as a string, others as a number, date or boolean.",
        "`yes` and `on` are booleans in YAML 1.1 and strings in YAML 1.2. Parsers differ in `1_000`, `1:30` and dates, and `1.10` becomes 1.1.",
        "Quote the value.",
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
        "The frontmatter uses a YAML alias.",
        "Agents with a simple parser see `*name` instead of its value.",
        "Replace the alias with its value.",
    )
    .sources(READERS)
    .texts(
        "---\nname: &n pdf\ndescription: Reads PDF files. Use when asked about one.\nlicense: *n\n---\nRead the file.\n",
        PASSING,
    ),
    error(
        "yaml/recursive-alias",
        "An alias refers to a value that contains the alias.",
        REJECTED,
        "Replace the alias with its value.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nmetadata: &m\n  self: *m\n---\nRead the file.\n",
        PASSING,
    ),
    error(
        "yaml/unindented-continuation",
        "A continuation line of a value is not indented.",
        REJECTED,
        "Indent every line of the value after the first.",
        "---\nname: pdf\ndescription: Reads PDF files.\nUse when asked about one.\n---\nRead the file.\n",
        PASSING,
    )
    .fixable(),
    error(
        "yaml/control-character",
        "The frontmatter contains a character that YAML does not allow.",
        REJECTED,
        "Remove the character.",
        "---\nname: pdf\ndescription: Reads PDF\u{8} files. Use when asked about one.\n---\nRead the file.\n",
        PASSING,
    )
    .fixable(),
    error(
        "yaml/not-a-mapping",
        "The frontmatter has no `key: value` lines.",
        "Agents find no name and no description.",
        "Write `name: …` and `description: …` lines.",
        "---\n- pdf\n---\nRead the file.\n",
        PASSING,
    )
    .whole_file(),
    error(
        "yaml/too-deep",
        "Lists and maps are nested too deeply, or aliases expand to too much text.",
        "Parsers have limits; a frontmatter that reaches them is a mistake or an attack. skillsd follows no alias if aliases expand to more than a megabyte.",
        "Nest fewer lists and maps, and replace aliases with their values.",
        concat!(
            "---\nname: pdf\ndescription: Reads PDF files. Use when asked.\nmetadata: ",
            "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
            "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",            "\n---\nRead the file.\n",
        ),
        PASSING,
    ),
    error(
        "yaml/not-utf8",
        "The file is not valid UTF-8.",
        "Some agents drop the file; others show `\u{FFFD}` instead of the invalid bytes.",
        "Save the file as UTF-8.",
        "---\nname: pdf\ndescription: Reads PDF files in a caf\u{FFFD}. Use when asked about one.\n---\nRead the file.\n",
        PASSING,
    )
    .whole_file(),
    Rule::new(
        "yaml/byte-order-mark",
        Severity::Hint,
        "The file starts with a byte order mark.",
        "The mark is invisible. Agents that do not skip it find no `---` on the first line and drop the skill.",
        "Save the file as UTF-8 without a byte order mark.",
    )
    .fixable()
    .whole_file()
    .sources(&[&CODEX, &GEMINI, &PLUGIN])
    .texts("\u{FEFF}---\nname: pdf\ndescription: Reads PDF files. Use when asked.\n---\nRead the file.\n", PASSING),
    Rule::new(
        "yaml/crlf",
        Severity::Hint,
        "The frontmatter has CRLF line endings.",
        "An agent that looks for `---` and a line feed finds no frontmatter and drops the skill.",
        "Save the file with LF line endings.",
    )
    .fixable()
    .whole_file()
    .agents(&[Agent::OpenCodeAgentSkills])
    .sources(&[&PLUGIN])
    .texts("---\r\nname: pdf\r\ndescription: Reads PDF files. Use when asked.\r\n---\r\nRead the file.\r\n", PASSING),
    Rule::new(
        "yaml/lone-cr",
        Severity::Hint,
        "A line ends with a carriage return alone.",
        "YAML and editors accept it as a line ending. Codex, Gemini CLI and opencode need a line feed after `---`. Without it they find no frontmatter and drop the skill.",
        "Save the file with LF line endings.",
    )
    .fixable()
    .whole_file()
    .sources(&[&YAML, &OPENCODE, &CODEX, &GEMINI, &PLUGIN])
    .texts("---\rname: pdf\rdescription: Reads PDF files. Use when asked.\r---\rRead the file.\r", PASSING),
];

/// Load faults caused by invalid YAML or its delimiters.
const FAULTS: [&str; 3] = ["yaml/valid", "frontmatter/required", "frontmatter/delimited"];

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let consequences = Consequences::new(cx, cx.profiles_that_drop(&FAULTS));
    // A command needs no frontmatter.
    let is_body = cx.is_command && cx.frontmatter().is_none();
    for diagnostic in cx.document.diagnostics.iter().filter(|_| !is_body) {
        let told = if diagnostic.code == "yaml/not-a-mapping" {
            // If no field can be read, agents report a missing field.
            let dropped = cx.profiles_where(|_, it| it.verdict == LoadVerdict::Dropped);
            Consequences::new(cx, dropped).finding(cx, diagnostic)
        } else {
            consequences.finding(cx, diagnostic)
        };
        out.extend(told);
    }
    encoding::check(cx, out);
    let Some(frontmatter) = cx.frontmatter() else { return };
    check_aliases(frontmatter, &consequences, out);
    check_early_closing(cx, frontmatter, out);
    // The parser has reported values that are strings only because the YAML is invalid.
    for entry in frontmatter.entries.iter().filter(|it| !it.recovered) {
        check_flow_value(cx, entry, out);
        check_ambiguous(cx, entry, out);
    }
}

/// Reports lines that end the frontmatter for some agents before its closing line.
fn check_early_closing(cx: &Cx<'_>, frontmatter: &Frontmatter, out: &mut Vec<Finding>) {
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
        let who = with_verb(&them, "ends", "end");
        let reads = if them.len() == 1 { "reads" } else { "read" };
        let message =
            format!("{who} the frontmatter at this line and {reads} the rest as the body");
        let finding = Finding::new(rule, span, message).severity(Severity::Warning).about(&them);
        out.push(finding.help("Start the line with a character other than a dash."));
    }
}

/// Consequences of invalid YAML: the active profiles that drop the file, load it without fields or
/// repair it.
struct Consequences<'a> {
    dropped: Vec<&'a Profile>,
    emptied: Vec<&'a Profile>,
    repaired: Vec<&'a Profile>,
}

impl<'a> Consequences<'a> {
    fn new(cx: &Cx<'a>, dropped: Vec<&'a Profile>) -> Self {
        Self {
            dropped,
            emptied: cx.profiles_where(|_, it| it.verdict == LoadVerdict::WithoutFields),
            repaired: cx.profiles_where(|_, it| matches!(it.verdict, LoadVerdict::Repaired(_))),
        }
    }

    /// Converts a parser diagnostic to a finding; returns `None` if no rule has its code.
    fn finding(&self, cx: &Cx<'_>, found: &Diagnostic) -> Option<Finding> {
        let rule = find(found.code)?;
        let message = match found.severity {
            Severity::Error => self.with_consequences(&found.message),
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
            finding = finding.about(&self.affected());
        }
        if let Some(help) = &found.help {
            finding = finding.help(help);
        }
        Some(fix::add_fix(cx, finding))
    }

    /// Returns the profiles named by [`Self::with_consequences`].
    fn affected(&self) -> Vec<&'a Profile> {
        let minds: Vec<_> = self.dropped.iter().chain(&self.emptied).copied().collect();
        if minds.is_empty() { self.repaired.clone() } else { minds }
    }

    fn with_consequences(&self, message: &str) -> String {
        let who = match (self.dropped.as_slice(), self.emptied.as_slice()) {
            ([], []) if self.repaired.is_empty() => return message.to_owned(),
            ([], []) => {
                let who = with_verb(&self.repaired, "guesses", "guess");
                return format!("{message}; {who} the meaning");
            }
            ([], emptied) => with_verb(emptied, "loads", "load") + " this skill without its fields",
            (dropped, []) => with_verb(dropped, "drops", "drop") + " this skill",
            (dropped, emptied) => format!(
                "{} this skill and {} it without its fields",
                with_verb(dropped, "drops", "drop"),
                with_verb(emptied, "loads", "load")
            ),
        };
        format!("{who}: {message}")
    }
}

fn check_aliases(
    frontmatter: &Frontmatter,
    consequences: &Consequences<'_>,
    out: &mut Vec<Finding>,
) {
    let Some(rule) = find("yaml/alias") else { return };
    for alias in &frontmatter.aliases {
        let message = match consequences.dropped.as_slice() {
            [] => "some agents see the alias instead of its value".to_owned(),
            them => format!("{} may see the alias instead of its value", names(them)),
        };
        out.push(Finding::new(rule, *alias, message).about(&consequences.dropped));
    }
}

fn check_flow_value(cx: &Cx<'_>, entry: &Entry, out: &mut Vec<Finding>) {
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
    let message = format!("`{written}` without quotes is {what} in YAML");
    let finding = Finding::new(rule, span, message);
    out.push(finding.fix("Quote the value", span, quote::quote_scalar(written)));
}

/// Reports plain values that parsers read differently. The `field` rules check fields with a type
/// of their own.
fn check_ambiguous(cx: &Cx<'_>, entry: &Entry, out: &mut Vec<Finding>) {
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
                if let (Some(what), Some(rule)) = (other_type(text), find("yaml/ambiguous-scalar"))
                {
                    let message =
                        format!("some parsers read `{text}` as {what}, others as a string");
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

/// Returns the other type that some parsers read in a plain scalar.
fn other_type(text: &str) -> Option<&'static str> {
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

/// Returns whether agents recognise the frontmatter.
pub(super) fn is_delimited(frontmatter: &Frontmatter) -> bool {
    frontmatter.opening == Opening::FirstLine && frontmatter.closing != Closing::Missing
}
