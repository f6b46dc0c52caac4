//! skillsd: the daemon, and the program that is put together from it and the other crates.

mod answer;
mod connection;
mod dispatch;
mod outbox;
mod peer;
mod refusal;
mod server;
mod socket;
