//! A prompt on the command line: it is said as soon as there is a session, on the screen and in lines.

use crate::hostile::bench::World;
use testkit::Screen;

#[test]
fn a_prompt_on_the_command_line_is_said_at_once() {
    let world = World::new(None);
    let mut terminal = Screen::start(&mut world.parlor(&["say howdy there"]));
    terminal.shows(&["> say howdy there", "howdy there", "offline"]);
    terminal.settles();
    // It stands among the earlier prompts, as if it had been typed.
    terminal.send("\x1b[A");
    terminal.until("it is in the composer", |screen| screen.count("> say howdy there") == 2);
    terminal.send("\x15\x04");
    assert_eq!(terminal.code(), Some(0));
}

#[test]
fn a_prompt_on_the_command_line_is_said_in_lines_too() {
    let world = World::new(None);
    let mut terminal = Screen::start(&mut world.parlor(&["--plain", "say howdy there"]));
    terminal.shows(&["You: say howdy there", "howdy there"]);
    terminal.settles();
    terminal.send("\x04");
    assert_eq!(terminal.code(), Some(0));
}

#[test]
fn a_prompt_needs_a_conversation_that_is_named() {
    let world = World::new(None);
    let mut terminal = Screen::start(&mut world.parlor(&["say howdy there", "--resume"]));
    terminal.shows(&["a prompt needs a conversation that is named", "parlor --resume ID"]);
    assert_eq!(terminal.code(), Some(2));
}
