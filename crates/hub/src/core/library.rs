//! The sessions there are: commands that need the store or a file.
//!
//! The core reads and writes nothing: it asks ([`Request`]) and remembers what the answer is for. A command that names a session which
//! is not open here is taken again, as it came, once the session is. Invariants: each request is answered once and its command settled
//! once, also when the answer is that there is none; while a session is being opened or taken away it [is away](Core::is_away), and a
//! UI whose command will take it elsewhere [is moving](Core::is_moving), so that what comes behind can wait in order; looking (lists,
//! the past, exports, saves) keeps nobody waiting but who looks.

use super::recall::KeptList;
use super::{Core, CoreEffect, CoreInput, Sharing, no_session};
use domain::command::{
    Command, ExportFormat, History, LibraryCommand, ListScope, Receipt, Refusal, RefusalKind, Target,
};
use domain::event::{Body, Event, RunEvent, SessionEvent};
use domain::grammar::Grammar;
use domain::ids::{Millis, SessionId, UiId};
use domain::port::{Order, Report, Ticket};
use domain::session::{Origin, SessionSummary};
use domain::signal::{Board, UiContext};
use domain::state::State;
use std::sync::Arc;
use store::Opened;

/// Names a request, so that its answer is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// What the core wants of the store, or of a file.
#[derive(Debug)]
pub enum Request {
    /// Open a session for writing.
    Open { session: SessionId },
    /// The kept session of this origin, opened for writing.
    Find { origin: Box<Origin> },
    /// The kept session of this id, or that this runtime or a UI of it calls so, opened for writing; only one of the same runtime.
    Recall { session: SessionId, origin: Box<Origin> },
    /// Take a session away for good.
    Delete {
        session: SessionId,
        /// Whether it is open here: then it need not be in the store.
        live: bool,
    },
    /// Sessions, newest first.
    List {
        /// Of this project only.
        project: Option<String>,
        /// How many at most.
        limit: Option<u64>,
        /// Words that must occur in them.
        search: Option<String>,
    },
    /// The newest events of the last runs.
    History {
        session: SessionId,
        /// How many runs at most.
        max_runs: u64,
        /// How many events at most.
        max_events: u64,
    },
    /// A session as a text.
    Export {
        session: SessionId,
        /// As it stands.
        state: Box<State>,
        /// In which form.
        format: ExportFormat,
    },
    /// A session to a JSON file.
    Save {
        session: SessionId,
        /// As it stands.
        state: Box<State>,
        path: Option<String>,
        /// With the messages.
        history: bool,
    },
    /// Whether a folder is there, to work in.
    Folder { path: String },
    /// A session from a JSON file that was saved before.
    Load {
        path: String,
        /// When it is loaded.
        now: Millis,
    },
}

/// What came of a request.
#[derive(Debug)]
pub enum Answer {
    /// The session; `None` if there is none.
    Opened(Option<Box<Opened>>),
    /// Another process has the session open, in the store's words.
    Elsewhere(Refusal),
    /// How the session stands in the process that has it.
    Visited(Box<(State, Board)>),
    /// What is kept of an origin.
    Found {
        kept: Option<Box<(SessionId, Opened)>>,
        /// The id that a session of this origin is kept under, where nothing has it.
        free: Option<SessionId>,
    },
    /// Whether there was such a session; it is gone.
    Deleted(bool),
    Listed(Vec<SessionSummary>),
    /// The past.
    History(History),
    /// The text.
    Exported(String),
    /// Where the file is and how many bytes it has.
    Saved {
        path: String,
        /// Its bytes.
        size: u64,
    },
    Folder,
    /// What was in the file, as a new session.
    Loaded(Box<Import>),
}

/// A session that was put together from another one's state: how it stands, and the events that give it.
#[derive(Debug)]
pub struct Import {
    /// The id that it had, where it was read from a file.
    pub(super) was: Option<SessionId>,
    pub(super) state: State,
    pub(super) events: Vec<Arc<Event>>,
    pub(super) grammar: Option<Grammar>,
}

impl Import {
    /// The same, read from a file in which it had this id.
    #[must_use]
    pub fn with_id(self, was: Option<SessionId>) -> Import {
        Import { was, ..self }
    }
}

