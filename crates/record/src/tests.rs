//! Everything comes back as it was written; the written names stand still; what is odd is told apart.

mod covered;
mod hashed;
mod vectors;

use super::*;
use domain::ask::{Answer, AskKind};
use domain::command::{Command, PromptOptions, SessionCommand, WhenBusy};
use domain::content::Json;
use domain::event::{AskEvent, Body, Event, MessageEvent, QueueEvent, RunEvent, SessionEvent, ToolEvent};
use domain::ids::{
    AskId, EntryId, MessageId, Millis, QueuedId, RunId, Seq, SessionId, StepId, ToolRunId, TurnId,
};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use testkit::arb;

fn comes_back<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
    value: &T,
) -> Result<(), TestCaseError> {
    let line = encode(value);
    prop_assert!(!line.contains(['\n', '\r']), "{line}");
    let read = decode::<T>(&line);
    prop_assert_eq!(read.as_ref(), Ok(value), "{}", line);
    Ok(())
}

/// A result, written as one is.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Settled(#[serde(with = "Settlement")] Result<Receipt, Refusal>);

proptest! {
    #[test]
    fn events_come_back(event in arb::event()) {
        comes_back(&event)?;
        comes_back(&(event.at, event.body))?;
    }

    #[test]
    fn commands_come_back(command in arb::command(), target in arb::target()) {
        comes_back(&command)?;
        comes_back(&target)?;
    }

    #[test]
    fn settlements_come_back(settlement in arb::settlement()) {
        comes_back(&Settled(settlement))?;
    }

    #[test]
    fn signals_come_back(signal in arb::signal(), board in arb::board(), abilities in arb::abilities()) {
        comes_back(&signal)?;
        comes_back(&board)?;
        comes_back(&abilities)?;
    }

    #[test]
    fn summaries_come_back(summary in arb::session_summary()) {
        comes_back(&summary)?;
    }

    #[test]
    fn members_of_the_fleet_come_back(member in arb::member()) {
        comes_back(&member)?;
    }

    #[test]
    fn no_text_makes_reading_fall_over(text in "\\PC{0,40}") {
        let _ = decode::<Event>(&text);
        let _ = decode::<Command>(&text);
        let _ = decode::<Json>(&text);
    }
}

fn written(value: &impl Serialize, expected: Expect) {
    expected.assert_eq(&encode(value));
}

