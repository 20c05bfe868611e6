//! A runtime that never stops talking: whatever it floods with, the state stays within its bounds, says so, and can be closed.

use super::Bounds;
use crate::ask::AskKind;
use crate::canon::cut::{MAX_KEY, MAX_TEXT, MAX_WORDS};
use crate::canon::tests::Followed;
use crate::content::{Json, Part, Role, TextKind};
use crate::event::{Finish, Outcome};
use crate::fact::{Fact, FactAsk, Said};
use crate::ids::Millis;
use crate::signal::Level;
use crate::state::{EntryKind, State};
use crate::tool::{Progress, ToolOutcome, ToolResult};

/// The same bounds as always, but nearer.
const NEAR: Bounds = Bounds {
    run_things: 300,
    run_bytes: 3 * MAX_TEXT,
    session_things: 1_000,
    session_bytes: 6 * MAX_TEXT,
    unheard: 1_000,
};

/// What a state holds, counted from its replay: things, bytes.
fn held(state: &State) -> (usize, usize) {
    let replay = state.replay();
    (
        replay.iter().filter(|(_, body)| body.adds()).count(),
        replay.iter().map(|(_, body)| body.weight()).sum(),
    )
}

fn notices(state: &State) -> Vec<&str> {
    let text = state.entries.values().filter_map(|entry| match &entry.kind {
        EntryKind::Notice { code, text, .. } if code == "too_much" => Some(text.as_str()),
        _ => None,
    });
    text.collect()
}

fn large(number: usize, bytes: usize) -> String {
    format!("{number} {}", "word ".repeat(bytes / 5))
}

fn ended(tool: &str, text: String) -> Said {
    Said::ToolEnded { tool: tool.into(), outcome: ToolOutcome::Done, result: ToolResult::text(text) }
}

/// Makes the facts of one round.
type Round = fn(usize) -> Vec<Said>;

/// Every way to talk without end.
fn floods() -> Vec<(&'static str, Round)> {
    vec![
        ("pieces of one message", |n| {
            vec![Said::Text { message: None, kind: TextKind::Text, text: large(n, 50_000) }]
        }),
        ("parts of one message", |n| vec![Said::Part { message: None, part: Part::Text(large(n, 50_000)) }]),
        ("thoughts and words in turn", |n| {
            let kind = if n % 2 == 0 { TextKind::Text } else { TextKind::Thought };
            vec![Said::Text { message: None, kind, text: "x".into() }]
        }),
        ("whole messages", |n| {
            let key = Some(format!("m{n}").into());
            vec![
                Said::MessageStarted { message: key.clone(), role: Role::Assistant },
                Said::Whole { message: key.clone(), parts: vec![(TextKind::Text, large(n, 20_000))] },
                Said::MessageEnded { message: key, finish: Finish::Complete },
            ]
        }),
        ("messages that never end", |n| {
            vec![Said::MessageStarted { message: Some(format!("m{n}").into()), role: Role::Assistant }]
        }),
        ("the person's words", |n| {
            vec![
                Said::MessageStarted { message: None, role: Role::User },
                Said::Part { message: None, part: Part::Text(large(n, 1_000)) },
                Said::MessageEnded { message: None, finish: Finish::Complete },
            ]
        }),
        ("pictures", |_| {
            let base64 = "A".repeat(1_000_000).into();
            vec![Said::Part { message: None, part: Part::Image { mime: "image/png".into(), base64 } }]
        }),
        ("tools", |n| {
            let args = Json::verbatim(format!("{{\"a\":\"{}\"}}", "x".repeat(5_000)));
            vec![Said::ToolProposed { tool: format!("t{n}").into(), name: "bash".into(), args }]
        }),
        ("output of one tool", |n| {
            vec![Said::ToolProgress { tool: "t".into(), progress: Progress::Output(large(n, 50_000)) }]
        }),
        ("the whole output again", |n| {
            vec![Said::ToolProgress { tool: "t".into(), progress: Progress::Replace(large(n, 500_000)) }]
        }),
        ("words of progress", |n| {
            let progress = Progress::Status { percent: None, message: large(n, 5_000) };
            vec![Said::ToolProgress { tool: "t".into(), progress }]
        }),
        ("results", |n| vec![ended(&format!("t{n}"), large(n, 20_000))]),
        ("large results", |n| vec![ended(&format!("t{n}"), large(n, 2_000_000))]),
        ("questions", |n| {
            let message = large(n, 1_000);
            let kind = FactAsk::Other(AskKind::Confirm { message, yes: None, no: None, danger: false });
            vec![Said::AskOpened { ask: format!("a{n}").into(), title: "?".into(), kind, deadline: None }]
        }),
        ("notices", |n| vec![Said::Notice { level: Level::Info, code: "n".into(), text: large(n, 1_000) }]),
        ("turns", |_| vec![Said::TurnStarted(None), Said::TurnEnded]),
        ("steps", |_| vec![Said::StepStarted]),
        ("titles", |n| vec![Said::Title(large(n, 100_000))]),
        ("retries", |n| {
            vec![Said::Retrying { attempt: 1, max: 2, delay_ms: 3, reason: large(n, 100_000), kind: None }]
        }),
    ]
}

