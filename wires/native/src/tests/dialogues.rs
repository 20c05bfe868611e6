//! The conversations of docs/native-protocol.md are played: each line is what its side says where the page has it, and the other takes it.

use super::super::wire::{About, FromRuntime, FromUi};
use super::page::{block, blocks};
use super::{hello, runtime};
use crate::NativeUi;
use domain::command::{Command, Refusal, RefusalKind};
use domain::event::{Body, Event};
use domain::ids::{Millis, Seq};
use domain::port::Ticket;
use domain::state::State;
use roles::{Greeting, Hello, Reason};
use serde_json::{Value, json};
use std::collections::{BTreeSet, VecDeque};
use testkit::bench::{RuntimeBench, UiBench, session};

/// The session of the page's lines.
const SESSION: &str = "sess-0123456789ab";
/// The version that the page's hellos tell.
const VERSION: &str = "0.2.0";

/// Whose programs speak in a conversation of the page. What others say stands on the page alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ours {
    Both,
    Ui,
    Runtime,
}

/// A UI and a runtime that have said hello, or are about to, with the test as the hub of both.
struct Play {
    ours: Ours,
    runtime: RuntimeBench,
    ui: UiBench,
    /// What either side has said by itself and the page has not told yet.
    from_ui: VecDeque<Value>,
    from_runtime: VecDeque<Value>,
    /// The commands that wait for a settlement.
    open: Vec<Ticket>,
    /// What was said in the place of a line of the page.
    wrong: Vec<String>,
}

impl Play {
    /// Both before their hello.
    fn before_hello(ours: Ours) -> Play {
        let mut runtime = runtime();
        runtime.session = session(SESSION);
        let greeting = Greeting { version: VERSION.to_owned(), ..Greeting::default() };
        runtime.restart(crate::NativeRuntime::new(), &greeting);
        let hello = Hello { version: VERSION.to_owned(), ..hello(None) };
        let mut ui = UiBench::open(NativeUi::new(), &hello);
        let from_ui = ui.sent().into();
        Play {
            ours,
            runtime,
            ui,
            from_ui,
            from_runtime: VecDeque::new(),
            open: Vec::new(),
            wrong: Vec::new(),
        }
    }

