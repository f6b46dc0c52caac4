//! `skillsd explain`: why a skill is there, or why not: the verdict, the steps, what to do.

pub(super) mod tree;

mod missing;

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::Args;
use skills_protocol::method::SkillsExplain;
use skills_protocol::wire::{ExplainParams, ExplainResult, State};

use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::link::Link;
use crate::list::by_profile;
use crate::place::{Place, SessionFlag, Target};
use crate::style::{self, mark, paint};
use crate::terminal::Terminal;
use crate::text::{pad, plain, width, wrap};
use skills_client::ClientError;

/// Arguments of `skillsd explain`.
#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// Name of a skill, a SKILL.md or a skill's directory [default: every search root]
    #[arg(value_name = "NAME|PATH")]
    target: Option<OsString>,
    #[command(flatten)]
    session: SessionFlag,
}

pub(super) fn run(cx: &CommandContext<'_>, args: &ExplainArgs) -> Result<Exit, CommandError> {
    let place = Place::of(cx.global, None)?.seen_by(&args.session);
    let mut link = Link::open(cx)?;
    if place.wants_several_profiles() {
        return run_all(cx, args, &mut link, &place);
    }
    let params = params(&place, args);
    if cx.global.json {
        let text = link.call_text::<SkillsExplain>(&params)?;
        cx.terminal.print(&format!("{text}\n"))?;
        return exit_of_text(text.get(), args);
    }
    let result = link.call::<SkillsExplain>(&params)?;
    cx.terminal.print(&render(&result, args.target.is_some(), cx.terminal))?;
    cx.terminal.print_health(&result.health);
    Ok(exit_of(result.verdict.state, args))
}

// One line for each profile; which of them sees the skill is the question asked.
fn run_all(
    cx: &CommandContext<'_>,
    args: &ExplainArgs,
    link: &mut Link,
    place: &Place,
) -> Result<Exit, CommandError> {
    let mut results = Vec::new();
    let mut exit = Exit::Fine;
    let mut texts = Vec::new();
    for profile in place.several(&link.server()?.capabilities.profiles) {
        let params = params(&place.with_profile(&profile), args);
        let text = link.call_text::<SkillsExplain>(&params)?;
        let result = parsed(text.get())?;
        if exit_of(result.verdict.state, args) == Exit::Findings {
            exit = Exit::Findings;
        }
        results.push(result);
        texts.push((profile, text));
    }
    if cx.global.json {
        cx.terminal.print(&by_profile(&texts))?;
    } else {
        cx.terminal.print(&render_profiles(&results, cx.terminal))?;
    }
    Ok(exit)
}

fn params(place: &Place, args: &ExplainArgs) -> ExplainParams {
    let mut params = ExplainParams::default();
    match args.target.as_deref().map(|target| place.target(target)) {
        Some(Target::Path(path)) => params.path = place.fill(&mut params, Some(&path)),
        Some(Target::Name(name)) => {
            place.fill(&mut params, None);
            params.name = Some(name);
        }
        None => {
            place.fill(&mut params, None);
        }
    }
    params
}

fn parsed(text: &str) -> Result<ExplainResult, ClientError> {
    serde_json::from_str(text)
        .map_err(|source| ClientError::Form { method: "skills/explain", source })
}

fn exit_of_text(text: &str, args: &ExplainArgs) -> Result<Exit, CommandError> {
    Ok(exit_of(parsed(text)?.verdict.state, args))
}

fn exit_of(state: Option<State>, args: &ExplainArgs) -> Exit {
    // Without a target there is no skill that could be missing.
    let fine = args.target.is_none() || state.is_some_and(State::is_listed);
    if fine { Exit::Fine } else { Exit::Findings }
}

/// Returns the verdict, the tree of steps, and what to do.
pub(super) fn render(result: &ExplainResult, has_target: bool, terminal: &Terminal) -> String {
    let mut text = String::new();
    let lines = wrap(
        &terminal.prose(&result.verdict.summary),
        terminal.width.map(|width| width - width.min(2)),
    );
    for (nth, line) in lines.iter().enumerate() {
        let lead = match (has_target, nth) {
            (false, _) => String::new(),
            (true, 0) => format!("{} ", mark(result.verdict.state)),
            (true, _) => "  ".to_owned(),
        };
        let _ = writeln!(text, "{lead}{}", paint(style::HEADING, line));
    }
    let _ = writeln!(
        text,
        "\n{}",
        paint(style::FAINT, format!("as {} finds skills", plain(&result.profile)))
    );
    text.push_str(&tree::render(&result.steps, terminal));
    push_next(result, terminal, &mut text);
    text
}

