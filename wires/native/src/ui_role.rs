//! We play the UI of a native runtime.
//!
//! The wire is lossless, so what comes is handed on as [`News`] and mirrored, not canonised. This role keeps the tickets that are
//! under way, a replay that comes in pieces, and the last place where both sides agreed, from which a broken link resumes.
//!
//! Invariant: where a session was named or is begun by us, nothing is said in another one: what comes before it is shown waits for it.

use super::runtime_role::cursor;
use super::wire::{
    About, Attached, Complaint, Cursor, FromRuntime, FromUi, Hello as HelloLine, KNOCK_LINE, Settled, Wanted,
};
use super::{
    HINT, MAX_COMPLAINTS, MAX_PENDING, MAX_REPLAY, MAX_REPLAY_BYTES, MAX_RESYNCS, MIN_PROTOCOL, PROTOCOL,
    REVISION, capability,
};
use domain::command::{Command, LibraryCommand, Refusal, RefusalKind, Target};
use domain::event::{Body, ContextEvent, Event, MessageEvent, SessionEvent};
use domain::grammar::Grammar;
use domain::ids::{EntryId, Millis, Seq, SessionId};
use domain::port::{Abilities, News, Ticket};
use domain::state::State;
use rolekit::first_line;
use roles::{
    Drift, HANDSHAKE_TIMEOUT, Hello, KNOCK_AFTER, Lane, Line, Reason, Seen, Tickets, TimerKey, UiCx, UiRole,
};
use std::sync::Arc;
use wire::lines::MAX_LINE;

const HANDSHAKE: TimerKey = TimerKey(1);
const KNOCK: TimerKey = TimerKey(2);

/// The UI's end of a native link. It may be opened again after the link was lost; it then resumes where it was.
#[derive(Debug, Default)]
pub struct NativeUi {
    peer: Option<HelloLine>,
    abilities: Option<Abilities>,
    session: Option<SessionId>,
    /// The tickets on the wire, and our side's for which they stand; `None` for a command of this role itself.
    pending: Tickets<Option<Ticket>>,
    coming: Option<Attached>,
    coming_bytes: usize,
    /// What the state must hash to once it stands there.
    due: Option<Cursor>,
    resume: Option<Cursor>,
    resyncs: u32,
    /// A runtime that took our greeting in silence was asked whether it is there, and has not complained of that yet.
    knocked: bool,
    /// How often the runtime was told that a line of it cannot be used.
    complaints: u32,
    /// The entry behind which the conversation goes on, as the lines so far have it.
    tip: Option<EntryId>,
    /// The laws that the session's events keep, from the first event on that was heard; none once one was broken, which is told once.
    laws: Laws,
    /// A session is begun where the peer shows none by itself.
    begins: bool,
    /// Whether the session that was named, or that we begin, is still to be shown.
    is_awaited: bool,
    /// What was said for it meanwhile.
    waiting: Vec<(Ticket, Command)>,
}

/// How the events of the session are held against the laws of the stream.
#[derive(Debug, Default)]
enum Laws {
    /// None came yet.
    #[default]
    Due,
    Watched(Box<Grammar>),
    /// One was broken, or the session is another than the one that our side knows.
    Off,
}

impl NativeUi {
    /// A role before its handshake.
    pub fn new() -> NativeUi {
        NativeUi::default()
    }

    /// A role of a UI that was there before and still has the session's state.
    pub fn resuming(cursor: Cursor) -> NativeUi {
        NativeUi { resume: Some(cursor), ..NativeUi::default() }
    }

