//! Snapshots of what the commands print, from hand-made answers.
