//! Sessions for whoever folds events in another language: what happened, what the state hashes to after each event, and the replay.
//!
//! Some are any bodies there are, with ids that mostly fit, from a fixed seed; a step that the fold refuses is among them with its hash
//! unchanged. The others are what the first release kept.

use super::*;
use domain::ask::Ask;
use domain::content::Part;
use domain::event::{ContextEvent, NoteEvent};
use domain::state::State;
use domain::tool::{ToolPhase, ToolRun};
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// How many made-up sessions there are, how many events are drawn for each, and how many of one kind are told in it.
pub(super) const SESSIONS: u8 = 4;
const DRAWN: usize = 3_000;
const OF_EACH: usize = 12;
/// What is told more often: most of it can be said only while something else is under way, or has many forms.
const WITHIN_RUNS: [&str; 8] = [
    "turn_started",
    "step_started",
    "message_",
    "part_added",
    "tool_",
    "ask_closed",
    "retrying",
    "effort_chosen",
];
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
        self.note(event, applied);
        applied
    }

    fn note(&mut self, event: &Event, applied: bool) {
        let line = format!(r#"{{"event":{{"session":"{}","event":{}}}}}"#, self.session, encode(event));
        self.steps.push(json!({ "line": line, "applied": applied, "hash": self.state.hash().to_string() }));
        self.events.push(event.clone());
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

/// A session of any bodies there are: each kind of them, with what may be left out in some of them and not in others.
pub(super) fn made_up(seed: u8) -> Telling {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut told = Telling::new(SessionId::from_number(u64::from(seed)).as_str());
    let mut many: BTreeMap<String, usize> = BTreeMap::new();
    let left_out = proptest::collection::vec(proptest::bool::weighted(0.4), 0..40);
    // Whether a tool may run is asked more often than bodies are drawn of which most do not fit.
    let consent = (arb::ask(), arb::consent()).prop_map(|(ask, consent)| {
        Body::Ask(AskEvent::Opened(Ask { kind: AskKind::Consent(Box::new(consent)), ..ask }))
    });
    let drawn = (prop_oneof![20 => arb::body(), 1 => consent], any::<u32>(), left_out);
    for n in 1..=DRAWN {
        let (mut body, luck, left_out) = drawn.new_tree(&mut runner).expect("a body").current();
        fit(&told.state, luck, &mut body);
        let body = if luck.is_multiple_of(2) { thinned(body, &left_out) } else { body };
        let body = if exact(&encode(&body)) { body } else { lessened(body) };
        let tag = tag_of(&body);
        let most =
            if WITHIN_RUNS.iter().any(|begins| tag.starts_with(begins)) { 3 * OF_EACH } else { OF_EACH };
        let event = Event { seq: told.state.seq.next(), at: Millis(1_000 + n as u64), body };
        let told_enough = many.get(&tag).is_some_and(|many| *many >= most);
        let not_now = untimely(&told.state, luck, &event.body) || unlawful(&told.state, &event.body);
        if told_enough || not_now || odd(&event.body) || !exact(&encode(&event)) {
            continue;
        }
        // Refused ones are among them, but most of a session is what happened in it.
        let fits = told.state.fold(&event).is_ok();
        if fits {
            *many.entry(tag).or_default() += 1;
        }
        if fits || luck.is_multiple_of(32) {
            told.note(&event, fits);
        }
    }
    let applied = told.steps.iter().filter(|step| step["applied"] == true).count();
    assert!(applied * 2 > told.steps.len(), "only {applied} of {} bodies fit", told.steps.len());
    told
}

/// The name of what happened; questions are told apart by what they ask.
fn tag_of(body: &Body) -> String {
    if let Body::Ask(AskEvent::Opened(ask)) = body {
        return format!("{:?}", std::mem::discriminant(&ask.kind));
    }
    let written: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&encode(body)).unwrap();
    written.into_keys().next().unwrap()
}

/// The same without those of its members that are drawn, as far as they may be left out.
fn thinned(body: Body, drawn: &[bool]) -> Body {
    // A payload may have numbers that no value holds.
    let Ok(mut written) = serde_json::from_str::<Value>(&encode(&body)) else { return body };
    let mut places = Vec::new();
    members(&written, "", &mut places);
    let places = places.iter().zip(drawn).filter(|(_, drawn)| **drawn);
    places.fold(body, |body, ((object, name), _)| {
        let before = written.clone();
        let object = written.pointer_mut(object).and_then(Value::as_object_mut);
        object.map(|members| members.remove(name));
        decode(&written.to_string()).unwrap_or_else(|_| {
            written = before;
            body
        })
    })
}

/// The same with small numbers, but for those that are summed up.
fn lessened(body: Body) -> Body {
    fn lessen(value: &mut Value) {
        match value {
            Value::Number(number) => *value = json!(number.as_u64().unwrap_or_default() % 1_000_000),
            Value::Array(values) => values.iter_mut().for_each(lessen),
            Value::Object(members) => {
                let counted = members.iter_mut().filter(|(name, _)| !SUMMED.contains(&name.as_str()));
                counted.for_each(|(_, inner)| lessen(inner));
            }
            _ => {}
        }
    }
    let Ok(mut written) = serde_json::from_str(&encode(&body)) else { return body };
    lessen(&mut written);
    decode(&written.to_string()).unwrap_or(body)
}

/// Every member, inner ones last: the object that it stands in, and its name.
fn members(value: &Value, at: &str, places: &mut Vec<(String, String)>) {
    match value {
        Value::Object(inside) => {
            places.extend(inside.keys().map(|name| (at.to_owned(), name.clone())));
            inside.iter().for_each(|(name, inner)| members(inner, &format!("{at}/{name}"), places));
        }
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(n, inner)| members(inner, &format!("{at}/{n}"), places));
        }
        _ => {}
    }
}

