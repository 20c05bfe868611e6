//! We play lemon's server; a lemon client is at the other end.
//!
//! The role keeps the sessions that the client has open and which of them is in front, what each was told, the questions that wait, and
//! which commands wait for the hub. It starts with one session, so that both the clients that know of sessions and those that do not
//! can go on; every command names its session to the hub, since "active" is this wire's own notion. Whatever comes in, the link lives on.

mod asks;
mod commands;
mod hand;
mod opening;
mod past;
mod receipts;
mod stream;
mod telling;

use super::wire::frame::{Config, ErrorLine};
use super::wire::{self, Frame, UNKNOWN_COMMAND};
use super::{Compat, lower};
use ::wire::{Rate, depth, lines};
use asks::{OpenQuestion, OpenQuestions, PersonsAnswer};
use domain::ask::{Ask, Closing};
use domain::command::{Command, Receipt, Refusal, SessionCommand, Target};
use domain::event::{
    AskEvent, Body, ContextEvent, Event, NoteEvent, PlanState, RunEvent, SessionEvent, ToolEvent,
};
use domain::ids::{AskId, Millis, Seq, SessionId};
use domain::port::{Abilities, Ticket};
use domain::session::{ModelRef, SessionSummary};
use domain::signal::{Board, Level, Signal, WidgetPlace};
use hand::Hand;
use receipts::HubCommand;
use rolekit::{session_name, shown};
use roles::{
    Answers, Drift, Greeting, Item, Lane, Line, Reason, RuntimeCx, RuntimeRole, Tickets, TimerKey, View,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use telling::Telling;

/// How long a question may wait, unless an option says otherwise; the document's figure.
pub const ANSWER_DEADLINE: Duration = Duration::from_secs(30);
/// Most commands that may wait for the hub.
pub const MAX_PENDING: usize = 1024;
/// The option for a client that is taken for the one that answers by itself and is not: `asked=always`.
const ASKED: &str = "asked";
/// What a client that answers by itself is told once.
const NEVER_ASKED: &str = "This client answers questions by itself, so it is asked nothing: what needs a yes is denied. \
     Start the runtime with another --policy to allow more, or with --option asked=always if its person does answer.";
/// Something that is being written is due.
const FLUSH: TimerKey = TimerKey(1);
/// `ready` waits no longer for what the runtime behind us says of itself.
const GREET: TimerKey = TimerKey(2);
/// The client has said goodbye and may now be left.
const LEAVE: TimerKey = TimerKey(3);
/// How long we stay after a goodbye. One client sends its old runtime a signal a second later, and hits the new one if that is gone.
const LINGER: Duration = Duration::from_millis(1_500);

/// A session that the client has open.
#[derive(Debug)]
struct Open {
    telling: Telling,
    board: Board,
    cwd: String,
    model: Option<ModelRef>,
    heard: Seq,
    /// The conversation is emptied when its run has ended.
    reset: bool,
    /// The client was told that it is there.
    announced: bool,
    /// Its past was told to the client.
    past: bool,
    /// What is said of it before the client knows it.
    kept: Vec<String>,
    /// How many were opened before it.
    order: u64,
}

/// The runtime's side of lemon.
#[derive(Debug, Default)]
pub struct LemonRuntime {
    greeting: Greeting,
    compat: Compat,
    ui: bool,
    ready: bool,
    quitting: bool,
    rate: Rate,
    pending: Tickets<HubCommand>,
    open: BTreeMap<SessionId, Open>,
    /// The session that commands without an id are for, and that signals are shown of.
    front: Option<SessionId>,
    questions: OpenQuestions,
    config: Config,
    /// What the runtime behind us can do, where we were told.
    behind: Option<Abilities>,
    greets: Greets,
    hand: Hand,
    /// How long a question may wait; `None` for as long as it takes.
    deadline: Option<Duration>,
    /// Sessions that the client was told of in the last list.
    listed: Vec<SessionId>,
    /// Those of them that another process had open: they run too, and who activates one is led there.
    elsewhere: Vec<SessionSummary>,
    /// How many sessions were opened.
    opened: u64,
    /// It has said goodbye: nothing more is heard and said.
    left: bool,
}

/// What `ready` waits for in front of another program.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Greets {
    #[default]
    AfterHandshake,
    AfterModel,
    Now,
}

impl LemonRuntime {
    /// A role for one link.
    pub fn new() -> LemonRuntime {
        LemonRuntime { ui: true, deadline: Some(ANSWER_DEADLINE), ..LemonRuntime::default() }
    }

