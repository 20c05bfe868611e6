//! What one fact comes to: the bodies so far, over the state that they will be folded into.
//!
//! It is no copy of the state: each question is answered by the newest body that says something about it, else by the state.

use crate::event::{AskEvent, Body, ContextEvent, MessageEvent, RunEvent, ToolEvent};
use crate::ids::{AskId, EntryId, QueuedId, RunId, StepId, ToolRunId, TurnId};
use crate::queue::QueueKind;
use crate::state::State;
use crate::state::close::Open;
use crate::tool::ToolPhase;

/// The bodies of one fact, and what is open after them.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    state: &'a State,
    pub(super) bodies: Vec<Body>,
}

/// Where a tool run stands that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ToolStand {
    /// The recorded decision.
    pub(super) allowed: Option<bool>,
    pub(super) running: bool,
}

impl<'a> Draft<'a> {
    /// No bodies yet.
    pub(super) fn over(state: &'a State) -> Draft<'a> {
        Draft { state, bodies: Vec::new() }
    }

    /// Adds a body: what is asked from here on is answered with it.
    pub(super) fn push(&mut self, body: Body) {
        self.bodies.push(body);
    }

    /// Adds what ends something of what is open; gives what was added.
    pub(super) fn close(&mut self, end: impl FnOnce(Open) -> Vec<Body>) -> &[Body] {
        let before = self.bodies.len();
        let mut open = self.state.open();
        for body in &self.bodies {
            open.follow(body);
        }
        self.bodies.extend(end(open));
        &self.bodies[before..]
    }

    fn newest<T>(&self, says: impl Fn(&Body) -> Option<T>) -> Option<T> {
        self.bodies.iter().rev().find_map(says)
    }

    /// The run under way.
    pub(super) fn run(&self) -> Option<RunId> {
        let told = self.newest(|body| match body {
            Body::Run(RunEvent::Started { run }) => Some(Some(*run)),
            Body::Run(RunEvent::Ended { .. }) => Some(None),
            _ => None,
        });
        told.unwrap_or_else(|| self.state.open_run().map(|run| run.id))
    }

    /// The turn under way.
    pub(super) fn turn(&self) -> Option<TurnId> {
        let told = self.newest(|body| match body {
            Body::Run(RunEvent::TurnStarted { turn, .. }) => Some(Some(*turn)),
            Body::Run(RunEvent::TurnEnded { .. }) => Some(None),
            _ => None,
        });
        told.unwrap_or_else(|| Some(self.state.open_run()?.open_turn()?.id))
    }

    /// The step under way.
    pub(super) fn step(&self) -> Option<StepId> {
        let told = self.newest(|body| match body {
            Body::Run(RunEvent::StepStarted { step, .. }) => Some(Some(*step)),
            Body::Run(RunEvent::StepEnded { .. }) => Some(None),
            _ => None,
        });
        told.unwrap_or_else(|| Some(self.state.open_run()?.open_step()?.id))
    }

    /// The active tip of the tree.
    pub(super) fn leaf(&self) -> Option<EntryId> {
        let told = self.newest(|body| match body {
            Body::Message(MessageEvent::Started { message, .. }) => Some((*message).into()),
            Body::Context(ContextEvent::Compacted { entry, .. }) => Some(*entry),
            _ => None,
        });
        told.or(self.state.leaf)
    }

    /// The oldest inputs that wait in a queue.
    pub(super) fn waiting(&self, kind: QueueKind, count: usize) -> Vec<QueuedId> {
        self.state.queues.of(kind).iter().take(count).map(|waiting| waiting.id).collect()
    }

    /// Where a tool run stands; one that nobody knows stands at its beginning.
    pub(super) fn tool(&self, id: ToolRunId) -> ToolStand {
        let known = self.state.tool(id).map(|tool| ToolStand {
            allowed: tool.decision.as_ref().map(|decision| decision.allowed),
            running: tool.phase == ToolPhase::Running,
        });
        let mut stand = known.unwrap_or_default();
        for body in &self.bodies {
            match body {
                Body::Tool(ToolEvent::Decided { tool, decision }) if *tool == id => {
                    stand.allowed = Some(decision.allowed);
                }
                Body::Tool(ToolEvent::Started { tool }) if *tool == id => stand.running = true,
                _ => {}
            }
        }
        stand
    }

    /// The open asks, oldest first.
    pub(super) fn open_asks(&self) -> Vec<AskId> {
        self.asks(|_| true)
    }

    /// The open asks whether a tool may run; one at most.
    pub(super) fn asks_about(&self, tool: ToolRunId) -> Vec<AskId> {
        self.asks(|about| about == Some(tool))
    }

    fn asks(&self, wanted: impl Fn(Option<ToolRunId>) -> bool) -> Vec<AskId> {
        let said = self.bodies.iter().filter_map(|body| match body {
            Body::Ask(AskEvent::Opened(ask)) => Some(ask),
            _ => None,
        });
        let closed = |id: AskId| {
            self.bodies
                .iter()
                .any(|body| matches!(body, Body::Ask(AskEvent::Closed { ask, .. }) if *ask == id))
        };
        let open = self.state.asks.iter().chain(said).filter(|ask| wanted(ask.about()));
        open.map(|ask| ask.id).filter(|id| !closed(*id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Scope;
    use crate::tool::{Decider, Decision};

    #[test]
    fn a_draft_knows_what_it_has_said_of_a_tool() {
        let state = State::new();
        let (mut draft, tool) = (Draft::over(&state), ToolRunId(7));
        assert_eq!(draft.tool(tool), ToolStand::default());
        let decision =
            Decision { allowed: true, by: Decider::Foreign, scope: Scope::Once, reason: None, digest: None };
        draft.push(Body::Tool(ToolEvent::Decided { tool, decision }));
        draft.push(Body::Tool(ToolEvent::Started { tool }));
        assert_eq!(draft.tool(tool), ToolStand { allowed: Some(true), running: true });
        assert_eq!(draft.tool(ToolRunId(8)), ToolStand::default(), "and of no other");
    }
}
