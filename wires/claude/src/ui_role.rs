//! We drive Claude Code, a child process.
//!
//! States: greeting (`initialize`; commands wait), up, gone. One prompt is under way at a time; a run is what a prompt, or the program by
//! itself, leads to until its `result`. The program names its session with the first turn, not before: until then it has no name here.
//! Every question of the program is answered once, and none after the run was stopped.

mod asks;
mod commands;
mod hearing;
mod options;

use super::wire::{self as lines, FromAgent, Initialized, ToAgent, UiRequest};
use asks::OpenAsk;
use domain::command::{Command, Refusal, RefusalKind};
use domain::event::Outcome;
use domain::fact::{Fact, Key, Said};
use domain::port::{Abilities, Ticket};
use domain::signal::{Level, Signal};
use hearing::Hearing;
use options::ProgramOptions;
use rolekit::start::{Start, Waits};
use roles::{Drift, HANDSHAKE_TIMEOUT, Hello, Lane, Line, Reason, Seen, TimerKey, UiCx, UiRole};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// The program has to answer `initialize`.
const HANDSHAKE: TimerKey = TimerKey(1);
/// The person should know by now that it does not answer.
const SLOW: TimerKey = TimerKey(2);
/// A call that nobody asked about runs by now.
const CALL_RUNS: TimerKey = TimerKey(3);
/// A run that was stopped has to be over by now.
const STOPPED: TimerKey = TimerKey(4);
/// Timers of requests begin here.
const REQUESTS: u64 = 100;
/// How long after a call a question about it would have come.
const ASK_GRACE: Duration = Duration::from_millis(250);
/// How long the program may take to stop.
const STOPS_WITHIN: Duration = Duration::from_secs(30);
/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Most commands that wait for the handshake.
const MAX_HELD: usize = 64;
/// Most requests of ours that wait for an answer.
const MAX_PENDING: usize = 64;
/// Longest line of noise that is shown.
const MAX_NOISE: usize = 200;

/// A request of ours that has no answer yet.
#[derive(Debug)]
enum Sent {
    Handshake,
    Interrupt,
    SetMode { ticket: Ticket, mode: String },
    SetModel { ticket: Ticket, model: String },
}

impl Sent {
    fn ticket(&self) -> Option<Ticket> {
        match self {
            Sent::Handshake | Sent::Interrupt => None,
            Sent::SetMode { ticket, .. } | Sent::SetModel { ticket, .. } => Some(*ticket),
        }
    }
}

/// The UI's side of the wire.
#[derive(Debug, Default)]
pub struct ClaudeUi {
    cwd: String,
    requests: u64,
    pending: BTreeMap<u64, Sent>,
    up: bool,
    gone: bool,
    held: VecDeque<(Ticket, Command)>,
    session: Option<Arc<str>>,
    version: String,
    run: Option<Hearing>,
    runs: u64,
    /// The command that waits for the program's new session.
    clearing: Option<Ticket>,
    asks: BTreeMap<Key, OpenAsk>,
    options: ProgramOptions,
    /// What the process has cost when it was last counted, in millionths of a dollar.
    counted: u64,
    noise: Option<String>,
    start: Start,
}

impl ClaudeUi {
    /// Sends a request; `false` when too many wait, which refuses the command.
    fn request(&mut self, cx: &mut UiCx<'_>, request: UiRequest<'_>, sent: Sent) -> bool {
        if self.pending.len() >= MAX_PENDING {
            if let Some(ticket) = sent.ticket() {
                let refusal = Refusal::new(RefusalKind::TooMany, "too many requests wait for the program");
                cx.settle(ticket, Err(refusal.hint("wait until it answers")));
            }
            return false;
        }
        self.requests += 1;
        let request_id = format!("parlor-{}", self.requests);
        rolekit::lines::send(cx, &ToAgent::ControlRequest { request_id: &request_id, request });
        if !matches!(sent, Sent::Handshake) {
            cx.timer(TimerKey(REQUESTS + self.requests), PATIENCE);
        }
        self.pending.insert(self.requests, sent);
        true
    }

    fn answered(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, id: &str, outcome: Result<Value, String>) {
        let number = id.strip_prefix("parlor-").and_then(|number| number.parse::<u64>().ok());
        let Some((number, sent)) = number.and_then(|number| Some((number, self.pending.remove(&number)?)))
        else {
            return cx.drift(Drift::new("control_response", "to nothing that was asked", id));
        };
        cx.cancel_timer(TimerKey(REQUESTS + number));
        self.settled(cx, seen, sent, outcome);
    }

