//! Links that lead out of a skill: to secrets, to other worktrees, to places that fixes would write.
