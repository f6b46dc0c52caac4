//! `skillsd status`: a summary of the daemon's state.

use std::fmt::Write as _;

use skills_protocol::method::ServerStatus;
use skills_protocol::wire::{
    ConfigState, ConfigStatus, LayerRebuilds, Rebuilds, SkillCounts, SourceState, SourceStatus,
    StatusParams, StatusResult, Worktree,
};

use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::server_connection::ServerConnection;
use crate::style::{self, paint};
use crate::terminal::{Terminal, render_health};
use crate::text::{count, duration, hang, pad, plain, size, width};

pub(super) fn run(cx: &CommandContext<'_>) -> Result<Exit, CommandError> {
    let mut link = ServerConnection::open_running_or_local(cx)?;
    if let Some(result) = link.call_or_print::<ServerStatus>(cx, &StatusParams {})? {
        cx.terminal.print(&render(&result, cx.terminal))?;
    }
    Ok(Exit::Fine)
}

pub(super) fn render(result: &StatusResult, terminal: &Terminal) -> String {
    let n_problems: usize = result.worktrees.iter().map(|worktree| worktree.health.len()).sum();
    let mark = if result.health.is_empty() && n_problems == 0 {
        paint(style::GOOD, "●")
    } else {
        paint(style::WAITING, "●")
    };
    let heading = paint(style::HEADING, format!("skillsd {}", plain(&result.version)));
    let age = duration(result.uptime);
    let mut text = format!("{mark} {heading} · up {age} · pid {}\n\n", result.pid);
    for (name, value) in facts(result, terminal) {
        let name = format!("  {}  ", paint(style::FAINT, pad(name, 11)));
        let _ = writeln!(text, "{}", hang(&name, &value, terminal.width));
    }
    text.push('\n');
    push_worktrees(&result.worktrees, terminal, &mut text);
    push_sources(&result.sources, terminal, &mut text);
    let health = result.health.iter().chain(result.worktrees.iter().flat_map(|it| &it.health));
    let health: Vec<_> = health.cloned().collect();
    if !health.is_empty() {
        text.push('\n');
        text.push_str(&render_health(&health, terminal));
    }
    text
}

fn facts(result: &StatusResult, terminal: &Terminal) -> Vec<(&'static str, String)> {
    let socket = result.socket.as_deref().map(|path| terminal.path(path, result.path_encoding));
    let watches = match result.watches.limit {
        Some(limit) => format!("{} of {limit}", result.watches.used),
        None => result.watches.used.to_string(),
    };
    vec![
        ("socket", socket.unwrap_or_else(|| "none (in this process)".to_owned())),
        ("protocol", plain(&result.protocol_version)),
        ("memory", result.rss.map_or_else(|| "unknown".to_owned(), size)),
        ("watches", watches),
        ("connections", result.connections.to_string()),
        ("rebuilds", rebuilds(&result.rebuilds)),
        ("config", config(result.config.as_ref(), terminal)),
        ("trusted", trusted(result.trusted)),
    ]
}

fn trusted(count: u64) -> String {
    match count {
        0 => "no directory".to_owned(),
        1 => "1 directory".to_owned(),
        more => format!("{more} directories"),
    }
}

fn config(config: Option<&ConfigStatus>, terminal: &Terminal) -> String {
    let Some(config) = config else { return "no home directory".to_owned() };
    let path = terminal.path(&config.path, config.path_encoding);
    match config.state {
        ConfigState::Absent => format!("no file at {path}; defaults apply"),
        ConfigState::Good => path,
        ConfigState::Broken => format!("{path} {}", paint(style::WARNING, "(has errors)")),
    }
}

// Formats the counters: `12 files (9 first, 3 changed), 4 roots, 2 views`.
fn rebuilds(rebuilds: &Rebuilds) -> String {
    let layers = [(&rebuilds.files, "file"), (&rebuilds.roots, "root"), (&rebuilds.views, "view")];
    let words: Vec<String> = layers.iter().map(|(layer, noun)| layer_text(layer, noun)).collect();
    words.join(", ")
}

fn layer_text(layer: &LayerRebuilds, noun: &str) -> String {
    let causes = layer.causes.iter().filter(|(_, n)| **n > 0);
    let causes: Vec<String> = causes.map(|(cause, n)| format!("{n} {}", plain(cause))).collect();
    let causes =
        if causes.is_empty() { String::new() } else { format!(" ({})", causes.join(", ")) };
    format!("{}{causes}", count(layer.count, noun))
}

fn push_worktrees(worktrees: &[Worktree], terminal: &Terminal, text: &mut String) {
    if worktrees.is_empty() {
        let _ = writeln!(text, "No worktree is open; `skillsd list` opens one.");
        return;
    }
    let _ = writeln!(text, "{}", paint(style::HEADING, "Worktrees"));
    let path = |worktree: &Worktree| terminal.path(&worktree.path, worktree.path_encoding);
    let columns = worktrees.iter().map(|it| width(&path(it))).max().unwrap_or(0);
    for worktree in worktrees {
        let mut facts = vec![count(worktree.views, "view")];
        if worktree.pinned {
            facts.push("pinned".to_owned());
        }
        if !worktree.health.is_empty() {
            let problems = count(worktree.health.len() as u64, "problem");
            facts.push(paint(style::WARNING, problems));
        }
        let path = paint(style::NAME, pad(&path(worktree), columns));
        let path = terminal.link(&worktree.path, worktree.path_encoding, path);
        let (path, facts) = (format!("  {path}  "), facts.join(" · "));
        let is_narrow = terminal.width.is_some_and(|it| width(&path) + width(&facts) > it);
        if is_narrow {
            let _ = writeln!(text, "{}\n{}", path.trim_end(), hang("    ", &facts, terminal.width));
        } else {
            let _ = writeln!(text, "{path}{facts}");
        }
        let profiles = &worktree.profiles;
        let columns = profiles.iter().map(|it| width(&plain(&it.profile))).max().unwrap_or(0);
        for it in profiles {
            let lead = format!("    {}  ", pad(&plain(&it.profile), columns));
            let _ = writeln!(text, "{}", hang(&lead, &skills(&it.skills), terminal.width));
        }
    }
}

