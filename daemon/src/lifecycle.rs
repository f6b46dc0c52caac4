//! The life of the daemon: its composition, notices about a changed configuration, the server
//! within a command, liveness and shutdown.

pub(crate) mod config_notify;
pub(crate) mod daemon;
pub(crate) mod in_process;
pub(crate) mod shutdown_monitor;
pub(crate) mod watchdog;
