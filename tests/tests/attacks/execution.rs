//! Files exchanged between the check and the run of a script, hook or shell command.
