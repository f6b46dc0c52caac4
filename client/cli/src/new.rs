//! `skillsd new`: a skill to begin with, which `skillsd check` finds nothing in.

use std::fs;
use std::path::PathBuf;

use clap::Args;

use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::place::Place;
use crate::style::{self, paint};

/// Arguments of `skillsd new`.
#[derive(Debug, Clone, Args)]
pub struct NewArgs {
    /// Name of the skill: lower-case words joined by hyphens
    #[arg(value_name = "NAME")]
    name: String,
    /// Directory that gets the skill [default: .agents/skills]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Where the clients of the standard look first.
const DIRECTORY: &str = ".agents/skills";

pub(super) fn run(cx: &CommandContext<'_>, args: &NewArgs) -> Result<Exit, CommandError> {
    let place = Place::of(cx.global, None)?;
    let name = &args.name;
    if let Some(what) = fault(name) {
        return Err(CommandError::usage(format!("`{name}` {what}"))
            .with_hint("Name it in lower-case words with hyphens, for example `release-notes`."));
    }
    let dir = args.dir.clone().unwrap_or_else(|| DIRECTORY.into());
    let dir = place.cwd.join(dir).join(name);
    let file = dir.join("SKILL.md");
    let failed = |error: std::io::Error| {
        CommandError::finding(format!("failed to make `{}`", file.display()))
            .because(error.to_string())
    };
    if dir.symlink_metadata().is_ok() {
        return Err(CommandError::usage(format!("`{}` is there already", dir.display()))
            .with_hint("Choose another name, or edit the skill that there is."));
    }
    fs::create_dir_all(&dir).map_err(failed)?;
    fs::write(&file, text(name)).map_err(failed)?;
    let shown = cx.terminal.local_path(&file);
    cx.terminal.print(&format!("{} {shown}\n", paint(style::GOOD, "✓")))?;
    Ok(Exit::Fine)
}

/// Returns what the standard has against a name.
fn fault(name: &str) -> Option<&'static str> {
    let is_bare = |it: char| matches!(it, 'a'..='z' | '0'..='9' | '-');
    if name.is_empty() {
        Some("is empty")
    } else if name.len() > 64 {
        Some("is longer than 64 characters")
    } else if !name.chars().all(is_bare) {
        Some("holds other characters than `a-z`, `0-9` and `-`")
    } else if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        Some("begins or ends with a hyphen, or doubles one")
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
    fn names_are_those_of_the_standard() {
        assert_eq!(fault("release-notes"), None);
        for name in ["", "Release", "a--b", "-a", "a b", "é", "a/b", ".."] {
            assert!(fault(name).is_some(), "{name}");
        }
        assert!(fault(&"a".repeat(65)).is_some());
    }
}
