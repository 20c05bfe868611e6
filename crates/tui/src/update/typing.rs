//! What a person types while a question comes up, with the pauses of a person, on a clock that the tests turn: a word being typed
//! answers nothing, nothing that was typed is lost, and a person who means to answer can.

use super::tests::AttachedUi;
use crate::ask::{HELD_MS, Keyboard, QUIET_MS, ROW_MS, SEEN_MS, Waits};
use crate::msg::{Fx, Mouse, MouseAct, Msg};
use domain::ask::{Answer, AskKind, Choice, Scope};
use domain::command::{Command, QueueCommand};
use domain::ids::{AskId, Millis};
use proptest::prelude::*;
use std::time::Duration;

/// Between two letters of somebody who types.
const LETTER_MS: u64 = 120;
/// Between two words.
const WORD_MS: u64 = 350;

fn answers(stage: &mut AttachedUi) -> Vec<(AskId, Answer)> {
    let commands = stage.commands().into_iter();
    commands
        .filter_map(|command| match command {
            Command::Answer { ask, answer } => Some((ask, answer)),
            _ => None,
        })
        .collect()
}

fn running() -> AttachedUi {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    stage
}

fn composer(stage: &AttachedUi) -> String {
    stage.ui.model.screen.composer.text().to_owned()
}

/// The screen, with every blank as a blank.
fn screen(stage: &mut AttachedUi) -> String {
    stage.ui.screen().replace('\u{a0}', " ")
}

fn yes() -> Answer {
    Answer::Confirmed(true)
}

/// Types with the pauses of a person.
fn types(stage: &mut AttachedUi, text: &str, letter: u64, word: u64) {
    for c in text.chars() {
        stage.ui.wait(if c == ' ' { word - letter } else { letter });
        stage.ui.keys(&c.to_string());
    }
}

#[test]
fn words_typed_at_a_normal_pace_allow_nothing() {
    for (letter, word) in [(LETTER_MS, WORD_MS), (LETTER_MS, 300), (90, 330), (200, 1_400)] {
        let text = "you you you you you you";
        for before in 0..=text.len() {
            let mut stage = running();
            types(&mut stage, &text[..before], letter, word);
            stage.consent(10, Some("rm"));
            types(&mut stage, &text[before..], letter, word);
            assert_eq!(answers(&mut stage), [], "{letter} {word} {before}");
            assert_eq!(composer(&stage), text);
        }
    }
}

proptest! {
    #![proptest_config(testkit::cases(128))]

    #[test]
    fn no_text_answers_whenever_the_question_comes(
        text in prop::collection::vec(("[ysanrvYN .eé\n]", 0..1_500u64), 1..12),
        at in 0..12usize,
        early in 0..SEEN_MS,
        kind in 0..6usize,
    ) {
        let mut stage = running();
        // Enter on an empty line writes nothing.
        let mut empty = true;
        let writes = |(key, _): &&(String, u64)| {
            let was_empty = std::mem::replace(&mut empty, key == "\n");
            !(was_empty && key == "\n")
        };
        let text: Vec<&(String, u64)> = text.iter().filter(writes).collect();
        let at = at.min(text.len());
        let mut typed = String::new();
        for (n, (key, pause)) in text.iter().enumerate() {
            // Before the first key it may come so late that nobody can have meant it.
            let (before, after) = if n == 0 { (SEEN_MS, early) } else { (*pause, 0) };
            stage.ui.wait(before);
            if n == at {
                ask_of_kind(&mut stage, kind);
            }
            stage.ui.wait(after);
            stage.ui.keys(if key == "\n" { "<enter>" } else { key });
            typed.push_str(key);
        }
        if at == text.len() {
            ask_of_kind(&mut stage, kind);
        }
        let mut said = String::new();
        for command in stage.commands() {
            match command {
                Command::Queue(QueueCommand::Add { input, .. }) => said.push_str(&input.text),
                other => prop_assert!(false, "{other:?}"),
            }
        }
        said.push_str(&composer(&stage));
        let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        prop_assert_eq!(letters(&said), letters(&typed));
    }

    #[test]
    fn what_was_typed_before_is_there_after_any_keys_in_the_question(keys in "[ysanrvbq .\n\t]{0,8}") {
        let mut stage = running();
        types(&mut stage, "half a thought", LETTER_MS, WORD_MS);
        stage.consent(10, Some("rm"));
        stage.ui.wait(SEEN_MS);
        let mut inside = false;
        for key in keys.chars() {
            stage.ui.wait(HELD_MS);
            match key {
                '\t' => stage.ui.keys("<tab>"),
                '\n' if inside => stage.ui.keys("<enter>"),
                key if inside => stage.ui.keys(&key.to_string()),
                _ => {}
            }
            inside = stage.ui.model.keyboard() == Keyboard::Question
                || stage.ui.model.screen.over.is_open();
        }
        prop_assert_eq!(composer(&stage), "half a thought");
    }
}

