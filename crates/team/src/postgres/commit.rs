//! Committing: what many sessions want written goes to the database in one statement, which is one commit; each session is answered for
//! itself, and one that is refused changes nothing for another.
//!
//! Where the connection breaks in the middle, nobody knows whether it was committed. Then the heads are asked: one that stands at the last
//! of our events with our digest was; one that stands before them was not, and the statement is made again; one of another epoch is no
//! longer ours. That goes on until the owner has to stop anyway, so that nothing is ever told which may yet be undone.

use super::PostgresStore;
use super::leases::Heads;
use crate::database::{CALL_WITHIN, Database};
use crate::statements;
use crate::trouble::Trouble;
use crate::writer::{Columns, Prepared, Writer};
use domain::ids::SessionId;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use store::{Appended, Batch, Durability, Fence, StoreError};

/// The shortest time for a statement.
const LEAST: Duration = Duration::from_millis(50);
/// How often a statement is made again that somebody was in the way of.
const TRIES: u32 = 5;

/// What is to be written of one session.
struct Due {
    session: SessionId,
    id: i64,
    fence: Fence,
    prepared: Prepared,
}

/// How it went with one session.
type Done = (SessionId, Result<(), StoreError>);

impl PostgresStore {
    /// [`store::Store::append_many`]: what may wait is held back, all else goes in groups.
    pub(super) fn commit_all(&mut self, batches: &[Batch<'_>]) -> Vec<Result<Appended, StoreError>> {
        self.stop_what_is_over();
        let mut answers: Vec<Option<Result<Appended, StoreError>>> = Vec::with_capacity(batches.len());
        let mut due: BTreeMap<SessionId, usize> = BTreeMap::new();
        let mut ends = Vec::with_capacity(batches.len());
        for (at, batch) in batches.iter().enumerate() {
            let taken = self.take_in(batch, due.contains_key(batch.session));
            ends.push(taken.as_ref().ok().map(|taken| taken.end));
            answers.push(match taken {
                Ok(taken) if taken.goes => {
                    due.insert(batch.session.clone(), at);
                    None
                }
                Ok(_) => Some(Ok(self.appended(batch.session))),
                Err(why) => Some(Err(why)),
            });
        }
        for (session, done) in self.flush(due.keys().cloned().collect()) {
            let Some(at) = due.get(&session).copied() else { continue };
            answers[at] = Some(match done {
                Ok(()) => Ok(self.appended(&session)),
                Err(why) => {
                    // As if it had never been taken.
                    if let (Some(writer), Some(Some(end))) = (self.writers.get_mut(&session), ends.get(at)) {
                        writer.take_back(*end);
                    }
                    Err(why)
                }
            });
        }
        answers
            .into_iter()
            .zip(batches)
            .map(|(answer, batch)| answer.unwrap_or_else(|| Ok(self.appended(batch.session))))
            .collect()
    }

    fn appended(&self, session: &SessionId) -> Appended {
        let snapshot_due = self.writers.get(session).is_some_and(|writer| writer.snapshot_due());
        Appended { snapshot_due }
    }

    /// Lets a batch wait with what waits already.
    fn take_in(&mut self, batch: &Batch<'_>, is_second: bool) -> Result<Waits, StoreError> {
        let Some(writer) = self.writers.get_mut(batch.session) else {
            return Err(self.not_open(batch.session));
        };
        if is_second {
            // One answer for each session.
            let (session, expected) = (batch.session.clone(), writer.end().next());
            let got = batch.events.first().map_or(expected, |event| event.seq);
            return Err(StoreError::OutOfOrder { session, expected, got });
        }
        writer.check_numbers(batch.session, batch.events)?;
        let end = writer.end();
        let is_much = writer.wait(batch.events);
        Ok(Waits { end, goes: is_much || batch.durability == Durability::Now })
    }

    /// Writes all that waits of these sessions.
    pub(super) fn flush(&mut self, sessions: Vec<SessionId>) -> Vec<Done> {
        let mut done = Vec::new();
        for group in sessions.chunks(store::MAX_GROUP) {
            let mut due = Vec::new();
            for session in group {
                match self.writers.get(session) {
                    Some(writer) => match writer.prepare(session) {
                        Some(prepared) => {
                            due.push(Due {
                                session: session.clone(),
                                id: writer.id,
                                fence: writer.fence,
                                prepared,
                            });
                        }
                        None => done.push((session.clone(), Ok(()))),
                    },
                    None => done.push((session.clone(), Err(self.not_open(session)))),
                }
            }
            self.write(due, &mut done);
        }
        done
    }

    /// Writes a group; where one of them is why the database refuses, each by itself.
    fn write(&mut self, mut due: Vec<Due>, done: &mut Vec<Done>) {
        let mut tries = 0;
        while !due.is_empty() {
            let began = self.clock.now();
            match append(&self.database, &due, self.left(&due)) {
                Ok(advanced) => {
                    let (kept, left): (Vec<Due>, Vec<Due>) =
                        due.into_iter().partition(|due| advanced.contains(&due.id));
                    kept.into_iter().for_each(|due| self.written(due, done));
                    if left.is_empty() {
                        return;
                    }
                    tries += 1;
                    due = left;
                    // Not ours any more, or written by what we took for lost: the heads say which.
                    let Some(left) = self.look_up(due, tries > TRIES, done) else { return };
                    due = left;
                }
                Err(Trouble::Refused(why)) if due.len() == 1 => {
                    return done.extend(due.into_iter().map(|due| due.session).zip([Err(why)]));
                }
                Err(Trouble::Refused(StoreError::Full { path })) => {
                    return done.extend(
                        due.into_iter()
                            .map(|due| (due.session, Err(StoreError::Full { path: path.clone() }))),
                    );
                }
                Err(Trouble::Refused(_)) => {
                    return due.into_iter().for_each(|due| self.write(vec![due], done));
                }
                Err(Trouble::Again(detail)) => {
                    tries += 1;
                    if tries > TRIES {
                        let place = self.database.place().to_owned();
                        let refused = |due: Due| {
                            (
                                due.session,
                                Err(StoreError::Database { place: place.clone(), detail: detail.clone() }),
                            )
                        };
                        return done.extend(due.into_iter().map(refused));
                    }
                }
                Err(Trouble::Lost(_)) => {
                    if self.clock.now().saturating_sub(began) < CALL_WITHIN / 2 {
                        self.database.pause();
                    }
                    let Some(left) = self.look_up(due, false, done) else { return };
                    due = left;
                }
            }
        }
    }

    /// Asks the heads what became of a statement; gives back what is to be made again, and `None` where nothing is left of it.
    fn look_up(&mut self, due: Vec<Due>, is_last: bool, done: &mut Vec<Done>) -> Option<Vec<Due>> {
        let leases: Vec<(i64, Fence)> = due.iter().map(|due| (due.id, due.fence)).collect();
        let heads: Heads = loop {
            self.stop_what_is_over();
            if !due.iter().any(|due| self.writers.contains_key(&due.session)) {
                break Heads::new();
            }
            let asked = self.clock.now();
            match self.renew(leases.clone()) {
                Ok(heads) => {
                    self.renewed(&leases, &heads, asked);
                    break heads;
                }
                Err(Trouble::Refused(why)) => {
                    // It answers, and will not say: its disk is full, or it does not know us any more.
                    let mut whys = vec![why];
                    let place = self.database.place().to_owned();
                    done.extend(due.into_iter().map(|due| {
                        let why = whys.pop().unwrap_or_else(|| StoreError::Database {
                            place: place.clone(),
                            detail: "it does not say what became of the last write".to_owned(),
                        });
                        (due.session, Err(why))
                    }));
                    return None;
                }
                Err(_) => self.database.pause(),
            }
        };
        let mut again = Vec::new();
        for due in due {
            if !self.writers.contains_key(&due.session) {
                let why = self.not_open(&due.session);
                // It stays among those that are lost until all are told.
                if let StoreError::LeaseLost { why, .. } = &why {
                    self.lost.insert(due.session.clone(), why.clone());
                }
                done.push((due.session, Err(why)));
                continue;
            }
            match heads.get(&due.id) {
                Some((last, hash)) if *last == due.prepared.end && hash == due.prepared.chain.bytes() => {
                    self.written(due, done);
                }
                Some(_) if is_last => {
                    let why = "its last record is not the one that was written last".to_owned();
                    self.stop(&due.session, why.clone());
                    done.push((
                        due.session.clone(),
                        Err(StoreError::LeaseLost { sessions: vec![due.session], why }),
                    ));
                }
                _ => again.push(due),
            }
        }
        (!again.is_empty()).then_some(again)
    }

    /// How long a statement may take: its owner stops in time, whatever becomes of it.
    fn left(&self, due: &[Due]) -> Duration {
        let now = self.clock.now();
        let stops = due.iter().filter_map(|due| self.writers.get(&due.session)).map(Writer::stops).min();
        stops.map_or(CALL_WITHIN, |stops| stops.saturating_sub(now).clamp(LEAST, CALL_WITHIN))
    }

    fn written(&mut self, due: Due, done: &mut Vec<Done>) {
        if let Some(writer) = self.writers.get_mut(&due.session) {
            writer.written(due.prepared);
        }
        done.push((due.session, Ok(())));
    }
}

/// How a batch was taken.
struct Waits {
    /// The last event before it.
    end: domain::ids::Seq,
    /// Whether it is to be written now.
    goes: bool,
}

/// Makes the statement; gives the numbers of the sessions that advanced.
fn append(database: &Database, due: &[Due], within: Duration) -> Result<BTreeSet<i64>, Trouble> {
    let mut columns = Columns::default();
    for due in due {
        columns.add(due.id, due.fence, &due.prepared);
    }
    let rows = database.call(within, move |link| async move {
        let c = &columns;
        let given: [&(dyn tokio_postgres::types::ToSql + Sync); 24] = [
            &c.sessions,
            &c.epochs,
            &c.befores,
            &c.ends,
            &c.hashes,
            &c.row_sessions,
            &c.row_firsts,
            &c.row_lasts,
            &c.row_versions,
            &c.row_forms,
            &c.row_crcs,
            &c.row_records,
            &c.projects,
            &c.updated,
            &c.running,
            &c.summaries,
            &c.run_sessions,
            &c.run_seqs,
            &c.entry_sessions,
            &c.entries,
            &c.entry_ats,
            &c.entry_firsts,
            &c.entry_lasts,
            &c.entry_words,
        ];
        link.rows(statements::APPEND, &given).await
    })?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}
