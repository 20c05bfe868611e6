//! We play a nous client; a nous core is at the other end.
//!
//! Greets with `ping`, then asks for the state and, if a session is active, for its messages. The core says nothing of what
//! the person said, of a tool's arguments or of its result apart from text, and often leaves ends out: the role supplies what it
//! sent itself, the canon the rest. Every command is settled exactly once: by its answer, or when the core is gone.

mod commands;
mod hearing;
mod names;

use super::wire::{ErrorBody, Messages, Response, State as WireState};
use commands::Sent;
use domain::command::{Command, Receipt, Refusal, RefusalKind};
use domain::content::{Json, Usage};
use domain::event::{Compaction, Trigger};
use domain::fact::{Fact, Said};
use domain::ids::{EntryId, SessionId};
use domain::port::{Abilities, Ticket};
use domain::session::{RunSummary, SessionSummary};
use domain::signal::{Level, Signal};
use hearing::Hearing;
use roles::{Drift, HANDSHAKE_TIMEOUT, Hello, Lane, Line, Past, Reason, Seen, TimerKey, UiCx, UiRole};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use wire::encode;

const HANDSHAKE_TIMER: TimerKey = TimerKey(1);
const UNHEARD_TIMER: TimerKey = TimerKey(2);
const COUNTS_TIMER: TimerKey = TimerKey(3);
/// While a run is under way the core is asked so often how much waits: it has no event for what other clients queue.
const COUNTS_EVERY: Duration = Duration::from_secs(3);
/// After this the core is asked what became of a run of which nothing was heard.
const UNHEARD_FOR: Duration = Duration::from_millis(500);
/// Most commands that may be unanswered.
const MAX_UNANSWERED: usize = 256;
/// How long an answer may take; the existing core answers with an error after half of it.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);
/// Most events that wait for the answer to a prompt; past it they are heard at once.
const MAX_EARLY: usize = 4096;
/// The same in bytes.
const MAX_EARLY_BYTES: usize = 4 * 1024 * 1024;
/// Timers of commands begin here.
const FIRST_COMMAND_TIMER: u64 = 1000;

/// The UI's side of nous.
#[derive(Debug, Default)]
pub struct NousUi {
    greeted: bool,
    gone: bool,
    wanted_session: Option<String>,
    session: Option<String>,
    sent: BTreeMap<u64, Sent>,
    last: u64,
    hearing: Hearing,
    /// The core will be asked, or is being asked, how much waits.
    counting: bool,
    /// Prompts that wait until the core has answered and is in the session that was named: who asks before it listens may miss the
    /// answer, and who asks before that would ask elsewhere.
    unsaid: Vec<(Ticket, String, Value)>,
    /// Events that came while the answer to a prompt was out: they may be of its run, and the receipt goes first.
    early: Vec<String>,
    early_bytes: usize,
}

impl NousUi {
    /// A role before its handshake.
    pub fn new() -> NousUi {
        NousUi::default()
    }

    /// Sends a command; its answer is understood by what is noted here.
    fn send(&mut self, cx: &mut UiCx<'_>, kind: &'static str, payload: Value, sent: Sent) {
        if self.sent.len() >= MAX_UNANSWERED {
            let refusal = Refusal::new(RefusalKind::TooMany, "the runtime does not answer")
                .hint("wait, or start it again");
            return sent.refuse(cx, refusal);
        }
        self.last += 1;
        let id = format!("parlor-{}", self.last);
        let line = match encode(&super::wire::Command { v: super::VERSION, id, kind, payload }) {
            Ok(line) => line,
            Err(why) => {
                let why = format!("the command could not be sent: {why}");
                return sent.refuse(cx, Refusal::new(RefusalKind::Internal, why));
            }
        };
        self.sent.insert(self.last, sent);
        cx.timer(TimerKey(FIRST_COMMAND_TIMER + self.last), ANSWER_WITHIN);
        cx.send(line);
    }

