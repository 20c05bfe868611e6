//! The files that git's index names, read from the file: no program runs for it. An index of a form that is not known names none; the
//! walk finds the files then.

use super::super::branch;
use std::fs;
use std::io::Read;
use std::path::Path;

/// Bytes of an index that are read: a million files take less.
const MAX_INDEX: u64 = 256 * 1024 * 1024;
/// Bytes of an entry before its object's name.
const STAT: usize = 40;
/// Bytes of an object's name, in repositories of either kind.
const OBJECT: [usize; 2] = [20, 32];
/// Set in an entry's flags where two more bytes of them follow.
const EXTENDED: u16 = 0x4000;
/// The kind of an entry that stands for a whole folder, in its mode.
const FOLDER: u32 = 0o040_000;

/// The files below a folder that the index of the repository around it names, with their folders.
pub(super) fn paths(folder: &Path) -> Vec<String> {
    let mut around = folder.ancestors().filter_map(|dir| Some((dir, branch::folder(dir)?)));
    let Some((top, git)) = around.next() else { return Vec::new() };
    let Some(bytes) = read(&git.join("index")) else { return Vec::new() };
    let Some(below) = folder.strip_prefix(top).ok().and_then(Path::to_str) else { return Vec::new() };
    let below = if below.is_empty() { String::new() } else { format!("{below}/") };
    let names = OBJECT.into_iter().find_map(|object| names(&bytes, object)).unwrap_or_default();
    let mut paths: Vec<String> =
        names.iter().filter_map(|name| name.strip_prefix(below.as_str())).map(str::to_owned).collect();
    // Files of a folder follow each other: each folder is looked at once.
    let mut parents: Vec<&str> =
        paths.iter().filter_map(|path| path.rfind('/').map(|at| &path[..=at])).collect();
    parents.dedup();
    let above =
        |path: &&str| path.match_indices('/').map(|(at, _)| path[..=at].to_owned()).collect::<Vec<_>>();
    let mut folders: Vec<String> = parents.iter().flat_map(above).collect();
    folders.sort_unstable();
    folders.dedup();
    paths.append(&mut folders);
    paths
}

fn read(path: &Path) -> Option<Vec<u8>> {
    fs::metadata(path).ok().filter(|meta| meta.is_file() && meta.len() <= MAX_INDEX)?;
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(MAX_INDEX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// What the entries are called; nothing when they are not as this version of the form has them.
fn names(bytes: &[u8], object: usize) -> Option<Vec<String>> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let (version, count) = (number(4)?, number(8)?);
    if bytes.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let (mut names, mut at, mut last) = (Vec::new(), 12, Vec::new());
    for _ in 0..count {
        let flags_at = at + STAT + object;
        let flags = u16::from_be_bytes(bytes.get(flags_at..flags_at + 2)?.try_into().ok()?);
        let is_folder = number(at + 24)? & 0o170_000 == FOLDER;
        let mut name_at = flags_at + 2 + if version >= 3 && flags & EXTENDED != 0 { 2 } else { 0 };
        if version == 4 {
            let (cut, used) = offset(bytes.get(name_at..)?)?;
            name_at += used;
            last.truncate(last.len().checked_sub(cut)?);
        } else {
            last.clear();
        }
        let rest = bytes.get(name_at..)?;
        let long = rest.iter().position(|byte| *byte == 0)?;
        last.extend_from_slice(&rest[..long]);
        at = match version {
            4 => name_at + long + 1,
            // Filled up with one to eight zeros, so that the next begins at a multiple of eight.
            _ => at + ((name_at + long - at) / 8 + 1) * 8,
        };
        // A folder in the place of its files says nothing of them.
        match std::str::from_utf8(&last) {
            Ok(name) if !is_folder && is_sound(name) => names.push(name.to_owned()),
            Ok(name) if !is_folder || name.is_empty() => return None,
            Ok(_) | Err(_) => {}
        }
    }
    // Behind the entries there is only the sum over all, or a part whose name are letters.
    let rest = bytes.get(at..)?;
    let is_part = |name: &[u8]| name.iter().all(u8::is_ascii_alphabetic);
    (rest.len() == object || rest.len() > object && rest.get(..4).is_some_and(is_part)).then_some(names)
}

/// Whether it can be a file of the project: what git itself would never write is offered to nobody.
fn is_sound(name: &str) -> bool {
    !name.is_empty() && name.split('/').all(|part| !matches!(part, "" | "." | ".." | ".git"))
}

/// How many bytes of the name before are left out, and how many bytes say so.
fn offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (at, byte) in bytes.iter().enumerate().take(5) {
        value = (value << 7) | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
        value += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(folder: &Path, args: &[&str]) {
        let mut git = Command::new("git");
        git.arg("-C")
            .arg(folder)
            .args(args)
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        git.env("HOME", folder).env("GIT_CONFIG_NOSYSTEM", "1");
        let done = git.output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    #[test]
    fn what_git_holds_is_named_in_every_form_of_its_index() {
        for form in [&["init", "-q"][..], &["init", "-q", "--object-format=sha256"]] {
            for version in ["2", "3", "4"] {
                let folder = tempfile::tempdir().unwrap();
                git(folder.path(), form);
                for path in
                    ["README.md", "src/deep/main.rs", "src/deep/mainly.rs", "src/ünï code.rs", "later.rs"]
                {
                    let path = folder.path().join(path);
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, "").unwrap();
                }
                git(folder.path(), &["add", "README.md", "src"]);
                // An entry that is only meant to be added has flags that only the third form holds.
                git(folder.path(), &["add", "--intent-to-add", "later.rs"]);
                git(folder.path(), &["update-index", "--index-version", version]);
                let mut all = paths(folder.path());
                all.sort_unstable();
                let files =
                    ["README.md", "later.rs", "src/", "src/deep/", "src/deep/main.rs", "src/deep/mainly.rs"];
                assert_eq!(all[..6], files, "{form:?} {version}");
                assert_eq!(all[6], "src/ünï code.rs", "{form:?} {version}");
                assert_eq!(paths(&folder.path().join("src/deep")), ["main.rs", "mainly.rs"]);
            }
        }
    }

    #[test]
    fn an_index_that_is_none_names_nothing_and_ends() {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "-q"]);
        fs::write(folder.path().join("a"), "").unwrap();
        git(folder.path(), &["add", "a"]);
        let index = folder.path().join(".git/index");
        let whole = fs::read(&index).unwrap();
        for cut in 0..whole.len().min(90) {
            fs::write(&index, &whole[..cut]).unwrap();
            paths(folder.path());
            let mut wrong = whole.clone();
            wrong[cut] ^= 0xff;
            fs::write(&index, &wrong).unwrap();
            paths(folder.path());
        }
        assert_eq!(names(b"DIRC\0\0\0\x02\xff\xff\xff\xff", 20), None);
        assert!(!is_sound("../../etc/passwd") && !is_sound("/etc") && is_sound("a/b..c"));
    }
}
