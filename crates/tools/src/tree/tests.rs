//! Which looks serve for others, and what a walk does past its bounds and where it cannot enter.

use super::*;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::atomic::{AtomicUsize, Ordering};

fn ground(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for file in files {
        std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
        std::fs::write(root.join(file), file).unwrap();
    }
    (dir, root)
}

fn keep(files: usize) -> Keep<'static> {
    Keep { files, go_on: &|| Ok(()) }
}

fn kept(walk: &TreeWalk) -> Vec<OsString> {
    let mut all: Vec<OsString> =
        walk.folders().flat_map(|folder| folder.kept().map(|(name, _)| folder.join(name))).collect();
    all.sort();
    all
}

#[test]
fn one_walk_before_a_command_and_one_after_it_serve_undo_and_what_steers() {
    let (_dir, root) = ground(&["a", "AGENTS.md"]);
    let tree = Arc::new(Tree::new(&root));
    // On a starved machine a look of a moment ago may be too old: then there is another one, and nothing to be seen here.
    let same = |one: &Arc<TreeWalk>, other: &Arc<TreeWalk>| {
        Arc::ptr_eq(one, other) || other.ended().duration_since(one.ended()) >= FRESH
    };
    let (_, undo) = tree.before(Some(keep(10))).unwrap();
    let (folder, steers) = tree.before(None).unwrap();
    assert!(same(&undo, &steers));
    let work = tree.at_work();
    assert!(
        !Arc::ptr_eq(&steers, &tree.before(None).unwrap().1),
        "while a command is at work each looks for itself"
    );
    drop(work);
    let steers = tree.compare(&folder);
    assert!(!Arc::ptr_eq(&undo, &steers), "what was before the command tells nothing of what came after it");
    tree.nothing_was_put_back(&steers);
    let undo = tree.after(keep(10)).unwrap();
    assert!(same(&steers, &undo));
    assert_eq!(kept(&undo).len(), 2);
}

#[test]
fn no_look_serves_over_something_that_ran_or_was_put_back() {
    let (_dir, root) = ground(&["a"]);
    let tree = Arc::new(Tree::new(&root));
    let (folder, first) = tree.before(Some(keep(10))).unwrap();
    tree.begins();
    assert!(!Arc::ptr_eq(&first, &tree.before(None).unwrap().1));
    // Something was put back: nobody says that nothing was.
    let compared = tree.compare(&folder);
    assert!(!Arc::ptr_eq(&compared, &tree.after(keep(10)).unwrap()));
    // Another one is still at work.
    let _work = tree.at_work();
    let compared = tree.compare(&folder);
    tree.nothing_was_put_back(&compared);
    assert!(!Arc::ptr_eq(&compared, &tree.after(keep(10)).unwrap()));
}

#[test]
fn a_workspace_that_was_moved_away_does_not_serve_the_one_in_its_place() {
    let (dir, root) = ground(&["work/a"]);
    let (root, away) = (root.join("work"), dir.path().join("away"));
    let tree = Arc::new(Tree::new(&root));
    let (folder, _) = tree.before(Some(keep(10))).unwrap();
    std::fs::rename(&root, &away).unwrap();
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("other"), "").unwrap();
    let compared = tree.compare(&folder);
    assert_eq!(kept(&compared), ["a"]);
    tree.nothing_was_put_back(&compared);
    assert_eq!(kept(&tree.after(keep(10)).unwrap()), ["other"]);
}

#[test]
fn where_nothing_changed_a_folder_is_the_very_same() {
    let (_dir, root) = ground(&["d/one", "d/two", "e/three", ".gitignore"]);
    let tree = Tree::new(&root);
    let first = tree.after(keep(10)).unwrap();
    std::fs::write(root.join("e/three"), "something longer").unwrap();
    let second = tree.after(keep(10)).unwrap();
    let is_same = |folder: &str| {
        Arc::ptr_eq(first.folder(folder.as_ref()).unwrap(), second.folder(folder.as_ref()).unwrap())
    };
    assert!(is_same("d") && !is_same("e"));
}

