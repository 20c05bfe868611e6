//! Turns on real folders, taken back and done again.

use super::*;
use crate::context::ToolContext;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

mod cut;
mod gits;
mod sight;
mod tricks;

/// A workspace and the ledger of a session in it.
struct Scene {
    _dir: tempfile::TempDir,
    root: PathBuf,
    vault: Arc<MemoryVault>,
    ledger: Ledger,
    turns: usize,
}

fn scene() -> Scene {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("work");
    std::fs::create_dir(&root).unwrap();
    let vault = Arc::new(MemoryVault::default());
    let place = ToolContext::new(&root, &dir.path().join("outputs")).unwrap().with_home(dir.path());
    let ledger = Ledger::new("s", &place, vault.clone());
    Scene { _dir: dir, root, vault, ledger, turns: 0 }
}

impl Scene {
    fn begin(&mut self) -> Option<String> {
        self.turns += 1;
        self.ledger.begin(&format!("turn-{}", self.turns), &format!("prompt {}", self.turns)).told
    }

    /// A turn with one command.
    fn command(&mut self, does: impl FnOnce(&Path)) {
        self.begin();
        self.deed(does);
    }

    fn deed(&self, does: impl FnOnce(&Path)) {
        self.ledger.prepare(&CallScope::Everything, &|| false).unwrap();
        let watched = self.ledger.before(&CallScope::Everything, &|| false);
        does(&self.root);
        self.ledger.after(watched);
    }

    fn write(&self, path: &str, text: &str) {
        let full = self.root.join(path);
        let watched = self.ledger.before(&CallScope::Files(vec![full.clone()]), &|| false);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(full, text).unwrap();
        self.ledger.after(watched);
    }

    fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let full = self.root.join(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(full, text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).unwrap_or_else(|_| "(none)".to_owned())
    }

    fn tree(&self) -> BTreeMap<PathBuf, String> {
        tree(&self.root)
    }

    fn conflicts(&self) -> Vec<String> {
        match self.ledger.undo(false) {
            Err(UndoError::Conflicts(conflicts)) => conflicts.into_iter().map(|(path, _)| path).collect(),
            other => panic!("{other:?}"),
        }
    }
}

/// Everything below a folder: kind, mode and content.
fn tree(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let (path, meta) = (entry.path(), entry.path().symlink_metadata().unwrap());
            let mode = meta.permissions().mode() & 0o7777;
            let what = if meta.is_symlink() {
                format!("link {:?}", std::fs::read_link(&path).unwrap())
            } else if meta.is_dir() {
                waiting.push(path.clone());
                format!("folder {mode:o}")
            } else {
                format!("file {mode:o} {:?}", std::fs::read(&path).unwrap())
            };
            found.insert(path, what);
        }
    }
    found
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_a_command_did_is_taken_back_and_done_again() {
    let mut scene = scene();
    scene.put("kept.txt", "same");
    scene.put("changed.rs", "one\n");
    scene.put("gone/deep/file", "was here");
    scene.put("image.bin", b"\x00\x01\xff");
    scene.put("tool.sh", "#!/bin/sh\n");
    scene.put("old-name", "moved");
    symlink("kept.txt", scene.root.join("link")).unwrap();
    mode(&scene.root.join("tool.sh"), 0o644);
    let before = scene.tree();
    scene.command(|root| {
        std::fs::write(root.join("changed.rs"), "two\n").unwrap();
        std::fs::remove_dir_all(root.join("gone")).unwrap();
        std::fs::write(root.join("image.bin"), b"\x00\x02").unwrap();
        mode(&root.join("tool.sh"), 0o755);
        std::fs::rename(root.join("old-name"), root.join("new-name")).unwrap();
        std::fs::remove_file(root.join("link")).unwrap();
        symlink("changed.rs", root.join("link")).unwrap();
        std::fs::create_dir_all(root.join("new/folder")).unwrap();
        std::fs::write(root.join("new/folder/x"), "x").unwrap();
    });
    let after = scene.tree();
    let moved = scene.ledger.undo(false).unwrap();
    assert_eq!(scene.tree(), before, "{moved:?}");
    assert_eq!(moved.prompts, ["prompt 1"]);
    assert!(moved.files.contains(&("new-name".to_owned(), FileOutcome::Removed)), "{moved:?}");
    assert!(moved.files.contains(&("changed.rs".to_owned(), FileOutcome::Changed)), "{moved:?}");
    scene.ledger.redo(false).unwrap();
    assert_eq!(scene.tree(), after);
    scene.ledger.undo(false).unwrap();
    assert_eq!(scene.tree(), before);
    assert!(matches!(scene.ledger.undo(false), Err(UndoError::Nothing(_))));
}

