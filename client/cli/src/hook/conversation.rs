//! One agent's conversation, as the daemon is told of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::value::RawValue;
use skills_protocol::bounds::LIST_ITEMS;
use skills_protocol::method::{
    Request, SessionAgentEnd, SessionClose, SessionCompacted, SessionGet, SessionOpen, SessionTouch,
};
use skills_protocol::path::encode;
use skills_protocol::wire::{
    SessionAgentEndParams, SessionCloseParams, SessionCompactedParams, SessionGetParams,
    SessionOpenParams, SessionTouchParams, TouchOp,
};

use super::agents::Agent;
use super::payload::Payload;
use super::shell::{self, Op, Touched};
use super::tell;
use crate::failure::CommandError;
use crate::global::GlobalArgs;
use crate::place::Place;
use skills_client::blocking::{BlockingConnection, limit_patience};
use skills_client::spawn::{StartOptions, connect_or_start};
use skills_client::{ClientError, environment};

/// How long the daemon may take to start, and to answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// A conversation, and where it takes place.
pub(super) struct Conversation {
    session: String,
    agent: Option<String>,
    /// Where the conversation began, as the daemon is told.
    began: Place,
    /// Where its tools work now.
    now: shell::CommandDirs,
    options: StartOptions,
}

impl Conversation {
    /// Returns the conversation that a payload is of.
    pub(super) fn of(
        global: &GlobalArgs,
        agent: &Agent,
        payload: &Payload,
    ) -> Result<Self, CommandError> {
        let session = payload.session_id.clone().filter(|it| !it.is_empty());
        let session = session.ok_or_else(|| missing("session_id"))?;
        let cwd =
            payload.cwd.clone().filter(|it| it.is_absolute()).ok_or_else(|| missing("cwd"))?;
        let started_in = agent.started_in.and_then(std::env::var_os).map(PathBuf::from);
        let started_in = started_in.filter(|it| it.is_absolute() && cwd.starts_with(it));
        let global = GlobalArgs {
            cwd: Some(started_in.unwrap_or_else(|| cwd.clone())),
            profile: global.profile.clone().or_else(|| agent.profile.map(str::to_owned)),
            ..global.clone()
        };
        let began = Place::of(&global, None)?.single_profile()?;
        let home = std::env::home_dir().filter(|it| it.is_absolute());
        let now = shell::CommandDirs { top: top_of(&cwd), cwd, home };
        let location = environment::socket_location().map_err(ClientError::from)?;
        let options = StartOptions::new(location)?;
        let options = StartOptions { deadline: PATIENCE, patience: PATIENCE, ..options };
        Ok(Self { session, agent: payload.agent_id.clone(), began, now, options })
    }

    /// Returns where its tools work now.
    pub(super) fn place(&self) -> &shell::CommandDirs {
        &self.now
    }

    /// Says that it has begun.
    pub(super) fn open(&mut self) -> Result<(), CommandError> {
        let mut params = SessionOpenParams::default();
        self.began.fill(&mut params, None);
        params.session = Some(self.session.clone());
        self.ask::<SessionOpen>(&params).map(drop)
    }

    /// Says that it has ended.
    pub(super) fn close(&mut self) -> Result<(), CommandError> {
        let mut params = SessionCloseParams::default();
        self.began.fill(&mut params, None);
        params.session = Some(self.session.clone());
        self.ask::<SessionClose>(&params).map(drop)
    }

    /// Says that the agent inside it has ended.
    pub(super) fn agent_end(&mut self) -> Result<(), CommandError> {
        let mut params = SessionAgentEndParams::default();
        self.began.fill(&mut params, None);
        params.session = Some(self.session.clone());
        params.agent.clone_from(&self.agent);
        self.ask::<SessionAgentEnd>(&params).map(drop)
    }

    /// Says that it was shortened, and returns what has to be said again.
    pub(super) fn compacted(&mut self) -> Result<Option<String>, CommandError> {
        // One that nobody opened has nothing to forget.
        self.open()?;
        let mut params = SessionCompactedParams::default();
        self.began.fill(&mut params, None);
        params.session = Some(self.session.clone());
        params.agent.clone_from(&self.agent);
        let compacted = self.ask::<SessionCompacted>(&params)?;
        let mut params = SessionGetParams::default();
        self.began.fill(&mut params, None);
        params.session = Some(self.session.clone());
        let known = self.ask::<SessionGet>(&params)?;
        Ok(tell::again(&compacted.skills, &known.activated))
    }

    /// Says which files were touched, and returns what is new.
    pub(super) fn touch(&mut self, files: &[Touched]) -> Result<Option<String>, CommandError> {
        let mut all = Vec::new();
        for (op, word) in [
            (Op::Read, TouchOp::Read),
            (Op::Write, TouchOp::Write),
            (Op::Search, TouchOp::Search),
            (Op::Exec, TouchOp::Exec),
        ] {
            let paths: Vec<&Path> =
                files.iter().filter(|it| it.op == op).map(|it| it.path.as_path()).collect();
            if paths.is_empty() {
                continue;
            }
            let mut params = SessionTouchParams { op: Some(word), ..SessionTouchParams::default() };
            self.began.fill(&mut params, None);
            params.session = Some(self.session.clone());
            params.agent.clone_from(&self.agent);
            let encoding = params.path_encoding;
            for paths in paths.chunks(LIST_ITEMS) {
                params.paths = paths.iter().map(|path| encode(path, encoding)).collect();
                all.push(self.ask::<SessionTouch>(&params)?);
            }
        }
        Ok(tell::new(&all))
    }

    fn ask<M: Request>(&self, params: &M::Params) -> Result<M::Result, CommandError> {
        let text = match self.try_ask::<M>(params) {
            // A daemon that is being stopped hangs up; the next one answers.
            Err(error) if error.is_broken_connection() => self.try_ask::<M>(params)?,
            answer => answer?,
        };
        let form = |source| ClientError::Form { method: M::METHOD, source };
        Ok(serde_json::from_str(text.get()).map_err(form)?)
    }

    fn try_ask<M: Request>(&self, params: &M::Params) -> Result<Box<RawValue>, ClientError> {
        let stream = connect_or_start(&self.options)?;
        limit_patience(&stream, Some(PATIENCE))?;
        let mut connection = BlockingConnection::new(stream);
        let sent = connection.send::<M>(params)?;
        connection.receive_text(sent)
    }
}

fn missing(field: &str) -> CommandError {
    CommandError::usage(format!("the hook's input has no `{field}`"))
}

/// Returns the top of the worktree that a directory is in, or the directory.
fn top_of(cwd: &Path) -> PathBuf {
    let has_git = |dir: &&Path| dir.join(".git").exists();
    cwd.ancestors().find(has_git).unwrap_or(cwd).to_owned()
}
