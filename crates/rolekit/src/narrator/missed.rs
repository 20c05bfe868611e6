//! Catching up: what a state holds of the run beyond what was told, as the bodies that would have told it.
//!
//! Needed when a link is shown a session again, or in the middle of a run: the events in between are not told one by one.

use super::Narrator;
use domain::event::{Body, ContextEvent, MessageEvent, NoteEvent, RunEvent, ToolEvent};
use domain::ids::{MessageId, Millis};
use domain::state::State;
use domain::tool::Progress;
use std::collections::BTreeMap;

/// How many parts of each message have come up in the replay.
type Parts = BTreeMap<MessageId, usize>;

impl Narrator {
    /// What `state` knows of the run and was not told. To be heard in this order.
    pub fn missed(&self, state: &State) -> Vec<(Millis, Body)> {
        let mut parts = Parts::new();
        let replay = state.replay_run(self.run).into_iter();
        replay.filter_map(|(at, body)| Some((at, self.untold(body, &mut parts)?))).collect()
    }

    fn untold(&self, body: Body, parts: &mut Parts) -> Option<Body> {
        match body {
            Body::Run(event) => self.untold_run(event).map(Body::Run),
            Body::Message(event) => self.untold_message(event, parts).map(Body::Message),
            Body::Tool(event) => self.untold_tool(event, parts).map(Body::Tool),
            Body::Context(ContextEvent::Compacted { entry, .. })
            | Body::Note(NoteEvent::Noticed { entry, .. }) => {
                self.last_entry.is_none_or(|last| last < entry).then_some(body)
            }
            Body::Session(_)
            | Body::Ask(_)
            | Body::Queue(_)
            | Body::Context(ContextEvent::Measured { .. })
            | Body::Note(NoteEvent::PlanChanged { .. })
            | Body::Rebased(_) => None,
        }
    }

    fn untold_run(&self, event: RunEvent) -> Option<RunEvent> {
        let untold = match &event {
            RunEvent::Started { .. } => !self.begun,
            RunEvent::Ended { .. } => !self.over,
            RunEvent::TurnStarted { turn, .. } => self.turn.is_none_or(|(newest, _)| newest < *turn),
            RunEvent::TurnEnded { turn } => {
                self.turn.is_none_or(|(newest, open)| newest < *turn || newest == *turn && open)
            }
            RunEvent::StepStarted { step, .. } => self.step.is_none_or(|(newest, _)| newest < *step),
            RunEvent::StepEnded { step, .. } => {
                self.step.is_none_or(|(newest, open)| newest < *step || newest == *step && open)
            }
            RunEvent::StepBilled { .. } | RunEvent::Retrying { .. } => false,
        };
        untold.then_some(event)
    }

    fn untold_message(&self, event: MessageEvent, parts: &mut Parts) -> Option<MessageEvent> {
        match event {
            MessageEvent::Started { message, .. } => (!self.messages.contains_key(&message)).then_some(event),
            MessageEvent::Ended { message, .. } => {
                let ended = self.messages.get(&message).is_some_and(|heard| heard.ended);
                (!ended).then_some(event)
            }
            MessageEvent::Delta { message, kind, text } => {
                let told = self.told_of_part(message, parts);
                let text = rest(&text, told)?.to_owned();
                Some(MessageEvent::Delta { message, kind, text })
            }
            MessageEvent::PartAdded { message, part } => {
                let told = self.told_of_part(message, parts);
                match (told, part.streamed()) {
                    (Share::Nothing, _) => Some(MessageEvent::PartAdded { message, part }),
                    (told, Some((kind, text))) => {
                        let text = rest(text, told)?.to_owned();
                        Some(MessageEvent::Delta { message, kind, text })
                    }
                    (Share::Bytes(_) | Share::Everything, None) => None,
                }
            }
        }
    }

    /// How much was told of the next part of a message.
    fn told_of_part(&self, message: MessageId, parts: &mut Parts) -> Share {
        let part = parts.entry(message).or_default();
        *part += 1;
        match self.messages.get(&message) {
            Some(heard) if *part < heard.parts => Share::Everything,
            Some(heard) if *part == heard.parts => Share::Bytes(heard.last_bytes),
            _ => Share::Nothing,
        }
    }

    fn untold_tool(&self, event: ToolEvent, parts: &mut Parts) -> Option<ToolEvent> {
        let (ToolEvent::Proposed { tool, .. }
        | ToolEvent::Decided { tool, .. }
        | ToolEvent::Started { tool }
        | ToolEvent::Progress { tool, .. }
        | ToolEvent::Ended { tool, .. }) = &event;
        let tool = *tool;
        if let ToolEvent::Proposed { message, .. } = &event {
            *parts.entry(*message).or_default() += 1;
        }
        if self.ended_calls.contains(&tool) {
            return None;
        }
        let call = self.calls.get(&tool);
        match event {
            ToolEvent::Proposed { .. } => call.is_none().then_some(event),
            ToolEvent::Decided { .. } => call.is_none_or(|call| call.decision.is_none()).then_some(event),
            ToolEvent::Started { .. } => call.is_none_or(|call| call.started_at.is_none()).then_some(event),
            ToolEvent::Progress { progress: Progress::Output(whole) | Progress::Replace(whole), .. } => {
                let told = call.map_or(0, |call| call.output);
                let progress = match told {
                    0 => Progress::Output(whole),
                    // Output that was shortened meanwhile cannot be continued where it was left.
                    told if told < whole.len() => Progress::Replace(whole),
                    _ => return None,
                };
                Some(ToolEvent::Progress { tool, progress })
            }
            ToolEvent::Progress { progress: Progress::Status { percent, message }, .. } => {
                let told = call.and_then(|call| call.status.as_ref());
                let news = told != Some(&(percent, message.clone()));
                let progress = Progress::Status { percent, message };
                news.then_some(ToolEvent::Progress { tool, progress })
            }
            ToolEvent::Ended { .. } => Some(event),
        }
    }
}

/// How much of a part was told.
#[derive(Clone, Copy)]
enum Share {
    Nothing,
    Bytes(usize),
    Everything,
}

/// What was not told of a text. Pieces were told whole, so the rest begins at a character.
fn rest(text: &str, told: Share) -> Option<&str> {
    match told {
        Share::Nothing => Some(text),
        Share::Bytes(bytes) => text.get(bytes..).filter(|rest| !rest.is_empty()),
        Share::Everything => None,
    }
}
