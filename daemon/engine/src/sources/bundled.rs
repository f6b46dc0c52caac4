//! Bundled skills: embedded in the program, extracted to files on first use.
//!
//! They are listed at their future paths without touching the disk. The first use writes all of
//! their files ([`extract`]) to a directory named by the hash of their content, so that versions of
//! skillsd do not mix.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use skills_agents::skill::{FileFacts, SkillRecord};
use skills_discovery::discover::ProvidedSkill;
use skills_syntax::path::AbsPath;

/// A file of a skill: skill name, path below its directory, content.
struct BundledFile {
    skill: &'static str,
    relative: &'static str,
    text: &'static str,
}

macro_rules! files {
    ($($skill:literal: $($relative:literal)+;)*) => {
        &[$($(BundledFile {
            skill: $skill,
            relative: $relative,
            text: include_str!(concat!("../../../skills/", $skill, "/", $relative)),
        },)+)*]
    };
}

const FILES: &[BundledFile] = files! {
    "debug-skills": "SKILL.md" "references/frontmatter.md";
    "migrate-command": "SKILL.md" "references/fields.md";
    "writing-skills": "SKILL.md" "references/fields.md";
};

/// Name of this version's directory.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hasher = blake3::Hasher::new();
    for BundledFile { skill, relative, text } in FILES {
        for part in [*skill, *relative, *text] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    hasher.finalize().to_hex()[..16].to_owned()
});

/// Returns the directory of the extracted skills.
pub(crate) fn directory(cache: &Path) -> PathBuf {
    cache.join("bundled").join(&*VERSION)
}

/// Returns the skills with their paths in `directory`, without those named in `disabled`.
pub(crate) fn skills(directory: &AbsPath, disabled: &[String]) -> Arc<[ProvidedSkill]> {
    let main = FILES.iter().filter(|it| it.relative == "SKILL.md");
    let enabled = main.filter(|it| disabled.iter().all(|name| name != it.skill));
    enabled
        .map(|it| ProvidedSkill {
            path: directory.child(it.skill).child(it.relative),
            record: record(it.text),
            name: None,
        })
        .collect()
}

fn record(text: &str) -> Arc<SkillRecord> {
    let hash = *blake3::hash(text.as_bytes()).as_bytes();
    let facts = FileFacts { size: text.len() as u64, truncated: false, hash };
    Arc::new(SkillRecord::read(text.as_bytes(), facts))
}

/// Writes the files unless they exist with the right content.
///
/// They are written to a temporary directory that is then renamed. An existing directory with other
/// content is moved away and deleted first.
pub(crate) fn extract(cache: &Path) -> io::Result<()> {
    let directory = directory(cache);
    if is_whole(&directory) {
        return Ok(());
    }
    let parent = cache.join("bundled");
    private(&parent)?;
    let staged = parent.join(unique("new"));
    let result = write(&staged).and_then(|()| {
        if directory.exists() {
            let aside = parent.join(unique("old"));
            fs::rename(&directory, &aside)?;
            // A leftover is harmless.
            let _ = fs::remove_dir_all(aside);
        }
        fs::rename(&staged, &directory)
    });
    if result.is_err() {
        // A failure only leaves files in the cache directory.
        let _ = fs::remove_dir_all(&staged);
        // Another process may have extracted them first.
        return if is_whole(&directory) { Ok(()) } else { result };
    }
    result
}

fn is_whole(directory: &Path) -> bool {
    let holds = |it: &BundledFile| {
        let found = fs::read(directory.join(it.skill).join(it.relative));
        found.is_ok_and(|bytes| bytes == it.text.as_bytes())
    };
    FILES.iter().all(holds)
}

fn write(staged: &Path) -> io::Result<()> {
    for BundledFile { skill, relative, text } in FILES {
        let path = staged.join(skill).join(relative);
        private(path.parent().unwrap_or(staged))?;
        fs::write(path, text)?;
    }
    Ok(())
}

/// Creates a directory and its parents with mode 0700.
pub(crate) fn private(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// Returns a name that no other process and no earlier call uses.
pub(crate) fn unique(what: &str) -> OsString {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!(".{what}-{}-{number}", std::process::id()).into()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn bundled_skills_have_no_findings_and_match_their_directory() {
        let root = AbsPath::new("/cache/bundled/x".as_ref()).unwrap();
        let disabled = ["debug-skills".to_owned()];
        assert_eq!(super::skills(&root, &disabled).len(), 2);
        let skills = skills(&root, &[]);
        let names = skills.iter().map(|it| &*it.record.name.as_ref().unwrap().text);
        assert!(names.eq(skills_config::BUNDLED_SKILLS.iter().copied()));
        for skill in &*skills {
            let record = &skill.record;
            assert!(record.findings.is_empty(), "{:?}", record.findings);
            let dir = skill.path.parent().unwrap();
            let name = &record.name.as_ref().unwrap().text;
            assert_eq!(dir.file_name().unwrap(), &**name);
            let description = &record.description.as_ref().unwrap().text;
            assert!((80..=1024).contains(&description.len()), "{description}");
        }
    }

    #[test]
    fn files_referenced_by_bundled_skills_exist() {
        for file in FILES.iter().filter(|it| it.relative == "SKILL.md") {
            let of_skill = FILES.iter().filter(|it| it.skill == file.skill);
            for other in of_skill.filter(|it| it.relative != "SKILL.md") {
                assert!(file.text.contains(other.relative), "{} {}", file.skill, other.relative);
            }
            let disk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../skills").join(file.skill);
            let on_disk = fs::read_dir(disk.join("references")).unwrap().count();
            let bundled = FILES.iter().filter(|it| it.skill == file.skill).count();
            assert_eq!(on_disk + 1, bundled, "{}", file.skill);
        }
    }

    #[test]
    fn extract_writes_once_with_owner_mode_and_repairs() {
        let top = TempDir::new().unwrap();
        let cache = top.path().join("cache/skillsd");
        extract(&cache).unwrap();
        let file = directory(&cache).join("writing-skills/SKILL.md");
        let written = fs::metadata(&file).unwrap().modified().unwrap();
        let mode = fs::metadata(directory(&cache)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        extract(&cache).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), written);
        fs::write(&file, "something else").unwrap();
        extract(&cache).unwrap();
        assert!(fs::read_to_string(&file).unwrap().starts_with("---\nname: writing-skills\n"));
        // No temporary files are left.
        assert_eq!(fs::read_dir(cache.join("bundled")).unwrap().count(), 1);
    }

    #[test]
    fn extract_to_unwritable_directory_fails() {
        let top = TempDir::new().unwrap();
        let cache = top.path().join("file");
        fs::write(&cache, "").unwrap();
        assert!(extract(&cache).is_err());
    }
}
