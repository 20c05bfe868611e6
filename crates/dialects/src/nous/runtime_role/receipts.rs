//! What the hub made of a command, told to the connection that waits for it.

use super::answers::{self, refused, why};
use super::commands::{Prompt, mode_accepted};
use super::waiting::Waiting;
use super::{NousRuntime, reads};
use crate::nous::entry_name;
use domain::command::{Command, Receipt, Refusal, RefusalKind, SessionCommand, Target};
use domain::event::{Compaction, Outcome, Trigger};
use domain::ids::{EntryId, RunId, SessionId};
use domain::queue::{Mode, QueueKind};
use domain::state::{EntryKind, State};
use roles::{Lane, RuntimeCx, View};
use serde_json::{Value, json};

/// How often a read is tried again when the hub shows another session, because another connection named one meanwhile.
const MAX_LOOKS: u32 = 16;

/// Somebody waits for a compaction that is a run.
#[derive(Debug)]
pub(super) struct Compacting {
    pub(super) lane: Lane,
    id: String,
    instruction: Option<String>,
}

/// Who waits, and for what.
#[derive(Debug)]
pub(super) struct HubCommand {
    pub(super) from: Option<(Lane, String)>,
    pub(super) what: Purpose,
}

/// What was asked of the hub.
#[derive(Debug)]
pub(super) enum Purpose {
    Prompt {
        session: SessionId,
        wait: bool,
    },
    /// A session for a prompt that came when none was active.
    SessionFor(Prompt),
    Enqueue {
        kind: QueueKind,
        name: String,
    },
    Abort {
        session: SessionId,
        name: String,
    },
    Session,
    Read {
        session: SessionId,
        look: SessionRead,
        tries: u32,
    },
    Tools {
        tools: Vec<String>,
    },
    Mode {
        kind: QueueKind,
        mode: Mode,
    },
    Extension {
        name: String,
    },
    Leaf {
        session: SessionId,
        leaf: EntryId,
    },
    Compact {
        session: SessionId,
        instruction: Option<String>,
    },
    /// The role's own wish; nobody is told.
    Silent,
}

/// A request that only looks at a session.
#[derive(Debug, Clone, Copy)]
pub(super) enum SessionRead {
    Messages { leaf: Option<EntryId> },
    Tree,
}

impl NousRuntime {
    /// Whether a session is only being read, so that seeing it does not make it active.
    pub(super) fn looks_at(&self, session: &SessionId) -> bool {
        self.pending.values().any(|pending| match &pending.what {
            Purpose::Read { session: of, .. }
            | Purpose::Leaf { session: of, .. }
            | Purpose::Compact { session: of, .. } => of == session,
            _ => false,
        })
    }

    /// Answers the request that a settlement belongs to.
    pub(super) fn settle(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        pending: HubCommand,
        with: Result<Receipt, Refusal>,
    ) {
        let Some((lane, id)) = pending.from else {
            if let Err(refusal) = with {
                cx.log(format!("nous: a setting of the server could not be applied: {refusal}"));
            }
            return;
        };
        let receipt = match with {
            Ok(receipt) => receipt,
            Err(refusal) => {
                let error = refused(&refusal, &named(&pending.what, &refusal));
                return self.answer(cx, lane, answers::error(&id, error));
            }
        };
        match (pending.what, receipt) {
            (Purpose::Prompt { session, wait }, receipt) => {
                self.started(cx, view, (lane, id), session, wait, &receipt);
            }
            (Purpose::SessionFor(prompt), Receipt::Session { session, .. }) => {
                self.active = Some(session.id);
                self.prompt(cx, lane, id, prompt);
            }
            (Purpose::Read { session, look, tries }, _) => {
                self.looked(cx, view, (lane, id), session, look, tries);
            }
            (Purpose::Compact { session, instruction }, receipt)
                if !matches!(receipt, Receipt::Compacted { .. }) =>
            {
                let compacting = Compacting { lane, id, instruction };
                self.compacting(cx, view, session, compacting, &receipt);
            }
            (Purpose::Abort { session, name }, receipt) => {
                let line = self.aborting(&id, &session, &name, &receipt);
                self.answer(cx, lane, line);
            }
            (what, receipt) => {
                let line = match self.told(what, receipt) {
                    Some((kind, payload)) => answers::ok(&id, kind, payload),
                    None => {
                        let odd = Refusal::new(RefusalKind::Internal, "an answer of another kind came");
                        answers::error(&id, refused(&odd, ""))
                    }
                };
                self.answer(cx, lane, line);
            }
        }
    }

