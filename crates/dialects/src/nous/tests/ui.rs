//! The UI role against what a core says.

use crate::nous::NousUi;
use domain::canon::Canon;
use domain::command::{
    Command, LibraryCommand, ListCommand, PromptOptions, QueueCommand, Receipt, Refusal, RefusalKind,
    RunCommand, SessionCommand,
};
use domain::content::{Input, Part, Role};
use domain::event::{Cause, Event, Outcome};
use domain::fact::Fact;
use domain::grammar::Grammar;
use domain::ids::{Ids, Millis};
use domain::port::Ticket;
use domain::queue::{Mode, QueueKind};
use domain::state::{EntryKind, State};
use roles::{Cx, Hello, Lane, Line, LinkEffect, Reason, Seen, TimerKey, UiCx, UiEffect, UiRole};
use serde_json::{Value, json};

/// Plays the hub around a UI role: facts go through the canon into a state.
pub(super) struct Bench {
    pub(super) role: NousUi,
    pub(super) state: State,
    canon: Canon,
    grammar: Grammar,
    pub(super) sent: Vec<Value>,
    pub(super) settled: Vec<(Ticket, Result<Receipt, Refusal>)>,
    pub(super) closed: Option<Reason>,
    tickets: u64,
}

impl Bench {
    pub(super) fn new(session: Option<&str>) -> Bench {
        let state = State::new();
        let mut bench = Bench {
            role: NousUi::new(),
            canon: Canon::new(Ids::default(), &state),
            state,
            grammar: Grammar::new(),
            sent: Vec::new(),
            settled: Vec::new(),
            closed: None,
            tickets: 0,
        };
        let hello = Hello { session: session.map(Into::into), ..Hello::default() };
        bench.call(|role, cx, _| role.open(cx, &hello));
        bench
    }

    /// After its handshake with a core that has no session yet.
    pub(super) fn greeted() -> Bench {
        let mut bench = Bench::new(None);
        bench.answer("pong", json!({ "message": "pong" }));
        bench.answer(
            "state",
            json!({ "run_state": "idle", "session_id": "", "steering_mode": "one-at-a-time" }),
        );
        assert!(bench.role.abilities().is_some());
        bench.sent.clear();
        bench
    }

