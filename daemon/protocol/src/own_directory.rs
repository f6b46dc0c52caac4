//! [`OwnDirectory`]: where an agent's own skills are.

/// Directories of an agent's own skills.
#[derive(Debug)]
pub struct OwnDirectory {
    /// In a project.
    pub project: &'static str,
    /// True if the agent only looks for it in the working directory.
    pub only_cwd: bool,
    /// The variable that names the base of the user's directory.
    pub variable: &'static str,
    /// The base below home without the variable.
    pub below_home: &'static str,
    /// The user's directory below the base.
    pub user: &'static str,
}
