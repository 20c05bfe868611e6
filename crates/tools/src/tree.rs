//! The files of a workspace as one walk finds them, for whoever has to know what a command did: every name, what the system says of those
//! that undo keeps, and which names steer programs.
//!
//! A walk goes down level by level, in parallel, each folder listed and its files looked at from the folder itself, no link followed. It
//! is told from the last one: where nothing changed in a folder it is the very same [`Folder`], so that whoever compares two walks looks
//! only where something did. What git ignores is worked out anew only where names or rules changed. Every folder is listed and every file
//! that counts is looked at in every walk: times of folders and notices of the system are not trusted, since a file can be written through
//! another name. What it is not: a reader of files.

mod index;
mod rules;
mod walk;

pub(crate) use index::ObjectId;
#[cfg(target_os = "linux")]
pub(crate) use walk::open_up;
pub(crate) use walk::{Keep, MAX_SEARCHED, Root, TreeWalk};

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a look is as good as a new one: no longer than a look takes.
pub(crate) const FRESH: Duration = Duration::from_millis(50);
/// Folders of version control, which are never kept and never written.
const VERSION_CONTROL: &[&str] = &[".git", ".hg", ".jj", ".svn"];
/// Folders of installed or built things.
const HEAVY: &[&str] = &["node_modules", ".venv", "__pycache__", ".tox", ".mypy_cache", ".pytest_cache"];
/// What cargo builds lies there, beside this file.
const BUILT: (&str, &str) = ("target", "Cargo.toml");

/// What the system says of a file: another one of these is another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// What it is, and its permissions.
    pub(crate) mode: u32,
    pub(crate) size: u64,
    /// When its content changed, and when anything about it did, in nanoseconds since 1970.
    pub(crate) changed: i128,
    pub(crate) status: i128,
}

/// The bits of a mode that tell what a file is.
const KIND: u32 = 0o170_000;

