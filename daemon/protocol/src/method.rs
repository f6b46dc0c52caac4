//! The table of methods.
//!
//! Server registration, typed client calls and the protocol reference are derived from it, so a
//! method exists only if it has a row. A row names the method, its parameters and its result, and
//! documents it in sentences that appear in the reference unchanged. Invariant: names are unique
//! and in the order of the reference.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};

use crate::error::RpcError;
use crate::params;

/// A row of the table: documentation of one method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    /// The name on the wire.
    pub name: &'static str,
    /// The name of the parameters' type in [`crate::wire`].
    pub params: &'static str,
    /// The name of the result's type in [`crate::wire`]; empty for a notification.
    pub result: &'static str,
    /// Description, one to three sentences.
    pub doc: &'static str,
    /// True if the method grants something for the user; only the consent socket answers it.
    pub grants: bool,
}

/// A method with a response: connects its name and its types for server and client.
pub trait Request {
    /// The name on the wire.
    const METHOD: &'static str;
    /// True if a caller whose connection broke before the response may repeat the call.
    const REPEATABLE: bool;
    /// True if the method grants something for the user; only the consent socket answers it.
    const GRANTS: bool;
    /// Parameters of the method.
    type Params: Serialize + DeserializeOwned + Send + 'static;
    /// Result of the method.
    type Result: Serialize + DeserializeOwned + Send + 'static;

    /// Parses the parameters from the JSON text of a request's `params` field.
    ///
    /// Absent and null parameters equal an empty object. A list is refused, because parameters are
    /// named.
    fn parse_params(params: Option<&str>) -> Result<Self::Params, RpcError>;

    /// Returns the parameters as JSON.
    fn params_json(params: &Self::Params) -> serde_json::Result<Box<RawValue>>;

    /// Parses the result of a response.
    fn parse_result(result: &RawValue) -> serde_json::Result<Self::Result>;
}

/// A method without a response.
pub trait Notification {
    /// The name on the wire.
    const METHOD: &'static str;
    /// Parameters of the notification.
    type Params: Serialize + DeserializeOwned + Send + 'static;
}

// Values of the table's fourth column: whether the call may be repeated after a broken connection.
const AGAIN: bool = true;
const ONCE: bool = false;

// Marks a method that grants something for the user; its row has `GRANTS` after `AGAIN` or `ONCE`.
macro_rules! grants {
    () => {
        false
    };
    (GRANTS) => {
        true
    };
}

macro_rules! requests {
    ($($unit:ident, $name:literal, $params:ident => $result:ident, $repeatable:ident
        $($grants:ident)?, $doc:literal;)*) => {
        /// All requests, in the order of the reference.
        pub const METHODS: &[Method] = &[$(Method {
            name: $name,
            params: stringify!($params),
            result: stringify!($result),
            doc: $doc,
            grants: grants!($($grants)?),
        },)*];

        $(
            #[doc = $doc]
            #[derive(Debug, Clone, Copy)]
            pub struct $unit;

            impl Request for $unit {
                const METHOD: &'static str = $name;
                const REPEATABLE: bool = $repeatable;
                const GRANTS: bool = grants!($($grants)?);
                type Params = crate::wire::$params;
                type Result = crate::wire::$result;

                // Not provided by the trait, so that the code of all types is compiled here and
                // not in the crates that use it, of which the last one delays the build.
                fn parse_params(params: Option<&str>) -> Result<Self::Params, RpcError> {
                    params::parse(params, &PARAMETER_NAMES)
                }

                fn params_json(params: &Self::Params) -> serde_json::Result<Box<RawValue>> {
                    to_raw_value(params)
                }

                fn parse_result(result: &RawValue) -> serde_json::Result<Self::Result> {
                    serde_json::from_str(result.get())
                }
            }
        )*

        /// The names of the parameters of all requests.
        pub(crate) static PARAMETER_NAMES: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
            [$(crate::shape::fields::<crate::wire::$params>(),)*].concat().into_iter().collect()
        });

        #[cfg(test)]
        fn shapes() -> Vec<String> {
            use crate::shape::fields;
            let line = |name, params: &[&str], result: &[&str]| {
                format!("{name}\n  ({})\n  {{{}}}\n", params.join(" "), result.join(" "))
            };
            vec![$(line($name, fields::<crate::wire::$params>(), fields::<crate::wire::$result>()),)*]
        }
    };
}

