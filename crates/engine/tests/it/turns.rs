//! Turns from the prompt to their end: text, tools, steers, limits, failures, the whole session as context.

use crate::bench::{Bench, Plan};
use crate::stand_in::{Broken, Mark, Meet};
use domain::command::{Command, RefusalKind, SessionCommand};
use domain::event::{Body, Cause, Finish, MessageEvent, RunEvent, SessionEvent, ToolEvent};
use domain::port::TurnEnd;
use domain::session::{Effort, Policy};
use domain::tool::ToolOutcome;
use std::sync::Arc;
use tokio::sync::Barrier;

fn done(name: &str, text: &str) -> (String, ToolOutcome, String) {
    (name.to_owned(), ToolOutcome::Done, text.to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_text_streams_and_the_turn_ends() {
    let mut bench = Bench::new(r#"model thought "hm" | text "Hel" | text "lo." | usage in=10 out=5"#);
    assert_eq!(bench.run("hi").await, TurnEnd::Done);
    let message = bench.state.path().last().map(|entry| entry.id).unwrap();
    let domain::state::EntryKind::Message(message) = &bench.state.entries[&message].kind else { panic!() };
    assert_eq!((message.text().as_str(), &message.finish), ("Hello.", &Some(Finish::Complete)));
    assert_eq!(bench.count(|body| matches!(body, Body::Message(MessageEvent::Delta { .. }))), 3);
    assert_eq!((bench.state.usage.input, bench.state.usage.output), (10, 5));
    assert_eq!(bench.state.context, Some((15, 200_000)));
}

#[tokio::test(start_paused = true)]
async fn how_hard_the_model_shall_think_is_asked_of_it() {
    let mut bench = Bench::new("model text \"a\"\n---\nmodel text \"b\"\n");
    bench.run("hi").await;
    assert_eq!(bench.model.seen()[0].thinking, models::Effort::Off);
    let set = Command::Session(SessionCommand::SetEffort { effort: Some(Effort::High) });
    bench.consult(set).await.unwrap();
    bench.emit(Body::Session(SessionEvent::EffortChosen { effort: Some(Effort::High) }));
    bench.run("again").await;
    assert_eq!(bench.model.seen()[1].thinking, models::Effort::High);
}

#[tokio::test(start_paused = true)]
async fn the_form_of_the_answer_goes_with_every_request_of_a_turn() {
    let schema = Some(serde_json::json!({ "type": "object" }));
    let config = engine::Config { answer_schema: schema.clone(), ..engine::Config::default() };
    let script = "model tool read {\"path\":\"a.txt\"}\n---\nmodel text \"{}\"\n";
    let mut bench = Bench::with(Plan::script(script).config(config));
    bench.run("hi").await;
    let sent: Vec<_> = bench.model.seen().into_iter().map(|request| request.schema).collect();
    assert_eq!(sent, [schema.clone(), schema]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_does_not_think_takes_no_effort() {
    let mut bench = Bench::with(Plan::script("model text \"a\"").thoughtless());
    let set = Command::Session(SessionCommand::SetEffort { effort: Some(Effort::Low) });
    let refusal = bench.consult(set).await.unwrap_err();
    assert!(refusal.kind == RefusalKind::Unsupported && refusal.message.contains("effort"), "{refusal}");
    // And one that was chosen for another model is over with the change: it would be shown and mean nothing.
    bench.emit(Body::Session(SessionEvent::EffortChosen { effort: Some(Effort::Low) }));
    let change = Command::Session(SessionCommand::SetModel { provider: None, name: "m".into() });
    bench.consult(change).await.unwrap();
    assert_eq!(bench.state.settings.effort, None);
}

#[tokio::test(start_paused = true)]
async fn a_result_goes_back_to_the_model() {
    let mut bench = Bench::new(
        r#"
        model text "Let me see." | tool read {"path":"a.txt"}
        ---
        model text "It says one."
        "#,
    );
    bench.put("a.txt", "one\n");
    assert_eq!(bench.run("what is in a.txt?").await, TurnEnd::Done);
    let told = bench.told();
    assert_eq!(told[..2], ["user: what is in a.txt?", "assistant: Let me see."]);
    assert!(told[2].starts_with("tool: ") && told[2].contains("one"), "{told:?}");
    assert_eq!(bench.model.seen().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn every_turn_has_the_whole_session_as_context() {
    let mut bench = Bench::new(
        r#"
        model text "one"
        ---
        model tool ls {"path":"."} | text "?"
        ---
        model text "two"
        ---
        model text "three"
        "#,
    );
    for prompt in ["first", "second", "third"] {
        assert_eq!(bench.run(prompt).await, TurnEnd::Done);
    }
    let told = bench.told();
    let kinds: Vec<&str> = told.iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(kinds, ["user:", "assistant:", "user:", "assistant:", "tool:", "assistant:", "user:"]);
    assert_eq!((told[0].as_str(), told[6].as_str()), ("user: first", "user: third"));
}

#[tokio::test(start_paused = true)]
async fn reading_calls_run_at_the_same_time() {
    let barrier = Arc::new(Barrier::new(3));
    let plan = Plan::script("model tool meet | tool meet | tool meet\n---\nmodel text \"done\"");
    let mut bench = Bench::with(plan.tool(Meet(barrier)));
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    assert_eq!(bench.outcomes(), [done("meet", "met"), done("meet", "met"), done("meet", "met")]);
}

#[tokio::test(start_paused = true)]
async fn writing_calls_run_in_order() {
    let mark = Mark::default();
    let plan = Plan::script(
        "model tool mark {\"name\":\"a\"} | tool mark {\"name\":\"b\"} | tool mark {\"name\":\"c\"}\n---\nmodel text \"ok\"",
    );
    let mut bench = Bench::with(plan.tool(mark.clone()).policy(Policy::Full));
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    assert_eq!(mark.seen(), ["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
}

#[tokio::test]
async fn a_write_between_reads_sees_what_was_before_and_changes_what_comes_after() {
    let mut bench = Bench::with(
        Plan::script(
            r#"
            model tool read {"path":"f"} | tool bash {"command":"echo new > f"} | tool read {"path":"f"}
            ---
            model text "ok"
            "#,
        )
        .policy(Policy::Full),
    );
    bench.put("f", "old\n");
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let texts: Vec<String> = bench.outcomes().into_iter().map(|(_, _, text)| text).collect();
    assert!(texts[0].contains("old") && texts[2].contains("new"), "{texts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_steer_skips_the_calls_that_are_left_visibly_and_ends_the_turn() {
    let mark = Mark::default();
    let plan = Plan::script(
        "model tool mark {\"name\":\"a\"} | tool mark {\"name\":\"b\"} | tool read {\"path\":\"x\"}\n---\nmodel text \"steered\"",
    );
    let mut bench = Bench::with(plan.tool(mark.clone()).policy(Policy::Full));
    let run = bench.prompt("go").await;
    bench.until(|body| matches!(body, Body::Tool(ToolEvent::Started { .. }))).await;
    bench.steer_waits(true).await;
    assert_eq!(bench.turn_end().await, TurnEnd::Done);
    assert_eq!(mark.seen(), ["a begins", "a ends"]);
    let outcomes = bench.outcomes();
    assert_eq!(outcomes[0], done("mark", "marked a"));
    for (name, outcome, text) in &outcomes[1..] {
        assert_eq!(
            (outcome, text.as_str()),
            (&ToolOutcome::Skipped, "Skipped: the person has said something new."),
            "{name}"
        );
    }
    assert_eq!(bench.model.seen().len(), 1, "the model is not asked before it hears the steer");
    for body in bench.state.close_turn(&domain::event::Outcome::Done) {
        bench.emit(body);
    }
    bench.steer_waits(false).await;
    bench.turn(run, Cause::Steer, "no, do this").await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    let told = bench.told();
    assert_eq!(told.last().unwrap(), "user: no, do this");
    assert_eq!(told.iter().filter(|line| line.contains("Skipped")).count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_failure_in_mid_stream_keeps_what_arrived() {
    let mut bench =
        Bench::new(r#"model text "The answer is" | tool read {"path":"x"} | error network "cut""#);
    let TurnEnd::Failed(failure) = bench.run("go").await else { panic!() };
    assert_eq!(failure.code, "model_error");
    assert!(failure.message.contains("cut") && failure.hint.is_some());
    let text: Vec<String> = bench
        .state
        .path()
        .iter()
        .filter_map(|entry| match &entry.kind {
            domain::state::EntryKind::Message(message) => {
                Some(format!("{:?} {}", message.finish, message.text()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(text[1], "Some(Failed) The answer is");
    assert_eq!(bench.outcomes()[0].1, ToolOutcome::Skipped, "what broke off is never run");
}

#[tokio::test(start_paused = true)]
async fn a_retry_is_announced() {
    let mut bench = Bench::new(r#"model retry 2/4 500ms "overloaded" | text "ok""#);
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    assert_eq!(
        bench.count(|body| matches!(body, Body::Run(RunEvent::Retrying { attempt: 2, max: 4, .. }))),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn a_long_turn_has_no_wall() {
    let calls = (0..120).map(|at| format!("model tool read {{\"path\":\"{at}.txt\"}}\n---\n"));
    let mut bench = Bench::new(calls.collect::<String>() + "model text \"done\"");
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    assert_eq!(bench.model.seen().len(), 121);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_repeats_itself_is_told_and_then_the_person_is() {
    let mut bench = Bench::new("model tool ls {}\n---\n".repeat(60));
    let TurnEnd::Failed(failure) = bench.run("go").await else { panic!() };
    assert_eq!(failure.code, "repeats");
    assert!(failure.message.contains("ls was called") && failure.hint.unwrap().contains("go on"));
    assert_eq!(bench.model.seen().len(), 8, "told after four, ended after four more");
    let told = bench.told().iter().filter(|message| message.contains("Doing it again")).count();
    assert_eq!(told, 1, "with one result, which the record has too: {:?}", bench.told());
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_run_is_told_to_the_model() {
    let plan = Plan::script(
        r#"
        model tool dance {} | tool read "not json" | tool read {} | tool broken
        ---
        model text "ok"
        "#,
    );
    let mut bench = Bench::with(plan.tool(Broken));
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let outcomes = bench.outcomes();
    assert!(outcomes.iter().all(|(_, outcome, _)| *outcome == ToolOutcome::Failed), "{outcomes:?}");
    assert!(outcomes[0].2.starts_with("There is no tool dance. There are: "), "{}", outcomes[0].2);
    assert!(outcomes[1].2.contains("not JSON"), "{}", outcomes[1].2);
    assert!(outcomes[3].2.contains("broke down"), "a defect of a tool does not end the turn");
}

#[tokio::test(start_paused = true)]
async fn a_plan_is_told_to_the_uis() {
    let mut bench = Bench::new(
        r#"
        model tool todo {"items":[{"text":"look","state":"active"},{"text":"fix","state":"pending"}]}
        ---
        model text "ok"
        "#,
    );
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    assert_eq!(bench.state.plan.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn where_nobody_is_there_the_model_is_told_and_cannot_ask() {
    for attended in [true, false] {
        let mut bench = Bench::new("model text \"ok\"");
        bench.attended = attended;
        assert_eq!(bench.run("go").await, TurnEnd::Done);
        let asked = bench.model.seen().pop().unwrap();
        assert_eq!(asked.tools.iter().any(|tool| tool.name == "ask"), attended);
        assert_eq!(asked.system.unwrap().contains("Nobody is there"), !attended);
    }
}
