//! [`ApprovalQueue`]: pending questions, and replies that were not collected yet.
//!
//! A caller may wait or retry later: a reply without a waiting caller is kept once for the next
//! equal call. The queue is not durable: questions end with the daemon, and an `always` is stored
//! as a grant first.
//!
//! Invariant: a question leaves the queue with its reply, its timeout, or the caller that waits for
//! it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};
use skills_discovery::discover::DiscoveryContext;
use skills_discovery::permission::Action;
use skills_engine::ViewKey;
use skills_engine::sessions::store::trust::Content;
use skills_platform::lock::lock;
use skills_protocol::error::PermissionRule;
use skills_protocol::wire::Reply;
use skills_syntax::path::AbsPath;
use tokio::sync::oneshot;

/// Maximum number of pending questions.
const MAX_PENDING: usize = 1024;

/// Maximum bytes of all pending questions, so that one answer can list them.
const MAX_BYTES: usize = 1024 * 1024;

/// Maximum number of pending questions of one connection.
const MAX_PENDING_PER_ASKER: usize = 64;

/// Maximum bytes of the pending questions of one connection.
const MAX_BYTES_PER_ASKER: usize = MAX_BYTES / 8;

/// Equal subjects are the same question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QuestionSubject {
    pub(crate) permission: String,
    pub(crate) patterns: Vec<String>,
    /// The action; empty for permissions other than `skill`.
    pub(crate) act: &'static str,
    pub(crate) session: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) worktree: AbsPath,
    pub(crate) profile: String,
    /// Hash of the text concerned: approval once does not cover another text.
    pub(crate) text: Option<[u8; 32]>,
    /// Content to run that differs from the trusted content. A reply covers only this content, and
    /// `always` trusts it from then on.
    pub(crate) contents: Vec<Content>,
}

#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) subject: QuestionSubject,
    /// The view whose rules apply.
    pub(crate) view: Arc<ViewKey>,
    pub(crate) ctx: Arc<DiscoveryContext>,
    pub(crate) name: Option<String>,
    pub(crate) path: Option<AbsPath>,
    pub(crate) always: Vec<String>,
    pub(crate) suggestions: Vec<String>,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) reason: String,
    pub(crate) rule: Option<PermissionRule>,
}

impl Question {
    /// Returns the length of its texts, in bytes.
    fn bytes(&self) -> usize {
        let subject = &self.subject;
        let lists = [&subject.patterns, &self.always, &self.suggestions];
        let optional = [&subject.session, &subject.agent, &self.name];
        let paths = [Some(&subject.worktree), Some(&self.view.cwd), self.path.as_ref()];
        let metadata: usize =
            self.metadata.iter().map(|(key, value)| key.len() + value.to_string().len()).sum();
        lists.into_iter().flatten().map(String::len).sum::<usize>()
            + optional.into_iter().flatten().map(String::len).sum::<usize>()
            + paths.into_iter().flatten().map(|it| it.as_os_str().len()).sum::<usize>()
            + subject.permission.len()
            + self.reason.len()
            + metadata
    }
}

/// An agent that may read the files of a skill without another question, as long as its text is
/// unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reader {
    pub(crate) scope: ReaderScope,
    pub(crate) agent: Option<String>,
    pub(crate) path: AbsPath,
    pub(crate) text: Option<[u8; 32]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReaderScope {
    Session(String),
    /// Without a session, the calls of one connection.
    Connection(u64),
}

/// The user's reply to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UserReply {
    /// None after a timeout.
    pub(crate) reply: Option<Reply>,
    pub(crate) message: Option<String>,
}

/// Decision of the rules on all patterns of a call.
#[derive(Clone, Debug)]
pub(crate) struct PatternDecision {
    pub(crate) action: Action,
    pub(crate) rule: Option<PermissionRule>,
    /// A message without capital and full stop.
    pub(crate) reason: String,
    pub(crate) suggestions: Vec<String>,
}

/// The end of a question.
#[derive(Debug)]
pub(crate) enum ApprovalOutcome {
    User(UserReply),
    /// The rules have changed and decide without the user.
    Rules(PatternDecision),
}

