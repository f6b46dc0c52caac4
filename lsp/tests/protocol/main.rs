//! The server as an editor sees it: real messages over a pair of streams in memory.
//!
//! Nothing of the server is reached into. What comes back is rendered into a few lines, so that
//! the expected text can be judged by reading it.

mod editor;

mod agreement;

mod diagnostics;

mod addresses;

mod encodings;

mod endings;

mod progress;

mod refreshing;

mod renaming;

mod setting;

mod shaping;

mod told;

mod outside;

mod typing;
