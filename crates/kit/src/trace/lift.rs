//! Lifts both sides of a transcript: the runtime's lines through a UI role and the canon, the UI's lines through a runtime role.
//!
//! The UI role speaks too, to nobody. Its requests are matched by name with those of the recorded UI, so that a recorded answer can
//! be given to it under the id it used itself; an answer to what it did not ask is told by the request's name. Nothing here may fail:
//! what is not understood has no words of its own.

use super::hands;
use super::words::{name_of, of_command, of_errand, of_line, short};
use super::{Span, SpanKind};
use crate::notation::{Heads, Side};
use crate::ui_player::brief;
use domain::canon::Canon;
use domain::command::Command;
use domain::content::{Role, Usage};
use domain::errand::ErrandStep;
use domain::event::{AskEvent, Body, MessageEvent, RunEvent, ToolEvent};
use domain::ids::{AskId, Ids, Millis};
use domain::port::{News, Ticket};
use domain::state::State;
use roles::dialect::Dialect;
use roles::{
    Cx, Greeting, Hello, Lane, Line, LinkEffect, RuntimeCx, RuntimeEffect, RuntimeRole, Seen, UiCx, UiEffect,
    UiRole,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// Where the clock of a transcript begins.
const BEGIN: u64 = 1_730_000_000_000;
/// What stands before the words about a line that a role does not take.
const UNKNOWN: &str = "unknown: ";
/// What a run is called before anything was said.
const UNNAMED: &str = "run";
/// Requests of the role that wait for their recorded twin.
const MAX_WAITING: usize = 256;
/// Recorded ids that are remembered.
const MAX_TWINS: usize = 4096;

/// Both roles of a wire over a recording: lines go in, what happened comes out.
pub(super) struct Lift {
    ui: Box<dyn UiRole>,
    runtime: Box<dyn RuntimeRole>,
    canon: Canon,
    state: State,
    at: u64,
    line: usize,
    tickets: u64,
    /// Requests that the role made and nobody recorded yet: name and id.
    waiting: Vec<(String, Value)>,
    /// Recorded requests that the role did not make yet, because it waits for something first: name and id.
    early: Vec<(String, Value)>,
    /// Recorded ids and what the role called the same request.
    twins: BTreeMap<String, Value>,
    /// Names of recorded requests by who made them and their id, to tell what an answer is to.
    requests: BTreeMap<(bool, String), String>,
    spans: Spans,
    words: Vec<String>,
}

impl Lift {
    pub(super) fn new(dialect: Dialect, heads: &Heads) -> Lift {
        let cwd = heads.session_cwd.clone().unwrap_or_default();
        let state = State::new();
        let mut lift = Lift {
            ui: dialect.ui_role(),
            runtime: dialect.runtime_role(),
            canon: Canon::new(Ids::default()),
            state,
            at: 0,
            line: 0,
            tickets: 0,
            waiting: Vec::new(),
            early: Vec::new(),
            twins: BTreeMap::new(),
            requests: BTreeMap::new(),
            spans: Spans::default(),
            words: Vec::new(),
        };
        let hello = Hello {
            version: "0".to_owned(),
            cwd: cwd.clone(),
            // What was recorded is told, whatever the recorded UI offered.
            does_errands: true,
            ..Hello::default()
        };
        lift.ui_step(|ui, cx, _| ui.open(cx, &hello));
        let greeting = Greeting { version: "0".to_owned(), cwd, ..Greeting::default() };
        lift.runtime_step(|runtime, cx| runtime.open(cx, &greeting));
        lift.words.clear();
        lift
    }

    /// What a line means, and how deep it stands.
    pub(super) fn line(
        &mut self,
        number: usize,
        at: u64,
        side: Side,
        lane: u8,
        raw: &str,
    ) -> (Vec<String>, usize) {
        (self.at, self.line) = (at, number);
        let value: Option<Value> = serde_json::from_str(raw).ok();
        let depth_before = self.spans.depth();
        match side {
            Side::Ui => self.ui_said(lane, raw, value.as_ref()),
            Side::Runtime => self.runtime_said(lane, raw, value.as_ref()),
        }
        let mut words = std::mem::take(&mut self.words);
        let answers = value.as_ref().and_then(|value| self.request(side, value));
        let is_unknown = words.iter().all(|words| words.starts_with(UNKNOWN));
        if let Some(wanted) = value.as_ref().and_then(hands::asked).filter(|_| is_unknown) {
            words = vec![wanted];
        }
        if words.is_empty() {
            let own = value.as_ref().map_or_else(|| short(raw), of_line);
            let came = answers.as_deref().zip(value.as_ref());
            let came = came.and_then(|(name, value)| hands::answered(name, value));
            words.push(match answers {
                Some(name) => format!("{name}: {}", came.unwrap_or(own)),
                None => own,
            });
        }
        (words, depth_before.min(self.spans.depth()))
    }

    /// Remembers a request; gives the name of the one that a line answers.
    fn request(&mut self, side: Side, line: &Value) -> Option<String> {
        let id = line.get("id")?.to_string();
        let from_ui = side == Side::Ui;
        if let Some(name) = self.requests.remove(&(!from_ui, id.clone())) {
            return Some(name);
        }
        if self.requests.len() < MAX_TWINS {
            self.requests.insert((from_ui, id), name_of(line)?.to_owned());
        }
        None
    }

    fn ui_said(&mut self, lane: u8, raw: &str, value: Option<&Value>) {
        if let Some(value) = value
            && let Some((ask, span)) =
                self.spans.open_ask(|ask| self.canon.names().ask(ask).is_some_and(|key| mentions(value, key)))
        {
            self.words.push("answer".to_owned());
            self.spans.end(span, self.at, self.line, "answered");
            self.spans.asks.remove(&ask);
        }
        let lane = Lane(u32::from(lane));
        self.runtime_step(|runtime, cx| runtime.line(cx, lane, Line::Text(raw.to_owned())));
        let twin = value.and_then(|value| Some((name_of(value)?.to_owned(), value.get("id")?.clone())));
        if let Some((name, id)) = twin {
            match self.waiting.iter().position(|(waiting, _)| *waiting == name) {
                Some(at) => {
                    let (_, ours) = self.waiting.remove(at);
                    self.pair(&id, ours);
                }
                None if self.early.len() < MAX_WAITING => self.early.push((name, id)),
                None => {}
            }
        }
    }

    fn runtime_said(&mut self, lane: u8, raw: &str, value: Option<&Value>) {
        let mut said = raw.to_owned();
        if let Some(Value::Object(object)) = value
            && !object.contains_key("method")
            && let Some(id) = object.get("id").map(Value::to_string)
        {
            match self.twins.get(&id) {
                Some(ours) => {
                    let mut twin = object.clone();
                    twin.insert("id".to_owned(), ours.clone());
                    said = Value::Object(twin).to_string();
                }
                // The recorded UI asked and the role did not: it would take the answer for one to nothing.
                None if self.requests.contains_key(&(true, id)) => return,
                None => {}
            }
        }
        let lane = Lane(u32::from(lane));
        self.ui_step(|ui, cx, seen| ui.line(cx, seen, lane, Line::Text(said)));
    }

    fn ui_step(&mut self, act: impl FnOnce(&mut dyn UiRole, &mut UiCx<'_>, Seen<'_>)) {
        let mut effects = Vec::new();
        let seen = Seen { state: &self.state, names: self.canon.names() };
        act(self.ui.as_mut(), &mut Cx { now: Millis(BEGIN + self.at), effects: &mut effects }, seen);
        for effect in effects {
            match effect {
                UiEffect::Link(LinkEffect::Send { line, .. } | LinkEffect::SendAlone { line, .. }) => {
                    self.asked(&line);
                }
                UiEffect::Fact(fact) => {
                    let bodies = self.canon.take(&self.state, Millis(BEGIN + self.at), fact);
                    self.happen(&bodies);
                }
                UiEffect::News(news) => self.news(*news),
                UiEffect::Signal(signal) => {
                    self.words.push(format!("signal {}", short(&format!("{signal:?}"))));
                }
                UiEffect::Link(LinkEffect::Drift(drift)) => {
                    self.words.push(format!("{UNKNOWN}{}", short(&drift.what)));
                }
                UiEffect::Errand { step: ErrandStep::Wanted(errand), .. } => {
                    self.words.push(of_errand(&errand));
                }
                UiEffect::Settle { .. }
                | UiEffect::Errand { .. }
                | UiEffect::Link(LinkEffect::Timer { .. } | LinkEffect::CancelTimer(_)) => {}
                UiEffect::Link(LinkEffect::Loss(_) | LinkEffect::Log(_) | LinkEffect::Close(_)) => {}
            }
        }
    }

    /// The role made a request; a recorded one of the same name will be its twin.
    fn asked(&mut self, line: &str) {
        let Ok(value) = serde_json::from_str::<Value>(line) else { return };
        let (Some(name), Some(id)) = (name_of(&value), value.get("id")) else { return };
        if let Some(at) = self.early.iter().position(|(early, _)| early == name) {
            let (_, recorded) = self.early.remove(at);
            return self.pair(&recorded, id.clone());
        }
        if self.waiting.len() == MAX_WAITING {
            self.waiting.remove(0);
        }
        self.waiting.push((name.to_owned(), id.clone()));
    }

    fn pair(&mut self, recorded: &Value, ours: Value) {
        if self.twins.len() < MAX_TWINS {
            self.twins.insert(recorded.to_string(), ours);
        }
    }

    fn runtime_step(&mut self, act: impl FnOnce(&mut dyn RuntimeRole, &mut RuntimeCx<'_>)) {
        let mut effects = Vec::new();
        act(self.runtime.as_mut(), &mut Cx { now: Millis(BEGIN + self.at), effects: &mut effects });
        for effect in effects {
            let RuntimeEffect::Command { command, .. } = effect else { continue };
            self.words.push(of_command(&command));
            // What refers to ids of ours is unknown to this role; and the answer was seen by its id above.
            if !matches!(command, Command::Answer { .. }) {
                self.tickets += 1;
                let ticket = Ticket(self.tickets);
                self.ui_step(|ui, cx, seen| ui.command(cx, seen, ticket, command));
            }
        }
    }

    fn news(&mut self, news: News) {
        match news {
            News::Attached { session, replay, .. } => {
                self.state = State::new();
                for (at, body) in &replay {
                    let _ = self.state.apply(*at, body);
                }
                self.words.push(format!("attached {session}"));
            }
            News::Happened { event, .. } => {
                let _ = self.state.follow(&event);
                self.tell(&event.body);
            }
            News::Signal { signal, .. } => {
                self.words.push(format!("signal {}", short(&format!("{signal:?}"))));
            }
            News::Settled { .. } | News::Link(_) => {}
        }
    }

    fn happen(&mut self, bodies: &[Body]) {
        for body in bodies {
            let _ = self.state.apply(Millis(BEGIN + self.at), body);
            self.tell(body);
        }
    }

    fn tell(&mut self, body: &Body) {
        // The person's answer was seen already; the canon closes the question only when the runtime goes on.
        let seen =
            matches!(body, Body::Ask(AskEvent::Closed { ask, .. }) if !self.spans.asks.contains_key(ask));
        if !seen {
            self.words.push(short(&brief(body)));
        }
        self.spans.take(body, self.at, self.line);
    }

    /// The tokens of all runs so far.
    pub(super) fn usage(&self) -> Usage {
        self.spans.usage
    }

    /// Everything that lasted; a wait that took no time is not worth a mark.
    pub(super) fn finish(self) -> Vec<Span> {
        let mut all = self.spans.all;
        all.retain(|span| span.kind != SpanKind::Waiting || span.to != Some(span.from));
        all
    }
}

/// Whether a value says this text or number somewhere.
fn mentions(value: &Value, key: &str) -> bool {
    match value {
        // A role may keep an id as text or as it is written.
        Value::String(text) => text == key || serde_json::to_string(text).is_ok_and(|written| written == key),
        Value::Number(number) => number.to_string() == key,
        Value::Array(items) => items.iter().any(|item| mentions(item, key)),
        Value::Object(members) => members.values().any(|member| mentions(member, key)),
        Value::Null | Value::Bool(_) => false,
    }
}

/// Spans as they open and close.
#[derive(Default)]
struct Spans {
    all: Vec<Span>,
    open: BTreeMap<(SpanKind, u64), usize>,
    asks: BTreeMap<AskId, usize>,
    /// The wait for the model's next word.
    waiting: Option<usize>,
    usage: Usage,
}

impl Spans {
    fn depth(&self) -> usize {
        let nests = |kind| matches!(kind, SpanKind::Run | SpanKind::Turn | SpanKind::Step);
        self.open.keys().filter(|(kind, _)| nests(*kind)).count()
    }

    fn open_ask(&self, mut is: impl FnMut(AskId) -> bool) -> Option<(AskId, usize)> {
        self.asks.iter().find(|(ask, _)| is(**ask)).map(|(ask, span)| (*ask, *span))
    }

    fn begin(&mut self, kind: SpanKind, label: String, at: u64, line: usize) -> usize {
        let outcome = String::new();
        self.all.push(Span { kind, label, from: at, to: None, outcome, first_line: line, last_line: line });
        self.all.len() - 1
    }

    fn end(&mut self, index: usize, at: u64, line: usize, outcome: &str) {
        if let Some(span) = self.all.get_mut(index).filter(|span| span.to.is_none()) {
            (span.to, span.last_line) = (Some(at), line);
            outcome.clone_into(&mut span.outcome);
        }
    }

    fn close(&mut self, kind: SpanKind, id: u64, at: u64, line: usize, outcome: &str) {
        if let Some(index) = self.open.remove(&(kind, id)) {
            self.end(index, at, line, outcome);
        }
    }

    /// A run is called by what the person said first.
    fn name_run(&mut self, body: &Body) {
        let said = match body {
            Body::Message(MessageEvent::Delta { text, .. }) => text,
            Body::Message(MessageEvent::PartAdded { part, .. }) => match part.streamed() {
                Some((_, text)) => text,
                None => return,
            },
            _ => return,
        };
        let open = self.open.iter().find(|((kind, _), _)| *kind == SpanKind::Run).map(|(_, index)| *index);
        if let Some(run) = open.and_then(|index| self.all.get_mut(index)).filter(|run| run.label == UNNAMED) {
            run.label = short(said);
        }
    }

    /// The model has to say something now.
    fn wait(&mut self, at: u64, line: usize) {
        if self.waiting.is_none() {
            self.waiting = Some(self.begin(SpanKind::Waiting, "for the model".to_owned(), at, line));
        }
    }

    fn spoke(&mut self, at: u64, line: usize) {
        if let Some(wait) = self.waiting.take() {
            self.end(wait, at, line, "");
        }
    }

    fn take(&mut self, body: &Body, at: u64, line: usize) {
        let mut begin = |kind: SpanKind, id: u64, label: String| {
            let index = self.begin(kind, label, at, line);
            self.open.insert((kind, id), index);
        };
        match body {
            Body::Run(RunEvent::Started { run }) => begin(SpanKind::Run, run.0, UNNAMED.to_owned()),
            Body::Run(RunEvent::Ended { run, outcome }) => {
                self.spoke(at, line);
                self.close(SpanKind::Run, run.0, at, line, &record::name_of(outcome));
            }
            Body::Run(RunEvent::TurnStarted { turn, cause, .. }) => {
                begin(SpanKind::Turn, turn.0, format!("{cause:?}").to_lowercase());
                self.wait(at, line);
            }
            Body::Run(RunEvent::TurnEnded { turn }) => self.close(SpanKind::Turn, turn.0, at, line, ""),
            Body::Run(RunEvent::StepStarted { step, model, .. }) => {
                let label = model.as_ref().map_or_else(|| "step".to_owned(), ToString::to_string);
                begin(SpanKind::Step, step.0, label);
                self.wait(at, line);
            }
            Body::Run(RunEvent::StepEnded { step, usage }) => {
                self.spoke(at, line);
                self.usage = self.usage.plus(*usage);
                let used = if usage.total() > 0 {
                    format!("in {} out {}", usage.input, usage.output)
                } else {
                    String::new()
                };
                self.close(SpanKind::Step, step.0, at, line, &used);
            }
            Body::Message(MessageEvent::Started { message, role, .. }) => {
                let label = match role {
                    Role::User => "person",
                    Role::Assistant => "model",
                    Role::System => "system",
                };
                begin(SpanKind::Message, message.0, label.to_owned());
            }
            Body::Message(MessageEvent::Delta { message, .. } | MessageEvent::PartAdded { message, .. }) => {
                let assistant = self
                    .open
                    .get(&(SpanKind::Message, message.0))
                    .is_some_and(|index| self.all[*index].label == "model");
                if assistant {
                    self.spoke(at, line);
                } else {
                    self.name_run(body);
                }
            }
            Body::Message(MessageEvent::Ended { message, finish }) => {
                self.close(SpanKind::Message, message.0, at, line, &format!("{finish:?}").to_lowercase());
            }
            Body::Tool(ToolEvent::Proposed { tool, name, args, .. }) => {
                begin(SpanKind::Tool, tool.0, format!("{name} {}", short(&args.to_string())));
                self.spoke(at, line);
            }
            Body::Tool(ToolEvent::Ended { tool, outcome, .. }) => {
                self.close(SpanKind::Tool, tool.0, at, line, &format!("{outcome:?}").to_lowercase());
                if !self.open.keys().any(|(kind, _)| *kind == SpanKind::Tool) {
                    self.wait(at, line);
                }
            }
            Body::Ask(AskEvent::Opened(ask)) => {
                let index = self.begin(SpanKind::Ask, short(&ask.title), at, line);
                self.asks.insert(ask.id, index);
            }
            Body::Ask(AskEvent::Closed { ask, closing }) => {
                if let Some(index) = self.asks.remove(ask) {
                    let word = kebab_first(&format!("{closing:?}"));
                    self.end(index, at, line, &word);
                }
            }
            _ => {}
        }
    }
}

fn kebab_first(debug: &str) -> String {
    debug.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_lowercase()
}
