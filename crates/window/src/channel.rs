//! The connections of the page in a window: it opens them, reads what came and says what it has to say. A read waits until there is
//! something, so that what a slow page does not read stays where it came from.
//!
//! Invariants: lines go on in their order and as they are; neither side's lines pile up here; nothing is opened beyond a bound; what the
//! page has closed, or had open before it was loaded anew, is gone.

use crate::finder::{Finder, Refused, STOPPED};
use link::{Incoming, Lane, LinkIo, Outgoing};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{Mutex as AsyncMutex, watch};
use wire::lines::Frame;

/// Connections that may be open at once: a page has one for the fleet and one for each session that it shows.
pub const MAX_CONNECTIONS: usize = 64;
/// Bytes that are told at once, but for a single line that is longer.
pub const MAX_TOLD: usize = 256 * 1024;
/// The page lost its connection, and nobody said why.
const LOST: u16 = 1006;
/// The server ends, and says so in words.
const LEAVES: u16 = 1001;
/// What was wanted cannot be had.
const NOT_HAD: u16 = 4404;
/// How the last line begins, which alone is no JSON.
const END: &str = "end ";

/// What the page is told of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Heard {
    pub lines: Vec<String>,
    /// Nothing comes after this.
    pub end: Option<TheEnd>,
}

/// How a connection ended, in the words of a browser's socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TheEnd {
    pub code: u16,
    pub reason: String,
}

/// All connections of the page.
#[derive(Debug)]
pub struct Channel {
    finder: Arc<Finder>,
    all: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    number: u32,
    open: BTreeMap<u32, Arc<Connection>>,
}

#[derive(Debug)]
struct Connection {
    out: Outgoing,
    link: AsyncMutex<Inbox>,
    closed: watch::Sender<bool>,
}

#[derive(Debug)]
struct Inbox {
    link: LinkIo,
    /// Heard, and not told yet.
    late: Option<String>,
}

impl Channel {
    /// One whose connections this finder finds.
    pub fn new(finder: Arc<Finder>) -> Channel {
        Channel { finder, all: Mutex::default() }
    }

    fn all(&self) -> MutexGuard<'_, Open> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a connection for what the page wants, which goes to the server as it is; gives its number.
    ///
    /// # Errors
    /// When there are too many, or the server cannot be reached: what the page is told instead.
    pub async fn open(&self, wants: &Value) -> Result<u32, Heard> {
        let full = || Heard::of(&Refused::new("too_many", "too many sessions are open in this window", ""));
        if self.all().open.len() >= MAX_CONNECTIONS {
            return Err(full());
        }
        let link = self.finder.reach().await.map_err(|refused| Heard::of(&refused))?;
        // A link that is new has room.
        let _ = link.outgoing.try_send(Lane::MAIN, json!({"window": {"wants": wants}}).to_string());
        let connection = Connection {
            out: link.outgoing.clone(),
            link: AsyncMutex::new(Inbox { link, late: None }),
            closed: watch::Sender::new(false),
        };
        let mut all = self.all();
        if all.open.len() >= MAX_CONNECTIONS {
            return Err(full());
        }
        all.number = all.number.wrapping_add(1);
        let number = all.number;
        all.open.insert(number, Arc::new(connection));
        Ok(number)
    }

    fn find(&self, number: u32) -> Option<Arc<Connection>> {
        self.all().open.get(&number).cloned()
    }

    /// Waits until there is something to tell of a connection; one that is not there has ended.
    pub async fn read(&self, number: u32) -> Heard {
        let Some(connection) = self.find(number) else { return Heard::lost() };
        let mut closed = connection.closed.subscribe();
        let heard = tokio::select! {
            biased;
            _ = closed.wait_for(|closed| *closed) => Heard::lost(),
            heard = connection.hear() => heard,
        };
        if heard.end.is_some() {
            self.close(number);
        }
        heard
    }

    /// Says these lines, one after the other; waits until there is room for them. False when nobody hears them.
    pub async fn send(&self, number: u32, lines: Vec<String>) -> bool {
        let Some(connection) = self.find(number) else { return false };
        for line in lines {
            connection.out.room_for(line.len()).await;
            if connection.out.try_send(Lane::MAIN, line).is_err() {
                return false;
            }
        }
        true
    }

    /// The page no longer wants a connection.
    pub fn close(&self, number: u32) {
        if let Some(connection) = self.all().open.remove(&number) {
            connection.closed.send_replace(true);
        }
    }

    /// The page is loaded anew, or gone.
    pub fn close_all(&self) {
        for connection in std::mem::take(&mut self.all().open).into_values() {
            connection.closed.send_replace(true);
        }
    }
}

impl Connection {
    /// What came, as much as is told at once.
    async fn hear(&self) -> Heard {
        let mut inbox = self.link.lock().await;
        let mut heard = Heard::default();
        let mut bytes = 0;
        loop {
            // What is late was heard by the last read and had no room in it. Only for the first line is it worth to wait.
            let next = match (inbox.late.take(), heard.lines.is_empty()) {
                (Some(line), _) => Some(Incoming::Frame { lane: Lane::MAIN, frame: Frame::Line(line) }),
                (None, true) => inbox.link.incoming.recv().await,
                (None, false) => match inbox.link.incoming.try_recv() {
                    Ok(next) => Some(next),
                    Err(TryRecvError::Empty) => return heard,
                    Err(TryRecvError::Disconnected) => None,
                },
            };
            match next {
                Some(Incoming::Frame { frame: Frame::Line(line), .. }) => match TheEnd::read(&line) {
                    Some(end) => {
                        heard.end = Some(end);
                        return heard;
                    }
                    None if !heard.lines.is_empty() && bytes + line.len() > MAX_TOLD => {
                        inbox.late = Some(line);
                        return heard;
                    }
                    None => {
                        bytes += line.len();
                        heard.lines.push(line);
                    }
                },
                Some(Incoming::Frame { .. }) => {}
                Some(Incoming::Closed { .. }) | None => {
                    heard.end = Some(TheEnd { code: LOST, reason: String::new() });
                    return heard;
                }
            }
        }
    }
}

impl TheEnd {
    /// What the last line says; `None` for every other line.
    fn read(line: &str) -> Option<TheEnd> {
        let (code, reason) = line.strip_prefix(END)?.split_once(' ')?;
        Some(TheEnd { code: code.parse().ok()?, reason: reason.to_owned() })
    }
}

impl Heard {
    fn lost() -> Heard {
        Heard { lines: Vec::new(), end: Some(TheEnd { code: LOST, reason: String::new() }) }
    }

    /// What is told in the place of a connection. What passes by itself is no word for the person.
    fn of(refused: &Refused) -> Heard {
        let end = |code| Some(TheEnd { code, reason: refused.message.clone() });
        if refused.passes() {
            return Heard {
                lines: Vec::new(),
                end: end(if refused.code == STOPPED { LEAVES } else { LOST }),
            };
        }
        Heard { lines: vec![json!({"refused": refused}).to_string()], end: end(NOT_HAD) }
    }
}

#[cfg(test)]
mod tests;