requests! {
    Initialize, "initialize", InitializeParams => InitializeResult, AGAIN,
    "Exchanges versions, capabilities and limits. Optional: any other method may come first. An environment given here applies to every later call on the connection without an environment of its own.";
    ServerStatus, "server/status", StatusParams => StatusResult, AGAIN,
    "Returns the state of the daemon: version, uptime, memory, watches and connections, every open worktree with its number of skills by state, the rebuilds of each layer with their causes, the configuration, and current problems.";
    ServerSync, "server/sync", SyncParams => SyncResult, AGAIN,
    "Responds when every change on the disk that finished before the call is visible to later calls.";
    ServerShutdown, "server/shutdown", ShutdownParams => ShutdownResult, ONCE,
    "Stops the daemon. It accepts no new connections, answers running calls and then this one, and exits.";
    WorktreeOpen, "worktree/open", WorktreeOpenParams => WorktreeOpenResult, AGAIN,
    "Pins the worktree of a directory, so that it stays indexed while no client uses it. Other calls open a worktree without a pin. At most 256 worktrees are pinned; beyond that the one opened the longest time ago is unpinned.";
    WorktreeClose, "worktree/close", WorktreeCloseParams => WorktreeCloseResult, AGAIN,
    "Removes the pin of `worktree/open`. A worktree without a pin is closed after it has not been used for a while.";
    WorktreeList, "worktree/list", WorktreeListParams => WorktreeListResult, AGAIN,
    "Lists the open worktrees with their number of skills by state and their current problems.";
    ProfilesDetect, "profiles/detect", DetectParams => DetectResult, AGAIN,
    "Returns the profile whose rules apply to a call with these parameters, and why: the one that the call or its session names, else `profile` in the worktree's `.skillsd.toml`, else in the user's configuration, else the agent that runs the caller, by the variables in `environment`, else the first agent that is present, else `agentskills`. An agent is looked for only if `environment` has `PATH`: its directory, its program and its files in the worktree. One that is installed and has files in the worktree comes first, then one that is installed, then the others; among equals the order of the profiles counts. Agents whose rules are only documented come last, and count only if they are installed.";
    SkillsList, "skills/list", ListParams => ListResult, AGAIN,
    "Lists the skills that the profile's agent shows its model, in the agent's order. `include` adds skills in other states, each with the reason. With `since` the result has the changes only.";
    SkillsDirs, "skills/dirs", DirsParams => DirsResult, AGAIN,
    "Lists the directories of the skills that `skills/list` returns, in the same order.";
    SkillsGet, "skills/get", GetParams => GetResult, AGAIN,
    "Returns one skill: its entry, its complete frontmatter as JSON, the source range of each key and value, and its diagnostics, without the body.";
    SkillsSearch, "skills/search", SearchParams => SearchResult, AGAIN,
    "Searches skills by name and text: the exact name, a prefix, a name with a typing error, and words of `name`, `description`, `when_to_use` and tags. The best match is first. `include` also searches skills that the agent does not show its model.";
    SkillsLoad, "skills/load", LoadParams => LoadResult, ONCE,
    "Returns a skill as the agent passes it to its model: the text, the settings to apply, and the commands in the body, which are run only on request. A second call with `shellResults` inserts their outputs. Errors have the agent's own error number in `errorCode`, if the agent defines one.";
    SkillsUsage, "skills/usage", UsageParams => UsageResult, AGAIN,
    "Lists the skills that were loaded, by how often and how recently: `score` is `count × max(0.5^(age / 7 days), 0.1)`. The highest score is first. The score orders search results that match equally well, and decides whose descriptions a listing cuts first.";
    SkillsExplain, "skills/explain", ExplainParams => ExplainResult, AGAIN,
    "Explains why a skill is listed or not: each root considered, each candidate found, each rule applied with the agent and version it is taken from, and the suggested action. With a profile in the context, steps about other agents are left out. Without a name or path it explains the working directory: the roots and their number of skills.";
    SkillsResources, "skills/resources", ResourcesParams => ResourcesResult, AGAIN,
    "Lists the files of a skill, sorted by relative path, except its SKILL.md and those in directories of tools: `.git`, `node_modules`, `__pycache__` and `.venv`. `truncated` is about the others.";
    SkillsRead, "skills/read", ReadParams => ReadResult, AGAIN,
    "Reads a file in a skill's directory, or a part of it; a path that leads outside is refused. If loading the skill needs approval, reading its first file needs it too, unless the session's agent has loaded the skill, or the user has approved it before in the same session, or without a session on the same connection.";
    SkillsCheck, "skills/check", CheckParams => CheckResult, AGAIN,
    "Checks skills on the disk with the rules of docs/rules.md. Returns the findings with their positions, the affected agents and the possible fixes. With a profile it checks for that agent only, without one for those of `check.profiles`, else for the agent that runs the caller, else for the agents that are present, else for the widely used ones. A result that exceeds one message is split into pages, which all show the findings of the first.";
    RulesDescribe, "rules/describe", RulesDescribeParams => RulesDescribeResult, AGAIN,
    "Describes rules: the problem that each finds, its consequences, the affected agents and the suggested action, as in docs/rules.md.";
    SkillsReferences, "skills/references", ReferencesParams => ReferencesResult, AGAIN,
    "Finds references to skills: in `skills:` and `allowed-tools`, after `/` or `$`, next to the word \"skill\", by path, and by hyphenated name alone (form `named`, which may mean something else), in every SKILL.md, command, agent file (also those of plugins), `CLAUDE.md` and similar file of the worktree. Only names of existing skills count, so that paths, URLs and variables are not references. A result that exceeds one message is split into pages, which all show the references of the first.";
    IndexSnapshot, "index/snapshot", SnapshotParams => SnapshotResult, AGAIN,
    "Returns everything that a program needs to compute an agent's list of skills itself, also for unsaved texts: every skill, its state in each profile, and the order in which skills claim names. Without `profiles` it has those by which `skills/check` judges, and in `others` the widely used ones. With `since` the lists are empty if nothing has changed.";
    PathsMatch, "paths/match", PathsMatchParams => PathsMatchResult, AGAIN,
    "Counts the files of the git worktree that the patterns of `paths` match, and names the first ones. The list of files is cached for some seconds; `verified` reads the disk again.";
    SessionOpen, "session/open", SessionOpenParams => SessionResult, AGAIN,
    "Opens a session under the id that the agent chose, or under a new id. The same id from another connection is the same session; an existing session keeps its state and takes the given directory and profile.";
    SessionGet, "session/get", SessionGetParams => SessionResult, AGAIN,
    "Returns the stored state of a session: activated, discovered, announced and loaded skills.";
    SessionClose, "session/close", SessionCloseParams => SessionCloseResult, AGAIN,
    "Closes a session and deletes its state. A session that is not closed is deleted after it has not been used for the time set in the configuration.";
    SessionList, "session/list", SessionListParams => SessionListResult, AGAIN,
    "Lists the stored sessions.";
    SessionTouch, "session/touch", SessionTouchParams => SessionTouchResult, AGAIN,
    "Reports files that an agent has read, written or found. Discovers skill directories between a file and the working directory, and activates skills whose `paths` match, for the rest of the session. The result has what is new, and it is saved on the disk before the response.";
    SessionInvoked, "session/invoked", SessionInvokedParams => SessionInvokedResult, AGAIN,
    "Returns the skills that an agent of the session has loaded, with the text it received.";
    SessionCompacted, "session/compacted", SessionCompactedParams => SessionCompactedResult, AGAIN,
    "Reports that an agent's chat was shortened, and returns the skills that its profile passes to the model again; all other skills no longer count as loaded.";
    SessionNews, "session/news", SessionNewsParams => SessionNewsResult, ONCE,
    "Returns how an agent's list of skills has changed since the session's last call, each change once. The first call and one with `restart` return nothing: the agent has just read its list. For an agent that lists added and changed skills by itself, only removed ones are returned. Skills that touches discover or activate are in the results of `session/touch` only, and skills that not the agent but skillsd provides are left out.";
    SessionAgentEnd, "session/agentEnd", SessionAgentEndParams => SessionAgentEndResult, AGAIN,
    "Reports that an agent inside the session has ended; its loaded skills are forgotten.";
    PermissionCheck, "permission/check", PermissionCheckParams => PermissionCheckResult, AGAIN,
    "Decides whether an action is allowed, by the rules of the agent, of the user and of the repository and by earlier `always` replies, and names the rule. For `skill` the patterns are names of skills. Other permissions are allowed by earlier `always` replies only; otherwise the user must be asked.";
    PermissionRequest, "permission/request", PermissionRequestParams => PermissionRequestResult, ONCE,
    "Decides as `permission/check` does. If the user must approve, it waits for a limited time for a reply that any client sends with `permission/reply`. A waiting request does not count against its connection's limit of requests.";
    PermissionReply, "permission/reply", PermissionReplyParams => PermissionReplyResult, ONCE GRANTS,
    "Replies to a permission request of another connection. An `always` is saved on the disk before the response, applies to that worktree, and answers other pending requests that it covers. If no call waits, as after -32003, the reply applies to the next call of the same kind.";
    PermissionPending, "permission/pending", PermissionPendingParams => PermissionPendingResult, AGAIN,
    "Lists the pending permission requests. The events `permission/asked` and `permission/replied` report changes.";
    PermissionGranted, "permission/granted", PermissionGrantedParams => PermissionGrantedResult, AGAIN,
    "Lists the permissions that `always` replies have granted in a worktree.";
    PermissionRevoke, "permission/revoke", PermissionRevokeParams => PermissionRevokeResult, AGAIN,
    "Revokes a permission that an `always` reply has granted in a worktree.";
    HooksMatch, "hooks/match", HooksMatchParams => HooksMatchResult, AGAIN,
    "Returns the hooks to run at an event: the hooks of the skills that the agent has loaded in the session, in the order of loading, each with the skill's root and its environment variables. The agent runs them. Skills that are not trusted have no hooks.";
    HooksDone, "hooks/done", HooksDoneParams => HooksDoneResult, AGAIN,
    "Reports that a hook has run. A hook with `once` is removed from its session after it succeeds.";
    TrustGet, "trust/get", TrustGetParams => TrustGetResult, AGAIN,
    "Returns whether a directory is trusted, which directory's decision applies, and all directories with a decision. With `waiting`, it also returns the skills there that need trust, and the files that trust covers.";
    TrustSet, "trust/set", TrustSetParams => TrustSetResult, AGAIN GRANTS,
    "Trusts or distrusts a directory and everything below it, or removes the decision. The decision applies to the canonical path and is stored in the user's state directory. Trust covers each skill there with all of its files in their current version: if a file of a skill is changed, added or removed later, the user is asked before the skill runs anything.";
    EventsSubscribe, "events/subscribe", SubscribeParams => SubscribeResult, AGAIN,
    "Subscribes to changes, which the daemon sends as `events/event`: those of one view with `cwd`, otherwise all. A subscription ends with its connection; after connecting again, subscribe again and call `skills/list` with `since`.";
    EventsUnsubscribe, "events/unsubscribe", UnsubscribeParams => UnsubscribeResult, AGAIN,
    "Ends a subscription of this connection.";
    SkillsRun, "skills/run", RunParams => RunResult, ONCE,
    "Runs a script of a skill in the skill's directory, without input and with a time limit. For a skill that is not the user's own it runs a private copy of all its files, so that exactly the checked files run. Disabled unless `run.scripts` in the configuration allows it, and only for trusted skills; the user is asked if any file of the skill has changed since it was trusted.";
    CatalogRender, "catalog/render", CatalogParams => CatalogResult, AGAIN,
    "Renders the skill listing for a prompt in the format of the profile's agent or of another one, within that agent's limit. The text is empty if there are no skills. A text that exceeds one message is refused with `-32007`, never shortened, and its skills do not count as announced.";
    CatalogBudget, "catalog/budget", BudgetParams => BudgetResult, AGAIN,
    "Returns what each skill costs in the agent's prompt listing and when it is loaded, and which descriptions the agent's limit cuts or drops. Descriptions of skills that are used most are dropped last.";
    CatalogTool, "catalog/tool", ToolParams => ToolResult, AGAIN,
    "Returns the definition of the tool with which a model loads skills, with the names as an enum in its JSON Schema. Null if the agent's rules disable the tool, or if there are no skills; `opencode@founding` keeps its tool without skills, and its description says so. A definition that exceeds one message is refused with `-32007`.";
}

