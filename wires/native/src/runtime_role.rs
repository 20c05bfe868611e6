//! We play the runtime of a native UI.
//!
//! States: before hello (only a hello is taken), then greeted for good. Every command of the peer is settled exactly once: by the
//! hub, or at once with a refusal. A line that cannot be used is answered and never ends the link, except a hello in a protocol
//! that we do not speak.

use super::wire::{
    About, Attached, Complaint, Cursor, FleetNews, FleetWatch, FromRuntime, FromUi, Happened, Hello,
    KNOCK_LINE, Named, Replay, Said, Settled, TicketOnly, Wanted,
};
use super::{
    ATTACH_BYTES, HASH_EVERY, MAX_PENDING, MIN_PROTOCOL, PROTOCOL, REVISION, TOLD_RIGHTS, WRITTEN_HASHES,
    capability,
};
use domain::command::{Command, LibraryCommand, Receipt, Refusal, RefusalKind, Target};
use domain::event::{Body, Event, RunEvent};
use domain::fleet::FleetChange;
use domain::ids::{Millis, SessionId};
use domain::port::{Abilities, Ticket};
use domain::rights::Standing;
use domain::session::ModelRef;
use domain::signal::{Signal, UNSAVED};
use domain::state::State;
use roles::{Answers, Drift, Greeting, Item, Lane, Line, Reason, RuntimeCx, RuntimeRole, Tickets, View};
use wire::lines::MAX_LINE;

/// The runtime's end of a native link.
#[derive(Debug, Default)]
pub struct NativeRuntime {
    version: String,
    /// The model of sessions that have chosen none.
    model: Option<ModelRef>,
    /// Whether a UI that names no session is shown none until it asks.
    begins: bool,
    /// The most that whoever comes by this connection may do.
    standing: Standing,
    peer: Option<Peer>,
    /// How far a session was shown before the hello, with a hash of nobody's revision but ours: it is told once the peer has said that it
    /// has the same.
    shown_early: Option<Cursor>,
    pending: Tickets<Origin>,
    rate: wire::Rate,
    /// What the runtime behind us can do, where we were told.
    behind: Option<Abilities>,
    /// What it said in the place of a greeting, until the peer can hear it.
    odd: Option<String>,
    /// Why it is gone, when it went before that.
    gone: Option<String>,
}

#[derive(Debug)]
struct Peer {
    revision: u32,
    capabilities: Vec<String>,
    cursor: Option<Cursor>,
    /// What it wants to be held to.
    rights: Option<Standing>,
}

impl Peer {
    fn can(&self, name: &str) -> bool {
        self.capabilities.iter().any(|c| c == name)
    }
}

/// Who waits for a settlement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The peer, under this ticket of its own.
    Peer(Ticket),
    /// The session that the hello named.
    Hello,
}

impl NativeRuntime {
    /// A role before its handshake.
    pub fn new() -> NativeRuntime {
        NativeRuntime::default()
    }

    fn hello(&mut self, cx: &mut RuntimeCx<'_>, hello: Hello) {
        if self.peer.is_some() {
            complain(cx, About::Line, None, "hello was said already", None);
            return;
        }
        if hello.protocol < MIN_PROTOCOL {
            let message =
                format!("protocol {} is no longer spoken; the oldest is {MIN_PROTOCOL}", hello.protocol);
            complain(cx, About::Hello, None, &message, Some("update the UI"));
            cx.close(Reason::Unusable(message));
            return;
        }
        let mut capabilities = [capability::HASH, capability::CURSOR, capability::FLEET].to_vec();
        capabilities.extend(self.begins.then_some(capability::BEGINS));
        let capabilities = capabilities.into_iter().map(str::to_owned).collect();
        let given = self.standing.lowered_to(hello.rights.unwrap_or_default());
        let ours = Hello {
            protocol: PROTOCOL,
            revision: REVISION,
            name: "parlor".to_owned(),
            version: self.version.clone(),
            capabilities,
            session: None,
            cursor: None,
            rights: Some(given).filter(|given| hello.rights.is_some() || *given != Standing::Controller),
        };
        send(cx, &FromRuntime::Hello(ours));
        let hashes =
            hello.revision >= WRITTEN_HASHES && hello.capabilities.iter().any(|can| can == capability::HASH);
        if let Some(at) = self.shown_early.take().filter(|_| hashes) {
            send(cx, &FromRuntime::Hash(at));
        }
        let wanted = hello.session.or_else(|| hello.cursor.as_ref().map(|cursor| cursor.session.clone()));
        let Hello { revision, capabilities, cursor, rights, .. } = hello;
        self.peer = Some(Peer { revision, capabilities, cursor, rights });
        if let Some(odd) = self.odd.take().filter(|_| self.behind.is_none()) {
            complain(cx, About::Line, None, &odd, None);
        }
        if let Some(why) = &self.gone {
            return complain(cx, About::Session, None, why, None);
        }
        if let Some(session) = wanted {
            let command = Command::Library(LibraryCommand::Open { session });
            self.pending.command(cx, Target::Current, command, Origin::Hello);
        }
    }

