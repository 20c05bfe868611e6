//! The store of one process: the contract, over a network, on the simulated database.

use crate::database::{Incarnation, LEASE_MILLIS};
use crate::dice::Dice;
use crate::plan::{Fault, Mutant};
use crate::world::World;
use domain::command::History;
use domain::event::Event;
use domain::ids::{Seq, SessionId};
use domain::session::SessionSummary;
use domain::state::State;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Appended, Durability, Fence, Listing, Opened, SearchHit, Store, StoreError};

/// Of how many millis of its time a lease is renewed.
const RENEW_MILLIS: u64 = LEASE_MILLIS * 3 / 10;

/// See the module.
pub(crate) struct Client {
    world: Arc<World>,
    node: usize,
    who: Incarnation,
    dice: Dice,
    /// How many thousandths of the database's time pass here.
    pace: u64,
    open: BTreeMap<SessionId, Leased>,
    /// Whether processes of several machines share it.
    is_shared: bool,
}

/// A session that is open here.
struct Leased {
    epoch: u64,
    renewed: u64,
    /// Taken and not sent yet: streaming text.
    waiting: Vec<Event>,
    /// The last number that was taken.
    head: Seq,
    /// Something of this epoch may be there without our knowing.
    doubt: bool,
}

/// What becomes of a request.
enum Fate {
    Answered,
    /// It is done, and its answer is lost.
    Lost,
}

impl Client {
    pub(crate) fn new(world: Arc<World>, node: usize, who: Incarnation, mut dice: Dice) -> Client {
        let drift = dice.between(600, 1_500);
        let pace = if world.plan.has(Fault::Drift) { drift } else { 1_000 };
        let is_shared = world.plan.is_shared;
        Client { world, node, who, dice, pace, open: BTreeMap::new(), is_shared }
    }

    /// The same in the words of a store that processes of several machines share.
    fn told(&self, session: &SessionId, why: StoreError) -> StoreError {
        let session = session.clone();
        match why {
            StoreError::NotOpen(_) if self.is_shared => {
                let why = "another process has it".to_owned();
                StoreError::LeaseLost { sessions: vec![session], why }
            }
            StoreError::Busy { pid, .. } if self.is_shared => {
                StoreError::Elsewhere { session, holder: format!("process {pid}") }
            }
            why => why,
        }
    }

    fn broken(&self, detail: &str) -> StoreError {
        StoreError::Disk { path: "the database".into(), detail: detail.to_owned() }
    }

    fn reach(&mut self) -> Result<Fate, StoreError> {
        let (fails, lost) = (self.dice.per_mille(25), self.dice.per_mille(60));
        if !self.world.reaches_database(self.node) {
            return Err(self.broken("it does not answer"));
        }
        if self.world.database().down_until > self.world.now() || fails && self.world.may(Fault::Fails) {
            return Err(self.broken("it says no"));
        }
        Ok(if lost && self.world.may(Fault::Twice) { Fate::Lost } else { Fate::Answered })
    }

    /// The time that has passed here.
    fn now(&self) -> u64 {
        self.world.now() * self.pace / 1_000
    }

    fn leased(&mut self, session: &SessionId, epoch: u64, head: Seq) {
        let renewed = self.now();
        self.open.insert(session.clone(), Leased { epoch, renewed, waiting: Vec::new(), head, doubt: false });
    }

    /// Sends what was taken of a session.
    fn send(&mut self, session: &SessionId) -> Result<(), StoreError> {
        let world = self.world.clone();
        let Some(leased) = self.open.get(session) else {
            return Err(self.told(session, StoreError::NotOpen(session.clone())));
        };
        if leased.waiting.is_empty() {
            return Ok(());
        }
        let (who, epoch, doubt) = (self.who, leased.epoch, leased.doubt);
        let fate = self.reach()?;
        let Some(leased) = self.open.get_mut(session) else { return Ok(()) };
        if doubt {
            // Whoever asked before in this epoch was we: what is there of it need not be sent again.
            let database = world.database();
            let kept = database.kept(session);
            leased.waiting.retain(|event| kept.and_then(|kept| kept.event(event.seq)) != Some(event));
        }
        let committed = world.database().append(session, (who, epoch), &leased.waiting);
        let at = leased.waiting.last().map_or(0, |event| event.seq.0);
        world.say(|| {
            let answer = committed.answer.as_ref().map_or_else(ToString::to_string, |()| "kept".to_owned());
            format!("process {who}: writes up to event {at} of {session} in epoch {epoch}: {answer}")
        });
        world.judge(committed.broken);
        if matches!(fate, Fate::Lost) && committed.answer.is_ok() {
            world.say(|| format!("process {who}: that answer is lost, and the request comes twice"));
            let again = world.database().append(session, (who, epoch), &leased.waiting);
            world.judge(again.broken);
            if again.answer.is_ok() && !leased.waiting.is_empty() {
                world.broke("no seq twice: a request that came twice was done twice".to_owned());
            }
            if self.dice.per_mille(400) {
                leased.doubt = true;
                return Err(self.broken("its answer is lost"));
            }
        }
        let Some(leased) = self.open.get_mut(session) else { return Ok(()) };
        if matches!(committed.answer, Err(StoreError::NotOpen(_))) {
            self.open.remove(session);
        } else if committed.answer.is_ok() {
            leased.waiting.clear();
        }
        committed.answer.map_err(|why| self.told(session, why))
    }
}

