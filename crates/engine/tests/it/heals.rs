//! Answers that break off, ends that are not whole, denials that are final.

use crate::bench::{Bench, Plan, deny};
use domain::event::{
    Body, Cause, EMPTY_ANSWER, Finish, MessageEvent, NoteEvent, Outcome, RunEvent, SessionEvent, ToolEvent,
};
use domain::port::TurnEnd;
use domain::tool::ToolOutcome;
use engine::{Budget, Config, OVER_BUDGET};

const CUT: &str = r#"
    model text "Half of" | tool write {"path":"a","content":"x"} | usage in=10 out=5 | retry 2/5 3s "connection lost" | text "Half of it."
    model usage in=11 out=7
    ---
    model text "Next."
"#;

fn finishes(bench: &Bench) -> Vec<Finish> {
    let ended = bench.events.iter().filter_map(|event| match &event.body {
        Body::Message(MessageEvent::Ended { finish, .. }) => Some(finish.clone()),
        _ => None,
    });
    ended.collect()
}

fn notices(bench: &Bench) -> Vec<String> {
    let noticed = bench.events.iter().filter_map(|event| match &event.body {
        Body::Note(NoteEvent::Noticed { code, .. }) => Some(code.clone()),
        _ => None,
    });
    noticed.collect()
}

