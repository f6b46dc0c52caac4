//! The reference of all rules, as Markdown, and what of it is said of one.

use std::fmt::Write;

use skills_syntax::diagnostic::Severity;

use super::Rule;

const HEAD: &str = "\
# Rules

What `skillsd check` and the language server find in a `SKILL.md`.
This page is made from the table of rules; `cargo tidy` writes it again.

How grave a finding is follows from what the agents of the active profiles do with the file: an **error** makes one of them drop the skill or the field, a **warning** works otherwise than it is written, **information** and **hints** are worth knowing.
The severity below is the usual one, and each finding has its own: graver where an active agent drops the skill or the field for it, milder where none of them does.
So most faults of YAML are warnings where every active agent reads the file all the same, however it does so.

A fix that is the one right answer is made by `skillsd check --fix`; where there are several, or one that is more than an edit of the text, an editor offers them to choose from.

A comment suppresses a finding: `# skillsd-ignore: rule` in the frontmatter, at the end of a line or on the line above a key, and `<!-- skillsd-ignore rule -->` in the body, for its line or for the next one.
Several rules stand behind each other, and `family/*` is a family.

";

/// Returns the page.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    let rules = super::rules();
    page.push_str("| Rule | | Fix | What it finds |\n|---|---|---|---|\n");
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
                rule.what.replace('|', "\\|")
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

/// Returns what there is to say about one rule, without a heading.
pub fn section(rule: &Rule) -> String {
    let mut page = format!("{}\n", rule.what);
    for sentence in sentences(rule.why) {
        put(&mut page, format_args!("{sentence}\n"));
    }
    let agents: Vec<&str> = rule.agents.iter().map(|it| it.name()).collect();
    let about = if agents.is_empty() { "all".to_owned() } else { agents.join(", ") };
    let fix = match (rule.fixable, rule.choosable) {
        (true, _) => " A fix is offered where there is one right answer.",
        (false, true) => " An editor offers what can be done, to choose from.",
        (false, false) => "",
    };
    put(&mut page, format_args!("\n- Severity: {}\n- Agents: {about}\n", severity(rule.severity)));
    put(&mut page, format_args!("- What to do: {}{fix}\n- Since: {}\n", rule.repair, rule.since));
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
    for (label, text) in [("Found in", rule.failing), ("Not in", rule.passing)] {
        match described(text) {
            Some(description) => put(&mut page, format_args!("\n{label}: {description}.\n")),
            None => {
                put(&mut page, format_args!("\n{label}:\n\n````text\n{}````\n", example(text)));
            }
        }
    }
    page
}

/// Returns a text of a rule as it is shown: what is very long in it is cut, what cannot be seen is
/// spelled out, and one that cannot be shown is described.
pub fn example(text: &str) -> String {
    if let Some(description) = described(text) {
        return format!("{description}.\n");
    }
    let mut example = String::new();
    for line in text.lines() {
        let shown: String = line.chars().take(100).map(visible).collect();
        let more = if line.chars().count() > 100 { "…" } else { "" };
        put(&mut example, format_args!("{shown}{more}\n"));
    }
    example
}

/// Returns the description that stands in a row in the place of a text.
fn described(text: &str) -> Option<&str> {
    text.strip_prefix('(')?.strip_suffix(')')
}

fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a text does not fail.
    let _ = page.write_fmt(text);
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information => "information",
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
