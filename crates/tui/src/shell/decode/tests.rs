//! Keys as terminals send them, and answers between them, in pieces.

use super::*;
use proptest::prelude::*;

fn keys(bytes: &str) -> String {
    let mut decoder = Decoder::default();
    let mut said = decoder.feed(bytes.as_bytes());
    said.extend(decoder.give_up());
    let word = |said: &InputEvent| match said {
        InputEvent::Key(key) => key.to_string(),
        other => format!("{other:?}"),
    };
    said.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn keys_are_read_as_terminals_send_them() {
    for (bytes, read) in [
        ("aÄ日", "a Ä 日"),
        ("\r\t\x7f\x03\x1f\n", "Enter Tab Backspace Ctrl-C Ctrl-_ Ctrl-J"),
        ("\x1b", "Esc"),
        ("\x1b\x1b", "Esc Esc"),
        ("\x1bx\x1b\r", "Alt-X Alt-Enter"),
        ("\x1b[A\x1bOB\x1b[1;5C\x1b[1;2D", "↑ ↓ Ctrl-→ Shift-←"),
        ("\x1b\x1b[A", "Alt-↑"),
        ("\x1b[3~\x1b[5~\x1b[6;5~\x1b[H\x1b[4~", "Delete PgUp Ctrl-PgDn Home End"),
        ("\x1bOP\x1b[15~\x1b[24~\x1b[[C", "F1 F5 F12 F3"),
        ("\x1b[Z\x1b[9;2u", "Shift-Tab Shift-Tab"),
        ("\x1b[13;2u\x1b[27u\x1b[99;5u\x1b[97;2u", "Shift-Enter Esc Ctrl-C A"),
        ("\x1b[97;1:3u\x1b[27;2;13~", "Shift-Enter"),
        ("\x1b]", "Alt-]"),
        ("\x1b]x", "Alt-] x"),
        ("\x1bPx", "Alt-Shift-P x"),
        ("\x1b[I\x1b[999z", ""),
    ] {
        assert_eq!(keys(bytes), read, "{bytes:?}");
    }
}

#[test]
fn what_looks_like_the_place_of_the_cursor_may_be_a_key() {
    let mut decoder = Decoder::default();
    let (first, second) = (Answer::Cursor(0, 4), Answer::Cursor(11, 39));
    assert_eq!(first.as_key().unwrap().to_string(), "Ctrl-F3");
    assert_eq!(second.as_key(), None);
    assert_eq!(decoder.feed(b"\x1b[1;5R\x1b[12;40R"), [first, second].map(InputEvent::Answer));
}

#[test]
fn the_mouse_and_pastes_are_read() {
    let mut decoder = Decoder::default();
    let mouse = |act, column, row| InputEvent::Mouse(Mouse { act, column, row });
    let said = decoder.feed(b"\x1b[<0;3;5M\x1b[<32;4;5M\x1b[<0;4;5m\x1b[<64;1;1M");
    assert_eq!(
        said,
        [
            mouse(MouseAct::Press, 2, 4),
            mouse(MouseAct::Drag, 3, 4),
            mouse(MouseAct::Release, 3, 4),
            mouse(MouseAct::WheelUp, 0, 0)
        ]
    );
    assert_eq!(decoder.feed(b"\x1b[200~a\x1b[A\x1b"), []);
    assert!(decoder.waits().is_none(), "a paste is waited for however long it takes");
    assert_eq!(
        decoder.feed(b"[201~z"),
        [InputEvent::Paste("a\x1b[A".into()), InputEvent::Key(Key::char('z'))]
    );
}

const ANSWERS: &str =
    "\x1b[?2026;2$y\x1b[?0u\x1bP>|foot(1.20)\x1b\\\x1b]11;rgb:ffff/fafa/f0f0\x1b\\\x1b[12;1R\x1b[?62;22c";

fn answers() -> Vec<InputEvent> {
    [
        Answer::Synchronized(true),
        Answer::Keys,
        Answer::Name("foot(1.20)".into()),
        Answer::Dark(false),
        Answer::Cursor(11, 0),
        Answer::Attributes,
    ]
    .map(InputEvent::Answer)
    .to_vec()
}

#[test]
fn answers_are_told_apart_from_keys() {
    assert_eq!(Decoder::default().feed(ANSWERS.as_bytes()), answers());
    for (answer, meant) in [
        ("\x1b]11;rgb:1e1e/1e1e/2e2e\x07", vec![InputEvent::Answer(Answer::Dark(true))]),
        ("\x1b]11;rgb:f/f/f\x07", vec![InputEvent::Answer(Answer::Dark(false))]),
        ("\x1b[?2026;0$y", vec![InputEvent::Answer(Answer::Synchronized(false))]),
        ("\x1b]11;rgb:12\x1b\\", vec![]),
    ] {
        assert_eq!(Decoder::default().feed(answer.as_bytes()), meant, "{answer:?}");
    }
}

#[test]
fn an_answer_that_stops_in_the_middle_swallows_no_keys() {
    let mut decoder = Decoder::default();
    assert_eq!(decoder.feed(b"\x1b]11;rgb:1e1e/1e"), []);
    assert!(decoder.waits().is_none() && decoder.give_up().is_empty(), "it is no key, however long it takes");
    let typed = decoder.feed(b"\r");
    assert_eq!(typed, [InputEvent::Key(Key::plain(Code::Enter))]);
    assert_eq!(decoder.feed(b"\x1b[?62;2"), []);
    assert_eq!(decoder.feed(b"\x1b[A"), [InputEvent::Key(Key::plain(Code::Up))]);
}

proptest! {
    #[test]
    fn answers_may_come_in_any_pieces_between_keys(cuts in prop::collection::vec(1usize..12, 1..40), typed in "[a-z]{0,3}") {
        let bytes = format!("{typed}{ANSWERS}{typed}");
        let (mut decoder, mut said, mut rest) = (Decoder::default(), Vec::new(), bytes.as_bytes());
        for cut in cuts.iter().cycle() {
            let (now, later) = rest.split_at((*cut).min(rest.len()));
            said.extend(decoder.feed(now));
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        let keys = |text: &str| text.chars().map(|c| InputEvent::Key(Key::char(c))).collect::<Vec<_>>();
        prop_assert_eq!(said, [keys(&typed), answers(), keys(&typed)].concat());
    }

    #[test]
    fn no_bytes_break_it_or_are_kept_for_ever(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut decoder = Decoder::default();
        decoder.feed(&bytes);
        decoder.give_up();
        prop_assert!(decoder.waits().is_none());
    }
}

#[test]
fn an_answer_that_a_slow_line_cuts_early_is_waited_for_once_at_the_start() {
    for (first, rest) in [("\x1b", "]11;rgb:0000/0000/0000\x07"), ("\x1b]", "11;rgb:0000/0000/0000\x07")] {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.feed(first.as_bytes()), []);
        assert_eq!(decoder.waits(), Some(REST_WITHIN), "an answer is expected");
        assert_eq!(decoder.feed(rest.as_bytes()), [InputEvent::Answer(Answer::Dark(true))]);
        // All was answered: an Esc is a key, and at once.
        decoder.feed(b"\x1b[?62c");
        decoder.feed(first.as_bytes());
        assert_eq!(decoder.waits(), Some(ESC_WITHIN));
    }
    // A terminal that answers nothing makes one key late, not all.
    let mut decoder = Decoder::default();
    decoder.feed(b"\x1b]");
    let alt = Key { alt: true, ..single(b']') };
    assert_eq!(decoder.give_up(), [InputEvent::Key(alt)]);
    decoder.feed(b"\x1b");
    assert_eq!(decoder.waits(), Some(ESC_WITHIN));
}
