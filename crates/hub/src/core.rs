//! The hub's core: sessions, runs, queues, asks and who is attached, as one state machine without I/O.
//!
//! [`Core::step`] takes one input and says what is to be done ([`CoreEffect`]), in order. Who runs it appends to the store first and then
//! performs the rest, so that nothing is told before it is kept. What has to be read first is asked for ([`CoreEffect::Fetch`]) and comes back
//! as an input ([`CoreInput::Answered`]); until then [`Core::is_away`] and [`Core::is_moving`] say which inputs have to wait.
//!
//! Invariants: a session comes into being whole (opened, loaded, branched, mirrored) and then changes only by [`Core::emit_at`] or, in
//! front of a lossless runtime, by following that runtime's own events (`core/follow.rs`); every command is settled exactly once; what
//! an engine says of a run that is over is dropped.

mod asks;
mod attached_uis;
mod engine;
mod files;
mod follow;
mod foreign_history;
mod foreign_policy;
mod library;
mod loading;
mod messages;
mod offers;
mod pending;
mod present;
mod recall;
mod runs;
mod secrets;
mod session_names;
mod sessions;
mod setup;
mod shown;
mod visits;

use domain::canon::Canon;
use domain::command::{
    Command, FilesCommand, QueueCommand, Receipt, Refusal, RefusalKind, RunCommand, SessionCommand, Target,
    is_shown,
};
use domain::event::{Body, Event, Failure, NoteEvent, QueueEvent, RunEvent, SessionEvent};
use domain::fact::Key;
use domain::given_server::GivenServer;
use domain::grammar::Grammar;
use domain::ids::{AskId, EntryId, Ids, MessageId, Millis, QueuedId, RunId, SessionId, UiId};
use domain::port::menu::AgentMenu;
use domain::port::{Abilities, Order, Report, Ticket};
use domain::secret::{Secrets, Veil};
use domain::session::{Origin, Policy};
use domain::signal::{Board, Level, Signal, UiContext};
use domain::state::State;
use domain::ui_files::{FileRequestId, UiFiles};
use roles::Answers;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use domain::rights::Standing;
pub use engine::Engine;
pub use foreign_policy::{ACTED_UNASKED, acted_unasked};
pub(crate) use library::Concerns;
pub use library::{Answer, Import, Request, RequestId, imported};
pub use messages::{CoreEffect, CoreInput};
pub use present::{AttachedUi, LiveSession};
pub use setup::{GivenBudget, Setup, Sharing};
pub use shown::SHOWN_WITHIN_MS;
pub use visits::MAX_VISITS;

/// How long an engine may take to end a run that was cancelled, before the hub closes it without the engine.
pub const CANCEL_GRACE_MS: u64 = 2_000;
/// Most UIs attached at once.
pub const MAX_UIS: usize = 256;
/// Commands that may wait for an engine's answer.
pub const MAX_CONSULTED: usize = 4096;
/// Commands of one UI that may wait for the store or for a file; past it they are refused as too many.
pub const MAX_REQUESTS: usize = 256;
/// The same for all UIs together, those that have left meanwhile included.
pub const MAX_ALL_REQUESTS: usize = MAX_REQUESTS * MAX_UIS;
/// Bytes of text that the commands which wait for the store or for a file may hold together; past it they are refused as too many,
/// unless nothing else waits.
pub const MAX_REQUEST_BYTES: usize = 32 * 1024 * 1024;
/// Text and events of a session on a lossless wire that are kept, in bytes. Nothing can be left out of it without becoming another
/// session, so past this the runtime is let go.
pub const MAX_MIRRORED: usize = 128 * 1024 * 1024;
/// The longest message that a lossless runtime may stream, in bytes: no model writes more, and no screen can show it.
pub const MAX_STREAMED: usize = 8 * 1024 * 1024;
/// Most of an event that is logged.
const MAX_LOGGED: usize = 400;
/// Why nothing is taken back for a runtime that is not ours.
const FILES_NOT_KEPT: &str = "only what Parlor's own agent does to files is kept: this runtime's changes cannot be shown or taken back here";
const FILES_ELSEWHERE: &str = "use git, or what the runtime itself offers";

