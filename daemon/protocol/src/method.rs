//! The one table of methods.
//!
//! Server registration, typed client calls and the protocol reference are all derived from it, so
//! a method exists here or nowhere. A row names the method, its parameters, its result, and says
//! what it does in sentences that stand in the reference as they are.
//! Invariant: names are unique and sorted by area as in the reference.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bounds;
use crate::error::RpcError;
use crate::wire::{
    CancelParams, CatalogParams, CatalogResult, CheckParams, CheckResult, DirsParams, DirsResult,
    EventParams, ExplainParams, ExplainResult, GetParams, GetResult, HooksDoneParams,
    HooksDoneResult, HooksMatchParams, HooksMatchResult, InitializeParams, InitializeResult,
    ListParams, ListResult, LoadParams, LoadResult, PathsMatchParams, PathsMatchResult,
    PermissionCheckParams, PermissionCheckResult, PermissionGrantedParams, PermissionGrantedResult,
    PermissionPendingParams, PermissionPendingResult, PermissionReplyParams, PermissionReplyResult,
    PermissionRequestParams, PermissionRequestResult, PermissionRevokeParams,
    PermissionRevokeResult, ReadParams, ReadResult, ReferencesParams, ReferencesResult,
    ResourcesParams, ResourcesResult, RulesDescribeParams, RulesDescribeResult, RunParams,
    RunResult, SearchParams, SearchResult, SessionAgentEndParams, SessionAgentEndResult,
    SessionCloseParams, SessionCloseResult, SessionCompactedParams, SessionCompactedResult,
    SessionGetParams, SessionInvokedParams, SessionInvokedResult, SessionListParams,
    SessionListResult, SessionOpenParams, SessionResult, SessionTouchParams, SessionTouchResult,
    ShutdownParams, ShutdownResult, SnapshotParams, SnapshotResult, StatusParams, StatusResult,
    SubscribeParams, SubscribeResult, SyncParams, SyncResult, ToolParams, ToolResult,
    TrustGetParams, TrustGetResult, TrustSetParams, TrustSetResult, UnsubscribeParams,
    UnsubscribeResult, WorktreeCloseParams, WorktreeCloseResult, WorktreeListParams,
    WorktreeListResult, WorktreeOpenParams, WorktreeOpenResult,
};

/// A row of the table: what the reference says about one method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    /// The name on the wire.
    pub name: &'static str,
    /// The name of the parameters' type in [`crate::wire`].
    pub params: &'static str,
    /// The name of the result's type in [`crate::wire`]; empty for a notification.
    pub result: &'static str,
    /// What it does, one to three sentences.
    pub doc: &'static str,
    /// The protocol version that introduced it.
    pub since: &'static str,
    /// Whether a caller whose connection broke before the answer may just ask again.
    pub repeatable: bool,
    /// True if the method grants something for the user; only the consent socket answers it.
    pub grants: bool,
}

/// A method that is answered: ties its name to its types for server and client alike.
pub trait Request {
    /// The name on the wire.
    const METHOD: &'static str;
    /// Whether a caller whose connection broke before the answer may just ask again.
    const REPEATABLE: bool;
    /// True if the method grants something for the user; only the consent socket answers it.
    const GRANTS: bool;
    /// What the caller sends.
    type Params: Serialize + DeserializeOwned + Send + 'static;
    /// What the server answers.
    type Result: Serialize + DeserializeOwned + Send + 'static;
}

/// A method that is not answered.
pub trait Notification {
    /// The name on the wire.
    const METHOD: &'static str;
    /// What the sender says.
    type Params: Serialize + DeserializeOwned + Send + 'static;
}

/// The requests, by name, for `match` and for registration.
pub mod names {
    macro_rules! names {
        ($($constant:ident = $name:literal,)*) => {$(
            #[doc = concat!("`", $name, "`")]
            pub const $constant: &str = $name;
        )*};
    }

