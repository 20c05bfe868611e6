//! The UI role against what a core says.

use super::{Client, NousUi};
use domain::command::{
    Command, PromptOptions, QueueCommand, Receipt, RefusalKind, RunCommand, SessionCommand,
};
use domain::content::{Input, Part, Role};
use domain::event::{Body, Cause, Leaving, NoteEvent, Outcome, QueueEvent};
use domain::queue::QueueKind;
use domain::signal::Signal;
use domain::state::EntryKind;
use roles::{Hello, Lane, TimerKey};
use serde_json::{Value, json};
use testkit::bench::{UiBench, texts};

#[test]
fn a_leaf_is_named_as_the_core_names_it() {
    let mut bench = Client::new();
    bench.reply("pong", json!({ "message": "pong" }));
    bench.reply("state", json!({ "session_id": "sess-1794" }));
    let said = json!({ "type": "message", "id": "msg-2", "role": "user", "text": "hi", "run_id": "run-1" });
    bench.reply("messages", json!({ "session_id": "sess-1794", "messages": [said] }));
    let leaf = bench.state.leaf;
    let ticket = bench.command(Command::Session(SessionCommand::SetLeaf { leaf }));
    assert_eq!(bench.last()["payload"], json!({ "leaf_id": "msg-2" }));
    bench.reply("leaf", json!({ "session_id": "sess-1794", "leaf_id": "msg-2" }));
    assert_eq!(bench.settlement(ticket), Some(Ok(Receipt::Leaf(leaf))));
}

#[test]
fn a_picture_alone_cannot_be_said() {
    let mut bench = Client::greeted();
    let picture = Part::Image { mime: "image/png".into(), base64: "aa".into() };
    let input = Input { text: String::new(), attachments: vec![picture] };
    bench.command(Command::Run(RunCommand::Prompt { input, options: Default::default() }));
    assert_eq!(bench.refused(), RefusalKind::Invalid);
}

#[test]
fn a_past_that_is_told_while_a_run_is_under_way_does_not_end_it() {
    let mut bench = Client::new();
    bench.reply("pong", json!({ "message": "pong" }));
    bench.reply("state", json!({ "session_id": "sess-1794" }));
    let asked = bench.last();
    assert_eq!(asked["type"], "get_messages");
    bench.prompt("hello");
    bench.reply("accepted", json!({ "command": "prompt", "run_id": "run-1", "session_id": "sess-1794" }));
    let open = bench.state.open_run().map(|run| run.id);
    assert!(open.is_some());
    // The answer was made after the prompt had come, so its words are in it.
    let said =
        json!({ "type": "message", "id": "msg-1", "role": "user", "text": "hello", "run_id": "run-1" });
    let payload = json!({ "session_id": "sess-1794", "messages": [said] });
    bench.answer_to(&asked["id"], "messages", payload);
    assert_eq!(bench.state.open_run().map(|run| run.id), open);
}

#[test]
fn a_past_that_is_asked_for_twice_is_told_once() {
    let mut bench = Client::new();
    bench.reply("pong", json!({ "message": "pong" }));
    bench.reply("state", json!({ "session_id": "sess-1794" }));
    let first = bench.last();
    assert_eq!(first["type"], "get_messages");
    // The UI opens the session where the core stands already, and the core answers what came first first.
    let session = domain::ids::SessionId::of_peer("sess-1794");
    bench.command(Command::Library(domain::command::LibraryCommand::Open { session }));
    assert_eq!(bench.last()["type"], "switch_session");
    bench.reply("session", json!({ "session_id": "sess-1794", "active": true }));
    let second = bench.last();
    assert_eq!(second["type"], "get_messages");
    let said =
        json!({ "type": "message", "id": "msg-1", "role": "user", "text": "hello", "run_id": "run-1" });
    for asked in [first, second] {
        let payload = json!({ "session_id": "sess-1794", "messages": [said] });
        bench.answer_to(&asked["id"], "messages", payload);
    }
    assert_eq!(texts(&bench.state, Role::User), ["hello"]);
}

