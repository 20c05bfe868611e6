//! What is known of git: which of its commands only look, which lose work, and when its config makes it run programs.
//!
//! Options are listed, not refused: git has many, gets more, and some run a pager, a filter or `gpg`.

use super::linked_git::{LinkedGit, linked_git};
use super::lookers::known;
use super::table::has_option;
use std::path::{Path, PathBuf};

/// Entries of a repository's own directory that are looked at.
const MAX_ENTRIES: usize = 20_000;
/// Bytes of a repository's config that are looked at.
const MAX_CONFIG: u64 = 64 * 1024;
/// Largest index that is looked at.
const MAX_INDEX: u64 = 64 * 1024 * 1024;
/// The mode of an index entry that is a repository of its own.
const REPOSITORY: [u8; 4] = 0o160_000_u32.to_be_bytes();

/// A command that only looks, with the letters it may have: those that stand alone, and those whose value follows.
pub(super) struct ReadOnlyVerb {
    pub(super) verb: &'static str,
    pub(super) flags: &'static str,
    pub(super) valued: &'static str,
}

const fn read_only(verb: &'static str, flags: &'static str, valued: &'static str) -> ReadOnlyVerb {
    ReadOnlyVerb { verb, flags, valued }
}

pub(super) const READ_ONLY_VERBS: &[ReadOnlyVerb] = &[
    read_only("status", "sbvz", "u"),
    read_only("log", "abcdDgimpqrRstuvwWzEFP", "nUSGLlIBCM"),
    read_only("diff", "abcdDimpqrRstuvwWz", "USGlIBCM"),
    read_only("show", "abcdDimpqrRstuvwWz", "nUSGLlIBCM"),
    read_only("rev-list", "gimprtvzEF", "n"),
    read_only("shortlog", "snec", "w"),
    read_only("blame", "lterfnswbcp", "LSMC"),
    read_only("rev-parse", "q", ""),
    read_only("ls-files", "cdmoisukvtz", "x"),
    read_only("ls-tree", "rtdlz", ""),
    read_only("describe", "", ""),
    read_only("cat-file", "ptse", ""),
    read_only("merge-base", "a", ""),
    read_only("name-rev", "", ""),
    read_only("grep", "acEFGhHiIlLnopPqrvwWz", "ABCem"),
    read_only("show-ref", "dsqh", ""),
];

/// Long options of those commands.
pub(super) const LONG: &[&str] = &[
    "--abbrev",
    "--abbrev-commit",
    "--abbrev-ref",
    "--absolute-git-dir",
    "--after",
    "--all",
    "--always",
    "--ancestry-path",
    "--author",
    "--batch",
    "--batch-check",
    "--before",
    "--binary",
    "--branch",
    "--branches",
    "--cached",
    "--cc",
    "--check",
    "--cherry-mark",
    "--cherry-pick",
    "--color",
    "--color-moved",
    "--color-words",
    "--column",
    "--committer",
    "--compact-summary",
    "--contains",
    "--count",
    "--date",
    "--date-order",
    "--decorate",
    "--deleted",
    "--diff-algorithm",
    "--diff-filter",
    "--dirstat",
    "--email",
    "--error-unmatch",
    "--exact-match",
    "--exclude-standard",
    "--exit-code",
    "--files-with-matches",
    "--find-copies",
    "--find-renames",
    "--first-parent",
    "--fixed-strings",
    "--follow",
    "--format",
    "--full-history",
    "--full-index",
    "--full-name",
    "--function-context",
    "--git-dir",
    "--graph",
    "--grep",
    "--hash",
    "--head",
    "--heads",
    "--histogram",
    "--ignore-all-space",
    "--ignore-blank-lines",
    "--ignore-case",
    "--ignore-space-at-eol",
    "--ignore-space-change",
    "--ignored",
    "--invert-grep",
    "--is-ancestor",
    "--is-inside-work-tree",
    "--left-only",
    "--left-right",
    "--line-number",
    "--line-porcelain",
    "--long",
    "--match",
    "--max-count",
    "--max-parents",
    "--merge-base",
    "--merged",
    "--merges",
    "--min-parents",
    "--minimal",
    "--modified",
    "--name-only",
    "--name-status",
    "--no-abbrev-commit",
    "--no-color",
    "--no-decorate",
    "--no-ext-diff",
    "--no-merged",
    "--no-merges",
    "--no-patch",
    "--no-prefix",
    "--no-renames",
    "--no-textconv",
    "--numbered",
    "--numstat",
    "--oneline",
    "--others",
    "--parents",
    "--patch",
    "--patch-with-stat",
    "--patience",
    "--perl-regexp",
    "--pickaxe-all",
    "--pickaxe-regex",
    "--porcelain",
    "--pretty",
    "--quiet",
    "--raw",
    "--relative",
    "--remotes",
    "--reverse",
    "--right-only",
    "--root",
    "--short",
    "--shortstat",
    "--show-cdup",
    "--show-email",
    "--show-name",
    "--show-number",
    "--show-prefix",
    "--show-stash",
    "--show-toplevel",
    "--simplify-by-decoration",
    "--since",
    "--skip",
    "--stage",
    "--staged",
    "--stat",
    "--summary",
    "--symbolic-full-name",
    "--tags",
    "--text",
    "--topo-order",
    "--unified",
    "--until",
    "--untracked-files",
    "--verify",
    "--walk-reflogs",
    "--word-diff",
    "--word-diff-regex",
    "--word-regexp",
];

