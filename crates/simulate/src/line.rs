//! The way between a UI and a process: on the native wire, or in one process with it. What comes over it is the same in both.

use domain::command::{Command, Receipt, Refusal, Target};
use domain::event::{Body, Event};
use domain::ids::{Millis, SessionId};
use domain::port::{News, Ticket};
use domain::signal::{Board, Signal, UNSAVED};
use hub::LocalUi;
use link::{Incoming, Lane, LinkIo};
use native::wire::{Cursor, FromRuntime, FromUi, Hello, Wanted};
use std::sync::Arc;
use wire::lines::Frame;

/// What a UI hears.
pub(crate) enum Heard {
    Attached {
        session: SessionId,
        /// `None`: what the UI knows is all of it.
        replay: Option<Vec<(Millis, Body)>>,
        at: Option<Cursor>,
        unsaved: bool,
    },
    Detached(SessionId),
    Happened(SessionId, Arc<Event>),
    /// Whether what happens is saved, from here on.
    Unsaved(SessionId, bool),
    Settled(Ticket, Box<Result<Receipt, Refusal>>),
    Hash(Cursor),
    /// It was not let where it wanted to go.
    Refused,
    Nothing,
}

/// An open connection.
pub(crate) enum Connection {
    Wire(Box<LinkIo>),
    Local(LocalUi),
}

impl Connection {
    /// The next thing that is heard; `None` when the connection is over.
    pub(crate) async fn hears(&mut self) -> Option<Heard> {
        match self {
            Connection::Local(ui) => ui.news.recv().await.map(of_news),
            Connection::Wire(link) => match link.incoming.recv().await? {
                Incoming::Frame { frame: Frame::Line(line), .. } => Some(of_line(&line)),
                Incoming::Frame { .. } => Some(Heard::Nothing),
                Incoming::Closed { .. } => None,
            },
        }
    }

    /// Gives a command; whether it could.
    pub(crate) async fn says(&self, ticket: Ticket, target: Target, command: Command) -> bool {
        match self {
            Connection::Local(ui) => ui.port.command(ticket, target, command).await.is_ok(),
            Connection::Wire(link) => send(link, &FromUi::Command(Wanted { ticket, target, what: command })),
        }
    }

    /// Says hello, where that is said; whether it could.
    pub(crate) fn greets(&self, session: Option<SessionId>, cursor: Option<Cursor>) -> bool {
        let Connection::Wire(link) = self else { return true };
        let capabilities = ["hash", "cursor", "answers"].map(str::to_owned).to_vec();
        let (protocol, revision) = (native::PROTOCOL, native::REVISION);
        let (name, version, rights) = ("simulated".to_owned(), String::new(), None);
        let hello = Hello { protocol, revision, name, version, capabilities, session, cursor, rights };
        send(link, &FromUi::Hello(hello))
    }
}

fn send(link: &LinkIo, line: &FromUi) -> bool {
    serde_json::to_string(line).is_ok_and(|line| link.outgoing.try_send(Lane::MAIN, line).is_ok())
}

fn unsaved(board: &Board) -> bool {
    board.status.contains_key(UNSAVED)
}

fn of_signal(session: SessionId, signal: &Signal) -> Heard {
    match signal {
        Signal::Status { key, text } if key == UNSAVED => Heard::Unsaved(session, text.is_some()),
        _ => Heard::Nothing,
    }
}

fn of_news(news: News) -> Heard {
    match news {
        News::Attached { session, replay, board, .. } => {
            let unsaved = unsaved(&board);
            Heard::Attached { session, replay: Some(replay), at: None, unsaved }
        }
        News::Happened { session, event } => Heard::Happened(session, event),
        News::Signal { session, signal } => of_signal(session, &signal),
        News::Settled { ticket, with } => Heard::Settled(ticket, Box::new(with)),
        News::Link(_) => Heard::Nothing,
    }
}

fn of_line(line: &str) -> Heard {
    match serde_json::from_str::<FromRuntime>(line) {
        Ok(FromRuntime::Attached(attached)) => Heard::Attached {
            session: attached.at.session.clone(),
            replay: (!attached.current).then_some(attached.replay),
            at: Some(attached.at),
            unsaved: unsaved(&attached.board),
        },
        Ok(FromRuntime::Detached(named)) => Heard::Detached(named.session),
        Ok(FromRuntime::Event(happened)) => Heard::Happened(happened.session, Arc::new(happened.event)),
        Ok(FromRuntime::Signal(said)) => of_signal(said.session, &said.signal),
        Ok(FromRuntime::Settled(settled)) => Heard::Settled(settled.ticket, Box::new(settled.with)),
        Ok(FromRuntime::Hash(at)) => Heard::Hash(at),
        Ok(FromRuntime::Error(_)) => Heard::Refused,
        Ok(_) => Heard::Nothing,
        Err(_) => Heard::Refused,
    }
}
