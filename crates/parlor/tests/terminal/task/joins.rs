//! `parlor` in a terminal goes to what another process has open: by its id, and as the newest. When that process is gone, it goes on here.

use testkit::{Person, Screen};

/// What was said stands there with its answer.
#[track_caller]
fn answered(screen: &mut Screen, word: &str) {
    screen.until(word, |screen| screen.count(word) >= 2);
}

#[test]
fn a_terminal_joins_what_another_has_and_goes_on_when_that_is_gone() {
    let person = Person::new(env!("CARGO_BIN_EXE_parlor"));
    let start = |words: &[&str]| {
        let words = [&["--model", "offline/offline"], words].concat();
        let mut screen = Screen::start(&mut person.parlor("one", &words));
        screen.shows(&["ask anything"]);
        screen
    };
    let mut owner = start(&[]).named("owner");
    owner.send("say lanterns\r");
    answered(&mut owner, "lanterns");
    let listed = person.json(&["sessions", "list", "--all", "--json"]);
    assert_eq!(listed[0]["pid"], owner.child().id(), "who has it is told: {listed}");
    let session = listed[0]["id"].as_str().unwrap().to_owned();
    assert!(person.says(&["sessions", "list", "--all"]).contains(", open"));

    let mut guest = start(&["--resume", &session]).named("guest");
    answered(&mut guest, "lanterns");
    guest.send("say owls\r");
    answered(&mut guest, "owls");
    answered(&mut owner, "owls");
    let mut newest = start(&["--continue"]).named("newest");
    answered(&mut newest, "owls");
    newest.send("\x04");
    assert!(newest.finish());

    owner.send("\x04");
    assert!(owner.finish());
    guest.shows(&["is gone"]);
    guest.send("say foxes\r");
    answered(&mut guest, "foxes");
    let listed = person.json(&["sessions", "list", "--all", "--json"]);
    assert_eq!(listed[0]["pid"], guest.child().id(), "{listed}");
    assert_eq!(listed[0]["messages"], 6, "{listed}");
    guest.send("\x04");
    assert!(guest.finish());
}
