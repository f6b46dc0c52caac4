//! Wire types: one struct for each method's parameters and result, in one file per area.
//!
//! They are plain data with the protocol's names and know nothing of skillsd's model; the server
//! converts. Every field is documented, because the reference is generated from these comments.
//! Invariant: a result's field is always present unless its documentation says otherwise.

mod catalog;
mod check;
mod context;
mod doctor;
mod entry;
mod events;
mod explain;
mod health;
mod hooks;
mod index;
mod install;
mod load;
mod null;
mod permission;
mod position;
mod rules;
mod server;
mod session;
mod skills;
mod trust;
mod worktree;

pub use catalog::{
    BudgetParams, BudgetResult, BudgetUnit, CatalogFormat, CatalogParams, CatalogResult,
    ListedForm, ListingBudget, SkillCost, SkillTool, ToolParams, ToolResult,
};
pub use check::{
    CheckEdit, CheckFinding, CheckFix, CheckParams, CheckResult, CheckedFile, FindingTag, FixAll,
    ProfileName, RelatedFile, SkippedFile,
};
pub use context::{Context, Contextual, Freshness};
pub use doctor::{DoctorResult, Finding, Registration, RegistrationState};
pub use entry::{DiagnosticCounts, Entry, Scope, State};
pub use events::{
    Event, EventKind, EventParams, SubscribeParams, SubscribeResult, UnsubscribeParams,
    UnsubscribeResult,
};
pub use explain::{Evidence, ExplainParams, ExplainResult, Outcome, Step, StepKind, Verdict};
pub use health::Health;
pub use hooks::{
    HooksDoneParams, HooksDoneResult, HooksMatchParams, HooksMatchResult, MatchedHook,
};
pub use index::{
    PathMatches, PathsMatchParams, PathsMatchResult, ReferencesParams, ReferencesResult, RuleLevel,
    SkillReference, SnapshotEntry, SnapshotParams, SnapshotProfile, SnapshotResult, SnapshotRoot,
    SnapshotSkill,
};
pub use install::{InstallAction, InstallChange, InstallPart, InstallResult};
pub use load::{
    By, LoadFormat, LoadMetadata, LoadParams, LoadResult, LoadStatus, PromptMessage, RunParams,
    RunResult, Shell, ShellCommand, ShellResult,
};
pub use permission::{
    PendingPermission, PermissionAction, PermissionCheckParams, PermissionCheckResult,
    PermissionGrant, PermissionGrantedParams, PermissionGrantedResult, PermissionPendingParams,
    PermissionPendingResult, PermissionReplyParams, PermissionReplyResult, PermissionRequestParams,
    PermissionRequestResult, PermissionRevokeParams, PermissionRevokeResult, Reply,
};
pub use position::{Diagnostic, FieldRanges, Position, Range, Severity};
pub use rules::{RuleDescription, RuleReference, RulesDescribeParams, RulesDescribeResult};
pub use server::{
    Actions, CancelParams, ClientInfo, ConfigState, ConfigStatus, HeavyCallCounts,
    InitializeParams, InitializeResult, LayerRebuilds, Rebuilds, ServerCapabilities, ServerInfo,
    ShutdownParams, ShutdownResult, SourceState, SourceStatus, StatusParams, StatusResult,
    SyncParams, SyncResult, Watches,
};
pub use session::{
    ActivatedSkill, AgentSkills, Discovered, InvokedSkill, Matched, RefusedPath,
    SessionAgentEndParams, SessionAgentEndResult, SessionCloseParams, SessionCloseResult,
    SessionCompactedParams, SessionCompactedResult, SessionGetParams, SessionInvokedParams,
    SessionInvokedResult, SessionListParams, SessionListResult, SessionNewsParams,
    SessionNewsResult, SessionOpenParams, SessionResult, SessionSkill, SessionSummary,
    SessionTouchParams, SessionTouchResult, TouchOp,
};
pub use skills::{
    DetectParams, DetectResult, DirsParams, DirsResult, GetParams, GetResult, Include, ListParams,
    ListResult, Only, PresentAgent, ReadParams, ReadResult, Removed, Resource, ResourcesParams,
    ResourcesResult, SearchHit, SearchParams, SearchResult, SkillUsage, UsageParams, UsageResult,
};
pub use trust::{
    CoveredFiles, CoveredSkill, TrustGetParams, TrustGetResult, TrustNeed, TrustSetParams,
    TrustSetResult, TrustedDir, WaitingSkill,
};
pub use worktree::{
    ProfileSkills, SkillCounts, Worktree, WorktreeCloseParams, WorktreeCloseResult,
    WorktreeListParams, WorktreeListResult, WorktreeOpenParams, WorktreeOpenResult,
};
