//! `skillsd new`: creates a skill from a template without `skillsd check` findings.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use skills_protocol::method::SkillsExplain;
use skills_protocol::own_directory;
use skills_protocol::path::{decode, encode, encoding_of};
use skills_protocol::wire::{ExplainResult, Outcome, Scope, StepKind};

use crate::agent_config::environment::InstallEnvironment;
use crate::call_context::CallContext;
use crate::confirm::{has_person, read_answer};
use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::server_connection::ServerConnection;
use crate::style::{self, paint};
use crate::switch::{confined, worktree_top};
use crate::text::count;

#[derive(Debug, Clone, Args)]
pub struct NewArgs {
    /// Name of the skill: lower-case words joined by hyphens
    #[arg(value_name = "NAME")]
    name: String,
    /// Directory that gets the skill [default: one in which the agent looks]
    ///
    /// Prefers a directory of the worktree that has skills, then one that exists. On a terminal the
    /// command asks if several fit; elsewhere it takes the nearest.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Directory in a project that may get the skill.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NewPlace {
    dir: PathBuf,
    exists: bool,
    n_skills: u64,
}

pub(super) fn run(cx: &CommandContext<'_>, args: &NewArgs) -> Result<Exit, CommandError> {
    let context = CallContext::from_args(cx.global, None)?.single_profile()?;
    let name = &args.name;
    if let Some(what) = name_error(name) {
        return Err(CommandError::usage(format!("`{name}` {what}"))
            .with_hint("Use lower-case words joined by hyphens, for example `release-notes`."));
    }
    let dir = match &args.dir {
        Some(dir) => {
            let (dir, top) = (context.cwd.join(dir), worktree_top(&context.cwd));
            // A repository may have made it a link to somewhere else.
            if dir.starts_with(&top) { confined(&dir, &[top])? } else { dir }
        }
        None => agent_directory(cx, &context)?,
    };
    let dir = dir.join(name);
    let file = dir.join("SKILL.md");
    let failed = |error: std::io::Error| {
        CommandError::finding(format!("failed to create `{}`", file.display()))
            .because(error.to_string())
    };
    if dir.symlink_metadata().is_ok() {
        return Err(CommandError::usage(format!("`{}` already exists", dir.display()))
            .with_hint("Choose another name, or edit the existing skill."));
    }
    let above = dir.parent().unwrap_or(&dir);
    fs::create_dir_all(above).map_err(failed)?;
    fs::create_dir(&dir).map_err(failed)?;
    let mut new = fs::File::create_new(&file).map_err(failed)?;
    new.write_all(text(name).as_bytes()).map_err(failed)?;
    let text = if cx.global.json {
        let encoding = encoding_of([&*file]);
        json!({"name": name, "file": encode(&file, encoding), "pathEncoding": encoding}).to_string()
    } else {
        format!("{} {}", paint(style::GOOD, "✓"), cx.terminal.local_path(&file))
    };
    cx.terminal.print(&format!("{text}\n"))?;
    Ok(Exit::Fine)
}

/// Returns the directory of the worktree in which the agent looks for skills; the user's if the
/// agent looks in no worktree.
fn agent_directory(
    cx: &CommandContext<'_>,
    context: &CallContext,
) -> Result<PathBuf, CommandError> {
    let found = ServerConnection::open_reading(cx)?.call::<SkillsExplain>(&context.params())?;
    let top = worktree_top(&context.cwd);
    let all = places(&found, &top);
    let profile = found.profile.split_once('@').map_or(&*found.profile, |(base, _)| base);
    let agent = own_directory(profile);
    let own = agent.and_then(|it| it.in_project(&context.cwd, &context.cwd, &top));
    if let (Some(agent), None, true) = (agent, &own, all.is_empty())
        && let Some(dir) = InstallEnvironment::read()?.user_directory(agent)
    {
        return Ok(dir);
    }
    let own = own.unwrap_or_else(|| context.cwd.join(".agents/skills"));
    // A user's profile may look elsewhere.
    let is_read = all.is_empty() || all.iter().any(|it| it.dir == own);
    let default = if is_read { own.clone() } else { all[0].dir.clone() };
    let mut places = fitting(all);
    places.sort_by_key(|it| it.dir != own);
    let dir = match places.len() {
        0 => default,
        1 => places.remove(0).dir,
        _ if has_person() => choose(cx, places)?,
        _ => places.remove(0).dir,
    };
    confined(&dir, &[top])
}

