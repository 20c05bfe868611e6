//! What the release kept: its store, its exports, its settings and its rules.

use super::RELEASE;
use crate::release::recipe::{self, ASKING, PICTURE, RUNNING, STORY, STREAM};
use crate::release::talk::{Native, ended};
use crate::release::{PARLOR, parlor, program, stderr, stdout};
use domain::event::Event;
use domain::grammar::check_all;
use domain::ids::{Seq, SessionId};
use domain::state::State;
use expect_test::expect_file;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use store::{SqliteStore, Store};

/// The sessions that the release exported as JSONL, each with its lines.
fn exported() -> Vec<(SessionId, Vec<String>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(RELEASE.fixtures().join("exports")).unwrap().map(|entry| entry.unwrap().path())
    {
        if entry.extension().is_some_and(|kind| kind == "jsonl") {
            let session = SessionId::parse(entry.file_stem().unwrap().to_str().unwrap()).unwrap();
            found.push((session, fs::read_to_string(&entry).unwrap().lines().map(str::to_owned).collect()));
        }
    }
    found.sort();
    assert_eq!(found.len(), 7);
    found
}

#[test]
fn the_store_opens_and_every_session_folds_to_the_same_hash() {
    let world = RELEASE.inherited();
    let data = world.path().join("data");
    assert_eq!(recipe::hashes(&data, State::hash_of_revision_1), RELEASE.fixture("hashes.txt"));
    expect_file![RELEASE.fixtures().join("hashes-2.txt")].assert_eq(&recipe::hashes(&data, State::hash));
}

#[test]
fn every_record_is_written_again_byte_for_byte_and_is_lawful() {
    let world = RELEASE.inherited();
    let store = SqliteStore::at(&world.path().join("data")).unwrap();
    for (session, lines) in exported() {
        let events = store.events(&session, Seq(0), usize::MAX).unwrap();
        let written: Vec<String> = events.iter().map(record::encode).collect();
        assert_eq!(written, lines[1..], "{session}");
        check_all(&events).unwrap_or_else(|why| panic!("{session}: {why}"));
        for line in &lines[1..] {
            let event: Event = record::decode(line).unwrap();
            assert_eq!(&record::encode(&event), line);
        }
        let mut state = State::new();
        events.iter().for_each(|event| state.fold(event).unwrap());
        assert_eq!(state, store.load(&session).unwrap().state, "{session}");
    }
}

#[test]
fn a_snapshot_of_the_release_is_taken_and_is_what_its_log_folds_to() {
    let world = RELEASE.inherited();
    let data = world.path().join("data");
    let connection = rusqlite::Connection::open(data.join("sessions.db")).unwrap();
    let at: i64 = connection.query_row("SELECT max(seq) FROM snapshots", [], |row| row.get(0)).unwrap();
    assert!(at > 1_000);
    let store = SqliteStore::at(&data).unwrap();
    let session = SessionId::parse(STREAM).unwrap();
    let whole = store.load(&session).unwrap().state;
    connection.execute("DELETE FROM snapshots", []).unwrap();
    assert_eq!(store.load(&session).unwrap().state, whole);
}

#[test]
fn it_is_listed_shown_searched_and_exported() {
    let world = RELEASE.inherited();
    let world = world.path();
    let listed = stdout(&parlor(world, &["sessions", "list", "--all", "--json"]));
    let mut listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
    let killed = listed.iter().find(|one| one["id"] == ASKING).unwrap();
    assert_eq!(killed["outcome"], "interrupted", "it was killed");
    let mut released: Vec<Value> = serde_json::from_str(&RELEASE.fixture("list.json")).unwrap();
    // How a session ended is said since 0.1.0; everything else is as it was.
    for one in listed.iter_mut().chain(&mut released) {
        one.as_object_mut().unwrap().remove("outcome");
    }
    assert_eq!(listed, released);
    for (session, lines) in exported() {
        let shown = parlor(world, &["sessions", "show", session.as_str(), "--all"]);
        assert!(shown.status.success(), "{}", stderr(&shown));
        assert!(stdout(&parlor(world, &["sessions", "tree", session.as_str()])).len() > 10);
        let again = parlor(world, &["sessions", "export", session.as_str(), "-f", "jsonl"]);
        assert_eq!(stdout(&again).lines().collect::<Vec<_>>(), lines, "{session}");
    }
    let shown = stdout(&parlor(world, &["sessions", "show", STORY, "--all"]));
    for words in ["Grüße! 👋🏽", "naïve café, 日本語", "ALPHA", "not that one", "green", "fn main() {}"]
    {
        assert!(
            shown.contains(words) || RELEASE.fixture(&format!("exports/{STORY}.md")).contains(words),
            "{words}"
        );
    }
    let found = stdout(&parlor(world, &["sessions", "search", "bridge", "--json"]));
    assert!(found.contains("sess-00000000c003"), "{found}");
    for format in ["md", "html"] {
        let text = stdout(&parlor(world, &["sessions", "export", STORY, "-f", format]));
        assert!(text.contains("Grüße! 👋🏽") && text.contains("日本語"), "{text}");
    }
}

