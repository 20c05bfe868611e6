//! Commands: what a UI wants; receipts and refusals: what it gets.

mod answer;

use crate::ask::Answer;
use crate::content::{Input, Json};
use crate::ids::{AskId, EntryId, QueuedId, RunId, SessionId, ToolRunId, TurnId};
use crate::offer::Offer;
use crate::queue::{Mode, QueueKind};
use crate::session::{Budget, Effort, Policy};
use crate::signal::UiContext;
use crate::tool::ToolResult;

pub use crate::refusal::{Refusal, RefusalKind};
pub use answer::{History, Receipt};

/// The extension command that every agent of ours answers itself: the keys that the person has given are forgotten. The answer is a list
/// of whose they were.
pub const FORGET_KEYS: &str = "parlor/forget-keys";

/// The extension command by which a UI sees, narrows and revokes what the person has allowed for good. Our own agent answers it; what it
/// takes and gives is told in the native protocol.
pub const RULES: &str = "parlor/rules";

/// The extension command by which a UI that is elsewhere learns which files there are in the session's folder, so that a person can name
/// one. Our own agent answers it; what it gives is told in the native protocol.
pub const FILES: &str = "parlor/files";

/// The extension command by which a person lets an MCP server reach something, or takes that back; the server is then started again. Our
/// own agent answers it; what it takes is told in the native protocol.
pub const SERVER_REACH: &str = "parlor/server-reach";

/// Which session a command is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Target {
    /// The UI's current one; a new one if it has none.
    #[default]
    Current,
    Session(SessionId),
}

/// What to do with a prompt while a run is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WhenBusy {
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
    /// Every tool is asked for first, also one that only looks, whatever the mode says. Rules that the person made still count.
    pub ask_first: bool,
    /// Tools that the UI performs itself, for as long as the run lasts.
    pub offers: Vec<Offer>,
}

/// Which sessions a list holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum ListScope {
    /// Those of one project; `None` is the current one.
    Project(Option<String>),
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
    /// Sets the model to work, or stops it.
    Run(RunCommand),
    /// About inputs that wait.
    Queue(QueueCommand),
    /// About the sessions there are.
    Library(LibraryCommand),
    /// About the session itself.
    Session(SessionCommand),
    /// What there is to choose from.
    List(ListCommand),
    /// Command lines of the person's own.
    Shell(ShellCommand),
    /// What turns of this session did to files.
    Files(FilesCommand),
    /// A tool that this UI offers was called, and this came of it.
    Performed {
        tool: ToolRunId,
        /// Whether it did not work; the result then says why.
        failed: bool,
        result: ToolResult,
    },
    Answer {
        ask: AskId,
        answer: Answer,
    },
    /// What the UI knows about where the person works.
    UpdateContext(UiContext),
    /// A command that an extension answers.
    Extension {
        name: String,
        /// Its argument.
        payload: Json,
    },
}

/// Sets the model to work, or stops it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RunCommand {
    /// Starts a run.
    Prompt { input: Input, options: PromptOptions },
    /// Stops a run. Without an id: the one under way, if any.
    Cancel {
        run: Option<RunId>,
        /// Why.
        reason: Option<String>,
    },
    /// Puts a summary in the place of older entries.
    Compact {
        /// What to keep in mind.
        instruction: Option<String>,
    },
}

/// About inputs that wait for the run under way.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum QueueCommand {
    /// Adds an input to a queue of the run under way.
    Add { kind: QueueKind, input: Input },
    /// Rewrites a waiting input.
    Edit {
        item: QueuedId,
        /// The new input.
        input: Input,
    },
    /// Takes a waiting input back.
    Drop { item: QueuedId },
    /// Sets how many inputs a turn takes.
    SetMode { kind: QueueKind, mode: Mode },
}

