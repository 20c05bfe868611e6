//! A tool call: planned, decided, run. Which of a step's calls run together is in `together`.
//!
//! A yes is good for one run because the record of it is on disk before the tool starts. While the store fails there is no such record:
//! then nothing that changes anything runs unless a person was told so and said yes in spite of it.

use super::execute::Start;
use super::step::{Call, CallOutcomes};
use super::{Progress, Turn, Waits};
use crate::offered::WAIVED;
use domain::ask::{ActionDigest, Answer, Ask, AskKind, Closing, Consent, Scope};
use domain::content::Json;
use domain::event::{AskEvent, Body, ToolEvent};
use domain::ids::{AskId, ToolRunId};
use domain::offer::Offer;
use domain::port::OpenConsent;
use domain::tool::{Decider, Decision, NOT_ACTIVE, ToolOutcome, ToolResult};
use models::ToolArgs;
use std::sync::Arc;
use tokio::sync::oneshot;
use tools::checkpoint::CallScope;
use tools::policy::Verdict;
use tools::{Outcome, Plan, Tool, ToolError, Toolbox, Touches};

/// Characters of arguments that could not be read which the model gets to see again.
const MAX_ECHO: usize = 200;
/// What the model hears of a call that its own limit cut.
const CUT_CALL: &str = "Not run: your answer reached its output limit in the middle of this call, so the arguments are incomplete. \
                        Do the same in several smaller calls, such as a file written in parts.";
/// Tools that reach nothing but the person's own screen.
const TALKING: &[&str] = &["todo", "ask"];
/// Why a question was denied where no UI could show it, and what whoever started the runtime can do.
const NOBODY_TO_ASK: &str = "nobody could be asked here. Whoever started this runtime can allow it: with --policy auto-edit (or a \
                             wider mode) or with `policy` in the settings";

/// A call that is ready to be decided on, or why it cannot be.
pub(super) enum CallPlan {
    Ready(Arc<dyn Tool>, Box<Plan>, Touches),
    Impossible(String),
    /// The run was cancelled while what performs it was waited for.
    Cancelled,
}

/// Who looks at the files around a call that may change some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Watching {
    /// The call itself.
    Own,
    /// Whoever runs it together with others: it is one look around all of them.
    Together,
}

/// A consent that somebody was asked for.
pub(super) struct AwaitedConsent {
    ask: AskId,
    closing: oneshot::Receiver<Closing>,
    shown: ActionDigest,
    /// Why a yes cannot be written down, if the question says so.
    unwritten: Option<String>,
}

/// How a decision went.
enum ConsentOutcome {
    Run(Start),
    Not(Outcome),
    /// Denied without a reason: the turn stops.
    Stop(Outcome),
}

impl Turn {
    /// Runs the calls whose consents a crash left open.
    pub(super) async fn run_resumed(
        &self,
        calls: &[(&OpenConsent, Call)],
        mut waits: Waits,
        progress: &Progress,
    ) -> CallOutcomes {
        let mut done = CallOutcomes { outcomes: Vec::new(), stop: false };
        for (open, call) in calls {
            let mut planned = self.plan(call, &progress.toolbox).await;
            self.prepare(call, &mut planned, progress.leaf).await;
            let open = waits.remove(&open.ask).map(|closing| AwaitedConsent {
                ask: open.ask,
                closing,
                shown: open.digest.clone(),
                unwritten: None,
            });
            let (outcome, stop) = self.one(call, planned, open, Watching::Own).await;
            done.outcomes.push((call.id, outcome));
            done.stop |= stop;
        }
        done
    }

    /// What the call would do, and what it touches, as things stand.
    pub(super) async fn plan(&self, call: &Call, toolbox: &Toolbox) -> CallPlan {
        let Some(tool) = toolbox.reach(&call.call.name) else {
            let (name, names) = (&call.call.name, toolbox.names().collect::<Vec<_>>().join(", "));
            let why = if toolbox.hides(name) {
                format!("{NOT_ACTIVE}: {name}")
            } else {
                format!("There is no tool {name}")
            };
            return CallPlan::Impossible(format!("{why}. There are: {names}."));
        };
        if call.cut {
            return CallPlan::Impossible(CUT_CALL.to_owned());
        }
        if let Some(why) = &call.unclear {
            return CallPlan::Impossible(why.clone());
        }
        if let ToolArgs::Unparsed(text) = &call.call.args {
            let start: String = text.chars().take(MAX_ECHO).collect();
            return CallPlan::Impossible(format!("The arguments are not JSON: {start}"));
        }
        let tool = match tool.as_of_now() {
            None => tool,
            Some(coming) => tokio::select! {
                biased;
                () = self.cancel.cancelled() => return CallPlan::Cancelled,
                now = coming => match now {
                    Ok(now) => now,
                    Err(why) => return CallPlan::Impossible(why),
                },
            },
        };
        let (planner, args, place) = (tool.clone(), call.call.args.to_object(), self.place.for_one_call());
        let look = move || planner.plan(&args, &place).map(|plan| (Touches::of(&plan), plan));
        match tokio::task::spawn_blocking(look).await {
            Ok(Ok((touches, mut plan))) => {
                // Rules are for a project: where there is no workspace nothing is remembered.
                plan.rule = plan.rule.filter(|_| self.place.root().is_some());
                CallPlan::Ready(tool, Box::new(self.secrets.without_rule(plan)), touches)
            }
            Ok(Err(why)) => CallPlan::Impossible(self.place.named(why).to_string()),
            Err(_) => CallPlan::Impossible("The tool broke while it looked at its arguments.".to_owned()),
        }
    }

