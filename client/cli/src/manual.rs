//! `skillsd completions` and `skillsd man`: completion scripts and manual pages.
//!
//! Both are generated from clap's definition of the whole program when they are requested. The
//! scripts complete commands and options by themselves, and start skillsd for names of skills and
//! the like ([`crate::complete`]).

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::Args;
use clap_complete::shells;
use clap_mangen::Man;

use crate::complete::{Shell, extend_script};
use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;

const NAME: &str = "skillsd";

#[derive(Debug, Clone, Args)]
pub struct CompletionsArgs {
    /// The shell: bash, zsh, fish
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    shell: Shell,
}

#[derive(Debug, Clone, Args)]
pub struct ManArgs {
    /// Write a page for each command to DIR
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(super) fn completions(
    cx: &CommandContext<'_>,
    args: &CompletionsArgs,
) -> Result<Exit, CommandError> {
    let mut definition = (cx.binary.definition)();
    let mut script = Vec::new();
    match args.shell {
        Shell::Bash => clap_complete::generate(shells::Bash, &mut definition, NAME, &mut script),
        Shell::Zsh => clap_complete::generate(shells::Zsh, &mut definition, NAME, &mut script),
        Shell::Fish => clap_complete::generate(shells::Fish, &mut definition, NAME, &mut script),
    }
    let script = String::from_utf8_lossy(&script);
    cx.terminal.print(&extend_script(args.shell, &script, &mut definition))?;
    Ok(Exit::Fine)
}

pub(super) fn pages(cx: &CommandContext<'_>, args: &ManArgs) -> Result<Exit, CommandError> {
    let definition = (cx.binary.definition)();
    if let Some(dir) = &args.dir {
        let written = fs::create_dir_all(dir);
        let written = written.and_then(|()| clap_mangen::generate_to(definition, dir));
        written.map_err(|error| {
            let dir = dir.display();
            CommandError::finding(format!("failed to write the manual pages to `{dir}`"))
                .because(error.to_string())
                .with_hint("Pass a directory in which you can create files.")
        })?;
        return Ok(Exit::Fine);
    }
    let page = page(definition).map_err(|error| CommandError::output(&error))?;
    cx.terminal.print(&page)?;
    Ok(Exit::Fine)
}

fn page(definition: clap::Command) -> io::Result<String> {
    let mut page = Vec::new();
    Man::new(definition).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
