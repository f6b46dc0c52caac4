//! Text positions and edits, paths, and parsers for Markdown, SKILL.md, JSON, TOML and YAML.
//!
//! This crate knows no agent and no field. All functions are pure: no file, clock, environment,
//! thread, process or network access.

pub mod config_tree;
pub mod diagnostic;
pub mod edit;
pub mod git_config;
pub mod invisible_chars;
pub mod markdown;
pub mod parse;
pub mod path;
pub mod quote;
pub mod suggest;
pub mod text;
