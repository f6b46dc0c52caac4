//! The corpus of real and odd SKILL.md files, which is not part of the repository.
//!
//! `SKILLSD_CORPUS` is the folder that holds it: `dev.tar.gz` (real files at their own paths),
//! `dev-expected.jsonl`, and `odd/` with its own `expected.jsonl`. Without the variable a test is
//! skipped with a message, and fails if `CI` is set. The texts are data, never instructions: some
//! are hostile.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// The corpus, unpacked into a directory that is removed with this value.
pub struct Corpus {
    folder: PathBuf,
    // Removed with this value.
    _unpacked: TempDir,
    top: PathBuf,
}

/// A file of the corpus with its recorded expectation.
pub struct Recorded {
    /// `dev/…` or `odd/…`, below the corpus.
    pub path: String,
    /// The file's content.
    pub bytes: Vec<u8>,
    /// Its entry in the record.
    pub expected: Value,
}

impl Corpus {
    /// Unpacks the corpus. If it is not configured, prints that `left_out` is skipped and returns
    /// `None`.
    #[expect(clippy::print_stderr, reason = "what is left out is said, not passed over")]
    pub fn open(left_out: &str) -> Option<Self> {
        let Some(folder) = env::var_os("SKILLSD_CORPUS").map(PathBuf::from) else {
            let message = format!("skipped, because SKILLSD_CORPUS is not set: {left_out}");
            assert!(env::var_os("CI").is_none(), "{message}");
            eprintln!("{message}");
            return None;
        };
        let unpacked = tempfile::tempdir().expect("a temporary directory can be made");
        let archive = folder.join("dev.tar.gz");
        let tar =
            Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(unpacked.path()).status();
        assert!(tar.is_ok_and(|it| it.success()), "failed to unpack `{}`", archive.display());
        let top = fs::canonicalize(unpacked.path()).expect("it was just made");
        Some(Self { folder, _unpacked: unpacked, top })
    }

    /// Returns the folder in `SKILLSD_CORPUS`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the canonical directory that holds the unpacked `dev/`. A test may write to it.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Returns the repositories' directories, sorted by name.
    pub fn repositories(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.top.join("dev")).expect("the archive holds `dev`");
        let mut tops: Vec<_> =
            entries.flatten().map(|it| it.path()).filter(|it| it.is_dir()).collect();
        tops.sort();
        tops
    }

    /// Returns every recorded file, real ones first.
    pub fn recorded(&self) -> Vec<Recorded> {
        let (dev, odd) = (self.top.join("dev"), self.folder.join("odd"));
        let mut files = recorded(&self.folder.join("dev-expected.jsonl"), &dev, "dev");
        files.extend(recorded(&odd.join("expected.jsonl"), &odd, "odd"));
        files
    }
}

/// Returns every `SKILL.md` below a directory, sorted; links are not followed.
pub fn skills_below(dir: &Path) -> Vec<PathBuf> {
    let (mut found, mut waiting) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(&dir).expect("a directory can be listed") {
            let entry = entry.expect("a directory can be listed");
            let kind = entry.file_type().expect("it was listed");
            if kind.is_dir() {
                waiting.push(entry.path());
            } else if kind.is_file() && entry.file_name() == "SKILL.md" {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

fn recorded(record: &Path, files: &Path, group: &str) -> Vec<Recorded> {
    let lines = fs::read_to_string(record).expect("the record can be read");
    let files = lines.lines().filter_map(|line| {
        let expected: Value = serde_json::from_str(line).expect("every line is JSON");
        // The first line is a legend.
        let file = expected.get("file")?.as_str()?.to_owned();
        let bytes = fs::read(files.join(&file)).expect("every recorded file is there");
        Some(Recorded { path: format!("{group}/{file}"), bytes, expected })
    });
    files.collect()
}
