//! The ask book: who may close which ask, and that each closes once. Pure policy over a session's state.

use crate::ask::{Answer, Closing};
use crate::command::{Refusal, RefusalKind};
use crate::ids::{AskId, Millis};
use crate::state::State;

/// Most asks that may be open in one session; one more is closed at once as unattended, and a tool that needed it is denied.
pub const MAX_OPEN_ASKS: usize = 64;

impl State {
    /// How `ask` closes when a UI answers it. First answer wins: a second finds the ask over.
    ///
    /// # Errors
    /// When the ask is unknown or over, or the answer does not fit it (then it stays open).
    pub fn close_with(&self, ask: AskId, answer: &Answer, by: Option<String>) -> Result<Closing, Refusal> {
        let Some(open) = self.ask(ask) else {
            let (kind, what) = if ask.0 <= self.last_id {
                (RefusalKind::AskOver, "this question is already closed")
            } else {
                (RefusalKind::AskUnknown, "there is no such question")
            };
            return Err(Refusal::new(kind, what));
        };
        if !open.kind.accepts(answer) {
            let refusal =
                Refusal::new(RefusalKind::Invalid, "this is not an answer to the question that was shown");
            return Err(refusal.hint("look at the question again; it is still open"));
        }
        Ok(Closing::Answered { answer: open.kind.keepable(ask, answer.clone()), by })
    }

    /// The asks whose time has run out.
    pub fn expired_asks(&self, now: Millis) -> Vec<AskId> {
        let over = self.asks.iter().filter(|ask| ask.deadline.is_some_and(|deadline| deadline <= now));
        over.map(|ask| ask.id).collect()
    }

    /// When the next ask expires.
    pub fn next_deadline(&self) -> Option<Millis> {
        self.asks.iter().filter_map(|ask| ask.deadline).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{Ask, AskKind};
    use crate::event::{AskEvent, Body, Event};
    use proptest::prelude::*;

    fn text(secret: bool) -> AskKind {
        AskKind::Text { message: "?".into(), placeholder: None, default: None, secret, multiline: false }
    }

    fn with_asks(count: u64, secret: bool) -> State {
        let mut state = State::new();
        for number in 1..=count {
            let ask =
                Ask { id: AskId(number), run: None, title: "?".into(), kind: text(secret), deadline: None };
            let event =
                Event { seq: state.seq.next(), at: Millis(0), body: Body::Ask(AskEvent::Opened(ask)) };
            state.fold(&event).unwrap();
        }
        state
    }

    proptest! {
        #[test]
        fn an_ask_closes_once_whoever_answers_and_how_often(tries in prop::collection::vec(1u64..6, 0..40)) {
            let mut state = with_asks(4, false);
            let mut closed = [0u32; 6];
            for ask in tries {
                let id = AskId(ask);
                match state.close_with(id, &Answer::Entered("x".into()), None) {
                    Ok(closing) => {
                        let body = Body::Ask(AskEvent::Closed { ask: id, closing });
                        state.fold(&Event { seq: state.seq.next(), at: Millis(0), body }).unwrap();
                        closed[usize::try_from(ask).unwrap()] += 1;
                    }
                    Err(refusal) => {
                        let over = if ask <= 4 { RefusalKind::AskOver } else { RefusalKind::AskUnknown };
                        prop_assert_eq!(refusal.kind, over);
                    }
                }
            }
            prop_assert!(closed.iter().all(|times| *times <= 1));
        }
    }

    #[test]
    fn an_answer_of_the_wrong_kind_leaves_the_ask_open() {
        let state = with_asks(1, false);
        let refused = state.close_with(AskId(1), &Answer::Confirmed(true), None).unwrap_err();
        assert_eq!(refused.kind, RefusalKind::Invalid);
        assert!(state.ask(AskId(1)).is_some());
    }

    #[test]
    fn what_was_typed_into_a_secret_field_is_not_kept() {
        let closing =
            with_asks(1, true).close_with(AskId(1), &Answer::Entered("hunter2".into()), None).unwrap();
        let kept = Answer::Entered("[secret 1: not kept]".into());
        assert_eq!(closing, Closing::Answered { answer: kept, by: None });
    }
}
