//! Sessions: made, opened, branched, listed, left.

use super::{Core, Engine, Live, Out, no_session};
use crate::shelf::Shelf;
use domain::ask::AskKind;
use domain::command::{
    Command, LibraryCommand, ListScope, PromptOptions, Receipt, Refusal, RefusalKind, Target,
};
use domain::content::Input;
use domain::event::{Body, Failure, SessionEvent};
use domain::ids::{EntryId, SessionId, UiId};
use domain::port::{OpenConsent, Order, Resume, Ticket};
use domain::session::{Policy, SessionSummary};
use domain::signal::Level;
use domain::state::{EntryKind, State};

impl Core {
    /// The session a command is for; the current one is made when there is none yet.
    pub(super) fn target(
        &mut self,
        ui: UiId,
        target: &Target,
        shelf: &mut dyn Shelf,
    ) -> Result<SessionId, Refusal> {
        match target {
            Target::Session(id) => {
                self.ensure_open(id, shelf)?;
                self.see(ui, id);
                Ok(id.clone())
            }
            Target::Current => match self.current(ui).cloned() {
                Some(id) => Ok(id),
                None => {
                    let id = self.create(None, None, None)?;
                    self.attach(ui, &id);
                    Ok(id)
                }
            },
        }
    }

    /// A UI that names a session without going there sees it from then on; it goes there if it is nowhere.
    fn see(&mut self, ui: UiId, session: &SessionId) {
        let seen = self.uis.get(&ui).is_some_and(|seat| seat.seen.contains(session));
        if !seen {
            self.attach(ui, session);
        } else if let Some(seat) = self.uis.get_mut(&ui) {
            seat.current = Some(session.clone());
        }
    }

    pub(super) fn library_command(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        target: &Target,
        command: LibraryCommand,
        shelf: &mut dyn Shelf,
    ) -> Result<(), Refusal> {
        if self.setup.engine != Engine::Driven {
            let session = self.target(ui, &Target::Current, shelf)?;
            return self.consult(ui, ticket, session, Command::Library(command));
        }
        match command {
            LibraryCommand::New { cwd, title, id } => {
                let session = self.create(cwd, title, id)?;
                self.go(ui, ticket, &session)
            }
            LibraryCommand::Open { session } => {
                self.ensure_open(&session, shelf)?;
                self.go(ui, ticket, &session)
            }
            LibraryCommand::Branch { session, at } => {
                let from = match session {
                    Some(id) => {
                        self.ensure_open(&id, shelf)?;
                        id
                    }
                    None => self.target(ui, target, shelf)?,
                };
                let branch = self.branch(&from, at)?;
                self.attach(ui, &branch);
                let session = self.summary(&branch)?;
                self.settle(ui, ticket, Ok(Receipt::Session { session, parent: Some(from) }));
                Ok(())
            }
            LibraryCommand::List { scope, limit, search } => {
                let sessions = self.list(&scope, limit, search.as_deref(), shelf)?;
                self.settle(ui, ticket, Ok(Receipt::Sessions(sessions)));
                Ok(())
            }
            LibraryCommand::History { session, max_runs, max_events } => {
                let history = shelf.history(&session, max_runs, max_events)?;
                self.settle(ui, ticket, Ok(Receipt::History(history)));
                Ok(())
            }
            LibraryCommand::Delete { session } => self.delete(ui, ticket, &session, shelf),
            LibraryCommand::Export { session, format } => {
                let session = match session {
                    Some(id) => {
                        self.ensure_open(&id, shelf)?;
                        id
                    }
                    None => self.target(ui, target, shelf)?,
                };
                let text = shelf.export(&session, &self.live(&session)?.state, format)?;
                self.settle(ui, ticket, Ok(Receipt::Exported { format, text }));
                Ok(())
            }
            LibraryCommand::Load { path } => {
                let state = shelf.load_file(&path)?;
                let session = self.import(&state);
                // A file cannot say what is allowed: it is as in any new session.
                if self.setup.policy != Policy::default() {
                    self.emit(
                        &session,
                        Body::Session(SessionEvent::PolicyChosen { policy: self.setup.policy }),
                    );
                }
                self.go(ui, ticket, &session)
            }
            LibraryCommand::Save { path, history } => {
                let session = self.target(ui, target, shelf)?;
                let state = &self.live(&session)?.state;
                let (path, size) = shelf.save_file(&session, state, path.as_deref(), history)?;
                self.settle(ui, ticket, Ok(Receipt::Saved { path, size }));
                Ok(())
            }
        }
    }

