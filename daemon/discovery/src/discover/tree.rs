//! [`Tree`]: the interface through which discovery reads the disk.
//!
//! Discovery is pure, so it queries a [`Tree`]. `None` means "not known yet": the tree records the
//! query, discovery leaves that part out and marks its result as incomplete, the engine reads what
//! is missing, and discovery runs again. A tree gives equal answers to equal queries until the disk
//! changes.

use std::sync::Arc;

use skills_agents::profile::Provider;
use skills_syntax::path::AbsPath;

use super::disk::{Fault, Listing, PathStatus, SkillFile, TextFile};
use super::policy::Policy;
use super::provided::ProvidedRoot;
use crate::permission::SkillRules;
use crate::remote::Address;

/// Queries of discovery about the disk. `None` means "not known yet".
pub trait Tree {
    /// Returns the type of the file at `path`, with symbolic links followed.
    fn look(&self, path: &AbsPath) -> Option<PathStatus>;

    /// Returns the entries of the directory at `path`.
    fn list(&self, path: &AbsPath) -> Option<Result<Arc<Listing>, Fault>>;

    /// Returns the canonical path of `path`.
    fn canonical(&self, path: &AbsPath) -> Option<AbsPath>;

    /// Reads and parses the SKILL.md or command file at `path`.
    fn read(&self, path: &AbsPath) -> Option<Result<SkillFile, Fault>>;

    /// Reads the small text file at `path`, which [`Tree::look`] found to exist, up to
    /// [`TEXT_LIMIT`](super::TEXT_LIMIT) bytes.
    fn text(&self, path: &AbsPath) -> Option<Result<Arc<TextFile>, Fault>>;

    /// Returns the user's decisions, apart from agents' settings files.
    fn policy(&self) -> Arc<Policy> {
        Arc::default()
    }

    /// Returns the valid rules about skills in the text of a repository's `.skillsd.toml`.
    fn skill_rules(&self, _text: &str) -> SkillRules {
        SkillRules::default()
    }

    /// Returns a provider's roots for a profile, in order. `addresses` are the registries in the
    /// agent's own settings, in addition to the user's.
    fn provided(&self, _: Provider, _profile: &str, _addresses: &[Address]) -> Vec<ProvidedRoot> {
        Vec::new()
    }
}
