//! The UI role against what a runtime says.

use crate::asst::{ATTACHMENT, AsstUi};
use domain::canon::Canon;
use domain::command::{
    Command, LibraryCommand, ListCommand, PromptOptions, Receipt, Refusal, RefusalKind, RunCommand,
    SessionCommand,
};
use domain::content::{Input, Json, Part, Role};
use domain::event::{Event, Outcome};
use domain::fact::Fact;
use domain::grammar::Grammar;
use domain::ids::{Ids, Millis, SessionId};
use domain::port::Ticket;
use domain::state::{EntryKind, State};
use roles::{Cx, Hello, Lane, Line, LinkEffect, Reason, Seen, TimerKey, UiCx, UiEffect, UiRole};
use serde_json::{Value, json};

/// Plays the hub around a UI role: facts go through the canon into a state.
pub(super) struct Bench {
    pub(super) role: AsstUi,
    pub(super) state: State,
    canon: Canon,
    grammar: Grammar,
    pub(super) sent: Vec<Value>,
    pub(super) settled: Vec<(Ticket, Result<Receipt, Refusal>)>,
    pub(super) closed: Option<Reason>,
    tickets: u64,
}

impl Bench {
    pub(super) fn new() -> Bench {
        let state = State::new();
        let mut bench = Bench {
            role: AsstUi::new(),
            canon: Canon::new(Ids::default(), &state),
            state,
            grammar: Grammar::new(),
            sent: Vec::new(),
            settled: Vec::new(),
            closed: None,
            tickets: 0,
        };
        bench.call(|role, cx, _| role.open(cx, &Hello::default()));
        bench
    }

    pub(super) fn ready() -> Bench {
        let mut bench = Bench::new();
        bench.say(json!({ "type": "ready", "timestamp": 1 }));
        assert!(bench.role.abilities().is_some());
        bench
    }

