//! Streams with secrets in them: what may be the beginning of one waits until it is known.

use super::Secrets;
use crate::content::TextKind;
use crate::event::{Body, MessageEvent, ToolEvent};
use crate::ids::{MessageId, ToolRunId};
use crate::tool::Progress;
use std::collections::BTreeMap;

/// What of the open streams of a session waits. Bounded by what may be open and by the length of a secret.
#[derive(Debug, Default)]
pub struct Veil {
    messages: BTreeMap<MessageId, (TextKind, String)>,
    tools: BTreeMap<ToolRunId, String>,
}

impl Veil {
    /// What happened, with marks in the place of secrets: nothing while it may be the beginning of one, and what waited before it.
    pub fn pass(&mut self, secrets: &Secrets, body: Body) -> Vec<Body> {
        if secrets.is_empty() {
            return vec![body];
        }
        let mut out = Vec::new();
        match body {
            Body::Message(MessageEvent::Delta { message, kind, text }) => {
                if self.messages.get(&message).is_some_and(|(waiting, _)| *waiting != kind) {
                    self.end_message(secrets, message, &mut out);
                }
                let waited = self.messages.remove(&message).map(|(_, text)| text).unwrap_or_default();
                let (ready, waits) = cut(secrets, waited + &text);
                if !waits.is_empty() {
                    self.messages.insert(message, (kind, waits));
                }
                if !ready.is_empty() {
                    out.push(Body::Message(MessageEvent::Delta { message, kind, text: ready }));
                }
                return out;
            }
            Body::Tool(ToolEvent::Progress { tool, progress: Progress::Output(text) }) => {
                let waited = self.tools.remove(&tool).unwrap_or_default();
                let (ready, waits) = cut(secrets, waited + &text);
                if !waits.is_empty() {
                    self.tools.insert(tool, waits);
                }
                if !ready.is_empty() {
                    out.push(Body::Tool(ToolEvent::Progress { tool, progress: Progress::Output(ready) }));
                }
                return out;
            }
            Body::Message(MessageEvent::PartAdded { message, .. } | MessageEvent::Ended { message, .. })
            | Body::Tool(ToolEvent::Proposed { message, .. }) => self.end_message(secrets, message, &mut out),
            // The whole output comes anew.
            Body::Tool(ToolEvent::Progress { tool, progress: Progress::Replace(_) }) => {
                self.tools.remove(&tool);
            }
            Body::Tool(ToolEvent::Ended { tool, .. }) => {
                if let Some(waited) = self.tools.remove(&tool) {
                    let progress = Progress::Output(secrets.mask(&waited).into_owned());
                    out.push(Body::Tool(ToolEvent::Progress { tool, progress }));
                }
            }
            _ => {}
        }
        out.push(secrets.mask_body(body));
        out
    }

    fn end_message(&mut self, secrets: &Secrets, message: MessageId, out: &mut Vec<Body>) {
        if let Some((kind, waited)) = self.messages.remove(&message) {
            out.push(Body::Message(MessageEvent::Delta {
                message,
                kind,
                text: secrets.mask(&waited).into_owned(),
            }));
        }
    }
}

/// What can be said of a text that goes on, and what must wait.
fn cut(secrets: &Secrets, text: String) -> (String, String) {
    let (ready, held) = secrets.mask_beginning(text.as_bytes());
    // Forms begin with a whole character, so the cut is between two.
    let waits = text.get(text.len() - held..).unwrap_or_default().to_owned();
    (String::from_utf8_lossy(&ready).into_owned(), waits)
}