    pub(super) fn call(&mut self, call: impl FnOnce(&mut NousUi, &mut UiCx<'_>, Seen<'_>)) {
        let mut effects = Vec::new();
        let seen = Seen { state: &self.state, names: self.canon.names() };
        call(&mut self.role, &mut Cx { now: Millis(7), effects: &mut effects }, seen);
        for effect in effects {
            match effect {
                UiEffect::Link(LinkEffect::Send { lane, line }) => {
                    assert_eq!(lane, Lane::MAIN);
                    self.sent.push(serde_json::from_str(&line).unwrap());
                }
                UiEffect::Fact(fact) => self.fact(fact),
                UiEffect::Settle { ticket, with } => self.settled.push((ticket, with)),
                UiEffect::Link(LinkEffect::Close(reason)) => self.closed = Some(reason),
                UiEffect::Link(
                    LinkEffect::Timer { .. } | LinkEffect::CancelTimer(_) | LinkEffect::Log(_),
                ) => {}
                UiEffect::Link(LinkEffect::Drift(_) | LinkEffect::Loss(_)) | UiEffect::Signal(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    fn fact(&mut self, fact: Fact) {
        for body in self.canon.take(Millis(7), fact) {
            let event = Event { seq: self.state.seq.next(), at: Millis(7), body };
            self.grammar.check(&event).expect("a grammatical event");
            self.state.fold(&event).expect("an event that follows");
        }
    }

    pub(super) fn line(&mut self, lane: Lane, line: &str) {
        self.call(|role, cx, seen| role.line(cx, seen, lane, Line::Text(line.to_owned())));
    }

    pub(super) fn answer_raw(&mut self, line: &str) {
        self.line(Lane::MAIN, line);
    }

    /// Answers the last thing that was sent.
    pub(super) fn answer(&mut self, kind: &str, payload: Value) {
        let id = self.sent.last().expect("a question")["id"].clone();
        self.answer_raw(
            &json!({ "v": "1", "id": id, "type": kind, "payload": payload, "ok": true }).to_string(),
        );
    }

    pub(super) fn refuse(&mut self, code: &str, message: &str) {
        let id = self.sent.last().expect("a question")["id"].clone();
        let error = json!({ "code": code, "message": message });
        self.answer_raw(
            &json!({ "v": "1", "id": id, "type": "error", "payload": {}, "ok": false, "error": error })
                .to_string(),
        );
    }

    pub(super) fn event(&mut self, kind: &str, payload: Value) {
        self.line(
            Lane::EVENTS,
            &json!({ "v": "1", "id": "evt-1", "type": kind, "payload": payload, "ts": "" }).to_string(),
        );
    }

    pub(super) fn command(&mut self, command: Command) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.call(|role, cx, seen| role.command(cx, seen, ticket, command));
        ticket
    }

    pub(super) fn prompt(&mut self, text: &str) {
        self.command(Command::Run(RunCommand::Prompt {
            input: Input::text(text),
            options: PromptOptions::default(),
        }));
    }

    /// Texts of the model, in order.
    pub(super) fn texts(&self) -> Vec<String> {
        self.of(Role::Assistant)
    }

    pub(super) fn of(&self, role: Role) -> Vec<String> {
        let messages = self.state.entries.values().filter_map(|entry| match &entry.kind {
            EntryKind::Message(message) if message.role == role => Some(message.text()),
            _ => None,
        });
        messages.filter(|text| !text.is_empty()).collect()
    }
}

#[test]
fn the_handshake_asks_for_the_state_and_restores_the_session() {
    let mut bench = Bench::new(None);
    assert_eq!(bench.sent[0]["type"], "ping");
    assert_eq!(bench.sent[0]["v"], "1");
    assert!(bench.role.abilities().is_none());
    bench.answer("pong", json!({ "message": "pong" }));
    assert_eq!(bench.sent[1]["type"], "get_state");
    bench.answer("state", json!({ "session_id": "sess-1794", "follow_up_mode": "all" }));
    assert_eq!(bench.state.queues.follow_up_mode, Mode::All);
    assert_eq!(bench.sent[2]["type"], "get_messages");
    let user =
        json!({ "type": "message", "id": "msg-1", "role": "user", "text": "hello", "run_id": "run-1" });
    let reply = json!({ "type": "message", "id": "msg-2", "parent_id": "msg-1", "role": "assistant", "text": "hi", "run_id": "run-1" });
    bench.answer("messages", json!({ "session_id": "sess-1794", "messages": [user, reply] }));
    assert_eq!((bench.of(Role::User), bench.texts()), (vec!["hello".to_owned()], vec!["hi".to_owned()]));
    assert!(bench.state.open_run().is_none());
    let leaf = bench.state.leaf;
    bench.command(Command::Session(SessionCommand::SetLeaf { leaf }));
    assert_eq!(bench.sent.last().unwrap()["payload"], json!({ "leaf_id": "msg-2" }));
    bench.answer("leaf", json!({ "session_id": "sess-1794", "leaf_id": "msg-2" }));
    assert_eq!(bench.settled.pop().unwrap().1, Ok(Receipt::Leaf(leaf)));
}

#[test]
fn a_past_that_is_told_while_a_run_is_under_way_does_not_end_it() {
    let mut bench = Bench::new(None);
    bench.answer("pong", json!({ "message": "pong" }));
    bench.answer("state", json!({ "session_id": "sess-1794" }));
    let asked = bench.sent.last().unwrap().clone();
    assert_eq!(asked["type"], "get_messages");
    bench.prompt("hello");
    bench.answer("accepted", json!({ "command": "prompt", "run_id": "run-1", "session_id": "sess-1794" }));
    let open = bench.state.open_run().map(|run| run.id);
    assert!(open.is_some());
    // The answer was made after the prompt had come, so its words are in it.
    let said =
        json!({ "type": "message", "id": "msg-1", "role": "user", "text": "hello", "run_id": "run-1" });
    let payload = json!({ "session_id": "sess-1794", "messages": [said] });
    bench.answer_raw(
        &json!({ "v": "1", "id": asked["id"], "type": "messages", "payload": payload, "ok": true })
            .to_string(),
    );
    assert_eq!(bench.state.open_run().map(|run| run.id), open);
}

#[test]
fn a_named_session_is_gone_to_first() {
    let mut bench = Bench::new(Some("sess-9999"));
    bench.answer("pong", json!({}));
    bench.answer("state", json!({ "session_id": "sess-1794" }));
    let last = bench.sent.last().unwrap();
    assert_eq!(
        (last["type"].as_str(), &last["payload"]),
        (Some("switch_session"), &json!({ "session_id": "sess-9999" }))
    );
}

#[test]
fn silence_is_diagnosed() {
    let mut bench = Bench::new(None);
    bench.call(|role, cx, seen| role.timer(cx, seen, TimerKey(1)));
    assert!(matches!(&bench.closed, Some(Reason::Unusable(why)) if why.contains("ping")));
}

#[test]
fn a_prompt_runs_with_the_text_that_was_sent() {
    for events_first in [false, true] {
        let mut bench = Bench::greeted();
        bench.prompt("hello");
        assert_eq!(bench.sent[0]["payload"], json!({ "text": "hello", "wait": false }));
        let accepted = json!({ "command": "prompt", "run_id": "run-1", "session_id": "sess-1794" });
        if !events_first {
            bench.answer("accepted", accepted.clone());
            assert_eq!(bench.settled.pop().unwrap().1, Ok(Receipt::Done));
        }
        for (kind, payload) in [
            ("agent_start", json!({ "run_id": "run-1" })),
            ("turn_start", json!({ "run_id": "run-1", "turn_id": "1" })),
            (
                "message_start",
                json!({ "run_id": "run-1", "turn_id": "1", "message_id": "u", "role": "user" }),
            ),
            ("message_end", json!({ "run_id": "run-1", "turn_id": "1", "message_id": "u" })),
            (
                "message_start",
                json!({ "run_id": "run-1", "turn_id": "1", "message_id": "a", "role": "assistant" }),
            ),
            (
                "message_update",
                json!({ "run_id": "run-1", "turn_id": "1", "message_id": "a", "delta": "hi " }),
            ),
            (
                "message_update",
                json!({ "run_id": "run-1", "turn_id": "1", "message_id": "a", "delta": "you" }),
            ),
            (
                "status",
                json!({ "run_id": "run-1", "turn_id": "1", "message": "provider_usage: input=11 output=7 total=18" }),
            ),
            ("message_end", json!({ "run_id": "run-1", "turn_id": "1", "message_id": "a" })),
            ("turn_end", json!({ "run_id": "run-1", "turn_id": "1" })),
            ("agent_end", json!({ "run_id": "run-1" })),
        ] {
            bench.event(kind, payload);
        }
        if events_first {
            bench.answer("accepted", accepted);
        }
        assert_eq!(
            (bench.of(Role::User), bench.texts()),
            (vec!["hello".to_owned()], vec!["hi you".to_owned()])
        );
        assert_eq!(bench.state.runs.len(), 1, "a late acceptance begins nothing");
        assert_eq!(bench.state.runs[0].ended.as_ref().unwrap().1, Outcome::Done);
        assert_eq!(bench.state.usage.total(), 18);
    }
}

#[test]
fn steers_come_before_follow_ups_and_keep_their_words() {
    let mut bench = Bench::greeted();
    bench.prompt("go");
    bench.answer("accepted", json!({ "command": "prompt", "run_id": "run-1" }));
    for (kind, name, text) in [(QueueKind::FollowUp, "follow_up", "then"), (QueueKind::Steer, "steer", "now")]
    {
        bench.command(Command::Queue(QueueCommand::Add { kind, input: Input::text(text) }));
        assert_eq!(bench.sent.last().unwrap()["type"], name);
        bench.answer("accepted", json!({ "command": name, "run_id": "run-1" }));
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
    assert_eq!(bench.of(Role::User), ["go", "now", "then"]);
    let causes: Vec<Cause> = bench.state.runs[0].turns.iter().map(|turn| turn.cause).collect();
    assert_eq!(causes, [Cause::Prompt, Cause::Steer, Cause::FollowUp]);
}

#[test]
fn refusals_are_told_in_our_words() {
    for (code, message, kind) in [
        ("command_rejected", "run_in_progress", RefusalKind::Busy),
        ("command_rejected", "no_active_run", RefusalKind::NoRun),
        ("command_rejected", "tool_not_registered: x", RefusalKind::ToolUnknown),
        ("command_rejected", "nothing_to_compact", RefusalKind::NothingToCompact),
        ("session_not_found", "stat", RefusalKind::SessionUnknown),
        ("timeout", "too slow", RefusalKind::TimedOut),
        ("provider_error", "x", RefusalKind::Remote { code: "provider_error".into() }),
    ] {
        let mut bench = Bench::greeted();
        bench.prompt("go");
        bench.refuse(code, message);
        assert_eq!(bench.settled.pop().unwrap().1.unwrap_err().kind, kind);
    }
}

#[test]
fn sessions_settle_with_their_id_and_what_is_unsupported_is_said() {
    let mut bench = Bench::greeted();
    bench.command(Command::Library(LibraryCommand::New { cwd: None, title: None, id: None }));
    bench.answer("session", json!({ "session_id": "sess-1794", "active": true }));
    let Ok(Receipt::Session { session, .. }) = bench.settled.pop().unwrap().1 else { panic!("no session") };
    assert_eq!(session.id.as_str(), "sess-1794");
    bench.command(Command::Library(LibraryCommand::Branch { session: None, at: None }));
    assert_eq!(bench.sent.last().unwrap()["payload"], json!({ "session_id": "sess-1794" }));
    for command in [
        Command::List(ListCommand::Models { provider: None }),
        Command::Session(SessionCommand::Clear),
        Command::List(ListCommand::Servers),
    ] {
        bench.command(command);
        assert_eq!(bench.settled.pop().unwrap().1.unwrap_err().kind, RefusalKind::Unsupported);
    }
    let picture = Part::Image { mime: "image/png".into(), base64: "aa".into() };
    let input = Input { text: String::new(), attachments: vec![picture] };
    bench.command(Command::Run(RunCommand::Prompt { input, options: PromptOptions::default() }));
    assert_eq!(bench.settled.pop().unwrap().1.unwrap_err().kind, RefusalKind::Invalid);
}

#[test]
fn a_core_that_dies_settles_everything() {
    let mut bench = Bench::greeted();
    bench.prompt("go");
    bench.call(|role, cx, seen| role.closed(cx, seen));
    bench.prompt("again");
    let kinds: Vec<_> = bench.settled.iter().map(|(_, with)| with.clone().unwrap_err().kind).collect();
    assert_eq!(kinds, [RefusalKind::Lost, RefusalKind::Lost]);
}

#[test]
fn nonsense_is_drift_and_nothing_more() {
    let mut bench = Bench::greeted();
    for line in [
        "{",
        "[]",
        "{}",
        r#"{"type":"x","ok":true,"id":"parlor-99"}"#,
        r#"{"type":"x","ok":true,"id":"other"}"#,
    ] {
        bench.line(Lane::MAIN, line);
        bench.line(Lane::EVENTS, line);
    }
    bench.event("brand_new", json!({ "run_id": "run-1" }));
    bench.event("message_update", json!({ "delta": "who?" }));
    assert!(bench.settled.is_empty() && bench.closed.is_none());
}
