//! The sessions of a server that has several: those that run there and those that are saved, as one list, and the way to one of them.
//!
//! The server tells them in two lists, which are asked for one after the other. A session that runs there is put in front; only one that
//! does not is opened by its file, since the server would make a second one of it. Invariant: `session_file` is always a path, of a list
//! or of the person.

use super::super::wire::frame::{Running, RunningSessions, Saved, SessionsList};
use super::super::wire::{self, StartSession, Words};
use super::commands::{PATIENCE, UnsettledCommand, Wanted, summary};
use super::{Handshake, LemonUi};
use domain::command::{Receipt, Refusal, RefusalKind};
use domain::ids::{Millis, SessionId};
use domain::session::SessionSummary;
use rolekit::session_name;
use roles::{HANDSHAKE_TIMEOUT, Seen, UiCx};
use std::borrow::Cow;

/// Most sessions that are remembered of a list.
const MAX_KNOWN: usize = 10_000;
/// Sessions that are named when the one that was wanted is not there.
const MAX_NAMED: usize = 5;

/// What a list is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ListFor {
    /// It is wanted itself.
    Telling,
    /// To see how this session is opened.
    Opening(SessionId),
}

/// The sessions as the server last told them, in its order.
#[derive(Debug, Default)]
pub(super) struct KnownSessions {
    saved: Vec<SavedSession>,
    running: Vec<RunningSession>,
}

#[derive(Debug)]
struct SavedSession {
    summary: SessionSummary,
    id: String,
    path: String,
}

#[derive(Debug)]
struct RunningSession {
    summary: SessionSummary,
    id: String,
}

/// How one goes to a session.
#[derive(Debug, PartialEq, Eq)]
enum WayTo {
    /// It runs there, by this id.
    Running(String),
    /// It is saved there, in this file.
    Saved(String),
}

impl KnownSessions {
    /// One list of both: what runs there first, in the order of the server.
    fn summaries(&self) -> Vec<SessionSummary> {
        let running = |session: &SessionId| self.running.iter().find(|one| one.summary.id == *session);
        let is_saved =
            |one: &&RunningSession| !self.saved.iter().any(|saved| saved.summary.id == one.summary.id);
        let unsaved = self.running.iter().filter(is_saved).map(|one| one.summary.clone());
        let saved = self.saved.iter().map(|saved| SessionSummary {
            running: running(&saved.summary.id).is_some_and(|one| one.summary.running),
            ..saved.summary.clone()
        });
        unsaved.chain(saved).collect()
    }

    fn way_to(&self, session: &SessionId) -> Option<WayTo> {
        let running = self.running.iter().find(|one| one.summary.id == *session);
        let saved = self.saved.iter().find(|saved| saved.summary.id == *session && !saved.path.is_empty());
        let running = running.map(|one| WayTo::Running(one.id.clone()));
        running.or_else(|| saved.map(|saved| WayTo::Saved(saved.path.clone())))
    }

    /// The session that a person names: by its id or its path, or by a beginning of its id that no other has.
    fn find(&self, name: &str) -> Option<SessionId> {
        let running = self.running.iter().map(|one| (&one.summary.id, one.id.as_str(), ""));
        let saved =
            self.saved.iter().map(|saved| (&saved.summary.id, saved.id.as_str(), saved.path.as_str()));
        let all: Vec<(&SessionId, &str, &str)> = running.chain(saved).collect();
        let exact =
            all.iter().find(|(known, id, path)| *id == name || *path == name || known.as_str() == name);
        if let Some((session, ..)) = exact {
            return Some((*session).clone());
        }
        let mut alike = all.iter().filter(|(_, id, _)| id.starts_with(name)).map(|(session, ..)| *session);
        let first = alike.next()?;
        alike.all(|other| other == first).then(|| first.clone())
    }

