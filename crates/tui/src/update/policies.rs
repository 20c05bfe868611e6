//! The key that takes the next mode. It never takes the widest one, and never answers a question by the way.

use crate::clean::clean_line;
use crate::model::{Model, Want};
use crate::msg::Fx;
use crate::policy::asks_when;
use domain::command::{Command, Refusal, SessionCommand};
use domain::session::Policy;
use domain::signal::Level;

/// The mode after this one; whoever wants everything allowed must say so in words.
fn after(policy: Policy) -> Policy {
    match policy {
        Policy::Plan | Policy::Full => Policy::Ask,
        Policy::Ask => Policy::AutoEdit,
        Policy::AutoEdit => Policy::Sandboxed,
        Policy::Sandboxed => Policy::ReadOnly,
        Policy::ReadOnly => Policy::Plan,
    }
}

/// Takes the next mode, where the runtime has modes.
pub(super) fn next(model: &mut Model, fx: &mut Vec<Fx>) {
    let seen = model.world.seen();
    let can = &seen.abilities;
    if !can.policy {
        let who = if can.name.is_empty() { "this runtime".to_owned() } else { clean_line(&can.name) };
        let from_here = if can.consent { "; /mode tells what can be set from here" } else { "" };
        return model.toast(Level::Info, format!("{who} acts by its own rules{from_here}"));
    }
    if model.screen.asks.is_open() {
        // Another mode may answer it, and this key is no answer.
        return model.toast(Level::Info, "a question is open: answer it first, or choose a mode with /mode");
    }
    let now = model.screen.tickets.policy_to_come().unwrap_or(seen.state.settings.policy);
    take(model, after(now), fx);
}

fn take(model: &mut Model, policy: Policy, fx: &mut Vec<Fx>) {
    model.send(Want::NextPolicy(policy), Command::Session(SessionCommand::SetPolicy { policy }), fx);
}

/// The mode is taken: says which, for the key did not.
pub(super) fn taken(model: &mut Model, policy: Policy) {
    model.toast(Level::Success, asks_when(policy));
}

/// The mode cannot be had here (a kernel that holds no sandbox): the one after it is taken, so that the key never sticks.
pub(super) fn refused(model: &mut Model, policy: Policy, why: &Refusal, fx: &mut Vec<Fx>) {
    model.toast(Level::Warning, why.to_string());
    if policy == Policy::Sandboxed {
        take(model, after(policy), fx);
    }
}
