//! One conversation through every pair of wires: a UI of ours, wire A, a bridge, wire B, our runtime. What the fidelity tables
//! promise is what arrives.

use crate::bench;
use crate::talk::{Spoken, Talk};
use dialects::Dialect;
use domain::ask::{Answer, Scope};
use domain::event::Outcome;
use domain::queue::QueueKind;
use hub::Hub;
use models::scripted::Scripted;
use roles::Item;
use roles::fidelity::Verdict;
use std::path::Path;
use std::sync::Arc;

const SCRIPT: &str = r#"
model text "Hello " | text "there."
model step
model tool write {"path":"b.txt","content":"new"}
model step
model text "Written."
model step
model tool write {"path":"c.txt","content":"new"}
model step
model text "Understood."
model step
model text "Wait" | pause 2s | text " for it."
model step
model text "Steered."
model step
model text "Slow" | pause 60s
model step
model text "Again."
"#;

/// A UI on wire `a`, a bridge, a runtime on wire `b`.
struct Chain {
    talk: Talk,
    script: Arc<Scripted>,
    _hubs: Vec<Hub>,
}

async fn chain(a: Dialect, b: Dialect, place: &Path) -> Chain {
    let script = Arc::new(Scripted::parse(SCRIPT).expect("a script"));
    let behind = bench::runtime_of(script.clone(), place);
    let ends = bench::serve(&behind, bench::guest(b, place, Vec::new()), &bench::lanes(b)).await;
    let bridge = bench::front_in(b, bench::wire(&bench::lanes(b), ends), place);
    let mut guest = bench::guest(a, place, Vec::new());
    guest.greeting.follows = true;
    let ends = bench::serve(&bridge, guest, &bench::lanes(a)).await;
    let front = bench::front_in(a, bench::wire(&bench::lanes(a), ends), place);
    let talk = Talk::start(&front).await;
    Chain { talk, script, _hubs: vec![behind, bridge, front] }
}

/// Whether an item arrives in some form between these two wires.
fn arrives(a: Dialect, b: Dialect, item: Item) -> bool {
    let carried = a.carried_on(b).into_iter().find(|carried| carried.item == item);
    carried.is_some_and(|carried| matches!(carried.verdict, Verdict::Exact | Verdict::Emulated))
}

async fn converse(a: Dialect, b: Dialect) {
    let place = bench::workplace();
    let Chain { mut talk, script, _hubs } = chain(a, b, place.path()).await;
    let name = format!("{a} on {b}");
    let allow = || Answer::Allow { scope: Scope::Once, digest: None };

    let said: Spoken = talk.prompt("one", &[]).await;
    assert_eq!(
        (said.text.as_str(), &said.outcome),
        ("Hello there.", &Outcome::Done),
        "{name}: a prompt and its answer"
    );

    let said = talk.prompt("write b", &[allow()]).await;
    let asked = arrives(a, b, Item::Consent);
    assert_eq!(said.asked, usize::from(asked), "{name}: a consent is asked where both wires can carry it");
    assert_eq!(
        place.path().join("b.txt").exists(),
        asked,
        "{name}: the tool runs if and only if it was allowed"
    );
    assert!(said.text.ends_with("Written."), "{name}: {said:?}");

    let reason = "use d.txt instead";
    let said = talk.prompt("write c", &[Answer::Deny { reason: Some(reason.to_owned()) }]).await;
    assert!(!place.path().join("c.txt").exists(), "{name}: what was denied does not run");
    if asked && arrives(a, b, Item::DenialReason) {
        assert!(said.text.ends_with("Understood."), "{name}: the model goes on with the reason: {said:?}");
        let heard = script.seen().iter().any(|request| format!("{request:?}").contains(reason));
        assert!(heard, "{name}: the model hears the reason");
    }

    // Some wires stop a turn at a denial: what the model would have said then comes first now.
    let behind = script.remaining() > 4;
    if behind {
        talk.prompt("go on", &[]).await;
    }

    let said = talk.prompt_and("wait", QueueKind::Steer, "steer").await;
    assert!(said.text.contains("Steered."), "{name}: what was queued is heard: {said:?}");

    let said = talk.prompt_and_cancel("slow").await;
    assert_eq!(said.outcome, Outcome::Cancelled, "{name}: a cancelled run ends as such: {said:?}");

    let said = talk.prompt("again", &[]).await;
    assert_eq!(said.outcome, Outcome::Done, "{name}: the conversation goes on after a cancel: {said:?}");
    talk.check();
}