    fn greeted(&mut self, cx: &mut UiCx<'_>, hello: HelloLine) {
        cx.cancel_timer(HANDSHAKE);
        cx.cancel_timer(KNOCK);
        if hello.protocol < MIN_PROTOCOL {
            let why = format!(
                "the runtime speaks protocol {}, the oldest we speak is {MIN_PROTOCOL}: update the runtime",
                hello.protocol
            );
            cx.close(Reason::Unusable(why));
            return;
        }
        // A bridge shows its session by itself, and may have done so already: what it told then is truer than a guess.
        self.abilities.get_or_insert_with(|| Abilities::all(format!("{} {}", hello.name, hello.version)));
        if self.begins
            && self.session.is_none()
            && hello.capabilities.iter().any(|can| can == capability::BEGINS)
        {
            let new = LibraryCommand::New { cwd: None, title: None, id: None };
            self.want(cx, None, Target::Current, Command::Library(new));
        } else if self.begins {
            // It shows one by itself, next.
            self.go_on(cx);
        }
        self.peer = Some(hello);
    }

    /// Says what waited for the session.
    fn go_on(&mut self, cx: &mut UiCx<'_>) {
        self.is_awaited = false;
        let target = self.session.clone().map_or(Target::Current, Target::Session);
        for (ticket, command) in std::mem::take(&mut self.waiting) {
            self.want(cx, Some(ticket), target.clone(), command);
        }
    }

    /// Refuses what waited for a session that will not be shown.
    fn give_up(&mut self, cx: &mut UiCx<'_>, refusal: &Refusal) {
        self.is_awaited = false;
        for (ticket, _) in std::mem::take(&mut self.waiting) {
            cx.settle(ticket, Err(refusal.clone()));
        }
    }

    fn attached(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, attached: Attached) {
        let Attached { at, current, replay, board, abilities } = attached;
        let replay = if current { seen.state.replay() } else { based(replay, at.seq) };
        self.tip = replay.iter().fold(None, |tip, (_, body)| tip_after(tip, body));
        self.laws = Laws::Due;
        self.session = Some(at.session.clone());
        self.abilities = Some(abilities.clone());
        let session = at.session.clone();
        self.expect(at);
        cx.news(News::Attached { session, replay, board, abilities });
        self.go_on(cx);
    }

    fn piece(&mut self, cx: &mut UiCx<'_>, replay: super::wire::Replay) {
        let Some(coming) = self.coming.as_mut().filter(|coming| coming.at.session == replay.session) else {
            return cx.drift(Drift::new("replay", "a piece of a replay that was not begun", ""));
        };
        self.coming_bytes += replay.items.iter().map(|(_, body)| body.weight()).sum::<usize>();
        if coming.replay.len() + replay.items.len() > MAX_REPLAY || self.coming_bytes > MAX_REPLAY_BYTES {
            self.coming = None;
            let why = format!("session {} is too large to be shown here", replay.session);
            cx.close(Reason::Unusable(why));
            return;
        }
        coming.replay.extend(replay.items);
    }

    fn settled(&mut self, cx: &mut UiCx<'_>, settled: Settled) {
        match (self.pending.take(settled.ticket), settled.with) {
            (Some(Some(ticket)), with) => cx.settle(ticket, with),
            (Some(None), Ok(_)) => {}
            (Some(None), Err(refusal)) => {
                cx.log(format!("runtime: {refusal}"));
                self.give_up(cx, &refusal);
            }
            (None, _) => {
                let raw = settled.ticket.0.to_string();
                cx.drift(Drift::new("settled", "nobody waits for this ticket", &raw));
            }
        }
    }

    fn want(&mut self, cx: &mut UiCx<'_>, ours: Option<Ticket>, target: Target, what: Command) {
        let full = self.pending.len() >= MAX_PENDING;
        let ticket = self.pending.issue(ours);
        let refusal = match wire::encode(&FromUi::Command(Wanted { ticket, target, what })) {
            _ if full => Refusal::new(RefusalKind::TooMany, "too many commands are under way")
                .hint("wait until the runtime answers"),
            Ok(line) if line.len() < MAX_LINE => return cx.send(line),
            Ok(_) => Refusal::new(RefusalKind::TooMany, "this is too large for one line")
                .hint("attach smaller files"),
            Err(why) => Refusal::new(RefusalKind::Internal, why.to_string()),
        };
        self.pending.take(ticket);
        if let Some(ours) = ours {
            cx.settle(ours, Err(refusal));
        }
    }

