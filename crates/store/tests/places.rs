//! The stores that the contract is tried on here.

use store::{MemoryStore, SqliteStore, Store};

/// Runs a test with each kind of store.
pub(crate) fn each(test: impl Fn(&mut dyn Store)) {
    test(&mut MemoryStore::new());
    let directory = tempfile::tempdir().unwrap();
    test(&mut SqliteStore::at(&directory.path().join("data")).unwrap());
}

/// A place that several programs write, and how a lease comes to its end there when its holder is gone for good.
pub(crate) struct Shared<'a> {
    pub(crate) open: &'a dyn Fn() -> Box<dyn Store>,
    pub(crate) lapse: &'a dyn Fn(),
}

/// Runs a test with each kind of store that several programs can share.
pub(crate) fn each_shared(test: impl Fn(&Shared<'_>)) {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let open = || -> Box<dyn Store> { Box::new(SqliteStore::at(&data).unwrap()) };
    let lapse = || {
        let file = rusqlite::Connection::open(data.join("sessions.db")).unwrap();
        file.execute_batch("UPDATE leases SET host = 'elsewhere', expires = 1").unwrap();
    };
    test(&Shared { open: &open, lapse: &lapse });
}
