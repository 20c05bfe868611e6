//! Catching up with a state: what a session holds of a run and was not told yet, as the bodies that would have told it.
//!
//! Needed when the link is shown a session again, or in the middle of a run: the events in between are not told one by one.

use super::{Counters, Telling};
use domain::content::{Part, TextKind};
use domain::event::{Body, MessageEvent, RunEvent, ToolEvent};
use domain::ids::{Millis, RunId};
use domain::state::{EntryKind, Message, State};
use domain::tool::{ToolPhase, ToolRun};

impl Telling {
    /// Tells what `state` knows of `run` beyond what was told.
    pub(in super::super) fn catch_up(
        &mut self,
        counters: &mut Counters,
        state: &State,
        run: RunId,
    ) -> Vec<String> {
        let mut lines = Vec::new();
        for (at, body) in self.missed(state, run) {
            lines.extend(self.hear(counters, at, &body, false));
        }
        lines
    }

    fn missed(&self, state: &State, run: RunId) -> Vec<(Millis, Body)> {
        let mut missed = Vec::new();
        for entry in state.entries.values() {
            let EntryKind::Message(message) = &entry.kind else { continue };
            if message.run != Some(run) {
                continue;
            }
            self.missed_of_message(entry.parent, message, entry.at, &mut missed);
            for tool in message.tools().filter_map(|id| state.tool(id)) {
                self.missed_of_tool(tool, &mut missed);
            }
            let ended = self.messages.get(&message.id).is_some_and(|heard| heard.ended);
            if let Some(finish) = message.finish.clone().filter(|_| !ended) {
                missed.push((entry.at, Body::Message(MessageEvent::Ended { message: message.id, finish })));
            }
        }
        if let Some((at, outcome)) = state.run(run).and_then(|run| run.ended.clone()) {
            missed.push((at, Body::Run(RunEvent::Ended { run, outcome })));
        }
        missed
    }

    fn missed_of_message(
        &self,
        parent: Option<domain::ids::EntryId>,
        message: &Message,
        at: Millis,
        missed: &mut Vec<(Millis, Body)>,
    ) {
        let id = message.id;
        let heard = self.messages.get(&id);
        if heard.is_none() {
            let (role, turn, step) = (message.role, message.turn, message.step);
            missed.push((at, Body::Message(MessageEvent::Started { message: id, parent, role, turn, step })));
        }
        let (mut text, mut thought, mut parts) = heard.map_or((0, 0, 0), |h| (h.text, h.thought, h.parts));
        for part in &message.parts {
            if let Some((kind, whole)) = part.streamed() {
                let told = if kind == TextKind::Text { &mut text } else { &mut thought };
                let skip = (*told).min(whole.len());
                *told -= skip;
                // Pieces were told whole, so the rest begins at a character.
                if let Some(rest) = whole.get(skip..).filter(|rest| !rest.is_empty()) {
                    missed.push((
                        at,
                        Body::Message(MessageEvent::Delta { message: id, kind, text: rest.to_owned() }),
                    ));
                }
            } else if matches!(part, Part::Tool(_)) {
            } else if parts > 0 {
                parts -= 1;
            } else {
                missed.push((at, Body::Message(MessageEvent::PartAdded { message: id, part: part.clone() })));
            }
        }
    }

    fn missed_of_tool(&self, tool: &ToolRun, missed: &mut Vec<(Millis, Body)>) {
        let (started, ended) = self.stands(tool.id).unwrap_or_default();
        let (id, at) = (tool.id, tool.proposed_at);
        if self.stands(id).is_none() {
            let (name, args) = (tool.name.clone(), tool.args.clone());
            missed
                .push((at, Body::Tool(ToolEvent::Proposed { tool: id, message: tool.message, name, args })));
        }
        if let Some(at) = tool.started_at.filter(|_| !started) {
            missed.push((at, Body::Tool(ToolEvent::Started { tool: id })));
        }
        if let (ToolPhase::Ended(outcome), false) = (&tool.phase, ended) {
            let result = tool.result.clone().unwrap_or_default();
            missed.push((
                tool.ended_at.unwrap_or(at),
                Body::Tool(ToolEvent::Ended { tool: id, outcome: outcome.clone(), result }),
            ));
        }
    }
}
