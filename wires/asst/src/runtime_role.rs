//! We play the asst runtime; a shell is at the other end.
//!
//! Requests are done one after the other: a message that comes while another is answered waits in the session's queue and becomes a
//! turn of its own. Each request is answered exactly once: `done` or `error` when its turn (or its run) is over. Nothing that comes in
//! ends the link.

mod lift;
mod lower;
mod settling;

pub use lift::{MAX_ATTACHMENTS, MAX_IMAGE_BYTES};

use crate::wire::{RunState, Status};
use domain::command::{
    Command, LibraryCommand, PromptOptions, Receipt, Refusal, RunCommand, SessionCommand, Target, WhenBusy,
};
use domain::content::Input;
use domain::event::{Body, Event, Leaving, NoteEvent, Outcome, QueueEvent, RunEvent};
use domain::ids::{Millis, QueuedId, RunId, SessionId};
use domain::port::Ticket;
use domain::signal::Signal;
use lift::Wanted;
use lower::Telling;
use rolekit::narrator::Narrator;
use roles::{Answers, Greeting, Item, Lane, Line, RuntimeCx, RuntimeRole, Tickets, TimerKey, View};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use wire::Rate;

/// After this `ready` is said again: the existing shell may begin to listen only after the first. Each pause is twice the one before.
pub const READY_AGAIN: Duration = Duration::from_secs(1);
/// How often it is said again to a shell that says nothing; on a busy machine its window takes seconds.
pub const MAX_READY_AGAIN: u32 = 4;
/// How long a question that this wire has no word for may hold up a message, while another screen of the person's has it, unless an option
/// says otherwise: the document's shell gives a request up after a minute.
pub const HELD_UP_FOR: Duration = Duration::from_secs(50);
/// Most requests under way.
pub const MAX_REQUESTS: usize = 256;

const READY_TIMER: TimerKey = TimerKey(1);

/// The runtime's side of asst.
#[derive(Debug, Default)]
pub struct AsstRuntime {
    opened_at: Millis,
    /// How long questions may hold up a message.
    deadline: Option<Duration>,
    heard: bool,
    /// How often `ready` was said again.
    repeated: u32,
    rate: Rate,
    current: Option<SessionId>,
    pending: Tickets<HubRequest>,
    sessions: BTreeMap<SessionId, SessionRequests>,
}

/// A request that the hub was asked about.
#[derive(Debug)]
struct HubRequest {
    id: Value,
    what: OpenRequest,
}

/// What a request wants, kept until it is answered.
#[derive(Debug, Clone, PartialEq)]
enum OpenRequest {
    Message {
        input: Input,
        session: Option<SessionId>,
        /// Whether the session was made for it: then it is not made again.
        is_made: bool,
    },
    Clear {
        session: SessionId,
    },
    Status {
        session: SessionId,
    },
    New {
        title: Option<String>,
    },
    Load {
        conversation: String,
    },
    /// A session that a message named and that is not there yet.
    Make {
        input: Input,
        session: SessionId,
    },
}

/// What the shell wants of one session and has no `done` for yet.
#[derive(Debug, Default)]
struct SessionRequests {
    /// A run that a request began and whose first turn has not begun.
    starting: Option<(RunId, Value)>,
    queued: BTreeMap<QueuedId, (Value, Input)>,
    /// Requests whose inputs left the queue for the turn that begins next.
    taken: Vec<Value>,
    telling: Option<Telling>,
    /// A turn that is over, until it is known whether its run failed with it.
    ended: Vec<Value>,
    /// Requests that must wait for the run to end.
    parked: VecDeque<(Value, OpenRequest)>,
}

impl SessionRequests {
    fn is_empty(&self) -> bool {
        self.starting.is_none()
            && self.queued.is_empty()
            && self.taken.is_empty()
            && self.telling.is_none()
            && self.ended.is_empty()
            && self.parked.is_empty()
    }

