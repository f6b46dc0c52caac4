//! Patterns made to cost time: hook matchers, globs and permission rules.
