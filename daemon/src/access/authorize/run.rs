//! What is asked before anything of a skill is run: its commands, its scripts, its hooks.
//!
//! What runs has to be what the user has trusted, judged by what was read and not by what the file
//! holds by then.

use std::io;

use skills_agents::profile::Scope;
use skills_discovery::discover::{Candidate, SearchRoot};
use skills_engine::View;
use skills_engine::files::disk::content_hash;
use skills_engine::sessions::store::Content;
use skills_protocol::error::RpcError;
use skills_render::Invoker;
use skills_syntax::path::AbsPath;

use super::{Act, Asking, Permit, permission, place_of_trust, untrusted};
use crate::access::programs::Unchecked;
use crate::access::sealed_copy;
use crate::access::sealed_copy::{SealError, SealedCopy, Snapshot, Unit};
use crate::rpc::blocking::blocking;
use crate::service::Service;

/// The commands in a skill's body, as they were read to be run.
#[derive(Debug)]
pub(crate) struct Commands {
    /// The hash of the text that they stand in.
    pub(crate) text: [u8; 32],
    /// Each of them, with everything put in.
    pub(crate) all: Vec<String>,
    /// Whether what the call has sent is part of them.
    pub(crate) filled: bool,
    /// The files of the skill; none where it is the user's own.
    pub(crate) files: Option<Content>,
}

impl Commands {
    /// True if trust in the skill covers this; text from the call is never covered.
    pub(super) fn is_trusted(&self, content: &Content) -> bool {
        content.hash == self.text || self.files.as_ref() == Some(content)
    }

    /// Returns all of them as one, which no others are.
    pub(super) fn joined(&self) -> Vec<u8> {
        joined(&self.all)
    }
}

/// Returns texts as one, which no others are.
fn joined(texts: &[String]) -> Vec<u8> {
    let each = |it: &String| [&it.len().to_le_bytes(), it.as_bytes()].concat();
    texts.iter().flat_map(each).collect()
}

/// A script of a skill, as it was read to be run.
#[derive(Debug)]
pub(crate) struct Script {
    /// Its path below the skill's directory, as the caller names it.
    pub(crate) relative: String,
    /// What it is started with.
    pub(crate) args: Vec<String>,
    pub(crate) content: Content,
    /// The files of the skill; none where it is the user's own.
    pub(crate) files: Option<Content>,
}

impl Script {
    /// Returns the hash of what would run: of the script and of what it is started with.
    pub(super) fn hash(&self) -> [u8; 32] {
        content_hash(&[&self.content.hash[..], &joined(&self.args)].concat())
    }
}

/// Whether the configuration lets anything of a kind be run.
fn is_on(is_on: bool, key: &str, what: &str) -> Result<(), RpcError> {
    if is_on {
        return Ok(());
    }
    Err(RpcError::not_allowed(format!("the configuration does not let skillsd run {what}"))
        .with_hint(format!(
            "Set `{key} = true` in your `config.toml`, or run them under the agent's own rules."
        )))
}

/// Whether the configuration and trust let a script of a skill be run, whatever it holds.
pub(crate) fn is_possible(
    service: &Service,
    view: &View,
    candidate: &Candidate,
) -> Result<(), RpcError> {
    is_on(service.settings.user().run_scripts, "run.scripts", "scripts of skills")?;
    has_run(service, view, candidate)
}

/// Checks that configuration and trust allow the skill's commands to run at all.
pub(crate) fn is_shell_possible(
    service: &Service,
    view: &View,
    candidate: &Candidate,
) -> Result<(), RpcError> {
    is_on(service.settings.user().run_shell, "run.shell", "the commands of skills")?;
    has_run(service, view, candidate)
}

/// Returns true if skills of a root come from a registry or a server, of which nothing is ever run.
fn is_from_elsewhere(root: &SearchRoot) -> bool {
    matches!(root.scope, Scope::Remote | Scope::Mcp)
}

/// Whether a skill is from where things are run.
fn has_run(service: &Service, view: &View, candidate: &Candidate) -> Result<(), RpcError> {
    let name = &candidate.name;
    let root = &view.resolution.roots[candidate.root];
    if is_from_elsewhere(root) {
        return Err(RpcError::not_allowed(format!(
            "nothing of `{name}` is run: it comes from elsewhere"
        ))
        .with_hint("Copy it into a directory of yours to run what is in it."));
    }
    if !root.is_trusted() {
        service.counters.count(|it| it.untrusted += 1);
        return Err(untrusted(view, candidate, &format!("nothing of `{name}` is run")));
    }
    Ok(())
}

/// Asks whether the commands in a skill's text may be run, which was read before: what its file
/// holds by now does not count. What a model's call has put into them is nobody's but the model's,
/// and is agreed to as it would run, whosever the skill is.
pub(crate) async fn shell(
    service: &Service,
    asking: Asking<'_>,
    commands: &Commands,
) -> Result<Permit, RpcError> {
    let Asking { peer, view, candidate, by, .. } = asking;
    is_shell_possible(service, view, candidate)?;
    let mut contents = Vec::new();
    if !view.resolution.roots[candidate.root].is_own() {
        contents.push(content(candidate, commands.text).await?);
        contents.extend(commands.files.clone());
    }
    // An agent may say that its user has sent them; only who may grant is believed.
    if commands.filled && !(by == Invoker::User && peer.may_grant()) {
        let (path, joined) = (candidate.path.clone(), commands.joined());
        let filled =
            blocking(move || Content::filled(&path, &joined).map_err(|it| gone(&path, &it)));
        contents.push(filled.await?);
    }
    let contents = unknown(service, contents).await;
    permission(service, asking, Act::Shell(commands), contents).await
}

