//! Canon: the one place that repairs what foreign runtimes leave out, say twice, or say too late.
//!
//! Facts come in any order; bodies go out that, numbered, keep every law of the grammar. What is open is asked of the [`State`] that the
//! bodies go into: whoever calls folds all that comes out before the next call. The canon itself knows only what a state does not:
//! the peer's names, what a peer may repeat, and how much it has said.
//!
//! Invariants: what is told has its parents open (they are opened when the wire forgot); what ends had its children ended; nothing
//! comes for a run that has ended; what comes out of one session is bounded, whatever goes in.

mod allowance;
mod asks;
pub mod cut;
mod draft;
mod messages;
mod tools;

use crate::content::Usage;
use crate::event::{
    AskEvent, Body, Cause, ContextEvent, NoteEvent, Outcome, QueueEvent, RunEvent, SessionEvent,
};
use crate::fact::{Fact, Key, Said};
use crate::ids::{AskId, EntryId, Ids, Millis, QueuedId, RunId, StepId, ToolRunId, TurnId};
use crate::signal::Level;
use crate::state::State;
use crate::state::close::Open;
use allowance::Allowance;
use draft::Draft;
use messages::HeardMessage;
use std::collections::{BTreeMap, VecDeque};
use tools::HeardTool;

pub use allowance::Bounds;
pub use asks::decision;

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
    /// The turn in which the person has spoken or the model was asked: another user message then begins the next one.
    begun: Option<TurnId>,
    messages: Vec<HeardMessage>,
    tools: BTreeMap<Key, HeardTool>,
    ended: VecDeque<Key>,
    next_cause: Option<Cause>,
    /// The peer's next run is the next turn of the one that is open here, with this cause.
    goes_on: Option<Cause>,
    allowance: Allowance,
}

impl Canon {
    /// Begins in a session where no run is open (see [`State::close_run`]).
    pub fn new(ids: Ids) -> Canon {
        Canon::within(Bounds::USUAL, ids)
    }

    /// The same, with other bounds.
    pub fn within(bounds: Bounds, ids: Ids) -> Canon {
        Canon {
            ids,
            names: Names::default(),
            begun: None,
            messages: Vec::new(),
            tools: BTreeMap::new(),
            ended: VecDeque::new(),
            next_cause: None,
            goes_on: None,
            allowance: Allowance::new(bounds),
        }
    }

    /// The peer's ids of what is open.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Whether this is the word that the run which is open here is over and done.
    pub fn is_end_of_open(&self, state: &State, fact: &Fact) -> bool {
        let Some(open) = state.open_run() else { return false };
        let late = fact.run.as_ref().is_some_and(|key| self.ended.contains(key));
        let other = matches!((&fact.run, self.names.run(open.id)), (Some(key), Some(open)) if key != open);
        matches!(fact.said, Said::RunEnded(Outcome::Done)) && !late && !other && self.goes_on.is_none()
    }

    /// The peer's run is done, and an input that waited here is its next prompt: what the peer begins with that is another turn of the
    /// run that is open here. What it still says of the run before is late.
    pub fn go_on(&mut self, state: &State, cause: Cause) -> Vec<Body> {
        let mut draft = Draft::over(state);
        let Some(run) = draft.run() else { return Vec::new() };
        self.end(&mut draft, |open| open.close_turn_and_asks(&Outcome::Done));
        self.names.tools.clear();
        if let Some(key) = self.names.runs.remove(&run) {
            self.forget_run(key);
        }
        (self.next_cause, self.goes_on) = (None, Some(cause));
        draft.bodies
    }

    /// A prompt of ours was taken: the run it begins, and what that means. What the peer says of its start adds nothing then.
    pub fn begin(&mut self, state: &State) -> (RunId, Vec<Body>) {
        let mut draft = Draft::over(state);
        let run = self.ensure_run(&mut draft);
        (run, draft.bodies)
    }