    fn go(&mut self, ui: UiId, ticket: Ticket, session: &SessionId) -> Result<(), Refusal> {
        self.attach(ui, session);
        let summary = self.summary(session)?;
        self.settle(ui, ticket, Ok(Receipt::Session { session: summary, parent: None }));
        Ok(())
    }

    fn mint_session(&mut self) -> SessionId {
        loop {
            self.next_session += 1;
            let number = (self.now.0 << 20) ^ self.setup.salt.rotate_left(7) ^ self.next_session;
            let id = SessionId::from_number(number & 0xffff_ffff_ffff);
            if !self.sessions.contains_key(&id) {
                return id;
            }
        }
    }

    pub(super) fn create(
        &mut self,
        cwd: Option<String>,
        title: Option<String>,
        id: Option<SessionId>,
    ) -> Result<SessionId, Refusal> {
        let id = match id {
            Some(id) if self.sessions.contains_key(&id) => {
                return Err(Refusal::new(RefusalKind::Invalid, format!("session {id} exists already")));
            }
            Some(id) => id,
            None => self.mint_session(),
        };
        self.sessions.insert(id.clone(), Live::new(State::new(), self.setup.engine));
        let (cwd, project) = match cwd {
            Some(cwd) => (cwd.clone(), cwd),
            None => (self.setup.cwd.clone(), self.setup.project.clone()),
        };
        self.emit(&id, Body::Session(SessionEvent::Opened { cwd, project, parent: None }));
        if self.setup.policy != Policy::default() {
            self.emit(&id, Body::Session(SessionEvent::PolicyChosen { policy: self.setup.policy }));
        }
        if let Some(title) = title {
            self.emit(&id, Body::Session(SessionEvent::Renamed { title }));
        }
        Ok(id)
    }

    /// Makes a session that holds what `state` holds.
    fn import(&mut self, state: &State) -> SessionId {
        let id = self.mint_session();
        self.sessions.insert(id.clone(), Live::new(State::new(), self.setup.engine));
        for (at, body) in state.replay() {
            match body {
                Body::Rebased(_) => {}
                // What was said keeps its time; that it is here is news.
                Body::Session(SessionEvent::LeafMoved { .. }) => self.emit(&id, body),
                body => self.emit_at(&id, at, body),
            }
        }
        if let Some(live) = self.sessions.get(&id) {
            live.ids.at_least(live.state.last_id);
        }
        id
    }

    fn branch(&mut self, from: &SessionId, at: Option<EntryId>) -> Result<SessionId, Refusal> {
        if let Some(at) = at {
            self.check_entry(from, at)?;
        }
        let state = &self.live(from)?.state;
        let leaf = at.or(state.leaf);
        let mut branch = state.branch_at(leaf);
        branch.settings.parent = Some((from.to_string(), leaf));
        Ok(self.import(&branch))
    }

    /// Opens a session from the store. A run that was under way when its process died is closed as interrupted, unless it waits
    /// for a consent: then it goes on when the person answers.
    pub(super) fn ensure_open(&mut self, id: &SessionId, shelf: &mut dyn Shelf) -> Result<(), Refusal> {
        if self.sessions.contains_key(id) {
            return Ok(());
        }
        let Some(opened) = shelf.open(id)? else { return Err(no_session(id.as_str())) };
        let recovery = store::recover(&opened.state);
        self.sessions.insert(id.clone(), Live::new(opened.state, self.setup.engine));
        if let Some(damage) = opened.damage {
            self.notice(id, Level::Warning, &Failure::new("store_damage", damage.message));
        }
        self.emit_all(id, recovery.bodies);
        self.leave_sandboxed(id);
        if let Some(open) = recovery.resumable {
            let asks = self.live(id)?.state.asks.iter();
            let consents = asks.filter_map(|ask| match &ask.kind {
                AskKind::Consent(consent) if open.consents.iter().any(|standing| standing.ask == ask.id) => {
                    Some(OpenConsent { ask: ask.id, tool: consent.tool, digest: consent.digest.clone() })
                }
                _ => None,
            });
            let resume = Some(Resume { step: open.step, consents: consents.collect() });
            let (input, options) = (Input::default(), PromptOptions::default());
            if let Some(brief) = self.brief(id, open.run, open.turn, input, options, resume) {
                self.out.push(Out::Order(Order::Turn(Box::new(brief))));
            }
        }
        Ok(())
    }

