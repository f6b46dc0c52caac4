//! Rule levels and profiles for `check` from several files, the last of which wins.

use skills_discovery::levels::{ConfiguredLevels, Level};
use skills_syntax::path::AbsPath;

use super::levels::RuleLevels;
use super::table::Config;

/// Returns the levels from these rows for the worktree at `top`.
pub fn levels_of(rows: &[LevelRow], top: &AbsPath) -> ConfiguredLevels {
    let mut levels = ConfiguredLevels::default();
    for LevelRow { rule, level, glob } in rows {
        match glob {
            None => levels.set(rule, *level),
            Some(glob) => levels.set_for(top, glob, rule, *level),
        }
    }
    levels
}

/// The level of one rule, family or `*`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LevelRow {
    /// Rule id, family or `*`.
    pub rule: String,
    pub level: Level,
    /// Glob of the files below the worktree's top; `None` means all files.
    pub glob: Option<String>,
}

/// Returns the level rows of several files, in increasing order of precedence.
pub fn level_rows<'a>(files: impl IntoIterator<Item = &'a Config>) -> Vec<LevelRow> {
    let mut rows = Vec::new();
    let mut add = |rules: &RuleLevels, glob: Option<&String>| {
        let row = |(rule, level): &(String, Level)| LevelRow {
            rule: rule.clone(),
            level: *level,
            glob: glob.cloned(),
        };
        rows.extend(rules.0.iter().map(row));
    };
    for file in files {
        add(&file.check_rules, None);
        for (glob, rules) in &file.check_paths.0 {
            add(rules, Some(glob));
        }
    }
    rows
}

/// Returns the profiles for `check`: those of the last file that sets any.
pub fn check_profiles<'a>(files: impl IntoIterator<Item = &'a Config>) -> Vec<String> {
    let named = files.into_iter().map(|it| &it.check_profiles).filter(|it| !it.is_empty()).last();
    named.cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConfigSource, read};

    #[test]
    fn check_profiles_come_from_the_last_file_that_sets_any() {
        let named = read(b"check.profiles = [\"codex\"]\n", ConfigSource::User).config;
        assert_eq!(check_profiles([&named, &Config::default()]), ["codex"]);
        assert!(check_profiles([&Config::default()]).is_empty());
    }
}