    fn settled(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, sent: Sent, outcome: Result<Value, String>) {
        match (sent, outcome) {
            (Sent::Handshake, Ok(result)) => match serde_json::from_value::<Initialized>(result) {
                Ok(result) => {
                    self.options.learn(result);
                    cx.cancel_timer(HANDSHAKE);
                    cx.cancel_timer(SLOW);
                    self.up = true;
                    for (ticket, command) in std::mem::take(&mut self.held) {
                        self.command(cx, seen, ticket, command);
                    }
                }
                Err(why) => self.unusable(cx, format!("its answer to `initialize` cannot be read: {why}")),
            },
            (Sent::Handshake, Err(why)) => self.unusable(cx, format!("it refused `initialize`: {why}")),
            (Sent::Interrupt, Ok(_)) => {}
            (Sent::Interrupt, Err(why)) => {
                let text = format!("Claude Code could not stop: {why}");
                cx.signal(Signal::Notify { level: Level::Warning, text });
            }
            (Sent::SetMode { ticket, mode }, Ok(_)) => self.mode_set(cx, ticket, mode),
            (Sent::SetModel { ticket, model }, Ok(_)) => self.model_set(cx, ticket, model),
            (Sent::SetMode { ticket, .. } | Sent::SetModel { ticket, .. }, Err(why)) => {
                cx.settle(ticket, Err(Refusal::new(RefusalKind::Invalid, why)));
            }
        }
    }

    /// It cannot be spoken with: whoever waits for it hears why.
    fn unusable(&mut self, cx: &mut UiCx<'_>, why: String) {
        let noise = self.noise.as_ref().map(|noise| format!(". It writes what is no message: {noise:?}"));
        let why = format!("{why}{}", noise.unwrap_or_default());
        self.gone = true;
        self.settle_lost(cx, &why);
        cx.close(Reason::Unusable(why));
    }

    fn settle_lost(&mut self, cx: &mut UiCx<'_>, why: &str) {
        let held = std::mem::take(&mut self.held).into_iter().map(|(ticket, _)| ticket);
        let waiting = std::mem::take(&mut self.pending).into_values().filter_map(|sent| sent.ticket());
        let tickets: Vec<Ticket> = held.chain(waiting).chain(self.clearing.take()).collect();
        for ticket in tickets {
            cx.settle(ticket, Err(Refusal::new(RefusalKind::Lost, why.to_owned())));
        }
    }

    fn hear(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, line: FromAgent, text: &str) {
        match line {
            FromAgent::Init(init) => self.began(cx, *init),
            FromAgent::Status(status) => {
                let working = status.status.filter(|word| word == "compacting");
                cx.signal(Signal::Working(working.map(|_| "compacting the conversation".to_owned())));
                if let Some(mode) = status.permission_mode {
                    self.learn_mode(cx, mode);
                }
            }
            FromAgent::Compacted(note) => self.compacted(cx, note.compact_metadata),
            FromAgent::Retry(retry) => self.retrying(cx, &retry),
            FromAgent::Told(told) => self.told(cx, told),
            FromAgent::Commands(commands) => self.options.learn_commands(commands),
            FromAgent::Assistant(said) => self.assistant(cx, said),
            FromAgent::User(said) => self.user(cx, said),
            FromAgent::Stream(piece) => self.streamed(cx, piece),
            FromAgent::Result(result) => self.result(cx, *result),
            FromAgent::Asks { id, request } => self.asked(cx, &id, request),
            FromAgent::Answers { id, outcome } => self.answered(cx, seen, &id, outcome),
            FromAgent::TakesBack { id } => self.taken_back(cx, &id),
            FromAgent::Suggests(text) => cx.signal(Signal::Suggestion {
                text,
                confidence: options::SUGGESTION,
                source: super::NAME.to_owned(),
                context: None,
            }),
            FromAgent::Beside => {}
            FromAgent::Unknown(kind) => {
                cx.drift(Drift::new("type", format!("{kind:?}, which we do not know"), text));
            }
        }
    }
}

impl UiRole for ClaudeUi {
    fn open(&mut self, cx: &mut UiCx<'_>, hello: &Hello) {
        *self = ClaudeUi {
            cwd: hello.cwd.clone(),
            start: Start::of(hello, cx.now),
            session: hello.last_session.clone().or_else(|| hello.session.clone()),
            ..ClaudeUi::default()
        };
        self.request(cx, UiRequest::Initialize, Sent::Handshake);
        cx.timer(HANDSHAKE, self.start.first());
        cx.timer(SLOW, HANDSHAKE_TIMEOUT - Duration::from_secs(1));
    }

