//! Sessions of a foreign runtime: what it calls them and what we do, and the way from one to another.
//!
//! A runtime behind a wire is in one session at a time, or names several; a UI in front of us may name any that was listed. Before a
//! command about another session is passed on, the runtime is told to open that one, and the command is taken again once it is there.
//! Invariants: what is meant for one session never ends up in another; a session that cannot be opened is refused, and nothing moves.

use super::engine::{is_in_session, moves};
use super::{Core, CoreEffect, CoreInput, no_session};
use domain::command::{Command, LibraryCommand, Receipt, Refusal, RefusalKind, Target};
use domain::event::{Body, SessionEvent};
use domain::ids::{SessionId, UiId};
use domain::port::Ticket;
use domain::session::SessionSummary;
use std::collections::BTreeMap;

/// Most sessions whose other names are remembered; past it those of the lowest name are forgotten.
const MAX_NAMES: usize = 4096;

/// What foreign sessions are called on both sides, where that differs.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// By any name that the runtime gave or took.
    ours: BTreeMap<SessionId, SessionId>,
    /// The runtime's own name.
    theirs: BTreeMap<SessionId, SessionId>,
    /// A session that a UI gave its own name to, where the runtime can make no other: it has one such name.
    taken: Option<SessionId>,
}

impl Names {
    /// Our id for a session that the runtime calls so, where it is another.
    fn here(&self, theirs: &SessionId) -> Option<SessionId> {
        self.ours.get(theirs).cloned()
    }

    /// A session stands under another id.
    pub(super) fn moved(&mut self, from: &SessionId, to: &SessionId) {
        for ours in self.ours.values_mut().filter(|ours| *ours == from) {
            *ours = to.clone();
        }
        if let Some(theirs) = self.theirs.remove(from) {
            self.theirs.insert(to.clone(), theirs);
        }
        if self.taken.as_ref() == Some(from) {
            self.taken = Some(to.clone());
        }
        self.learn(to, from);
    }

    /// The runtime has no name for a session any more.
    pub(super) fn forget(&mut self, ours: &SessionId) {
        self.theirs.remove(ours);
    }

    fn learn(&mut self, ours: &SessionId, name: &SessionId) {
        if self.ours.len() >= MAX_NAMES {
            self.ours.pop_first();
        }
        self.ours.insert(name.clone(), ours.clone());
    }
}

impl Core {
    /// The runtime said what it calls the session that we know under an id of our own.
    pub(super) fn named(&mut self, session: &SessionId, name: &str) {
        let (session, theirs) = (self.here(session), SessionId::of_peer(name));
        if session != theirs && !self.sessions.contains_key(&theirs) {
            self.call(&session, theirs);
            self.go_by_name(&session);
        }
        self.named_kept(&session, name);
    }

    /// A session in which nothing was said yet stands under its runtime's name from now on, where sessions are opened by their names:
    /// the next program in our place would not know an id of ours.
    pub(super) fn go_by_name(&mut self, session: &SessionId) {
        let is_sought = self.origin.is_none() && self.has_told && self.abilities.open_session;
        if !is_sought || !self.is_untouched(session) || self.is_known(session) {
            return;
        }
        let theirs = self.names.theirs.get(session).filter(|theirs| !self.sessions.contains_key(*theirs));
        let (Some(theirs), Some(live)) = (theirs.cloned(), self.sessions.get(session)) else { return };
        let (cwd, project) = (live.state.settings.cwd.clone(), live.state.settings.project.clone());
        self.open_new(&theirs, cwd, project);
        self.move_to(session, &theirs);
    }

    /// Whether nothing was said in a session that is here.
    pub(super) fn is_untouched(&self, session: &SessionId) -> bool {
        self.state(session).is_some_and(|state| state.runs.is_empty() && state.entries.is_empty())
    }

    /// Whether a UI has asked something in a session: whoever waits there, or knows it by its id, must not be led elsewhere.
    pub(super) fn is_known(&self, session: &SessionId) -> bool {
        self.sessions.get(session).is_some_and(|live| live.is_known)
    }

    /// Whether the runtime has told what it calls a session.
    pub(super) fn is_named(&self, session: &SessionId) -> bool {
        self.names.theirs.contains_key(session)
    }

    /// The runtime's name of a session that has an id of ours.
    pub(super) fn call(&mut self, session: &SessionId, theirs: SessionId) {
        self.names.learn(session, &theirs);
        if self.names.theirs.len() >= MAX_NAMES {
            self.names.theirs.pop_first();
        }
        self.names.theirs.insert(session.clone(), theirs);
    }

    /// A session goes by another name, too.
    pub(super) fn learn_name(&mut self, session: &SessionId, name: &SessionId) {
        if session != name {
            self.names.learn(session, name);
        }
    }

    /// Our id for a session of the runtime.
    pub fn here(&self, theirs: &SessionId) -> SessionId {
        let known = self.names.here(theirs).filter(|_| !self.sessions.contains_key(theirs));
        known.unwrap_or_else(|| theirs.clone())
    }