    fn complaint(&mut self, cx: &mut UiCx<'_>, complaint: Complaint) {
        let Complaint { about, ticket, message, hint } = complaint;
        let words = hint.as_ref().map_or_else(|| message.clone(), |hint| format!("{message}: {hint}"));
        match (about, ticket.and_then(|ticket| self.pending.take(ticket)).flatten()) {
            (_, Some(ticket)) => {
                let refusal = Refusal { kind: RefusalKind::Invalid, message, hint };
                cx.settle(ticket, Err(refusal));
            }
            (About::Hello, None) => self.unusable(cx, words),
            (About::Session, None) if self.session.is_none() => self.unusable(cx, words),
            // It is there, and slow.
            (About::Line, None) if std::mem::take(&mut self.knocked) => {}
            (About::Session | About::Line, None) => cx.log(format!("runtime: {words}")),
        }
    }

    /// Tells the runtime what is wrong with a line of it. Before its hello nobody knows whether it would understand.
    fn complain(&mut self, cx: &mut UiCx<'_>, message: &str) {
        if self.peer.is_none() || self.complaints >= MAX_COMPLAINTS {
            return;
        }
        self.complaints += 1;
        let (about, message, hint) = (About::Line, message.to_owned(), Some(HINT.to_owned()));
        if let Ok(line) = wire::encode(&FromUi::Error(Complaint { about, ticket: None, message, hint })) {
            cx.send(line);
        }
    }

    /// A line that cannot be read. One that was to show the session ends the link: all that is said here waits for it.
    fn unreadable(&mut self, cx: &mut UiCx<'_>, why: &str, text: &str) {
        self.complain(cx, why);
        let shows = ["attached", "attached_begin"].into_iter().find(|key| first_line::has(text, &[key]));
        match shows.filter(|_| self.session.is_none()) {
            Some(shows) => self.unusable(cx, format!("its line `{shows}` cannot be read: {why}")),
            None => cx.drift(Drift::new("line", why.to_owned(), text)),
        }
    }

    /// Takes an event on, unless it would begin another conversation unseen: then the link ends, and both sides hear why.
    fn happened(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, session: SessionId, event: Event) {
        if self.session.as_ref() == Some(&session) {
            self.judge(cx, seen, &event);
            if let (Some(tip), Some(name)) = (self.tip, rootless(&event.body)) {
                let why = format!(
                    "event {}, {name}: `parent` is missing: it is {} here, or what was said before would be gone from the screen",
                    event.seq.0, tip.0
                );
                self.complain(cx, &why);
                return self.unusable(cx, why);
            }
            self.tip = tip_after(self.tip, &event.body);
        }
        cx.news(News::Happened { session, event: Arc::new(event) });
    }

    /// Tells the runtime that an event breaks a law of the stream: whatever it names may not be there, and then it changes nothing here.
    fn judge(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, event: &Event) {
        if let Laws::Due = self.laws {
            // Only where our side has all that was told so far.
            let is_next = seen.state.seq.next() == event.seq;
            self.laws = if is_next { Laws::Watched(Box::new(Grammar::at(seen.state))) } else { Laws::Off };
        }
        let Laws::Watched(grammar) = &mut self.laws else { return };
        if let Err(broken) = grammar.follow(event) {
            self.laws = Laws::Off;
            self.complain(cx, &broken.to_string());
        }
    }

    /// The runtime does not want us, and says why: so does whoever waits for something of it hear why, and not only that it is gone.
    fn unusable(&mut self, cx: &mut UiCx<'_>, words: String) {
        let refusal = Refusal::new(RefusalKind::NotAllowed, words.as_str());
        self.give_up(cx, &refusal);
        for ticket in self.pending.drain().flatten() {
            cx.settle(ticket, Err(refusal.clone()));
        }
        cx.close(Reason::Unusable(words));
    }

    /// What the state must hash to. What a runtime tells before its hello, or without a hash, is not compared.
    fn expect(&mut self, at: Cursor) {
        self.due = Some(at).filter(|at| at.hash.is_some() && self.peer.is_some());
    }

