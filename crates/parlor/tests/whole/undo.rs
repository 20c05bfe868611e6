//! File changes taken back with the built program, as a person would type it.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A person at a shell in a project.
struct Shell {
    home: tempfile::TempDir,
}

impl Shell {
    fn new() -> Shell {
        let home = tempfile::tempdir().expect("a home");
        std::fs::create_dir(home.path().join("work")).expect("a project");
        let shell = Shell { home };
        shell.put("a.txt", "one\n");
        shell.put("b.txt", "kept\n");
        shell
    }

    fn file(&self, name: &str) -> PathBuf {
        self.home.path().join("work").join(name)
    }

    fn put(&self, name: &str, text: &str) {
        std::fs::write(self.file(name), text).expect("it can be written");
    }

    fn get(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.file(name)).ok()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parlor"));
        command.args(args).current_dir(self.home.path().join("work")).stdin(Stdio::null()).env_clear();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let home = self.home.path();
        command.env("HOME", home).env("PATH", path).env("PARLOR_DATA_DIR", home.join("data"));
        testkit::ask_offline(&mut command);
        command
    }

    fn type_in(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("it starts")
    }

    fn says(&self, args: &[&str]) -> String {
        let output = self.type_in(args);
        let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{args:?}: {out}{error}");
        out.into_owned()
    }

    fn refuses(&self, args: &[&str]) -> String {
        let output = self.type_in(args);
        assert!(!output.status.success(), "{args:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

const REWRITE: &str = "run `printf 'two\\n' > a.txt; rm b.txt; mkdir new; printf x > new/c`";

#[test]
fn what_a_command_rewrote_is_shown_taken_back_and_done_again() {
    let shell = Shell::new();
    assert!(shell.refuses(&["sessions", "undo"]).contains("no conversation"));
    shell.says(&["run", "--allow", "bash,write", REWRITE]);
    assert_eq!((shell.get("a.txt").as_deref(), shell.get("b.txt")), (Some("two\n"), None));
    shell.says(&["--continue", "run", "--allow", "bash,write", "write d.txt: four"]);
    let diff = shell.says(&["sessions", "diff"]);
    assert!(diff.contains("+four") && !diff.contains("-one"), "{diff}");
    let diff = shell.says(&["sessions", "diff", "--all"]);
    assert!(diff.contains("+four") && diff.contains("-one\n+two"), "{diff}");

    let undone = shell.says(&["sessions", "undo"]);
    assert!(undone.contains("removed d.txt"), "{undone}");
    let undone: Value = serde_json::from_str(&shell.says(&["sessions", "undo", "--json"])).expect("JSON");
    assert_eq!(undone["files"].as_array().map(Vec::len), Some(3), "{undone}");
    assert_eq!(
        (shell.get("a.txt").as_deref(), shell.get("b.txt").as_deref()),
        (Some("one\n"), Some("kept\n"))
    );
    assert!(!shell.file("new").exists() && !shell.file("d.txt").exists());
    assert!(shell.refuses(&["sessions", "undo"]).contains("left to undo"));
    shell.says(&["sessions", "redo"]);
    assert_eq!((shell.get("a.txt").as_deref(), shell.get("new/c").as_deref()), (Some("two\n"), Some("x")));
    let shown = shell.says(&["sessions", "show", "--all"]);
    assert!(shown.contains("Undid 3 file changes") && shown.contains("Redid"), "{shown}");
}

#[test]
fn what_the_person_changed_too_is_merged_or_named() {
    let shell = Shell::new();
    let lines = |first: &str, last: &str| format!("{first}\n.\n.\n.\n.\n{last}\n");
    shell.put("a.txt", &lines("one", "end"));
    shell.says(&["run", "--allow", "bash", "run `sed -i s/one/two/ a.txt; printf other > b.txt`"]);
    shell.put("a.txt", &lines("two", "the person's"));
    shell.put("b.txt", "the person's\n");
    let refused = shell.refuses(&["sessions", "undo"]);
    assert!(
        refused.contains("b.txt") && refused.contains("--leave") && !refused.contains("a.txt"),
        "{refused}"
    );
    assert_eq!(shell.get("a.txt"), Some(lines("two", "the person's")));
    let undone = shell.says(&["sessions", "undo", "--leave"]);
    assert!(undone.contains("merged a.txt") && undone.contains("left as it is: b.txt"), "{undone}");
    assert_eq!(shell.get("a.txt"), Some(lines("one", "the person's")));
    assert_eq!(shell.get("b.txt").as_deref(), Some("the person's\n"));
}

#[test]
fn an_undo_that_leaves_every_file_is_not_told_as_done() {
    let shell = Shell::new();
    shell.says(&["run", "--allow", "bash", "run `printf other > b.txt`"]);
    shell.put("b.txt", "the person's\n");
    let undone = shell.command(&["sessions", "undo", "--leave"]).output().expect("it runs");
    let said = String::from_utf8_lossy(&undone.stdout).into_owned();
    assert_eq!(undone.status.code(), Some(1), "{said}");
    assert!(said.contains("Nothing was changed") && said.contains("left as it is: b.txt"), "{said}");
    assert!(!said.contains("Undid"), "{said}");
    assert_eq!(shell.get("b.txt").as_deref(), Some("the person's\n"));
}

#[test]
fn what_a_command_did_before_the_program_was_killed_is_taken_back() {
    let shell = Shell::new();
    let mut run = shell
        .command(&["run", "--allow", "bash", "run `printf two > a.txt; rm b.txt; sleep 60`"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let until = Instant::now() + Duration::from_secs(60);
    while shell.get("b.txt").is_some() {
        assert!(Instant::now() < until, "the command did not run");
        std::thread::yield_now();
    }
    run.kill().expect("it runs");
    run.wait().expect("it ends");
    shell.says(&["sessions", "undo"]);
    assert_eq!(
        (shell.get("a.txt").as_deref(), shell.get("b.txt").as_deref()),
        (Some("one\n"), Some("kept\n"))
    );
}

#[test]
fn a_conversation_that_is_removed_takes_what_it_kept_of_files_along() {
    let shell = Shell::new();
    shell.says(&["run", "--allow", "write,bash", "write a.txt: a-line-to-be-forgotten"]);
    shell.says(&["--continue", "run", "--allow", "write,bash", "write a.txt: other"]);
    let holds = || {
        let names = ["contents.db", "contents.db-wal"].map(|name| shell.home.path().join("data").join(name));
        let bytes = names.iter().flat_map(|name| std::fs::read(name).unwrap_or_default()).collect::<Vec<_>>();
        bytes.windows(22).any(|part| part == b"a-line-to-be-forgotten")
    };
    assert!(holds());
    let id: Value = serde_json::from_str(&shell.says(&["sessions", "list", "--json"])).expect("JSON");
    shell.says(&["sessions", "rm", "--yes", id[0]["id"].as_str().expect("an id")]);
    assert!(!holds());
}