    /// Whether a call runs without a question, as things stand.
    pub(super) fn runs_unasked(&self, call: &Call, plan: &Plan) -> bool {
        matches!(self.verdict(plan), Verdict::Allow(_))
            && self.unwritten_yes(plan).is_none()
            && !self.denials.is_final(call)
    }

    /// Whether a call is denied whatever anybody says, as things stand.
    pub(super) fn never_runs(&self, call: &Call, plan: &Plan) -> bool {
        matches!(self.verdict(plan), Verdict::Deny(_)) || self.denials.is_final(call)
    }

    fn verdict(&self, plan: &Plan) -> Verdict {
        self.as_wished(plan, self.grants.verdict(plan))
    }

    /// The tool of this name, if a UI performs it.
    pub(super) fn offer(&self, tool: &str) -> Option<&Offer> {
        self.brief.options.offers.iter().find(|offer| offer.name == tool)
    }

    /// A person who wants to be asked first is asked, unless a rule of theirs says yes or the tool only talks with them. A UI may waive
    /// the question about what it does itself, not a mode that denies it.
    fn as_wished(&self, plan: &Plan, verdict: Verdict) -> Verdict {
        let waived = || self.offer(&plan.tool).is_some_and(|offer| offer.unasked);
        if matches!(verdict, Verdict::Ask) && !self.brief.options.ask_first && waived() {
            return Verdict::Allow(Decider::Rule(WAIVED.to_owned()));
        }
        let asks = self.brief.options.ask_first && !TALKING.contains(&plan.tool.as_str());
        match verdict {
            Verdict::Allow(by) if asks && !matches!(by, Decider::Rule(_)) => Verdict::Ask,
            verdict => verdict,
        }
    }

    /// One call from its plan to its end; `true` when the turn must stop.
    pub(super) async fn one(
        &self,
        call: &Call,
        planned: CallPlan,
        open: Option<AwaitedConsent>,
        watching: Watching,
    ) -> (Outcome, bool) {
        let (tool, plan) = match planned {
            CallPlan::Ready(tool, plan, _) => (tool, *plan),
            CallPlan::Impossible(why) => return (self.end(call, Outcome::failed(why)).await, false),
            CallPlan::Cancelled => return (self.end(call, Outcome::cancelled()).await, false),
        };
        if self.denials.is_final(call) {
            let outcome = self.denied_again(call).await;
            return (self.end(call, outcome).await, true);
        }
        let is_denied = matches!(self.verdict(&plan), Verdict::Deny(_));
        // What was asked about before a crash was let through by hooks then.
        let hooked = if open.is_some() || is_denied { None } else { self.hooks_before(call, &plan).await };
        let decided = match (open, self.verdict(&plan)) {
            (None, _) if hooked.is_some() => self.deny(call.id, Decider::Policy, hooked).await,
            (Some(open), _) => self.asked_about(call.id, open, &tool, &plan).await,
            (None, Verdict::Allow(_)) if self.unwritten_yes(&plan).is_some() => {
                self.ask(call.id, &tool, &plan).await
            }
            (None, Verdict::Allow(by)) => {
                let decision = yes(by, Scope::Once, &plan);
                self.record(call.id, decision, ConsentOutcome::Run(Start::Written)).await
            }
            (None, Verdict::Deny(reason)) => self.deny(call.id, Decider::Policy, Some(reason)).await,
            (None, Verdict::Ask) => self.ask(call.id, &tool, &plan).await,
        };
        match decided {
            ConsentOutcome::Run(start) => {
                let scope = CallScope::of(&plan).filter(|_| watching == Watching::Own);
                let told = self.hooks_after(&plan);
                let alone = self.changes_alone(scope.as_ref()).await;
                let watched = self.watch(scope).await;
                let is_task = plan.tool == crate::sub_agents::NAME;
                let outcome = self.execute(call.id, tool.as_ref(), plan, start).await;
                self.watched(watched).await;
                drop(alone);
                let mut outcome = self.secrets.mask(outcome);
                self.hooks_add(call, told, &mut outcome).await;
                // The person said no to a sub-agent's call: that is one to what it was for.
                let stop = is_task && outcome.outcome == ToolOutcome::Denied;
                (self.end(call, outcome).await, stop)
            }
            ConsentOutcome::Not(mut outcome) => {
                self.denials.count(call, &mut outcome);
                (self.end(call, outcome).await, false)
            }
            ConsentOutcome::Stop(outcome) => (self.end(call, outcome).await, true),
        }
    }