    /// A session whose mode cannot be had here asks instead, and says so.
    fn leave_sandboxed(&mut self, id: &SessionId) {
        let Some(why) = self.setup.no_sandbox.clone() else { return };
        if self.live(id).is_ok_and(|live| live.state.settings.policy == Policy::Sandboxed) {
            self.emit(id, Body::Session(SessionEvent::PolicyChosen { policy: Policy::Ask }));
            self.notice(
                id,
                Level::Warning,
                &Failure::new("no_sandbox", format!("{why}; this session asks instead")),
            );
        }
    }

    pub(super) fn close_session(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: &SessionId,
    ) -> Result<(), Refusal> {
        self.detach(ui, session);
        let idle = self.live(session)?.state.open_run().is_none();
        // What a foreign runtime said is kept nowhere else.
        if idle && !self.watched(session) && self.setup.engine == Engine::Driven {
            self.sessions.remove(session);
            self.out.push(Out::Order(Order::Forget { session: session.clone() }));
        }
        self.done(ui, ticket)
    }

    fn delete(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: &SessionId,
        shelf: &mut dyn Shelf,
    ) -> Result<(), Refusal> {
        if self.sessions.contains_key(session) {
            self.idle(session)?;
        } else if !shelf.holds(session)? {
            return Err(no_session(session.as_str()));
        }
        shelf.delete(session)?;
        let uis: Vec<UiId> = self.uis.keys().copied().collect();
        for other in uis {
            self.detach(other, session);
        }
        self.sessions.remove(session);
        self.out.push(Out::Order(Order::Forget { session: session.clone() }));
        self.done(ui, ticket)
    }

    pub(super) fn check_entry(&self, session: &SessionId, entry: EntryId) -> Result<(), Refusal> {
        let found = self.live(session)?.state.entries.get(&entry);
        let usable = found.is_some_and(|entry| !matches!(entry.kind, EntryKind::Notice { .. }));
        usable
            .then_some(())
            .ok_or_else(|| Refusal::new(RefusalKind::EntryUnknown, format!("there is no {entry} here")))
    }

    pub(super) fn set_leaf(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: &SessionId,
        leaf: Option<EntryId>,
    ) -> Result<(), Refusal> {
        self.idle(session)?;
        if let Some(leaf) = leaf {
            self.check_entry(session, leaf)?;
        }
        self.emit(session, Body::Session(SessionEvent::LeafMoved { leaf }));
        if let Some(canon) = self.live_mut(session)?.canon.as_mut() {
            canon.move_leaf(leaf);
        }
        self.settle(ui, ticket, Ok(Receipt::Leaf(leaf)));
        Ok(())
    }

    fn list(
        &self,
        scope: &ListScope,
        limit: Option<u64>,
        search: Option<&str>,
        shelf: &mut dyn Shelf,
    ) -> Result<Vec<SessionSummary>, Refusal> {
        let project = match scope {
            ListScope::All => None,
            ListScope::Project(Some(project)) => Some(project.as_str()),
            ListScope::Project(None) => Some(self.setup.project.as_str()),
        };
        let mut sessions = shelf.list(project, limit, search)?;
        // What is open here is newer than what the store's lists say.
        for entry in &mut sessions {
            if let Some(live) = self.sessions.get(&entry.id) {
                *entry = SessionSummary::of(&entry.id, &live.state);
            }
        }
        sessions.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| b.id.cmp(&a.id)));
        Ok(sessions)
    }

    pub(super) fn summary(&self, session: &SessionId) -> Result<SessionSummary, Refusal> {
        Ok(SessionSummary::of(session, &self.live(session)?.state))
    }
}
