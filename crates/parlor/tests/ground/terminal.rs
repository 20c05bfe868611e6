//! The terminal UI when its terminal vanishes without a word, or when it is told to stop: it ends, and its run with it.

use crate::bench::World;
use crate::screen::Terminal;
use rustix::process::{Pid, Signal, kill_process};
use std::time::Duration;

/// How long the program may go on without a terminal, on a busy machine.
const END_WITHIN: Duration = Duration::from_secs(20);

/// The terminal UI with a run under way that never ends by itself.
fn counting(world: &World) -> Terminal {
    world.put("project/model.txt", "model text \"Counting\" | pause forever\n");
    let mut parlor = world.program(world.parlor(&[]).get_program());
    let mut terminal = Terminal::start(parlor.args(["--model", "scripted/model.txt"]));
    terminal.shows(&["scripted"]);
    terminal.send("go\r");
    terminal.shows(&["Counting"]);
    terminal
}

#[track_caller]
fn is_over_in_the_record(world: &World) {
    let said = |args: &[&str]| String::from_utf8(world.parlor(args).output().unwrap().stdout).unwrap();
    let shown = said(&["sessions", "show"]);
    assert!(shown.contains("Counting") && !shown.contains("under way"), "{shown}");
    let log = said(&["sessions", "export", "--format", "jsonl"]);
    assert!(log.contains("\"run_ended\"") && log.contains("interrupted"), "{log}");
}

#[test]
fn a_terminal_that_vanishes_without_a_signal_ends_the_program() {
    let world = World::new(None);
    let mut terminal = Terminal::start(&mut world.parlor(&[]));
    terminal.shows(&["offline"]);
    // Nothing is drawn any more, which would fail and tell it too.
    terminal.settles();
    assert_eq!(terminal.vanish(END_WITHIN), Some(130));
}

#[test]
fn a_terminal_that_vanishes_in_a_run_ends_the_run_in_the_record() {
    let world = World::new(None);
    assert_eq!(counting(&world).vanish(END_WITHIN), Some(130));
    is_over_in_the_record(&world);
}

#[test]
fn told_to_stop_the_terminal_ui_ends_its_run_in_the_record() {
    for signal in [Signal::TERM, Signal::HUP] {
        let world = World::new(None);
        let mut terminal = counting(&world);
        kill_process(Pid::from_child(terminal.child()), signal).unwrap();
        assert_eq!(terminal.code(), Some(130));
        assert!(terminal.said("\u{1b}[?1049l"), "the terminal is given back");
        is_over_in_the_record(&world);
    }
}
