//! We play the asst shell; an asst runtime is at the other end.
//!
//! The wire has no receipts: a message is taken when it is sent, and its run ends with `done` or `error`. It has no cancel either: a run
//! that the person stops is over here, and what the runtime still says of it is passed over. Commands that the document does not know
//! are tried and given up after a while, since the existing runtime is silent about what it does not understand.

mod hearing;

use super::wire::{Attachment, Conversation, Head, Metadata, Picture, Request, Response};
use super::{ATTACHMENT, conversation};
use domain::command::{Command, LibraryCommand, Receipt, Refusal, RefusalKind, RunCommand, SessionCommand};
use domain::content::{Input, Json, Part};
use domain::event::{Cause, Failure, Outcome};
use domain::fact::{Fact, Key, Said};
use domain::ids::SessionId;
use domain::port::{Abilities, Ticket};
use domain::session::SessionSummary;
use domain::signal::{Level, Signal};
use hearing::Hearing;
use rolekit::start::{Start, Waits};
use roles::{Drift, Hello, Item, KNOCK_AFTER, Lane, Line, Reason, Seen, TimerKey, UiCx, UiRole};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use wire::encode;

/// After so long without a word the person is told that nothing comes; the document names a minute.
const WORRY_AFTER: Duration = Duration::from_secs(60);
/// After so long without a word the run is given up, unless the person has set another time ([`Hello::patience`]). The existing runtime asks
/// its model for up to two minutes in silence.
const GIVE_UP_AFTER: Duration = Duration::from_secs(180);
/// How long an answer to anything but a message may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// Whether anybody is there: the document's word for it is `get_status`.
const PING: &str = "ping";
/// The id under which a silent runtime is asked how it is: whatever it answers to that is no news. A program of JSON-RPC has to answer the
/// line as well.
const KNOCK: &str = "knock";
const KNOCK_LINE: &str = r#"{"kind":"get_status","jsonrpc":"2.0","id":"knock","method":"get_status"}"#;
/// Most requests that may be unanswered.
const MAX_UNANSWERED: usize = 256;
/// Most conversations whose names are remembered.
const MAX_CONVERSATIONS: usize = 1024;

const HANDSHAKE_TIMER: TimerKey = TimerKey(1);
const SILENCE_TIMER: TimerKey = TimerKey(2);
const KNOCK_TIMER: TimerKey = TimerKey(3);
/// Timers of requests begin here.
const FIRST_REQUEST_TIMER: u64 = 1000;

/// The UI's side of asst.
#[derive(Debug, Default)]
pub struct AsstUi {
    greeted: Option<String>,
    gone: bool,
    last: u64,
    run: Option<Hearing>,
    worried: bool,
    patience: Option<Duration>,
    waits: Start,
    sent: BTreeMap<u64, (Ticket, Sent)>,
    /// Where the runtime works, as far as we know: where we were told to.
    cwd: String,
    conversation: Option<String>,
    conversations: BTreeMap<SessionId, String>,
}

/// A request that waits for its `done`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Sent {
    Clear,
    New,
    Load(String),
    Status,
}

impl AsstUi {
    /// A role before its handshake.
    pub fn new() -> AsstUi {
        AsstUi::default()
    }

    fn id(&mut self) -> String {
        self.last += 1;
        format!("msg-{}", self.last)
    }

    fn write(cx: &mut UiCx<'_>, request: &Request) {
        match encode(request) {
            Ok(line) => cx.send(line),
            Err(why) => {
                let text = format!("A request could not be sent: {why}");
                cx.signal(Signal::Notify { level: Level::Error, text });
            }
        }
    }

    fn prompt(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, input: &Input) {
        if self.run.is_some() {
            let refusal = Refusal::new(RefusalKind::Busy, "a run is under way");
            return cx.settle(ticket, Err(refusal.hint("wait for its end or cancel it")));
        }
        let id = self.id();
        let request = match self.lower(cx, &id, input) {
            Ok(request) => request,
            Err(refusal) => return cx.settle(ticket, Err(refusal)),
        };
        Self::write(cx, &request);
        // The receipt goes before anything of the run.
        cx.settle(ticket, Ok(Receipt::Done));
        let hearing = Hearing::new(&id);
        hearing.fact(cx, Said::RunStarted);
        hearing.fact(cx, Said::TurnStarted(Some(Cause::Prompt)));
        hearing.user(cx, input);
        self.run = Some(hearing);
        self.await_word(cx);
    }

