//! A connection that breaks, a server that goes and comes, a disk that says no: what was acknowledged is there once, and nothing twice.

use crate::places::store;
use crate::script::{fold, script, session};
use domain::ids::{Seq, SessionId};
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use store::{Batch, Durability, Store as _, StoreError};
use team::{Address, PostgresStore};
use testkit::postgres::{Database, Server};

/// What the way to the server does with the next append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// It ends before the server has heard of it.
    Before,
    /// It ends when the server has done it, before we hear of that.
    After,
}

/// A way to the server that can break.
struct Way {
    place: tempfile::TempDir,
    next: Arc<Mutex<Option<Fault>>>,
    is_open: Arc<AtomicBool>,
}

impl Way {
    fn to(server: PathBuf) -> Way {
        let place = tempfile::tempdir().unwrap();
        let (next, is_open) = (Arc::new(Mutex::new(None)), Arc::new(AtomicBool::new(true)));
        let door = UnixListener::bind(place.path().join(".s.PGSQL.5432")).unwrap();
        let (fault, open) = (next.clone(), is_open.clone());
        // It ends with the test.
        std::thread::spawn(move || {
            for came in door.incoming() {
                let Ok(client) = came else { return };
                if !open.load(Ordering::SeqCst) {
                    continue;
                }
                let Ok(server) = UnixStream::connect(&server) else { continue };
                lead(client, server, fault.clone());
            }
        });
        Way { place, next, is_open }
    }

    fn breaks(&self, fault: Fault) {
        *self.next.lock().unwrap() = Some(fault);
    }

    fn is_broken(&self) -> bool {
        self.next.lock().unwrap().is_none()
    }

    fn dir(&self) -> &Path {
        self.place.path()
    }
}

/// Carries what is said both ways, until a fault comes.
fn lead(client: UnixStream, server: UnixStream, fault: Arc<Mutex<Option<Fault>>>) {
    let (mut hears, mut answers) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let cut = Arc::new(AtomicBool::new(false));
    let (cut_there, ends) = (cut.clone(), [client.try_clone().unwrap(), server.try_clone().unwrap()]);
    std::thread::spawn(move || {
        let mut bytes = [0; 64 * 1024];
        while let Ok(count @ 1..) = answers.read(&mut bytes) {
            // The answer to what was to be cut: it is not led on, and that is the end.
            if cut_there.load(Ordering::SeqCst) {
                break;
            }
            if hears.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        ends.iter().for_each(|end| drop(end.shutdown(Shutdown::Both)));
    });
    std::thread::spawn(move || {
        let (mut client, mut server, mut bytes) = (client, server, [0; 64 * 1024]);
        while let Ok(count @ 1..) = client.read(&mut bytes) {
            // What is appended carries the session's title.
            let is_append = bytes[..count].windows(14).any(|piece| piece == b"fix the failin");
            let now = fault.lock().unwrap().take_if(|_| is_append);
            match now {
                Some(Fault::Before) => break,
                Some(Fault::After) => cut.store(true, Ordering::SeqCst),
                None => {}
            }
            if server.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        // Where the answer is what is not heard, the server has to say it first.
        if !cut.load(Ordering::SeqCst) {
            let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
        }
    });
}

#[test]
fn a_connection_that_breaks_in_the_middle_of_a_commit_costs_nothing_and_doubles_nothing() {
    let database = Database::new();
    drop(store(&database));
    for fault in [Fault::Before, Fault::After] {
        let way = Way::to(database.socket());
        let mut store = PostgresStore::at(Address::parse(&database.address_at(way.dir())).unwrap()).unwrap();
        let (id, events) = (SessionId::from_number(fault as u64 + 1), script());
        store.create(&id).unwrap();
        store.append(&id, &events[..3], Durability::Now).unwrap();
        way.breaks(fault);
        store.append(&id, &events[3..9], Durability::Now).unwrap();
        assert!(way.is_broken(), "{fault:?} did not come");
        store.append(&id, &events[9..], Durability::Now).unwrap();
        assert_eq!(store.events(&id, Seq(0), 1_000).unwrap(), events, "{fault:?}");
        store.close(&id).unwrap();
        assert_eq!(store.open(&id).unwrap().state, fold(&events));
    }
}

#[test]
fn a_server_that_dies_and_comes_back_has_all_that_was_acknowledged_and_the_session_goes_on() {
    let mut server = Server::new();
    let database = server.database();
    let mut store = store(&database);
    let (id, events) = (session(), script());
    store.create(&id).unwrap();
    store.append(&id, &events[..9], Durability::Now).unwrap();
    server.kill();
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| store.append(&id, &events[9..], Durability::Now));
        server.start();
        writing.join().unwrap().unwrap();
    });
    assert_eq!(store.events(&id, Seq(0), 1_000).unwrap(), events);
    assert_eq!(store.load(&id).unwrap().state, fold(&events));
}