    fn line(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, _lane: Lane, line: Line) {
        if self.gone {
            return;
        }
        let text = match line {
            Line::Text(text) if text.trim().is_empty() => return,
            Line::Text(text) => text,
            Line::Overlong(head) => return cx.drift(Drift::new("line", "too long, skipped", &head)),
            Line::Garbled(head) => return cx.drift(Drift::new("line", "not UTF-8 text, skipped", &head)),
        };
        match lines::read(&text) {
            Ok(line) => self.hear(cx, seen, line, &text),
            Err(why) => {
                self.noise = Some(text.chars().take(MAX_NOISE).collect());
                cx.drift(Drift::new("line", why.to_string(), &text));
            }
        }
    }

    fn command(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ticket: Ticket, command: Command) {
        if self.gone {
            let refusal = Refusal::new(RefusalKind::Lost, "Claude Code is gone");
            return cx.settle(ticket, Err(refusal.hint("start it again")));
        }
        if self.up {
            return self.want(cx, seen, ticket, command);
        }
        if self.held.len() >= MAX_HELD {
            let refusal = Refusal::new(RefusalKind::TooMany, "too many commands wait for the program");
            return cx.settle(ticket, Err(refusal.hint("wait until it is ready")));
        }
        self.held.push_back((ticket, command));
    }

    fn timer(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, key: TimerKey) {
        match key {
            SLOW if !self.up => {
                let waited = HANDSHAKE_TIMEOUT.as_secs() - 1;
                let text = format!("Claude Code has not answered for {waited} s. {}", self.start.until());
                self.start.told();
                cx.signal(Signal::Notify { level: Level::Warning, text });
            }
            HANDSHAKE if !self.up => match self.start.due(cx.now) {
                Waits::For(after) => cx.timer(HANDSHAKE, after),
                Waits::Over(after) => {
                    let why = format!(
                        "it did not answer `initialize` within {} s: was it started with --input-format stream-json, \
                         --output-format stream-json, --verbose and --permission-prompt-tool stdio, and not as root?",
                        after.as_secs()
                    );
                    self.unusable(cx, why);
                }
            },
            CALL_RUNS => {
                if let Some(run) = &mut self.run {
                    run.quiet_calls_run(cx);
                }
            }
            STOPPED => self.never_stopped(cx),
            TimerKey(number) if number > REQUESTS => {
                if let Some(sent) = self.pending.remove(&(number - REQUESTS)) {
                    self.settled(cx, seen, sent, Err("it did not answer in time".to_owned()));
                }
            }
            _ => {}
        }
    }

    fn stirred(&mut self) {
        self.start.stirred();
    }

    fn closed(&mut self, cx: &mut UiCx<'_>, _seen: Seen<'_>) {
        self.settle_lost(cx, "Claude Code went away before it answered; start it again");
        self.asks.clear();
        self.run = None;
        self.gone = true;
    }

    fn abilities(&self) -> Option<Abilities> {
        self.up.then(|| Abilities {
            name: format!("Claude Code {}", self.version).trim_end().to_owned(),
            cancel: true,
            models: self.options.has_models(),
            set_model: self.options.has_models(),
            consent: true,
            new_session: self.options.has_command(commands::CLEAR),
            compact: self.options.has_command(commands::COMPACT),
            extensions: true,
            menu: self.options.menu(),
            ..Abilities::default()
        })
    }

    fn session_name(&self) -> Option<Arc<str>> {
        self.session.clone()
    }
}

impl ClaudeUi {
    /// Says something about the session, in the run under way if there is one.
    fn say(&self, cx: &mut UiCx<'_>, said: Said) {
        match &self.run {
            Some(run) => run.listener.say(cx, said),
            None => cx.fact(Fact::new(said)),
        }
    }

    /// A run that was stopped got no end: it is over here.
    fn never_stopped(&mut self, cx: &mut UiCx<'_>) {
        if self.run.as_ref().is_none_or(|run| !run.stopped) {
            return;
        }
        let text = format!(
            "Claude Code did not say within {} s that it stopped, and may still be at work; start it again if it does not answer.",
            STOPS_WITHIN.as_secs()
        );
        cx.signal(Signal::Notify { level: Level::Warning, text });
        self.end_run(cx, Outcome::Cancelled);
    }
}
