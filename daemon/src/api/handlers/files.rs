//! `skills/resources` and `skills/read`: the current files of a skill on the disk.
//!
//! The index holds only SKILL.md files, so both read the disk, on the blocking pool.

use std::path::{Component, Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use skills_discovery::discover::Candidate;
use skills_engine::{SKILL_FILE, View};
use skills_protocol::error::{OUTSIDE_SKILL, RpcError, SKILL_NOT_FOUND};
use skills_protocol::path::{PathEncoding, decode, encode, encoding_of};
use skills_protocol::wire::{
    By, Contextual, Only, ReadParams, ReadResult, Resource, ResourcesParams, ResourcesResult,
};
use skills_render::resources::is_script;
use skills_syntax::path::AbsPath;

use crate::access::authorize;
use crate::access::authorize::{AuthorizationRequest, Recipient};
use crate::access::confined_dir::{
    ConfinedDir, ConfinedDirError, ConfinedFile, ConfinedFiles, DirectoryLinks,
};
use crate::api::handlers::get::{Files, files, find};
use crate::api::parts::GuardedParts;
use crate::convert::from_wire::{format, target};
use crate::convert::to_wire;
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::dispatch::MethodCall;
use crate::rpc::tasks::run_fallible_blocking;

/// Maximum number of bytes read per call. Encoded as JSON they may take six times as much, which
/// still fits one message.
const MAX_READ: u64 = 1024 * 1024;

/// Default limit of listed files.
const DEFAULT_FILES: u32 = 1000;

pub(crate) async fn resources(call: MethodCall<GuardedParts, ResourcesParams>) -> Outcome {
    let MethodCall { parts, peer, mut params } = call;
    let context = params.take_context();
    let target = target(params.name.as_deref(), params.path.as_deref(), params.path_encoding)?;
    let request = parts.resolver.resolve(&peer, context).await?;
    let view = &*request.view;
    let candidate = &view.resolution.candidates[find(view, &target)?];
    authorize::list_files(&request, candidate)?;
    let Files::In(dir) = files(&parts.resolver.engine, view, &target).await? else {
        return Answer::new(&ResourcesResult {
            clock: view.clock.clone(),
            health: to_wire::health(&view.health),
            resources: Vec::new(),
            truncated: false,
        });
    };
    let known = candidate.directory;
    let only = params.only.unwrap_or(Only::Files);
    let links = match only {
        Only::Files => DirectoryLinks::Skipped,
        Only::Scripts => DirectoryLinks::Followed,
    };
    let listing = run_fallible_blocking({
        let dir = dir.clone();
        move || {
            let skill_dir = ConfinedDir::open_known(&dir, known);
            skill_dir.and_then(|it| it.list(links)).map_err(|error| directory_gone(&error))
        }
    });
    let ConfinedFiles { files, truncated, .. } = listing.await?;
    let wanted = |it: &ConfinedFile| match only {
        // SKILL.md itself is not a resource.
        Only::Files => it.relative != Path::new(SKILL_FILE),
        Only::Scripts => it.executable && is_script(&it.relative),
    };
    let limit = params.limit.unwrap_or(DEFAULT_FILES) as usize;
    let mut files = files.iter().filter(|it| wanted(it));
    let resources = files.by_ref().take(limit).map(|it| resource(&dir, it)).collect();
    Answer::new(&ResourcesResult {
        clock: view.clock.clone(),
        health: to_wire::health(&view.health),
        resources,
        truncated: truncated || files.next().is_some(),
    })
}

fn resource(dir: &Path, found: &ConfinedFile) -> Resource {
    let absolute = dir.join(&found.relative);
    let encoding = encoding_of([&*absolute]);
    Resource {
        relative: encode(&found.relative, encoding),
        absolute: encode(&absolute, encoding),
        path_encoding: encoding,
        size: found.size,
        executable: found.executable,
    }
}

pub(crate) async fn read(call: MethodCall<GuardedParts, ReadParams>) -> Outcome {
    let MethodCall { parts, peer, mut params } = call;
    let context = params.take_context();
    let target = target(params.name.as_deref(), params.path.as_deref(), params.path_encoding)?;
    let relative = relative(&params.relative, params.path_encoding)?;
    let offset = params.offset.unwrap_or_default();
    let length = params.length.unwrap_or(MAX_READ);
    if length > MAX_READ {
        let message = format!("`length` is {length} bytes; one call reads at most {MAX_READ}");
        return Err(RpcError::too_large(message, MAX_READ)
            .with_hint("Read the file in parts, with `offset` and `length`."));
    }
    let request = parts.resolver.resolve(&peer, context).await?;
    let view = &*request.view;
    let candidate = &view.resolution.candidates[find(view, &target)?];
    let authorization =
        AuthorizationRequest::new(&request, candidate, format::invoker(params.by), params.wait);
    let is_model = params.by == Some(By::Model);
    let recipient = if is_model { Recipient::Model } else { Recipient::Other };
    authorize::read(&parts.access, authorization, recipient).await?;
    let dir = match files(&parts.resolver.engine, view, &target).await? {
        Files::In(dir) => dir,
        Files::Single(file) => match (file.parent(), file.file_name()) {
            (Some(dir), Some(name)) if relative == *name => dir.to_owned(),
            _ => return Err(refused(&ConfinedDirError::Missing, &params.relative)),
        },
        Files::None { why, hint } => return Err(RpcError::invalid_params(why).with_hint(hint)),
    };
    for owner in nested_skills(view, candidate, &relative).await? {
        authorize::read(
            &parts.access,
            AuthorizationRequest { candidate: owner, ..authorization },
            recipient,
        )
        .await?;
    }
    let known = candidate.directory;
    let path = dir.join(&relative);
    let part = run_fallible_blocking(move || {
        let skill_dir = ConfinedDir::open_known(&dir, known);
        let skill_dir = skill_dir.map_err(|error| directory_gone(&error))?;
        skill_dir.read(&relative, offset, length).map_err(|error| refused(&error, &params.relative))
    });
    let part = part.await?;
    let (content, base64, end) = text_or_base64(part.bytes, offset, part.size);
    let path_encoding = encoding_of([&*path]);
    Answer::new(&ReadResult {
        clock: view.clock.clone(),
        health: to_wire::health(&view.health),
        path: encode(&path, path_encoding),
        path_encoding,
        content,
        base64,
        size: part.size,
        truncated: end < part.size,
    })
}

/// Returns the skills in directories of another one that a file belongs to, by its path and by the
/// path to which links lead.
pub(super) async fn nested_skills<'v>(
    view: &'v View,
    outer: &Candidate,
    relative: &Path,
) -> Result<Vec<&'v Candidate>, RpcError> {
    let (top, file) = (outer.dir(), outer.dir().join(relative));
    let real = run_fallible_blocking({
        let (top, file) = (top.clone(), file.clone());
        // A file that does not exist belongs to no skill; the read reports it.
        move || Ok(top.canonicalize().and_then(|top| Ok((top, file.canonicalize()?))).ok())
    });
    let real =
        real.await?.and_then(|(real_top, file)| Some(top.join(file.strip_prefix(real_top).ok()?)));
    let owner = |file: &PathBuf| {
        let dirs = file.ancestors().skip(1).take_while(|it| *it != Path::new(&*top));
        let mut found = dirs.filter_map(|dir| {
            let skill = AbsPath::new(dir).ok()?.child(SKILL_FILE);
            view.responses().by_path(&view.resolution, &skill)
        });
        found.next().map(|it| &view.resolution.candidates[it])
    };
    Ok([Some(file), real].iter().flatten().filter_map(owner).collect())
}

