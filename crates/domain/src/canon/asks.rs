//! Asks of a foreign runtime, and what follows for its tools when the person has answered.

use super::Canon;
use super::draft::Draft;
use crate::ask::{ActionDigest, Answer, Ask, AskKind, Closing, Consent, Scope};
use crate::event::{AskEvent, Body, ToolEvent};
use crate::fact::{FactAsk, Key};
use crate::ids::{AskId, Millis, ToolRunId};
use crate::state::State;
use crate::tool::{Decider, Decision};

impl Canon {
    /// Opens an ask of the peer, unless it is open already or there is nothing left to decide.
    pub(super) fn open_ask(
        &mut self,
        draft: &mut Draft<'_>,
        key: &Key,
        title: String,
        kind: FactAsk,
        deadline: Option<Millis>,
    ) {
        if self.open_ask_of(draft, key).is_some() {
            return;
        }
        let kind = match kind {
            FactAsk::Other(kind) => kind,
            FactAsk::Consent { tool, name, args, preview, assessment, rule, takes_reason } => {
                let about = tool.unwrap_or_else(|| key.clone());
                let tool = self.propose(draft, &about, Some(name.clone()), Some(args.clone()));
                let stand = draft.tool(tool);
                // One that runs may ask about more than itself.
                let is_over = stand.allowed.is_some() && !stand.running;
                if is_over || !draft.asks_about(tool).is_empty() {
                    return;
                }
                let digest = ActionDigest(format!("{name}\n{args}"));
                let consent = Consent { tool, name, args, preview, assessment, digest, rule, takes_reason };
                AskKind::Consent(Box::new(consent))
            }
        };
        let id = AskId::mint(&self.ids);
        self.names.asks.insert(id, key.clone());
        draft.push(Body::Ask(AskEvent::Opened(Ask { id, run: draft.run(), title, kind, deadline })));
    }

    /// Our id of the peer's ask, while it is open.
    pub(super) fn open_ask_of(&self, draft: &Draft<'_>, key: &Key) -> Option<AskId> {
        draft.open_asks().into_iter().find(|ask| self.names.ask(*ask) == Some(key))
    }

    /// Forgets the peer's id of an ask once its answer is on the wire.
    pub fn forget_ask(&mut self, ask: AskId) {
        self.names.asks.remove(&ask);
    }

    /// Closes an ask that the peer no longer wants answered.
    pub(super) fn withdraw(&mut self, draft: &mut Draft<'_>, ask: AskId, expired: bool) {
        let closing = if expired { Closing::Expired } else { Closing::Withdrawn };
        self.names.asks.remove(&ask);
        draft.push(Body::Ask(AskEvent::Closed { ask, closing }));
    }

    /// Withdraws the question about a tool whose fate is known without it.
    pub(super) fn withdraw_about(&mut self, draft: &mut Draft<'_>, tool: ToolRunId) {
        for ask in draft.asks_about(tool) {
            self.withdraw(draft, ask, false);
        }
    }
}

/// What follows for the tool of a foreign runtime when the ask about it closes; to be asked before the closing is folded.
pub fn decision(state: &State, ask: AskId, closing: &Closing) -> Option<Body> {
    let tool = state.tool(state.ask(ask)?.about()?)?;
    if tool.ended() || tool.decision.is_some() {
        return None;
    }
    let decision = match closing {
        Closing::Answered { answer: Answer::Allow { scope, digest }, by } => Decision {
            allowed: true,
            by: Decider::Person(by.clone()),
            scope: *scope,
            reason: None,
            digest: digest.clone(),
        },
        Closing::Answered { answer: Answer::Deny { reason }, by } => {
            denied(Decider::Person(by.clone()), reason.clone())
        }
        Closing::Answered { by, .. } => denied(Decider::Person(by.clone()), None),
        Closing::Withdrawn => return None,
        Closing::Expired => denied(Decider::Policy, Some("nobody answered in time".to_owned())),
        Closing::Unattended => denied(Decider::Policy, Some("nobody could be asked".to_owned())),
    };
    Some(Body::Tool(ToolEvent::Decided { tool: tool.id, decision }))
}

fn denied(by: Decider, reason: Option<String>) -> Decision {
    Decision { allowed: false, by, scope: Scope::Once, reason, digest: None }
}
