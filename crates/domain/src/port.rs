//! What the hub and an engine say to each other. Plain data: channels and tasks are the shells' business.
//!
//! An engine does the runs: our agent, or a foreign runtime behind a UI role. Our agent is *driven*: the hub tells it the input of
//! each turn and closes what it leaves open. A foreign runtime is *followed*: its facts go through the canon.

mod abilities;
pub mod menu;

use crate::ask::{ActionDigest, Closing};
use crate::command::{Command, PromptOptions, Receipt, Refusal};
use crate::content::{Input, Usage};
use crate::event::{Body, Event, Failure};
use crate::fact::Fact;
use crate::given_server::GivenServer;
use crate::ids::{AskId, EntryId, Ids, Millis, RunId, SessionId, StepId, ToolRunId, TurnId};
use crate::session::{Budget, Effort, ModelRef, Policy};
use crate::signal::{Board, Signal, UiContext};
use crate::state::Entry;
use crate::tool::{ToolResult, ToolRun};
use crate::ui_files::{FileAnswer, FileRequest, FileRequestId, UiFiles};
use menu::AgentMenu;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

pub use abilities::Abilities;

/// Correlates a command with its receipt or refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct Ticket(pub u64);

/// Everything a turn needs.
#[derive(Debug, Clone)]
pub struct TurnBrief {
    pub session: SessionId,
    pub run: RunId,
    pub turn: TurnId,
    /// Where new ids come from.
    pub ids: Ids,
    /// The whole conversation: the path that goes to the model, the turn's input at its end.
    pub context: Vec<Arc<Entry>>,
    /// The tool runs named in it, and the newest with long results of the part that a summary stands for.
    pub tools: Vec<Arc<ToolRun>>,
    pub input: Input,
    /// How the prompt wants it.
    pub options: PromptOptions,
    /// Working directory.
    pub cwd: String,
    /// Project root.
    pub project: String,
    /// The chosen model; the engine's own choice if `None`.
    pub model: Option<ModelRef>,
    /// How hard it shall think; `None` leaves it to the provider.
    pub effort: Option<Effort>,
    /// What the session may spend.
    pub budget: Budget,
    /// How tools get their consent.
    pub policy: Policy,
    /// The mode that is on again when a plan is begun.
    pub before_plan: Policy,
    /// Which tools may be used; `None` means all.
    pub active_tools: Option<Vec<String>>,
    /// Whether anybody could answer an ask.
    pub attended: bool,
    /// What the UI knows about where the person works.
    pub ui_context: UiContext,
    /// What a UI of this session does with files on our behalf.
    pub ui_files: UiFiles,
    /// MCP servers that a UI brought for this session.
    pub given_servers: Vec<GivenServer>,
    /// The entry that the turn's first message hangs off.
    pub leaf: Option<EntryId>,
    /// Tokens of the conversation up to the model's newest words, as they were counted last.
    pub counted_tokens: Option<u64>,
    /// What the session used before this turn.
    pub used: Usage,
    /// Steps of the run before this turn.
    pub steps: usize,
    /// Set when the turn goes on in the middle of a step, after a crash: its consents are still open.
    pub resume: Option<Resume>,
}

/// Where a turn goes on after a crash: a step whose tools still wait for consent under the same ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    pub step: StepId,
    /// What its answer used before the crash.
    pub billed: Usage,
    /// How long the turn had been at work before the crash, as far as the record knows.
    pub took: Duration,
    /// The consents that are open, oldest first.
    pub consents: Vec<OpenConsent>,
}

/// A consent that was asked for before a crash and is still open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenConsent {
    /// The question.
    pub ask: AskId,
    /// What it is about.
    pub tool: ToolRunId,
    /// What was shown: a yes is for this and nothing else.
    pub digest: ActionDigest,
}

/// How a session stands when the engine is asked about it outside of a turn.
#[derive(Debug, Clone, Default)]
pub struct Grounds {
    /// Where new ids come from.
    pub ids: Ids,
    /// Working directory.
    pub cwd: String,
    /// Project root.
    pub project: String,
    /// The chosen model; the engine's own choice if `None`.
    pub model: Option<ModelRef>,
    /// How hard it shall think; `None` leaves it to the provider.
    pub effort: Option<Effort>,
    /// How tools get their consent.
    pub policy: Policy,
    /// Which tools may be used; `None` means all.
    pub active_tools: Option<Vec<String>>,
    /// The newest entry of the conversation.
    pub leaf: Option<EntryId>,
    /// What goes to the model, for commands that need it (compaction); else empty.
    pub context: Vec<Arc<Entry>>,
    /// The tool runs named in it.
    pub tools: Vec<Arc<ToolRun>>,
    /// Tokens of it up to the model's newest words, as they were counted last.
    pub counted_tokens: Option<u64>,
    /// MCP servers that a UI brought for this session.
    pub given_servers: Vec<GivenServer>,
}

