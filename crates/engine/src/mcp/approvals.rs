//! Which servers of which projects the person agreed to: digests of entries, in the user's data directory.
//!
//! Never in the project. An entry that changes is another entry: it is asked for again. A file that cannot be understood
//! approves nothing and is not overwritten.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Most approvals that are kept; past it nothing is added.
const MAX_KEPT: usize = 1_000;
/// Largest file that is read.
const MAX_BYTES: u64 = 1024 * 1024;

/// What the person agreed to.
#[derive(Debug, Clone)]
pub struct Approvals {
    file: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    /// Digest of project and entry → what it is, for a person who looks into the file.
    approved: BTreeMap<String, String>,
}

impl Approvals {
    /// Those in the user's data directory.
    pub fn in_data(data: &Path) -> Approvals {
        Approvals { file: data.join("mcp-approved.json") }
    }

    /// Whether the person agreed to exactly this entry in this project.
    pub fn has(&self, project: &Path, digest: &str) -> bool {
        self.read().is_ok_and(|kept| kept.approved.contains_key(&key(project, digest)))
    }

    /// Keeps that the person agreed.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn add(&self, project: &Path, digest: &str, words: &str) -> io::Result<()> {
        let mut kept = self.read()?;
        if kept.approved.len() >= MAX_KEPT {
            let why = format!("{} is full: remove entries that are no longer needed", self.file.display());
            return Err(io::Error::other(why));
        }
        kept.approved.insert(key(project, digest), format!("{}: {words}", project.display()));
        let text = serde_json::to_string_pretty(&kept).map_err(io::Error::other)?;
        write_private(&self.file, &text)
    }

    fn read(&self) -> io::Result<Kept> {
        match std::fs::metadata(&self.file) {
            Ok(meta) if meta.len() > MAX_BYTES => {
                Err(io::Error::other(format!("{} is too large", self.file.display())))
            }
            Ok(_) => serde_json::from_str(&std::fs::read_to_string(&self.file)?).map_err(|why| {
                io::Error::other(format!("{} cannot be understood: {why}", self.file.display()))
            }),
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(Kept::default()),
            Err(why) => Err(why),
        }
    }
}

fn key(project: &Path, digest: &str) -> String {
    tools::digest::hex(format!("{}\n{digest}", project.display()).as_bytes())
}

/// Writes a file for the person alone, whole or not at all.
pub(super) fn write_private(file: &Path, text: &str) -> io::Result<()> {
    let dir = file.parent().unwrap_or(Path::new("."));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or("file");
    let fresh = dir.join(format!(".{name}.{}", std::process::id()));
    let mut open =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    open.write_all(text.as_bytes())?;
    open.sync_all()?;
    std::fs::rename(&fresh, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_is_for_one_entry_in_one_project() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        let approvals = Approvals::in_data(&data);
        let (one, two) = (Path::new("/one"), Path::new("/two"));
        assert!(!approvals.has(one, "d"));
        approvals.add(one, "d", "runs `x`").unwrap();
        assert!(approvals.has(one, "d") && !approvals.has(two, "d") && !approvals.has(one, "e"));
        approvals.add(two, "d", "runs `x`").unwrap();
        assert!(approvals.has(one, "d") && approvals.has(two, "d"));
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&data), mode(&data.join("mcp-approved.json"))), (0o700, 0o600));
    }

    #[test]
    fn a_broken_file_approves_nothing_and_stays() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("mcp-approved.json"), "{").unwrap();
        let approvals = Approvals::in_data(dir.path());
        assert!(!approvals.has(Path::new("/p"), "d"));
        assert!(approvals.add(Path::new("/p"), "d", "w").is_err());
        assert_eq!(std::fs::read_to_string(dir.path().join("mcp-approved.json")).unwrap(), "{");
    }
}
