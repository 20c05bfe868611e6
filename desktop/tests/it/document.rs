//! The document of the desktop shell, in the window: a runtime that follows it, and one that breaks it in every way that it names.

use crate::driver::Driven;
use crate::world::{World, until};
use serde_json::json;

/// A runtime of the document that does what a message asks for, after the odd line that no shell may die of.
const RUNTIME: &str = r#"
import json, os, sys
def say(**line):
    print(json.dumps({**line, "timestamp": 0}), flush=True)
say(type="ready", version="1", capabilities=["streaming"])
for text in sys.stdin:
    ask = json.loads(text)
    if ask["kind"] == "get_status":
        say(type="status", id=ask["id"], data={"state": "idle", "conversationLength": 0, "uptime": 0})
        continue
    if ask["kind"] != "user_message":
        say(type="done", id=ask["id"])
        continue
    words = ask["message"]
    if "junk" in words:
        sys.stdout.buffer.write(b"no json\n\xff\xfe\n{\n[]\n")
        sys.stdout.flush()
    if "stranger" in words:
        say(type="token", id="nobody-asked", token="lost words")
        say(type="done", id="nobody-asked")
    say(type="token", id=ask["id"], token="You said: ")
    if "die" in words:
        os._exit(3)
    say(type="token", id=ask["id"], token=words)
    say(type="done", id=ask["id"])
    if "twice" in words:
        say(type="token", id=ask["id"], token=" and again")
        say(type="done", id=ask["id"])
"#;

/// A world whose person has this runtime among their agents, and has agreed to its command.
fn with_runtime() -> World {
    let world = World::new();
    let program = world.path("runtime.py");
    std::fs::write(&program, RUNTIME).unwrap();
    let agents =
        format!("\n[agents.seed]\ncommand = [\"python3\", {}]\ndialect = \"asst\"\n", json!(program));
    let config = world.path("config/config.toml");
    let settings = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, settings + &agents).unwrap();
    let agree = ["attach", "seed", "--yes", "--prompt", "hello"];
    let said = world.command(&crate::world::parlor()).args(agree).output().unwrap();
    assert!(String::from_utf8_lossy(&said.stdout).contains("You said: hello"), "{said:?}");
    world
}

/// Begins a session with the runtime.
fn begins(world: &World, window: &Driven, words: &str) {
    window.eval("location.hash = '#/new'");
    window.selects(".start-model select", "agent:seed");
    window.begins(words, &world.path("project"));
}

fn goes_on(window: &Driven, words: &str) {
    // Such a runtime takes nothing while it answers; what came too early is in the composer again.
    until("the answer has ended", || {
        window.eval("return document.querySelector('[aria-label^=Stop]') === null") == json!(true)
    });
    window.puts("#composer", words);
    window.types("#composer", "\u{e007}");
    window.reads(&format!("You said: {words}"));
}

#[test]
fn a_runtime_that_follows_the_document_answers_in_the_window() {
    let world = with_runtime();
    let window = world.window(&[]);
    begins(&world, &window, "good morning");
    window.reads("You said: good morning");
    goes_on(&window, "and good night");
}

#[test]
fn junk_strangers_and_a_second_end_are_no_end_of_the_conversation() {
    let world = with_runtime();
    let window = world.window(&[]);
    begins(&world, &window, "some junk");
    window.reads("You said: some junk");
    goes_on(&window, "a stranger");
    assert!(!window.text().contains("lost words"));
    goes_on(&window, "twice");
    goes_on(&window, "still here");
    assert!(!window.text().contains("and again"), "{}", window.text());
}

#[test]
fn a_runtime_that_dies_in_an_answer_is_told_and_begun_again() {
    let world = with_runtime();
    let window = world.window(&[]);
    begins(&world, &window, "die now");
    window.reads("The runtime went away in the middle");
    goes_on(&window, "alive again");
}
