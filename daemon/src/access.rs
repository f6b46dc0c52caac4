//! Trust and permission: authorisation of loading, reading and running, approvals of the user,
//! confined directories, and the child processes that skills start.

pub(crate) mod approval_prompt;
pub(crate) mod approval_queue;
pub(crate) mod authorize;
pub(crate) mod child_process;
pub(crate) mod confined_dir;
pub(crate) mod programs;
pub(crate) mod sealed_copy;
