//! Commands: what a UI wants; receipts and refusals: what it gets.

mod answer;
mod flat;

use crate::ask::Answer;
use crate::content::{Input, Json};
use crate::ids::{AskId, EntryId, QueuedId, RunId, SessionId, ToolRunId, TurnId};
use crate::offer::Offer;
use crate::queue::{Mode, QueueKind};
use crate::session::{Budget, Effort, Policy};
use crate::signal::UiContext;
use crate::tool::ToolResult;
use serde::{Deserialize, Serialize};

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

/// The extension command by which a person sees at which ports commands of the session listen, in a network of the session's own, and leads
/// one out to their machine. Our own agent answers it; what it takes and gives is told in the native protocol.
pub const PORTS: &str = "parlor/ports";

/// The extension command by which a UI says that a question is on its screen. The hub takes it; its form is that of [`shown`].
pub const SHOWN: &str = "parlor/shown";

/// The command that says that a question is on the screen.
pub fn shown(ask: AskId) -> Command {
    let payload = Json::verbatim(format!(r#"{{"ask":{}}}"#, ask.0));
    Command::Extension { name: SHOWN.to_owned(), payload }
}

/// The question that a command says is on a screen; `None` for any other command.
pub fn is_shown(command: &Command) -> Option<AskId> {
    #[derive(Deserialize)]
    struct Shown {
        ask: AskId,
    }
    let Command::Extension { name, payload } = command else { return None };
    let shown = (name == SHOWN).then(|| serde_json::from_str::<Shown>(payload.as_str()));
    shown?.ok().map(|shown| shown.ask)
}

/// Which session a command is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The UI's current one; a new one if it has none.
    #[default]
    Current,
    Session(SessionId),
}

/// What to do with a prompt while a run is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum WhenBusy {
    #[default]
    Refuse,
    /// Queue it as a follow-up.
    Queue,
}

/// How a prompt is to be run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptOptions {
    /// Continue from this entry instead of the leaf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<EntryId>,
    /// While a run is under way.
    #[serde(default)]
    pub when_busy: WhenBusy,
    /// Most tokens of one answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Thousandths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<u32>,
    /// Whether the model may use tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// Every tool is asked for first, also one that only looks, whatever the mode says. Rules that the person made still count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ask_first: bool,
    /// Tools that the UI performs itself, for as long as the run lasts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<Offer>,
}

/// Which sessions a list holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum ListScope {
    /// Those of one project; `None` is the current one.
    Project(Option<String>),
    #[default]
    All,
}

/// How a session is written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// Readable text.
    Markdown,
    /// One page.
    Html,
    /// Lossless records.
    Jsonl,
}

