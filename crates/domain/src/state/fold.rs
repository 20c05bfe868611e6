//! How an event changes the state.

use super::canonical::Started;
use super::{Entry, EntryKind, Message, Retry, Run, State, Step, Turn, hash};
use crate::content::{Part, Role};
use crate::event::{
    AskEvent, Base, Body, ContextEvent, MessageEvent, NoteEvent, QueueEvent, RunEvent, SessionEvent,
    ToolEvent,
};
use crate::ids::{EntryId, MessageId, Millis, RunId, Seq, StepId, ToolRunId, TurnId};
use crate::queue::{QueueKind, Waiting};
use crate::tool::{Progress, ToolPhase, ToolRun};
use std::fmt;
use std::sync::Arc;

/// An event that cannot be applied; the state is unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotApplied {
    /// The number is not the next one.
    OutOfOrder {
        /// What should have come.
        expected: Seq,
        got: Seq,
    },
    /// It names something that is not there, or not in the needed phase.
    Dangling(&'static str),
}

impl fmt::Display for NotApplied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotApplied::OutOfOrder { expected, got } => {
                write!(f, "event {} came where {} was due", got.0, expected.0)
            }
            NotApplied::Dangling(what) => write!(f, "event names {what}, which is not there"),
        }
    }
}

impl std::error::Error for NotApplied {}

impl State {
    /// Applies what happened, without looking at its number.
    ///
    /// # Errors
    /// When the body names something that is not there; the state is unchanged then.
    pub fn apply(&mut self, at: Millis, body: &Body) -> Result<(), NotApplied> {
        match body {
            Body::Session(event) => self.apply_session(at, event)?,
            Body::Run(event) => self.apply_run(at, event)?,
            Body::Message(event) => self.apply_message(at, event)?,
            Body::Tool(event) => self.apply_tool(at, event)?,
            Body::Ask(event) => self.apply_ask(at, event)?,
            Body::Queue(event) => self.apply_queue(event)?,
            Body::Context(ContextEvent::Measured { used, window, rough }) => {
                (self.context, self.context_rough) = (Some((*used, *window)), *rough);
            }
            Body::Context(ContextEvent::Compacted { entry, parent, compaction }) => {
                self.add_entry(at, *entry, *parent, EntryKind::Compaction(compaction.clone()))?;
                self.leaf = Some(*entry);
                self.usage = self.usage.plus(compaction.usage);
            }
            Body::Note(NoteEvent::PlanChanged { items }) => self.plan.clone_from(items),
            Body::Note(NoteEvent::Noticed { entry, parent, run, level, code, text }) => {
                let kind =
                    EntryKind::Notice { level: *level, code: code.clone(), text: text.clone(), run: *run };
                self.add_entry(at, *entry, *parent, kind)?;
            }
            Body::Rebased(base) => {
                let Base { seq, updated_at, last_id, usage, context, context_rough } = **base;
                (self.seq, self.updated_at, self.usage) = (seq, updated_at, usage);
                (self.context, self.context_rough) = (context, context_rough);
                self.saw(last_id);
                return Ok(());
            }
        }
        self.updated_at = at;
        Ok(())
    }

    fn apply_session(&mut self, at: Millis, event: &SessionEvent) -> Result<(), NotApplied> {
        match event {
            SessionEvent::Opened { cwd, project, parent } => {
                self.created_at = at;
                self.settings.cwd.clone_from(cwd);
                self.settings.project.clone_from(project);
                self.settings.parent.clone_from(parent);
            }
            SessionEvent::CameFrom { origin } => self.settings.origin = Some(origin.clone()),
            SessionEvent::Renamed { title } => self.settings.title = Some(title.clone()),
            SessionEvent::ModelChosen { model } => self.settings.model = Some(model.clone()),
            SessionEvent::EffortChosen { effort } => self.settings.effort = *effort,
            SessionEvent::BudgetChosen { budget } => self.settings.budget = *budget,
            SessionEvent::PolicyChosen { policy } => self.settings.choose_policy(*policy),
            SessionEvent::ToolsChosen { tools } => self.settings.tools.clone_from(tools),
            SessionEvent::LeafMoved { leaf } => {
                if leaf.is_some_and(|id| !self.entries.contains_key(&id)) {
                    return Err(NotApplied::Dangling("an entry"));
                }
                self.leaf = *leaf;
            }
        }
        Ok(())
    }

