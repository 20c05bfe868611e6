//! Where the agent looks for text that steers it: on the way up to the project's root, in the home, in the settings.
//! Reads files: call where blocking is allowed.

use std::path::{Path, PathBuf};

/// Most directories between the working directory and the project's root that are looked at.
const MAX_DEPTH: usize = 32;

/// From where, and where to, the agent looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextSources {
    /// The workspace; where there is none, nothing but the person's own is looked at.
    pub(crate) project: Option<PathBuf>,
    pub(crate) cwd: PathBuf,
    pub(crate) home: Option<PathBuf>,
    pub(crate) settings: Option<PathBuf>,
}

impl TextSources {
    pub(crate) fn new(
        project: Option<&Path>,
        cwd: &Path,
        home: Option<PathBuf>,
        settings: Option<PathBuf>,
    ) -> TextSources {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        TextSources { project: project.map(real), cwd: real(cwd), home: home.as_deref().map(real), settings }
    }

    /// The working directory and what is above it, up to the project's root; nothing when it lies elsewhere.
    pub(crate) fn dirs_up(&self) -> Vec<&Path> {
        let Some(project) = &self.project else { return Vec::new() };
        let within = |dir: &&Path| dir.starts_with(project);
        self.cwd.ancestors().take_while(within).take(MAX_DEPTH).collect()
    }
}

/// A small text file. With `within` it must lie there, links followed: a repository must not get other files read.
///
/// # Errors
/// Why it cannot be read, in words.
pub(crate) fn read_text(file: &Path, within: Option<&Path>, most: u64) -> Result<String, String> {
    let real = file.canonicalize().map_err(|why| why.to_string())?;
    if within.is_some_and(|root| !real.starts_with(root)) {
        return Err("it leads out of the project".to_owned());
    }
    tools::plain_file::read(&real, most)
}
