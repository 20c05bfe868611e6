//! What `parlor new` writes works as it is written: it is run, and its own CI file checks it.

#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use std::path::Path;
use std::process::{Command, Output};
use testkit::{in_world, said, stderr, stdout};

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");

/// A line that a person types there. Nothing is fetched: what Rust needs was built for Parlor, too.
fn typed(line: &str, world: &Path, folder: &str) -> Output {
    let mut shell = in_world("bash", world, &["-euc", line]);
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
    shell.env("PATH", format!("{}:{path}", Path::new(PARLOR).parent().unwrap().display()));
    shell.env("CARGO_NET_OFFLINE", "true").env("CARGO_TARGET_DIR", "target");
    shell.current_dir(world.join(folder)).output().unwrap()
}

/// It is written, its CI file finds it whole, and it does what its README says.
#[track_caller]
fn works(what: &str, lang: &str, says: &str) {
    works_in(tempfile::tempdir().unwrap().path(), what, lang, says);
}

#[track_caller]
fn works_in(world: &Path, what: &str, lang: &str, says: &str) {
    let told = said(&in_world(PARLOR, world, &["new", what, "mine", "--lang", lang]).output().unwrap());
    let ci = std::fs::read_to_string(world.join("mine/.github/workflows/check.yml")).unwrap();
    let check = ci
        .lines()
        .find_map(|line| line.trim().strip_prefix("- run: ").filter(|run| run.contains("parlor check")));
    let checked = said(&typed(check.unwrap(), world, "mine"));
    assert!(checked.contains(" 0 not, 0 skipped · score 100 %"), "{checked}");
    let result = std::fs::read_to_string(world.join("mine/result.xml")).unwrap();
    assert!(result.contains("failures=\"0\""), "{result}");
    let readme = std::fs::read_to_string(world.join("mine/README.md")).unwrap();
    let run = readme.split("```sh\n").nth(1).unwrap().lines().next().unwrap();
    assert!(told.contains(run) && readme.starts_with("# mine\n"), "{told}{readme}");
    let run = run.replace("attach ", "attach --prompt hello ");
    let answer = said(&typed(&run, world, "mine"));
    assert!(answer.contains(says), "{answer}");
}

#[test]
fn a_new_agent_in_python_keeps_all_of_its_wire() {
    works("agent", "py", "You said: hello");
}

#[test]
fn a_new_agent_in_typescript_keeps_all_of_its_wire() {
    works("agent", "ts", "You said: hello");
}

#[test]
fn a_new_ui_in_python_keeps_all_of_its_wire() {
    works("ui", "py", "README.md");
}

#[test]
fn a_new_ui_in_typescript_keeps_all_of_its_wire() {
    works("ui", "ts", "README.md");
}

#[test]
fn a_new_agent_and_a_new_ui_in_rust_keep_all_of_their_wires() {
    let world = tempfile::tempdir().unwrap();
    works_in(world.path(), "agent", "rs", "You said: hello");
    // What both stand on is compiled once.
    std::fs::rename(world.path().join("mine"), world.path().join("agent")).unwrap();
    let built = world.path().join("built");
    std::fs::rename(world.path().join("agent/target"), &built).unwrap();
    std::fs::create_dir(world.path().join("ui")).unwrap();
    works_in(world.path(), "ui", "rs", "README.md");
}

#[test]
fn new_touches_nothing_that_is_there_and_takes_no_name_that_leads_elsewhere() {
    let world = tempfile::tempdir().unwrap();
    std::fs::create_dir(world.path().join("mine")).unwrap();
    std::fs::write(world.path().join("file"), "kept").unwrap();
    let new = |name: &str| -> Output {
        let mut new: Command = in_world(PARLOR, world.path(), &["new", "agent", "--", name]);
        new.output().unwrap()
    };
    for (name, why) in [
        ("mine", "is there already"),
        ("file", "is there already"),
        ("../mine", "give its name alone"),
        ("..", "begin with a letter"),
        ("two words", "begin with a letter"),
        ("", "begin with a letter"),
    ] {
        let refused = new(name);
        assert_eq!(refused.status.code(), Some(2), "{name}: {}{}", stdout(&refused), stderr(&refused));
        assert!(stderr(&refused).contains(why), "{name}: {}", stderr(&refused));
    }
    assert_eq!(std::fs::read_dir(world.path().join("mine")).unwrap().count(), 0);
    assert_eq!(std::fs::read_to_string(world.path().join("file")).unwrap(), "kept");
}
