//! Messages of a foreign runtime: found by key or by being the open one; whole texts become deltas.

use super::Canon;
use super::cut::MAX_TEXT;
use super::draft::Draft;
use crate::content::{Part, Role, TextKind};
use crate::event::{Body, Cause, Finish, MessageEvent};
use crate::fact::Key;
use crate::ids::MessageId;

/// Stands at the end of a message that was longer than it may be.
const MARK: &str = "\n\n[cut here: the runtime said more than fits into one message]";

/// A message under way.
#[derive(Debug)]
pub(super) struct HeardMessage {
    pub(super) id: MessageId,
    key: Option<Key>,
    role: Role,
    /// What was streamed so far, to find out what a repeated whole adds. Parts of other kinds are left out.
    streamed: Vec<(TextKind, String)>,
    /// Bytes of text that it holds.
    bytes: usize,
    /// It holds as much as one message may; the rest is left out.
    full: bool,
}

impl HeardMessage {
    /// Cuts `text` to what still fits into the message, with a mark where it is cut; `false` when something is left out.
    fn fit(&mut self, text: &mut String) -> bool {
        let room = if self.full { 0 } else { MAX_TEXT - self.bytes };
        if text.len() <= room {
            self.bytes += text.len();
            return true;
        }
        if std::mem::replace(&mut self.full, true) {
            text.clear();
            return false;
        }
        let mut end = room;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push_str(MARK);
        false
    }
}

impl Canon {
    /// Begins a message, unless one of this key is open; gives its place among the open ones.
    pub(super) fn start_message(&mut self, draft: &mut Draft<'_>, key: Option<Key>, role: Role) -> usize {
        if let Some(at) =
            key.as_ref().and_then(|key| self.messages.iter().position(|m| m.key.as_ref() == Some(key)))
        {
            return at;
        }
        let (turn, step) = match role {
            Role::User => {
                if draft.turn().is_some_and(|turn| self.begun == Some(turn)) {
                    // The person speaks again inside a run: that is the next turn, whatever the wire calls it.
                    self.end_turn(draft);
                    self.next_cause = self.next_cause.or(Some(Cause::Steer));
                }
                let turn = self.ensure_turn(draft);
                self.begun = Some(turn);
                (Some(turn), None)
            }
            Role::Assistant => {
                let step = self.ensure_step(draft);
                (draft.turn(), Some(step))
            }
            Role::System => (Some(self.ensure_turn(draft)), None),
        };
        let (message, parent) = (MessageId::mint(&self.ids), draft.leaf());
        draft.push(Body::Message(MessageEvent::Started { message, parent, role, turn, step }));
        if let Some(key) = &key {
            self.names.entries.insert(message.into(), key.clone());
        }
        self.messages.push(HeardMessage {
            id: message,
            key,
            role,
            streamed: Vec::new(),
            bytes: 0,
            full: false,
        });
        self.messages.len() - 1
    }

    /// The message that a fact is about: by key, else the newest open one, else a new one of the model.
    fn message_at(&mut self, draft: &mut Draft<'_>, key: Option<Key>) -> usize {
        match key {
            Some(key) => match self.messages.iter().position(|m| m.key.as_ref() == Some(&key)) {
                Some(at) => at,
                None => self.start_message(draft, Some(key), Role::Assistant),
            },
            None => match self.messages.len() {
                0 => self.start_message(draft, None, Role::Assistant),
                open => open - 1,
            },
        }
    }

    /// The newest open message of the model, begun if there is none: tools are proposed there.
    pub(super) fn assistant_message(&mut self, draft: &mut Draft<'_>) -> MessageId {
        self.ensure_step(draft);
        let at = match self.messages.iter().rposition(|m| m.role == Role::Assistant) {
            Some(at) => at,
            None => self.start_message(draft, None, Role::Assistant),
        };
        // Text after a tool begins a part of its own.
        self.messages[at].streamed.push((TextKind::Text, String::new()));
        self.messages[at].id
    }

    /// A piece of streamed text.
    pub(super) fn text(&mut self, draft: &mut Draft<'_>, key: Option<Key>, kind: TextKind, text: String) {
        if !text.is_empty() {
            let at = self.message_at(draft, key);
            self.text_on(draft, at, kind, text);
        }
    }

    fn text_on(&mut self, draft: &mut Draft<'_>, at: usize, kind: TextKind, mut text: String) {
        let message = &mut self.messages[at];
        let fits = message.fit(&mut text);
        if text.is_empty() {
            return;
        }
        let id = message.id;
        match message.streamed.last_mut() {
            Some((last, so_far)) if *last == kind => so_far.push_str(&text),
            _ => {
                message.streamed.push((kind, text.clone()));
                self.allowance.part();
            }
        }
        draft.push(Body::Message(MessageEvent::Delta { message: id, kind, text }));
        if !fits {
            self.was_cut(draft);
        }
    }

    /// The whole text so far, from wires that repeat it: only what is new of it is told.
    pub(super) fn whole(&mut self, draft: &mut Draft<'_>, key: Option<Key>, parts: Vec<(TextKind, String)>) {
        let at = self.message_at(draft, key);
        for kind in [TextKind::Thought, TextKind::Text] {
            let now: String = parts.iter().filter(|(k, _)| *k == kind).map(|(_, t)| t.as_str()).collect();
            let told: String = self.messages[at]
                .streamed
                .iter()
                .filter(|(k, _)| *k == kind)
                .map(|(_, t)| t.as_str())
                .collect();
            // A stream only grows: what a peer rewrites of what it already said cannot be taken back.
            let new = now.strip_prefix(told.as_str()).unwrap_or_default().to_owned();
            if !new.is_empty() {
                self.text_on(draft, at, kind, new);
            }
        }
    }

    /// A part that comes whole.
    pub(super) fn part(&mut self, draft: &mut Draft<'_>, key: Option<Key>, mut part: Part) {
        let at = self.message_at(draft, key);
        let message = &mut self.messages[at];
        let id = message.id;
        let fits = match &mut part {
            Part::Text(text) | Part::Thought { text, .. } => message.fit(text),
            // A part that cannot be cut counts in the run's allowance only.
            _ => true,
        };
        if let Some((kind, text)) = part.streamed() {
            if text.is_empty() && !fits {
                return;
            }
            self.messages[at].streamed.push((kind, text.to_owned()));
        }
        draft.push(Body::Message(MessageEvent::PartAdded { message: id, part }));
        if !fits {
            self.was_cut(draft);
        }
    }

    /// Ends the message of this key, or the newest open one.
    pub(super) fn end_message(&mut self, draft: &mut Draft<'_>, key: Option<Key>, finish: Finish) {
        let at = match &key {
            Some(_) => self.messages.iter().position(|m| m.key == key),
            None => self.messages.len().checked_sub(1),
        };
        if let Some(at) = at {
            let message = self.messages.remove(at);
            draft.push(Body::Message(MessageEvent::Ended { message: message.id, finish }));
        }
    }
}