    pub(super) fn call(&mut self, call: impl FnOnce(&mut AsstUi, &mut UiCx<'_>, Seen<'_>)) {
        let mut effects = Vec::new();
        let seen = Seen { state: &self.state, names: self.canon.names() };
        call(&mut self.role, &mut Cx { now: Millis(7), effects: &mut effects }, seen);
        for effect in effects {
            match effect {
                UiEffect::Link(LinkEffect::Send { line, .. }) => {
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

    pub(super) fn say(&mut self, line: Value) {
        self.line(&line.to_string());
    }

    pub(super) fn line(&mut self, line: &str) {
        self.call(|role, cx, seen| role.line(cx, seen, Lane::MAIN, Line::Text(line.to_owned())));
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

    pub(super) fn of(&self, role: Role) -> Vec<String> {
        let messages = self.state.entries.values().filter_map(|entry| match &entry.kind {
            EntryKind::Message(message) if message.role == role => Some(message.text()),
            _ => None,
        });
        messages.filter(|text| !text.is_empty()).collect()
    }
}

#[test]
fn a_message_is_answered() {
    let mut bench = Bench::ready();
    bench.prompt("Hello, can you help me?");
    assert_eq!(
        bench.sent,
        [json!({ "id": "msg-1", "kind": "user_message", "message": "Hello, can you help me?" })]
    );
    assert_eq!(bench.settled.pop().unwrap().1, Ok(Receipt::Done));
    for token in ["Let", " me", " look"] {
        bench.say(json!({ "type": "token", "id": "msg-1", "token": token, "timestamp": 2 }));
    }
    bench.say(json!({ "type": "tool_use", "id": "msg-1", "data": { "toolId": "t1", "toolName": "list_files", "input": { "path": "src" } }, "timestamp": 3 }));
    bench.say(json!({ "type": "tool_result", "id": "msg-1", "data": { "toolId": "t1", "toolName": "list_files", "result": { "files": ["a"] } }, "timestamp": 4 }));
    bench.say(json!({ "type": "token", "id": "msg-1", "token": "Done.", "timestamp": 5 }));
    bench.prompt("too early");
    assert_eq!(bench.settled.pop().unwrap().1.unwrap_err().kind, RefusalKind::Busy);
    bench.say(json!({ "type": "done", "id": "msg-1", "timestamp": 6 }));
    assert_eq!(bench.of(Role::User), ["Hello, can you help me?"]);
    assert_eq!(bench.of(Role::Assistant), ["Let me look", "Done."]);
    let tool = bench.state.tools.values().next().unwrap();
    assert_eq!(tool.result.as_ref().unwrap().json.as_ref().unwrap().as_str(), r#"{"files":["a"]}"#);
    assert_eq!(bench.state.runs[0].ended.clone().unwrap().1, Outcome::Done);
    assert_eq!(bench.state.runs[0].turns[0].steps.len(), 2);
}

#[test]
fn a_time_of_any_kind_spoils_no_line() {
    let mut bench = Bench::ready();
    bench.prompt("hi");
    for time in [json!(null), json!(1.5e12), json!("2026-11-15T05:00:00Z"), json!(-1)] {
        bench.say(json!({ "type": "token", "id": "msg-1", "token": ".", "timestamp": time }));
    }
    bench.say(json!({ "type": "done", "id": "msg-1" }));
    assert_eq!(bench.of(Role::Assistant), ["...."]);
    assert_eq!(bench.state.runs[0].ended.clone().unwrap().1, Outcome::Done);
}

#[test]
fn a_cancelled_message_is_not_listened_to() {
    let mut bench = Bench::ready();
    bench.prompt("go");
    bench.command(Command::Run(RunCommand::Cancel { run: None, reason: None }));
    assert_eq!(bench.state.runs[0].ended.clone().unwrap().1, Outcome::Cancelled);
    bench.say(json!({ "type": "token", "id": "msg-1", "token": "late", "timestamp": 2 }));
    bench.prompt("next");
    bench.say(json!({ "type": "done", "id": "msg-1", "timestamp": 2 }));
    assert!(bench.state.open_run().is_some(), "the late end is not the new run's");
    bench.command(Command::Run(RunCommand::Cancel { run: None, reason: None }));
    bench.settled.clear();
    bench.command(Command::Run(RunCommand::Cancel { run: None, reason: None }));
    assert_eq!(bench.settled.pop().unwrap().1.unwrap_err().kind, RefusalKind::NoRun);
}

#[test]
fn pictures_and_files_are_carried() {
    let mut bench = Bench::ready();
    let attachments = vec![
        Part::Image { mime: "image/png".into(), base64: "aGk=".into() },
        Part::Opaque {
            kind: ATTACHMENT.into(),
            json: Json::verbatim(r#"{"path":"/a.txt","mime":"text/plain"}"#),
        },
    ];
    let input = Input { text: String::new(), attachments };
    bench.command(Command::Run(RunCommand::Prompt { input, options: PromptOptions::default() }));
    let sent = &bench.sent[0];
    assert_eq!(sent["attachments"], json!([{ "path": "/a.txt", "mime": "text/plain" }]));
    let images: Value = serde_json::from_str(sent["images"].as_str().unwrap()).unwrap();
    assert_eq!(images, json!([{ "data": "aGk=", "mime_type": "image/png" }]));
}

#[test]
fn history_and_conversations() {
    let mut bench = Bench::ready();
    bench.command(Command::Session(SessionCommand::Clear));
    assert_eq!(bench.sent[0], json!({ "id": "msg-1", "kind": "clear_history" }));
    bench.say(json!({ "type": "done", "id": "msg-1", "timestamp": 1 }));
    assert_eq!(bench.settled.pop().unwrap().1, Ok(Receipt::Leaf(None)));
    bench.command(Command::Library(LibraryCommand::New { cwd: None, title: None, id: None }));
    bench.say(
        json!({ "type": "done", "id": "msg-2", "data": { "conversation_id": "conv_1794" }, "timestamp": 1 }),
    );
    let Ok(Receipt::Session { session, .. }) = bench.settled.pop().unwrap().1 else { panic!("no session") };
    assert_eq!(session.id.as_str(), "sess-conv_1794");
    bench.prompt("hi");
    assert_eq!(bench.sent.last().unwrap()["metadata"], json!({ "conversationId": "conv_1794" }));
    bench.say(json!({ "type": "done", "id": "msg-3", "timestamp": 1 }));
    bench.command(Command::Library(LibraryCommand::Open { session: session.id }));
    assert_eq!(bench.sent.last().unwrap()["conversation_id"], "conv_1794");
    bench.say(json!({ "type": "error", "id": "msg-4", "error": "Unknown request kind: load_conversation", "timestamp": 1 }));
    assert_eq!(bench.settled.pop().unwrap().1.unwrap_err().kind, RefusalKind::Unsupported);
    let session = SessionId::parse("sess-never-seen").unwrap();
    bench.command(Command::Library(LibraryCommand::Open { session }));
    assert_eq!(bench.sent.last().unwrap()["conversation_id"], "sess-never-seen");
}

#[test]
fn what_the_wire_cannot_do_is_refused() {
    let mut bench = Bench::ready();
    for command in [
        Command::List(ListCommand::Models { provider: None }),
        Command::Session(SessionCommand::Stats),
        Command::Library(LibraryCommand::Branch { session: None, at: None }),
    ] {
        bench.command(command);
        assert_eq!(bench.settled.pop().unwrap().1.unwrap_err().kind, RefusalKind::Unsupported);
    }
    bench.prompt("  ");
    assert_eq!(bench.settled.pop().unwrap().1.unwrap_err().kind, RefusalKind::Invalid);
}

#[test]
fn no_ready_and_a_dead_runtime_are_told() {
    let mut bench = Bench::new();
    assert!(bench.role.abilities().is_none());
    bench.call(|role, cx, seen| role.timer(cx, seen, TimerKey(1)));
    assert!(matches!(&bench.closed, Some(Reason::Unusable(why)) if why.contains("ready")));
    let mut bench = Bench::ready();
    bench.command(Command::Session(SessionCommand::Clear));
    bench.call(|role, cx, seen| role.closed(cx, seen));
    bench.prompt("again");
    let kinds: Vec<_> = bench.settled.iter().map(|(_, with)| with.clone().unwrap_err().kind).collect();
    assert_eq!(kinds, [RefusalKind::Lost, RefusalKind::Lost]);
}

#[test]
fn nonsense_is_drift_and_nothing_more() {
    let mut bench = Bench::ready();
    bench.prompt("hi");
    for line in [
        "plain words of a log",
        "[]",
        "{}",
        r#"{"type":"tool_use","id":"msg-1"}"#,
        r#"{"type":"brand_new","id":"msg-1"}"#,
        r#"{"type":"token","id":"other","token":"x"}"#,
    ] {
        bench.line(line);
    }
    assert!(bench.state.open_run().is_some() && bench.closed.is_none());
}
