//! Tests of the rules on whole texts.
//!
//! `examples` checks the examples of each rule; the other modules check cases that distinguish
//! rules.

mod arguments;
mod attribution;
mod coverage;
mod examples;
mod false_positives;
mod fences;
mod fix_verification;
mod fixes;
mod labelled;
mod linked_texts;
mod location;
mod made_files;
mod many_skills;
mod mentions;
mod messages;
mod project_files;
mod samples;
mod security;
mod suppression;
mod typing;