#[doc = "Cancels a running request of the same connection."]
#[derive(Debug, Clone, Copy)]
pub struct CancelRequest;

impl Notification for CancelRequest {
    const METHOD: &'static str = "$/cancelRequest";
    type Params = crate::wire::CancelParams;
}

#[doc = "Sent by the daemon for an event of a subscription."]
#[derive(Debug, Clone, Copy)]
pub struct EventsEvent;

impl Notification for EventsEvent {
    const METHOD: &'static str = "events/event";
    type Params = crate::wire::EventParams;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_documented() {
        let mut seen = std::collections::BTreeSet::new();
        for method in METHODS {
            assert!(seen.insert(method.name), "{} twice", method.name);
            assert!(method.doc.ends_with('.'), "{}: a sentence", method.name);
        }
    }

    // Clients depend on these names. A name that changes its meaning requires a new major version
    // of the protocol, an added name a new minor version.
    #[test]
    fn field_names_are_stable() {
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
            profiles/detect
              (cwd profile session agent freshness additionalDirs environment pathEncoding)
              {profile agent confidence reason present}
            skills/list
              (include since limit cursor cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health fresh nextCursor confidence skills removed positions}
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
            skills/usage
              (include cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health skills}
            skills/explain
              (name path nearMisses cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health name path pathEncoding profile confidence verdict steps}
            skills/resources
              (name path limit only cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health resources truncated}
            skills/read
              (name path relative offset length by wait cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health path pathEncoding content base64 size truncated}
            skills/check
              (paths profiles levels fixAll limit cursor cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health profiles reason checked files nextCursor leftAlone}
            rules/describe
              (rules)
              {rules}
            skills/references
              (name limit cursor cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health references truncated nextCursor}
            index/snapshot
              (profiles since limit cursor cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health fresh nextCursor worktree home pathEncoding skills profiles others ownProfiles levels}
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
              (paths op extended cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health session activated discovered refused}
            session/invoked
              (cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health session agent skills}
            session/compacted
              (cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health session agent skills forgotten listAgain}
            session/news
              (restart cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health session added changed removed more}
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
              (dir waiting contents cwd profile session agent freshness additionalDirs environment pathEncoding)
              {dir pathEncoding trusted decided all waiting covers digest contents health}
            trust/set
              (dir trusted digest cwd profile session agent freshness additionalDirs environment pathEncoding)
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
            catalog/budget
              (format contextTokens budgetChars onlyCut cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health profile agent count characters tokens budget skills isAssumed}
            catalog/tool
              (style contextTokens budgetChars cwd profile session agent freshness additionalDirs environment pathEncoding)
              {clock health tool tools}
        "#]].assert_eq(&text);
    }

    #[test]
    fn request_type_has_its_table_row() {
        assert_eq!(SkillsList::METHOD, "skills/list");
        assert!(
            METHODS.iter().any(|it| it.name == SkillsList::METHOD && it.result == "ListResult")
        );
    }

    #[test]
    fn absent_parameters_are_an_empty_object() {
        for text in [None, Some("null"), Some("{}"), Some(" {} "), Some("[]")] {
            assert_eq!(SkillsList::parse_params(text), Ok(crate::wire::ListParams::default()));
        }
    }

    #[test]
    fn list_and_incomplete_parameters_are_refused() {
        let error = SkillsList::parse_params(Some("[1]")).expect_err("a list");
        assert_eq!(error.code, crate::error::INVALID_PARAMS);
        let error = SkillsRead::parse_params(Some("{}")).expect_err("no relative");
        assert!(error.message.contains("missing field `relative`"), "{}", error.message);
    }
}