fn ask_of_kind(stage: &mut AttachedUi, kind: usize) {
    let choice = |id: &str| Choice { id: id.into(), label: id.into(), detail: None };
    let text = |secret| AskKind::Text {
        message: "?".into(),
        placeholder: None,
        default: Some("x".into()),
        secret,
        multiline: false,
    };
    match kind {
        0 => stage.consent(10, Some("rm")),
        1 => stage.ask(10),
        2 => stage.ask_for(10, text(false)),
        3 => stage.ask_for(10, text(true)),
        4 => stage.ask_for(10, AskKind::Edit { message: "?".into(), prefill: "x".into() }),
        _ => {
            let choices = vec![choice("yes"), choice("no")];
            stage.ask_for(10, AskKind::Choose { message: "?".into(), choices, many: false });
        }
    }
}

#[test]
fn the_question_takes_keys_by_itself_when_nothing_was_typed_for_a_while() {
    let mut stage = running();
    stage.ui.keys("y<backspace>");
    stage.ask(10);
    stage.ui.wait(QUIET_MS - 1);
    assert!(screen(&mut stage).contains("Tab to answer, or wait a moment"), "{}", screen(&mut stage));
    assert!(!screen(&mut stage).contains("y yes"));
    stage.ui.fx.clear();
    stage.ui.feed(Msg::Resize(80, 24));
    let wakes: Vec<&Fx> = stage.ui.fx.iter().filter(|fx| matches!(fx, Fx::Wake(_))).collect();
    assert!(
        wakes.contains(&&Fx::Wake(Duration::from_millis(1))),
        "the line of keys changes by itself: {wakes:?}"
    );
    stage.ui.wait(1);
    assert!(screen(&mut stage).contains("y yes"));
    stage.ui.keys("y");
    assert_eq!(answers(&mut stage), [(AskId(10), yes())]);
}

#[test]
fn a_question_that_nobody_can_have_seen_takes_no_key() {
    let mut stage = running();
    stage.ui.wait(60_000);
    stage.ask(10);
    stage.ui.wait(SEEN_MS - 1);
    stage.ui.keys("y");
    assert_eq!(answers(&mut stage), []);
    assert_eq!(composer(&stage), "y");
}

#[test]
fn a_question_is_seen_when_it_is_drawn_and_not_before() {
    let mut stage = running();
    stage.ui.wait(60_000);
    stage.ask(10);
    // The screen is slow: it was drawn only now, and the key was typed before that.
    stage.ui.model.screen.asks.cover();
    stage.ui.wait(QUIET_MS);
    assert_eq!(stage.ui.model.keyboard(), Keyboard::Soon(None));
    super::update(&mut stage.ui.model, Msg::Key("y".parse().unwrap()), &mut stage.ui.fx);
    assert_eq!(answers(&mut stage), []);
}

