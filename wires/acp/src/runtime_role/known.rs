//! A session that the client knows, or is about to: what it was told of it, and which of its prompts wait.
//!
//! Invariant: nothing is said of a session before the client has the answer that gives it to it; what happens meanwhile waits.

use super::super::wire::{ContentBlock, ContentChunk, Cursor, Meta, Own, SessionNotification, SessionUpdate};
use super::prompts::Prompts;
use super::telling::Telling;
use domain::ids::{Seq, SessionId};
use domain::session::{Effort, ModelRef, Policy};
use domain::state::State;
use rolekit::rpc;
use roles::RuntimeCx;

/// Lines that wait for the answer which gives a session to the client; it comes at once, so more than a few are never there.
const MAX_KEPT: usize = 4096;
/// Most warnings that wait for the next prompt; more say nothing new.
const MAX_UNSAID: usize = 16;

/// How a session is set, as the client was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) policy: Policy,
    pub(super) model: Option<ModelRef>,
    pub(super) effort: Option<Effort>,
    pub(super) title: String,
}

/// One session, as far as the client was told of it.
#[derive(Debug)]
pub(super) struct Known {
    /// The client has it.
    given: bool,
    kept: Vec<String>,
    /// Its past was told again for the request that waits.
    pub(super) replayed: bool,
    /// Events up to here are told, or stand in what was told.
    pub(super) heard: Seq,
    pub(super) cwd: String,
    pub(super) told: Told,
    /// The run that is being told.
    pub(super) telling: Option<Telling>,
    pub(super) prompts: Prompts,
    /// Words for the person that go with their next prompt, since this client shows no notices.
    pub(super) unsaid: Vec<String>,
}

impl Known {
    pub(super) fn new(state: &State) -> Known {
        let settings = &state.settings;
        Known {
            given: false,
            kept: Vec::new(),
            replayed: false,
            heard: state.seq,
            cwd: settings.cwd.clone(),
            told: Told {
                policy: settings.policy,
                model: settings.model.clone(),
                effort: settings.effort,
                title: state.title(),
            },
            telling: None,
            prompts: Prompts::default(),
            unsaid: Vec::new(),
        }
    }

    /// Says something of the session, now or once the client has it.
    pub(super) fn say(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, update: SessionUpdate) {
        self.send(cx, update_line(session, update));
    }

    /// The same for a line that is none of the updates.
    pub(super) fn send(&mut self, cx: &mut RuntimeCx<'_>, line: String) {
        if self.given {
            cx.send(line);
        } else if self.kept.len() < MAX_KEPT {
            self.kept.push(line);
        }
    }

    /// A warning for a client that shows no notices: a word beside the answer under way, or one that goes with the next.
    pub(super) fn warn(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, text: &str) {
        if self.prompts.len() > 0 && self.telling.is_some() {
            self.say(cx, session, aside(text));
        } else if self.unsaid.len() < MAX_UNSAID {
            self.unsaid.push(text.to_owned());
        }
    }

    /// Says what had no place before.
    pub(super) fn say_unsaid(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId) {
        for words in std::mem::take(&mut self.unsaid) {
            self.say(cx, session, aside(&words));
        }
    }

    /// The client has the session now: what waited is said.
    pub(super) fn give(&mut self, cx: &mut RuntimeCx<'_>) {
        self.given = true;
        for line in std::mem::take(&mut self.kept) {
            cx.send(line);
        }
    }

    /// The session is out of sight: whoever waits for a prompt hears that it ended.
    pub(super) fn leave(mut self, cx: &mut RuntimeCx<'_>) {
        self.prompts.drop_all(cx);
    }
}

/// A word of ours beside what the model says.
pub(super) fn aside(text: &str) -> SessionUpdate {
    let content = ContentBlock::text(format!("{text}\n\n"));
    SessionUpdate::AgentMessage(ContentChunk { content, ..ContentChunk::default() })
}

/// Writes what is to be said of a session, for now or for later.
pub(super) fn update_line(session: &SessionId, update: SessionUpdate) -> String {
    let session_id = session.to_string();
    rpc::notification(&SessionNotification { session_id, update, ..SessionNotification::default() })
}

/// How far a session was told, for whoever comes back.
pub(super) fn cursor(state: &State) -> Option<Meta> {
    let cursor = Cursor { seq: state.seq.0, hash: state.hash().to_string(), ..Cursor::default() };
    Some(Meta { parlor: Some(Own { cursor: Some(cursor), ..Own::default() }), ..Meta::default() })
}