/// About the sessions there are: these need more than the one that the UI is at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LibraryCommand {
    /// Makes a session and goes there.
    New {
        /// Working directory; the runtime's own if `None`.
        cwd: Option<String>,
        title: Option<String>,
        /// The id it should get, where a wire names it.
        id: Option<SessionId>,
    },
    /// Goes to a session.
    Open { session: SessionId },
    /// Makes a session that begins with the path of another up to an entry, and goes there.
    Branch {
        /// Which; the current one if `None`.
        session: Option<SessionId>,
        /// Up to here; its leaf if `None`.
        at: Option<EntryId>,
    },
    /// Takes it away for good.
    Delete { session: SessionId },
    /// Lists sessions, newest first.
    List {
        scope: ListScope,
        /// How many at most; `None` is all.
        limit: Option<u64>,
        /// Words that must occur in them.
        search: Option<String>,
    },
    /// The events of the last runs.
    History {
        session: SessionId,
        /// How many runs at most.
        max_runs: u64,
        /// How many events at most; the newest are kept.
        max_events: u64,
    },
    /// The session as a text.
    Export {
        /// Which; the current one if `None`.
        session: Option<SessionId>,
        format: ExportFormat,
    },
    /// Writes the session to a JSON file.
    Save {
        path: Option<String>,
        /// With the messages.
        history: bool,
    },
    /// Reads a session from a JSON file and goes there.
    Load { path: String },
}

/// About the session that the UI is at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SessionCommand {
    /// Leaves a session.
    Close,
    /// Gives it a title.
    Rename { title: String },
    /// Begins anew on an empty branch; nothing is destroyed.
    Clear,
    /// Moves the tip.
    SetLeaf {
        /// To here; `None` is the empty conversation.
        leaf: Option<EntryId>,
    },
    /// The numbers of the session.
    Stats,
    /// Takes another model, between runs.
    SetModel {
        /// Which; the provider may be left open.
        provider: Option<String>,
        name: String,
    },
    /// Lets the model think harder or less hard, between runs; `None` leaves it to the provider.
    SetEffort { effort: Option<Effort> },
    /// What may be spent from the next prompt on.
    SetBudget { budget: Budget },
    /// Takes another policy mode.
    SetPolicy { policy: Policy },
    /// Which tools the model may use; `None` means all.
    SetTools {
        /// Their names.
        tools: Option<Vec<String>>,
    },
}

/// What there is to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ListCommand {
    Models {
        /// Of one provider only.
        provider: Option<String>,
    },
    /// The MCP servers there are.
    Servers,
    Skills {
        /// As seen from here.
        cwd: Option<String>,
        /// Look again.
        reload: bool,
    },
    Tools,
}

/// What turns of this session did to files: taken back, done again, shown. What others did to them since is merged, or nothing is done.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FilesCommand {
    /// Takes back what the last prompt did.
    Undo {
        /// Files that cannot be merged are left as they are, and the others are done.
        leave: bool,
    },
    /// Does again what was taken back last.
    Redo {
        /// As for undo.
        leave: bool,
    },
    /// Takes back what some turns did and does again what others did: the way to another branch of the conversation.
    Go {
        back: Vec<TurnId>,
        forth: Vec<TurnId>,
        /// As for undo.
        leave: bool,
    },
    /// Changes nothing; the receipt holds the text, in the usual form.
    Diff { since: DiffSince },
}

/// Since when a diff tells what changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DiffSince {
    /// The last prompt that changed files.
    Prompt,
    /// The beginning of the session.
    Start,
    /// The last commit, as git tells it.
    Commit,
}

/// Command lines of the person's own, beside the conversation, and what goes on in the background.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ShellCommand {
    /// Runs a line that the person typed, and waits for its end. Nobody is asked: whoever could be has said it.
    Run {
        line: String,
        /// Where; the working directory of the session if `None`.
        cwd: Option<String>,
        /// Most seconds that it may take.
        seconds: Option<u64>,
    },
    /// Starts a line in the background, by the rules that hold for the model's own commands.
    Start {
        line: String,
        /// Where; the working directory of the session if `None`.
        cwd: Option<String>,
    },
    /// What runs in the background, and what ran.
    Jobs,
    /// One of them, with what it has written.
    Job {
        job: String,
        /// Waits this many seconds for its end.
        wait: Option<u64>,
    },
    /// Ends one of them.
    Stop { job: String },
}
