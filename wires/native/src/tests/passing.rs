//! Everything of the vocabulary passes through unchanged.

use super::greeted;
use domain::command::{Command, SessionCommand, Target};
use domain::port::{News, Ticket};
use proptest::prelude::*;
use std::sync::Arc;
use testkit::arb;
use testkit::bench::Pair;

fn news(mut pair: Pair) -> News {
    pair.exchange();
    assert_eq!(pair.ui.news.len(), 1);
    pair.ui.news.remove(0)
}

proptest! {
    #[test]
    fn any_command(command in arb::command(), ticket in any::<u64>()) {
        let mut pair = greeted();
        pair.ui.command_as(Ticket(ticket), command.clone());
        pair.exchange();
        let (_, target, came) = pair.runtime.command();
        prop_assert_eq!((target, came), (Target::Current, command));
    }

    #[test]
    fn any_event(event in arb::event()) {
        let mut pair = greeted();
        pair.runtime.tell(&event);
        let session = pair.runtime.session.clone();
        prop_assert_eq!(news(pair), News::Happened { session, event: Arc::new(event) });
    }

    #[test]
    fn any_signal(signal in arb::signal()) {
        let mut pair = greeted();
        pair.runtime.signal(&signal);
        let session = pair.runtime.session.clone();
        prop_assert_eq!(news(pair), News::Signal { session, signal });
    }

    #[test]
    fn any_settlement(with in arb::settlement(), ticket in any::<u64>()) {
        let mut pair = greeted();
        pair.ui.command_as(Ticket(ticket), Command::Session(SessionCommand::Stats));
        pair.exchange();
        let given = pair.runtime.command().0;
        pair.runtime.settle(given, with.clone());
        pair.exchange();
        prop_assert_eq!(&pair.ui.settled, &vec![(Ticket(ticket), with)]);
    }

    #[test]
    fn any_board(board in arb::board()) {
        let mut pair = greeted();
        pair.runtime.board = board.clone();
        pair.runtime.attach();
        let News::Attached { board: came, .. } = news(pair) else {
            return Err(TestCaseError::fail("not attached"));
        };
        prop_assert_eq!(came, board);
    }
}
