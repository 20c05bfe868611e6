//! What lists and searches show, kept up to date event by event. Pure; can be rebuilt from the log at any time.
//!
//! Only what is still open is remembered between events, so a long session costs no more than a short one.

mod of_state;

use domain::content::{Part, Role, TextKind};
use domain::event::{Body, ContextEvent, Event, MessageEvent, NoteEvent, RunEvent, SessionEvent};
use domain::ids::{EntryId, MessageId, Millis, Seq, SessionId};
use domain::session::SessionSummary;
use domain::session::summary::{prompt_of, title_of};
use std::collections::BTreeMap;

/// Longest text of one entry that can be searched, in bytes.
pub(crate) const MAX_SEARCHED: usize = 256 * 1024;

/// The projection of one session.
#[derive(Debug, Clone)]
pub struct Projection {
    summary: SessionSummary,
    titled: bool,
    open: BTreeMap<MessageId, OpenMessage>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct OpenMessage {
    role: Role,
    at: Millis,
    first: Seq,
    text: String,
}

/// What an event adds to the projections that are kept in tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// An entry is finished and can be found.
    Entry(FoundEntry),
    RunBegan,
}

/// An entry that can be found by its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundEntry {
    pub id: EntryId,
    /// When it was made.
    pub at: Millis,
    /// First and last of the events that it is made of; the first is 0 when it is not known.
    pub events: (Seq, Seq),
    pub text: String,
}

impl Projection {
    /// Of a session without events.
    pub fn new(session: &SessionId) -> Projection {
        let summary = SessionSummary::new(session.clone());
        Projection { summary, titled: false, open: BTreeMap::new() }
    }

    /// What lists show of the session.
    pub fn summary(&self) -> &SessionSummary {
        &self.summary
    }

    /// Takes the next event in.
    pub fn take(&mut self, event: &Event) -> Option<Change> {
        let summary = &mut self.summary;
        summary.updated_at = event.at;
        match &event.body {
            Body::Session(SessionEvent::Opened { cwd, project, .. }) => {
                summary.created_at = event.at;
                summary.cwd.clone_from(cwd);
                summary.project.clone_from(project);
                None
            }
            Body::Session(SessionEvent::CameFrom { origin }) => {
                summary.origin = Some(Box::new(origin.clone()));
                None
            }
            Body::Session(SessionEvent::Renamed { title }) => {
                summary.title.clone_from(title);
                self.titled = true;
                None
            }
            Body::Run(RunEvent::Started { run }) => {
                summary.last_run = Some(*run);
                (summary.running, summary.outcome) = (true, None);
                Some(Change::RunBegan)
            }
            Body::Run(RunEvent::Ended { outcome, .. }) => {
                (summary.running, summary.outcome) = (false, Some(Box::new(outcome.clone())));
                None
            }
            Body::Run(RunEvent::StepEnded { usage, .. }) => {
                summary.usage = summary.usage.plus(*usage);
                None
            }
            Body::Message(MessageEvent::Started { message, role, .. }) => {
                if *role != Role::System {
                    summary.messages += 1;
                }
                let open = OpenMessage { role: *role, at: event.at, first: event.seq, text: String::new() };
                self.open.insert(*message, open);
                None
            }
            Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text }) => {
                self.more(*message, text);
                None
            }
            Body::Message(MessageEvent::PartAdded { message, part }) => {
                match part {
                    Part::Text(text) => self.more(*message, text),
                    Part::Code { text, .. } | Part::Diff { text, .. } => {
                        self.more(*message, &format!("\n{text}\n"));
                    }
                    Part::Thought { .. } | Part::Image { .. } | Part::Tool(_) | Part::Opaque { .. } => {}
                }
                None
            }
            Body::Message(MessageEvent::Ended { message, .. }) => self.ended(*message, event.seq),
            Body::Context(ContextEvent::Compacted { entry, compaction, .. }) => {
                summary.usage = summary.usage.plus(compaction.usage);
                Some(whole(*entry, event, compaction.summary.clone()))
            }
            Body::Note(NoteEvent::Noticed { entry, text, .. }) => Some(whole(*entry, event, text.clone())),
            Body::Message(MessageEvent::Delta { kind: TextKind::Thought, .. })
            | Body::Session(
                SessionEvent::ModelChosen { .. }
                | SessionEvent::EffortChosen { .. }
                | SessionEvent::BudgetChosen { .. }
                | SessionEvent::PolicyChosen { .. }
                | SessionEvent::ToolsChosen { .. }
                | SessionEvent::LeafMoved { .. },
            )
            | Body::Run(
                RunEvent::TurnStarted { .. }
                | RunEvent::TurnEnded { .. }
                | RunEvent::StepStarted { .. }
                | RunEvent::StepBilled { .. }
                | RunEvent::Retrying { .. },
            )
            | Body::Tool(_)
            | Body::Ask(_)
            | Body::Queue(_)
            | Body::Context(ContextEvent::Measured { .. })
            | Body::Note(NoteEvent::PlanChanged { .. })
            | Body::Rebased(_) => None,
        }
    }

    fn more(&mut self, message: MessageId, text: &str) {
        if let Some(open) = self.open.get_mut(&message) {
            let room = MAX_SEARCHED.saturating_sub(open.text.len());
            open.text.push_str(head(text, room));
        }
    }

    fn ended(&mut self, message: MessageId, last: Seq) -> Option<Change> {
        let open = self.open.remove(&message)?;
        if open.role == Role::User {
            self.summary.last_prompt = Some(prompt_of(&open.text));
            if !self.titled {
                self.titled = true;
                self.summary.title = title_of(&open.text);
            }
        }
        if open.text.trim().is_empty() {
            return None;
        }
        let events = (open.first, last);
        Some(Change::Entry(FoundEntry { id: message.into(), at: open.at, events, text: open.text }))
    }
}

fn whole(entry: EntryId, event: &Event, text: String) -> Change {
    Change::Entry(FoundEntry { id: entry, at: event.at, events: (event.seq, event.seq), text })
}

/// As much of the beginning as fits into `room` bytes.
fn head(text: &str, room: usize) -> &str {
    let end = (0..=room.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}
