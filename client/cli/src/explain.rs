//! `skillsd explain`: explains why an agent sees a skill or not: verdict, steps, and advice.

pub(super) mod tree;

mod missing;

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::Args;
use skills_client::error::parse;
use skills_protocol::method::SkillsExplain;
use skills_protocol::wire::{
    DetectResult, ExplainParams, ExplainResult, Outcome, State, Step, StepKind,
};

use crate::call_context::{CallContext, SessionFlag};
use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::heading;
use crate::server_connection::ServerConnection;
use crate::style::{self, mark, paint};
use crate::terminal::Terminal;
use crate::text::{fold, hang, pad, plain, width, wrap};

#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// Name of a skill, a SKILL.md or a skill's directory [default: every search root]
    #[arg(value_name = "NAME|PATH")]
    target: Option<OsString>,
    /// List the directories that do not exist
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    session: SessionFlag,
}

pub(super) fn run(cx: &CommandContext<'_>, args: &ExplainArgs) -> Result<Exit, CommandError> {
    let mut context = CallContext::from_args(cx.global, None)?.with_session(&args.session);
    // Printed commands run in the shell's directory, so only its paths are shortened.
    if cx.global.cwd.is_none() {
        cx.terminal.show_from(&context.cwd);
    }
    let mut server = ServerConnection::open_reading(cx)?;
    heading::drop_missing_session(cx, &mut server, &mut context);
    if context.wants_several_profiles() {
        let profiles = heading::selected(&mut server, &context)?;
        return run_all(cx, args, &mut server, &context, profiles, None);
    }
    let params = params(&context, args);
    if cx.global.json {
        let text = server.call_text::<SkillsExplain>(&params)?;
        cx.terminal.print(&format!("{text}\n"))?;
        let result = parse::<SkillsExplain>(&text)?;
        return Ok(exit_of(&result, args));
    }
    let detected = heading::detect(&mut server, &context)?;
    if let (Some(profiles), Some(_)) = (heading::several(&detected), &args.target) {
        return run_all(cx, args, &mut server, &context, profiles, Some(&detected));
    }
    let result = server.call::<SkillsExplain>(&params)?;
    cx.terminal.print(&heading::render_one(&detected, None, cx.terminal))?;
    cx.terminal.print(&format!("\n{}", render(&result, args, cx.terminal)))?;
    cx.terminal.print_health(&result.health);
    Ok(exit_of(&result, args))
}

/// Prints one line per profile; `detected` is given if they are the agents that are present.
fn run_all(
    cx: &CommandContext<'_>,
    args: &ExplainArgs,
    server: &mut ServerConnection,
    context: &CallContext,
    profiles: Vec<String>,
    detected: Option<&DetectResult>,
) -> Result<Exit, CommandError> {
    let mut results = Vec::new();
    let mut exit = Exit::Fine;
    let mut texts = Vec::new();
    for profile in profiles {
        let params = params(&context.with_profile(&profile), args);
        let text = server.call_text::<SkillsExplain>(&params)?;
        let result = parse::<SkillsExplain>(&text)?;
        if exit_of(&result, args) == Exit::Findings {
            exit = Exit::Findings;
        }
        results.push(result);
        texts.push((profile, text));
    }
    if cx.global.json {
        cx.terminal.print(&heading::by_profile(&texts))?;
    } else {
        let heading = detected.map(|it| heading::render_present(it, None, cx.terminal) + "\n");
        let text = heading.unwrap_or_default() + &render_profiles(&results, cx.terminal);
        cx.terminal.print(&fold(&text, cx.terminal.width))?;
    }
    Ok(exit)
}

fn params(context: &CallContext, args: &ExplainArgs) -> ExplainParams {
    let mut params = ExplainParams::default();
    (params.name, params.path) = match &args.target {
        Some(target) => context.fill_target(&mut params, context.target(target)),
        None => return context.params(),
    };
    params
}

fn exit_of(result: &ExplainResult, args: &ExplainArgs) -> Exit {
    // Without a target, no skill can be missing.
    let fine = args.target.is_none() || shown_state(result).is_some_and(State::is_listed);
    if fine { Exit::Fine } else { Exit::Findings }
}

