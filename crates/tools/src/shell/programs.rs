//! Which file a program's name stands for: looked up along the `PATH` that the command will get, as the shells do.
//!
//! A name is worth nothing by itself: a hostile project may hold a `bin/cat` of its own, or a library that every program loads.
//! Invariant: a program is sure only when nobody but root and the person could have put anything in its place, and it does not lie
//! in the workspace.

use super::surroundings::Surroundings;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// How many links one program may hide behind, as in the kernel.
const MAX_LINKS: usize = 40;

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Program {
    /// A program that a project cannot have changed, or none at all.
    Sure,
    /// Another one; the reason is for the person.
    Doubtful(String),
}

/// Looks programs up for one judgement.
pub(super) struct Programs<'a> {
    place: &'a dyn Surroundings,
    home: Option<PathBuf>,
    known: RefCell<HashMap<String, Program>>,
}

impl<'a> Programs<'a> {
    pub(super) fn new(place: &'a dyn Surroundings) -> Programs<'a> {
        let home = place.variable("HOME").and_then(|home| Path::new(home).canonicalize().ok());
        Programs { place, home, known: RefCell::default() }
    }

    /// What `name` stands for: a path, or a word to be looked up.
    pub(super) fn look_up(&self, name: &str) -> Program {
        if let Some(known) = self.known.borrow().get(name) {
            return known.clone();
        }
        let program = match self.libraries() {
            Some(doubt) => Program::Doubtful(doubt),
            None => self.search(name),
        };
        self.known.borrow_mut().insert(name.to_owned(), program.clone());
        program
    }

    /// The same, for a program that tells its version: what stands in the person's home may obey a file of the project
    /// when it chooses which version to be, so it must be the system's own.
    pub(super) fn is_systems(&self, name: &str) -> bool {
        let file = match self.found(name) {
            Ok(None) => return true,
            Ok(Some(file)) => file.canonicalize().ok(),
            Err(_) => None,
        };
        let home = |file: &Path| self.home.as_ref().is_some_and(|home| file.starts_with(home));
        self.look_up(name) == Program::Sure
            && file.is_some_and(|file| {
                !home(&file) && file.metadata().is_ok_and(|meta| meta.uid() == 0 && meta.is_file())
            })
    }

    fn search(&self, name: &str) -> Program {
        match self.found(name) {
            Ok(None) => Program::Sure,
            Ok(Some(file)) => match self.unsure(&file) {
                None => Program::Sure,
                Some(doubt) => Program::Doubtful(format!("`{name}` is {}, {doubt}", file.display())),
            },
            Err(doubt) => Program::Doubtful(format!("`{name}` {doubt}")),
        }
    }

    /// The file that would be run; `None` when there is none.
    fn found(&self, name: &str) -> Result<Option<PathBuf>, String> {
        if name.contains('/') {
            return Ok(Some(PathBuf::from(name)).filter(|file| runs(file)));
        }
        let path = self.place.variable("PATH").unwrap_or_default();
        for entry in path.as_bytes().split(|byte| *byte == b':') {
            let dir = Path::new(OsStr::from_bytes(entry));
            if !dir.is_absolute() {
                return Err("is looked for in the working directory, by an entry of PATH".to_owned());
            }
            let file = dir.join(name);
            if runs(&file) {
                return Ok(Some(file));
            }
        }
        Ok(None)
    }

    /// Why it is not sure what the file is, link by link.
    fn unsure(&self, file: &Path) -> Option<String> {
        let asked = file.file_name();
        let mut file = file.to_owned();
        for _ in 0..MAX_LINKS {
            let (Some(parent), Some(name)) = (file.parent(), file.file_name()) else { break };
            let Ok(dir) = parent.canonicalize() else { break };
            if self.place.inside(&dir) {
                return Some("a program of this project".to_owned());
            }
            if self.commands_write(&dir) {
                return Some("where commands may write".to_owned());
            }
            if let Some(open) = dir.ancestors().find(|dir| !guarded(dir)) {
                return Some(format!("and others may write in {}", open.display()));
            }
            let here = dir.join(name);
            let Ok(meta) = here.symlink_metadata() else { break };
            if meta.is_symlink() {
                let Ok(target) = here.read_link() else { break };
                file = dir.join(target);
                continue;
            }
            if !guarded(&here) {
                return Some("which others may write".to_owned());
            }
            // Version managers put their own program or script under every name; it then obeys files of the project.
            let home = self.home.as_ref().is_some_and(|home| here.starts_with(home));
            let shim = home && (asked != Some(name) || is_script(&here));
            return shim.then(|| "which may choose by the project's files what it runs".to_owned());
        }
        Some("which cannot be followed".to_owned())
    }

    /// Whether commands may change what lies in `dir`, by a setting of the person.
    fn commands_write(&self, dir: &Path) -> bool {
        self.place.writable().iter().any(|open| dir.starts_with(open))
    }

    /// Why libraries make every program doubtful, if they do.
    fn libraries(&self) -> Option<String> {
        let entries = self.place.variable("LD_LIBRARY_PATH")?;
        let mut dirs = entries.as_bytes().split(|byte| matches!(byte, b':' | b';'));
        let odd = dirs.find(|entry| {
            let dir = Path::new(OsStr::from_bytes(entry));
            let real = dir.canonicalize();
            !dir.is_absolute()
                || real.is_ok_and(|dir| {
                    self.place.inside(&dir) || self.commands_write(&dir) || !dir.ancestors().all(guarded)
                })
        })?;
        Some(format!(
            "LD_LIBRARY_PATH names {:?}: programs load what lies there",
            String::from_utf8_lossy(odd)
        ))
    }
}

/// Whether this process could run it.
fn runs(file: &Path) -> bool {
    file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Whether only root, the person and a group they chose may change it.
fn guarded(path: &Path) -> bool {
    const OTHERS_WRITE: u32 = 0o002;
    path.symlink_metadata().is_ok_and(|meta| {
        let own = meta.uid() == 0 || meta.uid() == rustix::process::geteuid().as_raw();
        own && meta.mode() & OTHERS_WRITE == 0
    })
}

fn is_script(file: &Path) -> bool {
    let mut start = [0; 2];
    std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut start)).is_err() || start == *b"#!"
}
