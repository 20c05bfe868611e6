//! A foreign runtime has rules of its own: what of a policy can be kept for it, and what is refused.
//!
//! What may run without asking is decided there. Three things can be done here: to say no to every consent that it asks for
//! (`read-only`), to say yes again to the same action where the person said so for the session and the wire has no word for that, and
//! to have nothing to do with a runtime that acts without asking. Invariant: no other mode is ever taken for such a
//! runtime, so none is shown, unless it has errands done by our hands: every mode counts for those. And nothing that sets a model to
//! work is said to one that had to ask, before it told that it does.

use super::{Core, In, MAX_REQUESTS, Out};
use domain::ask::{Answer, AskKind, Assessment, Closing, Consent, EARLIER_YES, Preview, Scope};
use domain::command::{Command, Refusal, RefusalKind};
use domain::content::Json;
use domain::event::{Body, SessionEvent, ToolEvent};
use domain::ids::{AskId, SessionId};
use domain::port::Abilities;
use domain::session::Policy;
use domain::tool::{Decider, Decision};

/// What the runtime's model hears.
const DENIED: &str = "the person lets nothing be changed (read-only)";
/// Most actions of a session that are kept as allowed; past it the person is asked again.
pub(super) const MAX_GRANTED: usize = 256;
const WHERE: &str = "set it where the runtime is started";
/// Why a runtime is let go that had to ask.
const ACTS_UNASKED: &str = "it acts without asking, so nothing was said to it. Start it so that it asks, or leave out --require-consent and \
     --policy";

/// An action that the person said yes to for the session: as much of it as the runtime showed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Granted {
    name: String,
    args: Json,
    preview: Option<Preview>,
    /// A warning that was not there before is a reason to ask again.
    assessment: Assessment,
}

impl Granted {
    /// `None` when the runtime did not show what would happen: then nobody can tell whether another one is the same.
    fn of(consent: &Consent) -> Option<Granted> {
        let Consent { name, args, preview, assessment, .. } = consent;
        let shown = *args != Json::empty() || preview.is_some();
        let (name, args, preview) = (name.clone(), args.clone(), preview.clone());
        shown.then(|| Granted { name, args, preview, assessment: assessment.clone() })
    }
}

impl Core {
    /// Holds a runtime with its own rules to a mode, as far as that can be done from here.
    pub(super) fn hold_to(&mut self, policy: Policy) -> Result<(), Refusal> {
        let held = self.setup.policy == Policy::ReadOnly;
        match policy {
            Policy::ReadOnly if self.has_told && !self.abilities.consent => {
                let why = "this runtime acts without asking: nobody here can hold it to read-only";
                return Err(Refusal::new(RefusalKind::Unsupported, why).hint(WHERE));
            }
            // From read-only there is a way back: the questions come to the person again.
            Policy::ReadOnly | Policy::Ask if held || policy == Policy::ReadOnly => {}
            Policy::Sandboxed if self.abilities.errands && self.setup.no_sandbox.is_some() => {
                let why = self.setup.no_sandbox.clone().unwrap_or_default();
                return Err(Refusal::new(RefusalKind::Unsupported, why));
            }
            // What it has done here is judged here.
            Policy::Ask | Policy::AutoEdit | Policy::Sandboxed | Policy::Full if self.abilities.errands => {}
            Policy::ReadOnly | Policy::Ask | Policy::AutoEdit | Policy::Sandboxed | Policy::Full => {
                let why = "this runtime has its own rules for what may run without asking";
                return Err(Refusal::new(RefusalKind::Unsupported, why)
                    .hint(format!("{WHERE}; here only read-only can be had: every consent is denied")));
            }
        }
        self.setup.policy = policy;
        let sessions: Vec<SessionId> = self.sessions.keys().cloned().collect();
        for session in sessions {
            self.emit(&session, Body::Session(SessionEvent::PolicyChosen { policy }));
            for ask in self.open_consents(&session) {
                if let Some(closing) = self.own_answer(&session, ask) {
                    self.close_ask(&session, ask, closing, None);
                }
            }
        }
        Ok(())
    }

    /// The mode that counts for what is done here.
    pub fn policy(&self) -> Policy {
        self.setup.policy
    }

