//! The built program does a real piece of work through every provider's wire: it reads a file, edits it, runs the project's
//! test, which fails, mends it and runs the test again. Headless and in a terminal; the providers are servers on loopback.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agents;
mod doctor;
mod ends;
mod errands;
mod headless;
mod heals;
mod login;
mod pages;
mod peers;
mod project;
mod registry;
mod server;
mod story;
mod terminal;
mod theirs;
mod wire;

pub(crate) use project::Project;
pub(crate) use server::Server;
pub(crate) use wire::Wire;