    fn response(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, text: &str) {
        let response: Response = match serde_json::from_str(text) {
            Ok(response) => response,
            Err(why) => return cx.drift(Drift::new("answer", why.to_string(), text)),
        };
        let number = match response.id.strip_prefix("parlor-").and_then(|number| number.parse().ok()) {
            Some(number) => number,
            // The core loses the id of what it cannot read; answers come in order, so it is the oldest.
            None if response.id.is_empty() => match self.sent.keys().next() {
                Some(oldest) => *oldest,
                None => return cx.drift(Drift::new("answer", "nobody asked", text)),
            },
            None => return cx.drift(Drift::new("answer", "an id that is not ours", text)),
        };
        let Some(sent) = self.sent.remove(&number) else {
            return cx.drift(Drift::new("answer", "it was answered already", text));
        };
        cx.cancel_timer(TimerKey(FIRST_COMMAND_TIMER + number));
        if response.ok {
            self.taken(cx, seen, sent, &response.payload);
        } else {
            let error = response.error.unwrap_or(ErrorBody {
                code: "error".to_owned(),
                message: "the runtime refused without a reason".to_owned(),
                cause: None,
            });
            self.not_taken(cx, sent, &error);
        }
    }

    fn taken(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, sent: Sent, payload: &Value) {
        // Where they were asked for once more meanwhile, that answer tells the same past, and tells it once.
        let is_last = !self.sent.values().any(|sent| matches!(sent, Sent::Messages { .. }));
        let text = |key: &str| payload.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match sent {
            Sent::Hello => self.greet(cx),
            Sent::State => {
                let state: WireState = read(cx, "state", payload);
                self.recover(cx, &state);
            }
            Sent::Counts => {
                let state: WireState = read(cx, "state", payload);
                self.hearing.waiting(cx, state.pending_counts);
                self.counting = false;
                self.count_later(cx);
            }
            Sent::Messages { at: Some((ticket, receipt)) } => {
                let messages: Messages = read(cx, "messages", payload);
                cx.settle(ticket, Ok(receipt));
                if is_last {
                    hearing::history(cx, &messages.messages);
                }
            }
            Sent::Messages { at: None } => {
                let messages: Messages = read(cx, "messages", payload);
                // Told once a run is under way, the past would end it; its own words may be among them.
                let quiet = !self.prompting() && !self.hearing.follows() && seen.state.open_run().is_none();
                if is_last && quiet && !self.hearing.has_begun() {
                    hearing::history(cx, &messages.messages);
                }
            }
            Sent::Prompt { ticket, .. } => {
                let run = text("run_id");
                if run.is_empty() {
                    cx.drift(Drift::new("accepted", "a prompt without a run_id", &payload.to_string()));
                }
                if let Some(session) = Some(text("session_id")).filter(|session| !session.is_empty()) {
                    self.session = Some(session);
                }
                cx.settle(ticket, Ok(Receipt::Done));
                self.hearing.accepted(cx, run);
                self.hear_early(cx);
                if self.hearing.unheard().is_some() {
                    // The core registers who listens a moment after it let them in: a quick run may be over before.
                    cx.timer(UNHEARD_TIMER, UNHEARD_FOR);
                }
            }
            Sent::Enqueue { ticket, kind, text: said } => {
                self.hearing.queued(cx, kind, said);
                cx.settle(ticket, Ok(Receipt::Done));
            }
            Sent::StillRuns { run } => {
                let state: WireState = read(cx, "state", payload);
                let unheard = self.hearing.unheard() == Some(run.as_str());
                if unheard && state.run_id == run && state.run_state != "idle" {
                    cx.timer(UNHEARD_TIMER, UNHEARD_FOR);
                } else if unheard {
                    self.send(cx, "get_messages", json!({}), Sent::Kept { run });
                }
            }
            Sent::Kept { run } => {
                let messages: Messages = read(cx, "messages", payload);
                self.hearing.recovered(cx, &run, &messages.messages);
            }
            Sent::Names { then } => {
                let messages: Messages = read(cx, "messages", payload);
                let name = names::of(seen.state, then.entry(), &messages.messages);
                self.go_from(cx, then, name);
            }
            Sent::AskedBy { run } => {
                let messages: Messages = read(cx, "messages", payload);
                self.hearing.asked_elsewhere(cx, &run, &messages.messages);
            }
            Sent::Cancel { ticket } => {
                self.hearing.cancelled(cx);
                let run = seen.state.open_run().map(|run| RunSummary { run: run.id, outcome: None });
                cx.settle(ticket, Ok(run.map_or(Receipt::Done, |run| Receipt::Cancelling { run })));
            }
            Sent::Session { ticket } => self.at_session(cx, ticket, &text("session_id"), &text("parent_id")),
            Sent::Mode { ticket, kind, mode } => {
                self.hearing.set_mode(kind, mode);
                cx.fact(Fact::new(Said::QueueMode(kind, mode)));
                cx.settle(ticket, Ok(Receipt::Done));
            }
            Sent::Leaf { ticket, leaf } => cx.settle(ticket, Ok(Receipt::Leaf(Some(leaf)))),
            Sent::Compact { ticket } => {
                let compaction = Compaction {
                    summary: text("summary"),
                    first_kept: seen.names.entry_of(&text("first_kept_entry_id")),
                    tokens_before: payload.get("tokens_before").and_then(Value::as_u64).unwrap_or_default(),
                    trigger: Trigger::Manual,
                    unexplained: false,
                    usage: Usage::default(),
                };
                cx.fact(Fact::new(Said::Compacted(compaction.clone())));
                let entry = EntryId(seen.state.last_id + 1);
                cx.settle(ticket, Ok(Receipt::Compacted { entry, compaction }));
            }
            Sent::Extension { ticket } => {
                cx.settle(ticket, Ok(Receipt::Extension(Json::verbatim(payload.to_string()))));
            }
            Sent::Plain { ticket } => cx.settle(ticket, Ok(Receipt::Done)),
        }
    }

