//! `trust/*`: what the user has said about directories, kept in the user's own state.

mod scripts;
mod waiting;

use std::sync::Arc;

use skills_engine::watch::stat_cache::Generation;
use skills_protocol::error::RpcError;
use skills_protocol::path::{PathEncoding, encode, encoding_of};
use skills_protocol::wire::{
    Context, Contextual, TrustGetParams, TrustGetResult, TrustSetParams, TrustSetResult, TrustedDir,
};
use skills_syntax::path::AbsPath;

use crate::api::from_wire;
use crate::api::to_wire;
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::blocking::blocking;
use crate::rpc::peer::Peer;
use crate::service::Service;

pub(crate) async fn get(
    service: Arc<Service>,
    peer: Arc<Peer>,
    mut params: TrustGetParams,
) -> Outcome {
    let mut context = params.take_context();
    let is_meant = params.dir.is_some() || context.cwd.is_some() || context.session.is_some();
    let dir = if is_meant {
        Some(meant(&service, &peer, params.dir.as_deref(), context.clone()).await?)
    } else {
        None
    };
    let (waiting, covers) = if is_meant && params.waiting == Some(true) {
        if context.session.is_none() {
            context.cwd = context.cwd.or(params.dir);
        }
        waiting::waiting(&service, service.view(&peer, context).await?).await?
    } else {
        (Vec::new(), Vec::new())
    };
    service.refresh_trusts(Generation::default()).await;
    let trusts = service.trusts().await;
    let said = dir.as_ref().and_then(|it| trusts.decision(it));
    let encoding = encoding_of(dir.iter().chain(said.map(|it| it.0)).map(|it| &**it));
    Answer::new(&TrustGetResult {
        dir: dir.as_ref().map(|it| encode(it, encoding)),
        path_encoding: encoding,
        trusted: said.is_some_and(|it| it.1),
        decided: said.map(|(it, _)| encode(it, encoding)),
        all: trusts.iter().map(|(dir, trusted)| one(dir, trusted)).collect(),
        waiting,
        covers,
        health: to_wire::health(&service.sessions.store().health()),
    })
}

fn one(dir: &AbsPath, trusted: bool) -> TrustedDir {
    let path_encoding = encoding_of([&**dir]);
    TrustedDir { dir: encode(dir, path_encoding), path_encoding, trusted }
}

pub(crate) async fn set(
    service: Arc<Service>,
    peer: Arc<Peer>,
    mut params: TrustSetParams,
) -> Outcome {
    let context = params.take_context();
    let dir = meant(&service, &peer, params.dir.as_deref(), context).await?;
    let trusted = params.trusted;
    if trusted == Some(true) && dir.parent().is_none() {
        return Err(RpcError::invalid_params("`/` is not trusted as a whole")
            .with_hint("Trust the worktrees that you work in, each by its own directory."));
    }
    let (contents, skills) = if trusted == Some(true) {
        let dir = dir.clone();
        blocking(move || {
            if dir.is_dir() {
                return Ok(scripts::contents(&dir));
            }
            Err(RpcError::invalid_params(format!("`{}` is no directory", dir.display()))
                .with_hint("Trust the directory of a worktree."))
        })
        .await?
    } else {
        (Vec::new(), 0)
    };
    let kept = service.sessions.store().set_trust(&dir, trusted, contents).await;
    kept.map_err(|error| {
        RpcError::not_kept(format!("what you say of `{}` is not kept: {error}", dir.display()))
    })?;
    service.take_trust().await;
    let path_encoding = encoding_of([&*dir]);
    Answer::new(&TrustSetResult {
        dir: encode(&dir, path_encoding),
        path_encoding,
        trusted: service.trusts().await.decision(&dir).is_some_and(|it| it.1),
        skills,
        health: to_wire::health(&service.sessions.store().health()),
    })
}

/// Returns the directory that a call means, without links on the way: the one that it names, or the
/// worktree that it asks from.
async fn meant(
    service: &Service,
    peer: &Peer,
    dir: Option<&str>,
    context: Context,
) -> Result<AbsPath, RpcError> {
    let encoding: Option<PathEncoding> = context.path_encoding;
    let dir = match dir {
        Some(dir) => from_wire::absolute(dir, encoding)?,
        None => service.view(peer, context).await?.resolution.worktree.clone(),
    };
    blocking(move || Ok(real(&dir))).await
}

/// One that is gone is what it was called; what was said of it can still be taken back.
fn real(dir: &AbsPath) -> AbsPath {
    let real = dir.canonicalize().ok().and_then(|it| AbsPath::new(&it).ok());
    real.unwrap_or_else(|| dir.clone())
}
