//! Compaction: by hand, at a threshold, when the provider refuses; the conversation goes on from the summary.

use crate::bench::{Bench, Plan};
use domain::command::{Command, Receipt, RefusalKind, RunCommand};
use domain::content::Usage;
use domain::event::{Body, ContextEvent, NoteEvent, RunEvent, Trigger};
use domain::port::TurnEnd;
use domain::state::EntryKind;

const LONG: &str = r#"
    model text "answer one"
    ---
    model text "answer two"
    ---
    model text "answer three"
    "#;

async fn talk(bench: &mut Bench) {
    for prompt in ["first question", "second question", "third question"] {
        assert_eq!(bench.run(prompt).await, TurnEnd::Done);
    }
}

fn compactions(bench: &Bench) -> Vec<(Trigger, String)> {
    let found = bench.events.iter().filter_map(|event| match &event.body {
        Body::Context(ContextEvent::Compacted { compaction, .. }) => {
            Some((compaction.trigger, compaction.summary.clone()))
        }
        _ => None,
    });
    found.collect()
}

#[tokio::test(start_paused = true)]
async fn by_hand_the_model_writes_the_summary_and_the_next_turn_stands_on_it() {
    let mut bench = Bench::new(LONG);
    talk(&mut bench).await;
    bench.model.append(
        models::scripted::parse(
            "model text \"In short: three questions.\" | usage in=500 out=20\n---\nmodel text \"four\"",
        )
        .unwrap(),
    );
    let (spent, full) = (bench.state.usage, bench.state.context);
    let command = Command::Run(RunCommand::Compact { instruction: Some("keep the names".to_owned()) });
    let Ok(Receipt::Compacted { entry, compaction }) = bench.consult(command).await else { panic!() };
    let asked = bench.model.seen().last().cloned().unwrap();
    assert!(asked.tools.is_empty() && asked.system.unwrap().contains("keep the names"));
    assert_eq!(bench.state.leaf, Some(entry), "it stands in the conversation");
    let cost = Usage { input: 500, output: 20, ..Usage::default() };
    assert_eq!((compaction.usage, bench.state.usage), (cost, spent.plus(cost)), "the session pays for it");
    assert!(bench.state.context.unwrap().0 < full.unwrap().0, "and there is room again");
    assert_eq!(
        (compaction.trigger, compaction.summary.as_str()),
        (Trigger::Manual, "In short: three questions.")
    );
    assert!(compaction.tokens_before > 0 && compaction.first_kept.is_some());
    assert_eq!(bench.run("fourth question").await, TurnEnd::Done);
    let told = bench.told();
    assert_eq!(told[0], "user: Summary of our conversation so far:\nIn short: three questions.");
    assert_eq!(told[1..], ["assistant: answer three", "user: fourth question"]);
}

#[tokio::test(start_paused = true)]
async fn by_hand_it_is_told_what_the_provider_has_counted() {
    let script = r#"
        model text "one" | usage in=100 out=5
        ---
        model text "two" | usage in=8500 out=5
        ---
        model text "In short."
        "#;
    let mut bench = Bench::new(script);
    bench.run("first question").await;
    bench.run("second question").await;
    bench.consult(Command::Run(RunCommand::Compact { instruction: None })).await.unwrap();
    let told = bench.events.iter().find_map(|event| match &event.body {
        Body::Context(ContextEvent::Compacted { compaction, .. }) => Some(compaction.tokens_before),
        _ => None,
    });
    assert_eq!(told, Some(8_505));
}

