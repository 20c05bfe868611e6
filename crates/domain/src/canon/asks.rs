//! Asks of a foreign runtime, and what follows for its tools when the person has answered.

use super::Canon;
use crate::ask::{ActionDigest, Answer, Ask, AskKind, Closing, Consent, Scope};
use crate::event::{AskEvent, Body, ToolEvent};
use crate::fact::{FactAsk, Key};
use crate::ids::{AskId, Millis};
use crate::tool::{Decider, Decision};

impl Canon {
    pub(super) fn open_ask(&mut self, key: &Key, title: String, kind: FactAsk, deadline: Option<Millis>) {
        if self.asks.contains_key(key) {
            return;
        }
        let (kind, about) = match kind {
            FactAsk::Other(kind) => (kind, None),
            FactAsk::Consent { tool, name, args, preview, assessment, rule, takes_reason } => {
                let about = tool.unwrap_or_else(|| key.clone());
                let tool = self.propose(&about, Some(name.clone()), Some(args.clone()));
                let undecided = self.tools.get(&about).is_some_and(|open| open.decided.is_none());
                if !undecided || self.asks.values().any(|(_, of)| of.as_ref() == Some(&about)) {
                    return;
                }
                let digest = ActionDigest(format!("{name}\n{args}"));
                let consent = Consent { tool, name, args, preview, assessment, digest, rule, takes_reason };
                (AskKind::Consent(Box::new(consent)), Some(about))
            }
        };
        let id = AskId::mint(&self.ids);
        self.names.asks.insert(id, key.clone());
        self.asks.insert(key.clone(), (id, about));
        self.out.push(Body::Ask(AskEvent::Opened(Ask { id, run: self.run(), title, kind, deadline })));
    }

    /// The hub closed one of our asks: gives what follows for the tool that it was about.
    pub fn ask_closed(&mut self, ask: AskId, closing: &Closing) -> Vec<Body> {
        let Some(key) = self.asks.iter().find(|(_, (id, _))| *id == ask).map(|(key, _)| key.clone()) else {
            return Vec::new();
        };
        let about = self.asks.remove(&key).and_then(|(_, about)| about);
        let Some(open) = about.and_then(|about| self.tools.get_mut(&about)) else { return Vec::new() };
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
            Closing::Withdrawn => return Vec::new(),
            Closing::Expired => denied(Decider::Policy, Some("nobody answered in time".to_owned())),
            Closing::Unattended => denied(Decider::Policy, Some("nobody could be asked".to_owned())),
        };
        open.decided = Some(decision.allowed);
        vec![Body::Tool(ToolEvent::Decided { tool: open.id, decision })]
    }

    /// Forgets the peer's id of an ask once its answer is on the wire.
    pub fn forget_ask(&mut self, ask: AskId) {
        self.names.asks.remove(&ask);
    }

    pub(super) fn withdraw(&mut self, ask: AskId, expired: bool) {
        let closing = if expired { Closing::Expired } else { Closing::Withdrawn };
        self.names.asks.remove(&ask);
        self.out.push(Body::Ask(AskEvent::Closed { ask, closing }));
    }

    /// Withdraws the question about a tool whose fate is known without it.
    pub(super) fn withdraw_about(&mut self, tool: &Key) {
        let about =
            self.asks.iter().find(|(_, (_, of))| of.as_ref() == Some(tool)).map(|(key, _)| key.clone());
        if let Some((ask, _)) = about.and_then(|key| self.asks.remove(&key)) {
            self.withdraw(ask, false);
        }
    }
}

fn denied(by: Decider, reason: Option<String>) -> Decision {
    Decision { allowed: false, by, scope: Scope::Once, reason, digest: None }
}