    /// Hands a command to the hub and notes what its answer is for.
    fn ask_hub(&mut self, cx: &mut RuntimeCx<'_>, target: Target, command: Command, pending: HubCommand) {
        if self.pending.len() >= MAX_PENDING {
            return self.error(cx, "too many commands are under way: wait for their answers", None);
        }
        self.pending.command(cx, target, command, pending);
    }

    fn error(&self, cx: &mut RuntimeCx<'_>, message: &str, session: Option<&SessionId>) {
        let session_id = session.map(|session| session_name::write(session).into());
        cx.send(
            Frame::Error(ErrorLine { message: session_name::in_words(message).into(), session_id }).line(),
        );
    }

    fn model_of(&self, session: Option<&SessionId>) -> Option<ModelRef> {
        let chosen = session.and_then(|session| self.open.get(session)).and_then(|open| open.model.clone());
        chosen.or_else(|| {
            let (provider, name) = self.greeting.model.clone()?;
            Some(ModelRef { provider, name })
        })
    }

    fn say_signal(&self, cx: &mut RuntimeCx<'_>, signal: &Signal) {
        if !self.ui {
            return;
        }
        match lower::signal(signal, self.compat) {
            Some(frame) => cx.send(frame.line()),
            None => cx.loss(Item::Suggestion, "what the person may want to type next"),
        }
    }

    /// Shows a signal of a session. These lines do not name their session, so lasting ones are shown of the one in front only.
    fn show(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, signal: &Signal) {
        let changed = self.open.get_mut(session).is_none_or(|open| open.board.take(signal));
        if matches!(signal, Signal::Status { .. }) && !changed {
            return;
        }
        if self.front.as_ref() == Some(session) || matches!(signal, Signal::Notify { .. }) {
            self.say_signal(cx, signal);
        }
    }

    fn notify(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, level: Level, text: impl Into<String>) {
        self.show(cx, session, &Signal::Notify { level, text: text.into() });
    }

    fn ask_opened(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, ask: &Ask) {
        if !self.ui {
            return;
        }
        if self.hand.answers_itself() {
            let text = format!("\"{}\" was not asked. {NEVER_ASKED}", ask.title);
            return self.notify(cx, session, Level::Warning, text);
        }
        if self.questions.has(session, ask.id) {
            return;
        }
        let prefix = (self.front.as_ref() != Some(session)).then_some(session);
        let Some(shown) = asks::fitted(ask, prefix) else {
            self.notify(cx, session, Level::Warning, shown::not_asked(&ask.title, session));
            return cx.cannot_answer(session.clone(), ask.id);
        };
        let question = self.questions.add(session, ask, shown);
        let beside = question.beside().map(|whole| beside(&question.id, Some(whole)));
        let line = asks::lower(question, prefix, cx.now);
        if let Some(widget) = beside {
            self.say_signal(cx, &widget);
        }
        cx.send(line);
    }

    /// A question is over: what stood beside it goes.
    fn clear_beside(&mut self, cx: &mut RuntimeCx<'_>, asked: &OpenQuestion) {
        if asked.beside().is_some() {
            self.say_signal(cx, &beside(&asked.id, None));
        }
    }

    /// This wire cannot take a question back; the client at least hears why its overlay no longer counts.
    fn ask_closed(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, ask: AskId, closing: &Closing) {
        let Some(asked) = self.questions.close(session, ask) else { return };
        self.clear_beside(cx, &asked);
        let title = asked.ask.title;
        match closing {
            Closing::Expired => {
                let within =
                    self.deadline.map(|wait| format!(" within {} s", wait.as_secs())).unwrap_or_default();
                let text = format!("Nobody answered \"{title}\"{within}: it counts as no.");
                self.notify(cx, session, Level::Warning, text);
            }
            Closing::Answered { .. } => {
                self.notify(cx, session, Level::Info, format!("\"{title}\" was {}.", closing.told()));
            }
            Closing::Withdrawn | Closing::Unattended => {}
        }
    }

    fn response(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &str,
        result: Option<Option<Value>>,
        error: Option<Option<Value>>,
    ) {
        if self.hand.answers_itself() {
            return cx.log("ignored: an answer of a client that gives it without its person");
        }
        match self.questions.hear(id, result, error) {
            Some(PersonsAnswer { session, ask, answer, odd, asked }) => {
                self.clear_beside(cx, &asked);
                if let Some(odd) = odd {
                    cx.drift(Drift::new("ui_response", odd, id));
                }
                self.ask_hub(
                    cx,
                    Target::Session(session),
                    Command::Answer { ask, answer },
                    HubCommand::Answer,
                );
            }
            None => cx.log("ignored: an answer to a question that is not open"),
        }
    }

