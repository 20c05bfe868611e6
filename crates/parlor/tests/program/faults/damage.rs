//! A store whose file was cut, overwritten or filled with rubbish: every command says so and ends, and `sessions recover` gives back what
//! can be read, whatever interrupts it.

use crate::faults::{PARLOR, World, stderr, stdout};
use crate::release::talk::{Native, ended};
use domain::content::{Part, Role};
use domain::event::{Body, Event, Finish, MessageEvent, SessionEvent};
use domain::ids::{MessageId, Millis, Seq, SessionId};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use store::{Durability, SqliteStore, Store};

pub(crate) const PAGE: usize = 4096;
/// How long a command may take, in seconds, on a machine that does many other things.
const PATIENCE: &str = "60";

/// Numbers that look like nothing, and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

/// Events that take a few pages.
fn events(number: u64) -> Vec<Event> {
    let mut dice = Dice(number);
    let opened = Body::Session(SessionEvent::Opened { cwd: "/p".into(), project: "/p".into(), parent: None });
    let mut bodies = vec![opened, Body::Session(SessionEvent::Renamed { title: format!("story {number}") })];
    for message in (1..=12).map(MessageId) {
        let noise: String =
            (0..400).filter_map(|_| char::from_u32(0x4e00 + (dice.roll() % 20_000) as u32)).collect();
        bodies.push(Body::Message(MessageEvent::Started {
            message,
            parent: None,
            role: Role::User,
            turn: None,
            step: None,
        }));
        bodies.push(Body::Message(MessageEvent::PartAdded {
            message,
            part: Part::Text(format!("word{} {noise}", message.0)),
        }));
        bodies.push(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    }
    let numbered = bodies.into_iter().zip(1..);
    numbered.map(|(body, n)| Event { seq: Seq(n), at: Millis(1_000 * number + n), body }).collect()
}

/// Keeps `count` conversations in a data folder.
pub(crate) fn fill(data: &Path, count: u64) -> SqliteStore {
    let mut store = SqliteStore::at(data).unwrap();
    for number in 1..=count {
        let session = SessionId::from_number(number);
        store.create(&session).unwrap();
        for event in events(number) {
            store.append(&session, &[event], Durability::Now).unwrap();
        }
        store.close(&session).unwrap();
    }
    store
}

/// Copies a store with its log, as it stands.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for name in ["sessions.db", "sessions.db-wal"] {
        if from.join(name).exists() {
            std::fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}

/// Runs the program, which must end by itself, in order.
pub(crate) fn ends(world: &World, args: &[&str]) -> Output {
    let words = [&[PATIENCE, PARLOR], args].concat();
    let output = world.command("timeout".as_ref(), &words).output().unwrap();
    let said = stderr(&output);
    assert!(matches!(output.status.code(), Some(0 | 1 | 6)), "{args:?}: {:?}: {said}", output.status);
    assert!(!said.contains("panicked"), "{args:?}: {said}");
    if output.status.code() == Some(1) && args != ["doctor"] {
        assert!(said.contains("error: ") && said.contains("hint: "), "{args:?} says what to do: {said}");
    }
    output
}

pub(crate) fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(path).unwrap();
    change(&mut bytes);
    std::fs::write(path, &bytes).unwrap();
}

/// Damages records of the second conversation, so that every page stays sound.
pub(crate) fn spoil(world: &World, numbers: &str) {
    let records = format!("WHERE key & 0xffffffffff {numbers} AND key >> 40 = 2");
    let zero = format!("UPDATE log SET record = zeroblob(length(record)) {records}");
    rusqlite::Connection::open(world.path("data/sessions.db")).unwrap().execute_batch(&zero).unwrap();
}

pub(crate) fn listed(world: &World) -> usize {
    let listed = world.run(&["sessions", "list", "--all", "-n", "1000", "--json"]);
    assert!(listed.status.success(), "{}", stderr(&listed));
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    listed.as_array().unwrap().len()
}