/// A session that is open here.
#[derive(Debug)]
pub(crate) struct Live {
    /// Who does its runs: another process does those of a session that is visited.
    engine: Engine,
    pub(crate) state: State,
    pub(crate) board: Board,
    ids: Ids,
    canon: Option<Canon>,
    /// When a run that was asked to stop is closed by force.
    cancel_by: Option<Millis>,
    /// Tools that a UI performs in the run under way.
    offered: Option<offers::Offered>,
    ui_context: UiContext,
    /// A UI has asked something in it, and may know it by its id.
    is_known: bool,
    /// Who began the last run.
    prompter: Option<UiId>,
    /// Since when its last turn is under way.
    turn_since: Millis,
    /// When questions are over that the UI which began the run cannot answer.
    limits: Vec<shown::AskLimit>,
    /// Its last UI closed it while a run was under way: it is let go when that has ended.
    is_closing: bool,
    /// MCP servers that a UI brought.
    given_servers: Vec<GivenServer>,
    grammar: Option<Grammar>,
    /// What was typed into questions for secrets.
    secrets: Secrets,
    veil: Veil,
    /// The last event of a lossless runtime, while it may end in the beginning of a secret.
    waiting: Option<Arc<Event>>,
    /// What the person allowed for the session, where the runtime does not keep that.
    granted: Vec<foreign_policy::Granted>,
    /// Tools of a foreign runtime about which nobody has to be asked, by its own names.
    cleared: BTreeSet<Key>,
    /// Whether something was said to the runtime here that sets it to work.
    works_for_us: bool,
    /// Whether a person said yes to something that is no consent, and nothing was done since.
    said_yes: bool,
    /// Who else can be asked in a mirrored session.
    sharing: Sharing,
    /// The last run of a mirrored session that was begun here.
    own_run: Option<RunId>,
    /// About how much a mirrored session holds.
    mirrored: usize,
    /// The message that is being streamed there, and how much of it came.
    streamed: Option<(MessageId, usize)>,
}

#[derive(Debug)]
struct Ui {
    name: String,
    current: Option<SessionId>,
    seen: BTreeSet<SessionId>,
    answers: Answers,
    standing: Standing,
    /// It may be held to less by whoever carries its lines.
    is_held_elsewhere: bool,
    files: UiFiles,
    /// Open asks that it cannot be asked, though it can answer others.
    unanswerable: BTreeSet<(SessionId, AskId)>,
    /// It only watches which sessions are open, and sees none.
    fleet_only: bool,
}

/// What to do when the engine settles a command.
#[derive(Debug)]
struct OpenConsultation {
    ui: UiId,
    ticket: Ticket,
    session: SessionId,
    command: Command,
    /// What is taken once the runtime is in the session that it was told to open.
    then: Option<Box<CoreInput>>,
}

/// Inputs that were given to a foreign runtime as its next prompt, and wait until it has taken them.
#[derive(Debug)]
struct GoingOn {
    session: SessionId,
    items: Vec<QueuedId>,
}

/// The hub's core.
#[derive(Debug)]
pub struct Core {
    setup: Setup,
    abilities: Abilities,
    /// A foreign runtime has told what it can do.
    has_told: bool,
    /// Why the lossless runtime behind us was let go, until it is gone.
    let_go_for: Option<Failure>,
    /// It is gone.
    is_lost: bool,
    /// Whether something was said to a foreign runtime that sets it to work.
    works_for_us: bool,
    /// What waits until the runtime has told what it can do.
    parked: Vec<CoreInput>,
    sessions: BTreeMap<SessionId, Live>,
    uis: BTreeMap<UiId, Ui>,
    consulted: BTreeMap<Ticket, OpenConsultation>,
    going_on: BTreeMap<Ticket, GoingOn>,
    /// What is done with each answer of the store.
    pending: pending::Pending,
    next_request: u64,
    next_ticket: u64,
    next_session: u64,
    /// Where a foreign runtime's conversation stands.
    runtime_session: Option<SessionId>,
    names: session_names::Names,
    /// Whose sessions these are, where those of a foreign runtime are kept.
    origin: Option<Origin>,
    finding: foreign_history::Finding,
    /// What UIs were asked to do with files.
    wanted_files: BTreeMap<FileRequestId, files::WantedFile>,
    accepted: bool,
    now: Millis,
    out: Vec<CoreEffect>,
}

