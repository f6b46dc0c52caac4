//! Requests made to cost time and memory: long paths, long lists, calls nobody waits for.