    fn len(&self) -> usize {
        let telling = self.telling.as_ref().map_or(0, |telling| telling.ids.len());
        let waiting = self.queued.len() + self.taken.len() + self.ended.len() + self.parked.len();
        usize::from(self.starting.is_some()) + telling + waiting
    }
}

impl AsstRuntime {
    /// A role for one link.
    pub fn new() -> AsstRuntime {
        AsstRuntime::default()
    }

    fn ask_hub(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        target: Target,
        command: Command,
        id: Value,
        what: OpenRequest,
    ) {
        self.pending.command(cx, target, command, HubRequest { id, what });
    }

    fn busy(&self) -> usize {
        self.pending.len() + self.sessions.values().map(SessionRequests::len).sum::<usize>()
    }

    fn request(&mut self, cx: &mut RuntimeCx<'_>, id: Value, wanted: Wanted) {
        if self.busy() >= MAX_REQUESTS {
            let why = "Too many requests are under way; wait for some to be done.";
            return cx.send(lower::error(cx.now, &id, why));
        }
        match wanted {
            Wanted::Message { input, session } => self.message(cx, id, input, session),
            Wanted::Clear { session } => match session.or_else(|| self.current.clone()) {
                Some(session) => self.clear(cx, id, session),
                // There is nothing to clear yet.
                None => cx.send(lower::done(cx.now, &id, None)),
            },
            Wanted::Status => match self.current.clone() {
                Some(session) => {
                    let target = Target::Session(session.clone());
                    self.ask_hub(
                        cx,
                        target,
                        Command::Session(SessionCommand::Stats),
                        id,
                        OpenRequest::Status { session },
                    );
                }
                None => self.status(cx, &id, 0),
            },
            Wanted::New { title } => {
                let command =
                    Command::Library(LibraryCommand::New { cwd: None, title: title.clone(), id: None });
                self.ask_hub(cx, Target::Current, command, id, OpenRequest::New { title });
            }
            Wanted::Load { session, conversation } => {
                let command = Command::Library(LibraryCommand::Open { session });
                self.ask_hub(cx, Target::Current, command, id, OpenRequest::Load { conversation });
            }
        }
    }

    fn message(&mut self, cx: &mut RuntimeCx<'_>, id: Value, input: Input, session: Option<SessionId>) {
        let session = session.or_else(|| self.current.clone());
        self.message_in(cx, id, input, session, false);
    }

    /// A message for a session that is there, or was made for it.
    fn message_in(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: Value,
        input: Input,
        session: Option<SessionId>,
        is_made: bool,
    ) {
        let target = session.clone().map_or(Target::Current, Target::Session);
        let options = PromptOptions { when_busy: WhenBusy::Queue, ..PromptOptions::default() };
        let command = Command::Run(RunCommand::Prompt { input: input.clone(), options });
        self.ask_hub(cx, target, command, id, OpenRequest::Message { input, session, is_made });
    }

    fn clear(&mut self, cx: &mut RuntimeCx<'_>, id: Value, session: SessionId) {
        let target = Target::Session(session.clone());
        self.ask_hub(cx, target, Command::Session(SessionCommand::Clear), id, OpenRequest::Clear { session });
    }

    fn status(&mut self, cx: &mut RuntimeCx<'_>, id: &Value, length: u64) {
        let state = if self.busy() > 0 { RunState::Processing } else { RunState::Idle };
        let uptime = cx.now.since(self.opened_at);
        cx.send(lower::status(cx.now, id, Status { state, conversation_length: length, uptime }));
    }

    /// Ends requests whose turn is over.
    fn end(cx: &mut RuntimeCx<'_>, ids: Vec<Value>, why: Option<&str>) {
        for id in ids {
            let line = match why {
                None => lower::done(cx.now, &id, None),
                Some(why) => lower::error(cx.now, &id, why),
            };
            cx.send(line);
        }
    }