    fn apply_run(&mut self, at: Millis, event: &RunEvent) -> Result<(), NotApplied> {
        match event {
            RunEvent::Started { run } => self.start_run(at, *run)?,
            RunEvent::Ended { run, outcome } => {
                let open = self.open_run_mut(*run)?;
                open.ended = Some((at, outcome.clone()));
                self.retry = None;
            }
            RunEvent::TurnStarted { run, turn, cause } => {
                let turn = Turn { id: *turn, cause: *cause, ended: false, steps: Vec::new() };
                let id = turn.id.0;
                push_exactly(&mut self.open_run_mut(*run)?.turns, turn);
                self.saw(id);
            }
            RunEvent::TurnEnded { turn } => self.open_turn_mut(*turn)?.ended = true,
            RunEvent::StepStarted { turn, step, model } => {
                let step = Step { id: *step, model: model.clone(), billed: None, usage: None };
                let id = step.id.0;
                push_exactly(&mut self.open_turn_mut(*turn)?.steps, step);
                self.saw(id);
            }
            RunEvent::StepBilled { step, usage } => self.open_step_mut(*step)?.billed = Some(*usage),
            RunEvent::StepEnded { step, usage } => {
                let step = self.open_step_mut(*step)?;
                (step.billed, step.usage) = (None, Some(*usage));
                self.usage = self.usage.plus(*usage);
            }
            RunEvent::Retrying { attempt, max, delay_ms, reason, kind } => {
                let (attempt, max, delay_ms, kind) = (*attempt, *max, *delay_ms, *kind);
                self.retry = Some(Retry { attempt, max, delay_ms, reason: reason.clone(), kind, at });
            }
        }
        Ok(())
    }

    fn apply_ask(&mut self, at: Millis, event: &AskEvent) -> Result<(), NotApplied> {
        match event {
            AskEvent::Opened(ask) => {
                if let crate::ask::AskKind::Consent(consent) = &ask.kind {
                    self.change_tool(consent.tool, |tool| {
                        // One that runs asks about more than itself, and goes on running.
                        if tool.phase != ToolPhase::Running {
                            tool.phase = ToolPhase::Awaiting(ask.id);
                        }
                    })?;
                }
                self.asks.push(ask.clone());
                self.asked.push(at);
                self.saw(ask.id.0);
            }
            AskEvent::Closed { ask, .. } => {
                let open =
                    self.asks.iter().position(|a| a.id == *ask).ok_or(NotApplied::Dangling("an ask"))?;
                let closed = self.asks.remove(open);
                self.asked.remove(open);
                if let crate::ask::AskKind::Consent(consent) = &closed.kind {
                    self.change_tool(consent.tool, |tool| {
                        if tool.phase == ToolPhase::Awaiting(closed.id) {
                            tool.phase = ToolPhase::Proposed;
                        }
                    })?;
                }
            }
        }
        Ok(())
    }

    fn apply_queue(&mut self, event: &QueueEvent) -> Result<(), NotApplied> {
        match event {
            QueueEvent::Added { item, kind, input, by } => {
                let waiting = Waiting { id: *item, input: input.clone(), by: by.clone() };
                self.queues.of_mut(*kind).push_back(waiting);
                self.saw(item.0);
            }
            QueueEvent::Edited { item, input } => {
                let waiting = self.queues.find_mut(*item).ok_or(NotApplied::Dangling("a waiting input"))?;
                waiting.input = input.clone();
            }
            QueueEvent::Left { item, .. } => {
                self.queues.remove(*item).ok_or(NotApplied::Dangling("a waiting input"))?;
            }
            QueueEvent::ModeSet { kind: QueueKind::Steer, mode } => self.queues.steer_mode = *mode,
            QueueEvent::ModeSet { kind: QueueKind::FollowUp, mode } => self.queues.follow_up_mode = *mode,
        }
        Ok(())
    }

    fn saw(&mut self, id: u64) {
        self.last_id = self.last_id.max(id);
    }

    fn start_run(&mut self, at: Millis, run: RunId) -> Result<(), NotApplied> {
        if self.open_run().is_some() {
            return Err(NotApplied::Dangling("a second run"));
        }
        self.runs.push(Run { id: run, started_at: at, ended: None, turns: Vec::new() });
        self.saw(run.0);
        Ok(())
    }

