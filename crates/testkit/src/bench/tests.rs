//! The bench itself: a role that breaks a law is caught, whatever the test that drives it looks at.

use super::{RuntimeBench, UiBench, cancel, session};
use domain::command::{Command, Receipt, RunCommand};
use domain::event::{Body, Event, RunEvent};
use domain::fact::{Fact, Said};
use domain::ids::{RunId, SessionId};
use domain::port::{Abilities, Ticket};
use roles::{
    Answers, Greeting, Hello, Lane, Line, Reason, RuntimeCx, RuntimeRole, Seen, TimerKey, UiCx, UiRole, View,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Says each line that it hears, and asks for the same ticket again and again.
struct Parrot;

impl RuntimeRole for Parrot {
    fn open(&mut self, _: &mut RuntimeCx<'_>, _: &Greeting) {}
    fn line(&mut self, cx: &mut RuntimeCx<'_>, _: Lane, line: Line) {
        match line {
            Line::Text(line) => cx.send(line),
            Line::Overlong(_) => cx.close(Reason::Quit),
            Line::Garbled(_) => {
                let command = Command::Run(RunCommand::Cancel { run: None, reason: None });
                cx.command(Ticket(1), domain::command::Target::Current, command);
            }
        }
    }
    fn attached(&mut self, cx: &mut RuntimeCx<'_>, _: View<'_>) {
        cx.timer(TimerKey(1), Duration::from_millis(5));
    }
    fn event(&mut self, _: &mut RuntimeCx<'_>, _: View<'_>, _: &Event) {}
    fn settled(
        &mut self,
        _: &mut RuntimeCx<'_>,
        _: Option<View<'_>>,
        _: Ticket,
        _: Result<Receipt, domain::command::Refusal>,
    ) {
    }
    fn timer(&mut self, cx: &mut RuntimeCx<'_>, _: TimerKey) {
        cx.send("{}".to_owned());
    }
    fn detached(&mut self, _: &mut RuntimeCx<'_>, _: &SessionId) {}
    fn can_answer(&self) -> Answers {
        Answers::NONE
    }
}

fn breaks(act: impl FnOnce(&mut RuntimeBench)) -> bool {
    let mut bench = RuntimeBench::open(Parrot, session("sess-0001"), &Greeting::default());
    catch_unwind(AssertUnwindSafe(|| act(&mut bench))).is_err()
}

#[test]
fn a_runtime_role_that_breaks_a_law_is_caught() {
    let odd = || Line::Garbled(String::new());
    assert!(!breaks(|bench| {
        bench.say(r#"{"a":"\n"}"#);
        bench.line(odd());
        bench.settle(Ticket(1), Ok(Receipt::Done));
        bench.attach();
        bench.wait(5);
        assert_eq!(bench.lines().len(), 2);
        bench.start(RunId(1), "hello");
        bench.talk("hi");
        bench.end(domain::event::Outcome::Done);
    }));
    assert!(breaks(|bench| bench.say("{\n}")), "a line break");
    assert!(breaks(|bench| bench.say("")), "an empty line");
    assert!(breaks(|bench| bench.say("[]")), "not an object");
    assert!(
        breaks(|bench| {
            bench.line(Line::Overlong(String::new()));
            bench.say("{}");
        }),
        "sent after the end"
    );
    assert!(
        breaks(|bench| {
            bench.line(odd());
            bench.line(odd());
        }),
        "a ticket twice"
    );
    assert!(breaks(|bench| bench.settle(Ticket(1), Ok(Receipt::Done))), "nobody asked");
    assert!(breaks(|bench| bench.fire(TimerKey(1))), "a timer that nobody set");
    assert!(
        breaks(|bench| {
            bench.happen(Body::Run(RunEvent::Started { run: RunId(1) }));
            bench.happen(Body::Run(RunEvent::Started { run: RunId(2) }));
        }),
        "a run inside a run"
    );
}

/// Settles every command as often as it was made for.
struct Settler(usize);

impl UiRole for Settler {
    fn open(&mut self, _: &mut UiCx<'_>, _: &Hello) {}
    fn line(&mut self, cx: &mut UiCx<'_>, _: Seen<'_>, _: Lane, _: Line) {
        cx.fact(Fact::new(Said::TurnStarted(None)));
    }
    fn command(&mut self, cx: &mut UiCx<'_>, _: Seen<'_>, ticket: Ticket, _: Command) {
        for _ in 0..self.0 {
            cx.settle(ticket, Ok(Receipt::Done));
        }
    }
    fn closed(&mut self, _: &mut UiCx<'_>, _: Seen<'_>) {}
    fn abilities(&self) -> Option<Abilities> {
        None
    }
}

#[test]
fn a_ui_role_settles_each_command_once() {
    let settles = |times: usize| {
        let mut bench = UiBench::open(Settler(times), &Hello::default());
        let all = AssertUnwindSafe(|| {
            bench.hear("a run begins");
            let ticket = bench.command(cancel());
            bench.gone();
            bench.settlement(ticket)
        });
        catch_unwind(all).ok().flatten()
    };
    assert_eq!(settles(1), Some(Ok(Receipt::Done)));
    assert_eq!(settles(0), None, "left open when the peer is gone");
    assert_eq!(settles(2), None, "settled twice");
}
