//! Reads the files of a load: SKILL.md and those that the format includes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skills_agents::field_table;
use skills_agents::fields::Fields;
use skills_agents::profile::template::{
    FilePaths, FilesTemplate, ListingOrder, LoadTemplate, PromptTemplate,
};
use skills_agents::profile::{OutputFormat, Profile, Scope};
use skills_agents::skill::FileFacts;
use skills_discovery::discover::{Candidate, Plugin};
use skills_engine::disk::content_hash;
use skills_engine::{SKILL_FILE, View, unignored};
use skills_protocol::error::RpcError;
use skills_render::resources::{
    MAX_STANDARD_FILES, draw_tree, is_plugin_file, is_script, opencode_sample,
};
use skills_render::{Invoker, SkillFile, SkillFiles, locale};

use crate::access::authorize::Permit;
use crate::access::confined_dir::{
    ConfinedDir, ConfinedDirError, ConfinedNames, DirectoryLinks, MAX_SKILL_BYTES,
};
use crate::api::handlers::files::{directory_gone, refused};

#[derive(Debug)]
pub(super) struct SkillContent {
    pub(super) format: OutputFormat,
    pub(super) body: SkillFile,
    pub(super) files: SkillFiles,
    /// The agent's name for the skill's source.
    pub(super) label: Option<String>,
    pub(super) plugin: Option<Arc<Plugin>>,
    /// True for a command file, which has no directory of its own.
    pub(super) is_command: bool,
    /// The shell given by the skill.
    pub(super) shell: Option<String>,
    pub(super) warnings: Vec<String>,
    /// True if the file has not changed since the view was made.
    pub(super) is_unchanged: bool,
}

impl SkillContent {
    pub(super) fn hash(&self) -> [u8; 32] {
        self.body.record.facts.hash
    }
}

/// Reads a skill. The permit proves that the caller may have it.
pub(super) fn read(
    view: &View,
    candidate_idx: usize,
    format: OutputFormat,
    by: Invoker,
    read_limit: u64,
    _permit: &Permit,
) -> Result<SkillContent, RpcError> {
    let candidate = &view.resolution.candidates[candidate_idx];
    let root = &view.resolution.roots[candidate.root];
    let dir = candidate.dir();
    let skill_dir = ConfinedDir::of(candidate).map_err(|error| directory_gone(&error))?;
    let file = candidate.path.file_name().unwrap_or(OsStr::new(SKILL_FILE));
    let bytes = match skill_dir.whole(Path::new(file), MAX_SKILL_BYTES) {
        Err(ConfinedDirError::Outside) => read_symlinked(candidate, root.is_own()),
        result => result,
    };
    let bytes = bytes.map_err(|error| match error {
        ConfinedDirError::Missing => directory_gone(&error),
        _ => refused(&error, SKILL_FILE),
    })?;
    let directory = dir.file_name().unwrap_or(OsStr::new("/")).to_string_lossy();
    let (body, is_unchanged) =
        parse_skill(&bytes, candidate, &view.ctx.profile, &directory, read_limit);
    let mut warnings = Vec::new();
    // Files beside a command are other commands.
    let files = match root.scope {
        Scope::Command => SkillFiles::default(),
        _ => files(format, by, (&dir, &view.ctx.cwd), &skill_dir, &mut warnings),
    };
    let fields = body.document.frontmatter.as_ref().map(|it| Fields::new(it, &body.record.head));
    let shell = fields.and_then(|it| it.word(&field_table::SHELL)).filter(|_| body.has_fields());
    let label = Some(root.plugin_label().to_owned());
    let plugin = root.plugin.clone();
    let is_command = root.scope == Scope::Command
        && (root.plugin.is_some() || !file.eq_ignore_ascii_case(SKILL_FILE));
    Ok(SkillContent {
        format,
        body,
        files,
        label,
        plugin,
        is_command,
        shell,
        warnings,
        is_unchanged,
    })
}

/// Parses a file and returns whether it is unchanged since the view was made. If so, the view's
/// record is reused.
fn parse_skill(
    bytes: &[u8],
    candidate: &Candidate,
    profile: &Profile,
    directory: &str,
    read_limit: u64,
) -> (SkillFile, bool) {
    let size = bytes.len() as u64;
    let hash = content_hash(bytes);
    let file = candidate.file.as_ref().filter(|it| it.record.facts.size == size);
    if let Some(file) = file.filter(|it| !it.record.facts.truncated)
        && file.record.facts.hash == hash
    {
        return (SkillFile::from_record(bytes, Arc::clone(&file.record), profile, directory), true);
    }
    let is_unchanged = file.is_some_and(|it| {
        let part = read_limit.min(size) as usize;
        it.record.facts.truncated && content_hash(&bytes[..part]) == it.record.facts.hash
    });
    let facts = FileFacts { size, truncated: false, hash };
    (SkillFile::read(bytes, facts, profile, directory), is_unchanged)
}

/// Reads a SKILL.md that is a symlink, which agents follow. In a worktree the target must be named
/// SKILL.md too, so that a link cannot expose other files of the user.
fn read_symlinked(candidate: &Candidate, is_own: bool) -> Result<Vec<u8>, ConfinedDirError> {
    let path = &candidate.path;
    let known = candidate.file.as_ref().ok_or(ConfinedDirError::Outside)?.id;
    let real = path.canonicalize().map_err(ConfinedDirError::Io)?;
    let name = real.file_name().filter(|it| is_own || path.file_name() == Some(it));
    let (Some(name), Some(parent)) = (name, real.parent()) else {
        return Err(ConfinedDirError::Outside);
    };
    ConfinedDir::open(parent)?.whole_known(Path::new(name), MAX_SKILL_BYTES, Some(known))
}