/// What `state` holds, as a new session. What was said keeps its time; where it stands is news.
pub fn imported(state: &State, now: Millis) -> Import {
    let mut import = Import {
        was: None,
        state: State::new(),
        events: Vec::new(),
        grammar: cfg!(debug_assertions).then(Grammar::new),
    };
    for (at, body) in state.replay() {
        let at = match &body {
            // What comes of it is our own: no other program holds it.
            Body::Rebased(_) | Body::Session(SessionEvent::CameFrom { .. }) => continue,
            Body::Session(SessionEvent::LeafMoved { .. }) => now.max(import.state.updated_at),
            _ => at,
        };
        let event = Event { seq: import.state.seq.next(), at, body };
        // What a state replays can be folded; a body that cannot is left out, as it would be when it happens.
        if import.state.fold(&event).is_err() {
            continue;
        }
        if let Some(Err(violation)) = import.grammar.as_mut().map(|grammar| grammar.check(&event)) {
            debug_assert!(false, "{violation}: {event:?}");
        }
        import.events.push(Arc::new(event));
    }
    import
}

/// A command that waits for an answer.
#[derive(Debug)]
pub(super) struct AwaitedAnswer {
    pub(super) ui: UiId,
    pub(super) ticket: Ticket,
    pub(super) purpose: Purpose,
    /// Bytes of text that wait with it.
    pub(super) bytes: usize,
}

/// What an answer is for.
#[derive(Debug)]
pub(super) enum Purpose {
    /// The command is taken again; `moves` if it takes its UI there.
    Open {
        session: SessionId,
        moves: bool,
        again: Box<CoreInput>,
        /// Why the store does not open it, while its process is looked for, and whether questions can be answered here.
        refused: Option<(Refusal, bool)>,
    },
    Delete {
        session: SessionId,
    },
    List,
    ListKept(Box<KeptList>),
    History {
        session: SessionId,
    },
    Export {
        session: SessionId,
        format: ExportFormat,
    },
    Save {
        session: SessionId,
    },
    Load,
    /// What was read from a file keeps its id, where that is free.
    Place(Box<Import>),
    /// The session is made when its folder is there.
    New {
        cwd: String,
        title: Option<String>,
        id: Option<SessionId>,
    },
    /// Whether the folder that the UI went to is there.
    Context,
}

/// Whom an input is about: it must not overtake another about the same.
#[derive(Debug, Default)]
pub(crate) struct Concerns {
    pub(crate) ui: Option<UiId>,
    pub(crate) sessions: Vec<SessionId>,
}

impl Core {
    /// Whether the session is just being opened or taken away: what concerns it has to wait.
    pub fn is_away(&self, session: &SessionId) -> bool {
        self.finding.is_of(session)
            || self.pending.values().any(|pending| match &pending.purpose {
                Purpose::Open { session: away, .. } | Purpose::Delete { session: away } => away == session,
                Purpose::Place(import) => import.was.as_ref() == Some(session),
                _ => false,
            })
    }

    /// Whether the UI is on its way to another session: what it says next is meant there.
    pub fn is_moving(&self, ui: UiId) -> bool {
        let moves = |purpose: &Purpose| match purpose {
            Purpose::Open { moves, .. } => *moves,
            Purpose::Load | Purpose::Place(_) | Purpose::New { .. } => true,
            Purpose::Context
            | Purpose::Delete { .. }
            | Purpose::List
            | Purpose::ListKept(_)
            | Purpose::History { .. }
            | Purpose::Export { .. }
            | Purpose::Save { .. } => false,
        };
        self.pending.values().any(|pending| pending.ui == ui && moves(&pending.purpose))
            || self.consulted.values().any(|asked| asked.ui == ui && super::engine::moves(&asked.command))
    }