fn render_profiles(results: &[ExplainResult], terminal: &Terminal) -> String {
    let profiles: Vec<String> = results.iter().map(|result| plain(&result.profile)).collect();
    let columns = profiles.iter().map(|profile| width(profile)).max().unwrap_or(0);
    let mut text = String::new();
    for (result, profile) in results.iter().zip(&profiles) {
        let mark = mark(result.verdict.state);
        let room = terminal.width.map(|width| width.saturating_sub(columns + 4));
        let lines = wrap(&terminal.prose(&result.verdict.summary), room);
        let _ =
            writeln!(text, "{mark} {}  {}", paint(style::NAME, pad(profile, columns)), lines[0]);
        for line in &lines[1..] {
            let _ = writeln!(text, "  {}  {line}", pad("", columns));
        }
        // Where the skill is there, there is nothing to do.
        let next = result.verdict.next.as_deref();
        let next = next.filter(|_| !result.verdict.state.is_some_and(State::is_listed));
        let lines =
            next.map_or_else(Vec::new, |it| wrap(&format!("→ {}", terminal.prose(it)), room));
        for line in &lines {
            let _ = writeln!(text, "  {}  {}", pad("", columns), paint(style::FAINT, line));
        }
    }
    let _ = writeln!(text, "\nEvery step of one of them: `--profile NAME`");
    text
}

fn push_next(result: &ExplainResult, terminal: &Terminal, text: &mut String) {
    let mut next: Vec<String> = Vec::new();
    let steps = result.steps.iter().filter_map(|step| step.next.as_deref());
    for advice in
        result.verdict.next.as_deref().into_iter().chain(steps).map(|advice| terminal.prose(advice))
    {
        if !next.contains(&advice) {
            next.push(advice);
        }
    }
    if next.is_empty() {
        return;
    }
    text.push('\n');
    for advice in next {
        let lines = wrap(&advice, terminal.width.map(|width| width.saturating_sub(6)));
        let _ = writeln!(text, "{} {}", paint(style::HINT, "Next:"), lines[0]);
        for line in &lines[1..] {
            let _ = writeln!(text, "      {line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use skills_protocol::wire::{Outcome, Step, StepKind, Verdict};

    use super::*;
    use crate::sample::{terminal, uncolored};

    fn explained(profile: &str, state: Option<State>, summary: &str) -> ExplainResult {
        let advice = "Quote the description.".to_owned();
        let step = Step {
            root: Some("/home/ann/shop/.agents/skills".into()),
            found: Some(1),
            next: Some(advice.clone()),
            ..Step::new(StepKind::Root, Outcome::Searched)
        };
        ExplainResult {
            clock: "c".into(),
            health: Vec::new(),
            name: Some("api-changes".into()),
            path: None,
            path_encoding: None,
            profile: profile.into(),
            verdict: Verdict { state, summary: summary.into(), next: Some(advice) },
            steps: vec![step],
        }
    }

    #[test]
    fn the_verdict_comes_first_and_what_to_do_last_and_once() {
        let result = explained(
            "codex",
            Some(State::Invalid),
            "`api-changes` is invalid: line 3 is not YAML",
        );
        let text = uncolored(&render(&result, true, &terminal(Some(40))));
        expect![[r#"
            ✗ `api-changes` is invalid: line 3 is
              not YAML

            as codex finds skills
            └─ ~/shop/.agents/skills  1 skill

            Next: Quote the description.
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn profiles_stand_side_by_side() {
        let results = [
            explained("agentskills", Some(State::Active), "`api-changes` is listed, repaired"),
            explained(
                "opencode-agent-skills",
                Some(State::Invalid),
                "it is dropped: line 3 is not YAML",
            ),
            explained("codex", None, "there is no skill `api-changes`"),
        ];
        let text = uncolored(&render_profiles(&results, &terminal(Some(52))));
        expect![[r#"
            ✓ agentskills            `api-changes` is listed,
                                     repaired
            ✗ opencode-agent-skills  it is dropped: line 3 is
                                     not YAML
                                     → Quote the description.
            ✗ codex                  there is no skill
                                     `api-changes`
                                     → Quote the description.

            Every step of one of them: `--profile NAME`
        "#]]
        .assert_eq(&text);
    }
}
