//! The state's hash is over the written form: its canonical bytes are what `encode` writes, settled; nothing that is written can change
//! without the hash; and the vectors of docs/native-protocol.md are what it says they are.

use super::vectors::made_up;
use super::*;
use domain::event::NoteEvent;
use domain::queue::{Mode, Queues, Waiting};
use domain::state::canonical::{Canonical, ToolOutput, bytes};
use domain::state::{EntryKind, State, StateHash};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Payloads: JSON of others, which counts as the text that it came in.
const PAYLOADS: [&str; 2] = ["args", "json"];

/// The canonical bytes of what is written, by the rules of docs/native-protocol.md alone.
fn settled(json: &str) -> Vec<u8> {
    let string = |text: &str| [&[0xfe], text.as_bytes(), &[0xff]].concat();
    if json.starts_with('{') {
        let members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(json).unwrap();
        let members = members.iter().filter_map(|(name, value)| match value.get() {
            payload if PAYLOADS.contains(&name.as_str()) => {
                let text = decode::<Json>(payload).unwrap();
                Some([string(name), b":".to_vec(), string(text.as_str())].concat())
            }
            "null" | "false" => None,
            value => Some([string(name), b":".to_vec(), settled(value)].concat()),
        });
        return [b"{".to_vec(), members.collect::<Vec<_>>().join(&b","[..]), b"}".to_vec()].concat();
    }
    if json.starts_with('[') {
        let values: Vec<Box<RawValue>> = serde_json::from_str(json).unwrap();
        let values: Vec<_> = values.iter().map(|value| settled(value.get())).collect();
        return [b"[".to_vec(), values.join(&b","[..]), b"]".to_vec()].concat();
    }
    match serde_json::from_str::<String>(json) {
        Ok(text) => string(&text),
        Err(_) => json.as_bytes().to_vec(),
    }
}

/// Shows bytes of which only the marks of strings are no text.
fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn same<T: Serialize + Canonical>(value: &T) -> Result<(), TestCaseError> {
    let written = encode(value);
    prop_assert_eq!(shown(&bytes(value)), shown(&settled(&written)), "{}", written);
    Ok(())
}

proptest! {
    #[test]
    fn canonical_bytes_are_the_written_form_settled(body in arb::body(), ask in arb::ask(), origin in arb::origin()) {
        same(&ask)?;
        same(&origin)?;
        match &body {
            Body::Session(SessionEvent::ModelChosen { model }) => same(model)?,
            Body::Session(SessionEvent::EffortChosen { effort: Some(effort) }) => same(effort)?,
            Body::Session(SessionEvent::BudgetChosen { budget }) => same(budget)?,
            Body::Session(SessionEvent::PolicyChosen { policy }) => same(policy)?,
            Body::Run(RunEvent::Ended { outcome, .. }) => same(outcome)?,
            Body::Run(RunEvent::TurnStarted { cause, .. }) => same(cause)?,
            Body::Run(RunEvent::StepEnded { usage, .. }) => same(usage)?,
            Body::Message(MessageEvent::Started { role, .. }) => same(role)?,
            Body::Message(MessageEvent::PartAdded { part, .. }) => same(part)?,
            Body::Message(MessageEvent::Ended { finish, .. }) => same(finish)?,
            Body::Tool(ToolEvent::Decided { decision, .. }) => same(decision)?,
            Body::Tool(ToolEvent::Ended { outcome, result, .. }) => {
                same(outcome)?;
                same(result)?;
            }
            Body::Queue(QueueEvent::Added { input, .. }) => same(input)?,
            Body::Queue(QueueEvent::ModeSet { mode, .. }) => same(mode)?,
            Body::Note(NoteEvent::PlanChanged { items }) => same(items)?,
            Body::Note(NoteEvent::Noticed { level, .. }) => same(level)?,
            Body::Context(domain::event::ContextEvent::Compacted { compaction, .. }) => same(compaction)?,
            _ => {}
        }
    }

    /// What has no written form of its own is made of members that have one.
    #[test]
    fn waiting_inputs_are_told_as_the_event_that_queued_them(
        id in any::<u64>(), input in arb::input(), by in proptest::option::of(arb::text()), kind in arb::queue_kind(),
    ) {
        let waiting = Waiting { id: QueuedId(id), input: input.clone(), by: by.clone() };
        let event = Body::Queue(QueueEvent::Added { item: QueuedId(id), kind, input, by });
        let mut event: BTreeMap<String, BTreeMap<String, Box<RawValue>>> = serde_json::from_str(&encode(&event)).unwrap();
        let mut told = event.remove("queued").unwrap();
        told.remove("kind");
        let told = serde_json::to_string(&told).unwrap();
        prop_assert_eq!(shown(&bytes(&waiting)), shown(&settled(&told)), "{}", told);
        let queues = Queues { steer_mode: Mode::All, ..Queues::default() };
        let told = r#"{"follow_up":[],"follow_up_mode":"one_at_a_time","steer":[],"steer_mode":"all"}"#;
        prop_assert_eq!(bytes(&queues), settled(told));
    }
}