    /// Why a yes to this cannot be written down now, if that matters.
    fn unwritten_yes(&self, plan: &Plan) -> Option<String> {
        if plan.read_only { None } else { self.port.unwritten.why() }
    }

    /// Asks the person, once more when the disk fails while they think: then a yes is something else than it was.
    async fn ask(&self, id: ToolRunId, tool: &Arc<dyn Tool>, plan: &Plan) -> ConsentOutcome {
        let ask = AskId::mint(&self.brief.ids);
        let unwritten = self.unwritten_yes(plan);
        let mut assessment = plan.assessment.clone();
        if let Some(why) = &unwritten {
            assessment.reasons.insert(0, could_run_twice(why));
        }
        // A rule would say yes to the next ones without naming that.
        let (grants, asked) = (self.grants.clone(), plan.clone());
        let proposed = tokio::task::spawn_blocking(move || grants.proposed(&asked)).await;
        let rule = proposed.ok().flatten().filter(|_| unwritten.is_none());
        let consent = Consent {
            tool: id,
            name: plan.tool.clone(),
            args: Json::verbatim(plan.args.to_string()),
            preview: plan.preview.clone(),
            assessment,
            digest: plan.digest.clone(),
            rule,
            takes_reason: true,
        };
        let closing = self.asked.wait_for(ask);
        let title = plan.title.clone();
        let run = Some(self.brief.run);
        let asked = Ask { id: ask, run, title, kind: AskKind::Consent(Box::new(consent)), deadline: None };
        if !self.port.emit_kept(Body::Ask(AskEvent::Opened(asked))).await {
            return ConsentOutcome::Not(Outcome::cancelled());
        }
        let open = AwaitedConsent { ask, closing, shown: plan.digest.clone(), unwritten };
        self.asked_about(id, open, tool, plan).await
    }

