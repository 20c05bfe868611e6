//! A bridge remembers for a runtime that does not: killed in the middle, its next process has the session under the same id, with its
//! past, and goes on with it. For every wire of a UI on every wire of a runtime.
//!
//! Bridge and runtime are the built program; the UI is ours over its wire.

use crate::joining::{PARLOR, SOCKET, Seated, heard, started};
use dialects::Dialect;
use domain::ids::SessionId;
use link::child::Child;
use serde_json::Value;
use std::process::Command;
use testkit::{Lines, Person};

/// Where a runtime with two connections listens, in the person's folders.
const CORE: &str = "core.sock";

/// The words of a bridge between these wires.
fn bridging(person: &Person, ui: Dialect, runtime: Dialect, more: &[&str]) -> Vec<String> {
    let place = |name: &str| person.path(name).display().to_string();
    let mut words = vec!["bridge".to_owned(), "--from".to_owned(), ui.to_string()];
    match ui.has_event_lane() {
        true => words.extend(["--socket".to_owned(), place(SOCKET)]),
        false => words.push("--stdio".to_owned()),
    }
    words.extend(["--to".to_owned(), runtime.to_string()]);
    words.extend(more.iter().map(|&word| word.to_owned()));
    match runtime.has_event_lane() {
        true => words.extend(["--to-socket".to_owned(), place(CORE)]),
        false => {
            let serve = ["--", PARLOR, "serve", "--dialect", runtime.name(), "--stdio"];
            words.extend(serve.map(str::to_owned));
        }
    }
    words
}

/// The runtime, where a bridge does not start it itself.
async fn core(person: &Person, runtime: Dialect) -> Option<Child> {
    if !runtime.has_event_lane() {
        return None;
    }
    let socket = person.path(CORE).display().to_string();
    let (_, child, mut listens) =
        started(person, &["serve", "--dialect", runtime.name(), "--socket", &socket]);
    while !listens.recv().await.expect("it listens") {}
    Some(child)
}

/// A UI on a bridge between these wires.
async fn seated(person: &Person, ui: Dialect, runtime: Dialect, more: &[&str]) -> Seated {
    let words = bridging(person, ui, runtime, more);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Seated::start(person, ui, &words).await
}

/// Where the UI is, by the name that it goes back by.
async fn stands(seated: &mut Seated, ui: Dialect) -> SessionId {
    if let Some(name) = seated.hub.their_session().await {
        return SessionId::of_peer(&name);
    }
    if ui.is_lossless() {
        let present = seated.hub.present().await.expect("the hub runs");
        return present
            .into_iter()
            .find(|session| session.title.contains("lanterns"))
            .expect("it is open")
            .id;
    }
    // This wire names a session only in its list.
    let listed = seated.talk.sessions().await.expect("a list");
    let said = |text: &str| listed.iter().find(|session| format!("{session:?}").contains(text));
    said("lanterns").unwrap_or_else(|| panic!("{ui}: {listed:?}")).id.clone()
}

/// How many messages each session of the runtime holds, as `parlor sessions` lists them.
fn kept(person: &Person, runtime: Dialect) -> Vec<u64> {
    let count = |session: &Value| session["messages"].as_u64().expect("a number");
    sessions_of(person, runtime).iter().map(count).collect()
}

/// Whether it is kept what the runtime calls its sessions. Over openagent that is asked for when the first run is over: a bridge that is
/// killed before has no name to find the session by.
fn are_named(person: &Person, runtime: Dialect) -> bool {
    let is_named = |session: &Value| session["origin"]["session"].is_string();
    runtime != dialects::openagent::DIALECT || sessions_of(person, runtime).iter().all(is_named)
}

fn sessions_of(person: &Person, runtime: Dialect) -> Vec<Value> {
    let Value::Array(mut listed) = person.json(&["sessions", "list", "--all", "--json"]) else {
        panic!("no list");
    };
    listed.retain(|session| session["origin"]["dialect"] == runtime.name());
    listed
}