#[test]
fn tools_that_write_one_file_need_no_look_at_the_others() {
    let mut scene = scene();
    for number in 0..50 {
        scene.put(&format!("other-{number}"), "x");
    }
    scene.put("a", "1");
    scene.begin();
    scene.write("a", "2");
    scene.write("a", "3");
    scene.write("new/deep/b", "b");
    assert!(scene.vault.handed() <= 5);
    assert!(scene.ledger.diff(Since::Prompt).unwrap().contains("-1\n"));
    scene.ledger.undo(false).unwrap();
    assert_eq!((scene.text("a").as_str(), scene.root.join("new").exists()), ("1", false));
}

#[test]
fn a_prompt_without_words_names_nothing() {
    let scene = scene();
    scene.ledger.begin("turn-1", " \n");
    scene.write("a", "one");
    let moved = scene.ledger.undo(false).unwrap();
    assert_eq!(moved.words(Direction::Back), "Undid 1 file change\n  removed a");
    let moved = scene.ledger.redo(false).unwrap();
    assert_eq!(
        (moved.words(Direction::Forth).as_str(), moved.prompts.len()),
        ("Redid 1 file change\n  made a", 0)
    );
}

#[test]
fn prompts_are_taken_back_one_by_one_and_a_new_one_ends_redo() {
    let mut scene = scene();
    for text in ["1", "2", "3"] {
        scene.command(|root| std::fs::write(root.join("a"), text).unwrap());
    }
    for text in ["2", "1"] {
        scene.ledger.undo(false).unwrap();
        assert_eq!(scene.text("a"), text);
    }
    scene.ledger.redo(false).unwrap();
    assert_eq!(scene.text("a"), "2");
    scene.command(|root| std::fs::write(root.join("b"), "new").unwrap());
    assert!(matches!(scene.ledger.redo(false), Err(UndoError::Nothing(_))));
    assert_eq!(scene.text("a"), "2");
}

#[test]
fn what_others_did_elsewhere_in_the_file_stays() {
    let mut scene = scene();
    let lines = |first: &str, last: &str| format!("{first}\n2\n3\n4\n5\n6\n7\n{last}\n");
    scene.put("a", lines("1", "8"));
    scene.command(|root| std::fs::write(root.join("a"), lines("agent", "8")).unwrap());
    scene.put("a", lines("agent", "person"));
    let moved = scene.ledger.undo(false).unwrap();
    assert_eq!(moved.files, [("a".to_owned(), FileOutcome::Merged)]);
    assert_eq!(scene.text("a"), lines("1", "person"));
    scene.ledger.redo(false).unwrap();
    assert_eq!(scene.text("a"), lines("agent", "person"));
}

#[test]
fn what_others_did_between_two_commands_of_a_turn_stays() {
    let mut scene = scene();
    let lines = |one: &str, two: &str, three: &str| format!("{one}\n.\n.\n.\n{two}\n.\n.\n.\n{three}\n");
    scene.put("a", lines("1", "2", "3"));
    scene.begin();
    scene.deed(|root| std::fs::write(root.join("a"), lines("agent", "2", "3")).unwrap());
    scene.put("a", lines("agent", "person", "3"));
    scene.deed(|root| std::fs::write(root.join("a"), lines("agent", "person", "agent")).unwrap());
    scene.ledger.undo(false).unwrap();
    assert_eq!(scene.text("a"), lines("1", "person", "3"));
}

#[test]
fn where_others_changed_the_same_nothing_is_written_and_the_file_is_named() {
    let mut scene = scene();
    scene.put("a", "1\n");
    scene.put("b", "1\n");
    scene.put("image", b"\x00one");
    scene.put("gone", "x");
    scene.command(|root| {
        for name in ["a", "b", "made"] {
            std::fs::write(root.join(name), "agent\n").unwrap();
        }
        std::fs::write(root.join("image"), b"\x00two").unwrap();
        std::fs::remove_file(root.join("gone")).unwrap();
    });
    scene.put("a", "person\n");
    scene.put("made", "person\n");
    scene.put("image", b"\x00three");
    scene.put("gone", "another");
    let now = scene.tree();
    assert_eq!(scene.conflicts(), ["a", "gone", "image", "made"]);
    assert_eq!(scene.tree(), now);
    let moved = scene.ledger.undo(true).unwrap();
    assert_eq!(moved.files, [("b".to_owned(), FileOutcome::Changed)]);
    assert_eq!(moved.left.len(), 4, "{moved:?}");
    assert_eq!((scene.text("b").as_str(), scene.text("a").as_str()), ("1\n", "person\n"));
    scene.ledger.redo(false).unwrap();
    assert_eq!(scene.tree(), now);
}