#[test]
fn a_page_or_a_list_over_the_question_hides_it() {
    for opens in ["?", "<ctrl-x>"] {
        let mut stage = running();
        stage.ui.keys(opens);
        stage.ask(10);
        stage.ui.wait(QUIET_MS * 2);
        stage.ui.keys("<esc>");
        stage.ui.wait(SEEN_MS);
        stage.ui.keys("y");
        assert_eq!(answers(&mut stage), [], "{opens}");
        assert_eq!(composer(&stage), "y");
    }
}

#[test]
fn a_question_that_was_covered_is_seen_when_it_is_not() {
    let mut stage = running();
    stage.ask(10);
    stage.ui.keys("<ctrl-x>");
    stage.ui.wait(QUIET_MS * 2);
    // The list is closed by the runtime, not by a key.
    let refusal = domain::command::Refusal::new(domain::command::RefusalKind::Internal, "no list");
    let ticket = stage.ui.model.screen.tickets.last();
    stage.ui.hear(domain::port::News::Settled { ticket, with: Err(refusal) });
    assert!(!stage.ui.model.screen.over.is_open());
    stage.ui.keys("y");
    assert_eq!((answers(&mut stage), composer(&stage).as_str()), (vec![], "y"));
}

#[test]
fn a_question_that_came_while_an_editor_had_the_terminal_is_new() {
    let mut stage = running();
    stage.ui.keys("<ctrl-g>");
    stage.ask(10);
    stage.ui.wait(60_000);
    stage.ui.feed(Msg::Back);
    stage.ui.feed(Msg::FromEditor(Some(String::new())));
    stage.ui.wait(SEEN_MS);
    stage.ui.keys("y");
    assert_eq!((answers(&mut stage), composer(&stage).as_str()), (vec![], "y"));
}

#[test]
fn a_clock_that_is_set_back_keeps_nobody_waiting() {
    let mut stage = running();
    stage.ui.wait(10_000_000);
    stage.ask(10);
    super::update(&mut stage.ui.model, Msg::Tick(Millis(5_000)), &mut stage.ui.fx);
    super::update(&mut stage.ui.model, Msg::Tick(Millis(5_000 + QUIET_MS)), &mut stage.ui.fx);
    assert_eq!(stage.ui.model.keyboard(), Keyboard::Question);
}

#[test]
fn tab_moves_the_keyboard_to_the_question_and_back() {
    let mut stage = running();
    types(&mut stage, "my draft", LETTER_MS, WORD_MS);
    stage.consent(10, Some("rm"));
    stage.ui.wait(QUIET_MS * 10);
    assert!(screen(&mut stage).contains("Tab to answer; your text stays"), "{}", screen(&mut stage));
    stage.ui.keys("<tab>");
    assert!(screen(&mut stage).contains("y allow once"), "{}", screen(&mut stage));
    assert_eq!(stage.ui.draw().1, None, "the caret is not in the composer");
    stage.ui.keys("<tab>");
    assert!(stage.ui.draw().1.is_some());
    stage.ui.keys("!");
    assert_eq!(composer(&stage), "my draft!");
    stage.ui.keys("<tab>h");
    assert_eq!(composer(&stage), "my draft!", "in the question nothing goes to the draft");
    stage.ui.keys("y");
    let [(AskId(10), Answer::Allow { scope: Scope::Once, .. })] = answers(&mut stage)[..] else {
        panic!("no answer")
    };
    assert_eq!(composer(&stage), "my draft!");
}

#[test]
fn tab_takes_what_is_offered_before_it_moves() {
    let mut stage = running();
    stage.ui.keys("/ren");
    stage.ask(10);
    stage.ui.wait(QUIET_MS);
    assert!(
        screen(&mut stage).contains("Tab to answer, once the word is finished"),
        "{}",
        screen(&mut stage)
    );
    stage.ui.keys("<tab>yes");
    assert_eq!((composer(&stage).as_str(), answers(&mut stage)), ("/rename yes", vec![]));
}