#[test]
fn a_run_that_never_stops_stays_within_its_bounds_says_so_and_can_be_closed() {
    for (name, facts) in floods() {
        let mut followed = Followed::within(NEAR);
        for round in 0..600 {
            for said in facts(round) {
                followed.take(Fact::of("r1", said));
            }
            let settled = notices(&followed.state).iter().any(|text| text.contains("until the run ends"));
            if settled && round % 50 == 49 {
                break;
            }
        }
        let (things, bytes) = held(&followed.state);
        assert!(things <= NEAR.run_things + 16, "{name}: {things} things");
        assert!(bytes <= NEAR.run_bytes + 2 * MAX_TEXT, "{name}: {bytes} bytes");
        followed.take(Fact::of("r1", Said::RunEnded(Outcome::Done)));
        assert!(followed.state.open_run().is_none(), "{name}");
        assert_eq!(followed.replayed(), followed.state, "{name}");
        // The next run is heard again.
        let before = followed.state.entries.len();
        followed.take(Fact::of("r2", Said::Part { message: None, part: Part::Text("hello".into()) }));
        assert!(followed.state.entries.len() > before, "{name}");
    }
}

#[test]
fn a_message_that_never_stops_is_cut_with_a_mark_and_said_once() {
    let mut followed = Followed::within(NEAR);
    for _ in 0..300 {
        let text = "é".repeat(5_000);
        followed.take(Fact::new(Said::Text { message: None, kind: TextKind::Text, text }));
    }
    let message = followed.state.entries.values().find_map(|entry| match &entry.kind {
        EntryKind::Message(message) => Some(message.text()),
        _ => None,
    });
    let text = message.unwrap();
    assert!(text.len() <= MAX_TEXT + 100 && text.ends_with("fits into one message]"), "{}", text.len());
    assert_eq!(notices(&followed.state).len(), 1);
    let kind = TextKind::Text;
    followed.take(Fact::new(Said::MessageEnded { message: None, finish: Finish::Complete }));
    followed.take(Fact::new(Said::Text { message: None, kind, text: "next".into() }));
    let last = followed.state.entries.values().next_back().unwrap();
    assert!(
        matches!(&last.kind, EntryKind::Message(message) if message.text() == "next"),
        "the next is heard"
    );
}

#[test]
fn what_was_left_out_of_a_run_is_counted_at_its_end() {
    let mut followed = Followed::within(NEAR);
    for n in 0..NEAR.run_things + 500 {
        let text = format!("{n}");
        followed.take(Fact::of("r1", Said::Notice { level: Level::Info, code: "n".into(), text }));
    }
    followed.take(Fact::of("r1", Said::RunEnded(Outcome::Done)));
    let told = notices(&followed.state);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("until the run ends") && told[1].contains("left out of this run"), "{told:?}");
}