impl Core {
    /// An empty hub.
    pub fn new(setup: Setup) -> Core {
        let abilities = Abilities { menu: Arc::new(setup.menu.clone()), ..setup.engine.abilities() };
        Core {
            setup,
            abilities,
            has_told: false,
            let_go_for: None,
            is_lost: false,
            works_for_us: false,
            parked: Vec::new(),
            sessions: BTreeMap::new(),
            uis: BTreeMap::new(),
            consulted: BTreeMap::new(),
            going_on: BTreeMap::new(),
            pending: pending::Pending::default(),
            next_request: 0,
            next_ticket: 0,
            next_session: 0,
            runtime_session: None,
            names: session_names::Names::default(),
            origin: None,
            finding: foreign_history::Finding::default(),
            wanted_files: BTreeMap::new(),
            accepted: true,
            now: Millis(0),
            out: Vec::new(),
        }
    }

    /// Makes the session that a foreign runtime's conversation stands in.
    pub fn runtime_session(&mut self, now: Millis) -> (Option<SessionId>, Vec<CoreEffect>) {
        self.now = now.max(self.now);
        if self.runtime_session.is_none() {
            self.runtime_session = self.create(None, None, None).ok();
        }
        (self.runtime_session.clone(), std::mem::take(&mut self.out))
    }

    /// Whether the last report was taken; `false` when its run is over or being stopped.
    pub fn accepted(&self) -> bool {
        self.accepted
    }

    /// Takes one input at a time; gives what is to be done, in order.
    pub fn step(&mut self, now: Millis, input: CoreInput) -> Vec<CoreEffect> {
        // A clock that jumps back must not make deadlines wait longer than they are.
        self.now = now.max(self.now);
        self.accepted = true;
        match input {
            CoreInput::Arrived { ui, name, answers, standing } => {
                let fresh = Ui {
                    name,
                    current: None,
                    seen: BTreeSet::new(),
                    answers,
                    standing,
                    is_held_elsewhere: false,
                    files: UiFiles::default(),
                    unanswerable: BTreeSet::new(),
                    fleet_only: false,
                };
                self.arrived(ui, fresh);
            }
            CoreInput::Answers { ui, answers } => {
                if let Some(ui) = self.uis.get_mut(&ui) {
                    ui.answers = answers;
                }
            }
            CoreInput::Rights { ui, asked } => {
                if let Some(ui) = self.uis.get_mut(&ui) {
                    ui.is_held_elsewhere = asked.is_none();
                    ui.standing = ui.standing.lowered_to(asked.unwrap_or(ui.standing));
                }
            }
            CoreInput::Files { ui, files } => {
                if let Some(ui) = self.uis.get_mut(&ui) {
                    ui.files = files;
                }
            }
            CoreInput::FileDone { ui, id, with } => self.file_done(ui, id, with),
            CoreInput::CannotAnswer { ui, session, ask } => self.cannot_answer(ui, &session, ask),
            CoreInput::Keep { session } => {
                let session = self.here(&session);
                if !self.is_visited(&session) {
                    self.out.push(CoreEffect::Keep { session });
                }
            }
            CoreInput::Servers { ui, session, servers } => self.take_servers(ui, &session, servers),
            CoreInput::Command { ui, ticket, target, command } => {
                self.take_command(ui, ticket, target, command);
            }
            CoreInput::Apart { ui } => self.set_apart(ui),
            CoreInput::Left { ui } => self.left(ui),
            CoreInput::Gone { ui } => self.gone(ui),
            CoreInput::Report(report) => self.report(report),
            CoreInput::Mirror { session, state, board } => self.mirror(session, *state, board),
            CoreInput::MirrorEvent { session, event } => self.mirror_event(&session, event),
            CoreInput::Abilities(abilities) => self.heed(abilities),
            CoreInput::Lost => self.lost(),
            CoreInput::Named { session, name } => self.named(&session, &name),
            CoreInput::Told { session, facts } => self.told(&session, facts),
            CoreInput::Answered { id, with } => {
                if let Some(with) = self.found(id, with) {
                    self.answered(id, with);
                }
            }
            CoreInput::Deleted { session } => self.deleted(&session),
            CoreInput::VisitOver { session, why } => self.visit_over(&session, &why),
            CoreInput::VisitForgotten { session } => self.forget_visit(&session),
            CoreInput::LeaseLost { session, why } => self.lease_lost(&session, &why),
            CoreInput::LeaseForgotten { session } => self.forget_lost(&session),
            CoreInput::Ending => self.end_all(),
            CoreInput::Tick { except } => self.tick(&except),
        }
        self.leave_unseen();
        std::mem::take(&mut self.out)
    }