#[test]
fn a_tab_that_was_meant_for_something_else_moves_nothing() {
    let mut stage = running();
    stage.ui.keys("see @mai");
    stage.ask(10);
    stage.ui.wait(100);
    stage.ui.keys("<tab>");
    stage.ui.wait(SEEN_MS);
    stage.ui.keys("yes");
    assert_eq!((composer(&stage).as_str(), answers(&mut stage)), ("see @maiyes", vec![]));
}

#[test]
fn a_search_or_a_selection_keeps_its_letters() {
    for (keys, waits) in [("<ctrl-f>go", Waits::Reading), ("<alt-up>", Waits::Reading)] {
        let mut stage = running();
        stage.ui.keys(keys);
        stage.ask(10);
        stage.ui.wait(QUIET_MS * 2);
        assert_eq!(stage.ui.model.keyboard(), Keyboard::Waits(waits));
        stage.ui.keys("y");
        assert_eq!(answers(&mut stage), [], "{keys}");
        stage.ui.keys("<tab>y");
        assert_eq!(answers(&mut stage).len(), 1, "{keys}");
    }
}

#[test]
fn another_letter_begins_a_prompt() {
    let mut stage = running();
    stage.consent(10, Some("rm"));
    stage.ui.wait(SEEN_MS);
    types(&mut stage, "hello, yes please", LETTER_MS, WORD_MS);
    assert_eq!((composer(&stage).as_str(), answers(&mut stage)), ("hello, yes please", vec![]));
    let mut stage = running();
    stage.ask(10);
    stage.ui.wait(SEEN_MS);
    types(&mut stage, "Yes", LETTER_MS, WORD_MS);
    assert_eq!((composer(&stage).as_str(), answers(&mut stage)), ("Yes", vec![]));
}

#[test]
fn questions_in_a_row_are_answered_quickly() {
    let mut stage = running();
    for id in 10..14 {
        stage.ask(id);
    }
    stage.ui.wait(SEEN_MS);
    for id in 10..14 {
        stage.ui.keys("y");
        // What the key means is known after a moment, when it was not held down.
        stage.ui.wait(HELD_MS);
        assert_eq!(answers(&mut stage), [(AskId(id), yes())]);
        stage.close(id, yes());
        stage.ui.wait(ROW_MS);
    }
    const { assert!(ROW_MS + HELD_MS <= 300) };
}

#[test]
fn another_key_in_a_row_counts_at_once() {
    let mut stage = running();
    stage.ask(10);
    stage.ask(11);
    stage.ui.wait(SEEN_MS);
    stage.ui.keys("y");
    stage.close(10, yes());
    stage.ui.wait(ROW_MS);
    stage.ui.keys("n");
    let answers = answers(&mut stage);
    assert_eq!(answers, [(AskId(10), yes()), (AskId(11), Answer::Confirmed(false))]);
}

#[test]
fn a_key_held_down_answers_one_question() {
    // How long a terminal waits before it repeats a key, and how often it does then.
    for (first, then) in [(200, 25), (250, 33), (500, 33), (660, 40), (1_000, 90)] {
        let mut stage = running();
        stage.ask(10);
        stage.ask(11);
        stage.ui.wait(SEEN_MS);
        stage.ui.keys("y");
        stage.close(10, yes());
        stage.ui.wait(first);
        for _ in 0..60 {
            stage.ui.keys("y");
            stage.ui.wait(then);
        }
        assert_eq!(answers(&mut stage), [(AskId(10), yes())], "{first} {then}");
        assert_eq!(composer(&stage), "");
        stage.ui.wait(QUIET_MS);
        stage.ui.keys("y");
        stage.ui.wait(HELD_MS);
        assert_eq!(answers(&mut stage), [(AskId(11), yes())], "and then it can be answered");
    }
}

