//! One side of a recorded conversation, played by a thread that does nothing else: it says each line once it has heard the lines
//! that stood before it, and knows ids of sessions again that differ from play to play.

use crate::Broken;
use link::Way;
use roles::Lane;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

/// Lines that may wait for a player; past it whoever speaks to it has to wait.
const WAITING: usize = 1024;
/// A player that hears nothing for so long gives up.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long before something is said on another lane.
const OTHER_LANE: Duration = Duration::from_millis(2);
/// How much of a line is shown when it never came.
const SHOWN: usize = 200;
/// What a line of the native wire that compares hashes begins with.
const HASH: &str = "{\"hash\"";
/// What ids of sessions begin with, or what stands before one that begins with nothing.
const SESSION: &str = "sess-";
const NAMED: &str = "session_id\":\"";
/// Where the content of an answer begins: it may depend on who of the two behind the middle was quicker; that it came is enough.
const ANSWER: &str = "\"result\":";
/// The same on the wire of nous, whose answers are told from events by their last word.
const NOUS_ANSWER: (&str, &str) = ("\"payload\":", "\"ok\":true}");

/// Who says a line: seen from whoever was recorded.
#[derive(Debug, Clone)]
struct Line {
    way: Way,
    lane: Lane,
    text: String,
}

/// What was heard and said on one wire, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Script {
    lines: Vec<Line>,
}

/// How quickly a player speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Everything that is due in one piece.
    AtOnce,
    /// Line by line, each flushed, with time between, as a model's tokens come.
    OneByOne(Duration),
}

impl Script {
    pub(crate) fn note(&mut self, way: Way, lane: Lane, text: &str) {
        // How often hashes are compared depends on how tokens are taken together: nobody waits for one.
        if text.starts_with(HASH) {
            return;
        }
        self.lines.push(Line { way, lane, text: text.to_owned() });
    }

    /// Lines that were said by `way`'s side.
    pub(crate) fn count(&self, way: Way) -> usize {
        self.lines.iter().filter(|line| line.way == way).count()
    }

    /// Plays the side that says the lines of `way` over one socket per lane, until the last line was said or heard.
    pub(crate) fn play(
        &self,
        way: Way,
        lanes: &[Lane],
        sockets: Vec<UnixStream>,
        pace: Pace,
    ) -> Result<(), Broken> {
        let (sender, heard) = sync_channel(WAITING);
        let mut writers = BTreeMap::new();
        for (lane, socket) in lanes.iter().zip(sockets) {
            writers.insert(*lane, socket.try_clone()?);
            let sender = sender.clone();
            thread::spawn(move || {
                for line in BufReader::new(socket).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        let mut player = Player { heard, shapes: BTreeMap::new(), sessions: Vec::new() };
        let (mut wanted, mut known) = (BTreeMap::<String, usize>::new(), Vec::new());
        // The last line of each lane: lanes have no order among them, so hearing one says nothing of the others.
        let mut due = BTreeMap::<Lane, (String, usize)>::new();
        let mut waiting: Vec<(Lane, String)> = Vec::new();
        for line in &self.lines {
            if line.way != way {
                speak(&mut writers, &mut waiting, pace)?;
                learn(&mut known, &line.text);
                let shape = shape(&line.text);
                let count = wanted.entry(shape.clone()).or_default();
                *count += 1;
                due.insert(line.lane, (shape, *count));
                continue;
            }
            player.until_all(&mut due)?;
            waiting.push((line.lane, player.translated(&line.text, &known)));
        }
        speak(&mut writers, &mut waiting, pace)?;
        player.until_all(&mut due)
    }
}

fn speak(
    writers: &mut BTreeMap<Lane, UnixStream>,
    waiting: &mut Vec<(Lane, String)>,
    pace: Pace,
) -> Result<(), Broken> {
    let mut pieces: Vec<(Lane, String)> = Vec::new();
    for (lane, text) in waiting.drain(..) {
        match (pace, pieces.last_mut()) {
            (Pace::AtOnce, Some((last, piece))) if *last == lane => {
                piece.push_str(&text);
                piece.push('\n');
            }
            _ => pieces.push((lane, text + "\n")),
        }
    }
    let mut before = None;
    for (lane, piece) in pieces {
        // What is said on two sockets has no order but in time; no runtime ends a run within that.
        if before.replace(lane).is_some_and(|before| before != lane) {
            thread::sleep(OTHER_LANE);
        }
        if let Pace::OneByOne(pause) = pace {
            thread::sleep(pause);
        }
        let writer = writers.get_mut(&lane).ok_or("no such lane")?;
        writer.write_all(piece.as_bytes())?;
    }
    Ok(())
}

struct Player {
    heard: Receiver<String>,
    /// How often each shape was heard.
    shapes: BTreeMap<String, usize>,
    /// Ids of sessions in the order they were first heard.
    sessions: Vec<String>,
}

impl Player {
    /// Listens until every lane's line was heard; none is due any more.
    fn until_all(&mut self, due: &mut BTreeMap<Lane, (String, usize)>) -> Result<(), Broken> {
        std::mem::take(due).into_values().try_for_each(|(shape, count)| self.until(&shape, count))
    }

    /// Listens until a line of this shape was heard so often.
    fn until(&mut self, wanted: &str, count: usize) -> Result<(), Broken> {
        while self.shapes.get(wanted).copied().unwrap_or(0) < count {
            let line = self.heard.recv_timeout(PATIENCE).map_err(|_| {
                let shown: String = wanted.chars().take(SHOWN).collect();
                format!("never heard: {shown}")
            })?;
            learn(&mut self.sessions, &line);
            *self.shapes.entry(shape(&line)).or_default() += 1;
        }
        Ok(())
    }

    /// A line with this play's ids in the place of the recorded ones.
    fn translated(&self, line: &str, known: &[String]) -> String {
        let mut line = line.to_owned();
        for (recorded, heard) in known.iter().zip(&self.sessions) {
            line = line.replace(recorded, heard);
        }
        line
    }
}

/// Notes ids of sessions in the order they are first seen.
fn learn(known: &mut Vec<String>, line: &str) {
    let begun = line.match_indices(SESSION).map(|(at, _)| at);
    let named = line.match_indices(NAMED).map(|(at, name)| at + name.len());
    let mut all: Vec<usize> = begun.chain(named).collect();
    all.sort_unstable();
    for at in all {
        let id: String =
            line[at..].chars().take_while(|char| char.is_ascii_alphanumeric() || *char == '-').collect();
        if !id.is_empty() && !known.contains(&id) {
            known.push(id);
        }
    }
}

/// A line without what differs from play to play: numbers, and ids written in hex.
fn shape(line: &str) -> String {
    let content = if line.ends_with(NOUS_ANSWER.1) { NOUS_ANSWER.0 } else { ANSWER };
    let told = line.split_once(content).map_or(line, |(before, _)| before);
    told.chars().filter(|char| !char.is_ascii_hexdigit()).collect()
}
