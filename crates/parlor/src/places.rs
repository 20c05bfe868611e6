//! Where things lie: the data directory and the project root.

use anyhow::Context;
use std::path::{Path, PathBuf};

/// `$XDG_DATA_HOME/parlor`, for the person alone.
pub(crate) fn data() -> anyhow::Result<PathBuf> {
    let base = match std::env::var_os("PARLOR_DATA_DIR") {
        Some(own) => return Ok(PathBuf::from(own)),
        None => match std::env::var_os("XDG_DATA_HOME").filter(|dir| Path::new(dir).is_absolute()) {
            Some(dir) => PathBuf::from(dir),
            None => {
                let home = std::env::var_os("HOME")
                    .context("HOME is not set; set PARLOR_DATA_DIR to a directory of yours")?;
                PathBuf::from(home).join(".local/share")
            }
        },
    };
    Ok(base.join("parlor"))
}

/// Where openagent's document has its clients save sessions, in the home directory.
const OPENAGENT_SAVES: &str = ".openagent/sessions";

/// Where UIs may save sessions to and load them from besides the project and the data directory: `PARLOR_SAVE_DIRS`, as in `PATH`, and
/// the directory that openagent's clients have for nothing else, if it is there.
pub(crate) fn save_dirs() -> Vec<PathBuf> {
    let dirs = std::env::var_os("PARLOR_SAVE_DIRS").unwrap_or_default();
    let own = std::env::home_dir().map(|home| home.join(OPENAGENT_SAVES));
    std::env::split_paths(&dirs).chain(own).filter(|dir| dir.is_absolute()).collect()
}

/// The project a directory belongs to: the nearest one up with a `.git` or `.parlor`, else the directory itself.
pub(crate) fn project(cwd: &Path) -> PathBuf {
    let is_root = |dir: &&Path| dir.join(".git").exists() || dir.join(".parlor").is_dir();
    cwd.ancestors().find(is_root).unwrap_or(cwd).to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_begins_where_its_repository_does() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b");
        std::fs::create_dir_all(&deep).unwrap();
        assert_eq!(project(&deep), deep);
        std::fs::create_dir(dir.path().join("a/.git")).unwrap();
        assert_eq!(project(&deep), dir.path().join("a"));
    }
}
