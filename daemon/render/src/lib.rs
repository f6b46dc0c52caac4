//! Rendering: what an agent hands its model, to the byte.
//!
//! A skill that is loaded ([`load()`]), the catalog of those that there are ([`catalog`]) and the
//! tool that an agent registers ([`tool()`]), each as the agent of a
//! [`Format`](skills_agents::profile::Format) writes it. Text and
//! values go in, text goes out; nothing is run and no file is looked at. One rule holds for all of
//! it: what was put in for a placeholder is never looked at again, so that a value cannot become a
//! placeholder or a command.

mod arguments;
mod body;
pub mod catalog;
mod command;
mod expand;
mod load;
mod locale;
mod metadata;
mod placeholder;
pub mod resources;
mod substitute;
mod tool;
mod unseen;
mod xml;

pub use arguments::named_arguments;
pub use body::Body;
pub use command::{Command, Injected, count_commands};
pub use expand::{Shell, ShellResults};
pub use load::{By, Files, Loaded, Loading, load};
pub use metadata::{Message, Metadata, Status};
pub use placeholder::{Asked, Placeholder, Placeholders, highest};
pub use substitute::Variables;
pub use tool::{Tool, tool};
pub use xml::{escape, file_url};

#[cfg(test)]
mod tests;
