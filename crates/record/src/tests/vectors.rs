//! Sessions for whoever folds events in another language: what happened, what the state hashes to after each event, and the replay.
//!
//! Some are any bodies there are, with ids that mostly fit, from a fixed seed; a step that the fold refuses is among them with its hash
//! unchanged. The others are what the first release kept.

use super::*;
use domain::content::Part;
use domain::event::{ContextEvent, NoteEvent};
use domain::state::State;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use std::path::Path;

/// How many made-up sessions there are, and how many events are tried in each.
const SESSIONS: u8 = 4;
const TRIED: usize = 420;
/// The longest number of most members: a reader that has only floats reads it exactly.
const MAX_DIGITS: usize = 12;
/// Members that are summed up without end, of which a reader has to know every digit.
const SUMMED: [&str; 5] = ["input", "output", "cache_read", "cache_write", "cost_micros"];
/// What the first release kept.
const RELEASE: &str = "../parlor/fixtures/v0.1.0";

#[test]
fn the_page_has_the_same_sessions() {
    for n in 0..SESSIONS {
        let path = format!("../../../../page/vectors/session-{n}.json");
        expect_test::expect_file![path].assert_eq(&made_up(n).finish());
    }
}

#[test]
fn the_page_has_the_sessions_of_the_first_release() {
    let release = Path::new(env!("CARGO_MANIFEST_DIR")).join(RELEASE);
    let hashes = std::fs::read_to_string(release.join("hashes.txt")).unwrap();
    let mut seen = 0;
    for line in hashes.lines() {
        let [session, _, hash] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        // The longest one was not exported.
        let Ok(text) = std::fs::read_to_string(release.join(format!("exports/{session}.jsonl"))) else {
            continue;
        };
        let mut told = Telling::new(session);
        for event in text.lines().skip(1) {
            assert!(told.take(&decode(event).unwrap()), "{session}: {event}");
        }
        assert_eq!(told.state.hash_of_revision_1().to_string(), hash, "{session}");
        let path = format!("../../../../page/vectors/kept-{session}.json");
        expect_test::expect_file![path].assert_eq(&told.finish());
        seen += 1;
    }
    assert!(seen > 5, "only {seen} sessions were exported");
}

/// A session that is told event by event.
pub(super) struct Telling {
    session: String,
    state: State,
    steps: Vec<Value>,
    /// Those that the fold refused too.
    pub(super) events: Vec<Event>,
}

impl Telling {
    fn new(session: &str) -> Telling {
        Telling { session: session.to_owned(), state: State::new(), steps: Vec::new(), events: Vec::new() }
    }

