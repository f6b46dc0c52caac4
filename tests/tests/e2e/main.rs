//! End-to-end tests of the real program over real sockets and files.
//!
//! Each test has its own home and few daemons; none sleeps. Lists are compared with the test kit's
//! plain reader; there are no recorded lists.

mod support;

mod sample;
mod sources;

mod corpus;

mod permissions;
mod read_your_writes;

mod since;

mod events;

mod watch;

mod agent_session;
mod convergence;

mod hooks;
mod lifecycle;
mod list_changes;

mod mcp;

mod budget;
mod clients;

mod present_agents;

mod completion;
mod configuration;

mod errors;
mod shutdown;

mod manual;

mod denied_skills;

mod install;

mod link;
mod new;
mod switch;

mod terminal_output;
mod top;

mod doctor;

mod wire;

mod golden;

mod load;

mod trust;
mod views;

mod sessions;

mod unfound;
mod unreadable;

mod auto_touch;

mod bad_input;

mod cli;

mod explain;
mod explain_situations;

mod worktrees;

mod agent_files;

mod check;
mod check_options;
mod report;

mod snapshot;

mod large;

mod hung_daemon;

mod editor;
