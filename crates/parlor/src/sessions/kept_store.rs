//! The store that these commands work on: the file of this machine, or a database.

use domain::ids::SessionId;
use host::kept::told;
use host::launch::Launch;
use host::{paths, store_place};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use store::{SqliteStore, Store};
use team::PostgresStore;

/// One of the two.
pub(super) enum KeptStore {
    Here(Box<SqliteStore>),
    Team(PostgresStore),
}

impl KeptStore {
    /// Who has which session open: a process of this machine by its number, one of another in words.
    pub(super) fn holders(&self) -> anyhow::Result<BTreeMap<SessionId, Value>> {
        Ok(match self {
            KeptStore::Here(store) => {
                let holders = store.holders().map_err(|why| told(&why))?;
                holders.into_iter().map(|(session, pid)| (session, json!(pid))).collect()
            }
            KeptStore::Team(store) => {
                let holders = store.holders().map_err(|why| told(&why))?;
                holders.into_iter().map(|(session, holder)| (session, json!(holder))).collect()
            }
        })
    }
}

impl Deref for KeptStore {
    type Target = dyn Store;

    fn deref(&self) -> &(dyn Store + 'static) {
        match self {
            KeptStore::Here(store) => &**store,
            KeptStore::Team(store) => store,
        }
    }
}

impl DerefMut for KeptStore {
    fn deref_mut(&mut self) -> &mut (dyn Store + 'static) {
        match self {
            KeptStore::Here(store) => &mut **store,
            KeptStore::Team(store) => store,
        }
    }
}

/// What is kept, for reading; `None` where nothing ever was.
pub(super) fn to_read(launch: &Launch) -> anyhow::Result<Option<KeptStore>> {
    if let Some(address) = store_place::database(launch)? {
        return Ok(Some(KeptStore::Team(store_place::open(address)?)));
    }
    let data = paths::data()?;
    let Ok(true) = SqliteStore::is_at(&data) else { return Ok(None) };
    Ok(Some(KeptStore::Here(Box::new(SqliteStore::to_read(&data).map_err(|why| told(&why))?))))
}
