//! A forced compaction. On this wire it is a run; ours is none, so one is made up around it.
//!
//! It may take as long as the model does. So that the UI is not left without an answer, its run begins after [`BEGINS_AFTER`]: what is
//! refused is refused by then, with an error. Once begun it cannot be stopped, and whoever asks is told that it runs.

use super::super::wire::{AgentEvent, CompactionComplete, CompactionStart, RunStartResult, Status, Words};
use super::CodeliaRuntime;
use super::requests::CodeliaMemo;
use super::telling::{Prompted, RunLine, Telling, Texts};
use domain::command::{Receipt, RefusalKind, Target};
use domain::ids::RunId;
use domain::port::Ticket;
use rolekit::endpoint::MAX_PENDING;
use rolekit::exchange::{Answering, Next, Pending, Settlement};
use roles::{RuntimeCx, TimerKey};
use std::time::Duration;
use wire::WireId;
use wire::jsonrpc;

/// After this a compaction that was not refused is told as under way.
pub const BEGINS_AFTER: Duration = Duration::from_millis(500);
/// Begins the name of a compaction told as a run; no run of ours is named so.
const NAME: &str = "compaction_";

impl CodeliaRuntime {
    /// A compaction is with the hub under this ticket.
    pub(super) fn await_compaction(cx: &mut RuntimeCx<'_>, ticket: Ticket) {
        cx.timer(TimerKey(ticket.0), BEGINS_AFTER);
    }

    /// It was not refused so far: it goes on.
    pub(super) fn compaction_goes_on(&mut self, cx: &mut RuntimeCx<'_>, ticket: Ticket) {
        let Some(pending) = self.endpoint.pending.get_mut(ticket) else { return };
        let Pending { from: Some((id, _)), memo: CodeliaMemo::Compact(_) } = pending else { return };
        let id = id.clone();
        if !self.compactions.contains_key(&ticket) {
            let begun = self.begin_compaction(cx, &id);
            self.compactions.insert(ticket, begun);
        }
    }

    fn begin_compaction(&mut self, cx: &mut RuntimeCx<'_>, id: &WireId) -> Telling {
        self.compaction_runs += 1;
        let name = format!("{NAME}{}", self.compaction_runs);
        let result = RunStartResult { run_id: name.clone(), session_id: None };
        self.send_result(cx, jsonrpc::result(id, &result));
        cx.send(RunLine::Status(Status::Running, None).line(&name));
        let mut telling = Telling::new(RunId(0), name, Texts::Whole, Prompted::Here);
        let start = AgentEvent::CompactionStart(CompactionStart { timestamp: cx.now.0 });
        let told = telling.number(vec![start]);
        Self::say(cx, &telling.name, told);
        telling
    }

    /// Answers a compaction that the UI asked for, and remembers it so that it is not told a second time.
    pub(super) fn compacted(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        settled: Settlement<'_, Self>,
    ) -> Answering<Self> {
        let told = self.compactions.remove(&settled.ticket);
        let named = match settled.memo {
            CodeliaMemo::Compact(Target::Session(session)) => Some(session),
            _ => None,
        };
        let here = settled.view.map(|view| view.session.clone());
        let session = here.or(named).or_else(|| self.current.clone());
        let (compacted, words) = match (settled.with, session, &told) {
            (Ok(Receipt::Compacted { entry, .. }), Some(session), _) => {
                if self.own_compactions.len() >= MAX_PENDING {
                    self.own_compactions.pop_first();
                }
                self.own_compactions.insert((session, entry));
                (true, "The conversation was compacted.")
            }
            (Ok(_), _, _) => (true, "The conversation was compacted."),
            (Err(refusal), _, _) if refusal.kind == RefusalKind::NothingToCompact => {
                (false, "There is nothing to compact yet.")
            }
            (Err(refusal), _, Some(telling)) => {
                cx.send(RunLine::Status(Status::Error, Some(refusal.to_string())).line(&telling.name));
                return Ok(Next::Nothing);
            }
            (Err(refusal), _, None) => return Err(refusal.into()),
        };
        let mut telling = match told {
            Some(telling) => telling,
            None => self.begin_compaction(cx, settled.from),
        };
        let timestamp = cx.now.0;
        let events = vec![
            AgentEvent::CompactionComplete(CompactionComplete { timestamp, compacted }),
            AgentEvent::Final(Words { content: words.to_owned(), timestamp }),
        ];
        let told = telling.number(events);
        Self::say(cx, &telling.name, told);
        cx.send(RunLine::Status(Status::Completed, None).line(&telling.name));
        Ok(Next::Nothing)
    }

    /// How a compaction that was told as a run stands; `None` when this names none.
    pub(super) fn compaction(&self, run_id: &str) -> Option<Status> {
        let number: u64 = run_id.strip_prefix(NAME)?.parse().ok()?;
        if !(1..=self.compaction_runs).contains(&number) || run_id != format!("{NAME}{number}") {
            return None;
        }
        let runs = self.compactions.values().any(|telling| telling.name == run_id);
        Some(if runs { Status::Running } else { Status::Completed })
    }
}