    /// A word is due from now on.
    fn await_word(&mut self, cx: &mut UiCx<'_>) {
        // Nobody is warned of what ends with the warning.
        self.worried = self.give_up_after() <= WORRY_AFTER;
        cx.timer(SILENCE_TIMER, self.give_up_after().min(WORRY_AFTER));
    }

    fn give_up_after(&self) -> Duration {
        self.patience.unwrap_or(GIVE_UP_AFTER)
    }

    /// A message as the wire carries it: text, pictures as a string of JSON, files by name.
    fn lower(&self, cx: &mut UiCx<'_>, id: &str, input: &Input) -> Result<Request, Refusal> {
        let mut text = input.text.clone();
        let (mut pictures, mut files) = (Vec::new(), Vec::new());
        for part in &input.attachments {
            match part {
                Part::Text(more) => text = format!("{text}\n\n{more}"),
                Part::Code { language, text: code, path } => {
                    let (path, language) =
                        (path.as_deref().unwrap_or_default(), language.as_deref().unwrap_or_default());
                    text = format!("{text}\n\n{path}\n```{language}\n{code}\n```");
                }
                Part::Diff { text: diff, .. } => text = format!("{text}\n\n```diff\n{diff}\n```"),
                Part::Image { mime, base64 } => {
                    pictures.push(Picture { data: base64.to_string(), mime_type: mime.clone(), name: None });
                }
                Part::Opaque { kind, json } if kind == ATTACHMENT => {
                    files.extend(serde_json::from_str::<Attachment>(json.as_str()).ok());
                }
                Part::Thought { .. } | Part::Tool(_) | Part::Opaque { .. } => {
                    cx.loss(Item::Attachments, "a part of the prompt");
                }
            }
        }
        if text.trim().is_empty() && pictures.is_empty() && files.is_empty() {
            return Err(Refusal::new(RefusalKind::Invalid, "the prompt is empty"));
        }
        let images = match encode(&pictures) {
            Ok(list) if !pictures.is_empty() => Value::String(list),
            Ok(_) => Value::Null,
            Err(why) => return Err(Refusal::new(RefusalKind::Internal, format!("a picture: {why}"))),
        };
        let (id, metadata) = (Value::String(id.to_owned()), self.conversation.as_deref().map(Metadata::of));
        Ok(Request::UserMessage { id, message: text, images, attachments: files, metadata })
    }

    fn send(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, sent: Sent) {
        if self.sent.len() >= MAX_UNANSWERED {
            let refusal = Refusal::new(RefusalKind::TooMany, "the runtime does not answer");
            return cx.settle(ticket, Err(refusal.hint("start it again")));
        }
        let id = Value::String(self.id());
        let request = match &sent {
            Sent::Clear => {
                Request::ClearHistory { id, metadata: self.conversation.as_deref().map(Metadata::of) }
            }
            Sent::New => Request::NewConversation { id, metadata: None },
            Sent::Status => Request::GetStatus { id },
            Sent::Load(name) => {
                Request::LoadConversation { id, conversation_id: name.clone(), metadata: None }
            }
        };
        self.sent.insert(self.last, (ticket, sent));
        cx.timer(TimerKey(FIRST_REQUEST_TIMER + self.last), ANSWER_WITHIN);
        Self::write(cx, &request);
    }

    fn greet(&mut self, cx: &mut UiCx<'_>, version: Option<String>) {
        if self.greeted.is_none() {
            cx.cancel_timer(HANDSHAKE_TIMER);
            cx.cancel_timer(KNOCK_TIMER);
            self.greeted =
                Some(version.map_or_else(|| "asst".to_owned(), |version| format!("asst {version}")));
        }
    }