    async fn asked_about(
        &self,
        id: ToolRunId,
        open: AwaitedConsent,
        tool: &Arc<dyn Tool>,
        plan: &Plan,
    ) -> ConsentOutcome {
        let AwaitedConsent { ask, mut closing, shown, unwritten } = open;
        let mut changes = self.grants.changes();
        // A change may have come between the verdict and here, or before a crash. No rule covers what cannot be written down.
        let may_cover = unwritten.is_none();
        let mut covered = if may_cover { self.look_again(ask, plan).await } else { None };
        let closing = loop {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return ConsentOutcome::Not(Outcome::cancelled()),
                closing = &mut closing => break closing.unwrap_or(Closing::Withdrawn),
                Ok(()) = changes.changed(), if may_cover && covered.is_none() => {
                    covered = self.look_again(ask, plan).await;
                }
            }
        };
        match closing {
            Closing::Answered { answer: Answer::Allow { scope, .. }, by } => {
                if let Err(why) = still_valid(tool, plan, &shown).await {
                    let reason = format!("{why} Look again before you try once more.");
                    return self.deny(id, Decider::Policy, Some(reason)).await;
                }
                if unwritten.is_some() {
                    let decision = yes(Decider::Person(by), Scope::Once, plan);
                    return self.record(id, decision, ConsentOutcome::Run(Start::InSpite)).await;
                }
                if self.unwritten_yes(plan).is_some() {
                    // Boxed because it is this function again, once.
                    return Box::pin(self.ask(id, tool, plan)).await;
                }
                self.grants.remember(scope, plan);
                let decision = yes(covered.unwrap_or(Decider::Person(by)), scope, plan);
                self.record(id, decision, ConsentOutcome::Run(Start::Written)).await
            }
            Closing::Answered { answer: Answer::Deny { reason: Some(reason) }, by } => {
                self.deny(id, Decider::Person(by), Some(reason)).await
            }
            Closing::Answered { by, .. } => match self.deny(id, Decider::Person(by), None).await {
                ConsentOutcome::Not(outcome) => ConsentOutcome::Stop(outcome),
                decided => decided,
            },
            Closing::Withdrawn => ConsentOutcome::Not(Outcome::cancelled()),
            Closing::Expired => self.deny_alone(id, "nobody answered in time", plan, unwritten).await,
            Closing::Unattended => self.deny_alone(id, NOBODY_TO_ASK, plan, unwritten).await,
        }
    }

    /// Looks once more at what is being asked. When a rule or another mode covers it now, the question is answered with that;
    /// the answer comes back the way a person's does, so whoever was first wins.
    async fn look_again(&self, ask: AskId, plan: &Plan) -> Option<Decider> {
        let (grants, shown) = (self.grants.clone(), plan.clone());
        let verdict = tokio::task::spawn_blocking(move || grants.fresh_verdict(&shown)).await;
        let Ok(Verdict::Allow(by)) = verdict.map(|verdict| self.as_wished(plan, verdict)) else {
            return None;
        };
        let words = match &by {
            Decider::Rule(words) => format!("rule: {words}"),
            _ => "policy".to_owned(),
        };
        let answer = Answer::Allow { scope: Scope::Once, digest: Some(plan.digest.clone()) };
        let closing = Closing::Answered { answer, by: Some(words) };
        self.port.emit_kept(Body::Ask(AskEvent::Closed { ask, closing })).await.then_some(by)
    }

    /// Denies for want of a person.
    async fn deny_alone(
        &self,
        id: ToolRunId,
        how: &str,
        plan: &Plan,
        unwritten: Option<String>,
    ) -> ConsentOutcome {
        let twice = unwritten.map(|why| could_run_twice(&why));
        let lost = || plan.unkept.as_ref().map(|why| format!("what it changes cannot be undone ({why})"));
        let reason = match twice.or_else(lost) {
            Some(why) => format!("{why}, and {how}"),
            None => how.to_owned(),
        };
        self.deny(id, Decider::Policy, Some(reason)).await
    }

    async fn deny(&self, id: ToolRunId, by: Decider, reason: Option<String>) -> ConsentOutcome {
        let text = match &reason {
            Some(reason) => format!("Permission denied: {reason}"),
            None => "Permission denied.".to_owned(),
        };
        let decision = Decision { allowed: false, by, scope: Scope::Once, reason, digest: None };
        let outcome = Outcome { outcome: ToolOutcome::Denied, result: ToolResult::text(text) };
        self.record(id, decision, ConsentOutcome::Not(outcome)).await
    }

    /// The model asks for what it was told is final: nobody is asked once more, and the turn ends.
    async fn denied_again(&self, call: &Call) -> Outcome {
        self.denials.insist(call);
        let reason = Some("it was denied before, and that is final".to_owned());
        match self.deny(call.id, Decider::Policy, reason).await {
            ConsentOutcome::Not(outcome) | ConsentOutcome::Stop(outcome) => outcome,
            ConsentOutcome::Run(_) => Outcome::cancelled(),
        }
    }

    async fn record(&self, tool: ToolRunId, decision: Decision, then: ConsentOutcome) -> ConsentOutcome {
        if self.port.emit_kept(Body::Tool(ToolEvent::Decided { tool, decision })).await {
            then
        } else {
            ConsentOutcome::Not(Outcome::cancelled())
        }
    }

    async fn end(&self, call: &Call, mut outcome: Outcome) -> Outcome {
        self.repeats.ended(call, &mut outcome);
        let (tool, how, result) = (call.id, outcome.outcome.clone(), outcome.result.clone());
        self.port.emit_kept(Body::Tool(ToolEvent::Ended { tool, outcome: how, result })).await;
        outcome
    }
}

/// Whether what was shown is still what would happen.
async fn still_valid(tool: &Arc<dyn Tool>, plan: &Plan, shown: &ActionDigest) -> Result<(), String> {
    if plan.digest != *shown {
        return Err(ToolError::Stale { tool: plan.tool.clone() }.to_string());
    }
    let (tool, plan) = (tool.clone(), plan.clone());
    match tokio::task::spawn_blocking(move || tools::still_valid(tool.as_ref(), &plan)).await {
        Ok(valid) => valid.map_err(|why| why.to_string()),
        Err(_) => Err("The tool broke while it looked again.".to_owned()),
    }
}

/// What a yes means while the store fails.
pub(super) fn could_run_twice(why: &str) -> String {
    format!("it cannot be written down that this runs ({why}): after a crash it could run twice")
}

fn yes(by: Decider, scope: Scope, plan: &Plan) -> Decision {
    Decision { allowed: true, by, scope, reason: None, digest: Some(plan.digest.clone()) }
}
