//! What is marked exact survives the way over the wire: our events, lowered by the runtime role, lifted by the UI role.

use super::{Client, Core};
use domain::content::Usage;
use domain::event::{Body, Cause, Failure, Outcome, RunEvent};
use domain::tool::{ToolOutcome, ToolResult};
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

fn play(plan: &Plan) -> (Core, Client) {
    let mut core = Core::ready();
    let (run, _) = core.prompt(false);
    core.happen(Body::Run(RunEvent::Started { run }));
    for (number, steps) in plan.turns.iter().enumerate() {
        if number > 0 {
            core.end_turn();
        }
        core.turn(if number == 0 { Cause::Prompt } else { Cause::Steer }, "hello");
        for (text, tools) in steps {
            let (step, message) = core.step();
            core.delta(message, text);
            for (name, outcome, output) in tools {
                let tool = core.propose(message, name, "{}");
                core.start_tool(tool);
                core.end_tool(tool, outcome.clone(), ToolResult::text(output.clone()));
            }
            core.end_step(step, Usage { input: 11, output: 7, ..Usage::default() });
        }
    }
    core.end(plan.outcome.clone());
    let mut client = Client::greeted();
    client.prompt("hello");
    client.reply("accepted", serde_json::json!({ "command": "prompt", "run_id": "run-1" }));
    for event in core.heard() {
        client.hear_on(Lane::EVENTS, &event.to_string());
    }
    (core, client)
}

proptest! {
    #![proptest_config(testkit::cases(64))]

    #[test]
    fn runs_turns_texts_tools_and_outcomes_survive(plan in plan()) {
        let (mut core, client) = play(&plan);
        let (ours, theirs) = (core.state().clone(), &client.state);
        prop_assert_eq!(theirs.runs.len(), 1);
        let outcome = |state: &domain::state::State| state.runs[0].ended.clone().map(|(_, outcome)| outcome);
        prop_assert_eq!(outcome(theirs), outcome(&ours));
        let causes = |state: &domain::state::State| {
            state.runs[0].turns.iter().map(|turn| turn.cause).collect::<Vec<_>>()
        };
        prop_assert_eq!(causes(theirs), causes(&ours));
        let tools = |state: &domain::state::State| {
            let tools = state.tools.values();
            tools.map(|tool| (tool.name.clone(), tool.phase.clone(), tool.result.clone().map(|r| r.text))).collect::<Vec<_>>()
        };
        prop_assert_eq!(tools(theirs), tools(&ours));
        let said: String = plan.turns.iter().flatten().map(|(text, _)| text.trim()).collect();
        let heard: String = client.texts().iter().map(|text| text.trim().to_owned()).collect();
        prop_assert_eq!(heard, said);
        prop_assert_eq!(theirs.usage.total(), ours.usage.total());
    }
}
