//! A session that a newer program wrote: never taken for damage, never changed, refused with both versions named.

use crate::script::{fold, script, session};
use domain::ids::{Seq, SessionId};
use rusqlite::{Connection, params};
use std::path::Path;
use store::{Durability, SqliteStore, Store, StoreError};

/// The checksum of a row, as it is written.
fn checksum(session: &SessionId, seq: u64, version: u32, form: u8, record: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(session.as_str().as_bytes());
    hasher.update(&seq.to_le_bytes());
    hasher.update(&seq.to_le_bytes());
    hasher.update(&version.to_le_bytes());
    hasher.update(&[form]);
    hasher.update(record);
    hasher.finalize()
}

/// Rewrites the row of event `seq` as another program would have written it.
fn rewrite(directory: &Path, seq: u64, version: u32, form: u8, record: &[u8]) {
    let connection = Connection::open(directory.join("sessions.db")).unwrap();
    let crc = checksum(&session(), seq, version, form, record);
    let sql = "UPDATE log SET version = ?1, form = ?2, crc = ?3, record = ?4 WHERE key & 0xffffffffff = ?5";
    let seq = i64::try_from(seq).unwrap();
    assert_eq!(connection.execute(sql, params![version, form, crc, record, seq]).unwrap(), 1);
}

fn everything(directory: &Path) -> Vec<(i64, i64, Vec<u8>)> {
    let connection = Connection::open(directory.join("sessions.db")).unwrap();
    let mut statement = connection.prepare("SELECT key, crc, record FROM log ORDER BY key").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn what_a_newer_program_wrote_is_no_damage_and_is_not_touched() {
    let last = script().len() as u64;
    let known = record::encode(script().last().unwrap()) + "\n";
    let unknown = format!("{{\"seq\":{last},\"at\":1,\"body\":{{\"thing_of_tomorrow\":{{}}}}}}\n");
    for (version, form, record, named) in [
        (2, 0, known.as_bytes(), "version 2, up to 1"),
        (1, 7, known.as_bytes(), "form 7"),
        (1, 0, unknown.as_bytes(), "thing_of_tomorrow"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::at(directory.path()).unwrap();
        store.create(&session()).unwrap();
        for event in script() {
            store.append(&session(), &[event], Durability::Now).unwrap();
        }
        store.close(&session()).unwrap();
        rewrite(directory.path(), last, version, form, record);
        let before = everything(directory.path());

        let refused = store.open(&session()).unwrap_err();
        assert!(matches!(refused, StoreError::NewerSession { .. }), "{refused}");
        let said = refused.to_string();
        assert!(said.contains(named) && said.contains(env!("CARGO_PKG_VERSION")), "{said}");
        assert!(refused.hint().contains("update Parlor"));
        assert_eq!(everything(directory.path()), before, "nothing was set aside");
        let another = SqliteStore::at(directory.path()).unwrap().open(&session());
        assert!(matches!(another, Err(StoreError::NewerSession { .. })), "the refusal holds no lease");

        let shown = store.load(&session()).unwrap();
        assert_eq!(shown.state.seq, Seq(last - 1));
        assert_eq!(shown.state, fold(&script()[..script().len() - 1]));
        let told = shown.damage.unwrap().message;
        assert!(told.contains("newer Parlor") && told.contains(named), "{told}");
    }
}
