//! The cells of one session's active path, kept up to date event by event.
//!
//! A cell is what the transcript draws as one: a part of a message, a tool run, a notice, a summary, the end of a run. Invariants:
//! the cells are exactly those of [`Thread::build`] on the same state; the usual event costs nothing that grows with the session;
//! a cell's revision rises whenever what it shows may have changed.

#[cfg(test)]
mod tests;

use domain::content::{Part, Role};
use domain::event::{
    Body, ContextEvent, MessageEvent, NoteEvent, Outcome, RunEvent, SessionEvent, ToolEvent,
};
use domain::ids::{EntryId, MessageId, RunId, ToolRunId};
use domain::state::{self, EntryKind, Run, State};
use domain::tool::{Decider, ToolRun};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What a cell shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum CellKey {
    /// What the person said.
    Prompt(EntryId),
    /// A part of the model's message.
    Part(EntryId, usize),
    Tool(ToolRunId),
    Notice(EntryId),
    /// A summary in the place of older entries.
    Summary(EntryId),
    End(RunId),
}

/// A cell and how often it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) key: CellKey,
    /// Rises with each change.
    pub(crate) revision: u64,
}

/// The cells of a session, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Thread {
    cells: Vec<Cell>,
    at: HashMap<CellKey, usize>,
    leaf: Option<EntryId>,
    revision: u64,
}

impl Thread {
    /// The cells of `state`.
    pub(crate) fn build(state: &State) -> Thread {
        let mut thread = Thread::default();
        thread.rebuild(state);
        thread
    }

    /// All cells, oldest first.
    pub(crate) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Where a cell stands.
    pub(crate) fn position(&self, key: CellKey) -> Option<usize> {
        self.at.get(&key).copied()
    }

    /// Takes in what happened; `state` has it already.
    pub(crate) fn follow(&mut self, state: &State, body: &Body) {
        match body {
            Body::Message(MessageEvent::Started { message, parent, .. }) => {
                if *parent == self.leaf {
                    self.leaf = Some((*message).into());
                } else {
                    self.rebuild(state);
                }
            }
            Body::Message(
                MessageEvent::Delta { message, .. }
                | MessageEvent::PartAdded { message, .. }
                | MessageEvent::Ended { message, .. },
            )
            | Body::Tool(ToolEvent::Proposed { message, .. }) => self.follow_message(state, *message),
            Body::Tool(
                ToolEvent::Decided { tool, .. }
                | ToolEvent::Started { tool }
                | ToolEvent::Progress { tool, .. }
                | ToolEvent::Ended { tool, .. },
            ) => self.bump(CellKey::Tool(*tool)),
            Body::Ask(_) => {
                let open = state.open_tools();
                open.into_iter().for_each(|tool| self.bump(CellKey::Tool(tool)));
            }
            Body::Run(RunEvent::Ended { run, outcome }) => {
                if state.run(*run).is_some_and(|run| is_worth_telling(state, outcome, run)) {
                    self.push(CellKey::End(*run));
                }
            }
            Body::Note(NoteEvent::Noticed { entry, parent, .. }) if *parent == self.leaf => {
                self.push(CellKey::Notice(*entry));
            }
            Body::Context(ContextEvent::Compacted { entry, parent, .. }) if *parent == self.leaf => {
                self.leaf = Some(*entry);
                self.push(CellKey::Summary(*entry));
            }
            Body::Session(SessionEvent::LeafMoved { leaf }) if *leaf == self.leaf => {}
            Body::Note(NoteEvent::Noticed { .. })
            | Body::Context(ContextEvent::Compacted { .. })
            | Body::Session(SessionEvent::LeafMoved { .. })
            | Body::Rebased(_) => {
                self.rebuild(state);
            }
            Body::Session(
                SessionEvent::Opened { .. }
                | SessionEvent::CameFrom { .. }
                | SessionEvent::Renamed { .. }
                | SessionEvent::ModelChosen { .. }
                | SessionEvent::EffortChosen { .. }
                | SessionEvent::BudgetChosen { .. }
                | SessionEvent::PolicyChosen { .. }
                | SessionEvent::ToolsChosen { .. },
            )
            | Body::Run(
                RunEvent::Started { .. }
                | RunEvent::TurnStarted { .. }
                | RunEvent::TurnEnded { .. }
                | RunEvent::StepStarted { .. }
                | RunEvent::StepBilled { .. }
                | RunEvent::StepEnded { .. }
                | RunEvent::Retrying { .. },
            )
            | Body::Queue(_)
            | Body::Context(ContextEvent::Measured { .. })
            | Body::Note(NoteEvent::PlanChanged { .. }) => {}
        }
    }