impl Stat {
    /// What the standard library was told.
    pub(crate) fn of(meta: &std::fs::Metadata) -> Stat {
        Stat {
            device: meta.dev(),
            inode: meta.ino(),
            mode: meta.mode(),
            size: meta.len(),
            changed: nanos(meta.mtime(), meta.mtime_nsec()),
            status: nanos(meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// A folder itself: what a link leads to does not count, here and below.
    pub(crate) fn is_folder(&self) -> bool {
        self.mode & KIND == 0o040_000
    }

    /// A plain one.
    pub(crate) fn is_file(&self) -> bool {
        self.mode & KIND == 0o100_000
    }

    /// A symbolic one.
    pub(crate) fn is_link(&self) -> bool {
        self.mode & KIND == 0o120_000
    }

    /// With the bits for other users and sticky folders.
    pub(crate) fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }
}

fn nanos(seconds: i64, nanos: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanos)
}

/// Whether a folder holds what was installed or built.
pub(crate) fn is_heavy(folder: &Path, name: &str) -> bool {
    HEAVY.contains(&name) || name == BUILT.0 && folder.join(BUILT.1).exists()
}

/// Whether this is the name of a folder of version control.
pub(crate) fn is_version_control(name: &std::ffi::OsStr) -> bool {
    VERSION_CONTROL.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// The walks through one workspace. What is looked at before a command serves everybody who looks before it, and so after it.
#[derive(Debug)]
pub(crate) struct Tree {
    root: PathBuf,
    now: Mutex<KnownWalks>,
}

#[derive(Debug, Default)]
struct KnownWalks {
    /// The last walk, from which the next one is told.
    last: Option<Arc<TreeWalk>>,
    /// A walk that nothing of ours ran since.
    before: Option<Arc<TreeWalk>>,
    /// A walk after a command, which nothing of ours ran since and after which nothing was put back.
    after: Option<Arc<TreeWalk>>,
    /// Files that undo asked to be kept the last time it looked.
    keep: usize,
    /// Commands that are at work.
    at_work: usize,
}

impl Tree {
    /// Nothing was looked at yet.
    pub(crate) fn new(root: &Path) -> Tree {
        Tree { root: root.to_owned(), now: Mutex::default() }
    }

    /// The workspace.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    fn now(&self) -> MutexGuard<'_, KnownWalks> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folder, also where a command shut it to its owner since it was looked at.
    fn open(&self, now: &KnownWalks) -> std::io::Result<Root> {
        match Root::open(&self.root) {
            Err(why) if why.kind() == std::io::ErrorKind::PermissionDenied && now.last.is_some() => {
                Root::open_shut(&self.root)
            }
            opened => opened,
        }
    }

    /// A look before something runs, and the folder that was looked at. One of a moment ago serves, where nothing of ours ran since.
    ///
    /// # Errors
    /// When the workspace cannot be opened.
    pub(crate) fn before(&self, keep: Option<Keep<'_>>) -> std::io::Result<(Root, Arc<TreeWalk>)> {
        let mut now = self.now();
        let root = self.open(&now)?;
        let wanted = keep.as_ref().map_or(0, |keep| keep.files);
        let fits = |walk: &&Arc<TreeWalk>| walk.is_fresh(&root) && (wanted == 0 || walk.keeps() == wanted);
        if let Some(walk) = now.before.as_ref().filter(fits).filter(|_| now.at_work == 0) {
            return Ok((root, walk.clone()));
        }
        let walk = self.again(&mut now, &root, keep);
        (now.before, now.after) = (Some(walk.clone()), None);
        Ok((root, walk))
    }

    /// A look that begins now, for undo after a call; one that was made since the command ended serves.
    ///
    /// # Errors
    /// When the workspace cannot be opened.
    pub(crate) fn after(&self, keep: Keep<'_>) -> std::io::Result<Arc<TreeWalk>> {
        let mut now = self.now();
        let root = self.open(&now)?;
        let fits = |walk: &Arc<TreeWalk>| walk.is_fresh(&root) && walk.keeps() == keep.files;
        if let Some(walk) = now.after.take().filter(fits) {
            return Ok(walk);
        }
        now.before = None;
        Ok(self.again(&mut now, &root, Some(keep)))
    }

    /// A look that begins now, at the folder that was looked at before, wherever it lies by now.
    pub(crate) fn compare(&self, root: &Root) -> Arc<TreeWalk> {
        self.again(&mut self.now(), root, None)
    }

    /// The next walk, told from the last one. What undo last asked for is looked at as well, so that it need not walk by itself.
    fn again(&self, now: &mut KnownWalks, root: &Root, keep: Option<Keep<'_>>) -> Arc<TreeWalk> {
        if let Some(keep) = &keep {
            now.keep = keep.files;
        }
        let keep = keep.unwrap_or(Keep { files: now.keep, go_on: &|| Ok(()) });
        let walk = Arc::new(TreeWalk::through(root, &self.root, &keep, now.last.as_deref()));
        if walk.kept().is_err() {
            now.keep = 0;
        }
        now.last = Some(walk.clone());
        walk
    }

    /// Something is about to run: no look from before serves after it.
    pub(crate) fn begins(&self) {
        let mut now = self.now();
        (now.before, now.after) = (None, None);
    }

    /// A command is about to run, until the guard is dropped.
    pub(crate) fn at_work(self: &Arc<Tree>) -> AtWork {
        self.begins();
        self.now().at_work += 1;
        AtWork(self.clone())
    }

    /// Nothing was put back after a look that began when a command had ended: it serves undo, unless another one is at work.
    pub(crate) fn nothing_was_put_back(&self, walk: &Arc<TreeWalk>) {
        let mut now = self.now();
        now.after = (now.at_work == 0).then(|| walk.clone());
    }
}

/// A command at work.
#[derive(Debug)]
pub(crate) struct AtWork(Arc<Tree>);

impl Drop for AtWork {
    fn drop(&mut self) {
        let mut now = self.0.now();
        now.at_work = now.at_work.saturating_sub(1);
        (now.before, now.after) = (None, None);
    }
}

#[cfg(test)]
mod tests;
