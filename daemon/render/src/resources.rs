//! Selects the files of a skill that each agent lists, and formats them.
//!
//! This module does not access the disk: callers pass lists of paths relative to the skill's
//! directory.

use std::fmt::Write as _;
use std::path::{Component, Path};

use skills_agents::profile::OutputFormat;

use super::locale;

/// Number of files in opencode's sample.
pub const SAMPLE: usize = 10;

/// Number of files in the open standard's format.
pub const MAX_STANDARD_FILES: usize = 100;

/// Maximum depth of files that opencode-agent-skills lists, in directories above the file.
const PLUGIN_DEEPEST: usize = 3;

/// Maximum depth of scripts, in directories above the file.
const SCRIPTS_DEEPEST: usize = 10;

/// Directories without scripts of the skill itself.
const NO_SCRIPTS: [&str; 7] =
    ["node_modules", "__pycache__", ".git", ".venv", "venv", ".tox", ".nox"];

/// Returns the files in opencode's sample: the first ten in sorted order, without files named
/// `SKILL.md`; as the founding documents describe it, without paths that contain this name. The
/// agent itself takes the first ten in directory order.
pub fn opencode_sample(mut files: Vec<String>, format: OutputFormat) -> Vec<String> {
    let founding = format == OutputFormat::OpencodeFounding;
    let is_skill = |it: &str| it.rsplit('/').next() == Some("SKILL.md");
    files.retain(|it| !(is_skill(it) || founding && it.contains("SKILL.md")));
    files.sort_unstable();
    files.truncate(SAMPLE);
    files
}

/// Returns whether opencode-agent-skills treats an executable file as a script: neither the file
/// nor a directory above it is hidden or belongs to a tool, and at most ten are above it.
pub fn is_script(relative: &Path) -> bool {
    let is_reached = relative.components().count() <= SCRIPTS_DEEPEST + 1;
    is_reached
        && relative.components().all(|it| match it {
            Component::Normal(name) => {
                let name = name.to_string_lossy();
                !name.starts_with('.') && !NO_SCRIPTS.contains(&&*name)
            }
            _ => false,
        })
}

/// Returns whether opencode-agent-skills lists a file.
pub fn is_plugin_file(relative: &Path) -> bool {
    let is_skill = relative.file_name().is_some_and(|it| it == "SKILL.md");
    !is_skill && relative.components().count() <= PLUGIN_DEEPEST + 1
}

/// The entries of a directory, without links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirEntries {
    pub files: Vec<String>,
    pub directories: Vec<String>,
}

/// Number of files and directories in Gemini CLI's tree.
const MAX_TREE_ITEMS: usize = 200;

/// Directories that it shows without their content.
const CLOSED: [&str; 4] = ["node_modules", ".git", "dist", "__pycache__"];

/// A directory of the tree under construction.
#[derive(Debug, Default)]
struct Folder {
    name: String,
    /// The path below the top; empty for the top itself.
    path: String,
    files: Vec<String>,
    /// Indexes of its sub-directories in the list of all folders.
    folders: Vec<usize>,
    is_closed: bool,
    more_files: bool,
    more_folders: bool,
}

/// Draws the tree of a directory like Gemini CLI: level by level, up to 200 items.
///
/// `entries` returns the content of a directory below the top, or `None` if it cannot be read.
pub fn draw_tree(top: &str, mut entries: impl FnMut(&str) -> Option<DirEntries>) -> String {
    let mut folders = vec![Folder::default()];
    let mut n_drawn = 0;
    let mut next = 0;
    while next < folders.len() {
        if !folders[next].is_closed
            && n_drawn < MAX_TREE_ITEMS
            && let Some(found) = entries(&folders[next].path)
        {
            open(next, found, &mut folders, &mut n_drawn);
        }
        next += 1;
    }
    let is_cut = folders.iter().any(|it| it.is_closed || it.more_files || it.more_folders);
    let mut text = format!("Showing up to {MAX_TREE_ITEMS} items (files + folders).");
    if is_cut {
        // Writing to a `String` cannot fail.
        let _ = write!(
            text,
            " Folders or files indicated with ... contain more items not shown, were ignored, or the display limit ({MAX_TREE_ITEMS} items) was reached."
        );
    }
    let mut lines = Vec::new();
    draw(0, "", &folders, &mut lines);
    format!("{text}\n\n{top}/\n{}", lines.join("\n"))
}

