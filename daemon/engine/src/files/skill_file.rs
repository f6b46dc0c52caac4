//! Name of the file that makes a directory a skill.

use std::path::Path;

pub const SKILL_FILE: &str = "SKILL.md";

/// Returns true if a path names a skill's file, in any case.
pub(crate) fn is_skill_file(path: &Path) -> bool {
    path.file_name().is_some_and(|it| it.eq_ignore_ascii_case(SKILL_FILE))
}
