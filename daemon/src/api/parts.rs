//! The parts of the daemon that each family of handlers works with.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Instant;

use skills_engine::inspect::{TextIndex, Walks};

use crate::access::Access;
use crate::api::session::SessionCalls;
use crate::request::Resolver;
use crate::rpc::heavy::HeavyCalls;
use crate::rpc::page_cache::PageCache;

/// The parts by family; clones share them.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) resolver: Arc<Resolver>,
    pub(crate) sessions: Arc<SessionCalls>,
    pub(crate) queries: Arc<QueryParts>,
    pub(crate) guarded: Arc<GuardedParts>,
    pub(crate) server: Arc<ServerParts>,
}

/// Parts of calls that search, check or render many files.
pub(crate) struct QueryParts {
    pub(crate) resolver: Arc<Resolver>,
    pub(crate) sessions: Arc<SessionCalls>,
    pub(crate) heavy: HeavyCalls,
    /// Cached walks over worktrees, for searches in their files.
    pub(crate) walks: Walks,
    /// Texts that may mention skills.
    pub(crate) texts: TextIndex,
    /// Search results kept while their pages are requested.
    pub(crate) page_cache: Arc<PageCache>,
}

/// Parts of calls that need permission, and of those that give it.
pub(crate) struct GuardedParts {
    pub(crate) resolver: Arc<Resolver>,
    pub(crate) sessions: Arc<SessionCalls>,
    pub(crate) access: Arc<Access>,
    pub(crate) heavy: HeavyCalls,
}

pub(crate) struct ServerParts {
    pub(crate) resolver: Arc<Resolver>,
    pub(crate) access: Arc<Access>,
    pub(crate) heavy: HeavyCalls,
    /// None for a server within another process.
    pub(crate) socket: Option<PathBuf>,
    pub(crate) started: Instant,
    pub(crate) open: Arc<AtomicU32>,
}