    /// Whom an input is about.
    pub(crate) fn concerns(&self, input: &CoreInput) -> Concerns {
        match input {
            CoreInput::Command { ui, target, command, .. } => {
                let at = match target {
                    Target::Session(session) => Some(self.here(session)),
                    Target::Current => self.current(*ui).cloned(),
                };
                let session = match command {
                    Command::Library(command) => match command {
                        LibraryCommand::Open { session }
                        | LibraryCommand::Delete { session }
                        | LibraryCommand::History { session, .. } => Some(self.here(session)),
                        LibraryCommand::Branch { session, .. } | LibraryCommand::Export { session, .. } => {
                            session.as_ref().map(|session| self.here(session)).or(at)
                        }
                        LibraryCommand::Save { .. } => at,
                        LibraryCommand::New { .. }
                        | LibraryCommand::List { .. }
                        | LibraryCommand::Load { .. } => None,
                    },
                    _ => at,
                };
                Concerns { ui: Some(*ui), sessions: session.into_iter().collect() }
            }
            CoreInput::Left { ui } | CoreInput::Gone { ui } => {
                Concerns { ui: Some(*ui), sessions: Vec::new() }
            }
            CoreInput::Report(report) => {
                let session = match report {
                    Report::Happened { session, .. }
                    | Report::TurnDone { session, .. }
                    | Report::Said { session, .. }
                    | Report::FileWanted { session, .. }
                    | Report::Signal { session, .. } => Some(session),
                    Report::Menu(_) => None,
                    Report::Settled { ticket, .. } => {
                        let asked = self.consulted.get(ticket);
                        // What ends a move is what everything behind it waits for.
                        let asked = asked.filter(|asked| !super::engine::moves(&asked.command));
                        let asked = asked.map(|asked| &asked.session);
                        asked.or_else(|| self.going_on.get(ticket).map(|next| &next.session))
                    }
                };
                Concerns {
                    ui: None,
                    sessions: session.map(|session| self.here(session)).into_iter().collect(),
                }
            }
            CoreInput::CannotAnswer { ui, session, .. } => {
                Concerns { ui: Some(*ui), sessions: vec![self.here(session)] }
            }
            CoreInput::VisitForgotten { session } | CoreInput::LeaseForgotten { session } => {
                Concerns { ui: None, sessions: vec![session.clone()] }
            }
            CoreInput::Told { session, .. } => Concerns { ui: None, sessions: vec![self.here(session)] },
            CoreInput::Arrived { .. }
            | CoreInput::Apart { .. }
            | CoreInput::Answers { .. }
            | CoreInput::Rights { .. }
            | CoreInput::Files { .. }
            | CoreInput::FileDone { .. }
            | CoreInput::Servers { .. }
            | CoreInput::Keep { .. }
            | CoreInput::Mirror { .. }
            | CoreInput::MirrorEvent { .. }
            | CoreInput::Abilities(_)
            | CoreInput::Lost
            | CoreInput::Named { .. }
            | CoreInput::Answered { .. }
            | CoreInput::Deleted { .. }
            | CoreInput::LeaseLost { .. }
            | CoreInput::VisitOver { .. }
            | CoreInput::Ending
            | CoreInput::Tick { .. } => Concerns::default(),
        }
    }

