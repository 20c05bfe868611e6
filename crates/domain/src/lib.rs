//! The vocabulary of Parlor: what a conversation between a person and an agent is made of, whoever runs it and whatever wire
//! carries it. Pure: no I/O, no clock, no randomness, no wire format.

#![warn(missing_docs)]

pub mod ask;
pub mod content;
pub mod ids;
pub mod signal;
pub mod tool;
