//! What git has checked out in a folder, read from its files: no program runs for it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes of a file of git's that are looked at.
const MAX_HEAD: u64 = 4 * 1024;
/// Letters of a commit that is checked out without a branch.
const SHORT: usize = 8;

/// The branch of the repository around a folder, or the beginning of the commit; nothing where there is none.
pub(super) fn find(cwd: &Path) -> Option<String> {
    let git = cwd.ancestors().find_map(folder)?;
    let head = read(&git.join("HEAD"))?;
    let line = head.lines().next()?.trim();
    match line.strip_prefix("ref: ") {
        Some(name) => Some(name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()),
        None => line.get(..SHORT).filter(|_| line.bytes().all(|b| b.is_ascii_hexdigit())).map(str::to_owned),
    }
}

/// Git's own folder of this one: inside of it, or where a worktree says.
pub(super) fn folder(dir: &Path) -> Option<PathBuf> {
    let git = dir.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let said = read(&git)?;
    let place = said.lines().next()?.strip_prefix("gitdir:")?.trim();
    Some(dir.join(place))
}

/// The beginning of a file; a pipe in its place would be waited for.
fn read(path: &Path) -> Option<String> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(MAX_HEAD).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_is_read_where_git_keeps_it() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("a/.git/HEAD", "ref: refs/heads/feature/x\n");
        put("a/src/deep/file", "");
        put("loose/.git/HEAD", "0123456789abcdef0123456789abcdef01234567\n");
        put("tree/.git", "gitdir: ../a/.git/worktrees/tree\n");
        put("a/.git/worktrees/tree/HEAD", "ref: refs/heads/other\n");
        put("odd/.git/HEAD", "what is this\n");
        put("empty/.git/HEAD", "");
        put("bytes/.git", "gitdir: \0\n");
        for (folder, branch) in [
            ("a", Some("feature/x")),
            ("a/src/deep", Some("feature/x")),
            ("loose", Some("01234567")),
            ("tree", Some("other")),
            ("odd", None),
            ("empty", None),
            ("bytes", None),
            ("none", None),
        ] {
            assert_eq!(find(&dir.path().join(folder)).as_deref(), branch, "{folder}");
        }
    }
}