    /// A session that is open here.
    pub fn state(&self, session: &SessionId) -> Option<&State> {
        self.sessions.get(session).map(|live| &live.state)
    }

    /// The lasting signals of a session that is open here.
    pub fn board(&self, session: &SessionId) -> Option<&Board> {
        self.sessions.get(session).map(|live| &live.board)
    }

    /// Where a UI works now.
    pub fn current(&self, ui: UiId) -> Option<&SessionId> {
        self.uis.get(&ui)?.current.as_ref()
    }

    /// The peer's ids of what is open in a followed session.
    pub fn names(&self, session: &SessionId) -> Option<&domain::canon::Names> {
        self.sessions.get(session)?.canon.as_ref().map(Canon::names)
    }

    /// Whether it is known what the runtime behind us can do: another program tells it with its handshake.
    pub fn knows_runtime(&self) -> bool {
        self.has_told || self.setup.engine.is_ours()
    }

    /// Whether a run is under way in any session.
    pub fn is_busy(&self) -> bool {
        self.own().any(|(_, live)| live.state.open_run().is_some())
    }

    /// Does what a command wants, or refuses it.
    fn take_command(&mut self, ui: UiId, ticket: Ticket, target: Target, command: Command) {
        if let Err(refusal) = self.command(ui, ticket, target, command) {
            self.settle(ui, ticket, Err(refusal));
        }
    }

    fn command(&mut self, ui: UiId, ticket: Ticket, target: Target, command: Command) -> Result<(), Refusal> {
        self.check_standing(ui, &command)?;
        if let Some(ask) = is_shown(&command) {
            return self.take_shown(ui, ticket, target, ask);
        }
        if self.is_too_early(&command) {
            return self.park(CoreInput::Command { ui, ticket, target, command });
        }
        let target = self.translated(target);
        if let Some(session) = self.elsewhere(ui, &target, &command) {
            let again = CoreInput::Command { ui, ticket, target: Target::Session(session.clone()), command };
            return self.go_first(ui, ticket, session, again);
        }
        if self.setup.engine.decides_all() {
            let session = match target {
                Target::Session(session) if self.sessions.contains_key(&session) => Some(session),
                Target::Session(_) | Target::Current => self.current(ui).cloned(),
            };
            return self.consult(ui, ticket, session.unwrap_or_else(|| SessionId::from_number(0)), command);
        }
        match command {
            Command::Library(command) => self.library_command(ui, ticket, &target, command),
            command => {
                let before = self.uis.get(&ui).map(|seat| seat.seen.clone()).unwrap_or_default();
                let Some(session) = self.target(ui, ticket, &target, &command)? else { return Ok(()) };
                if !before.contains(&session) {
                    // The UI must have been shown the session before anything happens there on its behalf. One that it has seen
                    // may act at once: else two commands for two sessions would put each other off for ever.
                    let target = Target::Session(session);
                    self.out.push(CoreEffect::Again(Box::new(CoreInput::Command {
                        ui,
                        ticket,
                        target,
                        command,
                    })));
                    return Ok(());
                }
                if let Some(live) = self.sessions.get_mut(&session) {
                    live.is_known = true;
                }
                self.in_session_aloud(ui, ticket, session, command)
            }
        }
    }