async fn killed_and_resumed(ui: Dialect, runtime: Dialect) {
    let pair = format!("{ui} on {runtime}");
    let person = Person::new(PARLOR);
    let core = core(&person, runtime).await;
    let mut first = seated(&person, ui, runtime, &[]).await;
    if ui == dialects::asst::DIALECT {
        // Before that this wire has no name for where it is.
        first.talk.new_session().await;
    }
    let said = first.talk.prompt("say lanterns", &[]).await;
    assert!(said.text.contains("lanterns"), "{pair}: {said:?}");
    let session = stands(&mut first, ui).await;
    // Nothing waits for the store in front of a runtime that goes on by itself.
    while kept(&person, runtime) != [2] || !are_named(&person, runtime) {}
    let status = Command::new("kill").args(["-9", &first.child.id().to_string()]).status();
    assert!(status.expect("it is killed").success());
    first.leave().await;

    let mut second = seated(&person, ui, runtime, &[]).await;
    match second.talk.sessions().await {
        Ok(listed) => {
            let is_listed = listed.iter().any(|entry| entry.id == session);
            // A UI that is there already calls it by an id of its own.
            let is_there = heard(&second.talk, "lanterns") && stands(&mut second, ui).await == session;
            assert!(is_listed || is_there, "{pair}: {session} in {listed:?}");
        }
        Err(why) => {
            assert!(["nous", "asst"].contains(&ui.name()), "{pair}: only these wires have no list: {why}");
        }
    }
    second.talk.open(&session).await.unwrap_or_else(|why| panic!("{pair}: {session}: {why}"));
    let tells_past = ui != dialects::asst::DIALECT;
    assert!(!tells_past || heard(&second.talk, "lanterns"), "{pair}: its past is not shown");
    let said = second.talk.prompt("say owls", &[]).await;
    assert!(said.text.contains("owls"), "{pair}: {said:?}");
    assert_eq!(stands(&mut second, ui).await, session, "{pair}: its id");
    second.leave().await;
    if let Some(core) = core {
        core.shutdown().await;
    }
    assert_eq!(kept(&person, runtime), [4], "{pair}: one session holds it all, once");
}

/// Holds it for each pair, and tells which broke.
async fn over(pairs: impl Iterator<Item = (Dialect, Dialect)>) {
    let mut broken = Vec::new();
    for (ui, runtime) in pairs {
        if tokio::spawn(killed_and_resumed(ui, runtime)).await.is_err() {
            broken.push(format!("{ui} on {runtime}"));
        }
    }
    assert_eq!(broken, Vec::<String>::new(), "what each was is said above");
}

async fn on(runtime: Dialect) {
    over(dialects::ALL.iter().map(|ui| (*ui, runtime))).await;
}

#[tokio::test]
async fn a_bridge_that_is_killed_has_its_sessions_again_on_nous() {
    on(dialects::nous::DIALECT).await;
}

#[tokio::test]
async fn a_bridge_that_is_killed_has_its_sessions_again_on_asst() {
    on(dialects::asst::DIALECT).await;
}

#[tokio::test]
async fn a_bridge_that_is_killed_has_its_sessions_again_on_openagent() {
    on(dialects::openagent::DIALECT).await;
}

#[tokio::test]
async fn a_bridge_that_is_killed_has_its_sessions_again_on_codelia() {
    on(dialects::codelia::DIALECT).await;
}

#[tokio::test]
async fn a_bridge_that_is_killed_has_its_sessions_again_on_lemon() {
    on(dialects::lemon::DIALECT).await;
}

#[tokio::test]
async fn a_bridge_that_is_killed_has_its_sessions_again_on_acp() {
    on(dialects::acp::DIALECT).await;
}

#[tokio::test]
async fn an_ephemeral_bridge_keeps_nothing() {
    let (ui, runtime) = (dialects::native::DIALECT, dialects::asst::DIALECT);
    let person = Person::new(PARLOR);
    let mut bridge = seated(&person, ui, runtime, &["--ephemeral"]).await;
    bridge.talk.prompt("say lanterns", &[]).await;
    bridge.leave().await;
    assert_eq!(kept(&person, runtime), Vec::<u64>::new());
}

// The shell's lines are waited for on this thread, while a core goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_the_ui_named_is_gone_on_with_by_the_next_bridge_on_every_runtime() {
    let ui = dialects::asst::DIALECT;
    for runtime in dialects::ALL.iter().copied().filter(|runtime| !runtime.is_lossless()) {
        let person = Person::new(PARLOR);
        let core = core(&person, runtime).await;
        let words = bridging(&person, ui, runtime, &[]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let say = |text: &str| {
            let mut shell = Lines::start(&mut person.parlor("one", &words));
            let metadata = r#"{"conversationId":"conv-456"}"#;
            shell.say(&format!(
                r#"{{"id":"1","kind":"user_message","message":"{text}","metadata":{metadata}}}"#
            ));
            shell.until(r#""done""#);
            shell
        };
        let first = say("say lanterns");
        while kept(&person, runtime) != [2] || !are_named(&person, runtime) {}
        let killed = Command::new("kill").args(["-9", &first.id().to_string()]).status();
        assert!(killed.expect("it is killed").success());
        drop(first);
        drop(say("say owls"));
        if let Some(core) = core {
            core.shutdown().await;
        }
        assert_eq!(kept(&person, runtime), [4], "{runtime}: one session holds it all");
    }
}
