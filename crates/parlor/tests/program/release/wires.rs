//! What the release said on its wires: its lines are still read and written the same, an old UI is served by today's runtime, and today's
//! UI follows an old runtime. The old side is its recording, played; the recipe's own UI speaks the native wire of then with today's
//! runtime, questions included.

use super::RELEASE;
use crate::release::recipe::{SMALL_ANSWER, SMALL_PROMPT, set_small_scene};
use crate::release::talk::{Native, ended};
use crate::release::{PARLOR, program, stderr, stdout};
use dialects::native::wire::{FromRuntime, FromUi};
use domain::state::{State, StateHash};
use expect_test::expect_file;
use kit::generalize::generalize;
use kit::notation::{Kind, Say, Side, Transcript};
use kit::pattern::{Bindings, Item, Missing, Pattern, matches};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;
use tempfile::TempDir;
use testkit::Running;

/// How long a line may take; far more than any does.
const PATIENCE: Duration = Duration::from_secs(60);
/// A session of ours.
const SESSION: &str = "sess-000000000124";
/// Lines that wait to be read.
const AHEAD: usize = 1_024;
/// Members whose text decides what a line is; other texts are for people and may change.
const TAGS: [&str; 5] = ["type", "kind", "method", "status", "role"];
/// Streams are cut into lines as it suits: these are not waited for one by one.
const PIECES: [&str; 6] =
    ["\"delta\"", "stream.token", "\"token\"", "message_update", "\"message_delta\"", "agent.thinking"];

#[test]
fn native_lines_are_read_and_written_byte_for_byte() {
    for line in RELEASE.fixture("native/from-ui.jsonl").lines() {
        let read: FromUi = serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}"));
        let again = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<FromUi>(&again).unwrap(), read);
    }
    for line in RELEASE.fixture("native/from-runtime.jsonl").lines() {
        let read: FromRuntime = serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}"));
        assert_eq!(serde_json::to_string(&read).unwrap(), line);
    }
    // What the UI of the release itself says, unlike the recipe's.
    for step in Transcript::parse(&RELEASE.fixture("wires/native.txt")).unwrap().steps {
        let Kind::Say(say) = step.kind else { continue };
        let line = say.pattern.fill(&mut Bindings::default(), Missing::Invent).unwrap();
        let again = match say.side {
            Side::Ui => serde_json::to_string(&serde_json::from_str::<FromUi>(&line).unwrap()),
            Side::Runtime => serde_json::to_string(&serde_json::from_str::<FromRuntime>(&line).unwrap()),
        };
        assert_eq!(again.unwrap(), line);
    }
}

/// Folds what a runtime said and holds each hash that it told against `of`. Gives where that was, with the hash of today there.
fn proven<'a>(lines: impl IntoIterator<Item = &'a str>, of: fn(&State) -> StateHash) -> String {
    let mut states: BTreeMap<String, State> = BTreeMap::new();
    let mut proven = String::new();
    for line in lines {
        let at = match serde_json::from_str(line).unwrap() {
            FromRuntime::Attached(attached) => {
                let mut state = State::new();
                attached.replay.iter().for_each(|(at, body)| state.apply(*at, body).unwrap());
                states.insert(attached.at.session.to_string(), state);
                attached.at
            }
            FromRuntime::Event(happened) => {
                states.get_mut(happened.session.as_str()).unwrap().follow(&happened.event).unwrap();
                continue;
            }
            FromRuntime::Hash(at) => at,
            _ => continue,
        };
        let state = &states[at.session.as_str()];
        if state.seq == at.seq {
            assert_eq!(at.hash, Some(of(state).to_string()), "{line}");
            writeln!(proven, "{} {} {}", at.session, at.seq.0, state.hash()).unwrap();
        }
    }
    proven
}

#[test]
fn the_hashes_that_the_release_told_are_those_that_today_folds_to() {
    let proven = proven(RELEASE.fixture("native/from-runtime.jsonl").lines(), RELEASE.told);
    assert!(proven.lines().count() > 10, "{proven}");
    // The page folds the same lines, and knows the hash of today only.
    expect_file![RELEASE.fixtures().join("native/hashes-2.txt")].assert_eq(&proven);
}

