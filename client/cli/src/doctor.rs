//! `skillsd doctor`: finds problems of the daemon and its environment, and says what to do.
//!
//! Reports only: starts no daemon and changes nothing, unless `--fix` asks for the safe repairs.
//! Questions to a server (search roots, configuration) go to the running daemon, or to a server
//! within this process.

pub(crate) mod daemon;
mod finding;
mod paths;
mod registrations;
mod repair;
mod watches;

use std::fmt::Write as _;

use clap::Args;
use skills_client::environment;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::socket::SocketLocation;
use skills_protocol::wire::{DoctorResult, Finding as WireFinding, Severity, TrustGetResult};
use skills_syntax::text::grouped;

use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::server_connection::VERSION;
use crate::style::{self, paint};
use crate::terminal::Terminal;
use crate::text::{continued, count, hang, join_or_stack, plain};
use crate::trust;
use finding::DoctorProblem;

#[derive(Debug, Clone, Args)]
pub struct DoctorArgs {
    /// Apply all safe repairs, and report each one
    #[arg(long)]
    fix: bool,
}

pub(super) fn run(cx: &CommandContext<'_>, args: &DoctorArgs) -> Result<Exit, CommandError> {
    let mut findings = Vec::new();
    let location = match environment::socket_location() {
        Ok(location) => Some(location),
        Err(error) => {
            let hint = "Set SKILLSD_SOCKET to a short absolute path in a directory that you own.";
            findings.push(DoctorProblem::error("no-socket-path", error.to_string(), hint));
            None
        }
    };
    let mut server = None;
    if let Some(location) = &location {
        paths::check_socket(location, &mut findings);
        daemon::check_other_daemons(location, &mut findings);
        if !cx.global.no_daemon {
            server = daemon::connect_and_check(location, &mut findings);
        }
    }
    paths::check_state_directory(&mut findings);
    let trust = daemon::check_from_server(cx, server.as_mut(), &mut findings)?;
    let watches = watches::check(&mut findings);
    let registrations = registrations::check(&mut findings);
    findings.sort_by_key(|it| it.severity as u8);
    let findings = findings.into_iter().map(|it| if args.fix { it.repaired() } else { it });
    let socket = location.as_ref().map(SocketLocation::path);
    let path_encoding = encoding_of(socket);
    let result = DoctorResult {
        version: VERSION.to_owned(),
        socket: socket.map(|path| encode(path, path_encoding)),
        path_encoding,
        daemon: server.map(|it| it.info),
        watches,
        trust,
        registrations,
        findings: findings.map(DoctorProblem::into_wire).collect(),
    };
    if cx.global.json {
        let text = serde_json::to_string(&result).unwrap_or_default();
        cx.terminal.print(&format!("{text}\n"))?;
    } else {
        cx.terminal.print(&render(&result, cx.terminal))?;
    }
    let is_open = |it: &WireFinding| it.fixed.is_none();
    Ok(if result.findings.iter().any(is_open) { Exit::Findings } else { Exit::Fine })
}

fn render(result: &DoctorResult, terminal: &Terminal) -> String {
    let mut text = String::new();
    for finding in &result.findings {
        push_finding(finding, terminal, &mut text);
    }
    if !result.findings.is_empty() {
        text.push('\n');
    }
    let daemon = match &result.daemon {
        Some(daemon) => format!("skillsd {} is running", plain(&daemon.version)),
        None if result.findings.iter().any(keeps_daemon_away) => "no daemon answers".to_owned(),
        None => "no daemon runs; the next command starts one".to_owned(),
    };
    let socket = result.socket.as_deref().map(|path| terminal.path(path, result.path_encoding));
    let place = socket.map(|socket| format!(" at {socket}")).unwrap_or_default();
    let watches = result.watches.map(|it| match it.limit {
        Some(limit) => format!("{} of {} watches in use", grouped(it.used), grouped(limit)),
        None => format!("{} watches in use", grouped(it.used)),
    });
    let parts: Vec<_> = std::iter::once(format!("{daemon}{place}")).chain(watches).collect();
    for part in join_or_stack(&parts, terminal.width).lines() {
        let _ = writeln!(text, "{}", continued(part, 2, terminal.width));
    }
    registrations::push(&result.registrations, terminal, &mut text);
    // Trust is only shown if something is trusted or asks for trust.
    let is_shown = |it: &&TrustGetResult| !(it.all.is_empty() && it.waiting.is_empty());
    if let Some(trust) = result.trust.as_ref().filter(is_shown) {
        text.push_str(&trust::summary(trust, terminal));
    }
    let _ = writeln!(text, "{}", join_or_stack(&verdict(&result.findings), terminal.width));
    text
}

/// Returns whether a finding keeps commands from reaching or starting a daemon.
fn keeps_daemon_away(finding: &WireFinding) -> bool {
    let parts = ["no-socket-path", "directory-", "socket-", "daemon-", "protocol-"];
    let is_open = finding.severity == Severity::Error && finding.fixed.is_none();
    is_open && parts.iter().any(|it| finding.code.starts_with(it))
}