#[test]
fn a_server_that_stays_away_ends_the_session_here_and_what_was_not_acknowledged_is_not_there() {
    let database = Database::new();
    drop(store(&database));
    let way = Way::to(database.socket());
    let seconds = Arc::new(std::sync::atomic::AtomicU64::new(100));
    // Each look at the clock is a second later: nobody has to wait for it.
    let clock =
        team::Clock::told(move || std::time::Duration::from_secs(seconds.fetch_add(1, Ordering::SeqCst)));
    let mut store =
        PostgresStore::with_clock(Address::parse(&database.address_at(way.dir())).unwrap(), clock).unwrap();
    let (id, events) = (session(), script());
    store.create(&id).unwrap();
    way.is_open.store(false, Ordering::SeqCst);
    way.breaks(Fault::Before);
    let refused = store.append(&id, &events[..9], Durability::Now);
    assert!(way.is_broken());
    assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
    way.is_open.store(true, Ordering::SeqCst);
    assert_eq!(store.events(&id, Seq(0), 100).unwrap(), []);
}

#[test]
fn a_disk_that_says_no_is_told_and_what_it_did_not_take_may_come_again() {
    let database = Database::new();
    let mut store = store(&database);
    let (full, other, events) = (session(), SessionId::from_number(2), script());
    store.create(&full).unwrap();
    store.create(&other).unwrap();
    store.append(&full, &events[..3], Durability::Now).unwrap();
    database.sql(
        "CREATE FUNCTION parlor.no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END $$;
         CREATE TRIGGER no BEFORE INSERT ON parlor.log EXECUTE FUNCTION parlor.no()",
    );
    let refused = store.append(&full, &events[3..], Durability::Now).unwrap_err();
    assert!(matches!(refused, StoreError::Full { .. }), "{refused:?}");
    assert!(refused.hint().contains("free some space"));
    assert_eq!(store.events(&full, Seq(0), 100).unwrap(), events[..3]);
    database.sql("DROP TRIGGER no ON parlor.log");
    store.append(&full, &events[3..], Durability::Now).unwrap();
    assert_eq!(store.load(&full).unwrap().state, fold(&events));
    // Where the database refuses one of a group, the others are written all the same.
    database.sql(
        "CREATE FUNCTION parlor.one() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
           IF NEW.session = (SELECT min(id) FROM parlor.sessions) THEN RAISE EXCEPTION 'not this one'; END IF; RETURN NEW; END $$;
         CREATE TRIGGER one BEFORE INSERT ON parlor.log FOR EACH ROW EXECUTE FUNCTION parlor.one()",
    );
    let more = crate::script::following(&fold(&events), [events[0].body.clone()]);
    let now = Durability::Now;
    let batches = [
        Batch { session: &full, events: &more, durability: now },
        Batch { session: &other, events: &events, durability: now },
    ];
    let answers = store.append_many(&batches);
    assert!(
        matches!(&answers[0], Err(StoreError::Database { detail, .. }) if detail.contains("not this one")),
        "{answers:?}"
    );
    assert!(answers[1].is_ok(), "{answers:?}");
    assert_eq!(store.load(&other).unwrap().state, fold(&events));
}

#[test]
fn what_reads_stands_beside_what_writes() {
    let database = Database::new();
    let mut store = store(&database);
    let (id, events) = (session(), script());
    store.create(&id).unwrap();
    store.append(&id, &events, Durability::Now).unwrap();
    let reader = store.reader().unwrap();
    assert_eq!(reader.load(&id).unwrap().state, fold(&events));
    assert_eq!(reader.list(&store::Listing::default()).unwrap().len(), 1);
}
