//! Tools that a UI performs itself: offered with a prompt, called by the engine, answered by that UI and by nobody else.
//!
//! What always holds: an offer lives no longer than its run and its UI; what that UI says about a call that is not under way is refused.

use super::{Core, CoreEffect};
use domain::command::{Refusal, RefusalKind};
use domain::ids::{RunId, SessionId, ToolRunId, UiId};
use domain::offer::Offer;
use domain::port::{Order, Ticket};
use domain::tool::{ToolPhase, ToolResult};

/// What a UI offers for the run under way.
#[derive(Debug)]
pub(super) struct Offered {
    ui: UiId,
    run: RunId,
    pub(super) offers: Vec<Offer>,
}

impl Core {
    /// Keeps what a UI offers for a run that it begins.
    pub(super) fn keep_offers(&mut self, ui: UiId, session: &SessionId, run: RunId, mut offers: Vec<Offer>) {
        let asks = self.uis.get(&ui).is_some_and(|seat| seat.answers.consent);
        // Whoever could not have been asked cannot waive it.
        offers.iter_mut().for_each(|offer| offer.unasked &= asks);
        let Some(live) = self.sessions.get_mut(session) else { return };
        live.offered = (!offers.is_empty()).then_some(Offered { ui, run, offers });
    }

    /// What is offered for a run now.
    pub(super) fn offers(&self, session: &SessionId, run: RunId) -> Vec<Offer> {
        let offered = self.sessions.get(session).and_then(|live| live.offered.as_ref());
        offered.filter(|offered| offered.run == run).map(|offered| offered.offers.clone()).unwrap_or_default()
    }

    /// A UI has performed a tool, or could not.
    pub(super) fn performed(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: SessionId,
        tool: ToolRunId,
        failed: bool,
        result: ToolResult,
    ) -> Result<(), Refusal> {
        let live = self.live(&session)?;
        let waits = live.offered.as_ref().is_some_and(|offered| {
            offered.ui == ui
                && live.state.tool(tool).is_some_and(|call| {
                    call.phase == ToolPhase::Running
                        && call.run == offered.run
                        && offered.offers.iter().any(|offer| offer.name == call.name)
                })
        });
        if !waits {
            return Err(Refusal::new(RefusalKind::AskUnknown, "no call of a tool of this UI waits for that"));
        }
        self.out.push(CoreEffect::Order(Order::Performed { session, tool, failed, result }));
        self.done(ui, ticket)
    }

    /// A UI performs nothing any more: in one session, or in all of them.
    pub(super) fn withdraw_offers(&mut self, ui: UiId, only: Option<&SessionId>) {
        for (session, live) in &mut self.sessions {
            let here = only.is_none_or(|only| only == session);
            if here && live.offered.take_if(|offered| offered.ui == ui).is_some() {
                self.out.push(CoreEffect::Order(Order::OffersGone { session: session.clone() }));
            }
        }
    }
}
