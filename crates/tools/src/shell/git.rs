//! What is known of git: which of its commands only look, which lose work, and when its config makes it run programs.

use super::table::{self, has_option};
use std::path::Path;

/// Bytes of a repository's config that are looked at.
const MAX_CONFIG: u64 = 64 * 1024;
/// Largest index that is looked at.
const MAX_INDEX: u64 = 64 * 1024 * 1024;
/// The mode of an index entry that is a repository of its own.
const REPOSITORY: [u8; 4] = 0o160_000_u32.to_be_bytes();

/// Whether git, so called, only looks.
pub(super) fn looks(args: &[&str]) -> bool {
    let args = match args {
        ["--no-pager" | "-P", rest @ ..] => rest,
        all => all,
    };
    let Some((verb, rest)) = args.split_first() else { return false };
    let listed = table::GIT_LISTS.contains(&args);
    let sedate = !rest.iter().any(|arg| has_option(arg, table::GIT_SHORT, table::GIT_LONG));
    listed || table::GIT_LOOKS.contains(verb) && sedate
}

/// Why git, so called, cannot be undone, if that is so.
pub(super) fn destroys(args: &[&str]) -> Option<String> {
    let has = |short: &str, long: &[&str]| args.iter().any(|arg| has_option(arg, short, long));
    let verb = args.iter().find(|arg| !arg.starts_with('-'))?;
    let lost = match *verb {
        "push" => {
            has("fd", &["--force", "--force-with-lease", "--mirror", "--delete", "--prune"])
                || args.iter().any(|arg| arg.starts_with(['+', ':']))
        }
        "reset" => has("", &["--hard"]),
        "clean" => has("fdxX", &["--force"]),
        "filter-branch" | "filter-repo" => true,
        "reflog" => args.contains(&"expire") || args.contains(&"delete"),
        "stash" => args.contains(&"clear") || args.contains(&"drop"),
        _ => false,
    };
    lost.then(|| format!("`git {verb}` throws work away"))
}

/// Whether git, so called, may lose changes.
pub(super) fn loses(verb: &str, words: &[Option<&str>]) -> bool {
    let deletes = || words.iter().flatten().any(|arg| has_option(arg, "dDfM", &["--delete", "--force"]));
    matches!(
        verb,
        "checkout"
            | "restore"
            | "switch"
            | "reset"
            | "clean"
            | "update-ref"
            | "gc"
            | "prune"
            | "worktree"
            | "config"
    ) || matches!(verb, "branch" | "tag") && deletes()
}

/// Parts of a repository beside its config that bring another config, or that git runs although it only looks.
const MORE: &[&str] = &["config.worktree", "modules", "commondir", "hooks/post-index-change"];

/// Whether git, started in `dir`, would obey a config that makes it run nothing else.
pub(super) fn is_plain(dir: &Path) -> bool {
    for dir in dir.ancestors() {
        let dot = dir.join(".git");
        match std::fs::symlink_metadata(&dot) {
            Ok(meta) if meta.is_dir() => {
                let more = MORE.iter().any(|name| std::fs::symlink_metadata(dot.join(name)).is_ok());
                let plain =
                    !more && !dir.join(".gitmodules").exists() && config_is_plain(&dot.join("config"));
                if !plain || may_hold_repositories(&dot) {
                    return false;
                }
                // Git passes over what is no whole repository and goes on above it: so do we.
            }
            Ok(_) => return false,
            Err(_) => {}
        }
        // A directory that is itself a bare repository brings its own config.
        if dir.join("HEAD").exists() && dir.join("objects").exists() {
            return false;
        }
    }
    true
}

/// Whether the index may name other repositories, as submodules do: git looks into them and obeys their configs.
fn may_hold_repositories(dot: &Path) -> bool {
    let index = dot.join("index");
    match std::fs::metadata(&index) {
        Err(error) => return error.kind() != std::io::ErrorKind::NotFound,
        Ok(meta) if meta.len() > MAX_INDEX => return true,
        Ok(_) => {}
    }
    let (Ok(index), Ok(mut names)) = (std::fs::read(&index), std::fs::read_dir(dot)) else { return true };
    // Parts of an index may be kept in a file beside it.
    let shared = names.any(|name| {
        name.map_or(true, |name| name.file_name().as_encoded_bytes().starts_with(b"sharedindex"))
    });
    // Searched for, not parsed: a hash that looks the same only makes for one question more.
    shared || index.windows(REPOSITORY.len()).any(|bytes| bytes == REPOSITORY)
}

fn config_is_plain(path: &Path) -> bool {
    match std::fs::metadata(path) {
        Ok(meta) if meta.len() <= MAX_CONFIG => {}
        _ => return false,
    }
    let Ok(text) = std::fs::read_to_string(path) else { return false };
    let text = text.to_ascii_lowercase();
    !table::GIT_RUNS.iter().any(|word| text.contains(word))
}
