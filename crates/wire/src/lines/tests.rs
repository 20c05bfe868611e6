//! Tables and properties of framing: any cut, resuming after bad lines, bounded memory.

use super::*;
use proptest::prelude::*;

fn frames(cap: usize, chunks: &[&[u8]]) -> Vec<Frame> {
    let mut framer = Framer::with_cap(cap);
    let mut out = Vec::new();
    for chunk in chunks {
        framer.push(chunk);
        out.extend(framer.by_ref());
    }
    while let Some(frame) = framer.finish() {
        out.push(frame);
    }
    out
}

fn line(text: &str) -> Frame {
    Frame::Line(text.into())
}

#[test]
fn lines_lose_their_newline_and_one_carriage_return() {
    assert_eq!(
        frames(100, &[b"a\nb\r\n\n\r\nc\r\r\n"]),
        [line("a"), line("b"), line(""), line(""), line("c\r")]
    );
}

#[test]
fn the_last_line_without_newline_is_unfinished() {
    assert_eq!(frames(100, &[b"a\n{\"half"]), [line("a"), Frame::Unfinished("{\"half".into())]);
    assert_eq!(frames(100, &[b"a\n"]), [line("a")]);
    assert_eq!(frames(100, &[]), []);
}

#[test]
fn a_line_of_exactly_the_cap_passes_and_one_more_is_refused() {
    assert_eq!(frames(4, &[b"abcd\n"]), [line("abcd")]);
    for chunks in [&[&b"abcde\n"[..]][..], &[b"abc", b"de"]] {
        assert_eq!(frames(4, chunks), [Frame::Overlong { bytes_seen: 5, head: "abcde".into() }]);
    }
}

#[test]
fn the_stream_goes_on_after_an_overlong_line() {
    let long = [b'x'; 1000];
    let got = frames(10, &[b"first\n", &long, &long, b"tail\nsecond\n"]);
    assert_eq!(
        got,
        [line("first"), Frame::Overlong { bytes_seen: 2004, head: "x".repeat(HEAD_CHARS) }, line("second")]
    );
}

#[test]
fn an_overlong_line_is_not_held() {
    let mut framer = Framer::with_cap(1000);
    for _ in 0..10_000 {
        framer.push(&[b'x'; 100]);
        assert_eq!(framer.next(), None);
        assert!(framer.held() <= 1000);
        assert!(framer.buffer.capacity() <= 4096);
    }
}

#[test]
fn bad_bytes_are_reported_and_cost_only_their_line() {
    assert_eq!(
        frames(100, &[b"ok\n\xff\xfe\na\0b\nok\n\xc3"]),
        [
            line("ok"),
            Frame::NotUtf8 { at: 0, head: "\u{fffd}\u{fffd}".into() },
            Frame::Nul { at: 1, head: "a\0b".into() },
            line("ok"),
            Frame::NotUtf8 { at: 0, head: "\u{fffd}".into() },
        ]
    );
}

#[test]
fn one_push_of_many_lines_taken_slowly_stays_linear() {
    // One frame taken per push while a large backlog is held: a naive drain would move the backlog each time.
    let mut framer = Framer::new();
    framer.push(&b"0123456789\n".repeat(200_000));
    for _ in 0..200_000 {
        assert_eq!(framer.next(), Some(line("0123456789")));
        framer.push(b"");
    }
    assert_eq!(framer.next(), None);
}

#[test]
fn what_a_large_line_needed_is_given_back_when_it_was_taken() {
    let mut framer = Framer::new();
    framer.push(&[&[b'x'; 2 * KEEP_CAPACITY][..], b"\n"].concat());
    assert!(matches!(framer.next(), Some(Frame::Line(line)) if line.len() == 2 * KEEP_CAPACITY));
    assert_eq!((framer.next(), framer.buffer.capacity()), (None, 0));
    framer.push(b"on\n");
    assert_eq!(framer.next(), Some(Frame::Line("on".into())));
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        3 => Just(b'\n'), 1 => Just(b'\r'), 1 => Just(0u8), 1 => any::<u8>(), 8 => b'a'..=b'f',
        1 => Just(0xc3u8), 1 => Just(0xa9u8),
    ];
    proptest::collection::vec(byte, 0..300)
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_frames(
        bytes in stream(),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..20),
        cap in 0usize..20,
    ) {
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let chunks: Vec<&[u8]> = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(frames(cap, &chunks), frames(cap, &[&bytes]));
    }

    #[test]
    fn there_is_one_frame_per_newline(bytes in stream(), cap in 0usize..20) {
        let newlines = bytes.iter().filter(|byte| **byte == b'\n').count();
        let rest = usize::from(!bytes.is_empty() && bytes.last() != Some(&b'\n'));
        prop_assert_eq!(frames(cap, &[&bytes]).len(), newlines + rest);
    }

    #[test]
    fn clean_lines_come_through(lines in proptest::collection::vec("[^\n\r\0]{0,40}", 0..20)) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let want: Vec<Frame> = lines.into_iter().map(Frame::Line).collect();
        prop_assert_eq!(frames(MAX_LINE, &[text.as_bytes()]), want);
    }
}
