//! The projection of a session as it stands, for going on where the log was left.

use super::{OpenMessage, Projection};
use domain::content::Role;
use domain::ids::{Millis, Seq, SessionId};
use domain::session::SessionSummary;
use domain::state::{EntryKind, Message, State};

impl Projection {
    /// Of a session as it stands.
    pub fn of(session: &SessionId, state: &State) -> Projection {
        let mut projection = Projection::new(session);
        let messages = state.open_messages().into_iter().filter_map(|id| state.message(id));
        projection.open = messages.map(|m| (m.id, OpenMessage::of(m, state))).collect();
        let said = |m: &Message| m.role == Role::User && m.finish.is_some();
        let prompted =
            state.entries.values().any(|entry| matches!(&entry.kind, EntryKind::Message(m) if said(m)));
        projection.titled = state.settings.title.is_some() || prompted;
        projection.summary = SessionSummary::of(session, state);
        projection
    }
}

impl OpenMessage {
    fn of(message: &Message, state: &State) -> OpenMessage {
        let at = state.entries.get(&message.id.into()).map_or(Millis(0), |entry| entry.at);
        OpenMessage { role: message.role, at, first: Seq(0), text: message.text() }
    }
}
