//! Session of an agent ([`AgentSession`]) and its calls to the daemon.

use std::path::{Path, PathBuf};
use std::time::Duration;

use skills_client::blocking::{BlockingConnection, set_timeout};
use skills_client::spawn::{StartOptions, connect, connect_or_start};
use skills_client::{ClientError, environment};
use skills_protocol::bounds::LIST_ITEMS;
use skills_protocol::method::{
    Request, SessionAgentEnd, SessionClose, SessionCompacted, SessionGet, SessionNews, SessionOpen,
    SessionTouch,
};
use skills_protocol::path::encode;
use skills_protocol::wire::{
    Health, SessionAgentEndParams, SessionCompactedParams, SessionNewsParams, SessionTouchParams,
};

use super::agents::HookAgent;
use super::payload::Payload;
use super::shell;
use super::skill_text;
use crate::call_context::CallContext;
use crate::failure::CommandError;
use crate::global::GlobalArgs;
use crate::server_connection::ServerConnection;

/// Time limit for the daemon to start, and for each answer.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Session of a hook event, with its directories.
pub(super) struct AgentSession {
    agent: Option<String>,
    /// False if the agent drops the answer to this event, or if a subagent, whose skills are those
    /// of its start, gets it.
    takes_news: bool,
    own_profile: &'static str,
    /// Call context of the session, in the directory that it started in.
    start: CallContext,
    /// Directories that the agent's tools use now.
    dirs: shell::CommandDirs,
    options: StartOptions,
}

impl AgentSession {
    pub(super) fn from_payload(
        global: &GlobalArgs,
        agent: &HookAgent,
        payload: &Payload,
    ) -> Result<Self, CommandError> {
        let session = payload.session().ok_or_else(|| missing("session_id"))?;
        let cwd =
            payload.cwd.clone().filter(|it| it.is_absolute()).ok_or_else(|| missing("cwd"))?;
        let started_in = agent.started_in.and_then(std::env::var_os).map(PathBuf::from);
        let started_in = started_in.filter(|it| it.is_absolute() && cwd.starts_with(it));
        let global =
            GlobalArgs { cwd: Some(started_in.unwrap_or_else(|| cwd.clone())), ..global.clone() };
        let profile = global.profile.as_deref().unwrap_or(agent.name);
        let start = CallContext::from_args(&global, None)?.with_profile(profile);
        let start = start.single_profile()?.in_session(session);
        let home = std::env::home_dir().filter(|it| it.is_absolute());
        let dirs = shell::CommandDirs { top: top_of(&cwd), cwd, home };
        let location = environment::socket_location().map_err(ClientError::from)?;
        let options = StartOptions::new(location)?;
        let options = StartOptions { deadline: TIMEOUT, connect_timeout: TIMEOUT, ..options };
        let takes_news =
            agent.reply.is_accepted(&payload.hook_event_name) && payload.agent_id.is_none();
        Ok(Self {
            agent: payload.agent_id.clone(),
            takes_news,
            own_profile: agent.name,
            start,
            dirs,
            options,
        })
    }

    /// Replaces an older daemon that no other client uses. Returns a report of that, or of a daemon
    /// of another version that stays.
    pub(super) fn replace_older_daemon(&self) -> Vec<Health> {
        ServerConnection::replace_running(&self.options)
    }

    pub(super) fn dirs(&self) -> &shell::CommandDirs {
        &self.dirs
    }

    /// Opens the session of an agent that has just read its skills.
    pub(super) fn start(&mut self) -> Result<(), CommandError> {
        self.open()?;
        let params = SessionNewsParams { restart: true, ..self.news_params() };
        self.call::<SessionNews>(&params).map(drop)
    }

    fn open(&mut self) -> Result<(), CommandError> {
        self.call::<SessionOpen>(&self.start.params()).map(drop)
    }

    pub(super) fn close(&mut self) -> Result<(), CommandError> {
        self.call::<SessionClose>(&self.start.params()).map(drop)
    }

    /// Reports that the subagent of this event has ended.
    pub(super) fn agent_end(&mut self) -> Result<(), CommandError> {
        let agent = self.agent.clone();
        let params = SessionAgentEndParams { agent, ..self.start.params() };
        self.call::<SessionAgentEnd>(&params).map(drop)
    }

    /// Reports that the context was compacted, and returns the text to repeat.
    pub(super) fn compacted(&mut self) -> Result<Option<String>, CommandError> {
        // `session/compacted` needs an open session.
        self.open()?;
        let agent = self.agent.clone();
        let params = SessionCompactedParams { agent, ..self.start.params() };
        let compacted = self.call::<SessionCompacted>(&params)?;
        let current = self.call::<SessionGet>(&self.start.params())?;
        Ok(skill_text::after_compaction(self.id(), &compacted.skills, &current.activated))
    }

    /// Reports touched files, and returns a text about the skills that they activate and about
    /// changes of the agent's list.
    pub(super) fn touch(&mut self, files: &[PathBuf]) -> Result<Option<String>, CommandError> {
        // News alone is no reason to start a daemon.
        if files.is_empty() && !(self.takes_news && self.is_daemon_running()) {
            return Ok(None);
        }
        let mut all = Vec::new();
        let agent = self.agent.clone();
        let mut params = SessionTouchParams { agent, extended: true, ..self.start.params() };
        let encoding = params.path_encoding;
        // A touch without files opens the session.
        let n_calls = files.len().div_ceil(LIST_ITEMS).max(1);
        for paths in files.chunks(LIST_ITEMS).chain([&[][..]]).take(n_calls) {
            params.paths = paths.iter().map(|path| encode(path, encoding)).collect();
            all.push(self.call::<SessionTouch>(&params)?);
        }
        let news =
            self.takes_news.then(|| self.call::<SessionNews>(&self.news_params())).transpose();
        // The touched skills are recorded as told: a failure of the news does not withhold them.
        let known_news = news.as_ref().ok().and_then(Option::as_ref);
        match (skill_text::new_skills(self.id(), &all, known_news), news) {
            (None, Err(error)) => Err(error),
            (text, _) => Ok(text),
        }
    }

    fn id(&self) -> &str {
        self.start.session().unwrap_or_default()
    }

    fn news_params(&self) -> SessionNewsParams {
        // `--profile` may have chosen another profile for the session.
        let profile = Some(self.own_profile.to_owned());
        SessionNewsParams { profile, ..self.start.params() }
    }

    fn is_daemon_running(&self) -> bool {
        connect(&self.options.location, TIMEOUT).is_ok()
    }

    fn call<M: Request>(&self, params: &M::Params) -> Result<M::Result, CommandError> {
        Ok(match self.try_call::<M>(params) {
            // A daemon that is shutting down closes the connection; the next daemon answers.
            Err(error) if error.is_broken_connection() => self.try_call::<M>(params)?,
            answer => answer?,
        })
    }

    fn try_call<M: Request>(&self, params: &M::Params) -> Result<M::Result, ClientError> {
        let stream = connect_or_start(&self.options)?;
        set_timeout(&stream, Some(TIMEOUT))?;
        BlockingConnection::new(stream).call::<M>(params)
    }
}

fn missing(field: &str) -> CommandError {
    CommandError::usage(format!("the hook's input has no `{field}`"))
}

/// Returns the root of the worktree that contains a directory, or else the directory.
fn top_of(cwd: &Path) -> PathBuf {
    let has_git = |dir: &&Path| dir.join(".git").exists();
    cwd.ancestors().find(has_git).unwrap_or(cwd).to_owned()
}
