//! What the reader has to know of the place where a line would run. Whoever has such a place tells it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The place where a line would run.
pub trait Surroundings {
    /// Where it begins, every link followed.
    fn workdir(&self) -> &Path;
    /// A variable of the environment that it gets.
    fn variable(&self, name: &str) -> Option<&OsStr>;
    /// Where a path leads from the beginning, every link followed; `None` where that cannot be told.
    fn follow(&self, path: &Path) -> Option<PathBuf>;
    /// The same for a path as people write it, which may start in their home.
    fn resolve(&self, text: &str) -> Option<PathBuf>;
    /// Whether a resolved path lies in the workspace.
    fn inside(&self, path: &Path) -> bool;
    /// Whether a resolved path may be read without asking.
    fn readable(&self, path: &Path) -> bool;
    /// The part of the workspace that makes writing a resolved path more than routine, if there is one.
    fn steering(&self, path: &Path) -> Option<String>;
    /// The folders beside the workspace that every command may write in.
    fn writable(&self) -> &[PathBuf];
    /// What a file holds, as a digest; `None` where it cannot be read.
    fn digest(&self, file: &Path) -> Option<String>;
}