    /// Whether something of the session is shown here already.
    pub fn is_shown(&self, session: &SessionId) -> bool {
        self.state(session).is_some_and(|state| !state.entries.is_empty())
    }

    /// A target by our ids.
    pub(super) fn translated(&self, target: Target) -> Target {
        match target {
            Target::Session(session) => Target::Session(self.here(&session)),
            Target::Current => Target::Current,
        }
    }

    /// A command with the sessions that it names as the runtime calls them.
    pub(super) fn outward(&self, mut command: Command) -> Command {
        let named = match &mut command {
            Command::Library(
                LibraryCommand::Open { session }
                | LibraryCommand::Delete { session }
                | LibraryCommand::History { session, .. }
                | LibraryCommand::Branch { session: Some(session), .. }
                | LibraryCommand::Export { session: Some(session), .. },
            ) => session,
            _ => return command,
        };
        let here = self.here(named);
        *named = self.names.theirs.get(&here).cloned().unwrap_or(here);
        command
    }

    /// A command of ours with the session that it names as we call it.
    pub(super) fn inward(&self, mut command: Command) -> Command {
        if let Command::Library(LibraryCommand::Open { session }) = &mut command {
            *session = self.here(session);
        }
        command
    }

    /// The session that the runtime must go to before it can do this, if it is in another.
    pub(super) fn elsewhere(&self, ui: UiId, target: &Target, command: &Command) -> Option<SessionId> {
        let session = match (command, target) {
            (Command::Library(LibraryCommand::History { session, .. }), _)
                if self.setup.engine.past_is_shown() =>
            {
                // What is kept is all there is of one that the runtime cannot go back to.
                Some(self.here(session)).filter(|session| !self.is_left(session))?
            }
            (command, _) if !is_in_session(command) => return None,
            (_, Target::Session(session)) => session.clone(),
            (_, Target::Current) => self.current(ui)?.clone(),
        };
        let (here, stands) = (
            self.sessions.contains_key(&session),
            self.runtime_session.as_ref().is_none_or(|runtime_session| *runtime_session == session),
        );
        self.setup.engine.goes_first(command, &self.abilities, here, stands).then_some(session)
    }

    /// Refuses to take a runtime out of a session in the middle of a run: it would end nowhere.
    pub(super) fn check_stays(&self, command: &Command) -> Result<(), Refusal> {
        match &self.runtime_session {
            Some(runtime_session) if moves(command) && self.setup.engine.has_one_conversation() => {
                self.idle(runtime_session)
            }
            _ => Ok(()),
        }
    }

    /// Tells the runtime to open a session, if it has it; `again` is taken when it is there.
    pub(super) fn go_first(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: SessionId,
        again: CoreInput,
    ) -> Result<(), Refusal> {
        if self.may_be_kept(&session) {
            return self.recall(ui, ticket, session, again);
        }
        if self.is_left(&session) {
            return self.begin_in(ui, ticket, &session, again);
        }
        let from = self.runtime_session.clone().unwrap_or_else(|| session.clone());
        let open = self.outward(Command::Library(LibraryCommand::Open { session }));
        self.consult_then(ui, ticket, from, open, Some(Box::new(again)))
    }

    /// The runtime was told to open a session for a command: that is taken now, or refused.
    pub(super) fn arrived_there(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        command: &Command,
        with: Result<Receipt, Refusal>,
        again: CoreInput,
    ) {
        if self.has_forgotten(command, &with) {
            return self.out.push(CoreEffect::Again(Box::new(again)));
        }
        if let (Command::Library(LibraryCommand::New { .. }), Ok(Receipt::Session { session, .. })) =
            (command, &with)
        {
            return self.begun_for(ui, ticket, command, session, again);
        }
        let opened = match with {
            Ok(Receipt::Session { session, .. }) if self.setup.engine.has_one_conversation() => {
                Ok(self.stand(command, &session))
            }
            Ok(Receipt::Session { session, .. }) => Ok(session.id),
            Ok(_) => {
                Err(Refusal::new(RefusalKind::Internal, "the runtime did not say that it opened the session"))
            }
            Err(refusal) => Err(refusal),
        };
        match (opened, again) {
            (Ok(session), CoreInput::Command { ui, ticket, command, .. })
                if self.sessions.contains_key(&session) =>
            {
                self.attach(ui, &session);
                let target = Target::Session(session);
                self.out.push(CoreEffect::Again(Box::new(CoreInput::Command {
                    ui,
                    ticket,
                    target,
                    command,
                })));
            }
            (Ok(session), _) => self.settle(ui, ticket, Err(no_session(session.as_str()))),
            // On a wire without sessions there is none of that name.
            (Err(refusal), CoreInput::Command { target: Target::Session(session), .. })
                if refusal.kind == RefusalKind::Unsupported =>
            {
                let mut unknown = no_session(session.as_str());
                unknown.hint = Some(refusal.message);
                self.settle(ui, ticket, Err(unknown));
            }
            (Err(refusal), CoreInput::Command { target: Target::Session(session), .. })
                if refusal.kind == RefusalKind::SessionUnknown
                    && self.is_untouched(&session)
                    && !self.names.theirs.contains_key(&session) =>
            {
                let what = "the runtime left this session before anything was said in it, and cannot go back";
                let refusal = Refusal::new(RefusalKind::SessionUnknown, what);
                self.settle(
                    ui,
                    ticket,
                    Err(refusal.hint("go on in another session, or start the runtime again")),
                );
            }
            (Err(refusal), _) => self.settle(ui, ticket, Err(refusal)),
        }
    }

