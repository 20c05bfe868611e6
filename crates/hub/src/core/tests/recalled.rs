//! Which tool runs a turn is told of.

use super::super::runs::MAX_RECALLED;
use super::*;
use domain::event::{Compaction, ContextEvent, Trigger};
use domain::ids::EntryId;
use domain::tool::LONG_RESULT;

/// A step whose one tool gave a result of this length.
fn gave(bench: &mut Bench, brief: &TurnBrief, length: usize) -> ToolRunId {
    let brief = TurnBrief { leaf: bench.state().leaf, ..brief.clone() };
    let (step, tool) = bench.propose(&brief);
    let (outcome, result) = (ToolOutcome::Skipped, ToolResult::text("x".repeat(length)));
    bench.happened(&brief, Body::Tool(ToolEvent::Ended { tool, outcome, result }));
    bench.happened(&brief, Body::Run(RunEvent::StepEnded { step, usage: Usage::default() }));
    tool
}

#[test]
fn long_results_from_before_a_summary_come_along_and_not_too_many() {
    let mut bench = Bench::new();
    let brief = bench.prompt("go");
    let mut long = Vec::new();
    for _ in 0..MAX_RECALLED + 8 {
        gave(&mut bench, &brief, LONG_RESULT);
        long.push(gave(&mut bench, &brief, LONG_RESULT + 1));
    }
    let compaction = Compaction {
        summary: "short".to_owned(),
        first_kept: None,
        tokens_before: 0,
        trigger: Trigger::Threshold,
        unexplained: false,
        usage: Usage::default(),
    };
    let (entry, parent) = (EntryId::mint(&brief.ids), bench.state().leaf);
    bench.happened(&brief, Body::Context(ContextEvent::Compacted { entry, parent, compaction }));
    let kept = gave(&mut bench, &brief, 1);
    bench.turn_done(&brief, TurnEnd::Done);
    let told: BTreeSet<ToolRunId> = bench.prompt("more").tools.iter().map(|run| run.id).collect();
    let newest = long[8..].iter().copied().chain([kept]);
    assert_eq!(told, newest.collect(), "the newest long ones, and what stands in the conversation");
}
