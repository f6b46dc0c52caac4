//! What a SKILL.md means.
//!
//! Text and values go in, values come out. This crate touches no file, clock, environment,
//! thread, process or network; whoever owns those hands in what they hold. Its model types are
//! not wire types: conversions live at the boundaries, in the crates that own them.
//!
//! Read it in this order: a text and its places, what is found in it, a SKILL.md as a tree, the
//! catalog of its fields, how they are read, a SKILL.md as a record, and a
//! command, which is a skill of another name; then the agents' rules, what
//! a catalog elsewhere may say, how each agent reads a file that is not well, what follows for one
//! place and what of it an edit changes, on what of a text a cursor stands, how texts name skills, what is wrong with a file, and what
//! each agent writes for its model; last what a user may configure, how a query finds a skill, and
//! which name was meant by one that there is not.

pub mod text;

pub mod unseen;

pub mod diagnostic;

pub mod parse;

pub mod catalog;

pub mod fields;

pub mod listing;

pub mod hooks;

pub mod skill;

pub mod command;

pub mod path;

pub mod document;

pub mod permission;

pub mod profile;

pub mod remote;

pub mod ladder;

pub mod resolve;

pub mod ranking;

mod place;

pub mod references;

pub mod rules;

pub mod render;

pub mod activate;

pub mod config;

pub mod assist;

pub mod search;

pub mod likeness;
