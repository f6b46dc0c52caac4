//! `skillsd search`: skills that match a query, best first.

use std::fmt::Write as _;
use std::path::Path;

use clap::Args;
use skills_protocol::method::{SkillsExplain, SkillsSearch};
use skills_protocol::wire::{DetectResult, ExplainParams, SearchParams, SearchResult};
use skills_syntax::quote::skill_command;

use crate::call_context::CallContext;
use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::heading;
use crate::server_connection::ServerConnection;
use crate::style::{self, mark, paint};
use crate::terminal::Terminal;
use crate::text::{cut, fold, pad, plain, width, wrap};

#[derive(Debug, Clone, Args)]
pub struct SearchArgs {
    /// Words to search for
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Print at most N skills
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
}

pub(super) fn run(cx: &CommandContext<'_>, args: &SearchArgs) -> Result<Exit, CommandError> {
    let context = CallContext::from_args(cx.global, None)?.single_profile()?;
    let (query, limit) = (args.query.join(" "), Some(args.limit));
    let params = SearchParams { query, limit, ..context.params() };
    let mut server = ServerConnection::open_reading(cx)?;
    let Some(result) = server.call_or_print::<SkillsSearch>(cx, &params)? else {
        return Ok(Exit::Fine);
    };
    let detected = heading::detect(&mut server, &context)?;
    let mut text = render(&params.query, &result, &detected, &context.cwd, cx.terminal);
    if result.skills.is_empty() {
        let name = Some(params.query.clone());
        let explained = server.call::<SkillsExplain>(&ExplainParams { name, ..context.params() });
        // A skill of this name exists, but the agent does not show it.
        if let Ok(explained) = explained
            && explained.path.is_some()
        {
            let profile = context.profile.as_ref().map(|it| format!("--profile {it}"));
            let command =
                skill_command("explain", &params.query, profile.as_deref().unwrap_or_default());
            let summary = plain(explained.verdict.summary.trim_end_matches('.'));
            let _ = writeln!(text, "note: {summary}; see `{command}`");
        }
    }
    cx.terminal.print(&fold(&text, cx.terminal.width))?;
    cx.terminal.print_health(&result.health);
    Ok(Exit::Fine)
}

fn render(
    query: &str,
    result: &SearchResult,
    detected: &DetectResult,
    cwd: &Path,
    terminal: &Terminal,
) -> String {
    let n_matches = result.skills.len() as u64;
    let counted = if n_matches == 1 { "1 match".into() } else { format!("{n_matches} matches") };
    let mut text = heading::render_one(detected, Some(counted), terminal) + "\n";
    if result.skills.is_empty() {
        let _ = writeln!(
            text,
            "No skill matches `{}`\n\nhint: use other words, or list all skills with `skillsd list`",
            plain(query)
        );
        return text;
    }
    let names = result.skills.iter().map(|it| width(&plain(&it.skill.name)));
    let columns = names.max().unwrap_or(0).min(32);
    for hit in &result.skills {
        let skill = &hit.skill;
        let (name, path) =
            (plain(&skill.name), terminal.path_from(cwd, &skill.dir, skill.path_encoding));
        let taken = width(&path) + 4 + columns.max(width(&name));
        let is_below = terminal.width.is_some_and(|it| taken > it);
        let name = paint(style::NAME, pad(&name, if is_below { 0 } else { columns }));
        let gap = if is_below { "\n" } else { "" };
        let path = paint(style::FAINT, path);
        let _ = writeln!(text, "{} {name}{gap}  {path}", mark(Some(skill.state)));
        let description = plain(skill.description.as_deref().unwrap_or("(no description)"));
        let room = terminal.width.map(|width| width.saturating_sub(2));
        let lines = wrap(&description, room);
        // The first line is wrapped and the rest cut: the first sentences tell most.
        let _ = writeln!(text, "  {}", lines[0]);
        let rest = lines[1..].join(" ");
        if !rest.is_empty() {
            let _ = writeln!(text, "  {}", room.map_or(rest.clone(), |room| cut(&rest, room)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use skills_protocol::wire::SearchHit;

    use super::*;
    use crate::tests::sample::{detected, skill, terminal, uncolored};

    fn result(skills: Vec<SearchHit>) -> SearchResult {
        SearchResult { clock: "c".into(), health: Vec::new(), skills }
    }

    #[test]
    fn matches_are_rendered_best_first_with_cut_descriptions() {
        let hit = |name: &str, description: &str| SearchHit {
            skill: skill(name, description),
            score: 0.5,
            matched: vec!["name".into()],
        };
        let long = "Writes release notes from the commits since the last tag, one section for \
                    each kind of change, and leaves out what no user would notice. Use it before \
                    a release, and after one to correct what was forgotten.";
        let result = result(vec![hit("release-notes", long), hit("commit", "Writes messages.")]);
        let text = uncolored(&render(
            "notes",
            &result,
            &detected(),
            Path::new("/home/ann/shop"),
            &terminal(Some(72)),
        ));
        expect![[r#"
            as Claude Code · 2 matches · detected: CLAUDECODE is set

            ✓ release-notes  .agents/skills/release-notes
              Writes release notes from the commits since the last tag, one section
              for each kind of change, and leaves out what no user would notice. Us…
            ✓ commit         .agents/skills/commit
              Writes messages.
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn no_match_prints_a_hint() {
        let text = uncolored(&render(
            "zebra",
            &result(Vec::new()),
            &detected(),
            Path::new("/home/ann/shop"),
            &terminal(None),
        ));
        expect![[r#"
            as Claude Code · 0 matches · detected: CLAUDECODE is set

            No skill matches `zebra`

            hint: use other words, or list all skills with `skillsd list`
        "#]]
        .assert_eq(&text);
    }
}