/// Fills a folder and appends its sub-directories to the queue.
fn open(at: usize, mut found: DirEntries, folders: &mut Vec<Folder>, n_drawn: &mut usize) {
    found.files.sort_by(|a, b| locale::compare(a, b));
    found.directories.sort_by(|a, b| locale::compare(a, b));
    let room = MAX_TREE_ITEMS - *n_drawn;
    folders[at].more_files = found.files.len() > room;
    found.files.truncate(room);
    *n_drawn += found.files.len();
    folders[at].files = found.files;
    for name in found.directories {
        if *n_drawn >= MAX_TREE_ITEMS {
            folders[at].more_folders = true;
            break;
        }
        *n_drawn += 1;
        let above = &folders[at].path;
        let path = if above.is_empty() { name.clone() } else { format!("{above}/{name}") };
        let is_closed = CLOSED.contains(&&*name);
        let index = folders.len();
        folders[at].folders.push(index);
        folders.push(Folder { name, path, is_closed, ..Folder::default() });
    }
}

fn draw(at: usize, indent: &str, folders: &[Folder], lines: &mut Vec<String>) {
    let folder = &folders[at];
    let nothing_below = folder.folders.is_empty() && !folder.more_folders;
    let branch = |is_last: bool| if is_last { "└───" } else { "├───" };
    for (nth, file) in folder.files.iter().enumerate() {
        let is_last = nth + 1 == folder.files.len() && nothing_below;
        lines.push(format!("{indent}{}{file}", branch(is_last)));
    }
    if folder.more_files {
        lines.push(format!("{indent}{}...", branch(nothing_below)));
    }
    for (nth, below) in folder.folders.iter().enumerate() {
        let is_last = nth + 1 == folder.folders.len() && !folder.more_folders;
        let Folder { name, is_closed, .. } = &folders[*below];
        let closed = if *is_closed { "..." } else { "" };
        lines.push(format!("{indent}{}{name}/{closed}", branch(is_last)));
        draw(*below, &format!("{indent}{}", if is_last { "    " } else { "│   " }), folders, lines);
    }
    if folder.more_folders {
        lines.push(format!("{indent}└───..."));
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn opencode_sample_has_ten_files_without_skill_files() {
        let mut files = texts(&["SKILL.md", "sub/SKILL.md", "old-SKILL.md.bak", "b", ".hidden"]);
        assert_eq!(
            opencode_sample(files.clone(), OutputFormat::OpencodeFounding),
            [".hidden", "b"]
        );
        let sample = opencode_sample(files.clone(), OutputFormat::Opencode);
        assert_eq!(sample, [".hidden", "b", "old-SKILL.md.bak"]);
        files.extend((0..20).map(|it| format!("f{it:02}")));
        assert_eq!(opencode_sample(files, OutputFormat::Opencode).len(), SAMPLE);
    }

    #[test]
    fn scripts_exclude_hidden_and_tool_directories() {
        let scripts = ["a", "scripts/a.sh", "x/y/z"].map(Path::new);
        assert!(scripts.into_iter().all(is_script));
        let others = [".a", ".x/a", "node_modules/a", "x/venv/a", "../a", "/a"].map(Path::new);
        assert!(!others.into_iter().any(is_script));
    }

    #[test]
    fn tree_is_drawn_like_gemini() {
        let text = draw_tree("/w/s", |path| {
            Some(match path {
                "" => DirEntries {
                    files: texts(&["SKILL.md", "a.md"]),
                    directories: texts(&["scripts", "node_modules", "empty"]),
                },
                "scripts" => DirEntries { files: texts(&["run.sh"]), directories: texts(&["in"]) },
                "scripts/in" => DirEntries { files: texts(&["x"]), ..DirEntries::default() },
                "empty" => DirEntries::default(),
                other => panic!("{other}"),
            })
        });
        expect![[r#"
            Showing up to 200 items (files + folders). Folders or files indicated with ... contain more items not shown, were ignored, or the display limit (200 items) was reached.

            /w/s/
            ├───a.md
            ├───SKILL.md
            ├───empty/
            ├───node_modules/...
            └───scripts/
                ├───run.sh
                └───in/
                    └───x"#]]
        .assert_eq(&text);
    }

    #[test]
    fn large_tree_is_truncated() {
        let files: Vec<_> = (0..250).map(|it| format!("f{it:03}")).collect();
        let text = draw_tree("/s", |path| {
            let directories = texts(&["d"]);
            path.is_empty().then(|| DirEntries { files: files.clone(), directories })
        });
        assert_eq!(text.lines().filter(|it| it.contains("───f")).count(), 200);
        assert!(text.ends_with("├───f199\n├───...\n└───..."), "{text}");
    }
}
