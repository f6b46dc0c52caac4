//! Skills covered by trust, and skills that need the user's trust to be listed or to run something.

use std::ffi::OsStr;
use std::path::Path;

use skills_agents::field_table;
use skills_agents::fields::{FieldValue, Fields};
use skills_discovery::discover::{Candidate, SkillState};
use skills_engine::View;
use skills_engine::sessions::store::trust::Content;
use skills_protocol::error::RpcError;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{CoveredSkill, TrustNeed, WaitingSkill};
use skills_render::count_commands;
use skills_render::resources::is_script;
use skills_syntax::text::decode;

use crate::access::Access;
use crate::access::authorize;
use crate::access::confined_dir::{ConfinedDir, DirectoryLinks, MAX_SKILL_BYTES};
use crate::access::sealed_copy::{HashedFile, HashedUnit, Hashes, Unit};
use crate::convert::to_wire;

/// A skill that runs something, or waits to be listed.
pub(super) struct UntrustedSkill {
    skill: WaitingSkill,
    covered: CoveredSkill,
    /// Content of its text and files, if the directory is trusted.
    contents: Option<Vec<Content>>,
    /// True if the view has the text that was read.
    is_current: bool,
}

/// Returns the skills that would do more if they were trusted, in the view's order, and what trust
/// covers. A trusted skill that has changed since waits as well, if it runs anything.
pub(super) async fn waiting(
    access: &Access,
    found: Vec<UntrustedSkill>,
) -> (Vec<WaitingSkill>, Vec<CoveredSkill>) {
    let (mut waiting, mut covers) = (Vec::new(), Vec::new());
    for UntrustedSkill { mut skill, covered, contents, .. } in found {
        // A skill that is only listed binds trust to no content.
        if skill.needs != [TrustNeed::List] {
            covers.push(covered);
        }
        if let Some(contents) = contents {
            if authorize::run::unknown(access, contents).await.is_empty() {
                continue;
            }
            skill.changed = true;
        }
        waiting.push(skill);
    }
    (waiting, covers)
}

/// Returns the skills of a view that run something or wait to be listed, as their files are. Blocks
/// on the disk.
pub(super) fn collect_waiting(
    view: &View,
    hashes: &mut Hashes<'_>,
) -> Result<Vec<UntrustedSkill>, RpcError> {
    let resolution = &view.resolution;
    let mut found = Vec::new();
    for candidate in &resolution.candidates {
        if hashes.cancel().is_cancelled() {
            return Err(RpcError::cancelled());
        }
        let root = &resolution.roots[candidate.root];
        let Some(unit) = authorize::run::unit(view, candidate) else { continue };
        if candidate.state.is_out() {
            continue;
        }
        let read = hashes.unit(&unit);
        let counts = Counts::of(candidate, read.as_deref().map(|it| (&unit, it)));
        let needs = counts.needs(candidate);
        if needs.is_empty() {
            continue;
        }
        // A file that was removed meanwhile needs no trust.
        let Some(content) = hashes.file(&candidate.path) else { continue };
        let is_current = authorize::text_hash(candidate).is_none_or(|it| it == content.hash);
        let files = read.as_ref().map(|it| &it.content);
        let encoding = encoding_of([&*candidate.path]);
        let (name, path) = (candidate.name.clone(), encode(&candidate.path, encoding));
        let covered = CoveredSkill {
            name: name.clone(),
            path: path.clone(),
            path_encoding: encoding,
            files: read.as_ref().map_or(0, |it| it.files.len()) as u64,
            scripts: counts.scripts as u64,
            hooks: counts.hooks as u64,
            commands: counts.commands as u64,
            hash: files.map(|it| to_wire::hash(&it.hash)),
        };
        let skill = WaitingSkill { name, path, path_encoding: encoding, needs, changed: false };
        let contents =
            root.is_trusted().then(|| [content].into_iter().chain(files.cloned()).collect());
        found.push(UntrustedSkill { skill, covered, contents, is_current });
    }
    Ok(found)
}

/// Fails if a skill has changed since the view was made: the digest would cover another text.
pub(super) fn require_current(found: &[UntrustedSkill]) -> Result<(), RpcError> {
    match found.iter().find(|it| !it.is_current) {
        None => Ok(()),
        Some(it) => Err(RpcError::not_allowed(format!("`{}` has just changed", it.skill.path))
            .with_hint("Retry when no process is writing it.")),
    }
}

/// Numbers of the parts of a skill that run.
struct Counts {
    hooks: usize,
    commands: usize,
    scripts: usize,
}

impl Counts {
    /// Counts by the files of a unit as they were read; by the directory if they are too many to be
    /// trusted.
    fn of(candidate: &Candidate, read: Option<(&Unit, &HashedUnit)>) -> Self {
        let hooks = candidate.record().map_or(0, |record| {
            let document = record.document();
            let Some(frontmatter) = document.frontmatter.as_ref() else { return 0 };
            let fields = Fields::new(frontmatter, &record.head);
            match fields.read(&field_table::HOOKS).map(|it| it.value) {
                Some(Some(FieldValue::Hooks(groups))) => {
                    groups.iter().map(|it| it.handlers.len()).sum::<usize>().max(1)
                }
                // An unreadable key still counts.
                Some(_) => 1,
                None => 0,
            }
        });
        let file = Path::new(candidate.path.file_name().unwrap_or(OsStr::new("SKILL.md")));
        if let Some((unit, read)) = read {
            let (dir, text) = (unit.below(Path::new("")), unit.below(file));
            let commands = read.files.iter().find(|it| it.relative == text);
            let relative = |it: &HashedFile| it.relative.strip_prefix(&dir).map(is_script);
            let is_run = |it: &&HashedFile| it.executable && relative(it).unwrap_or(false);
            let scripts = read.files.iter().filter(is_run).count();
            return Self { hooks, commands: commands.map_or(0, |it| it.commands), scripts };
        }
        let mut counts = Self { hooks, commands: 0, scripts: 0 };
        // Unreadable files are not run.
        let Ok(skill_dir) = ConfinedDir::of(candidate) else { return counts };
        let body = skill_dir.whole(file, MAX_SKILL_BYTES).unwrap_or_default();
        counts.commands = count_commands(&decode(&body).text);
        let files = skill_dir.list(DirectoryLinks::Skipped).unwrap_or_default().files;
        let scripts = files.iter().filter(|it| it.executable && is_script(&it.relative));
        counts.scripts = scripts.count();
        counts
    }

    fn needs(&self, candidate: &Candidate) -> Vec<TrustNeed> {
        let is_listed = candidate.state != SkillState::Untrusted;
        let all = [
            (!is_listed, TrustNeed::List),
            (self.hooks > 0, TrustNeed::Hooks),
            (self.commands > 0, TrustNeed::Shell),
            (self.scripts > 0, TrustNeed::Scripts),
        ];
        all.into_iter().filter(|it| it.0).map(|it| it.1).collect()
    }
}