/// Returns the agent's directories in the worktree, the nearest first.
fn places(found: &ExplainResult, top: &Path) -> Vec<NewPlace> {
    let mut places: Vec<NewPlace> = Vec::new();
    for step in &found.steps {
        let is_project = step.kind == StepKind::Root && step.scope == Some(Scope::Project);
        let exists = step.outcome == Outcome::Searched;
        if !is_project || !exists && step.outcome != Outcome::Missing {
            continue;
        }
        let dir = step.root.as_ref().and_then(|it| decode(it, step.path_encoding).ok());
        let Some(dir) = dir.filter(|it| it.starts_with(top)) else { continue };
        if !places.iter().any(|it| it.dir == dir) {
            places.push(NewPlace { dir, exists, n_skills: step.found.unwrap_or(0) });
        }
    }
    places.sort_by_key(|it| std::cmp::Reverse(it.dir.components().count()));
    places
}

/// Returns the directories with skills, else those that exist.
fn fitting(places: Vec<NewPlace>) -> Vec<NewPlace> {
    let has_skills = |it: &NewPlace| it.n_skills > 0;
    if places.iter().any(has_skills) {
        return places.into_iter().filter(has_skills).collect();
    }
    places.into_iter().filter(|it| it.exists).collect()
}

/// Asks the person which directory gets the skill.
fn choose(cx: &CommandContext<'_>, mut places: Vec<NewPlace>) -> Result<PathBuf, CommandError> {
    let mut text = "Several directories fit:\n".to_owned();
    for (nth, it) in places.iter().enumerate() {
        let dir = cx.terminal.local_path(&it.dir);
        let _ = writeln!(text, "  {}  {dir} · {}", nth + 1, count(it.n_skills, "skill"));
    }
    cx.terminal.prompt(&format!("{text}Which one? [1] "));
    let answer = read_answer()?;
    let nth = if answer.is_empty() { Some(1) } else { answer.parse::<usize>().ok() };
    match nth {
        Some(nth) if (1..=places.len()).contains(&nth) => Ok(places.remove(nth - 1).dir),
        _ => Err(CommandError::usage(format!("`{answer}` is none of the directories"))
            .with_hint("Answer with a number of the list, or pass `--dir DIR`.")),
    }
}

/// Returns the violation of the specification's rules for names, if there is one.
fn name_error(name: &str) -> Option<&'static str> {
    let is_bare = |it: char| matches!(it, 'a'..='z' | '0'..='9' | '-');
    if name.is_empty() {
        Some("is empty")
    } else if name.len() > 64 {
        Some("is longer than 64 characters")
    } else if !name.chars().all(is_bare) {
        Some("contains characters other than `a-z`, `0-9` and `-`")
    } else if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        Some("begins or ends with a hyphen, or has two in a row")
    } else {
        None
    }
}

fn text(name: &str) -> String {
    let title = name.replace('-', " ");
    let mut letters = title.chars();
    let title: String =
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    format!(
        "---\n\
         name: {name}\n\
         description: {title}, in a sentence. Use when the user asks for it; say here in which words.\n\
         ---\n\n\
         # {title}\n\n\
         Say what to do, step by step.\n\n\
         1. The first step.\n\
         2. The second step.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_in_use_comes_before_one_that_exists() {
        let place = |dir: &str, exists, n_skills| NewPlace { dir: dir.into(), exists, n_skills };
        let fits = |places: &[NewPlace]| {
            let dirs = fitting(places.to_vec()).into_iter();
            dirs.map(|it| it.dir.display().to_string()).collect::<Vec<_>>().join(" ")
        };
        let (missing, empty) = (place("/m", false, 0), place("/e", true, 0));
        let (used, other) = (place("/u", true, 2), place("/o", true, 1));
        assert_eq!(fits(std::slice::from_ref(&missing)), "");
        assert_eq!(fits(&[missing.clone(), empty.clone()]), "/e");
        assert_eq!(fits(&[missing, empty, used, other]), "/u /o");
    }

    #[test]
    fn name_error_follows_the_specification() {
        assert_eq!(name_error("release-notes"), None);
        for name in ["", "Release", "a--b", "-a", "a b", "é", "a/b", ".."] {
            assert!(name_error(name).is_some(), "{name}");
        }
        assert!(name_error(&"a".repeat(65)).is_some());
    }
}