    fn in_session(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: SessionId,
        command: Command,
    ) -> Result<(), Refusal> {
        if self.is_visited(&session) {
            return self.in_visited(ui, ticket, session, command);
        }
        if matches!(command, Command::Files(_)) && !self.abilities.undo {
            return Err(Refusal::new(RefusalKind::Unsupported, FILES_NOT_KEPT).hint(FILES_ELSEWHERE));
        }
        if self.setup.engine.decides(&command, &self.abilities) {
            return self.consult(ui, ticket, session, command);
        }
        match command {
            Command::Run(RunCommand::Prompt { input, options }) => {
                self.prompt(ui, ticket, session, input, options)
            }
            Command::Queue(QueueCommand::Add { kind, input }) => {
                self.enqueue(ui, ticket, &session, kind, input)
            }
            Command::Queue(QueueCommand::Edit { item, input }) => {
                self.edit_queued(ui, ticket, &session, item, input)
            }
            Command::Queue(QueueCommand::Drop { item }) => self.drop_queued(ui, ticket, &session, item),
            Command::Queue(QueueCommand::SetMode { kind, mode }) => {
                self.emit(&session, Body::Queue(QueueEvent::ModeSet { kind, mode }));
                self.done(ui, ticket)
            }
            Command::Run(RunCommand::Cancel { run, .. }) => self.cancel(ui, ticket, &session, run),
            Command::Answer { ask, answer } => self.answer(ui, ticket, &session, ask, answer),
            Command::Session(SessionCommand::Close) => self.close_session(ui, ticket, &session),
            Command::Session(SessionCommand::Rename { title }) => {
                self.emit(&session, Body::Session(SessionEvent::Renamed { title }));
                self.done(ui, ticket)
            }
            Command::Session(SessionCommand::Clear) => self.set_leaf(ui, ticket, &session, None),
            Command::Session(SessionCommand::SetLeaf { leaf }) => self.set_leaf(ui, ticket, &session, leaf),
            Command::Session(SessionCommand::Stats) => {
                let stats = self.live(&session)?.state.stats();
                self.settle(ui, ticket, Ok(Receipt::Stats(stats)));
                Ok(())
            }
            Command::Session(SessionCommand::SetPolicy { policy }) if self.setup.engine.has_own_rules() => {
                self.hold_to(policy)?;
                self.done(ui, ticket)
            }
            Command::Session(SessionCommand::SetPolicy { policy }) => {
                if let (Policy::Sandboxed, Some(why)) = (policy, &self.setup.no_sandbox) {
                    return Err(Refusal::new(RefusalKind::Unsupported, why.clone()));
                }
                self.emit(&session, Body::Session(SessionEvent::PolicyChosen { policy }));
                self.out.push(CoreEffect::Order(Order::PolicyChanged { session, policy }));
                self.done(ui, ticket)
            }
            Command::Session(SessionCommand::SetBudget { .. }) if self.setup.engine.has_own_rules() => {
                let refusal = Refusal::new(RefusalKind::Unsupported, "this runtime keeps no budget of ours");
                Err(refusal.hint("set it where the runtime is started"))
            }
            Command::Session(SessionCommand::SetBudget { budget }) => {
                self.emit(&session, Body::Session(SessionEvent::BudgetChosen { budget }));
                self.done(ui, ticket)
            }
            Command::UpdateContext(context) => self.update_context(ui, ticket, &session, context),
            Command::Run(RunCommand::Compact { .. })
            | Command::Session(SessionCommand::SetModel { .. } | SessionCommand::SetEffort { .. }) => {
                self.idle(&session)?;
                self.consult(ui, ticket, session, command)
            }
            Command::Performed { tool, failed, result } => {
                self.performed(ui, ticket, session, tool, failed, result)
            }
            Command::Files(FilesCommand::Diff { .. }) => self.consult(ui, ticket, session, command),
            Command::Files(_) => {
                self.idle(&session)?;
                self.consult(ui, ticket, session, command)
            }
            Command::Shell(command) => {
                self.check_person(ui, &command)?;
                self.consult(ui, ticket, session, Command::Shell(command))
            }
            Command::List(_)
            | Command::Session(SessionCommand::SetTools { .. })
            | Command::Extension { .. } => self.consult(ui, ticket, session, command),
            Command::Library(command) => self.library_command(ui, ticket, &Target::Session(session), command),
        }
    }