/// Every command on a damaged store; then what was saved: at least `least` of the conversations.
pub(crate) fn goes_through(what: &str, world: &World, is_certain: bool, least: usize) {
    let one = "sess-000000000002";
    let opens = ends(world, &["sessions", "list", "--all"]).status.success();
    ends(world, &["sessions", "show", one]);
    ends(world, &["sessions", "export", one, "-f", "jsonl"]);
    let doctor = ends(world, &["doctor"]);
    if is_certain {
        assert_eq!(doctor.status.code(), Some(1), "{what}: {}", stdout(&doctor));
        assert!(stdout(&doctor).contains("`parlor sessions recover`"), "{what}: {}", stdout(&doctor));
    }
    let copy = world.path("copy.db");
    let copied = ends(world, &["sessions", "backup", copy.to_str().unwrap()]);
    assert_eq!(copied.status.code() != Some(1), copy.exists(), "{what}: {}", stderr(&copied));
    if is_certain {
        assert_ne!(copied.status.code(), Some(0), "{what}: {}", stdout(&copied));
        assert!(stderr(&copied).contains("`parlor sessions recover`"), "{what}: {}", stderr(&copied));
    }
    let _ = std::fs::remove_file(copy);
    // A conversation goes on all the same.
    let talked = ends(world, &["run", "say hi"]);
    assert_eq!(talked.status.code(), Some(0), "{what}: {}", stderr(&talked));
    assert!(opens || stderr(&talked).contains("nothing will be kept"), "{what}: {}", stderr(&talked));
    let recovered = ends(world, &["sessions", "recover"]);
    assert_eq!(recovered.status.code(), Some(0), "{what}: {}", stderr(&recovered));
    let doctor = stdout(&ends(world, &["doctor"]));
    assert!(doctor.contains("store      whole:"), "{what}: {doctor}");
    let there = listed(world);
    assert!(there >= least, "{what}: {there} of {least}\n{}", stdout(&recovered));
    assert_eq!(world.run(&["run", "say hi"]).status.code(), Some(0));
    assert_eq!(listed(world), there + 1, "{what}: what is new is kept again");
}

/// What it is called, whether something is lost for certain, how many conversations come back at least, and how it is done.
type Kind = (String, bool, usize, Box<dyn FnOnce(&mut Vec<u8>)>);

#[test]
fn whatever_happened_to_the_file_every_command_says_so_and_what_can_be_read_comes_back() {
    let world = World::new();
    let (data, clean) = (world.path("data"), world.path("clean"));
    drop(fill(&clean, 12));
    let file = data.join("sessions.db");
    let mut kinds: Vec<Kind> = vec![
        ("cut by one page".into(), true, 11, Box::new(|bytes| bytes.truncate(bytes.len() - PAGE))),
        ("cut in a page".into(), true, 9, Box::new(|bytes| bytes.truncate(bytes.len() - 5 * PAGE / 2))),
        ("header zeroed".into(), true, 12, Box::new(|bytes| bytes[..100].fill(0))),
        ("first page zeroed".into(), true, 12, Box::new(|bytes| bytes[..PAGE].fill(0))),
        (
            "middle zeroed".into(),
            true,
            9,
            Box::new(|bytes| {
                let middle = bytes.len() / PAGE / 2 * PAGE;
                bytes[middle..middle + 4 * PAGE].fill(0);
            }),
        ),
    ];
    for seed in 1..=4 {
        let rubbish = move |bytes: &mut Vec<u8>| {
            let mut dice = Dice(seed);
            for _ in 0..6 {
                let at = dice.roll() as usize % (bytes.len() - 64);
                bytes[at..at + 64].fill_with(|| dice.roll() as u8);
            }
        };
        kinds.push((format!("rubbish {seed}"), false, 6, Box::new(rubbish)));
    }
    for (what, is_certain, least, damage) in kinds {
        let _ = std::fs::remove_dir_all(&data);
        copy(&clean, &data);
        change(&file, damage);
        goes_through(&what, &world, is_certain, least);
    }
}

#[test]
fn a_log_that_was_cut_or_is_rubbish_costs_only_what_stood_in_it() {
    let world = World::new();
    let (data, clean) = (world.path("data"), world.path("clean"));
    let store = fill(&world.path("source"), 6);
    copy(&world.path("source"), &clean);
    drop(store);
    assert!(
        std::fs::metadata(clean.join("sessions.db-wal")).unwrap().len() > 100_000,
        "it is all in the log"
    );
    let log = data.join("sessions.db-wal");
    for (what, cut) in [("cut", 9), ("cut at a third", 3)] {
        let _ = std::fs::remove_dir_all(&data);
        copy(&clean, &data);
        change(&log, |bytes| bytes.truncate(bytes.len() / 10 * cut + 77));
        goes_through(what, &world, false, 1);
    }
    let _ = std::fs::remove_dir_all(&data);
    copy(&clean, &data);
    change(&log, |bytes| {
        let mut dice = Dice(9);
        bytes.fill_with(|| dice.roll() as u8);
    });
    goes_through("rubbish", &world, false, 0);
}

