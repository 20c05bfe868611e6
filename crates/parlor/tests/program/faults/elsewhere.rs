//! A conversation that is asked for and open in another Parlor: by `run`, and by `serve` where that process does not answer, it is refused,
//! and what is said goes nowhere else. Who is led there is in `whole/joining.rs`.

use crate::faults::{World, stderr, stdout};
use crate::release::talk::{Native, ended};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;

const SESSION: &str = "sess-00000000abcd";
const HELLO: &str = r#"{"jsonrpc":"2.0","id":"1","method":"initialize","params":{"protocol_version":"0","client":{"name":"t","version":"0"}}}"#;
const PROMPT: &str =
    r#"{"jsonrpc":"2.0","id":"2","method":"run.start","params":{"input":{"type":"text","text":"second"}}}"#;

fn sessions(world: &World) -> Vec<Value> {
    let listed = world.run(&["sessions", "list", "--all", "--json"]);
    serde_json::from_str(&stdout(&listed)).unwrap()
}

#[test]
fn who_goes_on_with_what_is_open_elsewhere_is_refused_and_given_no_other() {
    let world = World::new();
    world.script("model text \"Hello.\"\n");
    let model = ["--model", "scripted/model.txt"];
    let mut owner =
        Native::start(world.parlor(&[&["serve", "--dialect", "native", "--stdio"], &model[..]].concat()));
    owner.new_session(SESSION, "kept");
    owner.prompt(SESSION, &json!({"input": {"text": "hi"}}), |ask| panic!("{ask}"), ended);

    for asked in [&["--continue"][..], &["--resume", SESSION]] {
        let said = world.run(&[&model[..], asked, &["run", "second"]].concat());
        assert_eq!(said.status.code(), Some(1), "{asked:?}: {}", stdout(&said));
        let words = stderr(&said);
        assert_eq!(words.matches("is open in another program").count(), 1, "{asked:?}: {words}");
    }

    // Nobody finds the process any more. A wire has no word for it: the link is closed, and the reason is on stderr.
    std::fs::remove_dir_all(world.path("data/run")).unwrap();
    let mut serve = world
        .parlor(&[&["serve", "--dialect", "codelia", "--stdio", "--session", SESSION], &model[..]].concat());
    let mut serve =
        serve.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = serve.stdin.take().unwrap();
    // It may be gone before it has read this.
    let _ = stdin.write_all(format!("{HELLO}\n{PROMPT}\n").as_bytes());
    let left = serve.wait_with_output().unwrap();
    assert!(stderr(&left).contains("is open in another program"), "{}", stderr(&left));
    assert!(!stdout(&left).contains("Hello."), "{}", stdout(&left));
    drop(stdin);

    let there = sessions(&world);
    assert_eq!(there.len(), 1, "nobody was given another session: {there:?}");
    owner.leave();
}