    names! {
        INITIALIZE = "initialize",
        SERVER_STATUS = "server/status",
        SERVER_SYNC = "server/sync",
        SERVER_SHUTDOWN = "server/shutdown",
        WORKTREE_OPEN = "worktree/open",
        WORKTREE_CLOSE = "worktree/close",
        WORKTREE_LIST = "worktree/list",
        SKILLS_LIST = "skills/list",
        SKILLS_DIRS = "skills/dirs",
        SKILLS_GET = "skills/get",
        SKILLS_SEARCH = "skills/search",
        SKILLS_LOAD = "skills/load",
        SKILLS_EXPLAIN = "skills/explain",
        SKILLS_RESOURCES = "skills/resources",
        SKILLS_READ = "skills/read",
        SKILLS_CHECK = "skills/check",
        RULES_DESCRIBE = "rules/describe",
        SKILLS_REFERENCES = "skills/references",
        INDEX_SNAPSHOT = "index/snapshot",
        PATHS_MATCH = "paths/match",
        SESSION_OPEN = "session/open",
        SESSION_GET = "session/get",
        SESSION_CLOSE = "session/close",
        SESSION_LIST = "session/list",
        SESSION_TOUCH = "session/touch",
        SESSION_INVOKED = "session/invoked",
        SESSION_COMPACTED = "session/compacted",
        SESSION_AGENT_END = "session/agentEnd",
        PERMISSION_CHECK = "permission/check",
        PERMISSION_REQUEST = "permission/request",
        PERMISSION_REPLY = "permission/reply",
        PERMISSION_PENDING = "permission/pending",
        PERMISSION_GRANTED = "permission/granted",
        PERMISSION_REVOKE = "permission/revoke",
        HOOKS_MATCH = "hooks/match",
        HOOKS_DONE = "hooks/done",
        TRUST_GET = "trust/get",
        TRUST_SET = "trust/set",
        EVENTS_SUBSCRIBE = "events/subscribe",
        EVENTS_UNSUBSCRIBE = "events/unsubscribe",
        EVENTS_EVENT = "events/event",
        SKILLS_RUN = "skills/run",
        CATALOG_RENDER = "catalog/render",
        CATALOG_TOOL = "catalog/tool",
        CANCEL_REQUEST = "$/cancelRequest",
    }
}

// The words of the table's fifth column: after a broken connection the call may be made again.
const AGAIN: bool = true;
const ONCE: bool = false;

// Marks a method that gives consent in the user's place: its row names it after `AGAIN` or `ONCE`.
macro_rules! grants {
    () => {
        false
    };
    (GRANTS) => {
        true
    };
}

macro_rules! requests {
    ($($unit:ident, $name:ident, $params:ident => $result:ident, $since:literal, $repeatable:ident
        $($grants:ident)?, $doc:literal;)*) => {
        /// Every request, in the order of the reference.
        pub const METHODS: &[Method] = &[$(Method {
            name: names::$name,
            params: stringify!($params),
            result: stringify!($result),
            doc: $doc,
            since: $since,
            repeatable: $repeatable,
            grants: grants!($($grants)?),
        },)*];

        $(
            #[doc = $doc]
            #[derive(Debug, Clone, Copy)]
            pub struct $unit;

            impl Request for $unit {
                const METHOD: &'static str = names::$name;
                const REPEATABLE: bool = $repeatable;
                const GRANTS: bool = grants!($($grants)?);
                type Params = $params;
                type Result = $result;
            }
        )*

        #[cfg(test)]
        fn shapes() -> Vec<String> {
            use crate::shape::fields;
            let line = |name, params: &[&str], result: &[&str]| {
                format!("{name}\n  ({})\n  {{{}}}\n", params.join(" "), result.join(" "))
            };
            vec![$(line(names::$name, fields::<$params>(), fields::<$result>()),)*]
        }
    };
}

