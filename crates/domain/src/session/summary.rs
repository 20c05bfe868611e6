//! A session in short: one rule for its title and for what a list shows of it, whether it is open or read from a disk.

use super::SessionSummary;
use crate::content::{Role, Usage};
use crate::ids::{Millis, SessionId};
use crate::state::{EntryKind, State};

/// Longest title taken from a prompt, in characters.
pub const TITLE_CHARS: usize = 60;
/// Longest prompt in a summary, in characters.
pub const PROMPT_CHARS: usize = 400;
/// The title of a session in which nothing was said.
pub const UNTITLED: &str = "new session";

/// A title for a session that begins with this prompt.
pub fn title_of(prompt: &str) -> String {
    let line = prompt.lines().find(|line| !line.trim().is_empty()).unwrap_or(UNTITLED).trim();
    let mut title: String = line.chars().take(TITLE_CHARS).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    title
}

/// As much of a prompt as a summary holds.
pub fn prompt_of(text: &str) -> String {
    text.chars().take(PROMPT_CHARS).collect()
}

impl SessionSummary {
    /// Of a session without events; also for wires that tell little of one.
    pub fn new(id: SessionId) -> SessionSummary {
        SessionSummary {
            id,
            title: UNTITLED.to_owned(),
            cwd: String::new(),
            project: String::new(),
            created_at: Millis(0),
            updated_at: Millis(0),
            messages: 0,
            last_prompt: None,
            last_run: None,
            running: false,
            elsewhere: false,
            outcome: None,
            usage: Usage::default(),
            origin: None,
            found: None,
        }
    }

    /// Of a session as it stands.
    pub fn of(id: &SessionId, state: &State) -> SessionSummary {
        SessionSummary {
            id: id.clone(),
            title: state.title(),
            cwd: state.settings.cwd.clone(),
            project: state.settings.project.clone(),
            created_at: state.created_at,
            updated_at: state.updated_at,
            messages: state.stats().messages,
            last_prompt: state.prompts().next_back().as_deref().map(prompt_of),
            last_run: state.runs.last().map(|run| run.id),
            running: state.open_run().is_some(),
            elsewhere: false,
            outcome: state
                .runs
                .last()
                .and_then(|run| run.ended.as_ref())
                .map(|(_, outcome)| Box::new(outcome.clone())),
            usage: state.usage,
            origin: state.settings.origin.clone().map(Box::new),
            found: None,
        }
    }
}

impl State {
    /// The title that was given, or one made of the first prompt.
    pub fn title(&self) -> String {
        let made = || self.prompts().next().map_or_else(|| UNTITLED.to_owned(), |prompt| title_of(&prompt));
        self.settings.title.clone().unwrap_or_else(made)
    }

    /// What the person said, on every branch, oldest first.
    fn prompts(&self) -> impl DoubleEndedIterator<Item = String> {
        self.entries.values().filter_map(|entry| match &entry.kind {
            EntryKind::Message(message) if message.role == Role::User && message.finish.is_some() => {
                Some(message.text())
            }
            EntryKind::Message(_) | EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
        })
    }
}
