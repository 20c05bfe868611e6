//! The store that the contract is tried on here.

use store::Store;
use team::{Address, PostgresStore};
use testkit::postgres::Database;

/// A store in a database.
pub(crate) fn store(database: &Database) -> PostgresStore {
    PostgresStore::at(address(database)).unwrap()
}

pub(crate) fn address(database: &Database) -> Address {
    Address::parse(&database.address()).unwrap()
}

/// Ends all leases, as if their holders had been gone for long.
pub(crate) fn lapse(database: &Database) {
    database.sql("UPDATE parlor.lease SET until = now() - interval '1 second'");
}

/// Runs a test with each kind of store.
pub(crate) fn each(test: impl Fn(&mut dyn Store)) {
    let database = Database::new();
    test(&mut store(&database));
}

/// A place that several programs write, and how a lease comes to its end there when its holder is gone for good.
pub(crate) struct Shared<'a> {
    pub(crate) open: &'a dyn Fn() -> Box<dyn Store>,
    pub(crate) lapse: &'a dyn Fn(),
}

/// Runs a test with each kind of store that several programs can share.
pub(crate) fn each_shared(test: impl Fn(&Shared<'_>)) {
    let database = Database::new();
    let open = || -> Box<dyn Store> { Box::new(store(&database)) };
    test(&Shared { open: &open, lapse: &|| lapse(&database) });
}