    fn follow_message(&mut self, state: &State, id: MessageId) {
        let Some(message) = state.message(id) else { return };
        let keys = message_keys(id.into(), message.role, &message.parts);
        let Some(last) = keys.last().copied() else { return };
        if self.position(last).is_some() {
            self.bump(last);
            return;
        }
        let known = keys.iter().take_while(|key| self.at.contains_key(key)).count();
        let mut said =
            self.cells.iter().rev().map(|cell| cell.key).filter(|key| !matches!(key, CellKey::End(_)));
        let last = said.next();
        let at_the_end = match known.checked_sub(1) {
            Some(before) => last == Some(keys[before]),
            // A notice about this very message stands below it.
            None => !matches!(last, Some(CellKey::Notice(entry))
                if state.entries.get(&entry).is_some_and(|entry| entry.parent == Some(id.into()))),
        };
        if at_the_end && self.leaf == Some(id.into()) {
            // The part before is no longer the last one: a thought in it is over.
            known.checked_sub(1).into_iter().for_each(|before| self.bump(keys[before]));
            keys[known..].iter().for_each(|key| self.push(*key));
        } else if self.leaf.is_some() {
            self.rebuild(state);
        }
    }

    fn bump(&mut self, key: CellKey) {
        self.revision += 1;
        if let Some(cell) = self.at.get(&key).and_then(|at| self.cells.get_mut(*at)) {
            cell.revision = self.revision;
        }
    }

    fn push(&mut self, key: CellKey) {
        let Entry::Vacant(place) = self.at.entry(key) else { return };
        self.revision += 1;
        place.insert(self.cells.len());
        self.cells.push(Cell { key, revision: self.revision });
    }

    fn rebuild(&mut self, state: &State) {
        self.cells.clear();
        self.at.clear();
        // About a cell per entry: a long session does not move what it has when it grows.
        self.cells.reserve(state.entries.len());
        self.at.reserve(state.entries.len());
        self.leaf = state.leaf;
        let mut notices: BTreeMap<Option<EntryId>, Vec<EntryId>> = BTreeMap::new();
        for entry in state.entries.values() {
            if matches!(entry.kind, EntryKind::Notice { .. }) {
                notices.entry(entry.parent).or_default().push(entry.id);
            }
        }
        let mut run = None;
        let mut tell = |thread: &mut Thread, parent: Option<EntryId>| {
            for notice in notices.remove(&parent).unwrap_or_default() {
                thread.push(CellKey::Notice(notice));
            }
        };
        tell(self, None);
        for entry in state.path() {
            let of = run_of(entry);
            if of.is_some() && of != run {
                self.push_end(state, run);
                run = of;
            }
            match &entry.kind {
                EntryKind::Message(message) => {
                    let keys = message_keys(entry.id, message.role, &message.parts);
                    keys.into_iter().for_each(|key| self.push(key));
                }
                EntryKind::Compaction(_) => self.push(CellKey::Summary(entry.id)),
                EntryKind::Notice { .. } => self.push(CellKey::Notice(entry.id)),
            }
            tell(self, Some(entry.id));
        }
        self.push_end(state, run);
    }

    fn push_end(&mut self, state: &State, run: Option<RunId>) {
        let Some(run) = run.and_then(|id| state.run(id)) else { return };
        if let Some((_, outcome)) = &run.ended
            && is_worth_telling(state, outcome, run)
        {
            self.push(CellKey::End(run.id));
        }
    }
}

/// Runs shorter than this that went well end without a word.
const SHORT_RUN_MS: u64 = 3_000;

fn is_worth_telling(state: &State, outcome: &Outcome, run: &Run) -> bool {
    let took = run.ended.as_ref().map_or(0, |(at, _)| at.since(run.started_at));
    *outcome != Outcome::Done || took >= SHORT_RUN_MS || denied_last(state, run).is_some()
}

/// What the person denied without a reason in the last step of a run: that is why it ended there.
pub(crate) fn denied_last<'s>(state: &'s State, run: &Run) -> Option<&'s ToolRun> {
    let last = run.turns.last()?.steps.last()?.id;
    let denied = |tool: &&Arc<ToolRun>| {
        let decision =
            tool.decision.as_ref().filter(|decision| !decision.allowed && decision.reason.is_none());
        tool.step == last && decision.is_some_and(|decision| matches!(decision.by, Decider::Person(_)))
    };
    let newer = |tool: &&Arc<ToolRun>| tool.run > run.id;
    state
        .tools
        .values()
        .rev()
        .skip_while(newer)
        .take_while(|tool| tool.run == run.id)
        .find(denied)
        .map(Arc::as_ref)
}

fn run_of(entry: &state::Entry) -> Option<RunId> {
    match &entry.kind {
        EntryKind::Message(message) => message.run,
        EntryKind::Notice { run, .. } => *run,
        EntryKind::Compaction(_) => None,
    }
}

fn message_keys(entry: EntryId, role: Role, parts: &[Part]) -> Vec<CellKey> {
    if role == Role::User {
        return if parts.is_empty() { Vec::new() } else { vec![CellKey::Prompt(entry)] };
    }
    let shown = parts.iter().enumerate().filter(|(_, part)| !part.is_private());
    let keys = shown.map(|(at, part)| match part {
        Part::Tool(id) => CellKey::Tool(*id),
        Part::Text(_)
        | Part::Thought { .. }
        | Part::Image { .. }
        | Part::Code { .. }
        | Part::Diff { .. }
        | Part::Opaque { .. } => CellKey::Part(entry, at),
    });
    keys.collect()
}
