//! `name/*`: what a skill is called, and whether agents take it.

use skills_agents::field_table::{
    AUTHORING, Agent, CLAUDE_SKILLS, CODEX, Citation, NAME, OPENCODE, PLUGIN, SPECIFICATION,
};
use skills_agents::profile::{NameCheck, NameSource};
use skills_agents::scalar::YamlType;
use skills_agents::yaml_library::YamlLibrary;
use skills_syntax::diagnostic::Severity;
use skills_syntax::parse::{Closing, Entry, Value};
use skills_syntax::quote;
use skills_syntax::text::Span;

use super::audience::act;
use super::company::MOST_NAMED;
use super::rule::Rule;
use super::subject::Cx;
use super::{Finding, Offer, field, found};

const fn warning(
    id: &'static str,
    what: &'static str,
    why: &'static str,
    repair: &'static str,
    failing: &'static str,
) -> Rule {
    let rule = Rule::new(id, Severity::Warning, what, why, repair);
    rule.sources(SOURCES).texts(failing, WELL)
}

const SOURCES: &[&Citation] = &[&SPECIFICATION, &CLAUDE_SKILLS];

const WELL: &str = "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n";

pub(super) static RULES: [Rule; 9] = [
    warning(
        "name/missing",
        "The skill has no name.",
        "The standard requires one. Claude Code and Codex take the directory's name, the others drop the skill.",
        "Add `name:` with the name of the directory.",
        "---\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
    )
    .fixable()
    .whole_file()
    .sources(&[&SPECIFICATION, &OPENCODE, &PLUGIN]),
    warning(
        "name/type",
        "The name is not a text.",
        "`123`, `true` and a list are no strings in YAML, and an agent that wants one drops the skill.",
        "Put the name in quotes.",
        "---\nname: 123\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
    )
    .fixable()
    .sources(&[&OPENCODE, &PLUGIN]),
    warning(
        "name/charset",
        "The name holds other characters than `a-z`, `0-9` and `-`.",
        "The standard allows no others; a client may drop the skill or change the name, and nobody can type a blank behind a slash.",
        "Rename the skill to lower-case words with hyphens.",
        "---\nname: PDF Reader\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
    )
    .fixable()
    .sources(&[&SPECIFICATION, &PLUGIN]),
    warning(
        "name/hyphens",
        "The name begins or ends with a hyphen, or doubles one.",
        "The standard does not allow it.",
        "Keep single hyphens between words.",
        "---\nname: pdf--\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
    )
    .fixable(),
    warning(
        "name/length",
        "The name is longer than 64 characters.",
        "Codex drops the skill, and the standard does not allow it.",
        "Give the skill a shorter name.",
        "---\nname: a-name-that-goes-on-and-on-until-nobody-wants-to-read-it-any-more-at-all\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
    )
    .fixable()
    .sources(&[&SPECIFICATION, &CODEX]),
    warning(
        "name/directory",
        "The name differs from that of the directory.",
        "The standard wants them to be the same. Claude Code invokes the skill by its directory's name, the others by this one.",
        "Rename one of them.",
        "---\nname: pdf-reader\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
    )
    .choosable(),
    Rule::new(
        "name/reserved",
        Severity::Information,
        "The name holds a word that is reserved.",
        "Skills whose names hold `anthropic` or `claude` cannot be uploaded to Claude's apps and API.",
        "Name the skill after what it does.",
    )
    .agents(&[Agent::ClaudeCode])
    .sources(&[&AUTHORING])
    .texts(
        "//- /w/claude-pdf/SKILL.md\n---\nname: claude-pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
        WELL,
    ),
    Rule::new(
        "name/case",
        Severity::Warning,
        "Another skill has the same name in other letters, large or small.",
        "They are two skills on one disk and one on another, and a user cannot tell them apart.",
        "Rename one of them.",
    )
    .sources(&[&SPECIFICATION])
    .texts(
        "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead.\n//- /w/PDF/SKILL.md\n---\nname: PDF\ndescription: Writes PDF files. Use when asked to.\n---\nWrite.\n",
        "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead.\n//- /w/write-pdf/SKILL.md\n---\nname: write-pdf\ndescription: Writes PDF files. Use when asked to.\n---\nWrite.\n",
    ),
    Rule::new(
        "name/similar",
        Severity::Hint,
        "Another skill's name differs in one letter.",
        "Models and people mistake one for the other.",
        "Give the two names that can be told apart.",
    )
    .sources(&[&AUTHORING])
    .texts(
        "//- /w/review/SKILL.md\n---\nname: review\ndescription: Reviews code. Use when asked to.\n---\nRead.\n//- /w/reveiw/SKILL.md\n---\nname: reveiw\ndescription: Views again. Use when asked to.\n---\nLook.\n",
        "//- /w/review/SKILL.md\n---\nname: review\ndescription: Reviews code. Use when asked to.\n---\nRead.\n//- /w/commit/SKILL.md\n---\nname: commit\ndescription: Commits. Use when asked to.\n---\nCommit.\n",
    ),
];

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    // A frontmatter that agents do not see has one fault, and somebody may be typing it.
    let Some(frontmatter) = cx.delimited() else { return };
    if frontmatter.closing != Closing::Dashes || !cx.has_room_for_fields() {
        return;
    }
    let entry = cx.entry(NAME.key);
    let value = entry.map(|it| frontmatter.resolve(&it.value));
    match (entry, value) {
        (Some(entry), Some(value)) if !is_blank(value) => {
            let what = YamlType::of(value, YamlLibrary::JsYaml3);
            if what != YamlType::Text {
                out.push(not_text(cx, entry, what));
            }
            if let Some(name) = value.as_str() {
                written(cx, entry.value.span, name.trim(), out);
            }
        }
        (entry, _) => out.extend(missing(cx, entry)),
    }
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|it| it.trim().is_empty())
}

