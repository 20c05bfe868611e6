//! Asks: opened by an engine, closed once by an answer, a deadline, a cancel, or because nobody can be asked.

use super::engine::{UNANSWERED, UNASKED};
use super::{Core, Engine, Live, Sharing};
use domain::ask::{Answer, Ask, AskKind, Closing};
use domain::ask_book::MAX_OPEN_ASKS;
use domain::canon;
use domain::command::{Command, Refusal};
use domain::event::{AskEvent, Body};
use domain::ids::{AskId, Millis, SessionId, UiId};
use domain::port::{Order, Ticket};

impl Core {
    /// An engine asks: gives the ask its deadline, or closes it at once when nobody who sees it could answer, or more than a person
    /// can look through is open already.
    pub(super) fn open_ask(&mut self, session: &SessionId, mut ask: Ask) {
        let consent = matches!(ask.kind, AskKind::Consent(_));
        if ask.deadline.is_none() {
            ask.deadline = self.deadline(session, consent);
        }
        ask.deadline = [ask.deadline, self.waits_until(session, consent)].into_iter().flatten().min();
        let id = ask.id;
        let crowded = self.live(session).is_ok_and(|live| live.state.asks.len() >= MAX_OPEN_ASKS);
        self.emit(session, Body::Ask(AskEvent::Opened(ask)));
        if let Some(closing) = self.own_answer(session, id) {
            self.close_ask(session, id, closing, None);
        } else if crowded || self.is_overseen(session, consent) && !self.attended(session, consent) {
            self.close_ask(session, id, Closing::Unattended, None);
        } else {
            self.limit_unshown(session, id, consent);
        }
        self.wake();
    }

    /// The latest that any UI which can answer allows; `None` when one of them waits for ever.
    fn deadline(&self, session: &SessionId, consent: bool) -> Option<Millis> {
        let waits: Option<Vec<u64>> = self
            .able(session, consent)
            .map(|seat| seat.answers.deadline.map(|d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX)))
            .collect();
        waits?.into_iter().max().map(|longest| Millis(self.now.0.saturating_add(longest)))
    }

    /// A person answers: the first answer counts, and the engine hears it.
    pub(super) fn answer(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: &SessionId,
        ask: AskId,
        answer: Answer,
    ) -> Result<(), Refusal> {
        let by = self.name_of(ui);
        let closing = self.live(session)?.state.close_with(ask, &answer, by.clone())?;
        self.learn(session, ask, &answer)?;
        self.keep_yes(session, ask, &answer);
        self.keep_plain_yes(session, ask, &answer);
        let secret = Closing::Answered { answer, by };
        self.close_ask(session, ask, closing, Some(secret));
        self.done(ui, ticket)
    }

    /// Closes an ask in the record and tells the engine; `full` is what the engine hears when the record must hold less.
    pub(super) fn close_ask(
        &mut self,
        session: &SessionId,
        ask: AskId,
        closing: Closing,
        full: Option<Closing>,
    ) {
        let Some(live) = self.sessions.get(session) else { return };
        let Some(open) = live.state.ask(ask) else { return };
        let is_consent = open.about().is_some();
        // Our own engine records its decisions itself.
        let decision = live.canon.as_ref().and_then(|_| canon::decision(&live.state, ask, &closing));
        let ours = self.own_answer(session, ask);
        let decision = decision.map(|decision| self.decided_here(decision, ours.as_ref(), &closing));
        self.emit(session, Body::Ask(AskEvent::Closed { ask, closing: closing.clone() }));
        self.emit_all(session, decision.into_iter().collect());
        let closing = self.setup.engine.hears(is_consent, full.unwrap_or(closing));
        let closing = self.unmask_closing(session, closing);
        self.out.push(super::CoreEffect::Order(Order::AskClosed { session: session.clone(), ask, closing }));
    }

    /// Closes the asks whose deadline has come.
    pub(super) fn expire_asks(&mut self, session: &SessionId) {
        let expired = match self.sessions.get(session) {
            Some(live) => live.state.expired_asks(self.now),
            None => Vec::new(),
        };
        for ask in expired {
            self.close_ask(session, ask, Closing::Expired, None);
        }
    }

    /// A lossless runtime asks through us: where nobody here can answer, it is told so instead of being let wait for ever.
    pub(super) fn decline_mirrored(&mut self, session: &SessionId, ask: &Ask) {
        let consent = matches!(ask.kind, AskKind::Consent(_));
        let Ok(live) = self.live(session) else { return };
        let is_ours = live.may_decline(ask);
        let begun_here = is_ours || ask.run.is_some() && ask.run == live.own_run;
        if is_ours && self.is_overseen(session, consent) && !self.is_asked(session, consent, ask.id) {
            return self.decline(session, ask.id, consent, &Closing::Unattended);
        }
        if live.sharing == Sharing::Counted && !is_ours {
            self.tell_shown(session, ask.id, consent);
        }
        if is_ours {
            self.limit_unshown(session, ask.id, consent);
        }
        if begun_here {
            self.limit_waiting(session, ask.id, consent);
        }
    }

    /// The answer to a question of a lossless runtime that nobody here can answer: whether it is over is the runtime's to say.
    pub(super) fn decline(&mut self, session: &SessionId, ask: AskId, consent: bool, closing: &Closing) {
        let reason = if *closing == Closing::Expired { UNANSWERED } else { UNASKED };
        let answer = match consent {
            true => Answer::Deny { reason: Some(reason.to_owned()) },
            false => Answer::Dismissed,
        };
        self.next_ticket += 1;
        self.out.push(super::CoreEffect::Order(Order::Consult {
            ticket: Ticket(self.next_ticket),
            session: session.clone(),
            command: Command::Answer { ask, answer },
            grounds: Box::default(),
        }));
    }

    /// Closes the asks that nobody left can answer. With nobody there whom they are for they wait for one to come back.
    pub(super) fn unattended(&mut self, session: &SessionId) {
        let Some(live) = self.sessions.get(session) else { return };
        let asks = live.state.asks.iter().filter(|ask| live.may_decline(ask));
        let asks: Vec<(AskId, bool)> =
            asks.map(|ask| (ask.id, matches!(ask.kind, AskKind::Consent(_)))).collect();
        let mirrored = matches!(live.engine, Engine::Mirrored);
        for (ask, consent) in asks {
            match self.is_asked(session, consent, ask) || !self.is_overseen(session, consent) {
                true => {}
                false if mirrored => self.decline(session, ask, consent, &Closing::Unattended),
                false => self.close_ask(session, ask, Closing::Unattended, None),
            }
        }
    }

    /// A UI was asked and cannot be: the question stays open for others who can answer, and is over where there are none.
    pub(super) fn cannot_answer(&mut self, ui: UiId, session: &SessionId, ask: AskId) {
        let session = self.here(session);
        let Self { uis, sessions, .. } = self;
        let Some(seat) = uis.get_mut(&ui) else { return };
        // Only what is open is remembered.
        let is_open = |(session, ask): &(SessionId, AskId)| {
            sessions.get(session).is_some_and(|live| live.state.ask(*ask).is_some())
        };
        seat.unanswerable.insert((session.clone(), ask));
        seat.unanswerable.retain(is_open);
        self.unattended(&session);
    }
}

impl Live {
    /// Whether a question that nobody here can answer is ended from here.
    fn may_decline(&self, ask: &Ask) -> bool {
        match self.sharing {
            Sharing::Alone => true,
            Sharing::Counted => ask.run.is_some() && ask.run == self.own_run,
            Sharing::Mute => false,
        }
    }
}
