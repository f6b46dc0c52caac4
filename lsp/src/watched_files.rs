//! The files outside the index whose changes can affect findings.

use std::path::Path;

use skills_agents::references::is_referencing_file;

/// Globs of files whose content can change findings: skills and files near them, agents' files, and
/// configuration.
pub(crate) const WATCHED: [&str; 6] = [
    "**/SKILL.md",
    "**/{CLAUDE,CLAUDE.local,AGENTS,AGENTS.override,GEMINI}.md",
    "**/{skills,skill}/**",
    "**/.{claude,agents,opencode,codex,gemini}/**",
    "**/.skillsd.toml",
    "**/.gitignore",
];

/// The directories in [`WATCHED`]; every file below them is relevant.
const DIRECTORIES: [&str; 7] =
    ["skills", "skill", ".claude", ".agents", ".opencode", ".codex", ".gemini"];

/// Returns true if the content of a file can change findings, not only its existence: files in
/// [`WATCHED`], and other files that mention skills.
pub(crate) fn is_relevant(path: &Path) -> bool {
    let is_configuration =
        path.file_name().is_some_and(|it| it == ".skillsd.toml" || it == ".gitignore");
    let is_below = || path.iter().any(|it| DIRECTORIES.iter().any(|directory| it == *directory));
    is_configuration || is_below() || is_referencing_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_outputs_are_not_relevant() {
        for (path, expected) in [
            ("/w/.claude/skills/pdf/scripts/a.py", true),
            ("/w/tools/skill", true),
            ("/w/.codex/config.toml", true),
            ("/w/a/AGENTS.md", true),
            ("/w/opencode/agents/a.md", true),
            ("/w/a/.gitignore", true),
            ("/w/.skillsd.toml", true),
            ("/w/target/debug/deps/skills-1.o", false),
            ("/w/dist/README.md", false),
        ] {
            assert_eq!(is_relevant(Path::new(path)), expected, "{path}");
        }
    }
}