/// The state with the sum of its entities worked out anew.
fn from_scratch(state: &State) -> StateHash {
    let entries = state.entries.values().map(|entry| bytes(&**entry));
    let tools = state.tools.values().flat_map(|tool| [bytes(&**tool), bytes(&ToolOutput(tool))]);
    let all = entries.chain(tools);
    let sum = all.fold(0_u64, |sum, form| sum.wrapping_add(StateHash::of(&form).0));
    let whole = shown(&bytes(state));
    assert!(whole.contains(&format!("entities\u{fffd}:\u{fffd}{}\u{fffd}", StateHash(sum))), "{whole}");
    StateHash::of(&bytes(state))
}

#[test]
fn the_sum_that_events_keep_is_the_sum_of_all_entities() {
    for seed in 0..4 {
        let mut state = State::new();
        for event in made_up(seed).events {
            if state.fold(&event).is_ok() {
                assert_eq!(state.hash(), from_scratch(&state), "{event:?}");
            }
        }
    }
}

#[test]
fn joined_deltas_and_a_replay_give_the_hash_of_single_ones() {
    for seed in 0..4 {
        let mut single = State::new();
        let mut told: Vec<Body> = Vec::new();
        for event in made_up(seed).events {
            if single.fold(&event).is_err() {
                continue;
            }
            match (told.last_mut(), event.body) {
                (
                    Some(Body::Message(MessageEvent::Delta { message, kind, text })),
                    Body::Message(MessageEvent::Delta { message: same, kind: alike, text: more }),
                ) if *message == same && *kind == alike => text.push_str(&more),
                (_, body) => told.push(body),
            }
        }
        let (mut joined, mut replayed) = (State::new(), State::new());
        told.iter().for_each(|body| joined.apply(Millis(1), body).unwrap());
        joined.seq = single.seq;
        assert_eq!(joined.hash(), single.hash());
        single.replay().iter().for_each(|(at, body)| replayed.apply(*at, body).unwrap());
        assert_eq!(replayed.hash(), single.hash());
    }
}

/// Names of variants: one stands for another where a member takes it.
const NAMES: &[&str] = &[
    "user",
    "assistant",
    "system",
    "text",
    "thought",
    "complete",
    "length",
    "interrupted",
    "failed",
    "cut",
    "refused",
    "info",
    "success",
    "warning",
    "error",
    "manual",
    "threshold",
    "overflow",
    "read_only",
    "ask",
    "auto_edit",
    "sandboxed",
    "full",
    "plan",
    "low",
    "medium",
    "high",
    "critical",
    "one_at_a_time",
    "all",
    "pending",
    "active",
    "done",
    "prompt",
    "steer",
    "follow_up",
    "once",
    "session",
    "always",
    "denied",
    "skipped",
    "cancelled",
    "unknown",
    "lost",
    "policy",
    "foreign",
];
/// Members that say how something came to be, and leave nothing in a state.
const PASSING: &[&str] = &["retrying", "ask_closed", "unqueued", "rebased"];

/// Every value that differs from this one in one place.
fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![],
        Value::Bool(flag) => vec![Value::Bool(!flag)],
        Value::Number(number) => number.as_u64().map(|n| Value::from(n ^ 1)).into_iter().collect(),
        Value::String(text) => {
            let names = NAMES.iter().filter(|name| NAMES.contains(&text.as_str()) && *name != text);
            names.map(|name| Value::from(*name)).chain([Value::from(format!("{text}x"))]).collect()
        }
        Value::Array(values) => {
            let mut all = Vec::new();
            for (at, inner) in values.iter().enumerate() {
                all.extend(others(inner).into_iter().map(|other| {
                    let mut changed = values.clone();
                    changed[at] = other;
                    Value::Array(changed)
                }));
            }
            let fewer = values.split_last().map(|(_, fewer)| Value::Array(fewer.to_vec()));
            all.into_iter().chain(fewer).collect()
        }
        Value::Object(members) => {
            let mut all = Vec::new();
            for (name, inner) in members {
                let mut without = members.clone();
                without.remove(name);
                all.push(Value::Object(without));
                all.extend(others(inner).into_iter().map(|other| {
                    let mut changed = members.clone();
                    changed.insert(name.clone(), other);
                    Value::Object(changed)
                }));
            }
            all
        }
    }
}