    fn open_run_mut(&mut self, id: RunId) -> Result<&mut Run, NotApplied> {
        let open = self.runs.last_mut().filter(|run| run.id == id && run.ended.is_none());
        open.ok_or(NotApplied::Dangling("a run under way"))
    }

    fn open_turn_mut(&mut self, id: TurnId) -> Result<&mut Turn, NotApplied> {
        let run = self.runs.last_mut().filter(|run| run.ended.is_none());
        let turn = run.and_then(|run| run.turns.last_mut()).filter(|turn| turn.id == id && !turn.ended);
        turn.ok_or(NotApplied::Dangling("a turn under way"))
    }

    fn open_step_mut(&mut self, id: StepId) -> Result<&mut Step, NotApplied> {
        let run = self.runs.last_mut().filter(|run| run.ended.is_none());
        let turn = run.and_then(|run| run.turns.last_mut()).filter(|turn| !turn.ended);
        let step =
            turn.and_then(|turn| turn.steps.last_mut()).filter(|step| step.id == id && step.usage.is_none());
        step.ok_or(NotApplied::Dangling("a step under way"))
    }

    fn add_entry(
        &mut self,
        at: Millis,
        id: EntryId,
        parent: Option<EntryId>,
        kind: EntryKind,
    ) -> Result<(), NotApplied> {
        if parent.is_some_and(|p| p >= id || !self.entries.contains_key(&p)) || self.entries.contains_key(&id)
        {
            return Err(NotApplied::Dangling("a parent entry"));
        }
        let entry = Entry { id, parent, at, kind };
        hash::add_entry(&mut self.entities, &entry);
        self.entries.insert(id, Arc::new(entry));
        self.saw(id.0);
        Ok(())
    }

    fn start_message(
        &mut self,
        at: Millis,
        id: MessageId,
        parent: Option<EntryId>,
        role: Role,
        turn: Option<TurnId>,
        step: Option<StepId>,
    ) -> Result<(), NotApplied> {
        let run = turn.and_then(|_| self.open_run()).map(|run| run.id);
        let message = Message {
            id,
            role,
            run,
            turn,
            step,
            parts: Vec::new(),
            finish: None,
            tail_open: false,
            roll: hash::started(&Started { message: id, parent, role, turn, step }),
        };
        self.add_entry(at, id.into(), parent, EntryKind::Message(message))?;
        self.leaf = Some(id.into());
        self.retry = None;
        Ok(())
    }

    fn apply_message(&mut self, at: Millis, event: &MessageEvent) -> Result<(), NotApplied> {
        match event {
            MessageEvent::Started { message, parent, role, turn, step } => {
                self.start_message(at, *message, *parent, *role, *turn, *step)
            }
            MessageEvent::Delta { message, kind, text } => self.change_message(*message, |m| {
                let extends =
                    m.tail_open && m.parts.last().and_then(Part::streamed).is_some_and(|(k, _)| k == *kind);
                if !extends {
                    m.add(Part::stream(*kind));
                    m.roll = hash::begin_part(m.roll, *kind);
                    m.tail_open = true;
                }
                if let Some(Part::Text(tail) | Part::Thought { text: tail, .. }) = m.parts.last_mut() {
                    tail.push_str(text);
                }
                m.roll = hash::bytes(m.roll, text.as_bytes());
            }),
            MessageEvent::PartAdded { message, part } => self.change_message(*message, |m| {
                m.roll = hash::whole_part(m.roll, part);
                m.add(part.clone());
                m.tail_open = false;
            }),
            MessageEvent::Ended { message, finish } => self.change_message(*message, |m| {
                m.settle();
                m.finish = Some(finish.clone());
                m.roll = hash::ended(m.roll, m.id, finish);
                m.tail_open = false;
            }),
        }
    }

    fn change_message(&mut self, id: MessageId, change: impl FnOnce(&mut Message)) -> Result<(), NotApplied> {
        let entry = self.entries.get_mut(&id.into()).ok_or(NotApplied::Dangling("a message"))?;
        let EntryKind::Message(message) = &mut Arc::make_mut(entry).kind else {
            return Err(NotApplied::Dangling("a message"));
        };
        if message.finish.is_some() {
            return Err(NotApplied::Dangling("a message under way"));
        }
        let before = message.roll;
        change(message);
        hash::exchange_stream(&mut self.entities, before, message.roll);
        Ok(())
    }