/// Plain forms of commands that would change something with other arguments.
const LISTS: &[&[&str]] = &[
    &["branch"],
    &["branch", "-a"],
    &["branch", "-v"],
    &["branch", "-vv"],
    &["branch", "-r"],
    &["branch", "--list"],
    &["branch", "--show-current"],
    &["tag"],
    &["tag", "-l"],
    &["tag", "--list"],
    &["remote"],
    &["remote", "-v"],
    &["stash", "list"],
    &["worktree", "list"],
];

/// What a repository's own config may say without making git run a program, obey another file or look into another repository. Listed
/// and not refused: git gets more settings all the time. A section without names may hold anything.
const SETTINGS: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "abbrev",
            "autocrlf",
            "bare",
            "bigfilethreshold",
            "compression",
            "eol",
            "filemode",
            "ignorecase",
            "logallrefupdates",
            "longpaths",
            "loosecompression",
            "precomposeunicode",
            "preloadindex",
            "protecthfs",
            "protectntfs",
            "quotepath",
            "repositoryformatversion",
            "safecrlf",
            "sharedrepository",
            "symlinks",
            "untrackedcache",
            "whitespace",
        ],
    ),
    ("extensions", &["objectformat"]),
    ("user", &["name", "email"]),
    ("author", &["name", "email"]),
    ("committer", &["name", "email"]),
    ("remote", &["url", "pushurl", "fetch", "push", "tagopt", "prune", "mirror"]),
    ("branch", &[]),
    ("advice", &[]),
    ("color", &[]),
    ("fetch", &[]),
    ("gc", &[]),
    ("init", &["defaultbranch"]),
    ("lfs", &[]),
    ("pack", &[]),
    ("pull", &[]),
    ("push", &[]),
    ("rebase", &[]),
    ("rerere", &[]),
    ("log", &["abbrevcommit", "date", "decorate", "follow"]),
    ("status", &["branch", "renames", "short", "showstash", "showuntrackedfiles"]),
    (
        "diff",
        &[
            "algorithm",
            "colormoved",
            "context",
            "indentheuristic",
            "interhunkcontext",
            "mnemonicprefix",
            "noprefix",
            "renamelimit",
            "renames",
        ],
    ),
];

/// What a repository's settings may say beside those without making a program run that the person's own settings name.
const MORE_SETTINGS: &[(&str, &[&str])] = &[
    ("core", &["sparsecheckout", "sparsecheckoutcone", "splitindex"]),
    ("extensions", &["partialclone", "worktreeconfig"]),
    ("index", &["sparse", "version"]),
    ("remote", &["promisor", "partialclonefilter"]),
    ("submodule", &["active", "url"]),
];
/// The same of what Git LFS obeys, which is a program of the person's: other settings of it name programs.
const LFS_SETTINGS: &[&str] = &["access", "locksverify", "repositoryformatversion"];

