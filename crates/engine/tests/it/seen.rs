//! What a bench has seen: the tools that ended, what was told to the model.

use super::Bench;
use domain::event::{Body, ToolEvent};
use domain::tool::ToolOutcome;
use models::ChatMessage;

impl Bench {
    pub(crate) fn outcomes(&self) -> Vec<(String, ToolOutcome, String)> {
        let ended = self.events.iter().filter_map(|event| match &event.body {
            Body::Tool(ToolEvent::Ended { tool, outcome, result }) => {
                let name = self.state.tool(*tool).unwrap().name.clone();
                Some((name, outcome.clone(), result.text.clone()))
            }
            _ => None,
        });
        ended.collect()
    }

    pub(crate) fn count(&self, fits: impl Fn(&Body) -> bool) -> usize {
        self.events.iter().filter(|event| fits(&event.body)).count()
    }

    /// What the model was told in its last request, message by message.
    pub(crate) fn told(&self) -> Vec<String> {
        let seen = self.model.seen();
        let kind = |message: &ChatMessage| match message {
            ChatMessage::User { .. } => "user",
            ChatMessage::Assistant { .. } => "assistant",
            ChatMessage::Tool { .. } => "tool",
        };
        seen.last().unwrap().messages.iter().map(|m| format!("{}: {}", kind(m), m.text())).collect()
    }

    pub(crate) fn system(&self) -> String {
        self.model.seen().last().unwrap().system.clone().unwrap_or_default()
    }

    /// What the last request told beside the conversation at places of it, the oldest first.
    pub(crate) fn notes(&self) -> Vec<String> {
        let seen = self.model.seen();
        let texts = seen.last().unwrap().messages.iter().filter_map(|message| match message {
            ChatMessage::User { .. } => Some(message.text()),
            ChatMessage::Assistant { .. } | ChatMessage::Tool { .. } => None,
        });
        texts.filter_map(|text| text.strip_prefix("[note from Parlor]\n").map(str::to_owned)).collect()
    }
}
