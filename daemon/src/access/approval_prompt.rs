//! The user's consent: what was allowed for good, the question, and what the answer does.
//!
//! A question is put once, to whoever listens: the daemon talks to no user itself. What was
//! answered with "always" is in the store before anybody is told.

use std::time::Duration;

use serde_json::{Map, Value, json};
use skills_discovery::discover::Candidate;
use skills_discovery::permission::{self, RulePrecedence};
use skills_engine::View;
use skills_engine::sessions::store::{Content, Grant};
use skills_protocol::error::{PermissionRule, REQUEST_CANCELLED, RpcError};
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{Event, EventKind, Reply};
use skills_syntax::path::AbsPath;
use tokio::time::timeout;

use crate::access::approval_queue::{Question, Subject, UserReply};
use crate::access::authorize::SKILL;
use crate::rpc::events;
use crate::rpc::peer::Peer;
use crate::service::Service;

/// What somebody wants to do.
#[derive(Clone, Debug)]
pub(crate) struct EventSubject<'a> {
    pub(crate) view: &'a View,
    /// The skill, where it is about one.
    pub(crate) candidate: Option<&'a Candidate>,
    pub(crate) session: Option<&'a str>,
    pub(crate) agent: Option<&'a str>,
    pub(crate) permission: &'a str,
    pub(crate) patterns: Vec<String>,
    pub(crate) act: &'static str,
    pub(crate) reason: String,
    pub(crate) rule: Option<PermissionRule>,
    pub(crate) suggestions: Vec<String>,
    /// What the user is told besides.
    pub(crate) metadata: Map<String, Value>,
    /// The hash of the text that it is about.
    pub(crate) text: Option<[u8; 32]>,
    /// What is to be run and is not as it was trusted.
    pub(crate) contents: Vec<Content>,
    /// Whether it goes on with something that was allowed once.
    pub(crate) continues: bool,
}

/// What came of asking.
#[derive(Debug)]
pub(crate) enum Consent {
    Given,
    Refused(RpcError),
}

impl Service {
    /// Asks the user, unless that was answered before. Where nobody waits, the refusal names the
    /// question, and the answer counts for the next one who asks the same.
    pub(crate) async fn consent(
        &self,
        peer: &Peer,
        about: EventSubject<'_>,
        wait: bool,
    ) -> Result<Consent, RpcError> {
        if about.contents.is_empty() && self.is_granted(&about).await {
            return Ok(Consent::Given);
        }
        let question = about.question(Vec::new(), about.metadata.clone());
        if about.continues && self.requests.take_given(&question.subject) {
            return Ok(Consent::Given);
        }
        if let Some(said) = self.requests.take_answer(&question.subject) {
            return Ok(self.taken(&question, said));
        }
        let limit = self.patience();
        if wait {
            let said = self.answered(peer, question.clone(), limit).await?;
            return Ok(self.taken(&question, said));
        }
        let (id, is_new) =
            self.requests.put(peer.nth(), question.clone(), limit).ok_or_else(too_many)?;
        if is_new {
            self.asked_event(&id, &question);
        }
        let hint = match &self.socket {
            Some(_) => format!(
                "Answer with `skillsd permission reply {id} once` (or `always`, `reject`) or `permission/reply`, then ask again."
            ),
            None => "Ask a daemon, which keeps the question until it is answered.".to_owned(),
        };
        let mut error = RpcError::needs_asking(plain(&question.reason), id).with_hint(hint);
        if let (Some(data), Some(rule)) = (error.data.as_mut(), question.rule) {
            data.rule = Some(rule);
        }
        Ok(Consent::Refused(error))
    }

    /// Puts a question and waits for its answer.
    pub(crate) async fn answered(
        &self,
        peer: &Peer,
        question: Question,
        limit: Duration,
    ) -> Result<UserReply, RpcError> {
        let asked = self.requests.wait(peer.nth(), question.clone(), limit);
        let (id, mut waiting) = asked.ok_or_else(too_many)?;
        self.asked_event(&id, &question);
        // From here on the call only waits, and others of its connection go on.
        let _waits = peer.waits();
        let mut withdrawn =
            Withdrawn { service: self, id: &id, question: &question, is_over: false };
        let said = tokio::select! {
            biased;
            said = timeout(limit, &mut waiting.answer) => said,
            () = self.closing.cancelled() => {
                return Err(RpcError::new(
                    REQUEST_CANCELLED,
                    "skillsd ends before the user has answered, and the question is withdrawn",
                )
                .with_hint("Ask again: the next call starts another daemon, which asks the user."));
            }
        };
        let said = match said {
            Ok(Ok(said)) => {
                withdrawn.is_over = true;
                said
            }
            Ok(Err(_)) | Err(_) => UserReply { reply: None, message: None },
        };
        Ok(said)
    }

