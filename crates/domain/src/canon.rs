//! Canon: the one place that repairs what foreign runtimes leave out, say twice, or say too late.
//!
//! Facts come in any order; bodies go out that, numbered, keep every law of the grammar. Invariants: what is told has its parents
//! open (they are opened when the wire forgot); what ends had its children ended; nothing comes for a run that has ended; what
//! comes out of one session is bounded, whatever goes in.

mod allowance;
mod asks;
pub mod cut;
mod messages;
mod tools;

use crate::content::Usage;
use crate::event::{
    Body, Cause, ContextEvent, Finish, Leaving, MessageEvent, NoteEvent, Outcome, QueueEvent, RunEvent,
    SessionEvent, ToolEvent,
};
use crate::fact::{Fact, Key, Said};
use crate::ids::{AskId, EntryId, Ids, MessageId, Millis, RunId, StepId, ToolRunId, TurnId};
use crate::signal::Level;
use crate::state::State;
use crate::state::close::{message_cut_by, tool_cut_by};
use crate::tool::ToolResult;
use allowance::Allowance;
use messages::OpenMessage;
use std::collections::{BTreeMap, VecDeque};
use tools::OpenTool;

pub use allowance::Bounds;

/// How many ended runs are remembered by key, to know what comes late.
pub const MAX_ENDED_RUNS: usize = 256;

/// Wire ids of what is known by us under another name.
#[derive(Debug, Clone, Default)]
pub struct Names {
    runs: BTreeMap<RunId, Key>,
    asks: BTreeMap<AskId, Key>,
    tools: BTreeMap<ToolRunId, Key>,
    entries: BTreeMap<EntryId, Key>,
}

impl Names {
    /// The peer's id of a run.
    pub fn run(&self, id: RunId) -> Option<&Key> {
        self.runs.get(&id)
    }

    /// The peer's id of an ask.
    pub fn ask(&self, id: AskId) -> Option<&Key> {
        self.asks.get(&id)
    }

    /// The peer's id of a tool run.
    pub fn tool(&self, id: ToolRunId) -> Option<&Key> {
        self.tools.get(&id)
    }

    /// The peer's id of an entry.
    pub fn entry(&self, id: EntryId) -> Option<&Key> {
        self.entries.get(&id)
    }

    /// Our id of the peer's entry.
    pub fn entry_of(&self, key: &str) -> Option<EntryId> {
        self.entries.iter().find(|(_, k)| ***k == *key).map(|(id, _)| *id)
    }
}

/// Makes a grammatical stream of what one foreign session says.
#[derive(Debug)]
pub struct Canon {
    ids: Ids,
    names: Names,
    leaf: Option<EntryId>,
    run: Option<(RunId, Option<Key>)>,
    turn: Option<OpenTurn>,
    step: Option<StepId>,
    messages: Vec<OpenMessage>,
    tools: BTreeMap<Key, OpenTool>,
    asks: BTreeMap<Key, (AskId, Option<Key>)>,
    queued: Vec<crate::ids::QueuedId>,
    ended: VecDeque<Key>,
    next_cause: Option<Cause>,
    allowance: Allowance,
    now: Millis,
    out: Vec<Body>,
}

#[derive(Debug)]
struct OpenTurn {
    id: TurnId,
    /// Whether the person has spoken or the model was asked: another user message then begins the next turn.
    begun: bool,
}

impl Canon {
    /// Begins where `state` stands; a run that is still open in it must be closed before (see [`State::close_run`]).
    pub fn new(ids: Ids, state: &State) -> Canon {
        Canon::within(Bounds::USUAL, ids, state)
    }

    /// The same, with other bounds.
    pub fn within(bounds: Bounds, ids: Ids, state: &State) -> Canon {
        Canon {
            ids,
            names: Names::default(),
            leaf: state.leaf,
            run: None,
            turn: None,
            step: None,
            messages: Vec::new(),
            tools: BTreeMap::new(),
            asks: BTreeMap::new(),
            queued: Vec::new(),
            ended: VecDeque::new(),
            next_cause: None,
            allowance: Allowance::new(bounds),
            now: Millis(0),
            out: Vec::new(),
        }
    }

    /// The peer's ids of what is open.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The run under way.
    pub fn run(&self) -> Option<RunId> {
        self.run.as_ref().map(|(id, _)| *id)
    }

    /// The tip moved by a command of ours (leaf, clear).
    pub fn move_leaf(&mut self, leaf: Option<EntryId>) {
        self.leaf = leaf;
    }

    /// What waits in the hub's queue for this session, so that a stop can clear it.
    pub fn waiting(&mut self, queued: Vec<crate::ids::QueuedId>) {
        self.queued = queued;
    }

    /// The next turn is begun by a queued input of ours.
    pub fn expect_cause(&mut self, cause: Cause) {
        self.next_cause = Some(cause);
    }

    /// A prompt of ours was taken: the run it begins, and what that means. What the peer says of its start adds nothing then.
    pub fn begin(&mut self) -> (RunId, Vec<Body>) {
        let run = self.ensure_run();
        (run, std::mem::take(&mut self.out))
    }

