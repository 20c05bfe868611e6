//! Whatever is open can be closed: the bodies that end a run on every path, children before parents.

use super::State;
use crate::ask::Closing;
use crate::content::Usage;
use crate::event::{AskEvent, Body, Finish, Leaving, MessageEvent, Outcome, QueueEvent, RunEvent, ToolEvent};
use crate::tool::{ToolOutcome, ToolPhase, ToolResult};

impl State {
    /// The bodies that end the run under way with `outcome`; empty when none is. Asks are withdrawn first, so that nothing that
    /// was asked can still be allowed.
    pub fn close_run(&self, outcome: Outcome) -> Vec<Body> {
        let Some(run) = self.open_run() else { return Vec::new() };
        let mut bodies = self.withdraw_asks();
        bodies.extend(self.close_turn(&outcome));
        if outcome != Outcome::Done {
            bodies.extend(
                self.queues
                    .all()
                    .map(|(_, w)| Body::Queue(QueueEvent::Left { item: w.id, leaving: Leaving::Cleared })),
            );
        }
        bodies.push(Body::Run(RunEvent::Ended { run: run.id, outcome }));
        bodies
    }

    /// The bodies that withdraw the open asks of the run under way.
    pub fn withdraw_asks(&self) -> Vec<Body> {
        let Some(run) = self.open_run() else { return Vec::new() };
        let of_run = self.asks.iter().filter(|ask| ask.run == Some(run.id));
        of_run.map(|ask| Body::Ask(AskEvent::Closed { ask: ask.id, closing: Closing::Withdrawn })).collect()
    }

    /// The bodies that end the turn under way and everything in it.
    pub fn close_turn(&self, outcome: &Outcome) -> Vec<Body> {
        let mut bodies = Vec::new();
        for tool in self.open_tools().into_iter().filter_map(|id| self.tool(id)) {
            let (outcome, text) = tool_cut_by(outcome, tool.phase == ToolPhase::Running);
            let result = ToolResult::text(text);
            bodies.push(Body::Tool(ToolEvent::Ended { tool: tool.id, outcome, result }));
        }
        let finish = message_cut_by(outcome);
        for message in self.open_messages() {
            bodies.push(Body::Message(MessageEvent::Ended { message, finish: finish.clone() }));
        }
        if let Some(step) = self.open_run().and_then(|run| run.open_step()) {
            bodies.push(Body::Run(RunEvent::StepEnded { step: step.id, usage: Usage::default() }));
        }
        if let Some(turn) = self.open_run().and_then(|run| run.open_turn()) {
            bodies.push(Body::Run(RunEvent::TurnEnded { turn: turn.id }));
        }
        bodies
    }
}

/// How a tool ends that is still open when its run ends this way, and what stands for its result.
pub fn tool_cut_by(outcome: &Outcome, running: bool) -> (ToolOutcome, &'static str) {
    match (outcome, running) {
        (Outcome::Interrupted | Outcome::Lost, true) => (
            ToolOutcome::Unknown,
            "The program ended while this tool was running: nobody knows how far it came.",
        ),
        (Outcome::Cancelled, true) => (ToolOutcome::Cancelled, "Stopped with its run."),
        (Outcome::Failed(_), true) => (ToolOutcome::Failed, "The run failed before this tool ended."),
        // A foreign runtime that is done and does not say how its tool ended.
        (Outcome::Done, true) => (ToolOutcome::Done, ""),
        (Outcome::Cancelled | Outcome::Interrupted | Outcome::Lost, false) => {
            (ToolOutcome::Cancelled, NOT_RUN)
        }
        (Outcome::Done | Outcome::Failed(_), false) => (ToolOutcome::Skipped, NOT_RUN),
    }
}

const NOT_RUN: &str = "Not run: the run ended first.";

/// How a message ends that is still open when its run ends this way.
pub fn message_cut_by(outcome: &Outcome) -> Finish {
    match outcome {
        Outcome::Done => Finish::Complete,
        Outcome::Failed(_) => Finish::Failed,
        Outcome::Cancelled | Outcome::Interrupted | Outcome::Lost => Finish::Interrupted,
    }
}