#[test]
fn a_whole_store_has_nothing_to_recover_and_is_not_touched() {
    let world = World::new();
    drop(fill(&world.path("data"), 3));
    let before = std::fs::read(world.path("data/sessions.db")).unwrap();
    let said = world.run(&["sessions", "recover"]);
    assert!(stdout(&said).starts_with("Nothing to recover"), "{}", stdout(&said));
    assert_eq!(std::fs::read(world.path("data/sessions.db")).unwrap(), before);
    let itself = world.run(&["sessions", "recover", world.path("data/sessions.db").to_str().unwrap()]);
    assert_eq!(itself.status.code(), Some(2), "{}", stderr(&itself));
    let nothing = World::new().run(&["sessions", "recover"]);
    assert!(stderr(&nothing).contains("no conversation is kept yet"), "{}", stderr(&nothing));
}

#[test]
fn what_is_lost_is_told_for_each_conversation_and_the_damaged_file_is_kept() {
    let world = World::new();
    drop(fill(&world.path("data"), 3));
    spoil(&world, "IN (5, 6, 7)");
    let doctor = stdout(&world.run(&["doctor"]));
    assert!(doctor.contains("damaged: 3 records cannot be read; 1 of 3 conversations"), "{doctor}");
    let damaged = std::fs::read(world.path("data/sessions.db")).unwrap();
    // A name that is taken is never overwritten.
    std::fs::write(world.path("data/sessions.db.damaged-1"), "mine").unwrap();
    let said = stdout(&world.run(&["sessions", "recover"]));
    assert!(said.contains("3 of 3 conversations"), "{said}");
    assert!(said.contains("sess-000000000002 “story 2”: 3 of 38 records are lost (5–7)"), "{said}");
    assert!(said.contains("111 records were saved, 3 are lost"), "{said}");
    assert!(said.contains("sessions.db.damaged-2"), "{said}");
    assert_eq!(std::fs::read(world.path("data/sessions.db.damaged-1")).unwrap(), b"mine");
    assert_eq!(std::fs::read(world.path("data/sessions.db.damaged-2")).unwrap(), damaged);
    let shown = stdout(&world.run(&["sessions", "show", "sess-000000000002", "--all"]));
    assert!(shown.contains("3 of the records of this conversation are lost"), "{shown}");
}

#[test]
fn recovery_waits_for_nobody_and_takes_no_store_from_under_another_parlor() {
    let world = World::new();
    drop(fill(&world.path("data"), 2));
    world.script("model text \"Hello.\"\n");
    let mut ui = Native::start(world.parlor(&[
        "serve",
        "--dialect",
        "native",
        "--stdio",
        "--model",
        "scripted/model.txt",
    ]));
    ui.new_session("sess-00000000abcd", "open");
    ui.prompt("sess-00000000abcd", &json!({"input": {"text": "hi"}}), |ask| panic!("{ask}"), ended);
    spoil(&world, "= 5");
    let refused = world.run(&["sessions", "recover"]);
    assert_eq!(refused.status.code(), Some(1), "{}", stdout(&refused));
    let who = format!("is open in another Parlor (process {})", ui.child.id());
    assert!(stderr(&refused).contains(&who) && stderr(&refused).contains("hint: "), "{}", stderr(&refused));
    let names = |world: &World| {
        let mut names: Vec<PathBuf> =
            std::fs::read_dir(world.path("data")).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.retain(|name| name.to_string_lossy().contains("sessions.db."));
        names
    };
    assert_eq!(names(&world), Vec::<PathBuf>::new());
    ui.leave();
    assert_eq!(world.run(&["sessions", "recover"]).status.code(), Some(0));
    assert!(names(&world).contains(&world.path("data/sessions.db.damaged-1")));
    assert_eq!(listed(&world), 3);
}

/// The calls that change names or make something stay.
const STEPS: &str = "link,linkat,rename,renameat,renameat2,fsync,fdatasync";

