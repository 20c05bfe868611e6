//! The state of one session: the fold of its events.
//!
//! Invariants: `State` changes only by [`State::apply`]; folding [`State::replay`] from nothing gives an equal state; the
//! [`State::hash`] depends on what was said, not on how a stream was cut into deltas.

pub mod canonical;
pub mod close;
mod fold;
mod hash;
mod replay;
mod work;

use crate::ask::Ask;
use crate::content::{Part, Role, Usage};
use crate::event::{Cause, Compaction, Event, Finish, Outcome, PlanItem, RetryKind};
use crate::ids::{AskId, EntryId, MessageId, Millis, RunId, Seq, StepId, ToolRunId, TurnId};
use crate::origin::Origin;
use crate::queue::Queues;
use crate::signal::Level;
use crate::terms::{Budget, Effort, ModelRef, Policy};
use crate::tool::ToolRun;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub use fold::NotApplied;
pub use hash::StateHash;

/// A node of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub id: EntryId,
    /// The entry before it; `None` at a root.
    pub parent: Option<EntryId>,
    pub at: Millis,
    pub kind: EntryKind,
}

/// The content of a node of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryKind {
    Message(Message),
    /// A summary of what came before.
    Compaction(Compaction),
    /// A word for the person.
    Notice {
        level: Level,
        /// A short stable word.
        code: String,
        text: String,
        /// The run it belongs to.
        run: Option<RunId>,
    },
}

/// A message, finished or under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub id: MessageId,
    pub role: Role,
    /// The run it belongs to.
    pub run: Option<RunId>,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// The step it belongs to.
    pub step: Option<StepId>,
    /// What it is made of.
    pub parts: Vec<Part>,
    /// How it ended; `None` while it is under way.
    pub finish: Option<Finish>,
    /// Whether the next delta may extend the last part.
    pub(crate) tail_open: bool,
    /// How it began, its parts and how it ended, as a stream.
    pub(crate) roll: u64,
}

impl Message {
    /// All its text, thoughts and tools left out.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(t) => text.push_str(t),
                Part::Code { text: t, .. } | Part::Diff { text: t, .. } => {
                    text.push('\n');
                    text.push_str(t);
                    text.push('\n');
                }
                Part::Thought { .. } | Part::Image { .. } | Part::Tool(_) | Part::Opaque { .. } => {}
            }
        }
        text
    }

    fn add(&mut self, part: Part) {
        // Most messages are one part, and a vector that grows by itself begins with room for four: a long session would be mostly that.
        if self.parts.is_empty() {
            self.parts.reserve_exact(1);
        }
        self.parts.push(part);
    }

    /// Gives back the room that its texts grew into while they were streamed: nothing is added to them any more.
    fn settle(&mut self) {
        for part in &mut self.parts {
            if let Part::Text(text) | Part::Thought { text, .. } = part {
                text.shrink_to_fit();
            }
        }
    }

    /// The tool runs it proposed, in order.
    pub fn tools(&self) -> impl Iterator<Item = ToolRunId> + '_ {
        self.parts.iter().filter_map(|part| match part {
            Part::Tool(id) => Some(*id),
            _ => None,
        })
    }
}

/// A run, over or under way.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Run {
    pub id: RunId,
    pub started_at: Millis,
    pub ended: Option<(Millis, Outcome)>,
    pub turns: Vec<Turn>,
}

/// A turn of a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Turn {
    pub id: TurnId,
    pub cause: Cause,
    /// Whether it is over.
    pub ended: bool,
    pub steps: Vec<Step>,
}

/// A step of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub id: StepId,
    pub model: Option<ModelRef>,
    /// What its answer used, known while its tools are under way.
    pub billed: Option<Usage>,
    /// What it used, once it is over.
    pub usage: Option<Usage>,
}

/// As native revision 1 hashes it; what came later counts only where it was said.
impl Hash for Step {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Step { id, model, billed, usage } = self;
        (id, model, usage).hash(hasher);
        if billed.is_some() {
            billed.hash(hasher);
        }
    }
}

impl Run {
    /// What its finished steps used.
    pub fn usage(&self) -> Usage {
        let steps = self.turns.iter().flat_map(|t| &t.steps);
        steps.filter_map(|s| s.usage).fold(Usage::default(), Usage::plus)
    }

