//! Agents that try to answer their own questions or to grant themselves trust.
