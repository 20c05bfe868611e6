//! Any script, any answers, a cancel at any report: the stream obeys the laws, everything is closed, nothing starts afterwards.

use crate::bench::{Bench, Plan, allow, answered, deny};
use crate::stand_in::Mark;
use domain::ask::{Answer, Closing, Scope};
use domain::event::{Body, Outcome, ToolEvent};
use domain::port::TurnEnd;
use domain::session::Policy;
use proptest::prelude::*;

fn cue() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        4 => Just("text \"words\""),
        1 => Just("thought \"hm\""),
        3 => Just("tool mark {\"name\":\"m\"}"),
        2 => Just("tool read {\"path\":\"f\"}"),
        2 => Just("tool write {\"path\":\"f\",\"content\":\"x\"}"),
        1 => Just("tool nothing {}"),
        1 => Just("tool ask {\"kind\":\"confirm\",\"title\":\"Sure?\",\"message\":\"?\"}"),
        1 => Just("usage in=180000 out=10"),
        1 => Just("pause 5s"),
        1 => Just("retry 2/3 1s \"busy\""),
    ]
}

fn script() -> impl Strategy<Value = String> {
    let last =
        prop_oneof![6 => Just(""), 1 => Just(" | error network"), 1 => Just(" | error context_overflow")];
    let response = (prop::collection::vec(cue(), 1..5), last)
        .prop_map(|(cues, last)| format!("model {}{last}", cues.join(" | ")));
    prop::collection::vec(response, 1..5).prop_map(|responses| responses.join("\n---\n"))
}

fn closing() -> impl Strategy<Value = Closing> {
    prop_oneof![
        Just(allow(Scope::Once)),
        Just(allow(Scope::Session)),
        Just(deny(None)),
        Just(deny(Some("no"))),
        Just(answered(Answer::Dismissed)),
        Just(Closing::Expired),
        Just(Closing::Unattended),
    ]
}

async fn storm(
    script: String,
    closings: Vec<Closing>,
    policy: Policy,
    cancel_after: Option<usize>,
    steer: bool,
) {
    let mark = Mark::default();
    let mut bench = Bench::with(Plan::script(script).tool(mark.clone()).policy(policy));
    bench.put("f", "text\n");
    bench.closings = closings;
    // Nothing waits for ever: what is asked when the answers have run out is answered too.
    bench.closings.extend(std::iter::repeat_n(Closing::Expired, 64));
    bench.prompt("go").await;
    if steer {
        bench.steer_waits(true).await;
    }
    let mut end = bench.take_some(cancel_after.unwrap_or(usize::MAX)).await;
    let starts = bench.count(|body| matches!(body, Body::Tool(ToolEvent::Started { .. })));
    if end.is_none() {
        bench.cancel().await;
        // An end that was on its way already may come instead; the hub takes both for a cancel.
        bench.take_some(usize::MAX).await.unwrap();
        end = Some(TurnEnd::Cancelled);
        assert_eq!(bench.count(|body| matches!(body, Body::Tool(ToolEvent::Started { .. }))), starts);
    }
    bench.check_closed();
    let outcome = match end {
        Some(TurnEnd::Failed(failure)) => Outcome::Failed(failure),
        Some(TurnEnd::Cancelled) => Outcome::Cancelled,
        _ => Outcome::Done,
    };
    for body in bench.state.close_run(outcome) {
        bench.emit(body);
    }
    let begun = mark.seen().iter().filter(|line| line.ends_with("begins")).count();
    let allowed =
        |body: &Body| matches!(body, Body::Tool(ToolEvent::Decided { decision, .. }) if decision.allowed);
    assert!(begun <= bench.count(allowed), "nothing runs without a recorded yes");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..testkit::cases(96) })]

    #[test]
    fn every_turn_obeys_the_laws(
        script in script(),
        closings in prop::collection::vec(closing(), 0..6),
        policy in prop_oneof![Just(Policy::Ask), Just(Policy::AutoEdit), Just(Policy::Full), Just(Policy::ReadOnly)],
        cancel_after in prop::option::of(0_usize..40),
        steer in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(storm(script, closings, policy, cancel_after, steer));
    }
}
