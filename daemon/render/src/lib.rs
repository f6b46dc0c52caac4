//! Renders skills and prompt listings exactly as each agent hands them to its model.
//!
//! The crate renders loaded skills ([`load()`]), prompt listings ([`prompt_listing`]) and tool
//! definitions ([`tool()`]) in each agent's [`OutputFormat`](skills_agents::profile::OutputFormat).
//! It maps text and values to text; it runs no command and reads no file. One rule holds
//! throughout: substituted values are never scanned again, so a value cannot become a placeholder
//! or a command.

mod arguments;
mod claude_words;
mod command;
mod expand;
mod invisible_chars;
mod load;
mod load_request;
pub mod locale;
mod metadata;
mod placeholder;
pub mod prompt_listing;
pub mod resources;
mod skill_file;
mod substitute;
mod template;
mod template_load;
mod tool;
mod xml;

pub use arguments::named_arguments;
pub use command::{EmbeddedCommand, ShellCommand, count_commands};
pub use expand::{ShellMode, ShellResults};
pub use load::{LoadedSkill, load};
pub use load_request::{Invoker, LoadRequest, SkillFiles};
pub use metadata::{ExecutionContext, Metadata, PromptMessage};
pub use placeholder::{Placeholder, PlaceholderKind, PlaceholderSyntax, highest_number};
pub use skill_file::SkillFile;
pub use substitute::Variables;
pub use tool::{Tool, registered_tools, tool};
pub use xml::{escape, file_url};

#[cfg(test)]
mod tests;
