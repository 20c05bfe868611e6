//! Both roles wired to each other in memory, with a toy session behind the runtime's.

mod bad_input;
mod bench;
mod conversation;
mod passing;