    /// The runtime behind us told what it can do. UIs that came before it did are told.
    fn take_abilities(&mut self, abilities: Abilities) {
        // One that has not told its name has told nothing yet.
        let told = !abilities.name.is_empty();
        let first = told && !std::mem::replace(&mut self.has_told, true);
        if told {
            self.let_in_or_go(&abilities);
        }
        if first || abilities != self.abilities {
            self.abilities = abilities;
            // Before it is greeted with: a greeting may name the session.
            if let Some(runtime_session) = self.runtime_session.clone() {
                self.go_by_name(&runtime_session);
            }
            self.out.extend(self.uis.keys().map(|ui| CoreEffect::Abilities { ui: *ui }));
        }
    }

    /// Our agent told which commands it has; UIs are told where these are others.
    fn take_menu(&mut self, menu: AgentMenu) {
        if *self.abilities.menu != menu {
            self.abilities.menu = Arc::new(menu);
            self.out.extend(self.uis.keys().map(|ui| CoreEffect::Abilities { ui: *ui }));
        }
    }

    fn report(&mut self, report: Report) {
        match report {
            Report::Happened { session, run, body } => self.happened(&session, run, body),
            Report::TurnDone { session, run, turn, end } => self.turn_done(&session, run, turn, end),
            Report::Said { session, fact } => self.said(&self.here(&session), fact),
            Report::Signal { session, signal } => self.signal(&self.here(&session), signal),
            Report::FileWanted { session, id, request } => self.file_wanted(session, id, request),
            Report::Menu(menu) => self.take_menu(menu),
            Report::Settled { ticket, with } => self.consult_settled(ticket, with),
        }
    }

    /// Something happened.
    fn emit(&mut self, session: &SessionId, body: Body) {
        let Some(live) = self.sessions.get_mut(session) else { return };
        let (before, bodies) = (live.state.updated_at, live.masked(body));
        for body in bodies {
            self.emit_at(session, self.now.max(before), body);
        }
    }

    /// Something happened at this time: the only way in which a session changes that is not mirrored.
    fn emit_at(&mut self, session: &SessionId, at: Millis, body: Body) {
        let Some(live) = self.sessions.get_mut(session) else { return };
        let event = Event { seq: live.state.seq.next(), at, body };
        if let Err(why) = live.state.fold(&event) {
            let body: String = format!("{:?}", event.body).chars().take(MAX_LOGGED).collect();
            self.log(session, format!("dropped in {session}: {why}: {body}"));
            self.accepted = false;
            return;
        }
        if let Some(grammar) = &mut live.grammar
            && let Err(violation) = grammar.check(&event)
        {
            self.out.push(CoreEffect::Log(format!("grammar in {session}: {violation}")));
            debug_assert!(false, "{violation}: {event:?}");
        }
        self.publish(session, Arc::new(event));
    }

    fn publish(&mut self, session: &SessionId, event: Arc<Event>) {
        // Who has a visited session keeps it.
        if !self.is_visited(session) {
            self.out.push(CoreEffect::Append { session: session.clone(), event: event.clone() });
        }
        if let (Body::Run(RunEvent::TurnStarted { .. }), Some(live)) =
            (&event.body, self.sessions.get_mut(session))
        {
            live.turn_since = self.now;
        }
        for (ui, seat) in &self.uis {
            if seat.seen.contains(session) {
                self.out.push(CoreEffect::Event { ui: *ui, session: session.clone(), event: event.clone() });
            }
        }
    }

