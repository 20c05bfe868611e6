//! What each entity of a state counts as: a message is a stream of its events with the texts as they are, a tool run is how it stands and,
//! apart from that since it grows, its output.

use super::{Canonical, Hex, Object, Sink};
use crate::content::{Part, Role, TextKind};
use crate::event::Finish;
use crate::ids::{EntryId, MessageId, StepId, TurnId};
use crate::state::{Entry, EntryKind, Message, State};
use crate::tool::ToolRun;

/// Before a part that is no plain text, and before the end of a message. No UTF-8 has such a byte, so that a text passes for nothing else.
const PART: u8 = 0xfa;
const END: u8 = 0xfb;

/// Before a part of text.
pub(in crate::state) fn mark(kind: TextKind) -> u8 {
    match kind {
        TextKind::Text => 0xf8,
        TextKind::Thought => 0xf9,
    }
}

/// How a message began: the body of that event.
pub(in crate::state) struct Started {
    pub(in crate::state) message: MessageId,
    pub(in crate::state) parent: Option<EntryId>,
    pub(in crate::state) role: Role,
    pub(in crate::state) turn: Option<TurnId>,
    pub(in crate::state) step: Option<StepId>,
}

impl Canonical for Started {
    fn put<S: Sink>(&self, to: &mut S) {
        let Started { message, parent, role, turn, step } = self;
        Object::begin(to)
            .within("message_started", |o| {
                o.member("message", message)
                    .member("parent", parent)
                    .member("role", role)
                    .member("step", step)
                    .member("turn", turn)
            })
            .end();
    }
}

/// A part within the stream of its message.
pub(in crate::state) struct WrittenPart<'a>(pub(in crate::state) &'a Part);

impl Canonical for WrittenPart<'_> {
    fn put<S: Sink>(&self, to: &mut S) {
        match self.0 {
            Part::Text(text) => {
                to.take(&[mark(TextKind::Text)]);
                to.take(text.as_bytes());
            }
            Part::Thought { text, signature: None } => {
                to.take(&[mark(TextKind::Thought)]);
                to.take(text.as_bytes());
            }
            part => {
                to.take(&[PART]);
                part.put(to);
            }
        }
    }
}

/// How a message ended: the body of that event.
pub(in crate::state) struct Ended<'a> {
    pub(in crate::state) message: MessageId,
    pub(in crate::state) finish: &'a Finish,
}

impl Canonical for Ended<'_> {
    fn put<S: Sink>(&self, to: &mut S) {
        to.take(&[END]);
        Object::begin(to)
            .within("message_ended", |o| o.member("finish", self.finish).member("message", self.message))
            .end();
    }
}

/// A stream: more than one value.
impl Canonical for Entry {
    fn put<S: Sink>(&self, to: &mut S) {
        let Entry { id, parent, at: _, kind } = self;
        match kind {
            EntryKind::Message(message) => {
                // The run is that of its turn.
                let Message { id: message, role, run: _, turn, step, parts, finish, tail_open: _, roll: _ } =
                    message;
                let (message, parent, role, turn, step) = (*message, *parent, *role, *turn, *step);
                Started { message, parent, role, turn, step }.put(to);
                parts.iter().for_each(|part| WrittenPart(part).put(to));
                if let Some(finish) = finish {
                    Ended { message, finish }.put(to);
                }
            }
            EntryKind::Compaction(compaction) => Object::begin(to)
                .within("compacted", |o| {
                    o.member("compaction", compaction).member("entry", id).member("parent", parent)
                })
                .end(),
            EntryKind::Notice { level, code, text, run } => Object::begin(to)
                .within("noticed", |o| {
                    o.member("code", code)
                        .member("entry", id)
                        .member("level", level)
                        .member("parent", parent)
                        .member("run", run)
                        .member("text", text)
                })
                .end(),
        }
    }
}

/// How a tool run was proposed: the body of that event.
pub(in crate::state) struct Proposed<'a>(pub(in crate::state) &'a ToolRun);

impl Canonical for Proposed<'_> {
    fn put<S: Sink>(&self, to: &mut S) {
        let ToolRun { id, message, name, args, .. } = self.0;
        Object::begin(to)
            .within("tool_proposed", |o| {
                o.member("args", args).member("message", message).member("name", name).member("tool", id)
            })
            .end();
    }
}

/// What was proposed and what came out of it so far: a stream.
#[derive(Debug, Clone, Copy)]
pub struct ToolOutput<'a>(pub &'a ToolRun);

impl Canonical for ToolOutput<'_> {
    fn put<S: Sink>(&self, to: &mut S) {
        Proposed(self.0).put(to);
        to.take(self.0.output.as_bytes());
    }
}

/// How it stands. Run and step are those of its message; times are left out.
impl Canonical for ToolRun {
    fn put<S: Sink>(&self, to: &mut S) {
        let tool = Object::begin(to)
            .member("decision", &self.decision)
            .member("phase", &self.phase)
            .member("result", &self.result);
        match &self.status {
            Some((percent, message)) => {
                let percent = percent.map(u64::from);
                tool.within("status", |o| o.member("message", message).member("percent", percent))
            }
            None => tool,
        }
        .member("tool", self.id)
        .end();
    }
}

/// Its entities count as their sum. Times are left out: clocks differ.
impl Canonical for State {
    fn put<S: Sink>(&self, to: &mut S) {
        Object::begin(to)
            .member("asks", &self.asks)
            .member("context", self.context)
            .member("context_rough", self.context_rough)
            .member("entities", Hex(self.entities))
            .member("leaf", self.leaf)
            .member("plan", &self.plan)
            .member("queues", &self.queues)
            .member("run", self.runs.last())
            .member("runs", self.runs.len() as u64)
            .member("seq", self.seq)
            .member("settings", &self.settings)
            .member("usage", self.usage)
            .end();
    }
}