    /// Does what a command about the library of sessions wants; what needs the store or a file is asked for.
    pub(super) fn library_command(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        target: &Target,
        command: LibraryCommand,
    ) -> Result<(), Refusal> {
        let whole = Command::Library(command.clone());
        let again = || CoreInput::Command { ui, ticket, target: target.clone(), command: whole.clone() };
        if let Some(session) = named(&command).filter(|session| self.may_be_kept(session)) {
            return self.recall(ui, ticket, session.clone(), again());
        }
        if let LibraryCommand::New { id: Some(asked), .. } = &command
            && self.keeps_theirs()
        {
            if self.sessions.contains_key(&self.here(asked)) {
                return Err(Refusal::new(RefusalKind::Invalid, format!("session {asked} exists already")));
            }
            if self.may_be_kept(asked) {
                return self.recall(ui, ticket, asked.clone(), again());
            }
        }
        if self.lists_kept(&command) {
            return self.list_kept(ui, ticket, &command, None);
        }
        if let (LibraryCommand::Open { session }, true) = (&command, self.keeps_theirs()) {
            let session = self.here(session);
            if self.runtime_session.as_ref() == Some(&session) {
                return self.enter(ui, ticket, &session);
            }
            if self.is_left(&session) {
                return self.begin_in(ui, ticket, &session, again());
            }
        }
        if self.setup.engine.decides(&whole, &self.abilities) {
            let target = if super::engine::is_in_session(&whole) { target } else { &Target::Current };
            let Some(session) = self.target(ui, ticket, target, &whole)? else { return Ok(()) };
            return self.consult(ui, ticket, session, self.outward(whole));
        }
        match command {
            LibraryCommand::New { cwd: Some(cwd), title, id } => {
                let request = Request::Folder { path: cwd.clone() };
                self.fetch(ui, ticket, Purpose::New { cwd, title, id }, request)
            }
            LibraryCommand::New { cwd: None, title, id } => {
                let session = self.create(None, title, id)?;
                self.enter(ui, ticket, &session)
            }
            LibraryCommand::Open { session } => {
                if !self.ensure_open(&session, (ui, ticket), true, again)? {
                    return Ok(());
                }
                self.enter(ui, ticket, &session)
            }
            LibraryCommand::Branch { session, at } => {
                let from = match session {
                    Some(id) => self.ensure_open(&id, (ui, ticket), true, again)?.then_some(id),
                    None => self.target(ui, ticket, target, &whole)?,
                };
                let Some(from) = from else { return Ok(()) };
                let branch = self.branch(&from, at)?;
                self.attach(ui, &branch);
                let session = self.summary(&branch)?;
                self.settle(ui, ticket, Ok(Receipt::Session { session, parent: Some(from) }));
                Ok(())
            }
            LibraryCommand::List { scope, limit, search } => {
                let project = match scope {
                    ListScope::All => None,
                    ListScope::Project(Some(project)) => Some(project),
                    ListScope::Project(None) => Some(self.setup.project.clone()),
                };
                self.fetch(ui, ticket, Purpose::List, Request::List { project, limit, search })
            }
            LibraryCommand::History { session, max_runs, max_events }
                if self.setup.engine.past_is_shown() || self.is_visited(&session) =>
            {
                let session = self.here(&session);
                let state = &self.live(&session)?.state;
                if state.runs.is_empty() && !self.is_visited(&session) {
                    // Either there is no past, or the wire does not tell it: the runtime knows which.
                    return self.consult(ui, ticket, session, self.outward(whole));
                }
                let history = shown_past(state, max_runs, max_events);
                self.settle_about(session, ui, ticket, Ok(Receipt::History(history)));
                Ok(())
            }
            LibraryCommand::History { session, max_runs, max_events } => {
                let purpose = Purpose::History { session: session.clone() };
                self.fetch(ui, ticket, purpose, Request::History { session, max_runs, max_events })
            }
            LibraryCommand::Delete { session } => {
                let live = self.sessions.contains_key(&session) && !self.is_visited(&session);
                if live {
                    self.idle(&session)?;
                }
                let purpose = Purpose::Delete { session: session.clone() };
                self.fetch(ui, ticket, purpose, Request::Delete { session, live })
            }
            LibraryCommand::Export { session, format } => {
                let session = match session {
                    Some(id) => self.ensure_open(&id, (ui, ticket), false, again)?.then_some(id),
                    None => self.target(ui, ticket, target, &whole)?,
                };
                let Some(session) = session else { return Ok(()) };
                let state = Box::new(self.live(&session)?.state.clone());
                let purpose = Purpose::Export { session: session.clone(), format };
                self.fetch(ui, ticket, purpose, Request::Export { session, state, format })
            }
            LibraryCommand::Load { path } => {
                let request = Request::Load { path, now: self.now };
                self.fetch(ui, ticket, Purpose::Load, request)
            }
            LibraryCommand::Save { path, history } => {
                let Some(session) = self.target(ui, ticket, target, &whole)? else { return Ok(()) };
                let state = Box::new(self.live(&session)?.state.clone());
                let purpose = Purpose::Save { session: session.clone() };
                self.fetch(ui, ticket, purpose, Request::Save { session, state, path, history })
            }
        }
    }