    /// Whether the event fits.
    fn take(&mut self, event: &Event) -> bool {
        let applied = self.state.fold(event).is_ok();
        let line = format!(r#"{{"event":{{"session":"{}","event":{}}}}}"#, self.session, encode(event));
        self.steps.push(json!({ "line": line, "applied": applied, "hash": self.state.hash().to_string() }));
        self.events.push(event.clone());
        applied
    }

    fn finish(self) -> String {
        let Telling { session, state, steps, .. } = self;
        let replay = format!(r#"{{"replay":{{"session":"{session}","items":{}}}}}"#, encode(&state.replay()));
        let messages = state.entries.keys().filter_map(|id| state.message(MessageId(id.0)));
        let view = json!({
            "seq": state.seq.0,
            "path": state.path().iter().map(|entry| entry.id.0).collect::<Vec<_>>(),
            "entries": state.entries.len(),
            "tools": state.tools.len(),
            "asks": state.asks.iter().map(|ask| ask.id.0).collect::<Vec<_>>(),
            "runs": state.runs.len(),
            "text": messages.map(|message| message.text()).collect::<String>(),
            "cost": state.usage.cost_micros.to_string(),
        });
        let told =
            json!({ "steps": steps, "replay": replay, "hash": state.hash().to_string(), "state": view });
        format!("{told:#}\n")
    }
}

pub(super) fn made_up(seed: u8) -> Telling {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut told = Telling::new(SessionId::from_number(u64::from(seed)).as_str());
    for n in 1..=TRIED {
        let made = (arb::body(), any::<u32>()).new_tree(&mut runner).expect("a body");
        let (mut body, luck) = made.current();
        fit(&told.state, luck, &mut body);
        let event = Event { seq: told.state.seq.next(), at: Millis(1_000 + n as u64), body };
        // Refused ones are among them, but most of a session is what happened in it.
        let fits = luck.is_multiple_of(4) || told.state.clone().fold(&event).is_ok();
        if fits && !odd(&event.body) && exact(&encode(&event)) {
            told.take(&event);
        }
    }
    let applied = told.steps.iter().filter(|step| step["applied"] == true).count();
    assert!(applied * 2 > told.steps.len(), "only {applied} of {} bodies fit", told.steps.len());
    told
}

/// What no runtime says in the middle of a session: a base, and a part that names a tool run, which a proposal adds by itself.
fn odd(body: &Body) -> bool {
    matches!(body, Body::Rebased(_) | Body::Message(MessageEvent::PartAdded { part: Part::Tool(_), .. }))
}

/// Whether a reader that has only floats, and knows that of sums every digit counts, reads every number exactly.
fn exact(line: &str) -> bool {
    let bytes = line.as_bytes();
    let mut at = 0;
    bytes.split(|byte| !byte.is_ascii_digit()).all(|digits| {
        let told = &bytes[..at];
        at += digits.len() + 1;
        digits.len() <= MAX_DIGITS
            || SUMMED.iter().any(|key| told.ends_with(format!("\"{key}\":").as_bytes()))
    })
}

/// Names what is there, in most cases.
fn fit(state: &State, luck: u32, body: &mut Body) {
    if luck.is_multiple_of(16) {
        return;
    }
    let fresh = state.last_id + 1;
    let pick = |many: usize| luck as usize % many.max(1);
    let entry = || state.entries.keys().nth(pick(state.entries.len())).copied();
    let (open_run, open_turn) = (state.open_run(), state.open_run().and_then(|run| run.open_turn()));
    let open_step = state.open_run().and_then(|run| run.open_step()).map(|step| step.id);
    let (messages, tools) = (state.open_messages(), state.open_tools());
    let some_message = messages.get(pick(messages.len())).copied();
    let some_tool = tools.get(pick(tools.len())).copied();
    match body {
        Body::Session(SessionEvent::LeafMoved { leaf }) => *leaf = entry(),
        Body::Session(_) | Body::Note(NoteEvent::PlanChanged { .. }) | Body::Rebased(_) => {}
        Body::Run(event) => match event {
            RunEvent::Started { run } => *run = RunId(fresh),
            // A run that ends as often as it may would hold nothing.
            RunEvent::Ended { run, .. } if luck % 4 == 1 => *run = open_run.map_or(*run, |open| open.id),
            RunEvent::Ended { .. } | RunEvent::Retrying { .. } => {}
            RunEvent::TurnStarted { run, turn, .. } => {
                (*run, *turn) = (open_run.map_or(*run, |open| open.id), TurnId(fresh));
            }
            RunEvent::TurnEnded { turn } => *turn = open_turn.map_or(*turn, |open| open.id),
            RunEvent::StepStarted { turn, step, .. } => {
                (*turn, *step) = (open_turn.map_or(*turn, |open| open.id), StepId(fresh));
            }
            RunEvent::StepBilled { step, .. } | RunEvent::StepEnded { step, .. } => {
                *step = open_step.unwrap_or(*step);
            }
        },
        Body::Message(event) => match event {
            MessageEvent::Started { message, parent, turn, step, .. } => {
                (*message, *parent) = (MessageId(fresh), state.leaf);
                (*turn, *step) = (open_turn.map(|open| open.id), open_step);
            }
            MessageEvent::Delta { message, .. }
            | MessageEvent::PartAdded { message, .. }
            | MessageEvent::Ended { message, .. } => *message = some_message.unwrap_or(*message),
        },
        Body::Tool(event) => match event {
            ToolEvent::Proposed { tool, message, .. } => {
                (*tool, *message) = (ToolRunId(fresh), some_message.unwrap_or(*message));
            }
            ToolEvent::Decided { tool, .. }
            | ToolEvent::Started { tool }
            | ToolEvent::Progress { tool, .. }
            | ToolEvent::Ended { tool, .. } => *tool = some_tool.unwrap_or(*tool),
        },
        Body::Ask(AskEvent::Opened(ask)) => {
            ask.id = AskId(fresh);
            if let (AskKind::Consent(consent), Some(tool)) = (&mut ask.kind, some_tool) {
                consent.tool = tool;
            }
        }
        Body::Ask(AskEvent::Closed { ask, .. }) => {
            *ask = state.asks.get(pick(state.asks.len())).map_or(*ask, |open| open.id);
        }
        Body::Queue(event) => {
            let waiting = state.queues.all().nth(pick(state.queues.all().count())).map(|(_, one)| one.id);
            match event {
                QueueEvent::Added { item, .. } => *item = QueuedId(fresh),
                QueueEvent::Edited { item, .. } | QueueEvent::Left { item, .. } => {
                    *item = waiting.unwrap_or(*item);
                }
                QueueEvent::ModeSet { .. } => {}
            }
        }
        Body::Context(ContextEvent::Measured { .. }) => {}
        Body::Context(ContextEvent::Compacted { entry: id, parent, .. }) => {
            (*id, *parent) = (EntryId(fresh), state.leaf);
        }
        Body::Note(NoteEvent::Noticed { entry: id, parent, .. }) => {
            (*id, *parent) = (EntryId(fresh), entry());
        }
    }
}
