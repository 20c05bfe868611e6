//! This program as the guard of what it starts: the sandbox runs commands and MCP servers by it, and watches over programs of others.

use crate::{places, settings};
use link::child::TERM_GRACE;
use std::ffi::OsString;
use std::path::PathBuf;
use tools::sandbox::Guard;

/// The hidden first argument that makes this program the guard of a child.
pub(crate) const GUARD: &str = "__guard";

/// This program as the guard of children; `None` in tests, where this program is another. Our own folders are closed to them.
pub(crate) fn of(config: &engine::Config) -> Option<Guard> {
    let exe = std::env::current_exe().ok()?;
    if exe.file_stem()? != "parlor" {
        return None;
    }
    let ours = [settings::folder(), places::data().ok(), places::runtime().ok()];
    let ours: Vec<PathBuf> = ours.into_iter().flatten().collect();
    let guard = Guard::new(&exe, &[GUARD]).hiding(&ours);
    Some(guard.also_readable(&config.sandbox.also_readable).also_writable(&config.sandbox.also_writable))
}

/// What stands before a program that is watched over and not limited; nothing in tests, where this program is another.
pub(crate) fn watching() -> Vec<OsString> {
    of(&engine::Config::default()).map(|guard| guard.watching(TERM_GRACE)).unwrap_or_default()
}