    fn response(&mut self, cx: &mut UiCx<'_>, response: Response, line: &str) {
        match &response {
            Response::Ready { version, .. } => self.greet(cx, version.clone()),
            // A program of another wire has lines of such types, too.
            Response::Unknown => {}
            Response::Error { error, .. } if error.is_empty() => {}
            _ => self.greet(cx, None),
        }
        let id = response.id(line);
        if id.as_deref() == Some(KNOCK) {
            return;
        }
        let number =
            id.as_deref().and_then(|id| id.strip_prefix("msg-")).and_then(|number| number.parse().ok());
        if let Some(number) = number
            && self.sent.contains_key(&number)
        {
            return self.answered(cx, number, response, line);
        }
        // An error without an id can only be about what is being done.
        let about_run = self.run.as_ref().is_some_and(|run| match &id {
            Some(id) => *id == run.id,
            None => matches!(response, Response::Error { .. }),
        });
        if about_run {
            self.await_word(cx);
        }
        let Some(run) = self.run.as_mut().filter(|_| about_run) else {
            return match response {
                Response::Error { error, .. } if id.is_none() && !error.is_empty() => {
                    cx.signal(Signal::Notify { level: Level::Error, text: error });
                }
                Response::Ready { .. } | Response::Done { .. } | Response::Token { .. } => {}
                _ => cx.drift(Drift::new("response", "nobody asked for it, or it is over", line)),
            };
        };
        match response {
            Response::Token { token, .. } => run.token(cx, token),
            Response::ToolUse { data, .. } => run.tool_use(cx, data, line),
            Response::ToolResult { data, .. } => run.tool_result(cx, data, line),
            Response::Done { .. } => self.end(cx, Outcome::Done),
            Response::Error { error, .. } => {
                let silent = "the runtime failed without a word";
                self.fail(cx, "request_failed", if error.is_empty() { silent } else { &error });
            }
            Response::Ready { .. } | Response::Status { .. } | Response::Unknown => {
                cx.drift(Drift::new("response", format!("unknown type {}", Head::of(line).kind), line));
            }
        }
    }

    fn answered(&mut self, cx: &mut UiCx<'_>, number: u64, response: Response, line: &str) {
        let asked_status = matches!(self.sent.get(&number), Some((_, Sent::Status)));
        let answer = match response {
            Response::Status { .. } if asked_status => return self.has_status(cx, number, line),
            Response::Done { data, .. } => Ok(data),
            Response::Error { error, .. } if error.is_empty() => Err("the runtime refused".to_owned()),
            Response::Error { error, .. } => Err(error),
            _ => {
                let what = format!("{} where done was due", Head::of(line).kind);
                return cx.drift(Drift::new("response", what, line));
            }
        };
        let Some((ticket, sent)) = self.sent.remove(&number) else { return };
        cx.cancel_timer(TimerKey(FIRST_REQUEST_TIMER + number));
        let told = match answer {
            Ok(told) => told,
            Err(why) => return cx.settle(ticket, Err(Refusal::new(refusal_kind(&sent, &why), why))),
        };
        let messages = told.as_ref().and_then(Conversation::messages);
        let named = told.and_then(Conversation::name);
        match sent {
            Sent::Clear => cx.settle(ticket, Ok(Receipt::Leaf(None))),
            Sent::New => match named {
                Some(name) => self.at(cx, ticket, name, 0),
                None => {
                    let refusal = Refusal::new(
                        RefusalKind::Unsupported,
                        "the runtime did not name the new conversation",
                    );
                    cx.settle(ticket, Err(refusal));
                }
            },
            // The existing runtime "loads" a conversation that it does not have, and then fails at every message in it.
            Sent::Load(name)
                if messages == Some(0) && !self.conversations.values().any(|known| *known == name) =>
            {
                let why = format!("there is no conversation {name}, or nothing was said in it");
                cx.settle(ticket, Err(Refusal::new(RefusalKind::SessionUnknown, why)));
            }
            Sent::Load(name) => self.at(cx, ticket, named.unwrap_or(name), messages.unwrap_or(0)),
            // Not the answer of the document, but one.
            Sent::Status => cx.settle(ticket, Ok(Receipt::Done)),
        }
    }

    /// The runtime said how it is: what it said is what the person reads.
    fn has_status(&mut self, cx: &mut UiCx<'_>, number: u64, line: &str) {
        let Some((ticket, _)) = self.sent.remove(&number) else { return };
        cx.cancel_timer(TimerKey(FIRST_REQUEST_TIMER + number));
        let said: Value = serde_json::from_str(line).unwrap_or_default();
        let said = said.get("data").filter(|data| data.is_object());
        let said = said.map_or_else(Json::empty, |data| Json::verbatim(data.to_string()));
        cx.settle(ticket, Ok(Receipt::Extension(said)));
    }

