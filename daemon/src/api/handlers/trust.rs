//! `trust/*`: the user's trust decisions on directories, kept in the user's state directory.

mod scripts;
mod waiting;

use std::sync::Arc;

use skills_engine::View;
use skills_engine::cancel::Cancel;
use skills_engine::sessions::store::trust::TrustChange;
use skills_engine::watch::stamp::Stamp;
use skills_protocol::error::RpcError;
use skills_protocol::path::{PathEncoding, encode, encoding_of};
use skills_protocol::wire::{
    Context, Contextual, CoveredFiles, TrustGetParams, TrustGetResult, TrustSetParams,
    TrustSetResult, TrustedDir,
};
use skills_syntax::path::AbsPath;

use self::scripts::Covered;
use self::waiting::UntrustedSkill;
use crate::access::sealed_copy::Hashes;
use crate::api::parts::GuardedParts;
use crate::convert::from_wire;
use crate::convert::to_wire;
use crate::request::Resolver;
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::dispatch::MethodCall;
use crate::rpc::peer::ClientPeer;
use crate::rpc::refusal;
use crate::rpc::tasks::run_fallible_blocking;

pub(crate) async fn get(call: MethodCall<GuardedParts, TrustGetParams>) -> Outcome {
    let MethodCall { parts, peer, mut params } = call;
    // The digest is for `trust/set`, and its files may be many.
    if params.contents == Some(true) && !peer.may_grant() {
        return Err(refusal::needs_consent("`trust/get` with `contents`"));
    }
    let mut context = params.take_context();
    let has_target = params.dir.is_some() || context.cwd.is_some() || context.session.is_some();
    let dir = if has_target {
        Some(trust_dir(&parts.resolver, &peer, params.dir.as_deref(), context.clone()).await?)
    } else {
        None
    };
    if let Some(dir) = dir.as_ref().filter(|_| params.contents == Some(true)) {
        require_trustable(dir).await?;
    }
    let is_waiting = has_target && params.waiting == Some(true);
    let view = if is_waiting {
        if context.session.is_none() {
            context.cwd = context.cwd.or(params.dir);
        }
        Some(parts.resolver.resolve(&peer, context).await?.view)
    } else {
        None
    };
    let shown = dir.clone().filter(|_| params.contents == Some(true));
    let (found, covered) = match (view, shown) {
        (None, None) => (Vec::new(), None),
        (view, shown) => {
            let read = move |cancel: &Cancel| read(view, shown, &mut Hashes::new(cancel));
            parts.heavy.run(&peer, read).await?
        }
    };
    let (waiting, covers) = waiting::waiting(&parts.access, found).await;
    let (digest, contents) = covered.unzip();
    parts.resolver.trusts.refresh(Stamp::default()).await;
    let trusts = parts.resolver.trusts.decisions().await;
    let said = dir.as_ref().and_then(|it| trusts.decision(it));
    let encoding = encoding_of(dir.iter().chain(said.map(|it| it.0)).map(|it| &**it));
    Answer::new(&TrustGetResult {
        dir: dir.as_ref().map(|it| encode(it, encoding)),
        path_encoding: encoding,
        trusted: said.is_some_and(|it| it.1),
        decided: said.map(|(it, _)| encode(it, encoding)),
        all: trusts.iter().map(|(dir, trusted)| trusted_dir(dir, trusted)).collect(),
        waiting,
        covers,
        digest,
        contents: contents.unwrap_or_default(),
        health: to_wire::health(&parts.resolver.sessions.store().health()),
    })
}

/// The digest and contents that trust in a directory would cover.
type ShownContents = (String, Vec<CoveredFiles>);

/// Returns the skills of a view that ask for trust, and what trust in a directory would cover.
/// Blocks on the disk.
fn read(
    view: Option<Arc<View>>,
    shown: Option<AbsPath>,
    hashes: &mut Hashes<'_>,
) -> Result<(Vec<UntrustedSkill>, Option<ShownContents>), RpcError> {
    let covered = shown.map(|dir| {
        let covered = Covered::read(&dir, hashes);
        (covered.digest(&dir), covered.shown)
    });
    let found = view.map(|view| waiting::collect_waiting(&view, hashes)).transpose()?;
    let found = found.unwrap_or_default();
    if covered.is_some() {
        waiting::require_current(&found)?;
    }
    Ok((found, covered))
}

