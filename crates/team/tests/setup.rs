//! Tables and who may use them: set up at once by many, side by side with the next version, refused with the reason.

use crate::places::{address, store};
use store::{Store as _, StoreError};
use team::{Address, PostgresStore};
use testkit::postgres::Database;

#[test]
fn many_that_come_to_an_empty_database_at_once_set_it_up_once() {
    let database = Database::new();
    assert_eq!(PostgresStore::examine(address(&database)).unwrap(), None, "nothing is made by looking");
    std::thread::scope(|scope| {
        let opening: Vec<_> = (0..6).map(|_| scope.spawn(|| drop(store(&database)))).collect();
        opening.into_iter().for_each(|opened| opened.join().unwrap());
    });
    assert_eq!(database.sql("SELECT count(*) FROM parlor.format"), "1");
    let health = PostgresStore::examine(address(&database)).unwrap().unwrap();
    assert_eq!((health.sessions, health.open, health.format), (0, 0, 1));
}

#[test]
fn the_next_version_works_beside_this_one_and_the_one_after_it_is_refused() {
    let database = Database::new();
    drop(store(&database));
    database.sql("INSERT INTO parlor.format (step, works_with) VALUES (2, 1); ALTER TABLE parlor.log ADD tomorrow text");
    let mut beside = store(&database);
    let id = crate::script::session();
    beside.create(&id).unwrap();
    beside.append(&id, &crate::script::script(), store::Durability::Now).unwrap();
    drop(beside);
    database.sql("INSERT INTO parlor.format (step, works_with) VALUES (3, 2)");
    for refused in
        [PostgresStore::at(address(&database)).err(), PostgresStore::examine(address(&database)).err()]
    {
        assert!(matches!(refused, Some(StoreError::NewerDatabase { found: 3, known: 1, .. })), "{refused:?}");
        let refused = refused.unwrap();
        assert!(
            refused.hint().contains("update Parlor")
                && refused.to_string().contains(env!("CARGO_PKG_VERSION"))
        );
    }
}

#[test]
fn a_wrong_password_is_told_with_what_to_do_and_never_shown() {
    use std::os::unix::fs::PermissionsExt as _;
    let database = Database::new();
    // Roles are the server's, not the database's: tests beside us may make it, too.
    database.sql(
        "DO $$ BEGIN CREATE ROLE locked LOGIN SUPERUSER PASSWORD 'open sesame';
         EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$",
    );
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("passwords");
    let with = |line: &str| {
        std::fs::write(&file, line).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        let text = format!("{}&passfile={}", database.address_of("locked"), file.display());
        PostgresStore::at(Address::parse(&text).unwrap())
    };
    for (line, why) in
        [("*:*:*:*:hunter2\n", "password authentication failed"), ("# none\n", "asks for a password")]
    {
        let refused = with(line).err().unwrap();
        assert!(matches!(refused, StoreError::Denied { .. }), "{refused:?}");
        let said = format!("{refused} {refused:?}");
        assert!(said.contains(why) && !said.contains("hunter2"), "{said}");
        assert!(refused.hint().contains("PGPASSFILE"));
    }
    with("*:*:*:locked:open sesame\n").unwrap();
}

#[test]
fn a_server_that_is_not_there_and_a_database_that_is_not_are_told_apart() {
    let place = tempfile::tempdir().unwrap();
    let nowhere = format!("postgres://ada@/team?host={}", place.path().display());
    let refused = PostgresStore::at(Address::parse(&nowhere).unwrap()).err().unwrap();
    assert!(matches!(refused, StoreError::Unreachable { .. }), "{refused:?}");
    let database = Database::new();
    let other = database.address().replace(database.name(), "not_there");
    let refused = PostgresStore::at(Address::parse(&other).unwrap()).err().unwrap();
    assert!(
        matches!(&refused, StoreError::Database { detail, .. } if detail.contains("not_there")),
        "{refused:?}"
    );
}
