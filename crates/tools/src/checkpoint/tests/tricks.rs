//! Ways to change a file so that it looks as it did.

use super::*;
use std::fs::File;
use std::time::SystemTime;

/// Writes a text of the same length, and gives the file the age that it had.
fn write_unseen(full: &Path, text: &str) {
    let file = File::options().write(true).open(full).unwrap();
    let before = file.metadata().unwrap();
    assert_eq!(before.len(), text.len() as u64);
    std::os::unix::fs::FileExt::write_all_at(&file, text.as_bytes(), 0).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
}

#[test]
fn a_file_that_was_written_through_another_name_comes_back() {
    for folder in ["node_modules", "dist", "plain"] {
        let mut scene = scene();
        scene.put(".gitignore", "dist/\n");
        scene.put("a", "one\n");
        scene.put(&format!("{folder}/x"), "");
        std::fs::hard_link(scene.root.join("a"), scene.root.join(folder).join("link")).unwrap();
        scene.command(|_| {});
        scene.command(|root| write_unseen(&root.join(folder).join("link"), "two\n"));
        assert_eq!(scene.text("a"), "two\n");
        scene.ledger.undo(false).unwrap();
        assert_eq!(scene.text("a"), "one\n", "{folder}");
    }
}

#[test]
fn a_folder_that_was_moved_away_and_another_in_its_place_come_back() {
    let mut scene = scene();
    let age = SystemTime::UNIX_EPOCH;
    let old = |root: &Path, text: &str| {
        std::fs::create_dir(root.join("d")).unwrap();
        std::fs::write(root.join("d/a"), text).unwrap();
        File::open(root.join("d/a")).unwrap().set_modified(age).unwrap();
        File::open(root.join("d")).unwrap().set_modified(age).unwrap();
    };
    old(&scene.root, "one\n");
    scene.command(|_| {});
    let before = scene.tree();
    // What is moved where nobody looks is gone for us.
    scene.command(|root| {
        std::fs::create_dir(root.join("node_modules")).unwrap();
        std::fs::rename(root.join("d"), root.join("node_modules/d")).unwrap();
        old(root, "two\n");
    });
    assert_eq!(scene.text("d/a"), "two\n");
    scene.ledger.undo(false).unwrap();
    assert_eq!(scene.text("d/a"), "one\n");
    std::fs::remove_dir_all(scene.root.join("node_modules")).unwrap();
    assert_eq!(scene.tree(), before);
}

#[test]
fn past_its_bounds_every_turn_says_so_and_the_first_one_within_them_is_taken_back() {
    let mut scene = scene();
    scene.ledger = scene.ledger.clone().within(ScanBounds { files: 40, ..ScanBounds::default() });
    (0..50).for_each(|number| scene.put(&format!("d/{number}"), "x"));
    for _ in 0..2 {
        scene.begin();
        let said = scene.ledger.prepare(&CallScope::Everything, &|| false);
        assert_eq!(said, Err(NotKept("there are more than 40 files here".to_owned())));
        let watched = scene.ledger.before(&CallScope::Everything, &|| false);
        scene.put("d/1", "y");
        scene.ledger.after(watched);
    }
    (20..50).for_each(|number| std::fs::remove_file(scene.root.join(format!("d/{number}"))).unwrap());
    scene.command(|root| std::fs::write(root.join("d/1"), "z").unwrap());
    scene.ledger.undo(false).unwrap();
    assert_eq!(scene.text("d/1"), "y");
}

#[test]
fn past_its_bounds_commands_run_what_tools_wrote_comes_back_and_the_rest_is_named() {
    for scope in [CallScope::AllButGit, CallScope::Everything] {
        let mut scene = scene();
        scene.ledger = scene.ledger.clone().within(ScanBounds { files: 40, ..ScanBounds::default() });
        (0..50).for_each(|number| scene.put(&format!("d/{number}"), "x"));
        scene.begin();
        assert!(scene.ledger.prepare(&scope, &|| false).is_err());
        let watched = scene.ledger.before(&scope, &|| false);
        scene.put("d/1", "by a command");
        assert_eq!(scene.ledger.after(watched), None, "it was said");
        scene.write("d/2", "by a tool");
        let moved = scene.ledger.undo(false).unwrap();
        let left = ("what its commands did".to_owned(), "there are more than 40 files here".to_owned());
        assert_eq!(moved.left, [left]);
        assert_eq!((scene.text("d/1").as_str(), scene.text("d/2").as_str()), ("by a command", "x"));
    }
}

#[test]
fn what_was_seen_once_comes_back_also_when_a_command_has_git_ignore_it() {
    let mut scene = scene();
    scene.put("a", "one\n");
    scene.put("d/b", "two\n");
    let before = scene.tree();
    scene.command(|root| std::fs::write(root.join(".gitignore"), "*\n").unwrap());
    scene.command(|root| {
        std::fs::write(root.join("a"), "lost\n").unwrap();
        std::fs::remove_file(root.join("d/b")).unwrap();
    });
    scene.ledger.undo(false).unwrap();
    assert_eq!((scene.text("a"), scene.text("d/b")), ("one\n".into(), "two\n".into()));
    scene.ledger.undo(false).unwrap();
    assert_eq!(scene.tree(), before);
}
