//! Files that came into sight because the rules of what is ignored changed.

use super::*;

/// As `sed -i` does it: a new file takes the place of the old one.
fn written_anew(root: &Path, path: &str, text: &str) {
    std::fs::write(root.join("new~"), text).unwrap();
    std::fs::rename(root.join("new~"), root.join(path)).unwrap();
}

#[test]
fn a_file_that_was_ignored_and_is_written_anew_is_not_removed() {
    let mut scene = scene();
    scene.put(".gitignore", "notes\nlogs/\n");
    scene.put("sub/keep", "x");
    scene.put("sub/notes", "old");
    scene.put("notes", "old");
    scene.put("logs/one", "old");
    scene.command(|root| {
        std::fs::write(root.join(".gitignore"), "other\n").unwrap();
        for path in ["notes", "sub/notes", "logs/one"] {
            written_anew(root, path, "new");
        }
        std::fs::write(root.join("made"), "x").unwrap();
    });
    let moved = scene.ledger.undo(false).unwrap();
    for path in ["notes", "sub/notes", "logs/one"] {
        assert_eq!(scene.text(path), "new", "{path}");
        assert!(moved.left.iter().any(|(left, _)| left == path), "{path}: {moved:?}");
    }
    assert_eq!([scene.text(".gitignore"), scene.text("made")], ["notes\nlogs/\n", "(none)"]);
}

#[test]
fn a_rule_that_wants_a_file_all_the_same_brings_it_into_sight() {
    let mut scene = scene();
    scene.put(".gitignore", "notes\n");
    scene.put("sub/notes", "old");
    scene.command(|root| {
        std::fs::write(root.join("sub/.gitignore"), "!notes\n").unwrap();
        written_anew(root, "sub/notes", "new");
        std::fs::write(root.join("sub/made"), "x").unwrap();
    });
    scene.ledger.undo(false).unwrap();
    assert_eq!([scene.text("sub/notes"), scene.text("sub/made")], ["new", "(none)"]);
}

#[test]
fn rules_that_nobody_looks_at_leave_every_new_file() {
    let mut scene = scene();
    scene.put(".git/info/exclude", "notes\n");
    scene.put("notes", "old");
    let Ok(made) = scene.root.join(".git").metadata().unwrap().created() else { return };
    while made.elapsed().unwrap_or_default() < std::time::Duration::from_millis(150) {
        std::thread::yield_now();
    }
    scene.command(|root| {
        std::fs::write(root.join(".git/info/exclude"), "").unwrap();
        written_anew(root, "notes", "new");
    });
    let moved = scene.ledger.undo(false).unwrap();
    assert_eq!(scene.text("notes"), "new", "{moved:?}");
    // Where the repository itself is new, nothing was ignored by it.
    let mut scene = self::scene();
    scene.command(|root| {
        std::fs::create_dir_all(root.join(".git/info")).unwrap();
        std::fs::write(root.join(".git/info/exclude"), "# none\n").unwrap();
        std::fs::write(root.join("made"), "x").unwrap();
    });
    scene.ledger.undo(false).unwrap();
    assert_eq!(scene.text("made"), "(none)");
}

#[test]
fn what_git_recorded_is_taken_back_although_a_rule_ignores_it() {
    let mut scene = scene();
    let root = scene.root.clone();
    let git = |args: &[&str]| {
        let done = std::process::Command::new("git").arg("-C").arg(&root).args(args).output().unwrap();
        assert!(done.status.success(), "{args:?} {done:?}");
    };
    git(&["init", "-q"]);
    for file in ["config.env", "gen/a.txt", "gen/b.txt", "gen/deep/c.txt", "notes.env"] {
        scene.put(file, "one\n");
    }
    scene.put(".gitignore", "*.env\ngen/\n");
    git(&["add", "-f", "config.env", "gen/a.txt", "gen/deep/c.txt"]);
    scene.command(|root| {
        for file in ["config.env", "gen/a.txt", "gen/b.txt", "notes.env"] {
            std::fs::write(root.join(file), "two\n").unwrap();
        }
        std::fs::remove_dir_all(root.join("gen/deep")).unwrap();
    });
    scene.ledger.undo(false).unwrap();
    for (file, text) in [
        ("config.env", "one\n"),
        ("gen/a.txt", "one\n"),
        ("gen/deep/c.txt", "one\n"),
        // Nobody recorded these.
        ("gen/b.txt", "two\n"),
        ("notes.env", "two\n"),
    ] {
        assert_eq!(scene.text(file), text, "{file}");
    }
    // What is recorded later is seen from then on.
    git(&["add", "-f", "notes.env"]);
    scene.command(|root| std::fs::write(root.join("notes.env"), "three\n").unwrap());
    scene.ledger.undo(false).unwrap();
    assert_eq!(scene.text("notes.env"), "two\n");
}