    /// Takes what the peer said; gives what happened.
    pub fn take(&mut self, state: &State, now: Millis, fact: Fact) -> Vec<Body> {
        let Fact { run, mut said } = fact;
        if run.as_ref().is_some_and(|key| self.ended.contains(key)) {
            self.allowance.late();
            return Vec::new();
        }
        let mut draft = Draft::over(state);
        let open = draft.run().map(|open| self.names.run(open));
        let of_open_run = open.is_some_and(|open| open.is_none() || run.is_none() || open == run.as_ref());
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
            self.adopt_run(&mut draft, key);
        }
        self.said(&mut draft, now, run, said);
        if was_cut {
            self.was_cut(&mut draft);
        }
        if let Some(words) = self.allowance.count(&draft.bodies) {
            self.remark(&mut draft, words);
        }
        draft.bodies
    }

    /// Whether the peer goes on and on though nothing more of it can be kept.
    pub fn is_flooded(&self) -> bool {
        self.allowance.is_flooded()
    }

    /// Ends whatever is open, for instance because the link is gone.
    pub fn close(&mut self, state: &State, outcome: Outcome) -> Vec<Body> {
        let mut draft = Draft::over(state);
        self.close_all(&mut draft, outcome);
        draft.bodies
    }

    fn close_all(&mut self, draft: &mut Draft<'_>, outcome: Outcome) {
        self.end_run(draft, outcome);
        for ask in draft.open_asks() {
            self.withdraw(draft, ask, false);
        }
    }

    fn said(&mut self, draft: &mut Draft<'_>, now: Millis, run: Option<Key>, said: Said) {
        match said {
            Said::RunStarted => self.start_run(draft, run),
            Said::RunEnded(outcome) => {
                let open = draft.run().and_then(|open| self.names.run(open));
                let other = matches!((&run, open), (Some(key), Some(open)) if key != open);
                if !other {
                    self.end_run(draft, outcome);
                }
            }
            Said::TurnStarted(cause) => {
                self.ensure_run(draft);
                self.end_turn(draft);
                self.next_cause = cause.or(self.next_cause);
                self.ensure_turn(draft);
            }
            Said::TurnEnded => self.end_turn(draft),
            Said::StepStarted => {
                self.ensure_turn(draft);
                self.end_step(draft, Usage::default());
                self.ensure_step(draft);
            }
            Said::StepEnded(usage) => {
                if draft.step().is_none() && usage != Usage::default() {
                    self.ensure_step(draft);
                }
                self.end_step(draft, usage);
            }
            Said::MessageStarted { message, role } => {
                self.start_message(draft, message, role);
            }
            Said::Text { message, kind, text } => self.text(draft, message, kind, text),
            Said::Whole { message, parts } => self.whole(draft, message, parts),
            Said::Part { message, part } => self.part(draft, message, part),
            Said::MessageEnded { message, finish } => self.end_message(draft, message, finish),
            Said::ToolProposed { tool, name, args } => {
                self.propose(draft, &tool, Some(name), Some(args));
            }
            Said::ToolStarted { tool, name, args } => self.start_tool(draft, &tool, name, args),
            // Who holds the runtime to asking keeps it; nothing has happened.
            Said::NeedsNoConsent { .. } => {}
            Said::AllowedHere { tool, by } => self.allow_tool(draft, &tool, by),
            Said::ToolProgress { tool, progress } => self.tool_progress(draft, now, &tool, progress),
            Said::ToolEnded { tool, outcome, result } => self.end_tool(draft, &tool, outcome, result),
            Said::AskOpened { ask, title, kind, deadline } => {
                self.open_ask(draft, &ask, title, kind, deadline);
            }
            Said::AskWithdrawn { ask, expired } => {
                if let Some(id) = self.open_ask_of(draft, &ask) {
                    self.withdraw(draft, id, expired);
                }
            }
            Said::Context { used, window } => {
                draft.push(Body::Context(ContextEvent::Measured { used, window, rough: false }));
            }
            Said::Compacted(mut compaction) => {
                let (entry, parent) = (EntryId(self.ids.next()), draft.leaf());
                compaction.first_kept = compaction.first_kept.filter(|kept| *kept < entry);
                draft.push(Body::Context(ContextEvent::Compacted { entry, parent, compaction }));
            }
            Said::Plan(items) => draft.push(Body::Note(NoteEvent::PlanChanged { items })),
            Said::Retrying { attempt, max, delay_ms, reason, kind } => {
                draft.push(Body::Run(RunEvent::Retrying { attempt, max, delay_ms, reason, kind }));
            }
            Said::Notice { level, code, text } => self.notice(draft, level, code, text),
            Said::Title(title) => draft.push(Body::Session(SessionEvent::Renamed { title })),
            Said::Model(model) => draft.push(Body::Session(SessionEvent::ModelChosen { model })),
            Said::Effort(effort) => draft.push(Body::Session(SessionEvent::EffortChosen { effort })),
            Said::QueueMode(kind, mode) => draft.push(Body::Queue(QueueEvent::ModeSet { kind, mode })),
            Said::Queued(kind, input) => {
                let item = QueuedId::mint(&self.ids);
                draft.push(Body::Queue(QueueEvent::Added { item, kind, input, by: None }));
            }
            Said::Unqueued { kind, count, leaving } => {
                for item in draft.waiting(kind, count) {
                    draft.push(Body::Queue(QueueEvent::Left { item, leaving: leaving.clone() }));
                }
            }
            Said::Lost => self.close_all(draft, Outcome::Lost),
        }
    }

    /// A run named by a fact: the open one, one that is still nameless, or a new one.
    fn adopt_run(&mut self, draft: &mut Draft<'_>, key: &Key) {
        let Some(open) = draft.run() else { return self.start_run(draft, Some(key.clone())) };
        match self.names.run(open) {
            Some(named) if named == key => {}
            None => {
                self.names.runs.insert(open, key.clone());
            }
            Some(_) => {
                self.end_run(draft, Outcome::Lost);
                self.start_run(draft, Some(key.clone()));
            }
        }
    }

    fn start_run(&mut self, draft: &mut Draft<'_>, key: Option<Key>) {
        match (draft.run(), &key) {
            (Some(_), Some(_)) => return,
            (Some(_), None) if self.goes_on.is_some() => return,
            (Some(_), None) => self.end_run(draft, Outcome::Lost),
            (None, _) => {}
        }
        let run = RunId::mint(&self.ids);
        if let Some(key) = key {
            self.names.runs.insert(run, key);
        }
        draft.push(Body::Run(RunEvent::Started { run }));
        if let Some(words) = self.allowance.run_begins() {
            self.remark(draft, words);
        }
    }

    /// Something was cut: says so, once in a run.
    fn was_cut(&mut self, draft: &mut Draft<'_>) {
        if let Some(words) = self.allowance.was_cut() {
            self.remark(draft, words);
        }
    }

    /// A word of ours about what is left out.
    fn remark(&self, draft: &mut Draft<'_>, text: String) {
        self.notice(draft, Level::Warning, "too_much".to_owned(), text);
    }

    fn notice(&self, draft: &mut Draft<'_>, level: Level, code: String, text: String) {
        let (entry, parent, run) = (EntryId(self.ids.next()), draft.leaf(), draft.run());
        draft.push(Body::Note(NoteEvent::Noticed { entry, parent, run, level, code, text }));
    }

    fn ensure_run(&mut self, draft: &mut Draft<'_>) -> RunId {
        if draft.run().is_none() {
            self.start_run(draft, None);
        }
        draft.run().unwrap_or(RunId(0))
    }

    fn ensure_turn(&mut self, draft: &mut Draft<'_>) -> TurnId {
        if let Some(turn) = draft.turn() {
            return turn;
        }
        let run = self.ensure_run(draft);
        let turn = TurnId::mint(&self.ids);
        let said = self.next_cause.take();
        let cause = self.goes_on.take().or(said).unwrap_or(Cause::Prompt);
        draft.push(Body::Run(RunEvent::TurnStarted { run, turn, cause }));
        turn
    }

    fn ensure_step(&mut self, draft: &mut Draft<'_>) -> StepId {
        if let Some(step) = draft.step() {
            return step;
        }
        let turn = self.ensure_turn(draft);
        let step = StepId::mint(&self.ids);
        draft.push(Body::Run(RunEvent::StepStarted { turn, step, model: None }));
        self.begun = Some(turn);
        step
    }

    fn end_step(&mut self, draft: &mut Draft<'_>, usage: Usage) {
        if draft.step().is_some() {
            self.end(draft, |open| open.close_step(&Outcome::Done, usage));
        }
    }

    fn end_turn(&mut self, draft: &mut Draft<'_>) {
        if draft.turn().is_some() {
            self.end(draft, |open| open.close_turn(&Outcome::Done));
        }
    }

    fn end_run(&mut self, draft: &mut Draft<'_>, outcome: Outcome) {
        let Some(run) = draft.run() else { return };
        if let Some(words) = self.allowance.run_ends() {
            self.remark(draft, words);
        }
        self.end(draft, |open| open.close_run(outcome));
        (self.next_cause, self.goes_on) = (None, None);
        self.names.tools.clear();
        if let Some(key) = self.names.run(run).cloned() {
            self.forget_run(key);
        }
        let oldest = RunId(run.0.saturating_sub(MAX_ENDED_RUNS as u64 * 64));
        self.names.runs = self.names.runs.split_off(&oldest);
    }

    /// What still comes for this run of the peer's is late.
    fn forget_run(&mut self, key: Key) {
        self.ended.push_back(key);
        if self.ended.len() > MAX_ENDED_RUNS {
            self.ended.pop_front();
        }
    }

    /// Ends a step or more, and with it every message and tool.
    fn end(&mut self, draft: &mut Draft<'_>, end: impl FnOnce(Open) -> Vec<Body>) {
        for body in draft.close(end) {
            if let Body::Ask(AskEvent::Closed { ask, .. }) = body {
                self.names.asks.remove(ask);
            }
        }
        self.messages.clear();
        self.tools.clear();
    }
}

#[cfg(test)]
mod tests;
