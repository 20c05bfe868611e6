//! What changed between two looks at a workspace, and what only came into sight: files that were there before, where nobody looked.

use super::image::Image;
use super::scan::Snapshot;
use super::stamp::StampedImage;
use super::step::Change;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::cell::LazyCell;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Files that say what git ignores in their folder and below.
pub(super) const RULES: &str = ".gitignore";
/// What says so for the whole workspace, where nobody looks.
const EXCLUDE: &str = ".git/info/exclude";
/// How far the clock of files may be behind that of programs.
const CLOCK: Duration = Duration::from_millis(100);

/// The outcome of a comparison.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) changes: Vec<Change>,
    /// What is in sight now, and older than the first look: it was moved here from where nobody looks, or is no longer ignored. It is
    /// nobody's to remove.
    pub(crate) strangers: Vec<PathBuf>,
}

/// Compares two looks at `root`, the first of which began at `since`. `content` has what files held.
pub(crate) fn between(
    root: &Path,
    before: &Snapshot,
    after: &Snapshot,
    since: SystemTime,
    content: &dyn Fn(&str) -> Option<Vec<u8>>,
) -> Changes {
    let mut found = Changes::default();
    let differing = differing(before, after, |was, is| was.image == is.image);
    if differing.is_empty() {
        return found;
    }
    let hidden = Hidden::find(root, &differing, since, content);
    // Few looks find something new, and need these.
    let inodes: LazyCell<HashSet<(u64, u64)>, _> = LazyCell::new(|| before.values().map(inode).collect());
    for (path, was, now) in differing {
        let name = Path::new(path);
        if let (None, Some(now)) = (was, now)
            && !inodes.contains(&inode(now))
            && (is_older(&root.join(name), since) || hidden.held(name, &now.image))
        {
            found.strangers.push(name.to_owned());
            continue;
        }
        let image = |seen: Option<&StampedImage>| seen.map_or(Image::Absent, |seen| seen.image.clone());
        found.changes.push(Change { path: name.to_owned(), before: image(was), after: image(now) });
    }
    // What is gone comes last.
    found.changes.sort_by_key(|change| change.after == Image::Absent);
    found
}

/// A path at which two looks saw something other.
pub(super) type Differing<'a> = (&'a OsString, Option<&'a StampedImage>, Option<&'a StampedImage>);

/// All of them, in the order of their paths. Both looks are, so they are gone through side by side.
pub(super) fn differing<'a>(
    before: &'a Snapshot,
    after: &'a Snapshot,
    is_same: impl Fn(&StampedImage, &StampedImage) -> bool,
) -> Vec<Differing<'a>> {
    let mut found = Vec::new();
    if std::ptr::eq(before, after) {
        return found;
    }
    let (mut was, mut now) = (before.iter().peekable(), after.iter().peekable());
    loop {
        let order = match (was.peek(), now.peek()) {
            (None, None) => return found,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((one, _)), Some((other, _))) => one.cmp(other),
        };
        let old = if order.is_le() { was.next() } else { None };
        let new = if order.is_ge() { now.next() } else { None };
        let is_same = old.zip(new).is_some_and(|((_, old), (_, new))| is_same(old, new));
        if let Some((path, _)) = old.or(new).filter(|_| !is_same) {
            found.push((path, old.map(|(_, seen)| seen), new.map(|(_, seen)| seen)));
        }
    }
}

/// What may have been there where nobody looked, because it was ignored by rules that changed since. When a file was made does not
/// tell: one that is written anew and moved into its place is a new one.
#[derive(Debug, Default)]
struct Hidden {
    /// Rules as they were, and as they are now.
    rules: Vec<(Gitignore, Gitignore)>,
    /// Folders below which nobody knows what was ignored.
    unknown: Vec<PathBuf>,
}

impl Hidden {
    fn find(
        root: &Path,
        differing: &[Differing<'_>],
        since: SystemTime,
        content: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Hidden {
        let mut hidden = Hidden::default();
        // In a repository that was made meanwhile there were none.
        if is_since(&root.join(EXCLUDE), since, Metadata::modified)
            && !is_since(&root.join(".git"), since, Metadata::created)
        {
            hidden.unknown.push(PathBuf::new());
        }
        let text = |image: Option<&Image>| match image {
            None => Some(String::new()),
            Some(image) => Some(String::from_utf8_lossy(&content(image.digest()?)?).into_owned()),
        };
        for (path, was, now) in differing {
            if Path::new(path).file_name() != Some(OsStr::new(RULES)) {
                continue;
            }
            let images = [was, now].map(|look| look.map(|seen| &seen.image));
            let folder = Path::new(path).parent().unwrap_or(Path::new(""));
            let rules = |text: String| {
                let mut rules = GitignoreBuilder::new(folder);
                for line in text.lines() {
                    // A line that is no rule hides nothing.
                    let _ = rules.add_line(None, line);
                }
                rules.build().ok()
            };
            match images.map(|image| text(image).and_then(rules)) {
                [Some(old), Some(new)] => hidden.rules.push((old, new)),
                _ => hidden.unknown.push(folder.to_owned()),
            }
        }
        hidden
    }

    fn held(&self, path: &Path, image: &Image) -> bool {
        let is_folder = matches!(image, Image::Folder { .. });
        // What is wanted now in spite of other rules may have come into sight, too.
        let ignored = |(old, new): &(Gitignore, Gitignore)| {
            path.starts_with(old.path())
                && (old.matched_path_or_any_parents(path, is_folder).is_ignore()
                    || new.matched_path_or_any_parents(path, is_folder).is_whitelist())
        };
        self.unknown.iter().any(|folder| path.starts_with(folder)) || self.rules.iter().any(ignored)
    }
}

/// Whether one of a file's times is after a moment, where the system knows that.
fn is_since(full: &Path, moment: SystemTime, time: fn(&Metadata) -> std::io::Result<SystemTime>) -> bool {
    full.symlink_metadata().and_then(|meta| time(&meta)).is_ok_and(|at| at + CLOCK >= moment)
}

fn inode(seen: &StampedImage) -> (u64, u64) {
    (seen.stamp.device, seen.stamp.inode)
}

/// Whether something was made before a moment, where the system knows that.
fn is_older(full: &Path, moment: SystemTime) -> bool {
    let made = full.symlink_metadata().ok().and_then(|meta| meta.created().ok());
    made.is_some_and(|made| moment.duration_since(made).is_ok_and(|age| age > CLOCK))
}
