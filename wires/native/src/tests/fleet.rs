//! Watching which sessions are open.

use super::super::wire::{FleetNews, FromRuntime};
use super::{greeted, runtime};
use domain::fleet::FleetChange;
use expect_test::expect;
use proptest::prelude::*;
use testkit::arb;

#[test]
fn it_is_watched_after_a_hello_and_alone_where_that_is_said() {
    let mut early = runtime();
    early.say(r#"{"watch_fleet":{}}"#);
    assert_eq!(early.watching, None);
    expect![[
        r#"{"error":{"about":"line","message":"watch_fleet came before hello","hint":"say hello first"}}"#
    ]]
    .assert_eq(&early.lines().join("\n"));
    for (line, alone) in [(r#"{"watch_fleet":{}}"#, false), (r#"{"watch_fleet":{"alone":true}}"#, true)] {
        let mut pair = greeted();
        pair.runtime.say(line);
        assert_eq!(pair.runtime.watching, Some(alone), "{line}");
    }
}

#[test]
fn whoever_watches_too_eagerly_is_told_so() {
    let mut pair = greeted();
    (0..1000).for_each(|_| pair.runtime.say(r#"{"watch_fleet":{}}"#));
    assert!(pair.runtime.lines().iter().any(|line| line.contains("too many lines per second")));
}

proptest! {
    #[test]
    fn any_change_comes_as_it_was(
        all in any::<bool>(), members in prop::collection::vec(arb::member(), 0..4),
        closed in prop::collection::vec(arb::session_id(), 0..3),
    ) {
        let mut pair = greeted();
        let change = FleetChange { all, members: members.clone(), closed: closed.clone() };
        pair.runtime.call(|role, cx| role.fleet(cx, change));
        let lines = pair.runtime.lines();
        let told: FromRuntime = serde_json::from_str(lines.last().unwrap()).unwrap();
        prop_assert_eq!(told, FromRuntime::Fleet(FleetNews { all, members, closed }));
    }
}