    /// Takes what the peer said; gives what happened.
    pub fn take(&mut self, now: Millis, fact: Fact) -> Vec<Body> {
        self.now = now;
        let Fact { run, mut said } = fact;
        if run.as_ref().is_some_and(|key| self.ended.contains(key)) {
            self.allowance.late();
            return Vec::new();
        }
        let open = self.run.as_ref().map(|(_, key)| key);
        let of_open_run = open.is_some_and(|open| open.is_none() || run.is_none() || *open == run);
        if !self.allowance.hears(&said, of_open_run) {
            return Vec::new();
        }
        if !cut::names_fit(run.as_ref(), &said) {
            self.allowance.leave_out();
            return Vec::new();
        }
        let was_cut = cut::shorten(&mut said);
        let names_run = !matches!(said, Said::RunEnded(_) | Said::Lost);
        if let (Some(key), true) = (&run, names_run) {
            self.adopt_run(key);
        }
        self.said(run, said);
        if was_cut {
            self.was_cut();
        }
        if let Some(words) = self.allowance.count(&self.out) {
            self.remark(words);
        }
        std::mem::take(&mut self.out)
    }

    /// Whether the peer goes on and on though nothing more of it can be kept.
    pub fn is_flooded(&self) -> bool {
        self.allowance.is_flooded()
    }

    /// Ends whatever is open, for instance because the link is gone.
    pub fn close(&mut self, outcome: Outcome) -> Vec<Body> {
        self.end_run(outcome);
        for (_, (ask, _)) in std::mem::take(&mut self.asks) {
            self.withdraw(ask, false);
        }
        std::mem::take(&mut self.out)
    }

    fn said(&mut self, run: Option<Key>, said: Said) {
        match said {
            Said::RunStarted => self.start_run(run),
            Said::RunEnded(outcome) => {
                let other = matches!((&run, &self.run), (Some(key), Some((_, Some(open)))) if key != open);
                if !other {
                    self.end_run(outcome);
                }
            }
            Said::TurnStarted(cause) => {
                self.ensure_run();
                self.end_turn(&Outcome::Done);
                self.next_cause = cause.or(self.next_cause);
                self.ensure_turn();
            }
            Said::TurnEnded => self.end_turn(&Outcome::Done),
            Said::StepStarted => {
                self.ensure_turn();
                self.end_step(&Outcome::Done, Usage::default());
                self.ensure_step();
            }
            Said::StepEnded(usage) => {
                if self.step.is_none() && usage != Usage::default() {
                    self.ensure_step();
                }
                self.end_step(&Outcome::Done, usage);
            }
            Said::MessageStarted { message, role } => {
                self.start_message(message, role);
            }
            Said::Text { message, kind, text } => self.text(message, kind, text),
            Said::Whole { message, parts } => self.whole(message, parts),
            Said::Part { message, part } => self.part(message, part),
            Said::MessageEnded { message, finish } => self.end_message(message, finish),
            Said::ToolProposed { tool, name, args } => {
                self.propose(&tool, Some(name), Some(args));
            }
            Said::ToolStarted { tool, name, args } => self.start_tool(&tool, name, args),
            Said::ToolProgress { tool, progress } => self.tool_progress(&tool, progress),
            Said::ToolEnded { tool, outcome, result } => self.end_tool(&tool, outcome, result),
            Said::AskOpened { ask, title, kind, deadline } => self.open_ask(&ask, title, kind, deadline),
            Said::AskWithdrawn { ask, expired } => {
                if let Some((id, _)) = self.asks.remove(&ask) {
                    self.withdraw(id, expired);
                }
            }
            Said::Context { used, window } => {
                self.out.push(Body::Context(ContextEvent::Measured { used, window }));
            }
            Said::Compacted(mut compaction) => {
                let entry = EntryId(self.ids.next());
                compaction.first_kept = compaction.first_kept.filter(|kept| *kept < entry);
                self.out.push(Body::Context(ContextEvent::Compacted {
                    entry,
                    parent: self.leaf,
                    compaction,
                }));
                self.leaf = Some(entry);
            }
            Said::Plan(items) => self.out.push(Body::Note(NoteEvent::PlanChanged { items })),
            Said::Retrying { attempt, max, delay_ms, reason, kind } => {
                self.out.push(Body::Run(RunEvent::Retrying { attempt, max, delay_ms, reason, kind }));
            }
            Said::Notice { level, code, text } => {
                let (entry, parent, run) = (EntryId(self.ids.next()), self.leaf, self.run());
                self.out.push(Body::Note(NoteEvent::Noticed { entry, parent, run, level, code, text }));
            }
            Said::Title(title) => self.out.push(Body::Session(SessionEvent::Renamed { title })),
            Said::Model(model) => self.out.push(Body::Session(SessionEvent::ModelChosen { model })),
            Said::QueueMode(kind, mode) => self.out.push(Body::Queue(QueueEvent::ModeSet { kind, mode })),
            Said::Lost => {
                let closing = self.close(Outcome::Lost);
                self.out = closing;
            }
        }
    }

