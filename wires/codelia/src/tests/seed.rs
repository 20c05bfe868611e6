//! Sentences of the document (`seed.txt`) that no conversation shows: limits that are left unsaid, and ways out of a question.

use super::{SESSION, greeted, ui_running};
use domain::ask::Answer;
use domain::command::{Command, History, LibraryCommand, Receipt};
use domain::content::{Part, Role};
use domain::event::{Body, Cause, Finish, MessageEvent, RunEvent};
use domain::ids::{MessageId, TurnId};
use serde_json::json;
use testkit::bench::session;

#[test]
fn a_history_without_limits_is_the_last_20_runs_and_1500_events() {
    let mut bench = greeted();
    let run = bench.mint_run();
    let mut bodies = vec![Body::Run(RunEvent::Started { run })];
    for number in 1..=1501 {
        let (turn, message) = (TurnId(number), MessageId(number));
        let part = Part::Text(format!("word {number}"));
        bodies.extend([
            Body::Run(RunEvent::TurnStarted { run, turn, cause: Cause::Prompt }),
            Body::Message(MessageEvent::Started {
                message,
                parent: None,
                role: Role::User,
                turn: Some(turn),
                step: None,
            }),
            Body::Message(MessageEvent::PartAdded { message, part }),
            Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }),
            Body::Run(RunEvent::TurnEnded { turn }),
        ]);
    }
    let events = bodies.into_iter().map(|body| bench.miss(body)).collect();
    let told = Receipt::History(History { runs: 1, events, truncated: false });
    let line = format!(r#"{{"id":"2","method":"session.history","params":{{"session_id":"{SESSION}"}}}}"#);
    let (_, asked) = bench.asked(&line, Ok(told));
    let Command::Library(LibraryCommand::History { session: of, max_runs, .. }) = asked else {
        panic!("{asked:?}")
    };
    assert_eq!((of, max_runs), (session(SESSION), 20));
    let mut lines = bench.sent();
    let result = lines.pop().unwrap()["result"].clone();
    assert_eq!((&result["events_sent"], &result["truncated"]), (&json!(1500), &json!(true)));
    assert_eq!(lines.len(), 1500);
    assert_eq!(lines[0]["params"]["event"]["content"], "word 2", "the newest are kept");
}

#[test]
fn a_pick_that_is_cancelled_is_an_empty_list() {
    let mut bench = ui_running();
    bench.forget();
    bench.hear(
        r#"{"id":"ui_1","method":"ui.pick.request","params":{"run_id":"r1","title":"Which?","items":[{"id":"a","label":"A"}]}}"#,
    );
    bench.answer(Answer::Dismissed);
    assert_eq!(bench.sent(), [json!({"jsonrpc":"2.0","id":"ui_1","result":{"ids":[]}})]);
}
