//! Commands for sessions that their UIs have not been shown yet: they wait to be, and nothing overtakes them.

use crate::late::stage::{Stage, rename, session, stats};
use domain::command::Target;

fn at(number: u64) -> Target {
    Target::Session(session(number))
}

async fn title(stage: &Stage, number: u64) -> String {
    let present = stage.hub.present().await.unwrap();
    present.into_iter().find(|live| live.id == session(number)).unwrap().title
}

#[tokio::test(start_paused = true)]
async fn two_commands_of_one_ui_are_taken_as_they_came() {
    let (stage, mut a, _b) = crate::late::stage().await;
    let (one, two) = (a.say_to(at(2), rename("one")).await, a.say_to(at(2), rename("two")).await);
    a.settled(one).await.unwrap();
    a.settled(two).await.unwrap();
    assert_eq!(title(&stage, 2).await, "two");
}

#[tokio::test(start_paused = true)]
async fn the_same_behind_an_open() {
    let (mut stage, mut a, mut b) = crate::late::stage().await;
    stage.hold();
    let (one, two) = (a.say_to(at(9), rename("one")).await, a.say_to(at(9), rename("two")).await);
    let three = b.say_to(at(9), rename("three")).await;
    stage.called_with("open").await;
    stage.let_go();
    a.settled(one).await.unwrap();
    a.settled(two).await.unwrap();
    b.settled(three).await.unwrap();
    assert_eq!(title(&stage, 9).await, "three");
}

#[tokio::test(start_paused = true)]
async fn what_came_first_comes_first_also_when_it_has_to_wait_for_the_store() {
    let (mut stage, mut a, mut b) = crate::late::stage().await;
    let mut c = stage.ui(None).await;
    stage.hold();
    // All in one round: the session is busy only at its end.
    b.say(rename("busy")).await;
    let (one, two) = (a.say_to(at(2), rename("one")).await, c.say_to(at(2), rename("two")).await);
    stage.called_with("append").await;
    stage.let_go();
    a.settled(one).await.unwrap();
    c.settled(two).await.unwrap();
    assert_eq!(title(&stage, 2).await, "two");
}

#[tokio::test(start_paused = true)]
async fn who_sees_two_sessions_hears_of_them_in_the_order_in_which_it_was_said() {
    let (stage, mut a, mut b) = crate::late::stage().await;
    for (ui, number) in [(&mut a, 2), (&mut b, 1)] {
        let seen = ui.say_to(at(number), stats()).await;
        ui.settled(seen).await.unwrap();
        ui.fresh();
    }
    for (first, second) in [(1, 2), (2, 1)] {
        let (mut c, mut d) = (stage.ui(None).await, stage.ui(None).await);
        let (x, y) = (c.say_to(at(first), rename("x")).await, d.say_to(at(second), rename("y")).await);
        c.settled(x).await.unwrap();
        d.settled(y).await.unwrap();
        a.hears("\"x\"").await;
        a.hears("\"y\"").await;
        let heard = a.fresh();
        let at = |what: &str| heard.iter().position(|heard| heard.contains(what)).unwrap();
        assert!(at("\"x\"") < at("\"y\""), "{heard:?}");
    }
}
