//! End-to-end tests of the real program over real sockets and files.
//!
//! Each test has its own home and few daemons; none sleeps. Lists are compared with the test kit's
//! plain reader; there are no recorded lists.

mod support;

mod sample;
mod sources;

mod corpus;

mod permissions;
mod rounds;

mod since;

mod events;

mod watch;

mod convergence;
mod conversation;

mod hooks;
mod lifecycle;

mod mcp;

mod clients;

mod configured;

mod ends;
mod errors;

mod manual;

mod denied;

mod install;

mod looks;
mod top;

mod doctor;

mod wire;

mod golden;

mod load;

mod trust;
mod views;

mod sessions;

mod shut;

mod automatic;

mod bad_input;

mod cli;

mod explain;

mod worktrees;

mod agent_files;

mod check;

mod snapshot;

mod large;

mod hung;

mod editor;
