//! What the runtime behind us does not remember is answered from what is kept of it: the list of its sessions, and the way back to one.
//!
//! A session that nobody here knows is looked for in the store first, by our id and by the runtime's name ([`Core::recall`]); only the
//! sessions of this very runtime count. It is then shown with its past, and the runtime is told to go to it by the name that it gave. One
//! that has forgotten it, never named it or cannot go back begins anew in it, and the session says so ([`Core::begin_in`]).
//!
//! What it is not: the finding of what is kept of a session that the runtime names by itself (`foreign_history.rs`). Invariants: each
//! command looks in the store once; the runtime begins anew only where nothing was said yet, so that nothing ends up in another session.

use super::engine::moves;
use super::library::Purpose;
use super::{Core, CoreEffect, CoreInput, Request};
use domain::command::{Command, LibraryCommand, ListScope, Receipt, Refusal, RefusalKind};
use domain::event::{Body, SessionEvent};
use domain::ids::{SessionId, UiId};
use domain::port::{Abilities, Ticket};
use domain::session::summary::UNTITLED;
use domain::session::{Origin, SessionSummary};
use std::collections::BTreeSet;
use store::Opened;

/// What is wanted of a list of kept sessions.
#[derive(Debug)]
pub(super) struct KeptList {
    /// What the runtime lists, where it does.
    theirs: Option<Vec<SessionSummary>>,
    project: Option<String>,
    limit: Option<usize>,
    /// Only those in which something was found.
    is_search: bool,
}

impl KeptList {
    /// Whether the runtime has a list of its own, which stands without ours.
    pub(super) fn is_told(&self) -> bool {
        self.theirs.is_some()
    }
}

impl Core {
    /// What can be done here: what the runtime behind us can, and what is done for it with what is kept.
    pub fn abilities(&self) -> Abilities {
        let (kept, theirs) = (self.keeps_theirs(), &self.abilities);
        Abilities {
            sessions: kept || theirs.sessions,
            open_session: kept || theirs.open_session,
            ..theirs.clone()
        }
    }

    /// Whether a session is to be looked for in the store before the runtime is asked for it.
    pub(super) fn may_be_kept(&self, session: &SessionId) -> bool {
        let is_here = self.sessions.contains_key(&self.here(session));
        self.keeps_theirs() && !is_here && self.finding.unkept.as_ref() != Some(session)
    }

    /// Looks for a session in the store; `again` is taken when the answer is there.
    pub(super) fn recall(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: SessionId,
        again: CoreInput,
    ) -> Result<(), Refusal> {
        let Some(origin) = self.origin.clone().map(Box::new) else { return Ok(()) };
        let moves = matches!(&again, CoreInput::Command { command, .. } if moves(command));
        let purpose =
            Purpose::Open { session: session.clone(), moves, again: Box::new(again), refused: None };
        self.fetch(ui, ticket, purpose, Request::Recall { session, origin })
    }

    /// The store has answered; what waited for it is taken.
    pub(super) fn recalled(
        &mut self,
        asked: SessionId,
        kept: Option<Box<(SessionId, Opened)>>,
        again: CoreInput,
    ) {
        let CoreInput::Command { ui, ticket, target, command } = again else { return };
        match kept.map(|kept| *kept) {
            Some((session, _)) if !self.uis.contains_key(&ui) => {
                return self.out.push(CoreEffect::Release { session });
            }
            Some((session, opened)) => {
                let origin = opened.state.settings.origin.as_ref();
                let name = origin.and_then(|origin| origin.session.as_deref()).map(SessionId::of_peer);
                if !self.sessions.contains_key(&session) {
                    self.take_back_in(&session, opened);
                }
                if let Some(theirs) = name.filter(|theirs| *theirs != session) {
                    self.call(&session, theirs);
                }
                // By the name that a UI gave it in an earlier process.
                self.learn_name(&session, &asked);
            }
            None => self.finding.unkept = Some(asked),
        }
        self.take_command(ui, ticket, target, command);
        self.finding.unkept = None;
    }