    /// Compares what both sides say the state is; asks for the session again when they differ.
    fn compare(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>) {
        let Some(due) = self.due.take_if(|due| due.seq <= seen.state.seq) else { return };
        let same_place = due.seq == seen.state.seq && self.session.as_ref() == Some(&due.session);
        let revision = self.peer.as_ref().map_or(0, |peer| peer.revision);
        if !same_place || due == cursor(revision, &due.session, seen.state) {
            return;
        }
        let what = format!("at event {} both sides differ about {}", due.seq.0, due.session);
        cx.drift(Drift::new("hash", what, ""));
        if self.resyncs < MAX_RESYNCS {
            self.resyncs += 1;
            self.want(
                cx,
                None,
                Target::Current,
                Command::Library(LibraryCommand::Open { session: due.session }),
            );
        }
    }
}

/// A replay that ends with the number of the last event that it stands for: where it does not say so itself, `at` does.
fn based(mut replay: Vec<(Millis, Body)>, seq: Seq) -> Vec<(Millis, Body)> {
    if seq == Seq(0) || replay.iter().any(|(_, body)| matches!(body, Body::Rebased(_))) {
        return replay;
    }
    let mut state = State::new();
    for (at, body) in &replay {
        // What names nothing that is there changes nothing, here and where it is shown.
        let _ = state.apply(*at, body);
    }
    state.seq = seq;
    replay.extend(state.replay().pop());
    replay
}

/// Where the conversation goes on after this.
fn tip_after(tip: Option<EntryId>, body: &Body) -> Option<EntryId> {
    match body {
        Body::Message(MessageEvent::Started { message, .. }) => Some((*message).into()),
        Body::Context(ContextEvent::Compacted { entry, .. }) => Some(*entry),
        Body::Session(SessionEvent::LeafMoved { leaf }) => *leaf,
        _ => tip,
    }
}

/// The name of an event that goes on with a conversation and does not say behind what.
fn rootless(body: &Body) -> Option<&'static str> {
    match body {
        Body::Message(MessageEvent::Started { parent: None, .. }) => Some("message_started"),
        Body::Context(ContextEvent::Compacted { parent: None, .. }) => Some("compacted"),
        _ => None,
    }
}

impl UiRole for NativeUi {
    fn open(&mut self, cx: &mut UiCx<'_>, hello: &Hello) {
        let named = hello.session.as_deref().and_then(SessionId::parse);
        let answers = [capability::ANSWERS, capability::SHOWN].into_iter().filter(|_| !hello.is_mute);
        let capabilities = [capability::HASH, capability::CURSOR].into_iter().chain(answers);
        let line = HelloLine {
            protocol: PROTOCOL,
            revision: REVISION,
            name: "parlor".to_owned(),
            version: hello.version.clone(),
            capabilities: capabilities.map(str::to_owned).collect(),
            cursor: self.resume.take().filter(|at| named.as_ref().is_none_or(|named| at.session == *named)),
            session: named,
            rights: None,
        };
        let is_named = line.session.is_some() || line.cursor.is_some();
        self.begins = hello.begins && !is_named;
        self.is_awaited = hello.begins || is_named;
        (self.peer, self.coming, self.due, self.abilities) = (None, None, None, None);
        (self.tip, self.complaints, self.laws, self.knocked) = (None, 0, Laws::Due, false);
        cx.timer(HANDSHAKE, HANDSHAKE_TIMEOUT);
        cx.timer(KNOCK, KNOCK_AFTER);
        match wire::encode(&FromUi::Hello(line)) {
            Ok(line) => cx.send(line),
            Err(why) => cx.close(Reason::Unusable(why.to_string())),
        }
    }