    fn not_taken(&mut self, cx: &mut UiCx<'_>, sent: Sent, error: &ErrorBody) {
        match sent {
            Sent::Hello => {
                let why = format!("the runtime refused a ping: {}; is it a nous core?", error.message);
                cx.close(Reason::Unusable(why));
            }
            // The session is there, though nothing of it can be shown.
            Sent::Messages { at: Some((ticket, receipt)) } => cx.settle(ticket, Ok(receipt)),
            // What it kept of the run cannot be had: that is the run's end, and is said.
            Sent::StillRuns { run } | Sent::Kept { run } => self.hearing.recovered(cx, &run, &[]),
            Sent::State | Sent::Counts | Sent::Messages { at: None } | Sent::AskedBy { .. } => {
                cx.log(format!("the runtime could not be asked how it stands: {}", error.message));
            }
            sent => self.give_up(cx, sent, commands::refusal(error)),
        }
    }

    fn give_up(&mut self, cx: &mut UiCx<'_>, sent: Sent, refusal: Refusal) {
        self.hearing.unsaid(&sent);
        if let Sent::StillRuns { run } | Sent::Kept { run } = &sent {
            self.hearing.recovered(cx, run, &[]);
        }
        if sent == (Sent::Session { ticket: None }) {
            // It may have gone on in another session; what waits is said there, and the person knows.
            let text = format!(
                "The core did not go to the session that was named: {refusal}. What you say goes to another one"
            );
            cx.signal(Signal::Notify { level: Level::Warning, text });
            if self.session.is_some() {
                self.send(cx, "get_messages", json!({}), Sent::Messages { at: None });
            }
        }
        sent.refuse(cx, refusal);
        if !self.prompting() {
            self.hear_early(cx);
        }
        self.say_waiting(cx);
    }

    /// Whether the answer to a prompt is out.
    fn prompting(&self) -> bool {
        self.sent.values().any(|sent| matches!(sent, Sent::Prompt { .. }))
    }

