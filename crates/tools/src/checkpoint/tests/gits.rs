//! Files whose contents git holds: they are left to it, and come back all the same.

use super::*;
use std::process::Command;

fn git(root: &Path, args: &[&str]) {
    let mut git = Command::new("git");
    git.arg("-C").arg(root).args(["-c", "user.name=x", "-c", "user.email=x@example.org"]).args(args);
    let done = git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(done.status.success(), "{args:?} {done:?}");
}

/// Files that git has recorded, and one that it has not.
fn recorded() -> Scene {
    let scene = scene();
    for (path, text) in [("a", "one\n"), ("dir/b", "two\n"), ("dir/c", "three\n"), ("empty", "")] {
        scene.put(path, text);
    }
    git(&scene.root, &["init", "-q"]);
    git(&scene.root, &["add", "-A"]);
    git(&scene.root, &["commit", "-qm", "all"]);
    scene.put("new", "four\n");
    scene
}

impl Scene {
    /// A turn with one command that the kernel keeps from git's records.
    fn held_command(&mut self, does: impl FnOnce(&Path)) {
        self.begin();
        self.ledger.prepare(&CallScope::AllButGit, &|| false).unwrap();
        let watched = self.ledger.before(&CallScope::AllButGit, &|| false);
        does(&self.root);
        assert_eq!(self.ledger.after(watched), None);
    }

    /// Begins a session for which what was read has been as it is for long: it is not read again.
    fn settle(&mut self) {
        let root = self.root.as_os_str().as_encoded_bytes();
        let mut prints = Vec::new();
        let mut take = |path: &[u8], stamp: &str, image: &str| {
            let mut fields: Vec<&str> = stamp.split(':').collect();
            fields[5] = "1";
            prints.push(Print {
                path: path.to_vec(),
                stamp: fields.join(":"),
                image: image.to_owned(),
                digest: None,
            });
        };
        self.vault.prints(root, &mut take).unwrap();
        self.vault.set_prints(root, prints, Vec::new()).unwrap();
        let place = ToolContext::new(&self.root, &self.root.with_file_name("outputs")).unwrap();
        self.ledger = Ledger::new("s", &place, self.vault.clone());
    }

    fn keeps(&self, text: &str) -> bool {
        self.vault.content(&crate::digest::hex(text.as_bytes())).unwrap().is_some()
    }
}

#[test]
fn what_git_holds_is_not_copied_and_comes_back() {
    let mut scene = recorded();
    let before = scene.tree();
    let watched = {
        scene.begin();
        scene.ledger.before(&CallScope::AllButGit, &|| false)
    };
    for (text, expected) in [("one\n", false), ("two\n", false), ("three\n", false), ("four\n", true)] {
        assert_eq!(scene.keeps(text), expected, "{text}");
    }
    std::fs::write(scene.root.join("a"), "changed\n").unwrap();
    std::fs::remove_dir_all(scene.root.join("dir")).unwrap();
    std::fs::remove_file(scene.root.join("new")).unwrap();
    assert_eq!(scene.ledger.after(watched), None);
    // The way back no longer needs git.
    std::fs::rename(scene.root.join(".git"), scene.root.with_file_name("elsewhere")).unwrap();
    let moved = scene.ledger.undo(false).unwrap();
    assert_eq!(moved.left, []);
    std::fs::rename(scene.root.with_file_name("elsewhere"), scene.root.join(".git")).unwrap();
    assert_eq!(scene.tree(), before);
    scene.ledger.redo(false).unwrap();
    assert_eq!((scene.text("a").as_str(), scene.text("dir/b").as_str()), ("changed\n", "(none)"));
}

#[test]
fn a_command_that_may_rewrite_gits_records_finds_everything_copied() {
    let mut scene = recorded();
    scene.held_command(|root| std::fs::write(root.join("a"), "changed\n").unwrap());
    scene.settle();
    let before = scene.tree();
    // The look of a moment ago, with what was left to git, does not serve this one.
    scene.begin();
    scene.ledger.prepare(&CallScope::AllButGit, &|| false).unwrap();
    let watched = scene.ledger.before(&CallScope::Everything, &|| false);
    std::fs::remove_dir_all(scene.root.join(".git")).unwrap();
    std::fs::remove_dir_all(scene.root.join("dir")).unwrap();
    assert_eq!(scene.ledger.after(watched), None);
    assert_eq!(scene.ledger.undo(false).unwrap().left, []);
    let mut after = scene.tree();
    after.retain(|path, _| before.contains_key(path));
    let kept: BTreeMap<_, _> = before.into_iter().filter(|(path, _)| after.contains_key(path)).collect();
    assert_eq!(after, kept);
    assert_eq!(scene.text("dir/b"), "two\n");
}

