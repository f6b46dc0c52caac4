//! Which texts are looked for that may speak of skills, for whoever can read the disk.

use skills_syntax::path::AbsPath;

/// Which texts are looked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TextSearch {
    /// The top of the worktree whose texts count.
    pub top: Option<AbsPath>,
    /// The user's home directory, for what every agent is told.
    pub home: Option<AbsPath>,
    /// The skills whose texts count.
    pub skills: Vec<AbsPath>,
    /// Words of which one has to be in a text; any text counts where there are none.
    pub words: Vec<String>,
    /// Directories all of whose texts count, whatever is in them.
    pub below: Vec<AbsPath>,
}