#[test]
fn version_control_and_what_git_ignores_is_not_touched() {
    let mut scene = scene();
    scene.put(".gitignore", "ignored\n");
    scene.put(".git/config", "old");
    scene.put("ignored", "old");
    scene.put("sub/.GIT/x", "old");
    scene.command(|root| {
        for path in [".git/config", "ignored", "sub/.GIT/x"] {
            std::fs::write(root.join(path), "new").unwrap();
        }
        std::fs::write(root.join("seen"), "new").unwrap();
    });
    scene.write(".git/hooks", "new");
    let moved = scene.ledger.undo(false).unwrap();
    assert_eq!(moved.files, [("seen".to_owned(), FileOutcome::Removed)]);
    assert_eq!(moved.left.len(), 1, "{moved:?}");
    for path in [".git/config", "ignored", "sub/.GIT/x", ".git/hooks"] {
        assert_eq!(scene.text(path), "new", "{path}");
    }
    assert_eq!(scene.vault.content(&crate::digest::hex(b"old")), Ok(None));
}

#[test]
fn a_file_that_only_came_into_sight_is_not_removed() {
    let mut scene = scene();
    scene.put(".gitignore", "secret\nnotes\n");
    scene.put("secret", "the only copy");
    scene.put("notes", "older than the turn");
    let Ok(made) = scene.root.join("notes").metadata().unwrap().created() else {
        // A file system that does not tell when files were made cannot tell these from new ones.
        return;
    };
    while made.elapsed().unwrap_or_default() < std::time::Duration::from_millis(150) {
        std::thread::yield_now();
    }
    scene.command(|root| {
        std::fs::rename(root.join("secret"), root.join("secret.bak")).unwrap();
        std::fs::write(root.join(".gitignore"), "secret\n").unwrap();
        std::fs::write(root.join("made"), "x").unwrap();
    });
    let moved = scene.ledger.undo(false).unwrap();
    assert_eq!(scene.text("secret.bak"), "the only copy", "{moved:?}");
    assert_eq!(scene.text("notes"), "older than the turn");
    assert_eq!(scene.text("made"), "(none)");
    assert!(moved.left.iter().any(|(path, _)| path == "secret.bak"), "{moved:?}");
}

#[test]
fn a_file_that_became_ignored_is_put_back_as_it_was() {
    let mut scene = scene();
    scene.put("a", "1");
    scene.command(|root| {
        std::fs::write(root.join(".gitignore"), "a\n").unwrap();
        std::fs::write(root.join("a"), "2").unwrap();
    });
    scene.ledger.undo(false).unwrap();
    assert_eq!(scene.text("a"), "1");
}

#[test]
fn no_link_leads_out_of_the_workspace() {
    let mut scene = scene();
    let outside = scene.root.parent().unwrap().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("x"), "theirs").unwrap();
    scene.put("d/x", "1");
    scene.put("e/x", "1");
    scene.command(|root| {
        std::fs::write(root.join("d/x"), "2").unwrap();
        std::fs::remove_file(root.join("e/x")).unwrap();
    });
    for folder in ["d", "e"] {
        std::fs::rename(scene.root.join(folder), scene.root.join(format!("{folder}-old"))).unwrap();
        symlink(&outside, scene.root.join(folder)).unwrap();
    }
    assert_eq!(scene.conflicts(), ["d/x", "e/x"]);
    assert_eq!(std::fs::read_to_string(outside.join("x")).unwrap(), "theirs");
    // A link in the place of a folder that the command itself put there is taken back.
    let mut scene = self::scene();
    scene.put("d/x", "1");
    scene.command(|root| {
        std::fs::remove_dir_all(root.join("d")).unwrap();
        symlink(&outside, root.join("d")).unwrap();
    });
    scene.ledger.undo(false).unwrap();
    assert_eq!(scene.text("d/x"), "1");
    assert!(!scene.root.join("d").is_symlink());
    assert_eq!(std::fs::read_to_string(outside.join("x")).unwrap(), "theirs");
}

