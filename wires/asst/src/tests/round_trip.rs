//! What is marked exact survives the way over the wire: our events, lowered by the runtime role, lifted by the UI role.

use super::{prompt, ready, ui};
use domain::content::Usage;
use domain::event::Outcome;
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
    #![proptest_config(testkit::cases(64))]

    #[test]
    fn messages_texts_and_tools_survive(steps in steps()) {
        let mut runtime = ready();
        prompt(&mut runtime, "msg-1");
        for (text, tools) in &steps {
            let (step, message) = runtime.step();
            runtime.delta(message, text);
            for (name, outcome, output) in tools {
                let tool = runtime.propose(message, name, r#"{"path":"src"}"#);
                runtime.run_tool(tool, outcome.clone(), ToolResult::text(output.clone()));
            }
            runtime.end_step(step, Usage::default());
        }
        runtime.end(Outcome::Done);
        let mut bench = ui();
        bench.prompt("hello");
        for line in runtime.lines() {
            bench.hear(&line);
        }
        let tools = |state: &domain::state::State| {
            let tools = state.tools.values();
            tools.map(|tool| (tool.name.clone(), tool.args.clone(), tool.phase.clone(), tool.result.clone().map(|r| r.text))).collect::<Vec<_>>()
        };
        prop_assert_eq!(tools(&bench.state), tools(runtime.state()));
        let said: String = steps.iter().map(|(text, _)| text.trim()).collect();
        let heard: String = bench.texts().iter().flat_map(|text| text.split("\n\n")).map(|text| text.trim().to_owned()).collect();
        prop_assert_eq!(heard, said);
        prop_assert_eq!(bench.outcome(), Some(Outcome::Done));
        prop_assert_eq!(bench.state.runs[0].turns.len(), 1);
    }
}