/// A question in the queue.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) question: Question,
    /// Time of the question, in milliseconds since 1970.
    pub(crate) at: u64,
    /// Time of its expiry, in milliseconds since 1970.
    pub(crate) expires: u64,
    /// Length of the question's texts.
    bytes: usize,
    /// The connections that asked, by [`ClientPeer::nth`](crate::rpc::peer::ClientPeer::nth).
    askers: BTreeSet<u64>,
    state: PendingState,
}

#[derive(Debug)]
enum PendingState {
    /// A caller waits for the reply.
    Waiting(oneshot::Sender<UserReply>),
    /// The caller will retry.
    Open,
    /// Replied, for the next equal call.
    Answered(UserReply),
}

impl Pending {
    pub(crate) fn is_waited_for(&self) -> bool {
        matches!(self.state, PendingState::Waiting(_))
    }
}

/// All questions and unclaimed approvals.
#[derive(Debug)]
pub(crate) struct ApprovalQueue {
    /// Distinguishes the ids of this run from those of earlier ones.
    run: String,
    made: AtomicU64,
    table: Mutex<BTreeMap<u64, Pending>>,
    /// Approvals once, for the second call of a load with command output.
    given: Mutex<VecDeque<QuestionSubject>>,
    /// Readers that were given a skill that needs approval, oldest first.
    readers: Mutex<VecDeque<Reader>>,
}

/// A question with a waiting caller; withdrawn when this is dropped.
#[derive(Debug)]
pub(crate) struct Waiting<'a> {
    requests: &'a ApprovalQueue,
    number: u64,
    pub(crate) answer: oneshot::Receiver<UserReply>,
}

impl ApprovalQueue {
    pub(crate) fn new(boot_id: &str) -> Self {
        let time = boot_id.split('-').next().unwrap_or_default();
        // The last digits change from run to run, and are short enough to type.
        let run = time[time.len().saturating_sub(4)..].to_owned();
        Self {
            run,
            made: AtomicU64::new(1),
            table: Mutex::default(),
            given: Mutex::default(),
            readers: Mutex::default(),
        }
    }

    /// Takes the reply to an earlier equal question.
    pub(crate) fn take_answer(&self, subject: &QuestionSubject) -> Option<UserReply> {
        let mut table = self.table();
        let is_it = |it: &Pending| {
            it.question.subject == *subject && matches!(it.state, PendingState::Answered(_))
        };
        let number = *table.iter().find(|(_, it)| is_it(it))?.0;
        match table.remove(&number)?.state {
            PendingState::Answered(answer) => Some(answer),
            PendingState::Waiting(_) | PendingState::Open => None,
        }
    }

    /// Records an approval once.
    pub(crate) fn note_given(&self, subject: QuestionSubject) {
        let mut given = lock(&self.given);
        if given.len() >= MAX_PENDING {
            given.pop_front();
        }
        given.push_back(subject);
    }

    /// Records a reader that was given a skill and may read its files.
    pub(crate) fn note_reader(&self, reader: Reader) {
        let mut readers = lock(&self.readers);
        if readers.contains(&reader) {
            return;
        }
        if readers.len() >= MAX_PENDING {
            readers.pop_front();
        }
        readers.push_back(reader);
    }

    /// Returns whether a reader was given the skill.
    pub(crate) fn is_reader(&self, reader: &Reader) -> bool {
        lock(&self.readers).contains(reader)
    }

    /// Takes an approval once; returns whether there was one.
    pub(crate) fn take_given(&self, subject: &QuestionSubject) -> bool {
        let mut given = lock(&self.given);
        let found = given.iter().position(|it| it == subject);
        found.and_then(|at| given.remove(at)).is_some()
    }

    /// Adds a question whose caller does not wait. Returns its id, and whether it is new; none if
    /// the queue is full.
    pub(crate) fn put(
        &self,
        asker: u64,
        question: Question,
        limit: Duration,
    ) -> Option<(String, bool)> {
        let mut table = self.table();
        let is_it = |it: &Pending| {
            it.question.subject == question.subject && matches!(it.state, PendingState::Open)
        };
        if let Some((number, asked)) = table.iter_mut().find(|(_, it)| is_it(it)) {
            asked.askers.insert(asker);
            return Some((self.id(*number), false));
        }
        let number = self.insert(&mut table, asker, question, limit, PendingState::Open)?;
        Some((self.id(number), true))
    }

