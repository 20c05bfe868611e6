//! Where conversations are kept: in the file of this machine, or in a database that was named.
//!
//! Invariant: whoever named a database gets that or an error, never another place. What is not made for databases yet says so.

use crate::error::usage;
use crate::kept;
use crate::launch::Launch;
use crate::settings;
use team::{Address, PostgresStore};

/// What names a place that is not a database: the file of this machine.
pub const HERE: &str = "here";

/// The database in which conversations are to be kept; `None` for the file of this machine.
///
/// # Errors
/// When what was typed, or set, is no address of one.
pub fn database(launch: &Launch) -> anyhow::Result<Option<Address>> {
    let typed = launch.store.as_deref();
    if launch.ephemeral {
        return match typed {
            Some(_) => Err(usage(
                "--ephemeral keeps nothing, and --store says where to keep it\n\nhint: leave one of them out",
            )),
            None => Ok(None),
        };
    }
    let (named, whose) = match typed {
        Some(text) => (Some(text.to_owned()), "--store"),
        None => {
            let set = settings::store().map_err(|why| {
                usage(format!("the store in your settings cannot be read: {why}\n\nhint: put it right, or give --store PLACE; `--store {HERE}` is this machine"))
            })?;
            (set, "store in your settings")
        }
    };
    match named.as_deref() {
        None | Some(HERE) => Ok(None),
        Some(text) => match Address::parse(text) {
            Ok(address) => Ok(Some(address)),
            Err(why) => Err(usage(format!("{whose}: {why}\n\nhint: {}", why.hint()))),
        },
    }
}

/// Opens the database.
///
/// # Errors
/// When it cannot be used: nothing takes its place.
pub fn open(address: Address) -> anyhow::Result<PostgresStore> {
    PostgresStore::at(address).map_err(|why| kept::told(&why))
}

/// Refuses what works with the file of this machine only.
///
/// # Errors
/// Where a database was named.
pub fn only_here(launch: &Launch, what: &str) -> anyhow::Result<()> {
    match database(launch)? {
        None => Ok(()),
        Some(address) => Err(usage(format!(
            "{what} works with conversations of this machine, and yours are kept in {}\n\nhint: `--store {HERE}` means the file of this machine",
            address.shown()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_that_was_named_is_meant_or_refused() {
        let named = |store: &str| Launch { store: Some(store.to_owned()), ..Launch::default() };
        let found = database(&named("postgres://ada@db.example/team")).unwrap().unwrap();
        assert_eq!(found.shown(), "postgres://ada@db.example/team");
        assert!(database(&named(HERE)).unwrap().is_none());
        let refused = database(&named("postgres://ada:hunter2@db.example/team")).unwrap_err().to_string();
        assert!(refused.contains("PGPASSFILE") && !refused.contains("hunter2"), "{refused}");
        assert!(database(&named("sqlite:x")).unwrap_err().to_string().contains("--store"));
        let both = Launch { ephemeral: true, ..named("postgres://ada@db.example/team") };
        assert!(database(&both).unwrap_err().to_string().contains("--ephemeral"));
        let refused =
            only_here(&named("postgres://ada@db.example/team"), "the server").unwrap_err().to_string();
        assert!(refused.contains("--store here"), "{refused}");
    }
}