    /// Whether the session is open here. If not it is asked for, and `again` is taken once it is.
    pub(super) fn ensure_open(
        &mut self,
        session: &SessionId,
        (ui, ticket): (UiId, Ticket),
        moves: bool,
        again: impl FnOnce() -> CoreInput,
    ) -> Result<bool, Refusal> {
        if self.sessions.contains_key(session) && !self.is_visited_mute(session, ui) {
            return Ok(true);
        }
        let purpose =
            Purpose::Open { session: session.clone(), moves, again: Box::new(again()), refused: None };
        self.fetch(ui, ticket, purpose, Request::Open { session: session.clone() })?;
        Ok(false)
    }

    /// Asks the store or a file; the command waits for the answer.
    pub(super) fn fetch(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        purpose: Purpose,
        request: Request,
    ) -> Result<(), Refusal> {
        let bytes = self.pending.room(ui, &purpose, &request)?;
        self.next_request += 1;
        let id = RequestId(self.next_request);
        self.pending.insert(id, AwaitedAnswer { ui, ticket, purpose, bytes });
        self.out.push(CoreEffect::Fetch { id, request });
        Ok(())
    }

    /// What was asked for is there.
    pub(super) fn answered(&mut self, id: RequestId, with: Result<Answer, Refusal>) {
        let Some(awaited) = self.pending.remove(id) else { return };
        let Some((awaited, with)) = self.unless_elsewhere(awaited, with) else { return };
        let AwaitedAnswer { ui, ticket, purpose, .. } = awaited;
        let answer = match with {
            Ok(answer) => answer,
            Err(_) if matches!(&purpose, Purpose::ListKept(list) if list.is_told()) => {
                Answer::Listed(Vec::new())
            }
            Err(refusal) => return self.settle(ui, ticket, Err(refusal)),
        };
        let settled = match (purpose, answer) {
            (Purpose::Open { session, again, .. }, Answer::Opened(opened)) => match opened {
                Some(opened) => self.opened(ui, session, *opened, *again),
                None => Err(no_session(session.as_str())),
            },
            (Purpose::Open { session, again, .. }, Answer::Found { kept, .. }) => {
                self.recalled(session, kept, *again);
                Ok(())
            }
            (Purpose::Open { session, again, refused, .. }, Answer::Visited(shown)) => {
                let answers = refused.is_some_and(|(_, answers)| answers);
                self.visit(session, *shown, Sharing::among(answers), *again)
            }
            (Purpose::Delete { session }, Answer::Deleted(there)) => {
                self.deleted(&session);
                if there { self.done(ui, ticket) } else { Err(no_session(session.as_str())) }
            }
            (Purpose::List, Answer::Listed(sessions)) => {
                self.settle(ui, ticket, Ok(Receipt::Sessions(self.renewed(sessions))));
                Ok(())
            }
            (Purpose::ListKept(wanted), Answer::Listed(kept)) => {
                let listed = self.listed(*wanted, kept);
                self.settle(ui, ticket, Ok(Receipt::Sessions(listed)));
                Ok(())
            }
            (Purpose::History { session }, Answer::History(history)) => {
                self.settle_about(session, ui, ticket, Ok(Receipt::History(history)));
                Ok(())
            }
            (Purpose::Export { session, format }, Answer::Exported(text)) => {
                self.settle_about(session, ui, ticket, Ok(Receipt::Exported { format, text }));
                Ok(())
            }
            (Purpose::Save { session }, Answer::Saved { path, size }) => {
                self.settle_about(session, ui, ticket, Ok(Receipt::Saved { path, size }));
                Ok(())
            }
            (Purpose::Load, Answer::Loaded(import)) => self.loaded(ui, ticket, import),
            (Purpose::Place(import), Answer::Opened(kept)) => self.place(ui, ticket, *import, kept),
            (Purpose::Place(import), Answer::Elsewhere(_)) => self.take_over_file(ui, ticket, *import, None),
            (Purpose::New { .. }, Answer::Folder) if !self.uis.contains_key(&ui) => Ok(()),
            (Purpose::New { cwd, title, id }, Answer::Folder) => {
                self.create(Some(cwd), title, id).and_then(|session| self.enter(ui, ticket, &session))
            }
            (Purpose::Context, Answer::Folder) => self.done(ui, ticket),
            (purpose, answer) => {
                self.out.push(CoreEffect::Log(format!("{purpose:?} was answered with {answer:?}")));
                Err(Refusal::new(RefusalKind::Internal, "the store answered something else"))
            }
        };
        if let Err(refusal) = settled {
            self.settle(ui, ticket, Err(refusal));
        }
    }

