//! Styles and marks of the output.
//!
//! Colour only repeats a mark or a word, so nothing is lost without it.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};
use skills_protocol::wire::{Outcome, Severity, State};

pub(super) const HEADING: Style = Style::new().bold();
pub(super) const NAME: Style = AnsiColor::Cyan.on_default().bold();
pub(super) const FAINT: Style = Style::new().dimmed();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const WAITING: Style = AnsiColor::Yellow.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default();
pub(super) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// Returns the text in this style; empty text stays empty.
pub(super) fn paint(style: Style, text: impl Display) -> String {
    let text = text.to_string();
    if text.is_empty() { text } else { format!("{style}{text}{style:#}") }
}

pub(super) fn state_style(state: State) -> Style {
    match state {
        State::Active | State::Activated => GOOD,
        State::Conditional | State::Untrusted => WAITING,
        State::Invalid | State::Denied | State::Refused => BAD,
        State::Shadowed | State::Hidden | State::Ignored => FAINT,
    }
}

/// Returns the mark of a skill's state in a table of several agents, different for each state.
pub(super) fn table_mark(state: State) -> &'static str {
    match state {
        State::Active => "✓",
        State::Activated => "◆",
        State::Conditional => "○",
        State::Untrusted => "?",
        State::Shadowed => "=",
        State::Hidden => "-",
        State::Ignored => "0",
        State::Denied => "!",
        State::Invalid => "✗",
        State::Refused => "⊘",
    }
}

/// Returns the painted mark of a skill's state; `None` for a missing skill.
pub(super) fn mark(state: Option<State>) -> String {
    match state {
        Some(state @ (State::Active | State::Activated)) => paint(state_style(state), "✓"),
        Some(state @ (State::Conditional | State::Untrusted)) => paint(state_style(state), "○"),
        Some(_) | None => paint(BAD, "✗"),
    }
}

/// Returns the painted mark of a step's outcome.
pub(super) fn outcome_mark(outcome: Outcome) -> String {
    match outcome {
        Outcome::Kept | Outcome::Passed | Outcome::Searched => paint(GOOD, "✓"),
        Outcome::Dropped | Outcome::Unreadable => paint(BAD, "✗"),
        Outcome::Noted | Outcome::Missing | Outcome::Skipped => paint(FAINT, "·"),
    }
}

pub(super) fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Error => ERROR,
        Severity::Warning => WARNING,
        Severity::Info | Severity::Hint => HINT,
    }
}

/// Returns the word for a finding's severity.
pub(super) fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
        Severity::Hint => "hint",
    }
}
