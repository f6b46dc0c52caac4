//! `skillsd touch`: reports touched files of an agent's session and prints the skills that they
//! activate.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use skills_protocol::bounds::LIST_ITEMS;
use skills_protocol::method::SessionTouch;
use skills_protocol::wire::{RefusedPath, SessionTouchParams, SessionTouchResult, TouchOp};

use crate::call_context::CallContext;
use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::heading;
use crate::server_connection::ServerConnection;
use crate::style::{self, mark, paint};
use crate::terminal::Terminal;
use crate::text::plain;

#[derive(Debug, Clone, Args)]
pub struct TouchArgs {
    /// Touched files or directories; they may be deleted already
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// The agent's session; opened if it does not exist
    #[arg(long, value_name = "SESSION")]
    session: String,
    /// Operation on the files: read, write, search or exec; has no effect yet
    #[arg(long, value_name = "OP", value_parser = op)]
    op: Option<TouchOp>,
}

fn op(text: &str) -> Result<TouchOp, String> {
    let found = TouchOp::ALL.iter().find(|it| it.as_str() == text);
    found.copied().ok_or_else(|| "expected `read`, `write`, `search` or `exec`".to_owned())
}

pub(super) fn run(cx: &CommandContext<'_>, args: &TouchArgs) -> Result<Exit, CommandError> {
    let context = CallContext::from_args(cx.global, None)?.single_profile()?;
    let paths: Vec<_> = args.paths.iter().map(|path| context.file(path)).collect();
    let mut params = SessionTouchParams::default();
    params.paths = context.fill_all(&mut params, &paths);
    params.session = Some(args.session.clone());
    params.op = args.op;
    let mut server = ServerConnection::open(cx)?;
    heading::print_choice(cx, &mut server, &context.clone().in_session(&args.session));
    // Splits long lists into several calls.
    let rest = params.paths.split_off(params.paths.len().min(LIST_ITEMS));
    let mut result = server.call::<SessionTouch>(&params)?;
    for paths in rest.chunks(LIST_ITEMS) {
        params.paths = paths.to_vec();
        let more = server.call::<SessionTouch>(&params)?;
        result.clock = more.clock;
        result.activated.extend(more.activated);
        result.discovered.extend(more.discovered);
    }
    if cx.global.json {
        let text = serde_json::to_string(&result).unwrap_or_default();
        cx.terminal.print(&format!("{text}\n"))?;
        return Ok(Exit::Fine);
    }
    cx.terminal.print(&render(&result, cx.terminal))?;
    let left_out = |it: &RefusedPath| format!("left out: {}", plain(&it.message));
    cx.terminal.print_notes(&result.refused.iter().map(left_out).collect::<Vec<_>>());
    cx.terminal.print_health(&result.health);
    Ok(Exit::Fine)
}

/// Renders the result: each discovered directory with its skills, then the activated skills.
fn render(result: &SessionTouchResult, terminal: &Terminal) -> String {
    if result.activated.is_empty() && result.discovered.is_empty() {
        return "No new skills\n".to_owned();
    }
    let mut text = String::new();
    for found in &result.discovered {
        let dir = terminal.path(&found.dir, found.path_encoding);
        let _ = writeln!(text, "{} {dir}", paint(style::FAINT, "found"));
        for skill in &found.skills {
            let name = paint(style::NAME, plain(&skill.name));
            let _ = writeln!(text, "  {} {name}", mark(Some(skill.state)));
        }
    }
    for activated in &result.activated {
        let matched = &activated.matched;
        let name = paint(style::NAME, plain(&activated.skill.name));
        let path = terminal.path(&matched.path, matched.path_encoding);
        let why = paint(style::FAINT, format!("{} by {path}", plain(&matched.pattern)));
        let _ = writeln!(text, "{} {name}  {why}", mark(Some(activated.skill.state)));
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use skills_protocol::wire::{ActivatedSkill, Discovered, Matched, State};

    use super::*;
    use crate::tests::sample::{skill, terminal, uncolored};

    fn result() -> SessionTouchResult {
        SessionTouchResult {
            clock: "c".into(),
            health: Vec::new(),
            session: "s".into(),
            activated: Vec::new(),
            discovered: Vec::new(),
            refused: Vec::new(),
        }
    }

    #[test]
    fn discovered_and_activated_skills_are_rendered_with_reasons() {
        let mut result = result();
        result.discovered.push(Discovered {
            dir: "/home/ann/shop/web/.agents/skills".into(),
            path_encoding: None,
            skills: vec![skill("component", "Builds one.")],
        });
        let mut css = skill("css", "Styles.");
        css.state = State::Activated;
        let path = "/home/ann/shop/web/a.css".into();
        let matched = Matched { pattern: "*.css".into(), path, path_encoding: None };
        result.activated.push(ActivatedSkill { skill: css, matched });
        let text = uncolored(&render(&result, &terminal(None)));
        expect![[r#"
            found ~/shop/web/.agents/skills
              ✓ component
            ✓ css  *.css by ~/shop/web/a.css
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn empty_result_is_rendered() {
        assert_eq!(render(&result(), &terminal(None)), "No new skills\n");
    }
}
