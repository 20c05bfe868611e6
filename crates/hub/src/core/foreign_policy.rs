//! A foreign runtime has rules of its own: what of a policy can be kept for it, and what is refused.
//!
//! What may run without asking is decided there. Three things can be done here: to say no to everything that it asks
//! (`read-only`), to say yes again to the same action where the person said so for the session and the wire has no word for that, and
//! to have nothing to do with a runtime that acts without asking: one that says so is let go before it hears anything, and one that
//! does so is stopped. Invariant: no other mode is ever taken for such a
//! runtime, so none is shown, unless it has errands done by our hands: every mode counts for those. And nothing that sets a model to
//! work is said to one that had to ask, before it told that it does.

use super::{Core, CoreEffect, CoreInput, Engine, Live, MAX_REQUEST_BYTES, MAX_REQUESTS};
use domain::ask::{Answer, AskKind, Assessment, Closing, Consent, EARLIER_YES, Preview, Scope};
use domain::command::{Command, Refusal, RefusalKind, RunCommand, Target};
use domain::content::Json;
use domain::event::{Body, Failure, Outcome, SessionEvent, ToolEvent};
use domain::fact::Key;
use domain::ids::{AskId, SessionId};
use domain::port::{Abilities, Order, Ticket};
use domain::session::Policy;
use domain::signal::Level;
use domain::tool::{Decider, Decision};

/// What the runtime's model hears.
const DENIED: &str = "the person lets nothing be changed (read-only)";
/// Most actions of a session that are kept as allowed; past it the person is asked again.
pub(super) const MAX_GRANTED: usize = 256;
const WHERE: &str = "set it where the runtime is started";
/// Why a runtime is let go that had to ask.
const ACTS_UNASKED: &str = "it acts without asking, so nothing was said to it. Start it so that it asks, or leave out --require-consent and \
     --policy";

/// The code of a run that was stopped because its runtime acted without asking.
pub const ACTED_UNASKED: &str = "acted_unasked";
/// Begins what is said of a runtime that is let go for that.
const STOPPED: &str = "it acted without asking";
const ASKS_ELSE: &str = "start it so that it asks, or leave out --require-consent and --policy";
/// Names under which runtimes have tools that only look: nobody is asked for those anywhere.
const LOOKING: &[&str] = &[
    "codebase_search",
    "file_search",
    "find",
    "glob",
    "glob_search",
    "grep",
    "grep_search",
    "list_dir",
    "list_directory",
    "list_files",
    "ls",
    "read",
    "read_file",
    "search",
    "search_files",
    "think",
    "view",
];
/// Tools of a session about which nobody has to be asked, as far as they are remembered; past it they count as unasked.
const MAX_CLEARED: usize = 10_000;

