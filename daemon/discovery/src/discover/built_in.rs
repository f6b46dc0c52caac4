//! Skills built into an agent's program.
//!
//! The profile table has their names and descriptions, which is everything the agent's listing
//! shows. skillsd does not have their text; loading one returns an error that says the agent serves
//! it.

use std::fmt::Write;
use std::sync::Arc;

use skills_agents::profile::{BuiltInSkill, Profile};
use skills_agents::skill::{FileFacts, SkillRecord};
use skills_syntax::path::AbsPath;
use skills_syntax::quote::double_quote_scalar;

use super::Candidate;
use super::address::{built_in_path, is_built_in};
use super::provided::{ProvidedContents, ProvidedRoot, ProvidedSkill};

/// Returns the root that lists an agent's built-in skills.
pub(super) fn provided(profile: &Profile, skills: &[BuiltInSkill]) -> ProvidedRoot {
    // A variant or a derived profile has the built-in skills of its base agent.
    let mut row = profile;
    while let Some(base) = &row.base {
        row = base;
    }
    let path = built_in_path(&row.id);
    let skills = skills.iter().map(|it| ready(&path, it)).collect();
    let origin = format!("the program of {} {}", row.agent, row.version);
    ProvidedRoot { path, origin, contents: ProvidedContents::Skills(skills) }
}

fn ready(root: &AbsPath, skill: &BuiltInSkill) -> ProvidedSkill {
    let BuiltInSkill { name, description } = skill;
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "---\nname: {}", double_quote_scalar(name));
    let _ = writeln!(text, "description: {}\n---", double_quote_scalar(description));
    // There is no file to hash.
    let facts = FileFacts { size: text.len() as u64, truncated: false, hash: [0; 32] };
    ProvidedSkill {
        path: root.child(&**name),
        record: Arc::new(SkillRecord::read(text.as_bytes(), facts)),
        name: Some((**name).into()),
    }
}

impl Candidate {
    /// Returns true if the skill is built into an agent's program, which alone serves its text.
    pub fn is_built_in(&self) -> bool {
        is_built_in(&self.path)
    }
}
