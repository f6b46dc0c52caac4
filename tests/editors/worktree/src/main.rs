//! A file that a skill waits for.

fn main() {}
