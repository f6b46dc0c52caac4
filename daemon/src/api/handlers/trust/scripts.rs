//! The content that trust in a directory remembers: its skills, each with all of its files.
//!
//! All of it is read once, when trust is given, within bounds: what lies beyond them is not known,
//! and asks before it runs.

use std::collections::BTreeSet;
use std::path::Path;

use skills_engine::sessions::store::Content;

use crate::access::sealed_copy::{Snapshot, Unit};

/// Returns the skills and commands in a directory with all their files, as they are, and how many
/// of them are skills or commands. Blocks on the disk.
pub(super) fn contents(dir: &Path) -> (Vec<Content>, u64) {
    let files = Content::skills_below(dir);
    // One that is not there or cannot be read is no skill.
    let skills = files.iter().filter_map(|it| Some((it, Content::read(it).ok()?)));
    let (files, mut contents): (Vec<_>, Vec<_>) = skills.unzip();
    let n_skills = contents.len() as u64;
    let units: BTreeSet<_> = files.iter().flat_map(|it| units(it, dir)).collect();
    contents.extend(
        units.into_iter().filter_map(|it| Some(Snapshot::take(it).ok()?.content().clone())),
    );
    (contents, n_skills)
}

/// Returns the files that a skill may be run with: its own, and those of plugins that it is in.
fn units(file: &Path, dir: &Path) -> Vec<Unit> {
    let above = file.ancestors().skip(1).take_while(|it| it.starts_with(dir));
    let plugins = above.filter(|it| it.join(".claude-plugin").is_dir());
    let plugins = plugins.map(|it| Unit::of(file, Some(it)));
    plugins.chain([Unit::of(file, None)]).collect()
}
