//! Sessions of a foreign runtime that are kept: each is found again by what the runtime calls it, is gone on with, and has its past once.
//!
//! A session gets an id before its runtime has said what it calls it. When it has, what is kept under that name is looked for
//! ([`Request::Find`]); until the answer is there the session [is away](Core::is_away), and nothing more is heard of the runtime
//! ([`Core::is_finding`]). The session then stands under the id of what was found, or, where nothing was, under the one id that everybody
//! makes of the same name ([`Origin::kept_as`]). What the runtime tells of the past comes in one piece, and only what is not there yet is
//! taken. What it is not: the store, which decides who may write (`shell/keeper.rs` tells when that is somebody else).
//!
//! Invariants: one conversation of one runtime is one kept session; nothing of the past is in it twice; a run that nobody followed to its
//! end is closed when the session is taken in.

use super::{Answer, Core, CoreEffect, Live, Request, RequestId};
use domain::command::Refusal;
use domain::content::{Part, Role, TextKind};
use domain::event::{AskEvent, Body, Failure, Outcome, SessionEvent};
use domain::fact::{Fact, Said};
use domain::ids::{Millis, SessionId};
use domain::port::Abilities;
use domain::session::{Origin, Policy};
use domain::signal::Level;
use domain::state::{EntryKind, State};
use store::Opened;

/// What is looked for in the store by itself, not for a command.
#[derive(Debug, Default)]
pub(super) struct Finding {
    sought: Option<Sought>,
    /// What the runtime can do, while it is looked for where it is: a greeting may name the session.
    waiting: Option<Abilities>,
    /// The session that a command is about which is not kept, while the command is taken.
    pub(super) unkept: Option<SessionId>,
    /// The session to which the runtime went back under another name, until it has said that name.
    pub(super) reopened: Option<SessionId>,
}

/// A session whose kept past is looked for.
#[derive(Debug)]
struct Sought {
    id: RequestId,
    session: SessionId,
    origin: Origin,
}

impl Finding {
    /// Whether it is the session whose past is looked for.
    pub(super) fn is_of(&self, session: &SessionId) -> bool {
        self.sought.as_ref().is_some_and(|sought| sought.session == *session)
    }

    /// Looks no more for the past of this session; gives whose it is, if it was looked for.
    pub(super) fn give_up(&mut self, session: &SessionId) -> Option<Origin> {
        self.sought.take_if(|sought| sought.session == *session).map(|sought| sought.origin)
    }
}

impl Core {
    /// Keeps the sessions of the runtime behind us, as those of this origin.
    pub fn keep(&mut self, origin: Origin) {
        self.origin = Some(origin);
    }

    /// Whether the sessions of the runtime behind us are kept.
    pub fn keeps_theirs(&self) -> bool {
        self.origin.is_some()
    }

    /// Whether nothing may be heard of the runtime until the store has answered.
    pub fn is_finding(&self) -> bool {
        self.finding.sought.is_some()
    }

    /// The runtime told what it can do. Nobody is greeted with it before it is known where the runtime is.
    pub(super) fn heed(&mut self, abilities: Abilities) {
        match self.is_finding() {
            true => self.finding.waiting = Some(abilities),
            false => self.take_abilities(abilities),
        }
    }

    /// It is known where the runtime is.
    pub(super) fn heed_waiting(&mut self) {
        if let Some(abilities) = self.finding.waiting.take() {
            self.take_abilities(abilities);
        }
    }

    /// Goes on with a kept session as the one where the runtime's conversation stands.
    pub fn runtime_session_in(&mut self, now: Millis, session: SessionId, opened: Opened) -> Vec<CoreEffect> {
        self.now = now.max(self.now);
        let named = opened.state.settings.origin.as_ref().is_some_and(|origin| origin.session.is_some());
        if opened.state.settings.policy == Policy::ReadOnly {
            // What the person set for it holds again, from the first word on.
            self.setup.policy = Policy::ReadOnly;
        }
        self.take_back_in(&session, opened);
        if !named {
            self.begins_anew(
                &session,
                "The runtime has never named this session, so it cannot go back to it.",
            );
        }
        self.runtime_session = Some(session);
        std::mem::take(&mut self.out)
    }

    /// The runtime said what it calls a session that is kept.
    pub(super) fn named_kept(&mut self, session: &SessionId, name: &str) {
        let (Some(origin), Some(live)) = (&self.origin, self.sessions.get(session)) else { return };
        let before = live.state.settings.origin.as_ref().and_then(|origin| origin.session.clone());
        let is_back = self.finding.reopened.take().as_ref() == Some(session);
        if before.as_deref() == Some(name) {
            return;
        }
        let origin = origin.named(name);
        if self.is_untouched(session) {
            self.next_request += 1;
            let id = RequestId(self.next_request);
            self.out
                .push(CoreEffect::Fetch { id, request: Request::Find { origin: Box::new(origin.clone()) } });
            self.finding.sought = Some(Sought { id, session: session.clone(), origin });
            return;
        }
        if before.is_some() && !is_back {
            self.begins_anew(session, "The runtime did not go back to its session.");
        }
        self.emit(session, Body::Session(SessionEvent::CameFrom { origin }));
    }