fn trusted_dir(dir: &AbsPath, trusted: bool) -> TrustedDir {
    let path_encoding = encoding_of([&**dir]);
    TrustedDir { dir: encode(dir, path_encoding), path_encoding, trusted }
}

pub(crate) async fn set(call: MethodCall<GuardedParts, TrustSetParams>) -> Outcome {
    let MethodCall { parts, peer, mut params } = call;
    let context = params.take_context();
    let dir = trust_dir(&parts.resolver, &peer, params.dir.as_deref(), context).await?;
    let trusted = params.trusted;
    let covered = if trusted == Some(true) {
        require_trustable(&dir).await?;
        let dir = dir.clone();
        let read = move |cancel: &Cancel| Ok(Covered::read(&dir, &mut Hashes::new(cancel)));
        parts.heavy.run(&peer, read).await?
    } else {
        Covered::default()
    };
    if trusted == Some(true) && params.digest.is_some_and(|it| it != covered.digest(&dir)) {
        return Err(RpcError::not_allowed(format!(
            "the skills in `{}` have changed since they were shown",
            dir.display()
        ))
        .with_hint("Run `skillsd trust` again and look at what it shows."));
    }
    let skills = covered.n_skills;
    let change = match trusted {
        Some(true) => TrustChange::Trust(covered.contents),
        Some(false) => TrustChange::Distrust,
        None => TrustChange::Remove,
    };
    let store = parts.resolver.sessions.store();
    store.set_trust(&dir, change).await.map_err(|error| {
        let what = format!("failed to store the trust decision on `{}`", dir.display());
        refusal::not_kept(&what, &error, &store.health())
    })?;
    parts.resolver.trusts.reload().await;
    let path_encoding = encoding_of([&*dir]);
    Answer::new(&TrustSetResult {
        dir: encode(&dir, path_encoding),
        path_encoding,
        trusted: parts.resolver.trusts.decisions().await.decision(&dir).is_some_and(|it| it.1),
        skills,
        health: to_wire::health(&parts.resolver.sessions.store().health()),
    })
}

/// Refuses a directory that cannot be trusted, before anything below it is read.
async fn require_trustable(dir: &AbsPath) -> Result<(), RpcError> {
    if dir.parent().is_none() {
        return Err(RpcError::invalid_params("`/` cannot be trusted")
            .with_param("params.dir")
            .with_hint("Trust the directories of single worktrees."));
    }
    let dir = dir.clone();
    run_fallible_blocking(move || {
        if dir.is_dir() {
            return Ok(());
        }
        Err(RpcError::invalid_params(format!("`{}` is not a directory", dir.display()))
            .with_param("params.dir")
            .with_hint("Trust the directory of a worktree."))
    })
    .await
}

/// Returns the canonical directory of a call: the given one, or the worktree of its context.
async fn trust_dir(
    resolver: &Resolver,
    peer: &Arc<ClientPeer>,
    dir: Option<&str>,
    context: Context,
) -> Result<AbsPath, RpcError> {
    let encoding: Option<PathEncoding> = context.path_encoding;
    let dir = match dir {
        Some(dir) => {
            from_wire::absolute(dir, encoding).map_err(|it| it.with_param("params.dir"))?
        }
        None => resolver.resolve(peer, context).await?.view.resolution.worktree.clone(),
    };
    run_fallible_blocking(move || Ok(canonical(&dir))).await
}

/// Keeps the path of a missing directory, so that trust in it can still be revoked.
fn canonical(dir: &AbsPath) -> AbsPath {
    let canonical = dir.canonicalize().ok().and_then(|it| AbsPath::new(&it).ok());
    canonical.unwrap_or_else(|| dir.clone())
}