#[test]
fn past_its_bounds_a_walk_says_so_and_still_finds_what_steers() {
    let (_dir, root) = ground(&["a", "b", "d/.envrc", "d/e/AGENTS.md"]);
    let tree = Tree::new(&root);
    assert_eq!(*tree.after(keep(6)).unwrap().kept(), Ok(()));
    let walk = tree.after(keep(4)).unwrap();
    assert_eq!(*walk.kept(), Err("there are more than 4 files here".to_owned()));
    let steers = [OsString::from("d/.envrc"), OsString::from("d/e/AGENTS.md")];
    assert_eq!(walk.steering(), (steers.as_slice(), false));
    // What undo gave up is not asked of the next walk.
    assert_eq!(tree.compare(&Root::open(&root).unwrap()).keeps(), 0);
    assert_eq!(*tree.after(keep(6)).unwrap().kept(), Ok(()));
}

#[test]
fn whoever_says_stop_is_heard_and_what_steers_is_found_all_the_same() {
    let (_dir, root) = ground(&["d/AGENTS.md"]);
    for number in 0..600 {
        std::fs::write(root.join(format!("{number}")), "").unwrap();
    }
    let asked = AtomicUsize::new(0);
    let go_on = || {
        asked.fetch_add(1, Ordering::Relaxed);
        Err("it was stopped".to_owned())
    };
    let walk = Tree::new(&root).after(Keep { files: 1000, go_on: &go_on }).unwrap();
    assert_eq!((asked.into_inner(), walk.kept().clone()), (1, Err("it was stopped".to_owned())));
    assert_eq!(walk.steering().0, ["d/AGENTS.md"]);
}

#[test]
fn nothing_is_read_through_links_and_a_pipe_keeps_nobody() {
    let (dir, root) = ground(&["work/a.o", "out/secret", "rules"]);
    let root = root.join("work");
    std::fs::write(dir.path().join("rules"), "*.o\n").unwrap();
    std::os::unix::fs::symlink("../rules", root.join(".gitignore")).unwrap();
    std::os::unix::fs::symlink("../out", root.join("d")).unwrap();
    std::fs::create_dir(root.join("e")).unwrap();
    let pipe = root.join("e/.gitignore");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let walk = Tree::new(&root).after(keep(10)).unwrap();
    assert_eq!(kept(&walk), [".gitignore", "a.o", "d", "e", "e/.gitignore"]);
    let folder = Root::open(&root).unwrap();
    let below = |path: &str| folder.open_below(Path::new(path), rustix::fs::OFlags::RDONLY);
    assert!(below("d/secret").is_err() && below("d").is_err() && below("a.o").is_ok());
    assert!(below("").is_err());
    assert!(is_version_control(std::ffi::OsStr::from_bytes(b".GIT")));
}

#[test]
fn who_fills_a_workspace_hides_no_name_that_was_known() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for folder in ["aa", "zz"] {
        std::fs::create_dir(root.join(folder)).unwrap();
    }
    std::fs::write(root.join("zz/AGENTS.md"), "").unwrap();
    let tree = Tree::new(&root);
    let (_, first) = tree.before(None).unwrap();
    let known = [OsString::from("zz/AGENTS.md")];
    assert_eq!(first.steering(), (known.as_slice(), false));
    (0..10).for_each(|number| std::fs::write(root.join(format!("aa/{number}")), "").unwrap());
    tree.begins();
    let (_, second) = tree.before(None).unwrap();
    let folders: Vec<_> = second.folders().cloned().collect();
    assert_eq!(walk::steering(&folders, None, 5), (Vec::new(), true), "a search that ends before it");
    assert_eq!(walk::steering(&folders, Some(&known), 5), (known.to_vec(), true));
}