    /// Whether a kept session that is here is none that the runtime can be told to go to.
    pub(super) fn is_left(&self, session: &SessionId) -> bool {
        let stands = self.runtime_session.as_ref() == Some(session);
        let has_way = self.abilities.open_session && self.is_named(session);
        self.keeps_theirs() && self.sessions.contains_key(session) && !stands && !has_way
    }

    /// Lets the runtime begin anew in a kept session; `again` is taken when it stands there.
    pub(super) fn begin_in(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: &SessionId,
        again: CoreInput,
    ) -> Result<(), Refusal> {
        let stands = self.runtime_session.clone();
        if let Some(stands) = stands.as_ref().filter(|stands| self.is_untouched(stands)) {
            self.take_over(stands, session);
            self.out.push(CoreEffect::Again(Box::new(again)));
            return Ok(());
        }
        if !self.abilities.new_session {
            let what = "the runtime has begun another conversation, and can neither go back to this one nor begin a new one";
            let refusal = Refusal::new(RefusalKind::Unsupported, what);
            return Err(refusal.hint("start it again, and open this session before anything is said"));
        }
        let new = Command::Library(LibraryCommand::New { cwd: None, title: None, id: None });
        let from = stands.unwrap_or_else(|| session.clone());
        self.consult_then(ui, ticket, from, new, Some(Box::new(again)))
    }

    /// The runtime has begun a session for a command about a kept one, which is taken now.
    pub(super) fn begun_for(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        command: &Command,
        begun: &SessionSummary,
        again: CoreInput,
    ) {
        let begun = self.stand(command, begun);
        if self.is_untouched(&begun) {
            return self.out.push(CoreEffect::Again(Box::new(again)));
        }
        let what = "the runtime was told to start over, and went to a session in which something was said";
        self.settle(ui, ticket, Err(Refusal::new(RefusalKind::Internal, what)));
    }

    /// What the runtime has begun, and nobody has said anything in, is a kept session from now on.
    fn take_over(&mut self, begun: &SessionId, kept: &SessionId) {
        let sought = self.finding.give_up(begun);
        let begun_as = self.state(begun).and_then(|state| state.settings.origin.clone());
        let Some(origin) = sought.or(begun_as) else { return };
        let before = self.state(kept).and_then(|state| state.settings.origin.clone());
        let was_said = !self.is_untouched(kept);
        self.names.forget(kept);
        self.move_to(begun, kept);
        if was_said {
            let was_named = before.as_ref().is_some_and(|before| before.session.is_some());
            self.begins_anew(
                kept,
                match was_named {
                    true => "The runtime cannot go back to this session.",
                    false => "The runtime has never named this session, so it cannot go back to it.",
                },
            );
        }
        if before.as_ref() != Some(&origin) {
            self.emit(kept, Body::Session(SessionEvent::CameFrom { origin }));
        }
        self.heed_waiting();
    }

    /// The runtime does not have a session that it was told to open and that is kept: it goes by no name from now on.
    pub(super) fn has_forgotten(&mut self, command: &Command, with: &Result<Receipt, Refusal>) -> bool {
        let (Command::Library(LibraryCommand::Open { session }), Err(refusal)) = (command, with) else {
            return false;
        };
        let session = self.here(session);
        let is_kept = self.keeps_theirs() && self.sessions.contains_key(&session);
        let stands = self.runtime_session.as_ref() == Some(&session);
        let is_gone = matches!(refusal.kind, RefusalKind::SessionUnknown | RefusalKind::Unsupported);
        let is_forgotten = is_kept && !stands && is_gone && self.is_named(&session);
        if is_forgotten {
            self.names.forget(&session);
        }
        is_forgotten
    }

    /// The kept session that the runtime was told to open, where it opened it under another name: it goes by that one.
    pub(super) fn reopened(&mut self, command: &Command, theirs: &SessionId) -> Option<SessionId> {
        let Command::Library(LibraryCommand::Open { session }) = command else { return None };
        let kept = self.here(session);
        if !self.keeps_theirs() || !self.sessions.contains_key(&kept) {
            return None;
        }
        self.call(&kept, theirs.clone());
        self.finding.reopened = Some(kept.clone());
        Some(kept)
    }

