//! The hub in small, for one UI role: canon, state, grammar, a fake clock, and a list of everything that was noticed.

use super::brief::{brief, brief_effect, brief_settled};
use domain::ask::Answer;
use domain::canon::{self, Canon};
use domain::command::Command;
use domain::event::{AskEvent, Body, Event};
use domain::fact::{Fact, Said};
use domain::grammar::Grammar;
use domain::ids::{Ids, Millis};
use domain::port::Ticket;
use domain::state::State;
use roles::{Cx, Hello, Lane, Line, LinkEffect, Seen, TimerKey, UiCx, UiEffect, UiRole};
use std::collections::{BTreeMap, VecDeque};

/// Where the fake clock begins.
const BEGIN: Millis = Millis(1_730_000_000_000);
/// Timers that fire in one wait; a role that sets one without end is stopped here.
const MAX_FIRED: usize = 10_000;

/// A UI role with its canon, driven by hand.
pub(super) struct DrivenRole<'r> {
    role: &'r mut dyn UiRole,
    canon: Canon,
    state: State,
    grammar: Grammar,
    now: Millis,
    timers: BTreeMap<TimerKey, Millis>,
    said: VecDeque<(u8, String)>,
    noticed: Vec<RoleNotice>,
    /// How far `event` steps have matched.
    matched: usize,
    tickets: u64,
    broken: Vec<String>,
}

struct RoleNotice {
    text: String,
    /// Must be named by an `event`.
    must_be_named: bool,
    named: bool,
}

impl<'r> DrivenRole<'r> {
    /// Brings the role up, as a link would.
    pub(super) fn open(role: &'r mut dyn UiRole, hello: &Hello) -> DrivenRole<'r> {
        let state = State::new();
        let canon = Canon::new(Ids::default());
        let mut driven = DrivenRole {
            role,
            canon,
            state,
            grammar: Grammar::new(),
            now: BEGIN,
            timers: BTreeMap::new(),
            said: VecDeque::new(),
            noticed: Vec::new(),
            matched: 0,
            tickets: 0,
            broken: Vec::new(),
        };
        driven.step(|role, cx, _| role.open(cx, hello));
        driven
    }

    /// The runtime says a line.
    pub(super) fn line(&mut self, lane: Lane, line: Line) {
        self.step(|role, cx, seen| role.line(cx, seen, lane, line));
    }

    /// The person wants something.
    pub(super) fn command(&mut self, command: Command) {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.step(|role, cx, seen| role.command(cx, seen, ticket, command));
    }

    /// Answers the oldest open ask as the hub does: recorded first, then told to the runtime.
    pub(super) fn answer(&mut self, answer: Answer) -> Result<(), String> {
        let ask = self.state.asks.first().ok_or("there is no open question")?.id;
        let closing = self.state.close_with(ask, &answer, None).map_err(|refusal| refusal.to_string())?;
        let follows = canon::decision(&self.state, ask, &closing);
        self.happen(vec![Body::Ask(AskEvent::Closed { ask, closing })]);
        self.happen(follows.into_iter().collect());
        self.command(Command::Answer { ask, answer });
        self.canon.forget_ask(ask);
        Ok(())
    }

    /// Lets time pass, and the timers that end in it.
    pub(super) fn wait(&mut self, millis: u64) {
        let end = Millis(self.now.0.saturating_add(millis));
        for _ in 0..MAX_FIRED {
            let next = self.timers.iter().min_by_key(|(_, due)| **due).map(|(key, due)| (*key, *due));
            let Some((key, due)) = next.filter(|(_, due)| *due <= end) else { break };
            self.timers.remove(&key);
            self.now = due.max(self.now);
            self.step(|role, cx, seen| role.timer(cx, seen, key));
        }
        self.now = end;
    }

    /// The runtime is gone.
    pub(super) fn lost(&mut self) {
        self.step(|role, cx, seen| role.closed(cx, seen));
        let bodies = self.canon.take(&self.state, self.now, Fact::new(Said::Lost));
        self.happen(bodies);
    }

    /// The next line that the role said.
    pub(super) fn next_line(&mut self) -> Option<(u8, String)> {
        self.said.pop_front()
    }

    /// Finds what was noticed next and begins so.
    pub(super) fn expect(&mut self, wanted: &str) -> Result<(), String> {
        let rest = self.noticed.iter_mut().enumerate().skip(self.matched);
        if let Some((at, noticed)) = rest.into_iter().find(|(_, noticed)| noticed.text.starts_with(wanted)) {
            noticed.named = true;
            self.matched = at + 1;
            return Ok(());
        }
        let came: Vec<&str> =
            self.noticed.iter().skip(self.matched).map(|noticed| noticed.text.as_str()).collect();
        Err(if came.is_empty() {
            "nothing happened since".to_owned()
        } else {
            format!("only: {}", came.join(" · "))
        })
    }

    /// What is wrong at the end: laws that were broken, things that should have been named, something that cannot be closed.
    pub(super) fn finish(mut self) -> Vec<String> {
        let bodies = self.canon.close(&self.state, domain::event::Outcome::Lost);
        self.happen(bodies);
        if !self.grammar.is_closed() {
            self.broken.push("something stays open when the link is gone".to_owned());
        }
        let unnamed = self.noticed.into_iter().filter(|noticed| noticed.must_be_named && !noticed.named);
        self.broken.into_iter().chain(unnamed.map(|noticed| noticed.text)).collect()
    }

    fn step(&mut self, act: impl FnOnce(&mut dyn UiRole, &mut UiCx<'_>, Seen<'_>)) {
        let mut effects = Vec::new();
        let seen = Seen { state: &self.state, names: self.canon.names() };
        act(self.role, &mut Cx { now: self.now, effects: &mut effects }, seen);
        for effect in effects {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: UiEffect) {
        match effect {
            UiEffect::Link(LinkEffect::Send { lane, line } | LinkEffect::SendAlone { lane, line, .. }) => {
                self.said.push_back((u8::try_from(lane.0).unwrap_or(u8::MAX), line));
            }
            UiEffect::Fact(fact) => {
                let bodies = self.canon.take(&self.state, self.now, fact);
                self.happen(bodies);
            }
            UiEffect::Settle { with, .. } => {
                let must_be_named = with.is_err();
                self.notice(brief_settled(&with), must_be_named);
            }
            UiEffect::Link(LinkEffect::Timer { key, after }) => {
                let after = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
                self.timers.insert(key, Millis(self.now.0.saturating_add(after)));
            }
            UiEffect::Link(LinkEffect::CancelTimer(key)) => {
                self.timers.remove(&key);
            }
            effect @ UiEffect::Link(LinkEffect::Drift(_) | LinkEffect::Close(_)) => {
                self.notice(brief_effect(&effect), true);
            }
            effect => self.notice(brief_effect(&effect), false),
        }
    }

    fn happen(&mut self, bodies: Vec<Body>) {
        for body in bodies {
            let event = Event { seq: self.state.seq.next(), at: self.now, body };
            if let Err(law) = self.grammar.check(&event) {
                self.broken.push(law.to_string());
            }
            if let Err(why) = self.state.fold(&event) {
                self.broken.push(why.to_string());
            }
            self.notice(brief(&event.body), false);
        }
    }

    fn notice(&mut self, text: String, must_be_named: bool) {
        self.noticed.push(RoleNotice { text, must_be_named, named: false });
    }
}