/// What a UI wants.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::flat))]
#[serde(remote = "Self", rename_all = "snake_case")]
pub enum Command {
    /// Sets the model to work, or stops it.
    #[serde(skip_deserializing)]
    Run(RunCommand),
    /// About inputs that wait.
    #[serde(skip_deserializing)]
    Queue(QueueCommand),
    /// About the sessions there are.
    #[serde(skip_deserializing)]
    Library(LibraryCommand),
    /// About the session itself.
    #[serde(skip_deserializing)]
    Session(SessionCommand),
    /// What there is to choose from.
    #[serde(skip_deserializing)]
    List(ListCommand),
    /// Command lines of the person's own.
    #[serde(skip_deserializing)]
    Shell(ShellCommand),
    /// What turns of this session did to files.
    #[serde(skip_deserializing)]
    Files(FilesCommand),
    /// A tool that this UI offers was called, and this came of it.
    Performed {
        tool: ToolRunId,
        /// Whether it did not work; the result then says why.
        #[serde(default)]
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
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "snake_case")]
pub enum RunCommand {
    /// Starts a run.
    Prompt {
        input: Input,
        #[serde(default)]
        options: PromptOptions,
    },
    /// Stops a run. Without an id: the one under way, if any.
    Cancel {
        #[serde(skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Puts a summary in the place of older entries.
    Compact {
        /// What to keep in mind.
        #[serde(skip_serializing_if = "Option::is_none")]
        instruction: Option<String>,
    },
}

/// About inputs that wait for the run under way.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "snake_case")]
pub enum QueueCommand {
    /// Adds an input to a queue of the run under way.
    #[serde(rename = "enqueue")]
    Add { kind: QueueKind, input: Input },
    /// Rewrites a waiting input.
    #[serde(rename = "edit_queued")]
    Edit {
        item: QueuedId,
        /// The new input.
        input: Input,
    },
    /// Takes a waiting input back.
    #[serde(rename = "drop_queued")]
    Drop { item: QueuedId },
    /// Sets how many inputs a turn takes.
    #[serde(rename = "set_queue_mode")]
    SetMode { kind: QueueKind, mode: Mode },
}

/// About the sessions there are: these need more than the one that the UI is at.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "snake_case")]
pub enum LibraryCommand {
    /// Makes a session and goes there.
    #[serde(rename = "new_session")]
    New {
        /// Working directory; the runtime's own if `None`.
        #[serde(skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The id it should get, where a wire names it.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<SessionId>,
    },
    /// Goes to a session.
    #[serde(rename = "open_session")]
    Open { session: SessionId },
    /// Makes a session that begins with the path of another up to an entry, and goes there.
    #[serde(rename = "branch_session")]
    Branch {
        /// Which; the current one if `None`.
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// Up to here; its leaf if `None`.
        #[serde(skip_serializing_if = "Option::is_none")]
        at: Option<EntryId>,
    },
    /// Takes it away for good.
    #[serde(rename = "delete_session")]
    Delete { session: SessionId },
    /// Lists sessions, newest first.
    #[serde(rename = "list_sessions")]
    List {
        #[serde(default)]
        scope: ListScope,
        /// How many at most; `None` is all.
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<u64>,
        /// Words that must occur in them.
        #[serde(skip_serializing_if = "Option::is_none")]
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
    #[serde(rename = "export_session")]
    Export {
        /// Which; the current one if `None`.
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        format: ExportFormat,
    },
    /// Writes the session to a JSON file.
    #[serde(rename = "save_session")]
    Save {
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// With the messages.
        #[serde(default)]
        history: bool,
    },
    /// Reads a session from a JSON file and goes there.
    #[serde(rename = "load_session")]
    Load { path: String },
}

/// About the session that the UI is at.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum SessionCommand {
    /// Leaves a session.
    #[serde(rename = "close_session")]
    Close,
    /// Gives it a title.
    #[serde(rename = "rename_session")]
    Rename { title: String },
    /// Begins anew on an empty branch; nothing is destroyed.
    #[serde(rename = "clear_session")]
    Clear,
    /// Moves the tip.
    SetLeaf {
        /// To here; `None` is the empty conversation.
        #[serde(skip_serializing_if = "Option::is_none")]
        leaf: Option<EntryId>,
    },
    /// The numbers of the session.
    Stats,
    /// Takes another model, between runs.
    SetModel {
        /// Which; the provider may be left open.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        name: String,
    },
    /// Lets the model think harder or less hard, between runs; `None` leaves it to the provider.
    SetEffort {
        #[serde(skip_serializing_if = "Option::is_none")]
        effort: Option<Effort>,
    },
    /// What may be spent from the next prompt on.
    SetBudget { budget: Budget },
    /// Takes another policy mode.
    SetPolicy { policy: Policy },
    /// Which tools the model may use; `None` means all.
    SetTools {
        /// Their names.
        #[serde(skip_serializing_if = "Option::is_none")]
        tools: Option<Vec<String>>,
    },
}

/// What there is to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum ListCommand {
    #[serde(rename = "list_models")]
    Models {
        /// Of one provider only.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
    },
    /// The MCP servers there are.
    #[serde(rename = "list_servers")]
    Servers,
    #[serde(rename = "list_skills")]
    Skills {
        /// As seen from here.
        #[serde(skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        /// Look again.
        #[serde(default)]
        reload: bool,
    },
    /// Our own, those of MCP servers, and those that a UI offers.
    #[serde(rename = "list_tools")]
    Tools,
}

/// What turns of this session did to files: taken back, done again, shown. What others did to them since is merged, or nothing is done.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "snake_case")]
pub enum FilesCommand {
    /// Takes back what the last prompt did.
    #[serde(rename = "undo_files")]
    Undo {
        /// Files that cannot be merged are left as they are, and the others are done.
        #[serde(default)]
        leave: bool,
    },
    /// Does again what was taken back last.
    #[serde(rename = "redo_files")]
    Redo {
        /// As for undo.
        #[serde(default)]
        leave: bool,
    },
    /// Takes back what some turns did and does again what others did: the way to another branch of the conversation.
    #[serde(rename = "go_files")]
    Go {
        #[serde(default)]
        back: Vec<TurnId>,
        #[serde(default)]
        forth: Vec<TurnId>,
        /// As for undo.
        #[serde(default)]
        leave: bool,
    },
    /// Changes nothing; the receipt holds the text, in the usual form.
    #[serde(rename = "diff_files")]
    Diff { since: DiffSince },
}

/// Since when a diff tells what changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum DiffSince {
    /// The last prompt that changed files.
    Prompt,
    /// The beginning of the session.
    Start,
    /// The last commit, as git tells it.
    Commit,
}

/// Command lines of the person's own, beside the conversation, and what goes on in the background.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum ShellCommand {
    /// Runs a line that the person typed, and waits for its end. Nobody is asked: whoever could be has said it.
    #[serde(rename = "run_line")]
    Run {
        line: String,
        /// Where; the working directory of the session if `None`.
        #[serde(skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        /// Most seconds that it may take.
        #[serde(skip_serializing_if = "Option::is_none")]
        seconds: Option<u64>,
    },
    /// Starts a line in the background, by the rules that hold for the model's own commands.
    #[serde(rename = "start_job")]
    Start {
        line: String,
        /// Where; the working directory of the session if `None`.
        #[serde(skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        /// Whether the person typed it: then nobody is asked, as for `run_line`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        typed: bool,
    },
    /// What runs in the background, and what ran.
    #[serde(rename = "list_jobs")]
    Jobs,
    /// One of them, with what it has written.
    #[serde(rename = "read_job")]
    Job {
        job: String,
        /// Waits this many seconds for its end.
        #[serde(skip_serializing_if = "Option::is_none")]
        wait: Option<u64>,
    },
    /// Ends one of them.
    #[serde(rename = "stop_job")]
    Stop { job: String },
}
