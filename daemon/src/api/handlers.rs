//! Method handlers, one file for each area.
//!
//! A handler decodes its parameters, asks the service for a view and converts the result. It does
//! no discovery of its own; the rules are in the pure crates.

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
mod permission;
mod rules;
mod run;
mod search;
mod server;
mod session;
mod trust;
mod worktree;

use std::sync::Arc;

use jsonrpsee::Methods;
use skills_protocol::method::{
    CatalogRender, CatalogTool, EventsSubscribe, EventsUnsubscribe, HooksDone, HooksMatch,
    IndexSnapshot, Initialize, PathsMatch, PermissionCheck, PermissionGranted, PermissionPending,
    PermissionReply, PermissionRequest, PermissionRevoke, RulesDescribe, ServerShutdown,
    ServerStatus, ServerSync, SessionAgentEnd, SessionClose, SessionCompacted, SessionGet,
    SessionInvoked, SessionList, SessionOpen, SessionTouch, SkillsCheck, SkillsDirs, SkillsExplain,
    SkillsGet, SkillsList, SkillsLoad, SkillsRead, SkillsReferences, SkillsResources, SkillsRun,
    SkillsSearch, TrustGet, TrustSet, WorktreeClose, WorktreeList, WorktreeOpen,
};

use crate::rpc::dispatch::register;
use crate::service::Service;

/// Registers every method of the protocol.
pub(crate) fn register_all(methods: &mut Methods, service: &Arc<Service>) {
    register::<Initialize, _, _, _>(methods, service, server::initialize);
    register::<ServerStatus, _, _, _>(methods, service, server::status);
    register::<ServerSync, _, _, _>(methods, service, server::sync);
    register::<ServerShutdown, _, _, _>(methods, service, server::shutdown);
    register::<WorktreeOpen, _, _, _>(methods, service, worktree::open);
    register::<WorktreeClose, _, _, _>(methods, service, worktree::close);
    register::<WorktreeList, _, _, _>(methods, service, worktree::list);
    register::<SkillsList, _, _, _>(methods, service, list::list);
    register::<SkillsDirs, _, _, _>(methods, service, list::dirs);
    register::<SkillsGet, _, _, _>(methods, service, get::get);
    register::<SkillsSearch, _, _, _>(methods, service, search::search);
    register::<SkillsLoad, _, _, _>(methods, service, load::load);
    register::<SkillsExplain, _, _, _>(methods, service, explain::explain);
    register::<SkillsResources, _, _, _>(methods, service, files::resources);
    register::<SkillsRead, _, _, _>(methods, service, files::read);
    register::<SkillsCheck, _, _, _>(methods, service, check::check);
    register::<RulesDescribe, _, _, _>(methods, service, rules::describe);
    register::<SkillsReferences, _, _, _>(methods, service, index::references);
    register::<IndexSnapshot, _, _, _>(methods, service, index::snapshot);
    register::<PathsMatch, _, _, _>(methods, service, index::paths_match);
    register::<EventsSubscribe, _, _, _>(methods, service, events::subscribe);
    register::<EventsUnsubscribe, _, _, _>(methods, service, events::unsubscribe);
    register::<PermissionCheck, _, _, _>(methods, service, permission::check);
    register::<PermissionRequest, _, _, _>(methods, service, permission::request);
    register::<PermissionReply, _, _, _>(methods, service, permission::reply);
    register::<PermissionPending, _, _, _>(methods, service, permission::pending);
    register::<PermissionGranted, _, _, _>(methods, service, permission::granted);
    register::<PermissionRevoke, _, _, _>(methods, service, permission::revoke);
    register::<HooksMatch, _, _, _>(methods, service, hooks::matching);
    register::<HooksDone, _, _, _>(methods, service, hooks::done);
    register::<TrustGet, _, _, _>(methods, service, trust::get);
    register::<TrustSet, _, _, _>(methods, service, trust::set);
    register::<SkillsRun, _, _, _>(methods, service, run::run);
    register::<CatalogRender, _, _, _>(methods, service, catalog::render);
    register::<CatalogTool, _, _, _>(methods, service, catalog::tool);
    register::<SessionOpen, _, _, _>(methods, service, session::open);
    register::<SessionGet, _, _, _>(methods, service, session::get);
    register::<SessionClose, _, _, _>(methods, service, session::close);
    register::<SessionList, _, _, _>(methods, service, session::list);
    register::<SessionTouch, _, _, _>(methods, service, session::touch);
    register::<SessionInvoked, _, _, _>(methods, service, session::invoked);
    register::<SessionCompacted, _, _, _>(methods, service, session::compacted);
    register::<SessionAgentEnd, _, _, _>(methods, service, session::agent_end);
}

#[cfg(test)]
mod tests;
