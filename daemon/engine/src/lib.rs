//! The disk side of skillsd: watches, reads, and publishes what each agent sees.
//!
//! [`Engine`] is a handle to one thread, the event loop, which owns all mutable state. Handlers
//! request a [`View`], an immutable snapshot; a `cached` request never leaves the caller's thread.
//! This crate knows no sockets and no wire formats.
//!
//! Reading order: disk and hints (inputs), directory index (cache), scanner (updates it), event
//! loop (schedules), views (outputs).

mod engine;

pub mod cancel;

pub mod disk;

pub mod files;

mod health;

pub mod views;

pub mod inspect;

pub mod sessions;

mod sources;

pub mod watch;

pub use crate::engine::{Engine, EngineError, Options};
pub use crate::files::counters::{Cause, Causes, Counters};
pub use crate::files::remote_fs_guard::RemoteFsGuard;
pub use crate::files::ripgrep_listing::unignored;
pub use crate::files::skill_file::SKILL_FILE;
pub use crate::health::Health;
pub use crate::sources::fetching::SourceTimeouts;
pub use crate::sources::mcp_client::prompt::{
    PromptAnswer, PromptContent, PromptError, PromptMessage,
};
pub use crate::sources::source_config::{McpOptions, PlainHttp, RemoteOptions, SourceConfig};
pub use crate::sources::source_status::{SourcePhase, SourceStatus};
pub use crate::views::activation::Activation;
pub use crate::views::event::Freshness;
pub use crate::views::journal::{Difference, RemovedEntry};
pub use crate::views::status::{Rebuilds, Status, WorktreeStatus};
pub use crate::views::update::{Listener, Update};
pub use crate::views::view::{View, ViewKey};
pub use crate::views::view_lease::ViewLease;
pub use crate::watch::writes::Writes;