#[test]
fn every_pair_of_wires_carries_what_its_tables_promise() {
    for a in dialects::ALL {
        for b in dialects::ALL {
            eprintln!("{a} on {b}");
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .start_paused(true)
                .build()
                .expect("a runtime");
            runtime.block_on(converse(*a, *b));
            runtime.shutdown_background();
        }
    }
}

const RESUMED: &str = r#"
model text "Noted."
model step
model text "You said lantern."
model step
model text "Elsewhere."
"#;

/// A UI on wire `a` and a bridge, both new, in front of a runtime on wire `b` that was there before.
async fn come_again(a: Dialect, b: Dialect, behind: &Hub, place: &Path) -> (Talk, Vec<Hub>) {
    let ends = bench::serve(behind, bench::guest(b, place, Vec::new()), &bench::lanes(b)).await;
    let bridge = bench::front_in(b, bench::wire(&bench::lanes(b), ends), place);
    let mut guest = bench::guest(a, place, Vec::new());
    (guest.greeting.follows, guest.greeting.model) = (true, None);
    let ends = bench::serve(&bridge, guest, &bench::lanes(a)).await;
    let front = bench::front_in(a, bench::wire(&bench::lanes(a), ends), place);
    (Talk::start(&front).await, vec![bridge, front])
}

/// The session is listed, its past is shown, and what is said goes on there: the model hears what was said before.
async fn resume(a: Dialect, b: Dialect) {
    let (place, name) = (bench::workplace(), format!("{a} on {b}"));
    let script = Arc::new(Scripted::parse(RESUMED).expect("a script"));
    let behind = bench::runtime_of(script.clone(), place.path());
    let (mut talk, hubs) = come_again(a, b, &behind, place.path()).await;
    assert_eq!(talk.prompt("the word is lantern", &[]).await.text, "Noted.", "{name}");
    // Before its UI leaves, which closes it on a wire with a word for that. A UI that begins with a session of its own leaves the one
    // untouched into which the bridge had come.
    let mut kept = behind.present().await.expect("the runtime is there");
    kept.retain(|session| session.title.contains("lantern"));
    let [kept] = kept.as_slice() else { panic!("{name}: one session is there: {kept:?}") };
    drop(talk);
    for hub in hubs.into_iter().rev() {
        hub.stop().await;
    }

    let (mut talk, _hubs) = come_again(a, b, &behind, place.path()).await;
    let listed = talk.sessions().await;
    let lists = arrives(a, b, Item::SessionList);
    assert_eq!(listed.is_ok(), lists, "{name}: {listed:?}");
    let id = match listed {
        Ok(listed) => {
            let found = listed.iter().find(|session| session.id == kept.id);
            assert!(found.is_some(), "{name}: it is listed under its name: {listed:?}");
            kept.id.clone()
        }
        // Who knows the name needs no list.
        Err(_) => kept.id.clone(),
    };
    let opened = talk.open(&id).await;
    if opened.is_err() {
        let refused = talk.prompt_in(&id, "which word?").await;
        assert!(refused.is_err(), "{name}: what is meant for one session goes to no other: {refused:?}");
        assert_eq!(script.seen().len(), 1, "{name}: nothing was said elsewhere");
    } else {
        if arrives(a, b, Item::History) {
            let path = talk.state.path();
            let told = path.iter().filter(|entry| format!("{entry:?}").contains("the word is lantern"));
            assert_eq!(told.count(), 1, "{name}: the past is shown once: {path:#?}");
        }
        let said = talk.prompt("which word?", &[]).await;
        assert_eq!(said.text, "You said lantern.", "{name}");
        let heard = format!("{:?}", script.seen().last());
        assert!(heard.contains("the word is lantern") && heard.contains("which word?"), "{name}: {heard}");
        let sessions = behind.present().await.expect("the runtime is there");
        let spoken = sessions.iter().filter(|session| session.title.contains("lantern"));
        assert_eq!(spoken.count(), 1, "{name}: no other session was made of it: {sessions:?}");
        talk.check();
    }
    assert_eq!(opened.is_ok(), arrives(a, b, Item::SessionOpen), "{name}: {opened:?}");
}

#[test]
fn a_session_that_was_listed_is_the_one_that_runs_over_every_pair() {
    let mut broken = Vec::new();
    for a in dialects::ALL {
        for b in dialects::ALL {
            eprintln!("{a} on {b}");
            let played = std::panic::catch_unwind(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .start_paused(true)
                    .build()
                    .expect("a runtime");
                runtime.block_on(resume(*a, *b));
                runtime.shutdown_background();
            });
            broken.extend(played.is_err().then(|| format!("{a} on {b}")));
        }
    }
    assert!(broken.is_empty(), "{broken:?}");
}