    /// The turn under way.
    pub fn open_turn(&self) -> Option<&Turn> {
        self.turns.last().filter(|t| !t.ended)
    }

    /// The step under way.
    pub fn open_step(&self) -> Option<&Step> {
        self.open_turn()?.steps.last().filter(|s| s.usage.is_none())
    }
}

/// What a session is about and how it is set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// Working directory.
    pub cwd: String,
    /// Project root.
    pub project: String,
    /// The session it branched from, and where.
    pub parent: Option<(String, Option<EntryId>)>,
    /// Whose session it is, when it is not ours.
    pub origin: Option<Origin>,
    pub title: Option<String>,
    /// The model of the next steps.
    pub model: Option<ModelRef>,
    /// How hard it shall think; `None` leaves it to the provider.
    pub effort: Option<Effort>,
    /// What may be spent.
    pub budget: Budget,
    /// How tools get their consent.
    pub policy: Policy,
    /// The mode that is on again when a plan is begun; the usual one outside of mode `plan`.
    pub before_plan: Policy,
    /// Which tools the model may use; `None` means all.
    pub tools: Option<Vec<String>>,
}

impl Settings {
    /// Another mode; out of `plan` one comes back to the mode before it.
    fn choose_policy(&mut self, policy: Policy) {
        self.before_plan = match (self.policy, policy) {
            (Policy::Plan, Policy::Plan) => self.before_plan,
            (before, Policy::Plan) => before,
            _ => Policy::default(),
        };
        self.policy = policy;
    }
}

/// As native revision 1 hashes it; what came later counts only where it was said.
impl Hash for Settings {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        // The mode before a plan follows from the modes that were chosen.
        let Settings {
            cwd,
            project,
            parent,
            origin,
            title,
            model,
            effort,
            budget,
            policy,
            before_plan: _,
            tools,
        } = self;
        (cwd, project, parent, title, model, policy, tools).hash(hasher);
        if effort.is_some() {
            effort.hash(hasher);
        }
        if *budget != Budget::default() {
            budget.hash(hasher);
        }
        if origin.is_some() {
            origin.hash(hasher);
        }
    }
}

/// The last retry that was announced, until the model answers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Retry {
    /// The next attempt's number.
    pub attempt: u32,
    /// How many there will be at most.
    pub max: u32,
    /// Milliseconds until then.
    pub delay_ms: u64,
    pub reason: String,
    /// Of what kind that is, where it is known.
    pub kind: Option<RetryKind>,
    /// When it was announced.
    pub at: Millis,
}

/// One session as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct State {
    /// Position of the last event.
    pub seq: Seq,
    /// When the first event happened.
    pub created_at: Millis,
    /// When the last event happened.
    pub updated_at: Millis,
    /// What it is about and how it is set.
    pub settings: Settings,
    /// What was said and noted, by id. Copies of a state share them: a long session is copied for every turn and kept snapshot.
    pub entries: BTreeMap<EntryId, Arc<Entry>>,
    /// The active tip.
    pub leaf: Option<EntryId>,
    /// All runs, oldest first; at most the last one is under way.
    pub runs: Vec<Run>,
    /// Shared in the same way.
    pub tools: BTreeMap<ToolRunId, Arc<ToolRun>>,
    /// Open asks, oldest first.
    pub asks: Vec<Ask>,
    /// When each of them was asked, in the same order.
    pub(crate) asked: Vec<Millis>,
    pub queues: Queues,
    /// The agent's plan.
    pub plan: Vec<PlanItem>,
    /// Last measure of the context: used, window.
    pub context: Option<(u64, u64)>,
    /// One of these is a guess.
    pub context_rough: bool,
    /// Tokens and money of all steps.
    pub usage: Usage,
    /// The retry that is being waited for.
    pub retry: Option<Retry>,
    /// The largest id seen.
    pub last_id: u64,
    pub(crate) entities: u64,
}

/// Numbers of one session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stats {
    pub messages: u64,
    pub turns: u64,
    pub runs: u64,
    /// Tool runs.
    pub tools: u64,
    /// Tokens and money.
    pub usage: Usage,
}

impl State {
    /// An empty session.
    pub fn new() -> State {
        State::default()
    }

    /// The run under way.
    pub fn open_run(&self) -> Option<&Run> {
        self.runs.last().filter(|run| run.ended.is_none())
    }

