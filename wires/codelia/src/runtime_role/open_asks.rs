//! Asks as requests to the UI: first come, first asked, one open at a time, because the existing UI shows one and forgets the rest.
//!
//! The desk decides nothing: an answer becomes a command, and the request is over when the ask is closed, by whoever. An answer that
//! comes after that is ignored. The wire cannot take a question back, so an unanswered request may stay on the UI's screen.

use super::super::wire::{ConfirmResult, UiCapabilities};
use super::asking::{Request, lift_answer};
use domain::ask::{Answer, Ask, AskKind};
use domain::ids::{AskId, Millis, SessionId};
use serde_json::value::RawValue;
use std::collections::VecDeque;
use wire::jsonrpc::RpcError;
use wire::{Correlation, WireId};

/// Most asks that wait behind the open one; the hub allows fewer per session.
const MAX_WAITING: usize = 1024;
/// A yes that comes sooner was typed before the question could be read.
pub const READ_WITHIN_MS: u64 = 1_000;

/// One UI watches several sessions, and each numbers its asks by itself.
#[derive(Debug, Clone)]
pub(super) struct SessionAsk {
    pub(super) session: SessionId,
    pub(super) ask: Ask,
    pub(super) request: Request,
}

#[derive(Debug)]
struct Open {
    id: WireId,
    asked: SessionAsk,
    answered: bool,
    since: Millis,
    /// It was asked before, and answered too soon.
    again: bool,
}

/// What is open and what waits.
#[derive(Debug, Default)]
pub(super) struct OpenAsks {
    ids: Correlation<()>,
    open: Option<Open>,
    waiting: VecDeque<SessionAsk>,
}

/// What an incoming answer is.
#[derive(Debug)]
pub(super) enum AskAnswer {
    /// An answer to the open ask; `odd` says what was wrong with it, if anything.
    Answer {
        session: SessionId,
        ask: AskId,
        answer: Answer,
        odd: Option<String>,
        /// The action that a no is to be remembered for.
        lasting_no: Option<String>,
    },
    /// A yes that nobody can have meant: the question is open again, once, under this id.
    Again(WireId, Request),
    /// To a question that is closed or was never asked.
    Stale,
}

impl OpenAsks {
    /// Whether a UI with these capabilities can answer.
    pub(super) fn can_ask(ui: &UiCapabilities, kind: &AskKind) -> bool {
        match kind {
            AskKind::Consent(_) | AskKind::Confirm { .. } => ui.supports_confirm,
            AskKind::Choose { .. } => ui.supports_pick,
            AskKind::Text { .. } | AskKind::Edit { .. } => ui.supports_prompt,
        }
    }

    /// Puts an ask at the end of the line; false when there is no room.
    pub(super) fn add(&mut self, asked: SessionAsk) -> bool {
        let known = self.open.iter().map(|open| &open.asked).chain(&self.waiting);
        if known.into_iter().any(|other| other.session == asked.session && other.ask.id == asked.ask.id) {
            return true;
        }
        let room = self.waiting.len() < MAX_WAITING;
        if room {
            self.waiting.push_back(asked);
        }
        room
    }

    /// The next ask to send, of those that may be asked now, if none is open: it is open from now on.
    pub(super) fn next(
        &mut self,
        now: Millis,
        may_ask: impl Fn(&SessionAsk) -> bool,
    ) -> Option<(WireId, SessionAsk)> {
        if self.open.is_some() {
            return None;
        }
        let place = self.waiting.iter().position(may_ask)?;
        let asked = self.waiting.remove(place)?;
        let id = self.ids.next_string_id("ui_");
        self.open =
            Some(Open { id: id.clone(), asked: asked.clone(), answered: false, since: now, again: false });
        Some((id, asked))
    }

    /// The ask is over. Gives it back if it was the open one.
    pub(super) fn close(&mut self, session: &SessionId, ask: AskId) -> Option<SessionAsk> {
        let is = |asked: &SessionAsk| asked.session == *session && asked.ask.id == ask;
        self.waiting.retain(|asked| !is(asked));
        self.open.take_if(|open| is(&open.asked)).map(|open| open.asked)
    }

    /// Nothing of this session can be answered here any more.
    pub(super) fn forget(&mut self, session: &SessionId) {
        self.waiting.retain(|asked| asked.session != *session);
        self.open.take_if(|open| open.asked.session == *session);
    }

    /// A response of the UI; `typed_ahead` when what is typed before a question comes can be its answer there.
    pub(super) fn hear(
        &mut self,
        now: Millis,
        typed_ahead: bool,
        id: &WireId,
        outcome: Result<&RawValue, RpcError>,
    ) -> AskAnswer {
        let Some(open) = self.open.as_mut().filter(|open| open.id == *id && !open.answered) else {
            return AskAnswer::Stale;
        };
        let raw = outcome.as_ref().ok().and_then(|raw| serde_json::from_str::<ConfirmResult>(raw.get()).ok());
        let is_lasting = raw.is_some_and(|result| !result.ok && result.remember);
        let lasting_no = action(&open.asked.ask.kind).filter(|_| is_lasting);
        let (answer, odd) = lift_answer(&open.asked.ask.kind, &open.asked.request, outcome);
        let unread = typed_ahead && !open.again && now.since(open.since) < READ_WITHIN_MS;
        if unread && !open.asked.request.says_no(&answer) {
            (open.id, open.again, open.since) = (self.ids.next_string_id("ui_"), true, now);
            return AskAnswer::Again(open.id.clone(), open.asked.request.again());
        }
        open.answered = true;
        let (session, ask) = (open.asked.session.clone(), open.asked.ask.id);
        AskAnswer::Answer { session, ask, answer, odd, lasting_no }
    }
}

/// What a consent is about, as far as another one can be the same.
pub(super) fn action(kind: &AskKind) -> Option<String> {
    match kind {
        AskKind::Consent(consent) => Some(format!("{}\n{}", consent.name, consent.args)),
        AskKind::Confirm { .. } | AskKind::Choose { .. } | AskKind::Text { .. } | AskKind::Edit { .. } => {
            None
        }
    }
}
