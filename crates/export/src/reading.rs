//! Taking a session back from text that anybody may have written: nothing in it is believed before it is checked.

use crate::records::{FORMAT, Head, MARK};
use domain::event::{AskEvent, Body, Event, Outcome, SessionEvent};
use domain::grammar::Grammar;
use domain::ids::Millis;
use domain::state::State;
use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;

/// The longest text that is taken, in bytes.
pub const MAX_IMPORT: usize = 256 * 1024 * 1024;

/// Where an imported session works. What the file says about that belongs to another time or machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// Its working directory.
    pub cwd: String,
    pub project: String,
}

/// A session that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The id it had.
    pub was: String,
    pub title: String,
    /// What happened, numbered from 1. Nothing is open after the last.
    pub events: Vec<Event>,
    /// Their fold.
    pub state: State,
    /// How many events the file should have had and has not: it was cut.
    pub missing: u64,
}

/// Why a text is not a session.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotASession {
    /// It is something else.
    #[error(
        "this is not a session that Parlor has written; `parlor sessions export ID --format jsonl` writes one"
    )]
    Foreign,
    /// A newer version wrote it.
    #[error(
        "this session was written by a newer version (format {found}, known up to {known}); update Parlor"
    )]
    Newer {
        /// Its format.
        found: u32,
        /// Ours.
        known: u32,
    },
    #[error("this is longer than {MAX_IMPORT} bytes")]
    TooLong,
    /// An event cannot be read.
    #[error("event {number} cannot be read: {detail}")]
    Unreadable {
        /// Which, counted from 1.
        number: u64,
        detail: String,
    },
    /// An event does not follow from those before it.
    #[error("event {number} does not fit what came before it: {detail}")]
    Unfit {
        /// Which, counted from 1.
        number: u64,
        detail: String,
    },
    /// There is nothing in it.
    #[error("there is nothing in it")]
    Empty,
}

#[derive(Deserialize)]
struct Whole {
    #[serde(flatten)]
    head: Head,
    log: Vec<Box<RawValue>>,
}

/// Takes back what [`crate::jsonl`] or [`crate::saved`] wrote, as a session of its own that works in `place`.
///
/// # Errors
/// When it is something else, of a newer version, or not a lawful stream; the error names the event.
pub fn read(text: &str, place: &Destination) -> Result<Import, NotASession> {
    if text.len() > MAX_IMPORT {
        return Err(NotASession::TooLong);
    }
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    if let Some(head) = lines.next().and_then(|line| serde_json::from_str::<Head>(line).ok()) {
        check(&head)?;
        // A last line without its end was cut; everything before it is good.
        let cut = (!text.ends_with('\n')).then(|| lines.clone().count() as u64);
        return take(&head, lines, cut, place);
    }
    let whole: Whole = serde_json::from_str(text).map_err(|_| NotASession::Foreign)?;
    check(&whole.head)?;
    take(&whole.head, whole.log.iter().map(|raw| raw.get()), None, place)
}

fn check(head: &Head) -> Result<(), NotASession> {
    if head.format != MARK {
        return Err(NotASession::Foreign);
    }
    let newer = |found, known| Err(NotASession::Newer { found, known });
    match (head.version, head.records) {
        (found, _) if found > FORMAT => newer(found, FORMAT),
        (_, found) if found > record::VERSION => newer(found, record::VERSION),
        _ => Ok(()),
    }
}

fn take<'a>(
    head: &Head,
    records: impl Iterator<Item = &'a str>,
    cut: Option<u64>,
    place: &Destination,
) -> Result<Import, NotASession> {
    let mut taken = Taken { grammar: Grammar::new(), state: State::new(), events: Vec::new() };
    let mut found = 0;
    for record in records {
        found += 1;
        let event = match record::decode::<Event>(record) {
            Ok(event) => event,
            Err(_) if cut == Some(found) => {
                found -= 1;
                break;
            }
            Err(error) => return Err(NotASession::Unreadable { number: found, detail: error.detail }),
        };
        let Some(body) = granted(event.body, place) else { continue };
        taken.push(event.at, body).map_err(|detail| NotASession::Unfit { number: found, detail })?;
    }
    let last = taken.state.updated_at;
    // Whoever asked is gone: what is open here can never be answered.
    for body in taken.state.close_run(Outcome::Interrupted) {
        taken.push(last, body).map_err(|detail| NotASession::Unfit { number: found, detail })?;
    }
    let stray: Vec<Body> = taken.state.asks.iter().map(withdrawn).collect();
    for body in stray {
        taken.push(last, body).map_err(|detail| NotASession::Unfit { number: found, detail })?;
    }
    if taken.events.is_empty() {
        return Err(NotASession::Empty);
    }
    let missing = head.events.saturating_sub(found);
    let Taken { state, events, .. } = taken;
    Ok(Import { was: head.id.clone(), title: state.title(), events, state, missing })
}

fn withdrawn(ask: &domain::ask::Ask) -> Body {
    Body::Ask(AskEvent::Closed { ask: ask.id, closing: domain::ask::Closing::Withdrawn })
}

/// A file may tell what happened; it may not say what is allowed, where tools work or which program holds the session.
fn granted(body: Body, place: &Destination) -> Option<Body> {
    match body {
        // A program that a file names must not be started for it.
        Body::Session(SessionEvent::PolicyChosen { .. } | SessionEvent::CameFrom { .. }) => None,
        Body::Session(SessionEvent::Opened { parent, .. }) => {
            let Destination { cwd, project } = place.clone();
            Some(Body::Session(SessionEvent::Opened { cwd, project, parent }))
        }
        body => Some(body),
    }
}

struct Taken {
    grammar: Grammar,
    state: State,
    events: Vec<Event>,
}

impl Taken {
    fn push(&mut self, at: Millis, body: Body) -> Result<(), String> {
        let number = self.state.seq.next();
        if self.events.is_empty() && !matches!(body, Body::Session(SessionEvent::Opened { .. })) {
            return Err("a session begins with its opening".to_owned());
        }
        let event = Event { seq: number, at, body };
        self.grammar.check(&event).map_err(|violation| violation.to_string())?;
        self.state.fold(&event).map_err(|why| why.to_string())?;
        self.events.push(event);
        Ok(())
    }
}