/// Returns the state of the skill for its agent's model: the agent itself lists its built-in
/// skills, which skillsd hides.
fn shown_state(result: &ExplainResult) -> Option<State> {
    let is_built_in = result.path.as_deref().is_some_and(|it| it.starts_with("builtin://"));
    match result.verdict.state {
        Some(State::Hidden) if is_built_in => Some(State::Active),
        state => state,
    }
}

/// Renders the verdict, the tree of steps, and the advice.
pub(super) fn render(result: &ExplainResult, args: &ExplainArgs, terminal: &Terminal) -> String {
    let mut text = String::new();
    let lines = wrap(
        &terminal.prose(&result.verdict.summary),
        terminal.width.map(|width| width - width.min(2)),
    );
    for (nth, line) in lines.iter().enumerate() {
        let lead = match (&args.target, nth) {
            (None, _) => String::new(),
            (Some(_), 0) => format!("{} ", mark(shown_state(result))),
            (Some(_), _) => "  ".to_owned(),
        };
        let _ = writeln!(text, "{lead}{}", paint(style::HEADING, line));
    }
    text.push('\n');
    let missing = if args.all { tree::MissingRoots::Listed } else { tree::MissingRoots::Counted };
    text.push_str(&tree::render(&result.steps, missing, terminal));
    push_next(result, terminal, &mut text);
    text
}

fn render_profiles(results: &[ExplainResult], terminal: &Terminal) -> String {
    let profiles: Vec<String> = results.iter().map(|result| plain(&result.profile)).collect();
    let columns = profiles.iter().map(|profile| width(profile)).max().unwrap_or(0);
    let mut text = String::new();
    for (result, profile) in results.iter().zip(&profiles) {
        let mark = mark(shown_state(result));
        let room = terminal.width.map(|width| width.saturating_sub(columns + 4));
        let mut summary = terminal.prose(&result.verdict.summary);
        if let Some(caveat) = heading::caveat(result.confidence) {
            let _ = write!(summary, " ({caveat})");
        }
        let lead = format!("{mark} {}  ", paint(style::NAME, pad(profile, columns)));
        let _ = writeln!(text, "{}", hang(&lead, &summary, terminal.width));
        // A visible skill needs no advice.
        let next = result.verdict.next.as_deref();
        let next = next.filter(|_| !shown_state(result).is_some_and(State::is_listed));
        let lines =
            next.map_or_else(Vec::new, |it| wrap(&format!("→ {}", terminal.prose(it)), room));
        for line in &lines {
            let _ = writeln!(text, "  {}  {}", pad("", columns), paint(style::FAINT, line));
        }
    }
    let _ = writeln!(text, "\nShow all steps for one profile: `--profile NAME`");
    text
}

fn push_next(result: &ExplainResult, terminal: &Terminal, text: &mut String) {
    let mut next: Vec<String> = Vec::new();
    // Notes on a skill that is not shown do not show it.
    let is_listed = result.verdict.state.is_none_or(State::is_listed);
    let is_due =
        |step: &&Step| is_listed || step.kind != StepKind::Rule || step.outcome != Outcome::Noted;
    let steps = result.steps.iter().filter(is_due).filter_map(|step| step.next.as_deref());
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
        let lead = format!("{} ", paint(style::HINT, "Next:"));
        let _ = writeln!(text, "{}", hang(&lead, &advice, terminal.width));
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use skills_protocol::wire::{Evidence, Verdict};

    use super::*;
    use crate::tests::sample::{terminal, uncolored};

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
            confidence: (profile == "cursor").then_some(Evidence::Documentation),
            verdict: Verdict { state, summary: summary.into(), next: Some(advice) },
            steps: vec![step],
        }
    }

    #[test]
    fn verdict_is_first_and_advice_last_and_once() {
        let result = explained(
            "codex",
            Some(State::Invalid),
            "`api-changes` is invalid: line 3 is not YAML",
        );
        let session = SessionFlag::default();
        let args = ExplainArgs { target: Some("deploy".into()), all: false, session };
        let text = uncolored(&render(&result, &args, &terminal(Some(40))));
        expect![[r#"
            ✗ `api-changes` is invalid: line 3 is
              not YAML

            └─ ~/shop/.agents/skills  1 skill

            Next: Quote the description.
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn several_profiles_are_rendered_one_line_each() {
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

            Show all steps for one profile: `--profile NAME`
        "#]]
        .assert_eq(&text);
    }
}