fn verdict(findings: &[WireFinding]) -> Vec<String> {
    let open = findings.iter().filter(|it| it.fixed.is_none());
    let n_fixable = open.clone().filter(|it| it.fixable).count();
    let n_open = open.count() as u64;
    if n_open == 0 {
        return vec![format!("{} no problems found", paint(style::GOOD, "✓"))];
    }
    let mut parts = vec![format!("{} {}", paint(style::BAD, "✗"), count(n_open, "finding"))];
    if n_fixable > 0 {
        parts.push(format!("`skillsd doctor --fix` repairs {n_fixable} of them"));
    }
    parts
}

fn push_finding(finding: &WireFinding, terminal: &Terminal, text: &mut String) {
    let place = finding.path.as_deref().map(|path| terminal.path(path, finding.path_encoding));
    let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
    let message = terminal.prose(&finding.message);
    let code = paint(style::FAINT, format!("[{}]", plain(&finding.code)));
    if let Some(fixed) = &finding.fixed {
        let said = format!("{} {message}{place} {code}", paint(style::GOOD, "fixed:"));
        let _ = writeln!(text, "{}", continued(&said, 3, terminal.width));
        let _ = writeln!(text, "{}", hang("   ", &terminal.prose(fixed), terminal.width));
        return;
    }
    let word = format!("{}:", style::severity_word(finding.severity));
    let word = paint(style::severity_style(finding.severity), word);
    let said = format!("{word} {message}{place} {code}");
    let _ = writeln!(text, "{}", continued(&said, 3, terminal.width));
    let hint = format!("   {} ", paint(style::HINT, "hint:"));
    let _ = writeln!(text, "{}", hang(&hint, &terminal.prose(&finding.hint), terminal.width));
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use skills_protocol::wire::{ServerInfo, TrustNeed, WaitingSkill, Watches};

    use super::*;
    use crate::tests::sample::{terminal, uncolored};

    fn finding(code: &str, fixed: Option<&str>) -> WireFinding {
        WireFinding {
            code: code.into(),
            severity: Severity::Error,
            message: "the directory is open to others".into(),
            hint: "Run `chmod 700 /home/ann/run`.".into(),
            path: Some("/home/ann/run".into()),
            path_encoding: None,
            fixable: true,
            fixed: fixed.map(str::to_owned),
        }
    }

    #[test]
    fn report_lists_findings_and_repairs() {
        let result = DoctorResult {
            version: "0.1.0".into(),
            socket: Some("/home/ann/run/v1.sock".into()),
            path_encoding: None,
            daemon: Some(ServerInfo { name: "skillsd".into(), version: "0.1.0".into() }),
            watches: Some(Watches { used: 12, limit: Some(65_536) }),
            trust: None,
            registrations: Vec::new(),
            findings: vec![
                finding("directory-open", None),
                finding("state-open", Some("it has mode 0700 now")),
            ],
        };
        expect![[r#"
            error: the directory is open to others (~/run) [directory-open]
               hint: Run `chmod 700 ~/run`.
            fixed: the directory is open to others (~/run) [state-open]
               it has mode 0700 now

            skillsd 0.1.0 is running at ~/run/v1.sock · 12 of 65,536 watches in use
            ✗ 1 finding · `skillsd doctor --fix` repairs 1 of them
        "#]]
        .assert_eq(&uncolored(&render(&result, &terminal(None))));
        let result = DoctorResult { daemon: None, watches: None, ..result };
        let text = uncolored(&render(&result, &terminal(None)));
        assert!(text.contains("\nno daemon answers at ~/run/v1.sock\n"), "{text}");
        let result = DoctorResult { findings: Vec::new(), ..result };
        expect![[r#"
            no daemon runs; the next command starts one at ~/run/v1.sock
            ✓ no problems found
        "#]]
        .assert_eq(&uncolored(&render(&result, &terminal(None))));
        let dir = |it: &str| Some(it.to_owned());
        let trust = TrustGetResult {
            dir: dir("/home/ann/shop"),
            path_encoding: None,
            trusted: false,
            decided: None,
            all: Vec::new(),
            waiting: vec![WaitingSkill {
                name: "price".into(),
                path: "/home/ann/shop/.agents/skills/price/SKILL.md".into(),
                path_encoding: None,
                needs: vec![TrustNeed::Hooks],
                changed: false,
            }],
            covers: Vec::new(),
            digest: None,
            contents: Vec::new(),
            health: Vec::new(),
        };
        let result = DoctorResult { trust: Some(trust), ..result };
        expect![[r#"
            no daemon runs; the next command starts one at ~/run/v1.sock
            ○ not trusted: ~/shop
              price asks for trust to have its hooks run
            No directory is trusted
            ✓ no problems found
        "#]]
        .assert_eq(&uncolored(&render(&result, &terminal(None))));
    }
}
