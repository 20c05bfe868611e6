//! What a settings file makes of the keys.

use super::*;

fn read(wanted: &[(&str, &[&str])]) -> (Keymap, Vec<String>) {
    let own = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    let wanted: Vec<(String, Vec<String>)> =
        wanted.iter().map(|(name, keys)| ((*name).to_owned(), own(keys))).collect();
    Keymap::read(&wanted)
}

fn key(text: &str) -> Key {
    text.parse().unwrap()
}

#[test]
fn the_defaults_are_all_keys_and_none_is_given_twice() {
    let mut seen = BTreeSet::new();
    for named in ACTIONS {
        assert_eq!(default_keys(named).count(), named.keys.len(), "{}", named.name);
        for key in default_keys(named) {
            assert!(seen.insert(key), "{key} does two things");
            assert_eq!(may_be_bound(key).is_ok(), key != Key::plain(Code::Esc));
        }
    }
    assert!(GROUPS.iter().all(|(_, first)| ACTIONS.iter().any(|named| named.action == *first)));
}

#[test]
fn a_wanted_key_takes_the_place_of_the_defaults() {
    let (keymap, told) = read(&[("steer", &["ctrl-t"]), ("/model", &["f2"]), ("cut-word", &["alt-w"])]);
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(keymap.does(key("ctrl-t")), Some(Does::Action(Action::Steer)));
    assert_eq!(keymap.does(key("ctrl-s")), None);
    assert_eq!(keymap.shown(Action::Steer), "Ctrl-T");
    assert_eq!(keymap.commands().collect::<Vec<_>>(), [(key("f2"), "model")]);
    assert_eq!(keymap.edits(key("alt-w")), Some(key("ctrl-w")));
    assert_eq!(keymap.edits(key("ctrl-w")), None, "it cuts no more");
    assert_eq!(keymap.edits(key("ctrl-k")), Some(key("ctrl-k")));
}

#[test]
fn an_empty_list_takes_the_key_away_and_is_no_mistake() {
    let (keymap, told) = read(&[("suspend", &[])]);
    assert_eq!((keymap.does(key("ctrl-z")), told), (None, Vec::new()));
    assert_eq!(keymap.shown(Action::Suspend), "/help");
}

#[test]
fn what_cannot_be_is_told_with_what_to_do() {
    for (wanted, word) in [
        (("stear", &["ctrl-t"][..]), "[ui.keys] knows no stear: /keys has the names"),
        (("serch", &["ctrl-t"]), "[ui.keys] knows no serch: did you mean search?"),
        (("/nothing", &["f2"]), "there is no command /nothing; /help lists them"),
        (
            ("steer", &["hyper-x"]),
            "steer: `hyper-x` names no key; write it like `ctrl-k`, `alt-enter` or `f2`",
        ),
        (("steer", &["s"]), "steer: s alone is typed as text; hold ctrl or alt, or use f1 to f12"),
        (("steer", &["ctrl-c"]), "steer: Ctrl-C always keeps its meaning; choose another key"),
        (("steer", &["ctrl-x"]), "sessions has no key (Ctrl-X is steer now): give it one in [ui.keys]"),
    ] {
        let (keymap, told) = read(&[wanted]);
        assert_eq!(told, [word]);
        assert_eq!(keymap.does(Key::ctrl('c')), None);
        assert!(keymap.first(Action::Steer).is_some(), "a wrong key leaves the action its own");
    }
}

#[test]
fn where_a_key_was_given_away_the_command_is_named() {
    let (keymap, _) = read(&[("fold", &["f5"])]);
    assert_eq!(keymap.shown_or(Action::Restart, "/restart"), "/restart");
    assert_eq!(keymap.shown_or(Action::Fold, "/restart"), "F5");
}

#[test]
fn the_first_of_two_that_want_one_key_has_it() {
    let (keymap, told) = read(&[("fold", &["f6"]), ("search", &["f6"])]);
    assert_eq!(told, ["F6 is given to both fold and search; fold has it: give search another key"]);
    assert_eq!(keymap.does(key("f6")), Some(Does::Action(Action::Fold)));
    assert_eq!(keymap.does(key("ctrl-f")), Some(Does::Action(Action::Search)));
}

#[test]
fn two_actions_can_swap_their_keys() {
    let (keymap, told) = read(&[("send", &["alt-enter"]), ("new-line", &["enter", "ctrl-j"])]);
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(keymap.does(key("enter")), Some(Does::Action(Action::NewLine)));
    assert_eq!(keymap.does(key("alt-enter")), Some(Does::Action(Action::Send)));
}
