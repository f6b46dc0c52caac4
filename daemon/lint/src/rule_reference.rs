//! Markdown reference of all rules, and the section of one rule.

use std::fmt::Write;

use skills_syntax::diagnostic::Severity;

use super::rule::Rule;
use super::table::rules;

const HEAD: &str = "\
# Rules

This page lists the findings of `skillsd check` and the language server in a `SKILL.md`.
It is generated from the rule table; `cargo tidy` updates it.

The active profiles are those of the key `check.profiles`, else that of the agent that runs the command, else those of the agents that are present; `check` and the language server have the same.
The severity of a finding depends on them:

- **error**: an agent drops the skill or ignores the field.
- **warning**: the file works differently than written.
- **info** and **hint**: worth knowing. The configuration calls the first one `information`.

The table shows the usual severity of each rule; a finding can be more or less severe.
For example, a YAML mistake is a warning if every active agent still reads the file.

`skillsd check --fix` applies a fix if it is the only possible one.
Editors also offer alternatives, fixes that change more than the text, such as a new file, and a comment that suppresses the finding.

A comment suppresses a finding.
In the frontmatter, write `# skillsd-ignore: rule` at the end of a line or on the line above a key.
In the body, write `<!-- skillsd-ignore rule -->` on the same line or the line above.
One comment can name several rules; `family/*` names a whole family.

";

pub fn page() -> String {
    let mut page = HEAD.to_owned();
    let rules = rules();
    page.push_str("| Rule | Severity | Fix | Problem |\n|---|---|---|---|\n");
    for rule in rules {
        let fix = match (rule.fixable, rule.choosable) {
            (true, _) => "yes",
            (false, true) => "to choose",
            (false, false) => "",
        };
        let severity = severity(rule.severity);
        put(
            &mut page,
            format_args!(
                "| [`{}`](#{}) | {severity} | {fix} | {} |\n",
                rule.id,
                rule.anchor(),
                rule.problem.replace('|', "\\|")
            ),
        );
    }
    let mut family = "";
    for rule in rules {
        if rule.family() != family {
            family = rule.family();
            put(&mut page, format_args!("\n## {family}\n"));
        }
        put(&mut page, format_args!("\n### {}\n\n{}", rule.id, section(rule)));
    }
    page
}

/// Returns the documentation of one rule, without a heading.
pub fn section(rule: &Rule) -> String {
    let mut page = format!("{}\n", rule.problem);
    for sentence in sentences(rule.consequence) {
        put(&mut page, format_args!("{sentence}\n"));
    }
    let agents: Vec<&str> = rule.agents.iter().map(|it| it.name()).collect();
    let about = if agents.is_empty() { "all".to_owned() } else { agents.join(", ") };
    let fix = match (rule.fixable, rule.choosable) {
        (true, _) => " skillsd offers a fix if only one is possible.",
        (false, true) => " Editors offer alternatives to choose from.",
        (false, false) => "",
    };
    put(&mut page, format_args!("\n- Severity: {}\n- Agents: {about}\n", severity(rule.severity)));
    put(&mut page, format_args!("- Remedy: {}{fix}\n- Since: {}\n", rule.remedy, rule.since));
    for source in rule.sources {
        let title = source.title;
        match source.address {
            "" => put(&mut page, format_args!("- Source: {title}, {}\n", source.version)),
            address => {
                put(
                    &mut page,
                    format_args!("- Source: [{title}]({address}), {}\n", source.version),
                );
            }
        }
    }
    for (label, text) in [("Problem", rule.failing), ("Fixed", rule.passing)] {
        match described(text) {
            Some(description) => put(&mut page, format_args!("\n{label}: {description}.\n")),
            None => {
                put(&mut page, format_args!("\n{label}:\n\n````text\n{}````\n", example(text)));
            }
        }
    }
    page
}

/// Returns an example for display: long lines are cut, invisible characters are spelled out, and
/// each of several files has a line with its path above. An example that cannot be shown is
/// described.
pub fn example(text: &str) -> String {
    if let Some(description) = described(text) {
        return format!("{description}.\n");
    }
    let mut example = String::new();
    for line in text.lines() {
        if let Some(file) = line.strip_prefix("//- ") {
            let before = if example.is_empty() { "" } else { "\n" };
            put(&mut example, format_args!("{before}{}\n", file_line(file)));
            continue;
        }
        let shown: String = line.chars().take(100).map(visible).collect();
        let more = if line.chars().count() > 100 { "…" } else { "" };
        put(&mut example, format_args!("{shown}{more}\n"));
    }
    example
}

/// Returns the line above a file of an example: its path from the top of the worktree, and its kind
/// if it is no plain file.
fn file_line(file: &str) -> String {
    let (path, kind) = match file.split_once(' ') {
        Some((path, "+x")) => (path, " (executable)"),
        Some((path, "fifo")) => (path, " (a named pipe)"),
        Some((path, "budget")) => (path, " (and 60 more skills)"),
        _ => (file, ""),
    };
    let path = path.strip_prefix("/w/").unwrap_or(path);
    let path = path.replace(" <- /w/", " -> ").replace(" -> /w/", " -> ");
    format!("{path}{kind}:")
}

/// Returns the description that a row has instead of an example.
fn described(text: &str) -> Option<&str> {
    text.strip_prefix('(')?.strip_suffix(')')
}

fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    let _ = page.write_fmt(text);
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information => "info",
        Severity::Hint => "hint",
    }
}

fn sentences(text: &str) -> Vec<String> {
    let mut sentences: Vec<String> = text.split(". ").map(|it| format!("{it}.")).collect();
    if let Some(last) = sentences.last_mut() {
        last.pop();
    }
    sentences
}

fn visible(letter: char) -> String {
    let hidden = letter.is_control() || matches!(letter, '\u{200B}' | '\u{FEFF}');
    match letter {
        '\t' => "→".to_owned(),
        it if hidden => format!("\\u{{{:x}}}", u32::from(it)),
        it => it.to_string(),
    }
}
