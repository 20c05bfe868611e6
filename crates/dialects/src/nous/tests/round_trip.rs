//! What is marked exact survives the way over the wire: our events, lowered by the runtime role, lifted by the UI role.

use super::stage::Stage;
use super::ui::Bench;
use domain::event::{Cause, Failure, Outcome};
use domain::tool::ToolOutcome;
use proptest::prelude::*;
use roles::Lane;

/// Name, end and output of a tool.
type Tool = (&'static str, ToolOutcome, String);
/// A text and the tools after it.
type Step = (String, Vec<Tool>);

#[derive(Debug, Clone)]
struct Plan {
    turns: Vec<Vec<Step>>,
    outcome: Outcome,
}

fn plan() -> impl Strategy<Value = Plan> {
    let outcome = prop_oneof![
        Just(Outcome::Done),
        Just(Outcome::Cancelled),
        Just(Outcome::Failed(Failure::new("provider_error", "overloaded"))),
    ];
    let ended = prop_oneof![
        Just(ToolOutcome::Done),
        Just(ToolOutcome::Failed),
        Just(ToolOutcome::Denied),
        Just(ToolOutcome::Skipped)
    ];
    let tool = (prop::sample::select(vec!["read", "bash"]), ended, "[a-z\\n]{1,8}");
    let step = ("[a-z ]{1,8}", prop::collection::vec(tool, 0..3));
    let turns = prop::collection::vec(prop::collection::vec(step, 1..3), 1..3);
    (turns, outcome).prop_map(|(turns, outcome)| Plan { turns, outcome })
}

fn play(plan: &Plan) -> (Stage, Bench) {
    let mut stage = Stage::ready();
    let (run, _) = stage.prompt();
    stage.happen(domain::event::Body::Run(domain::event::RunEvent::Started { run }));
    for (number, steps) in plan.turns.iter().enumerate() {
        let cause = if number == 0 { Cause::Prompt } else { Cause::Steer };
        let turn = stage.turn(run, cause, "hello");
        for (text, tools) in steps {
            let (step, message) = stage.step(turn);
            stage.delta(message, text);
            for (name, outcome, output) in tools {
                let tool = stage.propose(message, name);
                stage.run_tool(tool);
                stage.end_tool(tool, outcome.clone(), output);
            }
            stage.end_step(step, message);
        }
        if number + 1 < plan.turns.len() {
            stage.happen(domain::event::Body::Run(domain::event::RunEvent::TurnEnded { turn }));
        }
    }
    stage.end(plan.outcome.clone());
    let mut bench = Bench::greeted();
    bench.prompt("hello");
    bench.answer("accepted", serde_json::json!({ "command": "prompt", "run_id": "run-1" }));
    for event in stage.heard() {
        bench.line(Lane::EVENTS, &event.to_string());
    }
    (stage, bench)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn runs_turns_texts_tools_and_outcomes_survive(plan in plan()) {
        let (stage, bench) = play(&plan);
        let (ours, theirs) = (&stage.state, &bench.state);
        prop_assert_eq!(theirs.runs.len(), 1);
        let outcome = |state: &domain::state::State| state.runs[0].ended.clone().map(|(_, outcome)| outcome);
        prop_assert_eq!(outcome(theirs), outcome(ours));
        let causes = |state: &domain::state::State| {
            state.runs[0].turns.iter().map(|turn| turn.cause).collect::<Vec<_>>()
        };
        prop_assert_eq!(causes(theirs), causes(ours));
        let tools = |state: &domain::state::State| {
            let tools = state.tools.values();
            tools.map(|tool| (tool.name.clone(), tool.phase.clone(), tool.result.clone().map(|r| r.text))).collect::<Vec<_>>()
        };
        prop_assert_eq!(tools(theirs), tools(ours));
        let said: String = plan.turns.iter().flatten().map(|(text, _)| text.trim()).collect();
        let heard: String = bench.texts().iter().map(|text| text.trim().to_owned()).collect();
        prop_assert_eq!(heard, said);
        prop_assert_eq!(theirs.usage.total(), ours.usage.total());
    }
}