    /// Takes the answer of the store, if it is the one that is waited for.
    pub(super) fn found(
        &mut self,
        id: RequestId,
        with: Result<Answer, Refusal>,
    ) -> Option<Result<Answer, Refusal>> {
        let sought = self.finding.sought.take_if(|sought| sought.id == id);
        let Some(Sought { session, origin, .. }) = sought else {
            return Some(with);
        };
        let came_from = Body::Session(SessionEvent::CameFrom { origin });
        match with {
            Ok(Answer::Found { kept: Some(kept), .. }) => {
                let (id, opened) = *kept;
                if !self.sessions.contains_key(&id) {
                    self.take_back_in(&id, opened);
                }
                self.move_to(&session, &id);
            }
            // Who was told the id that it has may come back by that one.
            Ok(Answer::Found { free: Some(id), .. })
                if !self.sessions.contains_key(&id) && !self.is_known(&session) =>
            {
                let settings = self.sessions.get(&session).map(|live| live.state.settings.clone());
                let settings = settings.unwrap_or_default();
                self.open_new(&id, settings.cwd, settings.project);
                self.move_to(&session, &id);
                self.emit(&id, came_from);
            }
            Ok(_) => self.emit(&session, came_from),
            Err(refusal) => {
                self.emit(&session, came_from);
                self.out.push(CoreEffect::LeaveOut { session, why: refusal.message });
            }
        }
        self.heed_waiting();
        None
    }

    /// The runtime told what happened in a session before; what is there already is passed over.
    pub(super) fn told(&mut self, session: &SessionId, facts: Vec<Fact>) {
        let session = self.here(session);
        let Some(live) = self.sessions.get(&session) else { return };
        let (news, is_strange) = unknown(&live.state, facts);
        if is_strange {
            let text = "The runtime tells another past of this session than the one that is kept here, which stays as it is.";
            self.notice(&session, Level::Warning, &Failure::new("other_past", text));
        }
        for fact in news {
            self.said(&session, fact);
        }
    }

    /// Takes in a session that the store has opened. Nobody is left who would hear an answer or end the run.
    pub(super) fn take_back_in(&mut self, id: &SessionId, opened: Opened) {
        let closing = opened.state.close_run(Outcome::Interrupted);
        self.sessions.insert(id.clone(), Live::new(opened.state, self.setup.engine));
        if let Some(damage) = opened.damage {
            self.notice(id, Level::Warning, &Failure::new("store_damage", damage.message));
        }
        self.emit_all(id, closing);
        let stray: Vec<Body> = match self.sessions.get(id) {
            Some(live) => live.state.asks.iter().map(|ask| withdrawn(ask.id)).collect(),
            None => Vec::new(),
        };
        self.emit_all(id, stray);
        let (policy, shown) = (self.setup.policy, self.live(id).map(|live| live.state.settings.policy));
        if shown.is_ok_and(|shown| shown != policy) {
            // What is shown for it is what it is held to now.
            self.emit(id, Body::Session(SessionEvent::PolicyChosen { policy }));
        }
    }

    /// Says in a session that its runtime does not know what stands in it.
    pub(super) fn begins_anew(&mut self, session: &SessionId, why: &str) {
        let text = format!("{why} It starts over and knows nothing of what is above.");
        self.notice(session, Level::Warning, &Failure::new("not_resumed", text));
    }

    /// A session in which nothing was said stands under another id from now on; who sees it is attached.
    pub(super) fn move_to(&mut self, from: &SessionId, to: &SessionId) {
        let Some(left) = self.sessions.remove(from) else { return };
        let settings = left.state.settings;
        if let Some(live) = self.sessions.get_mut(to) {
            (live.board, live.ui_context, live.secrets) = (left.board, left.ui_context, left.secrets);
        }
        if let Some(model) = settings.model {
            self.emit(to, Body::Session(SessionEvent::ModelChosen { model }));
        }
        if settings.effort.is_some() {
            self.emit(to, Body::Session(SessionEvent::EffortChosen { effort: settings.effort }));
        }
        if self.runtime_session.as_ref() == Some(from) {
            self.runtime_session = Some(to.clone());
        }
        self.names.moved(from, to);
        for consulted in self.consulted.values_mut().filter(|consulted| consulted.session == *from) {
            consulted.session = to.clone();
        }
        let uis: Vec<_> =
            self.uis.iter().filter(|(_, seat)| seat.seen.contains(from)).map(|(ui, _)| *ui).collect();
        for ui in uis {
            self.detach(ui, from);
            self.attach(ui, to);
        }
        self.out.push(CoreEffect::Unwritten { session: from.clone() });
    }
}

fn withdrawn(ask: domain::ids::AskId) -> Body {
    Body::Ask(AskEvent::Closed { ask, closing: domain::ask::Closing::Withdrawn })
}

/// The facts between the beginning of a run and its end, and what can be compared of them.
#[derive(Default)]
struct ToldRun {
    facts: Vec<Fact>,
    /// What the person said in it.
    prompts: Vec<String>,
    /// About how much was answered, in bytes.
    answer: usize,
}