    /// What the session has used, the answer of a step whose tools are under way included.
    pub fn spent(&self) -> Usage {
        let step = self.open_run().and_then(Run::open_step);
        step.and_then(|step| step.billed).map_or(self.usage, |billed| self.usage.plus(billed))
    }

    /// A run by id.
    pub fn run(&self, id: RunId) -> Option<&Run> {
        self.runs.iter().rev().find(|run| run.id == id)
    }

    /// A message by id.
    pub fn message(&self, id: MessageId) -> Option<&Message> {
        match &self.entries.get(&id.into())?.kind {
            EntryKind::Message(message) => Some(message),
            EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
        }
    }

    /// A tool run by id.
    pub fn tool(&self, id: ToolRunId) -> Option<&ToolRun> {
        self.tools.get(&id).map(Arc::as_ref)
    }

    /// An open ask by id.
    pub fn ask(&self, id: AskId) -> Option<&Ask> {
        self.asks.iter().find(|ask| ask.id == id)
    }

    /// The words that a turn began with; what was said into it later is not among them. `None` where they are not known.
    pub fn prompt_of(&self, turn: TurnId) -> Option<String> {
        // A message is younger than its turn, and ids grow.
        self.entries.range(EntryId(turn.0)..).find_map(|(_, entry)| match &entry.kind {
            EntryKind::Message(message) if message.role == Role::User && message.turn == Some(turn) => {
                Some(message.text())
            }
            EntryKind::Message(_) | EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
        })
    }

    /// When the oldest open ask was asked.
    pub fn asked_at(&self) -> Option<Millis> {
        self.asked.first().copied()
    }

    /// Messages under way, oldest first. Only the end of the tree can hold any.
    pub fn open_messages(&self) -> Vec<MessageId> {
        let Some(run) = self.open_run() else { return Vec::new() };
        let of_run = self.entries.values().rev().map_while(|entry| match &entry.kind {
            EntryKind::Message(m) if m.run.is_some_and(|r| r < run.id) => None,
            EntryKind::Message(m) => Some(m.finish.is_none().then_some(m.id)),
            EntryKind::Compaction(_) | EntryKind::Notice { .. } => Some(None),
        });
        let mut open: Vec<MessageId> = of_run.flatten().collect();
        open.reverse();
        open
    }

    /// Tool runs that have not ended, oldest first.
    pub fn open_tools(&self) -> Vec<ToolRunId> {
        let Some(run) = self.open_run() else { return Vec::new() };
        let of_run = self.tools.values().rev().take_while(|tool| tool.run >= run.id);
        let mut open: Vec<ToolRunId> = of_run.filter(|tool| !tool.ended()).map(|tool| tool.id).collect();
        open.reverse();
        open
    }

    /// The entries from the root to `leaf`.
    pub fn path_to(&self, leaf: Option<EntryId>) -> Vec<&Entry> {
        let mut path = Vec::new();
        let mut next = leaf;
        while let Some(entry) = next.and_then(|id| self.entries.get(&id)) {
            path.push(entry.as_ref());
            // A parent is always older: a damaged record cannot make this loop.
            next = entry.parent.filter(|parent| *parent < entry.id);
        }
        path.reverse();
        path
    }

    /// The turns that are left behind on the way from the active tip to another entry, and those that are entered: what they did to
    /// files is taken back and done again when files shall go with the words.
    pub fn turns_to(&self, leaf: Option<EntryId>) -> (Vec<TurnId>, Vec<TurnId>) {
        let turns = |path: Vec<&Entry>| -> BTreeSet<TurnId> {
            let turn = |entry: &Entry| match &entry.kind {
                EntryKind::Message(message) => message.turn,
                EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
            };
            path.into_iter().filter_map(turn).collect()
        };
        let (here, there) = (turns(self.path()), turns(self.path_to(leaf)));
        (here.difference(&there).copied().collect(), there.difference(&here).copied().collect())
    }

    /// The conversation: root to the active tip.
    pub fn path(&self) -> Vec<&Entry> {
        self.path_to(self.leaf)
    }

