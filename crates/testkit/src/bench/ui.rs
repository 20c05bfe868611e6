//! A UI role with the hub played by hand: its facts go through the canon, its news are mirrored.

use super::{Link, Sent, follow, outcome, prompt, texts};
use domain::ask::Answer;
use domain::canon::{self, Canon};
use domain::command::{Command, RefusalKind};
use domain::content::Role;
use domain::errand::{ErrandId, ErrandNews, ErrandStep};
use domain::event::{AskEvent, Body, Event, Outcome};
use domain::fact::{Fact, Said};
use domain::grammar::Grammar;
use domain::ids::{Ids, Millis};
use domain::port::{News, Ticket};
use domain::signal::Signal;
use domain::state::State;
use roles::{Cx, Hello, Lane, Line, Seen, Settled, TimerKey, UiCx, UiEffect, UiRole};
use serde_json::Value;

/// A UI role under test, and the hub that a test plays for it.
pub struct UiBench {
    pub role: Box<dyn UiRole>,
    pub link: Link,
    pub now: Millis,
    /// The session as our side knows it.
    pub state: State,
    pub events: Vec<Event>,
    pub signals: Vec<Signal>,
    pub news: Vec<News>,
    pub settled: Vec<(Ticket, Settled)>,
    /// What the role wants done by our hands.
    pub errands: Vec<(ErrandId, ErrandStep)>,
    canon: Canon,
    /// The runtime told its news as they are.
    mirrors: bool,
    grammar: Grammar,
    /// Commands that the role has not settled.
    open: Vec<Ticket>,
    last_ticket: u64,
}

impl UiBench {
    /// Opens the link with a role of this type.
    pub fn open(role: impl UiRole + 'static, hello: &Hello) -> UiBench {
        UiBench::of(Box::new(role), hello)
    }

    /// The same with a role of any wire.
    pub fn of(role: Box<dyn UiRole>, hello: &Hello) -> UiBench {
        let mut bench = UiBench {
            role,
            link: Link::default(),
            now: Millis(1_000),
            canon: Canon::new(Ids::default()),
            state: State::new(),
            events: Vec::new(),
            signals: Vec::new(),
            news: Vec::new(),
            settled: Vec::new(),
            errands: Vec::new(),
            mirrors: false,
            grammar: Grammar::new(),
            open: Vec::new(),
            last_ticket: 0,
        };
        bench.call(|role, cx, _| role.open(cx, hello));
        bench
    }

    /// Calls the role and does what it wants done.
    pub fn call(&mut self, call: impl FnOnce(&mut dyn UiRole, &mut UiCx<'_>, Seen<'_>)) {
        let mut effects = Vec::new();
        let seen = Seen { state: &self.state, names: self.canon.names() };
        call(self.role.as_mut(), &mut Cx { now: self.now, effects: &mut effects }, seen);
        for effect in effects {
            match effect {
                UiEffect::Fact(fact) => {
                    let bodies = self.canon.take(&self.state, self.now, fact);
                    self.happen(bodies);
                }
                UiEffect::News(news) => self.mirror(*news),
                UiEffect::Signal(signal) => self.signals.push(signal),
                UiEffect::Settle { ticket, with } => {
                    let open = self.open.iter().position(|open| *open == ticket);
                    self.open.remove(open.unwrap_or_else(|| panic!("{ticket:?} was settled before")));
                    self.settled.push((ticket, with));
                }
                UiEffect::Errand { id, step } => self.errands.push((id, step)),
                UiEffect::Link(effect) => self.link.take(self.now, effect),
            }
        }
    }

    fn happen(&mut self, bodies: Vec<Body>) {
        for body in bodies {
            let event = Event { seq: self.state.seq.next(), at: self.now, body };
            follow(&mut self.state, &mut self.grammar, &event);
            self.events.push(event);
        }
    }

    fn mirror(&mut self, news: News) {
        self.mirrors = true;
        match &news {
            News::Attached { replay, .. } => {
                self.state = State::new();
                for (at, body) in replay {
                    self.state.apply(*at, body).expect("a replay that follows");
                }
            }
            // Whether both sides agree is the wire's own question; an event alone may name what is not there.
            News::Happened { event, .. } => {
                let _ = self.state.fold(event);
            }
            News::Signal { .. } | News::Settled { .. } | News::Link(_) => {}
        }
        self.news.push(news);
    }

    /// The runtime writes a line on the main lane.
    pub fn hear(&mut self, line: &str) {
        self.hear_on(Lane::MAIN, line);
    }