/// Decodes and normalizes a path relative to the skill's directory, so that the path that is read
/// equals the one that is reported.
pub(super) fn relative(text: &str, encoding: Option<PathEncoding>) -> Result<PathBuf, RpcError> {
    let path = decode(text, encoding).map_err(|error| {
        RpcError::invalid_params(error.to_string()).with_param("params.relative")
    })?;
    let mut shortest = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            // A leading `..` is kept, and refused later.
            Component::ParentDir
                if matches!(shortest.components().next_back(), Some(Component::Normal(_))) =>
            {
                shortest.pop();
            }
            it => shortest.push(it),
        }
    }
    Ok(shortest)
}

/// Returns the bytes as text or base64, and their end offset in the file. A character cut off at
/// the end is left for the next part.
fn text_or_base64(bytes: Vec<u8>, offset: u64, size: u64) -> (Option<String>, Option<String>, u64) {
    let end = offset.saturating_add(bytes.len() as u64);
    match String::from_utf8(bytes) {
        Ok(text) => (Some(text), None, end),
        Err(error) => {
            let cut = error.utf8_error();
            let whole = cut.valid_up_to();
            let mut bytes = error.into_bytes();
            if cut.error_len().is_none() && end < size && whole > 0 {
                bytes.truncate(whole);
                let text = String::from_utf8(bytes).expect("it is valid up to there");
                return (Some(text), None, offset + whole as u64);
            }
            (None, Some(STANDARD.encode(bytes)), end)
        }
    }
}

pub(crate) fn refused(error: &ConfinedDirError, relative: &str) -> RpcError {
    match error {
        ConfinedDirError::Outside => RpcError::outside_skill(relative),
        ConfinedDirError::Replaced => exchanged(&format!("`{relative}`")),
        ConfinedDirError::Missing => {
            RpcError::invalid_params(format!("the skill has no file `{relative}`"))
                .with_param("params.relative")
                .with_hint("`skills/resources` lists the skill's files.")
        }
        ConfinedDirError::NotAFile(what) => RpcError::invalid_params(format!(
            "`{relative}` is {what}; only regular files can be read"
        ))
        .with_hint("`skills/resources` lists the files that can be read."),
        ConfinedDirError::TooLarge(size) => RpcError::too_large(
            format!("`{relative}` has {size} bytes, which exceeds the limit of one read"),
            MAX_READ,
        )
        .with_hint("Read the file in parts, with `skills/read`."),
        ConfinedDirError::Changing => {
            RpcError::internal(format!("`{relative}` kept changing while it was read"))
                .with_hint("Retry when no process is writing it.")
        }
        ConfinedDirError::Io(cause) => {
            RpcError::internal(format!("failed to read `{relative}`: {cause}"))
                .with_hint("Check the permissions of the file.")
        }
    }
}

/// Converts an error of opening the skill's directory, which existed a moment ago.
pub(crate) fn directory_gone(error: &ConfinedDirError) -> RpcError {
    if matches!(error, ConfinedDirError::Replaced) {
        return exchanged("the skill's directory");
    }
    if matches!(error, ConfinedDirError::Missing) {
        return RpcError::new(
            SKILL_NOT_FOUND,
            "the skill was removed since the skills were listed",
        )
        .with_hint("List the skills again.");
    }
    RpcError::internal(format!("failed to open the skill's directory: {error}"))
        .with_hint("Retry: the next call reads the disk again.")
}

/// A different file or directory is at this path since the view was made.
fn exchanged(what: &str) -> RpcError {
    let message = format!("{what} was replaced since the skills were listed");
    RpcError::new(OUTSIDE_SKILL, message).with_hint("Retry: the next call reads the disk again.")
}
