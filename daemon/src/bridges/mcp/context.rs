//! Where the questions of an MCP client become calls of the daemon.
//!
//! A daemon that is restarted in between costs the client nothing: the call is made again, also a
//! load, since whoever asks for a skill twice has it once.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Map, Value};
use skills_client::ClientError;
use skills_client::client::Client;
use skills_client::live::fetch_all;
use skills_protocol::error::RpcError;
use skills_protocol::method::{PermissionReply, Request, SkillsGet};
use skills_protocol::path::encode;
use skills_protocol::wire::{
    Contextual, Entry, GetParams, Include, ListParams, PermissionReplyParams, Shell,
};
use tokio::sync::watch;

use super::place::Place;

/// The pauses before a call is made again whose connection broke.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(20), Duration::from_millis(80), Duration::from_millis(320)];

/// How many skills are asked for at once; the daemon takes twice as many.
pub(super) const AT_ONCE: usize = 16;

/// What all requests of the client share.
pub(super) struct McpContext {
    pub(super) client: Client,
    /// Brings the daemon what the user has answered.
    consent: Client,
    pub(super) place: Place,
    pub(super) shell: Shell,
    /// Counts how often what is listed has changed.
    pub(super) changes: watch::Sender<u64>,
    has_listed: AtomicBool,
}

impl McpContext {
    pub(super) fn new(client: Client, consent: Client, place: Place, shell: Shell) -> Self {
        let changes = watch::Sender::new(0);
        Self { client, consent, place, shell, changes, has_listed: AtomicBool::new(false) }
    }

    /// Calls the daemon about the client's place.
    pub(super) async fn ask<M: Request>(
        &self,
        mut params: M::Params,
    ) -> Result<M::Result, ClientError>
    where
        M::Params: Contextual,
    {
        params.set_context(self.place.context().await);
        self.call::<M>(&params).await
    }

    /// Calls the daemon about a path that the client names, which has to be written as the other
    /// paths of the call are.
    pub(super) async fn ask_about<M: Request>(
        &self,
        path: &str,
        params: impl FnOnce(String) -> M::Params,
    ) -> Result<M::Result, ClientError>
    where
        M::Params: Contextual,
    {
        let context = self.place.context().await;
        let mut params = params(encode(Path::new(path), context.path_encoding));
        params.set_context(context);
        self.call::<M>(&params).await
    }

    /// Brings the daemon the user's answer to a question.
    pub(super) async fn answer(&self, params: &PermissionReplyParams) -> Result<(), ClientError> {
        self.consent.call::<PermissionReply>(params).await.map(drop)
    }

    /// Calls the daemon about no place.
    pub(super) async fn call<M: Request>(
        &self,
        params: &M::Params,
    ) -> Result<M::Result, ClientError> {
        let mut pauses = PAUSES.iter();
        loop {
            let outcome = self.client.call::<M>(params).await;
            let is_broken = outcome.as_ref().is_err_and(ClientError::is_broken_connection);
            match pauses.next().filter(|_| is_broken) {
                Some(pause) => tokio::time::sleep(*pause).await,
                None => return outcome,
            }
        }
    }

    /// Lists the skills that the model sees, and those in other states besides; without what is
    /// built into the profile's agent, which nobody else can load.
    pub(super) async fn listed(&self, include: &[Include]) -> Result<Vec<Entry>, ClientError> {
        let mut params = ListParams { include: include.to_vec(), ..ListParams::default() };
        params.set_context(self.place.context().await);
        let mut skills = fetch_all(&self.client, &params).await?.skills;
        skills.retain(|it| !it.is_built_in());
        Ok(skills)
    }

    /// Returns all frontmatter of a skill.
    pub(super) async fn frontmatter(&self, name: &str) -> Result<Map<String, Value>, ClientError> {
        let params = GetParams { name: Some(name.to_owned()), ..GetParams::default() };
        Ok(self.ask::<SkillsGet>(params).await?.frontmatter)
    }

    /// Notes that the client has been told what there is.
    pub(super) fn note_listed(&self) {
        self.has_listed.store(true, Ordering::Relaxed);
    }

    /// Notes that what there is may be another than what the client was told, if it was.
    pub(super) fn note_change(&self) {
        if self.has_listed.load(Ordering::Relaxed) {
            self.changes.send_modify(|nth| *nth += 1);
        }
    }
}

/// Returns what is wrong, and what to do, for the model to read.
pub(super) fn told(error: &ClientError) -> String {
    let mut text = error.to_string();
    if let Some(hint) = error.hint() {
        text = format!("{text}. {hint}");
    }
    text
}

/// Returns the daemon's answer, where the error is one.
pub(super) fn refusal(error: &ClientError) -> Option<&RpcError> {
    match error {
        ClientError::Rpc(error) => Some(error),
        _ => None,
    }
}
