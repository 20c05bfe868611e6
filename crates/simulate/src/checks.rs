//! What holds in every schedule and no single log shows: it is held against what was told to whom, and what was done in the world.

use crate::database::{Incarnation, Kept};
use domain::event::Event;
use domain::ids::{AskId, RunId, SessionId, ToolRunId};
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
#[derive(Default)]
pub(crate) struct Checks {
    /// Tools that were done, in the world.
    done: BTreeSet<(SessionId, ToolRunId)>,
    /// Runs of which a process has told somebody that they are being stopped, and when.
    stopped: BTreeMap<(Incarnation, SessionId, RunId), u64>,
    /// Questions that a process has told somebody to have answered.
    answered: BTreeSet<(Incarnation, SessionId, AskId)>,
    /// UIs whose last word is kept.
    last: BTreeSet<usize>,
    /// Commands that were settled, events that were told: whether a schedule is worth anything.
    pub(crate) tools: u64,
    pub(crate) told: u64,
    pub(crate) settled: u64,
}

impl Checks {
    /// A tool begins to act.
    pub(crate) fn acts(
        &mut self,
        who: Incarnation,
        (session, run, tool): (&SessionId, RunId, ToolRunId),
        kept: Option<&Kept>,
        now: u64,
    ) -> Result<(), String> {
        self.tools += 1;
        if !self.done.insert((session.clone(), tool)) {
            return Err(format!("no tool twice: {tool} of {session} acts again"));
        }
        if !kept.is_some_and(|kept| kept.has_started(tool)) {
            return Err(format!("{tool} of {session} acts, and its start is not kept"));
        }
        // Its start was granted in this very moment, at the latest.
        match self.stopped.get(&(who, session.clone(), run)) {
            Some(since) if *since < now => {
                Err(format!("law 5: {tool} starts {} ms after {run} was being stopped", now - since))
            }
            _ => Ok(()),
        }
    }

    /// Somebody was told that a run is being stopped: from now on nothing of it starts there.
    pub(crate) fn stopping(&mut self, who: Incarnation, session: &SessionId, run: RunId, now: u64) {
        self.stopped.entry((who, session.clone(), run)).or_insert(now);
    }

    /// Somebody was told that their answer counts.
    pub(crate) fn answered(
        &mut self,
        who: Incarnation,
        session: &SessionId,
        ask: AskId,
    ) -> Result<(), String> {
        if self.answered.insert((who, session.clone(), ask)) {
            Ok(())
        } else {
            Err(format!("law 4: {ask} of {session} was answered twice, and both were told that it counts"))
        }
    }

    /// What a UI said last is kept.
    pub(crate) fn last_words(&mut self, ui: usize) {
        self.last.insert(ui);
    }

    /// Of so many nothing more is waited for.
    pub(crate) fn last_said(&self) -> u64 {
        self.last.len() as u64
    }

    /// Somebody who has not heard that nothing is saved was told of an event.
    pub(crate) fn told(&mut self, who: &str, event: &Event, kept: Option<&Kept>) -> Result<(), String> {
        self.told += 1;
        if !event.body.is_durable() {
            return Ok(());
        }
        match kept.and_then(|kept| kept.event(event.seq)) {
            None => Err(format!(
                "law 7: {who} was told of event {}, which is not kept: {:?}",
                event.seq.0, event.body
            )),
            Some(kept) if kept.body != event.body => Err(format!(
                "{who} was told another event {} than is kept: {:?} for {:?}",
                event.seq.0, event.body, kept.body
            )),
            Some(_) => Ok(()),
        }
    }
}
