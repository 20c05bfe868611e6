//! Ways that were cut, or that something stands in: nothing is lost, and the session goes on.

use super::*;

impl Scene {
    /// The last step stands as if its undo had been written down and then cut.
    fn cut_undo(&self) {
        let mut step = self.ledger.steps().unwrap().pop().unwrap();
        step.state = StepState::Undoing;
        self.ledger.put(&step).unwrap();
    }
}

#[test]
fn what_was_removed_to_make_room_when_an_undo_was_cut_comes_back() {
    let mut scene = scene();
    scene.put("file", "1");
    scene.put("folder/deep/x", "1");
    mode(&scene.root.join("folder/deep"), 0o750);
    symlink("file", scene.root.join("link")).unwrap();
    let before = scene.tree();
    let turn = |root: &Path| {
        for name in ["file", "link"] {
            std::fs::remove_file(root.join(name)).unwrap();
            std::fs::create_dir(root.join(name)).unwrap();
            std::fs::write(root.join(name).join("y"), "2").unwrap();
        }
        std::fs::remove_dir_all(root.join("folder")).unwrap();
        std::fs::write(root.join("folder"), "2").unwrap();
    };
    scene.command(turn);
    let after = scene.tree();
    scene.ledger.undo(false).unwrap();
    // As far as everything is removed.
    scene.cut_undo();
    for name in ["file", "link"] {
        std::fs::remove_file(scene.root.join(name)).unwrap();
    }
    std::fs::remove_dir_all(scene.root.join("folder")).unwrap();
    let moved = scene.ledger.undo(false).unwrap();
    assert_eq!((scene.tree(), moved.left), (before.clone(), Vec::new()));
    // As far as a folder is made, without its permissions.
    scene.cut_undo();
    mode(&scene.root.join("folder/deep"), 0o755);
    std::fs::remove_file(scene.root.join("folder/deep/x")).unwrap();
    let moved = scene.ledger.undo(false).unwrap();
    assert_eq!((scene.tree(), moved.left), (before, Vec::new()));
    // The other way round.
    scene.ledger.redo(false).unwrap();
    assert_eq!(scene.tree(), after);
}

#[test]
fn what_is_in_the_way_is_left_with_what_it_holds_and_the_rest_comes_back() {
    let mut scene = scene();
    scene.put("d/x", "1");
    scene.put("other", "1");
    scene.command(|root| {
        std::fs::remove_dir_all(root.join("d")).unwrap();
        std::fs::write(root.join("other"), "2").unwrap();
    });
    scene.put("d", "the person's");
    let moved = scene.ledger.undo(true).unwrap();
    assert_eq!(moved.files, [("other".to_owned(), FileOutcome::Changed)]);
    let left: Vec<&str> = moved.left.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(left, ["d", "d/x"], "{moved:?}");
    assert_eq!([scene.text("d"), scene.text("other")], ["the person's", "1"]);
}

#[test]
fn a_folder_that_holds_something_of_others_is_left_whole() {
    let mut scene = scene();
    scene.put("a", "1");
    scene.put("b", "1");
    symlink("b", scene.root.join("c")).unwrap();
    scene.command(|root| {
        for name in ["a", "b", "c"] {
            std::fs::remove_file(root.join(name)).unwrap();
            std::fs::create_dir_all(root.join(name).join("deep")).unwrap();
            std::fs::write(root.join(name).join("y"), "2").unwrap();
        }
    });
    scene.put("a/deep/person", "the person's");
    scene.put("b/person", "the person's");
    let after = scene.tree();
    assert_eq!(scene.conflicts(), ["a", "b"]);
    let moved = scene.ledger.undo(true).unwrap();
    let left: Vec<&str> = moved.left.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(left, ["a", "b"]);
    assert_eq!(std::fs::read_link(scene.root.join("c")).unwrap(), Path::new("b"));
    for path in ["a/y", "b/y"] {
        assert_eq!(scene.text(path), "2");
    }
    for path in ["a/deep/person", "b/person"] {
        assert_eq!(scene.text(path), "the person's");
    }
    scene.ledger.redo(false).unwrap();
    assert_eq!(scene.tree(), after);
}

/// A vault in which one content is not to be had.
#[derive(Debug)]
struct Holed(Arc<MemoryVault>, String);

impl Vault for Holed {
    fn keep(&self, contents: Vec<(String, Vec<u8>)>) -> Result<(), String> {
        self.0.keep(contents)
    }

    fn content(&self, digest: &str) -> Result<Option<Vec<u8>>, String> {
        if digest == self.1 { Err("out of reach".to_owned()) } else { self.0.content(digest) }
    }

    fn prints(&self, root: &[u8], take: TakePrint<'_>) -> Result<(), String> {
        self.0.prints(root, take)
    }

    fn set_prints(&self, root: &[u8], seen: Vec<Print>, gone: Vec<Vec<u8>>) -> Result<(), String> {
        self.0.set_prints(root, seen, gone)
    }

    fn steps(&self, session: &str) -> Result<Vec<String>, String> {
        self.0.steps(session)
    }

    fn put_step(&self, session: &str, name: &str, step: &str, uses: &[&str]) -> Result<(), String> {
        self.0.put_step(session, name, step, uses)
    }
}

#[test]
fn an_undo_that_failed_is_told_as_what_it_is_and_can_leave_what_fails() {
    let mut scene = scene();
    for name in ["a", "b", "c"] {
        scene.put(name, format!("{name} 1\n"));
    }
    scene.command(|root| {
        std::fs::write(root.join("a"), "a 2\n").unwrap();
        std::fs::remove_file(root.join("b")).unwrap();
        std::fs::create_dir(root.join("b")).unwrap();
        std::fs::write(root.join("c"), "c 2\n").unwrap();
    });
    let holed = Arc::new(Holed(scene.vault.clone(), crate::digest::hex(b"b 1\n")));
    let failing = Ledger::new("s", &scene.ledger.place, holed);
    let Err(UndoError::Failed(why)) = failing.undo(false) else { panic!("it cannot be") };
    assert!(why.starts_with("b: ") && why.contains("--leave"), "{why}");
    assert!(scene.root.join("b").is_dir(), "nothing is removed for what is not to be had");
    // What stands is told, though the step is neither here nor there.
    scene.put("a", "a 1\n");
    let told = scene.ledger.diff(Since::Prompt).unwrap();
    assert!(told.contains("+c 2\n") && !told.contains("a 2"), "{told}");
    // Whoever asks for a redo hears that an undo was finished, and what was left.
    let moved = failing.redo(true).unwrap();
    assert_eq!(moved.went(Direction::Forth), Direction::Back);
    assert!(
        moved.words(Direction::Forth).starts_with("Undid 1 file change of “prompt 1” (the rest"),
        "{moved:?}"
    );
    assert_eq!(moved.left, [("b".to_owned(), "out of reach".to_owned())]);
    assert_eq!([scene.text("a"), scene.text("c")], ["a 1\n", "c 1\n"]);
    assert!(matches!(failing.undo(false), Err(UndoError::Nothing(_))), "the session goes on");
    let moved = failing.redo(false).unwrap();
    assert_eq!((moved.finished, scene.text("c").as_str()), (None, "c 2\n"));
}