    /// A few of them, for who named none of them.
    fn some(&self) -> String {
        let mut ids: Vec<&str> = self.running.iter().map(|one| one.id.as_str()).collect();
        ids.extend(self.saved.iter().map(|saved| saved.id.as_str()));
        ids.dedup();
        if ids.is_empty() {
            return "it has none".to_owned();
        }
        let more = if ids.len() > MAX_NAMED { ", …" } else { "" };
        format!("it has {}{more}", ids[..ids.len().min(MAX_NAMED)].join(", "))
    }
}

/// The session that a server names like this. One of ours names them by another word than their ids.
pub(super) fn known_as(name: &str) -> SessionId {
    session_name::read(name).unwrap_or_else(|| SessionId::of_peer(name))
}

/// Whether a server that was asked for one session and names another means the same: ours take a beginning of a name, and our own ids.
pub(super) fn is_same(wanted: &str, said: &str) -> bool {
    let same_id = session_name::read(wanted).is_some_and(|id| session_name::read(said) == Some(id));
    wanted == said || same_id || said.starts_with(wanted)
}

impl LemonUi {
    /// Looks for the session that the person named, before anything else is done.
    pub(super) fn look_for(&mut self, cx: &mut UiCx<'_>, wanted: &str) {
        if wanted.contains('/') {
            let session_file = Some(wanted.to_owned());
            return self.begin_session(cx, StartSession { session_file, ..StartSession::default() });
        }
        self.handshake = Handshake::Looking(wanted.to_owned());
        self.send(cx, &wire::Command::ListSessions);
        cx.timer(super::HANDSHAKE, HANDSHAKE_TIMEOUT);
    }

    /// The saved sessions came; those that run are asked for next.
    pub(super) fn heard_saved(&mut self, cx: &mut UiCx<'_>, said: SessionsList<'_>) {
        let error = said.error.as_ref().map(Words::shown).filter(|error| !error.is_empty());
        self.known.saved = said.sessions.into_iter().take(MAX_KNOWN).filter_map(saved).collect();
        if matches!(self.handshake, Handshake::Looking(_)) {
            return self.send(cx, &wire::Command::ListRunningSessions);
        }
        let lists = |pending: &UnsettledCommand| matches!(pending.wanted, Wanted::Sessions(_));
        let Some(at) = self.pending.iter().position(lists) else { return };
        if let (Some(error), Wanted::Sessions(ListFor::Telling)) = (error, &self.pending[at].wanted) {
            let refusal = Refusal::new(RefusalKind::Remote { code: "sessions_list".to_owned() }, error);
            self.settle_wanted(cx, |wanted| *wanted == Wanted::Sessions(ListFor::Telling), Err(refusal));
            return;
        }
        self.send(cx, &wire::Command::ListRunningSessions);
        if let Some(pending) = self.pending.get_mut(at) {
            if let Wanted::Sessions(purpose) = &pending.wanted {
                pending.wanted = Wanted::Running(purpose.clone());
            }
            cx.timer(pending.key, PATIENCE);
        }
    }

    /// The sessions that run there came.
    pub(super) fn heard_running(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, said: RunningSessions<'_>) {
        let now = cx.now;
        let unsaid = seen.state.entries.is_empty();
        self.known.running.clear();
        for Running { session_id, cwd, is_streaming, model } in said.sessions.into_iter().take(MAX_KNOWN) {
            let id = session_id.into_owned();
            // The session in front is in no list before something was said in it: nobody would want to go back to it.
            if id.is_empty() || unsaid && self.session.as_deref() == Some(id.as_str()) {
                continue;
            }
            let summary =
                SessionSummary { running: is_streaming, ..summary(&id, cwd.into_owned(), now, None) };
            self.learn_model(&id, &model.into_owned());
            self.known.running.push(RunningSession { summary, id });
        }
        self.lists_are_here(cx);
    }

