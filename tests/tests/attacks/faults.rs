//! State directories, descriptors and permissions that go away while the daemon runs.