#[test]
fn steers_come_before_follow_ups_and_keep_their_words() {
    let mut bench = Client::greeted();
    bench.prompt("go");
    bench.reply("accepted", json!({ "command": "prompt", "run_id": "run-1" }));
    for (kind, name, text) in [(QueueKind::FollowUp, "follow_up", "then"), (QueueKind::Steer, "steer", "now")]
    {
        bench.command(Command::Queue(QueueCommand::Add { kind, input: Input::text(text) }));
        assert_eq!(bench.last()["type"], name);
        bench.reply("accepted", json!({ "command": name, "run_id": "run-1" }));
    }
    bench.event("agent_start", json!({ "run_id": "run-1" }));
    for turn in ["1", "2", "3"] {
        bench.event("turn_start", json!({ "run_id": "run-1", "turn_id": turn }));
        let (user, model) = (format!("u{turn}"), format!("a{turn}"));
        bench.event("message_start", json!({ "run_id": "run-1", "message_id": user, "role": "user" }));
        bench.event("message_end", json!({ "run_id": "run-1", "message_id": user }));
        bench.event("message_update", json!({ "run_id": "run-1", "message_id": model, "delta": turn }));
        bench.event("turn_end", json!({ "run_id": "run-1", "turn_id": turn }));
    }
    bench.event("agent_end", json!({ "run_id": "run-1" }));
    assert_eq!(texts(&bench.state, Role::User), ["go", "now", "then"]);
    let causes: Vec<Cause> = bench.state.runs[0].turns.iter().map(|turn| turn.cause).collect();
    assert_eq!(causes, [Cause::Prompt, Cause::Steer, Cause::FollowUp]);
}

#[test]
fn nonsense_is_drift_and_nothing_more() {
    let mut bench = Client::greeted();
    for line in [
        "{",
        "[]",
        "{}",
        r#"{"type":"x","ok":true,"id":"parlor-99"}"#,
        r#"{"type":"x","ok":true,"id":"other"}"#,
    ] {
        bench.hear(line);
        bench.hear_on(Lane::EVENTS, line);
    }
    bench.event("brand_new", json!({ "run_id": "run-1" }));
    bench.event("message_update", json!({ "delta": "who?" }));
    assert!(bench.settled.is_empty() && bench.link.closed.is_none());
}

