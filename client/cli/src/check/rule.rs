//! Rule description for `check --explain`.

use std::fmt::Write as _;

use skills_protocol::wire::RuleDescription;

use crate::style::{self, paint};
use crate::terminal::Terminal;
use crate::text::{hang, pad, plain, plain_exact};

/// Width of the labels in columns.
const LABEL_WIDTH: usize = 10;

pub(super) fn render(rules: &[RuleDescription], terminal: &Terminal) -> String {
    let rules: Vec<String> = rules.iter().map(|it| one(it, terminal)).collect();
    rules.join("\n")
}

fn one(rule: &RuleDescription, terminal: &Terminal) -> String {
    let word = paint(style::severity_style(rule.severity), style::severity_word(rule.severity));
    let code = paint(style::FAINT, format!("[{}]", plain(&rule.rule)));
    let mut text = format!("{word}{code}\n\n");
    for paragraph in [&rule.what, &rule.why] {
        let _ = writeln!(text, "{}", hang("  ", &terminal.prose(paragraph), terminal.width));
    }
    text.push('\n');
    let agents = if rule.agents.is_empty() { "all".to_owned() } else { rule.agents.join(", ") };
    let mut facts = vec![("remedy", terminal.prose(&rule.repair))];
    let fixes = [
        (rule.fixable, "`skillsd check --fix` applies it if there is exactly one right result"),
        (rule.choosable, "an editor offers a choice of fixes"),
    ];
    let fixes = fixes.into_iter().filter(|it| it.0);
    facts.extend(fixes.map(|(_, how)| ("fix", how.to_owned())));
    facts.push(("agents", plain(&agents)));
    let suppressed = format!(
        "`# skillsd-ignore: {0}` in the frontmatter, `<!-- skillsd-ignore {0} -->` in the body",
        plain(&rule.rule)
    );
    facts.push(("suppressed", format!("by {suppressed}")));
    facts.push(("since", plain(&rule.since)));
    facts.extend(rule.href.as_deref().map(|it| ("page", plain(it))));
    for (name, value) in facts {
        let lead = format!("  {}  ", paint(style::FAINT, pad(name, LABEL_WIDTH)));
        let _ = writeln!(text, "{}", hang(&lead, &value, terminal.width));
    }
    for source in &rule.sources {
        let lead = format!("  {}  ", paint(style::FAINT, pad("source", LABEL_WIDTH)));
        let title = format!("{}, {}", plain(&source.title), plain(&source.version));
        let _ = writeln!(text, "{}", hang(&lead, &title, terminal.width));
        if let Some(address) = &source.address {
            // Not wrapped, so that it can be opened or copied.
            let _ = writeln!(text, "  {}  {}", pad("", LABEL_WIDTH), plain(address));
        }
    }
    for (label, example) in [("Problem", &rule.failing), ("Fixed", &rule.passing)] {
        let _ = writeln!(text, "\n{}\n", paint(style::HEADING, label));
        for line in example.lines() {
            let _ = writeln!(text, "{}", format!("    {}", plain_exact(line)).trim_end());
        }
    }
    text
}
