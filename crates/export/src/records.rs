//! A session as records: one per line ([`jsonl`]), or in one JSON file with what a person may want to read ([`save`]).

use domain::content::{Json, KEPT, Part, Role};
use domain::event::{Body, ContextEvent, Event, MessageEvent, SessionEvent};
use domain::ids::{Seq, SessionId};
use domain::state::{Entry, EntryKind, State};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use std::io;

/// Version of the files that are written here; a reader takes every version up to its own.
pub const FORMAT: u32 = 1;

/// What marks our files.
pub(crate) const MARK: &str = "parlor-session";

/// The first line of a JSONL file, and the head of a saved one.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) format: String,
    pub(crate) version: u32,
    /// Version of the records.
    pub(crate) records: u32,
    pub(crate) id: String,
    pub(crate) title: String,
    /// How many events follow, so that a cut file is noticed.
    pub(crate) events: u64,
}

#[derive(Serialize)]
struct Saved<'a> {
    #[serde(flatten)]
    head: Head,
    cwd: &'a str,
    project: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    created_at: u64,
    updated_at: u64,
    /// For people and other programs; what is loaded are the records.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Messages<'a>>,
    /// The key that makes it whole; last, since it is long.
    log: Log<'a>,
}

/// Messages that are put into words one by one as they are written: a long session is not held twice.
struct Messages<'a>(Vec<&'a Entry>);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().filter_map(|entry| match &entry.kind {
            EntryKind::Message(m) => Some(ChatLine { role: m.role, at: entry.at.0, text: m.text() }),
            EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
        }))
    }
}

/// The same for records.
struct Log<'a>(&'a [Event]);

impl Serialize for Log<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().filter_map(|event| RawValue::from_string(encode(event)).ok()))
    }
}

#[derive(Serialize)]
struct ChatLine {
    role: Role,
    at: u64,
    text: String,
}

fn head(session: &SessionId, state: &State, events: usize) -> Head {
    Head {
        format: MARK.to_owned(),
        version: FORMAT,
        records: record::VERSION,
        id: session.to_string(),
        title: state.title(),
        events: events as u64,
    }
}

/// The events as lines, after a line that says what they are. `events` must fold to `state`; where the log is not whole,
/// [`events_of`] gives the shortest ones that do.
pub fn jsonl(session: &SessionId, state: &State, events: &[Event]) -> String {
    let mut out = serde_json::to_string(&head(session, state, events.len())).unwrap_or_default();
    out.push('\n');
    for event in events {
        out.push_str(&encode(event));
        out.push('\n');
    }
    out
}

/// One event as it leaves the house: nothing in it that only a provider can read.
fn encode(event: &Event) -> String {
    match &event.body {
        Body::Message(MessageEvent::PartAdded { message, part }) if part.is_private() => {
            let part = Part::Opaque { kind: KEPT.to_owned(), json: Json::empty() };
            let body = Body::Message(MessageEvent::PartAdded { message: *message, part });
            record::encode(&Event { body, ..event.clone() })
        }
        _ => record::encode(event),
    }
}

/// The shortest events whose fold holds what `state` holds. What was streamed stands in one piece.
pub fn events_of(state: &State) -> Vec<Event> {
    let mut told = state.replay();
    // The end of a replay is no event of its own; of its counters only the context has one.
    told.pop();
    if let Some((used, window)) = state.context {
        told.push((
            state.updated_at,
            Body::Context(ContextEvent::Measured { used, window, rough: state.context_rough }),
        ));
    }
    // Times stay as they were; the last one is when the session last changed.
    if let Some((at, _)) = told.last_mut() {
        *at = state.updated_at;
    }
    let numbered = told.into_iter().zip(1..);
    let numbered = numbered.map(|((at, body), number)| Event { seq: Seq(number), at, body });
    numbered.collect()
}

/// Writes one JSON file: readable messages and the records that [`crate::read`] takes. Without `history` only the settings are in it.
///
/// # Errors
/// When `out` cannot be written.
pub fn save(out: &mut dyn io::Write, session: &SessionId, state: &State, history: bool) -> io::Result<()> {
    let mut events = events_of(state);
    let mut messages = None;
    if history {
        let entries = crate::conversation(state);
        messages = entries
            .iter()
            .any(|entry| matches!(entry.kind, EntryKind::Message(_)))
            .then_some(Messages(entries));
    } else {
        events.retain(|event| is_setting(&event.body));
        for (event, number) in events.iter_mut().zip(1..) {
            event.seq = Seq(number);
        }
    }
    let saved = Saved {
        head: head(session, state, events.len()),
        cwd: &state.settings.cwd,
        project: &state.settings.project,
        model: state.settings.model.as_ref().map(ToString::to_string),
        created_at: state.created_at.0,
        updated_at: state.updated_at.0,
        messages,
        log: Log(&events),
    };
    serde_json::to_writer_pretty(&mut *out, &saved)?;
    out.write_all(b"\n")
}

fn is_setting(body: &Body) -> bool {
    matches!(
        body,
        Body::Session(
            SessionEvent::Opened { .. }
                | SessionEvent::Renamed { .. }
                | SessionEvent::ModelChosen { .. }
                | SessionEvent::EffortChosen { .. }
                | SessionEvent::BudgetChosen { .. }
                | SessionEvent::PolicyChosen { .. }
                | SessionEvent::ToolsChosen { .. }
        )
    )
}
