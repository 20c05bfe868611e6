//! Puts files where they shall be: each in one step, in an order in which none is in the way of another.
//!
//! Invariants: a path is written only while it holds what it is said to hold; no link is followed on the way to it; each file is whole
//! whenever the machine stops. What was done when something failed stays done: the caller has it written down and can go on.

use super::image::Image;
use super::scan;
use crate::digest;
use crate::exact::{self, Spot};
use crate::tool::ToolError;
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// One path on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) path: PathBuf,
    pub(crate) from: Image,
    pub(crate) to: Image,
}

/// What the owner of a folder needs to work in it.
pub(crate) const OWNER: u32 = 0o700;

/// What becomes of a move that failed: it goes on without it, or ends with these words.
pub(crate) type Failed<'a> = &'a mut dyn FnMut(&Path, String) -> Result<(), String>;

/// Does all moves, which must be sorted by path. `failed` hears at which path something went wrong, and why; nothing more is done to
/// that path.
///
/// # Errors
/// What `failed` says.
pub(crate) fn perform(
    root: &Path,
    moves: &[Move],
    content: &dyn Fn(&str) -> Result<Vec<u8>, String>,
    failed: Failed<'_>,
) -> Result<(), String> {
    let mut left: BTreeSet<&Path> = BTreeSet::new();
    let mut note = |one: &'_ Move, done: Result<(), String>| match done {
        Ok(()) => Ok(true),
        Err(why) => failed(&one.path, why).map(|()| false),
    };
    for one in moves {
        // A folder that was closed to its owner lets nobody in to put things back.
        if let (Image::Folder { mode }, false) = (&one.from, is_open(&one.from)) {
            let opened = at(root, &one.path).and_then(|spot| spot.set_folder_mode(mode | OWNER));
            if !note(one, opened.map_err(|why| why.to_string()))? {
                left.insert(&one.path);
            }
        }
    }
    for one in moves.iter().rev().filter(|one| one.to == Image::Absent || !one.from.is_alike(&one.to)) {
        if left.contains(one.path.as_path()) {
            continue;
        }
        // Nothing is removed for what is not to be had.
        let had = one.to.digest().map_or(Ok(()), |digest| content(digest).map(drop));
        if !note(one, had.and_then(|()| remove(root, one)))? {
            left.insert(&one.path);
        }
    }
    for one in moves {
        if !left.contains(one.path.as_path()) && !note(one, put(root, one, content))? {
            left.insert(&one.path);
        }
    }
    for one in moves.iter().filter(|one| !left.contains(one.path.as_path())) {
        if let Image::Folder { mode } = one.to {
            let set = at(root, &one.path).and_then(|spot| spot.set_folder_mode(mode));
            note(one, set.map_err(|why| why.to_string()))?;
        }
    }
    sync_folders(root, moves);
    Ok(())
}

fn is_open(image: &Image) -> bool {
    matches!(image, Image::Folder { mode } if mode & OWNER == OWNER)
}

fn at(root: &Path, path: &Path) -> io::Result<Spot> {
    Spot::find(&root.join(path))
}

/// What is there, as far as it can be compared with what is expected.
fn holds(spot: &Spot, expected: &Image) -> Result<bool, String> {
    match expected {
        Image::Absent => Ok(!spot.is_there()),
        Image::Link { target } => Ok(spot.link().is_ok_and(|now| Path::new(&now) == target)),
        Image::File { digest: known, .. } => {
            let Ok(mut file) = spot.open() else { return Ok(false) };
            Ok(digest::of_open(&mut file).map_err(|why| why.to_string())? == *known)
        }
        Image::Folder { .. } => Ok(spot.is_there()),
        Image::Unkept { stamp } => Ok(spot.metadata().is_ok_and(|meta| scan::stamp_of(&meta) == *stamp)),
    }
}

const CHANGED: &str = "it changed just now; say it again to go on with the rest";

