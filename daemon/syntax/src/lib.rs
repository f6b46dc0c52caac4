//! Texts and their trees: positions, edits, Markdown, SKILL.md, JSON, TOML and YAML.
//!
//! Knows no agent and no field. Takes text and returns values; touches no file, clock, environment,
//! thread, process or network.

pub mod config_tree;
pub mod diagnostic;
pub mod edit;
pub mod invisible_chars;
pub mod markdown;
pub mod parse;
pub mod path;
pub mod quote;
pub mod suggest;
pub mod text;