    fn at(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, name: String, messages: u64) {
        let session = conversation::session(&name);
        if self.conversations.len() >= MAX_CONVERSATIONS {
            self.conversations.pop_first();
        }
        self.conversations.insert(session.clone(), name.clone());
        self.conversation = Some(name);
        let session = SessionSummary {
            title: String::new(),
            created_at: cx.now,
            updated_at: cx.now,
            cwd: self.cwd.clone(),
            messages,
            ..SessionSummary::new(session)
        };
        cx.settle(ticket, Ok(Receipt::Session { session, parent: None }));
    }

    fn end(&mut self, cx: &mut UiCx<'_>, outcome: Outcome) {
        if let Some(run) = self.run.take() {
            cx.cancel_timer(SILENCE_TIMER);
            cx.fact(Fact::of(Key::from(run.id.as_str()), Said::RunEnded(outcome)));
        }
    }

    fn fail(&mut self, cx: &mut UiCx<'_>, code: &str, error: &str) {
        self.end(cx, Outcome::Failed(Failure::new(code, error)));
    }
}

/// What an error means: the wire has words for it and no codes.
fn refusal_kind(sent: &Sent, why: &str) -> RefusalKind {
    let why = why.to_lowercase();
    match sent {
        Sent::Load(_) if why.contains("no conversation") || why.contains("not found") => {
            RefusalKind::SessionUnknown
        }
        _ if why.contains("unknown") => RefusalKind::Unsupported,
        _ => RefusalKind::Remote { code: "error".to_owned() },
    }
}

/// Whether a `ready` is that of a wire on which it tells at once where the runtime works and which model answers: here it has neither.
fn is_of_another_wire(ready: &str) -> bool {
    let told: Value = serde_json::from_str(ready).unwrap_or_default();
    ["cwd", "model", "ui"].iter().all(|member| told.get(member).is_some())
}

fn lost() -> Refusal {
    Refusal::new(RefusalKind::Lost, "the runtime is gone").hint("start it again")
}

impl UiRole for AsstUi {
    fn open(&mut self, cx: &mut UiCx<'_>, hello: &Hello) {
        self.conversation = hello.session.as_deref().map(str::to_owned);
        self.patience = hello.patience;
        self.cwd.clone_from(&hello.cwd);
        self.waits = Start::by_clock(hello, cx.now);
        cx.timer(HANDSHAKE_TIMER, self.waits.first());
        cx.timer(KNOCK_TIMER, KNOCK_AFTER);
    }

    fn line(&mut self, cx: &mut UiCx<'_>, _seen: Seen<'_>, _lane: Lane, line: Line) {
        let text = match line {
            Line::Text(text) if text.trim().is_empty() => return,
            Line::Text(text) => text,
            Line::Overlong(head) => return cx.drift(Drift::new("line", "it is too long", &head)),
            Line::Garbled(head) => return cx.drift(Drift::new("line", "it is not UTF-8 text", &head)),
        };
        if let Err(why) = wire::depth::check(&text) {
            return cx.drift(Drift::new("line", why.to_string(), &text));
        }
        match serde_json::from_str(&text) {
            Ok(Response::Ready { .. }) if self.greeted.is_none() && is_of_another_wire(&text) => {
                cx.drift(Drift::new("ready", "it is a greeting of another wire", &text));
            }
            Ok(response) => self.response(cx, response, &text),
            Err(why) => cx.drift(Drift::new("line", why.to_string(), &text)),
        }
    }

