//! `parlor sessions move`: conversations from one store to another, record by record.
//!
//! Invariants: a conversation is taken away only after the other store has the same records by their digest and the same state by its
//! hash; nobody writes it meanwhile, since both stores' leases are here; one that was interrupted goes on where it was; one that has gone
//! on in both stores is left in both.

use super::SessionCommands;
use super::args::Move;
use super::kept_store::KeptStore;
use crate::exit::{self, Exit};
use crate::output;
use domain::ids::{Seq, SessionId};
use host::kept::{find, told};
use host::launch::Launch;
use host::{paths, store_place};
use serde_json::json;
use store::parts::Chain;
use store::{Durability, SqliteStore, Store, StoreError};

/// Events that are moved at once.
const BATCH: usize = 500;

impl SessionCommands {
    /// `parlor sessions move`; one that stays where it is costs the exit code and nothing of the others.
    pub(super) fn move_to(&mut self, moves: &Move) -> anyhow::Result<Exit> {
        let place = Launch { store: Some(moves.to.clone()), ..Launch::default() };
        let mut to = match store_place::database(&place)? {
            Some(address) => KeptStore::Team(store_place::open(address)?),
            None => KeptStore::Here(Box::new(SqliteStore::at(&paths::data()?).map_err(|why| told(&why))?)),
        };
        if to.place() == self.store.place() {
            let name = to.place().unwrap_or("the file of this machine");
            return Err(exit::usage(format!(
                "they are kept there already: {name}\n\nhint: --store says where they come from, --to where they go"
            )));
        }
        let mut ids: Vec<SessionId> = Vec::new();
        for id in &moves.ids {
            ids.push(find(&*self.store, id)?);
        }
        if moves.ids.is_empty() {
            ids.extend(self.all()?.into_iter().map(|session| session.id));
        }
        ids.sort();
        ids.dedup();
        let (mut moved, mut left) = (Vec::new(), Vec::new());
        for id in &ids {
            match move_one(&mut *self.store, &mut *to, id) {
                Ok(events) => {
                    if !moves.report.json {
                        output::print_line(&format!(
                            "moved {id}: {events} records, the same by their digest"
                        ));
                    }
                    moved.push(json!({ "session": id.as_str(), "events": events }));
                }
                Err(why) => {
                    output::print_error(&format!("error: {id} stays where it is: {why:#}"));
                    left.push(id.as_str().to_owned());
                }
            }
        }
        if moves.report.json {
            output::print_line(&json!({ "moved": moved, "left": left }).to_string());
        } else if ids.is_empty() {
            output::print_line("No conversation is kept there.");
        }
        Ok(if left.is_empty() { Exit::Done } else { Exit::Failed })
    }
}

/// Moves one; gives the number of its records.
fn move_one(from: &mut dyn Store, to: &mut dyn Store, id: &SessionId) -> anyhow::Result<u64> {
    let opened = from.open(id).map_err(|why| told(&why))?;
    let copied = if opened.damage.is_some() {
        Err(anyhow::anyhow!(
            "a part of it cannot be read\nhint: `parlor sessions export` and `import` bring over what can"
        ))
    } else {
        copy(from, to, id, &opened.state)
    };
    let closed = to.close(id).map_err(|why| told(&why));
    let done = copied.and_then(|events| closed.map(|()| events));
    if done.is_err() {
        // It is written here as before.
        let _ = from.close(id);
    }
    let events = done?;
    from.delete(id).map_err(|why| told(&why))?;
    Ok(events)
}