    /// A run named by a fact: the open one, one that is still nameless, or a new one.
    fn adopt_run(&mut self, key: &Key) {
        match &mut self.run {
            Some((_, Some(open))) if open == key => {}
            Some((id, unnamed @ None)) => {
                *unnamed = Some(key.clone());
                self.names.runs.insert(*id, key.clone());
            }
            Some(_) => {
                self.end_run(Outcome::Lost);
                self.start_run(Some(key.clone()));
            }
            None => self.start_run(Some(key.clone())),
        }
    }

    fn start_run(&mut self, key: Option<Key>) {
        match (&self.run, &key) {
            (Some((_, open)), key) if open.is_some() && open == key => return,
            (Some(_), Some(_)) => return,
            (Some(_), None) => self.end_run(Outcome::Lost),
            (None, _) => {}
        }
        let run = RunId::mint(&self.ids);
        if let Some(key) = &key {
            self.names.runs.insert(run, key.clone());
        }
        self.run = Some((run, key));
        self.out.push(Body::Run(RunEvent::Started { run }));
        if let Some(words) = self.allowance.run_begins() {
            self.remark(words);
        }
    }

    /// Something was cut: says so, once in a run.
    fn was_cut(&mut self) {
        if let Some(words) = self.allowance.was_cut() {
            self.remark(words);
        }
    }

    /// A word of ours about what is left out.
    fn remark(&mut self, text: String) {
        let (entry, parent, run) = (EntryId(self.ids.next()), self.leaf, self.run());
        let (level, code) = (Level::Warning, "too_much".to_owned());
        self.out.push(Body::Note(NoteEvent::Noticed { entry, parent, run, level, code, text }));
    }

    fn ensure_run(&mut self) -> RunId {
        if self.run.is_none() {
            self.start_run(None);
        }
        self.run().unwrap_or(RunId(0))
    }

    fn ensure_turn(&mut self) -> TurnId {
        if let Some(turn) = &self.turn {
            return turn.id;
        }
        let run = self.ensure_run();
        let turn = TurnId::mint(&self.ids);
        let cause = self.next_cause.take().unwrap_or(Cause::Prompt);
        self.out.push(Body::Run(RunEvent::TurnStarted { run, turn, cause }));
        self.turn = Some(OpenTurn { id: turn, begun: false });
        turn
    }

    fn ensure_step(&mut self) -> StepId {
        if let Some(step) = self.step {
            return step;
        }
        let turn = self.ensure_turn();
        let step = StepId::mint(&self.ids);
        self.out.push(Body::Run(RunEvent::StepStarted { turn, step, model: None }));
        self.step = Some(step);
        if let Some(open) = &mut self.turn {
            open.begun = true;
        }
        step
    }

    fn end_step(&mut self, outcome: &Outcome, usage: Usage) {
        let Some(step) = self.step.take() else { return };
        self.close_tools(outcome);
        self.close_messages(message_cut_by(outcome));
        self.out.push(Body::Run(RunEvent::StepEnded { step, usage }));
    }

    fn end_turn(&mut self, outcome: &Outcome) {
        self.end_step(outcome, Usage::default());
        let Some(turn) = self.turn.take() else { return };
        self.close_messages(message_cut_by(outcome));
        self.out.push(Body::Run(RunEvent::TurnEnded { turn: turn.id }));
    }

    fn end_run(&mut self, outcome: Outcome) {
        let Some((run, key)) = self.run.clone() else { return };
        let asks = std::mem::take(&mut self.asks);
        for (_, (ask, _)) in asks {
            self.withdraw(ask, false);
        }
        self.end_turn(&outcome);
        if let Some(words) = self.allowance.run_ends() {
            self.remark(words);
        }
        if outcome != Outcome::Done {
            let cleared = std::mem::take(&mut self.queued);
            self.out.extend(
                cleared
                    .into_iter()
                    .map(|item| Body::Queue(QueueEvent::Left { item, leaving: Leaving::Cleared })),
            );
        }
        self.run = None;
        self.next_cause = None;
        self.names.tools.clear();
        let oldest = RunId(run.0.saturating_sub(MAX_ENDED_RUNS as u64 * 64));
        self.names.runs = self.names.runs.split_off(&oldest);
        if let Some(key) = key {
            self.ended.push_back(key);
            if self.ended.len() > MAX_ENDED_RUNS {
                self.ended.pop_front();
            }
        }
        self.out.push(Body::Run(RunEvent::Ended { run, outcome }));
    }

    fn close_tools(&mut self, outcome: &Outcome) {
        for (key, tool) in std::mem::take(&mut self.tools) {
            self.withdraw_about(&key);
            let (how, text) = tool_cut_by(outcome, tool.running);
            self.out.push(Body::Tool(ToolEvent::Ended {
                tool: tool.id,
                outcome: how,
                result: ToolResult::text(text),
            }));
        }
    }

    fn close_messages(&mut self, finish: Finish) {
        for message in std::mem::take(&mut self.messages) {
            self.out.push(Body::Message(MessageEvent::Ended { message: message.id, finish: finish.clone() }));
        }
    }

    fn message_id(&self) -> MessageId {
        MessageId::mint(&self.ids)
    }
}

#[cfg(test)]
mod tests;