    /// Adds a question whose caller waits; none if the queue is full.
    pub(crate) fn wait(
        &self,
        asker: u64,
        question: Question,
        limit: Duration,
    ) -> Option<(String, Waiting<'_>)> {
        let (sender, answer) = oneshot::channel();
        let mut table = self.table();
        let number =
            self.insert(&mut table, asker, question, limit, PendingState::Waiting(sender))?;
        drop(table);
        Some((self.id(number), Waiting { requests: self, number, answer }))
    }

    fn insert(
        &self,
        table: &mut BTreeMap<u64, Pending>,
        asker: u64,
        question: Question,
        limit: Duration,
        state: PendingState,
    ) -> Option<u64> {
        let bytes = question.bytes();
        let has_room = |all: &mut dyn Iterator<Item = usize>, most: usize, most_bytes: usize| {
            let (n, sum) = all.fold((1, bytes), |(n, sum), it| (n + 1, sum + it));
            n <= most && sum <= most_bytes
        };
        let own = table.values().filter(|it| it.askers.contains(&asker));
        if !has_room(&mut table.values().map(|it| it.bytes), MAX_PENDING, MAX_BYTES)
            || !has_room(&mut own.map(|it| it.bytes), MAX_PENDING_PER_ASKER, MAX_BYTES_PER_ASKER)
        {
            return None;
        }
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let at = now();
        let expires = at.saturating_add(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
        let askers = BTreeSet::from([asker]);
        table.insert(number, Pending { question, at, expires, bytes, askers, state });
        Some(number)
    }

    /// Stores or delivers a reply. Returns the question; none if it is not pending.
    pub(crate) fn answer(&self, id: &str, answer: UserReply) -> Option<Question> {
        let number = self.number(id)?;
        let mut table = self.table();
        let asked = table.remove(&number)?;
        let question = asked.question.clone();
        match asked.state {
            // The waiting caller may be gone.
            PendingState::Waiting(sender) => drop(sender.send(answer)),
            PendingState::Open if answer.reply == Some(Reply::Always) => {}
            PendingState::Open => {
                let state = PendingState::Answered(answer);
                table.insert(number, Pending { state, ..asked });
            }
            PendingState::Answered(_) => {
                table.insert(number, asked);
                return None;
            }
        }
        Some(question)
    }

    /// Returns whether the question was pending.
    pub(crate) fn withdraw(&self, id: &str) -> bool {
        let Some(number) = self.number(id) else { return false };
        let mut table = self.table();
        let is_open = |it: &Pending| matches!(it.state, PendingState::Open);
        table.get(&number).is_some_and(is_open) && table.remove(&number).is_some()
    }

    pub(crate) fn get(&self, id: &str) -> Option<Question> {
        let number = self.number(id)?;
        let table = self.table();
        let asked = table.get(&number).filter(|it| !matches!(it.state, PendingState::Answered(_)));
        asked.map(|it| it.question.clone())
    }

    pub(crate) fn is_asker(&self, id: &str, asker: u64) -> bool {
        let asked = |number| Some(self.table().get(&number)?.askers.contains(&asker));
        self.number(id).and_then(asked).unwrap_or_default()
    }

    /// Calls `tell` with each pending question, oldest first.
    pub(crate) fn each(&self, mut tell: impl FnMut(&str, &Pending)) {
        for (number, asked) in &*self.table() {
            if !matches!(asked.state, PendingState::Answered(_)) {
                tell(&self.id(*number), asked);
            }
        }
    }

    /// Returns whether a caller waits for a reply.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.table().values().any(Pending::is_waited_for)
    }

    fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.run)
    }

    fn number(&self, id: &str) -> Option<u64> {
        id.strip_prefix(&*self.run)?.strip_prefix('-')?.parse().ok()
    }

    /// Locks the queue and removes expired questions.
    fn table(&self) -> MutexGuard<'_, BTreeMap<u64, Pending>> {
        // Each critical section changes a single question.
        let mut table = lock(&self.table);
        let now = now();
        // A waiting caller reports its own timeout.
        table.retain(|_, it| it.is_waited_for() || it.expires > now);
        table
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.requests.table().remove(&self.number);
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use skills_agents::profile;

    use super::*;
    use crate::convert::from_wire;

    fn question(name: &str) -> Question {
        let top = AbsPath::new("/w".as_ref()).unwrap();
        let subject = QuestionSubject {
            permission: "skill".to_owned(),
            patterns: vec![name.to_owned()],
            act: "load",
            session: None,
            agent: None,
            worktree: top.clone(),
            profile: "claude-code".to_owned(),
            text: None,
            contents: Vec::new(),
        };
        let profile = Arc::clone(profile::find("claude-code").unwrap());
        let key = ViewKey {
            cwd: top.clone(),
            profile: profile.key(),
            environment: BTreeMap::new(),
            additional: Vec::new(),
            overlay: Arc::default(),
            agent: None,
        };
        Question {
            subject,
            ctx: Arc::new(from_wire::ctx(&key, profile)),
            view: Arc::new(key),
            name: Some(name.to_owned()),
            path: None,
            always: Vec::new(),
            suggestions: Vec::new(),
            metadata: Map::new(),
            reason: String::new(),
            rule: None,
        }
    }

    const LONG: Duration = Duration::from_mins(1);

    fn yes() -> UserReply {
        UserReply { reply: Some(Reply::Once), message: None }
    }

    fn ids(requests: &ApprovalQueue) -> Vec<String> {
        let mut ids = Vec::new();
        requests.each(|id, _| ids.push(id.to_owned()));
        ids
    }

    #[test]
    fn reply_without_a_waiting_caller_is_kept_once_for_the_next_equal_call() {
        let requests = ApprovalQueue::new("18c0ffee-1");
        let (id, is_new) = requests.put(1, question("a"), LONG).unwrap();
        assert!(is_new && id == "ffee-1");
        assert_eq!(
            requests.put(1, question("a"), LONG),
            Some((id.clone(), false)),
            "asked already"
        );
        assert!(requests.answer(&id, yes()).is_some());
        assert!(requests.answer(&id, yes()).is_none(), "it is answered");
        assert_eq!(ids(&requests), [""; 0]);
        assert_eq!(requests.take_answer(&question("b").subject), None);
        assert_eq!(requests.take_answer(&question("a").subject), Some(yes()));
        assert_eq!(requests.take_answer(&question("a").subject), None, "once");
    }

    #[tokio::test]
    async fn waiting_caller_gets_the_reply_and_dropping_it_withdraws_the_question() {
        let requests = ApprovalQueue::new("18c0ffee-1");
        let (id, mut waiting) = requests.wait(1, question("a"), LONG).unwrap();
        let (_, other) = requests.wait(1, question("a"), LONG).unwrap();
        assert_eq!(ids(&requests).len(), 2, "each waits for an answer of its own");
        assert!(requests.answer(&id, yes()).is_some());
        assert_eq!((&mut waiting.answer).await, Ok(yes()));
        drop(other);
        assert_eq!(ids(&requests), [""; 0]);
    }

    #[test]
    fn bytes_of_questions_are_limited_per_connection_and_in_all() {
        let requests = ApprovalQueue::new("18c0ffee-1");
        let mut long = question("a");
        long.metadata.insert("text".to_owned(), "x".repeat(MAX_BYTES_PER_ASKER - 100).into());
        let mut put = |asker, name: &str, length: usize| {
            long.subject.patterns = vec![name.to_owned()];
            long.reason = " ".repeat(length);
            requests.put(asker, long.clone(), LONG).is_some()
        };
        assert!(!put(0, "too long", 100) && put(0, "0", 0) && !put(0, "second", 0));
        assert!((1..8).all(|it| put(it, &it.to_string(), 0)));
        assert!(!put(8, "8", 0), "of all");
        assert!(requests.put(8, question("short"), LONG).is_some());
    }

    #[test]
    fn questions_expire_and_their_number_is_limited() {
        let requests = ApprovalQueue::new("18c0ffee-1");
        let (id, _) = requests.put(1, question("a"), Duration::ZERO).unwrap();
        assert!(requests.get(&id).is_none() && requests.answer(&id, yes()).is_none());
        let put = |asker, name: &str| requests.put(asker, question(name), LONG).is_some();
        for n in 0..MAX_PENDING {
            let asker = (n / MAX_PENDING_PER_ASKER) as u64;
            assert!(put(asker, &n.to_string()));
            let is_last = (n + 1) % MAX_PENDING_PER_ASKER == 0;
            assert!(!is_last || !put(asker, "one more"), "of one connection");
        }
        assert!(!put(99, "one more"), "of all");
        assert!(requests.get("beef-3").is_none(), "of another run");
    }
}
