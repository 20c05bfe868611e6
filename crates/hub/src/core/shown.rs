//! Questions in a run whose own UI cannot answer them, since its wire has none: another screen of the person's may, once it has said that it
//! shows them, and as long as that UI waits. What it is not: the asks themselves (`asks.rs`).
//!
//! Invariants: such a question is over [`SHOWN_WITHIN_MS`] after it was opened unless somebody who may answer it has it before them; a UI
//! that has no word for that counts as having shown it, as it did before there was one.

use super::{Core, CoreEffect, Live};
use domain::ask::Closing;
use domain::command::{Refusal, Target, shown};
use domain::ids::{AskId, Millis, SessionId, UiId};
use domain::port::{Order, Ticket};
use roles::Answers;

/// How long another screen may take to show a question that the UI whose run asks it cannot answer.
pub const SHOWN_WITHIN_MS: u64 = 2_000;

/// When a question is over, unless it has ended by then.
#[derive(Debug)]
pub(super) struct AskLimit {
    ask: AskId,
    consent: bool,
    at: Millis,
    /// As what: unattended until somebody shows it, expired when its UI has waited long enough.
    closing: Closing,
}

impl Core {
    /// A UI says that a question is on its screen; the process that has the session hears it too.
    pub(super) fn take_shown(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        target: Target,
        ask: AskId,
    ) -> Result<(), Refusal> {
        let session = match self.translated(target) {
            Target::Session(session) => Some(session),
            Target::Current => self.current(ui).cloned(),
        };
        let Self { uis, sessions, .. } = self;
        let seen = uis.get(&ui).zip(session).filter(|(seat, session)| seat.seen.contains(session));
        let Some((seat, session)) = seen else { return self.done(ui, ticket) };
        let Some(live) = sessions.get_mut(&session) else { return self.done(ui, ticket) };
        live.limits.retain(|limit| {
            let may = seat.answers.can(limit.consent) && seat.standing.is_asked(limit.consent);
            limit.ask != ask || limit.closing != Closing::Unattended || !may
        });
        match live.engine.decides_all() {
            true => self.consult(ui, ticket, session, shown(ask)),
            false => self.done(ui, ticket),
        }
    }

    /// Tells the process that has a session that a question is shown here, where it is by a UI that has no word for it.
    pub(super) fn tell_shown(&mut self, session: &SessionId, ask: AskId, consent: bool) {
        if self.is_shown_at_once(session, consent) {
            self.next_ticket += 1;
            let (ticket, session) = (Ticket(self.next_ticket), session.clone());
            let (command, grounds) = (shown(ask), Box::default());
            self.out.push(CoreEffect::Order(Order::Consult { ticket, session, command, grounds }));
        }
    }

    /// Limits how long a question waits to be shown, where the UI whose run asks it cannot answer it.
    pub(super) fn limit_unshown(&mut self, session: &SessionId, ask: AskId, consent: bool) {
        let is_mute = self.mute_prompter(session, consent).is_some();
        if is_mute && !self.is_shown_at_once(session, consent) {
            let at = Millis(self.now.0.saturating_add(SHOWN_WITHIN_MS));
            self.limit(session, AskLimit { ask, consent, at, closing: Closing::Unattended });
        }
    }

    /// Limits how long a question of a session that is not ours holds up the UI whose run asks it.
    pub(super) fn limit_waiting(&mut self, session: &SessionId, ask: AskId, consent: bool) {
        if let Some(at) = self.waits_until(session, consent) {
            self.limit(session, AskLimit { ask, consent, at, closing: Closing::Expired });
        }
    }

    /// When the UI whose turn asks something that it cannot answer has waited long enough.
    pub(super) fn waits_until(&self, session: &SessionId, consent: bool) -> Option<Millis> {
        let waits = self.mute_prompter(session, consent)?.deadline?;
        let since = self.sessions.get(session)?.turn_since;
        Some(Millis(since.0.saturating_add(u64::try_from(waits.as_millis()).unwrap_or(u64::MAX))))
    }

    /// Ends the questions whose limit has come.
    pub(super) fn end_limited(&mut self, session: &SessionId) {
        let Some(live) = self.sessions.get_mut(session) else { return };
        let Live { limits, state, .. } = live;
        limits.retain(|limit| state.ask(limit.ask).is_some());
        let (due, later): (Vec<_>, Vec<_>) =
            std::mem::take(limits).into_iter().partition(|limit| limit.at <= self.now);
        *limits = later;
        let decides_all = live.engine.decides_all();
        for AskLimit { ask, consent, closing, .. } in due {
            match decides_all {
                true => self.decline(session, ask, consent, &closing),
                false => self.close_ask(session, ask, closing, None),
            }
        }
    }

    fn limit(&mut self, session: &SessionId, limit: AskLimit) {
        if let Some(live) = self.sessions.get_mut(session) {
            live.limits.push(limit);
        }
        self.wake();
    }

    /// What the UI that began the run can answer, where it is there and such a question is beyond it.
    fn mute_prompter(&self, session: &SessionId, consent: bool) -> Option<Answers> {
        let prompter = self.sessions.get(session)?.prompter?;
        let seat = self.uis.get(&prompter)?;
        (seat.seen.contains(session) && !seat.answers.can(consent)).then_some(seat.answers)
    }

    /// Whether somebody is asked by a UI that has no word for showing it.
    fn is_shown_at_once(&self, session: &SessionId, consent: bool) -> bool {
        self.able(session, consent).any(|seat| !seat.answers.says_shown)
    }
}

impl Live {
    /// When the next question is over by its limit.
    pub(super) fn next_limit(&self) -> Option<Millis> {
        self.limits.iter().map(|limit| limit.at).min()
    }
}