    /// Takes what a UI told of its surroundings, and refuses a folder that is not there: tools would stay where they are.
    pub(super) fn update_context(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: &SessionId,
        context: UiContext,
    ) -> Result<(), Refusal> {
        let live = self.live_mut(session)?;
        if context.is_size_only() {
            live.ui_context.size = context.size;
            return self.done(ui, ticket);
        }
        let before = std::mem::replace(&mut live.ui_context, context);
        match live.ui_context.cwd.clone().filter(|cwd| before.cwd.as_ref() != Some(cwd)) {
            Some(path) => self.fetch(ui, ticket, Purpose::Context, Request::Folder { path }),
            None => self.done(ui, ticket),
        }
    }

    /// The store has opened a session for a UI; nobody else needs it if that one has left.
    fn opened(
        &mut self,
        ui: UiId,
        session: SessionId,
        opened: Opened,
        again: CoreInput,
    ) -> Result<(), Refusal> {
        if !self.uis.contains_key(&ui) {
            self.out.push(CoreEffect::Release { session });
            return Ok(());
        }
        if let Some(origin) = opened.state.settings.origin.as_ref().filter(|_| self.setup.engine.is_ours()) {
            let what = format!(
                "this conversation is with another program ({}: {})",
                origin.dialect,
                origin.place.typed()
            );
            self.out.push(CoreEffect::Release { session: session.clone() });
            let refusal = Refusal::new(RefusalKind::Unsupported, what);
            return Err(refusal.hint(format!("go on with it there: parlor --resume {session}")));
        }
        self.take_in(&session, opened)?;
        if let CoreInput::Command { ui, ticket, target, command } = again {
            self.take_command(ui, ticket, target, command);
        }
        Ok(())
    }

    /// A session is no longer in the store.
    pub(super) fn deleted(&mut self, session: &SessionId) {
        let uis: Vec<UiId> = self.uis.keys().copied().collect();
        for ui in uis {
            self.detach(ui, session);
        }
        if self.sessions.remove(session).is_some() {
            self.out.push(CoreEffect::Order(Order::Forget { session: session.clone() }));
        }
    }

    /// What is open here is newer than what the store's lists say.
    pub(super) fn renewed(&self, mut sessions: Vec<SessionSummary>) -> Vec<SessionSummary> {
        for entry in &mut sessions {
            if let Some(live) = self.sessions.get(&entry.id) {
                let found = entry.found.take();
                *entry = SessionSummary { found, ..SessionSummary::of(&entry.id, &live.state) };
            }
        }
        sessions.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| b.id.cmp(&a.id)));
        sessions
    }
}

/// The session that a command is about by its name.
fn named(command: &LibraryCommand) -> Option<&SessionId> {
    match command {
        LibraryCommand::Open { session } | LibraryCommand::Delete { session } => Some(session),
        LibraryCommand::Branch { session, .. } | LibraryCommand::Export { session, .. } => session.as_ref(),
        _ => None,
    }
}

/// What we were shown of a session, as the newest events of its last runs.
fn shown_past(state: &State, max_runs: u64, max_events: u64) -> History {
    let bound = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let events: Vec<Event> = export::events_of(state);
    let began = |event: &Event| matches!(event.body, Body::Run(RunEvent::Started { .. }));
    let starts: Vec<usize> =
        events.iter().enumerate().filter(|(_, event)| began(event)).map(|(at, _)| at).collect();
    let newest = starts.iter().skip(starts.len().saturating_sub(bound(max_runs)));
    let of_runs = newest.copied().next().unwrap_or(events.len());
    let first = of_runs.max(events.len().saturating_sub(bound(max_events)));
    let runs = starts.iter().filter(|start| **start >= of_runs).count() as u64;
    let truncated = starts.first().is_some_and(|earliest| *earliest < first);
    History { runs, events: events.into_iter().skip(first).collect(), truncated }
}