    /// What goes to the model: the path from the last compaction on.
    pub fn context_path(&self) -> Vec<&Entry> {
        let path = self.path();
        let last = path.iter().rposition(|entry| matches!(entry.kind, EntryKind::Compaction(_)));
        let Some(at) = last else { return path };
        let EntryKind::Compaction(compaction) = &path[at].kind else { return path };
        let kept_from = match compaction.first_kept {
            Some(first) => path.iter().position(|entry| entry.id == first).unwrap_or(at).min(at),
            None => at,
        };
        // An older summary among what is kept is part of the newer one.
        let said = |entry: &&&Entry| !matches!(entry.kind, EntryKind::Compaction(_));
        let mut context = vec![path[at]];
        context.extend(path[kept_from..at].iter().filter(said).copied());
        context.extend(path[at + 1..].iter().copied());
        context
    }

    /// Tokens of the conversation up to the model's newest words, as they were counted last. `None` where the tip is on another branch
    /// than those words.
    pub fn counted_tokens(&self) -> Option<u64> {
        let (used, _) = self.context?;
        let spoke = |entry: &&Entry| match &entry.kind {
            EntryKind::Message(message) => message.role == Role::Assistant,
            EntryKind::Compaction(_) => true,
            EntryKind::Notice { .. } => false,
        };
        let newest = self.entries.values().rev().map(Arc::as_ref).find(spoke)?;
        let told = self.path().into_iter().rev().find(spoke)?;
        (newest.id == told.id).then_some(used)
    }

    /// Percent of the context that is left.
    pub fn context_left(&self) -> Option<u8> {
        let (used, window) = self.context?;
        if window == 0 {
            return None;
        }
        let left = window.saturating_sub(used).saturating_mul(100) / window;
        Some(u8::try_from(left).unwrap_or(100))
    }

    /// Its numbers.
    pub fn stats(&self) -> Stats {
        let is_message =
            |entry: &&Entry| matches!(&entry.kind, EntryKind::Message(m) if m.role != Role::System);
        Stats {
            messages: self.entries.values().map(Arc::as_ref).filter(is_message).count() as u64,
            turns: self.runs.iter().map(|run| run.turns.len() as u64).sum(),
            runs: self.runs.len() as u64,
            tools: self.tools.len() as u64,
            usage: self.usage,
        }
    }

    /// Folds one numbered event.
    ///
    /// # Errors
    /// When the event does not follow the last one, or names something that is not there.
    pub fn fold(&mut self, event: &Event) -> Result<(), NotApplied> {
        if event.seq != self.seq.next() {
            return Err(NotApplied::OutOfOrder { expected: self.seq.next(), got: event.seq });
        }
        self.apply(event.at, &event.body)?;
        self.seq = event.seq;
        Ok(())
    }

    /// Folds an event that may stand for several: a slow UI gets streams with deltas merged into the newest.
    ///
    /// # Errors
    /// When the event is not newer than the last one, or names something that is not there.
    pub fn follow(&mut self, event: &Event) -> Result<(), NotApplied> {
        if event.seq <= self.seq {
            return Err(NotApplied::OutOfOrder { expected: self.seq.next(), got: event.seq });
        }
        self.apply(event.at, &event.body)?;
        self.seq = event.seq;
        Ok(())
    }

    /// A state that holds only the path to `leaf`, with nothing open: what a branch begins with.
    pub fn branch_at(&self, leaf: Option<EntryId>) -> State {
        let mut branch = self.clone();
        for body in self.close_run(Outcome::Interrupted) {
            // What a state says closes it can be applied to it.
            let _ = branch.apply(self.updated_at, &body);
        }
        let path: Vec<EntryId> = branch.path_to(leaf).iter().map(|entry| entry.id).collect();
        let mut kept =
            State { settings: branch.settings.clone(), created_at: branch.created_at, ..State::default() };
        branch.entries.retain(|id, _| path.binary_search(id).is_ok());
        let messages = branch.entries.values().filter_map(|entry| match &entry.kind {
            EntryKind::Message(message) => Some(message),
            EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
        });
        let runs: BTreeSet<RunId> = messages.filter_map(|message| message.run).collect();
        branch.runs.retain(|run| runs.contains(&run.id));
        branch.tools.retain(|_, tool| branch.entries.contains_key(&tool.message.into()));
        (branch.asks, branch.asked) = (Vec::new(), Vec::new());
        (branch.queues, branch.plan) = (Queues::default(), Vec::new());
        branch.leaf = leaf.filter(|id| branch.entries.contains_key(id));
        for (at, body) in branch.replay() {
            let _ = kept.apply(at, &body);
        }
        kept
    }
}

#[cfg(test)]
mod tests;