requests! {
    Initialize, INITIALIZE, InitializeParams => InitializeResult, "1.0", AGAIN,
    "Introduces client and server: versions, what each can do, the limits. Optional: any method may come first. An environment given here holds for every later call on the connection that brings none of its own.";
    ServerStatus, SERVER_STATUS, StatusParams => StatusResult, "1.0", AGAIN,
    "Says how the daemon is: its version, age, memory, watches and connections, every open worktree with its skills by state, how often each layer was rebuilt and why, its configuration, and what is unwell.";
    ServerSync, SERVER_SYNC, SyncParams => SyncResult, "1.0", AGAIN,
    "Answers once everything that finished on the disk before the call is visible to later calls.";
    ServerShutdown, SERVER_SHUTDOWN, ShutdownParams => ShutdownResult, "1.0", ONCE,
    "Stops the daemon: no new connections, running calls are answered, then this one, then it exits.";
    WorktreeOpen, WORKTREE_OPEN, WorktreeOpenParams => WorktreeOpenResult, "1.0", AGAIN,
    "Pins the worktree of a directory, so that it stays indexed while nobody asks. Any other call opens it as well, without the pin. Of more than 256 pinned worktrees the one that was opened longest ago is freed.";
    WorktreeClose, WORKTREE_CLOSE, WorktreeCloseParams => WorktreeCloseResult, "1.0", AGAIN,
    "Takes back the pin of `worktree/open`; a worktree without one is freed when nobody has used it for a while.";
    WorktreeList, WORKTREE_LIST, WorktreeListParams => WorktreeListResult, "1.0", AGAIN,
    "Lists the open worktrees with their skills by state and what is unwell.";
    SkillsList, SKILLS_LIST, ListParams => ListResult, "1.0", AGAIN,
    "Lists the skills that the profile's agent would show its model, in that agent's own order; `include` asks for the others as well, each with the reason. With `since` only what changed.";
    SkillsDirs, SKILLS_DIRS, DirsParams => DirsResult, "1.0", AGAIN,
    "Lists the directories of the skills that `skills/list` lists, in the same order.";
    SkillsGet, SKILLS_GET, GetParams => GetResult, "1.0", AGAIN,
    "Gives one skill: its entry, all its frontmatter as JSON, the source range of each key and value, and its diagnostics. Never the body.";
    SkillsSearch, SKILLS_SEARCH, SearchParams => SearchResult, "1.0", AGAIN,
    "Finds skills by what they are called and by what they say they do: the exact name, its beginning, a name with a slip in it, words of `name`, `description`, `when_to_use` and tags. The best answer is first; `include` searches more than what the agent would show its model.";
    SkillsLoad, SKILLS_LOAD, LoadParams => LoadResult, "1.0", ONCE,
    "Gives a skill as the agent hands it to its model: the text, what to apply besides, and the commands in the body, which are not run unless asked for. A second call with `shellResults` puts in what they gave. Errors have the agent's own number in `errorCode` where it numbers them.";
    SkillsExplain, SKILLS_EXPLAIN, ExplainParams => ExplainResult, "1.0", AGAIN,
    "Says why a skill is there or is not: each root considered, each candidate found, each rule applied with the agent and version that it is taken from, and what to do. With neither a name nor a path it explains the working directory: the roots and how many skills each gave.";
    SkillsResources, SKILLS_RESOURCES, ResourcesParams => ResourcesResult, "1.0", AGAIN,
    "Lists the files of a skill beside its SKILL.md, sorted by relative path.";
    SkillsRead, SKILLS_READ, ReadParams => ReadResult, "1.0", AGAIN,
    "Reads a file beneath a skill's directory, or a part of it; a path that leads outside is refused. Where the user is asked before the skill is loaded, it is asked before its first file is read, unless the session's agent has loaded it or the user has said so before in the same session, or without one on the same connection.";
    SkillsCheck, SKILLS_CHECK, CheckParams => CheckResult, "1.0", AGAIN,
    "Checks skills on the disk by the rules of docs/rules.md: what is wrong where, which agents mind, and how it can be mended. Without a profile the agents in wide use count, with one that agent alone. What is longer than one message may be comes in pages, all of what was found for the first.";
    RulesDescribe, RULES_DESCRIBE, RulesDescribeParams => RulesDescribeResult, "1.0", AGAIN,
    "Says of rules what they find, why that matters, to which agents, and what to do: as docs/rules.md does.";
    SkillsReferences, SKILLS_REFERENCES, ReferencesParams => ReferencesResult, "1.0", AGAIN,
    "Finds where skills are named: in `skills:` and `allowed-tools`, behind `/` or `$`, and in code beside the word \"skill\", in every SKILL.md, command, agent and `CLAUDE.md` or its like of the worktree. Only names of skills that there are count, so that paths, URLs and variables are none. What is longer than one message may be comes in pages, all of what was found for the first.";
    IndexSnapshot, INDEX_SNAPSHOT, SnapshotParams => SnapshotResult, "1.0", AGAIN,
    "Gives all that a program needs to answer by itself what an agent would see here, also for texts that are not saved yet: every skill, and what each profile makes of it, with whose claim to a name is heard first. With `since` nothing where nothing has changed.";
    PathsMatch, PATHS_MATCH, PathsMatchParams => PathsMatchResult, "1.0", AGAIN,
    "Says how many files of the worktree the patterns of `paths` match, and names the first. The walk is kept for some seconds; `verified` walks again.";
    SessionOpen, SESSION_OPEN, SessionOpenParams => SessionResult, "1.0", AGAIN,
    "Opens an agent's conversation under the id that it chose, or under one of ours. The same id from another connection is the same conversation; one that is there already keeps all it has, and takes the directory and the profile that are given.";
    SessionGet, SESSION_GET, SessionGetParams => SessionResult, "1.0", AGAIN,
    "Tells all that is kept of a conversation: what was activated, found, announced and loaded.";
    SessionClose, SESSION_CLOSE, SessionCloseParams => SessionCloseResult, "1.0", AGAIN,
    "Forgets a conversation. One that nobody closes is forgotten when it has not been used for as long as the configuration says.";
    SessionList, SESSION_LIST, SessionListParams => SessionListResult, "1.0", AGAIN,
    "Lists the conversations that are kept.";
    SessionTouch, SESSION_TOUCH, SessionTouchParams => SessionTouchResult, "1.0", AGAIN,
    "Tells which files an agent has read, written or found. Skill directories between a file and the working directory are found, and skills whose `paths` match are activated, for the rest of the conversation; the answer holds what is new, and it is on disk.";
    SessionInvoked, SESSION_INVOKED, SessionInvokedParams => SessionInvokedResult, "1.0", AGAIN,
    "Gives what an agent of the conversation has loaded so far, as it was loaded.";
    SessionCompacted, SESSION_COMPACTED, SessionCompactedParams => SessionCompactedResult, "1.0", AGAIN,
    "Tells that an agent's conversation was shortened, and gives what its profile gives a model again then; everything else counts as not loaded.";
    SessionAgentEnd, SESSION_AGENT_END, SessionAgentEndParams => SessionAgentEndResult, "1.0", AGAIN,
    "Tells that an agent inside the conversation has ended; what it has loaded is forgotten.";
    PermissionCheck, PERMISSION_CHECK, PermissionCheckParams => PermissionCheckResult, "1.0", AGAIN,
    "Says whether something may be done, by the rules of the agent, of the user and of the repository and by what the user has allowed for good, and names the rule. Of `skill` the patterns are names of skills; of any other permission nothing is known but what was allowed for good, and the user is asked.";
    PermissionRequest, PERMISSION_REQUEST, PermissionRequestParams => PermissionRequestResult, "1.0", ONCE,
    "Decides as `permission/check` does, and where the user has to be asked waits for the answer that any client gives with `permission/reply`, for a limited time. A request that waits does not count against the requests of its connection.";
    PermissionReply, PERMISSION_REPLY, PermissionReplyParams => PermissionReplyResult, "1.0", ONCE GRANTS,
    "Answers a request of another connection. `always` is on disk before the answer, holds in that worktree, and answers other requests that it covers. Where nobody waits, as after -32003, the answer counts for the next call of the same kind.";
    PermissionPending, PERMISSION_PENDING, PermissionPendingParams => PermissionPendingResult, "1.0", AGAIN,
    "Lists the requests that wait for the user's answer. `permission/asked` and `permission/replied` tell when to look.";
    PermissionGranted, PERMISSION_GRANTED, PermissionGrantedParams => PermissionGrantedResult, "1.0", AGAIN,
    "Lists what an `always` has allowed in a worktree.";
    PermissionRevoke, PERMISSION_REVOKE, PermissionRevokeParams => PermissionRevokeResult, "1.0", AGAIN,
    "Takes back what an `always` has allowed in a worktree.";
    HooksMatch, HOOKS_MATCH, HooksMatchParams => HooksMatchResult, "1.0", AGAIN,
    "Gives the hooks that run at an event: those of the skills that the agent has loaded in the session, in the order of loading, each with the skill's root and what to put into its environment. The agent runs them. Skills that are not trusted have none.";
    HooksDone, HOOKS_DONE, HooksDoneParams => HooksDoneResult, "1.0", AGAIN,
    "Tells that a hook has run. One with `once` that has succeeded runs no more in its session.";
    TrustGet, TRUST_GET, TrustGetParams => TrustGetResult, "1.0", AGAIN,
    "Says whether what comes with a directory is trusted, which directory decided that, and of which directories the user has said something; with `waiting`, which skills there would do more if they were trusted, and what trust covers.";
    TrustSet, TRUST_SET, TrustSetParams => TrustSetResult, "1.0", AGAIN GRANTS,
    "Trusts a directory and what is below it, or does not, or forgets it. It is bound to the path without links on the way and kept in the user's own state. Trust covers each skill there with all of its files, as they are at this moment: a skill of which any file is changed, added or removed later asks before it runs anything.";
    EventsSubscribe, EVENTS_SUBSCRIBE, SubscribeParams => SubscribeResult, "1.0", AGAIN,
    "Has the daemon tell of changes by `events/event`, without being asked: of one view with `cwd`, else of everything. A subscription ends with its connection; whoever connects again subscribes again and asks `skills/list` with `since`.";
    EventsUnsubscribe, EVENTS_UNSUBSCRIBE, UnsubscribeParams => UnsubscribeResult, "1.0", AGAIN,
    "Ends a subscription of the same connection.";
    SkillsRun, SKILLS_RUN, RunParams => RunResult, "1.0", ONCE,
    "Runs a script beneath a skill's directory, in that directory, without input and for a limited time; of a skill that is not the user's own, as a private copy of all its files, so that what was checked is what runs. Off unless the configuration's `run.scripts` allows it, and only for skills that are trusted; the user is asked where any file of the skill is not what it was when it was trusted.";
    CatalogRender, CATALOG_RENDER, CatalogParams => CatalogResult, "1.0", AGAIN,
    "Writes the list of skills that goes into a prompt, as the profile's agent or another one does, within the room that it gives its list. Empty when there are no skills. A text that is longer than one message may be is refused with `-32007`, never cut, and nobody counts as told of it.";
    CatalogTool, CATALOG_TOOL, ToolParams => ToolResult, "1.0", AGAIN,
    "Describes the tool that an agent registers so that its model can load a skill, with the names as an enum in its JSON Schema; null when there are no skills. One that is longer than one message may be is refused with `-32007`.";
}