#[test]
fn a_session_that_is_full_says_so_at_every_prompt_and_never_grows() {
    let mut followed = Followed::within(NEAR);
    for run in 0..20 {
        let key = format!("r{run}");
        for n in 0..50 {
            let part = Part::Text(large(n, 10_000));
            followed.take(Fact::of(key.as_str(), Said::Part { message: None, part }));
        }
        followed.take(Fact::of(key.as_str(), Said::RunEnded(Outcome::Done)));
    }
    let (things, bytes) = held(&followed.state);
    assert!(
        things <= NEAR.session_things + 16 && bytes <= NEAR.session_bytes + 2 * MAX_TEXT,
        "{things} {bytes}"
    );
    let before = notices(&followed.state).len();
    let (_, bodies) = followed.canon.begin(&followed.state);
    followed.happen(bodies);
    followed.take(Fact::of("r9999", Said::Part { message: None, part: Part::Text("heard?".into()) }));
    followed.take(Fact::of("r9999", Said::RunEnded(Outcome::Done)));
    assert!(followed.state.open_run().is_none());
    let told = notices(&followed.state);
    assert_eq!(told.len(), before + 2, "that it is full, and how much was left out");
    assert!(told[before].contains("Begin a new session"), "{told:?}");
}

#[test]
fn runs_without_end_fill_the_session_and_no_more() {
    let mut followed = Followed::within(NEAR);
    for run in 0..NEAR.session_things * 2 {
        let key = format!("r{run}");
        followed.take(Fact::of(key.as_str(), Said::RunStarted));
        followed.take(Fact::of(key.as_str(), Said::RunEnded(Outcome::Done)));
    }
    let (things, _) = held(&followed.state);
    assert!(things <= NEAR.session_things + 16, "{things}");
}

#[test]
fn what_is_too_large_is_cut_where_one_sees_it() {
    let mut followed = Followed::within(NEAR);
    let result = ToolResult {
        json: Some(Json::verbatim("\"x\"".repeat(MAX_TEXT))),
        ..ToolResult::text(large(0, 3 * MAX_TEXT))
    };
    let args = Json::verbatim(format!("\"{}\"", "x".repeat(2 * MAX_TEXT)));
    followed.take(Fact::new(Said::ToolProposed { tool: "t".into(), name: large(0, 5_000), args }));
    followed.take(Fact::new(Said::ToolEnded { tool: "t".into(), outcome: ToolOutcome::Done, result }));
    let text = large(0, 10 * MAX_WORDS);
    followed.take(Fact::new(Said::Notice { level: Level::Info, code: "n".into(), text }));
    let tool = followed.state.tools.values().next().unwrap();
    assert!(tool.name.len() < 2_000 && tool.args.as_str().contains("too long to be kept"));
    let result = tool.result.as_ref().unwrap();
    assert!(
        result.truncated && result.json.is_none() && result.text.contains("[cut here: "),
        "{}",
        result.text.len()
    );
    let long = followed.state.entries.values().filter_map(|entry| match &entry.kind {
        EntryKind::Notice { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let long: Vec<&str> = long.filter(|text| text.contains("bytes more]")).collect();
    assert!(long.len() == 1 && long[0].len() < MAX_WORDS + 100);
    assert_eq!(notices(&followed.state).len(), 1, "said once");
}

#[test]
fn an_id_that_is_no_id_names_nothing() {
    let mut followed = Followed::within(NEAR);
    let tool = "t".repeat(MAX_KEY + 1);
    let started = Said::ToolStarted { tool: tool.into(), name: None, args: None };
    followed.take(Fact::new(started));
    assert!(followed.state.tools.is_empty());
}

#[test]
fn a_runtime_that_goes_on_and_on_is_said_to_flood() {
    let mut followed = Followed::within(NEAR);
    followed.take(Fact::of("r1", Said::RunStarted));
    followed.take(Fact::of("r1", Said::RunEnded(Outcome::Cancelled)));
    let late = || Fact::of("r1", Said::Text { message: None, kind: TextKind::Text, text: "late".into() });
    for _ in 0..NEAR.unheard {
        followed.canon.take(&followed.state, Millis(0), late());
    }
    assert!(!followed.canon.is_flooded());
    followed.canon.take(&followed.state, Millis(0), late());
    assert!(followed.canon.is_flooded());
    followed.take(Fact::of("r2", Said::RunStarted));
    assert!(!followed.canon.is_flooded(), "it said something again");
}
