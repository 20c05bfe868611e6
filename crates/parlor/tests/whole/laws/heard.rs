//! What a runtime says by the documents' own examples, heard over every pair: a runtime that knows its document and nothing else talks,
//! is prompted, asks, fails. Each of its lines causes little, and what it says reaches the UI.

use super::{ANSWERED_WITHIN, Bridged, MAX_CAUSED, is_answered, over_every_pair};
use crate::bench;
use crate::examples::{Conversation, Told, conversation, examples};
use dialects::Dialect;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

/// Most lines to a UI that one line of a runtime may cause: the end of a run in which four questions were open tells the end of each.
const MAX_TOLD: usize = 20;
/// A prompt of each wire.
const PROMPTS: &[(&str, &str)] = &[
    (
        "acp",
        r#"{"jsonrpc":"2.0","id":"$prompt","method":"session/prompt","params":{"sessionId":"$session","prompt":[{"type":"text","text":"hello"}]}}"#,
    ),
    ("asst", r#"{"id":"$prompt","kind":"user_message","message":"hello"}"#),
    (
        "codelia",
        r#"{"jsonrpc":"2.0","id":"$prompt","method":"run.start","params":{"input":{"type":"text","text":"hello"}}}"#,
    ),
    ("lemon", r#"{"type":"prompt","text":"hello"}"#),
    ("nous", r#"{"v":"1","id":"$prompt","type":"prompt","payload":{"text":"hello","wait":false}}"#),
    ("openagent", r#"{"jsonrpc":"2.0","id":"$prompt","method":"agent.query","params":{"message":"hello"}}"#),
    ("native", r#"{"command":{"ticket":$prompt,"what":{"prompt":{"input":{"text":"hello"}}}}}"#),
];
/// How a UI stops a run, on wires that need no name for that.
const CANCELS: &[(&str, &str)] = &[
    ("acp", r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"$session"}}"#),
    ("lemon", r#"{"type":"abort"}"#),
    ("nous", r#"{"v":"1","id":"stop","type":"abort","payload":{}}"#),
    ("native", r#"{"command":{"ticket":4001,"what":{"cancel":{}}}}"#),
];
/// What a UI says before its first prompt.
const BEFORE_A_PROMPT: &[&str] = &["initialize", "session/new", "hello"];
/// What begins a run, ends the conversation, or leads away from it.
const NOT_AGAIN: &[&str] = &[
    "prompt",
    "run.start",
    "agent.query",
    "user_message",
    "steer",
    "follow_up",
    "enqueue",
    "quit",
    "reset",
    "initialize",
    "session/new",
    "clear",
    "compact",
];
/// Answers that no example of a UI asks for: figures are counted here, the rest is asked for by a command of the person's alone.
const NEVER_ASKED: &[(&str, &str)] = &[
    ("asst", "get_status"),
    ("asst", "clear_history"),
    ("lemon", "stats"),
    ("lemon", "ping"),
    ("lemon", "debug"),
];
/// Names of a run, by the documents: each run has one of its own.
const RUNS: &[&str] = &["run_123", "q-123abc"];

/// How a line names what is asked.
fn asks_for(line: &Value) -> &str {
    let names = ["method", "kind", "type"].iter().filter_map(|name| line[*name].as_str());
    names.into_iter().next().unwrap_or_default()
}

/// What the runtime has heard.
#[derive(Default)]
struct Heard {
    asked: BTreeSet<String>,
    /// Runs that were begun.
    runs: usize,
    /// The id of the last prompt of a wire whose lines name it.
    prompt: Value,
}

/// A runtime that knows its document.
struct Documented {
    says: Arc<tokio::sync::Mutex<WriteHalf<DuplexStream>>>,
    heard: Arc<Mutex<Heard>>,
}

impl Documented {
    fn start(end: DuplexStream, answers: Vec<(String, String)>, turn: usize) -> Documented {
        let (read, write) = tokio::io::split(end);
        let says = Arc::new(tokio::sync::Mutex::new(write));
        let heard = Arc::new(Mutex::new(Heard::default()));
        tokio::spawn(listen(read, answers, says.clone(), heard.clone(), turn));
        Documented { says, heard }
    }

    /// Says a line of its document, of the run that is going on.
    async fn say(&self, told: &Told) {
        let line = {
            let heard = self.heard.lock().expect("whole");
            let mut line: Value = serde_json::from_str(&told.line).expect("an example");
            if line.get("timestamp").is_some() && line.get("id").is_some() {
                line["id"] = heard.prompt.clone();
            }
            of_run(&line, heard.runs)
        };
        write(&self.says, &line).await;
    }
}

fn of_run(line: &Value, run: usize) -> String {
    RUNS.iter().fold(line.to_string(), |line, name| line.replace(name, &format!("{name}-{run}")))
}

async fn write(to: &tokio::sync::Mutex<WriteHalf<DuplexStream>>, line: &str) {
    to.lock().await.write_all(format!("{line}\n").as_bytes()).await.expect("the bridge is there");
}

/// Answers what the document answers, and refuses the rest in its form. Where it has several answers, `turn` says which.
async fn listen(
    read: ReadHalf<DuplexStream>,
    answers: Vec<(String, String)>,
    says: Arc<tokio::sync::Mutex<WriteHalf<DuplexStream>>>,
    heard: Arc<Mutex<Heard>>,
    turn: usize,
) {
    let mut lines = BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let line: Value = serde_json::from_str(&line).expect("JSON from the bridge");
        let asked = asks_for(&line).to_owned();
        let run = {
            let mut heard = heard.lock().expect("whole");
            if ["run.start", "agent.query", "user_message", "prompt"].contains(&asked.as_str()) {
                heard.runs += 1;
                heard.prompt = line["id"].clone();
            }
            heard.asked.insert(asked.clone());
            heard.runs
        };
        let known: Vec<_> = answers.iter().filter(|(of, _)| *of == asked).collect();
        let known = known.get(turn % known.len().max(1)).copied();
        let answer = match (known, line.get("id")) {
            (Some((_, answer)), id) => {
                let mut answer: Value = serde_json::from_str(answer).expect("an example");
                if let Some(id) = id {
                    answer["id"] = id.clone();
                }
                answer
            }
            (None, Some(id)) if line.get("method").is_some() => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "method not found"}})
            }
            (None, Some(id)) if line.get("kind").is_some() && asked != "user_message" => {
                json!({"type": "error", "id": id, "error": "unknown request", "timestamp": 1})
            }
            (None, None) if line.get("type").is_some() && !["prompt", "abort"].contains(&asked.as_str()) => {
                json!({"type": "error", "message": format!("unknown command: {asked}")})
            }
            _ => continue,
        };
        write(&says, &of_run(&answer, run)).await;
    }
}

#[test]
fn every_example_that_a_runtime_says_causes_little_and_is_told_over_every_pair() {
    let asked = Mutex::new(BTreeSet::new());
    over_every_pair(async |a, b, broken| {
        if let Some(conversation) = conversation(b) {
            play(a, b, conversation, broken, &asked).await;
        }
    });
    let asked = asked.into_inner().expect("whole");
    let answers = dialects::ALL.iter().flat_map(|dialect| {
        let answers = conversation(*dialect).unwrap_or_default().answers;
        answers.into_iter().map(|(of, _)| (dialect.name(), of))
    });
    let is_never = |(of, what): &(&str, String)| NEVER_ASKED.contains(&(*of, what.as_str()));
    let unasked: BTreeSet<_> =
        answers.filter(|answer| !asked.contains(answer) && !is_never(answer)).collect();
    assert!(unasked.is_empty(), "nobody asked for {unasked:?}");
}

async fn play(
    a: Dialect,
    b: Dialect,
    conversation: Conversation,
    broken: &mut Vec<String>,
    asked: &Mutex<BTreeSet<(&'static str, String)>>,
) {
    let place = bench::workplace();
    let (near, far) = tokio::io::duplex(1 << 20);
    let mut bridged = Bridged::between(a, b, vec![near], place.path()).await;
    let turn = dialects::ALL.iter().position(|dialect| *dialect == a).unwrap_or_default();
    let runtime = Documented::start(far, conversation.answers, turn);
    for told in &conversation.greeting {
        runtime.say(told).await;
    }
    bridged.quiet(ANSWERED_WITHIN).await;
    for example in examples(a) {
        let line: Value = serde_json::from_str(&example.line).expect("an example");
        let is_first = BEFORE_A_PROMPT.contains(&asks_for(&line)) || line.get("hello").is_some();
        if is_first {
            let (said, heard, _) = bridged.say(&example.line, place.path()).await;
            if !is_answered(&said, &heard) {
                broken.push(format!("{a} on {b}: no answer to {said}: {heard:?}"));
            }
        }
    }
    let (_, prompt) = PROMPTS.iter().find(|(of, _)| *of == a.name()).expect("a prompt of every wire");
    for (number, talk) in (5001..).zip(&conversation.talks) {
        let line = prompt.replace("$prompt", &number.to_string());
        let (said, mut run, _) = bridged.say(&line, place.path()).await;
        let mut words = Vec::new();
        for told in talk {
            let cancel = CANCELS.iter().find(|(of, _)| *of == a.name()).filter(|_| told.stopped);
            if let Some((_, cancel)) = cancel {
                let (_, heard, caused) = bridged.say(cancel, place.path()).await;
                assert!(caused.len() <= MAX_CAUSED, "{a} on {b}: a cancel: {caused:#?}");
                run.extend(heard);
            }
            runtime.say(told).await;
            let (heard, caused) = bridged.quiet(ANSWERED_WITHIN).await;
            let section = &told.section;
            if caused.len() > MAX_CAUSED {
                broken.push(format!("{a} on {b}: {section}: too many lines to the runtime: {caused:#?}"));
            }
            if heard.len() > MAX_TOLD {
                broken.push(format!("{a} on {b}: {section}: {} lines to the UI: {heard:#?}", heard.len()));
            }
            run.extend(heard);
            // Some wires tell a text when it is whole.
            words.extend(told.words.iter().flat_map(|words| words.split(' ')));
            if told.ends {
                let told_words = run.iter().map(Value::to_string).collect::<String>();
                words.retain(|word| !told_words.contains(word));
                if !words.is_empty() {
                    broken.push(format!("{a} on {b}: {section}: never told {words:?}: {run:#?}"));
                }
            }
            if told.ends && !is_answered(&said, &run) {
                broken.push(format!("{a} on {b}: {section}: no end of {said}: {run:#?}"));
            }
        }
    }
    for example in examples(a) {
        let line: Value = serde_json::from_str(&example.line).expect("an example");
        let what = line["command"]["what"].to_string();
        let is_again = NOT_AGAIN.iter().any(|name| {
            asks_for(&line).contains(name) || what.trim_start_matches(['{', '"']).starts_with(name)
        });
        if is_again || line.get("hello").is_some() {
            continue;
        }
        let (said, heard, caused) = bridged.say(&example.line, place.path()).await;
        if caused.len() > MAX_CAUSED {
            broken
                .push(format!("{a} on {b}: {}: too many lines to the runtime: {caused:#?}", example.section));
        }
        if !is_answered(&said, &heard) {
            broken.push(format!("{a} on {b}: {}: no answer to {said}: {heard:?}", example.section));
        }
    }
    let heard = std::mem::take(&mut runtime.heard.lock().expect("whole").asked);
    asked.lock().expect("whole").extend(heard.into_iter().map(|of| (b.name(), of)));
}