/// What the core holds for a turn is shown as waiting, leaves with its turn, and is given back when the run is stopped.
#[test]
fn what_waits_on_the_core_is_shown_and_given_back() {
    let mut bench = Client::greeted();
    bench.prompt("go");
    bench.reply("accepted", json!({ "command": "prompt", "run_id": "run-1" }));
    bench.event("agent_start", json!({ "run_id": "run-1" }));
    for (kind, name, text) in
        [(QueueKind::Steer, "steer", "focus"), (QueueKind::FollowUp, "follow_up", "then F")]
    {
        bench.command(Command::Queue(QueueCommand::Add { kind, input: Input::text(text) }));
        bench.reply("accepted", json!({ "command": name, "run_id": "run-1" }));
    }
    let waiting = |bench: &Client| -> Vec<String> {
        bench.state.queues.all().map(|(_, waiting)| waiting.input.text.clone()).collect()
    };
    assert_eq!(waiting(&bench), ["focus", "then F"]);
    for turn in ["1", "2"] {
        bench.event("turn_start", json!({ "run_id": "run-1", "turn_id": turn }));
        bench.event("message_start", json!({ "run_id": "run-1", "message_id": turn, "role": "user" }));
        bench.event("message_end", json!({ "run_id": "run-1", "message_id": turn }));
    }
    assert_eq!(waiting(&bench), ["then F"], "its turn has begun");
    // On its own socket, so perhaps before the answer to the abort.
    let dropped = json!({ "run_id": "run-1", "code": "queue_cleared", "message": "dropped with its run" });
    bench.event("warning", dropped);
    bench.command(Command::Run(RunCommand::Cancel { run: None, reason: None }));
    bench.reply("accepted", json!({ "command": "abort", "run_id": "run-1" }));
    assert_eq!(waiting(&bench), Vec::<String>::new());
    let left: Vec<Leaving> = bench
        .events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Queue(QueueEvent::Left { leaving, .. }) => Some(leaving.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(left, [Leaving::Taken, Leaving::Cleared]);
    let noticed = bench.events.iter().any(|event| matches!(event.body, Body::Note(_)));
    assert!(!noticed, "what comes back is not called dropped");
}

/// The core has no event for what other clients queue, only numbers for who asks.
#[test]
fn how_much_of_others_waits_is_shown_and_kept_up_while_a_run_is_under_way() {
    let state = |steer: u32, follow_up: u32| {
        json!({ "run_state": "running", "run_id": "run-1", "session_id": "",
            "pending_counts": { "steer": steer, "follow_up": follow_up } })
    };
    // After a reconnect, before anything is heard.
    let mut bench = Client::new();
    bench.reply("pong", json!({ "message": "pong" }));
    bench.reply("state", state(1, 2));
    let shown = |bench: &mut Client| std::mem::take(&mut bench.signals);
    let status = |text: Option<&str>| Signal::Status { key: "queue".into(), text: text.map(str::to_owned) };
    assert_eq!(shown(&mut bench), [status(Some("of others wait: 1 to steer, 2 to follow"))]);
    bench.event("agent_start", json!({ "run_id": "run-1" }));
    // What we queue ourselves is shown with its words, and not counted again.
    let ours = QueueCommand::Add { kind: QueueKind::Steer, input: Input::text("ours") };
    bench.command(Command::Queue(ours));
    bench.reply("accepted", json!({ "command": "steer", "run_id": "run-1" }));
    for (told, wanted) in [
        (state(2, 2), None),
        (state(1, 2), Some(status(Some("of others wait: 0 to steer, 2 to follow")))),
        (state(1, 0), Some(status(None))),
        (state(3, 0), Some(status(Some("of others wait: 2 to steer, 0 to follow")))),
    ] {
        bench.wait(3_000);
        assert_eq!(bench.last()["type"], "get_state");
        bench.reply("state", told);
        assert_eq!(shown(&mut bench), Vec::from_iter(wanted));
    }
    bench.event("agent_end", json!({ "run_id": "run-1" }));
    assert_eq!(shown(&mut bench), [status(None)], "the core drops them with the run");
    let before = bench.last();
    bench.wait(10_000);
    assert_eq!(bench.last(), before, "nobody is asked when nothing runs");
}

/// A quick run whose events went by before the core had registered us.
#[test]
fn a_run_that_was_never_heard_is_recovered_by_its_id() {
    for kept in [true, false] {
        let mut bench = Client::greeted();
        bench.prompt("quick");
        bench.reply("accepted", json!({ "command": "prompt", "run_id": "run-40", "session_id": "sess-1" }));
        bench.fire(TimerKey(2));
        assert_eq!(bench.last()["type"], "get_state");
        bench.reply("state", json!({ "run_state": "running", "run_id": "run-40", "session_id": "sess-1" }));
        assert!(bench.state.open_run().is_some(), "it is under way");
        bench.fire(TimerKey(2));
        bench.reply("state", json!({ "run_state": "idle", "run_id": "", "session_id": "sess-1" }));
        assert_eq!(bench.last()["type"], "get_messages");
        let entry = |id: &str, role: &str, text: &str| json!({ "type": "message", "id": id, "role": role, "text": text, "run_id": "run-40" });
        let messages = if kept {
            vec![entry("msg-1", "user", "quick"), entry("msg-2", "assistant", "Here.")]
        } else {
            Vec::new()
        };
        bench.reply("messages", json!({ "session_id": "sess-1", "messages": messages }));
        assert_eq!(texts(&bench.state, Role::User), ["quick"]);
        assert_eq!(bench.state.runs.len(), 1);
        if kept {
            assert_eq!(texts(&bench.state, Role::Assistant), ["Here."]);
            assert_eq!(bench.outcome(), Some(Outcome::Done));
        } else {
            let Some(Outcome::Failed(failure)) = bench.outcome() else { panic!("{:?}", bench.outcome()) };
            assert!(!failure.message.is_empty());
        }
    }
    // One that is heard is not asked about.
    let mut bench = Client::greeted();
    bench.prompt("slow");
    bench.reply("accepted", json!({ "command": "prompt", "run_id": "run-1" }));
    bench.event("agent_start", json!({ "run_id": "run-1" }));
    let before = bench.last();
    bench.fire(TimerKey(2));
    assert_eq!(bench.last(), before);
}

#[test]
fn the_prompt_is_shown_where_the_core_has_no_event_for_it() {
    let mut bench = Client::greeted();
    bench.prompt("hello");
    bench.reply("accepted", json!({ "command": "prompt", "run_id": "run-1" }));
    bench.event("agent_start", json!({ "run_id": "run-1" }));
    bench.event("turn_start", json!({ "run_id": "run-1", "turn_id": "1" }));
    bench.event("message_update", json!({ "run_id": "run-1", "message_id": "a", "delta": "hi" }));
    bench.event("agent_end", json!({ "run_id": "run-1" }));
    assert_eq!(texts(&bench.state, Role::User), ["hello"]);
    assert_eq!(texts(&bench.state, Role::Assistant), ["hi"]);
}

/// The existing core keeps a prompt only with its answer, ours at once.
#[test]
fn a_run_of_another_client_shows_its_prompt() {
    let said =
        json!({ "type": "message", "id": "msg-1", "role": "user", "text": "theirs", "run_id": "run-7" });
    for at_once in [true, false] {
        let mut bench = Client::greeted();
        bench.event("agent_start", json!({ "run_id": "run-7" }));
        bench.event("turn_start", json!({ "run_id": "run-7", "turn_id": "1" }));
        bench.event("message_start", json!({ "run_id": "run-7", "message_id": "u", "role": "user" }));
        assert_eq!(bench.last()["type"], "get_messages");
        let messages = if at_once { vec![said.clone()] } else { Vec::new() };
        bench.reply("messages", json!({ "session_id": "s", "messages": messages }));
        bench.event("message_update", json!({ "run_id": "run-7", "message_id": "a", "delta": "hi" }));
        bench.event("agent_end", json!({ "run_id": "run-7" }));
        if at_once {
            assert_eq!(texts(&bench.state, Role::User), ["theirs"]);
            continue;
        }
        assert_eq!(bench.last()["type"], "get_messages");
        bench.reply("messages", json!({ "session_id": "s", "messages": [said] }));
        let told = |event: &domain::event::Event| matches!(&event.body, Body::Note(NoteEvent::Noticed { text, .. }) if text.contains("theirs"));
        assert!(bench.events.iter().any(told));
    }
}

fn entry(id: &str, role: &str, text: &str, run: &str) -> Value {
    json!({ "type": "message", "id": id, "role": role, "text": text, "run_id": run })
}

/// A run of ours, heard as the existing core tells it.
fn say(bench: &mut Client, run: &str, text: &str, answer: Option<&str>) {
    bench.prompt(text);
    bench.reply("accepted", json!({ "command": "prompt", "run_id": run }));
    bench.event("agent_start", json!({ "run_id": run }));
    bench.event("turn_start", json!({ "run_id": run, "turn_id": "1" }));
    let (user, model) = (format!("user-{run}"), format!("assistant-{run}"));
    bench.event("message_start", json!({ "run_id": run, "message_id": user, "role": "user" }));
    bench.event("message_end", json!({ "run_id": run, "message_id": user }));
    match answer {
        Some(answer) => {
            bench.event("message_update", json!({ "run_id": run, "message_id": model, "delta": answer }));
            bench.event("message_end", json!({ "run_id": run, "message_id": model }));
        }
        None => bench.event("error", json!({ "run_id": run, "code": "provider_error", "message": "x" })),
    }
    bench.event("turn_end", json!({ "run_id": run, "turn_id": "1" }));
    bench.event("agent_end", json!({ "run_id": run }));
}

/// The ids of messages in events are none that the core takes: it is asked for the names.
#[test]
fn one_goes_back_to_what_was_just_said() {
    let mut bench = Client::greeted();
    say(&mut bench, "run-1", "first", Some("one"));
    say(&mut bench, "run-2", "fails", None);
    say(&mut bench, "run-3", "second", Some("two"));
    let kept = json!([
        entry("msg-11", "user", "first", "run-1"),
        entry("msg-12", "assistant", "one", "run-1"),
        entry("msg-13", "user", "second", "run-3"),
        entry("msg-14", "assistant", "two", "run-3"),
    ]);
    let of = |bench: &Client, text: &str| {
        let found = bench.state.entries.values().find(|entry| match &entry.kind {
            EntryKind::Message(message) => message.text() == text,
            _ => false,
        });
        found.unwrap().id
    };
    for (text, name) in [("first", "msg-11"), ("one", "msg-12"), ("second", "msg-13"), ("two", "msg-14")] {
        let leaf = of(&bench, text);
        let ticket = bench.command(Command::Session(SessionCommand::SetLeaf { leaf: Some(leaf) }));
        assert_eq!(bench.last()["type"], "get_messages");
        bench.reply("messages", json!({ "session_id": "s", "messages": kept }));
        assert_eq!(
            (&bench.last()["type"], &bench.last()["payload"]["leaf_id"]),
            (&json!("set_leaf"), &json!(name))
        );
        bench.reply("leaf", json!({ "session_id": "s", "leaf_id": name }));
        assert_eq!(bench.settlement(ticket), Some(Ok(Receipt::Leaf(Some(leaf)))));
    }
    let from = of(&bench, "one");
    let options = PromptOptions { from: Some(from), ..PromptOptions::default() };
    bench.command(Command::Run(RunCommand::Prompt { input: Input::text("otherwise"), options }));
    bench.reply("messages", json!({ "session_id": "s", "messages": kept }));
    assert_eq!(bench.last()["payload"], json!({ "text": "otherwise", "wait": false, "leaf_id": "msg-12" }));
    // What the core has not kept cannot be gone to.
    let leaf = of(&bench, "fails");
    let ticket = bench.command(Command::Session(SessionCommand::SetLeaf { leaf: Some(leaf) }));
    bench.reply("messages", json!({ "session_id": "s", "messages": kept }));
    assert!(
        matches!(bench.settlement(ticket), Some(Err(refusal)) if refusal.kind == RefusalKind::EntryUnknown)
    );
}

/// A core that was started again is in no session.
#[test]
fn after_the_core_was_away_one_is_where_one_was() {
    let hello = Hello {
        session: Some("sess-named-at-the-start".into()),
        last_session: Some("sess-1794".into()),
        ..Hello::default()
    };
    for known in [true, false] {
        let mut bench = Client { bench: UiBench::open(NousUi::new(), &hello), said: Vec::new() };
        bench.reply("pong", json!({ "message": "pong" }));
        bench.prompt("go on");
        assert_eq!(bench.last()["type"], "get_state", "a prompt would start another session");
        bench.reply("state", json!({ "run_state": "idle", "session_id": "" }));
        assert_eq!(bench.last()["payload"], json!({ "session_id": "sess-1794" }));
        if known {
            bench.reply("session", json!({ "session_id": "sess-1794", "active": true }));
            let sent: Vec<Value> = bench.said.iter().map(|sent| sent["type"].clone()).collect();
            bench.last();
            assert!(sent.contains(&json!("switch_session")));
        } else {
            bench.refuse("session_not_found", "no such file");
            let told = |signal: &Signal| matches!(signal, Signal::Notify { text, .. } if text.contains("session_not_found"));
            assert!(bench.signals.iter().any(told));
        }
        let last = bench.last();
        assert_eq!((&last["type"], &last["payload"]["text"]), (&json!("prompt"), &json!("go on")), "{known}");
    }
}