    fn command(&mut self, cx: &mut UiCx<'_>, _seen: Seen<'_>, ticket: Ticket, command: Command) {
        if self.gone {
            return cx.settle(ticket, Err(lost()));
        }
        match command {
            Command::Run(RunCommand::Prompt { input, .. }) => self.prompt(cx, ticket, &input),
            Command::Run(RunCommand::Cancel { .. }) => {
                if self.run.is_some() {
                    cx.loss(Item::Cancel, "the runtime goes on by itself; what it says is passed over");
                    self.end(cx, Outcome::Cancelled);
                    cx.settle(ticket, Ok(Receipt::Done));
                } else {
                    cx.settle(ticket, Err(Refusal::new(RefusalKind::NoRun, "no run is under way")));
                }
            }
            Command::Session(SessionCommand::Clear) => self.send(cx, ticket, Sent::Clear),
            Command::Library(LibraryCommand::New { .. }) => {
                self.send(cx, ticket, Sent::New);
            }
            Command::Library(LibraryCommand::Open { session }) => {
                let known = self.conversations.get(&session).cloned();
                let name = known.unwrap_or_else(|| conversation::name(&session).to_owned());
                self.send(cx, ticket, Sent::Load(name));
            }
            Command::Extension { name, .. } if name == PING => self.send(cx, ticket, Sent::Status),
            Command::UpdateContext(context) => {
                if !context.is_size_only() {
                    cx.loss(Item::ContextUpdate, "where the person works");
                }
                cx.settle(ticket, Ok(Receipt::Done));
            }
            Command::Queue(_)
            | Command::Answer { .. }
            | Command::Library(
                LibraryCommand::Branch { .. }
                | LibraryCommand::Delete { .. }
                | LibraryCommand::List { .. }
                | LibraryCommand::History { .. }
                | LibraryCommand::Save { .. }
                | LibraryCommand::Load { .. }
                | LibraryCommand::Export { .. },
            )
            | Command::Session(
                SessionCommand::Close
                | SessionCommand::Rename { .. }
                | SessionCommand::SetLeaf { .. }
                | SessionCommand::Stats
                | SessionCommand::SetModel { .. }
                | SessionCommand::SetEffort { .. }
                | SessionCommand::SetBudget { .. }
                | SessionCommand::SetPolicy { .. }
                | SessionCommand::SetTools { .. },
            )
            | Command::Run(RunCommand::Compact { .. })
            | Command::List(_)
            | Command::Shell(_)
            | Command::Files(_)
            | Command::Performed { .. }
            | Command::Extension { .. } => {
                cx.settle(ticket, Err(Refusal::new(RefusalKind::Unsupported, "this runtime cannot do that")));
            }
        }
    }

    fn timer(&mut self, cx: &mut UiCx<'_>, _seen: Seen<'_>, key: TimerKey) {
        if key == KNOCK_TIMER && self.greeted.is_none() {
            cx.send(KNOCK_LINE.to_owned());
        } else if key == HANDSHAKE_TIMER && self.greeted.is_none() {
            let seconds = match self.waits.due(cx.now) {
                Waits::For(after) => return cx.timer(HANDSHAKE_TIMER, after),
                Waits::Over(after) => after.as_secs(),
            };
            let why = format!(
                "the runtime did not say that it is ready within {seconds} seconds; is it an asst runtime?"
            );
            cx.close(Reason::Unusable(why));
        } else if key == SILENCE_TIMER {
            if std::mem::replace(&mut self.worried, true) {
                let seconds = self.give_up_after().as_secs();
                let why =
                    format!("The runtime has said nothing for {seconds} seconds; the request was given up.");
                self.fail(cx, "timed_out", &why);
            } else if self.run.is_some() {
                let text = "The runtime has said nothing for a minute.".to_owned();
                cx.signal(Signal::Notify { level: Level::Warning, text });
                cx.timer(SILENCE_TIMER, self.give_up_after().saturating_sub(WORRY_AFTER));
            }
        } else if let Some(number) = key.0.checked_sub(FIRST_REQUEST_TIMER)
            && let Some((ticket, _)) = self.sent.remove(&number)
        {
            let refusal = Refusal::new(
                RefusalKind::Unsupported,
                "the runtime did not answer; it may not know this request",
            );
            cx.settle(ticket, Err(refusal));
        }
    }

    fn closed(&mut self, cx: &mut UiCx<'_>, _seen: Seen<'_>) {
        self.gone = true;
        self.run = None;
        for (_, (ticket, _)) in std::mem::take(&mut self.sent) {
            cx.settle(ticket, Err(lost()));
        }
    }

    fn abilities(&self) -> Option<Abilities> {
        self.greeted.as_ref().map(|name| Abilities {
            name: name.clone(),
            cancel: true,
            new_session: true,
            open_session: true,
            clear: true,
            ping: true,
            text_only: true,
            ..Abilities::default()
        })
    }

    fn session_name(&self) -> Option<Arc<str>> {
        self.conversation.as_deref().map(Into::into)
    }
}

#[cfg(test)]
mod unwritable {
    use super::*;
    use domain::ids::Millis;
    use roles::{Cx, UiEffect};

    #[test]
    fn a_request_that_cannot_be_written_is_told_to_the_person() {
        let mut effects = Vec::new();
        AsstUi::write(&mut Cx { now: Millis(0), effects: &mut effects }, &Request::Unknown);
        assert!(matches!(&effects[..], [UiEffect::Signal(Signal::Notify { level: Level::Error, .. })]));
    }
}
