//! The shortest way to tell a newcomer everything: bodies whose fold is this state.
//!
//! A replay is not a grammatical stream of its own session: it has no numbers, and it ends with [`Body::Rebased`].

use super::{Entry, EntryKind, Message, Run, State};
use crate::content::{Part, TextKind};
use crate::event::{
    AskEvent, Base, Body, ContextEvent, MessageEvent, NoteEvent, QueueEvent, RunEvent, SessionEvent,
    ToolEvent,
};
use crate::ids::{EntryId, Millis, RunId};
use crate::queue::{Mode, QueueKind};
use crate::terms::{Budget, Policy};
use crate::tool::{Progress, ToolPhase, ToolRun};
use std::sync::Arc;

/// A body and when it happened.
type TimedBody = (Millis, Body);
type Entries<'a> = std::iter::Peekable<std::collections::btree_map::Range<'a, EntryId, Arc<Entry>>>;

impl State {
    /// Bodies that, applied to an empty state, give this one.
    pub fn replay(&self) -> Vec<TimedBody> {
        let mut told = Vec::with_capacity(self.entries.len() * 3 + 16);
        self.tell_settings(&mut told);
        self.tell_entries(&mut told);
        for (ask, at) in self.asks.iter().zip(&self.asked) {
            told.push((*at, Body::Ask(AskEvent::Opened(ask.clone()))));
        }
        self.tell_queues(&mut told);
        if !self.plan.is_empty() {
            told.push((self.updated_at, Body::Note(NoteEvent::PlanChanged { items: self.plan.clone() })));
        }
        if let Some(retry) = &self.retry {
            let (attempt, max, delay_ms, reason, kind) =
                (retry.attempt, retry.max, retry.delay_ms, retry.reason.clone(), retry.kind);
            told.push((retry.at, Body::Run(RunEvent::Retrying { attempt, max, delay_ms, reason, kind })));
        }
        told.push((self.updated_at, Body::Session(SessionEvent::LeafMoved { leaf: self.leaf })));
        let base = Base {
            seq: self.seq,
            updated_at: self.updated_at,
            last_id: self.last_id,
            usage: self.usage,
            context: self.context,
            context_rough: self.context_rough,
        };
        told.push((self.updated_at, Body::Rebased(Box::new(base))));
        told
    }

    /// Bodies of one run, from its beginning to where it stands; none for a run that is not there.
    pub fn replay_run(&self, run: RunId) -> Vec<TimedBody> {
        let mut told = Vec::new();
        if let Some(run) = self.run(run) {
            self.tell_run(run, &mut self.entries.range(EntryId(run.id.0)..).peekable(), &mut told);
        }
        told
    }

    fn tell_settings(&self, told: &mut Vec<TimedBody>) {
        let at = self.created_at;
        let settings = &self.settings;
        let (cwd, project, parent) =
            (settings.cwd.clone(), settings.project.clone(), settings.parent.clone());
        told.push((at, Body::Session(SessionEvent::Opened { cwd, project, parent })));
        if let Some(origin) = settings.origin.clone() {
            told.push((at, Body::Session(SessionEvent::CameFrom { origin })));
        }
        if let Some(title) = settings.title.clone() {
            told.push((at, Body::Session(SessionEvent::Renamed { title })));
        }
        if let Some(model) = settings.model.clone() {
            told.push((at, Body::Session(SessionEvent::ModelChosen { model })));
        }
        if settings.effort.is_some() {
            told.push((at, Body::Session(SessionEvent::EffortChosen { effort: settings.effort })));
        }
        if settings.budget != Budget::default() {
            told.push((at, Body::Session(SessionEvent::BudgetChosen { budget: settings.budget })));
        }
        if settings.before_plan != Policy::default() {
            told.push((at, Body::Session(SessionEvent::PolicyChosen { policy: settings.before_plan })));
        }
        if settings.policy != Policy::default() {
            told.push((at, Body::Session(SessionEvent::PolicyChosen { policy: settings.policy })));
        }
        if settings.tools.is_some() {
            told.push((at, Body::Session(SessionEvent::ToolsChosen { tools: settings.tools.clone() })));
        }
    }

    /// Entries in the order of their ids, and around them the runs, turns and steps in the order of theirs.
    fn tell_entries(&self, told: &mut Vec<TimedBody>) {
        let mut entries = self.entries.range(EntryId(0)..).peekable();
        for run in &self.runs {
            self.tell_until(run.id.0, &mut entries, told);
            self.tell_run(run, &mut entries, told);
        }
        self.tell_until(u64::MAX, &mut entries, told);
    }

