//! Mode `plan`: nothing is changed before the person has agreed to a plan, and then the mode before is on again.

use crate::bench::{Bench, Plan, allow, answered};
use domain::ask::{Answer, AskKind, Closing, Scope};
use domain::event::{AskEvent, Body, PlanState};
use domain::port::TurnEnd;
use domain::session::Policy;
use domain::tool::ToolOutcome;

const PLANNED: &str = r##"model text "I looked.\n\n# Plan\n1. write a\n2. test it""##;

fn chosen(id: &str) -> Closing {
    answered(Answer::Chosen(vec![id.to_owned()]))
}

async fn planning(script: &str) -> Bench {
    let mut bench = Bench::with(Plan::script(script).policy(Policy::AutoEdit));
    bench.choose_policy(Policy::AutoEdit).await;
    bench.choose_policy(Policy::Plan).await;
    bench
}

fn titles(bench: &Bench) -> Vec<String> {
    let opened = bench.events.iter().filter_map(|event| match &event.body {
        Body::Ask(AskEvent::Opened(ask)) => Some(ask.title.clone()),
        _ => None,
    });
    opened.collect()
}

#[tokio::test]
async fn nothing_is_written_or_run_that_is_not_known_to_only_look() {
    let mut bench = planning(
        r#"
        model tool write {"path":"a","content":"1"} | tool edit {"path":"b","old":"x","new":"y"} | tool bash {"command":"touch c"} | tool bash {"command":"$X"} | tool apply_patch {"input":"*** Begin Patch\n*** Add File: d\n+x\n*** End Patch"} | tool read {"path":"b"}
        ---
        model text "I looked."
        "#,
    )
    .await;
    bench.put("b", "x\n");
    // Whatever anybody answers.
    bench.closings = vec![allow(Scope::Session); 9];
    assert_eq!(bench.run("do it").await, TurnEnd::Done);
    let done: Vec<bool> =
        bench.outcomes().iter().map(|(_, outcome, _)| *outcome == ToolOutcome::Done).collect();
    assert_eq!(done, [false, false, false, false, false, true], "{:?}", bench.outcomes());
    assert_eq!((titles(&bench), bench.get("b").as_deref()), (Vec::new(), Some("x\n")));
    assert_eq!(["a", "c", "d"].map(|name| bench.get(name)), [None, None, None]);
}

#[tokio::test]
async fn a_plan_that_was_edited_begins_in_the_mode_before() {
    let mut bench = planning(PLANNED).await;
    bench.closings =
        vec![chosen("edit"), answered(Answer::Entered("# Plan\n- write b\n".to_owned())), chosen("begin")];
    assert_eq!(bench.run("move it").await, TurnEnd::Done);
    assert!(bench.system().contains("Mode plan:"), "{}", bench.system());
    assert_eq!(titles(&bench), ["Begin with this plan?", "Edit the plan", "Begin with this plan?"]);
    assert_eq!(bench.state.settings.policy, Policy::AutoEdit);
    let steps: Vec<_> = bench.state.plan.iter().map(|item| (item.text.as_str(), item.state)).collect();
    assert_eq!(steps, [("write b", PlanState::Pending)]);
    let next: Vec<_> =
        bench.state.queues.follow_up.iter().map(|waiting| waiting.input.text.clone()).collect();
    assert_eq!(next, ["I changed the plan. Begin with this one:\n\n# Plan\n- write b"]);
}

#[tokio::test]
async fn a_plan_begins_as_it_stands_or_not_at_all() {
    let mut bench = planning(PLANNED).await;
    bench.closings = vec![chosen("begin")];
    assert_eq!(bench.run("move it").await, TurnEnd::Done);
    assert_eq!(bench.state.plan.len(), 2);
    assert_eq!(bench.state.queues.follow_up[0].input.text, "Begin with this plan.");
    for closing in [chosen("keep"), answered(Answer::Dismissed), Closing::Unattended] {
        let mut bench = planning(PLANNED).await;
        bench.closings = vec![closing];
        assert_eq!(bench.run("move it").await, TurnEnd::Done);
        assert_eq!((bench.state.settings.policy, bench.state.queues.follow_up.len()), (Policy::Plan, 0));
    }
}

#[tokio::test]
async fn nobody_is_asked_where_there_is_no_plan_and_where_nobody_is() {
    let mut bench = planning("model text \"What shall it be called?\"").await;
    assert_eq!(bench.run("plan it").await, TurnEnd::Done);
    assert_eq!(titles(&bench), Vec::<String>::new());
    let mut bench = planning(PLANNED).await;
    bench.attended = false;
    assert_eq!(bench.run("plan it").await, TurnEnd::Done);
    assert_eq!(titles(&bench), Vec::<String>::new());
    let mut bench = Bench::new(PLANNED);
    assert_eq!(bench.run("a plan, please").await, TurnEnd::Done);
    assert_eq!(titles(&bench), Vec::<String>::new(), "in another mode it is an answer like any");
}

#[tokio::test]
async fn the_question_says_which_mode_is_on_again() {
    let mut bench = planning(PLANNED).await;
    bench.prompt("move it").await;
    bench.until(|body| matches!(body, Body::Ask(AskEvent::Opened(_)))).await;
    let AskKind::Choose { choices, many: false, .. } = &bench.state.asks[0].kind else { panic!() };
    assert_eq!(choices[0].detail.as_deref(), Some("back to the mode auto-edit"));
    bench.cancel().await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    assert_eq!(bench.state.settings.policy, Policy::Plan);
}

#[tokio::test]
async fn comments_on_lines_are_the_next_thing_that_the_model_hears_and_nothing_begins() {
    let mut bench = planning(PLANNED).await;
    bench.prompt("move it").await;
    bench.until(|body| matches!(body, Body::Ask(AskEvent::Opened(_)))).await;
    let ask = bench.state.asks[0].id;
    bench.close(ask, chosen("comment")).await;
    bench.until(|body| matches!(body, Body::Ask(AskEvent::Opened(_)))).await;
    let AskKind::Edit { prefill, .. } = bench.state.asks[0].kind.clone() else { panic!() };
    assert!(prefill.lines().count() > 1 && prefill.lines().all(|line| line.starts_with('>')), "{prefill}");
    let first = prefill.lines().next().unwrap().to_owned();
    let written = prefill.replacen('\n', "\nname the files\n", 1);
    let ask = bench.state.asks[0].id;
    bench.close(ask, answered(Answer::Entered(written))).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    let next = bench.state.queues.follow_up[0].input.text.clone();
    assert!(next.ends_with(&format!("{first}\n\nname the files")), "{next}");
    assert_eq!((bench.state.settings.policy, bench.state.plan.len()), (Policy::Plan, 0));
}
