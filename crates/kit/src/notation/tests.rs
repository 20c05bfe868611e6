//! The notation: what is read, what is refused, how a run is judged, shown and accepted.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::pattern::tests::any_pattern;
use crate::pattern::{Bindings, Missing};

const EXAMPLE: &str = r##"# What a first prompt looks like.
dialect openagent
title  one prompt, one tool
seed "section 5.1"
option width=80

# Shaking hands.
> {"jsonrpc":"2.0","id":1,"method":"initialize"}
< {"jsonrpc":"2.0","id":1,
   "result":{"status":"ready", ...}}

@+12ms >@1 {"id":$id}
model text "To optimize" | tool read {"path":"a"} | error
tool read ok "content"
command prompt "fix the bug"
event run-started r1
keys fix the bug<enter>
screen 80x24
  |hello   
  |
  |  world
wait 30s
! {"raw":  
!<@1 nonsense
!hex 00 ff 0a
anyorder
< {"a":...}
optional < [$_,...]
end
optional <@1 {...}
close <
kill
"##;

#[test]
fn everything_is_read_and_printed_canonically() {
    let transcript = Transcript::parse(EXAMPLE).unwrap();
    expect![[r##"
        # What a first prompt looks like.
        dialect openagent
        title one prompt, one tool
        seed "section 5.1"
        option width=80

        # Shaking hands.
        > {"jsonrpc":"2.0","id":1,"method":"initialize"}
        < {"jsonrpc":"2.0","id":1,"result":{"status":"ready",...}}

        @+12ms >@1 {"id":"$id"}
        model text "To optimize" | tool read {"path":"a"} | error
        tool read ok "content"
        command prompt "fix the bug"
        event run-started r1
        keys fix the bug<enter>
        screen 80x24
          |hello
          |
          |  world
        wait 30s
        ! {"raw":  
        !<@1 nonsense
        !hex 00ff0a
        anyorder
        < {"a":...}
        optional < [$_,...]
        end
        optional <@1 {...}
        close <
        kill
    "##]]
    .assert_eq(&transcript.to_string());
    assert_eq!(Transcript::parse(&transcript.to_string()).unwrap(), transcript);
    let two_lines = &transcript.steps[2];
    assert_eq!((two_lines.line_no, two_lines.last_line), (9, 10));
    assert_eq!(transcript.steps[4].line_no, 12);
    assert_eq!(Transcript::parse(&EXAMPLE.replace('\n', "\r\n")).unwrap(), transcript);
}

#[test]
fn refused_texts_name_their_line() {
    for (text, said) in [
        (
            "talk hi",
            "line 1: unknown word \"talk\"; a step begins with `>`, `<`, `!`, `#`, model, tool, command, event, keys, screen, wait, optional, anyorder, close, kill; a head is dialect, title, seed, session-cwd, home, option",
        ),
        ("dialect a\ndialect b", "line 2: `dialect` stands twice"),
        ("dialect", "line 1: `dialect` needs a value"),
        ("> 1\ndialect a", "line 2: `dialect` must stand before the first step"),
        ("option x", "line 1: an option is written `option name=value`"),
        ("#\n> {\"a\":1", "line 2: expected `,` or `}`, found the end (character 7 of the value)"),
        (
            "> {\"a\":\n< {}",
            "line 2: expected a JSON value, `...` or `$name`, found '<' (character 1, in the value that began on line 1)",
        ),
        ("> {} # note", "line 1: \"# note\" after the value; comments have their own line"),
        (">\n{}", "line 1: the value must begin on this line"),
        (">@300 {}", "line 1: a lane is a number from 0 to 255, as in `>@1 {…}`"),
        ("!hex 0", "line 1: `!hex` takes pairs of hex digits: `!hex 00ff0a`"),
        ("!oops", "line 1: a raw line is written `! text`, `!< text` or `!hex 00ff0a`"),
        ("wait soon", "line 1: \"soon\" is not a time such as `250ms`, `30s`, `2m`"),
        ("screen 0x24", "line 1: \"0x24\" is not a size such as `80x24`"),
        ("optional wait 1s", "line 1: `optional` is followed by a `<` or `>` line"),
        ("end", "line 1: `end` without `anyorder`"),
        ("anyorder\n< 1", "line 1: this `anyorder` has no `end`"),
        ("anyorder\n< 1\n> 1\nend", "line 3: the lines of an `anyorder` block are all of one side"),
        ("anyorder\nwait 1s\nend", "line 2: an `anyorder` block holds only `<` or `>` lines"),
        ("anyorder\nanyorder", "line 2: an `anyorder` block cannot hold another"),
        ("close now", "line 1: \"now\" is no side: `>` is the UI, `<` the runtime"),
        ("keys", "line 1: `keys` needs something after it"),
    ] {
        assert_eq!(Transcript::parse(text).unwrap_err().to_string(), said, "{text}");
    }
}

#[test]
fn recorded_lines_are_literal() {
    for (line, printed) in [
        (&br#"{"b":"$x ${y}","a":1.0}"#[..], r#"@+5ms < {"b":"$x \u0024{y}","a":1.0}"#),
        (br#"{"id":"$x"}"#, r#"@+5ms < {"id":"\u0024x"}"#),
        (b"{oops", "@+5ms !< {oops"),
        (b"\xff", "@+5ms !<hex ff0a"),
        (b"a\rb", "@+5ms !<hex 610d620a"),
        (br#"{"a":1,"a":2}"#, r#"@+5ms !< {"a":1,"a":2}"#),
    ] {
        let step = Step::recorded(Side::Runtime, 0, line, Some(Millis(5)));
        assert_eq!(step.to_string(), printed);
        assert_eq!(Transcript::parse(printed).unwrap().steps, [step]);
    }
}

/// Plays the runtime from a list of lines; returns the report, and the text with what came accepted.
fn run(text: &str, lines: &[(u8, &str)]) -> (String, String) {
    let transcript = Transcript::parse(text).unwrap();
    let mut judge = Judge::new(&transcript, Side::Runtime);
    let mut lines = lines.iter();
    loop {
        match judge.advance() {
            Next::Do(_) => {}
            Next::Done => break,
            Next::Await => match lines.next() {
                Some((lane, line)) => judge.came(*lane, Came::line(line)),
                None => judge.gave_up("the peer closed"),
            },
        }
    }
    for (lane, line) in lines {
        judge.came(*lane, Came::line(line));
    }
    let bindings = judge.bindings().clone();
    let report = Report { name: "hello", transcript: &transcript, outcomes: judge.outcomes() };
    assert_eq!(report.passed(), report.outcomes.iter().all(|outcome| outcome.verdict == Verdict::Met));
    (report.to_string(), accept(text, judge.outcomes(), &bindings).unwrap())
}

fn check_run(text: &str, lines: &[(u8, &str)], report: Expect, accepted: Expect) {
    let (got_report, got_accepted) = run(text, lines);
    report.assert_eq(&got_report);
    accepted.assert_eq(&got_accepted);
    let (again, _) = run(&got_accepted, lines);
    assert!(again.ends_with("as expected\n"), "{again}");
}

#[test]
fn a_good_run_changes_nothing() {
    let text =
        "dialect x\n> {}\n< {\"id\":  $id}\nanyorder\n< 1\n< 2\nend\noptional < 3\n<@1 {\"of\":$id}\n< 4\n";
    let lines = [(0, r#"{"id":"r1"}"#), (1, r#"{"of":"r1"}"#), (0, "2"), (0, "1"), (0, "4")];
    check_run(
        text,
        &lines,
        expect![["hello: 5 as expected\n"]],
        expect![[r#"
        dialect x
        > {}
        < {"id":  $id}
        anyorder
        < 1
        < 2
        end
        optional < 3
        <@1 {"of":$id}
        < 4
    "#]],
    );
}

#[test]
fn differences_are_shown_and_accepted() {
    let text = r#"dialect x
title differences

# Shaking hands.
> {"id":1}
< {"id":1,"session":"$session","result":{"status":"ready","at":...}}
> {"id":2}

# The rest.
anyorder
< {"a":1}
<   {"b": $_}
end
< {"never":true}
"#;
    let lines = [
        (0, r#"{"id":1,"session":"s-12345","result":{"status":"busy","at":7}}"#),
        (0, r#"{"b":9}"#),
        (0, r#"{"a":2}"#),
    ];
    check_run(
        text,
        &lines,
        expect![[r#"
                 5 | > {"id":1}
            hello:6: differs
              expected  < {"id":1,"session":"$session","result":{"status":"ready","at":...}}
              came      < {"id":1,"result":{"at":7,"status":"busy"},"session":"s-12345"}
              where     /result/status: expected "ready", got "busy"
            hello:11: differs
              expected  < {"a":1}
              came      < {"a":2}
              where     /a: expected 1, got 2
            hello:14: missing
              expected  < {"never":true}
              came      nothing: the peer closed
            hello: 1 as expected, 3 not
        "#]],
        expect![[r#"
            dialect x
            title differences

            # Shaking hands.
            > {"id":1}
            < {"id":1,"session":"$session","result":{"status":"busy","at":...}}
            > {"id":2}

            # The rest.
            anyorder
            < {"a":2}
            <   {"b": $_}
            end
        "#]],
    );
}

#[test]
fn unexpected_lines_are_put_where_they_came() {
    let text = "dialect x\n\n> {}\n< {\"run\":$run}\n";
    let lines = [(0, r#"{"run":"run-77"}"#), (1, r#"{"of":"run-77","n":1}"#), (0, "garbage")];
    check_run(
        text,
        &lines,
        expect![[r#"
                 3 | > {}
                 4 | < {"run":"$run"}
            hello: after line 4: not expected
              came      <@1 {"n":1,"of":"run-77"}
            hello: after line 4: not expected
              came      < garbage
            hello: 1 as expected, 2 not
        "#]],
        expect![[r#"
            dialect x

            > {}
            < {"run":$run}
            <@1 {"n":1,"of":"$run"}
            !< garbage
        "#]],
    );
    check_run(
        "dialect x\n",
        &[(0, "1")],
        expect![[r#"
            hello: before the first step: not expected
              came      < 1
            hello: 0 as expected, 1 not
        "#]],
        expect![[r#"
            dialect x
            < 1
        "#]],
    );
}

#[test]
fn screens_and_events_are_accepted_too() {
    let text = "event run-started\nscreen 20x2\n  |old\n  |older\n# end\n";
    let differs = |line_no, came: &str| Outcome {
        line_no,
        verdict: Verdict::Differs {
            came: Came::Text(came.to_owned()),
            why: crate::pattern::Mismatch { path: String::new(), expected: "x".into(), got: "y".into() },
        },
    };
    let outcomes = [differs(1, "run-ended ok"), differs(2, "new  \n\n")];
    let accepted = accept(text, &outcomes, &Bindings::new()).unwrap();
    assert_eq!(accepted, "event run-ended ok\nscreen 20x2\n  |new\n# end\n");
}

#[test]
fn one_file_serves_both_sides() {
    let transcript = Transcript::parse("> {\"start\":true}\n< {\"run\":$run}\n> {\"stop\":$run}\n").unwrap();
    let mut judge = Judge::new(&transcript, Side::Ui);
    assert_eq!(judge.advance(), Next::Await);
    judge.came(0, Came::Json(json!({"start": true})));
    let Next::Do(step) = judge.advance() else { panic!("the runtime's line is to be said") };
    let pattern = &step.say().unwrap().pattern;
    assert_eq!(pattern.fill(judge.bindings(), Missing::Invent).unwrap(), r#"{"run":"run-1"}"#);
    assert_eq!(judge.advance(), Next::Await);
    judge.came(0, Came::Json(json!({"stop": "run-1"})));
    assert_eq!(judge.advance(), Next::Done);
    assert!(judge.outcomes().iter().all(|outcome| outcome.verdict == Verdict::Met));
}

fn any_words() -> impl Strategy<Value = String> {
    r"[a-z#>!<$|. é]{1,12}".prop_map(|text| format!("w{}", text.trim_end()))
}

fn any_side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::Ui), Just(Side::Runtime)]
}

fn any_say(side: impl Strategy<Value = Side>) -> impl Strategy<Value = Say> {
    (side, prop_oneof![Just(0), any::<u8>()], any_pattern()).prop_map(|(side, lane, pattern)| Say {
        side,
        lane,
        pattern,
    })
}

fn any_note() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::Note(String::new())), any_words().prop_map(|text| Kind::Note(format!("# {text}")))]
}

fn any_kind() -> impl Strategy<Value = Kind> {
    let size = prop::option::of((1..=MAX_SCREEN, 1..=MAX_SCREEN));
    let row = prop_oneof![Just(String::new()), any_words().prop_map(|text| format!(" {text}"))];
    let bytes = prop_oneof![
        any::<String>().prop_map(|text| RawBytes::line(text.as_bytes())),
        prop::collection::vec(any::<u8>(), 0..6).prop_map(RawBytes::Exact),
    ];
    let block = any_side().prop_flat_map(|side| {
        let say = any_say(Just(side));
        prop::collection::vec(
            prop_oneof![
                3 => say.prop_map(Kind::Say),
                1 => any_say(Just(side)).prop_map(Kind::Optional),
                1 => any_note(),
            ]
            .prop_map(Step::new),
            0..4,
        )
    });
    let how = prop_oneof![Just(Leaving::Close), Just(Leaving::Kill)];
    prop_oneof![
        any_say(any_side()).prop_map(Kind::Say),
        any_say(any_side()).prop_map(Kind::Optional),
        block.prop_map(Kind::AnyOrder),
        (any_side(), any::<u8>(), bytes).prop_map(|(side, lane, bytes)| Kind::Raw(Raw { side, lane, bytes })),
        any_words().prop_map(Kind::Model),
        any_words().prop_map(Kind::Tool),
        any_words().prop_map(Kind::Command),
        any_words().prop_map(Kind::Event),
        any_words().prop_map(Kind::Keys),
        (size, prop::collection::vec(row, 0..4))
            .prop_map(|(size, lines)| Kind::Screen(Screen { size, lines })),
        any::<u64>().prop_map(|time| Kind::Wait(Millis(time))),
        (how, prop::option::of(any_side())).prop_map(|(how, side)| Kind::Leave(Leave { how, side })),
    ]
}

prop_compose! {
    fn any_transcript()(
        preface in prop::collection::vec(any_words().prop_map(|text| format!("# {text}")), 0..3),
        dialect in any_words(),
        title in prop::option::of(any_words()),
        options in prop::collection::vec((r"[a-z]{1,5}", any_words()), 0..3),
        notes in prop::collection::vec(any_note(), 0..3),
        acts in prop::collection::vec((prop::option::of(any::<u64>().prop_map(Millis)), any_kind()), 1..6),
        bare in any::<bool>(),
    ) -> Transcript {
        let heads = Heads { preface, dialect: Some(dialect), title, options, ..Heads::default() };
        let heads = if bare { Heads::default() } else { heads };
        let notes = notes.into_iter().skip_while(|note| *note == Kind::Note(String::new())).map(Step::new);
        let acts = acts.into_iter().map(|(after, kind)| Step { after, ..Step::new(kind) });
        Transcript { heads, steps: notes.chain(acts).collect() }
    }
}

proptest! {
    #![proptest_config(testkit::cases(128))]

    #[test]
    fn printing_and_parsing_agree(transcript in any_transcript()) {
        let text = transcript.to_string();
        let read = Transcript::parse(&text).map_err(|error| TestCaseError::fail(format!("{error} in\n{text}")))?;
        prop_assert_eq!(read, transcript);
    }

    #[test]
    fn arbitrary_text_never_panics(text in prop_oneof![
        any::<String>(),
        "([<>!@#|]|[ \\n]|optional|anyorder|end|screen|hex|wait|\\{\\}|\\.\\.\\.|\"|1){0,20}",
    ]) {
        if let Ok(transcript) = Transcript::parse(&text) {
            prop_assert_eq!(Transcript::parse(&transcript.to_string()), Ok(transcript));
        }
    }

    #[test]
    fn a_judge_always_ends_and_what_is_accepted_can_be_read(
        transcript in any_transcript(),
        came in prop::collection::vec((0u8..2, any_pattern()), 0..6),
    ) {
        let text = transcript.to_string();
        let read = Transcript::parse(&text).unwrap();
        let mut judge = Judge::new(&read, Side::Runtime);
        let mut came = came.iter();
        let mut left = 1000;
        while left > 0 {
            left -= 1;
            match (judge.advance(), came.next()) {
                (Next::Done, _) => break,
                (Next::Do(_), _) => {}
                (Next::Await, None) => judge.gave_up("over"),
                (Next::Await, Some((lane, pattern))) => {
                    let line = pattern.fill(&mut Bindings::new(), Missing::Invent).unwrap();
                    judge.came(*lane, Came::line(&line));
                }
            }
        }
        prop_assert!(left > 0);
        let bindings = judge.bindings().clone();
        let accepted = accept(&text, judge.outcomes(), &bindings).unwrap();
        prop_assert!(Transcript::parse(&accepted).is_ok(), "{}", accepted);
        let report = Report { name: "any", transcript: &read, outcomes: judge.outcomes() };
        prop_assert!(!report.to_string().is_empty());
    }
}