    fn tell(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, at: Millis, body: &Body) {
        let session = view.session;
        let Some(open) = self.open.get_mut(session) else { return };
        open.telling.hear(cx, view.state, at, body);
        match body {
            Body::Ask(AskEvent::Opened(ask)) => self.ask_opened(cx, session, ask),
            Body::Ask(AskEvent::Closed { ask, closing }) => self.ask_closed(cx, session, *ask, closing),
            Body::Session(SessionEvent::ModelChosen { model }) => open.model = Some(model.clone()),
            Body::Note(NoteEvent::Noticed { level, text, .. }) => {
                self.notify(cx, session, *level, text.clone());
            }
            Body::Run(RunEvent::Retrying { attempt, max, reason, .. }) => {
                let text = format!("The model will be asked again ({attempt} of {max}): {reason}");
                self.notify(cx, session, Level::Warning, text);
            }
            Body::Context(ContextEvent::Measured { .. }) => {
                if let Some(left) = view.state.context_left() {
                    let signal = Signal::Status {
                        key: "context".to_owned(),
                        text: Some(format!("{left}% context left")),
                    };
                    self.show(cx, session, &signal);
                }
            }
            Body::Note(NoteEvent::PlanChanged { items }) => {
                let line = |item: &domain::event::PlanItem| {
                    let mark = match item.state {
                        PlanState::Pending => ' ',
                        PlanState::Active => '>',
                        PlanState::Done => 'x',
                    };
                    format!("[{mark}] {}", item.text)
                };
                let lines = items.iter().map(line).collect();
                self.show(
                    cx,
                    session,
                    &Signal::Widget { key: "plan".to_owned(), lines, place: WidgetPlace::Above },
                );
            }
            Body::Session(SessionEvent::Renamed { title }) => {
                self.show(cx, session, &Signal::Title(title.clone()));
            }
            Body::Tool(ToolEvent::Started { .. } | ToolEvent::Ended { .. })
            | Body::Run(RunEvent::Ended { .. }) => {
                let word = open.telling.running_tool().map(|name| format!("Running {name}..."));
                if word != open.board.working {
                    self.show(cx, session, &Signal::Working(word));
                }
            }
            _ => {}
        }
        if let Body::Run(RunEvent::Ended { .. }) = body {
            self.reset_if_due(cx, session);
        }
    }

    fn reset_if_due(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId) {
        let Some(open) = self.open.get_mut(session) else { return };
        if std::mem::take(&mut open.reset) {
            let target = Target::Session(session.clone());
            self.ask_hub(
                cx,
                target,
                Command::Session(SessionCommand::Clear),
                HubCommand::Reset(session.clone()),
            );
        }
    }

    /// Sets the timer for what is being written, if anything is.
    fn arm(&mut self, cx: &mut RuntimeCx<'_>) {
        let mut next: Option<u64> = None;
        for open in self.open.values_mut() {
            let mark = cx.effects.len();
            let due = open.telling.flush(cx).map(|due| due.since(cx.now));
            open.keep_back(cx, mark);
            let held =
                open.telling.is_holding().then_some(u64::try_from(stream::PACE.as_millis()).unwrap_or(50));
            next = [next, due, held].into_iter().flatten().min();
        }
        if let Some(ms) = next {
            cx.timer(FLUSH, Duration::from_millis(ms.max(1)));
        }
    }
}

impl RuntimeRole for LemonRuntime {
    fn open(&mut self, cx: &mut RuntimeCx<'_>, greeting: &Greeting) {
        self.greeting = greeting.clone();
        self.ui = greeting.option("no-ui").is_none_or(|value| value == "false");
        self.compat = if greeting.option("compat") == Some("seed") { Compat::Seed } else { Compat::Peer };
        match greeting.option(ASKED) {
            Some("always") => self.hand = Hand::Others,
            None => {}
            Some(odd) => {
                let why = format!("{ASKED}={odd} is not known; there is {ASKED}=always");
                self.greeting.warnings.push(why);
            }
        }
        match greeting.answer_within(ANSWER_DEADLINE) {
            Ok(deadline) => self.deadline = deadline,
            Err(why) => self.greeting.warnings.push(why),
        }
        // Whatever the engine behind the hub is, this makes sure that there is a session, and names it.
        self.ask_hub(cx, Target::Current, Command::Session(SessionCommand::Stats), HubCommand::Boot);
    }