#[test]
fn killed_at_any_step_of_a_recovery_the_old_or_the_new_store_is_in_place() {
    let world = World::new();
    let (data, clean) = (world.path("data"), world.path("clean"));
    drop(fill(&world.path("source"), 3));
    // A part of it stands only in the log, and a page is lost.
    let mut store = SqliteStore::at(&world.path("source")).unwrap();
    let late = SessionId::from_number(0xabc);
    store.create(&late).unwrap();
    store.append(&late, &events(9), Durability::Now).unwrap();
    store.close(&late).unwrap();
    copy(&world.path("source"), &clean);
    drop(store);
    change(&clean.join("sessions.db"), |bytes| bytes.truncate(bytes.len() - 2 * PAGE));
    let trace = world.path("trace").display().to_string();
    let recover = |inject: &[&str]| {
        let _ = std::fs::remove_dir_all(&data);
        copy(&clean, &data);
        let only = format!("trace={STEPS}");
        let words = [&["-o", &trace, "-e", &only], inject, &[PARLOR, "sessions", "recover"]].concat();
        world.command("strace".as_ref(), &words).output().unwrap()
    };
    let undisturbed = recover(&[]);
    assert!(undisturbed.status.success(), "{}", stderr(&undisturbed));
    // Each call, and which of its name it is.
    let traced = std::fs::read_to_string(&trace).unwrap();
    let mut steps: Vec<(&str, usize)> = Vec::new();
    for (name, _) in
        traced.lines().filter(|line| line.ends_with("= 0")).filter_map(|line| line.split_once('('))
    {
        let before = steps.iter().filter(|(other, _)| *other == name).count();
        steps.push((name, before + 1));
    }
    assert!((8..40).contains(&steps.len()), "{traced}");
    let export = |world: &World| {
        let late = late.as_str();
        assert!(listed(world) >= 3);
        stdout(&world.run(&["sessions", "export", late, "-f", "jsonl"])).lines().count()
    };
    let (all, saved) = (listed(&world), export(&world));
    assert_eq!(saved, events(9).len() + 1);
    for (name, number) in steps {
        let step = format!("{name} {number}");
        let killed = recover(&["-e", &format!("inject={name}:signal=KILL:when={number}")]);
        assert!(!killed.status.success(), "{step} was not reached");
        assert!(data.join("sessions.db").exists(), "{step}: one of them is in place");
        let again = ends(&world, &["sessions", "recover"]);
        assert_eq!(again.status.code(), Some(0), "{step}: {}", stderr(&again));
        assert_eq!((listed(&world), export(&world)), (all, saved), "{step}: nothing is lost");
        let left = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<String> = left.map(|name| name.to_string_lossy().into_owned()).collect();
        assert!(left.iter().any(|name| name.contains(".damaged-")), "{step}: {left:?}");
        assert!(!left.iter().any(|name| name.contains(".recovering-")), "{step}: {left:?}");
    }
}

#[test]
fn a_parlor_that_starts_during_a_recovery_writes_into_the_new_store() {
    // One that cannot be opened, and one that can: the old file must not be written under the new one's name.
    for is_cut in [true, false] {
        let world = World::new();
        let data = world.path("data");
        drop(fill(&data, 3));
        if is_cut {
            change(&data.join("sessions.db"), |bytes| bytes.truncate(bytes.len() - PAGE));
        } else {
            spoil(&world, "IN (5)");
        }
        let trace = world.path("trace").display().to_string();
        // Each renaming, of which the last puts the new store in place, waits for a while; that is when the other one starts.
        let slow = ["-o", &trace, "-e", "trace=link,linkat,rename", "-e", "inject=rename:delay_enter=700000"];
        let words = [&slow[..], &[PARLOR, "sessions", "recover"]].concat();
        let mut recovery = world.command("strace".as_ref(), &words);
        let recovery = recovery.stdout(Stdio::null()).spawn().unwrap();
        while !data.join("sessions.db.damaged-1").exists() {
            std::thread::yield_now();
        }
        let talked = ends(&world, &["run", "say hi"]);
        assert!(!stderr(&talked).contains("nothing will be kept"), "{}", stderr(&talked));
        assert!(recovery.wait_with_output().unwrap().status.success());
        assert_eq!(listed(&world), 4);
        assert!(stdout(&world.run(&["doctor"])).contains("store      whole: 4 conversations"));
    }
}

#[test]
fn a_full_disk_leaves_the_damaged_store_as_it_is() {
    let world = World::new();
    let data = world.path("data");
    drop(fill(&data, 12));
    change(&data.join("sessions.db"), |bytes| bytes[..100].fill(0));
    let damaged = std::fs::read(data.join("sessions.db")).unwrap();
    let words = ["-c", "ulimit -f 60; trap '' XFSZ; exec \"$0\" \"$@\"", PARLOR, "sessions", "recover"];
    let refused = world.command("sh".as_ref(), &words).output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "{}", stdout(&refused));
    assert!(stderr(&refused).contains("hint: "), "{}", stderr(&refused));
    assert_eq!(std::fs::read(data.join("sessions.db")).unwrap(), damaged);
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 1, "nothing half is left");
}

#[test]
fn removing_conversations_makes_the_file_smaller() {
    let world = World::new();
    drop(fill(&world.path("data"), 30));
    let size = || std::fs::metadata(world.path("data/sessions.db")).unwrap().len();
    let before = size();
    let ids: Vec<String> = (1..=28).map(|number| SessionId::from_number(number).to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let removed = world.run(&[&["sessions", "rm", "--yes"], &ids[..]].concat());
    assert!(removed.status.success(), "{}", stderr(&removed));
    assert!(size() * 4 < before, "{} of {before}", size());
    assert_eq!(listed(&world), 2);
    assert!(stdout(&world.run(&["doctor"])).contains("store      whole: 2 conversations"));
}