    fn event(&mut self, cx: &mut UiCx<'_>, text: String) {
        if self.early.len() >= MAX_EARLY || self.early_bytes > MAX_EARLY_BYTES {
            self.hear_early(cx);
        }
        if self.prompting() && !self.hearing.follows() {
            self.early_bytes += text.len();
            self.early.push(text);
        } else {
            self.hear(cx, &text);
        }
    }

    fn hear(&mut self, cx: &mut UiCx<'_>, line: &str) {
        self.hearing.event(cx, line);
        if let Some(run) = self.hearing.unprompted() {
            self.send(cx, "get_messages", json!({}), Sent::AskedBy { run });
        }
        self.count_later(cx);
    }

    /// Has the core asked how much waits, while a run is under way.
    fn count_later(&mut self, cx: &mut UiCx<'_>) {
        if !self.counting && self.hearing.follows() {
            self.counting = true;
            cx.timer(COUNTS_TIMER, COUNTS_EVERY);
        }
    }

    fn hear_early(&mut self, cx: &mut UiCx<'_>) {
        self.early_bytes = 0;
        for line in std::mem::take(&mut self.early) {
            self.hear(cx, &line);
        }
    }

    fn greet(&mut self, cx: &mut UiCx<'_>) {
        self.greeted = true;
        cx.cancel_timer(HANDSHAKE_TIMER);
        self.send(cx, "get_state", json!({}), Sent::State);
        self.say_waiting(cx);
    }

    /// Whether a prompt would be heard, and in the session that is meant.
    fn is_there(&self) -> bool {
        let going = |sent: &Sent| matches!(sent, Sent::Session { ticket: None });
        self.greeted && self.wanted_session.is_none() && !self.sent.values().any(going)
    }

    fn say_waiting(&mut self, cx: &mut UiCx<'_>) {
        if !self.is_there() {
            return;
        }
        for (ticket, text, payload) in std::mem::take(&mut self.unsaid) {
            self.hearing.prompting(text.clone());
            self.send(cx, "prompt", payload, Sent::Prompt { ticket, text });
        }
    }

    /// Takes up what the core was doing before we came.
    fn recover(&mut self, cx: &mut UiCx<'_>, state: &WireState) {
        self.hearing.recover(cx, state);
        self.hearing.waiting(cx, state.pending_counts);
        self.session = Some(state.session_id.clone()).filter(|session| !session.is_empty());
        match self.wanted_session.take().filter(|wanted| Some(wanted) != self.session.as_ref()) {
            Some(wanted) => {
                self.send(
                    cx,
                    "switch_session",
                    json!({ "session_id": wanted }),
                    Sent::Session { ticket: None },
                );
            }
            None if self.session.is_some() => {
                self.send(cx, "get_messages", json!({}), Sent::Messages { at: None });
            }
            None => {}
        }
        self.say_waiting(cx);
    }

    fn at_session(&mut self, cx: &mut UiCx<'_>, ticket: Option<Ticket>, id: &str, parent: &str) {
        self.session = Some(id.to_owned());
        let mut at = None;
        if let Some(ticket) = ticket {
            let Some(session) = SessionId::parse(id) else {
                let why = format!("the runtime named a session {id:?}, which cannot be kept");
                return cx.settle(ticket, Err(Refusal::new(RefusalKind::Invalid, why)));
            };
            let session = SessionSummary {
                title: String::new(),
                created_at: cx.now,
                updated_at: cx.now,
                ..SessionSummary::new(session)
            };
            at = Some((ticket, Receipt::Session { session, parent: SessionId::parse(parent) }));
        }
        self.send(cx, "get_messages", json!({}), Sent::Messages { at });
        self.say_waiting(cx);
    }

    fn drop_all(&mut self, cx: &mut UiCx<'_>) {
        self.gone = true;
        self.hearing.give_back(cx);
        for (ticket, ..) in std::mem::take(&mut self.unsaid) {
            cx.settle(ticket, Err(lost()));
        }
        for (_, sent) in std::mem::take(&mut self.sent) {
            sent.refuse(cx, lost());
        }
    }
}

