//! How long a turn was at work, as far as the record knows it.

use super::{EntryKind, Message, State};
use crate::ids::{Millis, TurnId};
use crate::tool::ToolRun;
use std::time::Duration;

impl State {
    /// From the prompt to the newest thing that is known of the turn, without the time in which tools waited to be allowed: a person takes
    /// as long as they want, and a program that died with a question open was not at work until it was opened again.
    pub fn worked(&self, turn: TurnId) -> Duration {
        let messages = self.entries.values().filter_map(|entry| match &entry.kind {
            EntryKind::Message(message) if message.turn == Some(turn) => Some((entry.at, message)),
            EntryKind::Message(_) | EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
        });
        let messages: Vec<(Millis, &Message)> = messages.collect();
        let Some((began, _)) = messages.first().copied() else { return Duration::ZERO };
        let proposed = messages.iter().flat_map(|(_, message)| message.tools());
        let tools: Vec<&ToolRun> = proposed.filter_map(|id| self.tool(id)).collect();
        let said = messages.iter().map(|(at, _)| *at);
        let done = tools.iter().map(|tool| tool.ended_at.or(tool.started_at).unwrap_or(tool.proposed_at));
        let newest = said.chain(done).max().unwrap_or(began);
        let mut waits: Vec<(Millis, Millis)> = tools
            .iter()
            .map(|tool| (tool.proposed_at, tool.started_at.or(tool.ended_at).unwrap_or(tool.proposed_at)))
            .collect();
        waits.sort_unstable();
        // Tools of one message wait at the same time.
        let (mut waited, mut until) = (0, began);
        for (from, to) in waits {
            waited += to.since(from.max(until));
            until = until.max(to);
        }
        Duration::from_millis(newest.since(began).saturating_sub(waited))
    }
}

#[cfg(test)]
mod tests {
    use crate::content::{Json, Role, TextKind};
    use crate::event::{Body, Cause, MessageEvent, RunEvent, ToolEvent};
    use crate::ids::{EntryId, MessageId, Millis, RunId, StepId, ToolRunId, TurnId};
    use crate::state::State;
    use crate::tool::{ToolOutcome, ToolResult};
    use std::time::Duration;

    const RUN: RunId = RunId(1);

    fn message(id: u64, turn: TurnId, step: Option<StepId>) -> Body {
        let (message, parent) = (MessageId(id), (id > 10).then(|| EntryId(id - 1)));
        let role = if step.is_some() { Role::Assistant } else { Role::User };
        Body::Message(MessageEvent::Started { message, parent, role, turn: Some(turn), step })
    }

    fn said(id: u64) -> Body {
        let (message, kind, text) = (MessageId(id), TextKind::Text, "words".to_owned());
        Body::Message(MessageEvent::Delta { message, kind, text })
    }

    fn proposed(tool: u64, id: u64) -> Body {
        let (tool, message) = (ToolRunId(tool), MessageId(id));
        Body::Tool(ToolEvent::Proposed { tool, message, name: "bash".into(), args: Json::verbatim("{}") })
    }

    fn begun(turn: TurnId) -> Body {
        Body::Run(RunEvent::TurnStarted { run: RUN, turn, cause: Cause::Prompt })
    }

    #[test]
    fn the_time_of_a_turn_is_that_of_its_work_and_not_that_of_a_question() {
        let (before, turn, step) = (TurnId(2), TurnId(3), StepId(4));
        let started = |tool| Body::Tool(ToolEvent::Started { tool: ToolRunId(tool) });
        let ended = |tool| {
            let (outcome, result) = (ToolOutcome::Done, ToolResult::text("ok"));
            Body::Tool(ToolEvent::Ended { tool: ToolRunId(tool), outcome, result })
        };
        let mut state = State::new();
        let mut at = |ms: u64, body: Body| -> u128 {
            state.apply(Millis(ms), &body).unwrap();
            state.worked(turn).as_millis()
        };
        at(0, Body::Run(RunEvent::Started { run: RUN }));
        at(0, begun(before));
        at(0, message(10, before, None));
        at(0, said(10));
        at(500, Body::Run(RunEvent::TurnEnded { turn: before }));
        assert_eq!(at(1_000, begun(turn)), 0, "what was before it is not its own");
        assert_eq!(at(1_000, message(11, turn, None)), 0);
        at(1_000, Body::Run(RunEvent::StepStarted { turn, step, model: None }));
        assert_eq!(at(2_000, message(12, turn, Some(step))), 1_000);
        assert_eq!(at(5_000, proposed(20, 12)), 4_000);
        assert_eq!(at(6_000, proposed(21, 12)), 5_000);
        // An hour later somebody opens it again and says yes to both.
        assert_eq!(at(3_600_000, started(20)), 4_000, "who waits for an answer is not at work");
        assert_eq!(at(3_602_000, ended(20)), 6_000);
        assert_eq!(at(3_602_000, started(21)), 4_000, "one of them waited so long");
        assert_eq!(at(3_603_000, ended(21)), 5_000);
        assert_eq!(state.worked(TurnId(99)), Duration::ZERO, "nothing is known of it");
    }
}