impl Store for Client {
    fn create(&mut self, session: &SessionId) -> Result<(), StoreError> {
        // The answer about its first events was lost, and whoever asks is told that nothing was done: it is ours already.
        if self.open.get(session).is_some_and(|leased| leased.doubt) {
            return Ok(());
        }
        self.reach()?;
        let epoch = self.world.database().create(session, self.who, self.world.now())?;
        self.leased(session, epoch, Seq(0));
        Ok(())
    }

    fn open(&mut self, session: &SessionId) -> Result<Opened, StoreError> {
        self.reach()?;
        let world = self.world.clone();
        let who = self.who;
        let mut database = world.database();
        if database.kept(session).is_none() {
            return Err(StoreError::Unknown(session.clone()));
        }
        let taken = database.take(session, who, world.now());
        world.say(|| match &taken {
            Ok(epoch) => format!("process {who}: has {session} in epoch {epoch}"),
            Err(why) => format!("process {who}: does not get {session}: {why}"),
        });
        let epoch = taken.map_err(|why| self.told(session, why))?;
        let state = database.kept(session).map(|kept| kept.state.clone()).unwrap_or_default();
        drop(database);
        self.leased(session, epoch, state.seq);
        Ok(Opened { state, damage: None })
    }

    fn is_grouping(&self) -> bool {
        self.is_shared
    }

    fn fence(&self, session: &SessionId) -> Option<Fence> {
        self.open.get(session).map(|leased| Fence(leased.epoch))
    }

    fn append(
        &mut self,
        session: &SessionId,
        events: &[Event],
        durability: Durability,
    ) -> Result<Appended, StoreError> {
        if !self.open.contains_key(session) {
            return Err(self.told(session, StoreError::NotOpen(session.clone())));
        }
        let Some(leased) = self.open.get_mut(session) else {
            return Err(StoreError::NotOpen(session.clone()));
        };
        let first = events.first().map_or(leased.head.next(), |event| event.seq);
        if first != leased.head.next() {
            let (session, expected) = (session.clone(), leased.head.next());
            return Err(StoreError::OutOfOrder { session, expected, got: first });
        }
        let before = leased.head;
        leased.waiting.extend_from_slice(events);
        leased.head = events.last().map_or(leased.head, |event| event.seq);
        let told_early = self.world.plan.is(Mutant::ToldBeforeKept);
        let sent = if durability == Durability::Now && !told_early { self.send(session) } else { Ok(()) };
        if sent.is_err()
            && let Some(leased) = self.open.get_mut(session)
        {
            // All or none: what was taken earlier stays taken.
            leased.waiting.retain(|event| event.seq <= before);
            leased.head = before;
        }
        sent.map(|()| Appended::default())
    }

    fn snapshot(&mut self, _session: &SessionId, _state: &State) -> Result<(), StoreError> {
        Ok(())
    }

    fn tend(&mut self) -> Result<(), StoreError> {
        let now = self.now();
        let sessions: Vec<SessionId> = self.open.keys().cloned().collect();
        for session in sessions {
            self.send(&session)?;
            let Some(leased) = self.open.get(&session) else { continue };
            let epoch = leased.epoch;
            if leased.renewed + RENEW_MILLIS > now {
                continue;
            }
            self.reach()?;
            let renewed = self.world.database().renew(&session, (self.who, epoch), self.world.now());
            match renewed {
                Ok(()) => {
                    if let Some(leased) = self.open.get_mut(&session) {
                        leased.renewed = now;
                    }
                }
                Err(why) => {
                    self.open.remove(&session);
                    return Err(self.told(&session, why));
                }
            }
        }
        Ok(())
    }

    fn close(&mut self, session: &SessionId) -> Result<(), StoreError> {
        let sent = self.send(session);
        if let Some(leased) = self.open.remove(session)
            && self.world.reaches_database(self.node)
        {
            self.world.database().release(session, (self.who, leased.epoch));
        }
        sent
    }

    fn load(&self, session: &SessionId) -> Result<Opened, StoreError> {
        let database = self.world.database();
        let kept = database.kept(session).ok_or_else(|| StoreError::Unknown(session.clone()))?;
        Ok(Opened { state: kept.state.clone(), damage: None })
    }

    fn events(&self, session: &SessionId, after: Seq, limit: usize) -> Result<Vec<Event>, StoreError> {
        let database = self.world.database();
        let kept = database.kept(session).ok_or_else(|| StoreError::Unknown(session.clone()))?;
        Ok(kept.events.iter().filter(|event| event.seq > after).take(limit).cloned().collect())
    }

    fn history(&self, session: &SessionId, _runs: usize, max_events: usize) -> Result<History, StoreError> {
        let events = self.events(session, Seq(0), usize::MAX)?;
        let from = events.len().saturating_sub(max_events);
        Ok(History { runs: 0, truncated: from > 0, events: events[from..].to_vec() })
    }

    fn list(&self, _listing: &Listing) -> Result<Vec<SessionSummary>, StoreError> {
        let database = self.world.database();
        Ok(database.sessions().map(|(id, kept)| SessionSummary::of(id, &kept.state)).collect())
    }

    fn summary(&self, session: &SessionId) -> Result<SessionSummary, StoreError> {
        Ok(SessionSummary::of(session, &self.load(session)?.state))
    }

    fn search(&self, _text: &str, _limit: usize) -> Result<Vec<SearchHit>, StoreError> {
        Ok(Vec::new())
    }

    fn delete(&mut self, session: &SessionId) -> Result<(), StoreError> {
        Err(StoreError::Unknown(session.clone()))
    }
}