fn push_sources(sources: &[SourceStatus], terminal: &Terminal, text: &mut String) {
    if sources.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{}", paint(style::HEADING, "Sources"));
    let columns = sources.iter().map(|it| width(&it.name)).max().unwrap_or(0);
    for source in sources {
        let state = match source.state {
            SourceState::Idle | SourceState::Starting | SourceState::Ready => {
                source.state.to_string()
            }
            SourceState::Stale | SourceState::Failed => paint(style::WARNING, source.state),
        };
        let mut facts = vec![source.scope.to_string(), state, count(source.skills, "skill")];
        facts.extend(source.path.as_ref().map(|path| terminal.path(path, source.path_encoding)));
        let name = paint(style::NAME, pad(&plain(&source.name), columns));
        let _ = writeln!(text, "  {name}  {}", facts.join(" · "));
        if let Some(message) = &source.message {
            let _ = writeln!(text, "    {}", paint(style::FAINT, plain(message)));
        }
    }
}

/// Returns the words for numbers of skills, such as `3 active, 1 invalid`.
pub(super) fn skills(counts: &SkillCounts) -> String {
    let counts = counts.iter().filter(|(_, n)| **n > 0);
    let words: Vec<String> = counts.map(|(state, n)| format!("{n} {state}")).collect();
    if words.is_empty() { "no skills".to_owned() } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use expect_test::{Expect, expect};
    use skills_protocol::wire::{Actions, Health, HeavyCallCounts, ProfileSkills, State, Watches};

    use super::*;
    use crate::tests::sample::{terminal, uncolored};

    fn well() -> StatusResult {
        StatusResult {
            version: "0.1.0".into(),
            protocol_version: "1.0".into(),
            pid: 4711,
            uptime: 7384,
            rss: Some(19 << 20),
            watches: Watches { used: 34, limit: Some(65_536) },
            connections: 2,
            worktrees: Vec::new(),
            rebuilds: Rebuilds::default(),
            sources: Vec::new(),
            boot_id: "b1".into(),
            socket: Some("/run/user/1000/skillsd/v1.sock".into()),
            path_encoding: None,
            config: Some(ConfigStatus {
                path: "/home/ann/.config/skillsd/config.toml".into(),
                path_encoding: None,
                state: ConfigState::Good,
            }),
            actions: Actions::default(),
            heavy_calls: HeavyCallCounts::default(),
            trusted: 1,
            health: Vec::new(),
        }
    }

    #[track_caller]
    fn check(result: &StatusResult, expected: &Expect) {
        expected.assert_eq(&uncolored(&render(result, &terminal(None))));
    }

    #[test]
    fn status_without_worktrees_names_the_command_that_opens_one() {
        check(
            &StatusResult { socket: None, rss: None, config: None, ..well() },
            &expect![[r#"
                ● skillsd 0.1.0 · up 2 h 3 min · pid 4711

                  socket       none (in this process)
                  protocol     1.0
                  memory       unknown
                  watches      34 of 65536
                  connections  2
                  rebuilds     0 files, 0 roots, 0 views
                  config       no home directory
                  trusted      1 directory

                No worktree is open; `skillsd list` opens one.
            "#]],
        );
    }

    #[test]
    fn status_shows_worktrees_rebuilds_and_problems() {
        let limit = Health {
            code: "watch-limit".into(),
            message: "the limit of inotify watches is reached".into(),
            hint: Some("Raise `fs.inotify.max_user_watches`.".into()),
            path: Some("/home/ann/shop/.agents/skills".into()),
            path_encoding: None,
        };
        let shop = Worktree {
            path: "/home/ann/shop".into(),
            pinned: true,
            views: 2,
            profiles: vec![
                ProfileSkills {
                    profile: "claude-code".into(),
                    skills: BTreeMap::from([(State::Active, 12), (State::Shadowed, 1)]),
                },
                ProfileSkills {
                    profile: "codex".into(),
                    skills: BTreeMap::from([(State::Active, 0)]),
                },
            ],
            health: vec![limit],
            ..Worktree::default()
        };
        let notes = Worktree { path: "/srv/notes".into(), views: 1, ..Worktree::default() };
        let causes = BTreeMap::from([("changed".to_owned(), 3), ("first".to_owned(), 12)]);
        let rebuilds = Rebuilds {
            files: LayerRebuilds { count: 15, causes },
            roots: LayerRebuilds { count: 1, ..LayerRebuilds::default() },
            ..Rebuilds::default()
        };
        check(
            &StatusResult { worktrees: vec![shop, notes], rebuilds, ..well() },
            &expect![[r#"
                ● skillsd 0.1.0 · up 2 h 3 min · pid 4711

                  socket       /run/user/1000/skillsd/v1.sock
                  protocol     1.0
                  memory       19.0 MiB
                  watches      34 of 65536
                  connections  2
                  rebuilds     15 files (3 changed, 12 first), 1 root, 0 views
                  config       ~/.config/skillsd/config.toml
                  trusted      1 directory

                Worktrees
                  ~/shop      2 views · pinned · 1 problem
                    claude-code  12 active, 1 shadowed
                    codex        no skills
                  /srv/notes  1 view

                warning: the limit of inotify watches is reached (~/shop/.agents/skills)
                   hint: Raise `fs.inotify.max_user_watches`.
            "#]],
        );
    }
}
