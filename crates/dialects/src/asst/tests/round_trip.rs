//! What is marked exact survives the way over the wire: our events, lowered by the runtime role, lifted by the UI role.

use super::stage::Stage;
use super::ui::Bench;
use domain::content::Role;
use domain::event::{Cause, Outcome};
use domain::tool::{ToolOutcome, ToolResult};
use proptest::prelude::*;

/// Name, end and output of a tool.
type Tool = (&'static str, ToolOutcome, String);
/// A text and the tools after it.
type Step = (String, Vec<Tool>);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let ended = prop_oneof![Just(ToolOutcome::Done), Just(ToolOutcome::Failed)];
    let tool = (prop::sample::select(vec!["read", "bash"]), ended, "[a-z]{1,8}");
    prop::collection::vec(("[a-z ]{1,8}", prop::collection::vec(tool, 0..3)), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn messages_texts_and_tools_survive(steps in steps()) {
        let mut stage = Stage::ready();
        let run = stage.prompt("msg-1");
        let turn = stage.turn(run, Cause::Prompt);
        for (text, tools) in &steps {
            let (step, message) = stage.step(turn);
            stage.delta(message, text);
            for (name, outcome, output) in tools {
                stage.tool(message, name, outcome.clone(), ToolResult::text(output.clone()));
            }
            stage.end_step(step, message);
        }
        stage.end(Outcome::Done);
        let mut bench = Bench::ready();
        bench.prompt("hello");
        for line in std::mem::take(&mut stage.sent) {
            bench.say(line);
        }
        let tools = |state: &domain::state::State| {
            let tools = state.tools.values();
            tools.map(|tool| (tool.name.clone(), tool.args.clone(), tool.phase.clone(), tool.result.clone().map(|r| r.text))).collect::<Vec<_>>()
        };
        prop_assert_eq!(tools(&bench.state), tools(&stage.state));
        let said: String = steps.iter().map(|(text, _)| text.trim()).collect();
        let heard: String = bench.of(Role::Assistant).iter().flat_map(|text| text.split("\n\n")).map(|text| text.trim().to_owned()).collect();
        prop_assert_eq!(heard, said);
        prop_assert_eq!(bench.state.runs[0].ended.clone().map(|(_, outcome)| outcome), Some(Outcome::Done));
        prop_assert_eq!(bench.state.runs[0].turns.len(), 1);
    }
}
