//! What the hub made of a request.

use super::{AsstRuntime, HubRequest, OpenRequest, lower};
use crate::wire::Conversation;
use domain::command::{Command, LibraryCommand, Receipt, Refusal, RefusalKind, Target};
use domain::ids::SessionId;
use domain::state::{EntryKind, State};
use rolekit::narrator::Narrator;
use roles::{RuntimeCx, View};
use serde_json::Value;

impl AsstRuntime {
    /// Answers the request, or goes on with it, as the hub decided.
    pub(super) fn settle(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        pending: HubRequest,
        with: Result<Receipt, Refusal>,
    ) {
        let HubRequest { id, what } = pending;
        match with {
            Ok(receipt) => self.taken(cx, view, id, what, receipt),
            Err(refusal) => self.refused(cx, id, what, &refusal),
        }
    }

    fn taken(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        id: Value,
        what: OpenRequest,
        receipt: Receipt,
    ) {
        match (what, receipt) {
            (OpenRequest::Message { .. }, Receipt::Started { session, run }) => {
                // Going back to a session that was seen before is not announced.
                self.current = Some(session.clone());
                self.sessions.entry(session).or_default().starting = Some((run, id));
            }
            (OpenRequest::Message { input, session, .. }, Receipt::Queued { item, .. }) => {
                let session = session.or_else(|| view.map(|view| view.session.clone()));
                if let Some(session) = session {
                    self.current = Some(session.clone());
                    self.sessions.entry(session).or_default().queued.insert(item, (id, input));
                }
            }
            (OpenRequest::Message { session, .. }, _) => self.started_elsewhere(cx, view, id, session),
            (OpenRequest::Make { input, .. }, Receipt::Session { session, .. }) => {
                self.message_in(cx, id, input, Some(session.id), true);
            }
            (OpenRequest::Clear { .. }, _) => cx.send(lower::done(cx.now, &id, None)),
            (OpenRequest::Status { session }, receipt) => {
                let shown = view.filter(|view| *view.session == session);
                let counted = if let Receipt::Stats(stats) = receipt { stats.messages } else { 0 };
                let length = shown.map_or(counted, |view| messages(view.state));
                self.status(cx, &id, length);
            }
            (OpenRequest::New { .. }, Receipt::Session { session, .. }) => {
                self.current = Some(session.id.clone());
                let data = Conversation::new(session.id.as_str(), None);
                cx.send(lower::done(cx.now, &id, Some(data)));
            }
            (OpenRequest::Load { conversation }, Receipt::Session { session, .. }) => {
                let shown = view.filter(|view| *view.session == session.id);
                // A runtime that tells no past may tell how long it is.
                let count = shown.map_or(0, |view| messages(view.state)).max(session.messages);
                self.current = Some(session.id);
                let data = Conversation::new(&conversation, Some(count));
                cx.send(lower::done(cx.now, &id, Some(data)));
            }
            (OpenRequest::New { .. } | OpenRequest::Load { .. } | OpenRequest::Make { .. }, _) => {
                cx.send(lower::error(
                    cx.now,
                    &id,
                    "Failed to process request: an answer of another kind came",
                ));
            }
        }
    }

    /// A foreign runtime behind us took the message; it does not know our number of the run, which may be under way already.
    fn started_elsewhere(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        id: Value,
        session: Option<SessionId>,
    ) {
        let shown = view.filter(|view| session.as_ref().is_none_or(|session| session == view.session));
        let Some((shown, run)) = shown.and_then(|view| Some((view, view.state.runs.last()?))) else {
            let why = "Failed to process request: the runtime took the message and began nothing";
            return cx.send(lower::error(cx.now, &id, why));
        };
        let requests = self.sessions.entry(shown.session.clone()).or_default();
        match &run.ended {
            Some((_, outcome)) => {
                let why = lower::why(outcome);
                Self::end(cx, vec![id], why.as_deref());
            }
            None if run.open_turn().is_some() => {
                requests.telling = Some(lower::Telling::new(vec![id], Narrator::amid(run.id, shown.state)));
            }
            None => requests.starting = Some((run.id, id)),
        }
    }

    fn refused(&mut self, cx: &mut RuntimeCx<'_>, id: Value, what: OpenRequest, refusal: &Refusal) {
        match (what, &refusal.kind) {
            // A conversation that the shell named and that is new.
            (
                OpenRequest::Message { input, session: Some(session), is_made: false },
                RefusalKind::SessionUnknown,
            ) => {
                let command = Command::Library(LibraryCommand::New {
                    cwd: None,
                    title: None,
                    id: Some(session.clone()),
                });
                self.ask_hub(cx, Target::Current, command, id, OpenRequest::Make { input, session });
            }
            // What the wire has no word for waits until the run is over.
            (
                request @ (OpenRequest::Message { session: Some(_), .. } | OpenRequest::Clear { .. }),
                RefusalKind::Busy,
            ) => {
                let session = match &request {
                    OpenRequest::Message { session: Some(session), .. } | OpenRequest::Clear { session } => {
                        session.clone()
                    }
                    _ => return,
                };
                self.sessions.entry(session).or_default().parked.push_back((id, request));
            }
            (OpenRequest::Load { conversation }, RefusalKind::SessionUnknown) => {
                let shown: String = conversation.chars().take(80).collect();
                cx.send(lower::error(cx.now, &id, format!("There is no conversation {shown}")));
            }
            _ => cx.send(lower::error(cx.now, &id, format!("Failed to process request: {refusal}"))),
        }
    }
}

/// How long the conversation is: what the person and the model said on the active path.
fn messages(state: &State) -> u64 {
    let path = state.path();
    path.iter().filter(|entry| matches!(entry.kind, EntryKind::Message(_))).count() as u64
}