fn copy(
    from: &dyn Store,
    to: &mut dyn Store,
    id: &SessionId,
    state: &domain::state::State,
) -> anyhow::Result<u64> {
    let there = match to.open(id) {
        Err(StoreError::Unknown(_)) => {
            to.create(id).map_err(|why| told(&why))?;
            (Seq(0), Chain::default())
        }
        Ok(_) => to.chain(id).map_err(|why| told(&why))?,
        Err(why) => return Err(told(&why)),
    };
    let (mut chain, mut last) = (Chain::default(), Seq(0));
    loop {
        // Up to where the other store is, it is only compared.
        let room = if last < there.0 {
            usize::try_from(there.0.0 - last.0).unwrap_or(BATCH).min(BATCH)
        } else {
            BATCH
        };
        let events = from.events(id, last, room).map_err(|why| told(&why))?;
        let Some(end) = events.last().map(|event| event.seq) else { break };
        chain = chain.then(&events);
        if last >= there.0 {
            to.append(id, &events, Durability::Now).map_err(|why| told(&why))?;
        }
        last = end;
        if last == there.0 && chain != there.1 {
            anyhow::bail!(
                "the other store has another conversation of this id, or it went on in both\nhint: look at both; `parlor sessions rm ID` deletes one"
            );
        }
    }
    if last < there.0 {
        anyhow::bail!(
            "the other store is further: it went on there\nhint: look at both; `parlor sessions rm ID` deletes one"
        );
    }
    if from.chain(id).map_err(|why| told(&why))? != (last, chain) {
        anyhow::bail!(
            "its records are not those that were written: their digest is another\nhint: `parlor sessions export` and `import` bring over what is there"
        );
    }
    // Read back before there is a snapshot that could stand for it.
    let copy = to.load(id).map_err(|why| told(&why))?;
    let is_same =
        read_back(to, id)? == (last, chain) && to.chain(id).map_err(|why| told(&why))? == (last, chain);
    if !is_same || copy.damage.is_some() || copy.state.hash() != state.hash() {
        anyhow::bail!(
            "the copy is not the same; it is left there, and nothing was taken away\nhint: delete the copy there (`parlor sessions rm ID` with --store), then move it again"
        );
    }
    to.snapshot(id, state).map_err(|why| told(&why))?;
    Ok(last.0)
}

/// The digest of what a store gives when it is asked for its records.
fn read_back(store: &dyn Store, id: &SessionId) -> anyhow::Result<(Seq, Chain)> {
    let (mut chain, mut last) = (Chain::default(), Seq(0));
    loop {
        let events = store.events(id, last, BATCH).map_err(|why| told(&why))?;
        let Some(end) = events.last() else { return Ok((last, chain)) };
        last = end.seq;
        chain = chain.then(&events);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::event::{Body, Event, SessionEvent};
    use domain::ids::Millis;
    use store::MemoryStore;

    fn renamed(seq: u64, title: &str) -> Event {
        let body = Body::Session(SessionEvent::Renamed { title: title.to_owned() });
        Event { seq: Seq(seq), at: Millis(seq), body }
    }

    fn kept(events: &[Event]) -> MemoryStore {
        let (mut store, id) = (MemoryStore::new(), SessionId::from_number(1));
        store.create(&id).unwrap();
        store.append(&id, events, Durability::Now).unwrap();
        store.close(&id).unwrap();
        store
    }

    #[test]
    fn what_was_interrupted_goes_on_and_what_went_on_in_both_is_left_in_both() {
        let id = SessionId::from_number(1);
        let events: Vec<Event> = (1..=1_200).map(|seq| renamed(seq, &format!("title {seq}"))).collect();
        for there in [0, 1, 499, 500, 777, 1_200] {
            let (mut from, mut to) = (kept(&events), MemoryStore::new());
            if there > 0 {
                to = kept(&events[..there]);
            }
            assert_eq!(move_one(&mut from, &mut to, &id).unwrap(), 1_200, "{there}");
            assert!(matches!(from.load(&id), Err(StoreError::Unknown(_))));
            assert_eq!(to.events(&id, Seq(0), 2_000).unwrap(), events);
        }
        let mut other = events[..700].to_vec();
        other[650] = renamed(651, "something else");
        let mut further = events.clone();
        further.push(renamed(1_201, "and on"));
        for there in [other, further] {
            let (mut from, mut to) = (kept(&events), kept(&there));
            let refused = move_one(&mut from, &mut to, &id).unwrap_err().to_string();
            assert!(refused.contains("went on"), "{refused}");
            assert_eq!(from.events(&id, Seq(0), 2_000).unwrap(), events);
            assert_eq!(to.events(&id, Seq(0), 2_000).unwrap(), there);
        }
    }
}