    fn turn_started(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, run: RunId) {
        let Some(requests) = self.sessions.get_mut(session) else { return };
        Self::end(cx, std::mem::take(&mut requests.ended), None);
        let mut ids = std::mem::take(&mut requests.taken);
        ids.extend(requests.starting.take_if(|(starting, _)| *starting == run).map(|(_, id)| id));
        requests.telling = (!ids.is_empty()).then(|| Telling::new(ids, Narrator::new(run)));
    }

    fn run_ended(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, run: RunId, outcome: &Outcome) {
        let Some(requests) = self.sessions.get_mut(session) else { return };
        let mut ids = std::mem::take(&mut requests.ended);
        ids.extend(requests.telling.take().into_iter().flat_map(|telling| telling.ids));
        ids.append(&mut requests.taken);
        ids.extend(requests.starting.take_if(|(starting, _)| *starting == run).map(|(_, id)| id));
        let why = lower::why(outcome);
        Self::end(cx, ids, why.as_deref());
        // Behind a runtime with one conversation those of other sessions waited for this one, too.
        let mut parked = Vec::new();
        for (of, requests) in &mut self.sessions {
            parked.extend(requests.parked.drain(..).map(|(id, request)| (of.clone(), id, request)));
        }
        self.sessions.retain(|_, requests| !requests.is_empty());
        for (of, id, request) in parked {
            match (request, outcome) {
                (OpenRequest::Message { .. }, Outcome::Cancelled) if of == *session => {
                    Self::end(cx, vec![id], why.as_deref());
                }
                (OpenRequest::Message { input, .. }, _) => self.message(cx, id, input, Some(of)),
                (OpenRequest::Clear { session }, _) => self.clear(cx, id, session),
                (
                    OpenRequest::Status { .. }
                    | OpenRequest::New { .. }
                    | OpenRequest::Load { .. }
                    | OpenRequest::Make { .. },
                    _,
                ) => {}
            }
        }
    }

    fn unqueued(&mut self, session: &SessionId, item: QueuedId, leaving: &Leaving) -> Option<Value> {
        let requests = self.sessions.get_mut(session)?;
        let (id, input) = requests.queued.remove(&item)?;
        match leaving {
            Leaving::Taken => requests.taken.push(id),
            // The run before it broke: the message is sent again when that is over.
            Leaving::Cleared => {
                let message = OpenRequest::Message { input, session: None, is_made: false };
                requests.parked.push_back((id, message));
            }
            Leaving::Dropped => return Some(id),
        }
        None
    }
}

impl RuntimeRole for AsstRuntime {
    fn open(&mut self, cx: &mut RuntimeCx<'_>, greeting: &Greeting) {
        self.opened_at = cx.now;
        self.deadline = greeting.answer_within(HELD_UP_FOR).unwrap_or_else(|why| {
            cx.log(format!("asst: {why}"));
            Some(HELD_UP_FOR)
        });
        cx.send(lower::ready(cx.now));
        cx.timer(READY_TIMER, READY_AGAIN);
    }

    fn line(&mut self, cx: &mut RuntimeCx<'_>, _lane: Lane, line: Line) {
        if !std::mem::replace(&mut self.heard, true) {
            // Whoever asks has heard that we are ready.
            cx.cancel_timer(READY_TIMER);
        }
        let mut notes = Vec::new();
        let length = match &line {
            Line::Text(text) | Line::Overlong(text) | Line::Garbled(text) => text.len(),
        };
        let read = match line {
            Line::Text(text) if text.trim().is_empty() => return cx.log("ignored: an empty line"),
            Line::Text(text) => lift::read(&text, &mut notes),
            Line::Overlong(head) => {
                let id = lift::id_in_head(&head).unwrap_or_else(|| Value::String(String::new()));
                let limit = wire::lines::MAX_LINE;
                Err((id, format!("the request is longer than {limit} bytes; send less at once")))
            }
            Line::Garbled(_) => {
                let why = "the request is not UTF-8 text or holds a NUL byte".to_owned();
                Err((Value::String(String::new()), why))
            }
        };
        for note in notes {
            cx.log(format!("asst: {note}"));
        }
        match read {
            Ok((id, _)) | Err((id, _)) if !self.rate.allow(cx.now.0) => {
                cx.send(lower::error(cx.now, &id, "Too many requests per second; slow down."));
            }
            Ok((id, wanted)) => self.request(cx, id, wanted),
            Err((id, why)) => {
                // What is wrong may quote the request.
                cx.log(format!("asst: a request that cannot be read ({length} bytes)"));
                cx.send(lower::error(cx.now, &id, why));
            }
        }
    }

