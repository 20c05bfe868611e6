//! Everything of the vocabulary passes through unchanged.

use super::bench::Bench;
use domain::command::Target;
use domain::port::{News, Ticket};
use proptest::prelude::*;
use record::arb;
use roles::{RuntimeEffect, RuntimeRole, UiEffect, UiRole};
use std::sync::Arc;

proptest! {
    #[test]
    fn any_command(command in arb::command(), ticket in any::<u64>()) {
        let mut bench = Bench::greeted();
        bench.ui(|role, cx, seen| role.command(cx, seen, Ticket(ticket), command.clone()));
        let [RuntimeEffect::Command { target: Target::Current, command: came, .. }] = &bench.at_runtime[..] else {
            return Err(TestCaseError::fail(format!("{:?}", bench.at_runtime)));
        };
        prop_assert_eq!(came, &command);
    }

    #[test]
    fn any_event(event in arb::event()) {
        let mut bench = Bench::greeted();
        bench.runtime(|role, cx, view| role.event(cx, view, &event));
        let session = bench.session.clone();
        let expected = News::Happened { session, event: Arc::new(event) };
        prop_assert_eq!(bench.news().next(), Some(&expected));
    }

    #[test]
    fn any_signal(signal in arb::signal()) {
        let mut bench = Bench::greeted();
        bench.runtime(|role, cx, view| role.signal(cx, view, &signal));
        let expected = News::Signal { session: bench.session.clone(), signal };
        prop_assert_eq!(bench.news().collect::<Vec<_>>(), vec![&expected]);
    }

    #[test]
    fn any_settlement(with in arb::settlement(), ticket in any::<u64>()) {
        let mut bench = Bench::greeted();
        let command = domain::command::Command::Session(domain::command::SessionCommand::Stats);
        bench.ui(|role, cx, seen| role.command(cx, seen, Ticket(ticket), command));
        let Some(RuntimeEffect::Command { ticket: given, .. }) = bench.at_runtime.pop() else {
            return Err(TestCaseError::fail("no command"));
        };
        bench.runtime(|role, cx, view| role.settled(cx, Some(view), given, with.clone()));
        prop_assert_eq!(&bench.at_ui, &vec![UiEffect::Settle { ticket: Ticket(ticket), with }]);
    }

    #[test]
    fn any_board(board in arb::board()) {
        let mut bench = Bench::greeted();
        bench.board = board.clone();
        bench.attach();
        let Some(News::Attached { board: came, .. }) = bench.news().next() else {
            return Err(TestCaseError::fail("not attached"));
        };
        prop_assert_eq!(came, &board);
    }
}
