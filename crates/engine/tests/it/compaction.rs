//! Compaction: by hand, at a threshold, when the provider refuses; the conversation goes on from the summary.

use crate::bench::{Bench, Plan};
use domain::command::{Command, Receipt, RefusalKind, RunCommand};
use domain::content::Usage;
use domain::event::{Body, ContextEvent, NoteEvent, RunEvent, Trigger};
use domain::port::TurnEnd;
use domain::state::EntryKind;
use models::Effort;

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

/// What the model wrote of a summary: the rest is kept beside it by us.
fn written(summary: &str) -> &str {
    summary.split("\n\nBeside the summary").next().unwrap()
}

fn noticed(bench: &Bench, wanted: &str) -> usize {
    bench.count(|body| matches!(body, Body::Note(NoteEvent::Noticed { code, .. }) if code == wanted))
}

fn compactions(bench: &Bench) -> Vec<(Trigger, String)> {
    let found = bench.events.iter().filter_map(|event| match &event.body {
        Body::Context(ContextEvent::Compacted { compaction, .. }) => {
            Some((compaction.trigger, written(&compaction.summary).to_owned()))
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
    let seen = bench.model.seen();
    let [.., before, asked] = seen.as_slice() else { panic!() };
    assert_eq!(
        (&before.system, &before.tools),
        (&asked.system, &asked.tools),
        "what a provider has in its cache"
    );
    assert!(asked.messages.starts_with(&before.messages), "{:?}", asked.messages);
    assert!(asked.messages.last().unwrap().text().contains("keep the names"));
    assert_eq!(bench.state.leaf, Some(entry), "it stands in the conversation");
    let cost = Usage { input: 500, output: 20, ..Usage::default() };
    assert_eq!((compaction.usage, bench.state.usage), (cost, spent.plus(cost)), "the session pays for it");
    assert!(bench.state.context.unwrap().0 < full.unwrap().0, "and there is room again");
    assert_eq!(
        (compaction.trigger, written(&compaction.summary)),
        (Trigger::Manual, "In short: three questions.")
    );
    assert!(compaction.tokens_before > 0 && compaction.first_kept.is_some());
    assert_eq!(bench.run("fourth question").await, TurnEnd::Done);
    let told = bench.told();
    assert!(
        told[0].starts_with("user: Summary of our conversation so far:\nIn short: three questions.\n"),
        "{told:?}"
    );
    assert!(told[0].contains("\n> first question\n--\n> second question"), "their own words stay: {told:?}");
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
    assert_eq!((compactions(&bench), noticed(&bench, "compaction_failed")), (Vec::new(), 1));
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
    let four = "four ".repeat(500);
    let script = format!(
        "model text \"Summary A.\"\n---\nmodel text \"{four}\"\n---\nmodel text \"Summary B.\"\n---\nmodel text \"five\""
    );
    bench.model.append(models::scripted::parse(&script).unwrap());
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

/// A conversation past its threshold; what the model is asked for next is a summary.
fn full(then: &str) -> Bench {
    let script = format!(
        "model text \"one\" | usage in=100 out=5\n---\nmodel tool ls {{}} | usage in=85000 out=5\n---\n{then}"
    );
    Bench::with(Plan::script(script).window(100_000))
}

#[tokio::test(start_paused = true)]
async fn a_summary_is_asked_for_at_the_end_of_the_conversation_itself() {
    let mut bench = full("model text \"In short.\"\n---\nmodel text \"two\"");
    bench.run("first").await;
    bench.run("second").await;
    let seen = bench.model.seen();
    let (before, asked) = (&seen[1], &seen[2]);
    assert_eq!(
        (&before.system, &before.tools),
        (&asked.system, &asked.tools),
        "what a provider has in its cache"
    );
    assert_eq!(before.messages[..], asked.messages[..before.messages.len()]);
    assert!(asked.messages.last().unwrap().text().contains("Write that summary now"));
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_is_cut_or_empty_is_asked_for_again_with_more_room_and_little_thinking() {
    for broken in
        ["model text \"Half a summ\" | end length", "model thought \"hm\" | end length", "model tool ls {}"]
    {
        let mut bench = full(&format!("{broken}\n---\nmodel text \"Whole.\"\n---\nmodel text \"two\""));
        bench.run("first").await;
        assert_eq!(bench.run("second").await, TurnEnd::Done, "{broken}");
        assert_eq!(compactions(&bench), [(Trigger::Threshold, "Whole.".to_owned())], "{broken}");
        let again = &bench.model.seen()[3];
        assert_eq!(
            (again.max_tokens, again.thinking, again.tools.len()),
            (Some(37_500), Effort::None, 0),
            "{broken}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn where_nobody_writes_a_summary_it_is_cut_by_rule_which_says_so() {
    let cut = "model text \"Half\" | end length\n---\n".repeat(2);
    let mut bench = full(&format!("{cut}model text \"two\""));
    bench.run("never touch a.rs").await;
    assert_eq!(bench.run("second").await, TurnEnd::Done);
    let [(_, text)] = &compactions(&bench)[..] else { panic!() };
    assert!(text.starts_with("No model could write a summary") && !text.contains("Half"), "{text}");
    assert!(bench.told()[0].contains("\n> never touch a.rs"), "{:?}", bench.told());
    assert_eq!(noticed(&bench, "compaction_by_rule"), 1);
}

#[tokio::test(start_paused = true)]
async fn after_twenty_summaries_the_first_prompt_is_still_sent_word_for_word() {
    const FIRST: &str =
        "Port it to Rust.\n- never touch vendor/\n  > quoted, with  two blanks\n- keep the tests green";
    let turn = |at: usize| {
        format!(
            "model text \"answer {at} {}\" | usage in=90000 out=5\n---\nmodel text \"S{at}.\"\n---\n",
            "x".repeat(400)
        )
    };
    let script: String = (0..41).map(turn).collect();
    let mut bench = Bench::with(Plan::script(script).window(100_000));
    assert_eq!(bench.run(FIRST).await, TurnEnd::Done);
    for at in 1..41 {
        assert_eq!(bench.run(&format!("prompt {at}")).await, TurnEnd::Done, "{at}");
    }
    assert!(compactions(&bench).len() >= 20, "{}", compactions(&bench).len());
    let quoted: String = FIRST.lines().map(|line| format!("\n> {line}")).collect();
    let told = bench.told();
    assert!(told[0].contains(&quoted), "{}", told[0]);
    assert!(told[0].contains("\n> prompt 1\n") && told[0].contains("\n> prompt 38\n"), "{}", told[0]);
}

#[tokio::test(start_paused = true)]
async fn old_results_are_left_out_before_anything_is_summarized_and_can_be_read_again() {
    let text = |at: usize| format!("file {at}\n{}", "some line of it\n".repeat(600));
    let files = 14;
    let reads = (0..files).map(|at| format!("model tool read {{\"path\":\"{at}.txt\"}}\n---\n"));
    let mut bench =
        Bench::with(Plan::script(reads.collect::<String>() + "model text \"read\"").window(40_000));
    for at in 0..files {
        std::fs::write(bench.work().join(format!("{at}.txt")), text(at)).unwrap();
    }
    assert_eq!(bench.run("read them").await, TurnEnd::Done);
    assert_eq!(compactions(&bench), []);
    let told = bench.told();
    let left_out: Vec<&String> = told.iter().filter(|line| line.contains("`recall` with id")).collect();
    assert!(
        left_out[0].contains("file 0") && !left_out[0].contains(&"some line of it\n".repeat(600)),
        "{left_out:?}"
    );
    let whole = told.iter().filter(|line| line.matches("some line of it").count() >= 600).count();
    assert!(
        whole >= 6 && whole + left_out.len() == files,
        "what is young stays: {whole} and {}",
        left_out.len()
    );
    let id = left_out[0].split("with id ").nth(1).unwrap().split(' ').next().unwrap();
    let script = format!("model tool recall {{\"id\":\"{id}\"}}\n---\nmodel text \"done\"");
    bench.model.append(models::scripted::parse(&script).unwrap());
    assert_eq!(bench.run("what was in the first?").await, TurnEnd::Done);
    let last = bench.told().pop().unwrap();
    assert!(last.contains("file 0") && last.matches("some line of it").count() == 600, "{last}");
}
