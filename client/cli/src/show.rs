//! `skillsd show`: a skill's entry, its frontmatter with line numbers, and its findings.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::Args;
use serde_json::Value;
use skills_protocol::method::{SkillsGet, SkillsUsage};
use skills_protocol::wire::{
    Contextual, Diagnostic, Entry, GetParams, GetResult, Include, SkillUsage, UsageParams,
};

use crate::call_context::CallContext;
use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::heading;
use crate::server_connection::ServerConnection;
use crate::style::{self, mark, paint};
use crate::terminal::Terminal;
use crate::text::{continued, pad, plain, width, wrap};

#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    /// Name of a skill, a SKILL.md or a skill's directory
    #[arg(value_name = "NAME|PATH")]
    target: OsString,
}

pub(super) fn run(cx: &CommandContext<'_>, args: &ShowArgs) -> Result<Exit, CommandError> {
    let context = CallContext::from_args(cx.global, None)?.single_profile()?;
    let mut params = GetParams::default();
    let target = context.target(&args.target);
    (params.name, params.path) = context.fill_target(&mut params, target);
    let mut server = ServerConnection::open_reading(cx)?;
    heading::print_choice(cx, &mut server, &context);
    let Some(result) = server.call_or_print::<SkillsGet>(cx, &params)? else {
        return Ok(Exit::Fine);
    };
    let mut of = UsageParams { include: vec![Include::All], ..UsageParams::default() };
    of.set_context(params.take_context());
    let usage = server.call::<SkillsUsage>(&of)?.skills;
    let usage = usage.into_iter().find(|it| it.path == result.skill.path);
    cx.terminal.print(&render(&result, usage.as_ref(), cx.terminal))?;
    cx.terminal.print_health(&result.health);
    Ok(Exit::Fine)
}

pub(super) fn render(
    result: &GetResult,
    usage: Option<&SkillUsage>,
    terminal: &Terminal,
) -> String {
    let skill = &result.skill;
    let mut text =
        format!("{} {}\n", mark(Some(skill.state)), paint(style::NAME, plain(&skill.name)));
    if let Some(description) = &skill.description {
        push_wrapped("  ", &plain(description), terminal, &mut text);
    }
    text.push('\n');
    push_facts(skill, usage, terminal, &mut text);
    push_frontmatter(result, terminal, &mut text);
    if !result.findings.is_empty() {
        let _ = writeln!(text, "\n{}", paint(style::HEADING, "Findings"));
        let file = terminal.path(&skill.path, skill.path_encoding);
        for diagnostic in &result.findings {
            push_diagnostic(diagnostic, &file, terminal, &mut text);
        }
    }
    text
}

fn push_facts(skill: &Entry, usage: Option<&SkillUsage>, terminal: &Terminal, text: &mut String) {
    let mut facts = vec![("state", paint(style::state_style(skill.state), skill.state))];
    facts.extend(skill.reason.as_deref().map(|reason| ("reason", terminal.prose(reason))));
    facts.push(("file", terminal.path(&skill.path, skill.path_encoding)));
    let root = terminal.path(&skill.root, skill.path_encoding);
    facts.push(("from", format!("{} · {root}", skill.scope)));
    if !skill.paths.is_empty() {
        let paths: Vec<String> = skill.paths.iter().map(|path| plain(path)).collect();
        facts.push(("paths", paths.join(", ")));
    }
    facts.extend(skill.label.as_deref().map(|label| ("label", plain(label))));
    facts.extend(skill.namespace.as_deref().map(|space| ("namespace", plain(space))));
    let invoked = match (skill.model_invocable, skill.user_invocable) {
        (true, true) => "the model and the user",
        (true, false) => "the model only",
        (false, true) => "the user only",
        (false, false) if skill.is_built_in() => "the agent, as a built-in skill",
        (false, false) => "no one",
    };
    facts.push(("invoked by", invoked.to_owned()));
    facts.push(("trusted", if skill.trusted { "yes" } else { "no" }.to_owned()));
    if let Some(SkillUsage { count, score, .. }) = usage {
        facts.push(("used", format!("{}, score {score:.1}", times(*count))));
    }
    if skill.stale {
        let stale = "the file is broken; this is its last valid version";
        facts.push(("stale", paint(style::WAITING, stale)));
    }
    for (name, value) in facts {
        let _ = writeln!(text, "  {}  {value}", paint(style::FAINT, pad(name, 10)));
    }
}