/// Returns the files that a format includes; `cwd` is the agent's working directory.
fn files(
    format: OutputFormat,
    by: Invoker,
    (dir, cwd): (&Path, &Path),
    skill_dir: &ConfinedDir,
    warnings: &mut Vec<String>,
) -> SkillFiles {
    match format {
        OutputFormat::Opencode | OutputFormat::OpencodeFounding
            if by == Invoker::Model || format == OutputFormat::OpencodeFounding =>
        {
            let relative = unignored(dir).into_iter().map(|it| text(&it));
            let sample = opencode_sample(relative.collect(), format);
            // The directory may have been replaced while it was listed.
            let sample = sample.iter().filter(|it| skill_dir.located(Path::new(it)).is_ok());
            let paths = sample.map(|it| text(&dir.join(it))).collect();
            SkillFiles { paths, ..SkillFiles::default() }
        }
        OutputFormat::Template(PromptTemplate {
            load: Some(LoadTemplate { files, .. }), ..
        }) => {
            let paths =
                files.as_ref().map(|it| template_files(it, (dir, cwd), skill_dir, warnings));
            SkillFiles { paths: paths.unwrap_or_default(), ..SkillFiles::default() }
        }
        OutputFormat::AgentSkills | OutputFormat::Template(PromptTemplate { load: None, .. }) => {
            // This format does not show file types, so none are read.
            let ConfinedNames { names, truncated: is_cut } = skill_dir.names().unwrap_or_default();
            let others = names.iter().filter(|it| *it != Path::new(SKILL_FILE));
            let mut paths: Vec<_> = others.map(|it| text(it)).collect();
            if is_cut || paths.len() > MAX_STANDARD_FILES {
                paths.truncate(MAX_STANDARD_FILES);
                warnings.push(more_files(paths.len()));
            }
            SkillFiles { paths, ..SkillFiles::default() }
        }
        OutputFormat::Plugin => {
            let found = skill_dir.list(DirectoryLinks::FollowedInTools).unwrap_or_default().files;
            let scripts = found.iter().filter(|it| it.executable && is_script(&it.relative));
            let files = found.iter().filter(|it| is_plugin_file(&it.relative));
            SkillFiles {
                scripts: scripts.map(|it| text(&it.relative)).collect(),
                paths: files.map(|it| text(&it.relative)).collect(),
                ..SkillFiles::default()
            }
        }
        OutputFormat::Gemini => {
            let entries = |relative: &str| skill_dir.children(Path::new(relative)).ok();
            SkillFiles { tree: draw_tree(&text(dir), entries), ..SkillFiles::default() }
        }
        OutputFormat::Opencode
        | OutputFormat::OpencodeFounding
        | OutputFormat::Claude
        | OutputFormat::ClaudeFounding
        | OutputFormat::Codex
        | OutputFormat::Raw => SkillFiles::default(),
    }
}

/// Returns the files that a template lists; `cwd` is the agent's working directory.
fn template_files(
    template: &FilesTemplate,
    (dir, cwd): (&Path, &Path),
    skill_dir: &ConfinedDir,
    warnings: &mut Vec<String>,
) -> Vec<String> {
    let ConfinedNames { mut names, truncated: mut is_cut } = skill_dir.names().unwrap_or_default();
    names.retain(|it| it != Path::new(SKILL_FILE));
    match template.order {
        ListingOrder::AsFound | ListingOrder::ByNameInScopes | ListingOrder::ByCategory => {
            names.sort();
        }
        ListingOrder::ByName => names.sort_by(|a, b| locale::compare(&text(a), &text(b))),
    }
    is_cut |= template.most.is_none() && names.len() > MAX_STANDARD_FILES;
    names.truncate(template.most.unwrap_or(MAX_STANDARD_FILES));
    if is_cut {
        warnings.push(more_files(names.len()));
    }
    let shown = |it: &PathBuf| match template.paths {
        FilePaths::BelowSkill => text(it),
        FilePaths::Absolute => text(&dir.join(it)),
        FilePaths::BelowCwd => {
            let path = dir.join(it);
            text(path.strip_prefix(cwd).unwrap_or(&path))
        }
    };
    names.iter().map(shown).collect()
}

fn more_files(n_listed: usize) -> String {
    format!(
        "The skill has more files than the {n_listed} listed here; `skills/resources` lists all."
    )
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use skills_agents::profile;

    use super::*;

    #[test]
    fn files_of_a_template_are_limited_with_a_warning() {
        let dir = tempfile::tempdir().expect("made");
        let write = |name: &str| std::fs::write(dir.path().join(name), "").expect("written");
        std::fs::create_dir(dir.path().join("a")).expect("made");
        for name in [SKILL_FILE, "a/SKILL.md"] {
            write(name);
        }
        let skill_dir = ConfinedDir::open(dir.path()).expect("opened");
        let found = |profile: &str| {
            let mut warnings = Vec::new();
            let format = profile::find(profile).expect("known").output;
            let dirs = (dir.path(), Path::new("/"));
            let files = files(format, Invoker::Model, dirs, &skill_dir, &mut warnings);
            (files.paths, warnings)
        };
        let nested = text(&dir.path().join("a/SKILL.md"));
        assert_eq!(found("copilot-cli"), (vec![nested], vec![]));
        for nth in 0..MAX_STANDARD_FILES {
            write(&format!("{nth}.md"));
        }
        let (paths, warnings) = found("copilot-cli");
        assert_eq!(
            (paths.len(), warnings),
            (MAX_STANDARD_FILES, vec![more_files(MAX_STANDARD_FILES)])
        );
        let (paths, warnings) = found("mistral-vibe");
        assert_eq!((paths.len(), warnings), (10, vec![]));
    }
}