    /// Both after it, with the first events of the page told.
    fn after(events: usize, ours: Ours) -> Play {
        let mut play = Play::before_hello(ours);
        play.runtime.say(r#"{"hello":{"protocol":1}}"#);
        play.ui.hear(r#"{"hello":{"protocol":1}}"#);
        play.ui.hear(
            &json!({"attached":{"at":{"session":SESSION,"seq":0},"abilities":{"name":"page"}}}).to_string(),
        );
        for (body, seq) in block("events").into_iter().take(events).zip(1..) {
            let body: Body = serde_json::from_value(body).expect("an event of the page");
            play.runtime.now = Millis(1);
            play.runtime.happen(body.clone());
            let event = Event { seq: Seq(seq), at: Millis(1), body };
            play.ui.hear(&json!({"event":{"session":SESSION,"event":event}}).to_string());
        }
        play.runtime.forget();
        play.ui.forget();
        play.from_ui.clear();
        play
    }

    /// A line of the page.
    fn line(&mut self, line: &str) {
        match line.split_at(2) {
            ("> ", said) => self.ui_says(said),
            ("< ", said) => self.runtime_says(said),
            _ => panic!("nobody says {line}"),
        }
        self.from_ui.extend(self.ui.sent());
        self.from_runtime.extend(self.runtime.sent());
    }

    /// Holds what a side has said against the page.
    fn compare(&mut self, came: Option<Value>, said: &str) {
        let came = came.map_or("nothing".to_owned(), |came| came.to_string());
        if serde_json::from_str::<Value>(said).map_or(said.to_owned(), |said| said.to_string()) != came {
            self.wrong.push(format!("{said}\n  came: {came}"));
        }
    }

    fn ui_says(&mut self, said: &str) {
        let read = serde_json::from_str::<FromUi>(said);
        match &read {
            _ if self.ours == Ours::Runtime => {}
            Ok(FromUi::Command(wanted)) => {
                if let Command::Answer { ask, answer } = &wanted.what
                    && let Some(open) = self.ui.state.asks.iter().find(|open| open.id == *ask)
                {
                    assert!(open.kind.accepts(answer), "{said} is no answer to {:?}", open.kind);
                }
                self.ui.command_as(wanted.ticket, wanted.what.clone());
                let sent = self.ui.sent();
                let [sent] = sent.as_slice() else { panic!("{sent:?}") };
                assert_eq!(sent["command"]["what"], json!(wanted.what), "the UI says something else");
            }
            _ => {
                let came = self.from_ui.pop_front();
                self.compare(came, said);
            }
        }
        if self.ours == Ours::Ui {
            return;
        }
        self.runtime.say(said);
        for (ticket, _, command) in self.runtime.commands() {
            match &read {
                Ok(FromUi::Command(wanted)) => assert_eq!(command, wanted.what),
                Ok(FromUi::Hello(_)) => {}
                other => panic!("{other:?} is no command"),
            }
            self.open.push(ticket);
        }
    }

    fn runtime_says(&mut self, said: &str) {
        if self.ours != Ours::Ui {
            // What it says by itself, or by what the hub tells it.
            if self.from_runtime.is_empty() {
                self.hub_tells(said);
                self.from_runtime.extend(self.runtime.sent());
            }
            let came = self.from_runtime.pop_front();
            self.compare(came, said);
        }
        if self.ours != Ours::Runtime {
            self.ui.hear(said);
        }
    }

    /// Has the runtime's hub do what leads to this line.
    fn hub_tells(&mut self, said: &str) {
        match serde_json::from_str::<FromRuntime>(said) {
            Ok(FromRuntime::Event(happened)) => {
                self.runtime.now = happened.event.at;
                self.runtime.happen(happened.event.body);
            }
            Ok(FromRuntime::Settled(settled)) => {
                let ticket = self.open.pop().expect("a command waits");
                self.runtime.settle(ticket, settled.with);
            }
            Ok(FromRuntime::Error(complaint)) if complaint.about == About::Session => {
                let ticket = self.open.pop().expect("the session of the hello is looked for");
                let refusal = Refusal::new(RefusalKind::SessionUnknown, complaint.message);
                self.runtime.settle(ticket, Err(refusal));
            }
            _ => {}
        }
    }

    /// Nothing else was said than the page tells.
    fn faults(&self) -> Vec<String> {
        let ui = self.from_ui.iter().filter(|_| self.ours != Ours::Runtime);
        let runtime = self.from_runtime.iter().filter(|_| self.ours != Ours::Ui);
        let untold = ui.chain(runtime).map(|untold| format!("the page does not tell {untold}"));
        self.wrong.iter().cloned().chain(untold).collect()
    }
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|why| panic!("{why}: {text}"))
}

/// Plays the conversations of a block, which all come as they stand there.
fn play(name: &str, begin: impl Fn(&str) -> Play) -> Vec<Play> {
    let (mut all, mut faults) = (Vec::new(), Vec::new());
    for told in blocks(name).iter().flat_map(|text| text.split("\n\n")) {
        let mut play = begin(told);
        told.lines().for_each(|line| play.line(line));
        faults.extend(play.faults());
        all.push(play);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    all
}

/// Where the page says that its questions and mistakes begin.
const BEGIN: usize = 21;

#[test]
fn every_kind_of_question_is_asked_and_answered_as_the_page_has_it() {
    let plays = play("text dialogue", |_| Play::after(BEGIN, Ours::Both));
    let mut asked = BTreeSet::new();
    let mut answers = BTreeSet::new();
    for mut play in plays {
        assert!(play.open.is_empty() && play.ui.state.asks.is_empty(), "a question stays open");
        assert_eq!(play.ui.state.hash(), play.runtime.state().hash());
        for event in play.runtime.events() {
            let body = json!(event.body);
            asked.extend(
                body["ask_opened"]["kind"].as_object().into_iter().flat_map(|kind| kind.keys().cloned()),
            );
            let answer = &body["ask_closed"]["closing"]["answered"]["answer"];
            answers.extend(answer.as_str().map(str::to_owned));
            answers.extend(answer.as_object().into_iter().flat_map(|answer| answer.keys().cloned()));
        }
    }
    assert_eq!(asked, super::page::words("AskKind"));
    assert_eq!(answers, super::page::words("Answer"));
}

#[test]
fn every_refusal_of_the_page_reaches_the_ui() {
    let refusals = block("refusals");
    let kinds: BTreeSet<String> =
        refusals.iter().map(|refusal| super::page::word(&refusal["kind"])).collect();
    assert_eq!(kinds, super::page::words("RefusalKind"));
    for refusal in refusals {
        let mut play = Play::after(BEGIN, Ours::Both);
        play.line(r#"> {"command":{"ticket":1,"what":"stats"}}"#);
        play.line(&format!("< {}", json!({"settled":{"ticket":1,"with":{"refusal":refusal}}})));
        assert_eq!(play.faults(), Vec::<String>::new());
        let wanted: Refusal = serde_json::from_value(refusal).expect("a refusal");
        assert_eq!(play.ui.settlement(Ticket(1)), Some(Err(wanted)));
    }
}

/// A conversation of mistakes: whoever speaks first makes them, or the runtime that is called `mine`. It begins at the hello where it has one.
fn of_mistakes(told: &str) -> Play {
    let ours = if told.starts_with("> ") && !told.contains("mine") { Ours::Runtime } else { Ours::Ui };
    let has_hello = told.lines().any(|line| line.starts_with("> {\"hello\""));
    if has_hello && !told.contains("hello was said already") || told.contains("before hello") {
        Play::before_hello(ours)
    } else {
        Play::after(BEGIN, ours)
    }
}

#[test]
fn every_error_of_the_page_is_told_as_it_stands_there() {
    let plays = play("text errors", of_mistakes);
    assert!(plays.len() >= 10, "{}", plays.len());
    let lines = blocks("text errors").into_iter().flat_map(str::lines);
    let read = lines.filter_map(|line| serde_json::from_str::<Value>(line.get(2..)?).ok());
    let about: BTreeSet<String> =
        read.filter_map(|line| line["error"]["about"].as_str().map(str::to_owned)).collect();
    assert_eq!(about, super::page::words("About"));
    // Only a protocol that nobody speaks any more ends a link here.
    let closed: Vec<_> = plays.iter().filter_map(|play| play.runtime.link.closed.clone()).collect();
    assert!(matches!(closed.as_slice(), [Reason::Unusable(why)] if why.contains("protocol 0")), "{closed:?}");
    assert!(plays.iter().all(|play| play.ui.link.closed.is_none()));
}

#[test]
fn what_ends_the_link_ends_it() {
    let plays = play("text closes", of_mistakes);
    assert_eq!(plays.len(), 2);
    for play in plays {
        assert!(matches!(play.ui.link.closed, Some(Reason::Unusable(_))), "{:?}", play.ui.link.closed);
    }
}

#[test]
fn an_event_out_of_order_is_told_to_the_runtime_as_the_page_has_it() {
    let text = blocks("text disorder").pop().expect("a block");
    let mut wrong = Vec::new();
    for row in text.lines() {
        let [after, body, words] = row.split(" | ").collect::<Vec<_>>()[..] else { panic!("{row}") };
        let after: usize = after.parse().expect("a number");
        let mut play = Play::after(after, Ours::Ui);
        let event = json!({"seq":after + 1,"at":1,"body":value(body)});
        let line = json!({"event":{"session":SESSION,"event":event}}).to_string();
        play.ui.hear(&line);
        let told: Vec<String> = play
            .ui
            .sent()
            .iter()
            .map(|sent| sent["error"]["message"].as_str().unwrap_or_default().to_owned())
            .collect();
        if told != [words] {
            wrong.push(format!("{after} | {body} | {}", told.join(" AND ")));
        }
        // Once: what follows from a mistake is none of its own.
        play.ui.hear(&line);
        assert_eq!((play.ui.sent(), &play.ui.link.closed), (Vec::new(), &None), "{row}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(text.lines().count() >= 8);
}

#[test]
fn what_the_page_has_in_order_is_complained_of_by_nobody() {
    let all = block("events").len();
    let mut play = Play::after(all, Ours::Both);
    assert!(play.ui.sent().is_empty() && play.ui.link.closed.is_none());
    let mut state = State::new();
    for event in play.runtime.events() {
        state.fold(event).expect("an event that follows");
    }
    assert_eq!(state.hash(), play.ui.state.hash());
}
