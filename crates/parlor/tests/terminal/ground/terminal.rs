//! The terminal UI when its terminal vanishes without a word, or when it is told to stop: it ends, and its run with it.

use crate::hostile::bench::World;
use rustix::process::{Pid, Signal, kill_process};
use std::time::Duration;
use testkit::Screen;

/// How long the program may go on without a terminal, on a busy machine.
const END_WITHIN: Duration = Duration::from_secs(20);

/// The terminal UI with a run under way that never ends by itself.
fn counting(world: &World) -> Screen {
    world.put("project/model.txt", "model text \"Counting\" | pause forever\n");
    let mut parlor = world.program(world.parlor(&[]).get_program());
    let mut terminal = Screen::start(parlor.args(["--model", "scripted/model.txt"]));
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
    let mut terminal = Screen::start(&mut world.parlor(&[]));
    terminal.shows(&["offline"]);
    // Nothing is drawn any more, which would fail and tell it too.
    terminal.settles();
    assert_eq!(terminal.vanish(END_WITHIN), Some(129));
}

#[test]
fn a_terminal_that_vanishes_in_a_run_ends_the_run_in_the_record() {
    let world = World::new(None);
    assert_eq!(counting(&world).vanish(END_WITHIN), Some(129));
    is_over_in_the_record(&world);
}

#[test]
fn told_to_stop_the_terminal_ui_ends_its_run_in_the_record() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130), (Signal::QUIT, 131)] {
        let world = World::new(None);
        let mut terminal = counting(&world);
        kill_process(Pid::from_child(terminal.child()), signal).unwrap();
        assert_eq!(terminal.code(), Some(code));
        assert!(terminal.said("\u{1b}[?1049l") && terminal.echoes(), "the terminal is given back");
        is_over_in_the_record(&world);
    }
}

#[test]
fn what_was_typed_is_kept_only_where_something_is_to_be_kept() {
    for (args, kept) in [(&["--ephemeral"][..], false), (&[], true)] {
        let world = World::new(None);
        let mut terminal = Screen::start(&mut world.parlor(args));
        terminal.shows(&["offline"]);
        terminal.send("say howdy\r");
        terminal.shows(&["howdy"]);
        terminal.settles();
        // What stands in the composer when the person leaves, too.
        terminal.send("half a thought\u{3}\u{3}");
        assert_eq!(terminal.code(), Some(0));
        let prompts = world.get("data/prompts");
        assert_eq!(
            prompts.contains("howdy") && prompts.contains("half a thought"),
            kept,
            "{args:?}: {prompts}"
        );
        assert_eq!(!prompts.is_empty(), kept, "{args:?}: {prompts}");
    }
}

#[test]
fn a_pipe_in_the_place_of_earlier_prompts_is_not_waited_for() {
    let world = World::new(None);
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, world.path("data/prompts"), mode).unwrap();
    let mut terminal = Screen::start(&mut world.parlor(&[]));
    terminal.shows(&["offline"]);
    terminal.send("say howdy\r");
    terminal.shows(&["howdy"]);
    terminal.settles();
    terminal.send("\u{4}");
    assert_eq!(terminal.code(), Some(0));
}
