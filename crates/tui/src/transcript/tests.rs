//! The transcript under random scrolling: the place is always a real one, and cost does not grow with the session.

use crate::update::tests::AttachedUi;
use domain::content::{Part, Role};
use domain::event::{Body, Finish, MessageEvent};
use domain::ids::{EntryId, MessageId, TurnId};
use proptest::prelude::*;

fn long(entries: u64, columns: u16, rows: u16) -> AttachedUi {
    let mut stage = AttachedUi::new(columns, rows);
    stage.run("begin");
    for number in 0..entries {
        let message = MessageId(number + 10);
        let parent = Some(if number == 0 { EntryId(5) } else { EntryId(number + 9) });
        let (role, turn) = (if number % 2 == 0 { Role::User } else { Role::Assistant }, Some(TurnId(2)));
        stage.happen(Body::Message(MessageEvent::Started { message, parent, role, turn, step: None }));
        let text = format!("message {number} {}", "word ".repeat(usize::try_from(number % 40).unwrap()));
        stage.happen(Body::Message(MessageEvent::PartAdded { message, part: Part::Text(text) }));
        stage.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    }
    stage
}

proptest! {
    #![proptest_config(testkit::cases(32))]
    #[test]
    fn scrolling_up_and_down_by_the_same_lines_comes_back(
        steps in prop::collection::vec(1usize..20, 1..12), columns in 20u16..80, rows in 8u16..30,
    ) {
        let mut stage = long(60, columns, rows);
        let home = stage.ui.screen();
        for count in &steps {
            stage.ui.keys(&"<shift-up>".repeat(*count));
            let here = stage.ui.screen();
            stage.ui.keys("<shift-up>");
            let above = stage.ui.screen();
            stage.ui.keys("<shift-down>");
            // At the very top there is nothing above to come back from.
            if above != here {
                prop_assert_eq!(&stage.ui.screen(), &here);
            }
        }
        stage.ui.keys("<ctrl-end>");
        prop_assert_eq!(stage.ui.screen(), home);
    }
}

#[test]
fn every_line_can_be_reached_by_scrolling() {
    let mut stage = long(40, 50, 12);
    let mut seen = String::new();
    for _ in 0..400 {
        seen.push_str(&stage.ui.screen());
        stage.ui.keys("<shift-up>");
    }
    for number in 0..40 {
        assert!(seen.contains(&format!("message {number}")), "message {number}");
    }
    assert!(stage.ui.screen().contains("> begin"));
}

#[test]
fn a_long_session_lays_out_no_more_than_a_short_one() {
    // Counted, not timed: the bench tells the time, and a busy machine must not fail a test.
    let laid_out = |entries: u64| {
        let mut stage = long(entries, 100, 40);
        for _ in 0..5 {
            stage.ui.keys("<pageup>");
            stage.ui.draw();
            stage.ui.keys("<pagedown>");
            stage.ui.draw();
        }
        (stage.ui.laid_out(), stage.ui.model.screen.transcript.heights.len())
    };
    // Both end alike; longer numbers may wrap a row more or less.
    let (short, long) = (laid_out(120), laid_out(4_120));
    assert!(long.0 <= short.0 + 4 && long.1 <= short.1 + 4, "{short:?} {long:?}");
}
