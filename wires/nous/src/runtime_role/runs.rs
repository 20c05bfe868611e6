//! Commands that begin a run: answered when it has begun, or when it is over.

use super::NousRuntime;
use super::answers::{self, why};
use super::commands::NousMemo;
use super::waiting::Waiting;
use crate::entry_name;
use domain::command::Receipt;
use domain::event::{Compaction, Outcome, Trigger};
use domain::ids::{EntryId, RunId, SessionId};
use domain::state::{EntryKind, State};
use rolekit::exchange::{Answering, Fault, Next, Settlement};
use roles::{Lane, RuntimeCx, View};
use serde_json::{Value, json};

/// Somebody waits for a compaction that is a run.
#[derive(Debug)]
pub(super) struct Compacting {
    pub(super) lane: Lane,
    id: String,
    instruction: Option<String>,
}

impl NousRuntime {
    /// On other wires a compaction is a run: it is answered with what that left behind.
    pub(super) fn compacting(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        settled: Settlement<'_, Self>,
    ) -> Answering<Self> {
        let NousMemo::Compact { session, instruction } = settled.memo else { return Err(Fault::Odd) };
        let receipt = settled.with?;
        let state = settled.view.filter(|view| *view.session == session).map(|view| view.state);
        let run = match receipt {
            Receipt::Compacted { compaction, .. } => {
                return Ok(Next::Reply(("compaction", compacted(&session, &compaction, instruction))));
            }
            Receipt::Started { run, .. } | Receipt::Queued { run, .. } => Some(run),
            _ => state.and_then(|state| state.runs.last()).map(|run| run.id),
        };
        let Some(run) = run else {
            let error = why("internal_error", "the compaction began without a name; ask get_messages for it");
            return Err(Fault::Error(error));
        };
        let (lane, id) = settled.from.clone();
        let compacting = Compacting { lane, id, instruction };
        let ended = state.and_then(|state| state.run(run)).and_then(|run| run.ended.clone());
        match (state, ended) {
            (Some(state), Some((_, outcome))) => {
                self.compaction_over(cx, &session, state, run, compacting, &outcome);
            }
            _ => {
                self.compacting.insert((session, run), compacting);
            }
        }
        Ok(Next::Nothing)
    }

    /// The run that was a compaction has ended.
    pub(super) fn compaction_over(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        session: &SessionId,
        state: &State,
        run: RunId,
        compacting: Compacting,
        outcome: &Outcome,
    ) {
        let Compacting { lane, id, instruction } = compacting;
        let mut left = state.entries.range(EntryId(run.0)..).map(|(_, entry)| &entry.kind);
        let compaction = left.find_map(|kind| match kind {
            EntryKind::Compaction(compaction) => Some(compaction),
            EntryKind::Message(_) | EntryKind::Notice { .. } => None,
        });
        let line = match (compaction, outcome) {
            (Some(compaction), _) => {
                answers::ok(&id, "compaction", compacted(session, compaction, instruction))
            }
            (None, Outcome::Done) => answers::error(&id, why("command_rejected", "nothing_to_compact")),
            (None, Outcome::Cancelled) => answers::error(&id, why("command_rejected", "request_aborted")),
            (None, Outcome::Failed(failure)) => {
                answers::error(&id, why("provider_error", failure.message.clone()))
            }
            (None, Outcome::Interrupted | Outcome::Lost) => {
                let message = "the runtime went away in the middle of the compaction";
                answers::error(&id, why("provider_error", message))
            }
        };
        self.answer(cx, lane, line);
    }

    /// A run began. Its events come after this.
    pub(super) fn started(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        (lane, id): (Lane, String),
        session: SessionId,
        wait: bool,
        receipt: &Receipt,
    ) -> Answering<Self> {
        let view = view.filter(|view| *view.session == session);
        let state = view.map(|view| view.state);
        let run = match receipt {
            Receipt::Started { run, .. } | Receipt::Queued { run, .. } => Some(*run),
            // A foreign runtime behind us does not know our number of the run.
            _ => state.and_then(|state| state.runs.last()).map(|run| run.id),
        };
        let Some(run) = run else {
            let error = why("internal_error", "the run began without a name; ask get_state for it");
            return Err(Fault::Error(error));
        };
        let leaf = state.and_then(|state| leaf_before(state, run));
        let told = self.tellings.get(&session).is_some_and(|telling| telling.run == run);
        let ended = state.and_then(|state| state.run(run)).and_then(|run| run.ended.clone());
        if wait {
            let waiting = Waiting::new(lane, id, leaf);
            match ended.filter(|_| !told) {
                // It ran and ended before the receipt came; its events went to the subscribers.
                Some((_, outcome)) => self.finish(cx, &session, waiting, &outcome),
                None => {
                    self.begin(&session, run);
                    self.waiting.insert((session, run), waiting);
                }
            }
            return Ok(Next::Nothing);
        }
        let name = match ended {
            Some(_) if !told => self.runs.give(&session, run),
            _ => self.begin(&session, run),
        };
        if !told {
            self.keep_fresh(cx);
        }
        let mut payload = json!({ "command": "prompt", "run_id": name, "session_id": session.as_str() });
        if let Some(leaf) = leaf {
            payload["leaf_id"] = Value::String(leaf);
        }
        Ok(Next::Reply(("accepted", payload)))
    }
}

/// The payload of `compaction`. What another wire does not tell of one is empty: its members are all required.
fn compacted(session: &SessionId, compaction: &Compaction, instruction: Option<String>) -> Value {
    let trigger = match compaction.trigger {
        Trigger::Manual => "manual",
        Trigger::Threshold => "threshold",
        Trigger::Overflow => "overflow",
    };
    let mut payload = json!({
        "session_id": session.as_str(),
        "summary": compaction.summary,
        "first_kept_entry_id": compaction.first_kept.map(entry_name::message).unwrap_or_default(),
        "tokens_before": compaction.tokens_before,
        "trigger": trigger,
    });
    if let Some(instruction) = instruction {
        payload["instruction"] = Value::String(instruction);
    }
    payload
}

/// Where the session stood before a run, as the wire names it.
fn leaf_before(state: &State, run: RunId) -> Option<String> {
    let first = state.entries.range(EntryId(run.0)..).next().map(|(_, entry)| entry);
    let leaf = match first {
        Some(entry) => entry.parent,
        None => state.leaf,
    };
    entry_name::write(state.entries.get(&leaf?)?)
}