    fn apply_tool(&mut self, at: Millis, event: &ToolEvent) -> Result<(), NotApplied> {
        match event {
            ToolEvent::Proposed { tool, message, name, args } => {
                let within = self.message(*message).ok_or(NotApplied::Dangling("a message"))?;
                let (Some(run), Some(step)) = (within.run, within.step) else {
                    return Err(NotApplied::Dangling("the step of a tool"));
                };
                if self.tools.contains_key(tool) {
                    return Err(NotApplied::Dangling("a second tool run of one id"));
                }
                self.change_message(*message, |m| {
                    m.roll = hash::whole_part(m.roll, &Part::Tool(*tool));
                    m.add(Part::Tool(*tool));
                    m.tail_open = false;
                })?;
                let mut added = ToolRun {
                    id: *tool,
                    run,
                    step,
                    message: *message,
                    name: name.clone(),
                    args: args.clone(),
                    phase: ToolPhase::Proposed,
                    decision: None,
                    output: String::new(),
                    status: None,
                    result: None,
                    proposed_at: at,
                    started_at: None,
                    ended_at: None,
                    proposed: 0,
                    roll: 0,
                    added: 0,
                };
                added.proposed = hash::proposed(&added);
                added.roll = added.proposed;
                hash::add_stream(&mut self.entities, added.roll);
                hash::count_standing(&mut self.entities, &mut added);
                self.tools.insert(*tool, Arc::new(added));
                self.saw(tool.0);
                Ok(())
            }
            ToolEvent::Decided { tool, decision } => self.change_tool(*tool, |t| {
                t.decision = Some(decision.clone());
                if decision.allowed {
                    t.phase = ToolPhase::Allowed;
                }
            }),
            ToolEvent::Started { tool } => self.change_tool(*tool, |t| {
                t.phase = ToolPhase::Running;
                t.started_at = Some(at);
            }),
            ToolEvent::Progress { tool, progress: Progress::Output(text) } => {
                self.change_output(*tool, |t| {
                    t.output.push_str(text);
                    t.roll = hash::bytes(t.roll, text.as_bytes());
                })
            }
            ToolEvent::Progress { tool, progress: Progress::Replace(text) } => {
                self.change_output(*tool, |t| {
                    t.output.clone_from(text);
                    t.roll = hash::bytes(t.proposed, text.as_bytes());
                })
            }
            ToolEvent::Progress { tool, progress: Progress::Status { percent, message } } => {
                self.change_tool(*tool, |t| t.status = Some((*percent, message.clone())))
            }
            ToolEvent::Ended { tool, outcome, result } => self.change_tool(*tool, |t| {
                t.phase = ToolPhase::Ended(outcome.clone());
                t.result = Some(result.clone());
                t.ended_at = Some(at);
            }),
        }
    }

    fn open_tool_mut(&mut self, id: ToolRunId) -> Result<&mut ToolRun, NotApplied> {
        let tool = self.tools.get_mut(&id).ok_or(NotApplied::Dangling("a tool run"))?;
        if tool.ended() {
            return Err(NotApplied::Dangling("a tool run that has not ended"));
        }
        Ok(Arc::make_mut(tool))
    }

    fn change_tool(&mut self, id: ToolRunId, change: impl FnOnce(&mut ToolRun)) -> Result<(), NotApplied> {
        let mut entities = self.entities;
        let tool = self.open_tool_mut(id)?;
        change(tool);
        hash::count_standing(&mut entities, tool);
        self.entities = entities;
        Ok(())
    }

    fn change_output(&mut self, id: ToolRunId, change: impl FnOnce(&mut ToolRun)) -> Result<(), NotApplied> {
        let mut entities = self.entities;
        let tool = self.open_tool_mut(id)?;
        let before = tool.roll;
        change(tool);
        hash::exchange_stream(&mut entities, before, tool.roll);
        self.entities = entities;
        Ok(())
    }
}

/// Most turns are one step and most runs one turn: a vector that grows by itself begins with room for four, and a long session would be
/// half made of that.
fn push_exactly<T>(to: &mut Vec<T>, what: T) {
    const FEW: usize = 4;
    if to.len() < FEW {
        to.reserve_exact(1);
    }
    to.push(what);
}
