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
use skills_protocol::method;

use crate::api::parts::Parts;
use crate::rpc::dispatch::register;

/// Registers every method of the protocol.
pub(crate) fn register_all(methods: &mut Methods, parts: &Parts) {
    register::<method::Initialize, _, _, _>(methods, &parts.server, server::initialize);
    register::<method::ServerStatus, _, _, _>(methods, &parts.server, server::status);
    register::<method::ServerSync, _, _, _>(methods, &parts.server, server::sync);
    register::<method::ServerShutdown, _, _, _>(methods, &parts.server, server::shutdown);
    register::<method::WorktreeOpen, _, _, _>(methods, &parts.resolver, worktree::open);
    register::<method::WorktreeClose, _, _, _>(methods, &parts.resolver, worktree::close);
    register::<method::WorktreeList, _, _, _>(methods, &parts.resolver, worktree::list);
    register::<method::ProfilesDetect, _, _, _>(methods, &parts.resolver, list::detect);
    register::<method::SkillsList, _, _, _>(methods, &parts.resolver, list::list);
    register::<method::SkillsDirs, _, _, _>(methods, &parts.resolver, list::dirs);
    register::<method::SkillsGet, _, _, _>(methods, &parts.resolver, get::get);
    register::<method::SkillsSearch, _, _, _>(methods, &parts.queries, search::search);
    register::<method::SkillsLoad, _, _, _>(methods, &parts.guarded, load::load);
    register::<method::SkillsUsage, _, _, _>(methods, &parts.sessions, search::usage);
    register::<method::SkillsExplain, _, _, _>(methods, &parts.queries, explain::explain);
    register::<method::SkillsResources, _, _, _>(methods, &parts.guarded, files::resources);
    register::<method::SkillsRead, _, _, _>(methods, &parts.guarded, files::read);
    register::<method::SkillsCheck, _, _, _>(methods, &parts.queries, check::check);
    register::<method::RulesDescribe, _, _, _>(methods, &parts.queries, rules::describe);
    register::<method::SkillsReferences, _, _, _>(methods, &parts.queries, index::references);
    register::<method::IndexSnapshot, _, _, _>(methods, &parts.queries, index::snapshot);
    register::<method::PathsMatch, _, _, _>(methods, &parts.queries, index::paths_match);
    register::<method::EventsSubscribe, _, _, _>(methods, &parts.sessions, events::subscribe);
    register::<method::EventsUnsubscribe, _, _, _>(methods, &parts.sessions, events::unsubscribe);
    register::<method::PermissionCheck, _, _, _>(methods, &parts.guarded, permission::check);
    register::<method::PermissionRequest, _, _, _>(methods, &parts.guarded, permission::request);
    register::<method::PermissionReply, _, _, _>(methods, &parts.guarded, permission::reply);
    register::<method::PermissionPending, _, _, _>(methods, &parts.guarded, permission::pending);
    register::<method::PermissionGranted, _, _, _>(methods, &parts.guarded, permission::granted);
    register::<method::PermissionRevoke, _, _, _>(methods, &parts.guarded, permission::revoke);
    register::<method::HooksMatch, _, _, _>(methods, &parts.guarded, hooks::match_hooks);
    register::<method::HooksDone, _, _, _>(methods, &parts.guarded, hooks::finish_hook);
    register::<method::TrustGet, _, _, _>(methods, &parts.guarded, trust::get);
    register::<method::TrustSet, _, _, _>(methods, &parts.guarded, trust::set);
    register::<method::SkillsRun, _, _, _>(methods, &parts.guarded, run::run);
    register::<method::CatalogRender, _, _, _>(methods, &parts.queries, catalog::render);
    register::<method::CatalogBudget, _, _, _>(methods, &parts.queries, budget::budget);
    register::<method::CatalogTool, _, _, _>(methods, &parts.sessions, catalog::tool);
    register::<method::SessionOpen, _, _, _>(methods, &parts.sessions, session::open);
    register::<method::SessionGet, _, _, _>(methods, &parts.sessions, session::get);
    register::<method::SessionClose, _, _, _>(methods, &parts.sessions, session::close);
    register::<method::SessionList, _, _, _>(methods, &parts.sessions, session::list);
    register::<method::SessionTouch, _, _, _>(methods, &parts.sessions, session::touch);
    register::<method::SessionInvoked, _, _, _>(methods, &parts.sessions, session::invoked);
    register::<method::SessionCompacted, _, _, _>(methods, &parts.sessions, session::compacted);
    register::<method::SessionNews, _, _, _>(methods, &parts.sessions, news::news);
    register::<method::SessionAgentEnd, _, _, _>(methods, &parts.sessions, session::agent_end);
}

#[cfg(test)]
mod tests;