    /// The runtime writes a line on any lane.
    pub fn hear_on(&mut self, lane: Lane, line: &str) {
        self.call(|role, cx, seen| role.line(cx, seen, lane, Line::Text(line.to_owned())));
    }

    /// What became of an errand.
    pub fn errand(&mut self, id: ErrandId, news: ErrandNews) {
        self.call(|role, cx, seen| role.errand(cx, seen, id, news));
    }

    /// A line as the framing saw it, on the main lane.
    pub fn line(&mut self, line: Line) {
        self.call(|role, cx, seen| role.line(cx, seen, Lane::MAIN, line));
    }

    /// Our side wants something, under the next ticket.
    pub fn command(&mut self, command: Command) -> Ticket {
        self.last_ticket += 1;
        let ticket = Ticket(self.last_ticket);
        self.command_as(ticket, command);
        ticket
    }

    /// As [`UiBench::command`], under a ticket of the test's choice.
    pub fn command_as(&mut self, ticket: Ticket, command: Command) {
        self.open.push(ticket);
        self.call(|role, cx, seen| role.command(cx, seen, ticket, command));
    }

    /// Our side says a text, without options.
    pub fn prompt(&mut self, text: &str) -> Ticket {
        self.command(prompt(text))
    }

    /// A prompt was taken, and the hub has opened its run.
    pub fn begin(&mut self) {
        let (_, bodies) = self.canon.begin(&self.state);
        self.happen(bodies);
    }

    /// The person answers the oldest open question, as the hub lets them: recorded first, then told to the runtime.
    pub fn answer(&mut self, answer: Answer) -> Ticket {
        let ask = self.state.asks.first().expect("an open question").id;
        let closing = self.state.close_with(ask, &answer, None).expect("an answer that fits");
        let follows = canon::decision(&self.state, ask, &closing);
        self.happen(vec![Body::Ask(AskEvent::Closed { ask, closing })]);
        self.happen(follows.into_iter().collect());
        let ticket = self.command(Command::Answer { ask, answer });
        self.canon.forget_ask(ask);
        ticket
    }

    /// Lets time pass; timers fire when they are due.
    pub fn wait(&mut self, millis: u64) {
        let end = Millis(self.now.0 + millis);
        while let Some((key, at)) = self.link.due(end) {
            self.now = at.max(self.now);
            self.call(|role, cx, seen| role.timer(cx, seen, key));
        }
        self.now = end;
    }

    /// A timer runs out now.
    pub fn fire(&mut self, key: TimerKey) {
        self.link.fired(key);
        self.call(|role, cx, seen| role.timer(cx, seen, key));
    }

    /// The runtime is gone: nothing may stay open.
    pub fn gone(&mut self) {
        self.call(|role, cx, seen| role.closed(cx, seen));
        assert_eq!(self.open, [], "commands stay open when the peer is gone");
        // A session that is mirrored is closed by its own runtime, not from here.
        if !self.mirrors {
            let bodies = self.canon.take(&self.state, self.now, Fact::new(Said::Lost));
            self.happen(bodies);
        }
        assert!(self.grammar.is_closed(), "something stays open when the peer is gone");
    }

    /// The lines that were sent since the last look.
    pub fn lines(&mut self) -> Vec<String> {
        self.link.outgoing(None).into_iter().map(|sent| sent.line).collect()
    }

    /// As [`UiBench::lines`], as values.
    pub fn sent(&mut self) -> Vec<Value> {
        self.link.outgoing(None).iter().map(Sent::json).collect()
    }

    /// How a command was settled, if it was.
    pub fn settlement(&mut self, wanted: Ticket) -> Option<Settled> {
        let at = self.settled.iter().position(|(ticket, _)| *ticket == wanted)?;
        Some(self.settled.remove(at).1)
    }

    /// Why the last command that was settled was refused.
    pub fn refused(&mut self) -> RefusalKind {
        let (_, with) = self.settled.pop().expect("a settled command");
        with.expect_err("a refusal").kind
    }

    /// Looks at nothing of what was said so far.
    pub fn forget(&mut self) {
        self.link.forget();
        self.signals.clear();
        self.news.clear();
        self.settled.clear();
    }

    /// How the last run ended, if it did.
    pub fn outcome(&self) -> Option<Outcome> {
        outcome(&self.state)
    }

    /// What the model said.
    pub fn texts(&self) -> Vec<String> {
        texts(&self.state, Role::Assistant)
    }
}
