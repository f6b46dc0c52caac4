//! The life of the daemon: start, configuration and its reload, logging, liveness and shutdown.

pub(crate) mod config_notify;
pub(crate) mod daemon;
pub(crate) mod in_process;
pub(crate) mod shutdown_monitor;
pub(crate) mod watchdog;
