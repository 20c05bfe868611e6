//! Words in passing: where they stand, when they go, and what a command of the person's own leaves.

use super::*;
use crate::msg::{CommandOutput, Fx, Mouse, MouseAct};
use crate::overlay::Content;

fn line_of(screen: &str, words: &str) -> Option<usize> {
    screen.lines().position(|line| line.contains(words))
}

#[test]
fn a_word_stands_on_the_line_above_the_composer_and_moves_nothing() {
    check("word_in_passing", 14, |stage| {
        stage.run("say it");
        stage.text("One.\n\nTwo.\n\nThree.");
        stage.end(Outcome::Done);
        stage.ui.keys("!<enter>");
    });
    let mut stage = AttachedUi::new(80, 14);
    stage.run("say it");
    stage.text("One.\n\nTwo.\n\nThree.");
    stage.end(Outcome::Done);
    let before = stage.ui.screen();
    stage.ui.keys("!<enter>");
    let after = stage.ui.screen();
    let at = line_of(&after, "write a command behind the !").unwrap();
    assert_eq!(at + 1, line_of(&after, " >  ask anything").unwrap(), "{after}");
    let moved: Vec<_> = before.lines().zip(after.lines()).filter(|(a, b)| a != b).collect();
    assert_eq!(moved.len(), 1, "only that line differs: {moved:?}");
}

#[test]
fn a_long_word_has_rows_of_its_own_and_covers_no_text() {
    let mut stage = AttachedUi::new(60, 20);
    stage.run("say it");
    let text: String = (1..=30).map(|n| format!("line {n}\n\n")).collect();
    stage.text(&text);
    stage.end(Outcome::Done);
    let long =
        "the runtime will not do this just now, for a reason that takes a long sentence to be told in full";
    let signal = Signal::Notify { level: Level::Warning, text: long.into() };
    stage.ui.hear(News::Signal { session: SessionId::from_number(1), signal });
    let screen = stage.ui.screen();
    let words = screen.replace('▏', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(long), "{screen}");
    let first = line_of(&screen, "▏ the runtime will not").unwrap();
    assert!(screen.lines().nth(first - 1).unwrap().contains("line 30"), "the text ends above it\n{screen}");
}

#[test]
fn a_word_is_seen_below_lists_and_pages() {
    check("word_below_a_list", 12, |stage| {
        stage.ui.keys("/theme<enter>");
        let signal = Signal::Notify { level: Level::Error, text: "this one cannot be deleted".into() };
        stage.ui.hear(News::Signal { session: SessionId::from_number(1), signal });
    });
    for keys in ["?", "/theme<enter>"] {
        let mut stage = AttachedUi::new(80, 24);
        stage.ui.keys(keys);
        let foot = stage.ui.screen().lines().last().unwrap().trim().to_owned();
        let signal = Signal::Notify { level: Level::Error, text: "not now".into() };
        stage.ui.hear(News::Signal { session: SessionId::from_number(1), signal });
        let screen = stage.ui.screen();
        let last = screen.lines().last().unwrap();
        assert!(last.contains("not now"), "{keys}\n{screen}");
        let above = screen.lines().rev().nth(1).unwrap().trim();
        let known = foot.rsplit_once(" · ").map_or(foot.as_str(), |(keys, _)| keys);
        assert!(above.starts_with(known), "the keys are still told: {above:?}, {foot:?}\n{screen}");
    }
}

#[test]
fn a_word_goes_with_what_it_is_about() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    stage.consent(40, None);
    stage.ui.wait(crate::ask::SEEN_MS);
    stage.ui.keys("a");
    assert!(stage.ui.screen().contains("no rule is offered for this"), "{}", stage.ui.screen());
    stage.ui.wait(crate::ask::QUIET_MS);
    stage.ui.keys("y");
    assert!(!stage.ui.screen().contains("no rule is offered for this"), "{}", stage.ui.screen());
    stage.close(40, domain::ask::Answer::Deny { reason: None });
    stage.ui.keys("<esc>");
    assert!(stage.ui.screen().contains("stopping the run"), "{}", stage.ui.screen());
    stage.end(Outcome::Cancelled);
    assert!(!stage.ui.screen().contains("stopping the run"), "{}", stage.ui.screen());
    stage.ui.keys("<ctrl-c>");
    assert!(stage.ui.screen().contains("Ctrl-C again quits"), "{}", stage.ui.screen());
    stage.ui.wait(2_001);
    assert!(!stage.ui.screen().contains("Ctrl-C again quits"), "it would not quit any more");
}

