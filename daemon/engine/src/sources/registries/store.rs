//! [`RegistryCache`]: copies of one registry in the cache directory.
//!
//! Each registry has a directory named by its address. Each state of it is an immutable directory,
//! and the link `current` selects the published one, so that readers see changes atomically. A
//! manifest in each state lists the hash of each file, to detect damage.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};
use skills_discovery::remote::{Address, check_file, check_skill};

use crate::sources::bundled::{private, unique};

/// File name of a state's manifest.
const MANIFEST: &str = ".catalog.json";

/// Directory of all registries below the cache directory.
pub(super) const REGISTRIES: &str = "remote";

/// Cache directory of one registry.
pub(crate) struct RegistryCache {
    top: PathBuf,
}

/// A state of a registry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RegistryState {
    /// ETag of its index.
    pub(crate) etag: Option<String>,
    pub(crate) skills: Vec<CachedSkill>,
}

/// A skill in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CachedSkill {
    pub(crate) name: String,
    pub(crate) version: Option<String>,
    /// Path below the skill's directory and hash of each file.
    pub(crate) files: Vec<(String, String)>,
}

/// Lock that excludes other processes from changing the registry; released on drop.
pub(crate) struct Claim(
    #[expect(dead_code, reason = "the lock is held by keeping it open")] OwnedFd,
);

impl RegistryCache {
    /// Returns the store of a registry, without accessing the disk.
    pub(crate) fn new(cache: &Path, address: &Address) -> Self {
        let host: String = address
            .authority()
            .chars()
            .map(|it| if it.is_ascii_alphanumeric() || it == '.' { it } else { '-' })
            .take(40)
            .collect();
        let hash = blake3::hash(address.as_str().as_bytes()).to_hex();
        Self { top: cache.join(REGISTRIES).join(format!("{host}-{}", &hash[..16])) }
    }

    /// Returns the path of the published state.
    pub(crate) fn current(&self) -> PathBuf {
        self.top.join("current")
    }

    /// Returns true if a state is published.
    pub(crate) fn has_copy(&self) -> bool {
        self.current().join(MANIFEST).is_file()
    }

    /// Returns the number of skills in the published state.
    pub(crate) fn count(&self) -> usize {
        self.state().map_or(0, |it| it.skills.len())
    }

    /// Locks the registry for this process; none if another process holds the lock.
    pub(crate) fn claim(&self, address: &Address) -> io::Result<Option<Claim>> {
        private(&self.states())?;
        // Tells people which registry this directory belongs to.
        fs::write(self.top.join("address"), format!("{address}\n"))?;
        let file =
            File::options().create(true).truncate(false).write(true).open(self.top.join("lock"))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Claim(file.into()))),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the published state; none if it is missing or cannot be read.
    pub(crate) fn state(&self) -> Option<RegistryState> {
        let bytes = fs::read(self.current().join(MANIFEST)).ok()?;
        RegistryState::read(&serde_json::from_slice(&bytes).ok()?)
    }

    /// Returns true if all files of a skill exist with the recorded hashes.
    pub(crate) fn is_whole(&self, kept: &CachedSkill) -> bool {
        let dir = self.current().join(&kept.name);
        kept.files.iter().all(|(path, hash)| {
            fs::read(dir.join(path)).is_ok_and(|bytes| hash_of(&bytes) == *hash)
        })
    }

    /// Starts a new state, invisible until it is published.
    pub(crate) fn stage(&self) -> io::Result<Stage> {
        let directory = self.states().join(unique("new"));
        private(&directory)?;
        Ok(Stage { directory, old: self.current(), published: false })
    }

    /// Publishes a state.
    pub(crate) fn publish(&self, mut stage: Stage, state: &RegistryState) -> io::Result<()> {
        let manifest = serde_json::to_vec_pretty(&state.to_json())?;
        fs::write(stage.directory.join(MANIFEST), manifest)?;
        let before = fs::read_link(self.current()).ok();
        let name = unique("state").to_string_lossy().trim_start_matches('.').to_owned();
        // A process with the same id may have used this number before.
        let name = format!("{name}-{}", &state.hash()[..8]);
        let place = self.states().join(&name);
        if place.exists() {
            fs::remove_dir_all(&place)?;
        }
        fs::rename(&stage.directory, &place)?;
        stage.published = true;
        let link = self.top.join(unique("link"));
        symlink(Path::new("states").join(&name), &link)?;
        fs::rename(&link, self.current())?;
        self.clean(&[Some(name), before.and_then(|it| Some(it.file_name()?.to_str()?.to_owned()))]);
        Ok(())
    }

    /// Saves a new ETag of the index if nothing else has changed.
    pub(crate) fn retag(&self, state: &RegistryState) -> io::Result<()> {
        let directory = self.current();
        let new = directory.join(unique("tag"));
        fs::write(&new, serde_json::to_vec_pretty(&state.to_json())?)?;
        fs::rename(new, directory.join(MANIFEST))
    }

    /// Removes all states except the new one and the one before it, which may have readers.
    fn clean(&self, keep: &[Option<String>]) {
        for entry in fs::read_dir(self.states()).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if !keep.iter().flatten().any(|it| name == it.as_str()) {
                // A leftover is removed by the next publication.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    fn states(&self) -> PathBuf {
        self.top.join("states")
    }
}

