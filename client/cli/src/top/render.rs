//! Frames of the view ([`Renderer`]): lines of text that fit the terminal.

use std::fmt::Display;
use std::time::Instant;

use anstyle::Style;
use skills_protocol::path::PathEncoding;
use skills_protocol::wire::{Event, ProfileSkills, State, StatusResult, Worktree};

use crate::status::skills;
use crate::style::{FAINT, GOOD, HEADING, NAME, WAITING, paint};
use crate::terminal::Terminal;
use crate::text::{count, cut, duration, pad, plain, size, width};
use crate::top::state::{ActivatedRow, TopState};

const KEYS: &str = "q quit · r refresh";

pub(super) struct Renderer<'a> {
    pub(super) terminal: &'a Terminal,
    /// True if colours are allowed; they only repeat what the text says.
    pub(super) colored: bool,
}

struct FrameSection {
    title: &'static str,
    lines: Vec<String>,
    none: &'static str,
}

impl Renderer<'_> {
    /// Returns the lines of a frame, from the first row on.
    pub(super) fn frame(&self, state: &TopState, columns: usize, rows: usize) -> Vec<String> {
        let Some(status) = &state.status else { return vec!["loading …".to_owned()] };
        let mut lines = self.heading(status, state, columns);
        let sections = [
            FrameSection {
                title: "Worktrees",
                lines: self.worktrees(&status.worktrees, columns),
                none: "none is open; `skillsd list` opens one",
            },
            FrameSection {
                title: "Sessions",
                lines: self.sessions(state, columns),
                none: "no session is open",
            },
            FrameSection {
                title: "Activations",
                lines: state.activations.iter().map(|it| self.activation(it, columns)).collect(),
                none: "no skill was activated by a file",
            },
            FrameSection {
                title: "Recent",
                lines: state.events.iter().map(|(at, it)| self.event(*at, it, columns)).collect(),
                none: "no events since `top` started",
            },
        ];
        // The last line shows the keys. Each section has a title, and a blank line above it if the
        // terminal is high enough.
        let is_roomy = rows >= 24;
        let above = if is_roomy { 2 } else { 1 };
        let room = rows.saturating_sub(lines.len() + 1 + above * sections.len());
        let wanted: Vec<_> = sections.iter().map(|it| it.lines.len().max(1)).collect();
        for (section, n_lines) in sections.into_iter().zip(shares(room, &wanted)) {
            if is_roomy {
                lines.push(String::new());
            }
            lines.push(self.paint(HEADING, section.title));
            lines.extend(self.fitted(section, n_lines));
        }
        lines.truncate(rows.saturating_sub(1));
        lines.resize(rows.saturating_sub(1), String::new());
        lines.push(self.paint(FAINT, cut(KEYS, columns)));
        lines
    }

    fn heading(&self, status: &StatusResult, state: &TopState, columns: usize) -> Vec<String> {
        let n_problems = status.worktrees.iter().map(|it| it.health.len()).sum::<usize>();
        let n_problems = (n_problems + status.health.len()) as u64;
        let (mark, word) = if n_problems == 0 {
            (GOOD, "healthy".to_owned())
        } else {
            (WAITING, count(n_problems, "problem"))
        };
        let up = duration(status.uptime + state.updated.elapsed().as_secs());
        let name = format!("skillsd {}", plain(&status.version));
        let (mark, name) = (self.paint(mark, "●"), self.paint(HEADING, name));
        let first = format!("{mark} {name} · {word} · up {up} · pid {}", status.pid);
        let memory = status.rss.map_or_else(|| "unknown".to_owned(), size);
        let watches = match status.watches.limit {
            Some(limit) => format!("{} of {limit} watches", status.watches.used),
            None => format!("{} watches", status.watches.used),
        };
        let rebuilds = &status.rebuilds;
        let counters = format!(
            "  {memory} · {watches} · {} · rebuilt {}, {}, {} · {}",
            count(u64::from(status.connections), "connection"),
            count(rebuilds.files.count, "file"),
            count(rebuilds.roots.count, "root"),
            count(rebuilds.views.count, "view"),
            count(state.n_events, "event"),
        );
        vec![first, self.paint(FAINT, cut(&counters, columns))]
    }

    fn worktrees(&self, worktrees: &[Worktree], columns: usize) -> Vec<String> {
        let path = |it: &Worktree| self.terminal.path(&it.path, it.path_encoding);
        let widest = worktrees.iter().map(|it| width(&path(it))).max().unwrap_or(0);
        let widest = widest.min(columns / 2);
        let line = |it: &Worktree| {
            let one = |it: &ProfileSkills| format!("{} {}", plain(&it.profile), skills(&it.skills));
            let mut words: Vec<_> = it.profiles.iter().map(one).collect();
            words.push(count(it.views, "view"));
            let problems = count(it.health.len() as u64, "problem");
            let has_invalid =
                it.profiles.iter().any(|it| it.skills.get(&State::Invalid).is_some_and(|n| *n > 0));
            let is_well = it.health.is_empty() && !has_invalid;
            if !it.health.is_empty() {
                words.push(problems);
            }
            let style = if is_well { Style::new() } else { WAITING };
            self.row(&path(it), widest, &words.join(" · "), style, columns)
        };
        worktrees.iter().map(line).collect()
    }

    fn sessions(&self, state: &TopState, columns: usize) -> Vec<String> {
        let widest = state.sessions.iter().map(|it| width(&plain(&it.session))).max();
        let widest = widest.unwrap_or(0).min(columns / 3);
        let lines = state.sessions.iter().map(|it| {
            let cwd = self.terminal.path(&it.cwd, it.path_encoding);
            let facts = format!(
                "{} activated · {} loaded · {} directories found · {} · {cwd}",
                it.activated,
                it.invoked,
                it.discovered,
                plain(&it.profile),
            );
            self.row(&plain(&it.session), widest, &facts, Style::new(), columns)
        });
        lines.collect()
    }

    fn activation(&self, activation: &ActivatedRow, columns: usize) -> String {
        let (skill, encoding) = &activation.skill;
        let name = skill_name(&self.terminal.path(skill, *encoding));
        let (file, encoding) = &activation.file;
        let file = self.terminal.path(file, *encoding);
        let session = plain(&activation.session);
        let when = activation.at.map_or_else(|| "before".to_owned(), ago);
        let facts = format!("by {file} in {session}");
        let facts = cut(&facts, columns.saturating_sub(14 + width(&name) + 1));
        let when = self.paint(FAINT, pad(&when, 11));
        format!("  {when} {} {facts}", self.paint(GOOD, name))
    }

    fn event(&self, at: Instant, event: &Event, columns: usize) -> String {
        let path = |path: &Option<String>, encoding: Option<PathEncoding>| {
            path.as_deref().map(|it| self.terminal.path(it, encoding))
        };
        let facts = [
            event.name.as_deref().map(plain),
            event.session.as_deref().map(plain),
            event.agent.as_deref().map(plain),
            event.request.as_deref().map(plain),
            path(&event.path, event.path_encoding)
                .or_else(|| path(&event.cwd, event.path_encoding)),
            event.profile.as_deref().map(plain),
            event.message.as_deref().map(plain),
        ];
        let facts: Vec<_> = facts.into_iter().flatten().collect();
        let text = format!("{}  {}", pad(&event.kind.to_string(), 19), facts.join(" · "));
        let when = self.paint(FAINT, pad(&ago(at), 11));
        format!("  {when} {}", cut(&text, columns.saturating_sub(14)))
    }

    // Renders two columns: a name and its facts.
    fn row(&self, name: &str, widest: usize, facts: &str, style: Style, columns: usize) -> String {
        let name = self.paint(NAME, pad(&cut(name, widest), widest));
        let facts = cut(facts, columns.saturating_sub(widest + 4));
        format!("  {name}  {}", self.paint(style, facts))
    }

    fn fitted(&self, section: FrameSection, n_lines: usize) -> Vec<String> {
        let FrameSection { mut lines, none, .. } = section;
        if lines.is_empty() {
            lines.push(self.paint(FAINT, format!("  {none}")));
        }
        if lines.len() > n_lines {
            let hidden = lines.len() - n_lines.saturating_sub(1);
            lines.truncate(n_lines.saturating_sub(1));
            lines.push(self.paint(FAINT, format!("  … {hidden} more")));
        }
        lines
    }

    fn paint(&self, style: Style, text: impl Display) -> String {
        paint(if self.colored { style } else { Style::new() }, text)
    }
}

/// Divides rows between sections, first to last: each gets at most an equal part of the remaining
/// rows.
fn shares(room: usize, wanted: &[usize]) -> Vec<usize> {
    let mut left = room;
    let shares = wanted.iter().enumerate().map(|(nth, n_lines)| {
        let n_sections = wanted.len() - nth;
        let share = (*n_lines).min(left.div_ceil(n_sections));
        left -= share;
        share
    });
    shares.collect()
}

fn ago(at: Instant) -> String {
    format!("{} ago", duration(at.elapsed().as_secs()))
}

// Name of the directory that contains the SKILL.md.
fn skill_name(path: &str) -> String {
    let mut parts = path.rsplit('/');
    let last = parts.next().unwrap_or_default();
    parts.next().unwrap_or(last).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unused_rows_go_to_later_sections() {
        assert_eq!(shares(20, &[1, 2, 3, 200]), [1, 2, 3, 14]);
        assert_eq!(shares(20, &[50, 50, 1, 200]), [5, 5, 1, 9]);
        assert_eq!(shares(3, &[9, 9, 9, 9]), [1, 1, 1, 0]);
        assert_eq!(shares(0, &[9, 9, 9, 9]), [0; 4]);
    }
}