fn missing(cx: &Cx<'_>, entry: Option<&Entry>) -> Option<Finding> {
    // A misspelled key has a finding of its own, which says the same.
    let near = |it: &Entry| field::meant(&it.key.text).is_some_and(|it| it.key == NAME.key);
    if entry.is_none() && cx.frontmatter()?.entries.iter().any(near) {
        return None;
    }
    let dropped = cx.droppers(&["name/required"]);
    let what = if entry.is_some() { "`name` is empty" } else { "`name` is missing" };
    let directory = cx.directory;
    let (about, severity, message) = if dropped.is_empty() {
        let named = cx.those(|it, _| it.name.source != NameSource::Field);
        let told = match named.as_slice() {
            [] => what.to_owned(),
            them => format!("{what}; {} the directory's name", act(them, "uses", "use")),
        };
        (named, Severity::Hint, told)
    } else {
        let who = act(&dropped, "drops", "drop");
        let told = format!("{who} this skill: {what}");
        (dropped, Severity::Error, told)
    };
    let span = entry.map_or_else(|| cx.opening(), |it| it.key.span);
    let finding = found("name/missing", span, message).severity(severity).about(&about);
    if !is_standard(directory) {
        return Some(finding);
    }
    let title = format!("Name it `{directory}`");
    if let Some(entry) = entry {
        let span = Span::new(entry.key.span.start, cx.line(entry.key.span.end).end);
        return Some(finding.fix(title, span, format!("name: {directory}")));
    }
    let edits = cx.put_first(&format!("name: {directory}")).into_iter().collect();
    Some(finding.fix_all(title, edits))
}

fn not_text(cx: &Cx<'_>, entry: &Entry, what: YamlType) -> Finding {
    let dropped = cx.droppers(&["name/required"]);
    let message = format!("`name` is {}, not a text", what.name());
    let (severity, message) = match dropped.as_slice() {
        [] => (Severity::Warning, message),
        them => (Severity::Error, format!("{} this skill: {message}", act(them, "drops", "drop"))),
    };
    let span = entry.value.span;
    let finding = found("name/type", span, message).severity(severity).about(&dropped);
    match what {
        YamlType::List | YamlType::Map | YamlType::Alias => finding,
        _ => finding.fix("Quote the name", span, quote::double_quote_scalar(span.slice(cx.text))),
    }
}

/// Looks at a name that is there.
fn written(cx: &Cx<'_>, span: Span, name: &str, out: &mut Vec<Finding>) {
    let dropped = cx.droppers(&["name/form", "name/length"]);
    let standard = cx.those(|it, _| it.name.check == NameCheck::StandardWarn);
    let told = |message: &str| match (dropped.as_slice(), standard.as_slice()) {
        ([], []) => (Severity::Hint, message.to_owned()),
        ([], _) => (Severity::Warning, format!("{message}, which the standard does not allow")),
        (them, _) => {
            (Severity::Error, format!("{} this skill: {message}", act(them, "drops", "drop")))
        }
    };
    let mut push = |id, message: &str| {
        let (severity, message) = told(message);
        let finding = found(id, span, message).severity(severity).about(&dropped);
        let better = better(cx, name);
        out.push(match better {
            Some(name) => finding.fix(format!("Rename it to `{name}`"), span, name),
            None => finding,
        });
    };
    let length = name.chars().count();
    let is_bare = name.chars().all(|it| matches!(it, 'a'..='z' | '0'..='9' | '-'));
    if length > 64 {
        push("name/length", &format!("the name is {length} characters long, and 64 is the most"));
    } else if !is_bare {
        push("name/charset", &format!("`{name}` holds other characters than `a-z`, `0-9` and `-`"));
    } else if !is_standard(name) {
        push("name/hyphens", &format!("`{name}` begins or ends with a hyphen, or doubles one"));
    } else if !cx.directory.is_empty() && name != cx.directory {
        out.push(directory(cx, span, name));
    }
    if let Some(word) = ["anthropic", "claude"].into_iter().find(|it| name.contains(it))
        && cx.concerns(Agent::ClaudeCode)
    {
        out.push(found("name/reserved", span, format!("`{word}` is reserved in names of skills")));
    }
    neighbours(cx, span, name, out);
}