/// Fifty thousand lines, as the shell hands them on.
fn long_output() -> CommandOutput {
    let kept: String = (45_001..=50_000).map(|n| format!("{n}\n")).collect();
    CommandOutput { text: kept, lost: 45_000 }
}

#[test]
fn what_a_command_of_ones_own_wrote_can_be_opened_and_is_counted_right() {
    let mut stage = AttachedUi::new(80, 40);
    stage.ui.keys("! seq 1 50000<enter>");
    stage.ui.feed(Msg::Shell { line: "seq 1 50000".into(), said: long_output(), code: Some(0) });
    let screen = stage.ui.screen();
    assert!(screen.contains("… 49992 more before"), "{screen}");
    assert!(screen.contains("│ 50000") && screen.contains("│ 49993"), "{screen}");
    stage.ui.keys("<ctrl-o>");
    let screen = stage.ui.screen();
    assert!(
        screen.contains("45000 lines before this one are not kept") && screen.contains(" 45001"),
        "{screen}"
    );
    stage.ui.keys("<end>");
    assert!(stage.ui.screen().contains(" 50000"), "{}", stage.ui.screen());
    stage.ui.keys("<esc>");
    let row = line_of(&stage.ui.screen(), "│ 49999").unwrap();
    let click = |act| Msg::Mouse(Mouse { act, column: 5, row: u16::try_from(row).unwrap() });
    stage.ui.feed(click(MouseAct::Press));
    assert!(stage.ui.screen().contains(" 45001"), "a click opens it\n{}", stage.ui.screen());
    stage.ui.keys("<esc>what is this?<enter>");
    let sent = format!("{:?}", stage.commands());
    assert!(sent.contains("49999") && sent.contains("the beginning is cut"), "it is attached");
}

#[test]
fn what_is_dropped_can_still_be_read() {
    check("own_output_dropped", 14, |stage| {
        stage.ui.keys("! make<enter>");
        stage.ui.feed(Msg::Shell { line: "make".into(), said: said("one\ntwo\n"), code: None });
        stage.ui.keys("<esc>");
        stage.ui.wait(7_000);
    });
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("! make<enter>");
    stage.ui.feed(Msg::Shell { line: "make".into(), said: said("one\ntwo\n"), code: None });
    stage.ui.keys("<esc>");
    let screen = stage.ui.screen();
    assert!(screen.contains("$ make") && screen.contains("2 lines, not sent"), "{screen}");
    stage.ui.keys("<ctrl-o>");
    assert!(stage.ui.screen().contains(" two"), "{}", stage.ui.screen());
    stage.ui.keys("<esc>hello<enter>");
    let sent = format!("{:?}", stage.commands());
    assert!(sent.contains("hello") && !sent.contains("two"), "{sent}");
    assert!(!stage.ui.screen().contains("$ make"), "{}", stage.ui.screen());
    assert!(!stage.ui.screen().contains("will not be sent"), "the prompt it spoke of is said");
}

#[test]
fn the_selection_reaches_what_a_command_of_ones_own_wrote() {
    let mut stage = AttachedUi::new(80, 40);
    stage.run("hello");
    stage.text("an answer");
    stage.end(Outcome::Done);
    stage.ui.keys("! make<enter><alt-up>");
    assert!(stage.ui.model.screen.transcript.selected().is_some(), "it wrote nothing yet");
    stage.ui.keys("<esc>");
    stage.ui.feed(Msg::Shell { line: "make".into(), said: said("one\ntwo\n"), code: Some(2) });
    stage.ui.keys("<alt-up>");
    assert!(stage.ui.model.screen.own.is_selected());
    let screen = stage.ui.screen();
    assert!(screen.contains("Enter opens") && !screen.contains("goes back"), "{screen}");
    stage.ui.keys("<enter>");
    assert!(matches!(stage.ui.model.screen.over.page().map(|page| page.content()), Some(Content::Own)));
    stage.ui.keys("<esc>c");
    assert!(stage.ui.fx.contains(&Fx::Copy("one\ntwo".into())), "{:?}", stage.ui.fx);
    // Up to the conversation and down again.
    stage.ui.keys("<alt-up>");
    let own = |stage: &AttachedUi| stage.ui.model.screen.own.is_selected();
    assert!(!own(&stage) && stage.ui.model.screen.transcript.selected().is_some());
    stage.ui.keys("<alt-down>");
    assert!(own(&stage) && stage.ui.model.screen.transcript.selected().is_none());
    stage.ui.keys("<down>");
    assert!(!own(&stage));
    // Whoever goes on writing is not reading.
    stage.ui.keys("<alt-up>next");
    assert!(!own(&stage) && stage.ui.model.screen.composer.text() == "next");
}
