//! JSON-RPC over the socket: listening, connections, dispatch, pages, answers, events and the
//! turns of heavy calls.

pub(crate) mod answer;
pub(crate) mod connection;
pub(crate) mod dispatch;
pub(crate) mod events;
pub(crate) mod heavy;
pub(crate) mod outbox;
pub(crate) mod page_cache;
pub(crate) mod paging;
pub(crate) mod peer;
pub(crate) mod refusal;
pub(crate) mod server;
pub(crate) mod socket;
pub(crate) mod tasks;
