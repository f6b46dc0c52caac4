//! Method handlers, one file for each area.
//!
//! A handler decodes its parameters, asks the resolver for the call's context and converts the
//! result. It does no discovery of its own; the rules are in the pure crates.

mod budget;
mod catalog;
mod check;
mod events;
mod explain;
mod files;
mod get;
mod hooks;
mod index;
mod list;
mod load;
mod news;
mod permission;
mod rules;
mod run;
mod search;
mod server;
mod session;
mod trust;
mod worktree;

use jsonrpsee::Methods;
use skills_protocol::method::{
    CatalogBudget, CatalogRender, CatalogTool, EventsSubscribe, EventsUnsubscribe, HooksDone,
    HooksMatch, IndexSnapshot, Initialize, PathsMatch, PermissionCheck, PermissionGranted,
    PermissionPending, PermissionReply, PermissionRequest, PermissionRevoke, ProfilesDetect,
    RulesDescribe, ServerShutdown, ServerStatus, ServerSync, SessionAgentEnd, SessionClose,
    SessionCompacted, SessionGet, SessionInvoked, SessionList, SessionNews, SessionOpen,
    SessionTouch, SkillsCheck, SkillsDirs, SkillsExplain, SkillsGet, SkillsList, SkillsLoad,
    SkillsRead, SkillsReferences, SkillsResources, SkillsRun, SkillsSearch, SkillsUsage, TrustGet,
    TrustSet, WorktreeClose, WorktreeList, WorktreeOpen,
};

use crate::api::parts::Parts;
use crate::rpc::dispatch::register;

/// Registers every method of the protocol.
pub(crate) fn register_all(methods: &mut Methods, parts: &Parts) {
    register::<Initialize, _, _, _>(methods, &parts.server, server::initialize);
    register::<ServerStatus, _, _, _>(methods, &parts.server, server::status);
    register::<ServerSync, _, _, _>(methods, &parts.server, server::sync);
    register::<ServerShutdown, _, _, _>(methods, &parts.server, server::shutdown);
    register::<WorktreeOpen, _, _, _>(methods, &parts.resolver, worktree::open);
    register::<WorktreeClose, _, _, _>(methods, &parts.resolver, worktree::close);
    register::<WorktreeList, _, _, _>(methods, &parts.resolver, worktree::list);
    register::<ProfilesDetect, _, _, _>(methods, &parts.resolver, list::detect);
    register::<SkillsList, _, _, _>(methods, &parts.resolver, list::list);
    register::<SkillsDirs, _, _, _>(methods, &parts.resolver, list::dirs);
    register::<SkillsGet, _, _, _>(methods, &parts.resolver, get::get);
    register::<SkillsSearch, _, _, _>(methods, &parts.queries, search::search);
    register::<SkillsLoad, _, _, _>(methods, &parts.guarded, load::load);
    register::<SkillsUsage, _, _, _>(methods, &parts.sessions, search::usage);
    register::<SkillsExplain, _, _, _>(methods, &parts.queries, explain::explain);
    register::<SkillsResources, _, _, _>(methods, &parts.guarded, files::resources);
    register::<SkillsRead, _, _, _>(methods, &parts.guarded, files::read);
    register::<SkillsCheck, _, _, _>(methods, &parts.queries, check::check);
    register::<RulesDescribe, _, _, _>(methods, &parts.queries, rules::describe);
    register::<SkillsReferences, _, _, _>(methods, &parts.queries, index::references);
    register::<IndexSnapshot, _, _, _>(methods, &parts.queries, index::snapshot);
    register::<PathsMatch, _, _, _>(methods, &parts.queries, index::paths_match);
    register::<EventsSubscribe, _, _, _>(methods, &parts.sessions, events::subscribe);
    register::<EventsUnsubscribe, _, _, _>(methods, &parts.sessions, events::unsubscribe);
    register::<PermissionCheck, _, _, _>(methods, &parts.guarded, permission::check);
    register::<PermissionRequest, _, _, _>(methods, &parts.guarded, permission::request);
    register::<PermissionReply, _, _, _>(methods, &parts.guarded, permission::reply);
    register::<PermissionPending, _, _, _>(methods, &parts.guarded, permission::pending);
    register::<PermissionGranted, _, _, _>(methods, &parts.guarded, permission::granted);
    register::<PermissionRevoke, _, _, _>(methods, &parts.guarded, permission::revoke);
    register::<HooksMatch, _, _, _>(methods, &parts.guarded, hooks::matching);
    register::<HooksDone, _, _, _>(methods, &parts.guarded, hooks::done);
    register::<TrustGet, _, _, _>(methods, &parts.guarded, trust::get);
    register::<TrustSet, _, _, _>(methods, &parts.guarded, trust::set);
    register::<SkillsRun, _, _, _>(methods, &parts.guarded, run::run);
    register::<CatalogRender, _, _, _>(methods, &parts.queries, catalog::render);
    register::<CatalogBudget, _, _, _>(methods, &parts.queries, budget::budget);
    register::<CatalogTool, _, _, _>(methods, &parts.sessions, catalog::tool);
    register::<SessionOpen, _, _, _>(methods, &parts.sessions, session::open);
    register::<SessionGet, _, _, _>(methods, &parts.sessions, session::get);
    register::<SessionClose, _, _, _>(methods, &parts.sessions, session::close);
    register::<SessionList, _, _, _>(methods, &parts.sessions, session::list);
    register::<SessionTouch, _, _, _>(methods, &parts.sessions, session::touch);
    register::<SessionInvoked, _, _, _>(methods, &parts.sessions, session::invoked);
    register::<SessionCompacted, _, _, _>(methods, &parts.sessions, session::compacted);
    register::<SessionNews, _, _, _>(methods, &parts.sessions, news::news);
    register::<SessionAgentEnd, _, _, _>(methods, &parts.sessions, session::agent_end);
}

#[cfg(test)]
mod tests;