#[test]
fn files_and_folders_that_changed_places() {
    let mut scene = scene();
    scene.put("a", "file");
    scene.put("b/c", "in a folder");
    let before = scene.tree();
    scene.command(|root| {
        std::fs::remove_file(root.join("a")).unwrap();
        std::fs::create_dir(root.join("a")).unwrap();
        std::fs::write(root.join("a/x"), "x").unwrap();
        std::fs::remove_dir_all(root.join("b")).unwrap();
        std::fs::write(root.join("b"), "a file now").unwrap();
    });
    let after = scene.tree();
    scene.put("a/mine", "the person's");
    assert_eq!(scene.conflicts(), ["a"]);
    std::fs::remove_file(scene.root.join("a/mine")).unwrap();
    scene.ledger.undo(false).unwrap();
    assert_eq!(scene.tree(), before);
    scene.ledger.redo(false).unwrap();
    assert_eq!(scene.tree(), after);
}

#[test]
fn a_folder_with_something_of_others_in_it_stays() {
    let mut scene = scene();
    scene.command(|root| {
        std::fs::create_dir(root.join("d")).unwrap();
        std::fs::write(root.join("d/x"), "x").unwrap();
    });
    scene.put("d/mine", "the person's");
    scene.ledger.undo(false).unwrap();
    assert_eq!((scene.text("d/x").as_str(), scene.text("d/mine").as_str()), ("(none)", "the person's"));
}

#[test]
fn a_folder_that_was_shut_is_opened_again() {
    let mut scene = scene();
    scene.put("d/x", "1");
    scene.command(|root| mode(&root.join("d"), 0));
    scene.ledger.undo(false).unwrap();
    assert_eq!(scene.text("d/x"), "1");
}

#[test]
fn past_a_bound_it_is_said_before_the_command() {
    for bounds in [
        ScanBounds { files: 3, ..ScanBounds::default() },
        ScanBounds { bytes: 3, ..ScanBounds::default() },
        ScanBounds { time: std::time::Duration::ZERO, ..ScanBounds::default() },
    ] {
        let mut scene = scene();
        scene.ledger = scene.ledger.clone().within(bounds);
        for name in ["a", "b", "c", "d"] {
            scene.put(name, "12");
        }
        scene.begin();
        assert!(scene.ledger.prepare(&CallScope::Everything, &|| false).is_err());
        assert_eq!(
            scene.ledger.prepare(&CallScope::Everything, &|| false),
            Ok(()),
            "it is said once in a turn"
        );
        let watched = scene.ledger.before(&CallScope::Everything, &|| false);
        scene.put("a", "34");
        scene.ledger.after(watched);
        let moved = scene.ledger.undo(false).unwrap();
        assert!(moved.files.is_empty() && moved.left.len() == 1, "{moved:?}");
        assert_eq!(scene.text("a"), "34");
    }
}

#[test]
fn what_is_too_large_to_keep_is_named_and_stays() {
    let mut scene = scene();
    let large = vec![b'x'; usize::try_from(MAX_FILE).unwrap() + 1];
    scene.put("large", &large);
    scene.put("grows", "small");
    scene.command(|root| {
        std::fs::write(root.join("large"), "cut").unwrap();
        std::fs::write(root.join("grows"), &large).unwrap();
    });
    let moved = scene.ledger.undo(false).unwrap();
    let mut left: Vec<&str> = moved.left.iter().map(|(path, _)| path.as_str()).collect();
    left.sort_unstable();
    assert_eq!(left, ["large"]);
    assert_eq!([scene.text("large"), scene.text("grows")], ["cut", "small"]);
}

#[test]
fn a_change_of_the_same_length_right_after_a_look_is_seen() {
    let mut scene = scene();
    for round in 0..20 {
        scene.put("a", format!("{round:04}"));
        scene.command(|root| std::fs::write(root.join("a"), format!("{:04}", round + 5000)).unwrap());
        scene.ledger.undo(false).unwrap();
        assert_eq!(scene.text("a"), format!("{round:04}"));
    }
}

