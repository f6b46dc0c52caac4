//! Words of one command: those that are paths, change the directory, or are commands themselves.
//!
//! The operands and options of most programs are not known: a word is a path if something exists
//! there.

use std::path::PathBuf;

use super::super::touched::{MAX_FILES, absolute, patched};
use super::super::word::Word;
use super::Walk;

/// Programs that run a command given as text: as an operand, or from a here-document.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "eval", "watch"];

/// Options with the directory that a program changes to before it reads its other operands.
const DIR_OPTIONS: &[&str] =
    &["-C", "--chdir", "--cwd", "--dir", "--directory", "--prefix", "--project", "--work-tree"];

impl Walk<'_> {
    /// Records the paths of a command given as words.
    pub(super) fn run(&mut self, words: &[Word]) {
        let Some((name, operands)) = words.split_first() else { return };
        match name.start().as_str() {
            "echo" | "printf" => {}
            "cd" | "chdir" | "pushd" => match operands.iter().find(|it| !it.is_option()) {
                Some(to) if to.start() == "-" => self.go_back(),
                Some(to) => {
                    let dir = to.text().and_then(|_| self.path(to));
                    self.extend(dir.clone());
                    self.change_directory(dir);
                }
                None => self.change_directory(self.dirs.home.clone()),
            },
            "popd" => self.go_back(),
            "apply_patch" | "applypatch" => {
                let given = operands.first().and_then(Word::text);
                let patch = given.as_deref().or(self.input.as_deref()).unwrap_or_default();
                self.extend(patched(patch, &self.state.cwd));
            }
            _ => {
                let cwd = self.state.cwd.clone();
                self.read(words);
                self.state.cwd = cwd;
            }
        }
    }

    /// Records the words that are paths, and analyses the text that a shell among them runs.
    fn read(&mut self, words: &[Word]) {
        let is_git = words.iter().any(|it| it.start() == "git");
        let (mut before, mut shell_at) = (String::new(), None);
        for (nth, word) in words.iter().enumerate() {
            let text = word.start();
            // `--name=value`, `--name value`, `name=value`.
            let (name, value) = match word.split('=') {
                Some((name, value)) => (name.start(), value),
                None => (std::mem::take(&mut before), word.clone()),
            };
            before.clone_from(&text);
            if shell_at.is_some() && text.contains(char::is_whitespace) {
                self.in_subshell(|walk| walk.text(&text));
            } else if SHELLS.contains(&text.rsplit('/').next().unwrap_or_default()) {
                shell_at = Some(nth);
            } else if DIR_OPTIONS.contains(&&*name)
                && let Some(dir) = self.directory(&value)
            {
                self.extend([dir.clone()]);
                self.state.cwd = dir;
            } else if nth > 0 || text.contains('/') {
                let is_path = self.touch_if_path(word) || self.touch_if_path(&value);
                // `FILE:LINE`, `REV:FILE`.
                if let Some((file, after)) = word.split(':').filter(|_| !is_path) {
                    self.touch_if_path(&file);
                    if is_git {
                        self.touch_in_revision(after);
                    }
                }
            }
        }
        // `bash <<E`; a shell inside the text does not read the text again.
        if shell_at.is_some_and(|at| words[at + 1..].iter().all(Word::is_option))
            && let Some(input) = self.input.take()
        {
            self.in_subshell(|walk| walk.text(&input));
            self.input = Some(input);
        }
    }

    /// Records the file after git's `REV:`.
    fn touch_in_revision(&mut self, file: Word) {
        let start = file.start();
        if start.starts_with("./") || start.starts_with("../") {
            self.touch_if_path(&file);
        } else {
            let mut from_top = Word::quoted(&format!("{}/", self.dirs.top.display()));
            from_top.push(file);
            self.touch_if_path(&from_top);
        }
    }

    /// Records a word as a path if it exists, or if it looks like a path and its directory exists: a
    /// file that the command creates or deletes. Returns whether it is one.
    pub(super) fn touch_if_path(&mut self, word: &Word) -> bool {
        let Some(path) = self.path(word).filter(|_| self.files.len() < MAX_FILES) else {
            return false;
        };
        let looks_like_path = word.looks_like_path();
        if !path.starts_with(&self.dirs.top) {
            // A look outside of the worktree could mount a file system.
            self.extend(looks_like_path.then_some(path));
            return looks_like_path;
        }
        let parent = path.parent().filter(|_| looks_like_path);
        if !self.lookup.exists(&path) && !parent.is_some_and(|it| self.lookup.exists(it)) {
            return false;
        }
        let matches = self.lookup.matches(&path, word);
        // A session knows the skills of its working directory.
        self.extend(Some(path).filter(|it| *it != self.state.cwd));
        self.extend(matches);
        true
    }

    /// Returns the directory of the worktree that a word names.
    fn directory(&mut self, word: &Word) -> Option<PathBuf> {
        let path = self.path(word).filter(|it| it.starts_with(&self.dirs.top))?;
        self.lookup.is_dir(&path).then_some(path)
    }

    /// Returns the absolute path of a word, up to its first unknown part or wildcard.
    pub(super) fn path(&self, word: &Word) -> Option<PathBuf> {
        absolute(&self.state.cwd, &word.path()?)
    }

    pub(super) fn extend(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        for path in paths {
            // Texts compare faster than paths, which are compared by component.
            let is_new = !self.files.iter().any(|old| old.as_os_str() == path.as_os_str());
            if is_new && self.files.len() < MAX_FILES {
                self.files.push(path);
            }
        }
    }
}
