//! Commands: what a UI wants; receipts and refusals: what it gets.

use crate::ask::Answer;
use crate::content::{Input, Json};
use crate::event::{Compaction, Event};
use crate::ids::{AskId, EntryId, QueuedId, RunId, SessionId};
use crate::queue::{Mode, QueueKind};
use crate::session::{
    ModelEntry, ModelRef, Policy, RunSummary, ServerEntry, SessionSummary, SkillList, Stats, ToolEntry,
};
use crate::signal::UiContext;
use std::fmt;

/// Which session a command is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Target {
    /// The UI's current one; a new one if it has none.
    #[default]
    Current,
    /// This one.
    Session(SessionId),
}

/// What to do with a prompt while a run is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WhenBusy {
    /// Refuse.
    #[default]
    Refuse,
    /// Queue it as a follow-up.
    Queue,
}

/// How a prompt is to be run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct PromptOptions {
    /// Continue from this entry instead of the leaf.
    pub from: Option<EntryId>,
    /// While a run is under way.
    pub when_busy: WhenBusy,
    /// Most tokens of one answer.
    pub max_tokens: Option<u64>,
    /// Thousandths.
    pub temperature: Option<u32>,
    /// Whether the model may use tools.
    pub tools: Option<bool>,
}

/// Which sessions a list holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum ListScope {
    /// Those of one project; `None` is the current one.
    Project(Option<String>),
    /// All.
    #[default]
    All,
}

/// How a session is written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExportFormat {
    /// Readable text.
    Markdown,
    /// One page.
    Html,
    /// Lossless records.
    Jsonl,
}

/// What a UI wants.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Command {
    /// Starts a run.
    Prompt {
        /// What is said.
        input: Input,
        /// How.
        options: PromptOptions,
    },
    /// Adds an input to a queue of the run under way.
    Enqueue {
        /// Which queue.
        kind: QueueKind,
        /// What is said.
        input: Input,
    },
    /// Rewrites a waiting input.
    EditQueued {
        /// Which.
        item: QueuedId,
        /// The new input.
        input: Input,
    },
    /// Takes a waiting input back.
    DropQueued {
        /// Which.
        item: QueuedId,
    },
    /// Sets how many inputs a turn takes.
    SetQueueMode {
        /// Which queue.
        kind: QueueKind,
        /// How many.
        mode: Mode,
    },
    /// Stops a run. Without an id: the one under way, if any.
    Cancel {
        /// Which run.
        run: Option<RunId>,
        /// Why.
        reason: Option<String>,
    },
    /// Answers an ask.
    Answer {
        /// Which.
        ask: AskId,
        /// What.
        answer: Answer,
    },
    /// Makes a session and goes there.
    NewSession {
        /// Working directory; the runtime's own if `None`.
        cwd: Option<String>,
        /// Its title.
        title: Option<String>,
        /// The id it should get, where a wire names it.
        id: Option<SessionId>,
    },
    /// Goes to a session.
    OpenSession {
        /// Which.
        session: SessionId,
    },
    /// Makes a session that begins with the path of another up to an entry, and goes there.
    BranchSession {
        /// Which; the current one if `None`.
        session: Option<SessionId>,
        /// Up to here; its leaf if `None`.
        at: Option<EntryId>,
    },
    /// Leaves a session.
    CloseSession,
    /// Gives it a title.
    RenameSession {
        /// The title.
        title: String,
    },
    /// Takes it away for good.
    DeleteSession {
        /// Which.
        session: SessionId,
    },
    /// Begins anew on an empty branch; nothing is destroyed.
    ClearSession,
    /// Moves the tip.
    SetLeaf {
        /// To here; `None` is the empty conversation.
        leaf: Option<EntryId>,
    },
    /// Puts a summary in the place of older entries.
    Compact {
        /// What to keep in mind.
        instruction: Option<String>,
    },
    /// Lists sessions, newest first.
    ListSessions {
        /// Which.
        scope: ListScope,
        /// How many at most; `None` is all.
        limit: Option<u64>,
        /// Words that must occur in them.
        search: Option<String>,
    },
    /// The events of the last runs.
    History {
        /// Of which session.
        session: SessionId,
        /// How many runs at most.
        max_runs: u64,
        /// How many events at most; the newest are kept.
        max_events: u64,
    },
    /// The numbers of the session.
    Stats,
    /// Writes the session to a JSON file.
    SaveSession {
        /// Where.
        path: Option<String>,
        /// With the messages.
        history: bool,
    },
    /// Reads a session from a JSON file and goes there.
    LoadSession {
        /// Where.
        path: String,
    },
    /// The session as a text.
    ExportSession {
        /// Which; the current one if `None`.
        session: Option<SessionId>,
        /// How.
        format: ExportFormat,
    },
    /// The models there are.
    ListModels {
        /// Of one provider only.
        provider: Option<String>,
    },
    /// Takes another model, between runs.
    SetModel {
        /// Which; the provider may be left open.
        provider: Option<String>,
        /// Its name.
        name: String,
    },
    /// Takes another policy mode.
    SetPolicy {
        /// Which.
        policy: Policy,
    },
    /// The MCP servers there are.
    ListServers,
    /// The skills there are.
    ListSkills {
        /// As seen from here.
        cwd: Option<String>,
        /// Look again.
        reload: bool,
    },
    /// The tools there are.
    ListTools,
    /// Which tools the model may use; `None` means all.
    SetTools {
        /// Their names.
        tools: Option<Vec<String>>,
    },
    /// What the UI knows about where the person works.
    UpdateContext(UiContext),
    /// A command that an extension answers.
    Extension {
        /// Its name.
        name: String,
        /// Its argument.
        payload: Json,
    },
}

