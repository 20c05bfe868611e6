//! The database of a simulation: logs, leases and epochs, as the contract of the store wants them, and who the owner of a session truly is.
//!
//! It decides by what a real one would have to go by (the epoch that a writer names, its own clock) and holds that against what it
//! knows as the one who made the world: a writer that is not the owner, a number that is there twice and a stream that breaks the grammar are found in the commit.

use crate::plan::{Mutant, Plan};
use domain::content::{Part, Role};
use domain::event::{AskEvent, Body, Event, MessageEvent, QueueEvent, RunEvent, SessionEvent, ToolEvent};
use domain::grammar::Grammar;
use domain::ids::{AskId, MessageId, Seq, SessionId, ToolRunId};
use domain::state::{State, StateHash};
use std::collections::{BTreeMap, BTreeSet};
use store::StoreError;

/// How long a lease is good, by the database's clock.
pub(crate) const LEASE_MILLIS: u64 = 2_000;

/// One start of one process.
pub(crate) type Incarnation = u32;

/// See the module.
pub(crate) struct Database {
    mutant: Option<Mutant>,
    sessions: BTreeMap<SessionId, Kept>,
    /// Processes of which it is known that they live, where that can be known: their leases do not end.
    living: Option<BTreeSet<Incarnation>>,
    /// Nothing can be written until then.
    pub(crate) down_until: u64,
}

/// What is kept of one session.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) events: Vec<Event>,
    pub(crate) state: State,
    hashes: Vec<StateHash>,
    grammar: Grammar,
    lease: Option<Lease>,
    epoch: u64,
    owner: Option<Incarnation>,
    /// Inputs that were committed as a person's message, each with how often.
    said: BTreeMap<String, usize>,
    queued: BTreeSet<String>,
    people: BTreeSet<MessageId>,
    titles: BTreeSet<String>,
    closed: BTreeSet<AskId>,
    started: BTreeSet<ToolRunId>,
}

#[derive(Clone, Copy)]
struct Lease {
    by: Incarnation,
    until: u64,
}

/// What a commit came to: an answer, and what it shows of broken laws.
pub(crate) struct Committed {
    pub(crate) answer: Result<(), StoreError>,
    pub(crate) broken: Result<(), String>,
}

impl Database {
    pub(crate) fn new(plan: &Plan) -> Database {
        // On one machine it is known who lives; a third of the schedules is on one.
        let living = (plan.seed.is_multiple_of(3) && !plan.is_shared).then(BTreeSet::new);
        Database { mutant: plan.mutant, sessions: BTreeMap::new(), living, down_until: 0 }
    }

    /// A process has started: where that can be known, its leases are good while it lasts.
    pub(crate) fn lives(&mut self, who: Incarnation) {
        self.living.iter_mut().for_each(|living| _ = living.insert(who));
    }

    /// A process is gone, and its leases with it, where that can be known.
    pub(crate) fn died(&mut self, who: Incarnation) {
        self.living.iter_mut().for_each(|living| _ = living.remove(&who));
    }

    /// A session of which there is at least one event.
    pub(crate) fn kept(&self, session: &SessionId) -> Option<&Kept> {
        self.sessions.get(session).filter(|kept| !kept.events.is_empty())
    }