#[test]
fn a_crash_in_the_middle_of_a_command_costs_nothing() {
    let mut scene = scene();
    scene.put("a", "1");
    scene.begin();
    scene.ledger.prepare(&CallScope::Everything, &|| false).unwrap();
    let watched = scene.ledger.before(&CallScope::Everything, &|| false);
    scene.put("a", "2");
    drop(watched);
    scene.begin();
    let watched = scene.ledger.before(&CallScope::Files(vec![scene.root.join("b")]), &|| false);
    scene.put("b", "2");
    drop(watched);
    let place = scene.ledger.place.clone();
    let again = Ledger::new("s", &place, scene.vault.clone());
    again.undo(false).unwrap();
    again.undo(false).unwrap();
    assert_eq!((scene.text("a").as_str(), scene.text("b").as_str()), ("1", "(none)"));
}

#[test]
fn an_undo_that_was_cut_goes_on_where_it_stopped() {
    let mut scene = scene();
    for name in ["a", "b", "c"] {
        scene.put(name, "1");
    }
    scene.command(|root| {
        for name in ["a", "b", "c"] {
            std::fs::write(root.join(name), "2").unwrap();
        }
    });
    scene.command(|root| std::fs::write(root.join("d"), "2").unwrap());
    scene.ledger.undo(false).unwrap();
    scene.ledger.undo(false).unwrap();
    // As after a crash: one file is there already, one was not reached, one was changed since by somebody else.
    let mut step = scene.ledger.steps().unwrap().remove(0);
    step.state = StepState::Undoing;
    scene.ledger.put(&step).unwrap();
    scene.put("b", "2");
    scene.put("c", "person");
    let moved = scene.ledger.undo(false).unwrap();
    assert_eq!(moved.files, [("b".to_owned(), FileOutcome::Changed)]);
    assert_eq!(moved.left.len(), 1);
    assert_eq!([scene.text("a"), scene.text("b"), scene.text("c")], ["1", "1", "person"]);
}

#[test]
fn the_model_hears_what_was_taken_back_once() {
    let mut scene = scene();
    scene.command(|root| std::fs::write(root.join("a"), "1").unwrap());
    scene.ledger.undo(false).unwrap();
    let told = scene.begin().unwrap();
    assert!(told.contains("took back") && told.contains('a'), "{told}");
    assert_eq!(scene.begin(), None);
    scene.ledger.redo(false).unwrap();
    scene.ledger.undo(false).unwrap();
    assert_eq!(scene.begin(), None, "back and forth is nothing to tell");
}

#[test]
fn going_to_another_branch_takes_back_and_does_again() {
    let mut scene = scene();
    for name in ["a", "b"] {
        scene.command(|root| std::fs::write(root.join(name), name).unwrap());
    }
    let turns = |numbers: &[usize]| numbers.iter().map(|number| format!("turn-{number}")).collect::<Vec<_>>();
    scene.ledger.go(&turns(&[1, 2]), &[], false).unwrap();
    assert!(scene.tree().is_empty());
    scene.command(|root| std::fs::write(root.join("c"), "c").unwrap());
    scene.ledger.go(&turns(&[3]), &turns(&[1]), false).unwrap();
    assert_eq!([scene.text("a"), scene.text("b"), scene.text("c")], ["a", "(none)", "(none)"]);
    assert_eq!(scene.ledger.go(&turns(&[9]), &[], false), Ok(UndoOutcome::default()));
}

#[test]
fn what_git_says() {
    let scene = scene();
    let git = |args: &[&str]| {
        let ran = std::process::Command::new("git").args(args).current_dir(&scene.root).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    };
    assert!(against_git(&scene.root, None).is_err());
    git(&["init", "-q"]);
    scene.put("a", "1\n");
    git(&["add", "a"]);
    git(&["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"]);
    scene.put("a", "2\n");
    scene.put("b", "new");
    let told = against_git(&scene.root, None).unwrap();
    assert!(told.contains("-1\n+2\n") && told.contains("# not in git: b"), "{told}");
}

/// Something done to a folder.
#[derive(Debug, Clone)]
enum Act {
    Write(usize, Vec<u8>),
    Remove(usize),
    Folder(usize),
    Link(usize, usize),
    Rename(usize, usize),
    Mode(usize, u32),
}

const NAMES: &[&str] = &["a", "b", "d", "d/a", "d/e", "d/e/f", "odd name", "x/y"];