/// What an answer carries; one that cannot be read counts as empty, and the person's side hears of it.
fn read<T: DeserializeOwned + Default>(cx: &mut UiCx<'_>, kind: &str, payload: &Value) -> T {
    serde_json::from_value(payload.clone()).unwrap_or_else(|why| {
        cx.drift(Drift::new(kind, why.to_string(), &payload.to_string()));
        T::default()
    })
}

fn lost() -> Refusal {
    Refusal::new(RefusalKind::Lost, "the runtime is gone").hint("start it again")
}

impl UiRole for NousUi {
    fn open(&mut self, cx: &mut UiCx<'_>, hello: &Hello) {
        self.wanted_session = hello.last_session.as_deref().or(hello.session.as_deref()).map(str::to_owned);
        cx.timer(HANDSHAKE_TIMER, HANDSHAKE_TIMEOUT);
        self.send(cx, "ping", json!({}), Sent::Hello);
    }

    fn line(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, lane: Lane, line: Line) {
        let text = match line {
            Line::Text(text) if text.trim().is_empty() => return,
            Line::Text(text) => text,
            Line::Overlong(head) => return cx.drift(Drift::new("line", "it is too long", &head)),
            Line::Garbled(head) => return cx.drift(Drift::new("line", "it is not UTF-8 text", &head)),
        };
        if let Err(why) = wire::depth::check(&text) {
            return cx.drift(Drift::new("line", why.to_string(), &text));
        }
        if lane.kind() == Lane::EVENTS {
            self.event(cx, text);
        } else {
            self.response(cx, seen, &text);
        }
    }

    fn command(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ticket: Ticket, command: Command) {
        if self.gone {
            return cx.settle(ticket, Err(lost()));
        }
        self.lower(cx, seen, ticket, command);
    }

    fn timer(&mut self, cx: &mut UiCx<'_>, _seen: Seen<'_>, key: TimerKey) {
        if key == HANDSHAKE_TIMER && !self.greeted {
            let why = "the runtime did not answer a ping within 10 seconds; is it a nous core, and is it the command socket?";
            cx.close(Reason::Unusable(why.to_owned()));
        } else if key == UNHEARD_TIMER {
            if let Some(run) = self.hearing.unheard().map(str::to_owned) {
                self.send(cx, "get_state", json!({}), Sent::StillRuns { run });
            }
        } else if key == COUNTS_TIMER {
            self.counting = self.hearing.follows();
            if self.counting {
                self.send(cx, "get_state", json!({}), Sent::Counts);
            }
        } else if let Some(number) = key.0.checked_sub(FIRST_COMMAND_TIMER)
            && let Some(sent) = self.sent.remove(&number)
        {
            let refusal = Refusal::new(RefusalKind::TimedOut, "the runtime did not answer in time");
            self.give_up(cx, sent, refusal.hint("it may still do what was asked"));
        }
    }

    fn closed(&mut self, cx: &mut UiCx<'_>, _seen: Seen<'_>) {
        self.drop_all(cx);
    }

    fn abilities(&self) -> Option<Abilities> {
        self.greeted.then(|| Abilities {
            name: "nous".to_owned(),
            steer: true,
            follow_up: true,
            cancel: true,
            branch: true,
            new_session: true,
            open_session: true,
            go_back: true,
            compact: true,
            set_tools: true,
            extensions: true,
            text_only: true,
            ..Abilities::default()
        })
    }

    fn session_name(&self) -> Option<Arc<str>> {
        self.session.as_deref().filter(|_| self.is_there()).map(Into::into)
    }

    fn is_arriving(&self) -> bool {
        self.sent.values().any(|sent| matches!(sent, Sent::Messages { at: Some(_) }))
    }

    fn past(&self) -> Past {
        let waits_for = |is: fn(&Sent) -> bool| self.sent.values().any(is);
        if !self.is_there() || waits_for(|sent| matches!(sent, Sent::Hello | Sent::State)) {
            Past::Unplaced
        } else if waits_for(|sent| matches!(sent, Sent::Messages { .. })) {
            Past::Awaited
        } else {
            Past::None
        }
    }
}
