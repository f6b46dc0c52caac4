//! `skillsd new`: creates a skill from a template without `skillsd check` findings.

use std::fs;
use std::path::PathBuf;

use clap::Args;

use crate::call_context::CallContext;
use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
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

/// Directory that Agent Skills clients search first.
const DIRECTORY: &str = ".agents/skills";

pub(super) fn run(cx: &CommandContext<'_>, args: &NewArgs) -> Result<Exit, CommandError> {
    let context = CallContext::from_args(cx.global, None)?;
    let name = &args.name;
    if let Some(what) = name_error(name) {
        return Err(CommandError::usage(format!("`{name}` {what}"))
            .with_hint("Use lower-case words joined by hyphens, for example `release-notes`."));
    }
    let dir = args.dir.clone().unwrap_or_else(|| DIRECTORY.into());
    let dir = context.cwd.join(dir).join(name);
    let file = dir.join("SKILL.md");
    let failed = |error: std::io::Error| {
        CommandError::finding(format!("failed to create `{}`", file.display()))
            .because(error.to_string())
    };
    if dir.symlink_metadata().is_ok() {
        return Err(CommandError::usage(format!("`{}` already exists", dir.display()))
            .with_hint("Choose another name, or edit the existing skill."));
    }
    fs::create_dir_all(&dir).map_err(failed)?;
    fs::write(&file, text(name)).map_err(failed)?;
    let shown = cx.terminal.local_path(&file);
    cx.terminal.print(&format!("{} {shown}\n", paint(style::GOOD, "✓")))?;
    Ok(Exit::Fine)
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
    fn name_error_follows_the_specification() {
        assert_eq!(name_error("release-notes"), None);
        for name in ["", "Release", "a--b", "-a", "a b", "é", "a/b", ".."] {
            assert!(name_error(name).is_some(), "{name}");
        }
        assert!(name_error(&"a".repeat(65)).is_some());
    }
}
