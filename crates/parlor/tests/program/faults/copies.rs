//! `sessions backup`: a copy that holds while Parlor writes, and is a store; and a delete that cannot happen, on each wire that has one.

use crate::faults::damage::fill;
use crate::faults::{PARLOR, World, stderr, stdout};
use crate::release::talk::{Native, ended};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

const SESSION: &str = "sess-00000000abcd";

fn serve(world: &World) -> Native {
    Native::start(world.parlor(&["serve", "--dialect", "native", "--stdio", "--model", "scripted/model.txt"]))
}

fn never(ask: &Value) -> Value {
    panic!("not to be answered here: {ask}")
}

#[test]
fn a_copy_that_is_taken_while_parlor_writes_is_a_whole_store() {
    let world = World::new();
    drop(fill(&world.path("data"), 3));
    world.script(&"model text \"One more.\"\n---\n".repeat(12));
    let mut ui = serve(&world);
    ui.new_session(SESSION, "written meanwhile");
    for number in 1..=8 {
        // The copy is made while the run goes on.
        let name = world.path(&format!("copy-{number}.db"));
        let mut backup = world.parlor(&["sessions", "backup", name.to_str().unwrap()]);
        let backup = backup.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        ui.prompt(SESSION, &json!({"input": {"text": format!("word{number}")}}), never, ended);
        let made = backup.wait_with_output().unwrap();
        assert!(made.status.success(), "{}", stderr(&made));
        assert_eq!(std::fs::metadata(&name).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let last = world.path("last.db");
    assert!(world.run(&["sessions", "backup", last.to_str().unwrap()]).status.success());
    ui.kill();
    for number in 1..=8 {
        let other = World::new();
        std::fs::create_dir(other.path("data")).unwrap();
        std::fs::copy(world.path(&format!("copy-{number}.db")), other.path("data/sessions.db")).unwrap();
        assert!(stdout(&other.run(&["doctor"])).contains("store      whole:"), "copy {number}");
    }
    // Into a folder where nothing is yet.
    let other = World::new();
    let taken = other.run(&["sessions", "recover", last.to_str().unwrap()]);
    assert!(stdout(&taken).contains("4 of 4 conversations came from"), "{}", stdout(&taken));
    let export = |world: &World| stdout(&world.run(&["sessions", "export", SESSION, "-f", "jsonl"]));
    assert!(export(&other).contains("word8"));
    assert_eq!(export(&other), export(&world));
    let again = stdout(&other.run(&["sessions", "recover", last.to_str().unwrap()]));
    assert!(again.contains("0 of 4") && again.contains("4 are there already"), "{again}");
}

#[test]
fn a_copy_overwrites_nothing_and_leaves_nothing_half() {
    let world = World::new();
    drop(fill(&world.path("data"), 12));
    let copy = world.path("copies/copy.db");
    let text = copy.to_str().unwrap();
    let nowhere = world.run(&["sessions", "backup", text]);
    assert_eq!(nowhere.status.code(), Some(1), "{}", stderr(&nowhere));
    std::fs::create_dir(world.path("copies")).unwrap();
    let words = ["-c", "ulimit -f 60; trap '' XFSZ; exec \"$0\" \"$@\"", PARLOR, "sessions", "backup", text];
    let full = world.command("sh".as_ref(), &words).output().unwrap();
    assert_eq!(full.status.code(), Some(1), "{}", stdout(&full));
    assert!(stderr(&full).contains("hint: "), "{}", stderr(&full));
    assert_eq!(std::fs::read_dir(world.path("copies")).unwrap().count(), 0);
    std::fs::write(&copy, "mine").unwrap();
    let there = world.run(&["sessions", "backup", text]);
    assert_eq!(there.status.code(), Some(1));
    assert!(
        stderr(&there).contains("is there already") && stderr(&there).contains("another name"),
        "{}",
        stderr(&there)
    );
    assert_eq!(std::fs::read(&copy).unwrap(), b"mine");
    assert_eq!(std::fs::read_dir(world.path("copies")).unwrap().count(), 1);
}

#[test]
fn a_conversation_that_is_open_elsewhere_is_deleted_on_no_wire() {
    let world = World::new();
    world.script("model text \"Hello.\"\n");
    let mut owner = serve(&world);
    owner.new_session(SESSION, "kept");
    owner.prompt(SESSION, &json!({"input": {"text": "hi"}}), never, ended);

    let mut other = serve(&world);
    other.say(&json!({"command": {"ticket": 77, "what": {"delete_session": {"session": SESSION}}}}));
    let refusal = other
        .until(|line| (line["settled"]["ticket"] == 77).then(|| line["settled"]["with"]["refusal"].clone()));
    assert!(refusal.to_string().contains("is open in another program"), "native: {refusal}");
    let brackets = refusal.to_string().matches('(').count();
    assert_eq!(brackets, 0, "its hint is put in brackets where it is shown: {refusal}");
    other.leave();

    let mut openagent =
        world.parlor(&["serve", "--dialect", "openagent", "--stdio", "--model", "scripted/model.txt"]);
    let mut openagent =
        openagent.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut stdin, lines) = (openagent.stdin.take().unwrap(), openagent.stdout.take().unwrap());
    let delete =
        json!({"jsonrpc": "2.0", "id": 9, "method": "session.delete", "params": {"session_id": SESSION}});
    stdin.write_all(format!("{delete}\n").as_bytes()).unwrap();
    let answer = BufReader::new(lines)
        .lines()
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
        .find(|line| line["id"] == 9)
        .unwrap();
    assert!(answer["error"].to_string().contains("is open in another program"), "openagent: {answer}");
    drop(stdin);
    openagent.wait().unwrap();

    let removed = world.run(&["sessions", "rm", "--yes", SESSION]);
    assert_eq!(removed.status.code(), Some(1), "{}", stdout(&removed));
    let said = stderr(&removed);
    assert!(said.contains("is open in another program, process ") && !said.contains(") ("), "{said}");
    owner.prompt(SESSION, &json!({"input": {"text": "still there?"}}), never, ended);
    owner.leave();
    assert!(world.run(&["sessions", "rm", "--yes", SESSION]).status.success());
}
