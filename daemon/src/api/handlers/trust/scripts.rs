//! The content bound to trust in a directory: its skills, each with all files.
//!
//! It is read once, when trust is shown or given, within bounds. Content beyond the bounds is
//! unknown and needs approval to run.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use skills_engine::disk::content_hash;
use skills_engine::sessions::store::trust::Content;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::CoveredFiles;

use crate::access::sealed_copy::{Hashes, Unit};
use crate::convert::to_wire;

/// Maximum number of skills and commands covered by trust in one directory.
const MAX_SKILLS: usize = 10_000;

/// The content of a directory that trust covers.
#[derive(Debug, Default)]
pub(super) struct Covered {
    pub(super) contents: Vec<Content>,
    pub(super) n_skills: u64,
    /// The skills, commands and plugins, by path.
    pub(super) shown: Vec<CoveredFiles>,
}

impl Covered {
    /// Reads the current skills and commands in a directory with all their files. Blocks on the
    /// disk.
    pub(super) fn read(dir: &Path, hashes: &mut Hashes<'_>) -> Self {
        let mut files = Content::skills_below(dir, hashes.cancel());
        files.sort_unstable();
        files.truncate(MAX_SKILLS);
        let mut contents = BTreeMap::new();
        let (mut n_skills, mut plugins, mut shown) = (0, BTreeSet::new(), Vec::new());
        for file in files {
            // A file that is missing or unreadable is not a skill.
            let Some(content) = hashes.file(&file) else { continue };
            contents.insert(content.path, content.hash);
            plugins.extend(plugins_of(&file, dir));
            let unit = Unit::of(&file, None);
            // Nothing runs of a skill that exceeds the limits.
            n_skills += u64::from(hashes.unit(&unit).is_some());
            shown.push((file, unit));
        }
        // A plugin runs with all of its files, whichever of its skills runs.
        shown.extend(plugins.into_iter().map(|it| {
            let unit = Unit::of(&it.join("SKILL.md"), Some(&it));
            (it, unit)
        }));
        shown.sort_unstable();
        let mut show = |(path, unit): (PathBuf, Unit)| {
            let read = hashes.unit(&unit);
            let encoding = encoding_of([&*path]);
            let covered = CoveredFiles {
                path: encode(&path, encoding),
                path_encoding: encoding,
                files: read.as_ref().map_or(0, |it| it.files.len()) as u64,
                hash: read.as_ref().map(|it| to_wire::hash(&it.content.hash)),
            };
            contents.extend(read.map(|it| (it.content.path.clone(), it.content.hash)));
            covered
        };
        let shown = shown.into_iter().map(&mut show).collect();
        let contents = contents.into_iter().map(|(path, hash)| Content { path, hash }).collect();
        Self { contents, n_skills, shown }
    }

    /// Returns the digest of all that trust in `dir` remembers.
    pub(super) fn digest(&self, dir: &Path) -> String {
        let mut text = b"trusted files, 1".to_vec();
        let mut push = |path: &Path, hash: &[u8]| {
            let path = path.as_os_str().as_bytes();
            text.extend_from_slice(&(path.len() as u64).to_le_bytes());
            text.extend_from_slice(path);
            text.extend_from_slice(hash);
        };
        push(dir, &[]);
        self.contents.iter().for_each(|it| push(&it.path, &it.hash));
        to_wire::hash(&content_hash(&text))
    }
}

/// Returns the plugin directories that contain a file.
fn plugins_of<'a>(file: &'a Path, dir: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
    let above = file.ancestors().skip(1).take_while(move |it| it.starts_with(dir));
    above.filter(|it| it.join(".claude-plugin").is_dir()).map(Path::to_path_buf)
}