/// Every notification, in the order of the reference.
pub const NOTIFICATIONS: &[Method] = &[
    Method {
        name: names::CANCEL_REQUEST,
        params: "CancelParams",
        result: "",
        doc: CANCEL_DOC,
        since: "1.0",
        repeatable: true,
        grants: false,
    },
    Method {
        name: names::EVENTS_EVENT,
        params: "EventParams",
        result: "",
        doc: EVENT_DOC,
        since: "1.0",
        repeatable: true,
        grants: false,
    },
];

const CANCEL_DOC: &str = "Cancels a running request of the same connection; it is then answered with -32800, unless it had finished. An unknown id is ignored.";

#[doc = "Cancels a running request of the same connection."]
#[derive(Debug, Clone, Copy)]
pub struct CancelRequest;

impl Notification for CancelRequest {
    const METHOD: &'static str = names::CANCEL_REQUEST;
    type Params = CancelParams;
}

const EVENT_DOC: &str = "Sent by the daemon: something happened that a subscription is about. Of one subscription and kind at most one is on its way; a later one takes its place, and whoever does not read costs nothing. The content is asked for, for example by `skills/list` with `since`.";

#[doc = "Sent by the daemon: something happened that a subscription is about."]
#[derive(Debug, Clone, Copy)]
pub struct EventsEvent;

