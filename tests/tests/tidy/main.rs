//! Checks on the source tree that the compiler cannot make.
//!
//! Each check is a function from text to findings, with a test on a small bad example next to it,
//! so that a check that can no longer fail is noticed. The tests at the bottom of each file run it
//! on the tree.

mod code;
mod configuration;
mod cycles;
mod editors;
mod forbidden_words;
mod frontmatter;
mod lists;
mod manifests;
mod pages;
mod prose;
mod protocol;
mod rules;
mod shape;
mod tree;
mod units;
mod wording;