    fn attached(&mut self, _cx: &mut RuntimeCx<'_>, view: View<'_>) {
        if view.current {
            self.current = Some(view.session.clone());
        }
    }

    fn detached(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId) {
        self.current.take_if(|current| current == session);
        if let Some(requests) = self.sessions.remove(session) {
            let telling = requests.telling.into_iter().flat_map(|telling| telling.ids);
            let queued = requests.queued.into_values().map(|(id, _)| id);
            let starting = requests.starting.into_iter().map(|(_, id)| id);
            let parked = requests.parked.into_iter().map(|(id, _)| id);
            let ids = telling
                .chain(queued)
                .chain(starting)
                .chain(parked)
                .chain(requests.taken)
                .chain(requests.ended);
            Self::end(cx, ids.collect(), Some("The conversation was closed."));
        }
    }

    fn event(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, event: &Event) {
        match &event.body {
            Body::Run(RunEvent::TurnStarted { run, .. }) => self.turn_started(cx, view.session, *run),
            Body::Run(RunEvent::TurnEnded { .. }) => {
                if let Some(requests) = self.sessions.get_mut(view.session) {
                    requests
                        .ended
                        .extend(requests.telling.take().into_iter().flat_map(|telling| telling.ids));
                }
            }
            Body::Run(RunEvent::Ended { run, outcome }) => self.run_ended(cx, view.session, *run, outcome),
            Body::Queue(QueueEvent::Left { item, leaving }) => {
                if let Some(id) = self.unqueued(view.session, *item, leaving) {
                    Self::end(cx, vec![id], Some("The message was taken back before its turn."));
                }
            }
            // The wire has no word for it; the log is what a UI that started us shows.
            Body::Note(NoteEvent::Noticed { text, .. }) => cx.log(format!("asst: {text}")),
            body => {
                let telling =
                    self.sessions.get_mut(view.session).and_then(|requests| requests.telling.as_mut());
                let Some(telling) = telling else { return };
                for line in telling.hear(event.at, body) {
                    cx.send(line);
                }
                if std::mem::take(&mut telling.lost_thought) {
                    cx.loss(Item::Thought, "the model's thinking");
                }
            }
        }
    }

    fn signal(&mut self, cx: &mut RuntimeCx<'_>, _view: View<'_>, signal: &Signal) {
        if let Some((_, text)) = cx.words(signal) {
            cx.log(format!("asst: {text}"));
        }
    }

    fn settled(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        ticket: Ticket,
        with: Result<Receipt, Refusal>,
    ) {
        if let Some(pending) = self.pending.settled(cx, ticket) {
            self.settle(cx, view, pending, with);
        }
    }

    fn lost(&mut self, cx: &mut RuntimeCx<'_>, why: &str) {
        cx.cancel_timer(READY_TIMER);
        cx.send(lower::error(cx.now, &Value::String(String::new()), format!("the runtime is gone: {why}")));
    }

    fn timer(&mut self, cx: &mut RuntimeCx<'_>, key: TimerKey) {
        if key == READY_TIMER && !self.heard {
            cx.send(lower::ready(cx.now));
            self.repeated += 1;
            if self.repeated < MAX_READY_AGAIN {
                cx.timer(READY_TIMER, READY_AGAIN * 2u32.pow(self.repeated));
            }
        }
    }

    fn can_answer(&self) -> Answers {
        Answers { deadline: self.deadline, ..Answers::NONE }
    }
}