/// What a UI gets when its command was taken.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Receipt {
    /// Done; there is nothing to tell.
    Done,
    /// A run began.
    Started {
        /// In which session.
        session: SessionId,
        /// Which run.
        run: RunId,
    },
    /// The input waits.
    Queued {
        /// Its id.
        item: QueuedId,
        /// The run it waits for.
        run: RunId,
    },
    /// The run is being stopped, or had ended.
    Cancelling {
        /// Which, and how it ended if it had.
        run: RunSummary,
    },
    /// The UI is at this session now.
    Session {
        /// Which.
        session: SessionSummary,
        /// The one it branched from.
        parent: Option<SessionId>,
    },
    /// A list of sessions.
    Sessions(Vec<SessionSummary>),
    /// The tip stands here.
    Leaf(Option<EntryId>),
    /// Events of the past.
    History(History),
    /// Numbers.
    Stats(Stats),
    /// Written to a file.
    Saved {
        /// Where.
        path: String,
        /// Bytes.
        size: u64,
    },
    /// A session as a text.
    Exported {
        /// How.
        format: ExportFormat,
        /// The text.
        text: String,
    },
    /// Models and the current one.
    Models {
        /// All.
        models: Vec<ModelEntry>,
        /// The one in use.
        current: Option<ModelRef>,
    },
    /// The model in use.
    Model(ModelRef),
    /// MCP servers.
    Servers(Vec<ServerEntry>),
    /// Skills.
    Skills(SkillList),
    /// Tools.
    Tools(Vec<ToolEntry>),
    /// A summary stands in the place of older entries.
    Compacted {
        /// The entry that holds it.
        entry: EntryId,
        /// The summary.
        compaction: Compaction,
    },
    /// What an extension answered.
    Extension(Json),
}

/// Events of the past.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct History {
    /// How many runs they are of.
    pub runs: u64,
    /// The events.
    pub events: Vec<Event>,
    /// Whether older ones were left out.
    pub truncated: bool,
}

/// Why a command was not taken. `kind` is for programs, `message` and `hint` are for people.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Refusal {
    /// For programs.
    pub kind: RefusalKind,
    /// What is wrong.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

/// Why, for programs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RefusalKind {
    /// A run is under way.
    Busy,
    /// No run is under way.
    NoRun,
    /// No such run.
    RunUnknown,
    /// No such session.
    SessionUnknown,
    /// No such entry.
    EntryUnknown,
    /// No such ask.
    AskUnknown,
    /// The ask is over.
    AskOver,
    /// No such waiting input.
    QueuedUnknown,
    /// No such model.
    ModelUnknown,
    /// No such tool.
    ToolUnknown,
    /// No such extension.
    ExtensionUnknown,
    /// There is too little to compact.
    NothingToCompact,
    /// This UI may not.
    NotAllowed,
    /// Something in the command is wrong.
    Invalid,
    /// This runtime cannot.
    Unsupported,
    /// Too many at once.
    TooMany,
    /// The disk said no.
    Storage,
    /// It took too long.
    TimedOut,
    /// The foreign runtime is gone.
    Lost,
    /// The foreign runtime said no, in its own words.
    Remote {
        /// Its code.
        code: String,
    },
    /// A defect of ours.
    Internal,
}

impl Refusal {
    /// A refusal without a hint.
    pub fn new(kind: RefusalKind, message: impl Into<String>) -> Refusal {
        Refusal { kind, message: message.into(), hint: None }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Refusal {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Refusal {}