/// Whether a setting of a repository's, as git names it (`section.name.key`), makes git run nothing, nor any program that the person's own
/// settings name.
pub(crate) fn is_harmless_setting(name: &str) -> bool {
    let Some((section, rest)) = name.split_once('.') else { return false };
    let key = rest.rsplit('.').next().unwrap_or_default();
    if section == "lfs" {
        return LFS_SETTINGS.contains(&key);
    }
    let known =
        |(known, names): &(&str, &[&str])| *known == section && (names.is_empty() || names.contains(&key));
    SETTINGS.iter().chain(MORE_SETTINGS).any(known)
}

/// Whether git, so called, only looks.
pub(super) fn looks(args: &[&str]) -> bool {
    let args = match args {
        ["--no-pager" | "-P", rest @ ..] => rest,
        all => all,
    };
    if LISTS.contains(&args) {
        return true;
    }
    let Some((verb, rest)) = args.split_first() else { return false };
    let Some(look) = READ_ONLY_VERBS.iter().find(|look| look.verb == *verb) else { return false };
    let options = rest.iter().take_while(|arg| **arg != "--");
    let sedate =
        options.filter(|arg| arg.starts_with('-')).all(|arg| known(arg, look.flags, look.valued, LONG));
    // The format `%G?` runs `gpg`.
    let signs = rest.iter().any(|arg| arg.contains("%G"));
    // In the working tree it reads through links that stand where a directory was.
    let strays = *verb == "grep" && !rest.contains(&"--cached");
    sedate && !signs && !strays
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

/// Parts of a repository beside its config that bring another config or another repository's content, or that git runs although
/// it only looks.
const MORE: &[&str] = &[
    "config.worktree",
    "modules",
    "commondir",
    "hooks/post-index-change",
    "objects/info/alternates",
    "objects/info/http-alternates",
];

/// Whether git, started in `dir`, would obey a config that makes it run nothing else.
pub(super) fn is_plain(dir: &Path) -> bool {
    for dir in dir.ancestors() {
        let dot = dir.join(".git");
        match std::fs::symlink_metadata(&dot) {
            Ok(meta) if meta.is_dir() => {
                let more = MORE.iter().any(|name| std::fs::symlink_metadata(dot.join(name)).is_ok());
                let plain =
                    !more && !dir.join(".gitmodules").exists() && config_is_plain(&dot.join("config"));
                if !plain || may_hold_repositories(&dot) || holds_links(&dot) {
                    return false;
                }
                // Git passes over what is no whole repository and goes on above it: so do we.
            }
            Ok(_) => match linked_git(dir) {
                Some(linked) if worktree_is_plain(dir, &linked) => {}
                _ => return false,
            },
            Err(_) => {}
        }
        // A directory that is itself a bare repository brings its own config. Git takes a link that leads nowhere for a HEAD, and looks for
        // the rest elsewhere when it is told to.
        let has = |name: &str| std::fs::symlink_metadata(dir.join(name)).is_ok();
        if has("HEAD") && (has("objects") || has("refs") || has("commondir")) {
            return false;
        }
    }
    true
}

/// Whether git obeys only settings in a worktree whose repository lies elsewhere.
fn worktree_is_plain(dir: &Path, linked: &LinkedGit) -> bool {
    let has = |path: PathBuf| std::fs::symlink_metadata(path).is_ok();
    let more = MORE.iter().any(|name| has(linked.common.join(name)));
    !more
        && !has(linked.records.join("config.worktree"))
        && !has(dir.join(".gitmodules"))
        && config_is_plain(&linked.common.join("config"))
        && !may_hold_repositories(&linked.records)
        && !holds_links(&linked.common)
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

/// Whether a part of the repository is a link. It may lead out of the workspace: to another repository's content, or to a file
/// that git quotes when it cannot understand it. Single objects are left out: what is no object is not shown.
fn holds_links(dot: &Path) -> bool {
    let objects = dot.join("objects");
    let (mut dirs, mut seen) = (vec![dot.to_owned()], 0);
    while let Some(dir) = dirs.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else { return true };
        for entry in entries {
            seen += 1;
            let Ok(Ok(kind)) = entry.as_ref().map(std::fs::DirEntry::file_type) else { return true };
            let Ok(entry) = entry else { return true };
            if kind.is_symlink() || seen > MAX_ENTRIES {
                return true;
            }
            let single = dir == objects && entry.file_name().len() == 2;
            if kind.is_dir() && !single {
                dirs.push(entry.path());
            }
        }
    }
    false
}

fn config_is_plain(path: &Path) -> bool {
    match std::fs::metadata(path) {
        Ok(meta) if meta.len() <= MAX_CONFIG => {}
        _ => return false,
    }
    std::fs::read_to_string(path).is_ok_and(|text| says_only_settings(&text))
}

fn says_only_settings(text: &str) -> bool {
    let mut section = None;
    for line in text.lines().map(str::trim) {
        // Git goes on in the next line after a backslash, and lets names follow a header at once: neither is read here.
        if line.ends_with('\\') {
            return false;
        }
        match line.chars().next() {
            None | Some('#' | ';') => {}
            Some('[') => {
                let Some(header) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) else {
                    return false;
                };
                let name = header.split([' ', '\t', '"', '.']).next().unwrap_or_default();
                let plain = !header.contains(['[', ']', '\\', '=']);
                section = SETTINGS.iter().find(|(known, _)| plain && known.eq_ignore_ascii_case(name));
                if section.is_none() {
                    return false;
                }
            }
            Some(_) => {
                let key = line.split(['=', ' ', '\t']).next().unwrap_or_default();
                let known = |names: &[&str]| {
                    names.is_empty() || names.iter().any(|known| known.eq_ignore_ascii_case(key))
                };
                if !section.is_some_and(|(_, names)| known(names)) {
                    return false;
                }
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{is_harmless_setting, says_only_settings};

    #[test]
    fn a_setting_that_could_have_something_run_is_not_harmless() {
        for name in [
            "core.filemode",
            "remote.origin.url",
            "remote.a.b.promisor",
            "lfs.repositoryformatversion",
            "lfs.https://x.org/y.git/info/lfs.access",
            "branch.main.remote",
        ] {
            assert!(is_harmless_setting(name), "{name}");
        }
        for name in [
            "core.sshcommand",
            "core.worktree",
            "include.path",
            "includeif.onbranch:x.path",
            "remote.origin.uploadpack",
            "lfs.customtransfer.x.path",
            "lfs.extension.x.clean",
            "lfs.standalonetransferagent",
            "protocol.ext.allow",
            "credential.helper",
            "filter.x.clean",
            "lfs",
        ] {
            assert!(!is_harmless_setting(name), "{name}");
        }
    }

    #[test]
    fn a_config_is_plain_when_every_setting_of_it_is_known_to_be() {
        let usual = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[remote \"origin\"]\n\turl = x@y:z\n\t\
                     fetch = +refs/heads/*:refs/remotes/origin/*\n# a word\n[branch \"main\"]\n\tremote = origin\n";
        assert!(says_only_settings(usual));
        assert!(says_only_settings(""));
        for odd in [
            "[core]\nfsmonitor = x",
            "[core]\nworktree = /x",
            "[diff]\nexternal = x",
            "[diff]\nsubmodule = diff",
            "[diff \"x\"]\ntextconv = x",
            "[status]\nsubmoduleSummary = true",
            "[format]\npretty = \"%\"G?",
            "[include]\npath = x",
            "[includeIf \"gitdir:/\"]\npath = x",
            "[filter \"x\"]\nclean = x",
            "[core] fsmonitor = x",
            "[user]\nname = a\\\nb",
            "name = x",
            "[blame]\nignoreRevsFile = x",
            "[extensions]\nworktreeConfig = true",
            "[remote \"a]\\\"\"]\nurl = x",
            "[alias]\nx = !y",
        ] {
            assert!(!says_only_settings(odd), "{odd}");
        }
    }
}