#[test]
fn a_ui_is_told_hashes_of_the_revision_that_it_says() {
    for (revision, of) in [
        (0, State::hash_of_revision_1 as fn(&State) -> StateHash),
        (1, State::hash_of_revision_1),
        (2, State::hash),
    ] {
        let world = tempfile::tempdir().unwrap();
        std::fs::create_dir(world.path().join("project")).unwrap();
        let hello = |cursor: Option<&Value>| {
            json!({"hello": {"protocol": 1, "revision": revision, "name": "parlor", "version": "0.1.0",
                "capabilities": ["hash", "cursor", "answers"], "cursor": cursor}})
        };
        let serve = || program(Path::new(PARLOR), world.path(), &["serve", "--dialect", "native", "--stdio"]);
        let mut ui = Native::greeting(serve(), &hello(None));
        ui.new_session(SESSION, "told");
        ui.prompt(SESSION, &json!({"input": {"text": "say hello"}}), |_| json!("dismissed"), ended);
        let (_, heard) = ui.leave();
        let told = proven(heard.iter().map(String::as_str), of);
        assert!(told.lines().count() > 1, "{revision}: {told}");
        // It comes back with what it was told last, and is current.
        let last: Value = heard
            .iter()
            .rev()
            .find_map(|line| serde_json::from_str::<Value>(line).unwrap().get("hash").cloned())
            .unwrap();
        let mut ui = Native::greeting(serve(), &hello(Some(&last)));
        let attached = ui.until(|line| line.get("attached").cloned());
        assert_eq!((&attached["current"], &attached["at"]), (&json!(true), &last), "{revision}: {attached}");
        ui.leave();
    }
}

/// What a line must have to be understood: its structure and tags, not its words, numbers or what else is in it.
fn bare(key: Option<&str>, pattern: &mut Pattern) {
    match pattern {
        Pattern::Object(object) => {
            object.open = true;
            object.members.iter_mut().for_each(|(key, value)| bare(Some(key), value));
        }
        Pattern::Array(items) if items.iter().any(|item| matches!(item, Item::One(Pattern::Object(_)))) => {
            for item in items.iter_mut() {
                if let Item::One(value) = item {
                    bare(key, value);
                }
            }
            items.push(Item::Rest);
        }
        Pattern::Text(_) if key.is_some_and(|key| TAGS.contains(&key)) => {}
        Pattern::Anything | Pattern::Name(_) | Pattern::Glob(_) => {}
        _ => *pattern = Pattern::Anything,
    }
}

/// A side of a recording that is played, with the other side being today's.
struct Played {
    steps: Vec<Say>,
    tested: Side,
    bindings: Bindings,
    heard: Receiver<(u8, String)>,
    write: Vec<UnixStream>,
}

