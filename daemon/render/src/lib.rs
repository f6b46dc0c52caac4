//! Rendering: what an agent hands its model, to the byte.
//!
//! A skill that is loaded ([`load()`]), the catalog of those that there are ([`catalog`]) and the
//! tool that an agent registers ([`tool()`]), each as the agent of a
//! [`Format`](skills_agents::profile::Format) writes it. Text and
//! values go in, text goes out; nothing is run and no file is looked at. One rule holds for all of
//! it: what was put in for a placeholder is never looked at again, so that a value cannot become a
//! placeholder or a command.

mod arguments;
mod command;
mod expand;
mod invisible_chars;
mod load;
mod locale;
mod metadata;
mod placeholder;
pub mod prompt_listing;
pub mod resources;
mod skill_file;
mod substitute;
mod tool;
mod xml;

pub use arguments::named_arguments;
pub use command::{EmbeddedCommand, ShellCommand, count_commands};
pub use expand::{ShellMode, ShellResults};
pub use load::{Invoker, LoadRequest, LoadedSkill, SkillFiles, load};
pub use metadata::{ExecutionContext, Metadata, PromptMessage};
pub use placeholder::{Placeholder, PlaceholderKind, PlaceholderSyntax, highest_number};
pub use skill_file::SkillFile;
pub use substitute::Variables;
pub use tool::{Tool, tool};
pub use xml::{escape, file_url};

#[cfg(test)]
mod tests;
