//! The handlers over a real engine and real files.
