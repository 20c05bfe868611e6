//! What a runtime can do is known to every UI of ours in front of it, also through a bridge, and also when the UI was there first.

use crate::bench;
use domain::port::{Abilities, News};
use hub::core::Standing;
use roles::Answers;

/// The abilities that a UI hears of, as soon as they are as wanted.
async fn until(hub: &hub::Hub, wanted: impl Fn(&Abilities) -> bool) {
    let mut ui = hub.attach("test", Standing::Controller, Answers::ALL, None).await.expect("the hub runs");
    while let Some(news) = ui.news.recv().await {
        if let News::Attached { abilities, .. } = news
            && wanted(&abilities)
        {
            return;
        }
    }
    panic!("the hub is gone");
}

#[tokio::test(start_paused = true)]
async fn a_ui_learns_what_the_runtime_behind_the_bridge_can_do() {
    let place = bench::workplace();
    for behind in dialects::ALL.iter().copied().filter(|dialect| !dialect.is_lossless()) {
        let wanted = |can: &Abilities| match behind.name() {
            "asst" => !can.steer && !can.models && !can.branch,
            "nous" => can.steer && can.branch,
            "lemon" => !can.steer && can.models,
            "openagent" => !can.models && can.consent,
            _ => can.cancel && !can.branch,
        };
        let runtime = bench::runtime("", place.path());
        let lanes = bench::lanes(behind);
        let ends = bench::serve(&runtime, bench::guest(behind, place.path(), Vec::new()), &lanes).await;
        let bridge = bench::front(behind, bench::wire(&lanes, ends));
        let near = until(&bridge, wanted);
        let known = tokio::time::timeout(std::time::Duration::from_secs(30), near).await;
        assert!(known.is_ok(), "{behind}: its abilities are never told");
        let native = bench::guest(dialects::native::DIALECT, place.path(), Vec::new());
        let ends = bench::serve(&bridge, native, &bench::lanes(dialects::native::DIALECT)).await;
        let front = bench::front(
            dialects::native::DIALECT,
            bench::wire(&bench::lanes(dialects::native::DIALECT), ends),
        );
        let far = until(&front, wanted);
        let known = tokio::time::timeout(std::time::Duration::from_secs(30), far).await;
        assert!(known.is_ok(), "{behind}: its abilities are never told");
    }
}