    fn emit_all(&mut self, session: &SessionId, bodies: Vec<Body>) {
        for body in bodies {
            self.emit(session, body);
        }
    }

    /// A word that belongs to the conversation.
    fn notice(&mut self, session: &SessionId, level: Level, failure: &Failure) {
        let Some(live) = self.sessions.get(session) else { return };
        let text = match &failure.hint {
            Some(hint) => format!("{}\n{hint}", failure.message),
            None => failure.message.clone(),
        };
        let (entry, parent) = (EntryId(live.ids.next()), live.state.leaf);
        let run = live.state.open_run().map(|run| run.id);
        self.emit(
            session,
            Body::Note(NoteEvent::Noticed { entry, parent, run, level, code: failure.code.clone(), text }),
        );
    }

    fn signal(&mut self, session: &SessionId, signal: Signal) {
        let Some(live) = self.sessions.get_mut(session) else { return };
        let signal = live.secrets.mask_signal(signal).bounded();
        live.board.take(&signal);
        for (ui, seat) in &self.uis {
            if seat.seen.contains(session) {
                self.out.push(CoreEffect::Signal {
                    ui: *ui,
                    session: session.clone(),
                    signal: signal.clone(),
                });
            }
        }
    }

    fn settle(&mut self, ui: UiId, ticket: Ticket, with: Result<Receipt, Refusal>) {
        self.out.push(CoreEffect::Settle { ui, ticket, with, about: None });
    }

    /// The same, with a receipt that holds what is in a session.
    fn settle_about(&mut self, session: SessionId, ui: UiId, ticket: Ticket, with: Result<Receipt, Refusal>) {
        self.out.push(CoreEffect::Settle { ui, ticket, with, about: Some(session) });
    }

    fn done(&mut self, ui: UiId, ticket: Ticket) -> Result<(), Refusal> {
        self.settle(ui, ticket, Ok(Receipt::Done));
        Ok(())
    }

    fn live(&self, session: &SessionId) -> Result<&Live, Refusal> {
        self.sessions.get(session).ok_or_else(|| no_session(session.as_str()))
    }

    fn live_mut(&mut self, session: &SessionId) -> Result<&mut Live, Refusal> {
        self.sessions.get_mut(session).ok_or_else(|| no_session(session.as_str()))
    }

    fn idle(&self, session: &SessionId) -> Result<(), Refusal> {
        match self.live(session)?.state.open_run() {
            None => Ok(()),
            Some(_) => {
                Err(Refusal::new(RefusalKind::Busy, "a run is under way")
                    .hint("wait for its end or cancel it"))
            }
        }
    }
}

impl Live {
    fn new(state: State, engine: Engine) -> Live {
        let ids = Ids::after(state.last_id);
        let canon = engine.canon(&ids);
        let grammar = cfg!(debug_assertions).then(|| Grammar::at(&state));
        Live {
            engine,
            state,
            board: Board::default(),
            ids,
            canon,
            cancel_by: None,
            offered: None,
            ui_context: UiContext::default(),
            is_known: false,
            prompter: None,
            turn_since: Millis(0),
            limits: Vec::new(),
            is_closing: false,
            given_servers: Vec::new(),
            grammar,
            secrets: Secrets::default(),
            veil: Veil::default(),
            waiting: None,
            granted: Vec::new(),
            cleared: BTreeSet::new(),
            works_for_us: false,
            said_yes: false,
            sharing: Sharing::Alone,
            own_run: None,
            mirrored: 0,
            streamed: None,
        }
    }

    fn open_run(&self, run: RunId) -> bool {
        self.state.open_run().is_some_and(|open| open.id == run)
    }
}

fn no_session(id: &str) -> Refusal {
    Refusal::new(RefusalKind::SessionUnknown, format!("there is no session {id}"))
        .hint("list the sessions to see which there are")
}

#[cfg(test)]
mod tests;