/// Asks whether a script of a skill may be run as it was read.
pub(crate) async fn script(
    service: &Service,
    asking: Asking<'_>,
    script: &Script,
) -> Result<Permit, RpcError> {
    let Asking { view, candidate, .. } = asking;
    is_possible(service, view, candidate)?;
    let contents = unknown(service, script.files.iter().cloned().collect()).await;
    permission(service, asking, Act::Script(script), contents).await
}

/// Returns the files that are trusted together with a skill; none where it is the user's own.
pub(crate) fn unit(view: &View, candidate: &Candidate) -> Option<Unit> {
    let root = &view.resolution.roots[candidate.root];
    let plugin = root.plugin.as_ref().map(|it| &*it.root);
    (!root.is_own()).then(|| Unit::of(&candidate.path, plugin))
}

/// Returns how to find the directories that no program is taken from, which blocks on the disk:
/// those that the call names, and the skill's own where it is not the user's.
pub(crate) fn unchecked(
    service: &Service,
    view: &View,
    candidate: &Candidate,
) -> impl FnOnce() -> Unchecked + Send + 'static {
    let root = &view.resolution.roots[candidate.root];
    let own = (!root.is_own()).then(|| candidate.dir());
    let plugin = root.plugin.as_ref().filter(|_| !root.is_own()).map(|it| it.root.clone());
    let called = [&view.resolution.worktree, &view.ctx.cwd].into_iter().chain(&view.ctx.additional);
    let directories: Vec<_> =
        called.cloned().chain(own).chain(plugin).map(AbsPath::into_path_buf).collect();
    let home = service.home();
    move || Unchecked::new(&directories, home.as_deref())
}

/// Reads the files of a unit for what trust is bound to.
pub(crate) async fn files(unit: Unit, name: &str) -> Result<Content, RpcError> {
    let name = name.to_owned();
    blocking(move || {
        let snapshot = Snapshot::take(unit).map_err(|error| sealed_copy::refused(&error, &name))?;
        Ok(snapshot.content().clone())
    })
    .await
}

/// Writes the private copy of a snapshot.
pub(crate) async fn copy(
    service: &Service,
    snapshot: Snapshot,
    name: &str,
) -> Result<SealedCopy, RpcError> {
    let (place, name) = (service.copies(), name.to_owned());
    blocking(move || {
        let copied = place.and_then(|it| snapshot.copy(&it));
        copied.map_err(|error| sealed_copy::refused(&SealError::Copy(error), &name))
    })
    .await
}

/// Returns what a skill's file held when its text of this hash was read.
async fn content(candidate: &Candidate, loaded: [u8; 32]) -> Result<Content, RpcError> {
    let path = candidate.path.clone();
    blocking(move || Content::known(&path, loaded).map_err(|error| gone(&path, &error))).await
}

fn gone(path: &AbsPath, error: &io::Error) -> RpcError {
    RpcError::internal(format!("failed to read `{}`: {error}", path.display()))
        .with_hint("Ask again; the list follows the disk.")
}

/// Returns those of some files that are not as the user has trusted them.
pub(crate) async fn unknown(service: &Service, contents: Vec<Content>) -> Vec<Content> {
    let mut unknown = Vec::new();
    for content in contents {
        let known = service.sessions.store().is_trusted_content(content.clone()).await;
        // What cannot be looked up is not known.
        if !known.unwrap_or(false) {
            unknown.push(content);
        }
    }
    unknown
}

/// Returns why the hooks of a skill, read from the text of this hash, are not for an agent to run,
/// as a sentence; none where they are. Nobody is asked: the text is loaded all the same.
pub(crate) async fn withheld_hooks(
    service: &Service,
    view: &View,
    candidate: &Candidate,
    loaded: [u8; 32],
) -> Result<Option<String>, RpcError> {
    let root = &view.resolution.roots[candidate.root];
    if root.is_own() {
        return Ok(None);
    }
    if is_from_elsewhere(root) {
        let why = "Its hooks are left out, because it comes from elsewhere; copy it into a directory of yours to use them.";
        return Ok(Some(why.to_owned()));
    }
    let place = place_of_trust(view, candidate);
    if !root.is_trusted() {
        service.counters.count(|it| it.untrusted += 1);
        return Ok(Some(format!(
            "Its hooks are left out, because what comes with `{place}` is not trusted; `skillsd trust {place}` trusts it."
        )));
    }
    let mut contents = vec![content(candidate, loaded).await?];
    // Unreadable files do not match the trusted ones.
    let files = match unit(view, candidate) {
        Some(unit) => files(unit, &candidate.name).await.map(Some),
        None => Ok(None),
    };
    let has_changed = match files {
        Ok(files) => {
            contents.extend(files);
            !unknown(service, contents).await.is_empty()
        }
        Err(_) => true,
    };
    Ok(has_changed.then(|| {
        format!(
            "Its hooks are left out, because it has changed since `{place}` was trusted; `skillsd trust {place}` trusts it as it is."
        )
    }))
}
