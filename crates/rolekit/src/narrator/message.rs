//! What was heard of one message: how much of it, and the text that is not whole yet.

use super::{Came, Whole};
use domain::content::{Part, Role, TextKind};
use domain::ids::Millis;

/// A message of the run.
#[derive(Debug)]
pub(super) struct MessageSoFar {
    pub(super) role: Role,
    pub(super) began: Millis,
    /// How many parts it has so far, tools included, and how many bytes of text the last one.
    pub(super) parts: usize,
    pub(super) last_bytes: usize,
    pub(super) ended: bool,
    /// The model has said something in it.
    pub(super) spoke: bool,
    whole: Option<Whole>,
    /// The last part is a stream of this kind, which may go on.
    tail: Option<TextKind>,
}

impl MessageSoFar {
    pub(super) fn new(role: Role, began: Millis) -> MessageSoFar {
        MessageSoFar {
            role,
            began,
            parts: 0,
            last_bytes: 0,
            ended: false,
            spoke: false,
            whole: None,
            tail: None,
        }
    }

    /// More text; gives what is whole by that.
    pub(super) fn text(&mut self, kind: TextKind, text: &str, came: Came<'_>) -> Option<Whole> {
        if came == Came::InPieces && self.tail == Some(kind) {
            self.last_bytes += text.len();
            if let Some((part, _)) = self.whole.as_mut().and_then(|whole| whole.parts.last_mut()) {
                push(part, text);
            }
            return None;
        }
        self.begin_part(text.len());
        let part = match came {
            Came::AtOnce(part) => part.clone(),
            Came::InPieces => {
                self.tail = Some(kind);
                let mut part = Part::stream(kind);
                push(&mut part, text);
                part
            }
        };
        self.add(kind, part, came == Came::InPieces)
    }

    /// A part between texts; gives what is whole by that. It stands under a text, but not under a thought.
    pub(super) fn block(&mut self, part: &Part) -> Option<Whole> {
        self.begin_part(0);
        if matches!(part, Part::Opaque { .. }) {
            return None;
        }
        match &mut self.whole {
            Some(whole) if whole.kind == TextKind::Text => {
                whole.parts.push((part.clone(), false));
                None
            }
            _ => self.add(TextKind::Text, part.clone(), false),
        }
    }

    /// A tool was called; gives what is whole by that.
    pub(super) fn called(&mut self) -> Option<Whole> {
        self.begin_part(0);
        self.whole.take()
    }

    /// Closes the message and gives what is left to be told as whole.
    pub(super) fn end(&mut self) -> Option<Whole> {
        (self.ended, self.tail) = (true, None);
        self.whole.take()
    }

    /// Counts nothing as told piece by piece: somebody joined late.
    pub(super) fn forget_pieces(&mut self) {
        if let Some(whole) = &mut self.whole {
            whole.forget_pieces();
        }
    }

    fn begin_part(&mut self, bytes: usize) {
        self.parts += 1;
        (self.last_bytes, self.tail) = (bytes, None);
    }

    fn add(&mut self, kind: TextKind, part: Part, streamed: bool) -> Option<Whole> {
        // What a person says in one message is one.
        if let (Role::User, Some(whole)) = (self.role, &mut self.whole) {
            whole.parts.push((part, streamed));
            return None;
        }
        self.whole.replace(Whole { kind, parts: vec![(part, streamed)] })
    }
}

impl Whole {
    /// Whether there is more in it than blanks.
    pub(super) fn says_something(&self) -> bool {
        self.parts.iter().any(|(part, _)| part.streamed().is_none_or(|(_, text)| !text.is_empty()))
    }

    /// The parts alone.
    pub(super) fn into_parts(self) -> Vec<Part> {
        self.parts.into_iter().map(|(part, _)| part).collect()
    }

    /// Counts nothing as told piece by piece: somebody joined late.
    pub(super) fn forget_pieces(&mut self) {
        self.parts.iter_mut().for_each(|(_, streamed)| *streamed = false);
    }
}

fn push(part: &mut Part, more: &str) {
    if let Part::Text(text) | Part::Thought { text, .. } = part {
        text.push_str(more);
    }
}