#[tokio::test(start_paused = true)]
async fn a_short_conversation_is_left_alone() {
    let mut bench = Bench::new("model text \"hi\"");
    let command = Command::Run(RunCommand::Compact { instruction: None });
    assert_eq!(bench.consult(command.clone()).await.unwrap_err().kind, RefusalKind::NothingToCompact);
    assert_eq!(bench.run("hello").await, TurnEnd::Done);
    assert_eq!(bench.consult(command).await.unwrap_err().kind, RefusalKind::NothingToCompact);
    assert_eq!(compactions(&bench), []);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_cannot_summarize_leaves_everything_as_it_is() {
    let mut bench = Bench::new(LONG);
    talk(&mut bench).await;
    bench.model.append(models::scripted::parse("model error overloaded").unwrap());
    let refusal = bench.consult(Command::Run(RunCommand::Compact { instruction: None })).await.unwrap_err();
    assert!(refusal.message.contains("overloaded") && refusal.hint.is_some(), "{refusal}");
    assert_eq!(compactions(&bench), []);
}

#[tokio::test(start_paused = true)]
async fn past_the_threshold_the_turn_compacts_and_goes_on() {
    let mut bench = Bench::with(
        Plan::script(
            r#"
            model text "one" | usage in=100 out=5
            ---
            model tool ls {} | usage in=8500 out=5
            ---
            model text "Listed the files." | usage in=8600 out=7
            ---
            model text "two" | usage in=50 out=5
            "#,
        )
        .window(10_000),
    );
    assert_eq!(bench.run("first").await, TurnEnd::Done);
    assert_eq!(compactions(&bench), []);
    assert_eq!(bench.run("second").await, TurnEnd::Done);
    assert_eq!(compactions(&bench), [(Trigger::Threshold, "Listed the files.".to_owned())]);
    assert!(bench.told()[0].contains("Listed the files."));
    assert_eq!(bench.state.usage.input, 100 + 8500 + 8600 + 50, "the summary is paid for too");
    let path = bench.state.path();
    let at = path.iter().position(|entry| matches!(entry.kind, EntryKind::Compaction(_))).unwrap();
    assert_eq!(at, path.len() - 2, "the answer hangs off the summary");
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_fails_at_the_threshold_does_not_end_the_turn() {
    let mut bench = Bench::with(
        Plan::script(
            r#"
            model text "one" | usage in=100 out=5
            ---
            model tool ls {} | usage in=9000 out=5
            ---
            model error network "cut"
            ---
            model text "two" | usage in=9100 out=5
            "#,
        )
        .window(10_000),
    );
    assert_eq!(bench.run("first").await, TurnEnd::Done);
    assert_eq!(bench.run("second").await, TurnEnd::Done);
    let noticed = |body: &Body| matches!(body, Body::Note(NoteEvent::Noticed { code, .. }) if code == "compaction_failed");
    assert_eq!((compactions(&bench), bench.count(noticed)), (Vec::new(), 1));
}

#[tokio::test(start_paused = true)]
async fn on_overflow_the_turn_compacts_once_and_goes_on() {
    let mut bench = Bench::new(LONG);
    talk(&mut bench).await;
    let script = "model error context_overflow\n---\nmodel text \"In short.\"\n---\nmodel text \"four\"";
    bench.model.append(models::scripted::parse(script).unwrap());
    assert_eq!(bench.run("fourth question").await, TurnEnd::Done);
    assert_eq!(compactions(&bench), [(Trigger::Overflow, "In short.".to_owned())]);
    let told = bench.told();
    assert_eq!((told.len(), told[1].as_str()), (2, "user: fourth question"), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_second_overflow_is_told_to_the_person() {
    let mut bench = Bench::new(LONG);
    talk(&mut bench).await;
    let script =
        "model error context_overflow\n---\nmodel text \"In short.\"\n---\nmodel error context_overflow";
    bench.model.append(models::scripted::parse(script).unwrap());
    let TurnEnd::Failed(failure) = bench.run("fourth question").await else { panic!() };
    assert_eq!(failure.code, "context_overflow");
    assert!(failure.hint.unwrap().contains("larger window"));
}

#[tokio::test(start_paused = true)]
async fn a_cancel_ends_a_compaction_too() {
    let mut bench = Bench::new(LONG);
    talk(&mut bench).await;
    let script = "model error context_overflow\n---\nmodel pause forever";
    bench.model.append(models::scripted::parse(script).unwrap());
    bench.prompt("fourth question").await;
    bench.until(|body| matches!(body, Body::Run(RunEvent::StepEnded { .. }))).await;
    bench.cancel().await;
    assert_eq!(bench.finish().await, TurnEnd::Cancelled);
    assert_eq!(compactions(&bench), []);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_ends_a_summary_that_is_being_written_by_hand() {
    let mut bench = Bench::new(LONG);
    talk(&mut bench).await;
    bench.model.append(models::scripted::parse("model pause forever\n---\nmodel text \"four\"").unwrap());
    let so_far = bench.model.seen().len();
    bench.begin_consult(Command::Run(RunCommand::Compact { instruction: None })).await;
    while bench.model.seen().len() == so_far {
        tokio::task::yield_now().await;
    }
    assert_eq!(bench.run("fourth question").await, TurnEnd::Done);
    while bench.settled.is_empty() {
        bench.take_some(1).await;
    }
    let Some(Err(refusal)) = bench.settled.pop() else { panic!("a summary was written") };
    assert_eq!(refusal.kind, RefusalKind::Busy);
    assert_eq!(compactions(&bench), []);
}

#[tokio::test(start_paused = true)]
async fn a_second_summary_stands_for_the_first_too() {
    let mut bench = Bench::new(LONG);
    talk(&mut bench).await;
    let script = "model text \"Summary A.\"\n---\nmodel text \"four\"\n---\nmodel text \"Summary B.\"\n---\nmodel text \"five\"";
    bench.model.append(models::scripted::parse(script).unwrap());
    bench.consult(Command::Run(RunCommand::Compact { instruction: None })).await.unwrap();
    assert_eq!(bench.run("fourth question").await, TurnEnd::Done);
    bench.consult(Command::Run(RunCommand::Compact { instruction: None })).await.unwrap();
    let asked = bench.model.seen().last().cloned().unwrap();
    assert!(asked.messages[0].text().contains("Summary A."), "the older summary goes into the newer one");
    assert_eq!(bench.run("fifth question").await, TurnEnd::Done);
    let told = bench.told();
    assert!(told[0].contains("Summary B."), "{told:?}");
    assert!(!told.iter().any(|line| line.contains("Summary A.")), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn what_the_provider_counted_counts_for_the_next_prompt() {
    let script = r#"
        model text "answer one" | usage in=100 out=10
        ---
        model text "answer two" | usage in=850 out=10
        ---
        model text "In short."
        ---
        model text "answer three"
        "#;
    let mut bench = Bench::with(Plan::script(script).window(1_000));
    bench.run("first question").await;
    bench.run("second question").await;
    assert_eq!(compactions(&bench), []);
    // By size it is a few dozen tokens; the provider has counted 860.
    bench.run("third question").await;
    assert_eq!(compactions(&bench), [(Trigger::Threshold, "In short.".to_owned())]);
}
