//! What comes into the core and what goes out of it.

use super::{Answer, Request, RequestId, Standing};
use domain::command::{Command, Receipt, Refusal, Target};
use domain::event::Event;
use domain::fact::Fact;
use domain::given_server::GivenServer;
use domain::ids::{AskId, Millis, SessionId, UiId};
use domain::port::{Abilities, Order, Report, Ticket};
use domain::signal::{Board, Signal};
use domain::state::State;
use domain::ui_files::{FileAnswer, FileRequest, FileRequestId, UiFiles};
use roles::Answers;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Something that came in.
#[derive(Debug)]
pub enum CoreInput {
    /// A UI is there.
    Arrived {
        /// Its number.
        ui: UiId,
        /// Its name, for the record.
        name: String,
        /// What it can answer.
        answers: Answers,
        /// What it may do.
        standing: Standing,
    },
    /// What a UI can answer has changed, for instance with its handshake.
    Answers { ui: UiId, answers: Answers },
    /// What a UI wants to be held to; `None` while nobody knows what it is held to elsewhere.
    Rights { ui: UiId, asked: Option<Standing> },
    /// What a UI does with files on our behalf has changed.
    Files { ui: UiId, files: UiFiles },
    /// A UI has answered [`CoreEffect::File`].
    FileDone { ui: UiId, id: FileRequestId, with: FileAnswer },
    /// A UI brings MCP servers for a session.
    Servers { ui: UiId, session: SessionId, servers: Vec<GivenServer> },
    /// A UI cannot be asked something, though it was.
    CannotAnswer { ui: UiId, session: SessionId, ask: AskId },
    /// A UI may come back to a session by its id.
    Keep { session: SessionId },
    /// A UI wants something.
    Command {
        ui: UiId,
        ticket: Ticket,
        /// About which session.
        target: Target,
        command: Command,
    },
    /// A UI only watches which sessions are open: it is shown none.
    Apart { ui: UiId },
    /// A UI is gone, and may come back to what it left.
    Left { ui: UiId },
    /// A UI is gone for good: the runs that only it wanted are stopped.
    Gone { ui: UiId },
    /// The engine says something.
    Report(Report),
    /// A lossless runtime behind us showed its session.
    Mirror {
        session: SessionId,
        state: Box<State>,
        /// Its lasting signals.
        board: Board,
    },
    /// A lossless runtime behind us told an event.
    MirrorEvent { session: SessionId, event: Arc<Event> },
    /// What the runtime behind us can do.
    Abilities(Abilities),
    /// The foreign runtime is gone.
    Lost,
    /// What a foreign runtime calls the session where it works.
    Named { session: SessionId, name: Arc<str> },
    /// What a foreign runtime tells of the past of a session.
    Told { session: SessionId, facts: Vec<Fact> },
    /// What was asked for ([`CoreEffect::Fetch`]) is there, or why it is not.
    Answered {
        id: RequestId,
        /// What came of it.
        with: Result<Answer, Refusal>,
    },
    /// A session was taken away after all, when its request had been given up.
    Deleted { session: SessionId },
    /// The process that has a visited session is gone, or the way there.
    VisitOver { session: SessionId, why: String },
    /// That has been told: the session is not here any more.
    VisitForgotten { session: SessionId },
    /// Another process may write a session of ours, so it is no longer ours to go on with.
    LeaseLost { session: SessionId, why: String },
    /// That has been told: the session is not here any more.
    LeaseForgotten { session: SessionId },
    /// The program ends: what is under way is closed, so that nobody takes it for going on.
    Ending,
    /// Time has passed.
    Tick {
        /// Sessions about which something waits that came before: their deadlines are looked at after that.
        except: BTreeSet<SessionId>,
    },
}

/// Something to be done.
#[derive(Debug)]
pub enum CoreEffect {
    /// Keep these, before anything after is told.
    Append {
        session: SessionId,
        event: Arc<Event>,
    },
    /// The UI now sees the session and works there.
    Attach {
        ui: UiId,
        session: SessionId,
    },
    /// What this UI was told of the session that is open, ends: the session is no longer ours.
    CutShort {
        ui: UiId,
        session: SessionId,
    },
    /// The UI no longer sees the session.
    Detach {
        ui: UiId,
        session: SessionId,
    },
    /// Tell an event to a UI.
    Event {
        ui: UiId,
        session: SessionId,
        event: Arc<Event>,
    },
    /// What the runtime behind us can do has changed: tell a UI.
    Abilities {
        ui: UiId,
    },
    /// Tell a one-way word to a UI.
    Signal {
        ui: UiId,
        session: SessionId,
        /// The word.
        signal: Signal,
    },
    /// Have a UI do something with a file.
    File {
        ui: UiId,
        session: SessionId,
        id: FileRequestId,
        request: FileRequest,
    },
    /// Keep a session, also if nothing is said in it.
    Keep {
        session: SessionId,
    },
    /// A command of a UI is settled.
    Settle {
        ui: UiId,
        ticket: Ticket,
        with: Result<Receipt, Refusal>,
        /// A session whose content the receipt holds: it is told once that is kept.
        about: Option<SessionId>,
    },
    /// Read or write this; the answer comes as [`CoreInput::Answered`].
    Fetch {
        /// Names the answer.
        id: RequestId,
        request: Request,
    },
    /// Look for the process that has this session open; how it stands there comes as [`CoreInput::Answered`].
    Visit {
        id: RequestId,
        session: SessionId,
        /// Whether questions can be answered here.
        answers: bool,
    },
    /// Nobody here sees a visited session any more.
    Leave {
        session: SessionId,
    },
    /// The store may let go of a session: who it was opened for has left, or whoever had it has closed it.
    Release {
        session: SessionId,
    },
    /// A session came to nothing: what the store does not hold of it is let go.
    Unwritten {
        session: SessionId,
    },
    /// A session is kept by somebody else, or cannot be kept: it is left out.
    LeaveOut {
        session: SessionId,
        why: String,
    },
    /// Tell the engine.
    Order(Order),
    /// Call with [`CoreInput::Tick`] at this time.
    Wake(Millis),
    /// Let the foreign runtime go, with what the person is told.
    LetGo(String),
    /// Take this input once everything before it has been told.
    Again(Box<CoreInput>),
    Log(String),
}
