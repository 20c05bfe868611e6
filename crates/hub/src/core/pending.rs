//! Commands that wait for an answer of the store, or of a file.
//!
//! Invariants: so many of one UI and so many of all wait, with so much text, and no more: one UI that asks without end takes no other's
//! place. Those of a UI that has left still wait for their answers, and count.

use super::library::{AwaitedAnswer, Purpose};
use super::{CoreInput, MAX_ALL_REQUESTS, MAX_REQUEST_BYTES, MAX_REQUESTS, Request, RequestId};
use domain::command::{Refusal, RefusalKind};
use domain::ids::UiId;
use std::collections::BTreeMap;

/// The commands that wait for an answer, with what they take.
#[derive(Debug, Default)]
pub(super) struct Pending {
    waiting: BTreeMap<RequestId, AwaitedAnswer>,
    of_each: BTreeMap<UiId, usize>,
    bytes: usize,
}

impl Pending {
    /// What a request would take; a refusal when too much waits already.
    pub(super) fn room(&self, ui: UiId, purpose: &Purpose, request: &Request) -> Result<usize, Refusal> {
        let bytes = weight(purpose, request);
        let of_one = self.of_each.get(&ui).copied().unwrap_or_default();
        let why = if of_one >= MAX_REQUESTS {
            format!("{MAX_REQUESTS} of your commands wait for the store")
        } else if self.waiting.len() >= MAX_ALL_REQUESTS {
            format!("{MAX_ALL_REQUESTS} commands wait for the store")
        } else if self.bytes > 0 && self.bytes + bytes > MAX_REQUEST_BYTES {
            format!("{} MiB of commands wait for the store", MAX_REQUEST_BYTES / (1024 * 1024))
        } else {
            return Ok(bytes);
        };
        Err(Refusal::new(RefusalKind::TooMany, why).hint("try again in a moment"))
    }

    /// Lets a command wait for the answer of this name.
    pub(super) fn insert(&mut self, id: RequestId, awaited: AwaitedAnswer) {
        *self.of_each.entry(awaited.ui).or_default() += 1;
        self.bytes += awaited.bytes;
        self.waiting.insert(id, awaited);
    }

    /// The answer is there: what it is for.
    pub(super) fn remove(&mut self, id: RequestId) -> Option<AwaitedAnswer> {
        let awaited = self.waiting.remove(&id)?;
        self.bytes = self.bytes.saturating_sub(awaited.bytes);
        if let Some(of_one) = self.of_each.get_mut(&awaited.ui) {
            *of_one -= 1;
            if *of_one == 0 {
                self.of_each.remove(&awaited.ui);
            }
        }
        Some(awaited)
    }

    /// All that wait, oldest first.
    pub(super) fn values(&self) -> impl Iterator<Item = &AwaitedAnswer> {
        self.waiting.values()
    }
}

/// Bytes of text that wait with a request. The states that some carry are weighed where they wait (`shell/archive.rs`).
fn weight(purpose: &Purpose, request: &Request) -> usize {
    let maybe = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let again = match purpose {
        Purpose::Open { again, .. } => match &**again {
            CoreInput::Command { command, .. } => command.weight(),
            _ => 0,
        },
        Purpose::New { cwd, title, .. } => cwd.len() + maybe(title),
        Purpose::Context
        | Purpose::Delete { .. }
        | Purpose::List
        | Purpose::ListKept(_)
        | Purpose::History { .. }
        | Purpose::Export { .. }
        | Purpose::Save { .. }
        // As large as a file may be, and there is one at a time for each UI.
        | Purpose::Place(_)
        | Purpose::Load => 0,
    };
    again
        + match request {
            Request::List { project, search, .. } => maybe(project) + maybe(search),
            Request::Save { path, .. } => maybe(path),
            Request::Load { path, .. } | Request::Folder { path } => path.len(),
            Request::Open { .. }
            | Request::Recall { .. }
            | Request::Find { .. }
            | Request::Delete { .. }
            | Request::History { .. }
            | Request::Export { .. } => 0,
        }
}
