//! The rules, on texts.
//!
//! Each rule's own texts are in its row; here they are run, and beside them the cases that tell
//! one rule from another.

mod attributing;
mod crowding;
mod examples;
mod families;
mod mending;
mod placing;
mod proving;
mod silence;
mod suppressing;
mod telling;
mod typing;
