//! The files of a workspace that steer programs (`domain::steering` has their names): where they lie, and which of them a command may not
//! touch.
//!
//! Found by a walk that goes down level by level and ends somewhere: what lies deeper than it got is not protected. Folders that hold
//! what was installed or built are passed over: nobody opens them as a project of their own.

pub(crate) mod compare;
pub mod imports;
pub(crate) mod question;
mod watch;

use crate::shell::{git_word, small};
use crate::tree::{self, Keep, Root, TreeWalk};
use std::path::{Path, PathBuf};

pub use crate::shell::{LinkedGit, linked_git};
pub use watch::SteeringWatch;

/// Entries that one walk looks at.
pub const MAX_WALKED: usize = tree::MAX_SEARCHED;
/// Entries of a folder that are listed; in a larger one each name that steers is looked for.
const MAX_LISTED: usize = 1024;
/// Places that are locked, the shallow ones first; those past it are only compared.
const MAX_LOCKS: usize = 1024;
/// Instructions of one agent that take in other files, as they are usually spelt.
const TAKE_IN: [&str; 2] = ["CLAUDE.md", "CLAUDE.local.md"];
/// Parts of a repository that make git run something or obey somebody.
const GIT: &[&str] = &["hooks", "config", "config.worktree", "info", "commondir"];
/// Parts of a repository that hold more repositories.
const GIT_MORE: &[&str] = &["modules", "worktrees"];
/// Of yarn's folder only this is run; the rest is a cache that it writes.
const YARN: (&str, &[&str]) = (".yarn", &["releases", "plugins", "sdks"]);

/// Whether a person agreed that git writes its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commits {
    /// They did: `.git` is open but for what makes git run something. What git checks out may steer too, so that is left to comparison.
    Agreed,
    /// They did not.
    Not,
}

/// The places below `root` that steer: files, and folders as a whole. What matters most comes first: the shallow ones, and of those the
/// ones that every program takes for what they are. Also tells whether the walk ended before it was through.
pub fn places(root: &Path) -> (Vec<PathBuf>, bool) {
    places_of(root, walk(root).as_ref())
}

/// The same where the workspace was walked through already.
fn places_of(root: &Path, walk: Option<&TreeWalk>) -> (Vec<PathBuf>, bool) {
    let (mut found, cut) = walked(root, walk);
    // Looked for by name as well: whoever fills a folder with other things must not hide them from the walk.
    found.extend(own(root));
    let led: Vec<PathBuf> = found.iter().flat_map(|place| led_to(root, place)).collect();
    found.extend(led);
    found.sort_by_cached_key(|place| {
        let name = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        (place.components().count(), !spellings(&name.to_ascii_lowercase()).contains(&name), place.clone())
    });
    found.dedup();
    (found, cut)
}

/// Whether a resolved path of the workspace is where a name right in its root leads that steers: a link, or git's word on where it keeps its
/// records.
pub(crate) fn is_led_to(root: &Path, path: &Path) -> Option<String> {
    // Instructions of the folders above may take it in.
    let above = path.ancestors().skip(1).take_while(|above| *above != root && above.starts_with(root));
    let taking = above.flat_map(|folder| TAKE_IN.map(|name| folder.join(name))).filter(|file| file.is_file());
    let place = own(root).into_iter().chain(taking).find(|place| leads_to(root, place, path))?;
    Some(place.file_name()?.to_string_lossy().into_owned())
}

/// The instructions anywhere in the workspace that take in other files. Walks the workspace.
pub(crate) fn taking_in(root: &Path) -> Vec<PathBuf> {
    walked(root, walk(root).as_ref()).0.into_iter().filter(|place| imports::takes_in(place)).collect()
}

/// Which of these instructions takes in a resolved path, as it would be said to a person.
pub(crate) fn taken_in_by(root: &Path, instructions: &[PathBuf], path: &Path) -> Option<String> {
    let file = instructions.iter().find(|file| leads_to(root, file, path))?;
    Some(file.strip_prefix(root).unwrap_or(file).display().to_string())
}

/// Whether a place that steers leads to this path. Below a name that nothing has yet anything may lie.
fn leads_to(root: &Path, place: &Path, path: &Path) -> bool {
    let fits = |target: &PathBuf| path == target || path.starts_with(target) && target.is_dir();
    led_to(root, place).iter().any(fits)
}

