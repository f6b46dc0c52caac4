//! [`PresenceRule`]: the signs of an agent, as data. The daemon looks for them on the disk.

use super::text::Text;

/// The signs that an agent is installed, or that a worktree is set up for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresenceRule {
    /// The variable that names the base of the user's directory.
    pub variable: Text,
    /// The base below home if the variable is unset or empty.
    pub below_home: Text,
    /// The user's directory below the base; empty if it is the base. Skills alone are no sign,
    /// because other agents read and install them there too.
    pub directory: Text,
    /// The program's name in `PATH`.
    pub program: Text,
    /// Files and directories in a worktree that belong to this agent. Skills alone are no sign.
    pub in_worktree: Vec<Text>,
}
