//! This program as the guard of what it starts: the sandbox runs commands and MCP servers by it, and watches over programs of others.

use crate::{paths, settings};
use link::child::TERM_GRACE;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use tools::sandbox::{Guard, own_program};

/// The hidden first argument that makes this program the guard of a child.
pub const GUARD: &str = "__guard";

/// Whether this program is a guard when it is started with [`GUARD`] first.
static ENABLED: AtomicBool = AtomicBool::new(false);

/// Has commands guarded by this program. To be called by `main` of every program that hosts sessions and hands [`GUARD`] on to
/// [`tools::sandbox::run_guard`]. The name of the file tells nothing: a program that was renamed, or replaced while it runs, would run
/// commands unguarded.
pub fn enable() {
    ENABLED.store(true, Ordering::Relaxed);
}

/// This program as the guard of children; `None` in tests, where this program is another. Our own folders are closed to them.
pub fn of(config: &engine::Config) -> Option<Guard> {
    if !ENABLED.load(Ordering::Relaxed) {
        return None;
    }
    let data = paths::data().ok();
    let ours = [settings::folder(), data.clone(), paths::runtime().ok()];
    let ours: Vec<PathBuf> = ours.into_iter().flatten().collect();
    let mut guard = Guard::new(&own_program(), &[GUARD]).hiding(&ours);
    if let Some(data) = data {
        guard = guard.temps_in(data.join("temp"));
    }
    Some(guard.also_readable(&config.sandbox.also_readable).also_writable(&config.sandbox.also_writable))
}

/// What stands before a program that is watched over and not limited; nothing in tests, where this program is another.
pub fn watching() -> Vec<OsString> {
    of(&engine::Config::default()).map(|guard| guard.watching(TERM_GRACE)).unwrap_or_default()
}