fn act() -> impl Strategy<Value = Act> {
    let name = 0..NAMES.len();
    prop_oneof![
        4 => (name.clone(), proptest::collection::vec(any::<u8>(), 0..6)).prop_map(|(at, text)| Act::Write(at, text)),
        2 => name.clone().prop_map(Act::Remove),
        1 => name.clone().prop_map(Act::Folder),
        1 => (name.clone(), name.clone()).prop_map(|(at, to)| Act::Link(at, to)),
        1 => (name.clone(), name.clone()).prop_map(|(at, to)| Act::Rename(at, to)),
        1 => (name, prop_oneof![Just(0o644), Just(0o755), Just(0o600), Just(0o700)])
            .prop_map(|(at, mode)| Act::Mode(at, mode)),
    ]
}

/// Does it as far as it goes.
fn perform(root: &Path, act: &Act) {
    let full = |at: &usize| root.join(NAMES[*at]);
    let inside = |path: &Path| {
        // Through a link one would change other names, which is fine, but never outside.
        path.parent().and_then(|above| above.canonicalize().ok()).is_some_and(|above| above.starts_with(root))
    };
    match act {
        Act::Write(at, text) => {
            let path = full(at);
            let _ = std::fs::create_dir_all(path.parent().unwrap());
            if inside(&path) {
                let _ = std::fs::write(path, text);
            }
        }
        Act::Remove(at) => {
            let path = full(at);
            let _ = if path.is_dir() && !path.is_symlink() {
                std::fs::remove_dir_all(path)
            } else {
                std::fs::remove_file(path)
            };
        }
        Act::Folder(at) => _ = std::fs::create_dir_all(full(at)),
        Act::Link(at, to) => _ = symlink(NAMES[*to], full(at)),
        Act::Rename(at, to) => _ = std::fs::rename(full(at), full(to)),
        Act::Mode(at, mode) => {
            if !full(at).is_symlink() && full(at).exists() {
                let mode = if full(at).is_dir() { mode | 0o700 } else { *mode };
                let _ = std::fs::set_permissions(full(at), std::fs::Permissions::from_mode(mode));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..testkit::cases(48) })]

    /// Whatever is done in any number of turns, taking all back gives every byte back, and doing all again every later one.
    #[test]
    fn any_turns_can_be_taken_back_and_done_again(
        first in proptest::collection::vec(act(), 0..8),
        turns in proptest::collection::vec(proptest::collection::vec(act(), 1..6), 1..4),
    ) {
        let mut scene = scene();
        for one in &first {
            perform(&scene.root, one);
        }
        let mut trees = vec![scene.tree()];
        for turn in &turns {
            scene.command(|root| turn.iter().for_each(|one| perform(root, one)));
            trees.push(scene.tree());
        }
        trees.dedup();
        for tree in trees.iter().rev().skip(1) {
            let undone = match scene.ledger.undo(false) {
                // It is said once that the last turn left everything as it was.
                Err(UndoError::Nothing(_)) => scene.ledger.undo(false),
                undone => undone,
            };
            undone.unwrap();
            prop_assert_eq!(&scene.tree(), tree);
        }
        for tree in trees.iter().skip(1) {
            scene.ledger.redo(false).unwrap();
            prop_assert_eq!(&scene.tree(), tree);
        }
    }

    /// Whatever others do after a turn, an undo either keeps all of it or writes nothing.
    #[test]
    fn what_others_did_is_never_lost(
        turn in proptest::collection::vec(act(), 1..6),
        others in proptest::collection::vec(act(), 1..6),
    ) {
        let mut scene = scene();
        scene.put("a", "1\n2\n3\n");
        scene.command(|root| turn.iter().for_each(|one| perform(root, one)));
        let after = scene.tree();
        others.iter().for_each(|one| perform(&scene.root, one));
        let theirs = scene.tree();
        match scene.ledger.undo(false) {
            Ok(_) => {
                let now = scene.tree();
                // What they made or changed is there as they left it, unless they made what had been there before the turn.
                for (path, what) in theirs.iter().filter(|(path, what)| after.get(*path) != Some(*what)) {
                    if !what.starts_with("folder") {
                        prop_assert!(now.contains_key(path), "{:?} is lost", path);
                    }
                }
            }
            Err(UndoError::Conflicts(named)) => {
                prop_assert!(!named.is_empty());
                prop_assert_eq!(scene.tree(), theirs);
            }
            Err(UndoError::Nothing(_)) => prop_assert_eq!(scene.tree(), theirs),
            Err(UndoError::Failed(why)) => prop_assert!(false, "{}", why),
        }
    }
}
