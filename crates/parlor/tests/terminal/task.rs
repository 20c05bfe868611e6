//! The built program does a real piece of work through every provider's wire: it reads a file, edits it, runs the project's
//! test, which fails, mends it and runs the test again. Headless and in a terminal; the providers are servers on loopback.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agents;
mod along;
mod between;
mod claude_project;
mod day;
mod doctor;
mod ends;
mod errands;
mod form;
mod headless;
mod heals;
mod joins;
mod login;
mod modes;
mod pages;
mod peers;
mod plain;
mod project;
mod registry;
mod server;
mod servers;
mod story;
mod table;
mod terminal;
mod theirs;
mod wire;
mod worktrees;

pub(crate) use project::Project;
pub(crate) use server::Server;
pub(crate) use wire::Wire;

use std::time::Instant;
use testkit::PATIENCE;

/// Waits until a condition holds that nothing tells of.
#[track_caller]
pub(crate) fn until(what: &str, server: &Server, holds: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what}: {:?}", server.trouble());
        std::thread::yield_now();
    }
}