    fn wanted(&mut self, cx: &mut RuntimeCx<'_>, wanted: Wanted) {
        let Wanted { ticket, target, what } = wanted;
        let refusal = if self.peer.is_none() {
            Some(Refusal::new(RefusalKind::Invalid, "a command came before hello").hint("say hello first"))
        } else if self.pending.values().any(|origin| *origin == Origin::Peer(ticket)) {
            let what = "a command with this ticket is still under way";
            complain(cx, About::Line, None, &format!("ticket {}: {what}", ticket.0), None);
            return;
        } else if self.pending.len() >= MAX_PENDING {
            Some(Refusal::new(RefusalKind::TooMany, "too many commands are under way").hint("wait for some"))
        } else if !self.rate.allow(cx.now.0) {
            Some(Refusal::new(RefusalKind::TooMany, "too many commands per second").hint("slow down"))
        } else {
            None
        };
        if let Some(refusal) = refusal {
            send(cx, &FromRuntime::Settled(Settled { ticket, with: Err(refusal) }));
            return;
        }
        self.pending.command(cx, target, what, Origin::Peer(ticket));
    }

    fn watch_fleet(&mut self, cx: &mut RuntimeCx<'_>, alone: bool) {
        if self.peer.is_none() {
            return complain(cx, About::Line, None, "watch_fleet came before hello", Some("say hello first"));
        }
        if !self.rate.allow(cx.now.0) {
            return complain(cx, About::Line, None, "too many lines per second", Some("slow down"));
        }
        cx.watch_fleet(alone);
    }

    fn unreadable(&mut self, cx: &mut RuntimeCx<'_>, text: &str, why: &str) {
        let ticket = serde_json::from_str::<TicketOnly>(text).ok().map(|only| only.command.ticket);
        // A ticket that is under way belongs to another command: its settlement is still to come.
        let ticket = ticket.filter(|t| !self.pending.values().any(|origin| *origin == Origin::Peer(*t)));
        cx.drift(Drift::new("line", why.to_owned(), text));
        complain(cx, About::Line, ticket, why, Some(super::HINT));
    }

    /// Where a session stands, as the peer hashes it. One that has not greeted yet may be of any revision: the first always has a hash.
    fn cursor(&self, view: View<'_>) -> Cursor {
        cursor(self.peer.as_ref().map_or(0, |peer| peer.revision), view.session, view.state)
    }

    /// Notes what is shown to a peer that has not greeted.
    fn show_early(&mut self, view: View<'_>) {
        if self.peer.is_none() {
            self.shown_early = Some(cursor(REVISION, view.session, view.state));
        }
    }

    fn told_abilities(&self) -> Abilities {
        let told = self.behind.clone();
        let told = told.unwrap_or_else(|| Abilities::all(format!("parlor {}", self.version)));
        Abilities { model: told.model.or_else(|| self.model.clone()), ..told }
    }
}

impl RuntimeRole for NativeRuntime {
    fn open(&mut self, _cx: &mut RuntimeCx<'_>, greeting: &Greeting) {
        self.version.clone_from(&greeting.version);
        let model = greeting.model.as_ref();
        self.model =
            model.map(|(provider, name)| ModelRef { provider: provider.clone(), name: name.clone() });
        self.begins = !greeting.follows && !greeting.shows_session;
        self.standing = greeting.standing;
    }