/// Where a place that steers leads inside of the workspace, if it is a link, names another place or takes it in: that steers too.
fn led_to(root: &Path, place: &Path) -> Vec<PathBuf> {
    let real = |path: &Path| path.canonicalize().ok();
    let Some(top) = real(root) else { return Vec::new() };
    let is_link = place.is_symlink();
    let is_git = place.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
    let mut targets: Vec<PathBuf> = is_link.then(|| real(place)).flatten().into_iter().collect();
    if is_git {
        let above = place.parent().unwrap_or(root);
        let told =
            if place.is_file() { git_word(place, "gitdir:").map(|told| above.join(told)) } else { None };
        let records = told.as_deref().and_then(real);
        let common = records.as_ref().and_then(|records| {
            Some(real(&records.join(git_word(&records.join("commondir"), "")?)).unwrap_or_default())
        });
        let config = common.as_deref().or(records.as_deref()).unwrap_or(place).join("config");
        let hooks = git_setting(&config, "hookspath").and_then(|told| real(&above.join(told)));
        targets.extend(records.into_iter().chain(common).flat_map(|records| parts_of_git(&records)));
        targets.extend(hooks);
    }
    if imports::takes_in(place)
        && let Ok(text) = imports::read(place)
    {
        let inside = |path: &Path| path.starts_with(&top).then_some(()).ok_or_else(String::new);
        targets.extend(imports::imports(place, &text, None, &inside).into_iter().map(|import| import.path));
    }
    let inside = targets.into_iter().filter_map(|target| Some(target.strip_prefix(&top).ok()?.to_owned()));
    inside.filter(|inner| !inner.as_os_str().is_empty()).map(|inner| root.join(inner)).collect()
}

/// What a command in a worktree of `linked` may not write of the repository, although it commits.
pub(crate) fn locks_of_linked(linked: &LinkedGit) -> Vec<PathBuf> {
    let mut locked = parts_of_git(&linked.common);
    locked.truncate(MAX_LOCKS);
    locked
}

/// The last value of a setting of git's, by the end of its line. A value that is written in another way is caught by other means.
fn git_setting(config: &Path, name: &str) -> Option<String> {
    let text = small(config)?;
    let mut values = text.lines().filter_map(|line| line.split_once('='));
    let found = values.rfind(|(key, _)| key.trim().eq_ignore_ascii_case(name))?;
    Some(found.1.trim().trim_matches('"').to_owned())
}

/// The places right in `root`. Every command line asks for them several times: a listing is two calls to the system, the names are
/// hundreds. A folder that somebody filled with other things hides none of them all the same.
fn own(root: &Path) -> Vec<PathBuf> {
    listed(root).unwrap_or_else(|| by_name(root))
}

/// The places that a listing of `root` shows, if it was seen to its end.
fn listed(root: &Path) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    for (count, entry) in std::fs::read_dir(root).ok()?.enumerate() {
        if count == MAX_LISTED {
            return None;
        }
        let name = entry.ok()?.file_name();
        if domain::steering::part(name.to_str()).is_some() {
            found.push(root.join(name));
        }
    }
    Some(found)
}

/// The places that are there under a name as it is usually spelt.
fn by_name(root: &Path) -> Vec<PathBuf> {
    let names = domain::steering::names().iter().flat_map(|name| {
        let mut written = spellings(name).to_vec();
        // A name that begins with a dot has no capital.
        written.dedup();
        written.truncate(if name.starts_with('.') { 2 } else { written.len() });
        written
    });
    names.map(|name| root.join(name)).filter(|place| place.symlink_metadata().is_ok()).collect()
}

/// How people write a name: `agents.md`, `AGENTS.md`, `Agents.md`.
fn spellings(name: &str) -> [String; 3] {
    let (stem, end) = name.split_at(name.rfind('.').filter(|at| *at > 0).unwrap_or(name.len()));
    let mut letters = stem.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase()).into_iter();
    let capital: String = first.chain(letters).collect();
    [name.to_owned(), format!("{}{end}", stem.to_ascii_uppercase()), format!("{capital}{end}")]
}

/// Walks through a workspace for nothing but names that steer.
fn walk(root: &Path) -> Option<TreeWalk> {
    let nothing = Keep { files: 0, go_on: &|| Ok(()) };
    let root = root.canonicalize().ok()?;
    Root::open(&root).ok().map(|folder| TreeWalk::through(&folder, &root, &nothing, None))
}

fn walked(root: &Path, walk: Option<&TreeWalk>) -> (Vec<PathBuf>, bool) {
    let (found, cut) = walk.map(TreeWalk::steering).unwrap_or_default();
    (found.iter().map(|place| root.join(place)).collect(), cut)
}

/// Whether a folder holds what was installed or built.
pub fn is_heavy(folder: &Path, name: &str) -> bool {
    tree::is_heavy(folder, name)
}

/// What a command in `root` may not write, and what it may write but not move: for [`crate::sandbox::Leash`].
pub fn locks(root: &Path, commits: Commits) -> (Vec<PathBuf>, Vec<PathBuf>) {
    locks_of(root, walk(root).as_ref(), commits)
}

