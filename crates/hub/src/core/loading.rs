//! Sessions that a UI loads from files: under which id they stand.
//!
//! A file that was saved here leads back to its session, to where that stood then: what was said since stays in its tree. One whose session
//! is not here becomes a session of that id. What it is not: the reading of files (`shell/files.rs`, `export`). Invariants: nothing that a
//! file says takes the place of what is kept; a file that says something else than the session of its id is a session of its own.

use super::library::Purpose;
use super::{Core, CoreEffect, Import, Request};
use domain::command::Refusal;
use domain::event::{Body, SessionEvent};
use domain::ids::{EntryId, SessionId, UiId};
use domain::port::Ticket;
use domain::state::{Entry, EntryKind, State};
use store::Opened;

impl Core {
    /// A file was read; what is kept under its id is looked at before it is taken.
    pub(super) fn loaded(&mut self, ui: UiId, ticket: Ticket, import: Box<Import>) -> Result<(), Refusal> {
        let Some(was) = import.was.clone() else { return self.take_over_file(ui, ticket, *import, None) };
        match self.sessions.get(&was) {
            None => self.fetch(ui, ticket, Purpose::Place(import), Request::Open { session: was }),
            Some(live) if !self.is_visited(&was) && holds(&live.state, &import.state) => {
                self.go_back(ui, ticket, &was, import.state.leaf)
            }
            Some(_) => self.take_over_file(ui, ticket, *import, None),
        }
    }

    /// What was read from a file keeps its id where nothing is kept under it, or what is kept there holds it.
    pub(super) fn place(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        import: Import,
        kept: Option<Box<Opened>>,
    ) -> Result<(), Refusal> {
        let Some(was) = import.was.clone() else { return self.take_over_file(ui, ticket, import, None) };
        let is_there = self.uis.contains_key(&ui);
        match kept {
            None => self.take_over_file(ui, ticket, import, Some(was)),
            Some(kept)
                if is_there && kept.state.settings.origin.is_none() && holds(&kept.state, &import.state) =>
            {
                self.take_in(&was, *kept)?;
                self.go_back(ui, ticket, &was, import.state.leaf)
            }
            Some(_) => {
                self.out.push(CoreEffect::Release { session: was });
                self.take_over_file(ui, ticket, import, None)
            }
        }
    }

    /// Goes to a session where it stood when it was saved.
    fn go_back(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: &SessionId,
        leaf: Option<EntryId>,
    ) -> Result<(), Refusal> {
        if self.live(session)?.state.leaf != leaf {
            self.idle(session)?;
            self.emit(session, Body::Session(SessionEvent::LeafMoved { leaf }));
        }
        self.enter(ui, ticket, session)
    }

    /// Goes to what was read from a file, as a session of this id or of a new one.
    pub(super) fn take_over_file(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        import: Import,
        id: Option<SessionId>,
    ) -> Result<(), Refusal> {
        if !self.uis.contains_key(&ui) {
            return Ok(());
        }
        let session = self.adopt(import, id);
        // A file cannot say what is allowed: it is as in any new session.
        self.begin_mode(&session);
        self.enter(ui, ticket, &session)
    }
}

/// Whether a session holds the conversation of a file, entry by entry. One without a word is nothing to go back to.
fn holds(kept: &State, file: &State) -> bool {
    let path = file.path();
    let is_held = |entry: &&Entry| {
        let known = kept.entries.get(&entry.id).filter(|known| known.parent == entry.parent);
        known.is_some_and(|known| says_the_same(&known.kind, &entry.kind))
    };
    !path.is_empty() && path.iter().all(is_held)
}

fn says_the_same(one: &EntryKind, other: &EntryKind) -> bool {
    match (one, other) {
        (EntryKind::Message(one), EntryKind::Message(other)) => {
            one.role == other.role && one.text() == other.text() && one.tools().eq(other.tools())
        }
        (EntryKind::Compaction(one), EntryKind::Compaction(other)) => one.summary == other.summary,
        (EntryKind::Notice { text: one, .. }, EntryKind::Notice { text: other, .. }) => one == other,
        _ => false,
    }
}
