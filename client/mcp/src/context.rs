//! [`McpContext`]: the state shared by all MCP requests, and their calls to the daemon.
//!
//! A call whose connection breaks is repeated, so the client does not notice a daemon restart. This
//! includes loads, because loading a skill twice has no further effect.

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

use crate::client_directory::ClientDirectory;

/// Pauses before a call is repeated after its connection broke.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(20), Duration::from_millis(80), Duration::from_millis(320)];

/// Number of concurrent calls for skills; the daemon accepts twice as many.
pub(crate) const AT_ONCE: usize = 16;

/// State shared by all requests of the client.
pub(crate) struct McpContext {
    pub(crate) client: Client,
    /// Sends the user's approvals to the daemon.
    consent: Client,
    pub(crate) directory: ClientDirectory,
    pub(crate) shell: Shell,
    /// Counts changes of the listed skills.
    pub(crate) changes: watch::Sender<u64>,
    has_listed: AtomicBool,
}

impl McpContext {
    pub(crate) fn new(
        client: Client,
        consent: Client,
        directory: ClientDirectory,
        shell: Shell,
    ) -> Self {
        let changes = watch::Sender::new(0);
        Self { client, consent, directory, shell, changes, has_listed: AtomicBool::new(false) }
    }

    /// Calls the daemon in the client's context.
    pub(crate) async fn ask<M: Request>(
        &self,
        mut params: M::Params,
    ) -> Result<M::Result, ClientError>
    where
        M::Params: Contextual,
    {
        params.set_context(self.directory.context().await);
        self.call::<M>(&params).await
    }

    /// Calls the daemon with a path given by the client, encoded like the other paths of the call.
    pub(crate) async fn ask_about<M: Request>(
        &self,
        path: &str,
        params: impl FnOnce(String) -> M::Params,
    ) -> Result<M::Result, ClientError>
    where
        M::Params: Contextual,
    {
        let context = self.directory.context().await;
        let mut params = params(encode(Path::new(path), context.path_encoding));
        params.set_context(context);
        self.call::<M>(&params).await
    }

    /// Sends the user's answer to a question to the daemon.
    pub(crate) async fn answer(&self, params: &PermissionReplyParams) -> Result<(), ClientError> {
        self.consent.call::<PermissionReply>(params).await.map(drop)
    }

    /// Calls the daemon without setting a context.
    pub(crate) async fn call<M: Request>(
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

    /// Lists the skills that the model sees, and those in the other states in `include`. Leaves out
    /// skills built into the profile's agent, which only that agent can load.
    pub(crate) async fn listed(&self, include: &[Include]) -> Result<Vec<Entry>, ClientError> {
        let mut params = ListParams { include: include.to_vec(), ..ListParams::default() };
        params.set_context(self.directory.context().await);
        let mut skills = fetch_all(&self.client, &params).await?.skills;
        skills.retain(|it| !it.is_built_in());
        Ok(skills)
    }

    pub(crate) async fn frontmatter(&self, name: &str) -> Result<Map<String, Value>, ClientError> {
        let params = GetParams { name: Some(name.to_owned()), ..GetParams::default() };
        Ok(self.ask::<SkillsGet>(params).await?.frontmatter)
    }

    /// Records that the client has received a list.
    pub(crate) fn note_listed(&self) {
        self.has_listed.store(true, Ordering::Relaxed);
    }

    /// Records a change of the listed skills, if the client has received a list.
    pub(crate) fn note_change(&self) {
        if self.has_listed.load(Ordering::Relaxed) {
            self.changes.send_modify(|nth| *nth += 1);
        }
    }
}

/// Returns the error message with its hint, for the model.
pub(crate) fn error_text(error: &ClientError) -> String {
    match error.hint() {
        Some(hint) => format!("{error}. {}", with_tool_names(&hint)),
        None => error.to_string(),
    }
}

/// Replaces commands and methods in a hint, which the model cannot call, by tools.
fn with_tool_names(hint: &str) -> String {
    let hint = hint.replace("`skills/resources` lists", "`read_skill_file` without `path` lists");
    match hint.strip_prefix("Run `skillsd explain ").and_then(|it| it.split_once('`')) {
        Some((_, rest)) => format!("Call `explain_skill`{rest}"),
        None => hint,
    }
}

pub(crate) fn refusal(error: &ClientError) -> Option<&RpcError> {
    match error {
        ClientError::Rpc(error) => Some(error),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_name_tools_in_place_of_commands_and_methods() {
        for (hint, expected) in [
            (
                "Run `skillsd explain nope` to see where skillsd searched.",
                "Call `explain_skill` to see where skillsd searched.",
            ),
            (
                "`skills/resources` lists the skill's files.",
                "`read_skill_file` without `path` lists the skill's files.",
            ),
            ("Did you mean `pdf`?", "Did you mean `pdf`?"),
        ] {
            assert_eq!(with_tool_names(hint), expected);
        }
    }
}