    fn abilities(&mut self, cx: &mut RuntimeCx<'_>, view: Option<View<'_>>, abilities: &Abilities) -> bool {
        if self.behind.as_ref() == Some(abilities) {
            return false;
        }
        self.behind = Some(abilities.clone());
        if let Some(view) = view {
            // They are part of how a session is shown.
            self.attached(cx, view);
        }
        view.is_some()
    }

    fn odd(&mut self, cx: &mut RuntimeCx<'_>, what: &str) {
        match self.peer {
            Some(_) => complain(cx, About::Line, None, what, None),
            None => self.odd = Some(what.to_owned()),
        }
    }

    fn lost(&mut self, cx: &mut RuntimeCx<'_>, why: &str) {
        let why = format!("the runtime is gone: {why}");
        if self.peer.is_some() {
            complain(cx, About::Session, None, &why, None);
        }
        self.gone = Some(why);
    }

    fn line(&mut self, cx: &mut RuntimeCx<'_>, _lane: Lane, line: Line) {
        let text = match line {
            Line::Text(text) => text,
            Line::Overlong(head) => {
                let why = format!("the line is longer than {MAX_LINE} bytes");
                return self.unreadable(cx, &head, &why);
            }
            Line::Garbled(shown) => return self.unreadable(cx, &shown, "the line is not UTF-8 text"),
        };
        if text.trim().is_empty() {
            return;
        }
        if let Err(deep) = wire::depth::check(&text) {
            return self.unreadable(cx, &text, &deep.to_string());
        }
        match serde_json::from_str::<FromUi>(&text) {
            Ok(FromUi::Hello(hello)) => self.hello(cx, hello),
            Ok(FromUi::Command(wanted)) => self.wanted(cx, wanted),
            Ok(FromUi::WatchFleet(FleetWatch { alone })) => self.watch_fleet(cx, alone),
            // It is not answered, or two sides that do not understand each other would never stop.
            Ok(FromUi::Error(complaint)) => {
                cx.log(format!("the UI could not use a line: {}", complaint.message));
            }
            Err(_) if text == KNOCK_LINE => {}
            Err(error) => self.unreadable(cx, &text, &error.to_string()),
        }
    }

    fn attached(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>) {
        let at = self.cursor(view);
        self.show_early(view);
        // A cursor is good for the first attachment only: afterwards the peer knows more than it says.
        let known = self.peer.as_mut().and_then(|peer| peer.cursor.take());
        let (board, abilities) = (view.board.clone(), self.told_abilities());
        if known.is_some_and(|known| known.hash.is_some() && known == at) {
            let attached = Attached { at, current: true, replay: Vec::new(), board, abilities };
            return send(cx, &FromRuntime::Attached(attached));
        }
        let head = |replay| Attached { at, current: false, replay, board, abilities };
        let mut pieces = pieces(view.state.replay());
        if pieces.len() <= 1 {
            return send(cx, &FromRuntime::Attached(head(pieces.pop().unwrap_or_default())));
        }
        let session = view.session.clone();
        send(cx, &FromRuntime::AttachedBegin(head(Vec::new())));
        for items in pieces {
            send(cx, &FromRuntime::Replay(Replay { session: session.clone(), items }));
        }
        send(cx, &FromRuntime::AttachedEnd(Named { session }));
    }

    fn detached(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId) {
        send(cx, &FromRuntime::Detached(Named { session: session.clone() }));
    }

    fn event(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, event: &Event) {
        let session = view.session.clone();
        self.show_early(view);
        send(cx, &FromRuntime::Event(Happened { session, event: event.clone() }));
        let due =
            event.seq.0.is_multiple_of(HASH_EVERY) || matches!(event.body, Body::Run(RunEvent::Ended { .. }));
        let wants = self.peer.as_ref().is_some_and(|peer| peer.can(capability::HASH));
        // When this link lags, the state is ahead of what was told and its hash would mean nothing there; nor does it where what is told
        // is not the record.
        let is_kept = !view.board.status.contains_key(UNSAVED);
        if due && wants && is_kept && view.state.seq == event.seq {
            send(cx, &FromRuntime::Hash(self.cursor(view)));
        }
    }

    fn signal(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, signal: &Signal) {
        send(cx, &FromRuntime::Signal(Said { session: view.session.clone(), signal: signal.clone() }));
    }