    fn tell_run<'a>(&'a self, run: &Run, entries: &mut Entries<'a>, told: &mut Vec<TimedBody>) {
        told.push((run.started_at, Body::Run(RunEvent::Started { run: run.id })));
        self.tell_turns(run, entries, told);
        if let Some((at, outcome)) = &run.ended {
            told.push((*at, Body::Run(RunEvent::Ended { run: run.id, outcome: outcome.clone() })));
        }
    }

    fn tell_turns<'a>(&'a self, run: &Run, entries: &mut Entries<'a>, told: &mut Vec<TimedBody>) {
        let at = run.started_at;
        let run_ends = self.runs.iter().find(|next| next.id > run.id).map_or(u64::MAX, |next| next.id.0);
        for (index, turn) in run.turns.iter().enumerate() {
            let turn_ends = run.turns.get(index + 1).map_or(run_ends, |next| next.id.0);
            self.tell_until(turn.id.0, entries, told);
            told.push((
                at,
                Body::Run(RunEvent::TurnStarted { run: run.id, turn: turn.id, cause: turn.cause }),
            ));
            for (index, step) in turn.steps.iter().enumerate() {
                let step_ends = turn.steps.get(index + 1).map_or(turn_ends, |next| next.id.0);
                self.tell_until(step.id.0, entries, told);
                told.push((
                    at,
                    Body::Run(RunEvent::StepStarted {
                        turn: turn.id,
                        step: step.id,
                        model: step.model.clone(),
                    }),
                ));
                self.tell_until(step_ends, entries, told);
                if let Some(usage) = step.billed {
                    told.push((at, Body::Run(RunEvent::StepBilled { step: step.id, usage })));
                }
                if let Some(usage) = step.usage {
                    told.push((at, Body::Run(RunEvent::StepEnded { step: step.id, usage })));
                }
            }
            self.tell_until(turn_ends, entries, told);
            if turn.ended {
                told.push((at, Body::Run(RunEvent::TurnEnded { turn: turn.id })));
            }
        }
        self.tell_until(run_ends, entries, told);
    }

    fn tell_until<'a>(&'a self, end: u64, entries: &mut Entries<'a>, told: &mut Vec<TimedBody>) {
        while let Some((_, entry)) = entries.next_if(|(id, _)| id.0 < end) {
            self.tell_entry(entry, told);
        }
    }

    fn tell_entry(&self, entry: &Entry, told: &mut Vec<TimedBody>) {
        let (id, parent) = (entry.id, entry.parent);
        match &entry.kind {
            EntryKind::Message(message) => self.tell_message(entry, message, told),
            EntryKind::Compaction(compaction) => {
                told.push((
                    entry.at,
                    Body::Context(ContextEvent::Compacted {
                        entry: id,
                        parent,
                        compaction: compaction.clone(),
                    }),
                ));
            }
            EntryKind::Notice { level, code, text, run } => {
                let (level, code, text, run) = (*level, code.clone(), text.clone(), *run);
                told.push((
                    entry.at,
                    Body::Note(NoteEvent::Noticed { entry: id, parent, run, level, code, text }),
                ));
            }
        }
    }

    fn tell_message(&self, entry: &Entry, message: &Message, told: &mut Vec<TimedBody>) {
        let at = entry.at;
        let (id, role, turn, step) = (message.id, message.role, message.turn, message.step);
        told.push((
            at,
            Body::Message(MessageEvent::Started { message: id, parent: entry.parent, role, turn, step }),
        ));
        let tail = message.tail_open.then(|| message.parts.len().saturating_sub(1));
        for (index, part) in message.parts.iter().enumerate() {
            match part {
                Part::Tool(tool) => {
                    if let Some(tool) = self.tools.get(tool) {
                        tell_proposal(tool, told);
                    }
                }
                part if tail == Some(index) => {
                    let (kind, text) = part.streamed().unwrap_or((TextKind::Text, ""));
                    told.push((
                        at,
                        Body::Message(MessageEvent::Delta { message: id, kind, text: text.to_owned() }),
                    ));
                }
                part => told
                    .push((at, Body::Message(MessageEvent::PartAdded { message: id, part: part.clone() }))),
            }
        }
        if let Some(finish) = message.finish.clone() {
            told.push((at, Body::Message(MessageEvent::Ended { message: id, finish })));
        }
        for tool in message.tools().filter_map(|tool| self.tools.get(&tool)) {
            tell_tool(tool, told);
        }
    }

    fn tell_queues(&self, told: &mut Vec<TimedBody>) {
        let at = self.updated_at;
        for (kind, waiting) in self.queues.all() {
            let (item, input, by) = (waiting.id, waiting.input.clone(), waiting.by.clone());
            told.push((at, Body::Queue(QueueEvent::Added { item, kind, input, by })));
        }
        for kind in [QueueKind::Steer, QueueKind::FollowUp] {
            if self.queues.mode(kind) != Mode::default() {
                told.push((at, Body::Queue(QueueEvent::ModeSet { kind, mode: self.queues.mode(kind) })));
            }
        }
    }
}

fn tell_proposal(tool: &ToolRun, told: &mut Vec<TimedBody>) {
    let (id, message, name, args) = (tool.id, tool.message, tool.name.clone(), tool.args.clone());
    told.push((tool.proposed_at, Body::Tool(ToolEvent::Proposed { tool: id, message, name, args })));
}

fn tell_tool(tool: &ToolRun, told: &mut Vec<TimedBody>) {
    let id = tool.id;
    if let Some(decision) = tool.decision.clone() {
        told.push((tool.proposed_at, Body::Tool(ToolEvent::Decided { tool: id, decision })));
    }
    if let Some(at) = tool.started_at {
        told.push((at, Body::Tool(ToolEvent::Started { tool: id })));
    }
    let at = tool.started_at.unwrap_or(tool.proposed_at);
    if !tool.output.is_empty() {
        told.push((
            at,
            Body::Tool(ToolEvent::Progress { tool: id, progress: Progress::Output(tool.output.clone()) }),
        ));
    }
    if let Some((percent, message)) = tool.status.clone() {
        told.push((
            at,
            Body::Tool(ToolEvent::Progress { tool: id, progress: Progress::Status { percent, message } }),
        ));
    }
    if let (ToolPhase::Ended(outcome), Some(result)) = (&tool.phase, &tool.result) {
        let (outcome, result) = (outcome.clone(), result.clone());
        told.push((tool.ended_at.unwrap_or(at), Body::Tool(ToolEvent::Ended { tool: id, outcome, result })));
    }
}
