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

pub use catalog::*;
pub use check::*;
pub use context::*;
pub use doctor::*;
pub use entry::*;
pub use events::*;
pub use explain::*;
pub use health::Health;
pub use hooks::*;
pub use index::*;
pub use install::*;
pub use load::*;
pub use permission::*;
pub use position::*;
pub use rules::*;
pub use server::*;
pub use session::*;
pub use skills::*;
pub use trust::*;
pub use worktree::*;
