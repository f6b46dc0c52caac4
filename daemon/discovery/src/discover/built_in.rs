//! Skills that are part of an agent's program.
//!
//! The table says what they are called and what the agent says of them, which is all that an
//! agent's list tells. Their text is not ours: nothing here has it, and whoever asks to load one is
//! told that the agent serves it.

use std::fmt::Write;
use std::sync::Arc;

use skills_agents::profile::{BuiltInSkill, Profile};
use skills_agents::skill::{FileFacts, SkillRecord};
use skills_syntax::path::AbsPath;

use super::Candidate;
use super::address::{built_in_path, is_built_in};
use super::provided::{Provided, Ready, Stock, quoted};

/// Returns the root that an agent's own skills are listed under.
pub(super) fn provided(profile: &Profile, skills: &[BuiltInSkill]) -> Provided {
    // A variant, or a profile made from the agent's, has the agent's own.
    let mut row = profile;
    while let Some(base) = &row.base {
        row = base;
    }
    let path = built_in_path(&row.id);
    let skills = skills.iter().map(|it| ready(&path, it)).collect();
    let origin = format!("the program of {} {}", row.agent, row.version);
    Provided { path, origin, stock: Stock::Ready(skills) }
}

fn ready(root: &AbsPath, skill: &BuiltInSkill) -> Ready {
    let BuiltInSkill { name, description } = skill;
    let mut text = String::new();
    // Writing to a text does not fail.
    let _ = writeln!(text, "---\nname: {}", quoted(name));
    let _ = writeln!(text, "description: {}\n---", quoted(description));
    // There is no file whose hash it could be.
    let facts = FileFacts { size: text.len() as u64, truncated: false, hash: [0; 32] };
    Ready {
        path: root.child(&**name),
        record: Arc::new(SkillRecord::read(text.as_bytes(), facts)),
        name: Some((**name).into()),
    }
}

impl Candidate {
    /// Returns whether it is part of an agent's program, which alone hands its text out.
    pub fn is_built_in(&self) -> bool {
        is_built_in(&self.path)
    }
}