    fn line(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, _lane: Lane, line: Line) {
        self.compare(cx, seen);
        let text = match line {
            Line::Text(text) => text,
            Line::Overlong(head) => {
                return self.unreadable(cx, &format!("longer than {MAX_LINE} bytes"), &head);
            }
            Line::Garbled(shown) => return self.unreadable(cx, "not UTF-8 text", &shown),
        };
        if text.trim().is_empty() {
            return;
        }
        let read = wire::depth::check(&text).map_err(|deep| deep.to_string());
        let read =
            read.and_then(|()| serde_json::from_str::<FromRuntime>(&text).map_err(|error| error.to_string()));
        let line = match read {
            Ok(line) => line,
            Err(why) => return self.unreadable(cx, &why, &text),
        };
        match line {
            FromRuntime::Hello(hello) => self.greeted(cx, hello),
            FromRuntime::Settled(settled) => self.settled(cx, settled),
            FromRuntime::Attached(attached) => self.attached(cx, seen, attached),
            FromRuntime::AttachedBegin(attached) => (self.coming, self.coming_bytes) = (Some(attached), 0),
            FromRuntime::Replay(replay) => self.piece(cx, replay),
            FromRuntime::AttachedEnd(named) => {
                if let Some(coming) = self.coming.take_if(|coming| coming.at.session == named.session) {
                    self.attached(cx, seen, coming);
                }
            }
            FromRuntime::Detached(named) => {
                if self.session.as_ref() == Some(&named.session) {
                    (self.session, self.due) = (None, None);
                }
            }
            FromRuntime::Event(happened) => self.happened(cx, seen, happened.session, happened.event),
            FromRuntime::Signal(said) => {
                let (session, signal) = (said.session, said.signal);
                cx.news(News::Signal { session, signal });
            }
            FromRuntime::Hash(at) => {
                if self.session.as_ref() == Some(&at.session) {
                    self.expect(at);
                    self.compare(cx, seen);
                }
            }
            // Asked for by those who gather the fleet, never by this role.
            FromRuntime::Fleet(_) => cx.drift(Drift::new("fleet", "nobody asked for it here", "")),
            FromRuntime::Error(complaint) => self.complaint(cx, complaint),
        }
    }

    fn command(&mut self, cx: &mut UiCx<'_>, _seen: Seen<'_>, ticket: Ticket, command: Command) {
        // What goes to a session or looks for one is not meant in any.
        if self.is_awaited && !matches!(command, Command::Library(_)) {
            if self.waiting.len() < MAX_PENDING {
                return self.waiting.push((ticket, command));
            }
            let refusal = Refusal::new(RefusalKind::TooMany, "too many commands wait for the session");
            return cx.settle(ticket, Err(refusal.hint("wait until it is shown")));
        }
        let target = self.session.clone().map_or(Target::Current, Target::Session);
        self.want(cx, Some(ticket), target, command);
    }

    fn command_in(
        &mut self,
        cx: &mut UiCx<'_>,
        _seen: Seen<'_>,
        session: &SessionId,
        ticket: Ticket,
        command: Command,
    ) {
        self.want(cx, Some(ticket), Target::Session(session.clone()), command);
    }

    fn timer(&mut self, cx: &mut UiCx<'_>, _seen: Seen<'_>, key: TimerKey) {
        if key == KNOCK && self.peer.is_none() {
            // A runtime of JSON-RPC says nothing to a greeting without an id, and refuses this one.
            self.knocked = true;
            return cx.send(KNOCK_LINE.to_owned());
        }
        if key == HANDSHAKE && self.peer.is_none() {
            let why = "the runtime does not answer in the native dialect: is it another dialect?";
            cx.close(Reason::Unusable(why.to_owned()));
        }
    }

    fn closed(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>) {
        let unsaid = Refusal::new(RefusalKind::Lost, "the runtime went away before it heard this");
        self.give_up(cx, &unsaid.hint("say it again when it is back"));
        for ticket in self.pending.drain().flatten() {
            let refusal = Refusal::new(RefusalKind::Lost, "the runtime went away before it answered");
            cx.settle(ticket, Err(refusal.hint("look whether it was done before you try again")));
        }
        self.resume = self.session.as_ref().map(|session| cursor(REVISION, session, seen.state));
        self.coming = None;
    }

    fn abilities(&self) -> Option<Abilities> {
        self.peer.as_ref().and(self.abilities.clone())
    }
}
