//! What to do with a session whose program died in the middle of a run.
//!
//! An interrupted run is closed as interrupted, with one exception: a consent that nobody has answered yet is still worth an
//! answer. Then the run stays open at its awaiting tools: the asks keep their ids, and everything else that is open is closed.
//!
//! Why a consent that survives cannot run its tool twice: a tool runs only after its `ToolStarted` is on disk, and its ask closes
//! on disk before that. So whatever the moment of death, exactly one of these holds on disk: the ask is open (nothing ran; it is
//! asked again), the ask is closed or the tool allowed but not started (nothing ran; the tool is closed as not run), or the tool
//! started (it may have run; it is closed as unknown). Only the first leads to a run, and answering moves it out of the first.

use domain::ask::{AskKind, Closing};
use domain::event::{AskEvent, Body, Finish, MessageEvent, Outcome, ToolEvent};
use domain::ids::{AskId, RunId, StepId, ToolRunId, TurnId};
use domain::state::State;
use domain::state::close::tool_cut_by;
use domain::tool::{ToolPhase, ToolResult};

/// How a session is made whole again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recovery {
    /// To append, in this order. Empty when nothing was open.
    pub bodies: Vec<Body>,
    /// The run that is still open after them, waiting for consent; `None` when no run is open then.
    pub resumable: Option<Resumable>,
}

/// A run that waits at its consents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resumable {
    pub run: RunId,
    pub turn: TurnId,
    pub step: StepId,
    /// What is still asked, oldest first.
    pub consents: Vec<Standing>,
}

/// A consent that still stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub ask: AskId,
    /// The tool run that waits for it.
    pub tool: ToolRunId,
}

/// What makes `state` whole after its program died. For sessions that a foreign runtime ran, close the run with
/// [`Outcome::Lost`] instead ([`State::close_run`]): nobody is left there to hear an answer.
pub fn recover(state: &State) -> Recovery {
    match resumable(state) {
        Some(resumable) => {
            let bodies = close_around(state, &resumable);
            Recovery { bodies, resumable: Some(resumable) }
        }
        None => {
            let mut bodies = stray_asks(state);
            bodies.extend(state.close_run(Outcome::Interrupted));
            Recovery { bodies, resumable: None }
        }
    }
}

fn resumable(state: &State) -> Option<Resumable> {
    let run = state.open_run()?;
    let (turn, step) = (run.open_turn()?, run.open_step()?);
    let consents: Vec<Standing> = state
        .asks
        .iter()
        .filter(|ask| ask.run == Some(run.id))
        .filter_map(|ask| match &ask.kind {
            AskKind::Consent(consent) => Some(Standing { ask: ask.id, tool: consent.tool }),
            AskKind::Confirm { .. }
            | AskKind::Choose { .. }
            | AskKind::Text { .. }
            | AskKind::Edit { .. } => None,
        })
        .filter(|standing| waits(state, *standing, step.id))
        .collect();
    (!consents.is_empty()).then_some(Resumable { run: run.id, turn: turn.id, step: step.id, consents })
}

fn waits(state: &State, standing: Standing, step: StepId) -> bool {
    let tool = state.tool(standing.tool);
    tool.is_some_and(|tool| tool.step == step && tool.phase == ToolPhase::Awaiting(standing.ask))
}

/// Asks outside any run: whoever asked is dead.
fn stray_asks(state: &State) -> Vec<Body> {
    let run = state.open_run().map(|run| run.id);
    let stray = state.asks.iter().filter(|ask| ask.run.is_none() || ask.run != run);
    stray.map(|ask| Body::Ask(AskEvent::Closed { ask: ask.id, closing: Closing::Withdrawn })).collect()
}

fn close_around(state: &State, keep: &Resumable) -> Vec<Body> {
    let kept_ask = |ask: AskId| keep.consents.iter().any(|standing| standing.ask == ask);
    let kept_tool = |tool: ToolRunId| keep.consents.iter().any(|standing| standing.tool == tool);
    let over = state.asks.iter().filter(|ask| !kept_ask(ask.id));
    let mut bodies: Vec<Body> =
        over.map(|ask| Body::Ask(AskEvent::Closed { ask: ask.id, closing: Closing::Withdrawn })).collect();
    let tools = state.open_tools().into_iter().filter(|tool| !kept_tool(*tool));
    for tool in tools.filter_map(|tool| state.tool(tool)) {
        let (outcome, text) = tool_cut_by(&Outcome::Interrupted, tool.phase == ToolPhase::Running);
        bodies.push(Body::Tool(ToolEvent::Ended { tool: tool.id, outcome, result: ToolResult::text(text) }));
    }
    let open = state.open_messages().into_iter();
    bodies.extend(
        open.map(|message| Body::Message(MessageEvent::Ended { message, finish: Finish::Interrupted })),
    );
    bodies
}