impl Played {
    fn of(wire: &str, tested: Side) -> Vec<Say> {
        let transcript = generalize(
            &Transcript::parse(&RELEASE.fixture(&format!("wires/{wire}.txt"))).unwrap(),
            tested,
            None,
        );
        let steps = transcript.steps.into_iter().filter_map(|step| match step.kind {
            Kind::Say(say) => Some(say),
            _ => None,
        });
        let mut steps: Vec<Say> = steps.collect();
        // A runtime greets unasked. Where the prompt crossed its greeting on the way, the recording has them the other way round.
        let greets = |say: &Say| say.side != tested && say.pattern.to_string().contains(r#""type":"ready""#);
        if let Some(greeting) = steps.iter().position(greets).filter(|_| tested == Side::Ui) {
            steps[..=greeting].rotate_right(1);
        }
        steps
    }

    fn new(wire: &str, tested: Side, lanes: Vec<UnixStream>) -> Played {
        let (sender, heard) = sync_channel(AHEAD);
        for (lane, stream) in (0..).zip(&lanes) {
            read(lane, stream.try_clone().unwrap(), sender.clone());
        }
        Played { steps: Played::of(wire, tested), tested, bindings: Bindings::default(), heard, write: lanes }
    }

    /// Says its side's lines, each when what came before it in the recording has come; what else comes is passed over.
    fn play(mut self) {
        let mut due: Vec<(u8, Pattern)> = Vec::new();
        for say in std::mem::take(&mut self.steps) {
            if say.side == self.tested {
                let text = say.pattern.to_string();
                let mut pattern = say.pattern;
                bare(None, &mut pattern);
                if !PIECES.iter().any(|piece| text.contains(piece)) {
                    due.push((say.lane, pattern));
                }
            } else {
                self.wait_for(&mut due);
                let line = say.pattern.fill(&mut self.bindings, Missing::Invent).unwrap();
                let mut lane = &self.write[usize::from(say.lane)];
                lane.write_all(format!("{line}\n").as_bytes()).unwrap();
            }
        }
        self.wait_for(&mut due);
    }

    fn wait_for(&mut self, due: &mut Vec<(u8, Pattern)>) {
        while !due.is_empty() {
            let heard = self.heard.recv_timeout(PATIENCE);
            let (lane, line) = heard.unwrap_or_else(|why| panic!("{why}: {} is due", due[0].1));
            let value: Value = serde_json::from_str(&line).unwrap();
            let met = due.iter().position(|(on, pattern)| {
                *on == lane && matches(pattern, &value, &mut self.bindings).is_ok()
            });
            if let Some(met) = met {
                due.remove(met);
            }
        }
    }
}

fn read(lane: u8, stream: UnixStream, sender: SyncSender<(u8, String)>) {
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { return };
            if sender.send((lane, line)).is_err() {
                return;
            }
        }
    });
}

fn small_world() -> TempDir {
    let world = tempfile::tempdir().unwrap();
    std::fs::create_dir(world.path().join("project")).unwrap();
    set_small_scene(world.path());
    world
}

/// The sockets of a wire.
fn sockets(wire: &str, world: &Path) -> Vec<PathBuf> {
    let names: &[&str] = if wire == "nous" { &["s", "s.events"] } else { &["s"] };
    names.iter().map(|name| world.join("project").join(name)).collect()
}

#[test]
fn an_old_ui_is_served_by_todays_runtime_on_every_wire() {
    for wire in RELEASE.wires {
        let world = small_world();
        let args =
            ["serve", "--ephemeral", "--dialect", wire, "--model", "scripted/model.txt", "--socket", "s"];
        let child = program(Path::new(PARLOR), world.path(), &args).stderr(Stdio::piped()).spawn().unwrap();
        let mut serving = Running(child);
        let mut said = BufReader::new(serving.0.stderr.take().unwrap()).lines();
        assert!(said.any(|line| line.unwrap().contains("serving")), "{wire} listens");
        let lanes = sockets(wire, world.path()).into_iter().map(|path| UnixStream::connect(path).unwrap());
        Played::new(wire, Side::Runtime, lanes.collect()).play();
    }
}

#[test]
fn todays_ui_follows_an_old_runtime_on_every_wire() {
    for wire in RELEASE.wires {
        let world = small_world();
        let doors: Vec<UnixListener> =
            sockets(wire, world.path()).iter().map(|path| UnixListener::bind(path).unwrap()).collect();
        let args = ["attach", "--dialect", wire, "--prompt", SMALL_PROMPT, "--socket", "s"];
        let mut command = program(Path::new(PARLOR), world.path(), &args);
        let attached = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lanes = doors.iter().map(|door| door.accept().unwrap().0);
        Played::new(wire, Side::Ui, lanes.collect()).play();
        let output = attached.wait_with_output().unwrap();
        assert!(stdout(&output).contains(SMALL_ANSWER), "{wire}: {}{}", stdout(&output), stderr(&output));
        assert_eq!(output.status.code(), Some(0), "{wire}: {}", stderr(&output));
    }
}
