//! Facts about agents as data, and the skill record.
//!
//! Contains the field table and the typed reading of fields, the profiles, each agent's lenient
//! loaders, the skill record, commands, plugins, hooks, names of tools, and references to skills in
//! texts. Performs no I/O and reads no clock or environment.

pub mod claude_text;
pub mod command;
pub mod fence;
pub mod field_table;
pub mod fields;
pub mod hooks;
pub mod keyword;
pub mod listing;
pub mod loaders;
pub mod plugin;
pub mod profile;
pub mod references;
pub mod scalar;
pub mod skill;
pub mod text_parts;
pub mod tool_names;
pub mod yaml_library;