#[test]
fn bytes_that_are_not_the_objects_are_copied() {
    let mut scene = recorded();
    // Recorded with other line ends than it has, and recorded and changed since.
    scene.put(".gitattributes", "*.txt text\n");
    scene.put("lines.txt", "x\r\ny\r\n");
    git(&scene.root, &["add", "lines.txt"]);
    scene.put("dir/c", "THREE\n");
    scene.held_command(|root| {
        std::fs::write(root.join("lines.txt"), "").unwrap();
        std::fs::write(root.join("dir/c"), "").unwrap();
    });
    assert!(scene.keeps("x\r\ny\r\n") && scene.keeps("THREE\n") && !scene.keeps("two\n"));
    scene.ledger.undo(false).unwrap();
    assert_eq!((scene.text("lines.txt").as_str(), scene.text("dir/c").as_str()), ("x\r\ny\r\n", "THREE\n"));
}

#[test]
fn what_the_index_names_and_git_does_not_have_is_copied() {
    let mut scene = recorded();
    scene.put("named", "only by name\n");
    git(&scene.root, &["update-index", "--add", "--info-only", "named"]);
    scene.held_command(|root| std::fs::write(root.join("named"), "").unwrap());
    assert!(scene.keeps("only by name\n") && !scene.keeps("two\n"));
    scene.ledger.undo(false).unwrap();
    assert_eq!(scene.text("named"), "only by name\n");
}

#[test]
fn what_git_no_longer_records_is_copied_before_the_next_command() {
    let mut scene = recorded();
    scene.held_command(|root| std::fs::write(root.join("new"), "").unwrap());
    scene.settle();
    scene.held_command(|root| std::fs::write(root.join("new"), "y").unwrap());
    assert!(!scene.keeps("two\n") && !scene.keeps("three\n"));
    git(&scene.root, &["rm", "-q", "--cached", "dir/b"]);
    scene.held_command(|root| std::fs::write(root.join("new"), "x").unwrap());
    assert!(scene.keeps("two\n") && !scene.keeps("three\n"));
}

#[test]
fn a_content_that_git_lost_while_a_command_ran_is_named_and_the_others_come_back() {
    let mut scene = recorded();
    let objects = scene.root.join(".git/objects");
    scene.held_command(|root| {
        std::fs::remove_dir_all(objects).unwrap();
        std::fs::write(root.join("a"), "changed\n").unwrap();
        std::fs::write(root.join("new"), "changed\n").unwrap();
        // What was only moved is read where it is now.
        std::fs::rename(root.join("dir/b"), root.join("b")).unwrap();
    });
    let moved = scene.ledger.undo(false).unwrap();
    let left: Vec<&str> = moved.left.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(left, ["a"], "{moved:?}");
    assert!(moved.left[0].1.contains("git"), "{moved:?}");
    assert_eq!((scene.text("a").as_str(), scene.text("new").as_str()), ("changed\n", "four\n"));
    assert_eq!((scene.text("dir/b").as_str(), scene.text("b").as_str()), ("two\n", "(none)"));
}

#[test]
fn a_command_that_was_at_work_when_the_program_died_is_taken_back_from_git() {
    let mut scene = recorded();
    scene.begin();
    drop(scene.ledger.before(&CallScope::AllButGit, &|| false));
    std::fs::write(scene.root.join("dir/b"), "changed\n").unwrap();
    assert!(!scene.keeps("two\n"));
    let place = ToolContext::new(&scene.root, &scene.root.with_file_name("outputs")).unwrap();
    let next = Ledger::new("s", &place, scene.vault.clone());
    assert_eq!(next.undo(false).unwrap().left, []);
    assert_eq!(scene.text("dir/b"), "two\n");
}
