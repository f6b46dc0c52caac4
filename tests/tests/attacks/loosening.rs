//! Settings of a repository that would loosen what the user has set, before the user trusts it.