fn directory(cx: &Cx<'_>, span: Span, name: &str) -> Finding {
    let directory = cx.directory;
    let label = cx.those(|it, _| it.name.source == NameSource::Directory);
    let message = match label.as_slice() {
        [] => format!("the directory is called `{directory}`"),
        them => {
            let who = act(them, "calls", "call");
            format!("{who} the skill by its directory's name, `{directory}`")
        }
    };
    let finding = found("name/directory", span, message)
        .about(&label)
        .offer(Offer::RenameDirectory(name.to_owned()));
    if !is_standard(directory) {
        return finding;
    }
    finding.offer(Offer::RenameSkill(directory.to_owned()))
}

fn neighbours(cx: &Cx<'_>, span: Span, name: &str, out: &mut Vec<Finding>) {
    // Short names are alike by chance, and `v1` and `v2` are meant to be.
    const SHORT: usize = 5;
    let company = cx.company();
    let mut alike = |rule, is_alike: &dyn Fn(&str) -> bool| {
        let names = company.names().filter(|it| *it != name && is_alike(it));
        let mut others =
            names.flat_map(|it| company.named(it)).filter(|other| !cx.is_itself(other));
        for other in others.by_ref().take(MOST_NAMED) {
            let message = format!("another skill is called `{}`", other.name);
            out.push(found(rule, span, message).related(&other.path, "the other skill"));
        }
        let more = others.count();
        if more > 0 {
            let message = format!("{more} more skills are called much the same");
            out.push(found(rule, span, message));
        }
    };
    alike("name/case", &|it| it.eq_ignore_ascii_case(name));
    if name.len() >= SHORT {
        let is_slip = |it: &str| !it.eq_ignore_ascii_case(name) && differ_by_a_slip(name, it);
        alike("name/similar", &is_slip);
    }
}

/// Whether two names differ in one letter that nobody would put there to tell them apart.
fn differ_by_a_slip(one: &str, other: &str) -> bool {
    if one.len().abs_diff(other.len()) > 1 {
        return false;
    }
    let digits = |it: &str| it.bytes().filter(u8::is_ascii_digit).collect::<Vec<_>>();
    let hyphens = |it: &str| it.matches('-').count();
    // One letter at the edge of a word is a plural, `ui` and `ux` are two things.
    let first = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let last = one.bytes().rev().zip(other.bytes().rev()).take_while(|(a, b)| a == b).count();
    let swapped = one.len() == other.len() && first + last + 2 == one.len();
    // A letter in the place of another makes another word as often as not.
    let is_slip = one.len() != other.len()
        && (first + last).min(one.len().min(other.len())) == one.len().min(other.len())
        || (swapped
            && one.as_bytes()[first] == other.as_bytes()[first + 1]
            && one.as_bytes()[first + 1] == other.as_bytes()[first]);
    if !is_slip || !one.is_ascii() || !other.is_ascii() {
        return false;
    }
    let word = |it: &str| {
        let end = it[first..].find('-').map_or(it.len(), |at| first + at);
        end - it[..first].rfind('-').map_or(0, |at| at + 1)
    };
    digits(one) == digits(other)
        && hyphens(one) == hyphens(other)
        && (last > 0 || one.len() == other.len())
        && word(one).min(word(other)) >= 5
}

/// Returns the name that the standard would allow: the directory's, else this one in its form.
fn better(cx: &Cx<'_>, name: &str) -> Option<String> {
    if is_standard(cx.directory) && cx.directory.len() <= 64 {
        return Some(cx.directory.to_owned());
    }
    // Another name than that of the directory would be the next thing that is wrong.
    if !cx.directory.is_empty() {
        return None;
    }
    let mut better = String::new();
    for letter in name.chars() {
        match letter.to_ascii_lowercase() {
            it @ ('a'..='z' | '0'..='9') => better.push(it),
            _ if !better.ends_with('-') => better.push('-'),
            _ => {}
        }
    }
    let better = better.trim_matches('-');
    let fits = is_standard(better) && better.len() <= 64 && name.is_ascii();
    fits.then(|| better.to_owned())
}

/// Whether the standard allows a name, whatever its length.
fn is_standard(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|it| matches!(it, 'a'..='z' | '0'..='9' | '-'))
        && !(name.starts_with('-') || name.ends_with('-') || name.contains("--"))
}
