//! The tool calls of a step, in their order; those that are known not to touch each other run together.
//!
//! A group holds calls that need no question, so questions come one at a time and in order; a call that touches what one of the group
//! touches waits until the group is over and is then planned anew. Undo takes one look before a group and one after it: all of a turn
//! is taken back as one. What a call touches is decided in `tools` ([`tools::Touches`]).

use super::consent::{CallPlan, Watching};
use super::step::{Call, CallOutcomes};
use super::{Progress, Turn};
use domain::event::{Body, ToolEvent};
use domain::ids::ToolRunId;
use domain::tool::{ToolOutcome, ToolResult};
use tools::checkpoint::CallScope;
use tools::{Outcome, Touches};

/// Calls that run at the same time.
const MAX_TOGETHER: usize = 32;

/// Calls that run at the same time.
#[derive(Default)]
struct CallGroup<'a> {
    calls: Vec<(&'a Call, CallPlan)>,
    touches: Vec<Touches>,
    /// What they may change, all of them.
    scope: Option<CallScope>,
}

impl<'a> CallGroup<'a> {
    /// Whether a call need not wait until the group is over.
    fn may_take(&self, planned: &CallPlan) -> bool {
        let CallPlan::Ready(_, plan, touches) = planned else { return false };
        let fits = match (&self.scope, CallScope::of(plan)) {
            (Some(known), Some(new)) => known.with(&new).is_some(),
            _ => true,
        };
        fits && self.calls.len() < MAX_TOGETHER
            && self.touches.iter().all(|other| other.is_apart_from(touches))
    }

    /// Takes a call in; gives it back when it has to wait.
    fn take(&mut self, call: &'a Call, planned: CallPlan) -> Result<(), CallPlan> {
        let CallPlan::Ready(_, plan, touches) = &planned else { return Err(planned) };
        if !self.may_take(&planned) {
            return Err(planned);
        }
        self.scope = match (self.scope.take(), CallScope::of(plan)) {
            (Some(known), Some(new)) => known.with(&new),
            (known, new) => new.or(known),
        };
        self.touches.push(touches.clone());
        self.calls.push((call, planned));
        Ok(())
    }
}

impl Turn {
    /// Runs the calls of a step.
    pub(super) async fn run_calls(&self, calls: &[Call], progress: &Progress) -> CallOutcomes {
        let mut done = CallOutcomes { outcomes: Vec::new(), stop: false };
        let mut left = calls.iter().peekable();
        while let Some(call) = left.next() {
            if let Some(why) = self.skips(&done) {
                self.skip(call, why, &mut done).await;
                continue;
            }
            let mut planned = self.plan(call, &progress.toolbox).await;
            self.prepare(call, &mut planned, progress.leaf).await;
            let mut group = CallGroup::default();
            let alone = match self.joins(call, &planned) {
                true => group.take(call, planned).err(),
                false => Some(planned),
            };
            if let Some(planned) = alone {
                let (outcome, stop) = self.one(call, planned, None, Watching::Own).await;
                done.outcomes.push((call.id, outcome));
                done.stop |= stop;
                self.say_late(progress.leaf).await;
                continue;
            }
            while let Some(next) = left.peek() {
                let mut planned = self.plan(next, &progress.toolbox).await;
                // No look at the files for one that has to wait: it would be older than what the group does.
                if !self.joins(next, &planned) || !group.may_take(&planned) {
                    break;
                }
                self.prepare(next, &mut planned, progress.leaf).await;
                if !self.joins(next, &planned) || group.take(next, planned).is_err() {
                    break;
                }
                left.next();
            }
            self.run_together(group, &mut done).await;
            self.say_late(progress.leaf).await;
        }
        done
    }

    /// Whether a call may be one of a group.
    fn joins(&self, call: &Call, planned: &CallPlan) -> bool {
        let CallPlan::Ready(_, plan, _) = planned else { return false };
        self.runs_unasked(call, plan) && !(CallScope::of(plan).is_some() && self.hooks_may_write())
    }

    async fn run_together(&self, group: CallGroup<'_>, done: &mut CallOutcomes) {
        let alone = self.changes_alone(group.scope.as_ref()).await;
        let watched = self.watch(group.scope).await;
        let ids: Vec<ToolRunId> = group.calls.iter().map(|(call, _)| call.id).collect();
        let running =
            group.calls.into_iter().map(|(call, planned)| self.one(call, planned, None, Watching::Together));
        let outcomes = futures_join(running).await;
        self.watched(watched).await;
        drop(alone);
        for (id, (outcome, stop)) in ids.into_iter().zip(outcomes) {
            done.outcomes.push((id, outcome));
            done.stop |= stop;
        }
    }

    fn skips(&self, done: &CallOutcomes) -> Option<&'static str> {
        if self.cancel.is_cancelled() {
            Some("Not run: the run was cancelled.")
        } else if done.stop {
            Some("Not run: the person denied the call before it.")
        } else if self.steered.waits() {
            Some("Skipped: the person has said something new.")
        } else {
            None
        }
    }

    async fn skip(&self, call: &Call, why: &str, done: &mut CallOutcomes) {
        let outcome = if self.cancel.is_cancelled() { ToolOutcome::Cancelled } else { ToolOutcome::Skipped };
        let result = ToolResult::text(why);
        self.port
            .emit(Body::Tool(ToolEvent::Ended {
                tool: call.id,
                outcome: outcome.clone(),
                result: result.clone(),
            }))
            .await;
        done.outcomes.push((call.id, Outcome { outcome, result }));
    }
}

/// Waits for all, in order of the list; each makes progress while the others wait.
async fn futures_join<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.into_iter().map(|future| Some(Box::pin(future))).collect();
    let mut outputs: Vec<Option<F::Output>> = waiting.iter().map(|_| None).collect();
    std::future::poll_fn(move |cx| {
        for (slot, output) in waiting.iter_mut().zip(&mut outputs) {
            if let Some(future) = slot
                && let std::task::Poll::Ready(ready) = future.as_mut().poll(cx)
            {
                *output = Some(ready);
                *slot = None;
            }
        }
        if waiting.iter().all(Option::is_none) {
            std::task::Poll::Ready(outputs.iter_mut().filter_map(Option::take).collect())
        } else {
            std::task::Poll::Pending
        }
    })
    .await
}