    fn settled(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        _view: Option<View<'_>>,
        ticket: Ticket,
        with: Result<Receipt, Refusal>,
    ) {
        match (self.pending.take(ticket), with) {
            (Some(Origin::Peer(ticket)), with) => send(cx, &FromRuntime::Settled(Settled { ticket, with })),
            (Some(Origin::Hello), Err(refusal)) => {
                complain(cx, About::Session, None, &refusal.message, refusal.hint.as_deref());
            }
            (Some(Origin::Hello), Ok(_)) => {}
            (None, _) => cx.log("native: a settlement nobody waits for"),
        }
    }

    fn fleet(&mut self, cx: &mut RuntimeCx<'_>, change: FleetChange) {
        let FleetChange { all, members, closed } = change;
        send(cx, &FromRuntime::Fleet(FleetNews { all, members, closed }));
    }

    fn closed(&mut self, _cx: &mut RuntimeCx<'_>) {
        drop(self.pending.drain());
    }

    fn rights(&self) -> Option<Standing> {
        let peer = self.peer.as_ref()?;
        // One of before may come through a relay of before, which holds it to less and tells nobody.
        peer.rights.or_else(|| (peer.revision >= TOLD_RIGHTS).then_some(Standing::Controller))
    }

    fn comes_back(&self) -> bool {
        true
    }

    fn can_answer(&self) -> Answers {
        match &self.peer {
            Some(peer) if peer.can(capability::ANSWERS) => {
                Answers { says_shown: peer.can(capability::SHOWN), ..Answers::ALL }
            }
            Some(_) | None => Answers::NONE,
        }
    }
}

/// Where a session stands, with the hash of a side that says this revision.
pub(super) fn cursor(revision: u32, session: &SessionId, state: &State) -> Cursor {
    let hash = if revision >= WRITTEN_HASHES { state.hash() } else { state.hash_of_revision_1() };
    Cursor { session: session.clone(), seq: state.seq, hash: Some(hash.to_string()) }
}

/// Cuts a replay so that each piece makes a line of a bearable size; a single large body is a piece of its own.
fn pieces(replay: Vec<(Millis, Body)>) -> Vec<Vec<(Millis, Body)>> {
    let mut pieces = Vec::new();
    let (mut piece, mut size) = (Vec::new(), 0);
    for told in replay {
        let bytes = record::encode(&told).len() + 1;
        if size + bytes > ATTACH_BYTES && !piece.is_empty() {
            pieces.push(std::mem::take(&mut piece));
            size = 0;
        }
        size += bytes;
        piece.push(told);
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

fn complain(cx: &mut RuntimeCx<'_>, about: About, ticket: Option<Ticket>, message: &str, hint: Option<&str>) {
    let hint = hint.map(str::to_owned);
    send(cx, &FromRuntime::Error(Complaint { about, ticket, message: message.to_owned(), hint }));
}

/// Sends a line; one that the peer's framing would skip is told as a loss instead, and one that cannot be written as an error.
fn send(cx: &mut RuntimeCx<'_>, line: &FromRuntime) {
    match wire::encode(line) {
        Ok(text) if text.len() < MAX_LINE => return cx.send(text),
        Ok(_) => {}
        Err(why) => {
            let error = serde_json::json!({ "about": "line", "message": why.to_string() });
            return cx.send(serde_json::json!({ "error": error }).to_string());
        }
    }
    match line {
        FromRuntime::Settled(settled) => {
            let refusal = Refusal::new(RefusalKind::TooMany, "the answer is too large for one line")
                .hint("ask for less, or write it to a file on the runtime's side");
            send(cx, &FromRuntime::Settled(Settled { ticket: settled.ticket, with: Err(refusal) }));
        }
        FromRuntime::Event(_) | FromRuntime::Replay(_) | FromRuntime::Attached(_) => {
            cx.loss(Item::MessageText, "an event is too large for one line");
        }
        FromRuntime::Hello(_)
        | FromRuntime::AttachedBegin(_)
        | FromRuntime::AttachedEnd(_)
        | FromRuntime::Detached(_)
        | FromRuntime::Signal(_)
        | FromRuntime::Hash(_)
        | FromRuntime::Fleet(_)
        | FromRuntime::Error(_) => cx.loss(Item::Notify, "a word is too large for one line"),
    }
}