    /// The runtime's conversation stands in this session now, which is made here when it is new to us; its id here.
    pub(super) fn stand(&mut self, command: &Command, summary: &SessionSummary) -> SessionId {
        let id = self.here(&summary.id);
        // A UI has a name for what it begins; the runtime gave it another.
        let begun_as = match command {
            Command::Library(LibraryCommand::New { id, .. }) => id.as_ref(),
            _ => None,
        };
        let id = match self.sessions.contains_key(&id) {
            true => match begun_as.filter(|_| self.is_untouched(&id)) {
                Some(asked) => self.keep_by(&id, asked),
                None => id,
            },
            false => match self.reopened(command, &summary.id) {
                Some(kept) => kept,
                None => self.come_to(summary.id.clone(), &summary.cwd, begun_as),
            },
        };
        let asked = match command {
            // Some runtimes open a session under another name than it was listed with.
            Command::Library(LibraryCommand::Open { session }) => Some(session),
            _ => begun_as,
        };
        if let Some(asked) = asked.filter(|asked| **asked != id && !self.sessions.contains_key(*asked)) {
            self.names.learn(&id, asked);
        }
        self.runtime_session = Some(id.clone());
        id
    }

    /// The session of a runtime that can make no other, for a UI that begins one, maybe under a name of its own: where nothing was said
    /// yet, and once, so that what is meant for one session never ends up in another.
    pub(super) fn take_as(&mut self, command: &Command, refusal: &Refusal) -> Option<SessionId> {
        let Command::Library(LibraryCommand::New { id, .. }) = command else { return None };
        let session = self.runtime_session.clone().filter(|_| self.setup.engine.has_one_conversation())?;
        let is_free = self.names.taken.as_ref() != Some(&session) && self.is_untouched(&session);
        if refusal.kind != RefusalKind::Unsupported || !is_free {
            return None;
        }
        let session = match id {
            Some(asked) => self.keep_by(&session, asked),
            None => session,
        };
        if let Some(asked) = id {
            self.names.learn(&session, asked);
        }
        self.names.taken = Some(session.clone());
        Some(session)
    }

    /// A session in which nothing was said is kept by the name that a UI gave it: the next process finds it by that one.
    fn keep_by(&mut self, session: &SessionId, asked: &SessionId) -> SessionId {
        let Some(origin) = self.origin.clone() else { return session.clone() };
        let free = origin.named(asked.as_str()).kept_as().filter(|id| !self.sessions.contains_key(id));
        let settings = self.state(session).map(|state| state.settings.clone());
        let Some((id, settings)) = free.zip(settings) else { return session.clone() };
        let sought = self.finding.give_up(session).or(settings.origin);
        self.open_new(&id, settings.cwd, settings.project);
        if let Some(named) = sought.filter(|named| *named != origin) {
            self.emit(&id, Body::Session(SessionEvent::CameFrom { origin: named }));
        }
        self.move_to(session, &id);
        if let Some(live) = self.sessions.get_mut(&id) {
            live.is_known = true;
        }
        self.heed_waiting();
        id
    }

    /// Makes a session that is new to us; its id here. One that is kept has an id of ours, since the store may hold another of that name:
    /// the id that goes with the name which a UI gave it, else with the runtime's.
    fn come_to(&mut self, theirs: SessionId, cwd: &str, asked: Option<&SessionId>) -> SessionId {
        let Some(origin) = &self.origin else {
            let opened = self.create(Some(cwd.to_owned()), None, Some(theirs.clone()));
            debug_assert!(opened.is_ok());
            return theirs;
        };
        // The UI is told of it before the runtime has said again what it calls it.
        let origin = origin.named(theirs.as_str());
        let kept_by = asked.map_or_else(|| origin.clone(), |asked| origin.named(asked.as_str()));
        let id = kept_by.kept_as().filter(|id| !self.sessions.contains_key(id));
        let elsewhere = Some(cwd.to_owned()).filter(|cwd| !cwd.is_empty() && *cwd != self.setup.cwd);
        match self.create(elsewhere, None, id) {
            Ok(id) => {
                self.call(&id, theirs);
                // Whether something is kept of it was looked for before the runtime went there.
                self.emit(&id, Body::Session(SessionEvent::CameFrom { origin }));
                id
            }
            Err(_) => theirs,
        }
    }
}