    /// Those with at least one event.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = (&SessionId, &Kept)> {
        self.sessions.iter().filter(|(_, kept)| !kept.events.is_empty())
    }

    fn unknown(session: &SessionId) -> StoreError {
        StoreError::Unknown(session.clone())
    }

    /// Makes a session and gives its epoch; one without an event may be made again.
    pub(crate) fn create(
        &mut self,
        session: &SessionId,
        who: Incarnation,
        now: u64,
    ) -> Result<u64, StoreError> {
        if self.kept(session).is_some() {
            return Err(StoreError::Exists(session.clone()));
        }
        self.sessions.entry(session.clone()).or_default();
        self.take(session, who, now)
    }

    /// Gives somebody the lease of a session, with its epoch.
    pub(crate) fn take(
        &mut self,
        session: &SessionId,
        who: Incarnation,
        now: u64,
    ) -> Result<u64, StoreError> {
        let kept = self.sessions.get_mut(session).ok_or_else(|| Database::unknown(session))?;
        let is_good = |lease: &Lease| match &self.living {
            Some(living) => living.contains(&lease.by),
            None => now < lease.until,
        };
        if kept.lease.is_some_and(|lease| lease.by != who && is_good(&lease)) {
            return Err(StoreError::Busy {
                session: session.clone(),
                pid: kept.lease.map_or(0, |lease| lease.by),
            });
        }
        if self.mutant != Some(Mutant::EpochNotRaised) {
            kept.epoch += 1;
        }
        kept.lease = Some(Lease { by: who, until: now + LEASE_MILLIS });
        kept.owner = Some(who);
        Ok(kept.epoch)
    }

    /// Makes a lease good for longer, where its epoch is still the session's.
    pub(crate) fn renew(
        &mut self,
        session: &SessionId,
        (who, epoch): (Incarnation, u64),
        now: u64,
    ) -> Result<(), StoreError> {
        let kept = self.sessions.get_mut(session).ok_or_else(|| Database::unknown(session))?;
        if kept.epoch != epoch && self.mutant != Some(Mutant::RenewedAfterExpiry) {
            return Err(StoreError::NotOpen(session.clone()));
        }
        kept.epoch = epoch;
        kept.lease = Some(Lease { by: who, until: now + LEASE_MILLIS });
        Ok(())
    }

    /// Takes a lease back, if it is still this one.
    pub(crate) fn release(&mut self, session: &SessionId, (who, epoch): (Incarnation, u64)) {
        let Some(kept) = self.sessions.get_mut(session) else { return };
        if kept.epoch == epoch && kept.lease.is_some_and(|lease| lease.by == who) {
            (kept.lease, kept.owner) = (None, None);
        }
    }

    /// Appends where the epoch is the session's and the numbers follow.
    pub(crate) fn append(
        &mut self,
        session: &SessionId,
        (who, epoch): (Incarnation, u64),
        events: &[Event],
    ) -> Committed {
        let refused = |answer| Committed { answer: Err(answer), broken: Ok(()) };
        let Some(kept) = self.sessions.get_mut(session) else { return refused(Database::unknown(session)) };
        if kept.epoch != epoch && self.mutant != Some(Mutant::NoFence) {
            return refused(StoreError::NotOpen(session.clone()));
        }
        let Some(first) = events.first() else { return Committed { answer: Ok(()), broken: Ok(()) } };
        if first.seq != kept.head().next() {
            let (session, expected, got) = (session.clone(), kept.head().next(), first.seq);
            return refused(StoreError::OutOfOrder { session, expected, got });
        }
        let mut broken = Ok(());
        if kept.owner != Some(who) {
            broken = Err(format!(
                "at most one owner acts: process {who} wrote event {} of {session}, which {} owns",
                first.seq.0,
                kept.owner.map_or("nobody".to_owned(), |owner| owner.to_string())
            ));
        }
        for event in events {
            let found = kept.commit(event).map_err(|why| format!("{session}: {why}"));
            broken = broken.and(found);
        }
        Committed { answer: Ok(()), broken }
    }
}

impl Kept {
    /// The number of the last event.
    pub(crate) fn head(&self) -> Seq {
        self.events.last().map_or(Seq(0), |event| event.seq)
    }

    /// The hash of the state after an event that is kept.
    pub(crate) fn hash_at(&self, seq: Seq) -> Option<StateHash> {
        self.hashes.get(usize::try_from(seq.0).ok()?.checked_sub(1)?).copied()
    }

    /// What was committed under this number.
    pub(crate) fn event(&self, seq: Seq) -> Option<&Event> {
        self.events.get(usize::try_from(seq.0).ok()?.checked_sub(1)?)
    }

    /// Whether it is committed that a tool may have run.
    pub(crate) fn has_started(&self, tool: ToolRunId) -> bool {
        self.started.contains(&tool)
    }

    /// Whether the end of a question is committed.
    pub(crate) fn has_closed(&self, ask: AskId) -> bool {
        self.closed.contains(&ask)
    }

    /// Whether the session was ever called so.
    pub(crate) fn has_title(&self, title: &str) -> bool {
        self.titles.contains(title)
    }

    /// Whether what somebody typed is kept, said or waiting.
    pub(crate) fn has_input(&self, text: &str) -> bool {
        self.said.contains_key(text) || self.queued.contains(text)
    }

    fn commit(&mut self, event: &Event) -> Result<(), String> {
        self.grammar.check(event).map_err(|broken| broken.to_string())?;
        self.state.fold(event).map_err(|why| format!("event {} cannot be folded: {why:?}", event.seq.0))?;
        self.hashes.push(self.state.hash());
        self.events.push(event.clone());
        match &event.body {
            Body::Message(MessageEvent::Started { message, role: Role::User, .. }) => {
                self.people.insert(*message);
            }
            Body::Message(MessageEvent::PartAdded { message, part: Part::Text(text) })
                if self.people.contains(message) =>
            {
                let times = self.said.entry(text.clone()).or_default();
                *times += 1;
                if *times > 1 {
                    return Err(format!("\"{text}\" was said once and is in the conversation {times} times"));
                }
            }
            Body::Queue(QueueEvent::Added { input, .. }) => _ = self.queued.insert(input.text.clone()),
            Body::Session(SessionEvent::Renamed { title }) => _ = self.titles.insert(title.clone()),
            Body::Ask(AskEvent::Closed { ask, .. }) => _ = self.closed.insert(*ask),
            Body::Tool(ToolEvent::Started { tool }) => _ = self.started.insert(*tool),
            Body::Run(RunEvent::Ended { .. }) => self.replays()?,
            _ => {}
        }
        Ok(())
    }

    /// Law 9: replaying the state and folding that gives the same state.
    fn replays(&self) -> Result<(), String> {
        let mut again = State::new();
        for (at, body) in self.state.replay() {
            again.apply(at, &body).map_err(|why| format!("what is replayed cannot be folded: {why:?}"))?;
        }
        again.seq = self.state.seq;
        if again.hash() == self.state.hash() {
            Ok(())
        } else {
            Err(format!("law 9: at event {} the fold of the replay is another state", self.state.seq.0))
        }
    }
}