    /// Whether the sessions that there are have to be listed from what is kept alone.
    pub(super) fn lists_kept(&self, command: &LibraryCommand) -> bool {
        matches!(command, LibraryCommand::List { .. }) && self.keeps_theirs() && !self.abilities.sessions
    }

    /// Lists what is kept of the runtime, with what it lists itself.
    pub(super) fn list_kept(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        command: &LibraryCommand,
        theirs: Option<Vec<SessionSummary>>,
    ) -> Result<(), Refusal> {
        let LibraryCommand::List { scope, limit, search } = command else { return Ok(()) };
        let project = match scope {
            ListScope::All => None,
            ListScope::Project(Some(project)) => Some(project.clone()),
            ListScope::Project(None) => Some(self.setup.project.clone()),
        };
        let limit = limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
        // What the runtime found is looked up by its name, whatever is in it.
        let search = search.clone().filter(|_| theirs.is_none());
        let wanted = KeptList { theirs, project, limit, is_search: search.is_some() };
        let request = Request::List { project: None, limit: None, search };
        self.fetch(ui, ticket, Purpose::ListKept(Box::new(wanted)), request)
    }

    /// The sessions of the runtime: those that it lists, by the ids that they are kept under; else those that are kept.
    pub(super) fn listed(&mut self, wanted: KeptList, kept: Vec<SessionSummary>) -> Vec<SessionSummary> {
        let KeptList { theirs, project, limit, is_search } = wanted;
        let Some(origin) = self.origin.clone() else { return theirs.unwrap_or_default() };
        let is_ours =
            |entry: &SessionSummary| entry.origin.as_deref().is_some_and(|of| of.is_beside(&origin));
        let kept: Vec<SessionSummary> = kept.into_iter().filter(is_ours).collect();
        let in_project = |entry: &SessionSummary| project.as_ref().is_none_or(|of| entry.project == *of);
        let Some(theirs) = theirs else {
            let known: BTreeSet<SessionId> = kept.iter().map(|entry| entry.id.clone()).collect();
            // Nothing waits for the store here: what was said last may not be in it yet.
            let said =
                self.own().filter(|(id, _)| !is_search && !known.contains(id) && !self.is_untouched(id));
            let said: Vec<_> = said.map(|(id, live)| SessionSummary::of(id, &live.state)).collect();
            let mut all = self.renewed(kept.into_iter().chain(said).filter(in_project).collect());
            all.truncate(limit.unwrap_or(usize::MAX));
            // Here they are not another program's.
            all.iter_mut().for_each(|entry| entry.origin = None);
            return all;
        };
        let mut all = Vec::new();
        for mut entry in theirs {
            let same = kept.iter().find(|kept| name_of(kept).is_some_and(|name| name == entry.id));
            let is_ours =
                self.sessions.contains_key(&entry.id) || kept.iter().any(|kept| kept.id == entry.id);
            let to_be = origin.named(entry.id.as_str()).kept_as().filter(|_| !is_ours);
            if let Some(id) = same.map(|kept| kept.id.clone()).or(to_be) {
                // What a UI opens by its list keeps the id that it had there.
                self.call(&id, entry.id.clone());
                entry.id = id;
            }
            if let Some(kept) = kept.iter().find(|kept| kept.id == entry.id) {
                tell_more(&mut entry, kept);
            }
            all.push(entry);
        }
        // A runtime that shares our store lists what is kept of it as well.
        let mut seen = BTreeSet::new();
        all.retain(|entry| seen.insert(entry.id.clone()));
        all
    }
}

/// What a runtime does not tell of a session in its list is told as it is kept.
fn tell_more(entry: &mut SessionSummary, kept: &SessionSummary) {
    if entry.messages == 0 {
        (entry.messages, entry.last_prompt) = (kept.messages, kept.last_prompt.clone());
    }
    let name = kept.origin.as_deref().and_then(|origin| origin.session.as_deref());
    if entry.title.is_empty() || entry.title == UNTITLED || name == Some(entry.title.as_str()) {
        entry.title.clone_from(&kept.title);
    }
}

fn name_of(entry: &SessionSummary) -> Option<SessionId> {
    let origin: &Origin = entry.origin.as_deref()?;
    origin.session.as_deref().map(SessionId::of_peer)
}