    fn line(&mut self, cx: &mut RuntimeCx<'_>, _lane: Lane, line: Line) {
        if self.left {
            return;
        }
        let text = match line {
            Line::Text(text) if text.trim().is_empty() => return,
            Line::Text(text) => text,
            Line::Overlong(_) => {
                let why = format!("the line is longer than {} bytes: send less at once", lines::MAX_LINE);
                return self.error(cx, &why, None);
            }
            Line::Garbled(_) => return self.error(cx, "the line is not UTF-8 text", None),
        };
        if !self.rate.allow(cx.now.0) {
            return self.error(cx, "too many commands at once: send at most 100 a second", None);
        }
        if let Err(deep) = depth::check(&text) {
            return self.error(cx, &deep.to_string(), None);
        }
        // What is not JSON at all was typed by hand and is a prompt. A broken object is not: nobody meant it for the model.
        let object = text.trim_start().starts_with('{');
        match serde_json::from_str::<wire::Command>(&text) {
            Ok(command) if object => {
                if self.hand.read(text.trim()) {
                    self.say_signal(
                        cx,
                        &Signal::Notify { level: Level::Warning, text: NEVER_ASKED.to_owned() },
                    );
                }
                self.command(cx, command);
            }
            _ if object || serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok() => {
                self.error(cx, UNKNOWN_COMMAND, None);
            }
            _ => self.prompt(cx, None, &text),
        }
    }

    fn abilities(&mut self, cx: &mut RuntimeCx<'_>, _view: Option<View<'_>>, abilities: &Abilities) -> bool {
        self.behind = Some(abilities.clone());
        if self.front.is_some() {
            self.say_ready(cx);
        }
        false
    }

    fn attached(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>) {
        if self.left {
            return;
        }
        self.shown(cx, view);
        self.arm(cx);
    }

    fn detached(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId) {
        if self.left || self.open.remove(session).is_none() {
            return;
        }
        self.questions.forget(session);
        let was_front = self.front.as_ref() == Some(session);
        if was_front {
            self.bring_front(cx, None);
        }
        if !self.pending.values().any(|pending| pending.closes(session)) {
            self.say_closed(cx, session, was_front);
        }
    }

    fn event(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, event: &Event) {
        if self.left {
            return;
        }
        if let Some(open) = self.open.get_mut(view.session) {
            open.heard = event.seq;
        }
        let mark = cx.effects.len();
        self.tell(cx, view, event.at, &event.body);
        self.keep_back(cx, view.session, mark);
        self.arm(cx);
    }

    fn signal(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, signal: &Signal) {
        if self.left {
            return;
        }
        let mark = cx.effects.len();
        self.show(cx, view.session, signal);
        self.keep_back(cx, view.session, mark);
    }

    fn settled(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        ticket: Ticket,
        with: Result<Receipt, Refusal>,
    ) {
        if let Some(pending) = self.pending.take(ticket).filter(|_| !self.left) {
            self.answered(cx, view, pending, with);
            self.leave_if_due(cx);
        }
    }

    fn timer(&mut self, cx: &mut RuntimeCx<'_>, key: TimerKey) {
        if key == LEAVE {
            cx.close(Reason::Quit);
        } else if self.left {
            // What is being written has nobody to read it.
        } else if key == GREET {
            self.greets = Greets::Now;
            self.say_ready(cx);
        } else if key == FLUSH {
            for open in self.open.values_mut() {
                let mark = cx.effects.len();
                open.telling.release(cx, None);
                open.keep_back(cx, mark);
            }
            self.arm(cx);
        }
    }

    fn odd(&mut self, cx: &mut RuntimeCx<'_>, what: &str) {
        if !self.ready && !self.left {
            self.error(cx, what, None);
        }
    }

    fn lost(&mut self, cx: &mut RuntimeCx<'_>, why: &str) {
        if !self.ready && !self.left {
            cx.cancel_timer(GREET);
            self.error(cx, &format!("the runtime ended before it was ready: {why}"), None);
        }
    }

    fn can_answer(&self) -> Answers {
        if self.ui && !self.hand.answers_itself() {
            Answers { deadline: self.deadline, ..Answers::ALL }
        } else {
            Answers::NONE
        }
    }
}

/// What stands beside a question because it does not fit into it, or that it goes.
fn beside(question: &str, whole: Option<&str>) -> Signal {
    let lines = whole.map(|text| text.split('\n').map(str::to_owned).collect()).unwrap_or_default();
    Signal::Widget { key: format!("consent {question}"), lines, place: WidgetPlace::Above }
}