/// The same where the workspace was walked through already.
pub(crate) fn locks_of(
    root: &Path,
    walk: Option<&TreeWalk>,
    commits: Commits,
) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut locked, mut pinned) = (Vec::new(), Vec::new());
    for place in places_of(root, walk).0 {
        let name =
            place.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        match commits {
            Commits::Agreed if name == ".git" && place.is_dir() => {
                locked.extend(parts_of_git(&place));
                pinned.push(place);
            }
            Commits::Agreed => {}
            Commits::Not if name == YARN.0 => {
                locked.extend(YARN.1.iter().map(|part| place.join(part)).filter(|part| part.exists()));
            }
            Commits::Not => locked.push(place),
        }
    }
    locked.truncate(MAX_LOCKS);
    pinned.truncate(MAX_LOCKS);
    (locked, pinned)
}

/// The parts of a repository, and of those inside it, that make git run something.
fn parts_of_git(git: &Path) -> Vec<PathBuf> {
    let mut repositories = vec![git.to_owned()];
    for more in GIT_MORE {
        let inner = std::fs::read_dir(git.join(more)).into_iter().flatten().flatten().take(MAX_LOCKS);
        repositories.extend(inner.map(|entry| entry.path()));
    }
    let parts = repositories.iter().flat_map(|repository| GIT.iter().map(|part| repository.join(part)));
    parts.filter(|part| part.symlink_metadata().is_ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for file in files {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), "").unwrap();
        }
        (dir, root)
    }

    fn below(root: &Path, paths: &[PathBuf]) -> Vec<String> {
        paths.iter().map(|path| path.strip_prefix(root).unwrap().display().to_string()).collect()
    }

    #[test]
    fn a_worktree_leads_to_its_repository_only_where_that_says_so_too() {
        let (_dir, top) = workspace(&[
            "repo/.git/config",
            "repo/.git/worktrees/w/HEAD",
            "repo/.git/hooks/x",
            "w/a.txt",
            "thief/a.txt",
        ]);
        let put = |name: &str, text: String| std::fs::write(top.join(name), text).unwrap();
        put("repo/.git/worktrees/w/commondir", "../..\n".into());
        put("repo/.git/worktrees/w/gitdir", format!("{}\n", top.join("w/.git").display()));
        for name in ["w/.git", "thief/.git"] {
            put(name, format!("gitdir: {}\n", top.join("repo/.git/worktrees/w").display()));
        }
        let linked = linked_git(&top.join("w")).unwrap();
        assert_eq!(linked.common, top.join("repo/.git"));
        assert_eq!(below(&top, &locks_of_linked(&linked)[..2]), ["repo/.git/hooks", "repo/.git/config"]);
        assert_eq!(linked_git(&top.join("thief")), None, "the repository does not know it");
        assert_eq!(linked_git(&top.join("repo")), None, "a checkout of its own");
        put("w/.git", format!("gitdir: {}\n", top.join("repo/.git").display()));
        assert_eq!(linked_git(&top.join("w")), None);
    }

    #[test]
    fn what_steers_is_found_at_any_depth_but_not_in_what_was_installed() {
        let (_dir, root) = workspace(&[
            ".git/config",
            "a/b/c/AGENTS.md",
            "node_modules/x/.npmrc",
            "Cargo.toml",
            "target/.npmrc",
            "a/target/.npmrc",
            "src/main.rs",
            ".GITHUB/workflows/ci.yml",
        ]);
        let (found, cut) = places(&root);
        assert_eq!(below(&root, &found), [".GITHUB", ".git", "a/target/.npmrc", "a/b/c/AGENTS.md"]);
        assert!(!cut);
    }

    #[test]
    fn what_a_name_that_steers_leads_to_steers_too() {
        let files =
            ["docs/rules.txt", "ci/build.yml", ".bare/hooks/x", ".bare/config", ".bare/index", "my-hooks/y"];
        let (_dir, root) = workspace(&files);
        std::os::unix::fs::symlink("docs/rules.txt", root.join("AGENTS.md")).unwrap();
        std::os::unix::fs::symlink("ci", root.join(".github")).unwrap();
        std::os::unix::fs::symlink("/etc", root.join(".vscode")).unwrap();
        std::fs::write(root.join(".git"), "gitdir: ./.bare\n").unwrap();
        std::fs::write(root.join(".bare/config"), "[core]\n\thooksPath = my-hooks\n").unwrap();
        let found = below(&root, &places(&root).0);
        for wanted in ["docs/rules.txt", "ci", ".bare/hooks", ".bare/config", "my-hooks"] {
            assert!(found.iter().any(|place| place == wanted), "{wanted} {found:?}");
            assert!(is_led_to(&root, &root.join(wanted)).is_some(), "{wanted}");
        }
        assert_eq!(is_led_to(&root, &root.join("docs/other.txt")), None);
        assert_eq!(is_led_to(&root, &root.join(".bare/index")), None);
    }

    #[test]
    fn what_instructions_take_in_steers_too() {
        let (_dir, root) = workspace(&["docs/style.md", "docs/other.md", "a/CLAUDE.md", "a/b/rules.md"]);
        std::fs::write(root.join("CLAUDE.md"), "@docs/style.md @docs/new.md\n`@docs/other.md`\n").unwrap();
        std::fs::write(root.join("a/CLAUDE.md"), "@b/rules.md").unwrap();
        let found = below(&root, &places(&root).0);
        for wanted in ["docs/style.md", "docs/new.md", "a/b/rules.md"] {
            assert!(found.iter().any(|place| place == wanted), "{wanted} {found:?}");
            assert!(is_led_to(&root, &root.join(wanted)).is_some(), "{wanted}");
        }
        assert_eq!(is_led_to(&root, &root.join("docs/other.md")), None);
    }

    #[test]
    fn a_name_that_instructions_take_in_steers_whatever_it_is_and_before_anything_is_there() {
        let (_dir, root) = workspace(&["docs/style.md", "src/main.rs", "plain.txt"]);
        let text = "@docs/rules.txt, @docs/norule @link.txt\n@src by @someone @new/ @plain.txt/x @types/node";
        std::fs::write(root.join("CLAUDE.md"), format!("{text}\nSee @docs/style.md.")).unwrap();
        std::os::unix::fs::symlink("docs/later", root.join("link.txt")).unwrap();
        let found = below(&root, &places(&root).0);
        // The last one is what a name with its full stop would lead to.
        for wanted in ["docs/rules.txt", "docs/norule", "docs/later", "someone", "docs/style.md."] {
            assert!(found.iter().any(|place| place == wanted), "{wanted} {found:?}");
            assert!(is_led_to(&root, &root.join(wanted)).is_some(), "{wanted}");
        }
        for free in ["src/main.rs", "src/new.rs", "new/a", "plain.txt", "types/node/index.d.ts"] {
            assert_eq!(is_led_to(&root, &root.join(free)), None, "{free}");
        }
        assert!(!found.iter().any(|place| place == "src" || place.starts_with("plain.txt")), "{found:?}");
    }

    #[test]
    fn more_names_of_people_than_files_are_taken_in_hide_no_file() {
        let (_dir, root) = workspace(&["docs/style.md"]);
        let people: Vec<String> = (0..imports::MAX_IMPORTS * 2).map(|at| format!("@person{at}")).collect();
        std::fs::write(root.join("CLAUDE.md"), format!("{} @docs/style.md", people.join(" "))).unwrap();
        assert!(is_led_to(&root, &root.join("docs/style.md")).is_some());
    }

    #[test]
    fn a_folder_that_is_full_of_other_things_hides_nothing() {
        let (_dir, root) = workspace(&["docs/rules.txt"]);
        std::os::unix::fs::symlink("docs/rules.txt", root.join("AGENTS.md")).unwrap();
        for number in 0..=MAX_LISTED {
            std::fs::write(root.join(format!("#{number}")), "").unwrap();
        }
        assert_eq!(listed(&root), None);
        assert!(is_led_to(&root, &root.join("docs/rules.txt")).is_some());
    }

    #[test]
    fn what_matters_most_is_locked_however_much_there_is() {
        let (_dir, root) = workspace(&[".git/config", "AGENTS.md", "#0/.github/x"]);
        for number in 0..MAX_LOCKS {
            std::fs::create_dir_all(root.join(format!("#{number}"))).unwrap();
            std::fs::write(root.join(format!("#{number}/.envrc")), "").unwrap();
        }
        let (locked, _) = locks(&root, Commits::Not);
        assert_eq!(below(&root, &locked[..2]), [".git", "AGENTS.md"]);
        assert_eq!(locked.len(), MAX_LOCKS);
    }

    #[test]
    fn with_an_agreement_git_writes_its_records_but_not_what_it_runs() {
        let files = [
            ".git/config",
            ".git/hooks/x",
            ".git/index",
            ".git/modules/m/config",
            ".yarn/cache/x",
            ".yarn/releases/y",
            ".envrc",
        ];
        let (_dir, root) = workspace(&files);
        let (locked, pinned) = locks(&root, Commits::Not);
        assert_eq!(below(&root, &locked), [".envrc", ".git", ".yarn/releases"]);
        assert!(pinned.is_empty());
        let (locked, pinned) = locks(&root, Commits::Agreed);
        assert_eq!(below(&root, &locked), [".git/hooks", ".git/config", ".git/modules/m/config"]);
        assert_eq!(below(&root, &pinned), [".git"]);
    }
}
