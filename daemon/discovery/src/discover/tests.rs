//! Tests of discovery and explanations with in-memory trees.
//!
//! `//- /path` starts a file, `//- /path -> target` a link, `//- /path dir` a directory,
//! `//- /path fifo` a named pipe, `//- /path denied` something that may not be read,
//! `//- /path trusted` a directory that the user trusts.

mod agent_files;
mod built_in;
mod copilot_cli;
mod explaining;
mod extensions;
mod listing;
mod places;
mod plugins;
mod restrictions;
mod settings;
mod settings_forms;
mod switched_off;
mod variants;
mod worktrees;

use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::Expect;
use skills_agents::profile;
use skills_syntax::path::AbsPath;

use super::memory::MemoryTree;
use super::{DiscoveryContext, NearMisses, Query, Resolution, StepKind, discover, explain};

fn path(text: &str) -> AbsPath {
    AbsPath::new(text.as_ref()).unwrap()
}

fn ctx(profile: &str, cwd: &str) -> DiscoveryContext {
    DiscoveryContext {
        profile: Arc::clone(profile::find(profile).unwrap()),
        cwd: path(cwd),
        additional: Vec::new(),
        environment: [("HOME".to_owned(), "/home/u".into())].into(),
        overlay: Arc::default(),
        agent: None,
    }
}

/// Renders each candidate as a line with state, name and path, and its reason below. Built-in
/// skills are left out, because every tree has them.
fn render(resolution: &Resolution) -> String {
    let mut out = String::new();
    for file in &resolution.settings {
        for problem in file.problems() {
            let _ = writeln!(out, "{problem}");
        }
    }
    for it in resolution.candidates.iter().filter(|it| !it.is_built_in()) {
        let _ = writeln!(out, "{:<11} {:<10} {:?}", it.state.name(), it.name, it.path);
        for reason in it.notes.iter().chain(it.reason.as_deref()) {
            let at = reason.at.map(|it| format!("{}:{} ", it.line, it.column)).unwrap_or_default();
            let file = reason.file.as_ref().map(|it| format!("{it:?}:")).unwrap_or_default();
            let _ = writeln!(out, "    {}: {file}{at}{}", reason.rule, reason.message);
        }
    }
    for root in &resolution.roots {
        for skip in &root.skips {
            let _ = writeln!(out, "passed over {:?}: {}", skip.path, skip.reason.message());
        }
    }
    out
}

/// Checks the result of discovery for `profile` in `cwd`.
#[track_caller]
fn check(profile: &str, cwd: &str, fixture: &str, expected: &Expect) {
    let tree = MemoryTree::new(fixture);
    let resolution = discover(&ctx(profile, cwd), &tree);
    assert!(resolution.complete);
    expected.assert_eq(&render(&resolution));
}

/// Checks the explanation of a name, or of a path if the query starts with a slash.
#[track_caller]
fn check_explain(profile: &str, cwd: &str, query: &str, fixture: &str, expected: &Expect) {
    check_explain_with(profile, cwd, query, fixture, &NearMisses::default(), expected);
}

/// As [`check_explain`], with near misses.
#[track_caller]
fn check_explain_with(
    profile: &str,
    cwd: &str,
    query: &str,
    fixture: &str,
    around: &NearMisses,
    expected: &Expect,
) {
    let tree = MemoryTree::new(fixture);
    let ctx = ctx(profile, cwd);
    let resolution = discover(&ctx, &tree);
    let asked = query.starts_with('/').then(|| path(query));
    let query = asked.as_ref().map_or(Query::Name(query), Query::Path);
    let explanation = explain(&ctx, &resolution, query, around);
    let mut out = format!("{}\n", explanation.verdict.summary);
    if let Some(next) = &explanation.verdict.next {
        let _ = writeln!(out, "next: {next}");
    }
    for step in &explanation.steps {
        let line = match &step.kind {
            StepKind::Settings(_) if step.at.is_none() => continue,
            StepKind::Settings(index) => format!("settings {:?}", resolution.settings[*index].path),
            StepKind::Root(index) if step.reason.as_deref() == Some("does not exist") => {
                let _ = index;
                continue;
            }
            StepKind::Root(index) => format!("root {:?}", resolution.roots[*index].path),
            StepKind::Candidate(index) => {
                format!("  candidate {:?}", resolution.candidates[*index].path)
            }
            StepKind::Skip { path, rule } => format!("  passed over {path:?} {rule}"),
            StepKind::Location { rule, decisive } => format!("{rule} decisive={decisive}"),
            StepKind::Rule { rule, decisive, .. } => format!("    {rule} decisive={decisive}"),
            StepKind::Other { profiles, rule, .. } => {
                format!("    {rule} as {}", profiles.join(", "))
            }
            StepKind::Difference { rule, .. } => format!("    differs in {rule}"),
        };
        let at = step.at.map(|it| format!(" at {}:{}", it.line, it.column)).unwrap_or_default();
        let reason = step.reason.as_ref().map(|it| format!(": {it}")).unwrap_or_default();
        let _ = writeln!(out, "{line}{at}{reason}");
    }
    expected.assert_eq(&out);
}
