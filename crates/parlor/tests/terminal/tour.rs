//! The tour in a terminal, walked by keys: each step is called done when it was, and not before.

#![cfg(target_os = "linux")]

use std::path::PathBuf;
use testkit::{Person, Screen, said, stderr};

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");
const LEAVES: &str = "\x04";

fn start(world: &Person, words: &[&str]) -> Screen {
    Screen::start(&mut world.parlor("one", &[&["tour"], words].concat()))
}

/// Begins the step that is told, up to its question.
fn begins(screen: &mut Screen, step: &str, question: &str) {
    screen.shows(&[step, "Enter begins; s and Enter skips, q and Enter leaves: "]);
    screen.send("\r");
    screen.asks(&[question]);
}

/// What stands in the composer when nothing runs and nothing is asked.
const RESTS: &str = "ask anything";

/// Leaves what a step opened, once its prompt was answered.
fn leaves(screen: &mut Screen) {
    screen.shows(&[RESTS]);
    screen.send(LEAVES);
}

fn project(world: &Person, file: &str) -> PathBuf {
    world.path("data/tour/project").join(file)
}

#[test]
fn the_whole_tour_is_walked_by_keys_and_goes_on_where_it_was_left() {
    let world = Person::new(PARLOR);
    let mut screen = start(&world, &[]);
    begins(&mut screen, "Step 1 of 7", "hello.txt");
    screen.send("y");
    leaves(&mut screen);
    screen.shows(&["Done. You allowed it once"]);
    screen.shows(&["Step 2 of 7", "q and Enter leaves: "]);
    screen.send("q\r");
    assert!(screen.finish());
    let listed = world.says(&["tour", "--list"]);
    assert!(listed.contains("1  allow    done") && listed.contains("2  deny     next"), "{listed}");

    let mut screen = start(&world, &[]);
    begins(&mut screen, "Step 2 of 7", "rm hello.txt");
    screen.send("r");
    screen.shows(&["why not:"]);
    screen.send("I need it\r");
    leaves(&mut screen);
    screen.shows(&["Done. The agent was told “I need it”"]);
    begins(&mut screen, "Step 3 of 7", "write files under");
    screen.send("a");
    leaves(&mut screen);
    screen.shows(&["Done. One answer, two files."]);
    // Nobody presses a key: it is killed as soon as it asks.
    screen.shows(&["Step 4 of 7", "q and Enter leaves: "]);
    screen.send("\r");
    screen.shows(&["kill -9: it is gone"]);
    assert!(screen.echoes() || !screen.hides_cursor(), "the terminal was not given back");
    assert!(!project(&world, "kept.txt").exists());
    screen.send("\r");
    screen.asks(&["touch kept.txt"]);
    screen.send("y");
    leaves(&mut screen);
    screen.shows(&["Done. It was asked before the kill and answered after it"]);
    assert!(project(&world, "kept.txt").exists());
    begins(&mut screen, "Step 5 of 7", "rm hello.txt");
    screen.send("y");
    screen.shows(&[RESTS]);
    assert!(!project(&world, "hello.txt").exists());
    screen.send("/undo\r");
    screen.shows(&["restored hello.txt"]);
    screen.send(LEAVES);
    screen.shows(&["Done. hello.txt was removed by a command, and is back."]);
    screen.shows(&["Step 6 of 7", "q and Enter leaves: "]);
    screen.send("s\r");
    screen.shows(&["Step 7 of 7", "q and Enter leaves: "]);
    screen.send("\r");
    screen.shows(&["on a runtime that speaks codelia"]);
    screen.send("list files\r");
    screen.shows(&["kept.txt", RESTS]);
    screen.send(LEAVES);
    screen.shows(&[
        "Done. Neither knows the other's protocol.",
        "The tour is over; what you skipped is still there: parlor tour page.",
    ]);
    assert!(screen.finish());
    let listed = world.says(&["tour", "--list"]);
    assert!(listed.contains("6  page     skipped") && listed.contains("7  bridge   done"), "{listed}");
    assert_eq!(
        world.says(&["sessions", "list"]).trim(),
        "No conversation is kept yet. Start one with `parlor`."
    );
}

#[test]
fn a_step_that_was_not_done_is_not_called_done() {
    let world = Person::new(PARLOR);
    let mut screen = start(&world, &["deny"]);
    begins(&mut screen, "Step 2 of 7", "rm hello.txt");
    // Denied without a word.
    screen.send("n");
    leaves(&mut screen);
    screen.shows(&["Not done yet: nothing was denied with a reason.", "Enter tries again"]);
    screen.send("q\r");
    assert!(screen.finish());
    let mut screen = start(&world, &["undo"]);
    begins(&mut screen, "Step 5 of 7", "rm hello.txt");
    screen.send("y");
    leaves(&mut screen);
    screen.shows(&["Not done yet: nothing was undone.", "Enter tries again"]);
    screen.send("q\r");
    assert!(screen.finish());
    let listed = world.says(&["tour", "--list"]);
    assert!(!listed.contains("done") && listed.contains("1  allow    next"), "{listed}");
}

#[test]
fn the_tour_needs_a_terminal_and_is_reset_whole() {
    let world = Person::new(PARLOR);
    let refused = world.parlor("one", &["tour"]).stdin(std::process::Stdio::null()).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("parlor tour --list"), "{}", stderr(&refused));
    let mut screen = start(&world, &["page"]);
    screen.shows(&["Step 6 of 7", "q and Enter leaves: "]);
    screen.send("s\r");
    assert!(screen.finish());
    assert!(world.says(&["tour", "--list"]).contains("page     skipped"));
    said(&world.parlor("one", &["tour", "--reset"]).output().unwrap());
    assert!(!world.path("data/tour").exists());
    assert!(!world.says(&["tour", "--list"]).contains("skipped"));
}