    /// How a consent that a runtime with its own rules asks for is answered without the person, if it is.
    pub(super) fn own_answer(&self, session: &SessionId, ask: AskId) -> Option<Closing> {
        let live = self.sessions.get(session).filter(|_| self.setup.engine.has_own_rules())?;
        let AskKind::Consent(consent) = &live.state.ask(ask)?.kind else { return None };
        if self.setup.policy == Policy::ReadOnly {
            let answer = Answer::Deny { reason: Some(DENIED.to_owned()) };
            return Some(Closing::Answered { answer, by: Some(Policy::ReadOnly.name().to_owned()) });
        }
        let granted = Granted::of(consent).is_some_and(|wanted| live.granted.contains(&wanted));
        let answer = Answer::Allow { scope: Scope::Once, digest: Some(consent.digest.clone()) };
        granted.then(|| Closing::Answered { answer, by: Some(EARLIER_YES.to_owned()) })
    }

    /// Keeps a yes for the session, where the runtime would not.
    pub(super) fn keep_yes(&mut self, session: &SessionId, ask: AskId, answer: &Answer) {
        let kept_there = self.abilities.session_scope || !self.setup.engine.has_own_rules();
        let Some(live) = self.sessions.get_mut(session).filter(|_| !kept_there) else { return };
        let kind = live.state.ask(ask).map(|ask| &ask.kind);
        if let (Answer::Allow { scope: Scope::Session, .. }, Some(AskKind::Consent(consent))) = (answer, kind)
            // What the runtime would never remember is asked every time.
            && consent.rule.is_some()
            && live.granted.len() < MAX_GRANTED
            && let Some(granted) = Granted::of(consent)
        {
            live.granted.push(granted);
        }
    }

    /// A decision about a tool of the runtime, with who made it: not the person, where the answer was ours.
    pub(super) fn decided_here(&self, decision: Body, ours: Option<&Closing>, closing: &Closing) -> Body {
        let (Some(_), Body::Tool(ToolEvent::Decided { tool, decision })) =
            (ours.filter(|ours| *ours == closing), &decision)
        else {
            return decision;
        };
        let by = if decision.allowed { Decider::Rule(EARLIER_YES.to_owned()) } else { Decider::Policy };
        Body::Tool(ToolEvent::Decided { tool: *tool, decision: Decision { by, ..decision.clone() } })
    }

    fn open_consents(&self, session: &SessionId) -> Vec<AskId> {
        let asks = self.sessions.get(session).map(|live| live.state.asks.iter()).into_iter().flatten();
        asks.filter(|ask| matches!(ask.kind, AskKind::Consent(_))).map(|ask| ask.id).collect()
    }

    /// Whether the runtime behind us must be one that asks.
    fn must_ask(&self) -> bool {
        let held = self.setup.engine.has_own_rules() && self.setup.policy == Policy::ReadOnly;
        self.setup.require_consent || held
    }

    /// Whether this may only be said once it is known that the runtime asks.
    pub(super) fn is_too_early(&self, command: &Command) -> bool {
        let works = matches!(
            command,
            Command::Run(_) | Command::Queue(_) | Command::Shell(_) | Command::Extension { .. }
        );
        works && !self.has_told && self.must_ask()
    }

    /// Keeps a command until the runtime has told what it can do.
    pub(super) fn park(&mut self, command: In) -> Result<(), Refusal> {
        if self.parked.len() >= MAX_REQUESTS {
            let why = format!("{MAX_REQUESTS} commands wait for the runtime");
            return Err(Refusal::new(RefusalKind::TooMany, why).hint("wait until it has answered"));
        }
        self.parked.push(command);
        Ok(())
    }

    /// The runtime has told what it can do: what waited for that is said to it, or it is let go.
    pub(super) fn let_in_or_go(&mut self, abilities: &Abilities) {
        let parked = std::mem::take(&mut self.parked);
        if self.must_ask() && !abilities.consent {
            for waiting in parked {
                if let In::Command { ui, ticket, .. } = waiting {
                    let refusal = Refusal::new(RefusalKind::Unsupported, ACTS_UNASKED);
                    self.settle(ui, ticket, Err(refusal));
                }
            }
            return self.out.push(Out::LetGo(ACTS_UNASKED.to_owned()));
        }
        self.out.extend(parked.into_iter().map(|command| Out::Again(Box::new(command))));
    }
}
