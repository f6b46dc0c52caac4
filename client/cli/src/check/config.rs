//! Mistakes in the worktree's configuration as findings: with one, other rules may apply.

use std::mem;

use skills_protocol::path::decode;
use skills_protocol::wire::{
    CheckFinding, CheckResult, CheckedFile, Health, Position, Range, Severity,
};

/// Code of these findings and of the health messages that they are made from.
pub(super) const CODE: &str = "config";

/// Name of the worktree's configuration file.
const FILE: &str = ".skillsd.toml";

/// Replaces the health messages about the worktree's configuration by findings.
pub(super) fn report(result: &mut CheckResult) {
    let (mistakes, health): (Vec<_>, Vec<_>) =
        mem::take(&mut result.health).into_iter().partition(is_mistake);
    result.health = health;
    let Some(first) = mistakes.first() else { return };
    let file = CheckedFile {
        path: first.path.clone().unwrap_or_default(),
        path_encoding: first.path_encoding,
        hash: None,
        findings: mistakes.into_iter().map(finding).collect(),
        fix_all: None,
    };
    result.files.push(file);
    result.files.sort_by(|one, other| one.path.cmp(&other.path));
}

fn is_mistake(health: &Health) -> bool {
    let path = health.path.as_deref().and_then(|it| decode(it, health.path_encoding).ok());
    health.code == CODE && path.is_some_and(|it| it.ends_with(FILE))
}

fn finding(health: Health) -> CheckFinding {
    let (start, message) = position(&health.message);
    CheckFinding {
        code: CODE.to_owned(),
        href: None,
        severity: Severity::Error,
        message: message.to_owned(),
        help: health.hint,
        profiles: Vec::new(),
        range: Range { start, end: start },
        tag: None,
        related: Vec::new(),
        fixes: Vec::new(),
    }
}

/// Returns the position at the beginning of a message, or else that of the file, and the rest.
fn position(message: &str) -> (Position, &str) {
    let parts = message.strip_prefix("line ").and_then(|it| {
        let (line, rest) = it.split_once(", column ")?;
        let (column, rest) = rest.split_once(": ")?;
        Some((line.parse().ok()?, column.parse().ok()?, rest))
    });
    let (line, column, rest) = parts.unwrap_or((1, 1, message));
    (Position { line, column, offset: 0 }, rest)
}