    /// What the plain commands answer with.
    fn told(&mut self, what: Purpose, receipt: Receipt) -> Option<(&'static str, Value)> {
        let told = match (what, receipt) {
            (Purpose::Enqueue { kind, name }, _) => {
                let command = match kind {
                    QueueKind::Steer => "steer",
                    QueueKind::FollowUp => "follow_up",
                };
                ("accepted", json!({ "command": command, "run_id": name }))
            }
            (Purpose::Session, Receipt::Session { session, parent }) => {
                self.active = Some(session.id.clone());
                let mut payload = json!({ "session_id": session.id.as_str(), "active": true });
                if let Some(parent) = parent {
                    payload["parent_id"] = Value::String(parent.to_string());
                }
                ("session", payload)
            }
            (Purpose::Tools { tools }, _) => {
                let count = tools.len();
                self.tools = Some(tools);
                ("accepted", json!({ "command": "set_active_tools", "count": count }))
            }
            (Purpose::Mode { kind, mode }, _) => {
                *self.modes.of(kind) = Some(mode);
                ("accepted", mode_accepted(kind, mode))
            }
            (Purpose::Extension { .. }, Receipt::Extension(json)) => {
                let payload = match serde_json::from_str(json.as_str()) {
                    Ok(payload @ Value::Object(_)) => payload,
                    Ok(other) => json!({ "result": other }),
                    Err(_) => json!({ "result": json.as_str() }),
                };
                ("extension_result", payload)
            }
            (Purpose::Leaf { session, leaf }, _) => {
                ("leaf", json!({ "session_id": session.as_str(), "leaf_id": entry_name::message(leaf) }))
            }
            (Purpose::Compact { session, instruction }, Receipt::Compacted { compaction, .. }) => {
                ("compaction", compacted(&session, &compaction, instruction))
            }
            _ => return None,
        };
        Some(told)
    }

    fn aborting(&mut self, id: &str, session: &SessionId, name: &str, receipt: &Receipt) -> String {
        if matches!(receipt, Receipt::Cancelling { run } if run.outcome.is_some()) {
            return answers::error(id, why("command_rejected", "no_active_run"));
        }
        if let Some(telling) = self.tellings.get_mut(session).filter(|telling| telling.name == name) {
            telling.aborting = true;
        }
        answers::ok(id, "accepted", json!({ "command": "abort", "run_id": name }))
    }

    /// On other wires a compaction is a run: it is answered with what that left behind.
    fn compacting(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        session: SessionId,
        compacting: Compacting,
        receipt: &Receipt,
    ) {
        let state = view.filter(|view| *view.session == session).map(|view| view.state);
        let run = match receipt {
            Receipt::Started { run, .. } | Receipt::Queued { run, .. } => Some(*run),
            _ => state.and_then(|state| state.runs.last()).map(|run| run.id),
        };
        let Some(run) = run else {
            let error = why("internal_error", "the compaction began without a name; ask get_messages for it");
            return self.answer(cx, compacting.lane, answers::error(&compacting.id, error));
        };
        let ended = state.and_then(|state| state.run(run)).and_then(|run| run.ended.clone());
        match (state, ended) {
            (Some(state), Some((_, outcome))) => {
                self.compaction_over(cx, &session, state, run, compacting, &outcome);
            }
            _ => {
                self.compacting.insert((session, run), compacting);
            }
        }
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
    fn started(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        (lane, id): (Lane, String),
        session: SessionId,
        wait: bool,
        receipt: &Receipt,
    ) {
        let view = view.filter(|view| *view.session == session);
        let state = view.map(|view| view.state);
        let run = match receipt {
            Receipt::Started { run, .. } | Receipt::Queued { run, .. } => Some(*run),
            // A foreign runtime behind us does not know our number of the run.
            _ => state.and_then(|state| state.runs.last()).map(|run| run.id),
        };
        let Some(run) = run else {
            let error = why("internal_error", "the run began without a name; ask get_state for it");
            return self.answer(cx, lane, answers::error(&id, error));
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
            return;
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
        self.answer(cx, lane, answers::ok(&id, "accepted", payload));
    }

    fn looked(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        (lane, id): (Lane, String),
        session: SessionId,
        look: SessionRead,
        tries: u32,
    ) {
        let Some(view) = view.filter(|view| *view.session == session) else {
            if tries >= MAX_LOOKS {
                let error = why("internal_error", "the session could not be read; try again");
                return self.answer(cx, lane, answers::error(&id, error));
            }
            let what = Purpose::Read { session: session.clone(), look, tries: tries + 1 };
            let (target, command) = (Target::Session(session), Command::Session(SessionCommand::Stats));
            self.pending.command(cx, target, command, HubCommand { from: Some((lane, id)), what });
            return;
        };
        let line = match look {
            SessionRead::Messages { leaf: Some(leaf) } if !view.state.entries.contains_key(&leaf) => {
                answers::error(&id, why("command_rejected", "leaf_not_found"))
            }
            SessionRead::Messages { leaf } => {
                answers::ok(&id, "messages", reads::messages(&session, view.state, leaf, &self.runs))
            }
            SessionRead::Tree => answers::ok(&id, "tree", reads::tree(&session, view.state)),
        };
        self.answer(cx, lane, line);
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

/// What a command named, for refusals that repeat it.
fn named(what: &Purpose, refusal: &Refusal) -> String {
    match what {
        Purpose::Extension { name } => name.clone(),
        Purpose::Tools { tools } => {
            let found = tools.iter().find(|tool| refusal.message.ends_with(&format!(" {tool}")));
            found.or_else(|| tools.first()).cloned().unwrap_or_default()
        }
        _ => String::new(),
    }
}
