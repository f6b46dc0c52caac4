//! Fixture text: lays out trees of files described by text.
//!
//! A line `//- /path` starts an entry; the text up to the next such line is the file's content.
//! Markdown and YAML do not use that prefix. Words after the path change the entry:
//!
//! | word | meaning |
//! |---|---|
//! | `dir` | an empty directory |
//! | `link=TARGET` | a symbolic link; `TARGET` is written as it stands |
//! | `fifo` | a named pipe without a writer |
//! | `mode=0755` | permission bits, set last |
//! | `size=N` | the file is extended with zero bytes to N (sparse) |
//! | `bytes` | `\xHH` in the text stands for that byte |
//!
//! `\xHH` in a path always stands for that byte, and a blank is written `\x20`.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lays the entries of `text` out below `top`, making directories as needed.
#[track_caller]
pub fn lay_out(top: &Path, text: &str) {
    lay_out_by(text, |_| top);
}

/// Lays the entries of `text` out, each below the directory that `top_of` gives for its path.
#[track_caller]
pub(crate) fn lay_out_by<'a>(text: &str, top_of: impl Fn(&Path) -> &'a Path) {
    for entry in entries(text) {
        entry.make(top_of(&entry.path));
    }
}

/// Returns the text of a small SKILL.md with `name` and `description`.
pub fn skill_text(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\nDo it.\n")
}

/// Writes a marketplace with one plugin into Claude Code's directory of plugins, without the
/// plugin's own files.
pub fn write_marketplace(plugins: &Path, market: &str, plugin: &str) {
    let dir = plugins.join("marketplaces").join(market).join(".claude-plugin");
    let text = format!(
        r#"{{"name": "{market}", "owner": {{"name": "o"}}, "plugins": [{{"name": "{plugin}", "source": {{"source": "github", "repo": "o/r"}}}}]}}"#
    );
    fs::create_dir_all(&dir).expect("a directory can be made");
    fs::write(dir.join("marketplace.json"), text).expect("a file can be written");
}

/// Writes a small skill into `dir`, making directories as needed, and returns its SKILL.md.
#[track_caller]
pub fn write_skill(dir: &Path, name: &str, description: &str) -> PathBuf {
    fs::create_dir_all(dir).expect("a skill directory can be made");
    let path = dir.join("SKILL.md");
    fs::write(&path, skill_text(name, description)).expect("a SKILL.md can be written");
    path
}

#[derive(Debug, PartialEq)]
struct Entry {
    path: PathBuf,
    kind: Kind,
    mode: Option<u32>,
    size: Option<u64>,
}

#[derive(Debug, PartialEq)]
enum Kind {
    File(Vec<u8>),
    Dir,
    Link(PathBuf),
    Fifo,
}

fn entries(text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let head = rest.strip_prefix("//- /").expect("a fixture begins with `//- /path`");
        let (line, after) = head.split_once('\n').unwrap_or((head, ""));
        let end = if after.starts_with("//- /") {
            0
        } else {
            after.find("\n//- /").map_or(after.len(), |at| at + 1)
        };
        entries.push(entry(line, &after[..end]));
        rest = &after[end..];
    }
    entries
}

fn entry(line: &str, text: &str) -> Entry {
    let mut words = line.split_whitespace();
    let path = unescape(words.next().unwrap_or_default().trim_end_matches('/'));
    let mut entry = Entry {
        path: PathBuf::from(OsString::from_vec(path)),
        kind: Kind::File(text.as_bytes().to_vec()),
        mode: None,
        size: None,
    };
    for word in words {
        match word.split_once('=') {
            None if word == "dir" => entry.kind = Kind::Dir,
            None if word == "fifo" => entry.kind = Kind::Fifo,
            None if word == "bytes" => entry.kind = Kind::File(unescape(text)),
            Some(("link", target)) => {
                entry.kind = Kind::Link(PathBuf::from(OsString::from_vec(unescape(target))));
            }
            Some(("mode", octal)) => {
                entry.mode = Some(u32::from_str_radix(octal, 8).expect("a mode is octal"));
            }
            Some(("size", bytes)) => {
                entry.size = Some(bytes.parse().expect("a size is a number of bytes"));
            }
            _ => panic!("`{word}` is not a word of a fixture line"),
        }
    }
    entry
}

