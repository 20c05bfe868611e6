//! Both roles: tables, quirks, bounds and the way there and back. Conversations are in the transcripts.

mod commands;
mod quirks;
mod round_trip;
mod runs;
mod schema;
mod ui;

use super::{NousRuntime, NousUi};
use domain::command::{Command, Receipt, Refusal, Target};
use domain::event::Outcome;
use domain::ids::RunId;
use domain::port::Ticket;
use roles::{Greeting, Hello, Lane};
use serde_json::{Value, json};
use std::ops::{Deref, DerefMut};
use testkit::bench::{RuntimeBench, Sent, UiBench, session};

/// The first command connection and the first event connection.
const COMMANDS: Lane = Lane(2);
const EVENTS: Lane = Lane(3);

/// Our core with a command connection.
struct Core {
    bench: RuntimeBench,
    /// All commands that the hub was given.
    wanted: Vec<(Ticket, Target, Command)>,
}

impl Deref for Core {
    type Target = RuntimeBench;
    fn deref(&self) -> &RuntimeBench {
        &self.bench
    }
}

impl DerefMut for Core {
    fn deref_mut(&mut self) -> &mut RuntimeBench {
        &mut self.bench
    }
}

impl Core {
    fn new() -> Core {
        let mut bench = RuntimeBench::open(NousRuntime::new(), session("sess-0001"), &Greeting::default());
        bench.opened("/w");
        let mut core = Core { bench, wanted: Vec::new() };
        core.lane(COMMANDS, true);
        core
    }

    /// With an active session and a subscriber.
    fn ready() -> Core {
        let mut core = Core::new();
        core.lane(EVENTS, true);
        core.attach();
        core
    }

    fn lane(&mut self, lane: Lane, open: bool) {
        self.call(|role, cx| role.lane(cx, lane, open));
    }

    fn wanted(&mut self) -> &[(Ticket, Target, Command)] {
        self.wanted.extend(self.bench.commands());
        &self.wanted
    }

    /// The last command that the hub was given.
    fn last(&mut self) -> (Ticket, Target, Command) {
        self.wanted().last().expect("a command for the hub").clone()
    }

    /// Everything on the command connections since the last look.
    fn answers(&mut self) -> Vec<Value> {
        self.link.outgoing(Some(Lane::MAIN)).iter().map(Sent::json).collect()
    }

    /// Everything that subscribers heard since the last look.
    fn heard(&mut self) -> Vec<Value> {
        self.link.outgoing(Some(Lane::EVENTS)).iter().map(Sent::json).collect()
    }

    /// The types of what subscribers heard.
    fn types(&mut self) -> Vec<String> {
        self.heard().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }

    /// Says a command with id `c` and gives the answer, if it came at once.
    fn ask(&mut self, kind: &str, payload: Value) -> Option<Value> {
        self.answers();
        let line = json!({ "v": "1", "id": "c", "type": kind, "payload": payload });
        self.say_on(COMMANDS, &line.to_string());
        self.answers().pop()
    }

    /// Settles the last command and gives the answer, if one came.
    fn settle_last(&mut self, with: Result<Receipt, Refusal>) -> Option<Value> {
        let ticket = self.last().0;
        self.answers();
        self.settle(ticket, with);
        self.answers().pop()
    }

    /// A prompt with `wait`; its run has a name, and an answer if nobody waits.
    fn prompt(&mut self, wait: bool) -> (RunId, Option<Value>) {
        assert_eq!(self.ask("prompt", json!({ "text": "hello", "wait": wait })), None);
        let run = self.mint_run();
        let receipt = Receipt::Started { session: self.session.clone(), run };
        (run, self.settle_last(Ok(receipt)))
    }

    /// A prompt and its whole run with one text.
    fn run(&mut self, text: &str) {
        let (run, _) = self.prompt(false);
        self.start(run, "hello");
        self.talk(text);
        self.end(Outcome::Done);
    }
}

/// Our UI in front of a core.
struct Client {
    bench: UiBench,
    /// All that was sent.
    said: Vec<Value>,
}

impl Deref for Client {
    type Target = UiBench;
    fn deref(&self) -> &UiBench {
        &self.bench
    }
}

impl DerefMut for Client {
    fn deref_mut(&mut self) -> &mut UiBench {
        &mut self.bench
    }
}

impl Client {
    fn new() -> Client {
        Client { bench: UiBench::open(NousUi::new(), &Hello::default()), said: Vec::new() }
    }

    /// After its handshake with a core that has no session yet.
    fn greeted() -> Client {
        let mut client = Client::new();
        client.reply("pong", json!({ "message": "pong" }));
        client.reply(
            "state",
            json!({ "run_state": "idle", "session_id": "", "steering_mode": "one-at-a-time" }),
        );
        assert!(client.role.abilities().is_some());
        client
    }

    /// The last thing that was sent.
    fn last(&mut self) -> Value {
        self.said.extend(self.bench.sent());
        self.said.last().expect("a question").clone()
    }

    fn answer_to(&mut self, id: &Value, kind: &str, payload: Value) {
        let line = json!({ "v": "1", "id": id, "type": kind, "payload": payload, "ok": true });
        self.hear(&line.to_string());
    }

    /// Answers the last thing that was sent.
    fn reply(&mut self, kind: &str, payload: Value) {
        let id = self.last()["id"].clone();
        self.answer_to(&id, kind, payload);
    }

    fn refuse(&mut self, code: &str, message: &str) {
        let (id, error) = (self.last()["id"].clone(), json!({ "code": code, "message": message }));
        let line = json!({ "v": "1", "id": id, "type": "error", "payload": {}, "ok": false, "error": error });
        self.hear(&line.to_string());
    }

    fn event(&mut self, kind: &str, payload: Value) {
        let line = json!({ "v": "1", "id": "evt-1", "type": kind, "payload": payload, "ts": "" });
        self.hear_on(Lane::EVENTS, &line.to_string());
    }
}