#[test]
fn what_a_turn_had_git_ignore_stays_in_sight_over_a_restart() {
    let mut scene = scene();
    scene.put("a", "1\n");
    scene.put("b", "1\n");
    scene.command(|root| std::fs::write(root.join(".gitignore"), "a\n").unwrap());
    let place = scene.ledger.place.clone();
    let restarted = || {
        let again = ToolContext::new(place.root().unwrap(), place.outputs()).unwrap();
        Ledger::new("s", &again.with_home(Path::new("/nonexistent")), scene.vault.clone())
    };
    let ledger = restarted();
    ledger.begin("turn-2", "prompt 2");
    let watched = ledger.before(&CallScope::Everything, &|| false);
    std::fs::write(scene.root.join("a"), "2\n").unwrap();
    assert_eq!(ledger.after(watched), None);
    // One more time: what was in sight stays so.
    let ledger = restarted();
    ledger.undo(false).unwrap();
    assert_eq!(scene.text("a"), "1\n");
}

#[test]
fn a_file_that_grew_too_large_to_be_kept_comes_back_as_it_was() {
    let mut scene = scene();
    scene.put("log", "small\n");
    let grow = |root: &Path, more: u64| {
        let file = std::fs::File::options().write(true).open(root.join("log")).unwrap();
        file.set_len(MAX_FILE + more).unwrap();
    };
    scene.begin();
    scene.deed(|root| grow(root, 1));
    scene.deed(|root| grow(root, 2));
    let moved = scene.ledger.undo(false).unwrap();
    assert_eq!((scene.text("log").as_str(), moved.left.len()), ("small\n", 0), "{moved:?}");
    // What was so large is kept nowhere: it cannot be done again, and nothing is lost in trying.
    assert!(matches!(scene.ledger.redo(false), Err(UndoError::Conflicts(_))));
    assert_eq!(scene.text("log"), "small\n");
    // What somebody did since is theirs.
    scene.command(|root| grow(root, 1));
    grow(&scene.root, 3);
    assert_eq!(scene.conflicts(), ["log"]);
    assert_eq!(scene.root.join("log").metadata().unwrap().len(), MAX_FILE + 3);
}

#[test]
fn of_a_prompt_that_changed_nothing_in_sight_it_is_said_before_an_earlier_one_is_taken_back() {
    let mut scene = scene();
    scene.put(".gitignore", "hidden\n");
    scene.put("a", "1\n");
    scene.put("hidden", "1\n");
    scene.command(|root| std::fs::write(root.join("a"), "2\n").unwrap());
    scene.command(|root| std::fs::write(root.join("hidden"), "2\n").unwrap());
    let Err(UndoError::Nothing(why)) = scene.ledger.undo(false) else { panic!() };
    assert!(why.contains("“prompt 2”") && why.contains("undoes “prompt 1”"), "{why}");
    assert_eq!(scene.text("a"), "2\n");
    scene.ledger.undo(false).unwrap();
    assert_eq!(scene.text("a"), "1\n");
    scene.ledger.redo(false).unwrap();
    assert_eq!(scene.text("a"), "2\n");
}

#[test]
fn that_a_command_made_too_many_files_comes_out_when_it_is_over() {
    let mut scene = scene();
    scene.ledger = scene.ledger.clone().within(ScanBounds { files: 5, ..ScanBounds::default() });
    scene.put("a", "1");
    scene.begin();
    let watched = scene.ledger.before(&CallScope::Everything, &|| false);
    for number in 0..10 {
        scene.put(&format!("{number}"), "x");
    }
    let Some(NotKept(why)) = scene.ledger.after(watched) else { panic!() };
    assert!(why.contains("more than 5 files"), "{why}");
    assert!(scene.ledger.begin("next", "next").unsay);
}