fn remove(root: &Path, one: &Move) -> Result<(), String> {
    let spot = match at(root, &one.path) {
        Ok(spot) => spot,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(why) => return Err(why.to_string()),
    };
    if let Image::Folder { .. } = one.from {
        return match spot.remove_folder() {
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(()),
            // It holds what is not ours to remove.
            Err(why)
                if one.to == Image::Absent
                    && matches!(Errno::from_io_error(&why), Some(Errno::NOTEMPTY | Errno::EXIST)) =>
            {
                Ok(())
            }
            removed => removed.map_err(|why| why.to_string()),
        };
    }
    if !holds(&spot, &one.from)? {
        return Err(CHANGED.to_owned());
    }
    spot.remove().map_err(|why| why.to_string())
}

fn put(root: &Path, one: &Move, content: &dyn Fn(&str) -> Result<Vec<u8>, String>) -> Result<(), String> {
    let full = root.join(&one.path);
    let make = || Spot::make(&full).map_err(|why| why.to_string());
    // What could not stay is gone by now.
    let expected = if one.from.is_alike(&one.to) { &one.from } else { &Image::Absent };
    match &one.to {
        Image::Absent | Image::Unkept { .. } => Ok(()),
        Image::Folder { .. } => make()?.make_folder().map_err(|why| why.to_string()),
        Image::Link { target } => {
            let spot = make()?;
            if !holds(&spot, expected)? {
                return Err(CHANGED.to_owned());
            }
            spot.put_link(target).map_err(|why| why.to_string())
        }
        Image::File { digest, mode } => {
            let spot = make()?;
            let content = content(digest)?;
            let still = |spot: &Spot| match holds(spot, expected) {
                Ok(true) => Ok(()),
                Ok(false) => Err(ToolError::path(Path::new(""), CHANGED)),
                Err(why) => Err(ToolError::path(Path::new(""), why)),
            };
            let permissions = Some(Permissions::from_mode(*mode));
            spot.put(&content, permissions, still, ToolError::at_path("undo", &full)).map_err(words)
        }
    }
}

/// The path is said by whoever hears of it.
fn words(error: ToolError) -> String {
    match error {
        ToolError::Path { why, .. } => why,
        ToolError::Io { source, .. } => source.to_string(),
        ToolError::Stale { .. } => "the way to it leads elsewhere by now".to_owned(),
        other => other.to_string(),
    }
}

/// Names of files are kept by their folders. One that is gone with what it held needs none.
fn sync_folders(root: &Path, moves: &[Move]) {
    let folders: BTreeSet<PathBuf> =
        moves.iter().filter_map(|one| Some(root.join(one.path.parent()?))).collect();
    for folder in folders {
        if let Ok(folder) = exact::open_folder(&folder) {
            let _ = rustix::fs::fsync(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::image::shown;

    #[test]
    fn what_changed_in_the_last_moment_is_neither_written_over_nor_removed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let file = |text: &str| Image::File { digest: digest::hex(text.as_bytes()), mode: 0o644 };
        let content = |_: &str| Ok(b"ours".to_vec());
        let mut stop = |path: &Path, why: String| Err(format!("{}: {why}", shown(path)));
        for to in
            [file("ours"), Image::Absent, Image::Link { target: "x".into() }, Image::Folder { mode: 0o755 }]
        {
            std::fs::write(root.join("a"), "typed just now").unwrap();
            let moves = [Move { path: "a".into(), from: file("planned"), to }];
            let why = perform(&root, &moves, &content, &mut stop).unwrap_err();
            assert!(why.starts_with("a: it changed just now"), "{why}");
            assert_eq!(std::fs::read_to_string(root.join("a")).unwrap(), "typed just now");
        }
        let moves = [Move { path: "a".into(), from: Image::Absent, to: file("ours") }];
        assert!(perform(&root, &moves, &content, &mut stop).is_err());
        assert_eq!(std::fs::read_dir(&root).unwrap().count(), 1, "nothing is left beside it");
    }
}
