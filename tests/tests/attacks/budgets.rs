//! Trees made to cost time and memory: depth, breadth, links, directories of the system.
