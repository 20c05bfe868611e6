//! `parlor --resume` without an id: the list that the screen has, with its filter and its arrows.

use crate::hostile::bench::World;
use testkit::Screen;

#[test]
fn a_conversation_is_picked_from_the_list_of_the_screen() {
    let world = World::new(None);
    for said in ["say howdy", "say moin"] {
        assert!(world.parlor(&["run", said]).output().unwrap().status.success());
    }
    let mut terminal = Screen::start(&mut world.parlor(&["--resume"]));
    terminal.shows(&["Sessions", "type to filter", "say howdy", "say moin"]);
    // An arrow moves, a word filters, and Enter goes there.
    terminal.send("\x1b[B\x1b[Ahowdy");
    terminal.shows(&["> howdy", "1 of 1"]);
    terminal.send("\r");
    terminal.shows(&["> say howdy", "offline"]);
    terminal.settles();
    terminal.send("\x04");
    assert_eq!(terminal.code(), Some(0));
}

#[test]
fn who_picks_nothing_begins_anew() {
    let world = World::new(None);
    assert!(world.parlor(&["run", "say howdy"]).output().unwrap().status.success());
    let mut terminal = Screen::start(&mut world.parlor(&["--resume"]));
    terminal.shows(&["Sessions", "say howdy"]);
    terminal.send("\x1b");
    terminal.shows(&["shows all keys"]);
    terminal.settles();
    terminal.send("\x04");
    assert_eq!(terminal.code(), Some(0));
}

#[test]
fn before_a_command_a_conversation_must_be_named() {
    let world = World::new(None);
    assert!(world.parlor(&["run", "say howdy"]).output().unwrap().status.success());
    for args in [
        &["--resume", "--plain", "run", "say moin"][..],
        &["--resume", "run", "say moin"],
        &["-r", "run", "moin"],
    ] {
        let mut terminal = Screen::start(&mut world.parlor(args));
        terminal.shows(&["--resume before", "needs its value", "`parlor sessions` lists the ids"]);
        assert_eq!(terminal.code(), Some(2), "{args:?}");
        assert!(!terminal.said("Which?"), "nothing is asked for in a line");
    }
}