#[tokio::test(start_paused = true)]
async fn a_piece_that_was_cut_is_marked_paid_for_and_not_sent_back() {
    let mut bench = Bench::new(CUT);
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    assert_eq!(finishes(&bench), [Finish::Complete, Finish::Cut, Finish::Complete]);
    assert_eq!(bench.get("a"), None, "no tool of an answer that broke off has run");
    let usages: Vec<u64> = bench
        .events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Run(RunEvent::StepEnded { usage, .. }) => Some(usage.input),
            _ => None,
        })
        .collect();
    assert_eq!((usages, bench.state.usage.output), (vec![10, 11], 12), "each attempt is a step");
    assert!(bench.events.iter().any(|event| matches!(
        &event.body,
        Body::Run(RunEvent::Retrying { attempt: 2, max: 5, delay_ms: 3000, .. })
    )));
    assert!(bench.events.iter().any(|event| matches!(
        &event.body,
        Body::Tool(ToolEvent::Ended { outcome: ToolOutcome::Skipped, .. })
    )));
    bench.run("and?").await;
    assert_eq!(bench.told(), ["user: go", "assistant: Half of it.", "user: and?"]);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_in_the_wait_before_another_attempt_ends_the_turn() {
    let mut bench = Bench::new("model text \"Half of\" | retry 2/5 60s \"lost\" | text \"never\"");
    bench.prompt("go").await;
    bench.until(|body| matches!(body, Body::Run(RunEvent::Retrying { .. }))).await;
    bench.cancel().await;
    assert_eq!(bench.finish().await, TurnEnd::Cancelled);
    assert_eq!(finishes(&bench), [Finish::Complete, Finish::Cut]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_the_limit_cut_is_told_to_the_model_as_that() {
    for args in [r#""{\"path\":\"a\",\"cont""#, r#""""#] {
        let script = format!(
            "model text \"I write.\" | tool write {args} | end length\n---\nmodel text \"So be it.\"\n"
        );
        let mut bench = Bench::new(script);
        assert_eq!(bench.run("go").await, TurnEnd::Done);
        let told = bench.told();
        assert!(told[2].contains("output limit") && told[2].contains("smaller"), "{told:?}");
        assert_eq!(finishes(&bench), [Finish::Complete, Finish::Length, Finish::Complete]);
    }
    // A call that was complete before the limit came runs.
    let script = "model tool ls {\"path\":\".\"} | end length\n---\nmodel text \"Done.\"\n";
    let mut bench = Bench::new(script);
    bench.run("go").await;
    assert!(!bench.told().concat().contains("output limit"), "{:?}", bench.told());
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_or_empty_is_told() {
    for (script, finish, notice) in [
        ("model text \"No.\" | end refusal", Some(Finish::Refused), None),
        ("model thought \"hm\" | end refusal", Some(Finish::Refused), Some(EMPTY_ANSWER)),
        ("model thought \"hm\" | end length", Some(Finish::Length), Some(EMPTY_ANSWER)),
        ("model usage in=1 out=0", None, Some(EMPTY_ANSWER)),
        ("model text \" \\n\"", Some(Finish::Complete), Some(EMPTY_ANSWER)),
        ("model text \"Yes.\"", Some(Finish::Complete), None),
    ] {
        let mut bench = Bench::new(script);
        assert_eq!(bench.run("go").await, TurnEnd::Done);
        assert_eq!(finishes(&bench).get(1), finish.as_ref(), "{script}");
        assert_eq!(notices(&bench).first().map(String::as_str), notice, "{script}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_call_is_denied_three_times_then_that_is_final_and_the_turn_ends() {
    let wish = "model tool bash {\"command\":\"touch x\"}\n---\n".repeat(50);
    let mut bench = Bench::with(Plan::script(wish));
    bench.closings = vec![deny(Some("no")); 50];
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let requests = bench.model.seen().len();
    assert_eq!(requests, 4, "three times denied, and once more in spite of it");
    let results: Vec<String> = bench
        .events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Tool(ToolEvent::Ended { result, .. }) => Some(result.text.clone()),
            _ => None,
        })
        .collect();
    let finals: Vec<bool> = results.iter().map(|text| text.contains("final")).collect();
    assert_eq!(finals, [false, false, true, true], "{results:?}");
    assert_eq!(bench.closings.len(), 47, "the fourth time nobody is asked");
    assert_eq!(notices(&bench), ["denied_again"]);
}

#[tokio::test(start_paused = true)]
async fn other_calls_that_are_denied_do_not_add_up() {
    let wishes: String =
        (0..6).map(|at| format!("model tool bash {{\"command\":\"touch x{at}\"}}\n---\n")).collect();
    let mut bench = Bench::with(Plan::script(wishes + "model text \"Then not.\""));
    bench.closings = vec![deny(Some("no")); 6];
    bench.run("go").await;
    assert_eq!((bench.model.seen().len(), notices(&bench)), (7, vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_budget_stops_the_next_step_says_so_and_holds_after_a_restart() {
    let steps = "model tool ls {\"path\":\".\"} | usage in=400 out=100\n---\n".repeat(9);
    // A step costs a thousandth of a dollar.
    let plan = || {
        let budget = Budget { max_cost_micros: Some(2_500), ..Budget::default() };
        Plan::script(&steps).price(2.0).config(Config { budget, ..Config::default() })
    };
    let mut bench = Bench::with(plan());
    let TurnEnd::Failed(failure) = bench.run("go").await else { panic!("it goes on") };
    assert_eq!((failure.code.as_str(), bench.model.seen().len()), (OVER_BUDGET, 3));
    assert!(failure.message.contains("$0.0030 of $0.0025"), "{failure:?}");
    let mut bench = bench.reborn(plan());
    let TurnEnd::Failed(failure) = bench.run("again").await else { panic!("it goes on") };
    assert_eq!((failure.code.as_str(), bench.model.seen().len()), (OVER_BUDGET, 0), "nothing is asked");
}

#[tokio::test(start_paused = true)]
async fn the_budget_of_a_session_goes_before_that_of_the_settings_bound_by_bound() {
    let steps = "model tool ls {\"path\":\".\"} | usage in=400 out=100\n---\n".repeat(9);
    let set = Budget { max_steps: Some(2), max_cost_micros: Some(4_500), ..Budget::default() };
    for (own, asked, word) in [
        (Budget::default(), 2, "/budget steps"),
        (Budget { max_steps: Some(4), ..Budget::default() }, 4, "--max-steps"),
        // Zero lifts a bound, and the others stay.
        (Budget { max_steps: Some(0), ..Budget::default() }, 5, "/budget cost or --max-cost, then say"),
    ] {
        let config = Config { budget: set, ..Config::default() };
        let mut bench = Bench::with(Plan::script(&steps).price(2.0).config(config));
        bench.emit(Body::Session(SessionEvent::BudgetChosen { budget: own }));
        let TurnEnd::Failed(failure) = bench.run("go").await else { panic!("it goes on") };
        assert_eq!((failure.code.as_str(), bench.model.seen().len()), (OVER_BUDGET, asked), "{own:?}");
        assert!(failure.message.contains(word) && !failure.message.contains('\n'), "{failure:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn steps_and_time_are_bounded_too() {
    let steps = "model tool ls {\"path\":\".\"} | pause 10s\n---\n".repeat(9);
    let (max_steps, max_time_s) = (Some(4), Some(15));
    for (budget, asked) in
        [(Budget { max_steps, ..Budget::default() }, 4), (Budget { max_time_s, ..Budget::default() }, 2)]
    {
        let mut bench = Bench::with(Plan::script(&steps).config(Config { budget, ..Config::default() }));
        let TurnEnd::Failed(failure) = bench.run("go").await else { panic!("it goes on") };
        assert_eq!((failure.code.as_str(), bench.model.seen().len()), (OVER_BUDGET, asked));
    }
}

#[tokio::test(start_paused = true)]
async fn a_budget_in_money_says_that_it_cannot_be_kept_where_nobody_knows_the_price() {
    let budget = Budget { max_cost_micros: Some(1), ..Budget::default() };
    let mut bench =
        Bench::with(Plan::script("model text \"a\"").config(Config { budget, ..Config::default() }));
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    assert_eq!(notices(&bench), ["budget"]);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_broke_off_counts_for_every_budget() {
    // Two attempts of a thousandth of a dollar each, in one request.
    let steps = "model text \"Half\" | usage in=400 out=100 | retry 2/5 1s \"lost\" | tool ls {\"path\":\".\"} | usage in=400 out=100\n---\n";
    for budget in [
        Budget { max_cost_micros: Some(1_500), ..Budget::default() },
        Budget { max_steps: Some(2), ..Budget::default() },
    ] {
        let plan = Plan::script(steps.repeat(5)).price(2.0).config(Config { budget, ..Config::default() });
        let mut bench = Bench::with(plan);
        let TurnEnd::Failed(failure) = bench.run("go").await else { panic!("it goes on") };
        assert_eq!((failure.code.as_str(), bench.model.seen().len()), (OVER_BUDGET, 1), "{failure:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn steps_of_all_turns_of_a_run_count() {
    let steps = "model text \"Here.\"\n---\n".to_owned() + &"model tool ls {\"path\":\".\"}\n---\n".repeat(5);
    let budget = Budget { max_steps: Some(2), ..Budget::default() };
    let mut bench = Bench::with(Plan::script(steps).config(Config { budget, ..Config::default() }));
    let run = bench.prompt("go").await;
    assert_eq!(bench.turn_end().await, TurnEnd::Done);
    for body in bench.state.close_turn(&Outcome::Done) {
        bench.emit(body);
    }
    bench.turn(run, Cause::FollowUp, "and on").await;
    let TurnEnd::Failed(failure) = bench.finish().await else { panic!("it goes on") };
    assert_eq!((failure.code.as_str(), bench.model.seen().len()), (OVER_BUDGET, 2), "{failure:?}");
}
