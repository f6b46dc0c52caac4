//! Tests and benchmarks of skillsd as a whole.
//!
//! This crate has no code of its own: helpers are in `skills-testkit`, and the binary under test is
//! `test-skillsd`, because Cargo does not build another package's binaries for tests.
//!
//! | where | what |
//! |---|---|
//! | `tests/tidy/` | checks on the tree: dependencies, module comments, licences, complete lists |
//! | `tests/corpus.rs` | the parser on every file of the corpus |
//! | `tests/conformance/` | lists and texts compared with recordings and the founding documents |
//! | `tests/e2e/` | the real binary over real sockets and files, compared with the plain reader |
//! | `benches/floors/` | benchmarks, each compared with its floor |
