//! Whatever is open can be closed: the one way in which steps, turns and runs end, children before parents.

use super::State;
use crate::ask::Closing;
use crate::content::Usage;
use crate::event::{AskEvent, Body, Finish, Leaving, MessageEvent, Outcome, QueueEvent, RunEvent, ToolEvent};
use crate::ids::{AskId, MessageId, QueuedId, RunId, StepId, ToolRunId, TurnId};
use crate::tool::{ToolOutcome, ToolPhase, ToolResult};

/// What is open in a session: as its state stands, and as it will stand after more bodies ([`Open::follow`]). All oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Open {
    run: Option<RunId>,
    turn: Option<TurnId>,
    /// With what its answer used, where that is known.
    step: Option<(StepId, Usage)>,
    messages: Vec<MessageId>,
    tools: Vec<UnclosedTool>,
    asks: Vec<UnclosedAsk>,
    queued: Vec<QueuedId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct UnclosedTool {
    id: ToolRunId,
    running: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct UnclosedAsk {
    id: AskId,
    run: Option<RunId>,
    about: Option<ToolRunId>,
}

impl State {
    /// Everything that has begun and not ended.
    pub fn open(&self) -> Open {
        let run = self.open_run();
        let tools = self.open_tools().into_iter().filter_map(|id| self.tool(id));
        let asks = self.asks.iter().map(|ask| UnclosedAsk { id: ask.id, run: ask.run, about: ask.about() });
        Open {
            run: run.map(|run| run.id),
            turn: run.and_then(|run| run.open_turn()).map(|turn| turn.id),
            step: run.and_then(|run| run.open_step()).map(|step| (step.id, step.billed.unwrap_or_default())),
            messages: self.open_messages(),
            tools: tools
                .map(|tool| UnclosedTool { id: tool.id, running: tool.phase == ToolPhase::Running })
                .collect(),
            asks: asks.collect(),
            queued: self.queues.all().map(|(_, waiting)| waiting.id).collect(),
        }
    }

    /// The bodies that end the run under way with `outcome`; empty when none is.
    pub fn close_run(&self, outcome: Outcome) -> Vec<Body> {
        self.open().close_run(outcome)
    }

    /// The bodies that end the turn under way and everything in it, the questions of its run included: the run goes on.
    pub fn close_turn(&self, outcome: &Outcome) -> Vec<Body> {
        self.open().close_turn_and_asks(outcome)
    }
}

impl Open {
    /// What is open after this.
    pub fn follow(&mut self, body: &Body) {
        match body {
            Body::Run(RunEvent::Started { run }) => self.run = Some(*run),
            Body::Run(RunEvent::TurnStarted { turn, .. }) => self.turn = Some(*turn),
            Body::Run(RunEvent::StepStarted { step, .. }) => self.step = Some((*step, Usage::default())),
            Body::Run(RunEvent::StepBilled { step, usage }) => self.step = Some((*step, *usage)),
            Body::Run(RunEvent::StepEnded { .. }) => self.step = None,
            Body::Run(RunEvent::TurnEnded { .. }) => self.turn = None,
            Body::Run(RunEvent::Ended { .. }) => self.run = None,
            Body::Message(MessageEvent::Started { message, .. }) => self.messages.push(*message),
            Body::Message(MessageEvent::Ended { message, .. }) => self.messages.retain(|id| id != message),
            Body::Tool(ToolEvent::Proposed { tool, .. }) => {
                self.tools.push(UnclosedTool { id: *tool, running: false });
            }
            Body::Tool(ToolEvent::Started { tool }) => {
                for open in self.tools.iter_mut().filter(|open| open.id == *tool) {
                    open.running = true;
                }
            }
            Body::Tool(ToolEvent::Ended { tool, .. }) => self.tools.retain(|open| open.id != *tool),
            Body::Ask(AskEvent::Opened(ask)) => {
                self.asks.push(UnclosedAsk { id: ask.id, run: ask.run, about: ask.about() });
            }
            Body::Ask(AskEvent::Closed { ask, .. }) => self.asks.retain(|open| open.id != *ask),
            Body::Queue(QueueEvent::Added { item, .. }) => self.queued.push(*item),
            Body::Queue(QueueEvent::Left { item, .. }) => self.queued.retain(|waiting| waiting != item),
            Body::Session(_)
            | Body::Run(RunEvent::Retrying { .. })
            | Body::Message(MessageEvent::Delta { .. } | MessageEvent::PartAdded { .. })
            | Body::Tool(ToolEvent::Decided { .. } | ToolEvent::Progress { .. })
            | Body::Queue(QueueEvent::Edited { .. } | QueueEvent::ModeSet { .. })
            | Body::Context(_)
            | Body::Note(_)
            | Body::Rebased(_) => {}
        }
    }

    /// The bodies that end the run with `outcome`; empty when none is under way. Its asks are withdrawn first, so that nothing that
    /// was asked can still be allowed; those that belong to no run stay open.
    pub fn close_run(mut self, outcome: Outcome) -> Vec<Body> {
        let Some(run) = self.run else { return Vec::new() };
        let mut bodies = self.withdraw_asks();
        let queued = if outcome == Outcome::Done { Vec::new() } else { std::mem::take(&mut self.queued) };
        bodies.extend(self.close_turn(&outcome));
        let cleared = |item| Body::Queue(QueueEvent::Left { item, leaving: Leaving::Cleared });
        bodies.extend(queued.into_iter().map(cleared));
        bodies.push(Body::Run(RunEvent::Ended { run, outcome }));
        bodies
    }

    /// The bodies that end the turn and everything in it.
    pub fn close_turn(mut self, outcome: &Outcome) -> Vec<Body> {
        let mut bodies = self.close_contents(outcome);
        if let Some((step, usage)) = self.step {
            bodies.push(Body::Run(RunEvent::StepEnded { step, usage }));
        }
        if let Some(turn) = self.turn {
            bodies.push(Body::Run(RunEvent::TurnEnded { turn }));
        }
        bodies
    }

    /// The same, the questions of its run included: the run goes on.
    pub fn close_turn_and_asks(mut self, outcome: &Outcome) -> Vec<Body> {
        let mut bodies = self.withdraw_asks();
        bodies.extend(self.close_turn(outcome));
        bodies
    }

    /// The bodies that end the step and everything in it, with what it used.
    pub fn close_step(mut self, outcome: &Outcome, usage: Usage) -> Vec<Body> {
        let mut bodies = self.close_contents(outcome);
        if let Some((step, _)) = self.step {
            bodies.push(Body::Run(RunEvent::StepEnded { step, usage }));
        }
        bodies
    }

    /// Withdraws the asks of the run.
    fn withdraw_asks(&mut self) -> Vec<Body> {
        let run = self.run;
        let (of_run, others) =
            std::mem::take(&mut self.asks).into_iter().partition(|ask| run.is_some() && ask.run == run);
        self.asks = others;
        let of_run: Vec<UnclosedAsk> = of_run;
        of_run.into_iter().map(|ask| withdrawn(ask.id)).collect()
    }

    /// Ends the tools, with the questions about them, and the messages.
    fn close_contents(&mut self, outcome: &Outcome) -> Vec<Body> {
        let mut bodies = Vec::new();
        for UnclosedTool { id: tool, running } in std::mem::take(&mut self.tools) {
            let about = self.asks.iter().filter(|ask| ask.about == Some(tool));
            bodies.extend(about.map(|ask| withdrawn(ask.id)));
            let (outcome, text) = tool_cut_by(outcome, running);
            let result = ToolResult::text(text);
            bodies.push(Body::Tool(ToolEvent::Ended { tool, outcome, result }));
        }
        let finish = message_cut_by(outcome);
        for message in std::mem::take(&mut self.messages) {
            bodies.push(Body::Message(MessageEvent::Ended { message, finish: finish.clone() }));
        }
        bodies
    }
}

fn withdrawn(ask: AskId) -> Body {
    Body::Ask(AskEvent::Closed { ask, closing: Closing::Withdrawn })
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
fn message_cut_by(outcome: &Outcome) -> Finish {
    match outcome {
        Outcome::Done => Finish::Complete,
        Outcome::Failed(_) => Finish::Failed,
        Outcome::Cancelled | Outcome::Interrupted | Outcome::Lost => Finish::Interrupted,
    }
}
