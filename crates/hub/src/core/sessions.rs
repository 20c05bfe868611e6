//! Sessions: made, taken in, branched, left. What needs the store or a file is in `library.rs`.

use super::{Core, CoreEffect, CoreInput, Import, Live, Standing, imported};
use domain::ask::AskKind;
use domain::command::{Command, PromptOptions, Receipt, Refusal, RefusalKind, Target};
use domain::content::Input;
use domain::event::{Body, Event, Failure, Outcome, SessionEvent};
use domain::ids::{EntryId, SessionId, UiId};
use domain::port::{OpenConsent, Order, Resume, Ticket};
use domain::session::{Budget, Policy, SessionSummary};
use domain::signal::{Level, Signal};
use domain::state::{EntryKind, State};
use store::Opened;

impl Core {
    /// The session a command is for; the current one is made when there is none yet. `None`: it is being opened, and the command is
    /// taken again then.
    pub(super) fn target(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        target: &Target,
        command: &Command,
    ) -> Result<Option<SessionId>, Refusal> {
        match target {
            Target::Session(id) => {
                let command =
                    || CoreInput::Command { ui, ticket, target: target.clone(), command: command.clone() };
                if !self.ensure_open(id, (ui, ticket), true, command)? {
                    return Ok(None);
                }
                self.show(ui, id);
                Ok(Some(id.clone()))
            }
            Target::Current => match self.current(ui).cloned() {
                // It was visited and its process is gone, or it was ours and is no more: it is opened where it is now.
                Some(id) if !self.sessions.contains_key(&id) => {
                    self.target(ui, ticket, &Target::Session(id), command)
                }
                Some(id) => Ok(Some(id)),
                None => {
                    // A foreign runtime is where it is, also for a UI that has left that session.
                    let stands =
                        self.runtime_session.clone().filter(|_| self.setup.engine.has_one_conversation());
                    let id = match stands {
                        Some(id) => id,
                        None => self.create(None, None, None)?,
                    };
                    self.attach(ui, &id);
                    Ok(Some(id))
                }
            },
        }
    }

    /// A UI that names a session without going there sees it from then on; it goes there if it is nowhere.
    fn show(&mut self, ui: UiId, session: &SessionId) {
        let seen = self.uis.get(&ui).is_some_and(|seat| seat.seen.contains(session));
        if !seen {
            self.attach(ui, session);
        } else if let Some(seat) = self.uis.get_mut(&ui) {
            seat.current = Some(session.clone());
        }
    }

    /// Takes a UI to a session and settles its command with that.
    pub(super) fn enter(&mut self, ui: UiId, ticket: Ticket, session: &SessionId) -> Result<(), Refusal> {
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

    /// Makes a session; a folder that is named is also its project.
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
        let (cwd, project) = match cwd {
            Some(cwd) => (cwd.clone(), cwd),
            None => (self.setup.cwd.clone(), self.setup.project.clone()),
        };
        self.open_new(&id, cwd, project);
        if let Some(title) = title {
            self.emit(&id, Body::Session(SessionEvent::Renamed { title }));
        }
        Ok(id)
    }

    /// A session begins, set as new ones are.
    pub(super) fn open_new(&mut self, id: &SessionId, cwd: String, project: String) {
        self.sessions.insert(id.clone(), Live::new(State::new(), self.setup.engine));
        self.emit(id, Body::Session(SessionEvent::Opened { cwd, project, parent: None }));
        if let Some(origin) = self.origin.clone() {
            self.emit(id, Body::Session(SessionEvent::CameFrom { origin }));
        }
        if self.setup.effort.is_some() {
            self.emit(id, Body::Session(SessionEvent::EffortChosen { effort: self.setup.effort }));
        }
        let budget = self.setup.budget.typed.or(self.setup.budget.usual);
        if budget != Budget::default() && !self.setup.engine.has_own_rules() {
            self.emit(id, Body::Session(SessionEvent::BudgetChosen { budget }));
        }
        self.begin_mode(id);
    }

    /// A session that begins has the mode that is usual in its folder.
    pub(super) fn begin_mode(&mut self, id: &SessionId) {
        let Ok(live) = self.live(id) else { return };
        let here = live.state.settings.cwd == self.setup.cwd;
        let elsewhere = self.setup.policy_elsewhere.filter(|_| !here);
        let policy = elsewhere.unwrap_or(self.setup.policy);
        if policy != Policy::default() {
            self.emit(id, Body::Session(SessionEvent::PolicyChosen { policy }));
        }
    }

    /// Makes a session of what was put together elsewhere.
    pub(super) fn adopt(&mut self, import: Import, id: Option<SessionId>) -> SessionId {
        let Import { was: _, state, events, grammar } = import;
        let id = id.unwrap_or_else(|| self.mint_session());
        let mut live = Live::new(state, self.setup.engine);
        live.grammar = grammar;
        self.sessions.insert(id.clone(), live);
        for event in events {
            self.publish(&id, event);
        }
        id
    }

    /// Makes a session of the path to an entry of another one.
    pub(super) fn branch(&mut self, from: &SessionId, at: Option<EntryId>) -> Result<SessionId, Refusal> {
        if let Some(at) = at {
            self.check_entry(from, at)?;
        }
        let state = &self.live(from)?.state;
        let leaf = at.or(state.leaf);
        let mut branch = state.branch_at(leaf);
        branch.settings.parent = Some((from.to_string(), leaf));
        Ok(self.adopt(imported(&branch, self.now), None))
    }

