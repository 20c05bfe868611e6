//! What an agent asks to do by its own hands, judged as what our own agent wants: a command by its line, a change by its texts; what is
//! neither is asked about.
//!
//! What it is not: a leash. An agent that does something else than it showed is held by nothing here. Invariants: a mode lets pass what it
//! lets pass outside of the sandbox, since that is where it happens; what cannot be judged whole is covered by no rule.

use super::{PendingErrand, Then, ToolRunner, blocking, key_of, plan_write};
use domain::ask::{Assessment, Risk};
use domain::content::Json;
use domain::errand::{AskedCall, AskedChange, ErrandCause, ErrandConsent, ErrandDone, ErrandId, ErrandNews};
use domain::session::Policy;
use domain::tool::Decider;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tools::policy::Verdict;
use tools::{Bash, Deed, Plan, Tool, ToolContext, ToolError};

/// Largest file whose text is put together with a change of one place of it.
const MAX_CHANGED: u64 = 4 * 1024 * 1024;
/// Most changes of one call that are judged; more are asked about.
const MAX_CHANGES: usize = 64;

impl ToolRunner {
    /// Judges a call: it may be, it may not, or a person must say.
    pub(super) async fn judge(self: Arc<Self>, id: ErrandId, call: AskedCall, policy: Policy) {
        let (place, of) = (self.unheld.clone(), call.clone());
        let Ok(plans) = blocking(move || Ok(plans(&of, &place))).await else {
            return self.refuse(id, ErrandCause::Failed, "it could not be judged").await;
        };
        let mut by = None;
        let mut asks = plans.is_empty();
        for plan in &plans {
            match self.verdict(policy, plan) {
                Verdict::Allow(decider) => by = by.or(Some(decider)),
                Verdict::Deny(why) => return self.refuse(id, ErrandCause::Mode, why).await,
                Verdict::Ask => asks = true,
            }
        }
        let mut plans = plans.into_iter();
        let Some(first) = plans.next() else {
            return self.refuse(id, ErrandCause::Failed, "it could not be judged").await;
        };
        let more: Vec<Plan> = plans.collect();
        let again = more.is_empty() && !first.args.is_null() && self.same().contains(&key_of(&first));
        if !asks || again {
            let by =
                by.filter(|_| !again).unwrap_or_else(|| Decider::Rule(domain::ask::EARLIER_YES.to_owned()));
            let done = ErrandDone::Allowed(by);
            return self.say(id, ErrandNews::Done { done, seen: None }).await;
        }
        let alone = more.is_empty();
        let consent = ErrandConsent {
            title: first.title.clone(),
            name: call.name,
            args: Json::verbatim(first.args.to_string()),
            preview: first.preview.clone().filter(|_| alone),
            assessment: assessment(&first, &more),
            rule: self.offered(&first).filter(|_| alone),
        };
        self.asked().insert(id, PendingErrand { plan: first, then: Then::Judged(more) });
        self.say(id, ErrandNews::Asks(Box::new(consent))).await;
    }
}

/// All that is to be said of several plans: the highest risk, and every reason once.
fn assessment(first: &Plan, more: &[Plan]) -> Assessment {
    let mut all = first.assessment.clone();
    for plan in more {
        all.risk = all.risk.max(plan.assessment.risk);
        all.reversible &= plan.assessment.reversible;
        for reason in &plan.assessment.reasons {
            if !all.reasons.contains(reason) {
                all.reasons.push(reason.clone());
            }
        }
    }
    all
}

/// What a call would do, in plans of our own tools; one of no tool of ours where that cannot be said.
fn plans(call: &AskedCall, place: &ToolContext) -> Vec<Plan> {
    let known = match &call.command {
        _ if !call.is_whole => None,
        Some(line) => {
            let args = match &call.cwd {
                Some(cwd) => json!({ "command": line, "workdir": cwd }),
                None => json!({ "command": line }),
            };
            Bash::default().plan(&args, place).ok().map(|plan| vec![plan])
        }
        None => changed(&call.changes, place).ok().flatten(),
    };
    known.filter(|plans| !plans.is_empty()).unwrap_or_else(|| vec![unknown(call, place)])
}

/// A call that is none of ours: no rule covers it, and only a mode in which nothing is asked lets it pass.
fn unknown(call: &AskedCall, place: &ToolContext) -> Plan {
    let args: Value = serde_json::from_str(call.args.as_str()).unwrap_or_default();
    // A call that shows nothing is never the same as another one.
    let shows = args.as_object().is_some_and(|args| !args.is_empty());
    let args = if shows { args } else { Value::Null };
    let name = format!("{} (of the agent)", call.name);
    let mut plan = Plan::reading(&name, &args, place, format!("run {}", call.name));
    plan.read_only = false;
    plan.deed = Deed::Other;
    plan.assessment.risk = plan.assessment.risk.max(Risk::Medium);
    plan.assessment.unrated = true;
    plan
}

/// Changes of files as writes of ours; `None` where a place that is to be changed is not there once.
fn changed(changes: &[AskedChange], place: &ToolContext) -> Result<Option<Vec<Plan>>, ToolError> {
    if changes.is_empty() || changes.len() > MAX_CHANGES {
        return Ok(None);
    }
    let mut texts: BTreeMap<PathBuf, (String, String)> = BTreeMap::new();
    for change in changes {
        let real = place.resolve(&change.path)?;
        let before = match texts.get(&real) {
            Some((_, text)) => Some(text.clone()),
            None => match std::fs::metadata(&real) {
                Ok(meta) if !meta.is_file() || meta.len() > MAX_CHANGED => return Ok(None),
                Ok(_) => match std::fs::read_to_string(&real) {
                    Ok(text) => Some(text),
                    Err(_) => return Ok(None),
                },
                Err(_) => None,
            },
        };
        let Some(after) = after(before.as_deref(), change) else { return Ok(None) };
        texts.insert(real, (change.path.clone(), after));
    }
    let plans = texts.into_values().map(|(path, text)| plan_write(&path, &text, place));
    plans.collect::<Result<Vec<Plan>, ToolError>>().map(Some)
}

/// The text after a change, where it is sure which place is meant.
fn after(before: Option<&str>, change: &AskedChange) -> Option<String> {
    let (before, old) = match (before, change.old.as_deref().filter(|old| !old.is_empty())) {
        (None, None) | (Some(_), None) => return Some(change.new.clone()),
        // It says that something stands there, and nothing does.
        (None, Some(_)) => return None,
        (Some(before), Some(old)) => (before, old),
    };
    if before == old {
        return Some(change.new.clone());
    }
    (before.matches(old).count() == 1).then(|| before.replacen(old, &change.new, 1))
}
