//! The vocabulary of Parlor: what a conversation between a person and an agent is made of, whoever runs it and whatever wire
//! carries it, and how it is written ([`serde`], as attributes on the types). Pure: no I/O, no clock, no randomness, no wire.
//!
//! A UI sends [`command::Command`]s and gets receipts or refusals; what happens becomes numbered [`event::Event`]s; folded, they
//! are the [`state::State`] of a session. Foreign runtimes say [`fact::Fact`]s, which [`canon::Canon`] turns into events.

pub mod ask;
pub mod ask_book;
pub mod canon;
pub mod command;
pub mod content;
pub mod errand;
pub mod event;
pub mod fact;
pub mod fleet;
pub mod given_server;
pub mod grammar;
pub mod harmless;
pub mod ids;
pub mod listening;
pub mod live;
mod mark;
pub mod offer;
pub mod origin;
pub mod path_text;
pub mod port;
pub mod prompt_text;
pub mod queue;
mod refusal;
pub mod rights;
pub mod secret;
pub mod session;
pub mod signal;
pub mod state;
pub mod steering;
mod terms;
pub mod tool;
pub mod ui_files;
pub mod weight;
mod written;