impl Entry {
    #[track_caller]
    fn make(&self, top: &Path) {
        let path = top.join(&self.path);
        let fail = |what: &str| panic!("failed to {what} `{}`", path.display());
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).unwrap_or_else(|_| fail("make the parent of"));
        }
        match &self.kind {
            Kind::File(bytes) => fs::write(&path, bytes).unwrap_or_else(|_| fail("write")),
            Kind::Dir => fs::create_dir_all(&path).unwrap_or_else(|_| fail("make directory")),
            Kind::Link(target) => symlink(target, &path).unwrap_or_else(|_| fail("link")),
            Kind::Fifo => {
                let made = Command::new("mkfifo").args(["-m", "600"]).arg(&path).status();
                assert!(
                    made.is_ok_and(|it| it.success()),
                    "failed to make a pipe at `{}`",
                    path.display()
                );
            }
        }
        if let Some(size) = self.size {
            let file = File::options().write(true).open(&path);
            file.and_then(|file| file.set_len(size)).unwrap_or_else(|_| fail("extend"));
        }
        if let Some(mode) = self.mode {
            fs::set_permissions(&path, Permissions::from_mode(mode))
                .unwrap_or_else(|_| fail("set the mode of"));
        }
    }
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\\x") {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let hex = rest.get(at + 2..at + 4).expect("`\\x` is followed by two digits");
        bytes.push(u8::from_str_radix(hex, 16).expect("`\\x` is followed by two hex digits"));
        rest = &rest[at + 4..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileTypeExt as _;

    use super::*;

    #[test]
    fn fixture_text_is_written_to_the_file_above_it() {
        let top = tempfile::tempdir().expect("a directory");
        lay_out(top.path(), "//- /a/b.md\none\ntwo\n//- /c.md\n//- /d.md\nthree");
        let read = |path| fs::read_to_string(top.path().join(path)).expect("it was laid out");
        assert_eq!([read("a/b.md"), read("c.md"), read("d.md")], ["one\ntwo\n", "", "three"]);
    }

    #[test]
    fn fixture_words_make_dirs_links_pipes_and_modes() {
        let top = tempfile::tempdir().expect("a directory");
        lay_out(
            top.path(),
            "//- /dir/ dir\n//- /link link=dir\n//- /pipe fifo\n//- /run.sh mode=0755\n//- /big size=5000\n",
        );
        let meta = |path| fs::symlink_metadata(top.path().join(path)).expect("it was laid out");
        assert!(meta("dir").is_dir());
        assert!(meta("link").is_symlink());
        assert!(meta("pipe").file_type().is_fifo());
        assert_eq!(meta("run.sh").permissions().mode() & 0o777, 0o755);
        assert_eq!(meta("big").len(), 5000);
    }

    #[test]
    fn fixture_escapes_write_non_utf8_bytes() {
        let top = tempfile::tempdir().expect("a directory");
        lay_out(top.path(), "//- /caf\\xe9 bytes\n\\xff!");
        let entry = fs::read_dir(top.path()).expect("a directory").next().expect("an entry");
        let entry = entry.expect("an entry");
        assert_eq!(entry.file_name().into_vec(), b"caf\xe9");
        assert_eq!(fs::read(entry.path()).expect("a file"), b"\xff!");
    }

    #[test]
    fn unknown_fixture_word_is_refused() {
        let refused = std::panic::catch_unwind(|| entries("//- /a modus=0644\n"));
        assert!(refused.is_err());
    }
}