    /// Takes in a session that the store has opened. A run that was under way when its process died is closed as interrupted, unless
    /// it waits for a consent: then it goes on when the person answers.
    pub(super) fn take_in(&mut self, id: &SessionId, opened: Opened) -> Result<(), Refusal> {
        let recovery = store::recover(&opened.state);
        self.sessions.insert(id.clone(), Live::new(opened.state, self.setup.engine));
        if let Some(damage) = opened.damage {
            self.notice(id, Level::Warning, &Failure::new("store_damage", damage.message));
        }
        self.emit_all(id, recovery.bodies);
        self.leave_sandboxed(id);
        let kept = self.live(id)?.state.settings.budget;
        let budget = self.setup.budget.typed.or(kept);
        if budget != kept && !self.setup.engine.has_own_rules() {
            self.emit(id, Body::Session(SessionEvent::BudgetChosen { budget }));
        }
        if let Some(open) = recovery.resumable {
            let state = &self.live(id)?.state;
            let step = state.open_run().and_then(|run| run.open_step());
            let billed = step.and_then(|step| step.billed).unwrap_or_default();
            let asks = state.asks.iter();
            let consents = asks.filter_map(|ask| match &ask.kind {
                AskKind::Consent(consent) if open.consents.iter().any(|standing| standing.ask == ask.id) => {
                    Some(OpenConsent { ask: ask.id, tool: consent.tool, digest: consent.digest.clone() })
                }
                _ => None,
            });
            let took = state.worked(open.turn);
            let resume = Some(Resume { step: open.step, billed, took, consents: consents.collect() });
            // Its words are what the turn's file changes are known by.
            let input = Input::text(state.prompt_of(open.turn).unwrap_or_default());
            let options = PromptOptions::default();
            if let Some(brief) = self.brief(id, open.run, open.turn, input, options, resume) {
                self.out.push(CoreEffect::Order(Order::Turn(Box::new(brief))));
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

    /// Lets a UI leave a session; one that nobody sees and that is kept elsewhere is let go, with the jobs that run in it. A run that
    /// only this UI wanted is stopped first. Who may only look leaves it as it is.
    pub(super) fn close_session(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: &SessionId,
    ) -> Result<(), Refusal> {
        self.detach(ui, session);
        let may_end = self.uis.get(&ui).is_some_and(|seat| seat.standing == Standing::Controller);
        if may_end && !self.watched(session) {
            self.live_mut(session)?.is_closing = true;
            if self.wanted_alone(session, ui) {
                self.abandon(session);
            }
            self.let_go(session);
        }
        self.done(ui, ticket)
    }

    /// Lets a session go that was closed, once nothing runs in it and nobody sees it.
    pub(super) fn let_go(&mut self, session: &SessionId) {
        let Some(live) = self.sessions.get(session) else { return };
        let over = live.is_closing && live.state.open_run().is_none();
        if over && !self.watched(session) && self.setup.engine.is_kept() {
            self.sessions.remove(session);
            self.out.push(CoreEffect::Order(Order::Forget { session: session.clone() }));
            self.out.push(CoreEffect::Release { session: session.clone() });
        }
    }

    /// A session is no longer ours: its run is stopped and over for those who see it, and they are told why. None of that is kept: the
    /// record is whoever's it is now. What ends for a UI is what it was told of, which may be less than what is open here.
    pub(super) fn lease_lost(&mut self, session: &SessionId, why: &str) {
        let Ok(live) = self.live(session) else { return };
        if let Some(run) = live.state.open_run().map(|run| run.id) {
            self.out.push(CoreEffect::Order(Order::Cancel { session: session.clone(), run }));
        }
        let seen = self.uis.iter().filter(|(_, seat)| seat.seen.contains(session));
        let ends = seen.map(|(ui, _)| CoreEffect::CutShort { ui: *ui, session: session.clone() });
        self.out.extend(ends);
        let now = self.now;
        if let Some(live) = self.sessions.get_mut(session) {
            // Nobody is told this: it is what wires look at while they tell the end.
            for body in live.state.close_run(Outcome::Lost) {
                let event = Event { seq: live.state.seq.next(), at: now, body };
                let _ = live.state.fold(&event);
            }
        }
        let text = format!(
            "This session has stopped here: {why}. What was acknowledged is kept; what you say next opens it again."
        );
        self.signal(session, Signal::Notify { level: Level::Error, text });
        // Everybody hears that first.
        self.out.push(CoreEffect::Again(Box::new(CoreInput::LeaseForgotten { session: session.clone() })));
    }

    /// It is not here any more. UIs stay where they are: what they say next opens it where it is then.
    pub(super) fn forget_lost(&mut self, session: &SessionId) {
        if self.sessions.remove(session).is_some() {
            for seat in self.uis.values_mut() {
                seat.seen.remove(session);
            }
            self.out.push(CoreEffect::Order(Order::Forget { session: session.clone() }));
        }
    }

    /// Refuses an entry that is not there or that nothing can follow.
    pub(super) fn check_entry(&self, session: &SessionId, entry: EntryId) -> Result<(), Refusal> {
        let found = self.live(session)?.state.entries.get(&entry);
        let usable = found.is_some_and(|entry| !matches!(entry.kind, EntryKind::Notice { .. }));
        usable
            .then_some(())
            .ok_or_else(|| Refusal::new(RefusalKind::EntryUnknown, format!("there is no {entry} here")))
    }

    /// Moves the tip of the conversation while no run is under way.
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
        self.settle(ui, ticket, Ok(Receipt::Leaf(leaf)));
        Ok(())
    }

    /// What a list of sessions says of this one.
    pub(super) fn summary(&self, session: &SessionId) -> Result<SessionSummary, Refusal> {
        Ok(SessionSummary::of(session, &self.live(session)?.state))
    }
}