/// What the hub tells an engine.
#[derive(Debug, Clone)]
pub enum Order {
    /// Do this turn. Only to a driven engine.
    Turn(Box<TurnBrief>),
    /// Stop this run. Nothing of it may start any more.
    Cancel { session: SessionId, run: RunId },
    /// An ask of yours is over.
    AskClosed {
        session: SessionId,
        ask: AskId,
        /// How. Unlike the record, this carries what was typed into a secret field.
        closing: Closing,
    },
    /// Whether a steer waits: the remaining tool calls of the step are then skipped.
    SteerWaits { session: SessionId, waits: bool },
    /// Whether what happens in the session can be written down: while it cannot, a crash would forget that a tool ran.
    StoreFails {
        session: SessionId,
        /// Why it cannot; `None` when it can again.
        why: Option<String>,
    },
    /// The person took another policy mode: it holds for what runs and for what is asked already.
    PolicyChanged { session: SessionId, policy: Policy },
    /// A command that only the engine can answer.
    Consult {
        /// To settle.
        ticket: Ticket,
        /// About which session.
        session: SessionId,
        command: Command,
        /// How the session stands.
        grounds: Box<Grounds>,
    },
    /// A UI performed a tool that it offers.
    Performed {
        session: SessionId,
        tool: ToolRunId,
        /// Whether it did not work.
        failed: bool,
        result: ToolResult,
    },
    /// The UI that offered tools for the run under way is gone: nobody performs them any more.
    OffersGone { session: SessionId },
    /// A UI has answered what it was asked to do with a file, or nobody is left who could.
    FileDone { session: SessionId, id: FileRequestId, with: FileAnswer },
    /// The session is closed: let go of what you keep for it.
    Forget { session: SessionId },
}

/// How a turn of a driven engine ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model has nothing more to do.
    Done,
    /// It broke.
    Failed(Failure),
    /// It was stopped.
    Cancelled,
}

/// What became of a report that an engine waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// It is as safe as the store makes anything.
    Safely,
    /// It was taken, but the store fails: it is in memory only. The text says why.
    InMemory(String),
    /// It came too late: the run is over or being stopped.
    Late,
}

/// What an engine tells the hub.
#[derive(Debug, Clone)]
pub enum Report {
    /// Something happened in a run of a driven engine. What comes for a run that is over is dropped.
    Happened {
        session: SessionId,
        /// In which run; `None` for things outside runs, such as a compaction by hand.
        run: Option<RunId>,
        body: Body,
    },
    /// The turn is over.
    TurnDone { session: SessionId, run: RunId, turn: TurnId, end: TurnEnd },
    /// A foreign runtime said something.
    Said { session: SessionId, fact: Fact },
    /// A one-way word to the UIs of a session.
    Signal { session: SessionId, signal: Signal },
    /// A tool wants a file that a UI may hold; [`Order::FileDone`] answers.
    FileWanted { session: SessionId, id: FileRequestId, request: FileRequest },
    /// The commands that a driven engine has where it works now.
    Menu(AgentMenu),
    /// A consulted command is settled.
    Settled { ticket: Ticket, with: Result<Receipt, Refusal> },
}

/// What a UI of ours hears. A remote one gets the same over the native dialect.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// The UI now sees this session and it is the current one; the replay builds its state from nothing.
    Attached {
        session: SessionId,
        /// Bodies whose fold is its state.
        replay: Vec<(Millis, Body)>,
        /// The lasting signals.
        board: Board,
        /// What the runtime behind it can do.
        abilities: Abilities,
    },
    /// Something happened. Streams may arrive with several deltas in one; numbers only rise.
    Happened { session: SessionId, event: Arc<Event> },
    /// A one-way word.
    Signal { session: SessionId, signal: Signal },
    /// A command of this UI is settled.
    Settled { ticket: Ticket, with: Result<Receipt, Refusal> },
    /// How the way to the runtime is.
    Link(LinkState),
}

/// How the way to a runtime is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkState {
    /// Being set up.
    Connecting,
    /// The same, though something else came than a greeting; the text says what.
    Odd(String),
    /// Usable.
    Up,
    /// Gone; the text says why and what happens next.
    Lost(String),
}