fn push_frontmatter(result: &GetResult, terminal: &Terminal, text: &mut String) {
    if result.frontmatter.is_empty() && result.ranges.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{}", paint(style::HEADING, "Frontmatter"));
    let ignored = result.ranges.keys().filter(|key| !result.frontmatter.contains_key(*key));
    let mut rows: Vec<(&str, String)> =
        result.frontmatter.iter().map(|(key, value)| (&**key, value_text(value))).collect();
    rows.extend(
        ignored.map(|key| (&**key, "ignored: the agent does not know the value".to_owned())),
    );
    let keys: Vec<String> = rows.iter().map(|(key, _)| plain(key)).collect();
    let columns = keys.iter().map(|key| width(key)).max().unwrap_or(0).min(24);
    for ((key, value), shown) in rows.iter().zip(keys) {
        let line = result.ranges.get(*key).map(|ranges| ranges.key.start.line.to_string());
        let line = format!("{:>4}", line.unwrap_or_default());
        let (line, key) = (paint(style::FAINT, line), pad(&shown, columns));
        let value = continued(value, columns + 8, terminal.width);
        let _ = writeln!(text, "{line}  {key}  {value}");
    }
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => plain(text),
        other => plain(&other.to_string()),
    }
}

fn push_diagnostic(diagnostic: &Diagnostic, file: &str, terminal: &Terminal, text: &mut String) {
    let severity = style::severity_word(diagnostic.severity);
    let severity = paint(style::severity_style(diagnostic.severity), severity);
    let code = paint(style::FAINT, format!("[{}]", plain(&diagnostic.code)));
    let _ = writeln!(text, "  {severity}{code} {}", terminal.prose(&diagnostic.message));
    let place =
        diagnostic.range.map(|range| format!(":{}:{}", range.start.line, range.start.column));
    let _ = writeln!(text, "    {file}{}", place.unwrap_or_default());
    if let Some(help) = &diagnostic.help {
        push_wrapped("    ", &format!("help: {}", terminal.prose(help)), terminal, text);
    }
}

fn push_wrapped(indent: &str, line: &str, terminal: &Terminal, text: &mut String) {
    for line in wrap(line, terminal.width.map(|width| width.saturating_sub(indent.len()))) {
        let _ = writeln!(text, "{indent}{line}");
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;
    use skills_protocol::wire::{FieldRanges, Severity};

    use super::*;
    use crate::tests::sample::{range, skill, terminal, uncolored};

    #[test]
    fn skill_is_rendered_with_frontmatter_lines_and_findings() {
        let mut entry =
            skill("release-notes", "Writes release notes from the commits since the last tag.");
        entry.paths = vec!["CHANGELOG.md".into(), "docs/**".into()];
        entry.user_invocable = false;
        let frontmatter = json!({
            "name": "release-notes",
            "description": "Writes release notes from the commits\nsince the last tag.",
            "allowed-tools": ["Bash(git log:*)", "Read"],
            "metadata": {"version": 2},
        });
        let keys = ["name", "description", "allowed-tools", "metadata"];
        let ranges = keys.into_iter().zip(2..).map(|(key, line)| {
            let ranges = FieldRanges { key: range(line, 1, 4), value: range(line, 7, 9) };
            (key.to_owned(), ranges)
        });
        let result = GetResult {
            clock: "c".into(),
            health: Vec::new(),
            skill: entry,
            frontmatter: frontmatter.as_object().expect("an object").clone(),
            ranges: ranges.collect(),
            findings: vec![
                Diagnostic {
                    code: "metadata-value-not-text".into(),
                    severity: Severity::Warning,
                    message: "`version` in `metadata` is a number".into(),
                    help: Some("Quote it: `version: \"2\"`.".into()),
                    range: Some(range(5, 13, 1)),
                },
                Diagnostic {
                    code: "no-body".into(),
                    severity: Severity::Info,
                    message: "there is nothing after the frontmatter".into(),
                    help: None,
                    range: None,
                },
            ],
        };
        let usage = SkillUsage {
            name: result.skill.name.clone(),
            path: result.skill.path.clone(),
            path_encoding: None,
            count: 3,
            used: 0,
            score: 1.5,
        };
        let text = uncolored(&render(&result, Some(&usage), &terminal(Some(60))));
        expect![[r#"
            ✓ release-notes
              Writes release notes from the commits since the last tag.

              state       active
              file        ~/shop/.agents/skills/release-notes/SKILL.md
              from        project · ~/shop/.agents/skills
              paths       CHANGELOG.md, docs/**
              invoked by  the model only
              trusted     yes
              used        3 times, score 1.5

            Frontmatter
               2  name           release-notes
               3  description    Writes release notes from the commits
                                 since the last tag.
               4  allowed-tools  ["Bash(git log:*)","Read"]
               5  metadata       {"version":2}

            Findings
              warning[metadata-value-not-text] `version` in `metadata` is a number
                ~/shop/.agents/skills/release-notes/SKILL.md:5:13
                help: Quote it: `version: "2"`.
              info[no-body] there is nothing after the frontmatter
                ~/shop/.agents/skills/release-notes/SKILL.md
        "#]]
        .assert_eq(&text);
    }
}