    fn taken(&self, question: &Question, said: UserReply) -> Consent {
        let name = question.name.clone().unwrap_or_else(|| question.subject.patterns.join(", "));
        let what = match said.reply {
            Some(Reply::Once) => {
                self.requests.note_given(question.subject.clone());
                return Consent::Given;
            }
            Some(Reply::Always) => return Consent::Given,
            Some(Reply::Reject) => format!("the user does not want `{name}` used"),
            None => format!(
                "nobody has answered within {} seconds whether `{name}` may be used, which counts as no",
                self.patience().as_secs()
            ),
        };
        let message = match said.message {
            Some(message) => format!("{what}: {message}"),
            None => what,
        };
        // Nobody is told of a rule where none wanted the user asked.
        Consent::Refused(
            RpcError::denied(message, question.rule.clone())
                .with_hint("Go on without it, or ask the user what to do."),
        )
    }

    /// Returns how long a question waits.
    pub(crate) fn patience(&self) -> Duration {
        Duration::from_secs(self.settings.user().permission_timeout)
    }

    /// Whether the user has allowed it for good.
    async fn is_granted(&self, about: &EventSubject<'_>) -> bool {
        let precedence = RulePrecedence::of(&about.view.ctx.profile);
        let worktree = &about.view.resolution.worktree;
        let granted = self.grants(worktree, about.session, about.permission).await;
        about.patterns.iter().all(|it| is_covered(precedence, about.permission, &granted, it))
    }

    /// Returns the patterns that the user has allowed for good.
    pub(crate) async fn grants(
        &self,
        worktree: &AbsPath,
        session: Option<&str>,
        permission: &str,
    ) -> Vec<String> {
        let grants = self.sessions.store().grants(worktree, session).await;
        let grants = grants.inspect_err(|error| tracing::warn!(%error, "grants are not read"));
        let grants = grants.unwrap_or_default().into_iter();
        grants.filter(|it| it.permission == permission).map(|it| it.pattern).collect()
    }

    /// Takes up the user's answer to a question. Returns the ids of others that it answers too;
    /// none where there is no such question.
    pub(crate) async fn reply(
        &self,
        id: &str,
        said: UserReply,
        always: Vec<String>,
    ) -> Option<Vec<String>> {
        let question = self.requests.get(id)?;
        let for_good = said.reply == Some(Reply::Always);
        if for_good {
            self.allow_for_good(&question, always).await;
        }
        let Some(question) = self.requests.answer(id, said.clone()) else {
            // Another answer came first; a grant of this one is still stored.
            return for_good.then(Vec::new);
        };
        self.replied_event(id, &question, said.reply);
        let mut also = Vec::new();
        if for_good {
            for (id, question) in self.covered(&question.subject).await {
                if self.requests.answer(&id, said.clone()).is_some() {
                    self.replied_event(&id, &question, said.reply);
                    also.push(id);
                }
            }
        }
        Some(also)
    }

    async fn allow_for_good(&self, question: &Question, always: Vec<String>) {
        let store = self.sessions.store();
        let Subject { permission, worktree, .. } = &question.subject;
        let patterns = if always.is_empty() { question.always.clone() } else { always };
        let grant = |pattern| Grant { session: None, permission: permission.clone(), pattern };
        // Where it cannot be saved yet, the store's health says so.
        store.grant(worktree, patterns.into_iter().map(grant).collect()).await;
        let contents = &question.subject.contents;
        if !contents.is_empty() {
            store.trust_content(contents.clone()).await;
        }
    }

    /// Returns the questions of a worktree that what is allowed for good answers by now.
    async fn covered(&self, like: &Subject) -> Vec<(String, Question)> {
        let granted = self.grants(&like.worktree, None, &like.permission).await;
        let mut covered = Vec::new();
        self.requests.each(|id, asked| {
            let Question { subject, precedence, .. } = &asked.question;
            let is_same =
                (&subject.worktree, &subject.permission) == (&like.worktree, &like.permission);
            let all = |it: &String| is_covered(*precedence, &subject.permission, &granted, it);
            if is_same && subject.contents.is_empty() && subject.patterns.iter().all(all) {
                covered.push((id.to_owned(), asked.question.clone()));
            }
        });
        covered
    }