#[test]
fn who_moved_to_a_question_is_still_there_for_the_next_of_the_row() {
    let mut stage = running();
    types(&mut stage, "my draft", LETTER_MS, WORD_MS);
    stage.ask(10);
    stage.ask(11);
    stage.ui.wait(SEEN_MS);
    stage.ui.keys("<tab>y");
    stage.close(10, yes());
    assert_ne!(stage.ui.model.keyboard(), Keyboard::Question, "it was not seen yet");
    stage.ui.wait(ROW_MS);
    stage.ui.keys("n");
    assert_eq!(answers(&mut stage).len(), 2);
    assert_eq!(composer(&stage), "my draft");
    // One that comes much later finds a text that is being written.
    stage.close(11, yes());
    stage.ui.wait(QUIET_MS);
    stage.ask(12);
    stage.ui.wait(60_000);
    stage.ui.keys("y");
    assert_eq!((answers(&mut stage), composer(&stage).as_str()), (vec![], "my drafty"));
}

#[test]
fn what_is_typed_between_two_questions_is_typed() {
    let mut stage = running();
    stage.ask(10);
    stage.ask(11);
    stage.ui.wait(SEEN_MS);
    stage.ui.keys("y");
    stage.close(10, yes());
    types(&mut stage, "now you", LETTER_MS, WORD_MS);
    assert_eq!(answers(&mut stage), [(AskId(10), yes())]);
    assert_eq!(composer(&stage), "now you");
}

#[test]
fn a_paste_goes_to_the_composer_and_answers_nothing() {
    for stand in ["", "<tab>"] {
        let mut stage = running();
        stage.consent(10, Some("rm"));
        stage.ui.wait(SEEN_MS);
        stage.ui.keys(&stand.repeat(2));
        stage.ui.feed(Msg::Paste("yes\nplease".into()));
        assert_eq!((composer(&stage).as_str(), answers(&mut stage)), ("yes\nplease", vec![]));
        stage.ui.wait(60_000);
        stage.ui.keys("y");
        assert_eq!(composer(&stage), "yes\npleasey", "it is a text that is being written");
        stage.ui.keys("<tab>r");
        stage.ui.feed(Msg::Paste("because".into()));
        assert_eq!(composer(&stage), "yes\npleasey", "a field with the caret in it takes it");
        stage.ui.keys("<enter>");
        let [(_, Answer::Deny { reason: Some(reason) })] = &answers(&mut stage)[..] else {
            panic!("no answer")
        };
        assert_eq!(reason, "because");
    }
}

#[test]
fn a_paste_goes_into_a_field_only_when_the_caret_is_there() {
    for kind in [2, 3, 4] {
        let mut stage = running();
        stage.ui.keys("draft ");
        ask_of_kind(&mut stage, kind);
        stage.ui.wait(QUIET_MS);
        stage.ui.feed(Msg::Paste("one".into()));
        assert_eq!(composer(&stage), "draft one");
        stage.ui.keys("<tab>");
        stage.ui.feed(Msg::Paste("two".into()));
        stage.ui.keys("<enter>");
        assert_eq!(answers(&mut stage), [(AskId(10), Answer::Entered("xtwo".into()))]);
        assert_eq!(composer(&stage), "draft one");
    }
}

#[test]
fn the_mouse_answers_nothing() {
    for (columns, rows) in [(80, 24), (30, 8)] {
        let mut stage = AttachedUi::new(columns, rows);
        stage.run("go");
        stage.consent(10, Some("rm"));
        stage.ui.wait(QUIET_MS);
        for row in 0..rows {
            for column in (0..columns).step_by(2) {
                for act in [MouseAct::Press, MouseAct::Release, MouseAct::WheelUp, MouseAct::WheelDown] {
                    stage.ui.feed(Msg::Mouse(Mouse { act, column, row }));
                }
            }
        }
        assert_eq!(answers(&mut stage), []);
    }
}

#[test]
fn keys_with_control_or_alt_answer_nothing() {
    let mut stage = running();
    stage.consent(10, Some("rm"));
    stage.ui.wait(SEEN_MS);
    stage.ui.keys("<ctrl-y><alt-y><ctrl-a><alt-a><ctrl-s><alt-s><ctrl-n><alt-n><ctrl-v><enter>");
    assert_eq!(answers(&mut stage), []);
}