impl Notification for EventsEvent {
    const METHOD: &'static str = names::EVENTS_EVENT;
    type Params = EventParams;
}

/// Reads the parameters of a method from the text of the request's `params` member.
///
/// Absent and null count as an empty object. A list is refused: parameters go by name.
pub fn parse_params<P: DeserializeOwned>(params: Option<&str>) -> Result<P, RpcError> {
    let text = match params.map(str::trim) {
        // The dispatcher gives an empty list for absent parameters.
        None | Some("" | "null" | "[]") => "{}",
        Some(text) => text,
    };
    if text.starts_with('[') {
        return Err(RpcError::invalid_params("the parameters are a list")
            .with_hint("Send the parameters as an object; every parameter has a name."));
    }
    bounds::check(text)?;
    serde_json::from_str(text).map_err(|error| {
        RpcError::invalid_params(format!("the parameters do not fit: {error}"))
            .with_hint("What each method takes is listed in docs/protocol.md.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_documented() {
        let mut seen = std::collections::BTreeSet::new();
        for method in METHODS.iter().chain(NOTIFICATIONS) {
            assert!(seen.insert(method.name), "{} twice", method.name);
            assert!(method.doc.ends_with('.'), "{}: a sentence", method.name);
        }
    }

    // Names are called from outside. Where one has to change its meaning, the protocol's major
    // grows with it; where one is added, the minor.
    #[test]
    fn the_names_of_all_fields_stand() {
        let text = format!("protocol {}\n\n{}", crate::PROTOCOL_VERSION, shapes().concat());
        expect_test::expect![[r#"
            protocol 1.0

            initialize
              (clientInfo protocolVersion capabilities environment pathEncoding)
              {serverInfo protocolVersion capabilities limits bootId}
            server/status
              ()
              {version protocolVersion pid uptime rss watches connections worktrees rebuilds sources bootId socket pathEncoding config actions heavyCalls trusted health}
            server/sync
              (cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health}
            server/shutdown
              ()
              {pid bootId}
            worktree/open
              (cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health worktree}
            worktree/close
              (cwd profile session agent freshness additionalDirs environment pathEncoding)
              {closed path pathEncoding}
            worktree/list
              ()
              {worktrees}
            skills/list
              (include since limit cursor cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health fresh nextCursor skills removed positions}
            skills/dirs
              (cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health dirs pathEncoding}
            skills/get
              (name path cwd profile session agent freshness additionalDirs environment pathEncoding)
              {}
            skills/search
              (query include limit cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health skills}
            skills/load
              (name path args by format shell shellResults model effort userConfig wait cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health format title output metadata files commands warnings hash}
            skills/explain
              (name path cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health name path pathEncoding profile verdict steps}
            skills/resources
              (name path limit only cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health resources truncated}
            skills/read
              (name path relative offset length by wait cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health path pathEncoding content base64 size truncated}
            skills/check
              (paths profiles levels fixAll limit cursor cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health checked files nextCursor leftAlone}
            rules/describe
              (rules)
              {rules}
            skills/references
              (name limit cursor cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health references truncated nextCursor}
            index/snapshot
              (profiles since limit cursor cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health fresh nextCursor worktree home pathEncoding skills profiles ownProfiles levels}
            paths/match
              (patterns limit cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health matches}
            session/open
              (auto cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health session isNew cwd additionalDirs discovered pathEncoding profile auto created used activated announced invoked}
            session/get
              (cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health session isNew cwd additionalDirs discovered pathEncoding profile auto created used activated announced invoked}
            session/close
              (cwd profile session agent freshness additionalDirs environment pathEncoding)
              {session closed health}
            session/list
              ()
              {sessions health}
            session/touch
              (paths op cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health session activated discovered}
            session/invoked
              (cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health session agent skills}
            session/compacted
              (cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health session agent skills forgotten listAgain}
            session/agentEnd
              (cwd profile session agent freshness additionalDirs environment pathEncoding)
              {session agent forgotten health}
            permission/check
              (permission patterns cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health action rule reason suggestions}
            permission/request
              (permission patterns always metadata timeoutMs cwd profile session agent freshness additionalDirs environment pathEncoding)
              {action reply message timedOut rule reason health}
            permission/reply
              (id reply message always)
              {id also health}
            permission/pending
              (session)
              {requests health}
            permission/granted
              (cwd profile session agent freshness additionalDirs environment pathEncoding)
              {grants health}
            permission/revoke
              (permission pattern cwd profile session agent freshness additionalDirs environment pathEncoding)
              {revoked health}
            hooks/match
              (event tool payload cwd profile session agent freshness additionalDirs environment pathEncoding)
              {session hooks health}
            hooks/done
              (id ok cwd profile session agent freshness additionalDirs environment pathEncoding)
              {removed health}
            trust/get
              (dir waiting cwd profile session agent freshness additionalDirs environment pathEncoding)
              {dir pathEncoding trusted decided all waiting covers health}
            trust/set
              (dir trusted cwd profile session agent freshness additionalDirs environment pathEncoding)
              {dir pathEncoding trusted skills health}
            events/subscribe
              (kinds cwd profile session agent freshness additionalDirs environment pathEncoding)
              {subscription kinds clock health}
            events/unsubscribe
              (subscription)
              {ended}
            skills/run
              (name path relative args timeoutMs wait cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health exitCode stdout stderr truncated}
            catalog/render
              (format contextTokens budgetChars onlyNew query emptyText cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health text count skillCount isInitial shortened omitted tokens}
            catalog/tool
              (style contextTokens budgetChars cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health tool}
        "#]].assert_eq(&text);
    }

    #[test]
    fn a_request_knows_its_row() {
        assert_eq!(SkillsList::METHOD, "skills/list");
        assert!(
            METHODS.iter().any(|it| it.name == SkillsList::METHOD && it.result == "ListResult")
        );
    }

    #[test]
    fn absent_parameters_are_an_empty_object() {
        for text in [None, Some("null"), Some("{}"), Some(" {} "), Some("[]")] {
            assert_eq!(parse_params::<ListParams>(text), Ok(ListParams::default()));
        }
    }

    #[test]
    fn lists_and_misfits_are_refused() {
        let error = parse_params::<ListParams>(Some("[1]")).expect_err("a list");
        assert_eq!(error.code, crate::error::INVALID_PARAMS);
        let error = parse_params::<ReadParams>(Some("{}")).expect_err("no relative");
        assert!(error.message.contains("missing field `relative`"), "{}", error.message);
    }

    #[test]
    fn unknown_parameters_are_ignored() {
        let params = parse_params::<ListParams>(Some(r#"{"cwd":"/w","later":1}"#));
        assert_eq!(params.expect("fits").cwd.as_deref(), Some("/w"));
    }
}