    fn asked_event(&self, id: &str, question: &Question) {
        self.count_permission("asked");
        let message = Some(question.reason.clone());
        self.tell(EventKind::PermissionAsked, id, question, Event { message, ..blank() });
    }

    fn replied_event(&self, id: &str, question: &Question, reply: Option<Reply>) {
        self.count_permission(reply.map_or("timeout", Reply::as_str));
        self.tell(EventKind::PermissionReplied, id, question, Event { reply, ..blank() });
    }

    pub(crate) fn count_permission(&self, what: &str) {
        self.counters.count(|it| *it.permissions.entry(what.to_owned()).or_default() += 1);
    }

    fn tell(&self, kind: EventKind, id: &str, question: &Question, event: Event) {
        let Subject { session, agent, worktree, profile, .. } = &question.subject;
        let about = events::EventSubject {
            view: None,
            worktree: Some(worktree),
            session: session.as_deref(),
        };
        let encoding = encoding_of([&*question.cwd]);
        let event = Event {
            kind,
            cwd: Some(encode(&question.cwd, encoding)),
            path_encoding: encoding,
            profile: Some(profile.clone()),
            session: session.clone(),
            agent: agent.clone(),
            request: Some(id.to_owned()),
            name: question.name.clone(),
            ..event
        };
        self.bus.publish(about, &event);
    }
}

/// Tells that a question is over that nobody has answered, whether its time is or whoever waited
/// has gone.
struct Withdrawn<'a> {
    service: &'a Service,
    id: &'a str,
    question: &'a Question,
    is_over: bool,
}

impl Drop for Withdrawn<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.service.replied_event(self.id, self.question, None);
        }
    }
}

impl EventSubject<'_> {
    /// Returns the question for the user; `always` and `metadata` are the caller's own.
    pub(crate) fn question(&self, always: Vec<String>, metadata: Map<String, Value>) -> Question {
        let Self { view, candidate, session, agent, .. } = self;
        let always = match (always.is_empty(), self.permission == SKILL) {
            (false, _) => always,
            // The narrowest, which is the name where it is a plain one.
            (true, true) => self.suggestions.iter().take(1).cloned().collect(),
            (true, false) => self.patterns.clone(),
        };
        let mut metadata = metadata;
        if let Some(candidate) = candidate {
            let path = candidate.path.to_string_lossy();
            for (key, value) in [
                ("name", json!(candidate.name)),
                ("description", json!(candidate.description)),
                ("path", json!(path)),
                ("act", json!(self.act)),
            ] {
                // The caller's own text never stands for what the skill is.
                metadata.insert(key.to_owned(), value);
            }
        }
        Question {
            subject: Subject {
                permission: self.permission.to_owned(),
                patterns: self.patterns.clone(),
                act: self.act,
                session: session.map(str::to_owned),
                agent: agent.map(str::to_owned),
                worktree: view.resolution.worktree.clone(),
                profile: view.ctx.profile.id.to_string(),
                text: self.text,
                contents: self.contents.clone(),
            },
            precedence: RulePrecedence::of(&view.ctx.profile),
            cwd: view.ctx.cwd.clone(),
            name: candidate.map(|it| it.name.clone()),
            always,
            suggestions: self.suggestions.clone(),
            metadata,
            reason: self.reason.clone(),
            rule: self.rule.clone(),
        }
    }
}

/// Whether what is allowed for good covers a pattern.
pub(crate) fn is_covered(
    precedence: RulePrecedence,
    kind: &str,
    granted: &[String],
    pattern: &str,
) -> bool {
    let granted = granted.iter().map(String::as_str);
    if kind == SKILL {
        return permission::is_granted(precedence, granted, pattern);
    }
    granted.into_iter().any(|it| permission::matches_wildcard(it, pattern))
}

fn blank() -> Event {
    Event::new(EventKind::PermissionAsked)
}

/// Returns a sentence as the message of an error.
fn plain(sentence: &str) -> String {
    let text = sentence.trim_end_matches('.');
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(letters).collect()
}

fn too_many() -> RpcError {
    RpcError::not_allowed("too many questions wait for the user's answer already")
        .with_hint("Answer some: `skillsd permission pending` lists them.")
}