#[test]
fn a_look_around_keeps_the_keyboard_with_the_question() {
    let mut stage = running();
    stage.ask(10);
    stage.ui.wait(SEEN_MS);
    stage.ui.keys("<pageup><pagedown><shift-up>y");
    assert_eq!(answers(&mut stage), [(AskId(10), yes())]);
}

/// Whether all words of the rule are on the screen, in order.
fn shows_rule(stage: &mut AttachedUi, words: &str) -> bool {
    let screen = screen(stage).replace(['\n', '▌'], " ");
    let shown: Vec<&str> = screen.split_whitespace().collect();
    let rule: Vec<&str> = words.split_whitespace().collect();
    shown.windows(rule.len()).any(|window| window == rule)
}

#[test]
fn a_rule_is_made_only_while_its_words_are_on_the_screen_at_any_size() {
    let rule = "every cargo test with any words after it in the folder called shop and below";
    let (mut with, mut without) = (0, 0);
    for columns in [12, 20, 30, 40, 80] {
        for rows in (3..=18).chain([24]) {
            for letter in ["s", "a"] {
                let mut stage = AttachedUi::new(columns, rows);
                stage.run("go");
                stage.consent(10, Some(rule));
                stage.ui.wait(QUIET_MS);
                let seen = shows_rule(&mut stage, rule);
                stage.ui.keys(letter);
                let made = answers(&mut stage).len() == 1;
                assert_eq!(made, seen, "{letter} at {columns}x{rows}\n{}", screen(&mut stage));
                if made {
                    with += 1;
                } else {
                    without += 1;
                }
                if made {
                    continue;
                }
                // The page with all of it has the rule, while it is scrolled to.
                stage.ui.keys("v");
                let seen = shows_rule(&mut stage, rule);
                stage.ui.keys(letter);
                let made = answers(&mut stage).len() == 1;
                assert_eq!(made, seen, "{letter} on the page at {columns}x{rows}\n{}", screen(&mut stage));
            }
        }
    }
    assert!(with > 20 && without > 20, "{with} {without}");
}

#[test]
fn a_rule_that_is_scrolled_away_cannot_be_made() {
    let mut stage = AttachedUi::new(30, 8);
    stage.run("go");
    stage.consent(10, Some("rm in this project"));
    stage.ui.wait(QUIET_MS);
    stage.ui.keys("v");
    assert!(!screen(&mut stage).contains("a project"), "not all of it was seen\n{}", screen(&mut stage));
    (0..20).for_each(|_| stage.ui.keys("<down>"));
    stage.ui.keys("<home>");
    assert!(screen(&mut stage).contains("a project"), "{}", screen(&mut stage));
    stage.ui.keys("<end>");
    assert!(!shows_rule(&mut stage, "rm in this project") && !screen(&mut stage).contains("a project"));
    stage.ui.keys("a");
    stage.ui.keys("s");
    assert_eq!(answers(&mut stage), []);
    stage.ui.wait(SEEN_MS);
    stage.ui.keys("<home>a");
    let [(_, Answer::Allow { scope: Scope::Always, .. })] = answers(&mut stage)[..] else {
        panic!("no answer")
    };
}

#[test]
fn a_word_that_begins_with_a_letter_of_the_question_allows_nothing() {
    // On these screens the rule does not fit, so `s` and `a` are no keys of the question.
    for (columns, rows) in [(40, 8), (30, 10)] {
        for word in ["say", "ay", "vy"] {
            let mut stage = AttachedUi::new(columns, rows);
            stage.run("go");
            stage.consent(10, Some("rm in this project and everywhere below it, whatever it is called"));
            stage.ui.wait(QUIET_MS);
            for letter in word.chars() {
                stage.ui.keys(&letter.to_string());
                stage.ui.wait(150);
            }
            assert_eq!(answers(&mut stage), [], "{word} {columns}x{rows}\n{}", screen(&mut stage));
        }
    }
}