/// What is left for later, in most cases, so that much is under way at once: endings, and messages that are no part of a step.
fn untimely(state: &State, luck: u32, body: &Body) -> bool {
    let in_step = state.open_run().is_some_and(|run| run.open_step().is_some());
    match body {
        Body::Run(RunEvent::Ended { .. } | RunEvent::TurnEnded { .. } | RunEvent::StepEnded { .. })
        | Body::Message(MessageEvent::Ended { .. }) => !luck.is_multiple_of(5),
        Body::Tool(ToolEvent::Ended { .. }) => !luck.is_multiple_of(3),
        Body::Message(MessageEvent::Started { .. }) => !in_step && !luck.is_multiple_of(8),
        _ => false,
    }
}

/// What the laws forbid of a tool run, and a replay does not tell: that it goes on while it is asked about, that it is asked about or decided
/// once it was decided or has started, that it starts after a no or twice.
fn unlawful(state: &State, body: &Body) -> bool {
    let asked_about = |id: &ToolRunId| {
        state.asks.iter().any(|ask| matches!(&ask.kind, AskKind::Consent(consent) if consent.tool == *id))
    };
    let undecided = |id: &ToolRunId| {
        let tool = state.tools.get(id);
        tool.is_none_or(|tool| tool.phase == ToolPhase::Proposed && tool.decision.is_none())
    };
    let runs = |id: &ToolRunId| state.tools.get(id).is_some_and(|tool| tool.phase == ToolPhase::Running);
    let cannot_start = |id: &ToolRunId| {
        let denied = |tool: &ToolRun| tool.decision.as_ref().is_some_and(|decision| !decision.allowed);
        state.tools.get(id).is_some_and(|tool| denied(tool) || tool.phase == ToolPhase::Running)
    };
    match body {
        Body::Ask(AskEvent::Opened(Ask { kind: AskKind::Consent(consent), .. })) => {
            asked_about(&consent.tool) || !undecided(&consent.tool) && !runs(&consent.tool)
        }
        Body::Tool(ToolEvent::Decided { tool, .. }) => asked_about(tool) || !undecided(tool),
        Body::Tool(ToolEvent::Started { tool }) => asked_about(tool) || cannot_start(tool),
        Body::Tool(ToolEvent::Progress { tool, .. } | ToolEvent::Ended { tool, .. }) => asked_about(tool),
        _ => false,
    }
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
    let undecided =
        |id: &&ToolRunId| state.tools.get(id).is_some_and(|tool| tool.phase == ToolPhase::Proposed);
    let undecided = tools.iter().rfind(undecided).copied();
    match body {
        Body::Session(SessionEvent::LeafMoved { leaf }) => *leaf = entry(),
        Body::Session(_) | Body::Note(NoteEvent::PlanChanged { .. }) | Body::Rebased(_) => {}
        Body::Run(event) => match event {
            RunEvent::Started { run } => *run = RunId(fresh),
            RunEvent::Ended { run, .. } => *run = open_run.map_or(*run, |open| open.id),
            RunEvent::Retrying { .. } => {}
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
                let mut within =
                    messages.iter().filter(|id| state.message(**id).is_some_and(|m| m.step.is_some()));
                (*tool, *message) = (ToolRunId(fresh), within.next_back().copied().unwrap_or(*message));
            }
            ToolEvent::Decided { tool, .. } => *tool = undecided.unwrap_or(*tool),
            ToolEvent::Started { tool }
            | ToolEvent::Progress { tool, .. }
            | ToolEvent::Ended { tool, .. } => *tool = some_tool.unwrap_or(*tool),
        },
        Body::Ask(AskEvent::Opened(ask)) => {
            ask.id = AskId(fresh);
            // One that runs may ask about more than itself.
            let running =
                state.tools.values().find(|tool| tool.phase == ToolPhase::Running).map(|tool| tool.id);
            if let (AskKind::Consent(consent), Some(tool)) = (&mut ask.kind, undecided.or(running)) {
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