    /// Both lists are here, or the server has no second one.
    pub(super) fn lists_are_here(&mut self, cx: &mut UiCx<'_>) {
        if let Handshake::Looking(wanted) = &self.handshake {
            let wanted = wanted.clone();
            return self.choose(cx, &wanted);
        }
        let running = |pending: &UnsettledCommand| matches!(pending.wanted, Wanted::Running(_));
        let Some(at) = self.pending.iter().position(running) else { return };
        let Wanted::Running(purpose) = self.pending[at].wanted.clone() else { return };
        match purpose {
            ListFor::Telling => {
                let sessions = Ok(Receipt::Sessions(self.known.summaries()));
                self.settle_wanted(cx, |wanted| *wanted == Wanted::Running(ListFor::Telling), sessions);
            }
            ListFor::Opening(session) => self.go_to(cx, at, &session),
        }
    }

    /// The session that was named for the beginning, or why it cannot be had.
    fn choose(&mut self, cx: &mut UiCx<'_>, wanted: &str) {
        let way = self.known.find(wanted).and_then(|session| self.known.way_to(&session));
        match way {
            Some(WayTo::Saved(path)) => {
                let session_file = Some(path);
                self.begin_session(cx, StartSession { session_file, ..StartSession::default() });
            }
            way => {
                // One that no list has may be known all the same.
                let id = match way {
                    Some(WayTo::Running(id)) => id,
                    _ => wanted.to_owned(),
                };
                self.handshake = Handshake::Activating { id: id.clone(), named: wanted.to_owned() };
                self.send(cx, &wire::Command::SetActiveSession { session_id: Some(id) });
                cx.timer(super::HANDSHAKE, HANDSHAKE_TIMEOUT);
            }
        }
    }

    /// Why the session that was named for the beginning cannot be had.
    pub(super) fn not_there(&self, named: &str) -> String {
        format!("there is no session {named} on this server; {}", self.known.some())
    }

    /// Goes to a session for the command that waits at this place.
    fn go_to(&mut self, cx: &mut UiCx<'_>, at: usize, session: &SessionId) {
        let (command, wanted) = match self.known.way_to(session) {
            Some(WayTo::Saved(path)) => {
                let start = StartSession { session_file: Some(path), ..StartSession::default() };
                (wire::Command::StartSession(start), Wanted::Session)
            }
            // Our own servers know sessions that no list of theirs has; others have listed theirs, or had us in them.
            None if session_name::write(session) == session.as_str()
                && !self.models.keys().any(|been| known_as(been) == *session) =>
            {
                let refusal = Refusal::new(RefusalKind::SessionUnknown, self.not_there(session.as_str()));
                let is = Wanted::Running(ListFor::Opening(session.clone()));
                self.settle_wanted(cx, |wanted| *wanted == is, Err(refusal));
                return;
            }
            way => {
                let id = match way {
                    Some(WayTo::Running(id)) => id,
                    _ => session_name::write(session),
                };
                (wire::Command::SetActiveSession { session_id: Some(id.clone()) }, Wanted::Active(id))
            }
        };
        self.send(cx, &command);
        if let Some(pending) = self.pending.get_mut(at) {
            pending.wanted = wanted;
            cx.timer(pending.key, PATIENCE);
        }
    }

    /// Where a session of the list works, as far as it was told.
    pub(super) fn folder_of(&self, id: &str) -> String {
        let running = self.known.running.iter().find(|one| one.id == id);
        running.map(|one| one.summary.cwd.clone()).unwrap_or_default()
    }
}

/// Servers name a saved session by its file, by its id, or by both.
fn saved(said: Saved<'_>) -> Option<SavedSession> {
    let Saved { path, id, timestamp, cwd, title } = said;
    let (path, id) = (path.into_owned(), id.into_owned());
    let name = [&id, &path].into_iter().find(|name| !name.is_empty())?.clone();
    let summary = summary(&name, cwd.into_owned(), Millis(timestamp), title.map(Cow::into_owned));
    Some(SavedSession { summary, id: name, path })
}