#[test]
fn the_written_names_stand_still() {
    let delta = Body::Message(MessageEvent::Delta {
        message: MessageId(7),
        kind: domain::content::TextKind::Text,
        text: "hi \"you\"\n".to_owned(),
    });
    written(
        &Event { seq: Seq(12), at: Millis(99), body: delta },
        expect![[
            r#"{"seq":12,"at":99,"body":{"message_delta":{"message":7,"kind":"text","text":"hi \"you\"\n"}}}"#
        ]],
    );
    written(
        &Body::Tool(ToolEvent::Proposed {
            tool: ToolRunId(9),
            message: MessageId(7),
            name: "read".to_owned(),
            args: Json::verbatim(r#"{"path": "a"}"#),
        }),
        expect![[r#"{"tool_proposed":{"tool":9,"message":7,"name":"read","args":{"path": "a"}}}"#]],
    );
    written(
        &Command::Answer { ask: AskId(3), answer: Answer::Deny { reason: Some("no".to_owned()) } },
        expect![[r#"{"answer":{"ask":3,"answer":{"deny":{"reason":"no"}}}}"#]],
    );
    written(&Command::Session(SessionCommand::Close), expect![[r#""close_session""#]]);
}

/// The names of all bodies, in one place where a change of a name is seen.
#[test]
fn the_tags_of_bodies_stand_still() {
    use domain::queue::{Mode, QueueKind};
    let tag = |body: &Body| {
        let line = encode(body);
        let end = line[2..].find('"').unwrap_or(0) + 2;
        line[2..end].to_owned()
    };
    let (run, turn, step, message, tool) = (RunId(1), TurnId(2), StepId(3), MessageId(4), ToolRunId(5));
    let bodies = [
        Body::Run(RunEvent::Started { run }),
        Body::Run(RunEvent::TurnStarted { run, turn, cause: domain::event::Cause::Prompt }),
        Body::Run(RunEvent::StepStarted { turn, step, model: None }),
        Body::Message(MessageEvent::Ended { message, finish: domain::event::Finish::Complete }),
        Body::Tool(ToolEvent::Started { tool }),
        Body::Ask(AskEvent::Closed { ask: AskId(6), closing: domain::ask::Closing::Expired }),
        Body::Queue(QueueEvent::Left { item: QueuedId(7), leaving: domain::event::Leaving::Taken }),
        Body::Queue(QueueEvent::ModeSet { kind: QueueKind::FollowUp, mode: Mode::OneAtATime }),
        Body::Session(SessionEvent::LeafMoved { leaf: Some(EntryId(8)) }),
        Body::Rebased(Box::default()),
    ];
    let tags = bodies.iter().map(tag).collect::<Vec<_>>().join(" ");
    expect!["run_started turn_started step_started message_ended tool_started ask_closed unqueued queue_mode_set leaf_moved rebased"]
        .assert_eq(&tags);
}

#[test]
fn a_tag_that_is_not_known_is_named_and_a_field_is_ignored() {
    let error = decode::<Body>(r#"{"teleported":{"to":"mars"}}"#).unwrap_err();
    assert!(error.to_string().contains("unknown variant `teleported`"), "{error}");
    let more = decode::<Body>(r#"{"run_started":{"run":1,"since":"v2"}}"#);
    assert_eq!(more, Ok(Body::Run(RunEvent::Started { run: RunId(1) })));
}

/// Groups are how the vocabulary is ordered: they are not written, not read, and what is not known is held against the names of all.
#[test]
fn groups_are_neither_written_nor_read() {
    for grouped in [r#"{"session":{"renamed":{"title":"x"}}}"#, r#"{"renamed_":{"title":"x"}}"#] {
        let error = decode::<Body>(grouped).unwrap_err().to_string();
        assert!(error.contains("expected one of `session_opened`, `renamed`, "), "{error}");
        assert!(error.contains(", `message_delta`, ") && error.contains(", `rebased`"), "{error}");
    }
    let error = decode::<Command>(r#"{"run":{"cancel":{}}}"#).unwrap_err().to_string();
    assert!(
        error.starts_with("not a readable record: unknown variant `run`, expected one of `prompt`, "),
        "{error}"
    );
    assert!(error.contains("`diff_files`, `performed`, `answer`, `update_context`, `extension`"), "{error}");
    assert_eq!(name_of(&Body::Rebased(Box::default())), "rebased");
    assert_eq!(name_of(&SessionCommand::Close), "close_session");
}

/// Older records and other programs leave out what is as usual.
#[test]
fn what_is_as_usual_may_be_left_out() {
    let text = decode::<AskKind>(r#"{"text":{"message":"?"}}"#);
    let (placeholder, default) = (None, None);
    let usual =
        AskKind::Text { message: "?".to_owned(), placeholder, default, secret: false, multiline: false };
    assert_eq!(text, Ok(usual));
    let choose = decode::<AskKind>(r#"{"choose":{"message":"?","choices":[]}}"#);
    assert_eq!(choose, Ok(AskKind::Choose { message: "?".to_owned(), choices: Vec::new(), many: false }));
    let confirm = decode::<AskKind>(r#"{"confirm":{"message":"?"}}"#);
    let (yes, no) = (None, None);
    assert_eq!(confirm, Ok(AskKind::Confirm { message: "?".to_owned(), yes, no, danger: false }));
    assert_eq!(decode::<PromptOptions>("{}"), Ok(PromptOptions::default()));
}

#[test]
fn the_options_of_a_prompt_have_names_that_stand_still() {
    let options = PromptOptions {
        from: Some(EntryId(4)),
        when_busy: WhenBusy::Queue,
        max_tokens: Some(5),
        temperature: Some(700),
        tools: Some(false),
        ask_first: true,
        offers: Vec::new(),
    };
    written(
        &options,
        expect![[
            r#"{"from":4,"when_busy":"queue","max_tokens":5,"temperature":700,"tools":false,"ask_first":true}"#
        ]],
    );
}

#[test]
fn a_mode_that_is_not_known_is_named() {
    for policy in domain::session::Policy::ALL {
        let chosen = Body::Session(SessionEvent::PolicyChosen { policy });
        assert_eq!(decode::<Body>(&encode(&chosen)), Ok(chosen));
    }
    let error = decode::<Body>(r#"{"policy_chosen":{"policy":"reckless"}}"#).unwrap_err();
    assert!(error.to_string().contains("unknown variant `reckless`"), "{error}");
    assert!(error.to_string().contains("sandboxed"), "it says what is known: {error}");
}

#[test]
fn a_session_id_with_a_path_is_not_read() {
    assert!(decode::<SessionId>(r#""sess-../../etc/passwd""#).is_err());
    assert_eq!(decode::<SessionId>(r#""sess-12345678""#), Ok(SessionId::parse("sess-12345678").unwrap()));
}

#[test]
fn payloads_are_values_and_come_back_verbatim() {
    for text in
        ["{\"a\" : 1.0}", "[1e999]", "\"\\u0041\"", "null", "{\n}", "{\r}", " 1", "{\"$verbatim\":\"x\"}"]
    {
        let line = encode(&Json::verbatim(text));
        assert!(!line.contains(['\n', '\r']), "{line}");
        assert_eq!(decode::<Json>(&line), Ok(Json::verbatim(text)), "{line}");
    }
    // Whoever breaks the promise that it is JSON breaks no line.
    assert_eq!(encode(&Json::verbatim("{oops")), r#""{oops""#);
    assert_eq!(decode::<Json>(r#"{"$verbatim":"{oops"}"#), Ok(Json::verbatim(r#""{oops""#)));
}
