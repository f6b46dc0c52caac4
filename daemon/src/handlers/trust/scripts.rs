//! What trust remembers of a directory: its skills, and the scripts that `skills/run` would run.
//!
//! All of it is read once, when trust is given, within bounds: what lies beyond them is not known,
//! and asks before it runs.

use std::collections::BTreeSet;
use std::path::Path;

use skills_core::render::resources::is_script;
use skills_engine::store::Content;

use crate::beneath::Beneath;

/// How many bytes of scripts are read. A skill has some ten kilobytes of them.
pub(super) const MOST: u64 = 1024 * 1024 * 1024;

/// Returns the skills and commands in a directory with their scripts, as they are, and how many of
/// them are skills or commands. Blocks on the disk.
pub(super) fn contents(dir: &Path) -> (Vec<Content>, u64) {
    let files = Content::skills_below(dir);
    // One that is not there or cannot be read is no skill.
    let skills = files.iter().filter_map(|it| Some((it.parent()?, Content::read(it).ok()?)));
    let (dirs, mut contents): (BTreeSet<_>, Vec<_>) = skills.unzip();
    let n_skills = contents.len() as u64;
    let mut room = MOST;
    for dir in dirs {
        contents.extend(scripts(dir, &mut room));
    }
    (contents, n_skills)
}

/// Returns the scripts beneath the directory of a skill as they are, as far as there is room.
pub(super) fn scripts(dir: &Path, room: &mut u64) -> Vec<Content> {
    // What cannot be read is not run either.
    let Ok(beneath) = Beneath::open(dir) else { return Vec::new() };
    let files = beneath.list().unwrap_or_default().files;
    let mut found = Vec::new();
    for file in files.iter().filter(|it| it.executable && is_script(&it.relative)) {
        let Some(left) = room.checked_sub(file.size) else { continue };
        *room = left;
        found.extend(beneath.content(&file.relative));
    }
    found
}