#[test]
fn whoever_is_told_to_view_all_of_it_may_do_so_at_once() {
    let mut stage = AttachedUi::new(80, 4);
    stage.run("go");
    stage.consent(10, Some("rm"));
    stage.ui.wait(QUIET_MS);
    stage.ui.keys("y");
    assert!(screen(&mut stage).contains("view all of it first"), "{}", screen(&mut stage));
    // Well before the question would take letters again.
    stage.ui.wait(300);
    stage.ui.keys("v");
    assert!(stage.ui.model.screen.over.is_open(), "{}", screen(&mut stage));
    assert_eq!((answers(&mut stage), stage.ui.model.screen.composer.text()), (vec![], ""));
    // Any other letter is a word's, as it was, and `v` behind it is text.
    stage.ui.keys("<esc>");
    let mut stage = AttachedUi::new(80, 4);
    stage.run("go");
    stage.consent(10, Some("rm"));
    stage.ui.wait(QUIET_MS);
    stage.ui.keys("yev");
    assert!(!stage.ui.model.screen.over.is_open());
    assert_eq!(stage.ui.model.screen.composer.text(), "ev");
}

#[test]
fn nobody_says_yes_to_what_does_not_fit_on_the_screen() {
    for (columns, rows) in [(1, 1), (10, 3), (20, 5), (80, 4)] {
        let mut stage = AttachedUi::new(columns, rows);
        stage.run("go");
        stage.consent(10, Some("rm"));
        stage.ui.wait(QUIET_MS);
        stage.ui.keys("y");
        assert_eq!(answers(&mut stage), [], "{columns}x{rows}\n{}", screen(&mut stage));
    }
}

#[test]
fn nothing_wakes_a_question_that_waits_for_the_person() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("draft");
    stage.happen(domain::event::Body::Ask(domain::event::AskEvent::Opened(domain::ask::Ask {
        id: AskId(10),
        run: None,
        title: "?".into(),
        kind: AskKind::Confirm { message: String::new(), yes: None, no: None, danger: false },
        deadline: None,
    })));
    stage.ui.wait(60_000);
    stage.ui.fx.clear();
    stage.ui.wait(60_000);
    assert_eq!(stage.ui.fx, []);
    stage.ui.keys("<ctrl-u>");
    stage.ui.wait(QUIET_MS);
    stage.ui.fx.clear();
    stage.ui.wait(60_000);
    assert_eq!(stage.ui.fx, [], "nor one that has the keyboard");
}

#[test]
fn an_enter_on_an_empty_line_keeps_the_keys_of_the_question() {
    let mut stage = running();
    stage.ask(10);
    stage.ui.wait(QUIET_MS);
    stage.ui.keys("<enter>");
    assert_eq!(stage.ui.model.keyboard(), Keyboard::Question);
    stage.ui.wait(HELD_MS);
    stage.ui.keys("y");
    assert_eq!(answers(&mut stage), [(AskId(10), yes())]);
}

#[test]
fn a_lone_answer_that_was_taken_as_text_says_so_and_leaves_none() {
    let mut stage = running();
    stage.ui.keys("x<backspace>");
    stage.ask(10);
    stage.ui.wait(SEEN_MS);
    stage.ui.keys("y");
    assert!(screen(&mut stage).contains("y was taken as text; Tab, then y"), "{}", screen(&mut stage));
    stage.ui.keys("<tab>");
    stage.ui.wait(HELD_MS);
    stage.ui.keys("y");
    assert_eq!((answers(&mut stage), composer(&stage).as_str()), (vec![(AskId(10), yes())], ""));
}

#[test]
fn a_digit_chooses() {
    let mut stage = running();
    ask_of_kind(&mut stage, 5);
    stage.ui.wait(QUIET_MS);
    stage.ui.keys("2");
    assert_eq!(answers(&mut stage), [(AskId(10), Answer::Chosen(vec!["no".into()]))]);
}