/// Of what a runtime tells of the past, what a session does not hold yet; and whether the two have nothing in common.
///
/// They are compared by what the person said: wires tell answers in pieces of their own, and a prompt is told as it was given.
fn unknown(state: &State, facts: Vec<Fact>) -> (Vec<Fact>, bool) {
    let known = prompts(state);
    if known.is_empty() {
        return (facts, false);
    }
    let (settings, facts): (Vec<Fact>, Vec<Fact>) =
        facts.into_iter().partition(|fact| is_setting(&fact.said));
    let runs = runs(facts);
    let mut rest = known.as_slice();
    // The last run that holds something that is known, and the last prompt of it that is.
    let mut last = None;
    for (at, run) in runs.iter().enumerate() {
        for prompt in &run.prompts {
            if let Some(found) = rest.iter().position(|known| known == prompt) {
                rest = &rest[found + 1..];
                last = Some(at);
            }
        }
    }
    let said = runs.iter().any(|run| !run.prompts.is_empty());
    let Some(last) = last else { return (settings, said) };
    let was_cut = rest.is_empty() && runs.get(last).is_some_and(|told| is_cut(state, told));
    let mut news = settings;
    for (at, run) in runs.into_iter().enumerate().skip(last) {
        if at > last {
            news.extend(run.facts);
        } else if was_cut {
            // It went on there when nobody here heard it any more.
            news.extend(unprompted(run.facts));
        }
    }
    (news, false)
}

/// Whether the last run was left before its end, and was told with more than is known of it.
fn is_cut(state: &State, told: &ToldRun) -> bool {
    let Some(run) = state.runs.last() else { return false };
    let known = state.entries.values().filter_map(|entry| match &entry.kind {
        EntryKind::Message(message) if message.role != Role::User && message.run == Some(run.id) => {
            Some(message.text().trim().len())
        }
        EntryKind::Message(_) | EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
    });
    let is_left = matches!(run.ended, Some((_, Outcome::Interrupted | Outcome::Lost)));
    is_left && told.answer > known.sum::<usize>()
}

/// What the person said in a session, oldest first.
fn prompts(state: &State) -> Vec<String> {
    let messages = state.entries.values().filter_map(|entry| match &entry.kind {
        EntryKind::Message(message) if message.role == Role::User => Some(message.text().trim().to_owned()),
        EntryKind::Message(_) | EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
    });
    messages.collect()
}

/// What takes the place of what was set before, whenever it is said.
fn is_setting(said: &Said) -> bool {
    matches!(said, Said::Model(_) | Said::Effort(_))
}

/// The runs that were told, in their order.
fn runs(facts: Vec<Fact>) -> Vec<ToldRun> {
    let mut runs: Vec<ToldRun> = Vec::new();
    let mut prompt: Option<String> = None;
    for fact in facts {
        let begins = match runs.last() {
            None => true,
            Some(run) => {
                let key = run.facts.iter().find_map(|fact| fact.run.as_ref());
                let another = matches!((key, &fact.run), (Some(open), Some(now)) if open != now);
                let ended = run.facts.iter().any(|fact| matches!(fact.said, Said::RunEnded(_)));
                another || ended && (fact.said == Said::RunStarted || is_prompt(&fact.said))
            }
        };
        if begins {
            runs.push(ToldRun::default());
        }
        match (&fact.said, &mut prompt) {
            (said, None) if is_prompt(said) => prompt = Some(String::new()),
            (Said::Text { kind: TextKind::Text, text, .. }, Some(prompt)) => prompt.push_str(text),
            (Said::Part { part: Part::Text(text), .. }, Some(prompt)) => prompt.push_str(text),
            (Said::Whole { parts, .. }, Some(prompt)) => {
                let text = parts.iter().filter(|(kind, _)| *kind == TextKind::Text);
                *prompt = text.map(|(_, text)| text.as_str()).collect();
            }
            (Said::MessageEnded { .. }, Some(_)) => {
                if let (Some(run), Some(said)) = (runs.last_mut(), prompt.take()) {
                    run.prompts.push(said.trim().to_owned());
                }
            }
            _ => {}
        }
        if let Some(run) = runs.last_mut() {
            if let (None, Said::Text { kind: TextKind::Text, text, .. }) = (&prompt, &fact.said) {
                run.answer += text.trim().len();
            }
            run.facts.push(fact);
        }
    }
    runs
}

fn is_prompt(said: &Said) -> bool {
    matches!(said, Said::MessageStarted { role: Role::User, .. })
}

/// A run without what the person said in it.
fn unprompted(facts: Vec<Fact>) -> Vec<Fact> {
    let mut in_prompt = false;
    let mut rest = Vec::new();
    for fact in facts {
        if is_prompt(&fact.said) {
            in_prompt = true;
        }
        let ends = matches!(fact.said, Said::MessageEnded { .. });
        if !in_prompt {
            rest.push(fact);
        } else if ends {
            in_prompt = false;
        }
    }
    rest
}