#[test]
fn exports_and_saved_files_are_taken_in_again() {
    let world = tempfile::tempdir().unwrap();
    let world = world.path();
    fs::create_dir(world.join("project")).unwrap();
    for (session, _) in exported() {
        let file = RELEASE.fixtures().join(format!("exports/{session}.jsonl")).display().to_string();
        let taken = parlor(world, &["sessions", "import", &file]);
        assert!(taken.status.success(), "{session}: {}", stderr(&taken));
    }
    let taken = parlor(
        world,
        &["sessions", "import", &RELEASE.fixtures().join("exports/saved.json").display().to_string()],
    );
    assert!(taken.status.success(), "{}", stderr(&taken));
    let list: Value = serde_json::from_str(&stdout(&parlor(world, &["sessions", "list", "--json"]))).unwrap();
    assert_eq!(list.as_array().map(Vec::len), Some(8));
}

/// Today's program on the store of the release, with a model that says one more thing.
fn go_on(world: &Path) -> Native {
    fs::write(world.join("project/model.txt"), "model text \"And on it goes.\"\n---\nmodel text \"Yes.\"\n")
        .unwrap();
    Native::start(program(
        Path::new(PARLOR),
        world,
        &["serve", "--dialect", "native", "--stdio", "--model", "scripted/model.txt"],
    ))
}

/// The newest session as it was shown.
fn attached(ui: &Native) -> Value {
    let line = ui.heard.iter().rfind(|line| line.starts_with("{\"attached\"")).unwrap();
    serde_json::from_str(line).unwrap()
}

#[test]
fn a_conversation_is_resumed_and_gone_on_with() {
    let world = RELEASE.inherited();
    let mut ui = go_on(world.path());
    ui.command(None, &json!({"open_session": {"session": PICTURE}}));
    let done = ui.prompt(PICTURE, &json!({"input": {"text": "and now?"}}), |_| json!("dismissed"), ended);
    assert_eq!(done, "done");
    ui.leave();
    let store = SqliteStore::at(&world.path().join("data")).unwrap();
    let session = SessionId::parse(PICTURE).unwrap();
    let events = store.events(&session, Seq(0), usize::MAX).unwrap();
    check_all(&events).unwrap();
    let written: Vec<String> = events.iter().map(record::encode).collect();
    let before = RELEASE.fixture(&format!("exports/{PICTURE}.jsonl"));
    let before: Vec<&str> = before.lines().skip(1).collect();
    assert_eq!(written[..before.len()], before, "what stood there stands there");
    assert!(written.len() > before.len() && written.concat().contains("And on it goes."));
}

#[test]
fn what_was_interrupted_is_closed_and_what_was_asked_is_asked_again_under_the_same_id() {
    let world = RELEASE.inherited();
    let mut ui = go_on(world.path());
    ui.command(None, &json!({"open_session": {"session": RUNNING}}));
    let replay = attached(&ui).to_string();
    assert!(
        replay.contains("\"interrupted\"") && replay.contains("nobody knows how far it came"),
        "{replay}"
    );

    ui.command(None, &json!({"open_session": {"session": ASKING}}));
    let replay = attached(&ui);
    let replay = replay["attached"]["replay"].as_array().unwrap();
    let asked = replay.iter().find_map(|item| item[1].get("ask_opened")).unwrap();
    let before = RELEASE.fixture(&format!("exports/{ASKING}.jsonl"));
    assert!(before.contains(&format!("\"ask_opened\":{{\"id\":{}", asked["id"])), "{asked}");
    let answer = json!({"answer": {"ask": asked["id"], "answer": {"deny": {"reason": "no longer"}}}});
    ui.command(Some(ASKING), &answer);
    assert_eq!(ui.follow(ASKING, |_| json!("dismissed"), ended), "done");
    ui.leave();
}

#[test]
fn settings_servers_and_rules_are_taken_as_they_are() {
    let world = RELEASE.inherited();
    fs::copy(RELEASE.fixtures().join("mcp.json"), world.path().join("config/mcp.json")).unwrap();
    let doctor = parlor(world.path(), &["doctor"]);
    let told = stdout(&doctor);
    assert!(doctor.status.success(), "{told}{}", stderr(&doctor));
    assert!(told.contains("clock: ") && told.contains("offline/offline"), "{told}");
    let rules = tools::policy::Rules::load(&world.path().join("data"), &RELEASE.project()).unwrap();
    assert_eq!(rules.kept().len(), 1, "{rules:?}");
    let again = serde_json::to_value(rules.kept()).unwrap();
    let kept: Value = serde_json::from_str(&RELEASE.fixture("rules.json")).unwrap();
    assert_eq!(again, kept["rules"]);
}
