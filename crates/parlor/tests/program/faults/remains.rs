//! A store of which only the log is left, or whose header, index or list is damaged: every command says so and leads to `sessions recover`,
//! which gives every record back; nothing is made or removed before. And what a copy of damage says.

use crate::faults::damage::{change, copy, ends, fill, goes_through, listed, spoil};
use crate::faults::{PARLOR, World, stderr, stdout};
use crate::release::talk::{Native, ended};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// The files of a folder. Where processes announce themselves is a folder in it.
fn contents(folder: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    files.map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn a_store_of_which_only_the_log_is_left_is_made_anew_by_nobody_but_recover() {
    let clean = World::new();
    let store = fill(&clean.path("source"), 3);
    copy(&clean.path("source"), &clean.path("clean"));
    drop(store);
    for left in [None, Some(0), Some(1), Some(100)] {
        let world = World::new();
        let data = world.path("data");
        copy(&clean.path("clean"), &data);
        match left {
            None => std::fs::remove_file(data.join("sessions.db")).unwrap(),
            Some(length) => change(&data.join("sessions.db"), |bytes| bytes.truncate(length)),
        }
        let before = contents(&data);
        for args in [&["sessions", "list", "--all"][..], &["sessions", "show"], &["sessions", "import", "x"]]
        {
            let refused = ends(&world, args);
            assert_eq!(refused.status.code(), Some(1), "{left:?}: {args:?}: {}", stdout(&refused));
            assert!(stderr(&refused).contains("is damaged"), "{left:?}: {}", stderr(&refused));
        }
        let talked = ends(&world, &["run", "say hi"]);
        assert_eq!((talked.status.code(), stdout(&talked).trim()), (Some(0), "hi"), "{left:?}");
        let told = stderr(&talked);
        assert!(
            told.contains("nothing will be kept") && told.contains("sessions recover"),
            "{left:?}: {told}"
        );
        assert!(stdout(&world.run(&["doctor"])).contains("every record of its 3 conversations can be read"));
        assert!(contents(&data) == before, "{left:?}: not a byte is changed");
        goes_through(&format!("{left:?}"), &world, true, 3);
        assert_eq!(
            std::fs::read(data.join("sessions.db.damaged-1-wal")).unwrap(),
            before[&OsString::from("sessions.db-wal")],
            "{left:?}: the log is kept"
        );
    }
}

#[test]
fn a_header_or_an_index_that_is_damaged_costs_no_record() {
    let clean = World::new();
    drop(fill(&clean.path("data"), 3));
    for (at, bytes) in
        [(68, [0; 4]), (68, *b"Zrlr"), (60, [0x73, 0, 0, 1]), (60, [0, 0, 0, 88]), (60, [0; 4])]
    {
        let world = World::new();
        copy(&clean.path("data"), &world.path("data"));
        change(&world.path("data/sessions.db"), |file| file[at..at + 4].copy_from_slice(&bytes));
        goes_through(&format!("{at}: {bytes:?}"), &world, true, 3);
    }
    for (sql, said) in [
        ("DELETE FROM found_config", "fts5"),
        ("UPDATE sessions SET last_seq = 0 WHERE id = 2", "no list knows of the records of"),
    ] {
        let world = World::new();
        copy(&clean.path("data"), &world.path("data"));
        rusqlite::Connection::open(world.path("data/sessions.db")).unwrap().execute_batch(sql).unwrap();
        let doctor = stdout(&world.run(&["doctor"]));
        assert!(doctor.contains("every record of its 3 conversations can be read"), "{sql}: {doctor}");
        assert!(doctor.contains(said) && doctor.contains("`parlor sessions recover`"), "{sql}: {doctor}");
        let recovered = stdout(&ends(&world, &["sessions", "recover"]));
        assert!(recovered.contains("114 records, none is lost"), "{sql}: {recovered}");
        assert!(recovered.contains("the search index were rebuilt"), "{sql}: {recovered}");
        assert!(stdout(&ends(&world, &["sessions", "search", "word7"])).contains("word7"), "{sql}");
        assert_eq!(listed(&world), 3, "{sql}");
    }
}

#[test]
fn a_file_of_somebody_else_is_refused_without_a_circle_and_not_touched() {
    let world = World::new();
    std::fs::create_dir(world.path("data")).unwrap();
    let file = world.path("data/sessions.db");
    let sql = "CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('x')";
    rusqlite::Connection::open(&file).unwrap().execute_batch(sql).unwrap();
    let before = std::fs::read(&file).unwrap();
    for args in [&["sessions", "list"][..], &["sessions", "recover"], &["sessions", "backup", "copy.db"]] {
        let refused = ends(&world, args);
        assert!(stderr(&refused).contains("is not a session store"), "{args:?}: {}", stderr(&refused));
        assert!(stderr(&refused).contains("move"), "{args:?}: {}", stderr(&refused));
    }
    assert!(!stderr(&ends(&world, &["sessions", "recover"])).contains("`parlor sessions recover`"));
    assert!(std::fs::read(&file).unwrap() == before, "not a byte is changed");
    assert!(!world.project("copy.db").exists());
}

#[test]
fn a_copy_of_damaged_records_says_so_and_ends_with_six() {
    let world = World::new();
    drop(fill(&world.path("data"), 3));
    spoil(&world, "IN (5, 6, 7)");
    let copied = world.run(&["sessions", "backup", "copy.db"]);
    assert_eq!(copied.status.code(), Some(6), "{}", stdout(&copied));
    let told = stderr(&copied);
    assert!(told.contains("3 records cannot be read; 1 of 3 conversations have lost something"), "{told}");
    assert!(told.contains("`parlor sessions recover`"), "{told}");
    assert!(world.project("copy.db").exists());
    let copied = world.run(&["sessions", "backup", "other.db", "--json"]);
    let report: Value = serde_json::from_slice(&copied.stdout).unwrap();
    assert_eq!(report["damage"], json!({"conversations": 1, "records": 3}));
    let nowhere = stderr(&world.run(&["sessions", "backup", "none/copy.db"]));
    assert!(nowhere.contains("there is no folder none") && !nowhere.contains(".part"), "{nowhere}");
    // A copy that is killed leaves something, which the next one clears.
    assert_eq!(ends(&world, &["sessions", "recover"]).status.code(), Some(0));
    let inject = ["-f", "-o", "/dev/null", "-e", "inject=fsync,fdatasync:signal=KILL"];
    let words = [&inject[..], &[PARLOR, "sessions", "backup", "third.db"]].concat();
    assert!(!world.command("strace".as_ref(), &words).output().unwrap().status.success());
    assert!(world.made("third.db.") > 0, "it was killed in the middle");
    assert_eq!(world.run(&["sessions", "backup", "third.db"]).status.code(), Some(0));
    assert_eq!(world.made("third.db"), 1);
}

#[test]
fn a_whole_store_that_is_open_elsewhere_has_nothing_to_recover() {
    let world = World::new();
    drop(fill(&world.path("data"), 2));
    world.script("model text \"Hello.\"\n");
    let serve = ["serve", "--dialect", "native", "--stdio", "--model", "scripted/model.txt"];
    let mut ui = Native::start(world.parlor(&serve));
    ui.new_session("sess-00000000abcd", "open");
    ui.prompt("sess-00000000abcd", &json!({"input": {"text": "hi"}}), |ask| panic!("{ask}"), ended);
    let said = world.run(&["sessions", "recover"]);
    assert!(said.status.success() && stdout(&said).starts_with("Nothing to recover"), "{}", stderr(&said));
    ui.leave();
}