/// Whether a runtime was let go because it acted without asking.
pub fn acted_unasked(why: &str) -> bool {
    why.starts_with(STOPPED)
}

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
            Policy::Plan => {
                let why = "mode plan is one of Parlor's own agent";
                return Err(Refusal::new(RefusalKind::Unsupported, why)
                    .hint(format!("/mode lists the modes of this runtime, if it has some; {WHERE}")));
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
            for ask in self.open_asks(&session) {
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

    /// How a question of a runtime with its own rules is answered without the person, if it is.
    pub(super) fn own_answer(&self, session: &SessionId, ask: AskId) -> Option<Closing> {
        let live = self.sessions.get(session).filter(|_| self.setup.engine.has_own_rules())?;
        let kind = &live.state.ask(ask)?.kind;
        if self.setup.policy == Policy::ReadOnly {
            // Whatever its form: on some wires a consent is a plain yes or no, or one of a list.
            let answer = match kind {
                AskKind::Consent(_) => Answer::Deny { reason: Some(DENIED.to_owned()) },
                AskKind::Confirm { .. } => Answer::Confirmed(false),
                AskKind::Choose { .. } | AskKind::Text { .. } | AskKind::Edit { .. } => Answer::Dismissed,
            };
            return Some(Closing::Answered { answer, by: Some(Policy::ReadOnly.name().to_owned()) });
        }
        let AskKind::Consent(consent) = kind else { return None };
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

    fn open_asks(&self, session: &SessionId) -> Vec<AskId> {
        let asks = self.sessions.get(session).map(|live| live.state.asks.iter()).into_iter().flatten();
        asks.map(|ask| ask.id).collect()
    }

    /// Whether the runtime behind us must be one that asks.
    fn must_ask(&self) -> bool {
        let held = self.setup.engine.has_own_rules() && self.setup.policy == Policy::ReadOnly;
        self.setup.require_consent || held
    }

    /// Whether this is only taken once the runtime has told what it can do, or is gone: what the hub supplies where the runtime cannot is
    /// not known before, and neither is whether it asks.
    pub(super) fn is_too_early(&self, command: &Command) -> bool {
        let stops = matches!(command, Command::Run(RunCommand::Cancel { .. })) && self.is_busy();
        let waits = self.setup.engine.waits_for_greeting(command) && !stops;
        (waits || works(command) && self.must_ask()) && !self.has_told && !self.is_lost
    }

    /// The runtime is gone: what waited for its greeting is refused now. One whose events are taken as they come will say no end of its
    /// runs any more.
    pub(super) fn lost(&mut self) {
        self.is_lost = true;
        let runs = |live: &Live| matches!(live.engine, Engine::Mirrored) && live.state.open_run().is_some();
        let open = self.sessions.iter().filter(|(_, live)| runs(live));
        for session in open.map(|(session, _)| session.clone()).collect::<Vec<_>>() {
            // One that was let go ends its runs with the reason for that.
            self.end_run(&session, self.let_go_for.clone().map_or(Outcome::Lost, Outcome::Failed));
        }
        self.let_go_for = None;
        let parked = std::mem::take(&mut self.parked);
        self.out.extend(parked.into_iter().map(|command| CoreEffect::Again(Box::new(command))));
    }

    /// Something is about to set the runtime's model to work: from here on what it does unasked is its answer to us, not its past.
    pub(super) fn set_to_work(&mut self, session: &SessionId, command: &Command) {
        if works(command) {
            self.works_for_us = true;
            if let Some(live) = self.sessions.get_mut(session) {
                live.works_for_us = true;
            }
        }
    }

    /// Whether a consent is about what it says itself: then its tool goes by the name of the question.
    fn names_no_tool(&self, session: &SessionId, ask: AskId) -> bool {
        let names = self.sessions.get(session).and_then(|live| {
            let (names, tool) = (live.canon.as_ref()?.names(), live.state.ask(ask)?.about()?);
            Some((names.ask(ask)?, names.tool(tool)?))
        });
        names.is_some_and(|(question, tool)| question == tool)
    }

    /// A person said yes to a question that is no consent, or to one that names no tool: on some wires that is all there is before a
    /// tool runs.
    pub(super) fn keep_plain_yes(&mut self, session: &SessionId, ask: AskId, answer: &Answer) {
        let yes = match answer {
            Answer::Confirmed(yes) => *yes,
            Answer::Chosen(chosen) => !chosen.is_empty(),
            Answer::Allow { .. } => self.names_no_tool(session, ask),
            Answer::Deny { .. } | Answer::Entered(_) | Answer::Dismissed => false,
        };
        if let Some(live) = self.sessions.get_mut(session) {
            live.said_yes = yes;
        }
    }

    /// Whether a run is stopped in which something is done that nobody was asked about. Under `read-only` alone a person who looks on
    /// sees it; where nobody does, it has to hold by itself.
    fn stops_unasked(&self) -> bool {
        self.setup.require_consent || self.setup.is_headless && self.must_ask()
    }

    /// The tool that a runtime runs now without having asked, though it had to: one that is not known to only look.
    pub(super) fn unasked(&mut self, session: &SessionId, body: &Body) -> Option<String> {
        let Body::Tool(ToolEvent::Decided { tool, decision }) = body else { return None };
        let nobody_asked = match decision.by {
            Decider::Foreign | Decider::Policy => decision.allowed,
            // A rule is a yes that somebody said before.
            Decider::Rule(_) | Decider::Person(_) => false,
        };
        if !nobody_asked || !self.stops_unasked() {
            return None;
        }
        let works_for_us = self.works_for_us;
        let live = self.sessions.get_mut(session)?;
        let (is_ours, key) = match &live.canon {
            Some(canon) => (live.works_for_us, canon.names().tool(*tool)),
            // Of a lossless runtime only what happens now comes as events.
            None => (works_for_us, None),
        };
        let name = live.state.tool(*tool)?.name.clone();
        let cleared = key.is_some_and(|key| live.cleared.contains(key)) || looks(&name);
        // One yes is for one tool.
        (is_ours && !cleared && !std::mem::take(&mut live.said_yes)).then_some(name)
    }

    /// Ends the run of a runtime that acted without asking, there and here, and lets it go.
    pub(super) fn stop_unasked(&mut self, session: &SessionId, tool: &str) {
        let why = format!("{STOPPED} ({tool}), and its run was stopped");
        let failure = Failure::new(ACTED_UNASKED, format!("the runtime is let go: {why}")).hint(ASKS_ELSE);
        self.next_ticket += 1;
        let cancel = RunCommand::Cancel { run: None, reason: Some(why.clone()) };
        self.out.push(CoreEffect::Order(Order::Consult {
            ticket: Ticket(self.next_ticket),
            session: session.clone(),
            command: Command::Run(cancel),
            grounds: Box::default(),
        }));
        // What a lossless runtime is mirrored with is its own word; it is let go with ours.
        if self.setup.engine.has_own_rules() {
            self.notice(session, Level::Error, &failure);
            self.end_run(session, Outcome::Failed(failure));
        } else {
            self.let_go_for = Some(failure);
        }
        self.out.push(CoreEffect::LetGo(format!("{why}: {ASKS_ELSE}")));
    }

    /// Keeps a command until the runtime has told what it can do.
    pub(super) fn park(&mut self, command: CoreInput) -> Result<(), Refusal> {
        let weight = |input: &CoreInput| match input {
            CoreInput::Command { command, .. } => command.weight(),
            _ => 0,
        };
        let bytes = self.parked.iter().map(weight).sum::<usize>() + weight(&command);
        let is_full = self.parked.len() >= MAX_REQUESTS || bytes > MAX_REQUEST_BYTES;
        if is_full && !self.parked.is_empty() {
            let why = format!("{} commands wait for the runtime", self.parked.len());
            return Err(Refusal::new(RefusalKind::TooMany, why).hint("wait until it has answered"));
        }
        // Who waits for a session by its id looks for what becomes of it under that id.
        if let CoreInput::Command { target: Target::Session(session), .. } = &command {
            let session = self.here(session);
            if let Some(live) = self.sessions.get_mut(&session) {
                live.is_known = true;
            }
        }
        self.parked.push(command);
        Ok(())
    }

    /// The runtime has told what it can do: what waited for that is said to it, or it is let go.
    pub(super) fn let_in_or_go(&mut self, abilities: &Abilities) {
        let parked = std::mem::take(&mut self.parked);
        if self.must_ask() && !abilities.consent {
            for waiting in parked {
                if let CoreInput::Command { ui, ticket, .. } = waiting {
                    let refusal = Refusal::new(RefusalKind::Unsupported, ACTS_UNASKED);
                    self.settle(ui, ticket, Err(refusal));
                }
            }
            return self.out.push(CoreEffect::LetGo(ACTS_UNASKED.to_owned()));
        }
        self.out.extend(parked.into_iter().map(|command| CoreEffect::Again(Box::new(command))));
    }
}

/// Whether a command sets a model to work.
fn works(command: &Command) -> bool {
    matches!(command, Command::Run(_) | Command::Queue(_) | Command::Shell(_) | Command::Extension { .. })
}

/// Whether a tool of this name is known to only look.
fn looks(name: &str) -> bool {
    LOOKING.iter().any(|known| known.eq_ignore_ascii_case(name))
}

impl Live {
    /// Nobody has to be asked about this tool.
    pub(super) fn clear(&mut self, tool: Key) {
        if self.cleared.len() < MAX_CLEARED {
            self.cleared.insert(tool);
        }
    }
}
