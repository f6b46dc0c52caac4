//! The tests of skillsd as a whole, and its benches.
//!
//! This crate has no code of its own: what the tests stand on is in `skills-testkit`, and the real binary
//! is `test-skillsd` (Cargo builds another package's plain binaries for nobody's tests, so one line of
//! ours stands in for `skillsd`).
//!
//! | where | what |
//! |---|---|
//! | `tests/tidy/` | the tree itself: dependency walls, module docs, licences, lists that must be complete |
//! | `tests/corpus.rs` | the parser on every real file |
//! | `tests/e2e/` | the real binary over real sockets and files, held against the plain reader |
//! | `benches/floors.rs` | figures beside their floors, in one run |