#[test]
fn nothing_that_is_written_changes_without_the_hash() {
    let (mut tried, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..4 {
        let mut state = State::new();
        for event in made_up(seed).events {
            let before = state.clone();
            if state.fold(&event).is_err() {
                continue;
            }
            // A payload may have numbers that no value holds.
            let Ok(written) = serde_json::from_str::<Value>(&encode(&event.body)) else { continue };
            let (tag, inside) = written.as_object().unwrap().iter().next().unwrap();
            if PASSING.contains(&tag.as_str()) {
                continue;
            }
            seen.insert(tag.clone());
            for other in others(inside) {
                let told = serde_json::json!({ tag: other }).to_string();
                let Ok(body) = decode::<Body>(&told) else { continue };
                // Spaces in a payload are lost on the way through a value, and what may be left out may be its default.
                let mut changed = before.clone();
                if body == event.body
                    || changed.fold(&Event { body, ..event.clone() }).is_err()
                    || changed == state
                {
                    continue;
                }
                assert_ne!(changed.hash(), state.hash(), "{written} and {told}");
                tried.insert(tag.clone());
            }
        }
    }
    // What names only something that is under way cannot name another.
    let untried: Vec<_> = seen.difference(&tried).map(String::as_str).collect();
    assert!(seen.len() > 20, "{seen:?}");
    assert_eq!(untried, ["turn_ended"]);
}

fn document() -> String {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/native-protocol.md");
    std::fs::read_to_string(page).unwrap()
}

/// The lines of a fenced block of the document, each a hash and what it is of.
fn vectors_of(kind: &str) -> Vec<(String, String)> {
    let text = document();
    let (_, block) = text.split_once(&format!("\n```{kind}\n")).unwrap();
    let (block, _) = block.split_once("\n```").unwrap();
    block.lines().map(|line| line.split_once(' ').unwrap()).map(|(a, b)| (a.into(), b.into())).collect()
}

#[test]
fn the_vectors_of_the_document_are_what_it_says() {
    let mut right = String::new();
    let mut said = String::new();
    for (hash, text) in vectors_of("hash-text") {
        let told: String = serde_json::from_str(&text).unwrap();
        writeln!(right, "{} {text}", StateHash::of(told.as_bytes())).unwrap();
        writeln!(said, "{hash} {text}").unwrap();
    }
    for (hash, form) in vectors_of("hash-form") {
        writeln!(right, "{} {form}", StateHash::of(&settled(&form))).unwrap();
        writeln!(said, "{hash} {form}").unwrap();
    }
    let mut state = State::new();
    let session = vectors_of("hash-session");
    for (hash, body) in &session {
        state.apply(Millis(0), &decode(body).unwrap()).unwrap();
        state.seq = state.seq.next();
        writeln!(right, "{} {body}", state.hash()).unwrap();
        writeln!(said, "{hash} {body}").unwrap();
    }
    assert_eq!(said, right, "docs/native-protocol.md, under Proof");
    // The forms of the document are those of its session.
    let forms: BTreeSet<Vec<u8>> = vectors_of("hash-form").iter().map(|(_, form)| settled(form)).collect();
    let entries = state.entries.values().filter(|entry| !matches!(entry.kind, EntryKind::Message(_)));
    let tools = state.tools.values().map(|tool| bytes(&**tool));
    for form in entries.map(|entry| bytes(&**entry)).chain(tools).chain([bytes(&state)]) {
        assert!(forms.contains(&form), "{}", shown(&form));
    }
    // So are the streams that it names.
    let tools = state.tools.values().map(|tool| bytes(&ToolOutput(tool)));
    for stream in [EntryId(3), EntryId(5)].iter().map(|id| bytes(&*state.entries[id])).chain(tools) {
        assert!(document().contains(&format!("`{}`", StateHash::of(&stream))), "{}", shown(&stream));
    }
    assert_eq!((state.entries.len(), state.tools.len(), state.asks.len()), (4, 1, 1));
}