/// A state under construction; removed on drop unless published.
pub(crate) struct Stage {
    directory: PathBuf,
    old: PathBuf,
    published: bool,
}

impl Stage {
    /// Writes a file of a skill. The caller has checked its name.
    pub(crate) fn write(&self, skill: &str, path: &str, bytes: &[u8]) -> io::Result<String> {
        let place = self.directory.join(skill).join(path);
        private(place.parent().unwrap_or(&self.directory))?;
        fs::write(place, bytes)?;
        Ok(hash_of(bytes))
    }

    /// Copies a skill from the published state.
    pub(crate) fn keep(&self, kept: &CachedSkill) -> io::Result<()> {
        for (path, _) in &kept.files {
            let from = self.old.join(&kept.name).join(path);
            let to = self.directory.join(&kept.name).join(path);
            private(to.parent().unwrap_or(&self.directory))?;
            // Copies if the file system has no hard links.
            if fs::hard_link(&from, &to).is_err() {
                fs::copy(&from, &to)?;
            }
        }
        Ok(())
    }

    /// Removes the files of a skill.
    pub(crate) fn forget(&self, skill: &str) {
        // The caller checks with [`Stage::has`] and aborts: leftovers would be listed.
        let _ = fs::remove_dir_all(self.directory.join(skill));
    }

    /// Returns true if files of a skill exist.
    pub(crate) fn has(&self, skill: &str) -> bool {
        self.directory.join(skill).exists()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if !self.published {
            // A leftover is removed by the next publication.
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}

impl RegistryState {
    fn to_json(&self) -> Value {
        let skills = self.skills.iter().map(|it| {
            let files = it.files.iter().map(|(path, hash)| json!({"path": path, "hash": hash}));
            let files = files.collect::<Vec<_>>();
            json!({"name": it.name, "version": it.version, "files": files})
        });
        json!({"etag": self.etag, "skills": skills.collect::<Vec<_>>()})
    }

    fn hash(&self) -> String {
        hash_of(self.to_json().to_string().as_bytes())
    }

    fn read(value: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let skill = |value: &Value| {
            let file = |it: &Value| {
                let path = text(&it["path"]).filter(|it| check_file(it).is_ok())?;
                Some((path, text(&it["hash"])?))
            };
            let files = value["files"].as_array()?.iter().map(file).collect::<Option<_>>()?;
            let name = text(&value["name"]).filter(|it| check_skill(it).is_ok())?;
            Some(CachedSkill { name, version: text(&value["version"]), files })
        };
        let skills = value["skills"].as_array()?.iter().map(skill).collect::<Option<_>>()?;
        Some(Self { etag: text(&value["etag"]), skills })
    }
}

fn hash_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
